/* gravel: leapfrog integration of bodies on the device, kick-drift-kick, with forces of a tree or of direct summation.
 *
 *   gravel_leapfrog_create(&leapfrog, bodies, NULL, tree, &options);
 *   gravel_leapfrog_start(leapfrog, 0);
 *   while (gravel_leapfrog_get_next(leapfrog, &next) == GRAVEL_OK && next <= end)
 *       gravel_leapfrog_step(leapfrog, &step);
 *   gravel_leapfrog_get_bodies_at(leapfrog, end, &at);             all bodies at one time, velocities too
 *
 * Every body has a step that is a power of two, dt <= sqrt(eta eps / |a|), or all share the smallest.  A block: all
 * bodies drift to the least of all times + steps; those that are due there get forces, the second half of the kick of
 * the step that ends and the first half of that of the next one.  So positions are always of one time (that of the last
 * block), and a velocity is half a step ahead of its body's plane TIME.  Second order; with one step for all and for
 * ever it is symmetric in time.
 *
 * The forces of a mesh may have steps of their own (`mesh_step`), the same for all bodies and no shorter than step_max.
 * At their borders, where every body is due, they are found for all bodies, which they kick over half of the step that
 * ends and of the one that begins; blocks between have kicks of the tree's part only.  Criteria look at both parts, the
 * mesh's as it was found last.
 *
 * A tree is kept, with new moments for the moved bodies (gravel_tree_moved), until `rebuild` times all bodies have got
 * forces from it after the block that it was built for; it is built anew for the block that would be more, and after
 * each block of all bodies.  While a tree is kept, blocks of a few bodies (32; on GPUs up to 256) get direct sums and
 * leave it as it is (not with a mesh, a spline, `walk` or `agree`).
 */
#ifndef GRAVEL_LEAPFROG_H
#define GRAVEL_LEAPFROG_H

#include "gravel/hermite.h"
#include "gravel/mesh.h"
#include "gravel/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gravel_leapfrog gravel_leapfrog;

/* A time in which blocks and steps are counted, but which is not that of the equations of motion, as ln a of an
 * expanding universe: velocities += kick x accelerations, positions += drift x velocities over an interval of it.
 * Start at a multiple of step_max, and of mesh_step. */
typedef struct gravel_clock {
    double (*kick)(void *user, double from, double to);
    double (*drift)(void *user, double from, double to);
    double (*stretch)(void *user, double time); /* steps are stretch sqrt(eta eps / |a|) */
    void *user;
} gravel_clock;

/* Takes the place of gravel_tree_walk(tree, call, NULL), whose results go into planes: forces that several devices find
 * together (several.h), or several processes, which may have no sinks (cluster.h). */
typedef gravel_status (*gravel_walk_fn)(gravel_tree *tree, const gravel_tree_call *call, void *user);

typedef struct gravel_leapfrog_options {
    uint32_t size;
    double eta;                /* dt <= sqrt(eta eps / |a|); 0: all steps are step_max */
    double step_max, step_min; /* powers of two; a step below step_min is ERR_STATE, with the body */
    int shared;                /* 1: all bodies take the smallest step */
    double eps;
    gravel_soften soften; /* other than EPS: eta counts with eps all the same */
    double rebuild; /* forces of a tree after its first block, over the number of bodies; 0: built for each block */
    int last;       /* of a tree: 1: its criterion rests on the last accelerations (gravel_tree_call) */
    /* Adds to the plane ACCELERATION, and optionally to POTENTIAL, of bodies first ... first + count - 1 of a set that
     * is at `time`: see gravel_hermite_options. */
    gravel_external_fn external;
    void *external_user;
    gravel_forces_fn forces; /* of a direct solver; NULL: gravel_direct_start */
    void *forces_user;
    const gravel_clock *clock; /* copied; NULL: time is time */
    gravel_mesh *mesh;         /* its forces are added to those of a tree that has the same period and split; the bodies
                                * become its sources */
    int tally;                 /* as in gravel_hermite_options */
    double mesh_step;          /* a power of two, step_max or longer; 0: the mesh's forces are found at each block */
    /* 1: block steps also end before |a| has grown beyond what they are right for, judged by its growth over the step
     * before, and with a tree are at most sqrt(eta / (8 pi rho)), rho the density of some bodies around the body. */
    int ahead;
    gravel_walk_fn walk; /* of blocks, not of looks between them; NULL: gravel_tree_walk */
    void *walk_user;
    /* Bodies that are dealt out over several processes, with `walk`: as in gravel_hermite_options, with forces_user.  A
     * process may have none.  Trees are also built anew after a block of all bodies.  Block steps only;
     * gravel_leapfrog_get_bodies_at is for one process. */
    gravel_agree_fn agree;
} gravel_leapfrog_options;
#define GRAVEL_LEAPFROG_OPTIONS_INIT                                                                                   \
    {                                                                                                                  \
        sizeof(gravel_leapfrog_options), 0.025, 0.125, 0x1p-40, 0, 0, GRAVEL_SOFTEN_EPS, 0, 1, NULL, NULL, NULL, NULL, \
            NULL, NULL, 0, 0, 0, NULL, NULL, NULL                                                                      \
    }
GRAVEL_API void gravel_leapfrog_options_init(gravel_leapfrog_options *options);

/* Bodies (ds or dp) with positions, velocities and masses, and one of a solver and a tree, in any precision; all must
 * exist as long as the integrator.  The bodies become the sources of the tree. */
GRAVEL_API gravel_status gravel_leapfrog_create(gravel_leapfrog **leapfrog, gravel_bodies *bodies,
                                                gravel_direct *direct, gravel_tree *tree,
                                                const gravel_leapfrog_options *options);
GRAVEL_API void gravel_leapfrog_release(gravel_leapfrog *leapfrog);

/* First forces, steps and half kicks, with all bodies at `time`.  It comes again after the bodies were changed; their
 * velocities must be at the time of their positions then (gravel_leapfrog_get_bodies_at has these). */
GRAVEL_API gravel_status gravel_leapfrog_start(gravel_leapfrog *leapfrog, double time);
/* One block; `info` may be NULL.  One that failed comes again with the next call, from where it failed: until then
 * there are no looks and no states.  Where all bodies share a step it may have come too far for that; the next call is
 * ERR_STATE then, and a state is resumed, or the bodies written anew and started. */
GRAVEL_API gravel_status gravel_leapfrog_step(gravel_leapfrog *leapfrog, gravel_hermite_step_info *info);
/* The time of the next block; changes nothing. */
GRAVEL_API gravel_status gravel_leapfrog_get_next(gravel_leapfrog *leapfrog, double *time);
/* All bodies, positions, velocities, masses and ids, as steps that end at `time` (neither before the last block nor
 * after the next one) would leave them; in a set that belongs to the integrator and is good until its next call.  What
 * comes after does not depend on such looks. */
GRAVEL_API gravel_status gravel_leapfrog_get_bodies_at(gravel_leapfrog *leapfrog, double time, gravel_bodies **at);
GRAVEL_API void gravel_leapfrog_get_counts(const gravel_leapfrog *leapfrog, gravel_hermite_counts *counts);
/* As gravel_hermite_add_step_counts. */
GRAVEL_API gravel_status gravel_leapfrog_add_step_counts(gravel_leapfrog *leapfrog,
                                                         uint64_t counts[GRAVEL_STEP_POWERS]);

/* As gravel_hermite_get_state and gravel_hermite_resume.  The cells of a tree are not part of a state: while the next
 * block would keep them, this is ERR_STATE; step on. */
GRAVEL_API gravel_status gravel_leapfrog_get_state(const gravel_leapfrog *leapfrog, gravel_hermite_state *state);
GRAVEL_API gravel_status gravel_leapfrog_resume(gravel_leapfrog *leapfrog, const gravel_hermite_state *state);

#ifdef __cplusplus
}
#endif
#endif
