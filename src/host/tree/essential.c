/* Parts of trees that travel: life, runs of sinks, groups, walks. */
#include "host/tree/essential.h"

#include <stdlib.h>
#include <string.h>

/* groups that walk while boxes of sinks travel: half a millisecond of an H200, which is what that takes there */
enum { BEGIN = 6144 };
/* What a sink costs beside walks: sort, build, groups, boxes.  In slots of walks, of which it has some 33000 (theta
 * 0.5): 7800 on processor cores, 10000 on an H200 with 2097152 bodies, 8900 with 8388608 (doc/numbers.md). */
#define BESIDE_WALKS 9000.0

size_t gv_essential_vector(const gravel_essential *e)
{
    return 4 * e->tree->scalar;
}

size_t gv_essential_cell(const gravel_essential *e)
{
    return (GV_CELL_VECTORS + e->tree->words - 1) * gv_essential_vector(e);
}

/* Bytes of a body with its low word. */
static size_t body_bytes(const gravel_essential *e)
{
    return e->tree->words * gv_essential_vector(e);
}

size_t gv_essential_lay_out(const gravel_essential *e, gravel_part *parts)
{
    size_t sum = 0;
    for (int r = 0; r < e->parts; r++) {
        parts[r].bytes = parts[r].again ? 0 : parts[r].cells * gv_essential_cell(e) + parts[r].bodies * body_bytes(e);
        parts[r].offset = sum;
        sum += parts[r].bytes;
    }
    return sum;
}

gravel_status gv_essential_host_room(gravel_essential *e, gv_host_room use, size_t vectors, void **room)
{
    const size_t size = (vectors + 1) * gv_essential_vector(e);
    if (e->numbers_size[use] < size) {
        free(e->numbers_host[use]);
        e->numbers_host[use] = malloc(size);
        e->numbers_size[use] = e->numbers_host[use] ? size : 0;
    }
    *room = e->numbers_host[use];
    return *room ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu boxes", vectors / 2);
}

gravel_status gv_essential_take_slot(gravel_essential *e, size_t bytes, gv_slot **slot)
{
    if (*slot)
        (*slot)->held = 0;
    *slot = NULL;
    gravel_status status = gv_slots_take(&e->tree->worker, &e->slots, bytes > 0 ? bytes : 1, slot);
    if (!status)
        (*slot)->held = 1;
    return status;
}

/* --------------------------------------------------------------------- life */

gravel_status gravel_essential_create(gravel_essential **essential, gravel_tree *tree, int parts, int mine)
{
    if (!essential || !tree)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_essential_create needs a tree and a place for the result");
    *essential = NULL;
    if (parts < 1 || mine < 0 || mine >= parts)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "there is no part %d of %d", mine, parts);
    if (parts - 1 > GV_MOST_ROOTS)
        return gv_fail(GRAVEL_ERR_UNSUPPORTED, "a tree over %d ranks: there may be %d at most", parts,
                       GV_MOST_ROOTS + 1);
    if (tree->options.split > 0)
        return gv_fail(GRAVEL_ERR_UNSUPPORTED, "the tree of a force that a mesh completes has no parts elsewhere");
    gravel_essential *e = calloc(1, sizeof *e);
    if (!e)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for parts of a tree");
    e->tree = tree;
    e->parts = parts;
    e->mine = mine;
    e->out = calloc((size_t)parts, sizeof *e->out);
    e->in = calloc((size_t)parts, sizeof *e->in);
    e->shallow_out = calloc((size_t)parts, sizeof *e->shallow_out);
    e->shallow_in = calloc((size_t)parts, sizeof *e->shallow_in);
    e->sizes = calloc(GV_PART_SIZES * (size_t)parts, sizeof *e->sizes);
    e->at = calloc((size_t)parts, sizeof *e->at);
    e->begin = calloc((size_t)parts + 1, sizeof *e->begin);
    e->around = calloc((size_t)parts, sizeof *e->around);
    if (!e->out || !e->in || !e->sizes || !e->at || !e->begin || !e->around || !e->shallow_out || !e->shallow_in) {
        gravel_essential_release(e);
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %d parts of a tree", parts);
    }
    *essential = e;
    return GRAVEL_OK;
}

void gravel_essential_release(gravel_essential *e)
{
    if (!e)
        return;
    clFinish(gv_worker_queue(&e->tree->worker));
    gv_essential_forget_packed(e);
    if (e->sent)
        e->sent->held = 0;
    if (e->room)
        e->room->held = 0;
    if (e->kept)
        e->kept->held = 0;
    gv_slots_release(&e->tree->worker, &e->slots);
    e->tree->in_frame = 0;
    for (int k = 0; k < GV_EB_COUNT; k++)
        gv_buffer_release(&e->buffer[k]);
    gv_buffer_release(&e->result);
    gv_groups_release(&e->set);
    for (int k = 0; k < GV_HR_COUNT; k++)
        free(e->numbers_host[k]);
    free(e->sizes);
    free(e->at);
    free(e->begin);
    free(e->around);
    free(e->out);
    free(e->in);
    free(e->shallow_out);
    free(e->shallow_in);
    free(e);
}

void gravel_essential_share_cells(gravel_essential *e, int share)
{
    if (e)
        e->tree->in_frame = share != 0;
}

/* -------------------------------------------------------------------- begin */

static gravel_status check_call(const gravel_tree_call *call)
{
    const double *s = call->shift;
    if (call->soften != GRAVEL_SOFTEN_EPS)
        return gv_fail(GRAVEL_ERR_UNSUPPORTED, "parts of a tree have one softening length for all bodies");
    if (call->groups || !call->sinks.bodies || s[0] != 0 || s[1] != 0 || s[2] != 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "parts of a tree act on a view of bodies, unshifted");
    return GRAVEL_OK;
}

/* The sinks, and boxes of e->most_equal equal runs of them. */
static gravel_status take_sinks(gravel_essential *e, gravel_run *runs)
{
    gravel_tree *tree = e->tree;
    e->begun = e->equal = 0;
    gravel_status status = gv_sinks_make(tree, &e->set, &e->call, 0);
    gv_groups_give_counts(tree, NULL);
    e->numbers = gv_tree_numbers_of(tree, e->call.eps, e->call.soften);
    return status || e->set.n == 0 ? status : gv_essential_equal_runs(e, e->most_equal, runs);
}

gravel_status gravel_essential_begin(gravel_essential *e, const gravel_tree_call *call, int most, gravel_run *runs,
                                     int *count)
{
    if (!e || !call || !count || most < 1)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_essential_begin needs a call and room for runs");
    gravel_tree *tree = e->tree;
    gravel_status status = gv_tree_take_call(tree, call, &e->call);
    *count = 0;
    e->joined = e->cells = e->runs = e->equal = e->begun = e->set.n = 0;
    e->refined = e->is_chosen = e->is_open = 0;
    e->most_equal = (size_t)most;
    e->set.others = NULL;
    e->set.around = (gv_runs_around){.mem = NULL};
    memset(e->shallow_out, 0, (size_t)e->parts * sizeof *e->shallow_out);
    if (!status)
        status = check_call(&e->call);
    if (status || !tree->view.bodies || gravel_view_get_count(&tree->view) == 0)
        return status;
    status = runs ? gv_tree_update_whole(tree, e->call.moved) : gv_tree_update(tree, e->call.moved);
    e->cells = tree->known_cells;
    e->is_open = !runs;
    if (!status)
        status = gv_tree_check_eps(tree, &e->call);
    if (!status)
        status = take_sinks(e, runs);
    *count = status ? 0 : (int)e->equal;
    e->equal = runs ? 0 : e->equal;
    return status;
}

/* What is cut from the tree must be complete: *anew where it was built again, with room for all cells. */
static gravel_status settle(gravel_essential *e, int *anew)
{
    gravel_tree *tree = e->tree;
    *anew = 0;
    if (!e->is_open)
        return GRAVEL_OK;
    gravel_status status = gv_tree_settle(tree, 1);
    *anew = !status && !tree->built;
    if (*anew)
        status = gv_tree_update_whole(tree, e->call.moved);
    e->is_open = status != GRAVEL_OK;
    e->cells = tree->known_cells;
    return status;
}

/* Groups, and the boxes of their sinks. */
static gravel_status group(gravel_essential *e, gravel_run *runs)
{
    if (e->joined) {
        e->set.others = e->buffer[GV_EB_CELL].mem;
        e->set.around.mem = NULL;
    }
    gravel_status status = gv_groups_make(e->tree, &e->set, &e->numbers, e->call.last);
    e->set.others = NULL;
    return status || !e->refined ? status : gv_essential_take_runs(e, runs);
}

gravel_status gravel_essential_estimate(gravel_essential *e, gravel_run *runs, int *count, int *equal)
{
    int anew = 0;
    if (!e || !runs || !count || !equal)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_essential_estimate needs room for runs");
    *count = *equal = 0;
    if (e->set.n > 0 && !e->refined && e->parts > 1)
        return gv_fail(GRAVEL_ERR_STATE, "gravel_essential_refine comes before gravel_essential_estimate");
    gravel_status status = e->set.n > 0 ? group(e, runs) : GRAVEL_OK;
    if (!status)
        status = settle(e, &anew);
    if (!status && anew && e->set.n > 0) {
        e->is_chosen = 0;
        status = take_sinks(e, NULL);
        if (!status)
            status = group(e, runs);
    }
    if (status || !e->refined)
        return status;
    *count = (int)e->runs;
    *equal = (int)e->equal;
    e->equal = 0;
    return GRAVEL_OK;
}

/* -------------------------------------------------------------------- walks */

/* The own tree acts on `count` more groups. */
static gravel_status walk_own(gravel_essential *e, size_t count)
{
    gravel_tree *tree = e->tree;
    const gv_buffer *b = tree->buffer;
    const gv_tree_actors actors = {b[GV_TB_CELL].mem, b[GV_TB_BODY].mem, b[GV_TB_BODY_LOW].mem};
    gravel_status status = gv_tree_reserve(tree, &e->result, e->set.n * 4 * tree->words * tree->scalar, "forces");
    if (!status && count > 0)
        status = gv_tree_walk_others(tree, &e->set, (gv_tree_slice){e->begun, count}, &e->numbers, &actors, &e->result);
    e->begun += status ? 0 : count;
    return status;
}

gravel_status gv_essential_begin_walk(gravel_essential *e)
{
    const size_t most = e->set.cut.places / 4 < BEGIN ? e->set.cut.places / 4 : BEGIN;
    return walk_own(e, most - most % gv_tree_slice_unit(e->tree));
}

gravel_status gravel_essential_walk(gravel_essential *e, int others)
{
    if (!e)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_essential_walk: no object was given");
    gravel_tree *tree = e->tree;
    gravel_groups *set = &e->set;
    const gv_buffer *b = e->buffer;
    const gv_tree_actors actors = {b[GV_EB_CELL].mem, b[GV_EB_BODY].mem, b[GV_EB_BODY_LOW].mem};
    const int is_own = set->own;
    gravel_status status = GRAVEL_OK;
    if (set->n == 0 || (others && !e->joined))
        return GRAVEL_OK;
    if (others) {
        set->own = GV_OWN_NONE;
        status = gv_tree_walk_others(tree, set, (gv_tree_slice){0, set->cut.places}, &e->numbers, &actors, &e->result);
        set->own = is_own;
    } else {
        status = walk_own(e, set->cut.places - e->begun);
    }
    if (!status)
        status = gv_tree_store(tree, set, &e->result, others);
    const cl_int code = status ? CL_SUCCESS : clFlush(gv_worker_queue(&tree->worker));
    e->of_others = others;
    gv_groups_give_counts(tree, status ? NULL : set);
    return status ? status : code ? gv_fail_cl(code, "starting a walk") : GRAVEL_OK;
}

gravel_status gravel_essential_cost(gravel_essential *e, gravel_plane plane, int add)
{
    const gv_place *place = gv_plane_place(plane);
    if (!e || !place || place->components != 1 || place->word < GV_WORD_USER)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_essential_cost needs one of the planes GRAVEL_USER ...");
    const gv_selection *s = &e->set.sinks;
    const size_t width = e->tree->plan.look_group;
    const double more = e->of_others ? 0 : BESIDE_WALKS;
    cl_mem cost;
    if (e->set.n == 0 || (add && !e->joined))
        return GRAVEL_OK;
    gravel_status status = gv_bodies_need(s->bodies, place->word, &cost);
    if (!status)
        status = gv_tree_launch(e->tree, GV_STAGE_WALK, GV_TK_COST + (int)s->bodies->precision,
                                gv_tree_items(e->tree, e->set.cut.places * width), GV_MEM(e->set.buffer[GV_SB_COUNTS]),
                                GV_UINT(e->set.cut.places), GV_ARG(e->set.index), GV_ARG(s->list), GV_UINT(s->first),
                                GV_TREE_REAL(e->tree, more), GV_INT(add), GV_ARG(cost));
    gv_bodies_changed(s->bodies, plane);
    return status;
}
