/* A thread waits for the signals, and all others have them blocked.  A handler would not do: the compiler inside an
 * OpenCL driver installs handlers of its own over ours, which pass the first signal on and leave the next one to end
 * the process in the middle of everything.  A thread may also wait for a lock before it removes files. */
#include "cli/signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim/out_file.h"

static struct {
    pthread_mutex_t lock;
    sigset_t waited; /* of the thread only */
    int came, noticed, graceful;
    double limit_s;
    const char *last_words;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void end_now(int number, const char *words)
{
    gv_out_remove_all();
    if (words && isatty(STDERR_FILENO) && write(STDERR_FILENO, "\r\033[K", 4) < 0) /* over a line of progress */
        _exit(128 + number);
    if (words && write(STDERR_FILENO, words, strlen(words)) < 0)
        _exit(128 + number);
    _exit(128 + number);
}

static struct timespec span(double seconds)
{
    const struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};

    return time;
}

/* The next signal, or 0 after so many seconds (0: waits without a limit). */
static int next_signal(double seconds)
{
    const struct timespec time = span(seconds);
    int number;

    do
        number = seconds > 0 ? sigtimedwait(&state.waited, NULL, &time) : sigwaitinfo(&state.waited, NULL);
    while (number < 0 && errno == EINTR);
    return number > 0 ? number : 0;
}

/* `timeout` and batch systems send one signal to the process and once more to its group: what comes so soon is not a
 * second request. */
#define REPEATS_S 0.2

static void pass_repeats(void)
{
    struct timespec start, now;
    double left = REPEATS_S;

    clock_gettime(CLOCK_MONOTONIC, &start);
    while (left > 0 && next_signal(left)) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        left = REPEATS_S - (double)(now.tv_sec - start.tv_sec) - 1e-9 * (double)(now.tv_nsec - start.tv_nsec);
    }
}

static void *watch(void *unused)
{
    const int first = next_signal(0);
    int second, graceful, noticed;
    double limit_s, waited_s;

    pthread_mutex_lock(&state.lock);
    state.came = first;
    graceful = state.graceful;
    limit_s = state.limit_s;
    pthread_mutex_unlock(&state.lock);
    if (!graceful)
        end_now(first, NULL);
    pass_repeats();
    do {
        waited_s = limit_s;
        second = next_signal(waited_s);
        if (second)
            end_now(second, NULL);
        pthread_mutex_lock(&state.lock);
        limit_s = state.limit_s;
        pthread_mutex_unlock(&state.lock);
    } while (limit_s != waited_s); /* it was changed meanwhile */
    pthread_mutex_lock(&state.lock);
    noticed = state.noticed;
    pthread_mutex_unlock(&state.lock);
    if (noticed) { /* the command prints its own message: another second to end */
        second = next_signal(1);
        end_now(second ? second : first, NULL);
    }
    end_now(first, state.last_words);
    return unused;
}

static int ignored(int number)
{
    struct sigaction action;

    return sigaction(number, NULL, &action) != 0 || action.sa_handler == SIG_IGN;
}

void gv_signals_start(void)
{
    static const int number[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
    sigset_t blocked, before;
    pthread_t thread;

    sigemptyset(&blocked);
    /* a write beyond `ulimit -f` fails as on a full disk, here and in programs that are run from here; drivers have
     * handlers of their own, so it is blocked, too */
    signal(SIGXFSZ, SIG_IGN);
    sigaddset(&blocked, SIGXFSZ);
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        sigaddset(&blocked, number[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    sigemptyset(&state.waited);
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        if (!ignored(number[i]) && !sigismember(&before, number[i]))
            sigaddset(&state.waited, number[i]);
    if (pthread_create(&thread, NULL, watch, NULL) != 0) /* then they end the program by themselves */
        pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void gv_signals_catch(double limit_s, const char *words)
{
    pthread_mutex_lock(&state.lock);
    state.limit_s = limit_s;
    state.last_words = words;
    state.graceful = 1;
    pthread_mutex_unlock(&state.lock);
}

int gv_signals_pending(void)
{
    int came;

    pthread_mutex_lock(&state.lock);
    came = state.came;
    state.noticed = came != 0;
    pthread_mutex_unlock(&state.lock);
    return came;
}

void gv_signals_pass(void)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}
