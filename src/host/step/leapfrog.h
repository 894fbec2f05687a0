/* The inside of gravel_leapfrog. */
#ifndef GV_LEAPFROG_H
#define GV_LEAPFROG_H

#include "gravel/leapfrog.h"
#include "host/step/select.h"

typedef enum gv_leap_kernel {
    GV_LEAP_KICK,
    GV_LEAP_CHOOSE,
    GV_LEAP_KICK_ALL,
    GV_LEAP_TRIM,
    GV_LEAP_CLOSE,
    GV_LEAP_PICK,
    GV_LEAP_PUT,
    GV_LEAP_BEFORE,
    GV_LEAP_KERNELS
} gv_leap_kernel;

/* What is done of the next block.  One that fails comes again from there: positions, counts of steps and |a| before the
 * block must not be changed twice. */
typedef enum gv_leap_part { GV_LEAP_NOTHING, GV_LEAP_DRIFTED, GV_LEAP_TALLIED, GV_LEAP_REMEMBERED } gv_leap_part;

struct gravel_leapfrog {
    gv_worker worker;
    gravel_leapfrog_options options;
    gravel_bodies *bodies;
    gravel_direct *direct; /* one of both */
    gravel_tree *tree;
    gravel_direct *few;     /* with a tree: forces of blocks of a few bodies; NULL: not made yet */
    gravel_bodies *at;      /* bodies that are looked at, or those of a block for the external force */
    gravel_tree *look_tree; /* of these; NULL: not made yet */
    cl_kernel kernel[GV_LEAP_KERNELS];
    gv_selector select;
    gravel_clock clock; /* kick NULL: none; then the table is not read */
    gv_buffer table;    /* kernels/step/leapfrog.cl */
    double *numbers;    /* of the table, two parts of them at most in work; float in ds */
    int levels;
    gv_buffer before, density; /* of the option `ahead`: kernels/step/leapfrog.cl; density is that at the last build */
    int started, next_known, whole;
    gv_leap_part part;
    int has_forces;         /* all bodies have accelerations */
    size_t n;               /* bodies that were started */
    size_t all;             /* ... of all processes */
    uint64_t order_version; /* of their order when the last block was chosen */
    double now, next;       /* time of the last block, of the next one if known */
    size_t due, all_due;    /* its bodies; of all processes */
    int keeps;              /* the tree's cells may serve the next block; 0: it is built anew */
    uint64_t since_build;   /* forces of bodies from kept cells since the tree was built */
    gravel_hermite_counts counts;
};

/* leap_forces.c: accelerations and potentials of the bodies of the list (all: of all), then the external force. */
gravel_status gv_leap_forces(gravel_leapfrog *f, size_t count, double time);
/* leap_clock.c: the table for kicks at a block (`first`: no step ends), and for a look between the last block and the
 * next one.  Nothing is done without a clock. */
gravel_status gv_leap_make_table(gravel_leapfrog *f);
gravel_status gv_leap_write_kicks(gravel_leapfrog *f, double time, int first);
gravel_status gv_leap_write_look(gravel_leapfrog *f, double time);
/* Of the far part, where it has steps of its own: the kick at a block, 0 between its steps; what a look takes away, on
 * which way, and the kick that closes it. */
typedef struct gv_far_look {
    double kick, way, close;
} gv_far_look;
double gv_leap_far_kick(const gravel_leapfrog *f, double time, int first);
gv_far_look gv_leap_far_look(const gravel_leapfrog *f, double time);
int gv_leap_is_far(const gravel_leapfrog *f, double time); /* it is found anew at this block */
/* The far part of a set as kernels take it; bodies' positions where there is none. */
gravel_status gv_leap_need_far(const gravel_leapfrog *f, gravel_bodies *bodies, cl_mem *far);
double gv_leap_drift(const gravel_leapfrog *f, double from, double to);
double gv_leap_stretch(const gravel_leapfrog *f, double time); /* squared */
/* All bodies at `time` in the set `at`. */
gravel_status gv_leap_look(gravel_leapfrog *f, double time);

#endif
