#include "sim/cosmo_field.h"

#include <math.h>
#include <stdlib.h>

#include "host/base/memory.h"
#include "host/mesh/fft.h"
#include "host/mesh/size.h"

gravel_status gv_field_space_make(gv_field_space *s, int n)
{
    *s = (gv_field_space){.n = n};
    if (n < GV_FFT_LEAST || n > GV_FFT_MOST || !gv_fft_can(n))
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "a mesh of %d points a side: %d to %d, products of 2, 3, 5 and 7, are possible; %d and %d are "
                       "near",
                       n, GV_FFT_LEAST, GV_FFT_MOST, gv_fft_below(n), gv_fft_above(n < GV_FFT_MOST ? n : GV_FFT_MOST));
    s->row = gv_fft_row(n);
    s->count = s->row * (size_t)n * (size_t)n;
    s->twiddles = malloc(gv_fft_host_twiddles(n) * sizeof *s->twiddles);
    if (!s->twiddles)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a mesh");
    gv_fft_host_prepare(n, 1, s->twiddles);
    s->pool = gv_pool_create_wide();
    return GRAVEL_OK;
}

void gv_field_space_free(gv_field_space *s)
{
    gv_pool_release(s->pool);
    free(s->twiddles);
    *s = (gv_field_space){0};
}

gravel_status gv_memory_check(const char *what, int n, double bytes)
{
    const double there = gv_memory_free();
    if (!(there > 0) || bytes <= there)
        return GRAVEL_OK;
    return gv_fail(GRAVEL_ERR_MEMORY, "%s of %d^3 bodies need %.1f GB of memory, %.1f GB are free: %d^3 would fit",
                   what, n, 1e-9 * bytes, 1e-9 * there, gv_fft_below((int)(n * cbrt(there / bytes) * 0.99)));
}

double *gv_field_new(const gv_field_space *s)
{
    double *cube = calloc(s->count, sizeof *cube);
    if (!cube)
        gv_fail(GRAVEL_ERR_MEMORY, "no memory for a mesh of %d^3 points (%.1f MB)", s->n, 8e-6 * (double)s->count);
    return cube;
}

gravel_status gv_field_transform(const gv_field_space *s, double *cube, int inverse)
{
    return gv_fft_host_share(s->pool, s->n, 1, s->twiddles, cube, inverse)
               ? GRAVEL_OK
               : gv_fail(GRAVEL_ERR_MEMORY, "no memory for a transform of %d^3 points", s->n);
}
