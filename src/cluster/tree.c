/* Trees over ranks: forces on all bodies, and leapfrog steps. */
#include "cluster/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_SHALLOW = 12, TAG_DEEP = 13, RUN_NUMBERS = sizeof(gravel_run) / sizeof(double) };

/* --------------------------------------------------------------------- life */

/* Options of rank 0 are those of all; texts are compared by what they say. */
static gravel_status check_options(const gravel_cluster *c, const gravel_cluster_tree_options *o)
{
    enum { NUMBERS = 11, TEXT = 128 };
    struct {
        double number[NUMBERS];
        char text[TEXT];
    } mine, first;
    memset(&mine, 0, sizeof mine);
    const double number[NUMBERS] = {o->theta,
                                    (double)o->mac,
                                    (double)o->moments,
                                    (double)o->softening,
                                    (double)o->precision,
                                    (double)o->stored,
                                    o->eps,
                                    (double)o->imbalance,
                                    (double)o->exchange,
                                    (double)o->runs,
                                    0};
    memcpy(mine.number, number, sizeof number);
    if (o->configuration)
        strncpy(mine.text, o->configuration, TEXT - 1);
    first = mine;
    const int code = MPI_Bcast(&first, (int)sizeof first, MPI_BYTE, 0, c->comm);
    if (code != MPI_SUCCESS)
        return gv_cluster_fail_mpi(code, "comparing options");
    if (memcmp(&first, &mine, sizeof mine) != 0)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_tree_create: options differ from those of rank 0");
    if (!(o->eps >= 0) || !isfinite(o->eps) || !(o->imbalance >= 0) || o->exchange < -1 || o->runs < 0)
        return gv_cluster_fail(
            GRAVEL_ERR_ARGUMENT,
            "gravel_cluster_tree_create: softening %g, imbalance %g, exchange %d, runs %d: they must "
            "be 0 or more (exchange: -1 or more)",
            o->eps, o->imbalance, o->exchange, o->runs);
    return GRAVEL_OK;
}

static gravel_status make_arrays(gravel_cluster_tree *t)
{
    const size_t size = (size_t)t->cluster->size;
    const int even = 16384 / t->cluster->size, boxes = 8 * even;
    t->most_runs = even < 8 ? 8 : even > 256 ? 256 : even;
    t->most_boxes = t->options.runs > 0 ? t->options.runs : boxes < 512 ? 512 : boxes > 8192 ? 8192 : boxes;
    const size_t most = (size_t)(t->most_runs + t->most_boxes);
    t->runs = malloc(most * sizeof *t->runs);
    t->all_runs = malloc(size * most * sizeof *t->all_runs);
    t->own_floats = malloc(most * RUN_NUMBERS * sizeof *t->own_floats);
    t->all_floats = malloc(size * most * RUN_NUMBERS * sizeof *t->all_floats);
    t->equal = malloc(size * (size_t)t->most_runs * sizeof *t->equal);
    t->first = calloc(size + 1, sizeof *t->first);
    t->equal_first = calloc(size + 1, sizeof *t->equal_first);
    t->counts_of = calloc(2 * size, sizeof *t->counts_of);
    t->count = calloc(size, sizeof *t->count);
    t->out = calloc(size, sizeof *t->out);
    t->in = calloc(size, sizeof *t->in);
    t->all_parts = calloc(size * size, sizeof *t->all_parts);
    t->from = calloc(size, sizeof *t->from);
    t->out_bytes = calloc(size, sizeof *t->out_bytes);
    t->in_bytes = calloc(size, sizeof *t->in_bytes);
    t->costs = calloc(2 * size, sizeof *t->costs);
    t->told = calloc(size, sizeof *t->told);
    t->curve = calloc(size + 1, sizeof *t->curve);
    t->key = calloc(size * GV_CURVE_BLOCKS, sizeof *t->key);
    t->weight = calloc(size * GV_CURVE_BLOCKS, sizeof *t->weight);
    t->split = calloc(size, sizeof *t->split);
    t->counts = calloc(size, sizeof *t->counts);
    t->all_counts = calloc(size * size, sizeof *t->all_counts);
    t->arrivals = calloc(size, sizeof *t->arrivals);
    if (!t->runs || !t->all_runs || !t->own_floats || !t->all_floats || !t->equal || !t->equal_first || !t->counts_of ||
        !t->first || !t->count || !t->out || !t->in || !t->all_parts || !t->from || !t->out_bytes || !t->in_bytes ||
        !t->told || !t->curve || !t->key || !t->weight || !t->split || !t->counts || !t->all_counts || !t->arrivals ||
        !t->costs)
        return gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for a tree over %d ranks", t->cluster->size);
    return gv_swap_make(&t->swap, t->cluster);
}

static gravel_status make_objects(gravel_cluster_tree *t)
{
    const gravel_cluster *c = t->cluster;
    const gravel_cluster_tree_options *o = &t->options;
    gravel_context_options context = c->context;
    gravel_tree_options tree = GRAVEL_TREE_OPTIONS_INIT;
    gravel_bodies_options bodies = GRAVEL_BODIES_OPTIONS_INIT;
    context.device = c->info[c->rank].devices;
    tree.theta = o->theta;
    tree.mac = o->mac;
    tree.moments = o->moments;
    tree.softening = o->softening;
    tree.precision = o->precision;
    tree.configuration = o->configuration;
    bodies.precision = o->stored;
    gravel_status status = gravel_context_create(&t->context, &context);
    if (!status)
        status = gravel_bodies_create(&t->bodies, t->context, &bodies);
    if (!status)
        status = gravel_tree_create(&t->tree, t->context, &tree);
    if (!status)
        status = gravel_exchange_create(&t->exchange, t->bodies, c->size, c->rank);
    if (!status)
        status = gv_staging_begin(&t->staging, t->cluster, t->context);
    return status ? status : gravel_essential_create(&t->essential, t->tree, c->size, c->rank);
}

gravel_status gravel_cluster_tree_create(gravel_cluster_tree **tree, gravel_cluster *cluster,
                                         const gravel_cluster_tree_options *options)
{
    gravel_cluster_tree_options taken = GRAVEL_CLUSTER_TREE_OPTIONS_INIT;
    if (!tree || !cluster)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_tree_create: no cluster, or no place for it");
    *tree = NULL;
    if (options && options->size > 0)
        memcpy(&taken, options, options->size < sizeof taken ? options->size : sizeof taken);
    gravel_status status = gravel_cluster_agree(cluster, check_options(cluster, &taken));
    if (status)
        return status;
    gravel_cluster_tree *t = calloc(1, sizeof *t);
    status = t ? GRAVEL_OK : gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for a tree");
    if (t) {
        t->cluster = cluster;
        t->options = taken;
        t->since = -1;
        status = make_arrays(t);
    }
    if (!status)
        status = make_objects(t);
    status = gravel_cluster_agree(cluster, status);
    if (status) {
        gravel_cluster_tree_release(t);
        return status;
    }
    t->options.configuration = NULL; /* the caller's text need not live on */
    *tree = t;
    return GRAVEL_OK;
}

void gravel_cluster_tree_release(gravel_cluster_tree *t)
{
    if (!t)
        return;
    gv_cluster_end_blocks(t);
    gravel_essential_release(t->essential);
    if (t->staging.context)
        gv_staging_release(&t->staging);
    gravel_exchange_release(t->exchange);
    gravel_tree_release(t->tree);
    gravel_bodies_release(t->bodies);
    gravel_context_release(t->context);
    gv_swap_release(&t->swap);
    free(t->runs);
    free(t->all_runs);
    free(t->own_floats);
    free(t->all_floats);
    free(t->equal);
    free(t->first);
    free(t->equal_first);
    free(t->counts_of);
    free(t->count);
    free(t->out);
    free(t->in);
    free(t->all_parts);
    free(t->from);
    free(t->out_bytes);
    free(t->in_bytes);
    free(t->told);
    free(t->curve);
    free(t->key);
    free(t->weight);
    free(t->split);
    free(t->counts);
    free(t->all_counts);
    free(t->costs);
    free(t->arrivals);
    free(t);
}

gravel_bodies *gravel_cluster_tree_get_bodies(gravel_cluster_tree *t)
{
    return t ? t->bodies : NULL;
}

size_t gravel_cluster_tree_get_total(const gravel_cluster_tree *t)
{
    return t ? t->total : 0;
}

void gravel_cluster_tree_get_info(const gravel_cluster_tree *t, gravel_cluster_tree_info *info)
{
    if (t && info)
        *info = t->info;
}

/* ------------------------------------------------------------------- forces */

gravel_status gv_cluster_meet(gravel_cluster_tree *t, gravel_status status)
{
    const double start = MPI_Wtime();
    status = gravel_cluster_agree(t->cluster, status);
    t->waits += MPI_Wtime() - start;
    return status;
}

gravel_status gv_cluster_learn(gravel_cluster_tree *t, gravel_status status, int any, int code, const char *what)
{
    if (code != MPI_SUCCESS)
        status = gv_cluster_fail_mpi(code, what);
    return any || code != MPI_SUCCESS ? gv_cluster_meet(t, status) : GRAVEL_OK;
}

int gv_cluster_is_known(const gravel_cluster_tree *t, gravel_status status, uint64_t failures)
{
    return status != GRAVEL_OK && t->cluster->failures != failures;
}

/* Behind each rank's runs are `equal` ones, those that tell where its bodies are: away from there. */
static void put_equal_apart(gravel_cluster_tree *t)
{
    const int *count = t->counts_of, size = t->cluster->size;
    int from = 0;
    t->first[0] = t->equal_first[0] = 0;
    for (int r = 0; r < size; r++) {
        memmove(t->all_runs + t->first[r], t->all_runs + from, (size_t)count[2 * r] * sizeof *t->runs);
        memcpy(t->equal + t->equal_first[r], t->all_runs + from + count[2 * r],
               (size_t)count[2 * r + 1] * sizeof *t->runs);
        from += count[2 * r] + count[2 * r + 1];
        t->first[r + 1] = t->first[r] + count[2 * r];
        t->equal_first[r + 1] = t->equal_first[r] + count[2 * r + 1];
    }
}

/* The runs of all ranks, one after the other: in float where they are numbers of devices that compute in float. */
static int gather_all(gravel_cluster_tree *t, size_t mine)
{
    const gravel_cluster *c = t->cluster;
    const int in_float = t->options.precision != GRAVEL_DP;
    const size_t all = (size_t)t->first[c->size] * RUN_NUMBERS;
    const double *from = (const double *)t->runs;
    double *to = (double *)t->all_runs;
    MPI_Datatype run;
    for (size_t k = 0; k < mine * RUN_NUMBERS && in_float; k++)
        t->own_floats[k] = (float)from[k];
    MPI_Type_contiguous(RUN_NUMBERS, in_float ? MPI_FLOAT : MPI_DOUBLE, &run);
    MPI_Type_commit(&run);
    const int code = gv_cluster_gather_parts(c, in_float ? (const void *)t->own_floats : t->runs, run,
                                             in_float ? (void *)t->all_floats : t->all_runs, t->count, t->first);
    MPI_Type_free(&run);
    for (size_t k = 0; k < all && in_float && code == MPI_SUCCESS; k++)
        to[k] = (double)t->all_floats[k];
    return code;
}

/* first[r] ... of rank r; `equal` of those behind them go to t->equal, if any rank has some.  A rank that failed tells
 * of -1 of them. */
static gravel_status gather_runs(gravel_cluster_tree *t, gravel_status status, int count, int equal)
{
    gravel_cluster *c = t->cluster;
    const int mine[2] = {status ? -1 : count, equal};
    const double start = MPI_Wtime();
    int any = 0, failed = 0, code = gv_cluster_gather(c, mine, sizeof mine, t->counts_of);
    const double met = MPI_Wtime();
    t->waits += met - start;
    for (int r = 0; r < c->size; r++)
        failed |= code == MPI_SUCCESS && t->counts_of[2 * r] < 0;
    status = gv_cluster_learn(t, status, failed, code, "numbers of boxes");
    if (status)
        return status;
    t->first[0] = 0;
    for (int r = 0; r < c->size; r++) {
        t->count[r] = t->counts_of[2 * r] + t->counts_of[2 * r + 1];
        t->first[r + 1] = t->first[r] + t->count[r];
        any |= t->counts_of[2 * r + 1];
    }
    code = gather_all(t, (size_t)(count + equal));
    t->info.transfer += MPI_Wtime() - met;
    if (code == MPI_SUCCESS && any)
        put_equal_apart(t);
    return code == MPI_SUCCESS ? GRAVEL_OK : gv_cluster_fail_mpi(code, "boxes of all ranks' sinks");
}

/* Cells that estimates need travel, between all ranks that are near each other. */
static gravel_status swap_boundaries(gravel_cluster_tree *t, gravel_status status, int count)
{
    const uint64_t failures = t->cluster->failures;
    status = gather_runs(t, status, count, 0);
    if (gv_cluster_is_known(t, status, failures))
        return status;
    if (!status)
        status = gravel_essential_cut(t->essential, 0, t->first, t->all_runs, t->out);
    return gv_cluster_swap_parts(t, status, TAG_SHALLOW);
}

/* Boxes of the own sinks that are small beside their distances from the others' bodies, and the accelerations of
 * groups: from the own tree and from parts of the others'. */
static gravel_status estimate(gravel_cluster_tree *t, gravel_status status, int last)
{
    const int has_boundaries = t->options.mac != GRAVEL_TREE_GEOMETRIC && !last;
    const uint64_t failures = t->cluster->failures;
    int count = 0, equal = 0;
    if (!status)
        status = gravel_essential_refine(t->essential, t->equal_first, t->equal, t->most_boxes,
                                         has_boundaries ? t->runs : NULL, &count);
    if (has_boundaries)
        status = swap_boundaries(t, status, count);
    if (gv_cluster_is_known(t, status, failures))
        return status;
    if (!status)
        status = gravel_essential_estimate(t->essential, t->runs, &count, &equal);
    t->info.boxes = (size_t)count;
    return gather_runs(t, status, count, equal);
}

/* The own tree acts while the others' parts come. */
static gravel_status walk(gravel_cluster_tree *t, gravel_status status)
{
    const double start = MPI_Wtime();
    if (!status)
        status = gravel_essential_cut(t->essential, 1, t->first, t->all_runs, t->out);
    if (!status)
        status = gravel_essential_walk(t->essential, 0);
    if (!status)
        status = gravel_essential_cost(t->essential, GV_COST_PLANE, t->blocks != NULL);
    for (int r = 0; r < t->cluster->size; r++) {
        t->info.sent_cells += t->out[r].cells;
        t->info.sent_bodies += t->out[r].bodies;
        t->info.messages += t->out[r].bytes > 0;
    }
    const double cut = MPI_Wtime();
    status = gv_cluster_swap_parts(t, status, TAG_DEEP);
    const double swapped = MPI_Wtime();
    if (!status)
        status = gravel_essential_walk(t->essential, 1);
    if (!status)
        status = gravel_essential_cost(t->essential, GV_COST_PLANE, 1);
    t->info.cut = cut - start;
    t->info.walk = swapped - cut;
    return status;
}

gravel_status gv_cluster_compare_costs(gravel_cluster_tree *t, gravel_status status)
{
    const gravel_cluster *c = t->cluster;
    if (!status)
        status = gravel_exchange_weigh(t->exchange, (int)GV_COST_PLANE, &t->info.cost);
    const double mine[2] = {t->info.cost, status != GRAVEL_OK}, start = MPI_Wtime();
    const int code = gv_cluster_gather(c, mine, sizeof mine, t->costs);
    int failed = code != MPI_SUCCESS;
    t->waits += MPI_Wtime() - start;
    t->info.cost_mean = t->info.cost_most = 0;
    for (int r = 0; r < c->size && !failed; r++) {
        failed = t->costs[2 * r + 1] != 0;
        t->info.cost_mean += t->costs[2 * r] / c->size;
        t->info.cost_most = fmax(t->info.cost_most, t->costs[2 * r]);
    }
    t->has_costs = !failed && t->info.cost_mean > 0;
    return gv_cluster_learn(t, status, failed, code, "costs of all ranks");
}

/* The call of all bodies. */
static gravel_status take_all(gravel_cluster_tree *t, gravel_tree_call *call)
{
    const gravel_view all = gravel_view_all(t->bodies);
    gravel_tree_call_init(call);
    call->sinks = all;
    call->eps = t->options.eps;
    call->into = GRAVEL_INTO_PLANES;
    call->last = t->options.mac == GRAVEL_TREE_LAST ? t->computed : t->options.mac == GRAVEL_TREE_RELATIVE && t->near;
    return gravel_tree_set_sources(t->tree, &all);
}

/* The tree; in the first computation, and where bodies went to other ranks, also where all bodies are. */
static gravel_status begin(gravel_cluster_tree *t, const gravel_tree_call *call, gravel_status status)
{
    int count = 0;
    gravel_essential_share_cells(t->essential, t->dealt || t->cluster->size == 1);
    if (!status)
        status = gravel_essential_begin(t->essential, call, t->most_runs, t->kept ? NULL : t->runs, &count);
    return t->kept ? status : gather_runs(t, status, 0, count);
}

/* The last kick of a step, and what all ranks learn at the end. */
static gravel_status end(gravel_cluster_tree *t, double kick, gravel_status status)
{
    if (!status && kick != 0 && gravel_bodies_get_count(t->bodies) > 0)
        status = gravel_bodies_advance(t->bodies, kick, 0);
    return gv_cluster_compare_costs(t, status);
}

gravel_status gv_cluster_act(gravel_cluster_tree *t, const gravel_tree_call *call, double kick, gravel_status status)
{
    const double start = MPI_Wtime();
    const uint64_t failures = t->cluster->failures;
    gravel_tree_call taken;
    if (call)
        t->swap.bytes = 0, t->waits = 0; /* else those of bodies that changed ranks count, too */
    t->info = (gravel_cluster_tree_info){
        .moved = t->info.moved, .cost_mean = t->info.cost_mean, .cost_most = t->info.cost_most};
    if (!status && !call)
        status = take_all(t, &taken);
    const gravel_tree_call *now = call ? call : &taken;
    const int anew = !status && now->moved == GRAVEL_TREE_REBUILD;
    t->kept = t->kept && !call; /* what came for the sinks of one call is not enough for those of another */
    status = begin(t, now, status);
    const double built = MPI_Wtime();
    if (!gv_cluster_is_known(t, status, failures))
        status = estimate(t, status, !status && now->last);
    const double estimated = MPI_Wtime();
    if (!gv_cluster_is_known(t, status, failures))
        status = walk(t, status);
    if (!call && !gv_cluster_is_known(t, status, failures))
        status = end(t, kick, status);
    t->info.others = MPI_Wtime() - estimated - t->info.cut - t->info.walk;
    t->computed = !status;
    t->kept = t->near = !status && !call;
    t->computations += anew;
    t->since = status ? -1 : t->since + anew;
    t->info.bodies = gravel_bodies_get_count(t->bodies);
    t->info.bytes = t->swap.bytes;
    t->info.waits = t->waits;
    t->info.build = built - start;
    t->info.estimate = estimated - built;
    return status;
}

/* Forces where the bodies are now, and the last kick of a step. */
static gravel_status find_forces(gravel_cluster_tree *t, double kick, gravel_status status)
{
    const double start = MPI_Wtime();
    const uint64_t failures = t->cluster->failures;
    t->swap.bytes = 0;
    t->waits = 0;
    status = gv_cluster_deal(t, status);
    if (gv_cluster_is_known(t, status, failures))
        return status;
    const double dealt = MPI_Wtime();
    status = gv_cluster_act(t, NULL, kick, status);
    t->info.exchange = dealt - start;
    t->info.seconds = MPI_Wtime() - start;
    return status;
}

gravel_status gravel_cluster_tree_compute(gravel_cluster_tree *t)
{
    if (!t)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_tree_compute: no tree was given");
    t->kept = t->near = 0; /* bodies may be far from where they were */
    return find_forces(t, 0, GRAVEL_OK);
}

gravel_status gravel_cluster_tree_step(gravel_cluster_tree *t, double dt)
{
    if (!t)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_tree_step: no tree was given");
    if (!t->has_velocities)
        return gv_cluster_fail(GRAVEL_ERR_STATE, "the bodies have no velocities: gravel_cluster_tree_write has them");
    gravel_status status = t->computed ? GRAVEL_OK : gravel_cluster_tree_compute(t);
    if (status)
        return status;
    if (gravel_bodies_get_count(t->bodies) > 0)
        status = gravel_bodies_advance(t->bodies, 0.5 * dt, dt);
    return find_forces(t, 0.5 * dt, status);
}
