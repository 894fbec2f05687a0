/* Which configuration a call of an object gets, and the text of them: src/host/direct/choices.c. */
#include "problem.h"

#include <stdio.h>
#include <string.h>

#include "gravel/direct.h"
#include "host/direct/plan.h"
#include "host/profile/store.h"

enum { SOURCES = 1000, FEWER = 64, MORE = 200 };

/* A user's answer for plain sp2: the built-in default with so many groups a unit. */
static void add_answer(gravel_context *context, gv_profile_set *set, size_t sinks, int groups)
{
    const gravel_device_info *info = gravel_context_get_device(context, 0);
    gv_profile_device device;
    gv_profile_entry entry = {.kernel = "direct",
                              .variant = "sp2",
                              .sinks = sinks,
                              .sources = SOURCES,
                              .sink_bucket = gv_sink_bucket(sinks),
                              .source_bucket = gv_source_bucket(SOURCES),
                              .n_results = 1};
    gv_variant variant;
    gv_config config;
    gv_profile_device_of(info, &device);
    const gv_limits limits = gv_limits_of(context, 0);
    assert_true(gv_variant_parse("sp2", &variant));
    gv_direct_space.built_in(&config, &variant, &limits, FEWER, SOURCES);
    config.value[GV_T_BLOCKS_PER_CU] = groups;
    gv_profile_kernel_version(context, &gv_direct_space, entry.kernel_version);
    snprintf(entry.driver, sizeof entry.driver, "%s", info->driver);
    gv_space_format(&gv_direct_space, &config, entry.result[0].configuration, GV_PROFILE_TEXT);
    entry.result[0].time_s = entry.result[0].time_min_s = 1e-3;
    assert_ok(gv_profile_set_add(set, &device, &entry));
}

/* A context with answers for 64 and 200 sinks, 3 and 6 groups a unit. */
static gravel_context *open_with_answers(const char *folder)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_context *context;
    gv_profile_set set = GV_PROFILE_SET_INIT;
    char path[1024];
    assert_ok(gravel_context_create(&context, NULL));
    add_answer(context, &set, FEWER, 3);
    add_answer(context, &set, MORE, 6);
    assert_ok(gv_profile_save(folder, &set, path, sizeof path));
    gv_profile_set_free(&set);
    gravel_context_release(context);
    options.profile_dir = folder;
    assert_ok(gravel_context_create(&context, &options));
    return context;
}

static gravel_direct *make_direct(gravel_context *context)
{
    static double x[SOURCES], mass[SOURCES];
    gravel_direct *direct;
    for (int k = 0; k < SOURCES; k++) {
        x[k] = k;
        mass[k] = 1;
    }
    const gravel_sources sources = {.count = SOURCES, .mass = mass, .pos = GRAVEL_VEC_SOA(x, x, x)};
    assert_ok(gravel_direct_create(&direct, context, NULL));
    assert_ok(gravel_direct_write_sources(direct, 0, &sources));
    return direct;
}

static void call(gravel_direct *direct, size_t count)
{
    static double x[SOURCES], pot[SOURCES];
    const gravel_sinks sinks = {.count = count, .pos = GRAVEL_VEC_SOA(x, x, x)};
    const gravel_forces forces = {.pot = pot};
    assert_ok(gravel_direct_submit(direct, &sinks, 1));
    assert_ok(gravel_direct_collect(direct, &forces, NULL));
}

static int groups_of(gravel_direct *direct, size_t sinks)
{
    char text[GV_PROFILE_TEXT];
    gravel_origin origin;
    int groups = 0;
    assert_ok(gravel_direct_get_configuration(direct, sinks, text, sizeof text, &origin));
    assert_int_equal(origin, GRAVEL_ORIGIN_USER);
    assert_non_null(strstr(text, "blocks_per_cu="));
    assert_int_equal(sscanf(strstr(text, "blocks_per_cu="), "blocks_per_cu=%d", &groups), 1);
    return groups;
}

/* Each call gets what was measured for its sizes, whatever the object was called with before: the first call of 64 to
 * 255 sinks decided for all of them once. */
static void calls_before_do_not_decide(void **state)
{
    SKIP_WITHOUT_DEVICE();
    (void)state;
    char *folder = make_folder();
    gravel_context *context = open_with_answers(folder);
    for (int turn = 0; turn < 2; turn++) {
        gravel_direct *direct = make_direct(context);
        for (int k = 0; k < 2; k++) {
            const size_t sinks = k == turn ? FEWER : MORE;
            call(direct, sinks);
            assert_int_equal(groups_of(direct, sinks), sinks == FEWER ? 3 : 6);
        }
        gravel_direct_release(direct);
    }
    gravel_context_release(context);
    remove_folder(folder);
    free(folder);
}

/* What an object has got goes into another one, which was tuned otherwise, and comes out as it was. */
static void text_and_back(void **state)
{
    static const char *const bad[] = {"nonsense",
                                      "0 0 0 1000 0 threads=1",
                                      "8 0 64 1000 0 threads=1",
                                      "0 12 64 1000 0 threads=1",
                                      "0 0 64 1000 9 threads=1",
                                      "0 0 64 1000 0 threads=soon",
                                      "-1 0 64 1000 0 threads=1"};
    static char text[4096], again[4096];
    SKIP_WITHOUT_DEVICE();
    (void)state;
    char *folder = make_folder();
    gravel_context *context = open_with_answers(folder), *untuned;
    gravel_direct *direct = make_direct(context), *other;
    call(direct, FEWER);
    call(direct, MORE);
    const size_t size = gravel_direct_get_choices(direct, NULL, 0);
    assert_true(size > 100 && size <= sizeof text);
    assert_int_equal(gravel_direct_get_choices(direct, text, sizeof text), size);
    assert_int_equal(strlen(text), size - 1);
    assert_int_equal(gravel_direct_get_choices(direct, again, 40), size); /* whole lines that fit */
    assert_int_equal(strlen(again), 0);

    assert_ok(gravel_context_create(&untuned, NULL));
    other = make_direct(untuned);
    assert_ok(gravel_direct_set_choices(other, text));
    assert_int_equal(groups_of(other, FEWER), 3);
    assert_int_equal(groups_of(other, MORE), 6);
    assert_int_equal(gravel_direct_get_choices(other, again, sizeof again), size);
    assert_string_equal(again, text);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_int_not_equal(gravel_direct_set_choices(other, bad[k]), GRAVEL_OK);
    gravel_direct_release(other);
    gravel_direct_release(direct);
    gravel_context_release(untuned);
    gravel_context_release(context);
    remove_folder(folder);
    free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls_before_do_not_decide), cmocka_unit_test(text_and_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
