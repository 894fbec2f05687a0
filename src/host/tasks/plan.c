#include <math.h>

#include "host/tasks/tasks.h"

size_t gv_tasks_chunk(const gv_config *config)
{
    enum { ALONE = 256 }; /* one work-item after another takes their vectors; more leave cores without work */
    const int *v = config->value;
    if (v[GV_TA_THREADS] == 1)
        return ALONE;
    return (size_t)(v[GV_TA_THREADS] / v[GV_TA_SPLIT] * v[GV_TA_SINKS_PER_ITEM]);
}

size_t gv_tasks_most(const gv_config *config)
{
    return gv_tasks_chunk(config) + (size_t)config->value[GV_TA_REST];
}

/* Units of a leaf; *whole: sinks of those that are equal, the last one takes the others beside its own. */
static size_t parts_of(const gv_config *config, size_t sinks, size_t *whole)
{
    const size_t chunk = gv_tasks_chunk(config), left = sinks % chunk;
    const int joins = left > 0 && left <= (size_t)config->value[GV_TA_REST];
    *whole = joins ? sinks - left : sinks;
    return joins && *whole == 0 ? 1 : (*whole + chunk - 1) / chunk;
}

/* Places that a group of `threads` work-items computes for so many sinks beyond full rows: rows of that many leave some
 * work-items over. */
static double places_of_rest(int threads, size_t sinks)
{
    return sinks > 0 ? threads / (double)(threads / (int)sinks) : 0;
}

gv_tasks_places gv_tasks_places_of(const gv_config *config, size_t sinks)
{
    const size_t chunk = gv_tasks_chunk(config), most = (size_t)config->value[GV_TA_REST];
    const size_t rest = sinks <= most ? sinks : sinks > chunk ? sinks - chunk : 0;
    return (gv_tasks_places){sinks > most ? (double)chunk : 0, places_of_rest(config->value[GV_TA_THREADS], rest)};
}

/* Time of a group: of loading each source, of places in full rows, and of those beyond.  Fitted to leaves of 8 to 128
 * bodies on an H200 in sp (doc/tasks.md), within 3 % from 33 on; in ds sinks beyond full rows take 0.9 of it. */
static double time_of(const gv_config *config, size_t sinks)
{
    const gv_tasks_places p = gv_tasks_places_of(config, sinks);
    const int row = config->value[GV_TA_THREADS] / config->value[GV_TA_SPLIT];
    return 3.7 + p.rows * (row >= 32 ? 0.885 : 1.08) + (p.rest > 0 ? 1.2 + 1.055 * p.rest : 0);
}

double gv_tasks_time(const gv_config *config, size_t sinks)
{
    size_t whole;
    const size_t parts = parts_of(config, sinks, &whole);
    return parts > 0 ? (double)(parts - 1) * time_of(config, whole / parts) +
                           time_of(config, sinks - whole / parts * (parts - 1))
                     : 0;
}

size_t gv_tasks_make_units(const gravel_leaf *leaf, size_t leaves, const uint8_t *is_sink, const gv_config *config,
                           gv_tasks_unit *unit)
{
    size_t units = 0;
    for (size_t k = 0; k < leaves; k++) {
        size_t whole;
        const size_t parts = is_sink && !is_sink[k] ? 0 : parts_of(config, leaf[k].count, &whole);
        /* units that differ by one sink at most: none is left with a few */
        for (size_t p = 0; p < parts && unit; p++) {
            const size_t begin = whole * p / parts, end = p == parts - 1 ? leaf[k].count : whole * (p + 1) / parts;
            const uint32_t first = leaf[k].first + (uint32_t)begin;
            unit[units + p] = (gv_tasks_unit){first, (uint32_t)(end - begin), (uint32_t)k, first};
        }
        units += parts;
    }
    return units;
}

size_t gv_tasks_nodes(double most)
{
    const double intervals = GV_FORM_INTERVALS * fmax(1, ceil(most / 3));
    return intervals < GV_TASKS_MOST_NODES ? (size_t)intervals + 1 : 0;
}

void gv_tasks_make_nodes(size_t nodes, double *node)
{
    const double per_root_pi = 1 / sqrt(acos(-1.0));
    for (size_t k = 0; k < nodes; k++) {
        const double x = 3.0 * (double)k / GV_FORM_INTERVALS, e = exp(-x * x) * per_root_pi;
        node[2 * k] = erfc(x) + 2 * x * e;
        node[2 * k + 1] = -4 * e;
    }
}
