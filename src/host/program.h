/* Programs below context.h: text from files, builds, the context's table. */
#ifndef GV_PROGRAM_H
#define GV_PROGRAM_H

#include "host/context.h"
#include "host/digest.h"

/* source.c.  kernels/<file> with its includes, each file once, and #line marks; from the folder, or the embedded files
 * where it is NULL or "".  malloc'd. */
gravel_status gv_source_flatten(const char *kernel_dir, const char *file, char **text);

/* Builds text for one device.  `log` gets the compiler's log (malloc'd, may be NULL); the thread's error message is not
 * touched, so that a failing trial stays a trial. */
cl_int gv_program_compile(gravel_context *context, int device, const char *text, const char *options,
                          cl_program *program, char **log);
void gv_program_table_release(gravel_context *context);

#endif
