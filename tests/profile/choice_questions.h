/* Questions of fake timings, for tests of the choice between them. */
#ifndef GV_CHOICE_QUESTIONS_H
#define GV_CHOICE_QUESTIONS_H

#include "host_test.h"

#include <math.h>

#include "host/profile/choice.h"

static inline void make_question(gv_profile_entry *entry, size_t sinks, size_t sources)
{
    memset(entry, 0, sizeof *entry);
    strcpy(entry->kernel, "fake");
    strcpy(entry->variant, "ds4");
    strcpy(entry->driver, "1");
    entry->sinks = sinks;
    entry->sources = sources;
    entry->sink_bucket = gv_sink_bucket(sinks);
    entry->source_bucket = gv_source_bucket(sources);
}

static inline void add_result(gv_profile_entry *entry, const char *configuration, double time_s, double spread)
{
    gv_profile_result *result = &entry->result[entry->n_results++];

    assert_true(entry->n_results <= GV_PROFILE_RESULTS);
    snprintf(result->configuration, sizeof result->configuration, "%s", configuration);
    result->time_s = result->time_min_s = time_s;
    result->spread = spread;
}

/* The best and the score of a call between questions. */
static inline gv_choice_candidate best_in(const gv_space *space, const gv_profile_entry *const *entry, int n,
                                          size_t sinks, size_t sources)
{
    gv_choice_corner corner[GV_CHOICE_CORNERS];
    gv_choice_candidate candidate[GV_CHOICE_CANDIDATES];

    const gv_choice_among among = {entry, n, sinks, sources, space, NULL, NULL, NULL, NULL, 0};

    assert_true(gv_choice_rank(corner, gv_choice_corners(entry, n, sinks, sources, NULL, corner), &among, candidate) >
                0);
    return candidate[0];
}

/* 1 if `best` does not take the default's place. */
static inline int stays_default(const gv_choice_corner *corner, int n, const gv_choice_among *among,
                                const gv_choice_candidate *best, const gv_choice_candidate *built_in, double more)
{
    return built_in->score - best->score <= gv_choice_lead(corner, n, among, best, built_in, more);
}

#endif
