#include "cli/run_job.h"

#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/clock.h"
#include "host/base/files.h"

/* ----------------------------------------------------------------- options */

int gv_run_is_of_command(const gv_opt *opt)
{
    static const char *const name[] = {"file",    "example", "resume",  "allow",
                                       "replace", "timing",  "verbose", "cosmology"};
    for (size_t k = 0; k < sizeof name / sizeof name[0]; k++)
        if (strcmp(opt->name, name[k]) == 0)
            return 1;
    return 0;
}

void gv_run_overlay(const gv_opt *opts, void *to, const void *typed, const unsigned char *given)
{
    for (int k = 0; opts[k].name; k++)
        if (given[k])
            memcpy((char *)to + opts[k].offset, (const char *)typed + opts[k].offset, gv_option_size(opts[k].kind));
}

int gv_run_check_typed(const gv_opt *opts, const unsigned char *given, const char *may)
{
    for (int k = 0; opts[k].name; k++) {
        char word[40];
        snprintf(word, sizeof word, ",%s,", opts[k].name);
        if (given[k] && !strstr(may, word)) {
            gv_say(GV_RUN,
                   "--%s cannot be changed in a run that goes on; %s--checkpoint-every, --device and --step-min (a "
                   "smaller one) can",
                   opts[k].name, strstr(may, ",until,") ? "--until, " : "");
            return -1;
        }
    }
    return 0;
}

int gv_run_is_given(const gv_opt *opts, const unsigned char *given, const char *name)
{
    for (int k = 0; opts[k].name; k++)
        if (strcmp(opts[k].name, name) == 0)
            return given[k];
    return 0;
}

int gv_run_check_step_min(double typed, double before)
{
    if (typed <= before)
        return 0;
    gv_say(GV_RUN, "--step-min %g: the run has %g, which can become smaller but not larger while it goes on", typed,
           before);
    return -1;
}

/* ---------------------------------------------------------------- progress */

int gv_run_progress_due(gv_run_progress *p)
{
    const double now = gv_now();
    if (now - p->begun <= 2 || now - p->shown <= 0.2 || !isatty(STDERR_FILENO))
        return 0;
    fputs("\r\033[K", stderr);
    p->shown = now;
    p->visible = 1;
    return 1;
}

void gv_run_progress_clear(const gv_run_progress *p)
{
    if (p->visible)
        fputs("\r\033[K", stderr);
    fflush(stderr);
}

void gv_run_format_left(double seconds, char *text, size_t size)
{
    if (seconds < 100)
        snprintf(text, size, "%.0f s", ceil(seconds));
    else if (seconds < 6000)
        snprintf(text, size, "%.0f min", ceil(seconds / 60));
    else
        snprintf(text, size, "%.1f h", seconds / 3600);
}

/* ------------------------------------------------------------------ record */

/* A pipe has given what it had, and to open a named one again waits for ever. */
static int can_be_read_again(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

gravel_status gv_run_input_json(cJSON *record, const char *in, size_t bodies)
{
    char digest[65];
    char *place = realpath(in, NULL);
    gravel_status status = GRAVEL_OK;
    cJSON *input = cJSON_AddObjectToObject(record, "input");
    cJSON_AddStringToObject(input, "file", place ? place : in);
    if (place && strcmp(in, "-") != 0 && can_be_read_again(place)) {
        status = gv_run_digest(place, digest);
        cJSON_AddStringToObject(input, "sha256", status ? "" : digest);
    }
    cJSON_AddNumberToObject(input, "bodies", (double)bodies);
    free(place);
    return status;
}

const char *gv_run_find_input(const cJSON *record, const char *folder)
{
    char digest[65];
    const cJSON *input = cJSON_GetObjectItemCaseSensitive(record, "input");
    const cJSON *file = cJSON_GetObjectItemCaseSensitive(input, "file");
    const cJSON *then = cJSON_GetObjectItemCaseSensitive(input, "sha256");
    if (!cJSON_IsString(file) || !cJSON_IsString(then)) {
        gv_say(GV_RUN, "%s has no checkpoint yet, and its particles came from a pipe: begin again with --replace",
               folder);
        return NULL;
    }
    if (gv_run_digest(file->valuestring, digest)) {
        gv_say(GV_RUN, "%s", gravel_error_message());
        return NULL;
    }
    if (strcmp(digest, then->valuestring) == 0)
        return file->valuestring;
    gv_say(GV_RUN, "%s has no checkpoint yet, and %s has changed since: begin again with --replace", folder,
           file->valuestring);
    return NULL;
}

gravel_status gv_run_write_record(const char *folder, const cJSON *record, char **text)
{
    char *path = gv_run_path(folder, "run.json");
    free(*text);
    *text = cJSON_Print(record);
    const gravel_status status =
        path && *text ? gv_json_write(cJSON_Duplicate(record, 1), path) : gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    free(path);
    return status;
}

char *gv_run_read_record_text(const char *folder, gv_checkpoint *checkpoint, int *has_checkpoint)
{
    char *path = gv_run_path(folder, GV_RUN_CHECKPOINT), *text = NULL;
    struct stat about;
    gravel_status status;
    *has_checkpoint = 0;
    if (path && stat(path, &about) == 0) {
        status = gv_checkpoint_read(checkpoint, path);
        *has_checkpoint = !status;
        text = status ? NULL : strdup(checkpoint->record);
    } else {
        free(path);
        path = gv_run_path(folder, "run.json");
        status = path ? gv_file_read(path, 1 << 20, &text, NULL) : gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
        if (status && path && stat(path, &about) != 0)
            status = gv_fail(GRAVEL_ERR_FILE, "there is no run in %s: neither run.json nor a checkpoint", folder);
    }
    free(path);
    if (status)
        gv_say(GV_RUN, "%s", gravel_error_message());
    return text;
}

void gv_run_add_clocks(cJSON *summary, const gv_run_position *at)
{
    cJSON *split = cJSON_AddObjectToObject(summary, "time_s");
    double rest = at->wall_s;
    for (int k = 0; k < GV_CLOCKS; k++) {
        gv_json_number(split, gv_run_clock_name[k], at->clock[k]);
        rest -= at->clock[k];
    }
    gv_json_number(split, "rest", rest);
}

int gv_run_fail(gravel_status status, int writing)
{
    if (status == GRAVEL_ERR_CANCELLED) {
        gv_say(GV_RUN, "%s", gravel_error_message());
        return gv_signals_pending() ? 128 + gv_signals_pending() : GV_EXIT_INTERRUPTED;
    }
    return writing ? gv_cli_fail_writing(GV_RUN, status) : gv_cli_fail(GV_RUN, status);
}

int gv_run_fail_on_the_way(const gv_run_output *folder, gravel_status status)
{
    /* what integrators say of a step that became too short has no status of its own */
    const int is_short = status == GRAVEL_ERR_STATE && strstr(gravel_error_message(), "below step_min");
    const int code = gv_run_fail(status, 1);
    if (is_short && gv_run_output_has_begun(folder))
        gv_say(GV_RUN, "shorter steps: 'gravel run --resume %s --step-min X' goes on, X a smaller power of two",
               folder->path);
    return code;
}

static gravel_status check_spared(const char *in, const char *out)
{
    struct stat of_in, of_out;
    char *copy = gv_format("%s", in);
    const int inside = copy && stat(dirname(copy), &of_in) == 0 && stat(out, &of_out) == 0 &&
                       of_in.st_dev == of_out.st_dev && of_in.st_ino == of_out.st_ino;
    free(copy);
    return inside
               ? gv_fail(GRAVEL_ERR_ARGUMENT,
                         "%s lies in %s, the run of which --replace removes: copy it to another folder first", in, out)
               : GRAVEL_OK;
}

gravel_status gv_run_check_folder(const char *in, const char *out, int replace)
{
    const gravel_status status = replace ? check_spared(in, out) : GRAVEL_OK;
    return status ? status : gv_run_output_check(out, replace);
}

int gv_run_began(const gv_run_output *folder, int code)
{
    if (code == GV_EXIT_USAGE || code == GV_EXIT_FAILURE)
        gv_run_output_discard(folder);
    return code;
}
