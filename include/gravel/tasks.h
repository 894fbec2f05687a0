/* gravel: forces between leaves of bodies, by a list of tasks.
 *
 * For codes that have a tree of their own, on the host: a table of leaves (runs of bodies), and tasks <i, j>, each of
 * which lets the bodies of leaf j pull those of leaf i.  Tasks come in any order and are put in order by i on the
 * device; each leaf's work is then one sum, so that nothing depends on chance: the same list gives the same bits.
 *
 *   gravel_tasks_create(&tasks, context, &options);
 *   gravel_task_list list = GRAVEL_TASK_LIST_INIT;
 *   list.leaf = leaf;  list.leaves = n_leaves;  list.task = task;  list.tasks = n_tasks;
 *   gravel_tasks_write(tasks, &list);
 *   gravel_tasks_call call = GRAVEL_TASKS_CALL_INIT;
 *   call.bodies = bodies;  call.eps = eps;  call.into = GRAVEL_INTO_PLANES;
 *   gravel_tasks_start(tasks, &call, NULL);     ... and again after the bodies have moved
 *
 * Sinks are the bodies of leaves that are i of some task; all others keep what their planes hold.  A task pulls one way
 * only: <i, j> and <j, i> are two, and <i, i> is a leaf on itself.  No body pulls itself: bodies are known by their
 * address, and the shifted image of a body is another body.  Conventions are those of bodies.h; doc/tasks.md shows how
 * to choose leaves and forms.
 */
#ifndef GRAVEL_TASKS_H
#define GRAVEL_TASKS_H

#include "gravel/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gravel_tasks gravel_tasks;

typedef struct gravel_tasks_options {
    uint32_t size;              /* of this struct */
    gravel_precision precision; /* of the sums, as for a tree; bodies may have any */
    int device;                 /* which device of the context */
    /* Tunables as "threads=128 form=1 ..."; those not named come from the profile (gravel tune --kernel tasks) or the
     * built-in default for the leaves of a list */
    const char *configuration;
} gravel_tasks_options;
#define GRAVEL_TASKS_OPTIONS_INIT                                                                                      \
    {                                                                                                                  \
        sizeof(gravel_tasks_options), GRAVEL_SP, 0, NULL                                                               \
    }
GRAVEL_API void gravel_tasks_options_init(gravel_tasks_options *options);
GRAVEL_API gravel_status gravel_tasks_create(gravel_tasks **tasks, gravel_context *context,
                                             const gravel_tasks_options *options);
GRAVEL_API void gravel_tasks_release(gravel_tasks *tasks);

/* ------------------------------------------------------------------ lists */

typedef struct gravel_leaf {
    uint32_t first, count; /* bodies first ... first + count - 1; none is legal */
} gravel_leaf;

typedef struct gravel_task {
    uint32_t sinks, sources; /* leaves i and j */
} gravel_task;

typedef struct gravel_task_list {
    uint32_t size; /* of this struct */
    size_t leaves;
    const gravel_leaf *leaf;
    size_t tasks;
    const gravel_task *task; /* a task that comes twice pulls twice */
    /* Periodic images: the sources of task k are displaced by shift[shift_of[k]], where shift[0] is 0, 0, 0.  shift_of
     * NULL: none is. */
    const uint8_t *shift_of;
    size_t shifts; /* at most 256 */
    const double (*shift)[3];
} gravel_task_list;
#define GRAVEL_TASK_LIST_INIT                                                                                          \
    {                                                                                                                  \
        sizeof(gravel_task_list), 0, NULL, 0, NULL, NULL, 0, NULL                                                      \
    }
GRAVEL_API void gravel_task_list_init(gravel_task_list *list);

/* The list of calls from now on; it is copied.  ERR_INPUT, and the list of before is kept, where a task names a leaf
 * that is not in the table, or two leaves with sinks share a body (which task or leaf). */
GRAVEL_API gravel_status gravel_tasks_write(gravel_tasks *tasks, const gravel_task_list *list);

/* ------------------------------------------------------------------ calls */

typedef struct gravel_tasks_call {
    uint32_t size; /* of this struct */
    gravel_bodies *bodies;
    gravel_softening softening;
    double eps;
    /* The short range of a force that a mesh completes (mesh.h): of a mass -m erfc(r / 2 r_s) / r, up to the distance
     * r_cut.  r_s = 0: the whole force at any distance. */
    double r_s, r_cut;
    int potential; /* 0: accelerations only, which is faster; planes of potentials stay as they are */
    unsigned into; /* GRAVEL_INTO_...; 0: GRAVEL_INTO_HOST.  The host gets an entry for every body, zeros where it is
                      no sink. */
} gravel_tasks_call;
#define GRAVEL_TASKS_CALL_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(gravel_tasks_call), NULL, GRAVEL_PLUMMER, 0, 0, 0, 1, 0                                                 \
    }
GRAVEL_API void gravel_tasks_call_init(gravel_tasks_call *call);

/* Submits and returns.  `ticket` NULL: the call cannot be waited for (results in planes only); tickets are released
 * before their gravel_tasks.  A list that goes beyond the bodies is ERR_INPUT. */
GRAVEL_API gravel_status gravel_tasks_start(gravel_tasks *tasks, const gravel_tasks_call *call, gravel_ticket **ticket);

/* ---------------------------------------------------------------- queries */

typedef struct gravel_tasks_counts {
    size_t leaves, tasks, sinks;
    double pairs; /* of bodies, self-pairs left out */
    size_t units; /* work-groups of a call */
    double slots; /* pairs that these compute, those for nothing among them */
} gravel_tasks_counts;
GRAVEL_API gravel_status gravel_tasks_get_counts(const gravel_tasks *tasks, gravel_tasks_counts *counts);
/* The configuration in use, of the list that was written. */
GRAVEL_API gravel_status gravel_tasks_get_configuration(const gravel_tasks *tasks, char *text, size_t size,
                                                        gravel_origin *origin);
/* Device time of the last call's forces; waits.  ERR_STATE unless the device is timed (gravel_context_set_timing). */
GRAVEL_API gravel_status gravel_tasks_get_kernel_time(gravel_tasks *tasks, double *seconds);
/* Bytes of device memory. */
GRAVEL_API size_t gravel_tasks_get_memory(const gravel_tasks *tasks);

#ifdef __cplusplus
}
#endif
#endif
