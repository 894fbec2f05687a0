/* Work requests: lists from several threads, against the scalar reference. */
#include "faults.h"
#include "problem.h"

#include <pthread.h>
#include <stdatomic.h>

#include "gravel/requests.h"
#include "host/tasks/tasks.h"

enum { N = 500, CELLS = 40, REQUESTS = 48, RUNS = 6, LISTED = 12, THREADS = 4 };
#define GROUPS "threads=32 split=2 sinks_per_item=2 tile=32 unroll=1 lanes=1 rsqrt=0"

/* A request with its lists. */
typedef struct asked {
    gravel_leaf sinks, run[RUNS];
    uint32_t cell[LISTED];
    size_t runs, cells;
    double acc[3][N], pot[N];
    atomic_int done;
} asked;

typedef struct fixture {
    gravel_context *context;
    bodies b;
    gravel_cell cell[CELLS];
    double q[CELLS][6]; /* traceless */
    asked asked[REQUESTS];
} fixture;

#define NEED(f)                                                                                                        \
    fixture *f = *state;                                                                                               \
    if (!f) {                                                                                                          \
        skip();                                                                                                        \
        return;                                                                                                        \
    }

static uint32_t below(uint64_t *seed, uint32_t n)
{
    const double u = (random_unit(seed) + 1) / 2 * n;
    return u < n ? (uint32_t)u : 0;
}

/* Places are whole multiples of 2^-12: differences are exact in float.  Cells are far off the bodies. */
static void make(fixture *f)
{
    uint64_t seed = 11;
    f->b = bodies_new(N, 5);
    for (size_t k = 0; k < N; k++)
        for (int c = 0; c < 3; c++)
            f->b.d[0][c][k] = ldexp(rint(ldexp(f->b.d[0][c][k], 12)), -12);
    for (size_t k = 0; k < CELLS; k++) {
        gravel_cell *c = &f->cell[k];
        c->mass = 0.1 + 0.05 * random_unit(&seed);
        for (int a = 0; a < 3; a++)
            c->centre[a] = ldexp(rint(ldexp(random_unit(&seed) + (a == 0 ? 4 : 0), 12)), -12);
        for (int a = 0; a < 6; a++)
            c->quadrupole[a] = 0.02 * random_unit(&seed);
        const double *h = c->quadrupole, trace = 2 * (h[0] + h[3] + h[5]);
        const double q[6] = {6 * h[0] - trace, 6 * h[1], 6 * h[2], 6 * h[3] - trace, 6 * h[4], 6 * h[5] - trace};
        memcpy(f->q[k], q, sizeof q);
    }
    for (size_t k = 0; k < REQUESTS; k++) {
        asked *a = &f->asked[k];
        a->sinks.first = below(&seed, N);
        a->sinks.count = k % 7 == 3 ? 0 : 1 + below(&seed, 40);
        if (a->sinks.first + a->sinks.count > N)
            a->sinks.count = N - a->sinks.first;
        a->runs = k % 5 == 4 ? 0 : below(&seed, RUNS) + 1;
        a->cells = k % 6 == 5 ? 0 : below(&seed, LISTED) + 1;
        for (size_t r = 0; r < a->runs; r++) {
            a->run[r].first = below(&seed, N);
            a->run[r].count = below(&seed, N - a->run[r].first);
        }
        if (a->runs > 0)
            a->run[0] = a->sinks; /* on itself */
        for (size_t c = 0; c < a->cells; c++)
            a->cell[c] = below(&seed, CELLS);
    }
}

static int set_up(void **state)
{
    if (no_device())
        return 0;
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    assert_ok(gravel_context_create(&f->context, NULL));
    make(f);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    if (f) {
        gravel_context_release(f->context);
        bodies_free(&f->b);
        free(f);
    }
    return 0;
}

static gravel_requests_sources sources_for(fixture *f)
{
    gravel_requests_sources s = GRAVEL_REQUESTS_SOURCES_INIT;
    s.count = N;
    s.mass = f->b.m;
    s.pos = vec_of(&f->b, 0, 0);
    s.cells = CELLS;
    s.cell = f->cell;
    s.eps = 0.02;
    return s;
}

static gravel_requests *requests_new(fixture *f, gravel_requests_options options)
{
    gravel_requests *r;
    const gravel_requests_sources s = sources_for(f);
    assert_ok(gravel_requests_create(&r, f->context, &options));
    assert_ok(gravel_requests_set_sources(r, &s));
    return r;
}

static void is_done(gravel_status status, void *user)
{
    asked *a = user;
    if (status == GRAVEL_OK)
        atomic_fetch_add(&a->done, 1);
}

static gravel_request request_of(asked *a)
{
    gravel_request q = GRAVEL_REQUEST_INIT;
    q.sinks = a->sinks;
    q.run = a->run;
    q.runs = a->runs;
    q.cell = a->cell;
    q.cells = a->cells;
    q.acc = (gravel_vec_out)GRAVEL_VEC_OUT_SOA(a->acc[0], a->acc[1], a->acc[2]);
    q.pot = a->pot;
    q.done = is_done;
    q.user = a;
    return q;
}

static void forget(fixture *f)
{
    for (size_t k = 0; k < REQUESTS; k++) {
        memset(f->asked[k].acc, 0x77, sizeof f->asked[k].acc);
        memset(f->asked[k].pot, 0x77, sizeof f->asked[k].pot);
        atomic_store(&f->asked[k].done, 0);
    }
}

/* Relative to the sum of what all pairs contribute: a dozen roundings of float in a pair, more in a quadrupole; the
 * host computes in double. */
static void assert_right(fixture *f, double most)
{
    for (size_t k = 0; k < REQUESTS; k++) {
        const asked *a = &f->asked[k];
        assert_int_equal(atomic_load(&a->done), 1);
        for (size_t s = 0; s < a->sinks.count; s++) {
            const gv_ref_particles sink = view_of(&f->b, a->sinks.first + s, 1);
            double want[4] = {0, 0, 0, 0}, acc_scale = 0, pot_scale = 0, one[6];
            const gv_ref_forces out = {&one[0], &one[1], &one[2], &one[3], .acc_scale = &one[4], .pot_scale = &one[5]};
            for (size_t r = 0; r < a->runs + a->cells; r++) {
                if (r < a->runs) {
                    const gv_ref_particles from = view_of(&f->b, a->run[r].first, a->run[r].count);
                    assert_int_equal(gv_ref_direct(GV_REF_LONG_DOUBLE, 2, &sink, &from, 0.02, NULL, 0, &out), 0);
                } else {
                    const uint32_t c = a->cell[r - a->runs];
                    const gravel_cell *cell = &f->cell[c];
                    const int32_t none = -1;
                    const gv_ref_particles from = {.n = 1,
                                                   .m = &cell->mass,
                                                   .id = &none,
                                                   .x = &cell->centre[0],
                                                   .y = &cell->centre[1],
                                                   .z = &cell->centre[2]};
                    assert_int_equal(gv_ref_quadrupoles(&sink, &from, (const double(*)[6]) & f->q[c], 0.02, &out), 0);
                }
                for (int c = 0; c < 4; c++)
                    want[c] += one[c];
                acc_scale += one[4];
                pot_scale += one[5];
            }
            for (int c = 0; c < 4; c++) {
                const double got = c < 3 ? a->acc[c][s] : a->pot[s], scale = c < 3 ? acc_scale : pot_scale;
                if (!(fabs(got - want[c]) <= most * scale))
                    fail_msg("request %zu, sink %zu, component %d: %.17g, not %.17g: off by %.3g of %.3g", k, s, c, got,
                             want[c], fabs(got - want[c]), scale);
            }
        }
    }
}

/* ------------------------------------------------------------------- tests */

static void by_each(void **state)
{
    NEED(f)
    static const struct {
        gravel_requests_by by;
        gravel_precision precision;
        const char *configuration;
        double most;
    } run[] = {{GRAVEL_REQUESTS_HOST, GRAVEL_SP, NULL, 1e-14},
               {GRAVEL_REQUESTS_DEVICE, GRAVEL_SP, GROUPS, 3e-6},
               {GRAVEL_REQUESTS_DEVICE, GRAVEL_DS, NULL, 3e-6},
               {GRAVEL_REQUESTS_AUTO, GRAVEL_SP, NULL, 3e-6}}; /* compiling is what takes the time */
    for (size_t k = 0; k < sizeof run / sizeof run[0]; k++) {
        gravel_requests_options options = GRAVEL_REQUESTS_OPTIONS_INIT;
        gravel_requests_counts counts;
        options.by = run[k].by;
        options.precision = run[k].precision;
        options.configuration = run[k].configuration;
        options.batch = 200; /* several batches */
        gravel_requests *r = requests_new(f, options);
        forget(f);
        for (size_t n = 0; n < REQUESTS; n++) {
            const gravel_request q = request_of(&f->asked[n]);
            assert_ok(gravel_requests_submit(r, &q));
        }
        assert_ok(gravel_requests_wait(r));
        assert_right(f, run[k].most);
        assert_ok(gravel_requests_get_counts(r, &counts));
        assert_int_equal(counts.requests, REQUESTS);
        assert_true(counts.batches > 2);
        if (run[k].by != GRAVEL_REQUESTS_AUTO)
            assert_int_equal(counts.by_host, run[k].by == GRAVEL_REQUESTS_HOST ? counts.batches : 0);
        gravel_requests_release(r);
    }
}

typedef struct submitter {
    fixture *f;
    gravel_requests *r;
    size_t first;
    int failed;
} submitter;

static void *submit_some(void *user)
{
    submitter *s = user;
    for (size_t n = s->first; n < REQUESTS; n += THREADS) {
        const gravel_request q = request_of(&s->f->asked[n]);
        s->failed += gravel_requests_submit(s->r, &q) != GRAVEL_OK;
        if (n % 8 == 0)
            s->failed += gravel_requests_flush(s->r) != GRAVEL_OK;
    }
    return NULL;
}

/* Few small batches, so that threads wait for room, and a single request larger than a batch. */
static void threads(void **state)
{
    NEED(f)
    for (int by = GRAVEL_REQUESTS_DEVICE; by <= GRAVEL_REQUESTS_HOST; by++) {
        gravel_requests_options options = GRAVEL_REQUESTS_OPTIONS_INIT;
        options.by = (gravel_requests_by)by;
        options.batch = 16;
        options.in_flight = 2;
        gravel_requests *r = requests_new(f, options);
        forget(f);
        pthread_t thread[THREADS];
        submitter s[THREADS];
        for (size_t k = 0; k < THREADS; k++) {
            s[k] = (submitter){f, r, k, 0};
            assert_int_equal(pthread_create(&thread[k], NULL, submit_some, &s[k]), 0);
        }
        for (size_t k = 0; k < THREADS; k++) {
            pthread_join(thread[k], NULL);
            assert_int_equal(s[k].failed, 0);
        }
        assert_ok(gravel_requests_wait(r));
        assert_right(f, by == GRAVEL_REQUESTS_HOST ? 1e-14 : 3e-6);
        gravel_requests_release(r);
    }
}

/* What is left at the end is done before the object goes. */
static void left_over(void **state)
{
    NEED(f)
    gravel_requests_options options = GRAVEL_REQUESTS_OPTIONS_INIT;
    options.by = GRAVEL_REQUESTS_HOST;
    gravel_requests *r = requests_new(f, options);
    gravel_requests_counts counts;
    forget(f);
    assert_ok(gravel_requests_wait(r)); /* nothing yet */
    const gravel_request q = request_of(&f->asked[1]);
    gravel_request idle = request_of(&f->asked[0]);
    idle.runs = idle.cells = 0;
    assert_ok(gravel_requests_submit(r, &q));
    assert_ok(gravel_requests_submit(r, &idle));
    assert_ok(gravel_requests_get_counts(r, &counts));
    assert_int_equal(counts.requests, 0);
    gravel_requests_release(r);
    assert_int_equal(atomic_load(&f->asked[1].done), 1);
    for (size_t s = 0; s < f->asked[0].sinks.count; s++)
        assert_true(f->asked[0].acc[0][s] == 0 && f->asked[0].pot[s] == 0);
}

#define assert_refused(call, code, part)                                                                               \
    do {                                                                                                               \
        assert_int_equal(call, code);                                                                                  \
        assert_contains(gravel_error_message(), part);                                                                 \
    } while (0)

static void refused(void **state)
{
    NEED(f)
    gravel_requests_options options = GRAVEL_REQUESTS_OPTIONS_INIT;
    gravel_requests_sources s = sources_for(f);
    gravel_requests *r;
    asked *a = &f->asked[0];
    options.in_flight = 1;
    assert_refused(gravel_requests_create(&r, f->context, &options), GRAVEL_ERR_ARGUMENT, "1 batches");
    options.in_flight = 0;
    options.by = GRAVEL_REQUESTS_HOST;
    assert_ok(gravel_requests_create(&r, f->context, &options));
    gravel_request q = request_of(a);
    assert_refused(gravel_requests_submit(r, &q), GRAVEL_ERR_STATE, "no sources");
    s.eps = -1;
    assert_refused(gravel_requests_set_sources(r, &s), GRAVEL_ERR_ARGUMENT, "length -1");
    s = sources_for(f);
    f->cell[3].quadrupole[2] = NAN;
    assert_refused(gravel_requests_set_sources(r, &s), GRAVEL_ERR_INPUT, "cell 3: number 6 is nan");
    f->cell[3].quadrupole[2] = 0;
    assert_ok(gravel_requests_set_sources(r, &s));
    f->b.d[0][1][7] = INFINITY;
    assert_refused(gravel_requests_set_sources(r, &s), GRAVEL_ERR_INPUT, "body 7: position (y) is not finite");
    f->b.d[0][1][7] = 0;
    q.done = NULL;
    assert_ok(gravel_requests_submit(r, &q)); /* to the sources of before */
    assert_ok(gravel_requests_wait(r));
    q.sinks = (gravel_leaf){N - 1, 2};
    assert_refused(gravel_requests_submit(r, &q), GRAVEL_ERR_INPUT, "the sinks go up to body 500; there are 500");
    const gravel_leaf beyond[2] = {{0, 1}, {UINT32_MAX, UINT32_MAX}};
    q = request_of(a);
    q.run = beyond;
    q.runs = 2;
    assert_refused(gravel_requests_submit(r, &q), GRAVEL_ERR_INPUT, "run 1 of the list");
    const uint32_t cell = CELLS;
    q = request_of(a);
    q.cell = &cell;
    q.cells = 1;
    assert_refused(gravel_requests_submit(r, &q), GRAVEL_ERR_INPUT, "is cell 40; there are 40");
    q.cell = NULL;
    assert_refused(gravel_requests_submit(r, &q), GRAVEL_ERR_ARGUMENT, "no arrays");
    gravel_requests_release(r);
}

/* A batch for which there was no memory holds nothing: the next request gets room of its own. */
static void no_memory(void **state)
{
    NEED(f)
    enum { LONG = 1 << 20 }; /* cells: more than a batch has room for */
    gravel_requests_options options = GRAVEL_REQUESTS_OPTIONS_INIT;
    options.by = GRAVEL_REQUESTS_DEVICE;
    gravel_requests *r = requests_new(f, options);
    uint32_t *list = calloc(LONG, sizeof *list);
    assert_non_null(list);
    forget(f);
    for (int attempt = 0; attempt < 2; attempt++) { /* of a new batch, of one that has some room */
        gravel_request q = request_of(&f->asked[0]);
        q.cell = list;
        q.cells = LONG;
        q.done = NULL;
        countdown = 1;
        assert_int_equal(gravel_requests_submit(r, &q), GRAVEL_ERR_DEVICE_MEMORY);
        assert_int_equal(countdown, 0);
        for (size_t n = 0; n < REQUESTS && attempt == 1; n++) {
            const gravel_request next = request_of(&f->asked[n]);
            assert_ok(gravel_requests_submit(r, &next));
        }
        gravel_request one = request_of(&f->asked[0]);
        one.done = NULL;
        assert_ok(gravel_requests_submit(r, &one));
        assert_ok(gravel_requests_wait(r));
    }
    assert_right(f, 3e-6);
    free(list);
    gravel_requests_release(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_each),   cmocka_unit_test(threads), cmocka_unit_test(left_over),
        cmocka_unit_test(no_memory), cmocka_unit_test(refused), /* which changes a cell */
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
