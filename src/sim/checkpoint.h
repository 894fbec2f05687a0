/* Checkpoints: one file that holds all that decides what a run does next.
 *
 * "gravel checkpoint 2\n", then parts, each a length of 8 bytes and as many bytes: the record of the run (text),
 * numbers, ids, masses, the planes of the bodies as the device holds them, the configurations that calls got; last a
 * checksum of everything before it (checksum.h).  Numbers are in the byte order of the machine.
 */
#ifndef GV_CHECKPOINT_H
#define GV_CHECKPOINT_H

#include "sim/run.h"

typedef struct gv_checkpoint {
    char *record;
    gv_run_position at;
    gv_blocks blocks;
    gravel_hermite_state state;
    gv_particles particles; /* ids, masses, units, time of the start; all else is 0 */
    void *bodies;
    size_t bodies_size;
    char *choices;
} gv_checkpoint;

/* The file appears whole or not at all, and is on the disk on return. */
gravel_status gv_checkpoint_write(const gv_checkpoint *checkpoint, const char *path);
/* What is damaged, cut short or of another kind is ERR_FORMAT.  Empty after a failure. */
gravel_status gv_checkpoint_read(gv_checkpoint *checkpoint, const char *path);
void gv_checkpoint_free(gv_checkpoint *checkpoint);

#endif
