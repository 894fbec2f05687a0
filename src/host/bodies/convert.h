/* Numbers between the caller's arrays and what is stored: one component of many bodies at a time. */
#ifndef GV_CONVERT_H
#define GV_CONVERT_H

#include <stddef.h>

#include "gravel/bodies.h"

/* stored = (given - offset) / unit, given = stored * unit + offset.  The unit of lengths is a power of two, so that
 * dividing by it is exact; dividing by the unit of mass makes equal masses exactly 1. */
typedef struct gv_conversion {
    gravel_precision stored; /* GRAVEL_DS: a two-float, in two columns */
    double offset, unit;
    double limit; /* the largest stored magnitude */
} gv_conversion;

/* The caller's numbers of one component. */
typedef struct gv_numbers {
    const void *at;
    size_t stride;
    gravel_type type;
} gv_numbers;

/* Numbers first ... first + n - 1 into columns (of 4 bytes, in dp of 8); `low` is used in ds only.  0: one is not
 * finite or beyond the limit. */
int gv_convert_in(const gv_conversion *how, const gv_numbers *from, size_t first, size_t n, void *high, void *low);
/* The other way; `low` NULL: there are no low words. */
void gv_convert_out(const gv_conversion *how, const void *high, const void *low, size_t n, const gv_numbers *to,
                    size_t first);
/* One number as a double. */
double gv_convert_get(const gv_numbers *from, size_t k);
/* Lowest and highest of numbers first ... first + n - 1; 0: one is not finite. */
int gv_convert_bounds(const gv_numbers *from, size_t first, size_t n, double *lowest, double *highest);

/* Sums that a solver has as two-floats, times three factors, one after the other, into the caller's column or onto what
 * is there (`add`).  Where the high word left the range of float, the low one is no number and does not count. */
void gv_convert_sums(const float *high, const float *low, size_t n, const double factor[3], int add, double *to,
                     size_t stride);
/* The same for three components at once, into rows x y z. */
void gv_convert_sum_rows(const float *const high[3], const float *const low[3], size_t n, const double factor[3],
                         double *rows);

#endif
