/* Copies of bodies on other devices: words as the devices hold them, through memory of the host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/bodies/transfer.h"
#include "host/device/device.h"
#include "host/direct/take.h"
#include "host/program/program.h"
#include "host/several/share.h"

/* All that a call may look at; the first ones where it does not predict. */
enum { WORDS = GV_SENT_WORDS, VELOCITY = 4, ACCELERATION = 6, PREDICTED = 7 };
static const gv_word looked_at[WORDS] = {GV_WORD_ID,           GV_WORD_SOFTENING, GV_WORD_POSITION,
                                         GV_WORD_POSITION_LOW, GV_WORD_VELOCITY,  GV_WORD_VELOCITY_LOW,
                                         GV_WORD_ACCELERATION, GV_WORD_JERK,      GV_WORD_SNAP,
                                         GV_WORD_CRACKLE,      GV_WORD_TIME,      GV_WORD_TIME_LOW};

/* ----------------------------------------------------------------- kernels */

static int is_cpu(const gravel_several_share *s, int member)
{
    return gv_worker_device(&s->worker[member])->info.type == GRAVEL_DEVICE_CPU;
}

size_t gv_share_group(const gravel_several_share *s)
{
    return is_cpu(s, 0) ? 1 : gv_device_group(&gv_worker_device(&s->worker[0])->info, 256);
}

size_t gv_share_items(const gravel_several_share *s)
{
    return is_cpu(s, 0) ? 4096 : 4;
}

gravel_status gv_share_kernel_need(gravel_several_share *s, int member, gv_share_kernel kernel, cl_kernel *made)
{
    static const char *const name[GV_SHARE_KERNELS] = {
        [GV_SHARE_COUNT] = "gv_moved_count",   [GV_SHARE_SCAN] = "gv_scan_rows",
        [GV_SHARE_LIST] = "gv_moved_list",     [GV_SHARE_TAKE] = "gv_moved_take",
        [GV_SHARE_PUT] = "gv_moved_put",       [GV_SHARE_FOUND_TAKE] = "gv_found_take",
        [GV_SHARE_FOUND_PUT] = "gv_found_put",
    };
    cl_kernel *const place = &s->kernel[member][kernel];
    char options[120];
    gravel_status status = GRAVEL_OK;
    snprintf(options, sizeof options, "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_THREADS=%zu -DGV_ITEMS=%zu", s->precision,
             gv_share_group(s), gv_share_items(s));
    if (!*place)
        status = gv_kernel_make(&s->worker[member], kernel == GV_SHARE_SCAN ? "lib/scan.cl" : "several/moved.cl",
                                options, name[kernel], place);
    *made = *place;
    return status;
}

gravel_status gv_share_use(gravel_several_share *s, gravel_precision precision)
{
    cl_kernel kernel;
    for (int m = 0; m < s->several->members && s->precision != (int)precision; m++)
        for (int k = 0; k < GV_SHARE_KERNELS; k++) {
            if (s->kernel[m][k])
                clReleaseKernel(s->kernel[m][k]);
            s->kernel[m][k] = NULL;
        }
    s->precision = (int)precision;
    gravel_status status = gv_share_kernel_need(s, 0, GV_SHARE_FOUND_PUT, &kernel);
    for (int m = 1; m < s->several->members && !status; m++)
        status = gv_share_kernel_need(s, m, GV_SHARE_FOUND_TAKE, &kernel);
    return status;
}

/* ------------------------------------------------------------------- words */

size_t gv_words_size(const gravel_bodies *b, const gv_word *word, int words)
{
    size_t bytes = 0;
    for (int w = 0; w < words; w++)
        bytes += b->word[word[w]].mem ? gv_word_size(b, word[w]) : 0;
    return bytes;
}

gravel_status gv_words_fetch(gravel_bodies *from, const gv_word *word, const cl_mem *mem, int words, size_t first,
                             size_t count, void *to)
{
    const cl_command_queue queue = gv_worker_queue(&from->worker);
    unsigned char *at = to;
    cl_int code = CL_SUCCESS;
    for (int w = 0; w < words && !code; w++) {
        const size_t size = gv_word_size(from, word[w]);
        const cl_mem of = mem ? mem[w] : from->word[word[w]].mem;
        if (!of || count == 0)
            continue;
        code = clEnqueueReadBuffer(queue, of, CL_FALSE, first * size, count * size, at, 0, NULL, NULL);
        at += count * size;
    }
    return code ? gv_fail_cl(code, "reading %zu bodies", count) : GRAVEL_OK;
}

/* Of words that are there, one after another; waits. */
gravel_status gv_words_read(gravel_bodies *from, const gv_word *word, int words, size_t first, size_t count, void *to)
{
    gravel_status status = gv_words_fetch(from, word, NULL, words, first, count, to);
    const cl_int code = status ? CL_SUCCESS : clFinish(gv_worker_queue(&from->worker));
    return code ? gv_fail_cl(code, "reading %zu bodies", count) : status;
}

void gv_words_changed(const gravel_bodies *of, gravel_bodies *to, const gv_word *word, int words)
{
    for (int p = 0; p < GRAVEL_PLANES; p++) {
        const gv_place *place = gv_plane_place((gravel_plane)p);
        for (int w = 0; w < words && place && of->has[p]; w++)
            if (place->word == word[w]) {
                gv_bodies_changed(to, (gravel_plane)p);
                break;
            }
    }
}

/* What gv_words_read had, of bodies like `of`; does not wait. */
gravel_status gv_words_write(const gravel_bodies *of, gravel_bodies *to, const gv_word *word, int words, size_t first,
                             size_t count, const void *from)
{
    const unsigned char *at = from;
    gravel_status status = GRAVEL_OK;
    for (int w = 0; w < words && !status; w++) {
        const size_t size = gv_word_size(of, word[w]);
        cl_mem mem;
        if (!of->word[word[w]].mem || count == 0)
            continue;
        status = gv_bodies_need(to, word[w], &mem);
        const cl_int code = status ? CL_SUCCESS
                                   : clEnqueueWriteBuffer(gv_worker_queue(&to->worker), mem, CL_FALSE, first * size,
                                                          count * size, at, 0, NULL, NULL);
        if (code)
            status = gv_fail_cl(code, "sending %zu bodies to %s", count, gv_worker_device(&to->worker)->info.name);
        at += count * size;
    }
    gv_words_changed(of, to, word, words);
    return status;
}

/* ------------------------------------------------------------------ copies */

gravel_status gv_copy_make(gravel_several_share *s, int member, const gravel_bodies *like, size_t count,
                           gravel_bodies **copy)
{
    gravel_bodies_options o = GRAVEL_BODIES_OPTIONS_INIT;
    o.precision = like->precision;
    o.device = s->worker[member].device;
    if (*copy && (*copy)->precision != like->precision) {
        gravel_bodies_release(*copy);
        *copy = NULL;
    }
    gravel_status status = *copy ? GRAVEL_OK : gravel_bodies_create(copy, s->worker[member].context, &o);
    if (!status && (*copy)->count < count)
        status = gravel_bodies_resize(*copy, count);
    if (status)
        return status;
    (*copy)->frame = like->frame; /* the planes are filled anew */
    (*copy)->has_box = (*copy)->has_mass_unit = 1;
    (*copy)->own_ids = like->own_ids;
    (*copy)->named = like->own_ids ? (*copy)->count : 0;
    (*copy)->ids_mixed = like->ids_mixed;
    return GRAVEL_OK;
}

gravel_status gv_copy_fit(gravel_several_share *s, int member, const gravel_bodies *of, gv_copy *c)
{
    if (c->bodies && c->bodies->count > of->count) { /* what is behind the last one would stay */
        gravel_tree_release(c->tree);
        gravel_bodies_release(c->bodies);
        *c = (gv_copy){.bodies = NULL};
    }
    return gv_copy_make(s, member, of, of->count, &c->bodies);
}

void gv_set_release(gv_set *set)
{
    for (int m = 0; m < GV_MOST_MEMBERS; m++) {
        gravel_tree_release(set->copy[m].tree);
        gravel_bodies_release(set->copy[m].bodies);
    }
    *set = (gv_set){.of = NULL};
}

/* The one that was used longest ago makes room. */
gv_set *gv_share_find_set(gravel_several_share *s, gravel_bodies *bodies)
{
    gv_set *found = &s->set[0];
    for (int k = 1; k < GV_SHARE_SETS && found->of != bodies; k++)
        if (s->set[k].of == bodies || s->set[k].turn < found->turn)
            found = &s->set[k];
    if (found->of != bodies) {
        gv_set_release(found);
        found->of = bodies;
    }
    found->turn = ++s->turn;
    return found;
}

/* Whether all that differs is what has moved since. */
static int is_near(const gv_copy *c, const gravel_bodies *b, double time)
{
    return c->bodies && c->is_fresh && time >= c->since && c->bodies->count == b->count &&
           c->order == b->order_version && c->id == b->version[GRAVEL_ID] &&
           c->soften == b->version[GRAVEL_SOFTENING] && c->mass == b->version[GRAVEL_MASS] &&
           memcmp(&c->bodies->frame, &b->frame, sizeof b->frame) == 0;
}

static void note(gv_copy *c, const gravel_bodies *b, int predict, double time)
{
    c->is_fresh = predict;
    c->since = time;
    c->order = b->order_version;
    c->id = b->version[GRAVEL_ID];
    c->soften = b->version[GRAVEL_SOFTENING];
    c->mass = b->version[GRAVEL_MASS];
}

/* ----------------------------------------------------------------- sending */

/* Words of all bodies: those that the call looks at. */
static void take_words(gv_sending *g, int order)
{
    const int words = g->predict ? WORDS : order >= 6 ? PREDICTED : order >= 4 ? ACCELERATION : VELOCITY;
    const gravel_bodies *of = g->set->of;
    for (int w = 0; w < words; w++)
        if (of->word[looked_at[w]].mem) {
            g->mem[g->words] = of->word[looked_at[w]].mem;
            g->word[g->words++] = looked_at[w];
        }
}

static void take_word(gv_sending *g, gv_word word, cl_mem mem)
{
    g->word[g->words] = word;
    g->mem[g->words++] = mem;
}

/* Where most bodies move in the call, what is sent serves this call only: then the first device predicts them, whatever
 * the copies have, since a run that was resumed has none. */
static int is_brief(const gravel_direct *direct, const gravel_direct_call *call)
{
    const gravel_bodies *of = call->sources.bodies;
    const int all = of->word[GV_WORD_VELOCITY].mem && (call->order < 6 || of->word[GV_WORD_ACCELERATION].mem);
    return call->predict && call->sinks.bodies != of && gravel_view_get_count(&call->sinks) > of->count / 2 &&
           gv_direct_takes(direct, of) && all;
}

static gravel_status take_predicted(gv_sending *g, gravel_direct *direct, const gravel_direct_call *call)
{
    const gravel_bodies *of = g->set->of;
    const int low = direct->options.precision == GRAVEL_DS;
    cl_mem quad[4];
    gravel_status status = gv_direct_take_sources(direct, call, quad);
    take_word(g, GV_WORD_ID, of->word[GV_WORD_ID].mem);
    if (of->word[GV_WORD_SOFTENING].mem)
        take_word(g, GV_WORD_SOFTENING, of->word[GV_WORD_SOFTENING].mem);
    take_word(g, GV_WORD_POSITION, quad[0]);
    if (low)
        take_word(g, GV_WORD_POSITION_LOW, quad[1]);
    if (call->order >= 4)
        take_word(g, GV_WORD_VELOCITY, quad[2]);
    if (call->order >= 6)
        take_word(g, GV_WORD_ACCELERATION, quad[3]);
    return status;
}

/* Kernels are made by one thread. */
static gravel_status need_put(gravel_several_share *s, const gv_sending *g, const gv_deal_part *part, int parts)
{
    cl_kernel kernel;
    gravel_status status = GRAVEL_OK;
    for (int p = 0; p < parts && g->moved > 0 && !status; p++)
        if (g->near[part[p].member])
            status = gv_share_kernel_need(s, part[p].member, GV_SHARE_PUT, &kernel);
    return status;
}

/* Which copies get all bodies, and which only those that have moved: since when. */
static void compare(const gv_sending *g, const gv_deal_part *part, int parts, int near[GV_MOST_MEMBERS], int *some,
                    int *all, double *since)
{
    *some = *all = 0;
    *since = g->time;
    for (int p = 0; p < parts; p++) {
        const int m = part[p].member;
        const gv_copy *c = &g->set->copy[m];
        if (m == 0 || part[p].count == 0)
            continue;
        near[m] = g->predict && !g->is_predicted && is_near(c, g->set->of, g->time);
        *some += near[m];
        *all += !near[m];
        *since = near[m] && c->since < *since ? c->since : *since;
    }
}

gravel_status gv_set_read(gravel_several_share *s, gravel_direct *direct, const gravel_direct_call *call,
                          const gv_deal_part *part, int parts, size_t more, gv_sending *g)
{
    gravel_bodies *of = call->sources.bodies;
    int some, all;
    double since;
    *g = (gv_sending){.set = gv_share_find_set(s, of), .predict = !!call->predict, .time = call->time};
    gravel_status status = gv_bodies_need_ids(of);
    if (!status)
        status = gv_share_use(s, of->precision);
    g->is_predicted = is_brief(direct, call);
    compare(g, part, parts, g->near, &some, &all, &since);
    if (!status && some > 0)
        status = gv_moved_list(s, of, since, &g->moved);
    if (some > 0 && g->moved > of->count / 2) { /* records are no shorter than the planes */
        memset(g->near, 0, sizeof g->near);
        all += some;
        some = 0;
    }
    if (!g->is_predicted)
        take_words(g, call->order);
    else if (!status)
        status = take_predicted(g, direct, call);
    const size_t whole = all > 0 ? of->count * gv_words_size(of, g->word, g->words) : 0;
    const size_t records = some > 0 ? g->moved * (gv_moved_size(of) + sizeof(cl_uint)) : 0;
    if (!status)
        status = gv_stage_reserve(s, whole + records + more);
    if (status)
        return status;
    g->planes = gv_stage_take(s, whole);
    g->address = gv_stage_take(s, some > 0 ? g->moved * sizeof(cl_uint) : 0);
    g->record = gv_stage_take(s, some > 0 ? g->moved * gv_moved_size(of) : 0);
    if (all > 0)
        status = gv_words_fetch(of, g->word, g->mem, g->words, 0, of->count, g->planes);
    if (!status && some > 0 && g->moved > 0)
        status = gv_moved_take(s, of, g->moved, g->address, g->record);
    return status ? status : need_put(s, g, part, parts);
}

gravel_status gv_set_write(gravel_several_share *s, int member, const gv_sending *g)
{
    gravel_bodies *of = g->set->of;
    gv_copy *c = &g->set->copy[member];
    gravel_status status = GRAVEL_OK;
    if (g->near[member]) {
        status = gv_moved_put(s, member, of, c->bodies, g->moved, g->address, g->record);
    } else {
        status = gv_copy_fit(s, member, of, c);
        if (!status)
            status = gv_words_write(of, c->bodies, g->word, g->words, 0, of->count, g->planes);
    }
    note(c, of, g->predict && !g->is_predicted, g->time);
    c->is_fresh = c->is_fresh && !status;
    return status;
}
