/* Keeps a device busy for a while, so that commands queue up behind: a chain of `turns` dependent operations. */
#include "lib/real.h"

__attribute__((reqd_work_group_size(1, 1, 1))) kernel void gv_hold(global gv_scalar *out, uint turns, gv_scalar c)
{
    for (uint turn = 0; turn < turns; turn++)
        c = c * GV_R(0.75) + GV_R(0.5); /* tends to 2 */
    if (c > GV_R(3.0))                  /* never true; keeps the compiler from removing the loop */
        out[0] = c;
}
