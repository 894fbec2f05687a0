/* Vectors of GV_LANES scalars in one work-item: sums over lanes, and records of eight scalars turned into eight
 * vectors. */

/* the sum over lanes, in a fixed order */
static inline gv_scalar gv_lane_sum(gv_real v)
{
#if GV_LANES == 1
    return v;
#else
#if GV_LANES == 16
    GV_PASTE(GV_SCALAR, 8) a = v.lo + v.hi;
    gv_scalar4 b = a.lo + a.hi;
#elif GV_LANES == 8
    gv_scalar4 b = v.lo + v.hi;
#elif GV_LANES == 4
    gv_scalar4 b = v;
#else
    gv_scalar4 b = (gv_scalar4)(v, (gv_real)(0));
#endif
    return (b.x + b.z) + (b.y + b.w);
#endif
}

/* Eklundh's transposition, where GV_LANES is 8 or 16: in 8 lanes, or both halves of 16, blocks of `d` columns are
 * exchanged between rows d apart. */
#if GV_LANES == 8
#define GV_SWAP4(a, b)                                                                                                 \
    do {                                                                                                               \
        gv_real lo_ = (gv_real)(a.lo, b.lo), hi_ = (gv_real)(a.hi, b.hi);                                              \
        a = lo_, b = hi_;                                                                                              \
    } while (0)
#define GV_SWAP2(a, b)                                                                                                 \
    do {                                                                                                               \
        gv_real lo_ = (gv_real)(a.s01, b.s01, a.s45, b.s45), hi_ = (gv_real)(a.s23, b.s23, a.s67, b.s67);              \
        a = lo_, b = hi_;                                                                                              \
    } while (0)
#define GV_SWAP1(a, b)                                                                                                 \
    do {                                                                                                               \
        gv_real lo_ = (gv_real)(a.s0, b.s0, a.s2, b.s2, a.s4, b.s4, a.s6, b.s6);                                       \
        gv_real hi_ = (gv_real)(a.s1, b.s1, a.s3, b.s3, a.s5, b.s5, a.s7, b.s7);                                       \
        a = lo_, b = hi_;                                                                                              \
    } while (0)
#elif GV_LANES == 16
#define GV_SWAP4(a, b)                                                                                                 \
    do {                                                                                                               \
        gv_real lo_ = (gv_real)(a.s0123, b.s0123, a.s89ab, b.s89ab),                                                   \
                hi_ = (gv_real)(a.s4567, b.s4567, a.scdef, b.scdef);                                                   \
        a = lo_, b = hi_;                                                                                              \
    } while (0)
#define GV_SWAP2(a, b)                                                                                                 \
    do {                                                                                                               \
        gv_real lo_ = (gv_real)(a.s01, b.s01, a.s45, b.s45, a.s89, b.s89, a.scd, b.scd);                               \
        gv_real hi_ = (gv_real)(a.s23, b.s23, a.s67, b.s67, a.sab, b.sab, a.sef, b.sef);                               \
        a = lo_, b = hi_;                                                                                              \
    } while (0)
#define GV_SWAP1(a, b)                                                                                                 \
    do {                                                                                                               \
        gv_real lo_ =                                                                                                  \
            (gv_real)(a.s0, b.s0, a.s2, b.s2, a.s4, b.s4, a.s6, b.s6, a.s8, b.s8, a.sa, b.sa, a.sc, b.sc, a.se, b.se); \
        gv_real hi_ =                                                                                                  \
            (gv_real)(a.s1, b.s1, a.s3, b.s3, a.s5, b.s5, a.s7, b.s7, a.s9, b.s9, a.sb, b.sb, a.sd, b.sd, a.sf, b.sf); \
        a = lo_, b = hi_;                                                                                              \
    } while (0)
#endif

/* field[j] lane k = at[record * which[k] + j], j = 0 ... 7: one record of eight scalars per lane.  Records are
 * `record` vectors of four apart. */
static inline void gv_load_records(global const gv_scalar4 *at, uint record, const uint *which, gv_real *field)
{
#if GV_LANES == 16 || GV_LANES == 8
    gv_real r[8];
    for (int k = 0; k < 8; k++) {
        global const gv_scalar4 *a = at + (size_t)record * which[k];
#if GV_LANES == 16
        global const gv_scalar4 *b = at + (size_t)record * which[k + 8];
        r[k] = (gv_real)(a[0], a[1], b[0], b[1]);
#else
        r[k] = (gv_real)(a[0], a[1]);
#endif
    }
    for (int k = 0; k < 4; k++)
        GV_SWAP4(r[k], r[k + 4]);
    for (int k = 0; k < 8; k += 4) {
        GV_SWAP2(r[k], r[k + 2]);
        GV_SWAP2(r[k + 1], r[k + 3]);
    }
    for (int k = 0; k < 8; k += 2)
        GV_SWAP1(r[k], r[k + 1]);
    for (int k = 0; k < 8; k++)
        field[k] = r[k];
#else
    gv_scalar column[8][GV_LANES];
    for (int k = 0; k < GV_LANES; k++) {
        gv_scalar4 a = at[(size_t)record * which[k]], b = at[(size_t)record * which[k] + 1];
        column[0][k] = a.x, column[1][k] = a.y, column[2][k] = a.z, column[3][k] = a.w;
        column[4][k] = b.x, column[5][k] = b.y, column[6][k] = b.z, column[7][k] = b.w;
    }
    for (int j = 0; j < 8; j++)
        field[j] = gv_load(column[j]);
#endif
}
