#include "host/direct.h"

#include <float.h>
#include <math.h>

/* One loop per type keeps the compiler able to vectorise; GV_PACK_LOOPS is its body for float and double. */
#define GV_PACK_LOOPS(real, suffix)                                                                                    \
    static int quads_##suffix(real *out, size_t n, gravel_vec v, const double *w, int low, double limit, double w_limit, double w_factor) \
    {                                                                                                                  \
        int bad = 0;                                                                                                   \
        for (size_t k = 0; k < n; ++k) {                                                                               \
            const double x = v.x ? v.x[k * v.stride] : 0, y = v.y ? v.y[k * v.stride] : 0;                             \
            const double z = v.z ? v.z[k * v.stride] : 0, m = w ? w[k] * w_factor : 0;                                           \
            bad |= !(fabs(x) <= limit) | !(fabs(y) <= limit) | !(fabs(z) <= limit) | !(fabs(m) <= w_limit);            \
            out[4 * k] = low ? (real)(x - (real)x) : (real)x;                                                          \
            out[4 * k + 1] = low ? (real)(y - (real)y) : (real)y;                                                      \
            out[4 * k + 2] = low ? (real)(z - (real)z) : (real)z;                                                      \
            out[4 * k + 3] = (real)m;                                                                                  \
        }                                                                                                              \
        return bad;                                                                                                    \
    }                                                                                                                  \
    static int plane_##suffix(real *out, size_t n, size_t stride, const double *x, size_t step, int low, double limit) \
    {                                                                                                                  \
        int bad = 0;                                                                                                   \
        for (size_t k = 0; k < n; ++k) {                                                                               \
            const double value = x ? x[k * step] : 0;                                                                  \
            bad |= !(fabs(value) <= limit);                                                                            \
            out[k] = low ? (real)(value - (real)value) : (real)value;                                                  \
        }                                                                                                              \
        for (size_t k = n; k < stride; ++k)                                                                            \
            out[k] = out[n - 1];                                                                                       \
        return bad;                                                                                                    \
    }

GV_PACK_LOOPS(float, float)
GV_PACK_LOOPS(double, double)

static gravel_vec with_stride(gravel_vec v)
{
    v.stride = v.stride ? v.stride : 1;
    return v;
}

static int is_bad(double value, double limit)
{
    return !(fabs(value) <= limit);
}

static double largest(gravel_precision precision)
{
    return precision == GRAVEL_DP ? DBL_MAX : FLT_MAX;
}

static size_t first_bad(size_t n, gravel_vec v, const double *w, double limit, double w_limit)
{
    for (size_t k = 0; k < n; ++k)
        if ((v.x && is_bad(v.x[k * v.stride], limit)) || (v.y && is_bad(v.y[k * v.stride], limit)) ||
            (v.z && is_bad(v.z[k * v.stride], limit)) || (w && is_bad(w[k], w_limit)))
            return k;
    return SIZE_MAX;
}

size_t gv_pack_quads(gv_pack how, void *out, size_t n, gravel_vec vec, const double *w, int low)
{
    const gravel_vec v = with_stride(vec);
    const double w_limit = largest(how.precision);
    const int bad = how.precision == GRAVEL_DP ? quads_double(out, n, v, w, low, how.limit, w_limit, how.w_factor)
                                               : quads_float(out, n, v, w, low, how.limit, w_limit, how.w_factor);
    return bad ? first_bad(n, v, w, how.limit, w_limit / how.w_factor) : SIZE_MAX;
}

size_t gv_pack_planes(gv_pack how, void *out, size_t n, size_t stride, gravel_vec vec, int low)
{
    const gravel_vec v = with_stride(vec);
    const double *const axis[3] = {v.x, v.y, v.z};
    int bad = 0;
    for (size_t c = 0; c < 3; ++c)
        bad |= how.precision == GRAVEL_DP
                   ? plane_double((double *)out + c * stride, n, stride, axis[c], v.stride, low, how.limit)
                   : plane_float((float *)out + c * stride, n, stride, axis[c], v.stride, low, how.limit);
    return bad ? first_bad(n, v, NULL, how.limit, 0) : SIZE_MAX;
}

size_t gv_pack_times(gv_pack how, void *out, size_t n, const double *time)
{
    int bad;
    if (how.precision == GRAVEL_DP)
        bad = plane_double(out, n, n, time, 1, 0, how.limit);
    else {
        bad = plane_float(out, n, n, time, 1, 0, how.limit);
        plane_float((float *)out + n, n, n, time, 1, 1, how.limit);
    }
    return bad ? first_bad(n, (gravel_vec){NULL, NULL, NULL, 1}, time, 0, how.limit) : SIZE_MAX;
}

gravel_status gv_pack_failure(const char *kind, const char *member, size_t particle, const gravel_vec *vec,
                              const double *scalar, double limit)
{
    const size_t stride = vec && vec->stride ? vec->stride : 1;
    const double *const axis[4] = {vec ? vec->x : NULL, vec ? vec->y : NULL, vec ? vec->z : NULL, scalar};
    static const char *const name[4] = {"x", "y", "z", "value"};
    for (int c = 0; c < 4; ++c) {
        if (!axis[c])
            continue;
        const double value = axis[c][c < 3 ? particle * stride : particle];
        if (!isfinite(value))
            return gv_fail(GRAVEL_ERR_INPUT, "%s %zu: %s (%s) is %s", kind, particle, c < 3 ? member : "mass or time",
                           name[c], isnan(value) ? "not a number" : "infinite");
        if (is_bad(value, limit))
            return gv_fail(GRAVEL_ERR_INPUT, "%s %zu: %s (%s) is %g, beyond %g where squares overflow in this precision: "
                           "choose larger units or dp", kind, particle, c < 3 ? member : "mass or time", name[c], value, limit);
    }
    return gv_fail(GRAVEL_ERR_INPUT, "%s %zu is not usable", kind, particle);
}
