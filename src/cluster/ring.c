/* Forces on bodies that are dealt out, for integrators of which every rank has one with its own bodies.
 *
 * Each rank's bodies visit all ranks, as the words that its device holds, with the derivatives that predict them.
 * They stand in memory that the ranks of a machine share (near.h); each rank writes them from there into one of two
 * sets of visitors while its device sums the other.  Machines hand their ranks' blocks round: the next ones come
 * while the present ones are summed.  The order of sums is fixed: a rank's own block, then those of the ranks below
 * it on its machine, cyclically, then those of the machine below in the same order, ...  Results are added on the
 * device; where they would overwrite what the sums read (order 6: accelerations), or go to the host, they are kept
 * there in double. */
#include "cluster/ring.h"

#include <stdlib.h>
#include <string.h>

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
        r->share = calloc((size_t)cluster->size, sizeof *r->share);
        status = r->share ? gv_staging_begin(&r->staging, cluster, context)
                          : gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory");
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
    gv_staging_release(&r->staging);
    for (int k = 0; k < 2; k++)
        gravel_bodies_release(r->visitors[k]);
    free(r->share);
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

/* Sums from the bodies of one rank, submitted; `block` NULL: this rank's own, which are on the device. */
static gravel_status start_sum(gravel_cluster_ring *r, gv_ring_round *t, const unsigned char *block, int owner)
{
    gravel_direct_call call = *t->call;
    gravel_status status = GRAVEL_OK;
    const size_t n = r->share[owner].count;
    if (n == 0 || gravel_view_get_count(&call.sinks) == 0)
        return GRAVEL_OK;
    if (block) {
        status = gv_ring_write_visitors(r, t, block, owner);
        gravel_bodies *v = r->visitors[t->turn % 2];
        call.sources = n == gravel_bodies_get_count(v) ? gravel_view_all(v) : gravel_view_range(v, 0, n);
    }
    call.into = t->sum ? GRAVEL_INTO_HOST : GRAVEL_INTO_PLANES | (t->has_sums ? GRAVEL_INTO_ADD : 0);
    if (!status)
        status = gravel_direct_start(t->direct, &call, t->sum ? &t->ticket[t->turn % 2] : NULL);
    t->has_sums = 1;
    if (status)
        return status;
    cl_int code = clEnqueueMarkerWithWaitList(r->staging.compute, 0, NULL, &t->done[t->turn % 2]);
    if (!code)
        code = clFlush(r->staging.compute);
    return code ? gv_cluster_fail_cl(code, "a sum of visitors") : GRAVEL_OK;
}

/* The results of the block before, while the device sums the present one. */
static gravel_status add_sum(gravel_cluster_ring *r, gv_ring_round *t, int turn)
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
    for (int c = 0; c < GV_RING_RESULTS && !status; c++)
        for (size_t k = (size_t)c * n; (c == 9 || c < 3 * (t->call->order / 2)) && k < ((size_t)c + 1) * n; k++)
            t->sum[k] += r->part[k];
    return status;
}

/* The blocks of a machine, which stand in `slot`: this rank's number first, then those below it. */
static gravel_status sum_machine(gravel_cluster_ring *r, gv_ring_round *t, int machine, int slot, gravel_status status)
{
    const gv_machine_ranks *who = &r->staging.near.who;
    for (int k = 0; k < who->size; k++) {
        const int number = (who->rank - k + who->size) % who->size, owner = machine * who->size + number;
        if (owner == r->cluster->rank)
            continue;
        t->turn++;
        if (!status)
            status = start_sum(r, t, gv_ring_block_at(r, t, slot, number), owner);
        if (!status)
            status = add_sum(r, t, t->turn - 1);
    }
    return status;
}

/* This rank's part of a machine's blocks goes on to the machine above, the next ones come from below. */
static int pass_block(gravel_cluster_ring *r, const gv_ring_round *t, int turn, MPI_Datatype body,
                      MPI_Request request[2])
{
    const gv_machine_ranks *who = &r->staging.near.who;
    const int all = who->machines, machine = who->first / who->size;
    const int owner = (machine - turn + all) % all, next = (owner - 1 + all) % all;
    const int come = next * who->size + who->rank, go = owner * who->size + who->rank;
    const int slot = turn == 0 ? 0 : 1 + turn % 2;
    int code = MPI_Irecv(gv_ring_block_at(r, t, 1 + (turn + 1) % 2, who->rank), (int)r->share[come].count, body,
                         (machine + all - 1) % all, turn, who->across, &request[0]);
    if (code == MPI_SUCCESS)
        code = MPI_Isend(gv_ring_block_at(r, t, slot, who->rank), (int)r->share[go].count, body, (machine + 1) % all,
                         turn, who->across, &request[1]);
    r->times.bytes += (double)t->bytes * (double)r->share[come].count;
    return code;
}

/* A rank that fails goes on handing blocks round: the others wait for them. */
static gravel_status go_round(gravel_cluster_ring *r, gv_ring_round *t, gravel_status status)
{
    const gv_machine_ranks *who = &r->staging.near.who;
    const int machine = who->first / who->size;
    int code = MPI_SUCCESS;
    MPI_Datatype body;
    MPI_Type_contiguous((int)t->bytes, MPI_BYTE, &body);
    MPI_Type_commit(&body);
    for (int turn = 0; turn < who->machines && code == MPI_SUCCESS; turn++) {
        MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        const int owner = (machine - turn + who->machines) % who->machines;
        if (turn + 1 < who->machines)
            code = pass_block(r, t, turn, body, request);
        status = sum_machine(r, t, owner, turn == 0 ? 0 : 1 + turn % 2, status);
        if (turn + 1 == who->machines)
            break;
        const double begin = MPI_Wtime();
        const int waited = gv_cluster_finish(r->cluster, 2, request);
        code = code == MPI_SUCCESS ? waited : code;
        clFinish(r->staging.up); /* what was read here may be overwritten when all have met */
        code = code == MPI_SUCCESS ? gv_near_meet(&r->staging.near) : code;
        r->times.exchange_s += MPI_Wtime() - begin;
    }
    MPI_Type_free(&body);
    if (!status)
        status = add_sum(r, t, t->turn);
    return status ? status : code == MPI_SUCCESS ? GRAVEL_OK : gv_cluster_fail_mpi(code, "a block of sources");
}

/* The own sum is submitted before the bodies are on the host, unless its results overwrite what they are. */
static gravel_status begin_round(gravel_cluster_ring *r, gv_ring_round *t)
{
    const int apart = t->sum || t->call->sinks.bodies != t->call->sources.bodies;
    cl_int code = gv_staging_order(r->staging.compute, r->staging.up); /* visitors were made or used there */
    gravel_status status = code ? gv_cluster_fail_cl(code, "ordering queues") : gv_ring_read_own(r, t);
    if (!status && apart)
        status = start_sum(r, t, NULL, r->cluster->rank);
    const double begin = MPI_Wtime();
    clFinish(r->staging.down);
    if (!status && !apart)
        status = start_sum(r, t, NULL, r->cluster->rank);
    status = gravel_cluster_agree(r->cluster, status); /* all bodies of the machine are there */
    r->times.exchange_s += MPI_Wtime() - begin;
    r->times.bytes += (double)t->bytes * (double)r->share[r->cluster->rank].count * (r->staging.near.who.size - 1);
    return status;
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

/* How many bodies each rank has, and how they stand. */
static gravel_status tell_shares(gravel_cluster_ring *r, gravel_bodies *bodies)
{
    gv_ring_share mine;
    memset(&mine, 0, sizeof mine);
    mine.count = gravel_bodies_get_count(bodies);
    mine.precision = gravel_bodies_get_precision(bodies);
    gravel_bodies_get_frame(bodies, &mine.frame);
    const int code = gv_cluster_gather(r->cluster, &mine, sizeof mine, r->share);
    if (code != MPI_SUCCESS)
        return gv_cluster_fail_mpi(code, "how many bodies the ranks have");
    for (int k = 1; k < r->cluster->size; k++)
        if (r->share[k].precision != r->share[0].precision)
            return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "forces over the ring: rank %d has bodies in %s, rank 0 in %s",
                                   k, gravel_precision_name(r->share[k].precision),
                                   gravel_precision_name(r->share[0].precision));
    return GRAVEL_OK;
}

/* All ranks: into the planes, or to `sum`, which has GV_RING_RESULTS columns of the sinks. */
static gravel_status find_sums(gravel_cluster_ring *r, gravel_direct *direct, const gravel_direct_call *call,
                               double *sum, gravel_status status)
{
    gv_ring_round t = {.direct = direct, .call = call, .sum = sum};
    if (!status)
        status = check_call(r, direct, call);
    if (!status)
        status = gv_ring_choose_words(&t);
    gv_staging_settle(&r->staging);
    status = gravel_cluster_agree(r->cluster, status); /* now nobody reads what was there */
    if (!status)
        status = tell_shares(r, call->sources.bodies);
    if (status)
        return status;
    if (sum)
        memset(sum, 0, GV_RING_RESULTS * gravel_view_get_count(&call->sinks) * sizeof *sum);
    status = gv_ring_need_room(r, &t);
    if (!status)
        status = begin_round(r, &t);
    if (!status)
        status = gravel_cluster_agree(r->cluster, go_round(r, &t, GRAVEL_OK));
    if (!status)
        status = gv_staging_join(&r->staging);
    for (int k = 0; k < 2; k++) {
        gravel_ticket_release(t.ticket[k]);
        if (t.done[k])
            clReleaseEvent(t.done[k]);
    }
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
    gravel_status status = gv_ring_need_numbers(&r->sum, &r->sum_size, GV_RING_RESULTS * (n + 1));
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
    if (call->order != 6)
        return find_sums(r, direct, call, NULL, GRAVEL_OK);
    gravel_status status = gv_ring_need_numbers(&r->sum, &r->sum_size, GV_RING_RESULTS * (n + 1));
    status = find_sums(r, direct, call, r->sum, status);
    for (int k = 0; k < 1 + call->order / 2 && n > 0 && !status; k++) {
        const double *from = r->sum + (size_t)out[k].column * n;
        const gravel_array in = {from, out[k].column == 9 ? NULL : from + n, out[k].column == 9 ? NULL : from + 2 * n,
                                 1, GRAVEL_F64};
        status = gravel_bodies_write(call->sinks.bodies, out[k].plane, first, n, &in);
    }
    return status;
}
