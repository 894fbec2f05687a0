#include "host/space.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int gv_space_index(const gv_space *space, const char *name)
{
    for (int t = 0; t < space->n_tunables; ++t)
        if (strcmp(space->tunable[t].name, name) == 0)
            return t;
    return -1;
}

static int in_table(const gv_tunable *tunable, int value)
{
    for (int v = 0; v < tunable->n_values; ++v)
        if (tunable->values[v] == value)
            return 1;
    return 0;
}

static const char *check(const gv_space *space, const gv_config *config, const gv_variant *variant,
                         const gv_limits *limits, int soft_too)
{
    for (int t = 0; t < space->n_tunables; ++t)
        if (!in_table(&space->tunable[t], config->value[t]))
            return "a value is not in the tunable's table";
    for (int c = 0; c < space->n_constraints; ++c)
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
        for (int v = 0; v < space->tunable[t].n_values; ++v)
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
            ++text;
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
    for (int t = 0; t < space->n_tunables && used < size; ++t)
        used += (size_t)snprintf(text + used, size - used, "%s%s=%d", t ? " " : "", space->tunable[t].name,
                                 config->value[t]);
}

void gv_space_macros(const gv_space *space, const gv_config *config, char *text, size_t size)
{
    size_t used = 0;
    if (size > 0)
        text[0] = '\0';
    for (int t = 0; t < space->n_tunables && used < size; ++t) {
        char upper[64];
        size_t k = 0;
        if (!space->tunable[t].macro)
            continue;
        for (; space->tunable[t].name[k] && k + 1 < sizeof upper; ++k)
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
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; ++p)
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
    static const char *const name[] = {"caller",          "user profile",    "shipped profile", "family profile",
                                       "vendor and type", "type", "built-in"};
    return origin >= GRAVEL_ORIGIN_CALLER && origin <= GRAVEL_ORIGIN_BUILT_IN ? name[origin] : "?";
}
