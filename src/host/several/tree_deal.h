/* Sinks of a tree dealt out to devices by stretches of the curve. */
#ifndef GV_SEVERAL_TREE_DEAL_H
#define GV_SEVERAL_TREE_DEAL_H

#include "host/base/threads.h"
#include "host/bodies/force_ticket.h"

/* Entries of a call are its sinks in the caller's order.  Those of member m are number[first[m]] ...
 * number[first[m + 1] - 1], ascending, so that its results are written to memory in order; address[...]: their bodies.
 */
typedef struct gv_tree_deal {
    int members;
    size_t *first;                       /* members + 1 */
    uint32_t *number, *address, *listed; /* address: `listed`, or `number` where all bodies are sinks */
    size_t count, room, listed_room;
    uint32_t *start; /* of each piece of entries: where those of each member begin in `number` */
    size_t pieces, start_room;
} gv_tree_deal;

/* place[body] is the body's rank on the curve, of n.  Member m gets the sinks from fraction edge[m] to edge[m + 1] of
 * them along the curve, nearly.  `address` NULL: all bodies. */
gravel_status gv_tree_deal_make(gv_tree_deal *deal, gv_pool *pool, int members, const double *edge,
                                const uint32_t *place, size_t n, const uint32_t *address, size_t count);
/* Results of all members, in host memory, to the caller; ticket NULL: the member had no sinks. */
void gv_tree_deal_collect(const gv_tree_deal *deal, gv_pool *pool, const gv_force_ticket *const *ticket,
                          const gravel_forces *to);
void gv_tree_deal_release(gv_tree_deal *deal);

#endif
