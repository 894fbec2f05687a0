/* The scalar reference: plain loops written from the formulas.  It checks every kernel, so it shares nothing with them
 * and depends on nothing but the C library.
 *
 *   dr = x_j - x_i   dv = v_j - v_i   da = a_j - a_i   s^2 = dr.dr + eps^2
 *   acc  = sum m dr / s^3                        pot = -sum m / s
 *   jerk = sum m dv / s^3 - 3 alpha A            alpha = dr.dv / s^2,  A, J: the pair's own acc and jerk
 *   snap = sum m da / s^3 - 6 alpha J - 3 beta A beta  = (dv.dv + dr.da) / s^2 + alpha^2
 *
 * A pair with equal ids (not -1) is left out of everything.  A pair at s = 0 that is not the same particle contributes
 * nothing to acc, pot, jerk and snap; it does count for the nearest neighbour and the neighbour list.
 */
#ifndef GV_REF_H
#define GV_REF_H

#include <stddef.h>
#include <stdint.h>

typedef struct gv_ref_particles {
    size_t n;
    const double *m;   /* sinks do not need it */
    const int32_t *id; /* NULL: sources get their address, sinks match nothing */
    const double *x, *y, *z;
    const double *vx, *vy, *vz; /* NULL: zero */
    const double *ax, *ay, *az; /* NULL: zero */
} gv_ref_particles;

/* eps^2 of a pair of sink i and source j: eps^2 of the call, eps_i^2, eps_j^2, their sum, the larger */
typedef enum gv_ref_soften {
    GV_REF_SOFTEN_EPS,
    GV_REF_SOFTEN_SINKS,
    GV_REF_SOFTEN_SOURCES,
    GV_REF_SOFTEN_SUM,
    GV_REF_SOFTEN_MAX
} gv_ref_soften;

/* Members that are NULL are not computed into. */
typedef struct gv_ref_forces {
    double *ax, *ay, *az, *pot;
    double *jx, *jy, *jz;
    double *sx, *sy, *sz;
    int32_t *nearest_id;         /* -1: none */
    uint32_t *nearest_address;   /* UINT32_MAX: none; ties: the lower address */
    double *nearest_distance;    /* unsoftened; INFINITY: none */
    uint32_t *neighbour_count;   /* sources at distance^2 <= radius^2, without self */
    uint32_t *neighbour_address; /* [n][capacity], ascending */
    /* sum of |pair terms|: what rounding errors scale with; for tests */
    double *acc_scale, *pot_scale;
} gv_ref_forces;

typedef enum gv_ref_real { GV_REF_DOUBLE, GV_REF_LONG_DOUBLE } gv_ref_real;

/* order 2, 4 or 6.  radius: per sink, NULL = no lists.  Returns 0, or -1 for a bad argument. */
int gv_ref_direct(gv_ref_real real, int order, const gv_ref_particles *sinks, const gv_ref_particles *sources,
                  double eps, const double *radius, size_t capacity, const gv_ref_forces *out);

/* Forces with softening lengths of the particles: sink_eps, source_eps (NULL: zero), whichever `soften` takes. */
int gv_ref_direct_softened(gv_ref_real real, int order, const gv_ref_particles *sinks, const gv_ref_particles *sources,
                           gv_ref_soften soften, const double *sink_eps, const double *source_eps,
                           const gv_ref_forces *out);

/* Which sources are in the list of a sink.  r: the distance now or, with a time `ahead` of each sink, that of the
 * straight lines then, whichever is smaller. */
typedef enum gv_ref_sphere {
    GV_REF_WITHIN,     /* r <= radius, not the sink itself */
    GV_REF_INSIDE,     /* r < radius, the sink itself too */
    GV_REF_INSIDE_MASS /* r^2 < m_j radius^2, the sink itself too */
} gv_ref_sphere;

typedef struct gv_ref_rule {
    gv_ref_sphere sphere;
    const double *ahead; /* NULL: now only */
    int leave_out;       /* what is in the list contributes nothing to acc, pot, jerk and snap */
} gv_ref_rule;

/* Forces and lists by a rule; the error scales are those of all sources. */
int gv_ref_direct_ruled(gv_ref_real real, int order, const gv_ref_particles *sinks, const gv_ref_particles *sources,
                        double eps, const double *radius, size_t capacity, const gv_ref_rule *rule,
                        const gv_ref_forces *out);

/* Other interactions, in long double, with s^2 = r^2 + eps^2; no pair from s = cut on (of factors: s = length cut):
 *   truncated   factors with length = 2 r_s, force = erfc(u) + 2 u exp(-u^2) / sqrt(pi), potential = erfc(u)
 *   factors     acc = sum m dr / s^3 force(s / length)    pot = -sum m / s potential(s / length)
 *   forces      acc = sum m dr force(s)                   pot = -sum m potential(s), also at s = 0 */
typedef struct gv_ref_law {
    enum { GV_REF_LAW_TRUNCATED, GV_REF_LAW_FACTORS, GV_REF_LAW_FORCES } kind;
    double length, cut; /* truncated: of u, as for factors */
    double (*force)(double, void *), (*potential)(double, void *);
    void *user;
} gv_ref_law;
/* acc, pot and their scales of `out` only. */
int gv_ref_by_law(const gv_ref_law *shape, const gv_ref_particles *sinks, const gv_ref_particles *sources, double eps,
                  const gv_ref_forces *out);
/* Sources of mass and traceless quadrupole, Q = sum m (3 x x - x^2), q[j] = xx, xy, xz, yy, yz, zz:
 *   acc = sum m dr / s^3 + (5/2 (dr Q dr) dr / s^2 - Q dr) / s^5     pot = -sum m / s + dr Q dr / (2 s^5) */
int gv_ref_quadrupoles(const gv_ref_particles *sinks, const gv_ref_particles *sources, const double (*q)[6], double eps,
                       const gv_ref_forces *out);

/* Taylor prediction of sources to time t: pos to the 5th derivative, vel, acc accordingly.  d[k] = k-th derivative as
 * three arrays (d[0] position ... d[5] crackle; NULL = zero); t0 per source.  Writes p[0..2] = pos, vel, acc. */
int gv_ref_predict(gv_ref_real real, size_t n, const double *const d[6][3], const double *t0, double t,
                   double *p[3][3]);

#endif
