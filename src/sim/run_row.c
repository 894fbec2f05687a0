#include "sim/run_row.h"

#include <stdio.h>

static void *work_out(void *user)
{
    gv_row *row = user;
    row->status = gv_diagnostics_fill_shape(row->particles, &row->line);
    if (!row->status)
        row->status = gv_diagnostics_append(row->table, &row->line);
    if (row->status) /* messages belong to threads */
        snprintf(row->message, sizeof row->message, "%s", gravel_error_message());
    return NULL;
}

void gv_row_start(gv_row *row, const gv_particles *particles, gv_diagnostics_file *table, const gv_diagnostics *line)
{
    row->particles = particles;
    row->table = table;
    row->line = *line;
    row->running = pthread_create(&row->thread, NULL, work_out, row) == 0;
    if (!row->running)
        work_out(row);
}

void gv_row_wait(gv_row *row)
{
    if (row->running)
        pthread_join(row->thread, NULL);
    row->running = 0;
}

gravel_status gv_row_end(gv_row *row)
{
    gv_row_wait(row);
    const gravel_status status = row->status;
    row->status = GRAVEL_OK;
    return status ? gv_fail(status, "%s", row->message) : GRAVEL_OK;
}
