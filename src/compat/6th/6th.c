/* The 6th-order interface of Sapporo2: names and arrays. */
#include "gravel/6th.h"

#include <math.h>

#include "compat/common/order6.h"

const char gv_compat_library[] = "gravel_6th";
static gv_order6 state = GV_ORDER6_INIT;
static gv_order6 *const o = &state;

static void open_once(const char *function, int special, int ndev, const int *list)
{
    pthread_mutex_lock(&o->lock);
    gv_order6_open(o, function, special, ndev, list, 1);
    pthread_mutex_unlock(&o->lock);
}

void initialize(void)
{
    open_once("initialize", 0, 0, NULL);
}

void initialize_special(int ndev, int *list)
{
    open_once("initialize_special", 1, ndev, list);
}

void set_j_particle(int address, double *pos, double *vel, double *acc, double *jrk, double *snp, double *crk,
                    double mass, double time, int id, double eps2)
{
    const gv_order6_source source = {address, id, mass, time, eps2, {pos, vel, acc, jrk, snp, crk}};

    pthread_mutex_lock(&o->lock);
    gv_order6_set_source(o, "set_j_particle", &source);
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

void pick_up_predictor_2(int address, int *id, double *mass, double *eps2, double *pos, double *vel, double *acc)
{
    pthread_mutex_lock(&o->lock);
    gv_order6_get_source(o, "pick_up_predictor_2", address, id, mass, eps2, pos, vel, acc);
    pthread_mutex_unlock(&o->lock);
}

/* ----------------------------------------------------------------- forces */

static gravel_vec vectors(double (*p)[3])
{
    return p ? GRAVEL_VEC_AOS(p) : (gravel_vec){NULL, NULL, NULL, 3};
}

static gravel_vec_out vectors_out(double (*p)[3])
{
    return p ? GRAVEL_VEC_OUT_AOS(p) : (gravel_vec_out){NULL, NULL, NULL, 3};
}

static void fill(double (*p)[3], int n, double value)
{
    for (int k = 0; p && k < n; k++)
        p[k][0] = p[k][1] = p[k][2] = value;
}

void calc_force_on_predictors(int ni, int nj, int *ids, double (*pos)[3], double (*vel)[3], double (*acc)[3],
                              double *mass, double *eps2, double (*accNew)[3], double (*jrkNew)[3], double (*snpNew)[3],
                              double (*crkNew)[3], double *phi, int *nnb, double *nnb_r2)
{
    const gv_order6_call call = {.ni = ni,
                                 .nj = nj,
                                 .sinks = {.id = ids, .pos = vectors(pos), .vel = vectors(vel), .acc = vectors(acc)},
                                 .eps2 = eps2,
                                 .eps2_stride = 1,
                                 .acc = vectors_out(accNew),
                                 .jerk = vectors_out(jrkNew),
                                 .snap = vectors_out(snpNew)};

    (void)mass;
    pthread_mutex_lock(&o->lock);
    const int failed = gv_order6_forces(o, "calc_force_on_predictors", &call);
    const double sign = o->settings.positive == GV_COMPAT_YES ? -1 : 1;
    for (int k = 0; k < ni; k++) {
        if (phi)
            phi[k] = failed ? NAN : sign * o->pot[k];
        if (nnb) /* no neighbour is 0 as in Sapporo2: -1 would be an index for callers that do not look */
            nnb[k] = failed || o->address[k] == GRAVEL_NONE ? 0 : o->nearest[k];
        if (nnb_r2)
            nnb_r2[k] = failed ? NAN : o->r2[k];
    }
    pthread_mutex_unlock(&o->lock);
    fill(crkNew, ni, failed ? NAN : 0);
    if (failed) {
        fill(accNew, ni, NAN);
        fill(jrkNew, ni, NAN);
        fill(snpNew, ni, NAN);
    }
}
