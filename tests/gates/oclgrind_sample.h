/* The particles that oclgrind_driver.c runs on, the results of device and reference, and whether they agree. */
#ifndef GV_OCLGRIND_SAMPLE_H
#define GV_OCLGRIND_SAMPLE_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "gravel/direct.h"

/* 37 and 70 divide by no group, tile or unroll; 3 sinks leave most of a group idle */
enum { SINKS = 37, SOURCES = 70, CAPACITY = 5, COMPONENTS = 10 };

typedef struct particles {
    double m[SOURCES], radius[SOURCES], time[SOURCES];
    double d[6][3][SOURCES]; /* position and its derivatives */
    int32_t id[SOURCES];
} particles;

typedef struct results {
    double v[COMPONENTS][SINKS]; /* acc, pot, jerk, snap */
    double distance[SINKS], scale[SINKS];
    int32_t nearest[SINKS], ids[SINKS * CAPACITY];
    uint32_t nearest_address[SINKS], count[SINKS], addresses[SINKS * CAPACITY];
} results;

/* Everything big is static: Oclgrind has a small stack. */
static particles bodies;
static results device, reference;

static double uniform(void)
{
    static uint32_t state = 12345;
    state = state * 1664525u + 1013904223u;
    return (state >> 8) / 16777216.0;
}

static void make_bodies(void)
{
    for (int i = 0; i < SOURCES; i++) {
        bodies.m[i] = i % 7 == 3 ? 0 : 1.0 / SOURCES;
        bodies.id[i] = i == 5 ? -1 : i == 11 ? 10 : i * 1000003; /* one matches nothing, two share an id */
        bodies.radius[i] = i % 3 == 0 ? 0 : 0.1 * (i % 10);
        bodies.time[i] = 0.01 * uniform();
        for (int k = 0; k < 6; k++)
            for (int c = 0; c < 3; c++)
                bodies.d[k][c][i] = (uniform() - 0.5) * (k < 3 ? 2 : 0.1);
    }
    for (int c = 0; c < 3; c++) /* coincident, not the same particle */
        bodies.d[0][c][20] = bodies.d[0][c][21];
}

#define VEC(k) GRAVEL_VEC_SOA(bodies.d[k][0], bodies.d[k][1], bodies.d[k][2])

static gravel_sources all_sources(void)
{
    gravel_sources s;
    memset(&s, 0, sizeof s);
    s.count = SOURCES;
    s.mass = bodies.m;
    s.id = bodies.id;
    s.pos = VEC(0);
    s.vel = VEC(1);
    s.acc = VEC(2);
    s.jerk = VEC(3);
    s.snap = VEC(4);
    s.crackle = VEC(5);
    s.time = bodies.time;
    return s;
}

static gravel_status write_sources(gravel_direct *direct)
{
    gravel_sources s = all_sources();
    gravel_status status = gravel_direct_write_sources(direct, 0, &s);
    if (status != GRAVEL_OK)
        return status;
    /* the last three again, by scatter, in another order */
    static const uint32_t address[3] = {SOURCES - 1, SOURCES - 3, SOURCES - 2};
    static particles part;
    memset(&part, 0, sizeof part);
    for (int i = 0; i < 3; i++) {
        part.m[i] = bodies.m[address[i]];
        part.id[i] = bodies.id[address[i]];
        part.time[i] = bodies.time[address[i]];
        for (int k = 0; k < 6; k++)
            for (int c = 0; c < 3; c++)
                part.d[k][c][i] = bodies.d[k][c][address[i]];
    }
    s.count = 3;
    s.mass = part.m;
    s.id = part.id;
    s.time = part.time;
    gravel_vec *vec[6] = {&s.pos, &s.vel, &s.acc, &s.jerk, &s.snap, &s.crackle};
    for (int k = 0; k < 6; k++)
        *vec[k] = GRAVEL_VEC_SOA(part.d[k][0], part.d[k][1], part.d[k][2]);
    return gravel_direct_scatter_sources(direct, address, &s);
}

/* Wrong by more than rounding can explain?  The largest error of a component over its largest value; the close pairs of
 * these few particles cost sp about three digits.  Errors of logic are far larger. */
static int compare(const gravel_direct_options *options, size_t n_sinks, const char *name)
{
    static const double tolerance[3] = {1e-3, 1e-4, 1e-10};
    const int components = options->order == 2 ? 4 : options->order == 4 ? 7 : 10;
    for (int c = 0; c < components; c++) {
        double error = 0, size = 0;
        for (size_t i = 0; i < n_sinks; i++) {
            const double e = fabs(device.v[c][i] - reference.v[c][i]);
            error = e <= error ? error : e; /* a NaN is kept */
            size = fmax(size, fabs(reference.v[c][i]));
        }
        if (!(error <= tolerance[options->precision] * size)) {
            printf("%s: component %d is wrong by %g of %g\n", name, c, error, size);
            return 1;
        }
    }
    for (size_t i = 0; i < n_sinks; i++) {
        if (options->nearest && device.nearest_address[i] != reference.nearest_address[i]) {
            printf("%s: nearest of sink %zu is %u instead of %u\n", name, i, device.nearest_address[i],
                   reference.nearest_address[i]);
            return 1;
        }
        if (options->neighbour_capacity > 0 && device.count[i] != reference.count[i]) {
            printf("%s: sink %zu has %u neighbours instead of %u\n", name, i, device.count[i], reference.count[i]);
            return 1;
        }
    }
    return 0;
}

#endif
