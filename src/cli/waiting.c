#include "cli/waiting.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    int running, over, done, total, held;
    gv_waiting_for counted;
    const char *what;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void wait_until(struct timespec *end, long milliseconds)
{
    end->tv_sec += milliseconds / 1000;
    end->tv_nsec += milliseconds % 1000 * 1000000;
    if (end->tv_nsec >= 1000000000) {
        end->tv_nsec -= 1000000000;
        end->tv_sec++;
    }
    while (!state.over && pthread_cond_timedwait(&state.changed, &state.lock, end) == 0) {
    }
}

static void *show(void *unused)
{
    struct timespec end;
    int shown = 0;

    clock_gettime(CLOCK_REALTIME, &end);
    pthread_mutex_lock(&state.lock);
    wait_until(&end, 2000);
    for (; !state.over; shown |= !state.held, wait_until(&end, 300)) {
        const int now = state.done + 1;

        if (state.held)
            continue;

        /* programs are counted by an estimate that may be too small */
        fprintf(stderr, "\r\033[K%s %d of %d", state.what, now, now > state.total ? now : state.total);
        fflush(stderr);
    }
    if (shown && !state.held)
        fputs("\r\033[K", stderr);
    fflush(stderr);
    pthread_mutex_unlock(&state.lock);
    return unused;
}

void gv_waiting_start(const char *what, int total, gv_waiting_for counted)
{
    if (state.running || !isatty(STDERR_FILENO))
        return;
    state.what = what;
    state.total = total;
    state.counted = counted;
    state.over = state.done = state.held = 0;
    state.running = pthread_create(&state.thread, NULL, show, NULL) == 0;
}

void gv_waiting_step(gv_waiting_for counted)
{
    if (!state.running || counted != state.counted)
        return;
    pthread_mutex_lock(&state.lock);
    state.done++;
    pthread_mutex_unlock(&state.lock);
}

void gv_waiting_hold(int held)
{
    if (!state.running)
        return;
    pthread_mutex_lock(&state.lock);
    state.held = held;
    pthread_mutex_unlock(&state.lock);
}

void gv_waiting_stop(void)
{
    if (!state.running)
        return;
    pthread_mutex_lock(&state.lock);
    state.over = 1;
    pthread_cond_signal(&state.changed);
    pthread_mutex_unlock(&state.lock);
    pthread_join(state.thread, NULL);
    state.running = 0;
}
