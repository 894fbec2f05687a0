/* Shared by the tests of gravel_direct_start: bodies with all planes that a call may read, lists, results. */
#ifndef GV_VIEWS_TEST_H
#define GV_VIEWS_TEST_H

#include "gravel/direct.h"
#include "problem.h"

enum { N = 150, SINKS = 37 };
/* one force kernel for all numbers of sinks, soon compiled */
#define SMALL_SHAPE "threads=1 split=1 sinks_per_item=1 tile=0 unroll=1 lanes=4 rsqrt=0 blocks_per_cu=2"
#define EPS 0.1

/* All planes that a call may read, in units of their own: an origin off the middle, a length that is not 1. */
static inline gravel_bodies *stored(gravel_context *context, const bodies *b, const double *eps, gravel_precision p)
{
    static const gravel_plane plane[] = {GRAVEL_POSITION,     GRAVEL_MASS,     GRAVEL_ID,   GRAVEL_VELOCITY,
                                         GRAVEL_ACCELERATION, GRAVEL_JERK,     GRAVEL_SNAP, GRAVEL_CRACKLE,
                                         GRAVEL_TIME,         GRAVEL_SOFTENING};
    gravel_bodies_options o = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_array from[10];
    gravel_bodies *made;
    const int derivative[10] = {0, -1, -1, 1, 2, 3, 4, 5, -1, -1};
    for (int k = 0; k < 10; k++)
        if (derivative[k] >= 0) {
            double *const *d = b->d[derivative[k]];
            from[k] = GRAVEL_ARRAY_SOA(d[0], d[1], d[2]);
        }
    from[1] = GRAVEL_ARRAY(b->m);
    from[2] = (gravel_array){b->id, NULL, NULL, 1, GRAVEL_I32};
    from[8] = GRAVEL_ARRAY(b->t);
    from[9] = GRAVEL_ARRAY(eps);
    o.precision = p;
    assert_ok(gravel_bodies_create(&made, context, &o));
    assert_ok(gravel_bodies_update(made, NULL, 0, b->n, 10, plane, from));
    return made;
}

static inline double *lengths(size_t n)
{
    double *eps = malloc(n * sizeof *eps);
    assert_non_null(eps);
    for (size_t k = 0; k < n; k++)
        eps[k] = 0.02 + 0.01 * (double)(k % 17);
    return eps;
}

static inline gravel_list *listed(gravel_context *context, const uint32_t *address, size_t n)
{
    gravel_list *list;
    assert_ok(gravel_list_create(&list, context, 0));
    assert_ok(gravel_list_write(list, address, n));
    return list;
}

static inline results collected(gravel_direct *d, const gravel_direct_call *call, size_t sinks, size_t capacity)
{
    results r = results_new(sinks, capacity);
    const gravel_forces f = forces_into(d, &r);
    gravel_ticket *ticket;
    assert_ok(gravel_direct_start(d, call, &ticket));
    assert_ok(gravel_ticket_collect(ticket, &f, &r.overflow));
    gravel_ticket_release(ticket);
    return r;
}

static inline double *plane_of(gravel_bodies *b, gravel_plane plane)
{
    double *x = malloc(3 * N * sizeof *x);
    const gravel_array_out to = {x, x + N, x + 2 * N, 1, GRAVEL_F64};
    assert_non_null(x);
    assert_ok(gravel_bodies_read(b, plane, 0, N, &to));
    return x;
}

#endif
