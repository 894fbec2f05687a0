/* libgravel_6th as MI6 calls it, beside the reference: any order of addresses, prediction, a softening per sink, ids of
 * the whole range, calls in the wrong order. */
#include "order6_test.h"

#include "gravel/6th.h"

enum { N = 150, NI = 50 };
static const double TIME = 0.125;

typedef double vec3[3];

/* A call of calc_force_on_predictors. */
typedef struct predictors {
    int n, *ids, nnb[NI];
    vec3 pos[NI], vel[NI], acc[NI], acc_new[NI], jrk[NI], snp[NI], crk[NI];
    double mass[NI], eps2[NI], phi[NI], nnb_r2[NI];
} predictors;

static predictors predictors_new(const bodies *b, size_t first, int n)
{
    predictors p;
    memset(&p, 0xff, sizeof p); /* not numbers */
    p.n = n;
    p.ids = b->id + first;
    for (int i = 0; i < n; i++) {
        row(b, 0, first + (size_t)i, p.pos[i]);
        row(b, 1, first + (size_t)i, p.vel[i]);
        row(b, 2, first + (size_t)i, p.acc[i]);
        p.eps2[i] = 0;
    }
    return p;
}

static void call(predictors *p, int nj)
{
    calc_force_on_predictors(p->n, nj, p->ids, p->pos, p->vel, p->acc, p->mass, p->eps2, p->acc_new, p->jrk, p->snp,
                             p->crk, p->phi, p->nnb, p->nnb_r2);
}

static void set(const bodies *b, size_t k, int address)
{
    double d[6][3];
    for (int j = 0; j < 6; j++)
        row(b, j, k, d[j]);
    set_j_particle(address, d[0], d[1], d[2], d[3], d[4], d[5], b->m[k], b->t[k], b->id[k], 1e-4 * (double)k);
}

/* Backwards, and some of them twice: the last counts. */
static void set_all(const bodies *b)
{
    for (size_t k = 0; k < b->n; k += 3)
        set(b, (k + 1) % b->n, (int)k);
    for (size_t k = b->n; k-- > 0;)
        set(b, k, (int)k);
}

static void assert_call(const predictors *p, const gv_ref_particles *sinks, const gv_ref_particles *sources, double eps,
                        const results *want, const char *what)
{
    const size_t n = (size_t)p->n;
    results got = results_new(n, 0);
    for (size_t i = 0; i < n; i++) {
        got.v[R_POT][i] = p->phi[i];
        for (int c = 0; c < 3; c++) {
            got.v[R_AX + c][i] = p->acc_new[i][c];
            got.v[R_JX + c][i] = p->jrk[i][c];
            got.v[R_SX + c][i] = p->snp[i][c];
            assert_true(p->crk[i][c] == 0);
        }
    }
    assert_forces(&got, want, 6, precision_here(), sinks, sources, eps, what);
    for (size_t i = 0; i < n; i++) {
        const double r2 = want->distance[i] * want->distance[i] + p->eps2[i];
        assert_int_equal(p->nnb[i], want->nearest_id[i]);
        assert_true(fabs(p->nnb_r2[i] - r2) <= 1e-5 * r2); /* float, where there is no double */
    }
    results_free(&got);
}

/* ------------------------------------------------------------------- cases */

/* The first: nothing is open yet, and there is no device. */
static void bad_use(void **state)
{
    (void)state;
    bodies b = bodies_new(3, 40);
    predictors p = predictors_new(&b, 0, 2);
    int id = 77;
    double mass = 77, eps2, v[3];
    said s;

    said_begin(&s);
    call(&p, 3);
    assert_said(&s, "gravel_6th: error: calc_force_on_predictors: initialize was not called, or failed");
    assert_true(isnan(p.acc_new[1][2]) && isnan(p.snp[0][0]) && isnan(p.phi[1]) && p.nnb[1] == 0);
    said_begin(&s);
    set(&b, 0, 0);
    predict_all(1, 1);
    pick_up_predictor_2(0, &id, &mass, &eps2, v, v, v);
    said_end(&s);
    assert_int_equal(s.lines, 3);
    assert_true(id == 77 && mass == 77);
    assert_int_equal(setenv("GRAVEL_COMPAT_DEVICES", "no such device", 1), 0);
    said_begin(&s);
    initialize();
    assert_said(&s, "initialize: ");
    assert_int_equal(unsetenv("GRAVEL_COMPAT_DEVICES"), 0);
    SKIP_WITHOUT_DEVICE();
    int none = 4711;
    said_begin(&s);
    initialize_special(1, &none);
    assert_said(&s, "initialize_special: there is no device 4711");
    none = 0;
    initialize_special(1, &none);
    initialize();
    said_begin(&s);
    set(&b, 0, -1);
    assert_said(&s, "set_j_particle: address -1");
    said_begin(&s);
    set(&b, 0, INT_MAX);
    assert_said(&s, "set_j_particle: "); /* beyond memory */
    set(&b, 0, 0);
    said_begin(&s);
    pick_up_predictor_2(1, &id, &mass, &eps2, v, v, v);
    assert_said(&s, "pick_up_predictor_2: address 1");
    said_begin(&s);
    p.eps2[1] = -1;
    call(&p, 1);
    assert_said(&s, "eps2 of sink 1 is -1");
    assert_true(isnan(p.acc_new[0][0]));
    said_begin(&s);
    call(&p, -1);
    assert_said(&s, "nj is -1");
    p.eps2[1] = 0;
    b.d[1][2][0] = NAN;
    said_begin(&s);
    set(&b, 0, 0);
    assert_said(&s, "set_j_particle: ");
    said_begin(&s);
    call(&p, 1); /* callers do not see that setting a source failed */
    assert_said(&s, "calc_force_on_predictors: ");
    assert_true(isnan(p.acc_new[1][0]));
    b.d[1][2][0] = 0.5;
    set(&b, 0, 0);
    call(&p, 1);
    assert_true(isfinite(p.acc_new[1][0]) && isfinite(p.snp[1][2]));
    bodies_free(&b);
}

static void forces_and_prediction(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    bodies b = bodies_new(N, 41);
    b.id[3] = INT_MAX;
    b.id[4] = INT_MIN;
    b.id[5] = 16777217; /* no float */
    initialize();
    set_all(&b);
    predict_all(TIME, N);
    bodies now = predicted(&b, TIME);
    const gv_ref_particles i = view_of(&now, 0, NI), j = view_of(&now, 0, N);
    predictors p = predictors_new(&now, 0, NI);
    call(&p, N);
    results want = reference_run(6, &i, &j, 0, NULL, 0);
    assert_call(&p, &i, &j, 0, &want, "eps = 0");
    results_free(&want);

    double eps[NI];
    for (int k = 0; k < NI; k++)
        p.eps2[k] = 1e-4 * (k + 1) * (k + 1);
    for (int k = 0; k < NI; k++)
        eps[k] = 0.01 * (k + 1);
    call(&p, N);
    want = reference_softened(&i, &j, GV_REF_SOFTEN_SINKS, eps);
    assert_call(&p, &i, &j, 0.01, &want, "a softening each");
    results_free(&want);

    /* one source anew after predict_all: it is predicted, too */
    b.d[0][0][7] += 0.25;
    set(&b, 7, 7);
    bodies moved = predicted(&b, TIME);
    const gv_ref_particles k = view_of(&moved, 0, N);
    for (int s = 0; s < NI; s++)
        p.eps2[s] = 0.01;
    call(&p, N);
    want = reference_run(6, &i, &k, 0.1, NULL, 0);
    assert_call(&p, &i, &k, 0.1, &want, "set after predict_all");
    results_free(&want);
    bodies_free(&moved);
    bodies_free(&now);
    bodies_free(&b);
}

static void predictors_are_picked_up(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    bodies b = bodies_new(N, 42);
    b.id[9] = INT_MIN;
    initialize();
    set_all(&b);
    bodies now = predicted(&b, -0.5);
    for (int raw = 0; raw < 2; raw++) {
        if (raw)
            no_predict_all(-0.5, N);
        else
            predict_all(-0.5, N);
        for (size_t k = 0; k < N; k += 9) {
            int id;
            double mass, eps2, d[3][3];
            pick_up_predictor_2((int)k, &id, &mass, &eps2, d[0], d[1], d[2]);
            assert_int_equal(id, b.id[k]);
            assert_true(mass == b.m[k] && eps2 == 1e-4 * (double)k);
            for (int v = 0; v < 9; v++) {
                const double want = (raw ? &b : &now)->d[v / 3][v % 3][k];
                assert_true(fabs(d[v / 3][v % 3] - want) <= 1e-15 * 8); /* sums of six terms below 2, in double */
            }
        }
    }
    /* forces of sources as they were set */
    const gv_ref_particles i = view_of(&b, 10, NI), j = view_of(&b, 0, N);
    predictors p = predictors_new(&b, 10, NI);
    call(&p, N);
    results want = reference_run(6, &i, &j, 0, NULL, 0);
    assert_call(&p, &i, &j, 0, &want, "no_predict_all");
    results_free(&want);
    bodies_free(&now);
    bodies_free(&b);
}

/* Fewer sources than were set, none at all, far addresses, ids that match nothing. */
static void counts_and_ids(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    bodies b = bodies_new(N, 43);
    initialize();
    no_predict_all(0, 0);
    set_all(&b);
    const gv_ref_particles first = view_of(&b, 0, 20);
    gv_ref_particles i = view_of(&b, 0, 30);
    int32_t nobody[NI];
    memset(nobody, 0xff, sizeof nobody);
    predictors p = predictors_new(&b, 0, 30);
    i.id = p.ids = nobody;
    call(&p, 20);
    results want = reference_run(6, &i, &first, 0, NULL, 0); /* a body at the place of its source: no force, but near */
    assert_call(&p, &i, &first, 0, &want, "ids -1");
    assert_true(p.nnb_r2[3] == 0 && p.nnb[3] == 3);
    results_free(&want);
    call(&p, 0);
    assert_true(p.acc_new[29][0] == 0 && p.phi[29] == 0 && p.nnb[29] == 0 && isinf(p.nnb_r2[29]));
    p.n = 0;
    call(&p, N);

    set(&b, 0, 5000); /* those between are nothing */
    bodies far = bodies_empty(5001);
    for (size_t k = 0; k < far.n; k++) {
        far.id[k] = k < N ? b.id[k] : -1;
        far.m[k] = k < N ? b.m[k] : 0;
        for (int d = 0; d < 9; d++)
            far.d[d / 3][d % 3][k] = k < N ? b.d[d / 3][d % 3][k] : 0;
    }
    far.m[5000] = b.m[0];
    far.id[5000] = b.id[0];
    for (int d = 0; d < 9; d++)
        far.d[d / 3][d % 3][5000] = b.d[d / 3][d % 3][0];
    p = predictors_new(&b, 0, 10);
    const gv_ref_particles ten = view_of(&b, 0, 10), all = view_of(&far, 0, far.n);
    call(&p, 6000);
    want = reference_run(6, &ten, &all, 0, NULL, 0);
    assert_call(&p, &ten, &all, 0, &want, "far addresses");
    results_free(&want);
    bodies_free(&far);
    bodies_free(&b);
}

static void one_round(void *user, int number)
{
    const bodies *b = user;
    predictors p = predictors_new(b, (size_t)number % 100, 1 + number % 3);
    set(b, (size_t)number % b->n, (int)((size_t)number % b->n));
    predict_all(1e-6 * number, N);
    for (int i = 0; i < p.n; i++)
        p.eps2[i] = 0.01 * (number % 2 + 1);
    call(&p, N);
}

static void memory_does_not_grow(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    bodies b = bodies_new(N, 45);
    initialize();
    /* the journal of writes has grown to its bound, 4096 entries; tables that double up to a bound take 40 kB more */
    assert_no_growth(5000, 3000, 24, one_round, &b);
    bodies_free(&b);
}

/* In a process of its own, since an open library has its settings. */
static int with_other_settings(void)
{
    bodies b = bodies_new(N, 44);
    predictors p = predictors_new(&b, 0, NI);
    const gv_ref_particles i = view_of(&b, 0, NI), j = view_of(&b, 0, N);
    initialize();
    set_all(&b);
    for (int k = 0; k < NI; k++)
        p.eps2[k] = 0.25;
    call(&p, N);
    results want = reference_run(6, &i, &j, 0.5, NULL, 0);
    int wrong = 0;
    for (int k = 0; k < NI; k++) {
        const double r2 = want.distance[k] * want.distance[k];
        wrong |= !(fabs(p.phi[k] + want.v[R_POT][k]) <= 1e-4 * p.phi[k]) || !(fabs(p.nnb_r2[k] - r2) <= 1e-4 * r2);
    }
    results_free(&want);
    bodies_free(&b);
    return wrong;
}

static void settings(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    assert_int_equal(run_again("GRAVEL_COMPAT_POTENTIAL=positive GRAVEL_COMPAT_NEAREST=unsoftened "
                               "GRAVEL_COMPAT_PRECISION=ds",
                               "settings"),
                     0);
    assert_int_equal(run_again("GRAVEL_COMPAT_POTENTIAL=positive GRAVEL_COMPAT_NEAREST=unsoftened "
                               "GRAVEL_COMPAT_HOST=always",
                               "settings"),
                     0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_use),
        cmocka_unit_test(forces_and_prediction),
        cmocka_unit_test(predictors_are_picked_up),
        cmocka_unit_test(counts_and_ids),
        cmocka_unit_test(settings),
        cmocka_unit_test(memory_does_not_grow),
    };
    (void)argv;
    if (argc > 1)
        return with_other_settings();
    setenv("GRAVEL_COMPAT_PIPES", "16", 1); /* all calls in pieces */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
