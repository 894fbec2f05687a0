/* gravel tune: finds the best configurations of a kernel on this machine and keeps them as a profile. */
#include "cli/cmd_tune.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/plot.h"
#include "host/base/files.h"
#include "host/direct/plan.h"
#include "host/profile/store.h"
#include "sim/out_file.h"
#include "tuner/recording.h"
#include "tuner/session.h"
#include "tuner/subject.h"
#include "host/base/clock.h"

typedef struct screen {
    int is_terminal, shown, verbose;
    double start, last;
    gv_table table;
    cJSON *questions; /* NULL: the table is printed */
} screen;

/* "ds4", "ds4 nearest" */
static const char *variant_text(const gv_variant *variant, char text[40])
{
    snprintf(text, 40, "%s%s%s", variant->name, variant->features != 0 ? " " : "",
             variant->features != 0 ? gv_tune_features_name(variant->features) : "");
    return text;
}

static int interrupted(void *user)
{
    (void)user;
    return gv_signals_pending();
}

static void clear_line(screen *s)
{
    if (s->shown) {
        fprintf(stderr, "\r\033[K");
        s->shown = 0;
    }
}

static void format_time(double seconds, char *text, size_t size)
{
    if (!isfinite(seconds) || seconds < 0)
        snprintf(text, size, "-");
    else if (seconds < 1e-3)
        snprintf(text, size, "%.3g us", 1e6 * seconds);
    else if (seconds < 1)
        snprintf(text, size, "%.3g ms", 1e3 * seconds);
    else if (seconds < 120)
        snprintf(text, size, "%.3g s", seconds);
    else
        snprintf(text, size, "%.0f min", seconds / 60);
}

static void show(const gv_tune_progress *p, void *user)
{
    screen *s = user;
    const double now = gv_now(), elapsed = now - s->start;
    const double part = p->budget > 0 ? fmin((double)p->evaluations / (double)p->budget, 1) : 0;
    const double done = (p->task_index > 0 ? p->task_index - 1 : 0) + part;
    double left_s = p->left_s;
    char best[32], left[32], of[32] = "", variant[40];

    if (!s->is_terminal || now - s->last < 0.2)
        return;
    if (done > 0) {
        const double by_tasks = elapsed * (p->n_tasks - done) / done;

        left_s = left_s < 0 || by_tasks < left_s ? by_tasks : left_s;
    }
    if (p->budget > 0)
        snprintf(of, sizeof of, " of %zu", p->budget);
    format_time(p->best_s, best, sizeof best);
    format_time(left_s, left, sizeof left);
    fprintf(stderr, "\r\033[K%d/%d %s %zu x %zu: %zu%s tried, best %s (%.60s), about %s left", p->task_index,
            p->n_tasks, variant_text(&p->task->variant, variant), p->task->sinks, p->task->sources, p->evaluations, of,
            best, p->best, left);
    fflush(stderr);
    s->last = now;
    s->shown = 1;
}

static int failures_of(const gv_tune_result *result)
{
    int n = 0;

    for (int f = GV_OUTCOME_OK + 1; f < GV_OUTCOME_COUNT; f++)
        n += result->failures[f];
    return n;
}

static void add_question(cJSON *questions, const gv_tune_result *r)
{
    cJSON *object = cJSON_CreateObject();

    cJSON_AddStringToObject(object, "variant", r->task.variant.name);
    cJSON_AddStringToObject(object, "searches", gv_tune_features_name(r->task.variant.features));
    cJSON_AddNumberToObject(object, "sinks", (double)r->task.sinks);
    cJSON_AddNumberToObject(object, "sources", (double)r->task.sources);
    gv_json_number(object, "time_s", r->time_s > 0 ? r->time_s : NAN);
    gv_json_number(object, "gain", r->gain > 0 ? r->gain : NAN);
    cJSON_AddNumberToObject(object, "tried", r->evaluations);
    cJSON_AddNumberToObject(object, "failed", failures_of(r));
    cJSON_AddItemToObject(object, "configuration",
                          r->configuration[0] != '\0' ? cJSON_CreateString(r->configuration) : cJSON_CreateNull());
    cJSON_AddItemToArray(questions, object);
}

static void finished(const gv_tune_result *result, void *user)
{
    screen *s = user;
    char time[32], gain[32] = "-", variant[40];

    clear_line(s);
    format_time(result->time_s, time, sizeof time);
    if (result->gain > 0)
        snprintf(gain, sizeof gain, "%.2f", result->gain);
    if (s->questions != NULL)
        add_question(s->questions, result);
    gv_table_row(&s->table, "%s|%zu|%zu|%s|%s|%d|%d|%s", variant_text(&result->task.variant, variant),
                 result->task.sinks, result->task.sources, result->time_s > 0 ? time : "-", gain, result->evaluations,
                 failures_of(result),
                 result->configuration[0] != '\0' ? result->configuration
                 : result->evaluations > 0        ? "nothing that works was found"
                                                  : "no time was left");
    if (s->verbose) {
        gv_say("gravel", "%s %zu x %zu: %s, %s", variant, result->task.sinks, result->task.sources, time,
               result->configuration);
    }
}

static void warn(const char *text, void *user)
{
    clear_line(user);
    gv_say("gravel tune", "%s", text);
}

void gv_tune_own_path(char *path, size_t size)
{
    const ssize_t n = readlink("/proc/self/exe", path, size - 1);

    snprintf(path + (n > 0 ? n : 0), n > 0 ? 1 : size, "%s", n > 0 ? "" : "gravel");
}

static gravel_status choose_log(const tune_options *o, const char *device, char **path)
{
    char *dir =
        o->log_dir != NULL ? gv_format("%s", o->log_dir) : gv_user_folder("XDG_STATE_HOME", ".local/state", "tuning");
    gravel_status status = GRAVEL_OK;
    gv_tune_device found;

    *path = o->log != NULL ? gv_format("%s", o->log) : NULL;
    if (o->log == NULL && dir != NULL) {
        gv_profile_device identity;
        char name[128];

        status = gv_folder_make_for(dir, "logs");
        if (status == GRAVEL_OK)
            status = gv_tune_look(device, o->no_fp64, gv_subject_find(o->kernel)->space, &found);
        if (status == GRAVEL_OK) {
            gv_profile_device_of(&found.limits.info, &identity);
            gv_profile_file_name(&identity, name);
            const int is_direct = strcmp(o->kernel, "direct") == 0;

            *path = gv_format("%s/%s%s%s%.*s.jsonl", dir, o->record != NULL ? "recording-" : "",
                              is_direct ? "" : o->kernel, is_direct ? "" : "-", (int)strlen(name) - 5, name);
        }
    }
    free(dir);
    return status;
}

static void print_summary(const tune_options *o, const gv_tune_summary *s, const char *log_path)
{
    static const char *const text[] = {"verified",          "refused by constraints", "failing to compile",
                                       "failing to launch", "beyond the time limit",  "wrong"};
    char counts[320] = "", replayed[64] = "";
    size_t n = 0;

    for (int k = 0; k < GV_OUTCOME_COUNT; k++)
        if (s->status[k] > 0 && n < sizeof counts)
            n += (size_t)snprintf(counts + n, sizeof counts - n, "%s%zu %s", n ? ", " : " ", s->status[k], text[k]);
    if (s->replayed > 0)
        snprintf(replayed, sizeof replayed, " and %zu taken from the log", s->replayed);
    gv_say(s->device, "%zu candidate%s%s%s%s", s->evaluations, s->evaluations == 1 ? "" : "s", replayed, n ? ":" : "",
           counts);
    if (log_path != NULL)
        gv_say("log", "%s", log_path);
    if (s->profile_path[0] != '\0')
        gv_say("profile", "%s", s->profile_path);
    if (s->interrupted) {
        gv_say("gravel tune",
               "stopped on request after %d of %d questions; %s. `gravel tune --resume` goes on from here.",
               s->tasks_done, s->n_tasks,
               o->record != NULL ? "the log keeps what was measured" : "what was found is kept");
    } else if (s->profile_path[0] != '\0' && strcmp(o->kernel, "direct") == 0) {
        gv_say("gravel tune",
               "'gravel tune --regret --keep --quick --budget 10m' mends what is wrong between these questions");
    }
}

static gravel_status print_results(screen *s, const gv_tune_summary *summary, const char *log_path)
{
    if (s->questions == NULL) {
        gv_table_print(&s->table, stdout);
        return gv_cli_flush();
    }
    cJSON *root = cJSON_CreateObject();

    gv_json_stamp(root);
    cJSON_AddStringToObject(root, "device", summary->device);
    cJSON_AddBoolToObject(root, "interrupted", summary->interrupted);
    cJSON_AddNumberToObject(root, "questions_done", summary->tasks_done);
    cJSON_AddNumberToObject(root, "questions_wanted", summary->n_tasks);
    cJSON_AddStringToObject(root, "log", log_path != NULL ? log_path : "");
    cJSON_AddStringToObject(root, "profile", summary->profile_path);
    cJSON_AddItemToObject(root, "questions", s->questions);
    s->questions = NULL;
    return gv_json_write(root, NULL);
}

/* No budget named: --quick takes a minute per variant, else ten, and half of that more for its searches. */
static void fill_budget(const tune_options *o, gv_tune_options *t, int plain)
{
    t->budget_s = o->budget;
    t->budget = o->evaluations > 0 ? (size_t)o->evaluations : 0;
    if (o->record != NULL || (o->exhaustive && !(o->budget > 0)))
        t->budget_s = o->budget > 0 ? o->budget : 0;
    else if (!(o->budget > 0) && t->budget == 0)
        t->budget_s = (o->quick ? 56.0 : 600.0) * plain + (o->quick ? 17.0 : 150.0) * (t->n_variants - plain);
    t->limit_s = o->candidate > 0 ? o->candidate : o->quick ? 20 : 60;
}

static int fill(const tune_options *o, gv_tune_options *t)
{
    int plain;

    memset(t, 0, sizeof *t);
    t->device = o->device;
    t->no_fp64 = o->no_fp64;
    t->kernel = o->kernel;
    t->n_variants = gv_tune_variants(o, t->variant, GV_TUNE_VARIANTS);
    if (o->exhaustive || (o->record != NULL && o->strategy == NULL))
        t->strategy = gv_strategy_find("exhaustive");
    else
        t->strategy = o->strategy != NULL ? gv_strategy_find(o->strategy) : &gv_strategies[0];
    if (t->n_variants == 0 || t->strategy == NULL) {
        if (t->strategy == NULL) {
            gv_say("gravel tune",
                   "there is no strategy '%s' (forest, descent, evolution, annealing, random, exhaustive)",
                   o->strategy);
        }
        return 0;
    }
    if (o->sinks.n > GV_TUNE_SIZES || o->sources.n > GV_TUNE_SIZES) {
        gv_say("gravel tune", "at most %d numbers of sinks and of sources", GV_TUNE_SIZES);
        return 0;
    }
    t->n_sinks = o->sinks.n;
    t->n_sources = o->sources.n;
    memcpy(t->sinks, o->sinks.value, sizeof t->sinks);
    memcpy(t->sources, o->sources.value, sizeof t->sources);
    t->seed = o->seed;
    t->limit = o->limit;
    t->unlikely = o->unlikely;
    t->quick = o->quick;
    t->cross = o->cross;
    t->verbose = o->verbose;
    t->resume = o->resume;
    t->record = o->record != NULL;
    t->jobs = o->jobs;
    plain = t->n_variants;
    if (strcmp(o->kernel, "direct") == 0 && !o->nearest && !o->neighbours && !o->plain && o->record == NULL)
        t->n_variants = gv_tune_add_searches(t->variant, plain, GV_TUNE_VARIANTS);
    fill_budget(o, t, plain);
    return 1;
}

/* The file is opened first: a place that cannot be written to costs no hours. */
static gravel_status record(const tune_options *o, const gv_tune_options *t, gv_tune_summary *summary)
{
    gv_out_file out;
    gravel_status status = gv_out_open(&out, o->record);

    if (status != GRAVEL_OK)
        return status;
    status = gv_tune(t, summary);
    if (status == GRAVEL_OK && !summary->interrupted)
        status = gv_recording_from_log(t->log_path, t, out.stream);
    if (status == GRAVEL_OK && !summary->interrupted)
        return gv_out_commit(&out);
    gv_out_abort(&out);
    return status;
}

static gravel_status tune(const tune_options *o, gv_tune_options *t, gv_tune_summary *summary, char **log_path)
{
    char program[4096], worker[] = "--worker", tune_word[] = "tune", device_word[] = "--device";
    char no_fp64[] = "--no-fp64";
    char *device = gv_format("%s", o->device != NULL ? o->device : "");
    char *argv[8] = {program, tune_word, worker, NULL};
    char *profile_dir = o->profile_dir != NULL ? gv_format("%s", o->profile_dir)
                                               : gv_user_folder("XDG_DATA_HOME", ".local/share", "profiles");
    gravel_status status;
    int n = 3;

    gv_tune_own_path(program, sizeof program);
    if (o->device != NULL && device != NULL) {
        argv[n++] = device_word;
        argv[n++] = device;
    }
    if (o->no_fp64)
        argv[n++] = no_fp64;
    t->worker_argv = argv;
    /* places first: one that cannot be written costs no work on the device */
    status = profile_dir == NULL || device == NULL
                 ? gv_fail(GRAVEL_ERR_FILE, "there is no place for the profile: name one with --profile-dir")
             : o->record != NULL ? GRAVEL_OK
                                 : gv_folder_make_for(profile_dir, "profiles");
    if (status == GRAVEL_OK)
        status = choose_log(o, o->device, log_path);
    if (status == GRAVEL_OK) {
        t->log_path = *log_path;
        t->profile_dir = o->record != NULL ? NULL : profile_dir;
        status = o->record != NULL ? record(o, t, summary) : gv_tune(t, summary);
    }
    free(profile_dir);
    free(device);
    return status;
}

/* What is asked for, one thing at a time; options that would have no effect. */
static int check_what(const tune_options *o)
{
    const struct {
        const char *name;
        int typed;
    } what[] = {{"--list", o->list},
                {"--simulate", o->simulate},
                {"--regret", o->regret},
                {"--cross", o->cross},
                {"--record", o->record != NULL}};
    const char *first = NULL;
    for (size_t k = 0; k < sizeof what / sizeof *what; k++) {
        if (what[k].typed && first != NULL) {
            gv_say("gravel tune", "%s and %s: one of them at a time", first, what[k].name);
            return GV_EXIT_USAGE;
        }
        first = what[k].typed ? what[k].name : first;
    }
    if (o->plot != NULL && !o->simulate && !o->regret) {
        gv_say("gravel tune", "--plot is for --simulate and --regret; 'gravel plot tuning' draws a log");
        return GV_EXIT_USAGE;
    }
    if (!o->regret && (o->keep || o->most > 0 || o->theta != NULL || o->active != NULL)) {
        gv_say("gravel tune", "%s is for --regret",
               o->keep       ? "--keep"
               : o->most > 0 ? "--most"
               : o->theta    ? "--theta"
                             : "--active");
        return GV_EXIT_USAGE;
    }
    if (o->calls != NULL && (!o->regret || strcmp(o->kernel, "direct") != 0)) {
        gv_say("gravel tune", "--calls is for --regret of direct summation");
        return GV_EXIT_USAGE;
    }
    if (o->calls != NULL && (o->sinks.n > 0 || o->sources.n > 0 || o->plain || o->nearest || o->neighbours ||
                             o->theta != NULL || o->active != NULL)) {
        gv_say("gravel tune", "the files of --calls say with how many sinks and sources, and with what searches: leave "
                              "out --sinks, --sources, --plain, --nearest, --neighbours, --theta and --active");
        return GV_EXIT_USAGE;
    }
    if (o->calls != NULL && access(o->calls, R_OK) != 0) {
        gv_say("gravel tune", "--calls %s: %s", o->calls, strerror(errno));
        return GV_EXIT_USAGE;
    }
    if (o->plot != NULL && gv_plot_check(o->plot, 0) != GRAVEL_OK)
        return gv_cli_fail("gravel tune", GRAVEL_ERR_ARGUMENT);
    for (int k = 0; k < o->sources.n; k++)
        if (o->sources.value[k] < 2 && strcmp(o->kernel, "direct") != 0) {
            gv_say("gravel tune", "--sources %zu: a body alone has no force that could be verified; 2 or more",
                   o->sources.value[k]);
            return GV_EXIT_USAGE;
        }
    return GV_EXIT_OK;
}

/* Candidates were tried and none is in the profile, or there was nothing to try. */
static int nothing_works(const gv_tune_summary *s, int cross)
{
    if (cross && s->n_tasks == 0 && !s->interrupted) {
        gv_say("gravel tune",
               "--cross measures what a profile keeps, and it keeps nothing of these variants: tune them "
               "first, or name --sinks and --sources");
        return GV_EXIT_FAILURE;
    }
    if (s->interrupted || s->evaluations == 0 || s->status[GV_OUTCOME_OK] > 0)
        return GV_EXIT_OK;
    gv_say("gravel tune", "nothing that works was found, and no profile was written: %s",
           s->status[GV_OUTCOME_TIMEOUT] > 0 ? "a longer --candidate-time lets candidates end"
                                             : "the log has the reasons; 'gravel check' looks at the device");
    return GV_EXIT_FAILURE;
}

static int run(const void *values, const gv_operands *operands)
{
    const tune_options *o = values;
    gv_tune_summary summary;
    gv_tune_options t;
    gravel_status status;
    char *log_path = NULL;
    screen s = {isatty(STDERR_FILENO), 0, o->verbose, gv_now(), 0, {0, 0, NULL, 0}, NULL};

    if (o->worker)
        return gv_tune_worker_main(o->device, o->no_fp64);
    const int code = check_what(o);
    if (code != GV_EXIT_OK)
        return code;
    if (o->simulate)
        return gv_tune_simulate(o, operands);
    if (operands->n > 0) {
        gv_say("gravel tune", "'%s': only --simulate takes files", operands->value[0]);
        return GV_EXIT_USAGE;
    }
    if (o->list)
        return gv_tune_list(o);
    if (o->regret)
        return gv_tune_regret(o);
    if (!fill(o, &t))
        return GV_EXIT_USAGE;
    s.questions = o->json ? cJSON_CreateArray() : NULL;
    gv_table_start(&s.table, "variant|sinks|sources|time|gain|tried|failed|configuration");
    t.interrupted = interrupted;
    t.progress = show;
    t.finished = finished;
    t.warn = warn;
    t.user = &s;
    gv_signals_catch(0, NULL);
    memset(&summary, 0, sizeof summary);
    status = tune(o, &t, &summary, &log_path);
    clear_line(&s);
    if (summary.n_tasks > 0) {
        const gravel_status told = print_results(&s, &summary, log_path);
        status = status != GRAVEL_OK ? status : told;
        print_summary(o, &summary, log_path);
    }
    cJSON_Delete(s.questions);
    gv_table_free(&s.table);
    free(log_path);
    if (status != GRAVEL_OK) /* all files of a run are written: log, profile, recording */
        return gv_cli_fail_writing("gravel tune", status);
    return summary.interrupted ? GV_EXIT_INTERRUPTED : nothing_works(&summary, o->cross);
}

const gv_command gv_cmd_tune = {
    .name = "tune",
    .summary = "find the best configurations of a kernel on this machine",
    .synopsis = "[--variant LIST] [--quick] [--budget TIME] [--resume] [options]",
    .about =
        "Tunes direct sums, or with --kernel trees or tasks between leaves. A question is a variant with a number of\n"
        "sinks and of sources. For each, configurations are compiled, checked against the reference and timed, each "
        "in\n"
        "a process of its own. The best ones become a profile that every program with gravel uses from then on.\n"
        "Ctrl-C keeps what was found.",
    .opts = gv_tune_opts,
    .examples = "gravel tune --quick\n"
                "gravel tune --variant ds4 --budget 60s --device gpu\n"
                "gravel tune --kernel tree --quick\n"
                "gravel tune --kernel tasks --variant sp2 --sinks 33,48,64 --budget 5m\n"
                "gravel tune --list --variant sp2\n"
                "gravel tune --regret --variant ds4 --json > regret.json\n"
                "gravel tune --regret --keep --quick --budget 10m\n"
                "gravel tune --regret --keep --quick --calls calls\n"
                "gravel tune --regret --kernel tree --sources 5000,30000 --theta 0.3,0.75 --active 0.1,1\n"
                "gravel tune --simulate --json\n",
    .min_operands = 0,
    .max_operands = 16,
    .size = sizeof(tune_options),
    .run = run,
};
