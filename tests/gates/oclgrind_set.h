/* Shared by the drivers that run on Oclgrind: N bodies on the device, and the verdict that oclgrindlib.py reads. */
#ifndef GV_OCLGRIND_SET_H
#define GV_OCLGRIND_SET_H

#include <stdio.h>

#include "gravel/bodies.h"

static inline gravel_status open_set(gravel_context **context, gravel_bodies **bodies, size_t n, const double *m,
                                     const double *x, const double *y, const double *z)
{
    gravel_bodies_options kept = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_status status = gravel_context_create(context, NULL);
    if (!status)
        printf("device: %s\n", gravel_context_get_device(*context, 0)->name);
    if (!status)
        status = gravel_bodies_create(bodies, *context, &kept);
    if (!status)
        status = gravel_bodies_write(*bodies, GRAVEL_POSITION, 0, n, &GRAVEL_ARRAY_SOA(x, y, z));
    return status ? status : gravel_bodies_write(*bodies, GRAVEL_MASS, 0, n, &GRAVEL_ARRAY(m));
}

/* The exit status. */
static inline int close_set(gravel_context *context, gravel_bodies *bodies, gravel_status status, int failed)
{
    if (status)
        printf("%s: %s\n", gravel_status_name(status), gravel_error_message());
    printf("%d cases failed\n", failed + (status != GRAVEL_OK));
    gravel_bodies_release(bodies);
    gravel_context_release(context);
    return failed || status;
}

#endif
