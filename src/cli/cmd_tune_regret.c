/* gravel tune --regret: what programs get at sizes between the questions, beside the best of all that the profile
 * keeps and the untuned default. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_tune_regret.h"
#include "host/base/clock.h"
#include "host/base/files.h"
#include "host/direct/plan.h"
#include "tuner/prebuild.h"

#define COMMAND "gravel tune"
#define LONG_S 0.03
#define AGAIN_PART 0.1 /* of a budget, for the second sitting */
/* Candidates a point for --keep where nobody says: of all that a profile keeps a CPU compiles one point in half a
 * minute, and what leads there is among the nearest. */
#define KEEP_MOST 8

typedef struct grid {
    const tune_options *options;
    gv_regret_setting setting;
    gv_tune_worker worker;
    gv_prebuild prebuild;
    regret_axes axes;
    regret_result result;
    cJSON *times;         /* of the point that is measured */
    int sitting;          /* 0: the first */
    gravel_status broken; /* no worker can be started */
    double begin, end;    /* of the budget; INFINITY: there is none */
    double point_end;     /* when the point that is measured has to end */
    double least_s;       /* the fastest candidate of that point so far */
    char reason[280];     /* why its first failing candidate fails; the choice is timed first */
    gv_progress progress;
    int measured; /* points */
    uint64_t seed;
} grid;

/* Why a point fails, or, later, why no worker starts any more. */
static void note_why(grid *g, char *why)
{
    free(g->result.why);
    g->result.why = why;
}

/* Of one candidate, building included, which may wait for others on a busy machine. */
static double candidate_limit(const grid *g)
{
    return g->options->candidate > 0 ? g->options->candidate : 120;
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

    if (gv_signals_pending())
        return;
    gv_prebuild_add(&g->prebuild, task, configuration, needed);
    gv_prebuild_run(&g->prebuild, candidate_limit(g));
}

/* Four digits are more than a time is known to, and there are many. */
static void put_time(cJSON *times, const char *configuration, int sitting, int turn, double time_s)
{
    const int turns_at = 2 + sitting;
    char text[32];
    cJSON *of = NULL;

    cJSON_ArrayForEach(of, times) if (strcmp(cJSON_GetArrayItem(of, 0)->valuestring, configuration) == 0) break;
    if (!of) {
        of = cJSON_CreateArray();
        cJSON_AddItemToArray(of, cJSON_CreateString(configuration));
        cJSON_AddItemToArray(times, of);
    }
    snprintf(text, sizeof text, "%.4g", time_s);
    while (turn > 0 && cJSON_GetArraySize(of) <= turns_at)
        cJSON_AddItemToArray(of, cJSON_CreateArray());
    cJSON_AddItemToArray(turn > 0 ? cJSON_GetArrayItem(of, turns_at) : of, cJSON_CreateRaw(text));
}

static double time_one(void *user, const gv_task *task, const char *configuration, int turn, double stop_above,
                       gv_outcome *outcome)
{
    grid *g = user;
    const int quick = g->options->quick, first_two = turn == 0 && cJSON_GetArraySize(g->times) < 2;
    gv_request request = {.task = *task, .seed = ++g->seed};

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
    const gravel_status status = gv_tune_worker_ask(&g->worker, &request, candidate_limit(g), outcome);

    if (status != GRAVEL_OK && status != GRAVEL_ERR_CANCELLED) {
        g->broken = status;
        note_why(g, gv_format("%s", gravel_error_message()));
    }
    if (status != GRAVEL_OK)
        return -1;
    if (gv_signals_pending() && outcome->status != GV_OUTCOME_OK)
        return -1; /* cut off, not failed */
    g->least_s = fmin(g->least_s, gv_outcome_score(outcome));
    if (outcome->status != GV_OUTCOME_OK && g->reason[0] == '\0')
        snprintf(g->reason, sizeof g->reason, "%s: %s", gv_outcome_name(outcome->status), outcome->reason);
    if (isfinite(gv_outcome_score(outcome)))
        put_time(g->times, configuration, g->sitting, turn, turn > 0 ? outcome->time_s : gv_outcome_score(outcome));
    /* the least time tells what is worth turns, in which what disturbs one disturbs the others as well */
    return turn > 0 && outcome->status == GV_OUTCOME_OK ? outcome->time_s : gv_outcome_score(outcome);
}

static void show_point(gv_progress *progress, const gv_regret_point *p)
{
    gv_progress_clear(progress);
    fprintf(stderr, "gravel: %s %s %zu x %zu", p->task.variant.name, gv_tune_features_name(p->task.variant.features),
            p->task.sinks, p->task.sources);
    if (p->task.theta > 0)
        fprintf(stderr, ", theta %g, %g active", p->task.theta, p->task.active);
    fprintf(stderr, ": %.3f of the best of %d, %.3f of the default%s\n", p->choice_s / p->best_s, p->candidates,
            p->choice_s / p->default_s,
            !p->complete      ? " (incomplete)"
            : !p->decided     ? " (undecided)"
            : p->sittings > 1 ? " (measured twice)"
                              : "");
}

/* By points or by the budget, whichever ends it sooner. */
static void show_progress(grid *g)
{
    const double by_time = isfinite(g->end) ? (gv_now() - g->begin) / (g->end - g->begin) : 0;

    gv_progress_show(&g->progress, fmax(by_time, (double)g->measured / g->result.wanted), 1);
}

/* Where there are more processes to compile than candidates at a point, those of the points from number k on are built
 * together, as many as keep all of them busy.  Returns the number of the first point that is not among them. */
static int prepare_points(grid *g, const regret_block *block, int k, double end)
{
    gv_regret_list list;

    for (; k < block->wanted && gv_now() < end && !gv_prebuild_is_full(&g->prebuild) && !gv_signals_pending(); k++)
        if (gv_regret_list_make(&g->setting, &block->task[k], &list) == GRAVEL_OK)
            gv_prebuild_add(&g->prebuild, &block->task[k], list.configuration, list.n);
    gv_prebuild_run(&g->prebuild, candidate_limit(g));
    return k;
}

/* Until `end`; the first point has until the end of the whole budget. */
static gravel_status measure_block(grid *g, regret_block *block, double end)
{
    int prepared = 0;
    gravel_status status = GRAVEL_OK;

    for (int k = 0; k < block->wanted && status == GRAVEL_OK && !g->broken && (k == 0 || gv_now() < end); k++) {
        gv_regret_point *point = &block->point[block->n];

        if (k >= prepared)
            prepared = prepare_points(g, block, k, end);
        g->times = cJSON_CreateArray();
        g->least_s = INFINITY;
        g->reason[0] = '\0';
        g->point_end = k == 0 ? g->end : end;
        status = gv_regret_measure(&g->setting, &block->task[k], point);
        if (status != GRAVEL_OK) {
            cJSON_Delete(g->times);
            if (status != GRAVEL_ERR_LAUNCH)
                break;
            if (g->result.failing++ == 0)
                note_why(g, gv_format("%s (%s)", gravel_error_message(), g->reason));
            status = GRAVEL_OK;
            continue;
        }
        if (block->calls)
            block->calls[block->n] = block->calls[k];
        block->times[block->n++] = g->times;
        g->measured++;
        show_progress(g);
        if (g->options->verbose)
            show_point(&g->progress, point);
        if (gv_signals_pending())
            status = gv_fail(GRAVEL_ERR_CANCELLED, "stopped");
    }
    return status;
}

/* Points beyond a mark, when all have been measured once. */
static gravel_status measure_again(grid *g)
{
    g->sitting = 1;
    g->point_end = g->end;
    for (int b = 0; b < g->result.n_blocks; b++) {
        regret_block *block = &g->result.block[b];

        for (int k = 0; k < block->n && !g->broken && gv_now() < g->end; k++) {
            if (!gv_regret_is_beyond(&block->point[k]))
                continue;
            g->times = block->times[k];
            g->least_s = block->point[k].best_s;
            gv_regret_measure_again(&g->setting, &block->point[k]);
            show_progress(g);
            if (g->options->verbose)
                show_point(&g->progress, &block->point[k]);
            if (gv_signals_pending())
                return gv_fail(GRAVEL_ERR_CANCELLED, "stopped");
        }
    }
    return GRAVEL_OK;
}

gravel_status gv_regret_block_make(regret_block *block, const gv_variant *variant, int wanted, int calls)
{
    *block = (regret_block){.variant = *variant, .wanted = wanted, .part = 1};
    block->task = calloc((size_t)wanted, sizeof *block->task);
    block->calls = calls ? calloc((size_t)wanted, sizeof *block->calls) : NULL;
    block->point = calloc((size_t)wanted, sizeof *block->point);
    block->times = calloc((size_t)wanted, sizeof(cJSON *));
    return block->task && block->point && block->times && (block->calls || !calls)
               ? GRAVEL_OK
               : gv_fail(GRAVEL_ERR_MEMORY, "no memory for the points of a regret");
}

/* The blocks of a grid: each variant with each of the searches. */
static gravel_status make_blocks(grid *g)
{
    static const unsigned each[] = {0, GV_DIRECT_NEAREST, GV_DIRECT_NEAREST | GV_DIRECT_LISTS};
    const tune_options *o = g->options;
    const int is_direct = gv_subject_find(o->kernel)->questions == GV_QUESTIONS_PAIRS;
    const int n_features = !is_direct || o->nearest || o->neighbours || o->plain ? 1 : 3;
    regret_result *r = &g->result;
    gv_variant variant[GV_TUNE_VARIANTS];
    const int n = gv_tune_variants(o, variant, GV_TUNE_VARIANTS);
    gravel_status status = GRAVEL_OK;

    if (n < 1)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "there is nothing to measure");
    r->block = calloc((size_t)(n * n_features), sizeof *r->block);
    if (!r->block)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the points of a regret");
    for (int k = 0; k < n * n_features && status == GRAVEL_OK; k++) {
        gv_variant *v = &variant[k / n_features];
        regret_block *block = &r->block[r->n_blocks];

        if (v->precision == GRAVEL_DP && !g->setting.limits->info.has_fp64) {
            if (k % n_features == 0)
                gv_say(COMMAND, "%s is left out: the device has no double precision", v->name);
            continue;
        }
        if (n_features > 1)
            v->features = each[k % n_features];
        status = gv_regret_block_make(block, v, gv_regret_points(&g->axes), 0);
        for (int p = 0; p < block->wanted && status == GRAVEL_OK; p++)
            gv_regret_task(&g->axes, g->setting.space, v, p, &block->task[p]);
        r->n_blocks++;
        r->wanted += block->wanted;
    }
    if (status == GRAVEL_OK && r->n_blocks == 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "there is nothing to measure");
    return status;
}

static gravel_status measure_all(grid *g)
{
    const double end = g->end - (isfinite(g->end) ? AGAIN_PART * (g->end - gv_now()) : 0);
    regret_result *r = &g->result;
    gravel_status status =
        g->options->calls ? gv_regret_blocks_of_calls(g->options, g->setting.limits, r) : make_blocks(g);

    for (int b = 0; b < r->n_blocks && status == GRAVEL_OK; b++) {
        const double now = gv_now();
        double parts = 0;

        for (int k = b; k < r->n_blocks; k++)
            parts += r->block[k].part;
        status = measure_block(g, &r->block[b], now + (end - now) * r->block[b].part / parts);
    }
    if (status == GRAVEL_OK)
        status = measure_again(g);
    return g->broken ? gv_fail(g->broken, "%s", r->why ? r->why : "") : status;
}

static void free_blocks(regret_result *r)
{
    for (int b = 0; b < r->n_blocks; b++) {
        for (int k = 0; k < r->block[b].n; k++)
            cJSON_Delete(r->block[b].times[k]);
        free(r->block[b].times);
        free(r->block[b].point);
        free(r->block[b].calls);
        free(r->block[b].task);
    }
    free(r->block);
    free(r->why);
}

/* Profiles as programs read them: those of other devices too, which answer what this one's do not hold. */
static gravel_status read_profiles(const char *dir, const gv_space *space, gv_profile_set *user,
                                   gv_profile_set *shipped)
{
    gravel_status status = GRAVEL_OK;

    if (dir != NULL && dir[0] != '\0')
        status = gv_profile_read_dir(dir, user, NULL, NULL);
    if (status == GRAVEL_OK)
        status = gv_profile_read_shipped(NULL, NULL, shipped, NULL, NULL);
    gv_profile_set_check(user, space, NULL, NULL);
    gv_profile_set_check(shipped, space, NULL, NULL);
    return status;
}

static gravel_status may_keep(const grid *g, const char *dir)
{
    gv_profile_device device;

    if (dir == NULL || dir[0] == '\0')
        return gv_fail(GRAVEL_ERR_FILE, "there is no place for the profile: name one with --profile-dir");
    gv_profile_device_of(&g->setting.limits->info, &device);
    return gv_profile_may_save(dir, &device);
}

/* Points that are worth it become answers of the profile. */
static gravel_status keep_answers(grid *g, const char *dir)
{
    gv_profile_set set = GV_PROFILE_SET_INIT;
    gv_profile_entry *entry = malloc(sizeof *entry);
    gv_profile_device device;
    regret_result *r = &g->result;
    gravel_status status = entry ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no memory for the entry of a profile");
    int answers = 0;

    gv_profile_device_of(&g->setting.limits->info, &device);
    for (int b = 0; b < r->n_blocks; b++) {
        for (int k = 0; k < r->block[b].n && status == GRAVEL_OK; k++) {
            if (!gv_regret_is_worth_an_answer(&r->block[b].point[k]))
                continue;
            gv_regret_answer(&g->setting, &r->block[b].point[k], entry);
            status = gv_profile_set_add(&set, &device, entry);
            answers++;
        }
    }
    if (status == GRAVEL_OK && answers > 0)
        status = gv_profile_save(dir, &set, r->profile_path, sizeof r->profile_path);
    r->answers = status == GRAVEL_OK ? answers : 0;
    gv_profile_set_free(&set);
    free(entry);
    return status;
}

/* With --keep what was measured until a stop is kept as well. */
static gravel_status measure_and_keep(grid *g, const char *dir)
{
    gravel_status status = may_keep(g, dir), kept;

    if (status == GRAVEL_OK && !g->options->calls)
        status = gv_regret_axes_between(g->options, &g->setting, &g->axes);
    if (status != GRAVEL_OK)
        return status;
    status = measure_all(g);
    kept = status == GRAVEL_OK || status == GRAVEL_ERR_CANCELLED ? keep_answers(g, dir) : GRAVEL_OK;
    return kept != GRAVEL_OK ? kept : status;
}

int gv_tune_regret(const tune_options *o)
{
    char program[4096], words[4][12] = {"tune", "--worker", "--device", "--no-fp64"};
    char *device = gv_format("%s", o->device != NULL ? o->device : ""), *argv[8] = {program, words[0], words[1], NULL};
    const gv_tune_worker_options worker = {.argv = argv, .start_s = 60, .interrupted = interrupted};
    char *dir = o->profile_dir != NULL ? gv_format("%s", o->profile_dir)
                                       : gv_user_folder("XDG_DATA_HOME", ".local/share", "profiles");
    gv_profile_set user = GV_PROFILE_SET_INIT, shipped = GV_PROFILE_SET_INIT;
    grid g = {.options = o};
    const gv_subject *subject = gv_subject_find(o->kernel);
    gv_tune_device found;
    gravel_status status, told = GRAVEL_OK;
    int n = 3;

    if (subject != NULL && !o->calls && !gv_regret_axes(o, subject, &g.axes)) {
        free(device);
        free(dir);
        return GV_EXIT_USAGE;
    }
    g.begin = gv_now();
    g.end = o->budget > 0 ? g.begin + o->budget : INFINITY;
    gv_progress_start(&g.progress, "points");
    gv_tune_own_path(program, sizeof program);
    if (o->device != NULL && device != NULL) {
        argv[n++] = words[2];
        argv[n++] = device;
    }
    if (o->no_fp64)
        argv[n++] = words[3];
    gv_signals_catch(0, NULL);
    gv_tune_worker_init(&g.worker, &worker);
    status =
        subject ? GRAVEL_OK : gv_fail(GRAVEL_ERR_ARGUMENT, "there is no kernel '%s' (direct, tree, tasks)", o->kernel);
    if (status == GRAVEL_OK && o->keep && dir != NULL && dir[0] != '\0')
        status = gv_folder_make_for(dir, "profiles");
    if (status == GRAVEL_OK)
        status = gv_tune_look(o->device, o->no_fp64, subject->space, &found);
    if (status == GRAVEL_OK)
        status = read_profiles(dir, subject->space, &user, &shipped);
    if (status == GRAVEL_OK) {
        g.setting = (gv_regret_setting){
            subject->space, &found.limits, found.kernel_version, &user, &shipped, o->most, time_one, prepare, &g};
        if (o->keep && o->most == 0)
            g.setting.most = KEEP_MOST;
        gv_builders_init(&g.prebuild.builders, o->jobs >= 0 ? o->jobs : gv_tune_jobs(&found.limits), &worker);
        status = o->keep ? measure_and_keep(&g, dir) : measure_all(&g);
    }
    gv_progress_clear(&g.progress);
    if (g.result.wanted > 0) {
        g.result.options = o;
        g.result.limits = &found.limits;
        g.result.is_budget_over = isfinite(g.end);
        told = gv_tune_tell_regret(&g.result, status);
    }
    gv_tune_worker_stop(&g.worker);
    gv_prebuild_stop(&g.prebuild);
    gv_profile_set_free(&user);
    gv_profile_set_free(&shipped);
    free_blocks(&g.result);
    free(device);
    free(dir);
    if (status == GRAVEL_ERR_CANCELLED)
        return GV_EXIT_INTERRUPTED;
    if (status != GRAVEL_OK)
        return gv_cli_fail_writing(COMMAND, status);
    return told != GRAVEL_OK || g.result.failing > 0 || (o->json && g.result.missed > 0) ? GV_EXIT_FAILURE : GV_EXIT_OK;
}
