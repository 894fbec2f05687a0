/* The engine of a box: its checks and its life. */
#include "sim/cosmo_inside.h"

#include <math.h>
#include <stdlib.h>

#include "host/mesh/size.h"

/* ------------------------------------------------------------------ checks */

int gv_cosmo_cells(size_t bodies)
{
    const double want = 2 * cbrt((double)bodies) - 1e-6;
    return gv_fft_above(want < 16 ? 16 : want > GV_FFT_MOST ? GV_FFT_MOST : (int)ceil(want));
}

static int is_power_of_two(double x)
{
    int exponent;
    return x > 0 && isfinite(x) && frexp(x, &exponent) == 0.5;
}

static gravel_status check_bodies(const gv_particles *p)
{
    double mass = 0;
    const gravel_status status = gv_particles_check_box(p, 0);
    if (status)
        return status;
    for (size_t k = 0; k < p->count; k++)
        mass += p->m[k];
    const double wanted = gv_cosmo_density(&p->box.cosmology, &p->units) * pow(p->box.side, 3);
    if (!(fabs(mass / wanted - 1) < 0.01))
        return gv_fail(GRAVEL_ERR_INPUT,
                       "all bodies have the mass %g, but a box of %g with Omega_m = %g holds %g: masses, units and "
                       "cosmology do not belong together",
                       mass, p->box.side, p->box.cosmology.omega_m, wanted);
    return GRAVEL_OK;
}

static gravel_status check_mesh(const gv_cosmo_settings *s, const gv_particles *p)
{
    const int cells = s->cells > 0 ? s->cells : gv_cosmo_cells(p->count);
    if (cells < GV_FFT_LEAST || cells > GV_FFT_MOST || !gv_fft_can(cells))
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "--mesh %d: %d to %d cells a side, a product of 2, 3, 5 and 7, are possible: %d and %d are near",
                       cells, GV_FFT_LEAST, GV_FFT_MOST, gv_fft_below(cells), gv_fft_above(cells));
    /* as of gravel force: at two splits the short range still has half of Newton's force */
    if (!(s->split >= 0.5) || !(s->split <= 16) || !(s->cut >= 2) || !(s->cut <= 16))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "--split %g and --cut %g: they must be 0.5 to 16 cells and 2 to 16 splits",
                       s->split, s->cut);
    if (s->split * s->cut > 0.5 * cells)
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "--mesh %d is too coarse: the short range ends at %g cells, which is beyond half of the box; %d "
                       "cells or more",
                       cells, s->split * s->cut, gv_fft_above((int)ceil(2 * s->split * s->cut)));
    return GRAVEL_OK;
}

static gravel_status check_times(const gv_cosmo_settings *s, const gv_particles *p)
{
    const double now = p->time;
    if (!(s->until > now) || !isfinite(s->until))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "--until: redshift %.6g, but the particles are at %.6g already",
                       1 / s->until - 1, 1 / now - 1);
    for (int k = 0; k < s->outputs; k++)
        if (!(s->output[k] > (k ? s->output[k - 1] : 0)) || s->output[k] < now * (1 - 1e-9) || s->output[k] > s->until)
            return gv_fail(GRAVEL_ERR_ARGUMENT,
                           "--redshifts: %.6g is not between that of the particles, %.6g, and the end, %.6g, or not "
                           "below the one before it",
                           1 / s->output[k] - 1, 1 / now - 1, 1 / s->until - 1);
    return gv_cosmo_check(&p->box.cosmology, s->until);
}

gravel_status gv_cosmo_run_check(const gv_cosmo_settings *s, const gv_particles *p)
{
    if (p->count == 0 || !p->vx)
        return gv_fail(GRAVEL_ERR_INPUT, "there are no particles, or they have no velocities");
    if (!(p->box.side > 0))
        return gv_fail(GRAVEL_ERR_INPUT, "no cosmology in the particles' file: an HDF5 snapshot is needed whose Header "
                                         "has BoxSize and Omega0 above 0, as gravel ic cosmo writes it");
    gravel_status status = gv_cosmo_check(&p->box.cosmology, p->time);
    if (!status)
        status = check_bodies(p);
    if (!status)
        status = check_mesh(s, p);
    if (!status && (!is_power_of_two(s->step_max) || !is_power_of_two(s->step_min) || s->step_min > s->step_max ||
                    s->step_max > 1))
        status = gv_fail(GRAVEL_ERR_ARGUMENT,
                         "--step-max %g and --step-min %g, in ln a: they must be powers of two in order, at most 1, as "
                         "2^-6 = 0.015625 and 2^-20",
                         s->step_max, s->step_min);
    if (!status && s->mesh_step != 0 &&
        (!is_power_of_two(s->mesh_step) || s->mesh_step < s->step_max || s->mesh_step > 1))
        status = gv_fail(GRAVEL_ERR_ARGUMENT,
                         "--mesh-step %g, in ln a: it must be 0, or a power of two from --step-max %g to 1",
                         s->mesh_step, s->step_max);
    if (!status && (!(s->eps > 0) || !isfinite(s->eps)))
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "--eps %g: the softening must be above 0", s->eps);
    return status ? status : check_times(s, p);
}

/* -------------------------------------------------------------------- clock */

static double kick(void *user, double from, double to)
{
    const gv_cosmo_run *r = user;
    return gv_cosmo_integral(&r->p.box.cosmology, &r->p.units, 1, log(r->start) + from, log(r->start) + to);
}

static double drift(void *user, double from, double to)
{
    const gv_cosmo_run *r = user;
    return gv_cosmo_integral(&r->p.box.cosmology, &r->p.units, 2, log(r->start) + from, log(r->start) + to);
}

/* dt <= sqrt(eta a eps / |g / a^2|) of the physical length and acceleration, and d ln a = H dt */
static double stretch(void *user, double time)
{
    const gv_cosmo_run *r = user;
    const double a = r->start * exp(time);
    return pow(a, 1.5) * gv_cosmo_expansion(&r->p.box.cosmology, a) * gv_cosmo_hubble(&r->p.units);
}

/* -------------------------------------------------------------------- life */

static gravel_status make_forces(gv_cosmo_run *r)
{
    gravel_mesh_options mesh = GRAVEL_MESH_OPTIONS_INIT;
    gravel_tree_options tree = GRAVEL_TREE_OPTIONS_INIT;
    mesh.side = tree.period = r->p.box.side;
    mesh.cells = r->s.cells;
    mesh.split = tree.split = r->s.split * mesh.side / mesh.cells;
    mesh.interlaced = r->s.interlaced;
    mesh.precision = r->s.precision == GRAVEL_DP ? GRAVEL_DP : GRAVEL_SP;
    tree.cut = r->s.cut * tree.split;
    tree.theta = r->s.theta;
    tree.mac = r->s.mac;
    tree.softening = r->s.softening;
    tree.precision = r->s.precision;
    tree.configuration = r->s.configuration;
    gravel_status status = gravel_mesh_create(&r->mesh, r->context, &mesh);
    if (!status)
        status = gravel_mesh_set_own(r->mesh, 1);
    return status ? status : gravel_tree_create(&r->tree, r->context, &tree);
}

/* What is needed in any case: words of the bodies and of those that are looked at, the mesh; the tree's cells come on
 * top. */
static gravel_status check_memory(const gv_cosmo_run *r)
{
    const gravel_device_info *device = gravel_context_get_device(r->context, 0);
    const int dp = r->s.precision == GRAVEL_DP;
    const double n = (double)r->p.count, m = r->s.cells, have = (double)device->global_memory;
    const double need = n * (dp ? 296 : 220) + 2 * (m + 2) * m * m * (dp ? 8 : 4);
    if (need <= have)
        return GRAVEL_OK;
    return gv_fail(
        GRAVEL_ERR_DEVICE_MEMORY,
        "%zu bodies with a mesh of %d^3 cells need %.1f GB and what the tree takes; %s has %.1f GB, where less "
        "than %d^3 bodies with as many cells each fit",
        r->p.count, r->s.cells, 1e-9 * need, device->name, 1e-9 * have, (int)cbrt(n * have / need));
}

static gravel_status make_leapfrog(gv_cosmo_run *r)
{
    const gravel_clock clock = {kick, drift, stretch, r};
    gravel_leapfrog_options o = GRAVEL_LEAPFROG_OPTIONS_INIT;
    o.eta = r->s.eta;
    o.step_max = r->s.step_max;
    o.step_min = r->s.step_min;
    o.shared = r->s.shared;
    o.eps = r->s.eps;
    o.last = r->s.mac == GRAVEL_TREE_LAST;
    o.clock = &clock;
    o.mesh = r->mesh;
    o.mesh_step = r->s.mesh_step;
    return gravel_leapfrog_create(&r->leapfrog, r->bodies, NULL, r->tree, &o);
}

gravel_status gv_cosmo_run_create(gv_cosmo_run **run, gravel_context *context, const gv_cosmo_settings *settings,
                                  gv_particles *particles)
{
    gravel_bodies_options bodies = GRAVEL_BODIES_OPTIONS_INIT;
    gv_cosmo_run *r = calloc(1, sizeof *r);
    *run = NULL;
    if (!r) {
        gv_particles_free(particles);
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a run");
    }
    r->context = context;
    r->s = *settings;
    r->p = *particles;
    *particles = (gv_particles)GV_PARTICLES_INIT;
    r->start = r->p.time;
    r->gravity = gv_units_gravity(&r->p.units);
    if (r->s.cells <= 0)
        r->s.cells = gv_cosmo_cells(r->p.count);
    bodies.precision = settings->precision == GRAVEL_DP ? GRAVEL_DP : GRAVEL_DS;
    gravel_status status = check_memory(r);
    if (!status && settings->timed)
        status = gravel_context_set_timing(context, 0, 1);
    if (!status)
        status = gravel_bodies_create(&r->bodies, context, &bodies);
    if (!status)
        status = make_forces(r);
    if (!status)
        status = make_leapfrog(r);
    if (status) {
        gv_cosmo_run_release(r);
        return status;
    }
    *run = r;
    return GRAVEL_OK;
}

void gv_cosmo_run_release(gv_cosmo_run *r)
{
    if (!r)
        return;
    gravel_leapfrog_release(r->leapfrog);
    gravel_tree_release(r->tree);
    gravel_mesh_release(r->mesh);
    gravel_bodies_release(r->bodies);
    gv_particles_free(&r->p);
    free(r->potential);
    free(r);
}

const gv_particles *gv_cosmo_run_get_particles(const gv_cosmo_run *r)
{
    return &r->p;
}

const gv_cosmo_line *gv_cosmo_run_get_line(const gv_cosmo_run *r)
{
    return &r->line;
}

void gv_cosmo_run_get_counts(const gv_cosmo_run *r, gravel_hermite_counts *counts)
{
    gravel_leapfrog_get_counts(r->leapfrog, counts);
}

void gv_cosmo_run_get_times(const gv_cosmo_run *r, gv_cosmo_times *times)
{
    *times = r->times;
}

double *gv_cosmo_run_clocks(gv_cosmo_run *r)
{
    return r->clock;
}

gravel_fft gv_cosmo_run_get_fft(const gv_cosmo_run *r)
{
    return gravel_mesh_get_fft(r->mesh);
}

gravel_status gv_cosmo_run_get_configuration(gv_cosmo_run *r, char *text, size_t size)
{
    return gravel_tree_get_configuration(r->tree, text, size, NULL);
}
