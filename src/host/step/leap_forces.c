/* Forces of leapfrog blocks, and bodies that are looked at between blocks. */
#include "host/direct/call.h"
#include "host/step/leapfrog.h"
#include "host/mesh/mesh.h"
#include "host/tree/tree.h"

/* The list of the block as solvers take it. */
static gravel_list block_list(gravel_leapfrog *f, size_t count)
{
    return (gravel_list){.worker = {.context = f->worker.context, .device = f->worker.device},
                         .address = f->select.list,
                         .count = count,
                         .largest = (uint32_t)(f->n - 1),
                         .version = f->counts.blocks,
                         .is_sent = 1};
}

static gravel_status walk(gravel_leapfrog *f, gravel_tree *tree, gravel_view sinks, int last, gravel_tree_moved moved)
{
    gravel_tree_call call;
    gravel_tree_call_init(&call);
    call.sinks = sinks;
    call.last = last;
    call.eps = f->options.eps;
    call.soften = f->options.soften;
    call.moved = moved;
    call.into = GRAVEL_INTO_PLANES;
    if (f->options.walk && tree == f->tree)
        return f->options.walk(tree, &call, f->options.walk_user);
    gravel_status status = gv_tree_update_whole(tree, moved);
    return status ? status : gravel_tree_walk(tree, &call, NULL);
}

static gravel_direct_call sums_of(const gravel_leapfrog *f, gravel_bodies *sources, gravel_view sinks)
{
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    call.sources = gravel_view_all(sources);
    call.sinks = sinks;
    call.order = 2;
    call.eps = f->options.eps;
    call.soften = f->options.soften;
    call.nearest = call.neighbour_capacity = 0;
    call.into = GRAVEL_INTO_PLANES;
    return call;
}

static gravel_status sum(gravel_leapfrog *f, gravel_bodies *sources, gravel_view sinks)
{
    const gravel_direct_call call = sums_of(f, sources, sinks);
    return f->options.forces ? f->options.forces(f->direct, &call, f->options.forces_user)
                             : gravel_direct_start(f->direct, &call, NULL);
}

/* ------------------------------------------------------------ external force */

static gravel_status need(gravel_bodies *b, cl_mem mem[7])
{
    static const gv_word word[7] = {GV_WORD_POSITION,     GV_WORD_POSITION_LOW, GV_WORD_VELOCITY, GV_WORD_VELOCITY_LOW,
                                    GV_WORD_ACCELERATION, GV_WORD_POTENTIAL,    GV_WORD_ID};
    gravel_status status = GRAVEL_OK;
    for (int k = 0; k < 7 && !status; k++) {
        const int low = word[k] == GV_WORD_POSITION_LOW || word[k] == GV_WORD_VELOCITY_LOW;
        if (low && b->precision != GRAVEL_DS)
            mem[k] = mem[0];
        else
            status = gv_bodies_need(b, word[k], &mem[k]);
    }
    return status;
}

static gravel_status need_at(gravel_leapfrog *f)
{
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    options.precision = f->bodies->precision;
    options.device = f->worker.device;
    gravel_status status = f->at ? GRAVEL_OK : gravel_bodies_create(&f->at, f->worker.context, &options);
    if (!status)
        status = gravel_bodies_resize(f->at, f->n);
    if (status)
        return status;
    f->at->frame = f->bodies->frame; /* its planes are filled anew */
    f->at->has_box = f->at->has_mass_unit = 1;
    f->at->ids_mixed = f->bodies->ids_mixed;
    return GRAVEL_OK;
}

static void changed(gravel_bodies *b)
{
    static const gravel_plane plane[] = {GRAVEL_POSITION,     GRAVEL_VELOCITY,  GRAVEL_MASS,
                                         GRAVEL_ACCELERATION, GRAVEL_POTENTIAL, GRAVEL_ID};
    for (size_t k = 0; k < sizeof plane / sizeof plane[0]; k++)
        gv_bodies_changed(b, plane[k]);
}

/* The bodies of a block stand anywhere: for the caller they are gathered. */
static gravel_status add_external(gravel_leapfrog *f, size_t count, double time)
{
    cl_mem own[7], to[7];
    if (count == f->n)
        return f->options.external(f->bodies, 0, count, time, f->options.external_user);
    gravel_status status = need_at(f);
    if (!status)
        status = need(f->bodies, own);
    if (!status)
        status = need(f->at, to);
    if (!status)
        status = gv_launch(&f->worker, 0, f->kernel[GV_LEAP_PICK], gv_items(count, 64), GV_MEM(f->select.list),
                           GV_UINT(count), GV_ARG(own[0]), GV_ARG(own[1]), GV_ARG(own[2]), GV_ARG(own[3]),
                           GV_ARG(own[4]), GV_ARG(own[5]), GV_ARG(own[6]), GV_ARG(to[0]), GV_ARG(to[1]), GV_ARG(to[2]),
                           GV_ARG(to[3]), GV_ARG(to[4]), GV_ARG(to[5]), GV_ARG(to[6]));
    if (status)
        return status;
    changed(f->at);
    status = f->options.external(f->at, 0, count, time, f->options.external_user);
    if (!status)
        status = need(f->at, to);
    return status ? status
                  : gv_launch(&f->worker, 0, f->kernel[GV_LEAP_PUT], gv_items(count, 64), GV_MEM(f->select.list),
                              GV_UINT(count), GV_ARG(to[4]), GV_ARG(to[5]), GV_ARG(own[4]), GV_ARG(own[5]));
}

/* ------------------------------------------------------------------- blocks */

/* Walks of cells that have become large cost more than a build: at 1e6 bodies twice as many interactions a step later
 * (doc/numbers.md).  So what is counted are the forces from cells that were kept, this block's too: a block of many
 * always has a tree of its own, and a block of a few does not use one up. */
static int rebuilds(const gravel_leapfrog *f)
{
    return !f->keeps || (double)(f->since_build + f->all_due) > f->options.rebuild * (double)f->all;
}

/* So few bodies cost less as direct sums than new moments of all cells and a walk.  On two cores these take as long as
 * sums of some 60 bodies.  On an H200 they take 0.81 ms at 1e6 bodies, where sums of 512 bodies by half a million take
 * 0.34 ms (tuning_db); with more bodies they grow as the sums of 60 do. */
enum { FEW = 32, FEW_ON_GPU = 256, PAIRS_ON_GPU = 256 * 1000 * 1000 };

static size_t most_few(const gravel_leapfrog *f)
{
    const size_t most = PAIRS_ON_GPU / f->n;
    if (gv_worker_device(&f->worker)->info.type == GRAVEL_DEVICE_CPU || most < FEW)
        return FEW;
    return most < FEW_ON_GPU ? most : FEW_ON_GPU;
}

/* Not where the tree is not all there is, and not before it is built, which is when the densities around bodies are
 * found. */
static int are_few(const gravel_leapfrog *f, size_t count)
{
    const gravel_leapfrog_options *o = &f->options;
    const gravel_tree_options *t = &f->tree->options;
    return f->keeps && count < f->n && count <= most_few(f) && !o->mesh && !o->walk && !o->agree &&
           t->softening == GRAVEL_PLUMMER && t->split == 0;
}

/* With the configuration for the most sinks of their cell: a sum does not depend on the blocks before. */
static gravel_status sum_few(gravel_leapfrog *f, gravel_view sinks)
{
    gravel_status status = GRAVEL_OK;
    if (!f->few) {
        gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
        options.order = 2;
        options.precision = f->tree->options.precision;
        options.device = f->worker.device;
        status = gravel_direct_create(&f->few, f->worker.context, &options);
    }
    const gravel_direct_call call = sums_of(f, f->bodies, sinks);
    const size_t chosen_for = gv_choice_last_sinks(gv_choice_sink_cell(gravel_view_get_count(&sinks)));
    return status ? status : gv_direct_start_for(f->few, &call, chosen_for, NULL);
}

/* What the next steps are to know of the bodies of the block before their forces are written over. */
static gravel_status remember(gravel_leapfrog *f, size_t count)
{
    const size_t number = f->bodies->precision == GRAVEL_DP ? 8 : 4;
    cl_mem acc;
    gravel_status status = gv_buffer_reserve(&f->worker, &f->before, f->n * number, "accelerations before a block");
    if (!status && f->tree)
        status = gv_buffer_reserve(&f->worker, &f->density, f->n * number, "densities around bodies");
    if (!status)
        status = gv_bodies_need(f->bodies, GV_WORD_ACCELERATION, &acc);
    return status || !f->has_forces || count == 0
               ? status
               : gv_launch(&f->worker, 0, f->kernel[GV_LEAP_BEFORE], gv_items(count, 64), GV_MEM(f->select.list),
                           GV_UINT(count), GV_ARG(acc), GV_MEM(f->before));
}

static gravel_status walk_block(gravel_leapfrog *f, gravel_view sinks, int ahead, double time)
{
    const int anew = rebuilds(f);
    f->since_build = anew ? 0 : f->since_build + f->all_due;
    /* after a block of all the cells are no part of a state */
    f->keeps = f->options.rebuild > 0 && f->all_due < f->all;
    gravel_status status =
        walk(f, f->tree, sinks, f->options.last && f->has_forces, anew ? GRAVEL_TREE_REBUILD : GRAVEL_TREE_REFIT);
    if (!status && ahead && anew && f->n > 0)
        status = gv_tree_find_density(f->tree, f->options.eps, &f->density);
    gv_bodies_changed(f->bodies, GRAVEL_ACCELERATION);
    gv_bodies_changed(f->bodies, GRAVEL_POTENTIAL);
    /* after the walk, whose criterion looks at the whole acceleration of the last forces */
    if (!status && gv_leap_is_far(f, time))
        status = gv_mesh_far(f->options.mesh, &sinks);
    else if (!status && f->options.mesh && f->options.mesh_step == 0)
        status = gravel_mesh_forces(f->options.mesh, &sinks, GRAVEL_INTO_PLANES | GRAVEL_INTO_ADD, NULL);
    return status;
}

gravel_status gv_leap_forces(gravel_leapfrog *f, size_t count, double time)
{
    const int ahead = f->options.ahead && !f->options.shared && f->options.eta > 0;
    gravel_list list = block_list(f, count);
    const gravel_view sinks = count == f->n ? gravel_view_all(f->bodies) : gravel_view_list(f->bodies, &list);
    gravel_status status = ahead && f->n > 0 && f->part < GV_LEAP_REMEMBERED ? remember(f, count) : GRAVEL_OK;
    if (status)
        return status;
    f->part = GV_LEAP_REMEMBERED;
    if (f->direct)
        status = sum(f, f->bodies, sinks);
    else if (are_few(f, count))
        status = sum_few(f, sinks);
    else
        status = walk_block(f, sinks, ahead, time);
    if (!status && f->options.external && count > 0)
        status = add_external(f, count, time);
    if (status)
        f->keeps = 0; /* a tree that may be half built, or whose forces would be counted twice */
    return status;
}

/* ------------------------------------------------------------------ looking */

static gravel_status copy_words(gravel_leapfrog *f)
{
    static const gv_word word[] = {GV_WORD_POSITION,     GV_WORD_POSITION_LOW, GV_WORD_VELOCITY,
                                   GV_WORD_VELOCITY_LOW, GV_WORD_ACCELERATION, GV_WORD_POTENTIAL,
                                   GV_WORD_ID,           GV_WORD_SOFTENING,    GV_WORD_FAR};
    gravel_status status = GRAVEL_OK;
    for (size_t k = 0; k < sizeof word / sizeof word[0] && !status; k++) {
        cl_mem to;
        if (!f->bodies->word[word[k]].mem)
            continue;
        status = gv_bodies_need(f->at, word[k], &to);
        const cl_int code = status ? CL_SUCCESS
                                   : clEnqueueCopyBuffer(gv_worker_queue(&f->worker), f->bodies->word[word[k]].mem, to,
                                                         0, 0, f->n * gv_word_size(f->at, word[k]), 0, NULL, NULL);
        if (code)
            status = gv_fail_cl(code, "copying %zu bodies", f->n);
    }
    changed(f->at);
    if (gravel_bodies_has_plane(f->bodies, GRAVEL_SOFTENING))
        gv_bodies_changed(f->at, GRAVEL_SOFTENING);
    return status;
}

/* A mesh keeps nothing between calls. */
static gravel_status add_mesh(gravel_leapfrog *f, const gravel_view *seen)
{
    const gravel_view all = gravel_view_all(f->bodies);
    gravel_status status = gravel_mesh_set_sources(f->options.mesh, seen);
    if (!status)
        status = f->options.mesh_step > 0
                     ? gv_mesh_far(f->options.mesh, seen)
                     : gravel_mesh_forces(f->options.mesh, seen, GRAVEL_INTO_PLANES | GRAVEL_INTO_ADD, NULL);
    const gravel_status back = gravel_mesh_set_sources(f->options.mesh, &all);
    return status ? status : back;
}

/* The tree of the run keeps its cells: what it does next must not depend on looks. */
static gravel_status forces_at(gravel_leapfrog *f, double time)
{
    const gravel_view all = gravel_view_all(f->at);
    gravel_status status = GRAVEL_OK;
    if (f->direct) {
        status = sum(f, f->at, all);
    } else {
        if (!f->look_tree) {
            status = gravel_tree_create(&f->look_tree, f->worker.context, &f->tree->options);
            if (!status)
                status = gravel_tree_set_sources(f->look_tree, &all);
        }
        if (!status)
            status = walk(f, f->look_tree, all, f->options.last, GRAVEL_TREE_REBUILD);
        if (!status && f->options.mesh)
            status = add_mesh(f, &all);
    }
    return status || !f->options.external ? status
                                          : f->options.external(f->at, 0, f->n, time, f->options.external_user);
}

gravel_status gv_leap_look(gravel_leapfrog *f, double time)
{
    const gravel_precision p = f->bodies->precision;
    const gv_time_words t = gv_time_split(p, time);
    const gv_far_look far_look = gv_leap_far_look(f, time);
    cl_mem own[7], to[7], when, when_low, step, far;
    gravel_status status = need_at(f);
    if (!status)
        status = copy_words(f);
    if (!status)
        status = gravel_bodies_advance(f->at, 0, gv_leap_drift(f, f->now, time));
    if (!status)
        status = gv_leap_write_look(f, time);
    if (!status)
        status = need(f->bodies, own);
    if (!status)
        status = need(f->at, to);
    if (!status)
        status = gv_bodies_need(f->bodies, GV_WORD_TIME, &when);
    when_low = when;
    if (!status && p == GRAVEL_DS)
        status = gv_bodies_need(f->bodies, GV_WORD_TIME_LOW, &when_low);
    if (!status)
        status = gv_bodies_need(f->bodies, GV_WORD_STEP, &step);
    if (!status)
        status = gv_leap_need_far(f, f->bodies, &far);
    if (!status)
        status = gv_launch(&f->worker, 0, f->kernel[GV_LEAP_TRIM], gv_items(f->n, 64), GV_UINT(f->n),
                           GV_REAL(p, t.high), GV_REAL(p, t.low), GV_ARG(own[4]), GV_ARG(when), GV_ARG(when_low),
                           GV_ARG(step), GV_ARG(to[0]), GV_ARG(to[1]), GV_ARG(to[2]), GV_ARG(to[3]), GV_MEM(f->table),
                           GV_ARG(far), GV_REAL(p, far_look.kick), GV_REAL(p, far_look.way));
    if (status || (f->whole && time == f->now && (f->options.mesh_step == 0 || gv_leap_is_far(f, time))))
        return status;
    changed(f->at);
    status = forces_at(f, time);
    if (!status)
        status = need(f->at, to);
    if (!status)
        status = gv_leap_need_far(f, f->at, &far);
    return status ? status
                  : gv_launch(&f->worker, 0, f->kernel[GV_LEAP_CLOSE], gv_items(f->n, 64), GV_UINT(f->n),
                              GV_REAL(p, t.high), GV_REAL(p, t.low), GV_ARG(to[4]), GV_ARG(when), GV_ARG(when_low),
                              GV_ARG(to[2]), GV_ARG(to[3]), GV_ARG(step), GV_MEM(f->table), GV_ARG(far),
                              GV_REAL(p, far_look.close), GV_ARG(to[5]));
}
