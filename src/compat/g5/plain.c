/* The names of C: scalars by value. */
#include "gravel/g5.h"
#include "compat/g5/g5.h"

int g5_open(void)
{
    return gv_g5_open("g5_open", GV_G5_PLAIN);
}

int g5_open_special(int ndev, int *list)
{
    return gv_g5_open_special("g5_open_special", ndev, list);
}

int g5_close(void)
{
    return gv_g5_close("g5_close", GV_G5_PLAIN);
}

int g5_openMC(int devid)
{
    return gv_g5_open("g5_openMC", gv_g5_id(devid));
}

int g5_closeMC(int devid)
{
    return gv_g5_close("g5_closeMC", gv_g5_id(devid));
}

int g5_get_number_of_pipelines(void)
{
    return gv_g5_pipes();
}

int g5_get_number_of_pipelinesMC(int devid)
{
    (void)devid;
    return gv_g5_pipes();
}

int g5_get_number_of_real_pipelines(void)
{
    return gv_g5_pipes();
}

int g5_get_jmemsize(void)
{
    return gv_g5_jmem();
}

int g5_get_jmemsizeMC(int devid)
{
    (void)devid;
    return gv_g5_jmem();
}

double g5_get_pcibus_freq(void)
{
    return 0;
}

int g5_set_range(double xmin, double xmax, double mmin)
{
    (void)xmin, (void)xmax, (void)mmin;
    return 0;
}

int g5_set_rangeMC(int devid, double xmin, double xmax, double mmin)
{
    (void)devid, (void)xmin, (void)xmax, (void)mmin;
    return 0;
}

int g5_set_eps_to_all(double eps)
{
    return gv_g5_set_eps("g5_set_eps_to_all", eps * eps);
}

int g5_set_eps2_to_all(double eps2)
{
    return gv_g5_set_eps("g5_set_eps2_to_all", eps2);
}

int g5_set_eps_to_allMC(int devid, double eps)
{
    (void)devid;
    return gv_g5_set_eps("g5_set_eps_to_allMC", eps * eps);
}

int g5_set_eps2_to_allMC(int devid, double eps2)
{
    (void)devid;
    return gv_g5_set_eps("g5_set_eps2_to_allMC", eps2);
}

int g5_set_eps(int ni, double eps[])
{
    return gv_g5_set_sinks("g5_set_eps", GV_G5_PLAIN, ni, NULL, NULL, eps);
}

int g5_set_epsMC(int devid, int ni, double eps[])
{
    return gv_g5_set_sinks("g5_set_epsMC", gv_g5_id(devid), ni, NULL, NULL, eps);
}

int g5_set_n(int nj)
{
    return gv_g5_set_n("g5_set_n", GV_G5_PLAIN, 0, nj);
}

int g5_set_nMC(int devid, int nj)
{
    return gv_g5_set_n("g5_set_nMC", gv_g5_id(devid), 0, nj);
}

int g5_set_xmj(int adr, int nj, double xj[][3], double mj[])
{
    return gv_g5_set_sources("g5_set_xmj", GV_G5_PLAIN, GV_G5_BODIES, adr, nj, (gv_g5_sources){.x = xj, .m = mj});
}

int g5_set_xmjMC(int devid, int adr, int nj, double xj[][3], double mj[])
{
    return gv_g5_set_sources("g5_set_xmjMC", gv_g5_id(devid), GV_G5_BODIES, adr, nj, (gv_g5_sources){.x = xj, .m = mj});
}

int g5_set_jp(int adr, int nj, double mj[], double xj[][3])
{
    return gv_g5_set_sources("g5_set_jp", GV_G5_PLAIN, GV_G5_BODIES, adr, nj, (gv_g5_sources){.x = xj, .m = mj});
}

int g5_set_jpMC(int devid, int adr, int nj, double mj[], double xj[][3])
{
    return gv_g5_set_sources("g5_set_jpMC", gv_g5_id(devid), GV_G5_BODIES, adr, nj, (gv_g5_sources){.x = xj, .m = mj});
}

int g5_set_xj(int adr, int nj, double xj[][3])
{
    return gv_g5_set_sources("g5_set_xj", GV_G5_PLAIN, GV_G5_BODIES, adr, nj, (gv_g5_sources){.x = xj});
}

int g5_set_xjMC(int devid, int adr, int nj, double xj[][3])
{
    return gv_g5_set_sources("g5_set_xjMC", gv_g5_id(devid), GV_G5_BODIES, adr, nj, (gv_g5_sources){.x = xj});
}

int g5_set_mj(int adr, int nj, double mj[])
{
    return gv_g5_set_sources("g5_set_mj", GV_G5_PLAIN, GV_G5_BODIES, adr, nj, (gv_g5_sources){.m = mj});
}

int g5_set_mjMC(int devid, int adr, int nj, double mj[])
{
    return gv_g5_set_sources("g5_set_mjMC", gv_g5_id(devid), GV_G5_BODIES, adr, nj, (gv_g5_sources){.m = mj});
}

int g5_set_xi(int ni, double xi[][3])
{
    return gv_g5_set_sinks("g5_set_xi", GV_G5_PLAIN, ni, xi, NULL, NULL);
}

int g5_set_xiMC(int devid, int ni, double xi[][3])
{
    return gv_g5_set_sinks("g5_set_xiMC", gv_g5_id(devid), ni, xi, NULL, NULL);
}

int g5_set_xei(int ni, double xi[][3], double eps2[])
{
    return gv_g5_set_sinks("g5_set_xei", GV_G5_PLAIN, ni, xi, eps2, NULL);
}

int g5_set_xeiMC(int devid, int ni, double xi[][3], double eps2[])
{
    return gv_g5_set_sinks("g5_set_xeiMC", gv_g5_id(devid), ni, xi, eps2, NULL);
}

int g5_set_ip(int ni, double xi[][3], double eps[], double h[])
{
    (void)h;
    return gv_g5_set_sinks("g5_set_ip", GV_G5_PLAIN, ni, xi, NULL, eps);
}

int g5_run(void)
{
    return gv_g5_run("g5_run", GV_G5_PLAIN, GV_G5_BODIES);
}

int g5_runMC(int devid)
{
    return gv_g5_run("g5_runMC", gv_g5_id(devid), GV_G5_BODIES);
}

int g5_get_force(int ni, double a[][3], double p[])
{
    return gv_g5_get("g5_get_force", GV_G5_PLAIN, ni, a, p);
}

int g5_get_forceMC(int devid, int ni, double a[][3], double p[])
{
    return gv_g5_get("g5_get_forceMC", gv_g5_id(devid), ni, a, p);
}

int g5_calculate_force_on_x(double xi[][3], double a[][3], double p[], int ni)
{
    return gv_g5_force_on("g5_calculate_force_on_x", GV_G5_PLAIN, GV_G5_BODIES, xi, NULL, a, p, ni);
}

int g5_calculate_force_on_xMC(int devid, double xi[][3], double a[][3], double p[], int ni)
{
    return gv_g5_force_on("g5_calculate_force_on_xMC", gv_g5_id(devid), GV_G5_BODIES, xi, NULL, a, p, ni);
}

int g5_calculate_force_on_xe(double xi[][3], double eps2[], double a[][3], double p[], int ni)
{
    return gv_g5_force_on("g5_calculate_force_on_xe", GV_G5_PLAIN, GV_G5_BODIES, xi, eps2, a, p, ni);
}

int g5_calculate_force_on_xeMC(int devid, double xi[][3], double eps2[], double a[][3], double p[], int ni)
{
    return gv_g5_force_on("g5_calculate_force_on_xeMC", gv_g5_id(devid), GV_G5_BODIES, xi, eps2, a, p, ni);
}

int g5_set_xmj0(int adr, int nj, double xj[][3], double mj[], double epsj2[])
{
    return gv_g5_set_sources("g5_set_xmj0", GV_G5_PLAIN, GV_G5_SYMMETRIC, adr, nj,
                             (gv_g5_sources){.x = xj, .m = mj, .eps2 = epsj2});
}

int g5_set_xmjMC0(int devid, int adr, int nj, double xj[][3], double mj[], double epsj2[])
{
    return gv_g5_set_sources("g5_set_xmjMC0", gv_g5_id(devid), GV_G5_SYMMETRIC, adr, nj,
                             (gv_g5_sources){.x = xj, .m = mj, .eps2 = epsj2});
}

int g5_set_xiMC0(int devid, int ni, double xi[][3], double eps2[])
{
    return gv_g5_set_sinks("g5_set_xiMC0", gv_g5_id(devid), ni, xi, eps2, NULL);
}

int g5_runMC0(int devid)
{
    return gv_g5_run("g5_runMC0", gv_g5_id(devid), GV_G5_SYMMETRIC);
}

int g5_calculate_force_on_x0(double xi[][3], double a[][3], double p[], int ni, double eps2[])
{
    return gv_g5_force_on("g5_calculate_force_on_x0", GV_G5_PLAIN, GV_G5_SYMMETRIC, xi, eps2, a, p, ni);
}

int g5_calculate_force_on_xMC0(int devid, double xi[][3], double a[][3], double p[], int ni, double eps2[])
{
    return gv_g5_force_on("g5_calculate_force_on_xMC0", gv_g5_id(devid), GV_G5_SYMMETRIC, xi, eps2, a, p, ni);
}

int g5_set_cutoff_table(double (*ffunc)(double), double fcut, double fcor, double (*pfunc)(double), double pcut,
                        double pcor)
{
    return gv_g5_cut_off("g5_set_cutoff_table", &(gv_g5_table){.force = ffunc,
                                                               .force_end = fcut,
                                                               .force_factor = fcor,
                                                               .potential = pfunc,
                                                               .potential_end = pcut,
                                                               .potential_factor = pcor});
}

int g5_set_cutoff_tableMC(int devid, double (*ffunc)(double), double fcut, double fcor, double (*pfunc)(double),
                          double pcut, double pcor)
{
    (void)devid;
    return gv_g5_cut_off("g5_set_cutoff_tableMC", &(gv_g5_table){.force = ffunc,
                                                                 .force_end = fcut,
                                                                 .force_factor = fcor,
                                                                 .potential = pfunc,
                                                                 .potential_end = pcut,
                                                                 .potential_factor = pcor});
}

int g5_set_eta(double eta)
{
    return gv_g5_set_length("g5_set_eta", eta);
}

int g5_set_etaMC(int devid, double eta)
{
    (void)devid;
    return gv_g5_set_length("g5_set_etaMC", eta);
}

int pg5_gen_force_table(double (*force)(double r), double rcut)
{
    return gv_g5_forces("pg5_gen_force_table", &(gv_g5_table){.force = force, .force_end = rcut});
}

int pg5_gen_s2_force_table(double sft_for_PP, double sft_for_PM)
{
    return gv_g5_forces("pg5_gen_s2_force_table", &(gv_g5_table){.soft = sft_for_PP, .mesh = sft_for_PM});
}

int pg5_set_xscale(double xscale)
{
    (void)xscale;
    return 0;
}

int pg5_set_plummer_table(void)
{
    return gv_g5_no_table();
}

int g5c_set_nMC(int devid, int nj)
{
    return gv_g5_set_n("g5c_set_nMC", gv_g5_id(devid), 1, nj);
}

int g5c_set_xmjMC(int devid, int adr, int nj, double xj[][3], double mj[], double qj[][6])
{
    return gv_g5_set_sources("g5c_set_xmjMC", gv_g5_id(devid), GV_G5_CELLS, adr, nj,
                             (gv_g5_sources){.x = xj, .m = mj, .q = qj});
}

int g5c_set_xmjMC0(int devid, int adr, int nj, double xj[][3], double mj[], double qj[][6])
{
    return gv_g5_set_sources("g5c_set_xmjMC0", gv_g5_id(devid), GV_G5_CELLS, adr, nj,
                             (gv_g5_sources){.x = xj, .m = mj, .q = qj});
}

int g5c_runMC(int devid)
{
    return gv_g5_run("g5c_runMC", gv_g5_id(devid), GV_G5_CELLS);
}

int g5c_runMC0(int devid)
{
    return gv_g5_run("g5c_runMC0", gv_g5_id(devid), GV_G5_CELLS);
}

int g5c_calculate_force_on_xMC(int devid, double xi[][3], double a[][3], double p[], int ni)
{
    return gv_g5_force_on("g5c_calculate_force_on_xMC", gv_g5_id(devid), GV_G5_CELLS, xi, NULL, a, p, ni);
}

int g5c_calculate_force_on_xMC0(int devid, double xi[][3], double a[][3], double p[], int ni)
{
    return gv_g5_force_on("g5c_calculate_force_on_xMC0", gv_g5_id(devid), GV_G5_CELLS, xi, NULL, a, p, ni);
}
