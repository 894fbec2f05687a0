/* A caller of GRAPE-6's interface that does everything in any order. */
#include "g6_test.h"

#include "random_caller.h"

enum { MOST = 100, SINKS = 12, PIPES = 9, LISTS = 5, IDLE = 0, FAILED, NOTHING, ASKED };

/* What the library should know. */
typedef struct truth {
    caller c;
    bodies b;
    int sources, refused[MOST], is_open, timed;
    double time;
    /* the first half under way */
    int stage, ni, nj, lists, compared;
    bodies seen, sinks;
    double eps2, h2[SINKS];
    int index[SINKS];
} truth;

static void forget(truth *t)
{
    memset(t->b.block, 0, 20 * MOST * sizeof(double));
    memset(t->refused, 0, sizeof t->refused);
    for (int k = 0; k < MOST; k++)
        t->b.id[k] = -1;
    t->sources = t->timed = t->stage = t->lists = 0;
}

/* ------------------------------------------------------------------------- sources */

static void set_source(truth *t)
{
    static const double factor[5] = {1, 1, 0.5, 1.0 / 6, 1.0 / 18};
    caller *const c = &t->c;
    int at = one_in(c, 40)   ? -1 - below(c, 9)
             : one_in(c, 30) ? INT_MIN
                             : below(c, one_in(c, 9) ? MOST : t->sources + 1) % MOST;
    int index = any_int(c), zero = 0;
    double d[5][3], *p[5], mass = 1 + some_number(c), time = 0.1 * some_number(c), dt = NAN;
    for (int k = 0; k < 5; k++) {
        three(c, d[k]);
        for (int a = 0; a < 3; a++)
            d[k][a] *= factor[k];
        p[k] = one_in(c, 5) ? NULL : d[k];
    }
    const int bad = one_in(c, 80); /* forces fail until it is set again */
    if (bad && one_in(c, 2))
        mass = bad_number(c);
    else if (bad)
        (p[0] = d[0])[below(c, 3)] = bad_number(c);
    const int kind = below(c, 4),
              got = kind == 0   ? g6_set_j_particle_mxonly(any_int(c), at, index, mass, p[0])
                    : kind == 1 ? g6_set_j_particle_(NULL, &at, &index, &time, &dt, &mass, p[4], p[3], p[2], p[1], p[0])
                    : kind == 2
                        ? g6_set_j_particle_multisend_mxfast_(&zero, &at, &at, &index, &mass, p[0])
                        : g6_set_j_particle(any_int(c), at, index, time, dt, mass, p[4], p[3], p[2], p[1], p[0]);
    assert_int_equal(got, t->is_open && at >= 0 && !bad ? 0 : -1);
    if (!t->is_open || at < 0)
        return;
    t->refused[at] = bad;
    if (bad)
        return;
    const int alone = kind == 0 || kind == 2;
    for (int k = 0; k < 5; k++)
        for (int a = 0; a < 3; a++)
            t->b.d[k][a][at] = p[k] && (k == 0 || !alone) ? d[k][a] / factor[k] : 0;
    t->b.m[at] = mass;
    t->b.t[at] = alone ? 0 : time;
    t->b.id[at] = index;
    t->sources = at >= t->sources ? at + 1 : t->sources;
}

static bodies sources_now(const truth *t)
{
    bodies b = t->timed ? predicted(&t->b, t->time) : bodies_empty(MOST);
    if (!t->timed) {
        memcpy(b.block, t->b.block, 20 * MOST * sizeof(double));
        memcpy(b.id, t->b.id, MOST * sizeof *b.id);
    }
    return b;
}

static void read_sources(truth *t)
{
    caller *const c = &t->c;
    const int nj = below(c, MOST);
    double(*x)[3] = place((size_t)nj * sizeof *x), (*v)[3] = one_in(c, 4) ? NULL : place((size_t)nj * sizeof *v);
    bodies now = sources_now(t);
    g6_get_predicted_j_particles(any_int(c), nj, x, v);
    for (int k = 0; k < nj && t->is_open && nj <= t->sources; k++)
        for (int a = 0; a < 3; a++) {
            assert_near(c, x[k][a], now.d[0][a][k], "a predicted position");
            if (v)
                assert_near(c, v[k][a], now.d[1][a][k], "a predicted velocity");
        }
    g6_get_predicted_j_particles(0, -nj, NULL, NULL);
    g6_get_predicted_j_particles(0, INT_MAX, NULL, NULL);
    double pos[3], mass = 0;
    int id = 0;
    const int at = any_int(c) % (2 * MOST);
    get_j_part_data(at, t->sources, pos, NULL, NULL, NULL, NULL, NULL, &mass, NULL, &id);
    if (t->is_open && at >= 0 && at < t->sources) {
        assert_near(c, pos[0], t->b.d[0][0][at], "a position");
        assert_int_equal(id, t->b.id[at]);
    }
    free(x);
    free(v);
    bodies_free(&now);
}

/* ------------------------------------------------------------------------- calls */

static void first(truth *t)
{
    caller *const c = &t->c;
    const int ni = one_in(c, 20) ? -1 - below(c, 3) : below(c, SINKS + 1), n_rows = ni > 0 ? ni : 0;
    const int nj = one_in(c, 20) ? INT_MIN : one_in(c, 20) ? INT_MAX : below(c, MOST);
    double(*x)[3] = one_in(c, 20) ? NULL : place((size_t)n_rows * sizeof *x);
    double(*v)[3] = one_in(c, 6) ? NULL : place((size_t)n_rows * sizeof *v);
    double *const h2 = one_in(c, 6) ? NULL : place((size_t)n_rows * sizeof *h2);
    int *const index = place((size_t)n_rows * sizeof *index);
    double eps2 = one_in(c, 20) ? -1 : one_in(c, 20) ? NAN : 0.01 + 0.005 * some_number(c);
    int bad = !(eps2 >= 0);
    if (t->is_open) {
        bodies_free(&t->seen);
        t->seen = sources_now(t);
    }
    for (int i = 0; i < n_rows; i++) {
        index[i] = one_in(c, 2) ? any_int(c) : t->b.id[below(c, MOST)];
        for (int a = 0; a < 3; a++) {
            const double at = some_number(c), speed = some_number(c);
            if (x)
                x[i][a] = at;
            if (v)
                v[i][a] = speed;
            if (t->is_open) {
                t->sinks.d[0][a][i] = at;
                t->sinks.d[1][a][i] = v ? speed : 0;
            }
        }
        if (h2)
            h2[i] = one_in(c, 9) ? bad_number(c) : 0.3 * some_number(c);
        if (t->is_open) {
            t->index[i] = index[i];
            t->h2[i] = h2 && h2[i] > 0 && isfinite(h2[i]) ? h2[i] : 0;
        }
    }
    const int spoilt = n_rows > 0 && x && one_in(c, 20);
    if (spoilt)
        (v && one_in(c, 2) ? v : x)[below(c, n_rows)][below(c, 3)] = bad_number(c);
    int id = any_int(c), mode = 0;
    if (one_in(c, 2))
        g6calc_firsthalf(id, nj, ni, index, x, v, NULL, NULL, NULL, eps2, h2);
    else if (one_in(c, 2))
        g6calc_firsthalf_(&id, &(int){nj}, &(int){ni}, index, x, v, NULL, NULL, NULL, &eps2, h2);
    else
        g6calc_firsthalf0(id, nj, ni, index, x, v, NULL, NULL, NULL, &eps2, h2, mode);
    if (t->is_open) {
        bad |= !x;
        t->eps2 = eps2;
        t->ni = ni;
        t->nj = nj < t->sources ? nj : t->sources;
        t->lists = 0;
        int refused = 0;
        for (int k = 0; k < MOST && k < nj; k++)
            refused |= t->refused[k];
        t->stage = ni < 0 || nj < 0 || ni > PIPES || (ni > 0 && bad) ? FAILED
                   : ni == 0                                         ? NOTHING
                   : refused || spoilt                               ? FAILED
                                                                     : ASKED;
    }
    for (int i = 0; i < n_rows; i++) /* they were copied */
        index[i] = 0;
    free(x);
    free(v);
    free(h2);
    free(index);
}

static results reference_of(const truth *t)
{
    double radius[SINKS];
    gv_ref_particles sinks = view_of(&t->sinks, 0, (size_t)t->ni);
    const gv_ref_particles sources = view_of(&t->seen, 0, (size_t)t->nj);
    sinks.id = t->index;
    for (int i = 0; i < SINKS; i++)
        radius[i] = sqrt(t->h2[i]);
    return reference_run(4, &sinks, &sources, sqrt(t->eps2), radius, LISTS);
}

static void last(truth *t)
{
    caller *const c = &t->c;
    const int ni = one_in(c, 12) ? below(c, SINKS) : t->ni, kind = below(c, 6), n_rows = ni > 0 ? ni : 0;
    const size_t n = (size_t)n_rows;
    double(*acc)[3] = one_in(c, 9) ? NULL : place(n * sizeof *acc),
    (*jerk)[3] = one_in(c, 9) ? NULL : place(n * sizeof *jerk);
    double *const pot = one_in(c, 9) ? NULL : place(n * sizeof *pot);
    int *const nearest = place(n * sizeof *nearest);
    float *const distance = place(n * sizeof *distance);
    const int got =
        kind == 0   ? g6calc_lasthalf(0, 0, ni, NULL, NULL, NULL, NAN, NULL, acc, jerk, pot)
        : kind == 1 ? g6calc_lasthalf2(0, 0, ni, NULL, NULL, NULL, NAN, NULL, acc, jerk, pot, nearest)
        : kind == 2 ? g6calc_lasthalf2p(0, 0, ni, NULL, NULL, NULL, NAN, NULL, acc, jerk, pot, nearest, distance)
        : kind == 3 ? g6calc_lasthalfn(0, 0, ni, NULL, NULL, NULL, NAN, NULL, acc, jerk, pot)
        : kind == 4 ? g6calc_lasthalf2n(0, 0, ni, NULL, NULL, NULL, NAN, NULL, acc, jerk, pot, nearest)
                    : g6calc_lasthalf2np(0, 0, ni, NULL, NULL, NULL, NAN, NULL, acc, jerk, pot, nearest, distance);
    const int works = t->is_open && t->stage >= NOTHING && ni == t->ni;
    assert_int_equal(got, works ? 0 : -1);
    for (int i = 0; i < n_rows && !works; i++)
        assert_true((!acc || isnan(acc[i][0])) && (!jerk || isnan(jerk[i][2])) && (!pot || isnan(pot[i])));
    if (works && t->stage == ASKED) {
        results want = reference_of(t);
        for (int i = 0; i < n_rows; i++) {
            for (int a = 0; a < 3; a++) {
                if (acc)
                    assert_near(c, acc[i][a], want.v[R_AX + a][i], "an acceleration");
                if (jerk)
                    assert_near(c, jerk[i][a], want.v[R_JX + a][i], "a jerk");
            }
            if (pot)
                assert_near(c, pot[i], want.v[R_POT][i], "a potential");
            if (kind == 0 || kind == 3)
                continue;
            assert_int_equal(nearest[i], want.nearest[i] == GRAVEL_NONE ? 0 : t->seen.id[want.nearest[i]]);
            if ((kind == 2 || kind == 5) && want.nearest[i] != GRAVEL_NONE)
                assert_true(fabs((double)distance[i] - want.distance[i]) <= 1e-6 * want.distance[i]);
        }
        t->lists |= kind >= 3;
        t->compared++;
        results_free(&want);
    }
    free(acc);
    free(jerk);
    free(pot);
    free(nearest);
    free(distance);
}

static void read_lists(truth *t)
{
    caller *const c = &t->c;
    int list[MOST], n = 0;
    if (one_in(c, 3)) {
        const int got = g6_read_neighbour_list(any_int(c));
        if (!t->is_open || t->stage < NOTHING)
            assert_int_equal(got, -1);
        t->lists |= t->is_open && t->stage == ASKED;
    }
    const int sink = one_in(c, 9) ? any_int(c) : below(c, SINKS), most = one_in(c, 9) ? -1 : below(c, 2 * LISTS);
    const int got = g6_get_neighbour_list(0, sink, most, &n, list);
    const int works = t->is_open && t->lists && sink >= 0 && sink < t->ni && most >= 0;
    assert_int_equal(g6_get_neighbour_list(0, 0, 3, NULL, list), -1);
    assert_int_equal(g6_get_neighbour_list(0, 0, 3, &(int){0}, NULL), -1);
    if (!works) {
        assert_int_equal(got, -1);
        return;
    }
    results want = reference_of(t);
    const int count = (int)want.count[sink], given = count < LISTS  ? (count < most ? count : most)
                                                     : most < LISTS ? most
                                                                    : LISTS;
    assert_int_equal(n, count);
    assert_int_equal(got, given < count);
    for (int k = 0; k < given; k++) {
        int found = 0;
        for (int e = 0; e < count && e < LISTS; e++)
            found |= t->seen.id[want.list[sink * LISTS + e]] == list[k];
        assert_true(found);
    }
    results_free(&want);
}

/* ------------------------------------------------------------------------- the rest */

static void other(truth *t)
{
    caller *const c = &t->c;
    double time = one_in(c, 5) ? bad_number(c) : 0.2 * some_number(c);
    switch (below(c, 12)) {
    case 0:
        assert_int_equal(g6_close(any_int(c)), 0);
        t->is_open = 0;
        forget(t);
        break;
    case 1:
    case 2:
    case 3:
    case 8:
    case 9: /* a second time nothing happens */
        assert_int_equal(g6_open_(NULL), 0);
        t->is_open = 1;
        break;
    case 4:
        assert_int_equal(g6_reset(any_int(c)), 0);
        t->stage = t->lists = 0;
        break;
    case 5:
        assert_int_equal(g6_npipes(), PIPES);
        g6_set_neighbour_list_sort_mode(one_in(c, 2));
        break;
    case 6: /* functions that need do nothing */
        g6_set_tunit(any_int(c));
        g6_initialize_jp_buffer(0, any_int(c));
        g6_flush_jp_buffer(0);
        g6_setup_njdata(0, any_int(c));
        g6_dump(0, any_int(c), NULL, NULL, NULL);
        break;
    case 7: { /* sinks one by one, more than there are */
        double x[3] = {0, 0, 0};
        const int room = t->is_open ? 0 : -1;
        assert_int_equal(g6_set_nip(0, PIPES), room);
        assert_int_equal(g6_set_nip(0, any_int(c) | 1 << 20), -1);
        assert_int_equal(g6_set_i_particle(0, below(c, PIPES), any_int(c), x, NULL, 0.01, 0), room);
        assert_int_equal(g6_set_i_particle(0, PIPES, 1, x, x, 0.01, 0), -1);
        assert_int_equal(g6_set_i_particle(0, INT_MIN, 1, x, x, 0.01, 0), -1);
        assert_int_equal(g6_set_i_particle(0, 0, 1, NULL, x, 0.01, 0), -1);
        break;
    }
    default:
        assert_int_equal(g6_set_ti(any_int(c), time), t->is_open && isfinite(time) ? 0 : -1);
        if (t->is_open && isfinite(time)) {
            t->timed = 1;
            t->time = time;
        }
    }
}

static void in_any_order(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    truth t = {
        .c = caller_new(4000), .b = bodies_empty(MOST), .seen = bodies_empty(MOST), .sinks = bodies_empty(SINKS)};
    setenv("GRAVEL_COMPAT_PIPES", "9", 1);
    setenv("GRAVEL_COMPAT_NEIGHBOURS", "5", 1);
    gv_compat_set_level(GV_COMPAT_NONE);
    forget(&t);
    while (caller_goes_on(&t.c)) {
        const int what = below(&t.c, 20);
        if (what < 9)
            set_source(&t);
        else if (what < 12)
            first(&t);
        else if (what < 15)
            last(&t);
        else if (what < 17)
            read_lists(&t);
        else if (what < 18)
            read_sources(&t);
        else
            other(&t);
    }
    assert_int_equal(g6_close(0), 0);
    assert_true(t.compared > t.c.turns / 50);
    bodies_free(&t.b);
    bodies_free(&t.seen);
    bodies_free(&t.sinks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_any_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
