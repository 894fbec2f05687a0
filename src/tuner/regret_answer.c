/* What a regret finds out, as answers of the profile: at a point where the choice costs much, the times of those that
 * met in turns are what a question there would have asked for. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gravel/gravel.h"
#include "tuner/regret.h"
#include "tuner/tlog.h"

/* Halfway to a mark: more answers cost a profile little, and other machines of the kind are not the same. */
#define WORTH_OVER_BEST (1 + 0.5 * (GV_REGRET_P95 - 1))
#define WORTH_OVER_DEFAULT (1 + 0.5 * (GV_REGRET_OVER_DEFAULT - 1))

/* Near equals: the default comes first. */
#define NEAR 1.02

/* Sizes nearer to each other leave nothing to ask between them. */
#define APART 1.9

int gv_regret_is_worth_an_answer(const gv_regret_point *point)
{
    return point->decided && (point->choice_s > WORTH_OVER_BEST * point->best_s ||
                              point->choice_s > WORTH_OVER_DEFAULT * point->default_s);
}

static int is_default(const gv_regret_setting *setting, const gv_task *task, const char *configuration)
{
    char built_in[GV_PROFILE_TEXT];
    gv_config config;

    setting->space->built_in(&config, &task->variant, setting->limits, task->sinks, task->sources);
    gv_space_format(setting->space, &config, built_in, sizeof built_in);
    return gv_regret_is_same(setting, task, configuration, built_in);
}

static int by_time(const void *a, const void *b)
{
    const gv_profile_result *x = a, *y = b;

    return (x->time_s > y->time_s) - (x->time_s < y->time_s);
}

/* What a program would read of the same question; NULL: nobody has asked it. */
static const gv_profile_entry *asked_before(const gv_regret_setting *setting, const gv_profile_entry *like)
{
    const gv_profile_set *const sets[2] = {setting->user, setting->shipped};
    const gv_profile_entry *found = NULL;
    gv_profile_device device;

    gv_profile_device_of(&setting->limits->info, &device);
    for (int i = 0; i < 2 && !found; i++)
        found = sets[i] ? gv_profile_set_entry(gv_profile_set_find(sets[i], &device), like) : NULL;
    return found;
}

void gv_regret_answer(const gv_regret_setting *setting, const gv_regret_point *point, gv_profile_entry *entry)
{
    const gv_task *task = &point->task;

    memset(entry, 0, sizeof *entry);
    snprintf(entry->kernel, sizeof entry->kernel, "%s", task->kernel);
    snprintf(entry->kernel_version, sizeof entry->kernel_version, "%s", setting->kernel_version);
    snprintf(entry->variant, sizeof entry->variant, "%s", task->variant.name);
    entry->features = task->variant.features;
    gv_name_clean(setting->limits->info.driver, entry->driver);
    entry->sinks = task->sinks;
    entry->sources = task->sources;
    entry->sink_bucket = gv_sink_bucket(task->sinks);
    entry->source_bucket = gv_source_bucket(task->sources);
    gv_date(entry->date);
    snprintf(entry->gravel, sizeof entry->gravel, "%s", GRAVEL_VERSION);
    snprintf(entry->strategy, sizeof entry->strategy, "regret");
    entry->evaluations = point->candidates;
    entry->failures = point->failed;
    for (int k = 0; k < point->finals && entry->n_results < GV_PROFILE_RESULTS; k++) {
        const gv_regret_final *f = &point->final[k];
        gv_profile_result *result = &entry->result[entry->n_results];

        if (!(f->over > 0))
            continue;
        memcpy(result->configuration, f->configuration, sizeof result->configuration);
        /* by the ratios, which what else runs on the machine does not change, at the pace of other questions: the
         * least of several times */
        result->time_s = point->choice_s / f->over;
        result->time_min_s = fmin(point->least_s, point->choice_s) / f->over;
        result->spread = f->spread;
        result->call_s = f->call_s;
        result->error = f->error;
        entry->n_results++;
    }
    const gv_profile_entry *before = asked_before(setting, entry);

    if (before)
        gv_profile_average(before, entry);
    qsort(entry->result, (size_t)entry->n_results, sizeof entry->result[0], by_time);
    for (int r = 1; r < entry->n_results && entry->result[r].time_s < NEAR * entry->result[0].time_s; r++) {
        if (is_default(setting, task, entry->result[r].configuration)) {
            const gv_profile_result first = entry->result[r];

            memmove(&entry->result[1], &entry->result[0], (size_t)r * sizeof first);
            entry->result[0] = first;
        }
    }
}

static int ascending(const void *a, const void *b)
{
    return (*(const size_t *)a > *(const size_t *)b) - (*(const size_t *)a < *(const size_t *)b);
}

/* Leaves of n sorted sizes each once, without those that less than half as many questions have as the size that most
 * have: the answers of a regret stand alone.  Returns how many are left. */
static int usual_sizes(size_t *asked, int n)
{
    int most = 0, usual = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0, same = 0; k < n; k += same) {
            const size_t size = asked[k];

            for (same = 1; k + same < n && asked[k + same] == size; same++)
                ;
            if (pass == 0)
                most = same > most ? same : most;
            else if (2 * same >= most)
                asked[usual++] = size;
        }
    }
    return usual;
}

int gv_regret_sizes_between(const gv_regret_setting *setting, int of_sources, size_t *size, int most)
{
    const gv_profile_set *const sets[2] = {setting->user, setting->shipped};
    const char *kernel = setting->space->kernel;
    gv_profile_device device;
    int n = 0, between = 0;
    size_t *asked = NULL;

    gv_profile_device_of(&setting->limits->info, &device);
    for (int i = 0; i < 2; i++) {
        const gv_profile_block *block = sets[i] ? gv_profile_set_find(sets[i], &device) : NULL;
        size_t *grown = block ? realloc(asked, (size_t)(n + block->n_entries + 1) * sizeof *asked) : NULL;

        for (int e = 0; grown && e < block->n_entries; e++)
            if (strcmp(block->entry[e].kernel, kernel) == 0)
                grown[n++] = of_sources ? block->entry[e].sources : block->entry[e].sinks;
        asked = grown ? grown : asked;
    }
    if (n > 0)
        qsort(asked, (size_t)n, sizeof *asked, ascending);
    n = usual_sizes(asked, n);
    for (int k = 1; k < n && between < most; k++)
        if ((double)asked[k] > APART * (double)asked[k - 1])
            size[between++] = (size_t)floor(sqrt((double)asked[k - 1] * (double)asked[k]));
    free(asked);
    return between;
}
