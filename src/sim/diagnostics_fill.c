#include <math.h>
#include <string.h>

#include "sim/diagnose.h"
#include "sim/diagnostics_table.h"

static void fill_nan(gv_diagnostics *record)
{
    double *value = (double *)record;
    for (int k = 0; k < GV_DIAGNOSTIC_COLUMNS; k++)
        value[k] = NAN;
}

void gv_diagnostics_fill_sums(const gv_particles *p, const double *potential, gv_diagnostics *d)
{
    fill_nan(d);
    gv_totals t;
    gv_energies e;
    gv_diagnose_sums(p, potential, &t, &e);
    d->time = p->time;
    d->mass = t.mass;
    memcpy(d->centre, t.x, sizeof t.x);
    if (p->vx) {
        memcpy(d->velocity, t.v, sizeof t.v);
        memcpy(d->angular_momentum, t.angular_momentum, sizeof t.angular_momentum);
    }
    if (!potential)
        return;
    d->potential = e.potential;
    if (!p->vx)
        return;
    d->kinetic = e.kinetic;
    d->energy = e.total;
    d->virial_ratio = e.virial_ratio;
}

static gravel_status take_pairs(const gv_particles *p, const gv_surroundings *around, gv_diagnostics *d)
{
    gv_binary binary[GV_DIAGNOSTIC_BINARIES];
    size_t pair[2];
    double distance;
    int found = 0;
    gravel_status status = gv_diagnose_nearest(around, pair, &distance);
    if (!status)
        status = gv_diagnose_binaries(p, around, GV_DIAGNOSTIC_BINARIES, binary, &found);
    if (!status && distance < INFINITY) {
        d->nearest_a = p->id[pair[0]];
        d->nearest_b = p->id[pair[1]];
        d->nearest_distance = distance;
    }
    for (int k = 0; k < found; k++)
        d->binary[k] = (gv_diagnostic_binary){p->id[binary[k].a], p->id[binary[k].b], binary[k].semi_major_axis,
                                              binary[k].eccentricity, binary[k].period};
    return status;
}

gravel_status gv_diagnostics_fill_shape(const gv_particles *particles, gv_diagnostics *record)
{
    gv_surroundings around;
    gv_core core;
    gravel_status status = gv_surroundings_find(particles, &around);
    if (status)
        return status;
    gv_diagnose_core(particles, &around, &core);
    memcpy(record->density_centre, core.centre, sizeof core.centre);
    record->core_radius = core.radius;
    record->core_density = core.density;
    status = take_pairs(particles, &around, record);
    gv_surroundings_free(&around);
    return status ? status
                  : gv_diagnose_lagrange(particles, core.centre, gv_diagnostic_share, GV_DIAGNOSTIC_SHARES,
                                         record->lagrange);
}
