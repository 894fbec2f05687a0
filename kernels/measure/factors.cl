/* The factors of the short range at u = s / (2 r_s), as pairs compute them, for their errors (tests, doc/tasks.md).
 *
 *   GV_FORM, GV_LEVEL, GV_NODES  shape/short_form.h
 */
#include "lib/real.h"
#include "lib/rsqrt.h"

#include "shape/short_form.h"

kernel void gv_short_factors(global const gv_scalar *u, uint n,
#if GV_FORM == GV_FORM_TABLE
                             global const gv_node *table,
#endif
                             global gv_scalar *force, global gv_scalar *potential)
{
    const uint k = get_global_id(0);
    const gv_scalar s = u[min(k, n - 1)];
    gv_scalar g0, minus_g1;
#if GV_FORM == GV_FORM_TABLE
    local gv_node nodes[GV_NODES];
    for (uint j = get_local_id(0); j < GV_NODES; j += get_local_size(0))
        nodes[j] = table[j];
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    gv_short_newton(s * s, 1 GV_SHORT_NODES_PASS, &g0, &minus_g1);
    if (k < n) {
        force[k] = minus_g1 * (s * s * s);
        potential[k] = g0 * s;
    }
}
