/* Copies between planes of bodies and the arrays of the tree: bodies and sinks in the tree's order and precision,
 * results back into planes.
 *
 * Number v of a view is the body list[v], or first + v without a list.  `index` (may be NULL) gives the order: entry k
 * is number index[k] of the view.
 *
 *   GV_FROM     precision of the planes (lib/from.h)
 *   GV_THREADS  work-items that share the sinks of a group */
#include "tree/cell.h"
#include "lib/pair.h"
#include "lib/from.h"

#ifndef GV_THREADS
#error "GV_THREADS must be the work-items that share the sinks of a group"
#endif

static inline uint gv_address(global const uint *list, uint first, global const uint *index, uint k)
{
    uint v = index ? index[k] : k;
    return list ? list[v] : first + v;
}

/* positions and masses; those of sinks may be turned into the frame of the tree, and shifted */
kernel void gv_tree_gather(global const gv_plane4 *from, global const gv_plane4 *from_low, global const uint *list,
                           uint first, global const uint *index, uint n, gv_exact scale, gv_exact4 shift,
                           gv_exact4 shift_low, global gv_scalar4 *to, global gv_scalar4 *to_low)
{
    uint k = get_global_id(0);
    if (k >= n)
        return;
    uint b = gv_address(list, first, index, k);
    gv_vector v = gv_place(from[b], from_low ? from_low[b] : (gv_plane4)(0), scale, shift, shift_low);
    to[k] = v.hi;
#if GV_PRECISION == GV_DS
    to_low[k] = v.lo;
#endif
}

/* squares of softening lengths */
kernel void gv_tree_gather_soft(global const gv_plane *soft, global const uint *list, uint first,
                                global const uint *index, uint n, gv_scalar factor, global gv_scalar *to)
{
    uint k = get_global_id(0);
    if (k < n) {
        gv_scalar length = (gv_scalar)soft[gv_address(list, first, index, k)] * factor;
        to[k] = length * length;
    }
}

/* sizes of accelerations */
kernel void gv_tree_gather_last(global const gv_plane4 *acc, global const uint *list, uint first,
                                global const uint *index, uint n, gv_scalar factor, global gv_scalar *to)
{
    uint k = get_global_id(0);
    if (k < n) {
        /* the stored unit may be far from the tree's: squares of floats from 1e19 on overflow */
        gv_scalar4 a = gv_to_scalar4(acc[gv_address(list, first, index, k)]) * factor;
        to[k] = sqrt(a.x * a.x + a.y * a.y + a.z * a.z);
    }
}

/* inverse[body] = its place in the tree; other bodies keep what is there */
kernel void gv_tree_inverse(global const uint *index, global const uint *list, uint first, uint n, global uint *inverse)
{
    uint k = get_global_id(0);
    if (k < n)
        inverse[gv_address(list, first, index, k)] = k;
}

/* places of the view's bodies in the tree: place[k], with number[k] = k (may be NULL) */
kernel void gv_tree_places(global const uint *inverse, global const uint *list, uint first, global const uint *index,
                           uint n, global uint *place, global uint *number)
{
    uint k = get_global_id(0);
    if (k >= n)
        return;
    place[k] = inverse[gv_address(list, first, index, k)];
    if (number)
        number[k] = k;
}

/* (place, k) in ascending order, each by counting those before it: for up to a few thousand */
kernel void gv_tree_rank(global const uint *place, uint n, global uint *sorted, global uint *number)
{
    uint k = get_global_id(0);
    if (k >= n)
        return;
    uint mine = place[k], before = 0;
    for (uint j = 0; j < n; j++) {
        uint other = place[j];
        before += other < mine || (other == mine && j < k);
    }
    sorted[before] = mine;
    number[before] = k;
}

/* sinks that are bodies of the tree: body place[k], shifted */
kernel void gv_tree_pick(global const gv_scalar4 *body, global const gv_scalar4 *body_low, global const uint *place,
                         uint n, gv_scalar scale, gv_scalar4 shift, gv_scalar4 shift_low, global gv_scalar4 *to,
                         global gv_scalar4 *to_low)
{
    uint k = get_global_id(0);
    if (k >= n)
        return;
    uint b = place ? place[k] : k;
    gv_scalar4 at = body[b] * (gv_scalar4)(scale, scale, scale, 1);
#if GV_PRECISION == GV_DS
    gv_scalar4 low = body_low[b] * scale + shift_low, sum = at + shift, part = sum - at;
    to_low[k] = (gv_scalar4)((((at - (sum - part)) + (shift - part)) + low).xyz, 0);
    to[k] = (gv_scalar4)(sum.xyz, at.w);
#else
    to[k] = (gv_scalar4)((at + (shift + shift_low)).xyz, at.w);
#endif
}

/* Results, one a number of the view, into planes: replaced, or added to what is there. */
kernel void gv_tree_store(global const gv_scalar4 *result, global const uint *list, uint first, uint n, int add,
                          gv_exact acc_factor, gv_exact pot_factor, global gv_plane4 *acc, global gv_plane *pot)
{
    uint k = get_global_id(0);
    if (k >= n)
        return;
    uint b = gv_address(list, first, (global const uint *)0, k);
    gv_exact4 f = gv_to_exact4(result[GV_RESULT * (size_t)k]);
#if GV_PRECISION == GV_DS
    f += gv_to_exact4(result[GV_RESULT * (size_t)k + 1]);
#endif
    gv_plane4 a = gv_to_plane4(f * acc_factor);
    gv_plane p = gv_to_plane(f.w * pot_factor);
    if (add) {
        a += acc[b];
        p += pot[b];
    }
    acc[b] = (gv_plane4)(a.xyz, 0);
    pot[b] = p;
}

/* Density around each body: of its run of GV_RUN bodies that follow each other in key order, as if they filled a ball
 * evenly, with the mean square distance 3/5 of its radius squared.  soft2: no ball is smaller. */
kernel void gv_tree_density(global const gv_scalar4 *body, global const uint *index, global const uint *list,
                            uint first, uint n, gv_scalar soft2, gv_exact factor, global gv_plane *density)
{
    uint begin = GV_RUN * get_global_id(0), end = min(begin + GV_RUN, n);
    gv_scalar4 sum = (gv_scalar4)(0);
    gv_scalar spread = 0;
    if (begin >= n)
        return;
    for (uint k = begin; k < end; k++)
        sum += (gv_scalar4)(body[k].w * body[k].xyz, body[k].w);
    if (sum.w > 0)
        sum.xyz /= sum.w;
    for (uint k = begin; k < end; k++) {
        gv_scalar4 d = body[k] - sum;
        spread += body[k].w * (d.x * d.x + d.y * d.y + d.z * d.z);
    }
    /* 3 / 4 pi */
    gv_scalar radius2 = sum.w > 0 ? GV_R(1.6666666666666667) * spread / sum.w + soft2 : GV_R(1.0);
    gv_plane value = gv_to_plane(GV_R(0.23873241463784300) * sum.w / (radius2 * sqrt(radius2)) * factor);
    for (uint k = begin; k < end; k++)
        density[gv_address(list, first, index, k)] = value;
}

/* What the walk of each sink has cost, into a plane: the slots of kernels/tree/interact.h, and 20 for the test of a
 * cell; what the group did together is shared out, and `more` for each sink.  `counts` as the walk wrote them;
 * GV_THREADS work-items each. */
kernel void gv_tree_cost(global const uint4 *counts, uint places, global const uint *index, global const uint *list,
                         uint first, gv_scalar more, int add, global gv_plane *cost)
{
    size_t p = get_global_id(0) / GV_THREADS;
    if (p >= places || counts[2 * p + 1].y == 0)
        return;
    uint4 did = counts[2 * p], sinks = counts[2 * p + 1];
    gv_scalar all = GV_R(125.0) * did.x + GV_R(20.0) * did.w;
    gv_scalar each = GV_R(40.0) * did.y + GV_R(14.0) * did.z + all / sinks.y + more;
    for (uint k = sinks.x + get_global_id(0) % GV_THREADS; k < sinks.x + sinks.y; k += GV_THREADS) {
        uint b = gv_address(list, first, index, k);
        cost[b] = (add ? cost[b] : (gv_plane)0) + gv_to_plane(each);
    }
}
