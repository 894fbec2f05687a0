/* Which arguments a kernel gets again (gv_launch_next).  This program defines clSetKernelArg itself, which counts and
 * goes to the loader's. */
#include "host/program/launch.h"
#include "host_test.h"

#include <dlfcn.h>

static int set;

cl_int clSetKernelArg(cl_kernel kernel, cl_uint at, size_t size, const void *value)
{
    cl_int (*next)(cl_kernel, cl_uint, size_t, const void *);
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    assert_non_null(library);
    *(void **)&next = dlsym(library, "clSetKernelArg");
    set++;
    return next(kernel, at, size, value);
}

/* Copies 16 bytes; how many arguments were set for it. */
static int copied(gv_worker *worker, cl_kernel kernel, gv_last *last, const gv_buffer *from, const gv_buffer *to,
                  cl_uint turns)
{
    const cl_ulong step = 1;
    const gv_arg arg[] = {GV_MEM(*from), GV_MEM(*to), GV_ARG(step), GV_ARG(step), GV_ARG(turns)};
    set = 0;
    assert_ok(gv_launch_next(worker, -1, kernel, gv_groups(1, 1), 5, arg, last));
    return set;
}

static float first_of(const gv_worker *worker, const gv_buffer *buffer)
{
    float value;
    assert_int_equal(
        clEnqueueReadBuffer(gv_worker_queue(worker), buffer->mem, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL),
        CL_SUCCESS);
    return value;
}

static void make(const gv_worker *worker, gv_buffer *buffer, float value)
{
    const float words[4] = {value, value, value, value};
    assert_ok(gv_buffer_reserve(worker, buffer, sizeof words, "a test"));
    assert_int_equal(
        clEnqueueWriteBuffer(gv_worker_queue(worker), buffer->mem, CL_TRUE, 0, sizeof words, words, 0, NULL, NULL),
        CL_SUCCESS);
}

static void unchanged(void **state)
{
    gravel_context *context;
    (void)state;
    SKIP_WITHOUT_DEVICE();
    assert_ok(gravel_context_create(&context, NULL));
    gv_worker worker = {.context = context};
    gv_buffer from = {NULL, 0}, to = {NULL, 0}, other = {NULL, 0};
    gv_last last = {NULL, 0, {0}};
    cl_kernel kernel;
    assert_ok(gv_kernel_make(&worker, "measure/copy.cl", EMPTY_OPTIONS, "gv_copy", &kernel));
    make(&worker, &from, 3);
    make(&worker, &to, 0);
    assert_int_equal(copied(&worker, kernel, &last, &from, &to, 1), 5);
    assert_int_equal(copied(&worker, kernel, &last, &from, &to, 1), 0);
    assert_int_equal(copied(&worker, kernel, &last, &from, &to, 0), 1);
    assert_true(first_of(&worker, &to) == 3);
    /* another buffer: numbers of 8 bytes are set again as well */
    make(&worker, &other, 7);
    assert_int_equal(copied(&worker, kernel, &last, &from, &to, 0), 4);
    assert_int_equal(copied(&worker, kernel, &last, &other, &to, 1), 2);
    assert_true(first_of(&worker, &to) == 7);
    /* one that may have the address of one that is gone */
    gv_buffer_release(&from);
    make(&worker, &from, 9);
    assert_int_equal(copied(&worker, kernel, &last, &from, &to, 1), 4);
    assert_true(first_of(&worker, &to) == 9);
    gv_buffer_release(&from);
    gv_buffer_release(&to);
    gv_buffer_release(&other);
    clReleaseKernel(kernel);
    gravel_context_release(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(unchanged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
