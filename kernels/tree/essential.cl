/* Parts of a tree for sinks elsewhere: every cell that some of them may use or open, and no others.
 *
 * The sinks are known by boxes, `run` = {lo, open}, {hi, 0}: `open` is the largest factor of the groups whose sinks are
 * inside (tree/cell.h).  A cell that passes the walk's test for a box passes it for every sink inside, so what is cut
 * off below it is never missed: the criterion means what it means with the whole tree.
 *
 *   gv_essential_runs   boxes of runs of equal numbers of sinks: where a rank's bodies are, roughly
 *   gv_essential_boxes, _choose, _take
 *                       boxes that cover all sinks and are small beside their distances from the others' bodies.  Runs
 *                       of 8, 64 ... sinks have boxes; from the largest down one is taken where it is small enough, its
 *                       eight parts are looked at where it is not, down to single sinks.  (A run on the rim of a system
 *                       has a box around the dense middle: nearly all cells would be opened for it.)
 *   gv_essential_factors
 *                       the factor of each sink's group
 *   gv_essential_mark   a launch a level, from the root down: wanted[c] and opened[c] have a bit for each receiver.  A
 *                       cell is wanted if its parent is opened for that receiver
 *   gv_essential_flags, gv_essential_bodies
 *                       one receiver's cells, and the bodies of its opened leaves, as flags for lib/compact.cl
 *   gv_essential_pack, gv_essential_pack_bodies
 *                       the part: cells in their order, `first` counted within the part.  Closed cells have no
 *                       children, k = b = -1, and pass every test, for a group too whose box is around them: it is the
 *                       group's sinks for which the cell was tested
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

/* Run r: points r * each ... */
kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_essential_runs(global const gv_scalar4 *points, uint n, uint each, global gv_scalar4 *run)
{
    local gv_scalar4 scratch[GV_THREADS];
    uint me = get_local_id(0), r = get_group_id(0), first = r * each, end = min(first + each, n);
    gv_scalar4 lo = points[first], hi = lo;
    for (uint k = first + me; k < end; k += GV_THREADS) {
        lo = fmin(lo, points[k]);
        hi = fmax(hi, points[k]);
    }
    lo = gv_join_box(lo, 0, scratch);
    hi = gv_join_box(hi, 1, scratch);
    if (me == 0) {
        run[2 * (size_t)r] = (gv_scalar4)(lo.xyz, 0);
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
    for (uint r = from; r < to; r++) {
        gv_scalar4 a = run[2 * (size_t)r], b = run[2 * (size_t)r + 1];
        gv_scalar4 off = fmax(fmax(a - hi, lo - b), (gv_scalar4)(0));
        if (size2 > of_distance2 * gv_square(off) && size2 > of_size2 * gv_square(b - a))
            return 1;
    }
    return 0;
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

/* The boxes of those that were taken: list[0 ... n-1] are their first sinks. */
kernel void gv_essential_take(global const gv_scalar4 *points, global const gv_scalar *factor, uint n_points,
                              global const gv_scalar4 *box, global const uchar *mark, global const uint *list, uint n,
                              global gv_scalar4 *run)
{
    uint k = get_global_id(0), at = 0;
    if (k >= n)
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

/* `group` has `places` groups, some of them empty */
kernel void gv_essential_factors(global const gv_scalar4 *group, uint places, global gv_scalar *factor)
{
    uint g = get_global_id(0);
    if (g >= places)
        return;
    gv_scalar4 g1 = group[GV_GROUP_VECTORS * (size_t)g + 1], g2 = group[GV_GROUP_VECTORS * (size_t)g + 2];
    for (uint k = 0; k < gv_held(g2.w); k++)
        factor[gv_held(g2.z) + k] = g1.w;
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

/* Whether any of n boxes from run[2 from] on may open it.  Each GV_BOX_FAN of them have a box around them all, which
 * may open whatever one of them may; so have these, up to GV_BOX_FAN at the top.  Levels follow one another from
 * run[2 above] on.  What is below a box that may not open the cell is left out. */
static inline uint gv_any_may_open(gv_scalar4 z, gv_scalar4 w, global const gv_scalar4 *run, uint from, uint n,
                                   uint above, int deep, gv_scalar guard, gv_scalar slack)
{
    uint level = 0, many = n, at = from, k = 0;
    while (many > GV_BOX_FAN) { /* to the top */
        at = level > 0 ? at + many : above;
        many = (many + GV_BOX_FAN - 1) / GV_BOX_FAN;
        level++;
    }
    uint top = level;
    while (k < many || level < top) {
        if (gv_may_open(z, w, run + 2 * (size_t)(at + k), deep, guard, slack)) {
            if (level == 0)
                return 1;
            level--; /* to its first part */
            many = (n + (1u << GV_BOX_BITS * level) - 1) >> GV_BOX_BITS * level;
            at = level > 0 ? at - many : from;
            k *= GV_BOX_FAN;
            continue;
        }
        k++;
        while (level < top && (k % GV_BOX_FAN == 0 || k >= many)) { /* behind the last part: up */
            at = level > 0 ? at + many : above;
            many = (many + GV_BOX_FAN - 1) / GV_BOX_FAN;
            k = (k + GV_BOX_FAN - 1) / GV_BOX_FAN;
            level++;
        }
    }
    return 0;
}

/* Receiver r has the boxes first[r] ... first[r + 1] - 1, and those around several of them from
 * first[receivers + 1 + r] on.  One or two bodies go as such: the walk prefers them to their cell. */
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
                may = gv_any_may_open(z, w, run, from, to - from, first[receivers + 1 + r], deep, guard, slack);
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
        w.x = -1;
        w.y = keeps ? w.y : -1;
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
