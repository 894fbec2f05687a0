/* One pair: source j pulls sink i.
 *
 *   d = x_j - x_i   s^2 = d.d + eps^2   q = m / s^3
 *   acc += q d                          pot -= m / s
 *   jerk += q w,  w = v - 3 alpha d     alpha = d.v / s^2,  v = v_j - v_i
 *   snap += q (a - 6 alpha w - 3 beta d)    beta = (v.v + d.a) / s^2 + alpha^2,  a = a_j - a_i
 *
 * Fewest instructions (a multiply-add counts one; the reciprocal square root one in sp and ds, five in dp):
 *   order 2: subtract 3, s^2 3, rsqrt 1, powers 3, pot 1, acc 3                      = 14, dp 18
 *   order 4: order 2 and subtract 3, d.v 3, alpha 2, w 3, jerk 3                     = 28, dp 32
 *   order 6: order 4 and subtract 3, v.v + d.a 6, alpha 1, beta 2, factor 1, snap 6 + 3 = 50, dp 54
 *   ds: d = (high words) + (low words), 6 more
 * The nearest neighbour and the neighbour list add one comparison where nothing is found, and the sum of unsoftened
 * distance and eps^2 where they do not compare softened ones (rule.h).
 *
 * GV_ORDER     2, 4 or 6
 * GV_SOFTEN    whose softening counts (direct/layout.h): eps^2 is one number, of the sink, of the source, or of both
 * GV_SOFTENED  1: there is softening.  0: eps is zero.
 * Where it is zero, or may be for some pair, pairs at s^2 <= GV_TOO_CLOSE count as one place and contribute nothing.
 *
 * Order 2 only:
 * GV_SHAPE       not Plummer's (shape/shape.h) but one that ends at a distance:  acc += m d (-g_1)  pot -= m g_0
 *                Tables of forces are finite at s = 0, where they give a potential.
 * GV_QUADRUPOLE  1: sources have traceless quadrupoles Q = sum m (3 x x - x^2):
 *                acc += q d + (5 p d - Q d / s^3) / s^2   pot -= m / s + p   p = d Q d / 2 s^5
 *                A source without mass does not act at all.
 */
#if GV_ORDER != 2 && GV_ORDER != 4 && GV_ORDER != 6
#error "GV_ORDER must be 2 (acc, pot), 4 (and jerk) or 6 (and snap)"
#endif
#ifndef GV_SOFTENED
#error "GV_SOFTENED must be 1 (eps > 0) or 0 (eps = 0)"
#endif

#if (GV_QUADRUPOLE || GV_SHAPE != GV_SHAPE_PLUMMER) && GV_ORDER != 2
#error "quadrupoles and shapes that end at a distance have no derivatives: GV_ORDER must be 2"
#endif
#if GV_QUADRUPOLE && GV_SHAPE != GV_SHAPE_PLUMMER
#error "sources with GV_QUADRUPOLE need Plummer's shape"
#endif

#define GV_MAY_VANISH (!GV_SOFTENED || GV_SOFTEN != GV_SOFTEN_EPS) /* s^2 of two bodies at one place */

/* eps^2 of a pair; `eps2` is that of the call */
#if GV_SOFTEN == GV_SOFTEN_SINKS
#define GV_EPS2(i, j, eps2) ((i).eps2)
#elif GV_SOFTEN == GV_SOFTEN_SOURCES
#define GV_EPS2(i, j, eps2) ((gv_real)((j).eps2))
#elif GV_SOFTEN == GV_SOFTEN_SUM
#define GV_EPS2(i, j, eps2) ((i).eps2 + (j).eps2)
#elif GV_SOFTEN == GV_SOFTEN_MAX
#define GV_EPS2(i, j, eps2) (fmax((i).eps2, (gv_real)((j).eps2)))
#else
#define GV_EPS2(i, j, eps2) ((gv_real)(eps2))
#endif

/* 1/s^3 must stay finite: (3e12)^3 < 3.4e38 in sp and ds, (1e100)^3 in dp */
#if GV_PRECISION == GV_DP
#define GV_TOO_CLOSE GV_R(1e-200)
#else
#define GV_TOO_CLOSE GV_R(1e-25)
#endif

/* components of a result, in the order of the planes of results */
enum { GV_AX, GV_AY, GV_AZ, GV_POT, GV_JX, GV_JY, GV_JZ, GV_SX, GV_SY, GV_SZ };
#define GV_COMPONENTS GV_DIRECT_COMPONENTS(GV_ORDER)

typedef struct gv_sink {
    gv_real x, y, z;
#if GV_PRECISION == GV_DS
    gv_real lx, ly, lz;
#endif
#if GV_ORDER >= 4
    gv_real vx, vy, vz;
#endif
#if GV_ORDER >= 6
    gv_real ax, ay, az;
#endif
#if GV_SOFTEN_OF_SINKS(GV_SOFTEN)
    gv_real eps2;
#endif
} gv_sink;

/* From the planes of the sinks (direct/layout.h); p: the entry in the first plane. */
static inline gv_sink gv_load_sink(global const gv_scalar *p, uint stride)
{
    gv_sink sink;
    sink.x = gv_load(p);
    sink.y = gv_load(p + stride);
    sink.z = gv_load(p + 2 * stride);
#if GV_PRECISION == GV_DS
    sink.lx = gv_load(p + 3 * stride);
    sink.ly = gv_load(p + 4 * stride);
    sink.lz = gv_load(p + 5 * stride);
#endif
#if GV_ORDER >= 4
    global const gv_scalar *v = p + GV_SINK_VELOCITY(GV_PRECISION == GV_DS) * stride;
    sink.vx = gv_load(v);
    sink.vy = gv_load(v + stride);
    sink.vz = gv_load(v + 2 * stride);
#endif
#if GV_ORDER >= 6
    sink.ax = gv_load(v + 3 * stride);
    sink.ay = gv_load(v + 4 * stride);
    sink.az = gv_load(v + 5 * stride);
#endif
#if GV_SOFTEN_OF_SINKS(GV_SOFTEN)
    sink.eps2 = gv_load(p + GV_SINK_SOFTENING(GV_ORDER, GV_PRECISION == GV_DS, GV_LIST_PLANES) * stride);
#endif
    return sink;
}

typedef struct gv_source {
    gv_scalar4 pos; /* w: mass */
#if GV_PRECISION == GV_DS
    gv_scalar4 lo;
#endif
#if GV_ORDER >= 4
    gv_scalar4 vel;
#endif
#if GV_ORDER >= 6
    gv_scalar4 acc;
#endif
#if GV_QUADRUPOLE
    gv_scalar4 qa, qb; /* xx xy xz yy, yz zz - - */
#endif
#if GV_SOFTEN_OF_SOURCES(GV_SOFTEN)
    gv_scalar eps2;
#endif
} gv_source;

typedef struct gv_separation {
    gv_real x, y, z;
    gv_real r2; /* unsoftened where neighbours are looked for by it, else with eps^2 */
} gv_separation;

static inline gv_separation gv_separate(const gv_sink i, const gv_source j, gv_scalar eps2)
{
    gv_separation d;
    d.x = j.pos.x - i.x;
    d.y = j.pos.y - i.y;
    d.z = j.pos.z - i.z;
#if GV_PRECISION == GV_DS
    /* the high words subtract exactly for close pairs (Sterbenz), so the sum is the difference to the last digit */
    d.x += j.lo.x - i.lx;
    d.y += j.lo.y - i.ly;
    d.z += j.lo.z - i.lz;
#endif
#if GV_SOFTENED && (!GV_SEARCH || GV_SOFT_LOOK)
    d.r2 = gv_fma(d.x, d.x, GV_EPS2(i, j, eps2));
#else
    d.r2 = d.x * d.x;
#endif
    d.r2 = gv_fma(d.y, d.y, d.r2);
    d.r2 = gv_fma(d.z, d.z, d.r2);
    return d;
}

#if GV_SHAPE != GV_SHAPE_PLUMMER
static inline void gv_interact_shaped(gv_real *sum, gv_real mass, const gv_separation d, gv_real s2,
                                      const gv_cutoff cutoff)
{
    gv_real g0, minus_g1;
#if GV_MAY_VANISH && !(GV_SHAPE == GV_SHAPE_TABLE && GV_TABLE_OF == GV_TABLE_OF_FORCES)
    mass = gv_select(s2 > GV_TOO_CLOSE, mass, (gv_real)(0));
    s2 = fmax(s2, (gv_real)GV_TOO_CLOSE);
#endif
    gv_shape_pair(s2, cutoff, &g0, &minus_g1);
    gv_real q = mass * minus_g1;
    sum[GV_POT] -= mass * g0;
    sum[GV_AX] = gv_fma(q, d.x, sum[GV_AX]);
    sum[GV_AY] = gv_fma(q, d.y, sum[GV_AY]);
    sum[GV_AZ] = gv_fma(q, d.z, sum[GV_AZ]);
}
#endif

#if GV_QUADRUPOLE
/* 1/s^4 must stay finite; a quadrupole says nothing so near */
#if GV_PRECISION == GV_DP
#define GV_IN_A_CELL GV_R(1e-150)
#else
#define GV_IN_A_CELL GV_R(1e-18)
#endif
/* with n = d / s; mass 0: the pair does not count */
static inline void gv_interact_quadrupole(gv_real *sum, const gv_source j, gv_real mass, gv_real s2, gv_real rinv,
                                          const gv_separation d)
{
    gv_real r1 = gv_select((s2 > GV_IN_A_CELL) & (mass != (gv_real)(0)), rinv, (gv_real)(0));
    gv_real nx = d.x * r1, ny = d.y * r1, nz = d.z * r1, r3 = r1 * r1 * r1;
    gv_real x = gv_fma((gv_real)(j.qa.z), nz, gv_fma((gv_real)(j.qa.y), ny, j.qa.x * nx));
    gv_real y = gv_fma((gv_real)(j.qb.x), nz, gv_fma((gv_real)(j.qa.w), ny, j.qa.y * nx));
    gv_real z = gv_fma((gv_real)(j.qb.y), nz, gv_fma((gv_real)(j.qb.x), ny, j.qa.z * nx));
    gv_real p = GV_R(0.5) * gv_fma(z, nz, gv_fma(y, ny, x * nx));
    sum[GV_POT] = gv_fma(-p, r3, sum[GV_POT]);
    sum[GV_AX] = gv_fma(r3 * r1, gv_fma(GV_R(5.0) * p, nx, -x), sum[GV_AX]);
    sum[GV_AY] = gv_fma(r3 * r1, gv_fma(GV_R(5.0) * p, ny, -y), sum[GV_AY]);
    sum[GV_AZ] = gv_fma(r3 * r1, gv_fma(GV_R(5.0) * p, nz, -z), sum[GV_AZ]);
}
#endif

/* Of a separation: s^2, and 1/s or zero where that is too small. */
static inline gv_real gv_softened(const gv_sink i, const gv_source j, const gv_separation d, gv_scalar eps2)
{
#if GV_SOFTENED && GV_SEARCH && !GV_SOFT_LOOK
    return d.r2 + GV_EPS2(i, j, eps2);
#else
    return d.r2;
#endif
}

static inline gv_real gv_root(gv_real s2)
{
#if GV_MAY_VANISH
    return gv_select(s2 > GV_TOO_CLOSE, gv_rsqrt(s2), (gv_real)(0));
#else
    return gv_rsqrt(s2);
#endif
}

/* `rinv`: of s2, for Plummer's shape only. */
static inline void gv_interact(gv_real *sum, const gv_sink i, const gv_source j, gv_real mass, const gv_separation d,
                               gv_real s2, gv_real rinv GV_CUTOFF_PARAMETER)
{
#if GV_SHAPE != GV_SHAPE_PLUMMER
    gv_interact_shaped(sum, mass, d, s2, cutoff);
#else
    gv_real rinv2 = rinv * rinv;
    gv_real mrinv = mass * rinv;
    gv_real q = mrinv * rinv2;
    sum[GV_POT] -= mrinv;
    sum[GV_AX] = gv_fma(q, d.x, sum[GV_AX]);
    sum[GV_AY] = gv_fma(q, d.y, sum[GV_AY]);
    sum[GV_AZ] = gv_fma(q, d.z, sum[GV_AZ]);
#if GV_ORDER >= 4
    gv_real vx = j.vel.x - i.vx;
    gv_real vy = j.vel.y - i.vy;
    gv_real vz = j.vel.z - i.vz;
    gv_real rv = gv_fma(d.z, vz, gv_fma(d.y, vy, d.x * vx));
    gv_real m3rinv2 = rinv2 * GV_R(-3.0);
    gv_real m3alpha = rv * m3rinv2; /* -3 alpha */
    gv_real wx = gv_fma(m3alpha, d.x, vx);
    gv_real wy = gv_fma(m3alpha, d.y, vy);
    gv_real wz = gv_fma(m3alpha, d.z, vz);
    sum[GV_JX] = gv_fma(q, wx, sum[GV_JX]);
    sum[GV_JY] = gv_fma(q, wy, sum[GV_JY]);
    sum[GV_JZ] = gv_fma(q, wz, sum[GV_JZ]);
#endif
#if GV_ORDER >= 6
    gv_real ax = j.acc.x - i.ax;
    gv_real ay = j.acc.y - i.ay;
    gv_real az = j.acc.z - i.az;
    gv_real va = gv_fma(vz, vz, gv_fma(vy, vy, vx * vx));
    va = gv_fma(d.z, az, gv_fma(d.y, ay, gv_fma(d.x, ax, va)));
    /* beta = (va + (d.v) alpha) / s^2 */
    gv_real m3beta = m3rinv2 * gv_fma(rv * rinv2, rv, va);
    gv_real m6alpha = m3alpha + m3alpha;
    ax = gv_fma(m6alpha, wx, gv_fma(m3beta, d.x, ax));
    ay = gv_fma(m6alpha, wy, gv_fma(m3beta, d.y, ay));
    az = gv_fma(m6alpha, wz, gv_fma(m3beta, d.z, az));
    sum[GV_SX] = gv_fma(q, ax, sum[GV_SX]);
    sum[GV_SY] = gv_fma(q, ay, sum[GV_SY]);
    sum[GV_SZ] = gv_fma(q, az, sum[GV_SZ]);
#endif
#if GV_QUADRUPOLE
    gv_interact_quadrupole(sum, j, mass, s2, rinv, d);
#endif
#endif
}
