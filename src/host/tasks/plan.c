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

/* A place for a sink in a row of `row` work-items, in time, beside one in rows of 32. */
static double cost_of(int row)
{
    /* an H200: leaves of 96 bodies in sp, rows of 16: 1.2; of 72, rows of 8: 1.3; in dp 1.14 (80) and 1.39 (40).
     * Shorter rows skip fewer pairs together, and each tile that they load serves fewer sinks, so 4 is a guess */
    return row >= 32 ? 1 : row >= 16 ? 1.17 : row >= 8 ? 1.35 : 1.65;
}

size_t gv_tasks_rests(const gv_config *config, size_t sinks)
{
    const size_t chunk = gv_tasks_chunk(config), left = sinks % chunk, rest = (size_t)config->value[GV_TA_REST];
    if (rest == 0 || left == 0)
        return 0;
    const size_t units = (left + rest - 1) / rest;
    const double place = cost_of(config->value[GV_TA_THREADS] / config->value[GV_TA_SPLIT]);
    return (double)(units * rest) * cost_of((int)rest) < (double)chunk * place ? units : 0;
}

double gv_tasks_time(const gv_config *config, size_t sinks)
{
    const size_t chunk = gv_tasks_chunk(config), rests = gv_tasks_rests(config, sinks);
    const size_t left = rests > 0 ? sinks % chunk : 0, whole = (sinks - left + chunk - 1) / chunk;
    const int rest = config->value[GV_TA_REST], row = config->value[GV_TA_THREADS] / config->value[GV_TA_SPLIT];
    return (double)(whole * chunk) * cost_of(row) + (double)(rests * (size_t)rest) * cost_of(rest);
}

gv_config gv_tasks_rest_config(const gv_config *config)
{
    gv_config rest = *config;
    rest.value[GV_TA_SPLIT] = config->value[GV_TA_THREADS] / config->value[GV_TA_REST];
    rest.value[GV_TA_SINKS_PER_ITEM] = 1;
    return rest;
}

/* Sinks from ... from + count - 1 of leaf k in units that differ by one sink at most: none is left with a few. */
static void cut(const gravel_leaf *leaf, size_t k, size_t from, size_t count, size_t parts, gv_tasks_unit *unit)
{
    for (size_t p = 0; p < parts; p++) {
        const size_t begin = from + count * p / parts, end = from + count * (p + 1) / parts;
        const uint32_t first = leaf[k].first + (uint32_t)begin;
        unit[p] = (gv_tasks_unit){first, (uint32_t)(end - begin), (uint32_t)k, first};
    }
}

size_t gv_tasks_make_units(const gravel_leaf *leaf, size_t leaves, const uint8_t *is_sink, const gv_config *config,
                           gv_tasks_unit *unit, size_t *whole)
{
    const size_t chunk = gv_tasks_chunk(config);
    size_t units = 0;
    for (int of_rests = 0; of_rests <= 1; of_rests++) {
        for (size_t k = 0; k < leaves; k++) {
            const size_t count = leaf[k].count, rests = gv_tasks_rests(config, count);
            const size_t left = rests > 0 ? count % chunk : 0;
            const size_t parts = of_rests ? rests : (count - left + chunk - 1) / chunk;
            if (is_sink && !is_sink[k])
                continue;
            if (unit)
                cut(leaf, k, of_rests ? count - left : 0, of_rests ? left : count - left, parts, unit + units);
            units += parts;
        }
        if (!of_rests)
            *whole = units;
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
