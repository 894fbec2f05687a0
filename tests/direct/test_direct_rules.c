/* Neighbour lists by the rules of gravel_neighbour_rule, now and some time ahead, and forces that leave neighbours out:
 * on whole numbers, where every distance is exact, so that lists are the reference's to the last entry. */
#include "problem.h"

#define assert_error(call, code, part)                                                                                 \
    do {                                                                                                               \
        assert_int_equal(call, code);                                                                                  \
        assert_contains(gravel_error_message(), part);                                                                 \
    } while (0)

enum { N = 500, SINKS = 70, CAPACITY = 40 };

/* Positions -3 ... 3 and velocities -2 ... 2, many of them the same; masses powers of two. */
static bodies grid(uint64_t seed)
{
    bodies b = bodies_new(N, seed);
    for (size_t i = 0; i < N; i++) {
        b.m[i] = i % 5 == 0 ? 0 : ldexp(1, -(int)(i % 3));
        for (int c = 0; c < 3; c++) {
            b.d[0][c][i] = nearbyint(3.4 * random_unit(&seed));
            b.d[1][c][i] = nearbyint(2.4 * random_unit(&seed));
        }
    }
    return b;
}

typedef struct rule_case {
    gravel_precision precision;
    int order, nearest;
    const char *configuration;
    gravel_neighbour_rule rule;
    int ahead, leave_out, with_ids;
    double eps;
} rule_case;

/* lanes and rows, tiles and none, one source and sixteen at a time */
#define LANES_SHAPE "threads=1 split=1 tile=0 lanes=8 sinks_per_item=1 unroll=16 rsqrt=0 blocks_per_cu=4"
#define ROWS_SHAPE "threads=16 split=8 tile=0 lanes=4 sinks_per_item=1 unroll=4 rsqrt=0 blocks_per_cu=32"

static const rule_case cases[] = {
    {GRAVEL_DS, 4, 0, GPU_SHAPE, GRAVEL_NEIGHBOURS_SPHERE_MASS, 1, 1, 0, 0},
    {GRAVEL_DP, 4, 0, NULL, GRAVEL_NEIGHBOURS_SPHERE, 1, 1, 0, 0},
    {GRAVEL_SP, 6, 1, LANES_SHAPE, GRAVEL_NEIGHBOURS_SPHERE, 0, 1, 1, 0.25},
    {GRAVEL_DS, 2, 0, ROWS_SHAPE, GRAVEL_NEIGHBOURS_OTHERS, 0, 1, 1, 0},
    {GRAVEL_SP, 4, 1, GPU_SHAPE, GRAVEL_NEIGHBOURS_OTHERS, 1, 0, 1, 0.25},
    {GRAVEL_SP, 2, 0, NULL, GRAVEL_NEIGHBOURS_SPHERE_MASS, 0, 0, 0, 0},
};

static results run(gravel_direct *d, const rule_case *c, const gravel_sinks *sinks, const double *ahead)
{
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    gravel_ticket *ticket;
    results r = results_new(sinks->count, CAPACITY);
    gravel_forces f = forces_into(d, &r);
    call.points = sinks;
    call.eps = c->eps;
    call.rule = c->rule;
    call.ahead = c->ahead ? ahead : NULL;
    call.leave_out = c->leave_out;
    assert_ok(gravel_direct_start(d, &call, &ticket));
    assert_ok(gravel_ticket_collect(ticket, &f, &r.overflow));
    gravel_ticket_release(ticket);
    return r;
}

static results reference(const rule_case *c, const gv_ref_particles *sinks, const gv_ref_particles *sources,
                         const double *radius, const double *ahead)
{
    results r = results_new(sinks->n, CAPACITY);
    const gv_ref_rule rule = {(gv_ref_sphere)c->rule, c->ahead ? ahead : NULL, c->leave_out};
    gv_ref_forces out = reference_into(&r);
    out.neighbour_count = r.count;
    out.neighbour_address = r.list;
    assert_int_equal(
        gv_ref_direct_ruled(GV_REF_LONG_DOUBLE, c->order, sinks, sources, c->eps, radius, CAPACITY, &rule, &out), 0);
    return r;
}

static void compare(gravel_direct *d, const rule_case *c, const bodies *b, size_t sources, const char *what)
{
    double radius[SINKS], expected[SINKS], ahead[SINKS];
    static const double radii[] = {0, 1, 2, 1.5, INFINITY, -1, 3};
    for (size_t i = 0; i < SINKS; i++) {
        radius[i] = radii[i % 7];
        expected[i] = radius[i] < 0 ? 0 : radius[i]; /* by < nothing, which is what a negative radius matches */
        ahead[i] = 0.5 * (double)(i % 4);
    }
    if (c->rule == GRAVEL_NEIGHBOURS_OTHERS)
        for (size_t i = 5; i < SINKS; i += 7)
            radius[i] = expected[i] = 0.5;
    gravel_sinks in = sinks_of(b, 0, SINKS, radius);
    gv_ref_particles i = view_of(b, 0, SINKS), j = view_of(b, 0, sources);
    int32_t nobody[SINKS];
    memset(nobody, 0xff, sizeof nobody);
    if (!c->with_ids) {
        in.id = NULL;
        i.id = nobody;
    }
    assert_ok(gravel_direct_set_source_count(d, sources));
    results want = reference(c, &i, &j, expected, ahead), got = run(d, c, &in, ahead);
    size_t over = 0, listed = 0;
    for (size_t s = 0; s < SINKS; s++) {
        if (got.count[s] != want.count[s])
            fail_msg("%s: sink %zu: %u neighbours, the reference %u", what, s, got.count[s], want.count[s]);
        over += want.count[s] > CAPACITY;
        listed += want.count[s];
        for (size_t k = 0; k < CAPACITY && k < want.count[s]; k++)
            if (got.list[s * CAPACITY + k] != want.list[s * CAPACITY + k])
                fail_msg("%s: sink %zu: entry %zu is %u, the reference %u", what, s, k, got.list[s * CAPACITY + k],
                         want.list[s * CAPACITY + k]);
        if (c->nearest)
            assert_int_equal(got.nearest[s], want.nearest[s]);
    }
    assert_int_equal(got.overflow, over);
    assert_true(sources < N || (over > 0 && listed > 100));
    assert_forces(&got, &want, c->order, c->precision, &i, &j, c->eps, what);
    results_free(&got);
    results_free(&want);
}

static void rules(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = grid(11);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const rule_case *c = &cases[k];
        char what[80];
        if (!has_precision(context, c->precision))
            continue;
        snprintf(what, sizeof what, "case %zu, %s%d", k, gravel_precision_name(c->precision), c->order);
        gravel_direct *d = direct_new(context, (direct_want){.order = c->order,
                                                             .precision = c->precision,
                                                             .nearest = c->nearest,
                                                             .capacity = CAPACITY,
                                                             .configuration = c->configuration});
        direct_write(d, &b, 0, N);
        compare(d, c, &b, 33, what);
        compare(d, c, &b, N, what);
        gravel_direct_release(d);
    }
    bodies_free(&b);
}

/* What is left out plus what is in the lists is everything: the regular and irregular forces of a neighbour scheme. */
/* Without a radius nothing is a neighbour, also where the sphere grows with the source's mass and that is negative. */
static void no_radius(void **state)
{
    CONTEXT_OR_SKIP(context)
    static const double mass[2] = {-1, 1}, x[2] = {0.25, 0.5}, zero[2] = {0, 0}, minus = -1;
    static const int32_t id[2] = {1, 2}, own = 0;
    for (int given = 0; given < 2; given++) {
        gravel_direct *d = direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_SP, .capacity = 2});
        const gravel_sources sources = {.count = 2, .id = id, .mass = mass, .pos = {x, zero, zero, 1}};
        const gravel_sinks sink = {
            .count = 1, .id = &own, .pos = {zero, zero, zero, 1}, .radius = given ? &minus : NULL};
        gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
        gravel_ticket *ticket;
        uint32_t count = 7;
        const gravel_forces f = {.neighbour_count = &count};
        assert_ok(gravel_direct_write_sources(d, 0, &sources));
        call.points = &sink;
        call.eps = 0.01;
        call.rule = GRAVEL_NEIGHBOURS_SPHERE_MASS;
        assert_ok(gravel_direct_start(d, &call, &ticket));
        assert_ok(gravel_ticket_collect(ticket, &f, NULL));
        gravel_ticket_release(ticket);
        assert_int_equal(count, 0);
        gravel_direct_release(d);
    }
}

static void left_out_and_listed_is_all(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { ALL = 200 };
    bodies b = bodies_new(ALL, 12);
    double radius[ALL];
    for (size_t i = 0; i < ALL; i++)
        radius[i] = 0.4;
    const rule_case whole = {GRAVEL_DS, 4, 0, NULL, GRAVEL_NEIGHBOURS_SPHERE, 0, 0, 0, 0};
    rule_case rest = whole;
    rest.leave_out = 1;
    gravel_direct *d = direct_new(context, (direct_want){.order = 4, .precision = GRAVEL_DS, .capacity = CAPACITY});
    direct_write(d, &b, 0, ALL);
    gravel_sinks in = sinks_of(&b, 0, ALL, radius);
    in.id = NULL;
    results full = run(d, &whole, &in, NULL), regular = run(d, &rest, &in, NULL);
    const gv_ref_particles all = view_of(&b, 0, ALL);
    assert_int_equal(full.overflow, 0);
    for (size_t i = 0; i < ALL; i++) {
        assert_int_equal(full.count[i], regular.count[i]);
        assert_true(full.count[i] >= 1);
        double bound[4];
        error_bounds(GRAVEL_DS, &all, i, &all, 0, bound);
        for (size_t k = 0; k < full.count[i]; k++) {
            const size_t j = regular.list[i * CAPACITY + k];
            const gv_ref_particles sink = view_of(&b, i, 1), source = view_of(&b, j, 1);
            results pair = reference_run(4, &sink, &source, 0, NULL, 0);
            for (int c = 0; c < components_of(4); c++)
                regular.v[c][i] += pair.v[c][0];
            results_free(&pair);
        }
        for (int c = 0; c < components_of(4); c++)
            assert_true(fabs(regular.v[c][i] - full.v[c][i]) <= 2 * bound[quantity_of(c)]); /* both carry errors */
    }
    results_free(&full);
    results_free(&regular);
    gravel_direct_release(d);
    bodies_free(&b);
}

/* Views of bodies: spheres from the plane of radii; what needs points is refused, and so is a rule without lists. */
static void views_and_refusals(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = grid(13);
    gravel_bodies *made;
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    double radius[N], times[SINKS] = {0};
    static const gravel_plane plane[] = {GRAVEL_POSITION, GRAVEL_VELOCITY, GRAVEL_MASS, GRAVEL_RADIUS};
    for (size_t i = 0; i < N; i++)
        radius[i] = (double)(i % 3);
    const gravel_array from[] = {GRAVEL_ARRAY_SOA(b.d[0][0], b.d[0][1], b.d[0][2]),
                                 GRAVEL_ARRAY_SOA(b.d[1][0], b.d[1][1], b.d[1][2]), GRAVEL_ARRAY(b.m),
                                 GRAVEL_ARRAY(radius)};
    assert_ok(gravel_bodies_create(&made, context, &options));
    assert_ok(gravel_bodies_update(made, NULL, 0, N, 4, plane, from));
    gravel_direct *d = direct_new(context, (direct_want){.order = 4, .precision = GRAVEL_DS, .capacity = CAPACITY});
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    gravel_ticket *ticket;
    call.sources = gravel_view_all(made);
    call.sinks = gravel_view_range(made, 0, SINKS);
    call.rule = GRAVEL_NEIGHBOURS_SPHERE;
    call.leave_out = 1;
    results got = results_new(SINKS, CAPACITY);
    const gravel_forces f = forces_into(d, &got);
    assert_ok(gravel_direct_start(d, &call, &ticket));
    assert_ok(gravel_ticket_collect(ticket, &f, &got.overflow));
    gravel_ticket_release(ticket);
    const rule_case c = {GRAVEL_DS, 4, 0, NULL, GRAVEL_NEIGHBOURS_SPHERE, 0, 1, 1, 0};
    const gv_ref_particles i = view_of(&b, 0, SINKS), j = view_of(&b, 0, N);
    results want = reference(&c, &i, &j, radius, NULL);
    for (size_t s = 0; s < SINKS; s++) {
        assert_int_equal(got.count[s], want.count[s]);
        assert_int_equal(got.list[s * CAPACITY], radius[s] > 0 ? want.list[s * CAPACITY] : 0x77777777u);
    }
    assert_forces(&got, &want, 4, GRAVEL_DS, &i, &j, 0, "views");

    call.ahead = times;
    assert_error(gravel_direct_start(d, &call, &ticket), GRAVEL_ERR_ARGUMENT, "points");
    call.ahead = NULL;
    call.rule = GRAVEL_NEIGHBOURS_SPHERE_MASS;
    assert_error(gravel_direct_start(d, &call, &ticket), GRAVEL_ERR_ARGUMENT, "points");
    const gravel_sinks points = sinks_of(&b, 0, SINKS, radius);
    call.sinks = (gravel_view){NULL, GRAVEL_VIEW_ALL, 0, 0, NULL};
    call.points = &points;
    call.order = 2;
    call.ahead = times;
    assert_error(gravel_direct_start(d, &call, &ticket), GRAVEL_ERR_ARGUMENT, "order is 2");
    call.order = 4;
    times[3] = NAN;
    assert_error(gravel_direct_start(d, &call, &ticket), GRAVEL_ERR_INPUT, "sink 3: the time ahead");
    call.neighbour_capacity = 0;
    assert_error(gravel_direct_start(d, &call, &ticket), GRAVEL_ERR_ARGUMENT, "neighbour_capacity");
    call.neighbour_capacity = -1;
    call.rule = (gravel_neighbour_rule)7;
    assert_error(gravel_direct_start(d, &call, &ticket), GRAVEL_ERR_ARGUMENT, "rule of neighbours 7");
    results_free(&got);
    results_free(&want);
    gravel_direct_release(d);
    gravel_bodies_release(made);
    bodies_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules),
        cmocka_unit_test(no_radius),
        cmocka_unit_test(left_out_and_listed_is_all),
        cmocka_unit_test(views_and_refusals),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
