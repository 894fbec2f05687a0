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

size_t gv_tasks_count_units(const gravel_leaf *leaf, size_t leaves, const uint8_t *is_sink, size_t chunk)
{
    size_t units = 0;
    for (size_t k = 0; k < leaves; k++)
        if (!is_sink || is_sink[k])
            units += (leaf[k].count + chunk - 1) / chunk;
    return units;
}

/* The parts of a leaf differ by one body at most: none is left with a few. */
void gv_tasks_make_units(const gravel_leaf *leaf, size_t leaves, const uint8_t *is_sink, size_t chunk,
                         gv_tasks_unit *unit)
{
    for (size_t k = 0; k < leaves; k++) {
        const size_t count = leaf[k].count, parts = !is_sink || is_sink[k] ? (count + chunk - 1) / chunk : 0;
        for (size_t p = 0; p < parts; p++) {
            const size_t from = count * p / parts, to = count * (p + 1) / parts;
            const uint32_t first = leaf[k].first + (uint32_t)from;
            *unit++ = (gv_tasks_unit){first, (uint32_t)(to - from), (uint32_t)k, first};
        }
    }
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
