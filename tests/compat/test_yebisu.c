/* libgravel_yebisu beside the reference: structs in and out, softening of the sinks and of the sources, the sign of the
 * potential, calls in the wrong order. */
#include "order6_test.h"

#include "gravel/yebisu.h"

enum { N = 120, NI = 40 };
static const double TIME = 0.0625;

static void set(const bodies *b, size_t k, int address, double eps2)
{
    double d[6][3];
    for (int j = 0; j < 6; j++)
        row(b, j, k, d[j]);
    set_jp_2(address, d[0], d[1], d[2], d[3], d[4], d[5], b->m[k], b->t[k], b->id[k], eps2);
}

static double length_of(size_t source)
{
    return 0.02 * (double)(source % 5);
}

static void make_predictors(const bodies *b, predictor *p)
{
    for (size_t i = 0; i < NI; i++) {
        row(b, 0, i, p[i].pos);
        row(b, 1, i, p[i].vel);
        row(b, 2, i, p[i].acc);
        p[i].id = b->id[i];
        p[i].mass = NAN;
        p[i].eps2 = 0.01 * 0.01 * (double)((i % 7 + 1) * (i % 7 + 1));
    }
}

static void assert_answer(const Force *f, const gv_ref_particles *sinks, const gv_ref_particles *sources, double eps,
                          const results *want, const char *what)
{
    results got = results_new(NI, 0);
    for (size_t i = 0; i < NI; i++) {
        got.v[R_POT][i] = -f[i].phi; /* positive */
        for (int c = 0; c < 3; c++) {
            got.v[R_AX + c][i] = f[i].acc[c];
            got.v[R_JX + c][i] = f[i].jrk[c];
            got.v[R_SX + c][i] = f[i].snp[c];
        }
        const double r2 = want->distance[i] * want->distance[i];
        assert_int_equal(f[i].nnb_id, want->nearest_id[i]);
        assert_true(fabs(f[i].nnb_r2 - r2) <= 1e-5 * r2); /* a float */
    }
    assert_forces(&got, want, 6, precision_here(), sinks, sources, eps, what);
    results_free(&got);
}

static void bad_use(void **state)
{
    (void)state;
    bodies b = bodies_new(N, 50);
    predictor p[NI];
    Force f[NI];
    said s;
    make_predictors(&b, p);
    said_begin(&s);
    calc_force_on_predictors(NI, p, f, N);
    assert_said(&s, "gravel_yebisu: error: calc_force_on_predictors: initialize was not called, or failed");
    assert_true(isnan(f[NI - 1].phi) && isnan(f[0].snp[2]) && f[0].nnb_id == -1);
    assert_int_equal(setenv("GRAVEL_COMPAT_DEVICES", "no such device", 1), 0);
    said_begin(&s);
    initialize(N);
    assert_said(&s, "initialize: ");
    assert_int_equal(unsetenv("GRAVEL_COMPAT_DEVICES"), 0);
    SKIP_WITHOUT_DEVICE();
    initialize_special(-1, NULL);
    said_begin(&s);
    calc_force_on_predictors_epsj(NI, NULL, f, N);
    assert_said(&s, "calc_force_on_predictors_epsj: no predictors");
    static const int wrong[2] = {-1, INT_MAX}; /* there is none, or it is beyond memory */
    for (int k = 0; k < 2; k++) {
        said_begin(&s);
        set(&b, 0, wrong[k], 0);
        assert_said(&s, "gravel_yebisu: error: set_jp_2: ");
    }
    said_begin(&s);
    pick_up_predictor_2(0, &p[0]);
    assert_said(&s, "pick_up_predictor_2: address 0");
    calc_force_on_predictors(NI, p, f, N); /* no sources */
    assert_true(f[3].phi == 0 && f[3].acc[1] == 0 && f[3].nnb_id == -1 && isinf(f[3].nnb_r2));
    bodies_free(&b);
}

static void forces(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    bodies b = bodies_new(N, 51);
    predictor p[NI], one;
    Force f[NI];
    double of_sinks[NI], of_sources[N];
    b.id[2] = INT_MAX;
    b.id[6] = INT_MIN;
    initialize(N);
    for (size_t k = N; k-- > 0;) {
        of_sources[k] = length_of(k);
        set(&b, k, (int)k, length_of(k) * length_of(k));
    }
    predict_all(TIME, N);
    bodies now = predicted(&b, TIME);
    const gv_ref_particles i = view_of(&now, 0, NI), j = view_of(&now, 0, N);
    make_predictors(&now, p);
    for (size_t k = 0; k < NI; k++)
        of_sinks[k] = sqrt(p[k].eps2);
    calc_force_on_predictors(NI, p, f, N);
    results want = reference_softened(&i, &j, GV_REF_SOFTEN_SINKS, of_sinks);
    assert_answer(f, &i, &j, 0.01, &want, "softening of sinks");
    results_free(&want);

    calc_force_on_predictors_epsj(NI, p, f, N);
    want = reference_softened(&i, &j, GV_REF_SOFTEN_SOURCES, of_sources);
    assert_answer(f, &i, &j, 0, &want, "softening of sources");
    results_free(&want);

    /* one source anew after predict_all: it is predicted, too */
    b.d[0][1][11] += 0.25;
    set(&b, 11, 11, length_of(11) * length_of(11));
    bodies moved = predicted(&b, TIME);
    const gv_ref_particles sources = view_of(&moved, 0, N);
    calc_force_on_predictors(NI, p, f, N);
    want = reference_softened(&i, &sources, GV_REF_SOFTEN_SINKS, of_sinks);
    assert_answer(f, &i, &sources, 0.01, &want, "set after predict_all");
    results_free(&want);
    bodies_free(&moved);
    b.d[0][1][11] -= 0.25;
    set(&b, 11, 11, length_of(11) * length_of(11));

    of_sources[30] = 0.5; /* changed between calls */
    set(&b, 30, 30, 0.25);
    calc_force_on_predictors_epsj(NI, p, f, N);
    want = reference_softened(&i, &j, GV_REF_SOFTEN_SOURCES, of_sources);
    assert_answer(f, &i, &j, 0, &want, "softening changed");
    results_free(&want);

    pick_up_predictor_2(6, &one);
    assert_true(one.id == INT_MIN && one.mass == b.m[6] && one.eps2 == length_of(6) * length_of(6));
    for (int c = 0; c < 3; c++) {
        assert_true(fabs(one.pos[c] - now.d[0][c][6]) <= 1e-14);
        assert_true(fabs(one.acc[c] - now.d[2][c][6]) <= 1e-14);
    }
    no_predict_all(TIME, N);
    pick_up_predictor_2(6, &one);
    assert_true(one.vel[1] == b.d[1][1][6]);
    for (size_t k = 0; k < NI; k++)
        p[k].id = 1e12; /* no id: nothing is left out */
    calc_force_on_predictors(1, p, f, 1);
    bodies_free(&now);
    bodies_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_use), /* the first: nothing is open */
        cmocka_unit_test(forces),
    };
    setenv("GRAVEL_COMPAT_PIPES", "16", 1); /* all calls in pieces */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
