/* gravel: the Yebisu interface, 6th order, of Sapporo2's sapporoYeblib (libgravel_yebisu).
 *
 * As gravel/6th.h, with sinks and results in structs; the names are partly the same, so that a program is linked with
 * one of the two libraries.
 *
 *   initialize(n);                                           or initialize_special(ndev, list)
 *   set_jp_2(address, pos, vel, acc, jrk, snp, crk, mass, time, id, eps2);
 *   predict_all(time, nj);                                   or no_predict_all(time, nj)
 *   calc_force_on_predictors(ni, predictors, forces, nj);
 *
 * Programs that have these structs already define GRAVEL_YEBISU_NO_STRUCTS and include this file behind them.
 */
#ifndef GRAVEL_YEBISU_H
#define GRAVEL_YEBISU_H

#include "gravel/gravel.h"

#ifndef GRAVEL_YEBISU_NO_STRUCTS
typedef struct predictor {
    double pos[3], vel[3], acc[3];
    double mass;
    double id; /* a whole number */
    double eps2;
} predictor;

typedef struct Force {
    double acc[3], jrk[3], snp[3];
    double phi;
    int nnb_id;
    float nnb_r2;
} Force;
#endif

#ifdef __cplusplus
#define GRAVEL_YEBISU_OUT(type) type &
extern "C" {
#else
#define GRAVEL_YEBISU_OUT(type) type *
#endif

/* n is not looked at.  Later calls do nothing. */
GRAVEL_API void initialize(int n);
/* ndev > 0: those of the list, as numbered among the GPUs; 0: all; < 0: the first -ndev. */
GRAVEL_API void initialize_special(int ndev, int *list);

GRAVEL_API void set_jp_2(int address, double *pos, double *vel, double *acc, double *jrk, double *snp, double *crk,
                         double mass, double time, int id, double eps2);
GRAVEL_API void predict_all(double time, int nj);
GRAVEL_API void no_predict_all(double time, int nj);
GRAVEL_API void pick_up_predictor_2(int address, GRAVEL_YEBISU_OUT(predictor) pred);

/* Forces of sources 0 ... nj-1 on ni sinks, which are given predicted.
 *   eps2     of each sink (Sapporo2 takes that of the first for all)
 *   phi      +sum m/s, as Sapporo2 returns it; the setting `potential` = negative turns it round
 *   nnb_id   of the nearest neighbour by r; -1 where there is none
 *   nnb_r2   its r^2; the setting `nearest` = softened adds eps2.  Infinity where there is none. */
GRAVEL_API void calc_force_on_predictors(int ni, predictor *pred, Force *force, int nj);
/* The same with the softening of the sources, eps2 of set_jp_2, in place of that of the sinks. */
GRAVEL_API void calc_force_on_predictors_epsj(int ni, predictor *pred, Force *force, int nj);

#ifdef __cplusplus
}
#endif
#endif
