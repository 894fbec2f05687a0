#include "cli/particle_file.h"

gv_units gv_cli_units(int choice)
{
    static const gv_units units[] = {GV_UNITS_NBODY, GV_UNITS_KPC, GV_UNITS_PC};
    return units[choice];
}

gravel_status gv_cli_convert_units(gv_particles *particles, int choice, double unit_mass, double unit_length,
                                   const char *option)
{
    const gv_units to = gv_cli_units(choice);
    const int nbody = gv_units_are_nbody(&particles->units), scaled = unit_mass > 0.0 && unit_length > 0.0;
    if (gv_units_are_nbody(&to)) {
        if (unit_mass > 0.0 || unit_length > 0.0)
            return gv_fail(GRAVEL_ERR_ARGUMENT, "--unit-mass and --unit-length need %s kpc or pc", option);
        gv_particles_scale_masses(particles, gv_units_gravity(&particles->units));
        particles->units = to;
        particles->expanding = 0; /* N-body units know no universe */
        return GRAVEL_OK;
    }
    if (nbody && !scaled)
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "%s: N-body units have no size; give --unit-mass (in solar masses) and --unit-length", option);
    if (!nbody && (unit_mass > 0.0 || unit_length > 0.0))
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "--unit-mass and --unit-length are for particles in N-body units; these have others");
    if (nbody)
        gv_particles_give_size(particles, unit_mass * GV_G_PER_MSUN, unit_length * to.length_cm);
    gv_particles_convert(particles, &to);
    return GRAVEL_OK;
}
