/* A context: devices of one platform, one in-order queue each, the programs built so far, where files live. */
#ifndef GV_CONTEXT_H
#define GV_CONTEXT_H

#include "host/cl.h"
#include "host/status.h"

typedef struct gv_device {
    cl_device_id id;        /* a sub-device is owned (released with the context) */
    cl_command_queue queue; /* in order, profiling on */
    cl_command_queue quick; /* in order, no profiling: short calls are faster */
    gravel_device_info info;
    int is_sub_device;
    /* features, as neutral facts that become macros of the kernels */
    int fast_fma;          /* float fma is one instruction */
    int has_ptx_asm;       /* inline PTX is accepted (tried by compiling) */
    int has_rsqrt14;       /* the compiler's 14-bit estimate builtin is there (tried by compiling), 16 lanes */
    int has_rsqrt12;       /* the 12-bit estimate, 8 lanes */
    int driver_caches;     /* the driver keeps what it compiled on disk itself */
    char feature_options[512]; /* "-DGV_..." for every program of this device */
    cl_uint hold_turns;        /* row.c: how long the last row had to be held back; 0: none yet */
} gv_device;

struct gv_program_table; /* program.c */
struct gv_profile_table; /* profile.c: made at the first look-up, freed by gv_profile_release */

struct gravel_context {
    cl_platform_id platform;
    cl_context cl;
    int n_devices;
    gv_device *device;
    char *kernel_dir, *cache_dir, *profile_dir; /* NULL or "": none */
    gravel_log_fn log;
    void *log_user;
    int for_once;     /* programs are for a test or a candidate: see program.c on drivers that keep what they compile */
    int cache_warned; /* an unwritable cache directory was told */
    struct gv_program_table *programs;
    struct gv_profile_table *profiles;
};

void gv_log(gravel_context *context, gravel_log_level level, const char *format, ...) GV_PRINTF(3, 4);

/* program.c.  The program of kernels/<file> built for one device with these options ("-DGV_ORDER=4 ...", beside the
 * device's own feature macros): from the context's table, else the cache directory, else compiled.  The program belongs
 * to the context.  A compile failure is ERR_BUILD with log and options in the message. */
gravel_status gv_program_get(gravel_context *context, int device, const char *file, const char *options,
                             cl_program *program);
/* The text after includes are resolved, with #line marks; malloc'd. */
gravel_status gv_program_source(gravel_context *context, const char *file, char **text);
/* Identity of the kernels' text (all files a program uses): 16 hex digits, for profiles. */
gravel_status gv_program_version(gravel_context *context, const char *file, char digest[17]);

#endif
