/* gravel tune --regret --calls: the sizes are those of the calls that programs made, written where GRAVEL_CALLS_DIR
 * asked for it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_tune_regret.h"
#include "host/profile/call_sizes.h"
#include "tuner/session.h"

#define COMMAND "gravel tune"

/* Pairs that a compute unit does in the time that a call of one sink takes to start, about: for the order only. */
#define START_PAIRS 10000.0

typedef struct weighted {
    gv_call_size size;
    double pairs; /* of all its calls, starts counted as pairs */
} weighted;

static int heavier(const void *a, const void *b)
{
    const weighted *x = a, *y = b;

    return (x->pairs < y->pairs) - (x->pairs > y->pairs);
}

static int is_wanted(const gv_variant *v, const gv_variant *wanted, int n, const gv_limits *limits)
{
    int found = 0;

    for (int k = 0; k < n; k++)
        found |= strcmp(v->name, wanted[k].name) == 0;
    return found && (v->precision != GRAVEL_DP || limits->info.has_fp64);
}

static int same_block(const gv_variant *a, const gv_variant *b)
{
    return a->features == b->features && strcmp(a->name, b->name) == 0;
}

/* Those before number k that are of its block. */
static int earlier(const weighted *list, int k)
{
    int n = 0;

    for (int i = 0; i < k; i++)
        n += same_block(&list[i].size.variant, &list[k].size.variant);
    return n;
}

static gravel_status fill_block(const weighted *list, int first, int n, regret_block *block)
{
    const gv_variant *variant = &list[first].size.variant;
    int wanted = 0;

    for (int k = first; k < n; k++)
        wanted += same_block(&list[k].size.variant, variant);
    gravel_status status = gv_regret_block_make(block, variant, wanted, 1);
    if (status != GRAVEL_OK)
        return status;
    wanted = 0;
    block->part = 0;
    for (int k = first; k < n; k++) {
        const gv_call_size *size = &list[k].size;

        if (!same_block(&size->variant, variant))
            continue;
        block->task[wanted] =
            (gv_task){.kernel = "direct", .variant = size->variant, .sinks = size->sinks, .sources = size->sources};
        block->calls[wanted++] = size->calls;
        block->part += list[k].pairs;
    }
    return GRAVEL_OK;
}

static gravel_status fill_blocks(weighted *list, int n, regret_result *r)
{
    gravel_status status = GRAVEL_OK;

    r->block = calloc((size_t)n, sizeof *r->block);
    if (!r->block)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the points of a regret");
    for (int k = 0; k < n && status == GRAVEL_OK; k++) {
        if (earlier(list, k) > 0)
            continue;
        status = fill_block(list, k, n, &r->block[r->n_blocks++]);
        r->wanted += r->block[r->n_blocks - 1].wanted;
    }
    return status;
}

static gravel_status tell_none(const tune_options *o, const gv_limits *limits, int read, int others)
{
    char of_others[64] = "";

    if (others > 0)
        snprintf(of_others, sizeof of_others, " (%d file%s of other devices)", others, others == 1 ? " is" : "s are");
    return gv_fail(GRAVEL_ERR_ARGUMENT, "%s has no calls of %s%s%s: run a program with GRAVEL_CALLS_DIR=FOLDER first",
                   o->calls, limits->info.name, read > 0 ? " in these variants" : "", of_others);
}

gravel_status gv_regret_blocks_of_calls(const tune_options *o, const gv_limits *limits, regret_result *result)
{
    gv_variant variant[GV_TUNE_VARIANTS];
    const int n_variants = gv_tune_variants(o, variant, GV_TUNE_VARIANTS);
    gv_call_sizes sizes = GV_CALL_SIZES_INIT;
    weighted *list = NULL;
    int others, n = 0;
    gravel_status status = n_variants > 0 ? gv_call_sizes_read(o->calls, limits->info.name, &sizes, &others)
                                          : gv_fail(GRAVEL_ERR_ARGUMENT, "there is nothing to measure");

    if (status == GRAVEL_OK && !(list = malloc((size_t)(sizes.n + 1) * sizeof *list)))
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for the sizes of calls");
    for (int k = 0; k < sizes.n && status == GRAVEL_OK; k++) {
        const gv_call_size *s = &sizes.size[k];

        if (is_wanted(&s->variant, variant, n_variants, limits))
            list[n++] = (weighted){*s, (double)s->calls * ((double)s->sinks * (double)s->sources +
                                                           START_PAIRS * limits->info.compute_units)};
    }
    if (status == GRAVEL_OK && n == 0)
        status = tell_none(o, limits, sizes.n, others);
    for (int k = 0; k < n; k++)
        result->calls += (double)list[k].size.calls;
    if (status == GRAVEL_OK) {
        qsort(list, (size_t)n, sizeof *list, heavier);
        status = fill_blocks(list, n, result);
    }
    free(list);
    gv_call_sizes_free(&sizes);
    return status;
}

/* Kernel times of the calls whose point is decided. */
typedef struct totals {
    double all, calls; /* all that were asked for; those whose times are added */
    double choice_s, best_s, default_s;
    int sizes;
} totals;

static totals add_up(const regret_result *r)
{
    totals t = {r->calls, 0, 0, 0, 0, 0};

    for (int b = 0; b < r->n_blocks; b++)
        for (int k = 0; k < r->block[b].n; k++) {
            const gv_regret_point *p = &r->block[b].point[k];
            const double calls = (double)r->block[b].calls[k];

            if (!p->decided || !isfinite(p->default_s))
                continue;
            t.sizes++;
            t.calls += calls;
            t.choice_s += calls * p->choice_s;
            t.best_s += calls * p->best_s;
            t.default_s += calls * p->default_s;
        }
    return t;
}

cJSON *gv_regret_json_of_calls(const regret_result *result)
{
    const totals t = add_up(result);
    cJSON *object = cJSON_CreateObject();

    cJSON_AddNumberToObject(object, "sizes", t.sizes);
    cJSON_AddNumberToObject(object, "calls", t.calls);
    cJSON_AddNumberToObject(object, "all_calls", t.all);
    gv_json_number(object, "choice_s", t.choice_s);
    gv_json_number(object, "best_s", t.best_s);
    gv_json_number(object, "default_s", t.default_s);
    return object;
}

void gv_regret_tell_calls(const regret_result *result)
{
    const totals t = add_up(result);

    if (t.sizes > 0)
        gv_say(
            COMMAND,
            "%.6g of %.6g calls, of %d size%s: the kernels take %.3g s, %.3f of the time of the best that was timed, "
            "%.3f of the default's",
            t.calls, t.all, t.sizes, t.sizes == 1 ? "" : "s", t.choice_s, t.choice_s / t.best_s,
            t.choice_s / t.default_s);
}
