/* A run from outputs to outputs.
 *
 * What is written depends on the state of the bodies only, and a checkpoint knows how far outputs had come: what a
 * killed run wrote after its last checkpoint is cut off, and written again with the same bytes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/clock.h"
#include "sim/checkpoint.h"
#include "sim/snapshot.h"

typedef struct drive {
    gv_run *run;
    gv_run_output *folder;
    const gv_run_settings *s;
    const gv_run_hooks *hooks;
    double *potential;
    double begun;      /* moment */
    double wall_s;     /* of earlier parts of the run */
    double end;        /* time of the run, from its start */
    double looked;     /* time of the particles at hand; NaN: none */
    double last_error; /* energy error of the last line */
    double block_time; /* of the last block */
} drive;

static void charge(drive *d, gv_run_clock clock, double *since)
{
    const double now = gv_now();
    gv_run_clocks(d->run)[clock] += now - *since;
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

/* When regular output number k is; the end stands for one that is nearly there, since k x interval is rounded. */
static double output_time(const drive *d, double every, uint64_t k)
{
    const double time = every * (double)k;
    return every <= 0 || time > d->end ? INFINITY : fabs(time - d->end) < 1e-9 * every ? d->end : time;
}

static gravel_status look(drive *d, double time)
{
    if (d->looked == time)
        return GRAVEL_OK;
    d->looked = NAN;
    const gravel_status status = gv_run_look(d->run, time);
    if (!status)
        d->looked = time;
    return status;
}

static gravel_status write_snapshot(drive *d, double time)
{
    char name[64];
    gravel_status status = look(d, time);
    double since = gv_now();
    snprintf(name, sizeof name, "snapshot_%04llu.%s", (unsigned long long)d->folder->at.snapshots,
             d->s->text ? "txt" : "hdf5");
    char *path = gv_run_path(d->folder->path, name);
    if (!status)
        status = path ? gv_snapshot_write_parts(gv_run_get_particles(d->run), path, d->s->snapshot_files) : no_memory();
    if (!status)
        d->folder->at.snapshots++;
    free(path);
    charge(d, GV_CLOCK_SNAPSHOT, &since);
    return status;
}

static gravel_status write_line(drive *d, double time)
{
    gv_run_position *at = &d->folder->at;
    const gv_particles *p = gv_run_get_particles(d->run);
    gv_diagnostics line;
    gravel_hermite_counts counts;
    gravel_status status = look(d, time);
    if (!status)
        status = gv_run_find_potentials(d->run, d->potential);
    double since = gv_now();
    if (!status)
        status = gv_diagnostics_fill(p, d->potential, &line);
    if (!status && !isfinite(line.energy))
        status =
            gv_fail(GRAVEL_ERR_STATE,
                    "the energy at time %.9g is not a number: positions have left the range of %s; more softening, "
                    "shorter steps or --precision dp may help",
                    p->time, gravel_precision_name(d->s->precision));
    gv_run_get_counts(d->run, &counts);
    const double blocks = (double)counts.blocks - at->marked_blocks, steps = (double)counts.steps - at->marked_steps;
    line.steps = (double)counts.steps;
    line.active_share = blocks > 0 ? steps / blocks / (double)p->count : 0;
    if (!status)
        status = gv_diagnostics_append(&d->folder->table, &line);
    charge(d, GV_CLOCK_DIAGNOSE, &since);
    if (status)
        return status;
    d->last_error = line.energy_error;
    if (fabs(line.energy_error) > at->error_max)
        at->error_max = fabs(line.energy_error);
    at->marked_blocks = (double)counts.blocks;
    at->marked_steps = (double)counts.steps;
    at->last_line = line.time;
    at->lines++;
    return GRAVEL_OK;
}

/* Those outputs that are due at this time. */
static gravel_status write_outputs(drive *d, double time)
{
    gv_run_position *at = &d->folder->at;
    const int last = time >= d->end;
    gravel_status status = GRAVEL_OK;
    if (time == output_time(d, d->s->snapshot_every, at->snapshot) || last || time == 0) {
        status = write_snapshot(d, time);
        at->snapshot += !status && time == output_time(d, d->s->snapshot_every, at->snapshot);
    }
    if (!status && (time == output_time(d, d->s->diagnose_every, at->line) || last || time == 0)) {
        status = write_line(d, time);
        at->line += !status && time == output_time(d, d->s->diagnose_every, at->line);
    }
    at->done = !status && last;
    return status;
}

/* With the time-steps, which the integrator counts. */
static gravel_status write_blocks(drive *d, gv_blocks *blocks)
{
    char *path = gv_run_path(d->folder->path, "blocks.txt");
    *blocks = d->folder->blocks;
    gravel_status status = path ? gv_run_add_steps(d->run, blocks) : no_memory();
    if (!status)
        status = gv_blocks_write(blocks, path, &gv_run_get_particles(d->run)->units);
    free(path);
    return status;
}

/* The diagnostics in HDF5, beside snapshots in it. */
static gravel_status write_table(drive *d)
{
    gv_diagnostics_table table;
    if (d->s->text || !gv_snapshot_has_hdf5())
        return GRAVEL_OK;
    char *path = gv_run_path(d->folder->path, "diagnostics.hdf5");
    gravel_status status = path ? gv_diagnostics_read(&table, d->folder->table.path) : no_memory();
    if (!status) {
        status = gv_diagnostics_write_hdf5(&table, path);
        gv_diagnostics_free(&table);
    }
    free(path);
    return status;
}

/* ------------------------------------------------------------- checkpoints */

/* ERR_STATE: not now, after some more blocks. */
static gravel_status write_checkpoint(drive *d)
{
    gv_run_output *folder = d->folder;
    double since = gv_now();
    gv_checkpoint c;
    memset(&c, 0, sizeof c);
    char *path = gv_run_path(folder->path, GV_RUN_CHECKPOINT);
    gravel_status status = path ? gv_run_save(d->run, &c) : no_memory();
    if (!status)
        status = gv_diagnostics_sync(&folder->table);
    if (!status)
        status = write_blocks(d, &c.blocks);
    folder->at.wall_s = wall(d);
    memcpy(folder->at.clock, gv_run_clocks(d->run), sizeof folder->at.clock);
    c.record = (char *)folder->record;
    c.at = folder->at;
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

/* Before the first block and after the last one: where steps must go on first, there is none. */
static gravel_status write_edge_checkpoint(drive *d)
{
    const gravel_status status = write_checkpoint(d);
    return status == GRAVEL_ERR_STATE ? GRAVEL_OK : status;
}

/* -------------------------------------------------------------------- steps */

static gravel_status step(drive *d, int *stop)
{
    gravel_hermite_step_info info = {0, 0};
    gravel_hermite_counts counts;
    const gv_particles *p = gv_run_get_particles(d->run);
    gravel_status status = gv_run_step(d->run, &info);
    if (status)
        return status;
    d->looked = NAN;
    gv_blocks_add(&d->folder->blocks, info.active);
    if (info.active == p->count && info.time > d->block_time && d->s->steps != GV_RUN_BLOCK)
        gv_blocks_add_steps(&d->folder->blocks, info.time - d->block_time, info.active);
    d->block_time = info.time;
    gv_run_get_counts(d->run, &counts);
    const gv_run_progress_info told = {gv_run_get_start(d->run) + info.time,
                                       gv_run_get_start(d->run),
                                       d->s->until,
                                       counts.blocks,
                                       counts.steps,
                                       info.active,
                                       p->count,
                                       d->last_error,
                                       wall(d)};
    *stop = *stop || (d->hooks && d->hooks->after_step && d->hooks->after_step(d->hooks->user, d->run, &told));
    return GRAVEL_OK;
}

/* To the end, or to where it is stopped. */
static gravel_status go(drive *d)
{
    gv_run_position *at = &d->folder->at;
    int stop = 0;
    gravel_status status = GRAVEL_OK;
    while (!status && !at->done) {
        double next;
        const double due = fmin(
            fmin(output_time(d, d->s->snapshot_every, at->snapshot), output_time(d, d->s->diagnose_every, at->line)),
            d->end);
        const int wanted =
            stop || (d->s->checkpoint_every > 0 && gv_now() - d->folder->checkpointed > d->s->checkpoint_every);
        if (wanted) {
            status = write_checkpoint(d);
            if (!status && stop)
                return gv_fail(GRAVEL_ERR_CANCELLED, "stopped at time %.9g; gravel run --resume %s goes on",
                               gv_run_get_start(d->run) + d->block_time, d->folder->path);
            if (status && status != GRAVEL_ERR_STATE)
                return status;
        }
        status = gv_run_get_next(d->run, &next);
        if (!status && next <= due)
            status = step(d, &stop);
        /* at the time of a block the bodies are looked at after it */
        if (!status && (next > due || (next == due && d->block_time == due)))
            status = write_outputs(d, due);
    }
    return status;
}

/* ---------------------------------------------------------------- begin, end */

static gravel_status begin(drive *d)
{
    const gv_particles *p = gv_run_get_particles(d->run);
    char *path = gv_run_path(d->folder->path, "diagnostics.txt");
    gravel_status status = path ? gv_diagnostics_create(&d->folder->table, path, &p->units, p->count) : no_memory();
    free(path);
    if (!status)
        status = gv_run_start(d->run);
    if (!status)
        status = write_outputs(d, 0);
    return status ? status : write_edge_checkpoint(d);
}

static int remove_part(const char *path, int part)
{
    char *name = gv_snapshot_part_name(path, part);
    const int gone = name ? unlink(name) : -1;
    free(name);
    return gone;
}

/* Snapshots after the checkpoint. */
static gravel_status remove_later(drive *d)
{
    char name[64];
    for (uint64_t k = d->folder->at.snapshots;; k++) {
        snprintf(name, sizeof name, "snapshot_%04llu.%s", (unsigned long long)k, d->s->text ? "txt" : "hdf5");
        char *path = gv_run_path(d->folder->path, name);
        if (!path)
            return no_memory();
        const int files = d->s->snapshot_files;
        const int gone = files > 1 ? remove_part(path, 0) : unlink(path);
        for (int part = 1; part < files; part++)
            remove_part(path, part);
        free(path);
        if (gone != 0)
            return GRAVEL_OK;
    }
}

static gravel_status resume(drive *d, const gv_checkpoint *c)
{
    gv_run_output *folder = d->folder;
    folder->at = c->at;
    folder->blocks = c->blocks;
    d->wall_s = c->at.wall_s;
    d->block_time = c->state.time;
    char *path = gv_run_path(folder->path, "diagnostics.txt");
    gravel_status status = path ? gv_diagnostics_resume(&folder->table, path, c->at.last_line) : no_memory();
    if (!status && folder->table.rows != c->at.lines)
        status = gv_fail(GRAVEL_ERR_FORMAT, "%s has %zu lines up to the checkpoint; it had %zu: it was changed", path,
                         folder->table.rows, (size_t)c->at.lines);
    free(path);
    if (!status)
        status = remove_later(d);
    return status ? status : gv_run_restore(d->run, c);
}

gravel_status gv_run_drive(gv_run *run, gv_run_output *folder, const gv_run_settings *settings,
                           const gv_checkpoint *checkpoint, const gv_run_hooks *hooks)
{
    drive d = {.run = run,
               .folder = folder,
               .s = settings,
               .hooks = hooks,
               .begun = gv_now(),
               .looked = NAN,
               .last_error = NAN,
               .end = settings->until - gv_run_get_start(run)};
    const size_t n = gv_run_get_particles(run)->count;
    gv_blocks blocks;
    d.potential = malloc((n + 1) * sizeof *d.potential);
    folder->checkpointed = d.begun;
    gravel_status status = !d.potential ? no_memory() : checkpoint ? resume(&d, checkpoint) : begin(&d);
    /* a run that is continued beyond its end */
    if (!status && folder->at.done && checkpoint && d.block_time < d.end &&
        folder->at.last_line < settings->until * (1 - 1e-12))
        folder->at.done = 0;
    const int finished_before = folder->at.done != 0;
    if (!status)
        status = go(&d);
    if (!status && !finished_before)
        status = write_edge_checkpoint(&d);
    if (!status)
        status = write_blocks(&d, &blocks);
    if (!status)
        status = write_table(&d);
    folder->at.wall_s = finished_before ? d.wall_s : wall(&d);
    memcpy(folder->at.clock, gv_run_clocks(run), sizeof folder->at.clock);
    free(d.potential);
    return status;
}
