/* Tunables as data.  A kernel's space is a table of parameters with their values and a table of constraints; adding a
 * tunable is one line in the kernel's table (direct_space.c, tree_space.c).  Kernels see a tunable as the macro
 * GV_<NAME IN UPPER CASE>; JSON and --configuration use the lower-case name. */
#ifndef GV_SPACE_H
#define GV_SPACE_H

#include "host/device/context.h"

enum { GV_MAX_TUNABLES = 16, GV_MAX_VALUES = 12 };

typedef struct gv_tunable {
    const char *name, *unit, *help;
    int macro; /* 1: passed to the kernel as -DGV_<NAME>; 0: used by the launch only */
    int n_values;
    int values[GV_MAX_VALUES]; /* ascending; the simpler first */
} gv_tunable;

/* One value per tunable of the space, in table order. */
typedef struct gv_config {
    int value[GV_MAX_TUNABLES];
} gv_config;

/* What a configuration is chosen for.  `features` holds the kernel's own bits (direct: GV_DIRECT_*). */
typedef struct gv_variant {
    char name[16]; /* "ds4", also in profiles and on the command line */
    int order;
    gravel_precision precision;
    unsigned features;
} gv_variant;

/* Device limits and features that constraints look at; measured ones as in gv_traits. */
typedef struct gv_limits {
    gravel_device_info info;
    int fast_fma, has_ptx_asm, has_rsqrt14, has_rsqrt12;
    int runs_groups;                              /* a CPU whose driver spreads a group over its SIMD lanes */
    double exact_error, native_error, seed_error; /* 0: as good as the type */
    int wrong_timers;                             /* nothing can be measured */
    int bad_vectors;                              /* 4 | 8 | 16: so many lanes give wrong sums */
    double pair_s;                                /* of the trial's simple sums of pairs; 0: not tried */
} gv_limits;
gv_limits gv_limits_of(const gravel_context *context, int device);
/* 1 where a work-item is one lane and groups work together, as on GPUs; 0 where one work-item drives all lanes. */
int gv_limits_groups(const gv_limits *limits);
/* The most explicit lanes up to the SIMD width that this device gets right; 1: none. */
int gv_limits_lanes(const gv_limits *limits, gravel_precision precision);
/* Whether flavour `rsqrt` of kernels/lib/rsqrt.h with so many lanes keeps what a variant of this precision needs. */
int gv_limits_root_is_right(const gv_limits *limits, gravel_precision precision, int rsqrt, int lanes);
/* The flavour to begin with where nothing was tuned: the cheapest that is right. */
int gv_limits_root(const gv_limits *limits, gravel_precision precision, int lanes);

typedef struct gv_constraint {
    const char *reason; /* one line: why such a configuration cannot or need not run */
    int hard;           /* 1: it cannot run.  0: it can, but is never worth trying on this device */
    int (*holds)(const gv_config *config, const gv_variant *variant, const gv_limits *limits);
} gv_constraint;

enum { GV_PLAIN_SHAPES = 2 };

typedef struct gv_space {
    const char *kernel; /* "direct" */
    /* kernel files whose text a measured time belongs to; {NULL} at the end */
    const char *const *file;
    /* the others that a self-test runs; {NULL} at the end, NULL: none */
    const char *const *file_beside;
    int n_tunables;
    const gv_tunable *tunable;
    int n_constraints;
    const gv_constraint *constraint;
    /* the untuned default for this many sinks and sources */
    void (*built_in)(gv_config *config, const gv_variant *variant, const gv_limits *limits, size_t sinks,
                     size_t sources);
    /* 1 if both come to the same launches of the same programs at these sizes, for which no measurement can tell them
     * apart; called where all macro tunables agree.  NULL: no two do. */
    int (*same_launch)(const gv_config *a, const gv_config *b, const gv_variant *variant, const gv_limits *limits,
                       size_t sinks, size_t sources);
    /* log(time over that of whole groups, as many on each compute unit) of a launch at these sizes: what differs
     * between sizes that are near each other.  NULL: nothing does. */
    double (*unevenness)(const gv_config *config, const gv_variant *variant, const gv_limits *limits, size_t sinks,
                         size_t sources);
    /* Solves a known problem (known.h) in this configuration: the error it comes out with, and the most that is right.
     * NULL: nothing is known. */
    gravel_status (*prove)(gravel_context *context, int device, const gv_variant *variant, const char *configuration,
                           double *error, double *most);
    /* What a configuration has to gain over the untuned default between questions, of a GPU (choice_lead.c); 0: as
     * usual.  More where a question stands for calls that differ in more than sizes. */
    double least_lead;
    int any_sources;     /* 1: a question of these sinks stands for any number of sources */
    unsigned of_program; /* feature bits of a variant that make another program, but no other choice ... */
    const char *(*program)(unsigned features); /* ... and what to call it: " without eps"; NULL: there are none */
    /* What to put over the built-in default where that is wrong: without vectors and special instructions. */
    const char *plain[GV_PLAIN_SHAPES];
} gv_space;

int gv_space_index(const gv_space *space, const char *name); /* -1: no such tunable */
/* NULL if the configuration may run, else the reason of the first constraint it breaks.  A value that is not in the
 * tunable's table breaks "not a value of <name>". */
const char *gv_space_check(const gv_space *space, const gv_config *config, const gv_variant *variant,
                           const gv_limits *limits);
/* The same with the hard constraints only: what a caller may name. */
const char *gv_space_can_run(const gv_space *space, const gv_config *config, const gv_variant *variant,
                             const gv_limits *limits);
/* "threads=128 split=2"; names may be left out (their value in `config` stays) */
gravel_status gv_space_parse(const gv_space *space, const char *text, gv_config *config);
void gv_space_format(const gv_space *space, const gv_config *config, char *text, size_t size);
/* 1 if the configurations are equal, or are launched alike at these sizes.  What a text does not name has its built-in
 * value. */
int gv_space_same(const gv_space *space, const gv_config *a, const gv_config *b, const gv_variant *variant,
                  const gv_limits *limits, size_t sinks, size_t sources);
int gv_space_same_text(const gv_space *space, const char *a, const char *b, const gv_variant *variant,
                       const gv_limits *limits, size_t sinks, size_t sources);
/* A text that was read once, for comparing it with many. */
typedef struct gv_reading {
    unsigned named; /* bit t: it names tunable t; 0: none, or not read yet */
    gv_config config;
} gv_reading;
int gv_space_read(const gv_space *space, const char *text, gv_reading *reading); /* 0: no configuration of the space */
int gv_space_same_reading(const gv_space *space, const gv_reading *a, const gv_reading *b, const gv_variant *variant,
                          const gv_limits *limits, size_t sinks, size_t sources);
/* Puts in the root to begin with for the configuration's lanes, where the space has a tunable "rsqrt".  0: the shape
 * was chosen for another kind of root: 0 waits for the unit that divides, the others are multiplications. */
int gv_space_own_root(const gv_space *space, const gv_variant *variant, const gv_limits *limits, gv_config *config);
/* " -DGV_THREADS=128 ..." of the macro tunables */
void gv_space_macros(const gv_space *space, const gv_config *config, char *text, size_t size);

/* "ds4" and the like -> variant (no features); 0 if the name is none */
int gv_variant_parse(const char *name, gv_variant *variant);
void gv_variant_set(gv_variant *variant, int order, gravel_precision precision, unsigned features);

#endif
