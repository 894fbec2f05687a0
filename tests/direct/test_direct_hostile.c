/* gravel_direct on hostile input, what physics demands of its forces, and whether their bits repeat. */
#include "problem.h"

enum { CAPACITY = 40 };

/* --------------------------------------------------------------------------- hostile */

/* Two bodies at one place (not the same id), one exactly on a third, and a pair a hair apart: eps = 0 gives finite
 * forces, equal to those without the coincident pair. */
static void coincident_bodies(void **state)
{
    CONTEXT_OR_SKIP(context)
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++)
        for (int order = 2; order <= 6; order += 4) {
            if (!has_precision(context, (gravel_precision)p))
                continue;
            bodies b = bodies_new(40, 3);
            for (int c = 0; c < 3; c++)
                b.d[0][c][7] = b.d[0][c][8] = b.d[0][c][39] = b.d[0][c][20];
            gravel_direct *d = direct_new(
                context,
                (direct_want){.order = order, .precision = (gravel_precision)p, .nearest = 1, .capacity = CAPACITY});
            const gv_ref_particles v = view_of(&b, 0, 40);
            double radius[40] = {0};
            const gravel_sinks in = sinks_of(&b, 0, 40, radius);
            results want = reference_run(order, &v, &v, 0, radius, CAPACITY);
            direct_write(d, &b, 0, 40);
            results got = direct_run(d, &in, 0, CAPACITY);
            assert_forces(&got, &want, order, (gravel_precision)p, &v, &v, 0, "coincident");
            assert_int_equal(got.nearest[7], 8);
            assert_int_equal(got.nearest[8], 7);
            assert_int_equal(got.nearest[20], 7);
            assert_int_equal(got.nearest[39], 7);
            assert_true(got.distance[39] == 0);
            assert_int_equal(got.count[20], 3); /* radius 0: what lies at the same place */
            assert_lists(&got, (gravel_precision)p, &v, &v, radius, "coincident");
            results_free(&got);
            results_free(&want);
            gravel_direct_release(d);
            bodies_free(&b);
        }
}

/* All bodies at one place: everything is zero without softening; with it the potential is -sum m / eps. */
static void all_at_one_place(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 300 };
    bodies b = bodies_new(N, 4);
    for (size_t i = 0; i < N; i++)
        for (int c = 0; c < 3; c++)
            b.d[0][c][i] = 0.123456789 * (c + 1);
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++) {
        if (!has_precision(context, (gravel_precision)p))
            continue;
        gravel_direct *d = direct_new(context, (direct_want){.order = 6, .precision = (gravel_precision)p});
        const gv_ref_particles v = view_of(&b, 0, N);
        const gravel_sinks in = sinks_of(&b, 0, N, NULL);
        direct_write(d, &b, 0, N);
        results want = reference_run(6, &v, &v, 0.5, NULL, 0), got = direct_run(d, &in, 0.5, 0),
                zero = direct_run(d, &in, 0, 0);
        assert_forces(&got, &want, 6, (gravel_precision)p, &v, &v, 0.5, "one place");
        for (int c = 0; c < R_COMPONENTS; c++)
            for (size_t i = 0; i < N; i++)
                if (zero.v[c][i] != 0)
                    fail_msg("component %d of sink %zu is %g without softening", c, i, zero.v[c][i]);
        results_free(&got);
        results_free(&want);
        results_free(&zero);
        gravel_direct_release(d);
    }
    bodies_free(&b);
}

/* A pair so close that its jerk and snap leave the range of float: these alone are not finite; what is in range is
 * right, also acc and pot of the same sinks, and sinks beside them are not affected. */
static void check_close_pair(gravel_context *context, gravel_precision p, double distance)
{
    enum { N = 200 };
    bodies b = bodies_new(N, 5);
    for (int c = 0; c < 3; c++) {
        b.d[0][c][3] = 0; /* so that the difference is exact in sp, too */
        b.d[0][c][4] = c == 1 ? distance : 0;
    }
    gravel_direct *d = direct_new(context, (direct_want){.order = 6, .precision = p});
    const gv_ref_particles v = view_of(&b, 0, N);
    const gravel_sinks in = sinks_of(&b, 0, N, NULL);
    direct_write(d, &b, 0, N);
    results want = reference_run(6, &v, &v, 0, NULL, 0), got = direct_run(d, &in, 0, 0);
    for (size_t i = 0; i < N; i++) {
        double bound[4];
        error_bounds(p, &v, i, &v, 0, bound);
        for (int c = 0; c < R_COMPONENTS; c++) {
            /* the sum of |terms| is about bound / (PAIR_ROUNDINGS u); the device counts in masses of about 1/N */
            const double largest = bound[quantity_of(c)] / (PAIR_ROUNDINGS * unit_of(p)) * N;
            if (p != GRAVEL_DP && largest > 1e37 && c > R_POT && (i == 3 || i == 4))
                continue;
            if (!(fabs(got.v[c][i] - want.v[c][i]) <= bound[quantity_of(c)]))
                fail_msg("%s, distance %g: component %d of sink %zu is %g, the reference %g", gravel_precision_name(p),
                         distance, c, i, got.v[c][i], want.v[c][i]);
        }
    }
    results_free(&got);
    results_free(&want);
    gravel_direct_release(d);
    bodies_free(&b);
}

static void close_pair(void **state)
{
    CONTEXT_OR_SKIP(context)
    static const double distance[] = {1e-4, 1e-7, 1e-10, 3e-12};
    for (size_t k = 0; k < sizeof distance / sizeof distance[0]; k++)
        for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++)
            if (has_precision(context, (gravel_precision)p))
                check_close_pair(context, (gravel_precision)p, distance[k]);
}

/* Masses and lengths in any units: kilograms and metres, grams and centimetres, tiny ones. */
static void units_of_any_size(void **state)
{
    CONTEXT_OR_SKIP(context)
    static const double mass_unit[] = {2e33, 1e-20, 5.0, -3e12, 1e200},
                        length_unit[] = {1.5e13, 1e-9, 3e9, 1e-13, 1e16};
    enum { N = 70 };
    for (size_t k = 0; k < sizeof mass_unit / sizeof mass_unit[0]; k++)
        for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++)
            for (int soft = 0; soft < 2; soft++) {
                if (!has_precision(context, (gravel_precision)p))
                    continue;
                bodies b = bodies_new(N, 6);
                char what[80];
                const double eps = 0.1 * soft * length_unit[k];
                for (size_t i = 0; i < N; i++) {
                    b.m[i] *= mass_unit[k];
                    for (int c = 0; c < 9; c++) /* time in the same unit: everything scales with the length */
                        b.d[c / 3][c % 3][i] *= length_unit[k];
                }
                gravel_direct *d = direct_new(
                    context,
                    (direct_want){.order = 6, .precision = (gravel_precision)p, .nearest = 1, .capacity = CAPACITY});
                const gv_ref_particles v = view_of(&b, 0, N);
                double radius[N];
                for (size_t i = 0; i < N; i++)
                    radius[i] = 0.4 * length_unit[k];
                const gravel_sinks in = sinks_of(&b, 0, N, radius);
                direct_write(d, &b, 0, N);
                results want = reference_run(6, &v, &v, eps, radius, CAPACITY), got = direct_run(d, &in, eps, CAPACITY);
                snprintf(what, sizeof what, "%s, masses of %g, lengths of %g, eps %g",
                         gravel_precision_name((gravel_precision)p), mass_unit[k], length_unit[k], eps);
                assert_forces(&got, &want, 6, (gravel_precision)p, &v, &v, eps, what);
                assert_nearest(&got, &want, (gravel_precision)p, &v, &v, what);
                assert_lists(&got, (gravel_precision)p, &v, &v, radius, what);
                results_free(&got);
                results_free(&want);
                gravel_direct_release(d);
                bodies_free(&b);
            }
}

/* Zero, negative and very unequal masses; the largest comes last and is 1e20 times the first. */
static void odd_masses(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 50 };
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++) {
        if (!has_precision(context, (gravel_precision)p))
            continue;
        bodies b = bodies_new(N, 7);
        for (size_t i = 0; i < N; i++)
            b.m[i] = i % 5 == 0 ? 0 : i % 5 == 1 ? -b.m[i] : i == N - 1 ? 1e18 : b.m[i];
        gravel_direct *d = direct_new(context, (direct_want){.order = 4, .precision = (gravel_precision)p});
        const gv_ref_particles v = view_of(&b, 0, N);
        const gravel_sinks in = sinks_of(&b, 0, N, NULL);
        results want = reference_run(4, &v, &v, 0.02, NULL, 0);
        for (size_t i = 0; i < N; i++) /* one by one: the first is massless */
            direct_write(d, &b, i, 1);
        results got = direct_run(d, &in, 0.02, 0);
        assert_forces(&got, &want, 4, (gravel_precision)p, &v, &v, 0.02, "odd masses");
        results_free(&got);
        results_free(&want);
        gravel_direct_release(d);
        bodies_free(&b);
    }
}

/* A box 1e4 from the origin loses nothing in ds and dp.  Coordinates are multiples of 2^-30, so the shift is exact
 * and the shifted forces equal those at the origin within the bounds there. */
static void far_from_the_origin(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 200 };
    for (int p = GRAVEL_DS; p <= GRAVEL_DP; p++) {
        if (!has_precision(context, (gravel_precision)p))
            continue;
        bodies b = bodies_new(N, 8);
        for (size_t i = 0; i < N; i++)
            for (int c = 0; c < 3; c++)
                b.d[0][c][i] = ldexp(nearbyint(ldexp(b.d[0][c][i], 30)), -30);
        const gv_ref_particles v = view_of(&b, 0, N);
        results want = reference_run(6, &v, &v, 0, NULL, 0);
        for (size_t i = 0; i < N; i++)
            for (int c = 0; c < 3; c++)
                b.d[0][c][i] += c == 1 ? -1e4 : 1e4;
        gravel_direct *d = direct_new(context, (direct_want){.order = 6, .precision = (gravel_precision)p});
        const gravel_sinks in = sinks_of(&b, 0, N, NULL);
        direct_write(d, &b, 0, N);
        results got = direct_run(d, &in, 0, 0);
        for (size_t i = 0; i < N; i++)
            for (int c = 0; c < 3; c++)
                b.d[0][c][i] -= c == 1 ? -1e4 : 1e4;
        assert_forces(&got, &want, 6, (gravel_precision)p, &v, &v, 0, "far from the origin");
        results_free(&got);
        results_free(&want);
        gravel_direct_release(d);
        bodies_free(&b);
    }
}

/* Ids of the whole range, -1 (matches nothing, not even -1) and repeated ones (all of them are left out). */
static void ids_of_all_kinds(void **state)
{
    CONTEXT_OR_SKIP(context)
    static const int32_t kind[] = {-1, INT32_MIN, INT32_MAX, 0, 1, -2, INT32_MIN + 1, INT32_MAX - 1, 7, -1};
    enum { N = 400, SINKS = 45 };
    static const char *const shape[] = {NULL, GPU_SHAPE};
    for (int k = 0; k < 2; k++) {
        bodies b = bodies_new(N, 10);
        for (size_t i = 0; i < N; i++)
            b.id[i] = kind[(i * i + i / 7) % 10];
        gravel_direct *d = direct_new(
            context,
            (direct_want){
                .order = 2, .precision = GRAVEL_SP, .nearest = 1, .capacity = CAPACITY, .configuration = shape[k]});
        double radius[SINKS];
        for (size_t i = 0; i < SINKS; i++)
            radius[i] = 0.4;
        direct_write(d, &b, 0, N);
        /* groups of sinks with one kind of id, and mixed ones: the range test that spares most stretches must not
         * err */
        for (size_t first = 0; first + SINKS <= N; first += 71) {
            for (int same = 0; same < 3; same++) {
                bodies s = bodies_new(SINKS, 11);
                for (size_t i = 0; i < SINKS; i++) {
                    s.id[i] = same == 1 ? kind[(first / 71) % 10] : same == 2 ? kind[1 + i % 2] : b.id[first + i];
                    for (int c = 0; c < 3; c++)
                        s.d[0][c][i] = b.d[0][c][first + i] + (same == 0 ? 0 : 0.01);
                }
                const gv_ref_particles sinks = view_of(&s, 0, SINKS), sources = view_of(&b, 0, N);
                const gravel_sinks in = sinks_of(&s, 0, SINKS, radius);
                results want = reference_run(2, &sinks, &sources, 0.01, radius, CAPACITY);
                results got = direct_run(d, &in, 0.01, CAPACITY);
                assert_forces(&got, &want, 2, GRAVEL_SP, &sinks, &sources, 0.01, "ids");
                assert_nearest(&got, &want, GRAVEL_SP, &sinks, &sources, "ids");
                assert_lists(&got, GRAVEL_SP, &sinks, &sources, radius, "ids");
                results_free(&got);
                results_free(&want);
                bodies_free(&s);
            }
        }
        gravel_direct_release(d);
        bodies_free(&b);
    }
}

/* No ids at all: sources are known by their address, sinks match nothing. */
static void no_ids(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 60 };
    bodies b = bodies_new(N, 12), s = bodies_new(N, 12);
    gravel_direct *d = direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_DS, .nearest = 1});
    gravel_sources sources = sources_of(&b, 0, N);
    gravel_sinks sinks = sinks_of(&b, 0, N, NULL);
    const gv_ref_particles v = view_of(&b, 0, N), anonymous = view_of(&s, 0, N);
    sources.id = NULL;
    assert_ok(gravel_direct_write_sources(d, 0, &sources));
    results want = reference_run(2, &v, &v, 0.1, NULL, 0), got = direct_run(d, &sinks, 0.1, 0);
    assert_forces(&got, &want, 2, GRAVEL_DS, &v, &v, 0.1, "addresses as ids");
    results_free(&got);
    results_free(&want);
    for (size_t i = 0; i < N; i++)
        s.id[i] = -1;
    sinks.id = NULL;
    want = reference_run(2, &anonymous, &v, 0.1, NULL, 0);
    got = direct_run(d, &sinks, 0.1, 0);
    assert_forces(&got, &want, 2, GRAVEL_DS, &anonymous, &v, 0.1, "sinks without ids");
    for (size_t i = 0; i < N; i++)
        assert_int_equal(got.nearest[i], i); /* itself, at distance 0 */
    results_free(&got);
    results_free(&want);
    gravel_direct_release(d);
    bodies_free(&b);
    bodies_free(&s);
}

/* --------------------------------------------------------------------------- physics */

/* Newton's third law: sum m a = 0 and sum m jerk = 0, within the sum of the bounds. */
static void momentum_is_kept(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 333 };
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++) {
        if (!has_precision(context, (gravel_precision)p))
            continue;
        bodies b = bodies_new(N, 13);
        gravel_direct *d = direct_new(context, (direct_want){.order = 6, .precision = (gravel_precision)p});
        const gv_ref_particles v = view_of(&b, 0, N);
        const gravel_sinks in = sinks_of(&b, 0, N, NULL);
        direct_write(d, &b, 0, N);
        results got = direct_run(d, &in, 0.05, 0);
        double allowed[4] = {0}, bound[4];
        for (size_t i = 0; i < N; i++) {
            error_bounds((gravel_precision)p, &v, i, &v, 0.05, bound);
            for (int q = 0; q < 4; q++)
                allowed[q] += b.m[i] * bound[q];
        }
        for (int c = 0; c < R_COMPONENTS; c++) {
            long double sum = 0;
            for (size_t i = 0; i < N; i++)
                sum += (long double)b.m[i] * got.v[c][i];
            if (c != R_POT && !(fabsl(sum) <= (long double)allowed[quantity_of(c)]))
                fail_msg("%s: sum of m times component %d is %Lg, at most %g",
                         gravel_precision_name((gravel_precision)p), c, sum, allowed[quantity_of(c)]);
        }
        results_free(&got);
        gravel_direct_release(d);
        bodies_free(&b);
    }
}

/* Forces are linear in the masses: F(m1) + F(m2) = F(m1 + m2) within the bounds of F(m1 + m2), taken three times. */
static void linear_in_mass(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 150 };
    bodies b = bodies_new(N, 14);
    double part[2][N];
    results got[3];
    uint64_t seed = 15;
    const gravel_sinks in = sinks_of(&b, 0, N, NULL);
    for (size_t i = 0; i < N; i++) {
        part[0][i] = b.m[i] * (0.5 + 0.4 * random_unit(&seed));
        part[1][i] = b.m[i] - part[0][i];
    }
    for (int k = 0; k < 3; k++) {
        gravel_direct *d = direct_new(context, (direct_want){.order = 4, .precision = GRAVEL_DS});
        gravel_sources s = sources_of(&b, 0, N);
        s.mass = k < 2 ? part[k] : b.m;
        assert_ok(gravel_direct_write_sources(d, 0, &s));
        got[k] = direct_run(d, &in, 0.1, 0);
        gravel_direct_release(d);
    }
    const gv_ref_particles v = view_of(&b, 0, N);
    for (size_t i = 0; i < N; i++) {
        double bound[4];
        error_bounds(GRAVEL_DS, &v, i, &v, 0.1, bound);
        for (int c = 0; c < components_of(4); c++)
            assert_true(fabs(got[0].v[c][i] + got[1].v[c][i] - got[2].v[c][i]) <= 3 * bound[quantity_of(c)]);
    }
    for (int k = 0; k < 3; k++)
        results_free(&got[k]);
    bodies_free(&b);
}

/* The order of the sources changes nothing but rounding; the order of the sinks nothing at all, as long as a sink
 * meets the same sources in the same stretches (no ids: no stretch is masked). */
static void permutations(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 211 };
    bodies b = bodies_new(N, 16), other = bodies_new(N, 16);
    for (size_t i = 0; i < N; i++) { /* 211 is prime: a permutation */
        const size_t from = (i * 57 + 13) % N;
        other.m[i] = b.m[from];
        other.id[i] = b.id[from];
        for (int k = 0; k < 18; k++)
            other.d[k / 3][k % 3][i] = b.d[k / 3][k % 3][from];
    }
    gravel_direct *d = direct_new(context, (direct_want){.order = 6, .precision = GRAVEL_DS});
    const gravel_sinks in = sinks_of(&b, 0, N, NULL);
    const gv_ref_particles v = view_of(&b, 0, N);
    results want = reference_run(6, &v, &v, 0.05, NULL, 0);
    direct_write(d, &other, 0, N);
    results got = direct_run(d, &in, 0.05, 0);
    assert_forces(&got, &want, 6, GRAVEL_DS, &v, &v, 0.05, "permuted sources");
    results_free(&got);
    results_free(&want);

    gravel_sinks here = sinks_of(&b, 0, N, NULL), there = sinks_of(&other, 0, N, NULL);
    here.id = there.id = NULL;
    results a = direct_run(d, &here, 0.05, 0), c = direct_run(d, &there, 0.05, 0);
    for (int q = 0; q < R_COMPONENTS; q++)
        for (size_t i = 0; i < N; i++)
            if (c.v[q][i] != a.v[q][(i * 57 + 13) % N])
                fail_msg("component %d of sink %zu depends on its place", q, i);
    results_free(&a);
    results_free(&c);
    gravel_direct_release(d);
    bodies_free(&b);
    bodies_free(&other);
}

/* ------------------------------------------------------------------------ determinism */

/* Once more, after other work, and from a second object that got its sources in pieces: the same bits.  The largest
 * mass comes first, since the first write chooses what masses are counted in. */
static void same_bits(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 2500, SINKS = 7 }; /* few sinks: the sources are in many parts */
    static const char *const shape[] = {NULL, GPU_SHAPE};
    bodies b = bodies_new(N, 17);
    b.m[0] = 2.0 / N;
    for (int k = 0; k < 2; k++)
        for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++) {
            if (!has_precision(context, (gravel_precision)p))
                continue;
            const direct_want want = {.order = 6, .precision = (gravel_precision)p, .configuration = shape[k]};
            const gravel_sinks few = sinks_of(&b, 5, SINKS, NULL), many = sinks_of(&b, 0, N, NULL);
            gravel_direct *first = direct_new(context, want), *second = direct_new(context, want);
            direct_write(first, &b, 0, N);
            for (size_t at = 0; at < N; at += 500) /* in pieces */
                direct_write(second, &b, at, 500);
            results a = direct_run(first, &few, 0, 0);
            results between = direct_run(first, &many, 0.1, 0);
            results c = direct_run(first, &few, 0, 0), e = direct_run(second, &few, 0, 0);
            assert_same_bits(&a, &c, 6);
            assert_same_bits(&a, &e, 6);
            results_free(&a);
            results_free(&between);
            results_free(&c);
            results_free(&e);
            gravel_direct_release(first);
            gravel_direct_release(second);
        }
    bodies_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coincident_bodies), cmocka_unit_test(all_at_one_place), cmocka_unit_test(close_pair),
        cmocka_unit_test(units_of_any_size), cmocka_unit_test(odd_masses),       cmocka_unit_test(far_from_the_origin),
        cmocka_unit_test(ids_of_all_kinds),  cmocka_unit_test(no_ids),           cmocka_unit_test(momentum_is_kept),
        cmocka_unit_test(linear_in_mass),    cmocka_unit_test(permutations),     cmocka_unit_test(same_bits),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
