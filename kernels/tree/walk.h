/* What both shapes of the walk share: sources, groups, and how much is taken from the stack. */
#if GV_STACK < 2 * GV_STACK_RESERVE
#error "GV_STACK must be at least 2 GV_STACK_RESERVE (340)"
#endif

/* What acts.  The softenings are squares, NULL where GV_SOFTEN does not need them. */
typedef struct gv_sources {
    global const gv_scalar4 *cell, *body, *body_low;
    global const gv_scalar *body_soft, *cell_soft;
    gv_scalar eps2;
#if GV_SHORT_RANGE
    gv_scalar4 range, period, near; /* periodic.h; near: the centre of the group that walks */
    int wide;                       /* the group is too wide for one image of a body */
#endif
} gv_sources;

#if GV_SHORT_RANGE
#define GV_SHORT_OF(sources) , (sources)->range.x
#define GV_SHORT_IN_UNIT(sources, per1) , (sources)->range.x / (per1)
/* r, from the group's centre to a cell, in its image */
#define gv_from_centre(sources, r, c, g) gv_nearest((r) - (c), (sources)->period)
#define GV_SOURCES gv_sources
#define GV_TAKE_RANGE(sources, g) gv_take_range(sources, g, range, period)
#define GV_BRING_NEAR(sources, at, low) gv_bring_near(sources, at, low)
#define GV_OR_WIDE(sources) || (sources)->wide
#else
#define GV_SOURCES const gv_sources
#define GV_TAKE_RANGE(sources, g)
#define GV_BRING_NEAR(sources, at, low)
#define GV_OR_WIDE(sources)
#define GV_SHORT_OF(sources)
#define GV_SHORT_IN_UNIT(sources, per1)
#define gv_from_centre(sources, r, c, g) ((r) - (c))
#endif

/* A group as it is walked; tree/cell.h says what it holds in memory. */
typedef struct gv_group {
    gv_scalar4 centre, half_side;
    gv_scalar open, far, reach, inverse_scale, soft;
    uint first, count;
    uint2 own; /* places of its sinks among the bodies: first, how many */
} gv_group;

static inline gv_group gv_read_group(global const gv_scalar4 *at, global const uint *self, int own)
{
    gv_group g;
    gv_scalar4 g0 = at[0], g1 = at[1], g2 = at[2];
    g.centre = g0;
    g.half_side = g1;
    g.inverse_scale = GV_R(1.0) / g0.w;
    g.open = g1.w;
    g.far = g2.x;
    g.reach = g2.y;
    g.soft = 0;
    g.first = gv_held(g2.z);
    g.count = gv_held(g2.w);
    g.own = (uint2)(0, own == GV_OWN_ANYWHERE ? GV_NO_BODY : 0u);
    if (own == GV_OWN_ASCENDING && g.count > 0) {
        g.own.x = self ? self[g.first] : g.first;
        g.own.y = (self ? self[g.first + g.count - 1] : g.first + g.count - 1) - g.own.x + 1;
    }
    return g;
}

#if GV_SHORT_RANGE
static inline void gv_take_range(gv_sources *sources, const gv_group *g, gv_scalar4 range, gv_scalar4 period)
{
    gv_scalar widest = fmax(fmax(g->half_side.x, g->half_side.y), g->half_side.z);
    sources->range = range;
    sources->period = period;
    sources->near = g->centre;
    sources->wide = widest > range.z;
}

/* What a cell needs to act as a whole beside the criterion: the room that the group leaves it. */
static inline gv_scalar gv_room_beside(const gv_sources *sources, const gv_group *g)
{
    return sources->range.z - fmax(fmax(g->half_side.x, g->half_side.y), g->half_side.z);
}

/* The image of a body or cell that is nearest to the group's centre; low words where there are any. */
static inline void gv_bring_near(const gv_sources *sources, gv_scalar4 *at, gv_scalar4 *low)
{
    gv_scalar4 d = *at - sources->near, k = rint(d * sources->period.z), by = k * sources->period.x;
#if GV_PRECISION == GV_DS
    gv_scalar4 sum = *at - by, part = sum - *at;
    /* one or two times the high word of L is exact */
    low->xyz += ((*at - (sum - part)) + (-by - part) - k * sources->period.y).xyz;
    at->xyz = sum.xyz;
#else
    (void)low;
    at->xyz -= by.xyz;
#endif
}
#endif

/* The softening of the group as its interactions with cells use it: the mean of the sinks' squares, and far cells keep
 * so much distance that this changes their force by less than 2e-4 for the sink that differs most; where cells act
 * from a distance on only, the largest. */
static inline void gv_soften_group(gv_group *g, global const gv_scalar *point_soft)
{
#if GV_SOFTS_SINKS
    gv_scalar sum = 0, least = point_soft[g->first], most = least;
    for (uint k = 0; k < g->count; k++) {
        gv_scalar soft = point_soft[g->first + k];
        sum += soft;
        least = fmin(least, soft);
        most = fmax(most, soft);
    }
    g->soft = GV_SHAPE_GUARD ? most : sum / g->count;
    g->reach = GV_SHAPE_GUARD ? g->reach : fmax(g->reach, GV_R(4096.0) * (most - least));
#endif
}
