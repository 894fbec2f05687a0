/* Interaction shape: the short range of a force that a mesh completes, with u = s / (2 r_s)
 *   g_0 = erfc(u) / s      -g_1 = (erfc(u) + 2 / sqrt(pi) u exp(-u^2)) / s^3 */

static inline void gv_shape_pair(gv_real s2, const gv_cutoff cut, gv_real *g0, gv_real *minus_g1)
{
    gv_real y = gv_rsqrt(s2);
    gv_real u = s2 * y * cut.per_length, u2 = u * u;
    gv_mask inside = u2 < (gv_real)(cut.most2);
    gv_real pot = erfc(u) * y;
    gv_real acc = gv_fma((gv_real)GV_R(1.1283791670955126) * cut.per_length, exp(-u2), pot) * (y * y);
    *g0 = gv_select(inside, pot, (gv_real)(0));
    *minus_g1 = gv_select(inside, acc, (gv_real)(0));
}
