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

void gv_ahead_build(gv_ahead *ahead, const gv_task *task, const char *const *configuration, int n, double limit_s)
{
    gv_request request[64];
    int building = 0;

    for (int k = 0; k < n && building < 64 && ahead->builders.n > 0; k++) {
        if (is_new(ahead, &task->variant, configuration[k])) {
            request[building] = (gv_request){.build_only = 1, .task = *task, .seed = 1, .effort = {1, 1, 0, 0, 1e30}};
            snprintf(request[building].configuration, sizeof request[0].configuration, "%s", configuration[k]);
            building++;
        }
    }
    if (building > 1) {
        gv_builders_start(&ahead->builders, request, building);
        gv_builders_finish(&ahead->builders, limit_s);
    }
}

void gv_ahead_stop(gv_ahead *ahead)
{
    gv_builders_stop(&ahead->builders);
    free(ahead->built);
}
