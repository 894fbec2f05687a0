/* Runs with a tree over ranks: gravel_cluster_tree as sim/run_domains.c wants it, and the states of all ranks as bytes,
 * one after the other, each with its length before it. */
#include "cli/run_ranks.h"

#ifdef GV_HAVE_MPI

#include <stdlib.h>
#include <string.h>

#include "gravel/cluster.h"

static const char magic[8] = "gvdealt";

static gravel_status make(void *user, const gv_run_settings *s, void **domains)
{
    gv_run_ranks *r = user;
    gravel_cluster_tree *tree = NULL;
    gravel_cluster_tree_options o = GRAVEL_CLUSTER_TREE_OPTIONS_INIT;
    o.theta = s->theta;
    o.mac = s->mac;
    o.moments = s->moments;
    o.softening = s->softening;
    o.precision = s->precision;
    o.stored = s->precision == GRAVEL_DP ? GRAVEL_DP : GRAVEL_DS;
    o.eps = s->eps;
    o.configuration = s->configuration;
    const gravel_status status = gravel_cluster_tree_create(&tree, gv_ranks_cluster(r->ranks), &o);
    *domains = tree;
    return status;
}

static void release(void *domains)
{
    gravel_cluster_tree_release(domains);
}

static gravel_status write_bodies(void *domains, size_t first, const gravel_sources *mine)
{
    return gravel_cluster_tree_write(domains, first, mine);
}

static gravel_status compute(void *domains)
{
    return gravel_cluster_tree_compute(domains);
}

static gravel_status get_largest(void *domains, double *acceleration)
{
    return gravel_cluster_tree_get_largest(domains, acceleration);
}

static gravel_status step(void *domains, double dt)
{
    return gravel_cluster_tree_step(domains, dt);
}

static gravel_status start_blocks(void *domains, const gravel_leapfrog_options *options, double time)
{
    return gravel_cluster_tree_start_blocks(domains, options, time);
}

static gravel_status resume_blocks(void *domains, const gravel_leapfrog_options *options,
                                   const gravel_hermite_state *state)
{
    return gravel_cluster_tree_resume_blocks(domains, options, state);
}

static gravel_status get_next(void *domains, double *time)
{
    return gravel_cluster_tree_get_next_block(domains, time);
}

static gravel_status step_block(void *domains, gravel_hermite_step_info *info)
{
    return gravel_cluster_tree_step_block(domains, info);
}

static gravel_status add_steps(void *domains, uint64_t counts[GRAVEL_STEP_POWERS])
{
    return gravel_cluster_tree_add_step_counts(domains, counts);
}

static gravel_status get_state(void *domains, gravel_hermite_state *state)
{
    return gravel_cluster_tree_get_block_state(domains, state);
}

static gravel_status read_plane(void *domains, gravel_plane plane, size_t first, size_t count,
                                const gravel_array_out *to)
{
    return gravel_cluster_tree_read(domains, plane, first, count, to);
}

/* -------------------------------------------------------------------- state */

/* Before each rank's state. */
typedef struct head {
    char magic[8];
    uint64_t parts, bytes;
} head;

/* Where the state of rank `part` begins, and *length; 0: it is not there. */
static size_t find_part(const void *bytes, size_t size, int part, head *h)
{
    size_t at = 0;
    for (int k = 0; k <= part; k++) {
        if (size - at < sizeof *h)
            return 0;
        memcpy(h, (const char *)bytes + at, sizeof *h);
        at += sizeof *h;
        if (memcmp(h->magic, magic, sizeof magic) != 0 || (uint64_t)part >= h->parts || h->bytes > size - at)
            return 0;
        at += (size_t)h->bytes;
    }
    return at - (size_t)h->bytes;
}

static int count_parts(const void *bytes, size_t size)
{
    head h;
    return find_part(bytes, size, 0, &h) ? (int)h.parts : 0;
}

static gravel_status open_part(const void *bytes, size_t size, int part, gravel_bodies *bodies)
{
    head h;
    const size_t at = find_part(bytes, size, part, &h);
    return at ? gravel_cluster_tree_open_state((const char *)bytes + at, (size_t)h.bytes, bodies)
              : gv_fail(GRAVEL_ERR_FORMAT, "the checkpoint is damaged: part %d is not there", part);
}

static gravel_status save(void *user, void *domains, void **bytes, size_t *size)
{
    gv_run_ranks *r = user;
    const size_t mine = gravel_cluster_tree_get_state_size(domains);
    head h = {.parts = (uint64_t)gv_ranks_count(r->ranks), .bytes = mine};
    char *state = malloc(sizeof h + mine), *all = NULL;
    gravel_status status = state ? gravel_cluster_tree_save(domains, state + sizeof h)
                                 : gv_fail(GRAVEL_ERR_MEMORY, "no memory for a checkpoint of %zu bytes", mine);
    memcpy(h.magic, magic, sizeof h.magic);
    if (state)
        memcpy(state, &h, sizeof h);
    status = gv_ranks_collect(r->ranks, state, sizeof h + mine, &all, size, status);
    *bytes = all;
    free(state);
    return status;
}

static gravel_status restore(void *user, void *domains, const void *bytes, size_t size, int *same)
{
    gv_run_ranks *r = user;
    struct gravel_cluster *cluster = gv_ranks_cluster(r->ranks);
    const int parts = count_parts(bytes, size);
    head h;
    *same = parts == gv_ranks_count(r->ranks);
    if (parts == 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "the checkpoint is that of one rank; a run with a tree that began over ranks goes on over any "
                       "number of them, this one on one");
    if (!*same)
        return GRAVEL_OK;
    const size_t at = find_part(bytes, size, gravel_cluster_get_rank(cluster), &h);
    return gravel_cluster_tree_restore(domains, (const char *)bytes + at, at ? (size_t)h.bytes : 0);
}

const gv_run_domains gv_run_ranks_domains = {
    make,       release,   write_bodies, compute,    get_largest, step,    start_blocks, resume_blocks, get_next,
    step_block, add_steps, get_state,    read_plane, save,        restore, count_parts,  open_part};

#endif
