/* The main loop of all runs: blocks, outputs at their times, checkpoints, stops.  What differs between kinds of runs
 * (run_drive.c, cosmo_drive.c) is behind functions.
 *
 * What is written depends on the state of the bodies only, and a checkpoint knows how far outputs had come: what a
 * killed run wrote after its last checkpoint is cut off, and written again with the same bytes. */
#ifndef GV_DRIVE_H
#define GV_DRIVE_H

#include "sim/checkpoint.h"

typedef struct gv_drive gv_drive;
enum { GV_DRIVE_BLOCKS = 64 };

/* Times count from the start of the run. */
typedef struct gv_drive_kind {
    /* the table is made; first forces are found; or the table is cut where the checkpoint was, the run restored */
    gravel_status (*create)(gv_drive *d);
    gravel_status (*start)(gv_drive *d);
    gravel_status (*resume)(gv_drive *d, const gv_checkpoint *checkpoint);
    gravel_status (*get_next)(gv_drive *d, double *time);
    /* one block or several, none after `until`: *done of them, at most GV_DRIVE_BLOCKS */
    gravel_status (*step)(gv_drive *d, double until, gravel_hermite_step_info *info, size_t *done);
    /* after each block; anything but 0 stops the run */
    int (*after_step)(gv_drive *d, const gravel_hermite_step_info *info);
    /* all bodies at a time, which outputs are of */
    gravel_status (*look)(gv_drive *d, double time);
    /* when regular output number k is; INFINITY: there is none */
    double (*snapshot_time)(const gv_drive *d, uint64_t k);
    double (*line_time)(const gv_drive *d, uint64_t k);
    gravel_status (*write_snapshot)(gv_drive *d);
    gravel_status (*write_line)(gv_drive *d);
    /* ends what is worked out of lines that count already, before a checkpoint and at the end */
    gravel_status (*settle)(gv_drive *d);
    /* blocks.txt; what a checkpoint keeps of it */
    gravel_status (*write_blocks)(gv_drive *d, gv_blocks *blocks);
    /* ERR_STATE: not now, after some more blocks */
    gravel_status (*save)(gv_drive *d, gv_checkpoint *checkpoint);
    gravel_status (*fail_stopped)(gv_drive *d); /* ERR_CANCELLED, with when it was */
    gravel_status (*finish)(gv_drive *d);       /* after the end */
} gv_drive_kind;
/* The functions of a file that have these names. */
#define GV_DRIVE_KIND                                                                                                  \
    {                                                                                                                  \
        .create = create, .start = start, .resume = resume, .get_next = get_next, .step = step,                        \
        .after_step = after_step, .look = look, .snapshot_time = snapshot_time, .line_time = line_time,                \
        .write_snapshot = write_snapshot, .write_line = write_line, .settle = settle, .write_blocks = write_blocks,    \
        .save = save, .fail_stopped = fail_stopped, .finish = finish                                                   \
    }

struct gv_drive {
    const gv_drive_kind *kind;
    void *user; /* of the kind */
    gv_run_output *folder;
    double *clock; /* [GV_CLOCKS], of the run */
    double end, checkpoint_every;
    int edges; /* outputs at the start and the end, too, where they are not regular ones */
    /* its own */
    double begun;      /* moment */
    double wall_s;     /* of earlier parts of the run */
    double looked;     /* time of the bodies at hand; NaN: none */
    double block_time; /* of the last block */
};

/* From the beginning (`checkpoint` NULL) or from a checkpoint to the end; all outputs are on disk when it returns. */
gravel_status gv_drive_go(gv_drive *d, const gv_checkpoint *checkpoint);

/* For kinds: since *since time went into this; wall time of all parts; a text without memory. */
void gv_drive_charge(gv_drive *d, gv_run_clock clock, double *since);
double gv_drive_wall(const gv_drive *d);
gravel_status gv_drive_no_memory(void);

#endif
