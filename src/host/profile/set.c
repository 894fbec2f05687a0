/* Sets of profiles: blocks of entries per device, joined without losing measurements. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/profile/store.h"

/* Of one configuration in two hours, at most (four times what they differ by mostly); more is not the hour, but another
 * machine, clock or driver, or a profile that is wrong: then the later time counts alone. */
#define MOST_APART 0.2

void gv_profile_set_free(gv_profile_set *set)
{
    for (int b = 0; b < set->n_blocks; b++)
        free(set->block[b].entry);
    free(set->block);
    set->block = NULL;
    set->n_blocks = 0;
}

void gv_profile_device_of(const gravel_device_info *info, gv_profile_device *device)
{
    memset(device, 0, sizeof *device);
    gv_name_clean(info->name, device->name);
    gv_name_clean(info->vendor, device->vendor);
    gv_name_clean(info->platform, device->platform);
    device->type = info->type;
    device->compute_units = info->compute_units;
    device->simd_width_float = info->simd_width_float;
    device->simd_width_double = info->simd_width_double;
    device->has_fp64 = info->has_fp64 != 0;
}

int gv_profile_same_device(const gv_profile_device *a, const gv_profile_device *b)
{
    return a->type == b->type && a->compute_units == b->compute_units && a->simd_width_float == b->simd_width_float &&
           a->simd_width_double == b->simd_width_double && a->has_fp64 == b->has_fp64 &&
           gv_name_same(a->name, b->name) && gv_name_same(a->vendor, b->vendor) &&
           gv_name_same(a->platform, b->platform);
}

/* The same question: kernel, its version, variant, features, driver, sinks and sources. */
static int is_same_entry(const gv_profile_entry *a, const gv_profile_entry *b)
{
    return a->sinks == b->sinks && a->sources == b->sources && a->features == b->features &&
           strcmp(a->variant, b->variant) == 0 && strcmp(a->kernel, b->kernel) == 0 &&
           strcmp(a->kernel_version, b->kernel_version) == 0 && gv_name_same(a->driver, b->driver);
}

gv_profile_block *gv_profile_set_find(const gv_profile_set *set, const gv_profile_device *device)
{
    for (int b = 0; b < set->n_blocks; b++)
        if (gv_profile_same_device(&set->block[b].device, device))
            return &set->block[b];
    return NULL;
}

gv_profile_entry *gv_profile_set_entry(const gv_profile_block *block, const gv_profile_entry *like)
{
    for (int e = 0; block != NULL && e < block->n_entries; e++)
        if (is_same_entry(&block->entry[e], like))
            return &block->entry[e];
    return NULL;
}

static gravel_status add_block(gv_profile_set *set, const gv_profile_device *device, gv_profile_block **block)
{
    gv_profile_block *grown = realloc(set->block, (size_t)(set->n_blocks + 1) * sizeof *grown);

    if (grown == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for another profile");
    set->block = grown;
    *block = &set->block[set->n_blocks++];
    memset(*block, 0, sizeof **block);
    (*block)->device = *device;
    return GRAVEL_OK;
}

/* A file with more entries would be refused by whoever reads it: the oldest one gives way, or the new one if that is
 * older. */
static gravel_status add_entry(gv_profile_block *block, const gv_profile_entry *entry)
{
    int oldest = 0;

    for (int e = 1; block->n_entries == GV_PROFILE_ENTRIES && e < block->n_entries; e++)
        if (strcmp(block->entry[e].date, block->entry[oldest].date) < 0)
            oldest = e;
    if (block->n_entries == GV_PROFILE_ENTRIES) {
        if (strcmp(block->entry[oldest].date, entry->date) <= 0)
            block->entry[oldest] = *entry;
        return GRAVEL_OK;
    }
    if (block->n_entries == block->room) {
        int room = block->room > 0 ? 2 * block->room : 8;
        gv_profile_entry *grown = realloc(block->entry, (size_t)room * sizeof *grown);

        if (grown == NULL)
            return gv_fail(GRAVEL_ERR_MEMORY, "no memory for another profile entry");
        block->entry = grown;
        block->room = room;
    }
    block->entry[block->n_entries++] = *entry;
    return GRAVEL_OK;
}

static int has_configuration(const gv_profile_entry *entry, const char *configuration)
{
    for (int r = 0; r < entry->n_results; r++)
        if (strcmp(entry->result[r].configuration, configuration) == 0)
            return 1;
    return 0;
}

/* How much longer configurations took in the later run than in the earlier, by those that both have timed (the default
 * and what was known, mostly); 1 if there are none.  A machine was busier in one of them, or its clock lower. */
static double longer(const gv_profile_entry *later, const gv_profile_entry *earlier)
{
    double sum = 0;
    int n = 0;

    for (int r = 0; r < later->n_results; r++)
        for (int k = 0; k < earlier->n_results; k++)
            if (strcmp(later->result[r].configuration, earlier->result[k].configuration) == 0 &&
                later->result[r].time_s > 0 && earlier->result[k].time_s > 0) {
                sum += log(later->result[r].time_s / earlier->result[k].time_s);
                n++;
            }
    return n > 0 ? exp(sum / n) : 1;
}

static int ascending(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* log(time in the entry / time before) of its result r; NAN: it was not timed before. */
static double log_longer(const gv_profile_entry *before, const gv_profile_entry *entry, int r)
{
    const gv_profile_result *now = &entry->result[r];

    for (int k = 0; k < before->n_results; k++)
        if (strcmp(now->configuration, before->result[k].configuration) == 0 && now->time_s > 0 &&
            before->result[k].time_s > 0)
            return log(now->time_s / before->result[k].time_s);
    return NAN;
}

void gv_profile_average(const gv_profile_entry *before, gv_profile_entry *entry)
{
    double longer_by[GV_PROFILE_RESULTS], sorted[GV_PROFILE_RESULTS];
    int n = 0;

    for (int r = 0; r < entry->n_results; r++) {
        longer_by[r] = log_longer(before, entry, r);
        if (!isnan(longer_by[r]))
            sorted[n++] = longer_by[r];
    }
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    const double pace = n > 0 ? 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]) : 0;

    for (int r = 0; r < entry->n_results; r++) {
        gv_profile_result *now = &entry->result[r];
        const double apart = longer_by[r] - pace;

        if (isnan(apart) || fabs(apart) > MOST_APART)
            continue;
        now->time_s *= exp(-0.5 * apart);
        now->time_min_s *= exp(-0.5 * apart);
        now->spread = fmax(now->spread, fabs(apart));
    }
}

/* The later entry's figures stay, its default's among them; where there is room, the earlier one's other configurations
 * are sorted in by time behind its winner, as if they had been timed in the later run. */
static void join(gv_profile_entry *into, const gv_profile_entry *with)
{
    gv_profile_entry later = strcmp(into->date, with->date) > 0 ? *into : *with;
    const gv_profile_entry *earlier = strcmp(into->date, with->date) > 0 ? with : into;
    const double scale = longer(&later, earlier);

    for (int r = 0; r < earlier->n_results && later.n_results < GV_PROFILE_RESULTS; r++) {
        gv_profile_result scaled = earlier->result[r];
        int at = later.n_results;

        if (has_configuration(&later, scaled.configuration))
            continue;
        scaled.time_s *= scale;
        scaled.time_min_s *= scale;
        scaled.call_s *= scale;
        while (at > 1 && later.result[at - 1].time_s > scaled.time_s)
            at--;
        memmove(&later.result[at + 1], &later.result[at], (size_t)(later.n_results - at) * sizeof later.result[0]);
        later.result[at] = scaled;
        later.n_results++;
    }
    *into = later;
}

gravel_status gv_profile_set_add(gv_profile_set *set, const gv_profile_device *device, const gv_profile_entry *entry)
{
    gv_profile_block *block = gv_profile_set_find(set, device);
    gv_profile_entry *there;

    if (block == NULL) {
        gravel_status status = add_block(set, device, &block);

        if (status != GRAVEL_OK)
            return status;
    }
    there = gv_profile_set_entry(block, entry);
    if (there != NULL) {
        join(there, entry);
        return GRAVEL_OK;
    }
    return add_entry(block, entry);
}

gravel_status gv_profile_set_merge(gv_profile_set *into, const gv_profile_set *from)
{
    for (int b = 0; b < from->n_blocks; b++) {
        for (int e = 0; e < from->block[b].n_entries; e++) {
            gravel_status status = gv_profile_set_add(into, &from->block[b].device, &from->block[b].entry[e]);

            if (status != GRAVEL_OK)
                return status;
        }
    }
    return GRAVEL_OK;
}
