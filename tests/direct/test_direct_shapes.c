/* Shapes that end at a distance, tables, and quadrupoles of sources, against the reference. */
#include "faults.h"
#include "gravel/direct.h"
#include "problem.h"

enum { N = 150, SINKS = 37 };
#define LANES_SHAPE "threads=1 split=1 sinks_per_item=1 tile=0 unroll=1 lanes=4 rsqrt=0 blocks_per_cu=2"
#define WIDE_SHAPE "threads=1 split=1 sinks_per_item=1 tile=0 unroll=1 lanes=16 rsqrt=0 blocks_per_cu=2"

typedef struct fixture {
    gravel_context *context;
    bodies b;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    *state = NULL;
    if (no_device())
        return 0;
    const gravel_context_options o = GRAVEL_CONTEXT_OPTIONS_INIT;
    assert_ok(gravel_context_create(&f.context, &o));
    f.b = bodies_new(N, 5);
    for (int c = 0; c < 3; c++) /* at one place, not one body */
        f.b.d[0][c][7] = f.b.d[0][c][3];
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    if (f) {
        gravel_context_release(f->context);
        bodies_free(&f->b);
    }
    return 0;
}

#define NEED(f)                                                                                                        \
    fixture *f = *state;                                                                                               \
    if (!f) {                                                                                                          \
        skip();                                                                                                        \
        return;                                                                                                        \
    }

static const char *const shapes[] = {GPU_SHAPE, LANES_SHAPE, WIDE_SHAPE};

/* Each configuration and each precision comes, not each pair of them: compiling is what takes the time. */
static int is_run(gravel_precision p, size_t k)
{
    return p == GRAVEL_SP ? k == 0 : p == GRAVEL_DS ? k == 2 : k == 1;
}

static gravel_direct_call call_of(const gravel_sinks *sinks, double eps, gravel_shape shape)
{
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    call.points = sinks;
    call.eps = eps;
    call.shape = shape;
    return call;
}

static results collected(gravel_direct *d, const gravel_direct_call *call, size_t capacity)
{
    results r = results_new(call->points->count, capacity);
    const gravel_forces f = forces_into(d, &r);
    gravel_ticket *ticket;
    assert_ok(gravel_direct_start(d, call, &ticket));
    assert_ok(gravel_ticket_collect(ticket, &f, &r.overflow));
    gravel_ticket_release(ticket);
    return r;
}

static gv_ref_forces out_of(const results *r)
{
    return (gv_ref_forces){.ax = r->v[R_AX], .ay = r->v[R_AY], .az = r->v[R_AZ], .pot = r->v[R_POT]};
}

/* Newton's bounds, times `factor`, hold for factors of Newton's force of at most 1 whose logarithmic derivatives are of
 * order 1 too; erfc of OpenCL may be off by 16 units in the last place, as much again as PAIR_ROUNDINGS. */
static void assert_near(const results *got, const results *want, gravel_precision p, const gv_ref_particles *sinks,
                        const gv_ref_particles *sources, double eps, double factor, const char *what)
{
    for (size_t i = 0; i < sinks->n; i++) {
        double bound[4];
        error_bounds(p, sinks, i, sources, eps, bound);
        for (int c = 0; c < 4; c++) {
            const double error = fabs(got->v[c][i] - want->v[c][i]), allowed = factor * bound[c == R_POT];
            if (!(error <= allowed))
                fail_msg("%s: sink %zu, component %d: %.17g, the reference %.17g: error %.3g, at most %.3g", what, i, c,
                         got->v[c][i], want->v[c][i], error, allowed);
        }
    }
}

/* --------------------------------------------------------------- truncated */

static void truncated(void **state)
{
    NEED(f)
    static const double eps[2] = {0, 0.03};
    const gravel_sinks sinks = sinks_of(&f->b, 0, SINKS, NULL);
    const gv_ref_particles a = view_of(&f->b, 0, SINKS), b = view_of(&f->b, 0, N);
    const gv_ref_law shape = {.kind = GV_REF_LAW_TRUNCATED, .length = 0.3, .cut = 0.9 / 0.3};
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++)
        for (size_t k = 0; k < 3; k++) {
            if (!is_run((gravel_precision)p, k))
                continue;
            gravel_direct *d = direct_new(
                f->context, (direct_want){.order = 2, .precision = (gravel_precision)p, .configuration = shapes[k]});
            direct_write(d, &f->b, 0, N);
            for (size_t e = 0; e < 2; e++) {
                gravel_direct_call call = call_of(&sinks, eps[e], GRAVEL_SHAPE_TRUNCATED);
                call.r_s = 0.15;
                call.r_cut = 0.9;
                /* each form with and without softening, each in every precision */
                call.level = (p + (int)e) % 2 ? GRAVEL_LEVEL_EXACT : GRAVEL_LEVEL_RATIONAL;
                assert_ok(gravel_direct_prepare(d, &call, SINKS, N));
                results want = results_new(SINKS, 0);
                const gv_ref_forces out = out_of(&want);
                assert_int_equal(gv_ref_by_law(&shape, &a, &b, eps[e], &out), 0);
                results got = collected(d, &call, 0);
                assert_near(&got, &want, (gravel_precision)p, &a, &b, eps[e], 3, shapes[k]);
                results_free(&got);
                results_free(&want);
            }
            gravel_direct_release(d);
        }
}

/* The largest errors of force and potential of one pair relative to Newton's, over distances up to the cut. */
static void envelope(fixture *f, int level, gravel_precision p, double *acc, double *pot)
{
    enum { PLACES = 4000 };
    static const double mass = 1, origin = 0;
    static double x[PLACES], zero[PLACES];
    const double r_s = 0.5, r_cut = 3; /* u = r */
    const gravel_sources source = {.count = 1, .mass = &mass, .pos = {&origin, &origin, &origin, 1}};
    const gravel_sinks sinks = {.count = PLACES, .pos = {x, zero, zero, 1}};
    gravel_direct *d = direct_new(f->context, (direct_want){.order = 2, .precision = p, .configuration = LANES_SHAPE});
    gravel_direct_call call = call_of(&sinks, 0, GRAVEL_SHAPE_TRUNCATED);
    for (int k = 0; k < PLACES; k++)
        x[k] = (float)((k + 1) * 0.9999 * r_cut / PLACES); /* no rounding of the distance itself */
    call.r_s = r_s;
    call.r_cut = r_cut;
    call.level = level;
    assert_ok(gravel_direct_write_sources(d, 0, &source));
    results got = collected(d, &call, 0);
    *acc = *pot = 0;
    for (int k = 0; k < PLACES; k++) {
        const double u = x[k], t = erfc(u) + 2 / sqrt(acos(-1.0)) * u * exp(-u * u);
        *acc = fmax(*acc, fabs(-got.v[R_AX][k] * u * u - t));
        *pot = fmax(*pot, fabs(-got.v[R_POT][k] * u - erfc(u)));
    }
    results_free(&got);
    gravel_direct_release(d);
}

/* A table that an earlier call made longer gives the same bits as one of the call's own. */
static void tables_of_before(void **state)
{
    fixture *f = *state;
    enum { PLACES = 500 };
    static const double mass = 1, origin = 0;
    static double x[PLACES], zero[PLACES];
    const gravel_sources source = {.count = 1, .mass = &mass, .pos = {&origin, &origin, &origin, 1}};
    const gravel_sinks sinks = {.count = PLACES, .pos = {x, zero, zero, 1}};
    gravel_direct_call call = call_of(&sinks, 0, GRAVEL_SHAPE_TRUNCATED);
    double first[2][PLACES];
    for (int k = 0; k < PLACES; k++)
        x[k] = (k + 1) * 2.4 / PLACES;
    call.level = 2;
    for (int after = 0; after < 2; after++) {
        gravel_direct *d = direct_new(f->context, (direct_want){.order = 2, .precision = GRAVEL_SP});
        assert_ok(gravel_direct_write_sources(d, 0, &source));
        call.r_s = 0.5;
        call.r_cut = 7; /* a table to 9, or today 12 */
        if (after) {
            results other = collected(d, &call, 0);
            results_free(&other);
        }
        call.r_cut = 2.5;
        results got = collected(d, &call, 0);
        memcpy(first[after], got.v[R_AX], sizeof first[after]);
        results_free(&got);
        gravel_direct_release(d);
    }
    assert_memory_equal(first[0], first[1], sizeof first[0]);
}

/* Interpolation by a polynomial of degree L at Chebyshev's places of an interval of length h is off by at most
 * |f^(L+1)| (h/2)^(L+1) / (2^L (L+1)!).  Derivatives of T = erfc u + 2/sqrt(pi) u exp(-u^2) and of erfc are at most
 *   order      1      2      3      4      5
 *   T        0.83   1.33   4.51   14.2   54.2
 *   erfc     1.13   0.97   2.26   4.40   13.5                                                        */
static void levels(void **state)
{
    NEED(f)
    static const double of_t[5] = {0.831, 1.33, 4.52, 14.3, 54.2}, of_erfc[5] = {1.13, 0.969, 2.26, 4.41, 13.6};
    double scale = 1, acc, pot;
    for (int level = 0; level <= 4; level++) {
        scale *= 1.5 / 512 / (level + 1) / (level ? 2 : 1);
        for (int p = level == 3 ? GRAVEL_SP : GRAVEL_DP; p <= GRAVEL_DP; p += 2) {
            envelope(f, level, (gravel_precision)p, &acc, &pot);
            print_message("level %d %s: force %.2e (bound %.2e), potential %.2e (%.2e)\n", level, p ? "dp" : "sp", acc,
                          of_t[level] * scale, pot, of_erfc[level] * scale);
            /* and rounding: a dozen operations with numbers of order 1 */
            assert_true(acc <= of_t[level] * scale + 16 * unit_of((gravel_precision)p));
            assert_true(pot <= of_erfc[level] * scale + 16 * unit_of((gravel_precision)p));
            assert_true(acc > 0.2 * of_t[level] * scale || p == GRAVEL_SP); /* the bound is no empty one */
        }
    }
}

/* ------------------------------------------------------------------ tables */

/* Plummer's force with a length far below the cut, as forces: over five powers of ten. */
#define CORE 2e-3
#define CUT 1.25

static double plummer_force(double r, void *calls)
{
    ++*(int *)calls;
    return pow(r * r + CORE * CORE, -1.5);
}

static double plummer_potential(double r, void *user)
{
    (void)user;
    return 1 / sqrt(r * r + CORE * CORE) - 1 / sqrt(CUT * CUT + CORE * CORE);
}

/* factors that vanish at u = 2, as TreePM codes have them */
static double falling(double u, void *user)
{
    (void)user;
    return u < 2 ? (1 - u / 2) * (1 - u / 2) * (1 + u) : 0;
}

static double falling_potential(double u, void *user)
{
    (void)user;
    /* u times the integral of falling(v) / v^2 from u to 2: (1 - 3/4 v^2 + v^3/4) / v^2 */
    return 1 - 3 * u / 2 + 3 * u * u / 4 - u * u * u / 8;
}

static void run_table(fixture *f, const gravel_table *table, const gv_ref_law *shape, const double *allowed,
                      const char *what)
{
    const gravel_sinks sinks = sinks_of(&f->b, 0, SINKS, NULL);
    const gv_ref_particles a = view_of(&f->b, 0, SINKS), b = view_of(&f->b, 0, N);
    double scale[2][SINKS];
    results want = results_new(SINKS, 0);
    gv_ref_forces out = out_of(&want);
    out.acc_scale = scale[0];
    out.pot_scale = scale[1];
    assert_int_equal(gv_ref_by_law(shape, &a, &b, 0, &out), 0);
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++)
        for (size_t k = 0; k < 3; k++) {
            if (k != (p == GRAVEL_DS ? 2 : 1)) /* groups with tiles read records like one work-item alone */
                continue;
            gravel_direct *d = direct_new(
                f->context, (direct_want){.order = 2, .precision = (gravel_precision)p, .configuration = shapes[k]});
            const gravel_direct_call call = call_of(&sinks, 0, GRAVEL_SHAPE_TABLE);
            direct_write(d, &f->b, 0, N);
            assert_ok(gravel_direct_set_table(d, table));
            results got = collected(d, &call, 0);
            for (size_t i = 0; i < SINKS; i++)
                for (int c = 0; c < 4; c++) {
                    const double error = fabs(got.v[c][i] - want.v[c][i]) / scale[c == R_POT][i];
                    if (!(error <= allowed[p]))
                        fail_msg("%s, precision %d, %s: sink %zu, component %d: %.9g, the reference %.9g: %.3g of the "
                                 "pairs' sum, at most %.3g",
                                 what, p, shapes[k], i, c, got.v[c][i], want.v[c][i], error, allowed[p]);
                }
            results_free(&got);
            gravel_direct_release(d);
        }
    results_free(&want);
}

/* With 2^b intervals in an octave of r^2 the error of r^-3 is 59 (2^-b / 2)^4 / (2^3 4!) of it: 1.9e-8 with 32, 4.4e-12
 * with 256 (dp).  In sp the nearest pairs (0.08) lose some digits in their positions: 3 x 1.2e-7 / 0.08.  The potential
 * of the body at a sink's place is that at 7.5e-8, where the table begins: (7.5e-8 / 2e-3)^2 / 2 = 7e-10 off. */
static void table_of_forces(void **state)
{
    NEED(f)
    static const double allowed[3] = {2e-6, 1e-6, 1e-9};
    int calls = 0;
    gravel_table table = GRAVEL_TABLE_INIT;
    gv_ref_law shape = {.kind = GV_REF_LAW_FORCES, .cut = CUT, .force = plummer_force, .potential = plummer_potential};
    shape.user = &calls;
    table.kind = GRAVEL_TABLE_FORCES;
    table.force = plummer_force;
    table.cut = CUT;
    table.user = &calls;
    run_table(f, &table, &shape, allowed, "potential by integration");
    table.potential = plummer_potential;
    table.level = 4;
    run_table(f, &table, &shape, allowed, "level 4");
    assert_true(calls > 0);
}

/* Even intervals: h = 2/512; |f''''| is at most 3 there, so the error is far below rounding in float, 3 (h/2)^4 / 192
 * in double. */
static void table_of_factors(void **state)
{
    NEED(f)
    static const double allowed[3] = {3e-6, 1e-6, 2e-12};
    gravel_table table = GRAVEL_TABLE_INIT;
    const gv_ref_law shape = {
        .kind = GV_REF_LAW_FACTORS, .length = 0.7, .cut = 2, .force = falling, .potential = falling_potential};
    table.force = falling;
    table.length = 0.7;
    table.cut = 2;
    table.even = 1;
    run_table(f, &table, &shape, allowed, "potential by integration");
    table.potential = falling_potential;
    table.even = 0;
    run_table(f, &table, &shape, allowed, "by octaves");
}

static void at_one_place(void **state)
{
    NEED(f)
    int calls = 0;
    const gravel_sinks sinks = sinks_of(&f->b, 3, 1, NULL);
    gravel_direct *d =
        direct_new(f->context, (direct_want){.order = 2, .precision = GRAVEL_DS, .configuration = LANES_SHAPE});
    gravel_direct_call call = call_of(&sinks, 0, GRAVEL_SHAPE_TABLE);
    gravel_table table = GRAVEL_TABLE_INIT;
    table.kind = GRAVEL_TABLE_FORCES;
    table.force = plummer_force;
    table.potential = plummer_potential;
    table.cut = CUT;
    table.user = &calls;
    direct_write(d, &f->b, 7, 1); /* only the body at the sink's place, of another id */
    assert_ok(gravel_direct_set_source_count(d, 8));
    assert_ok(gravel_direct_set_table(d, &table));
    results got = collected(d, &call, 0);
    const double want = -f->b.m[7] * plummer_potential(0, NULL);
    assert_true(got.v[R_AX][0] == 0 && fabs(got.v[R_POT][0] - want) < 1e-6 * fabs(want));
    results_free(&got);
    call.shape = GRAVEL_SHAPE_TRUNCATED;
    call.r_s = 0.1;
    call.r_cut = 0.6;
    for (call.level = -1; call.level <= 3; call.level += 4) {
        got = collected(d, &call, 0);
        for (int c = 0; c < 4; c++)
            assert_true(got.v[c][0] == 0);
        results_free(&got);
    }
    gravel_direct_release(d);
}

/* Neighbours do not depend on the shape, and bodies on the device are taken as points are. */
static void with_neighbours(void **state)
{
    NEED(f)
    enum { CAPACITY = 40 };
    double radius[SINKS];
    for (int k = 0; k < SINKS; k++)
        radius[k] = 0.5;
    const gravel_sinks sinks = sinks_of(&f->b, 0, SINKS, radius);
    gravel_direct *d = direct_new(
        f->context,
        (direct_want){
            .order = 2, .precision = GRAVEL_DS, .nearest = 1, .capacity = CAPACITY, .configuration = LANES_SHAPE});
    gravel_direct_call call = call_of(&sinks, 0.02, GRAVEL_SHAPE_PLUMMER);
    direct_write(d, &f->b, 0, N);
    results plain = collected(d, &call, CAPACITY);
    call.shape = GRAVEL_SHAPE_TRUNCATED;
    call.r_s = 0.15;
    call.r_cut = 0.9;
    call.level = 3;
    results shaped = collected(d, &call, CAPACITY);
    assert_memory_equal(plain.nearest, shaped.nearest, SINKS * sizeof *plain.nearest);
    assert_memory_equal(plain.count, shaped.count, SINKS * sizeof *plain.count);
    const gv_ref_particles a = view_of(&f->b, 0, SINKS), b = view_of(&f->b, 0, N);
    const gv_ref_law shape = {.kind = GV_REF_LAW_TRUNCATED, .length = 0.3, .cut = 3};
    results want = results_new(SINKS, 0);
    const gv_ref_forces out = out_of(&want);
    assert_int_equal(gv_ref_by_law(&shape, &a, &b, 0.02, &out), 0);
    assert_near(&shaped, &want, GRAVEL_DS, &a, &b, 0.02, 3, "with neighbours");
    results_free(&plain);
    results_free(&shaped);
    results_free(&want);
    gravel_direct_release(d);
}

/* ------------------------------------------------------------- quadrupoles */

static void random_quadrupoles(double (*q)[6], const bodies *b, double size)
{
    uint64_t seed = 99;
    for (size_t k = 0; k < b->n; k++) {
        for (int c = 0; c < 5; c++)
            q[k][c] = b->m[k] * size * size * random_unit(&seed);
        q[k][5] = -q[k][0] - q[k][3];
    }
}

static void quadrupoles(void **state)
{
    NEED(f)
    /* far from unit length and mass, which the device computes in */
    enum { CELLS = N - SINKS };
    const double length = 3e7, mass = 1e12, eps = 0.3 * length;
    static double q[N][6];
    bodies b = bodies_new(N, 77);
    for (size_t k = 0; k < N; k++) {
        b.m[k] *= mass;
        for (int c = 0; c < 3; c++)
            b.d[0][c][k] *= length;
    }
    b.m[50] = 0;
    random_quadrupoles(q, &b, 0.1 * length);
    memset(q[50], 0, sizeof q[50]);
    const gravel_sinks sinks = sinks_of(&b, CELLS - 5, SINKS, NULL); /* five of them are cells themselves */
    const gv_ref_particles a = view_of(&b, CELLS - 5, SINKS), from = view_of(&b, 0, CELLS);
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++)
        for (size_t k = 0; k < 2; k++) {
            if (k != (size_t)(p == GRAVEL_DS) && p != GRAVEL_DP)
                continue;
            gravel_direct *d = direct_new(
                f->context, (direct_want){.order = 2, .precision = (gravel_precision)p, .configuration = shapes[k]});
            gravel_direct_call call = call_of(&sinks, k ? eps : 0, GRAVEL_SHAPE_PLUMMER);
            results want = results_new(SINKS, 0);
            const gv_ref_forces out = out_of(&want);
            assert_int_equal(gv_ref_quadrupoles(&a, &from, (const double(*)[6])q, call.eps, &out), 0);
            direct_write(d, &b, 0, CELLS);
            call.quadrupoles = 1;
            assert_ok(gravel_direct_write_quadrupoles(d, 40, CELLS - 40, (const double(*)[6])q + 40));
            results early = collected(d, &call, 0); /* the first 40 have none yet */
            assert_ok(gravel_direct_write_quadrupoles(d, 0, 40, (const double(*)[6])q));
            assert_ok(gravel_direct_prepare(d, &call, 2 * SINKS, 2 * N));
            results got = collected(d, &call, 0);
            assert_true(fabs(got.v[R_POT][20] - early.v[R_POT][20]) > 1e-5 * fabs(got.v[R_POT][20]));
            /* a pair's quadrupole is at most about (0.1 / 0.1)^2 of its mass term here, and costs three roundings more
             * than Newton's, and its position errors are 5/3 of the others */
            assert_near(&got, &want, (gravel_precision)p, &a, &from, call.eps, 8, shapes[k]);
            results_free(&early);
            results_free(&got);
            results_free(&want);
            gravel_direct_release(d);
        }
    bodies_free(&b);
}

/* ------------------------------------------------------------------ errors */

static double nowhere(double r, void *user)
{
    (void)user;
    return r > 0.5 ? 1 : NAN;
}

#define assert_refused(call, code, part)                                                                               \
    do {                                                                                                               \
        assert_int_equal(gravel_direct_start(d, &(call), &ticket), code);                                              \
        assert_contains(gravel_error_message(), part);                                                                 \
    } while (0)

static void refused(void **state)
{
    NEED(f)
    const gravel_sinks sinks = sinks_of(&f->b, 0, SINKS, NULL);
    gravel_direct *d = direct_new(f->context, (direct_want){.order = 2, .precision = GRAVEL_SP});
    gravel_direct_call call = call_of(&sinks, 0, GRAVEL_SHAPE_TABLE);
    gravel_ticket *ticket;
    gravel_table table = GRAVEL_TABLE_INIT;
    static const double q[1][6] = {{0, 0, 0, INFINITY, 0, 0}};
    direct_write(d, &f->b, 0, N);
    assert_refused(call, GRAVEL_ERR_STATE, "there is no table");
    call.shape = GRAVEL_SHAPE_TRUNCATED;
    assert_refused(call, GRAVEL_ERR_ARGUMENT, "r_s is 0");
    call.r_s = 1;
    call.r_cut = 5;
    call.level = 5;
    assert_refused(call, GRAVEL_ERR_ARGUMENT, "level of the truncated shape is 5");
    call.level = 3;
    call.order = 4;
    assert_refused(call, GRAVEL_ERR_ARGUMENT, "are for order 2");
    call.order = 2;
    call.quadrupoles = 1;
    assert_refused(call, GRAVEL_ERR_ARGUMENT, "quadrupoles go with");
    call.shape = (gravel_shape)17;
    assert_refused(call, GRAVEL_ERR_ARGUMENT, "no shape 17");
    assert_int_equal(gravel_direct_set_table(d, &table), GRAVEL_ERR_ARGUMENT);
    table.force = nowhere;
    assert_int_equal(gravel_direct_set_table(d, &table), GRAVEL_ERR_ARGUMENT);
    assert_contains(gravel_error_message(), "ends at 0");
    table.cut = 1;
    assert_int_equal(gravel_direct_set_table(d, &table), GRAVEL_ERR_INPUT);
    table.level = 7;
    assert_int_equal(gravel_direct_set_table(d, &table), GRAVEL_ERR_ARGUMENT);
    table.level = 3;
    table.intervals = 33;
    assert_int_equal(gravel_direct_set_table(d, &table), GRAVEL_ERR_ARGUMENT);
    assert_int_equal(gravel_direct_write_quadrupoles(d, 0, 1, q), GRAVEL_ERR_INPUT);
    gravel_direct_release(d);
}

/* A table for which there is no memory leaves that which there was. */
static void no_memory(void **state)
{
    NEED(f)
    const gravel_sinks sinks = sinks_of(&f->b, 0, SINKS, NULL);
    gravel_direct *d = direct_new(f->context, (direct_want){.order = 2, .precision = GRAVEL_SP});
    gravel_table table = GRAVEL_TABLE_INIT;
    gravel_ticket *ticket;
    table.force = falling;
    table.cut = 2;
    table.even = 1;
    table.intervals = 64;
    direct_write(d, &f->b, 0, N);
    assert_ok(gravel_direct_set_table(d, &table));
    for (int own = 0; own < 2; own++) {
        gravel_direct_call call = call_of(&sinks, 0, own ? GRAVEL_SHAPE_TABLE : GRAVEL_SHAPE_TRUNCATED);
        call.r_s = 0.1;
        call.r_cut = 0.5;
        call.level = 2;
        results before = collected(d, &call, 0);
        countdown = 1;
        if (own) {
            table.intervals = 4096;
            assert_int_equal(gravel_direct_set_table(d, &table), GRAVEL_ERR_DEVICE_MEMORY);
        } else {
            gravel_direct_call longer = call;
            longer.r_cut = 1.5; /* beyond the end of the table that is there */
            assert_int_equal(gravel_direct_start(d, &longer, &ticket), GRAVEL_ERR_DEVICE_MEMORY);
        }
        assert_int_equal(countdown, 0);
        results after = collected(d, &call, 0);
        for (int c = 0; c < 4; c++)
            assert_memory_equal(before.v[c], after.v[c], SINKS * sizeof(double));
        results_free(&before);
        results_free(&after);
    }
    gravel_direct_release(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncated),       cmocka_unit_test(tables_of_before), cmocka_unit_test(levels),
        cmocka_unit_test(table_of_forces), cmocka_unit_test(table_of_factors), cmocka_unit_test(at_one_place),
        cmocka_unit_test(with_neighbours), cmocka_unit_test(quadrupoles),      cmocka_unit_test(refused),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
