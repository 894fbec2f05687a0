/* Shared by the tests of direct summation: bodies, calls, the reference's answer, and how far rounding may lead
 * from it. */
#ifndef GV_PROBLEM_H
#define GV_PROBLEM_H

#include "host_test.h"

#include <math.h>

#include "cpu_ref/ref.h"
#include "host/direct/direct.h"
#include "host/direct/object.h"

/* -------------------------------------------------------------------- bodies */

/* d[k]: the k-th derivative of the position */
typedef struct bodies {
    size_t n;
    double *m, *t, *d[6][3];
    int32_t *id;
    double *block;
} bodies;

static inline double random_unit(uint64_t *state) /* splitmix64, -1 ... 1 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return ldexp((double)(z >> 11), -52) - 1;
}

static inline bodies bodies_empty(size_t n)
{
    bodies b = {.n = n};
    const size_t room = n > 0 ? n : 1;
    b.block = calloc(20 * room, sizeof(double));
    b.id = calloc(room, sizeof *b.id);
    assert_non_null(b.block);
    assert_non_null(b.id);
    b.m = b.block;
    b.t = b.block + room;
    for (size_t k = 0; k < 18; k++)
        b.d[k / 3][k % 3] = b.block + (2 + k) * room;
    return b;
}

/* A cube of side 2 around the origin; masses of about 1/n that differ by a factor of ten, no value exact in float. */
static inline bodies bodies_new(size_t n, uint64_t seed)
{
    bodies b = bodies_empty(n);
    for (size_t i = 0; i < n; i++) {
        b.m[i] = (1.0 + 0.818 * random_unit(&seed)) / (double)n;
        b.t[i] = 0.1 * random_unit(&seed);
        b.id[i] = (int32_t)i;
        for (int k = 0; k < 18; k++)
            b.d[k / 3][k % 3][i] = random_unit(&seed);
    }
    return b;
}

static inline void bodies_free(bodies *b)
{
    free(b->block);
    free(b->id);
    memset(b, 0, sizeof *b);
}

/* bodies first ... first + count - 1 as the reference takes them; times and higher derivatives do not enter forces */
static inline gv_ref_particles view_of(const bodies *b, size_t first, size_t count)
{
    return (gv_ref_particles){.n = count,
                              .m = b->m + first,
                              .id = b->id + first,
                              .x = b->d[0][0] + first,
                              .y = b->d[0][1] + first,
                              .z = b->d[0][2] + first,
                              .vx = b->d[1][0] + first,
                              .vy = b->d[1][1] + first,
                              .vz = b->d[1][2] + first,
                              .ax = b->d[2][0] + first,
                              .ay = b->d[2][1] + first,
                              .az = b->d[2][2] + first};
}

static inline gravel_vec vec_of(const bodies *b, int k, size_t first)
{
    return GRAVEL_VEC_SOA(b->d[k][0] + first, b->d[k][1] + first, b->d[k][2] + first);
}

static inline gravel_sources sources_of(const bodies *b, size_t first, size_t count)
{
    return (gravel_sources){.count = count,
                            .mass = b->m + first,
                            .id = b->id + first,
                            .pos = vec_of(b, 0, first),
                            .vel = vec_of(b, 1, first),
                            .acc = vec_of(b, 2, first),
                            .jerk = vec_of(b, 3, first),
                            .snap = vec_of(b, 4, first),
                            .crackle = vec_of(b, 5, first),
                            .time = b->t + first};
}

static inline gravel_sinks sinks_of(const bodies *b, size_t first, size_t count, const double *radius)
{
    return (gravel_sinks){.count = count,
                          .id = b->id + first,
                          .pos = vec_of(b, 0, first),
                          .vel = vec_of(b, 1, first),
                          .acc = vec_of(b, 2, first),
                          .radius = radius};
}

/* ------------------------------------------------------------------- results */

enum { R_AX, R_AY, R_AZ, R_POT, R_JX, R_JY, R_JZ, R_SX, R_SY, R_SZ, R_COMPONENTS };

typedef struct results {
    size_t n, capacity, overflow;
    double *v[R_COMPONENTS], *distance;
    int32_t *nearest_id, *list_id;
    uint32_t *nearest, *count, *list;
    double *block;
} results;

static inline int components_of(int order)
{
    return order == 2 ? 4 : order == 4 ? 7 : 10;
}

/* Poisoned, so that what is not written is seen. */
static inline results results_new(size_t n, size_t capacity)
{
    results r = {.n = n, .capacity = capacity};
    const size_t room = n > 0 ? n : 1, lists = capacity > 0 ? room * capacity : 1;
    r.block = malloc(11 * room * sizeof *r.block);
    r.nearest_id = malloc(room * sizeof *r.nearest_id);
    r.nearest = malloc(room * sizeof *r.nearest);
    r.count = malloc(room * sizeof *r.count);
    r.list = malloc(lists * sizeof *r.list);
    r.list_id = malloc(lists * sizeof *r.list_id);
    assert_true(r.block && r.nearest_id && r.nearest && r.count && r.list && r.list_id);
    for (size_t k = 0; k < 11 * room; k++)
        r.block[k] = NAN;
    memset(r.nearest_id, 0x77, room * sizeof *r.nearest_id);
    memset(r.nearest, 0x77, room * sizeof *r.nearest);
    memset(r.count, 0x77, room * sizeof *r.count);
    memset(r.list, 0x77, lists * sizeof *r.list);
    memset(r.list_id, 0x77, lists * sizeof *r.list_id);
    for (int c = 0; c < R_COMPONENTS; c++)
        r.v[c] = r.block + (size_t)c * room;
    r.distance = r.block + R_COMPONENTS * room;
    r.overflow = 0x7777;
    return r;
}

static inline void results_free(results *r)
{
    free(r->block);
    free(r->nearest_id);
    free(r->nearest);
    free(r->count);
    free(r->list);
    free(r->list_id);
    memset(r, 0, sizeof *r);
}

/* What the calls of `d` compute. */
static inline gravel_forces forces_into(const gravel_direct *d, const results *r)
{
    gravel_forces f = {.acc = GRAVEL_VEC_OUT_SOA(r->v[R_AX], r->v[R_AY], r->v[R_AZ]),
                       .jerk = GRAVEL_VEC_OUT_SOA(r->v[R_JX], r->v[R_JY], r->v[R_JZ]),
                       .snap = GRAVEL_VEC_OUT_SOA(r->v[R_SX], r->v[R_SY], r->v[R_SZ]),
                       .pot = r->v[R_POT],
                       .nearest_id = r->nearest_id,
                       .nearest_address = r->nearest,
                       .nearest_distance = r->distance,
                       .neighbour_count = r->count,
                       .neighbour_id = r->list_id,
                       .neighbour_address = r->list};
    if (d->options.order < 4)
        f.jerk = (gravel_vec_out){NULL, NULL, NULL, 0};
    if (d->options.order < 6)
        f.snap = (gravel_vec_out){NULL, NULL, NULL, 0};
    if (!d->options.nearest) {
        f.nearest_id = NULL;
        f.nearest_address = NULL;
        f.nearest_distance = NULL;
    }
    if (d->options.neighbour_capacity == 0) {
        f.neighbour_count = f.neighbour_address = NULL;
        f.neighbour_id = NULL;
    }
    return f;
}

/* ------------------------------------------------------------------- objects */

/* A configuration shaped for GPUs: four rows of 16 work-items x 2 = 32 sinks a group, tiles in local memory. */
#define GPU_SHAPE "threads=64 split=4 tile=32 lanes=1 sinks_per_item=2 unroll=2 rsqrt=0 blocks_per_cu=3"

typedef struct direct_want {
    int order;
    gravel_precision precision;
    int nearest, capacity, prediction;
    const char *configuration;
} direct_want;

static inline gravel_direct *direct_new(gravel_context *context, direct_want want)
{
    gravel_direct_options o = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_direct *d;
    o.order = want.order;
    o.precision = want.precision;
    o.nearest = want.nearest;
    o.neighbour_capacity = want.capacity;
    o.prediction = want.prediction;
    o.configuration = want.configuration;
    assert_ok(gravel_direct_create(&d, context, &o));
    return d;
}

static inline void direct_write(gravel_direct *d, const bodies *b, size_t first, size_t count)
{
    const gravel_sources s = sources_of(b, first, count);
    assert_ok(gravel_direct_write_sources(d, first, &s));
}

static inline results direct_run(gravel_direct *d, const gravel_sinks *sinks, double eps, size_t capacity)
{
    results r = results_new(sinks->count, capacity);
    const gravel_forces f = forces_into(d, &r);
    assert_ok(gravel_direct_submit(d, sinks, eps));
    assert_ok(gravel_direct_collect(d, &f, &r.overflow));
    return r;
}

/* where the reference puts forces and nearest neighbours */
static inline gv_ref_forces reference_into(const results *r)
{
    return (gv_ref_forces){.ax = r->v[R_AX],
                           .ay = r->v[R_AY],
                           .az = r->v[R_AZ],
                           .pot = r->v[R_POT],
                           .jx = r->v[R_JX],
                           .jy = r->v[R_JY],
                           .jz = r->v[R_JZ],
                           .sx = r->v[R_SX],
                           .sy = r->v[R_SY],
                           .sz = r->v[R_SZ],
                           .nearest_id = r->nearest_id,
                           .nearest_address = r->nearest,
                           .nearest_distance = r->distance};
}

/* the reference's answer in the same shape */
static inline results reference_run(int order, const gv_ref_particles *sinks, const gv_ref_particles *sources,
                                    double eps, const double *radius, size_t capacity)
{
    results r = results_new(sinks->n, capacity);
    gv_ref_forces out = reference_into(&r);
    out.neighbour_count = radius ? r.count : NULL;
    out.neighbour_address = radius ? r.list : NULL;
    assert_int_equal(gv_ref_direct(GV_REF_LONG_DOUBLE, order, sinks, sources, eps, radius, capacity, &out), 0);
    return r;
}

/* -------------------------------------------------------------- error bounds */

/* half a unit in the last place of 1, for pair terms */
static inline double unit_of(gravel_precision p)
{
    return p == GRAVEL_DP ? ldexp(1, -53) : ldexp(1, -24);
}

static inline double length3(const double *x, const double *y, const double *z, size_t i)
{
    return x && y && z ? sqrt(x[i] * x[i] + y[i] * y[i] + z[i] * z[i]) : 0;
}

static inline double distance3(const double *const a[3], size_t i, const double *const b[3], size_t j)
{
    double sum = 0;
    for (int c = 0; c < 3; c++)
        sum += (b[c][j] - a[c][i]) * (b[c][j] - a[c][i]);
    return sqrt(sum);
}

/* Bounds of the rounding errors of acc, pot, jerk and snap of one sink, summed over its pairs.
 *
 * A pair term is a product of about ten factors, each with an error of u or (1/s, three times) a few u: K u.  Float
 * sums run over 32 sources at most (then they go into wide sums), and a running sum's errors add up like sqrt(32) u;
 * in dp they run over all sources.  Terms are bounded with |d.v| <= |d||v|, since what cancels in d.v leaves its
 * errors behind:
 *   acc m d/s^3    pot m/s    jerk m/s^3 (v + 3 v) = 4 m v/s^3    snap m/s^3 (4 a + 33 v^2/s), a few times over
 * Inputs are rounded before they are subtracted: X = u (|x_i| + |x_j|) in sp, u^2 of them in ds, nothing in dp; V
 * and A of velocity and acceleration in sp and ds.  They enter with the derivatives of the terms:
 *   acc 4 m X/s^3   pot m X/s^2   jerk 15 m v X/s^4 + 4 m V/s^3
 *   snap (4 a + 33 v^2/s) 6 m X/s^4 + m/s^3 (66 v V/s + 4 A) */
enum { PAIR_ROUNDINGS = 32 };
static inline void error_bounds(gravel_precision p, const gv_ref_particles *a, size_t i, const gv_ref_particles *b,
                                double eps, double bound[4])
{
    const double u = unit_of(p), n = (double)b->n;
    const double k = u * (PAIR_ROUNDINGS + sqrt(p == GRAVEL_DP || n < 32 ? n : 32));
    const double *const ax[3] = {a->x, a->y, a->z}, *const bx[3] = {b->x, b->y, b->z};
    const double *const av[3] = {a->vx, a->vy, a->vz}, *const bv[3] = {b->vx, b->vy, b->vz};
    const double *const aa[3] = {a->ax, a->ay, a->az}, *const ba[3] = {b->ax, b->ay, b->az};
    const double ux = p == GRAVEL_SP ? u : p == GRAVEL_DS ? u * u : 0, uv = p == GRAVEL_DP ? 0 : u;
    memset(bound, 0, 4 * sizeof *bound);
    for (size_t j = 0; j < b->n; j++) {
        const double d = distance3(ax, i, bx, j), s = sqrt(d * d + eps * eps), m = fabs(b->m[j]);
        if (a->id[i] == b->id[j] && a->id[i] != -1)
            continue;
        if (s == 0)
            continue;
        const double q = m / (s * s * s), v = distance3(av, i, bv, j), acc = distance3(aa, i, ba, j);
        const double x_err = ux * (length3(a->x, a->y, a->z, i) + length3(b->x, b->y, b->z, j));
        const double v_err = uv * (length3(a->vx, a->vy, a->vz, i) + length3(b->vx, b->vy, b->vz, j));
        const double a_err = uv * (length3(a->ax, a->ay, a->az, i) + length3(b->ax, b->ay, b->az, j));
        const double snap = 4 * acc + 33 * v * v / s;
        bound[0] += q * (k * d + 4 * x_err);
        bound[1] += m / s * (k + x_err / s);
        bound[2] += q * (4 * k * v + 15 * v * x_err / s + 4 * v_err);
        bound[3] += q * (k * snap + 6 * snap * x_err / s + 66 * v * v_err / s + 4 * a_err);
    }
}

static inline int quantity_of(int component)
{
    return component < R_POT ? 0 : component == R_POT ? 1 : component < R_SX ? 2 : 3;
}

/* `what` names the case in messages */
static inline void assert_forces(const results *got, const results *want, int order, gravel_precision p,
                                 const gv_ref_particles *sinks, const gv_ref_particles *sources, double eps,
                                 const char *what)
{
    static const char *const name[R_COMPONENTS] = {"ax", "ay", "az", "pot", "jx", "jy", "jz", "sx", "sy", "sz"};
    for (size_t i = 0; i < sinks->n; i++) {
        double bound[4];
        error_bounds(p, sinks, i, sources, eps, bound);
        for (int c = 0; c < components_of(order); c++) {
            const double error = fabs(got->v[c][i] - want->v[c][i]), allowed = bound[quantity_of(c)];
            if (!(error <= allowed))
                fail_msg(
                    "%s: sink %zu of %zu x %zu sources: %s is %.17g, the reference %.17g: error %.3g, at most %.3g",
                    what, i, sinks->n, sources->n, name[c], got->v[c][i], want->v[c][i], error, allowed);
        }
        for (int c = components_of(order); c < R_COMPONENTS; c++)
            if (!isnan(got->v[c][i]))
                fail_msg("%s: sink %zu: %s was written by order %d", what, i, name[c], order);
    }
}

static inline void assert_same_bits(const results *a, const results *b, int order)
{
    assert_int_equal(a->n, b->n);
    for (int c = 0; c < components_of(order); c++)
        assert_memory_equal(a->v[c], b->v[c], a->n * sizeof(double));
}

/* ------------------------------------------------------- sources on the device */

/* What the device holds, as full vectors */
typedef struct copy {
    double *m, *d[3][3], *block;
    int32_t *id;
} copy;

static inline copy copy_of(gravel_direct *d, size_t first, size_t n)
{
    copy c;
    c.block = malloc(10 * n * sizeof(double));
    c.id = malloc(n * sizeof *c.id);
    assert_true(c.block && c.id);
    for (size_t k = 0; k < 10 * n; k++)
        c.block[k] = NAN;
    c.m = c.block + 9 * n;
    for (size_t k = 0; k < 9; k++)
        c.d[k / 3][k % 3] = c.block + k * n;
    gravel_vec_out out[3];
    for (int k = 0; k < 3; k++)
        out[k] = GRAVEL_VEC_OUT_SOA(c.d[k][0], c.d[k][1], c.d[k][2]);
    assert_ok(gravel_direct_read_sources(d, first, n, c.m, c.id, out[0], out[1], out[2]));
    return c;
}

static inline void copy_free(copy *c)
{
    free(c->block);
    free(c->id);
}

/* Stored values differ from those written by their rounding: two-floats to 2^-48, floats to 2^-24 (masses by two
 * more, from their unit). */
static inline void assert_stored(const copy *c, const bodies *b, size_t first, size_t n, int order, gravel_precision p)
{
    const double u = unit_of(p), ux = p == GRAVEL_DS ? u * u : p == GRAVEL_DP ? 0 : u, uv = p == GRAVEL_DP ? 0 : u;
    for (size_t i = 0; i < n; i++) {
        const size_t at = first + i;
        if (!(fabs(c->m[i] - b->m[at]) <= 3 * u * fabs(b->m[at])) || c->id[i] != b->id[at])
            fail_msg("source %zu: mass %.17g (%.17g), id %d (%d)", at, c->m[i], b->m[at], c->id[i], b->id[at]);
        for (int k = 0; k < 3; k++)
            for (int a = 0; a < 3; a++) {
                const double got = c->d[k][a][i], want = b->d[k][a][at], allowed = (k == 0 ? ux : uv) * fabs(want);
                if (k < order / 2 ? !(fabs(got - want) <= allowed) : !isnan(got))
                    fail_msg("source %zu: derivative %d: %.17g, written %.17g", at, k, got, want);
            }
    }
}

/* Entries of an address list, the later wins; `entry` holds the values as they are scattered, `b` what must
 * result. */
static inline void scatter(gravel_direct *d, bodies *b, const bodies *entry, const uint32_t *address, size_t n)
{
    const gravel_sources s = sources_of(entry, 0, n);
    assert_ok(gravel_direct_scatter_sources(d, address, &s));
    for (size_t k = 0; k < n; k++) {
        b->m[address[k]] = entry->m[k];
        b->t[address[k]] = entry->t[k];
        b->id[address[k]] = entry->id[k];
        for (int c = 0; c < 18; c++)
            b->d[c / 3][c % 3][address[k]] = entry->d[c / 3][c % 3][k];
    }
}

/* ---------------------------------------------------------------- neighbours */

/* What rounding can do to a distance: the positions' own rounding, and about eight units of the distance. */
static inline double distance_slack(gravel_precision p, const gv_ref_particles *a, size_t i, const gv_ref_particles *b,
                                    size_t j, double d)
{
    const double u = unit_of(p), ux = p == GRAVEL_SP ? u : p == GRAVEL_DS ? u * u : 0;
    return 2 * ux * (length3(a->x, a->y, a->z, i) + length3(b->x, b->y, b->z, j)) + 8 * u * d;
}

static inline double pair_distance(const gv_ref_particles *a, size_t i, const gv_ref_particles *b, size_t j)
{
    const double *const ax[3] = {a->x, a->y, a->z}, *const bx[3] = {b->x, b->y, b->z};
    return distance3(ax, i, bx, j);
}

static inline int is_itself(const gv_ref_particles *a, size_t i, const gv_ref_particles *b, size_t j)
{
    return a->id[i] != -1 && a->id[i] == b->id[j];
}

static inline void assert_nearest(const results *got, const results *want, gravel_precision p,
                                  const gv_ref_particles *sinks, const gv_ref_particles *sources, const char *what)
{
    for (size_t i = 0; i < sinks->n; i++) {
        const uint32_t at = got->nearest[i];
        if (want->nearest[i] == GRAVEL_NONE) {
            if (at != GRAVEL_NONE || got->nearest_id[i] != -1 || !isinf(got->distance[i]))
                fail_msg("%s: sink %zu has no neighbour, but %u at %g", what, i, at, got->distance[i]);
            continue;
        }
        if (at >= sources->n || is_itself(sinks, i, sources, at) || got->nearest_id[i] != sources->id[at])
            fail_msg("%s: sink %zu: nearest address %u, id %d", what, i, at, got->nearest_id[i]);
        const double d = pair_distance(sinks, i, sources, at), slack = distance_slack(p, sinks, i, sources, at, d);
        if (d > want->distance[i] + slack || !(fabs(got->distance[i] - want->distance[i]) <= slack))
            fail_msg("%s: sink %zu: nearest %u at %.17g (said %.17g), the reference %u at %.17g", what, i, at, d,
                     got->distance[i], want->nearest[i], want->distance[i]);
    }
}

/* Every surely close source is listed, no surely far one, addresses ascend, and the count is that of the list. */
static inline void assert_lists(const results *got, gravel_precision p, const gv_ref_particles *sinks,
                                const gv_ref_particles *sources, const double *radius, const char *what)
{
    size_t over = 0;
    for (size_t i = 0; i < sinks->n; i++) {
        const uint32_t *list = got->list + i * got->capacity;
        const size_t count = got->count[i], listed = count < got->capacity ? count : got->capacity;
        size_t at = 0, sure = 0, possible = 0;
        over += count > got->capacity;
        for (size_t j = 0; j < sources->n; j++) {
            const double d = pair_distance(sinks, i, sources, j), slack = distance_slack(p, sinks, i, sources, j, d);
            const int self = is_itself(sinks, i, sources, j);
            const int in = at < listed && list[at] == j;
            const int must = !self && d <= radius[i] - slack, may = !self && d <= radius[i] + slack;
            sure += (size_t)must;
            possible += (size_t)may;
            if ((must && !in && at < listed) || (in && !may))
                fail_msg("%s: sink %zu: source %zu at %g is %s the list of radius %g", what, i, j, d,
                         in ? "in" : "missing in", radius[i]);
            if (in && got->list_id[i * got->capacity + at] != sources->id[j])
                fail_msg("%s: sink %zu: id of list entry %zu is %d", what, i, at, got->list_id[i * got->capacity + at]);
            at += (size_t)in;
        }
        if (at != listed || count < sure || count > possible)
            fail_msg("%s: sink %zu: count %zu, %zu of %zu entries ascend, the reference finds %zu to %zu", what, i,
                     count, at, listed, sure, possible);
    }
    if (got->overflow != over)
        fail_msg("%s: overflow says %zu, %zu sinks are above the capacity", what, got->overflow, over);
}

/* --------------------------------------------------------------------- setup */

/* Group setup: one context for all cases in *state; NULL without a device. */
static inline int context_open(void **state)
{
    gravel_context *context = NULL;
    *state = NULL;
    if (no_device())
        return 0;
    if (gravel_context_create(&context, NULL) != GRAVEL_OK) {
        print_message("%s\n", gravel_error_message());
        return -1;
    }
    context->for_once = 1;
    *state = context;
    return 0;
}

static inline int context_close(void **state)
{
    gravel_context_release(*state);
    return 0;
}

#define CONTEXT_OR_SKIP(name)                                                                                          \
    gravel_context *name = *state;                                                                                     \
    if (!name) {                                                                                                       \
        skip();                                                                                                        \
    }

#define CONTEXT_WITH_DP_OR_SKIP(name)                                                                                  \
    CONTEXT_OR_SKIP(name)                                                                                              \
    if (!gravel_context_get_device(name, 0)->has_fp64) {                                                               \
        skip();                                                                                                        \
    }

static inline int has_precision(const gravel_context *context, gravel_precision p)
{
    return p != GRAVEL_DP || gravel_context_get_device(context, 0)->has_fp64;
}

#endif
