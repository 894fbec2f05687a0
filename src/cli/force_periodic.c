/* `gravel force --periodic`: a mesh for the long range and the tree for the short one, or Ewald sums. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/force_run.h"
#include "host/base/clock.h"
#include "host/mesh/size.h"

#define PI 3.14159265358979323846

/* sides of boxes whose inverse square, times a mass, is in the range of double */
#define LEAST_SIDE 1e-100
#define MOST_SIDE 1e100

/* Where the force is split, in cells, and where the short range ends, in splitting lengths, unless options say so
 * (doc/periodic.md). */
#define SPLIT 1.25
#define CUT 5.0
#define EWALD_SPLITS 6.0 /* the same with waves, which leave no error of their own to hide in */

/* With Ewald's sum over waves: a short range that ends at two fifths of the box, which leaves groups room for their
 * images, and waves up to exp(-(k r_s)^2) = 1e-5, in dp 1e-11. */
#define EWALD_CUT 0.4
#define EWALD_SP 3.4
#define EWALD_DP 5.0

/* nodes of the table of direct sums */
#define TABLE_SP 32
#define TABLE_DP 64

/* Cells between a body and the end of its short range. */
static double reach(const gv_force_options *opts)
{
    return opts->split * opts->cut;
}

/* Twice as many cells a side as bodies, as far as the FFT and memory allow. */
static int usual_cells(const gv_force_options *opts, size_t bodies)
{
    const double want = fmax(2 * cbrt((double)bodies), fmax(32, 2 * reach(opts)));
    return gv_fft_above(want > 512 ? 512 : (int)ceil(want));
}

static int is_from_file(const gv_force_options *opts)
{
    return strcmp(opts->periodic, "file") == 0;
}

/* --periodic L or file, --mesh N or ewald, --split, --cut */
int gv_force_periodic_options(gv_force_options *opts)
{
    char *end;
    const int is_ewald = opts->mesh != NULL && strcmp(opts->mesh, "ewald") == 0;
    const int is_tree = opts->method == GV_METHOD_TREE || opts->method < 0;
    opts->is_ewald = is_ewald;
    opts->is_periodic = opts->periodic != NULL;
    if (opts->mesh != NULL && !opts->is_periodic) {
        gv_say(GV_FORCE, "--mesh is for periodic boxes: give the side with --periodic L");
        return GV_EXIT_USAGE;
    }
    if ((opts->split >= 0 || opts->cut >= 0) && (!opts->is_periodic || !is_tree || is_ewald)) {
        gv_say(GV_FORCE, "--%s is for a mesh and tree in a periodic box: --periodic L%s",
               opts->split >= 0 ? "split" : "cut",
               !opts->is_periodic ? ""
               : is_ewald         ? " without --mesh ewald"
                                  : " and --method tree");
        return GV_EXIT_USAGE;
    }
    opts->split = opts->split >= 0 ? opts->split : SPLIT;
    opts->cut = opts->cut >= 0 ? opts->cut : CUT;
    if (!opts->is_periodic) {
        opts->method = opts->method < 0 ? GV_METHOD_DIRECT : opts->method;
        return GV_EXIT_OK;
    }
    if (!is_from_file(opts)) {
        const double side = strtod(opts->periodic, &end);
        if (end == opts->periodic || *end != '\0' || !(side > 0) || !isfinite(side)) {
            gv_say(GV_FORCE, "--periodic %s: the side of the box must be a number above 0, or 'file' for its BoxSize",
                   opts->periodic);
            return GV_EXIT_USAGE;
        }
    }
    if (opts->devices != NULL || opts->order != 0 || opts->nearest || opts->radius >= 0) {
        gv_say(GV_FORCE, "--periodic gives accelerations and potentials on one device%s",
               opts->devices != NULL ? ": --devices is not for it" : "");
        return GV_EXIT_USAGE;
    }
    opts->method = is_tree ? GV_METHOD_TREE : opts->method;
    if (opts->mesh == NULL || (is_ewald && is_tree))
        return GV_EXIT_OK;
    const long cells = strtol(opts->mesh, &end, 10);
    if (!is_tree || *end != '\0' || end == opts->mesh || cells < GV_FFT_LEAST || cells > GV_FFT_MOST) {
        gv_say(GV_FORCE, "--mesh %s: %s", opts->mesh,
               is_tree                            ? "the cells of a side, 4 to 1024, or ewald"
               : opts->method == GV_METHOD_DIRECT ? "direct sums have no mesh"
                                                  : "the reference has no mesh");
        return GV_EXIT_USAGE;
    }
    opts->cells = (int)cells;
    if (!gv_fft_can(opts->cells)) {
        gv_say(GV_FORCE, "--mesh %d: the cells of a side must be a product of 2, 3, 5 and 7, as %d and %d are",
               opts->cells, gv_fft_below(opts->cells), gv_fft_above(opts->cells));
        return GV_EXIT_USAGE;
    }
    if (reach(opts) > 0.5 * opts->cells) {
        gv_say(GV_FORCE,
               "--mesh %d is too coarse: the short range ends at %g cells, which is beyond half of the box; %d "
               "cells or more",
               opts->cells, reach(opts), gv_fft_above((int)ceil(2 * reach(opts))));
        return GV_EXIT_USAGE;
    }
    return GV_EXIT_OK;
}

/* The box of the file, or the one that was typed, which must not be another. */
static int find_side(gv_force_job *job)
{
    const double of_file = job->particles.period; /* as float in files of others, and typed with few digits: 1e-6 */
    const char *typed = job->opts->periodic, *in = job->opts->in;
    job->side = is_from_file(job->opts) ? of_file : strtod(typed, NULL);
    if (!(job->side > 0)) {
        gv_say(GV_FORCE, "--periodic file: %s names no BoxSize above 0; give the side with --periodic L", in);
        return GV_EXIT_USAGE;
    }
    if (!(job->side >= LEAST_SIDE && job->side <= MOST_SIDE)) {
        gv_say(GV_FORCE, "--periodic %s: the side %g is beyond what 1 / L^2 in double allows, %g to %g; other units",
               typed, job->side, LEAST_SIDE, MOST_SIDE);
        return GV_EXIT_USAGE;
    }
    if (of_file > 0 && fabs(job->side - of_file) > 1e-6 * of_file) {
        gv_say(GV_FORCE, "--periodic %s: the box of %s has the side %.9g (its BoxSize); --periodic file takes it",
               typed, in, of_file);
        return GV_EXIT_USAGE;
    }
    return GV_EXIT_OK;
}

int gv_force_periodic_bodies(gv_force_job *job)
{
    const gv_particles *p = &job->particles;
    const double *const axis[3] = {p->x, p->y, p->z};
    const int code = find_side(job);
    const double side = job->side;
    if (code != GV_EXIT_OK)
        return code;
    for (size_t k = 0; k < p->count; k++)
        for (int c = 0; c < 3; c++)
            if (!(axis[c][k] >= 0 && axis[c][k] < side)) {
                gv_say(GV_FORCE, "--periodic: particle %zu (id %d) is outside the box: %c = %g is not in [0, %g)", k,
                       (int)p->id[k], "xyz"[c], axis[c][k], side);
                return GV_EXIT_USAGE;
            }
    /* as gravel_tree_write has it: bodies on the device have no check */
    for (size_t k = 0; k < p->count && job->opts->method == GV_METHOD_TREE; k++)
        if (p->m[k] < 0) {
            gv_say(GV_FORCE,
                   "--periodic: particle %zu (id %d) has a mass of %g; a tree needs masses of 0 or more (--method "
                   "direct takes any)",
                   k, (int)p->id[k], p->m[k]);
            return GV_EXIT_USAGE;
        }
    return GV_EXIT_OK;
}

/* ------------------------------------------------------------------- solvers */

static gravel_status open_bodies(gv_force_job *job)
{
    const gv_particles *p = &job->particles;
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    options.precision = job->precision;
    options.capacity = p->count;
    /* in units of the box, so that a few bodies close together have no units of their own */
    gravel_frame frame = {{0.5 * job->side, 0.5 * job->side, 0.5 * job->side}, ldexp(1, ilogb(job->side)), 0};
    for (size_t k = 0; k < p->count; k++)
        frame.mass = fmax(frame.mass, fabs(p->m[k]));
    frame.mass = frame.mass > 1e-300 && frame.mass < 1e300 ? frame.mass : 1;
    gravel_status status = gravel_bodies_create(&job->bodies, job->context, &options);
    if (status == GRAVEL_OK)
        status = gravel_bodies_set_frame(job->bodies, &frame);
    if (status == GRAVEL_OK)
        status = gravel_bodies_resize(job->bodies, p->count);
    if (status == GRAVEL_OK)
        status = gravel_bodies_write(job->bodies, GRAVEL_POSITION, 0, p->count, &GRAVEL_ARRAY_SOA(p->x, p->y, p->z));
    return status == GRAVEL_OK ? gravel_bodies_write(job->bodies, GRAVEL_MASS, 0, p->count, &GRAVEL_ARRAY(p->m))
                               : status;
}

gravel_status gv_force_periodic_open(gv_force_job *job)
{
    const gv_force_options *opts = job->opts;
    gravel_mesh_options mesh = GRAVEL_MESH_OPTIONS_INIT;
    gravel_tree_options tree = gv_force_tree_options(job);
    mesh.side = tree.period = job->side;
    mesh.precision = job->precision == GRAVEL_DP ? GRAVEL_DP : GRAVEL_SP;
    if (opts->method == GV_METHOD_DIRECT) {
        job->cells = mesh.table = job->precision == GRAVEL_DP ? TABLE_DP : TABLE_SP;
        mesh.eps = opts->eps;
        mesh.spline = opts->softening == GRAVEL_SPLINE;
    } else if (opts->is_ewald) {
        const int is_double = job->precision == GRAVEL_DP;
        tree.cut = EWALD_CUT * job->side;
        mesh.split = tree.split = tree.cut / (is_double ? 2 * EWALD_DP : EWALD_SPLITS);
        mesh.waves = (int)ceil((is_double ? EWALD_DP : EWALD_SP) * job->side / (2 * PI * mesh.split));
        job->cells = mesh.waves;
    } else {
        job->cells = opts->cells > 0 ? opts->cells : usual_cells(opts, job->particles.count);
        mesh.cells = job->cells;
        mesh.split = tree.split = opts->split * job->side / job->cells;
        tree.cut = opts->cut * tree.split;
    }
    gravel_status status = open_bodies(job);
    const gravel_view all = gravel_view_all(job->bodies);
    if (status == GRAVEL_OK)
        status = gravel_mesh_create(&job->mesh, job->context, &mesh);
    if (status == GRAVEL_OK)
        status = gravel_mesh_set_sources(job->mesh, &all);
    if (opts->method == GV_METHOD_DIRECT)
        return status == GRAVEL_OK && opts->report != NULL ? gravel_context_set_timing(job->context, 0, 1) : status;
    if (status == GRAVEL_OK)
        status = gravel_mesh_set_own(job->mesh, 1);
    if (status == GRAVEL_OK)
        status = gravel_tree_create(&job->tree, job->context, &tree);
    if (status == GRAVEL_OK && opts->report != NULL)
        status = gravel_context_set_timing(job->context, 0, 1);
    if (status == GRAVEL_OK)
        status = gravel_tree_set_sources(job->tree, &all);
    return status == GRAVEL_OK
               ? gravel_tree_get_configuration(job->tree, job->configuration, sizeof job->configuration, &job->origin)
               : status;
}

void gv_force_periodic_close(gv_force_job *job)
{
    gravel_mesh_release(job->mesh);
    gravel_tree_release(job->tree);
    gravel_bodies_release(job->bodies);
    job->mesh = NULL;
    job->tree = NULL;
    job->bodies = NULL;
}

/* The short range of the sinks is added to their long range: in double, so that a mesh in float loses nothing more. */
static gravel_status add_tree(gv_force_job *job, const gravel_view *sinks, const gv_force_set *set)
{
    double *const sum[4] = {set->ax, set->ay, set->az, set->pot};
    double *part = malloc(4 * job->count * sizeof *part);
    gravel_tree_call call;
    gravel_ticket *ticket = NULL;
    gravel_forces view = {.pot = NULL};
    gravel_status status = part != NULL ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    gravel_tree_call_init(&call);
    call.sinks = *sinks;
    call.eps = job->opts->eps;
    if (status == GRAVEL_OK)
        status = gravel_tree_walk(job->tree, &call, &ticket);
    if (status == GRAVEL_OK) {
        view.acc = GRAVEL_VEC_OUT_SOA(part, part + job->count, part + 2 * job->count);
        view.pot = part + 3 * job->count;
        status = gravel_ticket_collect(ticket, &view, NULL);
    }
    for (size_t k = 0; status == GRAVEL_OK && k < 4 * job->count; k++)
        sum[k / job->count][k % job->count] += part[k];
    gravel_ticket_release(ticket);
    free(part);
    return status;
}

gravel_status gv_force_periodic_call(gv_force_job *job, const gv_force_set *set)
{
    const gravel_view sinks = job->count == job->particles.count
                                  ? gravel_view_all(job->bodies)
                                  : gravel_view_range(job->bodies, job->first, job->count);
    gravel_forces view = {.pot = set->pot};
    const double start = gv_now();
    view.acc = GRAVEL_VEC_OUT_SOA(set->ax, set->ay, set->az);
    gravel_status status = gravel_mesh_forces(job->mesh, &sinks, GRAVEL_INTO_HOST, &view);
    if (status == GRAVEL_OK && job->tree != NULL) {
        gv_waiting_step(GV_WAITING_STEPS);
        status = add_tree(job, &sinks, set);
    }
    job->call_s += gv_now() - start;
    if (status != GRAVEL_OK || job->opts->report == NULL)
        return status;
    if (job->tree != NULL)
        status = gravel_tree_get_timings(job->tree, &job->tree_timings);
    if (status == GRAVEL_OK && job->tree != NULL)
        status = gravel_tree_get_counts(job->tree, &job->tree_counts);
    if (status == GRAVEL_OK)
        status = gravel_mesh_get_timings(job->mesh, &job->mesh_timings);
    job->fft = gravel_mesh_get_fft(job->mesh);
    job->kernel_s = job->tree_timings.total + job->mesh_timings.total;
    return status;
}

/* ------------------------------------------------------------------- report */

/* Errors over the root mean square of the accelerations: net forces may be small beside their parts. */
static void add_errors(const gv_force_job *job, const gv_force_set *truth, cJSON *root)
{
    const gv_force_set *s = &job->sample;
    const size_t n = job->checked;
    double rms = 0, *error = malloc((n > 0 ? n : 1) * sizeof *error);
    for (size_t k = 0; error != NULL && k < n; k++) {
        const double x = s->ax[k] - truth->ax[k], y = s->ay[k] - truth->ay[k], z = s->az[k] - truth->az[k];
        error[k] = sqrt(x * x + y * y + z * z);
        rms += (truth->ax[k] * truth->ax[k] + truth->ay[k] * truth->ay[k] + truth->az[k] * truth->az[k]) / (double)n;
    }
    if (error != NULL && n > 0) {
        qsort(error, n, sizeof *error, gv_ascending);
        cJSON *item = cJSON_AddObjectToObject(root, "errors_over_rms_acc");
        gv_json_number(item, "p50", error[n / 2] / sqrt(rms));
        gv_json_number(item, "p99", error[n * 99 / 100] / sqrt(rms));
        gv_json_number(item, "max", error[n - 1] / sqrt(rms));
    }
    free(error);
}

void gv_force_periodic_report(const gv_force_job *job, const gv_force_set *truth, cJSON *root)
{
    const gravel_mesh_timings *t = &job->mesh_timings;
    cJSON_AddNumberToObject(root, "periodic", job->side);
    add_errors(job, truth, root);
    if (job->opts->method == GV_METHOD_DIRECT) {
        cJSON_AddNumberToObject(root, "table", job->cells);
        gv_json_number(root, "pairs_s", t->interpolate);
    }
    if (job->opts->method != GV_METHOD_TREE)
        return;
    if (job->opts->is_ewald) {
        cJSON_AddNumberToObject(root, "waves", job->cells);
    } else {
        cJSON_AddNumberToObject(root, "mesh", job->cells);
        cJSON_AddNumberToObject(root, "split_cells", job->opts->split);
        cJSON_AddNumberToObject(root, "cut_cells", reach(job->opts));
        cJSON_AddStringToObject(root, "fft", gravel_fft_name(job->fft));
    }
    gv_json_number(root, "mesh_sort_s", t->sort);
    gv_json_number(root, "mesh_assign_s", t->assign);
    gv_json_number(root, "mesh_fft_s", t->fft);
    gv_json_number(root, "mesh_green_s", t->green);
    gv_json_number(root, "mesh_interpolate_s", t->interpolate);
}
