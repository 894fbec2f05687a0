/* The program's own process runs the driver's compiler: a crash in it cannot be survived, only explained.  `gravel
 * tune` has processes for its candidates. */
#include "cli/crash.h"

#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char doing[400]; /* read by the handler */

static const struct {
    int number;
    const char *name;
} fatal[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGILL, "SIGILL"}, {SIGFPE, "SIGFPE"}, {SIGABRT, "SIGABRT"}};
enum { N_FATAL = sizeof fatal / sizeof *fatal };

/* Only what a handler may call. */
static void put(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return;
}

/* Threads of a kernel often crash together: the first explains, and the others wait until it ends the program. */
static void explain(int number)
{
    static atomic_flag is_told = ATOMIC_FLAG_INIT;

    while (atomic_flag_test_and_set(&is_told))
        pause();
    put("gravel: ended by ");
    for (int k = 0; k < N_FATAL; k++)
        if (fatal[k].number == number)
            put(fatal[k].name);
    put(doing[0] ? " while " : "");
    put(doing);
    put("\nmost likely the OpenCL driver or its compiler crashed: try another device (`gravel devices`) or another\n"
        "version of the driver; `gravel check` names the kernel that crashes\n");
    signal(number, SIG_DFL);
    raise(number);
}

static int is_ours[N_FATAL];

static void take(int k)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = explain;
    action.sa_flags = SA_NODEFER;
    sigemptyset(&action.sa_mask);
    is_ours[k] = sigaction(fatal[k].number, &action, NULL) == 0;
}

void gv_crash_explain(void)
{
    struct sigaction before;

    for (int k = 0; k < N_FATAL; k++)
        if (sigaction(fatal[k].number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            take(k);
}

void gv_crash_doing(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(doing, sizeof doing, format, arguments);
    va_end(arguments);
    /* LLVM, in a driver, sets handlers that hold for one crash: a second thread's, before they are set back, would end
     * the program without a word */
    for (int k = 0; k < N_FATAL; k++)
        if (is_ours[k])
            take(k);
}
