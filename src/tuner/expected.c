#include "tuner/expected.h"

#include <stdlib.h>
#include <string.h>

#include "cpu_ref/ref.h"

void gv_expected_free(gv_expected *expected)
{
    for (int k = 0; k < GV_EXPECTED_SETS; k++)
        free(expected->set[k].known);
    memset(expected, 0, sizeof *expected);
}

/* The set of this order and these sources; where there is none, the one that was not used for longest begins anew. */
static gv_expected_set *find_set(gv_expected *expected, int order, size_t sources, double eps)
{
    gv_expected_set *oldest = &expected->set[0];

    expected->calls++;
    for (int k = 0; k < GV_EXPECTED_SETS; k++) {
        gv_expected_set *set = &expected->set[k];

        if (set->order == order && set->sources == sources && set->eps == eps) {
            set->used = expected->calls;
            return set;
        }
        oldest = set->used < oldest->used ? set : oldest;
    }
    oldest->order = order;
    oldest->sources = sources;
    oldest->eps = eps;
    oldest->n = 0;
    oldest->used = expected->calls;
    return oldest;
}

static int by_sink(const void *a, const void *b)
{
    const gv_expected_sink *x = a, *y = b;

    return (x->sink > y->sink) - (x->sink < y->sink);
}

static const gv_expected_sink *find(const gv_expected_set *set, size_t sink)
{
    const gv_expected_sink wanted = {.sink = sink};

    return set->n > 0 ? bsearch(&wanted, set->known, set->n, sizeof wanted, by_sink) : NULL;
}

static gravel_status make_room(gv_expected_set *set, size_t more)
{
    size_t room = 2 * (set->n + more);
    gv_expected_sink *grown;

    if (set->n + more <= set->room)
        return GRAVEL_OK;
    grown = realloc(set->known, room * sizeof *grown);
    if (grown == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the reference's results of %zu sinks", room);
    set->known = grown;
    set->room = room;
    return GRAVEL_OK;
}

/* Computes the reference for sinks that it was not computed for before. */
static gravel_status learn(gv_expected_set *set, const gv_pool *p, const size_t *sink, int n)
{
    double at[9][GV_EXPECTED_MOST], plane[GV_POOL_PLANES][GV_EXPECTED_MOST], scale[GV_EXPECTED_MOST];
    double distance[GV_EXPECTED_MOST], radius[GV_EXPECTED_MOST];
    uint32_t count[GV_EXPECTED_MOST];
    int32_t id[GV_EXPECTED_MOST];
    const gv_ref_particles sinks = {(size_t)n, NULL, id, at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7], at[8]};
    const gv_ref_particles sources = {set->sources, p->mass, p->id,   p->x[0], p->x[1], p->x[2],
                                      p->v[0],      p->v[1], p->v[2], p->a[0], p->a[1], p->a[2]};
    const gv_ref_forces out = {
        .ax = plane[0],
        .ay = plane[1],
        .az = plane[2],
        .pot = plane[3],
        .jx = plane[4],
        .jy = plane[5],
        .jz = plane[6],
        .sx = plane[7],
        .sy = plane[8],
        .sz = plane[9],
        .acc_scale = scale,
        .nearest_distance = distance,
        .neighbour_count = count,
    };

    for (int k = 0; k < n; k++) {
        id[k] = p->id[sink[k]];
        radius[k] = p->radius[sink[k]];
        for (int d = 0; d < 3; d++) {
            at[d][k] = p->x[d][sink[k]];
            at[3 + d][k] = p->v[d][sink[k]];
            at[6 + d][k] = p->a[d][sink[k]];
        }
    }
    if (make_room(set, (size_t)n) != GRAVEL_OK)
        return GRAVEL_ERR_MEMORY;
    memset(plane, 0, sizeof plane); /* an order does not have all of them */
    if (gv_ref_direct(GV_REF_DOUBLE, set->order, &sinks, &sources, set->eps, radius, 0, &out) != 0)
        return gv_fail(GRAVEL_ERR_INTERNAL, "the reference refuses the tuner's inputs");
    for (int k = 0; k < n; k++) {
        gv_expected_sink *made = &set->known[set->n++];

        *made = (gv_expected_sink){.sink = sink[k], .acc_scale = scale[k], .distance = distance[k], .count = count[k]};
        for (int c = 0; c < GV_POOL_PLANES; c++)
            made->plane[c] = plane[c][k];
    }
    qsort(set->known, set->n, sizeof *set->known, by_sink);
    return GRAVEL_OK;
}

gravel_status gv_expected_get(gv_expected *expected, const gv_pool *pool, int order, size_t sources, double eps,
                              const size_t *sink, int n, gv_expected_sink *got)
{
    gv_expected_set *set = find_set(expected, order, sources, eps);
    size_t unknown[GV_EXPECTED_MOST];
    int n_unknown = 0;
    gravel_status status = GRAVEL_OK;

    if (set->n + (size_t)n > GV_EXPECTED_KNOWN)
        set->n = 0;
    for (int k = 0; k < n; k++) {
        int twice = find(set, sink[k]) != NULL;

        for (int u = 0; u < n_unknown; u++)
            twice |= unknown[u] == sink[k];
        if (!twice)
            unknown[n_unknown++] = sink[k];
    }
    if (n_unknown > 0)
        status = learn(set, pool, unknown, n_unknown);
    for (int k = 0; k < n && status == GRAVEL_OK; k++)
        got[k] = *find(set, sink[k]);
    return status;
}
