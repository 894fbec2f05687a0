/* libgravel_g6 over a long time, and from several threads. */
#include "g6_test.h"
#include "growth.h"

#include <pthread.h>

/* One round of an integrator with individual steps: a source, a time, a sink. */
static void one_round(bodies *b, rows *r, int round)
{
    const size_t k = (size_t)round % b->n;
    assert_int_equal(send_one(b, k, (int)k), 0);
    assert_int_equal(g6_set_ti(0, 1e-6 * round), 0);
    first_half(r, b->n, 0.1);
    if (round % 64 == 5)
        return; /* never collected */
    assert_int_equal((round % 2 ? last_half : last_half_2)(r, b->n, 0.1), 0);
    if (round % 16 == 3)
        assert_int_equal(g6_read_neighbour_list(0), 0);
}

typedef struct caller {
    bodies b;
    rows r;
} caller;

static void caller_round(void *user, int number)
{
    caller *c = user;
    one_round(&c->b, &c->r, number);
}

static void memory_does_not_grow(void **state)
{
    (void)state;
    caller c = {.b = bodies_new(40, 1)};
    c.r = rows_of(&c.b, 0, 1);
    c.r.h2[0] = 0.25;
    send_all(&c.b);
    /* the library's list of what was written, at most some 4096 entries, grows first; a round in two may not lose a
     * block */
    assert_no_growth(5000, 2000, 16, caller_round, &c);
    rows_free(&c.r);
    bodies_free(&c.b);
}

/* Opening and closing gives everything back. */
static void opened_again(void **state)
{
    (void)state;
    bodies b = bodies_new(30, 2);
    rows r = rows_of(&b, 0, 30);
    for (int turn = 0; turn < 3; turn++) {
        send_all(&b);
        first_half(&r, 30, 0.1);
        if (turn != 1) { /* closed with a call under way */
            assert_int_equal(last_half(&r, 30, 0.1), 0);
            assert_rows(&r, &b, 0, &b, 30, 0.1, "opened again");
        }
        assert_int_equal(g6_close(0), 0);
        assert_int_equal(g6_close(0), 0);
        assert_int_equal(g6_open(turn), 0);
    }
    rows_free(&r);
    bodies_free(&b);
}

enum { SOURCES = 64, THREADS = 4 };

typedef struct worker {
    const bodies *b;
    int number, rounds;
} worker;

/* Writes its own sources over and over and asks for forces, as all others do. */
static void *work(void *user)
{
    const worker *w = user;
    double x[2][3] = {{w->number, 0, 0}, {0, w->number, 0}}, acc[2][3], jerk[2][3], pot[2], h2[2] = {0.1, 0.1};
    int index[2] = {-1, -1}, nearest[2], n, list[SOURCES];
    for (int round = 0; round < w->rounds; round++) {
        for (int k = w->number; k < SOURCES; k += THREADS)
            send_one(w->b, (size_t)k, k);
        g6_set_ti(0, 0);
        g6calc_firsthalf(0, SOURCES, 1 + w->number % 2, index, x, x, NULL, NULL, NULL, 0.01, h2);
        g6calc_lasthalf2(0, SOURCES, 1 + w->number % 2, index, x, x, 0.01, h2, acc, jerk, pot, nearest);
        if (round % 4 == 0 && g6_read_neighbour_list(0) >= 0)
            g6_get_neighbour_list(0, 0, SOURCES, &n, list);
        g6_npipes();
    }
    return NULL;
}

/* Threads that do not know of each other get each other's forces or -1, but nothing is corrupted: what all have written
 * is there in the end. */
static void several_threads(void **state)
{
    (void)state;
    bodies b = bodies_new(SOURCES, 3);
    pthread_t thread[THREADS];
    worker w[THREADS];
    rows r = rows_of(&b, 0, SOURCES);
    memset(b.t, 0, SOURCES * sizeof *b.t);
    send_all(&b);
    for (int k = 0; k < THREADS; k++) {
        w[k] = (worker){&b, k, 50};
        assert_int_equal(pthread_create(&thread[k], NULL, work, &w[k]), 0);
    }
    for (int k = 0; k < THREADS; k++)
        pthread_join(thread[k], NULL);
    first_half(&r, SOURCES, 0.1);
    assert_int_equal(last_half(&r, SOURCES, 0.1), 0);
    assert_rows(&r, &b, 0, &b, SOURCES, 0.1, "after several threads");
    rows_free(&r);
    bodies_free(&b);
}

static int silent(void **state)
{
    setenv("GRAVEL_COMPAT_LOG", "none", 1);
    return g6_begin(state);
}

static int loud_again(void **state)
{
    unsetenv("GRAVEL_COMPAT_LOG");
    return g6_end(state);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, g6_begin, g6_end)

int main(void)
{
    const struct CMUnitTest cases[] = {
        CASE(memory_does_not_grow),
        CASE(opened_again),
        cmocka_unit_test_setup_teardown(several_threads, silent, loud_again),
    };
    if (no_device())
        return run_nothing();
    return cmocka_run_group_tests_name("devices", cases, devices_answer, NULL) +
           cmocka_run_group_tests_name("host", cases, host_answers, NULL);
}
