/* `gravel profiles diff`: what tuning again has changed. */
#include "cli/profiles_diff.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "host/profile/store.h"

/* The newest entry of a set for the same question; kernel version and driver may differ, they are what changed. */
static const gv_profile_entry *newest(const gv_profile_set *set, const gv_profile_device *device,
                                      const gv_profile_entry *like)
{
    const gv_profile_block *block = gv_profile_set_find(set, device);
    const gv_profile_entry *found = NULL;

    for (int e = 0; block != NULL && e < block->n_entries; e++) {
        const gv_profile_entry *entry = &block->entry[e];

        if (entry->sinks == like->sinks && entry->sources == like->sources && entry->features == like->features &&
            strcmp(entry->variant, like->variant) == 0 && strcmp(entry->kernel, like->kernel) == 0 &&
            (found == NULL || strcmp(entry->date, found->date) > 0))
            found = entry;
    }
    return found;
}

typedef struct tally {
    int compared, changed, above_5_percent, only_a, only_b;
} tally;

static void diff_block(gv_table *table, const gv_profile_set *own, const gv_profile_block *block,
                       const gv_profile_set *other, int all, tally *t)
{
    for (int e = 0; e < block->n_entries; e++) {
        const gv_profile_entry *a = &block->entry[e], *b = newest(other, &block->device, a);
        double change;
        int same;

        if (newest(own, &block->device, a) != a)
            continue;
        if (b == NULL) {
            t->only_a++;
            continue;
        }
        /* the same work is compared: times per pair, where the measured sizes differ */
        change = (b->result[0].time_s / ((double)b->sinks * (double)b->sources)) /
                     (a->result[0].time_s / ((double)a->sinks * (double)a->sources)) -
                 1;
        same = strcmp(a->result[0].configuration, b->result[0].configuration) == 0;
        t->compared++;
        t->changed += !same;
        t->above_5_percent += fabs(change) > 0.05;
        if (all || !same || fabs(change) > 0.05) {
            gv_table_row(table, "%s|%zu|%zu|%.2f|%.2f|%+.1f %%|%s|%s", a->variant, a->sinks, a->sources,
                         1e6 * a->result[0].time_s, 1e6 * b->result[0].time_s, 100 * change, a->result[0].configuration,
                         same ? "the same" : b->result[0].configuration);
        }
    }
}

gravel_status gv_profiles_diff(const char *first, const char *second, int all)
{
    gv_profile_set a = GV_PROFILE_SET_INIT, b = GV_PROFILE_SET_INIT;
    gravel_status status = gv_profile_read_file(first, &a);
    tally t = {0, 0, 0, 0, 0};
    gv_table table;

    status = status == GRAVEL_OK ? gv_profile_read_file(second, &b) : status;
    if (status == GRAVEL_OK) {
        gv_table_start(&table, "variant|sinks|sources|first us|second us|change|first|second");
        for (int k = 0; k < a.n_blocks; k++)
            diff_block(&table, &a, &a.block[k], &b, all, &t);
        for (int k = 0; k < b.n_blocks; k++)
            for (int e = 0; e < b.block[k].n_entries; e++) {
                const gv_profile_entry *entry = &b.block[k].entry[e];

                t.only_b +=
                    newest(&b, &b.block[k].device, entry) == entry && newest(&a, &b.block[k].device, entry) == NULL;
            }
        gv_table_print(&table, stdout);
        gv_table_free(&table);
        printf("%d entries compared: %d with another configuration, %d with a time that differs by more than 5 %%; "
               "%d only in the first, %d only in the second\n",
               t.compared, t.changed, t.above_5_percent, t.only_a, t.only_b);
    }
    gv_profile_set_free(&b);
    gv_profile_set_free(&a);
    return status;
}
