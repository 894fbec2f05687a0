/* Sources of gravel_direct predicted to a time, against the reference. */
#include "problem.h"

/* Derivatives beyond what the order carries are not sent: 2 (acc), 4 (snap), 5 (crackle). */
static int highest_of(int order)
{
    return order == 2 ? 2 : order == 4 ? 4 : 5;
}

static void predict_reference(const bodies *b, int order, double t, bodies *out)
{
    const double *d[6][3];
    double *p[3][3];
    for (int k = 0; k < 6; k++)
        for (int c = 0; c < 3; c++) {
            d[k][c] = k <= highest_of(order) ? b->d[k][c] : NULL;
            if (k < 3)
                p[k][c] = out->d[k][c];
        }
    assert_int_equal(gv_ref_predict(GV_REF_LONG_DOUBLE, b->n, d, b->t, t, p), 0);
    memcpy(out->m, b->m, b->n * sizeof(double));
    memcpy(out->id, b->id, b->n * sizeof *b->id);
}

/* Bounds of the errors of predicted position, velocity, acceleration of source i.
 *
 * sp: t, t0 are two-floats, dt is rounded once: u dt; every input is rounded once and Horner's rule adds three
 * roundings a step: 8 u of the sum of |terms|, and u dt times the derivative of the sum for dt.
 * ds: the position's terms x and v dt are two-floats: 8 u^2 each (also u^2 |t| of the time, a two-float too, times
 * |v|); what follows, a dt^2/2 + ..., is float: 8 u of it, and its dt is rounded, u dt times |a dt| + ....
 * dp: as sp with the u of double. */
static void prediction_bounds(gravel_precision p, const bodies *b, size_t i, int c, int order, double t,
                              double bound[3])
{
    static const double factorial[6] = {1, 1, 2, 6, 24, 120};
    const double u = unit_of(p), dt = fabs(t - b->t[i]);
    for (int k = 0; k < 3; k++) {
        double sum = 0, late = 0; /* all terms; those from a dt^2/2 on */
        for (int j = k; j <= highest_of(order); j++) {
            const double term = fabs(b->d[j][c][i]) * pow(dt, j - k) / factorial[j - k];
            sum += term;
            late += j >= k + 2 ? term : 0;
        }
        bound[k] = 12 * u * sum;
        if (p == GRAVEL_DS && k == 0)
            bound[k] = 8 * u * u * (sum + fabs(b->d[1][c][i]) * (fabs(t) + fabs(b->t[i]))) + 12 * u * late;
    }
}

static void assert_predicted(gravel_direct *d, const bodies *b, int order, gravel_precision p, double t)
{
    bodies want = bodies_empty(b->n);
    copy got = copy_of(d, 0, b->n);
    predict_reference(b, order, t, &want);
    for (size_t i = 0; i < b->n; i++) {
        assert_int_equal(got.id[i], b->id[i]);
        for (int c = 0; c < 3; c++) {
            double bound[3];
            prediction_bounds(p, b, i, c, order, t, bound);
            for (int k = 0; k < order / 2; k++)
                if (!(fabs(got.d[k][c][i] - want.d[k][c][i]) <= bound[k]))
                    fail_msg(
                        "%s%d, t %g: source %zu (t0 %g): derivative %d is %.17g, the reference %.17g: error %.3g, at "
                        "most %.3g",
                        gravel_precision_name(p), order, t, i, b->t[i], k, got.d[k][c][i], want.d[k][c][i],
                        fabs(got.d[k][c][i] - want.d[k][c][i]), bound[k]);
        }
    }
    copy_free(&got);
    bodies_free(&want);
}

static void predictions(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 500 };
    static const double time[] = {0.05, -0.03, 0.4, 1.7, 0};
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++)
        for (int order = 2; order <= 6; order += 2) {
            if (!has_precision(context, (gravel_precision)p))
                continue;
            bodies b = bodies_new(N, 11);
            gravel_direct *d =
                direct_new(context, (direct_want){.order = order, .precision = (gravel_precision)p, .prediction = 1});
            direct_write(d, &b, 0, N);
            copy raw = copy_of(d, 0, N); /* before the first set_time: as written */
            assert_stored(&raw, &b, 0, N, order, (gravel_precision)p);
            copy_free(&raw);
            for (size_t k = 0; k < 5; k++) {
                assert_ok(gravel_direct_set_time(d, time[k]));
                assert_predicted(d, &b, order, (gravel_precision)p, time[k]);
            }
            gravel_direct_release(d);
            bodies_free(&b);
        }
}

/* Small steps late in a long run: t = 1000 + 2^-20.  In ds times are two-floats, so nothing is lost of the step; bodies
 * far from the origin keep their place to 1e-14 of the coordinate. */
static void late_small_steps(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 200 };
    for (int p = GRAVEL_DS; p <= GRAVEL_DP; p++) {
        if (!has_precision(context, (gravel_precision)p))
            continue;
        bodies b = bodies_new(N, 12), want = bodies_empty(N);
        const double t = 1000 + ldexp(1, -20);
        for (size_t i = 0; i < N; i++) {
            b.t[i] = 1000 - ldexp(1, -21) * (double)(i % 4);
            b.d[0][0][i] += 100;
        }
        gravel_direct *d =
            direct_new(context, (direct_want){.order = 4, .precision = (gravel_precision)p, .prediction = 1});
        direct_write(d, &b, 0, N);
        assert_ok(gravel_direct_set_time(d, t));
        predict_reference(&b, 4, t, &want);
        copy got = copy_of(d, 0, N);
        for (size_t i = 0; i < N; i++)
            for (int c = 0; c < 3; c++)
                assert_true(fabs(got.d[0][c][i] - want.d[0][c][i]) <= 1e-14 * (c == 0 ? 101 : 1));
        assert_predicted(d, &b, 4, (gravel_precision)p, t);
        copy_free(&got);
        gravel_direct_release(d);
        bodies_free(&want);
        bodies_free(&b);
    }
}

/* Steps so long that their squares leave the range of float: bodies without derivatives stay where they are. */
static void long_steps(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(10, 13);
    for (int k = 3; k < 18; k++)
        memset(b.d[k / 3][k % 3], 0, 10 * sizeof(double));
    for (int p = GRAVEL_SP; p <= GRAVEL_DS; p++) {
        gravel_direct *d =
            direct_new(context, (direct_want){.order = 6, .precision = (gravel_precision)p, .prediction = 1});
        direct_write(d, &b, 0, 10);
        assert_ok(gravel_direct_set_time(d, 1e25));
        copy c = copy_of(d, 0, 10);
        assert_stored(&c, &b, 0, 10, 6, (gravel_precision)p);
        copy_free(&c);
        gravel_direct_release(d);
    }
    bodies_free(&b);
}

/* Sources written or scattered after set_time are predicted to it as well; forces come from predicted sources; which
 * sources are predicted does not depend on their count. */
static void prediction_keeps_up(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 260 };
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++) {
        if (!has_precision(context, (gravel_precision)p))
            continue;
        bodies b = bodies_new(N, 14), entry = bodies_new(40, 15), moved = bodies_empty(N);
        uint32_t address[40];
        gravel_direct *d =
            direct_new(context, (direct_want){.order = 4, .precision = (gravel_precision)p, .prediction = 1});
        for (uint32_t k = 0; k < 40; k++)
            address[k] = k * k % N;
        assert_ok(gravel_direct_set_time(d, 0.25)); /* before there is any source */
        direct_write(d, &b, 0, 100);
        direct_write(d, &b, 100, N - 100);
        assert_predicted(d, &b, 4, (gravel_precision)p, 0.25);
        scatter(d, &b, &entry, address, 40);
        assert_ok(gravel_direct_set_source_count(d, 0));
        assert_predicted(d, &b, 4, (gravel_precision)p, 0.25);
        assert_ok(gravel_direct_set_source_count(d, N));
        predict_reference(&b, 4, 0.25, &moved);
        const gv_ref_particles v = view_of(&moved, 0, N);
        const gravel_sinks in = sinks_of(&moved, 0, N, NULL);
        results got = direct_run(d, &in, 0.3, 0), want = reference_run(4, &v, &v, 0.3, NULL, 0);
        for (size_t i = 0; i < N; i++) {
            /* sources are off by their prediction's rounding: about four times the rounding of inputs */
            double bound[4];
            error_bounds((gravel_precision)p, &v, i, &v, 0.3, bound);
            for (int c = 0; c < components_of(4); c++)
                assert_true(fabs(got.v[c][i] - want.v[c][i]) <= 4 * bound[quantity_of(c)]);
        }
        results_free(&got);
        results_free(&want);
        gravel_direct_release(d);
        bodies_free(&b);
        bodies_free(&entry);
        bodies_free(&moved);
    }
}

static void time_without_prediction(void **state)
{
    CONTEXT_OR_SKIP(context)
    gravel_direct *d = direct_new(context, (direct_want){.order = 4, .precision = GRAVEL_SP});
    assert_int_equal(gravel_direct_set_time(d, 1), GRAVEL_ERR_STATE);
    assert_contains(gravel_error_message(), "without prediction");
    gravel_direct_release(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions),         cmocka_unit_test(late_small_steps),        cmocka_unit_test(long_steps),
        cmocka_unit_test(prediction_keeps_up), cmocka_unit_test(time_without_prediction),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
