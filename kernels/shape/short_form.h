/* Newton's pair times the factors of a short range, u = s / (2 r_s) = s rate:
 *   g_0 = erfc(u) / s      -g_1 = T(u) / s^3,  T = erfc(u) + 2 / sqrt(pi) u exp(-u^2)
 * by one of three forms, which differ in speed and error only (doc/theory.md has both):
 *
 * GV_FORM  GV_FORM_EXACT     erfc and exp as they are
 *          GV_FORM_RATIONAL  exp, and erfc(u) exp(u^2) as a polynomial of 1 / (1 + 0.4 u): no table, no branch
 *          GV_FORM_TABLE     the Taylor series of degree GV_LEVEL (0 ... 4) about the nearest of GV_NODES nodes, which
 *                            are 3/512 apart in u.  A node x holds T(x) and E(x) = -4 / sqrt(pi) exp(-x^2); all
 *                            derivatives of T and erfc are E times polynomials of x.
 */
#include "shape/layout.h"

#ifndef GV_FORM
#define GV_FORM GV_FORM_RATIONAL
#endif

/* 2 / sqrt(pi) */
#define GV_SHORT_SLOPE GV_R(1.1283791670955126)

/* 1 / x, x > 1 */
static inline gv_real gv_short_inverse(gv_real x)
{
#if defined(GV_PTX_ASM) && GV_LANES == 1
    gv_real y;
#if GV_PRECISION == GV_DP
    __asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    /* 2^-20 and better; the third-order step leaves its cube */
    gv_real e = gv_fma(-x, y, GV_R(1.0));
    return gv_fma(y, gv_fma(e, e, e), y);
#else
    __asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#endif
#else
    return GV_R(1.0) / x;
#endif
}

/* exp(-u^2); in sp and ds the error is that of the argument's rounding */
static inline gv_real gv_short_exp(gv_real s2, gv_scalar rate)
{
#if defined(GV_PTX_ASM) && GV_LANES == 1 && GV_PRECISION != GV_DP
    gv_real y, x = s2 * (rate * rate * GV_R(-1.4426950408889634));
    __asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return exp(s2 * -(rate * rate));
#endif
}

/* erfc(u) exp(u^2), u >= 0, from y = 1 / (1 + 0.4 u).  Off by 1.9e-7 (sp, ds; and rounding of as much again) up to u =
 * 4.2, by 6.1e-16 (dp) up to 5.5, where erfc is 3e-9 and 7e-15; beyond, it stays small, and exp(-u^2) makes nothing of
 * it. */
static inline gv_real gv_erfcx_of(gv_real y)
{
#if GV_PRECISION == GV_DP
    gv_real p = gv_fma(y, (gv_real)GV_R(-0.0054742731214781179679), (gv_real)GV_R(0.056701428323811674897));
    p = gv_fma(y, p, (gv_real)GV_R(-0.26135044907773319567));
    p = gv_fma(y, p, (gv_real)GV_R(0.69341145503329702));
    p = gv_fma(y, p, (gv_real)GV_R(-1.1300616206533096965));
    p = gv_fma(y, p, (gv_real)GV_R(1.0746102739026002338));
    p = gv_fma(y, p, (gv_real)GV_R(-0.38450313304561345532));
    p = gv_fma(y, p, (gv_real)GV_R(-0.37008300591438643751));
    p = gv_fma(y, p, (gv_real)GV_R(0.66018547565259156823));
    p = gv_fma(y, p, (gv_real)GV_R(-0.60248234508918867467));
    p = gv_fma(y, p, (gv_real)GV_R(0.35538198009332244983));
    p = gv_fma(y, p, (gv_real)GV_R(-0.073293928041058364038));
    p = gv_fma(y, p, (gv_real)GV_R(0.16486382519624063745));
    p = gv_fma(y, p, (gv_real)GV_R(0.16167302388502317312));
    p = gv_fma(y, p, (gv_real)GV_R(0.20923932132018487738));
    p = gv_fma(y, p, (gv_real)GV_R(0.22549400845596939515));
    p = gv_fma(y, p, (gv_real)GV_R(0.22568836266918210301));
    return gv_fma(y, p, (gv_real)GV_R(-3.9958945579938273293e-7));
#else
    gv_real p = gv_fma(y, (gv_real)GV_R(-0.21775620416), (gv_real)GV_R(0.785519522558));
    p = gv_fma(y, p, (gv_real)GV_R(-0.507124017017));
    p = gv_fma(y, p, (gv_real)GV_R(0.594918653529));
    p = gv_fma(y, p, (gv_real)GV_R(0.0973963084053));
    p = gv_fma(y, p, (gv_real)GV_R(0.248805723554));
    return gv_fma(y, p, (gv_real)GV_R(-0.00176017490432));
#endif
}

static inline gv_real gv_erfcx(gv_real u)
{
    return gv_erfcx_of(gv_short_inverse(gv_fma((gv_real)GV_R(0.4), u, (gv_real)GV_R(1.0))));
}

#if GV_FORM == GV_FORM_TABLE
#if !defined(GV_LEVEL) || !defined(GV_NODES)
#error "a table of the short range needs GV_LEVEL (0 ... 4) and GV_NODES"
#endif
typedef GV_PASTE(GV_SCALAR, 2) gv_node; /* T, E */
#define GV_SHORT_NODES_PARAMETER , local const gv_node *nodes
#define GV_SHORT_NODES_PASS , nodes
#define GV_SHORT_STEP GV_R(0.005859375)               /* 3/512 */
#define GV_SHORT_PER_STEP GV_R(170.66666666666666667) /* 512/3 */
/* added and subtracted, it rounds to a whole number, which then stands in the last bits */
#if GV_PRECISION == GV_DP
#define GV_SHORT_ROUND GV_R(6755399441055744.0)
#else
#define GV_SHORT_ROUND GV_R(12582912.0)
#endif

/* erfc(u) and T(u) of s = u / rate */
static inline void gv_short_look_up(gv_real s, gv_scalar rate, local const gv_node *nodes, gv_real *erfc_u,
                                    gv_real *force)
{
    gv_real place = fmin(s * (rate * GV_SHORT_PER_STEP), (gv_real)((gv_scalar)(GV_NODES - 1)));
    gv_real rounded = place + GV_SHORT_ROUND;
    gv_real node = rounded - GV_SHORT_ROUND, d = (place - node) * GV_SHORT_STEP, x = node * GV_SHORT_STEP, t, e;
#if GV_LANES == 1
    gv_node at = nodes[(uint)GV_AS_BITS(rounded) & 0xffffu];
    t = at.x, e = at.y;
#else
    gv_scalar column[2][GV_LANES];
    uint which[GV_LANES];
    GV_PASTE(vstore, GV_LANES)(GV_PASTE(convert_uint, GV_LANES)(node), 0, which);
    for (int lane = 0; lane < GV_LANES; lane++) {
        gv_node at = nodes[which[lane]];
        column[0][lane] = at.x, column[1][lane] = at.y;
    }
    t = gv_load(column[0]), e = gv_load(column[1]);
#endif
    *erfc_u = gv_fma(GV_R(0.5) * e, x, t);
    *force = t;
#if GV_LEVEL >= 1
    gv_real f = x * x, p = (gv_real)GV_R(1.0), x2 = f;
#if GV_LEVEL == 2
    f = gv_fma(d * x, GV_R(1.0) - x2, f);
    p = gv_fma(-d, x, p);
#elif GV_LEVEL >= 3
    gv_real more = gv_fma(x2, gv_fma(x2, (gv_real)GV_R(0.66666666666666667), (gv_real)GV_R(-1.6666666666666667)),
                          (gv_real)GV_R(0.33333333333333333));
    gv_real less = gv_fma(x2, (gv_real)GV_R(0.66666666666666667), (gv_real)GV_R(-0.33333333333333333));
#if GV_LEVEL >= 4
    more = gv_fma(d * x,
                  gv_fma(x2, gv_fma(x2, (gv_real)GV_R(-0.33333333333333333), (gv_real)GV_R(1.5)), (gv_real)GV_R(-1.0)),
                  more);
    less = gv_fma(d * x, gv_fma(x2, (gv_real)GV_R(-0.33333333333333333), (gv_real)GV_R(0.5)), less);
#endif
    f = gv_fma(d, gv_fma(d, more, gv_fma(-x2, x, x)), f);
    p = gv_fma(d, gv_fma(d, less, -x), p);
#endif
    e *= d;
    *force = gv_fma(e, f, *force);
    *erfc_u = gv_fma(GV_R(0.5) * e, p, *erfc_u);
#endif
}
#else
#define GV_SHORT_NODES_PARAMETER
#define GV_SHORT_NODES_PASS
#endif

/* g_0 and -g_1 at s > 0, s^2 = s2 */
static inline void gv_short_newton(gv_real s2, gv_scalar rate GV_SHORT_NODES_PARAMETER, gv_real *g0, gv_real *minus_g1)
{
    gv_real y = gv_rsqrt(s2), s = s2 * y;
#if GV_FORM == GV_FORM_TABLE
    gv_real erfc_u, force;
    gv_short_look_up(s, rate, nodes, &erfc_u, &force);
    *g0 = erfc_u * y;
    *minus_g1 = force * (y * (y * y));
#else
    gv_real e = gv_short_exp(s2, rate);
#if GV_FORM == GV_FORM_EXACT
    *g0 = erfc(s * rate) * y;
#else
    /* 0.4 u without u */
    *g0 = e * gv_erfcx_of(gv_short_inverse(gv_fma((gv_real)(GV_R(0.4) * rate), s, (gv_real)GV_R(1.0)))) * y;
#endif
    *minus_g1 = gv_fma((gv_real)(GV_SHORT_SLOPE * rate), e, *g0) * (y * y);
#endif
}
