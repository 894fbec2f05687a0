#include "sim/cosmo_spectrum.h"

#include <math.h>
#include <stdlib.h>

#include "sim/cosmo_field.h"
#include "sim/cosmo_run.h"

#define PI 3.14159265358979323846

/* Shares of the three nearest points along one axis; at: in cells. */
static void share(double at, int n, int point[3], double part[3])
{
    const double near = floor(at + 0.5), d = at - near;
    const int first = (int)near - 1;
    part[0] = 0.5 * (0.5 - d) * (0.5 - d);
    part[1] = 0.75 - d * d;
    part[2] = 0.5 * (0.5 + d) * (0.5 + d);
    for (int k = 0; k < 3; k++)
        point[k] = ((first + k) % n + n) % n;
}

/* The density over its mean, of a mesh that is displaced by a part of a cell. */
static void assign(const gv_particles *p, const gv_field_space *s, double displaced, double mass, double *cube)
{
    const double *const x[3] = {p->x, p->y, p->z}, cells = pow(s->n, 3) / mass;
    const size_t n = (size_t)s->n;
    for (size_t i = 0; i < p->count; i++) {
        int at[3][3];
        double part[3][3];
        for (int c = 0; c < 3; c++)
            share(x[c][i] / p->box.side * s->n + displaced, s->n, at[c], part[c]);
        for (int z = 0; z < 3; z++)
            for (int y = 0; y < 3; y++) {
                double *row = cube + ((size_t)at[2][z] * n + (size_t)at[1][y]) * s->row;
                const double by = p->m[i] * cells * part[2][z] * part[1][y];
                for (int k = 0; k < 3; k++)
                    row[at[0][k]] += by * part[0][k];
            }
    }
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

static gravel_status make(gv_spectrum *out, const gv_particles *p, const gv_field_space *s)
{
    double mass = 0, squares = 0, *one = gv_field_new(s), *two = one ? gv_field_new(s) : NULL;
    gravel_status status = two ? GRAVEL_OK : GRAVEL_ERR_MEMORY;
    const double side = p->box.side * p->units.length_cm / (1e3 * GV_CM_PER_KPC);
    for (size_t i = 0; i < p->count; i++) {
        mass += p->m[i];
        squares += p->m[i] * p->m[i];
    }
    out->shot = pow(side, 3) * squares / (mass * mass);
    for (int k = 0; k < 2 && !status; k++) {
        assign(p, s, 0.5 * k, mass, k ? two : one);
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
    gravel_status status = gv_field_space_make(&space, cells > 0 ? cells : gv_cosmo_cells(p->count));
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
