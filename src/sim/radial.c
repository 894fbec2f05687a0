#include "sim/radial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/clock.h"
#include "sim/shells.h"

static const double PI = 3.14159265358979323846;

/* The shell whose outer edge is the first that is not below r; count: none. */
static int shell_of(const double *edge, int count, double r)
{
    int low = 0, high = count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (edge[middle + 1] < r)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

typedef struct sums {
    size_t n;
    double mass, r, radial, radial2, tangential2, around, around2;
} sums;

static void relative(const gv_particles *p, size_t i, const double centre[3], const double velocity[3], double x[3],
                     double v[3])
{
    const double place[3] = {p->x[i], p->y[i], p->z[i]};
    for (int c = 0; c < 3; c++)
        x[c] = place[c] - centre[c];
    if (!p->vx)
        return;
    const double speed[3] = {p->vx[i], p->vy[i], p->vz[i]};
    for (int c = 0; c < 3; c++)
        v[c] = speed[c] - velocity[c];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double deviation(double sum, double square, size_t n)
{
    const double mean = sum / (double)n;
    return n > 1 ? sqrt(fmax(0.0, (square / (double)n - mean * mean) * (double)n / (double)(n - 1))) : NAN;
}

/* edge[0 ... count] of shells in the sorted radii; returns the count. */
static int log_edges(const gv_shell *sorted, size_t bodies, double *edge)
{
    int count = 0;
    size_t at = GV_RADIAL_LEAST;
    edge[0] = 0.0;
    if (bodies < GV_RADIAL_LEAST)
        return 0;
    const double first = fmax(sorted[at - 1].r, 1e-30), last = sorted[bodies - 1].r;
    const double ratio = fmax(pow(10.0, 1.0 / 12.0), pow(last / first, 1.0 / (GV_RADIAL_MOST - 2)));
    edge[++count] = sorted[at - 1].r;
    while (at + GV_RADIAL_LEAST <= bodies && count < GV_RADIAL_MOST) {
        const size_t before = at;
        while (at < bodies && (at - before < GV_RADIAL_LEAST || sorted[at].r <= edge[count] * ratio))
            at++;
        edge[count + 1] = sorted[at - 1].r;
        count++;
    }
    edge[count] = last; /* what is left belongs to the outermost */
    return count;
}

int gv_radial_shells(const gv_particles *p, const double centre[3], const double velocity[3],
                     gv_shell_means shell[GV_RADIAL_MOST])
{
    double edge[GV_RADIAL_MOST + 1], x[3], v[3] = {0.0, 0.0, 0.0};
    sums sum[GV_RADIAL_MOST + 1] = {{0}};
    gv_shell *sorted;
    if (gv_shells_sorted(p, centre, &sorted))
        return -1;
    const int count = log_edges(sorted, p->count, edge);
    free(sorted);
    for (size_t i = 0; count > 0 && i < p->count; i++) {
        relative(p, i, centre, velocity, x, v);
        const double r = sqrt(dot(x, x)), radial = r > 0.0 ? dot(x, v) / r : 0.0;
        sums *s = &sum[shell_of(edge, count, r)];
        s->n++;
        s->mass += p->m[i];
        s->r += r;
        s->radial += radial;
        s->radial2 += radial * radial;
        s->tangential2 += dot(v, v) - radial * radial;
    }
    int filled = 0; /* bodies at equal radii leave shells empty */
    for (int k = 0; k < count; k++) {
        const sums *s = &sum[k];
        const double volume = 4.0 / 3.0 * PI * (pow(edge[k + 1], 3.0) - pow(edge[k], 3.0));
        if (s->n == 0 || !(volume > 0.0))
            continue;
        const double density = s->mass / volume, n = (double)s->n;
        shell[filled++] = (gv_shell_means){edge[k],
                                           edge[k + 1],
                                           s->r / n,
                                           s->n,
                                           density,
                                           density / sqrt(n),
                                           p->vx ? deviation(s->radial, s->radial2, s->n) : NAN,
                                           p->vx ? sqrt(fmax(0.0, 0.5 * s->tangential2 / n)) : NAN};
    }
    return filled;
}

/* edge[0 ... count] of rings with equal shares of the innermost 95 %, from at most 2e5 of the radii. */
static int ring_edges(const double *radius, size_t bodies, double *edge)
{
    enum { SAMPLE = 200000, MOST_RINGS = 40 };
    const size_t stride = bodies / SAMPLE + 1, n = (bodies + stride - 1) / stride, inner = n - n / 20;
    const int count = inner / GV_RADIAL_LEAST < MOST_RINGS ? (int)(inner / GV_RADIAL_LEAST) : MOST_RINGS;
    double *sorted = malloc((n ? n : 1) * sizeof *sorted);
    if (!sorted)
        return -1;
    for (size_t k = 0; k < n; k++)
        sorted[k] = radius[k * stride];
    qsort(sorted, n, sizeof *sorted, gv_ascending);
    edge[0] = 0.0;
    for (int k = 1; k <= count; k++)
        edge[k] = sorted[(size_t)((double)inner * k / count + 0.5) - 1];
    free(sorted);
    return count;
}

/* Mass of all bodies inside each radius (rising), by their distance from the centre. */
static void masses_inside(const gv_particles *p, const double centre[3], const double *edge, int count, double *inside)
{
    double x[3], v[3];
    memset(inside, 0, (size_t)(count + 1) * sizeof *inside);
    for (size_t i = 0; i < p->count; i++) {
        relative(p, i, centre, centre, x, v);
        inside[shell_of(edge, count, sqrt(dot(x, x)))] += p->m[i];
    }
    for (int k = 1; k < count; k++)
        inside[k] += inside[k - 1];
}

/* Sums of one body's motion around the axis. */
static void add_to_ring(sums *s, double radius, const double x[3], const double v[3], const double axis[3])
{
    const double away = (dot(x, v) - dot(x, axis) * dot(v, axis)) / radius;
    const double cross[3] = {axis[1] * x[2] - axis[2] * x[1], axis[2] * x[0] - axis[0] * x[2],
                             axis[0] * x[1] - axis[1] * x[0]};
    const double around = dot(cross, v) / radius;
    s->n++;
    s->r += radius;
    s->radial += away;
    s->radial2 += away * away;
    s->around += around;
    s->around2 += around * around;
}

static int fill_rings(const gv_particles *p, const gv_particles *all, const double centre[3], const double velocity[3],
                      const double axis[3], double *radius, gv_ring_means ring[GV_RADIAL_MOST])
{
    double edge[GV_RADIAL_MOST + 1], inside[GV_RADIAL_MOST + 1], x[3], v[3];
    sums sum[GV_RADIAL_MOST + 1] = {{0}};
    int filled = 0;
    for (size_t i = 0; i < p->count; i++) {
        relative(p, i, centre, velocity, x, v);
        radius[i] = sqrt(fmax(0.0, dot(x, x) - dot(x, axis) * dot(x, axis)));
    }
    const int count = ring_edges(radius, p->count, edge);
    for (size_t i = 0; count > 0 && i < p->count; i++) {
        const int k = shell_of(edge, count, radius[i]);
        relative(p, i, centre, velocity, x, v);
        if (k < count && radius[i] > 0.0)
            add_to_ring(&sum[k], radius[i], x, v, axis);
    }
    if (count > 0)
        masses_inside(all, centre, edge, count, inside);
    for (int k = 0; k < count; k++) {
        const sums *s = &sum[k];
        const double n = (double)s->n;
        if (s->n < 2)
            continue;
        ring[filled++] = (gv_ring_means){.radius = s->r / n,
                                         .bodies = s->n,
                                         .rotation = s->around / n,
                                         .rotation_error = deviation(s->around, s->around2, s->n) / sqrt(n),
                                         .sigma_radial = deviation(s->radial, s->radial2, s->n),
                                         .circular = sqrt(gv_units_gravity(&all->units) * inside[k] / edge[k + 1])};
    }
    return count < 0 ? -1 : filled;
}

int gv_radial_rings(const gv_particles *p, const gv_particles *all, const double centre[3], const double velocity[3],
                    const double axis[3], gv_ring_means ring[GV_RADIAL_MOST])
{
    double *radius = malloc((p->count ? p->count : 1) * sizeof *radius);
    const int filled = radius ? fill_rings(p, all, centre, velocity, axis, radius, ring) : -1;
    free(radius);
    return filled;
}

void gv_radial_spin(const gv_particles *p, const double centre[3], const double velocity[3], double axis[3])
{
    double sum[3] = {0.0, 0.0, 0.0}, x[3], v[3] = {0.0, 0.0, 0.0};
    for (size_t i = 0; i < p->count; i++) {
        relative(p, i, centre, velocity, x, v);
        for (int c = 0; c < 3; c++)
            sum[c] += p->m[i] * (x[(c + 1) % 3] * v[(c + 2) % 3] - x[(c + 2) % 3] * v[(c + 1) % 3]);
    }
    const double length = sqrt(dot(sum, sum));
    for (int c = 0; c < 3; c++)
        axis[c] = length > 0.0 ? sum[c] / length : c == 2;
}
