/* What gravel_direct refuses, its messages, and that the object works afterwards. */
#include "problem.h"

#include <float.h>

#define assert_refused(call, status, part)                                                                             \
    do {                                                                                                               \
        const gravel_status refused_status = (call);                                                                   \
        if (refused_status != (status)) {                                                                              \
            fail_msg("%s: %s, expected %s", #call, gravel_status_name(refused_status), gravel_status_name(status));    \
        }                                                                                                              \
        assert_contains(gravel_error_message(), part);                                                                 \
    } while (0)

enum { SIZE = sizeof(gravel_direct_options) };

static void options_refused(void **state)
{
    CONTEXT_OR_SKIP(context)
    static const struct {
        gravel_direct_options options;
        gravel_status status;
        const char *part;
    } wrong[] = {
        {{SIZE, 3, GRAVEL_SP, 0, 0, 0, 0, NULL}, GRAVEL_ERR_ARGUMENT, "order is 3; it must be 2, 4 or 6"},
        {{SIZE, 0, GRAVEL_SP, 0, 0, 0, 0, NULL}, GRAVEL_ERR_ARGUMENT, "order is 0"},
        {{SIZE, -2, GRAVEL_SP, 0, 0, 0, 0, NULL}, GRAVEL_ERR_ARGUMENT, "order is -2"},
        {{SIZE, 8, GRAVEL_SP, 0, 0, 0, 0, NULL}, GRAVEL_ERR_ARGUMENT, "order is 8"},
        {{SIZE, 2, (gravel_precision)3, 0, 0, 0, 0, NULL}, GRAVEL_ERR_ARGUMENT, "precision is 3"},
        {{SIZE, 2, GRAVEL_SP, 0, -1, 0, 0, NULL}, GRAVEL_ERR_ARGUMENT, "capacity is negative"},
        {{SIZE, 2, GRAVEL_SP, 0, 0, 0, 1, NULL}, GRAVEL_ERR_ARGUMENT, "device 1 of a context with 1"},
        {{SIZE, 2, GRAVEL_SP, 0, 0, 0, -1, NULL}, GRAVEL_ERR_ARGUMENT, "device -1"},
        {{SIZE, 2, GRAVEL_SP, 0, 0, 0, 0, "threads"}, GRAVEL_ERR_ARGUMENT, "'threads' is not name=value"},
        {{SIZE, 2, GRAVEL_SP, 0, 0, 0, 0, "threads=7"}, GRAVEL_ERR_ARGUMENT, "threads takes 1 16"},
        {{SIZE, 2, GRAVEL_SP, 0, 0, 0, 0, "speed=1"}, GRAVEL_ERR_ARGUMENT, "no tunable 'speed'"},
        {{SIZE, 2, GRAVEL_SP, 0, 0, 0, 0, "threads=16 split=32"}, GRAVEL_ERR_LAUNCH, "split does not divide threads"},
        {{SIZE, 2, GRAVEL_SP, 0, 0, 0, 0, "lanes=2 rsqrt=4"}, GRAVEL_ERR_LAUNCH, "no estimate instruction"},
        {{SIZE, 2, GRAVEL_SP, 0, 0, 0, 0, "lanes=2 rsqrt=4"}, GRAVEL_ERR_LAUNCH, "cannot run sp2 on "},
        {{SIZE, 6, GRAVEL_DS, 0, 0, 0, 0, "threads=512 split=64 tile=512 lanes=16"}, GRAVEL_ERR_LAUNCH, "local memory"},
    };
    gravel_direct *d;
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        d = (gravel_direct *)1;
        if (strstr(wrong[k].part, "local memory") && gravel_context_get_device(context, 0)->max_group < 512)
            continue;
        assert_refused(gravel_direct_create(&d, context, &wrong[k].options), wrong[k].status, wrong[k].part);
        assert_null(d);
    }
    assert_refused(gravel_direct_create(NULL, context, NULL), GRAVEL_ERR_ARGUMENT, "no place");
    assert_refused(gravel_direct_create(&d, NULL, NULL), GRAVEL_ERR_ARGUMENT, "no context");
    assert_ok(gravel_direct_create(&d, context, NULL)); /* NULL: the defaults */
    gravel_direct_release(d);
}

static void objects_missing(void **state)
{
    const gravel_sources sources = {.count = 0};
    const gravel_sinks sinks = {.count = 0};
    const gravel_forces forces = {.pot = NULL};
    const gravel_vec_out none = {NULL, NULL, NULL, 0};
    double seconds;
    (void)state;
    assert_refused(gravel_direct_write_sources(NULL, 0, &sources), GRAVEL_ERR_ARGUMENT, "write_sources");
    assert_refused(gravel_direct_scatter_sources(NULL, NULL, &sources), GRAVEL_ERR_ARGUMENT, "scatter_sources");
    assert_refused(gravel_direct_set_source_count(NULL, 0), GRAVEL_ERR_ARGUMENT, "set_source_count");
    assert_refused(gravel_direct_set_time(NULL, 0), GRAVEL_ERR_ARGUMENT, "set_time");
    assert_refused(gravel_direct_read_sources(NULL, 0, 0, NULL, NULL, none, none, none), GRAVEL_ERR_ARGUMENT,
                   "read_sources");
    assert_refused(gravel_direct_submit(NULL, &sinks, 0), GRAVEL_ERR_ARGUMENT, "submit");
    assert_refused(gravel_direct_collect(NULL, &forces, NULL), GRAVEL_ERR_ARGUMENT, "collect");
    assert_refused(gravel_direct_set_timing(NULL, 1), GRAVEL_ERR_ARGUMENT, "set_timing");
    assert_refused(gravel_direct_get_kernel_time(NULL, &seconds), GRAVEL_ERR_ARGUMENT, "kernel_time");
    assert_refused(gravel_direct_get_configuration(NULL, 1, NULL, 0, NULL), GRAVEL_ERR_ARGUMENT, "configuration");
}

static void arguments_refused(void **state)
{
    CONTEXT_OR_SKIP(context)
    const gravel_vec_out none = {NULL, NULL, NULL, 0};
    bodies b = bodies_new(20, 1);
    uint32_t address[20] = {0};
    gravel_direct *d = direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_SP});
    gravel_sources s = sources_of(&b, 0, 20);
    gravel_sinks in = sinks_of(&b, 0, 20, NULL);
    direct_write(d, &b, 0, 20);
    s.mass = NULL;
    assert_refused(gravel_direct_write_sources(d, 0, &s), GRAVEL_ERR_ARGUMENT, "masses and positions");
    s = sources_of(&b, 0, 20);
    s.pos.z = NULL;
    assert_refused(gravel_direct_scatter_sources(d, address, &s), GRAVEL_ERR_ARGUMENT, "masses and positions");
    s = sources_of(&b, 0, 20);
    assert_refused(gravel_direct_scatter_sources(d, NULL, &s), GRAVEL_ERR_ARGUMENT, "no addresses");
    assert_refused(gravel_direct_write_sources(d, 0, NULL), GRAVEL_ERR_ARGUMENT, "no sources");
    assert_refused(gravel_direct_write_sources(d, SIZE_MAX - 3, &s), GRAVEL_ERR_ARGUMENT, "address");
    assert_refused(gravel_direct_write_sources(d, UINT32_MAX, &s), GRAVEL_ERR_ARGUMENT, "addresses go up to");
    address[3] = UINT32_MAX;
    assert_refused(gravel_direct_scatter_sources(d, address, &s), GRAVEL_ERR_ARGUMENT, "addresses go up to");
    s.count = 0;
    assert_ok(gravel_direct_write_sources(d, SIZE_MAX, &s));
    assert_ok(gravel_direct_scatter_sources(d, NULL, &s));
    assert_refused(gravel_direct_set_source_count(d, 21), GRAVEL_ERR_ARGUMENT, "below 20");
    assert_refused(gravel_direct_read_sources(d, 15, 6, NULL, NULL, none, none, none), GRAVEL_ERR_ARGUMENT, "15");
    assert_refused(gravel_direct_read_sources(d, 21, 0, NULL, NULL, none, none, none), GRAVEL_ERR_ARGUMENT, "21");
    assert_refused(gravel_direct_read_sources(d, 1, SIZE_MAX, NULL, NULL, none, none, none), GRAVEL_ERR_ARGUMENT, "1");
    assert_ok(gravel_direct_read_sources(d, 20, 0, NULL, NULL, none, none, none));
    in.pos.y = NULL;
    assert_refused(gravel_direct_submit(d, &in, 0), GRAVEL_ERR_ARGUMENT, "sinks need positions");
    in = sinks_of(&b, 0, 20, NULL);
    assert_refused(gravel_direct_submit(d, NULL, 0), GRAVEL_ERR_ARGUMENT, "no sinks");
    assert_refused(gravel_direct_submit(d, &in, -1e-9), GRAVEL_ERR_ARGUMENT, "-1e-09");
    assert_refused(gravel_direct_submit(d, &in, NAN), GRAVEL_ERR_ARGUMENT, "softening length");
    assert_refused(gravel_direct_submit(d, &in, INFINITY), GRAVEL_ERR_ARGUMENT, "softening length");
    assert_refused(gravel_direct_submit(d, &in, 1e20), GRAVEL_ERR_ARGUMENT, "1e+20");
    in.count = (size_t)1 << 40;
    assert_refused(gravel_direct_submit(d, &in, 0), GRAVEL_ERR_ARGUMENT, "sinks in one call");
    gravel_direct_release(d);
    bodies_free(&b);
}

/* Planes of sinks x their length has 32 bits in kernels: three of position, in ds twice, of velocity and acceleration,
 * and the id.  The arrays of so many are not read. */
static void too_many_sinks(void **state)
{
    CONTEXT_OR_SKIP(context)
    static const struct {
        int order;
        gravel_precision precision;
        size_t planes;
    } run[] = {{2, GRAVEL_SP, 4}, {6, GRAVEL_SP, 10}, {6, GRAVEL_DS, 13}};
    bodies b = bodies_new(20, 1);
    for (size_t k = 0; k < sizeof run / sizeof run[0]; k++) {
        gravel_direct *d = direct_new(context, (direct_want){.order = run[k].order, .precision = run[k].precision});
        gravel_sinks in = sinks_of(&b, 0, 20, NULL);
        direct_write(d, &b, 0, 20);
        in.count = ((size_t)1 << 32) / run[k].planes;
        assert_refused(gravel_direct_submit(d, &in, 0), GRAVEL_ERR_ARGUMENT, "sinks in one call; at most ");
        const size_t most = strtoull(strstr(gravel_error_message(), "at most ") + 8, NULL, 10);
        assert_true(most < in.count && most > in.count / 100 * 99);
        in.count = 20;
        assert_ok(gravel_direct_submit(d, &in, 0));
        gravel_direct_release(d);
    }
    bodies_free(&b);
}

/* ------------------------------------------------------------- unusable particles */

typedef double *(*member)(bodies *b);
static double *the_mass(bodies *b)
{
    return b->m;
}
static double *the_y(bodies *b)
{
    return b->d[0][1];
}
static double *the_vz(bodies *b)
{
    return b->d[1][2];
}
static double *the_ax(bodies *b)
{
    return b->d[2][0];
}
static double *the_jerk(bodies *b)
{
    return b->d[3][1];
}
static double *the_snap(bodies *b)
{
    return b->d[4][2];
}
static double *the_crackle(bodies *b)
{
    return b->d[5][0];
}
static double *the_time(bodies *b)
{
    return b->t;
}

static const struct {
    member of;
    const char *name;
} members[] = {{the_mass, "mass"},           {the_y, "position (y)"}, {the_vz, "velocity (z)"},
               {the_ax, "acceleration (x)"}, {the_jerk, "jerk (y)"},  {the_snap, "snap (z)"},
               {the_crackle, "crackle (x)"}, {the_time, "time"}};

/* NaN and infinity in every member of sources: the particle and the member are named, nothing of the entry
 * arrives. */
static void sources_not_finite(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 70000, BAD = 69997 }; /* in the second transfer */
    static const double value[] = {NAN, INFINITY, -INFINITY};
    static const char *const word[] = {"is not a number", "is infinite", "is infinite"};
    uint32_t *address = malloc(N * sizeof *address);
    assert_non_null(address);
    for (uint32_t k = 0; k < N; k++) /* the first transfer arrives: it must change nothing */
        address[k] = k < 65536 ? k : N - 1 - (k - 65536);
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++) {
        if (!has_precision(context, (gravel_precision)p))
            continue;
        bodies b = bodies_new(N, 2);
        gravel_direct *d =
            direct_new(context, (direct_want){.order = 6, .precision = (gravel_precision)p, .prediction = 1});
        const gravel_sources s = sources_of(&b, 0, N);
        direct_write(d, &b, 0, N);
        for (size_t k = 0; k < sizeof members / sizeof members[0]; k++)
            for (int v = 0; v < 3; v++) {
                double *const at = members[k].of(&b) + BAD, before = *at;
                char expected[80];
                *at = value[v];
                snprintf(expected, sizeof expected, "body %d: %s %s", BAD, members[k].name, word[v]);
                assert_refused(gravel_direct_write_sources(d, 0, &s), GRAVEL_ERR_INPUT, expected);
                snprintf(expected, sizeof expected, "body %u: %s %s", (unsigned)address[BAD], members[k].name, word[v]);
                assert_refused(gravel_direct_scatter_sources(d, address, &s), GRAVEL_ERR_INPUT, expected);
                *at = before;
            }
        copy c = copy_of(d, N - 4, 4);
        assert_stored(&c, &b, N - 4, 4, 6, (gravel_precision)p);
        copy_free(&c);
        assert_refused(gravel_direct_set_time(d, NAN), GRAVEL_ERR_INPUT, "nan");
        assert_refused(gravel_direct_set_time(d, INFINITY), GRAVEL_ERR_INPUT, "inf");
        if (p != GRAVEL_DP)
            assert_refused(gravel_direct_set_time(d, 1e39), GRAVEL_ERR_INPUT, "1e+39");
        gravel_direct_release(d);
        bodies_free(&b);
    }
    free(address);
}

static void sinks_not_finite(void **state)
{
    CONTEXT_OR_SKIP(context)
    static const struct {
        int derivative, axis;
        const char *name;
    } place[] = {{0, 0, "position (x)"}, {0, 2, "position (z)"}, {1, 1, "velocity (y)"}, {2, 2, "acceleration (z)"}};
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++) {
        if (!has_precision(context, (gravel_precision)p))
            continue;
        bodies b = bodies_new(33, 3);
        double radius[33] = {1};
        gravel_direct *d =
            direct_new(context, (direct_want){.order = 6, .precision = (gravel_precision)p, .capacity = 2});
        const gravel_sinks in = sinks_of(&b, 0, 33, radius);
        direct_write(d, &b, 0, 33);
        for (size_t k = 0; k < 4; k++) {
            double *const at = b.d[place[k].derivative][place[k].axis] + 31, before = *at;
            char expected[80];
            *at = NAN;
            snprintf(expected, sizeof expected, "sink 31: %s is not a number", place[k].name);
            assert_refused(gravel_direct_submit(d, &in, 0), GRAVEL_ERR_INPUT, expected);
            *at = -INFINITY;
            snprintf(expected, sizeof expected, "sink 31: %s is infinite", place[k].name);
            assert_refused(gravel_direct_submit(d, &in, 0), GRAVEL_ERR_INPUT, expected);
            *at = before;
        }
        radius[32] = NAN;
        assert_refused(gravel_direct_submit(d, &in, 0), GRAVEL_ERR_INPUT, "sink 32: radius");
        radius[32] = 0;
        assert_ok(gravel_direct_submit(d, &in, 0)); /* the object is as good as before */
        gravel_direct_release(d);
        bodies_free(&b);
    }
}

/* Beside sources of ordinary size, values whose squares float cannot hold; dp takes them. */
static void beyond_the_precision(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(10, 4);
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++) {
        if (!has_precision(context, (gravel_precision)p))
            continue;
        const gravel_status expected = p == GRAVEL_DP ? GRAVEL_OK : GRAVEL_ERR_INPUT;
        gravel_direct *d = direct_new(context, (direct_want){.order = 6, .precision = (gravel_precision)p});
        direct_write(d, &b, 0, 10);
        const gravel_sources s = sources_of(&b, 0, 10);
        const gravel_sinks in = sinks_of(&b, 0, 10, NULL);
        const double before[3] = {b.d[0][0][4], b.d[1][1][4], b.m[4]};
        b.d[0][0][4] = 1e19;
        assert_int_equal(gravel_direct_write_sources(d, 0, &s), expected);
        assert_int_equal(gravel_direct_submit(d, &in, 0), expected);
        if (p != GRAVEL_DP)
            assert_contains(gravel_error_message(), "sink 4: position (x) is 1e+19, beyond 4e+18");
        b.d[0][0][4] = before[0];
        b.d[1][1][4] = -1e30;
        assert_int_equal(gravel_direct_write_sources(d, 0, &s), expected);
        b.d[1][1][4] = before[1];
        b.m[4] = 1e39;
        assert_int_equal(gravel_direct_write_sources(d, 0, &s), expected);
        if (p != GRAVEL_DP)
            assert_contains(gravel_error_message(), "body 4: mass is 1e+39");
        b.m[4] = before[2];
        assert_ok(gravel_direct_write_sources(d, 0, &s));
        gravel_direct_release(d);
    }
    bodies_free(&b);
}

/* An infinite mass where masses are counted in 1e299: the product of limit and unit overflows. */
static void infinite_mass_in_a_huge_unit(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(10, 5);
    gravel_direct *d = direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_SP});
    const gravel_sources s = sources_of(&b, 0, 10);
    b.m[2] = 1e299;
    assert_ok(gravel_direct_write_sources(d, 0, &s));
    b.m[7] = INFINITY;
    assert_refused(gravel_direct_write_sources(d, 0, &s), GRAVEL_ERR_INPUT, "body 7: mass is infinite");
    gravel_direct_release(d);
    bodies_free(&b);
}

/* A refused first write leaves nothing behind: the units come from the first that is taken. */
static void refused_first_write(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(40, 6);
    gravel_direct *d = direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_DS});
    const gravel_sources s = sources_of(&b, 0, 40);
    const gravel_sinks in = sinks_of(&b, 0, 40, NULL);
    const double mass = b.m[3], x = b.d[0][0][3];
    b.m[3] = 1e60;
    b.d[0][0][3] = 1e60;
    b.d[0][1][9] = NAN;
    assert_refused(gravel_direct_write_sources(d, 0, &s), GRAVEL_ERR_INPUT, "body 9");
    b.m[3] = mass;
    b.d[0][0][3] = x;
    b.d[0][1][9] = 0.5;
    assert_ok(gravel_direct_write_sources(d, 0, &s));
    const gv_ref_particles v = view_of(&b, 0, 40);
    results got = direct_run(d, &in, 0.1, 0), want = reference_run(2, &v, &v, 0.1, NULL, 0);
    assert_forces(&got, &want, 2, GRAVEL_DS, &v, &v, 0.1, "after a refused write");
    results_free(&got);
    results_free(&want);
    gravel_direct_release(d);
    bodies_free(&b);
}

/* --------------------------------------------------------------------------- memory */

/* More sources than the device holds: the message says what would fit, and that much is not refused for its size. */
static void too_many_sources(void **state)
{
    CONTEXT_OR_SKIP(context)
    const uint64_t most = gravel_context_get_device(context, 0)->max_allocation;
    bodies b = bodies_new(1, 8);
    gravel_direct *d = direct_new(context, (direct_want){.order = 6, .precision = GRAVEL_DS, .prediction = 1});
    const gravel_sources s = sources_of(&b, 0, 1);
    const size_t too_far = (size_t)(most / 16) + 2048; /* the largest planes: four floats a source */
    if (too_far > (size_t)INT32_MAX - 70000) {
        gravel_direct_release(d);
        bodies_free(&b);
        print_message("skipped: this device takes every source that has an address\n");
        skip();
    }
    assert_refused(gravel_direct_write_sources(d, too_far, &s), GRAVEL_ERR_DEVICE_MEMORY, "at most ");
    const size_t fits = (size_t)strtoull(strstr(gravel_error_message(), "at most ") + 8, NULL, 10);
    assert_true(fits <= most / 16 && fits + 1024 > most / 16 - 1024);
    direct_write(d, &b, 0, 1); /* still usable */
    copy c = copy_of(d, 0, 1);
    assert_stored(&c, &b, 0, 1, 6, GRAVEL_DS);
    copy_free(&c);
    gravel_direct_release(d);
    bodies_free(&b);
}

static void lists_too_large(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(1000, 9);
    double radius[1000];
    for (size_t i = 0; i < 1000; i++)
        radius[i] = 0.1;
    gravel_direct *d = direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_SP, .capacity = INT32_MAX});
    gravel_sinks in = sinks_of(&b, 0, 1000, radius);
    direct_write(d, &b, 0, 1000);
    assert_refused(gravel_direct_submit(d, &in, 0), GRAVEL_ERR_DEVICE_MEMORY,
                   "neighbour lists of 1000 sinks with 2147483647 entries");
    assert_contains(gravel_error_message(), "lists of at most ");
    gravel_direct_release(d);
    /* what the message says would fit does fit */
    const long fit = strtol(strstr(gravel_error_message(), "lists of at most ") + 17, NULL, 10);
    assert_true(fit > 1000);
    d = direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_SP, .nearest = 1, .capacity = 20000});
    direct_write(d, &b, 0, 1000);
    results got = direct_run(d, &in, 0, 20000);
    const gv_ref_particles v = view_of(&b, 0, 1000);
    assert_lists(&got, GRAVEL_SP, &v, &v, radius, "long lists");
    results_free(&got);
    gravel_direct_release(d);
    bodies_free(&b);
}

/* ----------------------------------------------------------------- configurations */

static void configurations(void **state)
{
    CONTEXT_OR_SKIP(context)
    char text[256];
    gravel_origin origin = GRAVEL_ORIGIN_FAMILY;
    gravel_direct *d =
        direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_SP, .configuration = "unroll=8"});
    assert_ok(gravel_direct_get_configuration(d, 100, text, sizeof text, &origin));
    assert_contains(text, "unroll=8");
    assert_contains(text, "threads=");
    assert_int_equal(origin, GRAVEL_ORIGIN_CALLER);
    assert_string_equal(gravel_origin_name(origin), "caller");
    assert_ok(gravel_direct_get_configuration(d, 0, NULL, 0, NULL));
    gravel_direct_release(d);
    d = direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_SP});
    assert_ok(gravel_direct_get_configuration(d, 1, text, sizeof text, &origin));
    assert_int_not_equal(origin, GRAVEL_ORIGIN_CALLER);
    gravel_direct_release(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_refused),
        cmocka_unit_test(objects_missing),
        cmocka_unit_test(arguments_refused),
        cmocka_unit_test(sources_not_finite),
        cmocka_unit_test(sinks_not_finite),
        cmocka_unit_test(beyond_the_precision),
        cmocka_unit_test(infinite_mass_in_a_huge_unit),
        cmocka_unit_test(refused_first_write),
        cmocka_unit_test(too_many_sources),
        cmocka_unit_test(too_many_sinks),
        cmocka_unit_test(lists_too_large),
        cmocka_unit_test(configurations),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
