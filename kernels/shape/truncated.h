/* Interaction shape: the short range of a force that a mesh completes, up to a distance (shape/short_form.h). */

static inline void gv_shape_pair(gv_real s2, const gv_cutoff cut, gv_real *g0, gv_real *minus_g1)
{
    gv_mask inside = s2 * (cut.per_length * cut.per_length) < (gv_real)(cut.most2);
    gv_real pot, acc;
    gv_short_newton(s2, cut.per_length, &pot, &acc);
    *g0 = gv_select(inside, pot, (gv_real)(0));
    *minus_g1 = gv_select(inside, acc, (gv_real)(0));
}
