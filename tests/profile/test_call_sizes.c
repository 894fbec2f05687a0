/* Files of the sizes of calls: src/host/profile/call_sizes.c. */
#include "host_test.h"

#include "host/profile/call_sizes.h"

#define HEAD "gravel calls 1\ndevice A  GPU\n"

static gv_call_size size_of(const char *variant, unsigned features, size_t sinks, size_t sources, uint64_t calls)
{
    gv_call_size size = {.sinks = sinks, .sources = sources, .calls = calls};
    assert_true(gv_variant_parse(variant, &size.variant));
    size.variant.features = features;
    return size;
}

static uint64_t calls_of(const gv_call_sizes *sizes, const char *variant, unsigned features, size_t sinks,
                         size_t sources)
{
    for (int k = 0; k < sizes->n; k++) {
        const gv_call_size *s = &sizes->size[k];
        if (strcmp(s->variant.name, variant) == 0 && s->variant.features == features && s->sinks == sinks &&
            s->sources == sources)
            return s->calls;
    }
    return 0;
}

/* Two objects of one device, one of another: those of a folder are added up. */
static void files_of_a_folder(void **state)
{
    (void)state;
    const gv_call_size first = size_of("ds4", 1, 64, 16384, 3),
                       second = size_of("dp6", 0, 1000000000, 1, UINT64_MAX / 2);
    gv_call_sizes one = GV_CALL_SIZES_INIT, read = GV_CALL_SIZES_INIT;
    char *folder = make_folder(), *a = gv_path_join(folder, "a.calls"), *b = gv_path_join(folder, "b.calls"),
         *c = gv_path_join(folder, "c.calls");
    int others = -1;
    assert_ok(gv_call_sizes_add(&one, &first));
    assert_true(one.n == 1 && one.size[0].calls == 3);
    assert_ok(gv_call_sizes_write(a, "A  GPU\t", &one)); /* names are compared as they are stored */
    assert_ok(gv_call_sizes_write(c, "B GPU", &one));
    assert_ok(gv_call_sizes_add(&one, &second));
    assert_ok(gv_call_sizes_add(&one, &first));
    assert_ok(gv_call_sizes_write(b, "A GPU", &one));
    write_text(folder, "notes.txt", "not one of them");

    assert_ok(gv_call_sizes_read(folder, "A GPU", &read, &others));
    assert_int_equal(others, 1);
    assert_int_equal(read.n, 2);
    assert_true(calls_of(&read, "ds4", 1, 64, 16384) == 3 + 6);
    assert_true(calls_of(&read, "dp6", 0, 1000000000, 1) == UINT64_MAX / 2);
    gv_call_sizes_free(&read);

    assert_ok(gv_call_sizes_read(a, "A GPU", &read, &others));
    assert_int_equal(others, 0);
    assert_true(read.n == 1 && calls_of(&read, "ds4", 1, 64, 16384) == 3);
    gv_call_sizes_free(&read);
    gv_call_sizes_free(&one);
    remove_folder(folder);
    free(a);
    free(b);
    free(c);
    free(folder);
}

/* Sizes whose calls get one configuration are one: that with most calls. */
static void sizes_of_a_cell(void **state)
{
    (void)state;
    const gv_call_size some[] = {size_of("ds4", 0, 1000, 16384, 3), size_of("ds4", 0, 1001, 16400, 2),
                                 size_of("ds4", 0, 1002, 16390, 9), size_of("ds4", 1, 1000, 16384, 1)};
    gv_call_sizes sizes = GV_CALL_SIZES_INIT;
    for (size_t k = 0; k < sizeof some / sizeof *some; k++)
        assert_ok(gv_call_sizes_add(&sizes, &some[k]));
    assert_int_equal(sizes.n, 2);
    assert_true(calls_of(&sizes, "ds4", 0, 1002, 16390) == 14);
    assert_true(calls_of(&sizes, "ds4", 1, 1000, 16384) == 1);
    gv_call_sizes_free(&sizes);
}

static void what_is_refused(void **state)
{
    static const char *const bad[] = {"",
                                      "gravel calls 2\ndevice A GPU\n",
                                      "gravel calls 1\n",
                                      "gravel calls 1\ndevice ",
                                      HEAD "direct ds4 1 64 16384\n",
                                      HEAD "direct ds4 1 64 16384 3 4\n",
                                      HEAD "direct ds4 1 64 16384 3x\n",
                                      HEAD "direct ds5 1 64 16384 3\n",
                                      HEAD "direct ds4 4 64 16384 3\n",
                                      HEAD "direct ds4 1 0 16384 3\n",
                                      HEAD "direct ds4 1 64 -5 3\n",
                                      HEAD "direct ds4 1 64 1000000001 3\n",
                                      HEAD "direct ds4 1 64 16384 0\n",
                                      HEAD "direct ds4 1 64 16384 3\n\n",
                                      HEAD "tree sp2 0 64 16384 3\n"};
    (void)state;
    gv_call_sizes read = GV_CALL_SIZES_INIT;
    char *folder = make_folder(), *a = gv_path_join(folder, "a.calls");
    int others;
    assert_int_equal(gv_call_sizes_read(a, "A GPU", &read, &others), GRAVEL_ERR_FILE);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        write_text(folder, "a.calls", bad[k]);
        if (gv_call_sizes_read(folder, "A GPU", &read, &others) != GRAVEL_ERR_FORMAT)
            fail_msg("taken: %s", bad[k]);
        assert_contains(gravel_error_message(), "a.calls");
    }
    write_text(folder, "a.calls", HEAD "direct ds4 1 64 16384 3\ndirect ds4 1 64 16384 soon\n");
    assert_int_equal(gv_call_sizes_read(a, "A GPU", &read, &others), GRAVEL_ERR_FORMAT);
    assert_contains(gravel_error_message(), "a.calls:4: 'direct ds4 1 64 16384 soon'");
    gv_call_sizes_free(&read);
    remove_folder(folder);
    free(a);
    free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_of_a_folder), cmocka_unit_test(sizes_of_a_cell),
                                       cmocka_unit_test(what_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
