/* gravel: Hermite integration of bodies on the device, 4th and 6th order, with block time-steps or one shared step.
 *
 *   gravel_hermite_create(&hermite, bodies, direct, &options);
 *   gravel_hermite_start(hermite, 0);
 *   while (gravel_hermite_get_next(hermite, &next) == GRAVEL_OK && next <= end)
 *       gravel_hermite_step(hermite, &step);                        one block: the bodies that are due
 *   gravel_hermite_synchronise(hermite, end);                        all bodies at one time
 *
 * A block: the least of all times + steps is found, the bodies of that time are predicted, get forces from all others
 * (predicted to that time too), are corrected and get new steps.  All of it happens on the device; the host reads how
 * many bodies a block has and its time.  gravel_hermite_steps submits several blocks before it reads: each is found and
 * moved on the device, in launches for so many bodies as blocks like it had before.
 *
 * With `host` the host moves small blocks itself, by the same formulas in double, where that is faster than launches:
 * bodies that it moved reach the device before the next block there, all together.  What a body has is rounded to what
 * its planes hold after each step, so that a run does not depend on when that happened.
 *
 * Steps are powers of two, so that bodies of different steps share block times; in ds times are two-floats, which hold
 * them exactly.
 *   Aarseth       dt = sqrt(eta4 (|a||s| + |j|^2) / (|j||c| + |s|^2))
 *   generalised   dt = eta6 (A_1 / A_4)^(1/3),  A_k = sqrt(|a^(k-1)||a^(k+1)| + |a^(k)|^2)    (order 6; Nitadori and
 *                 Makino 2008)
 *   average       the mean of both: in ds the rounding noise of the snap drives the generalised step to zero (Spera and
 *                 Capuzzo-Dolcetta 2015)
 */
#ifndef GRAVEL_HERMITE_H
#define GRAVEL_HERMITE_H

#include "gravel/direct.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gravel_step_criterion {
    GRAVEL_STEP_AARSETH,
    GRAVEL_STEP_GENERALISED, /* order 6 only */
    GRAVEL_STEP_AVERAGE      /* order 6 only */
} gravel_step_criterion;
GRAVEL_API const char *gravel_step_criterion_name(gravel_step_criterion criterion); /* "average" */

typedef struct gravel_hermite gravel_hermite;

/* An external force of the caller on bodies first ... first + count - 1 of `bodies`, which are at `time` (positions,
 * velocities, and from order 6 accelerations): it adds to their planes ACCELERATION, JERK and, in order 6, SNAP, and
 * optionally to POTENTIAL (which gravel_hermite_get_energies leaves out).  A status that is not OK ends the step with
 * it. */
typedef gravel_status (*gravel_external_fn)(gravel_bodies *bodies, size_t first, size_t count, double time, void *user);

/* Takes the place of gravel_direct_start(direct, call, NULL), whose results go into planes: forces that several
 * processes find together (cluster.h). */
typedef gravel_status (*gravel_forces_fn)(gravel_direct *direct, const gravel_direct_call *call, void *user);

/* Bodies that are dealt out to several processes, each of which has some of them and an integrator for these
 * (cluster.h).  All processes call it in the same order: the first failure of all; else *least becomes the least of
 * all, and *sum the sum over those that have it, the same bits everywhere. */
typedef gravel_status (*gravel_agree_fn)(gravel_status status, double *least, double *sum, void *user);

/* Several processes that all have all bodies (cluster.h), and numbers that each has measured.  All call it in the same
 * order: the first failure of all; else number[0 ... count-1] become the largest of all, the same bits everywhere. */
typedef gravel_status (*gravel_costs_fn)(gravel_status status, double *number, size_t count, void *user);

typedef struct gravel_hermite_options {
    uint32_t size;
    int order; /* 4 or 6 */
    gravel_step_criterion criterion;
    double eta4, eta6; /* accuracy of steps: 0.01 and 0.1 are usual */
    /* Of the first steps: eta_start |a| / |j|, |a| being at least a part of what was summed, and at most
     * sqrt(eta_start) times the time of falling sqrt(|pot|) / |a|, which bodies at rest have, too. */
    double eta_start;
    double step_max, step_min; /* powers of two; a step below step_min is ERR_STATE, with the body and its nearest */
    int shared;                /* 1: all bodies take the smallest step */
    int iterations;            /* evaluations of the force a step: P(EC)^n, 1 is usual */
    double eps;
    gravel_soften soften;
    gravel_external_fn external; /* NULL: none */
    void *external_user;
    gravel_forces_fn forces; /* NULL: gravel_direct_start */
    void *forces_user;
    /* Who moves blocks.  WHERE_FASTER: the host those of up to a number of bodies.  What blocks and the way of
     * bodies between host and device take is measured once for this device (some 50 ms) and kept in the cache folder;
     * the steps of the bodies, at the start and at certain blocks, then give the number.  The host does so with
     * softening by eps only, without external forces and with the solver's own forces, or such as are alike.
     * Unless it is NEVER, gravel_hermite_send comes before the planes of the bodies are read or written. */
    gravel_host_answers host;
    int tally; /* 1: steps are counted by their lengths (gravel_hermite_add_step_counts): one launch more a block */
    /* NULL: all bodies are here.  Else `forces` finds those from the bodies of all processes, which all call the
     * functions below together, get_next too; it is called without sinks where others have some.  Blocks and counts are
     * those of all processes; step counts by length are of the own bodies, and there are no energies. */
    gravel_agree_fn agree; /* with forces_user */
    int forces_alike; /* 1: `forces` finds what the solver would (several.h), so that the host may move blocks, too */
    /* NULL: one process.  Else `forces` are found by `processes` that all have all bodies and an integrator for them;
     * with forces_alike the host of each moves blocks, all bodies of them and without a message, and all measure
     * together what blocks take.  With forces_user. */
    gravel_costs_fn costs;
    int processes;
    double alone_pairs; /* with costs: blocks of fewer (bodies that are due times all) each device moves alone, several
                         * one after another (gravel_hermite_steps); `forces` should share no call of fewer */
} gravel_hermite_options;
#define GRAVEL_HERMITE_OPTIONS_INIT                                                                                    \
    {                                                                                                                  \
        sizeof(gravel_hermite_options), 4, GRAVEL_STEP_AARSETH, 0.01, 0.1, 0.01, 0.125, 0x1p-40, 0, 1, 0,              \
            GRAVEL_SOFTEN_EPS, NULL, NULL, NULL, NULL, GRAVEL_HOST_NEVER, 0, NULL, 0, NULL, 0, 0                       \
    }
GRAVEL_API void gravel_hermite_options_init(gravel_hermite_options *options);

/* Bodies (ds or dp) with positions, velocities and masses, and a solver of their precision; both must exist as long as
 * the integrator.  Bodies without ids get their addresses. */
GRAVEL_API gravel_status gravel_hermite_create(gravel_hermite **hermite, gravel_bodies *bodies, gravel_direct *direct,
                                               const gravel_hermite_options *options);
GRAVEL_API void gravel_hermite_release(gravel_hermite *hermite);

/* First forces and steps, with all bodies at `time`.  It comes again (the planes TIME, STEP, SNAP and CRACKLE begin
 * anew) after bodies were added or removed, or their masses, positions or velocities written; between calls they may
 * get another frame or order.  In ds derivatives are floats: ERR_INPUT where the unit of time is so far from that of
 * the motion (by some 1e8) that these leave their range. */
GRAVEL_API gravel_status gravel_hermite_start(gravel_hermite *hermite, double time);

typedef struct gravel_hermite_step_info {
    double time;   /* of the block */
    size_t active; /* its bodies */
} gravel_hermite_step_info;
/* One block; `info` may be NULL. */
GRAVEL_API gravel_status gravel_hermite_step(gravel_hermite *hermite, gravel_hermite_step_info *info);
/* Blocks one after another, at most `most`, none after `until`: *done of them, info[0 ... *done - 1].  It waits for the
 * device once for several blocks, where the device moves them alone: bodies of one process, in block steps, without an
 * external force or forces of the caller's, with one evaluation a step and softening by eps, up to 32768 bodies of
 * which at most 4096 are due; or of several processes that all have all bodies (alone_pairs).  Else *done is 1, or 0
 * where none is due.  How often it comes changes no bits. */
GRAVEL_API gravel_status gravel_hermite_steps(gravel_hermite *hermite, double until, size_t most,
                                              gravel_hermite_step_info *info, size_t *done);
/* The time of the next block; changes nothing. */
GRAVEL_API gravel_status gravel_hermite_get_next(gravel_hermite *hermite, double *time);
/* All bodies get forces and are corrected at `time`, which is neither before the last block nor after the next one:
 * then planes are of one time, as snapshots and energies want them.  Steps that do not fit into this time any more
 * become shorter; at a time that is no multiple of step_min no step begins, and gravel_hermite_start comes next. */
GRAVEL_API gravel_status gravel_hermite_synchronise(gravel_hermite *hermite, double time);

/* All bodies as a step that ends at `time` (neither before the last block nor after the next one) would leave them:
 * positions, velocities, masses and ids, in a set that belongs to the integrator and is good until its next call.  The
 * bodies themselves stay as they are, so that looking at them does not change what comes after. */
GRAVEL_API gravel_status gravel_hermite_get_bodies_at(gravel_hermite *hermite, double time, gravel_bodies **at);

/* The planes of the bodies get what the host has changed.  Energies, looks and states do this themselves. */
GRAVEL_API gravel_status gravel_hermite_send(gravel_hermite *hermite);

/* What an integrator knows beside the planes of its bodies.  Together with these (gravel_bodies_save) and what the
 * solver chose (gravel_direct_get_choices) it continues a run bit for bit, with the same options on the same device. */
typedef struct gravel_hermite_state {
    double time;
    uint64_t blocks, steps, host_blocks;
    uint32_t whole, ended;
    uint64_t host_up_to;  /* blocks of so many bodies are the host's */
    double host_costs[6]; /* what that rests on, seconds; 0: it stays as it is */
} gravel_hermite_state;
GRAVEL_API gravel_status gravel_hermite_get_state(gravel_hermite *hermite, gravel_hermite_state *state);
/* Instead of gravel_hermite_start. */
GRAVEL_API gravel_status gravel_hermite_resume(gravel_hermite *hermite, const gravel_hermite_state *state);

typedef struct gravel_energies {
    double kinetic, potential; /* of the bodies among themselves */
} gravel_energies;
/* Of bodies that are at one time; the potential is summed in dp where the device has it. */
GRAVEL_API gravel_status gravel_hermite_get_energies(gravel_hermite *hermite, gravel_energies *energies);

/* What was done since start. */
typedef struct gravel_hermite_counts {
    uint64_t blocks, steps; /* steps: of single bodies */
    uint64_t host_blocks;   /* of `blocks`, moved by the host */
} gravel_hermite_counts;
GRAVEL_API void gravel_hermite_get_counts(const gravel_hermite *hermite, gravel_hermite_counts *counts);

/* Added to counts[p]: how many bodies moved over steps of 2^(p - 64) since start or resume, with the option `tally`. */
#define GRAVEL_STEP_POWERS 128
GRAVEL_API gravel_status gravel_hermite_add_step_counts(gravel_hermite *hermite, uint64_t counts[GRAVEL_STEP_POWERS]);

#ifdef __cplusplus
}
#endif
#endif
