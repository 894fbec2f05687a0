/* Devices: the list of them, the selection, and what each can do. */
#ifndef GV_DEVICE_H
#define GV_DEVICE_H

#include "host/base/digest.h"
#include "host/device/context.h"

typedef struct gv_found {
    cl_platform_id platform;
    cl_device_id id;
    gravel_device_info info;
} gv_found;

/* All usable devices of all platforms, in the order of gravel_device_list; free() the list. */
gravel_status gv_device_find(gv_found **list, int *count);
gravel_status gv_device_describe(cl_device_id id, const char *platform, gravel_device_info *info);
const char *gv_device_type_name(gravel_device_type type); /* "gpu" */
/* "no double here": what options.no_fp64 means */
void gv_device_hide_fp64(gravel_device_info *info);
/* `wanted` work-items, or half of that and so on until the device takes them in one work-group */
size_t gv_device_group(const gravel_device_info *info, size_t wanted);

enum { GV_MAX_CHOICES = 64 };

typedef struct gv_choice {
    int index;         /* into the list */
    int compute_units; /* of the sub-device; 0: the whole device */
} gv_choice;

/* The selection language of gravel_context_options.device on the list of gravel_device_list; NULL: the best device.
 * A failure lists what is there. */
gravel_status gv_device_select(const char *selection, const gravel_device_info *list, int count,
                               gv_choice choice[GV_MAX_CHOICES], int *n_choices);
/* The same, of all platforms; and "all". */
gravel_status gv_device_select_any(const char *selection, const gravel_device_info *list, int count,
                                   gv_choice choice[GV_MAX_CHOICES], int *n_choices);

/* What the compiler aims at beside the device's name: instruction sets of the processor, variables of the environment.
 * Comes first, into device->target. */
void gv_device_find_target(gv_device *device);
/* All that a binary of this device depends on beside source and options: names, driver, versions, target. */
void gv_device_hash(const gv_device *device, gv_hasher *hasher);

#endif
