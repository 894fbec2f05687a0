/* The names of Fortran: all arguments are pointers. */
#include "gravel/g5.h"
#include "compat/g5/g5.h"

int g5_open_(void)
{
    return gv_g5_open("g5_open", GV_G5_PLAIN);
}

int g5_open_special_(int *ndev, int *list)
{
    return gv_g5_open_special("g5_open_special", *ndev, list);
}

int g5_close_(void)
{
    return gv_g5_close("g5_close", GV_G5_PLAIN);
}

int g5_openMC_(int *devid)
{
    return gv_g5_open("g5_openMC", gv_g5_id(*devid));
}

int g5_closeMC_(int *devid)
{
    return gv_g5_close("g5_closeMC", gv_g5_id(*devid));
}

int g5_get_number_of_pipelines_(void)
{
    return gv_g5_pipes();
}

int g5_get_number_of_pipelinesMC_(int *devid)
{
    (void)devid;
    return gv_g5_pipes();
}

int g5_get_number_of_real_pipelines_(void)
{
    return gv_g5_pipes();
}

int g5_get_jmemsize_(void)
{
    return gv_g5_jmem();
}

int g5_get_jmemsizeMC_(int *devid)
{
    (void)devid;
    return gv_g5_jmem();
}

double g5_get_pcibus_freq_(void)
{
    return 0;
}

int g5_set_range_(double *xmin, double *xmax, double *mmin)
{
    (void)xmin, (void)xmax, (void)mmin;
    return 0;
}

int g5_set_rangeMC_(int *devid, double *xmin, double *xmax, double *mmin)
{
    (void)devid, (void)xmin, (void)xmax, (void)mmin;
    return 0;
}

int g5_set_eps_to_all_(double *eps)
{
    return gv_g5_set_eps("g5_set_eps_to_all", *eps * *eps);
}

int g5_set_eps2_to_all_(double *eps2)
{
    return gv_g5_set_eps("g5_set_eps2_to_all", *eps2);
}

int g5_set_eps_to_allMC_(int *devid, double *eps)
{
    (void)devid;
    return gv_g5_set_eps("g5_set_eps_to_allMC", *eps * *eps);
}

int g5_set_eps2_to_allMC_(int *devid, double *eps2)
{
    (void)devid;
    return gv_g5_set_eps("g5_set_eps2_to_allMC", *eps2);
}

int g5_set_eps_(int *ni, double eps[])
{
    return gv_g5_set_sinks("g5_set_eps", GV_G5_PLAIN, *ni, NULL, NULL, eps);
}

int g5_set_epsMC_(int *devid, int *ni, double eps[])
{
    return gv_g5_set_sinks("g5_set_epsMC", gv_g5_id(*devid), *ni, NULL, NULL, eps);
}

int g5_set_n_(int *nj)
{
    return gv_g5_set_n("g5_set_n", GV_G5_PLAIN, 0, *nj);
}

int g5_set_nMC_(int *devid, int *nj)
{
    return gv_g5_set_n("g5_set_nMC", gv_g5_id(*devid), 0, *nj);
}

int g5_set_xmj_(int *adr, int *nj, double xj[][3], double mj[])
{
    return gv_g5_set_sources("g5_set_xmj", GV_G5_PLAIN, GV_G5_BODIES, *adr, *nj, (gv_g5_sources){.x = xj, .m = mj});
}

int g5_set_xmjMC_(int *devid, int *adr, int *nj, double xj[][3], double mj[])
{
    return gv_g5_set_sources("g5_set_xmjMC", gv_g5_id(*devid), GV_G5_BODIES, *adr, *nj,
                             (gv_g5_sources){.x = xj, .m = mj});
}

int g5_set_jp_(int *adr, int *nj, double mj[], double xj[][3])
{
    return gv_g5_set_sources("g5_set_jp", GV_G5_PLAIN, GV_G5_BODIES, *adr, *nj, (gv_g5_sources){.x = xj, .m = mj});
}

int g5_set_jpMC_(int *devid, int *adr, int *nj, double mj[], double xj[][3])
{
    return gv_g5_set_sources("g5_set_jpMC", gv_g5_id(*devid), GV_G5_BODIES, *adr, *nj,
                             (gv_g5_sources){.x = xj, .m = mj});
}

int g5_set_xj_(int *adr, int *nj, double xj[][3])
{
    return gv_g5_set_sources("g5_set_xj", GV_G5_PLAIN, GV_G5_BODIES, *adr, *nj, (gv_g5_sources){.x = xj});
}

int g5_set_xjMC_(int *devid, int *adr, int *nj, double xj[][3])
{
    return gv_g5_set_sources("g5_set_xjMC", gv_g5_id(*devid), GV_G5_BODIES, *adr, *nj, (gv_g5_sources){.x = xj});
}

int g5_set_mj_(int *adr, int *nj, double mj[])
{
    return gv_g5_set_sources("g5_set_mj", GV_G5_PLAIN, GV_G5_BODIES, *adr, *nj, (gv_g5_sources){.m = mj});
}

int g5_set_mjMC_(int *devid, int *adr, int *nj, double mj[])
{
    return gv_g5_set_sources("g5_set_mjMC", gv_g5_id(*devid), GV_G5_BODIES, *adr, *nj, (gv_g5_sources){.m = mj});
}

int g5_set_xi_(int *ni, double xi[][3])
{
    return gv_g5_set_sinks("g5_set_xi", GV_G5_PLAIN, *ni, xi, NULL, NULL);
}

int g5_set_xiMC_(int *devid, int *ni, double xi[][3])
{
    return gv_g5_set_sinks("g5_set_xiMC", gv_g5_id(*devid), *ni, xi, NULL, NULL);
}

int g5_set_xei_(int *ni, double xi[][3], double eps2[])
{
    return gv_g5_set_sinks("g5_set_xei", GV_G5_PLAIN, *ni, xi, eps2, NULL);
}

int g5_set_xeiMC_(int *devid, int *ni, double xi[][3], double eps2[])
{
    return gv_g5_set_sinks("g5_set_xeiMC", gv_g5_id(*devid), *ni, xi, eps2, NULL);
}

int g5_set_ip_(int *ni, double xi[][3], double eps[], double h[])
{
    (void)h;
    return gv_g5_set_sinks("g5_set_ip", GV_G5_PLAIN, *ni, xi, NULL, eps);
}

int g5_run_(void)
{
    return gv_g5_run("g5_run", GV_G5_PLAIN, GV_G5_BODIES);
}

int g5_runMC_(int *devid)
{
    return gv_g5_run("g5_runMC", gv_g5_id(*devid), GV_G5_BODIES);
}

int g5_get_force_(int *ni, double a[][3], double p[])
{
    return gv_g5_get("g5_get_force", GV_G5_PLAIN, *ni, a, p);
}

int g5_get_forceMC_(int *devid, int *ni, double a[][3], double p[])
{
    return gv_g5_get("g5_get_forceMC", gv_g5_id(*devid), *ni, a, p);
}

int g5_calculate_force_on_x_(double xi[][3], double a[][3], double p[], int *ni)
{
    return gv_g5_force_on("g5_calculate_force_on_x", GV_G5_PLAIN, GV_G5_BODIES, xi, NULL, a, p, *ni);
}

int g5_calculate_force_on_xMC_(int *devid, double xi[][3], double a[][3], double p[], int *ni)
{
    return gv_g5_force_on("g5_calculate_force_on_xMC", gv_g5_id(*devid), GV_G5_BODIES, xi, NULL, a, p, *ni);
}

int g5_calculate_force_on_xe_(double xi[][3], double eps2[], double a[][3], double p[], int *ni)
{
    return gv_g5_force_on("g5_calculate_force_on_xe", GV_G5_PLAIN, GV_G5_BODIES, xi, eps2, a, p, *ni);
}

int g5_calculate_force_on_xeMC_(int *devid, double xi[][3], double eps2[], double a[][3], double p[], int *ni)
{
    return gv_g5_force_on("g5_calculate_force_on_xeMC", gv_g5_id(*devid), GV_G5_BODIES, xi, eps2, a, p, *ni);
}

int g5_set_xmj0_(int *adr, int *nj, double xj[][3], double mj[], double epsj2[])
{
    return gv_g5_set_sources("g5_set_xmj0", GV_G5_PLAIN, GV_G5_SYMMETRIC, *adr, *nj,
                             (gv_g5_sources){.x = xj, .m = mj, .eps2 = epsj2});
}

int g5_set_xmjMC0_(int *devid, int *adr, int *nj, double xj[][3], double mj[], double epsj2[])
{
    return gv_g5_set_sources("g5_set_xmjMC0", gv_g5_id(*devid), GV_G5_SYMMETRIC, *adr, *nj,
                             (gv_g5_sources){.x = xj, .m = mj, .eps2 = epsj2});
}

int g5_set_xiMC0_(int *devid, int *ni, double xi[][3], double eps2[])
{
    return gv_g5_set_sinks("g5_set_xiMC0", gv_g5_id(*devid), *ni, xi, eps2, NULL);
}

int g5_runMC0_(int *devid)
{
    return gv_g5_run("g5_runMC0", gv_g5_id(*devid), GV_G5_SYMMETRIC);
}

int g5_calculate_force_on_x0_(double xi[][3], double a[][3], double p[], int *ni, double eps2[])
{
    return gv_g5_force_on("g5_calculate_force_on_x0", GV_G5_PLAIN, GV_G5_SYMMETRIC, xi, eps2, a, p, *ni);
}

int g5_calculate_force_on_xMC0_(int *devid, double xi[][3], double a[][3], double p[], int *ni, double eps2[])
{
    return gv_g5_force_on("g5_calculate_force_on_xMC0", gv_g5_id(*devid), GV_G5_SYMMETRIC, xi, eps2, a, p, *ni);
}

int g5_set_cutoff_table_(double (*ffunc)(double *), double *fcut, double *fcor, double (*pfunc)(double *), double *pcut,
                         double *pcor)
{
    return gv_g5_cut_off("g5_set_cutoff_table", &(gv_g5_table){.force_fortran = ffunc,
                                                               .force_end = *fcut,
                                                               .force_factor = *fcor,
                                                               .potential_fortran = pfunc,
                                                               .potential_end = *pcut,
                                                               .potential_factor = *pcor});
}

int g5_set_cutoff_tableMC_(int *devid, double (*ffunc)(double *), double *fcut, double *fcor, double (*pfunc)(double *),
                           double *pcut, double *pcor)
{
    (void)devid;
    return gv_g5_cut_off("g5_set_cutoff_tableMC", &(gv_g5_table){.force_fortran = ffunc,
                                                                 .force_end = *fcut,
                                                                 .force_factor = *fcor,
                                                                 .potential_fortran = pfunc,
                                                                 .potential_end = *pcut,
                                                                 .potential_factor = *pcor});
}

int g5_set_eta_(double *eta)
{
    return gv_g5_set_length("g5_set_eta", *eta);
}

int g5_set_etaMC_(int *devid, double *eta)
{
    (void)devid;
    return gv_g5_set_length("g5_set_etaMC", *eta);
}

int pg5_gen_force_table_(double (*force)(double *), double *rcut)
{
    return gv_g5_forces("pg5_gen_force_table", &(gv_g5_table){.force_fortran = force, .force_end = *rcut});
}

int pg5_gen_s2_force_table_(double *sft_for_PP, double *sft_for_PM)
{
    return gv_g5_forces("pg5_gen_s2_force_table", &(gv_g5_table){.soft = *sft_for_PP, .mesh = *sft_for_PM});
}

int pg5_set_xscale_(double *xscale)
{
    (void)xscale;
    return 0;
}

int pg5_set_plummer_table_(void)
{
    return gv_g5_no_table();
}

int g5c_set_nMC_(int *devid, int *nj)
{
    return gv_g5_set_n("g5c_set_nMC", gv_g5_id(*devid), 1, *nj);
}

int g5c_set_xmjMC_(int *devid, int *adr, int *nj, double xj[][3], double mj[], double qj[][6])
{
    return gv_g5_set_sources("g5c_set_xmjMC", gv_g5_id(*devid), GV_G5_CELLS, *adr, *nj,
                             (gv_g5_sources){.x = xj, .m = mj, .q = qj});
}

int g5c_set_xmjMC0_(int *devid, int *adr, int *nj, double xj[][3], double mj[], double qj[][6])
{
    return gv_g5_set_sources("g5c_set_xmjMC0", gv_g5_id(*devid), GV_G5_CELLS, *adr, *nj,
                             (gv_g5_sources){.x = xj, .m = mj, .q = qj});
}

int g5c_runMC_(int *devid)
{
    return gv_g5_run("g5c_runMC", gv_g5_id(*devid), GV_G5_CELLS);
}

int g5c_runMC0_(int *devid)
{
    return gv_g5_run("g5c_runMC0", gv_g5_id(*devid), GV_G5_CELLS);
}

int g5c_calculate_force_on_xMC_(int *devid, double xi[][3], double a[][3], double p[], int *ni)
{
    return gv_g5_force_on("g5c_calculate_force_on_xMC", gv_g5_id(*devid), GV_G5_CELLS, xi, NULL, a, p, *ni);
}

int g5c_calculate_force_on_xMC0_(int *devid, double xi[][3], double a[][3], double p[], int *ni)
{
    return gv_g5_force_on("g5c_calculate_force_on_xMC0", gv_g5_id(*devid), GV_G5_CELLS, xi, NULL, a, p, *ni);
}

/* The same objects under names in lower case. */
#define GV_LOWER(lower, name, arguments) int lower arguments __attribute__((alias(#name)));
GV_LOWER(g5_openmc_, g5_openMC_, (int *devid))
GV_LOWER(g5_closemc_, g5_closeMC_, (int *devid))
GV_LOWER(g5_get_number_of_pipelinesmc_, g5_get_number_of_pipelinesMC_, (int *devid))
GV_LOWER(g5_get_jmemsizemc_, g5_get_jmemsizeMC_, (int *devid))
GV_LOWER(g5_set_rangemc_, g5_set_rangeMC_, (int *devid, double *xmin, double *xmax, double *mmin))
GV_LOWER(g5_set_eps_to_allmc_, g5_set_eps_to_allMC_, (int *devid, double *eps))
GV_LOWER(g5_set_eps2_to_allmc_, g5_set_eps2_to_allMC_, (int *devid, double *eps2))
GV_LOWER(g5_set_epsmc_, g5_set_epsMC_, (int *devid, int *ni, double eps[]))
GV_LOWER(g5_set_nmc_, g5_set_nMC_, (int *devid, int *nj))
GV_LOWER(g5_set_xmjmc_, g5_set_xmjMC_, (int *devid, int *adr, int *nj, double xj[][3], double mj[]))
GV_LOWER(g5_set_jpmc_, g5_set_jpMC_, (int *devid, int *adr, int *nj, double mj[], double xj[][3]))
GV_LOWER(g5_set_xjmc_, g5_set_xjMC_, (int *devid, int *adr, int *nj, double xj[][3]))
GV_LOWER(g5_set_mjmc_, g5_set_mjMC_, (int *devid, int *adr, int *nj, double mj[]))
GV_LOWER(g5_set_ximc_, g5_set_xiMC_, (int *devid, int *ni, double xi[][3]))
GV_LOWER(g5_set_xeimc_, g5_set_xeiMC_, (int *devid, int *ni, double xi[][3], double eps2[]))
GV_LOWER(g5_runmc_, g5_runMC_, (int *devid))
GV_LOWER(g5_get_forcemc_, g5_get_forceMC_, (int *devid, int *ni, double a[][3], double p[]))
GV_LOWER(g5_calculate_force_on_xmc_, g5_calculate_force_on_xMC_,
         (int *devid, double xi[][3], double a[][3], double p[], int *ni))
GV_LOWER(g5_calculate_force_on_xemc_, g5_calculate_force_on_xeMC_,
         (int *devid, double xi[][3], double eps2[], double a[][3], double p[], int *ni))
GV_LOWER(g5_set_xmjmc0_, g5_set_xmjMC0_, (int *devid, int *adr, int *nj, double xj[][3], double mj[], double epsj2[]))
GV_LOWER(g5_set_ximc0_, g5_set_xiMC0_, (int *devid, int *ni, double xi[][3], double eps2[]))
GV_LOWER(g5_runmc0_, g5_runMC0_, (int *devid))
GV_LOWER(g5_calculate_force_on_xmc0_, g5_calculate_force_on_xMC0_,
         (int *devid, double xi[][3], double a[][3], double p[], int *ni, double eps2[]))
GV_LOWER(g5_set_cutoff_tablemc_, g5_set_cutoff_tableMC_,
         (int *devid, double (*ffunc)(double *), double *fcut, double *fcor, double (*pfunc)(double *), double *pcut,
          double *pcor))
GV_LOWER(g5_set_etamc_, g5_set_etaMC_, (int *devid, double *eta))
GV_LOWER(g5c_set_nmc_, g5c_set_nMC_, (int *devid, int *nj))
GV_LOWER(g5c_set_xmjmc_, g5c_set_xmjMC_, (int *devid, int *adr, int *nj, double xj[][3], double mj[], double qj[][6]))
GV_LOWER(g5c_set_xmjmc0_, g5c_set_xmjMC0_, (int *devid, int *adr, int *nj, double xj[][3], double mj[], double qj[][6]))
GV_LOWER(g5c_runmc_, g5c_runMC_, (int *devid))
GV_LOWER(g5c_runmc0_, g5c_runMC0_, (int *devid))
GV_LOWER(g5c_calculate_force_on_xmc_, g5c_calculate_force_on_xMC_,
         (int *devid, double xi[][3], double a[][3], double p[], int *ni))
GV_LOWER(g5c_calculate_force_on_xmc0_, g5c_calculate_force_on_xMC0_,
         (int *devid, double xi[][3], double a[][3], double p[], int *ni))
