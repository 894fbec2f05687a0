/* The reference's forces against what is known without it: closed forms, symmetries, and finite differences in time. */
#include "ref_sets.h"

/* Two bodies, relative orbit x'' = -u x with u = (m1 + m2) / r^3: the f and g series give
 *   x''' = 3 u p x - u v           p = x.v / r^2
 *   x'''' = (3 u q - 15 u p^2 + u^2) x + 6 u p v      q = v.v / r^2 - u
 * and body 1 moves with m2 / (m1 + m2) of it.  A handful of operations each: 16 eps of the largest term. */
static void two_bodies(void **state)
{
    (void)state;
    set s = set_create(2);
    set_body(&s, 0, 0.75, 0.1, -0.2, 0.3, 0.4, 0.1, -0.2);
    set_body(&s, 1, 0.5, -0.7, 0.5, 0.1, -0.3, 0.6, 0.2);
    double x[3], v[3];
    for (int c = 0; c < 3; c++) {
        x[c] = s.p[0][c][1] - s.p[0][c][0];
        v[c] = s.p[1][c][1] - s.p[1][c][0];
    }
    double r2 = dot(x, x), r = sqrt(r2), u = 1.25 / (r * r2), p = dot(x, v) / r2, q = dot(v, v) / r2 - u;
    for (int c = 0; c < 3; c++) {
        s.p[2][c][0] = 0.5 / (r * r2) * x[c];
        s.p[2][c][1] = -0.75 / (r * r2) * x[c];
    }
    const double share[2] = {-0.5 / 1.25, 0.75 / 1.25};
    for (int real = 0; real < 2; real++) {
        forces((gv_ref_real)real, 6, &s, &s, 0.0);
        for (int i = 0; i < 2; i++) {
            for (int c = 0; c < 3; c++) {
                double jerk = 3 * u * p * x[c] - u * v[c];
                double snap = (3 * u * q - 15 * u * p * p + u * u) * x[c] + 6 * u * p * v[c];
                close_to(s.acc[c][i], -share[i] * u * x[c], 16 * 2.3e-16);
                close_to(s.jerk[c][i], share[i] * jerk, 16 * 2.3e-16 * 4);
                close_to(s.snap[c][i], share[i] * snap, 16 * 2.3e-16 * 16);
            }
        }
        close_to(s.pot[0], -0.5 / r, 4 * 2.3e-16);
        close_to(s.pot[1], -0.75 / r, 4 * 2.3e-16);
        close_to(s.acc_scale[0], 0.5 / r2, 4 * 2.3e-16);
        close_to(s.pot_scale[0], 0.5 / r, 4 * 2.3e-16);
    }
    set_free(&s);
}

/* A circular orbit of radius R about a softened centre: omega^2 = M / (R^2 + eps^2)^(3/2), and every derivative is the
 * one before turned by a right angle times omega.  With R = 2, eps = 1.5: s = 2.5. */
static void circular_orbit_softened(void **state)
{
    (void)state;
    const double w2 = 1.0 / (2.5 * 2.5 * 2.5), w = sqrt(w2);
    set s = set_create(1), centre = set_create(1);
    s.id[0] = 7;
    set_body(&s, 0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0 * w, 0.0);
    set_body(&centre, 0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    s.p[2][0][0] = -2.0 * w2;
    forces(GV_REF_DOUBLE, 6, &s, &centre, 1.5);
    const double expected[3][3] = {{-2.0 * w2, 0.0, 0.0}, {0.0, -2.0 * w2 * w, 0.0}, {2.0 * w2 * w2, 0.0, 0.0}};
    for (int c = 0; c < 3; c++) {
        close_to(s.acc[c][0], expected[0][c], 1e-15);
        close_to(s.jerk[c][0], expected[1][c], 1e-15);
        close_to(s.snap[c][0], expected[2][c], 1e-15);
    }
    close_to(s.pot[0], -1.0 / 2.5, 1e-15);
    set_free(&s);
    set_free(&centre);
}

/* n equal bodies drawn on a sphere pull, at one point, with n independent terms: the mean is that of the shell, and its
 * standard error is sqrt(sum of squares).  5 of these happen once in 1.7 million draws; the seed is fixed. */
static void uniform_shell(void **state)
{
    (void)state;
    const size_t n = 10000;
    set shell = set_create(n), point = set_create(1);
    gv_random random;
    gv_random_seed(&random, 5);
    for (size_t i = 0; i < n; i++) {
        double e[3];
        gv_random_direction(&random, e);
        set_body(&shell, i, 1.0 / (double)n, e[0], e[1], e[2], 0.0, 0.0, 0.0);
    }
    const double at[4] = {0.0, 0.5, 0.8, 2.0};
    point.id[0] = -1;
    for (int k = 0; k < 4; k++) {
        set_body(&point, 0, 0.0, 0.0, at[k], 0.0, 0.0, 0.0, 0.0);
        forces(GV_REF_LONG_DOUBLE, 2, &point, &shell, 0.0);
        double square[3] = {0.0, 0.0, 0.0}, square_pot = 0.0;
        for (size_t i = 0; i < n; i++) {
            double d[3] = {shell.p[0][0][i], shell.p[0][1][i] - at[k], shell.p[0][2][i]}, d2 = dot(d, d);
            for (int c = 0; c < 3; c++)
                square[c] += d[c] * d[c] / (d2 * d2 * d2) / (double)n / (double)n;
            square_pot += (1.0 / sqrt(d2) - 1.0 / fmax(1.0, at[k])) * (1.0 / sqrt(d2) - 1.0 / fmax(1.0, at[k]));
        }
        double inward = at[k] > 1.0 ? -1.0 / (at[k] * at[k]) : 0.0;
        close_to(point.acc[0][0], 0.0, 5.0 * sqrt(square[0]));
        close_to(point.acc[1][0], inward, 5.0 * sqrt(square[1]));
        close_to(point.acc[2][0], 0.0, 5.0 * sqrt(square[2]));
        close_to(point.pot[0], -1.0 / fmax(1.0, at[k]), 5.0 * sqrt(square_pot) / (double)n + 1e-15);
    }
    set_free(&shell);
    set_free(&point);
}

/* Plummer sphere, drawn here from M(<r) = r^3 / (1 + r^2)^(3/2): acc = -r / (1 + r^2)^(3/2), pot = -1 / sqrt(1 + r^2).
 * Tolerance: 5 standard errors of the sample as above (at the sinks' radii no single body dominates the variance:
 * checked with 40 seeds). */
static void plummer_profile(void **state)
{
    (void)state;
    const size_t n = MAX_N;
    set s = set_create(n), point = set_create(1);
    gv_random random;
    gv_random_seed(&random, 6);
    for (size_t i = 0; i < n; i++) {
        double e[3], t = cbrt(gv_random_unit(&random)), r = t / sqrt(1.0 - t * t);
        gv_random_direction(&random, e);
        set_body(&s, i, 1.0 / (double)n, r * e[0], r * e[1], r * e[2], 0.0, 0.0, 0.0);
    }
    const double at[4] = {0.2, 0.7, 1.5, 4.0};
    point.id[0] = -1;
    for (int k = 0; k < 4; k++) {
        set_body(&point, 0, 0.0, at[k], 0.0, 0.0, 0.0, 0.0, 0.0);
        forces(GV_REF_DOUBLE, 2, &point, &s, 0.0);
        double square = 0.0, square_pot = 0.0;
        for (size_t i = 0; i < n; i++) {
            double d[3] = {s.p[0][0][i] - at[k], s.p[0][1][i], s.p[0][2][i]}, d2 = dot(d, d);
            square += d[0] * d[0] / (d2 * d2 * d2) / (double)n / (double)n;
            square_pot += 1.0 / d2 / (double)n / (double)n;
        }
        double w = sqrt(1.0 + at[k] * at[k]);
        close_to(point.acc[0][0], -at[k] / (w * w * w), 5.0 * sqrt(square));
        close_to(point.pot[0], -1.0 / w, 5.0 * sqrt(square_pot - 1.0 / (w * w) / (double)n));
    }
    set_free(&s);
    set_free(&point);
}

/* Every source on its own path x + v t + a t^2 / 2 with given v and a: jerk and snap are the first and second time
 * derivative of acc at t = 0, whatever v and a are.  Positions at +-h, +-2h come from gv_ref_predict; differences of
 * fourth order leave h^4 times a 5th or 6th derivative and the rounding of positions and sums, 1e-16 / h^2.
 * With eps = 1/2, relative speeds up to 2 and acc of order 2: derivative k is at most 2 k! 4^k, which leaves
 * h^4 / 30 x 2.5e5 = 8e-9 and h^4 / 90 x 6e6 = 7e-8. */
static void derivatives_in_time(void **state)
{
    (void)state;
    const double h = 1e-3, eps = 0.5;
    set s = random_set(60, 11), moved = set_create(60), at_zero = random_set(60, 11);
    forces(GV_REF_LONG_DOUBLE, 6, &at_zero, &at_zero, eps);
    double difference[3][2][60] = {{{0.0}}};
    const double first[5] = {1.0 / 12, -8.0 / 12, 0.0, 8.0 / 12, -1.0 / 12};
    const double second[5] = {-1.0 / 12, 16.0 / 12, -30.0 / 12, 16.0 / 12, -1.0 / 12};
    memcpy(moved.m, s.m, 60 * sizeof *s.m);
    for (int step = 0; step < 5; step++) {
        const double *const d[6][3] = {
            {s.p[0][0], s.p[0][1], s.p[0][2]}, {s.p[1][0], s.p[1][1], s.p[1][2]}, {s.p[2][0], s.p[2][1], s.p[2][2]}};
        assert_int_equal(gv_ref_predict(GV_REF_LONG_DOUBLE, 60, d, NULL, (step - 2) * h, moved.p), 0);
        forces(GV_REF_LONG_DOUBLE, 2, &moved, &moved, eps);
        for (int c = 0; c < 3; c++) {
            for (int i = 0; i < 60; i++) {
                difference[c][0][i] += first[step] * moved.acc[c][i] / h;
                difference[c][1][i] += second[step] * moved.acc[c][i] / (h * h);
            }
        }
    }
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < 60; i++) {
            close_to(difference[c][0][i], at_zero.jerk[c][i], 8e-9);
            close_to(difference[c][1][i], at_zero.snap[c][i], 7e-8);
        }
    }
    set_free(&s);
    set_free(&moved);
    set_free(&at_zero);
}

/* Kepler orbit of eccentricity 0.6, one revolution: position from Kepler's equation, E - e sin E = t, in long double;
 * jerk and snap against differences of acc and jerk of the neighbouring times. */
static void kepler_state(double t, set *s)
{
    const long double e = 0.6L, b = 0.8L;
    long double E = t;
    for (int k = 0; k < 60; k++)
        E -= (E - e * sinl(E) - t) / (1 - e * cosl(E));
    long double r = 1 - e * cosl(E), x = cosl(E) - e, y = b * sinl(E);
    long double v[2] = {-sinl(E) / r, b * cosl(E) / r};
    set_body(s, 0, 0.0, (double)x, (double)y, 0.0, (double)v[0], (double)v[1], 0.0);
    s->p[2][0][0] = (double)(-x / (r * r * r));
    s->p[2][1][0] = (double)(-y / (r * r * r));
}

static void derivatives_along_kepler(void **state)
{
    (void)state;
    const double h = 1e-3, weight[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12}, offset[4] = {-2, -1, 1, 2};
    set s = set_create(1), centre = set_create(1);
    s.id[0] = 1;
    set_body(&centre, 0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    for (int step = 0; step < 32; step++) {
        double t = 6.283185307179586 * step / 32, jerk[2] = {0.0, 0.0}, snap[2] = {0.0, 0.0};
        for (int k = 0; k < 4; k++) {
            kepler_state(t + offset[k] * h, &s);
            forces(GV_REF_LONG_DOUBLE, 6, &s, &centre, 0.0);
            for (int c = 0; c < 2; c++) {
                jerk[c] += weight[k] * s.acc[c][0] / h;
                snap[c] += weight[k] * s.jerk[c][0] / h;
            }
        }
        kepler_state(t, &s);
        forces(GV_REF_LONG_DOUBLE, 6, &s, &centre, 0.0);
        /* h^4 / 30 times the 5th derivative of acc (jerk): 6 (40) x 0.4^-2 x (0.1)^-5 at pericentre, time scale 0.1 */
        for (int c = 0; c < 2; c++) {
            close_to(jerk[c], s.jerk[c][0], 1e-6);
            close_to(snap[c], s.snap[c][0], 2e-5);
        }
    }
    set_free(&s);
    set_free(&centre);
}

/* sum m a, sum m j, sum m s vanish pair by pair: what is left is rounding, N eps of the sum of |m a|. */
static void third_law(void **state)
{
    (void)state;
    set s = random_set(300, 21);
    forces(GV_REF_LONG_DOUBLE, 6, &s, &s, 0.01);
    double *const *const results[3] = {s.acc, s.jerk, s.snap};
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++) {
            long double sum = 0, size = 0;
            for (size_t i = 0; i < s.n; i++) {
                sum += (long double)s.m[i] * results[k][c][i];
                size += fabsl((long double)s.m[i] * results[k][c][i]);
            }
            /* the results are rounded to double once */
            close_to((double)sum, 0.0, 2.3e-16 * (double)size);
        }
    }
    set_free(&s);
}

/* Same sum in another order: pairwise rounding of n terms, n eps of the sum of |terms|, in double. */
static void permutation(void **state)
{
    (void)state;
    const size_t n = 257;
    set s = random_set(n, 22), t = random_set(n, 22);
    for (size_t i = 0; i < n; i++) {
        size_t k = (i * 100) % n; /* 257 is prime */
        t.m[i] = s.m[k];
        t.id[i] = s.id[k];
        for (int d = 0; d < 3; d++)
            for (int c = 0; c < 3; c++)
                t.p[d][c][i] = s.p[d][c][k];
    }
    forces(GV_REF_DOUBLE, 6, &s, &s, 0.01);
    forces(GV_REF_DOUBLE, 6, &t, &t, 0.01);
    for (size_t i = 0; i < n; i++) {
        size_t k = (i * 100) % n;
        for (int c = 0; c < 3; c++)
            close_to(t.acc[c][i], s.acc[c][k], (double)n * 2.3e-16 * s.acc_scale[k]);
        close_to(t.pot[i], s.pot[k], (double)n * 2.3e-16 * s.pot_scale[k]);
    }
    set_free(&s);
    set_free(&t);
}

/* Masses times 4: results times 4 exactly.  Of two halves: the sum. */
static void linearity_in_mass(void **state)
{
    (void)state;
    const size_t n = 100;
    set sinks = random_set(n, 23), whole = random_set(n, 23), a = random_set(n, 23), b = random_set(n, 23);
    set first = random_set(n, 23);
    for (size_t i = 0; i < n; i++) {
        whole.m[i] *= 4.0;
        a.m[i] = i % 3 ? 0.0 : a.m[i];
        b.m[i] = i % 3 ? b.m[i] : 0.0;
    }
    forces(GV_REF_DOUBLE, 6, &first, &a, 0.02);
    forces(GV_REF_DOUBLE, 6, &sinks, &b, 0.02);
    for (int c = 0; c < 3; c++) {
        for (size_t i = 0; i < n; i++) {
            first.acc[c][i] += sinks.acc[c][i];
            first.snap[c][i] += sinks.snap[c][i];
        }
    }
    set_free(&sinks);
    sinks = random_set(n, 23);
    forces(GV_REF_DOUBLE, 6, &sinks, &sinks, 0.02);
    set quadruple = random_set(n, 23);
    forces(GV_REF_DOUBLE, 6, &quadruple, &whole, 0.02);
    for (int c = 0; c < 3; c++) {
        for (size_t i = 0; i < n; i++) {
            assert_true(quadruple.acc[c][i] == 4.0 * sinks.acc[c][i]);
            assert_true(quadruple.jerk[c][i] == 4.0 * sinks.jerk[c][i]);
            assert_true(quadruple.snap[c][i] == 4.0 * sinks.snap[c][i]);
            close_to(first.acc[c][i], sinks.acc[c][i], (double)n * 2.3e-16 * sinks.acc_scale[i]);
        }
    }
    set *sets[] = {&sinks, &whole, &a, &b, &first, &quadruple};
    for (int k = 0; k < 6; k++)
        set_free(sets[k]);
}

/* A shift that doubles hold exactly (positions are first cut to 30 bits) changes no bit; the same shift of all
 * velocities and accelerations neither. */
static void translation(void **state)
{
    (void)state;
    set s = random_set(64, 24), t = random_set(64, 24);
    for (int d = 0; d < 3; d++) {
        for (int c = 0; c < 3; c++) {
            for (size_t i = 0; i < s.n; i++) {
                s.p[d][c][i] = ldexp(nearbyint(ldexp(s.p[d][c][i], 30)), -30);
                t.p[d][c][i] = s.p[d][c][i] + 10000.0 * (c + 1);
            }
        }
    }
    forces(GV_REF_DOUBLE, 6, &s, &s, 0.0);
    forces(GV_REF_DOUBLE, 6, &t, &t, 0.0);
    for (int c = 0; c < 3; c++) {
        assert_memory_equal(s.acc[c], t.acc[c], 64 * sizeof(double));
        assert_memory_equal(s.jerk[c], t.jerk[c], 64 * sizeof(double));
        assert_memory_equal(s.snap[c], t.snap[c], 64 * sizeof(double));
    }
    set_free(&s);
    set_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_bodies),          cmocka_unit_test(circular_orbit_softened),
        cmocka_unit_test(uniform_shell),       cmocka_unit_test(plummer_profile),
        cmocka_unit_test(derivatives_in_time), cmocka_unit_test(derivatives_along_kepler),
        cmocka_unit_test(third_law),           cmocka_unit_test(permutation),
        cmocka_unit_test(linearity_in_mass),   cmocka_unit_test(translation),
    };
    return cmocka_run_group_tests_name("ref", tests, NULL, NULL);
}
