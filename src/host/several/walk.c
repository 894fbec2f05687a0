/* Walks through a tree for an integrator: every device has all bodies and a tree of its own, and walks for a stretch of
 * the space-filling curve.  A thread for each device, since building waits for the number of cells. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/clock.h"
#include "host/base/options.h"
#include "host/device/device.h"
#include "host/program/cache.h"
#include "host/program/program.h"
#include "host/several/share.h"
#include "host/tree/tree.h"

/* One call's work. */
typedef struct walking {
    gravel_several_share *s;
    gravel_tree *tree;
    const gravel_tree_call *call;
    gv_set *set;
    size_t count;      /* of the sinks */
    uint32_t *address; /* the block's, or NULL: all bodies */
    gv_word word[3];   /* that are sent */
    int words;
    int keeps[GV_MOST_MEMBERS]; /* the device keeps its cells */
    void *planes, *found[GV_MOST_MEMBERS];
} walking;

static size_t found_size(const walking *w)
{
    return GV_FOUND_NUMBERS * (w->set->of->precision == GRAVEL_DP ? sizeof(double) : sizeof(float));
}

/* ------------------------------------------------------------------- trees */

static gravel_status make_tree(walking *w, int m)
{
    gv_copy *c = &w->set->copy[m];
    gravel_tree_options o = w->s->tree;
    const gravel_view all = gravel_view_all(c->bodies);
    if (c->tree)
        return GRAVEL_OK;
    o.device = w->s->worker[m].device;
    o.configuration = w->s->configuration;
    c->build = 0;
    gravel_status status = gravel_tree_create(&c->tree, w->s->worker[m].context, &o);
    return status ? status : gravel_tree_set_sources(c->tree, &all);
}

/* Bodies and tree of a device as they are now. */
static gravel_status bring(void *user, int m)
{
    walking *w = user;
    gv_copy *c = &w->set->copy[m];
    gravel_bodies *of = w->set->of;
    if (m == 0)
        return gv_tree_update_whole(w->tree, w->call->moved);
    gravel_status status = gv_words_write(of, c->bodies, w->word, w->words, 0, of->count, w->planes);
    if (!status)
        status = make_tree(w, m);
    return status ? status : gv_tree_update_whole(c->tree, w->keeps[m] ? GRAVEL_TREE_REFIT : GRAVEL_TREE_REBUILD);
}

/* Positions of all bodies on all devices, and trees of them.  Cells are kept where those of the first device are, and
 * were made since those were: so bits do not depend on what was shared before a build. */
static gravel_status bring_all(walking *w)
{
    gravel_several_share *s = w->s;
    gravel_bodies *of = w->set->of;
    w->words = 0;
    w->word[w->words++] = GV_WORD_POSITION;
    if (w->tree->options.precision != GRAVEL_SP) /* else trees look at high words only */
        w->word[w->words++] = GV_WORD_POSITION_LOW;
    if (w->call->last)
        w->word[w->words++] = GV_WORD_ACCELERATION;
    const size_t bytes = of->count * gv_words_size(of, w->word, w->words);
    gravel_status status = gv_stage_reserve(s, bytes + w->count * found_size(w));
    if (status)
        return status;
    w->planes = gv_stage_take(s, bytes);
    status = gv_words_read(of, w->word, w->words, 0, of->count, w->planes);
    for (int m = 1; m < s->several->members && !status; m++)
        status = gv_copy_fit(s, m, of, &w->set->copy[m]);
    const uint64_t before = w->tree->build;
    for (int m = 1; m < s->several->members; m++)
        w->keeps[m] = w->call->moved == GRAVEL_TREE_REFIT && w->tree->built && w->set->copy[m].build == before;
    if (!status)
        status = gv_together(s->worker[0].context, s->several->members, bring, w);
    for (int m = 1; m < s->several->members; m++) /* cells of an earlier build serve no longer */
        w->set->copy[m].build = status || (w->keeps[m] && w->tree->build != before) ? 0 : w->tree->build;
    return status;
}

/* ----------------------------------------------------------------- dealing */

static gravel_status need_order(walking *w)
{
    gv_share_walk *k = &w->s->walk;
    const size_t n = w->set->of->count;
    gravel_status status = GRAVEL_OK;
    if (k->bodies != n) {
        free(k->order);
        free(k->mark);
        k->order = malloc(n * sizeof *k->order);
        k->mark = calloc(n, sizeof *k->mark);
        k->bodies = k->order && k->mark ? n : 0;
        k->tree = NULL;
        if (k->bodies != n)
            return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for the order of %zu bodies", n);
    }
    if (k->tree != w->tree || k->build != w->tree->build)
        status = gravel_tree_read_order(w->tree, k->order);
    k->tree = status ? NULL : w->tree;
    k->build = w->tree->build;
    return status;
}

/* The sinks in key order, into s->listed. */
static gravel_status list_sinks(walking *w)
{
    gv_share_walk *k = &w->s->walk;
    uint32_t *const to = w->s->listed;
    size_t n = 0;
    gravel_status status = need_order(w);
    if (status)
        return status;
    for (size_t i = 0; w->address && i < w->count; i++)
        k->mark[w->address[i]] = 1;
    for (size_t i = 0; i < k->bodies; i++)
        if (!w->address || k->mark[k->order[i]])
            to[n++] = k->order[i];
    for (size_t i = 0; w->address && i < w->count; i++)
        k->mark[w->address[i]] = 0;
    return n == w->count ? GRAVEL_OK
                         : gv_fail(GRAVEL_ERR_INPUT, "a list of %zu sinks names some of them twice", w->count);
}

/* ----------------------------------------------------------------- walking */

static gravel_status walk(void *user, int m)
{
    walking *w = user;
    gravel_several_share *s = w->s;
    gv_stretch *stretch = &s->walk.stretch[m];
    gravel_bodies *const bodies = m == 0 ? w->set->of : w->set->copy[m].bodies;
    gravel_tree *const tree = m == 0 ? w->tree : w->set->copy[m].tree;
    gravel_tree_call call = *w->call;
    gravel_tree_counts counts;
    stretch->cost = 0;
    if (stretch->count == 0)
        return GRAVEL_OK;
    gravel_status status = gv_share_need_list(s, m);
    if (!status)
        status = gravel_list_write(s->list[m], s->listed + stretch->first, stretch->count);
    call.sinks = gravel_view_list(bodies, s->list[m]);
    call.moved = GRAVEL_TREE_AS_IS; /* the trees are as the bodies are */
    if (!status)
        status = gravel_tree_walk(tree, &call, NULL);
    if (!status && m > 0)
        status = gv_found_read(s, m, bodies, s->list[m], stretch->count, w->found[m]);
    if (!status)
        status = gravel_tree_get_counts(tree, &counts); /* waits */
    stretch->cost = status ? 0 : gv_stretch_cost(&counts);
    if (!status && clFinish(gv_worker_queue(&s->worker[m])))
        status = gv_fail_cl(CL_INVALID_COMMAND_QUEUE, "waiting for forces");
    return status;
}

static gravel_status find_together(walking *w)
{
    gravel_several_share *s = w->s;
    gv_share_walk *k = &s->walk;
    const int n = s->several->members;
    gravel_status status = gv_share_need_listed(s, 2 * w->count);
    w->address = NULL;
    if (!status && w->call->sinks.kind == GRAVEL_VIEW_LIST) {
        w->address = s->listed + w->count;
        status = gv_share_read_list(w->call->sinks.list, w->address);
    }
    if (!status && !k->has_speeds)
        status = gv_stretch_speeds(s->several, k->stretch);
    k->has_speeds = !status;
    if (!status)
        status = bring_all(w);
    if (!status)
        status = list_sinks(w);
    if (status)
        return status;
    gv_stretch_cut(k->stretch, n, w->count);
    for (int m = 0; m < n; m++) {
        w->found[m] = m > 0 ? gv_stage_take(s, k->stretch[m].count * found_size(w)) : NULL;
        s->counts.sinks[m] += k->stretch[m].count;
    }
    /* kernels are made by one thread */
    status = gv_share_use(s, w->set->of->precision);
    if (!status)
        status = gv_together(s->worker[0].context, n, walk, w);
    for (int m = 1; m < n && !status; m++)
        if (k->stretch[m].count > 0)
            status = gv_found_write(s, w->set->of, s->listed + k->stretch[m].first, k->stretch[m].count, w->found[m]);
    if (!status && clFinish(gv_worker_queue(&s->worker[0])))
        status = gv_fail_cl(CL_INVALID_COMMAND_QUEUE, "waiting for forces");
    gv_bodies_changed(w->set->of, GRAVEL_ACCELERATION);
    gv_bodies_changed(w->set->of, GRAVEL_POTENTIAL);
    return status;
}

/* ---------------------------------------------------------------- the rule */

static gravel_status walk_alone(walking *w)
{
    gravel_status status = gv_tree_update_whole(w->tree, w->call->moved);
    return status ? status : gravel_tree_walk(w->tree, w->call, NULL);
}

static int find_key(const walking *w, gv_digest *key)
{
    return gv_stretch_key(w->s->several, &w->s->tree, w->s->configuration, w->set->of->count, w->set->of->precision,
                          key);
}

/* Seconds of one walk of all sinks by the first device, and of what sharing takes more: the fastest of three. */
static gravel_status measure(walking *w, double *alone, double *more)
{
    enum { TRIES = 3 };
    const cl_command_queue queue = gv_worker_queue(&w->s->worker[0]);
    *alone = *more = INFINITY;
    gravel_status status = find_together(w); /* compiles and allocates */
    for (int k = 0; k < TRIES && !status; k++) {
        const double begin = gv_now();
        status = walk_alone(w);
        if (clFinish(queue))
            return gv_fail_cl(CL_INVALID_COMMAND_QUEUE, "waiting for forces");
        const double walked = gv_now();
        if (!status)
            status = bring_all(w);
        if (!status)
            status = list_sinks(w);
        *alone = fmin(*alone, walked - begin);
        *more = fmin(*more, gv_now() - walked);
    }
    for (int m = 0; m < w->s->several->members; m++) /* the first deal does not depend on whether it was measured */
        w->s->walk.stretch[m].cost = 0;
    return status;
}

/* Walks of s->walk.least sinks are worth sharing.  Measured in a walk of all sinks whose criterion does not look at
 * forces, so that it can be repeated; else an eighth of all. */
static gravel_status need_least(walking *w)
{
    gv_share_walk *k = &w->s->walk;
    const double n = (double)w->set->of->count;
    gravel_context *context = w->s->worker[0].context;
    double alone, more;
    unsigned char *kept = NULL;
    size_t size = 0;
    gv_digest key;
    gravel_status status = GRAVEL_OK;
    if (k->least > 0)
        return GRAVEL_OK;
    const int has_key = find_key(w, &key);
    if (has_key && gv_cache_load(context, "walk", &key, &kept, &size) && size == sizeof k->least) {
        memcpy(&k->least, kept, sizeof k->least);
    } else if (w->count == w->set->of->count && !w->call->last) {
        const gravel_several_share_counts counts = w->s->counts;
        status = measure(w, &alone, &more);
        w->s->counts = counts;
        k->least = status ? 0 : gv_stretch_least(n, w->s->several->members, alone, more);
        if (!status && has_key)
            gv_cache_agree(context, "walk", &key, &k->least, sizeof k->least);
    } else {
        k->least = fmax(1, n / 8);
    }
    free(kept);
    return status;
}

static int can_share(const gravel_several_share *s, const gravel_tree *tree, const gravel_tree_call *c)
{
    const gravel_bodies *b = tree->view.bodies;
    return s->several->members > 1 && b && tree->view.kind == GRAVEL_VIEW_ALL && c->sinks.bodies == b &&
           c->sinks.kind != GRAVEL_VIEW_RANGE && b->count > 0 && b->worker.context == s->worker[0].context &&
           b->worker.device == 0 && c->into == GRAVEL_INTO_PLANES && !c->groups && !c->points &&
           c->soften == GRAVEL_SOFTEN_EPS && c->moved != GRAVEL_TREE_AS_IS && c->shift[0] == 0 && c->shift[1] == 0 &&
           c->shift[2] == 0;
}

gravel_status gravel_several_share_walk(gravel_tree *tree, const gravel_tree_call *call, void *share)
{
    gravel_several_share *s = share;
    gravel_tree_call taken;
    gravel_tree_call_init(&taken);
    if (!s || !tree || !call)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_share_walk: no share, tree or call");
    walking w = {.s = s, .tree = tree, .call = &taken, .count = gravel_view_get_count(&call->sinks)};
    gravel_status status = gv_options_take(&taken, sizeof taken, call, "gravel_tree_call");
    s->counts.calls++;
    const int others = !status && w.count > 0 && can_share(s, tree, &taken);
    if (others)
        w.set = gv_share_find_set(s, tree->view.bodies);
    if (!status && others && !s->all_devices)
        status = need_least(&w);
    if (status)
        return status;
    if (!others || (!s->all_devices && (double)w.count < s->walk.least)) {
        s->counts.sinks[0] += w.count;
        return walk_alone(&w);
    }
    s->counts.shared++;
    status = find_together(&w);
    for (int m = 0; m < GV_MOST_MEMBERS && status; m++)
        w.set->copy[m].build = 0;
    return status;
}
