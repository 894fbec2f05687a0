/* Lists: what the caller gives is checked here, once; kernels trust it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/options.h"
#include "host/tasks/tasks.h"

/* What a list says, before anything of the object changes. */
typedef struct listing {
    gravel_task_list list;
    uint8_t *is_sink;
    gv_tasks_unit *unit;
    gv_config config;
    gravel_origin origin;
    gravel_tasks_counts counts;
    size_t bodies;
} listing;

/* ------------------------------------------------------------------ checks */

static gravel_status check_leaves(listing *l)
{
    for (size_t k = 0; k < l->list.leaves; k++) {
        const gravel_leaf leaf = l->list.leaf[k];
        const size_t end = (size_t)leaf.first + leaf.count;
        if (end > GV_MOST_BODIES)
            return gv_fail(GRAVEL_ERR_INPUT, "leaf %zu has bodies %u ... %zu; addresses end at %zu", k, leaf.first,
                           end - 1, GV_MOST_BODIES - 1);
        if (leaf.count > 0 && end > l->bodies)
            l->bodies = end;
    }
    return GRAVEL_OK;
}

static gravel_status check_tasks(listing *l)
{
    const gravel_task_list *list = &l->list;
    for (size_t k = 0; k < list->tasks; k++) {
        const gravel_task task = list->task[k];
        if (task.sinks >= list->leaves || task.sources >= list->leaves)
            return gv_fail(GRAVEL_ERR_INPUT, "task %zu is <%u, %u>: there are %zu leaves", k, task.sinks, task.sources,
                           list->leaves);
        if (list->shift_of && list->shift_of[k] >= list->shifts)
            return gv_fail(GRAVEL_ERR_INPUT, "task %zu has shift %u: there are %zu shifts", k, list->shift_of[k],
                           list->shifts);
        const gravel_leaf i = list->leaf[task.sinks], j = list->leaf[task.sources];
        const int is_shifted = list->shift_of && list->shift_of[k] > 0;
        const double from = fmax(i.first, j.first), to = fmin((double)i.first + i.count, (double)j.first + j.count);
        l->is_sink[task.sinks] = 1;
        l->counts.pairs += (double)i.count * j.count - (is_shifted ? 0 : fmax(0, to - from));
    }
    return GRAVEL_OK;
}

static int by_first(const void *a, const void *b)
{
    const gravel_leaf *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* A body is a sink of one leaf: its result is one sum. */
static gravel_status check_sinks(listing *l)
{
    gravel_leaf *sorted = malloc((l->list.leaves + 1) * sizeof *sorted);
    size_t n = 0;
    int ascending = 1;
    if (!sorted)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu leaves", l->list.leaves);
    for (size_t k = 0; k < l->list.leaves; k++)
        if (l->is_sink[k] && l->list.leaf[k].count > 0) {
            ascending &= n == 0 || sorted[n - 1].first <= l->list.leaf[k].first;
            l->counts.sinks += l->list.leaf[k].count;
            sorted[n++] = l->list.leaf[k];
        }
    if (!ascending)
        qsort(sorted, n, sizeof *sorted, by_first);
    gravel_status status = GRAVEL_OK;
    for (size_t k = 1; k < n && !status; k++)
        if (sorted[k].first < sorted[k - 1].first + sorted[k - 1].count)
            status = gv_fail(GRAVEL_ERR_INPUT, "two leaves with sinks share body %u", sorted[k].first);
    free(sorted);
    return status;
}

static gravel_status check_shifts(const gravel_task_list *list)
{
    if (!list->shift_of)
        return GRAVEL_OK;
    if (!list->shift || list->shifts == 0 || list->shifts > 256)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "tasks with shifts need a table of 1 to 256 of them, not %zu",
                       list->shifts);
    for (size_t k = 0; k < list->shifts; k++)
        for (int c = 0; c < 3; c++)
            if (!isfinite(list->shift[k][c]) || (k == 0 && list->shift[k][c] != 0))
                return gv_fail(GRAVEL_ERR_INPUT, "shift %zu is %g in component %d; number 0 must be 0, others finite",
                               k, list->shift[k][c], c);
    return GRAVEL_OK;
}

static gravel_status check(const gravel_tasks *tasks, listing *l)
{
    const gravel_task_list *list = &l->list;
    if ((!list->leaf && list->leaves > 0) || (!list->task && list->tasks > 0))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "a list has numbers of leaves and tasks, and no arrays of them");
    if (list->leaves >= INT32_MAX || list->tasks >= INT32_MAX)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%zu leaves and %zu tasks: at most %d of each", list->leaves, list->tasks,
                       INT32_MAX - 1);
    gravel_status status = check_shifts(list);
    l->is_sink = calloc(list->leaves + 1, 1);
    if (!status && !l->is_sink)
        status = gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu leaves", list->leaves);
    if (!status)
        status = check_leaves(l);
    if (!status)
        status = check_tasks(l);
    (void)tasks;
    return status ? status : check_sinks(l);
}

/* ------------------------------------------------------------------- units */

/* By the bodies of a leaf with sinks, and those that pull it, on average: a profile or the default, and what the caller
 * named on top of it. */
static gravel_status choose(const gravel_tasks *tasks, listing *l)
{
    size_t leaves = 0, pulling = 0;
    for (size_t k = 0; k < l->list.leaves; k++)
        leaves += l->is_sink[k] && l->list.leaf[k].count > 0;
    const size_t mean = leaves > 0 ? (l->counts.sinks + leaves - 1) / leaves : 1;
    for (size_t k = 0; k < l->list.tasks; k++)
        pulling += l->list.leaf[l->list.task[k].sources].count;
    gravel_status status =
        gv_profile_choose(tasks->worker.context, tasks->worker.device, &gv_tasks_space, &tasks->variant, mean,
                          leaves > 0 ? pulling / leaves + 1 : 1, &l->config, &l->origin);
    if (status || !tasks->configuration)
        return status;
    l->origin = GRAVEL_ORIGIN_CALLER;
    status = gv_space_parse(&gv_tasks_space, tasks->configuration, &l->config);
    const char *reason = status ? NULL : gv_space_can_run(&gv_tasks_space, &l->config, &tasks->variant, &tasks->limits);
    return reason ? gv_fail(GRAVEL_ERR_ARGUMENT, "the configuration '%s' cannot run: %s", tasks->configuration, reason)
                  : status;
}

/* Pairs that units compute: whole vectors of sinks, whole turns of sources. */
static double slots_of(const listing *l)
{
    const int *v = l->config.value;
    const size_t lanes = (size_t)(v[GV_TA_LANES] * v[GV_TA_SINKS_PER_ITEM]);
    const double turn = v[GV_TA_SPLIT] * v[GV_TA_UNROLL];
    double *sources = calloc(l->list.leaves + 1, sizeof *sources), sum = 0;
    if (!sources)
        return 0;
    for (size_t k = 0; k < l->list.tasks; k++)
        sources[l->list.task[k].sinks] += l->list.leaf[l->list.task[k].sources].count;
    for (size_t k = 0; k < l->counts.units; k++) {
        const size_t count = l->unit[k].count;
        const gv_tasks_places p = gv_tasks_places_of(&l->config, count);
        const double n = sources[l->unit[k].list];
        sum += v[GV_TA_THREADS] > 1 ? (p.rows + p.rest) * ceil(n / turn) * turn
                                    : (double)((count + lanes - 1) / lanes * lanes) * n;
    }
    free(sources);
    return sum;
}

static gravel_status make_units(listing *l)
{
    l->counts.leaves = l->list.leaves;
    l->counts.tasks = l->list.tasks;
    l->counts.units = gv_tasks_make_units(l->list.leaf, l->list.leaves, l->is_sink, &l->config, NULL);
    l->unit = malloc((l->counts.units + 1) * sizeof *l->unit);
    if (!l->unit)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu units of work", l->counts.units);
    gv_tasks_make_units(l->list.leaf, l->list.leaves, l->is_sink, &l->config, l->unit);
    l->counts.slots = slots_of(l);
    return GRAVEL_OK;
}

/* ---------------------------------------------------------------- transfer */

static gravel_status send(gravel_tasks *tasks, gv_buffer *to, const void *from, size_t size, const char *what)
{
    gravel_status status = gv_buffer_reserve(&tasks->worker, to, size > 0 ? size : 16, what);
    if (status || size == 0)
        return status;
    const cl_int code =
        clEnqueueWriteBuffer(gv_worker_queue(&tasks->worker), to->mem, CL_TRUE, 0, size, from, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "sending %s to %s", what, tasks->limits.info.name) : GRAVEL_OK;
}

static int bits_of(size_t n)
{
    int bits = 1;
    while (bits < 32 && n >> bits)
        bits++;
    return bits;
}

/* The tasks by sinks, in `raw` as they came: GV_TAB_BEGIN, GV_TAB_ENTRY, GV_TAB_ENTRY_SHIFT. */
static gravel_status arrange(gravel_tasks *tasks, const listing *l, gv_buffer raw[3])
{
    const size_t n = l->list.tasks, group = (size_t)tasks->group;
    gv_sort *sort = &tasks->sort;
    cl_kernel keys, ranges, entries;
    cl_mem shift_of = l->list.shift_of ? raw[2].mem : NULL;
    gravel_status status = gv_sort_reserve(sort, &tasks->worker, n > 0 ? n : 1);
    if (!status)
        status = gv_tasks_kernel_of(tasks, "tasks/arrange.cl", "gv_tasks_keys", "", &keys);
    if (!status)
        status = gv_tasks_kernel_of(tasks, "tasks/arrange.cl", "gv_tasks_ranges", "", &ranges);
    if (!status)
        status = gv_tasks_kernel_of(tasks, "tasks/arrange.cl", "gv_tasks_entries", "", &entries);
    if (!status)
        status = gv_launch(&tasks->worker, -1, keys, gv_items(n, group), GV_MEM(raw[0]), GV_UINT(n),
                           GV_MEM(sort->key[sort->sorted]), GV_MEM(sort->index[sort->sorted]));
    if (!status && n > 0)
        status = gv_sort_run(sort, &tasks->worker, -1, n, bits_of(l->list.leaves));
    if (!status)
        status = gv_launch(&tasks->worker, -1, ranges, gv_items(n + 1, group), GV_MEM(sort->key[sort->sorted]),
                           GV_UINT(n), GV_UINT(l->list.leaves), GV_MEM(tasks->buffer[GV_TAB_BEGIN]));
    return status ? status
                  : gv_launch(&tasks->worker, -1, entries, gv_items(n, group), GV_MEM(raw[0]), GV_MEM(raw[1]),
                              GV_MEM(sort->index[sort->sorted]), GV_UINT(n), GV_ARG(shift_of),
                              GV_MEM(tasks->buffer[GV_TAB_ENTRY]), GV_MEM(tasks->buffer[GV_TAB_ENTRY_SHIFT]));
}

static gravel_status store(gravel_tasks *tasks, const listing *l)
{
    gv_buffer raw[3] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    const gravel_task_list *list = &l->list;
    gravel_status status = send(tasks, &raw[0], list->task, list->tasks * sizeof *list->task, "tasks");
    if (!status)
        status = send(tasks, &raw[1], list->leaf, list->leaves * sizeof *list->leaf, "leaves");
    if (!status && list->shift_of)
        status = send(tasks, &raw[2], list->shift_of, list->tasks, "shifts of tasks");
    if (!status)
        status = send(tasks, &tasks->buffer[GV_TAB_UNIT], l->unit, l->counts.units * sizeof *l->unit, "units of work");
    if (!status)
        status = gv_tasks_reserve(tasks, GV_TAB_BEGIN, (list->leaves + 1) * 4, "tasks of leaves");
    if (!status)
        status = gv_tasks_reserve(tasks, GV_TAB_ENTRY, list->tasks * 8, "tasks");
    if (!status)
        status = gv_tasks_reserve(tasks, GV_TAB_ENTRY_SHIFT, list->shift_of ? list->tasks : 1, "shifts of tasks");
    if (!status)
        status = arrange(tasks, l, raw);
    for (int k = 0; k < 3; k++)
        gv_buffer_release(&raw[k]);
    return status;
}

gravel_status gravel_tasks_write(gravel_tasks *tasks, const gravel_task_list *list)
{
    listing l = {.list = GRAVEL_TASK_LIST_INIT};
    if (!tasks || !list)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tasks_write needs tasks and a list");
    gravel_status status = gv_options_take(&l.list, sizeof l.list, list, "gravel_task_list");
    if (!status)
        status = check(tasks, &l);
    if (!status)
        status = choose(tasks, &l);
    if (!status)
        status = make_units(&l);
    if (!status) {
        tasks->has_list = 0;
        status = store(tasks, &l);
        tasks->has_list = !status;
        tasks->config = l.config;
        tasks->origin = l.origin;
        tasks->counts = l.counts;
        tasks->bodies = l.bodies;
        tasks->shifts = l.list.shift_of ? l.list.shifts : 0;
        tasks->shift_length = 0;
        for (size_t k = 0; k < tasks->shifts; k++)
            memcpy(tasks->shift[k], l.list.shift[k], sizeof tasks->shift[k]);
    }
    free(l.unit);
    free(l.is_sink);
    return status;
}
