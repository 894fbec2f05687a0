#include "host/program/sort.h"

#include <stdio.h>
#include <stdlib.h>

#include "host/device/device.h"

static size_t tile_of(const gv_sort_shape *shape)
{
    return (size_t)shape->threads * (size_t)shape->items;
}

static size_t plain_tile(const gv_sort *sort, size_t n)
{
    return sort->plain.threads == 1 && n <= GV_SORT_ONE_TILE ? GV_SORT_ONE_TILE : tile_of(&sort->plain);
}

static size_t parts(size_t n, size_t size)
{
    return (n + size - 1) / size;
}

/* kernels/lib/sweep.cl: what it needs, and how far its counters reach */
enum { SWEEP_DIGITS = 256, SWEEP_ROWS = 9 }; /* rows of control before the status of the tiles */
static const size_t sweep_most_keys = ((size_t)1 << 30) - 1;

int gv_sort_in_sweeps(const gv_sort_shape *shape)
{
    return shape->bits == 8 && shape->threads >= SWEEP_DIGITS;
}

/* sort.cl: keys and indices of a tile, 16 counters a work-item, digits, sums.
 * sweep.cl: digits of 32 work-items each or the keys of a tile, digits of the tile, sums. */
size_t gv_sort_local_bytes(const gv_sort_shape *shape, int in_sweeps)
{
    const size_t threads = (size_t)shape->threads, digits = (size_t)1 << shape->bits;
    if (threads == 1)
        return digits * 4;
    if (!in_sweeps)
        return tile_of(shape) * 12 + threads * 32 + digits * 4 + threads * 4;
    const size_t counters = threads / 32 * digits * 4, keys = tile_of(shape) * 8;
    return (counters > keys ? counters : keys) + digits * 4 + 256;
}

static const gv_sort_shape sweep_shape = {256, 16, 8};

static void drop_kernels(gv_sort *sort)
{
    cl_kernel *const all[] = {&sort->count, &sort->rows, &sort->scatter, &sort->sweep_count, &sort->sweep_pass};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        if (*all[k])
            clReleaseKernel(*all[k]);
        *all[k] = NULL;
    }
}

void gv_sort_plain_options(const gv_sort_shape *shape, int key_bits, char *options, size_t size)
{
    char items[32] = "";

    if (shape->threads > 1)
        snprintf(items, sizeof items, " -DGV_ITEMS=%d", shape->items);
    snprintf(options, size, "-DGV_THREADS=%d%s -DGV_BITS=%d -DGV_KEY_BITS=%d", shape->threads, items, shape->bits,
             key_bits);
}

static gravel_status make_plain(gv_sort *sort, const gv_worker *worker)
{
    char options[160], rows_options[80];

    sort->rows_group = sort->plain.threads == 1 ? 1 : gv_device_group(&gv_worker_device(worker)->info, 256);
    gv_sort_plain_options(&sort->plain, sort->key_bits, options, sizeof options);
    snprintf(rows_options, sizeof rows_options, "-DGV_THREADS=%zu -DGV_ITEMS=4", sort->rows_group);
    gravel_status status = gv_kernel_make(worker, "lib/sort.cl", options, "gv_sort_count", &sort->count);
    if (!status)
        status = gv_kernel_make(worker, "lib/sort.cl", options, "gv_sort_scatter", &sort->scatter);
    if (!status)
        status = gv_kernel_make(worker, "lib/scan.cl", rows_options, "gv_scan_rows", &sort->rows);
    return status;
}

static gravel_status make_sweeps(gv_sort *sort, const gv_worker *worker)
{
    char options[160];

    snprintf(options, sizeof options, "-DGV_THREADS=%d -DGV_ITEMS=%d -DGV_KEY_BITS=%d", sort->shape.threads,
             sort->shape.items, sort->key_bits);
    gravel_status status = gv_kernel_make(worker, "lib/sweep.cl", options, "gv_sweep_count", &sort->sweep_count);
    if (!status)
        status = gv_kernel_make(worker, "lib/sweep.cl", options, "gv_sweep_pass", &sort->sweep_pass);
    return status;
}

/* ------------------------------------------------------------------ passes */

static gravel_status run_plain_pass(gv_sort *sort, gv_worker *worker, int stage, size_t n, int shift)
{
    const size_t group = (size_t)sort->plain.threads, tile = plain_tile(sort, n), tiles = parts(n, tile);
    const gv_range all_tiles = gv_groups(tiles, group);
    const int from = sort->sorted, to = !from;
    gravel_status status = gv_launch(worker, stage, sort->count, all_tiles, GV_MEM(sort->key[from]), GV_UINT(n),
                                     GV_UINT(shift), GV_MEM(sort->table), GV_UINT(tile));
    if (!status)
        status = gv_launch(worker, stage, sort->rows, gv_groups((size_t)1 << sort->plain.bits, sort->rows_group),
                           GV_MEM(sort->table), GV_UINT(tiles), GV_MEM(sort->total));
    if (!status)
        status = gv_launch(worker, stage, sort->scatter, all_tiles, GV_MEM(sort->key[from]), GV_MEM(sort->index[from]),
                           GV_UINT(n), GV_UINT(shift), GV_MEM(sort->table), GV_MEM(sort->total), GV_MEM(sort->key[to]),
                           GV_MEM(sort->index[to]), GV_UINT(tile));
    sort->sorted = to;
    return status;
}

static size_t control_bytes(const gv_sort *sort, size_t n)
{
    return (SWEEP_ROWS + parts(n, tile_of(&sort->shape))) * SWEEP_DIGITS * 4;
}

static gravel_status run_sweeps(gv_sort *sort, gv_worker *worker, int stage, size_t n, int passes)
{
    const size_t group = (size_t)sort->shape.threads, tiles = parts(n, tile_of(&sort->shape));
    const cl_uint zero = 0;
    size_t counting = parts(n, 16 * group), most = 4 * (size_t)gv_worker_device(worker)->info.compute_units;
    counting = counting < most ? counting : most;
    const cl_int code = clEnqueueFillBuffer(gv_worker_queue(worker), sort->control.mem, &zero, sizeof zero, 0,
                                            control_bytes(sort, n), 0, NULL, NULL);
    if (code)
        return gv_fail_cl(code, "clearing the counters of the sort");
    gravel_status status =
        gv_launch(worker, stage, sort->sweep_count, gv_groups(counting, group), GV_MEM(sort->key[sort->sorted]),
                  GV_UINT(n), GV_UINT(passes), GV_MEM(sort->control));
    for (int pass = 0; pass < passes && !status; pass++) {
        const int from = sort->sorted, to = !from;
        status = gv_launch(worker, stage, sort->sweep_pass, gv_groups(tiles, group), GV_MEM(sort->key[from]),
                           GV_MEM(sort->index[from]), GV_UINT(n), GV_UINT(pass), GV_MEM(sort->control),
                           GV_MEM(sort->key[to]), GV_MEM(sort->index[to]));
        sort->sorted = to;
    }
    return status;
}

/* ---------------------------------------------------------------- the trial */

enum { TRIAL_KEYS = 300007 };

static uint64_t trial_key(uint64_t k)
{
    k = (k ^ (k >> 13)) * 0x9e3779b97f4a7c15u; /* any mixture will do; some keys are equal */
    return (k ^ (k >> 29)) >> (k % 3 ? 1 : 50);
}

/* keys in key[0 ... TRIAL_KEYS), then back from the device in order */
static gravel_status sort_trial_keys(const gv_worker *worker, uint64_t *key, uint32_t *index)
{
    gv_worker mine = {.context = worker->context, .device = worker->device};
    gv_sort sort = {.shape = sweep_shape, .key_bits = 64, .in_sweeps = 1};
    cl_command_queue queue = gv_worker_queue(worker);
    cl_int code = CL_SUCCESS;
    gravel_status status = make_sweeps(&sort, worker);
    if (!status)
        status = gv_sort_reserve(&sort, worker, TRIAL_KEYS);
    if (!status) {
        code = clEnqueueWriteBuffer(queue, sort.key[0].mem, CL_TRUE, 0, TRIAL_KEYS * 8, key, 0, NULL, NULL);
        if (!code)
            code = clEnqueueWriteBuffer(queue, sort.index[0].mem, CL_TRUE, 0, TRIAL_KEYS * 4, index, 0, NULL, NULL);
        if (!code)
            status = run_sweeps(&sort, &mine, 0, TRIAL_KEYS, 8);
    }
    if (!status && !code) {
        code = clEnqueueReadBuffer(queue, sort.key[sort.sorted].mem, CL_TRUE, 0, TRIAL_KEYS * 8, key, 0, NULL, NULL);
        if (!code)
            code = clEnqueueReadBuffer(queue, sort.index[sort.sorted].mem, CL_TRUE, 0, TRIAL_KEYS * 4, index, 0, NULL,
                                       NULL);
    }
    gv_sort_release(&sort);
    gv_worker_clear(&mine);
    return !status && code ? gv_fail_cl(code, "moving keys for a trial of the sort") : status;
}

/* Sorts on the device and looks at the result: some milliseconds, once a device and context. */
static int sweeps_are_right(const gv_worker *worker)
{
    uint64_t *key = malloc(TRIAL_KEYS * sizeof *key);
    uint32_t *index = malloc(TRIAL_KEYS * sizeof *index);
    int right = key && index;
    for (uint32_t k = 0; right && k < TRIAL_KEYS; k++) {
        key[k] = trial_key(k);
        index[k] = k;
    }
    right = right && sort_trial_keys(worker, key, index) == GRAVEL_OK;
    for (uint32_t k = 0; right && k < TRIAL_KEYS; k++)
        right = index[k] < TRIAL_KEYS && key[k] == trial_key(index[k]) &&
                (k == 0 || key[k - 1] < key[k] || (key[k - 1] == key[k] && index[k - 1] < index[k]));
    free(key);
    free(index);
    return right;
}

static int can_sweep(const gv_worker *worker, const gv_sort_shape *shape)
{
    gv_device *device = gv_worker_device(worker);
    if (!device->has_ptx_asm || !gv_sort_in_sweeps(shape))
        return 0;
    if (atomic_load(&device->sweeps) == 0) {
        const int right = sweeps_are_right(worker);
        if (!right)
            gv_log(worker->context, GRAVEL_LOG_WARNING,
                   "%s: the sort in sweeps is not right here, the plain one is used", device->info.name);
        atomic_store(&device->sweeps, right ? 1 : 2);
    }
    return atomic_load(&device->sweeps) == 1;
}

/* ------------------------------------------------------------------ calls */

static gv_sort_shape plain_shape(const gravel_device_info *info)
{
    gv_sort_shape shape = {256, 8, 8};
    if (info->type == GRAVEL_DEVICE_CPU)
        return (gv_sort_shape){1, 8192, 8};
    while (shape.threads > 64 &&
           ((size_t)shape.threads > (size_t)info->max_group || gv_sort_local_bytes(&shape, 0) > info->local_memory))
        shape.threads /= 2;
    return shape;
}

gv_sort_shape gv_sort_usual_shape(const gv_worker *worker)
{
    return can_sweep(worker, &sweep_shape) ? sweep_shape : plain_shape(&gv_worker_device(worker)->info);
}

gravel_status gv_sort_make(gv_sort *sort, const gv_worker *worker, int key_bits, const gv_sort_shape *shape)
{
    const gravel_device_info *info = &gv_worker_device(worker)->info;
    drop_kernels(sort);
    sort->shape = sort->plain = shape ? *shape : gv_sort_usual_shape(worker);
    sort->key_bits = key_bits;
    /* a tile that is too small for sweeps, from a profile of the plain sort: any sweep is faster than that */
    if (sort->shape.threads > 1 && sort->shape.bits == 8 && !gv_sort_in_sweeps(&sort->shape) &&
        can_sweep(worker, &sweep_shape))
        sort->shape = sweep_shape;
    if (gv_sort_local_bytes(&sort->plain, 0) > info->local_memory)
        sort->plain = plain_shape(info);
    gravel_status status = can_sweep(worker, &sort->shape) ? make_sweeps(sort, worker) : make_plain(sort, worker);
    if (status)
        drop_kernels(sort);
    return status;
}

gravel_status gv_sort_reserve(gv_sort *sort, const gv_worker *worker, size_t n)
{
    const size_t digits = (size_t)1 << sort->plain.bits, tiles = parts(n, plain_tile(sort, n));
    gravel_status status = GRAVEL_OK;
    for (int k = 0; k < 2 && !status; k++) {
        status = gv_buffer_reserve_more(worker, &sort->key[k], n * (size_t)sort->key_bits / 8, "keys");
        if (!status)
            status = gv_buffer_reserve_more(worker, &sort->index[k], n * 4, "indices of keys");
    }
    sort->in_sweeps = sort->sweep_pass && n <= sweep_most_keys;
    if (!status && sort->in_sweeps)
        return gv_buffer_reserve_more(worker, &sort->control, control_bytes(sort, n), "counters of the sort");
    if (!status && !sort->count)
        status = make_plain(sort, worker);
    if (!status)
        status = gv_buffer_reserve_more(worker, &sort->table, digits * tiles * 4, "counters of the sort");
    if (!status)
        status = gv_buffer_reserve_more(worker, &sort->total, digits * 4, "counters of the sort");
    return status;
}

gravel_status gv_sort_run(gv_sort *sort, gv_worker *worker, int stage, size_t n, int used_bits)
{
    gravel_status status = GRAVEL_OK;
    if (n == 0)
        return GRAVEL_OK;
    if (sort->in_sweeps)
        return run_sweeps(sort, worker, stage, n, (used_bits + sort->shape.bits - 1) / sort->shape.bits);
    for (int shift = 0; shift < used_bits && !status; shift += sort->plain.bits)
        status = run_plain_pass(sort, worker, stage, n, shift);
    return status;
}

size_t gv_sort_memory(const gv_sort *sort)
{
    return sort->key[0].size + sort->key[1].size + sort->index[0].size + sort->index[1].size + sort->table.size +
           sort->total.size + sort->control.size;
}

void gv_sort_release(gv_sort *sort)
{
    gv_buffer *const all[] = {&sort->key[0], &sort->key[1], &sort->index[0], &sort->index[1],
                              &sort->table,  &sort->total,  &sort->control};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        gv_buffer_release(all[k]);
    drop_kernels(sort);
}
