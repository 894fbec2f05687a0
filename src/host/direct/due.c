/* Calls of sinks that the device has found: how the sources are cut for each number of them that there may be
 * (kernels/direct/cut.h).  A call of as many that the host knows of, with the configuration for the same number, is cut
 * likewise: sums do not depend on who knew. */
#include <stdlib.h>
#include <string.h>

#include "host/direct/call.h"

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t divide_up(size_t value, size_t by)
{
    return (value + by - 1) / by;
}

/* `table`: for each number of groups of sinks up to that of kind->most. */
static void plan_cuts(const gravel_direct *d, const gv_direct_job *c, const gv_direct_alike *kind, size_t sources,
                      cl_uint *table, gv_direct_cuts *cuts)
{
    const int units = d->limits.info.compute_units;
    const gv_variant *variant = &d->variant[c->variant];
    cuts->groups = cuts->blocks = cuts->reduce_groups = 0;
    for (size_t n = divide_up(kind->above + 1, cuts->group_sinks); n <= divide_up(kind->most, cuts->group_sinks); n++) {
        gv_direct_plan plan;
        gv_direct_plan_make(&plan, &cuts->config, variant, units, n * cuts->group_sinks, sources, 0, 0);
        cl_uint *const cut = table + GV_CUT_WORDS * n;
        cut[GV_CUT_BLOCKS] = (cl_uint)plan.blocks;
        cut[GV_CUT_PART] = (cl_uint)plan.part_sources;
        cut[GV_CUT_ROWS] = (cl_uint)plan.reduce_rows;
        cuts->blocks = larger(cuts->blocks, plan.blocks);
        cuts->groups = larger(cuts->groups, plan.blocks * n);
        cuts->reduce_groups =
            larger(cuts->reduce_groups, gv_direct_reduce_groups(n * cuts->group_sinks, plan.reduce_rows));
    }
}

static gravel_status make_cuts(gravel_direct *d, const gv_direct_job *c, const gv_direct_alike *kind, size_t sources,
                               gv_direct_cuts *cuts)
{
    gv_direct_plan one;
    cuts->sources = 0; /* until they are there */
    cuts->config = c->choice->config;
    gv_direct_plan_make(&one, &cuts->config, &d->variant[c->variant], d->limits.info.compute_units, 1, sources, 0, 0);
    cuts->group_sinks = one.stride;
    const size_t bytes = (divide_up(kind->most, cuts->group_sinks) + 1) * GV_CUT_WORDS * sizeof(cl_uint);
    cl_uint *const table = calloc(1, bytes);
    if (!table)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for plans of %zu sinks", kind->most);
    plan_cuts(d, c, kind, sources, table, cuts);
    gravel_status status = gv_buffer_reserve(&d->worker, &cuts->table, bytes, "plans of calls");
    const cl_int code = status ? 0
                               : clEnqueueWriteBuffer(gv_worker_queue(&d->worker), cuts->table.mem, CL_TRUE, 0, bytes,
                                                      table, 0, NULL, NULL);
    free(table);
    if (code)
        status = gv_fail_cl(code, "sending plans of calls to %s", d->limits.info.name);
    cuts->sources = status ? 0 : sources;
    return status;
}

gravel_status gv_direct_plan_due(gravel_direct *d, gv_direct_job *c, size_t sources)
{
    const size_t split = (size_t)c->choice->config.value[GV_T_SPLIT];
    const gv_direct_alike kind = gv_direct_find_alike(c->due->most);
    gv_direct_cuts *const cuts = c->cuts = &d->cuts[kind.index];
    gravel_status status = GRAVEL_OK;
    if (cuts->sources != sources || cuts->variant != c->variant ||
        memcmp(&cuts->config, &c->choice->config, sizeof cuts->config) != 0)
        status = make_cuts(d, c, &kind, sources, cuts);
    cuts->variant = c->variant;
    if (status)
        return status;
    const size_t sink_groups = divide_up(c->due->most, cuts->group_sinks);
    c->plan = (gv_direct_plan){.sink_groups = sink_groups,
                               .stride = sink_groups * cuts->group_sinks,
                               .blocks = cuts->blocks,
                               .parts = cuts->blocks * split};
    return GRAVEL_OK;
}
