#include "host/profile/space.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

gv_limits gv_limits_of(const gravel_context *context, int device)
{
    const gv_device *d = &context->device[device];

    return (gv_limits){d->info,
                       d->fast_fma,
                       d->has_ptx_asm,
                       d->has_rsqrt14,
                       d->has_rsqrt12,
                       d->traits.runs_groups,
                       (double)d->traits.exact_error,
                       (double)d->traits.native_error,
                       (double)d->traits.seed_error,
                       d->traits.wrong_timers,
                       d->traits.bad_vectors,
                       (double)d->traits.pair_s};
}

int gv_limits_groups(const gv_limits *limits)
{
    return limits->info.type != GRAVEL_DEVICE_CPU || limits->runs_groups;
}

int gv_limits_lanes(const gv_limits *limits, gravel_precision precision)
{
    const int width = precision == GRAVEL_DP ? limits->info.simd_width_double : limits->info.simd_width_float;
    const int tried = 4 | 8 | 16;
    int lanes = (limits->bad_vectors & tried) == tried ? 1 : 16; /* all wrong: two lanes, which nobody tried, as well */

    while (lanes > 1 && (lanes > width || (limits->bad_vectors & lanes)))
        lanes /= 2;
    return lanes;
}

static int has_estimate(const gv_limits *limits, gravel_precision precision, int lanes)
{
    if (precision == GRAVEL_DP)
        return limits->has_rsqrt14 && lanes == 8;
    return (limits->has_rsqrt14 && lanes == 16) || (limits->has_rsqrt12 && lanes == 8);
}

/* The method's error after the steps of the flavour, from that of the estimate; with d the error of y, Newton's step
 * leaves 3/2 d^2, the third-order one 5/2 d^3.  The steps' own roundings are four units in the last place at most. */
static double method_error(const gv_limits *limits, gravel_precision precision, int rsqrt)
{
    const int dp = precision == GRAVEL_DP;
    const double d = dp ? limits->seed_error : limits->native_error;
    const double third = 2.5 * d * d * d, newton = 1.5 * d * d;

    if (rsqrt == 1)
        return dp ? third : d;
    if (rsqrt == 2)
        return dp ? 1.5 * third * third : d > GV_ROUGH_ESTIMATE ? third : newton;
    return rsqrt == 0 && !dp ? limits->exact_error : 0;
}

int gv_limits_root_is_right(const gv_limits *limits, gravel_precision precision, int rsqrt, int lanes)
{
    if (rsqrt == 4)
        return has_estimate(limits, precision, lanes);
    /* Eight roundings: a pair's force has three times the error of the root, and one close pair may be all of a force:
     * 3 * 8 * 2^-24 = 1.4e-6, where ds allows 2e-6. */
    return method_error(limits, precision, rsqrt) <= 8 * (precision == GRAVEL_DP ? 0x1p-53 : 0x1p-24);
}

int gv_limits_root(const gv_limits *limits, gravel_precision precision, int lanes)
{
    /* on a GPU native_rsqrt is an instruction; on a CPU it is an estimate or the same root and division as rsqrt */
    static const int gpu[] = {1, 2, 0, 3}, estimate[] = {4, 2, 1, 0, 3}, plain[] = {4, 0, 3};
    /* in dp, to float and back and two steps take twice as long as the root itself (Intel's runtime, AVX-512) */
    const int is_estimate = limits->native_error > 4 * 0x1p-24 && precision != GRAVEL_DP;
    const int *order = limits->info.type != GRAVEL_DEVICE_CPU ? gpu : is_estimate ? estimate : plain;
    while (*order != 3 && !gv_limits_root_is_right(limits, precision, *order, lanes))
        order++;
    return *order;
}

int gv_space_index(const gv_space *space, const char *name)
{
    for (int t = 0; t < space->n_tunables; t++)
        if (strcmp(space->tunable[t].name, name) == 0)
            return t;
    return -1;
}

static int in_table(const gv_tunable *tunable, int value)
{
    for (int v = 0; v < tunable->n_values; v++)
        if (tunable->values[v] == value)
            return 1;
    return 0;
}

static const char *check(const gv_space *space, const gv_config *config, const gv_variant *variant,
                         const gv_limits *limits, int soft_too)
{
    for (int t = 0; t < space->n_tunables; t++)
        if (!in_table(&space->tunable[t], config->value[t]))
            return "a value is not in the tunable's table";
    for (int c = 0; c < space->n_constraints; c++)
        if ((soft_too || space->constraint[c].hard) && !space->constraint[c].holds(config, variant, limits))
            return space->constraint[c].reason;
    return NULL;
}

const char *gv_space_check(const gv_space *space, const gv_config *config, const gv_variant *variant,
                           const gv_limits *limits)
{
    return check(space, config, variant, limits, 1);
}

const char *gv_space_can_run(const gv_space *space, const gv_config *config, const gv_variant *variant,
                             const gv_limits *limits)
{
    return check(space, config, variant, limits, 0);
}

static gravel_status parse_pair(const gv_space *space, const char *word, size_t length, gv_config *config)
{
    char name[64];
    const char *equals = memchr(word, '=', length);
    if (!equals || equals == word || (size_t)(equals - word) >= sizeof name)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "configuration: '%.*s' is not name=value", (int)length, word);
    memcpy(name, word, (size_t)(equals - word));
    name[equals - word] = '\0';
    int t = gv_space_index(space, name);
    if (t < 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "configuration: the %s kernel has no tunable '%s'", space->kernel, name);
    char *end;
    errno = 0;
    long value = strtol(equals + 1, &end, 10);
    if (end == equals + 1 || end != word + length || errno || value < INT_MIN || value > INT_MAX ||
        !in_table(&space->tunable[t], (int)value)) {
        char known[160] = "";
        for (int v = 0; v < space->tunable[t].n_values; v++)
            snprintf(known + strlen(known), sizeof known - strlen(known), " %d", space->tunable[t].values[v]);
        return gv_fail(GRAVEL_ERR_ARGUMENT, "configuration: '%.*s': %s takes%s", (int)length, word, name, known);
    }
    config->value[t] = (int)value;
    return GRAVEL_OK;
}

gravel_status gv_space_parse(const gv_space *space, const char *text, gv_config *config)
{
    while (text) {
        while (isspace((unsigned char)*text) || *text == ',')
            text++;
        if (!*text)
            break;
        size_t length = strcspn(text, " \t\r\n,");
        gravel_status status = parse_pair(space, text, length, config);
        if (status)
            return status;
        text += length;
    }
    return GRAVEL_OK;
}

void gv_space_format(const gv_space *space, const gv_config *config, char *text, size_t size)
{
    size_t used = 0;
    if (size > 0)
        text[0] = '\0';
    for (int t = 0; t < space->n_tunables && used < size; t++)
        used += (size_t)snprintf(text + used, size - used, "%s%s=%d", t ? " " : "", space->tunable[t].name,
                                 config->value[t]);
}

int gv_space_same(const gv_space *space, const gv_config *a, const gv_config *b, const gv_variant *variant,
                  const gv_limits *limits, size_t sinks, size_t sources)
{
    int equal = 1;
    for (int t = 0; t < space->n_tunables; t++) {
        if (a->value[t] != b->value[t] && space->tunable[t].macro)
            return 0;
        equal &= a->value[t] == b->value[t];
    }
    return equal || (space->same_launch && space->same_launch(a, b, variant, limits, sinks, sources));
}

int gv_space_read(const gv_space *space, const char *text, gv_reading *reading)
{
    *reading = (gv_reading){.named = 0};
    for (int t = 0; t < space->n_tunables; t++)
        reading->config.value[t] = INT_MIN; /* in no table */
    if (gv_space_parse(space, text, &reading->config))
        return 0;
    for (int t = 0; t < space->n_tunables; t++)
        reading->named |= reading->config.value[t] != INT_MIN ? 1u << t : 0;
    return 1;
}

static void fill(const gv_space *space, const gv_reading *reading, gv_config *config)
{
    for (int t = 0; t < space->n_tunables; t++)
        if (reading->named & 1u << t)
            config->value[t] = reading->config.value[t];
}

int gv_space_same_reading(const gv_space *space, const gv_reading *a, const gv_reading *b, const gv_variant *variant,
                          const gv_limits *limits, size_t sinks, size_t sources)
{
    const unsigned all = (1u << space->n_tunables) - 1, both = a->named & b->named;
    gv_config of[2];
    for (int t = 0; t < space->n_tunables; t++)
        if ((both & 1u << t) && space->tunable[t].macro && a->config.value[t] != b->config.value[t])
            return 0;
    if ((both & all) == all)
        return gv_space_same(space, &a->config, &b->config, variant, limits, sinks, sources);
    /* tunables that a profile of before does not name have their built-in value, as where it is read */
    space->built_in(&of[0], variant, limits, sinks, sources);
    of[1] = of[0];
    fill(space, a, &of[0]);
    fill(space, b, &of[1]);
    return gv_space_same(space, &of[0], &of[1], variant, limits, sinks, sources);
}

int gv_space_same_text(const gv_space *space, const char *a, const char *b, const gv_variant *variant,
                       const gv_limits *limits, size_t sinks, size_t sources)
{
    gv_reading of[2];
    if (strcmp(a, b) == 0)
        return 1;
    if (!space || !limits)
        return 0;
    return gv_space_read(space, a, &of[0]) && gv_space_read(space, b, &of[1]) &&
           gv_space_same_reading(space, &of[0], &of[1], variant, limits, sinks, sources);
}

int gv_space_own_root(const gv_space *space, const gv_variant *variant, const gv_limits *limits, gv_config *config)
{
    const int lanes = gv_space_index(space, "lanes"), rsqrt = gv_space_index(space, "rsqrt");
    if (lanes < 0 || rsqrt < 0)
        return 1;
    const int before = config->value[rsqrt];
    config->value[rsqrt] = gv_limits_root(limits, variant->precision, config->value[lanes]);
    return (before == 0) == (config->value[rsqrt] == 0);
}

void gv_space_macros(const gv_space *space, const gv_config *config, char *text, size_t size)
{
    size_t used = 0;
    if (size > 0)
        text[0] = '\0';
    for (int t = 0; t < space->n_tunables && used < size; t++) {
        char upper[64];
        size_t k = 0;
        if (!space->tunable[t].macro)
            continue;
        for (; space->tunable[t].name[k] && k + 1 < sizeof upper; k++)
            upper[k] = (char)toupper((unsigned char)space->tunable[t].name[k]);
        upper[k] = '\0';
        used += (size_t)snprintf(text + used, size - used, " -DGV_%s=%d", upper, config->value[t]);
    }
}

void gv_variant_set(gv_variant *variant, int order, gravel_precision precision, unsigned features)
{
    memset(variant, 0, sizeof *variant);
    snprintf(variant->name, sizeof variant->name, "%s%d", gravel_precision_name(precision), order);
    variant->order = order;
    variant->precision = precision;
    variant->features = features;
}

int gv_variant_parse(const char *name, gv_variant *variant)
{
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++)
        for (int order = 2; order <= 6; order += 2) {
            gv_variant_set(variant, order, (gravel_precision)p, 0);
            if (strcmp(variant->name, name) == 0)
                return 1;
        }
    return 0;
}

const char *gravel_precision_name(gravel_precision precision)
{
    static const char *const name[] = {"sp", "ds", "dp"};
    return precision >= GRAVEL_SP && precision <= GRAVEL_DP ? name[precision] : "?";
}

const char *gravel_origin_name(gravel_origin origin)
{
    static const char *const name[] = {"caller",          "user profile", "shipped profile", "family profile",
                                       "vendor and type", "type",         "built-in"};
    return origin >= GRAVEL_ORIGIN_CALLER && origin <= GRAVEL_ORIGIN_BUILT_IN ? name[origin] : "?";
}
