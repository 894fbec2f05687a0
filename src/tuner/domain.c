/* The valid points of a space, listed once per variant. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/search.h"

#define MAX_CODES (64ull << 20)
#define LARGE_PRODUCT 1e5 /* listing the nine million combinations of direct summation takes a second */

uint64_t gv_domain_code(const gv_domain *domain, const gv_point *point)
{
    uint64_t code = 0;

    for (int d = 0; d < domain->n; d++)
        code = code * (uint64_t)domain->n_values[d] + point->at[d];
    return code;
}

static int step(const gv_domain *domain, gv_point *point)
{
    for (int d = domain->n - 1; d >= 0; d--) {
        if (++point->at[d] < domain->n_values[d])
            return 1;
        point->at[d] = 0;
    }
    return 0;
}

gravel_status gv_domain_fill(gv_domain *domain, gv_domain_valid_fn valid, const void *user)
{
    gv_point point;
    size_t room = 0;
    uint64_t code = 0;

    domain->n_codes = 1;
    domain->n_points = 0;
    domain->point = NULL;
    domain->place = NULL;
    for (int d = 0; d < domain->n; d++) {
        domain->n_codes *= (uint64_t)domain->n_values[d];
        if (domain->n_codes > MAX_CODES)
            return gv_fail(GRAVEL_ERR_ARGUMENT, "the space has more than %llu points; narrow it", MAX_CODES);
    }
    domain->place = calloc(domain->n_codes > 0 ? domain->n_codes : 1, sizeof *domain->place);
    if (domain->place == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a space of %llu points", (unsigned long long)domain->n_codes);
    memset(&point, 0, sizeof point);
    do {
        if (domain->n_codes > 0 && valid(user, domain, &point)) {
            if (domain->n_points == room) {
                size_t more = room > 0 ? 2 * room : 1024;
                gv_point *grown = realloc(domain->point, more * sizeof *grown);

                if (grown == NULL) {
                    gv_domain_free(domain);
                    return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a space of %zu points", more);
                }
                domain->point = grown;
                room = more;
            }
            domain->point[domain->n_points++] = point;
            domain->place[code] = (uint32_t)domain->n_points;
        }
        code++;
    } while (step(domain, &point));
    return GRAVEL_OK;
}

void gv_domain_free(gv_domain *domain)
{
    free(domain->point);
    free(domain->place);
    domain->point = NULL;
    domain->place = NULL;
    domain->n_points = 0;
}

long gv_domain_find(const gv_domain *domain, const gv_point *point)
{
    for (int d = 0; d < domain->n; d++)
        if (point->at[d] >= domain->n_values[d])
            return -1;
    return (long)domain->place[gv_domain_code(domain, point)] - 1;
}

int gv_point_complexity(const gv_domain *domain, const gv_point *point)
{
    int sum = 0;

    for (int d = 0; d < domain->n; d++)
        sum += point->at[d];
    return sum;
}

void gv_domain_mark_kinds(gv_domain *domain, const gv_space *space)
{
    for (int d = 0; d < domain->n; d++) {
        for (int t = 0; t < space->n_tunables; t++) {
            const gv_tunable *tunable = &space->tunable[t];

            if (strcmp(domain->name[d], tunable->name) == 0)
                domain->unordered[d] = strcmp(tunable->unit, "kind") == 0 || strcmp(tunable->unit, "flavour") == 0;
        }
    }
}

void gv_domain_config(const gv_domain *domain, const gv_point *point, gv_config *config)
{
    memset(config, 0, sizeof *config);
    for (int d = 0; d < domain->n; d++)
        config->value[d] = domain->value[d][point->at[d]];
}

int gv_domain_point(const gv_domain *domain, const gv_config *config, gv_point *point)
{
    memset(point, 0, sizeof *point);
    for (int d = 0; d < domain->n; d++) {
        int v = 0;

        while (v < domain->n_values[d] && domain->value[d][v] != config->value[d])
            v++;
        if (v == domain->n_values[d])
            return 0;
        point->at[d] = (unsigned char)v;
    }
    return 1;
}

/* ------------------------------------------------------- of a kernel's space */

typedef struct space_view {
    const gv_space *space;
    const gv_variant *variant;
    const gv_limits *limits;
    int unlikely;
} space_view;

static int holds(const void *user, const gv_domain *domain, const gv_point *point)
{
    const space_view *view = user;
    gv_config config;

    gv_domain_config(domain, point, &config);
    return (view->unlikely ? gv_space_can_run : gv_space_check)(view->space, &config, view->variant, view->limits) ==
           NULL;
}

static gravel_status no_such_name(const gv_domain *domain, const char *name, int length)
{
    char known[256] = "";

    for (int d = 0; d < domain->n; d++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", d ? ", " : "", domain->name[d]);
    return gv_fail(GRAVEL_ERR_ARGUMENT, "there is no tunable '%.*s' (%s)", length, name, known);
}

/* "tile=64,128": keeps these values of the dimension. */
static gravel_status narrow(gv_domain *domain, const char *word, size_t length)
{
    const char *end = word + length, *at = memchr(word, '=', length);
    int d = 0, kept = 0, value[GV_MAX_VALUES];

    while (
        at != NULL && d < domain->n &&
        (strlen(domain->name[d]) != (size_t)(at - word) || strncmp(domain->name[d], word, (size_t)(at - word)) != 0)) {
        d++;
    }
    if (at == NULL)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "'%.*s': not name=value,value of a tunable", (int)length, word);
    if (d == domain->n)
        return no_such_name(domain, word, (int)(at - word));
    while (at < end) {
        char *stop;
        long wanted = strtol(at + 1, &stop, 10);
        int v = 0;

        while (v < domain->n_values[d] && domain->value[d][v] != wanted)
            v++;
        if (stop == at + 1 || stop > end || (stop < end && *stop != ',') || v == domain->n_values[d])
            return gv_fail(GRAVEL_ERR_ARGUMENT, "'%.*s': not values of %s", (int)length, word, domain->name[d]);
        if (kept < GV_MAX_VALUES)
            value[kept++] = (int)wanted;
        at = stop;
    }
    memcpy(domain->value[d], value, sizeof value[0] * (size_t)kept);
    domain->n_values[d] = kept;
    return GRAVEL_OK;
}

static double product(const gv_domain *domain)
{
    double codes = 1;

    for (int d = 0; d < domain->n; d++)
        codes *= domain->n_values[d];
    return codes;
}

/* 1 if `point` is valid, or becomes so when at most `changes` dimensions from `from` on (not `fixed`) are changed. */
static int reachable(const gv_domain *domain, gv_point *point, int fixed, int from, int changes, const space_view *view)
{
    if (holds(view, domain, point))
        return 1;
    for (int d = from; changes > 0 && d < domain->n; d++) {
        const unsigned char before = point->at[d];

        for (int v = 0; d != fixed && v < domain->n_values[d]; v++) {
            point->at[d] = (unsigned char)v;
            if (v != before && reachable(domain, point, fixed, d + 1, changes - 1, view))
                return 1;
        }
        point->at[d] = before;
    }
    return 0;
}

/* A large product is mostly made of values that this device cannot use at all (work-groups on a CPU, lanes on a GPU).
 * Values that no change of two others makes valid, from the built-in default on, are left out before the points are
 * listed. */
static void drop_unreachable(gv_domain *domain, const gv_config *built_in, const space_view *view)
{
    gv_point start;
    int keep[GV_MAX_TUNABLES][GV_MAX_VALUES];

    if (!gv_domain_point(domain, built_in, &start) || !holds(view, domain, &start))
        return;
    for (int d = 0; d < domain->n; d++) {
        for (int v = 0; v < domain->n_values[d]; v++) {
            gv_point point = start;

            point.at[d] = (unsigned char)v;
            keep[d][v] = reachable(domain, &point, d, 0, 2, view);
        }
    }
    for (int d = 0; d < domain->n; d++) {
        int kept = 0;

        for (int v = 0; v < domain->n_values[d]; v++) {
            domain->value[d][kept] = domain->value[d][v];
            kept += keep[d][v];
        }
        domain->n_values[d] = kept;
    }
}

gravel_status gv_domain_of_space(gv_domain *domain, const gv_space *space, const gv_variant *variant,
                                 const gv_limits *limits, const char *limit, int unlikely)
{
    const space_view view = {space, variant, limits, unlikely};
    int own_macros = 1; /* programs that name their own macros: any value may mean another one */

    for (int d = 0; d < space->n_tunables; d++)
        own_macros &= !space->tunable[d].macro;
    memset(domain, 0, sizeof *domain);
    domain->n = space->n_tunables;
    for (int d = 0; d < domain->n; d++) {
        const gv_tunable *tunable = &space->tunable[d];

        strncat(domain->name[d], tunable->name, sizeof domain->name[d] - 1);
        domain->builds[d] = tunable->macro || own_macros;
        domain->n_values[d] = tunable->n_values;
        memcpy(domain->value[d], tunable->values, sizeof tunable->values);
    }
    gv_domain_mark_kinds(domain, space);
    while (limit != NULL && *limit != '\0') {
        size_t length;
        gravel_status status;

        limit += strspn(limit, " ");
        length = strcspn(limit, " ");
        status = length > 0 ? narrow(domain, limit, length) : GRAVEL_OK;
        if (status != GRAVEL_OK)
            return status;
        limit += length;
    }
    if (product(domain) > LARGE_PRODUCT) {
        gv_config config;

        space->built_in(&config, variant, limits, 1 << 20, 1 << 20);
        drop_unreachable(domain, &config, &view);
    }
    return gv_domain_fill(domain, holds, &view);
}
