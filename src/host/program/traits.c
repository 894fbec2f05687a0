#include "host/program/traits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/device/device.h"

/* No processor runs a turn of the long loop, which needs the one before, in less than a cycle of 10 GHz. */
#define SHORTEST_LOOP (GV_LONG_LOOP * 1e-10)

/* The largest relative error of a plane of results; INFINITY where one is no number. */
static float plane_error(const gv_trial *t, int plane)
{
    double worst = 0;

    for (int k = 0; k < GV_TRIAL_X; k++) {
        const double error = fabs((double)t->result[plane][k] * sqrt((double)t->x[k]) - 1);
        if (!(error <= worst))
            worst = isnan(error) ? INFINITY : error;
    }
    return (float)worst;
}

/* found, and as good as its name */
static int has_estimate(const gv_trial *t, int flag, int plane, double promise)
{
    const double rounding = 1.2e-7; /* results come back as float */

    return t->found[flag] && (double)plane_error(t, plane) <= promise + rounding;
}

/* ------------------------------------------------------------------- races */

/* In hardware, fma takes half the time of a product and a sum; emulated, or split into lanes, five times as long. */
#define SLOW_FMA 2.0
/* What is reported of vectors counts unless it takes a quarter more than others. */
#define SLOW_VECTORS 1.25
/* A compiler that spreads work-items over lanes may do that well for the trial's simple loop and not for whole kernels
 * (Intel's: as fast as vectors in the trial, seven times slower in the force kernel), so groups must be far faster.  A
 * driver that maps work-items to lanes reports a vector width of one: explicit vectors then leave lanes idle. */
#define FAST_GROUPS 2.0
#define SLOW_GROUPS 4.0

int gv_traits_fma_is_clear(const gv_race *fma, void *trial)
{
    (void)trial;
    return gv_race_exceeds(fma, GV_FUSED, GV_APART, SLOW_FMA) != 0;
}

/* What the device reports stands where nobody timed it, or where the times do not say. */
static int fma_is_fast(const gv_trial *t)
{
    const int slow = gv_race_exceeds(&t->fma, GV_FUSED, GV_APART, SLOW_FMA);

    return t->found[GV_FOUND_FUSED] && (slow ? slow < 0 : t->claims_fma && (!t->is_cpu || t->fma.turns > 0));
}

/* The vectors of the registers that the compiler says it uses, or the driver reports; -1: none that are right */
static int reported_vectors(const gv_trial *t)
{
    const int wanted = t->found[GV_FOUND_LANES] ? t->found[GV_FOUND_LANES] : t->driver_lanes;

    for (int w = 0; w < GV_TRIAL_WIDTHS; w++)
        if (!t->wrong[w] && 4 << w == wanted)
            return w;
    return -1;
}

/* Those with right sums that are reported, unless others are clearly faster; -1: none */
static int best_vectors(const gv_trial *t)
{
    const int reported = reported_vectors(t);
    int best = -1;

    for (int w = 0; w < GV_TRIAL_WIDTHS; w++)
        if (!t->wrong[w] && (best < 0 || gv_race_least(&t->shapes, w) < gv_race_least(&t->shapes, best)))
            best = w;
    return reported >= 0 && gv_race_exceeds(&t->shapes, reported, best, SLOW_VECTORS) <= 0 ? reported : best;
}

static int maps_to_lanes(const gv_trial *t)
{
    return t->driver_lanes == 1 && t->found[GV_FOUND_LANES] == 0;
}

static int runs_groups(const gv_trial *t, int vectors)
{
    if (!t->is_cpu || vectors < 0)
        return !t->is_cpu || !t->wrong[GV_BY_GROUP];
    if (t->wrong[GV_BY_GROUP])
        return 0;
    return gv_race_exceeds(&t->shapes, vectors, GV_BY_GROUP, FAST_GROUPS) > 0 ||
           (maps_to_lanes(t) && gv_race_exceeds(&t->shapes, GV_BY_GROUP, vectors, SLOW_GROUPS) <= 0);
}

int gv_traits_shapes_are_clear(const gv_race *shapes, void *trial)
{
    const gv_trial *t = trial;
    const int reported = reported_vectors(t), vectors = best_vectors(t);

    for (int w = 0; w < GV_TRIAL_WIDTHS && reported >= 0; w++)
        if (w != reported && !t->wrong[w] && gv_race_exceeds(shapes, reported, w, SLOW_VECTORS) == 0)
            return 0;
    if (vectors < 0 || t->wrong[GV_BY_GROUP])
        return 1;
    return gv_race_exceeds(shapes, vectors, GV_BY_GROUP, FAST_GROUPS) != 0 &&
           (!maps_to_lanes(t) || gv_race_exceeds(shapes, GV_BY_GROUP, vectors, SLOW_GROUPS) != 0);
}

/* The compiler's registers, unless vectors of that width are wrong or slow. */
static int find_lanes(const gv_trial *t, int vectors)
{
    const int says = t->found[GV_FOUND_LANES];

    return !t->is_cpu || (says > 0 && says < 4) ? says : vectors < 0 ? 1 : 4 << vectors;
}

static double pair_s(const gv_trial *t)
{
    double least = 0;

    for (int k = 0; k < GV_SHAPES && t->shapes.turns > 0; k++) {
        const double s = t->wrong[k] ? 0 : gv_race_least(&t->shapes, k);
        least = s > 0 && (least <= 0 || s < least) ? s : least;
    }
    return least / GV_TRIAL_PAIRS;
}

void gv_traits_judge(const gv_trial *t, gv_traits *traits)
{
    memset(traits, 0, sizeof *traits);
    traits->fp64 = t->found[GV_FOUND_FP64] != 0;
    traits->fast_fma = fma_is_fast(t);
    traits->rsqrt14 =
        has_estimate(t, GV_FOUND_RSQRT14, GV_TRIAL_RSQRT14, ldexp(1, -14)) &&
        (!traits->fp64 || has_estimate(t, GV_FOUND_RSQRT14_DOUBLE, GV_TRIAL_RSQRT14_DOUBLE, ldexp(1, -14)));
    traits->rsqrt12 = has_estimate(t, GV_FOUND_RSQRT12, GV_TRIAL_RSQRT12, 1.5 * ldexp(1, -12));
    traits->ptx_asm = has_estimate(t, GV_FOUND_PTX, GV_TRIAL_PTX, ldexp(1, -20)) &&
                      has_estimate(t, GV_FOUND_PTX, GV_TRIAL_PTX_DOUBLE, ldexp(1, -20));
    const int vectors = best_vectors(t);
    traits->lanes = find_lanes(t, vectors);
    for (int w = 0; w < GV_TRIAL_WIDTHS; w++)
        traits->bad_vectors |= t->wrong[w] ? 4 << w : 0;
    traits->exact_error = plane_error(t, GV_TRIAL_EXACT);
    for (int plane = GV_TRIAL_NATIVE; plane < GV_TRIAL_NATIVE + 4; plane++)
        traits->native_error = fmaxf(traits->native_error, plane_error(t, plane));
    if (traits->ptx_asm) /* used in place of native_rsqrt */
        traits->native_error = plane_error(t, GV_TRIAL_PTX);
    traits->seed_error = traits->ptx_asm ? plane_error(t, GV_TRIAL_PTX_DOUBLE) : traits->native_error;
    traits->short_loops = !t->counted;
    traits->wrong_timers = !(t->event_s >= SHORTEST_LOOP && t->event_s <= 1.5 * t->wall_s + 1e-3);
    traits->runs_groups = runs_groups(t, vectors);
    traits->pair_s = (float)pair_s(t);
}

void gv_traits_take(gv_device *device, const gv_traits *traits)
{
    gravel_device_info *info = &device->info;

    device->traits = *traits;
    device->fast_fma = traits->fast_fma;
    device->has_rsqrt14 = traits->rsqrt14;
    device->has_rsqrt12 = traits->rsqrt12;
    device->has_ptx_asm = traits->ptx_asm;
    /* the compiler's behaviour counts more than the driver's report: some drivers report the lanes of the machine they
     * were built on */
    if (info->type == GRAVEL_DEVICE_CPU && traits->runs_groups) {
        info->simd_width_float = 1;
        info->simd_width_double = 1;
    } else if (info->type == GRAVEL_DEVICE_CPU && traits->lanes > 0) {
        info->simd_width_float = traits->lanes;
        info->simd_width_double = traits->lanes / 2;
    }
    if (!traits->fp64 || !info->has_fp64)
        gv_device_hide_fp64(info);
    snprintf(device->feature_options, sizeof device->feature_options, "%s%s%s%s%s%s",
             info->has_fp64 ? " -DGV_HAVE_FP64=1" : "", device->fast_fma ? " -DGV_FAST_FMA=1" : "",
             device->has_ptx_asm ? " -DGV_PTX_ASM=1" : "", device->has_rsqrt14 ? " -DGV_RSQRT14=1" : "",
             device->has_rsqrt12 ? " -DGV_RSQRT12=1" : "",
             (double)traits->native_error > GV_ROUGH_ESTIMATE ? " -DGV_ROUGH_NATIVE=1" : "");
}

const char *gv_traits_refuse(const gv_traits *traits)
{
    return traits->short_loops
               ? "its compiler ends loops before their last turn, so that forces of many bodies would be "
                 "wrong: another version of the driver, or another driver, is needed"
               : NULL;
}
