/* Pairs on the host, in double, by loops of eight lanes: the same bits on every processor. */
#ifndef GV_SUM_H
#define GV_SUM_H

#include <stddef.h>
#include <stdint.h>

enum { GV_LANES_OF_SUM = 8, GV_SUM_COMPONENTS = 10 };

/* Sources in columns of whole multiples of eight entries, aligned to 64 bytes. */
typedef struct gv_sum_sources {
    size_t count;
    const double *mass, *id, *x, *y, *z;
    const double *vx, *vy, *vz, *ax, *ay, *az; /* order 4; 6 */
    const double *eps2;                        /* NULL: only the sinks' counts */
} gv_sum_sources;

/* A sink; its eps2 is added to that of the sources, or (`larger`) the larger one counts. */
typedef struct gv_sum_sink {
    double x, y, z, vx, vy, vz, ax, ay, az;
    double id; /* NaN: is no source */
    double eps2;
    int larger;
    double too_close; /* s^2 below which a pair contributes nothing */
} gv_sum_sink;

/* acc, pot, jerk, snap: as many as the order has. */
void gv_sum_forces(int order, const gv_sum_sources *sources, const gv_sum_sink *sink, double out[GV_SUM_COMPONENTS]);
/* The nearest source (SIZE_MAX: none), and its distance squared. */
size_t gv_sum_nearest(const gv_sum_sources *sources, const gv_sum_sink *sink, double *r2);
/* Sources within the radius (its square), ascending; the first `capacity` into `list`.  How many there are. */
size_t gv_sum_list(const gv_sum_sources *sources, const gv_sum_sink *sink, double radius2, uint32_t *list,
                   size_t capacity);
/* One coordinate and its derivatives d[0 ... 5] (NULL: zero) of sources first ... n - 1, dt[] after their times;
 * to[1], to[2] (velocity, acceleration) may be NULL. */
void gv_sum_predict(size_t first, size_t n, const double *const d[6], const double *dt, double *const to[3]);

/* Which instructions the processor has of those on which the last bits of the C library's functions may depend. */
int gv_sum_instructions(void);

#endif
