/* The clock of a leapfrog: kicks and drifts over parts of steps, for every length that a step may have. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/step/leapfrog.h"

gravel_status gv_leap_make_table(gravel_leapfrog *f)
{
    const size_t count = f->clock.kick ? (size_t)f->levels * GV_TABLE_PARTS : 1;
    f->numbers = calloc(count, sizeof *f->numbers);
    return f->numbers ? gv_buffer_reserve(&f->worker, &f->table, count * sizeof *f->numbers, "kicks of steps")
                      : gv_fail(GRAVEL_ERR_MEMORY, "no memory for an integrator");
}

double gv_leap_drift(const gravel_leapfrog *f, double from, double to)
{
    return f->clock.kick ? f->clock.drift(f->clock.user, from, to) : to - from;
}

double gv_leap_stretch(const gravel_leapfrog *f, double time)
{
    const double by = f->clock.kick ? f->clock.stretch(f->clock.user, time) : 1;
    return by * by;
}

/* The host waits at each block for the next one, so that numbers which are on their way are not written over. */
static gravel_status send(gravel_leapfrog *f, cl_bool waits)
{
    const size_t count = (size_t)f->levels * GV_TABLE_PARTS, size = f->bodies->precision == GRAVEL_DP ? 8 : 4;
    for (size_t k = 0; k < count && size == 4; k++) {
        const float single = (float)f->numbers[k];
        memcpy((char *)f->numbers + 4 * k, &single, sizeof single);
    }
    const cl_int code = clEnqueueWriteBuffer(gv_worker_queue(&f->worker), f->table.mem, waits, 0, count * size,
                                             f->numbers, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "writing the kicks of steps") : GRAVEL_OK;
}

static double kick(const gravel_leapfrog *f, double from, double to)
{
    return f->clock.kick ? f->clock.kick(f->clock.user, from, to) : to - from;
}

gravel_status gv_leap_write_kicks(gravel_leapfrog *f, double time, int first)
{
    if (!f->clock.kick)
        return GRAVEL_OK;
    for (int k = 0; k < f->levels; k++) {
        const double half = ldexp(f->options.step_max, -k - 1);
        f->numbers[GV_TABLE_FIRST * f->levels + k] = kick(f, time, time + half);
        f->numbers[GV_TABLE_SECOND * f->levels + k] = first ? 0 : kick(f, time - half, time);
    }
    return send(f, CL_FALSE);
}

/* Steps begin at multiples of themselves: a body with the step S is at the last multiple of S. */
gravel_status gv_leap_write_look(gravel_leapfrog *f, double time)
{
    if (!f->clock.kick)
        return GRAVEL_OK;
    for (int k = 0; k < f->levels; k++) {
        const double step = ldexp(f->options.step_max, -k), begin = step * floor(f->now / step);
        const double middle = begin + 0.5 * (time - begin);
        f->numbers[GV_TABLE_TRIM * f->levels + k] = -kick(f, middle, begin + 0.5 * step);
        f->numbers[GV_TABLE_WAY * f->levels + k] = f->clock.drift(f->clock.user, begin, time);
        f->numbers[GV_TABLE_CLOSE * f->levels + k] = kick(f, middle, time);
    }
    return send(f, CL_TRUE);
}

/* ----------------------------------------------------------------- far part */

int gv_leap_is_far(const gravel_leapfrog *f, double time)
{
    const double step = f->options.mesh_step;
    return step > 0 && fmod(time, step) == 0;
}

double gv_leap_far_kick(const gravel_leapfrog *f, double time, int first)
{
    const double half = 0.5 * f->options.mesh_step;
    if (!gv_leap_is_far(f, time))
        return 0;
    return (first ? 0 : kick(f, time - half, time)) + kick(f, time, time + half);
}

/* As for a body whose step is mesh_step. */
gv_far_look gv_leap_far_look(const gravel_leapfrog *f, double time)
{
    const double step = f->options.mesh_step;
    if (step == 0)
        return (gv_far_look){0, 0, 0};
    const double begin = step * floor(f->now / step), middle = begin + 0.5 * (time - begin);
    return (gv_far_look){-kick(f, middle, begin + 0.5 * step), gv_leap_drift(f, begin, time), kick(f, middle, time)};
}

gravel_status gv_leap_need_far(const gravel_leapfrog *f, gravel_bodies *bodies, cl_mem *far)
{
    return gv_bodies_need(bodies, f->options.mesh_step > 0 ? GV_WORD_FAR : GV_WORD_POSITION, far);
}
