/* The Hilbert curve of lib/curve.h from a table that the work-items of a group share, two levels a step: 11 steps
 * instead of 20 longer ones.
 *
 * Needs lib/curve.h and lib/group.h.
 *
 *   GV_THREADS  work-items per group
 *   `two`       local memory of GV_TURN_WORDS ushorts, filled by gv_fill_turns
 *
 * The curve has 24 orientations; the whole cube has number 0.  gv_turns holds of each: 8 x 3 bits, the digit of every
 * octant (4 x + 2 y + z), lowest bits first; then 8 x 5 bits, the orientation inside it.  The numbers follow from
 * lib/curve.h, and a test compares the two (tests/program/test_primitives.c).
 */
constant ulong gv_turns[24] = {0x018a400c41b374c8ul, 0x0844b52507aa3c78ul, 0x1044e6b006b13dc8ul, 0x0454918e0f70754eul,
                               0x5260f210b238755cul, 0x6d003290b32374ecul, 0x3190704549ab18f8ul, 0x3b0e64b6a0b919d8ul,
                               0x620c8baa362b50fcul, 0x490e5485e2ba7458ul, 0x22a480a970283d7cul, 0x0adcb65cd16a507eul,
                               0x41d8cb55b73951dcul, 0x2cdac139b4213decul, 0x12dce41ed57151ceul, 0x4b6a07d1e362746eul,
                               0xbaa36a4070f03d4aul, 0x344921c42b68197eul, 0xa5c7124a72f8195aul, 0x83ed52ca73e318eaul,
                               0xb55b783e94e23c6aul, 0x396b378aae6119eeul, 0x922765c1d6f350caul, 0x9c99772e97fa505aul};
#define gv_turn_digit(turn, octant) ((uint)((turn) >> (3 * (octant))) & 7u)
#define gv_turn_inside(turn, octant) ((uint)((turn) >> (24 + 5 * (octant))) & 31u)
#define GV_TURN_WORDS (24 * 64)

/* two[orientation][octant, octant inside] = two digits | orientation inside << 6 */
static inline void gv_fill_turns(local ushort *two)
{
    for (uint k = get_local_id(0); k < GV_TURN_WORDS; k += GV_THREADS) {
        ulong outer = gv_turns[k >> 6], inner = gv_turns[gv_turn_inside(outer, k >> 3 & 7)];
        two[k] = (ushort)(gv_turn_digit(outer, k >> 3 & 7) << 3 | gv_turn_digit(inner, k & 7) |
                          gv_turn_inside(inner, k & 7) << 6);
    }
    gv_group_sync();
}

static inline ulong gv_turned_key(uint x, uint y, uint z, local const ushort *two)
{
    ulong octants = gv_spread(x) << 2 | gv_spread(y) << 1 | gv_spread(z), turn = gv_turns[0];
    uint first = (uint)(octants >> 60), inside = gv_turn_inside(turn, first) << 6;
    ulong key = gv_turn_digit(turn, first);
#pragma unroll
    for (int shift = 54; shift >= 0; shift -= 6) {
        uint step = two[inside | ((uint)(octants >> shift) & 63u)];
        key = key << 6 | (step & 63u);
        inside = step & ~63u;
    }
    return key;
}
