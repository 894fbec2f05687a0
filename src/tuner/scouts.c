/* Soft constraints say what is not worth trying on a device.  Where the search finds nothing good, shapes that they
 * rule out are tried; if one of these is better, they no longer count for the rest of the run. */
#include "tuner/scouts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nothing good: a pair takes so many times what it takes in the trial of the device, whose sum is a simple one of order
 * 2 in sp with exact roots.  PoCL's kernels come to 0.5 to 2. */
#define POOR 6.0
enum { ENOUGH_PAIRS = 1 << 20 }; /* what a call costs besides is small then */

int gv_scouts_are_wanted(const gv_run *run, const gv_search *search)
{
    static const double by_order[3] = {1, 2, 3.6}, by_precision[3] = {1, 1.4, 2};
    const gv_tune_options *options = run->options;
    const gv_limits *limits = &run->device.limits;
    const gv_variant *v = &run->task.variant;

    if (!run->may_widen || options->unlikely || options->record || options->limit || run->inherits ||
        run->interrupted || run->status != GRAVEL_OK || limits->info.type != GRAVEL_DEVICE_CPU)
        return 0;
    if (search->n_known == 0 || !isfinite(search->score[search->best]))
        return search->n_known > 0;
    const double pairs = (double)run->task.sinks * (double)run->task.sources;
    return strcmp(run->space->kernel, "direct") == 0 && limits->pair_s > 0 && pairs >= ENOUGH_PAIRS &&
           search->score[search->best] >
               POOR * limits->pair_s * pairs * by_order[v->order / 2 - 1] * by_precision[v->precision];
}

/* The plain shapes, and the default of a CPU that works in the other way: with groups, or with lanes. */
static int list_scouts(const gv_run *run, gv_config scout[GV_SCOUTS])
{
    const gv_variant *v = &run->task.variant;
    gv_limits other = run->device.limits;
    int n = 0;

    other.runs_groups = !other.runs_groups;
    if (!other.runs_groups)
        other.info.simd_width_float = 8, other.info.simd_width_double = 4;
    run->space->built_in(&scout[n++], v, &other, run->task.sinks, run->task.sources);
    for (int k = 0; k < GV_PLAIN_SHAPES; k++) {
        run->space->built_in(&scout[n], v, &run->device.limits, run->task.sinks, run->task.sources);
        n += run->space->plain[k] && gv_space_parse(run->space, run->space->plain[k], &scout[n]) == GRAVEL_OK;
    }
    return n;
}

/* Is measured in the run's domain, which is the wide one; INFINITY: fails, or is not worth it by the way it can run. */
static double time_scout(gv_run *run, const gv_config *scout)
{
    const gv_effort effort = {3, 16, 0.004, 0.15, fmin(run->best_s, 1e30)};
    gv_outcome outcome;
    gv_point point;

    if (!gv_domain_point(&run->domain, scout, &point) || gv_domain_find(&run->domain, &point) < 0 ||
        !gv_run_evaluate(run, "scout", 0, &point, &effort, &outcome))
        return INFINITY;
    return gv_outcome_score(&outcome);
}

static void say(const gv_run *run, const char *text, double before, double after)
{
    char found[64] = "nothing that works", line[GV_PROFILE_TEXT + 256];

    if (isfinite(before))
        snprintf(found, sizeof found, "%.3g ms at best", 1e3 * before);
    snprintf(
        line, sizeof line,
        "%s, %zu sinks x %zu sources: %s within what is worth trying on such a device, %.3g ms with '%s', which is "
        "not: from now on everything that can run is tried",
        run->task.variant.name, run->task.sinks, run->task.sources, found, 1e3 * after, text);
    if (run->options->warn)
        run->options->warn(line, run->options->user);
}

/* Points keep their values in the other domain. */
static void carry_over(const gv_domain *from, const gv_domain *to, gv_point *point, int n)
{
    for (int k = 0; k < n; k++) {
        gv_config config;

        gv_domain_config(from, &point[k], &config);
        gv_domain_point(to, &config, &point[k]); /* the wide domain has all values */
    }
}

int gv_scouts_widen(gv_run *run, const gv_search *search, gv_point *start, int *n_starts, int most)
{
    const double before = search->score[search->best];
    gv_domain narrow = run->domain;
    gv_config scout[GV_SCOUTS], winner;
    gv_outcome *seen = NULL;
    double least = INFINITY;
    int best = -1;

    gv_domain_config(&narrow, &narrow.point[search->known[search->best]], &winner);
    if (gv_domain_of_space(&run->domain, run->space, &run->task.variant, &run->device.limits, NULL, 1) == GRAVEL_OK) {
        const int n = list_scouts(run, scout);
        for (int k = 0; k < n; k++) {
            const int known = gv_space_check(run->space, &scout[k], &run->task.variant, &run->device.limits) == NULL;
            const double s = known ? INFINITY : time_scout(run, &scout[k]);
            best = s < least ? k : best;
            least = fmin(least, s);
        }
        seen = 1.1 * least < before ? calloc(run->domain.n_points + 1, sizeof *seen) : NULL;
    }
    if (!seen) {
        gv_domain_free(&run->domain);
        run->domain = narrow;
        return 0;
    }
    carry_over(&narrow, &run->domain, start, *n_starts);
    const gv_config *const more[2] = {&scout[best], &winner};
    for (int k = 0; k < 2 && *n_starts < most; k++)
        *n_starts += gv_domain_point(&run->domain, more[k], &start[*n_starts]);
    char text[GV_PROFILE_TEXT];
    gv_space_format(run->space, &scout[best], text, sizeof text);
    say(run, text, before, least);
    free(run->seen);
    run->seen = seen;
    run->n_seen = 0;
    run->wide = 1;
    gv_domain_free(&narrow);
    return 1;
}
