/* gravel: the 6th-order interface of Sapporo2, as MI6 calls it (libgravel_6th).
 *
 * Names have C linkage and no prefix, since they are those of Sapporo2's library.  Arguments that are references in C++
 * are pointers in C.  Everything is in full derivatives: acc, jrk, snp, crk are the 2nd to the 5th of the position.
 *
 *   initialize();                                            or initialize_special(ndev, list)
 *   set_j_particle(address, pos, vel, acc, jrk, snp, crk, mass, time, id, eps2);
 *   predict_all(time, nj);                                   or no_predict_all(time, nj)
 *   calc_force_on_predictors(ni, nj, ids, pos, vel, acc, mass, eps2, ...);
 *
 * Nothing ends the process: what cannot be done is a line on stderr, and forces that could not be computed are NaN.
 * Settings: doc/dropin.md.  Calls from several threads wait for each other.
 */
#ifndef GRAVEL_6TH_H
#define GRAVEL_6TH_H

#include "gravel/gravel.h"

#ifdef __cplusplus
#define GRAVEL_6TH_OUT(type) type &
extern "C" {
#else
#define GRAVEL_6TH_OUT(type) type *
#endif

/* Devices as the settings and sapporo2.config say.  Later calls do nothing. */
GRAVEL_API void initialize(void);
/* ndev > 0: those of the list, as numbered among the GPUs; 0: all; < 0: the first -ndev. */
GRAVEL_API void initialize_special(int ndev, int *list);

/* A source at an address (from 0; in any order, as often as wanted).  id: any int.  Prediction is to the 5th derivative
 * of the position, to the 4th of the velocity, to the 3rd of the acceleration. */
GRAVEL_API void set_j_particle(int address, double *pos, double *vel, double *acc, double *jrk, double *snp,
                               double *crk, double mass, double time, int id, double eps2);
/* All sources are predicted to this time from now on, also those set later. */
GRAVEL_API void predict_all(double time, int nj);
/* Sources are used as they were set; `time` is not looked at. */
GRAVEL_API void no_predict_all(double time, int nj);
GRAVEL_API void pick_up_predictor_2(int address, GRAVEL_6TH_OUT(int) id, GRAVEL_6TH_OUT(double) mass,
                                    GRAVEL_6TH_OUT(double) eps2, double *pos, double *vel, double *acc);

/* Forces of sources 0 ... nj-1 on ni sinks, any number, which are given predicted.  A source with the id of the sink is
 * left out, unless it is -1.
 *   eps2     of each sink (Sapporo2 takes that of the first for all); that of the sources and `mass` are not looked at
 *   crkNew   zeros
 *   phi      -sum m/s; the setting `potential` = positive turns it round
 *   nnb      id of the nearest neighbour by r; 0 where there is none
 *   nnb_r2   its r^2 + eps2, as the text of Sapporo2's interface says and MI6 takes it; the setting `nearest` =
 *            unsoftened gives r^2, as Sapporo2's kernels do.  Infinity where there is none.
 * With nj = 0 forces are 0.  Members that are NULL are not written (ids NULL: nothing is left out). */
GRAVEL_API void calc_force_on_predictors(int ni, int nj, int *ids, double (*pos)[3], double (*vel)[3], double (*acc)[3],
                                         double *mass, double *eps2, double (*accNew)[3], double (*jrkNew)[3],
                                         double (*snpNew)[3], double (*crkNew)[3], double *phi, int *nnb,
                                         double *nnb_r2);

#ifdef __cplusplus
}
#endif
#endif
