/* The interactions of the tree walk, for gv_real of any lanes: lanes are sinks in gv_pair_add and gv_cell_force, and
 * cells in gv_cell_expand.
 *
 * With r the vector from source to sink and g_k those of the interaction shape (shape/shape.h; Plummer's: g_0 = 1/s,
 * g_{k+1} = -(2k+1) g_k / s^2), the k-th derivatives of g_0 are sums of g_j r...r delta...  A cell has mass m and half
 * second moments Q about its centre:
 *   S = m g_0 + g_2 q + g_1 t      q = r.Q r,  t = trace Q,  pot = -S,  acc = grad S
 *   acc = (m g_1 + g_3 q + g_2 t) r + 2 g_2 Q r
 *
 * The local expansion of a group about x_0 (r_0 = x_0 - z, y = x - x_0) is the Taylor series of S:
 *   acc = F1 + F2 y + 1/2 F3 y y + 1/6 F4 y y y
 * kept to total order 4: the mass enters F0 to F4, Q enters F0 to F2.  Summing over cells the parts
 *   s  = m g_0 + g_2 q + g_1 t                     v_a  = A1 r_a + 2 g_2 (Q r)_a
 *   f_ab = A2 r_a r_b + 2 g_3 ((Q r)_a r_b + r_a (Q r)_b) + 2 g_2 Q_ab
 *   c_abc = m g_3 r_a r_b r_c       w_a = m g_2 r_a
 *   d_abcd = m g_4 r_a r_b r_c r_d  h_ab = m g_3 r_a r_b      e = m g_2
 *   A1 = m g_1 + g_3 q + g_2 t,  A2 = m g_2 + g_4 q + g_3 t
 * and adding the terms with Kronecker deltas only where the series is evaluated (GV_LOCAL_FORCE) halves the work.
 * Lengths of an expansion are in the group's own unit, so that r^-9 neither overflows nor vanishes.
 *
 * Slots: pair 14, cell on a sink 40, cell into an expansion 125 (once for all sinks of the group).
 */
#include "tree/layout.h"
#include "lib/rsqrt.h"
#include "shape/shape.h"

#ifndef GV_SHORT_RANGE
#define GV_SHORT_RANGE 0
#endif
#include "tree/periodic.h"

#ifndef GV_UNSOFTENED
#error "GV_UNSOFTENED must be 0 or 1"
#endif
#ifndef GV_MOMENTS
#error "GV_MOMENTS must be 1 (mass) or 2 (mass and quadrupole)"
#endif

/* The softening of a pair, squared: that of all (GV_SOFTEN 0), of the sink (1), of the source (2), their sum (3) or the
 * larger one (4).  With 1 to 4 `eps2` is a floor that keeps 1/s^3 finite. */
#ifndef GV_SOFTEN
#error "GV_SOFTEN must be 0 (eps), 1 (sinks), 2 (sources), 3 (sum) or 4 (max)"
#elif GV_SOFTEN == 0
#define gv_soften(eps2, sink, source) ((gv_real)(eps2))
#elif GV_SOFTEN == 1
#define gv_soften(eps2, sink, source) fmax((gv_real)(sink), (gv_real)(eps2))
#elif GV_SOFTEN == 2
#define gv_soften(eps2, sink, source) fmax((gv_real)(source), (gv_real)(eps2))
#elif GV_SOFTEN == 3
#define gv_soften(eps2, sink, source) fmax((gv_real)(sink) + (gv_real)(source), (gv_real)(eps2))
#else
#define gv_soften(eps2, sink, source) fmax(fmax((gv_real)(sink), (gv_real)(source)), (gv_real)(eps2))
#endif

/* 1: sinks have softenings of their own */
#if GV_SOFTEN == 1 || GV_SOFTEN > 2
#define GV_SOFTS_SINKS 1
#else
#define GV_SOFTS_SINKS 0
#endif

typedef struct gv_force {
    gv_real x, y, z, pot;
} gv_force;

static inline void gv_force_clear(gv_force *f)
{
    f->x = f->y = f->z = f->pot = (gv_real)(0);
}

/* In ds a force is a plain sum over a few dozen sources, which is then taken over into wide sums. */
#if GV_PRECISION == GV_DS
typedef struct gv_total {
    gv_wide x, y, z, pot;
} gv_total;

static inline void gv_total_clear(gv_total *t)
{
    t->x = t->y = t->z = t->pot = gv_wide_zero();
}

static inline void gv_total_take(gv_total *t, gv_force *f)
{
    t->x = gv_wide_flush(t->x, f->x);
    t->y = gv_wide_flush(t->y, f->y);
    t->z = gv_wide_flush(t->z, f->z);
    t->pot = gv_wide_flush(t->pot, f->pot);
    gv_force_clear(f);
}
#endif

#if GV_PRECISION == GV_DS
/* the total as high words in *high, and the low words that are left */
static inline gv_force gv_total_split(const gv_total *t, gv_force *high)
{
    gv_force low;
    high->x = t->x.hi + t->x.lo, low.x = t->x.lo - (high->x - t->x.hi);
    high->y = t->y.hi + t->y.lo, low.y = t->y.lo - (high->y - t->y.hi);
    high->z = t->z.hi + t->z.lo, low.z = t->z.lo - (high->z - t->z.hi);
    high->pot = t->pot.hi + t->pot.lo, low.pot = t->pot.lo - (high->pot - t->pot.hi);
    return low;
}
#endif

/* one source of mass m at distance (dx, dy, dz) = source - sink */
static inline void gv_pair_add(gv_force *f, gv_real dx, gv_real dy, gv_real dz, gv_real m, gv_real soft,
                               gv_scalar eps2 GV_SHORT_HALF)
{
    gv_real g0, minus_g1, s2 = gv_fma(dz, dz, gv_fma(dy, dy, gv_fma(dx, dx, gv_shape_start(soft))));
#if GV_UNSOFTENED || GV_SOFTEN > 0
    /* coincident bodies without softening: eps2 is only a floor that keeps 1/s^3 finite */
    const gv_mask at_one_place = (s2 <= (gv_real)(eps2)) & (soft <= (gv_real)(eps2));
#if GV_SHORT_RANGE
    /* nothing is to be left of them in the sum with the long range, which is m / (sqrt(pi) r_s) here */
    f->pot = gv_fma(gv_select(at_one_place, m, (gv_real)(0)), (gv_real)(GV_SHORT_SLOPE * rate), f->pot);
#endif
    m = gv_select(at_one_place, (gv_real)(0), m);
#endif
    gv_use_pair(s2, soft, &g0, &minus_g1);
    gv_real k = m * minus_g1;
    f->x = gv_fma(k, dx, f->x);
    f->y = gv_fma(k, dy, f->y);
    f->z = gv_fma(k, dz, f->z);
    f->pot = gv_fma(-m, g0, f->pot);
}

/* the same where a source may be the sink itself: `other` is the mask of lanes where it is not */
static inline void gv_pair_add_other(gv_force *f, gv_real dx, gv_real dy, gv_real dz, gv_real m, gv_real soft,
                                     gv_scalar eps2, gv_mask other GV_SHORT_HALF)
{
    gv_pair_add(f, dx, dy, dz, gv_select(other, (gv_real)(m), (gv_real)(0)), soft, eps2 GV_SHORT_PASS);
}

/* a cell's moments, one value per lane or the same in all */
typedef struct gv_moments {
    gv_real x, y, z, m, xx, xy, xz, yy, yz, zz;
} gv_moments;

static inline void gv_cell_force(gv_force *f, gv_real rx, gv_real ry, gv_real rz, gv_moments c,
                                 gv_real soft GV_SHORT_HALF)
{
    gv_shape g = gv_use_series(gv_fma(rz, rz, gv_fma(ry, ry, gv_fma(rx, rx, gv_shape_start(soft)))));
    gv_real qx = gv_fma(c.xx, rx, gv_fma(c.xy, ry, c.xz * rz));
    gv_real qy = gv_fma(c.xy, rx, gv_fma(c.yy, ry, c.yz * rz));
    gv_real qz = gv_fma(c.xz, rx, gv_fma(c.yz, ry, c.zz * rz));
    gv_real q = gv_fma(qx, rx, gv_fma(qy, ry, qz * rz));
    gv_real t = c.xx + c.yy + c.zz;
    /* A1 = g_1 (m + k_2 (t + k_3 q)),  S = g_0 (m + k_1 (t + k_2 q)) */
    gv_real g1 = g.g0 * g.k1;
    gv_real a1 = gv_fma(g.k2, gv_fma(g.k3, q, t), c.m) * g1;
    gv_real u = GV_R(2.0) * (g.k2 * g1);
    f->x = gv_fma(a1, rx, gv_fma(u, qx, f->x));
    f->y = gv_fma(a1, ry, gv_fma(u, qy, f->y));
    f->z = gv_fma(a1, rz, gv_fma(u, qz, f->z));
    f->pot = gv_fma(-g.g0, gv_fma(g.k1, gv_fma(g.k2, q, t), c.m), f->pot);
}

typedef struct gv_local {
#if GV_PRECISION == GV_DS
    gv_wide whole_s, whole_v[3]; /* s and v are sums over few cells, taken over by gv_local_take */
#endif
    gv_real s, v[3], f[6], trace; /* trace: sum of A1, the delta part of F2 */
    gv_real c[10], w[3], d[15], h[6], e;
} gv_local;

static inline void gv_local_clear(gv_local *l)
{
#if GV_PRECISION == GV_DS
    l->whole_s = l->whole_v[0] = l->whole_v[1] = l->whole_v[2] = gv_wide_zero();
#endif
    l->s = l->trace = l->e = (gv_real)(0);
    for (int k = 0; k < 3; k++)
        l->v[k] = l->w[k] = (gv_real)(0);
    for (int k = 0; k < 6; k++)
        l->f[k] = l->h[k] = (gv_real)(0);
    for (int k = 0; k < 10; k++)
        l->c[k] = (gv_real)(0);
    for (int k = 0; k < 15; k++)
        l->d[k] = (gv_real)(0);
}

#if GV_PRECISION == GV_DS
static inline void gv_local_take(gv_local *l)
{
    l->whole_s = gv_wide_flush(l->whole_s, l->s);
    l->s = (gv_real)(0);
    for (int k = 0; k < 3; k++) {
        l->whole_v[k] = gv_wide_flush(l->whole_v[k], l->v[k]);
        l->v[k] = (gv_real)(0);
    }
}
#endif

/* (rx, ry, rz) = centre of the expansion - cell, all in the group's unit of length */
static inline void gv_cell_expand(gv_local *l, gv_real rx, gv_real ry, gv_real rz, gv_moments c,
                                  gv_real soft GV_SHORT_HALF)
{
    gv_shape g = gv_use_series(gv_fma(rz, rz, gv_fma(ry, ry, gv_fma(rx, rx, gv_shape_start(soft)))));
    gv_real g1 = g.g0 * g.k1, g2 = g.k2 * g1, g3 = g.k3 * g2, g4 = g.k4 * g3;
    gv_real qx = gv_fma(c.xx, rx, gv_fma(c.xy, ry, c.xz * rz));
    gv_real qy = gv_fma(c.xy, rx, gv_fma(c.yy, ry, c.yz * rz));
    gv_real qz = gv_fma(c.xz, rx, gv_fma(c.yz, ry, c.zz * rz));
    gv_real q = gv_fma(qx, rx, gv_fma(qy, ry, qz * rz));
    gv_real t = c.xx + c.yy + c.zz;
    gv_real mg2 = c.m * g2, mg3 = c.m * g3, mg4 = c.m * g4;
    gv_real a1 = gv_fma(c.m, g1, gv_fma(g3, q, g2 * t));
    gv_real a2 = gv_fma(g4, q, gv_fma(g3, t, mg2));
    gv_real u = GV_R(2.0) * g2, w = GV_R(2.0) * g3;

    l->s += gv_fma(c.m, g.g0, gv_fma(g2, q, g1 * t));
    l->trace += a1;
    l->e += mg2;
    l->v[0] = gv_fma(a1, rx, gv_fma(u, qx, l->v[0]));
    l->v[1] = gv_fma(a1, ry, gv_fma(u, qy, l->v[1]));
    l->v[2] = gv_fma(a1, rz, gv_fma(u, qz, l->v[2]));
    l->w[0] = gv_fma(mg2, rx, l->w[0]);
    l->w[1] = gv_fma(mg2, ry, l->w[1]);
    l->w[2] = gv_fma(mg2, rz, l->w[2]);

    qx *= w;
    qy *= w;
    qz *= w;
    gv_real xx = rx * rx, xy = rx * ry, xz = rx * rz, yy = ry * ry, yz = ry * rz, zz = rz * rz;
    l->f[0] = gv_fma(a2, xx, gv_fma(u, c.xx, gv_fma(qx + qx, rx, l->f[0])));
    l->f[1] = gv_fma(a2, xy, gv_fma(u, c.xy, gv_fma(qx, ry, gv_fma(qy, rx, l->f[1]))));
    l->f[2] = gv_fma(a2, xz, gv_fma(u, c.xz, gv_fma(qx, rz, gv_fma(qz, rx, l->f[2]))));
    l->f[3] = gv_fma(a2, yy, gv_fma(u, c.yy, gv_fma(qy + qy, ry, l->f[3])));
    l->f[4] = gv_fma(a2, yz, gv_fma(u, c.yz, gv_fma(qy, rz, gv_fma(qz, ry, l->f[4]))));
    l->f[5] = gv_fma(a2, zz, gv_fma(u, c.zz, gv_fma(qz + qz, rz, l->f[5])));
    l->h[0] = gv_fma(mg3, xx, l->h[0]);
    l->h[1] = gv_fma(mg3, xy, l->h[1]);
    l->h[2] = gv_fma(mg3, xz, l->h[2]);
    l->h[3] = gv_fma(mg3, yy, l->h[3]);
    l->h[4] = gv_fma(mg3, yz, l->h[4]);
    l->h[5] = gv_fma(mg3, zz, l->h[5]);

    /* third: xxx xxy xxz xyy xyz xzz yyy yyz yzz zzz */
    gv_real cx = mg3 * rx, cy = mg3 * ry, cz = mg3 * rz;
    l->c[0] = gv_fma(cx, xx, l->c[0]);
    l->c[1] = gv_fma(cx, xy, l->c[1]);
    l->c[2] = gv_fma(cx, xz, l->c[2]);
    l->c[3] = gv_fma(cx, yy, l->c[3]);
    l->c[4] = gv_fma(cx, yz, l->c[4]);
    l->c[5] = gv_fma(cx, zz, l->c[5]);
    l->c[6] = gv_fma(cy, yy, l->c[6]);
    l->c[7] = gv_fma(cy, yz, l->c[7]);
    l->c[8] = gv_fma(cy, zz, l->c[8]);
    l->c[9] = gv_fma(cz, zz, l->c[9]);

    /* fourth: xxxx xxxy xxxz xxyy xxyz xxzz xyyy xyyz xyzz xzzz yyyy yyyz yyzz yzzz zzzz */
    gv_real dxx = mg4 * xx, dxy = mg4 * xy, dxz = mg4 * xz, dyy = mg4 * yy, dyz = mg4 * yz, dzz = mg4 * zz;
    l->d[0] = gv_fma(dxx, xx, l->d[0]);
    l->d[1] = gv_fma(dxx, xy, l->d[1]);
    l->d[2] = gv_fma(dxx, xz, l->d[2]);
    l->d[3] = gv_fma(dxx, yy, l->d[3]);
    l->d[4] = gv_fma(dxx, yz, l->d[4]);
    l->d[5] = gv_fma(dxx, zz, l->d[5]);
    l->d[6] = gv_fma(dxy, yy, l->d[6]);
    l->d[7] = gv_fma(dxy, yz, l->d[7]);
    l->d[8] = gv_fma(dxy, zz, l->d[8]);
    l->d[9] = gv_fma(dxz, zz, l->d[9]);
    l->d[10] = gv_fma(dyy, yy, l->d[10]);
    l->d[11] = gv_fma(dyy, yz, l->d[11]);
    l->d[12] = gv_fma(dyy, zz, l->d[12]);
    l->d[13] = gv_fma(dyz, zz, l->d[13]);
    l->d[14] = gv_fma(dzz, zz, l->d[14]);
}

/* Terms of an expansion in one array, in the order of gv_local's members. */
enum {
    GV_L_S = 0,
    GV_L_V = 1,
    GV_L_F = 4,
    GV_L_TRACE = 10,
    GV_L_C = 11,
    GV_L_W = 21,
    GV_L_D = 24,
    GV_L_H = 39,
    GV_L_E = 45
};

static inline void gv_local_unpack(const gv_local *l, gv_real *term)
{
    term[GV_L_S] = l->s;
    term[GV_L_TRACE] = l->trace;
    term[GV_L_E] = l->e;
    for (int k = 0; k < 3; k++) {
        term[GV_L_V + k] = l->v[k];
        term[GV_L_W + k] = l->w[k];
    }
    for (int k = 0; k < 6; k++) {
        term[GV_L_F + k] = l->f[k];
        term[GV_L_H + k] = l->h[k];
    }
    for (int k = 0; k < 10; k++)
        term[GV_L_C + k] = l->c[k];
    for (int k = 0; k < 15; k++)
        term[GV_L_D + k] = l->d[k];
}

/* What the leading terms add to the force itself: in ds they are two-floats, and are added as such elsewhere. */
#if GV_PRECISION == GV_DS
#define GV_LEADING(term) ((gv_scalar)0)
#else
#define GV_LEADING(term) (term)
#endif

#if GV_PRECISION == GV_DS
/* The leading terms s, v as two-floats, in units of the expansion (powers of 2: products with them are exact). */
static inline void gv_total_lead(gv_total *t, const gv_scalar *high, const gv_scalar *low, gv_scalar inverse_scale)
{
    gv_scalar per2 = inverse_scale * inverse_scale;
    t->pot = gv_wide_add(t->pot, (gv_real)(-high[0] * inverse_scale));
    t->x = gv_wide_add(t->x, (gv_real)(high[1] * per2));
    t->y = gv_wide_add(t->y, (gv_real)(high[2] * per2));
    t->z = gv_wide_add(t->z, (gv_real)(high[3] * per2));
    t->pot.lo -= low[0] * inverse_scale;
    t->x.lo += low[1] * per2;
    t->y.lo += low[2] * per2;
    t->z.lo += low[3] * per2;
}
#endif

#define GV_THIRD GV_R(0.33333333333333333)
#define GV_SIXTH GV_R(0.16666666666666667)

/* Adds the expansion at y = (sink - centre) / scale to the force.  `T(k)` reads term k.  With the deltas written out
 *   F2 y = f y + trace y      F3 y y = c y y + 2 (w y) y + y^2 w
 *   F4 y y y = d y y y + 3 (y h y) y + 3 y^2 h y + 3 e y^2 y */
#define GV_LOCAL_FORCE(force, T, yx, yy, yz, inverse_scale)                                                            \
    do {                                                                                                               \
        /* F4 y, a tensor of third rank, and F3 y and F4 y y, of second */                                             \
        gv_real u_[10], p_[6], q_[6], p2_[3], p3_[3], p4_[3];                                                          \
        u_[0] = T(GV_L_D) * yx + T(GV_L_D + 1) * yy + T(GV_L_D + 2) * yz;                                              \
        u_[1] = T(GV_L_D + 1) * yx + T(GV_L_D + 3) * yy + T(GV_L_D + 4) * yz;                                          \
        u_[2] = T(GV_L_D + 2) * yx + T(GV_L_D + 4) * yy + T(GV_L_D + 5) * yz;                                          \
        u_[3] = T(GV_L_D + 3) * yx + T(GV_L_D + 6) * yy + T(GV_L_D + 7) * yz;                                          \
        u_[4] = T(GV_L_D + 4) * yx + T(GV_L_D + 7) * yy + T(GV_L_D + 8) * yz;                                          \
        u_[5] = T(GV_L_D + 5) * yx + T(GV_L_D + 8) * yy + T(GV_L_D + 9) * yz;                                          \
        u_[6] = T(GV_L_D + 6) * yx + T(GV_L_D + 10) * yy + T(GV_L_D + 11) * yz;                                        \
        u_[7] = T(GV_L_D + 7) * yx + T(GV_L_D + 11) * yy + T(GV_L_D + 12) * yz;                                        \
        u_[8] = T(GV_L_D + 8) * yx + T(GV_L_D + 12) * yy + T(GV_L_D + 13) * yz;                                        \
        u_[9] = T(GV_L_D + 9) * yx + T(GV_L_D + 13) * yy + T(GV_L_D + 14) * yz;                                        \
        p_[0] = T(GV_L_C) * yx + T(GV_L_C + 1) * yy + T(GV_L_C + 2) * yz;                                              \
        p_[1] = T(GV_L_C + 1) * yx + T(GV_L_C + 3) * yy + T(GV_L_C + 4) * yz;                                          \
        p_[2] = T(GV_L_C + 2) * yx + T(GV_L_C + 4) * yy + T(GV_L_C + 5) * yz;                                          \
        p_[3] = T(GV_L_C + 3) * yx + T(GV_L_C + 6) * yy + T(GV_L_C + 7) * yz;                                          \
        p_[4] = T(GV_L_C + 4) * yx + T(GV_L_C + 7) * yy + T(GV_L_C + 8) * yz;                                          \
        p_[5] = T(GV_L_C + 5) * yx + T(GV_L_C + 8) * yy + T(GV_L_C + 9) * yz;                                          \
        q_[0] = u_[0] * yx + u_[1] * yy + u_[2] * yz;                                                                  \
        q_[1] = u_[1] * yx + u_[3] * yy + u_[4] * yz;                                                                  \
        q_[2] = u_[2] * yx + u_[4] * yy + u_[5] * yz;                                                                  \
        q_[3] = u_[3] * yx + u_[6] * yy + u_[7] * yz;                                                                  \
        q_[4] = u_[4] * yx + u_[7] * yy + u_[8] * yz;                                                                  \
        q_[5] = u_[5] * yx + u_[8] * yy + u_[9] * yz;                                                                  \
        gv_real hx_ = T(GV_L_H) * yx + T(GV_L_H + 1) * yy + T(GV_L_H + 2) * yz;                                        \
        gv_real hy_ = T(GV_L_H + 1) * yx + T(GV_L_H + 3) * yy + T(GV_L_H + 4) * yz;                                    \
        gv_real hz_ = T(GV_L_H + 2) * yx + T(GV_L_H + 4) * yy + T(GV_L_H + 5) * yz;                                    \
        gv_real y2_ = yx * yx + yy * yy + yz * yz;                                                                     \
        gv_real wy_ = 2 * (T(GV_L_W) * yx + T(GV_L_W + 1) * yy + T(GV_L_W + 2) * yz);                                  \
        gv_real hyy_ = 3 * (hx_ * yx + hy_ * yy + hz_ * yz + T(GV_L_E) * y2_), y23_ = 3 * y2_;                         \
        p2_[0] = T(GV_L_F) * yx + T(GV_L_F + 1) * yy + T(GV_L_F + 2) * yz + T(GV_L_TRACE) * yx;                        \
        p2_[1] = T(GV_L_F + 1) * yx + T(GV_L_F + 3) * yy + T(GV_L_F + 4) * yz + T(GV_L_TRACE) * yy;                    \
        p2_[2] = T(GV_L_F + 2) * yx + T(GV_L_F + 4) * yy + T(GV_L_F + 5) * yz + T(GV_L_TRACE) * yz;                    \
        p3_[0] = GV_R(0.5) * (p_[0] * yx + p_[1] * yy + p_[2] * yz + wy_ * yx + y2_ * T(GV_L_W));                      \
        p3_[1] = GV_R(0.5) * (p_[1] * yx + p_[3] * yy + p_[4] * yz + wy_ * yy + y2_ * T(GV_L_W + 1));                  \
        p3_[2] = GV_R(0.5) * (p_[2] * yx + p_[4] * yy + p_[5] * yz + wy_ * yz + y2_ * T(GV_L_W + 2));                  \
        p4_[0] = GV_SIXTH * (q_[0] * yx + q_[1] * yy + q_[2] * yz + hyy_ * yx + y23_ * hx_);                           \
        p4_[1] = GV_SIXTH * (q_[1] * yx + q_[3] * yy + q_[4] * yz + hyy_ * yy + y23_ * hy_);                           \
        p4_[2] = GV_SIXTH * (q_[2] * yx + q_[4] * yy + q_[5] * yz + hyy_ * yz + y23_ * hz_);                           \
        gv_scalar per2_ = inverse_scale * inverse_scale;                                                               \
        force.x += per2_ * (GV_LEADING(T(GV_L_V)) + p2_[0] + p3_[0] + p4_[0]);                                         \
        force.y += per2_ * (GV_LEADING(T(GV_L_V + 1)) + p2_[1] + p3_[1] + p4_[1]);                                     \
        force.z += per2_ * (GV_LEADING(T(GV_L_V + 2)) + p2_[2] + p3_[2] + p4_[2]);                                     \
        force.pot -=                                                                                                   \
            inverse_scale *                                                                                            \
            (GV_LEADING(T(GV_L_S)) + yx * (T(GV_L_V) + GV_R(0.5) * p2_[0] + GV_THIRD * p3_[0] + GV_R(0.25) * p4_[0]) + \
             yy * (T(GV_L_V + 1) + GV_R(0.5) * p2_[1] + GV_THIRD * p3_[1] + GV_R(0.25) * p4_[1]) +                     \
             yz * (T(GV_L_V + 2) + GV_R(0.5) * p2_[2] + GV_THIRD * p3_[2] + GV_R(0.25) * p4_[2]));                     \
    } while (0)
