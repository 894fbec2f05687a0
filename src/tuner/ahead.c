#include "tuner/ahead.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t hash(uint64_t from, const char *text)
{
    for (; *text != '\0'; text++)
        from = (from ^ (unsigned char)*text) * 0x100000001b3ull;
    return from;
}

/* 1 the first time. */
static int is_new(gv_ahead *ahead, const gv_variant *variant, const char *configuration)
{
    const uint64_t key = hash(hash(0xcbf29ce484222325ull + variant->features, variant->name), configuration);

    for (size_t k = 0; k < ahead->n; k++)
        if (ahead->built[k] == key)
            return 0;
    if (ahead->n == ahead->room) {
        const size_t room = 2 * ahead->room + 256;
        uint64_t *grown = realloc(ahead->built, room * sizeof *grown);

        if (!grown)
            return 0; /* then the measuring process builds it */
        ahead->built = grown;
        ahead->room = room;
    }
    ahead->built[ahead->n++] = key;
    return 1;
}

void gv_ahead_add(gv_ahead *ahead, const gv_task *task, const char *const *configuration, int n)
{
    for (int k = 0; k < n && ahead->n_waiting < GV_AHEAD_MOST && ahead->builders.n > 0; k++) {
        gv_request *request = &ahead->waiting[ahead->n_waiting];

        if (!is_new(ahead, &task->variant, configuration[k]))
            continue;
        *request = (gv_request){.build_only = 1, .task = *task, .seed = 1, .effort = {1, 1, 0, 0, 1e30}};
        snprintf(request->configuration, sizeof request->configuration, "%s", configuration[k]);
        ahead->n_waiting++;
    }
}

int gv_ahead_is_full(const gv_ahead *ahead)
{
    return ahead->n_waiting >= ahead->builders.n;
}

void gv_ahead_build(gv_ahead *ahead, double limit_s)
{
    /* one alone is built as soon by whoever measures it */
    if (ahead->n_waiting > 1) {
        gv_builders_start(&ahead->builders, ahead->waiting, ahead->n_waiting);
        gv_builders_finish(&ahead->builders, limit_s);
    }
    ahead->n_waiting = 0;
}

void gv_ahead_stop(gv_ahead *ahead)
{
    gv_builders_stop(&ahead->builders);
    free(ahead->built);
}
