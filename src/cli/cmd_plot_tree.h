/* gravel plot tree: figures of what `gravel bench tree` measured. */
#ifndef GV_CMD_PLOT_TREE_H
#define GV_CMD_PLOT_TREE_H

#include "cli/cli.h"

typedef struct gv_plot_tree_options {
    const char *out;
    int kind;
} gv_plot_tree_options;

extern const gv_opt gv_plot_tree_opts[];
int gv_plot_tree(const void *values, const gv_operands *operands);

#endif
