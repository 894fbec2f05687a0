/* What the host and the kernels of tasks share, as plain defines. */
#ifndef GV_TASKS_LAYOUT_H
#define GV_TASKS_LAYOUT_H

/* Results of a body: accelerations and potential; in ds their low words behind them */
#define GV_TASKS_VECTORS(ds) ((ds) ? 2 : 1)
/* Sources whose sums go into a wide sum together where they are read one by one */
#define GV_TASKS_FLUSH 64

/* A cell: {centre, mass}, {xx, xy, xz, yy}, {yz, zz, 0, 0} of its quadrupole, low words of the centre */
#define GV_TASKS_CELL 4

#endif
