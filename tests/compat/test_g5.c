/* libgravel_g5 as its callers use it, against the reference: every memory of sources, softening, threads, Fortran,
 * settings, bad use. */
#include "captured.h"
#include "g5_test.h"

#include <pthread.h>

/* -------------------------------------------------------------- one device id */

static void one_shot_and_parts(void **state)
{
    (void)state;
    bodies b = anonymous(N, 11);
    rows r = rows_of(&b);
    const int pipes = g5_get_number_of_pipelines();
    assert_int_equal(pipes, 48);
    send(&r);
    /* any number of sinks; the term of the body itself is in the potential, as the reference has it without ids */
    assert_int_equal(g5_calculate_force_on_x(r.x, r.a, r.p, N), 0);
    assert_plummer(&r, N, &b, N, EPS, "one shot");
    assert_true(r.p[0] > r.m[0] / EPS);
    /* by pipes, fewer results than sinks, twice; the number of sources changes every time */
    for (int nj = N; nj >= 0; nj -= 67) {
        assert_int_equal(g5_set_n(nj), 0);
        assert_int_equal(g5_set_xi(pipes, r.x), 0);
        assert_int_equal(g5_run(), 0);
        r.a[20][0] = 777;
        assert_int_equal(g5_get_force(20, r.a, r.p), 0);
        assert_plummer(&r, 20, &b, (size_t)nj, EPS, "parts");
        assert_true(r.a[20][0] == 777);
        assert_int_equal(g5_get_force(pipes, r.a, r.p), 0);
        assert_plummer(&r, pipes, &b, (size_t)nj, EPS, "again");
    }
    /* what is set between run and get_force counts for the next run only */
    assert_int_equal(g5_set_n(N), 0);
    assert_int_equal(g5_set_xi(20, r.x), 0);
    assert_int_equal(g5_run(), 0);
    assert_int_equal(g5_set_n(0), 0);
    assert_int_equal(g5_get_force(20, r.a, r.p), 0);
    assert_plummer(&r, 20, &b, N, EPS, "no sources afterwards");
    assert_int_equal(g5_run(), 0);
    assert_int_equal(g5_set_n(N), 0);
    assert_int_equal(g5_get_force(20, r.a, r.p), 0);
    assert_plummer(&r, 20, &b, 0, EPS, "sources afterwards");
    /* positions and masses of some, at their rows */
    for (int k = 30; k < 40; k++) {
        r.m[k] = b.m[k] *= 3;
        r.x[k][1] = b.d[0][1][k] += 0.25;
    }
    assert_int_equal(g5_set_mj(30, 10, r.m), 0);
    assert_int_equal(g5_set_xj(30, 10, r.x), 0);
    assert_int_equal(g5_set_n(N), 0);
    assert_int_equal(g5_calculate_force_on_x(r.x, r.a, r.p, SINKS), 0);
    assert_plummer(&r, SINKS, &b, N, EPS, "rows 30 to 39");
    rows_free(&r);
    bodies_free(&b);
}

static void softening_of_sinks(void **state)
{
    (void)state;
    bodies b = anonymous(N, 12);
    rows r = rows_of(&b);
    double eps[SINKS], want_eps[N];
    send(&r);
    const gv_ref_particles sinks = view_of(&b, 0, SINKS), sources = view_of(&b, 0, N);
    results want = results_new(SINKS, 0);
    const gv_ref_forces out = {.ax = want.v[R_AX], .ay = want.v[R_AY], .az = want.v[R_AZ], .pot = want.v[R_POT]};
    for (int k = 0; k < N; k++)
        want_eps[k] = sqrt(r.eps2[k]);
    for (int k = 0; k < SINKS; k++)
        eps[k] = want_eps[k];
    assert_int_equal(
        gv_ref_direct_softened(GV_REF_LONG_DOUBLE, 2, &sinks, &sources, GV_REF_SOFTEN_SINKS, want_eps, NULL, &out), 0);
    assert_int_equal(g5_calculate_force_on_xe(r.x, r.eps2, r.a, r.p, SINKS), 0);
    assert_sinks(&r, SINKS, &want, &sinks, &sources, 0.02, 1, 1, "squares, one shot");
    assert_int_equal(g5_set_xei(48, r.x, r.eps2), 0);
    assert_int_equal(g5_run(), 0);
    assert_int_equal(g5_get_force(48, r.a, r.p), 0);
    assert_sinks(&r, 48, &want, &sinks, &sources, 0.02, 1, 1, "squares");
    assert_int_equal(g5_set_xi(48, r.x), 0);
    assert_int_equal(g5_set_eps(48, eps), 0);
    assert_int_equal(g5_run(), 0);
    assert_int_equal(g5_get_force(48, r.a, r.p), 0);
    assert_sinks(&r, 48, &want, &sinks, &sources, 0.02, 1, 1, "lengths");
    assert_int_equal(g5_set_xi(48, r.x), 0); /* that of all again */
    assert_int_equal(g5_run(), 0);
    assert_int_equal(g5_get_force(48, r.a, r.p), 0);
    assert_plummer(&r, 48, &b, N, EPS, "of all again");
    results_free(&want);
    rows_free(&r);
    bodies_free(&b);
}

static void symmetric(void **state)
{
    (void)state;
    bodies b = anonymous(N, 13);
    rows r = rows_of(&b);
    double eps[N];
    const gv_ref_particles sinks = view_of(&b, 0, SINKS), sources = view_of(&b, 0, N);
    results want = results_new(SINKS, 0);
    const gv_ref_forces out = {.ax = want.v[R_AX], .ay = want.v[R_AY], .az = want.v[R_AZ], .pot = want.v[R_POT]};
    for (int k = 0; k < N; k++)
        eps[k] = sqrt(r.eps2[k]);
    assert_int_equal(gv_ref_direct_softened(GV_REF_LONG_DOUBLE, 2, &sinks, &sources, GV_REF_SOFTEN_SUM, eps, eps, &out),
                     0);
    assert_int_equal(g5_set_xmj0(0, N, r.x, r.m, r.eps2), 0);
    assert_int_equal(g5_set_n(N), 0);
    assert_int_equal(g5_calculate_force_on_x0(r.x, r.a, r.p, SINKS, r.eps2), 0);
    assert_sinks(&r, SINKS, &want, &sinks, &sources, 0.02, 1, 1, "one shot");
    assert_int_equal(g5_set_xiMC0(0, 48, r.x, r.eps2), 0);
    assert_int_equal(g5_runMC0(0), 0);
    assert_int_equal(g5_get_forceMC(0, 48, r.a, r.p), 0);
    assert_sinks(&r, 48, &want, &sinks, &sources, 0.02, 1, 1, "by pipes");
    /* names without 0, where there are no other sources */
    assert_int_equal(g5_calculate_force_on_xe(r.x, r.eps2, r.a, r.p, SINKS), 0);
    assert_sinks(&r, SINKS, &want, &sinks, &sources, 0.02, 1, 1, "without 0");
    /* and where there are */
    send(&r);
    assert_int_equal(g5_calculate_force_on_x(r.x, r.a, r.p, SINKS), 0);
    assert_plummer(&r, SINKS, &b, N, EPS, "beside plain ones");
    assert_int_equal(g5_calculate_force_on_x0(r.x, r.a, r.p, SINKS, r.eps2), 0);
    assert_sinks(&r, SINKS, &want, &sinks, &sources, 0.02, 1, 1, "one shot");
    results_free(&want);
    rows_free(&r);
    bodies_free(&b);
}

/* eps never set is 0; bodies at one place then do not pull, and nothing is NaN. */
static void without_softening(void **state)
{
    (void)state;
    bodies b = anonymous(N, 14);
    for (int c = 0; c < 3; c++)
        b.d[0][c][9] = b.d[0][c][4];
    rows r = rows_of(&b);
    assert_int_equal(g5_set_eps_to_all(0), 0);
    assert_int_equal(g5_set_xmj(0, N, r.x, r.m), 0);
    assert_int_equal(g5_calculate_force_on_x(r.x, r.a, r.p, SINKS), 0);
    assert_plummer(&r, SINKS, &b, N, 0, "no softening");
    rows_free(&r);
    bodies_free(&b);
}

static void signs_and_self(void **state)
{
    (void)state;
    static const char *const sign[3] = {"interface", "negative", "positive"};
    bodies b = anonymous(N, 15);
    rows r = rows_of(&b);
    for (int k = 0; k < 6; k++) {
        setenv("GRAVEL_COMPAT_POTENTIAL", sign[k % 3], 1);
        setenv("GRAVEL_COMPAT_SELF", k < 3 ? "yes" : "no", 1);
        g5_close();
        send(&r);
        assert_int_equal(g5_calculate_force_on_x(r.x, r.a, r.p, SINKS), 0);
        for (int i = 0; i < SINKS; i++) {
            r.p[i] *= k % 3 == 1 ? -1 : 1;
            r.p[i] += k < 3 ? 0 : r.m[i] / EPS;
        }
        assert_plummer(&r, SINKS, &b, N, EPS, sign[k % 3]);
    }
    unsetenv("GRAVEL_COMPAT_POTENTIAL");
    unsetenv("GRAVEL_COMPAT_SELF");
    rows_free(&r);
    bodies_free(&b);
}

/* ------------------------------------------------------------------ threads */

enum { THREADS = 4, ROUNDS = 8 };

typedef struct thread {
    int id, failed;
    bodies b;
    rows r;
    rows result[ROUNDS];
} thread;

/* As a tree code does it: a list of sources, another number of sinks every time. */
static void *walks(void *arg)
{
    thread *t = arg;
    for (int k = 0; k < ROUNDS; k++) {
        const int nj = 50 + 17 * k, ni = 5 + 6 * k;
        t->failed |= g5_set_xmjMC(t->id, 0, nj, t->r.x, t->r.m);
        t->failed |= g5_set_nMC(t->id, nj);
        t->failed |= g5_calculate_force_on_xMC(t->id, t->r.x, t->result[k].a, t->result[k].p, ni);
    }
    return NULL;
}

static void device_ids_in_threads(void **state)
{
    (void)state;
    static thread t[THREADS];
    pthread_t running[THREADS];
    g5_open();
    g5_set_range(-10, 10, 1e-3);
    assert_int_equal(g5_set_eps_to_all(EPS), 0);
    for (int k = 0; k < THREADS; k++) {
        t[k] = (thread){.id = 3 * k, .b = anonymous(N, 20 + (uint64_t)k)};
        t[k].r = rows_of(&t[k].b);
        for (int j = 0; j < ROUNDS; j++)
            t[k].result[j] = rows_of(&t[k].b);
    }
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&running[k], NULL, walks, &t[k]), 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(running[k], NULL);
    for (int k = 0; k < THREADS; k++) {
        assert_int_equal(t[k].failed, 0);
        for (int j = 0; j < ROUNDS; j++) {
            assert_plummer(&t[k].result[j], 5 + 6 * j, &t[k].b, (size_t)(50 + 17 * j), EPS, "a thread");
            rows_free(&t[k].result[j]);
        }
        rows_free(&t[k].r);
        bodies_free(&t[k].b);
    }
}

/* ------------------------------------------------------------------- Fortran */

static void fortran(void **state)
{
    (void)state;
    bodies b = anonymous(N, 19);
    rows r = rows_of(&b), f = rows_of(&b);
    int adr = 0, n = N, ni = SINKS, id = 7, part = 48;
    double eps = EPS;
    assert_int_equal(g5_open_(), 0);
    send(&r);
    assert_int_equal(g5_calculate_force_on_x(r.x, r.a, r.p, SINKS), 0);
    assert_int_equal(g5_set_eps_to_all_(&eps), 0);
    assert_int_equal(g5_set_xmj_(&adr, &n, f.x, f.m), 0);
    assert_int_equal(g5_set_n_(&n), 0);
    assert_int_equal(g5_calculate_force_on_x_(f.x, f.a, f.p, &ni), 0);
    assert_memory_equal(f.a, r.a, SINKS * sizeof *r.a);
    assert_memory_equal(f.p, r.p, SINKS * sizeof *r.p);
    /* as gfortran writes the names */
    assert_int_equal(g5_set_xmjmc_(&id, &adr, &n, f.x, f.m), 0);
    assert_int_equal(g5_set_nmc_(&id, &n), 0);
    assert_int_equal(g5_set_ximc_(&id, &part, f.x), 0);
    assert_int_equal(g5_runmc_(&id), 0);
    assert_int_equal(g5_get_forcemc_(&id, &part, f.a, f.p), 0);
    assert_plummer(&f, 48, &b, N, EPS, "Fortran");
    assert_int_equal(g5_get_number_of_pipelines_(), 48);
    rows_free(&r);
    rows_free(&f);
    bodies_free(&b);
}

/* ------------------------------------------------------------------- bad use */

static void is_spoiled(rows *r, int ni)
{
    for (int i = 0; i < ni; i++) {
        assert_true(isnan(r->a[i][0]) && isnan(r->a[i][1]) && isnan(r->a[i][2]) && isnan(r->p[i]));
        r->p[i] = r->a[i][0] = 0;
    }
}

static void bad_use(void **state)
{
    (void)state;
    bodies b = anonymous(N, 21);
    rows r = rows_of(&b);
    gv_compat_set_level(GV_COMPAT_NONE); /* its lines are the business of test_g6_settings */
    assert_int_equal(g5_get_force(3, r.a, r.p), -1);
    is_spoiled(&r, 3);
    assert_int_equal(g5_run(), -1);
    gv_compat_set_level(GV_COMPAT_NONE);
    assert_int_equal(g5_get_jmemsize(), 1000);
    assert_int_equal(g5_set_xmj(900, 101, r.x, r.m), -1);
    assert_int_equal(g5_set_xmj(-1, 1, r.x, r.m), -1);
    assert_int_equal(g5_set_n(1001), -1);
    assert_int_equal(g5_set_nMC(5000, 3), -1);
    assert_int_equal(g5_set_eps_to_all(NAN), -1);
    assert_int_equal(g5_set_cutoff_table(falling, -1, 1, NULL, 1, 1), -1);
    send(&r);
    assert_int_equal(g5_set_xi(49, r.x), -1);
    assert_int_equal(g5_run(), -1);
    assert_int_equal(g5_get_force(49, r.a, r.p), -1);
    is_spoiled(&r, 49);
    assert_int_equal(g5_set_xi(10, r.x), 0);
    assert_int_equal(g5_get_force(10, r.a, r.p), -1); /* not run */
    is_spoiled(&r, 10);
    assert_int_equal(g5_set_eps(9, r.m), -1);
    r.x[150][1] = NAN;
    assert_int_equal(g5_set_xj(0, N, r.x), 0);
    assert_int_equal(g5_calculate_force_on_x(r.x, r.a, r.p, 5), -1);
    is_spoiled(&r, 5);
    r.x[150][1] = b.d[0][1][150];
    assert_int_equal(g5_set_xj(0, N, r.x), 0);
    assert_int_equal(g5_calculate_force_on_x(r.x, r.a, r.p, 5), 0); /* as if nothing had been */
    assert_plummer(&r, 5, &b, N, EPS, "after a failure");
    assert_int_equal(g5_calculate_force_on_x(r.x, r.a, r.p, 0), 0);
    assert_int_equal(g5_close(), 0);
    assert_int_equal(g5_close(), 0);
    rows_free(&r);
    bodies_free(&b);
}

/* -1 and a line each, NaN as forces; a device that is there answers afterwards. */
static void no_device_at_all(void **state)
{
    (void)state;
    bodies b = anonymous(N, 22);
    rows r = rows_of(&b);
    said s;
    setenv("GRAVEL_COMPAT_DEVICES", "no such device", 1);
    for (int mc = 0; mc < 2; mc++) {
        said_begin(&s);
        const int set = mc ? g5_set_xmjMC(3, 0, N, r.x, r.m) : g5_set_xmj(0, N, r.x, r.m);
        const int asked =
            mc ? g5_calculate_force_on_xMC(3, r.x, r.a, r.p, 5) : g5_calculate_force_on_x(r.x, r.a, r.p, 5);
        said_end(&s);
        assert_int_equal(set | asked, -1);
        if (s.lines == 0 || s.lines > 2 || !strstr(s.text, "gravel_g5: error: ") || !strstr(s.text, "'no such device'"))
            fail_msg("not a line or two about the device: %s", s.text);
        is_spoiled(&r, 5);
    }
    unsetenv("GRAVEL_COMPAT_DEVICES");
    assert_int_equal(g5_close(), 0); /* the settings are read anew */
    send(&r);
    said_begin(&s);
    assert_int_equal(g5_set_n(1001), -1);
    assert_said(&s, "gravel_g5: error: g5_set_n: ");
    said_begin(&s);
    assert_int_equal(g5_set_xi(49, r.x), -1);
    assert_said(&s, "gravel_g5: error: g5_set_xi: ");
    assert_int_equal(g5_calculate_force_on_x(r.x, r.a, r.p, 5), 0);
    assert_plummer(&r, 5, &b, N, EPS, "a device again");
    rows_free(&r);
    bodies_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bad_use, begin, end),
        cmocka_unit_test_setup_teardown(no_device_at_all, begin, end),
        cmocka_unit_test_setup_teardown(one_shot_and_parts, begin, end),
        cmocka_unit_test_setup_teardown(softening_of_sinks, begin, end),
        cmocka_unit_test_setup_teardown(symmetric, begin, end),
        cmocka_unit_test_setup_teardown(without_softening, begin, end),
        cmocka_unit_test_setup_teardown(signs_and_self, begin, end),
        cmocka_unit_test_setup_teardown(device_ids_in_threads, begin, end),
        cmocka_unit_test_setup_teardown(fortran, begin, end),
    };
    if (no_device())
        return 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
