/* A simulation from initial conditions to its end: integrator and solver behind one face (run_engine.c), and the folder
 * that it fills (run_files.c), driven by run_drive.c.  What the command line does not need is not here: it is in
 * gravel/hermite.h and gravel/leapfrog.h, for C programs.
 *
 * A folder holds, beside what its maker writes (run.json, summary.json):
 *   snapshot_0000.hdf5 ...   all bodies at exact times
 *   diagnostics.txt          a line for each diagnostic time (diagnostics_table.h)
 *   diagnostics.hdf5         the same at the end, beside snapshots in HDF5
 *   blocks.txt               how many bodies moved at once (blocks_table.h)
 *   checkpoint.gvc           everything that decides what comes next (checkpoint.h)
 *
 * Times of a run count from its start, so that blocks do not depend on where the clock stood. */
#ifndef GV_RUN_H
#define GV_RUN_H

#include "gravel/leapfrog.h"
#include "gravel/several.h"
#include "sim/blocks_table.h"
#include "sim/diagnostics_table.h"

typedef enum gv_run_solver { GV_RUN_DIRECT, GV_RUN_TREE } gv_run_solver;
typedef enum gv_run_steps { GV_RUN_BLOCK, GV_RUN_SHARED, GV_RUN_FIXED } gv_run_steps;

/* Processes that make a run together, with the same settings: each has all bodies, or its range of them on its device,
 * and forces are found by all.  One of them leads: before what needs the others it tells them, and they do it with
 * gv_run_follow. */
typedef enum gv_run_order {
    GV_RUN_START,
    GV_RUN_RESTORE,
    GV_RUN_NEXT,
    GV_RUN_STEP,
    GV_RUN_STEPS, /* not after the time that is told */
    GV_RUN_LOOK,
    GV_RUN_POTENTIALS,
    GV_RUN_ADD_STEPS,
    GV_RUN_SAVE,
    GV_RUN_SNAPSHOT
} gv_run_order;
/* Bodies that are dealt out over the processes, and the tree of all of them: what the leapfrog of run_domains.c stands
 * on.  All processes call these together, but for the last two.  Numbers of bodies are those of the run. */
struct gv_run_settings;
typedef struct gv_run_domains {
    gravel_status (*make)(void *user, const struct gv_run_settings *settings, void **domains);
    void (*release)(void *domains);
    gravel_status (*write)(void *domains, size_t first, const gravel_sources *mine);
    gravel_status (*compute)(void *domains); /* accelerations and potentials */
    gravel_status (*get_largest)(void *domains, double *acceleration);
    gravel_status (*step)(void *domains, double dt);
    /* Block steps instead, from a write or from a restored state on; get_state is no call of all. */
    gravel_status (*start_blocks)(void *domains, const gravel_leapfrog_options *options, double time);
    gravel_status (*resume_blocks)(void *domains, const gravel_leapfrog_options *options,
                                   const gravel_hermite_state *state);
    gravel_status (*get_next)(void *domains, double *time);
    gravel_status (*step_block)(void *domains, gravel_hermite_step_info *info);
    gravel_status (*add_steps)(void *domains, uint64_t counts[GRAVEL_STEP_POWERS]);
    gravel_status (*get_state)(void *domains, gravel_hermite_state *state);
    gravel_status (*read)(void *domains, gravel_plane plane, size_t first, size_t count, const gravel_array_out *to);
    /* What decides what comes next, of all processes; malloc'd, on the leading one (else *bytes is NULL). */
    gravel_status (*save)(void *user, void *domains, void **bytes, size_t *size);
    /* *same 0: it was saved by another number of processes, and nothing was done. */
    gravel_status (*restore)(void *user, void *domains, const void *bytes, size_t size, int *same);
    /* How many parts such bytes have (0: they are others); the bodies of one of them. */
    int (*count_parts)(const void *bytes, size_t size);
    gravel_status (*open_part)(const void *bytes, size_t size, int part, gravel_bodies *bodies);
} gv_run_domains;
typedef struct gv_run_company {
    gravel_forces_fn forces;
    gravel_status (*tell)(void *user, gv_run_order order, double time); /* NULL: this process follows */
    gravel_status (*done)(void *user, gravel_status status); /* after what was told: all get the first failure */
    /* its range of `count` sinks; numbers of all ranges to all processes */
    void (*get_range)(void *user, size_t count, size_t *first, size_t *mine);
    gravel_status (*gather)(void *user, size_t count, double *numbers, gravel_status status);
    gravel_costs_fn costs; /* with `forces`; NULL: the host moves no blocks */
    double alone_pairs;    /* as in gravel/hermite.h */
    /* whether all have the same bytes */
    gravel_status (*compare)(void *user, const void *bytes, size_t size, gravel_status status);
    /* bodies that are dealt out, Hermite only; NULL: all have all */
    gravel_agree_fn agree;
    /* of the own bodies from those of all */
    gravel_status (*potentials)(void *user, gravel_direct *direct, gravel_bodies *bodies, double eps,
                                double *potential);
    /* everyone's bytes one after another, malloc'd, on the process that leads; NULL on others */
    gravel_status (*collect)(void *user, const void *mine, size_t size, char **all, size_t *whole,
                             gravel_status status);
    /* one snapshot file by all: each has its range of the particles, as it was looked at */
    gravel_status (*write)(void *user, const gv_particles *particles, const char *path);
    int rank, size;
    void *user;
} gv_run_company;

typedef struct gv_run_settings {
    double until;
    gv_run_solver solver;
    int order;                  /* 2: leapfrog; 4, 6: Hermite, direct only */
    gravel_precision precision; /* of forces; bodies are in dp with dp, else in ds; Hermite: ds or dp */
    gv_run_steps steps;         /* FIXED: all bodies always take step_max */
    gravel_step_criterion criterion;
    double eta, eta4, eta6, eta_start; /* leapfrog; Hermite */
    double step_max, step_min;
    int iterations;
    gravel_host_answers host; /* Hermite: who moves small blocks */
    double eps;
    double theta; /* of a tree, as all below to `rebuild` */
    gravel_tree_mac mac;
    int moments;
    gravel_softening softening;
    double rebuild;
    const char *configuration;             /* tunables by hand; NULL: by profile */
    double snapshot_every, diagnose_every; /* in time; 0: at start and end only */
    double checkpoint_every;               /* in seconds of wall time; 0: at start and end only */
    size_t sum_up_to;                      /* a tree's potential energy is a direct sum up to so many bodies */
    int text;                              /* 1: snapshots as text, snapshot_0000.txt */
    int snapshot_files;                    /* above 1: HDF5 in so many files, snapshot_0000.0.hdf5 ... */
    int together;                          /* 1: all processes of a company write snapshots, into one HDF5 file */
    gravel_external_fn external;           /* see gravel/hermite.h; not in energies */
    void *external_user;
    gravel_several_share *share;   /* devices that find forces together, with the run's context; NULL: one does */
    const gv_run_company *company; /* NULL: this process alone */
    const gv_run_domains *domains; /* of trees with a company: no process has all bodies on its device; NULL: no such
                                    * trees, nor their checkpoints */
} gv_run_settings;

/* Seconds of wall time by what they went into. */
typedef enum gv_run_clock {
    GV_CLOCK_SUBMIT,     /* host: steps are planned and submitted */
    GV_CLOCK_HOST,       /* blocks that the host moves */
    GV_CLOCK_WAIT,       /* for the device: the next block; Hermite blocks of one process with submitting them */
    GV_CLOCK_TRANSFER,   /* bodies to the host, or to the device */
    GV_CLOCK_POTENTIAL,  /* potentials for energies */
    GV_CLOCK_DIAGNOSE,   /* host: sums, neighbours, radii */
    GV_CLOCK_SNAPSHOT,   /* writing */
    GV_CLOCK_CHECKPOINT, /* reading the planes back and writing */
    GV_CLOCKS
} gv_run_clock;
extern const char *const gv_run_clock_name[GV_CLOCKS];

/* ----------------------------------------------------------------- engine */

typedef struct gv_run gv_run;
struct gv_checkpoint;

/* NULL, or what is wrong with the settings for these particles. */
gravel_status gv_run_check(const gv_run_settings *settings, const gv_particles *particles);
/* Of the settings, what any leapfrog needs. */
gravel_leapfrog_options gv_run_leapfrog(const gv_run_settings *settings);
/* The particles become the run's (an empty set is left), whatever is returned. */
gravel_status gv_run_create(gv_run **run, gravel_context *context, const gv_run_settings *settings,
                            gv_particles *particles);
void gv_run_release(gv_run *run);
/* Of the tree in these settings. */
gravel_tree_options gv_run_tree_options(const gv_run_settings *settings);
/* First forces. */
gravel_status gv_run_start(gv_run *run);
/* Time of the next block, which comes first. */
gravel_status gv_run_get_next(gv_run *run, double *time);
/* At most `most` blocks, none after `until`: *taken of them. */
gravel_status gv_run_step(gv_run *run, double until, size_t most, gravel_hermite_step_info *info, size_t *taken);
/* All bodies at a time between the last block and the next one, into gv_run_get_particles; and their potentials, in dp
 * where the device has it. */
gravel_status gv_run_look(gv_run *run, double time);
gravel_status gv_run_find_potentials(gv_run *run, double *potential);
const gv_particles *gv_run_get_particles(const gv_run *run);
double gv_run_get_start(const gv_run *run);
void gv_run_get_counts(const gv_run *run, gravel_hermite_counts *counts);
/* Adds the time-steps of bodies since the run was started or restored. */
gravel_status gv_run_add_steps(gv_run *run, gv_blocks *blocks);
/* With a company: the particles as they were looked at, in one file.  The path is that of the leading process. */
gravel_status gv_run_write_together(gv_run *run, const char *path);
double *gv_run_clocks(gv_run *run); /* [GV_CLOCKS] */
/* What the leading process told.  `checkpoint`: for GV_RUN_RESTORE. */
gravel_status gv_run_follow(gv_run *run, gv_run_order order, double time, const struct gv_checkpoint *checkpoint);

/* ERR_STATE: not at this moment, after some more steps (gravel_leapfrog_get_state). */
gravel_status gv_run_save(gv_run *run, struct gv_checkpoint *checkpoint);
/* A run that was created from the particles of the checkpoint; instead of gv_run_start. */
gravel_status gv_run_restore(gv_run *run, const struct gv_checkpoint *checkpoint);

/* ----------------------------------------------------------------- folder */

/* How far outputs have come; numbers only, as they stand in a checkpoint. */
typedef struct gv_run_position {
    uint64_t snapshots;      /* files written */
    uint64_t snapshot, line; /* of the next regular ones: at start + number x interval */
    uint64_t lines;
    uint64_t done;                      /* the end was reached and its outputs are written */
    double last_line;                   /* time of the last line; NaN: there is none */
    double error_max;                   /* largest |energy error| of all lines */
    double marked_blocks, marked_steps; /* at the last line */
    double wall_s;
    double clock[GV_CLOCKS];
} gv_run_position;

typedef struct gv_run_output {
    char *path;
    gv_diagnostics_file table;
    gv_blocks blocks;
    gv_run_position at;
    const char *record; /* text that checkpoints carry */
    /* Called with the first forces, and NULL after it: an earlier run is in the folder, which is set aside there until
     * the first files are complete. */
    gravel_status (*replace)(void *user);
    void *user;
    int has_aside;       /* an earlier run is set aside, and comes back where this one fails */
    double checkpointed; /* moment of the last one */
} gv_run_output;
/* 1: a snapshot or a block of the run, so that --resume has something to go on with. */
int gv_run_output_has_begun(const gv_run_output *folder);

/* Makes the folder, or takes an empty one; `replace`: also one with an earlier run, which *earlier tells, and whose
 * files stay until gv_run_output_set_aside.  *lock is a descriptor that keeps other runs out of it until it is closed;
 * -1 after a failure. */
gravel_status gv_run_output_make(const char *path, int replace, int *lock, int *earlier);
/* Whether that would be done; nothing is left. */
gravel_status gv_run_output_check(const char *path, int replace);
gravel_status gv_run_output_clear(const char *path); /* removes the files of a run */
/* Those of the earlier run go into a folder within theirs; are removed from there, if there are any. */
gravel_status gv_run_output_set_aside(gv_run_output *folder);
void gv_run_output_forget(gv_run_output *folder);
gravel_status gv_run_output_lock(const char *path, int *lock);
gravel_status gv_run_output_open(gv_run_output *folder, const char *path, const char *record);
void gv_run_output_close(gv_run_output *folder);
/* A run that failed before it had begun, if this is one, leaves nothing that stands in the way of the next; one that
 * has replaced nothing yet leaves the earlier run, which comes back where it was set aside. */
void gv_run_output_discard(const gv_run_output *folder);
char *gv_run_path(const char *folder, const char *name); /* malloc'd; NULL without memory */
char *gv_run_snapshot_path(const gv_run_output *folder, uint64_t number, const char *extension); /* the same */
#define GV_RUN_CHECKPOINT "checkpoint.gvc"

/* ------------------------------------------------------------------ drive */

typedef struct gv_run_progress_info {
    double time, start, until;
    uint64_t blocks, steps;
    size_t active, bodies; /* of the last block */
    double energy_error;   /* of the last line; NaN: none yet */
    double wall_s;
} gv_run_progress_info;

typedef struct gv_run_hooks {
    /* after each block; anything but 0 stops the run: a checkpoint is written, ERR_CANCELLED */
    int (*after_step)(void *user, gv_run *run, const gv_run_progress_info *info);
    void *user;
    int ahead; /* 1: it may be called for some blocks together, after the last of them, which saves waiting */
} gv_run_hooks;

/* From the beginning (`checkpoint` NULL) or from a checkpoint to the end; all outputs are on disk when it returns. */
gravel_status gv_run_drive(gv_run *run, gv_run_output *folder, const gv_run_settings *settings,
                           const struct gv_checkpoint *checkpoint, const gv_run_hooks *hooks);

#endif
