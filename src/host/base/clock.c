#include "host/base/clock.h"

#include <stdlib.h>
#include <time.h>

double gv_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int gv_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double gv_median(double *value, size_t n)
{
    if (n == 0)
        return 0;
    qsort(value, n, sizeof *value, gv_ascending);
    return 0.5 * (value[(n - 1) / 2] + value[n / 2]);
}
