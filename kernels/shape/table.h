/* Interaction shape: force and potential from a table of records, one an interval (shape/layout.h); u = s per_length
 *
 *   factors   g_0 = P(u) / s                -g_1 = F(u) / s^3
 *   forces    g_0 = P(u) per_length         -g_1 = F(u) per_length^3
 *
 * F and P are polynomials of t, which runs from -1/2 to 1/2 in an interval.
 *
 * GV_TABLE_OF     what it holds: GV_TABLE_OF_...
 * GV_TABLE_LEVEL  degree of the polynomials: 0 ... 4
 * GV_TABLE_BITS   0: intervals of one length in u.  b: 2^b intervals in every octave of u^2, which ends at 1; the
 *                 interval and t are bits of the number u^2.
 */

#if !defined(GV_TABLE_OF) || !defined(GV_TABLE_LEVEL) || !defined(GV_TABLE_BITS)
#error "a table needs GV_TABLE_OF, GV_TABLE_LEVEL (0 ... 4) and GV_TABLE_BITS"
#endif
#define GV_TABLE_RECORD GV_TABLE_QUADS(GV_TABLE_LEVEL)

#if GV_TABLE_BITS > 0
#if GV_PRECISION == GV_DP
#define GV_TABLE_MANTISSA 52
#define GV_TABLE_ONE 0x3ff0000000000000L
#define GV_TABLE_ULP 1L
#else
#define GV_TABLE_MANTISSA 23
#define GV_TABLE_ONE 0x3f800000
#define GV_TABLE_ULP 1
#endif
/* The interval of u^2 and t in it. */
static inline gv_int gv_table_find(gv_real u2, const gv_cutoff cut, gv_real *t)
{
    const int shift = GV_TABLE_MANTISSA - GV_TABLE_BITS;
    const gv_bits lowest = (gv_bits)(GV_TABLE_ONE - (GV_TABLE_OCTAVES * GV_TABLE_ULP << GV_TABLE_MANTISSA));
    const gv_bits highest = (gv_bits)(GV_TABLE_ONE - 1);
    const gv_bits bits = min(max(GV_AS_BITS(u2), lowest), highest);
    const gv_bits rest = bits & (gv_bits)((GV_TABLE_ULP << shift) - 1);
    const gv_real within = GV_AS_REAL(rest | (gv_bits)(GV_TABLE_ONE)) - GV_R(1.0);
    *t = gv_fma(within, (gv_real)((gv_scalar)(1 << GV_TABLE_BITS)), (gv_real)GV_R(-0.5));
    (void)cut;
    return GV_PASTE(convert_, GV_LANED(int))((bits - lowest) >> shift);
}
#else
static inline gv_int gv_table_find(gv_real u2, const gv_cutoff cut, gv_real *t)
{
    const gv_real u = u2 * gv_rsqrt(fmax(u2, (gv_real)GV_R(1e-30)));
    const gv_real place = u * cut.per_interval;
    const gv_int k =
        min(GV_PASTE(convert_, GV_LANED(int))(fmin(place, (gv_real)((gv_scalar)cut.last))), (gv_int)(cut.last));
    *t = place - GV_PASTE(convert_, GV_LANED(GV_SCALAR))(k) - GV_R(0.5);
    return k;
}
#endif

/* The records of all lanes: word[c] holds number c of each. */
static inline void gv_table_read(const gv_cutoff cut, gv_int k, gv_real *word)
{
#if GV_LANES == 1
#pragma unroll
    for (int q = 0; q < GV_TABLE_RECORD; q++) {
        const gv_scalar4 quad = cut.records[k * GV_TABLE_RECORD + q];
        word[4 * q] = quad.x, word[4 * q + 1] = quad.y, word[4 * q + 2] = quad.z, word[4 * q + 3] = quad.w;
    }
#else
    uint which[GV_LANES];
    GV_PASTE(vstore, GV_LANES)(GV_PASTE(convert_uint, GV_LANES)(k), 0, which);
#if GV_TABLE_RECORD == 2
    gv_load_records(cut.records, GV_TABLE_RECORD, which, word);
#else
    gv_scalar column[4 * GV_TABLE_RECORD][GV_LANES];
    for (int lane = 0; lane < GV_LANES; lane++)
        for (int q = 0; q < GV_TABLE_RECORD; q++) {
            const gv_scalar4 quad = cut.records[which[lane] * GV_TABLE_RECORD + q];
            column[4 * q][lane] = quad.x, column[4 * q + 1][lane] = quad.y;
            column[4 * q + 2][lane] = quad.z, column[4 * q + 3][lane] = quad.w;
        }
    for (int c = 0; c < 4 * GV_TABLE_RECORD; c++)
        word[c] = gv_load(column[c]);
#endif
#endif
}

static inline void gv_shape_pair(gv_real s2, const gv_cutoff cut, gv_real *g0, gv_real *minus_g1)
{
    const gv_real u2 = s2 * (cut.per_length * cut.per_length);
    const gv_mask inside = u2 < (gv_real)(cut.most2);
    gv_real word[4 * GV_TABLE_RECORD], t;
    gv_table_read(cut, gv_table_find(u2, cut, &t), word);
    gv_real acc = word[GV_TABLE_LEVEL], pot = word[2 * GV_TABLE_LEVEL + 1];
#pragma unroll
    for (int k = GV_TABLE_LEVEL - 1; k >= 0; k--) {
        acc = gv_fma(acc, t, word[k]);
        pot = gv_fma(pot, t, word[GV_TABLE_LEVEL + 1 + k]);
    }
#if GV_TABLE_OF == GV_TABLE_OF_FACTORS
    const gv_real y = gv_rsqrt(s2);
    pot *= y;
    acc *= y * (y * y);
#else
    pot *= cut.per_length;
    acc *= cut.per_length * cut.per_length * cut.per_length;
#endif
    *g0 = gv_select(inside, pot, (gv_real)(0));
    *minus_g1 = gv_select(inside, acc, (gv_real)(0));
}
