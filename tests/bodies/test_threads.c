/* Several threads: a pool that shares loops, contexts made at the same time, one context used by all. */
#include "host_test.h"

#include <pthread.h>

#include "gravel/bodies.h"
#include "host/base/threads.h"
#include "host/program/program.h"

enum { THREADS = 4 };

/* ---------------------------------------------------------------------- pool */

enum { ITEMS = 100001 };
static unsigned char touched[ITEMS];

static void touch(void *user, size_t first, size_t count)
{
    (void)user;
    for (size_t k = first; k < first + count; k++)
        touched[k]++;
}

static void every_item_once(void **state)
{
    (void)state;
    static const size_t grain[] = {1, 7, 1000, ITEMS - 1, ITEMS, 2 * ITEMS};
    assert_int_equal(setenv("GRAVEL_THREADS", "4", 1), 0);
    gv_pool *pool = gv_pool_create();
    assert_non_null(pool);
    for (size_t g = 0; g < sizeof grain / sizeof grain[0]; g++) {
        memset(touched, 0, sizeof touched);
        gv_parallel(pool, ITEMS, grain[g], touch, NULL);
        for (size_t k = 0; k < ITEMS; k++)
            assert_int_equal(touched[k], 1);
    }
    gv_parallel(pool, 0, 16, touch, NULL);
    gv_pool_release(pool);
    memset(touched, 0, sizeof touched);
    gv_parallel(NULL, ITEMS, 16, touch, NULL);
    assert_int_equal(touched[ITEMS - 1], 1);
}

/* A loop of each thread, with small loops within it. */
enum { OUTER = 37, INNER = 501 };
typedef struct beginner {
    pthread_t thread;
    gv_pool *pool;
    unsigned char touched[OUTER][INNER];
    struct beginner_row {
        struct beginner *owner;
        size_t row;
    } row[OUTER];
} beginner;

static void touch_row(void *user, size_t first, size_t count)
{
    const struct beginner_row *r = user;
    for (size_t k = first; k < first + count; k++)
        r->owner->touched[r->row][k]++;
}

static void touch_rows(void *user, size_t first, size_t count)
{
    beginner *b = user;
    for (size_t k = first; k < first + count; k++) {
        b->row[k] = (struct beginner_row){b, k};
        gv_parallel(b->pool, INNER, 10, touch_row, &b->row[k]);
    }
}

static void *begin_loops(void *argument)
{
    beginner *b = argument;
    for (int turn = 0; turn < 20; turn++)
        gv_parallel(b->pool, OUTER, 1, touch_rows, b);
    return NULL;
}

static void loops_at_the_same_time(void **state)
{
    (void)state;
    static beginner b[THREADS];
    assert_int_equal(setenv("GRAVEL_THREADS", "3", 1), 0);
    gv_pool *pool = gv_pool_create();
    assert_non_null(pool);
    for (int k = 0; k < THREADS; k++) {
        b[k].pool = pool;
        assert_int_equal(pthread_create(&b[k].thread, NULL, begin_loops, &b[k]), 0);
    }
    for (int k = 0; k < THREADS; k++)
        pthread_join(b[k].thread, NULL);
    gv_pool_release(pool);
    for (int k = 0; k < THREADS; k++)
        for (int row = 0; row < OUTER; row++)
            for (int i = 0; i < INNER; i++)
                assert_int_equal(b[k].touched[row][i], 20);
}

/* A loop gets threads of the pool while another one waits: its two pieces wait for each other, so they end only if two
 * threads are within it. */
typedef struct meeting {
    pthread_barrier_t all;
    gv_pool *pool;
} meeting;

static void meet(void *user, size_t first, size_t count)
{
    meeting *m = user;
    for (size_t k = first; k < first + count; k++)
        pthread_barrier_wait(&m->all);
}

static void *begin_meeting(void *argument)
{
    meeting *m = argument;
    gv_parallel(m->pool, 2, 1, meet, m);
    return NULL;
}

static void loops_share_the_pool(void **state)
{
    (void)state;
    meeting m;
    pthread_t other;
    assert_int_equal(setenv("GRAVEL_THREADS", "4", 1), 0);
    m.pool = gv_pool_create();
    assert_int_equal(gv_pool_threads(m.pool), 4);
    assert_int_equal(pthread_barrier_init(&m.all, NULL, 4), 0);
    assert_int_equal(pthread_create(&other, NULL, begin_meeting, &m), 0);
    begin_meeting(&m);
    pthread_join(other, NULL);
    pthread_barrier_destroy(&m.all);
    gv_pool_release(m.pool);
}

/* ------------------------------------------------------------------- contexts */

static void count_threads_told(gravel_log_level level, const char *message, void *user)
{
    *(int *)user += level == GRAVEL_LOG_WARNING && strstr(message, "GRAVEL_THREADS") != NULL;
}

static void a_bad_number_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int told;
    } asked[] = {{"nan", 1}, {"4x", 1}, {"-3", 1}, {"0", 1}, {"1e3", 1}, {"2", 0}, {"1000", 0}, {"", 0}};
    for (size_t k = 0; k < sizeof asked / sizeof asked[0]; k++) {
        int told = 0;
        gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
        gravel_context *context;
        options.log = count_threads_told;
        options.log_user = &told;
        assert_int_equal(setenv("GRAVEL_THREADS", asked[k].text, 1), 0);
        assert_ok(gravel_context_create(&context, &options));
        gravel_context_release(context);
        if (told != asked[k].told)
            fail_msg("GRAVEL_THREADS=%s: %d warnings", asked[k].text, told);
    }
    assert_int_equal(unsetenv("GRAVEL_THREADS"), 0);
}

/* assertions of cmocka work in the main thread only: a thread stores its message */
typedef struct worker {
    pthread_t thread;
    gravel_context *context; /* shared, or made by the thread */
    int number;
    char failure[512];
} worker;

static int failed(worker *w, gravel_status status, const char *what)
{
    if (status)
        snprintf(w->failure, sizeof w->failure, "thread %d, %s: %s", w->number, what, gravel_error_message());
    return status != GRAVEL_OK;
}

static void run_all(worker w[THREADS], gravel_context *context, void *(*work)(void *))
{
    for (int k = 0; k < THREADS; k++) {
        w[k] = (worker){.context = context, .number = k};
        assert_int_equal(pthread_create(&w[k].thread, NULL, work, &w[k]), 0);
    }
    for (int k = 0; k < THREADS; k++)
        pthread_join(w[k].thread, NULL);
    for (int k = 0; k < THREADS; k++)
        if (w[k].failure[0])
            fail_msg("%s", w[k].failure);
}

static void *make_context(void *argument)
{
    worker *w = argument;
    failed(w, gravel_context_create(&w->context, NULL), "create");
    return NULL;
}

static void contexts_at_the_same_time(void **state)
{
    (void)state;
    worker w[THREADS];
    run_all(w, NULL, make_context);
    for (int k = 0; k < THREADS; k++)
        gravel_context_release(w[k].context);
}

/* Each thread has bodies of its own on one context and device: programs, threads and queues are shared. */
static void *use_context(void *argument)
{
    enum { N = 70000 };
    worker *w = argument;
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_bodies *bodies = NULL;
    cl_program program;
    double *x = calloc(2 * (size_t)N, sizeof *x), *out = x + N;
    const gravel_frame frame = {{0, 0, 0}, 1, 1};
    const gravel_array array = {x, NULL, NULL, 1, GRAVEL_F64};
    const gravel_array_out to = {out, NULL, NULL, 1, GRAVEL_F64};
    options.precision = w->number % 2 ? GRAVEL_DS : GRAVEL_SP;
    for (int k = 0; x && k < N; k++)
        x[k] = k + w->number;
    int bad = !x || failed(w, gravel_bodies_create(&bodies, w->context, &options), "create") ||
              failed(w, gravel_bodies_set_frame(bodies, &frame), "frame");
    for (int turn = 0; !bad && turn < 3; turn++) {
        bad = failed(w, gravel_bodies_write(bodies, GRAVEL_TIME, 0, N, &array), "write") ||
              failed(w, gv_program_get(w->context, 0, "measure/copy.cl", EMPTY_OPTIONS, &program), "program") ||
              failed(w, gravel_bodies_read(bodies, GRAVEL_TIME, 0, N, &to), "read");
        if (!bad && memcmp(x, out, N * sizeof *x) != 0)
            snprintf(w->failure, sizeof w->failure, "thread %d reads what it has not written", w->number);
    }
    gravel_bodies_release(bodies);
    free(x);
    return NULL;
}

static void one_context(void **state)
{
    (void)state;
    worker w[THREADS];
    gravel_context *context;
    assert_ok(gravel_context_create(&context, NULL));
    run_all(w, context, use_context);
    gravel_context_release(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* first: no driver may have been used before */
        cmocka_unit_test(contexts_at_the_same_time), cmocka_unit_test(every_item_once),
        cmocka_unit_test(loops_at_the_same_time),    cmocka_unit_test(loops_share_the_pool),
        cmocka_unit_test(a_bad_number_is_told),      cmocka_unit_test(one_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
