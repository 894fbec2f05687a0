/* How much memory there is: asked before much of it is taken, as systems promise more than they have. */
#ifndef GV_MEMORY_H
#define GV_MEMORY_H

#include "host/base/status.h"

/* Bytes that programs may still take, as the system says; else all that it has; 0: unknown. */
double gv_memory_free(void);
/* ERR_MEMORY where `count` pieces of `each` bytes do not fit, with how many would.  `what`: "bodies". */
gravel_status gv_memory_holds(double count, double each, const char *what);

#endif
