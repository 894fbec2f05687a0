#include "sim/drive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/clock.h"

void gv_drive_charge(gv_drive *d, gv_run_clock clock, double *since)
{
    const double now = gv_now();
    d->clock[clock] += now - *since;
    *since = now;
}

double gv_drive_wall(const gv_drive *d)
{
    return d->wall_s + gv_now() - d->begun;
}

gravel_status gv_drive_no_memory(void)
{
    return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the outputs of a run");
}

/* ----------------------------------------------------------------- outputs */

static gravel_status look(gv_drive *d, double time)
{
    if (d->looked == time)
        return GRAVEL_OK;
    d->looked = NAN;
    const gravel_status status = d->kind->look(d, time);
    if (!status)
        d->looked = time;
    return status;
}

/* Those outputs that are due at this time. */
static gravel_status write_outputs(gv_drive *d, double time)
{
    gv_run_position *at = &d->folder->at;
    const int last = time >= d->end, edge = d->edges && (last || time == 0);
    const int snapshot = time == d->kind->snapshot_time(d, at->snapshot),
              line = time == d->kind->line_time(d, at->line);
    gravel_status status = GRAVEL_OK;
    if (snapshot || edge) {
        status = look(d, time);
        if (!status)
            status = d->kind->write_snapshot(d);
        at->snapshots += !status;
        at->snapshot += !status && snapshot;
    }
    if (!status && (line || edge)) {
        status = look(d, time);
        if (!status)
            status = d->kind->write_line(d);
        at->lines += !status;
        at->line += !status && line;
    }
    at->done = !status && last;
    return status;
}

/* ------------------------------------------------------------- checkpoints */

static gravel_status write_checkpoint(gv_drive *d)
{
    gv_run_output *folder = d->folder;
    gravel_status status = d->kind->settle(d);
    double next;
    gv_checkpoint c;
    memset(&c, 0, sizeof c);
    /* a body whose next step is too short has step_min in its place: no state to go on from */
    if (!status)
        status = d->kind->get_next(d, &next);
    double since = gv_now(); /* waiting for the next step has a clock of its own */
    char *path = gv_run_path(folder->path, GV_RUN_CHECKPOINT);
    if (!status)
        status = path ? d->kind->save(d, &c) : gv_drive_no_memory();
    if (!status)
        status = d->kind->write_blocks(d, &c.blocks);
    folder->at.wall_s = gv_drive_wall(d);
    memcpy(folder->at.clock, d->clock, sizeof folder->at.clock);
    c.record = (char *)folder->record;
    c.at = folder->at;
    if (!status)
        status = gv_checkpoint_write(&c, path);
    free(c.bodies);
    free(c.choices);
    free(path);
    if (!status)
        folder->checkpointed = gv_now();
    gv_drive_charge(d, GV_CLOCK_CHECKPOINT, &since);
    return status;
}

/* Before the first block and after the last one: where steps must go on first, there is none. */
static gravel_status write_edge_checkpoint(gv_drive *d)
{
    const gravel_status status = write_checkpoint(d);
    return status == GRAVEL_ERR_STATE ? GRAVEL_OK : status;
}

/* -------------------------------------------------------------------- steps */

static gravel_status step(gv_drive *d, double until, int *stop)
{
    gravel_hermite_step_info info[GV_DRIVE_BLOCKS];
    size_t done = 0;
    const gravel_status status = d->kind->step(d, until, info, &done);
    if (status)
        return status;
    d->looked = NAN;
    for (size_t k = 0; k < done; k++) {
        gv_blocks_add(&d->folder->blocks, info[k].active);
        *stop = d->kind->after_step(d, &info[k]) || *stop;
        d->block_time = info[k].time;
    }
    return status;
}

/* To the end, or to where it is stopped. */
static gravel_status go(gv_drive *d)
{
    gv_run_position *at = &d->folder->at;
    int stop = 0;
    gravel_status status = GRAVEL_OK;
    while (!status && !at->done) {
        double next;
        const double due = fmin(fmin(d->kind->snapshot_time(d, at->snapshot), d->kind->line_time(d, at->line)), d->end);
        if (stop || (d->checkpoint_every > 0 && gv_now() - d->folder->checkpointed > d->checkpoint_every)) {
            status = write_checkpoint(d);
            if (!status && stop)
                return d->kind->fail_stopped(d);
            if (status && status != GRAVEL_ERR_STATE)
                return status;
        }
        status = d->kind->get_next(d, &next);
        if (!status && next <= due)
            status = step(d, due, &stop);
        /* at the time of a block the bodies are looked at after it */
        if (!status && (next > due || (next <= due && d->block_time == due)))
            status = write_outputs(d, due);
    }
    return status;
}

/* First forces take long and may fail: an earlier run of the folder stays where it is until they are known. */
static gravel_status begin(gv_drive *d)
{
    gv_run_output *folder = d->folder;
    const int late = folder->replace != NULL;
    gravel_status status = late ? d->kind->start(d) : GRAVEL_OK;
    if (!status && late)
        status = look(d, 0);
    if (!status && late)
        status = folder->replace(folder->user);
    folder->replace = status ? folder->replace : NULL;
    if (!status)
        status = d->kind->create(d);
    if (!status && !late)
        status = d->kind->start(d);
    if (!status)
        status = write_outputs(d, 0);
    return status ? status : write_edge_checkpoint(d);
}

static gravel_status resume(gv_drive *d, const gv_checkpoint *c)
{
    d->folder->at = c->at;
    d->folder->blocks = c->blocks;
    d->wall_s = c->at.wall_s;
    d->block_time = c->state.time;
    const gravel_status status = d->kind->resume(d, c);
    /* with other options than before, which another --resume is to know */
    return status || !c->record || strcmp(c->record, d->folder->record) == 0 ? status : write_edge_checkpoint(d);
}

gravel_status gv_drive_go(gv_drive *d, const gv_checkpoint *checkpoint)
{
    gv_blocks blocks;
    d->begun = d->folder->checkpointed = gv_now();
    d->looked = NAN;
    gravel_status status = checkpoint ? resume(d, checkpoint) : begin(d);
    if (!status)
        gv_run_output_forget(d->folder);
    const int finished_before = d->folder->at.done != 0;
    if (!status)
        status = go(d);
    if (!status && !finished_before)
        status = write_edge_checkpoint(d);
    if (!status)
        status = d->kind->write_blocks(d, &blocks);
    if (!status)
        status = d->kind->settle(d);
    if (!status)
        status = d->kind->finish(d);
    d->folder->at.wall_s = finished_before ? d->wall_s : gv_drive_wall(d);
    memcpy(d->folder->at.clock, d->clock, sizeof d->folder->at.clock);
    return status;
}
