/* The inside of gravel_hermite. */
#ifndef GV_STEP_H
#define GV_STEP_H

#include "gravel/hermite.h"
#include "host/direct/sum.h"
#include "host/step/host_plan.h"
#include "host/step/select.h"

/* kernels of an integrator */
typedef enum gv_step_kernel {
    GV_STEP_PREDICT,
    GV_STEP_CORRECT,
    GV_STEP_FIRST,
    GV_STEP_TAKE,
    GV_STEP_PUT,
    GV_STEP_KERNELS
} gv_step_kernel;

/* Columns of the host's copy, in the units of the planes; a vector is three of them.  Masses are such that forces come
 * in these units, too. */
enum {
    GV_OWN_MASS,
    GV_OWN_ID,
    GV_OWN_POTENTIAL,
    GV_OWN_TIME,
    GV_OWN_STEP,
    GV_OWN_POSITION,
    GV_OWN_VELOCITY = GV_OWN_POSITION + 3,
    GV_OWN_ACCELERATION = GV_OWN_VELOCITY + 3,
    GV_OWN_JERK = GV_OWN_ACCELERATION + 3,
    GV_OWN_SNAP = GV_OWN_JERK + 3,
    GV_OWN_CRACKLE = GV_OWN_SNAP + 3,
    GV_OWN_SPAN = GV_OWN_CRACKLE + 3, /* time of the block - own time */
    GV_OWN_AT,                        /* position at the time of the block */
    GV_OWN_SPEED = GV_OWN_AT + 3,     /* velocity */
    GV_OWN_CHANGE = GV_OWN_SPEED + 3, /* acceleration */
    GV_OWN_COLUMNS = GV_OWN_CHANGE + 3
};

/* The bodies as the host has them.  Numbers are what the planes hold, or can hold. */
typedef struct gv_host_copy {
    size_t n, room;
    double *block;                  /* GV_OWN_COLUMNS times `room` */
    float *mass_word;               /* in ds two a body: high, low */
    uint32_t *due, *changed, *mark; /* of the next block; those that the planes lack; k is one of them: mark[k] */
    size_t dues, changes;
    int is_current; /* with the changes it is what the planes are */
    gravel_frame frame;
    uint32_t too_short; /* as GV_HEAD_SHORT */
    uint64_t tally[GV_TALLY_POWERS];
    void *records; /* on their way */
    gv_buffer carry;
} gv_host_copy;

/* What blocks were, from which those to come are expected. */
typedef struct gv_rhythm {
    double gap;                      /* from block to block, lately; 0: not known */
    size_t size[GRAVEL_STEP_POWERS]; /* bodies of the last block at a multiple of 2^(k - 64), of no higher power */
} gv_rhythm;

/* Blocks that are submitted before the host knows them (ahead.c). */
typedef struct gv_ahead {
    cl_kernel finish; /* NULL until it is needed */
    gv_last last;
    gv_rhythm rhythm;
    size_t depth;   /* blocks that are submitted at once */
    uint32_t done;  /* GV_HEAD_DONE as it was read last */
    int is_tried;   /* what the device's blocks take is measured in this way */
    int is_refused; /* the device gets the sums of blocks that it has found wrong: the host says what each block is */
} gv_ahead;

struct gravel_hermite {
    gv_worker worker;
    gravel_hermite_options options;
    gravel_bodies *bodies;
    gravel_bodies *active; /* bodies of a block at its time, with their new forces */
    gravel_direct *direct;
    gravel_direct *exact; /* for energies, in dp; NULL: not made yet, or no fp64 */
    cl_kernel kernel[GV_STEP_KERNELS];
    gv_selector select;
    int started, next_known;
    int ended;              /* the bodies are at a time where no step begins */
    int whole;              /* all bodies are at the time of the last block */
    size_t n;               /* bodies that were started */
    double mass;            /* of all of them */
    uint64_t order_version; /* of their order when the last block was chosen */
    double now;             /* time of the last block */
    double next;            /* time of the next block, if known */
    size_t due;             /* its bodies */
    size_t all, all_due;    /* n and due, of all processes */
    gravel_hermite_counts counts;
    size_t host_up_to;   /* bodies of the largest block that the host moves; 0: the device moves all */
    int may_review;      /* that number may change */
    gv_host_costs costs; /* where it may */
    gv_host_copy copy;   /* empty where host_up_to is 0 */
    gv_ahead ahead;
};

/* Words of the bodies, and of the active set, that kernels take which correct. */
enum { GV_STEP_OWN = 12, GV_STEP_NEW = 8 };

/* block.c: the call that finds forces of all bodies, at `time` if `predict`, into planes of the sinks. */
gravel_direct_call gv_hermite_call(const gravel_hermite *h, int order, gravel_view sinks, int predict, double time);
/* Forces of all bodies, at `time` if `predict`, on some of a set, into its planes; then the caller's external
 * force. */
gravel_status gv_hermite_forces(gravel_hermite *h, int order, gravel_view sinks, int predict, double time);
/* Words of a set of bodies in the order that kernels take them; those that do not exist repeat the first. */
gravel_status gv_hermite_words(gravel_bodies *bodies, size_t n, const gv_word *word, cl_mem *mem);
/* Those of the bodies and of the active set, in the order in which kernels that correct take them. */
gravel_status gv_hermite_step_words(gravel_hermite *h, cl_mem own[GV_STEP_OWN], cl_mem new[GV_STEP_NEW]);
/* The bodies of the list, of which there are `count` (all_due over all processes), to `time`. */
gravel_status gv_hermite_move(gravel_hermite *h, size_t count, double time);
/* All bodies at `time` in the active set; the others stay as they are. */
gravel_status gv_hermite_look(gravel_hermite *h, double time);
/* The first `count` bodies of the list on the device at `time`, in the active set only. */
gravel_status gv_hermite_try(gravel_hermite *h, size_t count, double time);

/* Planes that a block changes. */
void gv_hermite_mark(gravel_bodies *bodies);
/* 1 / M in the units of the planes. */
double gv_hermite_per_mass(const gravel_hermite *h);
double gv_hermite_mass_part(const gravel_hermite *h); /* of M, of a mass of the planes */

/* ahead.c: whether the device may move such blocks alone; blocks one after another, as gravel_hermite_steps, of which
 * the next one is known and due. */
int gv_ahead_may(const gravel_hermite *h);
size_t gv_ahead_most(const gravel_hermite *h); /* bodies of the largest such block */
/* Whether such a block has the bits that it has where the device moves it alone. */
int gv_ahead_is_alike(const gravel_hermite *h, size_t bodies);
gravel_status gv_ahead_go(gravel_hermite *h, double until, size_t most, gravel_hermite_step_info *info, size_t *done);
/* `times` blocks of the bodies of the list, of which there are `count`, at `time`: nothing changes.  Waits. */
gravel_status gv_ahead_try(gravel_hermite *h, size_t count, double time, int times);
void gv_ahead_start(gravel_hermite *h);
void gv_ahead_release(gv_ahead *ahead);
/* rhythm.c: a block was; how many bodies one at this time has, 0: it cannot be said. */
void gv_rhythm_note(gv_rhythm *rhythm, double before, double time, size_t bodies);
size_t gv_rhythm_expect(const gv_rhythm *rhythm, double time);

/* host_copy.c: the copy is that of the planes; the bodies of the list anew from these. */
gravel_status gv_copy_need(gravel_hermite *h);
gravel_status gv_copy_take(gravel_hermite *h, size_t listed);
/* The planes have what the copy has, and the list has `listed` bodies of `due`. */
gravel_status gv_copy_send(gravel_hermite *h, size_t listed);
void gv_copy_release(gv_host_copy *copy);
static inline double *gv_own(const gv_host_copy *c, int column)
{
    return c->block + (size_t)column * c->room;
}

/* host.c: the next block, into `due`; all bodies there. */
gravel_status gv_host_find(gravel_hermite *h, gv_due *block);
void gv_host_take_all(gravel_hermite *h);
/* Bodies due[0 ... count-1] to `time`.  `stay`: only for its time. */
void gv_host_move(gravel_hermite *h, size_t count, double time, int stay);
/* host_time.c: *may becomes 0 where processors of several processes have other instructions, so that the last bits of
 * what their hosts find could differ; ERR_STATE where hosts move all blocks.  All processes; the first failure. */
gravel_status gv_host_compare(gravel_hermite *h, gravel_status status, int *may);
/* Sets host_up_to by the options; changes it after a block, if it is time to. */
gravel_status gv_host_decide(gravel_hermite *h);
gravel_status gv_host_review(gravel_hermite *h);
size_t gv_host_until_review(const gravel_hermite *h); /* how many blocks come before that, the last one included */

gravel_status gv_hermite_check_started(const gravel_hermite *h, const char *call);
/* After the first forces: ERR_INPUT where the derivatives leave the range of the planes. */
gravel_status gv_hermite_check_range(gravel_hermite *h);
/* energy.c: names the body and the one that is nearest to it: such a pair needs a smaller step_min, softening, or a
 * merger. */
gravel_status gv_hermite_fail_short(gravel_hermite *h, uint32_t address);

#endif
