/* gravel: the interface of GRAPE-5 on OpenCL devices (libgravel_g5).
 *
 * Tree and TreePM codes run on gravel when they are linked with -lgravel_g5 where they were linked with a GRAPE-5,
 * GRAPE-7 or Phantom-GRAPE library.  Such codes declare these functions themselves; this header serves new ones.
 * doc/dropin.md says how codes are relinked, what can be set, and what differs from other libraries.
 *
 *   g5_open();
 *   g5_set_eps_to_all(eps);
 *   g5_set_xmj(0, nj, xj, mj);                   sources
 *   g5_set_n(nj);
 *   g5_calculate_force_on_x(xi, a, p, ni);       any number of sinks
 *
 * With d = x_j - x_i, s^2 = d^2 + eps^2:  a = sum m d / s^3, p = +sum m / s, where the sum is over all sources, also
 * over one at the sink's own place, whose term m / eps callers subtract.  Settings change the sign of p and leave that
 * term out.  Where eps is 0 sources at the sink's place do not count.
 *
 * What is the same for all functions:
 *  - Names with MC take a device id, 0 ... 1023.  Every id has sources and sinks of its own, and different threads may
 *    use different ids at the same time: one thread, one id.  Ids are dealt out to the devices.  Functions without MC
 *    are those of id 0; if they come first, it uses all devices.
 *  - Softening, tables and eta are common to all ids.
 *  - They return 0, or -1 on failure, which is one line on stderr; nothing ends the process.  Forces that fail are NaN.
 *  - Source adr + k is row adr + k of the arrays (as in Phantom-GRAPE and Sapporo2).
 *  - g5_open is optional.  g5_close forgets sources and releases the devices.
 *
 * Names that end in _ are for Fortran: all arguments are pointers.
 */
#ifndef GRAVEL_G5_H
#define GRAVEL_G5_H

#include "gravel/gravel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------ open and close */

GRAVEL_API int g5_open(void);
/* On these devices, numbered as in Sapporo2: ndev > 0: those of the list; 0: all; < 0: the first -ndev.  Devices in
 * the settings come before the list. */
GRAVEL_API int g5_open_special(int ndev, int *list);
GRAVEL_API int g5_close(void);
GRAVEL_API int g5_openMC(int devid);
GRAVEL_API int g5_closeMC(int devid);
GRAVEL_API int g5_get_number_of_pipelines(void); /* how many sinks g5_set_xi takes */
GRAVEL_API int g5_get_number_of_pipelinesMC(int devid);
GRAVEL_API int g5_get_number_of_real_pipelines(void);
GRAVEL_API int g5_get_jmemsize(void); /* how many sources an id takes */
GRAVEL_API int g5_get_jmemsizeMC(int devid);
GRAVEL_API double g5_get_pcibus_freq(void); /* 0 */

/* ------------------------------------------------------------------ softening */

GRAVEL_API int g5_set_range(double xmin, double xmax, double mmin); /* not looked at: numbers are floating */
GRAVEL_API int g5_set_rangeMC(int devid, double xmin, double xmax, double mmin);
GRAVEL_API int g5_set_eps_to_all(double eps);
GRAVEL_API int g5_set_eps2_to_all(double eps2);
GRAVEL_API int g5_set_eps_to_allMC(int devid, double eps); /* of all ids, too */
GRAVEL_API int g5_set_eps2_to_allMC(int devid, double eps2);
GRAVEL_API int g5_set_eps(int ni, double eps[]); /* lengths, one a sink; after g5_set_xi, which sets those of all */
GRAVEL_API int g5_set_epsMC(int devid, int ni, double eps[]);

/* -------------------------------------------------------------------- sources */

GRAVEL_API int g5_set_n(int nj); /* sources 0 ... nj-1 attract; without this call all that were set */
GRAVEL_API int g5_set_nMC(int devid, int nj);
GRAVEL_API int g5_set_xmj(int adr, int nj, double xj[][3], double mj[]);
GRAVEL_API int g5_set_xmjMC(int devid, int adr, int nj, double xj[][3], double mj[]);
GRAVEL_API int g5_set_jp(int adr, int nj, double mj[], double xj[][3]);
GRAVEL_API int g5_set_jpMC(int devid, int adr, int nj, double mj[], double xj[][3]);
GRAVEL_API int g5_set_xj(int adr, int nj, double xj[][3]);
GRAVEL_API int g5_set_xjMC(int devid, int adr, int nj, double xj[][3]);
GRAVEL_API int g5_set_mj(int adr, int nj, double mj[]);
GRAVEL_API int g5_set_mjMC(int devid, int adr, int nj, double mj[]);

/* --------------------------------------------------------------------- forces */

GRAVEL_API int g5_set_xi(int ni, double xi[][3]); /* at most as many sinks as there are pipelines */
GRAVEL_API int g5_set_xiMC(int devid, int ni, double xi[][3]);
GRAVEL_API int g5_set_xei(int ni, double xi[][3], double eps2[]); /* with squared softening of each */
GRAVEL_API int g5_set_xeiMC(int devid, int ni, double xi[][3], double eps2[]);
GRAVEL_API int g5_set_ip(int ni, double xi[][3], double eps[], double h[]); /* lengths; h is not looked at */
GRAVEL_API int g5_run(void);                                                /* returns at once */
GRAVEL_API int g5_runMC(int devid);
GRAVEL_API int g5_get_force(int ni, double a[][3], double p[]); /* of the first ni sinks */
GRAVEL_API int g5_get_forceMC(int devid, int ni, double a[][3], double p[]);
GRAVEL_API int g5_calculate_force_on_x(double xi[][3], double a[][3], double p[], int ni);
GRAVEL_API int g5_calculate_force_on_xMC(int devid, double xi[][3], double a[][3], double p[], int ni);
GRAVEL_API int g5_calculate_force_on_xe(double xi[][3], double eps2[], double a[][3], double p[], int ni);
GRAVEL_API int g5_calculate_force_on_xeMC(int devid, double xi[][3], double eps2[], double a[][3], double p[], int ni);

/* -------------------------------------------------------- symmetric softening */

/* s^2 = d^2 + eps_i^2 + eps_j^2, with squares in all arguments, as in the library that comes with FDPS.  These sources
 * are a memory of their own; if it is the only one that was set, functions without 0 use it, too, with the eps of all
 * or of each sink for eps_i.  Callers that were written for Phantom-GRAPE with -DSYMMETRIC define SYMMETRIC before they
 * include this header: their g5_set_xmj has five arguments. */
GRAVEL_API int g5_set_xmj0(int adr, int nj, double xj[][3], double mj[], double epsj2[]);
GRAVEL_API int g5_set_xmjMC0(int devid, int adr, int nj, double xj[][3], double mj[], double epsj2[]);
GRAVEL_API int g5_set_xiMC0(int devid, int ni, double xi[][3], double eps2[]);
GRAVEL_API int g5_runMC0(int devid);
GRAVEL_API int g5_calculate_force_on_x0(double xi[][3], double a[][3], double p[], int ni, double eps2[]);
GRAVEL_API int g5_calculate_force_on_xMC0(int devid, double xi[][3], double a[][3], double p[], int ni, double eps2[]);
#ifdef SYMMETRIC
#define g5_set_xmj g5_set_xmj0
#define g5_set_xmjMC g5_set_xmjMC0
#endif

/* --------------------------------------------------------------------- tables */

/* GRAPE-5's cut-off, for forces that a mesh completes:  with u = s / eta
 *   a = fcor sum m d / s^3 ffunc(u)  for u < fcut     p = pcor sum m / s pfunc(u)  for u < pcut
 * pfunc NULL: p is the integral of a.  ffunc NULL: Newton's force again.  The functions are called when an id first
 * needs them, by one thread at a time, so they must live as long; from Fortran they are functions of one real*8
 * argument. */
GRAVEL_API int g5_set_cutoff_table(double (*ffunc)(double), double fcut, double fcor, double (*pfunc)(double),
                                   double pcut, double pcor);
GRAVEL_API int g5_set_cutoff_tableMC(int devid, double (*ffunc)(double), double fcut, double fcor,
                                     double (*pfunc)(double), double pcut, double pcor);
GRAVEL_API int g5_set_eta(double eta);
GRAVEL_API int g5_set_etaMC(int devid, double eta);
/* Phantom-GRAPE's tables:  a = sum m d force(r) for r < rcut, without softening; p is the integral of a (there 0). */
GRAVEL_API int pg5_gen_force_table(double (*force)(double r), double rcut);
/* ... with force = S2(sft_for_PP) - S2(sft_for_PM) of the P3M method: bodies are spheres of these diameters whose
 * density falls linearly to zero.  Ends at sft_for_PM. */
GRAVEL_API int pg5_gen_s2_force_table(double sft_for_PP, double sft_for_PM);
GRAVEL_API int pg5_set_xscale(double xscale); /* not looked at: tables are in the caller's unit of length */
GRAVEL_API int pg5_set_plummer_table(void);   /* Newton's force with softening again */

/* ---------------------------------------------------------------- quadrupoles */

/* Sources that stand for cells of a tree; a memory of their own with a number of its own.  With
 *   q = xx, xy, xz, yy, yz, zz of Q = sum m (3 x x - |x|^2), x from the cell's centre of mass,
 *   a = sum m d / s^3 + (5/2 (d Q d) d / s^2 - Q d) / s^5      p = -sum m / s + d Q d / (2 s^5)
 * p is negative, unlike all others: callers of Phantom-GRAPE's quadrupole library add it to the potential.  Sinks are
 * those of g5_set_xi, results those of g5_get_force.  Names with 0 do the same. */
GRAVEL_API int g5c_set_nMC(int devid, int nj);
GRAVEL_API int g5c_set_xmjMC(int devid, int adr, int nj, double xj[][3], double mj[], double qj[][6]);
GRAVEL_API int g5c_set_xmjMC0(int devid, int adr, int nj, double xj[][3], double mj[], double qj[][6]);
GRAVEL_API int g5c_runMC(int devid);
GRAVEL_API int g5c_runMC0(int devid);
GRAVEL_API int g5c_calculate_force_on_xMC(int devid, double xi[][3], double a[][3], double p[], int ni);
GRAVEL_API int g5c_calculate_force_on_xMC0(int devid, double xi[][3], double a[][3], double p[], int ni);

/* -------------------------------------------------------------------- Fortran */

GRAVEL_API int g5_open_(void);
GRAVEL_API int g5_open_special_(int *ndev, int *list);
GRAVEL_API int g5_close_(void);
GRAVEL_API int g5_openMC_(int *devid);
GRAVEL_API int g5_closeMC_(int *devid);
GRAVEL_API int g5_get_number_of_pipelines_(void);
GRAVEL_API int g5_get_number_of_pipelinesMC_(int *devid);
GRAVEL_API int g5_get_number_of_real_pipelines_(void);
GRAVEL_API int g5_get_jmemsize_(void);
GRAVEL_API int g5_get_jmemsizeMC_(int *devid);
GRAVEL_API double g5_get_pcibus_freq_(void);
GRAVEL_API int g5_set_range_(double *xmin, double *xmax, double *mmin);
GRAVEL_API int g5_set_rangeMC_(int *devid, double *xmin, double *xmax, double *mmin);
GRAVEL_API int g5_set_eps_to_all_(double *eps);
GRAVEL_API int g5_set_eps2_to_all_(double *eps2);
GRAVEL_API int g5_set_eps_to_allMC_(int *devid, double *eps);
GRAVEL_API int g5_set_eps2_to_allMC_(int *devid, double *eps2);
GRAVEL_API int g5_set_eps_(int *ni, double eps[]);
GRAVEL_API int g5_set_epsMC_(int *devid, int *ni, double eps[]);
GRAVEL_API int g5_set_n_(int *nj);
GRAVEL_API int g5_set_nMC_(int *devid, int *nj);
GRAVEL_API int g5_set_xmj_(int *adr, int *nj, double xj[][3], double mj[]);
GRAVEL_API int g5_set_xmjMC_(int *devid, int *adr, int *nj, double xj[][3], double mj[]);
GRAVEL_API int g5_set_jp_(int *adr, int *nj, double mj[], double xj[][3]);
GRAVEL_API int g5_set_jpMC_(int *devid, int *adr, int *nj, double mj[], double xj[][3]);
GRAVEL_API int g5_set_xj_(int *adr, int *nj, double xj[][3]);
GRAVEL_API int g5_set_xjMC_(int *devid, int *adr, int *nj, double xj[][3]);
GRAVEL_API int g5_set_mj_(int *adr, int *nj, double mj[]);
GRAVEL_API int g5_set_mjMC_(int *devid, int *adr, int *nj, double mj[]);
GRAVEL_API int g5_set_xi_(int *ni, double xi[][3]);
GRAVEL_API int g5_set_xiMC_(int *devid, int *ni, double xi[][3]);
GRAVEL_API int g5_set_xei_(int *ni, double xi[][3], double eps2[]);
GRAVEL_API int g5_set_xeiMC_(int *devid, int *ni, double xi[][3], double eps2[]);
GRAVEL_API int g5_set_ip_(int *ni, double xi[][3], double eps[], double h[]);
GRAVEL_API int g5_run_(void);
GRAVEL_API int g5_runMC_(int *devid);
GRAVEL_API int g5_get_force_(int *ni, double a[][3], double p[]);
GRAVEL_API int g5_get_forceMC_(int *devid, int *ni, double a[][3], double p[]);
GRAVEL_API int g5_calculate_force_on_x_(double xi[][3], double a[][3], double p[], int *ni);
GRAVEL_API int g5_calculate_force_on_xMC_(int *devid, double xi[][3], double a[][3], double p[], int *ni);
GRAVEL_API int g5_calculate_force_on_xe_(double xi[][3], double eps2[], double a[][3], double p[], int *ni);
GRAVEL_API int g5_calculate_force_on_xeMC_(int *devid, double xi[][3], double eps2[], double a[][3], double p[],
                                           int *ni);
GRAVEL_API int g5_set_xmj0_(int *adr, int *nj, double xj[][3], double mj[], double epsj2[]);
GRAVEL_API int g5_set_xmjMC0_(int *devid, int *adr, int *nj, double xj[][3], double mj[], double epsj2[]);
GRAVEL_API int g5_set_xiMC0_(int *devid, int *ni, double xi[][3], double eps2[]);
GRAVEL_API int g5_runMC0_(int *devid);
GRAVEL_API int g5_calculate_force_on_x0_(double xi[][3], double a[][3], double p[], int *ni, double eps2[]);
GRAVEL_API int g5_calculate_force_on_xMC0_(int *devid, double xi[][3], double a[][3], double p[], int *ni,
                                           double eps2[]);
GRAVEL_API int g5_set_cutoff_table_(double (*ffunc)(double *), double *fcut, double *fcor, double (*pfunc)(double *),
                                    double *pcut, double *pcor);
GRAVEL_API int g5_set_cutoff_tableMC_(int *devid, double (*ffunc)(double *), double *fcut, double *fcor,
                                      double (*pfunc)(double *), double *pcut, double *pcor);
GRAVEL_API int g5_set_eta_(double *eta);
GRAVEL_API int g5_set_etaMC_(int *devid, double *eta);
GRAVEL_API int pg5_gen_force_table_(double (*force)(double *), double *rcut);
GRAVEL_API int pg5_gen_s2_force_table_(double *sft_for_PP, double *sft_for_PM);
GRAVEL_API int pg5_set_xscale_(double *xscale);
GRAVEL_API int pg5_set_plummer_table_(void);
GRAVEL_API int g5c_set_nMC_(int *devid, int *nj);
GRAVEL_API int g5c_set_xmjMC_(int *devid, int *adr, int *nj, double xj[][3], double mj[], double qj[][6]);
GRAVEL_API int g5c_set_xmjMC0_(int *devid, int *adr, int *nj, double xj[][3], double mj[], double qj[][6]);
GRAVEL_API int g5c_runMC_(int *devid);
GRAVEL_API int g5c_runMC0_(int *devid);
GRAVEL_API int g5c_calculate_force_on_xMC_(int *devid, double xi[][3], double a[][3], double p[], int *ni);
GRAVEL_API int g5c_calculate_force_on_xMC0_(int *devid, double xi[][3], double a[][3], double p[], int *ni);

/* Fortran compilers that write all names in lower case */
GRAVEL_API int g5_openmc_(int *devid);
GRAVEL_API int g5_closemc_(int *devid);
GRAVEL_API int g5_get_number_of_pipelinesmc_(int *devid);
GRAVEL_API int g5_get_jmemsizemc_(int *devid);
GRAVEL_API int g5_set_rangemc_(int *devid, double *xmin, double *xmax, double *mmin);
GRAVEL_API int g5_set_eps_to_allmc_(int *devid, double *eps);
GRAVEL_API int g5_set_eps2_to_allmc_(int *devid, double *eps2);
GRAVEL_API int g5_set_epsmc_(int *devid, int *ni, double eps[]);
GRAVEL_API int g5_set_nmc_(int *devid, int *nj);
GRAVEL_API int g5_set_xmjmc_(int *devid, int *adr, int *nj, double xj[][3], double mj[]);
GRAVEL_API int g5_set_jpmc_(int *devid, int *adr, int *nj, double mj[], double xj[][3]);
GRAVEL_API int g5_set_xjmc_(int *devid, int *adr, int *nj, double xj[][3]);
GRAVEL_API int g5_set_mjmc_(int *devid, int *adr, int *nj, double mj[]);
GRAVEL_API int g5_set_ximc_(int *devid, int *ni, double xi[][3]);
GRAVEL_API int g5_set_xeimc_(int *devid, int *ni, double xi[][3], double eps2[]);
GRAVEL_API int g5_runmc_(int *devid);
GRAVEL_API int g5_get_forcemc_(int *devid, int *ni, double a[][3], double p[]);
GRAVEL_API int g5_calculate_force_on_xmc_(int *devid, double xi[][3], double a[][3], double p[], int *ni);
GRAVEL_API int g5_calculate_force_on_xemc_(int *devid, double xi[][3], double eps2[], double a[][3], double p[],
                                           int *ni);
GRAVEL_API int g5_set_xmjmc0_(int *devid, int *adr, int *nj, double xj[][3], double mj[], double epsj2[]);
GRAVEL_API int g5_set_ximc0_(int *devid, int *ni, double xi[][3], double eps2[]);
GRAVEL_API int g5_runmc0_(int *devid);
GRAVEL_API int g5_calculate_force_on_xmc0_(int *devid, double xi[][3], double a[][3], double p[], int *ni,
                                           double eps2[]);
GRAVEL_API int g5_set_cutoff_tablemc_(int *devid, double (*ffunc)(double *), double *fcut, double *fcor,
                                      double (*pfunc)(double *), double *pcut, double *pcor);
GRAVEL_API int g5_set_etamc_(int *devid, double *eta);
GRAVEL_API int g5c_set_nmc_(int *devid, int *nj);
GRAVEL_API int g5c_set_xmjmc_(int *devid, int *adr, int *nj, double xj[][3], double mj[], double qj[][6]);
GRAVEL_API int g5c_set_xmjmc0_(int *devid, int *adr, int *nj, double xj[][3], double mj[], double qj[][6]);
GRAVEL_API int g5c_runmc_(int *devid);
GRAVEL_API int g5c_runmc0_(int *devid);
GRAVEL_API int g5c_calculate_force_on_xmc_(int *devid, double xi[][3], double a[][3], double p[], int *ni);
GRAVEL_API int g5c_calculate_force_on_xmc0_(int *devid, double xi[][3], double a[][3], double p[], int *ni);

#ifdef __cplusplus
}
#endif
#endif
