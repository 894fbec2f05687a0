/* Option structs that grow.  Each begins with its own size, as the caller compiled it: a newer library takes an older
 * caller's members and the defaults of the rest. */
#ifndef GV_OPTIONS_H
#define GV_OPTIONS_H

#include "host/base/status.h"

/* `to` holds the defaults; of `from` (may be NULL: all defaults) its first `size` bytes are taken. */
gravel_status gv_options_take(void *to, size_t to_size, const void *from, const char *name);

#endif
