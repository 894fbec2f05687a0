/* A GPU that is not here, as the library would see it: what the lists of programs for compilers are made for. */
#ifndef GV_GATES_TARGET_H
#define GV_GATES_TARGET_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/profile/space.h"

/* From the arguments COMPUTE_UNITS MAX_GROUP LOCAL_MEMORY; 0: they are not there. */
static inline int gv_target(int argc, char **argv, gv_limits *limits)
{
    if (argc != 4) {
        fprintf(stderr, "usage: %s COMPUTE_UNITS MAX_GROUP LOCAL_MEMORY\n", argv[0]);
        return 0;
    }
    memset(limits, 0, sizeof *limits);
    limits->info.type = GRAVEL_DEVICE_GPU;
    limits->info.compute_units = atoi(argv[1]);
    limits->info.max_group = atoi(argv[2]);
    limits->info.local_memory = (uint64_t)atoll(argv[3]);
    limits->info.has_fp64 = 1;
    limits->info.simd_width_float = 1;
    limits->info.simd_width_double = 1;
    limits->info.global_memory = (uint64_t)16 << 30;
    limits->info.max_allocation = (uint64_t)4 << 30;
    limits->fast_fma = 1;
    return 1;
}

#endif
