#include "cli/bench_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/status.h"
#include "host/base/memory.h"
#include "sim/ic_random.h"

void gv_leaf_grid_free(gv_leaf_grid *g)
{
    free(g->block);
    free(g->leaf);
    free(g->task);
    free(g->shift_of);
    memset(g, 0, sizeof *g);
}

/* Which leaf is `away` from coordinate c, and over which border of the box. */
static size_t wrapped(size_t c, int away, size_t side, int *border)
{
    const long long at = (long long)c + away, n = (long long)side;
    *border = at < 0 ? -1 : at >= n ? 1 : 0;
    return (size_t)(at - *border * n);
}

static void fill_tasks(gv_leaf_grid *g, int reach)
{
    size_t t = 0;
    for (size_t k = 0; k < g->leaves; k++) {
        const size_t c[3] = {k % g->side, k / g->side % g->side, k / g->side / g->side};
        for (int dz = -reach; dz <= reach; dz++)
            for (int dy = -reach; dy <= reach; dy++)
                for (int dx = -reach; dx <= reach; dx++) {
                    int over[3];
                    const size_t x = wrapped(c[0], dx, g->side, &over[0]), y = wrapped(c[1], dy, g->side, &over[1]);
                    const size_t z = wrapped(c[2], dz, g->side, &over[2]);
                    /* number 13 of all 27 is no shift; it changes places with number 0 */
                    const int which = 13 + over[0] + 3 * over[1] + 9 * over[2];
                    g->task[t] = (gravel_task){(uint32_t)k, (uint32_t)(x + g->side * (y + g->side * z))};
                    g->shift_of[t++] = (uint8_t)(which == 13 ? 0 : which == 0 ? 13 : which);
                }
    }
}

static void fill_bodies(gv_leaf_grid *g, uint64_t seed)
{
    gv_random random;
    gv_random_seed(&random, seed);
    for (size_t k = 0; k < g->leaves; k++) {
        const size_t c[3] = {k % g->side, k / g->side % g->side, k / g->side / g->side};
        g->leaf[k] = (gravel_leaf){(uint32_t)(k * g->per_leaf), (uint32_t)g->per_leaf};
        for (size_t b = k * g->per_leaf; b < (k + 1) * g->per_leaf; b++) {
            for (int a = 0; a < 3; a++)
                g->x[a][b] = (double)c[a] + gv_random_unit(&random);
            g->m[b] = 1.0 / (double)g->bodies;
        }
    }
    for (int which = 0; which < 27; which++) {
        const int at = which == 13 ? 0 : which == 0 ? 13 : which;
        const int over[3] = {which % 3 - 1, which / 3 % 3 - 1, which / 9 - 1};
        for (int a = 0; a < 3; a++)
            g->shift[at][a] = over[a] * (double)g->side;
    }
}

gravel_status gv_leaf_grid_make(gv_leaf_grid *g, size_t bodies, size_t per_leaf, int reach, uint64_t seed)
{
    const size_t least = 2 * (size_t)reach + 1;
    memset(g, 0, sizeof *g);
    g->per_leaf = per_leaf;
    g->side = (size_t)rint(cbrt((double)bodies / (double)per_leaf));
    g->side = g->side < least ? least : g->side;
    g->leaves = g->side * g->side * g->side;
    g->bodies = g->leaves * per_leaf;
    g->around = least * least * least;
    g->tasks = g->leaves * g->around;
    if (g->bodies > INT32_MAX / 2 || g->tasks > INT32_MAX / 2)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%zu leaves of %zu bodies with %zu neighbours are too many", g->leaves,
                       per_leaf, g->around);
    const gravel_status fits = gv_memory_holds(
        (double)g->bodies, 4 * sizeof *g->block + sizeof *g->task * (double)g->around / (double)per_leaf, "bodies");
    if (fits)
        return fits;
    g->block = malloc(4 * g->bodies * sizeof *g->block);
    g->leaf = malloc(g->leaves * sizeof *g->leaf);
    g->task = malloc(g->tasks * sizeof *g->task);
    g->shift_of = malloc(g->tasks);
    if (!g->block || !g->leaf || !g->task || !g->shift_of) {
        gv_leaf_grid_free(g);
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu leaves and their tasks", g->leaves);
    }
    for (int a = 0; a < 3; a++)
        g->x[a] = g->block + (size_t)a * g->bodies;
    g->m = g->block + 3 * g->bodies;
    fill_bodies(g, seed);
    fill_tasks(g, reach);
    return GRAVEL_OK;
}
