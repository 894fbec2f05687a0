/* By how much a configuration has to be ahead of the untuned default to take its place (choice.h). */
#include "host/profile/choice.h"

#include <math.h>

#include "host/profile/choice_log.h"

/* Samples scatter by the spread; what is compared is the least of them, which scatters by a part of it: with a quarter
 * calls are no slower than the default where with all of it they are not (doc/numbers.md). */
#define SPREAD_PART 0.25
/* What is known only with so many octaves more of sources is no choice against the default: 3 sinks x 30000 took what
 * had won at 1 x 131072, 1.26 of its time. */
#define FAR_SOURCES 2
/* Nor is what only corners of less weight have measured: 12 sinks x 500000 took what had won at 16 x 131072 and what
 * 12 x 524288 did not keep, 1.05 of the default's time. */
#define LEAST_KNOWN 0.2
/* What some corner has not measured takes the default's place for a gain of so much more.  With twice as much, as
 * before what hardly a corner knows was left out, means over the best are higher in five sets, and 33 for 34 of 8074
 * calls take above 1.02 of the default's time (doc/numbers.md). */
#define GUESSED 0.01
/* Nothing replaces the default for less, by the scores alone where not all corners have measured the default.  With
 * 0.01, and nothing there, 10 of 216 calls of an H200 at sizes where nobody had asked took above 1.02 of its time, with
 * this 6; of 6300 of an H100 80 and 46, where the mean over the best is 1.0202 and 1.0216 (doc/numbers.md). */
#define LEAST_LEAD 0.02
/* Nor for less than this, on GPUs: what two configurations of a call take differs by up to 0.26 to 0.3 us from one
 * sitting to the next (95 % of 5901 pairs of an H200's calls below 15 us; of longer ones 0.7 to 2.1 %).  Of 2692 calls
 * of the H200 at the regret's grid 4 for 11 take above 1.02 of the default's time, with means over the best of 1.0075
 * and 1.0074 (doc/numbers.md). */
#define LEAST_LEAD_S 0.3e-6
/* The same of CPUs, also at a question's own sizes: what one configuration takes of the default's time, in turns with
 * it, differs by 5.4 % from one hour to the next (a Zen 3 of a shared host, standard deviation; an H200: 0.7 to 1.4 %).
 * With 0.02 155, 42 and 36 of some 3065, 790 and 3422 calls of three CPUs take above 1.02 of the default's time, with
 * this 120, 30 and 17, and means over the best are 0.2 to 0.5 % higher; at a question's own sizes 0.8 for 2.4 of a
 * hundred.  There the part of the spread comes on top: of 783 calls of that Zen 3, hours after the four passes that
 * made its answers, 3 for 8 take above 1.02 of the default's time, at most 1.06 for 1.22, and the mean over the best is
 * 1.020 for 1.013 (doc/numbers.md). */
#define LEAST_LEAD_OF_CPUS 0.04
/* Where answers are of another kernel text the default may have gained since: of 1201 calls of an H200, most of them
 * among such answers, 16 for 26 take above 1.02 of its time, and the mean over the best is 1.0145 for 1.0124. */
#define OTHER_TEXT 0.04
/* The weight of a question that answers nearly alone: the call lies within a fifth of the way to the next ones. */
#define ALONE 0.8

static double spread_of(const gv_profile_entry *entry, int r)
{
    return r >= 0 ? gv_choice_spread(entry, r) : 0;
}

/* 1 if the entry keeps the configuration, or as many as there is room for: the default, which searches measure, is
 * then slower than these. */
static int tells_of(const gv_choice_among *among, const gv_profile_entry *entry, const gv_choice_candidate *built_in)
{
    return entry->n_results == GV_PROFILE_RESULTS || gv_choice_find_default(among, entry, built_in) >= 0;
}

/* 1 if a corner that keeps the first tells of both, or is so near the call that it decides nearly alone. */
static int is_told(const gv_choice_corner *corner, int n, const gv_choice_among *among, const gv_choice_candidate *best,
                   const gv_choice_candidate *built_in)
{
    for (int k = 0; k < n; k++)
        if (gv_choice_find_result(among, corner[k].entry, best) >= 0 &&
            (corner[k].weight > ALONE || tells_of(among, corner[k].entry, built_in)))
            return 1;
    return 0;
}

/* 1 if a corner has measured both, and the first ahead by more than this. */
static int is_seen_ahead(const gv_choice_corner *corner, int n, const gv_choice_among *among,
                         const gv_choice_candidate *best, const gv_choice_candidate *built_in, double more)
{
    for (int k = 0; k < n; k++) {
        const gv_profile_entry *entry = corner[k].entry;
        const int b = gv_choice_find_result(among, entry, best), d = gv_choice_find_default(among, entry, built_in);

        if (b >= 0 && d >= 0 && gv_choice_log_behind(entry, d) - gv_choice_log_behind(entry, b) > log1p(more))
            return 1;
    }
    return 0;
}

/* 1 if the first takes no less where corners have measured both, by the least of its times or by what it takes mostly:
 * what the questions beyond say of it (POOL_PART), or guesses at other corners, do not change that.  Of 4013 calls of
 * an H200 and an H100 9 for 14 take above 1.02 of the default's time so, of 2667 of CPUs 27 for 32 (doc/numbers.md). */
static int is_seen_behind(const gv_choice_corner *corner, int n, const gv_choice_among *among,
                          const gv_choice_candidate *best, const gv_choice_candidate *built_in)
{
    double by_least = 0, mostly = 0;

    for (int k = 0; k < n; k++) {
        const gv_profile_entry *entry = corner[k].entry;
        const int b = gv_choice_find_result(among, entry, best), d = gv_choice_find_default(among, entry, built_in);

        if (b < 0 || d < 0)
            continue;
        by_least += corner[k].weight * (gv_choice_log_behind(entry, d) - gv_choice_log_behind(entry, b));
        mostly += corner[k].weight * log(entry->result[d].time_s / entry->result[b].time_s);
    }
    return by_least < 0 || mostly < 0;
}

/* The weight of the corners that have measured it, the nearer the more. */
static double known_weight(const gv_choice_corner *corner, int n, const gv_choice_among *among,
                           const gv_choice_candidate *candidate)
{
    double weight = 0;

    for (int k = 0; k < n; k++)
        weight += gv_choice_find_result(among, corner[k].entry, candidate) >= 0 ? corner[k].weight : 0;
    return weight;
}

/* 1 if only corners with many more sources have measured it. */
static int is_known_far_away_only(const gv_choice_corner *corner, int n, const gv_choice_among *among,
                                  const gv_choice_candidate *candidate)
{
    for (int k = 0; k < n; k++)
        if (gv_log_size(corner[k].entry->sources) - gv_log_size(among->sources) <= FAR_SOURCES &&
            gv_choice_find_result(among, corner[k].entry, candidate) >= 0)
            return 0;
    return 1;
}

/* The weight of the corners that were asked with another kernel text. */
static double of_other_texts(const gv_choice_corner *corner, int n, const gv_choice_among *among)
{
    double weight = 0;

    for (int k = 0; k < n; k++)
        weight += gv_choice_is_of_other_text(corner[k].entry, among->kernel_version) ? corner[k].weight : 0;
    return weight;
}

static int is_cpu(const gv_choice_among *among)
{
    return among->limits && among->limits->info.type == GRAVEL_DEVICE_CPU;
}

/* About how long the call takes: the winners' times at the corners, which lie around it. */
static double time_of(const gv_choice_corner *corner, int n)
{
    double log_s = 0;

    for (int k = 0; k < n; k++)
        log_s += corner[k].weight * log(corner[k].entry->result[0].time_min_s);
    return exp(log_s);
}

static double least_lead(const gv_choice_corner *corner, int n, const gv_choice_among *among)
{
    const double of_space = among->space ? among->space->least_lead : 0;
    const double of_device = is_cpu(among) ? LEAST_LEAD_OF_CPUS : fmax(LEAST_LEAD, LEAST_LEAD_S / time_of(corner, n));

    return log1p(fmax(of_device, of_space));
}

/* Of the two, as the corners have measured them; what one has not measured counts there by the other's. */
static double spread_of_both(const gv_choice_corner *corner, int n, const gv_choice_among *among,
                             const gv_choice_candidate *best, const gv_choice_candidate *built_in)
{
    double spread = 0;

    for (int k = 0; k < n; k++) {
        const gv_profile_entry *entry = corner[k].entry;

        spread += corner[k].weight * fmax(spread_of(entry, gv_choice_find_result(among, entry, best)),
                                          spread_of(entry, gv_choice_find_default(among, entry, built_in)));
    }
    return spread;
}

static int is_own_size(const gv_profile_entry *entry, const gv_choice_among *among)
{
    return entry->sinks == among->sinks &&
           (entry->sources == among->sources || (among->space && among->space->any_sources));
}

double gv_choice_lead(const gv_choice_corner *corner, int n, const gv_choice_among *among,
                      const gv_choice_candidate *best, const gv_choice_candidate *built_in, double more)
{
    const double least = least_lead(corner, n, among);
    const double of_spread = log1p(SPREAD_PART * spread_of_both(corner, n, among, best, built_in));

    if (n == 1 && more == 0 && among->elsewhere == 0 && is_own_size(corner->entry, among))
        return is_cpu(among) ? least + of_spread : -INFINITY; /* of a default nobody has measured: it scores INFINITY */
    if (is_known_far_away_only(corner, n, among, best) || known_weight(corner, n, among, best) < LEAST_KNOWN ||
        is_seen_behind(corner, n, among, best, built_in))
        return INFINITY;
    if (!built_in->measured) {
        if (more > 0)
            return is_seen_ahead(corner, n, among, best, built_in, more) ? -INFINITY : INFINITY;
        return best->measured || is_told(corner, n, among, best, built_in) ? fmax(least, log1p(among->elsewhere))
                                                                           : INFINITY;
    }
    return fmax(least, of_spread + log1p(fmax(more, among->elsewhere)) + (best->measured ? 0 : log1p(GUESSED))) +
           of_other_texts(corner, n, among) * log1p(OTHER_TEXT);
}
