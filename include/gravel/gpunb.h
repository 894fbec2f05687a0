/* gravel: the regular force of NBODY6++GPU, link-compatible with its GPU library (libgravel_gpunb).
 *
 * Names end in an underscore and every argument is a pointer, as Fortran calls them; x[n][3] is x(3,n) there.  No
 * softening.  Sources are all bodies of the last gpunb_send_; a sink and its own source are known by their distance, 0.
 *
 *   gpunb_devinit_(&rank);  gpunb_open_(&nbmax, &rank);
 *   gpunb_send_(&nj, m, x, v);                       predicted positions and velocities of all
 *   gpunb_regf_(&ni, h2, dtr, xi, vi, acc, jrk, pot, &lmax, &nbmax, list, &m_flag);
 *   gpunb_close_();
 *
 * Nothing ends the process: what cannot be done is a line on stderr, and forces that could not be computed are NaN.
 * Settings: doc/dropin.md.  Devices: those of the settings, else of GPU_LIST ("0 1", as numbered among the GPUs), else
 * gravel's own choice.  `rank` is not looked at.  Calls from several threads wait for each other.
 */
#ifndef GRAVEL_GPUNB_H
#define GRAVEL_GPUNB_H

#include "gravel/gravel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Devices are found and opened, once for the process; the other functions do that themselves if need be. */
GRAVEL_API void gpunb_devinit_(const int *rank);
/* nbmax: the most bodies there will be (more are taken, too).  Closing forgets the bodies; devices stay open. */
GRAVEL_API void gpunb_open_(const int *nbmax, const int *rank);
GRAVEL_API void gpunb_close_(void);
/* All bodies, in place of those before. */
GRAVEL_API void gpunb_send_(const int *nj, const double *mj, double (*xj)[3], double (*vj)[3]);
/* Forces of all bodies but the neighbours, and the neighbours.
 *
 * j is a neighbour of i if r^2 < h2[i], with r^2 the smaller of |dx|^2 and |dx + dtr[i] dv|^2; with *m_flag != 0 if
 * r^2 < m_j h2[i].  So i itself is one, unless h2[i] is 0.  (NaN counts as 0.)
 *   list[i][0]         how many neighbours i has; negative where there are more than *nbmax, or than *lmax - 1
 *   list[i][1 ...]     their places in gpunb_send_, from 0, ascending; nothing where the number is negative
 *   acc, jrk, pot[i]   of all others; pot = +sum m/r
 * Any *ni; callers pass up to 2048.  Old callers pass no m_flag: it is not touched with the setting
 * `m_flag = no`. */
GRAVEL_API void gpunb_regf_(const int *ni, const double *h2, const double *dtr, double (*xi)[3], double (*vi)[3],
                            double (*acc)[3], double (*jrk)[3], double *pot, const int *lmax, const int *nbmax,
                            int *list, const int *m_flag);
/* Calls, sinks and times since the last such call: a line at log level `info`. */
GRAVEL_API void gpunb_profile_(const int *rank);

/* pot[k] = +sum m/r over all n bodies at other places, for the *ni bodies from number *istart on (the first is 1); in
 * double, or in pairs of floats on devices without it.  Needs no gpunb_open_ and leaves its bodies alone. */
GRAVEL_API void gpupot_(const int *rank, const int *istart, const int *ni, const int *n, const double *m,
                        double (*x)[3], double *pot);

#ifdef __cplusplus
}
#endif
#endif
