#include "cpu_ref/ceilings.h"

gv_ceiling gv_error_ceiling(int precision, int quantity)
{
    static const gv_ceiling table[3][GV_CEILINGS] = {
        {{5e-7, 2e-4}, {3e-8, 1e-6}, {4e-6, 3e-4}, {6e-6, 4e-4}},
        {{1e-7, 2e-6}, {2e-8, 2e-7}, {5e-7, 1e-5}, {1e-6, 2e-5}},
        {{1e-14, 1e-13}, {1e-14, 1e-13}, {1e-13, 1e-12}, {1e-12, 1e-11}},
    };
    return table[precision][quantity];
}
