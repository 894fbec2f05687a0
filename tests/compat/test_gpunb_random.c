/* A caller of NBODY6++GPU's interface that does everything in any order. */
#include "random_caller.h"

#include "compat/common/compat.h"
#include "gravel/gpunb.h"

enum { MOST = 90, SINKS = 12 };

/* What the library should know. */
typedef struct truth {
    caller c;
    bodies b;
    int bodies, is_open, refused, compared;
} truth;

static void send(truth *t)
{
    caller *const c = &t->c;
    const int nj = one_in(c, 25) ? -below(c, 9) - 1 : below(c, MOST);
    const size_t n = nj > 0 ? (size_t)nj : 0;
    double *m = place(n * sizeof *m), (*x)[3] = place(n * sizeof *x), (*v)[3] = place(n * sizeof *v);
    for (size_t k = 0; k < n; k++) {
        m[k] = 1 + some_number(c);
        three(c, x[k]);
        three(c, v[k]);
    }
    const int bad = n > 0 && one_in(c, 12);
    if (bad)
        (one_in(c, 2) ? m : one_in(c, 2) ? x[0] : v[0])[below(c, (int)n)] = bad_number(c);
    gpunb_send_(&nj, m, x, v);
    t->bodies = 0;
    t->refused = !t->is_open ? t->refused : bad || nj < 0;
    if (t->is_open && !t->refused) {
        t->bodies = (int)n;
        for (size_t k = 0; k < n; k++) {
            t->b.m[k] = m[k];
            t->b.id[k] = (int32_t)k;
            for (int a = 0; a < 3; a++) {
                t->b.d[0][a][k] = x[k][a];
                t->b.d[1][a][k] = v[k][a];
            }
        }
    }
    free(m);
    free(x);
    free(v);
}

static void regular(truth *t)
{
    caller *const c = &t->c;
    const int ni = one_in(c, 25) ? -1 : below(c, SINKS + 1), m_flag = one_in(c, 2);
    const int lmax = one_in(c, 25) ? -below(c, 3) : 1 + below(c, 14), nbmax = one_in(c, 9) ? any_int(c) : below(c, 14);
    const size_t n = ni > 0 ? (size_t)ni : 0, row = lmax > 0 ? (size_t)lmax : 0;
    double *h2 = place(n * sizeof *h2), *dtr = place(n * sizeof *dtr), *pot = place(n * sizeof *pot), radius[SINKS];
    double(*x)[3] = place(n * sizeof *x), (*v)[3] = place(n * sizeof *v), (*acc)[3] = place(n * sizeof *acc);
    double(*jrk)[3] = place(n * sizeof *jrk);
    int *const list = place(n * row * sizeof *list);
    bodies sinks = bodies_empty(SINKS);
    for (size_t i = 0; i < n; i++) {
        h2[i] = one_in(c, 9) ? NAN : 0.4 * some_number(c);
        dtr[i] = 0.1 * fabs(some_number(c));
        radius[i] = h2[i] > 0 ? sqrt(h2[i]) : 0;
        const int own = t->bodies > 0 && one_in(c, 2) ? below(c, t->bodies) : -1;
        for (int a = 0; a < 3; a++) {
            sinks.d[0][a][i] = x[i][a] = own < 0 ? some_number(c) : t->b.d[0][a][own];
            sinks.d[1][a][i] = v[i][a] = own < 0 ? some_number(c) : t->b.d[1][a][own];
        }
        sinks.id[i] = -1;
    }
    const int bad = n > 0 && one_in(c, 15);
    if (bad)
        (one_in(c, 2) ? dtr : one_in(c, 2) ? x[0] : v[0])[below(c, (int)n)] = bad_number(c);
    gpunb_regf_(&ni, h2, dtr, x, v, acc, jrk, pot, &lmax, &nbmax, list, &m_flag);
    const int works = t->is_open && !t->refused && !bad && lmax > 0;
    for (size_t i = 0; i < n && !works; i++) {
        if (!isnan(acc[i][0]) || !isnan(jrk[i][2]) || !isnan(pot[i]))
            fail_msg("turn %d: open %d, refused %d, bad sinks %d, lists of %d, %d bodies: %g", c->turn, t->is_open,
                     t->refused, bad, lmax, t->bodies, acc[i][0]);
        if (row > 0)
            assert_int_equal(list[i * row], 0);
    }
    if (works && n > 0) {
        const gv_ref_particles i = view_of(&sinks, 0, n), j = view_of(&t->b, 0, (size_t)t->bodies);
        const gv_ref_rule rule = {m_flag ? GV_REF_INSIDE_MASS : GV_REF_INSIDE, dtr, 1};
        results want = results_new(n, MOST);
        const gv_ref_forces out = {.ax = want.v[R_AX],
                                   .ay = want.v[R_AY],
                                   .az = want.v[R_AZ],
                                   .pot = want.v[R_POT],
                                   .jx = want.v[R_JX],
                                   .jy = want.v[R_JY],
                                   .jz = want.v[R_JZ],
                                   .neighbour_count = want.count,
                                   .neighbour_address = want.list};
        assert_int_equal(gv_ref_direct_ruled(GV_REF_LONG_DOUBLE, 4, &i, &j, 0, radius, MOST, &rule, &out), 0);
        for (size_t k = 0; k < n; k++) {
            const int count = (int)want.count[k], fits = count <= nbmax && count < lmax;
            assert_int_equal(list[k * row], fits ? count : -count);
            for (int e = 0; fits && e < count; e++)
                assert_int_equal(list[k * row + 1 + (size_t)e], want.list[k * MOST + (size_t)e]);
            for (int a = 0; a < 3; a++)
                assert_near(c, acc[k][a], want.v[R_AX + a][k], "an acceleration");
            assert_near(c, pot[k], -want.v[R_POT][k], "a potential");
        }
        t->compared++;
        results_free(&want);
    }
    bodies_free(&sinks);
    free(h2);
    free(dtr);
    free(pot);
    free(x);
    free(v);
    free(acc);
    free(jrk);
    free(list);
}

/* Bodies of the caller's own; numbers that are not there must not be read. */
static void potential(truth *t)
{
    caller *const c = &t->c;
    const int rank = any_int(c), n = below(c, MOST), istart = one_in(c, 9) ? any_int(c) : 1 + below(c, MOST);
    const int ni = one_in(c, 9) ? any_int(c) % (2 * MOST) : below(c, MOST);
    const size_t all = (size_t)n, out = ni > 0 ? (size_t)ni : 0;
    double *m = place(all * sizeof *m), (*x)[3] = place(all * sizeof *x), *pot = place(out * sizeof *pot);
    for (size_t k = 0; k < all; k++) {
        m[k] = 1 + some_number(c);
        three(c, x[k]);
    }
    gpupot_(&rank, &istart, &ni, &n, m, x, pot);
    const int works = istart >= 1 && ni >= 0 && istart - 1 <= n - ni;
    for (size_t i = 0; i < out; i++) {
        double want = 0;
        const size_t at = works ? (size_t)istart - 1 + i : 0;
        for (size_t j = 0; works && j < all; j++)
            want +=
                j == at
                    ? 0
                    : m[j] / sqrt(pow(x[j][0] - x[at][0], 2) + pow(x[j][1] - x[at][1], 2) + pow(x[j][2] - x[at][2], 2));
        if (works)
            assert_near(c, pot[i], want, "gpupot");
        else
            assert_true(isnan(pot[i]));
    }
    free(m);
    free(x);
    free(pot);
}

static void in_any_order(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    truth t = {.c = caller_new(3000), .b = bodies_empty(MOST)};
    gv_compat_set_level(GV_COMPAT_NONE);
    while (caller_goes_on(&t.c)) {
        const int what = below(&t.c, 40), rank = any_int(&t.c);
        if (what < 10) {
            send(&t);
        } else if (what < 30) {
            regular(&t);
        } else if (what < 34) {
            potential(&t);
        } else if (what == 34) {
            gpunb_close_();
            t.is_open = t.refused = t.bodies = 0;
        } else if (what < 38) { /* a second time bodies are forgotten */
            gpunb_open_(&rank, one_in(&t.c, 2) ? &rank : NULL);
            t.is_open = 1;
            t.refused = t.bodies = 0;
        } else if (what == 38) {
            gpunb_devinit_(&rank);
        } else {
            gpunb_profile_(&rank);
        }
    }
    gpunb_close_();
    assert_true(t.compared > t.c.turns / 10);
    bodies_free(&t.b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_any_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
