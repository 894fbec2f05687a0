#include <string.h>

#include "tuner/run.h"

void gv_builders_init(gv_builders *builders, int n, const gv_tune_worker_options *options)
{
    memset(builders, 0, sizeof *builders);
    builders->n = n < GV_MAX_BUILDERS ? n : GV_MAX_BUILDERS;
    for (int w = 0; w < GV_MAX_BUILDERS; w++)
        gv_tune_worker_init(&builders->worker[w], options);
}

void gv_builders_stop(gv_builders *builders)
{
    for (int w = 0; w < builders->n; w++)
        gv_tune_worker_stop(&builders->worker[w]);
}

void gv_builders_start(gv_builders *builders, const gv_request *request, int n)
{
    builders->request = request;
    builders->n_requests = n;
    for (int w = 0; w < builders->n; w++) {
        builders->received[w] = 0;
        builders->dead[w] = w < n && gv_tune_worker_send(&builders->worker[w], &request[w]) != GRAVEL_OK;
        /* A few short lines fit into the pipe, so this does not block.  One that has died by now leaves what it has
         * answered; a new process in its place would answer the rest of the queue as if it were the first. */
        for (int i = w + builders->n; i < n && !builders->dead[w]; i += builders->n)
            if (!gv_tune_worker_send_more(&builders->worker[w], &request[i]))
                break;
    }
}

static void receive_next(gv_builders *builders, int w, double limit_s)
{
    int i = w + builders->received[w] * builders->n;

    gv_tune_worker_receive(&builders->worker[w], limit_s, &builders->outcome[i]);
    builders->received[w]++;
    /* the process is gone and the rest of its queue with it */
    builders->dead[w] = builders->worker[w].pid == 0;
}

int gv_builders_wait(gv_builders *builders, int i, double limit_s, gv_outcome *outcome)
{
    int w = i % builders->n;

    while (builders->received[w] <= i / builders->n && !builders->dead[w])
        receive_next(builders, w, limit_s);
    if (builders->received[w] <= i / builders->n)
        return 0;
    *outcome = builders->outcome[i];
    return 1;
}

void gv_builders_finish(gv_builders *builders, double limit_s)
{
    gv_outcome outcome;

    for (int i = 0; i < builders->n_requests; i++)
        gv_builders_wait(builders, i, limit_s, &outcome);
    builders->n_requests = 0;
}
