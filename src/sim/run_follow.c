/* Processes that follow: they do what the first one tells them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/drive.h"
#include "sim/run_engine.h"

static gravel_status follow_save(gv_run *r)
{
    gv_checkpoint c = {.record = NULL};
    const gravel_status status = gv_run_save(r, &c);
    free(c.bodies);
    free(c.choices);
    return status;
}

static gravel_status follow_potentials(gv_run *r)
{
    double *potential = malloc((r->p.count + 1) * sizeof *potential);
    if (!potential)
        return gv_run_done(r, gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu potentials", r->p.count));
    const gravel_status status = gv_run_find_potentials(r, potential);
    free(potential);
    return status;
}

static gravel_status follow_add_steps(gv_run *r)
{
    gv_blocks none;
    memset(&none, 0, sizeof none);
    return gv_run_add_steps(r, &none);
}

gravel_status gv_run_follow(gv_run *r, gv_run_order order, double time, const gv_checkpoint *checkpoint)
{
    gravel_hermite_step_info info[GV_DRIVE_BLOCKS];
    size_t taken;
    switch (order) {
    case GV_RUN_START:
        return gv_run_start(r);
    case GV_RUN_RESTORE:
        return gv_run_restore(r, checkpoint);
    case GV_RUN_NEXT:
        return gv_run_get_next(r, &time);
    case GV_RUN_STEP:
        return gv_run_step(r, INFINITY, 1, info, &taken);
    case GV_RUN_STEPS:
        return gv_run_step(r, time, GV_DRIVE_BLOCKS, info, &taken);
    case GV_RUN_LOOK:
        return gv_run_look(r, time);
    case GV_RUN_POTENTIALS:
        return follow_potentials(r);
    case GV_RUN_ADD_STEPS:
        return follow_add_steps(r);
    case GV_RUN_SAVE:
        return follow_save(r);
    case GV_RUN_SNAPSHOT:
        return gv_run_write_together(r, NULL);
    }
    return gv_fail(GRAVEL_ERR_INTERNAL, "there is no order %d to follow", (int)order);
}
