/* Bodies without ids: src/host/bodies/bodies.c. */
#include "problem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gravel/direct.h"
#include "gravel/opencl.h"
#include "host/bodies/order.h"

/* Bodies without ids do not act on themselves, also those that were added, or stayed when others were removed. */
static void no_ids(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 5 };
    static const double x[N] = {0, 1, 3, 7, 15}, zero[N] = {0}, mass[N] = {1, 1, 1, 1, 1};
    const double eps = 0.5;
    double pot[N];
    const uint32_t second = 1;
    gravel_bodies_options stored = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_bodies *bodies_of_test;
    gravel_direct *direct;
    gravel_ticket *ticket;
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    gravel_forces forces;
    memset(&forces, 0, sizeof forces);
    forces.pot = pot;
    assert_ok(gravel_bodies_create(&bodies_of_test, context, &stored));
    assert_ok(gravel_direct_create(&direct, context, NULL));
    call.sources = call.sinks = gravel_view_all(bodies_of_test);
    call.eps = eps;
    /* four bodies; without the second; with a fifth */
    static const double at[3][4] = {{0, 1, 3, 7}, {0, 3, 7}, {0, 3, 7, 15}};
    static const size_t count[3] = {4, 3, 4};
    for (int turn = 0; turn < 3; turn++) {
        if (turn == 1) {
            assert_ok(gravel_bodies_remove(bodies_of_test, &second, 1));
        } else {
            const size_t first = turn == 0 ? 0 : 3, from = turn == 0 ? 0 : 4, n = turn == 0 ? 4 : 1;
            assert_ok(gravel_bodies_write(bodies_of_test, GRAVEL_POSITION, first, n,
                                          &GRAVEL_ARRAY_SOA(x + from, zero, zero)));
            assert_ok(gravel_bodies_write(bodies_of_test, GRAVEL_MASS, first, n, &GRAVEL_ARRAY(mass)));
        }
        assert_ok(gravel_direct_start(direct, &call, &ticket));
        assert_ok(gravel_ticket_collect(ticket, &forces, NULL));
        gravel_ticket_release(ticket);
        for (size_t i = 0; i < count[turn]; i++) {
            double sum = 0;
            for (size_t j = 0; j < count[turn]; j++)
                if (j != i)
                    sum -= 1 / sqrt((at[turn][j] - at[turn][i]) * (at[turn][j] - at[turn][i]) + eps * eps);
            assert_true(fabs(pot[i] / sum - 1) < 1e-5); /* sp: a few roundings of 6e-8 */
        }
    }
    gravel_direct_release(direct);
    gravel_bodies_release(bodies_of_test);
}

/* Potentials of `sinks` from `sources`. */
static void find(gravel_direct *direct, gravel_bodies *sources, gravel_bodies *sinks, double eps, double *pot)
{
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    gravel_ticket *ticket;
    gravel_forces forces;
    memset(&forces, 0, sizeof forces);
    forces.pot = pot;
    call.sources = gravel_view_all(sources);
    call.sinks = gravel_view_all(sinks);
    call.eps = eps;
    assert_ok(gravel_direct_start(direct, &call, &ticket));
    assert_ok(gravel_ticket_collect(ticket, &forces, NULL));
    gravel_ticket_release(ticket);
}

static gravel_bodies *on_a_line(gravel_context *context, size_t n, const double *x)
{
    static const double zero[8] = {0}, one[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    gravel_bodies *made;
    assert_ok(gravel_bodies_create(&made, context, NULL));
    assert_ok(gravel_bodies_write(made, GRAVEL_POSITION, 0, n, &GRAVEL_ARRAY_SOA(x, zero, zero)));
    assert_ok(gravel_bodies_write(made, GRAVEL_MASS, 0, n, &GRAVEL_ARRAY(one)));
    return made;
}

static void check_potentials(size_t n, const double *at, size_t n_sources, const double *from, int own, double eps,
                             const double *pot)
{
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < n_sources; j++)
            if (!own || j != i)
                sum -= 1 / sqrt((from[j] - at[i]) * (from[j] - at[i]) + eps * eps);
        assert_true(fabs(pot[i] / sum - 1) < 1e-5); /* sp: a few roundings of 6e-8 */
    }
}

/* Two sets of bodies, both without ids: what numbers they got from forces of their own does not name the other's. */
static void two_sets(void **state)
{
    CONTEXT_OR_SKIP(context)
    static const double x[2][4] = {{0, 1, 3, 7}, {0.5, 2, 5, 6}};
    const double eps = 0.5;
    double pot[4];
    gravel_direct *direct;
    gravel_bodies *set[2] = {on_a_line(context, 4, x[0]), on_a_line(context, 4, x[1])};
    assert_ok(gravel_direct_create(&direct, context, NULL));
    for (int turn = 0; turn < 2; turn++) /* before and after both have numbers */
        for (int from = 0; from < 2; from++)
            for (int to = 0; to < 2; to++) {
                find(direct, set[from], set[to], eps, pot);
                check_potentials(4, x[to], 4, x[from], from == to, eps, pot);
            }
    /* ids that are given replace the numbers: all are the same body now */
    for (int k = 0; k < 2; k++)
        assert_ok(gravel_bodies_fill(set[k], GRAVEL_ID, 7));
    find(direct, set[0], set[1], eps, pot);
    for (int k = 0; k < 4; k++)
        assert_true(pot[k] == 0);
    gravel_direct_release(direct);
    gravel_bodies_release(set[0]);
    gravel_bodies_release(set[1]);
}

/* Bodies that come where others have gone, with no force in between, get numbers too. */
static void shrunk_and_grown(void **state)
{
    CONTEXT_OR_SKIP(context)
    static const double x[4] = {0, 1, 3, 7}, zero[4] = {0}, one[4] = {1, 1, 1, 1};
    double pot[4];
    gravel_direct *direct;
    gravel_bodies *set = on_a_line(context, 4, x);
    assert_ok(gravel_direct_create(&direct, context, NULL));
    find(direct, set, set, 0.5, pot);
    assert_ok(gravel_bodies_resize(set, 2));
    assert_ok(gravel_bodies_write(set, GRAVEL_POSITION, 0, 4, &GRAVEL_ARRAY_SOA(x, zero, zero)));
    assert_ok(gravel_bodies_write(set, GRAVEL_MASS, 0, 4, &GRAVEL_ARRAY(one)));
    find(direct, set, set, 0.5, pot);
    check_potentials(4, x, 4, x, 1, 0.5, pot);
    gravel_direct_release(direct);
    gravel_bodies_release(set);
}

/* Ids of some bodies do not meet the numbers that the others had: those have none, and act on themselves. */
static void ids_of_some(void **state)
{
    CONTEXT_OR_SKIP(context)
    static const double x[4] = {0, 1, 3, 7};
    static const int32_t third = 2;
    const double eps = 0.5;
    double pot[4];
    int32_t id[4];
    gravel_direct *direct;
    gravel_bodies *set = on_a_line(context, 4, x);
    const gravel_array one = {&third, NULL, NULL, 1, GRAVEL_I32}, none = {x, NULL, NULL, 1, GRAVEL_F64};
    const gravel_array_out ids = {id, NULL, NULL, 1, GRAVEL_I32};
    assert_ok(gravel_direct_create(&direct, context, NULL));
    find(direct, set, set, eps, pot);
    assert_int_equal(gravel_bodies_write(set, GRAVEL_ID, 0, 1, &none), GRAVEL_ERR_ARGUMENT);
    find(direct, set, set, eps, pot);
    check_potentials(4, x, 4, x, 1, eps, pot); /* the refused write has left the numbers */
    assert_ok(gravel_bodies_write(set, GRAVEL_ID, 0, 1, &one));
    assert_ok(gravel_bodies_read(set, GRAVEL_ID, 0, 4, &ids));
    for (int k = 0; k < 4; k++)
        assert_int_equal(id[k], k == 0 ? 2 : -1);
    find(direct, set, set, eps, pot);
    pot[0] -= 1 / eps;
    check_potentials(4, x, 4, x, 0, eps, pot);
    gravel_direct_release(direct);
    gravel_bodies_release(set);
}

/* A point with the address of a source as its id is this source, whether or not there were forces before. */
static void points_by_address(void **state)
{
    CONTEXT_OR_SKIP(context)
    static const double x[4] = {0, 1, 3, 7}, zero = 0;
    static const int32_t second = 1;
    double pot;
    gravel_direct *direct;
    gravel_bodies *set = on_a_line(context, 4, x);
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    gravel_sinks point;
    gravel_forces forces;
    gravel_ticket *ticket;
    assert_ok(gravel_direct_create(&direct, context, NULL));
    memset(&point, 0, sizeof point);
    memset(&forces, 0, sizeof forces);
    point.count = 1;
    point.id = &second;
    point.pos = GRAVEL_VEC_SOA(&x[1], &zero, &zero);
    forces.pot = &pot;
    call.sources = gravel_view_all(set);
    call.points = &point;
    call.eps = 0.5;
    assert_ok(gravel_direct_start(direct, &call, &ticket));
    assert_non_null(gravel_ticket_get_cl_event(ticket));
    assert_ok(gravel_ticket_collect(ticket, &forces, NULL));
    gravel_ticket_release(ticket);
    assert_true(fabs(pot / -(1 / sqrt(1.25) + 1 / sqrt(4.25) + 1 / sqrt(36.25)) - 1) < 1e-5);
    gravel_direct_release(direct);
    gravel_bodies_release(set);
}

/* Few sinks anywhere among the sources, with ids in no order: none acts on itself, whichever way meetings are found
 * (kernels/direct/meet.h).  With this softening a body would add a million times its mass to its own potential. */
static void sinks_anywhere(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 1500, SINKS = 83, STEP = 17 };
    static const char *const shapes[] = {"threads=32 split=4 tile=64 lanes=1 sinks_per_item=2 unroll=8 rsqrt=0",
                                         "threads=64 split=1 tile=32 lanes=1 sinks_per_item=1 unroll=2 rsqrt=0",
                                         "threads=16 split=2 tile=64 lanes=2 sinks_per_item=1 unroll=1 rsqrt=0",
                                         "threads=1 split=1 tile=0 lanes=8 sinks_per_item=2 unroll=4 rsqrt=0",
                                         "threads=32 split=8 tile=0 lanes=1 sinks_per_item=3 unroll=1 rsqrt=0"};
    static double x[3][N], mass[N], pot[SINKS], distance[SINKS];
    static int32_t id[N];
    uint32_t draw = 1;
    for (int k = 0; k < N; k++) {
        for (int c = 0; c < 3; c++)
            x[c][k] = (double)(draw = draw * 1664525u + 1013904223u) * 0x1p-32;
        mass[k] = 1.0 / N;
        /* all numbers but -1, both ends among them */
        id[k] = k == 2 * STEP ? INT32_MAX : k == 5 * STEP ? INT32_MIN : (int32_t)((uint32_t)k * 2654435761u);
    }
    for (int nearest = 0; nearest < 2; nearest++)
        for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++)
            for (int meet = 0; meet < 2; meet++) {
                gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
                gravel_direct *direct;
                gravel_sources sources;
                gravel_sinks sinks;
                gravel_forces forces;
                char configuration[160];
                snprintf(configuration, sizeof configuration, "%s blocks_per_cu=2 keep=0 meet=%d", shapes[shape], meet);
                options.configuration = configuration;
                options.nearest = nearest;
                assert_ok(gravel_direct_create(&direct, context, &options));
                memset(&sources, 0, sizeof sources);
                sources.count = N;
                sources.mass = mass;
                sources.id = id;
                sources.pos = GRAVEL_VEC_SOA(x[0], x[1], x[2]);
                assert_ok(gravel_direct_write_sources(direct, 0, &sources));
                memset(&sinks, 0, sizeof sinks);
                sinks.count = SINKS;
                sinks.id = id;
                sinks.id_stride = STEP;
                sinks.pos = (gravel_vec){x[0], x[1], x[2], STEP};
                memset(&forces, 0, sizeof forces);
                forces.pot = pot;
                forces.nearest_distance = nearest ? distance : NULL;
                assert_ok(gravel_direct_submit(direct, &sinks, 1e-6));
                assert_ok(gravel_direct_collect(direct, &forces, NULL));
                for (int i = 0; i < SINKS; i++) {
                    double sum = 0, least = INFINITY;
                    for (int j = 0; j < N; j++) {
                        double r2 = 0;
                        for (int c = 0; c < 3; c++)
                            r2 += (x[c][j] - x[c][i * STEP]) * (x[c][j] - x[c][i * STEP]);
                        sum -= j != i * STEP ? mass[j] / sqrt(r2 + 1e-12) : 0;
                        least = j != i * STEP ? fmin(least, sqrt(r2)) : least;
                    }
                    /* sp: the nearest are 0.01 away, and positions are known to 6e-8 */
                    assert_true(fabs(pot[i] / sum - 1) < 1e-5);
                    assert_true(!nearest || fabs(distance[i] / least - 1) < 1e-3);
                }
                gravel_direct_release(direct);
            }
}

/* The configuration of the only call of this object, and of which set it is. */
static int set_of_call(gravel_direct *direct, char *text, size_t size)
{
    int set = -1;
    assert_true(gravel_direct_get_choices(direct, text, size) <= size);
    assert_int_equal(sscanf(text, "%d", &set), 1);
    assert_null(strchr(strchr(text, '\n') + 1, '\n'));
    return set;
}

/* Where ids are in no order, of the sources or of sinks with ids, nearly all lie between those of any group: meetings
 * are looked for by the ids themselves, and the results are right.  Whoever names a configuration gets it. */
static void ids_in_no_order(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 1100, ORDERED = 0, MIXED = 2 };
    static const struct {
        int mixes_sources, mixes_sinks, has_ids, set;
    } c[] = {{0, 0, 1, ORDERED}, {1, 1, 1, MIXED}, {0, 1, 1, MIXED}, {1, 0, 1, MIXED}, {0, 0, 0, ORDERED}};
    static double x[3][N], mass[N], distance[N], expected[N];
    static int32_t id[2][N];
    static char text[8192];
    uint32_t draw = 1;
    for (int k = 0; k < N; k++) {
        for (int i = 0; i < 3; i++)
            x[i][k] = (double)(draw = draw * 1664525u + 1013904223u) * 0x1p-32;
        mass[k] = 1.0 / N;
        id[0][k] = k;
        id[1][k] = k * 459 % N; /* 459 and 1100 have no common divisor */
    }
    for (size_t k = 0; k < sizeof c / sizeof *c; k++)
        for (int named = 0; named < 2; named++) {
            gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
            gravel_direct *direct;
            options.nearest = 1;
            options.configuration = named ? "meet=0" : NULL;
            assert_ok(gravel_direct_create(&direct, context, &options));
            const gravel_vec pos = GRAVEL_VEC_SOA(x[0], x[1], x[2]);
            const int32_t *const of_sources = id[c[k].mixes_sources], *const of_sinks = id[c[k].mixes_sinks];
            const gravel_sources sources = {.count = N, .mass = mass, .id = of_sources, .pos = pos};
            const gravel_sinks sinks = {.count = N, .id = c[k].has_ids ? of_sinks : NULL, .pos = pos};
            const gravel_forces forces = {.nearest_distance = distance};
            assert_ok(gravel_direct_write_sources(direct, 0, &sources));
            assert_ok(gravel_direct_submit(direct, &sinks, 1e-2));
            assert_ok(gravel_direct_collect(direct, &forces, NULL));
            assert_int_equal(set_of_call(direct, text, sizeof text), c[k].set);
            if (named || c[k].set == MIXED)
                assert_non_null(strstr(text, named ? "meet=0" : "meet=1"));
            for (int i = 0; i < N && c[k].has_ids && c[k].mixes_sources == c[k].mixes_sinks; i++) {
                expected[i] = k == 0 ? distance[i] : expected[i];
                /* the same positions and neighbours, by other operations: places of 6e-8 in distances of 0.01 */
                assert_true(distance[i] > 0 && fabs(distance[i] / expected[i] - 1) < 1e-4);
            }
            gravel_direct_release(direct);
        }
}

/* The same for bodies: 0 ids in order, 1 in none, 2 brought into another order, 3 a list of addresses in no order, 4
 * restored, 5 some removed. */
static void bodies_in_no_order(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 1100, LISTED = 300, ORDERED = 0, MIXED = 2 };
    static double x[N];
    static int32_t id[2][N];
    static uint32_t any[N];
    static char text[8192];
    for (int k = 0; k < N; k++) {
        x[k] = k * 459 % N;
        id[0][k] = 7 * k;
        any[k] = (uint32_t)(k * 459 % N);
        id[1][k] = (int32_t)any[k];
    }
    for (int kind = 0; kind < 6; kind++) {
        gravel_bodies_options stored = GRAVEL_BODIES_OPTIONS_INIT;
        gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
        gravel_bodies *set;
        gravel_list *list;
        gravel_direct *direct;
        gravel_ticket *ticket;
        const gravel_array ids = {id[kind == 1 || kind == 4], NULL, NULL, 1, GRAVEL_I32};
        assert_ok(gravel_bodies_create(&set, context, &stored));
        assert_ok(gravel_list_create(&list, context, 0));
        assert_ok(gravel_direct_create(&direct, context, NULL));
        assert_ok(gravel_bodies_write(set, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_SOA(x, x, x)));
        assert_ok(gravel_bodies_write(set, GRAVEL_ID, 0, N, &ids));
        if (kind == 5)
            assert_ok(gravel_bodies_remove(set, any, N / 2));
        if (kind == 2)
            assert_ok(gravel_bodies_order_by_key(set));
        if (kind == 4) {
            const size_t size = gravel_bodies_get_state_size(set);
            void *saved = malloc(size);
            assert_non_null(saved);
            assert_ok(gravel_bodies_save(set, saved));
            assert_ok(gravel_bodies_write(set, GRAVEL_ID, 0, N, &(gravel_array){id[0], NULL, NULL, 1, GRAVEL_I32}));
            assert_ok(gravel_bodies_restore(set, saved, size));
            free(saved);
        }
        assert_ok(gravel_list_write(list, any, kind == 3 ? LISTED : 1));
        call.sources = gravel_view_all(set);
        call.sinks = kind == 3 ? gravel_view_list(set, list) : gravel_view_all(set);
        call.eps = 1;
        assert_ok(gravel_direct_start(direct, &call, &ticket));
        gravel_ticket_release(ticket);
        assert_int_equal(set_of_call(direct, text, sizeof text), kind == 0 || kind == 5 ? ORDERED : MIXED);
        gravel_direct_release(direct);
        gravel_list_release(list);
        gravel_bodies_release(set);
    }
}

/* What is looked at tells numbers in order, up or down, in steps or in some stretches, from those in none. */
static void mixed_numbers(void **state)
{
    (void)state;
    enum { N = 3000 };
    static int32_t number[2 * N];
    for (int kind = 0; kind < 6; kind++)
        for (size_t n = 0; n <= N; n = n < 8 ? n + 1 : 2 * n) {
            uint32_t draw = 7;
            for (size_t k = 0; k < n; k++) {
                draw = draw * 1664525u + 1013904223u;
                const int32_t up = (int32_t)k, any = (int32_t)(draw >> 1);
                number[2 * k] = kind == 0   ? up
                                : kind == 1 ? -up
                                : kind == 2 ? 5
                                : kind == 3 ? up % 500
                                : kind == 4 ? INT32_MIN + 7 * up
                                            : any;
                number[2 * k + 1] = any;
            }
            assert_int_equal(gv_are_mixed(number, 2, n), kind == 5 && n >= GV_MIXED_LEAST);
            assert_int_equal(gv_are_mixed(number + 1, 2, n), n >= GV_MIXED_LEAST);
        }
    assert_false(gv_are_mixed(NULL, 1, N));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_ids),          cmocka_unit_test(two_sets),           cmocka_unit_test(shrunk_and_grown),
        cmocka_unit_test(ids_of_some),     cmocka_unit_test(points_by_address),  cmocka_unit_test(sinks_anywhere),
        cmocka_unit_test(ids_in_no_order), cmocka_unit_test(bodies_in_no_order), cmocka_unit_test(mixed_numbers)};
    return cmocka_run_group_tests(tests, context_open, context_close);
}
