/* Newton's attraction with Plummer softening: g_0 = 1/s, s^2 = r^2 + soft, soft = eps^2. */
#define GV_SHAPE_GUARD 0

static inline gv_real gv_shape_start(gv_real soft)
{
    return soft;
}

static inline void gv_shape_pair(gv_real s2, gv_real soft, gv_real *g0, gv_real *minus_g1)
{
    gv_real y = gv_rsqrt(s2);
    (void)soft;
    *g0 = y;
    *minus_g1 = y * (y * y);
}

#define gv_shape_series(s2) gv_shape_newton(s2)
