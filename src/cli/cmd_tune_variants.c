/* Which variants gravel tune is about, and what they are called. */
#include <stdio.h>
#include <string.h>

#include "cli/cmd_tune.h"
#include "host/direct/plan.h"
#include "tuner/session.h"

int gv_tune_variants(const tune_options *options, gv_variant *variant, int most)
{
    const char *text = options->variants;
    const unsigned features =
        (options->nearest ? GV_DIRECT_NEAREST : 0u) | (options->neighbours ? GV_DIRECT_LISTS : 0u);
    const gv_subject *subject = gv_subject_find(options->kernel);
    const int is_square = subject != NULL && subject->questions == GV_QUESTIONS_SQUARE;
    const int is_direct = subject != NULL && subject->questions == GV_QUESTIONS_PAIRS;
    int n = 0;

    if (subject == NULL) {
        gv_say("gravel tune", "there is no kernel '%s' (direct, tree, tasks)", options->kernel);
        return 0;
    }
    if (is_square && options->sinks.n > 0) {
        gv_say("gravel tune", "the sinks of the tree are its bodies: it takes --sources, without --sinks");
        return 0;
    }
    if (!is_direct && features != 0) {
        gv_say("gravel tune", "--nearest and --neighbours are for direct summation");
        return 0;
    }
    if (strcmp(text, "all") == 0)
        text = !is_direct ? "sp2,ds2,dp2" : "sp2,sp4,sp6,ds2,ds4,ds6,dp2,dp4,dp6";
    while (*text != '\0' && n < most) {
        const size_t length = strcspn(text, ",");
        char name[16];

        snprintf(name, sizeof name, "%.*s", (int)length, text);
        if (length >= sizeof name || !gv_variant_parse(name, &variant[n])) {
            gv_say("gravel tune", "'%.*s' is no variant (sp2, sp4, sp6, ds2, ds4, ds6, dp2, dp4, dp6 or all)",
                   (int)length, text);
            return 0;
        }
        if (!is_direct && variant[n].order != 2) {
            gv_say("gravel tune", "%s has order 2 only, not '%s'", is_square ? "the tree" : options->kernel, name);
            return 0;
        }
        variant[n++].features = features;
        text += length + (text[length] == ',');
    }
    return n;
}

int gv_tune_add_searches(gv_variant *variant, int n, int most)
{
    static const unsigned each[] = {0, GV_DIRECT_NEAREST, GV_DIRECT_NEAREST | GV_DIRECT_LISTS};

    if (3 * n > most)
        return n;
    for (int k = 3 * n - 1; k >= 0; k--) {
        variant[k] = variant[k / 3];
        variant[k].features = each[k % 3];
    }
    return 3 * n;
}

const char *gv_tune_features_name(unsigned features)
{
    return features == 0                                       ? "plain"
           : features == GV_DIRECT_NEAREST                     ? "nearest"
           : features == (GV_DIRECT_NEAREST | GV_DIRECT_LISTS) ? "nearest + lists"
                                                               : "lists";
}
