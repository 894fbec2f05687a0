/* Interaction shape: the cubic spline of Monaghan & Lattanzio with support h, soft = h^2; Newton's beyond h, and
 * Newton's also for cells, which act only if none of their bodies is within h (its third derivatives jump).
 * With u = r / h
 *   u < 1/2   -g_1 = (32/3 + u^2 (32 u - 192/5)) / h^3      g_0 = (14/5 - u^2 (16/3 + u^2 (32/5 u - 48/5))) / h
 *   u < 1     -g_1 = (64/3 - 48 u + 192/5 u^2 - 32/3 u^3 - 1/15 u^-3) / h^3
 *             g_0 = (16/5 - 1/15 u^-1 - u^2 (32/3 + u (-16 + u (48/5 - 32/15 u)))) / h */
#define GV_SHAPE_GUARD 1

static inline gv_real gv_shape_start(gv_real soft)
{
    (void)soft;
    return (gv_real)(0);
}

static inline gv_real gv_shape_guard(gv_real soft)
{
    return sqrt(soft);
}

static inline void gv_shape_pair(gv_real s2, gv_real soft, gv_real *g0, gv_real *minus_g1)
{
    gv_real y = gv_rsqrt(fmax(s2, (gv_real)GV_R(1e-30)));
    gv_real per_h = rsqrt(soft);
    gv_real u = s2 * y * per_h, u2 = u * u, per_u = y / per_h;
    gv_real k_in = gv_fma(u2, gv_fma((gv_real)GV_R(32.0), u, (gv_real)GV_R(-38.4)), (gv_real)GV_R(10.666666666666667));
    gv_real w_in = GV_R(2.8) - u2 * (GV_R(5.3333333333333333) + u2 * (GV_R(6.4) * u - GV_R(9.6)));
    gv_real k_out = GV_R(21.333333333333333) - GV_R(48.0) * u + u2 * (GV_R(38.4) - GV_R(10.666666666666667) * u) -
                    GV_R(0.066666666666666667) * per_u * per_u * per_u;
    gv_real w_out =
        GV_R(3.2) - GV_R(0.066666666666666667) * per_u -
        u2 * (GV_R(10.666666666666667) + u * (GV_R(-16.0) + u * (GV_R(9.6) - GV_R(2.1333333333333333) * u)));
    gv_mask inner = u < (gv_real)GV_R(0.5), beyond = u >= (gv_real)GV_R(1.0);
    *g0 = gv_select(beyond, y, gv_select(inner, w_in, w_out) * per_h);
    *minus_g1 = gv_select(beyond, y * y * y, gv_select(inner, k_in, k_out) * (per_h * per_h * per_h));
}

#define gv_shape_series(s2) gv_shape_newton(s2)
