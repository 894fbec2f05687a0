/* Which receivers of parts of a tree (essential.cl) have sinks that may open a cell.  The receivers' boxes have boxes
 * around GV_BOX_FAN of them each, these again, up to a level of GV_BOX_FAN at most: a box may open whatever one of
 * those in it may, so what is below a box that may not is left out.
 *
 * Distances are a little shortened: groups find theirs with roundings of their own.
 *
 * Two shapes: a work-group looks at boxes of all receivers, one a work-item (GV_THREADS); a work-item that is a group
 * of its own looks at GV_BOX_FAN boxes of a receiver at once, a vector each of their coordinates (GV_LANES).
 */
#define GV_STACK 512

/* Boxes of a level: 0: the receiver's own, then one around each GV_BOX_FAN of the level below. */
static inline uint gv_boxes_at(uint n, uint level)
{
    return (n + (1u << GV_BOX_BITS * level) - 1) >> GV_BOX_BITS * level;
}

#if GV_THREADS == 1
#if GV_LANES != GV_BOX_FAN
#error "GV_LANES must be GV_BOX_FAN: boxes that are looked at together"
#endif
#define GV_NODE_LEVEL 24
#define GV_NODES (GV_BOX_FAN * (32 - GV_NODE_LEVEL))

/* Those of GV_LANES boxes in a row whose sinks may open the cell, a bit each. */
static inline uint gv_which_may_open(gv_scalar4 z, gv_scalar4 w, global const gv_scalar4 *run, int deep,
                                     gv_scalar guard, gv_scalar slack)
{
    const uint which[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    gv_real r[8]; /* lo, open, hi, 0 */
    int lanes[GV_LANES];
    uint bits = 0;
    gv_load_records(run, 2, which, r);
    gv_real x = fmax(fmax(r[0] - z.x, z.x - r[4]), (gv_real)(0)), y = fmax(fmax(r[1] - z.y, z.y - r[5]), (gv_real)(0));
    gv_real v = fmax(fmax(r[2] - z.z, z.z - r[6]), (gv_real)(0)), zero = (gv_real)(0);
    gv_real size = fmax((gv_real)(fabs(z.x)), fmax(fabs(r[0]), fabs(r[4]))) +
                   fmax((gv_real)(fabs(z.y)), fmax(fabs(r[1]), fabs(r[5]))) +
                   fmax((gv_real)(fabs(z.z)), fmax(fabs(r[2]), fabs(r[6])));
    gv_real d = fmax(sqrt(x * x + y * y + v * v) - slack * size, zero), d2 = d * d;
    gv_scalar bmax = GV_R(0.8) * sqrt(w.y);
    gv_mask may = deep ? (d2 <= w.x * r[3]) | (d2 <= (gv_real)(w.y)) : d2 <= (gv_real)(bmax * bmax);
    if (deep && guard > 0)
        may |= d <= (gv_real)(guard + bmax);
    GV_PASTE(vstore, GV_LANES)(gv_narrow(may), 0, lanes);
    for (uint k = 0; k < GV_LANES; k++)
        bits |= lanes[k] ? 1u << k : 0u;
    return bits;
}

/* Whether one of the n boxes from `at` on may open the cell; boxes around several of them follow one another, level by
 * level, from `around` on.  A box may open whatever one of those in it may, so what is below a box that may not is left
 * out. */
static inline int gv_is_opened(gv_scalar4 z, gv_scalar4 w, global const gv_scalar4 *run, uint n, uint at, uint around,
                               int deep, gv_scalar guard, gv_scalar slack)
{
    uint place[32 - GV_NODE_LEVEL] = {at, around}, stack[GV_NODES], top = 1, level = 0;
    while (gv_boxes_at(n, level) > GV_BOX_FAN) {
        level++;
        if (level > 1)
            place[level] = place[level - 1] + gv_boxes_at(n, level - 1);
    }
    stack[0] = level << GV_NODE_LEVEL;
    while (top > 0) {
        uint node = stack[--top], k = node & ((1u << GV_NODE_LEVEL) - 1);
        level = node >> GV_NODE_LEVEL;
        uint left = gv_boxes_at(n, level) - k;
        uint may = gv_which_may_open(z, w, run + 2 * (size_t)(place[level] + k), deep, guard, slack);
        may &= left < GV_BOX_FAN ? (1u << left) - 1 : (1u << GV_BOX_FAN) - 1;
        if (may && level == 0)
            return 1;
        for (uint l = 0; l < GV_BOX_FAN; l++)
            if (may >> l & 1)
                stack[top++] = (level - 1) << GV_NODE_LEVEL | (k + l) * GV_BOX_FAN;
    }
    return 0;
}

/* Those of the receivers `looks` (bits); the local memory is for groups of several work-items. */
static inline uint gv_who_may_open(gv_scalar4 z, gv_scalar4 w, global const gv_scalar4 *run, global const uint *first,
                                   uint receivers, uint looks, int deep, gv_scalar guard, gv_scalar slack,
                                   local uint *stack, local uint *scan, local uint *found)
{
    uint open = 0;
    (void)stack, (void)scan, (void)found;
    for (uint r = 0; r < receivers; r++)
        if (looks >> r & 1 &&
            gv_is_opened(z, w, run, first[r + 1] - first[r], first[r], first[receivers + 1 + r], deep, guard, slack))
            open |= 1u << r;
    return open;
}
#else
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

/* A box on the stack: receiver, level, number within the level. */
#define GV_NODE_LEVEL 24
#define GV_NODE_RECEIVER 27
#define GV_NODE_FIELD(node, from, bits) ((node) >> (from) & ((1u << (bits)) - 1))

/* Receiver r has the boxes first[r] ... first[r + 1] - 1; boxes around several of them follow one another, level by
 * level, from first[receivers + 1 + r] on, up to a level of GV_BOX_FAN at most. */
static inline uint gv_box_place(global const uint *first, uint receivers, uint r, uint level)
{
    uint n = first[r + 1] - first[r], at = level > 0 ? first[receivers + 1 + r] : first[r];
    for (uint l = 1; l < level; l++)
        at += gv_boxes_at(n, l);
    return at;
}

/* Those of the receivers `looks` (bits) that have a box whose sinks may open the cell.  The work-items look at boxes
 * together, from the highest level down: a box may open whatever one of those in it may, so what is below a box that
 * may not is left out, as is the rest of a receiver that was found. */
__attribute__((always_inline)) static inline uint
gv_who_may_open(gv_scalar4 z, gv_scalar4 w, global const gv_scalar4 *run, global const uint *first, uint receivers,
                uint looks, int deep, gv_scalar guard, gv_scalar slack, local uint *stack, local uint *scan,
                local uint *found)
{
    uint me = get_local_id(0), top = 0;
    for (uint r = 0; r < receivers; r++) {
        uint n = looks >> r & 1 ? first[r + 1] - first[r] : 0, level = 0;
        while (gv_boxes_at(n, level) > GV_BOX_FAN)
            level++;
        n = gv_boxes_at(n, level);
        for (uint k = me; k < n; k += GV_THREADS)
            stack[top + k] = r << GV_NODE_RECEIVER | level << GV_NODE_LEVEL | k;
        top += n;
    }
    if (me == 0)
        *found = 0;
    gv_group_sync();
    while (top > 0) {
        uint take = gv_take_count(top, GV_THREADS, GV_STACK), known = *found, children = 0, below = 0, hit = 0, all;
        if (me < take) {
            uint node = stack[top - take + me], r = node >> GV_NODE_RECEIVER;
            uint level = GV_NODE_FIELD(node, GV_NODE_LEVEL, GV_NODE_RECEIVER - GV_NODE_LEVEL);
            uint k = GV_NODE_FIELD(node, 0, GV_NODE_LEVEL), n = first[r + 1] - first[r];
            size_t box = gv_box_place(first, receivers, r, level) + k;
            if (!(known >> r & 1) && gv_may_open(z, w, run + 2 * box, deep, guard, slack)) {
                hit = level == 0 ? 1u << r : 0;
                children = level > 0 ? min((uint)GV_BOX_FAN, gv_boxes_at(n, level - 1) - k * GV_BOX_FAN) : 0;
                below = level > 0 ? r << GV_NODE_RECEIVER | (level - 1) << GV_NODE_LEVEL | k * GV_BOX_FAN : 0;
            }
        }
        uint before = gv_group_scan(children, scan, &all);
        gv_group_sync();
        if (hit)
            atomic_or(found, hit);
        top -= take;
        for (uint k = 0; k < children; k++)
            stack[top + before + k] = below + k;
        top += all;
        gv_group_sync();
    }
    looks = *found;
    gv_group_sync();
    return looks;
}

#endif
