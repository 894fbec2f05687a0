/* Meshes against exact sums, and what must hold without them. */
#include "mesh_test.h"

#include "host/mesh/mesh.h"

enum { N = 500, CELLS = 16 };

static gravel_mesh_options options_of(double side, gravel_assignment assignment, gravel_gradient gradient)
{
    gravel_mesh_options o;
    gravel_mesh_options_init(&o);
    o.side = side;
    o.cells = CELLS;
    o.assignment = assignment;
    o.gradient = gradient;
    o.split = 1.25 * side / CELLS;
    return o;
}

static gravel_mesh *mesh_on(gravel_context *context, const gravel_mesh_options *o, const gravel_view *sources)
{
    gravel_mesh *mesh;
    assert_ok(gravel_mesh_create(&mesh, context, o));
    assert_ok(gravel_mesh_set_sources(mesh, sources));
    return mesh;
}

/* Errors over the root mean square of the long range.  What limits them is that waves above the mesh's come in as lower
 * ones, so they do not depend on bodies much: measured for 32^3 cells and 2000 bodies (doc/periodic.md), times two, for
 * other bodies and the few of them. */
static void errors(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    static const struct {
        gravel_assignment assignment;
        gravel_gradient gradient;
        int interlaced;
        gravel_precision mesh, bodies;
        double half, most, pot;
    } row[] = {
        {GRAVEL_TSC, GRAVEL_SPECTRAL, 0, GRAVEL_SP, GRAVEL_DS, 4e-3, 1e-2, 1.5e-3},
        {GRAVEL_TSC, GRAVEL_SPECTRAL, 1, GRAVEL_SP, GRAVEL_DS, 5e-4, 1.2e-3, 2e-4},
        {GRAVEL_PCS, GRAVEL_FOUR_POINT, 0, GRAVEL_SP, GRAVEL_SP, 4e-3, 8e-3, 4e-3},
        {GRAVEL_CIC, GRAVEL_TWO_POINT, 0, GRAVEL_DP, GRAVEL_DP, 3e-2, 8e-2, 2e-2},
        {GRAVEL_NGP, GRAVEL_SPECTRAL, 1, GRAVEL_DP, GRAVEL_DS, 2e-1, 6e-1, 2e-1},
    };
    gravel_context *context = open_context();
    const double side = 50;
    cloud c = cloud_random(N, side, 0, 3), exact = cloud_new(N, side), found = cloud_new(N, side);
    cloud_long_range(&c, N, 1.25 * side / CELLS, 1, &exact);
    for (size_t k = 0; k < sizeof row / sizeof row[0]; k++) {
        gravel_mesh_options o = options_of(side, row[k].assignment, row[k].gradient);
        o.interlaced = row[k].interlaced;
        o.precision = row[k].mesh;
        gravel_bodies *bodies = cloud_bodies(context, &c, row[k].bodies);
        const gravel_view all = gravel_view_all(bodies);
        gravel_mesh *mesh = mesh_on(context, &o, &all);
        const gravel_forces out = cloud_forces(&found);
        assert_ok(gravel_mesh_forces(mesh, &all, GRAVEL_INTO_HOST, &out));
        const spread s = cloud_errors(&found, &exact, N);
        if (!(s.half < row[k].half && s.most < row[k].most && s.pot < row[k].pot))
            fail_msg("%s %s%s: errors %.2e (median) %.2e (99 %%), %.2e (potential); allowed %.2e %.2e %.2e",
                     gravel_assignment_name(row[k].assignment), gravel_gradient_name(row[k].gradient),
                     row[k].interlaced ? " interlaced" : "", s.half, s.most, s.pot, row[k].half, row[k].most,
                     row[k].pot);
        gravel_mesh_release(mesh);
        gravel_bodies_release(bodies);
    }
    cloud_free(&c);
    cloud_free(&exact);
    cloud_free(&found);
    gravel_context_release(context);
}

/* Ewald's sum over waves: what is left out is exp(-(2 pi 0.05 waves)^2) of the waves beyond, 7e-7 and 4e-13; what the
 * exact forces leave out of images is erfc(10).  In sp phases are good to 4e-7. */
static void waves(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    gravel_context *context = open_context();
    const double side = 50;
    cloud c = cloud_random(200, side, 0, 5), exact = cloud_new(c.n, side), found = cloud_new(c.n, side);
    cloud_long_range(&c, c.n, 0.05 * side, 0, &exact);
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p += GRAVEL_DP) {
        gravel_mesh_options o = options_of(side, GRAVEL_NGP, GRAVEL_SPECTRAL);
        o.precision = (gravel_precision)p;
        o.split = 0.05 * side;
        o.waves = p == GRAVEL_DP ? 17 : 12;
        gravel_bodies *bodies = cloud_bodies(context, &c, GRAVEL_DP);
        const gravel_view all = gravel_view_all(bodies);
        gravel_mesh *mesh = mesh_on(context, &o, &all);
        const gravel_forces out = cloud_forces(&found);
        assert_ok(gravel_mesh_set_own(mesh, 1));
        assert_ok(gravel_mesh_forces(mesh, &all, GRAVEL_INTO_HOST, &out));
        const spread s = cloud_errors(&found, &exact, c.n);
        if (!(s.largest < (p == GRAVEL_DP ? 1e-10 : 1e-5) && s.pot < (p == GRAVEL_DP ? 1e-10 : 1e-5)))
            fail_msg("%s: errors %.2e (median) %.2e (largest) %.2e (potential)", gravel_precision_name(o.precision),
                     s.half, s.largest, s.pot);
        gravel_mesh_release(mesh);
        gravel_bodies_release(bodies);
    }
    cloud_free(&c);
    cloud_free(&exact);
    cloud_free(&found);
    gravel_context_release(context);
}

/* Direct sums with a table.  Its own error is that of lines between nodes, 1 / 8 of a second derivative (20 and less)
 * times the square of a step of 1 / 62 and 1 / 126: 7e-4 and 2e-4 of a pair's force over the box at most, which sums of
 * many pairs make small (measured 5e-6); in clumps sp has the roundings of close pairs. */
static void pairs(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    gravel_context *context = open_context();
    const double side = 50, eps = 0.2;
    cloud exact = cloud_new(300, side), found = cloud_new(300, side);
    for (int k = 0; k < 4; k++) {
        cloud c = cloud_random(300, side, k % 2 * 2, 5);
        gravel_mesh_options o = options_of(side, GRAVEL_NGP, GRAVEL_SPECTRAL);
        o.precision = k / 2 ? GRAVEL_DP : GRAVEL_SP;
        o.split = 0;
        o.table = k / 2 ? 64 : 32;
        o.eps = eps;
        o.spline = k % 2;
        cloud_exact(&c, c.n, eps, o.spline ? GV_REF_SPLINE : GV_REF_PLUMMER, &exact);
        gravel_bodies *bodies = cloud_bodies(context, &c, GRAVEL_DP);
        const gravel_view all = gravel_view_all(bodies);
        gravel_mesh *mesh = mesh_on(context, &o, &all);
        const gravel_forces out = cloud_forces(&found);
        assert_ok(gravel_mesh_forces(mesh, &all, GRAVEL_INTO_HOST, &out));
        const spread s = cloud_errors(&found, &exact, c.n);
        if (!(s.half < 2e-5 && s.most < 2e-4 && s.pot < 2e-4))
            fail_msg("%s, %s: errors %.2e (median) %.2e (99 %%) %.2e (potential)", gravel_precision_name(o.precision),
                     k % 2 ? "clumps" : "random", s.half, s.most, s.pot);
        gravel_mesh_release(mesh);
        gravel_bodies_release(bodies);
        cloud_free(&c);
    }
    cloud_free(&exact);
    cloud_free(&found);
    gravel_context_release(context);
}

/* Without images: the long range of pairs in double.  Its waves are those of the same mesh with images. */
static void isolated(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    gravel_context *context = open_context();
    const double side = 50;
    cloud c = cloud_random(300, side, 2, 6), exact = cloud_new(c.n, side), found = cloud_new(c.n, side);
    gravel_mesh_options o = options_of(side, GRAVEL_PCS, GRAVEL_SPECTRAL);
    o.isolated = 1;
    o.cells = 2 * CELLS;
    o.split = 1.25 * side / CELLS;
    for (size_t i = 0; i < c.n; i++)
        for (size_t j = 0; j < c.n; j++) {
            double d[3], r2 = 0;
            for (int a = 0; a < 3; a++) {
                d[a] = c.x[a][j] - c.x[a][i];
                r2 += d[a] * d[a];
            }
            const double r = sqrt(r2), u = r / (2 * o.split), slope = 1 / (sqrt(acos(-1)) * o.split);
            exact.pot[i] -= j == i ? 0 : c.m[j] * erf(u) / r;
            for (int a = 0; a < 3 && j != i; a++)
                exact.a[a][i] += c.m[j] * d[a] * (erf(u) / r - slope * exp(-u * u)) / r2;
        }
    gravel_bodies *bodies = cloud_bodies(context, &c, GRAVEL_DP);
    const gravel_view all = gravel_view_all(bodies);
    gravel_mesh *mesh = mesh_on(context, &o, &all);
    const gravel_forces out = cloud_forces(&found);
    assert_ok(gravel_mesh_set_own(mesh, 1));
    assert_ok(gravel_mesh_forces(mesh, &all, GRAVEL_INTO_HOST, &out));
    const spread s = cloud_errors(&found, &exact, c.n);
    /* PCS with r_s of 1.7 cells: between those of 1.5 and 2 cells in doc/periodic.md, times two */
    if (!(s.half < 3e-4 && s.most < 8e-4 && s.pot < 1e-4))
        fail_msg("errors %.2e (median) %.2e (99 %%) %.2e (potential)", s.half, s.most, s.pot);
    gravel_mesh_release(mesh);
    gravel_bodies_release(bodies);
    cloud_free(&c);
    cloud_free(&exact);
    cloud_free(&found);
    gravel_context_release(context);
}

/* Thousands of bodies in a cell, for which a line of points takes sums of runs, give what they give one by one; in a
 * mesh whose last line is shorter, and on both sides of the box.  A point's sum of 2500 bodies in another order differs
 * by some root of so many roundings, 3e-6 in sp, and by as much again after the transforms: 1e-5, in dp 1e-12. */
static void crowded(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    enum { MANY = 4000, ACROSS = 20 };
    static const struct {
        gravel_assignment assignment;
        gravel_precision precision;
        double most;
    } row[] = {{GRAVEL_PCS, GRAVEL_SP, 1e-5}, {GRAVEL_TSC, GRAVEL_SP, 1e-5}, {GRAVEL_CIC, GRAVEL_DP, 1e-12}};
    gravel_context *context = open_context();
    const double side = 30, cell = side / ACROSS;
    cloud c = cloud_random(MANY, side, 0, 5), one = cloud_new(MANY, side), two = cloud_new(MANY, side);
    for (size_t k = 0; k < 3300; k++) /* in the first cell, and in the last of a row */
        for (int a = 0; a < 3; a++)
            c.x[a][k] = (k < 2500 ? 0 : a == 0 ? side - cell : 7 * cell) + c.x[a][k] * 0.4 / ACROSS;
    for (size_t k = 0; k < sizeof row / sizeof row[0]; k++) {
        gravel_mesh_options o = options_of(side, row[k].assignment, GRAVEL_SPECTRAL);
        o.cells = ACROSS;
        o.precision = row[k].precision;
        gravel_bodies *bodies = cloud_bodies(context, &c, row[k].precision);
        const gravel_view all = gravel_view_all(bodies);
        for (int by_rows = 0; by_rows < 3; by_rows++) { /* by lines, by rows, and by lines once more */
            gravel_mesh *mesh = mesh_on(context, &o, &all);
            const gravel_forces out = cloud_forces(by_rows ? &two : &one);
            mesh->by_rows = by_rows == 1;
            assert_ok(gravel_mesh_forces(mesh, &all, GRAVEL_INTO_HOST, &out));
            gravel_mesh_release(mesh);
            assert_true(by_rows != 1 || cloud_errors(&two, &one, MANY).largest < row[k].most);
        }
        for (int a = 0; a < 3; a++)
            assert_memory_equal(one.a[a], two.a[a], MANY * sizeof(double));
        gravel_bodies_release(bodies);
    }
    cloud_free(&c);
    cloud_free(&one);
    cloud_free(&two);
    gravel_context_release(context);
}

/* The same bits each time; no net force; all mass on the mesh; in planes, added, of a list; without their own part. */
static void properties(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    gravel_context *context = open_context();
    const double side = 0.7;
    cloud c = cloud_random(N, side, 2, 4), one = cloud_new(N, side), two = cloud_new(N, side);
    gravel_mesh_options o = options_of(side, GRAVEL_TSC, GRAVEL_SPECTRAL);
    gravel_bodies *bodies = cloud_bodies(context, &c, GRAVEL_DS);
    const gravel_view all = gravel_view_all(bodies);
    gravel_mesh *mesh = mesh_on(context, &o, &all);
    gravel_forces out = cloud_forces(&one);
    assert_ok(gravel_mesh_forces(mesh, &all, GRAVEL_INTO_HOST | GRAVEL_INTO_PLANES, &out));

    /* wave 0 is the sum of the masses, in units of the frame: n float roundings of parts of it */
    gravel_frame frame;
    double mass = 0, sum[3] = {0, 0, 0}, scale = 0;
    float mean;
    assert_ok(gravel_bodies_get_frame(bodies, &frame));
    assert_int_equal(clEnqueueReadBuffer(gv_worker_queue(&mesh->worker), mesh->buffer[GV_MB_DENSITY].mem, CL_TRUE, 0, 4,
                                         &mean, 0, NULL, NULL),
                     CL_SUCCESS);
    for (size_t k = 0; k < N; k++) {
        mass += c.m[k];
        for (int a = 0; a < 3; a++)
            sum[a] += c.m[k] * one.a[a][k];
        scale += c.m[k] * sqrt(one.a[0][k] * one.a[0][k] + one.a[1][k] * one.a[1][k] + one.a[2][k] * one.a[2][k]);
    }
    assert_true(fabs(mean * frame.mass / mass - 1) < 1e-5);
    /* forces of pairs are equal and opposite but for rounding in float, which some 16^3 waves have a part in */
    for (int a = 0; a < 3; a++)
        assert_true(fabs(sum[a]) < 1e-5 * scale);

    /* the other way to assign: each point's sum in another order, of a few roundings */
    gravel_mesh *other = mesh_on(context, &o, &all);
    other->by_rows = !mesh->by_rows;
    out = cloud_forces(&two);
    assert_ok(gravel_mesh_forces(other, &all, GRAVEL_INTO_HOST, &out));
    assert_true(cloud_errors(&two, &one, N).largest < 1e-5);
    gravel_mesh_release(other);

    /* another mesh, other calls: bit for bit */
    other = mesh_on(context, &o, &all);
    assert_ok(gravel_mesh_forces(other, &all, GRAVEL_INTO_HOST, &out));
    assert_memory_equal(one.pot, two.pot, N * sizeof(double));
    for (int a = 0; a < 3; a++)
        assert_memory_equal(one.a[a], two.a[a], N * sizeof(double));

    /* planes hold the same to the float that they store */
    const gravel_array_out to = GRAVEL_ARRAY_OUT_SOA(two.a[0], two.a[1], two.a[2]);
    for (int times = 1; times <= 2; times++) {
        assert_ok(gravel_bodies_read(bodies, GRAVEL_ACCELERATION, 0, N, &to));
        for (size_t k = 0; k < N; k++)
            assert_true(fabs(two.a[0][k] - times * one.a[0][k]) < 1e-6 * times * fabs(one.a[0][k]) + 1e-30);
        assert_ok(gravel_mesh_forces(mesh, &all, GRAVEL_INTO_PLANES | GRAVEL_INTO_ADD, NULL));
    }

    /* a list: places are found for it alone, and its sums are those of the same bodies among all */
    const uint32_t address[] = {7, 400, 3};
    gravel_list *list;
    assert_ok(gravel_list_create(&list, context, 0));
    assert_ok(gravel_list_write(list, address, 3));
    const gravel_view some = gravel_view_list(bodies, list);
    out = cloud_forces(&two);
    assert_ok(gravel_mesh_forces(mesh, &some, GRAVEL_INTO_HOST, &out));
    for (size_t k = 0; k < 3; k++)
        assert_true(two.a[1][k] == one.a[1][address[k]] && two.pot[k] == one.pot[address[k]]);
    assert_ok(gravel_mesh_set_own(mesh, 1));
    assert_ok(gravel_mesh_forces(mesh, &some, GRAVEL_INTO_HOST, &out));
    for (size_t k = 0; k < 3; k++) {
        const double own = c.m[address[k]] / (sqrt(acos(-1)) * o.split);
        assert_true(fabs(two.pot[k] - own - one.pot[address[k]]) < 1e-5 * own);
    }

    /* moved by two boxes and three cells: the same places */
    for (int a = 0; a < 3; a++)
        for (size_t k = 0; k < N; k++)
            c.x[a][k] += (a - 1) * 2 * side + 3 * side / CELLS;
    assert_ok(gravel_mesh_set_own(mesh, 0));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_SOA(c.x[0], c.x[1], c.x[2])));
    assert_ok(gravel_mesh_forces(mesh, &all, GRAVEL_INTO_HOST, &out));
    const spread s = cloud_errors(&two, &one, N);
    assert_true(s.largest < 1e-4); /* roundings of float in waves and weights */

    gravel_list_release(list);
    gravel_mesh_release(mesh);
    gravel_mesh_release(other);
    gravel_bodies_release(bodies);
    cloud_free(&c);
    cloud_free(&one);
    cloud_free(&two);
    gravel_context_release(context);
}

/* All sizes that are allowed have an FFT that passes its own check, and one that is wrong does not. */
static void transforms(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    static const int size[] = {4, 5, 6, 7, 9, 14, 30, 32, 35, 49};
    gravel_context *context = open_context();
    gv_worker worker = {.context = context};
    gv_buffer cube = {0};
    gv_fft *fft;
    const int dp = gv_worker_device(&worker)->info.has_fp64;
    assert_ok(gv_buffer_reserve(&worker, &cube, 49 * 49 * 50 * 8, "test"));
    for (size_t k = 0; k < sizeof size / sizeof size[0]; k++)
        for (int p = GRAVEL_SP; p <= (dp ? GRAVEL_DP : GRAVEL_SP); p += GRAVEL_DP) {
            assert_ok(gv_fft_plan(&fft, &worker, size[k], (gravel_precision)p, GRAVEL_FFT_HOST, cube.mem));
            gv_fft_release(fft);
        }
    if (gv_fft_has_device) {
        assert_ok(gv_fft_plan(&fft, &worker, 12, GRAVEL_SP, GRAVEL_FFT_DEVICE, cube.mem));
        assert_int_equal(gv_fft_kind(fft), GRAVEL_FFT_DEVICE);
        gv_fft_release(fft);
    } else {
        assert_int_equal(gv_fft_plan(&fft, &worker, 12, GRAVEL_SP, GRAVEL_FFT_DEVICE, cube.mem),
                         GRAVEL_ERR_UNSUPPORTED);
        assert_contains(gravel_error_message(), "libvkfft-dev");
    }
    assert_true(gv_fft_can(1024) && gv_fft_can(1000) && !gv_fft_can(11) && !gv_fft_can(2) && !gv_fft_can(2048));
    assert_int_equal(gv_fft_below(131), 128);
    assert_int_equal(gv_fft_above(131), 135);
    gv_buffer_release(&cube);
    gravel_context_release(context);
}

static void refuse(gravel_context *context, gravel_mesh_options o, gravel_status status, const char *why)
{
    gravel_mesh *mesh;
    assert_int_equal(gravel_mesh_create(&mesh, context, &o), status);
    assert_null(mesh);
    assert_contains(gravel_error_message(), why);
}

static void o_isolated(gravel_context *context, gravel_mesh_options o)
{
    o.isolated = 1;
    o.cells = 640;
    refuse(context, o, GRAVEL_ERR_ARGUMENT, "512 cells");
    o.cells = CELLS;
    o.split = 0;
    refuse(context, o, GRAVEL_ERR_ARGUMENT, "needs a splitting length");
}

static void bad_arguments(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    gravel_context *context = open_context();
    const gravel_mesh_options good = options_of(1, GRAVEL_TSC, GRAVEL_SPECTRAL);
#define REFUSE(member, value, status, why)                                                                             \
    do {                                                                                                               \
        gravel_mesh_options o = good;                                                                                  \
        o.member = value;                                                                                              \
        refuse(context, o, status, why);                                                                               \
    } while (0)
    REFUSE(side, 0, GRAVEL_ERR_ARGUMENT, "above 0");
    REFUSE(side, NAN, GRAVEL_ERR_ARGUMENT, "above 0");
    REFUSE(cells, 2, GRAVEL_ERR_ARGUMENT, "4 to 1024");
    REFUSE(cells, 131, GRAVEL_ERR_ARGUMENT, "as 128 and 135 are");
    REFUSE(assignment, (gravel_assignment)5, GRAVEL_ERR_ARGUMENT, "assignment 5");
    REFUSE(gradient, (gravel_gradient)9, GRAVEL_ERR_ARGUMENT, "gradient 9");
    REFUSE(split, -1, GRAVEL_ERR_ARGUMENT, "0 or more");
    REFUSE(split, 0.3, GRAVEL_ERR_ARGUMENT, "a quarter");
    o_isolated(context, good);
    REFUSE(table, 3, GRAVEL_ERR_ARGUMENT, "4 to 128");
    REFUSE(table, 32, GRAVEL_ERR_ARGUMENT, "without waves");
    REFUSE(eps, -1, GRAVEL_ERR_ARGUMENT, "softening");
    REFUSE(waves, 33, GRAVEL_ERR_ARGUMENT, "33 waves");
    REFUSE(precision, GRAVEL_DS, GRAVEL_ERR_ARGUMENT, "sp or dp");
    REFUSE(device, 77, GRAVEL_ERR_ARGUMENT, "device 77");
    gravel_mesh *mesh;
    cloud c = cloud_random(3, 1, 0, 1);
    gravel_bodies *bodies = cloud_bodies(context, &c, GRAVEL_DS);
    const gravel_view all = gravel_view_all(bodies), none = gravel_view_range(bodies, 0, 0);
    assert_ok(gravel_mesh_create(&mesh, context, &good));
    assert_int_equal(gravel_mesh_forces(mesh, &all, GRAVEL_INTO_PLANES, NULL), GRAVEL_ERR_STATE);
    assert_contains(gravel_error_message(), "gravel_mesh_set_sources");
    assert_ok(gravel_mesh_set_sources(mesh, &none));
    assert_int_equal(gravel_mesh_forces(mesh, &all, GRAVEL_INTO_PLANES, NULL), GRAVEL_ERR_STATE);
    assert_ok(gravel_mesh_set_sources(mesh, &all));
    assert_int_equal(gravel_mesh_forces(mesh, &all, 0, NULL), GRAVEL_ERR_ARGUMENT);
    assert_int_equal(gravel_mesh_forces(mesh, &all, GRAVEL_INTO_HOST, NULL), GRAVEL_ERR_ARGUMENT);
    assert_ok(gravel_mesh_forces(mesh, &none, GRAVEL_INTO_PLANES, NULL));
    gravel_mesh_release(mesh);
    gravel_mesh_release(NULL);
    gravel_bodies_release(bodies);
    cloud_free(&c);
    gravel_context_release(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors),        cmocka_unit_test(waves),      cmocka_unit_test(pairs),
        cmocka_unit_test(isolated),      cmocka_unit_test(properties), cmocka_unit_test(transforms),
        cmocka_unit_test(bad_arguments), cmocka_unit_test(crowded),
    };
    return cmocka_run_group_tests_name("mesh", tests, NULL, NULL);
}
