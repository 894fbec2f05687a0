/* What a call reads of bodies: sources for the force kernel, sinks in the planes of kernels/direct/layout.h. */
#ifndef GV_DIRECT_TAKE_H
#define GV_DIRECT_TAKE_H

#include "host/direct/object.h"

/* How bodies are read. */
typedef struct gv_direct_reading {
    int order, predict, lists;
    int is_predicted; /* the sources are what they are at `time`: only sinks are predicted */
    int changes;      /* to prepare for: whether calls have some */
    gravel_soften soften;
    double time;
    uint64_t list_version; /* of the list of sources */
} gv_direct_reading;

/* Planes of a few sinks that are no bodies (points.h): the launch that puts held bodies may bring them along. */
typedef struct gv_direct_few {
    const void *host; /* NULL: none */
    cl_mem device;
    size_t bytes, planes;
    int is_sent;
} gv_direct_few;

/* Sinks that the device has found: bodies of `list`, as many and at the time that `head` says (kernels/direct/layout.h,
 * GV_DUE_...).  Launches are made for more than `above` and at most `most` of them, not after `until`.  If the device
 * finds another number, nothing is written; if its time is after `until`, what is written is not to be read.  Entry k
 * of the planes of `to` gets the force on body list[k]. */
typedef struct gv_direct_due {
    cl_mem list, head;
    size_t above, most;
    double until;
    gravel_bodies *to;
} gv_direct_due;

/* Kernels and work space for `count` sources; `sinks` may be NULL. */
gravel_status gv_direct_prepare_reading(gravel_direct *d, const gv_direct_reading *how, const gv_selection *sources,
                                        const gv_selection *sinks, size_t count);
/* The sources of a call: the words of the bodies in place where possible, else a copy made by a kernel, which is used
 * again while the bodies do not change.  `sinks` (may be NULL) are taken into d->sinks, `stride` entries a plane; in
 * the same launch where they are of the same bodies.  Bodies of the sources that are held are put: by that launch, or
 * by one of their own before it. */
gravel_status gv_direct_read_bodies(gravel_direct *d, gv_worker *worker, const gv_direct_reading *how,
                                    const gv_selection *sources, const gv_selection *sinks, size_t stride,
                                    gv_held *held, gv_direct_few *few, gv_direct_sources *out);
/* The same for sinks that the device has found, bodies of the sources' set, in a launch of their own. */
gravel_status gv_direct_read_due(gravel_direct *d, gv_worker *worker, const gv_direct_reading *how,
                                 const gv_selection *sources, const gv_selection *sinks, size_t stride,
                                 const gv_direct_due *due, gv_direct_sources *out);
/* Whether so many bytes of sinks fit beside the bodies that are held. */
int gv_direct_is_few(const gravel_direct *d, const gravel_bodies *bodies, const gv_held *held, size_t bytes);
/* Sources of a call that predicts them, as its kernels will read them: `quad` as in gv_direct_sources.  A call like it
 * uses them again. */
gravel_status gv_direct_take_sources(gravel_direct *d, const gravel_direct_call *call, cl_mem quad[4]);
/* Whether these are numbers as the words of such bodies have them. */
int gv_direct_takes(const gravel_direct *d, const gravel_bodies *bodies);
/* gravel_direct_start without a ticket, of sources whose words are what gv_direct_take_sources gave. */
gravel_status gv_direct_start_predicted(gravel_direct *d, const gravel_direct_call *call);
/* The copy of the sources is not to be used again. */
void gv_direct_forget(gravel_direct *d);
void gv_direct_release_taken(gravel_direct *d);

#endif
