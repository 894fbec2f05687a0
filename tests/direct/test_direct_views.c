/* gravel_direct_start: every kind of view, precision, order and softening against the reference; where results go;
 * calls in flight. */
#include "views_test.h"

/* bodies address[0 ... n-1] of b */
static bodies picked(const bodies *b, const uint32_t *address, size_t n)
{
    bodies some = bodies_empty(n);
    for (size_t k = 0; k < n; k++) {
        some.m[k] = b->m[address[k]];
        some.t[k] = b->t[address[k]];
        some.id[k] = b->id[address[k]];
        for (int c = 0; c < 18; c++)
            some.d[c / 3][c % 3][k] = b->d[c / 3][c % 3][address[k]];
    }
    return some;
}

/* The precision whose rounding a call has: the coarser of where bodies are stored and where pairs are computed. */
static gravel_precision coarser(gravel_precision a, gravel_precision b)
{
    return a < b ? a : b;
}

/* ------------------------------------------------------------ views x precisions */

enum { ALL, RANGE, LIST, KINDS };
static const char *const kind_name[KINDS] = {"all", "range", "list"};

typedef struct selection {
    gravel_view view;
    size_t count;
    uint32_t address[N];
} selection;

/* A list is in no order, and ends with the last body. */
static selection selected(gravel_bodies *b, gravel_list *list, int kind, size_t first, size_t count, size_t step)
{
    selection s = {.count = kind == ALL ? N : count};
    for (size_t k = 0; k < s.count; k++)
        s.address[k] = (uint32_t)(kind == ALL ? k : kind == RANGE ? first + k : (N - 1 + k * step) % N);
    s.view = kind == ALL     ? gravel_view_all(b)
             : kind == RANGE ? gravel_view_range(b, first, count)
                             : gravel_view_list(b, list);
    return s;
}

/* Neighbours by address in the bodies, ids as stored. */
static void check_nearest(const results *got, const results *want, const selection *sources, const bodies *b)
{
    for (size_t k = 0; k < got->n; k++) {
        assert_int_equal(got->nearest[k], sources->address[want->nearest[k]]);
        assert_int_equal(got->nearest_id[k], b->id[got->nearest[k]]);
    }
}

/* One combination of views against the reference; sinks are of the same bodies, themselves left out by ids. */
static void compare(gravel_direct *d, const selection *sources, const selection *sinks, const bodies *b,
                    gravel_precision p, const char *what)
{
    const bodies from = picked(b, sources->address, sources->count), to = picked(b, sinks->address, sinks->count);
    const gv_ref_particles i = view_of(&to, 0, to.n), j = view_of(&from, 0, from.n);
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    call.sources = sources->view;
    call.sinks = sinks->view;
    call.eps = EPS;
    results got = collected(d, &call, sinks->count, 0);
    results want = reference_run(d->options.order, &i, &j, EPS, NULL, 0);
    assert_forces(&got, &want, d->options.order, p, &i, &j, EPS, what);
    check_nearest(&got, &want, sources, b);
    results_free(&got);
    results_free(&want);
    bodies_free((bodies *)&from);
    bodies_free((bodies *)&to);
}

static void views(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(N, 31);
    double *eps = lengths(N);
    for (int solver = GRAVEL_SP; solver <= GRAVEL_DP; solver++)
        for (int order = 2; order <= 6; order += 2)
            for (int kept = GRAVEL_SP; kept <= GRAVEL_DP; kept++) {
                const gravel_precision p = (gravel_precision)solver, q = (gravel_precision)kept;
                if (!has_precision(context, p) || !has_precision(context, q) || (p != q && order == 2))
                    continue;
                gravel_bodies *there = stored(context, &b, eps, q);
                gravel_list *list[2] = {listed(context, (uint32_t[]){0}, 1), listed(context, (uint32_t[]){0}, 1)};
                gravel_direct *d = direct_new(
                    context, (direct_want){.order = order, .precision = p, .nearest = 1, .configuration = SMALL_SHAPE});
                for (int k = 0; k < KINDS * KINDS; k++) {
                    char what[80];
                    const selection sources = selected(there, list[0], k / KINDS, 11, 101, 7);
                    const selection sinks = selected(there, list[1], k % KINDS, 60, SINKS, 11);
                    snprintf(what, sizeof what, "%s%d on %s bodies, sources %s, sinks %s", gravel_precision_name(p),
                             order, gravel_precision_name(q), kind_name[k / KINDS], kind_name[k % KINDS]);
                    assert_ok(gravel_list_write(list[0], sources.address, sources.count));
                    assert_ok(gravel_list_write(list[1], sinks.address, sinks.count));
                    compare(d, &sources, &sinks, &b, coarser(p, q), what);
                }
                gravel_direct_release(d);
                gravel_list_release(list[0]);
                gravel_list_release(list[1]);
                gravel_bodies_release(there);
            }
    free(eps);
    bodies_free(&b);
}

/* Sinks in another frame, and points, give what sinks of the same bodies give, up to the rounding of positions. */
static void other_bodies_and_points(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(N, 32);
    double *eps = lengths(N);
    const gv_ref_particles j = view_of(&b, 0, N), i = view_of(&b, 40, SINKS);
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++) {
        if (!has_precision(context, (gravel_precision)p))
            continue;
        const gravel_frame frame = {{0.25, -3, 1}, 8, 0.5};
        const gravel_vec pos = vec_of(&b, 0, 40), vel = vec_of(&b, 1, 40);
        const gravel_array x = {pos.x, pos.y, pos.z, 1, GRAVEL_F64}, v = {vel.x, vel.y, vel.z, 1, GRAVEL_F64};
        const gravel_array id = {b.id + 40, NULL, NULL, 1, GRAVEL_I32};
        gravel_bodies *there = stored(context, &b, eps, (gravel_precision)p), *other;
        gravel_bodies_options o = GRAVEL_BODIES_OPTIONS_INIT;
        o.precision = (gravel_precision)p;
        assert_ok(gravel_bodies_create(&other, context, &o));
        assert_ok(gravel_bodies_set_frame(other, &frame));
        assert_ok(gravel_bodies_write(other, GRAVEL_POSITION, 0, SINKS, &x));
        assert_ok(gravel_bodies_write(other, GRAVEL_VELOCITY, 0, SINKS, &v));
        assert_ok(gravel_bodies_write(other, GRAVEL_ID, 0, SINKS, &id));
        gravel_direct *d = direct_new(context, (direct_want){.order = 4, .precision = (gravel_precision)p});
        gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
        const gravel_sinks points = sinks_of(&b, 40, SINKS, NULL);
        call.sources = gravel_view_all(there);
        call.sinks = gravel_view_all(other);
        call.eps = EPS;
        results want = reference_run(4, &i, &j, EPS, NULL, 0), got = collected(d, &call, SINKS, 0);
        /* the reference's bound is for coordinates of 1; a frame of 8 rounds them to units of 8 at most */
        const gv_ref_particles *const sides[2] = {&i, &j};
        for (size_t k = 0; k < SINKS; k++) {
            double bound[4];
            error_bounds((gravel_precision)p, sides[0], k, sides[1], EPS, bound);
            for (int c = 0; c < components_of(4); c++)
                if (!(fabs(got.v[c][k] - want.v[c][k]) <= 8 * bound[quantity_of(c)]))
                    fail_msg("%s, other frame: sink %zu, component %d: %.17g, the reference %.17g",
                             gravel_precision_name((gravel_precision)p), k, c, got.v[c][k], want.v[c][k]);
        }
        results_free(&got);
        call.sinks = (gravel_view){NULL, GRAVEL_VIEW_ALL, 0, 0, NULL};
        call.points = &points;
        got = collected(d, &call, SINKS, 0);
        assert_forces(&got, &want, 4, (gravel_precision)p, &i, &j, EPS, "points");
        results_free(&got);
        results_free(&want);
        gravel_direct_release(d);
        gravel_bodies_release(other);
        gravel_bodies_release(there);
    }
    free(eps);
    bodies_free(&b);
}

/* ------------------------------------------------------------------- softening */

/* Bounds grow with the pair's own softening; the smallest there is bounds all. */
static void softening_by_body(void **state)
{
    CONTEXT_OR_SKIP(context)
    static const struct {
        int order;
        const char *configuration;
    } shape[3] = {{2, NULL}, {4, GPU_SHAPE}, {6, SMALL_SHAPE}}; /* by precision */
    bodies b = bodies_new(N, 33);
    double *eps = lengths(N);
    const gv_ref_particles j = view_of(&b, 0, N), i = view_of(&b, 20, SINKS);
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++) {
        if (!has_precision(context, (gravel_precision)p))
            continue;
        gravel_bodies *there = stored(context, &b, eps, (gravel_precision)p);
        gravel_direct *d = direct_new(context, (direct_want){.order = shape[p].order,
                                                             .precision = (gravel_precision)p,
                                                             .nearest = p == GRAVEL_DS,
                                                             .configuration = shape[p].configuration});
        for (int soften = GRAVEL_SOFTEN_SINKS; soften <= GRAVEL_SOFTEN_MAX; soften++) {
            gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
            char what[64];
            call.sources = gravel_view_all(there);
            call.sinks = gravel_view_range(there, 20, SINKS);
            call.soften = (gravel_soften)soften;
            call.eps = 0.02;
            results got = collected(d, &call, SINKS, 0), want = results_new(SINKS, 0);
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
            assert_int_equal(gv_ref_direct_softened(GV_REF_LONG_DOUBLE, shape[p].order, &i, &j, (gv_ref_soften)soften,
                                                    eps + 20, eps, &out),
                             0);
            snprintf(what, sizeof what, "%s%d, softening %d", gravel_precision_name((gravel_precision)p),
                     shape[p].order, soften);
            assert_forces(&got, &want, shape[p].order, (gravel_precision)p, &i, &j, 0.02, what);
            results_free(&got);
            results_free(&want);
        }
        gravel_direct_release(d);
        gravel_bodies_release(there);
    }
    free(eps);
    bodies_free(&b);
}

/* ------------------------------------------------------------ tickets in flight */

/* Six calls in flight over bodies that change in between, collected from the last to the first: each has the results,
 * ids included, of the time it was started at. */
static void tickets_in_any_order(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { CALLS = 6, CHANGED = 10, CAPACITY = 8 };
    bodies b[CALLS];
    double *eps = lengths(N), radius[SINKS];
    uint32_t address[CHANGED];
    gravel_ticket *ticket[CALLS];
    for (size_t k = 0; k < SINKS; k++)
        radius[k] = 0.3;
    b[0] = bodies_new(N, 34);
    gravel_bodies *there = stored(context, &b[0], eps, GRAVEL_DS);
    const gravel_array radii = GRAVEL_ARRAY(radius);
    assert_ok(gravel_bodies_write(there, GRAVEL_RADIUS, 5, SINKS, &radii));
    gravel_direct *d =
        direct_new(context, (direct_want){.order = 4, .precision = GRAVEL_DS, .nearest = 1, .capacity = CAPACITY});
    for (int k = 0; k < CALLS; k++) {
        gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
        if (k > 0) {
            b[k] = bodies_new(N, 34);
            for (int c = 0; c < 18; c++)
                memcpy(b[k].d[c / 3][c % 3], b[k - 1].d[c / 3][c % 3], N * sizeof(double));
            memcpy(b[k].id, b[k - 1].id, N * sizeof *b[k].id);
            for (uint32_t i = 0; i < CHANGED; i++) {
                address[i] = (uint32_t)(i * 13 + (uint32_t)k);
                b[k].d[0][0][address[i]] += 0.25;
                b[k].id[address[i]] += 1000;
            }
            bodies some = picked(&b[k], address, CHANGED);
            const gravel_plane plane[2] = {GRAVEL_POSITION, GRAVEL_ID};
            const gravel_array from[2] = {GRAVEL_ARRAY_SOA(some.d[0][0], some.d[0][1], some.d[0][2]),
                                          {some.id, NULL, NULL, 1, GRAVEL_I32}};
            assert_ok(gravel_bodies_update(there, address, 0, CHANGED, 2, plane, from));
            bodies_free(&some);
        }
        call.sources = gravel_view_all(there);
        call.sinks = gravel_view_range(there, 5, SINKS);
        call.eps = EPS;
        assert_ok(gravel_direct_start(d, &call, &ticket[k]));
    }
    for (int k = CALLS - 1; k >= 0; k--) {
        const gv_ref_particles i = view_of(&b[k], 5, SINKS), j = view_of(&b[k], 0, N);
        results got = results_new(SINKS, CAPACITY), want = reference_run(4, &i, &j, EPS, radius, CAPACITY);
        const gravel_forces f = forces_into(d, &got);
        int ready = 0;
        assert_ok(gravel_ticket_wait(ticket[k]));
        assert_ok(gravel_ticket_get_ready(ticket[k], &ready));
        assert_true(ready);
        assert_ok(gravel_ticket_collect(ticket[k], &f, &got.overflow));
        assert_int_equal(gravel_ticket_collect(ticket[k], &f, NULL), GRAVEL_ERR_STATE);
        gravel_ticket_release(ticket[k]);
        assert_forces(&got, &want, 4, GRAVEL_DS, &i, &j, EPS, "in flight");
        assert_nearest(&got, &want, GRAVEL_DS, &i, &j, "in flight");
        assert_lists(&got, GRAVEL_DS, &i, &j, radius, "in flight");
        results_free(&got);
        results_free(&want);
        bodies_free(&b[k]);
    }
    gravel_direct_release(d);
    gravel_bodies_release(there);
    free(eps);
}

/* -------------------------------------------------------------- into planes */

/* Results in planes are those of the host, rounded to one stored word; of other bodies nothing changes; adding twice
 * doubles. */
static void into_planes(void **state)
{
    CONTEXT_OR_SKIP(context)
    static const gravel_plane vector[3] = {GRAVEL_ACCELERATION, GRAVEL_JERK, GRAVEL_SNAP};
    bodies b = bodies_new(N, 35);
    double *eps = lengths(N);
    uint32_t address[SINKS];
    for (uint32_t k = 0; k < SINKS; k++)
        address[k] = (N - 1 + k * 11) % N;
    gravel_list *list = listed(context, address, SINKS);
    for (int q = GRAVEL_SP; q <= GRAVEL_DP; q++)
        for (int add = 0; add < 2; add++) {
            if (!has_precision(context, (gravel_precision)q))
                continue;
            gravel_bodies *there = stored(context, &b, eps, (gravel_precision)q);
            gravel_direct *d = direct_new(context, (direct_want){.order = 6, .precision = GRAVEL_DS});
            gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
            call.sources = gravel_view_all(there);
            call.sinks = gravel_view_list(there, list);
            call.eps = EPS;
            results host = collected(d, &call, SINKS, 0);
            double *before[4], *after[4];
            for (int v = 0; v < 4; v++)
                before[v] = plane_of(there, v < 3 ? vector[v] : GRAVEL_POTENTIAL);
            call.into = GRAVEL_INTO_PLANES | (add ? GRAVEL_INTO_ADD : 0);
            assert_ok(gravel_direct_start(d, &call, NULL));
            for (int v = 0; v < 4; v++)
                after[v] = plane_of(there, v < 3 ? vector[v] : GRAVEL_POTENTIAL);
            for (uint32_t k = 0; k < SINKS; k++)
                for (int c = 0; c < 10; c++) {
                    const int v = c < 3 ? 0 : c == 3 ? 3 : c < 7 ? 1 : 2, axis = c < 3 ? c : c == 3 ? 0 : (c - 4) % 3;
                    double *const was = &before[v][axis * N + address[k]], *const is = &after[v][axis * N + address[k]];
                    /* the factor, its product with the high word, the sum with the low word and with what was there:
                     * four roundings of half a unit */
                    const double sum = host.v[c][k] + (add ? *was : 0);
                    const double room = ldexp(fabs(host.v[c][k]) + (add ? fabs(*was) : 0), q == GRAVEL_DP ? -50 : -22);
                    if (!(fabs(*is - sum) <= room))
                        fail_msg("%s: body %u, component %d: %.17g, not %.17g",
                                 gravel_precision_name((gravel_precision)q), address[k], c, *is, sum);
                    *was = *is; /* the rest must be as it was */
                }
            for (int v = 0; v < 4; v++) {
                assert_memory_equal(before[v], after[v], (v < 3 ? 3 : 1) * N * sizeof(double));
                free(before[v]);
                free(after[v]);
            }
            results_free(&host);
            gravel_direct_release(d);
            gravel_bodies_release(there);
        }
    gravel_list_release(list);
    free(eps);
    bodies_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views),
        cmocka_unit_test(other_bodies_and_points),
        cmocka_unit_test(softening_by_body),
        cmocka_unit_test(tickets_in_any_order),
        cmocka_unit_test(into_planes),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
