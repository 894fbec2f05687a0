/* Mass per area of a projection, on a square of pixels.  Each body is shared between the four pixels nearest to it
 * (cloud in cell), or spread over a disk with weights (1 - (d / reach)^2)^2: with reaches that follow the distances
 * between bodies a few thousand of them give a smooth picture. */
#ifndef GV_DENSITY_MAP_H
#define GV_DENSITY_MAP_H

#include "sim/particles.h"

enum { GV_MAP_MOST_PIXELS = 4096 };

typedef struct gv_density_map {
    int pixels;   /* along each side */
    double side;  /* length */
    float *value; /* [pixels][pixels], rows from below; row by row, the first axis running */
    double most;  /* the largest value */
} gv_density_map;

/* axis[0] to the right, axis[1] upwards (0 x, 1 y, 2 z); `centre` has three coordinates.  `reach`: of each body, or
 * NULL.  What falls outside is left out. */
gravel_status gv_density_map_make(gv_density_map *map, const gv_particles *particles, const double *reach,
                                  const int axis[2], const double centre[3], double side, int pixels);
void gv_density_map_free(gv_density_map *map);

#endif
