/* Lagrangian radii: bodies are dealt out to bins of distance that hold about as many each, and only those bins are
 * sorted in which a radius is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/clock.h"
#include "sim/diagnose.h"
#include "sim/pieces.h"
#include "sim/shells.h"

enum { BINS = 256, SAMPLE = 64 * BINS };

typedef struct radii {
    const gv_particles *p;
    const double *centre;
    double edge[BINS];    /* bin b ends before edge[b]; INFINITY for the last */
    unsigned char *bin;   /* of each body */
    double (*mass)[BINS]; /* of a piece in each bin */
    uint32_t (*count)[BINS];
} radii;

static double distance(const gv_particles *p, const double centre[3], size_t i)
{
    const double dx = p->x[i] - centre[0], dy = p->y[i] - centre[1], dz = p->z[i] - centre[2];
    return sqrt(dx * dx + dy * dy + dz * dz);
}

static void find_bins(void *user, size_t first, size_t count)
{
    const radii *r = user;
    double mass[BINS] = {0.0};
    uint32_t bodies[BINS] = {0};
    for (size_t i = first; i < first + count; i++) {
        const double at = distance(r->p, r->centre, i);
        size_t b = 0;
        for (size_t step = BINS / 2; step; step /= 2)
            b += at >= r->edge[b + step - 1] ? step : 0;
        r->bin[i] = (unsigned char)b;
        mass[b] += r->p->m[i];
        bodies[b]++;
    }
    memcpy(r->mass[first / GV_PIECE], mass, sizeof mass);
    memcpy(r->count[first / GV_PIECE], bodies, sizeof bodies);
}

static gravel_status find_edges(radii *r)
{
    double *sample = malloc(SAMPLE * sizeof *sample);
    if (!sample)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for radii");
    for (size_t k = 0; k < SAMPLE; k++)
        sample[k] = distance(r->p, r->centre, k * (r->p->count / SAMPLE));
    qsort(sample, SAMPLE, sizeof *sample, gv_ascending);
    for (size_t b = 0; b < BINS; b++)
        r->edge[b] = b + 1 < BINS ? sample[(b + 1) * (SAMPLE / BINS)] : INFINITY;
    free(sample);
    return GRAVEL_OK;
}

/* Of the bodies of a set, sorted, the one with which `inside` becomes at least `wanted`; the last one if none does. */
static double walk(const gv_shell *s, size_t n, double inside, double wanted)
{
    size_t at = 0;
    while (at < n && inside < wanted)
        inside += s[at++].m;
    return at > 0 ? s[at - 1].r : 0.0;
}

/* The bodies of a bin in the set's order, sorted. */
static gravel_status sort_bin(const radii *r, size_t bin, size_t bodies, gv_shell **sorted)
{
    gv_shell *s = malloc((bodies + 1) * sizeof *s);
    size_t k = 0;
    *sorted = s;
    if (!s)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for radii");
    for (size_t i = 0; i < r->p->count; i++)
        if (r->bin[i] == bin)
            s[k++] = (gv_shell){distance(r->p, r->centre, i), r->p->m[i]};
    const gravel_status status = gv_shells_sort(s, bodies);
    if (status) {
        free(s);
        *sorted = NULL;
    }
    return status;
}

/* Masses inside the end of each bin, and how many bodies it has. */
static void sum_bins(const radii *r, double inside[BINS], size_t bodies[BINS])
{
    double sum = 0.0;
    for (size_t b = 0; b < BINS; b++) {
        double mass = 0.0;
        bodies[b] = 0;
        for (size_t k = 0; k < gv_pieces_of(r->p->count); k++) {
            mass += r->mass[k][b];
            bodies[b] += r->count[k][b];
        }
        inside[b] = sum += mass;
    }
}

/* What the last share lacks must not be missed by what rounding takes from a sum. */
static const double ENOUGH = 1.0 - 1e-12;

static gravel_status select_radii(radii *r, const double *share, int shares, double *radius)
{
    double inside[BINS];
    size_t bodies[BINS], b = 0, at = BINS;
    gv_shell *sorted = NULL;
    gravel_status status = find_edges(r);
    gv_pool *pool = gv_pieces_pool(r->p->count);
    if (!status)
        gv_pieces_each(pool, r->p->count, find_bins, r);
    gv_pool_release(pool);
    if (!status)
        sum_bins(r, inside, bodies);
    for (int k = 0; k < shares && !status; k++) {
        const double wanted = share[k] * inside[BINS - 1] * ENOUGH;
        while (b + 1 < BINS && inside[b] < wanted)
            b++;
        if (at != b) {
            free(sorted);
            status = sort_bin(r, at = b, bodies[b], &sorted);
        }
        if (!status)
            radius[k] = walk(sorted, bodies[b], b ? inside[b - 1] : 0.0, wanted);
    }
    free(sorted);
    return status;
}

static gravel_status sort_all(const gv_particles *p, const double centre[3], const double *share, int shares,
                              double *radius)
{
    gv_shell *s;
    double total = 0.0;
    const gravel_status status = gv_shells_sorted(p, centre, &s);
    if (status)
        return status;
    for (size_t i = 0; i < p->count; i++)
        total += p->m[i];
    for (int k = 0; k < shares; k++)
        radius[k] = walk(s, p->count, 0.0, share[k] * total * ENOUGH);
    free(s);
    return GRAVEL_OK;
}

gravel_status gv_diagnose_lagrange(const gv_particles *p, const double centre[3], const double *share, int shares,
                                   double *radius)
{
    const size_t pieces = gv_pieces_of(p->count);
    if (p->count < 2 * SAMPLE)
        return sort_all(p, centre, share, shares, radius);
    radii r = {.p = p, .centre = centre};
    r.bin = malloc(p->count);
    r.mass = malloc(pieces * sizeof *r.mass);
    r.count = malloc(pieces * sizeof *r.count);
    const gravel_status status = r.bin && r.mass && r.count
                                     ? select_radii(&r, share, shares, radius)
                                     : gv_fail(GRAVEL_ERR_MEMORY, "no memory for the radii of %zu particles", p->count);
    free(r.bin);
    free(r.mass);
    free(r.count);
    return status;
}
