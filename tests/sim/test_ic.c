/* Initial conditions of spheres: generator, units, profiles, repeatability, options. */
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
#include "sim/ic.h"
#include "sim/ic_energy.h"
#include "sim/ic_random.h"

static double potential_long_double(const gv_particles *p)
{
    double *pot = calloc(p->count, sizeof *pot);
    assert_non_null(pot);
    gv_ref_particles all = {.n = p->count, .m = p->m, .id = p->id, .x = p->x, .y = p->y, .z = p->z};
    gv_ref_forces out = {.pot = pot};
    assert_int_equal(gv_ref_direct(GV_REF_LONG_DOUBLE, 2, &all, &all, 0.0, NULL, 0, &out), 0);
    long double sum = 0;
    for (size_t i = 0; i < p->count; i++)
        sum += (long double)p->m[i] * pot[i];
    free(pot);
    return (double)(sum / 2);
}

/* Known answers of the generators' authors: splitmix64 of 1234567; xoshiro256** from the state 1, 2, 3, 4. */
static void generator(void **state)
{
    (void)state;
    gv_random random;
    gv_random_seed(&random, 1234567);
    const uint64_t seeded[4] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u};
    assert_memory_equal(random.s, seeded, sizeof seeded);
    random = (gv_random){{1, 2, 3, 4}};
    const uint64_t drawn[4] = {11520u, 0u, 1509978240u, 1215971899390074240u};
    for (int k = 0; k < 4; k++)
        assert_true(gv_random_bits(&random) == drawn[k]);
}

/* First moments of n draws: standard errors sqrt(1/12n) (unit), sqrt(1/5n) (ball), sqrt(1/3n) (direction),
 * sqrt(1/n). */
static void generator_shapes(void **state)
{
    (void)state;
    const int n = 100000;
    gv_random random;
    gv_random_seed(&random, 3);
    double mean[4] = {0.0}, square[4] = {0.0}, v[3];
    for (int i = 0; i < n; i++) {
        double u[4];
        u[0] = gv_random_unit(&random);
        assert_true(u[0] > 0.0 && u[0] < 1.0);
        gv_random_ball(&random, v);
        assert_true(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] <= 1.0);
        u[1] = v[0];
        gv_random_direction(&random, v);
        close_to(v[0] * v[0] + v[1] * v[1] + v[2] * v[2], 1.0, 1e-15);
        u[2] = v[1];
        u[3] = gv_random_gauss(&random);
        for (int k = 0; k < 4; k++) {
            mean[k] += u[k] / n;
            square[k] += u[k] * u[k] / n;
        }
    }
    const double expected[4] = {0.5, 0.0, 0.0, 0.0}, variance[4] = {1.0 / 12, 0.2, 1.0 / 3, 1.0};
    for (int k = 0; k < 4; k++) {
        close_to(mean[k], expected[k], 5.0 * sqrt(variance[k] / n));
        /* the variance of a square is at most 2 sigma^4 here */
        close_to(square[k] - expected[k] * expected[k], variance[k], 5.0 * sqrt(2.0 / n) * variance[k] * 2.0);
    }
}

/* M = 1, E = -1/4 (W = -1/2, K = 1/4), centred and at rest.  Sums of n rounded terms: n eps; for n up to 5000 below
 * 2e-12. */
static void check_units(const gv_particles *p, double potential, double kinetic)
{
    const double *vector[6] = {p->x, p->y, p->z, p->vx, p->vy, p->vz};
    double mass = 0.0;
    for (size_t i = 0; i < p->count; i++) {
        mass += p->m[i];
        assert_int_equal(p->id[i], i);
        assert_true(p->m[i] == p->m[0]);
    }
    close_to(mass, 1.0, 2e-12);
    for (int k = 0; k < 6; k++) {
        double mean = 0.0;
        for (size_t i = 0; i < p->count; i++)
            mean += p->m[i] * vector[k][i];
        close_to(mean, 0.0, 1e-14);
    }
    close_to(potential_long_double(p), potential, 2e-12);
    close_to(gv_ic_kinetic(p), kinetic, 2e-12);
}

static void plummer_units(void **state)
{
    (void)state;
    const size_t sizes[] = {2, 3, 10, 101, 1024, 5000};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        gv_particles p;
        assert_int_equal(gv_ic_plummer(sizes[k], k, NULL, &p), GRAVEL_OK);
        assert_true(p.count == sizes[k]);
        check_units(&p, -0.5, 0.25);
        gv_particles_free(&p);
    }
    gv_particles one;
    assert_int_equal(gv_ic_plummer(1, 9, NULL, &one), GRAVEL_OK);
    assert_true(one.m[0] == 1.0 && one.x[0] == 0.0 && one.y[0] == 0.0 && one.vz[0] == 0.0);
    gv_particles_free(&one);
}

/* For statistics: more bodies than those whose pairs are all summed, which takes seconds. */
enum { MANY = GV_IC_DIRECT + 3616 };

static uint64_t digest(const double *x, size_t n, uint64_t hash)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        hash = (hash ^ bits) * 0x100000001b3u;
    }
    return hash;
}

static uint64_t digest_of(size_t n, uint64_t seed)
{
    gv_particles p;
    assert_int_equal(gv_ic_plummer(n, seed, NULL, &p), GRAVEL_OK);
    const double *array[7] = {p.m, p.x, p.y, p.z, p.vx, p.vy, p.vz};
    uint64_t hash = 0xcbf29ce484222325u;
    for (int k = 0; k < 7; k++)
        hash = digest(array[k], n, hash);
    gv_particles_free(&p);
    return hash;
}

/* The number is that of this code on x86-64; sums, products, quotients and square roots are all it takes. */
static void plummer_same_bits(void **state)
{
    (void)state;
    assert_true(digest_of(1000, 1) == digest_of(1000, 1));
    assert_true(digest_of(1000, 1) != digest_of(1000, 2));
    if (digest_of(1000, 1) != 0x31ba0c7bf75f84c1u)
        fail_msg("digest 0x%llx", (unsigned long long)digest_of(1000, 1));
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double *sorted_radii(const gv_particles *p)
{
    double *r = malloc(p->count * sizeof *r);
    assert_non_null(r);
    for (size_t i = 0; i < p->count; i++)
        r[i] = sqrt(p->x[i] * p->x[i] + p->y[i] * p->y[i] + p->z[i] * p->z[i]);
    qsort(r, p->count, sizeof *r, ascending);
    return r;
}

static double plummer_mass(double r)
{
    return r * r * r / pow(1.0 + r * r, 1.5);
}

/* Largest distance between the sampled and the analytic cumulative mass: 1.95 / sqrt(n) once in a thousand samples
 * (Kolmogorov and Smirnov).  The scaling to W = -1/2 follows the sample's own W, which scatters by
 * 2 std(pot) / mean(pot) / sqrt(n) = 0.78 / sqrt(n); times max(dM/dlnr) = 0.56 this is 0.44 / sqrt(n). */
static void plummer_profile(void **state)
{
    (void)state;
    const size_t n = MANY;
    gv_particles p;
    assert_int_equal(gv_ic_plummer(n, 12, NULL, &p), GRAVEL_OK);
    double *r = sorted_radii(&p), worst = 0.0, a = 3.0 * 3.14159265358979 / 16.0;
    for (size_t k = 0; k < n; k++)
        worst = fmax(worst, fabs(plummer_mass(r[k] / a) / plummer_mass(38.7) - ((double)k + 0.5) / (double)n));
    close_to(worst, 0.0, 2.4 / sqrt((double)n));
    assert_true(r[n - 1] < 38.7 * a * 1.02); /* the cut, with 1 % scaling and centring */
    free(r);
    gv_particles_free(&p);
}

/* sigma^2 (1D) = 1 / (6 sqrt(1 + r^2)) in scale lengths; standard error of a mean square of k Gaussian numbers
 * sqrt(2 / k), and the bounded speeds here scatter less.  5 errors, plus the scaling's 1 %.  No body is unbound. */
static void plummer_velocities(void **state)
{
    (void)state;
    enum { BINS = 6 };
    const size_t n = MANY;
    gv_particles p;
    assert_int_equal(gv_ic_plummer(n, 14, NULL, &p), GRAVEL_OK);
    const double a = 3.0 * 3.14159265358979 / 16.0;
    double radial[BINS] = {0.0}, all[BINS] = {0.0}, model[BINS] = {0.0};
    size_t count[BINS] = {0};
    for (size_t i = 0; i < n; i++) {
        double r = sqrt(p.x[i] * p.x[i] + p.y[i] * p.y[i] + p.z[i] * p.z[i]);
        double vr = (p.x[i] * p.vx[i] + p.y[i] * p.vy[i] + p.z[i] * p.vz[i]) / r;
        double v2 = p.vx[i] * p.vx[i] + p.vy[i] * p.vy[i] + p.vz[i] * p.vz[i];
        int bin = (int)(BINS * plummer_mass(r / a) * 0.999999);
        double w = sqrt(1.0 + r * r / a / a);
        assert_true(v2 < 2.0 / a / w * 1.05); /* escape speed, with scaling and centring */
        radial[bin] += vr * vr;
        all[bin] += v2;
        model[bin] += 1.0 / (6.0 * w * a);
        count[bin]++;
    }
    for (int b = 0; b < BINS; b++) {
        double k = (double)count[b];
        close_to(radial[b] / model[b], 1.0, 5.0 * sqrt(2.0 / k) + 0.01);
        close_to(all[b] / model[b] / 3.0, 1.0, 5.0 * sqrt(2.0 / 3.0 / k) + 0.01);
    }
    gv_particles_free(&p);
}

static void plummer_cut(void **state)
{
    (void)state;
    gv_ic_plummer_options options = GV_IC_PLUMMER_OPTIONS_INIT;
    options.cut = 2.0;
    gv_particles p;
    assert_int_equal(gv_ic_plummer(3000, 3, &options, &p), GRAVEL_OK);
    check_units(&p, -0.5, 0.25);
    double *r = sorted_radii(&p);
    /* half the mass of the cut sphere: s^3 = (4/5)^(3/2) / 2; the ratio of radii does not depend on the scaling.  1500
     * of 3000 inside, standard error 27 bodies of a median with dM/dlnr about 1: 1.8 % */
    double s2 = 0.8 / cbrt(4.0), half = sqrt(s2 / (1.0 - s2));
    close_to(r[1500] / r[2999], half / 2.0, 5.0 * 0.018 * half / 2.0);
    free(r);
    gv_particles_free(&p);
}

/* The sum over shells, for sizes where the direct sum is the judge: 3.2 / n is the rms of 8 to 40 seeds for n from 128
 * to 16384; 5 of these. */
static void shells_against_direct(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        gv_particles p;
        double direct = 0.0, shells = 0.0;
        assert_int_equal(gv_ic_plummer(3000, seed, NULL, &p), GRAVEL_OK);
        assert_int_equal(gv_ic_potential_direct(&p, &direct), GRAVEL_OK);
        assert_int_equal(gv_ic_potential_shells(&p, &shells), GRAVEL_OK);
        close_to(shells / direct, 1.0, 5.0 * 3.2 / 3000);
        gv_particles_free(&p);
    }
}

/* Above GV_IC_DIRECT: the kinetic energy is exact, the potential energy within the shells' accuracy. */
static void plummer_large(void **state)
{
    (void)state;
    gv_particles p;
    double direct = 0.0;
    assert_int_equal(gv_ic_plummer(GV_IC_DIRECT + 1, 5, NULL, &p), GRAVEL_OK);
    assert_int_equal(gv_ic_potential_direct(&p, &direct), GRAVEL_OK);
    close_to(gv_ic_kinetic(&p), 0.25, 1e-12);
    close_to(direct / -0.5, 1.0, 5.0 * 3.2 / GV_IC_DIRECT);
    gv_particles_free(&p);
}

static void uniform_units(void **state)
{
    (void)state;
    gv_particles p;
    assert_int_equal(gv_ic_uniform(2000, 1, NULL, &p), GRAVEL_OK);
    check_units(&p, -0.5, 0.25);
    gv_particles_free(&p);

    gv_ic_uniform_options options = GV_IC_UNIFORM_OPTIONS_INIT;
    options.virial_ratio = 0.0;
    assert_int_equal(gv_ic_uniform(2000, 1, &options, &p), GRAVEL_OK);
    check_units(&p, -0.25, 0.0);
    for (size_t i = 0; i < p.count; i++)
        assert_true(p.vx[i] == 0.0 && p.vy[i] == 0.0 && p.vz[i] == 0.0);
    gv_particles_free(&p);

    options.virial_ratio = 2.0;
    options.radius = 3.0;
    assert_int_equal(gv_ic_uniform(2000, 1, &options, &p), GRAVEL_OK);
    double w = potential_long_double(&p);
    check_units(&p, w, -2.0 * w);
    close_to(w, -0.6 / 3.0, 0.2 * 5.0 * (3.2 / 2000 + 0.22 / sqrt(2000.0))); /* pairs, and the radii's scatter */
    gv_particles_free(&p);

    assert_int_equal(gv_ic_uniform(1, 1, NULL, &p), GRAVEL_OK);
    assert_true(p.x[0] == 0.0 && p.vx[0] == 0.0);
    gv_particles_free(&p);
}

/* Radii cubed are uniform; <v^2> per shell is 3 sigma^2 = 3/2 (1 - r^2 / R^2) / R. */
static void uniform_profile(void **state)
{
    (void)state;
    enum { N = MANY, BINS = 4 };
    gv_ic_uniform_options options = GV_IC_UNIFORM_OPTIONS_INIT;
    options.radius = 2.0;
    gv_particles p;
    assert_int_equal(gv_ic_uniform(N, 8, &options, &p), GRAVEL_OK);
    double *r = sorted_radii(&p), worst = 0.0, sum[BINS] = {0.0}, model[BINS] = {0.0};
    size_t count[BINS] = {0};
    for (size_t k = 0; k < N; k++)
        worst = fmax(worst, fabs(pow(r[k] / 2.0, 3.0) - ((double)k + 0.5) / N));
    /* as for the Plummer sphere; W scatters by 0.22 / sqrt(N), dM/dlnr = 3 */
    close_to(worst, 0.0, (1.95 + 0.66) / sqrt((double)N));
    for (size_t i = 0; i < N; i++) {
        double r2 = (p.x[i] * p.x[i] + p.y[i] * p.y[i] + p.z[i] * p.z[i]) / 4.0;
        int bin = (int)fmin(BINS * pow(r2, 1.5), BINS - 1);
        sum[bin] += p.vx[i] * p.vx[i] + p.vy[i] * p.vy[i] + p.vz[i] * p.vz[i];
        model[bin] += 1.5 * (1.0 - r2) / 2.0;
        count[bin]++;
    }
    for (int b = 0; b < BINS; b++)
        close_to(sum[b] / model[b], 1.0, 5.0 * sqrt(2.0 / 3.0 / (double)count[b]) + 0.02);
    free(r);
    gv_particles_free(&p);
}

static void bad_options(void **state)
{
    (void)state;
    gv_particles p;
    gv_ic_plummer_options plummer = GV_IC_PLUMMER_OPTIONS_INIT;
    plummer.cut = 0.0;
    assert_int_equal(gv_ic_plummer(0, 1, NULL, &p), GRAVEL_ERR_ARGUMENT);
    assert_true(p.count == 0 && p.x == NULL);
    assert_int_equal(gv_ic_plummer(10, 1, &plummer, &p), GRAVEL_ERR_ARGUMENT);
    plummer.cut = NAN;
    assert_int_equal(gv_ic_plummer(10, 1, &plummer, &p), GRAVEL_ERR_ARGUMENT);
    assert_int_equal(gv_ic_plummer((size_t)INT32_MAX + 1, 1, NULL, &p), GRAVEL_ERR_ARGUMENT);
    gv_ic_uniform_options uniform = GV_IC_UNIFORM_OPTIONS_INIT;
    uniform.virial_ratio = 1.0;
    assert_int_equal(gv_ic_uniform(10, 1, &uniform, &p), GRAVEL_ERR_ARGUMENT);
    uniform = (gv_ic_uniform_options){-0.1, 1.0, GV_IC_STARS_INIT};
    assert_int_equal(gv_ic_uniform(10, 1, &uniform, &p), GRAVEL_ERR_ARGUMENT);
    uniform = (gv_ic_uniform_options){0.5, -1.0, GV_IC_STARS_INIT};
    assert_int_equal(gv_ic_uniform(10, 1, &uniform, &p), GRAVEL_ERR_ARGUMENT);
    assert_int_equal(gv_ic_uniform(0, 1, NULL, &p), GRAVEL_ERR_ARGUMENT);
    gv_particles_free(&p);
}

static void particle_sets(void **state)
{
    (void)state;
    gv_particles p;
    assert_int_equal(gv_particles_create(&p, 5, 0), GRAVEL_OK);
    assert_true(p.x && !p.vx && !p.ax && p.id[4] == 4);
    gv_particles_free(&p);
    assert_true(p.count == 0 && !p.x);
    gv_particles_free(&p);
    assert_int_equal(gv_particles_create(&p, 0, 2), GRAVEL_OK);
    assert_true(p.count == 0 && p.ax);
    gv_particles_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generator),       cmocka_unit_test(generator_shapes),
        cmocka_unit_test(plummer_units),   cmocka_unit_test(plummer_same_bits),
        cmocka_unit_test(plummer_profile), cmocka_unit_test(plummer_velocities),
        cmocka_unit_test(plummer_cut),     cmocka_unit_test(shells_against_direct),
        cmocka_unit_test(plummer_large),   cmocka_unit_test(uniform_units),
        cmocka_unit_test(uniform_profile), cmocka_unit_test(bad_options),
        cmocka_unit_test(particle_sets),
    };
    return cmocka_run_group_tests_name("ic", tests, NULL, NULL);
}
