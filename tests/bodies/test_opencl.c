/* A program that owns its OpenCL context: gravel works beside its kernels, on its queue. */
#include "host_test.h"

#include "gravel/opencl.h"

enum { N = 5000 };

static cl_context cl;
static cl_device_id device;
static cl_platform_id platform;

static int open_cl(void **state)
{
    (void)state;
    gravel_context *context;
    /* whatever device gravel would take */
    if (gravel_context_create(&context, NULL))
        return -1;
    device = gravel_context_get_cl_device(context, 0);
    clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    gravel_context_release(context);
    cl = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    return cl ? 0 : -1;
}

static int close_cl(void **state)
{
    (void)state;
    clReleaseContext(cl);
    return 0;
}

static cl_kernel drift_kernel(cl_program *program)
{
    static const char *text = "kernel void drift(global float4 *x, global const float4 *v, float dt, uint n)\n"
                              "{\n"
                              "    const uint k = get_global_id(0);\n"
                              "    if (k < n)\n"
                              "        x[k].xyz += v[k].xyz * dt;\n"
                              "}\n";
    *program = clCreateProgramWithSource(cl, 1, &text, NULL, NULL);
    assert_int_equal(clBuildProgram(*program, 1, &device, "", NULL, NULL), CL_SUCCESS);
    cl_kernel kernel = clCreateKernel(*program, "drift", NULL);
    assert_non_null(kernel);
    return kernel;
}

/* Bodies are written by gravel, moved by the caller's kernel on the same queue, read by gravel, without a wait. */
static void run_beside(cl_command_queue queue)
{
    static double x[N], v[N], out[N];
    const size_t global = N;
    const cl_float dt = 0.25f;
    const cl_uint n = N;
    cl_program program;
    gravel_context *context;
    gravel_bodies *bodies;
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_cl_plane position, velocity, low;
    for (int k = 0; k < N; k++) {
        x[k] = k - N / 2;
        v[k] = 4 * k;
    }
    const gravel_frame frame = {{0, 0, 0}, 1024, 1};
    const gravel_array pos = GRAVEL_ARRAY_SOA(x, x, x), vel = GRAVEL_ARRAY_SOA(v, x, x);
    const gravel_array_out to = GRAVEL_ARRAY_OUT_SOA(out, NULL, NULL);
    options.precision = GRAVEL_SP;
    assert_ok(gravel_context_adopt(&context, cl, device, queue, NULL));
    assert_true(gravel_context_get_cl(context) == cl && gravel_context_get_cl_device(context, 0) == device);
    cl_command_queue ours = gravel_context_get_cl_queue(context, 0);
    assert_true(queue ? ours == queue : ours != NULL);
    assert_ok(gravel_bodies_create(&bodies, context, &options));
    assert_ok(gravel_bodies_set_frame(bodies, &frame));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N, &pos));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_VELOCITY, 0, N, &vel));
    assert_ok(gravel_bodies_get_cl_plane(bodies, GRAVEL_POSITION, 0, &position));
    assert_ok(gravel_bodies_get_cl_plane(bodies, GRAVEL_VELOCITY, 0, &velocity));
    assert_true(position.count == N && position.components == 4 && position.number_size == 4);
    assert_int_equal(gravel_bodies_get_cl_plane(bodies, GRAVEL_POSITION, 1, &low), GRAVEL_ERR_ARGUMENT);
    cl_kernel kernel = drift_kernel(&program);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(cl_mem), &position.buffer), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof(cl_mem), &velocity.buffer), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 2, sizeof dt, &dt), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 3, sizeof n, &n), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(ours, kernel, 1, NULL, &global, NULL, 0, NULL, NULL), CL_SUCCESS);
    gravel_bodies_touch(bodies, GRAVEL_POSITION);
    assert_ok(gravel_bodies_read(bodies, GRAVEL_POSITION, 0, N, &to));
    for (int k = 0; k < N; k++) /* whole numbers below 2^24: exact */
        assert_true(out[k] == x[k] + k);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    gravel_bodies_release(bodies);
    gravel_context_release(context);
}

static void on_the_callers_queue(void **state)
{
    (void)state;
    cl_uint holders = 0;
    cl_command_queue queue = clCreateCommandQueue(cl, device, 0, NULL);
    run_beside(queue);
    clFinish(queue);
    assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof holders, &holders, NULL), 0);
    assert_true(holders >= 1); /* it outlives gravel's context */
    clReleaseCommandQueue(queue);
}

static void on_a_queue_of_its_own(void **state)
{
    (void)state;
    run_beside(NULL);
}

static void timing(void **state)
{
    (void)state;
    gravel_context *context;
    cl_command_queue plain = clCreateCommandQueue(cl, device, 0, NULL);
    cl_command_queue timed = clCreateCommandQueue(cl, device, CL_QUEUE_PROFILING_ENABLE, NULL);
    assert_ok(gravel_context_adopt(&context, cl, device, plain, NULL));
    assert_int_equal(gravel_context_set_timing(context, 0, 1), GRAVEL_ERR_UNSUPPORTED);
    assert_ok(gravel_context_set_timing(context, 0, 0));
    gravel_context_release(context);
    assert_ok(gravel_context_adopt(&context, cl, device, timed, NULL));
    assert_ok(gravel_context_set_timing(context, 0, 1));
    assert_true(gravel_context_get_cl_queue(context, 0) == timed);
    gravel_context_release(context);
    clReleaseCommandQueue(timed);
    clReleaseCommandQueue(plain);
}

static void what_does_not_fit(void **state)
{
    (void)state;
    gravel_context *context;
    const cl_context other = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue foreign = clCreateCommandQueue(other, device, 0, NULL);
    cl_command_queue unordered = clCreateCommandQueue(cl, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);
    assert_int_equal(gravel_context_adopt(&context, NULL, device, NULL, NULL), GRAVEL_ERR_ARGUMENT);
    assert_int_equal(gravel_context_adopt(&context, cl, device, foreign, NULL), GRAVEL_ERR_ARGUMENT);
    assert_contains(gravel_error_message(), "another context");
    if (unordered) {
        assert_int_equal(gravel_context_adopt(&context, cl, device, unordered, NULL), GRAVEL_ERR_ARGUMENT);
        clReleaseCommandQueue(unordered);
    }
    assert_null(context);
    clReleaseCommandQueue(foreign);
    clReleaseContext(other);
}

/* A queue without events costs no feature: trials have one of their own, also where nothing was kept of another. */
static void a_queue_without_events(void **state)
{
    (void)state;
    cl_int code;
    gravel_context *own, *adopted;
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    const cl_command_queue queue = clCreateCommandQueue(cl, device, 0, &code);
    assert_int_equal(code, CL_SUCCESS);
    options.cache_dir = "";
    assert_ok(gravel_context_create(&own, &options));
    assert_ok(gravel_context_adopt(&adopted, cl, device, queue, &options));
    assert_string_equal(adopted->device[0].feature_options, own->device[0].feature_options);
    assert_int_equal(gravel_context_get_device(adopted, 0)->has_fp64, gravel_context_get_device(own, 0)->has_fp64);
    assert_int_equal(gravel_context_set_timing(adopted, 0, 1), GRAVEL_ERR_UNSUPPORTED);
    gravel_context_release(adopted);
    gravel_context_release(own);
    clReleaseCommandQueue(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_without_events), cmocka_unit_test(on_the_callers_queue),
        cmocka_unit_test(on_a_queue_of_its_own),  cmocka_unit_test(timing),
        cmocka_unit_test(what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, open_cl, close_cl);
}
