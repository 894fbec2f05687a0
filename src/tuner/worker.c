/* The parent's side of a worker. */
#include "tuner/worker.h"
#include "host/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void gv_tune_worker_init(gv_tune_worker *worker, const gv_tune_worker_options *options)
{
    memset(worker, 0, sizeof *worker);
    worker->options = options;
    worker->to = worker->from = worker->errors = -1;
}

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

/* Kills if it still runs (after a moment, when its pipe is closed already, so that its own end is seen); returns what
 * waitpid said. */
static int reap(gv_tune_worker *worker, int force)
{
    static const struct timespec moment = {0, 5000000};
    int state = 0, gone = 0;

    for (int wait = 0; worker->pid > 0 && force < 0 && !gone && wait < 60; wait++) {
        gone = waitpid(worker->pid, &state, WNOHANG) == worker->pid;
        if (!gone)
            nanosleep(&moment, NULL);
    }
    if (worker->pid > 0 && !gone) {
        if (force != 0)
            kill(worker->pid, SIGKILL);
        while (waitpid(worker->pid, &state, 0) < 0 && errno == EINTR) {
        }
    }
    worker->pid = 0;
    close_fd(&worker->to);
    close_fd(&worker->from);
    worker->n_text = 0;
    return state;
}

void gv_tune_worker_stop(gv_tune_worker *worker)
{
    reap(worker, 1);
    close_fd(&worker->errors);
}

/* Only calls that are safe between fork and exec: the parent may have threads. */
static void become_worker(char *const *argv, const int *requests, const int *answers, int errors)
{
    int from_parent = fcntl(requests[0], F_DUPFD, 10), to_parent = fcntl(answers[1], F_DUPFD, 10);
    int messages = fcntl(errors, F_DUPFD, 10);

    sigset_t none;

    /* Ctrl-C reaches the whole process group, and so does `kill` of one: the worker ends when the parent does, and what
     * it measures until then is no failure of a candidate */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (from_parent < 0 || to_parent < 0 || messages < 0 || dup2(from_parent, 0) < 0 || dup2(messages, 1) < 0 ||
        dup2(messages, 2) < 0 || dup2(to_parent, GV_WORKER_ANSWERS) < 0) {
        _exit(126);
    }
    close(from_parent);
    close(to_parent);
    close(messages);
    execvp(argv[0], argv);
    _exit(127);
}

/* An unlinked file: a pipe that is not read would block a driver that prints much. */
static int open_errors(void)
{
    const char *dir = getenv("TMPDIR");
    char name[512];
    int fd;

    snprintf(name, sizeof name, "%s/gravel-tune.XXXXXX", dir != NULL && dir[0] != '\0' ? dir : "/tmp");
    fd = mkstemp(name);
    if (fd >= 0) {
        unlink(name);
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    } else {
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    }
    return fd;
}

static int make_pipe(int fd[2])
{
    if (pipe(fd) != 0)
        return 0;
    fcntl(fd[0], F_SETFD, FD_CLOEXEC);
    fcntl(fd[1], F_SETFD, FD_CLOEXEC);
    return 1;
}

/* The next whole line in worker->text, moved to `line`; 0: there is none yet. */
static int take_line(gv_tune_worker *worker, char *line, size_t size)
{
    char *end = memchr(worker->text, '\n', worker->n_text);
    size_t n;

    if (end == NULL)
        return 0;
    n = (size_t)(end - worker->text);
    snprintf(line, size, "%.*s", (int)n, worker->text);
    memmove(worker->text, end + 1, worker->n_text - n - 1);
    worker->n_text -= n + 1;
    return 1;
}

static int interrupted(const gv_tune_worker *worker)
{
    return worker->options->interrupted != NULL && worker->options->interrupted(worker->options->user);
}

/* 1: a line; 0: time is up, or a signal came; -1: the other side is gone. */
static int read_line(gv_tune_worker *worker, double deadline, char *line, size_t size)
{
    while (!take_line(worker, line, size)) {
        struct pollfd in = {worker->from, POLLIN, 0};
        double left = deadline - gv_now();
        ssize_t got;
        int ready;

        if (worker->n_text == sizeof worker->text)
            return -1; /* no end of line in 4 kB: not our protocol */
        if (interrupted(worker))
            return 0;
        /* a signal may come just before, so not for long */
        ready = poll(&in, 1, left > 0.2 ? 200 : left > 0 ? (int)(left * 1000) + 1 : 0);
        if ((ready < 0 && errno == EINTR) || (ready == 0 && left > 0.2))
            continue;
        if (ready == 0)
            return 0;
        got = read(worker->from, worker->text + worker->n_text, sizeof worker->text - worker->n_text);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return -1;
        worker->n_text += got > 0 ? (size_t)got : 0;
    }
    return 1;
}

/* The last line the process wrote to its standard error since it was asked. */
static void last_words(const gv_tune_worker *worker, char *text, size_t size)
{
    char tail[512];
    const off_t end = lseek(worker->errors, 0, SEEK_END), most = sizeof tail - 1;
    const off_t from = end - worker->said > most ? end - most : worker->said;
    ssize_t n = end > from ? pread(worker->errors, tail, (size_t)(end - from), from) : 0;
    char *line;

    text[0] = '\0';
    if (n <= 0)
        return;
    while (n > 0 && (tail[n - 1] == '\n' || tail[n - 1] == '\r'))
        n--;
    tail[n] = '\0';
    line = strrchr(tail, '\n');
    snprintf(text, size, "%.150s", line != NULL ? line + 1 : tail);
    for (char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
            *c = '?';
}

static gravel_status wait_until_ready(gv_tune_worker *worker)
{
    char line[1024], words[160];
    int got = read_line(worker, gv_now() + worker->options->start_s, line, sizeof line), state;

    if (got == 1 && strcmp(line, "ready") == 0)
        return GRAVEL_OK;
    last_words(worker, words, sizeof words);
    state = reap(worker, got == 0 ? 1 : -1);
    if (got == 1)
        return gv_fail(GRAVEL_ERR_STATE, "a tuning worker cannot start: %s", line);
    if (got == 0 && interrupted(worker))
        return gv_fail(GRAVEL_ERR_CANCELLED, "stopped while a tuning worker started");
    if (got == 0)
        return gv_fail(GRAVEL_ERR_STATE, "a tuning worker did not start within %.0f s", worker->options->start_s);
    if (WIFEXITED(state) && WEXITSTATUS(state) == 127)
        return gv_fail(GRAVEL_ERR_STATE, "the tuning worker '%s' cannot be run", worker->options->argv[0]);
    return gv_fail(GRAVEL_ERR_STATE, "a tuning worker ended while starting%s%s", words[0] != '\0' ? ": " : "", words);
}

static gravel_status start(gv_tune_worker *worker)
{
    int requests[2] = {-1, -1}, answers[2] = {-1, -1};

    if (worker->errors < 0)
        worker->errors = open_errors();
    if (worker->errors < 0 || !make_pipe(requests) || !make_pipe(answers)) {
        close_fd(&requests[0]);
        close_fd(&requests[1]);
        return gv_fail(GRAVEL_ERR_STATE, "a tuning worker cannot be started: %s", strerror(errno));
    }
    worker->said = lseek(worker->errors, 0, SEEK_END);
    worker->pid = fork();
    if (worker->pid == 0)
        become_worker(worker->options->argv, requests, answers, worker->errors);
    close_fd(&requests[0]);
    close_fd(&answers[1]);
    worker->to = requests[1];
    worker->from = answers[0];
    worker->n_text = 0;
    worker->starts++;
    if (worker->pid < 0) {
        worker->pid = 0;
        reap(worker, 0);
        return gv_fail(GRAVEL_ERR_STATE, "a tuning worker cannot be started: %s", strerror(errno));
    }
    return wait_until_ready(worker);
}

static int write_line(int fd, const char *text)
{
    size_t n = strlen(text);

    while (n > 0) {
        ssize_t put = write(fd, text, n);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return 0;
        text += put;
        n -= (size_t)put;
    }
    return 1;
}

gravel_status gv_tune_worker_send(gv_tune_worker *worker, const gv_request *request)
{
    char *text = gv_request_print(request);
    int sent = 0;

    if (text == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a request");
    /* it may have ended after its last answer */
    for (int attempt = 0; attempt < 2 && !sent; attempt++) {
        gravel_status status = worker->pid == 0 ? start(worker) : GRAVEL_OK;

        if (status != GRAVEL_OK) {
            free(text);
            return status;
        }
        worker->said = lseek(worker->errors, 0, SEEK_END);
        sent = write_line(worker->to, text) && write_line(worker->to, "\n");
        if (!sent)
            reap(worker, 1);
    }
    free(text);
    strcpy(worker->phase, "build");
    return sent ? GRAVEL_OK : gv_fail(GRAVEL_ERR_STATE, "a tuning worker takes no requests");
}

int gv_tune_worker_send_more(gv_tune_worker *worker, const gv_request *request)
{
    char *text = worker->pid != 0 ? gv_request_print(request) : NULL;
    const int sent = text != NULL && write_line(worker->to, text) && write_line(worker->to, "\n");

    free(text);
    return sent;
}

static void describe_death(gv_tune_worker *worker, int timed_out, double limit_s, gv_outcome *outcome)
{
    int building = strcmp(worker->phase, "build") == 0, state;
    char words[160];

    last_words(worker, words, sizeof words);
    state = reap(worker, timed_out ? 1 : -1);
    memset(outcome, 0, sizeof *outcome);
    if (timed_out) {
        outcome->status = GV_OUTCOME_TIMEOUT;
        snprintf(outcome->reason, sizeof outcome->reason, "not finished after %.3g s (%s)", limit_s, worker->phase);
        return;
    }
    outcome->status = building ? GV_OUTCOME_COMPILE : GV_OUTCOME_LAUNCH;
    if (WIFSIGNALED(state)) {
        snprintf(outcome->reason, sizeof outcome->reason, "the process died in phase %s: signal %d%s%s", worker->phase,
                 WTERMSIG(state), words[0] != '\0' ? ": " : "", words);
    } else {
        snprintf(outcome->reason, sizeof outcome->reason, "the process ended in phase %s: exit %d%s%s", worker->phase,
                 WEXITSTATUS(state), words[0] != '\0' ? ": " : "", words);
    }
}

void gv_tune_worker_receive(gv_tune_worker *worker, double limit_s, gv_outcome *outcome)
{
    double begin = gv_now();
    char line[2048];
    int got;

    while ((got = read_line(worker, begin + limit_s, line, sizeof line)) == 1) {
        if (strncmp(line, "phase ", 6) == 0) {
            snprintf(worker->phase, sizeof worker->phase, "%.15s", line + 6);
        } else if (gv_outcome_read(line, outcome)) {
            /* it ends by itself after a failed launch */
            if (outcome->status == GV_OUTCOME_LAUNCH)
                reap(worker, 1);
            return;
        }
    }
    describe_death(worker, got == 0, limit_s, outcome);
    outcome->cost_s = gv_now() - begin;
}

gravel_status gv_tune_worker_ask(gv_tune_worker *worker, const gv_request *request, double limit_s, gv_outcome *outcome)
{
    gravel_status status = gv_tune_worker_send(worker, request);

    if (status == GRAVEL_OK)
        gv_tune_worker_receive(worker, limit_s, outcome);
    return status;
}
