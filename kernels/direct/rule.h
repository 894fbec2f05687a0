/* Which sources are neighbours of a sink where that is not "at most the radius away, and not itself".
 *
 * GV_RULE       GV_RULE_OTHERS       r <= radius, and not the sink itself
 *               GV_RULE_SPHERE       r < radius: the sink itself, at distance 0, among them
 *               GV_RULE_SPHERE_MASS  r^2 < m_j radius^2
 * GV_AHEAD      1: r is the smaller of |dx| and |dx + t dv|, with a time t of each sink
 * GV_LEAVE_OUT  1: neighbours do not pull
 *
 * None of them set: lists as search.h makes them.  GV_BY_RULE: some of them are.
 * GV_KEEP_RUN: of nearest neighbours without lists the run that has the nearest is kept, and looked through at the end.
 * GV_LOOK: runs of sources in which something is near enough are looked through at once: for lists without a rule, and
 *          for nearest neighbours otherwise.
 */
#ifndef GV_RULE
#define GV_RULE GV_RULE_OTHERS
#endif
#ifndef GV_AHEAD
#define GV_AHEAD 0
#endif
#ifndef GV_LEAVE_OUT
#define GV_LEAVE_OUT 0
#endif
#define GV_BY_RULE (GV_RULE != GV_RULE_OTHERS || GV_AHEAD || GV_LEAVE_OUT)
#define GV_KEEP_RUN (GV_KEEP && GV_NEAREST && !GV_LISTS)
#define GV_LOOK ((GV_NEAREST && !GV_KEEP_RUN) || (GV_LISTS && !GV_BY_RULE))
#define GV_LIST_PLANES (GV_LISTS + GV_AHEAD) /* of a sink: layout.h */

/* Where all pairs have one softening, a first look compares softened distances, which the force needs anyway.  Not in
 * ds with GV_LOOK, where finding a distance a second time takes more than is saved, nor in vectors with GV_KEEP_RUN,
 * where telling apart what rounding has made alike does. */
#define GV_SOFT_LOOK                                                                                                   \
    (((GV_LOOK && GV_PRECISION != GV_DS) || (GV_KEEP_RUN && GV_LANES == 1)) && !GV_BY_RULE && GV_SOFTENED &&           \
     GV_SOFTEN == GV_SOFTEN_EPS)

#if GV_BY_RULE && !GV_LISTS
#error "GV_RULE, GV_AHEAD and GV_LEAVE_OUT are for neighbour lists: GV_LISTS must be 1"
#endif
#if GV_AHEAD && GV_ORDER < 4
#error "GV_AHEAD needs velocities: GV_ORDER must be 4 or 6"
#endif
