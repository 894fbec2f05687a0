/* gravel inside a program that uses OpenCL itself: its context, its queue, its kernels, one set of buffers.
 *
 *     gcc -std=c11 own_context.c $(pkg-config --cflags --libs gravel) -lOpenCL -lm -o own_context
 *     ./own_context
 *
 * The program makes context and queue and lends them to gravel.  gravel puts bodies on the device; the program's own
 * kernel moves them on the same queue (free bodies in a magnetic field: they turn in circles), and gravel reads them
 * back.  No wait is needed in between: the queue is in order.  The kernel works on the planes as they are stored, in
 * units of the frame: a position is (x - origin) / length, a velocity v / length, the fourth number of a position the
 * mass.  Exit status 1 if the bodies are not back where they began after one turn.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <gravel/opencl.h>

enum { N = 10000, STEPS = 64 };

static const char *source = "kernel void turn(global float4 *x, global float4 *v, float c, float s, float dt, uint n)\n"
                            "{\n"
                            "    const uint k = get_global_id(0);\n"
                            "    if (k >= n)\n"
                            "        return;\n"
                            "    const float4 old = v[k];\n"
                            "    v[k].x = c * old.x - s * old.y;\n"
                            "    v[k].y = s * old.x + c * old.y;\n"
                            "    x[k].xyz += v[k].xyz * dt;\n"
                            "}\n";

static void check(gravel_status status)
{
    if (!status)
        return;
    fprintf(stderr, "own_context: %s\n", gravel_error_message());
    exit(1);
}

static void check_cl(cl_int code, const char *what)
{
    if (!code)
        return;
    fprintf(stderr, "own_context: %s: OpenCL error %d\n", what, (int)code);
    exit(1);
}

typedef struct own {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel turn;
} own;

static own open_own(void)
{
    own o;
    cl_platform_id platform;
    cl_int code;
    check_cl(clGetPlatformIDs(1, &platform, NULL), "finding a platform");
    check_cl(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &o.device, NULL), "finding a device");
    o.context = clCreateContext(NULL, 1, &o.device, NULL, NULL, &code);
    check_cl(code, "making a context");
    o.queue = clCreateCommandQueue(o.context, o.device, 0, &code);
    check_cl(code, "making a queue");
    o.program = clCreateProgramWithSource(o.context, 1, &source, NULL, &code);
    check_cl(code, "making a program");
    check_cl(clBuildProgram(o.program, 1, &o.device, "", NULL, NULL), "compiling");
    o.turn = clCreateKernel(o.program, "turn", &code);
    check_cl(code, "making a kernel");
    return o;
}

static void close_own(const own *o)
{
    clReleaseKernel(o->turn);
    clReleaseProgram(o->program);
    clReleaseCommandQueue(o->queue);
    clReleaseContext(o->context);
}

/* One full turn in STEPS steps, all of them submitted before any has to be done. */
static void turn_once(const own *o, gravel_bodies *bodies)
{
    gravel_cl_plane x, v;
    const double angle = 6.283185307179586 / STEPS;
    const cl_float c = (cl_float)cos(angle), s = (cl_float)sin(angle), dt = 1.0f / STEPS;
    const cl_uint n = N;
    const size_t global = N;
    check(gravel_bodies_get_cl_plane(bodies, GRAVEL_POSITION, 0, &x));
    check(gravel_bodies_get_cl_plane(bodies, GRAVEL_VELOCITY, 0, &v));
    const struct {
        size_t size;
        const void *value;
    } argument[] = {{sizeof x.buffer, &x.buffer},
                    {sizeof v.buffer, &v.buffer},
                    {sizeof c, &c},
                    {sizeof s, &s},
                    {sizeof dt, &dt},
                    {sizeof n, &n}};
    for (cl_uint k = 0; k < 6; k++)
        check_cl(clSetKernelArg(o->turn, k, argument[k].size, argument[k].value), "setting an argument");
    for (int step = 0; step < STEPS; step++)
        check_cl(clEnqueueNDRangeKernel(o->queue, o->turn, 1, NULL, &global, NULL, 0, NULL, NULL), "starting a kernel");
    /* what gravel has derived from these planes is stale */
    gravel_bodies_touch(bodies, GRAVEL_POSITION);
    gravel_bodies_touch(bodies, GRAVEL_VELOCITY);
}

int main(void)
{
    static double x[N], y[N], z[N], out[N];
    const own o = open_own();
    gravel_context *context;
    gravel_bodies *bodies;
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    double worst = 0;
    for (int k = 0; k < N; k++) {
        x[k] = (double)(k % 100) / 100;
        y[k] = (double)(k / 100) / 100;
    }
    options.precision = GRAVEL_SP;
    check(gravel_context_adopt(&context, o.context, o.device, o.queue, NULL));
    check(gravel_bodies_create(&bodies, context, &options));
    check(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_SOA(x, y, z)));
    check(gravel_bodies_write(bodies, GRAVEL_VELOCITY, 0, N, &GRAVEL_ARRAY_SOA(y, x, z)));
    turn_once(&o, bodies);
    check(gravel_bodies_read(bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_OUT_SOA(out, NULL, NULL)));
    for (int k = 0; k < N; k++)
        worst = fmax(worst, fabs(out[k] - x[k]));
    printf("after one turn in %d steps bodies are at most %.1e from where they began\n", STEPS, worst);
    gravel_bodies_release(bodies);
    gravel_context_release(context);
    close_own(&o);
    /* each step rounds positions and velocities of size 1 at 2^-24 a few times: 64 steps, 1e-5 is ample */
    return worst < 1e-5 ? 0 : 1;
}
