/* What all star clusters share: masses, the black hole, energies (defined in ic.h). */
#ifndef GV_IC_CLUSTER_H
#define GV_IC_CLUSTER_H

#include "sim/ic_draw.h"

typedef struct gv_ic_cluster {
    const char *name;      /* for messages: "a Plummer sphere" */
    gv_ic_draw_body *draw; /* position and velocity, the origin being the centre */
    const void *model;
    double mass;         /* of the model, in the units of its positions and velocities with G = 1 */
    double virial_ratio; /* of the model: 1/2 in equilibrium */
} gv_ic_cluster;

/* Draws the bodies; their masses sum to 1.  The set is made by the call; `potential` is its potential energy. */
gravel_status gv_ic_cluster_make(size_t n, uint64_t seed, const gv_ic_stars *stars, const gv_ic_cluster *cluster,
                                 gv_particles *out, double *potential);
/* Centre of mass at rest at the origin, then potential and kinetic energy as given.  One body has no energies. */
void gv_ic_cluster_scale(gv_particles *particles, double potential, double potential_wanted, double kinetic_wanted);

/* Masses of bodies first ... n - 1 from the mass function, in solar masses; `*sum` is their sum. */
gravel_status gv_ic_masses_draw(gv_particles *particles, size_t first, uint64_t seed, const gv_ic_stars *stars,
                                double *sum);

#endif
