#include "tuner/prebuild.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t hash(uint64_t from, const char *text)
{
    for (; *text != '\0'; text++)
        from = (from ^ (unsigned char)*text) * 0x100000001b3ull;
    return from;
}

/* 1 the first time. */
static int is_new(gv_prebuild *prebuild, const gv_variant *variant, const char *configuration)
{
    const uint64_t key = hash(hash(0xcbf29ce484222325ull + variant->features, variant->name), configuration);

    for (size_t k = 0; k < prebuild->n; k++)
        if (prebuild->built[k] == key)
            return 0;
    if (prebuild->n == prebuild->room) {
        const size_t room = 2 * prebuild->room + 256;
        uint64_t *grown = realloc(prebuild->built, room * sizeof *grown);

        if (!grown)
            return 0; /* then the measuring process builds it */
        prebuild->built = grown;
        prebuild->room = room;
    }
    prebuild->built[prebuild->n++] = key;
    return 1;
}

void gv_prebuild_add(gv_prebuild *prebuild, const gv_task *task, const char *const *configuration, int n)
{
    for (int k = 0; k < n && prebuild->n_waiting < GV_PREBUILD_MOST && prebuild->builders.n > 0; k++) {
        gv_request *request = &prebuild->waiting[prebuild->n_waiting];

        if (!is_new(prebuild, &task->variant, configuration[k]))
            continue;
        *request = (gv_request){.build_only = 1, .task = *task, .seed = 1, .effort = {1, 1, 0, 0, 1e30}};
        snprintf(request->configuration, sizeof request->configuration, "%s", configuration[k]);
        prebuild->n_waiting++;
    }
}

int gv_prebuild_is_full(const gv_prebuild *prebuild)
{
    return prebuild->n_waiting >= prebuild->builders.n;
}

void gv_prebuild_run(gv_prebuild *prebuild, double limit_s)
{
    /* one alone is built as soon by whoever measures it */
    if (prebuild->n_waiting > 1) {
        gv_builders_start(&prebuild->builders, prebuild->waiting, prebuild->n_waiting);
        gv_builders_finish(&prebuild->builders, limit_s);
    }
    prebuild->n_waiting = 0;
}

void gv_prebuild_stop(gv_prebuild *prebuild)
{
    gv_builders_stop(&prebuild->builders);
    free(prebuild->built);
}
