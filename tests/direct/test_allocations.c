/* The n-th allocation of the library fails, for every n: a status and a message, nothing left behind (the sanitized
 * build looks for leaks), and the next call works.  The linker sends the library's own malloc, calloc, realloc and
 * strdup here (--wrap); those of OpenCL and of the C library are not touched. */
#include "gravel/direct.h"
#include "gravel/tree.h"
#include "host_test.h"

#include <stdatomic.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);

static atomic_int countdown; /* the allocation that fails: 1 = the next; 0 = none; threads count too */
static atomic_int failed;

static int fails(void)
{
    int left = countdown;
    while (left > 0 && !atomic_compare_exchange_weak(&countdown, &left, left - 1))
        ;
    if (left != 1)
        return 0;
    failed = 1;
    return 1;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

/* ---------------------------------------------------------------- scenarios */

enum { N = 64, CAPACITY = 8 };
static double mass[N], pos[N][3], acc[N][3], nearest[N];
static uint32_t count[N], list[N * CAPACITY];
static double radius[N];

static void make_bodies(void)
{
    for (int i = 0; i < N; i++) {
        mass[i] = 1.0 / N;
        radius[i] = 1;
        for (int c = 0; c < 3; c++)
            pos[i][c] = (i * (7 + 4 * c)) % 13;
    }
}

static gravel_status call_direct(gravel_context *context)
{
    const gravel_sources sources = {.count = N, .mass = mass, .pos = GRAVEL_VEC_AOS(pos)};
    const gravel_sinks sinks = {.count = N, .pos = GRAVEL_VEC_AOS(pos), .radius = radius};
    const gravel_forces forces = {.acc = GRAVEL_VEC_OUT_AOS(acc),
                                  .nearest_distance = nearest,
                                  .neighbour_count = count,
                                  .neighbour_address = list};
    gravel_direct_options wanted = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_direct *direct = NULL;

    wanted.nearest = 1;
    wanted.neighbour_capacity = CAPACITY;
    gravel_status status = gravel_direct_create(&direct, context, &wanted);
    status = status == GRAVEL_OK ? gravel_direct_write_sources(direct, 0, &sources) : status;
    status = status == GRAVEL_OK ? gravel_direct_submit(direct, &sinks, 0.1) : status;
    status = status == GRAVEL_OK ? gravel_direct_collect(direct, &forces, NULL) : status;
    gravel_direct_release(direct);
    return status;
}

static gravel_status call_tree(gravel_context *context)
{
    const gravel_sources bodies = {.count = N, .mass = mass, .pos = GRAVEL_VEC_AOS(pos)};
    const gravel_forces forces = {.acc = GRAVEL_VEC_OUT_AOS(acc)};
    static const uint32_t address[3] = {5, 1, 40};
    gravel_tree_options wanted = GRAVEL_TREE_OPTIONS_INIT;
    gravel_tree *tree = NULL;

    gravel_status status = gravel_tree_create(&tree, context, &wanted);
    status = status == GRAVEL_OK ? gravel_tree_write(tree, &bodies) : status;
    status = status == GRAVEL_OK ? gravel_tree_forces(tree, 0.1, &forces) : status;
    status = status == GRAVEL_OK ? gravel_tree_forces_active(tree, address, 3, 0.1, &forces) : status;
    gravel_tree_release(tree);
    return status;
}

typedef gravel_status (*call)(gravel_context *context);

/* In one context, which stays usable whatever failed in it; then with a context of its own in every attempt. */
static void try_all(call run, int own_context, int stride)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_context *context = NULL;
    int told = 0;

    assert_ok(gravel_context_create(&context, &options));
    assert_ok(run(context)); /* compiles, and proves that it works */
    for (int at = 1; at == 1 || failed; at += stride) {
        gravel_context *own = NULL;
        gravel_status status = GRAVEL_OK;

        failed = 0;
        gv_fail(GRAVEL_OK, "no message");
        countdown = at;
        if (own_context)
            status = gravel_context_create(&own, &options);
        status = status == GRAVEL_OK ? run(own_context ? own : context) : status;
        gravel_context_release(own);
        countdown = 0;
        if (status != GRAVEL_OK && strcmp(gravel_error_message(), "no message") == 0)
            fail_msg("allocation %d fails: no message", at);
        told += status != GRAVEL_OK;
        if (!failed)
            assert_int_equal(status, GRAVEL_OK);
    }
    print_message("%d allocations failed the call\n", told);
    assert_true(told > 0);
    assert_ok(run(context));
    gravel_context_release(context);
}

static void allocations_of_direct_summation(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    try_all(call_direct, 0, 1);
}

static void allocations_of_the_tree(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    try_all(call_tree, 0, 1);
}

/* Profiles and sources are read with hundreds of equal allocations: only some of them fail here. */
static void allocations_of_contexts(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    try_all(call_direct, 1, getenv("GRAVEL_TEST_QUICK") ? 31 : 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_of_direct_summation),
        cmocka_unit_test(allocations_of_the_tree),
        cmocka_unit_test(allocations_of_contexts),
    };

    make_bodies();
    return cmocka_run_group_tests_name("allocations", tests, NULL, NULL);
}
