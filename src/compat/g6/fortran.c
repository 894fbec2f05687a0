/* The names of Fortran: all arguments are pointers; the cluster id may be NULL. */
#include "gravel/g6.h"
#include "compat/g6/g6.h"

/* ------------------------------------------------------------ open and close */

int g6_open_(int *clusterid)
{
    (void)clusterid;
    return gv_g6_open("g6_open");
}

int g6_close_(int *clusterid)
{
    (void)clusterid;
    return gv_g6_close();
}

int g6_open_special_(int *ndev, int *list)
{
    return gv_g6_open_special(*ndev, list);
}

int g6_npipes_(void)
{
    return gv_g6_pipes();
}

int g6_get_number_of_pipelines_(void)
{
    return gv_g6_pipes();
}

int g6_get_nj_max_(void)
{
    return gv_g6_nj_max("g6_get_nj_max");
}

int g6_getnjmax_(int *clusterid)
{
    (void)clusterid;
    return gv_g6_nj_max("g6_getnjmax");
}

int g6_reset_(int *clusterid)
{
    (void)clusterid;
    return gv_g6_reset();
}

int g6_reset_fofpga_(int *clusterid)
{
    (void)clusterid;
    return gv_g6_reset();
}

int g6_reinitialize_(int *clusterid)
{
    (void)clusterid;
    return gv_g6_reset();
}

/* ----------------------------------------------------------------- sources */

int g6_set_j_particle_(int *clusterid, int *address, int *index, double *tj, double *dtj, double *mass, double k18[3],
                       double j6[3], double a2[3], double v[3], double x[3])
{
    (void)clusterid, (void)dtj;
    return gv_g6_set_source("g6_set_j_particle", &(gv_g6_source){*address, *index, *tj, *mass, k18, j6, a2, v, x});
}

int g6_set_j_particle_mxonly_(int *clusterid, int *address, int *index, double *mass, double x[3])
{
    (void)clusterid;
    return gv_g6_set_source("g6_set_j_particle_mxonly",
                            &(gv_g6_source){.address = *address, .index = *index, .mass = *mass, .x = x});
}

int g6_set_j_particle_multisend_mxfast_(int *clusterid, int *nclusters, int *address, int *index, double *mass,
                                        double x[3])
{
    (void)clusterid, (void)nclusters;
    return gv_g6_set_source("g6_set_j_particle_multisend_mxfast",
                            &(gv_g6_source){.address = *address, .index = *index, .mass = *mass, .x = x});
}

int g6_set_ti_(int *clusterid, double *ti)
{
    (void)clusterid;
    return gv_g6_set_time("g6_set_ti", *ti);
}

void g6_get_predicted_j_particles_(int *clusterid, int *nj, double x[][3], double v[][3])
{
    (void)clusterid;
    gv_g6_get_predicted("g6_get_predicted_j_particles", *nj, x, v);
}

/* ------------------------------------------------------------------ forces */

void g6calc_firsthalf_(int *clusterid, int *nj, int *ni, int index[], double xi[][3], double vi[][3], double aold[][3],
                       double j6old[][3], double phiold[], double *eps2, double h2[])
{
    (void)clusterid, (void)aold, (void)j6old, (void)phiold;
    gv_g6_firsthalf("g6calc_firsthalf", *nj, &(gv_g6_sinks){*ni, index, xi, vi, eps2, h2, 0});
}

int g6calc_lasthalf_(int *clusterid, int *nj, int *ni, int index[], double xi[][3], double vi[][3], double *eps2,
                     double h2[], double acc[][3], double jerk[][3], double pot[])
{
    (void)clusterid, (void)nj, (void)index, (void)xi, (void)vi, (void)eps2, (void)h2;
    return gv_g6_lasthalf("g6calc_lasthalf", *ni, &(gv_g6_results){acc, jerk, pot, NULL, NULL, 0});
}

int g6calc_lasthalf2_(int *clusterid, int *nj, int *ni, int index[], double xi[][3], double vi[][3], double *eps2,
                      double h2[], double acc[][3], double jerk[][3], double pot[], int nnbindex[])
{
    (void)clusterid, (void)nj, (void)index, (void)xi, (void)vi, (void)eps2, (void)h2;
    return gv_g6_lasthalf("g6calc_lasthalf2", *ni, &(gv_g6_results){acc, jerk, pot, nnbindex, NULL, 0});
}

int g6calc_lasthalf2p_(int *clusterid, int *nj, int *ni, int index[], double xi[][3], double vi[][3], double *eps2,
                       double h2[], double acc[][3], double jerk[][3], double pot[], int nnbindex[], float rnnb[])
{
    (void)clusterid, (void)nj, (void)index, (void)xi, (void)vi, (void)eps2, (void)h2;
    return gv_g6_lasthalf("g6calc_lasthalf2p", *ni, &(gv_g6_results){acc, jerk, pot, nnbindex, rnnb, 0});
}

int g6calc_lasthalfn_(int *clusterid, int *nj, int *ni, int index[], double xi[][3], double vi[][3], double *eps2,
                      double h2[], double acc[][3], double jerk[][3], double pot[])
{
    (void)clusterid, (void)nj, (void)index, (void)xi, (void)vi, (void)eps2, (void)h2;
    return gv_g6_lasthalf("g6calc_lasthalfn", *ni, &(gv_g6_results){acc, jerk, pot, NULL, NULL, 1});
}

int g6calc_lasthalf2n_(int *clusterid, int *nj, int *ni, int index[], double xi[][3], double vi[][3], double *eps2,
                       double h2[], double acc[][3], double jerk[][3], double pot[], int nnbindex[])
{
    (void)clusterid, (void)nj, (void)index, (void)xi, (void)vi, (void)eps2, (void)h2;
    return gv_g6_lasthalf("g6calc_lasthalf2n", *ni, &(gv_g6_results){acc, jerk, pot, nnbindex, NULL, 1});
}

int g6calc_lasthalf2np_(int *clusterid, int *nj, int *ni, int index[], double xi[][3], double vi[][3], double *eps2,
                        double h2[], double acc[][3], double jerk[][3], double pot[], int nnbindex[], float rnnb[])
{
    (void)clusterid, (void)nj, (void)index, (void)xi, (void)vi, (void)eps2, (void)h2;
    return gv_g6_lasthalf("g6calc_lasthalf2np", *ni, &(gv_g6_results){acc, jerk, pot, nnbindex, rnnb, 1});
}

/* -------------------------------------------------------------- neighbours */

int g6_read_neighbour_list_(int *clusterid)
{
    (void)clusterid;
    return gv_g6_read_lists("g6_read_neighbour_list");
}

int g6_get_neighbour_list_(int *clusterid, int *ipipe, int *maxlength, int *n, int list[])
{
    (void)clusterid;
    return gv_g6_get_list("g6_get_neighbour_list", *ipipe, *maxlength, n, list);
}

void g6_set_neighbour_list_sort_mode_(int *mode)
{
    gv_g6_set_sorted(*mode);
}

int g6_get_neighbour_list_sort_mode_(void)
{
    return gv_g6_get_sorted();
}

/* --------------------------------------------------- what needs doing no more */

int g6_set_tunit_(double *unit)
{
    (void)unit;
    return 0;
}

int g6_set_xunit_(double *unit)
{
    (void)unit;
    return 0;
}

int g6_initialize_jp_buffer_(int *clusterid, int *size)
{
    (void)clusterid, (void)size;
    return 0;
}

int g6_flush_jp_buffer_(int *clusterid)
{
    (void)clusterid;
    return 0;
}

int g6_flush_jp_buffer_and_multisend_(int *clusterid, int *n)
{
    (void)clusterid, (void)n;
    return 0;
}

int g6_set_overflow_flag_test_mode_(int *aflag, int *jflag, int *pflag)
{
    (void)aflag, (void)jflag, (void)pflag;
    return 0;
}

int g6_print_chip_status_(int *clusterid)
{
    (void)clusterid;
    return 0;
}

void g6_setup_njdata_(int *clusterid, int *n)
{
    (void)clusterid, (void)n;
}

void g6_debugfunc_(int *number)
{
    (void)number;
}

void g6_debugfunc_double_(double *number)
{
    (void)number;
}

void g6_dump_(double *time, int *n, double mass[], double x[][3], double v[][3])
{
    (void)time, (void)n, (void)mass, (void)x, (void)v;
}

/* ------------------------------------------------------ without a cluster id */

int g6_open_all_(void)
{
    return gv_g6_open("g6_open_all");
}

int g6_close_all_(void)
{
    return gv_g6_close();
}

int g6_reset_all_(void)
{
    return gv_g6_reset();
}

int g6_getnjmax_all_(void)
{
    return gv_g6_nj_max("g6_getnjmax_all");
}

int g6_set_j_particle_all_(int *address, int *index, double *tj, double *dtj, double *mass, double k18[3], double j6[3],
                           double a2[3], double v[3], double x[3])
{
    (void)dtj;
    return gv_g6_set_source("g6_set_j_particle_all", &(gv_g6_source){*address, *index, *tj, *mass, k18, j6, a2, v, x});
}

int g6_set_j_particle_mxonly_all_(int *address, int *index, double *mass, double x[3])
{
    return gv_g6_set_source("g6_set_j_particle_mxonly_all",
                            &(gv_g6_source){.address = *address, .index = *index, .mass = *mass, .x = x});
}

int g6_set_ti_all_(double *ti)
{
    return gv_g6_set_time("g6_set_ti_all", *ti);
}

void g6calc_firsthalf_all_(int *nj, int *ni, int index[], double xi[][3], double vi[][3], double aold[][3],
                           double j6old[][3], double phiold[], double *eps2, double h2[])
{
    (void)aold, (void)j6old, (void)phiold;
    gv_g6_firsthalf("g6calc_firsthalf_all", *nj, &(gv_g6_sinks){*ni, index, xi, vi, eps2, h2, 0});
}

int g6calc_lasthalf_all_(int *nj, int *ni, int index[], double xi[][3], double vi[][3], double *eps2, double h2[],
                         double acc[][3], double jerk[][3], double pot[])
{
    (void)nj, (void)index, (void)xi, (void)vi, (void)eps2, (void)h2;
    return gv_g6_lasthalf("g6calc_lasthalf_all", *ni, &(gv_g6_results){acc, jerk, pot, NULL, NULL, 0});
}

int g6calc_lasthalf2_all_(int *nj, int *ni, int index[], double xi[][3], double vi[][3], double *eps2, double h2[],
                          double acc[][3], double jerk[][3], double pot[], int nnbindex[])
{
    (void)nj, (void)index, (void)xi, (void)vi, (void)eps2, (void)h2;
    return gv_g6_lasthalf("g6calc_lasthalf2_all", *ni, &(gv_g6_results){acc, jerk, pot, nnbindex, NULL, 0});
}

int g6_read_neighbour_list_all_(void)
{
    return gv_g6_read_lists("g6_read_neighbour_list_all");
}

int g6_get_neighbour_list_all_(int *ipipe, int *maxlength, int *n, int list[])
{
    return gv_g6_get_list("g6_get_neighbour_list_all", *ipipe, *maxlength, n, list);
}

void g6_get_predicted_j_particles_all_(int *nj, double x[][3], double v[][3])
{
    gv_g6_get_predicted("g6_get_predicted_j_particles_all", *nj, x, v);
}

/* ------------------------------------------------------------ in single steps */

void g6calc_firsthalf0_(int *clusterid, int *nj, int *ni, int index[], double xi[][3], double vi[][3], double aold[][3],
                        double j6old[][3], double phiold[], double *eps2, double h2[], int *mode)
{
    (void)clusterid, (void)aold, (void)j6old, (void)phiold;
    gv_g6_firsthalf("g6calc_firsthalf0", *nj, &(gv_g6_sinks){*ni, index, xi, vi, eps2, h2, *mode != 0});
}

void g6calc_firsthalf0_all_(int *nj, int *ni, int index[], double xi[][3], double vi[][3], double aold[][3],
                            double j6old[][3], double phiold[], double *eps2, double h2[], int *mode)
{
    (void)aold, (void)j6old, (void)phiold;
    gv_g6_firsthalf("g6calc_firsthalf0_all", *nj, &(gv_g6_sinks){*ni, index, xi, vi, eps2, h2, *mode != 0});
}

int g6calc_lasthalf0_(int *clusterid, int *nj, int *ni, int index[], double xi[][3], double vi[][3], double *eps2,
                      double h2[], double acc[][3], double jerk[][3], double pot[], int *mode)
{
    (void)clusterid, (void)nj, (void)index, (void)xi, (void)vi, (void)eps2, (void)h2, (void)mode;
    return gv_g6_lasthalf("g6calc_lasthalf0", *ni, &(gv_g6_results){acc, jerk, pot, NULL, NULL, 0});
}

int g6calc_lasthalf0_all_(int *nj, int *ni, int index[], double xi[][3], double vi[][3], double *eps2, double h2[],
                          double acc[][3], double jerk[][3], double pot[], int *mode)
{
    (void)nj, (void)index, (void)xi, (void)vi, (void)eps2, (void)h2, (void)mode;
    return gv_g6_lasthalf("g6calc_lasthalf0_all", *ni, &(gv_g6_results){acc, jerk, pot, NULL, NULL, 0});
}

int g6_set_nip_(int *clusterid, int *nip)
{
    (void)clusterid;
    return gv_g6_set_sink_count("g6_set_nip", *nip);
}

int g6_set_nip_all_(int *nip)
{
    return gv_g6_set_sink_count("g6_set_nip_all", *nip);
}

int g6_set_i_particle_scales_from_real_value_(int *clusterid, int *address, double acc[3], double jerk[3], double *phi,
                                              double *jfactor, double *ffactor)
{
    (void)clusterid, (void)address, (void)acc, (void)jerk, (void)phi, (void)jfactor, (void)ffactor;
    return 0;
}

int g6_set_i_particle_scales_from_real_value_all_(int *address, double acc[3], double jerk[3], double *phi,
                                                  double *jfactor, double *ffactor)
{
    (void)address, (void)acc, (void)jerk, (void)phi, (void)jfactor, (void)ffactor;
    return 0;
}

int g6_set_i_particle_(int *clusterid, int *address, int *index, double x[3], double v[3], double *eps2, double *h2)
{
    (void)clusterid;
    return gv_g6_set_sink("g6_set_i_particle", *address, *index, x, v, *eps2, *h2);
}

int g6_set_i_particle_all_(int *address, int *index, double x[3], double v[3], double *eps2, double *h2)
{
    return gv_g6_set_sink("g6_set_i_particle_all", *address, *index, x, v, *eps2, *h2);
}

int g6_set_njp_(int *clusterid, int *njp)
{
    (void)clusterid;
    return gv_g6_start("g6_set_njp", *njp);
}

int g6_set_njp_all_(int *njp)
{
    return gv_g6_start("g6_set_njp_all", *njp);
}

int g6_get_force_(int *clusterid, double acc[][3], double jerk[][3], double phi[], int flag[])
{
    (void)clusterid;
    return gv_g6_get_forces("g6_get_force", &(gv_g6_results){acc, jerk, phi, NULL, NULL, 0}, flag);
}

int g6_get_force_all_(double acc[][3], double jerk[][3], double phi[], int flag[])
{
    return gv_g6_get_forces("g6_get_force_all", &(gv_g6_results){acc, jerk, phi, NULL, NULL, 0}, flag);
}

int g6_get_force_etc_(int *clusterid, double acc[][3], double jerk[][3], double phi[], int nnbindex[], int flag[])
{
    (void)clusterid;
    return gv_g6_get_forces("g6_get_force_etc", &(gv_g6_results){acc, jerk, phi, nnbindex, NULL, 0}, flag);
}

int g6_get_force_etc_all_(double acc[][3], double jerk[][3], double phi[], int nnbindex[], int flag[])
{
    return gv_g6_get_forces("g6_get_force_etc_all", &(gv_g6_results){acc, jerk, phi, nnbindex, NULL, 0}, flag);
}
