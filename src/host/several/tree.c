/* Tree code on several devices: every device has all bodies and a tree of its own, and walks for some of the sinks.  A
 * thread for each device, since building waits for the number of cells. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gravel/tree.h"
#include "host/base/options.h"
#include "host/base/threads.h"
#include "host/several/object.h"
#include "host/several/stretch.h"

/* What one device does in a call. */
typedef struct part {
    gravel_several_tree *owner;
    int member;
    gravel_tree *tree;
    gv_stretch *stretch; /* of the sinks */
} part;

struct gravel_several_tree {
    gravel_several devices; /* contexts and members only */
    part part[GV_MOST_MEMBERS];
    gv_stretch stretch[GV_MOST_MEMBERS];
    gravel_status (*work)(part *part); /* that is under way */
    size_t bodies;
    int is_ordered;   /* `order` is that of these bodies */
    uint32_t *order;  /* addresses in key order */
    uint32_t *listed; /* some sinks, likewise */
    uint32_t *slot;   /* of each body, its place in the results and one; 0: it is no sink */
    double *result;   /* four columns */
    size_t sinks;     /* of the last call */
    /* arguments of the call */
    const uint32_t *walks; /* its sinks in key order: `order` or `listed` */
    const gravel_sources *from;
    const gravel_forces *to;
    double eps;
};

static gravel_status work_on(void *user, int m)
{
    gravel_several_tree *t = user;
    return t->work(&t->part[m]);
}

/* On all devices at once. */
static gravel_status on_all(gravel_several_tree *t, gravel_status (*work)(part *p))
{
    t->work = work;
    return gv_together(t->devices.members, work_on, t);
}

/* ------------------------------------------------------------------------- life */

void gravel_several_tree_options_init(gravel_several_tree_options *options)
{
    *options = (gravel_several_tree_options)GRAVEL_SEVERAL_TREE_OPTIONS_INIT;
}

gravel_status gravel_several_tree_create(gravel_several_tree **tree, const gravel_several_tree_options *options)
{
    gravel_several_tree_options taken = GRAVEL_SEVERAL_TREE_OPTIONS_INIT;
    gravel_tree_options own = GRAVEL_TREE_OPTIONS_INIT;
    if (!tree)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_tree_create: no place for the result");
    *tree = NULL;
    gravel_status status = gv_options_take(&taken, sizeof taken, options, "gravel_several_tree_options");
    if (!status)
        status = gv_options_take(&own, sizeof own, taken.tree, "gravel_tree_options");
    if (status)
        return status;
    gravel_several_tree *t = calloc(1, sizeof *t);
    if (!t)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for a gravel_several_tree");
    t->devices.options.devices = taken.devices;
    status = gv_members_open(&t->devices, taken.context, 0);
    for (int m = 0; m < t->devices.members && !status; m++) {
        own.device = t->devices.member[m].device;
        t->part[m] = (part){.owner = t, .member = m, .stretch = &t->stretch[m]};
        status = gravel_tree_create(&t->part[m].tree, t->devices.member[m].context, &own);
    }
    if (!status)
        status = gv_stretch_speeds(&t->devices, t->stretch);
    if (status) {
        gravel_several_tree_release(t);
        return status;
    }
    *tree = t;
    return GRAVEL_OK;
}

void gravel_several_tree_release(gravel_several_tree *t)
{
    if (!t)
        return;
    for (int m = 0; m < t->devices.members; m++)
        gravel_tree_release(t->part[m].tree);
    gv_members_release(&t->devices);
    free(t->order);
    free(t->listed);
    free(t->slot);
    free(t->result);
    free(t);
}

int gravel_several_tree_get_device_count(const gravel_several_tree *t)
{
    return t ? t->devices.members : 0;
}

const gravel_device_info *gravel_several_tree_get_device(const gravel_several_tree *t, int device)
{
    return t ? gravel_several_get_device(&t->devices, device) : NULL;
}

/* ------------------------------------------------------------------------- bodies */

static gravel_status write_part(part *p)
{
    return gravel_tree_write(p->tree, p->owner->from);
}

static gravel_status need_room(gravel_several_tree *t, size_t n)
{
    if (n == t->bodies && t->order)
        return GRAVEL_OK;
    free(t->order);
    free(t->listed);
    free(t->slot);
    free(t->result);
    t->order = malloc(n * sizeof *t->order);
    t->listed = malloc(n * sizeof *t->listed);
    t->slot = malloc(n * sizeof *t->slot);
    t->result = malloc(4 * n * sizeof *t->result);
    if (t->order && t->listed && t->slot && t->result)
        return GRAVEL_OK;
    return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu sinks", n);
}

gravel_status gravel_several_tree_write(gravel_several_tree *t, const gravel_sources *bodies)
{
    if (!t || !bodies || bodies->count == 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_tree_write: no object or no bodies");
    const size_t before = t->bodies;
    gravel_status status = need_room(t, bodies->count);
    t->bodies = 0;
    t->is_ordered = 0;
    t->from = bodies;
    if (!status)
        status = on_all(t, write_part);
    t->from = NULL;
    if (status)
        return status;
    t->bodies = bodies->count;
    if (before != t->bodies)
        for (int m = 0; m < t->devices.members; m++)
            t->stretch[m].cost = 0;
    return GRAVEL_OK;
}

/* ------------------------------------------------------------------------- dealing */

static gravel_status build_part(part *p)
{
    gravel_status status = gravel_tree_build(p->tree);
    return status || p->member > 0 ? status : gravel_tree_read_order(p->tree, p->owner->order);
}

/* The sinks in key order; `address` NULL: all bodies. */
static gravel_status list_sinks(gravel_several_tree *t, const uint32_t *address, size_t count)
{
    t->walks = address ? t->listed : t->order;
    t->sinks = address ? 0 : t->bodies;
    if (!address)
        return GRAVEL_OK;
    memset(t->slot, 0, t->bodies * sizeof *t->slot);
    for (size_t k = 0; k < count; k++) {
        if (address[k] >= t->bodies)
            return gv_fail(GRAVEL_ERR_INPUT, "there is no body %u: there are %zu", (unsigned)address[k], t->bodies);
        if (t->slot[address[k]])
            return gv_fail(GRAVEL_ERR_INPUT, "body %u is listed twice", (unsigned)address[k]);
        t->slot[address[k]] = (uint32_t)k + 1;
    }
    for (size_t k = 0; k < t->bodies; k++)
        if (t->slot[t->order[k]])
            t->listed[t->sinks++] = t->order[k];
    return GRAVEL_OK;
}

/* ------------------------------------------------------------------------- forces */

static void put(const part *p, double *out, size_t stride, const double *from, size_t first, size_t count)
{
    const gravel_several_tree *t = p->owner;
    const uint32_t *const address = t->walks + p->stretch->first;
    const size_t step = stride ? stride : 1;
    const int is_all = t->walks == t->order;
    for (size_t k = first; out && k < first + count; k++)
        out[(is_all ? address[k] : t->slot[address[k]] - 1) * step] = from[k];
}

/* Results of a part to where the caller wants them. */
static void put_results(void *user, size_t first, size_t count)
{
    const part *p = user;
    const gravel_forces *f = p->owner->to;
    const size_t n = p->owner->sinks;
    const double *const from = p->owner->result + p->stretch->first;
    put(p, f->acc.x, f->acc.stride, from, first, count);
    put(p, f->acc.y, f->acc.stride, from + n, first, count);
    put(p, f->acc.z, f->acc.stride, from + 2 * n, first, count);
    put(p, f->pot, f->pot_stride, from + 3 * n, first, count);
}

static gravel_status walk_part(part *p)
{
    enum { GRAIN = 16384 };
    gravel_several_tree *t = p->owner;
    gravel_context *context = t->devices.member[p->member].context;
    const size_t n = t->sinks;
    double *const x = t->result + p->stretch->first;
    const gravel_forces own = {.acc = {x, x + n, x + 2 * n, 1}, .pot = x + 3 * n};
    gravel_tree_counts counts;
    p->stretch->cost = 0;
    if (p->stretch->count == 0)
        return GRAVEL_OK;
    gravel_status status =
        gravel_tree_forces_active(p->tree, t->walks + p->stretch->first, p->stretch->count, t->eps, &own);
    if (!status)
        status = gravel_tree_get_counts(p->tree, &counts);
    if (status)
        return status;
    gv_parallel(p->stretch->count > GRAIN ? gv_context_pool(context) : NULL, p->stretch->count, GRAIN, put_results, p);
    p->stretch->cost = gv_stretch_cost(&counts);
    return GRAVEL_OK;
}

static gravel_status forces(gravel_several_tree *t, const uint32_t *address, size_t count, double eps,
                            const gravel_forces *to)
{
    gravel_status status = GRAVEL_OK;
    if (!t->is_ordered)
        status = on_all(t, build_part);
    t->is_ordered = !status;
    if (!status)
        status = list_sinks(t, address, count);
    if (status)
        return status;
    gv_stretch_cut(t->stretch, t->devices.members, t->sinks);
    t->eps = eps;
    t->to = to;
    return on_all(t, walk_part);
}

static gravel_status check(const gravel_several_tree *t, const gravel_forces *f)
{
    if (!t || !f)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_tree_forces: no object or no place for results");
    if (t->bodies == 0)
        return gv_fail(GRAVEL_ERR_STATE, "gravel_several_tree_forces: there are no bodies");
    if (f->jerk.x || f->jerk.y || f->jerk.z || f->snap.x || f->snap.y || f->snap.z || f->nearest_id ||
        f->nearest_address || f->nearest_distance || f->neighbour_count || f->neighbour_id || f->neighbour_address)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "a tree gives acceleration and potential");
    return GRAVEL_OK;
}

gravel_status gravel_several_tree_forces(gravel_several_tree *t, double eps, const gravel_forces *f)
{
    gravel_status status = check(t, f);
    if (!status && t->devices.members == 1) {
        t->stretch[0].count = t->bodies;
        return gravel_tree_forces(t->part[0].tree, eps, f);
    }
    return status ? status : forces(t, NULL, 0, eps, f);
}

gravel_status gravel_several_tree_forces_active(gravel_several_tree *t, const uint32_t *address, size_t count,
                                                double eps, const gravel_forces *f)
{
    gravel_status status = check(t, f);
    if (!status && !address && count > 0)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_tree_forces_active: no addresses");
    if (status || count == 0)
        return status;
    if (t->devices.members == 1) {
        t->stretch[0].count = count;
        return gravel_tree_forces_active(t->part[0].tree, address, count, eps, f);
    }
    return forces(t, address, count, eps, f);
}

size_t gravel_several_tree_get_sinks(const gravel_several_tree *t, int device)
{
    return t && device >= 0 && device < t->devices.members ? t->stretch[device].count : 0;
}
