/* Programs below context.h: text from files, builds, the context's table. */
#ifndef GV_PROGRAM_H
#define GV_PROGRAM_H

#include "host/base/digest.h"
#include "host/device/context.h"

/* The program of kernels/<file> built for one device with these options ("-DGV_ORDER=4 ...", beside the
 * device's own feature macros): from the context's table, else the cache directory, else compiled.  The program belongs
 * to the context.  A compile failure is ERR_BUILD with log and options in the message. */
gravel_status gv_program_get(gravel_context *context, int device, const char *file, const char *options,
                             cl_program *program);
/* Identity of the kernels' text (all files a program uses): 16 hex digits, for profiles. */
gravel_status gv_program_version(gravel_context *context, const char *file, char digest[17]);

/* source.c.  kernels/<file> with its includes, each file once, and #line marks; from the folder, or the embedded files
 * where it is NULL or "".  malloc'd. */
gravel_status gv_source_flatten(const char *kernel_dir, const char *file, char **text);

/* Builds text for one device.  `log` gets the compiler's log (malloc'd, may be NULL); the thread's error message is not
 * touched, so that a failing trial stays a trial. */
cl_int gv_program_compile(gravel_context *context, int device, const char *text, const char *options,
                          cl_program *program, char **log);
void gv_program_table_release(gravel_context *context);

/* context.c: a context without devices, by the options (NULL: the defaults). */
gravel_status gv_context_begin(gravel_context **context, const gravel_context_options *options);

/* features.c: fills the feature members of the context's device, from the cache directory or by trying. */
gravel_status gv_device_find_features(gravel_context *context, int device);
/* A queue with events for trials and measuring, where an adopted one has none, and the end of it. */
gravel_status gv_device_lend_timer(gravel_context *context, int device);
void gv_device_return_timer(gravel_context *context, int device);

#endif
