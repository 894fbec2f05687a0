/* Moments of cells: leaves from their bodies, others from their children.
 *
 *   gv_tree_moments  one launch a level, from the deepest up
 *   gv_tree_leaves, gv_tree_climb
 *                    all leaves, then all other cells, on devices with fences between work-groups (GV_PTX_ASM): a
 *                    work-item makes a cell that has leaves only, then raises the counter of its parent; the work-item
 *                    that completes the count makes the parent, and so on up.  The numbers are the same: a cell adds up
 *                    its children in their order, whichever work-item does it.
 *
 *   m = sum m_j     z = sum m_j x_j / m     q_ab = 1/2 sum m_j d_a d_b,  d = x_j - z     bmax = max |d|
 * Children join with q_ab = sum (q_ab + 1/2 m d_a d_b), d from z to the child's centre, bmax = the lesser of
 * max (bmax + |d|) and the distance from z to the farthest corner of the tight box.
 *
 *   GV_MAC  which opening size a cell carries (tree/cell.h; the group's factor completes it):
 *     0 geometric   k = (l / theta + s)^2       l: longest side of the tight box, s: distance of z from its centre;
 *                   the group's factor is 1
 *     1 relative    k = (m bmax^3)^(2/5)        the group's factor is (tau a)^(-2/5), so that the cell is opened unless
 *                   m bmax^3 / d^5 < tau a: the first neglected moment, the octupole, is small beside a
 * A cell without mass lies at the middle of its box.
 */
#include "tree/cell.h"
#include "lib/pair.h"
#include "lib/fence.h"

#ifndef GV_MAC
#error "GV_MAC must be 0 (geometric) or 1 (relative)"
#endif

typedef struct gv_box {
    gv_scalar4 lo, hi;
} gv_box;

static inline gv_scalar gv_opening_size(gv_scalar m, gv_scalar bmax, gv_scalar4 z, gv_box box, gv_scalar inverse_theta)
{
#if GV_MAC == 0
    gv_scalar4 side = box.hi - box.lo, off = GV_R(0.5) * (box.hi + box.lo) - z;
    gv_scalar longest = fmax(fmax(side.x, side.y), side.z);
    gv_scalar size = longest * inverse_theta + sqrt(off.x * off.x + off.y * off.y + off.z * off.z);
    return size * size;
#else
    return m > 0 && bmax > 0 ? exp2(GV_R(0.4) * (log2(m) + 3 * log2(bmax))) : 0;
#endif
}

/* what a cell is made of: bodies of a leaf, or children */
typedef struct gv_inside {
    int leaf;
    uint first, count;
    size_t stride; /* vectors from one to the next: products of 64 bits */
    global const gv_scalar4 *at, *low;
} gv_inside;

/* Children of the next cell start at a body where that cell starts too; there are no cells from `end` on. */
static inline uint gv_children(global const uint2 *link, uint first, uint end)
{
    uint count = 1;
    while (count < 8 && first + count < end && !(link[first + count].y & GV_FIRSTBORN))
        count++;
    return count;
}

static inline gv_inside gv_look_inside(uint2 link, uint children, global const gv_scalar4 *body,
                                       global const gv_scalar4 *low, global const gv_scalar4 *cell)
{
    gv_inside in;
    in.leaf = (link.y & GV_LEAF) != 0;
    in.first = link.x;
    in.count = in.leaf ? link.y & GV_COUNT : children;
    in.stride = in.leaf ? 1 : GV_CELL;
    in.at = in.leaf ? body : cell;
    in.low = in.leaf ? low : cell + 4;
    return in;
}

/* So many parts are read ahead of the sums, which follow their order: else a GPU's work-item would wait for each
 * load. */
#ifdef gv_device_fence
#define GV_AHEAD 4
#else
#define GV_AHEAD 1
#endif

/* mass, centre of mass, tight box */
typedef struct gv_middle {
    gv_scalar4 z, z_low;
    gv_scalar m;
    gv_box box;
} gv_middle;

#if GV_PRECISION == GV_DS
#define gv_low(low) (low)
#else
#define gv_low(low) (gv_scalar4)(0)
#endif

static inline gv_middle gv_find_middle(gv_inside in, global const gv_scalar4 *boxes)
{
    gv_middle mid;
    gv_scalar4 origin = in.at[in.stride * in.first], sum = (gv_scalar4)(0);
#if GV_PRECISION == GV_DS
    gv_scalar4 origin_low = in.low[in.stride * in.first];
#endif
    mid.box.lo = in.leaf ? origin : boxes[2 * (size_t)in.first];
    mid.box.hi = in.leaf ? origin : boxes[2 * (size_t)in.first + 1];
    uint end = in.first + in.count;
    for (uint k = in.first; k < end; k += GV_AHEAD) {
        gv_scalar4 p[GV_AHEAD], low[GV_AHEAD], lo[GV_AHEAD], hi[GV_AHEAD];
#pragma unroll
        for (uint j = 0; j < GV_AHEAD; j++) {
            size_t at = min(k + j, end - 1);
            p[j] = in.at[in.stride * at];
            low[j] = gv_low(in.low[in.stride * at]);
            lo[j] = in.leaf ? p[j] : boxes[2 * at];
            hi[j] = in.leaf ? p[j] : boxes[2 * at + 1];
        }
#pragma unroll
        for (uint j = 0; j < GV_AHEAD; j++) {
            gv_scalar4 d = gv_apart(p[j], low[j], origin, origin_low);
            if (k + j < end)
                sum += (gv_scalar4)(d.xyz * p[j].w, p[j].w);
            mid.box.lo = fmin(mid.box.lo, lo[j]); /* once more where the last part is repeated */
            mid.box.hi = fmax(mid.box.hi, hi[j]);
        }
    }
    mid.m = sum.w;
    mid.z = sum.w > 0 ? origin + sum / sum.w : GV_R(0.5) * (mid.box.lo + mid.box.hi);
    mid.z_low = (gv_scalar4)(0);
#if GV_PRECISION == GV_DS
    if (sum.w > 0) {
        gv_pair x = gv_two_sum(origin.x, origin_low.x + sum.x / sum.w);
        gv_pair y = gv_two_sum(origin.y, origin_low.y + sum.y / sum.w);
        gv_pair z = gv_two_sum(origin.z, origin_low.z + sum.z / sum.w);
        mid.z = (gv_scalar4)(x.hi, y.hi, z.hi, 0);
        mid.z_low = (gv_scalar4)(x.lo, y.lo, z.lo, 0);
    }
#endif
    return mid;
}

/* half second moments, distance of the farthest body, number of bodies */
typedef struct gv_spread {
    gv_scalar xx, xy, xz, yy, yz, zz, bmax, bodies;
} gv_spread;

static inline void gv_add_part(gv_spread *s, int leaf, gv_scalar4 p, gv_scalar4 d, gv_scalar4 q, gv_scalar4 r)
{
    gv_scalar half_m = GV_R(0.5) * p.w, reach = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
    if (!leaf) {
        s->xx += q.x, s->xy += q.y, s->xz += q.z, s->yy += q.w, s->yz += r.x, s->zz += r.y;
        reach += r.z;
        s->bodies += r.w;
    }
    s->xx += half_m * d.x * d.x;
    s->xy += half_m * d.x * d.y;
    s->xz += half_m * d.x * d.z;
    s->yy += half_m * d.y * d.y;
    s->yz += half_m * d.y * d.z;
    s->zz += half_m * d.z * d.z;
    s->bmax = fmax(s->bmax, reach);
}

static inline gv_spread gv_find_spread(gv_inside in, gv_middle mid)
{
    gv_spread s = {0, 0, 0, 0, 0, 0, 0, in.leaf ? in.count : 0};
    uint end = in.first + in.count;
    for (uint k = in.first; k < end; k += GV_AHEAD) {
        gv_scalar4 p[GV_AHEAD], low[GV_AHEAD], q[GV_AHEAD], r[GV_AHEAD];
#pragma unroll
        for (uint j = 0; j < GV_AHEAD; j++) {
            size_t at = in.stride * min(k + j, end - 1);
            p[j] = in.at[at];
            low[j] = gv_low(in.low[at]);
            q[j] = in.leaf ? p[j] : in.at[at + 2];
            r[j] = in.leaf ? p[j] : in.at[at + 3];
        }
#pragma unroll
        for (uint j = 0; j < GV_AHEAD; j++)
            if (k + j < end)
                gv_add_part(&s, in.leaf, p[j], gv_apart(p[j], low[j], mid.z, mid.z_low), q[j], r[j]);
    }
    return s;
}

static inline void gv_make_cell(uint c, gv_inside in, gv_scalar inverse_theta, global gv_scalar4 *cell,
                                global gv_scalar4 *boxes)
{
    gv_middle mid = gv_find_middle(in, boxes);
    gv_spread s = gv_find_spread(in, mid);
    gv_scalar4 corner = fmax(mid.box.hi - mid.z, mid.z - mid.box.lo);
    gv_scalar bmax = fmin(s.bmax, sqrt(corner.x * corner.x + corner.y * corner.y + corner.z * corner.z));

    gv_scalar open = gv_opening_size(mid.m, bmax, mid.z, mid.box, inverse_theta);
    uint info = in.leaf ? GV_LEAF | in.count : in.count;
    cell += (size_t)GV_CELL * c;
    cell[0] = (gv_scalar4)(mid.z.xyz, mid.m);
    cell[1] = (gv_scalar4)(open, bmax * bmax * GV_R(1.5625), gv_hold(in.first), gv_hold(info));
    cell[2] = (gv_scalar4)(s.xx, s.xy, s.xz, s.yy);
    cell[3] = (gv_scalar4)(s.yz, s.zz, bmax, s.bodies);
#if GV_PRECISION == GV_DS
    cell[4] = mid.z_low;
#endif
    boxes[2 * (size_t)c] = mid.box.lo;
    boxes[2 * (size_t)c + 1] = mid.box.hi;
}

/* A cell whose children did not fit: the host detects that and builds again; until then nothing may be read beyond the
 * end. */
static inline void gv_clear_cell(uint c, global gv_scalar4 *cell, global gv_scalar4 *boxes)
{
    for (uint k = 0; k < GV_CELL; k++)
        cell[(size_t)GV_CELL * c + k] = (gv_scalar4)(0, 0, 0, gv_hold(0));
    boxes[2 * (size_t)c] = boxes[2 * (size_t)c + 1] = (gv_scalar4)(0);
}

kernel void gv_tree_moments(global const gv_scalar4 *body, global const gv_scalar4 *low, global const uint2 *link,
                            global const uint *level_total, uint level, uint capacity, gv_scalar inverse_theta,
                            global gv_scalar4 *cell, global gv_scalar4 *boxes)
{
    uint start = gv_level_first(level_total, level), end = min(start + level_total[level], capacity);
    uint below = min(end + (level + 1 < GV_LEVELS ? level_total[level + 1] : 0u), capacity);
    for (uint c = start + get_global_id(0); c < end; c += get_global_size(0)) {
        uint2 at = link[c];
        if (!(at.y & GV_LEAF) && at.x >= below)
            gv_clear_cell(c, cell, boxes);
        else
            gv_make_cell(c, gv_look_inside(at, at.y & GV_LEAF ? 0u : gv_children(link, at.x, below), body, low, cell),
                         inverse_theta, cell, boxes);
    }
}

#ifdef gv_device_fence
/* number of cells, if all of them fit; else 0: cells are cleared only */
static inline uint gv_cells(global const uint *level_total, uint capacity, global gv_scalar4 *cell,
                            global gv_scalar4 *boxes)
{
    uint cells = gv_level_first(level_total, GV_LEVELS);
    if (cells <= capacity)
        return cells;
    for (uint c = get_global_id(0); c < capacity; c += get_global_size(0))
        gv_clear_cell(c, cell, boxes);
    return 0;
}

/* What gv_tree_climb counts with, a word a cell: its children, those of them that are no leaves, and how many of these
 * are made. */
#define GV_FAMILY(children, inner) ((children) | (inner) << 8)
#define gv_family_children(word) ((word)&255u)
#define gv_family_inner(word) ((word) >> 8 & 255u)
#define gv_family_made(word) ((word) >> 16)
#define GV_ONE_MADE 65536u

static inline uint gv_find_family(global const uint2 *link, uint first, uint end)
{
    uint children = gv_children(link, first, end), inner = 0;
    for (uint k = first; k < first + children; k++)
        inner += (link[k].y & GV_LEAF) == 0;
    return GV_FAMILY(children, inner);
}

/* climb[cell] = {parent, 0}; the zero becomes the family of cells that are no leaves */
kernel void gv_tree_leaves(global const gv_scalar4 *body, global const gv_scalar4 *low, global const uint2 *link,
                           global const uint *level_total, uint capacity, gv_scalar inverse_theta,
                           global gv_scalar4 *cell, global gv_scalar4 *boxes, global uint2 *climb)
{
    uint cells = gv_cells(level_total, capacity, cell, boxes);
    for (uint c = get_global_id(0); c < cells; c += get_global_size(0)) {
        uint2 at = link[c];
        if (at.y & GV_LEAF)
            gv_make_cell(c, gv_look_inside(at, 0, body, low, cell), inverse_theta, cell, boxes);
        else
            climb[c].y = gv_find_family(link, at.x, cells);
    }
}

kernel void gv_tree_climb(global const gv_scalar4 *body, global const gv_scalar4 *low, global const uint2 *link,
                          global const uint *level_total, uint capacity, gv_scalar inverse_theta,
                          global gv_scalar4 *cell, global gv_scalar4 *boxes, volatile global uint2 *climb)
{
    uint cells = gv_level_first(level_total, GV_LEVELS);
    for (uint c = get_global_id(0); c < cells && cells <= capacity; c += get_global_size(0)) {
        uint2 at = link[c];
        uint family = at.y & GV_LEAF ? GV_FAMILY(0u, 1u) : climb[c].y;
        if (gv_family_inner(family) > 0)
            continue;
        for (uint made = c;;) {
            uint parent = climb[made].x;
            gv_make_cell(made, gv_look_inside(at, gv_family_children(family), body, low, cell), inverse_theta, cell,
                         boxes);
            if (made == 0)
                break;
            gv_device_fence();
            family = atomic_add((volatile global uint *)climb + 2 * (size_t)parent + 1, GV_ONE_MADE);
            if (gv_family_made(family) + 1 < gv_family_inner(family))
                break;
            gv_device_fence();
            made = parent;
            at = link[made];
        }
    }
}
#endif
