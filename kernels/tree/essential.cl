/* Parts of a tree for sinks elsewhere: every cell that some group of them may use or open, and no others.
 *
 * The sinks are known by the boxes of runs of them, `run` = {lo, open}, {hi, 0}: `open` is the largest factor of their
 * groups (tree/cell.h).  A cell that passes the walk's test for a box passes it for every group inside, so what is cut
 * off below it is never missed: the criterion means what it means with the whole tree.
 *
 *   gv_essential_runs   boxes of runs of sinks
 *   gv_essential_mark   a launch a level, from the root down: wanted[c] and opened[c] have a bit for each receiver.  A
 *                       cell is wanted if its parent is opened for that receiver
 *   gv_essential_flags, gv_essential_bodies
 *                       one receiver's cells, and the bodies of its opened leaves, as flags for lib/compact.cl
 *   gv_essential_pack, gv_essential_pack_bodies
 *                       the part: cells in their order, `first` counted within the part.  Closed cells have no
 *                       children and pass every test
 *   gv_essential_place  a part that came, into the cells of all parts: `first` counted among these
 *
 * Words of cells are those of a pass over up to 32 receivers, from `pass` on; parts in a block begin at vector `at`.
 *
 *   GV_THREADS  work-items that find one box together
 *
 * Two depths.  Shallow parts are for estimates of accelerations (groups.cl), which open cells at distances below bmax,
 * and no leaf; deep ones are for walks.
 */
#include "tree/cell.h"
#include "lib/group.h"

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

/* Run r: points r * each ... ; `group` (NULL: factors are not known yet) has `groups` groups of `size` points, then
 * parts of split ones up to `places`. */
kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_essential_runs(global const gv_scalar4 *points, uint n, uint each, global const gv_scalar4 *group, uint groups,
                  uint size, uint places, global gv_scalar4 *run)
{
    local gv_scalar4 scratch[GV_THREADS];
    uint me = get_local_id(0), r = get_group_id(0), first = r * each, end = min(first + each, n);
    gv_scalar4 lo = points[first], hi = lo, open = (gv_scalar4)(0);
    for (uint k = first + me; k < end; k += GV_THREADS) {
        lo = fmin(lo, points[k]);
        hi = fmax(hi, points[k]);
    }
    uint g = group ? first / size + me : places, own = (end + size - 1) / size;
    for (; g < own; g += GV_THREADS)
        open.x = fmax(open.x, group[GV_GROUP_VECTORS * (size_t)g + 1].w);
    for (g = group ? groups + me : places; g < places; g += GV_THREADS) {
        gv_scalar4 at = group[GV_GROUP_VECTORS * (size_t)g + 2];
        if (gv_held(at.w) > 0 && gv_held(at.z) >= first && gv_held(at.z) < end)
            open.x = fmax(open.x, group[GV_GROUP_VECTORS * (size_t)g + 1].w);
    }
    lo = gv_join_box(lo, 0, scratch);
    hi = gv_join_box(hi, 1, scratch);
    open = gv_join_box(open, 1, scratch);
    if (me == 0) {
        run[2 * (size_t)r] = (gv_scalar4)(lo.xyz, open.x);
        run[2 * (size_t)r + 1] = (gv_scalar4)(hi.xyz, 0);
    }
}

/* Whether the sinks of a box may open the cell.  Distances are a little shortened: groups find theirs with roundings of
 * their own. */
static inline int gv_may_open(gv_scalar4 z, gv_scalar4 w, global const gv_scalar4 *run, int deep, gv_scalar guard,
                              gv_scalar slack)
{
    gv_scalar4 lo = run[0], hi = run[1], off = fmax(fmax(lo - z, z - hi), (gv_scalar4)(0));
    gv_scalar4 size = fmax(fabs(z), fmax(fabs(lo), fabs(hi)));
    gv_scalar d = sqrt(off.x * off.x + off.y * off.y + off.z * off.z) - slack * (size.x + size.y + size.z);
    gv_scalar d2 = d > 0 ? d * d : 0, bmax = GV_R(0.8) * sqrt(w.y);
    if (!deep)
        return d2 <= bmax * bmax;
    return d2 <= w.x * lo.w || d2 <= w.y || (guard > 0 && d <= guard + bmax);
}

/* Whether any of the runs from ... to - 1 may open it.  Each GV_RUNS_TOGETHER of them have a box around them all, from
 * run[2 around] on. */
static inline uint gv_any_may_open(gv_scalar4 z, gv_scalar4 w, global const gv_scalar4 *run, uint from, uint to,
                                   uint around, int deep, gv_scalar guard, gv_scalar slack)
{
    for (; from < to; from += GV_RUNS_TOGETHER, around++) {
        if (!gv_may_open(z, w, run + 2 * (size_t)around, deep, guard, slack))
            continue;
        for (uint k = from; k < min(from + GV_RUNS_TOGETHER, to); k++)
            if (gv_may_open(z, w, run + 2 * (size_t)k, deep, guard, slack))
                return 1;
    }
    return 0;
}

/* Receiver r has the runs first[r] ... first[r + 1] - 1, and the boxes around several of them from
 * first[receivers + 1 + r] on.  One or
 * two bodies go as such: the walk prefers them to their cell. */
kernel void gv_essential_mark(global const gv_scalar4 *cell, global const uint *level_total, uint level,
                              global const gv_scalar4 *run, global const uint *first, uint receivers, int deep,
                              gv_scalar guard, gv_scalar slack, ulong pass, global uint *wanted, global uint *opened)
{
    wanted += pass, opened += pass;
    uint start = gv_level_first(level_total, level), end = start + level_total[level];
    for (uint c = start + get_global_id(0); c < end; c += get_global_size(0)) {
        uint want = level > 0 ? wanted[c] : 0u, open = 0;
        gv_scalar4 z = cell[GV_CELL * (size_t)c], w = cell[GV_CELL * (size_t)c + 1];
        uint info = gv_held(w.w), leaf = (info & GV_LEAF) != 0, few = leaf && deep && (info & GV_COUNT) <= 2;
        for (uint r = 0; r < receivers; r++) {
            uint from = first[r], to = first[r + 1], may = few;
            if (level == 0 && from < to)
                want |= 1u << r;
            if (!(want >> r & 1) || (leaf && !deep))
                continue;
            if (!may)
                may = gv_any_may_open(z, w, run, from, to, first[receivers + 1 + r], deep, guard, slack);
            open |= may << r;
        }
        if (level == 0)
            wanted[c] = want;
        opened[c] = open;
        for (uint k = 0; k < info && !leaf; k++)
            wanted[gv_held(w.z) + k] = open;
    }
}

kernel void gv_essential_flags(global const uint *wanted, ulong pass, uint bit, uint n, global uchar *flag)
{
    uint c = get_global_id(0);
    if (c < n)
        flag[c] = wanted[pass + c] >> bit & 1;
}

/* flags of bodies must be 0 before */
kernel void gv_essential_bodies(global const gv_scalar4 *cell, global const uint *opened, ulong pass, uint bit, uint n,
                                global uchar *flag)
{
    uint c = get_global_id(0);
    if (c >= n || !(opened[pass + c] >> bit & 1))
        return;
    gv_scalar4 w = cell[GV_CELL * (size_t)c + 1];
    uint info = gv_held(w.w), first = gv_held(w.z);
    for (uint k = 0; info & GV_LEAF && k < (info & GV_COUNT); k++)
        flag[first + k] = 1;
}

/* where `value` is in an ascending list that has it */
static inline uint gv_find(global const uint *list, uint n, uint value)
{
    uint low = 0, high = n;
    while (high - low > 1) {
        uint middle = (low + high) / 2;
        if (list[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* list[0 ... n-1]: cells of the part, bodies[0 ... n_bodies-1]: its bodies, as places in the tree */
kernel void gv_essential_pack(global const gv_scalar4 *cell, global const uint *opened, ulong pass, uint bit, int deep,
                              global const uint *list, uint n, global const uint *bodies, uint n_bodies, ulong at,
                              global gv_scalar4 *to)
{
    uint k = get_global_id(0);
    if (k >= n)
        return;
    global const gv_scalar4 *from = cell + GV_CELL * (size_t)list[k];
    gv_scalar4 w = from[1];
    uint info = gv_held(w.w), first = gv_held(w.z), leaf = (info & GV_LEAF) != 0;
    if (opened[pass + list[k]] >> bit & 1) {
        first = leaf ? gv_find(bodies, n_bodies, first) : gv_find(list, n, first);
    } else {
        /* a leaf of a shallow part keeps what estimates need of it */
        int keeps = leaf && !deep;
        w.x = 0;
        w.y = keeps ? w.y : 0;
        info = keeps ? info : 0;
        first = 0;
    }
    to += at + GV_CELL * (size_t)k;
    for (int v = 0; v < GV_CELL; v++)
        to[v] = v == 1 ? (gv_scalar4)(w.x, w.y, gv_hold(first), gv_hold(info)) : from[v];
}

kernel void gv_essential_pack_bodies(global const gv_scalar4 *body, global const gv_scalar4 *low,
                                     global const uint *list, uint n, ulong at, global gv_scalar4 *to)
{
    uint k = get_global_id(0);
    if (k >= n)
        return;
    to[at + k] = body[list[k]];
#if GV_PRECISION == GV_DS
    to[at + n + k] = low[list[k]];
#endif
}

/* Cells of a part to the places `to` ..., their bodies are at `bodies` ...; its root stands at `root` too, beside the
 * other parts' roots: children of one cell follow one another. */
kernel void gv_essential_place(global const gv_scalar4 *from, ulong from_at, uint n, uint to, uint bodies, uint root,
                               global gv_scalar4 *cell)
{
    uint k = get_global_id(0);
    if (k >= n)
        return;
    from += from_at + GV_CELL * (size_t)k;
    gv_scalar4 w = from[1];
    uint info = gv_held(w.w), first = gv_held(w.z);
    if (info & GV_LEAF)
        first += bodies;
    else if (info > 0)
        first += to;
    for (int copy = 0; copy < (k == 0 ? 2 : 1); copy++)
        for (int v = 0; v < GV_CELL; v++)
            cell[GV_CELL * (size_t)(copy ? root : to + k) + v] =
                v == 1 ? (gv_scalar4)(w.x, w.y, gv_hold(first), gv_hold(info)) : from[v];
}
