/* Every OpenCL call fails once: whatever the call, the library answers with a status and a message, frees what it made,
 * and works the next time. */
#include "host/program/program.h"
#include "faults.h"
#include "host_test.h"

/* ---------------------------------------------------------------- scenarios */

static char *cache;

typedef gravel_status (*scenario)(const gravel_context_options *options);

static gravel_status make_context(const gravel_context_options *options)
{
    gravel_context *context = NULL;
    gravel_status status = gravel_context_create(&context, options);

    assert_int_equal(status == GRAVEL_OK, context != NULL);
    gravel_context_release(context);
    return status;
}

static gravel_status get_program(const gravel_context_options *options)
{
    gravel_context *context = NULL;
    cl_program program;

    gravel_status status = gravel_context_create(&context, options);
    if (status == GRAVEL_OK)
        status = gv_program_get(context, 0, "measure/copy.cl", EMPTY_OPTIONS, &program);
    gravel_context_release(context);
    return status;
}

static gravel_status measure(const gravel_context_options *options)
{
    gravel_context *context = NULL;
    gravel_device_facts facts;

    gravel_status status = gravel_context_create(&context, options);
    if (status == GRAVEL_OK)
        status = gravel_context_measure(context, 0, 0, &facts);
    gravel_context_release(context);
    return status;
}

static gravel_status sum_directly(gravel_direct *direct)
{
    enum { N = 40 };
    double m[N], x[N][3], acc[N][3], seconds;
    gravel_sources sources = {.count = N, .mass = m, .pos = GRAVEL_VEC_AOS(x)};
    gravel_sinks sinks = {.count = N, .pos = GRAVEL_VEC_AOS(x)};
    gravel_forces forces = {.acc = GRAVEL_VEC_OUT_AOS(acc)};
    static const uint32_t address[N] = {3, 1, 2};

    for (int i = 0; i < N; i++) {
        m[i] = 1.0 / N;
        x[i][0] = i % 3;
        x[i][1] = i % 5;
        x[i][2] = i % 7;
    }
    gravel_status status = gravel_direct_write_sources(direct, 0, &sources);
    if (status == GRAVEL_OK) {
        sources.count = 3;
        status = gravel_direct_scatter_sources(direct, address, &sources);
    }
    status = status == GRAVEL_OK ? gravel_direct_set_time(direct, 0.5) : status;
    status = status == GRAVEL_OK ? gravel_direct_set_timing(direct, 1) : status;
    status = status == GRAVEL_OK ? gravel_direct_submit(direct, &sinks, 0.1) : status;
    status = status == GRAVEL_OK ? gravel_direct_collect(direct, &forces, NULL) : status;
    status = status == GRAVEL_OK ? gravel_direct_get_kernel_time(direct, &seconds) : status;
    gravel_vec_out none = {NULL, NULL, NULL, 0};
    return status == GRAVEL_OK ? gravel_direct_read_sources(direct, 0, 5, m, NULL, none, none, none) : status;
}

static gravel_status direct(const gravel_context_options *options)
{
    gravel_direct_options wanted = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_context *context = NULL;
    gravel_direct *made = NULL;

    wanted.order = 4;
    wanted.neighbour_capacity = 8;
    wanted.prediction = 1;
    gravel_status status = gravel_context_create(&context, options);
    status = status == GRAVEL_OK ? gravel_direct_create(&made, context, &wanted) : status;
    status = status == GRAVEL_OK ? sum_directly(made) : status;
    gravel_direct_release(made);
    gravel_context_release(context);
    return status;
}

/* Fails call after call (every `stride`-th) until the scenario ends before its turn.  Calls whose failure the library
 * may ignore (a property, a binary) may succeed. */
static void try_all(scenario run, const char *device, const char *cache_dir, int stride)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    int shrugged = 0, failed = 0;

    options.device = device;
    options.cache_dir = cache_dir;
    stride *= getenv("GRAVEL_TEST_QUICK") ? 5 : 1;
    countdown = 0;
    assert_ok(run(&options)); /* fills the cache directory, and proves that it works without faults */
    assert_int_equal(live_objects, 0);
    for (int at = 1;; at += stride) {
        countdown = at;
        failed_call = NULL;
        gv_fail(GRAVEL_OK, "no message");
        gravel_status status = run(&options);
        countdown = 0;
        if (!failed_call) {
            assert_int_equal(status, GRAVEL_OK);
            break;
        }
        if (live_objects != 0)
            fail_msg("call %d, %s fails: %d objects are not released", at, failed_call, live_objects);
        if (status != GRAVEL_OK && strcmp(gravel_error_message(), "no message") == 0)
            fail_msg("call %d, %s fails: no message", at, failed_call);
        shrugged += status == GRAVEL_OK;
        failed += status != GRAVEL_OK;
    }
    print_message("%d calls failed the scenario, %d did not matter\n", failed, shrugged);
    assert_true(failed > 0);
    assert_ok(run(&options));
}

static void faults_in_context(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    try_all(make_context, NULL, cache, 1);
}

static void faults_in_sub_devices(void **state)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    options.device = "cpu:1,cpu:1";
    if (make_context(&options) != GRAVEL_OK) {
        print_message("skipped: no CPU with two compute units to give\n");
        skip();
    }
    try_all(make_context, options.device, cache, 1);
}

/* CI tries more of the calls. */
static int stride(int of_ci, int else_)
{
    return getenv("GRAVEL_TEST_LONG") ? of_ci : else_;
}

static void faults_in_programs(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    try_all(get_program, NULL, cache, 1);
    /* without a cache every start compiles, for 0.4 s */
    try_all(get_program, NULL, "", stride(3, 29));
}

static void faults_in_measuring(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    try_all(measure, NULL, cache, stride(97, 293)); /* hundreds of equal launches */
}

static void faults_in_direct_summation(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    try_all(direct, NULL, cache, stride(1, 7));
}

static int make_cache(void **state)
{
    (void)state;
    cache = make_folder();
    return 0;
}

static int remove_cache(void **state)
{
    (void)state;
    remove_folder(cache);
    free(cache);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_in_context),          cmocka_unit_test(faults_in_sub_devices),
        cmocka_unit_test(faults_in_programs),         cmocka_unit_test(faults_in_measuring),
        cmocka_unit_test(faults_in_direct_summation),
    };

    return cmocka_run_group_tests_name("faults", tests, make_cache, remove_cache);
}
