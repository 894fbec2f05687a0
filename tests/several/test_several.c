/* One object on one device, on two parts of a CPU and on the host: forces, neighbours, prediction, updates. */
#include "several_test.h"

#include "host/several/several.h"

enum { SOURCES = 700, SINKS = 40, CAPACITY = 24 };

/* Each test runs on these. */
typedef struct way {
    const char *name, *devices;
    gravel_host_answers host;
} way;

static int list_ways(way list[3])
{
    int n = 0;
    if (no_device())
        return 0;
    list[n++] = (way){"one device", NULL, GRAVEL_HOST_NEVER};
    if (two_parts())
        list[n++] = (way){"two parts", two_parts(), GRAVEL_HOST_NEVER};
    list[n++] = (way){"the host", NULL, GRAVEL_HOST_ALWAYS};
    return n;
}

#define FOR_WAYS(w)                                                                                                    \
    way ways_[3], *w = ways_;                                                                                          \
    const int n_ways_ = list_ways(ways_);                                                                              \
    if (n_ways_ == 0)                                                                                                  \
        skip();                                                                                                        \
    for (; w < ways_ + n_ways_; w++)

static void fill_radius(double *radius, size_t n, double r)
{
    for (size_t k = 0; k < n; k++)
        radius[k] = r * (double)(k % 5 + 1);
}

/* Orders 2, 4, 6, with nearest neighbours and lists, some of them longer than their capacity. */
static void check_forces(const way *w, gravel_precision p)
{
    bodies b = bodies_new(SOURCES, 5);
    double radius[SINKS];
    gravel_several *s = several_new(w->devices, p, w->host);
    const gravel_sources all = sources_of(&b, 0, SOURCES);
    const gravel_sinks sinks = sinks_of(&b, 10, SINKS, radius);
    const gv_ref_particles ref_sinks = view_of(&b, 10, SINKS), ref_sources = view_of(&b, 0, SOURCES);
    fill_radius(radius, SINKS, 0.11);
    assert_ok(gravel_several_write_sources(s, 0, &all));
    for (int order = 2; order <= 6; order += 2) {
        const gravel_several_call c = call_of(&sinks, order, 0.01, 1, CAPACITY);
        results got = several_run(s, &c), same = several_run(s, &c);
        results want = reference_run(order, &ref_sinks, &ref_sources, 0.01, radius, CAPACITY);
        assert_forces(&got, &want, order, p, &ref_sinks, &ref_sources, 0.01, w->name);
        assert_nearest(&got, &want, p, &ref_sinks, &ref_sources, w->name);
        assert_lists(&got, p, &ref_sinks, &ref_sources, radius, w->name);
        assert_same_bits(&got, &same, order);
        assert_true(got.overflow > 0);
        gv_several_cut(s, 3); /* pieces */
        results pieces = several_run(s, &c);
        gv_several_cut(s, 0);
        assert_forces(&pieces, &want, order, p, &ref_sinks, &ref_sources, 0.01, w->name);
        assert_nearest(&pieces, &want, p, &ref_sinks, &ref_sources, w->name);
        assert_lists(&pieces, p, &ref_sinks, &ref_sources, radius, w->name);
        assert_int_equal(pieces.overflow, got.overflow);
        results_free(&pieces);
        results_free(&got);
        results_free(&same);
        results_free(&want);
    }
    gravel_several_release(s);
    bodies_free(&b);
}

static void forces_and_neighbours(void **state)
{
    (void)state;
    FOR_WAYS(w)
    {
        check_forces(w, GRAVEL_SP);
        check_forces(w, GRAVEL_DS);
    }
}

/* All is within a radius whose square is infinite, but for the sink itself and what is behind the last source. */
static void infinite_radius(void **state)
{
    enum { N = 13, ROOM = 24 };
    const double radius[2] = {INFINITY, 1e200};
    (void)state;
    FOR_WAYS(w)
    {
        bodies b = bodies_new(N, 9);
        gravel_several *s = several_new(w->devices, GRAVEL_DS, w->host);
        const gravel_sources all = sources_of(&b, 0, N);
        const gravel_sinks sinks = sinks_of(&b, 0, 2, radius);
        const gravel_several_call c = call_of(&sinks, 4, 0.01, 0, ROOM);
        assert_ok(gravel_several_write_sources(s, 0, &all));
        results got = several_run(s, &c);
        for (uint32_t k = 0; k < 2; k++) {
            assert_int_equal(got.count[k], N - 1);
            for (uint32_t i = 0; i < N - 1; i++)
                assert_int_equal(got.list[k * ROOM + i], i + (i >= k));
        }
        results_free(&got);
        gravel_several_release(s);
        bodies_free(&b);
    }
}

/* Sources one by one in any order, some twice, in steps that grow; always compared with the whole. */
static void updates_in_any_order(void **state)
{
    (void)state;
    FOR_WAYS(w)
    {
        bodies b = bodies_new(SOURCES, 6), other = bodies_new(SOURCES, 7);
        gravel_several *s = several_new(w->devices, GRAVEL_DS, w->host);
        const gravel_sinks sinks = sinks_of(&b, 0, SINKS, NULL);
        const gravel_several_call c = call_of(&sinks, 4, 0.01, 0, 0);
        const gv_ref_particles ref_sinks = view_of(&b, 0, SINKS);
        size_t written = 0;
        for (size_t step = 1; step < SOURCES; step = 5 * step + 1) {
            for (size_t k = step; k-- > 0;) {
                const uint32_t address[2] = {(uint32_t)k, (uint32_t)k};
                const gravel_sources wrong = sources_of(&other, k, 1), right = sources_of(&b, k, 1);
                assert_ok(gravel_several_scatter_sources(s, address, &wrong));
                assert_ok(gravel_several_scatter_sources(s, address + 1, &right));
            }
            written = step;
            results got = several_run(s, &c);
            const gv_ref_particles ref_sources = view_of(&b, 0, written);
            results want = reference_run(4, &ref_sinks, &ref_sources, 0.01, NULL, 0);
            assert_forces(&got, &want, 4, GRAVEL_DS, &ref_sinks, &ref_sources, 0.01, w->name);
            results_free(&got);
            results_free(&want);
        }
        gravel_several_release(s);
        bodies_free(&b);
        bodies_free(&other);
    }
}

/* What is written after a submit is seen by the next one only; `again` is the last call on what it saw. */
static void writes_after_submit(void **state)
{
    (void)state;
    FOR_WAYS(w)
    {
        bodies b = bodies_new(SOURCES, 8), other = bodies_new(SOURCES, 9);
        double radius[SINKS];
        gravel_several *s = several_new(w->devices, GRAVEL_DS, w->host);
        const gravel_sources all = sources_of(&b, 0, SOURCES), later = sources_of(&other, 0, SOURCES);
        const gravel_sinks sinks = sinks_of(&b, 0, SINKS, radius);
        const gravel_several_call c = call_of(&sinks, 4, 0.01, 0, 0);
        const gv_ref_particles ref_sinks = view_of(&b, 0, SINKS), before = view_of(&b, 0, SOURCES);
        fill_radius(radius, SINKS, 0.1);
        assert_ok(gravel_several_write_sources(s, 0, &all));
        assert_ok(gravel_several_submit(s, &c));
        assert_ok(gravel_several_write_sources(s, 0, &later));
        results got = several_collect(s, SINKS, 4, 0, 0);
        results want = reference_run(4, &ref_sinks, &before, 0.01, radius, CAPACITY);
        assert_forces(&got, &want, 4, GRAVEL_DS, &ref_sinks, &before, 0.01, w->name);
        assert_ok(gravel_several_again(s, 2, 1, CAPACITY));
        results more = several_collect(s, SINKS, 2, 1, CAPACITY);
        assert_lists(&more, GRAVEL_DS, &ref_sinks, &before, radius, w->name);
        assert_nearest(&more, &want, GRAVEL_DS, &ref_sinks, &before, w->name);
        results next = several_run(s, &c);
        const gv_ref_particles after = view_of(&other, 0, SOURCES);
        results want_next = reference_run(4, &ref_sinks, &after, 0.01, NULL, 0);
        assert_forces(&next, &want_next, 4, GRAVEL_DS, &ref_sinks, &after, 0.01, w->name);
        results_free(&got);
        results_free(&more);
        results_free(&next);
        results_free(&want);
        results_free(&want_next);
        gravel_several_release(s);
        bodies_free(&b);
        bodies_free(&other);
    }
}

static void predict_all(const bodies *from, bodies *to, double time)
{
    const double *d[6][3];
    double *p[3][3];
    for (int k = 0; k < 18; k++)
        d[k / 3][k % 3] = from->d[k / 3][k % 3];
    for (int k = 0; k < 9; k++)
        p[k / 3][k % 3] = to->d[k / 3][k % 3];
    assert_int_equal(gv_ref_predict(GV_REF_LONG_DOUBLE, from->n, d, from->t, time, p), 0);
}

/* Prediction, also of sources written after the time was set, and reading what was predicted. */
static void prediction(void **state)
{
    (void)state;
    FOR_WAYS(w)
    {
        bodies b = bodies_new(SOURCES, 10), at = bodies_new(SOURCES, 10), read = bodies_empty(SOURCES);
        gravel_several *s = several_new(w->devices, GRAVEL_DS, w->host);
        const gravel_sources all = sources_of(&b, 0, SOURCES);
        const gravel_sinks sinks = sinks_of(&at, 0, SINKS, NULL);
        const gravel_several_call c = call_of(&sinks, 6, 0.05, 0, 0);
        assert_ok(gravel_several_set_time(s, 0.125));
        assert_ok(gravel_several_write_sources(s, 0, &all));
        predict_all(&b, &at, 0.125);
        results got = several_run(s, &c);
        const gv_ref_particles ref_sinks = view_of(&at, 0, SINKS), ref_sources = view_of(&at, 0, SOURCES);
        results want = reference_run(6, &ref_sinks, &ref_sources, 0.05, NULL, 0);
        for (size_t i = 0; i < SINKS; i++)
            for (int k = 0; k < components_of(6); k++) {
                /* predicted numbers have errors of a few units of float in v and a; forces of 700 sources around 1 */
                const double scale = fabs(want.v[k][i]) + (k < R_POT + 1 ? 1 : k < R_SX ? 10 : 200);
                if (!(fabs(got.v[k][i] - want.v[k][i]) <= 1e-5 * scale))
                    fail_msg("%s: sink %zu component %d: %.17g, the reference %.17g", w->name, i, k, got.v[k][i],
                             want.v[k][i]);
            }
        const gravel_sources_out out = {.mass = read.m,
                                        .id = read.id,
                                        .pos = GRAVEL_VEC_OUT_SOA(read.d[0][0], read.d[0][1], read.d[0][2]),
                                        .vel = GRAVEL_VEC_OUT_SOA(read.d[1][0], read.d[1][1], read.d[1][2])};
        assert_ok(gravel_several_read_predicted(s, 0, SOURCES, &out));
        for (size_t j = 0; j < SOURCES; j++)
            for (int k = 0; k < 6; k++)
                assert_true(fabs(read.d[k / 3][k % 3][j] - at.d[k / 3][k % 3][j]) < 1e-14);
        assert_ok(gravel_several_read_sources(s, 0, SOURCES, &out));
        for (int k = 0; k < 6; k++)
            assert_memory_equal(read.d[k / 3][k % 3], b.d[k / 3][k % 3], SOURCES * sizeof(double));
        assert_memory_equal(read.m, b.m, SOURCES * sizeof(double));
        assert_memory_equal(read.id, b.id, SOURCES * sizeof *b.id);
        results_free(&got);
        results_free(&want);
        gravel_several_release(s);
        bodies_free(&b);
        bodies_free(&at);
        bodies_free(&read);
    }
}

/* One source that changed and a few sinks reach a device as arguments of one launch: the same bits as by transfers. */
static void few_changes_and_sinks(void **state)
{
    enum { FEW = 6 };
    (void)state;
    FOR_WAYS(w)
    {
        for (int p = GRAVEL_SP; p <= GRAVEL_DS; p++) {
            bodies b = bodies_new(SOURCES, 12);
            gravel_several *s[2];
            gravel_sources all = sources_of(&b, 0, SOURCES);
            const gravel_sinks sinks = sinks_of(&b, 0, FEW, NULL);
            const gravel_several_call c = call_of(&sinks, 2, 0.01, 1, 0);
            const double last = b.d[0][1][77];
            const uint32_t address = 77;
            results r[2];
            all.vel = all.acc = all.jerk = all.snap = all.crackle = (gravel_vec){NULL, NULL, NULL, 1};
            all.time = NULL;
            for (int k = 0; k < 2; k++) {
                gravel_sources one = sources_of(&b, 77, 1);
                one.vel = one.acc = one.jerk = one.snap = one.crackle = all.vel;
                one.time = NULL;
                b.d[0][1][77] = k ? last : last + 0.01;
                s[k] = several_new(w->devices, (gravel_precision)p, w->host);
                assert_ok(gravel_several_set_time(s[k], 0.5));
                assert_ok(gravel_several_write_sources(s[k], 0, &all));
                results first = several_run(s[k], &c);
                results_free(&first);
                b.d[0][1][77] = last;
                assert_ok(gravel_several_scatter_sources(s[k], &address, &one));
                /* the second has it already and is given all anew */
                if (k == 1)
                    assert_ok(gravel_several_write_sources(s[k], 0, &all));
                r[k] = several_run(s[k], &c);
                gravel_several_release(s[k]);
            }
            assert_same_bits(&r[0], &r[1], 2);
            assert_memory_equal(r[0].nearest_id, r[1].nearest_id, FEW * sizeof *r[0].nearest_id);
            results_free(&r[0]);
            results_free(&r[1]);
            bodies_free(&b);
        }
    }
}

/* All kinds of softening, with lengths per sink and per source. */
static void softening(void **state)
{
    static const gv_ref_soften kind[] = {GV_REF_SOFTEN_EPS, GV_REF_SOFTEN_SINKS, GV_REF_SOFTEN_SOURCES,
                                         GV_REF_SOFTEN_SUM, GV_REF_SOFTEN_MAX};
    (void)state;
    FOR_WAYS(w)
    {
        bodies b = bodies_new(SOURCES, 11);
        double eps[SOURCES], sink_eps[SINKS];
        gravel_several *s = several_new(w->devices, GRAVEL_DS, w->host);
        const gravel_sources all = sources_of(&b, 0, SOURCES);
        const gravel_sinks sinks = sinks_of(&b, 0, SINKS, NULL);
        const gv_ref_particles ref_sinks = view_of(&b, 0, SINKS), ref_sources = view_of(&b, 0, SOURCES);
        for (size_t k = 0; k < SOURCES; k++)
            eps[k] = 0.01 * (double)(1 + k % 7);
        for (size_t k = 0; k < SINKS; k++)
            sink_eps[k] = 0.01 * (double)(1 + k % 6);
        assert_ok(gravel_several_write_sources(s, 0, &all));
        assert_ok(gravel_several_write_softening(s, 0, SOURCES, eps));
        for (int k = GRAVEL_SOFTEN_SINKS; k <= GRAVEL_SOFTEN_MAX; k++) {
            gravel_several_call c = call_of(&sinks, 4, 0, 0, 0);
            results want = results_new(SINKS, 0);
            c.soften = (gravel_soften)k;
            c.sink_eps = sink_eps;
            results got = several_run(s, &c);
            const gv_ref_forces out = {.ax = want.v[R_AX],
                                       .ay = want.v[R_AY],
                                       .az = want.v[R_AZ],
                                       .pot = want.v[R_POT],
                                       .jx = want.v[R_JX],
                                       .jy = want.v[R_JY],
                                       .jz = want.v[R_JZ]};
            assert_int_equal(
                gv_ref_direct_softened(GV_REF_LONG_DOUBLE, 4, &ref_sinks, &ref_sources, kind[k], sink_eps, eps, &out),
                0);
            /* no pair is softened less than with 0.01 */
            assert_forces(&got, &want, 4, GRAVEL_DS, &ref_sinks, &ref_sources, 0.01, w->name);
            results_free(&got);
            results_free(&want);
        }
        gravel_several_release(s);
        bodies_free(&b);
    }
}

/* Fewer sources than were written: those behind the last do not pull and are no neighbours. */
static void some_of_the_sources(void **state)
{
    (void)state;
    FOR_WAYS(w)
    {
        bodies b = bodies_new(SOURCES, 14);
        double radius[SINKS];
        gravel_several *s = several_new(w->devices, GRAVEL_DS, w->host);
        const gravel_sources all = sources_of(&b, 0, SOURCES);
        const gravel_sinks sinks = sinks_of(&b, 100, SINKS, radius);
        const gravel_several_call c = call_of(&sinks, 6, 0.01, 1, CAPACITY);
        const gv_ref_particles ref_sinks = view_of(&b, 100, SINKS);
        fill_radius(radius, SINKS, 0.1);
        assert_ok(gravel_several_write_sources(s, 0, &all));
        for (size_t count = 1; count < 140; count = count < 5 ? count + 1 : 2 * count + 3) {
            const gv_ref_particles some = view_of(&b, 0, count);
            assert_ok(gravel_several_set_source_count(s, count));
            results got = several_run(s, &c);
            results want = reference_run(6, &ref_sinks, &some, 0.01, radius, CAPACITY);
            assert_forces(&got, &want, 6, GRAVEL_DS, &ref_sinks, &some, 0.01, w->name);
            assert_nearest(&got, &want, GRAVEL_DS, &ref_sinks, &some, w->name);
            assert_lists(&got, GRAVEL_DS, &ref_sinks, &some, radius, w->name);
            results_free(&got);
            results_free(&want);
        }
        gravel_several_release(s);
        bodies_free(&b);
    }
}

/* No sources at all, and none that count: zeros and no neighbours. */
static void no_sources(void **state)
{
    (void)state;
    FOR_WAYS(w)
    {
        bodies b = bodies_new(SINKS, 12);
        double radius[SINKS];
        gravel_several *s = several_new(w->devices, GRAVEL_DS, w->host);
        const gravel_sources all = sources_of(&b, 0, SINKS);
        const gravel_sinks sinks = sinks_of(&b, 0, SINKS, radius), none = sinks_of(&b, 0, 0, radius);
        const gravel_several_call c = call_of(&sinks, 6, 0, 1, CAPACITY), empty = call_of(&none, 6, 0, 1, CAPACITY);
        fill_radius(radius, SINKS, 1);
        for (int turn = 0; turn < 2; turn++) {
            results got = several_run(s, &c);
            for (size_t i = 0; i < SINKS; i++) {
                for (int k = 0; k < R_COMPONENTS; k++)
                    assert_true(got.v[k][i] == 0);
                assert_true(got.nearest[i] == GRAVEL_NONE && got.nearest_id[i] == -1 && isinf(got.distance[i]));
                assert_int_equal(got.count[i], 0);
            }
            assert_int_equal(got.overflow, 0);
            results_free(&got);
            assert_ok(gravel_several_write_sources(s, 0, &all));
            assert_ok(gravel_several_set_source_count(s, 0));
        }
        assert_ok(gravel_several_set_source_count(s, SINKS));
        results got = several_run(s, &empty);
        results_free(&got);
        gravel_several_release(s);
        bodies_free(&b);
    }
}

/* Bad use is an error code, and the object goes on. */
static void bad_use(void **state)
{
    (void)state;
    FOR_WAYS(w)
    {
        bodies b = bodies_new(SINKS, 13);
        gravel_several *s = several_new(w->devices, GRAVEL_DS, w->host);
        const gravel_sources one = sources_of(&b, 0, 1), all = sources_of(&b, 0, SINKS);
        const gravel_sinks sinks = sinks_of(&b, 0, SINKS, NULL);
        gravel_several_call c = call_of(&sinks, 4, 0.1, 0, 0), odd = call_of(&sinks, 3, 0.1, 0, 0);
        results r = results_new(SINKS, 0);
        const gravel_forces f = several_forces(4, 0, &r), too_much = several_forces(6, 1, &r);
        const uint32_t far = UINT32_MAX - 1;
        assert_int_equal(gravel_several_collect(s, &f, NULL), GRAVEL_ERR_STATE);
        assert_int_equal(gravel_several_again(s, 2, 0, 0), GRAVEL_ERR_STATE);
        assert_int_equal(gravel_several_scatter_sources(s, &far, &one), GRAVEL_ERR_DEVICE_MEMORY);
        assert_int_equal(gravel_several_write_sources(s, SIZE_MAX, &one), GRAVEL_ERR_DEVICE_MEMORY);
        assert_int_equal(gravel_several_set_source_count(s, 1), GRAVEL_ERR_ARGUMENT);
        assert_ok(gravel_several_write_sources(s, 0, &all));
        const double kept = b.d[1][2][3];
        b.d[1][2][3] = NAN;
        assert_int_equal(gravel_several_write_sources(s, 0, &all), GRAVEL_ERR_INPUT);
        assert_non_null(strstr(gravel_error_message(), "address 3"));
        assert_int_equal(gravel_several_submit(s, &c), GRAVEL_ERR_INPUT); /* the sinks have it too */
        assert_int_equal(gravel_several_collect(s, &f, NULL), GRAVEL_ERR_STATE);
        b.d[1][2][3] = kept;
        assert_int_equal(gravel_several_submit(s, &odd), GRAVEL_ERR_ARGUMENT);
        c.soften = GRAVEL_SOFTEN_MAX;
        assert_int_equal(gravel_several_submit(s, &c), GRAVEL_ERR_ARGUMENT); /* no sink_eps */
        c.soften = GRAVEL_SOFTEN_EPS;
        assert_ok(gravel_several_submit(s, &c));
        assert_int_equal(gravel_several_collect(s, &too_much, NULL), GRAVEL_ERR_ARGUMENT);
        assert_true(isnan(r.v[R_AX][0]));
        assert_ok(gravel_several_collect(s, &f, NULL));
        assert_false(isnan(r.v[R_AX][0]));
        r.v[R_AX][0] = NAN;
        assert_ok(gravel_several_collect(s, &f, NULL)); /* once more */
        assert_false(isnan(r.v[R_AX][0]));
        assert_int_equal(gravel_several_set_time(s, NAN), GRAVEL_ERR_INPUT);
        results_free(&r);
        gravel_several_release(s);
        bodies_free(&b);
    }
    gravel_several_options o = GRAVEL_SEVERAL_OPTIONS_INIT;
    gravel_several *s;
    o.devices = "there is no such device";
    assert_int_equal(gravel_several_create(&s, &o), GRAVEL_ERR_NO_DEVICE);
    assert_null(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_and_neighbours),
        cmocka_unit_test(infinite_radius),
        cmocka_unit_test(updates_in_any_order),
        cmocka_unit_test(writes_after_submit),
        cmocka_unit_test(prediction),
        cmocka_unit_test(few_changes_and_sinks),
        cmocka_unit_test(softening),
        cmocka_unit_test(some_of_the_sources),
        cmocka_unit_test(no_sources),
        cmocka_unit_test(bad_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
