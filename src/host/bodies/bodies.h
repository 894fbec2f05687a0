/* The inside of gravel_bodies, for solvers: words of planes, views, versions.
 *
 * A plane is one or two words, each one buffer of `capacity` entries.  Vector words hold four numbers an entry: x, y, z
 * and a fourth that GV_WORD_POSITION (the mass) and GV_WORD_FAR use; so the force kernels read them as they are.
 * Entries from `count` to `capacity` are zero (ids -1): massless bodies at the frame's origin. */
#ifndef GV_BODIES_H
#define GV_BODIES_H

#include "gravel/bodies.h"
#include "host/program/launch.h"

typedef enum gv_word {
    GV_WORD_POSITION, /* x y z mass */
    GV_WORD_POSITION_LOW,
    GV_WORD_VELOCITY,
    GV_WORD_VELOCITY_LOW,
    GV_WORD_ACCELERATION,
    GV_WORD_JERK,
    GV_WORD_SNAP,
    GV_WORD_CRACKLE,
    GV_WORD_TIME,
    GV_WORD_TIME_LOW,
    GV_WORD_STEP,
    GV_WORD_STEP_LOW,
    GV_WORD_POTENTIAL,
    GV_WORD_SOFTENING,
    GV_WORD_RADIUS,
    GV_WORD_ID,
    GV_WORD_USER,
    GV_WORD_FAR = GV_WORD_USER + GRAVEL_USER_LAST - GRAVEL_USER + 1, /* a mesh's acceleration and potential: step/ */
    GV_WORDS
} gv_word;

/* Entries are whole multiples of this, so that words can be cut into parts on any device. */
enum { GV_BODIES_UNIT = 1024 };
/* kernels count in 32 bits, and an address is also an id */
#define GV_MOST_BODIES ((size_t)INT32_MAX - 65535)

/* Where bodies were at the last mark (order.c). */
typedef struct gv_bodies_marks {
    size_t before;  /* how many there were */
    size_t kept;    /* bodies from here on are new */
    uint32_t *from; /* of the first `kept`; NULL: they are where they were */
} gv_bodies_marks;

struct gravel_bodies {
    gv_worker worker;
    gravel_precision precision;
    gravel_frame frame;
    int has_box, has_mass_unit; /* the frame's origin and length, its mass are decided */
    int own_ids;                /* ids are numbers that gv_bodies_need_ids gave */
    size_t named;               /* bodies that have them */
    int32_t next_id;            /* of the next body without one */
    int ids_mixed;              /* ids, as they were written, are in no order (gv_are_mixed) */
    size_t count, capacity;
    gv_buffer word[GV_WORDS];            /* mem NULL: not there, reads as zeros (ids -1) */
    unsigned char has[GRAVEL_PLANES];    /* planes that are there */
    uint64_t version[GRAVEL_PLANES];     /* changes of a plane, also that it went; what is derived from it compares */
    uint64_t order_version;              /* changes of number and order */
    struct gv_bodies_transfer *transfer; /* staging, kernels: transfer.c */
    gv_bodies_marks marks;
    cl_kernel advance;        /* advance.c; NULL until it is needed */
    struct gv_movers *movers; /* order.c; NULL: made for each change of order */
};

/* The buffer of a word; the plane is made, filled with zeros (ids -1), if it is not there. */
gravel_status gv_bodies_need(gravel_bodies *bodies, gv_word word, cl_mem *mem);
/* Bodies whose ids were never written get numbers of their own, their addresses at first: without ids a body would act
 * on itself. */
gravel_status gv_bodies_need_ids(gravel_bodies *bodies);
/* Bytes of one entry. */
size_t gv_word_size(const gravel_bodies *bodies, gv_word word);
/* States of bodies that several processes have, one after another in `parts`, as one state of all (malloc'd), in this
 * order; and some bodies of a state as a state of their own.  `bodies` has their precision.  Ids are the caller's. */
gravel_status gv_bodies_join_states(const gravel_bodies *bodies, const void *parts, size_t size, void **state,
                                    size_t *state_size);
gravel_status gv_bodies_cut_state(const gravel_bodies *bodies, const void *state, size_t size, size_t first,
                                  size_t count, void **part, size_t *part_size);
/* After a solver wrote a plane on the device. */
void gv_bodies_changed(gravel_bodies *bodies, gravel_plane plane);

/* Where a plane is kept and in what unit. */
typedef enum gv_unit { GV_UNIT_NONE, GV_UNIT_LENGTH, GV_UNIT_LENGTH_SQUARED, GV_UNIT_MASS } gv_unit;
typedef struct gv_place {
    const char *name;
    gv_word word;
    int first, components; /* which of the word's numbers */
    int pair;              /* in ds the low words are in the word that follows */
    gv_unit unit;
    int squared; /* kernels take squares of it, which must not overflow */
} gv_place;
const gv_place *gv_plane_place(gravel_plane plane); /* NULL: there is no such plane */

/* A few changed bodies that a solver's kernel is given as an argument and puts into the planes itself.  The batch is
 * the addresses, a number of the bodies' precision each, then columns of `count` numbers; column[] is the first column
 * of a word, and of the mass behind them. */
enum { GV_MASS_COLUMN = GV_WORDS, GV_NO_COLUMN = 255 };
typedef struct gv_held {
    size_t count;      /* 0: nothing is held */
    const void *batch; /* GV_MOST_HELD bytes, of the bodies */
    size_t used;       /* of them, by the changes */
    unsigned char column[GV_WORDS + 1];
} gv_held;
/* A launch copies all of its arguments, so that kernels are made for batches of several sizes, number 0 the smallest.
 * Several may be equal: what the device takes. */
enum { GV_MOST_HELD = 12288, GV_HELD_SIZES = 3 };
size_t gv_held_size(const gv_worker *worker, int number);
/* As gravel_bodies_update, but few bodies are held.  Before their planes are read or written again, a kernel has to be
 * started with them or gv_bodies_put_held called. */
gravel_status gv_bodies_hold(gravel_bodies *bodies, const gravel_changes *changes, gv_held *held);
gravel_status gv_bodies_put_held(gravel_bodies *bodies, gv_held *held);

/* The two words of a time as the kernels take them. */
typedef struct gv_time_words {
    double high;
    float low;
} gv_time_words;
gv_time_words gv_time_split(gravel_precision precision, double time);
gv_time_words gv_time_not_after(gravel_precision precision, double time); /* the last ones there are */

/* Lists as short as this are kept by the host: kernels may take them as an argument, which saves a transfer. */
enum { GV_FEW = 32 };

/* What a view means now.  ERR_ARGUMENT with the reason if it does not fit its bodies (`what`: "sources"). */
typedef struct gv_selection {
    gravel_bodies *bodies;
    size_t first, count;
    cl_mem list;         /* NULL: first ... first + count - 1 */
    const uint32_t *few; /* not NULL: these addresses */
} gv_selection;
gravel_status gv_view_resolve(const gravel_view *view, const char *what, gv_selection *selection);
/* 1: the ids of its bodies are in no order (gv_are_mixed). */
int gv_view_is_mixed(const gravel_view *view);
/* The same, but a list of at most GV_FEW addresses is `few`, not `list`, and is not sent to the device. */
gravel_status gv_view_resolve_few(const gravel_view *view, const char *what, gv_selection *selection);

struct gv_slots; /* slots.h */
struct gravel_list {
    gv_worker worker;
    gv_buffer address;
    size_t count;
    uint32_t largest; /* largest address written, for checks */
    int mixed;        /* addresses are in no order (gv_are_mixed) */
    uint64_t version;
    struct gv_slots *slots;
    uint32_t few[GV_FEW]; /* a short list; it is sent when a call needs it on the device */
    int is_sent;
};

/* Factors from what the device computes (G = 1 in units of the frame) to stored derivatives and potentials:
 * a = (mass / length^2) a_device, stored as a / length; pot = (mass / length) pot_device, stored as pot / length^2,
 * the unit of a velocity squared. */
typedef struct gv_frame_factors {
    double acc, pot; /* stored = factor * device; jerk and snap as acc */
} gv_frame_factors;
gv_frame_factors gv_frame_result(const gravel_frame *frame);

#endif
