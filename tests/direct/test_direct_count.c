/* The sizes of calls that an object writes where GRAVEL_CALLS_DIR asks for it: src/host/direct/count.c. */
#include "problem.h"

#include "gravel/direct.h"
#include "host/profile/call_sizes.h"
#include "one_context.h"

enum { SOURCES = 1000, FEW = 5, MANY = 200 };

static gravel_direct *make_direct(const char *configuration)
{
    static double x[SOURCES], mass[SOURCES];
    gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_direct *direct;
    for (int k = 0; k < SOURCES; k++) {
        x[k] = k;
        mass[k] = 1;
    }
    const gravel_sources sources = {.count = SOURCES, .mass = mass, .pos = GRAVEL_VEC_SOA(x, x, x)};
    options.configuration = configuration;
    assert_ok(gravel_direct_create(&direct, context, &options));
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

static uint64_t written(const char *folder, size_t sinks)
{
    gv_call_sizes sizes = GV_CALL_SIZES_INIT;
    uint64_t calls = 0;
    int others;
    assert_ok(gv_call_sizes_read(folder, gravel_context_get_device(context, 0)->name, &sizes, &others));
    assert_int_equal(others, 0);
    for (int k = 0; k < sizes.n; k++)
        if (sizes.size[k].sinks == sinks) {
            assert_string_equal(sizes.size[k].variant.name, "sp2");
            assert_int_equal(sizes.size[k].variant.features, 0);
            assert_int_equal(sizes.size[k].sources, SOURCES);
            calls += sizes.size[k].calls;
        }
    gv_call_sizes_free(&sizes);
    return calls;
}

static int files_of(const char *folder)
{
    DIR *dir = opendir(folder);
    int n = 0;
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

/* Two objects, one after the other, in a folder that is not there before.  Preparing is no call. */
static void all_calls_are_written(void **state)
{
    SKIP_WITHOUT_DEVICE();
    (void)state;
    char *folder = make_folder(), *inner = gv_path_join(folder, "calls");
    setenv("GRAVEL_CALLS_DIR", inner, 1);
    for (int object = 0; object < 2; object++) {
        gravel_direct *direct = make_direct(NULL);
        static double x[FEW];
        static char choices[8192];
        const gravel_sinks sinks = {.count = FEW, .pos = GRAVEL_VEC_SOA(x, x, x)};
        gravel_direct_call prepared = GRAVEL_DIRECT_CALL_INIT;
        prepared.points = &sinks;
        assert_ok(gravel_direct_prepare(direct, &prepared, FEW, SOURCES));
        for (int k = 0; k < 3; k++)
            call(direct, FEW);
        assert_true(gravel_direct_get_choices(direct, choices, sizeof choices) <= sizeof choices);
        assert_ok(gravel_direct_set_choices(direct, choices)); /* whatever is set, calls stay calls */
        call(direct, MANY);
        gravel_direct_release(direct);
    }
    assert_int_equal(files_of(inner), 2);
    gravel_direct_release(make_direct(NULL)); /* no calls, no file */
    assert_int_equal(files_of(inner), 2);
    unsetenv("GRAVEL_CALLS_DIR");
    assert_true(written(inner, FEW) == 6);
    assert_true(written(inner, MANY) == 2);
    remove_folder(folder);
    free(inner);
    free(folder);
}

static void half_of_them_while_it_runs(void **state)
{
    SKIP_WITHOUT_DEVICE();
    (void)state;
    char *folder = make_folder();
    setenv("GRAVEL_CALLS_DIR", folder, 1);
    gravel_direct *direct = make_direct(NULL);
    unsetenv("GRAVEL_CALLS_DIR");
    for (int k = 1; k < 130; k++) {
        call(direct, FEW);
        assert_true(written(folder, FEW) > (uint64_t)k / 2 || k < 64);
    }
    assert_true(written(folder, FEW) == 128);
    gravel_direct_release(direct);
    assert_true(written(folder, FEW) == 129);
    remove_folder(folder);
    free(folder);
}

/* Whose configuration is named makes no choices; what cannot be written costs no forces. */
static void calls_without_a_file(void **state)
{
    SKIP_WITHOUT_DEVICE();
    (void)state;
    char *folder = make_folder(), *file = gv_path_join(folder, "file");
    write_text(folder, "file", "");
    for (int named = 0; named < 2; named++) {
        setenv("GRAVEL_CALLS_DIR", named ? folder : file, 1);
        gravel_direct *direct = make_direct(named ? "split=1" : NULL);
        unsetenv("GRAVEL_CALLS_DIR");
        call(direct, FEW);
        gravel_direct_release(direct);
    }
    assert_true(written(folder, FEW) == 0);
    remove_folder(folder);
    free(file);
    free(folder);
}

/* While it runs the folder goes: a warning, and neither forces nor what failed before are lost. */
static void a_folder_that_goes(void **state)
{
    SKIP_WITHOUT_DEVICE();
    (void)state;
    char *folder = make_folder(), *inner = gv_path_join(folder, "calls"), *before;
    for (int late = 0; late < 2; late++) { /* at the release, after 64 calls */
        setenv("GRAVEL_CALLS_DIR", inner, 1);
        gravel_direct *direct = make_direct(NULL);
        unsetenv("GRAVEL_CALLS_DIR");
        remove_folder(inner);
        assert_int_not_equal(gravel_direct_collect(direct, NULL, NULL), GRAVEL_OK); /* nothing was submitted */
        before = gv_format("%s", gravel_error_message());
        for (int k = 0; k < (late ? 70 : 1); k++)
            call(direct, FEW);
        gravel_direct_release(direct);
        assert_string_equal(gravel_error_message(), before);
        free(before);
    }
    assert_int_equal(files_of(folder), 0);
    remove_folder(folder);
    free(inner);
    free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_calls_are_written),
                                       cmocka_unit_test(half_of_them_while_it_runs),
                                       cmocka_unit_test(calls_without_a_file), cmocka_unit_test(a_folder_that_goes)};
    return cmocka_run_group_tests(tests, open_context, close_context);
}
