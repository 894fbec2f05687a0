#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim/out_file.h"

void gv_say(const char *command, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "%s: ", command);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
}

int gv_cli_exit_code(gravel_status status)
{
    switch (status) {
    case GRAVEL_OK:
        return GV_EXIT_OK;
    case GRAVEL_ERR_ARGUMENT:
    case GRAVEL_ERR_NO_PLATFORM:
    case GRAVEL_ERR_NO_DEVICE:
    case GRAVEL_ERR_UNSUPPORTED:
    case GRAVEL_ERR_INPUT:
    case GRAVEL_ERR_FILE:
    case GRAVEL_ERR_FORMAT:
        return GV_EXIT_USAGE;
    case GRAVEL_ERR_CANCELLED:
        return GV_EXIT_INTERRUPTED;
    default:
        return GV_EXIT_FAILURE;
    }
}

int gv_cli_fail(const char *command, gravel_status status)
{
    const char *message = gravel_error_message();
    gv_say(command, "%s", message[0] != '\0' ? message : gravel_status_text(status));
    return gv_cli_exit_code(status);
}

static void print_log(gravel_log_level level, const char *message, void *user)
{
    const int *verbose = user;
    if (level == GRAVEL_LOG_WARNING) {
        fprintf(stderr, "gravel: warning: %s\n", message);
    } else if (*verbose) {
        fprintf(stderr, "gravel: %s\n", message);
    }
}

gravel_status gv_cli_context(gravel_context **context, const char *device, int no_fp64, int verbose)
{
    static const int flags[2] = {0, 1}; /* outlives the context that points to it */
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.no_fp64 = no_fp64;
    options.log = print_log;
    options.log_user = (void *)(uintptr_t)&flags[verbose != 0];
    return gravel_context_create(context, &options);
}

/* ------------------------------------------------------------- interrupt */

static volatile sig_atomic_t signal_came;

static void mark_signal(int number)
{
    signal_came = number;
}

void gv_signals_catch(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = mark_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = (int)SA_RESETHAND; /* the second one has its usual effect */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int gv_signals_pending(void)
{
    return signal_came != 0;
}

/* -------------------------------------------------------------- progress */

double gv_cli_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void gv_progress_start(gv_progress *progress, const char *what)
{
    progress->what = what;
    progress->start = progress->last = gv_cli_now();
    progress->shown = 0;
}

static void format_duration(double seconds, char *text, size_t size)
{
    if (seconds < 100) {
        snprintf(text, size, "%.0f s", ceil(seconds));
    } else if (seconds < 6000) {
        snprintf(text, size, "%.0f min", ceil(seconds / 60));
    } else {
        snprintf(text, size, "%.1f h", seconds / 3600);
    }
}

void gv_progress_show(gv_progress *progress, double done, double total)
{
    const double now = gv_cli_now(), spent = now - progress->start;
    char left[32];
    if (spent < 2 || now - progress->last < 0.2 || !isatty(STDERR_FILENO) || !(done > 0) || done >= total) {
        return;
    }
    format_duration(spent * (total - done) / done, left, sizeof left);
    fprintf(stderr, "\r\033[K%s: %.0f %%, about %s left", progress->what, 100 * done / total, left);
    fflush(stderr);
    progress->last = now;
    progress->shown = 1;
}

void gv_progress_clear(gv_progress *progress)
{
    if (progress->shown) {
        fprintf(stderr, "\r\033[K");
        fflush(stderr);
        progress->shown = 0;
    }
}

/* ------------------------------------------------------------------ JSON */

void gv_json_number(cJSON *object, const char *name, double value)
{
    if (isfinite(value)) {
        cJSON_AddNumberToObject(object, name, value);
    } else {
        cJSON_AddNullToObject(object, name);
    }
}

void gv_json_stamp(cJSON *object)
{
    char text[32] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) != NULL) {
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    cJSON_AddStringToObject(object, "gravel", gravel_version());
    cJSON_AddStringToObject(object, "date", text);
}

gravel_status gv_json_write(cJSON *root, const char *path)
{
    gv_out_file file;
    char *text = root != NULL ? cJSON_Print(root) : NULL;
    gravel_status status;
    if (text == NULL) {
        status = gv_fail(GRAVEL_ERR_MEMORY, "out of memory while writing JSON");
    } else if ((status = gv_out_open(&file, path != NULL ? path : "-")) == GRAVEL_OK) {
        fputs(text, file.stream);
        fputc('\n', file.stream);
        status = gv_out_commit(&file);
    }
    cJSON_free(text);
    cJSON_Delete(root);
    return status;
}

gravel_status gv_cli_flush(void)
{
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return gv_fail(GRAVEL_ERR_FILE, "cannot write to standard output: %s", strerror(errno ? errno : EIO));
    }
    return GRAVEL_OK;
}
