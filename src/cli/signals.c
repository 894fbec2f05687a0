#include "cli/signals.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "sim/out_file.h"

static volatile sig_atomic_t signal_came, graceful;
static const char *volatile last_words;
static struct itimerval limit;

/* Only calls that a handler may make. */
static void end_now(int number)
{
    const char *words = last_words;

    gv_out_remove_all();
    if (words && write(STDERR_FILENO, words, strlen(words)) < 0)
        _exit(128 + number);
    _exit(128 + number);
}

static void on_signal(int number)
{
    if (number == SIGALRM || !graceful || signal_came)
        end_now(number == SIGALRM ? signal_came : number);
    signal_came = number;
    if (limit.it_value.tv_sec > 0 || limit.it_value.tv_usec > 0)
        setitimer(ITIMER_REAL, &limit, NULL);
}

void gv_signals_start(void)
{
    static const int number[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};
    struct sigaction action, before;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        if (sigaction(number[i], NULL, &before) == 0 && (before.sa_handler != SIG_IGN || number[i] == SIGALRM))
            sigaction(number[i], &action, NULL);
}

void gv_signals_catch(double limit_s, const char *words)
{
    limit.it_value.tv_sec = (time_t)limit_s;
    limit.it_value.tv_usec = (suseconds_t)(1e6 * (limit_s - (double)limit.it_value.tv_sec));
    last_words = words;
    graceful = 1;
}

int gv_signals_pending(void)
{
    const struct itimerval second = {{0, 0}, {1, 0}};

    /* the command has noticed the signal: it prints its own message and has another second to end */
    if (signal_came && last_words) {
        last_words = NULL;
        setitimer(ITIMER_REAL, &second, NULL);
    }
    return signal_came;
}
