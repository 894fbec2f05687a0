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
/* A question that keeps as many as there is room for knows of the others that they are slower, or nothing; of the
 * default for other sizes what it measured of its own. */
#define POOL_UNKNOWN 0.3
/* One of another kernel text counts so much: over four sets of 752 to 912 calls of an H100 and an H200 the means over
 * the best are 1.0097, 1.0098, 1.0144, 1.0090 for 1.0100, 1.0102, 1.0155, 1.0096 (doc/numbers.md). */
#define POOL_OTHER_TEXT 0.2
/* Spreads above this are disturbances of the machine, not of the configuration. */
#define MOST_SPREAD 0.2

/* ------------------------------------------------------------------ scores */

static double score_time(const gv_profile_result *result)
{
    return result->time_min_s > 0 ? result->time_min_s : result->time_s;
}

double gv_choice_spread(const gv_profile_entry *entry, int r)
{
    return fmin(entry->result[r].spread, MOST_SPREAD);
}

double gv_choice_log_behind(const gv_profile_entry *entry, int r)
{
    const double ratio = score_time(&entry->result[r]) / score_time(&entry->result[0]);

    return r > 0 && ratio > 1 ? log(ratio) : 0;
}

static int is_same(const gv_choice_among *among, const gv_profile_result *result, const gv_choice_candidate *candidate,
                   size_t sinks, size_t sources)
{
    const gv_reading *kept = &result->reading;
    gv_reading read;

    if (!among->space || !among->limits || !candidate->reading.named)
        return gv_space_same_text(among->space, result->configuration, candidate->configuration, among->variant,
                                  among->limits, sinks, sources);
    if (!kept->named) {
        if (!gv_space_read(among->space, result->configuration, &read))
            return 0;
        kept = &read;
    }
    return gv_space_same_reading(among->space, kept, &candidate->reading, among->variant, among->limits, sinks,
                                 sources);
}

int gv_choice_find_result(const gv_choice_among *among, const gv_profile_entry *entry,
                          const gv_choice_candidate *candidate)
{
    int r = 0;

    while (r < entry->n_results && !is_same(among, &entry->result[r], candidate, entry->sinks, entry->sources))
        r++;
    return r < entry->n_results ? r : -1;
}

/* Where the untuned default of the call was not kept, the question's own, which is what the default comes to
 * there.  Of 953 calls of an H200 at sizes drawn by lot 15 for 29 take above 1.02 of the default's time so, of
 * 6297 and 6211 at others of an H200 and an H100 55 for 95 and 34 for 46; the means over the best are 1.0153, 1.0283,
 * 1.0252 for 1.0133, 1.0242, 1.0227 (doc/numbers.md). */
int gv_choice_find_default(const gv_choice_among *among, const gv_profile_entry *entry,
                           const gv_choice_candidate *of_call)
{
    gv_choice_candidate own = {.reading = {.named = ~0u}};
    const int r = gv_choice_find_result(among, entry, of_call);

    if (r >= 0 || !among->built_in)
        return r;
    among->space->built_in(&own.reading.config, among->variant, among->limits, entry->sinks, entry->sources);
    return gv_choice_find_result(among, entry, &own);
}

/* What a question measured of a candidate, or of what the default is there. */
static int find_candidate(const gv_choice_among *among, const gv_profile_entry *entry,
                          const gv_choice_candidate *candidate, const gv_choice_candidate *built_in)
{
    return built_in ? gv_choice_find_default(among, entry, built_in) : gv_choice_find_result(among, entry, candidate);
}

static double unknown_behind(const gv_profile_entry *entry)
{
    double most = 0;

    for (int r = 0; r < entry->n_results; r++)
        most = fmax(most, gv_choice_log_behind(entry, r));
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
 * 0: there are none.  `found`: its results there, or those of other defaults. */
static double mean_behind(const gv_choice_among *among, const int *found, const gv_choice_candidate *built_in)
{
    double sum = 0, weights = 0;

    for (int e = 0; e < among->n; e++) {
        const gv_profile_entry *entry = among->entry[e];
        const int r = found[e];
        const double x = (gv_log_size(entry->sinks) - gv_log_size(among->sinks)) / POOL_SINKS;
        const double y = (gv_log_size(entry->sources) - gv_log_size(among->sources)) / POOL_SOURCES;
        const int is_own = r >= 0 && (!built_in || gv_choice_find_result(among, entry, built_in) == r);
        const double counts = is_own ? 1 : r >= 0 || entry->n_results == GV_PROFILE_RESULTS ? POOL_UNKNOWN : 0;
        const double weight = (gv_choice_is_of_other_text(entry, among->kernel_version) ? POOL_OTHER_TEXT : 1) *
                              counts * exp(-x * x - y * y);

        if (weight > 0)
            sum += weight * (r >= 0 ? gv_choice_log_behind(entry, r) : unknown_behind(entry));
        weights += weight;
    }
    return weights > 0 ? sum / weights : 0;
}

/* The part of a score at a question that comes from all of them. */
static double pool_part(const gv_profile_entry *entry)
{
    double spread = 0;

    for (int r = 0; r < entry->n_results; r++)
        spread += gv_choice_spread(entry, r) / entry->n_results;
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
                           const gv_choice_candidate *candidate)
{
    double behind = 0;

    for (int o = k - 1; o <= k + 1; o += 2) {
        const gv_profile_entry *here = corner[k].entry;
        const gv_profile_entry *other = o >= 0 && o < n && corner[o].level == corner[k].level ? corner[o].entry : NULL;
        const int r = other ? gv_choice_find_result(among, other, candidate) : -1;

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
                                   const gv_choice_candidate *candidate)
{
    const gv_profile_entry *here = corner[k].entry, *fewer = k > 0 ? corner[k - 1].entry : NULL;
    const int is_beside = fewer && corner[k - 1].level == corner[k].level;
    const int r = is_beside ? gv_choice_find_result(among, fewer, candidate) : -1;

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

/* `built_in`: the default, if the candidate is it, else NULL; `found`: room for a number for each question. */
static void judge(const gv_choice_corner *corner, int n, const gv_choice_among *among,
                  const gv_choice_candidate *built_in, int *found, gv_choice_candidate *candidate)
{
    const double grain = among->space ? gv_choice_grain(among->space, candidate->configuration) : 1;
    const size_t sinks = among->sinks;
    /* a question's own sizes are answered by its finals alone */
    const int pools = n > 1 && among->n > 0;
    double heaviest = -1, behind[GV_CHOICE_CORNERS];
    const char *timed[GV_CHOICE_CORNERS];
    int known[GV_CHOICE_CORNERS];

    for (int e = 0; e < among->n; e++)
        found[e] = find_candidate(among, among->entry[e], candidate, built_in);
    const double mean = pools ? mean_behind(among, found, built_in) : 0;

    candidate->measured = 1;
    for (int k = 0; k < n; k++) {
        const int r = find_candidate(among, corner[k].entry, candidate, built_in);

        known[k] = r >= 0;
        /* that of the corner's own default is another one */
        timed[k] = known[k] ? corner[k].entry->result[r].configuration : candidate->configuration;
        candidate->measured &= known[k];
        const double part = pools ? pool_part(corner[k].entry) : 0;
        double least = 0, most = INFINITY;

        behind[k] = known[k] ? gv_choice_log_behind(corner[k].entry, r) : unknown_behind(corner[k].entry);
        if (!known[k]) {
            most = most_behind(corner[k].entry, among, found);
            least = fmin(least_behind(corner, n, k, grain, among, candidate), most);
            behind[k] = fmax(behind[k], behind_in_proportion(corner, k, grain, among, candidate));
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
        candidate->score -=
            corner[k].weight * unevenness(among, timed[k], corner[k].entry->sinks, corner[k].entry->sources);
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

/* One more candidate, in its place among the n there are. */
static void add(const gv_choice_corner *corner, int n_corners, const gv_choice_among *among,
                const gv_choice_candidate *built_in, int *found, gv_choice_candidate made,
                gv_choice_candidate *candidate, int n)
{
    judge(corner, n_corners, among, built_in, found, &made);
    while (n > 0 && candidate[n - 1].score > made.score) {
        candidate[n] = candidate[n - 1];
        n--;
    }
    candidate[n] = made;
}

int gv_choice_rank(const gv_choice_corner *corner, int n, const gv_choice_among *among,
                   gv_choice_candidate candidate[GV_CHOICE_CANDIDATES])
{
    int n_candidates = 0, *found = malloc((size_t)(among->n > 0 ? among->n : 1) * sizeof *found);
    int tells = 0, has_default = among->built_in == NULL;
    gv_choice_candidate built_in = {.configuration = among->built_in, .is_default = 1};

    if (among->built_in)
        gv_space_read(among->space, among->built_in, &built_in.reading);
    for (int k = 0; k < n && found; k++) {
        for (int r = 0; r < corner[k].entry->n_results; r++) {
            const gv_profile_result *result = &corner[k].entry->result[r];
            int there = 0;

            for (int c = 0; c < n_candidates; c++)
                there |= strcmp(candidate[c].configuration, result->configuration) == 0;
            if (there)
                continue;
            const gv_choice_candidate made = {
                .configuration = result->configuration,
                .reading = result->reading,
                .is_default = among->built_in && is_same(among, result, &built_in, among->sinks, among->sources)};

            add(corner, n, among, made.is_default ? &built_in : NULL, found, made, candidate, n_candidates++);
            has_default |= made.is_default;
        }
        tells |= !has_default && gv_choice_find_default(among, corner[k].entry, &built_in) >= 0;
    }
    if (found && !has_default && tells)
        add(corner, n, among, &built_in, found, built_in, candidate, n_candidates++);
    free(found);
    return n_candidates;
}

/* ------------------------------------------------------------------- calls */

/* The default of the call's own sizes, or that of its cell where it is launched like it. */
static void default_of_call(const gv_choice *choice, const gv_profile_question *call, gv_config *config)
{
    gv_config own;

    *config = choice->option[choice->built_in].config;
    call->space->built_in(&own, call->variant, call->limits, call->sinks, call->sources);
    if (!gv_space_same(call->space, config, &own, call->variant, call->limits, call->sinks, call->sources))
        *config = own;
}

int gv_choice_take(const gv_choice *choice, const gv_profile_question *call, gv_config *config)
{
    double score[GV_CHOICE_OPTIONS];
    gv_config of[GV_CHOICE_OPTIONS];
    int best = choice->built_in;

    for (int k = 0; k < choice->n; k++) {
        const gv_choice_option *o = &choice->option[k];

        of[k] = o->config;
        if (k == choice->built_in)
            default_of_call(choice, call, &of[k]);
        score[k] = o->score;
        if (choice->n > 1 && call->space->unevenness)
            score[k] += call->space->unevenness(&of[k], call->variant, call->limits, call->sinks, call->sources);
    }
    for (int k = 0; k < choice->n; k++) {
        /* a default without a score is INFINITY behind, which only a lead of INFINITY is not less than */
        const int leads = choice->built_in < 0 || score[choice->built_in] - score[k] > choice->option[k].lead;

        if (leads && (best < 0 || score[k] < score[best]))
            best = k;
    }
    *config = of[best];
    return best;
}
