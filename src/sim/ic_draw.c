#include "sim/ic_draw.h"

#include "cpu_ref/parallel.h"

enum { ROUND = 64 }; /* blocks between two calls of the watch */

typedef struct round_job {
    gv_particles *p;
    size_t first, end; /* bodies; `first` is the round's */
    gv_ic_draw_body *draw;
    const void *model;
    gv_random start[ROUND];
} round_job;

static void draw_blocks(void *arg, size_t begin, size_t end)
{
    const round_job *job = arg;
    for (size_t block = begin; block < end; block++) {
        gv_random random = job->start[block];
        size_t i = job->first + block * GV_IC_BLOCK;
        const size_t stop = job->end - i < GV_IC_BLOCK ? job->end : i + GV_IC_BLOCK;
        for (; i < stop; i++)
            job->draw(job->model, &random, job->p, i);
    }
}

gravel_status gv_ic_draw(gv_particles *particles, size_t first, size_t count, const gv_random *start,
                         gv_ic_draw_body *draw, const void *model, const gv_ic_watch *watch)
{
    round_job job = {.p = particles, .first = first, .end = first + count, .draw = draw, .model = model};
    gv_random stream = *start;
    while (job.first < job.end) {
        const size_t left = job.end - job.first;
        size_t blocks = (left + GV_IC_BLOCK - 1) / GV_IC_BLOCK;
        blocks = blocks > ROUND ? ROUND : blocks;
        for (size_t k = 0; k < blocks; k++) {
            job.start[k] = stream;
            gv_random_jump(&stream);
        }
        const size_t bodies = left < blocks * GV_IC_BLOCK ? left : blocks * GV_IC_BLOCK;
        gv_ref_parallel(blocks, 2e-7 * (double)bodies, draw_blocks, &job);
        job.first += bodies;
        if (watch && watch->tell && watch->tell(watch->user, (double)job.first, (double)particles->count))
            return gv_fail(GRAVEL_ERR_CANCELLED, "stopped after %zu of %zu bodies", job.first, particles->count);
    }
    return GRAVEL_OK;
}
