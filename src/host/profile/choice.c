#include "host/profile/choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/profile/choice_log.h"

/* Not kept at a corner: slower than what was kept there by so much, and than the winner by so much at least. */
#define UNKNOWN_BEHIND 1.10
#define UNKNOWN_LEAST 1.25
/* Part of a score that comes from all questions, and how far these count, in log2 of sizes: it evens out the noise of
 * single questions and what they did not keep.  0.2, 3 and 4 are from questions left out; where times scatter it is
 * more, up to 0.7: of 486 calls of a shared CPU 6 for 18 take above 1.02 of the default's time so (doc/numbers.md). */
#define POOL_PART 0.2
#define POOL_MOST 0.7
#define POOL_SPREAD 0.04
#define POOL_SINKS 3
#define POOL_SOURCES 4
/* A question that keeps as many as there is room for knows of the others that they are slower, or nothing. */
#define POOL_UNKNOWN 0.3
/* One of another kernel text counts so much: over four sets of 752 to 912 calls of an H100 and an H200 the means over
 * the best are 1.0097, 1.0098, 1.0144, 1.0090 for 1.0100, 1.0102, 1.0155, 1.0096 (doc/numbers.md). */
#define POOL_OTHER_TEXT 0.2
/* Spreads above this are disturbances of the machine, not of the configuration. */
#define MOST_SPREAD 0.2
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
/* Where answers are of another kernel text the default may have gained since: of 1201 calls of an H200, most of them
 * among such answers, 16 for 26 take above 1.02 of its time, and the mean over the best is 1.0145 for 1.0124. */
#define OTHER_TEXT 0.04
/* The weight of a question that answers nearly alone: the call lies within a fifth of the way to the next ones. */
#define ALONE 0.8

/* ------------------------------------------------------------------ scores */

static double score_time(const gv_profile_result *result)
{
    return result->time_min_s > 0 ? result->time_min_s : result->time_s;
}

/* log(time / winner's); the winner may be a hair slower than a less simple one behind it: that counts as equal. */
static double log_behind(const gv_profile_entry *entry, int r)
{
    const double ratio = score_time(&entry->result[r]) / score_time(&entry->result[0]);

    return r > 0 && ratio > 1 ? log(ratio) : 0;
}

/* The first result that this question launches like the configuration: the fastest of them, or its winner. */
static int find_result(const gv_choice_among *among, const gv_profile_entry *entry, const char *configuration)
{
    int r = 0;

    while (r < entry->n_results && !gv_space_same_text(among->space, entry->result[r].configuration, configuration,
                                                       among->variant, among->limits, entry->sinks, entry->sources))
        r++;
    return r < entry->n_results ? r : -1;
}

static double unknown_behind(const gv_profile_entry *entry)
{
    double most = 0;

    for (int r = 0; r < entry->n_results; r++)
        most = fmax(most, log_behind(entry, r));
    return fmax(most + log(UNKNOWN_BEHIND), log(UNKNOWN_LEAST));
}

double gv_choice_grain(const gv_space *space, const char *configuration)
{
    static const char *const name[4] = {"sinks_per_item", "threads", "lanes", "split"};
    int at[4];
    gv_config config = {{0}};

    for (int k = 0; k < 4; k++) {
        at[k] = gv_space_index(space, name[k]);
        if (at[k] < 0)
            return 1;
        config.value[at[k]] = 1;
    }
    if (gv_space_parse(space, configuration, &config) != GRAVEL_OK)
        return 1;
    return fmax(1, (double)config.value[at[0]] * config.value[at[1]] * config.value[at[2]] / config.value[at[3]]);
}

static double padded(size_t sinks, double grain)
{
    return grain * ceil((double)(sinks > 0 ? sinks : 1) / grain);
}

/* The mean of a configuration's slowness over all questions that kept it, or had no room for it, the nearer the more;
 * 0: there are none.  `found`: its results there. */
static double mean_behind(const gv_choice_among *among, const int *found)
{
    double sum = 0, weights = 0;

    for (int e = 0; e < among->n; e++) {
        const gv_profile_entry *entry = among->entry[e];
        const int r = found[e];
        const double x = (gv_log_size(entry->sinks) - gv_log_size(among->sinks)) / POOL_SINKS;
        const double y = (gv_log_size(entry->sources) - gv_log_size(among->sources)) / POOL_SOURCES;
        const double counts = r >= 0 ? 1 : entry->n_results == GV_PROFILE_RESULTS ? POOL_UNKNOWN : 0;
        const double weight = (gv_choice_is_of_other_text(entry, among->kernel_version) ? POOL_OTHER_TEXT : 1) *
                              counts * exp(-x * x - y * y);

        if (weight > 0)
            sum += weight * (r >= 0 ? log_behind(entry, r) : unknown_behind(entry));
        weights += weight;
    }
    return weights > 0 ? sum / weights : 0;
}

/* The part of a score at a question that comes from all of them. */
static double pool_part(const gv_profile_entry *entry)
{
    double spread = 0;

    for (int r = 0; r < entry->n_results; r++)
        spread += fmin(entry->result[r].spread, MOST_SPREAD) / entry->n_results;
    return fmax(POOL_PART, POOL_MOST * pow(spread, 4) / (pow(spread, 4) + pow(POOL_SPREAD, 4)));
}

/* Between two numbers of sinks, log(time) is interpolated along the padded ones.  Where a device is not full yet, more
 * sinks, or a group that is filled less, cost nothing: the times themselves say how much they cost.  As if both had one
 * number of sources; `behind` is log(time / winner's) at each, the result log(time / winners').  What neither kept has
 * no times that could say it: its `behind` are guesses, and padding makes it no better, but may make it worse. */
static double between(const gv_choice_corner *low, const gv_choice_corner *high, const double behind[2], double grain,
                      size_t sinks, int known)
{
    const double a = log(score_time(&low->entry->result[0]) / (double)low->entry->sources);
    /* more sinks never take less: where that was measured, in another minute, padding would be a gain */
    const double b = fmax(a, log(score_time(&high->entry->result[0]) / (double)high->entry->sources));
    const double x = log(padded(low->entry->sinks, grain)), y = log(padded(high->entry->sinks, grain));
    const double part = high->weight / (low->weight + high->weight);
    const double filled = y > x ? gv_part_of_way(log(padded(sinks, grain)), x, y) : part;
    const double way = known ? filled : fmax(filled, part);

    return (1 - way) * (a + behind[0]) + way * (b + behind[1]) - (1 - part) * a - part * b;
}

/* What one takes here of its time at another question, if both had as many sources.  Fewer sinks take no less than
 * their part, padded, of the time for more: where both are padded to one number, all of it.  Nor less than the winners'
 * times say of so many padded ones: groups of 16 take for 8 sinks what the winners take for 16, which lies between
 * their times for 8 and for 32, on a CPU with two cores at 1.6 of the first and not at 1.3, half of the second. */
static double part_of_time(const gv_profile_entry *here, const gv_profile_entry *other, double grain)
{
    const double filled = padded(here->sinks, grain), part = fmin(1, filled / padded(other->sinks, grain));

    if (other->sinks <= here->sinks)
        return part;
    const double apart = log(score_time(&other->result[0]) / score_time(&here->result[0])) +
                         log((double)here->sources / (double)other->sources);
    const double way = gv_part_of_way(log(filled), log((double)here->sinks), log((double)other->sinks));

    return fmin(1, fmax(part, exp((way - 1) * apart)));
}

/* What one that was not kept at corner k is behind there at least, by its time at the corner beside it. */
static double least_behind(const gv_choice_corner *corner, int n, int k, double grain, const gv_choice_among *among,
                           const char *configuration)
{
    double behind = 0;

    for (int o = k - 1; o <= k + 1; o += 2) {
        const gv_profile_entry *here = corner[k].entry;
        const gv_profile_entry *other = o >= 0 && o < n && corner[o].level == corner[k].level ? corner[o].entry : NULL;
        const int r = other ? find_result(among, other, configuration) : -1;

        if (r < 0)
            continue;
        const double least = part_of_time(here, other, grain) * score_time(&other->result[r]) * (double)here->sources /
                             (double)other->sources;

        behind = fmax(behind, log(least / score_time(&here->result[0])));
    }
    return behind;
}

/* log(time / winner's) here of one that was kept with fewer sinks, if it takes as much for each padded one as there;
 * -INFINITY: it was not.  Groups of 8 that win with 16 sinks take for 24 what they take for three groups. */
static double behind_in_proportion(const gv_choice_corner *corner, int k, double grain, const gv_choice_among *among,
                                   const char *configuration)
{
    const gv_profile_entry *here = corner[k].entry, *fewer = k > 0 ? corner[k - 1].entry : NULL;
    const int is_beside = fewer && corner[k - 1].level == corner[k].level;
    const int r = is_beside ? find_result(among, fewer, configuration) : -1;

    if (r < 0)
        return -INFINITY;
    return log(score_time(&fewer->result[r]) / score_time(&here->result[0]) * padded(here->sinks, grain) /
               padded(fewer->sinks, grain) * (double)here->sources / (double)fewer->sources);
}

/* What one that was not kept here is behind at most: no more than it takes, with the same kernel text, for as many
 * sinks and sources or more. */
static double most_behind(const gv_profile_entry *here, const gv_choice_among *among, const int *found)
{
    double most_s = INFINITY;

    for (int e = 0; e < among->n; e++) {
        const gv_profile_entry *other = among->entry[e];
        const int is_larger = other->sinks >= here->sinks && other->sources >= here->sources;

        if (is_larger && found[e] >= 0 && !gv_choice_is_of_other_text(other, here->kernel_version))
            most_s = fmin(most_s, score_time(&other->result[found[e]]));
    }
    return fmax(log(most_s / score_time(&here->result[0])), 0);
}

/* Guesses at two numbers of sinks agree: fewer take no less than their part, padded, of what is guessed for more.
 * Groups of 16 take for 8 sinks what they take for 16, which is further behind those of 8 there. */
static void agree(const gv_choice_corner *low, const gv_choice_corner *high, double behind[2], double grain)
{
    const double apart = log(score_time(&high->entry->result[0]) / score_time(&low->entry->result[0])) +
                         log((double)low->entry->sources / (double)high->entry->sources);
    const double part = padded(low->entry->sinks, grain) / padded(high->entry->sinks, grain);

    behind[0] = fmax(behind[0], log(fmin(part, 1)) + apart + behind[1]);
}

static double unevenness(const gv_choice_among *among, const char *configuration, size_t sinks, size_t sources)
{
    gv_config config;

    if (!among->space || !among->space->unevenness || !among->limits)
        return 0;
    among->space->built_in(&config, among->variant, among->limits, sinks, sources);
    if (gv_space_parse(among->space, configuration, &config) != GRAVEL_OK)
        return 0;
    return among->space->unevenness(&config, among->variant, among->limits, sinks, sources);
}

/* `found`: room for a number for each question. */
static void judge(const gv_choice_corner *corner, int n, double grain, const gv_choice_among *among, int *found,
                  gv_choice_candidate *candidate)
{
    const size_t sinks = among->sinks;
    /* a question's own sizes are answered by its finals alone */
    const int pools = n > 1 && among->n > 0;
    double heaviest = -1, behind[GV_CHOICE_CORNERS];
    int known[GV_CHOICE_CORNERS];

    for (int e = 0; e < among->n; e++)
        found[e] = find_result(among, among->entry[e], candidate->configuration);
    const double mean = pools ? mean_behind(among, found) : 0;

    candidate->measured = 1;
    for (int k = 0; k < n; k++) {
        const int r = find_result(among, corner[k].entry, candidate->configuration);

        known[k] = r >= 0;
        candidate->measured &= known[k];
        const double part = pools ? pool_part(corner[k].entry) : 0;
        double least = 0, most = INFINITY;

        behind[k] = known[k] ? log_behind(corner[k].entry, r) : unknown_behind(corner[k].entry);
        if (!known[k]) {
            most = most_behind(corner[k].entry, among, found);
            least = fmin(least_behind(corner, n, k, grain, among, candidate->configuration), most);
            behind[k] = fmax(behind[k], behind_in_proportion(corner, k, grain, among, candidate->configuration));
        }
        /* what was measured beside it is not evened out */
        behind[k] = fmin(fmax((1 - part) * behind[k] + part * mean, least), most);
        if (r >= 0 && corner[k].weight > heaviest) {
            heaviest = corner[k].weight;
            candidate->from = corner[k].entry;
        }
    }
    candidate->unevenness = unevenness(among, candidate->configuration, sinks, among->sources);
    candidate->score = candidate->unevenness;
    for (int k = 0; k < n; k++)
        candidate->score -= corner[k].weight * unevenness(among, candidate->configuration, corner[k].entry->sinks,
                                                          corner[k].entry->sources);
    for (int k = 0; k < n; k++) {
        if (k + 1 < n && corner[k + 1].level == corner[k].level) {
            if (!known[k] && !known[k + 1])
                agree(&corner[k], &corner[k + 1], &behind[k], grain);
            candidate->score += (corner[k].weight + corner[k + 1].weight) *
                                between(&corner[k], &corner[k + 1], &behind[k], grain, sinks, known[k] || known[k + 1]);
            k++;
        } else {
            candidate->score +=
                corner[k].weight * (behind[k] + log(padded(sinks, grain) / padded(corner[k].entry->sinks, grain)));
        }
    }
}

int gv_choice_rank(const gv_choice_corner *corner, int n, const gv_choice_among *among,
                   gv_choice_candidate candidate[GV_CHOICE_CANDIDATES])
{
    int n_candidates = 0, *found = malloc((size_t)(among->n > 0 ? among->n : 1) * sizeof *found);

    for (int k = 0; k < n && found; k++) {
        for (int r = 0; r < corner[k].entry->n_results; r++) {
            gv_choice_candidate made = {.configuration = corner[k].entry->result[r].configuration};
            int at = n_candidates, there = 0;

            for (int c = 0; c < n_candidates; c++)
                there |= strcmp(candidate[c].configuration, made.configuration) == 0;
            if (there)
                continue;
            judge(corner, n, among->space ? gv_choice_grain(among->space, made.configuration) : 1, among, found, &made);
            while (at > 0 && candidate[at - 1].score > made.score)
                at--;
            memmove(&candidate[at + 1], &candidate[at], (size_t)(n_candidates - at) * sizeof *candidate);
            candidate[at] = made;
            n_candidates++;
        }
    }
    free(found);
    return n_candidates;
}

static double spread_at(const gv_choice_among *among, const gv_profile_entry *entry, const char *configuration)
{
    const int r = find_result(among, entry, configuration);

    return r >= 0 ? fmin(entry->result[r].spread, MOST_SPREAD) : 0;
}

/* 1 if the entry keeps the configuration, or as many as there is room for: the default, which searches measure, is
 * then slower than these. */
static int tells_of(const gv_choice_among *among, const gv_profile_entry *entry, const char *configuration)
{
    return entry->n_results == GV_PROFILE_RESULTS || find_result(among, entry, configuration) >= 0;
}

/* 1 if a corner that keeps the first tells of both, or is so near the call that it decides nearly alone. */
static int is_told(const gv_choice_corner *corner, int n, const gv_choice_among *among, const char *best,
                   const char *built_in)
{
    for (int k = 0; k < n; k++)
        if (find_result(among, corner[k].entry, best) >= 0 &&
            (corner[k].weight > ALONE || tells_of(among, corner[k].entry, built_in)))
            return 1;
    return 0;
}

/* 1 if a corner has measured both, and the first ahead by more than this. */
static int is_seen_ahead(const gv_choice_corner *corner, int n, const gv_choice_among *among, const char *best,
                         const char *built_in, double more)
{
    for (int k = 0; k < n; k++) {
        const gv_profile_entry *entry = corner[k].entry;
        const int b = find_result(among, entry, best), d = find_result(among, entry, built_in);

        if (b >= 0 && d >= 0 && log_behind(entry, d) - log_behind(entry, b) > log1p(more))
            return 1;
    }
    return 0;
}

/* 1 if the first takes no less where corners have measured both, by the least of its times or by what it takes mostly:
 * what the questions beyond say of it (POOL_PART), or guesses at other corners, do not change that.  Of 4013 calls of
 * an H200 and an H100 9 for 14 take above 1.02 of the default's time so, of 2667 of CPUs 27 for 32 (doc/numbers.md). */
static int is_seen_behind(const gv_choice_corner *corner, int n, const gv_choice_among *among, const char *best,
                          const char *built_in)
{
    double by_least = 0, mostly = 0;

    for (int k = 0; k < n; k++) {
        const gv_profile_entry *entry = corner[k].entry;
        const int b = find_result(among, entry, best), d = find_result(among, entry, built_in);

        if (b < 0 || d < 0)
            continue;
        by_least += corner[k].weight * (log_behind(entry, d) - log_behind(entry, b));
        mostly += corner[k].weight * log(entry->result[d].time_s / entry->result[b].time_s);
    }
    return by_least < 0 || mostly < 0;
}

/* The weight of the corners that have measured it, the nearer the more. */
static double known_weight(const gv_choice_corner *corner, int n, const gv_choice_among *among,
                           const char *configuration)
{
    double weight = 0;

    for (int k = 0; k < n; k++)
        weight += find_result(among, corner[k].entry, configuration) >= 0 ? corner[k].weight : 0;
    return weight;
}

/* 1 if only corners with many more sources have measured it. */
static int is_known_far_away_only(const gv_choice_corner *corner, int n, const gv_choice_among *among,
                                  const char *configuration)
{
    for (int k = 0; k < n; k++)
        if (gv_log_size(corner[k].entry->sources) - gv_log_size(among->sources) <= FAR_SOURCES &&
            find_result(among, corner[k].entry, configuration) >= 0)
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

double gv_choice_lead(const gv_choice_corner *corner, int n, const gv_choice_among *among,
                      const gv_choice_candidate *best, const gv_choice_candidate *built_in, double more)
{
    double spread = 0;

    if (n < 2 && more == 0)
        return -INFINITY;
    if (is_known_far_away_only(corner, n, among, best->configuration) ||
        known_weight(corner, n, among, best->configuration) < LEAST_KNOWN ||
        is_seen_behind(corner, n, among, best->configuration, built_in->configuration))
        return INFINITY;
    if (!built_in->measured) {
        if (more > 0)
            return is_seen_ahead(corner, n, among, best->configuration, built_in->configuration, more) ? -INFINITY
                                                                                                       : INFINITY;
        return best->measured || is_told(corner, n, among, best->configuration, built_in->configuration)
                   ? log1p(LEAST_LEAD)
                   : INFINITY;
    }
    for (int k = 0; k < n; k++)
        spread += corner[k].weight * fmax(spread_at(among, corner[k].entry, best->configuration),
                                          spread_at(among, corner[k].entry, built_in->configuration));
    return fmax(log1p(LEAST_LEAD), log1p(SPREAD_PART * spread) + log1p(more) + (best->measured ? 0 : log1p(GUESSED))) +
           of_other_texts(corner, n, among) * log1p(OTHER_TEXT);
}

/* ------------------------------------------------------------------- calls */

int gv_choice_pick(const gv_choice *choice, const gv_profile_question *call)
{
    double score[GV_CHOICE_OPTIONS];
    int best = choice->built_in;

    for (int k = 0; k < choice->n; k++) {
        const gv_choice_option *o = &choice->option[k];

        score[k] = o->score;
        if (choice->n > 1 && call->space->unevenness)
            score[k] += call->space->unevenness(&o->config, call->variant, call->limits, call->sinks, call->sources);
    }
    for (int k = 0; k < choice->n; k++) {
        /* a default without a score is INFINITY behind, which only a lead of INFINITY is not less than */
        const int leads = choice->built_in < 0 || score[choice->built_in] - score[k] > choice->option[k].lead;

        if (leads && (best < 0 || score[k] < score[best]))
            best = k;
    }
    return best;
}
