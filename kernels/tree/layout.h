/* What the tree's kernels and their host code share: counts and sizes.  C and OpenCL C both read this file, so it holds
 * plain numbers only; kernels/tree/cell.h says what is in these vectors. */
#ifndef GV_TREE_LAYOUT_H
#define GV_TREE_LAYOUT_H

/* of the octree, 0: the root ... 21: the last digit of a 63-bit key */
#define GV_LEVELS 22

/* vectors of four reals: of a cell (one more with low words in ds), of the bounds of a cell, of a group */
#define GV_CELL_VECTORS 4
#define GV_BOX_VECTORS 2
#define GV_GROUP_VECTORS 3

/* Counts of a group: cells into the expansion, cells on every sink, bodies on every sink, cells tested; first sink,
 * sinks, 0, 0. */
#define GV_COUNT_WORDS 8

/* sums of a local expansion, and those of its leading terms as two-floats (ds) */
#define GV_LOCAL_TERMS 46
#define GV_LEAD_TERMS 8
/* Sums that are added at once over work-items whose scalars take so many bytes together: a half, or a quarter.  More
 * would need so much local memory that fewer groups run at once. */
#define GV_SUM_PASSES(bytes) ((bytes) > 512 ? 4 : 2)
#define GV_SUM_TERMS(bytes) ((GV_LOCAL_TERMS + GV_SUM_PASSES(bytes) - 1) / GV_SUM_PASSES(bytes))

/* bodies that density is found of together */
#define GV_RUN 8

/* Places of the stack kept for a walk that takes one cell at a time, seven a level; stacks hold at least twice that. */
#define GV_STACK_RESERVE (7 * GV_LEVELS + 16)

/* vectors of a cell in local memory (one more in ds) */
#define GV_TILE_VECTORS 3

/* A group is sparse, and is split, if its box and the space around it hold more than so many bodies for each sink. */
#define GV_WIDE 32
/* Where not all bodies are sinks a group is sparse above GV_SPARSE_BODIES bodies.  Up to GV_FEW_SINKS sinks, one for
 * every GV_SPARSE_PART bodies at most, are groups of one. */
#define GV_SPARSE_BODIES 4096
#define GV_SPARSE_PART 12
#define GV_FEW_SINKS 1024
/* One work-item a group: it is sparse above so many pairs of bodies and sinks for each lane, and is halved down to
 * parts of GV_LEAST_PART sinks, or of a vector if that is longer. */
#define GV_SPARSE_PAIRS 4096
#define GV_LEAST_PART 8

/* whether sinks are bodies of the tree: none; sink k is body self[k] (k without a list), ascending; the same in any
 * order */
#define GV_OWN_NONE 0
#define GV_OWN_ASCENDING 1
#define GV_OWN_ANYWHERE 2

/* boxes of sinks that have a box around them all, and again so many of these; parts of a run that is too wide
 * (essential.cl) */
#define GV_BOX_BITS 3
#define GV_BOX_FAN (1 << GV_BOX_BITS)

/* of a cell's info: it is a leaf */
#define GV_LEAF 0x80000000u

/* largest number of bodies or sinks: link.y and the info of a cell use two bits for flags */
#define GV_MOST_PLACES 0x3fffffff

#endif
