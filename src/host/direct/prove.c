/* The self-test of a configuration: the known problem by a gravel_direct of its own, through all that a call uses. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/direct/call.h"
#include "host/profile/known.h"

/* Some bodies have more neighbours than the capacity within the radius, some fewer, by each rule. */
enum { N = GV_KNOWN_BODIES, CAPACITY = 4, EVEN_INTERVALS = 8192 };
#define RADIUS 0.3
#define EPS 1e-2
/* Where the truncated shape and tables end hardly anything is left of the force. */
#define R_S 0.1
#define R_CUT 0.9
#define TABLE_CUT 4.0

typedef struct trial {
    gv_known known;
    double radius[N], ahead[N], zero[N], points_eps[N];
    unsigned char near[N][N]; /* of a sink: its neighbours */
    double value[10][N];
    uint32_t nearest[N], count[N], list[N][CAPACITY];
} trial;

/* -------------------------------------------------------------- what is right */

static int has_table(unsigned features)
{
    return (features & (GV_DIRECT_FACTORS | GV_DIRECT_FORCES)) != 0;
}

static int table_level(unsigned features)
{
    return (int)(features >> GV_DIRECT_LEVEL_AT & 7);
}

static int table_bits(unsigned features)
{
    return (int)(features >> GV_DIRECT_BITS_AT & 31);
}

/* Relative to the sum of what all pairs contribute.  Float: pairs carry eight roundings of 2^-24 at most in their roots
 * (space.c), three times that in their cubes, some more in derivatives that cancel: 2e-5 is ten times that.  The same
 * for double, with its roundings: 3e-14.  Polynomials of degree n are off by some power n + 1 of the length of an
 * interval, relative to that over which the function changes: at most 1.5 times that power has come out. */
static double allowed(const gv_variant *variant)
{
    const double rounding = variant->precision == GRAVEL_DP ? 3e-14 : 2e-5;
    const int bits = table_bits(variant->features);
    const double interval = bits ? ldexp(1, -bits) : TABLE_CUT / EVEN_INTERVALS;
    return has_table(variant->features) ? fmax(rounding, 10 * pow(interval, table_level(variant->features) + 1))
                                        : rounding;
}

static double factor_of_force(double u, void *unused)
{
    double factor[2];
    (void)unused;
    gv_known_truncate(u, factor);
    return factor[0];
}

static double factor_of_potential(double u, void *unused)
{
    (void)unused;
    return erfc(u);
}

static double force(double s, void *unused)
{
    (void)unused;
    return exp(-s);
}

static void truncated_to(double s, double cut, double factor[2])
{
    const double u = s / (2 * R_S);
    factor[0] = factor[1] = 0;
    if (u < cut)
        gv_known_truncate(u, factor);
}

static void law_of_truncated(double s, double eps, double factor[2])
{
    (void)eps;
    truncated_to(s, R_CUT / (2 * R_S), factor);
}

static void law_of_factors(double s, double eps, double factor[2])
{
    (void)eps;
    truncated_to(s, TABLE_CUT, factor);
}

static void law_of_forces(double s, double eps, double factor[2])
{
    (void)eps;
    factor[0] = s < TABLE_CUT ? force(s, NULL) * s * s * s : 0;
    factor[1] = s < TABLE_CUT ? force(s, NULL) * s : 0;
}

static gv_known_law *law_of(unsigned features)
{
    return features & (GV_DIRECT_EXACT | GV_DIRECT_RATIONAL) ? law_of_truncated
           : features & GV_DIRECT_FACTORS                    ? law_of_factors
           : features & GV_DIRECT_FORCES                     ? law_of_forces
                                                             : NULL;
}

/* Which bodies are near is no matter of rounding: positions are floats, and no squares of distances are as near to each
 * other, nor to a radius, as they are rounded (tests/profile/test_proof.c). */
static int is_near(const trial *t, unsigned features, int i, int j)
{
    const gv_known *k = &t->known;
    double now = 0, then = 0, radius2 = t->radius[i] * t->radius[i];
    for (int c = 0; c < 3; c++) {
        const double d = k->pos[c][j] - k->pos[c][i], moved = d + t->ahead[i] * (k->vel[c][j] - k->vel[c][i]);
        now += d * d;
        then += moved * moved;
    }
    const double r2 = features & GV_DIRECT_AHEAD ? fmin(now, then) : now;
    if (features & GV_DIRECT_SPHERE_MASS)
        radius2 *= k->mass[j];
    return features & (GV_DIRECT_SPHERE | GV_DIRECT_SPHERE_MASS) ? r2 < radius2 : j != i && r2 <= radius2;
}

/* Softened by eps, by nothing, or by the bodies' own lengths, with neighbours or without, and so on: another program
 * each. */
static void make_trial(trial *t, unsigned features)
{
    const unsigned by[2] = {GV_DIRECT_BY_SINKS, GV_DIRECT_BY_SOURCES};
    gv_known *k = &t->known;
    memset(t, 0, sizeof *t);
    gv_known_make(k, features & (GV_DIRECT_UNSOFTENED | GV_DIRECT_BY_SINKS) ? 0 : EPS);
    k->law = law_of(features);
    k->larger = (features & GV_DIRECT_LARGER) != 0;
    for (int i = 0; i < N; i++) {
        for (int b = 0; b < 2; b++)
            k->softening[b][i] = features & by[b] ? EPS * (1 + (i + 3 * b) % 7) : 0;
        t->points_eps[i] = k->softening[0][i];
        if (features & GV_DIRECT_SOURCES_ALONE)
            k->softening[0][i] = 0;
        t->radius[i] = features & GV_DIRECT_SPHERE_MASS ? RADIUS * sqrt(N) : RADIUS; /* the mean mass is 1.5 / N */
        t->ahead[i] = 0.05 * (1 + i % 3);
        for (int c = 0; c < 6 && features & GV_DIRECT_QUADRUPOLES; c++)
            k->quadrupole[i][c] = 1e-3 * k->mass[i] * (1 + (i + c) % 5) * (c == 3 ? -1 : 1);
    }
    for (int i = 0; i < N && features & GV_DIRECT_LISTS; i++)
        for (int j = 0; j < N; j++)
            t->near[i][j] = (unsigned char)is_near(t, features, i, j);
    if (features & GV_DIRECT_LEAVE_OUT)
        memcpy(k->left_out, t->near, sizeof t->near);
}

static int neighbours_are_right(const trial *t, const gravel_forces *f)
{
    for (int i = 0; i < N; i++) {
        double least = INFINITY;
        uint32_t nearest = GRAVEL_NONE, count = 0;
        for (uint32_t j = 0; j < N; j++) {
            const double r2 = gv_known_distance2(&t->known, i, (int)j);
            if ((int)j != i && r2 < least) {
                least = r2;
                nearest = j;
            }
            if (!t->near[i][j])
                continue;
            if (f->neighbour_count && count < CAPACITY && t->list[i][count] != j)
                return 0;
            count++;
        }
        if ((f->nearest_address && t->nearest[i] != nearest) || (f->neighbour_count && t->count[i] != count))
            return 0;
    }
    return 1;
}

/* ------------------------------------------------------------- what comes out */

static void collect_into(trial *t, const gv_variant *variant, gravel_forces *forces)
{
    double(*const v)[N] = t->value;
    *forces = (gravel_forces){.acc = {v[0], v[1], v[2], 1}, .pot = v[3]};
    if (variant->order >= 4)
        forces->jerk = (gravel_vec_out){v[4], v[5], v[6], 1};
    if (variant->order >= 6)
        forces->snap = (gravel_vec_out){v[7], v[8], v[9], 1};
    if (variant->features & GV_DIRECT_NEAREST)
        forces->nearest_address = t->nearest;
    if (variant->features & GV_DIRECT_LISTS) {
        forces->neighbour_count = t->count;
        forces->neighbour_address = t->list[0];
    }
}

static gravel_status make_bodies(gravel_context *context, int device, const trial *t, const gv_variant *variant,
                                 gravel_bodies **bodies)
{
    const gv_known *k = &t->known;
    const struct {
        gravel_plane plane;
        int order; /* from which on it is there */
        gravel_array value;
    } written[] = {{GRAVEL_MASS, 2, GRAVEL_ARRAY(k->mass)},
                   {GRAVEL_POSITION, 2, GRAVEL_ARRAY_SOA(k->pos[0], k->pos[1], k->pos[2])},
                   {GRAVEL_VELOCITY, 4, GRAVEL_ARRAY_SOA(k->vel[0], k->vel[1], k->vel[2])},
                   {GRAVEL_ACCELERATION, 6, GRAVEL_ARRAY_SOA(k->acc[0], k->acc[1], k->acc[2])},
                   {GRAVEL_ID, 2, {k->id, NULL, NULL, 1, GRAVEL_I32}},
                   {GRAVEL_TIME, 2, GRAVEL_ARRAY(t->zero)},
                   {GRAVEL_SOFTENING, 2, GRAVEL_ARRAY(k->softening[1])}};
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    options.precision = variant->precision;
    options.device = device;
    gravel_status status = gravel_bodies_create(bodies, context, &options);
    for (size_t w = 0; w < sizeof written / sizeof *written && !status; w++)
        if (variant->order >= written[w].order)
            status = gravel_bodies_write(*bodies, written[w].plane, 0, N, &written[w].value);
    return status;
}

/* What of a shape belongs to the object. */
static gravel_status write_shape(gravel_direct *direct, const trial *t, unsigned features)
{
    gravel_table table = GRAVEL_TABLE_INIT;
    const int bits = table_bits(features);
    if (features & GV_DIRECT_QUADRUPOLES)
        return gravel_direct_write_quadrupoles(direct, 0, N, t->known.quadrupole);
    if (!has_table(features))
        return GRAVEL_OK;
    table.kind = features & GV_DIRECT_FORCES ? GRAVEL_TABLE_FORCES : GRAVEL_TABLE_FACTORS;
    table.force = features & GV_DIRECT_FORCES ? force : factor_of_force;
    table.potential = features & GV_DIRECT_FORCES ? force : factor_of_potential;
    table.length = 2 * R_S;
    table.cut = TABLE_CUT;
    table.level = table_level(features);
    table.even = bits == 0;
    table.intervals = bits ? 1 << bits : EVEN_INTERVALS;
    return gravel_direct_set_table(direct, &table);
}

static gravel_soften rule_of(unsigned features)
{
    return features & GV_DIRECT_SOURCES_ALONE ? GRAVEL_SOFTEN_SOURCES
           : features & GV_DIRECT_LARGER      ? GRAVEL_SOFTEN_MAX
           : features & GV_DIRECT_BY_SOURCES  ? GRAVEL_SOFTEN_SUM
           : features & GV_DIRECT_BY_SINKS    ? GRAVEL_SOFTEN_SINKS
                                              : GRAVEL_SOFTEN_EPS;
}

/* Sinks are points beside the bodies: the neighbours of each within a radius of its own. */
static gravel_status compute(gravel_direct *direct, gravel_bodies *bodies, trial *t, const gv_variant *variant,
                             gravel_forces *forces)
{
    const gv_known *k = &t->known;
    const unsigned features = variant->features;
    const gravel_vec vel = {k->vel[0], k->vel[1], k->vel[2], 1}, acc = {k->acc[0], k->acc[1], k->acc[2], 1};
    const gravel_vec none = {NULL, NULL, NULL, 0};
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    const gravel_sinks sinks = {.count = N,
                                .id = k->id,
                                .pos = {k->pos[0], k->pos[1], k->pos[2], 1},
                                .vel = variant->order >= 4 ? vel : none,
                                .acc = variant->order >= 6 ? acc : none,
                                .radius = features & GV_DIRECT_LISTS ? t->radius : NULL};

    collect_into(t, variant, forces);
    call.sources = gravel_view_all(bodies);
    call.points = &sinks;
    call.eps = k->eps;
    call.soften = rule_of(features);
    call.points_eps = t->points_eps;
    call.rule = features & GV_DIRECT_SPHERE_MASS ? GRAVEL_NEIGHBOURS_SPHERE_MASS
                : features & GV_DIRECT_SPHERE    ? GRAVEL_NEIGHBOURS_SPHERE
                                                 : GRAVEL_NEIGHBOURS_OTHERS;
    call.ahead = features & GV_DIRECT_AHEAD ? t->ahead : NULL;
    call.leave_out = (features & GV_DIRECT_LEAVE_OUT) != 0;
    call.shape = has_table(features)                                 ? GRAVEL_SHAPE_TABLE
                 : features & (GV_DIRECT_EXACT | GV_DIRECT_RATIONAL) ? GRAVEL_SHAPE_TRUNCATED
                                                                     : GRAVEL_SHAPE_PLUMMER;
    call.r_s = R_S;
    call.r_cut = R_CUT;
    call.level = features & GV_DIRECT_RATIONAL ? GRAVEL_LEVEL_RATIONAL : GRAVEL_LEVEL_EXACT;
    call.quadrupoles = (features & GV_DIRECT_QUADRUPOLES) != 0;
    gravel_ticket *ticket = NULL;
    gravel_status status = gravel_direct_start(direct, &call, &ticket);
    if (!status)
        status = gravel_ticket_collect(ticket, forces, NULL);
    gravel_ticket_release(ticket);
    return status;
}

static gravel_status make_buffer(const gravel_direct *direct, const void *from, size_t size, cl_mem *made)
{
    cl_int code;
    *made = clCreateBuffer(direct->worker.context->cl, CL_MEM_READ_ONLY, size, NULL, &code);
    if (!code)
        code = clEnqueueWriteBuffer(gv_worker_queue((gv_worker *)&direct->worker), *made, CL_TRUE, 0, size, from, 0,
                                    NULL, NULL);
    return code ? gv_fail_cl(code, "sending sinks for the self-test") : GRAVEL_OK;
}

static gravel_status read_planes(gravel_bodies *from, const gv_variant *variant, const gravel_forces *forces)
{
    const struct {
        gravel_plane plane;
        int order;
        gravel_array_out value;
    } read[] = {{GRAVEL_POTENTIAL, 2, GRAVEL_ARRAY_OUT(forces->pot)},
                {GRAVEL_ACCELERATION, 2, GRAVEL_ARRAY_OUT_SOA(forces->acc.x, forces->acc.y, forces->acc.z)},
                {GRAVEL_JERK, 4, GRAVEL_ARRAY_OUT_SOA(forces->jerk.x, forces->jerk.y, forces->jerk.z)},
                {GRAVEL_SNAP, 6, GRAVEL_ARRAY_OUT_SOA(forces->snap.x, forces->snap.y, forces->snap.z)}};
    gravel_status status = GRAVEL_OK;
    for (size_t r = 0; r < sizeof read / sizeof *read && !status; r++)
        if (variant->order >= read[r].order)
            status = gravel_bodies_read(from, read[r].plane, 0, N, &read[r].value);
    return status;
}

/* Sinks that the device has found: all bodies, whose time is that of the call. */
static gravel_status compute_due(gravel_direct *direct, gravel_bodies *bodies, gravel_bodies *to, trial *t,
                                 const gv_variant *variant, gravel_forces *forces)
{
    const gv_direct_alike kind = gv_direct_find_alike(N);
    gv_direct_due due = {.above = kind.above, .most = kind.most, .until = 1, .to = to};
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    cl_uint address[GV_MOST_ALIKE], word[8] = {0}; /* the time, 0, is zero bits in either precision */

    for (cl_uint i = 0; i < GV_MOST_ALIKE; i++)
        address[i] = i % N;
    word[GV_DUE_COUNT] = N;
    collect_into(t, variant, forces);
    call.sources = call.sinks = gravel_view_all(bodies);
    call.eps = t->known.eps;
    call.predict = 1;
    call.into = GRAVEL_INTO_PLANES;
    gravel_status status = make_buffer(direct, address, sizeof address, &due.list);
    if (!status)
        status = make_buffer(direct, word, sizeof word, &due.head);
    if (!status)
        status = gv_direct_start_for(direct, &call, kind.chosen_for, &due);
    if (!status)
        status = read_planes(to, variant, forces);
    if (due.list)
        clReleaseMemObject(due.list);
    if (due.head)
        clReleaseMemObject(due.head);
    return status;
}

/* -------------------------------------------------------------------- proofs */

const char *gv_direct_program_name(unsigned features)
{
    static const struct {
        unsigned some;
        const char *name;
    } named[] = {{GV_DIRECT_SPHERE | GV_DIRECT_SPHERE_MASS | GV_DIRECT_AHEAD | GV_DIRECT_LEAVE_OUT,
                  " with a rule of neighbours"},
                 {GV_DIRECT_QUADRUPOLES, " with quadrupoles"},
                 {GV_DIRECT_EXACT | GV_DIRECT_RATIONAL, " with the truncated shape"},
                 {GV_DIRECT_FACTORS | GV_DIRECT_FORCES, " with a table"},
                 {GV_DIRECT_DUE, " of sinks that the device finds"},
                 {GV_DIRECT_SOURCES_ALONE, " softened by sources alone"},
                 {GV_DIRECT_LARGER, " softened by the larger length"},
                 {GV_DIRECT_BY_SOURCES, " softened by sources"},
                 {GV_DIRECT_BY_SINKS, " softened by sinks"},
                 {GV_DIRECT_UNSOFTENED, " without eps"}};
    for (size_t k = 0; k < sizeof named / sizeof *named; k++)
        if (features & named[k].some)
            return named[k].name;
    return "";
}

gravel_status gv_direct_prove(gravel_context *context, int device, const gv_variant *variant, const char *configuration,
                              double *error, double *most)
{
    gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
    trial *t = malloc(sizeof *t);
    gravel_direct *direct = NULL;
    gravel_bodies *bodies = NULL, *to = NULL;
    gravel_forces forces;
    gravel_status status;
    const int due = (variant->features & GV_DIRECT_DUE) != 0;

    options.order = variant->order;
    options.precision = variant->precision;
    options.nearest = (variant->features & GV_DIRECT_NEAREST) != 0;
    options.neighbour_capacity = variant->features & GV_DIRECT_LISTS ? CAPACITY : 0;
    options.device = device;
    options.configuration = configuration;
    status = t ? gravel_direct_create(&direct, context, &options)
               : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for the self-test of %s", variant->name);
    if (!status) {
        make_trial(t, variant->features);
        status = make_bodies(context, device, t, variant, &bodies);
    }
    if (!status)
        status = write_shape(direct, t, variant->features);
    if (!status && due)
        status = make_bodies(context, device, t, variant, &to);
    if (!status)
        status =
            due ? compute_due(direct, bodies, to, t, variant, &forces) : compute(direct, bodies, t, variant, &forces);
    if (!status)
        *error = neighbours_are_right(t, &forces) ? gv_known_error(&t->known, &forces, N) : INFINITY;
    *most = allowed(variant);
    gravel_direct_release(direct);
    gravel_bodies_release(to);
    gravel_bodies_release(bodies);
    free(t);
    return status;
}
