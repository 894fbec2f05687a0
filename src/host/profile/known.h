/* A small problem whose answer is known: which a configuration must solve correctly on a device before it is used
 * there. */
#ifndef GV_KNOWN_H
#define GV_KNOWN_H

#include "gravel/gravel.h"

/* Neither a multiple of a group, a tile nor a vector. */
enum { GV_KNOWN_BODIES = 331, GV_KNOWN_QUANTITIES = 4 };

/* By what the force and the potential of a pair differ from Newton's (order 2) at the softened distance s; where the
 * law softens pairs itself (law_softens) s is their distance, and eps their softening length. */
typedef void gv_known_law(double s, double eps, double factor[2]);

typedef struct gv_known {
    double mass[GV_KNOWN_BODIES], pos[3][GV_KNOWN_BODIES], vel[3][GV_KNOWN_BODIES], acc[3][GV_KNOWN_BODIES];
    int32_t id[GV_KNOWN_BODIES];
    double eps;
    double softening[2][GV_KNOWN_BODIES];                     /* beside eps: a body's own as a sink, and as a source */
    int larger;                                               /* 1: of these two the larger one counts, not both */
    gv_known_law *law;                                        /* NULL: Newton's */
    int law_softens;                                          /* 1: distances are not softened beside it */
    double quadrupole[GV_KNOWN_BODIES][6];                    /* xx xy xz yy yz zz; zeros */
    unsigned char left_out[GV_KNOWN_BODIES][GV_KNOWN_BODIES]; /* of a sink: sources that do not pull */
} gv_known;

/* acc, jerk, snap (three components each) and pot of one body, and for each quantity (acc, jerk, snap, pot) the sum of
 * what its pairs contribute: what errors are measured against. */
typedef struct gv_known_answer {
    double vector[3][3], pot, size[GV_KNOWN_QUANTITIES];
} gv_known_answer;

/* No softening lengths of bodies, no quadrupoles, all of them pull by Newton's law. */
void gv_known_make(gv_known *known, double eps);
/* By plain sums in double. */
void gv_known_solve(const gv_known *known, int body, gv_known_answer *answer);
/* Newton's force and potential times these are what a mesh leaves to pairs: u = s / 2 r_s. */
void gv_known_truncate(double u, double factor[2]);
double gv_known_distance2(const gv_known *known, int a, int b);
/* The largest error of what was computed (as columns, NULL: not computed) over the first `count` bodies, in units of
 * `size`; INFINITY where something is no number. */
double gv_known_error(const gv_known *known, const gravel_forces *computed, int count);

#endif
