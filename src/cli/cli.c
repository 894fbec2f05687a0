#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/crash.h"
#include "cli/ranks.h"
#include "host/base/clock.h"
#include "sim/out_file.h"

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

int gv_cli_fail_writing(const char *command, gravel_status status)
{
    const int code = gv_cli_fail(command, status);

    return status == GRAVEL_ERR_FILE ? GV_EXIT_FAILURE : code;
}

static void print_log(gravel_log_level level, const char *message, void *user)
{
    const int *verbose = user;
    if (strncmp(message, "compiled kernels/", 17) == 0)
        gv_waiting_step(GV_WAITING_COMPILER);
    if (level == GRAVEL_LOG_WARNING)
        gv_say("gravel", "warning: %s", message);
    else if (*verbose)
        gv_say("gravel", "%s", message);
}

void gv_cli_log(gravel_context_options *options, int verbose)
{
    static const int flags[2] = {0, 1}; /* outlives the context that points to it */
    options->log = print_log;
    options->log_user = (void *)(uintptr_t)&flags[verbose != 0];
}

gravel_status gv_cli_context(gravel_context **context, const char *device, int no_fp64, int verbose)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.no_fp64 = no_fp64;
    gv_cli_log(&options, verbose);
    gv_crash_explain();
    return gravel_context_create(context, &options);
}

/* -------------------------------------------------------------- progress */

void gv_progress_start(gv_progress *progress, const char *what)
{
    progress->what = what;
    progress->start = progress->last = gv_now();
    progress->shown = 0;
}

static void format_duration(double seconds, char *text, size_t size)
{
    if (seconds < 100)
        snprintf(text, size, "%.0f s", ceil(seconds));
    else if (seconds < 6000)
        snprintf(text, size, "%.0f min", ceil(seconds / 60));
    else
        snprintf(text, size, "%.1f h", seconds / 3600);
}

void gv_progress_show(gv_progress *progress, double done, double total)
{
    const double now = gv_now(), spent = now - progress->start;
    char left[32];
    if (spent < 2 || now - progress->last < 0.2 || !isatty(STDERR_FILENO) || !(done > 0) || done >= total)
        return;
    format_duration(spent * (total - done) / done, left, sizeof left);
    gv_waiting_hold(1);
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
        gv_waiting_hold(0);
    }
}

/* ------------------------------------------------------------------ JSON */

void gv_json_number(cJSON *object, const char *name, double value)
{
    if (isfinite(value))
        cJSON_AddNumberToObject(object, name, value);
    else
        cJSON_AddNullToObject(object, name);
}

void gv_json_stamp(cJSON *object)
{
    char text[32] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) != NULL)
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    cJSON_AddStringToObject(object, "gravel", gravel_version());
    cJSON_AddStringToObject(object, "date", text);
}

cJSON *gv_json_benchmark(const char *name, const gravel_context *context)
{
    const gravel_device_info *info = gravel_context_get_device(context, 0);
    cJSON *root = cJSON_CreateObject();
    gv_json_stamp(root);
    cJSON_AddStringToObject(root, "benchmark", name);
    cJSON_AddStringToObject(root, "device", info->name);
    cJSON_AddStringToObject(root, "driver", info->driver);
    cJSON_AddNumberToObject(root, "compute_units", info->compute_units);
    return root;
}

void gv_json_put(const char *text, FILE *stream)
{
    size_t n;
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c += n) {
        const int control = *c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0;
        const size_t plain = gv_printable(c);
        n = plain ? plain : control ? 2 : 1;
        if (plain || *c < 0x20) /* line ends and tabs between the parts */
            fwrite(c, 1, n, stream);
        else
            fprintf(stream, "\\u%04x", *c == 0x7f ? 0x7fU : control ? c[1] : 0xfffdU);
    }
    fputc('\n', stream);
}

gravel_status gv_json_write(cJSON *root, const char *path)
{
    gv_out_file file;
    char *text = root != NULL ? cJSON_Print(root) : NULL;
    gravel_status status;
    if (text == NULL) {
        status = gv_fail(GRAVEL_ERR_MEMORY, "out of memory while writing JSON");
    } else if ((status = gv_out_open(&file, path != NULL ? path : "-")) == GRAVEL_OK) {
        gv_json_put(text, file.stream);
        status = gv_out_commit(&file);
    }
    cJSON_free(text);
    cJSON_Delete(root);
    return status;
}

int gv_cli_write_results(const char *command, cJSON *root, const char *out, int json, int *table)
{
    gravel_status status = GRAVEL_OK;
    int code = GV_EXIT_OK;
    if (out != NULL)
        status = gv_json_write(cJSON_Duplicate(root, 1), out);
    if (status != GRAVEL_OK) /* what was measured is shown all the same */
        code = gv_cli_fail_writing(command, status);
    if (json && (status = gv_json_write(cJSON_Duplicate(root, 1), NULL)) != GRAVEL_OK)
        code = gv_cli_fail_writing(command, status);
    *table = !json && (out == NULL || strcmp(out, "-") != 0);
    cJSON_Delete(root);
    return code;
}

gravel_status gv_cli_bench_sizes(const gv_size_list *typed, gv_size_list usual,
                                 gravel_status (*measure)(void *bench, size_t size), void *bench)
{
    const gv_size_list *sizes = typed->n > 0 ? typed : &usual;
    gravel_status status = GRAVEL_OK;
    gv_waiting_start("measuring: size", sizes->n, GV_WAITING_STEPS);
    for (int k = 0; k < sizes->n && status == GRAVEL_OK; k++) {
        status = measure(bench, sizes->value[k]);
        if (status == GRAVEL_OK && gv_ranks_started() == 1 && gv_signals_pending()) /* ranks agree on it themselves */
            status = gv_fail(GRAVEL_ERR_CANCELLED, "stopped");
        gv_waiting_step(GV_WAITING_STEPS);
    }
    gv_waiting_stop();
    return status;
}

int gv_cli_end_bench(const char *command, gravel_status status, int results, int (*write)(const void *bench),
                     const void *bench)
{
    int code = GV_EXIT_OK;
    if (status == GRAVEL_ERR_CANCELLED) {
        gv_say(command, "stopped; %d result%s complete", results, results == 1 ? " is" : "s are");
        code = GV_EXIT_INTERRUPTED;
    } else if (status) {
        code = gv_cli_fail(command, status);
    }
    const int written = results > 0 ? write(bench) : GV_EXIT_OK;
    return code ? code : written;
}

gravel_status gv_cli_flush(void)
{
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout))
        return gv_fail(GRAVEL_ERR_FILE, "cannot write to standard output: %s", strerror(errno ? errno : EIO));
    return GRAVEL_OK;
}
