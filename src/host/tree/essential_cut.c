/* What others need of this tree: marked, counted, packed, on its way to the host. */
#include <stdlib.h>
#include <string.h>

#include "host/tree/essential.h"

static gravel_run around_all(const gravel_run *runs, size_t count)
{
    gravel_run box = runs[0];
    for (size_t k = 1; k < count; k++) {
        for (int c = 0; c < 3; c++) {
            box.lo[c] = runs[k].lo[c] < box.lo[c] ? runs[k].lo[c] : box.lo[c];
            box.hi[c] = runs[k].hi[c] > box.hi[c] ? runs[k].hi[c] : box.hi[c];
        }
        box.open = runs[k].open > box.open ? runs[k].open : box.open;
    }
    return box;
}

/* Boxes around GV_BOX_FAN of the boxes each, until no more than so many are left; a level behind the other. */
static size_t put_levels(const gravel_run *runs, size_t count, gravel_run *levels)
{
    size_t all = 0;
    for (const gravel_run *below = runs; count > GV_BOX_FAN; below = levels + all - count) {
        for (size_t k = 0; k < count; k += GV_BOX_FAN)
            levels[all++] = around_all(below + k, count - k < GV_BOX_FAN ? count - k : GV_BOX_FAN);
        count = (count + GV_BOX_FAN - 1) / GV_BOX_FAN;
    }
    return all;
}

/* The others' runs to the device, then the boxes around several of them.  They are numbers of a device of the same
 * precision: nothing is rounded. */
static gravel_status send_runs(gravel_essential *e, const int *first, const gravel_run *runs)
{
    gravel_tree *tree = e->tree;
    const size_t own = (size_t)(first[e->mine + 1] - first[e->mine]), n = (size_t)first[e->parts] - own;
    /* levels: a seventh, and one more each; GV_BOX_FAN boxes are read at once, also where fewer are left */
    const size_t most = n + n / (GV_BOX_FAN - 1) + (size_t)e->parts * GV_LEVELS + GV_BOX_FAN;
    size_t at = n;
    void *host;
    gravel_run *levels = malloc((most - n) * sizeof *levels);
    gravel_status status = levels ? gv_tree_reserve(tree, &e->buffer[GV_EB_RUNS],
                                                    most * GV_RUN_VECTORS * gv_essential_vector(e), "boxes of sinks")
                                  : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu boxes", most);
    if (!status)
        status = gv_essential_host_room(e, GV_HR_CUT, most * GV_RUN_VECTORS, &host);
    memset(e->begin, 0, ((size_t)e->parts + 1) * sizeof *e->begin);
    e->set.around.mem = NULL; /* other boxes take their place */
    if (status || n == 0) {
        free(levels);
        return status;
    }
    for (int p = 0; p < e->parts; p++) {
        const size_t count = p == e->mine ? 0 : (size_t)(first[p + 1] - first[p]);
        const size_t more = put_levels(runs + first[p], count, levels);
        e->begin[p + 1] = e->begin[p] + (cl_uint)count;
        gv_essential_put_runs(e, host, e->begin[p], runs + first[p], count);
        e->around[p] = (cl_uint)at;
        gv_essential_put_runs(e, host, at, levels, more);
        at += more;
    }
    free(levels);
    const cl_int code = clEnqueueWriteBuffer(gv_worker_queue(&tree->worker), e->buffer[GV_EB_RUNS].mem, CL_FALSE, 0,
                                             at * GV_RUN_VECTORS * gv_essential_vector(e), host, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "sending %zu boxes of sinks", n) : GRAVEL_OK;
}

/* Parts that one look at the cells serves, and where its words begin. */
typedef struct gv_pass {
    int first, receivers;
    cl_ulong words;
} gv_pass;

static gv_pass pass_of(const gravel_essential *e, int part)
{
    const int first = part / GV_RECEIVERS * GV_RECEIVERS, left = e->parts - first;
    return (gv_pass){first, left < GV_RECEIVERS ? left : GV_RECEIVERS,
                     (cl_ulong)(first / GV_RECEIVERS) * (cl_ulong)e->cells};
}

/* Numbers that stand for the largest rounding of distances: a few of the least steps of coordinates. */
static double slack_of(const gravel_tree *tree)
{
    return tree->options.precision == GRAVEL_DP ? 8 * 1.2e-16 : 8 * 6e-8;
}

/* Where the runs of a pass begin, for all passes one after the other. */
enum { FIRST_WORDS = 2 * GV_RECEIVERS + 1 };

static size_t passes_of(const gravel_essential *e)
{
    return ((size_t)e->parts + GV_RECEIVERS - 1) / GV_RECEIVERS;
}

static gravel_status send_first(gravel_essential *e)
{
    const size_t bytes = passes_of(e) * FIRST_WORDS * sizeof(cl_uint);
    void *host;
    gravel_status status = gv_tree_reserve(e->tree, &e->buffer[GV_EB_FIRST], bytes, "runs of parts");
    if (!status)
        status = gv_essential_host_room(e, GV_HR_FIRST, bytes / gv_essential_vector(e), &host);
    if (status)
        return status;
    for (int part = 0; part < e->parts; part += GV_RECEIVERS) {
        const gv_pass pass = pass_of(e, part);
        cl_uint *begin = (cl_uint *)host + (size_t)(part / GV_RECEIVERS) * FIRST_WORDS;
        for (int r = 0; r <= pass.receivers; r++)
            begin[r] = e->begin[pass.first + r];
        memcpy(begin + pass.receivers + 1, e->around + pass.first, (size_t)pass.receivers * sizeof *begin);
    }
    const cl_int code = clEnqueueWriteBuffer(gv_worker_queue(&e->tree->worker), e->buffer[GV_EB_FIRST].mem, CL_FALSE, 0,
                                             bytes, host, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "sending runs of parts") : GRAVEL_OK;
}

static gravel_status clear_marks(gravel_essential *e)
{
    const cl_uint zero = 0;
    const cl_int code = clEnqueueFillBuffer(gv_worker_queue(&e->tree->worker), e->buffer[GV_EB_WANTED].mem, &zero,
                                            sizeof zero, 0, passes_of(e) * e->cells * sizeof zero, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "clearing marks of cells") : GRAVEL_OK;
}

static gravel_status mark(gravel_essential *e, const gv_pass *pass, int deep)
{
    gravel_tree *tree = e->tree;
    const size_t most = (size_t)tree->limits.info.compute_units * 64;
    const size_t first = (size_t)(pass->first / GV_RECEIVERS) * FIRST_WORDS;
    const double guard =
        tree->options.softening == GRAVEL_SPLINE ? GV_SPLINE_SUPPORT * e->call.eps / tree->frame.length : 0;
    gravel_status status = GRAVEL_OK;
    for (int l = 0; l < GV_LEVELS && tree->levels[l] > 0 && !status; l++) {
        const gv_range range = gv_groups(tree->levels[l] < most ? tree->levels[l] : most, tree->plan.look_group);
        status = gv_tree_launch(tree, GV_STAGE_GROUPS, GV_TK_MARK, range, GV_MEM(tree->buffer[GV_TB_CELL]),
                                GV_MEM(tree->buffer[GV_TB_LEVEL_TOTAL]), GV_UINT(l), GV_MEM(e->buffer[GV_EB_RUNS]),
                                GV_MEM(e->buffer[GV_EB_FIRST]), GV_UINT(first), GV_UINT(pass->receivers), GV_INT(deep),
                                GV_TREE_REAL(tree, guard), GV_TREE_REAL(tree, slack_of(tree)), GV_ARG(pass->words),
                                GV_MEM(e->buffer[GV_EB_WANTED]), GV_MEM(e->buffer[GV_EB_OPENED]));
    }
    return status;
}

static int is_asked(const gravel_essential *e, const int *first, int part)
{
    return part != e->mine && first[part] < first[part + 1];
}

static size_t tiles_of(const gravel_essential *e)
{
    return (e->cells + e->tree->plan.part_tile - 1) / e->tree->plan.part_tile;
}

static gravel_status reserve(gravel_essential *e)
{
    gravel_tree *tree = e->tree;
    gv_buffer *b = e->buffer;
    const size_t parts = (size_t)e->parts, passes = passes_of(e);
    gravel_status status = gv_tree_reserve(tree, &b[GV_EB_WANTED], passes * e->cells * 4, "marks of cells");
    if (!status)
        status = gv_tree_reserve(tree, &b[GV_EB_OPENED], passes * e->cells * 4, "marks of cells");
    if (!status)
        status = gv_tree_reserve(tree, &b[GV_EB_TABLE], GV_PART_SIZES * parts * tiles_of(e) * 4, "sums of parts");
    if (!status)
        status = gv_tree_reserve(tree, &b[GV_EB_AT], parts * sizeof *e->at, "places of parts");
    return status ? status : gv_tree_reserve(tree, &b[GV_EB_SIZES], GV_PART_SIZES * parts * 4, "sizes of parts");
}

static gravel_status count_pass(gravel_essential *e, const gv_pass *pass)
{
    gravel_tree *tree = e->tree;
    const gv_buffer *b = e->buffer;
    const size_t tiles = tiles_of(e);
    return gv_tree_launch(
        tree, GV_STAGE_GROUPS, GV_TK_COUNT_PARTS, gv_groups(tiles * (size_t)pass->receivers, tree->plan.look_group),
        GV_MEM(tree->buffer[GV_TB_CELL]), GV_MEM(b[GV_EB_WANTED]), GV_MEM(b[GV_EB_OPENED]), GV_ARG(pass->words),
        GV_UINT(pass->first), GV_UINT(e->cells), GV_UINT(tiles), GV_MEM(b[GV_EB_TABLE]));
}

/* What marking needs, beside a walk that was begun.  No kernel that is still to run has any of it: sizes of the parts
 * that were cut before were waited for, and so was what chose boxes. */
static gravel_status send_all(gravel_essential *e, const int *first, const gravel_run *runs)
{
    gv_worker *worker = &e->tree->worker;
    gravel_status status = reserve(e);
    gv_worker_turn_aside(worker);
    if (!status)
        status = send_runs(e, first, runs);
    if (!status)
        status = send_first(e);
    if (!status)
        status = clear_marks(e);
    const gravel_status back = gv_worker_turn_back(worker);
    return status ? status : back;
}

/* Numbers of cells and bodies of all parts.  Waits for them, and for nothing after. */
static gravel_status count_parts(gravel_essential *e, int deep, const int *first)
{
    gravel_tree *tree = e->tree;
    const gv_buffer *b = e->buffer;
    const size_t sizes = GV_PART_SIZES * (size_t)e->parts;
    gravel_status status = GRAVEL_OK;
    for (int r = 0; r < e->parts && !status; r += GV_RECEIVERS) {
        const gv_pass pass = pass_of(e, r);
        status = mark(e, &pass, deep);
        if (!status)
            status = count_pass(e, &pass);
    }
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_GROUPS, GV_TK_SCAN, gv_groups(sizes, tree->plan.wide_group),
                                GV_MEM(b[GV_EB_TABLE]), GV_UINT(tiles_of(e)), GV_MEM(b[GV_EB_SIZES]));
    if (status)
        return status;
    const cl_int code = clEnqueueReadBuffer(gv_worker_queue(&tree->worker), b[GV_EB_SIZES].mem, CL_TRUE, 0,
                                            sizes * sizeof *e->sizes, e->sizes, 0, NULL, NULL);
    for (int r = 0; r < e->parts && !code; r++) {
        const cl_uint *size = e->sizes + GV_PART_SIZES * r;
        if (is_asked(e, first, r))
            e->out[r] = (gravel_part){.cells = size[0], .bodies = size[GV_PART_SIZES - 1]};
    }
    return code ? gv_fail_cl(code, "reading the sizes of %d parts of a tree", e->parts) : GRAVEL_OK;
}

/* All parts that travel, each at its offset: cells, then bodies, then their low words. */
static gravel_status pack(gravel_essential *e, int deep)
{
    gravel_tree *tree = e->tree;
    const gv_buffer *b = e->buffer;
    const size_t tiles = tiles_of(e);
    gravel_status status = GRAVEL_OK;
    for (int r = 0; r < e->parts; r++)
        e->at[r] = e->out[r].bytes > 0 ? e->out[r].offset / gv_essential_vector(e) : ~(cl_ulong)0;
    const cl_int code = clEnqueueWriteBuffer(gv_worker_queue(&tree->worker), b[GV_EB_AT].mem, CL_FALSE, 0,
                                             (size_t)e->parts * sizeof *e->at, e->at, 0, NULL, NULL);
    if (code)
        status = gv_fail_cl(code, "sending places of parts");
    for (int r = 0; r < e->parts && !status; r += GV_RECEIVERS) {
        const gv_pass pass = pass_of(e, r);
        status = gv_tree_launch(
            tree, GV_STAGE_GROUPS, GV_TK_PACK, gv_groups(tiles * (size_t)pass.receivers, tree->plan.look_group),
            GV_MEM(tree->buffer[GV_TB_CELL]), GV_MEM(tree->buffer[GV_TB_BODY]), GV_MEM(tree->buffer[GV_TB_BODY_LOW]),
            GV_MEM(b[GV_EB_WANTED]), GV_MEM(b[GV_EB_OPENED]), GV_ARG(pass.words), GV_UINT(pass.first),
            GV_UINT(e->cells), GV_UINT(tiles), GV_MEM(b[GV_EB_TABLE]), GV_MEM(b[GV_EB_SIZES]), GV_MEM(b[GV_EB_AT]),
            GV_INT(deep), GV_MEM(e->sent->device));
    }
    return status;
}

/* The copy of the block will wait for this only, not for what is submitted until then. */
static gravel_status note_packed(gravel_essential *e)
{
    const gv_device *device = gv_worker_device(&e->tree->worker);
    cl_int code = clEnqueueMarkerWithWaitList(device->compute, 0, NULL, &e->packed);
    if (!code)
        code = clFlush(device->compute);
    return code ? gv_fail_cl(code, "packing parts of a tree") : GRAVEL_OK;
}

/* A walk opens whatever an estimate opens: as many cells, and no bodies, are the same cells. */
static int is_enough(const gravel_part *shallow, const gravel_part *deep)
{
    return shallow->cells > 0 && shallow->cells == deep->cells && deep->bodies == 0;
}

gravel_status gravel_essential_cut(gravel_essential *e, int deep, const int *first, const gravel_run *runs,
                                   gravel_part *out)
{
    if (!e || !first || !out || (!runs && first[e->parts] > 0))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_essential_cut needs runs and a place for the parts");
    gv_essential_forget_packed(e);
    memset(e->out, 0, (size_t)e->parts * sizeof *e->out);
    memset(out, 0, (size_t)e->parts * sizeof *out);
    if (e->cells == 0)
        return GRAVEL_OK;
    gravel_status status = send_all(e, first, runs);
    if (!status)
        status = count_parts(e, deep, first);
    if (status)
        return status;
    for (int r = 0; r < e->parts && deep; r++)
        e->out[r].again = is_enough(&e->shallow_out[r], &e->out[r]);
    const size_t bytes = gv_essential_lay_out(e, e->out);
    if (bytes > 0)
        status = gv_essential_take_slot(e, bytes, &e->sent);
    if (!status && bytes > 0)
        status = pack(e, deep);
    if (!status && bytes > 0)
        status = note_packed(e);
    if (!deep)
        memcpy(e->shallow_out, e->out, (size_t)e->parts * sizeof *out);
    memcpy(out, e->out, (size_t)e->parts * sizeof *out);
    return status;
}

void gv_essential_forget_packed(gravel_essential *e)
{
    if (e->packed)
        clReleaseEvent(e->packed);
    e->packed = NULL;
}

gravel_status gravel_essential_fetch(gravel_essential *e, void *to, const void **from)
{
    size_t bytes = 0;
    if (!e || !from)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_essential_fetch needs a place for the result");
    *from = to ? to : e->sent ? e->sent->host : NULL;
    for (int r = 0; r < e->parts; r++)
        bytes += e->out[r].bytes;
    if (!e->packed || bytes == 0)
        return GRAVEL_OK;
    const cl_command_queue queue = gv_worker_device(&e->tree->worker)->copy;
    cl_int code = clEnqueueReadBuffer(queue, e->sent->device.mem, CL_FALSE, 0, bytes, to ? to : e->sent->host, 1,
                                      &e->packed, &e->sent->busy);
    if (!code)
        code = clFlush(queue);
    gv_essential_forget_packed(e);
    return code ? gv_fail_cl(code, "bringing %zu bytes of a tree to the host", bytes)
                : gv_slot_wait(&e->tree->worker, e->sent);
}
