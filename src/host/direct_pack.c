#include "host/direct.h"

#include <float.h>
#include <math.h>

/* One loop per type keeps the compiler able to vectorise; GV_PACK_LOOPS is its body for float and double. */
#define GV_PACK_LOOPS(real, suffix)                                                                                   \
    static int quads_##suffix(real *out, size_t n, gravel_vec v, const double *w, int low, gv_pack how,               \
                              double w_limit)                                                                         \
    {                                                                                                                 \
        const double f = how.factor, limit = how.limit;                                                               \
        int bad = 0;                                                                                                  \
        for (size_t k = 0; k < n; ++k) {                                                                              \
            const double x = v.x ? v.x[k * v.stride] * f : 0, y = v.y ? v.y[k * v.stride] * f : 0;                    \
            const double z = v.z ? v.z[k * v.stride] * f : 0, m = w ? w[k] * how.w_factor : 0;                        \
            bad |= !(fabs(x) <= limit) | !(fabs(y) <= limit) | !(fabs(z) <= limit) | !(fabs(m) <= w_limit);           \
            out[4 * k] = low ? (real)(x - (real)x) : (real)x;                                                         \
            out[4 * k + 1] = low ? (real)(y - (real)y) : (real)y;                                                     \
            out[4 * k + 2] = low ? (real)(z - (real)z) : (real)z;                                                     \
            out[4 * k + 3] = (real)m;                                                                                 \
        }                                                                                                             \
        return bad;                                                                                                   \
    }                                                                                                                 \
    static int plane_##suffix(real *out, size_t n, size_t stride, const double *x, size_t step, int low, gv_pack how) \
    {                                                                                                                 \
        int bad = 0;                                                                                                  \
        for (size_t k = 0; k < n; ++k) {                                                                              \
            const double value = x ? x[k * step] * how.factor : 0;                                                    \
            bad |= !(fabs(value) <= how.limit);                                                                       \
            out[k] = low ? (real)(value - (real)value) : (real)value;                                                 \
        }                                                                                                             \
        for (size_t k = n; k < stride; ++k)                                                                           \
            out[k] = out[n - 1];                                                                                      \
        return bad;                                                                                                   \
    }

GV_PACK_LOOPS(float, float)
GV_PACK_LOOPS(double, double)

static gravel_vec with_stride(gravel_vec v)
{
    v.stride = v.stride ? v.stride : 1;
    return v;
}

static int is_bad(double value, double factor, double limit)
{
    return !(fabs(value * factor) <= limit);
}

static double largest(gravel_precision precision)
{
    return precision == GRAVEL_DP ? DBL_MAX : FLT_MAX;
}

static size_t first_bad(size_t n, gravel_vec v, const double *w, gv_pack how, double w_limit)
{
    const double *const axis[3] = {v.x, v.y, v.z};
    for (size_t k = 0; k < n; ++k) {
        int bad = w && is_bad(w[k], how.w_factor, w_limit);
        for (int c = 0; c < 3; ++c)
            bad |= axis[c] && is_bad(axis[c][k * v.stride], how.factor, how.limit);
        if (bad)
            return k;
    }
    return SIZE_MAX;
}

size_t gv_pack_quads(gv_pack how, void *out, size_t n, gravel_vec vec, const double *w, int low)
{
    const gravel_vec v = with_stride(vec);
    const double w_limit = largest(how.precision);
    const int bad = how.precision == GRAVEL_DP ? quads_double(out, n, v, w, low, how, w_limit)
                                               : quads_float(out, n, v, w, low, how, w_limit);
    return bad ? first_bad(n, v, w, how, w_limit) : SIZE_MAX;
}

size_t gv_pack_planes(gv_pack how, void *out, size_t n, size_t stride, gravel_vec vec, int low)
{
    const gravel_vec v = with_stride(vec);
    const double *const axis[3] = {v.x, v.y, v.z};
    int bad = 0;
    for (size_t c = 0; c < 3; ++c)
        bad |= how.precision == GRAVEL_DP
                   ? plane_double((double *)out + c * stride, n, stride, axis[c], v.stride, low, how)
                   : plane_float((float *)out + c * stride, n, stride, axis[c], v.stride, low, how);
    return bad ? first_bad(n, v, NULL, how, 0) : SIZE_MAX;
}

size_t gv_pack_times(gv_pack how, void *out, size_t n, const double *time)
{
    int bad;
    if (how.precision == GRAVEL_DP)
        bad = plane_double(out, n, n, time, 1, 0, how);
    else {
        bad = plane_float(out, n, n, time, 1, 0, how);
        plane_float((float *)out + n, n, n, time, 1, 1, how);
    }
    return bad ? first_bad(n, (gravel_vec){time, NULL, NULL, 1}, NULL, how, 0) : SIZE_MAX;
}

gravel_status gv_pack_failure(const char *kind, const char *member, size_t particle, const gravel_vec *vec,
                              const double *scalar, gv_pack how)
{
    const size_t stride = vec && vec->stride ? vec->stride : 1;
    const double *const axis[4] = {vec ? vec->x : NULL, vec ? vec->y : NULL, vec ? vec->z : NULL, scalar};
    static const char *const name[4] = {" (x)", " (y)", " (z)", ""};
    const char *what = vec ? member : scalar ? member : "value";
    for (int c = 0; c < 4; ++c) {
        if (!axis[c])
            continue;
        const double value = axis[c][c < 3 ? particle * stride : particle];
        const double factor = c < 3 ? how.factor : how.w_factor, limit = c < 3 ? how.limit : largest(how.precision);
        what = c < 3 || !vec ? member : "mass";
        if (!isfinite(value))
            return gv_fail(GRAVEL_ERR_INPUT, "%s %zu: %s%s is %s", kind, particle, what, name[c],
                           isnan(value) ? "not a number" : "infinite");
        if (is_bad(value, factor, limit))
            return gv_fail(GRAVEL_ERR_INPUT,
                           "%s %zu: %s%s is %g, beyond %g, where this precision overflows beside the "
                           "first sources: choose other units or dp",
                           kind, particle, what, name[c], value, limit / factor);
    }
    return gv_fail(GRAVEL_ERR_INPUT, "%s %zu is not usable", kind, particle);
}

/* ---------------------------------------------------------------------- units */

double gv_square_limit(gravel_precision precision)
{
    /* three squares of a difference of two: 12 (4e18)^2 = 1.9e38 */
    return precision == GRAVEL_DP ? 1e150 : 4e18;
}

static double largest_of(const double *x, size_t n, size_t stride)
{
    double most = 0;
    for (size_t k = 0; x && k < n; ++k)
        most = fabs(x[k * stride]) > most ? fabs(x[k * stride]) : most;
    return most;
}

/* Masses are counted in the largest of the first sources, so that equal masses are exact in float: 1/N is not, and its
 * rounding error would be the same in every pair.  Lengths far from 1 are counted in a power of two near the largest
 * coordinate: m / r^3 leaves the range of float at r = 1e13. */
void gv_direct_choose_units(gravel_direct *d, const gravel_sources *s)
{
    const gravel_vec pos = with_stride(s->pos);
    const int dp = d->variant.precision == GRAVEL_DP;
    if (d->mass_unit == 0 && s->count > 0) {
        const double most = dp ? 1 : largest_of(s->mass, s->count, 1);
        d->mass_unit = most == 0 ? 0 : most > 1e-300 && most < 1e300 ? most : 1;
    }
    if (d->length_unit == 0 && s->count > 0) {
        const double most =
            dp ? 1
               : fmax(fmax(largest_of(pos.x, s->count, pos.stride), largest_of(pos.y, s->count, pos.stride)),
                      largest_of(pos.z, s->count, pos.stride));
        const int common = !(most > 0) || (most > 1e-4 && most < 1e6);
        d->length_unit = common || !(most > 1e-300 && most < 1e300) ? 1 : exp2(rint(log2(most)));
    }
}

gv_pack gv_pack_vectors(const gravel_direct *d, int rank)
{
    const gravel_precision p = d->variant.precision;
    return (gv_pack){p, rank <= 2 ? gv_square_limit(p) : largest(p), 1 / d->length_unit,
                     d->mass_unit > 0 ? 1 / d->mass_unit : 1};
}
