/* The inside of gravel_requests.
 *
 *   requests.c         life, sources
 *   request_queue.c    batches, and the thread that works on them
 *   request_device.c   a batch on the device
 *   request_host.c     a batch on the host
 *
 * Threads that submit copy their lists into the batch that is being filled; one thread of the object's own takes filled
 * ones.  `lock` guards everything that both see; a batch that is not in a queue belongs to whoever took it out. */
#ifndef GV_REQUESTS_H
#define GV_REQUESTS_H

#include <pthread.h>

#include "gravel/requests.h"
#include "host/tasks/tasks.h"

/* A request, without its lists. */
typedef struct gv_asked {
    gravel_leaf sinks;
    gravel_vec_out acc;
    double *pot;
    gravel_request_done done;
    void *user;
} gv_asked;

/* units, entries, begin, cell_begin, cells */
enum { GV_BATCH_ARRAYS = 5 };

/* Lists of many requests, as the kernel reads them; the arrays are parts of one slot. */
typedef struct gv_batch {
    struct gv_batch *next;
    size_t room_requests, room_units, room_entries, room_cells; /* of the arrays */
    size_t requests, units, entries, cells, sinks;
    double pairs;
    gv_asked *asked;
    gv_slots slots, out;
    gv_slot *slot, *result;
    cl_mem in[GV_BATCH_ARRAYS]; /* the parts of the slot on the device */
    gv_tasks_unit *unit;
    uint32_t *begin, *cell_begin; /* requests + 1 of each */
    gravel_leaf *entry;
    uint32_t *cell;
    cl_event done;
    gravel_status status;
    char message[256];
} gv_batch;

typedef struct gv_batches {
    gv_batch *first, *last;
} gv_batches;

struct gravel_requests {
    gv_worker worker;
    gravel_requests_options options;
    gv_limits limits;
    gv_variant variant;
    gv_config config;
    size_t chunk, scalar, words;

    /* sources: for the host in columns x, y, z, mass; cells of GV_REQUEST_CELL numbers */
    size_t count, cells;
    double *body[4], *cell;
    gravel_bodies *bodies;
    gv_buffer cell_buffer;
    gravel_softening softening;
    double eps;
    cl_kernel kernel;

    pthread_mutex_t lock;
    pthread_cond_t work, room, idle;
    pthread_t thread;
    int has_thread, stop;
    gv_batch *batch; /* all of them, in_flight */
    gv_batch *filling;
    gv_batches free, filled;
    size_t under_way; /* filled, or taken by the thread */
    gravel_status status;
    char message[256];
    gravel_requests_counts counts;
};

enum { GV_REQUEST_CELL = 10 }; /* x y z m, xx xy xz yy yz zz */

/* request_queue.c */
void gv_batch_push(gv_batches *queue, gv_batch *b);
void *gv_requests_serve(void *requests);

/* request_device.c */
gravel_status gv_request_kernel(gravel_requests *r);
gravel_status gv_request_send_cells(gravel_requests *r);
/* Room for so much in a batch that is empty. */
gravel_status gv_request_room(gravel_requests *r, gv_batch *b, size_t requests, size_t units, size_t entries,
                              size_t cells);
void gv_request_leave_room(gv_batch *b);
/* The first `requests` of the batch; submitted only. */
gravel_status gv_request_launch(gravel_requests *r, gv_batch *b, size_t requests);
gravel_status gv_request_finish(gravel_requests *r, gv_batch *b);
/* request_host.c: the first `requests` of the batch */
void gv_request_host(gravel_requests *r, gv_batch *b, size_t requests);

#endif
