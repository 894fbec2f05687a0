/* Forces on bodies that are dealt out, for integrators of which every rank has one with its own bodies.
 *
 * Each rank's bodies visit all ranks in turn, as columns of doubles with the derivatives that predict them.  While the
 * device sums one block, the next one arrives, is written into the other of two sets of visitors, and its sum is
 * submitted, before the first one's results are awaited: the device always has work.  Sums are kept in double, in the
 * order in which the blocks come: a rank's own first, then those of the ranks below it. */
#include "cluster/object.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 21, RESULTS = 10 };

struct gravel_cluster_ring {
    gravel_cluster *cluster;
    gravel_context *context;
    gravel_bodies *visitors[2];
    size_t *count;     /* bodies of each rank */
    double *block[3];  /* this rank's bodies; the block that is worked on, and the one that comes */
    size_t block_size; /* numbers in each */
    double *part;      /* results of one block */
    double *sum;       /* of all, where they go into planes */
    size_t part_size, sum_size;
    gravel_cluster_times times;
};

/* A plane of a block. */
typedef struct column {
    gravel_plane plane;
    int components;
} column;

/* What one call hands round: the columns, and what its sums need. */
typedef struct round {
    gravel_direct *direct;
    const gravel_direct_call *call;
    int kinds, columns;
    column kind[11];
    gravel_ticket *ticket[2];
} round_trip;

/* ---------------------------------------------------------------------- life */

gravel_status gravel_cluster_ring_create(gravel_cluster_ring **ring, gravel_cluster *cluster, gravel_context *context)
{
    if (!ring || !cluster)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_ring_create: no cluster, or no place for it");
    *ring = NULL;
    gravel_cluster_ring *r = calloc(1, sizeof *r);
    gravel_status status = !r         ? gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory")
                           : !context ? gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_ring_create: no context")
                                      : GRAVEL_OK;
    if (!status) {
        r->cluster = cluster;
        r->context = context;
        r->count = calloc((size_t)cluster->size, sizeof *r->count);
        status = r->count ? GRAVEL_OK : gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory");
    }
    status = gravel_cluster_agree(cluster, status);
    if (status) {
        gravel_cluster_ring_release(r);
        return status;
    }
    *ring = r;
    return GRAVEL_OK;
}

void gravel_cluster_ring_release(gravel_cluster_ring *r)
{
    if (!r)
        return;
    for (int k = 0; k < 2; k++)
        gravel_bodies_release(r->visitors[k]);
    for (int k = 0; k < 3; k++)
        free(r->block[k]);
    free(r->count);
    free(r->part);
    free(r->sum);
    free(r);
}

void gravel_cluster_ring_get_times(const gravel_cluster_ring *r, gravel_cluster_times *times)
{
    *times = r ? r->times : (gravel_cluster_times){0};
}

/* ----------------------------------------------------------------- agreement */

gravel_status gravel_cluster_ring_agree(gravel_status status, double *least, double *sum, void *ring)
{
    gravel_cluster_ring *r = ring;
    if (!r)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_ring_agree: no ring");
    return gv_cluster_least(r->cluster, status, least, sum);
}

/* --------------------------------------------------------------------- blocks */

static void add_kind(round_trip *t, gravel_plane plane)
{
    const int components = gravel_plane_components(plane);
    t->kind[t->kinds++] = (column){plane, components};
    t->columns += components;
}

/* What sources of this call need; the same on all ranks, which make the same call. */
static void choose_columns(round_trip *t)
{
    static const gravel_plane derivative[] = {GRAVEL_VELOCITY, GRAVEL_ACCELERATION, GRAVEL_JERK, GRAVEL_SNAP,
                                              GRAVEL_CRACKLE};
    const int order = t->call->order;
    const int derivatives = t->call->predict ? (order == 6 ? 5 : 4) : order / 2 - 1;
    add_kind(t, GRAVEL_ID);
    add_kind(t, GRAVEL_MASS);
    add_kind(t, GRAVEL_POSITION);
    for (int k = 0; k < derivatives; k++)
        add_kind(t, derivative[k]);
    if (t->call->predict)
        add_kind(t, GRAVEL_TIME);
}

/* A plane of n bodies in a block.  Ids are the int32 at the beginning of their column. */
static gravel_array_out column_at(const column *c, double *at, size_t n)
{
    return (gravel_array_out){at, c->components > 1 ? at + n : NULL, c->components > 1 ? at + 2 * n : NULL, 1,
                              c->plane == GRAVEL_ID ? GRAVEL_I32 : GRAVEL_F64};
}

static gravel_status read_own(gravel_cluster_ring *r, const round_trip *t)
{
    gravel_bodies *bodies = t->call->sources.bodies;
    const size_t n = r->count[r->cluster->rank];
    double *to = r->block[0];
    gravel_status status = GRAVEL_OK;
    for (int k = 0; k < t->kinds && n > 0 && !status; k++) {
        const gravel_array_out out = column_at(&t->kind[k], to, n);
        status = gravel_bodies_read(bodies, t->kind[k].plane, 0, n, &out);
        to += (size_t)t->kind[k].components * n;
    }
    return status;
}

static gravel_status write_visitors(gravel_bodies *bodies, const round_trip *t, double *from, size_t n)
{
    gravel_frame frame;
    gravel_status status = gravel_bodies_get_frame(t->call->sources.bodies, &frame);
    if (!status)
        status = gravel_bodies_resize(bodies, n);
    if (!status)
        status = gravel_bodies_set_frame(bodies, &frame);
    for (int k = 0; k < t->kinds && !status; k++) {
        const gravel_array_out at = column_at(&t->kind[k], from, n);
        const gravel_array in = {at.x, at.y, at.z, at.stride, at.type};
        status = gravel_bodies_write(bodies, t->kind[k].plane, 0, n, &in);
        from += (size_t)t->kind[k].components * n;
    }
    return status;
}

static gravel_status need_numbers(double **place, size_t *size, size_t wanted)
{
    if (*place && *size >= wanted)
        return GRAVEL_OK;
    free(*place);
    *size = wanted + wanted / 4 + 16;
    *place = malloc(*size * sizeof **place);
    if (*place)
        return GRAVEL_OK;
    *size = 0;
    return gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu numbers", wanted);
}

static gravel_status need_room(gravel_cluster_ring *r, const round_trip *t)
{
    size_t most = 1, size = r->block_size;
    gravel_bodies_options o = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_status status = GRAVEL_OK;
    for (int k = 0; k < r->cluster->size; k++)
        most = r->count[k] > most ? r->count[k] : most;
    for (int k = 0; k < 3 && !status; k++) {
        size = r->block_size;
        status = need_numbers(&r->block[k], &size, most * MOST_COLUMNS);
    }
    r->block_size = status ? 0 : size;
    o.precision = gravel_bodies_get_precision(t->call->sources.bodies);
    for (int k = 0; k < 2 && !status && r->cluster->size > 1; k++)
        if (!r->visitors[k] || gravel_bodies_get_precision(r->visitors[k]) != o.precision) {
            gravel_bodies_release(r->visitors[k]);
            status = gravel_bodies_create(&r->visitors[k], r->context, &o);
        }
    return status ? status
                  : need_numbers(&r->part, &r->part_size, RESULTS * (gravel_view_get_count(&t->call->sinks) + 1));
}

/* ----------------------------------------------------------------------- sums */

gravel_forces gv_cluster_forces_at(double *p, size_t n, int order)
{
    gravel_forces f = {.acc = GRAVEL_VEC_OUT_SOA(p, p + n, p + 2 * n), .pot = p + 9 * n};
    if (order >= 4)
        f.jerk = GRAVEL_VEC_OUT_SOA(p + 3 * n, p + 4 * n, p + 5 * n);
    if (order >= 6)
        f.snap = GRAVEL_VEC_OUT_SOA(p + 6 * n, p + 7 * n, p + 8 * n);
    return f;
}

/* Sums from the bodies of one rank, submitted. */
static gravel_status start_sum(gravel_cluster_ring *r, round_trip *t, int turn, double *block, size_t n)
{
    gravel_direct_call call = *t->call;
    gravel_status status = GRAVEL_OK;
    if (n == 0 || gravel_view_get_count(&call.sinks) == 0)
        return GRAVEL_OK;
    if (block) { /* NULL: this rank's own, which are on the device */
        status = write_visitors(r->visitors[turn % 2], t, block, n);
        call.sources = gravel_view_all(r->visitors[turn % 2]);
    }
    call.into = GRAVEL_INTO_HOST;
    return status ? status : gravel_direct_start(t->direct, &call, &t->ticket[turn % 2]);
}

static gravel_status add_sum(gravel_cluster_ring *r, round_trip *t, int turn, double *sum)
{
    gravel_ticket **ticket = &t->ticket[turn % 2];
    const size_t n = gravel_view_get_count(&t->call->sinks);
    gravel_status status = GRAVEL_OK;
    if (!*ticket)
        return GRAVEL_OK;
    const gravel_forces to = gv_cluster_forces_at(r->part, n, t->call->order);
    const double begin = MPI_Wtime();
    status = gravel_ticket_collect(*ticket, &to, NULL);
    r->times.device_s += MPI_Wtime() - begin;
    gravel_ticket_release(*ticket);
    *ticket = NULL;
    for (int c = 0; c < RESULTS && !status; c++)
        for (size_t k = (size_t)c * n; (c == 9 || c < 3 * (t->call->order / 2)) && k < ((size_t)c + 1) * n; k++)
            sum[k] += r->part[k];
    return status;
}

/* The block that is here goes on, the next one comes: both are under way while the device works. */
static int pass_block(gravel_cluster_ring *r, int turn, MPI_Datatype body, const double *here, MPI_Request request[2])
{
    const gravel_cluster *c = r->cluster;
    const int up = (c->rank + 1) % c->size, down = (c->rank + c->size - 1) % c->size;
    const int owner = (c->rank - turn + c->size) % c->size, next = (owner - 1 + c->size) % c->size;
    int code = MPI_Irecv(r->block[1 + turn % 2], (int)r->count[next], body, down, turn, c->comm, &request[0]);
    if (code == MPI_SUCCESS)
        code = MPI_Isend(here, (int)r->count[owner], body, up, turn, c->comm, &request[1]);
    return code;
}

/* A rank that fails goes on handing blocks round: the others wait for them. */
static gravel_status go_round(gravel_cluster_ring *r, round_trip *t, double *sum)
{
    const gravel_cluster *c = r->cluster;
    double *here = r->block[0];
    gravel_status status = start_sum(r, t, 0, NULL, r->count[c->rank]);
    int code = MPI_SUCCESS;
    MPI_Datatype body;
    MPI_Type_contiguous(t->columns, MPI_DOUBLE, &body);
    MPI_Type_commit(&body);
    for (int turn = 0; turn < c->size; turn++) {
        MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        const double begin = MPI_Wtime();
        if (turn + 1 < c->size && code == MPI_SUCCESS) {
            const int owner = (c->rank - turn - 1 + c->size) % c->size;
            code = pass_block(r, turn, body, here, request);
            const int waited = gv_cluster_finish(c, 2, request);
            code = code == MPI_SUCCESS ? waited : code;
            here = r->block[1 + turn % 2];
            r->times.exchange_s += MPI_Wtime() - begin;
            r->times.bytes += 8.0 * t->columns * (double)r->count[owner];
            if (!status && code == MPI_SUCCESS)
                status = start_sum(r, t, turn + 1, here, r->count[owner]);
        }
        if (!status)
            status = add_sum(r, t, turn, sum);
    }
    MPI_Type_free(&body);
    for (int k = 0; k < 2; k++)
        gravel_ticket_release(t->ticket[k]);
    return status ? status : code == MPI_SUCCESS ? GRAVEL_OK : gv_cluster_fail_mpi(code, "a block of sources");
}

/* ----------------------------------------------------------------------- face */

static gravel_status check_call(const gravel_cluster_ring *r, const gravel_direct *direct,
                                const gravel_direct_call *call)
{
    if (!direct || !call->sources.bodies || !call->sinks.bodies)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "forces over the ring: no solver, sources or sinks");
    if (call->sources.kind != GRAVEL_VIEW_ALL || call->sinks.kind == GRAVEL_VIEW_LIST)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "forces over the ring: sources are all bodies of a rank, sinks all "
                                                    "or a range");
    if (call->soften != GRAVEL_SOFTEN_EPS || call->shape != GRAVEL_SHAPE_PLUMMER || call->nearest > 0 ||
        call->neighbour_capacity > 0 || call->changes || call->quadrupoles)
        return gv_cluster_fail(GRAVEL_ERR_UNSUPPORTED,
                               "forces over the ring: softening by eps only, without neighbours, changes or "
                               "quadrupoles");
    if (call->order != 2 && call->order != 4 && call->order != 6)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "the order is %d; it must be 2, 4 or 6", call->order);
    if (gravel_view_get_count(&call->sources) > INT32_MAX / (size_t)r->cluster->size)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "forces over the ring: more than 2^31 bodies");
    return GRAVEL_OK;
}

/* How many bodies each rank has. */
static gravel_status tell_counts(gravel_cluster_ring *r, size_t mine)
{
    const int code = gv_cluster_gather(r->cluster, &mine, sizeof mine, r->count);
    return code == MPI_SUCCESS ? GRAVEL_OK : gv_cluster_fail_mpi(code, "how many bodies the ranks have");
}

/* All ranks: sum has RESULTS columns of the sinks. */
static gravel_status find_sums(gravel_cluster_ring *r, gravel_direct *direct, const gravel_direct_call *call,
                               double *sum, gravel_status status)
{
    round_trip t = {.direct = direct, .call = call};
    if (!status)
        status = check_call(r, direct, call);
    status = gravel_cluster_agree(r->cluster, status);
    if (!status)
        status = tell_counts(r, gravel_view_get_count(&call->sources));
    if (status)
        return status;
    choose_columns(&t);
    memset(sum, 0, RESULTS * gravel_view_get_count(&call->sinks) * sizeof *sum);
    status = need_room(r, &t);
    if (!status)
        status = read_own(r, &t);
    status = gravel_cluster_agree(r->cluster, status);
    if (!status)
        status = gravel_cluster_agree(r->cluster, go_round(r, &t, sum));
    r->times.calls++;
    r->times.shared++;
    return status;
}

gravel_status gravel_cluster_ring_potentials(gravel_cluster_ring *r, gravel_direct *direct, gravel_bodies *bodies,
                                             double eps, double *potential)
{
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    if (!r)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_ring_potentials: no ring");
    const size_t n = bodies ? gravel_bodies_get_count(bodies) : 0;
    gravel_status status = need_numbers(&r->sum, &r->sum_size, RESULTS * (n + 1));
    call.sources = call.sinks = gravel_view_all(bodies);
    call.order = 2;
    call.eps = eps;
    call.nearest = call.neighbour_capacity = 0;
    status = find_sums(r, direct, &call, r->sum, status);
    if (!status)
        memcpy(potential, r->sum + 9 * n, n * sizeof *potential);
    return status;
}

gravel_status gravel_cluster_ring_forces(gravel_direct *direct, const gravel_direct_call *call, void *ring)
{
    static const struct {
        gravel_plane plane;
        int column;
    } out[] = {{GRAVEL_ACCELERATION, 0}, {GRAVEL_POTENTIAL, 9}, {GRAVEL_JERK, 3}, {GRAVEL_SNAP, 6}};
    gravel_cluster_ring *r = ring;
    if (!r || !call)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_ring_forces: no ring or no call");
    const size_t n = gravel_view_get_count(&call->sinks);
    const size_t first = call->sinks.kind == GRAVEL_VIEW_RANGE ? call->sinks.first : 0;
    gravel_status status = need_numbers(&r->sum, &r->sum_size, RESULTS * (n + 1));
    status = find_sums(r, direct, call, r->sum, status);
    for (int k = 0; k < 1 + call->order / 2 && n > 0 && !status; k++) {
        const double *from = r->sum + (size_t)out[k].column * n;
        const gravel_array in = {from, out[k].column == 9 ? NULL : from + n, out[k].column == 9 ? NULL : from + 2 * n,
                                 1, GRAVEL_F64};
        status = gravel_bodies_write(call->sinks.bodies, out[k].plane, first, n, &in);
    }
    return status;
}
