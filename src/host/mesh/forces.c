/* Calls: the density of the sources, Green's function, fields at the sinks, results. */
#include <math.h>
#include <string.h>

#include "host/base/options.h"
#include "host/mesh/mesh.h"

#define PI 3.14159265358979323846

gravel_status gravel_mesh_set_sources(gravel_mesh *mesh, const gravel_view *sources)
{
    gv_selection selection;
    if (!mesh || !sources || !sources->bodies)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_mesh_set_sources needs a mesh and a view of bodies");
    if (sources->bodies->worker.context != mesh->worker.context ||
        sources->bodies->worker.device != mesh->worker.device)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "bodies and mesh must be on the same device of the same context");
    gravel_status status = gv_view_resolve(sources, "sources", &selection);
    if (status)
        return status;
    mesh->view = *sources;
    mesh->is_assigned = 0;
    return GRAVEL_OK;
}

gravel_status gravel_mesh_set_own(gravel_mesh *mesh, int own)
{
    if (!mesh)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "no mesh was given");
    if (own && mesh->options.split == 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "without a splitting length the mesh does not know what a body adds to its "
                                            "own potential");
    mesh->own = own != 0;
    return GRAVEL_OK;
}

/* ----------------------------------------------------------------- sources */

static int is_same(const gravel_mesh *mesh, const gv_selection *s)
{
    const gravel_bodies *b = s->bodies;
    const uint64_t list = mesh->view.kind == GRAVEL_VIEW_LIST ? mesh->view.list->version : 0;
    return mesh->is_assigned && s->count == mesh->sources.count && s->first == mesh->sources.first &&
           list == mesh->list && b->order_version == mesh->order && b->version[GRAVEL_POSITION] == mesh->position &&
           b->version[GRAVEL_MASS] == mesh->mass && memcmp(&b->frame, &mesh->frame, sizeof b->frame) == 0;
}

/* Waves of the sources as they are now. */
static gravel_status update(gravel_mesh *mesh, double displaced)
{
    gv_selection s;
    if (!mesh->view.bodies)
        return gv_fail(GRAVEL_ERR_STATE, "the mesh has no sources: gravel_mesh_set_sources comes first");
    gravel_status status = gv_view_resolve(&mesh->view, "sources", &s);
    if (!status && s.count == 0)
        status = gv_fail(GRAVEL_ERR_STATE, "the mesh has no sources: their view is empty");
    if (status || (displaced == 0 && is_same(mesh, &s)))
        return status;
    mesh->is_assigned = 0;
    mesh->sources = s;
    mesh->frame = s.bodies->frame;
    mesh->position = s.bodies->version[GRAVEL_POSITION];
    mesh->mass = s.bodies->version[GRAVEL_MASS];
    mesh->order = s.bodies->order_version;
    mesh->list = mesh->view.kind == GRAVEL_VIEW_LIST ? mesh->view.list->version : 0;
    status = gv_mesh_density(mesh, displaced);
    mesh->is_assigned = !status && displaced == 0;
    return status;
}

/* ------------------------------------------------------------------- fields */

/* Sinks in the mesh: sources by cell, where they are the sinks, else as they come. */
typedef struct gv_in_mesh {
    cl_mem cell, place, index;
    size_t count;
    double own;
} gv_in_mesh;

static gravel_status find_sinks(gravel_mesh *mesh, const gv_selection *sinks, double displaced, gv_in_mesh *in)
{
    const gv_selection *s = &mesh->sources;
    const double split = mesh->options.split * mesh->options.cells / mesh->options.side;
    const double unit = sinks->bodies->frame.mass / mesh->frame.mass;
    cl_mem none = NULL;
    in->count = sinks->count;
    in->own = mesh->own ? unit / (sqrt(PI) * split) : 0;
    in->index = NULL;
    if (mesh->options.waves == 0 && mesh->options.table == 0 && s->bodies == sinks->bodies && s->list == sinks->list &&
        s->first == sinks->first && s->count == sinks->count) {
        in->cell = mesh->sort.key[mesh->sort.sorted].mem;
        in->index = mesh->sort.index[mesh->sort.sorted].mem;
        in->place = mesh->buffer[GV_MB_SORTED].mem;
        return GRAVEL_OK;
    }
    const gravel_status status = gv_mesh_reserve_sinks(mesh, sinks->count);
    in->cell = mesh->buffer[GV_MB_CELL].mem;
    in->place = mesh->buffer[GV_MB_PLACE].mem;
    return status ? status : gv_mesh_places(mesh, sinks, displaced, in->cell, none, in->place);
}

/* A field in GV_MB_WORK: GV_MESH_X ... GV_MESH_POT. */
static gravel_status find_field(gravel_mesh *mesh, int field)
{
    const gravel_mesh_options *o = &mesh->options;
    const size_t n = (size_t)o->cells, waves = n / 2 + 1;
    const double all = (double)n * (double)n * (double)n, split = o->split * o->cells / o->side;
    const gv_range range = gv_groups_2d((waves + mesh->group - 1) / mesh->group, n * n, mesh->group);
    gv_mesh_begin(mesh, GV_MS_GREEN);
    gravel_status status = gv_mesh_launch(
        mesh, GV_MK_GREEN, range, GV_MEM(mesh->buffer[GV_MB_DENSITY]), GV_MEM(mesh->buffer[GV_MB_WAVES]), GV_UINT(n),
        GV_INT(o->interlaced != 0), GV_INT(o->gradient != GRAVEL_SPECTRAL), GV_INT(field),
        GV_MESH_REAL(mesh, (o->isolated ? -1 : -4 * PI) / all), GV_MESH_REAL(mesh, 4 * PI * split * split / all),
        GV_MEM(mesh->buffer[GV_MB_ISOLATED]), GV_MEM(mesh->buffer[GV_MB_WORK]));
    gv_mesh_end(mesh);
    gv_mesh_begin(mesh, GV_MS_FFT);
    if (!status)
        status = gv_fft_inverse(mesh->fft, mesh->buffer[GV_MB_WORK].mem);
    gv_mesh_end(mesh);
    return status;
}

static gravel_status take_field(gravel_mesh *mesh, const gv_in_mesh *in, int field, double weight, int fresh)
{
    const double own = field == GV_MESH_POT ? in->own : 0;
    const gv_range range = gv_items(in->count, mesh->group);
    const gv_buffer *work = &mesh->buffer[GV_MB_WORK], *result = mesh->result;
    gravel_status status;
    gv_mesh_begin(mesh, GV_MS_INTERPOLATE);
    if (mesh->options.gradient == GRAVEL_SPECTRAL)
        status =
            gv_mesh_launch(mesh, GV_MK_TAKE, range, GV_MEM(*work), GV_UINT(mesh->options.cells), GV_UINT(mesh->row),
                           GV_ARG(in->cell), GV_ARG(in->place), GV_ARG(in->index), GV_UINT(in->count), GV_INT(field),
                           GV_MESH_REAL(mesh, weight), GV_INT(fresh), GV_MESH_REAL(mesh, own), GV_MEM(*result));
    else
        status =
            gv_mesh_launch(mesh, GV_MK_GRADIENT, range, GV_MEM(*work), GV_UINT(mesh->options.cells), GV_UINT(mesh->row),
                           GV_ARG(in->cell), GV_ARG(in->place), GV_ARG(in->index), GV_UINT(in->count),
                           GV_MESH_REAL(mesh, weight), GV_INT(fresh), GV_MESH_REAL(mesh, own), GV_MEM(*result));
    gv_mesh_end(mesh);
    return status;
}

/* Of one mesh, displaced by this part of a cell. */
static gravel_status compute(gravel_mesh *mesh, const gv_selection *sinks, double displaced, double weight)
{
    const int fresh = displaced == 0, first = mesh->options.gradient == GRAVEL_SPECTRAL ? GV_MESH_X : GV_MESH_POT;
    gv_in_mesh in;
    gravel_status status = update(mesh, displaced);
    if (!status)
        status = find_sinks(mesh, sinks, displaced, &in);
    if (!status && mesh->options.waves > 0)
        return gv_waves_field(mesh, in.count, in.cell, in.place, in.own);
    if (!status && mesh->options.table > 0)
        return gv_pairs_forces(mesh, sinks, in.cell, in.place);
    for (int field = first; field <= GV_MESH_POT && !status; field++) {
        status = find_field(mesh, field);
        if (!status)
            status = take_field(mesh, &in, field, weight, fresh);
    }
    return status;
}

/* ------------------------------------------------------------------ results */

/* Of a mesh in units of cells and of the sources' mass: accelerations are mass / cell^2, potentials mass / cell. */
static gravel_status store(gravel_mesh *mesh, const gv_selection *s, int into)
{
    const double l = s->bodies->frame.length, cell = mesh->options.side / mesh->options.cells;
    const double pot = mesh->frame.mass / cell / l / l, acc = mesh->frame.mass / cell / cell / l;
    const int from = (int)s->bodies->precision;
    const gravel_precision exact = from == GRAVEL_DP || mesh->scalar == 8 ? GRAVEL_DP : GRAVEL_SP;
    const int apart = into == GV_MESH_APART;
    cl_mem to_acc, to_pot = NULL;
    gravel_status status = gv_bodies_need(s->bodies, apart ? GV_WORD_FAR : GV_WORD_ACCELERATION, &to_acc);
    if (!status && !apart)
        status = gv_bodies_need(s->bodies, GV_WORD_POTENTIAL, &to_pot);
    if (!status)
        status = gv_mesh_launch(mesh, GV_MK_STORE + from, gv_items(s->count, mesh->group), GV_MEM(*mesh->result),
                                GV_ARG(s->list), GV_UINT(s->first), GV_UINT(s->count), GV_INT(into),
                                GV_REAL(exact, acc), GV_REAL(exact, pot), GV_ARG(to_acc), GV_ARG(to_pot));
    if (!apart) {
        gv_bodies_changed(s->bodies, GRAVEL_ACCELERATION);
        gv_bodies_changed(s->bodies, GRAVEL_POTENTIAL);
    }
    return status;
}

/* ------------------------------------------------------------------- calls */

gravel_status gv_mesh_take_call(const gravel_mesh *mesh, const gravel_mesh_call *call, gravel_mesh_call *taken)
{
    const unsigned known = GRAVEL_INTO_HOST | GRAVEL_INTO_PLANES | GRAVEL_INTO_ADD;
    gravel_mesh_call_init(taken);
    const gravel_status status = gv_options_take(taken, sizeof *taken, call, "gravel_mesh_call");
    if (status)
        return status;
    taken->into = taken->into ? taken->into : GRAVEL_INTO_HOST;
    const gravel_bodies *b = taken->sinks.bodies;
    if (!b)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "forces of a mesh need a view of bodies");
    if (b->worker.context != mesh->worker.context || b->worker.device != mesh->worker.device)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "sinks and mesh must be on the same device of the same context");
    if (taken->into & ~known || (taken->into & GRAVEL_INTO_ADD && !(taken->into & GRAVEL_INTO_PLANES)))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "results cannot go to %u: see GRAVEL_INTO_HOST, _PLANES, _ADD",
                       taken->into);
    return GRAVEL_OK;
}

/* Into mesh->result. */
static gravel_status compute_all(gravel_mesh *mesh, const gv_selection *s)
{
    const int two = mesh->options.interlaced != 0;
    gravel_status status = GRAVEL_OK;
    gv_mesh_clear_times(mesh);
    if (mesh->result == &mesh->buffer[GV_MB_RESULT])
        status = gv_mesh_reserve(mesh, GV_MB_RESULT, s->count * 4 * mesh->scalar, "forces");
    for (int k = 0; k <= two && !status; k++)
        status = compute(mesh, s, 0.5 * k, two ? 0.5 : 1);
    if (two)
        mesh->is_assigned = 0;
    return status;
}

gravel_status gv_mesh_far(gravel_mesh *mesh, const gravel_view *sinks)
{
    gv_selection s;
    gravel_status status = gv_view_resolve(sinks, "sinks", &s);
    mesh->result = &mesh->buffer[GV_MB_RESULT];
    if (!status)
        status = compute_all(mesh, &s);
    return status ? status : store(mesh, &s, GV_MESH_APART);
}

/* Without sinks there is nothing to do, and a ticket says so. */
static gravel_status start(gravel_mesh *mesh, const gv_selection *s, unsigned into, gv_mesh_ticket *t)
{
    gravel_status status = GRAVEL_OK;
    mesh->result = t && t->forces.base.on_host ? &t->forces.slot.device : &mesh->buffer[GV_MB_RESULT];
    if (s->count > 0)
        status = compute_all(mesh, s);
    if (!status && s->count > 0 && into & GRAVEL_INTO_PLANES)
        status = store(mesh, s, (into & GRAVEL_INTO_ADD) != 0);
    if (!status && t) {
        const double cell = mesh->options.side / mesh->options.cells;
        t->forces.pot = mesh->frame.mass / cell;
        t->forces.acc = t->forces.pot / cell;
        return s->count > 0 ? gv_force_ticket_finish(&t->forces, t->forces.base.on_host) : GRAVEL_OK;
    }
    if (!status && clFlush(gv_worker_queue(&mesh->worker)) != CL_SUCCESS)
        status = gv_fail(GRAVEL_ERR_OPENCL, "starting the forces of a mesh");
    return status;
}

gravel_status gravel_mesh_start(gravel_mesh *mesh, const gravel_mesh_call *call, gravel_ticket **ticket)
{
    gravel_mesh_call taken;
    gv_selection s;
    gv_mesh_ticket *t = NULL;
    if (ticket)
        *ticket = NULL;
    if (!mesh || !call)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_mesh_start needs a mesh and a call");
    gravel_status status = gv_mesh_take_call(mesh, call, &taken);
    if (!status && !ticket && taken.into & GRAVEL_INTO_HOST)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "results for the host need a ticket");
    if (!status && mesh->fft && gv_fft_has_failed(mesh->fft)) {
        gv_fft_forget_failure(mesh->fft);
        mesh->is_assigned = 0;
        status = gv_fail(GRAVEL_ERR_MEMORY, "no host memory for the lines of an FFT in a call before this one");
    }
    if (!status)
        status = gv_view_resolve(&taken.sinks, "sinks", &s);
    if (!status && ticket)
        status = gv_mesh_take_ticket(mesh, s.count, (taken.into & GRAVEL_INTO_HOST) != 0, &t);
    if (status)
        return status;
    status = start(mesh, &s, taken.into, t);
    if (status && t)
        gravel_ticket_release(&t->forces.base);
    else if (ticket)
        *ticket = &t->forces.base;
    return status;
}

gravel_status gravel_mesh_forces(gravel_mesh *mesh, const gravel_view *sinks, unsigned into,
                                 const gravel_forces *forces)
{
    gravel_mesh_call call = GRAVEL_MESH_CALL_INIT;
    gravel_ticket *ticket;
    if (!mesh || !sinks || into == 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_mesh_forces needs a mesh, a view of bodies, and where results go");
    if (into & GRAVEL_INTO_HOST && !forces)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "results for the host need a place");
    call.sinks = *sinks;
    call.into = into;
    if (!(into & GRAVEL_INTO_HOST))
        return gravel_mesh_start(mesh, &call, NULL);
    gravel_status status = gravel_mesh_start(mesh, &call, &ticket);
    if (!status) {
        status = gravel_ticket_collect(ticket, forces, NULL);
        gravel_ticket_release(ticket);
    }
    return status;
}
