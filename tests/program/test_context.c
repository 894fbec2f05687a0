/* src/host/program/context.c */
#include "host/program/program.h"
#include "host_test.h"

#include <pthread.h>

static void create_and_release(void **state)
{
    gravel_context *context;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    assert_int_equal(gravel_context_create(NULL, NULL), GRAVEL_ERR_ARGUMENT);
    assert_ok(gravel_context_create(&context, NULL));
    assert_int_equal(gravel_context_get_device_count(context), 1);
    assert_non_null(gravel_context_get_device(context, 0));
    assert_null(gravel_context_get_device(context, 1));
    assert_null(gravel_context_get_device(context, -1));
    assert_null(gravel_context_get_device(NULL, 0));
    assert_int_equal(gravel_context_get_device_count(NULL), 0);
    gravel_context_release(context);
    gravel_context_release(NULL);
}

static void unknown_device(void **state)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_context *context;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    options.device = "no such device";
    assert_int_equal(gravel_context_create(&context, &options), GRAVEL_ERR_NO_DEVICE);
    assert_null(context);
    assert_contains(gravel_error_message(), "no such device");
    assert_contains(gravel_error_message(), "\n  0: ");
    options.device = NULL;
    setenv("GRAVEL_DEVICE", "neither this", 1);
    assert_int_equal(gravel_context_create(&context, &options), GRAVEL_ERR_NO_DEVICE);
    assert_contains(gravel_error_message(), "neither this");
    options.device = "0"; /* the option wins over the variable */
    gravel_status status = gravel_context_create(&context, &options);
    unsetenv("GRAVEL_DEVICE");
    assert_ok(status);
    gravel_context_release(context);
}

static void run_empty(gravel_context *context, int device)
{
    const size_t one = 1;
    cl_program program;

    assert_ok(gv_program_get(context, device, "measure/copy.cl", EMPTY_OPTIONS, &program));
    cl_kernel kernel = clCreateKernel(program, "gv_empty", NULL);
    assert_non_null(kernel);
    cl_mem buffer = clCreateBuffer(context->cl, CL_MEM_READ_WRITE, 64, NULL, NULL);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    cl_command_queue queue = context->device[device].timed;
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
}

/* Parts of a CPU in one context: each is a device of its own that runs programs.  Many times, since PoCL's threads may
 * still hold a queue after its last command has finished for the host. */
static void sub_devices(void **state)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_context *context;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    options.device = "cpu:1,cpu:1";
    gravel_status status = gravel_context_create(&context, &options);
    if (status == GRAVEL_ERR_NO_DEVICE || status == GRAVEL_ERR_ARGUMENT || status == GRAVEL_ERR_UNSUPPORTED) {
        print_message("skipped: no CPU with two compute units to give: %s\n", gravel_error_message());
        skip();
    }
    for (int round = 0; round < 30; round++) {
        assert_ok(status);
        assert_int_equal(gravel_context_get_device_count(context), 2);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(gravel_context_get_device(context, i)->compute_units, 1);
            run_empty(context, i);
        }
        gravel_context_release(context);
        status = gravel_context_create(&context, &options);
    }
    assert_ok(status);
    gravel_context_release(context);
}

typedef struct saved_variable {
    const char *name;
    char *value;
} saved_variable;

static void save(saved_variable *v, const char *name)
{
    const char *value = getenv(name);

    v->name = name;
    v->value = value ? gv_format("%s", value) : NULL;
    unsetenv(name);
}

static void restore(saved_variable *v)
{
    if (v->value)
        setenv(v->name, v->value, 1);
    else
        unsetenv(v->name);
    free(v->value);
}

static void expect_folders(const gravel_context_options *options, const char *kernels, const char *cache,
                           const char *profiles)
{
    const char *expected[3] = {kernels, cache, profiles};
    gravel_context *context;

    assert_ok(gravel_context_create(&context, options));
    const char *found[3] = {context->kernel_dir, context->cache_dir, context->profile_dir};
    for (int i = 0; i < 3; i++) {
        if (!expected[i]) {
            assert_null(found[i]);
        } else {
            assert_non_null(found[i]);
            assert_string_equal(found[i], expected[i]);
        }
    }
    gravel_context_release(context);
}

static void folders(void **state)
{
    static const char *const names[] = {"GRAVEL_KERNEL_DIR", "GRAVEL_CACHE_DIR", "GRAVEL_PROFILE_DIR",
                                        "XDG_CACHE_HOME",    "XDG_DATA_HOME",    "HOME"};
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    saved_variable saved[6];
    char *home = make_folder();

    (void)state;
    SKIP_WITHOUT_DEVICE();
    for (int i = 0; i < 6; i++)
        save(&saved[i], names[i]);
    expect_folders(&options, NULL, NULL, NULL); /* no home at all */
    setenv("HOME", home, 1);
    char *cache = gv_format("%s/.cache/gravel/programs", home);
    char *data = gv_format("%s/.local/share/gravel/profiles", home);
    expect_folders(&options, NULL, cache, data);
    free(cache);
    free(data);
    cache = gv_format("%s/c", home);
    setenv("XDG_CACHE_HOME", cache, 1);
    setenv("XDG_DATA_HOME", "/d", 1);
    char *xdg = gv_format("%s/gravel/programs", cache);
    expect_folders(&options, NULL, xdg, "/d/gravel/profiles");
    free(xdg);
    setenv("GRAVEL_KERNEL_DIR", "/e/k", 1);
    setenv("GRAVEL_CACHE_DIR", cache, 1);
    setenv("GRAVEL_PROFILE_DIR", "/e/p", 1);
    expect_folders(&options, "/e/k", cache, "/e/p");
    options.kernel_dir = "/o/k";
    options.cache_dir = "";
    options.profile_dir = "/o/p";
    expect_folders(&options, "/o/k", "", "/o/p");
    free(cache);
    for (int i = 0; i < 6; i++)
        restore(&saved[i]);
    remove_folder(home);
    free(home);
}

static void log_goes_to_the_caller(void **state)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_context *context;
    test_log *log = calloc(1, sizeof *log);
    char long_text[5000];

    (void)state;
    SKIP_WITHOUT_DEVICE();
    memset(long_text, 'l', sizeof long_text);
    long_text[sizeof long_text - 1] = '\0';
    options.log = log_into;
    options.log_user = log;
    assert_ok(gravel_context_create(&context, &options));
    log->text[0] = '\0';
    log->lines = 0;
    gv_log(context, GRAVEL_LOG_WARNING, "%d and %s", 5, "text");
    assert_string_equal(log->text, "5 and text\n");
    gv_log(context, GRAVEL_LOG_DEBUG, "%s", long_text);
    assert_contains(log->text, long_text);
    assert_int_equal(log->lines, 2);
    assert_int_equal(log->warnings, 1);
    gravel_context_release(context);
    free(log);
}

/* Two contexts in two threads are independent: each builds, runs and fails on its own. */
static void *use_context(void *user)
{
    const char *folder = user;
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_context *context;
    cl_program program;
    char wrong[32];

    options.cache_dir = folder;
    for (int i = 0; i < 3; i++) {
        if (gravel_context_create(&context, &options) != GRAVEL_OK)
            return "no context";
        snprintf(wrong, sizeof wrong, "missing/%p.cl", user);
        if (gv_program_get(context, 0, wrong, NULL, &program) != GRAVEL_ERR_FILE ||
            !strstr(gravel_error_message(), wrong)) {
            return "the other thread's message";
        }
        if (gv_program_get(context, 0, "measure/copy.cl", EMPTY_OPTIONS, &program) != GRAVEL_OK)
            return "no program";
        gravel_context_release(context);
    }
    return NULL;
}

static void two_threads(void **state)
{
    pthread_t thread[2];
    char *folder[2] = {make_folder(), make_folder()};
    void *problem;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, use_context, folder[i]), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(thread[i], &problem), 0);
        if (problem)
            fail_msg("thread %d: %s", i, (const char *)problem);
        remove_folder(folder[i]);
        free(folder[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_and_release),
        cmocka_unit_test(unknown_device),
        cmocka_unit_test(sub_devices),
        cmocka_unit_test(folders),
        cmocka_unit_test(log_goes_to_the_caller),
        cmocka_unit_test(two_threads),
    };

    return cmocka_run_group_tests_name("context", tests, NULL, NULL);
}
