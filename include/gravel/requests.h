/* gravel: work requests: forces by lists that a code on the host makes.
 *
 * For codes whose tree and walk are on the host.  A request is a bucket of sinks with the list that a walk made for it:
 * cells and runs of bodies.  Any number of threads submit requests; they are collected into batches, which go to the
 * device while the threads go on with their walks, and a call-back tells when a request is done.  Batches too small to
 * be worth the way there are answered by the host, by what was measured.
 *
 *   gravel_requests_create(&requests, context, &options);
 *   gravel_requests_set_sources(requests, &sources);      bodies and cells of this step
 *   ... in any thread, for each bucket:
 *       gravel_request request = GRAVEL_REQUEST_INIT;
 *       request.sinks = bucket;  request.cell = cell;  request.cells = n_cells;  request.run = run;  request.runs = n;
 *       request.acc = GRAVEL_VEC_OUT_SOA(ax, ay, az);  request.done = done;  request.user = bucket_of_mine;
 *       gravel_requests_submit(requests, &request);       lists are copied
 *   gravel_requests_wait(requests);                       all are done
 */
#ifndef GRAVEL_REQUESTS_H
#define GRAVEL_REQUESTS_H

#include "gravel/tasks.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gravel_requests gravel_requests;

/* Who answers. */
typedef enum gravel_requests_by {
    GRAVEL_REQUESTS_AUTO, /* each batch by whoever is expected to be faster; so rounding depends on how batches fell */
    GRAVEL_REQUESTS_DEVICE,
    GRAVEL_REQUESTS_HOST
} gravel_requests_by;

typedef struct gravel_requests_options {
    uint32_t size;              /* of this struct */
    gravel_precision precision; /* on the device; the host computes in double */
    int device;                 /* which device of the context */
    gravel_requests_by by;
    size_t batch;              /* sinks of a batch, at about which it goes out; 0: 16384 */
    int in_flight;             /* batches, filled, under way or free, 2 to 16; 0: 4.  Their memory is pinned. */
    const char *configuration; /* tunables as of gravel_tasks_options */
} gravel_requests_options;
#define GRAVEL_REQUESTS_OPTIONS_INIT                                                                                   \
    {                                                                                                                  \
        sizeof(gravel_requests_options), GRAVEL_SP, 0, GRAVEL_REQUESTS_AUTO, 0, 0, NULL                                \
    }
GRAVEL_API void gravel_requests_options_init(gravel_requests_options *options);
GRAVEL_API gravel_status gravel_requests_create(gravel_requests **requests, gravel_context *context,
                                                const gravel_requests_options *options);
/* Waits for what was submitted. */
GRAVEL_API void gravel_requests_release(gravel_requests *requests);

/* Bodies, which are also the sinks, and cells.  A cell acts with its mass at its centre and its quadrupole; radius,
 * first, count, bodies and leaf of it are not looked at. */
typedef struct gravel_requests_sources {
    uint32_t size; /* of this struct */
    size_t count;
    const double *mass;
    gravel_vec pos;
    size_t cells;
    const gravel_cell *cell;    /* tree.h */
    gravel_softening softening; /* a spline's cells act as Newton's: beyond its support 2.8 eps they are right */
    double eps;
} gravel_requests_sources;
#define GRAVEL_REQUESTS_SOURCES_INIT                                                                                   \
    {                                                                                                                  \
        sizeof(gravel_requests_sources), 0, NULL, {NULL, NULL, NULL, 0}, 0, NULL, GRAVEL_PLUMMER, 0                    \
    }
GRAVEL_API void gravel_requests_sources_init(gravel_requests_sources *sources);
/* Waits for what was submitted, and copies.  No other thread may submit meanwhile. */
GRAVEL_API gravel_status gravel_requests_set_sources(gravel_requests *requests, const gravel_requests_sources *sources);

typedef void (*gravel_request_done)(gravel_status status, void *user);

typedef struct gravel_request {
    uint32_t size;     /* of this struct */
    gravel_leaf sinks; /* bodies first ... first + count - 1 */
    size_t cells;
    const uint32_t *cell; /* numbers of cells */
    size_t runs;
    const gravel_leaf *run; /* runs of bodies; a body does not pull itself */
    /* Where results go, entry k for sink first + k: they are replaced, before `done` is called.  NULL: not wanted. */
    gravel_vec_out acc;
    double *pot;
    /* Called from a thread of the library: short, and without calls on the same gravel_requests.  NULL is allowed. */
    gravel_request_done done;
    void *user;
} gravel_request;
#define GRAVEL_REQUEST_INIT                                                                                            \
    {                                                                                                                  \
        sizeof(gravel_request), {0, 0}, 0, NULL, 0, NULL, {NULL, NULL, NULL, 0}, NULL, NULL, NULL                      \
    }
GRAVEL_API void gravel_request_init(gravel_request *request);

/* From any thread.  Waits only where all batches are under way.  A list that names what is not there is ERR_INPUT; such
 * a request is not taken, and `done` is not called. */
GRAVEL_API gravel_status gravel_requests_submit(gravel_requests *requests, const gravel_request *request);
/* What was submitted goes out now, without waiting for more. */
GRAVEL_API gravel_status gravel_requests_flush(gravel_requests *requests);
/* The same, and waits until all is done; the first failure of a batch since the last call. */
GRAVEL_API gravel_status gravel_requests_wait(gravel_requests *requests);

typedef struct gravel_requests_counts {
    size_t requests, batches;
    size_t by_host;                          /* of these batches */
    double pairs;                            /* of sinks with bodies and cells */
    double host_pairs_per_s, device_latency; /* as measured for the choice; 0: not yet */
    double least_pairs;                      /* a batch of fewer is the host's */
} gravel_requests_counts;
GRAVEL_API gravel_status gravel_requests_get_counts(gravel_requests *requests, gravel_requests_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
