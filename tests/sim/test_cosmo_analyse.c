/* src/sim/cosmo_spectrum, cosmo_groups, cosmo_theory, cosmo_analyse: spectra of known fields, groups beside all pairs,
 * limits of the formulas, tables that come back. */
#include "host_test.h"

#include <math.h>

#include "sim/cosmo_analyse.h"
#include "sim/cosmo_field.h"
#include "sim/cosmo_ic.h"
#include "sim/cosmo_theory.h"
#include "sim/ic_random.h"

static const gv_cosmology flat = GV_COSMOLOGY_INIT;

static gv_particles box_of(size_t n)
{
    gv_particles p;
    assert_ok(gv_particles_create(&p, n, 1));
    p.units = (gv_units)GV_UNITS_GADGET;
    p.time = 1;
    p.box = (gv_box){100e3, flat};
    for (size_t i = 0; i < n; i++)
        p.m[i] = 1;
    return p;
}

/* ---------------------------------------------------------------------- spectra */

/* Waves of fixed size: the spectrum of Zel'dovich's displacements is the linear one, but for the second order of the
 * density, which at z = 49 and in these shells is 1 %; waves of one shell are not all of one k, 2 % from shell 3 on. */
static void a_known_spectrum(void **state)
{
    (void)state;
    gv_ic_cosmo_options o = GV_IC_COSMO_OPTIONS_INIT;
    gv_power power;
    gv_particles p;
    gv_spectrum s;
    o.side = 500;
    o.order = 1;
    o.fixed = 1;
    assert_ok(gv_power_create(&power, &flat, NULL));
    assert_ok(gv_ic_cosmo(24, 2, &power, &o, &p));
    assert_ok(gv_spectrum_make(&s, &p, 0));
    assert_int_equal(s.cells, 48);
    assert_true(s.waves[0] == 18); /* 6 + 12 with |k| up to 1.5 */
    for (size_t i = 2; i < 6; i++)
        assert_true(fabs(s.power[i] / gv_theory_linear(&power, p.time, s.k[i]) - 1) < 0.03);
    gv_spectrum_free(&s);
    gv_particles_free(&p);
    gv_power_free(&power);
}

/* Bodies at random: V / N in all shells, to four times the scatter of as many waves. */
static void shot_noise(void **state)
{
    (void)state;
    gv_random random;
    gv_particles p = box_of(4000);
    gv_spectrum s;
    gv_random_seed(&random, 3);
    for (size_t i = 0; i < p.count; i++) {
        p.x[i] = p.box.side * gv_random_unit(&random);
        p.y[i] = p.box.side * gv_random_unit(&random);
        p.z[i] = p.box.side * gv_random_unit(&random);
    }
    assert_ok(gv_spectrum_make(&s, &p, 24));
    assert_true(fabs(s.shot / (1e6 / 4000) - 1) < 1e-12);
    for (size_t i = 0; i < s.count; i++) /* to the mesh's shortest waves: interlacing and the window do their work */
        assert_true(fabs(s.power[i] / s.shot - 1) < 4 * sqrt(2 / s.waves[i]) + 0.02);
    gv_spectrum_free(&s);
    assert_int_equal(gv_spectrum_make(&s, &p, 22), GRAVEL_ERR_ARGUMENT);
    p.box.side = 0;
    assert_int_equal(gv_spectrum_make(&s, &p, 24), GRAVEL_ERR_INPUT);
    gv_particles_free(&p);
}

/* ----------------------------------------------------------------------- groups */

/* Clumps, some across the sides of the box, and bodies between them. */
static gv_particles clumps(size_t n)
{
    gv_random random;
    gv_particles p = box_of(n);
    double centre[8][3];
    gv_random_seed(&random, 7);
    for (int k = 0; k < 24; k++)
        centre[k / 3][k % 3] = k < 12 ? 0.5 * p.box.side * (k % 2) : p.box.side * gv_random_unit(&random);
    for (size_t i = 0; i < n; i++) {
        double *const x[3] = {&p.x[i], &p.y[i], &p.z[i]};
        for (int c = 0; c < 3; c++) {
            const double at = i % 3 ? centre[i % 8][c] + 0.03 * p.box.side * gv_random_gauss(&random)
                                    : p.box.side * gv_random_unit(&random);
            *x[c] = at - p.box.side * floor(at / p.box.side);
        }
    }
    return p;
}

/* By all pairs: the group of a body is the least number of its bodies. */
static void label_by_pairs(const gv_particles *p, double linking, size_t *label)
{
    for (size_t i = 0; i < p->count; i++)
        label[i] = i;
    for (int changed = 1; changed;) {
        changed = 0;
        for (size_t i = 0; i < p->count; i++)
            for (size_t j = 0; j < i; j++) {
                double d[3] = {p->x[i] - p->x[j], p->y[i] - p->y[j], p->z[i] - p->z[j]}, r2 = 0;
                for (int c = 0; c < 3; c++) {
                    d[c] -= p->box.side * rint(d[c] / p->box.side);
                    r2 += d[c] * d[c];
                }
                if (r2 <= linking * linking && label[i] != label[j]) {
                    label[i] = label[j] = label[i] < label[j] ? label[i] : label[j];
                    changed = 1;
                }
            }
    }
}

static void groups_are_those_of_all_pairs(void **state)
{
    (void)state;
    enum { N = 600 };
    static size_t label[N], size[N];
    gv_particles p = clumps(N);
    gv_groups g;
    for (int k = 0; k < 2; k++) {
        const double linking = k ? 0.6 : 0.2;
        memset(size, 0, sizeof size);
        assert_ok(gv_groups_find(&g, &p, linking, 2));
        label_by_pairs(&p, g.linking, label);
        size_t wanted = 0;
        for (size_t i = 0; i < N; i++)
            size[label[i]]++;
        for (size_t i = 0; i < N; i++)
            wanted += size[i] >= 2;
        assert_int_equal(g.count, wanted);
        assert_true(wanted > 10);
        for (size_t i = 0; i < g.count; i++) {
            assert_int_equal(g.group[i].bodies, size[g.group[i].least]);
            assert_true(i == 0 || g.group[i].bodies <= g.group[i - 1].bodies);
            assert_true(fabs(g.group[i].mass - (double)g.group[i].bodies) < 1e-9);
        }
        gv_groups_free(&g);
    }
    assert_int_equal(gv_groups_find(&g, &p, 0, 2), GRAVEL_ERR_ARGUMENT);
    assert_int_equal(gv_groups_find(&g, &p, 2, 2), GRAVEL_ERR_ARGUMENT);
    gv_particles_free(&p);
}

/* Bodies that a code has followed for some boxes are taken; places that no cell has a number for are not. */
static void far_from_the_box(void **state)
{
    (void)state;
    gv_particles p = box_of(2);
    gv_groups g;
    gv_spectrum s;
    p.x[1] = 7 * p.box.side;
    assert_ok(gv_groups_find(&g, &p, 0.2, 2));
    assert_int_equal(g.count, 1);
    gv_groups_free(&g);
    p.x[1] = -1e300;
    assert_int_equal(gv_groups_find(&g, &p, 0.2, 1), GRAVEL_ERR_INPUT);
    assert_contains(gravel_error_message(), "particle 1 (id 1) is outside the box: x = -1e+300");
    assert_int_equal(gv_spectrum_make(&s, &p, 24), GRAVEL_ERR_INPUT);
    gv_particles_free(&p);
}

/* A pair across a corner: its middle is the corner, the velocity the mean. */
static void centres_around_the_box(void **state)
{
    (void)state;
    gv_particles p = box_of(2);
    gv_groups g;
    p.x[0] = p.y[0] = p.z[0] = 1e3;
    p.x[1] = p.y[1] = p.z[1] = p.box.side - 1e3;
    p.vx[0] = 4;
    assert_ok(gv_groups_find(&g, &p, 0.2, 1));
    assert_int_equal(g.count, 1);
    const double x = g.group[0].x[0];
    assert_true(fabs(x - p.box.side * rint(x / p.box.side)) < 1e-6 && g.group[0].v[0] == 2);
    gv_groups_free(&g);
    gv_particles_free(&p);
}

/* ------------------------------------------------------------------- threads */

static void threads_change_nothing(void **state)
{
    (void)state;
    gv_random random;
    gv_particles p = box_of(5000);
    gv_spectrum s[2];
    gv_groups g[2];
    gv_random_seed(&random, 9);
    for (size_t i = 0; i < p.count; i++) {
        p.x[i] = p.box.side * gv_random_unit(&random);
        p.y[i] = p.box.side * pow(gv_random_unit(&random), 3);
        p.z[i] = p.box.side * gv_random_unit(&random);
        p.m[i] = 0.5 + gv_random_unit(&random);
    }
    for (int k = 0; k < 2; k++) {
        setenv("GRAVEL_THREADS", k ? "4" : "1", 1);
        assert_ok(gv_spectrum_make(&s[k], &p, 32));
        assert_ok(gv_groups_find(&g[k], &p, 0.5, 2));
    }
    unsetenv("GRAVEL_THREADS");
    assert_int_equal(s[0].count, s[1].count);
    assert_memory_equal(s[0].power, s[1].power, s[0].count * sizeof *s[0].power);
    assert_int_equal(g[0].count, g[1].count);
    assert_true(g[0].count > 100);
    assert_memory_equal(g[0].group, g[1].group, g[0].count * sizeof *g[0].group);
    for (int k = 0; k < 2; k++) {
        gv_spectrum_free(&s[k]);
        gv_groups_free(&g[k]);
    }
    gv_particles_free(&p);
}

static void bodies_without_mass(void **state)
{
    (void)state;
    gv_spectrum s;
    gv_particles p = box_of(64);
    for (size_t i = 0; i < p.count; i++)
        p.m[i] = 0;
    assert_int_equal(gv_spectrum_make(&s, &p, 0), GRAVEL_ERR_INPUT);
    assert_non_null(strstr(gravel_error_message(), "the mass 0"));
    p.m[5] = 1;
    assert_ok(gv_spectrum_make(&s, &p, 0));
    assert_true(isfinite(s.power[0]));
    gv_spectrum_free(&s);
    gv_particles_free(&p);
}

static void memory_that_is_not_there(void **state)
{
    (void)state;
    assert_ok(gv_memory_check("initial conditions", 64, 1e6));
    /* a thousandth of these bodies would still be beyond any machine */
    assert_int_equal(gv_memory_check("initial conditions", 1000000, 1e20), GRAVEL_ERR_MEMORY);
    assert_contains(gravel_error_message(), "^3 would fit");
}

/* ----------------------------------------------------------------------- theory */

static void limits_of_the_formulas(void **state)
{
    (void)state;
    gv_power power;
    gv_halofit fit;
    assert_ok(gv_power_create(&power, &flat, NULL));
    gv_halofit_make(&fit, &power, 1);
    /* the scale where sigma is 1, near 0.3 h/Mpc today; long waves are linear to what the fit gives */
    assert_true(fit.k_sigma > 0.2 && fit.k_sigma < 0.5);
    assert_true(fabs(gv_halofit_at(&fit, 1e-3) / gv_theory_linear(&power, 1, 1e-3) - 1) < 0.01);
    /* 10 to 20 times the linear one at 1 h/Mpc: figure 1 of the paper has 13 */
    const double rise = gv_halofit_at(&fit, 1) / gv_theory_linear(&power, 1, 1);
    assert_true(rise > 5 && rise < 20);
    gv_halofit_make(&fit, &power, 0.001);
    assert_true(fabs(gv_halofit_at(&fit, 1) / gv_theory_linear(&power, 0.001, 1) - 1) < 0.01);
    /* the three agree where they were fitted, within the 20 % that their papers show */
    for (double mass = 1e12; mass < 5e14; mass *= 3) {
        const double reed = gv_theory_mass_function(&power, GV_MF_REED, 1, mass);
        for (int k = 0; k < 2; k++)
            assert_true(fabs(gv_theory_mass_function(&power, (gv_mass_function)k, 1, mass) / reed - 1) < 0.2);
    }
    gv_power_free(&power);
}

/* ----------------------------------------------------------------------- tables */

static void tables_come_back(void **state)
{
    (void)state;
    char *folder = make_folder(), *path = gv_format("%s/spectrum_0003.txt", folder),
         *other = gv_format("%s/massfunction_0003.txt", folder);
    gv_particles p = clumps(600);
    gv_cosmo_table t;
    gv_groups g;
    assert_ok(gv_cosmo_analyse(&p, folder, 3));
    assert_ok(gv_cosmo_table_read(&t, path, "spectrum"));
    assert_true(t.a == 1 && t.side == 100 && t.bodies == 600 && t.cosmology.omega_m == flat.omega_m);
    assert_true(t.rows > 4 && fabs(t.row[3][1] + t.shot - t.row[3][2]) < 1e-6 * t.row[3][2]);
    gv_cosmo_table_free(&t);
    assert_int_equal(gv_cosmo_table_read(&t, path, "massfunction"), GRAVEL_ERR_FORMAT);
    assert_ok(gv_groups_find(&g, &p, 0.2, 2));
    assert_ok(gv_mass_function_write(&g, 0.2, 2, &p, other));
    assert_ok(gv_cosmo_table_read(&t, other, "massfunction"));
    double groups = 0;
    for (size_t k = 0; k < t.rows; k++) {
        groups += t.row[k][3];
        assert_true(t.row[k][0] >= t.row[k][1] && t.row[k][0] < t.row[k][2]);
    }
    assert_true(groups == (double)g.count);
    gv_groups_free(&g);
    gv_cosmo_table_free(&t);
    gv_particles_free(&p);
    remove_folder(folder);
    free(folder);
    free(path);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_spectrum),
        cmocka_unit_test(shot_noise),
        cmocka_unit_test(groups_are_those_of_all_pairs),
        cmocka_unit_test(centres_around_the_box),
        cmocka_unit_test(far_from_the_box),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(bodies_without_mass),
        cmocka_unit_test(memory_that_is_not_there),
        cmocka_unit_test(limits_of_the_formulas),
        cmocka_unit_test(tables_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
