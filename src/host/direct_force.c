/* One force call of gravel_direct: sinks to the device, kernels, results back. */
#include "host/direct.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/row.h"

static size_t scalar_size(const gravel_direct *d)
{
    return (size_t)d->layout.scalar_size;
}

static int has_nearest(const gravel_direct *d)
{
    return d->options.nearest;
}

static size_t capacity_of(const gravel_direct *d)
{
    return (size_t)d->options.neighbour_capacity;
}

/* where the event of a timed kernel goes */
static cl_event *event_of(gravel_direct *d, int kernel)
{
    return d->pair.timed ? &d->pair.event[kernel] : NULL;
}

static void free_events(gv_direct_pair *pair)
{
    for (int k = 0; k < GV_DIRECT_EVENTS; ++k)
        if (pair->event[k]) {
            clReleaseEvent(pair->event[k]);
            pair->event[k] = NULL;
        }
}

void gv_direct_drop_pair(gravel_direct *d)
{
    gv_staging_wait(&d->result_staging);
    gv_staging_wait(&d->sink_staging);
    free_events(&d->pair);
    free(d->pair.ids);
    memset(&d->pair, 0, sizeof d->pair);
}

/* radius^2 as the kernel compares it; what matches nothing becomes -1 */
static void pack_radius(const gravel_direct *d, void *out, size_t n, size_t stride, const double *radius)
{
    const double most = d->variant.precision == GRAVEL_DP ? DBL_MAX : FLT_MAX;
    for (size_t k = 0; k < stride; ++k) {
        const double r = radius && k < n ? radius[k] / d->length_unit : -1;
        double r2 = r >= 0 ? r * r : -1;
        r2 = r2 < most ? r2 : most;
        if (d->variant.precision == GRAVEL_DP)
            ((double *)out)[k] = r2;
        else
            ((float *)out)[k] = (float)r2;
    }
}

static void pack_ids(void *out, size_t n, size_t stride, const int32_t *id)
{
    int32_t *to = out;
    for (size_t k = 0; k < stride; ++k)
        to[k] = id && k < n ? id[k] : -1;
}

static gravel_status pack_sinks(const gravel_direct *d, const gravel_sinks *s, size_t stride, char *out)
{
    const gravel_vec vec[3] = {s->pos, s->vel, s->acc};
    static const char *const name[3] = {"position", "velocity", "acceleration"};
    const size_t three = 3 * stride * scalar_size(d);
    for (int k = 0; k < d->variant.order / 2; ++k) {
        const gv_pack how = gv_pack_vectors(d, k);
        const size_t bad = gv_pack_planes(how, out, s->count, stride, vec[k], 0);
        if (bad != SIZE_MAX)
            return gv_pack_failure("sink", name[k], bad, &vec[k], NULL, how);
        out += three;
        if (k == 0 && d->variant.precision == GRAVEL_DS) {
            gv_pack_planes(how, out, s->count, stride, vec[k], 1);
            out += three;
        }
    }
    if (capacity_of(d) > 0) {
        for (size_t k = 0; s->radius && k < s->count; ++k)
            if (isnan(s->radius[k]))
                return gv_fail(GRAVEL_ERR_INPUT, "sink %zu: radius is not a number", k);
        pack_radius(d, out, s->count, stride, s->radius);
        out += stride * scalar_size(d);
    }
    pack_ids(out, s->count, stride, s->id);
    return GRAVEL_OK;
}

/* What a launch needs of memory: partial results, lists, results. */
static gravel_status reserve_call(gravel_direct *d, const gv_direct_plan *plan, size_t sinks)
{
    const size_t part = (size_t)d->layout.result_planes * plan->stride * scalar_size(d);
    gravel_status status = gv_direct_reserve(d, &d->sinks, &d->sinks_size,
                                             (size_t)d->layout.sink_planes * plan->stride * scalar_size(d), "sinks");
    if (!status)
        status = gv_direct_reserve(d, &d->result, &d->result_size, part, "results");
    if (!status && plan->blocks > 1)
        status = gv_direct_reserve(d, &d->partial, &d->partial_size, plan->blocks * part, "partial results");
    if (!status)
        status = gv_staging_reserve(d, &d->result_staging, part + sinks * sizeof(uint32_t));
    if (status || capacity_of(d) == 0)
        return status;
    const size_t counts = plan->parts * plan->stride * sizeof(uint32_t);
    status = gv_direct_reserve(d, &d->part_count, &d->part_count_size, counts, "neighbour counts");
    if (!status)
        status =
            gv_direct_reserve(d, &d->part_list, &d->part_list_size, counts * capacity_of(d), "partial neighbour lists");
    if (!status)
        status = gv_direct_reserve(d, &d->count_out, &d->count_size, sinks * sizeof(uint32_t), "neighbour counts");
    if (!status)
        status = gv_direct_reserve(d, &d->list_out, &d->list_size, sinks * capacity_of(d) * sizeof(uint32_t),
                                   "neighbour lists");
    return status;
}

static cl_int set_force_args(gravel_direct *d, cl_kernel kernel, const gv_direct_plan *plan, double eps)
{
    /* planes of the sources in the kernel's order: position, low words, velocity, acceleration; absent ones repeat the
     * first and are not read */
    const int pair = d->variant.precision == GRAVEL_DS;
    const cl_mem first = d->force_plane[0];
    const cl_mem lo = pair ? d->force_plane[1] : first;
    const cl_mem vel = d->variant.order >= 4 ? d->force_plane[1 + pair] : first;
    const cl_mem acc = d->variant.order >= 6 ? d->force_plane[2 + pair] : first;
    const cl_mem out = plan->blocks > 1 ? d->partial : d->result;
    const cl_uint word[4] = {(cl_uint)d->options.neighbour_capacity, (cl_uint)gv_direct_source_count(d),
                             (cl_uint)plan->part_sources, (cl_uint)plan->stride};
    const cl_mem buffer[9] = {first, lo, vel, acc, d->id, d->sinks, out, d->part_count, d->part_list};
    const double eps2 = eps * eps;
    const float eps2_float = (float)eps2;
    cl_int code = CL_SUCCESS;
    for (cl_uint k = 0; k < 9; ++k)
        code |= clSetKernelArg(kernel, k, sizeof(cl_mem), &buffer[k]);
    for (cl_uint k = 0; k < 4; ++k)
        code |= clSetKernelArg(kernel, 9 + k, sizeof(cl_uint), &word[k]);
    code |= clSetKernelArg(kernel, 13, scalar_size(d),
                           d->variant.precision == GRAVEL_DP ? (const void *)&eps2 : (const void *)&eps2_float);
    return code;
}

static gravel_status launch_force(gravel_direct *d, const gv_direct_launch *l)
{
    const size_t threads = (size_t)l->config->value[GV_T_THREADS];
    const size_t local[2] = {threads, 1}, global[2] = {l->plan.sink_groups * threads, l->plan.blocks};
    cl_int code = set_force_args(d, l->force, &l->plan, l->eps);
    if (!code)
        code = clEnqueueNDRangeKernel(d->queue, l->force, 2, NULL, global, local, 0, NULL, event_of(d, 1));
    if (code) {
        char text[256];
        gv_space_format(&gv_direct_space, l->config, text, sizeof text);
        return gv_fail_cl(code, "launching gv_force on %s with %zu x %zu groups (%s)", d->limits.info.name,
                          l->plan.sink_groups, l->plan.blocks, text);
    }
    return GRAVEL_OK;
}

static gravel_status launch_reduce(gravel_direct *d, const gv_direct_launch *l)
{
    const gv_direct_plan *plan = &l->plan;
    const size_t columns = GV_REDUCE_THREADS / plan->reduce_rows;
    const size_t groups = (l->sinks + columns - 1) / columns;
    const size_t local[2] = {GV_REDUCE_THREADS, 1};
    const size_t global[2] = {groups * GV_REDUCE_THREADS, (size_t)d->layout.components + (has_nearest(d) ? 1 : 0)};
    const cl_uint word[5] = {(cl_uint)plan->blocks, (cl_uint)plan->stride, (cl_uint)l->result_stride,
                             (cl_uint)l->sinks, (cl_uint)plan->reduce_rows};
    cl_int code = clSetKernelArg(d->reduce, 0, sizeof d->partial, &d->partial);
    code |= clSetKernelArg(d->reduce, 1, sizeof d->result, &d->result);
    for (cl_uint k = 0; k < 5; ++k)
        code |= clSetKernelArg(d->reduce, 2 + k, sizeof(cl_uint), &word[k]);
    if (!code)
        code = clEnqueueNDRangeKernel(d->queue, d->reduce, 2, NULL, global, local, 0, NULL, event_of(d, 2));
    return code ? gv_fail_cl(code, "launching gv_reduce on %s", d->limits.info.name) : GRAVEL_OK;
}

static gravel_status launch_join(gravel_direct *d, const gv_direct_launch *l)
{
    const size_t local = d->limits.info.type == GRAVEL_DEVICE_CPU ? 1 : 64;
    const size_t global = l->sinks * local;
    const cl_mem buffer[4] = {d->part_count, d->part_list, d->count_out, d->list_out};
    const cl_uint word[3] = {(cl_uint)l->plan.parts, (cl_uint)l->plan.stride, (cl_uint)d->options.neighbour_capacity};
    cl_int code = CL_SUCCESS;
    for (cl_uint k = 0; k < 4; ++k)
        code |= clSetKernelArg(d->join, k, sizeof(cl_mem), &buffer[k]);
    for (cl_uint k = 0; k < 3; ++k)
        code |= clSetKernelArg(d->join, 4 + k, sizeof(cl_uint), &word[k]);
    if (!code)
        code = clEnqueueNDRangeKernel(d->queue, d->join, 1, NULL, &global, &local, 0, NULL, event_of(d, 3));
    return code ? gv_fail_cl(code, "launching gv_join_lists on %s", d->limits.info.name) : GRAVEL_OK;
}

static gravel_status launch(gravel_direct *d, const gv_direct_launch *l)
{
    gravel_status status = launch_force(d, l);
    if (!status && l->plan.blocks > 1)
        status = launch_reduce(d, l);
    if (!status && capacity_of(d) > 0)
        status = launch_join(d, l);
    return status;
}

/* The read of results and counts is queued at once; lists follow when their longest is known. */
static gravel_status queue_reads(gravel_direct *d, size_t sinks)
{
    const size_t bytes = (size_t)d->layout.result_planes * d->pair.result_stride * scalar_size(d);
    char *host = d->result_staging.host;
    cl_int code = CL_SUCCESS;
    if (capacity_of(d) > 0)
        code = clEnqueueReadBuffer(d->queue, d->count_out, CL_FALSE, 0, sinks * sizeof(uint32_t), host + bytes, 0, NULL,
                                   NULL);
    if (!code)
        code = clEnqueueReadBuffer(d->queue, d->result, CL_FALSE, 0, bytes, host, 0, NULL, &d->result_staging.busy);
    if (!code)
        code = clFlush(d->queue);
    return code ? gv_fail_cl(code, "reading results from %s", d->limits.info.name) : GRAVEL_OK;
}

static gravel_status send_sinks(gravel_direct *d, const gravel_sinks *sinks, const gv_direct_plan *plan)
{
    const size_t bytes = (size_t)d->layout.sink_planes * plan->stride * scalar_size(d);
    gravel_status status = gv_staging_reserve(d, &d->sink_staging, bytes);
    if (!status)
        status = pack_sinks(d, sinks, plan->stride, d->sink_staging.host);
    if (status)
        return status;
    const cl_int code = clEnqueueWriteBuffer(d->queue, d->sinks, CL_FALSE, 0, bytes, d->sink_staging.host, 0, NULL,
                                             &d->sink_staging.busy);
    return code ? gv_fail_cl(code, "sending %zu sinks to %s", sinks->count, d->limits.info.name) : GRAVEL_OK;
}

/* What would fit: groups of sinks with lists of this length, and the length for one group. */
static gravel_status lists_too_large(const gravel_direct *d, const gv_config *config, size_t sinks, size_t group,
                                     size_t list_bytes)
{
    const size_t entries = list_bytes / sizeof(uint32_t) / (size_t)config->value[GV_T_SPLIT];
    const size_t groups = entries / (capacity_of(d) + 1) / group, longest = entries / group;
    return gv_fail(
        GRAVEL_ERR_DEVICE_MEMORY,
        "neighbour lists of %zu sinks with %zu entries each do not fit into %.0f MB of %s: %zu sinks at once "
        "would; lists of at most %zu entries fit for %zu sinks",
        sinks, capacity_of(d), (double)list_bytes / 1e6, d->limits.info.name, groups * group,
        longest > 0 ? longest - 1 : 0, group);
}

/* eps in the device's unit of length */
static gravel_status run_pair(gravel_direct *d, const gravel_sinks *sinks, double eps)
{
    /* below this the square vanishes in float (in dp: is no normal number) */
    const double smallest = d->variant.precision == GRAVEL_DP ? 1e-100 : 1e-12;
    const int unsoftened = eps < smallest;
    gv_direct_launch *l = &d->launch;
    const gv_direct_choice *choice;
    memset(l, 0, sizeof *l);
    gravel_status status = gv_direct_choose(d, sinks->count, unsoftened, &choice);
    if (!status)
        status = gv_direct_force_kernel(d, &choice->config, unsoftened, &l->force);
    if (status)
        return status;
    const size_t list_bytes = (size_t)(d->limits.info.max_allocation < d->limits.info.global_memory / 4
                                           ? d->limits.info.max_allocation
                                           : d->limits.info.global_memory / 4);
    if (!gv_direct_plan_make(&l->plan, &choice->config, &d->variant, d->limits.info.compute_units, sinks->count,
                             gv_direct_source_count(d), capacity_of(d), list_bytes))
        return lists_too_large(d, &choice->config, sinks->count, l->plan.stride / l->plan.sink_groups, list_bytes);
    l->config = &choice->config;
    l->eps = unsoftened ? 0 : eps;
    l->result_stride = d->pair.result_stride = l->plan.blocks > 1 ? sinks->count : l->plan.stride;
    status = reserve_call(d, &l->plan, sinks->count);
    if (!status)
        status = send_sinks(d, sinks, &l->plan);
    if (!status)
        status = gv_direct_predict(d, event_of(d, 0));
    l->sinks = sinks->count;
    if (!status)
        status = launch(d, l);
    if (!status)
        status = queue_reads(d, sinks->count);
    return status;
}

gravel_status gravel_direct_submit(gravel_direct *d, const gravel_sinks *sinks, double eps)
{
    if (!d || !sinks)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_submit: no object or no sinks");
    if (!(eps >= 0) || isinf(eps))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the softening length is %g; it must be zero or positive", eps);
    if (d->length_unit > 0 && eps / d->length_unit > gv_square_limit(d->variant.precision))
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "the softening length is %g, beyond %g, where squares overflow beside the sources", eps,
                       gv_square_limit(d->variant.precision) * d->length_unit);
    if (sinks->count > UINT32_MAX / 4) /* kernels count planes x sinks in 32 bits */
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%zu sinks in one call; at most %u", sinks->count, UINT32_MAX / 4);
    if (sinks->count > 0 && (!sinks->pos.x || !sinks->pos.y || !sinks->pos.z))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_submit: sinks need positions");
    gv_direct_drop_pair(d);
    d->pair.sinks = sinks->count;
    d->pair.timed = d->queue == d->context->device[d->device].queue;
    gravel_status status = GRAVEL_OK;
    if (sinks->count > 0 && gv_direct_source_count(d) > 0)
        status = run_pair(d, sinks, eps / d->length_unit);
    if (status) {
        clFinish(d->queue);
        gv_direct_drop_pair(d);
        return status;
    }
    d->pair.pending = 1;
    return GRAVEL_OK;
}

static const char *plane(const gravel_direct *d, int p)
{
    return (const char *)d->result_staging.host + (size_t)p * d->pair.result_stride * scalar_size(d);
}

static uint32_t *counts(const gravel_direct *d)
{
    return (uint32_t *)plane(d, d->layout.result_planes);
}

/* Device time of the kernels of the pair. */
static double event_seconds(const gv_direct_pair *pair)
{
    cl_ulong total = 0;
    for (int k = 0; k < GV_DIRECT_EVENTS; ++k) {
        cl_ulong begin, end;
        if (pair->event[k] &&
            !clGetEventProfilingInfo(pair->event[k], CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL) &&
            !clGetEventProfilingInfo(pair->event[k], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL))
            total += end - begin;
    }
    return (double)total * 1e-9;
}

/* High + low word of a plane of results, in the caller's units: m/l of the potential, m/l^2 of accelerations and their
 * derivatives (dp has no units of its own).  Where the high word left the range of float, the low one is no number. */
static void unpack_component(const gravel_direct *d, int component, double *out, size_t stride)
{
    const size_t n = d->pair.sinks;
    const double per_length = 1 / d->length_unit, again = component == 3 ? 1 : per_length;
    if (!out)
        return;
    if (d->variant.precision == GRAVEL_DP) {
        const double *value = (const double *)plane(d, component);
        for (size_t k = 0; k < n; ++k)
            out[k * stride] = value[k];
        return;
    }
    const float *high = (const float *)plane(d, 2 * component), *low = (const float *)plane(d, 2 * component + 1);
    for (size_t k = 0; k < n; ++k) {
        const double sum = isfinite(high[k]) ? (double)high[k] + low[k] : high[k];
        out[k * stride] = sum * d->mass_unit * per_length * again;
    }
}

static void unpack_vector(const gravel_direct *d, int first, gravel_vec_out out)
{
    const size_t stride = out.stride ? out.stride : 1;
    unpack_component(d, first, out.x, stride);
    unpack_component(d, first + 1, out.y, stride);
    unpack_component(d, first + 2, out.z, stride);
}

static const int32_t *pair_ids(const gravel_direct *d)
{
    return d->pair.ids ? d->pair.ids : d->host_id;
}

static void unpack_nearest(const gravel_direct *d, const gravel_forces *f)
{
    const int r2_plane = d->layout.components * d->layout.wide_words;
    const void *r2 = plane(d, r2_plane);
    const uint32_t *address = (const uint32_t *)plane(d, r2_plane + 1);
    for (size_t k = 0; k < d->pair.sinks; ++k) {
        const int none = address[k] == GRAVEL_NONE;
        const double square = d->variant.precision == GRAVEL_DP ? ((const double *)r2)[k] : ((const float *)r2)[k];
        if (f->nearest_id)
            f->nearest_id[k] = none ? -1 : pair_ids(d)[address[k]];
        if (f->nearest_address)
            f->nearest_address[k] = address[k];
        if (f->nearest_distance)
            f->nearest_distance[k] = none ? INFINITY : sqrt(square) * d->length_unit;
    }
}

/* Only the columns that hold something travel. */
static gravel_status read_lists(gravel_direct *d, const gravel_forces *f, size_t *overflow)
{
    const size_t n = d->pair.sinks, capacity = capacity_of(d);
    uint32_t most = 0;
    *overflow = 0;
    for (size_t k = 0; k < n; ++k) {
        const uint32_t count = counts(d)[k];
        *overflow += count > capacity;
        most = count > most ? count : most;
        if (f->neighbour_count)
            f->neighbour_count[k] = count;
    }
    const size_t columns = most < capacity ? most : capacity;
    if (columns == 0 || (!f->neighbour_id && !f->neighbour_address))
        return GRAVEL_OK;
    uint32_t *list = malloc(n * columns * sizeof *list);
    if (!list)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for neighbour lists of %zu x %zu", n, columns);
    const size_t origin[3] = {0, 0, 0}, region[3] = {columns * sizeof *list, n, 1};
    const cl_int code =
        clEnqueueReadBufferRect(d->queue, d->list_out, CL_TRUE, origin, origin, region, capacity * sizeof *list, 0,
                                columns * sizeof *list, 0, list, 0, NULL, NULL);
    for (size_t k = 0; k < n && !code; ++k)
        for (size_t c = 0; c < columns && c < counts(d)[k]; ++c) {
            const uint32_t address = list[k * columns + c];
            if (f->neighbour_address)
                f->neighbour_address[k * capacity + c] = address;
            if (f->neighbour_id)
                f->neighbour_id[k * capacity + c] = pair_ids(d)[address];
        }
    free(list);
    return code ? gv_fail_cl(code, "reading neighbour lists from %s", d->limits.info.name) : GRAVEL_OK;
}

/* No sources: every force is zero and nobody has a neighbour. */
static void collect_nothing(const gravel_direct *d, const gravel_forces *f)
{
    const gravel_vec_out vec[3] = {f->acc, f->jerk, f->snap};
    for (size_t k = 0; k < d->pair.sinks; ++k) {
        for (int v = 0; v < d->variant.order / 2; ++v) {
            const size_t at = k * (vec[v].stride ? vec[v].stride : 1);
            double *const axis[3] = {vec[v].x, vec[v].y, vec[v].z};
            for (int c = 0; c < 3; ++c)
                if (axis[c])
                    axis[c][at] = 0;
        }
        if (f->pot)
            f->pot[k] = 0;
        if (f->nearest_id && has_nearest(d))
            f->nearest_id[k] = -1;
        if (f->nearest_address && has_nearest(d))
            f->nearest_address[k] = GRAVEL_NONE;
        if (f->nearest_distance && has_nearest(d))
            f->nearest_distance[k] = INFINITY;
        if (f->neighbour_count && capacity_of(d) > 0)
            f->neighbour_count[k] = 0;
    }
}

gravel_status gravel_direct_collect(gravel_direct *d, const gravel_forces *f, size_t *overflow)
{
    size_t over = 0;
    gravel_status status = GRAVEL_OK;
    if (!d || !f)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_collect: no object or no place for results");
    if (!d->pair.pending)
        return gv_fail(GRAVEL_ERR_STATE, "gravel_direct_collect: nothing was submitted");
    if (!d->result_staging.busy) {
        d->kernel_seconds = d->pair.timed ? 0 : -1;
        collect_nothing(d, f);
    } else {
        status = gv_staging_wait(&d->result_staging);
        d->kernel_seconds = d->pair.timed ? event_seconds(&d->pair) : -1;
        if (!status) {
            unpack_vector(d, 0, f->acc);
            unpack_component(d, 3, f->pot, 1);
            if (d->variant.order >= 4)
                unpack_vector(d, 4, f->jerk);
            if (d->variant.order >= 6)
                unpack_vector(d, 7, f->snap);
            if (has_nearest(d))
                unpack_nearest(d, f);
            if (capacity_of(d) > 0)
                status = read_lists(d, f, &over);
        }
    }
    if (overflow)
        *overflow = over;
    gv_direct_drop_pair(d);
    return status;
}

static gravel_status launch_again(void *user, cl_command_queue queue)
{
    gravel_direct *d = user;
    const cl_command_queue before = d->queue;
    d->queue = queue;
    const gravel_status status = launch(d, &d->launch);
    d->queue = before;
    return status;
}

gravel_status gv_direct_row(gravel_direct *d, int runs, double *seconds)
{
    if (d->pair.pending || d->launch.sinks == 0)
        return gv_fail(GRAVEL_ERR_STATE, "no pair was collected whose kernels could run again");
    const cl_int code = clFinish(d->queue);
    return code ? gv_fail_cl(code, "waiting for %s", d->limits.info.name)
                : gv_row_time(d->context, d->device, launch_again, d, runs, seconds);
}

gravel_status gravel_direct_set_timing(gravel_direct *d, int on)
{
    if (!d)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_set_timing: no object");
    const gv_device *device = &d->context->device[d->device];
    const cl_command_queue queue = on ? device->queue : device->quick;
    if (queue == d->queue)
        return GRAVEL_OK;
    const cl_int code = clFinish(d->queue); /* the queues do not wait for each other */
    d->queue = queue;
    return code ? gv_fail_cl(code, "waiting for %s", d->limits.info.name) : GRAVEL_OK;
}

gravel_status gravel_direct_kernel_time(gravel_direct *d, double *seconds)
{
    if (!d || !seconds)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_kernel_time: no object or no place for the result");
    if (d->kernel_seconds < 0)
        return gv_fail(GRAVEL_ERR_STATE, "the last pair was not timed: gravel_direct_set_timing comes before submit");
    *seconds = d->kernel_seconds;
    return GRAVEL_OK;
}
