/* How long a step takes on a machine, and of which parts: a machine is a set of numbers (machine.c), measured or given,
 * and needs not be here.  The terms are those of Schive et al. (2008) for GraCCA: host, transfer, network, device with
 * an efficiency; and for the tree its stages, messages and imbalance.
 *
 * Direct, a step in which m of N bodies move, on P ranks:
 *   device    call + N source + m N / (rate efficiency(m))
 *   alone     every rank finds all m forces: host + device(m, N), no message
 *   copies    every rank has all bodies and finds m / P forces, in parts, each a quarter of the one before; a part is
 *             read, gathered by all machines and written while the device works on the next
 *   ring      a rank has N / P bodies, which go round: host + P max(device(m / P, N / P), write); between machines a
 *             block passes while those of a machine are summed
 * Tree, N bodies, n = N / P on a rank:
 *   host + sort + build + moments + groups of n, bodies that change ranks, boundary trees, and the walk of n times the
 *   imbalance, or the messages (essential trees) where they take longer than the walk of the rank's own tree.
 * In a step the stages are submitted together; in forces alone they are timed one by one, which takes longer. */
#ifndef GV_MODEL_H
#define GV_MODEL_H

#include <cjson/cJSON.h>

#include "host/base/status.h"

enum { GV_CURVE_POINTS = 24 };

/* y at x > 0, between points by logarithms; outside as at the first and the last one. */
typedef struct gv_curve {
    int n;
    double x[GV_CURVE_POINTS], y[GV_CURVE_POINTS];
} gv_curve;
double gv_curve_at(const gv_curve *curve, double x);

typedef struct gv_wire {
    double latency_s, bytes_per_s;
} gv_wire;

typedef enum gv_model_precision { GV_MODEL_DS, GV_MODEL_DP } gv_model_precision;

typedef struct gv_machine {
    char name[160];
    /* direct */
    double pairs_per_s[2][2];         /* [precision][order 4, 6], at full efficiency */
    double call_s, source_s;          /* of a force call: shortest; for each source */
    gv_curve efficiency;              /* of sinks on a device */
    double compute_units, pair_block; /* the program's rules for sharing: pairs a second it counts with, of a unit */
    double step_s, body_s;            /* of a Hermite step beside forces: shortest; for each body */
    double memory_bytes;              /* of a device */
    double bytes_a_body;              /* that a Hermite run takes there */
    gv_wire transfer, node, network;  /* device and host; ranks of one machine; machines */
    int node_ranks;
    /* tree, sp, quadrupoles */
    double tree_step_s;  /* host's part of a leapfrog step */
    double tree_rest[2]; /* a leapfrog step but for its walk: shortest, and for each body of a rank */
    double stage[4][2];  /* sort, build, moments, groups, one by one: seconds, and seconds a body */
    gv_curve walk;       /* seconds of a walk of so many bodies, theta 0.5 */
    gv_curve theta;      /* factor of the walk */
    double boundary[2];  /* of several ranks, before the walk: seconds, and seconds an n^(2/3) */
    double tree_rate;    /* bytes a second between ranks of a machine, of the tree's messages */
    double parts_rate;   /* bytes a second of parts between a device and the memory that ranks of a machine share */
    double imbalance;    /* largest over mean */
    double moved;        /* share of the bodies that change ranks in a step */
    double surface, deep, tree_bytes_a_body; /* cells sent: surface n^(2/3) + deep log2(P), at theta 0.5 */
} gv_machine;

/* An H200, eight on each machine with a 400 Gb/s network card a GPU. */
void gv_machine_example(gv_machine *machine);
/* What the text leaves out is as in the example; what is wrong is ERR_FORMAT with its name. */
gravel_status gv_machine_parse(gv_machine *machine, const char *text, const char *name);
cJSON *gv_machine_json(const gv_machine *machine);

/* network.c: collective operations of P ranks */
double gv_model_agree(const gv_machine *machine, int ranks);
/* all ranks get the `bytes` of all together */
double gv_model_gather(const gv_machine *machine, int ranks, double bytes);
/* between a device and the memory of its machine */
double gv_model_copy(const gv_machine *machine, double bytes);
/* the next machine gets `bytes` of each rank; within a machine they stand where all read them */
double gv_model_pass(const gv_machine *machine, int ranks, double bytes);
/* each rank sends so many bytes, spread over the others, without waiting */
double gv_model_all_to_all(const gv_machine *machine, int ranks, double bytes);

typedef enum gv_model_scheme {
    GV_MODEL_BEST,
    GV_MODEL_PROGRAM, /* alone, copies or ring, as the program chooses */
    GV_MODEL_ALONE,
    GV_MODEL_COPIES,
    GV_MODEL_RING,
    GV_MODEL_TREE
} gv_model_scheme;
const char *gv_model_scheme_name(gv_model_scheme scheme);

typedef struct gv_question {
    double n, active; /* active 0: all */
    int ranks;
    int order; /* 4, 6 */
    gv_model_precision precision;
    gv_model_scheme scheme; /* BEST, PROGRAM: which one is told */
    int forces_only;        /* not the integration around them */
    double theta;           /* of the tree */
} gv_question;

/* Seconds of one step; parts add up to the total: what is hidden behind something else is not in them. */
typedef struct gv_prediction {
    gv_model_scheme scheme;
    double total;
    double host, transfer, network, device;
    double sort, build, moments, groups, walk; /* tree: of `device` */
    double sent_bytes;                         /* by a rank */
    double memory_bytes;                       /* on a device */
    double efficiency;                         /* time on one rank / (P time) */
} gv_prediction;
void gv_model_predict(const gv_machine *machine, const gv_question *question, gv_prediction *prediction);
/* Whether the program deals bodies out: all of them do not fit on a device, or the ring is faster by a tenth. */
int gv_model_deals(const gv_machine *machine, const gv_question *question);
/* Ranks, of 1, 2, 4, ... `most`, beyond which no number is faster: the fewest that take the least time. */
int gv_model_limit(const gv_machine *machine, const gv_question *question, int most);

/* points.c: what was measured. */
typedef struct gv_point {
    gv_question question;
    double seconds;
    double part[5]; /* of the tree: sort with keys, build, moments, groups, walk; else 0 */
} gv_point;
typedef struct gv_points {
    size_t n;
    gv_point *point;
    double latency_s, bytes_per_s; /* of `gravel cluster measure`; 0: none */
    double compute_units;          /* of the device of direct points; 0: none */
} gv_points;
/* More points from results of gravel bench hermite, gravel bench tree or gravel cluster measure. */
gravel_status gv_points_read(gv_points *points, const char *text, const char *name);
void gv_points_free(gv_points *points);
/* Numbers of the machine from the points of one rank, and the network of its machines. */
void gv_machine_fit(gv_machine *machine, const gv_points *points);

#endif
