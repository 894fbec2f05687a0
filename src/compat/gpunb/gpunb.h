/* The inside of libgravel_gpunb: one state for the process. */
#ifndef GV_GPUNB_H
#define GV_GPUNB_H

#include <pthread.h>

#include "compat/common/compat.h"

/* Calls since the last gpunb_profile_ */
typedef struct gv_gpunb_profile {
    unsigned long sends, calls, sinks;
    double pairs, send_s, force_s;
} gv_gpunb_profile;

typedef struct gv_gpunb {
    pthread_mutex_t lock;
    int is_set; /* the settings were read */
    gv_compat_settings settings;
    gravel_several *several;  /* of the regular force; NULL: no device yet */
    gravel_several *accurate; /* of the potential; likewise */
    int is_open, is_refused;  /* the last bodies */
    size_t bodies;            /* of the last send */
    double *radius;           /* of sinks */
    uint32_t *number;         /* their lists: first the counts, then the entries */
    size_t radius_room, number_room;
    gv_gpunb_profile profile;
} gv_gpunb;
extern gv_gpunb gv_gpunb_one;

/* Under the lock.  The settings are there; they are read anew until a device is open. */
void gv_gpunb_need_settings(void);

#endif
