/* Bodies dealt out over several address spaces: planes, keys and splits. */
#include "host/bodies/exchange.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/bodies/order.h"
#include "host/bodies/transfer.h"

enum { KEY_BITS = 63 };

/* --------------------------------------------------------------------- life */

static gravel_status make_kernels(gravel_exchange *x)
{
    static const char *const type[GV_EXCHANGE_SIZES] = {"uint", "uint2", "uint4", "ulong4"};
    gv_worker *worker = &x->worker;
    char options[96];
    snprintf(options, sizeof options, "-DGV_PRECISION=%d -DGV_LANES=1", (int)x->bodies->precision);
    gravel_status status = gv_kernel_make(worker, "bodies/keys.cl", options, "gv_bodies_keys", &x->keys);
    for (int s = 0; s < GV_EXCHANGE_SIZES && !status; s++) {
        snprintf(options, sizeof options, "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_ENTRY=%s", (int)x->bodies->precision,
                 type[s]);
        status = gv_kernel_make(worker, "bodies/exchange.cl", options, "gv_exchange_pack", &x->pack[s]);
    }
    if (!status)
        status = gv_kernel_make(worker, "bodies/exchange.cl", options, "gv_exchange_sample", &x->sample);
    if (!status)
        status = gv_kernel_make(worker, "bodies/exchange.cl", options, "gv_exchange_find", &x->find);
    return status ? status : gv_sort_make(&x->sort, worker, 64, NULL);
}

/* The cube of the frame, as the kernel of keys takes bounds. */
static gravel_status write_cube(gravel_exchange *x)
{
    const int is_double = x->bodies->precision == GRAVEL_DP;
    const cl_double d[8] = {-1, -1, -1, 0, 1, 1, 1, 0};
    cl_float f[8];
    for (int k = 0; k < 8; k++)
        f[k] = (cl_float)d[k];
    const size_t bytes = is_double ? sizeof d : sizeof f;
    gravel_status status = gv_buffer_reserve(&x->worker, &x->bounds, bytes, "the cube of the curve");
    const cl_int code = status ? CL_SUCCESS
                               : clEnqueueWriteBuffer(gv_worker_queue(&x->worker), x->bounds.mem, CL_TRUE, 0, bytes,
                                                      is_double ? (const void *)d : f, 0, NULL, NULL);
    return status ? status : code ? gv_fail_cl(code, "writing the cube of the curve") : GRAVEL_OK;
}

gravel_status gravel_exchange_create(gravel_exchange **exchange, gravel_bodies *bodies, int parts, int mine)
{
    if (!exchange || !bodies)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_exchange_create needs bodies and a place for the result");
    *exchange = NULL;
    if (parts < 1 || mine < 0 || mine >= parts)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "there is no part %d of %d", mine, parts);
    gravel_exchange *x = calloc(1, sizeof *x);
    if (!x)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for an exchange of bodies");
    x->bodies = bodies;
    x->worker = (gv_worker){.context = bodies->worker.context, .device = bodies->worker.device};
    x->parts = parts;
    x->mine = mine;
    x->begin = calloc((size_t)parts + 1, sizeof *x->begin);
    x->arrives = calloc((size_t)parts, sizeof *x->arrives);
    gravel_status status = x->begin && x->arrives
                               ? make_kernels(x)
                               : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for an exchange of bodies");
    if (!status)
        status = write_cube(x);
    if (!status)
        status = gv_order_keep_movers(bodies);
    if (status) {
        gravel_exchange_release(x);
        return status;
    }
    *exchange = x;
    return GRAVEL_OK;
}

void gravel_exchange_release(gravel_exchange *x)
{
    if (!x)
        return;
    const cl_kernel kernel[] = {x->keys, x->sample, x->find, x->pack[0], x->pack[1], x->pack[2], x->pack[3]};
    gv_buffer *const buffer[] = {&x->bounds,       &x->block_key, &x->block_sum, &x->split,
                                 &x->begin_device, &x->staying,   &x->found_box};
    clFinish(gv_worker_queue(&x->worker));
    if (x->sent)
        x->sent->held = 0;
    if (x->room)
        x->room->held = 0;
    gv_slots_release(&x->worker, &x->slots);
    for (size_t k = 0; k < sizeof kernel / sizeof kernel[0]; k++)
        if (kernel[k])
            clReleaseKernel(kernel[k]);
    for (size_t k = 0; k < sizeof buffer / sizeof buffer[0]; k++)
        gv_buffer_release(buffer[k]);
    gv_sort_release(&x->sort);
    gv_worker_clear(&x->worker);
    free(x->begin);
    free(x->arrives);
    free(x);
}

/* ------------------------------------------------------------------- planes */

uint64_t gravel_exchange_get_planes(const gravel_exchange *x)
{
    uint64_t planes = 0;
    for (int w = 0; x && w < GV_WORDS; w++)
        planes |= x->bodies->word[w].mem ? (uint64_t)1 << w : 0;
    return planes;
}

gravel_status gravel_exchange_set_planes(gravel_exchange *x, uint64_t planes)
{
    gravel_status status = GRAVEL_OK;
    if (!x || planes >> GV_WORDS)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_exchange_set_planes: there are no such planes");
    for (int w = 0; w < GV_WORDS && !status; w++) {
        cl_mem mem;
        if (planes >> w & 1)
            status = gv_bodies_need(x->bodies, (gv_word)w, &mem);
    }
    for (int p = 0; p < GRAVEL_PLANES && !status; p++)
        if (planes >> gv_plane_place((gravel_plane)p)->word & 1 && !x->bodies->has[p])
            gv_bodies_changed(x->bodies, (gravel_plane)p);
    return status;
}

/* -------------------------------------------------------------------- order */

static gravel_status sort_keys(gravel_exchange *x)
{
    gravel_bodies *bodies = x->bodies;
    cl_mem body;
    gravel_status status = gv_sort_reserve(&x->sort, &x->worker, bodies->count);
    if (!status)
        status = gv_bodies_need(bodies, GV_WORD_POSITION, &body);
    if (!status)
        status =
            gv_launch(&x->worker, 0, x->keys, gv_items(bodies->count, 64), GV_ARG(body), GV_UINT(bodies->count),
                      GV_MEM(x->bounds), GV_MEM(x->sort.key[x->sort.sorted]), GV_MEM(x->sort.index[x->sort.sorted]));
    if (!status)
        status = gv_sort_run(&x->sort, &x->worker, 0, bodies->count, KEY_BITS);
    x->order_version = bodies->order_version;
    x->moved_version = bodies->version[GRAVEL_POSITION];
    return status;
}

/* Parts without bodies get the plane as well: those of all parts stay the same. */
static gravel_status need_weights(gravel_bodies *bodies, gravel_plane plane, cl_mem *weights)
{
    return gv_bodies_need(bodies, gv_plane_place(plane)->word, weights);
}

static gravel_status read_blocks(gravel_exchange *x, size_t blocks, uint64_t *key, double *weight)
{
    cl_command_queue queue = gv_worker_queue(&x->worker);
    const int is_double = x->bodies->precision == GRAVEL_DP;
    /* the second read ends after the first */
    cl_int code = clEnqueueReadBuffer(queue, x->block_key.mem, CL_FALSE, 0, blocks * sizeof *key, key, 0, NULL, NULL);
    if (!code)
        code = clEnqueueReadBuffer(queue, x->block_sum.mem, CL_TRUE, 0, blocks * (is_double ? 8 : 4), weight, 0, NULL,
                                   NULL);
    if (code)
        clFinish(queue);
    /* floats fill the first half of the array: widened from its end */
    for (size_t k = blocks; k-- > 0 && !is_double && !code;) {
        float one;
        memcpy(&one, (const char *)weight + k * sizeof one, sizeof one);
        weight[k] = (double)one;
    }
    return code ? gv_fail_cl(code, "reading the order of bodies") : GRAVEL_OK;
}

gravel_status gravel_exchange_order(gravel_exchange *x, int plane, int most, uint64_t *key, double *weight, int *count)
{
    if (!x || !key || !weight || !count || most < 1 || plane >= GRAVEL_PLANES ||
        (plane >= 0 && gv_plane_place((gravel_plane)plane)->word < GV_WORD_USER))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_exchange_order needs room for blocks, and GRAVEL_USER ... or -1");
    gravel_bodies *bodies = x->bodies;
    const size_t n = bodies->count, each = (n + (size_t)most - 1) / (size_t)most;
    cl_mem weights = NULL;
    *count = 0;
    gravel_status status = plane >= 0 ? need_weights(bodies, (gravel_plane)plane, &weights) : GRAVEL_OK;
    if (status || n == 0)
        return status;
    const size_t blocks = (n + each - 1) / each;
    status = sort_keys(x);
    if (!status)
        status = gv_buffer_reserve_more(&x->worker, &x->block_key, blocks * 8, "blocks of the curve");
    if (!status)
        status = gv_buffer_reserve_more(&x->worker, &x->block_sum, blocks * 8, "blocks of the curve");
    if (!status)
        status = gv_launch(&x->worker, 0, x->sample, gv_items(blocks, 64), GV_MEM(x->sort.key[x->sort.sorted]),
                           GV_MEM(x->sort.index[x->sort.sorted]), GV_UINT(n), GV_UINT(each), GV_UINT(blocks),
                           GV_ARG(weights), GV_MEM(x->block_key), GV_MEM(x->block_sum));
    if (!status)
        status = read_blocks(x, blocks, key, weight);
    *count = status ? 0 : (int)blocks;
    return status;
}

gravel_status gravel_exchange_weigh(gravel_exchange *x, int plane, double *sum)
{
    enum { BLOCKS = 16384 };
    if (!x || !sum || plane < 0 || plane >= GRAVEL_PLANES || gv_plane_place((gravel_plane)plane)->word < GV_WORD_USER)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_exchange_weigh needs one of the planes GRAVEL_USER ...");
    gravel_bodies *bodies = x->bodies;
    const size_t n = bodies->count, each = (n + BLOCKS - 1) / BLOCKS;
    const cl_mem none = NULL;
    cl_mem weights = NULL;
    *sum = 0;
    gravel_status status = need_weights(bodies, (gravel_plane)plane, &weights);
    if (status || n == 0)
        return status;
    const size_t blocks = (n + each - 1) / each, size = bodies->precision == GRAVEL_DP ? 8 : 4;
    char *sums = malloc(blocks * size);
    status = sums ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu sums", blocks);
    if (!status)
        status = gv_buffer_reserve_more(&x->worker, &x->block_sum, blocks * 8, "blocks of the curve");
    if (!status)
        status = gv_launch(&x->worker, 0, x->sample, gv_items(blocks, 64), GV_ARG(none), GV_ARG(none), GV_UINT(n),
                           GV_UINT(each), GV_UINT(blocks), GV_ARG(weights), GV_ARG(none), GV_MEM(x->block_sum));
    const cl_int code = status ? CL_SUCCESS
                               : clEnqueueReadBuffer(gv_worker_queue(&x->worker), x->block_sum.mem, CL_TRUE, 0,
                                                     blocks * size, sums, 0, NULL, NULL);
    for (size_t k = 0; k < blocks && !status && !code; k++)
        *sum += size == 8 ? ((const double *)(const void *)sums)[k] : (double)((const float *)(const void *)sums)[k];
    free(sums);
    return status ? status : code ? gv_fail_cl(code, "reading the weight of %zu bodies", n) : GRAVEL_OK;
}

gravel_status gravel_exchange_get_box(gravel_exchange *x, double lo[3], double hi[3])
{
    union {
        double d[8];
        float f[8];
    } box;
    if (!x || !lo || !hi)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_exchange_get_box needs room for the box");
    gravel_bodies *bodies = x->bodies;
    for (int c = 0; c < 3; c++) {
        lo[c] = INFINITY;
        hi[c] = -INFINITY;
    }
    if (bodies->count == 0)
        return GRAVEL_OK;
    gravel_status status = gv_bodies_bounds(bodies, &x->found_box);
    const size_t size = 2 * gv_word_size(bodies, GV_WORD_POSITION);
    const cl_int code = status ? CL_SUCCESS
                               : clEnqueueReadBuffer(gv_worker_queue(&x->worker), x->found_box.mem, CL_TRUE, 0, size,
                                                     &box, 0, NULL, NULL);
    for (int c = 0; c < 3 && !status && !code; c++) {
        lo[c] = size == sizeof box.d ? box.d[c] : (double)box.f[c];
        hi[c] = size == sizeof box.d ? box.d[4 + c] : (double)box.f[4 + c];
    }
    return status ? status : code ? gv_fail_cl(code, "reading the box of %zu bodies", bodies->count) : GRAVEL_OK;
}

typedef struct gv_block_of_curve {
    uint64_t key;
    double weight;
} gv_block_of_curve;

static int by_key(const void *a, const void *b)
{
    const gv_block_of_curve *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->weight > y->weight) - (x->weight < y->weight);
}

gravel_status gravel_exchange_choose(size_t blocks, uint64_t *key, double *weight, int parts, uint64_t *split)
{
    if (parts < 1 || (parts > 1 && !split) || (blocks > 0 && (!key || !weight)))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_exchange_choose needs blocks, parts and a place for the splits");
    gv_block_of_curve *all = malloc((blocks + 1) * sizeof *all);
    double total = 0, before = 0;
    if (!all)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu blocks of the curve", blocks);
    for (size_t k = 0; k < blocks; k++)
        all[k] = (gv_block_of_curve){key[k], weight[k]};
    qsort(all, blocks, sizeof *all, by_key);
    for (size_t k = 0; k < blocks; k++) {
        key[k] = all[k].key;
        weight[k] = all[k].weight;
        total += weight[k];
    }
    int p = 1;
    for (size_t k = 0; k < blocks && p < parts; k++) {
        /* the split is before block k if that is nearer to its place than the end of the block */
        while (p < parts && before + 0.5 * weight[k] >= total * p / parts)
            split[p++ - 1] = key[k];
        before += weight[k];
    }
    for (; p < parts; p++)
        split[p - 1] = UINT64_MAX;
    free(all);
    return GRAVEL_OK;
}
