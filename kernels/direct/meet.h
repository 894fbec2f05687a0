/* Where sources may be sinks of the item or the group: only there are pairs compared by id.
 *
 * GV_MEET  0: where an id lies between the smallest and the largest id of the sinks.  That tells sinks that stand
 *             together in the sources, as in forces of all on all, from all others; on GPUs whole tiles are flagged.
 *          1: of those, where it may be a sink's id.  Active bodies of short steps stand anywhere, so that nearly all
 *             ids lie between theirs.  A group with tiles looks ids up in a table of bits, two for each sink (a Bloom
 *             filter), and flags stretches of GV_DIRECT_STRETCH sources; a work-item without them compares the ids of a
 *             stretch with all of its own.
 */
#ifndef GV_MEET
#error "GV_MEET must be 0 (a range of ids) or 1 (the ids themselves)"
#endif

/* ids of the sinks of an item or a group lie between these */
typedef struct gv_ids {
    int low, high;
} gv_ids;

static inline int gv_is_within(int id, gv_ids ids)
{
    return id >= ids.low && id <= ids.high;
}

#if GV_TILE > 0
/* Rows that share a wave have flags together, so that all of them go through the masked loop where one has to: the
 * wave would take both loops, and a call ends with the wave that did so most often.  48 sinks x 131072 took 1.16 to
 * 1.26 of the time (doc/numbers.md). */
#define GV_FLAG_ROW (GV_ROW < 32 ? row / (32 / GV_ROW) : row)

#define GV_FLAGS (GV_MEET ? GV_SPLIT * GV_TILE / GV_DIRECT_STRETCH : GV_SPLIT)

#if GV_MEET
#define GV_NAME_WORDS GV_DIRECT_NAME_WORDS(GV_SINKS_PER_ITEM *GV_ROW *GV_LANES)

/* Two places of an id among the bits of the table: products with the golden section and with another odd number. */
static inline uint2 gv_name_bits(int id)
{
    return mul_hi((uint2)((uint)id * 0x9e3779b1u, (uint)id * 0x85ebca6bu), (uint2)(GV_NAME_WORDS * 32));
}

static inline int gv_may_be_sink(local const uint *names, int id)
{
    const uint2 bit = gv_name_bits(id);
    return names[bit.x / 32] >> bit.x % 32 & names[bit.y / 32] >> bit.y % 32 & 1;
}

static inline void gv_add_name(local uint *names, int id)
{
    const uint2 bit = gv_name_bits(id);
    atomic_or(&names[bit.x / 32], 1u << bit.x % 32);
    atomic_or(&names[bit.y / 32], 1u << bit.y % 32);
}

/* Between the barriers of gv_join_ids: by the work-items of one row. */
__attribute__((always_inline)) static inline void gv_add_names(local uint *names, const gv_int *sink_id)
{
#pragma unroll
    for (int s = 0; s < GV_SINKS_PER_ITEM; s++) {
#if GV_LANES == 1
        gv_add_name(names, sink_id[s]);
#else
        int id[GV_LANES];
        gv_store(sink_id[s], id);
        for (int lane = 0; lane < GV_LANES; lane++)
            gv_add_name(names, id[lane]);
#endif
    }
}
#endif

/* The ids of all sinks of the group: all rows have the same sinks.  Nothing is flagged yet. */
__attribute__((always_inline)) static inline gv_ids gv_join_ids(gv_ids mine, const gv_int *sink_id, local int *id_range,
                                                                local uint *names, local uint *flagged, uint row)
{
    const uint me = get_local_id(0);
    if (me == 0) {
        id_range[0] = INT_MAX;
        id_range[1] = INT_MIN;
    }
#if GV_MEET
    for (uint k = me; k < GV_FLAGS; k += GV_THREADS)
        flagged[k] = 0;
    for (uint k = me; k < GV_NAME_WORDS; k += GV_THREADS)
        names[k] = 0;
#else
    if (me < GV_FLAGS)
        flagged[me] = 0;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    if (row == 0) {
        atomic_min(&id_range[0], mine.low);
        atomic_max(&id_range[1], mine.high);
#if GV_MEET
        gv_add_names(names, sink_id);
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return (gv_ids){id_range[0], id_range[1]};
}
#else
/* May one of `count` sources be a sink of the item? */
static inline int gv_meet(const gv_int *sink_id, gv_ids ids, global const int *id, uint count)
{
    int16 within = (int16)(0);
    uint k = 0;
    for (; k + 16 <= count; k += 16) {
        const int16 v = vload16(0, id + k);
        within |= (v >= (int16)(ids.low)) & (v <= (int16)(ids.high));
    }
    int some = any(within);
    for (; k < count; k++)
        some |= gv_is_within(id[k], ids);
#if GV_MEET
    if (some) {
        gv_int met = (gv_int)(0);
        for (k = 0; k < count; k++)
#pragma unroll
            for (int s = 0; s < GV_SINKS_PER_ITEM; s++)
                met |= sink_id[s] == (gv_int)(id[k]);
        some = gv_any(met) != 0;
    }
#endif
    return some;
}
#endif
