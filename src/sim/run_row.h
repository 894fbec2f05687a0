/* A line of diagnostics that a thread works out and appends to the table while the run goes on with its next blocks. */
#ifndef GV_RUN_ROW_H
#define GV_RUN_ROW_H

#include <pthread.h>

#include "sim/diagnostics_table.h"

typedef struct gv_row {
    const gv_particles *particles; /* not to be changed until the line has ended */
    gv_diagnostics_file *table;
    gv_diagnostics line;
    pthread_t thread;
    int running;
    gravel_status status; /* of a line that has ended; OK after it was told */
    char message[512];
} gv_row;
#define GV_ROW_INIT                                                                                                    \
    {                                                                                                                  \
        .running = 0                                                                                                   \
    }

/* `line` has its sums and counts.  The line before must have ended. */
void gv_row_start(gv_row *row, const gv_particles *particles, gv_diagnostics_file *table, const gv_diagnostics *line);
/* Waits for the line that was started last, if any; gv_row_end also returns what went wrong with it. */
void gv_row_wait(gv_row *row);
gravel_status gv_row_end(gv_row *row);

#endif
