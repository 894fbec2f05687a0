#include "cpu_ref/parallel.h"

#include <pthread.h>
#include <unistd.h>

enum { MAX_THREADS = 64 };

typedef struct part {
    void (*range)(void *arg, size_t begin, size_t end);
    void *arg;
    size_t begin, end;
} part;

static void *run(void *arg)
{
    const part *p = arg;
    p->range(p->arg, p->begin, p->end);
    return NULL;
}

/* a thread costs about 20 us */
static int thread_count(size_t n, double seconds)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    double worth = seconds / 1e-4;
    int count = online < 1 ? 1 : online > MAX_THREADS ? MAX_THREADS : (int)online;
    if (count > worth)
        count = worth < 1.0 ? 1 : (int)worth;
    return n < (size_t)count ? (int)n : count;
}

void gv_ref_parallel(size_t n, double seconds, void (*range)(void *arg, size_t begin, size_t end), void *arg)
{
    part parts[MAX_THREADS];
    pthread_t thread[MAX_THREADS];
    int started[MAX_THREADS], count = thread_count(n, seconds);
    size_t done = 0;
    for (int t = 0; t < count; t++) {
        size_t share = (n - done) / (size_t)(count - t);
        parts[t] = (part){range, arg, done, done + share};
        done += share;
        started[t] = t > 0 && pthread_create(&thread[t], NULL, run, &parts[t]) == 0;
    }
    for (int t = 0; t < count; t++)
        if (!started[t])
            run(&parts[t]);
    for (int t = 0; t < count; t++)
        if (started[t])
            pthread_join(thread[t], NULL);
}
