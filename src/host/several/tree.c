/* Tree code on several devices: every device has all bodies and a tree of its own, and walks for some of the sinks.  A
 * thread for each device, since building waits for the number of cells. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gravel/tree.h"
#include "host/base/clock.h"
#include "host/base/options.h"
#include "host/base/threads.h"
#include "host/program/cache.h"
#include "host/several/object.h"
#include "host/several/stretch.h"
#include "host/several/tree_deal.h"
#include "host/tree/tree.h"

/* What one device does in a call. */
typedef struct part {
    gravel_several_tree *owner;
    int member;
    gravel_tree *tree;
    gv_stretch *stretch;           /* of the sinks */
    const gv_force_ticket *forces; /* on them; NULL: there were none */
} part;

struct gravel_several_tree {
    gravel_several devices; /* contexts and members only */
    part part[GV_MOST_MEMBERS];
    gv_stretch stretch[GV_MOST_MEMBERS];
    gravel_status (*work)(part *part); /* that is under way */
    size_t bodies;
    int is_built;   /* trees and `places` are those of these bodies */
    gv_slot places; /* host side: of each body its rank on the curve */
    gv_tree_deal deal;
    gravel_tree_options options;
    char *configuration; /* of the options */
    int all_devices;
    double least;  /* sinks from which on sharing pays, of `least_of` bodies; 0: not known */
    int least_of;  /* power of two */
    int is_shared; /* all devices have the bodies, not the first alone */
    /* arguments of the call */
    const gravel_sources *from;
    gravel_frame frame;
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
    return gv_together(t->devices.member[0].context, t->devices.members, work_on, t);
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
    t->all_devices = taken.all_devices;
    t->options = own;
    if (own.configuration && !(t->configuration = strdup(own.configuration)))
        status = gv_fail(GRAVEL_ERR_MEMORY, "no host memory for a gravel_several_tree");
    if (!status)
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
    if (t->part[0].tree)
        gv_slot_release(&t->part[0].tree->worker, &t->places);
    gv_tree_deal_release(&t->deal);
    for (int m = 0; m < t->devices.members; m++)
        gravel_tree_release(t->part[m].tree);
    gv_members_release(&t->devices);
    free(t->configuration);
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

/* What was measured with as many bodies, nearly, holds. */
static void forget_rule(gravel_several_tree *t, size_t bodies)
{
    const int of = (int)ceil(log2((double)bodies));
    if (of != t->least_of)
        t->least = 0;
    t->least_of = of;
}

static gravel_status write_part(part *p)
{
    return gv_tree_write(p->tree, p->owner->from, &p->owner->frame);
}

gravel_status gravel_several_tree_write(gravel_several_tree *t, const gravel_sources *bodies)
{
    if (!t || !bodies || bodies->count == 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_tree_write: no object or no bodies");
    const size_t before = t->bodies;
    t->bodies = 0;
    t->is_built = 0;
    t->from = bodies;
    forget_rule(t, bodies->count);
    t->is_shared = t->all_devices || t->least == 0 || t->least <= (double)bodies->count;
    gravel_status status = gv_tree_frame(t->part[0].tree, bodies, &t->frame);
    if (!status)
        status = t->is_shared ? on_all(t, write_part) : write_part(&t->part[0]);
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
    return status || p->member > 0 ? status : gv_tree_read_places(p->tree, &p->owner->places);
}

/* The sinks of each device; `address` NULL: of all bodies. */
static gravel_status deal_sinks(gravel_several_tree *t, const uint32_t *address, size_t count)
{
    const int n = t->devices.members;
    double edge[GV_MOST_MEMBERS + 1];
    gv_stretch_cut(t->stretch, n, count);
    for (int m = 0; m <= n; m++)
        edge[m] = m == n ? 1 : (double)t->stretch[m].first / (double)count;
    gravel_status status = gv_tree_deal_make(&t->deal, gv_context_pool(t->devices.member[0].context), n, edge,
                                             t->places.host, t->bodies, address, count);
    for (int m = 0; m < n && !status; m++) {
        t->stretch[m].first = t->deal.first[m];
        t->stretch[m].count = t->deal.first[m + 1] - t->deal.first[m];
    }
    return status;
}

/* ------------------------------------------------------------------------- forces */

static gravel_status walk_part(part *p)
{
    const gravel_several_tree *t = p->owner;
    gv_stretch *s = p->stretch;
    gravel_tree_counts counts;
    p->forces = NULL;
    s->cost = 0;
    if (s->count == 0)
        return GRAVEL_OK;
    gravel_status status = gv_tree_compute_listed(p->tree, t->deal.address + s->first, s->count, t->eps);
    if (!status)
        status = gv_tree_fetch_ticket(p->tree->last);
    if (!status)
        status = gravel_tree_get_counts(p->tree, &counts);
    if (status)
        return status;
    p->forces = &((gv_tree_ticket *)p->tree->last)->forces;
    s->cost = gv_stretch_cost(&counts);
    return GRAVEL_OK;
}

static gravel_status find_together(gravel_several_tree *t, const uint32_t *address, size_t count, double eps,
                                   const gravel_forces *to)
{
    const gv_force_ticket *ticket[GV_MOST_MEMBERS];
    gravel_status status = address ? gv_tree_check_addresses(address, count, t->bodies) : GRAVEL_OK;
    if (!status && !t->is_built)
        status = on_all(t, build_part);
    if (status)
        return status;
    t->is_built = 1;
    t->eps = eps;
    status = deal_sinks(t, address, count);
    if (!status)
        status = on_all(t, walk_part);
    if (status)
        return status;
    for (int m = 0; m < t->devices.members; m++)
        ticket[m] = t->part[m].forces;
    gv_tree_deal_collect(&t->deal, gv_context_pool(t->devices.member[0].context), ticket, to);
    return GRAVEL_OK;
}

static gravel_status find_alone(gravel_several_tree *t, const uint32_t *address, size_t count, double eps,
                                const gravel_forces *to)
{
    for (int m = 0; m < t->devices.members; m++)
        t->stretch[m] = (gv_stretch){.count = m == 0 ? count : 0, .speed = t->stretch[m].speed};
    return address ? gravel_tree_forces_active(t->part[0].tree, address, count, eps, to)
                   : gravel_tree_forces(t->part[0].tree, eps, to);
}

/* Seconds of a call on all bodies by the first device, and by all of them, trees built anew: the second of each, since
 * the first compiles and allocates. */
static gravel_status measure(gravel_several_tree *t, double eps, const gravel_forces *to, double *alone,
                             double *together)
{
    gravel_status status = GRAVEL_OK;
    *alone = *together = 0;
    for (int k = 0; k < 2 && !status; k++) {
        const double begin = gv_now();
        t->is_built = 0;
        status = find_together(t, NULL, t->bodies, eps, to);
        const double shared = gv_now();
        if (!status)
            status = gravel_tree_build(t->part[0].tree);
        if (!status)
            status = find_alone(t, NULL, t->bodies, eps, to);
        *together = shared - begin;
        *alone = gv_now() - shared;
    }
    return status;
}

/* Calls on t->least sinks or more are shared: measured in the first call on all bodies, and kept; until then an eighth
 * of them. */
static gravel_status find_least(gravel_several_tree *t, int all, double eps, const gravel_forces *to, double *least)
{
    gravel_context *context = t->devices.member[0].context;
    const double n = (double)t->bodies;
    unsigned char *kept = NULL;
    double alone, together;
    size_t size = 0;
    gv_digest key;
    gravel_status status = GRAVEL_OK;
    *least = t->least > 0 ? t->least : fmax(1, n / 8);
    if (t->least > 0)
        return GRAVEL_OK;
    const int has_key =
        gv_stretch_key(&t->devices, &t->options, t->configuration, t->bodies, t->options.precision, &key);
    if (has_key && gv_cache_load(context, "calls", &key, &kept, &size) && size == sizeof t->least) {
        memcpy(&t->least, kept, sizeof t->least);
    } else if (all && t->options.mac != GRAVEL_TREE_LAST) { /* which looks at forces: calls cannot be repeated */
        status = measure(t, eps, to, &alone, &together);
        const double more = together - alone / t->devices.members;
        t->least = status ? 0 : gv_stretch_least(n, t->devices.members, alone, more);
        if (!status && has_key)
            gv_cache_agree(context, "calls", &key, &t->least, sizeof t->least);
    }
    free(kept);
    if (t->least > 0)
        *least = t->least;
    return status;
}

/* `address` NULL: on all bodies. */
static gravel_status forces(gravel_several_tree *t, const uint32_t *address, size_t count, double eps,
                            const gravel_forces *to)
{
    double least = 0;
    gravel_status status = GRAVEL_OK;
    if (!t->all_devices && t->devices.members > 1)
        status = find_least(t, !address, eps, to, &least);
    if (status)
        return status;
    return t->devices.members > 1 && t->is_shared && (double)count >= least ? find_together(t, address, count, eps, to)
                                                                            : find_alone(t, address, count, eps, to);
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
    return status ? status : forces(t, NULL, t->bodies, eps, f);
}

gravel_status gravel_several_tree_forces_active(gravel_several_tree *t, const uint32_t *address, size_t count,
                                                double eps, const gravel_forces *f)
{
    gravel_status status = check(t, f);
    if (!status && !address && count > 0)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_tree_forces_active: no addresses");
    return status || count == 0 ? status : forces(t, address, count, eps, f);
}

size_t gravel_several_tree_get_sinks(const gravel_several_tree *t, int device)
{
    return t && device >= 0 && device < t->devices.members ? t->stretch[device].count : 0;
}
