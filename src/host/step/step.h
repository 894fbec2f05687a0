/* The inside of gravel_hermite. */
#ifndef GV_STEP_H
#define GV_STEP_H

#include "gravel/hermite.h"
#include "host/step/select.h"

/* kernels of an integrator */
typedef enum gv_step_kernel { GV_STEP_PREDICT, GV_STEP_CORRECT, GV_STEP_FIRST, GV_STEP_KERNELS } gv_step_kernel;

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
    gravel_hermite_counts counts;
};

/* block.c: forces of all bodies, at `time` if `predict`, on some of a set, into its planes; then the caller's external
 * force. */
gravel_status gv_hermite_forces(gravel_hermite *h, int order, gravel_view sinks, int predict, double time);
/* Words of a set of bodies in the order that kernels take them; those that do not exist repeat the first. */
gravel_status gv_hermite_words(gravel_bodies *bodies, size_t n, const gv_word *word, cl_mem *mem);
/* The bodies of the list, of which there are `count`, to `time`. */
gravel_status gv_hermite_move(gravel_hermite *h, size_t count, double time);
/* All bodies at `time` in the active set; the others stay as they are. */
gravel_status gv_hermite_look(gravel_hermite *h, double time);

gravel_status gv_hermite_check_started(const gravel_hermite *h, const char *call);
/* energy.c: names the body and the one that is nearest to it: such a pair needs a smaller step_min, softening, or a
 * merger. */
gravel_status gv_hermite_fail_short(gravel_hermite *h, uint32_t address);

#endif
