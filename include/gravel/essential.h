/* gravel: trees of bodies in several address spaces.
 *
 * Each part of a job (a rank: cluster.h does all this over MPI) has bodies of its own and a tree of them.  Others send
 * it what of their trees its sinks need, and no more: the essential parts.  Forces are those of one tree of all bodies,
 * with the same opening criterion.  All parts have one frame (gravel_bodies_set_frame) and one set of tree options.
 *
 *   gravel_essential_begin(e, &call, most, runs, &count);        the tree is built; where its bodies are
 *   ... the runs of all parts go to all parts ...
 *   gravel_essential_refine(e, first, all_runs, most, runs, &count);   boxes that are small for the other parts
 *   ... again all runs ...
 *   gravel_essential_cut(e, 0, first, all_runs, out);            what estimates need: shallow parts for the others
 *   gravel_essential_fetch(e, NULL, &from);                      out[r].bytes from out[r].offset on go to part r
 *   gravel_essential_room(e, in, &to);                           in[r]: what comes from part r
 *   ... they travel ...
 *   gravel_essential_join(e, NULL);
 *   gravel_essential_estimate(e, runs, &count, &equal);          groups; the runs now say how far they open cells
 *   ... again all runs, cut (1), fetch, room ...
 *   gravel_essential_walk(e, 0);                                 the own tree acts, while the deep parts travel
 *   gravel_essential_join(e, NULL);
 *   gravel_essential_walk(e, 1);                                 they act; results are added
 *
 * The geometric criterion, and calls that take the last accelerations of sinks for their estimates (gravel_tree_call,
 * `last`), need no estimates of others: cut (0) to join are left out before gravel_essential_estimate.  So it is in
 * time steps, where bodies have moved little since the last computation.  Results go to the sinks' planes.  Every call
 * but fetch returns as soon as its work is submitted, or waits for sizes only.
 */
#ifndef GRAVEL_ESSENTIAL_H
#define GRAVEL_ESSENTIAL_H

#include "gravel/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gravel_essential gravel_essential;

/* For this tree, whose sources are set; `mine` is this part's number of `parts`. */
GRAVEL_API gravel_status gravel_essential_create(gravel_essential **essential, gravel_tree *tree, int parts, int mine);
GRAVEL_API void gravel_essential_release(gravel_essential *essential);
/* Whether a tree that is built from now on has the cells of the frame's cube, where that holds all its bodies (0 at
 * first: of the cube around them).  Parts that are stretches of the curve of this cube (gravel/exchange.h) then have
 * the cells that one tree of all bodies has, but for two on each level: errors are those of one tree.  Not for parts
 * whose bodies have left their stretch since: these stand together along the curve, far apart in space, in groups that
 * open nearly all cells. */
GRAVEL_API void gravel_essential_share_cells(gravel_essential *essential, int share);

/* A run of sinks: its box, in units of the frame, and the largest factor of their groups (kernels/tree/cell.h); of runs
 * of equally many sinks the number of bodies there. */
typedef struct gravel_run {
    double lo[3], hi[3], open;
} gravel_run;

/* Builds the tree and takes the call's sinks, a view of bodies; `soften`, `groups`, `shift` and a split force are not
 * for parts.  Up to `most` runs of equally many sinks are written, *count of them: 0 without sinks.  Without `runs`,
 * gravel_essential_estimate brings them: nothing is waited for here. */
GRAVEL_API gravel_status gravel_essential_begin(gravel_essential *essential, const gravel_tree_call *call, int most,
                                                gravel_run *runs, int *count);
/* Other runs of the own sinks: boxes that are small beside their distances from the runs of all other parts, first[r]
 * ... first[r + 1] - 1 of part r, or beside these runs; down to single sinks.  Up to `most` of them.  The others' runs
 * may be old ones: they guide the choice only.  Without `runs` nothing is chosen or waited for here:
 * gravel_essential_estimate does so. */
GRAVEL_API gravel_status gravel_essential_refine(gravel_essential *essential, const int *first,
                                                 const gravel_run *all_runs, int most, gravel_run *runs, int *count);
/* Groups of the sinks, by what was joined last (or not, since the begin: by the own tree alone); `runs` are those of
 * gravel_essential_refine, *count of them, now with their factors, behind them those of gravel_essential_begin if it
 * had no place for them: *equal of these. */
GRAVEL_API gravel_status gravel_essential_estimate(gravel_essential *essential, gravel_run *runs, int *count,
                                                   int *equal);

/* A part of a tree on its way. */
typedef struct gravel_part {
    size_t cells, bodies;
    size_t bytes, offset; /* in the block of all parts */
    int again;            /* 1: a deep part that is no more than the shallow one before it: nothing travels */
} gravel_part;

/* What the runs first[r] ... first[r + 1] - 1 need of this tree, for each part r; nothing for the own one.  deep 0: for
 * estimates, 1: for walks. */
GRAVEL_API gravel_status gravel_essential_cut(gravel_essential *essential, int deep, const int *first,
                                              const gravel_run *runs, gravel_part *out);
/* Waits until all of it is in host memory, which is good until the next cut: in `to` if it is given, which has room for
 * all parts. */
GRAVEL_API gravel_status gravel_essential_fetch(gravel_essential *essential, void *to, const void **from);
/* Pinned memory for what comes: cells and bodies of in[r] are given, bytes and offset are found. */
GRAVEL_API gravel_status gravel_essential_room(gravel_essential *essential, gravel_part *in, void **to);
/* What came goes to the device, and becomes one tree in the order of the parts.  from[r] is where the host has part r,
 * if not at its offset in the pinned memory; it stays there until the device has done what follows. */
GRAVEL_API gravel_status gravel_essential_join(gravel_essential *essential, const void *const *from);

/* others 0: the own tree acts, results replace what is in the planes; 1: what was joined last acts, results are added.
 */
GRAVEL_API gravel_status gravel_essential_walk(gravel_essential *essential, int others);
/* The cost of the last walk (interactions, in some unit) of each sink, into a plane, or added to what is there; with
 * that of the own tree what a body costs beside walks, in sorting and in boxes. */
GRAVEL_API gravel_status gravel_essential_cost(gravel_essential *essential, gravel_plane plane, int add);

#ifdef __cplusplus
}
#endif
#endif
