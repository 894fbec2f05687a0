/* Failures inside the library: a status, and the thread's sentence that says why. */
#ifndef GV_STATUS_H
#define GV_STATUS_H

#include "gravel/gravel.h"

#include "host/base/cl.h"

#if defined(__GNUC__)
#define GV_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define GV_PRINTF(a, b)
#endif

/* Stores the message for gravel_error_message() and returns `status`: return gv_fail(...). */
gravel_status gv_fail(gravel_status status, const char *format, ...) GV_PRINTF(2, 3);
/* The same for a failed OpenCL call: maps the code to a status and names it.  `what` says what was tried. */
gravel_status gv_fail_cl(cl_int code, const char *what, ...) GV_PRINTF(2, 3);
const char *gv_cl_error_name(cl_int code); /* "CL_OUT_OF_RESOURCES" */

#endif
