#include "tuner/kept.h"

#include <stdio.h>
#include <string.h>

void gv_kept_drop(gv_kept *kept, gv_kept_release_fn release)
{
    for (int k = 0; k < kept->n; k++)
        release(kept->at[k].trial);
    kept->n = 0;
}

void *gv_kept_find(gv_kept *kept, const gv_request *request, gv_kept_release_fn release)
{
    if (request->turn == 0 || !gv_task_same(&kept->task, &request->task))
        gv_kept_drop(kept, release);
    for (int k = 0; k < kept->n; k++)
        if (strcmp(kept->at[k].configuration, request->configuration) == 0)
            return kept->at[k].trial;
    return NULL;
}

void gv_kept_add(gv_kept *kept, const gv_request *request, void *trial, gv_kept_release_fn release)
{
    if (kept->n == GV_KEPT_MOST) {
        release(trial);
        return;
    }
    kept->task = request->task;
    snprintf(kept->at[kept->n].configuration, sizeof kept->at[0].configuration, "%s", request->configuration);
    kept->at[kept->n++].trial = trial;
}
