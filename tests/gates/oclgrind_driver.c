/* Runs one direct variant with every feature and with configurations from the corners of the space, on few particles:
 * meant to run under Oclgrind, which watches memory and races.  Results are compared with the reference.
 *
 *   oclgrind_driver [--no-fp64] sp2|sp4|...|dp6
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_ref/ref.h"
#include "gravel/direct.h"
#include "oclgrind_sample.h"

/* Vectors run with unroll=1 here: with more the compiler combines comparisons as one-bit values, which Oclgrind 21.10
 * extends to 255, not to 1, and neighbours are missed that PoCL finds to the bit (test_direct_neighbours).  keep=1 runs
 * with unroll=2: of sp2 and sp4 with 4 it makes llvm.assume, which Oclgrind does not know. */
static const char *const configurations[] = {
    NULL,
    "threads=64 split=1 sinks_per_item=1 tile=32 unroll=1 lanes=1 rsqrt=0 blocks_per_cu=1",
    "threads=64 split=2 sinks_per_item=2 tile=32 unroll=2 lanes=1 rsqrt=1 blocks_per_cu=2 keep=1 meet=1",
    "threads=64 split=16 sinks_per_item=1 tile=32 unroll=4 lanes=1 rsqrt=2 blocks_per_cu=1 prefetch=1",
    "threads=32 split=4 sinks_per_item=1 tile=0 unroll=1 lanes=1 rsqrt=1 blocks_per_cu=4",
    "threads=16 split=1 sinks_per_item=2 tile=64 unroll=1 lanes=2 rsqrt=1 blocks_per_cu=2 meet=1",
    "threads=1 split=1 sinks_per_item=1 tile=0 unroll=1 lanes=4 rsqrt=3 blocks_per_cu=3",
    "threads=1 split=1 sinks_per_item=2 tile=0 unroll=1 lanes=8 rsqrt=3 blocks_per_cu=1 meet=1",
};
enum { CONFIGURATIONS = sizeof configurations / sizeof configurations[0] };

static gravel_status run_device(gravel_context *context, const gravel_direct_options *options, size_t n_sinks,
                                double eps)
{
    gravel_direct *direct = NULL;
    gravel_status status = gravel_direct_create(&direct, context, options);
    if (status == GRAVEL_OK)
        status = write_sources(direct);
    if (status == GRAVEL_OK && options->prediction)
        status = gravel_direct_set_time(direct, 0.0625);
    gravel_sinks sinks;
    memset(&sinks, 0, sizeof sinks);
    sinks.count = n_sinks;
    sinks.id = bodies.id;
    sinks.pos = VEC(0);
    sinks.vel = VEC(1);
    sinks.acc = VEC(2);
    sinks.radius = options->neighbour_capacity > 0 ? bodies.radius : NULL;
    if (status == GRAVEL_OK)
        status = gravel_direct_submit(direct, &sinks, eps);
    gravel_forces out;
    memset(&out, 0, sizeof out);
    out.acc = GRAVEL_VEC_OUT_SOA(device.v[0], device.v[1], device.v[2]);
    out.pot = device.v[3];
    if (options->order >= 4)
        out.jerk = GRAVEL_VEC_OUT_SOA(device.v[4], device.v[5], device.v[6]);
    if (options->order >= 6)
        out.snap = GRAVEL_VEC_OUT_SOA(device.v[7], device.v[8], device.v[9]);
    if (options->nearest) {
        out.nearest_id = device.nearest;
        out.nearest_address = device.nearest_address;
        out.nearest_distance = device.distance;
    }
    if (options->neighbour_capacity > 0) {
        out.neighbour_count = device.count;
        out.neighbour_id = device.ids;
        out.neighbour_address = device.addresses;
    }
    if (status == GRAVEL_OK)
        status = gravel_direct_collect(direct, &out, NULL);
    gravel_direct_release(direct);
    return status;
}

static int run_reference(const gravel_direct_options *options, size_t n_sinks, double eps)
{
    static double predicted[3][3][SOURCES];
    double *p[3][3];
    const double *d[6][3];
    for (int k = 0; k < 6; k++)
        for (int c = 0; c < 3; c++)
            d[k][c] = k <= (options->order == 2 ? 2 : options->order == 4 ? 4 : 5) ? bodies.d[k][c] : NULL;
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++) {
            p[k][c] = predicted[k][c];
            memcpy(predicted[k][c], bodies.d[k][c], sizeof predicted[k][c]);
        }
    if (options->prediction && gv_ref_predict(GV_REF_DOUBLE, SOURCES, d, bodies.time, 0.0625, p) != 0)
        return -1;
    const gv_ref_particles sources = {SOURCES, bodies.m, bodies.id, p[0][0], p[0][1], p[0][2],
                                      p[1][0], p[1][1],  p[1][2],   p[2][0], p[2][1], p[2][2]};
    const gv_ref_particles sinks = {n_sinks,        NULL,           bodies.id,      bodies.d[0][0],
                                    bodies.d[0][1], bodies.d[0][2], bodies.d[1][0], bodies.d[1][1],
                                    bodies.d[1][2], bodies.d[2][0], bodies.d[2][1], bodies.d[2][2]};
    gv_ref_forces out;
    memset(&out, 0, sizeof out);
    out.ax = reference.v[0], out.ay = reference.v[1], out.az = reference.v[2], out.pot = reference.v[3];
    out.jx = reference.v[4], out.jy = reference.v[5], out.jz = reference.v[6];
    out.sx = reference.v[7], out.sy = reference.v[8], out.sz = reference.v[9];
    out.nearest_id = reference.nearest;
    out.nearest_address = reference.nearest_address;
    out.nearest_distance = reference.distance;
    out.neighbour_count = reference.count;
    out.neighbour_address = reference.addresses;
    return gv_ref_direct(GV_REF_DOUBLE, options->order, &sinks, &sources, eps, bodies.radius, CAPACITY, &out);
}

static int run_case(gravel_context *context, const gravel_direct_options *options, size_t n_sinks, double eps)
{
    char name[512];
    snprintf(name, sizeof name, "%s%d%s%s%s, %zu sinks, eps %g, %s", gravel_precision_name(options->precision),
             options->order, options->nearest ? " nearest" : "", options->neighbour_capacity > 0 ? " lists" : "",
             options->prediction ? " predicted" : "", n_sinks, eps,
             options->configuration ? options->configuration : "default");
    printf("%s\n", name);
    fflush(stdout);
    const gravel_status status = run_device(context, options, n_sinks, eps);
    if (status == GRAVEL_ERR_LAUNCH && options->configuration != NULL) {
        printf("%s: left out: %s\n", name, gravel_error_message());
        return 0;
    }
    if (status != GRAVEL_OK) {
        printf("%s: %s: %s\n", name, gravel_status_name(status), gravel_error_message());
        return 1;
    }
    if (run_reference(options, n_sinks, eps) != 0) {
        printf("%s: the reference refuses\n", name);
        return 1;
    }
    return compare(options, n_sinks, name);
}

/* ----------------------------------------------------- neighbours left out */

/* The rule with most in it, for vectors and for rows of a group. */
static int run_rule(gravel_context *context, gravel_precision precision, const char *configuration)
{
    static double ahead[SINKS];
    gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    gravel_direct *direct = NULL;
    gravel_ticket *ticket = NULL;
    options.order = 4;
    options.precision = precision;
    options.neighbour_capacity = CAPACITY;
    options.configuration = configuration;
    printf("%s4 neighbours left out, %s\n", gravel_precision_name(precision), configuration);
    fflush(stdout);
    for (int i = 0; i < SINKS; i++)
        ahead[i] = 0.125 * (i % 4);
    const gravel_sinks sinks = {.count = SINKS, .pos = VEC(0), .vel = VEC(1), .radius = bodies.radius};
    const gravel_forces out = {.acc = GRAVEL_VEC_OUT_SOA(device.v[0], device.v[1], device.v[2]),
                               .jerk = GRAVEL_VEC_OUT_SOA(device.v[4], device.v[5], device.v[6]),
                               .pot = device.v[3],
                               .neighbour_count = device.count,
                               .neighbour_address = device.addresses};
    call.points = &sinks;
    call.rule = GRAVEL_NEIGHBOURS_SPHERE_MASS;
    call.ahead = ahead;
    call.leave_out = 1;
    gravel_status status = gravel_direct_create(&direct, context, &options);
    if (status == GRAVEL_OK)
        status = write_sources(direct);
    if (status == GRAVEL_OK)
        status = gravel_direct_start(direct, &call, &ticket);
    if (status == GRAVEL_OK)
        status = gravel_ticket_collect(ticket, &out, NULL);
    gravel_ticket_release(ticket);
    gravel_direct_release(direct);
    if (status != GRAVEL_OK) {
        printf("neighbours left out: %s: %s\n", gravel_status_name(status), gravel_error_message());
        return 1;
    }
    const gv_ref_particles from = {.n = SOURCES,
                                   .m = bodies.m,
                                   .x = bodies.d[0][0],
                                   .y = bodies.d[0][1],
                                   .z = bodies.d[0][2],
                                   .vx = bodies.d[1][0],
                                   .vy = bodies.d[1][1],
                                   .vz = bodies.d[1][2]};
    gv_ref_particles on = from;
    const gv_ref_rule rule = {GV_REF_INSIDE_MASS, ahead, 1};
    const gv_ref_forces want = {.ax = reference.v[0],
                                .ay = reference.v[1],
                                .az = reference.v[2],
                                .pot = reference.v[3],
                                .jx = reference.v[4],
                                .jy = reference.v[5],
                                .jz = reference.v[6],
                                .neighbour_count = reference.count};
    on.n = SINKS;
    return gv_ref_direct_ruled(GV_REF_DOUBLE, 4, &on, &from, 0, bodies.radius, CAPACITY, &rule, &want) != 0 ||
           compare(&options, SINKS, "neighbours left out");
}

/* ------------------------------------------------------- views of bodies */

enum { FIRST = 3, BODIES = SOURCES - FIRST };
static double softening[SOURCES];
static uint32_t listed[SINKS];

static gravel_status write_bodies(gravel_bodies *made)
{
    static const gravel_plane plane[] = {GRAVEL_POSITION, GRAVEL_VELOCITY, GRAVEL_ACCELERATION, GRAVEL_MASS,
                                         GRAVEL_TIME,     GRAVEL_ID,       GRAVEL_SOFTENING};
    gravel_array from[7];
    for (int k = 0; k < 3; k++)
        from[k] = GRAVEL_ARRAY_SOA(bodies.d[k][0], bodies.d[k][1], bodies.d[k][2]);
    for (int k = 0; k < SOURCES; k++)
        softening[k] = 0.01 + 0.001 * k;
    for (uint32_t k = 0; k < SINKS; k++)
        listed[k] = SOURCES - 1 - k;
    from[3] = GRAVEL_ARRAY(bodies.m);
    from[4] = GRAVEL_ARRAY(bodies.time);
    from[5] = (gravel_array){bodies.id, NULL, NULL, 1, GRAVEL_I32};
    from[6] = GRAVEL_ARRAY(softening);
    return gravel_bodies_update(made, NULL, 0, SOURCES, 7, plane, from);
}

/* Predicted, softened by both, from a range on a list, to the host and into planes. */
static gravel_status call_on_bodies(gravel_direct *direct, gravel_bodies *made, gravel_list *list, size_t n_sinks)
{
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    gravel_ticket *ticket = NULL;
    gravel_forces out;
    memset(&out, 0, sizeof out);
    call.sources = gravel_view_range(made, FIRST, BODIES);
    call.sinks = gravel_view_list(made, list);
    call.soften = GRAVEL_SOFTEN_SUM;
    call.predict = 1;
    call.time = 0.0625;
    call.nearest = 1;
    call.into = n_sinks == SINKS ? GRAVEL_INTO_HOST | GRAVEL_INTO_PLANES : GRAVEL_INTO_HOST;
    out.acc = GRAVEL_VEC_OUT_SOA(device.v[0], device.v[1], device.v[2]);
    out.pot = device.v[3];
    out.nearest_id = device.nearest;
    gravel_status status = gravel_list_write(list, listed, n_sinks);
    if (status == GRAVEL_OK)
        status = gravel_direct_start(direct, &call, &ticket);
    if (status == GRAVEL_OK)
        status = gravel_ticket_collect(ticket, &out, NULL);
    gravel_ticket_release(ticket);
    return status;
}

static int reference_on_bodies(void)
{
    static double predicted[3][3][SOURCES], of_sinks[3][SINKS], sink_softening[SINKS];
    static int32_t id[SINKS];
    const double *d[6][3] = {{NULL}};
    double *p[3][3];
    gv_ref_forces out;
    memset(&out, 0, sizeof out);
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++) {
            d[k][c] = bodies.d[k][c];
            p[k][c] = predicted[k][c];
        }
    if (gv_ref_predict(GV_REF_DOUBLE, SOURCES, d, bodies.time, 0.0625, p) != 0)
        return -1;
    for (int i = 0; i < SINKS; i++) {
        for (int c = 0; c < 3; c++)
            of_sinks[c][i] = predicted[0][c][listed[i]];
        sink_softening[i] = softening[listed[i]];
        id[i] = bodies.id[listed[i]];
    }
    const gv_ref_particles sources = {.n = BODIES,
                                      .m = bodies.m + FIRST,
                                      .id = bodies.id + FIRST,
                                      .x = predicted[0][0] + FIRST,
                                      .y = predicted[0][1] + FIRST,
                                      .z = predicted[0][2] + FIRST};
    const gv_ref_particles sinks = {.n = SINKS, .id = id, .x = of_sinks[0], .y = of_sinks[1], .z = of_sinks[2]};
    out.ax = reference.v[0], out.ay = reference.v[1], out.az = reference.v[2], out.pot = reference.v[3];
    return gv_ref_direct_softened(GV_REF_DOUBLE, 2, &sinks, &sources, GV_REF_SOFTEN_SUM, sink_softening,
                                  softening + FIRST, &out);
}

static int run_bodies(gravel_context *context, int order, gravel_precision precision)
{
    gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT, shown = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_bodies_options kept = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_direct *direct = NULL;
    gravel_bodies *made = NULL;
    gravel_list *list = NULL;
    int failed = 0;
    options.order = order;
    options.precision = shown.precision = kept.precision = precision;
    options.configuration = configurations[1];
    gravel_status status = gravel_bodies_create(&made, context, &kept);
    if (status == GRAVEL_OK)
        status = write_bodies(made);
    if (status == GRAVEL_OK)
        status = gravel_list_create(&list, context, 0);
    if (status == GRAVEL_OK)
        status = gravel_direct_create(&direct, context, &options);
    /* the short list first: the long one changes accelerations, which prediction takes */
    for (size_t n = 5; n > 0 && status == GRAVEL_OK && !failed; n = n == 5 ? SINKS : 0) {
        printf("%s%d on bodies, %zu of a list\n", gravel_precision_name(precision), order, n);
        fflush(stdout);
        status = call_on_bodies(direct, made, list, n);
        if (status == GRAVEL_OK)
            failed = reference_on_bodies() != 0 || compare(&shown, n, "bodies");
    }
    if (status != GRAVEL_OK)
        printf("on bodies: %s: %s\n", gravel_status_name(status), gravel_error_message());
    gravel_direct_release(direct);
    gravel_list_release(list);
    gravel_bodies_release(made);
    return failed || status != GRAVEL_OK;
}

/* ----------------------------------------------------- shapes, quadrupoles */

static double falling_force(double u, void *user)
{
    (void)user;
    return erfc(u) + 2 / sqrt(acos(-1.0)) * u * exp(-u * u);
}

static double falling_potential(double u, void *user)
{
    (void)user;
    return erfc(u);
}

static gravel_status collect_shape(gravel_direct *direct, const gravel_direct_call *call)
{
    gravel_ticket *ticket = NULL;
    gravel_forces out;
    memset(&out, 0, sizeof out);
    out.acc = GRAVEL_VEC_OUT_SOA(device.v[0], device.v[1], device.v[2]);
    out.pot = device.v[3];
    gravel_status status = gravel_direct_start(direct, call, &ticket);
    if (status == GRAVEL_OK)
        status = gravel_ticket_collect(ticket, &out, NULL);
    gravel_ticket_release(ticket);
    return status;
}

/* What shape k is asked for: truncated by a table of one length, a table by octaves, quadrupoles. */
static gravel_direct_call shaped_call(int k, const gravel_sinks *sinks)
{
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    call.points = sinks;
    call.eps = 0.05;
    call.r_s = 0.2;
    call.r_cut = 1.2;
    call.level = 3;
    call.shape = k == 0 ? GRAVEL_SHAPE_TRUNCATED : k == 1 ? GRAVEL_SHAPE_TABLE : GRAVEL_SHAPE_PLUMMER;
    call.quadrupoles = k == 2;
    return call;
}

static gravel_status run_shape(gravel_context *context, const gravel_direct_options *options, int k,
                               const double (*q)[6])
{
    const gravel_sources written = {.count = SOURCES, .mass = bodies.m, .id = bodies.id, .pos = VEC(0)};
    const gravel_sinks sinks = {.count = SINKS, .id = bodies.id, .pos = VEC(0)};
    const gravel_direct_call call = shaped_call(k, &sinks);
    gravel_table table = GRAVEL_TABLE_INIT;
    gravel_direct *direct = NULL;
    table.force = falling_force;
    table.potential = falling_potential;
    table.length = 0.4;
    table.cut = 3;
    gravel_status status = gravel_direct_create(&direct, context, options);
    if (status == GRAVEL_OK)
        status = gravel_direct_write_sources(direct, 0, &written);
    if (status == GRAVEL_OK)
        status = gravel_direct_write_quadrupoles(direct, 0, SOURCES, q);
    if (status == GRAVEL_OK)
        status = gravel_direct_set_table(direct, &table);
    if (status == GRAVEL_OK)
        status = collect_shape(direct, &call);
    gravel_direct_release(direct);
    return status;
}

static void reference_of_shape(int k, const double (*q)[6])
{
    const gv_ref_law law = {.kind = GV_REF_LAW_TRUNCATED, .length = 0.4, .cut = 3};
    const gv_ref_particles sources = {
        .n = SOURCES, .m = bodies.m, .id = bodies.id, .x = bodies.d[0][0], .y = bodies.d[0][1], .z = bodies.d[0][2]};
    gv_ref_particles sinks = sources;
    gv_ref_forces out;
    memset(&out, 0, sizeof out);
    sinks.n = SINKS;
    out.ax = reference.v[0], out.ay = reference.v[1], out.az = reference.v[2], out.pot = reference.v[3];
    if (k == 2)
        gv_ref_quadrupoles(&sinks, &sources, q, 0.05, &out);
    else
        gv_ref_by_law(&law, &sinks, &sources, 0.05, &out);
}

/* Each in groups and in lanes. */
static int run_shapes(gravel_context *context, gravel_precision precision)
{
    static double q[SOURCES][6];
    static const int shown[2] = {2, 6};
    int failed = 0;
    for (int j = 0; j < SOURCES; j++)
        for (int c = 0; c < 6; c++)
            q[j][c] = bodies.m[j] * 0.01 * (c == 5 ? -2 : c == 0 || c == 3 ? 1 : 0.3 * c);
    for (int k = 0; k < 6; k++) {
        gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
        options.precision = precision;
        options.configuration = configurations[shown[k % 2]];
        printf("%s2, shape %d, %s\n", gravel_precision_name(precision), k / 2, options.configuration);
        fflush(stdout);
        const gravel_status status = run_shape(context, &options, k / 2, (const double(*)[6])q);
        if (status != GRAVEL_OK)
            printf("shapes: %s: %s\n", gravel_status_name(status), gravel_error_message());
        reference_of_shape(k / 2, (const double(*)[6])q);
        failed += status != GRAVEL_OK || compare(&options, SINKS, "shapes");
    }
    return failed;
}

static int run_variant(gravel_context *context, int order, gravel_precision precision)
{
    int failed = run_bodies(context, order, precision);
    if (order == 2)
        failed += run_shapes(context, precision);
    for (int k = 2; k <= 6 && order == 4; k += 4)
        failed += run_rule(context, precision, configurations[k]);
    /* The compiler takes seconds for the vectors of the default: once a precision and once an order, with searches. */
    for (int k = order == 2 * ((int)precision + 1) ? 0 : 1; k < CONFIGURATIONS; k++) {
        gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
        options.order = order;
        options.precision = precision;
        options.configuration = configurations[k];
        if (k > 0)
            failed += run_case(context, &options, SINKS, 0.01);
        options.nearest = 1;
        options.neighbour_capacity = CAPACITY;
        failed += run_case(context, &options, SINKS, 0);
        if (k > 2)
            continue;
        if (k == 1) {
            failed += run_case(context, &options, 3, 0.01);
            options.prediction = 1;
            options.nearest = 0;
            failed += run_case(context, &options, SINKS, 0.01);
        }
        options.neighbour_capacity = 0;
        options.nearest = 1; /* alone, in both ways: keep */
        failed += run_case(context, &options, SINKS, 0.01);
    }
    return failed;
}

int main(int argc, char **argv)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    if (argc == 3 && strcmp(argv[1], "--no-fp64") == 0)
        options.no_fp64 = 1;
    const char *variant = argc > 1 ? argv[argc - 1] : "";
    int order = strlen(variant) == 3 ? variant[2] - '0' : 0, precision = GRAVEL_SP;
    while (precision <= GRAVEL_DP && strncmp(gravel_precision_name((gravel_precision)precision), variant, 2) != 0)
        precision++;
    if ((order != 2 && order != 4 && order != 6) || precision > GRAVEL_DP) {
        fprintf(stderr, "usage: oclgrind_driver [--no-fp64] sp2|sp4|sp6|ds2|ds4|ds6|dp2|dp4|dp6\n");
        return 2;
    }
    gravel_context *context = NULL;
    if (gravel_context_create(&context, &options) != GRAVEL_OK) {
        printf("no context: %s\n", gravel_error_message());
        return 1;
    }
    printf("device: %s\n", gravel_context_get_device(context, 0)->name);
    make_bodies();
    const int failed = run_variant(context, order, (gravel_precision)precision);
    gravel_context_release(context);
    printf("%d cases failed\n", failed);
    return failed != 0;
}
