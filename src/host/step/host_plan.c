/* The bodies' steps say what blocks are to come: where steps are 2^-k of the longest one and shorter, all bodies with
 * such steps are due together, 2^(k-1) times in each longest step (once with the longest ones).  So the time that a
 * longest step takes is known for each threshold. */
#include "host/step/host_plan.h"

#include <math.h>

enum { MOST_LEVELS = GRAVEL_STEP_POWERS };

typedef struct blocks {
    int count;
    double size[MOST_LEVELS], times[MOST_LEVELS]; /* from the largest block to the smallest one */
} blocks;

static double at(const gv_line *line, double bodies)
{
    return line->one + (bodies - 1) * line->each;
}

static blocks find_blocks(const size_t *steps, int levels, int shared)
{
    blocks b = {0};
    double due = 0;
    for (int k = 0; k < levels; k++)
        due += (double)steps[k];
    int longest = 0;
    while (longest < levels - 1 && steps[longest] == 0)
        longest++;
    for (int k = longest; k < levels && k - longest < MOST_LEVELS && due > 0; k++) {
        b.size[b.count] = due;
        b.times[b.count++] = k == longest ? 1 : ldexp(1, k - longest - 1);
        due = shared ? 0 : due - (double)steps[k];
    }
    return b;
}

/* Seconds for a longest step when the host moves blocks of at most `up_to` bodies. */
static double time_with(const gv_host_costs *c, const blocks *b, double up_to)
{
    double seconds = 0, moved = 0; /* by the host between two blocks of the device: those of its largest one */
    for (int k = b->count - 1; k >= 0; k--)
        if (b->size[k] <= up_to)
            moved = b->size[k];
    for (int k = 0; k < b->count; k++) {
        double each = at(&c->host, b->size[k]);
        if (b->size[k] > up_to)
            each = at(&c->device, b->size[k]) + (up_to > 0 ? at(&c->carry, b->size[k] + moved) : 0);
        seconds += b->times[k] * each;
    }
    return seconds;
}

size_t gv_host_plan(const gv_host_costs *costs, const size_t *steps, int levels, size_t now, int shared)
{
    const blocks b = find_blocks(steps, levels, shared);
    double best = 0.95 * time_with(costs, &b, (double)now);
    size_t up_to = now;
    if (b.count == 0)
        return now;
    if (time_with(costs, &b, 0) < best) {
        best = time_with(costs, &b, 0);
        up_to = 0;
    }
    for (int k = 0; k < b.count; k++) {
        const double seconds = time_with(costs, &b, b.size[k]);
        if (seconds >= best)
            continue;
        best = seconds;
        /* numbers of bodies drift: half-way to the next larger block */
        up_to = (size_t)(k == 0 ? b.size[0] : sqrt(b.size[k] * b.size[k - 1]));
    }
    return up_to;
}
