/* Which bodies there are, in which order, and where they were. */
#include "host/bodies/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/bodies/transfer.h"
#include "host/program/sort.h"

enum { ENTRY_SIZES = 4 };

/* What moving words with entries of one size needs: a kernel, and a buffer that changes places with each word. */
typedef struct mover {
    cl_kernel kernel;
    gv_buffer spare;
} mover;

typedef struct gv_movers {
    mover of[ENTRY_SIZES];
} gv_movers;

static void release_movers(gv_movers *movers)
{
    for (int k = 0; k < ENTRY_SIZES; k++) {
        gv_buffer_release(&movers->of[k].spare);
        if (movers->of[k].kernel)
            clReleaseKernel(movers->of[k].kernel);
    }
}

gravel_status gv_order_keep_movers(gravel_bodies *bodies)
{
    if (!bodies->movers)
        bodies->movers = calloc(1, sizeof *bodies->movers);
    return bodies->movers ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for an order of bodies");
}

void gv_order_release(gravel_bodies *bodies)
{
    if (bodies->movers)
        release_movers(bodies->movers);
    free(bodies->movers);
    free(bodies->marks.from);
}

/* -------------------------------------------------------------------- marks */

void gv_order_shrunk(gravel_bodies *bodies, size_t count)
{
    if (bodies->marks.kept > count)
        bodies->marks.kept = count;
}

static gravel_status read_addresses(gravel_bodies *bodies, cl_mem from, size_t count, uint32_t *to)
{
    const cl_int code =
        clEnqueueReadBuffer(gv_worker_queue(&bodies->worker), from, CL_TRUE, 0, count * sizeof *to, to, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "reading the new order of %zu bodies", count) : GRAVEL_OK;
}

/* Where bodies were at the mark, after they moved by `from`; NULL where all of them are new. */
static gravel_status follow(gravel_bodies *bodies, cl_mem from_device, const uint32_t *from, size_t count,
                            uint32_t **origin)
{
    const gv_bodies_marks *marks = &bodies->marks;
    gravel_status status = GRAVEL_OK;
    *origin = NULL;
    if (marks->kept == 0)
        return GRAVEL_OK;
    uint32_t *was = malloc(count * sizeof *was);
    if (!was)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the earlier places of %zu bodies", count);
    if (from)
        memcpy(was, from, count * sizeof *was);
    else
        status = read_addresses(bodies, from_device, count, was);
    if (status) {
        free(was);
        return status;
    }
    for (size_t k = 0; k < count; k++)
        was[k] = was[k] >= marks->kept ? GRAVEL_NONE : marks->from ? marks->from[was[k]] : was[k];
    *origin = was;
    return GRAVEL_OK;
}

void gravel_bodies_mark(gravel_bodies *bodies)
{
    if (!bodies)
        return;
    free(bodies->marks.from);
    bodies->marks = (gv_bodies_marks){bodies->count, bodies->count, NULL};
}

gravel_status gravel_bodies_get_permutation(gravel_bodies *bodies, uint32_t *from, uint32_t *to, size_t *before)
{
    if (!bodies)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_bodies_get_permutation: no bodies");
    const gv_bodies_marks *marks = &bodies->marks;
    for (size_t k = 0; to && k < marks->before; k++)
        to[k] = GRAVEL_NONE;
    for (size_t k = 0; k < bodies->count; k++) {
        const uint32_t was = k >= marks->kept ? GRAVEL_NONE : marks->from ? marks->from[k] : (uint32_t)k;
        if (from)
            from[k] = was;
        if (to && was != GRAVEL_NONE)
            to[was] = (uint32_t)k;
    }
    if (before)
        *before = marks->before;
    return GRAVEL_OK;
}

/* ------------------------------------------------------------------- moving */

static int size_of_entry(const gravel_bodies *bodies, int word)
{
    const size_t size = gv_word_size(bodies, (gv_word)word);
    return size == 4 ? 0 : size == 8 ? 1 : size == 16 ? 2 : 3;
}

static gravel_status need_mover(gravel_bodies *bodies, int word, mover *m)
{
    static const char *const type[ENTRY_SIZES] = {"uint", "uint2", "uint4", "ulong4"};
    char options[32];
    gravel_status status = gv_buffer_reserve(&bodies->worker, &m->spare,
                                             bodies->capacity * gv_word_size(bodies, (gv_word)word), "moving bodies");
    snprintf(options, sizeof options, "-DGV_ENTRY=%s", type[size_of_entry(bodies, word)]);
    if (!status && !m->kernel)
        status = gv_kernel_make(&bodies->worker, "bodies/order.cl", options, "gv_bodies_reorder", &m->kernel);
    return status;
}

static gravel_status move_word(gravel_bodies *bodies, int word, mover *m, cl_mem from, size_t count)
{
    gv_buffer *buffer = &bodies->word[word];
    gravel_status status = gv_launch(&bodies->worker, 0, m->kernel, gv_items(bodies->capacity, 64), GV_MEM(*buffer),
                                     GV_ARG(from), GV_UINT(count), GV_UINT(bodies->capacity),
                                     GV_UINT(word == GV_WORD_ID ? 0xffffffffu : 0), GV_MEM(m->spare));
    if (status)
        return status;
    const gv_buffer moved = m->spare;
    m->spare = *buffer;
    *buffer = moved;
    return GRAVEL_OK;
}

/* In random order two of three numbers are the largest or the least of themselves and those beside them; more than one
 * of eight is too many for an order. */
int gv_are_mixed(const int32_t *number, size_t stride, size_t n)
{
    const size_t step = n / GV_MIXED_LEAST, by = stride > 0 ? stride : 1;
    int turns = 0, looks = 0;
    if (!number || n < GV_MIXED_LEAST)
        return 0;
    for (size_t k = 0; k + 2 < n; k += step, looks++) {
        const int32_t a = number[k * by], b = number[(k + 1) * by], c = number[(k + 2) * by];
        turns += (b > a && b > c) || (b < a && b < c);
    }
    return turns > looks / 8;
}

gravel_status gv_order_apply(gravel_bodies *bodies, cl_mem from_device, const uint32_t *from, size_t count)
{
    gv_movers own = {{{NULL, {NULL, 0}}}};
    mover *const movers = bodies->movers ? bodies->movers->of : own.of;
    uint32_t *origin;
    /* bodies without a number of their own get it before the others change places; all that can fail for lack of
     * memory comes before the first word moves */
    gravel_status status = bodies->own_ids ? gv_bodies_need_ids(bodies) : GRAVEL_OK;
    origin = NULL;
    if (!status)
        status = follow(bodies, from_device, from, count, &origin);
    for (int w = 0; w < GV_WORDS && !status; w++)
        if (bodies->word[w].mem)
            status = need_mover(bodies, w, &movers[size_of_entry(bodies, w)]);
    for (int w = 0; w < GV_WORDS && !status; w++)
        if (bodies->word[w].mem)
            status = move_word(bodies, w, &movers[size_of_entry(bodies, w)], from_device, count);
    release_movers(&own);
    if (status) {
        free(origin);
        return status;
    }
    free(bodies->marks.from);
    bodies->marks.from = origin;
    bodies->marks.kept = origin ? count : 0;
    bodies->count = count;
    bodies->named = bodies->own_ids ? count : 0;
    bodies->ids_mixed |= !from || gv_are_mixed((const int32_t *)from, 1, count);
    bodies->order_version++;
    for (int p = 0; p < GRAVEL_PLANES; p++)
        if (bodies->has[p])
            gv_bodies_changed(bodies, (gravel_plane)p);
    return GRAVEL_OK;
}

/* ------------------------------------------------------------------ removal */

/* Addresses of the bodies that stay, in their order; `gone` has a mark for each of the others. */
static size_t list_others(size_t n, const unsigned char *gone, uint32_t *from)
{
    size_t kept = 0;
    for (size_t k = 0; k < n; k++) {
        from[kept] = (uint32_t)k;
        kept += !gone[k];
    }
    return kept;
}

static gravel_status remove_marked(gravel_bodies *bodies, const unsigned char *gone)
{
    uint32_t *from = malloc((bodies->count + 1) * sizeof *from);
    cl_mem device = NULL;
    cl_int code;
    if (!from)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the addresses of %zu bodies", bodies->count);
    const size_t kept = list_others(bodies->count, gone, from);
    gravel_status status = GRAVEL_OK;
    if (kept > 0) {
        device = clCreateBuffer(bodies->worker.context->cl, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                kept * sizeof *from, from, &code);
        status = code ? gv_fail_cl(code, "sending %zu addresses", kept) : gv_order_apply(bodies, device, from, kept);
    } else {
        status = gravel_bodies_resize(bodies, 0);
    }
    if (device)
        clReleaseMemObject(device);
    free(from);
    return status;
}

gravel_status gravel_bodies_remove(gravel_bodies *bodies, const uint32_t *address, size_t count)
{
    if (!bodies || (!address && count > 0))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_bodies_remove: no bodies or no addresses");
    if (count == 0)
        return GRAVEL_OK;
    unsigned char *gone = calloc(bodies->count + 1, 1);
    if (!gone)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory to mark %zu bodies", bodies->count);
    gravel_status status = GRAVEL_OK;
    for (size_t k = 0; k < count && !status; k++)
        if (address[k] >= bodies->count)
            status = gv_fail(GRAVEL_ERR_ARGUMENT, "there is no body %u: there are %zu bodies", (unsigned)address[k],
                             bodies->count);
        else if (gone[address[k]]++)
            status = gv_fail(GRAVEL_ERR_ARGUMENT, "body %u is to be removed twice", (unsigned)address[k]);
    if (!status)
        status = remove_marked(bodies, gone);
    free(gone);
    return status;
}

/* --------------------------------------------------------------- order by key */

/* Keys of all bodies into the sort, which leaves their addresses in the order of the keys. */
static gravel_status sort_keys(gravel_bodies *bodies, gv_sort *sort, const gv_buffer *bounds)
{
    char options[64];
    cl_kernel kernel = NULL;
    cl_mem body;
    gravel_status status = gv_sort_make(sort, &bodies->worker, 64, NULL);
    if (!status)
        status = gv_sort_reserve(sort, &bodies->worker, bodies->count);
    if (!status)
        status = gv_bodies_need(bodies, GV_WORD_POSITION, &body);
    snprintf(options, sizeof options, "-DGV_PRECISION=%d -DGV_LANES=1", (int)bodies->precision);
    if (!status)
        status = gv_kernel_make(&bodies->worker, "bodies/keys.cl", options, "gv_bodies_keys", &kernel);
    if (status)
        return status;
    status = gv_launch(&bodies->worker, 0, kernel, gv_items(bodies->count, 64), GV_ARG(body), GV_UINT(bodies->count),
                       GV_MEM(*bounds), GV_MEM(sort->key[sort->sorted]), GV_MEM(sort->index[sort->sorted]));
    clReleaseKernel(kernel);
    return status ? status : gv_sort_run(sort, &bodies->worker, 0, bodies->count, 63);
}

gravel_status gravel_bodies_order_by_key(gravel_bodies *bodies)
{
    gv_sort sort;
    gv_buffer bounds = {NULL, 0};
    if (!bodies)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_bodies_order_by_key: no bodies");
    if (bodies->count < 2)
        return GRAVEL_OK;
    memset(&sort, 0, sizeof sort);
    gravel_status status = gv_bodies_bounds(bodies, &bounds);
    if (!status)
        status = sort_keys(bodies, &sort, &bounds);
    if (!status)
        status = gv_order_apply(bodies, sort.index[sort.sorted].mem, NULL, bodies->count);
    gv_sort_release(&sort);
    gv_buffer_release(&bounds);
    return status;
}
