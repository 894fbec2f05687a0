/* Shared by the random callers of the 6th-order interfaces. */
#ifndef GV_ORDER6_RANDOM_H
#define GV_ORDER6_RANDOM_H

#include "random_caller.h"

#include "compat/common/compat.h"

enum { MOST = 80, SINKS = 12 };

/* Sinks and results of a call, as 6th.h has them. */
typedef struct asked {
    int ni, nj, ids[SINKS], nearest[SINKS];
    double pos[SINKS][3], vel[SINKS][3], acc[SINKS][3], eps2[SINKS];
    double acc_new[SINKS][3], jerk[SINKS][3], snap[SINKS][3], pot[SINKS], r2[SINKS];
} asked;

typedef struct way {
    void (*set)(int address, double *const d[6], double mass, double time, int id, double eps2);
    void (*predict)(double time, int nj);
    void (*no_predict)(double time, int nj);
    void (*read)(int address, int *id, double pos[3]);
    void (*forces)(asked *a); /* potential and nearest neighbours as in 6th.h */
} way;

typedef struct truth {
    caller c;
    const way *w;
    bodies b;
    int sources, refused[MOST], timed, time_is_refused, compared;
    double time;
} truth;

static inline void set_source(truth *t)
{
    caller *const c = &t->c;
    const int at = one_in(c, 40) ? -1 - below(c, 9) : below(c, one_in(c, 9) ? MOST : t->sources + 1) % MOST;
    double d[6][3], *p[6], numbers[3] = {1 + some_number(c), 0.1 * some_number(c), fabs(some_number(c))};
    const int bad = one_in(c, 80), id = any_int(c);
    for (int k = 0; k < 6; k++) {
        three(c, d[k]);
        p[k] = one_in(c, 6) ? NULL : d[k];
    }
    if (bad && one_in(c, 2))
        numbers[below(c, 3)] = bad_number(c);
    else if (bad)
        (p[0] = d[0])[below(c, 3)] = bad_number(c);
    t->w->set(at, p, numbers[0], numbers[1], id, numbers[2]);
    if (at < 0)
        return;
    t->refused[at] = bad;
    if (bad)
        return;
    for (int k = 0; k < 18; k++)
        t->b.d[k / 3][k % 3][at] = p[k / 3] ? d[k / 3][k % 3] : 0;
    t->b.m[at] = numbers[0];
    t->b.t[at] = numbers[1];
    t->b.id[at] = id;
    t->sources = at >= t->sources ? at + 1 : t->sources;
}

static inline bodies sources_now(const truth *t)
{
    bodies b = bodies_empty(MOST);
    memcpy(b.block, t->b.block, 20 * MOST * sizeof(double));
    memcpy(b.id, t->b.id, MOST * sizeof *b.id);
    const double *d[6][3];
    double *p[3][3];
    for (int k = 0; k < 18; k++)
        d[k / 3][k % 3] = t->b.d[k / 3][k % 3];
    for (int k = 0; k < 9; k++)
        p[k / 3][k % 3] = b.d[k / 3][k % 3];
    if (t->timed)
        assert_int_equal(gv_ref_predict(GV_REF_LONG_DOUBLE, MOST, d, t->b.t, t->time, p), 0);
    return b;
}

static inline void ask(truth *t)
{
    caller *const c = &t->c;
    asked a;
    bodies sinks = bodies_empty(SINKS), sources = sources_now(t);
    memset(&a, 0xff, sizeof a);
    a.ni = one_in(c, 20) ? -1 - below(c, 5) : below(c, SINKS + 1);
    a.nj = one_in(c, 20) ? INT_MIN : one_in(c, 20) ? INT_MAX : below(c, MOST);
    const int bad = a.ni > 0 && one_in(c, 15), n = a.ni > 0 ? a.ni : 0;
    const double eps2 = 0.01 + 0.005 * some_number(c);
    for (int i = 0; i < n; i++) {
        a.ids[i] = sinks.id[i] = one_in(c, 2) ? any_int(c) : t->b.id[below(c, MOST)];
        a.eps2[i] = eps2;
        three(c, a.pos[i]);
        three(c, a.vel[i]);
        three(c, a.acc[i]);
        for (int k = 0; k < 3; k++) {
            sinks.d[0][k][i] = a.pos[i][k];
            sinks.d[1][k][i] = a.vel[i][k];
            sinks.d[2][k][i] = a.acc[i][k];
        }
    }
    if (bad)
        (one_in(c, 2) ? a.eps2 : one_in(c, 2) ? a.pos[0] : a.acc[0])[below(c, n)] = bad_number(c);
    int works = !bad && a.ni >= 0 && a.nj >= 0 && !t->time_is_refused;
    for (int k = 0; k < MOST && k < a.nj; k++)
        works &= !t->refused[k];
    t->w->forces(&a);
    for (int i = 0; i < n && !works; i++)
        assert_true(isnan(a.acc_new[i][0]) && isnan(a.snap[i][2]) && isnan(a.pot[i]) && isnan(a.r2[i]));
    if (works && n > 0) {
        const gv_ref_particles i = view_of(&sinks, 0, (size_t)n);
        const gv_ref_particles j = view_of(&sources, 0, (size_t)(a.nj < t->sources ? a.nj : t->sources));
        results want = reference_run(6, &i, &j, sqrt(eps2), NULL, 0);
        for (int k = 0; k < n; k++) {
            for (int x = 0; x < 3; x++) {
                assert_near(c, a.acc_new[k][x], want.v[R_AX + x][k], "an acceleration");
                assert_near(c, a.jerk[k][x], want.v[R_JX + x][k], "a jerk");
                assert_near(c, a.snap[k][x], want.v[R_SX + x][k], "a snap");
            }
            assert_near(c, a.pot[k], want.v[R_POT][k], "a potential");
            const int none = want.nearest[k] == GRAVEL_NONE;
            if (!none)
                assert_int_equal(a.nearest[k], t->b.id[want.nearest[k]]);
            if (none)
                assert_true(isinf(a.r2[k]));
        }
        t->compared++;
        results_free(&want);
    }
    bodies_free(&sinks);
    bodies_free(&sources);
}

static inline void other(truth *t)
{
    caller *const c = &t->c;
    const double time = one_in(c, 9) ? bad_number(c) : 0.2 * some_number(c);
    double pos[3];
    int id = 0;
    const int at = any_int(c) % (2 * MOST);
    switch (below(c, 3)) {
    case 0:
        t->w->no_predict(NAN, any_int(c));
        t->timed = t->time_is_refused = 0;
        break;
    case 1:
        t->w->read(at, &id, pos);
        if (at >= 0 && at < t->sources)
            assert_int_equal(id, t->b.id[at]);
        break;
    default:
        t->w->predict(time, any_int(c));
        t->time_is_refused = !isfinite(time);
        t->timed |= isfinite(time);
        t->time = isfinite(time) ? time : t->time;
    }
}

static inline void random_calls(const way *w)
{
    truth t = {.c = caller_new(3000), .w = w, .b = bodies_empty(MOST)};
    for (int k = 0; k < MOST; k++)
        t.b.id[k] = -1;
    while (caller_goes_on(&t.c)) {
        const int what = below(&t.c, 10);
        if (what < 6)
            set_source(&t);
        else if (what < 8)
            ask(&t);
        else
            other(&t);
    }
    assert_true(t.compared > t.c.turns / 50);
    bodies_free(&t.b);
}

#endif
