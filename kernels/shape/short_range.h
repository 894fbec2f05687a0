/* The short range of a split force: what a mesh leaves out of a softened shape.  With u = s / (2 r_s)
 *   g_0 = erfc(u) / s    g_{j+1} = -((2j + 1) g_j' + c_j exp(-u^2)) / s^2,  g_j' = |g_j|, c_0 = 1 / (sqrt(pi) r_s),
 *                        c_{j+1} = c_j / (2 r_s^2)
 * (Boys' recursion: all terms have one sign).  With g_j' = exp(-u^2) b_j, b_0 = erfc(u) exp(u^2) / s, the ratios need
 * no exponential:  q_j = c_j / b_j,  k_{j+1} = -(2j + 1 + q_j) / s^2,  q_{j+1} = 2 u^2 q_j / (2j + 1 + q_j).
 *
 * s is that of the shape: r with Plummer's eps in it, or r for the spline, whose pairs within h keep their own force
 * times the factor of Newton's: what they lose there is less than (h / 5 r_s)^3 of it.
 * `rate` is 1 / (2 r_s).  Nothing is cut off here.
 */

static inline void gv_short_pair(gv_real s2, gv_real soft, gv_scalar rate GV_SHORT_NODES_PARAMETER, gv_real *g0,
                                 gv_real *minus_g1)
{
#if GV_SHAPE == 1
    gv_real whole0, whole1, rest0, rest1;
    gv_shape_pair(s2, soft, &whole0, &whole1);
    /* of the potential the long range is taken out, which at r = 0 is finite: nearer than this it is as there */
    gv_real least = (gv_real)(GV_R(1e-3) / rate), near2 = fmax(s2, least * least), y = gv_rsqrt(near2);
    gv_short_newton(near2, rate GV_SHORT_NODES_PASS, &rest0, &rest1);
    *g0 = gv_select(s2 < fmax(soft, near2), whole0 - (y - rest0), rest0);
    *minus_g1 = whole1 * (rest1 * near2 * (near2 * y));
#else
    (void)soft;
    gv_short_newton(s2, rate GV_SHORT_NODES_PASS, g0, minus_g1);
#endif
}

static inline gv_shape gv_short_series(gv_real s2, gv_scalar rate)
{
    gv_shape shape;
    gv_real y = gv_rsqrt(s2), y2 = y * y, u = s2 * y * rate;
    /* the series of a cell beyond u = 5 is nothing; u stays where erfcx is finite */
    gv_real near = fmin(u, (gv_real)GV_R(20.0)), u2 = near * near, e = exp(-u2);
    gv_real x = gv_erfcx(near), q = GV_SHORT_SLOPE * near / x;
    shape.g0 = e * x * y;
    gv_real t = GV_R(1.0) + q;
    shape.k1 = -t * y2;
    q = GV_R(2.0) * u2 * q / t;
    t = GV_R(3.0) + q;
    shape.k2 = -t * y2;
    q = GV_R(2.0) * u2 * q / t;
    t = GV_R(5.0) + q;
    shape.k3 = -t * y2;
    q = GV_R(2.0) * u2 * q / t;
    shape.k4 = -(GV_R(7.0) + q) * y2;
    return shape;
}
