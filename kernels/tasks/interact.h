/* One source or one cell on the sinks of a vector, for tasks and requests; the macros are those of evaluate.cl.
 *
 *   d = x_j - x_i   acc += m (-g_1) d   pot -= m g_0
 */
/* 1/s^3 must stay finite */
#if GV_PRECISION == GV_DP
#define GV_TOO_CLOSE GV_R(1e-200)
#else
#define GV_TOO_CLOSE GV_R(1e-25)
#endif

/* What all pairs of a launch have in common. */
typedef struct gv_law {
    gv_scalar soft; /* eps^2, or h^2 of a spline */
    gv_scalar rate; /* 1 / (2 r_s) */
    gv_scalar cut2; /* no pair from this s^2 on */
#if GV_FORM == GV_FORM_TABLE && GV_SHORT_RANGE
    local const gv_node *nodes;
#endif
} gv_law;
#if GV_FORM == GV_FORM_TABLE && GV_SHORT_RANGE
#define GV_LAW_NODES(law) , (law).nodes
#else
#define GV_LAW_NODES(law)
#endif

typedef struct gv_sink {
    gv_real x, y, z;
#if GV_LOW
    gv_real lx, ly, lz;
#endif
    gv_int address; /* -1: there is no such sink */
} gv_sink;

typedef struct gv_source {
    gv_scalar4 pos; /* w: mass */
#if GV_LOW
    gv_scalar4 low;
#endif
} gv_source;

/* g_0 and -g_1 */
static inline void gv_attract(gv_real s2, const gv_law law, gv_real *g0, gv_real *minus_g1)
{
#if GV_SHORT_RANGE
    gv_short_pair(s2, (gv_real)(law.soft), law.rate GV_LAW_NODES(law), g0, minus_g1);
#elif GV_SHAPE == GV_SHAPE_SPLINE
    /* most pairs are beyond the spline */
    if (gv_any(s2 < (gv_real)(law.soft))) {
        gv_shape_pair(s2, (gv_real)(law.soft), g0, minus_g1);
    } else {
        gv_real y = gv_rsqrt(s2);
        *g0 = y;
        *minus_g1 = y * (y * y);
    }
#else
    gv_shape_pair(s2, (gv_real)(law.soft), g0, minus_g1);
#endif
}

/* Source j on a sink; `masked`: its address is compared. */
static inline void gv_pull(gv_real *sum, const gv_sink i, const gv_source j, int address, const int masked,
                           const gv_law law)
{
    gv_real dx = j.pos.x - i.x, dy = j.pos.y - i.y, dz = j.pos.z - i.z, mass = (gv_real)(j.pos.w), g0, q;
#if GV_LOW
    /* high words subtract exactly for close pairs (Sterbenz) */
    dx += j.low.x - i.lx;
    dy += j.low.y - i.ly;
    dz += j.low.z - i.lz;
#endif
#if GV_SOFTENED && GV_SHAPE == GV_SHAPE_PLUMMER
    gv_real s2 = gv_fma(dx, dx, (gv_real)(law.soft));
#else
    gv_real s2 = dx * dx;
#endif
    s2 = gv_fma(dz, dz, gv_fma(dy, dy, s2));
    if (masked)
        mass = gv_select(gv_widen(i.address == (gv_int)(address)), (gv_real)(0), mass);
#if !GV_SOFTENED
    mass = gv_select(s2 > (gv_real)GV_TOO_CLOSE, mass, (gv_real)(0));
    s2 = fmax(s2, (gv_real)GV_TOO_CLOSE);
#endif
#if GV_SHORT_RANGE
    const gv_mask inside = s2 < (gv_real)(law.cut2);
#if GV_SKIP == 1
    if (!gv_any(inside))
        return;
#endif
#if GV_SKIP == 0 || GV_LANES > 1
    mass = gv_select(inside, mass, (gv_real)(0));
#endif
#endif
    gv_attract(s2, law, &g0, &q);
    q *= mass;
#if GV_SHORT_RANGE && GV_SKIP == 2 && GV_LANES == 1
    if (!inside)
        return;
#endif
    sum[0] = gv_fma(q, dx, sum[0]);
    sum[1] = gv_fma(q, dy, sum[1]);
    sum[2] = gv_fma(q, dz, sum[2]);
#if GV_POTENTIAL
    sum[3] = gv_fma(-mass, g0, sum[3]);
#endif
}

#if GV_CELLS
/* A cell of GV_TASKS_CELL vectors on a sink.  With n = d / s, p = n Q n / 2:
 *   acc += m n / s^2 + (5 p n - Q n) / s^4      pot -= m / s + p / s^3 */
static inline void gv_pull_cell(gv_real *sum, const gv_sink i, const gv_scalar4 c, const gv_scalar4 qa,
                                const gv_scalar4 qb, const gv_scalar4 low, const gv_law law)
{
    gv_real dx = c.x - i.x, dy = c.y - i.y, dz = c.z - i.z;
#if GV_LOW
    dx += low.x - i.lx;
    dy += low.y - i.ly;
    dz += low.z - i.lz;
#endif
    gv_real s2 = gv_fma(dz, dz, gv_fma(dy, dy, dx * dx));
#if GV_SOFTENED && GV_SHAPE == GV_SHAPE_PLUMMER
    s2 += law.soft;
#endif
    gv_real y = gv_rsqrt(fmax(s2, (gv_real)GV_TOO_CLOSE)), nx = dx * y, ny = dy * y, nz = dz * y, y2 = y * y;
    gv_real x = gv_fma((gv_real)(qa.z), nz, gv_fma((gv_real)(qa.y), ny, qa.x * nx));
    gv_real v = gv_fma((gv_real)(qb.x), nz, gv_fma((gv_real)(qa.w), ny, qa.y * nx));
    gv_real z = gv_fma((gv_real)(qb.y), nz, gv_fma((gv_real)(qb.x), ny, qa.z * nx));
    gv_real p = GV_R(0.5) * gv_fma(z, nz, gv_fma(v, ny, x * nx));
    gv_real along = gv_fma(GV_R(5.0) * p, y2, (gv_real)(c.w));
    sum[0] = gv_fma(y2, gv_fma(-y2, x, along * nx), sum[0]);
    sum[1] = gv_fma(y2, gv_fma(-y2, v, along * ny), sum[1]);
    sum[2] = gv_fma(y2, gv_fma(-y2, z, along * nz), sum[2]);
#if GV_POTENTIAL
    sum[3] = gv_fma(-y, gv_fma(p, y2, (gv_real)(c.w)), sum[3]);
#endif
}
#endif
