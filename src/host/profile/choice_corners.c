/* The questions around a call (choice.h). */
#include "host/profile/choice.h"

#include <math.h>
#include <string.h>

#include "host/profile/choice_log.h"

/* Of the distance to a question, an octave of sources counts as two of sinks. */
#define SOURCES_COUNT 2
/* A question of another kernel text is as far as if it had so many octaves more of sinks: what it tells has changed
 * since.  Four sets of 761 to 926 calls of an H100 and an H200 take 1.0096, 1.0100, 1.0102, 1.0155 of the best for
 * 1.0115, 1.0106, 1.0109, 1.0175 in the mean; with 3 octaves few sinks lose what only such questions know
 * (doc/numbers.md). */
#define OTHER_TEXT_AWAY 1.5

typedef struct call {
    double sinks, sources; /* log2 */
    const char *kernel_version;
} call;

typedef struct level {
    const gv_profile_entry *entry[2]; /* next below or at the sinks, next above; may be the same */
    double part;                      /* of the second */
    double at;                        /* log of its sources there */
    int is_below;                     /* the call has fewer sinks than any question, by more than an octave */
} level;

/* Questions whose sources lie in one level are taken for questions with the same sources: the buckets, and below them
 * those that are over before a device is full. */
enum { FEW_SOURCES = 2048, LEVELS = GV_SOURCE_BUCKETS + 1 };

static int level_of(size_t sources)
{
    return sources < FEW_SOURCES ? 0 : gv_source_bucket(sources) + 1;
}

int gv_choice_is_of_other_text(const gv_profile_entry *entry, const char *kernel_version)
{
    return kernel_version && *kernel_version && strcmp(entry->kernel_version, kernel_version) != 0;
}

/* How far a question of a level is from the call, in log2 of sizes.  A level may hold 16 sinks x 131072 sources and 8 x
 * 32768: beside a call of 24 x 30000 the second tells more. */
static double away(const gv_profile_entry *entry, const call *to)
{
    return fabs(gv_log_size(entry->sinks) - to->sinks) +
           SOURCES_COUNT * fabs(gv_log_size(entry->sources) - to->sources) +
           (gv_choice_is_of_other_text(entry, to->kernel_version) ? OTHER_TEXT_AWAY : 0);
}

/* Of one level of sources, the questions around a number of sinks; 0: there is none. */
static int make_level(const gv_profile_entry *const *entry, int n, int of, const call *to, level *made)
{
    const gv_profile_entry *low = NULL, *high = NULL;

    for (int e = 0; e < n; e++) {
        const double at = gv_log_size(entry[e]->sinks);

        if (level_of(entry[e]->sources) != of)
            continue;
        if (at <= to->sinks && (!low || away(entry[e], to) < away(low, to)))
            low = entry[e];
        if (at >= to->sinks && (!high || away(entry[e], to) < away(high, to)))
            high = entry[e];
    }
    if (!low && !high)
        return 0;
    made->entry[0] = low ? low : high;
    made->entry[1] = high ? high : low;
    made->part = gv_part_of_way(to->sinks, gv_log_size(made->entry[0]->sinks), gv_log_size(made->entry[1]->sinks));
    made->is_below = gv_log_size(made->entry[0]->sinks) - to->sinks > 1;
    made->at =
        (1 - made->part) * gv_log_size(made->entry[0]->sources) + made->part * gv_log_size(made->entry[1]->sources);
    return 1;
}

static int add_corner(gv_choice_corner *corner, int n, const gv_profile_entry *entry, double weight, int of)
{
    for (int k = 0; k < n; k++) {
        if (corner[k].entry == entry) {
            corner[k].weight += weight;
            return n;
        }
    }
    if (weight > 0)
        corner[n++] = (gv_choice_corner){entry, weight, of};
    return n;
}

int gv_choice_corners(const gv_profile_entry *const *entry, int n, size_t sinks, size_t sources,
                      const char *kernel_version, gv_choice_corner corner[GV_CHOICE_CORNERS])
{
    const call to = {gv_log_size(sinks), gv_log_size(sources), kernel_version};
    const double y = to.sources;
    level made[LEVELS];
    int low = -1, high = -1, n_levels = 0, n_corners = 0, below = 0;

    for (int of = 0; of < LEVELS; of++) {
        const int is_made = make_level(entry, n, of, &to, &made[n_levels]);

        below += is_made && made[n_levels].is_below;
        n_levels += is_made;
    }
    for (int k = 0; k < n_levels; k++) {
        /* what wins with 64 sinks tells little about 3: 2.35 of the best time */
        if (made[k].is_below && below < n_levels)
            continue;
        if (made[k].at <= y && (low < 0 || made[k].at > made[low].at))
            low = k;
        if (made[k].at >= y && (high < 0 || made[k].at < made[high].at))
            high = k;
    }
    low = low >= 0 ? low : high;
    high = high >= 0 ? high : low;
    for (int k = 0; low >= 0 && k < 2; k++) {
        const level *l = &made[k == 0 ? low : high];
        const double part = gv_part_of_way(y, made[low].at, made[high].at), weight = k == 0 ? 1 - part : part;

        n_corners = add_corner(corner, n_corners, l->entry[0], weight * (1 - l->part), k);
        n_corners = add_corner(corner, n_corners, l->entry[1], weight * l->part, k);
    }
    return n_corners;
}
