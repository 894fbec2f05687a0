/* What the tree kernels share: the layout of bodies, cells and groups in memory.
 *
 * Positions are in box units: the host subtracts the origin and scales by a power of two so that all bodies start
 * within [-1, 1]; masses are scaled likewise.  So numbers of a very small or far-off system neither overflow nor
 * underflow.
 *
 * A body is one vector {x, y, z, m}.  In ds positions are two-floats: a second array holds the low words (without
 * it, in sp and dp, its pointer is NULL), and results are two vectors, sums and their low words.
 *
 * A cell is GV_CELL vectors of four (counts: tree/layout.h):
 *   0  x, y, z  centre of mass         m      mass
 *   1  k        opening size^2         b      guard^2 = (bmax / 0.8)^2
 *      first    first child, or the leaf's first body       info   GV_LEAF | bodies, or the number of children
 *   2  qxx, qxy, qxz, qyy
 *   3  qyz, qzz   half second moments about the centre of mass, trace kept   bmax   distance of the farthest body
 *      n          number of bodies
 *   4  in ds only: low words of the centre of mass
 * A cell may act as a whole on a group if the squared distance of the group's box exceeds k * group's factor and b.
 * A closed cell of a part of a tree (essential.cl) has k = b = -1 and no children: it acts as a whole on every group.
 *
 * A group is GV_GROUP_VECTORS vectors of four:
 *   0  x, y, z  centre of its box      scale  unit of length of its local expansion, a power of 2
 *   1  half sides of the box           open   factor of k
 *   2  far      factor of the mass^(1/3) for the local expansion: far cells have R^2 > far * m^(1/3)
 *      reach    (radius / 0.6)^2, the least R^2 of a far cell;  first sink;  number of sinks
 */
#include "tree/layout.h"
#include "lib/real.h"

/* gv_apart: a - b, where a and b are so close that their low words count.  It reads them in ds only. */
#if GV_PRECISION == GV_DS
#define GV_CELL (GV_CELL_VECTORS + 1)
#define GV_RESULT 2 /* vectors of a result */
#define gv_apart(a, a_low, b, b_low) (((a) - (b)) + ((a_low) - (b_low)))
#else
#define GV_CELL GV_CELL_VECTORS
#define GV_RESULT 1
#define gv_apart(a, a_low, b, b_low) ((a) - (b))
#endif
#define GV_FIRSTBORN 0x40000000u /* its parent starts at the same body */
#define GV_COUNT 0x3fffffffu
#define GV_NO_BODY 0xffffffffu

/* integers among reals: moved, never computed with */
#define gv_hold(u) GV_PASTE(as_, GV_SCALAR)((GV_MASK_SCALAR)(u))
#define gv_held(s) ((uint)GV_PASTE(as_, GV_MASK_SCALAR)(s))

/* cells before `level`, in level order */
static inline uint gv_level_first(global const uint *level_total, uint level)
{
    uint first = 0;
#pragma unroll
    for (uint l = 0; l < GV_LEVELS; l++) /* all are read at once, not one after the other */
        first += l < level ? level_total[l] : 0u;
    return first;
}

/* How many cells to take at once from a stack of `size` with `top` cells on it, `most` at most: so few that their
 * children fit.  One cell at a time needs seven places a level, for which GV_STACK_RESERVE is kept free. */
static inline uint gv_take_count(uint top, uint most, uint size)
{
    uint take = min(most, top), room = size - GV_STACK_RESERVE;
    if (top + 7 * take > room)
        take = top + 7 < room ? (room - top) / 7 : 1u;
    return take;
}
