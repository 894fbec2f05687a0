#include "host/base/options.h"

#include <string.h>

gravel_status gv_options_take(void *to, size_t to_size, const void *from, const char *name)
{
    uint32_t size;
    const uint32_t ours = (uint32_t)to_size;

    if (!from)
        return GRAVEL_OK;
    memcpy(&size, from, sizeof size);
    if (size < sizeof size || size > 4096)
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "%s: its size is %u: initialise it with its INIT macro or its init function", name, size);
    for (size_t k = to_size; k < size; k++)
        if (((const unsigned char *)from)[k] != 0)
            return gv_fail(GRAVEL_ERR_ARGUMENT, "%s is of a newer version than this library and sets what it lacks",
                           name);
    memcpy(to, from, size < ours ? size : ours);
    memcpy(to, &ours, sizeof ours);
    return GRAVEL_OK;
}
