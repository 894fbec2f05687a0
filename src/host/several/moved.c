/* Bodies that have moved, and forces on listed sinks: packed by one device, unpacked by another. */
#include "host/bodies/transfer.h"
#include "host/several/share.h"

/* ------------------------------------------------- bodies that have moved */

/* In the order of the kernel gv_moved_take. */
enum { GV_MOVED_WORDS = 10 };
static const gv_word words[GV_MOVED_WORDS] = {
    GV_WORD_POSITION, GV_WORD_POSITION_LOW, GV_WORD_VELOCITY, GV_WORD_VELOCITY_LOW, GV_WORD_ACCELERATION,
    GV_WORD_JERK,     GV_WORD_SNAP,         GV_WORD_CRACKLE,  GV_WORD_TIME,         GV_WORD_TIME_LOW};

static gravel_status moving_words(gravel_bodies *b, cl_mem mem[GV_MOVED_WORDS])
{
    gravel_status status = GRAVEL_OK;
    for (int k = 0; k < GV_MOVED_WORDS && !status; k++) {
        const int low =
            words[k] == GV_WORD_POSITION_LOW || words[k] == GV_WORD_VELOCITY_LOW || words[k] == GV_WORD_TIME_LOW;
        if (low && b->precision != GRAVEL_DS)
            mem[k] = mem[0];
        else
            status = gv_bodies_need(b, words[k], &mem[k]);
    }
    return status;
}

/* Those whose time is `since` or later, into s->moved; waits for their number. */
gravel_status gv_moved_list(gravel_several_share *s, gravel_bodies *b, double since, size_t *moved)
{
    const gravel_precision p = b->precision;
    const size_t group = gv_share_group(s), tile = group * gv_share_items(s), tiles = (b->count + tile - 1) / tile;
    const gv_time_words t = gv_time_split(p, since);
    gv_worker *w = &s->worker[0];
    cl_kernel kernel[3];
    cl_mem mem[GV_MOVED_WORDS];
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

size_t gv_moved_size(const gravel_bodies *b)
{
    return GV_MOVED_NUMBERS * (b->precision == GRAVEL_DP ? sizeof(double) : sizeof(float));
}

/* Their addresses and records to the host. */
gravel_status gv_moved_take(gravel_several_share *s, gravel_bodies *b, size_t moved, void *address, void *record)
{
    const size_t size = gv_moved_size(b);
    gv_worker *w = &s->worker[0];
    cl_kernel kernel;
    cl_mem m[GV_MOVED_WORDS];
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

gravel_status gv_moved_put(gravel_several_share *s, int member, const gravel_bodies *of, gravel_bodies *to,
                           size_t moved, const void *address, const void *record)
{
    cl_kernel kernel;
    cl_mem m[GV_MOVED_WORDS];
    if (moved == 0)
        return GRAVEL_OK;
    gravel_status status = gv_share_kernel_need(s, member, GV_SHARE_PUT, &kernel);
    if (!status)
        status = send_address(s, member, address, moved);
    if (!status)
        status = send_records(s, member, record, moved * gv_moved_size(of));
    if (!status)
        status = moving_words(to, m);
    if (!status)
        status =
            gv_launch(&s->worker[member], 0, kernel, gv_items(moved, 64), GV_MEM(s->address[member]), GV_UINT(moved),
                      GV_MEM(s->records[member]), GV_ARG(m[0]), GV_ARG(m[1]), GV_ARG(m[2]), GV_ARG(m[3]), GV_ARG(m[4]),
                      GV_ARG(m[5]), GV_ARG(m[6]), GV_ARG(m[7]), GV_ARG(m[8]), GV_ARG(m[9]));
    gv_words_changed(of, to, words, GV_MOVED_WORDS);
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
