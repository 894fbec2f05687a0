/* Boxes of sinks, for which others cut what their trees have for them. */
#include <string.h>

#include "host/tree/essential.h"

/* levels of runs of GV_BOX_FAN^level sinks; boxes that all are looked at, at most, before any is found too wide */
enum { LEVELS = 11, TOP = 512 };
/* A box is taken if, for each run of the others, its size is at most so many times its distance from it, or the run's
 * size.  Of 100000 bodies over two ranks (doc/clusters.md) single sinks alone have 15400 bodies sent, 1 and 2 18400, 1
 * and 4 21200, 1 and 8 41000; that takes 50000, 3400, 2100, 1300 boxes. */
#define OF_DISTANCE 1.0
#define OF_SIZE 2.0
#define MOST_EASE 1024

/* A run as numbers of a device: lo, open, hi, 0. */
#define PUT_RUNS(type)                                                                                                 \
    for (size_t k = 0; k < count; k++) {                                                                               \
        type *at = (type *)to + 8 * (r + k);                                                                           \
        for (size_t c = 0; c < 3; c++) {                                                                               \
            at[c] = (type)runs[k].lo[c];                                                                               \
            at[4 + c] = (type)runs[k].hi[c];                                                                           \
        }                                                                                                              \
        at[3] = (type)runs[k].open;                                                                                    \
        at[7] = 0;                                                                                                     \
    }
#define TAKE_RUNS(type)                                                                                                \
    for (size_t k = 0; k < count; k++) {                                                                               \
        const type *at = (const type *)from + 8 * k;                                                                   \
        for (size_t c = 0; c < 3; c++) {                                                                               \
            runs[k].lo[c] = (double)at[c];                                                                             \
            runs[k].hi[c] = (double)at[4 + c];                                                                         \
        }                                                                                                              \
        runs[k].open = (double)at[3];                                                                                  \
    }

void gv_essential_put_runs(const gravel_essential *e, void *to, size_t r, const gravel_run *runs, size_t count)
{
    if (e->tree->scalar == 8)
        PUT_RUNS(double)
    else
        PUT_RUNS(float)
}

static void take_runs(const gravel_essential *e, const void *from, gravel_run *runs, size_t count)
{
    if (e->tree->scalar == 8)
        TAKE_RUNS(double)
    else
        TAKE_RUNS(float)
}

/* The first `boxes` of the own boxes to the host, and how many were chosen, then those of equal runs.  With the factors
 * of groups all is there for the own tree to act: so it does behind the reads, where it has not begun yet. */
static gravel_status read_runs(gravel_essential *e, size_t boxes, size_t equal, int with_groups, gravel_run *runs)
{
    const gravel_tree *tree = e->tree;
    const size_t all = boxes + equal, box = GV_RUN_VECTORS * gv_essential_vector(e);
    void *host;
    gravel_status status = gv_essential_host_room(e, GV_HR_READ, all * GV_RUN_VECTORS, &host);
    if (status)
        return status;
    cl_command_queue queue = gv_worker_queue(&tree->worker);
    cl_event there = NULL; /* the last read: what was begun behind it ends before its memory is used again */
    cl_int code = CL_SUCCESS;
    if (boxes > 0 && !e->runs)
        code = clEnqueueReadBuffer(queue, e->set.buffer[GV_SB_COUNT_TOTAL].mem, CL_FALSE, 0, sizeof e->found, &e->found,
                                   0, NULL, NULL);
    if (!code && boxes > 0)
        code = clEnqueueReadBuffer(queue, e->buffer[GV_EB_OWN_RUNS].mem, CL_FALSE, 0, boxes * box, host, 0, NULL,
                                   equal > 0 ? NULL : &there);
    if (!code && equal > 0)
        code = clEnqueueReadBuffer(queue, e->buffer[GV_EB_EQUAL].mem, CL_FALSE, 0, equal * box,
                                   (char *)host + boxes * box, 0, NULL, &there);
    if (!code)
        code = clFlush(queue);
    if (!code && with_groups && e->begun == 0)
        status = gv_essential_begin_walk(e);
    if (!code && with_groups)
        code = clFlush(queue);
    if (there) {
        const cl_int waited = clWaitForEvents(1, &there);
        code = code ? code : waited;
        clReleaseEvent(there);
    }
    if (code)
        return gv_fail_cl(code, "reading %zu boxes of sinks", all);
    const size_t chosen = boxes == 0 ? 0 : e->runs ? e->runs : e->found;
    e->runs = boxes == 0 ? e->runs : chosen;
    if (chosen <= boxes) {
        take_runs(e, host, runs, chosen);
        take_runs(e, (const char *)host + boxes * box, runs + chosen, equal);
    }
    return status;
}

static gravel_status reserve_runs(gravel_essential *e, gv_essential_buffer which, size_t count)
{
    return gv_tree_reserve(e->tree, &e->buffer[which], count * GV_RUN_VECTORS * gv_essential_vector(e),
                           "boxes of sinks");
}

gravel_status gv_essential_equal_runs(gravel_essential *e, size_t count, gravel_run *runs)
{
    gravel_tree *tree = e->tree;
    const size_t each = (e->set.n + count - 1) / count;
    const double weight = (double)tree->n / (double)e->set.n; /* bodies a sink */
    e->equal = (e->set.n + each - 1) / each;
    gravel_status status = reserve_runs(e, GV_EB_EQUAL, e->equal);
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_GROUPS, GV_TK_RUNS, gv_groups(e->equal, tree->plan.look_group),
                                GV_ARG(e->set.points), GV_UINT(e->set.n), GV_UINT(each), GV_TREE_REAL(tree, weight),
                                GV_MEM(e->buffer[GV_EB_EQUAL]));
    return status || !runs ? status : read_runs(e, 0, e->equal, 0, runs);
}

/* -------------------------------------------------------------------- boxes */

/* Boxes of a level begin at box at[level] (level 0: the sinks, which have none) and are count[level]. */
typedef struct gv_box_levels {
    size_t at[LEVELS], count[LEVELS], all;
    int top;
} gv_box_levels;

static gv_box_levels levels_of(size_t sinks, size_t most)
{
    gv_box_levels l = {.count = {sinks}};
    while (l.count[l.top] > most && l.top + 1 < LEVELS) {
        l.top++;
        l.at[l.top] = l.all;
        l.count[l.top] = (l.count[l.top - 1] + GV_BOX_FAN - 1) / GV_BOX_FAN;
        l.all += l.count[l.top];
    }
    return l;
}

static gravel_status make_boxes(gravel_essential *e, const gv_box_levels *l, const cl_mem factor)
{
    gravel_tree *tree = e->tree;
    gravel_status status =
        gv_tree_reserve(tree, &e->buffer[GV_EB_BOXES], (l->all + 1) * GV_RUN_VECTORS * gv_essential_vector(e), "boxes");
    for (int k = 1; k <= l->top && !status; k++)
        status =
            gv_tree_launch(tree, GV_STAGE_GROUPS, GV_TK_BOXES, gv_tree_items(tree, l->count[k]), GV_ARG(e->set.points),
                           GV_ARG(factor), GV_UINT(k == 1), GV_UINT(l->at[k - 1]), GV_UINT(l->count[k - 1]),
                           GV_UINT(l->at[k]), GV_UINT(l->count[k]), GV_MEM(e->buffer[GV_EB_BOXES]));
    return status;
}

/* Which boxes are taken; how many stays on the device.  ease 0: those of the top. */
static gravel_status choose(gravel_essential *e, const gv_box_levels *l, double ease)
{
    gravel_tree *tree = e->tree;
    gv_buffer *b = e->buffer;
    const double of_distance = ease * OF_DISTANCE, of_size = ease * OF_SIZE;
    const gv_runs_around none = {.mem = NULL}, *others = ease > 0 ? &e->set.around : &none;
    const cl_uint zero = 0;
    cl_int code =
        clEnqueueFillBuffer(gv_worker_queue(&tree->worker), b[GV_EB_TAKEN].mem, &zero, 1, 0, e->set.n, 0, NULL, NULL);
    gravel_status status = code ? gv_fail_cl(code, "clearing marks of sinks") : GRAVEL_OK;
    for (int k = l->top; k >= 0 && !status; k--)
        status = gv_tree_launch(tree, GV_STAGE_GROUPS, GV_TK_CHOOSE, gv_tree_items(tree, l->count[k]),
                                GV_MEM(b[GV_EB_BOXES]), GV_UINT(k), GV_UINT(l->at[k]),
                                GV_UINT(k < l->top ? l->at[k + 1] : 0), GV_UINT(l->count[k]), GV_UINT(k == l->top),
                                GV_MEM(b[GV_EB_RUNS]), GV_UINT(others->count), GV_UINT(others->mine),
                                GV_UINT(others->mine_end), GV_TREE_REAL(tree, of_distance * of_distance),
                                GV_TREE_REAL(tree, of_size * of_size), GV_MEM(b[GV_EB_WIDE]), GV_MEM(b[GV_EB_TAKEN]));
    e->runs = 0; /* not known yet */
    return status ? status : gv_tree_list_flagged(tree, &e->set, &b[GV_EB_TAKEN], e->set.n, &b[GV_EB_TAKEN_LIST]);
}

/* The others' runs, as they are on the host, to the device. */
static gravel_status send_others(gravel_essential *e, const int *first, const gravel_run *runs)
{
    const size_t n = (size_t)first[e->parts], vectors = n * GV_RUN_VECTORS;
    void *host;
    gravel_status status =
        gv_tree_reserve(e->tree, &e->buffer[GV_EB_RUNS], (vectors + 1) * gv_essential_vector(e), "boxes of sinks");
    if (!status)
        status = gv_essential_host_room(e, GV_HR_AROUND, vectors, &host);
    if (status || n == 0)
        return status;
    gv_essential_put_runs(e, host, 0, runs, n);
    const cl_int code = clEnqueueWriteBuffer(gv_worker_queue(&e->tree->worker), e->buffer[GV_EB_RUNS].mem, CL_FALSE, 0,
                                             vectors * gv_essential_vector(e), host, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "sending %zu boxes of sinks", n) : GRAVEL_OK;
}

static gravel_status reserve_choice(gravel_essential *e, const gv_box_levels *l)
{
    gravel_tree *tree = e->tree;
    gravel_status status = gv_tree_reserve(tree, &e->buffer[GV_EB_WIDE], l->all + 1, "marks of boxes");
    if (!status)
        status = gv_tree_reserve(tree, &e->buffer[GV_EB_TAKEN], e->set.n, "marks of sinks");
    return status ? status : gv_tree_reserve(tree, &e->buffer[GV_EB_TAKEN_LIST], 4 * e->set.n, "a list of sinks");
}

/* The boxes that were chosen; `n`: how many, or at most if that is still on the device. */
static gravel_status take(gravel_essential *e, size_t n, cl_mem factor)
{
    const gv_buffer *b = e->buffer;
    const cl_mem found = e->runs ? NULL : e->set.buffer[GV_SB_COUNT_TOTAL].mem;
    gravel_status status = reserve_runs(e, GV_EB_OWN_RUNS, n);
    return status
               ? status
               : gv_tree_launch(e->tree, GV_STAGE_GROUPS, GV_TK_TAKE, gv_tree_items(e->tree, n), GV_ARG(e->set.points),
                                GV_ARG(factor), GV_UINT(e->set.n), GV_MEM(b[GV_EB_BOXES]), GV_MEM(b[GV_EB_TAKEN]),
                                GV_MEM(b[GV_EB_TAKEN_LIST]), GV_ARG(found), GV_UINT(n), GV_MEM(b[GV_EB_OWN_RUNS]));
}

/* Boxes are chosen and come to the host: larger ones if they are more than e->most.  A wait a try. */
static gravel_status choose_and_read(gravel_essential *e, const gv_box_levels *l, cl_mem factor, gravel_run *runs)
{
    const size_t most = e->most < e->set.n ? e->most : e->set.n;
    const int with_groups = factor != NULL;
    gravel_status status = GRAVEL_OK;
    e->runs = most + 1;
    for (double ease = 1; e->runs > most && !status; ease = ease < MOST_EASE ? 2 * ease : 0) {
        status = choose(e, l, ease);
        if (!status)
            status = take(e, most, factor);
        if (!status)
            status = read_runs(e, most, with_groups ? e->equal : 0, with_groups, runs);
    }
    e->is_chosen = !status;
    return status;
}

static gravel_status find_factors(gravel_essential *e)
{
    gravel_tree *tree = e->tree;
    gv_buffer *factor = &e->buffer[GV_EB_FACTOR];
    const gravel_groups *set = &e->set;
    gravel_status status = gv_tree_reserve(tree, factor, set->n * tree->scalar, "factors of sinks");
    return status ? status
                  : gv_tree_launch(tree, GV_STAGE_GROUPS, GV_TK_FACTORS,
                                   gv_tree_items(tree, set->cut.places * tree->plan.look_group),
                                   GV_MEM(set->buffer[GV_SB_GROUP]), GV_UINT(set->cut.places), GV_MEM(*factor));
}

gravel_status gv_essential_take_runs(gravel_essential *e, gravel_run *runs)
{
    const gv_box_levels l = levels_of(e->set.n, e->top);
    gravel_status status = find_factors(e);
    const cl_mem factor = e->buffer[GV_EB_FACTOR].mem;
    if (!status)
        status = make_boxes(e, &l, factor);
    if (status || !e->is_chosen)
        return status ? status : choose_and_read(e, &l, factor, runs);
    status = take(e, e->runs, factor);
    return status ? status : read_runs(e, e->runs, e->equal, 1, runs);
}

gravel_status gravel_essential_refine(gravel_essential *e, const int *first, const gravel_run *others, int most,
                                      gravel_run *runs, int *count)
{
    if (!e || !first || most < 1 || (!others && first[e->parts] > 0) || (runs && !count))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_essential_refine needs the runs of all parts and room for others");
    if (count)
        *count = 0;
    if (e->set.n == 0)
        return GRAVEL_OK;
    e->most = (size_t)most;
    e->top = most < TOP ? (size_t)most : TOP;
    e->is_chosen = 0;
    const gv_box_levels l = levels_of(e->set.n, e->top);
    gravel_status status = send_others(e, first, others);
    if (!status)
        status = reserve_choice(e, &l);
    e->set.around = (gv_runs_around){e->buffer[GV_EB_RUNS].mem, (size_t)first[e->parts], (size_t)first[e->mine],
                                     (size_t)first[e->mine + 1]};
    if (!status && runs)
        status = make_boxes(e, &l, NULL);
    if (!status && runs)
        status = choose_and_read(e, &l, NULL, runs);
    e->refined = !status;
    if (runs)
        *count = status ? 0 : (int)e->runs;
    return status;
}
