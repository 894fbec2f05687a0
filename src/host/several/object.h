/* The inside of gravel_several.  Each file uses only those before it: store (sources on the host), members (devices),
 * together (threads), team (shares of the sources on some of the devices), host with sum (the host answers), sinks,
 * call, merge (results), model with measure (which of them answers), shape (tables, quadrupoles), answer with recheck
 * (who was chosen gets the sources), several, read; tree with tree_deal (tree code, on the devices only). */
#ifndef GV_SEVERAL_OBJECT_H
#define GV_SEVERAL_OBJECT_H

#include "gravel/several.h"
#include "host/bodies/bodies.h"
#include "host/several/recheck.h"
#include "host/several/several.h"
#include "host/several/store.h"

enum {
    GV_MOST_MEMBERS = 16,
    GV_DEAL_PERIOD = 64, /* addresses after which the deal repeats */
    GV_MOST_TEAMS = 6,   /* of 1, 2, 4, 8, 16 devices, or all */
    GV_MOST_PIECES = 4   /* of the sinks of a call */
};

/* A device. */
typedef struct gv_member {
    gravel_context *context;
    int device; /* of the context */
    gravel_direct *direct;
    gravel_ticket *ticket[GV_MOST_PIECES];
    /* the quadrupoles that `direct` has: of this team's share of so many sources */
    const struct gv_team *quadrupoles_of;
    uint64_t quadrupoles_seen;
    size_t quadrupoles;
    double *scratch; /* columns on their way to the device, results on their way from it */
    size_t scratch_size;
} gv_member;

/* Quadrupoles of the sources. */
typedef struct gv_quadrupoles {
    double (*q)[6];
    size_t count, room;
    uint64_t writes;
} gv_quadrupoles;

/* A few sources of a member that changed: kept until its call, which begins with them. */
enum { GV_FEW_CHANGES = 128, GV_CHANGED_PLANES = 10 };
typedef struct gv_few {
    gravel_changes changes; /* count 0: none */
    gravel_plane plane[GV_CHANGED_PLANES];
    gravel_array from[GV_CHANGED_PLANES];
    uint32_t address[GV_FEW_CHANGES];
    double number[(GV_COLUMNS + 1) * GV_FEW_CHANGES];
} gv_few;

/* The sources dealt out to the fastest `members` devices: address a is the place[a % 64]-th of the sources that
 * owner[a % 64] gets of every 64. */
typedef struct gv_team {
    int members, index[GV_MOST_MEMBERS]; /* in the order in which results are added up */
    uint8_t owner[GV_DEAL_PERIOD], place[GV_DEAL_PERIOD];
    size_t width[GV_MOST_MEMBERS];
    uint8_t back[GV_MOST_MEMBERS][GV_DEAL_PERIOD]; /* the a % 64 of a member's places */
    gravel_bodies *bodies[GV_MOST_MEMBERS];
    gv_few *few[GV_MOST_MEMBERS];
    int is_stale;  /* nothing was sent yet, or sending failed */
    uint64_t seen; /* writes that were sent */
    size_t count;  /* sources when they were */
} gv_team;

/* The sources as the last call that the host answered saw them, and its results: host.c. */
typedef struct gv_mirror {
    double *block;      /* columns of `room` entries; behind the last source zeros */
    size_t room, count; /* of the last call */
    uint32_t *list;
    int is_stale, predict;
    uint64_t seen;
    double time;
    double *result;
    uint32_t *word;
    size_t results, words;
} gv_mirror;

/* The call that was submitted; the sinks are copied. */
typedef struct gv_asked {
    int is_valid;
    gravel_several_call call;
    gravel_sinks sinks; /* in `block` and `ids` */
    double *block, *sink_eps;
    int32_t *ids;
    size_t block_size, ids_size;
    size_t sources;
    int predict;
    double time;
    gv_team *team; /* NULL: no device was asked */
    int by_host;
    size_t edge[GV_MOST_PIECES + 1]; /* piece k: sinks edge[k] ... edge[k + 1] - 1 */
    int pieces;
    gv_cell *cell; /* NULL: kept times are not checked by this call */
} gv_asked;

/* Seconds of calls with so many sinks and so many sources; calls between them and beyond follow by straight lines. */
enum { GV_KNOTS = 3, GV_LINES = 4 };
typedef struct gv_cost {
    double sinks[GV_LINES], sources[GV_KNOTS], seconds[GV_LINES][GV_KNOTS];
} gv_cost;

/* Of calls of one order. */
typedef struct gv_costs {
    int known, failed;
    gv_cost host, team[GV_MOST_TEAMS];
} gv_costs;

/* Who answers a call. */
typedef struct gv_decision {
    int team; /* or GV_ANSWER_HOST */
    double seconds;
} gv_decision;

struct gravel_several {
    gravel_several_options options;
    gravel_context *context[GV_MOST_MEMBERS];
    int contexts;
    gv_member member[GV_MOST_MEMBERS];
    int members;
    gv_team *team[GV_MOST_TEAMS]; /* NULL: not used yet */
    int teams;
    /* measured, and kept in the cache folder: model.c */
    int speeds_known;
    double speed[GV_MOST_MEMBERS]; /* pairs per second; of devices of one kind: 1 */
    gv_costs costs[3];             /* of calls of order 2, 4, 6 */
    gv_costs steps[3];      /* of blocks of integrators, likewise: trial.c; the first device stands for the host */
    gv_recheck recheck;     /* corrections of `costs` */
    char configuration[17]; /* digest of options.configuration */
    int forced;             /* answers all calls, unless it is GV_ANSWER_CHOSEN */
    int cut;                /* pieces of a call; 0: chosen */
    gv_store store;
    gv_quadrupoles quadrupoles;
    int has_table;
    gv_mirror mirror;
    gravel_frame frame;
    int frame_is_set;
    size_t source_count;
    int source_count_is_set;
    int time_is_set;
    double time;
    gv_asked asked;
    uint32_t *list; /* addresses */
    size_t list_size;
};

/* At least so many numbers; what they were is lost. */
gravel_status gv_member_scratch(gv_member *member, size_t numbers, double **scratch);

/* members.c: contexts and devices of a list; `solvers`: each has a gravel_direct. */
gravel_status gv_members_open(gravel_several *s, const gravel_context_options *options, int solvers);
void gv_members_release(gravel_several *s);
/* Solvers with the options of the members', in their place and back: trials must not have a say in the configurations
 * that calls get.  What was made the caller releases, also where it failed. */
gravel_status gv_members_make_solvers(const gravel_several *s, gravel_direct *made[GV_MOST_MEMBERS]);
void gv_members_swap_solvers(gravel_several *s, gravel_direct *other[GV_MOST_MEMBERS]);
/* Sources that one device takes. */
size_t gv_member_capacity(const gravel_several *s, int member);

/* team.c; `speed` is that of all devices of the object, NULL: all are alike */
gravel_status gv_team_create(gv_team **team, int members, const int *index, const double *speed);
void gv_team_release(gv_team *team);
/* Of the sources at 0 ... count - 1 those of a member. */
size_t gv_team_count(const gv_team *team, int member, size_t count);
uint32_t gv_team_address(const gv_team *team, int member, uint32_t place);
gravel_status gv_team_need_bodies(gravel_several *s, gv_team *team, int member);
/* The devices have what the store has. */
gravel_status gv_team_send(gravel_several *s, gv_team *team);

gv_member *gv_team_member(gravel_several *s, const gv_team *team, int member);

/* host.c: the sources of the call in `asked` as they are now; its results. */
gravel_status gv_mirror_update(gravel_several *s);
gravel_status gv_mirror_answer(gravel_several *s);
void gv_mirror_collect(const gravel_several *s, const gravel_forces *forces, size_t *overflow);
void gv_mirror_release(gv_mirror *mirror);

/* shape.c: the devices have the quadrupoles of their sources. */
gravel_status gv_team_send_quadrupoles(gravel_several *s, gv_team *team, size_t sources);

/* together.c: work(user, m) for m = 0 ... n - 1 by threads of the context; the first failure counts. */
gravel_status gv_together(gravel_context *context, int n, gravel_status (*work)(void *user, int m), void *user);

/* sinks.c */
gravel_status gv_asked_take(gravel_several *s, const gravel_several_call *call);
gravel_status gv_asked_check(const gv_asked *asked);
/* call.c */
gravel_status gv_team_prepare(gravel_several *s, gv_team *team, const gravel_several_call *asked, size_t sinks,
                              size_t sources);
gravel_status gv_call_start(gravel_several *s);
void gv_call_drop(gravel_several *s);
/* merge.c */
gravel_status gv_call_collect(gravel_several *s, const gravel_forces *forces, size_t *overflow);

/* measure.c: seconds, by trial. */
gravel_status gv_measure_speeds(const gravel_several *s, double speed[GV_MOST_MEMBERS]);
gravel_status gv_measure_costs(const gravel_several *s, int order, gv_costs *costs);

/* for other measurements */
double gv_random_number(uint64_t *state); /* 0 ... 1 */
int gv_several_has_gpu(const gravel_several *s);
/* A round takes `seconds`, if it is not NULL; the fastest of some. */
gravel_status gv_measure_rounds(gravel_status (*round)(void *user, int turn), void *user, double *seconds);
/* Numbers of sinks and sources that are timed; the last ones are the largest. */
void gv_cost_knots(int gpu, gv_cost *cost);
void gv_cost_straighten(gv_cost *cost);
int gv_cost_is_ordered(const gv_cost *cost); /* 0: it is damaged */

/* model.c: what is measured once and kept. */
int gv_members_alike(const gravel_several *s, int a, int b); /* of one kind */
gravel_status gv_model_need_team(gravel_several *s, int team);
gravel_status gv_model_need_costs(gravel_several *s, int order);
/* Those of c, which are s->costs or s->steps of this order: kept, or measured now. */
gravel_status gv_model_need(gravel_several *s, gv_costs *c, int order,
                            gravel_status (*measure)(const void *user, int order, gv_costs *costs), const void *user);
/* Which team is fastest by these. */
gv_decision gv_model_least(const gravel_several *s, const gv_costs *c, size_t sinks, size_t sources);
/* `cell`: of such calls, if their kept times decide and are to be checked; else NULL. */
gravel_status gv_model_decide(gravel_several *s, const gravel_several_call *call, size_t sinks, size_t sources,
                              gv_decision *decision, gv_cell **cell);
/* Seconds that the host and the teams are expected to take, INFINITY where the call or the options rule them out. */
void gv_model_expect(const gravel_several *s, const gravel_several_call *call, size_t sinks, size_t sources,
                     const gv_cell *cell, double seconds[GV_MOST_ANSWERS]);
/* Corrections and tries of the cells go to the file. */
void gv_model_keep(gravel_several *s);
/* Whether the host may answer this call: it knows no rules of neighbours, and Plummer's forces only. */
gravel_host_answers gv_model_host(const gravel_several *s, const gravel_several_call *call);

/* answer.c: the sources go to those who answer the call in `asked`; `spent`: s on a check. */
gravel_status gv_answer_send(gravel_several *s, double *spent);

/* several.c */
void gv_several_drop(gravel_several *s); /* all but the devices */

#endif
