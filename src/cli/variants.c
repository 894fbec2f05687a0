#include "cli/variants.h"

#include <string.h>

#include "host/device/context.h"

static int add_named(const char *command, const char *list, gv_variant variant[GV_VARIANTS], int *count)
{
    char word[16];
    for (const char *p = list;; p++) {
        const size_t n = strcspn(p, ",");
        snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), p);
        if (*count == GV_VARIANTS || !gv_variant_parse(word, &variant[*count])) {
            gv_say(command, "--variant: '%s' is none of sp2 sp4 sp6 ds2 ds4 ds6 dp2 dp4 dp6", word);
            return GV_EXIT_USAGE;
        }
        ++*count;
        p += n;
        if (*p == '\0')
            return GV_EXIT_OK;
    }
}

int gv_variants_choose(const char *command, const char *list, const gravel_device_info *device,
                       gv_variant variant[GV_VARIANTS], int *count)
{
    int kept = 0;
    *count = 0;
    if (list != NULL) {
        const int code = add_named(command, list, variant, count);
        if (code != GV_EXIT_OK)
            return code;
    } else {
        for (; *count < GV_VARIANTS; ++*count)
            gv_variant_set(&variant[*count], 2 * (*count % 3 + 1), (gravel_precision)(*count / 3), 0);
    }
    for (int v = 0; v < *count; v++)
        if (variant[v].precision != GRAVEL_DP || device->has_fp64)
            variant[kept++] = variant[v];
    if (kept < *count && list != NULL) /* without a list: those that the device has */
        gv_say(command, "dp is left out: %s has no double precision", device->name);
    *count = kept;
    return kept > 0 ? GV_EXIT_OK : GV_EXIT_USAGE;
}
