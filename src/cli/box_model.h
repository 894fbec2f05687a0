/* Bodies in a periodic box for benchmarks: like those of a cosmological run early and late, without running one. */
#ifndef GV_BOX_MODEL_H
#define GV_BOX_MODEL_H

#include "sim/particles.h"

enum { GV_BOX_GRID, GV_BOX_CLUMPS, GV_BOX_RANDOM };

typedef struct gv_box_model {
    int kind;
    int across;   /* n^3 bodies */
    double side;  /* L */
    double moved; /* root mean square displacement from the grid, in its spacings */
    uint64_t seed;
} gv_box_model;

/* grid:    a grid, displaced by some 50 plane waves, from the box to twice the spacing, whose sizes follow the spectrum
 *          k / (1 + (k / 0.015)^2)^1.4 of a box of 100 (large waves dominate)
 * clumps:  the same, but half of the bodies are in clumps of 20 to N / 50, as many of each size as m^-1.9 gives, 200
 *          times as dense as the mean, with the density r^-2, at places of the displaced grid
 * random:  uniform
 * Masses are 1 / N. */
gravel_status gv_box_make(const gv_box_model *model, gv_particles *out);

#endif
