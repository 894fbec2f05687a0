/* Copies of bodies on other devices: words as the devices hold them, through memory of the host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/bodies/transfer.h"
#include "host/program/program.h"
#include "host/several/share.h"

/* All that a call may look at; the first ones where it does not predict. */
enum { WORDS = 12, VELOCITY = 4, ACCELERATION = 6, PREDICTED = 7 };
static const gv_word looked_at[WORDS] = {GV_WORD_ID,           GV_WORD_SOFTENING, GV_WORD_POSITION,
                                         GV_WORD_POSITION_LOW, GV_WORD_VELOCITY,  GV_WORD_VELOCITY_LOW,
                                         GV_WORD_ACCELERATION, GV_WORD_JERK,      GV_WORD_SNAP,
                                         GV_WORD_CRACKLE,      GV_WORD_TIME,      GV_WORD_TIME_LOW};

/* ----------------------------------------------------------------- kernels */

static int is_cpu(const gravel_several_share *s, int member)
{
    return gv_worker_device(&s->worker[member])->info.type == GRAVEL_DEVICE_CPU;
}

static size_t group_of(const gravel_several_share *s)
{
    return is_cpu(s, 0) ? 1 : 256;
}

static size_t items_of(const gravel_several_share *s)
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
             group_of(s), items_of(s));
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

/* Of words that are there, one after another; waits. */
gravel_status gv_words_read(gravel_bodies *from, const gv_word *word, int words, size_t first, size_t count, void *to)
{
    const cl_command_queue queue = gv_worker_queue(&from->worker);
    unsigned char *at = to;
    cl_int code = CL_SUCCESS;
    for (int w = 0; w < words && !code; w++) {
        const size_t size = gv_word_size(from, word[w]);
        if (!from->word[word[w]].mem || count == 0)
            continue;
        code = clEnqueueReadBuffer(queue, from->word[word[w]].mem, CL_FALSE, first * size, count * size, at, 0, NULL,
                                   NULL);
        at += count * size;
    }
    if (!code)
        code = clFinish(queue);
    return code ? gv_fail_cl(code, "reading %zu bodies", count) : GRAVEL_OK;
}

static void mark_changed(const gravel_bodies *of, gravel_bodies *to, const gv_word *word, int words)
{
    for (int p = 0; p < GRAVEL_PLANES; p++) {
        const gv_place *place = gv_plane_place((gravel_plane)p);
        for (int w = 0; w < words && place && of->version[p] > 0; w++)
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
    mark_changed(of, to, word, words);
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

/* ------------------------------------------------- bodies that have moved */

/* In the order of gv_moved_take. */
static gravel_status moving_words(gravel_bodies *b, cl_mem mem[10])
{
    static const gv_word word[10] = {GV_WORD_POSITION,     GV_WORD_POSITION_LOW, GV_WORD_VELOCITY, GV_WORD_VELOCITY_LOW,
                                     GV_WORD_ACCELERATION, GV_WORD_JERK,         GV_WORD_SNAP,     GV_WORD_CRACKLE,
                                     GV_WORD_TIME,         GV_WORD_TIME_LOW};
    gravel_status status = GRAVEL_OK;
    for (int k = 0; k < 10 && !status; k++) {
        const int low =
            word[k] == GV_WORD_POSITION_LOW || word[k] == GV_WORD_VELOCITY_LOW || word[k] == GV_WORD_TIME_LOW;
        if (low && b->precision != GRAVEL_DS)
            mem[k] = mem[0];
        else
            status = gv_bodies_need(b, word[k], &mem[k]);
    }
    return status;
}

/* Those whose time is `since` or later, into s->moved; waits for their number. */
static gravel_status list_moved(gravel_several_share *s, gravel_bodies *b, double since, size_t *moved)
{
    const gravel_precision p = b->precision;
    const size_t group = group_of(s), tile = group * items_of(s), tiles = (b->count + tile - 1) / tile;
    const gv_time_words t = gv_time_split(p, since);
    gv_worker *w = &s->worker[0];
    cl_kernel kernel[3];
    cl_mem mem[10];
    cl_uint total = 0;
    gravel_status status = moving_words(b, mem);
    for (int k = 0; k < 3 && !status; k++)
        status = gv_share_kernel_need(s, 0, (gv_share_kernel)k, &kernel[k]);
    if (!status)
        status = gv_buffer_reserve(w, &s->count, tiles * sizeof(cl_uint), "counts of bodies");
    if (!status)
        status = gv_buffer_reserve(w, &s->total, sizeof(cl_uint), "counts of bodies");
    if (!status)
        status = gv_buffer_reserve(w, &s->moved, b->count * sizeof(cl_uint), "addresses of bodies");
    if (!status)
        status = gv_launch(w, 0, kernel[GV_SHARE_COUNT], gv_groups(tiles, group), GV_ARG(mem[8]), GV_ARG(mem[9]),
                           GV_UINT(b->count), GV_REAL(p, t.high), GV_REAL(p, t.low), GV_MEM(s->count));
    if (!status)
        status = gv_launch(w, 0, kernel[GV_SHARE_SCAN], gv_groups(1, group), GV_MEM(s->count), GV_UINT(tiles),
                           GV_MEM(s->total));
    if (!status)
        status =
            gv_launch(w, 0, kernel[GV_SHARE_LIST], gv_groups(tiles, group), GV_ARG(mem[8]), GV_ARG(mem[9]),
                      GV_UINT(b->count), GV_REAL(p, t.high), GV_REAL(p, t.low), GV_MEM(s->count), GV_MEM(s->moved));
    const cl_int code =
        status ? CL_SUCCESS
               : clEnqueueReadBuffer(gv_worker_queue(w), s->total.mem, CL_TRUE, 0, sizeof total, &total, 0, NULL, NULL);
    *moved = total;
    return code ? gv_fail_cl(code, "counting bodies that moved") : status;
}

static size_t record_size(const gravel_bodies *b)
{
    return GV_MOVED_NUMBERS * (b->precision == GRAVEL_DP ? sizeof(double) : sizeof(float));
}

/* Their addresses and records to the host. */
static gravel_status take_moved(gravel_several_share *s, gravel_bodies *b, size_t moved, void *address, void *record)
{
    const size_t size = record_size(b);
    gv_worker *w = &s->worker[0];
    cl_kernel kernel;
    cl_mem m[10];
    gravel_status status = gv_share_kernel_need(s, 0, GV_SHARE_TAKE, &kernel);
    if (!status)
        status = moving_words(b, m);
    if (!status)
        status = gv_buffer_reserve(w, &s->records[0], moved * size, "bodies that moved");
    if (!status)
        status = gv_launch(w, 0, kernel, gv_items(moved, 64), GV_MEM(s->moved), GV_UINT(moved), GV_ARG(m[0]),
                           GV_ARG(m[1]), GV_ARG(m[2]), GV_ARG(m[3]), GV_ARG(m[4]), GV_ARG(m[5]), GV_ARG(m[6]),
                           GV_ARG(m[7]), GV_ARG(m[8]), GV_ARG(m[9]), GV_MEM(s->records[0]));
    if (status)
        return status;
    const cl_command_queue queue = gv_worker_queue(w);
    cl_int code =
        clEnqueueReadBuffer(queue, s->moved.mem, CL_FALSE, 0, moved * sizeof(cl_uint), address, 0, NULL, NULL);
    if (!code)
        code = clEnqueueReadBuffer(queue, s->records[0].mem, CL_TRUE, 0, moved * size, record, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "reading %zu bodies that moved", moved) : GRAVEL_OK;
}

static gravel_status send_address(gravel_several_share *s, int member, const void *address, size_t count)
{
    gravel_status status =
        gv_buffer_reserve(&s->worker[member], &s->address[member], count * sizeof(cl_uint), "addresses of bodies");
    const cl_int code = status ? CL_SUCCESS
                               : clEnqueueWriteBuffer(gv_worker_queue(&s->worker[member]), s->address[member].mem,
                                                      CL_FALSE, 0, count * sizeof(cl_uint), address, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "sending %zu addresses", count) : status;
}

static gravel_status send_records(gravel_several_share *s, int member, const void *record, size_t bytes)
{
    gravel_status status = gv_buffer_reserve(&s->worker[member], &s->records[member], bytes, "bodies on their way");
    const cl_int code = status ? CL_SUCCESS
                               : clEnqueueWriteBuffer(gv_worker_queue(&s->worker[member]), s->records[member].mem,
                                                      CL_FALSE, 0, bytes, record, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "sending %zu bytes of bodies", bytes) : status;
}

static gravel_status put_moved(gravel_several_share *s, int member, const gravel_bodies *of, gravel_bodies *to,
                               size_t moved, const void *address, const void *record)
{
    cl_kernel kernel;
    cl_mem m[10];
    if (moved == 0)
        return GRAVEL_OK;
    gravel_status status = gv_share_kernel_need(s, member, GV_SHARE_PUT, &kernel);
    if (!status)
        status = send_address(s, member, address, moved);
    if (!status)
        status = send_records(s, member, record, moved * record_size(of));
    if (!status)
        status = moving_words(to, m);
    if (!status)
        status =
            gv_launch(&s->worker[member], 0, kernel, gv_items(moved, 64), GV_MEM(s->address[member]), GV_UINT(moved),
                      GV_MEM(s->records[member]), GV_ARG(m[0]), GV_ARG(m[1]), GV_ARG(m[2]), GV_ARG(m[3]), GV_ARG(m[4]),
                      GV_ARG(m[5]), GV_ARG(m[6]), GV_ARG(m[7]), GV_ARG(m[8]), GV_ARG(m[9]));
    mark_changed(of, to, looked_at + 2, WORDS - 2);
    return status;
}

/* ----------------------------------------------------------------- sending */

gravel_status gv_set_send(gravel_several_share *s, gv_set *set, const gv_deal_part *part, int parts, int predict,
                          double time, int order, size_t more)
{
    gravel_bodies *of = set->of;
    const int words = predict ? WORDS : order >= 6 ? PREDICTED : order >= 4 ? ACCELERATION : VELOCITY;
    int some = 0, all = 0;
    double since = time;
    size_t moved = 0;
    gravel_status status = gv_bodies_need_ids(of);
    if (!status)
        status = gv_share_use(s, of->precision);
    for (int p = 0; p < parts; p++) {
        const gv_copy *c = &set->copy[part[p].member];
        if (part[p].member == 0 || part[p].count == 0)
            continue;
        const int near = predict && is_near(c, of, time);
        some += near;
        all += !near;
        since = near && c->since < since ? c->since : since;
    }
    if (!status && some > 0)
        status = list_moved(s, of, since, &moved);
    if (some > 0 && moved > of->count / 2) { /* records are no shorter than the planes */
        all += some;
        some = 0;
    }
    const size_t whole = all > 0 ? of->count * gv_words_size(of, looked_at, words) : 0;
    const size_t records = some > 0 ? moved * (record_size(of) + sizeof(cl_uint)) : 0;
    if (!status)
        status = gv_stage_reserve(s, whole + records + more);
    if (status)
        return status;
    void *const planes = gv_stage_take(s, whole);
    void *const address = gv_stage_take(s, some > 0 ? moved * sizeof(cl_uint) : 0);
    void *const record = gv_stage_take(s, some > 0 ? moved * record_size(of) : 0);
    if (all > 0)
        status = gv_words_read(of, looked_at, words, 0, of->count, planes);
    if (!status && some > 0 && moved > 0)
        status = take_moved(s, of, moved, address, record);
    for (int p = 0; p < parts && !status; p++) {
        gv_copy *c = &set->copy[part[p].member];
        if (part[p].member == 0 || part[p].count == 0)
            continue;
        const int near = some > 0 && is_near(c, of, time);
        if (!near)
            status = gv_copy_fit(s, part[p].member, of, c);
        if (!status)
            status = near ? put_moved(s, part[p].member, of, c->bodies, moved, address, record)
                          : gv_words_write(of, c->bodies, looked_at, words, 0, of->count, planes);
        note(c, of, predict, time);
        c->is_fresh = c->is_fresh && !status;
    }
    return status;
}

/* ---------------------------------------------------- forces on listed sinks */

static size_t found_size(const gravel_bodies *b)
{
    return GV_FOUND_NUMBERS * (b->precision == GRAVEL_DP ? sizeof(double) : sizeof(float));
}

gravel_status gv_found_read(gravel_several_share *s, int member, gravel_bodies *copy, const gravel_list *list,
                            size_t count, void *to)
{
    gv_worker *w = &s->worker[member];
    gravel_view view = gravel_view_list(copy, list);
    gv_selection selection;
    cl_kernel kernel;
    cl_mem acc, pot;
    gravel_status status = gv_view_resolve(&view, "sinks", &selection); /* the addresses are there now */
    if (!status)
        status = gv_share_kernel_need(s, member, GV_SHARE_FOUND_TAKE, &kernel);
    if (!status)
        status = gv_bodies_need(copy, GV_WORD_ACCELERATION, &acc);
    if (!status)
        status = gv_bodies_need(copy, GV_WORD_POTENTIAL, &pot);
    if (!status)
        status = gv_buffer_reserve(w, &s->records[member], count * found_size(copy), "forces on sinks");
    if (!status)
        status = gv_launch(w, 0, kernel, gv_items(count, 64), GV_ARG(selection.list), GV_UINT(count), GV_ARG(acc),
                           GV_ARG(pot), GV_MEM(s->records[member]));
    const cl_int code = status ? CL_SUCCESS
                               : clEnqueueReadBuffer(gv_worker_queue(w), s->records[member].mem, CL_FALSE, 0,
                                                     count * found_size(copy), to, 0, NULL, NULL);
    if (!status && !code)
        clFlush(gv_worker_queue(w));
    return code ? gv_fail_cl(code, "reading the forces on %zu sinks", count) : status;
}

gravel_status gv_found_write(gravel_several_share *s, gravel_bodies *to, const uint32_t *address, size_t count,
                             const void *from)
{
    cl_kernel kernel;
    cl_mem acc, pot;
    gravel_status status = gv_share_kernel_need(s, 0, GV_SHARE_FOUND_PUT, &kernel);
    if (!status)
        status = gv_bodies_need(to, GV_WORD_ACCELERATION, &acc);
    if (!status)
        status = gv_bodies_need(to, GV_WORD_POTENTIAL, &pot);
    if (!status)
        status = send_address(s, 0, address, count);
    if (!status)
        status = send_records(s, 0, from, count * found_size(to));
    if (!status)
        status = gv_launch(&s->worker[0], 0, kernel, gv_items(count, 64), GV_MEM(s->address[0]), GV_UINT(count),
                           GV_MEM(s->records[0]), GV_ARG(acc), GV_ARG(pot));
    return status;
}
