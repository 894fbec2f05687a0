/* gravel: the interface of GRAPE-6 on OpenCL devices (libgravel_g6).
 *
 * N-body codes with 4th-order Hermite integrators run on gravel when they are linked with -lgravel_g6 where they were
 * linked with a GRAPE-6, Sapporo or Phantom-GRAPE library.  Such codes declare these functions themselves; this header
 * serves new ones.  doc/dropin.md says how codes are relinked, what can be set, and what differs from other libraries.
 *
 *   g6_open(id);
 *   g6_set_j_particle(id, address, index, tj, dtj, mass, k18, j6, a2, v, x);    for each source
 *   g6_set_ti(id, t);
 *   g6calc_firsthalf(id, nj, ni, index, xi, vi, aold, j6old, phiold, eps2, h2); sinks are copied; returns at once
 *   g6calc_lasthalf(id, nj, ni, index, xi, vi, eps2, h2, acc, jerk, pot);
 *
 * With dr = x_j - x_i, s^2 = dr^2 + eps2:  acc = sum m dr / s^3, jerk its derivative, pot = -sum m / s.  A pair with
 * index_i = index_j does not count, unless it is -1.  Names that end in _ are for Fortran: all arguments are pointers.
 *
 * What is the same for all functions:
 *  - The cluster id is not looked at; in functions with _ it may be NULL.  There is one set of sources in a process.
 *  - int functions return 0, or -1 on failure, which is one line on stderr; nothing ends the process.  A failing
 *    g6calc_lasthalf fills acc, jerk and pot with NaN.
 *  - Calls from several threads wait for one another; a firsthalf replaces one that was not collected.
 */
#ifndef GRAVEL_G6_H
#define GRAVEL_G6_H

#include "gravel/gravel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------ open and close */

GRAVEL_API int g6_open(int clusterid); /* if it is open already, nothing happens */
GRAVEL_API int g6_close(int clusterid);
/* On these devices, numbered as in Sapporo2: ndev > 0: those of the list; 0: all; < 0: the first -ndev.  Devices in
 * the settings come before the list. */
GRAVEL_API int g6_open_special(int ndev, int *list);
GRAVEL_API int g6_npipes(void); /* how many sinks a call takes; also before g6_open */
GRAVEL_API int g6_get_number_of_pipelines(void);
GRAVEL_API int g6_get_nj_max(void); /* how many sources the devices take */
GRAVEL_API int g6_getnjmax(int clusterid);
/* No sinks are under way after these; sources stay. */
GRAVEL_API int g6_reset(int clusterid);
GRAVEL_API int g6_reset_fofpga(int clusterid);
GRAVEL_API int g6_reinitialize(int clusterid);

/* ----------------------------------------------------------------- sources */

/* At address 0, 1, ..., in any order; what was there is replaced.  k18: 2nd derivative of acc / 18, j6: jerk / 6,
 * a2: acc / 2, all at the time tj.  dtj is not looked at.  NULL for a vector: zero. */
GRAVEL_API int g6_set_j_particle(int clusterid, int address, int index, double tj, double dtj, double mass,
                                 double k18[3], double j6[3], double a2[3], double v[3], double x[3]);
GRAVEL_API int g6_set_j_particle_mxonly(int clusterid, int address, int index, double mass, double x[3]);
GRAVEL_API int g6_set_j_particle_multisend_mxfast(int clusterid, int nclusters, int address, int index, double mass,
                                                  double x[3]);
/* Sources are predicted to ti, also those set later; before the first call they are not predicted. */
GRAVEL_API int g6_set_ti(int clusterid, double ti);

/* A source as it was set, and (ppos, pvel) predicted to the time of g6_set_ti, where a g6calc_firsthalf is under way.
 * acc and jrk are full derivatives. */
#ifdef __cplusplus
GRAVEL_API void get_j_part_data(int address, int nj, double *pos, double *vel, double *acc, double *jrk, double *ppos,
                                double *pvel, double &mass, double &eps2, int &id);
#else
GRAVEL_API void get_j_part_data(int address, int nj, double *pos, double *vel, double *acc, double *jrk, double *ppos,
                                double *pvel, double *mass, double *eps2, int *id);
#endif
/* Sources 0 ... nj-1 as a g6calc_firsthalf now would see them. */
GRAVEL_API void g6_get_predicted_j_particles(int clusterid, int nj, double x[][3], double v[][3]);

/* ------------------------------------------------------------------ forces */

/* Forces of the sources at 0 ... nj-1.  h2 is the square of the radius of neighbour lists and may be anything where no
 * lists are read; aold, j6old and phiold are not looked at.  A failure is reported by lasthalf. */
GRAVEL_API void g6calc_firsthalf(int clusterid, int nj, int ni, int index[], double xi[][3], double vi[][3],
                                 double aold[][3], double j6old[][3], double phiold[], double eps2, double h2[]);
/* The results of the last firsthalf, with the same ni; may be called again.  nj, index, xi, vi, eps2 and h2 are not
 * looked at. */
GRAVEL_API int g6calc_lasthalf(int clusterid, int nj, int ni, int index[], double xi[][3], double vi[][3], double eps2,
                               double h2[], double acc[][3], double jerk[][3], double pot[]);
/* ... with the index of the nearest source, 0 where there is none */
GRAVEL_API int g6calc_lasthalf2(int clusterid, int nj, int ni, int index[], double xi[][3], double vi[][3], double eps2,
                                double h2[], double acc[][3], double jerk[][3], double pot[], int nnbindex[]);
/* ... and its distance, without softening */
GRAVEL_API int g6calc_lasthalf2p(int clusterid, int nj, int ni, int index[], double xi[][3], double vi[][3],
                                 double eps2, double h2[], double acc[][3], double jerk[][3], double pot[],
                                 int nnbindex[], float rnnb[]);
/* ... and with neighbour lists, as if g6_read_neighbour_list followed */
GRAVEL_API int g6calc_lasthalfn(int clusterid, int nj, int ni, int index[], double xi[][3], double vi[][3], double eps2,
                                double h2[], double acc[][3], double jerk[][3], double pot[]);
GRAVEL_API int g6calc_lasthalf2n(int clusterid, int nj, int ni, int index[], double xi[][3], double vi[][3],
                                 double eps2, double h2[], double acc[][3], double jerk[][3], double pot[],
                                 int nnbindex[]);
GRAVEL_API int g6calc_lasthalf2np(int clusterid, int nj, int ni, int index[], double xi[][3], double vi[][3],
                                  double eps2, double h2[], double acc[][3], double jerk[][3], double pot[],
                                  int nnbindex[], float rnnb[]);

/* -------------------------------------------------------------- neighbours */

/* Lists of the last firsthalf: sources at dr^2 <= h2, without softening, without the sink itself.  0; 1: a list is
 * longer than the memory for it (the setting `neighbours`); -1: failed. */
GRAVEL_API int g6_read_neighbour_list(int clusterid);
/* The list of sink ipipe (0, 1, ...): *n is the true number of neighbours, also where the list does not hold them all;
 * list gets indices.  0; 1: there are more than maxlength, or than there is memory for: the list has the first of them;
 * -1: failed. */
GRAVEL_API int g6_get_neighbour_list(int clusterid, int ipipe, int maxlength, int *n, int list[]);
/* 1 (at first): lists ascend by index; 0: by address */
GRAVEL_API void g6_set_neighbour_list_sort_mode(int mode);
GRAVEL_API int g6_get_neighbour_list_sort_mode(void);

/* --------------------------------------------------- what needs doing no more */

/* Updates of sources are gathered and sent with the next firsthalf anyway; numbers have no units of their own. */
GRAVEL_API int g6_set_tunit(int unit);
GRAVEL_API int g6_set_xunit(int unit);
GRAVEL_API int g6_initialize_jp_buffer(int clusterid, int size);
GRAVEL_API int g6_flush_jp_buffer(int clusterid);
GRAVEL_API int g6_flush_jp_buffer_and_multisend(int clusterid, int n);
GRAVEL_API int g6_set_overflow_flag_test_mode(int aflag, int jflag, int pflag);
GRAVEL_API int g6_print_chip_status(int clusterid);
GRAVEL_API void g6_setup_njdata(int clusterid, int n);
GRAVEL_API void g6_debugfunc(int number);
GRAVEL_API void g6_debugfunc_double(double number);
GRAVEL_API void g6_dump(double time, int n, double mass[], double x[][3], double v[][3]);

/* ---------------------------------------------- without a cluster id: GRAPE-6A */

GRAVEL_API int g6_open_all(void);
GRAVEL_API int g6_close_all(void);
GRAVEL_API int g6_reset_all(void);
GRAVEL_API int g6_getnjmax_all(void);
GRAVEL_API int g6_set_j_particle_all(int address, int index, double tj, double dtj, double mass, double k18[3],
                                     double j6[3], double a2[3], double v[3], double x[3]);
GRAVEL_API int g6_set_j_particle_mxonly_all(int address, int index, double mass, double x[3]);
GRAVEL_API int g6_set_ti_all(double ti);
GRAVEL_API void g6calc_firsthalf_all(int nj, int ni, int index[], double xi[][3], double vi[][3], double aold[][3],
                                     double j6old[][3], double phiold[], double eps2, double h2[]);
GRAVEL_API int g6calc_lasthalf_all(int nj, int ni, int index[], double xi[][3], double vi[][3], double eps2,
                                   double h2[], double acc[][3], double jerk[][3], double pot[]);
GRAVEL_API int g6calc_lasthalf2_all(int nj, int ni, int index[], double xi[][3], double vi[][3], double eps2,
                                    double h2[], double acc[][3], double jerk[][3], double pot[], int nnbindex[]);
GRAVEL_API int g6_read_neighbour_list_all(void);
GRAVEL_API int g6_get_neighbour_list_all(int ipipe, int maxlength, int *n, int list[]);
GRAVEL_API void g6_get_predicted_j_particles_all(int nj, double x[][3], double v[][3]);

/* -------------------------------------------------- in single steps: GRAPE-6A */

/* First half and last half in parts: how many sinks there are, each of them (a sink stays what it is until it is set
 * again), the start with the sources at 0 ... njp-1, results.  flag: 0 for each sink.  Every sink has an eps2 of its
 * own; where they differ, calls cost a little more.  The scales are not looked at.  In the functions that end in 0,
 * mode 0: eps2[0] is that of all sinks; else one for each. */
GRAVEL_API void g6calc_firsthalf0(int clusterid, int nj, int ni, int index[], double xi[][3], double vi[][3],
                                  double aold[][3], double j6old[][3], double phiold[], double *eps2, double h2[],
                                  int mode);
GRAVEL_API void g6calc_firsthalf0_all(int nj, int ni, int index[], double xi[][3], double vi[][3], double aold[][3],
                                      double j6old[][3], double phiold[], double *eps2, double h2[], int mode);
GRAVEL_API int g6calc_lasthalf0(int clusterid, int nj, int ni, int index[], double xi[][3], double vi[][3],
                                double *eps2, double h2[], double acc[][3], double jerk[][3], double pot[], int mode);
GRAVEL_API int g6calc_lasthalf0_all(int nj, int ni, int index[], double xi[][3], double vi[][3], double *eps2,
                                    double h2[], double acc[][3], double jerk[][3], double pot[], int mode);
GRAVEL_API int g6_set_nip(int clusterid, int nip);
GRAVEL_API int g6_set_nip_all(int nip);
GRAVEL_API int g6_set_i_particle_scales_from_real_value(int clusterid, int address, double acc[3], double jerk[3],
                                                        double phi, double jfactor, double ffactor);
GRAVEL_API int g6_set_i_particle_scales_from_real_value_all(int address, double acc[3], double jerk[3], double phi,
                                                            double jfactor, double ffactor);
GRAVEL_API int g6_set_i_particle(int clusterid, int address, int index, double x[3], double v[3], double eps2,
                                 double h2);
GRAVEL_API int g6_set_i_particle_all(int address, int index, double x[3], double v[3], double eps2, double h2);
GRAVEL_API int g6_set_njp(int clusterid, int njp);
GRAVEL_API int g6_set_njp_all(int njp);
GRAVEL_API int g6_get_force(int clusterid, double acc[][3], double jerk[][3], double phi[], int flag[]);
GRAVEL_API int g6_get_force_all(double acc[][3], double jerk[][3], double phi[], int flag[]);
GRAVEL_API int g6_get_force_etc(int clusterid, double acc[][3], double jerk[][3], double phi[], int nnbindex[],
                                int flag[]);
GRAVEL_API int g6_get_force_etc_all(double acc[][3], double jerk[][3], double phi[], int nnbindex[], int flag[]);

/* ----------------------------------------------------------------- Fortran */

GRAVEL_API int g6_open_(int *clusterid);
GRAVEL_API int g6_close_(int *clusterid);
GRAVEL_API int g6_open_special_(int *ndev, int *list);
GRAVEL_API int g6_npipes_(void);
GRAVEL_API int g6_get_number_of_pipelines_(void);
GRAVEL_API int g6_get_nj_max_(void);
GRAVEL_API int g6_getnjmax_(int *clusterid);
GRAVEL_API int g6_reset_(int *clusterid);
GRAVEL_API int g6_reset_fofpga_(int *clusterid);
GRAVEL_API int g6_reinitialize_(int *clusterid);
GRAVEL_API int g6_set_j_particle_(int *clusterid, int *address, int *index, double *tj, double *dtj, double *mass,
                                  double k18[3], double j6[3], double a2[3], double v[3], double x[3]);
GRAVEL_API int g6_set_j_particle_mxonly_(int *clusterid, int *address, int *index, double *mass, double x[3]);
GRAVEL_API int g6_set_j_particle_multisend_mxfast_(int *clusterid, int *nclusters, int *address, int *index,
                                                   double *mass, double x[3]);
GRAVEL_API int g6_set_ti_(int *clusterid, double *ti);
GRAVEL_API void g6_get_predicted_j_particles_(int *clusterid, int *nj, double x[][3], double v[][3]);
GRAVEL_API void g6calc_firsthalf_(int *clusterid, int *nj, int *ni, int index[], double xi[][3], double vi[][3],
                                  double aold[][3], double j6old[][3], double phiold[], double *eps2, double h2[]);
GRAVEL_API int g6calc_lasthalf_(int *clusterid, int *nj, int *ni, int index[], double xi[][3], double vi[][3],
                                double *eps2, double h2[], double acc[][3], double jerk[][3], double pot[]);
GRAVEL_API int g6calc_lasthalf2_(int *clusterid, int *nj, int *ni, int index[], double xi[][3], double vi[][3],
                                 double *eps2, double h2[], double acc[][3], double jerk[][3], double pot[],
                                 int nnbindex[]);
GRAVEL_API int g6calc_lasthalf2p_(int *clusterid, int *nj, int *ni, int index[], double xi[][3], double vi[][3],
                                  double *eps2, double h2[], double acc[][3], double jerk[][3], double pot[],
                                  int nnbindex[], float rnnb[]);
GRAVEL_API int g6calc_lasthalfn_(int *clusterid, int *nj, int *ni, int index[], double xi[][3], double vi[][3],
                                 double *eps2, double h2[], double acc[][3], double jerk[][3], double pot[]);
GRAVEL_API int g6calc_lasthalf2n_(int *clusterid, int *nj, int *ni, int index[], double xi[][3], double vi[][3],
                                  double *eps2, double h2[], double acc[][3], double jerk[][3], double pot[],
                                  int nnbindex[]);
GRAVEL_API int g6calc_lasthalf2np_(int *clusterid, int *nj, int *ni, int index[], double xi[][3], double vi[][3],
                                   double *eps2, double h2[], double acc[][3], double jerk[][3], double pot[],
                                   int nnbindex[], float rnnb[]);
GRAVEL_API int g6_read_neighbour_list_(int *clusterid);
GRAVEL_API int g6_get_neighbour_list_(int *clusterid, int *ipipe, int *maxlength, int *n, int list[]);
GRAVEL_API void g6_set_neighbour_list_sort_mode_(int *mode);
GRAVEL_API int g6_get_neighbour_list_sort_mode_(void);
/* int or double elsewhere: not looked at */
GRAVEL_API int g6_set_tunit_(double *unit);
GRAVEL_API int g6_set_xunit_(double *unit);
GRAVEL_API int g6_initialize_jp_buffer_(int *clusterid, int *size);
GRAVEL_API int g6_flush_jp_buffer_(int *clusterid);
GRAVEL_API int g6_flush_jp_buffer_and_multisend_(int *clusterid, int *n);
GRAVEL_API int g6_set_overflow_flag_test_mode_(int *aflag, int *jflag, int *pflag);
GRAVEL_API int g6_print_chip_status_(int *clusterid);
GRAVEL_API void g6_setup_njdata_(int *clusterid, int *n);
GRAVEL_API void g6_debugfunc_(int *number);
GRAVEL_API void g6_debugfunc_double_(double *number);
GRAVEL_API void g6_dump_(double *time, int *n, double mass[], double x[][3], double v[][3]);
GRAVEL_API int g6_open_all_(void);
GRAVEL_API int g6_close_all_(void);
GRAVEL_API int g6_reset_all_(void);
GRAVEL_API int g6_getnjmax_all_(void);
GRAVEL_API int g6_set_j_particle_all_(int *address, int *index, double *tj, double *dtj, double *mass, double k18[3],
                                      double j6[3], double a2[3], double v[3], double x[3]);
GRAVEL_API int g6_set_j_particle_mxonly_all_(int *address, int *index, double *mass, double x[3]);
GRAVEL_API int g6_set_ti_all_(double *ti);
GRAVEL_API void g6calc_firsthalf_all_(int *nj, int *ni, int index[], double xi[][3], double vi[][3], double aold[][3],
                                      double j6old[][3], double phiold[], double *eps2, double h2[]);
GRAVEL_API int g6calc_lasthalf_all_(int *nj, int *ni, int index[], double xi[][3], double vi[][3], double *eps2,
                                    double h2[], double acc[][3], double jerk[][3], double pot[]);
GRAVEL_API int g6calc_lasthalf2_all_(int *nj, int *ni, int index[], double xi[][3], double vi[][3], double *eps2,
                                     double h2[], double acc[][3], double jerk[][3], double pot[], int nnbindex[]);
GRAVEL_API int g6_read_neighbour_list_all_(void);
GRAVEL_API int g6_get_neighbour_list_all_(int *ipipe, int *maxlength, int *n, int list[]);
GRAVEL_API void g6_get_predicted_j_particles_all_(int *nj, double x[][3], double v[][3]);
GRAVEL_API void g6calc_firsthalf0_(int *clusterid, int *nj, int *ni, int index[], double xi[][3], double vi[][3],
                                   double aold[][3], double j6old[][3], double phiold[], double *eps2, double h2[],
                                   int *mode);
GRAVEL_API void g6calc_firsthalf0_all_(int *nj, int *ni, int index[], double xi[][3], double vi[][3], double aold[][3],
                                       double j6old[][3], double phiold[], double *eps2, double h2[], int *mode);
GRAVEL_API int g6calc_lasthalf0_(int *clusterid, int *nj, int *ni, int index[], double xi[][3], double vi[][3],
                                 double *eps2, double h2[], double acc[][3], double jerk[][3], double pot[], int *mode);
GRAVEL_API int g6calc_lasthalf0_all_(int *nj, int *ni, int index[], double xi[][3], double vi[][3], double *eps2,
                                     double h2[], double acc[][3], double jerk[][3], double pot[], int *mode);
GRAVEL_API int g6_set_nip_(int *clusterid, int *nip);
GRAVEL_API int g6_set_nip_all_(int *nip);
GRAVEL_API int g6_set_i_particle_scales_from_real_value_(int *clusterid, int *address, double acc[3], double jerk[3],
                                                         double *phi, double *jfactor, double *ffactor);
GRAVEL_API int g6_set_i_particle_scales_from_real_value_all_(int *address, double acc[3], double jerk[3], double *phi,
                                                             double *jfactor, double *ffactor);
GRAVEL_API int g6_set_i_particle_(int *clusterid, int *address, int *index, double x[3], double v[3], double *eps2,
                                  double *h2);
GRAVEL_API int g6_set_i_particle_all_(int *address, int *index, double x[3], double v[3], double *eps2, double *h2);
GRAVEL_API int g6_set_njp_(int *clusterid, int *njp);
GRAVEL_API int g6_set_njp_all_(int *njp);
GRAVEL_API int g6_get_force_(int *clusterid, double acc[][3], double jerk[][3], double phi[], int flag[]);
GRAVEL_API int g6_get_force_all_(double acc[][3], double jerk[][3], double phi[], int flag[]);
GRAVEL_API int g6_get_force_etc_(int *clusterid, double acc[][3], double jerk[][3], double phi[], int nnbindex[],
                                 int flag[]);
GRAVEL_API int g6_get_force_etc_all_(double acc[][3], double jerk[][3], double phi[], int nnbindex[], int flag[]);

#ifdef __cplusplus
}
#endif
#endif
