/* Scan, compaction, bounds and sort on a device, in the serial shape and in the shape of work-groups. */
#include "host_test.h"

#include <math.h>

static gravel_context *context;

static int open_context(void **state)
{
    (void)state;
    if (gravel_context_create(&context, NULL) != GRAVEL_OK)
        return -1;
    context->for_once = 1;
    return 0;
}

static int close_context(void **state)
{
    (void)state;
    gravel_context_release(context);
    return 0;
}

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
    assert_int_equal(clEnqueueReadBuffer(context->device[0].queue, mem, CL_TRUE, 0, bytes, data, 0, NULL, NULL), 0);
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
    assert_int_equal(
        clEnqueueNDRangeKernel(context->device[0].queue, kernel, 1, NULL, &global, &group, 0, NULL, NULL), 0);
}

static size_t parts(size_t n, size_t size)
{
    return (n + size - 1) / size;
}

static void scan(size_t n, size_t threads, size_t items)
{
    char options[100];
    snprintf(options, sizeof options, "-DGV_THREADS=%zu -DGV_ITEMS=%zu", threads, items);
    cl_kernel part_kernel = kernel_of("lib/scan.cl", options, "gv_scan_parts");
    cl_kernel rows_kernel = kernel_of("lib/scan.cl", options, "gv_scan_rows");
    cl_kernel apply_kernel = kernel_of("lib/scan.cl", options, "gv_scan_apply");
    uint32_t *data = malloc(n * 4), *out = malloc(n * 4), all;
    uint64_t seed = n;
    for (size_t k = 0; k < n; k++)
        data[k] = (uint32_t)(random_word(&seed) % 1000);
    const size_t tiles = parts(n, threads * items);
    cl_mem in = buffer_of(n * 4, data), part = buffer_of(tiles * 4, NULL), total = buffer_of(4, NULL);
    const cl_uint count = (cl_uint)n, length = (cl_uint)tiles;
    run(part_kernel, tiles, threads, 3, (arg[]){A(in), A(count), A(part)});
    run(rows_kernel, 1, threads, 3, (arg[]){A(part), A(length), A(total)});
    run(apply_kernel, tiles, threads, 4, (arg[]){A(in), A(count), A(part), A(in)});
    read_back(in, n * 4, out);
    read_back(total, 4, &all);
    uint32_t sum = 0;
    for (size_t k = 0; k < n; k++) {
        assert_int_equal(out[k], sum);
        sum += data[k];
    }
    assert_int_equal(all, sum);
    clReleaseMemObject(in);
    clReleaseMemObject(part);
    clReleaseMemObject(total);
    clReleaseKernel(part_kernel);
    clReleaseKernel(rows_kernel);
    clReleaseKernel(apply_kernel);
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

/* Keys are few and far between, all equal or random: stable order of equal keys shows in the values. */
static void sort(size_t n, size_t threads, size_t items, unsigned bits, uint64_t mask)
{
    char options[120], scan_options[100];
    snprintf(options, sizeof options, "-DGV_THREADS=%zu -DGV_ITEMS=%zu -DGV_BITS=%u -DGV_KEY_BITS=64", threads, items,
             bits);
    snprintf(scan_options, sizeof scan_options, "-DGV_THREADS=%zu -DGV_ITEMS=4", threads);
    cl_kernel count_kernel = kernel_of("lib/sort.cl", options, "gv_sort_count");
    cl_kernel rows_kernel = kernel_of("lib/scan.cl", scan_options, "gv_scan_rows");
    cl_kernel scatter_kernel = kernel_of("lib/sort.cl", options, "gv_sort_scatter");
    uint64_t *key = malloc(n * 8), *sorted = malloc(n * 8), seed = n + bits;
    uint32_t *value = malloc(n * 4);
    for (size_t k = 0; k < n; k++) {
        key[k] = random_word(&seed) & mask;
        value[k] = (uint32_t)k;
    }
    const size_t tiles = parts(n, threads * items), digits = (size_t)1 << bits;
    cl_mem keys[2] = {buffer_of(n * 8, key), buffer_of(n * 8, NULL)};
    cl_mem values[2] = {buffer_of(n * 4, value), buffer_of(n * 4, NULL)};
    cl_mem table = buffer_of(digits * tiles * 4, NULL), total = buffer_of(digits * 4, NULL);
    const cl_uint count = (cl_uint)n, length = (cl_uint)tiles;
    int from = 0;
    for (cl_uint shift = 0; shift < 64; shift += bits, from = !from) {
        run(count_kernel, tiles, threads, 4, (arg[]){A(keys[from]), A(count), A(shift), A(table)});
        run(rows_kernel, digits, threads, 3, (arg[]){A(table), A(length), A(total)});
        run(scatter_kernel, tiles, threads, 8,
            (arg[]){A(keys[from]), A(values[from]), A(count), A(shift), A(table), A(total), A(keys[!from]),
                    A(values[!from])});
    }
    read_back(keys[from], n * 8, sorted);
    read_back(values[from], n * 4, value);
    for (size_t k = 0; k < n; k++) {
        assert_true(value[k] < n && sorted[k] == key[value[k]]);
        assert_true(k == 0 || sorted[k - 1] < sorted[k] || (sorted[k - 1] == sorted[k] && value[k - 1] < value[k]));
    }
    for (int k = 0; k < 2; k++) {
        clReleaseMemObject(keys[k]);
        clReleaseMemObject(values[k]);
    }
    clReleaseMemObject(table);
    clReleaseMemObject(total);
    clReleaseKernel(count_kernel);
    clReleaseKernel(rows_kernel);
    clReleaseKernel(scatter_kernel);
    free(key);
    free(sorted);
    free(value);
}

static void test_sort(void **state)
{
    static const uint64_t masks[] = {UINT64_MAX, 0, 0x8001, 0xff00ff00ff000000u};
    (void)state;
    for (int k = 0; k < SIZES; k++)
        for (int m = 0; m < 4; m++) {
            sort(sizes[k], 1, 4096, 8, masks[m]);
            sort(sizes[k], 1, 4096, 11, masks[m]);
            sort(sizes[k], 64, 8, 8, masks[m]);
        }
    sort(5000, 64, 4, 4, UINT64_MAX);
    sort(5000, 256, 4, 8, UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scan),
        cmocka_unit_test(test_compact),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_sort),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
