/* A caller of GRAPE-5's interface that does everything in any order, on three device ids. */
#include "random_caller.h"

#include "compat/common/compat.h"
#include "gravel/g5.h"

enum { MOST = 90, SINKS = 56, IDS = 3 }; /* more sinks than the 48 pipes */

typedef enum stage { IDLE, SET, FAILED, RUN } stage;

/* What the library should know of a device id. */
typedef struct unit {
    double x[MOST][3], m[MOST];
    int used, n, is_counted;
    stage stage;
    int ni, has_eps, results; /* results: sinks of the last run */
    double xi[SINKS][3], eps[SINKS], acc[SINKS][3], pot[SINKS];
} unit;

typedef struct truth {
    caller c;
    unit u[IDS];
    double eps;
    int compared;
} truth;

static int pulling(const unit *u)
{
    return u->is_counted && u->n < u->used ? u->n : u->used;
}

static int has_bad_source(const unit *u)
{
    for (int j = 0; j < u->used; j++)
        if (!isfinite(u->m[j]) || !isfinite(u->x[j][0]) || !isfinite(u->x[j][1]) || !isfinite(u->x[j][2]))
            return 1;
    return 0;
}

/* 1 if it works; the forces are those of a g5_run at this moment. */
static int run(truth *t, unit *u)
{
    const int n = pulling(u);
    int bad = has_bad_source(u);
    for (int i = 0; i < u->ni; i++)
        bad |= !isfinite(u->xi[i][0]) || !isfinite(u->xi[i][1]) || !isfinite(u->xi[i][2]);
    if (u->stage == IDLE || u->stage == FAILED)
        return 0;
    u->stage = bad && n > 0 && u->ni > 0 ? FAILED : RUN;
    u->results = u->ni;
    for (int i = 0; i < u->ni && u->stage == RUN; i++) {
        const double eps = u->has_eps ? u->eps[i] : t->eps;
        double *const a = u->acc[i];
        a[0] = a[1] = a[2] = u->pot[i] = 0;
        for (int j = 0; j < n; j++) {
            double d[3], s2 = eps * eps;
            for (int k = 0; k < 3; k++) {
                d[k] = u->x[j][k] - u->xi[i][k];
                s2 += d[k] * d[k];
            }
            if (s2 == 0)
                continue;
            for (int k = 0; k < 3; k++)
                a[k] += u->m[j] * d[k] / (s2 * sqrt(s2));
            u->pot[i] += u->m[j] / sqrt(s2);
        }
    }
    return u->stage == RUN;
}

static void compare(truth *t, const unit *u, int ni, double (*a)[3], const double *p)
{
    for (int i = 0; i < ni; i++) {
        for (int k = 0; k < 3; k++)
            assert_near(&t->c, a[i][k], u->acc[i][k], "an acceleration");
        assert_near(&t->c, p[i], u->pot[i], "a potential");
    }
    t->compared += ni > 0;
}

/* Functions without MC are those of id 0. */
static void sources(truth *t, int id, int plain, unit *u)
{
    caller *const c = &t->c;
    const int adr = one_in(c, 15) ? any_int(c) | INT_MIN : below(c, MOST);
    const int nj = one_in(c, 15) ? (one_in(c, 2) ? -1 : INT_MAX) : below(c, MOST - (adr < 0 ? 0 : adr) + 1);
    const int bad = adr < 0 || nj < 0 || nj == INT_MAX, what = below(c, 4);
    const size_t n = bad ? 0 : (size_t)(adr + nj);
    double(*x)[3] = place(n * sizeof *x), *m = place(n * sizeof *m);
    for (size_t j = bad ? 0 : (size_t)adr; j < n; j++) {
        three(c, x[j]);
        m[j] = 1 + some_number(c);
    }
    if (!bad && nj > 0 && one_in(c, 12))
        *(one_in(c, 2) ? &m[adr] : &x[adr + below(c, nj)][below(c, 3)]) = bad_number(c);
    const int result = what == 0   ? plain ? g5_set_xmj(adr, nj, x, m) : g5_set_xmjMC(id, adr, nj, x, m)
                         : what == 1 ? plain ? g5_set_jp(adr, nj, m, x) : g5_set_jpMC(id, adr, nj, m, x)
                         : what == 2 ? plain ? g5_set_xj(adr, nj, x) : g5_set_xjMC(id, adr, nj, x)
                         : plain ? g5_set_mj(adr, nj, m)
                                   : g5_set_mjMC(id, adr, nj, m);
    assert_int_equal(result, !u || bad ? -1 : 0);
    for (int j = adr; result == 0 && j < adr + nj; j++) {
        if (what != 3)
            memcpy(u->x[j], x[j], sizeof x[j]);
        if (what != 2)
            u->m[j] = m[j];
    }
    if (result == 0 && nj > 0 && adr + nj > u->used)
        u->used = adr + nj;
    free(x);
    free(m);
}

/* set, run and get apart (one_shot 0), or in one call. */
static void sinks(truth *t, int id, int plain, unit *u, int one_shot)
{
    caller *const c = &t->c;
    const int ni = one_in(c, 20) ? -1 : below(c, SINKS + 1), with = below(c, one_shot ? 2 : 4);
    const size_t n = ni > 0 ? (size_t)ni : 0;
    double(*x)[3] = place(n * sizeof *x), (*a)[3] = place(n * sizeof *a), *p = place(n * sizeof *p);
    double *eps = place(n * sizeof *eps); /* of with 1: squares */
    int bad = ni < 0 || (!one_shot && ni > 48);
    for (size_t i = 0; i < n; i++) {
        eps[i] = one_in(c, 9) ? 0 : 0.3 + 0.2 * some_number(c);
        if (u && u->used > 0 && one_in(c, 2))
            memcpy(x[i], u->x[below(c, u->used)], sizeof x[i]);
        else
            three(c, x[i]);
    }
    if (n > 0 && with > 0 && one_in(c, 9)) {
        eps[below(c, ni)] = with == 1 ? -1 : bad_number(c);
        bad = 1;
    }
    const int only_eps = with == 3; /* the sinks stay */
    int result;
    if (one_shot && with)
        result = plain ? g5_calculate_force_on_xe(x, eps, a, p, ni) : g5_calculate_force_on_xeMC(id, x, eps, a, p, ni);
    else if (one_shot)
        result = plain ? g5_calculate_force_on_x(x, a, p, ni) : g5_calculate_force_on_xMC(id, x, a, p, ni);
    else if (with == 0)
        result = plain ? g5_set_xi(ni, x) : g5_set_xiMC(id, ni, x);
    else if (with == 1)
        result = plain ? g5_set_xei(ni, x, eps) : g5_set_xeiMC(id, ni, x, eps);
    else if (with == 2 && plain)
        result = g5_set_ip(ni, x, eps, NULL);
    else if (with == 2)
        result = g5_set_xiMC(id, ni, x) || g5_set_epsMC(id, ni, eps) ? -1 : 0;
    else
        result = plain ? g5_set_eps(ni, eps) : g5_set_epsMC(id, ni, eps);
    bad |= !u || (only_eps && (u->stage == IDLE || u->stage == FAILED || ni != u->ni));
    if (!bad && (n > 0 || !one_shot)) {
        if (!only_eps)
            memcpy(u->xi, x, n * sizeof *x);
        for (size_t i = 0; i < n && with; i++)
            u->eps[i] = with == 1 ? sqrt(eps[i]) : eps[i];
        u->has_eps = with > 0;
        u->ni = ni;
        u->stage = SET;
        if (one_shot)
            bad = !run(t, u);
    } else if (u && !one_shot) {
        u->stage = FAILED;
    }
    if (result != (bad ? -1 : 0))
        fail_msg("turn %d: one shot %d, with %d, %d sinks, id %d: %d", c->turn, one_shot, with, ni, id, result);
    if (one_shot && !bad)
        compare(t, u, ni, a, p);
    for (size_t i = 0; one_shot && bad && i < n; i++)
        assert_true(isnan(a[i][0]) && isnan(a[i][1]) && isnan(a[i][2]) && isnan(p[i]));
    free(x);
    free(a);
    free(p);
    free(eps);
}

static void get(truth *t, int id, int plain, unit *u)
{
    caller *const c = &t->c;
    const int ni = one_in(c, 9) ? -1 : u && one_in(c, 2) ? u->ni : below(c, SINKS + 1);
    const size_t n = ni > 0 ? (size_t)ni : 0;
    double(*a)[3] = place(n * sizeof *a), *p = place(n * sizeof *p);
    const int works = u && u->stage == RUN && ni >= 0 && ni <= u->results;
    const int result = plain ? g5_get_force(ni, a, p) : g5_get_forceMC(id, ni, a, p);
    assert_int_equal(result, works ? 0 : -1);
    if (works)
        compare(t, u, ni, a, p);
    for (size_t i = 0; !works && i < n; i++)
        assert_true(isnan(a[i][0]) && isnan(p[i]));
    free(a);
    free(p);
}

static void count(truth *t, int id, int plain, unit *u)
{
    caller *const c = &t->c;
    const int n = one_in(c, 9) ? (one_in(c, 2) ? -1 : INT_MAX) : below(c, MOST + 20), bad = n < 0 || n == INT_MAX;
    assert_int_equal(plain ? g5_set_n(n) : g5_set_nMC(id, n), !u || bad ? -1 : 0);
    if (u && !bad) {
        u->n = n;
        u->is_counted = 1;
    }
}

static void soften_all(truth *t)
{
    caller *const c = &t->c;
    const int bad = one_in(c, 9), square = one_in(c, 2);
    const double eps = bad ? bad_number(c) : one_in(c, 5) ? 0 : 0.3 + 0.2 * some_number(c);
    assert_int_equal(square ? g5_set_eps2_to_all(eps * eps) : g5_set_eps_to_allMC(any_int(c), eps), bad ? -1 : 0);
    t->eps = bad ? t->eps : sqrt(eps * eps);
}

static void forget(unit *u)
{
    *u = (unit){.used = 0};
}

static void in_any_order(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    truth *const t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->c = caller_new(6000);
    gv_compat_set_level(GV_COMPAT_NONE);
    setenv("GRAVEL_COMPAT_PIPES", "48", 1);
    while (caller_goes_on(&t->c)) {
        const int what = below(&t->c, 60), id = one_in(&t->c, 30) ? any_int(&t->c) | INT_MIN : below(&t->c, IDS);
        const int plain = id == 0 && one_in(&t->c, 2);
        unit *const u = id >= 0 ? &t->u[id] : NULL;
        if (what < 14) {
            sources(t, id, plain, u);
        } else if (what < 24) {
            sinks(t, id, plain, u, 0);
        } else if (what < 34) {
            const int works = u && run(t, u);
            assert_int_equal(plain ? g5_run() : g5_runMC(id), works ? 0 : -1);
        } else if (what < 44) {
            get(t, id, plain, u);
        } else if (what < 52) {
            sinks(t, id, plain, u, 1);
        } else if (what < 55) {
            count(t, id, plain, u);
        } else if (what < 57) {
            soften_all(t);
        } else if (what == 57) {
            assert_int_equal(plain ? g5_open() : g5_openMC(id), u ? 0 : -1);
        } else if (what == 58 && one_in(&t->c, 3)) {
            assert_int_equal(g5_close(), 0);
            for (int k = 0; k < IDS; k++)
                forget(&t->u[k]);
        } else if (what == 59) {
            assert_int_equal(g5_closeMC(id), u ? 0 : -1);
            if (u)
                forget(u);
        }
    }
    g5_close();
    assert_true(t->compared > t->c.turns / 20);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_any_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
