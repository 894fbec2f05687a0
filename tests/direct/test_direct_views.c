/* gravel_direct_start: every kind of view, precision, order and softening against the reference; where results go;
 * calls in flight. */
#include "gravel/direct.h"
#include "problem.h"

enum { N = 150, SINKS = 37 };
/* one force kernel for all numbers of sinks, soon compiled */
#define SMALL_SHAPE "threads=1 split=1 sinks_per_item=1 tile=0 unroll=1 lanes=4 rsqrt=0 blocks_per_cu=2"
#define EPS 0.1

/* ------------------------------------------------------------------- set-up */

/* All planes that a call may read, in units of their own: an origin off the middle, a length that is not 1. */
static gravel_bodies *stored(gravel_context *context, const bodies *b, const double *eps, gravel_precision p)
{
    static const gravel_plane plane[] = {GRAVEL_POSITION,     GRAVEL_MASS,     GRAVEL_ID,   GRAVEL_VELOCITY,
                                         GRAVEL_ACCELERATION, GRAVEL_JERK,     GRAVEL_SNAP, GRAVEL_CRACKLE,
                                         GRAVEL_TIME,         GRAVEL_SOFTENING};
    gravel_bodies_options o = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_array from[10];
    gravel_bodies *made;
    const int derivative[10] = {0, -1, -1, 1, 2, 3, 4, 5, -1, -1};
    for (int k = 0; k < 10; k++)
        if (derivative[k] >= 0) {
            double *const *d = b->d[derivative[k]];
            from[k] = GRAVEL_ARRAY_SOA(d[0], d[1], d[2]);
        }
    from[1] = GRAVEL_ARRAY(b->m);
    from[2] = (gravel_array){b->id, NULL, NULL, 1, GRAVEL_I32};
    from[8] = GRAVEL_ARRAY(b->t);
    from[9] = GRAVEL_ARRAY(eps);
    o.precision = p;
    assert_ok(gravel_bodies_create(&made, context, &o));
    assert_ok(gravel_bodies_update(made, NULL, 0, b->n, 10, plane, from));
    return made;
}

static double *lengths(size_t n)
{
    double *eps = malloc(n * sizeof *eps);
    assert_non_null(eps);
    for (size_t k = 0; k < n; k++)
        eps[k] = 0.02 + 0.01 * (double)(k % 17);
    return eps;
}

static gravel_list *listed(gravel_context *context, const uint32_t *address, size_t n)
{
    gravel_list *list;
    assert_ok(gravel_list_create(&list, context, 0));
    assert_ok(gravel_list_write(list, address, n));
    return list;
}

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

static results collected(gravel_direct *d, const gravel_direct_call *call, size_t sinks, size_t capacity)
{
    results r = results_new(sinks, capacity);
    const gravel_forces f = forces_into(d, &r);
    gravel_ticket *ticket;
    assert_ok(gravel_direct_start(d, call, &ticket));
    assert_ok(gravel_ticket_collect(ticket, &f, &r.overflow));
    gravel_ticket_release(ticket);
    return r;
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

static double *plane_of(gravel_bodies *b, gravel_plane plane)
{
    double *x = malloc(3 * N * sizeof *x);
    const gravel_array_out to = {x, x + N, x + 2 * N, 1, GRAVEL_F64};
    assert_non_null(x);
    assert_ok(gravel_bodies_read(b, plane, 0, N, &to));
    return x;
}

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

/* ------------------------------------------------------ the same bits either way */

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
    } cases[] = {{1, 10, 1, 0}, {3, 1, 1, 0}, {3, 3, 1, 1}, {2, 9, 1, 0}, {5, 2, 0, 0}, {40, 8, 1, 0}};
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

/* ------------------------------------------------------- nothing, and nonsense */

static void nobody(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(N, 38);
    double *eps = lengths(N);
    gravel_bodies *there = stored(context, &b, eps, GRAVEL_SP);
    gravel_list *none = listed(context, NULL, 0);
    gravel_direct *d = direct_new(context, (direct_want){.order = 4, .precision = GRAVEL_SP, .nearest = 1});
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    call.sources = gravel_view_all(there);
    call.sinks = gravel_view_list(there, none);
    results got = collected(d, &call, 0, 0); /* no active body */
    results_free(&got);
    call.into = GRAVEL_INTO_PLANES;
    call.nearest = 0;
    gravel_ticket *ticket;
    assert_ok(gravel_direct_start(d, &call, &ticket));
    assert_ok(gravel_ticket_wait(ticket));
    gravel_ticket_release(ticket);
    call.into = 0;
    call.nearest = 1;
    call.sources = gravel_view_range(there, N, 0);
    call.sinks = gravel_view_range(there, 0, 5);
    got = collected(d, &call, 5, 0); /* no source */
    for (size_t i = 0; i < 5; i++) {
        for (int c = 0; c < components_of(4); c++)
            assert_true(got.v[c][i] == 0);
        assert_int_equal(got.nearest[i], GRAVEL_NONE);
        assert_int_equal(got.nearest_id[i], -1);
        assert_true(isinf(got.distance[i]));
    }
    results_free(&got);
    call.into = GRAVEL_INTO_PLANES;
    call.nearest = 0;
    assert_ok(gravel_direct_start(d, &call, NULL));
    double *acc = plane_of(there, GRAVEL_ACCELERATION);
    for (int k = 0; k < 5; k++)
        assert_true(acc[k] == 0 && acc[N + k] == 0 && acc[k + 5] != 0);
    free(acc);
    gravel_direct_release(d);
    gravel_list_release(none);
    gravel_bodies_release(there);
    free(eps);
    bodies_free(&b);
}

static void refused(gravel_direct *d, const gravel_direct_call *call, const char *part)
{
    gravel_ticket *ticket = (gravel_ticket *)1;
    assert_int_equal(gravel_direct_start(d, call, &ticket), GRAVEL_ERR_ARGUMENT);
    assert_null(ticket);
    assert_contains(gravel_error_message(), part);
}

/* Each refusal has its reason; afterwards the object works as before. */
static void nonsense(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(N, 39);
    double *eps = lengths(N);
    gravel_bodies *there = stored(context, &b, eps, GRAVEL_SP), *bare;
    gravel_list *far = listed(context, (uint32_t[]){3, N}, 2);
    gravel_direct *d = direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_SP});
    const gravel_sinks points = sinks_of(&b, 0, 5, NULL);
    gravel_direct_call good = GRAVEL_DIRECT_CALL_INIT, call;
    assert_ok(gravel_bodies_create(&bare, context, NULL));
    good.sources = gravel_view_all(there);
    good.sinks = gravel_view_range(there, 0, SINKS);
    good.eps = EPS;
    results first = collected(d, &good, SINKS, 0);
    call = good;
    call.order = 3;
    refused(d, &call, "order is 3");
    call = good;
    call.soften = (gravel_soften)9;
    refused(d, &call, "kind 9");
    call = good;
    call.into = GRAVEL_INTO_ADD;
    refused(d, &call, "GRAVEL_INTO_PLANES");
    call = good;
    call.into = GRAVEL_INTO_PLANES;
    call.nearest = 1;
    refused(d, &call, "neighbours go to the host");
    call = good;
    call.sinks = gravel_view_list(there, far);
    refused(d, &call, "names body 150");
    call = good;
    call.sinks = gravel_view_range(there, N - 1, 2);
    refused(d, &call, "sinks");
    call = good;
    call.sinks.bodies = NULL;
    refused(d, &call, "there are no sinks");
    call.points = &points;
    call.into = GRAVEL_INTO_PLANES;
    refused(d, &call, "points have no planes");
    call = good;
    call.sources = gravel_view_all(bare);
    call.soften = GRAVEL_SOFTEN_SOURCES;
    refused(d, &call, "the sources have no softening lengths");
    call = good;
    call.sinks.bodies = NULL;
    call.points = &points;
    call.soften = GRAVEL_SOFTEN_SUM;
    refused(d, &call, "the sinks have no softening lengths");
    call = good;
    call.predict = 1;
    call.time = NAN;
    assert_int_equal(gravel_direct_start(d, &call, NULL), GRAVEL_ERR_INPUT);
    assert_int_equal(gravel_direct_start(d, &good, NULL), GRAVEL_ERR_ARGUMENT); /* results for the host, no ticket */
    assert_contains(gravel_error_message(), "ticket");
    results again = collected(d, &good, SINKS, 0);
    assert_same_bits(&first, &again, 2);
    results_free(&first);
    results_free(&again);
    gravel_direct_release(d);
    gravel_list_release(far);
    gravel_bodies_release(bare);
    gravel_bodies_release(there);
    free(eps);
    bodies_free(&b);
}

/* What a call did not compute is refused with the option that gives it, and nothing is written; the results are still
 * there for a collect of less. */
static void not_computed(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(N, 40);
    gravel_direct *d = direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_SP});
    const gravel_sinks points = sinks_of(&b, 0, SINKS, NULL);
    results r = results_new(SINKS, 1);
    const struct {
        gravel_forces f;
        const char *part;
    } wrong[] = {
        {{.pot = r.v[R_POT], .jerk = GRAVEL_VEC_OUT_SOA(r.v[R_JX], r.v[R_JY], r.v[R_JZ])}, "it takes 4 or 6"},
        {{.pot = r.v[R_POT], .snap = GRAVEL_VEC_OUT_SOA(NULL, r.v[R_SY], NULL)}, "it takes 6"},
        {{.pot = r.v[R_POT], .nearest_id = r.nearest_id}, "nearest = 1"},
        {{.pot = r.v[R_POT], .neighbour_count = r.count}, "neighbour_capacity > 0"},
    };
    direct_write(d, &b, 0, N);
    assert_ok(gravel_direct_submit(d, &points, EPS));
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        assert_int_equal(gravel_direct_collect(d, &wrong[k].f, NULL), GRAVEL_ERR_ARGUMENT);
        assert_contains(gravel_error_message(), wrong[k].part);
        assert_true(isnan(r.v[R_POT][0]));
    }
    const gravel_forces less = {.pot = r.v[R_POT]};
    assert_ok(gravel_direct_collect(d, &less, NULL));
    assert_true(r.v[R_POT][0] < 0 && r.v[R_POT][SINKS - 1] < 0);
    results_free(&r);
    gravel_direct_release(d);
    bodies_free(&b);
}

/* After gravel_direct_prepare calls up to the sizes named allocate and compile nothing. */
static void prepared(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(N, 41);
    double *eps = lengths(N);
    gravel_bodies *there = stored(context, &b, eps, GRAVEL_DS);
    gravel_direct *d = direct_new(context, (direct_want){.order = 4, .precision = GRAVEL_DS, .nearest = 1});
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    call.sources = gravel_view_all(there);
    call.sinks = gravel_view_range(there, 0, N);
    call.eps = EPS;
    call.predict = 1;
    assert_ok(gravel_direct_prepare(d, &call, N, N));
    const int kernels = d->n_kernels;
    const cl_mem partial = d->partial.mem, sinks = d->sinks.mem, quads = d->taken.quads.mem;
    const gravel_ticket *tickets = d->tickets;
    for (size_t n = N; n > 0; n = n * 2 / 3) {
        call.sinks = gravel_view_range(there, 0, n);
        results r = collected(d, &call, n, 0);
        results_free(&r);
    }
    assert_int_equal(d->n_kernels, kernels);
    assert_true(d->partial.mem == partial && d->sinks.mem == sinks && d->taken.quads.mem == quads);
    assert_true(d->tickets == tickets);
    gravel_direct_release(d);
    gravel_bodies_release(there);
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
        cmocka_unit_test(same_bits),
        cmocka_unit_test(changes_first),
        cmocka_unit_test(changes_without_ids),
        cmocka_unit_test(changes_without_forces),
        cmocka_unit_test(short_lists),
        cmocka_unit_test(nobody),
        cmocka_unit_test(nonsense),
        cmocka_unit_test(not_computed),
        cmocka_unit_test(prepared),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
