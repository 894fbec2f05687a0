/* A caller of Sapporo2's 6th-order interface that does everything in any order. */
#include "order6_random.h"

#include "gravel/6th.h"

static void set(int address, double *const d[6], double mass, double time, int id, double eps2)
{
    set_j_particle(address, d[0], d[1], d[2], d[3], d[4], d[5], mass, time, id, eps2);
}

static void look(int address, int *id, double pos[3])
{
    double mass, eps2, vel[3], acc[3];
    pick_up_predictor_2(address, id, &mass, &eps2, pos, vel, acc);
}

static void forces(asked *a)
{
    double crackle[SINKS][3];
    calc_force_on_predictors(a->ni, a->nj, a->ids, a->pos, a->vel, a->acc, NULL, a->eps2, a->acc_new, a->jerk, a->snap,
                             crackle, a->pot, a->nearest, a->r2);
    calc_force_on_predictors(a->ni, a->nj, NULL, a->pos, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                             NULL);
}

static void in_any_order(void **state)
{
    static const way w = {set, predict_all, no_predict_all, look, forces};
    (void)state;
    SKIP_WITHOUT_DEVICE();
    setenv("GRAVEL_COMPAT_PRECISION", "dp", 1);
    setenv("GRAVEL_COMPAT_LOG", "none", 1);
    initialize();
    random_calls(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_any_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
