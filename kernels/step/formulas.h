/* The formulas of Hermite steps, for the kernels and, compiled as C, for the host (src/host/step/host.c).
 *
 * With T the step, a0, j0, s0 the derivatives at its start and a1, j1, s1 at its end, the acceleration in between is
 * the polynomial through them:
 *   order 4: a0 + j0 t + d2 t^2/2 + d3 t^3/6        p = 3 A - J T, q = -2 A + J T,  A = a1 - a0 - j0 T,  J = j1 - j0
 *            d2 = 2 p / T^2,  d3 = 6 q / T^3
 *   order 6: a0 + j0 t + s0 t^2/2 + d3 t^3/6 + d4 t^4/24 + d5 t^5/120
 *            p = 10 A - 4 J T + S T^2/2,  q = -15 A + 7 J T - S T^2,  r = 6 A - 3 J T + S T^2/2
 *            A = a1 - a0 - j0 T - s0 T^2/2,  J = j1 - j0 - s0 T,  S = s1 - s0
 *            d3 = 6 p / T^3,  d4 = 24 q / T^4,  d5 = 120 r / T^5
 * Its integrals correct velocity and position; its derivatives at the end give the next step.
 *
 * The includer has step/layout.h, the types gv_scalar and gv_scalar4, GV_R(x) for constants, GV_LENGTH(v), the length
 * of a vector, and GV_FORMULA, which makes a function inline.  Order and criterion are arguments; in
 * kernels they are constants. */

/* Integrals of a polynomial with derivatives d[0 ... 5] over T: what is added to v, and to x beside v T.  With T 1, of
 * derivatives times their powers of T: over T, over T^2. */
GV_FORMULA gv_scalar4 gv_velocity_part(const gv_scalar4 *d, gv_scalar T)
{
    return T *
           (d[0] +
            T * GV_R(0.5) *
                (d[1] + T * GV_R(0.33333333333333333333) *
                            (d[2] + T * GV_R(0.25) *
                                        (d[3] + T * GV_R(0.2) * (d[4] + T * GV_R(0.16666666666666666667) * d[5])))));
}

GV_FORMULA gv_scalar4 gv_position_part(const gv_scalar4 *d, gv_scalar T)
{
    return T * (T * GV_R(0.5) *
                (d[0] + T * GV_R(0.33333333333333333333) *
                            (d[1] + T * GV_R(0.25) *
                                        (d[2] + T * GV_R(0.2) *
                                                    (d[3] + T * GV_R(0.16666666666666666667) *
                                                                (d[4] + T * GV_R(0.14285714285714285714) * d[5]))))));
}

/* Derivatives, each times its power of T, so that no power of a short step leaves the range of numbers.  Known are
 * d[0], d[1] and e[0], e[1], at the start and the end, in order 6 also d[2] and e[2]; d[3 ... 5] are zero. */
GV_FORMULA void gv_fit(int order, gv_scalar4 *d, gv_scalar4 *e)
{
    if (order == 4) {
        const gv_scalar4 A = e[0] - d[0] - d[1], J = e[1] - d[1];
        d[2] = GV_R(2.0) * (GV_R(3.0) * A - J);
        d[3] = GV_R(6.0) * (GV_R(-2.0) * A + J);
        e[2] = d[2] + d[3];
    } else {
        const gv_scalar4 A = e[0] - d[0] - (d[1] + GV_R(0.5) * d[2]), J = e[1] - d[1] - d[2], S = e[2] - d[2];
        d[3] = GV_R(6.0) * (GV_R(10.0) * A - GV_R(4.0) * J + GV_R(0.5) * S);
        d[4] = GV_R(24.0) * (GV_R(-15.0) * A + GV_R(7.0) * J - S);
        d[5] = GV_R(120.0) * (GV_R(6.0) * A - GV_R(3.0) * J + GV_R(0.5) * S);
    }
    e[3] = d[3] + (d[4] + GV_R(0.5) * d[5]);
    e[4] = d[4] + d[5];
    e[5] = d[5];
}

/* The size of what was summed to an acceleration, which may cancel: pot^2 / M of a body in the potential pot of the
 * others' mass M.  per_mass: 1 over the mass of all, of which the body itself has this part. */
GV_FORMULA gv_scalar gv_summed_size(gv_scalar pot, gv_scalar per_mass, gv_scalar part)
{
    return per_mass * pot * pot / fmax(GV_R(1.0) - fabs(part), GV_R(1e-6));
}

/* Rounding of an acceleration over the size of what was summed, or over its own where that is more, about: the largest
 * that forces in ds and dp have.  The third derivative times T^3 is gv_third_noise such errors wrong, which for short
 * steps is all there is; were it believed, the next step would be shorter still, and so on without end. */
#define GV_FORCE_NOISE_DS GV_R(1e-6)
#define GV_FORCE_NOISE_DP GV_R(4e-15)
#define gv_third_noise(order) ((order) == 4 ? GV_R(12.0) : GV_R(60.0))
/* So are the others, which matters only where accelerations cancel to a hundredth. */
#define GV_CANCELLED GV_R(100.0)
#define gv_second_noise(order) ((order) == 4 ? GV_R(6.0) : GV_R(0.0))
#define GV_FOURTH_NOISE GV_R(360.0)
#define GV_FIFTH_NOISE GV_R(720.0)
#define gv_without(n, noise) fmax((n) - (noise), GV_R(0.0))

/* The first step: eta |a| / |j|.  Where accelerations cancel, as in the midst of what is symmetric, |a| is rounding and
 * a part of the size of what was summed takes its place.  Bodies at rest have no jerk: their accelerations change by
 * (t / T)^2, T being sqrt(r^3 / M) around a mass M at a distance r, where pot is M / r and |a| is M / r^2; that by eta,
 * too, is the longest first step.  An external force may leave pot 0, which says nothing. */
#define GV_START_PART GV_R(0.01)
GV_FORMULA gv_scalar gv_first_step(gv_scalar4 acc, gv_scalar4 jerk, gv_scalar pot, gv_scalar size, gv_scalar eta_start)
{
    const gv_scalar a = GV_LENGTH(acc), j = GV_LENGTH(jerk), p = fabs(pot), most = fmax(a, size);
    const gv_scalar falling = p > 0 && most > 0 ? sqrt(eta_start) * sqrt(p) / most : GV_R(0.0);
    const gv_scalar moving = eta_start * fmax(a, GV_START_PART * size) / j;
    return falling > 0 && !(falling > moving) ? falling : moving;
}

/* derivatives d[0 ... 5] at the end of a step, each times its power of T -> the next step over T, not yet a power of
 * two.  Over |a|, and with roots before products: the noise of high derivatives would leave the range of numbers. */
GV_FORMULA gv_scalar gv_wanted_step(int order, int criterion, const gv_scalar4 *d, gv_scalar size, gv_scalar noise,
                                    gv_scalar eta4, gv_scalar eta6)
{
    gv_scalar n[6]; /* sizes */
    const gv_scalar a = GV_LENGTH(d[0]), per = a > 0 ? GV_R(1.0) / a : GV_R(1.0);
    for (int k = 0; k < 6; k++)
        n[k] = GV_LENGTH(per * d[k]);
    /* what differences of accelerations with their rounding may give alone */
    const gv_scalar third = gv_without(n[3], gv_third_noise(order) * noise * fmax(per * size, n[0]));
    const gv_scalar cancelled = noise * gv_without(per * size, GV_CANCELLED * n[0]);
    const gv_scalar second = gv_without(n[2], gv_second_noise(order) * cancelled);
    const gv_scalar near2 = n[0] * second + n[1] * n[1];
    const gv_scalar aarseth = sqrt(eta4 * near2 / (n[1] * third + second * second));
    if (criterion == GV_STEP_CRITERION_AARSETH)
        return aarseth;
    const gv_scalar fourth = gv_without(n[4], GV_FOURTH_NOISE * cancelled);
    const gv_scalar far2 =
        gv_without(n[3], gv_third_noise(order) * cancelled) * gv_without(n[5], GV_FIFTH_NOISE * cancelled) +
        fourth * fourth;
    const gv_scalar general = eta6 * cbrt(sqrt(near2 / far2));
    return criterion == GV_STEP_CRITERION_AVERAGE ? GV_R(0.5) * (aarseth + general) : general;
}

/* --------------------------------------------------- steps that are powers of two */

/* the largest power of two that is not above x > 0 */
GV_FORMULA gv_scalar gv_power_below(gv_scalar x)
{
    return ldexp(GV_R(1.0), ilogb(x));
}

/* 1 if t is a multiple of the power of two `step` */
GV_FORMULA int gv_is_multiple(gv_scalar t, gv_scalar t_low, gv_scalar step)
{
    const gv_scalar per = GV_R(1.0) / step;
    const gv_scalar high = t * per, low = t_low * per;
    const gv_scalar rest = (high - floor(high)) + (low - floor(low));
    return rest == floor(rest);
}

/* A step that keeps blocks: a power of two, at most twice the old one, and the time a multiple of it.  0: too short. */
GV_FORMULA gv_scalar gv_block_step(gv_scalar wanted, gv_scalar old, gv_scalar t, gv_scalar t_low, gv_scalar most,
                                   gv_scalar least)
{
    /* no limit: all derivatives but the first are zero */
    gv_scalar step = wanted > 0 && wanted < most ? gv_power_below(wanted) : most;
    step = fmin(step, GV_R(2.0) * old);
    while (step >= least && !gv_is_multiple(t, t_low, step))
        step *= GV_R(0.5);
    return step >= least ? step : 0;
}
