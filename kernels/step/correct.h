/* The correction of one body, for the kernels that correct a block.
 *
 *   GV_ORDER      4 or 6
 *   GV_CRITERION  step/layout.h
 *
 * The includer has lib/real.h, lib/pair.h, step/block.h and step/layout.h. */
#if GV_ORDER != 4 && GV_ORDER != 6
#error "GV_ORDER must be 4 or 6"
#endif
#ifndef GV_CRITERION
#error "GV_CRITERION must be one of GV_STEP_CRITERION_..."
#endif
#if GV_CRITERION != GV_STEP_CRITERION_AARSETH && GV_ORDER != 6
#error "the generalised criterion needs order 6"
#endif

#if GV_PRECISION == GV_DP
#define GV_FORCE_NOISE GV_FORCE_NOISE_DP
#else
#define GV_FORCE_NOISE GV_FORCE_NOISE_DS
#endif

/* x + v dt + more and v + dv, of position and velocity in two words */
typedef struct gv_phase {
    gv_scalar4 x, x_low, v, v_low;
} gv_phase;

static inline gv_phase gv_advance(gv_phase s, gv_pair dt, gv_scalar4 more, gv_scalar4 dv)
{
    gv_phase r;
#if GV_PRECISION == GV_DS
    const gv_pair x = gv_pair_advance(s.x.x, s.x_low.x, s.v.x, s.v_low.x, dt, more.x);
    const gv_pair y = gv_pair_advance(s.x.y, s.x_low.y, s.v.y, s.v_low.y, dt, more.y);
    const gv_pair z = gv_pair_advance(s.x.z, s.x_low.z, s.v.z, s.v_low.z, dt, more.z);
    const gv_pair vx = gv_two_sum(s.v.x, dv.x), vy = gv_two_sum(s.v.y, dv.y), vz = gv_two_sum(s.v.z, dv.z);
    const gv_pair wx = gv_two_sum(vx.hi, vx.lo + s.v_low.x), wy = gv_two_sum(vy.hi, vy.lo + s.v_low.y);
    const gv_pair wz = gv_two_sum(vz.hi, vz.lo + s.v_low.z);
    r.x = (gv_scalar4)(x.hi, y.hi, z.hi, s.x.w);
    r.x_low = (gv_scalar4)(x.lo, y.lo, z.lo, s.x_low.w);
    r.v = (gv_scalar4)(wx.hi, wy.hi, wz.hi, 0);
    r.v_low = (gv_scalar4)(wx.lo, wy.lo, wz.lo, 0);
#else
    r.x = (gv_scalar4)(s.x.xyz + (s.v.xyz * dt.hi + more.xyz), s.x.w);
    r.v = (gv_scalar4)(s.v.xyz + dv.xyz, 0);
    r.x_low = r.v_low = (gv_scalar4)(0);
#endif
    return r;
}

/* Planes of the bodies, and of the active set, which has the new forces. */
typedef struct gv_own {
    global gv_scalar4 *pos, *pos_low, *vel, *vel_low, *acc, *jerk, *snap, *crackle;
    global gv_scalar *time, *time_low, *step, *pot;
} gv_own;

typedef struct gv_new {
    global gv_scalar4 *pos, *pos_low, *vel, *vel_low, *acc;
    global const gv_scalar4 *jerk, *snap;
    global const gv_scalar *pot;
} gv_new;

/* What steps are chosen by; per_mass: 1 / M in the units of the planes, mass_part: of pos.w the part of M. */
typedef struct gv_accuracy {
    gv_scalar eta4, eta6, per_mass, mass_part, most, least;
} gv_accuracy;

static inline int gv_is_finite(gv_scalar4 v)
{
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

/* Body a, entry k of the active set, at the time (next, next_low).  `last` 0: positions and velocities go back into the
 * active set, for one more evaluation of the forces there. */
static inline void gv_correct(const gv_own own, const gv_new new, const gv_accuracy how, uint a, uint k, gv_scalar next,
                              gv_scalar next_low, int last, global uint *head)
{
    const gv_pair span = gv_span_to(next, next_low, own.time[a], gv_low(own.time_low, a));
    const gv_scalar T = span.hi;
    if (!(T > 0))
        return; /* it is at this time already */
    const gv_scalar4 a1 = new.acc[k], j1 = new.jerk[k];
    /* each times its power of T */
    gv_scalar4 d[6] = {own.acc[a], T * own.jerk[a], (gv_scalar4)(0), (gv_scalar4)(0), (gv_scalar4)(0), (gv_scalar4)(0)};
    gv_scalar4 e[6] = {a1, T * j1, (gv_scalar4)(0), (gv_scalar4)(0), (gv_scalar4)(0), (gv_scalar4)(0)}; /* at the end */
    const gv_scalar per = GV_R(1.0) / T;
#if GV_ORDER == 6
    d[2] = T * T * own.snap[a];
    e[2] = T * T * new.snap[k];
#endif
    gv_fit(GV_ORDER, d, e);

    gv_phase s = {own.pos[a], gv_low(own.pos_low, a), own.vel[a], gv_low(own.vel_low, a)};
    s = gv_advance(s, span, T * T * gv_position_part(d, 1), T * gv_velocity_part(d, 1));
    if (!last) {
        new.pos[k] = s.x;
        new.vel[k] = s.v;
        gv_put_low(new.pos_low, k, s.x_low);
        gv_put_low(new.vel_low, k, s.v_low);
        return;
    }
#if GV_ORDER == 4
    const gv_scalar4 snap = per * (per * e[2]), crackle = snap;
#else
    const gv_scalar4 snap = new.snap[k];
    const gv_scalar4 crackle = per * (per * (per * e[3]));
#endif
    /* derivatives beyond the range of numbers: the body stays as it was */
    if (!gv_is_finite(a1) || !gv_is_finite(j1) || !gv_is_finite(snap) || !gv_is_finite(crackle)) {
        atomic_min(&head[GV_HEAD_SHORT], a);
        return;
    }
    own.pos[a] = s.x;
    own.vel[a] = s.v;
    gv_put_low(own.pos_low, a, s.x_low);
    gv_put_low(own.vel_low, a, s.v_low);
    own.acc[a] = e[0];
    own.jerk[a] = j1;
    own.snap[a] = snap;
#if GV_ORDER == 6
    own.crackle[a] = crackle;
#endif
    own.pot[a] = new.pot[k];
    own.time[a] = next;
    gv_put_low(own.time_low, a, next_low);
    const gv_scalar size = gv_summed_size(new.pot[k], how.per_mass, how.mass_part * s.x.w);
    const gv_scalar wanted = T * gv_wanted_step(GV_ORDER, GV_CRITERION, e, size, GV_FORCE_NOISE, how.eta4, how.eta6);
    const gv_scalar now = gv_block_step(wanted, own.step[a], next, next_low, how.most, how.least);
    if (now == 0)
        atomic_min(&head[GV_HEAD_SHORT], a);
    own.step[a] = now > 0 ? now : how.least;
}
