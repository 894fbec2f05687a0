/* Groups of sinks: runs of `size` sinks in key order.  A work-group makes one group: the tight box of its sinks, an
 * estimate of their acceleration, and the factors of the walk's opening tests that follow from it.
 *
 * The estimate is a monopole walk for the centre of the box that accepts a cell at R > bmax: within 5 % of the least
 * acceleration of the group's sinks for half of the groups of a Plummer sphere, within 30 % for all but a few.  With it
 *   open  = (tau a)^(-2/5)           a cell is opened unless m bmax^3 / d^5 < tau a
 *   far   = radius^4 / (tau_local a) it enters the local expansion if m radius^4 / R^6 < tau_local a
 * with R from the centre of the group's box, d from the nearest point of the box.
 *
 * A run that happens to cross from one end of the system to another, or a run of few active bodies, has a box with
 * thousands of bodies inside, and its work-group would be busy with them long after all others are done.  Such a
 * sparse group (more than `most` bodies within a fifth of its radius from its box) is split: each of its sinks becomes
 * a group of its own.
 *   gv_tree_groups  all groups; wide[g] is 1 for sparse ones
 *   (compaction)    list of the sparse groups
 *   gv_tree_split   as many of them as there is room for: the first sink keeps the place of the group, the others get
 *                   places behind the last group; places that are left over become groups of no sinks
 *
 * Where one work-item walks for a group (GV_PART), and `most` is not 0, a run has a place for each of its parts of
 * GV_PART sinks.  A part whose sinks times the bodies in and around its box exceed most * size is halved; its first
 * place holds the group, the others groups of no sinks.  So places that follow one another make as much work anywhere.
 *
 *   GV_THREADS  work-items that make one group together
 *   GV_PART     sinks of the smallest part, of which `size` is a multiple; 0: sparse groups are split as above
 *   GV_MAC      0: geometric criterion, open = 1; 1: relative; 2: by the last accelerations
 * `last` (may be NULL) holds the accelerations of the sinks; then the least of them replaces the estimate, or with the
 * relative criterion their mean, which is what the estimate for the centre comes to.
 * `others` (may be NULL) are cells of other trees, in the same frame, that the estimate looks at too (essential.cl).
 * Without them `run` (may be NULL) are boxes around as many bodies of other trees as lo.w says, two vectors each, of
 * which those from `mine` to mine_end - 1 are of this tree: the part of each that a group's box and the space around it
 * overlap counts as so many bodies there.
 */
#include "tree/cell.h"
#include "lib/group.h"

#ifndef GV_MAC
#error "GV_MAC must be 0 (geometric), 1 (relative) or 2 (last)"
#endif
#ifndef GV_PART
#define GV_PART 0
#endif
#define GV_STACK 512

/* Of a split force (tree/periodic.h) the estimate is that of the short range, from nearest images, and no less than
 * that of the mean density within r_s (range.w times the mass of the root): where bodies are spread evenly the short
 * range is next to nothing, and their net force is then. */
#ifndef GV_SHORT_RANGE
#define GV_SHORT_RANGE 0
#endif
#if GV_SHORT_RANGE
#define GV_SHORT_PARAMETERS , gv_scalar4 range, gv_scalar4 period
#define GV_SHORT_ARGUMENTS , range, period
#define gv_image(d) ((d)-period.x * rint((d)*period.z))
#define gv_least(a) fmax(a, range.w *cell[0].w)
#else
#define GV_SHORT_PARAMETERS
#define GV_SHORT_ARGUMENTS
#define gv_image(d) (d)
#define gv_least(a) (a)
#endif

static inline gv_scalar gv_length(gv_scalar x, gv_scalar y, gv_scalar z)
{
    return sqrt(x * x + y * y + z * z);
}

/* The sum, the least and the greatest of the work-items' values, returned to all of them; `scratch`: GV_THREADS
 * places.  Functions with barriers are inlined by force: some compilers would call them, and crash. */
#define GV_JOIN(name, join)                                                                                            \
    __attribute__((always_inline)) static inline gv_scalar4 name(gv_scalar4 value, local gv_scalar4 *scratch)          \
    {                                                                                                                  \
        uint me = get_local_id(0);                                                                                     \
        scratch[me] = value;                                                                                           \
        gv_group_sync();                                                                                               \
        for (uint by = GV_THREADS / 2; by > 0; by >>= 1) {                                                             \
            gv_scalar4 a = scratch[me], b = scratch[me < by ? me + by : me];                                           \
            if (me < by)                                                                                               \
                scratch[me] = join;                                                                                    \
            gv_group_sync();                                                                                           \
        }                                                                                                              \
        value = scratch[0];                                                                                            \
        gv_group_sync();                                                                                               \
        return value;                                                                                                  \
    }
GV_JOIN(gv_join_sum, a + b)
GV_JOIN(gv_join_least, fmin(a, b))
GV_JOIN(gv_join_most, fmax(a, b))

/* What one cell adds to the estimate: acceleration in xyz, in w the bodies in the box and close by.  Returns the number
 * of its children if it is opened instead, the first of them in *first. */
static inline uint gv_look_at(global const gv_scalar4 *cell, gv_scalar4 at, gv_scalar4 half_side, gv_scalar margin2,
                              gv_scalar eps2, gv_scalar4 *sum, uint *first GV_SHORT_PARAMETERS)
{
    gv_scalar4 z = cell[0], w = cell[1];
    gv_scalar dx = gv_image(z.x - at.x), dy = gv_image(z.y - at.y), dz = gv_image(z.z - at.z);
    int closed = w.y < 0; /* of another tree: what it says of its size is in another place */
    gv_scalar r2 = dx * dx + dy * dy + dz * dz, bmax2 = closed ? cell[3].z * cell[3].z : w.y * GV_R(0.64);
    uint info = gv_held(w.w);
#if GV_SHORT_RANGE
    gv_scalar end = range.y + sqrt(bmax2) + half_side.x + half_side.y + half_side.z;
    if (r2 > end * end)
        return 0;
#endif
    if (!(info & GV_LEAF) && !closed && r2 <= bmax2) {
        *first = gv_held(w.z);
        return info;
    }
    gv_scalar4 out = fmax(fabs(gv_image(z - at)) - half_side, (gv_scalar4)(0));
    if (out.x * out.x + out.y * out.y + out.z * out.z <= margin2)
        sum->w += info & GV_LEAF ? (gv_scalar)(info & GV_COUNT) : cell[3].w;
    /* the distance to a near leaf counts as its own extent at least, that to a closed cell only where it is near */
    r2 += eps2 + (info & GV_LEAF || (closed && r2 <= bmax2) ? bmax2 : 0);
    if (r2 > 0) {
        gv_scalar y = rsqrt(r2);
        gv_scalar k = z.w * y * y * y;
#if GV_SHORT_RANGE
        gv_scalar u = r2 * y * range.x;
        k *= erfc(u) + GV_R(1.1283791670955126) * u * exp(-u * u);
#endif
        sum->x += k * dx;
        sum->y += k * dy;
        sum->z += k * dz;
    }
    return 0;
}

/* The estimate for a box: acceleration at its centre in xyz, bodies in it and close by in w. */
__attribute__((always_inline)) static inline gv_scalar4 gv_look_around(global const gv_scalar4 *cell, gv_scalar4 at,
                                                                       gv_scalar4 half_side, gv_scalar margin2,
                                                                       gv_scalar eps2, local uint *stack,
                                                                       local uint *scan GV_SHORT_PARAMETERS)
{
    uint me = get_local_id(0), top = 1;
    gv_scalar4 sum = (gv_scalar4)(0);
    if (me == 0)
        stack[0] = 0;
    gv_group_sync();
    while (top > 0) {
        uint take = gv_take_count(top, GV_THREADS, GV_STACK), first = 0, children = 0, all;
        if (me < take)
            children = gv_look_at(cell + GV_CELL * (size_t)stack[top - take + me], at, half_side, margin2, eps2, &sum,
                                  &first GV_SHORT_ARGUMENTS);
        uint before = gv_group_scan(children, scan, &all);
        gv_group_sync();
        top -= take;
        for (uint k = 0; k < children; k++)
            stack[top + before + k] = first + k;
        top += all;
        gv_group_sync();
    }
    return sum;
}

/* local memory of the work-group */
typedef struct gv_room {
    local gv_scalar4 *scratch;
    local uint *stack, *scan;
} gv_room;
#define GV_ROOM                                                                                                        \
    local gv_scalar4 scratch[GV_THREADS];                                                                              \
    local uint stack[GV_STACK], scan[GV_SCAN_WORDS];                                                                   \
    const gv_room room = {scratch, stack, scan};

/* Bodies in a box, by boxes around some of them; of this work-item. */
static inline gv_scalar gv_count_runs(global const gv_scalar4 *run, uint runs, uint mine, uint mine_end, gv_scalar4 at,
                                      gv_scalar4 half_side)
{
    gv_scalar bodies = 0;
    for (uint r = get_local_id(0); r < runs; r += GV_THREADS) {
        if (r >= mine && r < mine_end)
            continue;
        gv_scalar4 lo = run[2 * (size_t)r], hi = run[2 * (size_t)r + 1];
        gv_scalar4 inside = fmin(hi, at + half_side) - fmax(lo, at - half_side), side = hi - lo;
        if (inside.x < 0 || inside.y < 0 || inside.z < 0)
            continue;
        gv_scalar part = lo.w;
        part *= side.x > 0 ? inside.x / side.x : 1;
        part *= side.y > 0 ? inside.y / side.y : 1;
        part *= side.z > 0 ? inside.z / side.z : 1;
        bodies += part;
    }
    return bodies;
}

/* R^2 below a millionth of the unit's square would overflow the expansion. */
#define GV_LEAST_REACH GV_R(1e-6)

/* The unit of length of a group's expansion, a power of 2, so that turning units is exact.  Of sinks at one place it is
 * a millionth of how far from the sources they are: distances in this unit do not overflow. */
static inline gv_scalar gv_unit_of(gv_scalar radius, gv_scalar4 centre)
{
    gv_scalar off = fmax(fmax(fabs(centre.x), fabs(centre.y)), fmax(fabs(centre.z), GV_R(1.0)));
    return ldexp(GV_R(1.0), ilogb(fmax(radius, GV_R(1e-6) * off)) + 1);
}

/* Makes the group of `count` sinks from `first` on; returns the bodies in its box and close by. */
__attribute__((always_inline)) static inline gv_scalar
gv_make_group(global const gv_scalar4 *points, uint first, uint count, global const gv_scalar4 *cell,
              global const gv_scalar4 *others, global const gv_scalar *last, gv_scalar eps2, gv_scalar tau,
              gv_scalar tau_local, const gv_room *room, global gv_scalar4 *group, global const gv_scalar4 *run,
              uint runs, uint mine, uint mine_end GV_SHORT_PARAMETERS)
{
    uint me = get_local_id(0);
    gv_scalar4 lo = points[first], hi = lo, furthest = (gv_scalar4)(0), least = (gv_scalar4)(GV_R(3e38));
    gv_scalar total = 0;
    for (uint k = me; k < count; k += GV_THREADS) {
        gv_scalar4 p = points[first + k];
        lo = fmin(lo, p);
        hi = fmax(hi, p);
        least.x = last ? fmin(least.x, last[first + k]) : least.x;
        total += last ? last[first + k] : 0;
    }
    lo = gv_join_least(lo, room->scratch);
    hi = gv_join_most(hi, room->scratch);
    gv_scalar4 centre = GV_R(0.5) * (lo + hi);
    gv_scalar4 half_side = fmax(hi - centre, centre - lo);
    for (uint k = me; k < count; k += GV_THREADS) {
        gv_scalar4 d = points[first + k] - centre;
        furthest.x = fmax(furthest.x, d.x * d.x + d.y * d.y + d.z * d.z);
    }
    gv_scalar radius2 = gv_join_most(furthest, room->scratch).x;
    gv_scalar4 around =
        gv_look_around(cell, centre, half_side, GV_R(0.04) * radius2, eps2, room->stack, room->scan GV_SHORT_ARGUMENTS);
    if (others)
        around += gv_look_around(others, centre, half_side, GV_R(0.04) * radius2, eps2, room->stack,
                                 room->scan GV_SHORT_ARGUMENTS);
    if (last)
        around = (gv_scalar4)(total, 0, 0, around.w);
    if (run)
        around.w += gv_count_runs(run, runs, mine, mine_end, centre, half_side + GV_R(0.2) * sqrt(radius2));
    around = gv_join_sum(around, room->scratch);
    least = gv_join_least(least, room->scratch);
    gv_scalar known = GV_MAC == 2 ? least.x : around.x / (gv_scalar)(count);
    gv_scalar a = fmax(gv_least(last ? known : gv_length(around.x, around.y, around.z)), GV_R(1e-25));

    gv_scalar scale = gv_unit_of(sqrt(radius2), centre);
    gv_scalar open = GV_MAC > 0 ? exp2(GV_R(-0.4) * log2(tau * a)) : GV_R(1.0);
    gv_scalar far = radius2 * radius2 / (tau_local * a);
    gv_scalar reach = fmax(radius2 / GV_R(0.36), scale * scale * GV_LEAST_REACH);
    if (me == 0) {
        group[0] = (gv_scalar4)(centre.xyz, scale);
        group[1] = (gv_scalar4)(half_side.xyz, open);
        group[2] = (gv_scalar4)(far, reach, gv_hold(first), gv_hold(count));
    }
    return around.w;
}

static inline void gv_clear_groups(global gv_scalar4 *group, uint n)
{
    for (uint k = 0; k < GV_GROUP_VECTORS * n; k++)
        group[k] = (gv_scalar4)(0, 0, gv_hold(0), gv_hold(0));
}

/* `wide` may be NULL */
kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_tree_groups(global const gv_scalar4 *points, uint n_sinks, uint size, global const gv_scalar4 *cell,
               global const gv_scalar4 *others, global const gv_scalar *last, gv_scalar eps2, gv_scalar tau,
               gv_scalar tau_local, global gv_scalar4 *group, uint most, global uchar *wide,
               global const gv_scalar4 *run, uint runs, uint mine, uint mine_end GV_SHORT_PARAMETERS)
{
    GV_ROOM
#if GV_PART > 0
    const uint g = get_group_id(0), places = most > 0 ? size / GV_PART : 1, part = size / places;
    const uint end = min((g + 1) * size, n_sinks);
    for (uint at = 0, length; at < places; at += length) {
        const uint first = g * size + at * part;
        global gv_scalar4 *to = group + GV_GROUP_VECTORS * ((size_t)g * places + at);
        uint count = 0, is_sparse = 1;
        /* the second half of what was halved, or what follows it */
        length = at > 0 ? min(at & -at, places - at) : places;
        while (first < end && is_sparse) {
            /* the tolerance of the expansion is that of groups of so many (gv_tree_tau_local) */
            gv_scalar fewer = fmin((gv_scalar)(length * part) / (gv_scalar)(min(size, 32u)), GV_R(1.0));
            count = min(length * part, end - first);
            gv_scalar bodies = gv_make_group(points, first, count, cell, others, last, eps2, tau,
                                             tau_local * exp2(GV_R(0.4) * log2(fewer)), &room, to, run, runs, mine,
                                             mine_end GV_SHORT_ARGUMENTS);
            is_sparse = length > 1 && bodies * (gv_scalar)(count) > (gv_scalar)(most) * (gv_scalar)(size);
            length = is_sparse ? length / 2 : length;
        }
        if (get_local_id(0) == 0)
            gv_clear_groups(to + (count > 0 ? GV_GROUP_VECTORS : 0), count > 0 ? length - 1 : length);
    }
    (void)wide;
#else
    uint g = get_group_id(0), first = g * size, count = min(size, n_sinks - first);
    gv_scalar bodies =
        gv_make_group(points, first, count, cell, others, last, eps2, tau, tau_local, &room,
                      group + GV_GROUP_VECTORS * (size_t)g, run, runs, mine, mine_end GV_SHORT_ARGUMENTS);
    if (wide && get_local_id(0) == 0)
        wide[g] = count > 1 && bodies > (gv_scalar)(most);
#endif
}

/* which[0 ... *found-1]: the sparse groups; the launch has `size` work-groups for each of those that are split */
kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_tree_split(global const gv_scalar4 *points, uint n_sinks, uint size, global const gv_scalar4 *cell,
              global const gv_scalar4 *others, global const gv_scalar *last, gv_scalar eps2, gv_scalar tau,
              gv_scalar tau_local, global gv_scalar4 *group, global const uint *which,
              global const uint *found GV_SHORT_PARAMETERS)
{
    GV_ROOM
    uint w = get_group_id(0) / size, j = get_group_id(0) % size, n_groups = (n_sinks + size - 1) / size;
    uint place = n_groups + w * (size - 1) + j - 1;
    if (w < *found) {
        uint first = which[w] * size + j;
        place = j == 0 ? which[w] : place;
        if (first < min((which[w] + 1) * size, n_sinks)) {
            gv_make_group(points, first, 1, cell, others, last, eps2, tau, tau_local, &room,
                          group + GV_GROUP_VECTORS * (size_t)place, 0, 0, 0, 0 GV_SHORT_ARGUMENTS);
            return;
        }
    }
    if ((w >= *found && j == 0) || get_local_id(0) > 0)
        return;
    gv_clear_groups(group + GV_GROUP_VECTORS * (size_t)place, 1);
}

/* Groups that were made in one frame, in that of another tree: lengths times `scale`, then places plus `shift`; squared
 * lengths, accelerations of the criterion by the factors of `turn` = (open, far, reach). */
kernel void gv_tree_turn_groups(global const gv_scalar4 *group, uint n, gv_scalar scale, gv_scalar4 shift,
                                gv_scalar4 turn, global gv_scalar4 *to)
{
    uint g = get_global_id(0);
    if (g >= n)
        return;
    gv_scalar4 g0 = group[GV_GROUP_VECTORS * (size_t)g], g1 = group[GV_GROUP_VECTORS * (size_t)g + 1];
    gv_scalar4 g2 = group[GV_GROUP_VECTORS * (size_t)g + 2];
    gv_scalar4 centre = g0 * scale + shift;
    gv_scalar unit = fmax(g0.w * scale, gv_unit_of(0, centre)); /* it may be far away there */
    gv_scalar reach = fmax(g2.y * turn.z, unit * unit * GV_LEAST_REACH);
    to[GV_GROUP_VECTORS * (size_t)g] = (gv_scalar4)(centre.xyz, unit);
    to[GV_GROUP_VECTORS * (size_t)g + 1] = (gv_scalar4)(g1.xyz * scale, g1.w * turn.x);
    to[GV_GROUP_VECTORS * (size_t)g + 2] = (gv_scalar4)(g2.x * turn.y, reach, g2.z, g2.w);
}
