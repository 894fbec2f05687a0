/* How long a row of runs is held back (program/row.h), on a host that is slow for a while. */
#include "host/program/program.h"
#include "host/program/row.h"
#include "one_context.h"

#include <time.h>

enum { RUNS = 10 };

/* A kernel of its own, and how long the host takes to queue it. */
typedef struct work {
    cl_kernel kernel;
    cl_mem out;
    long pause_ns;
    int queued;
} work;

static gravel_status queue_one(void *user, cl_command_queue queue)
{
    work *w = user;
    const struct timespec pause = {0, w->pause_ns};
    const size_t one = 1;
    const cl_uint turns = 1000;
    const cl_float start = 1;

    if (w->pause_ns > 0)
        nanosleep(&pause, NULL);
    w->queued++;
    assert_int_equal(clSetKernelArg(w->kernel, 0, sizeof w->out, &w->out), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(w->kernel, 1, sizeof turns, &turns), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(w->kernel, 2, sizeof start, &start), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, w->kernel, 1, NULL, &one, &one, 0, NULL, NULL), CL_SUCCESS);
    return GRAVEL_OK;
}

static double held_s(void)
{
    return context->device[0].hold_pace.queue_s * RUNS;
}

/* A host that was slow for a moment made all later rows as long: most of a tuner's time was spent on them. */
static void test_rows_are_held_no_longer_than_they_need(void **state)
{
    work w = {0};
    cl_program program;
    cl_int code;
    double seconds = 0;

    (void)state;
    assert_ok(gv_program_get(context, 0, "measure/hold.cl", "-DGV_PRECISION=0 -DGV_LANES=1", &program));
    w.kernel = clCreateKernel(program, "gv_hold", &code);
    assert_int_equal(code, CL_SUCCESS);
    w.out = clCreateBuffer(context->cl, CL_MEM_READ_WRITE, sizeof(cl_float), NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    w.pause_ns = 2000000;
    assert_ok(gv_row_time(context, 0, queue_one, &w, RUNS, &seconds));
    assert_true(w.queued % RUNS == 0 && seconds > 0);
    /* the pause, which nanosleep does not cut short, of all runs at least */
    const double slow_s = held_s();
    assert_true(slow_s > 0.019);
    w.pause_ns = 0;
    /* three quarters of what it was after each row: 0.75^16 is a hundredth */
    for (int row = 0; row < 16; row++)
        assert_ok(gv_row_time(context, 0, queue_one, &w, RUNS, &seconds));
    if (!(held_s() < slow_s / 4))
        fail_msg("rows are still held for %.2g s, %.2g s when the host was slow", held_s(), slow_s);
    /* where a launch takes longer than the row the turns become few, and must not become none: they are found again */
    context->device[0].hold_pace.turn_s = 1;
    assert_ok(gv_row_time(context, 0, queue_one, &w, RUNS, &seconds));
    assert_true(context->device[0].hold_pace.turn_s < 1e-3);
    clReleaseMemObject(w.out);
    clReleaseKernel(w.kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_held_no_longer_than_they_need),
    };

    return cmocka_run_group_tests(tests, open_context, close_context);
}
