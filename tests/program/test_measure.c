/* src/host/program/measure.c and facts.c.  Rates are compared with each other and with what no machine exceeds, never
 * with a clock: this may run on a busy machine. */
#include "host_test.h"

#include "host/program/facts.h"

static gravel_context *open_context(const char *cache, int no_fp64)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_context *context;

    options.cache_dir = cache;
    options.no_fp64 = no_fp64;
    assert_ok(gravel_context_create(&context, &options));
    return context;
}

static void facts_are_plausible(void **state)
{
    gravel_device_facts facts;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    gravel_context *context = open_context(NULL, 0);
    const gravel_device_info *info = gravel_context_get_device(context, 0);
    assert_ok(gravel_context_measure(context, 0, 0, &facts));
    print_message("fma sp %.4g dp %.4g, rsqrt %.4g, copy %.4g B/s, launch %.3g s\n", facts.fma_sp, facts.fma_dp,
                  facts.rsqrt_sp, facts.copy_bytes, facts.launch_s);
    /* no core does more than 4 pipes x 16 lanes x 8 GHz; GPU units have at most 256 lanes at 4 GHz */
    const double most = info->compute_units * (info->type == GRAVEL_DEVICE_CPU ? 4 * 16 * 8e9 : 256 * 4e9);
    assert_true(facts.fma_sp > 1e6 && facts.fma_sp < most);
    assert_true(info->has_fp64 ? facts.fma_dp > 1e6 && facts.fma_dp < most : facts.fma_dp == 0);
    assert_true(facts.rsqrt_sp > 1e6 && facts.rsqrt_sp < most);
    assert_true(facts.copy_bytes > 1e6 && facts.copy_bytes < 1e14);
    assert_true(facts.launch_s > 1e-8 && facts.launch_s < 1);
    gravel_context_release(context);
}

static void stored_facts(void **state)
{
    char *cache = make_folder(), *path = NULL, *text;
    gravel_device_facts first, second;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    gravel_context *context = open_context(cache, 1); /* without double: a rate less to wait for */
    assert_ok(gravel_context_measure(context, 0, 1, &first));
    assert_true(first.fma_dp == 0);
    assert_int_equal(count_files(cache, "facts-", &path), 1);
    assert_ok(gravel_context_measure(context, 0, 1, &second));
    assert_memory_equal(&first, &second, sizeof first);
    /* whatever is wrong with the file, it is not used */
    assert_ok(gv_file_read(path, 1 << 20, &text, NULL));
    char *negative = gv_format("%s", text), *number = strstr(negative, "\"fma_sp\":");
    number[strlen("\"fma_sp\":") + 1] = '-';
    char *other_key = gv_format("%s", text);
    char *key = strstr(other_key, "\"key\":") + strlen("\"key\":\t\"");
    *key = *key == '0' ? '1' : '0';
    char *half = gv_format("%.*s", (int)strlen(text) / 2, text);
    const char *const wrong[] = {"", "{", "[1, 2]", "{\"key\": 5}", "\xff\xfe", negative, other_key, half};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_ok(gv_file_write(path, wrong[i], strlen(wrong[i])));
        assert_false(gv_facts_load(context, 0, &second));
    }
    gv_facts_store(context, 0, &first);
    assert_true(gv_facts_load(context, 0, &second));
    assert_memory_equal(&first, &second, sizeof first);
    gravel_context_release(context);
    /* another device, here: the same with double, has other facts */
    context = open_context(cache, 0);
    if (gravel_context_get_device(context, 0)->has_fp64)
        assert_false(gv_facts_load(context, 0, &second));
    gravel_context_release(context);
    free(negative);
    free(other_key);
    free(half);
    free(text);
    free(path);
    remove_folder(cache);
    free(cache);
}

/* Where event times are wrong nothing is measured: rates of 1 ns a launch would be kept. */
static void wrong_timers(void **state)
{
    gravel_context *context;
    gravel_device_facts facts;
    (void)state;
    SKIP_WITHOUT_DEVICE();
    assert_ok(gravel_context_create(&context, NULL));
    context->device[0].traits.wrong_timers = 1;
    assert_int_equal(gravel_context_measure(context, 0, 0, &facts), GRAVEL_ERR_UNSUPPORTED);
    assert_contains(gravel_error_message(), "event times");
    gravel_context_release(context);
}

static void bad_arguments(void **state)
{
    gravel_device_facts facts = {0};

    (void)state;
    SKIP_WITHOUT_DEVICE();
    gravel_context *context = open_context("", 0);
    assert_int_equal(gravel_context_measure(NULL, 0, 0, &facts), GRAVEL_ERR_ARGUMENT);
    assert_int_equal(gravel_context_measure(context, 0, 0, NULL), GRAVEL_ERR_ARGUMENT);
    assert_int_equal(gravel_context_measure(context, 1, 0, &facts), GRAVEL_ERR_ARGUMENT);
    assert_int_equal(gravel_context_measure(context, -1, 0, &facts), GRAVEL_ERR_ARGUMENT);
    assert_false(gv_facts_load(context, 0, &facts)); /* no folder */
    gv_facts_store(context, 0, &facts);
    gravel_context_release(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_plausible),
        cmocka_unit_test(stored_facts),
        cmocka_unit_test(wrong_timers),
        cmocka_unit_test(bad_arguments),
    };

    return cmocka_run_group_tests_name("measure", tests, NULL, NULL);
}
