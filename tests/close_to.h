/* A number within an absolute tolerance of another; cmocka comes before. */
#ifndef GV_CLOSE_TO_H
#define GV_CLOSE_TO_H

#include <math.h>

static inline void close_to(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g within %g", value, expected, tolerance);
}

#endif
