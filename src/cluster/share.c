/* Forces that all ranks find together for integrators of which every rank has one.
 *
 * All ranks hold the same bodies with the same bits.  A rank finds the forces on its share of a call's sinks, the
 * others' arrive as the words that their devices hold: no conversion, so all ranks go on with the same bits.  A large
 * share is cut into parts: while the device works on one, the one before is exchanged, through a queue of its own.
 *
 * All shares have the same number of sinks, so that all ranks choose the same configurations; where P does not divide
 * the sinks, shares at the end overlap, and a sink in two of them belongs to the lower rank. */
#include "cluster/object.h"

#include <stdlib.h>
#include <string.h>

#include "gravel/opencl.h"

enum { MOST_PARTS = 8, MOST_PLANES = 4 };

struct gravel_cluster_share {
    gravel_cluster *cluster;
    gravel_context *context;
    cl_command_queue compute, copy;
    double least_pairs; /* of a call that is shared */
    double part_pairs;  /* of a part of a share */
    cl_mem pinned;      /* behind `mine` and `all` */
    unsigned char *mine, *all;
    size_t size;      /* bytes of `mine`; all: as many for each rank */
    cl_event written; /* the last write from `all`; NULL: none is on its way */
    gravel_cluster_times times;
};

/* One call's work on one rank. */
typedef struct work {
    const gravel_direct_call *call;
    size_t first, count; /* sinks of the call */
    size_t each, start;  /* sinks of a share; where this rank's begins, counted from `first` */
    int parts, planes;
    size_t at[MOST_PARTS + 1]; /* parts of a share */
    gravel_plane plane[MOST_PLANES];
    gravel_cl_plane place[MOST_PLANES];
    size_t bytes; /* of one sink, all planes */
    cl_event ready[MOST_PARTS];
} work;

static gravel_status fail_cl(cl_int code, const char *what)
{
    return gv_cluster_fail(GRAVEL_ERR_OPENCL, "%s: OpenCL error %d", what, (int)code);
}

/* ---------------------------------------------------------------------- life */

/* Integrators keep the same bits on like devices only. */
static gravel_status compare_devices(const gravel_cluster *c)
{
    for (int r = 0; r < c->size; r++) {
        const gravel_cluster_rank *a = &c->info[0], *b = &c->info[r];
        if (b->device_count != 1)
            return gv_cluster_fail(GRAVEL_ERR_ARGUMENT,
                                   "rank %d on %s has %d devices (%s); an integrator over ranks takes one a rank", r,
                                   b->host, b->device_count, b->devices);
        if (strcmp(a->name, b->name) != 0 || strcmp(a->driver, b->driver) != 0 || a->compute_units != b->compute_units)
            return gv_cluster_fail(GRAVEL_ERR_ARGUMENT,
                                   "rank %d on %s has %s (%d compute units, driver %s), rank 0 on %s %s (%d, %s): an "
                                   "integrator over ranks needs like devices",
                                   r, b->host, b->name, b->compute_units, b->driver, a->host, a->name, a->compute_units,
                                   a->driver);
    }
    return GRAVEL_OK;
}

/* What an exchange takes, some 40 us, in pairs, and a part that is worth an exchange of its own; a compute unit of a
 * GPU does 4e9 pairs a second in ds, a core of a CPU about 1e9.  Not measured: the choice must be the same in every
 * run.  Messages between cores take the cores: behind work on them nothing is hidden, and parts take a fifth more. */
static gravel_status choose_limits(gravel_cluster_share *s)
{
    const gravel_cluster_rank *me = &s->cluster->info[0];
    const gravel_device_info *device = gravel_context_get_device(s->context, 0);
    const int is_cpu = device->type == GRAVEL_DEVICE_CPU;
    const double rate = me->compute_units * (is_cpu ? 1e9 : 4e9);
    const char *given = getenv("GRAVEL_CLUSTER_LEAST_PAIRS");
    double limit[2] = {given && *given ? strtod(given, NULL) : 4e-5 * rate, is_cpu ? 1e300 : 1.5e-3 * rate};
    if (given && *given)
        limit[1] = 64 * limit[0];
    /* the environment of the first rank: it may not have reached other machines */
    const int code = MPI_Bcast(limit, 2, MPI_DOUBLE, 0, s->cluster->comm);
    s->least_pairs = limit[0];
    s->part_pairs = limit[1];
    return code == MPI_SUCCESS ? GRAVEL_OK : gv_cluster_fail_mpi(code, "telling the limits of sharing");
}

gravel_status gravel_cluster_share_create(gravel_cluster_share **share, gravel_cluster *cluster,
                                          gravel_context *context)
{
    cl_int code = CL_SUCCESS;
    if (!share || !cluster)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_share_create: no cluster, or no place for it");
    *share = NULL;
    gravel_cluster_share *s = calloc(1, sizeof *s);
    gravel_status status = !s         ? gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory")
                           : !context ? gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_share_create: no context")
                                      : compare_devices(cluster);
    if (!status) {
        s->cluster = cluster;
        s->context = context;
        s->compute = gravel_context_get_cl_queue(context, 0);
        s->copy =
            clCreateCommandQueue(gravel_context_get_cl(context), gravel_context_get_cl_device(context, 0), 0, &code);
        if (code)
            status = fail_cl(code, "making a queue");
    }
    status = gravel_cluster_agree(cluster, status);
    if (!status)
        status = gravel_cluster_agree(cluster, choose_limits(s));
    if (status) {
        gravel_cluster_share_release(s);
        return status;
    }
    *share = s;
    return GRAVEL_OK;
}

static void free_staging(gravel_cluster_share *s)
{
    if (s->pinned && s->mine) {
        clEnqueueUnmapMemObject(s->copy, s->pinned, s->mine, 0, NULL, NULL);
        clFinish(s->copy);
    }
    if (s->pinned)
        clReleaseMemObject(s->pinned);
    s->pinned = NULL;
    s->mine = s->all = NULL;
    s->size = 0;
}

void gravel_cluster_share_release(gravel_cluster_share *s)
{
    if (!s)
        return;
    if (s->written)
        clReleaseEvent(s->written);
    if (s->copy)
        clFinish(s->copy);
    free_staging(s);
    if (s->copy)
        clReleaseCommandQueue(s->copy);
    free(s);
}

void gravel_cluster_share_get_times(const gravel_cluster_share *s, gravel_cluster_times *times)
{
    *times = s ? s->times : (gravel_cluster_times){0};
}

void gravel_cluster_get_range(const gravel_cluster *c, size_t count, size_t *first, size_t *mine)
{
    const size_t rank = (size_t)gravel_cluster_get_rank(c), size = (size_t)gravel_cluster_get_size(c);
    *first = count / size * rank + count % size * rank / size;
    *mine = count / size * (rank + 1) + count % size * (rank + 1) / size - *first;
}

/* ------------------------------------------------------------------- staging */

/* Room in memory that the device's driver has pinned. */
static gravel_status need_staging(gravel_cluster_share *s, size_t bytes)
{
    cl_int code = CL_SUCCESS;
    if (bytes > INT32_MAX)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "results of %zu bytes a rank are more than a message takes", bytes);
    if (s->size >= bytes)
        return GRAVEL_OK;
    free_staging(s);
    const size_t wanted = bytes + bytes / 4 + 4096, whole = wanted * ((size_t)s->cluster->size + 1);
    s->pinned = clCreateBuffer(gravel_context_get_cl(s->context), CL_MEM_ALLOC_HOST_PTR, whole, NULL, &code);
    if (!code)
        s->mine =
            clEnqueueMapBuffer(s->copy, s->pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, whole, 0, NULL, NULL, &code);
    if (code) {
        free_staging(s);
        return fail_cl(code, "room for the ranks' results");
    }
    s->all = s->mine + wanted;
    s->size = wanted;
    return GRAVEL_OK;
}

/* ---------------------------------------------------------------------- work */

static gravel_status plan(gravel_cluster_share *s, const gravel_direct_call *call, size_t count, work *w)
{
    static const gravel_plane plane[MOST_PLANES] = {GRAVEL_ACCELERATION, GRAVEL_POTENTIAL, GRAVEL_JERK, GRAVEL_SNAP};
    const size_t size = (size_t)s->cluster->size, rank = (size_t)s->cluster->rank;
    const double pairs = (double)count * (double)gravel_view_get_count(&call->sources) / (double)size;
    gravel_status status = GRAVEL_OK;
    memset(w, 0, sizeof *w);
    if (call->order != 2 && call->order != 4 && call->order != 6)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "the order is %d; it must be 2, 4 or 6", call->order);
    w->call = call;
    w->first = call->sinks.kind == GRAVEL_VIEW_RANGE ? call->sinks.first : 0;
    w->count = count;
    w->each = (count + size - 1) / size;
    w->start = rank * w->each + w->each <= count ? rank * w->each : count - w->each;
    w->parts = pairs / s->part_pairs >= MOST_PARTS ? MOST_PARTS : (int)(pairs / s->part_pairs);
    w->parts = (size_t)w->parts > w->each ? (int)w->each : w->parts;
    /* sources must stay as they are until all of the share is computed */
    if (w->parts < 1 || call->sinks.bodies == call->sources.bodies)
        w->parts = 1;
    for (int k = 0; k <= w->parts; k++)
        w->at[k] = w->each * (size_t)k / (size_t)w->parts;
    for (int p = 0; p < 1 + call->order / 2 && !status; p++) {
        w->plane[p] = plane[p];
        status = gravel_bodies_get_cl_plane(call->sinks.bodies, plane[p], 0, &w->place[p]);
        w->bytes += w->place[p].components * w->place[p].number_size;
        w->planes++;
    }
    return status ? status : need_staging(s, w->each * w->bytes);
}

/* Forces of a part, and its results on their way to the host. */
static gravel_status start_part(gravel_cluster_share *s, gravel_direct *direct, work *w, int part)
{
    const size_t from = w->first + w->start + w->at[part], count = w->at[part + 1] - w->at[part];
    unsigned char *to = s->mine + w->at[part] * w->bytes;
    gravel_direct_call call = *w->call;
    cl_event done = NULL;
    call.sinks = gravel_view_range(w->call->sinks.bodies, from, count);
    gravel_status status = gravel_direct_start(direct, &call, NULL);
    for (int p = 0; p < w->planes && !status && part == 0; p++) /* buffers may be made by the first call */
        status = gravel_bodies_get_cl_plane(w->call->sinks.bodies, w->plane[p], 0, &w->place[p]);
    if (status)
        return status;
    cl_int code = clEnqueueMarkerWithWaitList(s->compute, 0, NULL, &done);
    if (!code)
        code = clFlush(s->compute);
    for (int p = 0; p < w->planes && !code; p++) {
        const size_t each = w->place[p].components * w->place[p].number_size;
        code = clEnqueueReadBuffer(s->copy, w->place[p].buffer, CL_FALSE, from * each, count * each, to, p == 0,
                                   p == 0 ? &done : NULL, p == w->planes - 1 ? &w->ready[part] : NULL);
        to += count * each;
    }
    if (!code)
        code = clFlush(s->copy);
    if (done)
        clReleaseEvent(done);
    return code ? fail_cl(code, "reading results") : GRAVEL_OK;
}

/* What rank `owner` sent of a part, into the planes: all of it but sinks that a lower rank has, too. */
static cl_int write_part(gravel_cluster_share *s, const work *w, int part, int owner, const cl_event *after)
{
    const size_t count = w->at[part + 1] - w->at[part], last = w->count - w->each, own = (size_t)owner * w->each;
    const size_t start = own < last ? own : last, from = start + w->at[part];
    const size_t skip = own <= from ? 0 : own - from < count ? own - from : count;
    const unsigned char *block =
        s->all + (size_t)s->cluster->size * w->at[part] * w->bytes + (size_t)owner * count * w->bytes;
    cl_int code = CL_SUCCESS;
    for (int p = 0; p < w->planes && !code && skip < count; p++) {
        const size_t each = w->place[p].components * w->place[p].number_size;
        code = clEnqueueWriteBuffer(s->copy, w->place[p].buffer, CL_FALSE, (w->first + from + skip) * each,
                                    (count - skip) * each, block + skip * each, after != NULL, after, NULL);
        block += count * each;
    }
    return code;
}

/* A part of all ranks, as soon as this rank's is there. */
static gravel_status exchange_part(gravel_cluster_share *s, work *w, int part)
{
    gravel_cluster *c = s->cluster;
    const size_t bytes = (w->at[part + 1] - w->at[part]) * w->bytes;
    unsigned char *all = s->all + (size_t)c->size * w->at[part] * w->bytes;
    const double begin = MPI_Wtime();
    cl_int code = clWaitForEvents(1, &w->ready[part]);
    gravel_status status = gravel_cluster_agree(c, code ? fail_cl(code, "waiting for results") : GRAVEL_OK);
    const double ready = MPI_Wtime();
    s->times.device_s += ready - begin;
    if (status)
        return status;
    const int failed = gv_cluster_gather(c, s->mine + w->at[part] * w->bytes, bytes, all);
    s->times.exchange_s += MPI_Wtime() - ready;
    s->times.bytes += (double)bytes * (c->size - 1);
    return failed == MPI_SUCCESS ? GRAVEL_OK : gv_cluster_fail_mpi(failed, "exchanging forces");
}

/* Where this rank's share overlaps others', theirs is written when all of ours is computed. */
static gravel_status write_parts(gravel_cluster_share *s, const work *w, int part)
{
    const int overlaps = (size_t)s->cluster->rank * w->each != w->start;
    cl_int code = CL_SUCCESS;
    for (int r = 0; r < s->cluster->size && !code; r++)
        if (r != s->cluster->rank)
            code = write_part(s, w, part, r, overlaps ? &w->ready[w->parts - 1] : NULL);
    if (!code)
        code = clFlush(s->copy);
    return code ? fail_cl(code, "writing results") : GRAVEL_OK;
}

/* What comes next on the compute queue waits for the writes. */
static gravel_status join_queues(gravel_cluster_share *s)
{
    cl_int code = clEnqueueMarkerWithWaitList(s->copy, 0, NULL, &s->written);
    if (!code)
        code = clFlush(s->copy);
    if (!code)
        code = clEnqueueBarrierWithWaitList(s->compute, 1, &s->written, NULL);
    return code ? fail_cl(code, "joining queues") : GRAVEL_OK;
}

static gravel_status find_together(gravel_cluster_share *s, gravel_direct *direct, work *w)
{
    gravel_status status = GRAVEL_OK;
    int started = 0;
    for (; started < w->parts && !status; started++)
        status = start_part(s, direct, w, started);
    status = gravel_cluster_agree(s->cluster, status);
    for (int k = 0; k < w->parts && !status; k++) {
        status = exchange_part(s, w, k);
        if (!status)
            status = write_parts(s, w, k);
    }
    for (int k = 0; k < w->parts; k++)
        if (w->ready[k])
            clReleaseEvent(w->ready[k]);
    if (!status)
        status = join_queues(s);
    for (int p = 0; p < w->planes && !status; p++)
        gravel_bodies_touch(w->call->sinks.bodies, w->plane[p]);
    return status;
}

gravel_status gravel_cluster_share_forces(gravel_direct *direct, const gravel_direct_call *call, void *share)
{
    gravel_cluster_share *s = share;
    work w;
    if (!s || !direct || !call)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_share_forces: no share, solver or call");
    const size_t count = gravel_view_get_count(&call->sinks);
    const double pairs = (double)count * (double)gravel_view_get_count(&call->sources);
    s->times.calls++;
    if (s->cluster->size == 1 || call->sinks.kind == GRAVEL_VIEW_LIST || call->into != GRAVEL_INTO_PLANES ||
        count == 0 || pairs < s->least_pairs)
        return gravel_direct_start(direct, call, NULL);
    s->times.shared++;
    if (s->written) { /* from staging that is used again now */
        clWaitForEvents(1, &s->written);
        clReleaseEvent(s->written);
        s->written = NULL;
    }
    const gravel_status status = gravel_cluster_agree(s->cluster, plan(s, call, count, &w));
    return status ? status : find_together(s, direct, &w);
}
