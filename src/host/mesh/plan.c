/* What options mean in numbers. */
#include <math.h>

#include "host/mesh/mesh.h"

#define PI 3.14159265358979323846

/* sums over waves and over pairs */
static gravel_status check_without_mesh(const gravel_mesh_options *options)
{
    if (options->waves < 0 || options->waves > GV_MOST_WAVES)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%d waves a side: 0 (a mesh) to %d are possible", options->waves,
                       GV_MOST_WAVES);
    if (options->waves > 0 && !(options->split > 0))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "a sum over waves needs a splitting length");
    if (options->table != 0 && (options->table < 4 || options->table > 128))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "a table of %d nodes a side: 0 (none), or 4 to 128", options->table);
    if (options->table > 0 && (options->waves > 0 || options->split != 0))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "direct sums with a table give the whole force: without waves and a "
                                            "splitting length");
    if (!(options->eps >= 0) || !isfinite(options->eps))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the softening length is %g: it must be 0 or more", options->eps);
    return GRAVEL_OK;
}

/* The potential of a mass without images is that of its nearest image in the doubled mesh, which has a kink half of it
 * away.  Half of the Gaussian of the splitting length is left to the waves: it makes the kink smooth, and blurs what is
 * within some 5 r_s of it.  Bodies are kept further apart than that, and a body's reach (4 cells) as well:
 * margin = 4 + 5 r_s / cell, cell = L / (n - margin). */
int gv_mesh_margin(const gravel_mesh_options *options)
{
    const double s = 5 * options->split / options->side;
    return (int)ceil((4 + s * options->cells) / (1 + s));
}

gravel_status gv_mesh_check_options(const gravel_mesh_options *options)
{
    const int n = options->cells;
    if (!(options->side > 0) || !isfinite(options->side))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the box has the side %g: it must be above 0", options->side);
    const gravel_status without = check_without_mesh(options);
    if (without)
        return without;
    if (n < GV_FFT_LEAST || n > GV_FFT_MOST)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "a mesh of %d cells a side: %d to %d are possible", n, GV_FFT_LEAST,
                       GV_FFT_MOST);
    if (!gv_fft_can(n))
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "a mesh of %d cells a side: the number must be a product of 2, 3, 5 and 7, as %d and %d are", n,
                       gv_fft_below(n), gv_fft_above(n));
    if ((int)options->assignment < GRAVEL_NGP || options->assignment > GRAVEL_PCS)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "assignment %d does not exist", (int)options->assignment);
    if ((unsigned)options->gradient > GRAVEL_FOUR_POINT)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gradient %d does not exist", (int)options->gradient);
    if ((unsigned)options->fft > GRAVEL_FFT_HOST)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "FFT %d does not exist", (int)options->fft);
    if (!(options->split >= 0) || !isfinite(options->split))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the splitting length is %g: it must be 0 or more", options->split);
    if (options->split > 0.25 * options->side)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the splitting length %g is more than a quarter of the box (%g)",
                       options->split, options->side);
    if (options->isolated && options->waves == 0 && options->table == 0 && options->split == 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "a mesh without images needs a splitting length");
    if (options->isolated && 2 * n > GV_FFT_MOST)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "a mesh without images is doubled: %d cells a side at most, not %d",
                       GV_FFT_MOST / 2, n);
    if (options->isolated && 2 * gv_mesh_margin(options) > n)
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "a mesh of %d cells a side without images would have a margin of %d: more "
                       "cells, or a smaller splitting length",
                       n, gv_mesh_margin(options));
    if (options->isolated && (options->waves > 0 || options->table > 0))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "sums over waves and with a table are those of a periodic box");
    if (options->precision != GRAVEL_SP && options->precision != GRAVEL_DP)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "a mesh is in sp or dp; bodies may have any precision");
    return GRAVEL_OK;
}

/* Sum and alternating sum of U^2 over the waves k + 2 pi m, with x = k / 2 and U = (sin x / x)^width.  Those of NGP do
 * not converge fast: their limits are 1 and cos x. */
static void alias_sums(int width, double x, double *sum, double *alternating)
{
    *sum = 1;
    *alternating = cos(x);
    if (width == 1 || x == 0) {
        *alternating = width == 1 ? *alternating : 1;
        return;
    }
    *sum = *alternating = 0;
    for (int m = -400; m <= 400; m++) {
        const double at = x + m * PI, term = pow(sin(x) / at, 2 * width);
        *sum += term;
        *alternating += m % 2 ? -term : term;
    }
}

void gv_mesh_waves(const gravel_mesh_options *options, double *table)
{
    const int n = options->cells, width = (int)options->assignment;
    const double split = options->split * n / options->side * (options->isolated ? sqrt(0.5) : 1);
    for (int j = 0; j <= n / 2; j++) {
        double *wave = table + j * 4 * GV_WAVE_VECTORS, sum, alternating;
        const double k = 2 * PI * j / n, x = k / 2, u = j ? pow(sin(x) / x, width) : 1;
        alias_sums(width, x, &sum, &alternating);
        wave[0] = k;
        wave[1] = u * u * exp(-k * k * split * split);
        wave[2] = sum;
        wave[3] = alternating;
        wave[4] = options->gradient == GRAVEL_TWO_POINT    ? sin(k)
                  : options->gradient == GRAVEL_FOUR_POINT ? (8 * sin(k) - sin(2 * k)) / 6
                                                           : k;
        if (2 * j == n)
            wave[4] = 0; /* that wave has no side to lean to */
        wave[5] = wave[6] = wave[7] = 0;
    }
}
