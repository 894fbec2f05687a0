/* Questions without a search: what is kept around their sizes, with these searches and others, is measured there.  At
 * sizes between those that are searched the best of these is what a choice needs to know, at the cost of a dozen
 * candidates, whose programs are mostly there already. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/clock.h"
#include "tuner/run.h"

/* The next result of one question counts as if it were so many octaves further away, and so does one of a question with
 * other searches: both are worth less than a neighbour's winner, and more than that of a question far away. */
#define NEXT_RESULT 0.6
#define OTHER_SEARCHES 0.5
typedef struct offer {
    double away;
    gv_point point;
} offer;

typedef struct offers {
    offer *list;
    int n, room;
} offers;

static void add(const gv_run *run, offers *o, const gv_task *of, const gv_config *config, int place)
{
    offer made = {gv_run_distance(of, &run->task) + NEXT_RESULT * place, {{0}}};

    made.away += of->variant.features != run->task.variant.features ? OTHER_SEARCHES : 0;
    if (!gv_run_point(run, config, &made.point))
        return;
    if (o->n == o->room) {
        const int room = o->room > 0 ? 2 * o->room : 64;
        offer *grown = realloc(o->list, (size_t)room * sizeof *grown);

        if (!grown)
            return; /* what there is room for is a choice as well */
        o->list = grown;
        o->room = room;
    }
    o->list[o->n++] = made;
}

static void add_entry(const gv_run *run, offers *o, const gv_profile_entry *entry)
{
    gv_task of = run->task;

    of.sinks = entry->sinks;
    of.sources = entry->sources;
    of.variant.features = entry->features;
    for (int r = 0; r < entry->n_results; r++) {
        gv_config config;

        run->space->built_in(&config, &of.variant, &run->device.limits, of.sinks, of.sources);
        if (gv_space_parse(run->space, entry->result[r].configuration, &config) == GRAVEL_OK)
            add(run, o, &of, &config, r);
    }
}

/* Where nothing is searched, all that profiles of this device, and of those that are alike, keep of the variant; else
 * what this run has found. */
static void collect(const gv_run *run, const gv_winners *found, int others, offers *o)
{
    gv_profile_device device;

    for (int k = 0; k < found->n && !others; k++)
        add_entry(run, o, &found->w[k].entry);
    for (int k = 0; k < run->n_plain && run->task.variant.features != 0; k++)
        add(run, o, &run->plain_task[k], &run->plain[k], 0);
    if (!run->options->cross)
        return;
    gv_profile_device_of(&run->device.limits.info, &device);
    for (int b = 0; b < run->known.n_blocks; b++) {
        const gv_profile_block *block = &run->known.block[b];

        if (!gv_profile_alike(&block->device, &device))
            continue;
        for (int e = 0; e < block->n_entries; e++)
            if (strcmp(block->entry[e].variant, run->task.variant.name) == 0 &&
                strcmp(block->entry[e].kernel, run->space->kernel) == 0 &&
                !(others && block->entry[e].features == run->task.variant.features))
                add_entry(run, o, &block->entry[e]);
    }
}

/* Nearest first; of equals in the domain's order, so that the same profile gives the same list. */
static int nearer(const void *a, const void *b)
{
    const offer *x = a, *y = b;

    return x->away != y->away ? (x->away > y->away) - (x->away < y->away)
                              : memcmp(&x->point, &y->point, sizeof x->point);
}

static int is_there(const gv_run *run, const gv_point *point, int n, const gv_point *other)
{
    for (int k = 0; k < n; k++)
        if (gv_run_same(run, &point[k], other))
            return 1;
    return 0;
}

int gv_offers_add(const gv_run *run, const gv_winners *found, int others, gv_point *point, int n, int most)
{
    offers o = {NULL, 0, 0};

    collect(run, found, others, &o);
    if (o.n > 0)
        qsort(o.list, (size_t)o.n, sizeof *o.list, nearer);
    for (int k = 0; k < o.n && n < most; k++)
        if (!is_there(run, point, n, &o.list[k].point))
            point[n++] = o.list[k].point;
    free(o.list);
    return n;
}

/* The nearest question that is known so far, and its time. */
typedef struct nearest {
    double away, time_s;
    gv_task task;
} nearest;

static void consider(const gv_run *run, nearest *near, const gv_task *task, double time_s)
{
    const double away = gv_run_distance(task, &run->task);

    if (away < near->away)
        *near = (nearest){away, time_s, *task};
}

/* What a run of the present question takes: as the nearest one that is known, in proportion to pairs; where this run
 * knows none, as what the profiles hold of the variant. */
static double expected_s(const gv_run *run, const gv_winners *found)
{
    nearest near = {INFINITY, 0, run->task};

    for (int k = 0; k < found->n; k++)
        consider(run, &near, &found->w[k].task, found->w[k].time_s);
    for (int b = 0; b < run->known.n_blocks && found->n == 0; b++) {
        for (int e = 0; e < run->known.block[b].n_entries; e++) {
            const gv_profile_entry *entry = &run->known.block[b].entry[e];
            const gv_task of = {.sinks = entry->sinks, .sources = entry->sources};

            if (strcmp(entry->variant, run->task.variant.name) == 0 && strcmp(entry->kernel, run->space->kernel) == 0)
                consider(run, &near, &of, entry->result[0].time_s);
        }
    }
    return near.time_s * ((double)run->task.sinks / (double)near.task.sinks) *
           ((double)run->task.sources / (double)near.task.sources);
}

/* The default, else the first candidate that works, makes the entry; -1: none, else which one it was. */
static int first_answer(gv_run *run, const gv_point *point, int n, gv_profile_entry *entry)
{
    const gv_effort effort = gv_cross_effort(run);

    for (int k = 0; k < n; k++) {
        gv_finalist f = {.point = point[k], .alive = 1};

        if (!gv_run_evaluate(run, "cross", 0, &point[k], &effort, &f.outcome))
            return -1;
        if (f.outcome.status != GV_OUTCOME_OK)
            continue;
        f.time_s = f.outcome.time_s;
        f.median = gv_outcome_score(&f.outcome);
        run->evaluations = n;
        gv_finals_entry(run, &f, 1, 0, entry);
        return k;
    }
    return -1;
}

/* `point`: what was tried. */
static void keep(gv_run *run, gv_winners *found, const gv_point *point, int n, const gv_profile_entry *entry,
                 double default_s)
{
    gv_tune_result result = {.task = run->task, .evaluations = run->evaluations};
    gv_winner *w = &found->w[found->n];
    gv_config config;

    *w = (gv_winner){.task = run->task, .time_s = entry->result[0].time_s, .entry = *entry, .n_tried = n};
    memcpy(w->tried, point, (size_t)n * sizeof *point);
    run->space->built_in(&config, &run->task.variant, &run->device.limits, entry->sinks, entry->sources);
    if (gv_space_parse(run->space, entry->result[0].configuration, &config) == GRAVEL_OK &&
        gv_run_point(run, &config, &w->point))
        found->n++;
    gv_tune_save(run, entry);
    memcpy(result.configuration, entry->result[0].configuration, sizeof result.configuration);
    memcpy(result.failures, run->failures, sizeof result.failures);
    result.time_s = entry->result[0].time_s;
    result.gain = default_s > 0 ? default_s / entry->result[0].time_min_s : 0;
    if (run->options->finished)
        run->options->finished(&result, run->options->user);
}

/* `before`: the run's outcomes before this question.  Within it nothing that failed is tried again. */
static void count_failures(gv_run *run, const size_t before[GV_OUTCOME_COUNT], gv_profile_entry *entry)
{
    entry->failures = 0;
    for (int s = 0; s < GV_OUTCOME_COUNT; s++) {
        run->failures[s] = (int)(run->summary->status[s] - before[s]);
        entry->failures += s == GV_OUTCOME_OK ? 0 : run->failures[s];
    }
}

/* 0: the default of run->task is not in the domain. */
static int default_of(const gv_run *run, gv_point *point)
{
    gv_config config;

    run->space->built_in(&config, &run->task.variant, &run->device.limits, run->task.sinks, run->task.sources);
    return gv_run_point(run, &config, point);
}

/* The default first. */
static int points_of(gv_run *run, const gv_winners *found, const void *plan_, int k, gv_point point[GV_POINTS_MOST])
{
    const gv_plan *plan = plan_;

    run->task.sinks = plan->q[k].sinks;
    run->task.sources = plan->q[k].sources;
    return gv_offers_add(run, found, 0, point, default_of(run, &point[0]), GV_BETWEEN_MOST);
}

void gv_question_between(gv_run *run, gv_winners *found, const gv_plan *plan, int k, double end)
{
    gv_profile_entry *entry = calloc(1, sizeof *entry);
    gv_point point[GV_POINTS_MOST], ignored;
    const int n = points_of(run, found, plan, k, point), has_default = default_of(run, &ignored);

    if (!entry) {
        run->status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for the entry of a profile");
        return;
    }
    run->best_s = INFINITY;
    run->best[0] = '\0';
    run->evaluations = 0;
    memset(run->failures, 0, sizeof run->failures);
    if (found->n < GV_TUNE_SIZES * GV_TUNE_SIZES &&
        run->spent_s + n * gv_cross_cost(run, expected_s(run, found)) <= end) {
        size_t status[GV_OUTCOME_COUNT];

        run->wall = gv_now();
        gv_run_build_from(run, "cross", found, points_of, plan, k, plan->n, end);
        memcpy(status, run->summary->status, sizeof status);
        const int first = first_answer(run, point, n, entry);

        if (first >= 0) {
            const double default_s = has_default && first == 0 ? entry->result[0].time_min_s : 0;

            gv_question_cross(run, 0, &point[first + 1], n - first - 1, entry);
            count_failures(run, status, entry);
            keep(run, found, point, n, entry, default_s);
        }
        run->summary->tasks_done += !run->interrupted;
    } else {
        gv_run_remark(run, GV_REMARK_TOO_LONG, 0);
    }
    free(entry);
}
