/* The FFT on the host: self-sorting (Stockham) passes of radix 4, 2, 3, 5 and 7.
 *
 * A pass works on several lines at once, number k of all lines side by side, so that inner loops are long, without
 * strides, and become vector instructions: GV_LINES complex columns, or as many pairs of real rows (a row as real and
 * one as imaginary part of one line).  The x and y directions of a plane are done together, while it is in the cache.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/threads.h"
#include "host/mesh/fft.h"

#define PI 3.14159265358979323846

/* The radix of the next pass over what is left of n. */
static int next_radix(int left)
{
    static const int radix[] = {4, 2, 3, 5, 7};
    for (int k = 0; k < 5; k++)
        if (left % radix[k] == 0)
            return radix[k];
    return 0;
}

/* exp(-2 pi i k / n), k = 0 ... n - 1: real parts, then imaginary ones */
size_t gv_fft_host_twiddles(int n)
{
    return 2 * (size_t)n;
}

void gv_fft_host_prepare(int n, int is_double, void *twiddles)
{
    for (int k = 0; k < n; k++) {
        const double c = cos(2 * PI * k / n), s = -sin(2 * PI * k / n);
        if (is_double) {
            ((double *)twiddles)[k] = c;
            ((double *)twiddles)[n + k] = s;
        } else {
            ((float *)twiddles)[k] = (float)c;
            ((float *)twiddles)[n + k] = (float)s;
        }
    }
}

#define REAL float
#define NAME(x) x##_f
#define GV_LINES 16
#include "host/mesh/fft_host_impl.h"
#undef REAL
#undef NAME
#undef GV_LINES

#define REAL double
#define NAME(x) x##_d
#define GV_LINES 8
#include "host/mesh/fft_host_impl.h"

int gv_fft_host_share(gv_pool *pool, int n, int is_double, const void *twiddles, void *cube, int inverse)
{
    return is_double ? cube_d(pool, n, twiddles, cube, inverse) : cube_f(pool, n, twiddles, cube, inverse);
}
