/* Shares of several devices put together: ties, lists, growth, repeated ids; who answers; what it costs to go on. */
#include "several_test.h"

#include "growth.h"

#include "host/several/object.h"

#define DEVICES_OR_SKIP(devices)                                                                                       \
    const char *const devices = no_device() ? NULL : two_parts();                                                      \
    if (!devices) {                                                                                                    \
        skip();                                                                                                        \
    }

/* Two sources at one distance, the lower address on either device: it is the nearest. */
static void nearest_ties(void **state)
{
    (void)state;
    DEVICES_OR_SKIP(devices)
    const double x[4] = {1, -1, 0, 0}, y[4] = {0, 0, 1, -1}, zero[4] = {0}, m[4] = {1, 1, 1, 1};
    const int32_t id[4] = {40, 41, 42, 43};
    const gravel_sinks sink = {.count = 1, .pos = {zero, zero, zero, 1}};
    gravel_several *s = several_new(devices, GRAVEL_DS, GRAVEL_HOST_NEVER);
    const gravel_several_call c = call_of(&sink, 2, 0, 1, 0);
    const uint32_t far[4] = {900, 901, 902, 903};
    const gravel_sources all = {.count = 4, .mass = m, .id = id, .pos = {x, y, zero, 1}};
    assert_ok(gravel_several_scatter_sources(s, far, &all));
    results got = several_run(s, &c);
    /* addresses that were never written are massless sources at the origin, at distance 0 */
    assert_int_equal(got.nearest[0], 0);
    results_free(&got);
    for (uint32_t first = 0; first < 3; first++) {
        const double away[900] = {0};
        double at[900];
        for (size_t k = 0; k < 900; k++)
            at[k] = 2;
        const gravel_sources others = {.count = 900, .mass = away, .pos = {at, at, at, 1}};
        assert_ok(gravel_several_write_sources(s, 0, &others));
        const uint32_t address[4] = {first + 7, first + 8, first + 5, first + 6};
        assert_ok(gravel_several_scatter_sources(s, address, &all));
        got = several_run(s, &c);
        assert_int_equal(got.nearest[0], first + 5);
        assert_int_equal(got.nearest_id[0], 42);
        assert_true(got.distance[0] == 1);
        results_free(&got);
    }
    gravel_several_release(s);
}

/* Some 140000 sources, by addresses in a scrambled order, on two devices; the bits of a second object are the same. */
static void many_in_any_order(void **state)
{
    enum { MANY = 140000, FEW = 6, ROOM = 40 };
    (void)state;
    DEVICES_OR_SKIP(devices)
    bodies b = bodies_new(MANY, 21), entry = bodies_new(MANY, 21);
    uint32_t *address = malloc(MANY * sizeof *address);
    double radius[FEW];
    results first = {0};
    assert_non_null(address);
    for (size_t k = 0; k < MANY; k++) { /* 99991 is a prime that does not divide 140000 */
        address[k] = (uint32_t)(k * 99991 % MANY);
        entry.m[k] = b.m[address[k]];
        entry.id[k] = b.id[address[k]];
        for (int c = 0; c < 9; c++)
            entry.d[c / 3][c % 3][k] = b.d[c / 3][c % 3][address[k]];
    }
    for (size_t k = 0; k < FEW; k++)
        radius[k] = 0.03 + 0.02 * (double)k;
    const gravel_sinks sinks = sinks_of(&b, 5, FEW, radius);
    const gravel_several_call c = call_of(&sinks, 4, 0.01, 1, ROOM);
    const gv_ref_particles ref_sinks = view_of(&b, 5, FEW), ref_sources = view_of(&b, 0, MANY);
    for (int turn = 0; turn < 2; turn++) {
        gravel_several *s = several_new(devices, GRAVEL_DS, GRAVEL_HOST_NEVER);
        for (size_t done = 0, n = 1; done < MANY; done += n, n = n * 8) {
            n = n < MANY - done ? n : MANY - done;
            gravel_sources some = sources_of(&entry, done, n);
            some.jerk = some.snap = some.crackle = (gravel_vec){NULL, NULL, NULL, 1};
            some.time = NULL;
            assert_ok(gravel_several_scatter_sources(s, address + done, &some));
        }
        results got = several_run(s, &c);
        if (turn == 0) {
            results want = reference_run(4, &ref_sinks, &ref_sources, 0.01, radius, ROOM);
            assert_forces(&got, &want, 4, GRAVEL_DS, &ref_sinks, &ref_sources, 0.01, "many sources");
            assert_nearest(&got, &want, GRAVEL_DS, &ref_sinks, &ref_sources, "many sources");
            assert_lists(&got, GRAVEL_DS, &ref_sinks, &ref_sources, radius, "many sources");
            assert_true(got.overflow > 0 && got.overflow < FEW);
            results_free(&want);
            first = got;
        } else {
            assert_same_bits(&first, &got, 4);
            assert_memory_equal(first.count, got.count, FEW * sizeof *got.count);
            results_free(&got);
        }
        gravel_several_release(s);
    }
    results_free(&first);
    free(address);
    bodies_free(&b);
    bodies_free(&entry);
}

/* So many sinks that devices are started by threads of their own, and again in pieces; an error of one of them comes
 * through, with the number that the sink has in the call. */
static void many_sinks(void **state)
{
    enum { SINKS = 17000, N = 64 };
    (void)state;
    DEVICES_OR_SKIP(devices)
    bodies b = bodies_new(SINKS, 26);
    gravel_several *s = several_new(devices, GRAVEL_DS, GRAVEL_HOST_NEVER);
    const gravel_sources all = sources_of(&b, 0, N);
    const gravel_sinks sinks = sinks_of(&b, 0, SINKS, NULL);
    const gravel_several_call c = call_of(&sinks, 4, 0.05, 0, 0);
    const gv_ref_particles ref_sinks = view_of(&b, 0, SINKS), ref_sources = view_of(&b, 0, N);
    assert_ok(gravel_several_write_sources(s, 0, &all));
    results got = several_run(s, &c), want = reference_run(4, &ref_sinks, &ref_sources, 0.05, NULL, 0);
    assert_forces(&got, &want, 4, GRAVEL_DS, &ref_sinks, &ref_sources, 0.05, "many sinks");
    results_free(&got);
    for (int pieces = 1; pieces <= 4; pieces += 3) {
        gv_several_cut(s, pieces);
        b.d[0][0][SINKS - 3] = 1e30; /* its square leaves the range of float: only the device refuses it */
        assert_int_equal(gravel_several_submit(s, &c), GRAVEL_ERR_INPUT);
        assert_contains(gravel_error_message(), "sink 16997");
        b.d[0][0][SINKS - 3] = 0;
        got = several_run(s, &c);
        assert_int_equal(s->asked.pieces, pieces);
        results_free(&got);
    }
    results_free(&want);
    gravel_several_release(s);
    bodies_free(&b);
}

/* Ids that repeat, and -1, among sources and sinks: only equal ids other than -1 are one body, on every device. */
static void odd_ids(void **state)
{
    enum { N = 200 };
    (void)state;
    DEVICES_OR_SKIP(devices)
    const char *const way[3] = {devices, NULL, NULL};
    bodies b = bodies_new(N, 22);
    for (size_t k = 0; k < N; k++)
        b.id[k] = k % 3 == 0 ? -1 : (int32_t)(k % 7) + INT32_MAX - 10;
    const gravel_sources all = sources_of(&b, 0, N);
    const gravel_sinks sinks = sinks_of(&b, 0, 30, NULL);
    const gravel_several_call c = call_of(&sinks, 4, 0.05, 1, 0);
    const gv_ref_particles ref_sinks = view_of(&b, 0, 30), ref_sources = view_of(&b, 0, N);
    results want = reference_run(4, &ref_sinks, &ref_sources, 0.05, NULL, 0);
    for (int k = 0; k < 3; k++) {
        gravel_several *s = several_new(way[k], GRAVEL_DS, k == 2 ? GRAVEL_HOST_ALWAYS : GRAVEL_HOST_NEVER);
        assert_ok(gravel_several_write_sources(s, 0, &all));
        results got = several_run(s, &c);
        assert_forces(&got, &want, 4, GRAVEL_DS, &ref_sinks, &ref_sources, 0.05, "odd ids");
        assert_nearest(&got, &want, GRAVEL_DS, &ref_sinks, &ref_sources, "odd ids");
        results_free(&got);
        gravel_several_release(s);
    }
    results_free(&want);
    bodies_free(&b);
}

/* The dealer: each address belongs to one place of one device, and shares go with the speeds. */
static void dealing(void **state)
{
    const int index[3] = {2, 0, 1};
    const double speed[3] = {2, 1, 5};
    gv_team *t;
    (void)state;
    assert_ok(gv_team_create(&t, 3, index, speed));
    assert_int_equal(t->width[0], 40); /* 5/8 of 64 */
    assert_int_equal(t->width[1], 16);
    assert_int_equal(t->width[2], 8);
    for (size_t count = 0; count < 200; count += 13) {
        size_t sum = 0;
        for (int m = 0; m < 3; m++) {
            const size_t own = gv_team_count(t, m, count);
            for (uint32_t k = 0; k < own; k++) {
                const uint32_t a = gv_team_address(t, m, k);
                assert_true(a < count);
                assert_int_equal(t->owner[a % GV_DEAL_PERIOD], m);
                assert_int_equal(a / GV_DEAL_PERIOD * t->width[m] + t->place[a % GV_DEAL_PERIOD], k);
            }
            sum += own;
        }
        assert_int_equal(sum, count);
    }
    gv_team_release(t);
}

/* A change is sent once: what was written since, also where addresses follow those that were sent before. */
static void changes_since(void **state)
{
    (void)state;
    const double one[4] = {1, 1, 1, 1};
    uint32_t list[8];
    size_t listed;
    gv_store store;
    gv_store_init(&store);
    for (size_t k = 0; k < 4; k++) {
        const gravel_sources s = {.count = 2, .mass = one, .pos = {one, one, one, 1}};
        const uint64_t before = store.writes;
        assert_ok(gv_store_write(&store, NULL, 2 * k, &s));
        assert_ok(gv_store_write(&store, NULL, 2 * k, &s));
        assert_int_equal(gv_store_list(&store, before, store.count, list, 8, &listed), 1);
        assert_int_equal(listed, 2);
        assert_int_equal(list[0] + list[1], 4 * k + 1);
        assert_int_equal(gv_store_list(&store, before, store.count, list, 1, &listed), 0); /* no room */
        store.sealed = store.writes;
    }
    assert_int_equal(gv_store_list(&store, 0, store.count, list, 8, &listed), 1);
    assert_int_equal(listed, 8);
    assert_int_equal(gv_store_list(&store, store.writes, store.count, list, 8, &listed), 1);
    assert_int_equal(listed, 0);
    gv_store_release(&store);
}

static gv_cost flat(double base, double per_pair)
{
    gv_cost c = {{1, 10, 50, 100}, {10, 100, 1000}, {{0}}};
    for (int s = 0; s < GV_LINES; s++)
        for (int n = 0; n < GV_KNOTS; n++)
            c.seconds[s][n] = base + per_pair * c.sinks[s] * c.sources[n];
    return c;
}

/* Seconds of a round on GPUs of one kind, much as H200s have them: 25 us for each device, the host's work on a sink (of
 * many sinks more, and more for more devices), and 7.7e11 pairs a second and device. */
static double truth(int devices, double sinks, double sources)
{
    const double many = fmax(0, sinks - 4096);
    return 1e-9 * (12e3 + 25e3 * devices + sinks * (18 + 5 * devices) + many * (3 + 7 * devices)) +
           sinks * sources / (7.7e11 * devices);
}

/* A device that was idle takes longer at first: what was timed then counts no more than a larger call that was faster.
 */
static void slow_at_first(void **state)
{
    (void)state;
    gv_cost c = flat(1e-4, 1e-9);
    const gv_cost want = c;
    c.seconds[0][0] = 1;
    c.seconds[1][2] = 2;
    gv_cost_straighten(&c);
    assert_true(c.seconds[0][0] == want.seconds[0][1] && c.seconds[1][2] == want.seconds[2][2]);
    c.seconds[0][0] = want.seconds[0][0];
    c.seconds[1][2] = want.seconds[1][2];
    assert_memory_equal(&c, &want, sizeof c);
}

/* What is timed at the knots decides well between and beyond them: over all sizes no choice takes a tenth longer than
 * the best one. */
static void never_much_slower(void **state)
{
    (void)state;
    DEVICES_OR_SKIP(devices)
    gravel_several *s = several_new(devices, GRAVEL_DS, GRAVEL_HOST_NEVER);
    double worst = 1;
    int used[2] = {0, 0};
    gv_costs c = {.known = 1};
    assert_int_equal(s->teams, 2);
    for (int k = 0; k < 2; k++) {
        gv_cost_knots(1, &c.team[k]);
        for (int i = 0; i < GV_LINES; i++)
            for (int j = 0; j < GV_KNOTS; j++)
                c.team[k].seconds[i][j] = truth(k == 0 ? 1 : 4, c.team[k].sinks[i], c.team[k].sources[j]);
    }
    for (double sources = 1024; sources <= 1e6; sources *= 1.5)
        for (double sinks = 1; sinks <= sources; sinks *= 1.5) {
            const int chosen = gv_model_least(s, &c, (size_t)sinks, (size_t)sources).team;
            const double one = truth(1, sinks, sources), four = truth(4, sinks, sources);
            worst = fmax(worst, (chosen == 0 ? one : four) / fmin(one, four));
            used[chosen]++;
        }
    assert_true(used[0] > 20 && used[1] > 20);
    if (worst > 1.1)
        fail_msg("a choice takes %.2f times as long as the best one", worst);
    gravel_several_release(s);
}

/* Times that are given decide: the host for the smallest calls, then one device, then both; options rule some out. */
static void decisions(void **state)
{
    (void)state;
    DEVICES_OR_SKIP(devices)
    gravel_several *s = several_new(devices, GRAVEL_DS, GRAVEL_HOST_WHERE_FASTER);
    gravel_several_call c = GRAVEL_SEVERAL_CALL_INIT;
    gravel_several_plan p;
    s->options.all_devices = 0;
    s->speeds_known = s->costs[1].known = 1;
    s->speed[0] = s->speed[1] = 1;
    s->costs[1].host = flat(1e-6, 1e-8);
    s->costs[1].team[0] = flat(1e-4, 1e-9);
    s->costs[1].team[1] = flat(2e-4, 5e-10);
    assert_int_equal(s->teams, 2);
    assert_ok(gravel_several_get_plan(s, &c, 1, 1000, &p)); /* 11 us, 101, 200 */
    assert_true(p.host && p.devices == 0 && fabs(p.predicted_s - 1.1e-5) < 1e-12);
    assert_ok(gravel_several_get_plan(s, &c, 100, 1000, &p)); /* 1001 us, 200, 250 */
    assert_true(!p.host && p.devices == 1 && p.device[0] == 0 && p.share[0] == 1);
    assert_ok(gravel_several_get_plan(s, &c, 1000, 10000, &p)); /* 100 ms, 10.1, 5.2 */
    assert_true(!p.host && p.devices == 2 && p.share[0] == 0.5 && p.share[1] == 0.5);
    assert_true(fabs(p.predicted_s - 5.2e-3) < 1e-9);
    s->options.host = GRAVEL_HOST_NEVER;
    assert_ok(gravel_several_get_plan(s, &c, 1, 1000, &p));
    assert_true(!p.host && p.devices == 1);
    s->options.all_devices = 1;
    assert_ok(gravel_several_get_plan(s, &c, 1, 1000, &p));
    assert_true(!p.host && p.devices == 2);
    c.order = 5;
    assert_int_equal(gravel_several_get_plan(s, &c, 1, 1000, &p), GRAVEL_ERR_ARGUMENT);
    gravel_several_release(s);
}

/* The host, one device and two answer in turn while sources change and are added: each catches up with all that the
 * others were sent, also where that is more than half of the sources or so much that the journal began anew. */
static void answers_in_turn(void **state)
{
    enum { N = 900, SINKS = 20, TURNS = 18 };
    (void)state;
    DEVICES_OR_SKIP(devices)
    bodies b = bodies_new(N, 24);
    gravel_several *s = several_new(devices, GRAVEL_DS, GRAVEL_HOST_WHERE_FASTER);
    const gravel_sinks sinks = sinks_of(&b, 0, SINKS, NULL);
    const gravel_several_call c = call_of(&sinks, 4, 0.05, 1, 0);
    const gv_ref_particles ref_sinks = view_of(&b, 0, SINKS);
    uint64_t state_of_noise = 25;
    size_t count = N / 3;
    const gravel_sources begin = sources_of(&b, 0, count);
    assert_ok(gravel_several_write_sources(s, 0, &begin));
    for (int turn = 0; turn < TURNS; turn++) {
        const size_t changes = turn % 4 == 3 ? 6000 : (size_t)(1 + turn % 5 * 20);
        for (size_t k = 0; k < changes; k++) {
            const uint32_t at = (uint32_t)(count * (size_t)(1e6 * (random_unit(&state_of_noise) + 1)) / 2000001);
            for (int d = 0; d < 6; d++)
                b.d[d / 3][d % 3][at] = random_unit(&state_of_noise);
            const gravel_sources one = sources_of(&b, at, 1);
            assert_ok(gravel_several_scatter_sources(s, &at, &one));
        }
        if (turn % 3 == 1 && count < N) {
            const gravel_sources more = sources_of(&b, count, 97);
            assert_ok(gravel_several_write_sources(s, count, &more));
            count += 97;
        }
        gv_several_force(s, (turn * 7 + turn / 5) % 3 - 1);
        results got = several_run(s, &c);
        const gv_ref_particles ref_sources = view_of(&b, 0, count);
        results want = reference_run(4, &ref_sinks, &ref_sources, 0.05, NULL, 0);
        assert_forces(&got, &want, 4, GRAVEL_DS, &ref_sinks, &ref_sources, 0.05, "answers in turn");
        assert_nearest(&got, &want, GRAVEL_DS, &ref_sinks, &ref_sources, "answers in turn");
        results_free(&got);
        results_free(&want);
    }
    gravel_several_release(s);
    bodies_free(&b);
}

/* What was measured is kept: another object plans the same to the last bit; a damaged file costs a measurement. */
static void measured_once(void **state)
{
    double seconds[3];
    (void)state;
    if (no_device())
        skip();
    char *folder = make_folder();
    for (int turn = 0; turn < 3; turn++) {
        gravel_several_options o = GRAVEL_SEVERAL_OPTIONS_INIT;
        gravel_context_options context = GRAVEL_CONTEXT_OPTIONS_INIT;
        gravel_several_call c = GRAVEL_SEVERAL_CALL_INIT;
        gravel_several_plan plan;
        gravel_several *s;
        context.cache_dir = folder;
        o.context = &context;
        c.order = 2;
        assert_ok(gravel_several_create(&s, &o));
        assert_ok(gravel_several_get_plan(s, &c, 3, 5000, &plan));
        seconds[turn] = plan.predicted_s;
        assert_true(plan.predicted_s > 0 && plan.predicted_s < 100);
        gravel_several_release(s);
        char *name = NULL;
        assert_int_equal(count_files(folder, "several-", &name), 1);
        if (turn == 1) /* half of it */
            assert_int_equal(truncate(name, 200), 0);
        free(name);
    }
    assert_memory_equal(&seconds[0], &seconds[1], sizeof seconds[0]);
    remove_folder(folder);
    free(folder);
}

typedef struct rounds {
    const bodies *b;
    gravel_several *s;
    const gravel_several_call *call;
    const gravel_forces *forces;
} rounds;

static void one_round(void *user, int k)
{
    const rounds *r = user;
    const uint32_t at = (uint32_t)(k * 37) % (uint32_t)r->b->n;
    const gravel_sources one = sources_of(r->b, at, 1);
    assert_ok(gravel_several_scatter_sources(r->s, &at, &one));
    assert_ok(gravel_several_set_time(r->s, ldexp(k, -20)));
    assert_ok(gravel_several_submit(r->s, r->call));
    if (k % 5 != 0)
        assert_ok(gravel_several_collect(r->s, r->forces, NULL));
}

/* Rounds of a block step code: all submits see all updates, and memory does not grow once the journal is full. */
static void many_rounds(void **state)
{
    enum { N = 100, WARM = 6000, ROUNDS = 6000 };
    (void)state;
    if (no_device())
        skip();
    bodies b = bodies_new(N, 23);
    gravel_several *s = several_new(NULL, GRAVEL_DS, GRAVEL_HOST_ALWAYS);
    const gravel_sources all = sources_of(&b, 0, N);
    const gravel_sinks sinks = sinks_of(&b, 0, 3, NULL);
    const gravel_several_call c = call_of(&sinks, 4, 0.05, 1, 0);
    results r = results_new(3, 0);
    const gravel_forces f = several_forces(4, 1, &r);
    rounds r_of = {&b, s, &c, &f};
    assert_ok(gravel_several_write_sources(s, 0, &all));
    assert_no_growth(WARM, ROUNDS, 16, one_round, &r_of);
    results_free(&r);
    gravel_several_release(s);
    bodies_free(&b);
}

/* A configuration that cannot run, and devices that are not there. */
static void refused(void **state)
{
    (void)state;
    if (no_device())
        skip();
    gravel_several_options o = GRAVEL_SEVERAL_OPTIONS_INIT;
    gravel_several *s = NULL;
    o.configuration = "threads=no";
    assert_int_not_equal(gravel_several_create(&s, &o), GRAVEL_OK);
    assert_null(s);
    o.configuration = NULL;
    o.devices = "cpu:100000,cpu:100000";
    assert_int_not_equal(gravel_several_create(&s, &o), GRAVEL_OK);
    assert_null(s);
    o.devices = "";
    assert_int_equal(gravel_several_create(&s, &o), GRAVEL_ERR_NO_DEVICE);
    o.devices = NULL;
    o.precision = (gravel_precision)7;
    assert_int_equal(gravel_several_create(&s, &o), GRAVEL_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_ties),    cmocka_unit_test(many_in_any_order), cmocka_unit_test(many_sinks),
        cmocka_unit_test(odd_ids),         cmocka_unit_test(dealing),           cmocka_unit_test(changes_since),
        cmocka_unit_test(decisions),       cmocka_unit_test(slow_at_first),     cmocka_unit_test(never_much_slower),
        cmocka_unit_test(answers_in_turn), cmocka_unit_test(measured_once),     cmocka_unit_test(many_rounds),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
