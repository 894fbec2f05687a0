/* The walk of a group of sinks by a work-group: list, test, evaluate.
 *
 *   stack of cells --(every work-item tests one)--> opened: children back to the stack
 *                                                   far:    into the group's local expansion, a cell per work-item
 *                                                   near:   list; from local memory onto every sink
 *                                                   leaf:   its bodies to a list; from local memory onto every sink
 * Each list is evaluated when it is full.  The stack cannot overflow: when room is short fewer cells are taken at once,
 * and one cell at a time needs 7 places a level.
 *
 *   GV_THREADS         work-items of the group (32 where shuffles exist, else the width of the device's waves)
 *   GV_SINKS_PER_ITEM  sinks held by one work-item
 *   GV_SPLIT           work-items that share the sinks, each with a part of every list
 *                      (GV_N_GROUP = GV_THREADS / GV_SPLIT * GV_SINKS_PER_ITEM)
 *   GV_TILE            bodies or cells staged in local memory at once, a multiple of GV_THREADS
 *   GV_STACK           cells the stack can hold
 *   GV_N_LEAF          bodies of a leaf that go through the list; larger ones (at the end of the keys) act alone
 *
 * The order of all sums is fixed by the tree: the same input gives the same bits.
 */
#include "tree/cell.h"
#include "lib/group.h"
#include "lib/pair.h"
#include "tree/interact.h"
#include "tree/walk.h"

#if GV_THREADS < 2
#error "GV_THREADS must be at least 2; walk_lanes.cl is the walk for single work-items"
#endif
#if GV_THREADS % GV_SPLIT || GV_N_GROUP != GV_THREADS / GV_SPLIT * GV_SINKS_PER_ITEM
#error "GV_N_GROUP must be GV_THREADS / GV_SPLIT * GV_SINKS_PER_ITEM"
#endif
#if GV_TILE % GV_THREADS
#error "GV_TILE must be a multiple of GV_THREADS"
#endif
#define GV_COLUMNS (GV_THREADS / GV_SPLIT)
#if GV_THREADS * GV_N_LEAF > 65535
#error "GV_THREADS * GV_N_LEAF must be below 65536"
#endif
#define GV_BODY_LIST (GV_TILE + GV_THREADS * GV_N_LEAF)
#define GV_CELL_LIST (GV_TILE + GV_THREADS)
#define GV_FAR_LIST (2 * GV_THREADS)
#define GV_SUM_ROW (GV_THREADS + 1)
#define GV_SUM_AT_ONCE GV_SUM_TERMS((int)sizeof(gv_scalar) * GV_THREADS)
#define GV_SUM_WORDS (GV_SUM_AT_ONCE * GV_SUM_ROW * (int)sizeof(gv_scalar) / 4)
#define GV_POOL (GV_STACK > GV_SUM_WORDS ? GV_STACK : GV_SUM_WORDS)

#include "tree/group_pack.h"
#include "tree/group_sinks.h"
#include "tree/group_eval.h"
#include "tree/group_step.h"
#include "tree/group_join.h"

/* Sinks are points[0 ... ] in the order of their groups; result of sink k: out[index[k]], index NULL: out[k].
 * own, self   whether sinks are bodies, and which (GV_OWN_... of tree/layout.h): none acts on itself
 * group       a record a work-group; one of no sinks is an unused place
 * *_soft      squares of softening lengths, with GV_SOFTEN only
 * counts      GV_COUNT_WORDS a group */
kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_tree_walk(global const gv_scalar4 *cell, global const gv_scalar4 *body, global const gv_scalar4 *body_low,
             global const gv_scalar4 *points, global const gv_scalar4 *points_low, global const uint *self, int own,
             global const uint *index, global const gv_scalar4 *group, gv_scalar eps2, global gv_scalar4 *out,
             global uint4 *counts, global const gv_scalar *point_soft, global const gv_scalar *body_soft,
             global const gv_scalar *cell_soft GV_SHORT_PARAMETERS)
{
    local uint pool[GV_POOL] __attribute__((aligned(8)));
    local uint bodies[GV_BODY_LIST], near[GV_CELL_LIST], far[GV_FAR_LIST], tile_id[GV_TILE], flag, large;
    local gv_scalar4 tile[GV_TILE_WORDS * GV_TILE];
    local gv_scalar joined[GV_LOCAL_TERMS], lead[GV_LEAD_TERMS];
    local GV_PACK_SCRATCH scratch[GV_THREADS];
    local uint2 piece[GV_THREADS];
    const gv_room room = {pool, bodies, near, far, tile_id, &flag, &large, tile, scratch, piece};
    GV_SOURCES sources = {cell, body, body_low, body_soft, cell_soft, eps2};
    uint me = get_local_id(0), at = get_group_id(0);
    gv_filled filled = {1, 0, 0, 0};
    uint4 did = (uint4)(0);
    gv_sinks sinks;
    gv_local local_sum;

    gv_group g = gv_read_group(group + GV_GROUP_VECTORS * (size_t)at, self, own);
    if (g.count == 0) {
        gv_put_counts(&g, did, counts + 2 * (size_t)at);
        return;
    }
    GV_TAKE_RANGE(&sources, &g);
    gv_soften_group(&g, point_soft);
    gv_take_sinks(&sinks, &g, points, points_low, point_soft, self, own);
    gv_local_clear(&local_sum);
    if (me == 0)
        pool[0] = large = 0;
    gv_group_sync();
    while (filled.top > 0) {
        did += gv_walk_step(&sinks, &g, &sources, &room, &filled);
        gv_eval_lists(&sinks, &local_sum, &g, &sources, &room, &filled);
    }
    gv_put_counts(&g, did, counts + 2 * (size_t)at);
    gv_join_local(&local_sum, (local gv_scalar *)pool, joined);
#if GV_PRECISION == GV_DS
    gv_join_lead(&local_sum, (local gv_scalar *)pool, lead);
    if (me < 4)
        joined[me] = lead[me];
    gv_group_sync();
#endif
    gv_join_parts(&sinks, tile);
    gv_put_results(&sinks, &g, joined, lead, index, out);
}
