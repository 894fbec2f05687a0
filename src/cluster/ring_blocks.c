/* Bodies on their way round: from a device to the memory of its machine, from there to others as visitors. */
#include "cluster/ring.h"

#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------- blocks */

static gravel_status add_plane(gv_ring_round *t, gravel_plane plane)
{
    gravel_bodies *from = t->call->sources.bodies;
    const int low = gravel_bodies_get_precision(from) == GRAVEL_DS &&
                    (plane == GRAVEL_POSITION || plane == GRAVEL_VELOCITY || plane == GRAVEL_TIME);
    gravel_status status = GRAVEL_OK;
    for (int k = 0; k <= low && !status; k++) {
        gravel_cl_plane at;
        status = gravel_bodies_get_cl_plane(from, plane, k, &at);
        if (status)
            break;
        t->word[t->words++] = (gv_ring_word){plane, k, at.components * at.number_size};
        t->bytes += at.components * at.number_size;
    }
    return status;
}

gravel_status gv_ring_choose_words(gv_ring_round *t)
{
    static const gravel_plane derivative[] = {GRAVEL_VELOCITY, GRAVEL_ACCELERATION, GRAVEL_JERK, GRAVEL_SNAP,
                                              GRAVEL_CRACKLE};
    const int order = t->call->order;
    const int derivatives = t->call->predict ? (order == 6 ? 5 : 4) : order / 2 - 1;
    gravel_status status = add_plane(t, GRAVEL_POSITION);
    for (int k = 0; k < derivatives && !status; k++)
        status = add_plane(t, derivative[k]);
    if (!status && t->call->predict)
        status = add_plane(t, GRAVEL_TIME);
    return status ? status : add_plane(t, GRAVEL_ID);
}

unsigned char *gv_ring_block_at(const gravel_cluster_ring *r, const gv_ring_round *t, int slot, int number)
{
    const gv_near *near = &r->staging.near;
    return near->memory + (size_t)(slot * near->who.size + number) * t->room;
}

gravel_status gv_ring_read_own(gravel_cluster_ring *r, const gv_ring_round *t)
{
    gv_staging *s = &r->staging;
    const size_t n = r->share[r->cluster->rank].count;
    unsigned char *to = gv_ring_block_at(r, t, 0, s->near.who.rank);
    cl_int code = gv_staging_order(s->compute, s->down);
    for (int k = 0; k < t->words && n > 0 && !code; k++) {
        gravel_cl_plane plane;
        const gravel_status status =
            gravel_bodies_get_cl_plane(t->call->sources.bodies, t->word[k].plane, t->word[k].number, &plane);
        if (status)
            return status;
        code = clEnqueueReadBuffer(s->down, plane.buffer, CL_FALSE, 0, n * t->word[k].bytes, to, 0, NULL, NULL);
        to += n * t->word[k].bytes;
    }
    if (!code)
        code = clFlush(s->down);
    return code ? gv_cluster_fail_cl(code, "reading bodies") : GRAVEL_OK;
}

/* The queue of writes waits for what may still use the set. */
static gravel_status free_visitors(gravel_cluster_ring *r, gv_ring_round *t, int owner)
{
    const gravel_frame *frame = &r->share[owner].frame;
    gravel_bodies *v = r->visitors[t->turn % 2];
    cl_event *done = &t->done[t->turn % 2];
    const size_t count = gravel_bodies_get_count(v);
    gravel_frame now;
    gravel_status status = gravel_bodies_get_frame(v, &now);
    cl_int code = CL_SUCCESS;
    if (!status && memcmp(&now, frame, sizeof now) != 0) { /* an empty set has nothing to convert */
        status = gravel_bodies_resize(v, 0);
        if (!status)
            status = gravel_bodies_set_frame(v, frame);
        if (!status)
            status = gravel_bodies_resize(v, count);
        if (!status)
            code = gv_staging_order(r->staging.compute, r->staging.up);
    } else if (!status && *done) {
        code = clEnqueueBarrierWithWaitList(r->staging.up, 1, done, NULL);
    }
    if (*done)
        clReleaseEvent(*done);
    *done = NULL;
    return status ? status : code ? gv_cluster_fail_cl(code, "waiting for visitors") : GRAVEL_OK;
}

gravel_status gv_ring_write_visitors(gravel_cluster_ring *r, gv_ring_round *t, const unsigned char *from, int owner)
{
    gv_staging *s = &r->staging;
    gravel_bodies *v = r->visitors[t->turn % 2];
    const size_t n = r->share[owner].count;
    gravel_status status = free_visitors(r, t, owner);
    cl_int code = CL_SUCCESS;
    for (int k = 0; k < t->words && !status && !code; k++) {
        gravel_cl_plane plane;
        status = gravel_bodies_get_cl_plane(v, t->word[k].plane, t->word[k].number, &plane);
        if (!status)
            code = clEnqueueWriteBuffer(s->up, plane.buffer, CL_FALSE, 0, n * t->word[k].bytes, from, 0, NULL, NULL);
        from += n * t->word[k].bytes;
    }
    for (int k = 0; k < t->words && !status; k++)
        gravel_bodies_touch(v, t->word[k].plane);
    if (!status)
        gravel_bodies_touch(v, GRAVEL_MASS);
    if (!status && !code)
        code = gv_staging_order(s->up, s->compute);
    return status ? status : code ? gv_cluster_fail_cl(code, "writing visitors") : GRAVEL_OK;
}

/* ---------------------------------------------------------------------- room */

gravel_status gv_ring_need_numbers(double **place, size_t *size, size_t wanted)
{
    if (*place && *size >= wanted)
        return GRAVEL_OK;
    free(*place);
    *size = wanted + wanted / 4 + 16;
    *place = malloc(*size * sizeof **place);
    if (*place)
        return GRAVEL_OK;
    *size = 0;
    return gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu numbers", wanted);
}

/* Visitors have room for the most bodies of a rank, and their planes: blocks come without waiting for the device. */
static gravel_status need_visitors(gravel_cluster_ring *r, const gv_ring_round *t, size_t most)
{
    gravel_bodies_options o = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_status status = GRAVEL_OK;
    gravel_cl_plane plane;
    o.precision = gravel_bodies_get_precision(t->call->sources.bodies);
    for (int k = 0; k < 2 && !status && r->cluster->size > 1; k++) {
        if (!r->visitors[k] || gravel_bodies_get_precision(r->visitors[k]) != o.precision) {
            gravel_bodies_release(r->visitors[k]);
            status = gravel_bodies_create(&r->visitors[k], r->context, &o);
        }
        if (!status && gravel_bodies_get_count(r->visitors[k]) < most)
            status = gravel_bodies_resize(r->visitors[k], most);
        for (int p = 0; p < t->words && !status; p++)
            status = gravel_bodies_get_cl_plane(r->visitors[k], t->word[p].plane, t->word[p].number, &plane);
    }
    return status;
}

gravel_status gv_ring_need_room(gravel_cluster_ring *r, gv_ring_round *t)
{
    const gv_machine_ranks *who = &r->staging.near.who;
    const size_t n = gravel_view_get_count(&t->call->sinks), line = 64;
    size_t most = 1;
    for (int k = 0; k < r->cluster->size; k++)
        most = r->share[k].count > most ? r->share[k].count : most;
    t->room = (most * t->bytes + line - 1) / line * line;
    gravel_status status = need_visitors(r, t, most);
    if (!status && t->sum)
        status = gv_ring_need_numbers(&r->part, &r->part_size, GV_RING_RESULTS * (n + 1));
    status = gravel_cluster_agree(r->cluster, status);
    if (!status) /* a rank alone, which `who` may become, needs three of its own, too */
        status = gv_staging_need(&r->staging, t->room * (size_t)(who->machines > 1 ? 3 * who->size : who->size));
    if (!status && who->machines > 1) /* it has become one */
        status = gv_staging_need(&r->staging, t->room * (size_t)(3 * who->size));
    return status;
}
