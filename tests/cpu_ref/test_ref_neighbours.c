/* The reference's identities and neighbours: who is left out, who is nearest, lists and their true counts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cpu_ref/ref.h"
#include "sim/ic_random.h"

enum { N = 8, CAPACITY = 3 };

/* Bodies of mass 2^i at x = 0 ... 7: a potential names the set of bodies that pulled (distances are whole numbers). */
typedef struct line {
    double m[N], x[N], zero[N];
    int32_t id[N];
} line;

typedef struct results {
    double ax[N], pot[N], distance[N];
    int32_t nearest_id[N];
    uint32_t nearest[N], count[N], list[N][CAPACITY];
} results;

static void line_fill(line *l)
{
    memset(l, 0, sizeof *l);
    for (int i = 0; i < N; i++) {
        l->m[i] = ldexp(1.0, i);
        l->x[i] = i;
        l->id[i] = 100 + i;
    }
}

static gv_ref_particles view(const line *l, const int32_t *id)
{
    return (gv_ref_particles){.n = N, .m = l->m, .id = id, .x = l->x, .y = l->zero, .z = l->zero};
}

static void compute(gv_ref_real real, const gv_ref_particles *i, const gv_ref_particles *j, const double *radius,
                    results *r)
{
    memset(r, 0xee, sizeof *r);
    gv_ref_forces out = {.ax = r->ax,
                         .pot = r->pot,
                         .nearest_id = r->nearest_id,
                         .nearest_address = r->nearest,
                         .nearest_distance = r->distance,
                         .neighbour_count = r->count,
                         .neighbour_address = &r->list[0][0]};
    assert_int_equal(gv_ref_direct(real, 2, i, j, 1.0, radius, CAPACITY, &out), 0);
}

/* -pot of sink i from the bodies that `pulls` names, eps = 1 */
static double expected_pot(const line *l, int i, const int pulls[N])
{
    double sum = 0.0;
    for (int j = 0; j < N; j++) {
        double d = l->x[j] - l->x[i];
        sum -= pulls[j] ? l->m[j] / sqrt(d * d + 1.0) : 0.0;
    }
    return sum;
}

static void check_pot(const line *l, const results *r, int i, const int pulls[N])
{
    double expected = expected_pot(l, i, pulls);
    assert_true(fabs(r->pot[i] - expected) <= 8 * 2.3e-16 * fabs(expected)); /* 8 terms */
}

static void self_by_id(void **state)
{
    (void)state;
    line l;
    results r;
    line_fill(&l);
    l.id[2] = l.id[5] = 7;  /* one id twice: neither pulls the other */
    l.id[3] = l.id[4] = -1; /* matches nothing, itself included */
    l.id[6] = INT32_MIN;
    l.id[7] = INT32_MAX;
    gv_ref_particles p = view(&l, l.id);
    for (int real = 0; real < 2; real++) {
        compute((gv_ref_real)real, &p, &p, NULL, &r);
        for (int i = 0; i < N; i++) {
            int pulls[N];
            for (int j = 0; j < N; j++)
                pulls[j] = i == 3 || i == 4 || (i != j && !(i == 2 && j == 5) && !(i == 5 && j == 2));
            check_pot(&l, &r, i, pulls);
        }
        /* 3 is nearest to itself: it has no identity */
        assert_int_equal(r.nearest[3], 3);
        assert_int_equal(r.nearest_id[3], -1);
        assert_true(r.distance[3] == 0.0);
    }
}

/* No sink ids: nothing is left out.  No source ids: the address is the id. */
static void absent_ids(void **state)
{
    (void)state;
    line l;
    results r;
    line_fill(&l);
    gv_ref_particles anonymous = view(&l, NULL), named = view(&l, l.id);
    const int all[N] = {1, 1, 1, 1, 1, 1, 1, 1};
    compute(GV_REF_DOUBLE, &anonymous, &anonymous, NULL, &r);
    for (int i = 0; i < N; i++)
        check_pot(&l, &r, i, all);
    for (int i = 0; i < N; i++)
        l.id[i] = (i + 1) % N;
    compute(GV_REF_DOUBLE, &named, &anonymous, NULL, &r);
    for (int i = 0; i < N; i++) {
        int pulls[N] = {1, 1, 1, 1, 1, 1, 1, 1};
        pulls[(i + 1) % N] = 0;
        check_pot(&l, &r, i, pulls);
        assert_int_equal(r.nearest[i], i); /* it stands on body i, which is not the same */
        assert_int_equal(r.nearest_id[i], i);
    }
}

static void nearest_and_ties(void **state)
{
    (void)state;
    line l;
    results r;
    line_fill(&l);
    l.m[1] = 0.0; /* pulls nothing, is a neighbour */
    gv_ref_particles p = view(&l, l.id);
    for (int real = 0; real < 2; real++) {
        compute((gv_ref_real)real, &p, &p, NULL, &r);
        for (int i = 0; i < N; i++) {
            int lower = i == 0 ? 1 : i - 1; /* both sides at distance 1: the lower address */
            assert_int_equal(r.nearest[i], lower);
            assert_int_equal(r.nearest_id[i], 100 + lower);
            assert_true(r.distance[i] == 1.0); /* unsoftened, though eps = 1 */
            assert_int_equal(r.count[i], 0);   /* no radius: no lists */
        }
    }
}

static void nobody_there(void **state)
{
    (void)state;
    line l;
    results r;
    line_fill(&l);
    for (int i = 0; i < N; i++)
        l.id[i] = 3;
    gv_ref_particles p = view(&l, l.id);
    const double radius[N] = {9, 9, 9, 9, 9, 9, 9, INFINITY};
    compute(GV_REF_DOUBLE, &p, &p, radius, &r);
    for (int i = 0; i < N; i++) {
        assert_int_equal(r.nearest_id[i], -1);
        assert_int_equal(r.nearest[i], UINT32_MAX);
        assert_true(isinf(r.distance[i]) && r.distance[i] > 0.0);
        assert_int_equal(r.count[i], 0);
        assert_true(r.pot[i] == 0.0 && r.ax[i] == 0.0);
    }
}

/* Distances are whole numbers, so radius 2 contains distance 2.  The count goes beyond the capacity, the list not, and
 * what lies behind its end is not touched. */
static void lists(void **state)
{
    (void)state;
    line l;
    results r;
    line_fill(&l);
    gv_ref_particles p = view(&l, l.id);
    const double radius[N] = {2.0, 1.999, 0.0, 2.0, 2.5, INFINITY, 1.0, 7.0};
    const uint32_t count[N] = {2, 2, 0, 4, 4, 7, 2, 7};
    const uint32_t list[N][CAPACITY] = {{1, 2}, {0, 2}, {0}, {1, 2, 4}, {2, 3, 5}, {0, 1, 2}, {5, 7}, {0, 1, 2}};
    for (int real = 0; real < 2; real++) {
        compute((gv_ref_real)real, &p, &p, radius, &r);
        for (int i = 0; i < N; i++) {
            assert_int_equal(r.count[i], count[i]);
            for (uint32_t k = 0; k < CAPACITY; k++)
                assert_int_equal(r.list[i][k], k < count[i] ? list[i][k] : 0xeeeeeeeeu);
        }
    }
}

/* Coincident bodies are neighbours at radius 0. */
static void coincident_neighbours(void **state)
{
    (void)state;
    line l;
    results r;
    line_fill(&l);
    l.x[4] = l.x[6] = l.x[1];
    gv_ref_particles p = view(&l, l.id);
    const double radius[N] = {0};
    compute(GV_REF_DOUBLE, &p, &p, radius, &r);
    assert_int_equal(r.count[4], 2);
    assert_int_equal(r.list[4][0], 1);
    assert_int_equal(r.list[4][1], 6);
    assert_int_equal(r.nearest[4], 1);
    assert_int_equal(r.nearest[1], 4);
    assert_true(r.distance[1] == 0.0);
    assert_int_equal(r.count[0], 0);
}

/* Random points: nearest and lists against a search written the other way round (radius and address sorted by scan). */
static void random_points(void **state)
{
    (void)state;
    enum { M = 150, ROOM = 200 };
    static double p[3][M], radius[M], zero[M], distance[M];
    static uint32_t list[M][ROOM], count[M], nearest[M];
    gv_random random;
    gv_random_seed(&random, 77);
    for (int i = 0; i < M; i++) {
        for (int c = 0; c < 3; c++)
            p[c][i] = gv_random_unit(&random);
        radius[i] = 0.6 * gv_random_unit(&random);
    }
    gv_ref_particles set = {.n = M, .m = zero, .x = p[0], .y = p[1], .z = p[2]};
    static int32_t id[M];
    for (int i = 0; i < M; i++)
        id[i] = i;
    gv_ref_particles sinks = set;
    sinks.id = id;
    gv_ref_forces out = {.nearest_address = nearest,
                         .nearest_distance = distance,
                         .neighbour_count = count,
                         .neighbour_address = &list[0][0]};
    assert_int_equal(gv_ref_direct(GV_REF_LONG_DOUBLE, 2, &sinks, &set, 0.0, radius, ROOM, &out), 0);
    for (uint32_t i = 0; i < M; i++) {
        uint32_t next = 0;
        for (uint32_t j = 0; j < M; j++) {
            double d = hypot(hypot(p[0][i] - p[0][j], p[1][i] - p[1][j]), p[2][i] - p[2][j]);
            assert_true(j == i || d >= distance[i] * (1.0 - 1e-15));
            if (j == nearest[i])
                assert_true(fabs(d - distance[i]) <= 1e-15);
            if (j != i && d <= radius[i])
                assert_int_equal(list[i][next++], j);
        }
        assert_int_equal(next, count[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(self_by_id),    cmocka_unit_test(absent_ids), cmocka_unit_test(nearest_and_ties),
        cmocka_unit_test(nobody_there),  cmocka_unit_test(lists),      cmocka_unit_test(coincident_neighbours),
        cmocka_unit_test(random_points),
    };
    return cmocka_run_group_tests_name("ref_neighbours", tests, NULL, NULL);
}
