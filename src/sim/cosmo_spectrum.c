#include "sim/cosmo_spectrum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cosmo_field.h"
#include "sim/cosmo_run.h"
#include "sim/pieces.h"

#define PI 3.14159265358979323846

static int wrap(int64_t point, int n)
{
    return (int)(point < 0 ? (point % n + n) % n : point < n ? point : point % n);
}

/* Shares of the three nearest points along one axis; at: in cells. */
static void share(double at, int n, int point[3], double part[3])
{
    const double up = at + 0.5;
    int64_t near = (int64_t)up;
    near -= (double)near > up; /* floor, without a call */
    const double d = at - (double)near;
    part[0] = 0.5 * (0.5 - d) * (0.5 - d);
    part[1] = 0.75 - d * d;
    part[2] = 0.5 * (0.5 + d) * (0.5 + d);
    for (int k = 0; k < 3; k++)
        point[k] = wrap(near - 1 + k, n);
}

typedef struct place {
    double x[3], mass; /* in cells; of the mean of a cell */
} place;

/* Bodies by their nearest plane of points: a plane takes from its own and the two beside it in this order, whatever
 * threads there are, and stays in the cache. */
typedef struct planes {
    const gv_particles *p;
    const gv_field_space *space;
    double cells, displaced, per_mass, *cube; /* cells in the unit of length */
    place *body;
    size_t *begin;   /* [n + 1] */
    uint32_t *piece; /* [pieces][n]: bodies of a piece in each plane, then where they begin */
} planes;

static place place_of(const planes *w, size_t i)
{
    const gv_particles *p = w->p;
    return (place){
        {p->x[i] * w->cells + w->displaced, p->y[i] * w->cells + w->displaced, p->z[i] * w->cells + w->displaced},
        w->per_mass * p->m[i]};
}

static size_t plane_of(const planes *w, size_t i)
{
    int at[3];
    double part[3];
    share(w->p->z[i] * w->cells + w->displaced, w->space->n, at, part);
    return (size_t)at[1];
}

static void count_planes(void *user, size_t first, size_t count)
{
    const planes *w = user;
    uint32_t *here = w->piece + first / GV_PIECE * (size_t)w->space->n;
    memset(here, 0, (size_t)w->space->n * sizeof *here);
    for (size_t i = first; i < first + count; i++)
        here[plane_of(w, i)]++;
}

static void move_to_planes(void *user, size_t first, size_t count)
{
    const planes *w = user;
    uint32_t *next = w->piece + first / GV_PIECE * (size_t)w->space->n;
    for (size_t i = first; i < first + count; i++)
        w->body[next[plane_of(w, i)]++] = place_of(w, i);
}

/* Bodies stay in the set's order within a plane. */
static void order(planes *w)
{
    const size_t n = (size_t)w->space->n;
    gv_pieces_each(w->space->pool, w->p->count, count_planes, w);
    w->begin[n] = gv_pieces_begin(w->piece, gv_pieces_of(w->p->count), n, w->begin);
    gv_pieces_each(w->space->pool, w->p->count, move_to_planes, w);
}

/* side: 0 to 2, the body's plane is before, on or after this one */
static void assign_body(const planes *w, const place *body, int side, double *plane)
{
    int at[3][3];
    double part[3][3];
    for (int c = 0; c < 3; c++)
        share(body->x[c], w->space->n, at[c], part[c]);
    const double mass = body->mass * part[2][2 - side];
    for (int j = 0; j < 3; j++) {
        double *row = plane + (size_t)at[1][j] * w->space->row;
        const double by = mass * part[1][j];
        for (int k = 0; k < 3; k++)
            row[at[0][k]] += by * part[0][k];
    }
}

static void assign_planes(void *user, size_t first, size_t count)
{
    const planes *w = user;
    const size_t n = (size_t)w->space->n;
    for (size_t z = first; z < first + count; z++)
        for (int side = 0; side < 3; side++) {
            const size_t from = (z + n + (size_t)side - 1) % n;
            for (size_t k = w->begin[from]; k < w->begin[from + 1]; k++)
                assign_body(w, &w->body[k], side, w->cube + z * n * w->space->row);
        }
}

/* The density over its mean, of a mesh that is displaced by a part of a cell. */
static gravel_status assign(const gv_particles *p, const gv_field_space *s, double displaced, double mass, double *cube)
{
    planes w = {.p = p,
                .space = s,
                .cells = s->n / p->box.side,
                .displaced = displaced,
                .per_mass = pow(s->n, 3) / mass,
                .cube = cube};
    w.body = malloc((p->count + 1) * sizeof *w.body);
    w.begin = malloc(((size_t)s->n + 1) * sizeof *w.begin);
    w.piece = malloc((gv_pieces_of(p->count) + 1) * (size_t)s->n * sizeof *w.piece);
    const gravel_status status = w.body && w.begin && w.piece
                                     ? GRAVEL_OK
                                     : gv_fail(GRAVEL_ERR_MEMORY, "no memory for a spectrum of %zu bodies", p->count);
    if (!status) {
        order(&w);
        gv_parallel(s->pool, (size_t)s->n, 1, assign_planes, &w);
    }
    free(w.body);
    free(w.begin);
    free(w.piece);
    return status;
}

typedef struct shells {
    const gv_field_space *space;
    const double *one, *two;
    double *k, *power, *waves; /* [n] planes of [shells] each */
    size_t count;
    double *window; /* of one axis, by index */
} shells;

static void add_plane(void *user, size_t first, size_t count)
{
    const shells *w = user;
    const gv_field_space *s = w->space;
    const int n = s->n;
    for (size_t z = first; z < first + count; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x <= n / 2; x++) {
                const int kx = x, ky = gv_field_wave(s, y), kz = gv_field_wave(s, (int)z);
                const double length = sqrt((double)kx * kx + (double)ky * ky + (double)kz * kz);
                const size_t shell = (size_t)(length + 0.5), at = (z * (size_t)n + (size_t)y) * s->row + 2 * (size_t)x;
                if (shell < 1 || shell > w->count)
                    continue;
                /* the second mesh sees bodies half a cell further */
                const double turn = PI * (kx + ky + kz) / n, c = cos(turn), sn = sin(turn);
                const double re = 0.5 * (w->one[at] + w->two[at] * c - w->two[at + 1] * sn);
                const double im = 0.5 * (w->one[at + 1] + w->two[at + 1] * c + w->two[at] * sn);
                const double window = w->window[x] * w->window[y] * w->window[z];
                const double twice = x > 0 && 2 * x < n ? 2 : 1; /* the wave -k is not in the half that is kept */
                const size_t to = z * w->count + shell - 1;
                w->k[to] += twice * length;
                w->power[to] += twice * (re * re + im * im) / (window * window);
                w->waves[to] += twice;
            }
}

static void reduce(const shells *w, double unit, double scale, gv_spectrum *out)
{
    for (size_t z = 0; z < (size_t)w->space->n; z++)
        for (size_t i = 0; i < w->count; i++) {
            out->k[i] += w->k[z * w->count + i];
            out->power[i] += w->power[z * w->count + i];
            out->waves[i] += w->waves[z * w->count + i];
        }
    for (size_t i = 0; i < w->count; i++) {
        out->k[i] *= unit / out->waves[i];
        out->power[i] *= scale / out->waves[i];
    }
}

static gravel_status sum_shells(const gv_field_space *s, const double *one, const double *two, double side,
                                gv_spectrum *out)
{
    const size_t n = (size_t)s->n, size = n * out->count;
    double *work = calloc(3 * size + n, sizeof *work);
    if (!work)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a spectrum");
    shells w = {s, one, two, work, work + size, work + 2 * size, out->count, work + 3 * size};
    for (int i = 0; i < s->n; i++) {
        const double x = PI * gv_field_wave(s, i) / s->n;
        w.window[i] = x == 0 ? 1 : pow(sin(x) / x, 3);
    }
    gv_parallel(s->pool, n, 1, add_plane, &w);
    reduce(&w, 2 * PI / side, pow(side, 3) / pow(s->n, 6), out);
    free(work);
    return GRAVEL_OK;
}

static void add_masses(const void *user, size_t first, size_t count, double *sum)
{
    const gv_particles *p = user;
    for (size_t i = first; i < first + count; i++) {
        sum[0] += p->m[i];
        sum[1] += p->m[i] * p->m[i];
    }
}

static gravel_status make(gv_spectrum *out, const gv_particles *p, const gv_field_space *s)
{
    double sum[2];
    gv_pieces_sum(p->count, 2, 0, add_masses, p, sum);
    if (!(sum[0] > 0))
        return gv_fail(GRAVEL_ERR_INPUT, "all bodies have the mass 0; a power spectrum needs Masses or a MassTable");
    double *one = gv_field_new(s), *two = one ? gv_field_new(s) : NULL;
    gravel_status status = two ? GRAVEL_OK : GRAVEL_ERR_MEMORY;
    const double side = p->box.side * p->units.length_cm / (1e3 * GV_CM_PER_KPC);
    out->shot = pow(side, 3) * sum[1] / (sum[0] * sum[0]);
    for (int k = 0; k < 2 && !status; k++) {
        status = assign(p, s, 0.5 * k, sum[0], k ? two : one);
        if (!status)
            status = gv_field_transform(s, k ? two : one, 0);
    }
    if (!status)
        status = sum_shells(s, one, two, side, out);
    free(one);
    free(two);
    return status;
}

gravel_status gv_spectrum_make(gv_spectrum *out, const gv_particles *p, int cells)
{
    gv_field_space space;
    *out = (gv_spectrum){0};
    if (!(p->box.side > 0) || p->count == 0)
        return gv_fail(GRAVEL_ERR_INPUT, "a power spectrum needs bodies in a box with its cosmology");
    gravel_status status = gv_particles_check_box(p, GV_UNWRAPPED);
    if (status)
        return status;
    status = gv_field_space_make(&space, cells > 0 ? cells : gv_cosmo_cells(p->count));
    if (status)
        return status;
    out->cells = space.n;
    out->count = (size_t)space.n / 2;
    out->k = calloc(3 * out->count, sizeof *out->k);
    out->power = out->k + out->count;
    out->waves = out->k + 2 * out->count;
    status = out->k ? make(out, p, &space) : gv_fail(GRAVEL_ERR_MEMORY, "no memory for a spectrum");
    gv_field_space_free(&space);
    if (status)
        gv_spectrum_free(out);
    return status;
}

void gv_spectrum_free(gv_spectrum *s)
{
    free(s->k);
    *s = (gv_spectrum){0};
}
