/* Calls of a mesh that are in flight: tickets, the caller's queue, what is made ready before. */
#include "mesh_test.h"

#include <unistd.h>

#include "gravel/opencl.h"
#include "host/mesh/mesh.h"

enum { N = 300, CELLS = 16, MODES = 4 };

static const double side = 2;

typedef struct scene {
    gravel_context *context;
    gravel_bodies *bodies;
    gravel_mesh *mesh;
    cloud c;
} scene;

/* 0: a mesh, 1: an interlaced one with differences, 2: waves, 3: pairs */
static gravel_mesh_options options_of(int mode)
{
    gravel_mesh_options o;
    gravel_mesh_options_init(&o);
    o.side = side;
    o.cells = CELLS;
    o.split = mode == 3 ? 0 : 1.25 * side / CELLS;
    o.interlaced = mode == 1;
    o.gradient = mode == 1 ? GRAVEL_FOUR_POINT : GRAVEL_SPECTRAL;
    o.waves = mode == 2 ? 5 : 0;
    o.table = mode == 3 ? 8 : 0;
    o.eps = mode == 3 ? 0.01 : 0;
    return o;
}

static scene open_scene(gravel_context *context, int mode)
{
    scene s = {.context = context, .c = cloud_random(N, side, 2, 5)};
    const gravel_mesh_options o = options_of(mode);
    context->for_once = 1;
    s.bodies = cloud_bodies(context, &s.c, GRAVEL_DS);
    const gravel_view all = gravel_view_all(s.bodies);
    assert_ok(gravel_mesh_create(&s.mesh, context, &o));
    assert_ok(gravel_mesh_set_sources(s.mesh, &all));
    return s;
}

static void close_scene(scene *s)
{
    gravel_mesh_release(s->mesh);
    gravel_bodies_release(s->bodies);
    gravel_context_release(s->context);
    cloud_free(&s->c);
}

static gravel_ticket *start(scene *s, gravel_view sinks, unsigned into)
{
    gravel_ticket *ticket;
    gravel_mesh_call call;
    gravel_mesh_call_init(&call);
    call.sinks = sinks;
    call.into = into;
    assert_ok(gravel_mesh_start(s->mesh, &call, &ticket));
    return ticket;
}

static void assert_same(const cloud *a, const cloud *b, size_t n)
{
    assert_memory_equal(a->pot, b->pot, n * sizeof(double));
    for (int c = 0; c < 3; c++)
        assert_memory_equal(a->a[c], b->a[c], n * sizeof(double));
}

/* Three calls are on the way at once; each gives the bits of the call that waits. */
static void in_flight(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    for (int mode = 0; mode < MODES; mode++) {
        scene s = open_scene(open_context(), mode);
        const gravel_view all = gravel_view_all(s.bodies), part = gravel_view_range(s.bodies, 50, 100);
        cloud one = cloud_new(N, side), two = cloud_new(N, side), some = cloud_new(N, side), got = cloud_new(N, side);
        gravel_forces out = cloud_forces(&one), out_some = cloud_forces(&some), to = cloud_forces(&got);
        assert_ok(gravel_mesh_forces(s.mesh, &all, GRAVEL_INTO_HOST, &out));
        assert_ok(gravel_mesh_forces(s.mesh, &part, GRAVEL_INTO_HOST, &out_some));
        for (int a = 0; a < 3; a++)
            for (size_t k = 0; k < N; k++)
                s.c.x[a][k] = within(s.c.x[a][k] + 0.03 * side, side);
        gravel_ticket *first = start(&s, all, 0);
        assert_ok(
            gravel_bodies_write(s.bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_SOA(s.c.x[0], s.c.x[1], s.c.x[2])));
        gravel_ticket *second = start(&s, part, GRAVEL_INTO_HOST | GRAVEL_INTO_PLANES);
        gravel_ticket *third = start(&s, all, GRAVEL_INTO_HOST);
        assert_ok(gravel_ticket_collect(third, &to, NULL));
        out = cloud_forces(&two);
        assert_ok(gravel_mesh_forces(s.mesh, &all, GRAVEL_INTO_HOST, &out));
        assert_same(&two, &got, N);
        assert_ok(gravel_ticket_collect(first, &to, NULL));
        assert_same(&one, &got, N); /* where the bodies were when it was submitted */
        assert_ok(gravel_ticket_collect(second, &to, NULL));
        assert_true(memcmp(got.pot, some.pot, 100 * sizeof(double)) != 0);
        for (size_t k = 0; k < 100; k++)
            assert_true(got.a[1][k] == two.a[1][50 + k] && got.pot[k] == two.pot[50 + k]);
        gravel_ticket_release(first);
        gravel_ticket_release(second);
        gravel_ticket_release(third);
        cloud_free(&one);
        cloud_free(&two);
        cloud_free(&some);
        cloud_free(&got);
        close_scene(&s);
    }
}

/* The caller's queue stands still until the caller lets it go: a call that waited would never return.  After
 * gravel_mesh_prepare it compiles and allocates nothing either. */
static void waits_for_nothing(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    gravel_context *own = open_context(), *context;
    const cl_context cl = gravel_context_get_cl(own);
    const cl_device_id device = gravel_context_get_cl_device(own, 0);
    cl_int code;
    cl_device_exec_capabilities can = 0;
    clGetDeviceInfo(device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, NULL);
    cl_command_queue queue = clCreateCommandQueue(cl, device, 0, NULL);
    cl_command_queue other = clCreateCommandQueue(cl, device, 0, NULL);
    assert_ok(gravel_context_adopt(&context, cl, device, queue, NULL));
    scene s = open_scene(context, 0);
    gravel_mesh_call call = GRAVEL_MESH_CALL_INIT;
    call.sinks = gravel_view_all(s.bodies);
    call.into = GRAVEL_INTO_HOST | GRAVEL_INTO_PLANES;
    assert_ok(gravel_mesh_prepare(s.mesh, &call, N, N));
    const size_t memory = gravel_mesh_get_memory(s.mesh);
    cl_kernel kernels[GV_MK_COUNT];
    memcpy(kernels, s.mesh->kernel, sizeof kernels);
    if (gravel_mesh_get_fft(s.mesh) == GRAVEL_FFT_DEVICE || can & CL_EXEC_NATIVE_KERNEL) {
        static float plane[4 * N];
        cloud got = cloud_new(N, side);
        const gravel_forces to = cloud_forces(&got);
        gravel_cl_plane acc;
        gravel_ticket *ticket;
        int ready = 1;
        assert_ok(gravel_bodies_get_cl_plane(s.bodies, GRAVEL_ACCELERATION, 0, &acc));
        cl_event gate = clCreateUserEvent(cl, &code);
        assert_int_equal(code, CL_SUCCESS);
        assert_int_equal(clEnqueueMarkerWithWaitList(queue, 1, &gate, NULL), CL_SUCCESS);
        alarm(600); /* ends the test where it would stand for ever */
        assert_ok(gravel_mesh_start(s.mesh, &call, &ticket));
        alarm(0);
        assert_true(gravel_mesh_get_memory(s.mesh) == memory);
        assert_memory_equal(kernels, s.mesh->kernel, sizeof kernels);
        assert_ok(gravel_ticket_get_ready(ticket, &ready));
        assert_int_equal(ready, 0);
        assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
        /* the plane, read on another queue behind the ticket's event */
        const cl_event done = gravel_ticket_get_cl_event(ticket);
        assert_non_null(done);
        assert_int_equal(clEnqueueReadBuffer(other, acc.buffer, CL_TRUE, 0, sizeof plane, plane, 1, &done, NULL),
                         CL_SUCCESS);
        assert_ok(gravel_ticket_wait(ticket));
        assert_ok(gravel_ticket_get_ready(ticket, &ready));
        assert_int_equal(ready, 1);
        assert_ok(gravel_ticket_collect(ticket, &to, NULL));
        gravel_frame frame;
        assert_ok(gravel_bodies_get_frame(s.bodies, &frame));
        for (size_t k = 0; k < N; k++) /* the same float in another unit: one rounding each way */
            assert_true(fabs(plane[4 * k + 2] * frame.length - got.a[2][k]) <= 3e-7 * fabs(got.a[2][k]));
        gravel_ticket_release(ticket);
        clReleaseEvent(gate);
        cloud_free(&got);
    }
    close_scene(&s);
    clReleaseCommandQueue(other);
    clReleaseCommandQueue(queue);
    gravel_context_release(own);
}

static void refused(scene *s, unsigned into, const char *why)
{
    gravel_ticket *ticket;
    gravel_mesh_call call = GRAVEL_MESH_CALL_INIT;
    call.sinks = gravel_view_all(s->bodies);
    call.into = into;
    assert_int_equal(gravel_mesh_start(s->mesh, &call, &ticket), GRAVEL_ERR_ARGUMENT);
    assert_null(ticket);
    assert_contains(gravel_error_message(), why);
}

static void rules(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    scene s = open_scene(open_context(), 0);
    const gravel_view all = gravel_view_all(s.bodies), none = gravel_view_range(s.bodies, 0, 0);
    cloud got = cloud_new(2 * N, side), same = cloud_new(N, side);
    gravel_forces to = cloud_forces(&got), plain = cloud_forces(&same);
    gravel_mesh_call call = GRAVEL_MESH_CALL_INIT;
    gravel_mesh_timings times;
    int ready = 0;
    refused(&s, GRAVEL_INTO_ADD, "results cannot go to");
    refused(&s, 64, "results cannot go to");
    assert_int_equal(gravel_mesh_start(s.mesh, &call, NULL), GRAVEL_ERR_ARGUMENT);
    call.sinks = all;
    assert_int_equal(gravel_mesh_start(s.mesh, &call, NULL), GRAVEL_ERR_ARGUMENT);
    assert_contains(gravel_error_message(), "need a ticket");
    assert_int_equal(gravel_mesh_start(NULL, &call, NULL), GRAVEL_ERR_ARGUMENT);
    assert_int_equal(gravel_mesh_prepare(s.mesh, &call, 0, N), GRAVEL_ERR_ARGUMENT);

    gravel_ticket *ticket = start(&s, all, GRAVEL_INTO_PLANES);
    assert_ok(gravel_ticket_wait(ticket));
    assert_int_equal(gravel_ticket_collect(ticket, &to, NULL), GRAVEL_ERR_ARGUMENT);
    assert_contains(gravel_error_message(), "into planes only");
    gravel_ticket_release(ticket);
    assert_int_equal(gravel_mesh_get_timings(s.mesh, &times), GRAVEL_ERR_STATE);

    ticket = start(&s, none, 0);
    assert_ok(gravel_ticket_get_ready(ticket, &ready));
    assert_int_equal(ready, 1);
    assert_ok(gravel_ticket_collect(ticket, &to, NULL));
    gravel_ticket_release(ticket);

    /* every second place of the caller's arrays, and nothing between them */
    assert_ok(gravel_mesh_forces(s.mesh, &all, GRAVEL_INTO_HOST, &plain));
    ticket = start(&s, all, 0);
    to.jerk.x = got.a[0];
    assert_int_equal(gravel_ticket_collect(ticket, &to, NULL), GRAVEL_ERR_ARGUMENT);
    to.jerk.x = NULL;
    to.acc.stride = to.pot_stride = 2;
    assert_ok(gravel_ticket_collect(ticket, &to, NULL));
    assert_int_equal(gravel_ticket_collect(ticket, &to, NULL), GRAVEL_ERR_STATE);
    gravel_ticket_release(ticket);
    for (size_t k = 0; k < N; k++) {
        assert_true(got.a[2][2 * k] == same.a[2][k] && got.pot[2 * k] == same.pot[k]);
        assert_true(got.a[2][2 * k + 1] == 0 && got.pot[2 * k + 1] == 0);
    }

    /* timed: stages have times, and the bits stay */
    assert_ok(gravel_context_set_timing(s.context, 0, 1));
    to = cloud_forces(&got);
    assert_ok(gravel_bodies_write(s.bodies, GRAVEL_MASS, 0, N, &GRAVEL_ARRAY(s.c.m)));
    ticket = start(&s, all, 0);
    assert_ok(gravel_mesh_get_timings(s.mesh, &times));
    assert_true(times.sort > 0 && times.assign > 0 && times.fft > 0 && times.green > 0 && times.interpolate > 0);
    assert_true(fabs(times.sort + times.assign + times.fft + times.green + times.interpolate - times.total) < 1e-12);
    assert_ok(gravel_ticket_collect(ticket, &to, NULL));
    assert_same(&same, &got, N);
    gravel_ticket_release(ticket);

    for (int k = 0; k < 6; k++) /* released on the way */
        gravel_ticket_release(start(&s, k % 2 ? all : none, 0));
    start(&s, all, 0); /* released with the mesh */
    cloud_free(&got);
    cloud_free(&same);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_flight),
        cmocka_unit_test(waits_for_nothing),
        cmocka_unit_test(rules),
    };
    return cmocka_run_group_tests_name("mesh calls", tests, NULL, NULL);
}
