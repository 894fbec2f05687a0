/* King, Hernquist, mass functions, black hole; streams of random numbers and the blocks that threads draw. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "close_to.h"
#include "cpu_ref/ref.h"
#include "sim/ic_cluster.h"
#include "sim/ic_energy.h"
#include "sim/ic_king.h"

static const double PI = 3.14159265358979323846;

/* More than those whose pairs are all summed, which takes seconds. */
enum { MANY = GV_IC_DIRECT + 3616 };

/* ---------------------------------------------------------------- streams */

enum { BITS = 256, WORDS = 4 };

/* The transition of the generator as a matrix over two numbers: column b is what bit b becomes. */
static void transition(uint64_t matrix[BITS][WORDS])
{
    for (int b = 0; b < BITS; b++) {
        gv_random random = {{0}};
        random.s[b / 64] = UINT64_C(1) << b % 64;
        gv_random_bits(&random);
        memcpy(matrix[b], random.s, sizeof random.s);
    }
}

static void apply(uint64_t matrix[BITS][WORDS], const uint64_t state[WORDS], uint64_t out[WORDS])
{
    memset(out, 0, WORDS * sizeof *out);
    for (int b = 0; b < BITS; b++)
        for (int w = 0; w < WORDS && state[b / 64] >> b % 64 & 1; w++)
            out[w] ^= matrix[b][w];
}

static void square(uint64_t matrix[BITS][WORDS])
{
    static uint64_t old[BITS][WORDS];
    memcpy(old, matrix, sizeof old);
    for (int b = 0; b < BITS; b++)
        apply(old, old[b], matrix[b]);
}

/* 128 squarings are 2^128 steps, 192 are 2^192. */
static void jumps(void **state)
{
    (void)state;
    static uint64_t matrix[BITS][WORDS];
    const gv_random start = {{1, 2, 3, 4}};
    gv_random moved = start;
    uint64_t expected[WORDS];
    transition(matrix);
    for (int k = 0; k < 128; k++)
        square(matrix);
    apply(matrix, start.s, expected);
    gv_random_jump(&moved);
    assert_memory_equal(moved.s, expected, sizeof expected);
    for (int k = 128; k < 192; k++)
        square(matrix);
    apply(matrix, start.s, expected);
    moved = start;
    gv_random_long_jump(&moved);
    assert_memory_equal(moved.s, expected, sizeof expected);
}

static void two_numbers(const void *model, gv_random *random, gv_particles *p, size_t i)
{
    (void)model;
    p->x[i] = gv_random_unit(random);
    p->y[i] = gv_random_unit(random);
}

/* What one thread would draw, block after block. */
static void blocks_do_not_know_threads(void **state)
{
    (void)state;
    enum { N = 70 * GV_IC_BLOCK + 5 }; /* more than one round of 64 blocks */
    gv_particles p;
    gv_random start, random, stream;
    gv_random_seed(&start, 11);
    assert_int_equal(gv_particles_create(&p, N + 3, 0), GRAVEL_OK);
    assert_int_equal(gv_ic_draw(&p, 3, N, &start, two_numbers, NULL, NULL), GRAVEL_OK);
    assert_true(p.x[2] == 0.0);
    stream = start;
    for (size_t i = 0; i < N; i++) {
        if (i % GV_IC_BLOCK == 0) {
            random = stream;
            gv_random_jump(&stream);
        }
        const double x = gv_random_unit(&random), y = gv_random_unit(&random);
        assert_true(p.x[i + 3] == x && p.y[i + 3] == y);
    }
    gv_particles_free(&p);
}

static int stop_at_half(void *user, double done, double total)
{
    ++*(int *)user;
    return done > 0.5 * total;
}

static void a_watch_stops(void **state)
{
    (void)state;
    int calls = 0;
    const gv_ic_watch watch = {stop_at_half, &calls};
    gv_ic_plummer_options options = GV_IC_PLUMMER_OPTIONS_INIT;
    options.stars.watch = &watch;
    gv_particles p;
    assert_int_equal(gv_ic_plummer(100, 1, &options, &p), GRAVEL_ERR_CANCELLED);
    assert_true(calls == 1 && p.count == 0 && !p.x);
}

/* ------------------------------------------------------------------- King */

/* 4 pi times the integral of (exp(W - v^2 / 2) - 1) v^n over speeds, Simpson with 400 intervals: the integrand falls to
 * zero at the end with its first power, so that the error is below 1e-9. */
static double king_moment(double w, int power)
{
    enum { N = 400 };
    const double end = sqrt(2.0 * w), h = end / N;
    double sum = 0.0;
    for (int k = 1; k < N; k++) {
        const double v = k * h;
        sum += (k % 2 ? 4.0 : 2.0) * pow(v, power) * (exp(w - 0.5 * v * v) - 1.0);
    }
    return sum * h / 3.0;
}

/* W(x) by the midpoint rule in x, the density from the distribution function itself; x_t from where W would be 0. */
static double own_king(double w0, double until, double *tidal)
{
    const double centre = king_moment(w0, 2), h = 1e-3;
    double x = 1e-2, w = w0 - 1.5e-4, p = 3e-6;
    while (x < until && w > 0.01) {
        const double step = h * fmax(x, 0.1);
        const double wm = w - 0.5 * step * p / (x * x);
        const double xm = x + 0.5 * step, pm = p + 0.5 * step * 9.0 * king_moment(w, 2) / centre * x * x;
        w -= step * pm / (xm * xm);
        p += step * 9.0 * king_moment(wm, 2) / centre * xm * xm;
        x += step;
    }
    if (tidal)
        *tidal = 1.0 / (1.0 / x - w / p);
    return w;
}

static void king_tables(void **state)
{
    (void)state;
    gv_king *king = malloc(sizeof *king);
    assert_non_null(king);
    /* sqrt(2 / pi) (4 pi / (2 pi)^1.5) times the integral is the closed form */
    for (double w = 0.02; w < 12.0; w *= 1.7)
        close_to(gv_king_density(w) / (sqrt(2.0 / PI) * king_moment(w, 2)), 1.0, 2e-7);
    assert_true(gv_king_density(0.0) == 0.0);
    close_to(gv_king_density(1.0 + 1e-12) / gv_king_density(1.0), 1.0, 1e-11);
    /* King (1966) and Binney and Tremaine's figure: two digits are published */
    const double w0[3] = {3.0, 6.0, 9.0}, concentration[3] = {0.67, 1.26, 2.12};
    for (int k = 0; k < 3; k++) {
        gv_king_set(king, w0[k]);
        close_to(log10(king->tidal), concentration[k], 0.0055);
        for (int n = 1; n < king->nodes; n++)
            assert_true(king->w[n] < king->w[n - 1] && king->mass[n] > king->mass[n - 1]);
    }
    gv_king_set(king, 6.0);
    double tidal;
    own_king(6.0, 1e9, &tidal);
    /* steps of 1e-3 of the radius, second order: some 1e-6 in W; the tail from W = 0.01 on has no mass in the test's
     * tidal radius: rho / rho(0) ~ W^2.5 leaves 1e-5 of the mass */
    close_to(king->tidal / tidal, 1.0, 1e-3);
    for (int n = 200; n < king->nodes && king->w[n] > 0.1; n += 300)
        close_to(own_king(6.0, king->x[n], NULL), king->w[n], 2e-3 * 6.0);
    free(king);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double radius(const gv_particles *p, size_t i)
{
    return sqrt(p->x[i] * p->x[i] + p->y[i] * p->y[i] + p->z[i] * p->z[i]);
}

static double *sorted_radii(const gv_particles *p)
{
    double *r = malloc(p->count * sizeof *r);
    assert_non_null(r);
    for (size_t i = 0; i < p->count; i++)
        r[i] = radius(p, i);
    qsort(r, p->count, sizeof *r, ascending);
    return r;
}

static double table_at(const double *x, const double *y, int n, double at)
{
    int low = 0, high = n - 1;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (x[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return y[low] + (y[low + 1] - y[low]) * fmin(fmax((at - x[low]) / (x[low + 1] - x[low]), 0.0), 1.0);
}

/* Largest distance of cumulative masses 1.95 / sqrt(n) once in a thousand samples (Kolmogorov and Smirnov), and 0.5 /
 * sqrt(n) for the scale, which is taken from the sample: its median radius (scatter of the median 0.5 / sqrt(n) in
 * mass). Dispersions: 5 sqrt(2 / 3 k) for k bodies of three components, and 2 % for the scale of speeds. */
static void king_bodies(void **state)
{
    (void)state;
    enum { BINS = 5 };
    const size_t n = MANY;
    gv_king *king = malloc(sizeof *king);
    gv_particles p;
    assert_non_null(king);
    gv_king_set(king, 6.0);
    assert_int_equal(gv_ic_king(n, 3, NULL, &p), GRAVEL_OK);
    close_to(gv_ic_kinetic(&p), 0.25, 1e-12);
    double *r = sorted_radii(&p), worst = 0.0, speed[BINS] = {0.0}, model[BINS] = {0.0}, all = 0.0, all_model = 0.0;
    size_t count[BINS] = {0};
    const double half = table_at(king->mass, king->x, king->nodes, 0.5 * king->total), a = r[n / 2] / half;
    for (size_t k = 0; k < n; k++)
        worst = fmax(worst, fabs(table_at(king->x, king->mass, king->nodes, r[k] / a) / king->total -
                                 ((double)k + 0.5) / (double)n));
    close_to(worst, 0.0, 2.45 / sqrt((double)n));
    assert_true(r[n - 1] < king->tidal * a * 1.02);
    for (size_t i = 0; i < n; i++) {
        const double x = radius(&p, i) / a, w = fmax(table_at(king->x, king->w, king->nodes, x), 0.02);
        const int bin = (int)(BINS * 0.999999 * table_at(king->x, king->mass, king->nodes, x) / king->total);
        const double v2 = p.vx[i] * p.vx[i] + p.vy[i] * p.vy[i] + p.vz[i] * p.vz[i];
        const double expected = king_moment(w, 4) / king_moment(w, 2);
        speed[bin] += v2;
        model[bin] += expected;
        all += v2;
        all_model += expected;
        count[bin]++;
    }
    for (int b = 0; b < BINS; b++)
        close_to(speed[b] / model[b] * all_model / all, 1.0, 5.0 * sqrt(2.0 / 3.0 / (double)count[b]) + 0.02);
    free(r);
    free(king);
    gv_particles_free(&p);
}

/* -------------------------------------------------------------- Hernquist */

/* Jeans' equation solved by Hernquist (1990, eq. 10), G = M = a = 1. */
static double hernquist_sigma2(double r)
{
    const double t = 1.0 + r;
    return (12.0 * r * t * t * t * log(t / r) - r / t * (25.0 + 52.0 * r + 42.0 * r * r + 12.0 * r * r * r)) / 12.0;
}

/* W of the part inside s_c is -(2 s^3 / 3 - s^4 / 2) / s^4 in units of its own mass, which is -1/2 after scaling.  It
 * scatters by 1.41 / sqrt(n), times max(dM / dlnr) = 0.3: 0.42 / sqrt(n) beside the 1.95 of the sample
 * (king_bodies). */
static void hernquist_bodies(void **state)
{
    (void)state;
    enum { BINS = 6 };
    const size_t n = MANY;
    gv_particles p;
    assert_int_equal(gv_ic_hernquist(n, 5, NULL, &p), GRAVEL_OK);
    close_to(gv_ic_kinetic(&p), 0.25, 1e-12);
    const double s_cut = 100.0 / 101.0, a = 2.0 * (2.0 / (3.0 * s_cut) - 0.5);
    double *r = sorted_radii(&p), worst = 0.0, speed[BINS] = {0.0}, model[BINS] = {0.0}, all = 0.0, all_model = 0.0;
    size_t count[BINS] = {0};
    for (size_t k = 0; k < n; k++) {
        const double s = r[k] / (r[k] + a) / s_cut;
        worst = fmax(worst, fabs(s * s - ((double)k + 0.5) / (double)n));
    }
    close_to(worst, 0.0, (1.95 + 0.42) / sqrt((double)n));
    for (size_t i = 0; i < n; i++) {
        const double x = radius(&p, i) / a, s = x / (1.0 + x) / s_cut;
        const int bin = (int)fmin(BINS * s * s, BINS - 1);
        const double v2 = p.vx[i] * p.vx[i] + p.vy[i] * p.vy[i] + p.vz[i] * p.vz[i];
        speed[bin] += v2;
        all += v2;
        /* beyond r = 20 the closed form cancels: sigma^2 = 1 / 5 r there, to 10 % of a small term */
        const double expected = 3.0 * (x < 20.0 ? hernquist_sigma2(x) : 0.2 / x);
        model[bin] += expected;
        all_model += expected;
        count[bin]++;
    }
    for (int b = 0; b < BINS; b++)
        close_to(speed[b] / model[b] * all_model / all, 1.0, 5.0 * sqrt(2.0 / 3.0 / (double)count[b]) + 0.02);
    free(r);
    gv_particles_free(&p);
}

/* --------------------------------------------------------- mass functions */

static double power(double low, double high, double alpha)
{
    return (pow(high, 1.0 - alpha) - pow(low, 1.0 - alpha)) / (1.0 - alpha);
}

static double salpeter_below(double m)
{
    return power(0.1, m, 2.35) / power(0.1, 100.0, 2.35);
}

/* From 0.01 to 50: all three pieces, whose factors 1 / 0.08, 1 and 0.5 make them meet. */
static double kroupa_below(double m)
{
    const double b = 1.0 / 0.08; /* so that the pieces meet */
    const double one = b * power(0.01, fmin(m, 0.08), 0.3), two = power(0.08, fmin(fmax(m, 0.08), 0.5), 1.3);
    const double three = 0.5 * power(0.5, fmax(m, 0.5), 2.3);
    const double whole = b * power(0.01, 0.08, 0.3) + power(0.08, 0.5, 1.3) + 0.5 * power(0.5, 50.0, 2.3);
    return (one + two + three) / whole;
}

/* Kolmogorov and Smirnov: 1.95 / sqrt(n) once in a thousand samples. */
static void check_masses(gv_ic_mass_function function, double low, double high, double (*below)(double))
{
    enum { N = 50000 };
    gv_particles p;
    double sum = 0.0, total = 0.0;
    gv_ic_stars stars = GV_IC_STARS_INIT;
    stars.masses = function;
    stars.mass_low = low;
    stars.mass_high = high;
    assert_int_equal(gv_particles_create(&p, N, 0), GRAVEL_OK);
    assert_int_equal(gv_ic_masses_draw(&p, 0, 4, &stars, &sum), GRAVEL_OK);
    for (size_t i = 0; i < N; i++)
        total += p.m[i];
    assert_true(total == sum);
    qsort(p.m, N, sizeof *p.m, ascending);
    double worst = 0.0;
    for (size_t i = 0; i < N; i++)
        worst = fmax(worst, fabs(below(p.m[i]) - (i + 0.5) / N));
    close_to(worst, 0.0, 1.95 / sqrt((double)N));
    gv_particles_free(&p);
}

static void mass_functions(void **state)
{
    (void)state;
    check_masses(GV_IC_SALPETER, 0.0, 0.0, salpeter_below);
    check_masses(GV_IC_KROUPA, 0.01, 50.0, kroupa_below);
}

/* Masses change, places do not; their sum in solar masses is returned. */
static void masses_beside_places(void **state)
{
    (void)state;
    gv_ic_king_options options = GV_IC_KING_OPTIONS_INIT;
    gv_particles equal, kroupa;
    double solar = -1.0, sum = 0.0;
    options.stars.solar_mass = &solar;
    assert_int_equal(gv_ic_king(500, 2, &options, &equal), GRAVEL_OK);
    assert_true(solar == 0.0);
    options.stars.masses = GV_IC_KROUPA;
    assert_int_equal(gv_ic_king(500, 2, &options, &kroupa), GRAVEL_OK);
    for (size_t i = 0; i < 500; i++)
        sum += kroupa.m[i];
    close_to(sum, 1.0, 1e-13);
    assert_true(solar > 500 * 0.08 && solar < 500 * 5.0);
    close_to(gv_ic_kinetic(&kroupa), 0.25, 1e-13);
    /* both are scaled and centred, by factors of their own: the shape is the same */
    const double wide = equal.x[7] - equal.x[9], same = (kroupa.x[7] - kroupa.x[9]) / wide;
    close_to((kroupa.z[3] - kroupa.z[4]) / (equal.z[3] - equal.z[4]) / same, 1.0, 1e-12);
    gv_particles_free(&equal);
    gv_particles_free(&kroupa);
}

/* ------------------------------------------------------------- black hole */

static void draw_ball(const void *model, gv_random *random, gv_particles *p, size_t i)
{
    double x[3], v[3];
    (void)model;
    gv_random_ball(random, x);
    gv_random_ball(random, v);
    const double top = sqrt(2.5 * (1.0 - x[0] * x[0] - x[1] * x[1] - x[2] * x[2]));
    p->x[i] = x[0];
    p->y[i] = x[1];
    p->z[i] = x[2];
    p->vx[i] = top * v[0];
    p->vy[i] = top * v[1];
    p->vz[i] = top * v[2];
}

/* Before any scaling of energies.  K and W are means over 4000 bodies whose terms scatter by less than their means: 5 /
 * sqrt(4000) = 8 % of each would be five errors; half of it cancels, as the pull of the black hole is in both. */
static void black_hole_virial(void **state)
{
    (void)state;
    const gv_ic_cluster ball = {"a ball", draw_ball, NULL, 1.0, 0.5};
    gv_ic_stars stars = GV_IC_STARS_INIT;
    const double mass[3] = {0.05, 1.0, 1e6};
    for (int k = 0; k < 3; k++) {
        gv_particles p;
        double w = 0.0;
        stars.black_hole = mass[k];
        assert_int_equal(gv_ic_cluster_make(4001, 8, &stars, &ball, &p, &w), GRAVEL_OK);
        /* speeds belong to stars of mass 1 in all; the set's mass is 1 */
        const double kinetic = gv_ic_kinetic(&p) / (1.0 + mass[k]);
        close_to(kinetic / -w, 0.5, 0.5 * 0.04);
        close_to(p.m[0] / (1.0 - p.m[0]) / mass[k], 1.0, 1e-6);
        assert_true(p.x[0] == 0.0 && p.vx[0] == 0.0);
        gv_particles_free(&p);
    }
}

/* Every body against all others: none is unbound. */
static void black_hole_binds(void **state)
{
    (void)state;
    gv_ic_plummer_options options = GV_IC_PLUMMER_OPTIONS_INIT;
    gv_particles p;
    double pot[800];
    options.stars.black_hole = 2.0;
    assert_int_equal(gv_ic_plummer(800, 8, &options, &p), GRAVEL_OK);
    gv_ref_particles all = {.n = p.count, .m = p.m, .id = p.id, .x = p.x, .y = p.y, .z = p.z};
    gv_ref_forces out = {.pot = pot};
    assert_int_equal(gv_ref_direct(GV_REF_DOUBLE, 2, &all, &all, 0.0, NULL, 0, &out), 0);
    for (size_t i = 0; i < p.count; i++)
        assert_true(0.5 * (p.vx[i] * p.vx[i] + p.vy[i] * p.vy[i] + p.vz[i] * p.vz[i]) + pot[i] < 0.0);
    gv_particles_free(&p);
}

static void bad_options(void **state)
{
    (void)state;
    gv_particles p;
    gv_ic_king_options king = GV_IC_KING_OPTIONS_INIT;
    king.w0 = 0.0;
    assert_int_equal(gv_ic_king(10, 1, &king, &p), GRAVEL_ERR_ARGUMENT);
    king.w0 = NAN;
    assert_int_equal(gv_ic_king(10, 1, &king, &p), GRAVEL_ERR_ARGUMENT);
    king = (gv_ic_king_options)GV_IC_KING_OPTIONS_INIT;
    assert_int_equal(gv_ic_king(0, 1, &king, &p), GRAVEL_ERR_ARGUMENT);
    king.stars.black_hole = 2e6;
    assert_int_equal(gv_ic_king(10, 1, &king, &p), GRAVEL_ERR_ARGUMENT);
    king.stars.black_hole = 0.0;
    king.stars.masses = GV_IC_SALPETER;
    king.stars.mass_low = 200.0;
    assert_int_equal(gv_ic_king(10, 1, &king, &p), GRAVEL_ERR_ARGUMENT);
    assert_true(p.count == 0 && !p.x);
}

/* W0 at both ends of what is allowed gives bodies; so do one and two of them, with a black hole and without. */
static void edges(void **state)
{
    (void)state;
    const double w0[2] = {0.05, 16.0};
    for (int k = 0; k < 2; k++)
        for (size_t n = 1; n <= 3; n++) {
            gv_ic_king_options king = GV_IC_KING_OPTIONS_INIT;
            gv_particles p;
            king.w0 = w0[k];
            king.stars.black_hole = n == 2 ? 1e6 : 0.0;
            assert_int_equal(gv_ic_king(n, 1, &king, &p), GRAVEL_OK);
            for (size_t i = 0; i < n; i++)
                assert_true(isfinite(p.x[i]) && isfinite(p.vz[i]) && p.m[i] > 0.0);
            gv_particles_free(&p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jumps),
        cmocka_unit_test(blocks_do_not_know_threads),
        cmocka_unit_test(a_watch_stops),
        cmocka_unit_test(king_tables),
        cmocka_unit_test(king_bodies),
        cmocka_unit_test(hernquist_bodies),
        cmocka_unit_test(mass_functions),
        cmocka_unit_test(masses_beside_places),
        cmocka_unit_test(black_hole_virial),
        cmocka_unit_test(black_hole_binds),
        cmocka_unit_test(bad_options),
        cmocka_unit_test(edges),
    };
    return cmocka_run_group_tests_name("ic_models", tests, NULL, NULL);
}
