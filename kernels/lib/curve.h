/* Space-filling curves: 21 bits of each coordinate interleaved to 63, so that octal digits of the key are cells.
 *
 *   GV_CURVE   1 Hilbert: neighbours along the key are neighbours in space, so that runs of bodies have tight boxes;
 *              0 Morton: cheaper, the same cells
 *
 * Needs lib/real.h; keys of GV_LANES points at a time.  The Hilbert index is found with Skilling's transform (AIP Conf.
 * Proc. 707, 381, 2004) without branches.
 */
#ifndef GV_CURVE
#error "GV_CURVE must be 0 (Morton) or 1 (Hilbert)"
#endif

#if GV_LANES == 1
typedef ulong gv_code;
#define gv_to_code(u) ((ulong)(u))
#define gv_to_uint(x) convert_uint_rtz(x)
#else
typedef GV_PASTE(ulong, GV_LANES) gv_code;
#define gv_to_code(u) GV_PASTE(convert_ulong, GV_LANES)(u)
#define gv_to_uint(x) GV_PASTE(GV_PASTE(convert_uint, GV_LANES), _rtz)(x)
#endif

/* bit k to bit 3 k, for 21 bits */
static inline gv_code gv_spread(gv_uint v)
{
    gv_code c = gv_to_code(v);
    c = (c | (c << 32)) & (gv_code)(0x1f00000000fffful);
    c = (c | (c << 16)) & (gv_code)(0x1f0000ff0000fful);
    c = (c | (c << 8)) & (gv_code)(0x100f00f00f00f00ful);
    c = (c | (c << 4)) & (gv_code)(0x10c30c30c30c30c3ul);
    c = (c | (c << 2)) & (gv_code)(0x1249249249249249ul);
    return c;
}

static inline gv_code gv_curve_key(gv_uint x, gv_uint y, gv_uint z)
{
#if GV_CURVE == 1
    for (uint bit = 20; bit > 0; bit--) {
        gv_uint low = (gv_uint)((1u << bit) - 1);
        gv_uint set, swap;
        /* where the bit is set the low bits of x are inverted, else those of x and the coordinate are exchanged */
        set = (gv_uint)(0) - ((x >> (gv_uint)(bit)) & (gv_uint)(1));
        x ^= set & low;
        set = (gv_uint)(0) - ((y >> (gv_uint)(bit)) & (gv_uint)(1));
        swap = (x ^ y) & low & ~set;
        x ^= swap | (set & low);
        y ^= swap;
        set = (gv_uint)(0) - ((z >> (gv_uint)(bit)) & (gv_uint)(1));
        swap = (x ^ z) & low & ~set;
        x ^= swap | (set & low);
        z ^= swap;
    }
    y ^= x;
    z ^= y;
    /* a prefix parity of z, excluding the bit itself */
    gv_uint t = z >> (gv_uint)(1);
    t ^= t >> (gv_uint)(1);
    t ^= t >> (gv_uint)(2);
    t ^= t >> (gv_uint)(4);
    t ^= t >> (gv_uint)(8);
    t ^= t >> (gv_uint)(16);
    x ^= t;
    y ^= t;
    z ^= t;
#endif
    return (gv_spread(x) << (gv_code)(2)) | (gv_spread(y) << (gv_code)(1)) | gv_spread(z);
}

/* x in cells of a lattice from `lo`; per_cell is 2^21 - 0.5 over the longest side, so that its far end is inside */
static inline gv_uint gv_lattice(gv_real x, gv_scalar lo, gv_scalar per_cell)
{
    gv_real at = (x - lo) * per_cell;
    return gv_to_uint(fmin(fmax(at, (gv_real)(0)), (gv_real)GV_R(2097151.0)));
}
