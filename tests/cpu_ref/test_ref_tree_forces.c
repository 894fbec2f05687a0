/* The tree reference: forces, opening, series and lists. */
#include "ref_tree_test.h"

#include "cpu_ref/ref.h"
#include "sim/ic_random.h"

#define EPS 0.01
static const gv_ref_walk_options geometric = {
    .mac = GV_REF_GEOMETRIC, .theta = 0.5, .tau_local = 1e-5, .n_group = 16, .moments = 2, .expand = 1, .eps = EPS};
static const gv_ref_walk_options relative = {
    .mac = GV_REF_RELATIVE, .tau = 1e-4, .tau_local = 1e-5, .n_group = 16, .moments = 2, .expand = 1, .eps = EPS};

/* `scale`: the sum of |pair accelerations| */
static void direct(const gv_particles *p, double eps, double *f[4], double *scale)
{
    gv_ref_particles all = {.n = p->count, .m = p->m, .id = p->id, .x = p->x, .y = p->y, .z = p->z};
    gv_ref_forces out = {.ax = f[0], .ay = f[1], .az = f[2], .pot = f[3], .acc_scale = scale};
    assert_int_equal(gv_ref_direct(GV_REF_DOUBLE, 2, &all, &all, eps, NULL, 0, &out), 0);
}

/* One place for many bodies, a line, one body: no division by anything that is 0. */
static void degenerate(void **state)
{
    (void)state;
    enum { MANY = 40 };
    double scale[MANY], m[MANY], x[MANY], y[MANY], z[MANY], force[4][MANY], exact[4][MANY];
    double *f[4] = {force[0], force[1], force[2], force[3]}, *e[4] = {exact[0], exact[1], exact[2], exact[3]};
    int32_t id[MANY];
    for (int kind = 0; kind < 4; kind++) {
        uint32_t n = kind == 3 ? 1 : MANY;
        for (uint32_t i = 0; i < n; i++) {
            m[i] = i % 5 ? 1.0 : 0.0;
            x[i] = kind == 0 ? 3.0 : kind == 1 ? i : i < 20 ? 1.0 : 1.0 + 1e-9;
            y[i] = kind == 2 && i == 39 ? 1e6 : 2.0;
            z[i] = -1.0;
            id[i] = (int32_t)i;
        }
        gv_particles p = {.count = n, .id = id, .m = m, .x = x, .y = y, .z = z};
        gv_ref_tree *t = tree_of(&p, 4, 1);
        for (int mac = 0; mac < 2; mac++) {
            gv_ref_walk_options o = mac ? relative : geometric;
            o.eps = 0.0;
            walk(t, &o, &p, f, NULL);
            direct(&p, 0.0, e, scale);
            for (uint32_t i = 0; i < n; i++) {
                close_to(force[0][i], exact[0][i], 1e-2 * scale[i]);
                close_to(force[1][i], exact[1][i], 1e-2 * scale[i]);
                assert_true(isfinite(force[2][i]) && isfinite(force[3][i]));
            }
        }
        gv_ref_tree_free(t);
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct errors {
    double median, p99, most;
} errors;

static double *room[9];
static uint32_t *counts[5];

static int set_up(void **state)
{
    (void)state;
    for (int k = 0; k < 9; k++)
        room[k] = calloc(N, sizeof(double));
    for (int k = 0; k < 5; k++)
        counts[k] = calloc(N, sizeof(uint32_t));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int k = 0; k < 9; k++)
        free(room[k]);
    for (int k = 0; k < 5; k++)
        free(counts[k]);
    return 0;
}

/* The direct sum into room[4 ... 7], its scale into room[8]; where compare() reads it */
static void know(const gv_particles *p)
{
    direct(p, EPS, room + 4, room[8]);
}

/* |a - a_direct| / |a_direct| */
static errors compare(const gv_ref_tree *t, const gv_ref_walk_options *o, const gv_particles *p)
{
    static double error[N];
    assert_true(o->eps == EPS);
    walk(t, o, p, room, counts);
    for (size_t i = 0; i < p->count; i++) {
        double d2 = 0.0, a2 = 0.0;
        for (int k = 0; k < 3; k++) {
            d2 += (room[k][i] - room[4 + k][i]) * (room[k][i] - room[4 + k][i]);
            a2 += room[4 + k][i] * room[4 + k][i];
        }
        error[i] = sqrt(d2 / a2);
    }
    qsort(error, p->count, sizeof *error, ascending);
    return (errors){error[p->count / 2], error[p->count * 99 / 100], error[p->count - 1]};
}

/* theta -> 0 (and tau -> 0) opens every cell: the direct sum in another order, n eps of the sum of |terms|. */
static void same_as_direct(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(counts[2][i], n);
        assert_true(counts[0][i] == 0 && counts[1][i] == 0);
        for (int k = 0; k < 3; k++)
            close_to(room[k][i], room[4 + k][i], (double)n * 2.3e-16 * room[8][i]);
        close_to(room[3][i], room[7][i], (double)n * 2.3e-16 * fabs(room[7][i]));
    }
}

static void small_theta_is_direct(void **state)
{
    (void)state;
    gv_particles p = plummer(1000, 2);
    know(&p);
    gv_ref_tree *t = tree_of(&p, 8, 1);
    gv_ref_walk_options o = geometric;
    o.theta = 1e-6;
    o.expand = 0; /* single bodies have no extent: they would enter expansions at any theta */
    compare(t, &o, &p);
    same_as_direct(1000);
    o = relative;
    o.tau = 0.0;
    o.expand = 0;
    compare(t, &o, &p);
    same_as_direct(1000);
    gv_ref_tree_free(t);
    gv_particles_free(&p);
}

/* The first neglected moment is the octupole: relative errors of single cells go with theta^3 for the mass and
 * quadrupole (with theta^2 for the mass alone), and the number of cells as theta^-3 adds to it in a random way: about
 * theta^4 in all.  From 0.8 to 0.4 this is a factor 16; 6 is required, and 3 of the mass alone. */
static void error_falls_with_theta(void **state)
{
    (void)state;
    gv_particles p = plummer(N, 3);
    know(&p);
    gv_ref_tree *t = tree_of(&p, 8, 1);
    gv_ref_walk_options o = geometric;
    o.expand = 0;
    errors e[2][3];
    const double theta[3] = {0.8, 0.57, 0.4};
    for (int moments = 1; moments <= 2; moments++) {
        for (int k = 0; k < 3; k++) {
            o.moments = moments;
            o.theta = theta[k];
            e[moments - 1][k] = compare(t, &o, &p);
            assert_true(k == 0 || e[moments - 1][k].median < e[moments - 1][k - 1].median);
        }
    }
    assert_true(e[1][0].median / e[1][2].median > 6.0);
    assert_true(e[0][0].median / e[0][2].median > 3.0);
    for (int k = 0; k < 3; k++)
        assert_true(e[1][k].median < 0.5 * e[0][k].median);
    assert_true(e[1][2].median < 1e-4 && e[1][2].most < 1e-2);
    gv_ref_tree_free(t);
    gv_particles_free(&p);
}

/* Against |a|: the octupole of one cell is below tau a, and the cells add up at random: median below 10 tau, largest
 * below 100 tau (N = 3000, hundreds of cells per sink). */
static void relative_criterion(void **state)
{
    (void)state;
    gv_particles p = plummer(N, 4);
    know(&p);
    gv_ref_tree *t = tree_of(&p, 8, 1);
    double before = 1.0;
    for (double tau = 1e-3; tau > 1e-6; tau *= 0.1) {
        gv_ref_walk_options o = relative;
        o.tau = tau;
        o.expand = 0;
        errors e = compare(t, &o, &p);
        assert_true(e.median < 10.0 * tau && e.most < 100.0 * tau && e.median < before);
        before = e.median;
    }
    /* with the accelerations themselves in place of the estimate: the same within a factor 2 */
    gv_ref_walk_options o = relative;
    o.expand = 0;
    errors estimated = compare(t, &o, &p);
    double *a = malloc(N * sizeof *a);
    assert_non_null(a);
    for (int i = 0; i < N; i++)
        a[i] = sqrt(room[4][i] * room[4][i] + room[5][i] * room[5][i] + room[6][i] * room[6][i]);
    gv_ref_sinks sinks = {N, p.x, p.y, p.z, NULL, a};
    gv_ref_walk_result out = {.ax = room[0], .ay = room[1], .az = room[2]};
    assert_int_equal(gv_ref_tree_walk(t, &o, &sinks, &out), 0);
    double sum = 0.0, expected = estimated.median;
    for (int i = 0; i < N; i++)
        sum += hypot(hypot(room[0][i] - room[4][i], room[1][i] - room[5][i]), room[2][i] - room[6][i]) / a[i] / N;
    assert_true(sum < 4.0 * expected && sum > expected / 4.0); /* a mean against a median */
    free(a);
    gv_ref_tree_free(t);
    gv_particles_free(&p);
}

/* One far cell and a group of 8 sinks on the corners of a cube of side 2 h: the series for acc ends at (h/R)^3, so that
 * halving h divides the error by 16; the quadrupole's own series ends earlier, but it is smaller by (b/R)^2. */
static void series(void **state)
{
    (void)state;
    double error[2];
    for (int turn = 0; turn < 2; turn++) {
        double h = turn ? 0.25 : 0.5, x[3][8], f[2][4][8];
        double m[4] = {1.0, 2.0, 3.0, 1.5}, s[3][4] = {{9, 9.1, 9, 8.9}, {3, 3, 3.1, 3}, {-4, -4.1, -4, -4}};
        for (int i = 0; i < 8; i++)
            for (int k = 0; k < 3; k++)
                x[k][i] = (i >> k & 1) ? h : -h;
        gv_ref_tree *t = gv_ref_tree_create(4, m, s[0], s[1], s[2], 4, 0);
        assert_non_null(t);
        gv_ref_walk_options o = geometric;
        o.tau_local = 1e9;
        for (int expand = 0; expand < 2; expand++) {
            gv_ref_sinks sinks = {8, x[0], x[1], x[2], NULL, NULL};
            uint32_t far[8], near[8];
            gv_ref_walk_result out = {f[expand][0], f[expand][1], f[expand][2], f[expand][3], far,
                                      near,         NULL,         NULL,         NULL};
            o.expand = expand;
            assert_int_equal(gv_ref_tree_walk(t, &o, &sinks, &out), 0);
            assert_true(far[0] == (uint32_t)expand && near[0] == (uint32_t)!expand);
        }
        error[turn] = 0.0;
        for (int i = 0; i < 8; i++) {
            for (int k = 0; k < 3; k++)
                error[turn] = fmax(error[turn], fabs(f[1][k][i] - f[0][k][i]));
            /* potential to 4th order: (h sqrt(3) / R)^5 = 4e-6 (1e-7) of 7.5 / 10.3 */
            close_to(f[1][3][i], f[0][3][i], turn ? 2e-7 : 6e-6);
        }
        gv_ref_tree_free(t);
    }
    assert_true(error[0] > 1e-7); /* not the same sum by another name */
    close_to(error[0] / error[1], 16.0, 4.0);
}

/* A near cell is the exact gradient of its potential: against differences of pot, with h^2 / 6 third derivatives of it:
 * 1e-8 of order 1 here. */
static void acceleration_is_gradient(void **state)
{
    (void)state;
    double m[3] = {1.0, 2.0, 0.5}, s[3][3] = {{0.0, 0.3, 0.1}, {0.2, 0.0, -0.3}, {0.1, 0.1, 0.4}};
    gv_ref_tree *t = gv_ref_tree_create(3, m, s[0], s[1], s[2], 3, 0);
    assert_non_null(t);
    const double h = 1e-4, at[3] = {2.0, -1.0, 1.5};
    for (int k = 0; k < 3; k++) {
        double x[3][3], a[3][3], pot[3];
        for (int i = 0; i < 3; i++)
            for (int c = 0; c < 3; c++)
                x[c][i] = at[c] + (c == k ? (i - 1) * h : 0.0);
        gv_ref_walk_options o = geometric;
        o.expand = 0;
        o.n_group = 1;
        o.eps = 0.3;
        gv_ref_sinks sinks = {3, x[0], x[1], x[2], NULL, NULL};
        uint32_t near[3];
        gv_ref_walk_result out = {a[0], a[1], a[2], pot, NULL, near, NULL, NULL, NULL};
        assert_int_equal(gv_ref_tree_walk(t, &o, &sinks, &out), 0);
        assert_int_equal(near[1], 1);
        close_to(-(pot[2] - pot[0]) / (2.0 * h), a[k][1], 1e-8);
    }
    gv_ref_tree_free(t);
}

/* Far cells save work and cost little: tau_local rules it. */
static void expansions(void **state)
{
    (void)state;
    gv_particles p = plummer(N, 5);
    know(&p);
    gv_ref_tree *t = tree_of(&p, 8, 1);
    gv_ref_walk_options o = relative;
    o.expand = 0;
    errors plain = compare(t, &o, &p);
    uint32_t near_before = counts[1][0];
    assert_int_equal(counts[0][0], 0);
    o.expand = 1;
    o.tau_local = 1e-6;
    errors fine = compare(t, &o, &p);
    uint64_t far = 0;
    for (int i = 0; i < N; i++)
        far += counts[0][i];
    assert_true(far > 10 * N && counts[1][0] < near_before);
    assert_true(fine.median < 1.5 * plain.median);
    o.tau_local = 1e-2;
    assert_true(compare(t, &o, &p).median > 2.0 * fine.median);
    gv_ref_tree_free(t);
    gv_particles_free(&p);
}

/* Bodies as points of space: with eps = 0 a body at distance 0 adds nothing, so that points give what bodies get. */
static void points(void **state)
{
    (void)state;
    gv_particles p = plummer(1000, 6);
    gv_ref_tree *t = tree_of(&p, 8, 1);
    gv_ref_walk_options o = relative;
    o.eps = 0.0;
    walk(t, &o, &p, room, NULL);
    gv_ref_sinks sinks = {1000, p.x, p.y, p.z, NULL, NULL};
    gv_ref_walk_result out = {.ax = room[4], .ay = room[5], .az = room[6], .pot = room[7]};
    assert_int_equal(gv_ref_tree_walk(t, &o, &sinks, &out), 0);
    for (int k = 0; k < 4; k++)
        assert_memory_equal(room[k], room[4 + k], 1000 * sizeof(double));
    /* outside the cube */
    double far_x[1] = {1e3}, zero[1] = {0.0}, a[1];
    gv_ref_sinks outside = {1, far_x, zero, zero, NULL, NULL};
    gv_ref_walk_result at = {.ax = a};
    assert_int_equal(gv_ref_tree_walk(t, &o, &outside, &at), 0);
    close_to(a[0] * 1e6, -1.0, 1e-3); /* centred, mass 1, quadrupole below 1e-4 of it at this distance */
    gv_ref_tree_free(t);
    gv_particles_free(&p);
}

/* Positions moved by 1e-13 of the box: where there was no close call at that rounding the lists have the same lengths.
 * A body may change its lattice place (probability 3 x 2^21 x 1e-13 = 6e-7 each), which did not happen here. */
static void close_calls(void **state)
{
    (void)state;
    gv_particles p = plummer(N, 7);
    gv_ref_tree *t = tree_of(&p, 8, 1), *moved;
    gv_random random;
    gv_random_seed(&random, 1);
    for (int mac = 0; mac < 2; mac++) {
        gv_ref_walk_options o = mac ? relative : geometric;
        uint32_t *before[5];
        size_t close = 0, differ = 0, strict = 0;
        for (int k = 0; k < 5; k++) {
            before[k] = calloc(N, sizeof(uint32_t));
            assert_non_null(before[k]);
        }
        o.rounding = 1e-13;
        walk(t, &o, &p, room, before);
        gv_particles q = plummer(N, 7);
        double *x[3] = {q.x, q.y, q.z};
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < N; i++)
                x[k][i] += 1e-13 * t->side * (2.0 * gv_random_unit(&random) - 1.0);
        moved = tree_of(&q, 8, 1);
        walk(moved, &o, &q, room, counts);
        for (int i = 0; i < N; i++) {
            close += before[4][i] > 0;
            int same = before[0][i] == counts[0][i] && before[1][i] == counts[1][i] && before[2][i] == counts[2][i] &&
                       before[3][i] == counts[3][i];
            differ += !same;
            strict += !same && before[4][i] == 0;
        }
        assert_int_equal(strict, 0);
        assert_true(close < N / 20);
        o.rounding = 1e-3; /* then nearly everything is close */
        walk(t, &o, &p, room, before);
        for (int i = 0; i < N; i++)
            differ += before[4][i] > 0;
        assert_true(differ > N / 2);
        gv_ref_tree_free(moved);
        gv_particles_free(&q);
        for (int k = 0; k < 5; k++)
            free(before[k]);
    }
    gv_ref_tree_free(t);
    gv_particles_free(&p);
}

/* Every test ends as far, near, bodies or children: the bodies behind them are all bodies, once. */
static void every_body_once(void **state)
{
    (void)state;
    gv_particles p = plummer(500, 8);
    for (size_t i = 0; i < p.count; i++)
        p.m[i] = 1.0; /* whole numbers: monopoles alone count */
    gv_ref_tree *t = tree_of(&p, 4, 1);
    gv_ref_walk_options o = geometric;
    o.eps = 1e8; /* every source pulls with m / eps in the potential, near or far, whatever the opening */
    o.theta = 1.0;
    walk(t, &o, &p, room, counts);
    for (size_t i = 0; i < p.count; i++) {
        close_to(-room[3][i] * 1e8, 499.0, 1e-9);
        assert_true(counts[3][i] >= counts[0][i] + counts[1][i]);
    }
    gv_ref_tree_free(t);
    gv_particles_free(&p);
}

static void bad_arguments(void **state)
{
    (void)state;
    double one[1] = {1.0};
    gv_ref_tree *t = gv_ref_tree_create(1, one, one, one, one, 8, 1);
    assert_non_null(t);
    gv_ref_sinks sinks = {1, one, one, one, NULL, NULL};
    gv_ref_walk_result out = {.ax = NULL};
    gv_ref_walk_options o = geometric;
    assert_int_equal(gv_ref_tree_walk(t, &o, &sinks, &out), 0);
    assert_int_equal(gv_ref_tree_walk(t, NULL, &sinks, &out), -1);
    assert_int_equal(gv_ref_tree_walk(t, &o, NULL, &out), -1);
    o.theta = 0.0;
    assert_int_equal(gv_ref_tree_walk(t, &o, &sinks, &out), -1);
    o = geometric;
    o.moments = 3;
    assert_int_equal(gv_ref_tree_walk(t, &o, &sinks, &out), -1);
    o = relative;
    o.n_group = 0;
    assert_int_equal(gv_ref_tree_walk(t, &o, &sinks, &out), -1);
    gv_ref_tree_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(degenerate),
        cmocka_unit_test(small_theta_is_direct),
        cmocka_unit_test(error_falls_with_theta),
        cmocka_unit_test(relative_criterion),
        cmocka_unit_test(series),
        cmocka_unit_test(acceleration_is_gradient),
        cmocka_unit_test(expansions),
        cmocka_unit_test(points),
        cmocka_unit_test(close_calls),
        cmocka_unit_test(every_body_once),
        cmocka_unit_test(bad_arguments),
    };
    return cmocka_run_group_tests_name("ref_tree_forces", tests, set_up, tear_down);
}
