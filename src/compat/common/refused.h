/* Sources that were refused (NaN, infinity).  Callers do not look at what setting one returned, so forces that it would
 * take part in fail until it is set again. */
#ifndef GV_COMPAT_REFUSED_H
#define GV_COMPAT_REFUSED_H

#include <stddef.h>
#include <stdint.h>

typedef struct gv_refused {
    uint32_t *address;
    size_t count, room;
} gv_refused;

/* Notes whether the source at this address was refused. */
void gv_refused_note(gv_refused *refused, uint32_t address, int is_refused);
/* -1, with a line in the log, if one of the sources 0 ... sources - 1 was. */
int gv_refused_check(const gv_refused *refused, const char *function, size_t sources);
void gv_refused_forget(gv_refused *refused);

#endif
