/* Block steps of a tree over ranks.  Every rank has an integrator (gravel/leapfrog.h) of the bodies of its domain; the
 * next block is that of all ranks, and only bodies that are due get forces: boxes, essential parts and walks are those
 * of the sinks of a block.  Trees are built anew and refitted when one device would do it, by the bodies of all ranks.
 * Where they are about to be built anew bodies may change ranks, with all their planes: the integrators go on as from a
 * state. */
#include "cluster/tree.h"

#include <stdlib.h>
#include <string.h>

/* A rank that failed since the last agreement is at its next one: the others meet it there before other messages. */
static gravel_status act(gravel_tree *tree, const gravel_tree_call *call, void *user)
{
    (void)tree; /* the own one */
    const gravel_status status = gv_cluster_meet(user, GRAVEL_OK);
    return status ? status : gv_cluster_act(user, call, 0, GRAVEL_OK);
}

static gravel_status agree(gravel_status status, double *least, double *sum, void *user)
{
    gravel_cluster_tree *t = user;
    return gv_cluster_least(t->cluster, status, least, sum);
}

/* A rank that failed by itself meets the others at their next agreement; what all know needs none. */
static gravel_status settle(gravel_cluster_tree *t, gravel_status status, uint64_t failures)
{
    return gv_cluster_is_known(t, status, failures) ? status : gravel_cluster_agree(t->cluster, status);
}

/* All ranks have their bodies, or none goes on. */
static gravel_status deal_bodies(gravel_cluster_tree *t)
{
    const uint64_t failures = t->cluster->failures;
    const gravel_status status = gv_cluster_deal(t, GRAVEL_OK);
    return t->dealt ? settle(t, status, failures) : status;
}

void gv_cluster_end_blocks(gravel_cluster_tree *t)
{
    gravel_leapfrog_release(t->blocks);
    t->blocks = NULL;
    memset(t->step_counts, 0, sizeof t->step_counts);
}

static gravel_status make(gravel_cluster_tree *t, const gravel_leapfrog_options *options)
{
    gravel_leapfrog_options o = GRAVEL_LEAPFROG_OPTIONS_INIT;
    gravel_status status = GRAVEL_OK;
    if (options && options->size > 0)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    o.size = sizeof o;
    o.eps = t->options.eps;
    o.last =
        t->options.mac != GRAVEL_TREE_GEOMETRIC; /* estimates would need boundaries of the others, block by block */
    o.walk = act;
    o.walk_user = t;
    o.agree = agree;
    o.forces = NULL;
    o.forces_user = t;
    gv_cluster_end_blocks(t);
    if (!t->has_velocities)
        status = gv_cluster_fail(GRAVEL_ERR_STATE, "the bodies have no velocities: gravel_cluster_tree_write has them");
    if (!status)
        status = gravel_leapfrog_create(&t->blocks, t->bodies, NULL, t->tree, &o);
    return gravel_cluster_agree(t->cluster, status);
}

gravel_status gravel_cluster_tree_start_blocks(gravel_cluster_tree *t, const gravel_leapfrog_options *options,
                                               double time)
{
    if (!t)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_tree_start_blocks: no tree was given");
    gravel_status status = make(t, options);
    if (!status)
        status = deal_bodies(t);
    if (status)
        return status;
    const uint64_t failures = t->cluster->failures;
    if (gravel_bodies_get_count(t->bodies) > 0)
        status = gravel_bodies_fill(t->bodies, GV_COST_PLANE, 0);
    if (!status)
        status = gravel_leapfrog_start(t->blocks, time);
    return settle(t, status, failures);
}

static gravel_status check(const gravel_cluster_tree *t, const char *call)
{
    return t && t->blocks ? GRAVEL_OK
                          : gv_cluster_fail(GRAVEL_ERR_STATE, "%s: gravel_cluster_tree_start_blocks comes first", call);
}

gravel_status gravel_cluster_tree_get_next_block(gravel_cluster_tree *t, double *time)
{
    gravel_status status = check(t, "gravel_cluster_tree_get_next_block");
    if (status)
        return status;
    const uint64_t failures = t->cluster->failures;
    return settle(t, gravel_leapfrog_get_next(t->blocks, time), failures);
}

/* -------------------------------------------------------------------- blocks */

/* Costs add up over blocks; what is long ago counts less. */
static gravel_status fade_costs(gravel_cluster_tree *t)
{
    enum { PIECE = 65536 };
    const size_t n = gravel_bodies_get_count(t->bodies);
    double *cost = malloc(PIECE * sizeof *cost);
    gravel_status status = cost ? GRAVEL_OK : gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for costs");
    for (size_t first = 0; first < n && !status; first += PIECE) {
        const size_t count = n - first < PIECE ? n - first : PIECE;
        status = gravel_bodies_read(t->bodies, GV_COST_PLANE, first, count, &GRAVEL_ARRAY_OUT(cost));
        for (size_t k = 0; k < count && !status; k++)
            cost[k] *= 0.5;
        if (!status)
            status = gravel_bodies_write(t->bodies, GV_COST_PLANE, first, count, &GRAVEL_ARRAY(cost));
    }
    free(cost);
    return status;
}

/* The state is that of all ranks: their integrators are at the same time. */
static gravel_status deal(gravel_cluster_tree *t, const gravel_hermite_state *state)
{
    gravel_status status = gv_cluster_compare_costs(t, GRAVEL_OK);
    if (!status)
        status = deal_bodies(t);
    if (status || !t->dealt)
        return status;
    const uint64_t failures = t->cluster->failures;
    status = gravel_leapfrog_add_step_counts(t->blocks, t->step_counts);
    if (!status)
        status = fade_costs(t);
    if (!status)
        status = gravel_leapfrog_resume(t->blocks, state);
    return settle(t, status, failures);
}

gravel_status gravel_cluster_tree_step_block(gravel_cluster_tree *t, gravel_hermite_step_info *info)
{
    gravel_hermite_state state;
    gravel_status status = check(t, "gravel_cluster_tree_step_block");
    if (!status && gravel_leapfrog_get_state(t->blocks, &state) == GRAVEL_OK)
        status = deal(t, &state);
    if (status)
        return status;
    const uint64_t failures = t->cluster->failures;
    return settle(t, gravel_leapfrog_step(t->blocks, info), failures);
}

/* -------------------------------------------------------------------- state */

gravel_status gravel_cluster_tree_get_block_state(const gravel_cluster_tree *t, gravel_hermite_state *state)
{
    gravel_status status = check(t, "gravel_cluster_tree_get_block_state");
    if (!status)
        status = gravel_leapfrog_get_state(t->blocks, state);
    if (!status && !state->whole)
        status =
            gv_cluster_fail(GRAVEL_ERR_STATE, "bodies are in the middle of their steps: a state that other numbers "
                                              "of ranks go on from comes after some more blocks");
    return status;
}

gravel_status gravel_cluster_tree_resume_blocks(gravel_cluster_tree *t, const gravel_leapfrog_options *options,
                                                const gravel_hermite_state *state)
{
    if (!t || !state)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_tree_resume_blocks: no tree, or no state");
    gravel_status status = make(t, options);
    const uint64_t failures = t->cluster->failures;
    return status ? status : settle(t, gravel_leapfrog_resume(t->blocks, state), failures);
}

gravel_status gravel_cluster_tree_add_step_counts(gravel_cluster_tree *t, uint64_t counts[GRAVEL_STEP_POWERS])
{
    uint64_t mine[GRAVEL_STEP_POWERS], all[GRAVEL_STEP_POWERS];
    gravel_status status = check(t, "gravel_cluster_tree_add_step_counts");
    if (status)
        return status;
    memcpy(mine, t->step_counts, sizeof mine);
    status = gravel_cluster_agree(t->cluster, gravel_leapfrog_add_step_counts(t->blocks, mine));
    if (status)
        return status;
    const int code = MPI_Allreduce(mine, all, GRAVEL_STEP_POWERS, MPI_UINT64_T, MPI_SUM, t->cluster->comm);
    for (int k = 0; k < GRAVEL_STEP_POWERS && code == MPI_SUCCESS; k++)
        counts[k] += all[k];
    return gravel_cluster_agree(t->cluster,
                                code == MPI_SUCCESS ? GRAVEL_OK : gv_cluster_fail_mpi(code, "counts of time-steps"));
}
