/* The devices: a context for each, and one for all parts of a device, since they are cut from it together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/files.h"
#include "host/base/options.h"
#include "host/device/device.h"
#include "host/direct/count.h"
#include "host/direct/object.h"
#include "host/several/object.h"

typedef struct chosen {
    gv_choice choice[GV_MAX_CHOICES];
    int count;
    gv_found *found;
} chosen;

static gravel_status choose(const char *devices, chosen *c)
{
    int count = 0;
    gravel_device_info *list = NULL;
    c->found = NULL;
    gravel_status status = gv_device_find(&c->found, &count);
    if (status)
        return status;
    list = calloc((size_t)count, sizeof *list);
    if (!list)
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for the list of devices");
    for (int k = 0; k < count && !status; k++)
        list[k] = c->found[k].info;
    if (!status)
        status = gv_device_select_any(devices, list, count, c->choice, &c->count);
    if (!status && c->count > GV_MOST_MEMBERS)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "'%s' means %d devices; there may be %d", devices ? devices : "",
                         c->count, GV_MOST_MEMBERS);
    free(list);
    return status;
}

/* The k-th choice and all later ones of the same device, as options of one context. */
static gravel_status open_context(gravel_several *s, const gravel_context_options *options, const chosen *c, int k)
{
    gravel_context_options own = GRAVEL_CONTEXT_OPTIONS_INIT;
    char text[GV_MOST_MEMBERS * 24];
    size_t used = 0;
    int n = 0;
    gravel_status status = gv_options_take(&own, sizeof own, options, "gravel_context_options");
    if (status)
        return status;
    for (int i = k; i < c->count; i++) {
        if (c->choice[i].index != c->choice[k].index)
            continue;
        const char *const comma = n++ > 0 ? "," : "";
        used += (size_t)(c->choice[i].compute_units > 0
                             ? snprintf(text + used, sizeof text - used, "%s%d:%d", comma, c->choice[i].index,
                                        c->choice[i].compute_units)
                             : snprintf(text + used, sizeof text - used, "%s%d", comma, c->choice[i].index));
    }
    own.device = text;
    gravel_context *context;
    status = gravel_context_create(&context, &own);
    if (status)
        return status;
    s->context[s->contexts++] = context;
    for (int i = k, at = 0; i < c->count; i++)
        if (c->choice[i].index == c->choice[k].index)
            s->member[i] = (gv_member){.context = context, .device = at++};
    return GRAVEL_OK;
}

static gravel_status open_solver(const gravel_several *s, gv_member *m)
{
    gravel_direct_options o = GRAVEL_DIRECT_OPTIONS_INIT;
    o.order = 4;
    o.precision = s->options.precision;
    o.device = m->device;
    o.configuration = s->options.configuration;
    return gravel_direct_create(&m->direct, m->context, &o);
}

gravel_status gv_members_open(gravel_several *s, const gravel_context_options *options, int solvers)
{
    const char *devices = s->options.devices ? s->options.devices : gv_env("GRAVEL_DEVICES");
    chosen c = {.count = 0};
    gravel_status status = choose(devices ? devices : gv_env("GRAVEL_DEVICE"), &c);
    for (int k = 0; k < c.count && !status; k++)
        if (!s->member[k].context)
            status = open_context(s, options, &c, k);
    free(c.found);
    s->members = status ? 0 : c.count;
    for (int k = 0; k < s->members && solvers && !status; k++)
        status = open_solver(s, &s->member[k]);
    return status;
}

gravel_status gv_members_make_solvers(const gravel_several *s, gravel_direct *made[GV_MOST_MEMBERS])
{
    gravel_status status = GRAVEL_OK;
    for (int m = 0; m < s->members; m++)
        made[m] = NULL;
    for (int m = 0; m < s->members && !status; m++) {
        status = gravel_direct_create(&made[m], s->member[m].context, &s->member[m].direct->options);
        if (!status)
            gv_direct_count_not(made[m]);
    }
    return status;
}

void gv_members_swap_solvers(gravel_several *s, gravel_direct *other[GV_MOST_MEMBERS])
{
    for (int m = 0; m < s->members; m++) {
        gravel_direct *const own = s->member[m].direct;
        s->member[m].direct = other[m];
        other[m] = own;
    }
}

void gv_members_release(gravel_several *s)
{
    for (int k = 0; k < s->members; k++)
        gravel_direct_release(s->member[k].direct);
    for (int k = 0; k < s->contexts; k++)
        gravel_context_release(s->context[k]);
}

/* Bytes a source: the planes of the bodies, and the copy that is predicted. */
size_t gv_member_capacity(const gravel_several *s, int member)
{
    const gravel_device_info *info = gravel_several_get_device(s, member);
    const size_t word = s->options.precision == GRAVEL_DP ? 8 : 4, quads = 8 + 4, copy = 4 * 4 * word;
    const uint64_t all = info->global_memory / ((quads * 4 + 4) * word), one = info->max_allocation / copy;
    const uint64_t fits = all < one ? all : one;
    return (size_t)(fits < GV_MOST_BODIES ? fits : GV_MOST_BODIES);
}
