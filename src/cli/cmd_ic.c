/* gravel ic: initial conditions as text particles or HDF5 snapshots. */
#include <math.h>

#include "cli/cmd_ic.h"
#include "cli/particle_file.h"
#include "sim/ic.h"

enum { NBODY, KPC, PC }; /* what gv_cli_convert_units takes */

/* ------------------------------------------------------------------- work */

static int show(void *user, double done, double total)
{
    gv_progress_show(user, done, total);
    return gv_signals_pending();
}

/* Steps that all models share. */
typedef struct making {
    const char *command;
    const gv_ic_command *opts;
    gv_progress progress;
    gv_ic_watch watch;
    double solar_mass;
    gv_particles particles;
} making;

static void begin(making *m, const char *command, const void *values)
{
    m->command = command;
    m->opts = values;
    m->solar_mass = 0.0;
    m->watch = (gv_ic_watch){show, &m->progress};
    gv_progress_start(&m->progress, "bodies");
    gv_signals_catch(0.7, "gravel ic: stopped; nothing was written, an earlier file is kept\n");
}

static gv_ic_stars stars(making *m)
{
    const gv_ic_command *opts = m->opts;
    return (gv_ic_stars){.masses = (gv_ic_mass_function)opts->masses,
                         .mass_low = opts->mass_low > 0 ? opts->mass_low : 0.0,
                         .mass_high = opts->mass_high > 0 ? opts->mass_high : 0.0,
                         .black_hole = opts->black_hole,
                         .solar_mass = &m->solar_mass,
                         .watch = &m->watch};
}

static gravel_status to_units(making *m, int units)
{
    const gv_ic_command *opts = m->opts;
    double mass = opts->unit_mass;
    if (units == NBODY && opts->unit_mass <= 0 && opts->unit_length <= 0)
        return GRAVEL_OK;
    if (units != NBODY && mass <= 0 && m->solar_mass > 0) /* a mass function sets the masses of the stars */
        mass = m->solar_mass;
    return gv_cli_convert_units(&m->particles, units, mass, opts->unit_length, "--units");
}

static int finish(making *m, gravel_status status, int units)
{
    gv_progress_clear(&m->progress);
    if (!status)
        status = to_units(m, units);
    int failed_writing = 0;
    if (!status) {
        status = gv_snapshot_write(&m->particles, m->opts->out);
        failed_writing = status == GRAVEL_ERR_FILE;
    }
    gv_particles_free(&m->particles);
    if (!status)
        return GV_EXIT_OK;
    const int code = gv_cli_fail(m->command, status);
    return failed_writing ? GV_EXIT_FAILURE : code;
}

int gv_ic_run_plummer(const void *values, const gv_operands *operands)
{
    making m;
    (void)operands;
    begin(&m, "gravel ic plummer", values);
    const gv_ic_plummer_options model = {m.opts->cut, stars(&m)};
    return finish(&m, gv_ic_plummer(m.opts->n, m.opts->seed, &model, &m.particles), m.opts->units);
}

int gv_ic_run_king(const void *values, const gv_operands *operands)
{
    making m;
    (void)operands;
    begin(&m, "gravel ic king", values);
    const gv_ic_king_options model = {m.opts->w0, stars(&m)};
    return finish(&m, gv_ic_king(m.opts->n, m.opts->seed, &model, &m.particles), m.opts->units);
}

int gv_ic_run_hernquist(const void *values, const gv_operands *operands)
{
    making m;
    (void)operands;
    begin(&m, "gravel ic hernquist", values);
    const gv_ic_hernquist_options model = {m.opts->cut, stars(&m)};
    return finish(&m, gv_ic_hernquist(m.opts->n, m.opts->seed, &model, &m.particles), m.opts->units);
}

int gv_ic_run_uniform(const void *values, const gv_operands *operands)
{
    making m;
    (void)operands;
    begin(&m, "gravel ic uniform", values);
    const gv_ic_uniform_options model = {m.opts->virial_ratio, 0.0, stars(&m)};
    return finish(&m, gv_ic_uniform(m.opts->n, m.opts->seed, &model, &m.particles), m.opts->units);
}

static gv_ic_galaxy_options galaxy(making *m)
{
    gv_ic_galaxy_options model = GV_IC_GALAXY_OPTIONS_INIT;
    const gv_ic_command *opts = m->opts;
    model.disk_height = opts->disk_height;
    model.disk_q = opts->disk_q;
    model.bulge_mass = opts->bulge_mass;
    model.halo_mass = opts->halo_mass;
    model.black_hole = opts->black_hole;
    model.bulge_share = opts->bulge_mass > 0 ? model.bulge_share : 0;
    model.halo_share = opts->halo_mass > 0 ? model.halo_share : 0;
    model.watch = &m->watch;
    return model;
}

/* --units disk|nbody|kpc|pc */
int gv_ic_run_galaxy(const void *values, const gv_operands *operands)
{
    making m;
    (void)operands;
    begin(&m, "gravel ic galaxy", values);
    gv_ic_galaxy_options model = galaxy(&m);
    model.standard_units = m.opts->units == 1;
    return finish(&m, gv_ic_galaxy(m.opts->n, m.opts->seed, &model, &m.particles),
                  m.opts->units < 2 ? NBODY : m.opts->units - 1);
}

/* --units disk|kpc|pc */
int gv_ic_run_merger(const void *values, const gv_operands *operands)
{
    making m;
    (void)operands;
    begin(&m, "gravel ic merger", values);
    const gv_ic_command *o = m.opts;
    const gv_ic_merger_options model = {.galaxy = galaxy(&m),
                                        .mass_ratio = o->mass_ratio,
                                        .eccentricity = o->eccentricity,
                                        .pericentre = o->pericentre,
                                        .separation = o->separation,
                                        .inclination = {o->inclination[0], o->inclination[1]},
                                        .argument = {o->argument[0], o->argument[1]}};
    return finish(&m, gv_ic_merger(o->n, o->seed, &model, &m.particles), o->units);
}

int gv_ic_run_twobody(const void *values, const gv_operands *operands)
{
    making m;
    (void)operands;
    begin(&m, "gravel ic twobody", values);
    const gv_ic_twobody_options model = {m.opts->mass_ratio, m.opts->eccentricity, m.opts->semi_major_axis};
    return finish(&m, gv_ic_twobody(&model, &m.particles), m.opts->units);
}

int gv_ic_run_figure8(const void *values, const gv_operands *operands)
{
    making m;
    (void)operands;
    begin(&m, "gravel ic figure8", values);
    return finish(&m, gv_ic_figure8(&m.particles), m.opts->units);
}
