/* How the time of a run is shared among variants and questions, and what is left out where it does not suffice. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/run.h"

/* The best rate (pairs per second) a winner of this variant reached, with searches or without: what a run of a larger
 * question will take. */
static double expected_run_s(const gv_run *run, const gv_winners *found)
{
    const int square = gv_tune_subject(run->options)->questions == GV_QUESTIONS_SQUARE;
    double rate = 0;

    for (int k = 0; square && k < found->n; k++)
        rate = fmax(rate, (double)found->w[k].task.sources / found->w[k].time_s);
    if (square)
        return rate > 0 ? gv_tune_subject(run->options)->settings * (double)run->task.sources / rate : 0;

    for (int k = 0; k < found->n; k++)
        rate = fmax(rate, (double)found->w[k].task.sinks * (double)found->w[k].task.sources / found->w[k].time_s);
    for (int k = 0; k < run->n_plain && run->task.variant.features != 0; k++)
        rate = fmax(rate, (double)run->plain_task[k].sinks * (double)run->plain_task[k].sources / run->plain_s[k]);
    return rate > 0 ? (double)run->task.sinks * (double)run->task.sources / rate : 0;
}

static void set_task(gv_run *run, const gv_variant *variant, const gv_plan_question *q)
{
    memset(&run->task, 0, sizeof run->task);
    snprintf(run->task.kernel, sizeof run->task.kernel, "%s", run->space->kernel);
    run->task.variant = *variant;
    run->task.sinks = q ? q->sinks : 0;
    run->task.sources = q ? q->sources : 0;
}

/* Questions from number `first` on of a variant that there is no time for. */
static void leave_out(gv_run *run, const gv_variant *variant, const gv_plan *asked, int first)
{
    for (int k = first; k < asked->n; k++) {
        run->task_index++;
        set_task(run, variant, &asked->q[k]);
        gv_run_remark(run, GV_REMARK_NOT_ASKED, 0);
    }
}

/* What is named is asked, however little time there is; of what a profile holds gv_cross_known leaves out itself. */
static int is_named(const gv_tune_options *options)
{
    return options->n_sinks > 0 || options->n_sources > 0 || options->cross || options->record;
}

/* What a profile holds stays good without being looked at again: no variant gets time beyond that of the whole run.  27
 * variants that each had a least time took 155 s for 120 and 130 s for 60 (doc/numbers.md). */
static int keeps_to_budget(const gv_tune_options *options)
{
    return options->cross && options->n_sinks == 0 && options->n_sources == 0;
}

/* Searches stop at a part of a variant's time, and what takes a little longer does not cost a question. */
#define MAY_RUN_OVER 0.25

static gravel_status run_variant(gv_run *run, const gv_variant *variant, double allotted)
{
    gv_winners *found = calloc(1, sizeof *found);
    gv_plan asked, between = {.n = 0};
    const double last = run->spent_s + allotted;
    /* a GPU is rarely shared */
    const double sitting_part =
        run->device.limits.info.type == GRAVEL_DEVICE_CPU && !run->options->record ? GV_SITTING_PART : 0;
    /* what crossing and the sitting get where the time is over; no product of 0 and INFINITY */
    const double beyond = keeps_to_budget(run->options) && isfinite(allotted) ? 0 : allotted;
    double left = 0, all, end = run->spent_s + (1 - GV_CROSS_PART - sitting_part) * allotted;
    int known = 0;
    gravel_status status = gv_domain_of_space(&run->domain, run->space, variant, &run->device.limits,
                                              run->options->limit, run->options->unlikely || run->wide);

    run->n_plain = variant->features == 0 ? 0 : run->n_plain;
    gv_plan_make(run->options, &run->device.limits, variant, &asked);
    if (status == GRAVEL_OK && found == NULL)
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for the winners of %d questions", asked.n);
    if (status == GRAVEL_OK) {
        run->seen = calloc(run->domain.n_points + 1, sizeof *run->seen);
        status = run->seen != NULL ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no memory for outcomes");
    }
    for (int k = 0; k < asked.n; k++)
        left += asked.q[k].weight;
    all = left;
    /* without searches the questions are those of the profile */
    set_task(run, variant, NULL);
    if (run->options->cross && status == GRAVEL_OK)
        known = gv_cross_known(run, found, run->spent_s + 0.5 * allotted, run->spent_s + 0.75 * allotted);
    for (int k = 0;
         k < asked.n && !run->options->cross && status == GRAVEL_OK && run->status == GRAVEL_OK && !run->interrupted;
         k++) {
        /* the most useful come first */
        if (k > 0 && !is_named(run->options) && run->spent_s > end + MAY_RUN_OVER * allotted) {
            leave_out(run, variant, &asked, k);
            asked.n = k;
            break;
        }
        if (asked.q[k].weight == 0)
            continue;
        /* questions that took longer leave the later ones less, but not nothing */
        double rest = fmax(end - run->spent_s, 0.5 * allotted * left / all);
        double share = isfinite(end) ? rest * asked.q[k].weight / left : INFINITY;

        left -= asked.q[k].weight;
        run->task_index++;
        set_task(run, variant, &asked.q[k]);
        /* a candidate runs about five times; less than two of them is no search */
        run->inherits =
            isfinite(share) && (found->n > 0 || run->n_plain > 0) && 10 * expected_run_s(run, found) > 1.5 * share;
        if (run->inherits &&
            (2 * expected_run_s(run, found) > 0.2 * allotted || run->spent_s > end + 0.15 * allotted)) {
            gv_run_remark(run, GV_REMARK_TOO_LONG, 0);
            continue;
        }
        gv_run_answer(run, found, share);
    }
    for (int k = 0; k < asked.n; k++)
        if (asked.q[k].weight == 0)
            between.q[between.n++] = asked.q[k];
    for (int k = 0;
         k < between.n && !run->options->cross && status == GRAVEL_OK && run->status == GRAVEL_OK && !run->interrupted;
         k++) {
        run->task_index++;
        gv_question_between(run, found, &between, k, fmax(last, run->spent_s + 0.5 * GV_CROSS_PART * allotted));
    }
    /* also where the searches took longer than they should: without these times the choice between questions guesses */
    if (status == GRAVEL_OK && !run->options->record)
        gv_cross(run, found,
                 isfinite(last) ? fmax(last - sitting_part * allotted, run->spent_s + GV_CROSS_PART * beyond) : last);
    if (status == GRAVEL_OK && sitting_part > 0)
        gv_second_sitting(run, found, fmax(last, run->spent_s + sitting_part * beyond));
    run->summary->tasks_done += run->interrupted ? 0 : known;
    free(found);
    free(run->seen);
    run->seen = NULL;
    gv_domain_free(&run->domain);
    return status != GRAVEL_OK ? status : run->status;
}

/* Behind its plain variant one with searches needs a part of that's time: it begins with what won there. */
#define SEARCH_WEIGHT 0.3

static double weight_of(const gv_tune_options *options, int v)
{
    int behind = 0;

    while (v > behind && strcmp(options->variant[v - behind - 1].name, options->variant[v].name) == 0)
        behind++;
    return behind > 0 && options->variant[v].features != 0 && !options->cross ? SEARCH_WEIGHT : 1;
}

static int usable_variant(gv_run *run, const gv_variant *variant)
{
    char text[128];

    if (variant->precision != GRAVEL_DP || run->device.limits.info.has_fp64)
        return 1;
    snprintf(text, sizeof text, "%s is left out: the device has no double precision", variant->name);
    if (weight_of(run->options, (int)(variant - run->options->variant)) == 1)
        gv_run_warn(run, text);
    return 0;
}

/* 1 if there is no time for a variant: it is over, or variants without searches, which every call can use, need what is
 * left: as much for each of `plain_left` as `plain_s` for each of those before. */
static int is_too_late(const gv_run *run, const gv_variant *variant, double plain_s, int plain_left)
{
    const double budget = run->options->budget_s;

    if (!(budget > 0) || is_named(run->options) || run->spent_s == 0)
        return 0;
    return run->spent_s > budget || (variant->features != 0 && run->spent_s + plain_s * plain_left > budget);
}

gravel_status gv_run_all(gv_run *run)
{
    const gv_tune_options *options = run->options;
    int usable[GV_TUNE_VARIANTS], plain = 0, plain_left = 0;
    double left = 0, all, plain_s = 0;
    gravel_status status = GRAVEL_OK;

    for (int v = 0; v < options->n_variants; v++) {
        gv_plan asked;

        usable[v] = usable_variant(run, &options->variant[v]);
        if (!usable[v])
            continue;
        gv_plan_make(options, &run->device.limits, &options->variant[v], &asked);
        set_task(run, &options->variant[v], NULL);
        run->summary->n_tasks += options->cross ? gv_cross_planned(run) : asked.n;
        left += weight_of(options, v);
        plain_left += options->variant[v].features == 0;
    }
    all = left;
    for (int v = 0; v < options->n_variants && status == GRAVEL_OK && !run->interrupted; v++) {
        const gv_variant *variant = &options->variant[v];
        const double weight = weight_of(options, v), before = run->spent_s;
        /* variants that took longer leave the later ones less, but not nothing where they have no answers */
        const double least = keeps_to_budget(options) ? 0 : 0.3 * options->budget_s * left / all;
        const double rest = fmax(options->budget_s - run->spent_s, least);
        const double allotted = options->budget_s > 0 ? rest * weight / left : INFINITY;

        if (!usable[v])
            continue;
        left -= weight;
        if (is_too_late(run, variant, plain > 0 ? plain_s / plain : 0, plain_left)) {
            gv_plan asked;

            gv_plan_make(options, &run->device.limits, variant, &asked);
            leave_out(run, variant, &asked, 0);
            plain_left -= variant->features == 0;
            continue;
        }
        status = run_variant(run, variant, allotted);
        if (variant->features == 0) {
            plain_left--;
            plain++;
            plain_s += run->spent_s - before;
        }
    }
    return status;
}
