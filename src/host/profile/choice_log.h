/* Sizes as the model of choice.h sees them: by their logarithms. */
#ifndef GV_CHOICE_LOG_H
#define GV_CHOICE_LOG_H

#include <math.h>
#include <stddef.h>

static inline double gv_log_size(size_t n)
{
    return log2((double)(n > 0 ? n : 1));
}

/* Where x lies between low and high: 0 ... 1. */
static inline double gv_part_of_way(double x, double low, double high)
{
    return high > low ? fmin(fmax((x - low) / (high - low), 0), 1) : 0;
}

#endif
