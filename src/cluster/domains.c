/* Domains: stretches of a space-filling curve with equal costs.  Each rank tells the others where along the curve its
 * bodies' costs are; all find the same splits; bodies whose domain is another rank's travel. */
#include "cluster/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* blocks of bodies that each rank tells of: costs are dealt to about 1 / BLOCKS of a rank's */
enum { FIRST_FEW = 3, SELDOM = 8, TAG = 11 };

/* Where the bodies of all ranks are, and which planes they have; `status`: of what this rank did before. */
static gravel_status tell_bodies(gravel_cluster_tree *t, gravel_status status)
{
    double low[3] = {0}, high[3] = {0};
    gv_told mine;
    int failed = 0;
    if (!status)
        status = gravel_exchange_get_box(t->exchange, low, high);
    memset(&mine, 0, sizeof mine);
    for (int k = 0; k < 3; k++) {
        mine.most[k] = -low[k];
        mine.most[3 + k] = high[k];
    }
    mine.planes = gravel_exchange_get_planes(t->exchange);
    mine.failed = status != GRAVEL_OK;
    const double start = MPI_Wtime();
    const int code = gv_cluster_gather(t->cluster, &mine, sizeof mine, t->told);
    t->waits += MPI_Wtime() - start;
    for (int r = 0; r < t->cluster->size && code == MPI_SUCCESS; r++)
        failed |= t->told[r].failed != 0;
    return gv_cluster_learn(t, status, failed, code, "boxes of the ranks' bodies");
}

static gravel_status take_sample(gravel_bodies *bodies, gv_cluster_sample *sample)
{
    const size_t n = gravel_bodies_get_count(bodies);
    const gravel_array_out to = GRAVEL_ARRAY_OUT_SOA(sample->x[0], sample->x[1], sample->x[2]);
    uint32_t address[GV_SAMPLE];
    sample->count = n < GV_SAMPLE ? n : GV_SAMPLE;
    for (size_t k = 0; k < sample->count; k++)
        address[k] = (uint32_t)(k * n / sample->count);
    return gravel_bodies_gather(bodies, GRAVEL_POSITION, address, sample->count, &to);
}

/* A new frame for all ranks where bodies have left the cube, or fill little of it. */
static gravel_status follow_bodies(gravel_cluster_tree *t)
{
    double most[6], lo[3], hi[3], half = 0, reach = 0;
    gravel_frame frame;
    gv_cluster_sample sample;
    for (int k = 0; k < 6; k++) {
        most[k] = t->told[0].most[k];
        for (int r = 1; r < t->cluster->size; r++)
            most[k] = fmax(most[k], t->told[r].most[k]);
    }
    for (int k = 0; k < 3; k++) {
        half = fmax(half, 0.5 * (most[k] + most[3 + k]));
        reach = fmax(reach, fmax(most[k], most[3 + k]));
    }
    if (!(half > 0) || (reach <= 1 && half > 0.25))
        return GRAVEL_OK;
    gravel_status status = gravel_bodies_get_frame(t->bodies, &frame);
    for (int k = 0; k < 3; k++) {
        lo[k] = frame.origin[k] - most[k] * frame.length;
        hi[k] = frame.origin[k] + most[3 + k] * frame.length;
    }
    if (!status)
        status = take_sample(t->bodies, &sample);
    status = gv_cluster_choose_frame(t->cluster, status, &sample, lo, hi, &frame);
    return status ? status : gravel_bodies_set_frame(t->bodies, &frame);
}

/* The same planes on all ranks. */
static gravel_status need_planes(gravel_cluster_tree *t)
{
    uint64_t all = 0;
    for (int r = 0; r < t->cluster->size; r++)
        all |= t->told[r].planes;
    return gravel_exchange_set_planes(t->exchange, all);
}

/* Costs along the curve, of all ranks; from these all find the same splits. */
static gravel_status find_splits(gravel_cluster_tree *t, gravel_status status)
{
    const int size = t->cluster->size;
    gv_curve *mine = &t->curve[size];
    size_t blocks = 0;
    int failed = 0;
    mine->count = 0;
    if (!status)
        status = gravel_exchange_order(t->exchange, t->has_costs ? (int)GV_COST_PLANE : -1, GV_CURVE_BLOCKS, mine->key,
                                       mine->weight, &mine->count);
    mine->failed = status != GRAVEL_OK;
    const double start = MPI_Wtime();
    const int code = gv_cluster_gather(t->cluster, mine, sizeof *mine, t->curve);
    t->waits += MPI_Wtime() - start;
    for (int r = 0; r < size && code == MPI_SUCCESS; r++)
        failed |= t->curve[r].failed;
    status = gv_cluster_learn(t, status, failed, code, "costs along the curve");
    for (int r = 0; r < size && !status; r++) {
        const size_t count = (size_t)t->curve[r].count;
        memcpy(t->key + blocks, t->curve[r].key, count * sizeof *t->key);
        memcpy(t->weight + blocks, t->curve[r].weight, count * sizeof *t->weight);
        blocks += count;
    }
    return status ? status : gravel_exchange_choose(blocks, t->key, t->weight, size, t->split);
}

/* How many bodies go from where to where, to all; a rank that failed says SIZE_MAX. */
static gravel_status tell_counts(gravel_cluster_tree *t, gravel_status status)
{
    const int size = t->cluster->size;
    int failed = 0;
    if (!status)
        status = gravel_exchange_deal(t->exchange, t->split, t->counts, t->out_bytes);
    if (status)
        t->counts[0] = SIZE_MAX;
    const double start = MPI_Wtime();
    const int code = gv_cluster_gather(t->cluster, t->counts, (size_t)size * sizeof *t->counts, t->all_counts);
    t->waits += MPI_Wtime() - start;
    for (int r = 0; r < size && code == MPI_SUCCESS; r++) {
        t->arrivals[r] = t->all_counts[r * size + t->cluster->rank];
        failed |= t->all_counts[r * size] == SIZE_MAX;
    }
    return gv_cluster_learn(t, status, failed, code, "numbers of bodies on their way");
}

/* Bodies travel.  A rank that fails before the messages keeps the others from sending any. */
static gravel_status move_bodies(gravel_cluster_tree *t)
{
    gravel_cluster *c = t->cluster;
    const void *from = NULL;
    void *to = NULL;
    gravel_status status = gravel_exchange_room(t->exchange, t->arrivals, t->in_bytes, &to);
    if (!status)
        status = gravel_exchange_fetch(t->exchange, &from);
    status = gv_cluster_meet(t, status);
    if (status)
        return status;
    t->info.moved = 0;
    for (int r = 0; r < c->size; r++)
        t->info.moved += r == c->rank ? 0 : t->counts[r];
    status = gv_swap_receive(&t->swap, c, TAG, to, t->in_bytes);
    if (!status)
        status = gv_swap_send(&t->swap, c, TAG, from, t->out_bytes);
    status = gv_swap_wait(&t->swap, status);
    return status ? status : gravel_exchange_join(t->exchange);
}

/* Each message tells, too, whether its rank has failed since the one before. */
static gravel_status deal(gravel_cluster_tree *t, gravel_status status)
{
    const uint64_t failures = t->cluster->failures;
    status = tell_bodies(t, status);
    if (gv_cluster_is_known(t, status, failures))
        return status;
    if (!status)
        status = follow_bodies(t);
    if (!status)
        status = need_planes(t);
    status = find_splits(t, status);
    if (gv_cluster_is_known(t, status, failures))
        return status;
    status = tell_counts(t, status);
    t->since = 0;
    t->dealt = 1;
    return gv_cluster_is_known(t, status, failures) ? status : move_bodies(t);
}

/* Computations from one exchange of bodies to the next at most.  It takes a processor less than what cells that domains
 * cut and bodies that have left their domain cost otherwise; a GPU waits for its messages (doc/numbers.md). */
static int find_interval(const gravel_cluster_tree *t)
{
    if (t->options.exchange >= 0)
        return t->options.exchange;
    return t->cluster->is_patient && !t->blocks ? 1 : SELDOM;
}

gravel_status gv_cluster_deal(gravel_cluster_tree *t, gravel_status status)
{
    const gravel_cluster_tree_info *i = &t->info;
    /* after the first computations costs are new: domains by them are worth it for less */
    const double allowed = t->computations <= FIRST_FEW ? fmin(t->options.imbalance, 0.01) : t->options.imbalance;
    const int uneven = t->has_costs && i->cost_most > (1 + allowed) * i->cost_mean;
    const int interval = find_interval(t), due = t->since < 0 || (interval > 0 && t->since >= interval);
    t->info.moved = 0;
    t->dealt = 0;
    if (t->cluster->size == 1 || t->total == 0 || (!due && !uneven))
        return status;
    t->kept = 0; /* ranks have other bodies then, or another frame */
    return deal(t, status);
}
