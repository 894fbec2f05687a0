/* Runs of any bodies, as drive.h drives them. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/base/clock.h"
#include "sim/drive.h"
#include "sim/run_row.h"
#include "sim/snapshot.h"

typedef struct simulation {
    gv_run *run;
    const gv_run_settings *s;
    const gv_run_hooks *hooks;
    double *potential;
    double last_error; /* energy error of the last line */
    gv_row row;        /* the last line, while it is worked out: it reads the bodies that were looked at */
} simulation;

static simulation *of(const gv_drive *d)
{
    return d->user;
}

/* ----------------------------------------------------------------- outputs */

/* When regular output number k is; the end stands for one that is nearly there, since k x interval is rounded. */
static double output_time(const gv_drive *d, double every, uint64_t k)
{
    const double time = every * (double)k;
    if (every > 0 && fabs(time - d->end) < 1e-9 * every)
        return d->end;
    return every <= 0 || time > d->end ? INFINITY : time;
}

static double snapshot_time(const gv_drive *d, uint64_t k)
{
    return output_time(d, of(d)->s->snapshot_every, k);
}

static double line_time(const gv_drive *d, uint64_t k)
{
    return output_time(d, of(d)->s->diagnose_every, k);
}

/* Waits for the line before, which time goes into diagnostics. */
static gravel_status settle(gv_drive *d)
{
    double since = gv_now();
    const gravel_status status = gv_row_end(&of(d)->row);
    gv_drive_charge(d, GV_CLOCK_DIAGNOSE, &since);
    return status;
}

static gravel_status look(gv_drive *d, double time)
{
    const gravel_status status = settle(d);
    return status ? status : gv_run_look(of(d)->run, time);
}

static gravel_status write_snapshot(gv_drive *d)
{
    const gv_run_settings *s = of(d)->s;
    double since = gv_now();
    char *path = gv_run_snapshot_path(d->folder, d->folder->at.snapshots, s->text ? "txt" : "hdf5");
    const gravel_status status = !path                       ? gv_drive_no_memory()
                                 : s->together && s->company ? gv_run_write_together(of(d)->run, path)
                                                             : gv_snapshot_write_parts(gv_run_get_particles(of(d)->run),
                                                                                       path, s->snapshot_files);
    free(path);
    gv_drive_charge(d, GV_CLOCK_SNAPSHOT, &since);
    return status;
}

static gravel_status write_line(gv_drive *d)
{
    simulation *r = of(d);
    gv_run_position *at = &d->folder->at;
    const gv_particles *p = gv_run_get_particles(r->run);
    gv_diagnostics line;
    gravel_hermite_counts counts;
    gravel_status status = gv_run_find_potentials(r->run, r->potential);
    double since = gv_now();
    if (!status)
        status = gv_row_end(&r->row);
    if (status)
        return status;
    gv_diagnostics_fill_sums(p, r->potential, &line);
    if (!isfinite(line.energy))
        return gv_fail(GRAVEL_ERR_STATE,
                       "the energy at time %.9g is not a number: positions have left the range of %s; more softening, "
                       "shorter steps or --precision dp may help",
                       p->time, gravel_precision_name(r->s->precision));
    gv_run_get_counts(r->run, &counts);
    const double blocks = (double)counts.blocks - at->marked_blocks, steps = (double)counts.steps - at->marked_steps;
    line.steps = (double)counts.steps;
    line.active_share = blocks > 0 ? steps / blocks / (double)p->count : 0;
    r->last_error = gv_diagnostics_error(&d->folder->table, line.energy);
    gv_row_start(&r->row, p, &d->folder->table, &line);
    gv_drive_charge(d, GV_CLOCK_DIAGNOSE, &since);
    at->error_max = fmax(at->error_max, fabs(r->last_error));
    at->marked_blocks = (double)counts.blocks;
    at->marked_steps = (double)counts.steps;
    at->last_line = line.time;
    return GRAVEL_OK;
}

/* With the time-steps, which the integrator counts. */
static gravel_status write_blocks(gv_drive *d, gv_blocks *blocks)
{
    char *path = gv_run_path(d->folder->path, "blocks.txt");
    *blocks = d->folder->blocks;
    gravel_status status = path ? gv_run_add_steps(of(d)->run, blocks) : gv_drive_no_memory();
    if (!status)
        status = gv_blocks_write(blocks, path, &gv_run_get_particles(of(d)->run)->units);
    free(path);
    return status;
}

/* The diagnostics in HDF5, beside snapshots in it. */
static gravel_status finish(gv_drive *d)
{
    gv_diagnostics_table table;
    if (of(d)->s->text || !gv_snapshot_has_hdf5())
        return GRAVEL_OK;
    char *path = gv_run_path(d->folder->path, "diagnostics.hdf5");
    gravel_status status = path ? gv_diagnostics_read(&table, d->folder->table.path) : gv_drive_no_memory();
    if (!status) {
        status = gv_diagnostics_write_hdf5(&table, path);
        gv_diagnostics_free(&table);
    }
    free(path);
    return status;
}

static gravel_status save(gv_drive *d, gv_checkpoint *c)
{
    const gravel_status status = gv_run_save(of(d)->run, c);
    return status ? status : gv_diagnostics_sync(&d->folder->table);
}

/* -------------------------------------------------------------------- steps */

static gravel_status get_next(gv_drive *d, double *time)
{
    return gv_run_get_next(of(d)->run, time);
}

static gravel_status step(gv_drive *d, double until, gravel_hermite_step_info *info, size_t *done)
{
    const gv_run_hooks *hooks = of(d)->hooks;
    const size_t most = hooks && hooks->after_step && !hooks->ahead ? 1 : GV_DRIVE_BLOCKS;
    return gv_run_step(of(d)->run, until, most, info, done);
}

static int after_step(gv_drive *d, const gravel_hermite_step_info *info)
{
    simulation *r = of(d);
    gravel_hermite_counts counts;
    const gv_particles *p = gv_run_get_particles(r->run);
    if (info->active == p->count && info->time > d->block_time && r->s->steps != GV_RUN_BLOCK)
        gv_blocks_add_steps(&d->folder->blocks, info->time - d->block_time, info->active);
    if (!r->hooks || !r->hooks->after_step)
        return 0;
    gv_run_get_counts(r->run, &counts);
    const gv_run_progress_info told = {gv_run_get_start(r->run) + info->time,
                                       gv_run_get_start(r->run),
                                       r->s->until,
                                       counts.blocks,
                                       counts.steps,
                                       info->active,
                                       p->count,
                                       r->last_error,
                                       gv_drive_wall(d)};
    return r->hooks->after_step(r->hooks->user, r->run, &told);
}

static gravel_status fail_stopped(gv_drive *d)
{
    return gv_fail(GRAVEL_ERR_CANCELLED, "stopped at time %.9g; gravel run --resume %s goes on",
                   gv_run_get_start(of(d)->run) + d->block_time, d->folder->path);
}

/* -------------------------------------------------------------------- begin */

static gravel_status create(gv_drive *d)
{
    const gv_particles *p = gv_run_get_particles(of(d)->run);
    char *path = gv_run_path(d->folder->path, "diagnostics.txt");
    const gravel_status status =
        path ? gv_diagnostics_create(&d->folder->table, path, &p->units, p->count) : gv_drive_no_memory();
    free(path);
    return status;
}

static gravel_status start(gv_drive *d)
{
    return gv_run_start(of(d)->run);
}

static int remove_part(const char *path, int part)
{
    char *name = gv_snapshot_part_name(path, part);
    const int gone = name ? unlink(name) : -1;
    free(name);
    return gone;
}

/* Snapshots after the checkpoint. */
static gravel_status remove_later(gv_drive *d)
{
    const gv_run_settings *s = of(d)->s;
    for (uint64_t k = d->folder->at.snapshots;; k++) {
        char *path = gv_run_snapshot_path(d->folder, k, s->text ? "txt" : "hdf5");
        if (!path)
            return gv_drive_no_memory();
        const int gone = s->snapshot_files > 1 ? remove_part(path, 0) : unlink(path);
        for (int part = 1; part < s->snapshot_files; part++)
            remove_part(path, part);
        free(path);
        if (gone != 0)
            return GRAVEL_OK;
    }
}

static gravel_status resume(gv_drive *d, const gv_checkpoint *c)
{
    gv_run_position *at = &d->folder->at;
    char *path = gv_run_path(d->folder->path, "diagnostics.txt");
    gravel_status status =
        path ? gv_diagnostics_resume(&d->folder->table, path, c->at.last_line) : gv_drive_no_memory();
    if (!status && d->folder->table.rows != c->at.lines)
        status = gv_fail(GRAVEL_ERR_FORMAT, "%s has %zu lines up to the checkpoint; it had %zu: it was changed", path,
                         d->folder->table.rows, (size_t)c->at.lines);
    free(path);
    if (!status)
        status = remove_later(d);
    if (!status)
        status = gv_run_restore(of(d)->run, c);
    /* a run that is continued beyond its end */
    if (at->done && d->block_time < d->end && at->last_line < of(d)->s->until * (1 - 1e-12))
        at->done = 0;
    return status;
}

gravel_status gv_run_drive(gv_run *run, gv_run_output *folder, const gv_run_settings *settings,
                           const gv_checkpoint *checkpoint, const gv_run_hooks *hooks)
{
    static const gv_drive_kind kind = GV_DRIVE_KIND;
    simulation r = {.run = run, .s = settings, .hooks = hooks, .last_error = NAN, .row = GV_ROW_INIT};
    gv_drive d = {.kind = &kind,
                  .user = &r,
                  .folder = folder,
                  .clock = gv_run_clocks(run),
                  .end = settings->until - gv_run_get_start(run),
                  .checkpoint_every = settings->checkpoint_every,
                  .edges = 1};
    r.potential = malloc((gv_run_get_particles(run)->count + 1) * sizeof *r.potential);
    const gravel_status status = r.potential ? gv_drive_go(&d, checkpoint) : gv_drive_no_memory();
    gv_row_wait(&r.row); /* of a run that failed */
    free(r.potential);
    return status;
}
