#ifndef GV_CHECK_SORT_H
#define GV_CHECK_SORT_H

#include "gravel/gravel.h"

/* `why` gets what is wrong, "" if nothing is; the status is about the host. */
gravel_status gv_check_sort(gravel_context *context, size_t n, char *why, size_t size);

#endif
