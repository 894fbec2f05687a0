/* Ewald sums against what is known without them: lattices, symmetry, the third law, and their own splitting. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cpu_ref/ewald.h"
#include "sim/ic_random.h"

enum { MOST = 64 };

typedef struct set {
    double m[MOST], x[MOST], y[MOST], z[MOST], ax[MOST], ay[MOST], az[MOST], pot[MOST];
    int32_t id[MOST];
    size_t n;
} set;

static void add(set *s, double m, double x, double y, double z)
{
    assert_true(s->n < MOST);
    s->m[s->n] = m, s->x[s->n] = x, s->y[s->n] = y, s->z[s->n] = z;
    s->id[s->n] = (int32_t)s->n;
    s->n++;
}

/* bodies in a box of side L at the origin, some of them close together */
static set random_set(size_t n, double side, uint64_t seed)
{
    set s = {.n = 0};
    gv_random random;
    gv_random_seed(&random, seed);
    while (s.n < n) {
        const double m = gv_random_unit(&random), x = gv_random_unit(&random) * side;
        const double y = gv_random_unit(&random) * side, z = gv_random_unit(&random) * side;
        add(&s, 0.5 + m, s.n % 8 == 1 ? s.x[s.n - 1] + 1e-3 * x : x, s.n % 8 == 1 ? s.y[s.n - 1] : y,
            s.n % 8 == 1 ? s.z[s.n - 1] : z);
    }
    return s;
}

static void forces(gv_ref_real real, set *s, const gv_ref_box *box)
{
    const gv_ref_particles p = {.n = s->n, .m = s->m, .id = s->id, .x = s->x, .y = s->y, .z = s->z};
    const gv_ref_forces out = {.ax = s->ax, .ay = s->ay, .az = s->az, .pot = s->pot};
    assert_int_equal(gv_ref_ewald(real, &p, &p, box, &out), 0);
}

static void close_to(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.17g and %.17g are %.3g apart; %.3g is allowed", a, b, fabs(a - b), tolerance);
}

static double length(const set *s, size_t k)
{
    return sqrt(s->ax[k] * s->ax[k] + s->ay[k] * s->ay[k] + s->az[k] * s->az[k]);
}

/* largest difference of two sets, over the mean acceleration and potential of the first */
static double apart(const set *a, const set *b)
{
    double most = 0, acc = 0, pot = 0;
    for (size_t k = 0; k < a->n; k++) {
        acc += length(a, k) / (double)a->n;
        pot += fabs(a->pot[k]) / (double)a->n;
    }
    for (size_t k = 0; k < a->n; k++) {
        most = fmax(most,
                    fmax(fabs(a->ax[k] - b->ax[k]), fmax(fabs(a->ay[k] - b->ay[k]), fabs(a->az[k] - b->az[k]))) / acc);
        most = fmax(most, fabs(a->pot[k] - b->pot[k]) / pot);
    }
    return most;
}

/* The sum does not depend on how it is split.  In double each of the some 1e4 terms is rounded by 1e-16 of its size and
 * their errors add like the root: 1e-14; ten times that. */
static void two_splittings(void **state)
{
    (void)state;
    static const double alpha[] = {4, 7, 12.4, 16};
    const double side = 3.7;
    for (int softening = 0; softening < 3; softening++) {
        set one = random_set(40, side, 1), other = one;
        gv_ref_box box = {side, 0, softening ? 0.05 * side : 0, softening == 2 ? GV_REF_SPLINE : GV_REF_PLUMMER};
        forces(GV_REF_LONG_DOUBLE, &one, &box);
        for (int k = 0; k < 4; k++) {
            box.alpha = alpha[k];
            forces(GV_REF_DOUBLE, &other, &box);
            close_to(apart(&one, &other), 0, 1e-13);
        }
        box.alpha = 6;
        forces(GV_REF_LONG_DOUBLE, &other, &box);
        close_to(apart(&one, &other), 0, 1e-15); /* what the results hold as doubles */
    }
}

/* Lattices with a uniform background: energy per body -1/2 m pot in units of m^2 over the radius a of its share of the
 * volume, the values of the Wigner crystals; salts by their Madelung constants. */
static void lattices(void **state)
{
    (void)state;
    static const double fcc[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
    static const struct {
        size_t n;
        double energy;
    } wigner[] = {{1, 0.880059442112}, {2, 0.895929255682}, {4, 0.895873615195}};
    const gv_ref_box box = {.side = 2};
    for (int l = 0; l < 3; l++) {
        set s = {.n = 0};
        for (size_t k = 0; k < wigner[l].n; k++)
            add(&s, 1.5, l == 1 ? (double)k : 2 * fcc[k][0], l == 1 ? (double)k : 2 * fcc[k][1],
                l == 1 ? (double)k : 2 * fcc[k][2]);
        forces(GV_REF_DOUBLE, &s, &box);
        const double a = cbrt(8 / (4 * acos(-1) / 3 * (double)wigner[l].n));
        for (size_t k = 0; k < s.n; k++) {
            close_to(0.5 * s.pot[k] * a / 1.5, wigner[l].energy, 2e-12); /* digits of the constants */
            close_to(length(&s, k), 0, 1e-13);
        }
    }
    /* one body: 2.8372974794806196 / L */
    set alone = {.n = 0};
    add(&alone, 1, 0.3, 1.9, -7);
    forces(GV_REF_DOUBLE, &alone, &box);
    close_to(alone.pot[0], 2.8372974794806196 / 2, 1e-13); /* what is left of sums of 14 / L */
    close_to(length(&alone, 0), 0, 1e-14);
    /* rock salt: pot = +1.747564594633182 / distance at a positive charge, whose neighbours repel in gravity's sign */
    set salt = {.n = 0};
    for (int k = 0; k < 8; k++)
        add(&salt, (k + k / 2 + k / 4) % 2 ? -1 : 1, k & 1, k >> 1 & 1, k >> 2);
    forces(GV_REF_DOUBLE, &salt, &box);
    for (int k = 0; k < 8; k++) {
        close_to(salt.pot[k] * salt.m[k], 1.747564594633182, 1e-13);
        close_to(length(&salt, (size_t)k), 0, 1e-13);
    }
    set caesium = {.n = 0}; /* chloride: corners and centre, 1.762674773070988 over their distance sqrt(3) */
    add(&caesium, 1, 0, 0, 0);
    add(&caesium, -1, 1, 1, 1);
    forces(GV_REF_DOUBLE, &caesium, &box);
    close_to(caesium.pot[0] * sqrt(3), 1.762674773070988, 1e-13);
}

/* Without net force: the mean of m a; and a force that is the gradient of the potential (central difference of step h:
 * errors h^2 and rounding over h). */
static void conserves(void **state)
{
    (void)state;
    const double side = 0.5, h = 1e-5 * side;
    for (int softening = 0; softening < 3; softening++) {
        const gv_ref_box box = {side, 0, softening ? 0.03 * side : 0, softening == 2 ? GV_REF_SPLINE : GV_REF_PLUMMER};
        set s = random_set(32, side, 7);
        forces(GV_REF_DOUBLE, &s, &box);
        double sum[3] = {0, 0, 0}, scale = 0;
        for (size_t k = 0; k < s.n; k++) {
            sum[0] += s.m[k] * s.ax[k], sum[1] += s.m[k] * s.ay[k], sum[2] += s.m[k] * s.az[k];
            scale += s.m[k] * length(&s, k);
        }
        for (int c = 0; c < 3; c++)
            close_to(sum[c], 0, 1e-13 * scale);
        set points = {.n = 0};
        const double at[3] = {0.31 * side, 0.11 * side, 1.73 * side};
        for (int k = 0; k < 6; k++)
            add(&points, 0, at[0] + (k / 2 == 0 ? (k % 2 ? h : -h) : 0), at[1] + (k / 2 == 1 ? (k % 2 ? h : -h) : 0),
                at[2] + (k / 2 == 2 ? (k % 2 ? h : -h) : 0));
        add(&points, 0, at[0], at[1], at[2]);
        const gv_ref_particles from = {.n = s.n, .m = s.m, .id = s.id, .x = s.x, .y = s.y, .z = s.z};
        const gv_ref_particles to = {.n = points.n, .x = points.x, .y = points.y, .z = points.z};
        const gv_ref_forces out = {.ax = points.ax, .ay = points.ay, .az = points.az, .pot = points.pot};
        assert_int_equal(gv_ref_ewald(GV_REF_LONG_DOUBLE, &to, &from, &box, &out), 0);
        const double slope[3] = {points.pot[0] - points.pot[1], points.pot[2] - points.pot[3],
                                 points.pot[4] - points.pot[5]};
        const double acc[3] = {points.ax[6], points.ay[6], points.az[6]};
        for (int c = 0; c < 3; c++)
            close_to(slope[c] / (2 * h), acc[c], 1e-7 * length(&points, 6));
    }
}

/* Bodies half a box apart pull each other nowhere; a whole box apart they are at one place; near ones are Newton's. */
static void pairs(void **state)
{
    (void)state;
    gv_ref_box box = {.side = 2};
    set s = {.n = 0};
    add(&s, 1, 0.1, 0.2, 0.3);
    add(&s, 2, 1.1, 0.2, 0.3);
    forces(GV_REF_DOUBLE, &s, &box);
    close_to(length(&s, 0) + length(&s, 1), 0, 1e-13);
    s.x[1] = 2.1;
    forces(GV_REF_DOUBLE, &s, &box);
    close_to(length(&s, 0) + length(&s, 1), 0, 1e-13);
    close_to(s.pot[0], 3 * 2.8372974794806196 / 2, 1e-13); /* a pair at one place has no term of its own */
    s.x[1] = 0.1001;
    forces(GV_REF_DOUBLE, &s, &box);
    /* beside the tide of the images, 4 pi / 3 r / L^3 */
    close_to(s.ax[0], 2e8 - 2 * 4 * acos(-1) / 3 * 1e-4 / 8, 1e-12 * 2e8);
    box.eps = 0.01;
    forces(GV_REF_DOUBLE, &s, &box);
    close_to(s.ax[0], 2e-4 / pow(1e-4 + 1e-8, 1.5), 1e-12 * 200 + 2e-4);
}

static void bad_arguments(void **state)
{
    (void)state;
    set s = random_set(2, 1, 3);
    const gv_ref_particles p = {.n = s.n, .m = s.m, .id = s.id, .x = s.x, .y = s.y, .z = s.z};
    const gv_ref_forces out = {.ax = s.ax};
    const gv_ref_box bad[] = {{.side = 0},
                              {.side = -1},
                              {.side = NAN},
                              {.side = 1, .alpha = 0.5},
                              {.side = 1, .eps = -1},
                              {1, 0, 0.2, GV_REF_SPLINE}};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
        assert_int_equal(gv_ref_ewald(GV_REF_DOUBLE, &p, &p, &bad[k], &out), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_splittings), cmocka_unit_test(lattices),      cmocka_unit_test(conserves),
        cmocka_unit_test(pairs),          cmocka_unit_test(bad_arguments),
    };
    return cmocka_run_group_tests_name("ref_ewald", tests, NULL, NULL);
}
