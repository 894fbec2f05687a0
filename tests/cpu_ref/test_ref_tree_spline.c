/* The spline softening of the tree reference: pairs beside numerical integrals, trees beside sums over all pairs. */
#include "ref_tree_test.h"

/* The spline's mass inside r by numerical integration of its density; force = M / r^3, and the potential by integrating
 * the force inward from h.  Midpoint rule, 20000 steps: 1e-8. */
static void spline_pairs(void **state)
{
    (void)state;
    enum { STEPS = 20000 };
    const double h = 2.5;
    double mass = 0.0, pot[STEPS], force[STEPS], sum = -1.0 / h;
    for (int i = 0; i < STEPS; i++) {
        double u = (i + 0.5) / STEPS, w = u < 0.5 ? 1.0 - 6.0 * u * u + 6.0 * u * u * u : 2.0 * pow(1.0 - u, 3.0);
        double shell = 32.0 * u * u * w / STEPS;
        force[i] = (mass + 0.5 * shell) / pow(u * h, 3.0);
        mass += shell;
    }
    close_to(mass, 1.0, 1e-8);
    for (int i = STEPS - 1; i >= 0; i--) {
        double step = force[i] * (i + 0.5) / STEPS * h * h / STEPS;
        pot[i] = sum - 0.5 * step;
        sum -= step;
    }
    for (int i = STEPS / 50; i < STEPS; i += 7) {
        double f, p;
        gv_ref_spline((i + 0.5) / STEPS * h, h, &f, &p);
        close_to(f, force[i], 1e-5 * force[i]); /* the first shells, with few steps inside them, are off the most */
        close_to(p, pot[i], 1e-7);
    }
    double f, p;
    gv_ref_spline(0.0, 2.8, &f, &p);
    close_to(p, -1.0, 1e-15); /* as Plummer's with eps = 1 */
    gv_ref_spline(3.0, 2.8, &f, &p);
    assert_true(p == -1.0 / 3.0 && f == 1.0 / 27.0);
}

/* With spline softening the tree converges to the sum over all pairs as well, and no softened pair hides in a cell. */
static void spline_tree(void **state)
{
    (void)state;
    enum { BODIES = 800 };
    gv_particles p = plummer(BODIES, 9);
    gv_ref_tree *t = tree_of(&p, 8, 1);
    const gv_ref_walk_options o = {.mac = GV_REF_RELATIVE,
                                   .tau = 1e-6,
                                   .tau_local = 1e-7,
                                   .n_group = 16,
                                   .moments = 2,
                                   .expand = 1,
                                   .eps = 0.1,
                                   .spline = 1};
    double force[4][BODIES], *f[4] = {force[0], force[1], force[2], force[3]};
    walk(t, &o, &p, f, NULL);
    for (size_t i = 0; i < p.count; i++) {
        double a[3] = {0.0}, scale = 0.0, pot = 0.0;
        for (size_t j = 0; j < p.count; j++) {
            double d[3] = {p.x[j] - p.x[i], p.y[j] - p.y[i], p.z[j] - p.z[i]}, pull, q;
            double r = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            if (i == j)
                continue;
            gv_ref_spline(r, 0.28, &pull, &q);
            pot += p.m[j] * q;
            scale += p.m[j] * pull * r;
            for (int k = 0; k < 3; k++)
                a[k] += p.m[j] * pull * d[k];
        }
        for (int k = 0; k < 3; k++)
            close_to(f[k][i], a[k], 1e-4 * scale); /* 100 tau, as test_ref_tree_forces has it */
        close_to(f[3][i], pot, 1e-4 * fabs(pot));
    }
    gv_ref_tree_free(t);
    gv_particles_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spline_pairs),
        cmocka_unit_test(spline_tree),
    };
    return cmocka_run_group_tests_name("ref_tree_spline", tests, NULL, NULL);
}
