/* Parts of a tree for sinks elsewhere: every cell that some of them may use or open, and no others.
 *
 * The sinks are known by boxes, `run` = {lo, open}, {hi, 0}: `open` is the largest factor of the groups whose sinks are
 * inside (tree/cell.h).  A cell that passes the walk's test for a box passes it for every sink inside, so what is cut
 * off below it is never missed: the criterion means what it means with the whole tree.
 *
 *   gv_essential_cube   the cube whose cells all parts have
 *   gv_essential_runs   boxes of runs of equal numbers of sinks: where a rank's bodies are, roughly
 *   gv_essential_boxes, _choose, _take
 *                       boxes that cover all sinks and are small beside their distances from the others' bodies.  Runs
 *                       of 8, 64 ... sinks have boxes; from the largest down one is taken where it is small enough, its
 *                       eight parts are looked at where it is not, down to single sinks.  (A run on the rim of a system
 *                       has a box around the dense middle: nearly all cells would be opened for it.)
 *   gv_essential_factors
 *                       the factor of each sink's group
 *   gv_essential_mark   a launch a level, from the root down: wanted[c] and opened[c] have a bit for each receiver.  A
 *                       cell is wanted if its parent is opened for that receiver (essential_look.h)
 *   gv_essential_count  cells, children of opened cells and bodies of opened leaves, of each receiver, tile by tile;
 *                       lib/scan.cl sums them up
 *   gv_essential_pack   the parts: cells in their order, `first` counted within the part, then bodies in the order of
 *                       their leaves.  Closed cells have no children, k = b = -1, and pass every test, for a group too
 *                       whose box is around them: it is the group's sinks for which the cell was tested
 *   gv_essential_place  a part that came, into the cells of all parts: `first` counted among these
 *
 * Words of cells are those of a pass over up to 32 receivers, from `pass` on; parts in a block begin at vector `at`.
 *
 *   GV_THREADS  work-items that find one box together, or look at the boxes of one cell
 *   GV_LANES    boxes that one work-item looks at together: GV_BOX_FAN where GV_THREADS is 1, else 1
 *   GV_ITEMS    consecutive cells that a work-item counts and packs
 *
 * Two depths.  Shallow parts are for estimates of accelerations (groups.cl), which open cells at distances below bmax,
 * and no leaf; deep ones are for walks.
 */
#include "tree/cell.h"
#include "lib/group.h"
#include "lib/lanes.h"
#include "tree/essential_look.h"

#ifndef GV_ITEMS
#error "GV_ITEMS must be the cells per work-item"
#endif

/* loads of a work-item that are on their way together, where it has many one after the other */
#define GV_AHEAD 8

/* The bounds of the bodies, if the cube of the frame holds them, become this cube.  A part with a body outside keeps
 * cells of its own. */
kernel void gv_essential_cube(global gv_scalar4 *bounds)
{
    gv_scalar4 lo = bounds[0], hi = bounds[1];
    if (get_global_id(0) > 0 || fmin(fmin(lo.x, lo.y), lo.z) < -1 || fmax(fmax(hi.x, hi.y), hi.z) > 1)
        return;
    bounds[0] = (gv_scalar4)(-1, -1, -1, 0);
    bounds[1] = (gv_scalar4)(1, 1, 1, 0);
}

/* min and max over the work-items, returned to all of them */
static inline gv_scalar4 gv_join_box(gv_scalar4 value, int most, local gv_scalar4 *scratch)
{
    uint me = get_local_id(0);
    scratch[me] = value;
    gv_group_sync();
    for (uint by = GV_THREADS / 2; by > 0; by >>= 1) {
        gv_scalar4 other = scratch[me < by ? me + by : me];
        if (me < by)
            scratch[me] = most ? fmax(scratch[me], other) : fmin(scratch[me], other);
        gv_group_sync();
    }
    value = scratch[0];
    gv_group_sync();
    return value;
}

/* Run r: points r * each ..., each of them `weight` bodies */
kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_essential_runs(global const gv_scalar4 *points, uint n, uint each, gv_scalar weight, global gv_scalar4 *run)
{
    local gv_scalar4 scratch[GV_THREADS];
    uint me = get_local_id(0), r = get_group_id(0), first = r * each, end = min(first + each, n);
    gv_scalar4 lo = points[first], hi = lo;
    for (uint k = first + me; k < end; k += GV_AHEAD * GV_THREADS) {
        gv_scalar4 p[GV_AHEAD];
        for (uint j = 0; j < GV_AHEAD; j++)
            p[j] = points[min(k + j * GV_THREADS, end - 1)];
        for (uint j = 0; j < GV_AHEAD; j++)
            lo = fmin(lo, p[j]), hi = fmax(hi, p[j]);
    }
    lo = gv_join_box(lo, 0, scratch);
    hi = gv_join_box(hi, 1, scratch);
    if (me == 0) {
        run[2 * (size_t)r] = (gv_scalar4)(lo.xyz, weight * (gv_scalar)(end - first));
        run[2 * (size_t)r + 1] = (gv_scalar4)(hi.xyz, 0);
    }
}

/* Node k of level l has the sinks from k GV_BOX_FAN^l on.  Boxes of level 1 are those of sinks, whose factors are
 * factor[] (NULL: not known yet); others those of the level below, which begins at box `below` and has `parts`. */
kernel void gv_essential_boxes(global const gv_scalar4 *points, global const gv_scalar *factor, uint of_sinks,
                               uint below, uint parts, uint at, uint n, global gv_scalar4 *box)
{
    uint k = get_global_id(0), first = k * GV_BOX_FAN;
    if (k >= n)
        return;
    gv_scalar4 lo, hi;
    gv_scalar open = 0;
    for (uint j = first; j < min(first + GV_BOX_FAN, parts); j++) {
        gv_scalar4 a = of_sinks ? points[j] : box[2 * (size_t)(below + j)];
        gv_scalar4 b = of_sinks ? a : box[2 * (size_t)(below + j) + 1];
        open = fmax(open, !of_sinks ? a.w : factor ? factor[j] : (gv_scalar)0);
        lo = j == first ? a : fmin(lo, a);
        hi = j == first ? b : fmax(hi, b);
    }
    box[2 * (size_t)(at + k)] = (gv_scalar4)(lo.xyz, open);
    box[2 * (size_t)(at + k) + 1] = (gv_scalar4)(hi.xyz, 0);
}

static inline gv_scalar gv_square(gv_scalar4 v)
{
    return v.x * v.x + v.y * v.y + v.z * v.z;
}

/* Whether a box is too large beside its distance from one of the others' runs, and beside that run. */
static inline uint gv_is_wide(gv_scalar4 lo, gv_scalar4 hi, global const gv_scalar4 *run, uint from, uint to,
                              gv_scalar of_distance2, gv_scalar of_size2)
{
    gv_scalar size2 = gv_square(hi - lo);
    uint wide = 0;
    for (uint r = from; r < to && !wide; r += GV_AHEAD)
        for (uint j = 0; j < GV_AHEAD; j++) {
            uint at = min(r + j, to - 1);
            gv_scalar4 a = run[2 * (size_t)at], b = run[2 * (size_t)at + 1];
            gv_scalar4 off = fmax(fmax(a - hi, lo - b), (gv_scalar4)(0));
            wide |= size2 > of_distance2 * gv_square(off) && size2 > of_size2 * gv_square(b - a);
        }
    return wide;
}

/* A level, from the top down (level 0: the sinks): a node whose parent was too wide is taken, mark[its first sink] =
 * level + 1, or is too wide itself.  The runs mine ... mine_end - 1 of `runs` are the own ones; mark[] is 0 before. */
kernel void gv_essential_choose(global const gv_scalar4 *box, uint level, uint at, uint above, uint n, uint is_top,
                                global const gv_scalar4 *run, uint runs, uint mine, uint mine_end,
                                gv_scalar of_distance2, gv_scalar of_size2, global uchar *wide, global uchar *mark)
{
    uint k = get_global_id(0), is_wide = 0, sinks = 1;
    if (k >= n)
        return;
    for (uint l = 0; l < level; l++)
        sinks *= GV_BOX_FAN;
    if (is_top || wide[above + k / GV_BOX_FAN]) {
        if (level > 0) {
            gv_scalar4 lo = box[2 * (size_t)(at + k)], hi = box[2 * (size_t)(at + k) + 1];
            is_wide = gv_is_wide(lo, hi, run, 0, mine, of_distance2, of_size2) ||
                      gv_is_wide(lo, hi, run, mine_end, runs, of_distance2, of_size2);
        }
        if (!is_wide)
            mark[k * sinks] = level + 1;
    }
    if (level > 0)
        wide[at + k] = is_wide;
}

/* The boxes of those that were taken, n at most: list[0 ... *found-1] are their first sinks (found NULL: n of them). */
kernel void gv_essential_take(global const gv_scalar4 *points, global const gv_scalar *factor, uint n_points,
                              global const gv_scalar4 *box, global const uchar *mark, global const uint *list,
                              global const uint *found, uint n, global gv_scalar4 *run)
{
    uint k = get_global_id(0), at = 0;
    if (k >= n || (found && k >= *found))
        return;
    uint first = list[k], level = mark[first] - 1u, node = first;
    for (uint l = 0; l < level; l++) {
        at += l > 0 ? n_points : 0;
        n_points = (n_points + GV_BOX_FAN - 1) / GV_BOX_FAN;
        node /= GV_BOX_FAN;
    }
    gv_scalar4 lo = points[first], hi = lo;
    lo.w = factor ? factor[first] : (gv_scalar)0;
    if (level > 0)
        lo = box[2 * (size_t)(at + node)], hi = box[2 * (size_t)(at + node) + 1];
    run[2 * (size_t)k] = lo;
    run[2 * (size_t)k + 1] = (gv_scalar4)(hi.xyz, 0);
}

/* `group` has `places` groups, some of them empty; GV_THREADS work-items each */
kernel void gv_essential_factors(global const gv_scalar4 *group, uint places, global gv_scalar *factor)
{
    size_t g = get_global_id(0) / GV_THREADS;
    if (g >= places)
        return;
    gv_scalar4 g1 = group[GV_GROUP_VECTORS * g + 1], g2 = group[GV_GROUP_VECTORS * g + 2];
    for (uint k = get_global_id(0) % GV_THREADS; k < gv_held(g2.w); k += GV_THREADS)
        factor[gv_held(g2.z) + k] = g1.w;
}

/* A work-group a cell, of those that are wanted: its work-items look at GV_THREADS cells at once, far apart, since
 * wanted ones stand together.  wanted[] is 0 before the first level; opened[] of other cells is not written.  One or
 * two bodies go as such: the walk prefers them to their cell. */
kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_essential_mark(global const gv_scalar4 *cell, global const uint *level_total, uint level,
                  global const gv_scalar4 *run, global const uint *first, uint first_at, uint receivers, int deep,
                  gv_scalar guard, gv_scalar slack, ulong pass, global uint *wanted, global uint *opened)
{
    local uint stack[GV_STACK], scan[GV_SCAN_WORDS], found[1], candidate[GV_THREADS], wanted_by[GV_THREADS];
    uint me = get_local_id(0), step = get_num_groups(0), all = 0, candidates;
    uint start = gv_level_first(level_total, level), end = start + level_total[level];
    wanted += pass, opened += pass, first += first_at;
    for (uint r = 0; r < receivers && level == 0; r++)
        all |= first[r] < first[r + 1] ? 1u << r : 0;
    for (uint at = start + get_group_id(0); at < end; at += GV_THREADS * step) {
        uint mine = at + me * step, by = mine >= end ? 0 : level > 0 ? wanted[mine] : all;
        uint before = gv_group_scan(by != 0, scan, &candidates);
        if (by != 0)
            candidate[before] = mine, wanted_by[before] = by;
        gv_group_sync();
        for (uint k = 0; k < candidates; k++) {
            uint c = candidate[k], want = wanted_by[k];
            gv_scalar4 z = cell[GV_CELL * (size_t)c], w = cell[GV_CELL * (size_t)c + 1];
            uint info = gv_held(w.w), leaf = (info & GV_LEAF) != 0, open = 0;
            if (leaf && deep && (info & GV_COUNT) <= 2)
                open = want;
            else if (deep || !leaf)
                open = gv_who_may_open(z, w, run, first, receivers, want, deep, guard, slack, stack, scan, found);
            if (me == 0 && level == 0)
                wanted[c] = want;
            if (me == 0)
                opened[c] = open;
            for (uint l = me; l < info && !leaf; l += GV_THREADS)
                wanted[gv_held(w.z) + l] = open;
        }
        gv_group_sync();
    }
}

/* What a cell brings to the part of a receiver: itself, its children, its bodies. */
typedef struct gv_share {
    uint cells, children, bodies;
} gv_share;

static inline gv_share gv_share_of(global const gv_scalar4 *cell, global const uint *wanted, global const uint *opened,
                                   uint receiver, uint c, uint n)
{
    gv_share share = {0, 0, 0};
    if (c >= n || !(wanted[c] >> receiver & 1))
        return share;
    share.cells = 1;
    if (opened[c] >> receiver & 1) {
        uint info = gv_held(cell[GV_CELL * (size_t)c + 1].w);
        share.children = info & GV_LEAF ? 0 : info;
        share.bodies = info & GV_LEAF ? info & GV_COUNT : 0;
    }
    return share;
}

static inline gv_share gv_shares_of_item(global const gv_scalar4 *cell, global const uint *wanted,
                                         global const uint *opened, uint receiver, uint first, uint n)
{
    gv_share sum = {0, 0, 0};
    for (uint k = 0; k < GV_ITEMS; k++) {
        gv_share one = gv_share_of(cell, wanted, opened, receiver, first + k, n);
        sum.cells += one.cells, sum.children += one.children, sum.bodies += one.bodies;
    }
    return sum;
}

/* Work-group `tiles` * r + t: tile t of the cells, for receiver r.  Its sums go to three rows of `table`, a column a
 * tile; `first_part`: the pass's first receiver. */
kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_essential_count(global const gv_scalar4 *cell, global const uint *wanted, global const uint *opened, ulong pass,
                   uint first_part, uint n, uint tiles, global uint *table)
{
    local uint scratch[GV_SCAN_WORDS];
    uint r = get_group_id(0) / tiles, t = get_group_id(0) % tiles, me = get_local_id(0);
    gv_share sum = gv_shares_of_item(cell, wanted + pass, opened + pass, r, (t * GV_THREADS + me) * GV_ITEMS, n), all;
    gv_group_scan(sum.cells, scratch, &all.cells);
    gv_group_scan(sum.children, scratch, &all.children);
    gv_group_scan(sum.bodies, scratch, &all.bodies);
    table += 3 * (size_t)(first_part + r) * tiles + t;
    if (me == 0) {
        table[0] = all.cells;
        table[tiles] = all.children;
        table[2 * (size_t)tiles] = all.bodies;
    }
}

/* The parts: `table` now has the sums over all tiles before, `total` those over all.  Part p begins at vector at[p];
 * ~0: it does not travel.  Children follow one another in the order of their parents: the first child of a cell is
 * the one behind the root and all children of opened cells before. */
kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_essential_pack(global const gv_scalar4 *cell, global const gv_scalar4 *body, global const gv_scalar4 *low,
                  global const uint *wanted, global const uint *opened, ulong pass, uint first_part, uint n, uint tiles,
                  global const uint *table, global const uint *total, global const ulong *at, int deep,
                  global gv_scalar4 *to)
{
    local uint scratch[GV_SCAN_WORDS];
    uint r = get_group_id(0) / tiles, t = get_group_id(0) % tiles, part = first_part + r, all;
    uint first = (t * GV_THREADS + get_local_id(0)) * GV_ITEMS;
    if (at[part] == ~0ul)
        return;
    wanted += pass, opened += pass;
    gv_share sum = gv_shares_of_item(cell, wanted, opened, r, first, n), before;
    before.cells = gv_group_scan(sum.cells, scratch, &all);
    before.children = gv_group_scan(sum.children, scratch, &all);
    before.bodies = gv_group_scan(sum.bodies, scratch, &all);
    table += 3 * (size_t)part * tiles + t;
    before.cells += table[0];
    before.children += table[tiles];
    before.bodies += table[2 * (size_t)tiles];
    global gv_scalar4 *to_body = to + at[part] + GV_CELL * (size_t)total[3 * part];
    to += at[part] + GV_CELL * (size_t)before.cells;
    for (uint k = 0; k < GV_ITEMS; k++) {
        gv_share one = gv_share_of(cell, wanted, opened, r, first + k, n);
        if (one.cells == 0)
            continue;
        global const gv_scalar4 *from = cell + GV_CELL * (size_t)(first + k);
        gv_scalar4 w = from[1];
        uint info = gv_held(w.w), bodies = gv_held(w.z), leaf = (info & GV_LEAF) != 0, behind = 0;
        if (opened[first + k] >> r & 1) {
            behind = leaf ? before.bodies : 1 + before.children;
        } else {
            /* a leaf of a shallow part keeps what estimates need of it */
            int keeps = leaf && !deep;
            w.x = -1;
            w.y = keeps ? w.y : -1;
            info = keeps ? info : 0;
        }
        for (int v = 0; v < GV_CELL; v++)
            to[v] = v == 1 ? (gv_scalar4)(w.x, w.y, gv_hold(behind), gv_hold(info)) : from[v];
        for (uint b = 0; b < one.bodies; b++) {
            to_body[before.bodies + b] = body[bodies + b];
#if GV_PRECISION == GV_DS
            to_body[total[3 * part + 2] + before.bodies + b] = low[bodies + b];
#endif
        }
        before.children += one.children, before.bodies += one.bodies;
        to += GV_CELL;
    }
}

/* Cells of a part to the places `to` ..., their bodies are at `bodies` ...; its root stands at `root` too, beside the
 * other parts' roots: children of one cell follow one another.  `close`: the leaves of a shallow part become closed
 * cells. */
kernel void gv_essential_place(global const gv_scalar4 *from, ulong from_at, uint n, uint to, uint bodies, uint root,
                               int close, global gv_scalar4 *cell)
{
    uint k = get_global_id(0);
    if (k >= n)
        return;
    from += from_at + GV_CELL * (size_t)k;
    gv_scalar4 w = from[1];
    uint info = gv_held(w.w), first = gv_held(w.z);
    if (info & GV_LEAF && close)
        info = first = 0, w.x = w.y = -1;
    if (info & GV_LEAF)
        first += bodies;
    else if (info > 0)
        first += to;
    for (int copy = 0; copy < (k == 0 ? 2 : 1); copy++)
        for (int v = 0; v < GV_CELL; v++)
            cell[GV_CELL * (size_t)(copy ? root : to + k) + v] =
                v == 1 ? (gv_scalar4)(w.x, w.y, gv_hold(first), gv_hold(info)) : from[v];
}
