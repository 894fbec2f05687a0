/* Sources of gravel_direct: written, scattered, predicted, read back. */
#include "host/direct.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* entries a transfer carries at most, so that packing one part overlaps with sending another */
enum { CHUNK = 65536, STRIDE_UNIT = 1024 };
/* kernels count parts x sources of a part in 32 bits, and an address is also an id */
#define MOST_SOURCES ((size_t)INT32_MAX - 65535)

size_t gv_direct_source_count(const gravel_direct *d)
{
    return d->count_is_set ? d->count : d->written;
}

void gv_direct_free_sources(gravel_direct *d)
{
    cl_mem buffer[] = {d->force_plane[3], d->force_plane[2], d->force_plane[1], d->force_plane[0],
                       d->predicted,      d->time,           d->id,             d->planes};
    for (size_t k = 0; k < sizeof buffer / sizeof buffer[0]; ++k)
        if (buffer[k])
            clReleaseMemObject(buffer[k]);
    memset(d->force_plane, 0, sizeof d->force_plane);
    d->predicted = d->time = d->id = d->planes = NULL;
}

static size_t quad_size(const gravel_direct *d)
{
    return 4 * (size_t)d->layout.scalar_size;
}

/* sources in one buffer, in whole units */
static size_t most_that_fit(const gravel_direct *d)
{
    const uint64_t each = (uint64_t)d->layout.source_planes * quad_size(d);
    return (size_t)(d->limits.info.max_allocation / each / STRIDE_UNIT * STRIDE_UNIT);
}

static gravel_status too_many(const gravel_direct *d, size_t count)
{
    const size_t planes = (size_t)d->layout.source_planes;
    return gv_fail(GRAVEL_ERR_DEVICE_MEMORY,
                   "%zu sources need %.1f MB in one buffer; %s allows %.1f MB: at most %zu sources", count,
                   (double)(count * planes * quad_size(d)) / 1e6, d->limits.info.name,
                   (double)d->limits.info.max_allocation / 1e6, most_that_fit(d));
}

typedef struct source_buffers {
    cl_mem planes, id, time, predicted, force_plane[4];
} source_buffers;

/* The force kernel's view: planes of the sources as they are, or of the predicted ones. */
static gravel_status slice(gravel_direct *d, source_buffers *b, size_t capacity)
{
    cl_int code = CL_SUCCESS;
    const cl_mem from = b->predicted ? b->predicted : b->planes;
    for (int p = 0; p < d->layout.force_planes && !code; ++p) {
        const cl_buffer_region region = {(size_t)p * capacity * quad_size(d), capacity * quad_size(d)};
        b->force_plane[p] = clCreateSubBuffer(from, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    }
    return code ? gv_fail_cl(code, "slicing the source buffer") : GRAVEL_OK;
}

static gravel_status make_buffers(gravel_direct *d, source_buffers *b, size_t capacity)
{
    cl_int code[4] = {0, 0, 0, 0};
    const size_t quad = quad_size(d), scalar = (size_t)d->layout.scalar_size;
    const cl_context cl = d->context->cl;
    b->planes =
        clCreateBuffer(cl, CL_MEM_READ_WRITE, (size_t)d->layout.source_planes * capacity * quad, NULL, &code[0]);
    b->id = clCreateBuffer(cl, CL_MEM_READ_WRITE, capacity * sizeof(int32_t), NULL, &code[1]);
    if (d->options.prediction) {
        b->time =
            clCreateBuffer(cl, CL_MEM_READ_WRITE, (size_t)d->layout.time_words * capacity * scalar, NULL, &code[2]);
        b->predicted =
            clCreateBuffer(cl, CL_MEM_READ_WRITE, (size_t)d->layout.force_planes * capacity * quad, NULL, &code[3]);
    }
    for (int k = 0; k < 4; ++k)
        if (code[k])
            return gv_fail_cl(code[k], "allocating %zu sources on %s", capacity, d->limits.info.name);
    return slice(d, b, capacity);
}

static void swap_in(gravel_direct *d, const source_buffers *b, size_t capacity)
{
    gv_direct_free_sources(d);
    d->planes = b->planes;
    d->id = b->id;
    d->time = b->time;
    d->predicted = b->predicted;
    memcpy(d->force_plane, b->force_plane, sizeof d->force_plane);
    d->capacity = capacity;
    d->stale = 1;
}

static void free_buffers(source_buffers *b)
{
    cl_mem all[] = {b->force_plane[3], b->force_plane[2], b->force_plane[1], b->force_plane[0],
                    b->predicted,      b->time,           b->id,             b->planes};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k)
        if (all[k])
            clReleaseMemObject(all[k]);
}

/* What was written moves along; what was never written is a massless source with id -1. */
static gravel_status move_contents(gravel_direct *d, const source_buffers *b, size_t capacity)
{
    const size_t quad = quad_size(d), scalar = (size_t)d->layout.scalar_size;
    const cl_int none = -1;
    const cl_float zero = 0;
    cl_int code = clEnqueueFillBuffer(d->queue, b->id, &none, sizeof none, 0, capacity * sizeof none, 0, NULL, NULL);
    code |= clEnqueueFillBuffer(d->queue, b->planes, &zero, sizeof zero, 0,
                                (size_t)d->layout.source_planes * capacity * quad, 0, NULL, NULL);
    if (b->time)
        code |= clEnqueueFillBuffer(d->queue, b->time, &zero, sizeof zero, 0,
                                    (size_t)d->layout.time_words * capacity * scalar, 0, NULL, NULL);
    if (d->planes) {
        for (int p = 0; p < d->layout.source_planes; ++p)
            code |= clEnqueueCopyBuffer(d->queue, d->planes, b->planes, (size_t)p * d->capacity * quad,
                                        (size_t)p * capacity * quad, d->capacity * quad, 0, NULL, NULL);
        for (int w = 0; w < d->layout.time_words; ++w)
            code |= clEnqueueCopyBuffer(d->queue, d->time, b->time, (size_t)w * d->capacity * scalar,
                                        (size_t)w * capacity * scalar, d->capacity * scalar, 0, NULL, NULL);
        code |= clEnqueueCopyBuffer(d->queue, d->id, b->id, 0, 0, d->capacity * sizeof none, 0, NULL, NULL);
    }
    code |= clFinish(d->queue);
    return code ? gv_fail(GRAVEL_ERR_OPENCL, "moving %zu sources to larger buffers failed", d->written) : GRAVEL_OK;
}

static gravel_status grow_host(gravel_direct *d, size_t capacity)
{
    int32_t *id = realloc(d->host_id, capacity * sizeof *id);
    if (id)
        d->host_id = id;
    uint32_t *stamp = realloc(d->stamp, capacity * sizeof *stamp);
    if (stamp)
        d->stamp = stamp;
    if (!id || !stamp)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for the ids of %zu sources", capacity);
    for (size_t k = d->capacity; k < capacity; ++k)
        id[k] = -1;
    return GRAVEL_OK;
}

static gravel_status reserve_sources(gravel_direct *d, size_t count)
{
    if (count <= d->capacity)
        return GRAVEL_OK;
    if (count > MOST_SOURCES)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%zu sources: addresses go up to %u", count, (unsigned)MOST_SOURCES - 1);
    const size_t fits = most_that_fit(d), exact = (count + STRIDE_UNIT - 1) / STRIDE_UNIT * STRIDE_UNIT;
    if (exact > fits)
        return too_many(d, count);
    /* growing by half each time keeps the number of moves small; the last step takes what there is */
    size_t capacity = (d->capacity * 3 / 2 + STRIDE_UNIT - 1) / STRIDE_UNIT * STRIDE_UNIT;
    capacity = capacity < exact ? exact : capacity > fits ? fits : capacity;
    source_buffers b;
    memset(&b, 0, sizeof b);
    gravel_status status = grow_host(d, capacity);
    if (!status)
        status = make_buffers(d, &b, capacity);
    if (!status)
        status = move_contents(d, &b, capacity);
    if (status) {
        free_buffers(&b);
        return status;
    }
    swap_in(d, &b, capacity);
    return GRAVEL_OK;
}

/* The vectors of a source in the order of its planes, with what is packed of each. */
typedef struct plane_source {
    gravel_vec vec;
    const double *w;
    int low;
    const char *name;
    gv_pack how;
} plane_source;

static int list_planes(const gravel_direct *d, const gravel_sources *s, plane_source plane[8])
{
    const gravel_vec vec[6] = {s->pos, s->vel, s->acc, s->jerk, s->snap, s->crackle};
    static const char *const name[6] = {"position", "velocity", "acceleration", "jerk", "snap", "crackle"};
    const int pairs = d->variant.precision == GRAVEL_DS ? (d->options.prediction ? 2 : 1) : 0;
    int n = 0;
    for (int k = 0; k <= d->layout.derivatives; ++k) {
        const gv_pack how = gv_pack_vectors(d, k);
        plane[n++] = (plane_source){vec[k], k == 0 ? s->mass : NULL, 0, name[k], how};
        if (k < pairs)
            plane[n++] = (plane_source){vec[k], NULL, 1, name[k], how};
    }
    return n;
}

static gravel_vec vec_at(gravel_vec v, size_t first)
{
    const size_t stride = v.stride ? v.stride : 1;
    return (gravel_vec){v.x ? v.x + first * stride : NULL, v.y ? v.y + first * stride : NULL,
                        v.z ? v.z + first * stride : NULL, stride};
}

/* Packs entries first ... first + n - 1: planes, then times.  `at`: where the times end. */
static gravel_status pack(const gravel_direct *d, const gravel_sources *s, size_t first, size_t n, char *out, char **at)
{
    plane_source plane[8];
    const int planes = list_planes(d, s, plane);
    for (int p = 0; p < planes; ++p) {
        const double *w = plane[p].w ? plane[p].w + first : NULL;
        const size_t bad = gv_pack_quads(plane[p].how, out, n, vec_at(plane[p].vec, first), w, plane[p].low);
        if (bad != SIZE_MAX)
            return gv_pack_failure("source", plane[p].name, first + bad, &plane[p].vec, plane[p].w, plane[p].how);
        out += n * quad_size(d);
    }
    if (d->layout.time_words > 0) {
        const double limit = d->variant.precision == GRAVEL_DP ? DBL_MAX : FLT_MAX;
        const gv_pack how = {d->variant.precision, limit, 1, 1};
        const size_t bad = gv_pack_times(how, out, n, s->time ? s->time + first : NULL);
        if (bad != SIZE_MAX)
            return gv_pack_failure("source", "time", first + bad, NULL, s->time, how);
        out += n * (size_t)d->layout.time_words * (size_t)d->layout.scalar_size;
    }
    *at = out;
    return GRAVEL_OK;
}

static size_t entry_size(const gravel_direct *d)
{
    return (size_t)d->layout.source_planes * quad_size(d) + (size_t)(d->layout.time_words * d->layout.scalar_size) +
           sizeof(int32_t) + sizeof(uint32_t);
}

/* The staging area that is free first. */
static gravel_status next_staging(gravel_direct *d, size_t n, gv_staging **s)
{
    *s = &d->upload[d->next_upload];
    d->next_upload ^= 1;
    return gv_staging_reserve(d, *s, n * entry_size(d));
}

static gravel_status check_sources(gravel_direct *d, const gravel_sources *s, const char *call)
{
    if (!d || !s)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: no object or no sources", call);
    if (s->count > 0 && (!s->mass || !s->pos.x || !s->pos.y || !s->pos.z))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: sources need masses and positions", call);
    return GRAVEL_OK;
}

/* What a refused first write had in it must not decide about units. */
static void forget_units(gravel_direct *d)
{
    if (d->written == 0)
        d->mass_unit = d->length_unit = 0;
}

/* A pair in flight that will report ids keeps those it was submitted with. */
static gravel_status keep_ids_of_pair(gravel_direct *d)
{
    if (!d->pair.pending || d->pair.ids || (!d->options.nearest && d->options.neighbour_capacity == 0))
        return GRAVEL_OK;
    if (d->written == 0)
        return GRAVEL_OK;
    d->pair.ids = malloc(d->written * sizeof *d->pair.ids);
    if (!d->pair.ids)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for the ids of %zu sources", d->written);
    memcpy(d->pair.ids, d->host_id, d->written * sizeof *d->pair.ids);
    return GRAVEL_OK;
}

static gravel_status send_chunk(gravel_direct *d, gv_staging *s, size_t to, size_t n, const char *ids)
{
    const size_t quad = quad_size(d), scalar = (size_t)d->layout.scalar_size;
    const char *from = s->host;
    cl_int code = CL_SUCCESS;
    for (int p = 0; p < d->layout.source_planes && !code; ++p, from += n * quad)
        code = clEnqueueWriteBuffer(d->queue, d->planes, CL_FALSE, ((size_t)p * d->capacity + to) * quad, n * quad,
                                    from, 0, NULL, NULL);
    for (int w = 0; w < d->layout.time_words && !code; ++w, from += n * scalar)
        code = clEnqueueWriteBuffer(d->queue, d->time, CL_FALSE, ((size_t)w * d->capacity + to) * scalar, n * scalar,
                                    from, 0, NULL, NULL);
    if (!code)
        code = clEnqueueWriteBuffer(d->queue, d->id, CL_FALSE, to * sizeof(int32_t), n * sizeof(int32_t), ids, 0, NULL,
                                    &s->busy);
    if (code)
        clFinish(d->queue);
    return code ? gv_fail_cl(code, "sending %zu sources to %s", n, d->limits.info.name) : GRAVEL_OK;
}

gravel_status gravel_direct_write_sources(gravel_direct *d, size_t first, const gravel_sources *s)
{
    gravel_status status = check_sources(d, s, "gravel_direct_write_sources");
    if (!status)
        status = keep_ids_of_pair(d);
    if (!status && first > SIZE_MAX - s->count)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_write_sources: there is no address %zu", first);
    if (status || s->count == 0)
        return status;
    status = reserve_sources(d, first + s->count);
    if (!status)
        gv_direct_choose_units(d, s);
    for (size_t done = 0; done < s->count && !status;) {
        const size_t n = s->count - done < CHUNK ? s->count - done : CHUNK;
        gv_staging *staging;
        char *ids;
        status = next_staging(d, n, &staging);
        if (!status)
            status = pack(d, s, done, n, staging->host, &ids);
        if (status)
            break;
        for (size_t k = 0; k < n; ++k)
            ((int32_t *)ids)[k] = d->host_id[first + done + k] = s->id ? s->id[done + k] : (int32_t)(first + done + k);
        status = send_chunk(d, staging, first + done, n, ids);
        done += n;
        if (first + done > d->written)
            d->written = first + done;
        d->stale = 1;
    }
    if (status)
        forget_units(d);
    return status;
}

/* Of entries with one address the last wins: the others get its values, so that the order of writes on the device does
 * not matter.  Chunks follow each other in the queue. */
static gravel_status scatter_chunk(gravel_direct *d, const gravel_sources *s, const uint32_t *address, size_t first,
                                   size_t n)
{
    gv_staging *staging;
    char *tail;
    gravel_status status = next_staging(d, n, &staging);
    if (!status)
        status = pack(d, s, first, n, staging->host, &tail);
    if (status)
        return status;
    uint32_t *to = (uint32_t *)tail, *ids = to + n;
    for (size_t k = 0; k < n; ++k)
        d->stamp[address[first + k]] = (uint32_t)k;
    for (size_t k = 0; k < n; ++k) {
        const uint32_t a = address[first + k];
        const uint32_t last = d->stamp[a];
        const int32_t id = s->id ? s->id[first + last] : (int32_t)a;
        to[k] = a;
        ids[k] = (uint32_t)id;
        d->host_id[a] = id;
        if (last != k) {
            char *base = staging->host;
            const size_t quad = quad_size(d), scalar = (size_t)d->layout.scalar_size;
            for (int p = 0; p < d->layout.source_planes; ++p, base += n * quad)
                memcpy(base + k * quad, base + last * quad, quad);
            for (int w = 0; w < d->layout.time_words; ++w, base += n * scalar)
                memcpy(base + k * scalar, base + last * scalar, scalar);
        }
    }
    const size_t bytes = (size_t)((char *)(ids + n) - (char *)staging->host);
    status = gv_direct_reserve(d, &d->batch, &d->batch_size, bytes, "scattered sources");
    if (status)
        return status;
    const cl_uint planes = (cl_uint)d->layout.source_planes, words = (cl_uint)d->layout.time_words;
    const cl_uint count = (cl_uint)n, stride = (cl_uint)d->capacity;
    const size_t global = (n + 63) / 64 * 64;
    cl_int code = clEnqueueWriteBuffer(d->queue, d->batch, CL_FALSE, 0, bytes, staging->host, 0, NULL, &staging->busy);
    code |= clSetKernelArg(d->scatter, 0, sizeof d->batch, &d->batch);
    code |= clSetKernelArg(d->scatter, 1, sizeof d->planes, &d->planes);
    code |= clSetKernelArg(d->scatter, 2, sizeof d->time, &d->time);
    code |= clSetKernelArg(d->scatter, 3, sizeof d->id, &d->id);
    code |= clSetKernelArg(d->scatter, 4, sizeof planes, &planes);
    code |= clSetKernelArg(d->scatter, 5, sizeof words, &words);
    code |= clSetKernelArg(d->scatter, 6, sizeof count, &count);
    code |= clSetKernelArg(d->scatter, 7, sizeof stride, &stride);
    if (!code)
        code = clEnqueueNDRangeKernel(d->queue, d->scatter, 1, NULL, &global, NULL, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "scattering %zu sources on %s", n, d->limits.info.name) : GRAVEL_OK;
}

gravel_status gravel_direct_scatter_sources(gravel_direct *d, const uint32_t *address, const gravel_sources *s)
{
    gravel_status status = check_sources(d, s, "gravel_direct_scatter_sources");
    size_t end = 0;
    if (!status && s->count > 0 && !address)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_scatter_sources: no addresses");
    if (!status)
        status = keep_ids_of_pair(d);
    if (status)
        return status;
    for (size_t k = 0; k < s->count; ++k)
        end = (size_t)address[k] + 1 > end ? (size_t)address[k] + 1 : end;
    if (s->count == 0)
        return GRAVEL_OK;
    status = reserve_sources(d, end);
    if (!status)
        gv_direct_choose_units(d, s);
    for (size_t done = 0; done < s->count && !status;) {
        const size_t n = s->count - done < CHUNK ? s->count - done : CHUNK;
        status = scatter_chunk(d, s, address, done, n);
        done += n;
        if (!status) {
            d->stale = 1;
            for (size_t k = done - n; k < done; ++k)
                d->written = address[k] >= d->written ? (size_t)address[k] + 1 : d->written;
        }
    }
    if (status)
        forget_units(d);
    return status;
}

gravel_status gravel_direct_set_source_count(gravel_direct *d, size_t count)
{
    if (!d)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_set_source_count: no object");
    if (count > d->written)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "source count %zu, but only addresses below %zu were written", count,
                       d->written);
    d->count = count;
    d->count_is_set = 1;
    return GRAVEL_OK;
}

gravel_status gravel_direct_set_time(gravel_direct *d, double t)
{
    if (!d)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_set_time: no object");
    if (!d->options.prediction)
        return gv_fail(GRAVEL_ERR_STATE, "gravel_direct_set_time: the object was created without prediction");
    if (!(fabs(t) <= (d->variant.precision == GRAVEL_DP ? DBL_MAX : FLT_MAX)))
        return gv_fail(GRAVEL_ERR_INPUT, "the time to predict to is %g", t);
    d->stale |= !d->time_is_set || t != d->t;
    d->t = t;
    d->time_is_set = 1;
    return GRAVEL_OK;
}

/* Before the first set_time (`raw`) sources are taken as they were written. */
gravel_status gv_direct_predict(gravel_direct *d, cl_event *event)
{
    const size_t n = d->written;
    if (!d->options.prediction || !d->stale || n == 0)
        return GRAVEL_OK;
    const cl_uint count = (cl_uint)d->written, stride = (cl_uint)d->capacity, raw = !d->time_is_set;
    const size_t scalar = (size_t)d->layout.scalar_size, global = (d->written + 63) / 64 * 64;
    const float high = (float)d->t, low = (float)(d->t - (double)high);
    const double zero = 0;
    const int dp = d->variant.precision == GRAVEL_DP;
    cl_int code = clSetKernelArg(d->predict, 0, sizeof d->planes, &d->planes);
    code |= clSetKernelArg(d->predict, 1, sizeof d->time, &d->time);
    code |= clSetKernelArg(d->predict, 2, sizeof d->predicted, &d->predicted);
    code |= clSetKernelArg(d->predict, 3, sizeof count, &count);
    code |= clSetKernelArg(d->predict, 4, sizeof stride, &stride);
    code |= clSetKernelArg(d->predict, 5, scalar, dp ? (const void *)&d->t : (const void *)&high);
    code |= clSetKernelArg(d->predict, 6, scalar, dp ? (const void *)&zero : (const void *)&low);
    code |= clSetKernelArg(d->predict, 7, sizeof raw, &raw);
    if (!code)
        code = clEnqueueNDRangeKernel(d->queue, d->predict, 1, NULL, &global, NULL, 0, NULL, event);
    if (code)
        return gv_fail_cl(code, "predicting %zu sources on %s", n, d->limits.info.name);
    d->stale = 0;
    return GRAVEL_OK;
}

static void unpack(const gravel_direct *d, const void *quads, const void *low, size_t n, size_t first,
                   gravel_vec_out out, double *w)
{
    const size_t stride = out.stride ? out.stride : 1;
    double *const axis[4] = {out.x, out.y, out.z, w};
    for (size_t c = 0; c < 4; ++c)
        for (size_t k = 0; axis[c] && k < n; ++k) {
            const size_t at = 4 * k + c;
            double value = d->variant.precision == GRAVEL_DP ? ((const double *)quads)[at] : ((const float *)quads)[at];
            if (low && c < 3)
                value += ((const float *)low)[at];
            if (c == 3)
                value *= d->mass_unit;
            else
                value *= d->length_unit;
            axis[c][(first + k) * (c < 3 ? stride : 1)] = value;
        }
}

gravel_status gravel_direct_read_sources(gravel_direct *d, size_t first, size_t count, double *mass, int32_t *id,
                                         gravel_vec_out pos, gravel_vec_out vel, gravel_vec_out acc)
{
    if (!d || first > d->written || count > d->written - first)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_read_sources: addresses %zu ... were never all written",
                       first);
    const int pair = d->variant.precision == GRAVEL_DS;
    const gravel_vec_out out[3] = {pos, vel, acc};
    const size_t quad = quad_size(d);
    gravel_status status = gv_direct_predict(d, NULL);
    char *host = malloc(CHUNK * quad * 2);
    if (!host)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory to read sources");
    for (size_t done = 0; done < count && !status; done += CHUNK) {
        const size_t n = count - done < CHUNK ? count - done : CHUNK;
        cl_int code = CL_SUCCESS;
        for (int p = 0, k = 0; p < d->layout.force_planes && !code; ++p, ++k) {
            const int low = pair && k == 0;
            code = clEnqueueReadBuffer(d->queue, d->force_plane[p], CL_TRUE, (first + done) * quad, n * quad, host, 0,
                                       NULL, NULL);
            if (low && !code)
                code = clEnqueueReadBuffer(d->queue, d->force_plane[++p], CL_TRUE, (first + done) * quad, n * quad,
                                           host + CHUNK * quad, 0, NULL, NULL);
            if (!code)
                unpack(d, host, low ? host + CHUNK * quad : NULL, n, done, out[k], k == 0 ? mass : NULL);
        }
        if (code)
            status = gv_fail_cl(code, "reading sources from %s", d->limits.info.name);
    }
    if (!status && id)
        memcpy(id, d->host_id + first, count * sizeof *id);
    free(host);
    return status;
}
