/* gravel: direct summation over views of bodies.
 *
 * A gravel_direct (gravel.h) owns work space and compiled kernels only; sources and sinks are views.  A call is
 * submitted with gravel_direct_start and returns a ticket; several calls may be in flight and are collected in any
 * order.
 *
 *   gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
 *   call.sources = gravel_view_all(bodies);
 *   call.sinks = gravel_view_list(bodies, active);
 *   call.order = 4;  call.eps = 1e-3;  call.into = GRAVEL_INTO_PLANES;
 *   gravel_direct_start(direct, &call, NULL);
 *
 * Results in planes go to the sinks' own bodies: acceleration and potential, jerk from order 4, snap from order 6, in
 * the units of these bodies.  Sources and sinks may be in different frames and precisions; pairs are computed in the
 * precision of the gravel_direct and in the frame of the sources.  A call sees the bodies, and neighbours have the ids,
 * as they were when it was submitted.
 *
 * A body does not act on itself: a source and a sink with one id are one body, whichever views they are in, unless the
 * id is -1.  So ids of different gravel_bodies must differ where both are written.  Bodies without ids get numbers
 * (GRAVEL_ID), by which they match no source of other bodies; but ids that other sinks were given match them as
 * sources: give ids to both or to none.
 *
 * A ticket belongs to its gravel_direct: it is released before that, or with it.
 */
#ifndef GRAVEL_DIRECT_H
#define GRAVEL_DIRECT_H

#include "gravel/bodies.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whose softening counts for a pair of sink i and source j: s^2 = r^2 + ... */
typedef enum gravel_soften {
    GRAVEL_SOFTEN_EPS,     /* eps^2, one for all */
    GRAVEL_SOFTEN_SINKS,   /* eps_i^2 */
    GRAVEL_SOFTEN_SOURCES, /* eps_j^2 */
    GRAVEL_SOFTEN_SUM,     /* eps_i^2 + eps_j^2: symmetric */
    GRAVEL_SOFTEN_MAX      /* max(eps_i, eps_j)^2: symmetric */
} gravel_soften;

/* Which sources are neighbours of a sink, of the radius in gravel_sinks or of the plane GRAVEL_RADIUS.
 *
 * r: the unsoftened distance; with `ahead` in the call the smaller of |dx| and |dx + t dv|, now and a time t of the
 * sink ahead on straight lines.  What lies at the radius itself is inside by the first rule and outside by the others,
 * and only the first looks at ids: by the others the sink itself, at distance 0, is its own neighbour. */
typedef enum gravel_neighbour_rule {
    GRAVEL_NEIGHBOURS_OTHERS,     /* r <= radius, not itself */
    GRAVEL_NEIGHBOURS_SPHERE,     /* r < radius */
    GRAVEL_NEIGHBOURS_SPHERE_MASS /* r^2 < m_j radius^2: heavy sources from further off */
} gravel_neighbour_rule;

/* How a pair attracts, s being the softened distance.  All but Plummer's are for order 2 and end at a distance: there
 * is no force from there on.  r_s and r_cut are lengths in the unit of the sources.
 *   truncated   what a mesh leaves to pairs: Newton's force times erfc(u) + 2 u exp(-u^2) / sqrt(pi) and its potential
 *               times erfc(u), u = s / 2 r_s, for s < r_cut (4.5 to 7 r_s: where the force is a thousandth and less)
 *   table       what gravel_direct_set_table was given */
typedef enum gravel_shape { GRAVEL_SHAPE_PLUMMER, GRAVEL_SHAPE_TRUNCATED, GRAVEL_SHAPE_TABLE } gravel_shape;

/* Beside tables, how the factors of the truncated shape are found */
enum {
    GRAVEL_LEVEL_RATIONAL = -2, /* exp, and erfc as exp times a rational function: as exact, but for rounding */
    GRAVEL_LEVEL_EXACT = -1     /* erfc and exp as they are */
};

/* Where results go; may be added up */
enum {
    GRAVEL_INTO_HOST = 1,   /* kept until the ticket is collected */
    GRAVEL_INTO_PLANES = 2, /* the planes of the sinks' bodies are replaced at the sinks, each at most once in a list */
    GRAVEL_INTO_ADD = 4     /* with GRAVEL_INTO_PLANES: added to what is there */
};

typedef struct gravel_direct_call {
    uint32_t size;              /* of this struct */
    gravel_view sources;        /* bodies NULL: those written with gravel_direct_write_sources */
    gravel_view sinks;          /* bodies NULL: `points` */
    const gravel_sinks *points; /* sinks that are not bodies; copied */
    int order;                  /* 2, 4 or 6; 0: the order in the options of the object */
    double eps;                 /* of GRAVEL_SOFTEN_EPS; the others do not look at it */
    gravel_soften soften;       /* anything but EPS needs the planes GRAVEL_SOFTENING; 0 in them is legal; `points` need
                                 * points_eps */
    int predict; /* 1: sources, and sinks that are bodies, are predicted to `time` from their own times by all the
                  * derivatives they have, up to the crackle */
    double time;
    int nearest;            /* 1: nearest neighbours; 0: none; -1: as in the options of the object */
    int neighbour_capacity; /* entries of a list; 0: none; -1: as in the options of the object */
    unsigned into;          /* GRAVEL_INTO_...; 0: GRAVEL_INTO_HOST */
    /* Neighbour lists, where neighbour_capacity > 0.  SPHERE_MASS and `ahead` are for `points` only. */
    gravel_neighbour_rule rule;
    const double *ahead; /* a time per point, order 4 or 6; NULL: neighbours are where they are now */
    int leave_out;       /* 1: neighbours contribute nothing to the forces, also those that the capacity cuts off */
    gravel_shape shape;
    double r_s, r_cut; /* of GRAVEL_SHAPE_TRUNCATED */
    int level; /* of GRAVEL_SHAPE_TRUNCATED: GRAVEL_LEVEL_...; 0 ... 4: polynomials of this degree in intervals of u
                        * that are 3/512 long (doc/theory.md has their errors) */
    int quadrupoles; /* 1: sources act with the quadrupoles of gravel_direct_write_quadrupoles; order 2, Plummer */
    /* Not NULL: bodies of the sources change first, as by gravel_bodies_update before the call, but few of them without
     * a launch of their own.  They have changed also where the rest of the call is refused. */
    const gravel_changes *changes;
    const double *points_eps; /* softening lengths of `points`, for the kinds of softening that look at the sinks' */
} gravel_direct_call;
#define GRAVEL_DIRECT_CALL_INIT                                                                                        \
    {                                                                                                                  \
        sizeof(gravel_direct_call), {NULL, GRAVEL_VIEW_ALL, 0, 0, NULL}, {NULL, GRAVEL_VIEW_ALL, 0, 0, NULL}, NULL, 0, \
            0, GRAVEL_SOFTEN_EPS, 0, 0, -1, -1, 0, GRAVEL_NEIGHBOURS_OTHERS, NULL, 0, GRAVEL_SHAPE_PLUMMER, 0, 0, -1,  \
            0, NULL, NULL                                                                                              \
    }
GRAVEL_API void gravel_direct_call_init(gravel_direct_call *call);

/* `ticket` NULL: the call cannot be waited for (results in planes only).  Points are copied before the function
 * returns. */
GRAVEL_API gravel_status gravel_direct_start(gravel_direct *direct, const gravel_direct_call *call,
                                             gravel_ticket **ticket);
/* Compiles and allocates what calls like this one with 1 ... `sinks` sinks and up to so many sources will need, with
 * four of them in flight, so that these calls need neither.  Configurations are those for that many sources: a call of
 * much fewer may compile another one.  So may points whose ids are in no order where those of the sources are. */
GRAVEL_API gravel_status gravel_direct_prepare(gravel_direct *direct, const gravel_direct_call *call, size_t sinks,
                                               size_t sources);

/* The configurations that calls of this object have got so far, as text; returns the bytes that it takes with its end
 * (NULL, 0: nothing is written).  Calls that are softened alike (by eps, by nothing, by sinks, by sources), with about
 * as many sinks and sources, share the configuration of the first of them.  An object that is given the text before its
 * first call computes with the same ones, and so with the same bits. */
GRAVEL_API size_t gravel_direct_get_choices(const gravel_direct *direct, char *text, size_t size);
GRAVEL_API gravel_status gravel_direct_set_choices(gravel_direct *direct, const char *text);

/* ---------------------------------------------------------------- tables */

/* Any force that is a function of the distance.
 *   factors   acc = sum m d / s^3 force(s / length)     pot = -sum m / s potential(s / length)
 *   forces    acc = sum m d force(s)                    pot = -sum m potential(s)
 * Both end at `cut`, which is in the unit of the argument.  The functions are called in gravel_direct_set_table only,
 * with arguments between 0 and the cut.  Force tables may be finite at 0: bodies at one place are no exception. */
typedef enum gravel_table_kind { GRAVEL_TABLE_FACTORS, GRAVEL_TABLE_FORCES } gravel_table_kind;
typedef double (*gravel_table_function)(double argument, void *user);

typedef struct gravel_table {
    uint32_t size; /* of this struct */
    gravel_table_kind kind;
    gravel_table_function force;
    gravel_table_function potential; /* NULL: the integral of the force, zero at the cut */
    void *user;
    double length; /* of factors */
    double cut;
    int level; /* degree of the polynomials: 0 ... 4 */
    /* 1: intervals of one length.  0: a number in every octave of (s / cut)^2, for forces over many powers of ten;
     * what is below 6e-8 of the cut is taken as there. */
    int even;
    int intervals; /* in all, or in an octave (a power of two); 0: 512, or 32 in an octave (dp: 256) */
} gravel_table;
#define GRAVEL_TABLE_INIT                                                                                              \
    {                                                                                                                  \
        sizeof(gravel_table), GRAVEL_TABLE_FACTORS, NULL, NULL, NULL, 1, 0, 3, 0, 0                                    \
    }
GRAVEL_API void gravel_table_init(gravel_table *table);
/* Calls of GRAVEL_SHAPE_TABLE from now on use this table.  ERR_INPUT where a function is not finite. */
GRAVEL_API gravel_status gravel_direct_set_table(gravel_direct *direct, const gravel_table *table);

/* ----------------------------------------------------------- quadrupoles */

/* Quadrupoles of sources that stand for cells of a tree: number k is that of the source at address k of
 * gravel_direct_write_sources, or of body k where a call has a view of bodies, of all or of a range from the first on.
 * q = xx, xy, xz, yy, yz, zz of Q = sum m (3 x x - |x|^2) over the bodies of the cell, x from its centre of mass.
 *   acc += (5/2 (d Q d) d / s^2 - Q d) / s^5            pot -= d Q d / (2 s^5)
 * Sources that get none have zeros; massless sources do not act at all. */
GRAVEL_API gravel_status gravel_direct_write_quadrupoles(gravel_direct *direct, size_t first, size_t count,
                                                         const double (*q)[6]);

#ifdef __cplusplus
}
#endif
#endif
