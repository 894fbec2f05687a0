#include "host/base/threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/base/files.h"

enum { MOST_THREADS = 16, MOST_ASKED = 64 };

/* A loop that some thread has begun; it lives in that thread's gv_parallel. */
typedef struct loop {
    struct loop *next;
    size_t first; /* item that no thread has taken */
    size_t n, grain;
    int at_work; /* threads of the pool within it */
    gv_work work;
    void *user;
} loop;

struct gv_pool {
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    pthread_t thread[MOST_ASKED];
    int threads; /* beside those that begin loops */
    int stop;
    loop *open; /* loops with pieces that no thread has taken */
};

/* The loop has no pieces left. */
static void close_loop(gv_pool *pool, const loop *l)
{
    loop **at = &pool->open;
    while (*at && *at != l)
        at = &(*at)->next;
    if (*at)
        *at = l->next;
}

/* Takes one piece, of which there is at least one.  The lock is held on entry and exit, and not while it is worked
 * on. */
static void take_piece(gv_pool *pool, loop *l)
{
    const size_t first = l->first, left = l->n - first, count = left < l->grain ? left : l->grain;
    l->first = first + count;
    if (l->first == l->n)
        close_loop(pool, l);
    pthread_mutex_unlock(&pool->lock);
    l->work(l->user, first, count);
    pthread_mutex_lock(&pool->lock);
}

/* Of the loops that are open the one that fewest threads work on. */
static loop *choose_loop(const gv_pool *pool)
{
    loop *best = pool->open;
    for (loop *l = best; l; l = l->next)
        if (l->at_work < best->at_work)
            best = l;
    return best;
}

static void *run(void *argument)
{
    gv_pool *pool = argument;
    pthread_mutex_lock(&pool->lock);
    while (!pool->stop) {
        loop *l = choose_loop(pool);
        if (!l) {
            pthread_cond_wait(&pool->begin, &pool->lock);
            continue;
        }
        l->at_work++;
        take_piece(pool, l);
        l->at_work--;
        if (l->at_work == 0 && l->first == l->n)
            pthread_cond_broadcast(&pool->end);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* 0: not said, or not as it should be; then *bad is what was said. */
static long asked_threads(const char **bad)
{
    const char *asked = gv_env("GRAVEL_THREADS");
    char *end = NULL;
    const long given = asked ? strtol(asked, &end, 10) : 0;
    *bad = asked && (given < 1 || *end) ? asked : NULL;
    return *bad ? 0 : given;
}

const char *gv_pool_bad_request(void)
{
    const char *bad;
    asked_threads(&bad);
    return bad;
}

static int count_threads(int most, int processes)
{
    const char *bad;
    const long given = asked_threads(&bad), cores = sysconf(_SC_NPROCESSORS_ONLN) / processes;
    if (given > 0)
        return given < MOST_ASKED ? (int)given : MOST_ASKED;
    return cores < 1 ? 1 : cores < most ? (int)cores : most;
}

static gv_pool *create(int most, int processes)
{
    const int threads = count_threads(most, processes) - 1;
    gv_pool *pool = threads > 0 ? calloc(1, sizeof *pool) : NULL;
    if (!pool)
        return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->begin, NULL);
    pthread_cond_init(&pool->end, NULL);
    while (pool->threads < threads && pthread_create(&pool->thread[pool->threads], NULL, run, pool) == 0)
        pool->threads++;
    return pool;
}

gv_pool *gv_pool_create(void)
{
    return create(MOST_THREADS, 1);
}

gv_pool *gv_pool_create_share(int processes)
{
    return create(MOST_THREADS, processes > 1 ? processes : 1);
}

gv_pool *gv_pool_create_wide(void)
{
    return create(MOST_ASKED, 1);
}

int gv_pool_threads(const gv_pool *pool)
{
    return pool ? pool->threads + 1 : 1;
}

void gv_pool_release(gv_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->stop = 1;
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->lock);
    for (int k = 0; k < pool->threads; k++)
        pthread_join(pool->thread[k], NULL);
    pthread_cond_destroy(&pool->end);
    pthread_cond_destroy(&pool->begin);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void gv_parallel(gv_pool *pool, size_t n, size_t grain, gv_work work, void *user)
{
    if (!pool || n <= grain) {
        if (n > 0)
            work(user, 0, n);
        return;
    }
    const size_t others = (n - 1) / grain;
    loop l = {.n = n, .grain = grain, .work = work, .user = user};
    pthread_mutex_lock(&pool->lock);
    l.next = pool->open;
    pool->open = &l;
    for (int k = 0; k < pool->threads && (size_t)k < others; k++)
        pthread_cond_signal(&pool->begin);
    while (l.first < n)
        take_piece(pool, &l);
    while (l.at_work > 0)
        pthread_cond_wait(&pool->end, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}
