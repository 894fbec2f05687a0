/* Forces that all ranks find together for integrators of which every rank has one.
 *
 * All ranks hold the same bodies with the same bits.  The sinks of a call are cut into parts, and of each part
 * every rank takes as many, so that all ranks choose the same configurations; where P does not divide them, the
 * last ranks begin earlier, and what a lower rank has, too, they do not send.  Results go as the words that the
 * devices hold, plane by plane in the order of the sinks, into memory that the ranks of a machine share, and from
 * there to all devices.
 *
 * While the device works on a part, the one before is exchanged.  What nothing hides is the exchange of the last
 * part: so each part is a quarter of the one before it. */
#include "cluster/staging.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 4, MOST_PLANES = 4, SMALLER = 4 };

struct gravel_cluster_share {
    gravel_cluster *cluster;
    gravel_context *context;
    double least_pairs; /* of a call that is shared */
    double part_pairs;  /* on a rank: least of a part */
    double part_bytes;  /* of all ranks: what is not cut further */
    gv_staging staging;
    gravel_cluster_times times;
    uint64_t failures; /* that all ranks had agreed on when they compared costs last */
};

typedef struct part {
    size_t first, count; /* sinks, counted from the call's first */
    size_t each, begin;  /* sinks of a rank; where this one's begin, counted from the part's first */
    size_t from, own;    /* the first that is sent, and how many */
    size_t place;        /* in the near memory: planes of `each` sinks a rank */
    cl_event ready;
} part;

/* One call's work on one rank. */
typedef struct work {
    const gravel_direct_call *call;
    size_t first, count; /* sinks of the call */
    int parts, planes;
    part part[MOST_PARTS];
    gravel_plane plane[MOST_PLANES];
    gravel_cl_plane place[MOST_PLANES];
    size_t bytes, room; /* of one sink, all planes; of all parts, all ranks */
} work;

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

/* What an exchange takes beside its bytes, some 40 us, in pairs; a part that is worth a launch of its own, 100 us; and
 * the bytes that pass in 40 us, at 10 GB/s.  A compute unit of a GPU does 4e9 pairs a second in ds, a core of a CPU
 * about 1e9.  Not measured: the choice must be the same in every run.  Exchanges between cores take the cores: behind
 * work on them nothing is hidden, and parts take a fifth more. */
static gravel_status choose_limits(gravel_cluster_share *s)
{
    const gravel_cluster_rank *me = &s->cluster->info[0];
    const gravel_device_info *device = gravel_context_get_device(s->context, 0);
    const int is_cpu = device->type == GRAVEL_DEVICE_CPU;
    const double rate = me->compute_units * (is_cpu ? 1e9 : 4e9);
    const char *given = getenv("GRAVEL_CLUSTER_LEAST_PAIRS");
    const double least = given && *given ? strtod(given, NULL) : 4e-5 * rate;
    double limit[3] = {least, 2.5 * least, 4e5};
    if (given && *given)
        limit[2] = 0;
    else if (is_cpu)
        limit[1] = 1e300;
    /* the environment of the first rank: it may not have reached other machines */
    const int code = MPI_Bcast(limit, 3, MPI_DOUBLE, 0, s->cluster->comm);
    s->least_pairs = limit[0];
    s->part_pairs = limit[1];
    s->part_bytes = limit[2];
    return code == MPI_SUCCESS ? GRAVEL_OK : gv_cluster_fail_mpi(code, "telling the limits of sharing");
}

gravel_status gravel_cluster_share_create(gravel_cluster_share **share, gravel_cluster *cluster,
                                          gravel_context *context)
{
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
        status = gv_staging_begin(&s->staging, cluster, context);
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

void gravel_cluster_share_release(gravel_cluster_share *s)
{
    if (!s)
        return;
    gv_staging_release(&s->staging);
    free(s);
}

double gravel_cluster_share_get_least_pairs(const gravel_cluster_share *s)
{
    return s ? s->least_pairs : 0;
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

/* What fails on one rank between two calls fails on all where they meet next, which may be in forces: they do not meet
 * again then. */
gravel_status gravel_cluster_share_costs(gravel_status status, double *number, size_t count, void *user)
{
    gravel_cluster_share *s = user;
    gravel_cluster *c = s->cluster;
    const int is_known = status && c->failures != s->failures;
    const size_t ranks = (size_t)c->size;
    double *all = is_known ? NULL : malloc((ranks * count + 1) * sizeof *all);
    if (!is_known) {
        status = status || all ? status : gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory");
        status = gravel_cluster_agree(c, status);
    }
    s->failures = c->failures;
    if (!status) {
        const int code = gv_cluster_gather(c, number, count * sizeof *number, all);
        status = code == MPI_SUCCESS ? GRAVEL_OK : gv_cluster_fail_mpi(code, "comparing costs");
    }
    for (size_t k = 0; k < ranks * count && !status; k++)
        number[k % count] = fmax(number[k % count], all[k]);
    free(all);
    return status;
}

/* --------------------------------------------------------------------- plan */

/* Weights of parts: 1, 4, 16, ... from the last to the first. */
static size_t weight_of(int parts)
{
    size_t weight = 0, one = 1;
    for (int k = 0; k < parts; k++, one *= SMALLER)
        weight += one;
    return weight;
}

/* As long as exchanging the last part takes longer than launching another one that is worth a launch. */
static int count_parts(const gravel_cluster_share *s, const work *w)
{
    const double sources = (double)gravel_view_get_count(&w->call->sources), all = (double)w->count;
    const size_t mine = w->count / (size_t)s->cluster->size;
    int parts = 1;
    /* sources must stay as they are until all of the share is computed */
    if (w->call->sinks.bodies == w->call->sources.bodies)
        return 1;
    while (parts < MOST_PARTS && all * (double)w->bytes / (double)weight_of(parts) > s->part_bytes &&
           mine >= weight_of(parts + 1) && (double)mine * sources / (double)weight_of(parts + 1) >= s->part_pairs)
        parts++;
    return parts;
}

static void cut_parts(const gravel_cluster_share *s, work *w)
{
    const size_t size = (size_t)s->cluster->size, rank = (size_t)s->cluster->rank, mine = w->count / size;
    size_t first = 0;
    for (int k = 0; k < w->parts; k++) {
        part *p = &w->part[k];
        const size_t weight = weight_of(w->parts - k - 1), all = weight_of(w->parts); /* of those after it */
        const size_t end = k == w->parts - 1 ? w->count : (mine - mine * weight / all) * size;
        p->first = first;
        p->count = end - first;
        p->each = (p->count + size - 1) / size;
        p->from = rank * p->each < p->count ? rank * p->each : p->count;
        p->own = p->from + p->each <= p->count ? p->each : p->count - p->from;
        p->begin = p->from + p->each <= p->count ? p->from : p->count - p->each;
        p->place = w->room;
        w->room += size * p->each * w->bytes;
        first = end;
    }
}

static gravel_status plan(gravel_cluster_share *s, const gravel_direct_call *call, size_t count, work *w)
{
    static const gravel_plane plane[MOST_PLANES] = {GRAVEL_ACCELERATION, GRAVEL_POTENTIAL, GRAVEL_JERK, GRAVEL_SNAP};
    gravel_status status = GRAVEL_OK;
    memset(w, 0, sizeof *w);
    if (call->order != 2 && call->order != 4 && call->order != 6)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "the order is %d; it must be 2, 4 or 6", call->order);
    w->call = call;
    w->first = call->sinks.kind == GRAVEL_VIEW_RANGE ? call->sinks.first : 0;
    w->count = count;
    for (int p = 0; p < 1 + call->order / 2 && !status; p++) {
        w->plane[p] = plane[p];
        status = gravel_bodies_get_cl_plane(call->sinks.bodies, plane[p], 0, &w->place[p]);
        w->bytes += w->place[p].components * w->place[p].number_size;
        w->planes++;
    }
    w->parts = count_parts(s, w);
    cut_parts(s, w);
    if (!status && w->part[0].each * w->bytes > INT32_MAX)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "results of %zu bytes a rank are more than a message takes",
                               w->part[0].each * w->bytes);
    return status;
}

/* ---------------------------------------------------------------------- work */

/* Forces of a part, and its results on their way to the host. */
static gravel_status start_part(gravel_cluster_share *s, gravel_direct *direct, work *w, part *p)
{
    unsigned char *to = s->staging.near.memory + p->place;
    const size_t all = (size_t)s->cluster->size * p->each;
    gravel_direct_call call = *w->call;
    call.sinks = gravel_view_range(w->call->sinks.bodies, w->first + p->first + p->begin, p->each);
    gravel_status status = gravel_direct_start(direct, &call, NULL);
    for (int k = 0; k < w->planes && !status && p == w->part; k++) /* buffers may be made by the first call */
        status = gravel_bodies_get_cl_plane(w->call->sinks.bodies, w->plane[k], 0, &w->place[k]);
    if (status)
        return status;
    cl_int code = gv_staging_order(s->staging.compute, s->staging.down);
    for (int k = 0; k < w->planes && p->own > 0 && !code; k++) {
        const size_t bytes = w->place[k].components * w->place[k].number_size;
        code =
            clEnqueueReadBuffer(s->staging.down, w->place[k].buffer, CL_FALSE, (w->first + p->first + p->from) * bytes,
                                p->own * bytes, to + (size_t)s->cluster->rank * p->each * bytes, 0, NULL, NULL);
        to += all * bytes;
    }
    if (!code)
        code = clEnqueueMarkerWithWaitList(s->staging.down, 0, NULL, &p->ready);
    if (!code)
        code = clFlush(s->staging.down);
    return code ? gv_cluster_fail_cl(code, "reading results") : GRAVEL_OK;
}

/* A part of all ranks, as soon as this rank's is there.  `status`: of what was begun. */
static gravel_status exchange_part(gravel_cluster_share *s, const work *w, const part *p, gravel_status status)
{
    gravel_cluster *c = s->cluster;
    size_t place = p->place;
    const double begin = MPI_Wtime();
    const cl_int code = p->ready ? clWaitForEvents(1, &p->ready) : CL_SUCCESS;
    if (!status && code)
        status = gv_cluster_fail_cl(code, "waiting for results");
    status = gravel_cluster_agree(c, status);
    const double ready = MPI_Wtime();
    s->times.device_s += ready - begin;
    int failed = MPI_SUCCESS;
    for (int k = 0; k < w->planes && !status && failed == MPI_SUCCESS; k++) {
        const size_t bytes = p->each * w->place[k].components * w->place[k].number_size;
        failed = gv_near_gather(&s->staging.near, place, bytes);
        place += (size_t)c->size * bytes;
    }
    s->times.exchange_s += MPI_Wtime() - ready;
    s->times.bytes += (double)(p->each * w->bytes) * (c->size - 1);
    return failed == MPI_SUCCESS ? status : gv_cluster_fail_mpi(failed, "exchanging forces");
}

/* Results of all ranks into the planes: also this rank's own, since one copy takes less time than two around it. */
static gravel_status write_part(gravel_cluster_share *s, const work *w, const part *p)
{
    const unsigned char *from = s->staging.near.memory + p->place;
    cl_int code = CL_SUCCESS;
    for (int k = 0; k < w->planes && !code; k++) {
        const size_t bytes = w->place[k].components * w->place[k].number_size;
        code = clEnqueueWriteBuffer(s->staging.up, w->place[k].buffer, CL_FALSE, (w->first + p->first) * bytes,
                                    p->count * bytes, from, 0, NULL, NULL);
        from += (size_t)s->cluster->size * p->each * bytes;
    }
    if (!code)
        code = clFlush(s->staging.up);
    return code ? gv_cluster_fail_cl(code, "writing results") : GRAVEL_OK;
}

static gravel_status find_together(gravel_cluster_share *s, gravel_direct *direct, work *w)
{
    gravel_status begun = GRAVEL_OK, status = GRAVEL_OK;
    for (int k = 0; k < w->parts && !begun; k++)
        begun = start_part(s, direct, w, &w->part[k]);
    for (int k = 0; k < w->parts && !status; k++) {
        status = exchange_part(s, w, &w->part[k], begun); /* what fails here, the next part's agreement tells */
        if (!status)
            begun = write_part(s, w, &w->part[k]);
    }
    status = status ? status : begun;
    for (int k = 0; k < w->parts; k++)
        if (w->part[k].ready)
            clReleaseEvent(w->part[k].ready);
    if (!status)
        status = gv_staging_join(&s->staging);
    for (int k = 0; k < w->planes && !status; k++)
        gravel_bodies_touch(w->call->sinks.bodies, w->plane[k]);
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
    gv_staging_settle(&s->staging); /* all ranks use the memory again as soon as they agree */
    gravel_status status = gravel_cluster_agree(s->cluster, plan(s, call, count, &w));
    if (!status)
        status = gv_staging_need(&s->staging, w.room);
    return status ? status : find_together(s, direct, &w);
}
