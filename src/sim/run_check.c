/* Whether the settings of a run fit together, and its particles. */
#include <math.h>

#include "sim/run.h"

static int is_power_of_two(double x)
{
    int exponent;
    return x > 0 && isfinite(x) && frexp(x, &exponent) == 0.5;
}

/* The option that is wrong by its name on the command line, which is also that in a run file. */
static gravel_status check_step(const char *name, double step)
{
    if (is_power_of_two(step))
        return GRAVEL_OK;
    if (!(step > 0) || !isfinite(step))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s is %g; it must be above 0", name, step);
    const double below = exp2(floor(log2(step)));
    return gv_fail(GRAVEL_ERR_ARGUMENT, "%s is %g; steps are powers of two: %.10g or %.10g", name, step, below,
                   2 * below);
}

static gravel_status check_method(const gv_run_settings *s)
{
    if (s->order != 2 && s->order != 4 && s->order != 6)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the order is %d; it must be 2, 4 or 6", s->order);
    if (s->solver == GV_RUN_TREE && s->order != 2)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "a tree gives no jerks: --solver tree needs --order 2");
    if (s->order > 2 && s->precision == GRAVEL_SP)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "order %d needs --precision ds or dp", s->order);
    if (s->order < 6 && s->criterion != GRAVEL_STEP_AARSETH)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the %s criterion needs --order 6",
                       gravel_step_criterion_name(s->criterion));
    if (s->order == 2 && s->steps != GV_RUN_FIXED && !(s->eps > 0))
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "without softening the leapfrog's steps sqrt(eta eps / |a|) are 0: give --eps, or --steps fixed "
                       "and --step-max");
    return GRAVEL_OK;
}

static gravel_status check_times(const gv_run_settings *s, double now)
{
    const struct {
        const char *name;
        double value;
    } every[] = {{"--snapshot-every", s->snapshot_every},
                 {"--diagnose-every", s->diagnose_every},
                 {"--checkpoint-every", s->checkpoint_every}};
    if (!isfinite(s->until) || !(s->until > now))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "--until %.9g: the particles are at time %.9g already", s->until, now);
    for (size_t k = 0; k < sizeof every / sizeof every[0]; k++)
        if (!(every[k].value >= 0) || !isfinite(every[k].value))
            return gv_fail(GRAVEL_ERR_ARGUMENT, "%s is %g; it must be 0 or more", every[k].name, every[k].value);
    for (size_t k = 0; k < 2; k++)
        if (every[k].value > 0 && (s->until - now) / every[k].value > 1e7)
            return gv_fail(GRAVEL_ERR_ARGUMENT, "%s %g gives more than 1e7 outputs until %g", every[k].name,
                           every[k].value, s->until);
    if (s->diagnose_every > 0 && (s->until - now) / s->diagnose_every > GV_DIAGNOSTIC_LINES)
        return gv_fail(
            GRAVEL_ERR_ARGUMENT,
            "--diagnose-every %g gives more than the %d lines until %g that can be read again; take a longer "
            "interval",
            s->diagnose_every, GV_DIAGNOSTIC_LINES, s->until);
    return GRAVEL_OK;
}

gravel_status gv_run_check(const gv_run_settings *s, const gv_particles *p)
{
    gravel_status status = check_method(s);
    if (!status)
        status = check_step("--step-max", s->step_max);
    if (!status)
        status = check_step("--step-min", s->step_min);
    if (!status && s->step_min > s->step_max)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "--step-min %g is above --step-max %g", s->step_min, s->step_max);
    if (!status && p->count == 0)
        status = gv_fail(GRAVEL_ERR_INPUT, "there are no particles");
    if (!status && s->snapshot_files > 1 && (s->text || (size_t)s->snapshot_files > p->count))
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "--snapshot-files %d: HDF5 only, and at most as many as particles (%zu)",
                         s->snapshot_files, p->count);
    if (!status && s->together && (s->text || s->snapshot_files > 1))
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "--snapshot-writers all: one file in HDF5, no --snapshot-%s",
                         s->text ? "format text" : "files");
    if (!status && !p->vx)
        status = gv_fail(GRAVEL_ERR_INPUT, "the particles have no velocities: columns id m x y z vx vy vz");
    return status ? status : check_times(s, p->time);
}
