/* Diagnostics: neighbours against all pairs, sums, core, Lagrangian radii, binaries. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "close_to.h"
#include "sim/diagnose.h"
#include "sim/ic.h"
#include "sim/neighbours.h"
#include "sim/shells.h"

static const double PI = 3.14159265358979323846;

/* ------------------------------------------------------------- neighbours */

static double square(const gv_particles *p, size_t i, size_t j)
{
    const double dx = p->x[j] - p->x[i], dy = p->y[j] - p->y[i], dz = p->z[j] - p->z[i];
    return dx * dx + dy * dy + dz * dz;
}

static void check_neighbours(const gv_particles *p, int k)
{
    const size_t n = p->count;
    gv_neighbours near;
    unsigned char *seen = calloc(n, 1);
    assert_non_null(seen);
    assert_int_equal(gv_neighbours_find(p, k, &near), GRAVEL_OK);
    for (size_t s = 0; s < n; s++) {
        const uint32_t i = near.at[s].body;
        assert_true(i < n && !seen[i] && near.at[s].x[0] == p->x[i] && near.at[s].x[2] == p->z[i]);
        seen[i] = 1;
        uint32_t list[GV_NEIGHBOURS_MAX];
        for (int q = 0; q < k; q++) {
            const uint32_t slot = near.slot[s * (size_t)k + (size_t)q];
            list[q] = slot == GV_NO_NEIGHBOUR ? slot : near.at[slot].body;
        }
        const int found = n - 1 < (size_t)k ? (int)n - 1 : k;
        double last = 0.0;
        size_t closer = 0;
        for (int q = 0; q < k; q++) {
            if (q >= found) {
                assert_true(list[q] == GV_NO_NEIGHBOUR);
                continue;
            }
            assert_true(list[q] < n && list[q] != i && square(p, i, list[q]) >= last);
            last = square(p, i, list[q]);
        }
        for (size_t j = 0; j < n; j++)
            closer += j != i && square(p, i, j) < last;
        assert_true(found == 0 || closer < (size_t)found);
        assert_true(found < k ? near.radius[s] == INFINITY : near.radius[s] == sqrt(last));
    }
    free(seen);
    gv_neighbours_free(&near);
}

static void neighbours(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 2, 7, 8, 9, 17, 600, 3001};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        gv_particles p;
        assert_int_equal(gv_ic_plummer(sizes[s], s, NULL, &p), GRAVEL_OK);
        check_neighbours(&p, 1);
        check_neighbours(&p, 6);
        check_neighbours(&p, GV_NEIGHBOURS_MAX);
        gv_particles_free(&p);
    }
}

/* On a lattice most distances occur many times; at one place all are 0. */
static void neighbours_of_equal_places(void **state)
{
    (void)state;
    gv_particles p;
    assert_int_equal(gv_particles_create(&p, 1000, 0), GRAVEL_OK);
    check_neighbours(&p, 6);
    for (size_t i = 0; i < 1000; i++) {
        p.x[i] = (double)(i % 10);
        p.y[i] = (double)(i / 10 % 10);
        p.z[i] = (double)(i / 100);
    }
    check_neighbours(&p, 6);
    gv_neighbours none;
    assert_int_equal(gv_neighbours_find(&p, 0, &none), GRAVEL_ERR_ARGUMENT);
    assert_int_equal(gv_neighbours_find(&p, GV_NEIGHBOURS_MAX + 1, &none), GRAVEL_ERR_ARGUMENT);
    assert_null(none.at);
    gv_particles_free(&p);
}

/* ------------------------------------------------------------------- sums */

/* Two bodies of masses 1 and 3 around a moving centre. */
static void totals_and_energies(void **state)
{
    (void)state;
    gv_particles p;
    gv_totals t;
    gv_energies e;
    assert_int_equal(gv_particles_create(&p, 2, 1), GRAVEL_OK);
    p.m[0] = 1.0;
    p.m[1] = 3.0;
    p.x[0] = 10.0 - 3.0;
    p.x[1] = 10.0 + 1.0;
    p.vy[0] = 5.0 - 0.75;
    p.vy[1] = 5.0 + 0.25;
    gv_diagnose_totals(&p, &t);
    assert_true(t.mass == 4.0 && t.mass_min == 1.0 && t.mass_max == 3.0);
    assert_true(t.x[0] == 10.0 && t.x[1] == 0.0 && t.v[1] == 5.0 && t.v[0] == 0.0);
    /* mu r v = 3/4 4 1 */
    assert_true(t.angular_momentum[0] == 0.0 && t.angular_momentum[1] == 0.0 && t.angular_momentum[2] == 3.0);
    const double potential[2] = {-3.0 / 4.0, -1.0 / 4.0};
    gv_diagnose_energies(&p, potential, &e);
    assert_true(e.kinetic == 0.375 && e.potential == -0.75 && e.total == -0.375 && e.virial_ratio == 0.5);
    p.units = (gv_units)GV_UNITS_KPC;
    gv_diagnose_energies(&p, potential, &e);
    assert_true(e.potential == -0.75 * gv_units_gravity(&p.units));
    gv_particles_free(&p);
}

static int by_radius(const void *a, const void *b)
{
    const gv_shell *x = a, *y = b;
    return (x->r > y->r) - (x->r < y->r);
}

static void shells_are_sorted(void **state)
{
    (void)state;
    enum { N = 5000 };
    const double centre[3] = {0.1, -0.2, 0.3};
    gv_particles p;
    gv_shell *s, *own = malloc(N * sizeof *own);
    assert_non_null(own);
    assert_int_equal(gv_ic_plummer(N, 4, NULL, &p), GRAVEL_OK);
    for (size_t i = 0; i < N; i++) {
        const double dx = p.x[i] - centre[0], dy = p.y[i] - centre[1], dz = p.z[i] - centre[2];
        p.m[i] = (double)i;
        own[i] = (gv_shell){sqrt(dx * dx + dy * dy + dz * dz), p.m[i]};
    }
    qsort(own, N, sizeof *own, by_radius);
    assert_int_equal(gv_shells_sorted(&p, centre, &s), GRAVEL_OK);
    assert_memory_equal(s, own, N * sizeof *own);
    free(own);
    free(s);
    gv_particles_free(&p);
}

/* ------------------------------------------------------- core, mass shells */

/* A Plummer sphere of scale a = 3 pi / 16, integrals over rho = rho0 (1 + r^2)^(-5/2):
 *   centre      standard error of each coordinate sqrt(<x^2> / n_eff): 0.4 a / sqrt(n / 5) at most
 *   radius      <r rho> / <rho> = (1/24) / (B(3/2, 7/2) / 2) = 0.67906 a
 *   density     5/4 <rho^2> / <rho> = 5/4 0.46311 rho0
 * The j = 6 estimate scatters by sqrt(1/4) a body, bodies share neighbours (6 each): sqrt(6 / n) of the density, for
 * bodies of the core a third of all; 5 of these.  It smooths over the distance of the sixth neighbour: 1 % at this
 * n. */
static void core_of_a_plummer_sphere(void **state)
{
    (void)state;
    enum { N = 20000 };
    const double a = 3.0 * PI / 16.0, rho0 = 3.0 / (4.0 * PI * a * a * a);
    gv_particles p;
    gv_surroundings around;
    gv_core core;
    assert_int_equal(gv_ic_plummer(N, 6, NULL, &p), GRAVEL_OK);
    for (size_t i = 0; i < N; i++) {
        p.y[i] += 3.0; /* the centre is found where it is, and moves */
        p.vz[i] -= 2.0;
    }
    assert_int_equal(gv_surroundings_find(&p, &around), GRAVEL_OK);
    gv_diagnose_core(&p, &around, &core);
    const double scatter = 5.0 * sqrt(3.0 * 6.0 / N);
    close_to(core.centre[0], 0.0, 5.0 * 0.4 * a / sqrt(N / 5.0));
    close_to(core.centre[1], 3.0, 5.0 * 0.4 * a / sqrt(N / 5.0));
    close_to(core.velocity[2], -2.0, 5.0 * 0.6 / sqrt(N / 5.0));
    close_to(core.radius / (0.67906 * a), 1.0, scatter);
    close_to(core.density / (1.25 * 0.46311 * rho0), 1.0, scatter + 0.02);
    gv_surroundings_free(&around);
    gv_particles_free(&p);
}

/* Six bodies have no sixth neighbour. */
static void core_of_few(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 8; n++) {
        gv_particles p;
        gv_surroundings around;
        gv_core core;
        gv_binary pair[2];
        assert_int_equal(gv_ic_uniform(n, 3, NULL, &p), GRAVEL_OK);
        assert_int_equal(gv_surroundings_find(&p, &around), GRAVEL_OK);
        gv_diagnose_core(&p, &around, &core);
        assert_int_equal(n >= 7, isfinite(core.radius) && core.density > 0.0);
        assert_true(n >= 7 || (isnan(core.radius) && isnan(core.density)));
        close_to(n < 7 ? core.centre[2] : 0.0, 0.0, 1e-14);
        int pairs;
        assert_int_equal(gv_diagnose_binaries(&p, &around, 2, pair, &pairs), GRAVEL_OK);
        assert_true(pairs <= 2);
        gv_surroundings_free(&around);
        gv_particles_free(&p);
    }
}

/* 1 / 8, 1 / 4 ... of the mass on shells of radius 1, 2, 3 and 4. */
static void lagrange(void **state)
{
    (void)state;
    gv_particles p;
    const double centre[3] = {5.0, 0.0, 0.0}, share[5] = {0.1, 0.125, 0.5, 0.75, 1.0};
    double radius[5];
    assert_int_equal(gv_particles_create(&p, 4, 0), GRAVEL_OK);
    const double mass[4] = {0.3, 0.1, 0.1, 0.3}, at[4] = {3.0, 1.0, -2.0, 4.0};
    for (int i = 0; i < 4; i++) {
        p.m[i] = mass[i];
        p.x[i] = centre[0] + at[i];
    }
    assert_int_equal(gv_diagnose_lagrange(&p, centre, share, 5, radius), GRAVEL_OK);
    const double expected[5] = {1.0, 1.0, 3.0, 4.0, 4.0};
    assert_memory_equal(radius, expected, sizeof expected);
    gv_particles_free(&p);
    /* Plummer: half the mass inside 1.3048 a; 0.5 / sqrt(n) of a median over dM/dlnr = 0.56, the scaling 0.78 /
     * sqrt(n) */
    const double zero[3] = {0.0, 0.0, 0.0}, half = 0.5;
    assert_int_equal(gv_ic_plummer(20000, 2, NULL, &p), GRAVEL_OK);
    assert_int_equal(gv_diagnose_lagrange(&p, zero, &half, 1, radius), GRAVEL_OK);
    close_to(radius[0] / (1.3048 * 3.0 * PI / 16.0), 1.0, 5.0 * (0.5 / 0.56 + 0.78) / sqrt(20000.0));
    gv_particles_free(&p);
}

/* --------------------------------------------------------------- binaries */

/* A pair with known elements in the middle of a cold, wide sphere that runs apart. */
static void binaries(void **state)
{
    (void)state;
    gv_particles pair, p;
    gv_surroundings around;
    gv_binary found[4];
    const gv_ic_twobody_options options = {0.25, 0.6, 1e-3};
    assert_int_equal(gv_ic_twobody(&options, &pair), GRAVEL_OK);
    assert_int_equal(gv_particles_create(&p, 100, 1), GRAVEL_OK);
    for (size_t i = 0; i < 100; i++) {
        p.m[i] = 1e-3;
        p.x[i] = 10.0 * cos((double)i);
        p.y[i] = 10.0 * sin((double)i);
        p.z[i] = 0.1 * (double)i - 5.0;
        p.vx[i] = p.x[i];
        p.vy[i] = p.y[i];
        p.vz[i] = p.z[i];
    }
    for (int k = 0; k < 2; k++) {
        const size_t to = k ? 41 : 7;
        p.m[to] = pair.m[k];
        p.x[to] = pair.x[k];
        p.y[to] = pair.y[k];
        p.z[to] = pair.z[k];
        p.vx[to] = pair.vx[k] + 0.5;
        p.vy[to] = pair.vy[k];
        p.vz[to] = pair.vz[k];
    }
    assert_int_equal(gv_surroundings_find(&p, &around), GRAVEL_OK);
    int pairs;
    assert_int_equal(gv_diagnose_binaries(&p, &around, 4, found, &pairs), GRAVEL_OK);
    assert_int_equal(pairs, 1);
    assert_true(found[0].a == 7 && found[0].b == 41);
    /* 0.5 was added to speeds of some 30: eps / 0.01 of the energy's terms */
    close_to(found[0].semi_major_axis / 1e-3, 1.0, 1e-12);
    close_to(found[0].eccentricity, 0.6, 1e-12);
    close_to(found[0].distance / 1.6e-3, 1.0, 1e-12);
    close_to(found[0].period / (2.0 * PI * pow(1e-3, 1.5)), 1.0, 1e-12);
    size_t nearest[2];
    double distance;
    assert_int_equal(gv_diagnose_nearest(&around, nearest, &distance), GRAVEL_OK);
    assert_true(nearest[0] == 7 && nearest[1] == 41 && distance == found[0].distance);
    assert_int_equal(gv_diagnose_binaries(&p, &around, 0, NULL, &pairs), GRAVEL_OK);
    assert_int_equal(pairs, 0);
    gv_surroundings_free(&around);
    gv_particles_free(&p);
    gv_particles_free(&pair);
}

/* The list holds the closest of all bound pairs of neighbours, in order; also of so many bodies that several lists are
 * joined. */
static void closest_binaries(void **state)
{
    (void)state;
    enum { ALL = 4000 };
    const size_t sizes[] = {300, 9000};
    gv_binary few[5], *all = malloc(ALL * sizeof *all);
    assert_non_null(all);
    for (int s = 0; s < 2; s++) {
        gv_particles p;
        gv_surroundings around;
        assert_int_equal(gv_ic_uniform(sizes[s], 5, NULL, &p), GRAVEL_OK);
        assert_int_equal(gv_surroundings_find(&p, &around), GRAVEL_OK);
        int count, five;
        assert_int_equal(gv_diagnose_binaries(&p, &around, ALL, all, &count), GRAVEL_OK);
        size_t most = 0;
        assert_true(count > 5 && count < ALL);
        for (int k = 0; k < count; k++) {
            assert_true(k == 0 || all[k].semi_major_axis >= all[k - 1].semi_major_axis);
            most = all[k].a > most ? all[k].a : most;
        }
        assert_true(most > sizes[s] / 2);
        assert_int_equal(gv_diagnose_binaries(&p, &around, 5, few, &five), GRAVEL_OK);
        assert_int_equal(five, 5);
        for (int k = 0; k < 5; k++)
            assert_true(few[k].a == all[k].a && few[k].b == all[k].b);
        gv_surroundings_free(&around);
        gv_particles_free(&p);
    }
    free(all);
}

/* So many bodies that the tree begins with that of a sample: neighbours of some against all pairs, Lagrangian radii
 * against sorting, and the same bits with any number of threads. */
static void many_bodies(void **state)
{
    (void)state;
    enum { N = 70000, SHARES = 4 };
    const char *const threads[] = {"1", "2", "5"};
    const double share[SHARES] = {0.01, 0.5, 0.9, 1.0};
    gv_particles p;
    gv_surroundings around;
    gv_core core[3];
    gv_totals totals[3];
    gv_binary binary[3][3];
    double radius[3][SHARES], distance[3];
    size_t pair[3][2];
    int found[3];
    assert_int_equal(gv_ic_plummer(N, 4, NULL, &p), GRAVEL_OK);
    for (size_t i = 0; i < 5000; i++) { /* planes of the tree go through these */
        p.x[i] = 0.125;
        p.y[i + 4000] = 0.0;
    }
    for (int t = 0; t < 3; t++) {
        assert_int_equal(setenv("GRAVEL_THREADS", threads[t], 1), 0);
        assert_int_equal(gv_surroundings_find(&p, &around), GRAVEL_OK);
        gv_diagnose_core(&p, &around, &core[t]);
        gv_diagnose_totals(&p, &totals[t]);
        assert_int_equal(gv_diagnose_binaries(&p, &around, 3, binary[t], &found[t]), GRAVEL_OK);
        assert_int_equal(gv_diagnose_nearest(&around, pair[t], &distance[t]), GRAVEL_OK);
        assert_int_equal(gv_diagnose_lagrange(&p, core[t].centre, share, SHARES, radius[t]), GRAVEL_OK);
        for (size_t s = 0; t == 0 && s < N; s += 997) {
            const uint32_t i = around.near.at[s].body;
            const double sixth = around.near.radius[s];
            int nearer = 0, within = 0;
            for (size_t j = 0; j < N; j++) {
                nearer += j != i && sqrt(square(&p, i, j)) < sixth;
                within += j != i && sqrt(square(&p, i, j)) <= sixth;
            }
            assert_true(nearer < GV_CORE_NEIGHBOURS && within >= GV_CORE_NEIGHBOURS);
        }
        gv_surroundings_free(&around);
    }
    assert_int_equal(unsetenv("GRAVEL_THREADS"), 0);
    gv_shell *sorted;
    assert_int_equal(gv_shells_sorted(&p, core[0].centre, &sorted), GRAVEL_OK);
    for (int k = 0; k < SHARES; k++) /* equal masses: a share is a number of bodies */
        assert_true(radius[0][k] == sorted[(size_t)(share[k] * N + 0.5) - 1].r);
    free(sorted);
    for (int t = 1; t < 3; t++) {
        assert_memory_equal(&core[t], &core[0], sizeof core[0]);
        assert_memory_equal(&totals[t], &totals[0], sizeof totals[0]);
        assert_memory_equal(radius[t], radius[0], sizeof radius[0]);
        assert_int_equal(found[t], found[0]);
        assert_memory_equal(binary[t], binary[0], (size_t)found[0] * sizeof binary[0][0]);
        assert_true(pair[t][0] == pair[0][0] && pair[t][1] == pair[0][1] && distance[t] == distance[0]);
    }
    gv_particles_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours),        cmocka_unit_test(neighbours_of_equal_places),
        cmocka_unit_test(many_bodies),       cmocka_unit_test(totals_and_energies),
        cmocka_unit_test(shells_are_sorted), cmocka_unit_test(core_of_a_plummer_sphere),
        cmocka_unit_test(core_of_few),       cmocka_unit_test(lagrange),
        cmocka_unit_test(binaries),          cmocka_unit_test(closest_binaries),
    };
    return cmocka_run_group_tests_name("diagnose", tests, NULL, NULL);
}
