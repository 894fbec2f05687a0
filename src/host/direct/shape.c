#include "host/direct/shape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/shape/layout.h"

/* --------------------------------------------------------------- truncated */

static double factor_of_force(double u, void *user)
{
    (void)user;
    return erfc(u) + 2 / sqrt(acos(-1.0)) * u * exp(-u * u);
}

static double factor_of_potential(double u, void *user)
{
    (void)user;
    return erfc(u);
}

/* Intervals of 3/512 from 0 to beyond u = r_cut / 2 r_s; the same table serves every r_s, and a longer one of before
 * gives the same bits: its end is 3 times a power of two, by which scales are exact. */
static gravel_status need_truncated(gravel_direct *d, int level, double most)
{
    gravel_table table = GRAVEL_TABLE_INIT;
    const double end = 3 * exp2(ceil(log2(most > 3 ? most / 3 : 1)));
    if (d->truncated.count > 0 && d->truncated.level == level && d->truncated.end >= most)
        return GRAVEL_OK;
    table.force = factor_of_force;
    table.potential = factor_of_potential;
    table.cut = end;
    table.level = level;
    table.even = 1;
    table.intervals = (int)(512 * end / 3);
    return gv_direct_make_table(d, &table, &d->truncated);
}

/* ------------------------------------------------------------- arguments */

static void use_table(const gv_direct_table *t, double unit, gv_direct_shaping *s)
{
    s->shape = GV_SHAPE_TABLE;
    s->records = t->records.mem;
    s->last = t->count - 1;
    s->per_length = unit / (t->length * t->end);
    s->per_interval = (double)t->count;
    s->most2 = 1;
    s->features = (unsigned)(t->kind == GRAVEL_TABLE_FORCES ? GV_DIRECT_FORCES : GV_DIRECT_FACTORS) |
                  (unsigned)t->level << GV_DIRECT_LEVEL_AT | (unsigned)t->bits << GV_DIRECT_BITS_AT;
    snprintf(s->macros, sizeof s->macros, " -DGV_SHAPE=%d -DGV_TABLE_OF=%d -DGV_TABLE_LEVEL=%d -DGV_TABLE_BITS=%d",
             GV_SHAPE_TABLE, (int)t->kind, t->level, t->bits);
}

static gravel_status shape_truncated(gravel_direct *d, const gravel_direct_call *call, double unit,
                                     gv_direct_shaping *s)
{
    enum { MOST = 60 }; /* erfc of 30 is below the smallest double */
    if (!(call->r_s > 0) || !(call->r_cut > 0) || isinf(call->r_s) || isinf(call->r_cut))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "r_s is %g and r_cut %g; both must be positive", call->r_s, call->r_cut);
    if (call->level < GRAVEL_LEVEL_RATIONAL || call->level > 4)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the level of the truncated shape is %d; it must be -2 to 4", call->level);
    const double most = fmin(call->r_cut / (2 * call->r_s), MOST);
    if (call->level >= 0) {
        gravel_status status = need_truncated(d, call->level, most);
        if (status)
            return status;
        use_table(&d->truncated, unit / (2 * call->r_s), s);
        s->most2 = most * most / (d->truncated.end * d->truncated.end);
        return GRAVEL_OK;
    }
    s->shape = GV_SHAPE_TRUNCATED;
    s->per_length = unit / (2 * call->r_s);
    s->most2 = most * most;
    s->features = call->level == GRAVEL_LEVEL_RATIONAL ? GV_DIRECT_RATIONAL : GV_DIRECT_EXACT;
    snprintf(s->macros, sizeof s->macros, " -DGV_SHAPE=%d -DGV_FORM=%d", GV_SHAPE_TRUNCATED,
             call->level == GRAVEL_LEVEL_RATIONAL ? GV_FORM_RATIONAL : GV_FORM_EXACT);
    return GRAVEL_OK;
}

/* ----------------------------------------------------------- quadrupoles */

gravel_status gravel_direct_write_quadrupoles(gravel_direct *d, size_t first, size_t count, const double (*q)[6])
{
    gv_direct_quadrupoles *own = d ? &d->quadrupoles : NULL;
    if (!d || (!q && count > 0))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_write_quadrupoles: no object or no quadrupoles");
    if (first > UINT32_MAX || count > UINT32_MAX - first)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_write_quadrupoles: there is no address %zu", first);
    for (size_t k = 0; k < count; k++)
        for (int c = 0; c < 6; c++)
            if (!isfinite(q[k][c]))
                return gv_fail(GRAVEL_ERR_INPUT, "quadrupole %zu: component %d is %g", first + k, c, q[k][c]);
    if (first + count > own->capacity) {
        const size_t capacity = first + count + own->capacity / 2;
        void *grown = realloc(own->host, capacity * sizeof *own->host);
        if (!grown)
            return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu quadrupoles", capacity);
        own->host = grown;
        own->capacity = capacity;
    }
    if (first > own->count)
        memset(own->host + own->count, 0, (first - own->count) * sizeof *own->host);
    if (count > 0)
        memcpy(own->host + first, q, count * sizeof *own->host);
    own->count = first + count > own->count ? first + count : own->count;
    own->sent = 0;
    return GRAVEL_OK;
}

/* One of the two planes of four, divided by `unit`; what was not written is zero. */
static gravel_status send_half(gravel_direct *d, int half, size_t n, double unit)
{
    gv_direct_quadrupoles *own = &d->quadrupoles;
    const int dp = d->options.precision == GRAVEL_DP;
    const size_t bytes = 4 * n * (dp ? sizeof(double) : sizeof(float));
    void *staging = calloc(1, bytes);
    gravel_status status = gv_buffer_reserve(&d->worker, &own->half[half], bytes, "quadrupoles");
    if (!status && !staging)
        status = gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu quadrupoles", n);
    for (size_t k = 0; k < n && k < own->count && !status; k++)
        for (size_t c = 0; c < 4 - 2 * (size_t)half; c++) {
            const double v = own->host[k][4 * (size_t)half + c] / unit;
            if (dp)
                ((double *)staging)[4 * k + c] = v;
            else
                ((float *)staging)[4 * k + c] = (float)v;
        }
    cl_int code = CL_SUCCESS;
    if (!status)
        code = clEnqueueWriteBuffer(gv_worker_queue(&d->worker), own->half[half].mem, CL_TRUE, 0, bytes, staging, 0,
                                    NULL, NULL);
    free(staging);
    return code ? gv_fail_cl(code, "sending quadrupoles to %s", d->limits.info.name) : status;
}

static gravel_status shape_quadrupoles(gravel_direct *d, const gv_selection *sources, gv_direct_shaping *s)
{
    gv_direct_quadrupoles *own = &d->quadrupoles;
    if (sources->list || sources->first > 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "sources with quadrupoles are a view of all bodies, or of a range from the "
                                            "first on");
    const gravel_frame *frame = sources->bodies ? &sources->bodies->frame : NULL;
    const size_t n = sources->bodies ? sources->bodies->count : 0;
    if (n == 0)
        return GRAVEL_OK;
    const double unit = frame->mass * frame->length * frame->length;
    gravel_status status = GRAVEL_OK;
    const int is_sent = own->sent >= n && own->unit == unit;
    own->sent = 0;
    for (int half = 0; half < 2 && !status && !is_sent; half++)
        status = send_half(d, half, n, unit);
    if (status)
        return status;
    own->sent = n;
    own->unit = unit;
    s->quadrupoles = 1;
    s->features = GV_DIRECT_QUADRUPOLES;
    s->half[0] = own->half[0].mem;
    s->half[1] = own->half[1].mem;
    snprintf(s->macros, sizeof s->macros, " -DGV_QUADRUPOLE=1");
    return GRAVEL_OK;
}

/* ------------------------------------------------------------------ calls */

gravel_status gv_direct_shape(gravel_direct *d, const gravel_direct_call *call, const gv_selection *sources,
                              gv_direct_shaping *s)
{
    const double unit = sources->bodies ? sources->bodies->frame.length : 1;
    *s = (gv_direct_shaping){.precision = d->options.precision};
    if (call->shape == GRAVEL_SHAPE_PLUMMER && !call->quadrupoles)
        return GRAVEL_OK;
    if ((unsigned)call->shape > GRAVEL_SHAPE_TABLE)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "there is no shape %d", (int)call->shape);
    if (call->order != 2)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "shapes that end at a distance and quadrupoles are for order 2, not %d",
                       call->order);
    if (call->quadrupoles && call->shape != GRAVEL_SHAPE_PLUMMER)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "quadrupoles go with GRAVEL_SHAPE_PLUMMER only");
    gravel_status status = GRAVEL_OK;
    if (call->quadrupoles)
        return shape_quadrupoles(d, sources, s);
    if (call->shape == GRAVEL_SHAPE_TRUNCATED)
        status = shape_truncated(d, call, unit, s);
    else if (d->table.count > 0)
        use_table(&d->table, unit, s);
    else
        status =
            gv_fail(GRAVEL_ERR_STATE, "there is no table: gravel_direct_set_table comes before GRAVEL_SHAPE_TABLE");
    const double real[3] = {s->per_length, s->most2, s->per_interval};
    for (int k = 0; k < 3; k++) {
        s->real_dp[k] = real[k];
        s->real_sp[k] = (cl_float)real[k];
    }
    s->last_record = (cl_uint)s->last;
    return status;
}

size_t gv_direct_shape_args(const gv_direct_shaping *s, gv_arg *arg)
{
    const int dp = s->precision == GRAVEL_DP;
    size_t n = 0;
    for (int half = 0; half < 2 && s->quadrupoles; half++)
        arg[n++] = GV_ARG(s->half[half]);
    if (s->shape == GV_SHAPE_PLUMMER)
        return n;
    for (int k = 0; k < 3; k++)
        arg[n++] = dp ? GV_ARG(s->real_dp[k]) : GV_ARG(s->real_sp[k]);
    arg[n++] = GV_ARG(s->last_record);
    arg[n++] = GV_ARG(s->records);
    return n;
}

void gv_direct_release_shapes(gravel_direct *d)
{
    gv_buffer_release(&d->table.records);
    gv_buffer_release(&d->truncated.records);
    for (int half = 0; half < 2; half++)
        gv_buffer_release(&d->quadrupoles.half[half]);
    free(d->quadrupoles.host);
}
