/* Lists of the parts become one list a sink, whatever the size of a group: where devices are CPUs nothing else starts
 * groups of many work-items. */
#include "host/direct/object.h"
#include "one_context.h"

enum { SINKS = 3, STRIDE = 5, CAPACITY = 6, MOST_PARTS = 5000 };

typedef struct lists {
    uint32_t count[SINKS], list[SINKS * CAPACITY];
    int32_t ids[SINKS * CAPACITY];
} lists;

static uint32_t part_count[MOST_PARTS * STRIDE], part_list[MOST_PARTS * STRIDE * CAPACITY];
static uint32_t source_list[MOST_PARTS * 10];
static int32_t source_id[MOST_PARTS * 10];

/* Ten sources a part, of which one sink has few as neighbours, one has many in some parts and one has none. */
static void make_parts(size_t parts)
{
    memset(part_count, 0, sizeof part_count);
    memset(part_list, 0xff, sizeof part_list);
    for (size_t part = 0; part < parts; part++) {
        part_count[part * STRIDE] = part % (parts / 4 + 1) == parts / 8;
        part_count[part * STRIDE + 1] = part % 37 == 3 ? 7 : 0; /* more than there is room for */
        for (size_t sink = 0; sink < SINKS; sink++)
            for (size_t k = 0; k < part_count[part * STRIDE + sink] && k < CAPACITY; k++)
                part_list[(part * STRIDE + sink) * CAPACITY + k] = (uint32_t)(10 * part + k + sink);
    }
    for (size_t k = 0; k < MOST_PARTS * 10; k++) {
        source_id[k] = (int32_t)(3 * k);
        source_list[k] = (uint32_t)(7 * k);
    }
}

static void expect(size_t parts, int listed, lists *wanted)
{
    memset(wanted, 0, sizeof *wanted);
    for (size_t sink = 0; sink < SINKS; sink++)
        for (size_t part = 0; part < parts; part++)
            for (size_t k = 0; k < part_count[part * STRIDE + sink]; k++) {
                const size_t at = wanted->count[sink]++;

                if (k >= CAPACITY || at >= CAPACITY)
                    continue;
                const uint32_t source = part_list[(part * STRIDE + sink) * CAPACITY + k];
                wanted->list[sink * CAPACITY + at] = listed ? source_list[source] : 100 + source;
                wanted->ids[sink * CAPACITY + at] = source_id[source];
            }
}

static void to_device(const gv_worker *worker, gv_buffer *buffer, size_t bytes, const void *data)
{
    assert_ok(gv_buffer_reserve(worker, buffer, bytes, "a test"));
    assert_int_equal(clEnqueueWriteBuffer(gv_worker_queue(worker), buffer->mem, CL_TRUE, 0, bytes, data, 0, NULL, NULL),
                     CL_SUCCESS);
}

static void to_host(const gv_worker *worker, const gv_buffer *buffer, size_t bytes, void *data)
{
    assert_int_equal(clEnqueueReadBuffer(gv_worker_queue(worker), buffer->mem, CL_TRUE, 0, bytes, data, 0, NULL, NULL),
                     CL_SUCCESS);
}

static void join(size_t items, size_t parts, int listed)
{
    gv_worker worker = {.context = context};
    gv_buffer counts = {NULL, 0}, entries = {NULL, 0}, id = {NULL, 0}, list = {NULL, 0}, out[3] = {{NULL, 0}};
    char options[32];
    cl_kernel kernel;
    lists wanted, got;

    memset(&got, 0, sizeof got);
    make_parts(parts);
    expect(parts, listed, &wanted);
    to_device(&worker, &counts, sizeof part_count, part_count);
    to_device(&worker, &entries, sizeof part_list, part_list);
    to_device(&worker, &id, sizeof source_id, source_id);
    to_device(&worker, &list, sizeof source_list, source_list);
    to_device(&worker, &out[0], sizeof got.count, got.count);
    to_device(&worker, &out[1], sizeof got.list, got.list);
    to_device(&worker, &out[2], sizeof got.ids, got.ids);
    snprintf(options, sizeof options, "-DGV_LIST_ITEMS=%zu", items);
    assert_ok(gv_kernel_make(&worker, "direct/lists.cl", options, "gv_join_lists", &kernel));
    assert_ok(gv_launch(&worker, -1, kernel, gv_groups(SINKS, items), GV_MEM(counts), GV_MEM(entries), GV_MEM(id),
                        GV_MEM(list), GV_UINT(listed), GV_UINT(100), GV_MEM(out[0]), GV_MEM(out[1]), GV_MEM(out[2]),
                        GV_UINT(parts), GV_UINT(STRIDE), GV_UINT(CAPACITY)));
    to_host(&worker, &out[0], sizeof got.count, got.count);
    to_host(&worker, &out[1], sizeof got.list, got.list);
    to_host(&worker, &out[2], sizeof got.ids, got.ids);
    assert_memory_equal(&got, &wanted, sizeof got);
    clReleaseKernel(kernel);
    gv_buffer *all[] = {&counts, &entries, &id, &list, &out[0], &out[1], &out[2]};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        gv_buffer_release(all[k]);
}

static void test_lists_of_parts_become_one(void **state)
{
    static const size_t group[] = {1, 64, 96, 256};
    static const size_t parts[] = {0, 1, 7, 8, 64, 65, 512, 513, 2112, MOST_PARTS};

    (void)state;
    SKIP_WITHOUT_DEVICE();
    for (size_t g = 0; g < sizeof group / sizeof group[0]; g++)
        for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++)
            join(group[g], parts[p], (int)p % 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists_of_parts_become_one)};

    return cmocka_run_group_tests(tests, open_context, close_context);
}
