/* The one clock, and the one order of numbers for medians. */
#ifndef GV_CLOCK_H
#define GV_CLOCK_H

#include <stddef.h>

/* Seconds since some moment; never goes back. */
double gv_now(void);

/* For qsort: ascending doubles. */
int gv_ascending(const void *a, const void *b);
/* Sorts the values; the mean of the middle two for an even number. */
double gv_median(double *value, size_t n);

#endif
