/* What a regret times at a point: what a program would get there, the untuned default, and what profiles keep of the
 * variant, that of the nearest questions first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/regret.h"

/* A result of a question around the point. */
typedef struct offer {
    const char *configuration;
    double away;
} offer;

typedef struct offers {
    offer *list;
    size_t n;
} offers;

int gv_regret_is_same(const gv_regret_setting *setting, const gv_task *task, const char *a, const char *b)
{
    return gv_space_same_text(setting->space, a, b, &task->variant, setting->limits, task->sinks, task->sources);
}

static double distance(const gv_profile_entry *entry, const gv_task *task)
{
    return fabs(log2((double)entry->sinks / (double)task->sinks)) +
           fabs(log2((double)entry->sources / (double)task->sources)) +
           0.5 * (entry->features != task->variant.features);
}

/* All that a device's questions about the variant keep, whatever their features.  0: no memory. */
static int collect(const gv_profile_block *block, const gv_task *task, offers *all)
{
    offer *grown = realloc(all->list, (all->n + (size_t)block->n_entries * GV_PROFILE_RESULTS + 1) * sizeof *all->list);

    if (!grown)
        return 0;
    all->list = grown;
    for (int e = 0; e < block->n_entries; e++) {
        const gv_profile_entry *entry = &block->entry[e];

        if (strcmp(entry->kernel, task->kernel) != 0 || strcmp(entry->variant, task->variant.name) != 0)
            continue;
        for (int r = 0; r < entry->n_results; r++)
            all->list[all->n++] = (offer){entry->result[r].configuration, distance(entry, task) + 1e-3 * r};
    }
    return 1;
}

/* Of this device, of those that are alike, and of the one whose question answers: any other, where these have none.  0:
 * no memory. */
static int collect_all(const gv_regret_setting *setting, const gv_profile_entry *answers, const gv_task *task,
                       offers *all)
{
    const gv_profile_set *const sets[2] = {setting->user, setting->shipped};
    gv_profile_device device;

    gv_profile_device_of(&setting->limits->info, &device);
    for (int i = 0; i < 2; i++) {
        for (int b = 0; sets[i] && b < sets[i]->n_blocks; b++) {
            const gv_profile_block *block = &sets[i]->block[b];
            const int of_answer = answers && answers >= block->entry && answers < block->entry + block->n_entries;

            if ((of_answer || gv_profile_alike(&block->device, &device)) && !collect(block, task, all))
                return 0;
        }
    }
    return 1;
}

/* Of equals in one order, whatever the profile's. */
static int nearer(const void *a, const void *b)
{
    const offer *x = a, *y = b;

    return x->away != y->away ? (x->away > y->away) - (x->away < y->away) : strcmp(x->configuration, y->configuration);
}

/* As programs take it (look_up.c). */
static int runs_here(const gv_regret_setting *setting, const gv_task *task, const char *configuration, int own)
{
    gv_config config;

    setting->space->built_in(&config, &task->variant, setting->limits, task->sinks, task->sources);
    return gv_space_parse(setting->space, configuration, &config) == GRAVEL_OK &&
           (own ? gv_space_can_run : gv_space_check)(setting->space, &config, &task->variant, setting->limits) == NULL;
}

/* Those that launch the same are one.  `reading`: of those that are there. */
static void add(const gv_regret_setting *setting, const gv_task *task, const char *configuration, gv_regret_list *made,
                gv_reading *reading)
{
    gv_reading *own = &reading[made->n];

    gv_space_read(setting->space, configuration, own);
    for (int k = 0; k < made->n; k++)
        if (gv_space_same_reading(setting->space, &reading[k], own, &task->variant, setting->limits, task->sinks,
                                  task->sources))
            return;
    made->configuration[made->n++] = configuration;
}

gravel_status gv_regret_list_make(const gv_regret_setting *setting, const gv_task *task, gv_regret_list *made)
{
    const gv_profile_question question = {setting->space,          &task->variant, setting->limits,
                                          setting->kernel_version, task->sinks,    task->sources};
    const int most = setting->most <= 0 || setting->most > GV_REGRET_CANDIDATES ? GV_REGRET_CANDIDATES
                     : setting->most > 2                                        ? setting->most
                                                                                : 2;
    const gv_profile_entry *answers = NULL;
    gv_reading reading[GV_REGRET_CANDIDATES];
    offers all = {NULL, 0};
    gv_config config;

    memset(made, 0, sizeof *made);
    made->origin = GRAVEL_ORIGIN_BUILT_IN;
    setting->space->built_in(&config, &task->variant, setting->limits, task->sinks, task->sources);
    gv_space_format(setting->space, &config, made->built_in, sizeof made->built_in);
    gv_profile_look_up(setting->user, setting->shipped, &question, &config, &made->origin, &answers);
    gv_space_format(setting->space, &config, made->choice, sizeof made->choice);
    if (!collect_all(setting, answers, task, &all)) {
        free(all.list);
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the candidates of a regret");
    }
    if (all.n > 0)
        qsort(all.list, all.n, sizeof *all.list, nearer);
    add(setting, task, made->choice, made, reading);
    add(setting, task, made->built_in, made, reading);
    for (size_t k = 0; k < all.n && made->n < most; k++)
        if (runs_here(setting, task, all.list[k].configuration, made->origin == GRAVEL_ORIGIN_USER))
            add(setting, task, all.list[k].configuration, made, reading);
    free(all.list);
    return GRAVEL_OK;
}
