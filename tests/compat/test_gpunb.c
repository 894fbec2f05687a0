/* libgravel_gpunb as NBODY6++GPU calls it, beside the reference: the regular force, the lists, the potential; calls in
 * the wrong order, and no device. */
#include "captured.h"
#include "growth.h"

#include <pthread.h>

#include "gravel/gpunb.h"

enum { N = 500, NI = 90 };
static const int rank = 0;

/* A call of gpunb_regf_. */
typedef struct regular {
    int ni, lmax, nbmax, m_flag;
    double *h2, *dtr, (*x)[3], (*v)[3], (*acc)[3], (*jrk)[3], *pot;
    int *list;
} regular;

/* Sinks first ... of b; radii from nothing to almost everything, and one that is not a number. */
static regular regular_new(const bodies *b, size_t first, int ni, int lmax, int nbmax)
{
    const size_t n = (size_t)ni;
    regular r = {.ni = ni, .lmax = lmax, .nbmax = nbmax};
    r.h2 = calloc(15 * n, sizeof(double));
    r.list = malloc(n * (size_t)lmax * sizeof(int));
    assert_true(r.h2 && r.list);
    r.dtr = r.h2 + n;
    r.pot = r.h2 + 2 * n;
    r.x = (double(*)[3])(r.h2 + 3 * n);
    r.v = r.x + n;
    r.acc = r.x + 2 * n;
    r.jrk = r.x + 3 * n;
    for (size_t i = 0; i < n; i++) {
        static const double radius[] = {0.3, 0, 0.45, 0.2, 1.1, 0.5};
        r.h2[i] = radius[i % 6] * radius[i % 6];
        r.dtr[i] = 0.0625 * (double)(i % 3);
        for (int c = 0; c < 3; c++) {
            r.x[i][c] = b->d[0][c][first + i];
            r.v[i][c] = b->d[1][c][first + i];
            r.acc[i][c] = r.jrk[i][c] = NAN;
        }
        r.pot[i] = NAN;
        memset(r.list + i * (size_t)lmax, 0x77, (size_t)lmax * sizeof(int));
    }
    if (ni > 7)
        r.h2[7] = NAN;
    return r;
}

static void regular_free(regular *r)
{
    free(r->h2);
    free(r->list);
}

static void call(regular *r)
{
    gpunb_regf_(&r->ni, r->h2, r->dtr, r->x, r->v, r->acc, r->jrk, r->pot, &r->lmax, &r->nbmax, r->list, &r->m_flag);
}

static void send(const bodies *b, int n)
{
    double(*x)[3] = malloc((size_t)n * sizeof *x), (*v)[3] = malloc((size_t)n * sizeof *v);
    assert_true(x && v);
    for (int j = 0; j < n; j++)
        for (int c = 0; c < 3; c++) {
            x[j][c] = b->d[0][c][j];
            v[j][c] = b->d[1][c][j];
        }
    gpunb_send_(&n, b->m, x, v);
    for (int j = 0; j < n; j++)
        x[j][0] = v[j][0] = NAN; /* the caller's arrays are its own again */
    free(x);
    free(v);
}

/* Rows of the list beside the reference's: count or minus count, places ascending, nothing behind them. */
static void assert_row(const regular *r, size_t i, uint32_t count, const uint32_t *entry, const char *what)
{
    const int *row = r->list + i * (size_t)r->lmax;
    const int fits = (int)count <= r->nbmax && (int)count < r->lmax;
    if (row[0] != (fits ? (int)count : -(int)count))
        fail_msg("%s: sink %zu: %d neighbours, the reference %u", what, i, row[0], count);
    for (int k = 1; k < r->lmax; k++)
        if (row[k] != (fits && k <= (int)count ? (int)entry[k - 1] : 0x77777777))
            fail_msg("%s: sink %zu: entry %d of %u is %d", what, i, k, count, row[k]);
}

/* No pair of these bodies is within rounding of a radius, so that the lists must be the reference's. */
static void assert_regular(const regular *r, const bodies *b, size_t first, size_t nj, const char *what)
{
    const size_t n = (size_t)r->ni;
    gv_ref_particles i = view_of(b, first, n);
    const gv_ref_particles j = view_of(b, 0, nj);
    double *radius = malloc(n * sizeof *radius);
    results want = results_new(n, nj), got = results_new(n, 0);
    const gv_ref_rule rule = {r->m_flag ? GV_REF_INSIDE_MASS : GV_REF_INSIDE, r->dtr, 1};
    const gv_ref_forces out = {.ax = want.v[R_AX],
                               .ay = want.v[R_AY],
                               .az = want.v[R_AZ],
                               .pot = want.v[R_POT],
                               .jx = want.v[R_JX],
                               .jy = want.v[R_JY],
                               .jz = want.v[R_JZ],
                               .neighbour_count = want.count,
                               .neighbour_address = want.list};
    assert_non_null(radius);
    for (size_t k = 0; k < n; k++) {
        radius[k] = r->h2[k] > 0 ? sqrt(r->h2[k]) : 0;
        got.v[R_POT][k] = -r->pot[k];
        for (int c = 0; c < 3; c++) {
            got.v[R_AX + c][k] = r->acc[k][c];
            got.v[R_JX + c][k] = r->jrk[k][c];
        }
    }
    assert_int_equal(gv_ref_direct_ruled(GV_REF_LONG_DOUBLE, 4, &i, &j, 0, radius, nj, &rule, &out), 0);
    for (size_t k = 0; k < n; k++)
        assert_row(r, k, want.count[k], want.list + k * nj, what);
    assert_forces(&got, &want, 4, GRAVEL_DS, &i, &j, 0, what);
    results_free(&want);
    results_free(&got);
    free(radius);
}

/* ------------------------------------------------------------------- cases */

static void regular_forces(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    const int nbmax = N;
    bodies b = bodies_new(N, 31);
    gpunb_devinit_(&rank);
    gpunb_open_(&nbmax, &rank);
    send(&b, N);
    regular r = regular_new(&b, 40, NI, 101, 90); /* some lists are longer */
    call(&r);
    assert_regular(&r, &b, 40, N, "h2");
    assert_true(r.list[4 * r.lmax] < -90 && r.list[0] > 0);
    assert_int_equal(r.list[r.lmax], 0);
    regular_free(&r);

    r = regular_new(&b, 40, NI, 11, 90); /* the rows are shorter than nbmax */
    r.m_flag = 1;
    for (int i = 0; i < NI; i++)
        r.h2[i] *= N; /* masses are about 1/N */
    call(&r);
    assert_regular(&r, &b, 40, N, "m h2");
    regular_free(&r);
    gpunb_close_();
    bodies_free(&b);
}

/* Bodies at 0, 1, 2, 3 on a line: a neighbour lies inside the sphere, not on it; the one at 2 stands on it, or comes in
 * by its velocity. */
static void on_the_sphere(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    enum { ON = 4 };
    const int nbmax = ON;
    bodies b = bodies_empty(ON);
    for (int k = 0; k < ON; k++) {
        b.m[k] = 1;
        b.d[0][0][k] = k;
    }
    for (int turn = 0; turn < 2; turn++) {
        b.d[1][0][2] = -turn;
        gpunb_open_(&nbmax, &rank);
        send(&b, ON);
        regular r = regular_new(&b, 0, 1, ON + 1, ON);
        r.h2[0] = 4;
        r.dtr[0] = 0.5;
        call(&r);
        assert_int_equal(r.list[0], 2 + turn); /* the body itself is one */
        for (int k = 0; k < 2 + turn; k++)
            assert_int_equal(r.list[1 + k], k);
        /* 1 / 2^2 + 1 / 3^2, or 1 / 3^2: a few roundings of float */
        assert_true(fabs(r.acc[0][0] - (turn ? 1.0 / 9 : 1.0 / 4 + 1.0 / 9)) < 1e-6);
        regular_free(&r);
        gpunb_close_();
    }
    bodies_free(&b);
}

/* Bodies come and go between sends; one send serves several calls of any size, in pieces where they are large. */
static void sends_and_pieces(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    static const int bodies_sent[] = {300, 1, 2600, 64};
    const int nbmax = 300; /* more are taken */
    bodies b = bodies_new(2600, 32);
    gpunb_open_(&nbmax, &rank);
    for (size_t k = 0; k < sizeof bodies_sent / sizeof bodies_sent[0]; k++) {
        const int nj = bodies_sent[k];
        send(&b, nj);
        for (int again = 0; again < 2; again++) {
            regular r = regular_new(&b, 0, nj == 64 ? 2100 : again ? 17 : 1, 60, 59);
            call(&r);
            assert_regular(&r, &b, 0, (size_t)nj, "pieces");
            regular_free(&r);
        }
    }
    regular none = regular_new(&b, 0, 5, 60, 59);
    send(&b, 0);
    call(&none);
    for (int i = 0; i < 5; i++)
        assert_true(none.acc[i][0] == 0 && none.jrk[i][1] == 0 && none.pot[i] == 0 && none.list[i * none.lmax] == 0);
    none.ni = 0;
    call(&none);
    regular_free(&none);
    gpunb_close_();
    bodies_free(&b);
}

/* As an NBODY6 code uses it: the regular force from here plus that of the listed neighbours, summed by the host
 * without the body itself, is the force of all. */
static void regular_and_irregular(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    enum { ALL = 256, LMAX = 120 };
    const int nbmax = ALL;
    bodies b = bodies_new(ALL, 33);
    const gv_ref_particles all = view_of(&b, 0, ALL);
    results want = reference_run(4, &all, &all, 0, NULL, 0);
    gpunb_open_(&nbmax, &rank);
    send(&b, ALL);
    regular r = regular_new(&b, 0, ALL, LMAX, LMAX - 1);
    for (int i = 0; i < ALL; i++)
        r.h2[i] = 0.09;
    call(&r);
    for (size_t i = 0; i < ALL; i++) {
        double bound[4];
        const int *row = r.list + i * LMAX;
        int self = 0;
        assert_true(row[0] >= 1);
        for (int k = 1; k <= row[0]; k++) {
            const gv_ref_particles sink = view_of(&b, i, 1), source = view_of(&b, (size_t)row[k], 1);
            self |= row[k] == (int)i;
            results pair = reference_run(4, &sink, &source, 0, NULL, 0);
            for (int c = 0; c < 3; c++) {
                r.acc[i][c] += pair.v[R_AX + c][0];
                r.jrk[i][c] += pair.v[R_JX + c][0];
            }
            r.pot[i] -= pair.v[R_POT][0];
            results_free(&pair);
        }
        assert_true(self);
        error_bounds(GRAVEL_DS, &all, i, &all, 0, bound);
        for (int c = 0; c < 3; c++) {
            assert_true(fabs(r.acc[i][c] - want.v[R_AX + c][i]) <= bound[0]);
            assert_true(fabs(r.jrk[i][c] - want.v[R_JX + c][i]) <= bound[2]);
        }
        assert_true(fabs(r.pot[i] + want.v[R_POT][i]) <= bound[1]);
    }
    regular_free(&r);
    results_free(&want);
    gpunb_close_();
    bodies_free(&b);
}

/* A part of the bodies, two of them at one place; not open, and without touching the bodies of an open one. */
static void potentials(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    enum { FIRST = 101, SOME = 77 };
    const int istart = FIRST, ni = SOME, n = N, outside = N - 5;
    bodies b = bodies_new(N, 34);
    double x[N][3], pot[SOME];
    gravel_device_info *list;
    int count, fp64 = 1;
    assert_ok(gravel_device_list(&list, &count));
    for (int k = 0; k < count; k++)
        fp64 &= list[k].has_fp64;
    gravel_device_list_free(list);
    for (int c = 0; c < 3; c++)
        b.d[0][c][110] = b.d[0][c][300];
    for (int j = 0; j < N; j++)
        for (int c = 0; c < 3; c++)
            x[j][c] = b.d[0][c][j] + 1e4;
    for (int c = 0; c < 3; c++)
        for (int j = 0; j < N; j++)
            b.d[0][c][j] = x[j][c];
    gpupot_(&rank, &istart, &ni, &n, b.m, x, pot);
    const gv_ref_particles i = view_of(&b, FIRST - 1, SOME), j = view_of(&b, 0, N);
    results want = reference_run(2, &i, &j, 0, NULL, 0);
    for (size_t k = 0; k < SOME; k++) {
        double bound[4];
        error_bounds(fp64 ? GRAVEL_DP : GRAVEL_DS, &i, k, &j, 0, bound);
        if (!(fabs(pot[k] + want.v[R_POT][k]) <= bound[1]))
            fail_msg("body %zu: %.17g, the reference %.17g, at most %g", k, pot[k], -want.v[R_POT][k], bound[1]);
    }
    said s;
    said_begin(&s);
    gpupot_(&rank, &outside, &ni, &n, b.m, x, pot);
    assert_said(&s, "gravel_gpunb: error: gpupot: 77 bodies from number 495 on, of 500");
    assert_true(isnan(pot[0]) && isnan(pot[SOME - 1]));
    results_free(&want);
    bodies_free(&b);
}

/* Old callers pass eleven arguments: what stands in the place of m_flag is not touched. */
static void without_m_flag(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    enum { LMAX = 60 };
    const int nbmax = LMAX - 1;
    bodies b = bodies_new(N, 38);
    assert_int_equal(setenv("GRAVEL_COMPAT_M_FLAG", "no", 1), 0);
    gpunb_open_(&nbmax, &rank);
    assert_int_equal(unsetenv("GRAVEL_COMPAT_M_FLAG"), 0);
    send(&b, N);
    regular r = regular_new(&b, 0, NI, LMAX, nbmax);
    gpunb_regf_(&r.ni, r.h2, r.dtr, r.x, r.v, r.acc, r.jrk, r.pot, &r.lmax, &r.nbmax, r.list,
                (const int *)(uintptr_t)8);
    assert_regular(&r, &b, 0, N, "without m_flag");
    gpunb_close_();
    gpunb_open_(&nbmax, &rank); /* settings are read again */
    send(&b, N);
    r.m_flag = 1;
    for (int i = 0; i < NI; i++) {
        r.h2[i] *= N;
        memset(r.list + (size_t)i * LMAX, 0x77, LMAX * sizeof(int));
    }
    call(&r);
    assert_regular(&r, &b, 0, N, "with m_flag again");
    gpunb_close_();
    regular_free(&r);
    bodies_free(&b);
}

static void one_round(void *user, int number)
{
    const bodies *b = user;
    const int nbmax = 40, nj = 20 + number % 20;
    regular r = regular_new(b, 0, 1 + number % 5, 12, 11);
    if (number % 8 == 0)
        gpunb_open_(&nbmax, &rank);
    if (number % 2 == 0)
        send(b, nj);
    call(&r);
    if (number % 8 == 7)
        gpunb_close_();
    regular_free(&r);
}

static void memory_does_not_grow(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    bodies b = bodies_new(40, 37);
    /* the journal of writes has grown to its bound, 4096 entries; tables that double up to a bound take 40 kB more */
    assert_no_growth(500, 3000, 24, one_round, &b);
    gpunb_close_();
    bodies_free(&b);
}

static void *one_thread(void *user)
{
    call(user);
    return NULL;
}

/* Calls from two threads wait for each other. */
static void threads(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    const int nbmax = N;
    bodies b = bodies_new(N, 35);
    pthread_t thread[2];
    regular r[2];
    gpunb_open_(&nbmax, &rank);
    send(&b, N);
    for (size_t k = 0; k < 2; k++)
        r[k] = regular_new(&b, 100 * k, 50, 200, 150);
    for (size_t k = 0; k < 2; k++)
        assert_int_equal(pthread_create(&thread[k], NULL, one_thread, &r[k]), 0);
    for (size_t k = 0; k < 2; k++)
        assert_int_equal(pthread_join(thread[k], NULL), 0);
    for (size_t k = 0; k < 2; k++) {
        assert_regular(&r[k], &b, 100 * k, N, "threads");
        regular_free(&r[k]);
    }
    gpunb_close_();
    bodies_free(&b);
}

/* Each is a line, and forces that are none are NaN with empty lists; nothing ends. */
static void bad_use(void **state)
{
    (void)state;
    const int nbmax = 10;
    bodies b = bodies_new(10, 36);
    regular r = regular_new(&b, 0, 10, 8, 7);
    said s;

    said_begin(&s);
    send(&b, 10);
    assert_said(&s, "gravel_gpunb: error: gpunb_send: gpunb_open was not called, or failed");
    said_begin(&s);
    call(&r);
    assert_said(&s, "gpunb_regf: gpunb_open was not called, or failed");
    assert_true(isnan(r.acc[9][2]) && isnan(r.jrk[0][0]) && isnan(r.pot[3]) && r.list[8] == 0);
    said_begin(&s);
    gpunb_close_();
    assert_said(&s, "warning: gpunb_close: it is closed already");
    assert_int_equal(setenv("GRAVEL_COMPAT_DEVICES", "no such device", 1), 0);
    said_begin(&s);
    gpunb_open_(&nbmax, &rank);
    said_end(&s);
    assert_contains(s.text, "gpunb_open: ");
    assert_int_equal(s.lines, 1);
    assert_int_equal(setenv("GPU_LIST", "0 x", 1), 0);
    said_begin(&s);
    gpunb_open_(&nbmax, &rank);
    said_end(&s);
    assert_contains(s.text, "GPU_LIST: '0 x' is not a list");
    assert_int_equal(unsetenv("GRAVEL_COMPAT_DEVICES"), 0);
    if (no_device()) {
        regular_free(&r);
        bodies_free(&b);
        skip();
    }
    assert_int_equal(setenv("GPU_LIST", " 99", 1), 0);
    said_begin(&s);
    gpunb_profile_(&rank); /* nothing was called: no line */
    gpunb_open_(&nbmax, &rank);
    assert_said(&s, "GPU_LIST: there is no device 99"); /* gravel's own choice */
    said_begin(&s);
    gpunb_open_(&nbmax, &rank);
    assert_said(&s, "gpunb_open: it is open already");
    r.dtr[2] = NAN;
    send(&b, 10);
    said_begin(&s);
    call(&r);
    assert_said(&s, "gpunb_regf: sink 2: the time ahead is nan");
    assert_true(isnan(r.acc[0][0]) && r.list[0] == 0);
    r.dtr[2] = 0;
    call(&r);
    assert_regular(&r, &b, 0, 10, "after errors");
    b.m[4] = INFINITY;
    said_begin(&s);
    send(&b, 10);
    said_end(&s);
    assert_contains(s.text, "gpunb_send: ");
    gpunb_close_();
    regular_free(&r);
    bodies_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_use), /* the first: there is no device yet */
        cmocka_unit_test(on_the_sphere),    cmocka_unit_test(regular_forces),
        cmocka_unit_test(sends_and_pieces), cmocka_unit_test(regular_and_irregular),
        cmocka_unit_test(without_m_flag),   cmocka_unit_test(potentials),
        cmocka_unit_test(threads),          cmocka_unit_test(memory_does_not_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
