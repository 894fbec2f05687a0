#include "sim/pieces.h"

#include <math.h>
#include <stdlib.h>

gv_pool *gv_pieces_pool(size_t n)
{
    return gv_pieces_of(n) > 4 ? gv_pool_create_wide() : NULL;
}

typedef struct each_job {
    size_t n;
    gv_work work;
    void *user;
} each_job;

static void do_pieces(void *user, size_t first, size_t count)
{
    const each_job *job = user;
    for (size_t k = first; k < first + count; k++) {
        const size_t begin = k * GV_PIECE, left = job->n - begin;
        job->work(job->user, begin, left < GV_PIECE ? left : GV_PIECE);
    }
}

void gv_pieces_each(gv_pool *pool, size_t n, gv_work work, void *user)
{
    each_job job = {n, work, user};
    gv_parallel(pool, gv_pieces_of(n), 1, do_pieces, &job);
}

/* Sums of bins first, then row by row: along the memory. */
size_t gv_pieces_begin(uint32_t *piece, size_t pieces, size_t bins, size_t *begin)
{
    size_t sum = 0;
    for (size_t b = 0; b < bins; b++)
        begin[b] = 0;
    for (size_t k = 0; k < pieces; k++)
        for (size_t b = 0; b < bins; b++) {
            const uint32_t here = piece[k * bins + b];
            piece[k * bins + b] = (uint32_t)begin[b];
            begin[b] += here;
        }
    for (size_t b = 0; b < bins; b++) {
        const size_t here = begin[b];
        begin[b] = sum;
        sum += here;
    }
    for (size_t k = 0; k < pieces; k++)
        for (size_t b = 0; b < bins; b++)
            piece[k * bins + b] += (uint32_t)begin[b];
    return sum;
}

/* -------------------------------------------------------------------- sums */

typedef struct sum_job {
    gv_add add;
    const void *user;
    int terms, maxima;
    double *part; /* [pieces][terms] */
} sum_job;

static void begin_total(const sum_job *job, double *total)
{
    for (int t = 0; t < job->terms; t++)
        total[t] = t < job->terms - job->maxima ? 0.0 : -INFINITY;
}

static void join(const sum_job *job, const double *part, double *total)
{
    for (int t = 0; t < job->terms; t++)
        total[t] = t < job->terms - job->maxima ? total[t] + part[t] : fmax(total[t], part[t]);
}

static void sum_piece(void *user, size_t first, size_t count)
{
    const sum_job *job = user;
    double own[GV_PIECE_TERMS], *part = job->part + first / GV_PIECE * (size_t)job->terms;
    begin_total(job, own); /* not in `part`: others write beside it */
    job->add(job->user, first, count, own);
    for (int t = 0; t < job->terms; t++)
        part[t] = own[t];
}

void gv_pieces_sum(size_t n, int terms, int maxima, gv_add add, const void *user, double *total)
{
    const size_t pieces = gv_pieces_of(n);
    sum_job job = {add, user, terms, maxima, malloc((pieces + 1) * (size_t)terms * sizeof(double))};
    gv_pool *pool = job.part ? gv_pieces_pool(n) : NULL;
    begin_total(&job, total);
    if (job.part)
        gv_pieces_each(pool, n, sum_piece, &job);
    for (size_t k = 0; k < pieces; k++) {
        double own[GV_PIECE_TERMS];
        begin_total(&job, own);
        if (!job.part) /* no memory: one after the other */
            add(user, k * GV_PIECE, n - k * GV_PIECE < GV_PIECE ? n - k * GV_PIECE : GV_PIECE, own);
        join(&job, job.part ? job.part + k * (size_t)terms : own, total);
    }
    gv_pool_release(pool);
    free(job.part);
}
