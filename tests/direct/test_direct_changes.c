/* gravel_direct_start on bodies that changed, by whatever way, and calls that begin with changes: the same bits. */
#include "views_test.h"

/* Written at once, scattered, updated, and taken from a list: forces are equal bit by bit. */
static void same_bits(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(N, 36), noise = bodies_new(N, 37);
    double *eps = lengths(N);
    uint32_t address[N];
    for (uint32_t k = 0; k < N; k++)
        address[k] = k;
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++) {
        if (!has_precision(context, (gravel_precision)p))
            continue;
        const gravel_frame frame = {{0, 0, 0}, 1, b.m[0]};
        const gravel_array x = GRAVEL_ARRAY_SOA(b.d[0][0], b.d[0][1], b.d[0][2]), m = GRAVEL_ARRAY(b.m);
        const gravel_plane plane[2] = {GRAVEL_POSITION, GRAVEL_MASS};
        gravel_bodies *there = stored(context, &noise, eps, (gravel_precision)p);
        gravel_bodies *other = stored(context, &noise, eps, (gravel_precision)p);
        gravel_list *list = listed(context, address, N);
        gravel_direct *d = direct_new(context, (direct_want){.order = 2, .precision = (gravel_precision)p});
        gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
        assert_ok(gravel_bodies_set_frame(there, &frame));
        assert_ok(gravel_bodies_set_frame(other, &frame));
        call.sources = call.sinks = gravel_view_all(there);
        call.eps = EPS;
        assert_ok(gravel_bodies_write(there, GRAVEL_POSITION, 0, N, &x));
        assert_ok(gravel_bodies_write(there, GRAVEL_MASS, 0, N, &m));
        results first = collected(d, &call, N, 0);
        assert_ok(gravel_bodies_scatter(other, GRAVEL_MASS, address, N, &m));
        assert_ok(gravel_bodies_scatter(other, GRAVEL_POSITION, address, N, &x));
        call.sources = gravel_view_all(other);
        results second = collected(d, &call, N, 0);
        assert_same_bits(&first, &second, 2);
        results_free(&second);
        assert_ok(gravel_bodies_fill(other, GRAVEL_MASS, 0));
        assert_ok(gravel_bodies_update(other, address, 0, N, 2, plane, (const gravel_array[]){x, m}));
        call.sources = gravel_view_list(other, list);
        call.sinks = gravel_view_list(other, list);
        second = collected(d, &call, N, 0);
        assert_same_bits(&first, &second, 2);
        results_free(&second);
        results_free(&first);
        gravel_direct_release(d);
        gravel_list_release(list);
        gravel_bodies_release(other);
        gravel_bodies_release(there);
    }
    free(eps);
    bodies_free(&b);
    bodies_free(&noise);
}

/* Planes 0 ... n_planes - 1 of the entries of `b` that the changes name. */
static gravel_changes changes_of(const bodies *b, const uint32_t *address, size_t n, int n_planes, const double *eps,
                                 gravel_array *from)
{
    static const gravel_plane plane[] = {GRAVEL_POSITION, GRAVEL_MASS,     GRAVEL_VELOCITY, GRAVEL_ACCELERATION,
                                         GRAVEL_JERK,     GRAVEL_SNAP,     GRAVEL_CRACKLE,  GRAVEL_TIME,
                                         GRAVEL_ID,       GRAVEL_SOFTENING};
    const int derivative[10] = {0, -1, 1, 2, 3, 4, 5, -1, -1, -1};
    for (int k = 0; k < 10; k++)
        if (derivative[k] >= 0) {
            double *const *d = b->d[derivative[k]];
            from[k] = GRAVEL_ARRAY_SOA(d[0], d[1], d[2]);
        }
    from[1] = GRAVEL_ARRAY(b->m);
    from[7] = GRAVEL_ARRAY(b->t);
    from[8] = (gravel_array){b->id, NULL, NULL, 1, GRAVEL_I32};
    from[9] = GRAVEL_ARRAY(eps);
    return (gravel_changes){address, 0, n, n_planes, plane, from};
}

/* A call that begins with changes gives the bits of an update and the call, and leaves the same planes; whether the
 * changes are few or many, and whether a kernel takes the sources or reads them in place. */
static void changes_first(void **state)
{
    CONTEXT_OR_SKIP(context)
    static const struct {
        size_t n;
        int planes, predict, points;
    } cases[] = {{1, 10, 1, 0}, {3, 1, 1, 0},  {3, 3, 1, 1},  {2, 9, 1, 0},
                 {5, 2, 0, 0},  {40, 8, 1, 0}, {60, 9, 1, 1}, {120, 3, 1, 0}};
    bodies b = bodies_new(N, 52), noise = bodies_new(N, 53);
    double *eps = lengths(N);
    uint32_t address[N];
    for (uint32_t k = 0; k < N; k++)
        address[k] = (7 + 11 * k) % N;
    address[2] = address[0]; /* the later entry wins */
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++) {
        if (!has_precision(context, (gravel_precision)p))
            continue;
        gravel_bodies *there = stored(context, &b, eps, (gravel_precision)p);
        gravel_bodies *other = stored(context, &b, eps, (gravel_precision)p);
        gravel_direct *d =
            direct_new(context, (direct_want){.order = 4, .precision = (gravel_precision)p, .nearest = 1});
        for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
            gravel_array from[10];
            gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
            const gravel_changes changes = changes_of(&noise, address, cases[k].n, cases[k].planes, eps, from);
            const gravel_sinks points = sinks_of(&noise, 0, cases[k].n, NULL);
            call.eps = EPS;
            call.predict = cases[k].predict;
            call.time = 0.25;
            call.points = &points;
            call.sources = gravel_view_all(there);
            call.sinks = gravel_view_range(cases[k].points ? NULL : there, 0, N);
            const size_t sinks = cases[k].points ? cases[k].n : N;
            assert_ok(gravel_bodies_update(there, address, 0, cases[k].n, cases[k].planes, changes.plane, from));
            results first = collected(d, &call, sinks, 0);
            call.sources = gravel_view_all(other);
            call.sinks = gravel_view_range(cases[k].points ? NULL : other, 0, N);
            call.changes = &changes;
            results second = collected(d, &call, sinks, 0);
            assert_same_bits(&first, &second, 4);
            for (int v = 0; v < cases[k].planes; v++) {
                if (changes.plane[v] == GRAVEL_ID) /* the nearest neighbours' ids are compared above */
                    continue;
                double *want = plane_of(there, changes.plane[v]), *got = plane_of(other, changes.plane[v]);
                assert_memory_equal(want, got, N * sizeof *want * (size_t)gravel_plane_components(changes.plane[v]));
                free(want);
                free(got);
            }
            results_free(&second);
            results_free(&first);
        }
        gravel_direct_release(d);
        gravel_bodies_release(other);
        gravel_bodies_release(there);
    }
    free(eps);
    bodies_free(&b);
    bodies_free(&noise);
}

/* A device whose kernels take 32764 bytes of arguments: many changed bodies come as one, and sinks beside them. */
static void with_large_arguments(void **state, void (*test)(void **))
{
    CONTEXT_OR_SKIP(context)
    size_t *parameters = &context->device[0].parameters;
    const size_t there = *parameters;
    *parameters = there > 32764 ? there : 32764;
    const gv_worker worker = {.context = context};
    assert_int_equal(gv_held_size(&worker, GV_HELD_SIZES - 1), GV_MOST_HELD);
    test(state);
    *parameters = there;
}

static void many_changes_first(void **state)
{
    with_large_arguments(state, changes_first);
}

/* The first call gives bodies without ids numbers of their own; the changes that it begins with are kept meanwhile. */
static void changes_without_ids(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { FEW = 20 };
    bodies b = bodies_new(FEW, 56), noise = bodies_new(FEW, 57);
    const uint32_t address[3] = {7, 0, 19};
    const gravel_plane plane[2] = {GRAVEL_POSITION, GRAVEL_MASS};
    const gravel_array from[2] = {GRAVEL_ARRAY_SOA(b.d[0][0], b.d[0][1], b.d[0][2]), GRAVEL_ARRAY(b.m)};
    gravel_array new[10];
    const gravel_changes changes = changes_of(&noise, address, 3, 2, b.m, new);
    gravel_direct *d = direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_DS});
    results r[2];
    for (int first = 0; first < 2; first++) {
        gravel_bodies_options o = GRAVEL_BODIES_OPTIONS_INIT;
        gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
        gravel_bodies *there;
        o.precision = GRAVEL_DS;
        assert_ok(gravel_bodies_create(&there, context, &o));
        assert_ok(gravel_bodies_update(there, NULL, 0, FEW, 2, plane, from));
        call.sources = call.sinks = gravel_view_all(there);
        call.eps = EPS;
        call.predict = 1;
        if (first)
            call.changes = &changes;
        else
            assert_ok(gravel_bodies_update(there, address, 0, 3, 2, plane, new));
        r[first] = collected(d, &call, FEW, 0);
        gravel_bodies_release(there);
    }
    assert_same_bits(&r[0], &r[1], 2);
    results_free(&r[0]);
    results_free(&r[1]);
    gravel_direct_release(d);
    bodies_free(&b);
    bodies_free(&noise);
}

/* Changes stay where the call is refused, and where it needs no kernel; changes that are refused refuse the call. */
static void changes_without_forces(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(N, 54), noise = bodies_new(N, 55);
    double *eps = lengths(N);
    const uint32_t address[2] = {140, 3}, none[1] = {N};
    gravel_array from[10];
    gravel_ticket *ticket;
    gravel_bodies *there = stored(context, &b, eps, GRAVEL_DS);
    gravel_direct *d = direct_new(context, (direct_want){.order = 4, .precision = GRAVEL_DS});
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    gravel_changes changes = changes_of(&noise, address, 2, 2, eps, from);
    call.sources = call.sinks = gravel_view_all(there);
    call.changes = &changes;
    call.order = 3;
    assert_int_equal(gravel_direct_start(d, &call, &ticket), GRAVEL_ERR_ARGUMENT);
    double *m = plane_of(there, GRAVEL_MASS);
    assert_true(fabs(m[140] / noise.m[0] - 1) < 1e-6 && fabs(m[3] / noise.m[1] - 1) < 1e-6); /* masses are floats */
    free(m);
    uint32_t half[N / 2]; /* more than one argument of the kernel that only puts them takes */
    for (uint32_t k = 0; k < N / 2; k++)
        half[k] = N - 1 - k;
    changes = changes_of(&noise, half, N / 2, 9, eps, from);
    assert_int_equal(gravel_direct_start(d, &call, &ticket), GRAVEL_ERR_ARGUMENT);
    double *t = plane_of(there, GRAVEL_TIME);
    m = plane_of(there, GRAVEL_MASS);
    for (int k = 0; k < N / 2; k++)
        assert_true(fabs(m[half[k]] / noise.m[k] - 1) < 1e-6 && fabs(t[half[k]] - noise.t[k]) < 1e-12);
    free(m);
    free(t);
    changes = changes_of(&noise, address, 2, 2, eps, from);
    call.order = 4;
    call.sinks = gravel_view_range(there, 0, 0);
    changes.address = address + 1, changes.count = 1;
    assert_ok(gravel_direct_start(d, &call, &ticket));
    gravel_ticket_release(ticket);
    m = plane_of(there, GRAVEL_MASS);
    assert_true(fabs(m[3] / noise.m[0] - 1) < 1e-6);
    free(m);
    changes.address = none;
    assert_int_equal(gravel_direct_start(d, &call, &ticket), GRAVEL_ERR_ARGUMENT);
    assert_contains(gravel_error_message(), "there is no body 150");
    call.sources.bodies = NULL;
    assert_int_equal(gravel_direct_start(d, &call, &ticket), GRAVEL_ERR_ARGUMENT);
    assert_contains(gravel_error_message(), "changes are of sources that are bodies");
    gravel_direct_release(d);
    gravel_bodies_release(there);
    free(eps);
    bodies_free(&b);
    bodies_free(&noise);
}

static void many_changes_without_forces(void **state)
{
    with_large_arguments(state, changes_without_forces);
}

/* Addresses of short lists go to the kernel as arguments, those of longer ones lie on the device: same bits as a range,
 * also when the list was changed after the call was submitted. */
static void short_lists(void **state)
{
    CONTEXT_OR_SKIP(context)
    static const size_t count[] = {1, 31, 32, 33, 2};
    bodies b = bodies_new(N, 42);
    double *eps = lengths(N);
    uint32_t address[40], other[40] = {0}, back[40];
    for (uint32_t k = 0; k < 40; k++)
        address[k] = 50 + k;
    gravel_bodies *there = stored(context, &b, eps, GRAVEL_DS);
    gravel_list *list = listed(context, address, 40);
    gravel_direct *d =
        direct_new(context, (direct_want){.order = 4, .precision = GRAVEL_DS, .configuration = SMALL_SHAPE});
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    call.sources = gravel_view_all(there);
    call.eps = EPS;
    for (size_t k = 0; k < sizeof count / sizeof count[0]; k++) {
        gravel_ticket *ticket;
        call.sinks = gravel_view_range(there, 50, count[k]);
        results want = collected(d, &call, count[k], 0), got = results_new(count[k], 0);
        const gravel_forces f = forces_into(d, &got);
        assert_ok(gravel_list_write(list, address, count[k]));
        assert_ok(gravel_list_read(list, back));
        assert_memory_equal(back, address, count[k] * sizeof *back);
        call.sinks = gravel_view_list(there, list);
        assert_ok(gravel_direct_start(d, &call, &ticket));
        assert_ok(gravel_list_write(list, other, count[k]));
        assert_ok(gravel_ticket_collect(ticket, &f, NULL));
        gravel_ticket_release(ticket);
        assert_same_bits(&want, &got, 4);
        results_free(&want);
        results_free(&got);
    }
    gravel_direct_release(d);
    gravel_list_release(list);
    gravel_bodies_release(there);
    free(eps);
    bodies_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits),           cmocka_unit_test(changes_first),
        cmocka_unit_test(many_changes_first),  cmocka_unit_test(many_changes_without_forces),
        cmocka_unit_test(changes_without_ids), cmocka_unit_test(changes_without_forces),
        cmocka_unit_test(short_lists),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
