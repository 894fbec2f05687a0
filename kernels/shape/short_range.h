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

/* erfc(u) exp(u^2), u >= 0 */
static inline gv_real gv_erfcx(gv_real u)
{
#if GV_PRECISION == GV_DP
    return erfc(u) * exp(u * u);
#else
    /* (1 + 2 u) erfcx(u) is a polynomial of y = (u - 3.1) / (u + 3.1) to 6e-9 up to u = 4.2, where erfc is 3e-9;
     * beyond, exp(-u^2) makes nothing of it */
    gv_real y = GV_R(1.0) - GV_R(6.2) / (u + GV_R(3.1));
    gv_real p = gv_fma(y, (gv_real)GV_R(0.00360400064), (gv_real)GV_R(0.00762268418));
    p = gv_fma(y, p, (gv_real)GV_R(-0.0279773090));
    p = gv_fma(y, p, (gv_real)GV_R(0.0738243740));
    p = gv_fma(y, p, (gv_real)GV_R(-0.119667809));
    p = gv_fma(y, p, (gv_real)GV_R(0.123217808));
    p = gv_fma(y, p, (gv_real)GV_R(-0.0391077510));
    p = gv_fma(y, p, (gv_real)GV_R(-0.137041194));
    p = gv_fma(y, p, (gv_real)GV_R(1.25077255));
    return p / gv_fma((gv_real)GV_R(2.0), u, (gv_real)GV_R(1.0));
#endif
}

/* In dp the product with exp(-u^2) would lose what exp(u^2) gained, and beyond u = 26 the latter is infinite. */
static inline gv_real gv_short_erfc(gv_real u, gv_real e)
{
#if GV_PRECISION == GV_DP
    (void)e;
    return erfc(u);
#else
    return e * gv_erfcx(u);
#endif
}

/* 2 / sqrt(pi) */
#define GV_SHORT_SLOPE GV_R(1.1283791670955126)

static inline void gv_short_pair(gv_real s2, gv_real soft, gv_scalar rate, gv_real *g0, gv_real *minus_g1)
{
#if GV_SHAPE == 1
    gv_real whole0, whole1;
    gv_shape_pair(s2, soft, &whole0, &whole1);
    /* of the potential the long range is taken out, which at r = 0 is finite: nearer than this it is as there */
    gv_real least = (gv_real)(GV_R(1e-3) / rate);
    gv_real y = gv_rsqrt(fmax(s2, least * least)), u = fmax(s2, least * least) * y * rate, e = exp(-u * u);
    gv_real rest = gv_short_erfc(u, e);
    *g0 = whole0 - (GV_R(1.0) - rest) * y;
    *minus_g1 = whole1 * gv_fma(GV_SHORT_SLOPE * u, e, rest);
#else
    gv_real y = gv_rsqrt(s2), u = s2 * y * rate, e = exp(-u * u);
    (void)soft;
    *g0 = gv_short_erfc(u, e) * y;
    *minus_g1 = gv_fma((gv_real)(GV_SHORT_SLOPE * rate), e, *g0) * (y * y);
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
