/* src/host/program/features.c: a compiler that builds nothing, and one that builds all but the trials. */
#include "host_test.h"

#include <dlfcn.h>

#include "host/device/device.h"
#include "host/program/program.h"

static const char *compiler_log;   /* what is left of a build that fails */
static const char *builds;         /* text without it does not build; NULL: nothing does */
static _Thread_local int is_known; /* the text that is made now */

/* By dlopen: with functions defined here, the linker may leave the loader out. */
static void *real(const char *name)
{
    static void *library;

    if (!library)
        library = dlopen("libOpenCL.so.1", RTLD_NOW);
    assert_non_null(library);
    return dlsym(library, name);
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings, const size_t *lengths,
                                     cl_int *code)
{
    cl_program (*next)(cl_context, cl_uint, const char **, const size_t *, cl_int *);

    *(void **)&next = real("clCreateProgramWithSource");
    is_known = builds && strstr(strings[0], builds);
    return next(context, count, strings, lengths, code);
}

cl_int clBuildProgram(cl_program program, cl_uint n, const cl_device_id *device, const char *options,
                      void(CL_CALLBACK *notify)(cl_program, void *), void *user)
{
    cl_int (*next)(cl_program, cl_uint, const cl_device_id *, const char *, void(CL_CALLBACK *)(cl_program, void *),
                   void *);

    *(void **)&next = real("clBuildProgram");
    return is_known ? next(program, n, device, options, notify, user) : CL_BUILD_PROGRAM_FAILURE;
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what, size_t size,
                             void *value, size_t *needed)
{
    const size_t length = strlen(compiler_log) + 1;

    (void)program, (void)device;
    if (what != CL_PROGRAM_BUILD_LOG)
        return CL_INVALID_VALUE;
    if (needed)
        *needed = length;
    if (value && size >= length)
        memcpy(value, compiler_log, length);
    return CL_SUCCESS;
}

/* What was found before does not count. */
static gravel_status create(gravel_context **context)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;

    options.cache_dir = "";
    return gravel_context_create(context, &options);
}

/* One sentence, with what the compiler says of it. */
static void nothing_builds(void **state)
{
    static const struct {
        const char *log, *shown;
    } c[] = {
        {"Building for a CPU\nerror: unknown target CPU 'generic'\nDevice failed to build the program\n",
         "not even an empty kernel (error: unknown target CPU 'generic'): another version of the driver"},
        {"\n  no such target\nmore\n", "(no such target): another"},
        {"", "(CL_BUILD_PROGRAM_FAILURE): another"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        gravel_context *context = NULL;

        compiler_log = c[i].log, builds = NULL;
        assert_int_equal(create(&context), GRAVEL_ERR_UNSUPPORTED);
        assert_null(context);
        assert_contains(gravel_error_message(), " is not used: its compiler builds nothing here");
        assert_contains(gravel_error_message(), c[i].shown);
        assert_null(strchr(gravel_error_message(), '\n'));
    }
}

/* Trials that do not build are no reason, and kernels that do not show the compiler's log. */
static void trials_do_not_build(void **state)
{
    gravel_context *context = NULL;
    cl_program program;

    (void)state;
    compiler_log = "error: too hard", builds = "gv_nothing";
    assert_ok(create(&context));
    assert_false(context->device[0].has_rsqrt14 || context->device[0].fast_fma);
    assert_int_equal(gv_program_get(context, 0, "lib/sort.cl", "", &program), GRAVEL_ERR_BUILD);
    assert_contains(gravel_error_message(), "error: too hard");
    gravel_context_release(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_builds), cmocka_unit_test(trials_do_not_build)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
