/* src/host/direct/due.c: sinks that the device has found are summed as those that the host knows of. */
#include "problem.h"

#include <string.h>

#include "host/bodies/bodies.h"
#include "host/direct/call.h"

enum { N = 9000, STRIDE = 7 }; /* parts have 2048 sources at least on CPUs */

/* Bodies that move. */
static gravel_bodies *make_bodies(gravel_context *context, gravel_precision precision)
{
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_bodies *set;
    static double x[3][N], v[3][N], m[N], t[N];
    uint64_t seed = 3;
    for (int k = 0; k < N; k++) {
        for (int c = 0; c < 3; c++) {
            x[c][k] = random_unit(&seed);
            v[c][k] = random_unit(&seed);
        }
        m[k] = (2 + random_unit(&seed)) / N;
    }
    options.precision = precision;
    assert_ok(gravel_bodies_create(&set, context, &options));
    assert_ok(gravel_bodies_resize(set, N));
    assert_ok(gravel_bodies_write(set, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_SOA(x[0], x[1], x[2])));
    assert_ok(gravel_bodies_write(set, GRAVEL_VELOCITY, 0, N, &GRAVEL_ARRAY_SOA(v[0], v[1], v[2])));
    assert_ok(gravel_bodies_write(set, GRAVEL_MASS, 0, N, &GRAVEL_ARRAY(m)));
    assert_ok(gravel_bodies_write(set, GRAVEL_TIME, 0, N, &GRAVEL_ARRAY(t)));
    return set;
}

static cl_mem make_buffer(gravel_direct *d, size_t size, void *from)
{
    cl_int code;
    const cl_mem made =
        clCreateBuffer(d->worker.context->cl, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size, from, &code);
    assert_int_equal(code, CL_SUCCESS);
    return made;
}

/* What the device knows: how many there are, and the time, 1/8. */
static cl_mem make_head(gravel_direct *d, gravel_precision precision, size_t sinks)
{
    cl_uint word[8] = {0};
    const double wide = 0.125;
    const float narrow = 0.125f;
    word[GV_DUE_COUNT] = (cl_uint)sinks;
    memcpy(word + GV_DUE_TIME, precision == GRAVEL_DP ? (const void *)&wide : &narrow,
           precision == GRAVEL_DP ? sizeof wide : sizeof narrow);
    const cl_mem head = make_buffer(d, sizeof word, word);
    return head;
}

/* Accelerations, jerks and potentials of `count` bodies: body k * step. */
static void read_forces(gravel_bodies *set, size_t count, size_t step, double (*to)[7])
{
    static double all[7][N];
    assert_ok(gravel_bodies_read(set, GRAVEL_ACCELERATION, 0, N, &GRAVEL_ARRAY_OUT_SOA(all[0], all[1], all[2])));
    assert_ok(gravel_bodies_read(set, GRAVEL_JERK, 0, N, &GRAVEL_ARRAY_OUT_SOA(all[3], all[4], all[5])));
    assert_ok(gravel_bodies_read(set, GRAVEL_POTENTIAL, 0, N, &GRAVEL_ARRAY_OUT(all[6])));
    for (size_t k = 0; k < count; k++)
        for (int c = 0; c < 7; c++)
            to[k][c] = all[c][k * step % N];
}

static gravel_direct_call call_of(gravel_bodies *set, gravel_view sinks)
{
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    call.sources = gravel_view_all(set);
    call.sinks = sinks;
    call.order = 4;
    call.eps = 0.01;
    call.predict = 1;
    call.time = 0.125;
    call.into = GRAVEL_INTO_PLANES;
    return call;
}

static void known_or_found_is_the_same(void **state)
{
    CONTEXT_OR_SKIP(context)
    static const size_t counts[] = {0,   1,   9,   33,   64,   65,   100,  128,  129, 200,
                                    257, 512, 600, 1024, 1025, 1500, 2048, 2100, 4096};
    static double known[N][7], found[N][7];
    static uint32_t address[N];
    for (int p = GRAVEL_DS; p <= GRAVEL_DP; p++) {
        const gravel_precision precision = (gravel_precision)p;
        gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
        gravel_direct *direct;
        gravel_list *list;
        if (!has_precision(context, precision))
            continue;
        options.precision = precision;
        options.order = 4;
        assert_ok(gravel_direct_create(&direct, context, &options));
        gravel_bodies *set = make_bodies(context, precision), *to = make_bodies(context, precision);
        assert_ok(gravel_list_create(&list, context, direct->worker.device));
        for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
            const size_t count = counts[n];
            const gv_direct_alike kind = gv_direct_find_alike(count);
            assert_true((count > kind.above || count == 0) && count <= kind.most);
            for (size_t k = 0; k < N; k++)
                address[k] = (uint32_t)(k * STRIDE % N);
            assert_ok(gravel_list_write(list, address, count));
            const gravel_direct_call by_list = call_of(set, gravel_view_list(set, list));
            const gravel_direct_call by_head = call_of(set, gravel_view_all(set));
            const cl_mem head = make_head(direct, precision, count);
            const cl_mem addresses = make_buffer(direct, sizeof address, address);
            /* every other time there is room for hardly more, as steps on a CPU have it */
            const size_t most = n % 2 && count + 8 < kind.most ? count + 8 : kind.most;
            gv_direct_due due = {
                .list = addresses, .head = head, .above = kind.above, .most = most, .until = 1, .to = to};
            assert_ok(gv_direct_start_for(direct, &by_list, kind.chosen_for, NULL));
            read_forces(set, count, STRIDE, known);
            assert_ok(gravel_bodies_fill(set, GRAVEL_ACCELERATION, 0)); /* they are predicted with these */
            assert_ok(gravel_bodies_fill(set, GRAVEL_JERK, 0));
            assert_ok(gv_direct_start_for(direct, &by_head, kind.chosen_for, &due));
            read_forces(to, count, 1, found);
            assert_memory_equal(known, found, count * sizeof *known);
            /* a launch for others leaves what is there */
            due.above = kind.most < GV_MOST_ALIKE ? kind.most : 64;
            due.most = kind.most < GV_MOST_ALIKE ? 2 * kind.most : 128;
            assert_ok(gv_direct_start_for(direct, &by_head, gv_direct_find_alike(due.most).chosen_for, &due));
            read_forces(to, count, 1, found);
            assert_memory_equal(known, found, count * sizeof *known);
            assert_int_equal(clReleaseMemObject(head), CL_SUCCESS);
            assert_int_equal(clReleaseMemObject(addresses), CL_SUCCESS);
        }
        gravel_list_release(list);
        gravel_bodies_release(to);
        gravel_bodies_release(set);
        gravel_direct_release(direct);
    }
}

/* The kinds leave no number out, and one follows the other. */
static void kinds_follow_one_another(void **state)
{
    size_t above = 0;
    (void)state;
    for (size_t n = 1; n <= GV_MOST_ALIKE; n++) {
        const gv_direct_alike kind = gv_direct_find_alike(n);
        assert_in_range(kind.index, 0, GV_ALIKE_KINDS - 1);
        assert_true(kind.above < n && n <= kind.most && kind.chosen_for <= kind.most);
        assert_true(kind.above == above || kind.above == n - 1);
        above = kind.above;
    }
    assert_int_equal(gv_direct_find_alike(GV_MOST_ALIKE).index, GV_ALIKE_KINDS - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kinds_follow_one_another),
                                       cmocka_unit_test(known_or_found_is_the_same)};
    return cmocka_run_group_tests(tests, context_open, context_close);
}
