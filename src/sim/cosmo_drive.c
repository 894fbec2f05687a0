/* Boxes of an expanding universe, as drive.h drives them. */
#include <math.h>
#include <stdlib.h>

#include "host/base/clock.h"
#include "sim/cosmo_run.h"
#include "sim/cosmo_table.h"
#include "sim/drive.h"
#include "sim/snapshot.h"

/* Lines of the table are this far apart in ln a: at multiples of the longest step all bodies are at one time. */
static const double LINE_EVERY = 0.125;

typedef struct box {
    gv_cosmo_run *run;
    const gv_cosmo_settings *s;
    const gv_cosmo_hooks *hooks;
    char *table;
    double start; /* scale factor */
} box;

static box *of(const gv_drive *d)
{
    return d->user;
}

/* ----------------------------------------------------------------- outputs */

static double snapshot_time(const gv_drive *d, uint64_t k)
{
    const gv_cosmo_settings *s = of(d)->s;
    return k < (uint64_t)s->outputs ? fmax(log(s->output[k] / of(d)->start), 0) : INFINITY;
}

static double line_time(const gv_drive *d, uint64_t k)
{
    const double every = fmax(LINE_EVERY, of(d)->s->step_max), time = every * (double)k;
    return time < d->end ? time : d->end;
}

static gravel_status look(gv_drive *d, double time)
{
    return gv_cosmo_run_look(of(d)->run, time);
}

static gravel_status write_snapshot(gv_drive *d)
{
    const gv_cosmo_hooks *hooks = of(d)->hooks;
    const gv_particles *p = gv_cosmo_run_get_particles(of(d)->run);
    double since = gv_now();
    char *path = gv_run_snapshot_path(d->folder, d->folder->at.snapshots, "hdf5");
    gravel_status status = path ? gv_snapshot_write(p, path) : gv_drive_no_memory();
    free(path);
    gv_drive_charge(d, GV_CLOCK_SNAPSHOT, &since);
    if (!status && hooks && hooks->after_snapshot)
        status = hooks->after_snapshot(hooks->user, p, (unsigned)d->folder->at.snapshots);
    gv_drive_charge(d, GV_CLOCK_DIAGNOSE, &since);
    return status;
}

static gravel_status write_line(gv_drive *d)
{
    gv_run_position *at = &d->folder->at;
    gravel_status status = gv_cosmo_run_measure(of(d)->run);
    const gv_cosmo_line *line = gv_cosmo_run_get_line(of(d)->run);
    if (!status)
        status = gv_cosmo_table_append(of(d)->table, line);
    if (!status)
        at->error_max = fmax(at->error_max, fabs(line->error));
    return status;
}

static gravel_status settle(gv_drive *d)
{
    (void)d;
    return GRAVEL_OK;
}

static gravel_status write_blocks(gv_drive *d, gv_blocks *blocks)
{
    char *path = gv_run_path(d->folder->path, "blocks.txt");
    const gv_units none = GV_UNITS_NBODY; /* steps are numbers: of ln a */
    *blocks = d->folder->blocks;
    const gravel_status status = path ? gv_blocks_write(blocks, path, &none) : gv_drive_no_memory();
    free(path);
    return status;
}

static gravel_status save(gv_drive *d, gv_checkpoint *c)
{
    const gravel_status status = gv_cosmo_run_save(of(d)->run, c);
    return status ? status : gv_cosmo_table_sync(of(d)->table);
}

/* -------------------------------------------------------------------- steps */

static gravel_status get_next(gv_drive *d, double *time)
{
    return gv_cosmo_run_get_next(of(d)->run, time);
}

static gravel_status step(gv_drive *d, double until, gravel_hermite_step_info *info, size_t *done)
{
    (void)until;
    *done = 1;
    return gv_cosmo_run_step(of(d)->run, info);
}

static int after_step(gv_drive *d, const gravel_hermite_step_info *info)
{
    const box *b = of(d);
    gv_cosmo_progress told = {.a = b->start * exp(info->time),
                              .start = b->start,
                              .until = b->s->until,
                              .active = info->active,
                              .bodies = gv_cosmo_run_get_particles(b->run)->count,
                              .error = gv_cosmo_run_get_line(b->run)->error,
                              .wall_s = gv_drive_wall(d)};
    gv_cosmo_run_get_counts(b->run, &told.counts);
    return b->hooks && b->hooks->after_step && b->hooks->after_step(b->hooks->user, &told);
}

static gravel_status fail_stopped(gv_drive *d)
{
    return gv_fail(GRAVEL_ERR_CANCELLED, "stopped at redshift %.6g; gravel run --resume %s goes on",
                   1 / (of(d)->start * exp(d->block_time)) - 1, d->folder->path);
}

static gravel_status finish(gv_drive *d)
{
    (void)d;
    return GRAVEL_OK;
}

/* -------------------------------------------------------------------- begin */

static gravel_status create(gv_drive *d)
{
    return gv_cosmo_table_create(of(d)->table, gv_cosmo_run_get_particles(of(d)->run));
}

static gravel_status start(gv_drive *d)
{
    return gv_cosmo_run_start(of(d)->run);
}

static gravel_status resume(gv_drive *d, const gv_checkpoint *c)
{
    const gravel_status status = gv_cosmo_table_cut(of(d)->table, (size_t)c->at.lines);
    return status ? status : gv_cosmo_run_restore(of(d)->run, c);
}

gravel_status gv_cosmo_drive(gv_cosmo_run *run, gv_run_output *folder, const gv_cosmo_settings *settings,
                             const gv_checkpoint *checkpoint, const gv_cosmo_hooks *hooks)
{
    static const gv_drive_kind kind = GV_DRIVE_KIND;
    box b = {.run = run, .s = settings, .hooks = hooks, .start = gv_cosmo_run_get_particles(run)->time};
    gv_drive d = {.kind = &kind,
                  .user = &b,
                  .folder = folder,
                  .clock = gv_cosmo_run_clocks(run),
                  .end = log(settings->until / b.start),
                  .checkpoint_every = settings->checkpoint_every};
    b.table = gv_run_path(folder->path, GV_COSMO_TABLE);
    const gravel_status status = b.table ? gv_drive_go(&d, checkpoint) : gv_drive_no_memory();
    free(b.table);
    return status;
}
