/* Configurations of profiles against the values that a kernel's tunables take: a file that is well formed may be of
 * another version, or edited by hand. */
#include <stdio.h>
#include <string.h>

#include "host/profile/store.h"

/* What is left of the entry's results. */
static int keep_known(gv_profile_entry *entry, const gv_space *space, int *left_out, char *first, size_t size)
{
    int kept = 0;

    for (int r = 0; r < entry->n_results; r++) {
        gv_profile_result *result = &entry->result[r];

        if (result->reading.named != 0 || gv_space_read(space, result->configuration, &result->reading))
            entry->result[kept++] = *result;
        else if ((*left_out)++ == 0)
            snprintf(first, size, "%s", gravel_error_message());
    }
    return entry->n_results = kept;
}

void gv_profile_set_check(gv_profile_set *set, const gv_space *space, gv_profile_refused_fn refused, void *user)
{
    for (int b = 0; b < set->n_blocks; b++) {
        gv_profile_block *block = &set->block[b];
        char first[320] = "", message[640];
        int left_out = 0, kept = 0;

        for (int e = 0; e < block->n_entries; e++) {
            if (strcmp(block->entry[e].kernel, space->kernel) != 0 ||
                keep_known(&block->entry[e], space, &left_out, first, sizeof first) > 0) {
                if (kept != e)
                    block->entry[kept] = block->entry[e];
                kept++;
            }
        }
        block->n_entries = kept;
        if (left_out > 0 && refused) {
            snprintf(message, sizeof message, "%.200s, %s: results left out: %d, the first: %s", block->device.name,
                     space->kernel, left_out, first);
            refused(message, user);
        }
    }
}
