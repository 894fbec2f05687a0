/* A few threads that share the work of loops; of several at a time they take pieces in turn. */
#ifndef GV_THREADS_H
#define GV_THREADS_H

#include <stddef.h>

typedef struct gv_pool gv_pool;

/* Items first ... first + count - 1 of the loop. */
typedef void (*gv_work)(void *user, size_t first, size_t count);

/* As many threads as the machine has cores, at most 16, or GRAVEL_THREADS; the caller of gv_parallel is one of them.
 * NULL: there is one core only, or no memory; gv_parallel does without. */
gv_pool *gv_pool_create(void);
/* GRAVEL_THREADS where it is no whole number from 1 on, and so counts as not set; else NULL. */
const char *gv_pool_bad_request(void);
/* The same, where several processes of the machine each have one: this one's share of the cores. */
gv_pool *gv_pool_create_share(int processes);
/* The same with as many threads as cores, at most 64: for loops that calculate more than they copy. */
gv_pool *gv_pool_create_wide(void);
/* Threads that work on a loop, the caller among them. */
int gv_pool_threads(const gv_pool *pool);
void gv_pool_release(gv_pool *pool);

/* work(user, ...) over items 0 ... n - 1 in pieces of `grain`, and returns when all are done.  Without a pool or with
 * one piece the caller does everything itself.  Any thread may begin a loop, within another loop too: it works on its
 * own until no piece is left, so loops never wait for each other. */
void gv_parallel(gv_pool *pool, size_t n, size_t grain, gv_work work, void *user);

#endif
