/* Scan, compaction, bounds and sort on a device, in the serial shape and in the shape of work-groups. */
#include "host/program/program.h"
#include "host/program/sort.h"
#include "one_context.h"

#include <math.h>

static const size_t sizes[] = {1, 2, 63, 64, 65, 1000, 4096, 4097, 50021};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static uint64_t random_word(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static cl_kernel kernel_of(const char *file, const char *options, const char *name)
{
    cl_program program;
    cl_int code;
    assert_ok(gv_program_get(context, 0, file, options, &program));
    cl_kernel kernel = clCreateKernel(program, name, &code);
    assert_int_equal(code, CL_SUCCESS);
    return kernel;
}

static cl_mem buffer_of(size_t bytes, const void *data)
{
    cl_int code;
    cl_mem mem = clCreateBuffer(context->cl, CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0), bytes,
                                (void *)(uintptr_t)data, &code);
    assert_int_equal(code, CL_SUCCESS);
    return mem;
}

static void read_back(cl_mem mem, size_t bytes, void *data)
{
    assert_int_equal(clEnqueueReadBuffer(context->device[0].timed, mem, CL_TRUE, 0, bytes, data, 0, NULL, NULL), 0);
}

typedef struct arg {
    size_t size;
    const void *value;
} arg;
#define A(x) ((arg){sizeof(x), &(x)})

static void run(cl_kernel kernel, size_t groups, size_t group, int n_args, const arg *args)
{
    const size_t global = groups * group;
    for (int k = 0; k < n_args; k++)
        assert_int_equal(clSetKernelArg(kernel, (cl_uint)k, args[k].size, args[k].value), 0);
    assert_int_equal(clEnqueueNDRangeKernel(context->device[0].timed, kernel, 1, NULL, &global, &group, 0, NULL, NULL),
                     0);
}

static size_t parts(size_t n, size_t size)
{
    return (n + size - 1) / size;
}

/* A table of rows of n numbers. */
static void scan(size_t n, size_t threads, size_t items)
{
    enum { ROWS = 3 };
    char options[100];
    snprintf(options, sizeof options, "-DGV_THREADS=%zu -DGV_ITEMS=%zu", threads, items);
    cl_kernel kernel = kernel_of("lib/scan.cl", options, "gv_scan_rows");
    uint32_t *data = malloc(ROWS * n * 4), *out = malloc(ROWS * n * 4), all[ROWS];
    uint64_t seed = n;
    for (size_t k = 0; k < ROWS * n; k++)
        data[k] = (uint32_t)(random_word(&seed) % 1000);
    cl_mem table = buffer_of(ROWS * n * 4, data), total = buffer_of(sizeof all, NULL);
    const cl_uint length = (cl_uint)n;
    run(kernel, ROWS, threads, 3, (arg[]){A(table), A(length), A(total)});
    read_back(table, ROWS * n * 4, out);
    read_back(total, sizeof all, all);
    for (size_t row = 0; row < ROWS; row++) {
        uint32_t sum = 0;
        for (size_t k = row * n; k < (row + 1) * n; k++) {
            assert_int_equal(out[k], sum);
            sum += data[k];
        }
        assert_int_equal(all[row], sum);
    }
    clReleaseMemObject(table);
    clReleaseMemObject(total);
    clReleaseKernel(kernel);
    free(data);
    free(out);
}

static void test_scan(void **state)
{
    (void)state;
    for (int k = 0; k < SIZES; k++) {
        scan(sizes[k], 1, 512);
        scan(sizes[k], 64, 4);
    }
}

static void compact(size_t n, size_t threads, size_t items)
{
    char options[100];
    snprintf(options, sizeof options, "-DGV_THREADS=%zu -DGV_ITEMS=%zu", threads, items);
    cl_kernel count_kernel = kernel_of("lib/compact.cl", options, "gv_compact_count");
    cl_kernel rows_kernel = kernel_of("lib/scan.cl", options, "gv_scan_rows");
    cl_kernel write_kernel = kernel_of("lib/compact.cl", options, "gv_compact_write");
    unsigned char *flag = malloc(n);
    uint32_t *at = malloc(n * 4), *out = malloc(n * 4), all;
    uint64_t seed = n;
    for (size_t k = 0; k < n; k++) {
        flag[k] = random_word(&seed) % 3 == 0;
        at[k] = (uint32_t)(n - 1 - k);
    }
    const size_t tiles = parts(n, threads * items);
    cl_mem flags = buffer_of(n, flag), order = buffer_of(n * 4, at), table = buffer_of(tiles * 4, NULL);
    cl_mem total = buffer_of(4, NULL), list = buffer_of(n * 4, NULL);
    const cl_uint count = (cl_uint)n, length = (cl_uint)tiles;
    run(count_kernel, tiles, threads, 4, (arg[]){A(flags), A(order), A(count), A(table)});
    run(rows_kernel, 1, threads, 3, (arg[]){A(table), A(length), A(total)});
    run(write_kernel, tiles, threads, 5, (arg[]){A(flags), A(order), A(count), A(table), A(list)});
    read_back(list, n * 4, out);
    read_back(total, 4, &all);
    uint32_t found = 0;
    for (size_t k = 0; k < n; k++)
        if (flag[at[k]]) {
            assert_true(found < all);
            assert_int_equal(out[found++], k);
        }
    assert_int_equal(found, all);
    clReleaseMemObject(flags);
    clReleaseMemObject(order);
    clReleaseMemObject(table);
    clReleaseMemObject(total);
    clReleaseMemObject(list);
    clReleaseKernel(count_kernel);
    clReleaseKernel(rows_kernel);
    clReleaseKernel(write_kernel);
    free(flag);
    free(at);
    free(out);
}

static void test_compact(void **state)
{
    (void)state;
    for (int k = 0; k < SIZES; k++) {
        compact(sizes[k], 1, 4096);
        compact(sizes[k], 64, 4);
    }
}

static void bounds(size_t n, size_t threads)
{
    char options[100];
    snprintf(options, sizeof options, "-DGV_PRECISION=0 -DGV_LANES=1 -DGV_THREADS=%zu", threads);
    cl_kernel kernel = kernel_of("lib/reduce.cl", options, "gv_reduce_bounds");
    float *data = malloc(n * 16), lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    uint64_t seed = n;
    for (size_t k = 0; k < n * 4; k++) {
        data[k] = (float)(int64_t)random_word(&seed) * 1e-15f;
        if (k % 4 < 3) {
            lo[k % 4] = fminf(lo[k % 4], data[k]);
            hi[k % 4] = fmaxf(hi[k % 4], data[k]);
        }
    }
    enum { GROUPS = 5 };
    cl_mem in = buffer_of(n * 16, data), part = buffer_of(GROUPS * 32, NULL), out = buffer_of(32, NULL);
    const cl_uint count = (cl_uint)n, n_parts = GROUPS;
    const cl_int no = 0, yes = 1;
    run(kernel, GROUPS, threads, 4, (arg[]){A(in), A(count), A(no), A(part)});
    run(kernel, 1, threads, 4, (arg[]){A(part), A(n_parts), A(yes), A(out)});
    float found[8];
    read_back(out, sizeof found, found);
    for (int k = 0; k < 3; k++) {
        assert_true(found[k] == lo[k]);
        assert_true(found[4 + k] == hi[k]);
    }
    clReleaseMemObject(in);
    clReleaseMemObject(part);
    clReleaseMemObject(out);
    clReleaseKernel(kernel);
    free(data);
}

static void test_bounds(void **state)
{
    (void)state;
    for (int k = 0; k < SIZES; k++) {
        bounds(sizes[k], 1);
        bounds(sizes[k], 64);
    }
}

enum { PATTERNS = 6 };

/* Random keys of all bits, few bits, two digits far apart, all equal, in order, in reverse order: those that are equal
 * must keep their order, which shows in the indices. */
static void fill_keys(uint64_t *key, size_t n, int pattern, int key_bits)
{
    static const uint64_t mask[4] = {UINT64_MAX, 0x8001, 0xff00ff00ff000000u, 0};
    const uint64_t below = UINT64_MAX >> (64 - key_bits);
    uint64_t seed = n + (uint64_t)pattern;
    for (size_t k = 0; k < n; k++)
        key[k] = (pattern < 4 ? random_word(&seed) & mask[pattern] : pattern == 4 ? k * 977 : (n - k) * 977) & below;
}

static void write_to(cl_mem mem, size_t bytes, const void *data)
{
    const gv_worker worker = {.context = context, .device = 0};
    assert_int_equal(clEnqueueWriteBuffer(gv_worker_queue(&worker), mem, CL_TRUE, 0, bytes, data, 0, NULL, NULL), 0);
}

static void put_keys(const gv_sort *sort, const uint64_t *key, size_t n)
{
    uint32_t *narrow = malloc(n * 4), *index = malloc(n * 4);
    for (size_t k = 0; k < n; k++) {
        narrow[k] = (uint32_t)key[k];
        index[k] = (uint32_t)k;
    }
    write_to(sort->key[sort->sorted].mem, n * (size_t)sort->key_bits / 8,
             sort->key_bits == 64 ? (const void *)key : narrow);
    write_to(sort->index[sort->sorted].mem, n * 4, index);
    free(narrow);
    free(index);
}

/* in order, equal keys in the order of their indices, every index once */
static void check_sorted(const gv_sort *sort, const uint64_t *key, size_t n)
{
    const size_t width = (size_t)sort->key_bits / 8;
    unsigned char *sorted = malloc(n * width), *seen = calloc(n, 1);
    uint32_t *index = malloc(n * 4);
    uint64_t before = 0;
    const gv_worker worker = {.context = context, .device = 0};
    cl_command_queue queue = gv_worker_queue(&worker);
    assert_int_equal(
        clEnqueueReadBuffer(queue, sort->key[sort->sorted].mem, CL_TRUE, 0, n * width, sorted, 0, NULL, NULL), 0);
    assert_int_equal(clEnqueueReadBuffer(queue, sort->index[sort->sorted].mem, CL_TRUE, 0, n * 4, index, 0, NULL, NULL),
                     0);
    for (size_t k = 0; k < n; k++) {
        uint64_t here = 0;
        uint32_t narrow;
        if (width == 8)
            memcpy(&here, sorted + 8 * k, 8);
        else {
            memcpy(&narrow, sorted + 4 * k, 4);
            here = narrow;
        }
        assert_true(index[k] < n && !seen[index[k]]);
        seen[index[k]] = 1;
        assert_true(here == key[index[k]]);
        assert_true(k == 0 || before < here || (before == here && index[k - 1] < index[k]));
        before = here;
    }
    free(sorted);
    free(seen);
    free(index);
}

static void sort(size_t n, gv_sort_shape shape, int key_bits, int used_bits)
{
    gv_worker worker = {.context = context, .device = 0};
    gv_sort order;
    uint64_t *key = malloc(n * 8);
    memset(&order, 0, sizeof order);
    assert_ok(gv_sort_make(&order, &worker, key_bits, &shape));
    assert_ok(gv_sort_reserve(&order, &worker, n));
    assert_true(gv_sort_memory(&order) >= 2 * n * ((size_t)key_bits / 8 + 4));
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        fill_keys(key, n, pattern, used_bits);
        put_keys(&order, key, n);
        assert_ok(gv_sort_run(&order, &worker, 0, n, used_bits));
        check_sorted(&order, key, n);
    }
    gv_sort_release(&order);
    gv_worker_clear(&worker);
    free(key);
}

static void test_sort(void **state)
{
    static const gv_sort_shape shapes[] = {{1, 4096, 8}, {1, 4096, 11}, {64, 8, 8}};
    (void)state;
    for (int k = 0; k < SIZES; k++)
        for (int s = 0; s < 3; s++)
            sort(sizes[k], shapes[s], 64, 64);
    sort(5000, (gv_sort_shape){64, 4, 4}, 64, 63);
    sort(5000, (gv_sort_shape){256, 4, 8}, 64, 40);
    sort(5000, (gv_sort_shape){64, 8, 8}, 32, 32);
    sort(50021, (gv_sort_shape){1, 4096, 8}, 32, 20);
}

/* Where the device sorts in sweeps, tiles wait for one another: enough of them for several rounds of the device. */
static void test_sort_usual_shape(void **state)
{
    const gv_worker worker = {.context = context, .device = 0};
    (void)state;
    const gv_sort_shape shape = gv_sort_usual_shape(&worker);
    const size_t tile = (size_t)shape.threads * (size_t)shape.items;
    const size_t usual_sizes[] = {1, tile - 1, tile, tile + 1, 9 * tile + 7, 200003};
    for (int k = 0; k < 6; k++)
        sort(usual_sizes[k], shape, 64, 63);
    sort(100003, shape, 32, 32);
    if (context->device[0].info.type != GRAVEL_DEVICE_CPU)
        sort(5000011, shape, 64, 63);
}

/* Keys of points in the unit cube, as kernels/tree/keys.cl finds them in this shape. */
static void find_keys(size_t n, const float *body, int curve, int lanes, size_t threads, uint64_t *key)
{
    char options[120];
    const float corner[8] = {0, 0, 0, 0, 1, 1, 1, 0};
    uint32_t *place = malloc(n * 4);
    snprintf(options, sizeof options, "-DGV_PRECISION=0 -DGV_LANES=%d -DGV_THREADS=%zu -DGV_CURVE=%d", lanes, threads,
             curve);
    cl_kernel kernel = kernel_of("tree/keys.cl", options, "gv_tree_keys");
    cl_mem bodies = buffer_of(n * 16, body), bounds_mem = buffer_of(sizeof corner, corner);
    cl_mem keys = buffer_of(n * 8, NULL), places = buffer_of(n * 4, NULL);
    const cl_uint count = (cl_uint)n;
    const size_t group = threads > 1 ? threads : 16, groups = threads > 1 ? 3 : parts(n, group * (size_t)lanes);
    run(kernel, groups, group, 5, (arg[]){A(bodies), A(count), A(bounds_mem), A(keys), A(places)});
    read_back(keys, n * 8, key);
    read_back(places, n * 4, place);
    for (size_t k = 0; k < n; k++)
        assert_int_equal(place[k], k);
    clReleaseMemObject(bodies);
    clReleaseMemObject(bounds_mem);
    clReleaseMemObject(keys);
    clReleaseMemObject(places);
    clReleaseKernel(kernel);
    free(place);
}

/* Neighbours along a Hilbert curve are neighbours in space: the centres of the 512 cells of level 3, in the order of
 * their keys, are one cell apart, which Morton's order does not do.  All shapes find the same keys. */
static void test_keys(void **state)
{
    enum { SIDE = 8, CELLS = SIDE * SIDE * SIDE, N = CELLS + 5000 };
    float *body = malloc(N * 16);
    uint64_t *plain = malloc(N * 8), *other = malloc(N * 8), seed = 1;
    int at[CELLS];
    (void)state;
    for (int k = 0; k < N; k++)
        for (int c = 0; c < 4; c++)
            body[4 * k + c] = k < CELLS ? ((float)(k >> 3 * (c % 3) & (SIDE - 1)) + 0.5f) / SIDE
                                        : (float)(random_word(&seed) >> 40) * 0x1p-24f;
    find_keys(N, body, 1, 1, 1, plain);
    for (int k = 0; k < CELLS; k++)
        at[plain[k] >> 54] = k;
    for (int d = 1; d < CELLS; d++) {
        int apart = 0;
        for (int c = 0; c < 3; c++)
            apart += abs((at[d] >> 3 * c & (SIDE - 1)) - (at[d - 1] >> 3 * c & (SIDE - 1)));
        assert_int_equal(apart, 1);
    }
    find_keys(N, body, 1, 1, 64, other);
    assert_memory_equal(plain, other, N * 8);
    find_keys(N, body, 1, 4, 1, other);
    assert_memory_equal(plain, other, N * 8);
    find_keys(N, body, 0, 1, 1, plain);
    find_keys(N, body, 0, 1, 64, other);
    assert_memory_equal(plain, other, N * 8);
    free(body);
    free(plain);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scan), cmocka_unit_test(test_compact), cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_keys), cmocka_unit_test(test_sort),    cmocka_unit_test(test_sort_usual_shape),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
