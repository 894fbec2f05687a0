/* Bodies as the tasks compute with them, and results into planes.
 *
 *   GV_FROM  precision of the planes (lib/from.h), where it is not that of the tasks */
#include "lib/real.h"
#include "lib/pair.h"
#include "lib/from.h"

#include "tasks/layout.h"

kernel void gv_tasks_place(global const gv_plane4 *at, global const gv_plane4 *at_low, uint n, global gv_scalar4 *pos,
                           global gv_scalar4 *low)
{
    uint k = get_global_id(0);
    if (k >= n)
        return;
    const gv_exact4 none = (gv_exact4)(0);
    gv_vector v = gv_place(at[k], at_low ? at_low[k] : (gv_plane4)(0), 1, none, none);
    pos[k] = v.hi;
    if (low)
        low[k] = v.lo;
}

/* Work-item k takes body k % most of unit k / most.  unit: {first sink, sinks, -, place of its result} */
kernel void gv_tasks_store(global const gv_scalar4 *result, global const uint4 *unit, uint units, uint most, int add,
                           int potential, gv_exact acc_factor, gv_exact pot_factor, global gv_plane4 *acc,
                           global gv_plane *pot)
{
    uint k = get_global_id(0);
    if (k / most >= units || k % most >= unit[k / most].y)
        return;
    uint b = unit[k / most].x + k % most, from = unit[k / most].w + k % most;
    const uint vectors = GV_TASKS_VECTORS(GV_PRECISION == GV_DS);
    gv_exact4 f = gv_to_exact4(result[vectors * (size_t)from]);
#if GV_PRECISION == GV_DS
    f += gv_to_exact4(result[vectors * (size_t)from + 1]);
#endif
    gv_plane4 a = gv_to_plane4(f * acc_factor);
    acc[b] = (gv_plane4)(add ? a.xyz + acc[b].xyz : a.xyz, 0);
    if (potential)
        pot[b] = gv_to_plane(f.w * pot_factor) + (add ? pot[b] : 0);
}
