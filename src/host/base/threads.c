#include "host/base/threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/base/files.h"

enum { MOST_THREADS = 8, MOST_ASKED = 64 };

struct gv_pool {
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    pthread_t thread[MOST_ASKED];
    int threads; /* beside the caller */
    int stop;
    int in_use;  /* a loop is worked on */
    int at_work; /* threads within it */
    size_t next; /* first item that no thread has taken */
    size_t n, grain;
    gv_work work;
    void *user;
};

/* Takes pieces until there are none.  The lock is held on entry and exit, and not while a piece is worked on. */
static void take_pieces(gv_pool *pool)
{
    const gv_work work = pool->work;
    void *const user = pool->user;
    while (pool->next < pool->n) {
        const size_t first = pool->next, left = pool->n - first;
        const size_t count = left < pool->grain ? left : pool->grain;
        pool->next = first + count;
        pthread_mutex_unlock(&pool->lock);
        work(user, first, count);
        pthread_mutex_lock(&pool->lock);
    }
}

static void *run(void *argument)
{
    gv_pool *pool = argument;
    pthread_mutex_lock(&pool->lock);
    while (!pool->stop) {
        if (pool->next < pool->n) {
            pool->at_work++;
            take_pieces(pool);
            pool->at_work--;
            if (pool->at_work == 0)
                pthread_cond_signal(&pool->end);
        } else {
            pthread_cond_wait(&pool->begin, &pool->lock);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static int count_threads(int most)
{
    const char *asked = gv_env("GRAVEL_THREADS");
    const long given = asked ? strtol(asked, NULL, 10) : 0, cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (given > 0)
        return given < MOST_ASKED ? (int)given : MOST_ASKED;
    return cores < 1 ? 1 : cores < most ? (int)cores : most;
}

static gv_pool *create(int most)
{
    const int threads = count_threads(most) - 1;
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
    return create(MOST_THREADS);
}

gv_pool *gv_pool_create_wide(void)
{
    return create(MOST_ASKED);
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
    int alone = !pool || n <= grain;
    if (!alone) {
        pthread_mutex_lock(&pool->lock);
        alone = pool->in_use;
        if (!alone) {
            pool->in_use = 1;
            pool->next = 0;
            pool->n = n;
            pool->grain = grain;
            pool->work = work;
            pool->user = user;
            pthread_cond_broadcast(&pool->begin);
            take_pieces(pool);
            while (pool->at_work > 0)
                pthread_cond_wait(&pool->end, &pool->lock);
            pool->in_use = 0;
        }
        pthread_mutex_unlock(&pool->lock);
    }
    if (alone && n > 0)
        work(user, 0, n);
}
