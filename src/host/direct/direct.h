/* What the tuner, the benchmarks and the tests use of gravel_direct beside its public functions. */
#ifndef GV_DIRECT_H
#define GV_DIRECT_H

#include "gravel/direct.h"

/* Compiles the force kernel of the options and the named configuration. */
gravel_status gv_direct_build(gravel_direct *d);
/* Runs the kernels of the last call again, `runs` times in a row (host/program/row.h): mean seconds of one run.
 * ERR_STATE while the call of gravel_direct_submit is not collected, or where there was none. */
gravel_status gv_direct_row(gravel_direct *d, int runs, double *seconds);

#endif
