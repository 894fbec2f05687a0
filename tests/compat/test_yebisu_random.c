/* A caller of the Yebisu interface that does everything in any order. */
#include "order6_random.h"

#include "gravel/yebisu.h"

static void set(int address, double *const d[6], double mass, double time, int id, double eps2)
{
    set_jp_2(address, d[0], d[1], d[2], d[3], d[4], d[5], mass, time, id, eps2);
}

static void look(int address, int *id, double pos[3])
{
    predictor p = {.id = 0};
    pick_up_predictor_2(address, &p);
    *id = (int)p.id;
    memcpy(pos, p.pos, sizeof p.pos);
}

static void forces(asked *a)
{
    const size_t n = a->ni > 0 ? (size_t)a->ni : 0;
    predictor *const sink = place(n * sizeof *sink);
    Force *const force = place(n * sizeof *force);
    for (size_t i = 0; i < n; i++) {
        memcpy(sink[i].pos, a->pos[i], sizeof sink->pos);
        memcpy(sink[i].vel, a->vel[i], sizeof sink->vel);
        memcpy(sink[i].acc, a->acc[i], sizeof sink->acc);
        sink[i].id = a->ids[i];
        sink[i].eps2 = a->eps2[i];
    }
    calc_force_on_predictors_epsj(a->ni, sink, force, a->nj);
    calc_force_on_predictors(a->ni, sink, force, a->nj);
    for (size_t i = 0; i < n; i++) {
        memcpy(a->acc_new[i], force[i].acc, sizeof force->acc);
        memcpy(a->jerk[i], force[i].jrk, sizeof force->jrk);
        memcpy(a->snap[i], force[i].snp, sizeof force->snp);
        a->pot[i] = -force[i].phi;
        a->nearest[i] = force[i].nnb_id;
        a->r2[i] = (double)force[i].nnb_r2;
    }
    calc_force_on_predictors(a->ni, NULL, force, a->nj);
    free(sink);
    free(force);
}

static void in_any_order(void **state)
{
    static const way w = {set, predict_all, no_predict_all, look, forces};
    (void)state;
    SKIP_WITHOUT_DEVICE();
    setenv("GRAVEL_COMPAT_PRECISION", "dp", 1);
    setenv("GRAVEL_COMPAT_LOG", "none", 1);
    initialize(0);
    random_calls(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_any_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
