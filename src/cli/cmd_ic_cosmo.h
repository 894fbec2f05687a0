/* gravel ic cosmo, gravel ic pancake: their options, for the table of models in cmd_ic_options.c. */
#ifndef GV_CMD_IC_COSMO_H
#define GV_CMD_IC_COSMO_H

#include "cli/options.h"
#include "sim/cosmo_ic.h"

typedef struct gv_ic_cosmo_command {
    int grid;
    uint64_t seed;
    const char *out, *table;
    double box, redshift, crossing;
    double h, omega_m, omega_l, omega_b, n_s, sigma_8;
    int transfer, order, fixed, paired;
} gv_ic_cosmo_command;

extern const gv_opt gv_ic_cosmo_opts[], gv_ic_pancake_opts[];
int gv_ic_run_cosmo(const void *values, const gv_operands *operands);
int gv_ic_run_pancake(const void *values, const gv_operands *operands);

#endif
