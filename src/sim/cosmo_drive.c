/* A box from outputs to outputs, as run_drive.c does it for other runs: what is written depends on the state of the
 * bodies only, and a checkpoint knows how far outputs had come. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/clock.h"
#include "sim/checkpoint.h"
#include "sim/cosmo_table.h"
#include "sim/snapshot.h"

/* Lines of the table are this far apart in ln a: at multiples of the longest step all bodies are at one time. */
static const double LINE_EVERY = 0.125;

typedef struct drive {
    gv_cosmo_run *run;
    gv_run_output *folder;
    const gv_cosmo_settings *s;
    const gv_cosmo_hooks *hooks;
    char *table;
    double begun, wall_s; /* moment; of earlier parts of the run */
    double start, end;    /* scale factor; time of the run */
    double looked, block_time;
} drive;

static void charge(drive *d, gv_run_clock clock, double *since)
{
    const double now = gv_now();
    gv_cosmo_run_clocks(d->run)[clock] += now - *since;
    *since = now;
}

static double wall(const drive *d)
{
    return d->wall_s + gv_now() - d->begun;
}

static gravel_status no_memory(void)
{
    return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the outputs of a run");
}

/* ----------------------------------------------------------------- outputs */

static double snapshot_time(const drive *d, uint64_t k)
{
    return k < (uint64_t)d->s->outputs ? fmax(log(d->s->output[k] / d->start), 0) : INFINITY;
}

static double line_time(const drive *d, uint64_t k)
{
    const double every = fmax(LINE_EVERY, d->s->step_max), time = every * (double)k;
    return time < d->end ? time : d->end;
}

static gravel_status look(drive *d, double time)
{
    gravel_status status = GRAVEL_OK;
    if (d->looked != time) {
        d->looked = NAN;
        status = gv_cosmo_run_look(d->run, time);
        d->looked = status ? NAN : time;
    }
    return status;
}

static gravel_status write_snapshot(drive *d, double time)
{
    char name[64];
    gravel_status status = look(d, time);
    double since = gv_now();
    const unsigned number = (unsigned)d->folder->at.snapshots;
    snprintf(name, sizeof name, "snapshot_%04u.hdf5", number);
    char *path = gv_run_path(d->folder->path, name);
    if (!status)
        status = path ? gv_snapshot_write(gv_cosmo_run_get_particles(d->run), path) : no_memory();
    free(path);
    charge(d, GV_CLOCK_SNAPSHOT, &since);
    if (!status && d->hooks && d->hooks->after_snapshot)
        status = d->hooks->after_snapshot(d->hooks->user, gv_cosmo_run_get_particles(d->run), number);
    charge(d, GV_CLOCK_DIAGNOSE, &since);
    d->folder->at.snapshots += !status;
    return status;
}

static gravel_status write_line(drive *d, double time)
{
    gv_run_position *at = &d->folder->at;
    gravel_status status = look(d, time);
    if (!status)
        status = gv_cosmo_run_measure(d->run);
    const gv_cosmo_line *line = gv_cosmo_run_get_line(d->run);
    if (!status)
        status = gv_cosmo_table_append(d->table, line);
    if (status)
        return status;
    at->error_max = fmax(at->error_max, fabs(line->error));
    at->lines++;
    return GRAVEL_OK;
}

static gravel_status write_outputs(drive *d, double time)
{
    gv_run_position *at = &d->folder->at;
    gravel_status status = GRAVEL_OK;
    if (time == line_time(d, at->line)) {
        status = write_line(d, time);
        at->line += !status;
    }
    if (!status && time == snapshot_time(d, at->snapshot)) {
        status = write_snapshot(d, time);
        at->snapshot += !status;
    }
    at->done = !status && time >= d->end;
    return status;
}

static gravel_status write_blocks(drive *d)
{
    char *path = gv_run_path(d->folder->path, "blocks.txt");
    const gv_units none = GV_UNITS_NBODY; /* steps are numbers: of ln a */
    const gravel_status status = path ? gv_blocks_write(&d->folder->blocks, path, &none) : no_memory();
    free(path);
    return status;
}

/* ERR_STATE: not now, after some more blocks. */
static gravel_status write_checkpoint(drive *d)
{
    gv_run_output *folder = d->folder;
    double since = gv_now();
    gv_checkpoint c;
    memset(&c, 0, sizeof c);
    char *path = gv_run_path(folder->path, GV_RUN_CHECKPOINT);
    gravel_status status = path ? gv_cosmo_run_save(d->run, &c) : no_memory();
    if (!status)
        status = write_blocks(d);
    folder->at.wall_s = wall(d);
    memcpy(folder->at.clock, gv_cosmo_run_clocks(d->run), sizeof folder->at.clock);
    c.record = (char *)folder->record;
    c.at = folder->at;
    c.blocks = folder->blocks;
    if (!status)
        status = gv_checkpoint_write(&c, path);
    free(c.bodies);
    free(c.choices);
    free(path);
    if (!status)
        folder->checkpointed = gv_now();
    charge(d, GV_CLOCK_CHECKPOINT, &since);
    return status;
}

/* -------------------------------------------------------------------- steps */

static gravel_status step(drive *d, int *stop)
{
    gravel_hermite_step_info info = {0, 0};
    gv_cosmo_progress told = {.start = d->start, .until = d->s->until};
    gravel_status status = gv_cosmo_run_step(d->run, &info);
    if (status)
        return status;
    d->looked = NAN;
    d->block_time = info.time;
    gv_blocks_add(&d->folder->blocks, info.active);
    gv_cosmo_run_get_counts(d->run, &told.counts);
    told.a = d->start * exp(info.time);
    told.active = info.active;
    told.bodies = gv_cosmo_run_get_particles(d->run)->count;
    told.error = gv_cosmo_run_get_line(d->run)->error;
    told.wall_s = wall(d);
    *stop = *stop || (d->hooks && d->hooks->after_step && d->hooks->after_step(d->hooks->user, &told));
    return GRAVEL_OK;
}

static gravel_status stop_here(drive *d)
{
    const double a = d->start * exp(d->block_time);
    return gv_fail(GRAVEL_ERR_CANCELLED, "stopped at redshift %.6g; gravel run --resume %s goes on", 1 / a - 1,
                   d->folder->path);
}

static gravel_status go(drive *d)
{
    gv_run_position *at = &d->folder->at;
    int stop = 0;
    gravel_status status = GRAVEL_OK;
    while (!status && !at->done) {
        double next;
        const double due = fmin(fmin(snapshot_time(d, at->snapshot), line_time(d, at->line)), d->end);
        if (stop || (d->s->checkpoint_every > 0 && gv_now() - d->folder->checkpointed > d->s->checkpoint_every)) {
            status = write_checkpoint(d);
            if (status || stop)
                return status ? status : stop_here(d);
        }
        status = gv_cosmo_run_get_next(d->run, &next);
        if (!status && next <= due)
            status = step(d, &stop);
        /* at the time of a block the bodies are looked at after it */
        if (!status && (next > due || (next == due && d->block_time == due)))
            status = write_outputs(d, due);
    }
    return status;
}

static gravel_status begin(drive *d)
{
    gravel_status status = gv_cosmo_table_create(d->table, gv_cosmo_run_get_particles(d->run));
    if (!status)
        status = gv_cosmo_run_start(d->run);
    if (!status)
        status = write_outputs(d, 0);
    return status ? status : write_checkpoint(d);
}

static gravel_status resume(drive *d, const gv_checkpoint *c)
{
    d->folder->at = c->at;
    d->folder->blocks = c->blocks;
    d->wall_s = c->at.wall_s;
    d->block_time = c->state.time;
    const gravel_status status = gv_cosmo_table_cut(d->table, (size_t)c->at.lines);
    return status ? status : gv_cosmo_run_restore(d->run, c);
}

gravel_status gv_cosmo_drive(gv_cosmo_run *run, gv_run_output *folder, const gv_cosmo_settings *settings,
                             const gv_checkpoint *checkpoint, const gv_cosmo_hooks *hooks)
{
    drive d = {.run = run,
               .folder = folder,
               .s = settings,
               .hooks = hooks,
               .begun = gv_now(),
               .looked = NAN,
               .start = gv_cosmo_run_get_particles(run)->time};
    d.end = log(settings->until / d.start);
    d.table = gv_run_path(folder->path, GV_COSMO_TABLE);
    folder->checkpointed = d.begun;
    gravel_status status = !d.table ? no_memory() : checkpoint ? resume(&d, checkpoint) : begin(&d);
    const int finished = folder->at.done != 0;
    if (!status)
        status = go(&d);
    if (!status && !finished)
        status = write_checkpoint(&d);
    if (!status)
        status = write_blocks(&d);
    folder->at.wall_s = finished ? d.wall_s : wall(&d);
    memcpy(folder->at.clock, gv_cosmo_run_clocks(run), sizeof folder->at.clock);
    free(d.table);
    return status;
}
