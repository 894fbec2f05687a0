/* One question of a run: outcomes of candidates, and the search. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/run.h"
#include "tuner/scouts.h"
#include "host/base/clock.h"

enum { WIDE_STARTS = 8 }; /* those of a question and two more */

/* ------------------------------------------------------------ one outcome */

void gv_run_point_text(const gv_run *run, const gv_point *point, char text[GV_PROFILE_TEXT])
{
    gv_config config;

    gv_domain_config(&run->domain, point, &config);
    gv_space_format(run->space, &config, text, GV_PROFILE_TEXT);
}

static uint64_t hash_text(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325ull;

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
    return hash;
}

static void fill_request(gv_run *run, const gv_point *point, const gv_effort *effort, int round, gv_request *request)
{
    memset(request, 0, sizeof *request);
    request->task = run->task;
    gv_run_point_text(run, point, request->configuration);
    request->effort = *effort;
    request->seed = hash_text(request->configuration) ^ (run->options->seed + (uint64_t)round) * 0x9e3779b97f4a7c15ull ^
                    run->task.sinks;
    request->turn = round;
}

static void report(gv_run *run)
{
    gv_tune_progress progress = {&run->task,
                                 run->task_index,
                                 run->summary->n_tasks,
                                 (size_t)run->evaluations,
                                 run->options->budget,
                                 run->best_s,
                                 run->best,
                                 run->spent_s,
                                 -1};

    if (run->options->budget_s > 0)
        progress.left_s = fmax(run->options->budget_s - run->spent_s, 0);
    if (run->options->progress != NULL)
        run->options->progress(&progress, run->options->user);
}

static int must_stop(gv_run *run)
{
    if (!run->interrupted && run->options->interrupted != NULL && run->options->interrupted(run->options->user))
        run->interrupted = 1;
    return run->interrupted || run->status != GRAVEL_OK;
}

static void count(gv_run *run, const gv_tlog_record *record)
{
    const gv_outcome *outcome = &record->outcome;

    run->spent_s += outcome->cost_s;
    if (strcmp(record->stage, "search") == 0) {
        run->evaluations++;
        run->failures[outcome->status]++;
    }
    run->summary->status[outcome->status]++;
    if (gv_outcome_score(outcome) < run->best_s) {
        run->best_s = gv_outcome_score(outcome);
        snprintf(run->best, sizeof run->best, "%s", record->configuration);
    }
    report(run);
}

/* `built`: the outcome of a builder for it, NULL if there is none. */
static int measure(gv_run *run, const char *stage, int round, const gv_point *point, const gv_effort *effort,
                   const gv_outcome *built, gv_outcome *outcome)
{
    gv_tlog_record record;
    gv_request request;

    if (must_stop(run))
        return 0;
    fill_request(run, point, effort, round, &request);
    memset(&record, 0, sizeof record);
    record.task = run->task;
    record.round = round;
    snprintf(record.stage, sizeof record.stage, "%s", stage);
    snprintf(record.configuration, sizeof record.configuration, "%s", request.configuration);
    if (built != NULL)
        record.outcome = *built;
    else
        run->status = gv_tune_worker_ask(&run->worker, &request, run->options->limit_s, &record.outcome);
    if (run->status == GRAVEL_ERR_CANCELLED) {
        run->interrupted = 1;
        run->status = GRAVEL_OK;
        return 0;
    }
    /* a candidate that was cut off by Ctrl-C is not a failed one */
    if (run->status != GRAVEL_OK || (must_stop(run) && record.outcome.status != GV_OUTCOME_OK))
        return 0;
    record.outcome.cost_s = gv_now() - run->wall;
    run->wall = gv_now();
    run->summary->evaluations++;
    if (run->options->log_path != NULL)
        run->status = gv_tlog_append(&run->log, &record);
    count(run, &record);
    *outcome = record.outcome;
    return run->status == GRAVEL_OK;
}

static const gv_tlog_record *from_log(gv_run *run, const char *stage, int round, const gv_point *point)
{
    char text[GV_PROFILE_TEXT];

    gv_run_point_text(run, point, text);
    return run->options->log_path != NULL ? gv_tlog_find(&run->log, &run->task, stage, round, text) : NULL;
}

int gv_run_evaluate(gv_run *run, const char *stage, int round, const gv_point *point, const gv_effort *effort,
                    gv_outcome *outcome)
{
    const gv_tlog_record *known = from_log(run, stage, round, point);

    if (known == NULL)
        return measure(run, stage, round, point, effort, NULL, outcome);
    run->summary->replayed++;
    *outcome = known->outcome;
    count(run, known);
    return 1;
}

/* --------------------------------------------------------- build and search */

static uint64_t program_hash(const gv_run *run, const gv_point *point)
{
    uint64_t hash = hash_text(run->task.variant.name) + run->task.variant.features;

    for (int d = 0; d < run->domain.n; d++) {
        if (run->domain.builds[d]) {
            hash = (hash ^ (uint64_t)run->domain.value[d][point->at[d]]) * 0x9e3779b97f4a7c15ull;
            hash ^= hash >> 31;
        }
    }
    return hash;
}

/* 1 the first time a program is met. */
static int is_new_program(gv_run *run, const gv_point *point)
{
    uint64_t hash = program_hash(run, point);

    for (size_t i = 0; i < run->n_built; i++)
        if (run->built[i] == hash)
            return 0;
    if (run->n_built == run->built_room) {
        size_t room = run->built_room > 0 ? 2 * run->built_room : 256;
        uint64_t *grown = realloc(run->built, room * sizeof *grown);

        if (grown == NULL)
            return 0; /* then it is built by the measuring process */
        run->built = grown;
        run->built_room = room;
    }
    run->built[run->n_built++] = hash;
    return 1;
}

static void search_effort(const gv_run *run, gv_effort *effort)
{
    if (run->inherits) {
        *effort = (gv_effort){1, 1, 0, 0, 1e30};
        return;
    }
    if (run->options->record)
        *effort = (gv_effort){5, 32, 0.01, 0.5, 4 * run->best_s};
    else if (run->options->quick)
        *effort = (gv_effort){3, 16, 0.004, 0.15, 1.2 * run->best_s};
    else
        *effort = (gv_effort){5, 32, 0.01, 0.5, 1.3 * run->best_s};
    effort->stop_above = fmin(effort->stop_above, 1e30);
}

/* Idle builders build what the search will probably measure next. */
static int add_hints(gv_run *run, const gv_search *search, const gv_effort *effort, gv_request *request, int n)
{
    for (int h = 0; h < search->n_hints && n < run->builders.n; h++) {
        if (from_log(run, "search", 0, &search->hint[h]) == NULL && is_new_program(run, &search->hint[h])) {
            fill_request(run, &search->hint[h], effort, 0, &request[n]);
            request[n++].build_only = 1;
        }
    }
    return n;
}

int gv_run_same(const gv_run *run, const gv_point *a, const gv_point *b)
{
    gv_config of[2];

    gv_domain_config(&run->domain, a, &of[0]);
    gv_domain_config(&run->domain, b, &of[1]);
    return gv_space_same(run->space, &of[0], &of[1], &run->task.variant, &run->device.limits, run->task.sinks,
                         run->task.sources);
}

int gv_run_is_default(const gv_run *run, const gv_profile_entry *entry, const char *configuration)
{
    char built_in[GV_PROFILE_TEXT];
    gv_config config;

    run->space->built_in(&config, &run->task.variant, &run->device.limits, entry->sinks, entry->sources);
    gv_space_format(run->space, &config, built_in, sizeof built_in);
    return gv_space_same_text(run->space, configuration, built_in, &run->task.variant, &run->device.limits,
                              entry->sinks, entry->sources);
}

/* What was seen of a point that is launched alike, of those known and of the `n` before this one; NULL: none. */
static const gv_outcome *seen_alike(const gv_run *run, const gv_search *search, const gv_point *before, int n,
                                    const gv_point *point)
{
    for (size_t k = 0; k < search->n_known; k++)
        if (gv_run_same(run, &search->domain->point[search->known[k]], point))
            return &run->seen[k];
    for (int k = 0; k < n; k++)
        if (gv_run_same(run, &before[k], point))
            return &run->seen[search->n_known + (size_t)k];
    return NULL;
}

/* Builds what is new ahead, then measures one after the other, of those that are launched alike the first alone: part
 * `all` ... `all` + `n` of a batch. */
static int objective_part(gv_run *run, gv_search *search, const gv_point *batch, int all, int n, double *score)
{
    const gv_point *point = batch + all;
    gv_request request[64];
    int building[64], n_building = 0, on_cpu = run->device.limits.info.type == GRAVEL_DEVICE_CPU, i;
    gv_effort effort;

    search_effort(run, &effort);
    for (i = 0; i < n; i++) {
        building[i] = -1;
        if (run->builders.n > 0 && from_log(run, "search", 0, &point[i]) == NULL && is_new_program(run, &point[i])) {
            fill_request(run, &point[i], &effort, 0, &request[n_building]);
            request[n_building].build_only = 1;
            building[i] = n_building++;
        }
    }
    if (n_building > 0)
        n_building = add_hints(run, search, &effort, request, n_building);
    if (n_building > 1)
        gv_builders_start(&run->builders, request, n_building);
    for (i = 0; i < n && (run->spent_s < run->task_end || run->evaluations < run->sure); i++) {
        const gv_outcome *failed = NULL;
        gv_outcome outcome;

        /* on a CPU compilers would disturb the clock: all programs first */
        for (int b = 0; n_building > 1 && b < n_building; b++) {
            gv_outcome built;

            if ((b == building[i] || (on_cpu && i == 0)) &&
                gv_builders_wait(&run->builders, b, run->options->limit_s, &built) && b == building[i] &&
                built.status != GV_OUTCOME_OK) {
                outcome = built;
                failed = &outcome;
            }
        }
        search_effort(run, &effort);
        const gv_outcome *alike = run->options->record ? NULL : seen_alike(run, search, batch, all + i, &point[i]);
        if (alike != NULL) {
            outcome = *alike;
            search->n_free++;
        } else if (failed != NULL ? !measure(run, "search", 0, &point[i], &effort, failed, &outcome)
                                  : !gv_run_evaluate(run, "search", 0, &point[i], &effort, &outcome)) {
            break;
        }
        score[i] = gv_outcome_score(&outcome);
        run->seen[run->n_seen++] = outcome;
    }
    if (n_building > 1)
        gv_builders_finish(&run->builders, run->options->limit_s);
    return i;
}

/* What other questions' programs may take of the time that is left: with 3.7 s for each of 27 variants an H200 waited
 * 2.5 s for 64 of them, most of which were not measured in the end. */
#define AHEAD_PART 0.25

void gv_run_build_from(gv_run *run, const char *stage, const gv_winners *found, gv_points_fn points_of,
                       const void *order, int k, int n, double end)
{
    const gv_effort none = {1, 1, 0, 0, 1e30};
    const int all = run->builders.n < 16 ? 4 * run->builders.n : 64;
    const double time_s = AHEAD_PART * fmax(end - run->spent_s, 0);
    const int ahead = run->program_s > 0 ? (int)fmin(time_s / run->program_s, all) : run->builders.n;
    const gv_task task = run->task;
    gv_request request[64];
    int building = 0, room = all;

    for (int q = k; q < n && building < room && (q == k || building > 0); q++) {
        gv_point point[GV_POINTS_MOST];
        const int m = points_of(run, found, order, q, point);

        for (int p = 0; p < m && building < room; p++) {
            if (from_log(run, stage, 0, &point[p]) == NULL && is_new_program(run, &point[p])) {
                fill_request(run, &point[p], &none, 0, &request[building]);
                request[building++].build_only = 1;
            }
        }
        room = ahead;
    }
    run->task = task;
    if (building > 1) {
        const double start = gv_now();

        gv_builders_start(&run->builders, request, building);
        gv_builders_finish(&run->builders, run->options->limit_s);
        run->program_s = (gv_now() - start) / building;
    }
}

/* In parts, so that a batch that takes long to compile does not overrun the question's time by much. */
static int objective(void *user, gv_search *search, const gv_point *point, int n, double *score)
{
    gv_run *run = user;
    int on_cpu = run->device.limits.info.type == GRAVEL_DEVICE_CPU;
    int part = run->builders.n == 0 ? n : on_cpu ? run->builders.n : 2 * run->builders.n, done = 0;

    while (done < n) {
        int m = n - done < part ? n - done : part, got = objective_part(run, search, point, done, m, score + done);

        done += got;
        if (got < m)
            break;
    }
    return done;
}

/* The start points, then the tunables that need no new program around the best of them. */
static void prelude(gv_search *search)
{
    const gv_domain *domain = search->domain;

    if (!gv_search_begin(search))
        return;
    for (int d = 0; d < domain->n; d++) {
        gv_point line[GV_MAX_VALUES];
        double score[GV_MAX_VALUES];

        for (int v = 0; v < domain->n_values[d]; v++) {
            line[v] = domain->point[search->known[search->best]];
            line[v].at[d] = (unsigned char)v;
        }
        if (!domain->builds[d] && !gv_search_try(search, line, domain->n_values[d], score))
            return;
    }
}

static void run_search(gv_run *run, gv_search *search)
{
    const double end = run->task_end;

    if (run->inherits) {
        /* not without the default: what won elsewhere may be slower than it here */
        const gv_point pair[2] = {search->start[0], run->inherited};
        double score[2];

        run->task_end = INFINITY;
        gv_search_try(search, pair, 2, score);
        run->task_end = end;
        return;
    }

    if (run->options->record)
        run->task_end = INFINITY;
    prelude(search);
    if (!search->over)
        run->options->strategy->run(search);
    run->task_end = end;
}

/* Where nothing good was found and scouts are better: another search, among everything that can run, with as much time
 * as the first one had. */
static int search_wider(gv_run *run, gv_search *search, const gv_point *start, int n_starts, double time_s)
{
    gv_point wide[WIDE_STARTS];

    memcpy(wide, start, (size_t)n_starts * sizeof *wide);
    if (!gv_scouts_widen(run, search, wide, &n_starts, WIDE_STARTS))
        return 1;
    gv_search_free(search);
    if (gv_search_init(search, &run->domain, objective, run, run->options->seed, run->options->budget) != GRAVEL_OK) {
        run->status = GRAVEL_ERR_MEMORY;
        return 0;
    }
    for (int s = 0; s < n_starts; s++)
        gv_search_add_start(search, &wide[s]);
    run->task_end = run->spent_s + time_s;
    run_search(run, search);
    return 1;
}

/* 1 if the finals were stopped before the default, the last of the list, had its turn. */
static int is_default_unheard(const gv_finalist *list, int n)
{
    return n > 0 && list[n - 1].complexity < 0 && list[n - 1].alive && list[n - 1].median == 0;
}

/* What the winner gained over the default: not reported where the minima themselves scatter too much. */
static double gain_of(gv_run *run, const gv_finalist *list, int n, int chosen)
{
    const gv_finalist *built_in = &list[n - 1];
    const double scatter = fmax(gv_finals_scatter(built_in), gv_finals_scatter(&list[chosen]));

    if (built_in->complexity >= 0)
        return 0;
    if (chosen != n - 1 && scatter > GV_FINALS_NOISE) {
        gv_run_remark(run, GV_REMARK_SCATTER, scatter);
        return 0;
    }
    return built_in->median / list[chosen].median;
}

int gv_question_answer(gv_run *run, const gv_point *start, int n_starts, gv_profile_entry *entry,
                       gv_tune_result *result, gv_point *winner)
{
    int most = run->options->quick ? 4 : GV_TUNE_FINALISTS, n = 0, chosen = -1;
    gv_finalist list[GV_TUNE_FINALISTS + 1];
    gv_search search;

    run->best_s = INFINITY;
    run->best[0] = '\0';
    run->evaluations = 0;
    run->n_seen = 0;
    memset(run->failures, 0, sizeof run->failures);
    memset(result, 0, sizeof *result);
    result->task = run->task;
    if (gv_search_init(&search, &run->domain, objective, run, run->options->seed, run->options->budget) != GRAVEL_OK) {
        run->status = GRAVEL_ERR_MEMORY;
        return 0;
    }
    for (int s = 0; s < n_starts; s++)
        gv_search_add_start(&search, &start[s]);
    const double time_s = run->task_end - run->spent_s;
    run_search(run, &search);
    if (gv_scouts_are_wanted(run, &search) && !search_wider(run, &search, start, n_starts, time_s))
        return 0;
    if (search.n_known > 0 && isfinite(search.score[search.best])) {
        n = gv_finals_pick(&search, run, list, most, run->options->quick ? 1.06 : 1.1);
        if (!run->options->record && !run->inherits && n > 1) /* one alone has nobody to meet */
            gv_finals_hold(run, list, n);
        chosen = gv_finals_choose(list, n, gv_tune_subject(run->options)->least_gain);
        if (chosen < 0 || is_default_unheard(list, n)) {
            /* no finals, or stopped in the first round: the search's own figures are what there is of all */
            for (int k = 0; k < n; k++) {
                list[k].alive |= chosen < 0;
                list[k].round[0] = 0;
                list[k].median = list[k].search_s;
                list[k].time_s = list[k].outcome.time_s;
            }
            chosen = gv_finals_choose(list, n, gv_tune_subject(run->options)->least_gain);
        }
    }
    gv_search_free(&search);
    memcpy(result->failures, run->failures, sizeof result->failures);
    result->evaluations = run->evaluations;
    result->partial = run->interrupted;
    if (chosen < 0)
        return 0;
    gv_finals_entry(run, list, n, chosen, entry);
    snprintf(result->configuration, sizeof result->configuration, "%s", entry->result[0].configuration);
    result->time_s = list[chosen].time_s;
    result->gain = gain_of(run, list, n, chosen);
    *winner = list[chosen].point;
    return 1;
}
