/* The Yebisu interface: structs in and out of arrays with strides. */
#include "gravel/yebisu.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "compat/common/order6.h"

_Static_assert(sizeof(predictor) == 12 * sizeof(double) && sizeof(Force) == 11 * sizeof(double),
               "structs are rows of doubles, as in Sapporo2's library");
enum { PREDICTOR_STRIDE = 12, FORCE_STRIDE = 11 };

const char gv_compat_library[] = "gravel_yebisu";
static gv_order6 state = GV_ORDER6_INIT;
static gv_order6 *const o = &state;

static void open_once(const char *function, int special, int ndev, const int *list)
{
    pthread_mutex_lock(&o->lock);
    gv_order6_open(o, function, special, ndev, list, 0);
    pthread_mutex_unlock(&o->lock);
}

void initialize(int n)
{
    (void)n;
    open_once("initialize", 0, 0, NULL);
}

void initialize_special(int ndev, int *list)
{
    open_once("initialize_special", 1, ndev, list);
}

void set_jp_2(int address, double *pos, double *vel, double *acc, double *jrk, double *snp, double *crk, double mass,
              double time, int id, double eps2)
{
    const gv_order6_source source = {address, id, mass, time, eps2, {pos, vel, acc, jrk, snp, crk}};

    pthread_mutex_lock(&o->lock);
    gv_order6_set_source(o, "set_jp_2", &source);
    pthread_mutex_unlock(&o->lock);
}

void predict_all(double time, int nj)
{
    (void)nj;
    pthread_mutex_lock(&o->lock);
    gv_order6_predict(o, "predict_all", 1, time);
    pthread_mutex_unlock(&o->lock);
}

void no_predict_all(double time, int nj)
{
    (void)nj;
    pthread_mutex_lock(&o->lock);
    gv_order6_predict(o, "no_predict_all", 0, time);
    pthread_mutex_unlock(&o->lock);
}

void pick_up_predictor_2(int address, predictor *pred)
{
    int id = -1;

    pthread_mutex_lock(&o->lock);
    if (gv_order6_get_source(o, "pick_up_predictor_2", address, &id, &pred->mass, &pred->eps2, pred->pos, pred->vel,
                             pred->acc) == 0)
        pred->id = id;
    pthread_mutex_unlock(&o->lock);
}

/* ----------------------------------------------------------------- forces */

/* Numbers that are no int match nothing. */
static int32_t *take_ids(const char *function, int ni, const predictor *pred)
{
    int32_t *ids = malloc((ni > 0 ? (size_t)ni : 1) * sizeof *ids);

    if (!ids)
        gv_compat_fail(function, "no memory for %d sinks", ni);
    for (int k = 0; ids && k < ni; k++)
        ids[k] = pred[k].id >= INT_MIN && pred[k].id <= INT_MAX ? (int32_t)pred[k].id : -1;
    return ids;
}

static void put(int ni, Force *force, int failed)
{
    const double sign = o->settings.positive == GV_COMPAT_NO ? 1 : -1;

    for (int k = 0; k < ni; k++) {
        force[k].phi = failed ? NAN : sign * o->pot[k];
        force[k].nnb_id = failed ? -1 : o->nearest[k];
        force[k].nnb_r2 = failed ? NAN : (float)o->r2[k];
        for (int c = 0; c < 3 && failed; c++)
            force[k].acc[c] = force[k].jrk[c] = force[k].snp[c] = NAN;
    }
}

static gravel_vec vectors(double *p)
{
    return (gravel_vec){p, p + 1, p + 2, PREDICTOR_STRIDE};
}

static gravel_vec_out vectors_out(double *p)
{
    return (gravel_vec_out){p, p + 1, p + 2, FORCE_STRIDE};
}

static void forces(const char *function, int ni, predictor *pred, Force *force, int nj, int of_sources)
{
    if (!pred || !force) {
        gv_compat_fail(function, "no predictors or no forces");
        return;
    }
    int32_t *const ids = take_ids(function, ni, pred);
    const gv_order6_call call = {
        .ni = ni,
        .nj = nj,
        .sinks = {.id = ids, .pos = vectors(pred->pos), .vel = vectors(pred->vel), .acc = vectors(pred->acc)},
        .eps2 = &pred->eps2,
        .eps2_stride = PREDICTOR_STRIDE,
        .of_sources = of_sources,
        .acc = vectors_out(force->acc),
        .jerk = vectors_out(force->jrk),
        .snap = vectors_out(force->snp)};

    pthread_mutex_lock(&o->lock);
    put(ni, force, !ids || gv_order6_forces(o, function, &call) != 0);
    pthread_mutex_unlock(&o->lock);
    free(ids);
}

void calc_force_on_predictors(int ni, predictor *pred, Force *force, int nj)
{
    forces("calc_force_on_predictors", ni, pred, force, nj, 0);
}

void calc_force_on_predictors_epsj(int ni, predictor *pred, Force *force, int nj)
{
    forces("calc_force_on_predictors_epsj", ni, pred, force, nj, 1);
}
