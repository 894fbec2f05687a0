/* Between the options of `gravel ic` (cmd_ic_options.c) and what they do (cmd_ic.c). */
#ifndef GV_CMD_IC_H
#define GV_CMD_IC_H

#include "cli/options.h"

typedef struct gv_ic_command {
    size_t n;
    uint64_t seed;
    const char *out;
    int units;
    double unit_mass, unit_length; /* below 0: not given */
    int masses;
    double mass_low, mass_high; /* below 0: not given */
    double black_hole;
    double cut, w0, virial_ratio;
    double disk_height, disk_q, bulge_mass, halo_mass;
    double mass_ratio, eccentricity, pericentre, separation, inclination[2], argument[2], semi_major_axis;
} gv_ic_command;

int gv_ic_run_plummer(const void *values, const gv_operands *operands);
int gv_ic_run_king(const void *values, const gv_operands *operands);
int gv_ic_run_hernquist(const void *values, const gv_operands *operands);
int gv_ic_run_uniform(const void *values, const gv_operands *operands);
int gv_ic_run_galaxy(const void *values, const gv_operands *operands);
int gv_ic_run_merger(const void *values, const gv_operands *operands);
int gv_ic_run_twobody(const void *values, const gv_operands *operands);
int gv_ic_run_figure8(const void *values, const gv_operands *operands);

#endif
