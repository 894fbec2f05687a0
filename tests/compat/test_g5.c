/* libgravel_g5 as its callers use it, against the reference: every memory of sources, softening, tables, quadrupoles,
 * threads, settings, bad use. */
#include "problem.h"

#include <pthread.h>

#include "compat/common/compat.h"
#include "gravel/g5.h"

enum { N = 200, SINKS = 60 };
#define EPS 0.05

/* ------------------------------------------------------------------ rows */

typedef struct rows {
    int n;
    double (*x)[3], (*a)[3], *m, *p, *eps2;
} rows;

static rows rows_new(size_t n)
{
    rows r = {.n = (int)n};
    r.x = malloc(n * sizeof *r.x);
    r.a = malloc(n * sizeof *r.a);
    r.m = malloc(n * sizeof *r.m);
    r.p = malloc(n * sizeof *r.p);
    r.eps2 = malloc(n * sizeof *r.eps2);
    assert_true(r.x && r.a && r.m && r.p && r.eps2);
    return r;
}

static rows rows_of(const bodies *b)
{
    rows r = rows_new(b->n);
    for (size_t k = 0; k < b->n; k++) {
        for (int c = 0; c < 3; c++) {
            r.x[k][c] = b->d[0][c][k];
            r.a[k][c] = 777;
        }
        r.m[k] = b->m[k];
        r.p[k] = 777;
        r.eps2[k] = (0.02 + 0.01 * (double)(k % 7)) * (0.02 + 0.01 * (double)(k % 7));
    }
    return r;
}

static void rows_free(rows *r)
{
    free(r->x);
    free(r->a);
    free(r->m);
    free(r->p);
    free(r->eps2);
}

/* Bodies without ids: nothing is left out. */
static bodies anonymous(size_t n, uint64_t seed)
{
    bodies b = bodies_new(n, seed);
    for (size_t k = 0; k < n; k++)
        b.id[k] = -1;
    return b;
}

/* `sign` of the potential in r->p: 1: positive */
static void assert_sinks(const rows *r, int ni, const results *want, const gv_ref_particles *sinks,
                         const gv_ref_particles *sources, double eps, double factor, int sign, const char *what)
{
    for (int i = 0; i < ni; i++) {
        double bound[4];
        error_bounds(GRAVEL_DS, sinks, (size_t)i, sources, eps, bound);
        for (int c = 0; c < 4; c++) {
            const double got = c < 3 ? r->a[i][c] : -sign * r->p[i], error = fabs(got - want->v[c][i]);
            if (!(error <= factor * bound[c == R_POT]))
                fail_msg("%s: sink %d of %d, component %d: %.12g, the reference %.12g: error %.3g, at most %.3g", what,
                         i, ni, c, got, want->v[c][i], error, factor * bound[c == R_POT]);
        }
    }
}

/* r's first ni sinks, which are bodies of b, beside the forces of b's first nj */
static void assert_plummer(const rows *r, int ni, const bodies *b, size_t nj, double eps, const char *what)
{
    const gv_ref_particles sinks = view_of(b, 0, (size_t)ni), sources = view_of(b, 0, nj);
    results want = reference_run(2, &sinks, &sources, eps, NULL, 0);
    assert_sinks(r, ni, &want, &sinks, &sources, eps, 1, 1, what);
    results_free(&want);
}

static void send(const rows *r)
{
    assert_int_equal(g5_set_eps_to_all(EPS), 0);
    assert_int_equal(g5_set_xmj(0, r->n, r->x, r->m), 0);
    assert_int_equal(g5_set_n(r->n), 0);
}

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

/* ------------------------------------------------------------------- tables */

static double falling(double u)
{
    return u < 2 ? (1 - u / 2) * (1 - u / 2) * (1 + u) : 0;
}
static double falling_potential(double u)
{
    return 1 - 3 * u / 2 + 3 * u * u / 4 - u * u * u / 8;
}
static double falling_fortran(double *u)
{
    return falling(*u);
}
static double falling_potential_fortran(double *u)
{
    return falling_potential(*u);
}
static double user_force(double u, void *user)
{
    (void)user;
    return 1.5 * falling(u);
}
static double user_potential(double u, void *user)
{
    (void)user;
    return 0.5 * falling_potential(u);
}

/* Of a sphere of diameter a whose density falls linearly to zero: 48 / pi a^-4 (a/2 - r). */
static double mass_within(double a, double r)
{
    const double x = 2 * r / a;
    return x >= 1 ? 1 : x * x * x * (4 - 3 * x);
}

/* Force over distance of two such spheres.  One is cut into shells, each point of which feels the mass of the other
 * within its distance; means over a shell by the midpoint rule. */
static double spheres(double a, double r)
{
    enum { SHELLS = 160, ANGLES = 160 };
    double sum = 0;
    for (int k = 0; k < SHELLS; k++) {
        const double s = (k + 0.5) / SHELLS * a / 2;
        const double shell = mass_within(a, s + a / 4 / SHELLS) - mass_within(a, s - a / 4 / SHELLS);
        for (int j = 0; j < ANGLES; j++) {
            const double mu = -1 + (j + 0.5) * 2 / ANGLES, along = r + s * mu;
            const double d = sqrt(along * along + s * s * (1 - mu * mu));
            sum += shell / ANGLES * mass_within(a, d) / (d * d * d) * along;
        }
    }
    return sum / r;
}

static double s2_force(double r, void *user)
{
    const double *a = user;
    return spheres(a[0], r) - spheres(a[1], r);
}

static void cut_off(void **state)
{
    (void)state;
    bodies b = anonymous(N, 16);
    rows r = rows_of(&b);
    const gv_ref_particles sinks = view_of(&b, 0, SINKS), sources = view_of(&b, 0, N);
    const gv_ref_law law = {
        .kind = GV_REF_LAW_FACTORS, .length = 0.4, .cut = 2, .force = user_force, .potential = user_potential};
    results want = results_new(SINKS, 0);
    const gv_ref_forces out = {.ax = want.v[R_AX], .ay = want.v[R_AY], .az = want.v[R_AZ], .pot = want.v[R_POT]};
    assert_int_equal(gv_ref_by_law(&law, &sinks, &sources, EPS, &out), 0);
    send(&r);
    assert_int_equal(g5_set_cutoff_table(falling, 2, 1.5, falling_potential, 2, 0.5), 0);
    assert_int_equal(g5_set_eta(0.4), 0);
    assert_int_equal(g5_calculate_force_on_x(r.x, r.a, r.p, SINKS), 0);
    assert_sinks(&r, SINKS, &want, &sinks, &sources, EPS, 4, 1, "cut off");
    /* another eta, and back, from Fortran */
    double eta = 0.2, two = 2, more = 1.5, less = 0.5;
    assert_int_equal(g5_set_eta_(&eta), 0);
    assert_int_equal(g5_calculate_force_on_x(r.x, r.a, r.p, 1), 0);
    assert_true(fabs(r.a[0][0] - want.v[R_AX][0]) > 1e-3 * fabs(want.v[R_AX][0]));
    eta = 0.4;
    assert_int_equal(g5_set_eta_(&eta), 0);
    assert_int_equal(g5_set_cutoff_table_(falling_fortran, &two, &more, falling_potential_fortran, &two, &less), 0);
    assert_int_equal(g5_calculate_force_on_x(r.x, r.a, r.p, SINKS), 0);
    assert_sinks(&r, SINKS, &want, &sinks, &sources, EPS, 4, 1, "from Fortran");
    assert_int_equal(pg5_set_plummer_table(), 0);
    assert_int_equal(g5_calculate_force_on_x(r.x, r.a, r.p, SINKS), 0);
    assert_plummer(&r, SINKS, &b, N, EPS, "no table");
    results_free(&want);
    rows_free(&r);
    bodies_free(&b);
}

/* Without g5_open, as FDPS's TreePM sample does it.  The midpoint rule is good to some 1e-4. */
static void treepm(void **state)
{
    (void)state;
    static const double size[2] = {0.3, 0.8};
    static const double place[6] = {0.05, 0.2, 0.31, 0.5, 0.79, 0.9};
    double x[7][3] = {{0}}, a[7][3], p[7], m[1] = {2};
    for (int k = 0; k < 6; k++)
        x[k + 1][0] = -place[k];
    assert_int_equal(pg5_gen_s2_force_table(size[0], size[1]), 0);
    assert_int_equal(g5_set_xmjMC(5, 0, 1, x, m), 0);
    assert_int_equal(g5_set_nMC(5, 1), 0);
    assert_int_equal(g5_calculate_force_on_xMC(5, x, a, p, 7), 0);
    for (int k = 1; k < 7; k++) {
        const double f = place[k - 1] < size[1] ? s2_force(place[k - 1], (void *)size) : 0;
        const double all = f + spheres(size[1], place[k - 1]);
        if (!(fabs(a[k][0] - 2 * f * place[k - 1]) <= 3e-4 * 2 * all * place[k - 1]))
            fail_msg("at %g: %.9g, by shells %.9g", place[k - 1], a[k][0], 2 * f * place[k - 1]);
        assert_true(p[k] >= 0 && p[k] <= p[k - 1]);
    }
    assert_true(a[0][0] == 0 && isfinite(p[0]) && p[6] == 0);
    assert_int_equal(pg5_set_plummer_table(), 0);
}

/* -------------------------------------------------------------- quadrupoles */

static void cells(void **state)
{
    (void)state;
    static double q[N][6];
    bodies b = anonymous(N, 17), s = anonymous(SINKS, 18);
    rows r = rows_of(&b), at = rows_of(&s);
    uint64_t seed = 3;
    for (int k = 0; k < N; k++) {
        for (int c = 0; c < 5; c++)
            q[k][c] = 0.01 * b.m[k] * random_unit(&seed);
        q[k][5] = -q[k][0] - q[k][3];
    }
    const gv_ref_particles sinks = view_of(&s, 0, SINKS), sources = view_of(&b, 0, N);
    results want = results_new(SINKS, 0);
    const gv_ref_forces out = {.ax = want.v[R_AX], .ay = want.v[R_AY], .az = want.v[R_AZ], .pot = want.v[R_POT]};
    assert_int_equal(gv_ref_quadrupoles(&sinks, &sources, (const double(*)[6])q, EPS, &out), 0);
    assert_int_equal(g5_set_eps_to_all(EPS), 0);
    assert_int_equal(g5c_set_xmjMC(2, 0, N, r.x, r.m, q), 0);
    assert_int_equal(g5c_set_nMC(2, N), 0);
    assert_int_equal(g5_set_xmjMC(2, 0, 10, r.x, r.m), 0); /* bodies beside cells */
    assert_int_equal(g5_set_nMC(2, 10), 0);
    assert_int_equal(g5c_calculate_force_on_xMC(2, at.x, at.a, at.p, SINKS), 0);
    /* quadrupoles of 0.01 m at s >= 0.05 are up to 4 times the mass term, with its roundings */
    assert_sinks(&at, SINKS, &want, &sinks, &sources, EPS, 40, -1, "cells");
    assert_int_equal(g5_set_xiMC(2, 48, at.x), 0);
    assert_int_equal(g5c_runMC0(2), 0);
    assert_int_equal(g5_get_forceMC(2, 48, at.a, at.p), 0);
    assert_sinks(&at, 48, &want, &sinks, &sources, EPS, 40, -1, "cells by pipes");
    results_free(&want);
    rows_free(&r);
    rows_free(&at);
    bodies_free(&b);
    bodies_free(&s);
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

static int begin(void **state)
{
    (void)state;
    setenv("GRAVEL_COMPAT_PIPES", "48", 1);
    setenv("GRAVEL_COMPAT_JMEM", "1000", 1);
    setenv("GRAVEL_COMPAT_LOG", "error", 1);
    return 0;
}

/* Each case begins with nothing set. */
static int end(void **state)
{
    (void)state;
    return g5_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bad_use, begin, end),
        cmocka_unit_test_setup_teardown(one_shot_and_parts, begin, end),
        cmocka_unit_test_setup_teardown(softening_of_sinks, begin, end),
        cmocka_unit_test_setup_teardown(symmetric, begin, end),
        cmocka_unit_test_setup_teardown(without_softening, begin, end),
        cmocka_unit_test_setup_teardown(signs_and_self, begin, end),
        cmocka_unit_test_setup_teardown(device_ids_in_threads, begin, end),
        cmocka_unit_test_setup_teardown(cut_off, begin, end),
        cmocka_unit_test_setup_teardown(treepm, begin, end),
        cmocka_unit_test_setup_teardown(cells, begin, end),
        cmocka_unit_test_setup_teardown(fortran, begin, end),
    };
    if (no_device())
        return 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
