/* libgravel_g5 over a long time: lists of all lengths, opened and closed, with tables and cells, without growth. */
#include "growth.h"

#include "gravel/g5.h"

enum { N = 60, SINKS = 7 };

static double x[N][3], m[N], q[N][6], a[N][3], p[N];

static void one_round(void *user, int round)
{
    const int with_table = *(const int *)user;
    const int nj = 1 + round * 13 % N, id = round % 3;
    assert_int_equal(g5_set_xmjMC(id, 0, nj, x, m), 0);
    assert_int_equal(g5_set_nMC(id, nj), 0);
    assert_int_equal(g5_set_xiMC(id, SINKS, x), 0);
    assert_int_equal(g5_runMC(id), 0);
    if (round % 8 == 5)
        return; /* never collected */
    assert_int_equal(g5_get_forceMC(id, SINKS, a, p), 0);
    if (!with_table && round % 16 == 3) {
        assert_int_equal(g5c_set_xmjMC(0, 0, nj, x, m, q), 0);
        assert_int_equal(g5c_calculate_force_on_xMC(0, x, a, p, SINKS), 0);
    }
}

static void memory_does_not_grow(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int k = 0; k < N; k++) {
        m[k] = 1;
        for (int c = 0; c < 3; c++)
            x[k][c] = random_unit(&seed);
    }
    assert_int_equal(g5_set_eps_to_all(0.1), 0);
    int with_table = 0;
    /* what several.h keeps of changed sources grows to its bound first; a round in two may not lose a block */
    assert_no_growth(9000, 3000, 16, one_round, &with_table);
    assert_int_equal(pg5_gen_s2_force_table(0.1, 0.9), 0);
    with_table = 1;
    assert_no_growth(480, 480, 16, one_round, &with_table); /* all lengths with all kinds of rounds: 240 */
    assert_int_equal(pg5_set_plummer_table(), 0);
}

/* Closed with a run under way, and with nothing set. */
static void opened_again(void **state)
{
    (void)state;
    for (int turn = 0; turn < 3; turn++) {
        assert_int_equal(g5_open(), 0);
        assert_int_equal(g5_set_xmj(0, N, x, m), 0);
        assert_int_equal(g5_set_xi(SINKS, x), 0);
        assert_int_equal(g5_run(), 0);
        assert_int_equal(g5_close(), 0);
        assert_int_equal(g5_close(), 0);
        assert_int_equal(g5_get_force(SINKS, a, p), -1);
        assert_true(isnan(p[0]));
    }
    /* one device id alone: the others keep what they have */
    assert_int_equal(g5_set_xmjMC(1, 0, 1, x, m), 0);
    assert_int_equal(g5_set_xmjMC(2, 0, 1, x, m), 0);
    assert_int_equal(g5_closeMC(1), 0);
    assert_int_equal(g5_calculate_force_on_xMC(1, x, a, p, 1), 0);
    assert_true(p[0] == 0);
    assert_int_equal(g5_calculate_force_on_xMC(2, x, a, p, 1), 0);
    assert_true(fabs(p[0] - 10) < 1e-5);
    assert_int_equal(g5_close(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_does_not_grow), cmocka_unit_test(opened_again)};
    if (no_device())
        return 0;
    setenv("GRAVEL_COMPAT_LOG", "none", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
