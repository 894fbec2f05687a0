/* The model behind a choice: the configuration of a call follows from what was measured at the questions around it.
 *
 * A question (sinks, sources) keeps its fastest few configurations, its neighbours' winners and the untuned default,
 * each with its time. A call lies between up to four questions: the two next numbers of sinks, each at the two next
 * numbers of sources, of which those do not count that were only asked at more than twice the call's sinks. The
 * score of a configuration is the mean over these corners of
 *
 *     log(its time there / the winner's time there),
 *
 * weighted linearly in log(sinks) and log(sources); questions of another kernel text are further away. A group of
 * work-items holds a fixed number of sinks, its grain, and computes for all of them: between two numbers of sinks
 * log(time) is linear in log of the padded ones, ceil(n / grain) x grain, so that 24 sinks are not judged by how well
 * 32 fit where a device is full, and as well as 32 where it is not. One that was not kept at a corner counts there as
 * slower than all that were, and than its time at the corner beside allows: in proportion to padded sinks, of that
 * for more also as the winners' times say of so many; guesses at both agree likewise. A fifth of a score, and more
 * where times scatter, is the mean over all questions that kept the configuration, or are full without it, the nearer
 * the more; what that corner allows is not lowered by it. At sizes between the questions launches are more or less
 * even than they were there (space.h): a score has the call's unevenness instead of the corners'. The least score
 * wins, so that a call with exactly a question's sizes gets its winner, on a CPU where that beats the untuned default
 * by 4 % and a quarter of the spreads, or the question has not measured it. The default is another one at other
 * sizes: at a corner that did not keep that of the call, what is known of the corner's own stands for it. Elsewhere
 * only those count that beat it by more than a quarter of the spreads that were measured, 2 % at least and on GPUs 0.3
 * us (CPUs 4 %, trees 2.5 %), by 1 % more where some corner did not keep them, by 5 % more where another CPU was asked,
 * and by 4 % more where corners were asked with another kernel text (of part of the weight that part), or, where the
 * default was not kept, by these least parts, if they are known at every corner, or from one that has both, is full or
 * is very near; and none that is known only with more than four times as many sources. Where the questions were asked
 * without the call's searches, or with others, they have to win by GV_CHOICE_OTHER more; if the default was not kept at
 * all, at one corner that has measured both. */
#ifndef GV_CHOICE_H
#define GV_CHOICE_H

#include "host/profile/store.h"

enum { GV_CHOICE_CORNERS = 4, GV_CHOICE_CANDIDATES = GV_CHOICE_CORNERS * GV_PROFILE_RESULTS + 1 };

/* A search takes registers and instructions: what is a little faster without may be slower with it. */
#define GV_CHOICE_OTHER 0.1

typedef struct gv_choice_corner {
    const gv_profile_entry *entry;
    double weight; /* of all corners: sum 1 */
    int level;     /* 0, 1: those with fewer and with more sources */
} gv_choice_corner;

typedef struct gv_choice_candidate {
    const char *configuration; /* in a corner's entry, or the default's text among what is known */
    gv_reading reading;        /* of it, or of nothing */
    int is_default;
    const gv_profile_entry *from; /* the heaviest corner that kept it */
    double score;                 /* log of the expected slowness */
    double unevenness;            /* what of this is the call's own (space.h) */
    int measured;                 /* 1: kept at every corner */
} gv_choice_candidate;

/* 1: asked with another kernel text than the one that runs; of NULL or an empty one it is unknown, and 0. */
int gv_choice_is_of_other_text(const gv_profile_entry *entry, const char *kernel_version);

/* The corners around a call among n entries of one device, variant and set of features; returns how many, 0 for n 0.
 * `kernel_version`: that runs, whose questions count as nearer. */
int gv_choice_corners(const gv_profile_entry *const *entry, int n, size_t sinks, size_t sources,
                      const char *kernel_version, gv_choice_corner corner[GV_CHOICE_CORNERS]);

/* Sinks of one group; 1 for spaces whose groups do not hold fixed sinks. */
double gv_choice_grain(const gv_space *space, const char *configuration);

/* A call, and all questions that may tell about it; n 0: the corners alone do.  Configurations that a question
 * launches alike are one there: what it kept of one is known of the others too. */
typedef struct gv_choice_among {
    const gv_profile_entry *const *entry;
    int n;
    size_t sinks, sources;
    const gv_space *space; /* NULL: without grains, and `built_in` is NULL */
    const gv_variant *variant;
    const gv_limits *limits;    /* NULL: only equal configurations are launched alike, and `built_in` is NULL */
    const char *kernel_version; /* that runs; NULL or empty: unknown */
    const char *built_in;       /* the untuned default of the call; NULL: a configuration like others */
    double elsewhere; /* by how much more something has to win that another CPU has measured; 0: it was this one */
} gv_choice_among;

/* What the corners kept, and the default where they have measured what it is at their sizes, least score first; of
 * equals the one kept at the heavier corner. Returns how many. */
int gv_choice_rank(const gv_choice_corner *corner, int n, const gv_choice_among *among,
                   gv_choice_candidate candidate[GV_CHOICE_CANDIDATES]);

/* log(time / winner's); the winner may be a hair slower than a less simple one behind it: that counts as equal. */
double gv_choice_log_behind(const gv_profile_entry *entry, int r);
/* The first result that this question launches like the candidate, the fastest of them or its winner; -1: none. */
int gv_choice_find_result(const gv_choice_among *among, const gv_profile_entry *entry,
                          const gv_choice_candidate *candidate);
/* The same for the default of the call, or what the default is at the question's sizes. */
int gv_choice_find_default(const gv_choice_among *among, const gv_profile_entry *entry,
                           const gv_choice_candidate *of_call);
double gv_choice_spread(const gv_profile_entry *entry, int r); /* without disturbances of the machine */

/* By how much more than `best` the untuned default (both from the ranking) has to score for `best` to take its place;
 * `more` (0.1: a tenth) is added where `best` comes from questions with other searches.  INFINITY: it never takes it,
 * where not all corners have measured it and `best` is a guess: not kept at all corners, nor at one that has seen the
 * default too, is full or is very near.  A default that no corner has measured scores INFINITY, behind any finite lead.
 * -INFINITY at a question's own sizes if `more` is 0, but on CPUs: its finals decided. */
double gv_choice_lead(const gv_choice_corner *corner, int n, const gv_choice_among *among,
                      const gv_choice_candidate *best, const gv_choice_candidate *built_in, double more);

/* What is left to decide for each call of a cell: launches of equal groups do not stay equal from one size to the
 * next. */
enum { GV_CHOICE_OPTIONS = 12 };
typedef struct gv_choice_option {
    gv_config config;
    double score, lead;           /* without the unevenness of the call */
    const gv_profile_entry *from; /* NULL: the default, which nobody has kept; valid until its set grows */
} gv_choice_option;
typedef struct gv_choice {
    gravel_origin origin;
    const gv_profile_entry *answers; /* of all, the one that fits the call best: what decides whose answers count */
    int n, built_in;                 /* the number of the default; -1: it is none of them */
    gv_choice_option option[GV_CHOICE_OPTIONS];
} gv_choice;
/* 1 and the options of the question's cell if a profile fits and one of its configurations can run here (look_up.c). */
int gv_profile_options(const gv_profile_set *user, const gv_profile_set *shipped, const gv_profile_question *question,
                       gv_choice *choice);
/* The number of the option for a call of that cell, and its configuration: the least score of those that lead the
 * default, which is that of the call's own sizes, not of its cell's. */
int gv_choice_take(const gv_choice *choice, const gv_profile_question *call, gv_config *config);

/* The sizes the answer of their cell is made for: a question's where one is in the cell, else its most sinks and the
 * middle of its sources. */
void gv_choice_sizes(const gv_profile_entry *const *entry, int n, size_t *sinks, size_t *sources);

#endif
