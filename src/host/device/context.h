/* A context: devices of one platform, one in-order queue each, the programs built so far, where files live. */
#ifndef GV_CONTEXT_H
#define GV_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include "host/base/cl.h"
#include "host/base/status.h"
#include "host/base/threads.h"

/* Estimates with a larger error than this take the third-order step: Newton's leaves 3/2 of its square, which here is
 * half a rounding of float, and always of one sign. */
#define GV_ROUGH_ESTIMATE 1.4e-4

/* Measured properties of a device, once per device and driver (program/traits.h). */
typedef struct gv_traits {
    int fp64, fast_fma, ptx_asm, rsqrt14, rsqrt12;
    int lanes;        /* of float in the registers that the compiler uses, or in the fastest vectors; 0: not tried */
    int bad_vectors;  /* explicit vectors that give wrong sums: 4 | 8 | 16 lanes */
    int runs_groups;  /* the work-items of a group fill the SIMD lanes and meet at barriers cheaply */
    int short_loops;  /* loops end before their last turn */
    int wrong_timers; /* event times are wrong */
    /* largest relative errors: of rsqrt; of native_rsqrt; of what double starts from */
    float exact_error, native_error, seed_error;
    float pair_s; /* of the trial's simple sums of pairs, in the best shape; 0: not tried */
} gv_traits;

/* How long a row of runs is held back (program/row.c); zeros: none yet. */
typedef struct gv_hold_pace {
    double turn_s;  /* of the kernel that holds the device */
    double queue_s; /* that the host takes to queue one run */
} gv_hold_pace;

typedef struct gv_device {
    cl_device_id id;          /* a sub-device is owned (released with the context) */
    cl_command_queue timed;   /* in order, profiling on; NULL: an adopted queue has it off */
    cl_command_queue quick;   /* in order, no profiling: short calls are faster */
    cl_command_queue copy;    /* in order: transfers beside kernels */
    cl_command_queue compute; /* one of the first two: where work goes (gv_device_set_timing) */
    int timed_is_lent;        /* gv_device_lend_timer */
    gravel_device_info info;
    int is_sub_device;
    int is_callers; /* the compute queue is the caller's: gravel_context_adopt */
    /* features, as neutral facts that become macros of the kernels */
    int fast_fma;              /* float fma is one instruction */
    int has_ptx_asm;           /* inline PTX is accepted (tried by compiling) */
    int has_rsqrt14;           /* the compiler's 14-bit estimate builtin is there (tried by compiling), 16 lanes */
    int has_rsqrt12;           /* the 12-bit estimate, 8 lanes */
    gv_traits traits;          /* these and what else was measured */
    char target[17];           /* digest of what the compiler aims at beside the device's name: device.c */
    int driver_caches;         /* the driver keeps what it compiled on disk itself */
    char feature_options[512]; /* "-DGV_..." for every program of this device */
    struct gv_times *times;    /* program/times.h; NULL: kernels are not timed one by one */
    size_t parameters;         /* bytes that all arguments of a kernel may have */
    gv_hold_pace hold_pace;    /* program/row.c */
    atomic_int sweeps;         /* program/sort.c: sorts in sweeps are right here; 0: not tried yet, 1: yes, 2: no */
} gv_device;

struct gv_program_table; /* program.c */
struct gv_profile_table; /* profile/profile.c: made at the first look-up */
struct gv_proof_table;   /* profile/proof.c: the same */

struct gravel_context {
    cl_platform_id platform;
    cl_context cl;
    int n_devices;
    gv_device *device;
    char *kernel_dir, *cache_dir, *profile_dir; /* NULL or "": none */
    gravel_log_fn log;
    void *log_user;
    atomic_uint buffers_made; /* launch.h: arguments that were set before the last one are set again */
    int for_once;     /* programs are for a test or a candidate: see program.c on drivers that keep what they compile */
    int cache_warned; /* the warning about an unwritable cache directory was given */
    /* A context may be used from several threads: each lock guards what stands below it. */
    pthread_mutex_t lock;
    gv_pool *pool; /* gv_context_pool */
    int pool_made;
    int processes; /* of the machine that share its cores; 0: one */
    struct gv_program_table *programs;
    pthread_mutex_t profile_lock;
    struct gv_profile_table *profiles;
    struct gv_proof_table *proofs;
    void (*release_profiles)(gravel_context *context); /* set by the room that makes the table */
};

/* Threads for the host's own work; NULL: there is one core only. */
gv_pool *gv_context_pool(gravel_context *context);
/* Before the first use of these: so many processes share the machine's cores. */
void gv_context_share_cores(gravel_context *context, int processes);

void gv_log(gravel_context *context, gravel_log_level level, const char *format, ...) GV_PRINTF(3, 4);

#endif
