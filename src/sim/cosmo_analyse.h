/* Spectra and mass functions as tables that say what box they are of.
 *
 *   # gravel spectrum 1
 *   # a 1 box 100 Mpc/h bodies 262144 mesh 128 shot 3.8
 *   # h 0.6774 Omega_m ... transfer 0
 *   # k[h/Mpc] power[(Mpc/h)^3] measured waves          power: measured less the shot noise
 *
 *   # gravel massfunction 1                             groups of friends of friends
 *   # a 1 box 100 Mpc/h bodies 262144 linking 0.2 least 32 groups 1000
 *   # h ...
 *   # mass[Msun/h] low high groups dn/dlnM[(h/Mpc)^3]   mass: mean of those in the bin */
#ifndef GV_COSMO_ANALYSE_H
#define GV_COSMO_ANALYSE_H

#include "sim/cosmo_groups.h"
#include "sim/cosmo_spectrum.h"

#define GV_LINKING 0.2
enum { GV_LEAST_GROUP = 32 };

gravel_status gv_spectrum_write(const gv_spectrum *spectrum, const gv_particles *particles, const char *path);
gravel_status gv_mass_function_write(const gv_groups *groups, double linking, size_t least,
                                     const gv_particles *particles, const char *path);
/* All groups: bodies, mass, centre, velocity (peculiar), in the box's units. */
gravel_status gv_groups_write(const gv_groups *groups, const gv_particles *particles, const char *path);
/* spectrum_NNNN.txt and massfunction_NNNN.txt of a folder. */
gravel_status gv_cosmo_analyse(const gv_particles *particles, const char *folder, unsigned number);

/* A table of either kind, for plots. */
typedef struct gv_cosmo_table {
    double a, side, bodies, shot; /* side in Mpc/h */
    gv_cosmology cosmology;
    int columns;
    size_t rows;
    double (*row)[5];
} gv_cosmo_table;
/* kind: "spectrum" or "massfunction"; other files are ERR_FORMAT. */
gravel_status gv_cosmo_table_read(gv_cosmo_table *table, const char *path, const char *kind);
void gv_cosmo_table_free(gv_cosmo_table *table);

#endif
