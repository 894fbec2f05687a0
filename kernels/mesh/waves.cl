/* Ewald's sum over waves, from the bodies themselves: no mesh.  In units of the box, k = 2 pi h, |h| <= H:
 *   S(h) = sum m exp(-i k.x)         c = 4 pi exp(-k^2 r_s^2) / k^2,  c(0) = -4 pi r_s^2
 *   pot  = -sum c(h) Re(S exp(i k.x))      acc = -sum k c(h) Im(S exp(i k.x))
 *
 *   gv_waves_sum    S of one part of the bodies: a work-item a row of waves (hy, hz) and a part
 *   gv_waves_join   parts added in order, times c
 *   gv_waves_field  a work-item a sink
 *
 * Waves come in rows hx = 0 ... H, of all (hy, hz) from -H to H; those of hx > 0 count twice, for -h.
 * Places are {offsets in the cell, mass} and cells of a grid of n (a power of 2) a side, as gv_mesh_places gives them:
 * so a phase loses no digit, whatever h is.
 *
 *   GV_WAVES  H
 */
#include "lib/real.h"
#include "mesh/layout.h"

#define GV_ROW (GV_WAVES + 1)
#define GV_ACROSS (2 * GV_WAVES + 1)
#define GV_ROWS (GV_ACROSS * GV_ACROSS)
#define GV_TWO_PI GV_R(6.2831853071795865)

typedef GV_PASTE(GV_SCALAR, 2) gv_scalar2;

static inline gv_scalar2 gv_times(gv_scalar2 a, gv_scalar2 b)
{
    return (gv_scalar2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

/* exp(2 pi i (whole + part) / n) */
static inline gv_scalar2 gv_turn(int whole, gv_scalar part, uint n)
{
    gv_scalar phase = GV_TWO_PI / n * ((gv_scalar)(whole & (int)(n - 1)) + part);
    return (gv_scalar2)(cos(phase), sin(phase));
}

/* part p of the bodies: share * p ... ; out[wave + GV_ROWS GV_ROW p] */
kernel void gv_waves_sum(global const uint *cell, global const gv_scalar4 *place, uint count, uint share, uint n,
                         global gv_scalar2 *out)
{
    uint row = get_global_id(0), part = get_global_id(1);
    if (row >= GV_ROWS)
        return;
    int hy = (int)(row % GV_ACROSS) - GV_WAVES, hz = (int)(row / GV_ACROSS) - GV_WAVES;
    gv_scalar2 sum[GV_ROW];
#pragma unroll
    for (int h = 0; h < GV_ROW; h++)
        sum[h] = (gv_scalar2)(0);
    uint end = min(part * share + share, count);
    if (hy * hy + hz * hz <= GV_WAVES * GV_WAVES)
        for (uint k = part * share; k < end; k++) {
            gv_scalar4 p = place[k];
            int x = (int)(cell[k] % n), y = (int)(cell[k] / n % n), z = (int)(cell[k] / n / n);
            gv_scalar2 step = gv_turn(-x, -p.x, n);
            gv_scalar2 wave = p.w * gv_turn(-(y * hy + z * hz), -(p.y * hy + p.z * hz), n);
#pragma unroll
            for (int h = 0; h < GV_ROW; h++) {
                sum[h] += wave;
                wave = gv_times(wave, step);
            }
        }
#pragma unroll
    for (int h = 0; h < GV_ROW; h++)
        out[(part * (size_t)GV_ROWS + row) * GV_ROW + h] = sum[h];
}

/* split2: r_s^2 in units of the box */
kernel void gv_waves_join(global const gv_scalar2 *in, uint parts, gv_scalar split2, global gv_scalar2 *out)
{
    uint at = get_global_id(0);
    if (at >= GV_ROWS * GV_ROW)
        return;
    int hx = (int)(at % GV_ROW), hy = (int)(at / GV_ROW % GV_ACROSS) - GV_WAVES;
    int hz = (int)(at / GV_ROW / GV_ACROSS) - GV_WAVES, h2 = hx * hx + hy * hy + hz * hz;
    gv_scalar2 sum = (gv_scalar2)(0);
    for (uint part = 0; part < parts; part++)
        sum += in[part * (size_t)(GV_ROWS * GV_ROW) + at];
    gv_scalar k2 = GV_TWO_PI * GV_TWO_PI * h2;
    gv_scalar c = h2 == 0 ? -2 * GV_TWO_PI * split2 : 2 * GV_TWO_PI * exp(-k2 * split2) / k2;
    out[at] = sum * (h2 > GV_WAVES * GV_WAVES ? 0 : hx > 0 ? 2 * c : c);
}

/* result[k] of sink k, in units of the box / n: {acc, pot}.  own: added to the potential for each unit of its mass */
kernel void gv_waves_field(global const uint *cell, global const gv_scalar4 *place, uint count, uint n,
                           global const gv_scalar2 *wave, gv_scalar own, global gv_scalar4 *result)
{
    uint k = get_global_id(0);
    if (k >= count)
        return;
    gv_scalar4 p = place[k], sum = (gv_scalar4)(0);
    int x = (int)(cell[k] % n), y = (int)(cell[k] / n % n), z = (int)(cell[k] / n / n);
    gv_scalar2 step = gv_turn(x, p.x, n);
    for (int hz = -GV_WAVES; hz <= GV_WAVES; hz++)
        for (int hy = -GV_WAVES; hy <= GV_WAVES; hy++) {
            if (hy * hy + hz * hz > GV_WAVES * GV_WAVES)
                continue;
            global const gv_scalar2 *row = wave + GV_ROW * (hy + GV_WAVES + GV_ACROSS * (hz + GV_WAVES));
            gv_scalar2 turn = gv_turn(y * hy + z * hz, p.y * hy + p.z * hz, n), line = (gv_scalar2)(0);
            gv_scalar slope = 0;
            for (int h = 0; h < GV_ROW; h++) {
                gv_scalar2 term = gv_times(row[h], turn);
                line += term;
                slope += h * term.y;
                turn = gv_times(turn, step);
            }
            sum.x += slope;
            sum.y += hy * line.y;
            sum.z += hz * line.y;
            sum.w += line.x;
        }
    gv_scalar per = GV_R(1.0) / n;
    sum.xyz *= -GV_TWO_PI * per * per;
    sum.w = own * p.w - per * sum.w;
    result[k] = sum;
}
