/* Forces of an integrator by several devices: life, direct sums. */
#include "host/several/share.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/options.h"
#include "host/direct/take.h"

void gravel_several_share_options_init(gravel_several_share_options *options)
{
    *options = (gravel_several_share_options)GRAVEL_SEVERAL_SHARE_OPTIONS_INIT;
}

/* -------------------------------------------------------------------- life */

gravel_status gravel_several_share_create(gravel_several_share **share, const gravel_several_share_options *options)
{
    gravel_several_share_options taken = GRAVEL_SEVERAL_SHARE_OPTIONS_INIT;
    gravel_several_options o = GRAVEL_SEVERAL_OPTIONS_INIT;
    gravel_tree_options tree = GRAVEL_TREE_OPTIONS_INIT;
    if (!share)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_share_create: no place for the result");
    *share = NULL;
    gravel_status status = gv_options_take(&taken, sizeof taken, options, "gravel_several_share_options");
    if (!status)
        status = gv_options_take(&tree, sizeof tree, taken.tree, "gravel_tree_options");
    if (status)
        return status;
    gravel_several_share *s = calloc(1, sizeof *s);
    if (!s)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for a gravel_several_share");
    o.devices = taken.devices;
    o.context = taken.context;
    o.precision = taken.precision;
    o.all_devices = taken.all_devices;
    o.configuration = taken.configuration;
    o.host = GRAVEL_HOST_NEVER;
    s->precision = -1;
    s->all_devices = taken.all_devices;
    s->tree = tree;
    s->tree.configuration = NULL;
    if (tree.configuration && !(s->configuration = strdup(tree.configuration)))
        status = gv_fail(GRAVEL_ERR_MEMORY, "no host memory for a gravel_several_share");
    if (!status)
        status = gravel_several_create(&s->several, &o);
    if (status) {
        gravel_several_share_release(s);
        return status;
    }
    for (int m = 0; m < s->several->members; m++)
        s->worker[m] = (gv_worker){.context = s->several->member[m].context, .device = s->several->member[m].device};
    *share = s;
    return GRAVEL_OK;
}

void gv_share_drop(gravel_several_share *s)
{
    gv_share_finish(s);
    for (int k = 0; k < GV_SHARE_SETS; k++)
        gv_set_release(&s->set[k]);
    for (int m = 0; m < s->several->members; m++) {
        gravel_bodies_release(s->sinks[m]);
        gravel_list_release(s->list[m]);
        gv_buffer_release(&s->records[m]);
        gv_buffer_release(&s->address[m]);
        for (int k = 0; k < GV_SHARE_KERNELS; k++)
            if (s->kernel[m][k])
                clReleaseKernel(s->kernel[m][k]);
    }
    gv_buffer *const buffer[] = {&s->count, &s->total, &s->moved};
    for (size_t k = 0; k < sizeof buffer / sizeof buffer[0]; k++)
        gv_buffer_release(buffer[k]);
    gv_stage_release(s);
    free(s->walk.order);
    free(s->walk.mark);
    free(s->listed);
}

void gravel_several_share_release(gravel_several_share *s)
{
    if (!s)
        return;
    if (s->several)
        gv_share_drop(s);
    free(s->configuration);
    gravel_several_release(s->several);
    free(s);
}

gravel_context *gravel_several_share_get_context(gravel_several_share *s)
{
    return s ? s->several->member[0].context : NULL;
}

int gravel_several_share_get_device_count(const gravel_several_share *s)
{
    return s ? s->several->members : 0;
}

const gravel_device_info *gravel_several_share_get_device(const gravel_several_share *s, int device)
{
    return s ? gravel_several_get_device(s->several, device) : NULL;
}

void gravel_several_share_get_counts(const gravel_several_share *s, gravel_several_share_counts *counts)
{
    *counts = s ? s->counts : (gravel_several_share_counts){0};
}

/* ----------------------------------------------------------------- dealing */

/* Sinks by the speeds of the devices that are fastest together; *parts 0: the first device does it alone. */
static gravel_status deal(gravel_several_share *s, int order, size_t sinks, size_t sources,
                          gv_deal_part part[GV_MOST_MEMBERS], int *parts)
{
    gravel_several *several = s->several;
    size_t wide = 0;
    int answer;
    *parts = 0;
    if (several->members == 1)
        return GRAVEL_OK;
    gravel_status status = gv_share_choose(s, order, sinks, sources, &answer);
    if (status)
        return status;
    const gv_team *team = several->team[answer];
    for (int m = 0; m < team->members; m++) {
        const size_t from = sinks * wide / GV_DEAL_PERIOD;
        wide += team->width[m];
        part[m] = (gv_deal_part){team->index[m], from, sinks * wide / GV_DEAL_PERIOD - from};
    }
    *parts = team->members == 1 && team->index[0] == 0 ? 0 : team->members;
    return GRAVEL_OK;
}

gravel_status gv_share_need_listed(gravel_several_share *s, size_t count)
{
    if (s->listed && s->listed_room >= count)
        return GRAVEL_OK;
    free(s->listed);
    s->listed_room = count + count / 4 + 16;
    s->listed = malloc(s->listed_room * sizeof *s->listed);
    if (s->listed)
        return GRAVEL_OK;
    s->listed_room = 0;
    return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu addresses", count);
}

gravel_status gv_share_need_list(gravel_several_share *s, int member)
{
    const gv_worker *w = &s->worker[member];
    return s->list[member] ? GRAVEL_OK : gravel_list_create(&s->list[member], w->context, w->device);
}

/* Those that an integrator made exist on the device only. */
gravel_status gv_share_read_list(const gravel_list *list, uint32_t *address)
{
    if (!list->is_sent) {
        memcpy(address, list->few, list->count * sizeof *address);
        return GRAVEL_OK;
    }
    const cl_int code = clEnqueueReadBuffer(gv_worker_queue(&list->worker), list->address.mem, CL_TRUE, 0,
                                            list->count * sizeof *address, address, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "reading %zu addresses", list->count) : GRAVEL_OK;
}

/* ------------------------------------------------------------- direct sums */

/* One call's work. */
typedef struct work {
    gravel_several_share *s;
    gravel_direct *direct;
    const gravel_direct_call *call;
    gv_set *set;
    gv_deal_part part[GV_MOST_MEMBERS];
    int parts;
    size_t first;  /* of the sinks, unless they are listed */
    int is_listed; /* the addresses are in s->listed */
    gv_word result[4];
    int results;
    void *sent[GV_MOST_MEMBERS], *found[GV_MOST_MEMBERS]; /* of each part */
    gv_sending sending;
    cl_event read;              /* all was read */
    int other[GV_MOST_MEMBERS]; /* parts of other devices than the first */
} work;

/* What kernels look at of sinks that are no sources. */
enum { SINK_WORDS = 9 };
static const gv_word sink_word[SINK_WORDS] = {GV_WORD_ID,           GV_WORD_SOFTENING, GV_WORD_POSITION,
                                              GV_WORD_POSITION_LOW, GV_WORD_VELOCITY,  GV_WORD_VELOCITY_LOW,
                                              GV_WORD_ACCELERATION, GV_WORD_TIME,      GV_WORD_TIME_LOW};

static int is_own(const work *w)
{
    return w->call->sinks.bodies == w->call->sources.bodies;
}

/* Whether others can take part: forces of all bodies of a set into planes, without neighbours. */
static int can_share(const gravel_several_share *s, const gravel_direct_call *c)
{
    const gravel_bodies *sources = c->sources.bodies, *sinks = c->sinks.bodies;
    const int whole =
        sources &&
        (c->sources.kind == GRAVEL_VIEW_ALL ||
         (c->sources.kind == GRAVEL_VIEW_RANGE && c->sources.first == 0 && c->sources.count == sources->count));
    return whole && sinks && sources->worker.context == s->worker[0].context && sources->worker.device == 0 &&
           (c->sinks.kind != GRAVEL_VIEW_LIST || (sinks == sources && c->order == 2)) &&
           c->into == GRAVEL_INTO_PLANES && c->nearest == 0 && c->neighbour_capacity == 0 &&
           c->shape == GRAVEL_SHAPE_PLUMMER && !c->quadrupoles && !c->changes &&
           (c->order == 2 || c->order == 4 || c->order == 6);
}

static size_t result_size(const work *w)
{
    const size_t number = w->call->sinks.bodies->precision == GRAVEL_DP ? sizeof(double) : sizeof(float);
    return w->is_listed ? GV_FOUND_NUMBERS * number : (size_t)(4 * (w->results - 1) + 1) * number;
}

static size_t sink_size(const work *w)
{
    return is_own(w) ? 0 : gv_words_size(w->call->sinks.bodies, sink_word, SINK_WORDS);
}

/* The sources, and the sinks of each part, on their way to host memory. */
static gravel_status read_all(work *w)
{
    const size_t sink = sink_size(w);
    size_t others = 0;
    for (int p = 0; p < w->parts; p++)
        others += w->part[p].member > 0 ? w->part[p].count : 0;
    gravel_status status =
        gv_set_read(w->s, w->direct, w->call, w->part, w->parts, others * (sink + result_size(w)), &w->sending);
    for (int p = 0; p < w->parts && !status; p++) {
        const gv_deal_part *part = &w->part[p];
        if (part->member == 0 || part->count == 0)
            continue;
        w->sent[p] = gv_stage_take(w->s, part->count * sink);
        w->found[p] = gv_stage_take(w->s, part->count * result_size(w));
        if (sink > 0)
            status = gv_words_fetch(w->call->sinks.bodies, sink_word, NULL, SINK_WORDS, w->first + part->first,
                                    part->count, w->sent[p]);
    }
    const cl_command_queue queue = gv_worker_queue(&w->s->worker[0]);
    const cl_int code = status ? CL_SUCCESS : clEnqueueMarkerWithWaitList(queue, 0, NULL, &w->read);
    return code ? gv_fail_cl(code, "reading bodies") : status;
}

/* The part's sinks on its device; `sent`: in memory of the host, where they are others than the sources. */
static gravel_status place_sinks(work *w, int p, const void *sent, gravel_view *view)
{
    gravel_several_share *s = w->s;
    const gv_deal_part *part = &w->part[p];
    gravel_bodies *const all = part->member == 0 ? w->call->sinks.bodies : w->set->copy[part->member].bodies;
    gravel_status status = GRAVEL_OK;
    if (w->is_listed) {
        status = gv_share_need_list(s, part->member);
        if (!status)
            status = gravel_list_write(s->list[part->member], s->listed + part->first, part->count);
        *view = gravel_view_list(all, s->list[part->member]);
    } else if (part->member == 0 || is_own(w)) {
        *view = gravel_view_range(all, w->first + part->first, part->count);
    } else {
        status = gv_copy_make(s, part->member, w->call->sinks.bodies, part->count, &s->sinks[part->member]);
        if (!status)
            status = gv_words_write(w->call->sinks.bodies, s->sinks[part->member], sink_word, SINK_WORDS, 0,
                                    part->count, sent);
        *view = gravel_view_range(s->sinks[part->member], 0, part->count);
    }
    return status;
}

/* The first device, as soon as the others' bodies were read. */
static gravel_status start_first(work *w, int p)
{
    gravel_direct_call call = *w->call;
    gravel_status status = place_sinks(w, p, NULL, &call.sinks);
    return status ? status : gravel_direct_start(w->direct, &call, NULL);
}

/* The forces of a part, on their way to the host. */
static gravel_status read_found(work *w, int p, const gravel_view *sinks, void *to)
{
    const gv_deal_part *part = &w->part[p];
    const cl_command_queue queue = gv_worker_queue(&w->s->worker[part->member]);
    unsigned char *at = to;
    cl_int code = CL_SUCCESS;
    if (w->is_listed)
        return gv_found_read(w->s, part->member, sinks->bodies, sinks->list, part->count, to);
    for (int r = 0; r < w->results && !code; r++) {
        const size_t size = gv_word_size(sinks->bodies, w->result[r]);
        code = clEnqueueReadBuffer(queue, sinks->bodies->word[w->result[r]].mem, CL_FALSE, sinks->first * size,
                                   part->count * size, at, 0, NULL, NULL);
        at += part->count * size;
    }
    return code ? gv_fail_cl(code, "reading forces on %zu sinks", part->count) : GRAVEL_OK;
}

/* Bodies to a device, the forces of its part, and their way to the host: by a thread of its own. */
static gravel_status work_on(work *w, int p)
{
    const gv_deal_part *part = &w->part[p];
    gravel_several_share *s = w->s;
    gravel_direct *const direct = s->several->member[part->member].direct;
    gravel_direct_call call = *w->call;
    gravel_status status = gv_set_write(s, part->member, &w->sending);
    if (!status)
        status = place_sinks(w, p, w->sent[p], &call.sinks);
    call.sources = gravel_view_all(w->set->copy[part->member].bodies);
    if (!status)
        status = w->sending.is_predicted ? gv_direct_start_predicted(direct, &call)
                                         : gravel_direct_start(direct, &call, NULL);
    if (!status)
        status = read_found(w, p, &call.sinks, w->found[p]);
    const cl_int code = clFinish(gv_worker_queue(&s->worker[part->member]));
    return status ? status : code ? gv_fail_cl(code, "waiting for device %d", part->member) : GRAVEL_OK;
}

static gravel_status work_on_other(void *user, int k)
{
    work *w = user;
    return work_on(w, w->other[k]);
}

/* What another device has found, into the planes. */
static gravel_status finish_part(work *w, int p)
{
    const gv_deal_part *part = &w->part[p];
    gravel_bodies *const to = w->call->sinks.bodies;
    return w->is_listed ? gv_found_write(w->s, to, w->s->listed + part->first, part->count, w->found[p])
                        : gv_words_write(w->s->sinks[part->member] && !is_own(w) ? w->s->sinks[part->member]
                                                                                 : w->set->copy[part->member].bodies,
                                         to, w->result, w->results, w->first + part->first, part->count, w->found[p]);
}

/* The first device begins when what the others need was read from it; they go on while it works. */
static gravel_status start_parts(work *w)
{
    const cl_command_queue queue = gv_worker_queue(&w->s->worker[0]);
    int others = 0;
    gravel_status status = read_all(w);
    for (int p = 0; p < w->parts && !status; p++) {
        w->s->counts.sinks[w->part[p].member] += w->part[p].count;
        if (w->part[p].count > 0 && w->part[p].member > 0)
            w->other[others++] = p;
        else if (w->part[p].count > 0)
            status = start_first(w, p);
    }
    cl_int code = status ? CL_SUCCESS : clFlush(queue);
    if (!status && !code)
        code = clWaitForEvents(1, &w->read);
    if (w->read)
        clReleaseEvent(w->read);
    if (code)
        return gv_fail_cl(code, "reading bodies");
    return status ? status : gv_together(w->s->worker[0].context, others, work_on_other, w);
}

static gravel_status find_together(work *w)
{
    static const gv_word result[4] = {GV_WORD_ACCELERATION, GV_WORD_POTENTIAL, GV_WORD_JERK, GV_WORD_SNAP};
    const gravel_view *sinks = &w->call->sinks;
    gravel_status status = GRAVEL_OK;
    w->is_listed = sinks->kind == GRAVEL_VIEW_LIST;
    w->first = sinks->kind == GRAVEL_VIEW_RANGE ? sinks->first : 0;
    memcpy(w->result, result, sizeof result);
    w->results = 1 + w->call->order / 2;
    if (w->is_listed) {
        status = gv_share_need_listed(w->s, gravel_view_get_count(sinks));
        if (!status)
            status = gv_share_read_list(sinks->list, w->s->listed);
    }
    if (!status)
        status = start_parts(w);
    for (int p = 0; p < w->parts && !status; p++)
        if (w->part[p].count > 0 && w->part[p].member > 0)
            status = finish_part(w, p);
    if (status)
        gv_share_finish(w->s);
    else if (clFinish(gv_worker_queue(&w->s->worker[0]))) /* staging is free again */
        status = gv_fail_cl(CL_INVALID_COMMAND_QUEUE, "waiting for forces");
    for (int m = 0; m < GV_MOST_MEMBERS && status; m++)
        w->set->copy[m].is_fresh = 0;
    return status;
}

gravel_status gravel_several_share_forces(gravel_direct *direct, const gravel_direct_call *call, void *share)
{
    gravel_several_share *s = share;
    work w = {.s = s, .direct = direct};
    gravel_direct_call taken = GRAVEL_DIRECT_CALL_INIT;
    if (!s || !direct || !call)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_share_forces: no share, solver or call");
    gravel_status status = gv_options_take(&taken, sizeof taken, call, "gravel_direct_call");
    const size_t count = gravel_view_get_count(&taken.sinks);
    s->counts.calls++;
    w.call = &taken;
    if (!status && can_share(s, &taken)) {
        w.set = gv_share_find_set(s, taken.sources.bodies);
        if (count > 0)
            status = deal(s, taken.order, count, w.set->of->count, w.part, &w.parts);
        for (int m = 0; m < GV_MOST_MEMBERS && !taken.predict; m++) /* such bodies may have changed in any way */
            w.set->copy[m].is_fresh = 0;
    }
    if (status)
        return status;
    if (w.parts == 0) {
        s->counts.sinks[0] += count;
        return gravel_direct_start(direct, call, NULL);
    }
    s->counts.shared++;
    return find_together(&w);
}
