/* Blocks that the device moves one after another, submitted before the host knows what they are.
 *
 * A block is four launches: sources and sinks are taken, at the time and of the list that the device has found; forces;
 * their sums; the end of the block, which finds the next one (kernels/step/finish.cl).  Each launch is for a range of
 * sizes: where the block has another size than was expected (rhythm.c) it waits for the next launches that fit, and the
 * host submits anew from there.  Blocks of one range have one configuration (gv_direct_find_alike), and the device cuts
 * the sources as the host would for as many sinks, so that results do not depend on what was expected. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/direct/call.h"
#include "host/direct/count.h"
#include "host/step/step.h"

_Static_assert(GV_DUE_COUNT == GV_HEAD_COUNT && GV_DUE_TIME == GV_HEAD_TIME, "take.cl reads the head of a block");

/* finish.cl looks at all bodies with one work-group. */
enum { MOST_BODIES = 32768 };
/* Blocks that are submitted at once.  More of them wait in vain when one is not as expected: with 12 us for those of
 * a block and 20 us for a wait, 16 cost least (3 us a block) in Plummer spheres of 1024 and 4096. */
enum { LEAST_DEPTH = 4, MOST_DEPTH = 16 };

typedef struct block {
    size_t above, most; /* bodies it is submitted for */
    double until;
    int last; /* 0: a try */
} block;

int gv_ahead_may(const gravel_hermite *h)
{
    const gravel_hermite_options *o = &h->options;
    return !o->external && (!o->forces || (o->costs && o->alone_pairs > 0)) && !o->agree && !o->shared &&
           o->iterations == 1 && o->soften == GRAVEL_SOFTEN_EPS && h->bodies->count <= MOST_BODIES &&
           !h->ahead.is_refused;
}

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t gv_ahead_most(const gravel_hermite *h)
{
    const double n = (double)h->bodies->count, pairs = h->options.alone_pairs;
    if (!h->options.forces || pairs > n * GV_MOST_ALIKE)
        return GV_MOST_ALIKE;
    return pairs > n ? (size_t)ceil(pairs / n) - 1 : 0;
}

int gv_ahead_is_alike(const gravel_hermite *h, size_t bodies)
{
    return bodies <= GV_MOST_ALIKE && h->bodies->count <= MOST_BODIES;
}

void gv_ahead_start(gravel_hermite *h)
{
    gv_ahead *a = &h->ahead;
    a->done = 0;
    a->depth = LEAST_DEPTH;
    a->rhythm = (gv_rhythm){0};
}

void gv_ahead_release(gv_ahead *a)
{
    if (a->finish)
        clReleaseKernel(a->finish);
    a->finish = NULL;
}

static size_t group_of(const gravel_hermite *h)
{
    const gravel_device_info *info = &gv_worker_device(&h->worker)->info;
    size_t group = info->type == GRAVEL_DEVICE_CPU ? 1 : 512;
    while (group > 1 && group > (size_t)info->max_group)
        group /= 2;
    return group;
}

static gravel_status need_finish(gravel_hermite *h)
{
    char options[120];
    snprintf(options, sizeof options, "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_ORDER=%d -DGV_CRITERION=%d -DGV_THREADS=%zu",
             (int)h->bodies->precision, h->options.order, (int)h->options.criterion, group_of(h));
    h->ahead.last.kernel = NULL;
    return h->ahead.finish ? GRAVEL_OK
                           : gv_kernel_make(&h->worker, "step/finish.cl", options, "gv_step_finish", &h->ahead.finish);
}

/* --------------------------------------------------------------------- one block */

static gravel_status finish(gravel_hermite *h, const block *b)
{
    enum { CRACKLE = 7, PHASE = 4, SNAP = 6 };
    const gravel_hermite_options *o = &h->options;
    const gravel_precision p = h->bodies->precision;
    const gv_time_words until = gv_time_not_after(p, b->until);
    const size_t group = group_of(h);
    cl_mem own[GV_STEP_OWN], new[GV_STEP_NEW];
    const gravel_status status = gv_hermite_step_words(h, own, new);
    if (status)
        return status;
    const int tallied = o->tally && b->last;
    const cl_mem tally = tallied ? h->select.tally.mem : NULL;
    /* a launch takes 0.4 us longer for each buffer (H200): not those that it does not use */
    if (o->order == 4)
        own[CRACKLE] = new[SNAP] = NULL;
    for (int k = 0; k < PHASE && b->last; k++)
        new[k] = NULL;
    const double per = gv_hermite_per_mass(h), part = gv_hermite_mass_part(h);
    const gv_arg rest[] = {
        GV_REAL(p, o->eta4),     GV_REAL(p, o->eta6),     GV_REAL(p, per),        GV_REAL(p, part),
        GV_REAL(p, o->step_max), GV_REAL(p, o->step_min), GV_ARG(b->last),        GV_UINT(h->bodies->count),
        GV_UINT(b->above),       GV_UINT(b->most),        GV_REAL(p, until.high), GV_REAL(p, until.low),
        GV_UINT(tallied),        GV_ARG(tally),           GV_MEM(h->select.head)};
    enum { BEFORE = 1 + GV_STEP_OWN + GV_STEP_NEW, REST = sizeof rest / sizeof rest[0] };
    gv_arg arg[BEFORE + REST] = {GV_MEM(h->select.list)};
    for (int k = 0; k < GV_STEP_OWN; k++)
        arg[1 + k] = GV_ARG(own[k]);
    for (int k = 0; k < GV_STEP_NEW; k++)
        arg[1 + GV_STEP_OWN + k] = GV_ARG(new[k]);
    memcpy(arg + BEFORE, rest, sizeof rest);
    return gv_launch_next(&h->worker, 0, h->ahead.finish, gv_groups(1, group), sizeof arg / sizeof arg[0], arg,
                          &h->ahead.last);
}

static gravel_status submit(gravel_hermite *h, const block *b)
{
    const gv_direct_due due = {.list = h->select.list.mem,
                               .head = h->select.head.mem,
                               .above = b->above,
                               .most = b->most,
                               .until = b->until,
                               .to = h->active};
    gravel_direct_call call = gv_hermite_call(h, h->options.order, gravel_view_all(h->bodies), 1, h->next);
    const size_t chosen_for = gv_direct_find_alike(b->most).chosen_for;
    const gravel_status status = gv_direct_start_for(h->direct, &call, chosen_for, &due);
    h->ahead.is_refused = status == GRAVEL_ERR_UNSUPPORTED;
    return status ? status : finish(h, b);
}

/* The launches for a block of about so many bodies.  Where a group of sinks takes as long with one as with 32, the
 * smallest blocks all get the same. */
static block block_of(const gravel_hermite *h, size_t bodies, double until)
{
    const gv_direct_alike alike = gv_direct_find_alike(bodies);
    const int any = alike.above == 0 && gv_worker_device(&h->worker)->info.type != GRAVEL_DEVICE_CPU;
    const size_t roomy = any ? alike.most : bodies + bodies / 8 + 8, n = h->bodies->count;
    const size_t most = least_of(least_of(roomy, alike.most), least_of(n, gv_ahead_most(h)));
    return (block){alike.above, most, until, 1};
}

/* ---------------------------------------------------------------------- many blocks */

/* Some blocks from the next one on, which is known: *submitted of them, none from one on that is refused. */
static gravel_status submit_some(gravel_hermite *h, double until, size_t most, size_t *submitted)
{
    double time = h->next;
    size_t bodies = h->due;
    gravel_status status = GRAVEL_OK;
    for (*submitted = 0; *submitted < most && bodies > 0 && bodies <= gv_ahead_most(h) && time <= until && !status;) {
        const block b = block_of(h, bodies, until);
        status = submit(h, &b);
        if (h->ahead.is_refused)
            return GRAVEL_OK;
        ++*submitted;
        time += h->ahead.rhythm.gap;
        bodies = gv_rhythm_expect(&h->ahead.rhythm, time);
    }
    return status;
}

static double time_at(const gravel_hermite *h, const cl_uint *words)
{
    double wide;
    float narrow[2];
    memcpy(&wide, words, sizeof wide);
    memcpy(narrow, words, sizeof narrow);
    return h->bodies->precision == GRAVEL_DP ? wide : (double)narrow[0] + (double)narrow[1];
}

/* What was done; the next block. */
static gravel_status read_blocks(gravel_hermite *h, gravel_hermite_step_info *info, size_t *done)
{
    cl_uint head[GV_HEAD_WORDS + GV_HEAD_BLOCKS * GV_BLOCK_WORDS];
    gv_ahead *a = &h->ahead;
    const cl_int code = clEnqueueReadBuffer(gv_worker_queue(&h->worker), h->select.head.mem, CL_TRUE, 0, sizeof head,
                                            head, 0, NULL, NULL);
    if (code)
        return gv_fail_cl(code, "reading what blocks were");
    *done = head[GV_HEAD_DONE] - a->done;
    for (size_t k = 0; k < *done; k++) {
        const size_t entry = (a->done + k) % GV_HEAD_BLOCKS;
        const cl_uint *const was = head + GV_HEAD_WORDS + entry * GV_BLOCK_WORDS;
        info[k] = (gravel_hermite_step_info){time_at(h, was + GV_BLOCK_TIME), was[GV_BLOCK_COUNT]};
        gv_rhythm_note(&a->rhythm, h->now, info[k].time, info[k].active);
        h->now = info[k].time;
        h->counts.steps += info[k].active;
        gv_direct_count_due(h->direct, h->options.order, gv_direct_find_alike(info[k].active).chosen_for, h->n);
        h->whole = info[k].active == h->n;
    }
    a->done = head[GV_HEAD_DONE];
    h->counts.blocks += *done;
    h->next = time_at(h, head + GV_HEAD_TIME);
    h->due = h->all_due = head[GV_HEAD_COUNT];
    h->next_known = head[GV_HEAD_SHORT] == UINT32_MAX; /* else finding it says what is wrong */
    return GRAVEL_OK;
}

gravel_status gv_ahead_go(gravel_hermite *h, double until, size_t most, gravel_hermite_step_info *info, size_t *done)
{
    gv_ahead *a = &h->ahead;
    size_t submitted = 0;
    gravel_status status = need_finish(h);
    if (!status && h->options.tally)
        status = gv_selector_need_tally(&h->select);
    if (!status)
        status = submit_some(h, until, least_of(least_of(most, a->depth), gv_host_until_review(h)), &submitted);
    if (!status && submitted == 0) {
        *done = 0;
        return GRAVEL_OK;
    }
    gv_hermite_mark(h->bodies);
    if (!status)
        status = read_blocks(h, info, done);
    if (status) {
        clFinish(gv_worker_queue(&h->worker));
        h->started = 0; /* how far the bodies came is not known */
        *done = 0;
        return status;
    }
    if (*done == 0)
        return gv_fail(GRAVEL_ERR_INTERNAL, "the device did not move a block of %zu bodies", h->due);
    a->depth = *done == submitted ? least_of(2 * a->depth, MOST_DEPTH) : *done > LEAST_DEPTH ? *done : LEAST_DEPTH;
    return gv_host_review(h);
}

gravel_status gv_ahead_try(gravel_hermite *h, size_t count, double time, int times)
{
    const gravel_precision p = h->bodies->precision;
    const gv_time_words t = gv_time_split(p, time);
    const cl_uint number = (cl_uint)count;
    const cl_command_queue queue = gv_worker_queue(&h->worker);
    const cl_mem head = h->select.head.mem;
    double wide[2] = {t.high, 0};
    const float narrow[2] = {(float)t.high, t.low};
    block b = block_of(h, count, time);
    cl_uint read;
    gravel_status status = need_finish(h);
    b.last = 0;
    if (p != GRAVEL_DP)
        memcpy(wide, narrow, sizeof narrow);
    cl_int code = clEnqueueWriteBuffer(queue, head, CL_TRUE, GV_HEAD_COUNT * sizeof number, sizeof number, &number, 0,
                                       NULL, NULL);
    if (!code)
        code =
            clEnqueueWriteBuffer(queue, head, CL_TRUE, GV_HEAD_TIME * sizeof number, sizeof wide, wide, 0, NULL, NULL);
    for (int k = 0; k < times && !status && !code; k++)
        status = submit(h, &b);
    if (!code)
        code = clEnqueueReadBuffer(queue, head, CL_TRUE, 0, sizeof read, &read, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "trying blocks of %zu bodies", count) : status;
}
