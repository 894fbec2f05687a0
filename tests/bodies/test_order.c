/* Bodies are removed and moved, and the permutation says where they were. */
#include "gravel/exchange.h"
#include "host/bodies/bodies.h"
#include "host/bodies/order.h"
#include "one_context.h"

#include <malloc.h>
#include <math.h>

enum { N = 3000 };

/* Bodies k whose planes all hold k + 1 */
static gravel_bodies *numbered(gravel_precision precision)
{
    static double x[N];
    static int32_t id[N];
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_bodies *bodies;
    const gravel_frame frame = {{0, 0, 0}, 1, 1};
    for (int k = 0; k < N; k++) {
        x[k] = k + 1;
        id[k] = k + 1;
    }
    const gravel_array one = GRAVEL_ARRAY(x), soa = GRAVEL_ARRAY_SOA(x, x, x), ids = {id, NULL, NULL, 1, GRAVEL_I32};
    options.precision = precision;
    assert_ok(gravel_bodies_create(&bodies, context, &options));
    assert_ok(gravel_bodies_set_frame(bodies, &frame));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N, &soa));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_MASS, 0, N, &one));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_TIME, 0, N, &one));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_ID, 0, N, &ids));
    return bodies;
}

static void check(gravel_bodies *bodies, size_t n, const int *which)
{
    static double x[N], m[N], t[N];
    static int32_t id[N];
    const gravel_array_out z = GRAVEL_ARRAY_OUT_SOA(NULL, NULL, x), mass = GRAVEL_ARRAY_OUT(m),
                           time = GRAVEL_ARRAY_OUT(t), ids = {id, NULL, NULL, 1, GRAVEL_I32};
    assert_int_equal(gravel_bodies_get_count(bodies), n);
    assert_ok(gravel_bodies_read(bodies, GRAVEL_POSITION, 0, n, &z));
    assert_ok(gravel_bodies_read(bodies, GRAVEL_MASS, 0, n, &mass));
    assert_ok(gravel_bodies_read(bodies, GRAVEL_TIME, 0, n, &time));
    assert_ok(gravel_bodies_read(bodies, GRAVEL_ID, 0, n, &ids));
    for (size_t k = 0; k < n; k++) {
        assert_true(x[k] == which[k] && m[k] == which[k] && t[k] == which[k]);
        assert_int_equal(id[k], which[k] > 0 ? which[k] : -1);
    }
}

static void removal(void **state)
{
    (void)state;
    static uint32_t gone[N], from[N], to[N];
    static int which[N];
    const gravel_precision best = gravel_context_get_device(context, 0)->has_fp64 ? GRAVEL_DP : GRAVEL_DS;
    for (gravel_precision p = GRAVEL_SP; p <= best; p++) {
        size_t n = 0, before = 99, g = 0;
        gravel_bodies *bodies = numbered(p);
        assert_ok(gravel_bodies_get_permutation(bodies, from, NULL, &before));
        assert_true(before == 0 && from[5] == GRAVEL_NONE); /* all are new */
        gravel_bodies_mark(bodies);
        for (int k = N - 1; k >= 0; k--) /* backwards: the list need not be sorted */
            if (k % 3 == 1)
                gone[g++] = (uint32_t)k;
        for (int k = 0; k < N; k++)
            if (k % 3 != 1)
                which[n++] = k + 1;
        assert_ok(gravel_bodies_remove(bodies, gone, g));
        check(bodies, n, which);
        const uint32_t first[1] = {0}, twice[2] = {4, 4}, beyond[1] = {(uint32_t)n};
        assert_ok(gravel_bodies_remove(bodies, first, 1));
        n--;
        memmove(which, which + 1, n * sizeof *which);
        assert_int_equal(gravel_bodies_remove(bodies, twice, 2), GRAVEL_ERR_ARGUMENT);
        assert_int_equal(gravel_bodies_remove(bodies, beyond, 1), GRAVEL_ERR_ARGUMENT);
        assert_ok(gravel_bodies_resize(bodies, n - 1));
        assert_ok(gravel_bodies_resize(bodies, n + 1)); /* two new ones */
        which[n - 1] = which[n] = 0;
        check(bodies, n + 1, which);
        assert_ok(gravel_bodies_get_permutation(bodies, from, to, &before));
        assert_int_equal(before, N);
        for (size_t k = 0; k <= n; k++)
            assert_int_equal(from[k], which[k] > 0 ? (uint32_t)which[k] - 1 : GRAVEL_NONE);
        for (size_t k = 0; k < N; k++)
            assert_true(to[k] == GRAVEL_NONE ? k == 0 || k % 3 == 1 || k == N - 1 : from[to[k]] == k);
        gravel_bodies_release(bodies);
    }
}

static void all_go(void **state)
{
    (void)state;
    static uint32_t every[N];
    gravel_bodies *bodies = numbered(GRAVEL_SP);
    for (uint32_t k = 0; k < N; k++)
        every[k] = k;
    assert_ok(gravel_bodies_remove(bodies, every, N));
    assert_int_equal(gravel_bodies_get_count(bodies), 0);
    assert_ok(gravel_bodies_resize(bodies, N));
    memset(every, 0, sizeof every);
    check(bodies, N, (const int *)every); /* massless, id -1 */
    gravel_bodies_release(bodies);
}

/* Numbers that bodies got stay when ids are refused with another plane, of few bodies and of several blocks. */
static void own_ids_after_refusal(void **state)
{
    (void)state;
    enum { MANY = 70000 };
    static int32_t id[MANY];
    static double x[MANY];
    const gravel_plane plane[2] = {GRAVEL_ID, GRAVEL_POSITION};
    const gravel_array from[2] = {{id, NULL, NULL, 1, GRAVEL_I32}, GRAVEL_ARRAY_SOA(x, x, x)};
    const uint32_t gone[1] = {0};
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_bodies *bodies;
    assert_ok(gravel_bodies_create(&bodies, context, &options));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N + 1, &from[1]));
    assert_ok(gv_bodies_need_ids(bodies));
    assert_ok(gravel_bodies_remove(bodies, gone, 1));
    for (size_t n = 2; n <= MANY; n += MANY - 2) {
        x[1] = NAN;
        assert_int_equal(gravel_bodies_update(bodies, NULL, 0, n, 2, plane, from), GRAVEL_ERR_INPUT);
        x[1] = 0;
        assert_ok(gravel_bodies_read(bodies, GRAVEL_ID, 0, N, &(gravel_array_out){id, NULL, NULL, 1, GRAVEL_I32}));
        for (int k = 0; k < N; k++)
            assert_int_equal(id[k], k + 1);
    }
    assert_ok(gravel_bodies_update(bodies, NULL, 0, 2, 2, plane, from));
    assert_ok(gravel_bodies_read(bodies, GRAVEL_ID, 0, N, &(gravel_array_out){id, NULL, NULL, 1, GRAVEL_I32}));
    assert_true(id[0] == 1 && id[1] == 2 && id[2] == -1 && id[N - 1] == -1);
    gravel_bodies_release(bodies);
}

static double random_number(uint64_t *state) /* splitmix64, 0 ... 1 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

/* Mean distance of neighbours in memory. */
static double mean_step(const double (*x)[3], size_t n)
{
    double sum = 0;
    for (size_t k = 1; k < n; k++)
        sum += sqrt(pow(x[k][0] - x[k - 1][0], 2) + pow(x[k][1] - x[k - 1][1], 2) + pow(x[k][2] - x[k - 1][2], 2));
    return sum / (double)(n - 1);
}

static void key_order(void **state)
{
    (void)state;
    static double x[N][3], ordered[N][3];
    static uint32_t from[N], to[N];
    static int32_t id[N];
    const gravel_precision best = gravel_context_get_device(context, 0)->has_fp64 ? GRAVEL_DP : GRAVEL_DS;
    const gravel_array aos = GRAVEL_ARRAY_AOS(x);
    const gravel_array_out out = GRAVEL_ARRAY_OUT_AOS(ordered), ids = {id, NULL, NULL, 1, GRAVEL_I32};
    uint64_t seed = 5;
    for (int k = 0; k < 3 * N; k++)
        x[k / 3][k % 3] = (float)random_number(&seed);
    for (gravel_precision p = GRAVEL_SP; p <= best; p++) {
        size_t before;
        gravel_bodies *bodies = numbered(p);
        assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N, &aos));
        gravel_bodies_mark(bodies);
        assert_ok(gravel_bodies_order_by_key(bodies));
        assert_ok(gravel_bodies_get_permutation(bodies, from, to, &before));
        assert_int_equal(before, N);
        assert_ok(gravel_bodies_read(bodies, GRAVEL_POSITION, 0, N, &out));
        assert_ok(gravel_bodies_read(bodies, GRAVEL_ID, 0, N, &ids));
        for (uint32_t k = 0; k < N; k++) {
            assert_true(from[k] < N && to[from[k]] == k);
            assert_int_equal(id[k], from[k] + 1);
            assert_memory_equal(ordered[k], x[from[k]], sizeof x[0]);
        }
        /* random neighbours are 0.66 apart; along the curve about the mean distance of bodies, N^(-1/3) = 0.07 */
        assert_true(mean_step((const double(*)[3])x, N) > 0.5);
        assert_true(mean_step((const double(*)[3])ordered, N) < 0.2);
        gravel_bodies_mark(bodies); /* the order is that of the keys: again changes nothing */
        assert_ok(gravel_bodies_order_by_key(bodies));
        assert_ok(gravel_bodies_get_permutation(bodies, from, NULL, NULL));
        for (uint32_t k = 0; k < N; k++)
            assert_int_equal(from[k], k);
        gravel_bodies_release(bodies);
    }
}

/* An exchange outlives its bodies: only released then. */
static void exchange_after_its_bodies(void **state)
{
    (void)state;
    gravel_bodies *bodies = numbered(GRAVEL_SP);
    gravel_exchange *exchange;
    uint64_t key;
    double weight;
    int count;
    assert_ok(gravel_exchange_create(&exchange, bodies, 1, 0));
    assert_ok(gravel_exchange_order(exchange, -1, 1, &key, &weight, &count));
    mallopt(M_PERTURB, 165); /* what is freed does not look as before */
    gravel_bodies_release(bodies);
    mallopt(M_PERTURB, 0);
    gravel_exchange_release(exchange);
}

/* A part without bodies has the planes of the others also after a plane of weights was asked for that none had. */
static void weights_of_no_bodies(void **state)
{
    (void)state;
    gravel_bodies *part[2] = {numbered(GRAVEL_DS), numbered(GRAVEL_DS)};
    gravel_exchange *exchange[2];
    uint64_t key;
    double weight;
    int count;
    assert_ok(gravel_bodies_resize(part[1], 0));
    for (int p = 0; p < 2; p++)
        assert_ok(gravel_exchange_create(&exchange[p], part[p], 2, p));
    for (int k = 0; k < 2; k++) {
        for (int p = 0; p < 2; p++) {
            if (k == 0)
                assert_ok(gravel_exchange_weigh(exchange[p], GRAVEL_USER, &weight));
            else
                assert_ok(gravel_exchange_order(exchange[p], GRAVEL_USER + 1, 1, &key, &weight, &count));
            assert_true(weight == 0);
        }
        assert_int_equal(gravel_exchange_get_planes(exchange[0]), gravel_exchange_get_planes(exchange[1]));
    }
    for (int p = 0; p < 2; p++) {
        gravel_exchange_release(exchange[p]);
        gravel_bodies_release(part[p]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(removal),
                                       cmocka_unit_test(all_go),
                                       cmocka_unit_test(key_order),
                                       cmocka_unit_test(exchange_after_its_bodies),
                                       cmocka_unit_test(own_ids_after_refusal),
                                       cmocka_unit_test(weights_of_no_bodies)};
    return cmocka_run_group_tests(tests, open_context, close_context);
}
