/* Random sequences of writes, counts, times and calls, answered in turn by the host, one device and two: each answer is
 * that of the sources as they are at its submit.  In double, so that the least that is lost shows.
 *
 * GRAVEL_TEST_TURNS=n: so many turns, other ones for each n. */
#include "several_test.h"

#include "host/several/several.h"

enum { MOST = 300, SINKS = 24, CAPACITY = 12 };

/* What an object should hold. */
typedef struct truth {
    bodies b;
    double eps[MOST];
    size_t written, count; /* addresses below; sources that count */
    int counted, predict;
    double time;
    uint64_t noise;
} truth;

static size_t random_below(truth *t, size_t n)
{
    return (size_t)((random_unit(&t->noise) + 1) / 2 * (double)n) % n;
}

static int one_in(truth *t, size_t n)
{
    return random_below(t, n) == 0;
}

/* Sources first ... of `from` go to these addresses (NULL: the same), some members not given. */
static void write_some(truth *t, gravel_several *s, size_t first, size_t n, const uint32_t *address)
{
    bodies from = bodies_new(MOST, t->noise);
    gravel_sources some = sources_of(&from, first, n);
    const int derivatives = (int)random_below(t, 6), timed = !one_in(t, 4), named = !one_in(t, 4);
    gravel_vec *const vec[5] = {&some.vel, &some.acc, &some.jerk, &some.snap, &some.crackle};
    for (int k = derivatives; k < 5; k++)
        *vec[k] = (gravel_vec){NULL, NULL, NULL, 0};
    some.time = timed ? some.time : NULL;
    some.id = named ? some.id : NULL;
    if (address)
        assert_ok(gravel_several_scatter_sources(s, address, &some));
    else
        assert_ok(gravel_several_write_sources(s, first, &some));
    for (size_t k = first; k < first + n; k++) {
        const size_t at = address ? address[k - first] : k;
        t->b.m[at] = from.m[k];
        t->b.t[at] = timed ? from.t[k] : 0;
        t->b.id[at] = named ? from.id[k] : (int32_t)at;
        for (int d = 0; d < 18; d++)
            t->b.d[d / 3][d % 3][at] = d / 3 <= derivatives ? from.d[d / 3][d % 3][k] : 0;
        t->written = at + 1 > t->written ? at + 1 : t->written;
    }
    bodies_free(&from);
}

static void change(truth *t, gravel_several *s)
{
    uint32_t address[MOST];
    double eps[MOST];
    const size_t most = one_in(t, 5) ? MOST : 12, n = 1 + random_below(t, most), first = random_below(t, MOST - n + 1);
    switch (random_below(t, 7)) {
    case 0:
    case 1:
        write_some(t, s, first, n, NULL);
        break;
    case 2:
    case 3:
        for (size_t k = 0; k < n; k++)
            address[k] = (uint32_t)random_below(t, one_in(t, 3) ? MOST : t->written + 1 < MOST ? t->written + 1 : MOST);
        write_some(t, s, first, n, address);
        break;
    case 4:
        for (size_t k = 0; k < n; k++)
            t->eps[first + k] = eps[k] = 0.1 + 0.1 * random_unit(&t->noise);
        assert_ok(gravel_several_write_softening(s, first, n, eps));
        break;
    case 5:
        t->predict = !one_in(t, 3);
        t->time = random_unit(&t->noise);
        if (t->predict)
            assert_ok(gravel_several_set_time(s, t->time));
        else
            gravel_several_set_no_time(s);
        break;
    default:
        t->count = one_in(t, 2) ? t->written : random_below(t, one_in(t, 2) ? 4 : MOST) % (t->written + 1);
        t->counted = 1;
        assert_ok(gravel_several_set_source_count(s, t->count));
    }
}

/* A call, and what it should give. */
typedef struct question {
    bodies at, sinks; /* sources and sinks when it was submitted */
    double eps[MOST], sink_eps[SINKS], radius[SINKS];
    size_t count, n;
    gravel_several_call call;
} question;

static void predict(const truth *t, bodies *to)
{
    const double *d[6][3];
    double *p[3][3];
    for (int k = 0; k < 18; k++)
        d[k / 3][k % 3] = t->b.d[k / 3][k % 3];
    for (int k = 0; k < 9; k++)
        p[k / 3][k % 3] = to->d[k / 3][k % 3];
    assert_int_equal(gv_ref_predict(GV_REF_LONG_DOUBLE, t->written, d, t->b.t, t->time, p), 0);
}

static void submit(truth *t, gravel_several *s, question *q, gravel_sinks *sinks)
{
    memcpy(q->at.block, t->b.block, 20 * MOST * sizeof(double));
    memcpy(q->at.id, t->b.id, MOST * sizeof *t->b.id);
    memcpy(q->eps, t->eps, sizeof q->eps);
    if (t->predict)
        predict(t, &q->at);
    q->count = t->counted ? t->count : t->written;
    q->n = random_below(t, SINKS + 1);
    for (size_t k = 0; k < SINKS; k++) {
        q->sink_eps[k] = 0.15 + 0.05 * random_unit(&t->noise);
        q->radius[k] = 0.4 + 0.4 * random_unit(&t->noise);
        q->sinks.id[k] = one_in(t, 3) ? -1 : (int32_t)random_below(t, MOST);
        for (int d = 0; d < 9; d++)
            q->sinks.d[d / 3][d % 3][k] = random_unit(&t->noise);
    }
    *sinks = sinks_of(&q->sinks, 0, q->n, q->radius);
    q->call = call_of(sinks, one_in(t, 2) ? 2 : 4, 0.1, 1, one_in(t, 2) ? CAPACITY : 0);
    q->call.soften = one_in(t, 2) ? GRAVEL_SOFTEN_EPS : GRAVEL_SOFTEN_SUM;
    q->call.sink_eps = q->sink_eps;
    gv_several_force(s, (int)random_below(t, 3) - 1);
    gv_several_cut(s, (int)random_below(t, 4));
    assert_ok(gravel_several_submit(s, &q->call));
}

/* Forces of two summations in double; neighbours where none lies within rounding of the edge, which none does. */
static void compare(const question *q, const results *got, int turn)
{
    const gv_ref_particles sinks = view_of(&q->sinks, 0, q->n), sources = view_of(&q->at, 0, q->count);
    const gravel_several_call *c = &q->call;
    results want = reference_run(c->order, &sinks, &sources, 0.1, q->radius, CAPACITY);
    const gv_ref_forces out = {.ax = want.v[R_AX],
                               .ay = want.v[R_AY],
                               .az = want.v[R_AZ],
                               .pot = want.v[R_POT],
                               .jx = want.v[R_JX],
                               .jy = want.v[R_JY],
                               .jz = want.v[R_JZ],
                               .sx = want.v[R_SX],
                               .sy = want.v[R_SY],
                               .sz = want.v[R_SZ]};
    double eps[SINKS];
    for (size_t i = 0; i < SINKS; i++)
        eps[i] = 0.1;
    const gv_ref_soften kind = c->soften == GRAVEL_SOFTEN_EPS ? GV_REF_SOFTEN_SINKS : (gv_ref_soften)c->soften;
    assert_int_equal(gv_ref_direct_softened(GV_REF_LONG_DOUBLE, c->order, &sinks, &sources, kind,
                                            c->soften == GRAVEL_SOFTEN_EPS ? eps : q->sink_eps, q->eps, &out),
                     0);
    for (size_t i = 0; i < q->n; i++) {
        for (int k = 0; k < components_of(c->order); k++)
            if (!(fabs(got->v[k][i] - want.v[k][i]) <= 1e-9 * (1 + fabs(want.v[k][i]))))
                fail_msg("turn %d, order %d, sink %zu of %zu x %zu, component %d: %.17g, the reference %.17g", turn,
                         c->order, i, q->n, q->count, k, got->v[k][i], want.v[k][i]);
        if (c->nearest && (got->nearest[i] != want.nearest[i] ||
                           (got->nearest[i] != GRAVEL_NONE && got->nearest_id[i] != q->at.id[got->nearest[i]])))
            fail_msg("turn %d, sink %zu of %zu x %zu: nearest %u, the reference %u", turn, i, q->n, q->count,
                     got->nearest[i], want.nearest[i]);
        if (c->neighbour_capacity == 0)
            continue;
        assert_int_equal(got->count[i], want.count[i]);
        for (size_t k = i * CAPACITY; k < i * CAPACITY + (want.count[i] < CAPACITY ? want.count[i] : CAPACITY); k++) {
            assert_int_equal(got->list[k], want.list[k]);
            assert_int_equal(got->list_id[k], q->at.id[want.list[k]]);
        }
    }
    results_free(&want);
}

static void random_calls(void **state)
{
    (void)state;
    const char *const devices = no_device() ? NULL : two_parts();
    if (!devices)
        skip();
    const char *const asked = getenv("GRAVEL_TEST_TURNS");
    const int turns = asked ? atoi(asked) : 900;
    truth t = {.b = bodies_empty(MOST), .noise = (uint64_t)turns};
    question q = {.at = bodies_empty(MOST), .sinks = bodies_empty(SINKS)};
    gravel_several *s = several_new(devices, GRAVEL_DP, GRAVEL_HOST_WHERE_FASTER);
    for (size_t k = 0; k < MOST; k++)
        t.b.id[k] = -1;
    for (int turn = 0; turn < turns; turn++) {
        gravel_sinks sinks;
        for (size_t k = random_below(&t, 5); k > 0; k--)
            change(&t, s);
        submit(&t, s, &q, &sinks);
        if (one_in(&t, 3)) /* the next call sees it */
            change(&t, s);
        if (one_in(&t, 4))
            continue;
        if (one_in(&t, 3)) {
            q.call.order = one_in(&t, 2) ? 2 : 4;
            q.call.neighbour_capacity = CAPACITY;
            assert_ok(gravel_several_again(s, q.call.order, 1, CAPACITY));
        }
        results got = several_collect(s, q.n, q.call.order, q.call.nearest, (size_t)q.call.neighbour_capacity);
        compare(&q, &got, turn);
        results_free(&got);
    }
    gravel_several_release(s);
    bodies_free(&q.at);
    bodies_free(&q.sinks);
    bodies_free(&t.b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
