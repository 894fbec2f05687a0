/* Shared by the tests of libgravel_g6: bodies sent and asked for through the interface, what it writes on stderr. */
#ifndef GV_G6_TEST_H
#define GV_G6_TEST_H

#include "two_devices.h"

#include "compat/common/compat.h"
#include "gravel/g6.h"

/* One body as the interface wants it, at address `at`. */
static inline int send_one(const bodies *b, size_t k, int at)
{
    double d[5][3];
    static const double factor[5] = {1, 1, 0.5, 1.0 / 6, 1.0 / 18};
    for (int j = 0; j < 5; j++)
        for (int c = 0; c < 3; c++)
            d[j][c] = b->d[j][c][k] * factor[j];
    return g6_set_j_particle(0, at, b->id[k], b->t[k], 0.125, b->m[k], d[4], d[3], d[2], d[1], d[0]);
}

static inline void send_all(const bodies *b)
{
    for (size_t k = 0; k < b->n; k++)
        assert_int_equal(send_one(b, k, (int)k), 0);
}

/* Positions and velocities as x[n][3]. */
typedef struct rows {
    int n;
    double (*x)[3], (*v)[3], (*acc)[3], (*jerk)[3], *pot, *h2;
    int *index, *nearest;
    float *distance;
} rows;

static inline rows rows_of(const bodies *b, size_t first, size_t n)
{
    rows r = {.n = (int)n};
    r.x = malloc(n * sizeof *r.x);
    r.v = malloc(n * sizeof *r.v);
    r.acc = malloc(n * sizeof *r.acc);
    r.jerk = malloc(n * sizeof *r.jerk);
    r.pot = malloc(n * sizeof *r.pot);
    r.h2 = malloc(n * sizeof *r.h2);
    r.index = malloc(n * sizeof *r.index);
    r.nearest = malloc(n * sizeof *r.nearest);
    r.distance = malloc(n * sizeof *r.distance);
    assert_true(r.x && r.v && r.acc && r.jerk && r.pot && r.h2 && r.index && r.nearest && r.distance);
    for (size_t k = 0; k < n; k++) {
        r.index[k] = b->id[first + k];
        r.h2[k] = 0;
        for (int c = 0; c < 3; c++) {
            r.x[k][c] = b->d[0][c][first + k];
            r.v[k][c] = b->d[1][c][first + k];
            r.acc[k][c] = r.jerk[k][c] = NAN;
        }
        r.pot[k] = NAN;
        r.nearest[k] = -77;
        r.distance[k] = -77;
    }
    return r;
}

static inline void rows_free(rows *r)
{
    free(r->x);
    free(r->v);
    free(r->acc);
    free(r->jerk);
    free(r->pot);
    free(r->h2);
    free(r->index);
    free(r->nearest);
    free(r->distance);
}

static inline void first_half(rows *r, size_t nj, double eps)
{
    g6calc_firsthalf(0, (int)nj, r->n, r->index, r->x, r->v, r->acc, r->jerk, r->pot, eps * eps, r->h2);
}

static inline int last_half(rows *r, size_t nj, double eps)
{
    return g6calc_lasthalf(0, (int)nj, r->n, r->index, r->x, r->v, eps * eps, r->h2, r->acc, r->jerk, r->pot);
}

static inline int last_half_2(rows *r, size_t nj, double eps)
{
    return g6calc_lasthalf2(0, (int)nj, r->n, r->index, r->x, r->v, eps * eps, r->h2, r->acc, r->jerk, r->pot,
                            r->nearest);
}

/* Forces of sources `b` (the first nj) on sinks `s`, first ... with the ids in `r`, beside the reference. */
static inline void assert_rows(const rows *r, const bodies *s, size_t first, const bodies *b, size_t nj, double eps,
                               const char *what)
{
    gv_ref_particles sinks = view_of(s, first, (size_t)r->n);
    const gv_ref_particles sources = view_of(b, 0, nj);
    results got = results_new((size_t)r->n, 0);
    sinks.id = r->index;
    for (int k = 0; k < r->n; k++) {
        for (int c = 0; c < 3; c++) {
            got.v[R_AX + c][k] = r->acc[k][c];
            got.v[R_JX + c][k] = r->jerk[k][c];
        }
        got.v[R_POT][k] = r->pot[k];
    }
    results want = reference_run(4, &sinks, &sources, eps, NULL, 0);
    assert_forces(&got, &want, 4, GRAVEL_DS, &sinks, &sources, eps, what);
    results_free(&want);
    results_free(&got);
}

/* Sources predicted to `time` with the derivatives up to the snap. */
static inline bodies predicted(const bodies *b, double time)
{
    bodies out = bodies_empty(b->n);
    const double *d[6][3];
    double *p[3][3];
    for (int k = 0; k < 6; k++)
        for (int c = 0; c < 3; c++) {
            d[k][c] = k < 5 ? b->d[k][c] : NULL;
            if (k < 3)
                p[k][c] = out.d[k][c];
        }
    assert_int_equal(gv_ref_predict(GV_REF_LONG_DOUBLE, b->n, d, b->t, time, p), 0);
    memcpy(out.m, b->m, b->n * sizeof(double));
    memcpy(out.id, b->id, b->n * sizeof *b->id);
    return out;
}

/* ----------------------------------------------------------------- stderr */

typedef struct captured {
    int before;
    FILE *file;
    char text[8192];
    int lines;
} captured;

static inline void capture_begin(captured *c)
{
    fflush(stderr);
    c->file = tmpfile();
    assert_non_null(c->file);
    c->before = dup(2);
    dup2(fileno(c->file), 2);
}

static inline void capture_end(captured *c)
{
    fflush(stderr);
    dup2(c->before, 2);
    close(c->before);
    rewind(c->file);
    c->text[fread(c->text, 1, sizeof c->text - 1, c->file)] = '\0';
    fclose(c->file);
    c->lines = 0;
    for (const char *p = c->text; *p; p++)
        c->lines += *p == '\n';
}

/* ------------------------------------------------------------------ setup */

/* Each case opens the library; the settings are those of the group. */
static inline int g6_begin(void **state)
{
    (void)state;
    return g6_open(0);
}

static inline int g6_end(void **state)
{
    (void)state;
    return g6_close(0);
}

static inline int devices_answer(void **state)
{
    (void)state;
    return setenv("GRAVEL_COMPAT_HOST", "never", 1);
}

static inline int host_answers(void **state)
{
    (void)state;
    return setenv("GRAVEL_COMPAT_HOST", "always", 1);
}

static inline int two_devices_answer(void **state)
{
    return devices_answer(state) || two_devices(state);
}

static inline void needs_a_device(void **state)
{
    (void)state;
    skip();
}

static inline int run_nothing(void)
{
    const struct CMUnitTest cases[] = {cmocka_unit_test(needs_a_device)};
    return cmocka_run_group_tests(cases, NULL, NULL);
}

#endif
