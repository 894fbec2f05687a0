/* What gravel model and gravel plot model share. */
#ifndef GV_CMD_MODEL_H
#define GV_CMD_MODEL_H

#include "cli/cli.h"
#include "model/model.h"

/* path NULL: the example */
gravel_status gv_model_read_machine(gv_machine *machine, const char *path);
gravel_status gv_model_read_points(gv_points *points, int n, char **path);

typedef struct gv_plot_model_options {
    const char *out;
    int figure, solver;
    gv_size_list n, ranks;
} gv_plot_model_options;
extern const gv_opt gv_plot_model_opts[];
int gv_plot_model(const void *values, const gv_operands *operands);

#endif
