/* Sums over the work-items of one work-group, in a fixed order.
 *
 *   GV_THREADS   work-items per group, a power of two; 1 = the serial shape for devices where barriers are slow: a
 *                work-item is then a whole group and does the work of all in a loop
 *   GV_PTX_ASM   shuffles are reached through inline assembly (32 work-items share a warp); else local memory is used
 *
 * `scratch` is local memory of GV_SCAN_WORDS uints (or ulongs for the 64-bit scan). */
#ifndef GV_THREADS
#error "GV_THREADS must be the work-items per group: 1, or a power of two"
#endif
#if GV_THREADS & (GV_THREADS - 1)
#error "GV_THREADS must be a power of two"
#endif

#if GV_THREADS == 1
#define gv_group_sync()
#elif defined(GV_PTX_ASM) && GV_THREADS == 32
#define gv_group_sync() __asm volatile("bar.warp.sync 0xffffffff;" : : : "memory")
#else
#define gv_group_sync() barrier(CLK_LOCAL_MEM_FENCE)
#endif

#if defined(GV_PTX_ASM) && GV_THREADS >= 32
#define GV_SHUFFLES 1
#define GV_SCAN_WORDS 32
#else
#define GV_SHUFFLES 0
#define GV_SCAN_WORDS GV_THREADS
#endif

#if GV_SHUFFLES
/* the value of the lane `by` below; the lowest `by` lanes get 0 */
static inline uint gv_lane_up(uint value, uint by)
{
    uint got, inside;
    __asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %2, %3, 0, 0xffffffff; selp.u32 %1, 1, 0, p; }"
                   : "=r"(got), "=r"(inside)
                   : "r"(value), "r"(by));
    return inside ? got : 0u;
}

static inline void gv_warp_sync(void)
{
    __asm volatile("bar.warp.sync 0xffffffff;" : : : "memory");
}

/* the lanes of the warp whose `digit`, below 256, is the same, as bits */
static inline uint gv_warp_peers(uint digit)
{
    uint peers = 0xffffffffu;
    for (uint bit = 1; bit < 256; bit <<= 1) {
        uint same;
        __asm volatile("{ .reg .pred p; .reg .b32 t; and.b32 t, %1, %2; setp.ne.u32 p, t, 0; "
                       "vote.sync.ballot.b32 %0, p, 0xffffffff; @!p not.b32 %0, %0; }"
                       : "=r"(same)
                       : "r"(digit), "r"(bit));
        peers &= same;
    }
    return peers;
}

/* inclusive sum over the lanes of a warp */
static inline uint gv_warp_scan(uint value)
{
    for (uint by = 1; by < 32; by <<= 1)
        value += gv_lane_up(value, by);
    return value;
}

/* the same for 64-bit words */
static inline ulong gv_warp_scan64(ulong value)
{
    for (uint by = 1; by < 32; by <<= 1)
        value += (ulong)gv_lane_up((uint)(value >> 32), by) << 32 | gv_lane_up((uint)value, by);
    return value;
}

static inline uint gv_warp_last(uint value)
{
    uint got;
    __asm volatile("shfl.sync.idx.b32 %0, %1, 31, 31, 0xffffffff;" : "=r"(got) : "r"(value));
    return got;
}
#endif

/* Exclusive sum of `value` over the work-items before this one; *total is the sum over all.  Every work-item of the
 * group must come here. */
static inline uint gv_group_scan(uint value, local uint *scratch, uint *total)
{
#if GV_THREADS == 1
    *total = value;
    return 0;
#elif GV_SHUFFLES
    uint lane = get_local_id(0) & 31, warp = get_local_id(0) >> 5;
    uint sum = gv_warp_scan(value);
#if GV_THREADS == 32
    (void)lane, (void)warp, (void)scratch;
    *total = gv_warp_last(sum);
    return sum - value;
#else
    if (lane == 31)
        scratch[warp] = sum;
    gv_group_sync();
    uint before = 0, all = 0;
    for (uint w = 0; w < GV_THREADS / 32; w++) {
        before += w < warp ? scratch[w] : 0u;
        all += scratch[w];
    }
    gv_group_sync();
    *total = all;
    return before + sum - value;
#endif
#else
    uint me = get_local_id(0);
    scratch[me] = value;
    gv_group_sync();
    uint sum = value;
    for (uint by = 1; by < GV_THREADS; by <<= 1) {
        uint below = me >= by ? scratch[me - by] : 0u;
        gv_group_sync();
        sum += below;
        scratch[me] = sum;
        gv_group_sync();
    }
    *total = scratch[GV_THREADS - 1];
    gv_group_sync();
    return sum - value;
#endif
}

/* The same for 64-bit words, which carry several small counters; scratch[GV_THREADS - 1] is the sum over all, to be
 * read before the next barrier. */
static inline ulong gv_group_scan64(ulong value, local ulong *scratch)
{
#if GV_THREADS == 1
    return 0;
#elif GV_SHUFFLES
    uint lane = get_local_id(0) & 31, warp = get_local_id(0) >> 5;
    ulong sum = gv_warp_scan64(value), before = 0;
    if (lane == 31)
        scratch[warp] = sum;
    gv_group_sync();
    for (uint w = 0; w < GV_THREADS / 32; w++)
        before += w < warp ? scratch[w] : 0ul;
    gv_group_sync();
    if (get_local_id(0) == GV_THREADS - 1)
        scratch[GV_THREADS - 1] = before + sum;
    gv_group_sync();
    return before + sum - value;
#else
    uint me = get_local_id(0);
    scratch[me] = value;
    gv_group_sync();
    ulong sum = value;
    for (uint by = 1; by < GV_THREADS; by <<= 1) {
        ulong below = me >= by ? scratch[me - by] : 0ul;
        gv_group_sync();
        sum += below;
        scratch[me] = sum;
        gv_group_sync();
    }
    return sum - value;
#endif
}
