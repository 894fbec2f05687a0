/* The sources: what is in the view, whether the tree is up to date, bodies into the tree's order. */
#include "host/tree/tree.h"

#include <math.h>
#include <string.h>

#define VALUE(name) (tree->config.value[GV_TT_##name])

/* ------------------------------------------------------------------ frames */

gv_turn gv_turn_between(const gravel_frame *from, const gravel_frame *to, const double displaced[3])
{
    gv_turn turn = {.scale = from->length / to->length, .is_none = 1};
    for (int c = 0; c < 3; c++) {
        turn.shift[c] = (from->origin[c] - to->origin[c] - displaced[c]) / to->length;
        turn.is_none = turn.is_none && turn.shift[c] == 0;
    }
    turn.is_none = turn.is_none && turn.scale == 1;
    return turn;
}

void gv_turn_as_args(const gv_turn *turn, int is_double, gv_turn_args *out)
{
    const size_t size = is_double ? sizeof(cl_double) : sizeof(cl_float);
    memset(out, 0, sizeof *out);
    for (int c = 0; c < 3; c++) {
        const float high = (float)turn->shift[c];
        if (is_double) {
            out->shift.d[c] = turn->shift[c];
        } else {
            out->shift.f[c] = high;
            out->low.f[c] = (float)(turn->shift[c] - (double)high);
        }
    }
    if (is_double)
        out->scale.d = turn->scale;
    else
        out->scale.f = (float)turn->scale;
    out->arg[0] = (gv_arg){size, &out->scale};
    out->arg[1] = (gv_arg){4 * size, &out->shift};
    out->arg[2] = (gv_arg){4 * size, &out->low};
}

/* -------------------------------------------------------------------- view */

int gv_tree_is_whole(const gravel_tree *tree)
{
    const gv_selection *s = &tree->sources;
    return !s->list && s->first == 0 && s->count == s->bodies->count;
}

/* Bytes that a body takes on the device, with its share of cells (five a full leaf, as a first build guesses) and
 * groups. */
static double bytes_per_body(const gravel_tree *tree)
{
    const double vector = 4.0 * (double)tree->scalar, words = (double)tree->words;
    const double bodies = 2 * vector * words, keys = 24 + 2, forces = vector * words;
    const double cells = 5.0 / VALUE(N_LEAF) * (8 + (GV_CELL_VECTORS - 1 + words + GV_BOX_VECTORS) * vector);
    const double groups = (GV_GROUP_VECTORS * vector + GV_COUNT_WORDS * 4) / VALUE(N_GROUP);
    return bodies + keys + forces + cells + groups;
}

gravel_status gv_tree_check_size(const gravel_tree *tree, size_t n)
{
    const double each = bytes_per_body(tree), there = (double)tree->limits.info.global_memory;
    if (n == 0)
        return gv_fail(GRAVEL_ERR_STATE, "the tree has no bodies");
    if (n > GV_MOST_PLACES)
        return gv_fail(GRAVEL_ERR_INPUT, "%zu bodies are too many: a tree addresses at most %d", n, GV_MOST_PLACES);
    if ((double)n * each <= there)
        return GRAVEL_OK;
    return gv_fail(GRAVEL_ERR_DEVICE_MEMORY,
                   "a tree of %zu bodies needs %.1f MB; %s has %.1f MB: about %.3g bodies would fit", n,
                   (double)n * each / 1e6, tree->limits.info.name, there / 1e6, floor(there / each));
}

gravel_status gravel_tree_set_sources(gravel_tree *tree, const gravel_view *sources)
{
    gv_selection selection;
    if (!tree || !sources || !sources->bodies)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tree_set_sources needs a tree and a view of bodies");
    if (sources->bodies->worker.context != tree->worker.context ||
        sources->bodies->worker.device != tree->worker.device)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "bodies and tree must be on the same device of the same context");
    gravel_status status = gv_view_resolve(sources, "sources", &selection);
    if (!status)
        status = gv_tree_configure(tree, selection.count > 0 ? selection.count : GV_TREE_USUAL_BODIES);
    if (status)
        return status;
    tree->view = *sources;
    tree->built = 0;
    tree->has_last = 0;
    gv_groups_give_counts(tree, NULL);
    return GRAVEL_OK;
}

/* -------------------------------------------------------------------- order */

/* Whether keys and bounds can be found from the planes as they are. */
static int reads_planes(const gravel_tree *tree)
{
    const gv_selection *s = &tree->sources;
    const size_t scalar = s->bodies->precision == GRAVEL_DP ? 8 : 4;
    return !s->list && s->first == 0 && scalar == tree->scalar;
}

/* Bodies of the view into `to`, in the order of `index` (NULL: of the view). */
static gravel_status gather_bodies(gravel_tree *tree, gv_stage stage, cl_mem index, gv_buffer *to, gv_buffer *low)
{
    const gv_selection *s = &tree->sources;
    const int from = (int)s->bodies->precision;
    const size_t bytes = tree->n * 4 * tree->scalar;
    const gv_turn none = {.scale = 1};
    gv_turn_args turn;
    cl_mem at, at_low = NULL;
    gravel_status status = gv_bodies_need(s->bodies, GV_WORD_POSITION, &at);
    if (!status && from == GRAVEL_DS && tree->options.precision != GRAVEL_SP)
        status = gv_bodies_need(s->bodies, GV_WORD_POSITION_LOW, &at_low);
    if (!status)
        status = gv_tree_reserve(tree, to, bytes, "bodies");
    if (!status && tree->words == 2)
        status = gv_tree_reserve(tree, low, bytes, "bodies");
    gv_turn_as_args(&none, from == GRAVEL_DP || tree->scalar == 8, &turn);
    return status ? status
                  : gv_tree_launch(tree, stage, GV_TK_GATHER + from, gv_tree_items(tree, tree->n), GV_ARG(at),
                                   GV_ARG(at_low), GV_ARG(s->list), GV_UINT(s->first), GV_ARG(index), GV_UINT(tree->n),
                                   turn.arg[0], turn.arg[1], turn.arg[2], GV_MEM(*to), GV_MEM(*low));
}

gravel_status gv_tree_gather(gravel_tree *tree)
{
    return gather_bodies(tree, GV_STAGE_SORT, tree->order.index[tree->order.sorted].mem, &tree->buffer[GV_TB_BODY],
                         &tree->buffer[GV_TB_BODY_LOW]);
}

gravel_status gv_tree_find_density(gravel_tree *tree, double eps, const gv_buffer *density)
{
    const gv_selection *s = &tree->sources;
    const double length = tree->frame.length, soft = eps / length;
    const int is_double = s->bodies->precision == GRAVEL_DP || tree->scalar == 8;
    return gv_tree_launch(tree, GV_STAGE_MOMENTS, GV_TK_DENSITY + (int)s->bodies->precision,
                          gv_tree_items(tree, (tree->n + GV_RUN - 1) / GV_RUN), GV_MEM(tree->buffer[GV_TB_BODY]),
                          GV_MEM(tree->order.index[tree->order.sorted]), GV_ARG(s->list), GV_UINT(s->first),
                          GV_UINT(tree->n), GV_TREE_REAL(tree, soft * soft),
                          GV_REAL(is_double ? GRAVEL_DP : GRAVEL_SP, tree->frame.mass / length / length / length),
                          GV_MEM(*density));
}

gravel_status gv_tree_need_inverse(gravel_tree *tree)
{
    const gv_selection *s = &tree->sources;
    gv_buffer *inverse = &tree->buffer[GV_TB_INVERSE];
    if (tree->has_inverse)
        return GRAVEL_OK;
    gravel_status status = gv_tree_reserve(tree, inverse, s->bodies->count * 4, "places of bodies");
    if (!status && !gv_tree_is_whole(tree)) {
        const cl_uint none = GRAVEL_NONE;
        const cl_int code = clEnqueueFillBuffer(gv_worker_queue(&tree->worker), inverse->mem, &none, sizeof none, 0,
                                                s->bodies->count * 4, 0, NULL, NULL);
        status = code ? gv_fail_cl(code, "clearing places of bodies") : GRAVEL_OK;
    }
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_GROUPS, GV_TK_INVERSE, gv_tree_items(tree, tree->n),
                                GV_MEM(tree->order.index[tree->order.sorted]), GV_ARG(s->list), GV_UINT(s->first),
                                GV_UINT(tree->n), GV_MEM(*inverse));
    tree->has_inverse = !status;
    return status;
}

/* ------------------------------------------------------------------- changes */

typedef enum gv_change { GV_SAME, GV_MOVED, GV_OTHER } gv_change;

/* What has changed in the sources since the last build; `s` is their present state. */
static gv_change changes(const gravel_tree *tree, const gv_selection *s)
{
    const gravel_bodies *b = s->bodies;
    const uint64_t list = tree->view.kind == GRAVEL_VIEW_LIST ? tree->view.list->version : 0;
    if (!tree->built || s->count != tree->n || s->bodies != tree->sources.bodies || s->first != tree->sources.first ||
        list != tree->list_version || b->order_version != tree->order_version ||
        memcmp(&b->frame, &tree->frame, sizeof b->frame) != 0)
        return GV_OTHER;
    return b->version[GRAVEL_POSITION] == tree->moved_version && b->version[GRAVEL_MASS] == tree->mass_version
               ? GV_SAME
               : GV_MOVED;
}

/* The view as it is from now on. */
static gravel_status take_view(gravel_tree *tree, const gv_selection *s)
{
    gravel_status status = gv_tree_configure(tree, s->count);
    if (!status)
        status = gv_tree_check_size(tree, s->count);
    if (status)
        return status;
    tree->sources = *s;
    tree->n = s->count;
    tree->frame = s->bodies->frame;
    tree->moved_version = s->bodies->version[GRAVEL_POSITION];
    tree->mass_version = s->bodies->version[GRAVEL_MASS];
    tree->order_version = s->bodies->order_version;
    tree->list_version = tree->view.kind == GRAVEL_VIEW_LIST ? tree->view.list->version : 0;
    tree->softened = tree->widened = tree->has_inverse = tree->is_torn = 0;
    return GRAVEL_OK;
}

static gravel_status rebuild(gravel_tree *tree, const gv_selection *s)
{
    for (int k = GV_STAGE_KEYS; k <= GV_STAGE_MOMENTS; k++)
        gv_worker_clear_stage(&tree->worker, k);
    tree->built = 0;
    gv_groups_give_counts(tree, NULL); /* they are in the order of the bodies before */
    gravel_status status = take_view(tree, s);
    if (!status && reads_planes(tree)) {
        status = gv_bodies_need(s->bodies, GV_WORD_POSITION, &tree->body);
    } else if (!status) {
        status = gather_bodies(tree, GV_STAGE_KEYS, NULL, &tree->buffer[GV_TB_VIEW], &tree->buffer[GV_TB_VIEW_LOW]);
        tree->body = tree->buffer[GV_TB_VIEW].mem;
    }
    return status ? status : gv_tree_build(tree);
}

static gravel_status refit(gravel_tree *tree)
{
    for (int k = GV_STAGE_KEYS; k <= GV_STAGE_MOMENTS; k++)
        gv_worker_clear_stage(&tree->worker, k);
    tree->softened = tree->widened = 0;
    tree->is_torn = 1;
    gravel_status status = gv_tree_gather(tree);
    if (!status)
        status = gv_tree_moments(tree);
    if (status)
        return status;
    tree->is_torn = 0;
    tree->moved_version = tree->sources.bodies->version[GRAVEL_POSITION];
    tree->mass_version = tree->sources.bodies->version[GRAVEL_MASS];
    return GRAVEL_OK;
}

static gravel_status resolve(const gravel_tree *tree, gv_selection *s)
{
    if (!tree->view.bodies)
        return gv_fail(GRAVEL_ERR_STATE,
                       "the tree has no bodies: gravel_tree_write or gravel_tree_set_sources comes first");
    return gv_view_resolve(&tree->view, "sources", s);
}

/* Cells of an earlier build that did not fit, where results in planes may have used them. */
static gravel_status report_bad_build(gravel_tree *tree)
{
    const int bad = tree->unseen && tree->bad_build == tree->build;
    if (bad)
        tree->unseen = 0;
    return bad ? gv_fail(GRAVEL_ERR_STATE,
                         "the tree of the step before had %zu cells, far more than those before it, and its forces are "
                         "incomplete; there is room for them now: repeat that step",
                         tree->known_cells)
               : GRAVEL_OK;
}

gravel_status gv_tree_update(gravel_tree *tree, gravel_tree_moved moved)
{
    gv_selection s;
    gravel_status status = resolve(tree, &s);
    if (!status)
        status = gv_tree_settle(tree, 0);
    if (!status)
        status = report_bad_build(tree);
    if (status)
        return status;
    const gv_change change = changes(tree, &s);
    if (change == GV_OTHER || (change == GV_MOVED && moved == GRAVEL_TREE_REBUILD)) {
        /* a build waits for the sizes of the one before anyway, after which nobody can tell that it was bad */
        status = gv_tree_settle(tree, 1);
        if (!status)
            status = report_bad_build(tree);
        return status ? status : rebuild(tree, &s);
    }
    return change == GV_MOVED && (moved == GRAVEL_TREE_REFIT || tree->is_torn) ? refit(tree) : GRAVEL_OK;
}

gravel_status gv_tree_update_whole(gravel_tree *tree, gravel_tree_moved moved)
{
    gravel_status status = gv_tree_update(tree, moved);
    if (!status)
        status = gv_tree_settle(tree, 1);
    if (!status && !tree->built)
        status = gv_tree_update(tree, GRAVEL_TREE_REBUILD);
    return status ? status : gv_tree_settle(tree, 1);
}

gravel_status gv_tree_rebuild(gravel_tree *tree)
{
    gv_selection s;
    gravel_status status = resolve(tree, &s);
    return status ? status : rebuild(tree, &s);
}

/* ------------------------------------------------------------------ softening */

static gravel_status soften_cells(gravel_tree *tree, gv_tree_kind kind)
{
    const size_t group = tree->plan.plain_group, most = (size_t)tree->limits.info.compute_units * 32;
    gv_buffer *b = tree->buffer;
    size_t groups = (tree->n + group - 1) / group;
    gravel_status status =
        gv_tree_reserve(tree, &b[GV_TB_CELL_SOFT], tree->cell_capacity * tree->scalar, "softening of cells");
    if (!status)
        status =
            gv_tree_reserve(tree, &b[GV_TB_CELL_MOMENT], tree->cell_capacity * 2 * tree->scalar, "softening of cells");
    if (groups > most)
        groups = most;
    for (int l = GV_LEVELS - 1; l >= 0 && !status; l--)
        status =
            gv_tree_launch(tree, GV_STAGE_MOMENTS, GV_TK_SOFTEN + (int)kind, gv_groups(groups, group),
                           GV_MEM(b[GV_TB_BODY]), GV_MEM(b[GV_TB_BODY_SOFT]), GV_MEM(b[GV_TB_LEVEL_TOTAL]), GV_UINT(l),
                           GV_UINT(tree->cell_capacity), GV_INT(tree->options.softening == GRAVEL_SPLINE),
                           GV_MEM(b[GV_TB_CELL]), GV_MEM(b[GV_TB_CELL_MOMENT]), GV_MEM(b[GV_TB_CELL_SOFT]));
    return status;
}

gravel_status gv_tree_soften(gravel_tree *tree, gv_tree_kind kind)
{
    const gv_selection *s = &tree->sources;
    const uint64_t version = s->bodies->version[GRAVEL_SOFTENING];
    const double factor = tree->options.softening == GRAVEL_SPLINE ? GV_SPLINE_SUPPORT : 1;
    cl_mem soft;
    const int softens = kind >= GV_TREE_SOURCES && kind <= GV_TREE_MAX;
    gravel_status status = GRAVEL_OK;
    if (softens && tree->softened == (int)kind && tree->soft_version == version)
        return GRAVEL_OK;
    if (tree->widened) { /* as they are without softening, whatever walks there were before */
        status = gv_tree_moments(tree);
        tree->softened = 0;
        tree->widened = status != GRAVEL_OK;
    }
    if (status || !softens)
        return status;
    tree->widened = 1;
    status = gv_bodies_need(s->bodies, GV_WORD_SOFTENING, &soft);
    if (!status)
        status = gv_tree_reserve(tree, &tree->buffer[GV_TB_BODY_SOFT], tree->n * tree->scalar, "softening of bodies");
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_MOMENTS, GV_TK_GATHER_SOFT + (int)s->bodies->precision,
                                gv_tree_items(tree, tree->n), GV_ARG(soft), GV_ARG(s->list), GV_UINT(s->first),
                                GV_MEM(tree->order.index[tree->order.sorted]), GV_UINT(tree->n),
                                GV_TREE_REAL(tree, factor), GV_MEM(tree->buffer[GV_TB_BODY_SOFT]));
    if (!status)
        status = soften_cells(tree, kind);
    tree->softened = status ? 0 : (int)kind;
    tree->soft_version = version;
    return status;
}
