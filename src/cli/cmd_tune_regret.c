/* gravel tune --regret: what programs get at sizes between the questions, beside the best of all that the profile
 * keeps and the untuned default. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_tune.h"
#include "cli/plot.h"
#include "gravel/tree.h"
#include "host/base/clock.h"
#include "host/base/files.h"
#include "host/direct/plan.h"
#include "tuner/ahead.h"
#include "tuner/regret.h"

#define COMMAND "gravel tune"
#define LONG_S 0.03

static const size_t default_sinks[] = {1, 3, 5, 12, 24, 48, 100, 300, 1024, 3000, 10000, 50000};
static const size_t leaf_sinks[4] = {24, 40, 64, 100}, leaf_sources[2] = {3000, 12000};
static const size_t default_sources[] = {1000, 5000, 30000, 131072, 500000, 1000000};

/* The sizes of a grid: sources x sinks of direct summation, bodies x theta x active part of the tree. */
typedef struct axes {
    size_t sources[GV_MAX_LIST], sinks[GV_MAX_LIST];
    double theta[GV_MAX_LIST], active[GV_MAX_LIST];
    int n_sources, n_sinks, n_theta, n_active; /* 1 where there is no such axis */
} axes;

typedef struct grid {
    const tune_options *options;
    gv_regret_setting setting;
    gv_tune_worker worker;
    gv_ahead ahead;
    axes axes;
    cJSON *points, *summaries;
    cJSON *times; /* of the point that is measured: [configuration, seconds, [seconds in each turn]] */
    char *plot;   /* gnuplot's data blocks */
    gv_table table;
    int n_blocks, n_variants, missed;
    /* points: of the whole grid; measured; of these too noisy; ended before all candidates were timed */
    int wanted, complete, undecided, stopped;
    int failing;          /* points where the choice itself fails */
    char *why;            /* the first failure */
    gravel_status broken; /* no worker can be started */
    double end;           /* when the budget is over */
    double point_end;     /* when the point that is measured has to end */
    double least_s;       /* the fastest candidate of that point so far */
    char reason[280];     /* why its first failing candidate fails; the choice is timed first */
    uint64_t seed;
} grid;

static void append(char **text, char *grown)
{
    free(*text);
    *text = grown;
}

static int interrupted(void *user)
{
    (void)user;
    return gv_signals_pending();
}

/* One after the other compiling would take longer than the timing. */
static void prepare(void *user, const gv_task *task, const char *const *configuration, int n)
{
    grid *g = user;
    /* the choice and the default are timed however late it is */
    const int needed = gv_now() > g->point_end && n > 2 ? 2 : n;

    if (!gv_signals_pending())
        gv_ahead_build(&g->ahead, task, configuration, needed, g->options->candidate > 0 ? g->options->candidate : 120);
}

/* Four digits are more than a time is known to, and there are many. */
static void put_time(cJSON *times, const char *configuration, int turn, double time_s)
{
    char text[32];
    cJSON *of = NULL;

    cJSON_ArrayForEach(of, times) if (strcmp(cJSON_GetArrayItem(of, 0)->valuestring, configuration) == 0) break;
    if (!of) {
        of = cJSON_CreateArray();
        cJSON_AddItemToArray(of, cJSON_CreateString(configuration));
        cJSON_AddItemToArray(times, of);
    }
    snprintf(text, sizeof text, "%.4g", time_s);
    if (turn == 1)
        cJSON_AddItemToArray(of, cJSON_CreateArray());
    cJSON_AddItemToArray(turn > 0 ? cJSON_GetArrayItem(of, 2) : of, cJSON_CreateRaw(text));
}

static double time_one(void *user, const gv_task *task, const char *configuration, int turn, double stop_above)
{
    grid *g = user;
    const int quick = g->options->quick, first_two = turn == 0 && cJSON_GetArraySize(g->times) < 2;
    /* building included, which may wait for others on a busy machine */
    const double limit_s = g->options->candidate > 0 ? g->options->candidate : 120;
    gv_request request = {.task = *task, .seed = ++g->seed};
    gv_outcome outcome;

    /* without the choice and the default there is nothing to compare */
    if (gv_signals_pending() || (gv_now() > g->point_end && !first_two))
        return -1;
    snprintf(request.configuration, sizeof request.configuration, "%s", configuration);
    request.turn = turn;
    /* what takes long needs no repetitions, nor do turns, of which there are as many as it takes to decide */
    request.effort = turn > 0              ? (gv_effort){1, 16, g->least_s > LONG_S ? 0 : 0.002, 0.1, 1e30}
                     : g->least_s > LONG_S ? (gv_effort){1, 1, 0, 0, 1e30}
                     : quick               ? (gv_effort){5, 32, 0.006, 0.3, fmin(stop_above, 1e30)}
                                           : (gv_effort){9, 64, 0.02, 1.0, fmin(stop_above, 1e30)};
    const gravel_status status = gv_tune_worker_ask(&g->worker, &request, limit_s, &outcome);

    if (status != GRAVEL_OK && status != GRAVEL_ERR_CANCELLED) {
        g->broken = status;
        append(&g->why, gv_format("%s", gravel_error_message()));
    }
    if (status != GRAVEL_OK)
        return -1;
    if (gv_signals_pending() && outcome.status != GV_OUTCOME_OK)
        return -1; /* cut off, not failed */
    g->least_s = fmin(g->least_s, gv_outcome_score(&outcome));
    if (outcome.status != GV_OUTCOME_OK && g->reason[0] == '\0')
        snprintf(g->reason, sizeof g->reason, "%s: %s", gv_outcome_name(outcome.status), outcome.reason);
    if (isfinite(gv_outcome_score(&outcome)))
        put_time(g->times, configuration, turn, turn > 0 ? outcome.time_s : gv_outcome_score(&outcome));
    /* the least time tells what is worth turns, in which what disturbs one disturbs the others as well */
    return turn > 0 && outcome.status == GV_OUTCOME_OK ? outcome.time_s : gv_outcome_score(&outcome);
}

/* Takes `times`. */
static cJSON *json_of(const gv_regret_point *p, cJSON *times)
{
    cJSON *object = cJSON_CreateObject();

    cJSON_AddStringToObject(object, "kernel", p->task.kernel);
    cJSON_AddStringToObject(object, "variant", p->task.variant.name);
    cJSON_AddNumberToObject(object, "features", p->task.variant.features);
    cJSON_AddNumberToObject(object, "sinks", (double)p->task.sinks);
    cJSON_AddNumberToObject(object, "sources", (double)p->task.sources);
    if (p->task.theta > 0)
        gv_json_number(object, "theta", p->task.theta);
    if (p->task.active > 0)
        gv_json_number(object, "active", p->task.active);
    cJSON_AddNumberToObject(object, "candidates", p->candidates);
    cJSON_AddNumberToObject(object, "failed", p->failed);
    cJSON_AddBoolToObject(object, "complete", p->complete);
    cJSON_AddNumberToObject(object, "turns", p->turns);
    cJSON_AddBoolToObject(object, "decided", p->decided);
    cJSON_AddStringToObject(object, "choice", p->choice);
    gv_json_number(object, "choice_s", p->choice_s);
    cJSON_AddStringToObject(object, "best", p->best);
    gv_json_number(object, "best_s", p->best_s);
    gv_json_number(object, "default_s", p->default_s);
    gv_json_number(object, "over_best", p->choice_s / p->best_s);
    gv_json_number(object, "over_default", p->choice_s / p->default_s);
    cJSON_AddItemToObject(object, "times", times);
    return object;
}

static int points_of(const axes *a)
{
    return a->n_sources * a->n_sinks * a->n_theta * a->n_active;
}

static void add_to_plot(grid *g, const gv_variant *variant, const gv_regret_point *point, int n, int complete)
{
    append(&g->plot, gv_format("%stitle%d = \"%s %s%s\"\n$d%d << EOD\n", g->plot ? g->plot : "", g->n_blocks,
                               variant->name, gv_tune_features_name(variant->features),
                               complete < points_of(&g->axes) ? " (incomplete)" : "", g->n_blocks));
    for (int k = 0; k < n; k++)
        if (point[k].decided && g->plot)
            append(&g->plot, gv_format("%s%zu %g %g\n", g->plot, point[k].task.sinks,
                                       point[k].choice_s / point[k].best_s, point[k].choice_s / point[k].default_s));
    if (g->plot)
        append(&g->plot, gv_format("%sEOD\n", g->plot));
    g->n_blocks++;
}

/* Figures are of the decided points only. */
static void tell(grid *g, const gv_variant *variant, const gv_regret_point *point, cJSON **times, int n)
{
    gv_regret_summary s;
    cJSON *object = cJSON_CreateObject();

    gv_regret_summarise(point, n, &s);
    g->missed += s.points > 0 && !gv_regret_is_kept(&s);
    g->complete += s.points + s.undecided;
    g->undecided += s.undecided;
    g->stopped += n - s.points - s.undecided;
    gv_table_row(&g->table, s.points > 0 ? "%s|%s|%d of %d|%d|%.3f|%.3f|%.3f|%.3f|%.3f" : "%s|%s|%d of %d|%d|-|-|-|-|-",
                 variant->name, gv_tune_features_name(variant->features), s.points + s.undecided, points_of(&g->axes),
                 s.points, s.median, s.p95, s.most, s.median_default, s.most_default);
    cJSON_AddStringToObject(object, "variant", variant->name);
    cJSON_AddNumberToObject(object, "features", variant->features);
    cJSON_AddNumberToObject(object, "points", s.points);
    cJSON_AddNumberToObject(object, "undecided", s.undecided);
    cJSON_AddBoolToObject(object, "complete", s.points + s.undecided == points_of(&g->axes));
    gv_json_number(object, "over_best_median", s.median);
    gv_json_number(object, "over_best_95_percent", s.p95);
    gv_json_number(object, "over_best_most", s.most);
    gv_json_number(object, "over_default_median", s.median_default);
    gv_json_number(object, "over_default_most", s.most_default);
    cJSON_AddBoolToObject(object, "kept", gv_regret_is_kept(&s));
    cJSON_AddItemToArray(g->summaries, object);
    for (int k = 0; k < n; k++) {
        cJSON_AddItemToArray(g->points, json_of(&point[k], times[k]));
        times[k] = NULL;
    }
    g->n_variants++;
    if (s.points > 0)
        add_to_plot(g, variant, point, n, s.points + s.undecided);
}

/* The points in an order that is spread over the grid wherever the budget ends: steps of about the golden section. */
static void task_of(const grid *g, const gv_variant *variant, int k, gv_task *task)
{
    const axes *a = &g->axes;
    const int n = points_of(a), square = gv_subject_find(g->options->kernel)->questions == GV_QUESTIONS_SQUARE;
    int step = n * 5 / 8, low = n, common = step;

    while (low != 0) { /* until step and n have no common divisor */
        const int rest = common % low;

        common = low;
        low = rest;
        if (low == 0 && common > 1)
            common = ++step, low = n;
    }
    k = (int)((long)k * step % n);
    memset(task, 0, sizeof *task);
    snprintf(task->kernel, sizeof task->kernel, "%s", g->setting.space->kernel);
    task->variant = *variant;
    task->sources = a->sources[k % a->n_sources];
    k /= a->n_sources;
    task->sinks = square ? task->sources : a->sinks[k % a->n_sinks];
    if (!square)
        return;
    task->theta = a->theta[k % a->n_theta];
    task->active = a->active[k / a->n_theta];
}

static void show_point(const gv_regret_point *p)
{
    fprintf(stderr, "gravel: %s %s %zu x %zu", p->task.variant.name, gv_tune_features_name(p->task.variant.features),
            p->task.sinks, p->task.sources);
    if (p->task.theta > 0)
        fprintf(stderr, ", theta %g, %g active", p->task.theta, p->task.active);
    fprintf(stderr, ": %.3f of the best of %d, %.3f of the default%s\n", p->choice_s / p->best_s, p->candidates,
            p->choice_s / p->default_s,
            !p->complete  ? " (incomplete)"
            : !p->decided ? " (undecided)"
                          : "");
}

/* Until `end`; the first point has until the end of the whole budget. */
static gravel_status measure_variant(grid *g, const gv_variant *variant, double end)
{
    const int most = points_of(&g->axes);
    gv_regret_point *point = calloc((size_t)most, sizeof *point);
    cJSON **times = calloc((size_t)most, sizeof(cJSON *));
    gravel_status status =
        point && times ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no memory for the points of a regret");
    int n = 0;

    for (int k = 0; k < most && status == GRAVEL_OK && (k == 0 || gv_now() < end); k++) {
        gv_task task;

        task_of(g, variant, k, &task);
        g->times = cJSON_CreateArray();
        g->least_s = INFINITY;
        g->reason[0] = '\0';
        g->point_end = k == 0 ? g->end : end;
        status = gv_regret_measure(&g->setting, &task, &point[n]);
        if (status != GRAVEL_OK) {
            cJSON_Delete(g->times);
            if (status != GRAVEL_ERR_LAUNCH)
                break;
            if (g->failing++ == 0)
                append(&g->why, gv_format("%s (%s)", gravel_error_message(), g->reason));
            status = GRAVEL_OK;
            continue;
        }
        times[n++] = g->times;
        if (g->options->verbose)
            show_point(&point[n - 1]);
        if (gv_signals_pending())
            status = gv_fail(GRAVEL_ERR_CANCELLED, "stopped");
    }
    if (n > 0)
        tell(g, variant, point, times, n);
    for (int k = 0; k < n; k++)
        cJSON_Delete(times[k]);
    free(times);
    free(point);
    return g->broken ? gv_fail(g->broken, "%s", g->why ? g->why : "") : status;
}

static gravel_status measure_all(grid *g)
{
    static const unsigned each[] = {0, GV_DIRECT_NEAREST, GV_DIRECT_NEAREST | GV_DIRECT_LISTS};
    const tune_options *o = g->options;
    const int is_direct = gv_subject_find(o->kernel)->questions == GV_QUESTIONS_PAIRS;
    const int n_features = !is_direct || o->nearest || o->neighbours || o->plain ? 1 : 3;
    gv_variant variant[GV_TUNE_VARIANTS];
    const int n = gv_tune_variants(o, variant, GV_TUNE_VARIANTS);
    gravel_status status = n > 0 ? GRAVEL_OK : gv_fail(GRAVEL_ERR_ARGUMENT, "there is nothing to measure");
    int left = n * n_features;

    for (int v = 0; v < n; v++)
        if (variant[v].precision != GRAVEL_DP || g->setting.limits->info.has_fp64)
            g->wanted += n_features * points_of(&g->axes);
    for (int v = 0; v < n && status == GRAVEL_OK; v++) {
        for (int f = 0; f < n_features && status == GRAVEL_OK; f++, left--) {
            const double now = gv_now();
            gv_variant with = variant[v];

            if (with.precision == GRAVEL_DP && !g->setting.limits->info.has_fp64)
                continue;
            with.features = n_features == 1 ? with.features : each[f];
            status = measure_variant(g, &with, now + (g->end - now) / left);
        }
    }
    return status;
}

static gravel_status plot(const grid *g)
{
    gv_plot plot;
    const gravel_status status = gv_plot_begin(&plot, g->options->plot, 1000, 560, 0);

    if (status != GRAVEL_OK)
        return status;
    plot.late = 1;
    fprintf(plot.script,
            "%sset logscale x\nset xlabel 'sinks'\nset ylabel 'time of the choice / best kept'\n"
            "set yrange [0.95:*]\nset grid\nset key outside\nplot %g dt 2 lc rgb 'gray' notitle",
            g->plot ? g->plot : "", GV_REGRET_MOST);
    for (int k = 0; k < g->n_blocks; k++)
        fprintf(plot.script, ", $d%d using 1:2 with points title title%d", k, k);
    fputs("\n", plot.script);
    return gv_plot_finish(&plot);
}

static gravel_status print(grid *g, const char *device)
{
    if (!g->options->json) {
        gv_table_print(&g->table, stdout);
        return gv_cli_flush();
    }
    cJSON *root = cJSON_CreateObject();

    gv_json_stamp(root);
    cJSON_AddStringToObject(root, "device", device);
    cJSON_AddStringToObject(root, "driver", g->setting.limits->info.driver);
    cJSON_AddBoolToObject(root, "complete", g->complete == g->wanted);
    cJSON_AddNumberToObject(root, "points_left_out", g->wanted - g->complete);
    cJSON_AddItemToObject(root, "summary", g->summaries);
    cJSON_AddItemToObject(root, "points", g->points);
    g->summaries = g->points = NULL;
    return gv_json_write(root, NULL);
}

/* Whatever ended the run: what was measured is printed and drawn, and what is missing is said. */
static gravel_status report(grid *g, gravel_status status, const char *device)
{
    gravel_status told = print(g, device);

    if (told == GRAVEL_OK && g->options->plot != NULL && g->n_blocks > 0)
        told = plot(g);
    if (told != GRAVEL_OK)
        gv_cli_fail_writing(COMMAND, told);
    if (g->options->plot != NULL && g->n_blocks == 0)
        gv_say(COMMAND, "%s: no point is decided, so that there is nothing to draw", g->options->plot);
    if (g->complete < g->wanted)
        gv_say(COMMAND, "incomplete: %s%d of %d points were measured%s",
               status == GRAVEL_ERR_CANCELLED ? "stopped on request, "
               : isfinite(g->end)             ? "the budget was over, "
                                              : "",
               g->complete, g->wanted, g->stopped > 0 ? "; those begun are in the JSON, not in the figures" : "");
    if (g->undecided > 0)
        gv_say(COMMAND, "%d of %d points decide nothing, since turns on this busy machine disagree: not in the figures",
               g->undecided, g->complete);
    if (g->failing > 0)
        gv_say(COMMAND, "%d point%s not be measured: %s", g->failing, g->failing == 1 ? " could" : "s could",
               g->why ? g->why : "");
    if (g->missed > 0)
        gv_say(COMMAND,
               "%d of %d variants miss the mark: median %.2f, 95 %% %.2f, most %.2f of the best, %.2f of the "
               "default",
               g->missed, g->n_variants, GV_REGRET_MEDIAN, GV_REGRET_P95, GV_REGRET_MOST, GV_REGRET_OVER_DEFAULT);
    return told;
}

/* Profiles as programs read them: those of other devices too, which answer what this one's do not hold. */
static gravel_status read_profiles(const tune_options *o, gv_profile_set *user, gv_profile_set *shipped)
{
    char *dir = o->profile_dir != NULL ? gv_format("%s", o->profile_dir)
                                       : gv_user_folder("XDG_DATA_HOME", ".local/share", "profiles");
    gravel_status status = GRAVEL_OK;

    if (dir != NULL && dir[0] != '\0')
        status = gv_profile_read_dir(dir, user, NULL, NULL);
    free(dir);
    return status == GRAVEL_OK ? gv_profile_read_shipped(NULL, shipped, NULL, NULL) : status;
}

static void copy_sizes(const gv_size_list *named, const size_t *usual, int n_usual, size_t *size, int *n)
{
    *n = named->n > 0 ? named->n : n_usual;
    memcpy(size, named->n > 0 ? named->value : usual, sizeof *size * (size_t)*n);
}

/* 0 after a message. */
static int make_axes(const tune_options *o, const gv_subject *subject, axes *a)
{
    const double theta[2] = {GRAVEL_TREE_THETA_MIN, GRAVEL_TREE_THETA_MAX};

    const int leaves = subject->questions == GV_QUESTIONS_LEAVES;

    *a = (axes){.n_sinks = 1, .n_theta = 1, .n_active = 1};
    copy_sizes(&o->sources, leaves ? leaf_sources : default_sources,
               leaves ? 2 : sizeof default_sources / sizeof *default_sources, a->sources, &a->n_sources);
    if (subject->questions != GV_QUESTIONS_SQUARE) {
        if (o->theta != NULL || o->active != NULL)
            gv_say(COMMAND, "--theta and --active are for --kernel tree");
        else
            copy_sizes(&o->sinks, leaves ? leaf_sinks : default_sinks,
                       leaves ? 4 : sizeof default_sinks / sizeof *default_sinks, a->sinks, &a->n_sinks);
        return o->theta == NULL && o->active == NULL;
    }
    a->n_theta =
        gv_parse_reals(o->theta != NULL ? o->theta : "0.3,0.5,0.75", theta[0], theta[1], a->theta, GV_MAX_LIST);
    a->n_active = gv_parse_reals(o->active != NULL ? o->active : "0.01,0.1,1", 1e-9, 1, a->active, GV_MAX_LIST);
    if (a->n_theta < 0)
        gv_say(COMMAND, "--theta: '%s' is not a list of numbers from %g to %g", o->theta, theta[0], theta[1]);
    if (a->n_active < 0)
        gv_say(COMMAND, "--active: '%s' is not a list of parts of the bodies, as 0.01,1", o->active);
    return a->n_theta > 0 && a->n_active > 0;
}

int gv_tune_regret(const tune_options *o)
{
    char program[4096], words[4][12] = {"tune", "--worker", "--device", "--no-fp64"};
    char *device = gv_format("%s", o->device != NULL ? o->device : ""), *argv[8] = {program, words[0], words[1], NULL};
    const gv_tune_worker_options worker = {.argv = argv, .start_s = 60, .interrupted = interrupted};
    gv_profile_set user = GV_PROFILE_SET_INIT, shipped = GV_PROFILE_SET_INIT;
    grid g = {.options = o, .points = cJSON_CreateArray(), .summaries = cJSON_CreateArray()};
    const gv_subject *subject = gv_subject_find(o->kernel);
    gv_tune_device found;
    gravel_status status, told = GRAVEL_OK;
    int n = 3;

    if (subject != NULL && !make_axes(o, subject, &g.axes)) {
        cJSON_Delete(g.points);
        cJSON_Delete(g.summaries);
        free(device);
        return GV_EXIT_USAGE;
    }
    g.end = o->budget > 0 ? gv_now() + o->budget : INFINITY;
    gv_tune_own_path(program, sizeof program);
    if (o->device != NULL && device != NULL) {
        argv[n++] = words[2];
        argv[n++] = device;
    }
    if (o->no_fp64)
        argv[n++] = words[3];
    gv_table_start(&g.table, "variant|features|points|decided|over best: median|95 %|most|over default: median|most");
    gv_signals_catch(0, NULL);
    gv_tune_worker_init(&g.worker, &worker);
    status = subject ? gv_tune_look(o->device, o->no_fp64, subject->space, &found)
                     : gv_fail(GRAVEL_ERR_ARGUMENT, "there is no kernel '%s' (direct, tree, tasks)", o->kernel);
    if (status == GRAVEL_OK)
        status = read_profiles(o, &user, &shipped);
    if (status == GRAVEL_OK) {
        g.setting = (gv_regret_setting){
            subject->space, &found.limits, found.kernel_version, &user, &shipped, o->most, time_one, prepare, &g};
        gv_builders_init(&g.ahead.builders, o->jobs >= 0 ? o->jobs : gv_tune_jobs(&found.limits), &worker);
        status = measure_all(&g);
    }
    if (g.wanted > 0)
        told = report(&g, status, found.limits.info.name);
    gv_tune_worker_stop(&g.worker);
    gv_ahead_stop(&g.ahead);
    gv_profile_set_free(&user);
    gv_profile_set_free(&shipped);
    gv_table_free(&g.table);
    cJSON_Delete(g.points);
    cJSON_Delete(g.summaries);
    free(g.plot);
    free(device);
    free(g.why);
    if (status == GRAVEL_ERR_CANCELLED)
        return GV_EXIT_INTERRUPTED;
    if (status != GRAVEL_OK)
        return gv_cli_fail_writing(COMMAND, status);
    return told != GRAVEL_OK || g.failing > 0 || (o->json && g.missed > 0) ? GV_EXIT_FAILURE : GV_EXIT_OK;
}
