/* Part of walk_group.cl: counters of a step and the scan that places what comes of it; loops with barriers. */

/* four counters in one word, so that one sum over the work-items places all lists */
#if GV_THREADS == 32 && GV_N_LEAF <= 32
typedef uint gv_pack;
#define GV_PACK_BODY 9
#define GV_PACK_FAR 20
#define GV_PACK_NEAR 26
#define gv_pack_children(p) ((p)&511u)
#define gv_pack_bodies(p) ((p) >> GV_PACK_BODY & 2047u)
#define gv_pack_far(p) ((p) >> GV_PACK_FAR & 63u)
#define gv_pack_near(p) ((p) >> GV_PACK_NEAR)
#define GV_PACK_SCRATCH uint
#define gv_pack_scan(value, scratch, total) gv_group_scan(value, scratch, total)
#else
typedef ulong gv_pack;
#define GV_PACK_BODY 16
#define GV_PACK_FAR 32
#define GV_PACK_NEAR 48
#define gv_pack_children(p) ((uint)(p)&65535u)
#define gv_pack_bodies(p) ((uint)((p) >> GV_PACK_BODY) & 65535u)
#define gv_pack_far(p) ((uint)((p) >> GV_PACK_FAR) & 65535u)
#define gv_pack_near(p) ((uint)((p) >> GV_PACK_NEAR))
#define GV_PACK_SCRATCH ulong
static inline gv_pack gv_pack_scan(gv_pack value, local ulong *scratch, gv_pack *total)
{
    gv_pack before = gv_group_scan64(value, scratch);
    *total = scratch[GV_THREADS - 1];
    gv_group_sync();
    return before;
}
#endif

/* GV_ITEM_LOOPS 1: compilers for CPUs make loops over the work-items of what stands between two barriers, and may copy
 * all that follows a barrier which some paths go around, so that k such barriers make 2^k copies of the kernel's end.
 * There every path meets every barrier: a list that is not full is evaluated too, as one of no entries. */
#ifndef GV_ITEM_LOOPS
#define GV_ITEM_LOOPS 0
#endif

/* entries to evaluate in one turn of a list that has `filled` of them */
static inline uint gv_turn_count(uint filled, uint least, uint most)
{
    return GV_ITEM_LOOPS && filled < least ? 0u : min(most, filled);
}
