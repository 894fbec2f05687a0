/* The worker process. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/subject.h"
#include "host/base/clock.h"
#include "tuner/worker.h"

/* The main thread may be inside a kernel that never ends when the parent dies; this thread detects that the pipe
 * closes. */
static void *lifeline(void *unused)
{
    struct pollfd in = {0, 0, 0};

    for (;;)
        if (poll(&in, 1, -1) > 0 && (in.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
            _exit(0);
    return unused;
}

static void say(const char *line)
{
    size_t n = strlen(line);

    while (n > 0) {
        ssize_t put = write(GV_WORKER_ANSWERS, line, n);

        if (put <= 0)
            _exit(1);
        line += put;
        n -= (size_t)put;
    }
}

static void tell_phase(const char *phase, void *user)
{
    char line[64];

    (void)user;
    snprintf(line, sizeof line, "phase %s\n", phase);
    say(line);
}

static void answer(const gv_outcome *outcome)
{
    char *text = gv_outcome_print(outcome);

    if (text == NULL)
        _exit(1);
    say(text);
    say("\n");
    free(text);
}

static int serve(gravel_context *context, const char *line, const gv_subject **subject, void **state)
{
    gv_request request;
    gv_outcome outcome;
    double start = gv_now();

    memset(&outcome, 0, sizeof outcome);
    if (!gv_request_parse(line, &request)) {
        outcome.status = GV_OUTCOME_CONSTRAINT;
        snprintf(outcome.reason, sizeof outcome.reason, "the request is not understood");
        answer(&outcome);
        return 1;
    }
    if (*subject == NULL || strcmp((*subject)->space->kernel, request.task.kernel) != 0) {
        if (*subject != NULL)
            (*subject)->close(*state);
        *subject = gv_subject_find(request.task.kernel);
        *state = *subject != NULL ? (*subject)->open() : NULL;
    }
    if (*state == NULL) {
        outcome.status = GV_OUTCOME_CONSTRAINT;
        snprintf(outcome.reason, sizeof outcome.reason, "'%s' cannot be tuned", request.task.kernel);
    } else {
        (*subject)->evaluate(*state, context, &request, tell_phase, NULL, &outcome);
    }
    outcome.cost_s = gv_now() - start;
    answer(&outcome);
    /* after a failed launch a device may be unusable for the rest of the process */
    return outcome.status != GV_OUTCOME_LAUNCH;
}

int gv_tune_worker_main(const char *device, int no_fp64)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_context *context = NULL;
    const gv_subject *subject = NULL;
    void *state = NULL;
    pthread_t watcher;
    char *line = NULL;
    size_t room = 0;

    if (pthread_create(&watcher, NULL, lifeline, NULL) != 0)
        return 1;
    options.device = device;
    options.no_fp64 = no_fp64;
    /* candidates set every tunable; profiles would only cost time */
    options.profile_dir = "";
    if (gravel_context_create(&context, &options) != GRAVEL_OK) {
        say("failed ");
        say(gravel_error_message());
        say("\n");
        return 1;
    }
    context->for_once = 1;
    say("ready\n");
    while (getline(&line, &room, stdin) > 0)
        if (!serve(context, line, &subject, &state))
            break;
    /* nothing is released: a device in a bad state may hang there, and the process ends anyway */
    _exit(0);
}
