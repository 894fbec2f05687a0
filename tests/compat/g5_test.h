/* Shared by the tests of libgravel_g5: rows as its callers have them, beside the reference. */
#ifndef GV_G5_TEST_H
#define GV_G5_TEST_H

#include "problem.h"

#include "compat/common/compat.h"
#include "gravel/g5.h"

enum { N = 200, SINKS = 60 };
#define EPS 0.05

typedef struct rows {
    int n;
    double (*x)[3], (*a)[3], *m, *p, *eps2;
} rows;

static inline rows rows_new(size_t n)
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

static inline rows rows_of(const bodies *b)
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

static inline void rows_free(rows *r)
{
    free(r->x);
    free(r->a);
    free(r->m);
    free(r->p);
    free(r->eps2);
}

/* Bodies without ids: nothing is left out. */
static inline bodies anonymous(size_t n, uint64_t seed)
{
    bodies b = bodies_new(n, seed);
    for (size_t k = 0; k < n; k++)
        b.id[k] = -1;
    return b;
}

/* `sign` of the potential in r->p: 1: positive */
static inline void assert_sinks(const rows *r, int ni, const results *want, const gv_ref_particles *sinks,
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
static inline void assert_plummer(const rows *r, int ni, const bodies *b, size_t nj, double eps, const char *what)
{
    const gv_ref_particles sinks = view_of(b, 0, (size_t)ni), sources = view_of(b, 0, nj);
    results want = reference_run(2, &sinks, &sources, eps, NULL, 0);
    assert_sinks(r, ni, &want, &sinks, &sources, eps, 1, 1, what);
    results_free(&want);
}

static inline void send(const rows *r)
{
    assert_int_equal(g5_set_eps_to_all(EPS), 0);
    assert_int_equal(g5_set_xmj(0, r->n, r->x, r->m), 0);
    assert_int_equal(g5_set_n(r->n), 0);
}

/* A table's force and potential. */
static inline double falling(double u)
{
    return u < 2 ? (1 - u / 2) * (1 - u / 2) * (1 + u) : 0;
}
static inline double falling_potential(double u)
{
    return 1 - 3 * u / 2 + 3 * u * u / 4 - u * u * u / 8;
}
static inline int begin(void **state)
{
    (void)state;
    setenv("GRAVEL_COMPAT_PIPES", "48", 1);
    setenv("GRAVEL_COMPAT_JMEM", "1000", 1);
    setenv("GRAVEL_COMPAT_LOG", "error", 1);
    return 0;
}

/* Each case begins with nothing set. */
static inline int end(void **state)
{
    (void)state;
    return g5_close();
}

#endif
