/* Shared by the tests of drop-in libraries: two parts of a CPU as two devices. */
#ifndef GV_TWO_DEVICES_H
#define GV_TWO_DEVICES_H

#include "problem.h"

/* Both of them in every call. */
static inline int two_devices(void **state)
{
    (void)state;
    return setenv("GRAVEL_COMPAT_DEVICES", "cpu:1,cpu:1", 1) || setenv("GRAVEL_COMPAT_ALL_DEVICES", "yes", 1);
}

static inline int one_device_again(void **state)
{
    (void)state;
    return unsetenv("GRAVEL_COMPAT_DEVICES") || unsetenv("GRAVEL_COMPAT_ALL_DEVICES");
}

static inline int has_two_parts(void)
{
    gravel_device_info *list;
    int count, parts = 0;
    if (gravel_device_list(&list, &count) != GRAVEL_OK)
        return 0;
    for (int k = 0; k < count; k++)
        parts |= list[k].type == GRAVEL_DEVICE_CPU && list[k].compute_units >= 2;
    gravel_device_list_free(list);
    return parts;
}

#endif
