/* One context for all cases of a test, as setup and teardown of its group. */
#ifndef GV_ONE_CONTEXT_H
#define GV_ONE_CONTEXT_H

#include "host_test.h"

static gravel_context *context;

static inline int open_context(void **state)
{
    (void)state;
    if (gravel_context_create(&context, NULL) != GRAVEL_OK)
        return -1;
    context->for_once = 1;
    return 0;
}

static inline int close_context(void **state)
{
    (void)state;
    gravel_context_release(context);
    return 0;
}

#endif
