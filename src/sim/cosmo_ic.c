#include "sim/cosmo_ic.h"

#include <math.h>
#include <stdlib.h>

#include "sim/cosmo_field.h"

#define PI 3.14159265358979323846

static const gv_units gadget = GV_UNITS_GADGET;
static const double KPC = 1e3; /* of a Mpc */

/* Mpc/h, sides of boxes whose masses and waves are in the range of double */
#define LEAST_SIDE 1e-20
#define MOST_SIDE 1e20

/* -------------------------------------------------------------------- waves */

/* splitmix64 */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static double unit(uint64_t bits)
{
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

void gv_ic_cosmo_wave(uint64_t seed, const int k[3], int fixed, double wave[2])
{
    /* of k and -k one is drawn, the other is its conjugate */
    const int turned = k[0] < 0 || (k[0] == 0 && (k[1] < 0 || (k[1] == 0 && k[2] < 0)));
    uint64_t state = mix(seed);
    for (int c = 0; c < 3; c++)
        state = mix(state ^ (uint64_t)(int64_t)(turned ? -k[c] : k[c]));
    const double length = fixed ? 1 : sqrt(-log(unit(mix(state)))), phase = 2 * PI * unit(mix(state ^ 1));
    wave[0] = length * cos(phase);
    wave[1] = (turned ? -1 : 1) * length * sin(phase);
}

typedef struct waves {
    const gv_field_space *space;
    const gv_power *power;
    const gv_ic_cosmo_options *o;
    uint64_t seed;
    double growth; /* at the beginning */
    double *density;
} waves;

/* Waves of plane z: those of the density, moved by half a cell, since bodies stand in the middle of cells. */
static void draw_plane(void *user, size_t first, size_t count)
{
    const waves *w = user;
    const gv_field_space *s = w->space;
    const int n = s->n, most = (n - 1) / 2;
    const double unit_k = 2 * PI / w->o->side, volume = pow(w->o->side, 3);
    for (size_t z = first; z < first + count; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x <= most; x++) {
                const int k[3] = {x, gv_field_wave(s, y), gv_field_wave(s, (int)z)};
                double *at = w->density + (z * (size_t)n + (size_t)y) * s->row + 2 * (size_t)x, wave[2];
                const double k2 = (double)k[0] * k[0] + (double)k[1] * k[1] + (double)k[2] * k[2];
                if (k2 == 0 || abs(k[1]) > most || abs(k[2]) > most)
                    continue;
                gv_ic_cosmo_wave(w->seed, k, w->o->fixed, wave);
                const double size =
                    (w->o->paired ? -1 : 1) * w->growth * sqrt(gv_power_at(w->power, unit_k * sqrt(k2)) / volume);
                const double turn = PI * (k[0] + k[1] + k[2]) / n, c = size * cos(turn), sn = size * sin(turn);
                at[0] = wave[0] * c - wave[1] * sn;
                at[1] = wave[0] * sn + wave[1] * c;
            }
}

/* What becomes of the waves F of a density: the displacement i k_c / k^2 F, or d psi_a / dx_b = -k_a k_b / k^2 F. */
typedef struct derivative {
    const gv_field_space *space;
    const double *from;
    double *to;
    int a, b; /* b -1: the displacement along a */
    double scale;
} derivative;

static void derive_plane(void *user, size_t first, size_t count)
{
    const derivative *d = user;
    const gv_field_space *s = d->space;
    const int n = s->n;
    for (size_t z = first; z < first + count; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x <= n / 2; x++) {
                const size_t at = (z * (size_t)n + (size_t)y) * s->row + 2 * (size_t)x;
                const int k[3] = {x, gv_field_wave(s, y), gv_field_wave(s, (int)z)};
                const double k2 = (double)k[0] * k[0] + (double)k[1] * k[1] + (double)k[2] * k[2];
                const double re = d->from[at], im = d->from[at + 1];
                const double by = k2 > 0 ? d->scale * k[d->a] / k2 : 0;
                if (d->b >= 0) {
                    d->to[at] = -by * k[d->b] * re;
                    d->to[at + 1] = -by * k[d->b] * im;
                } else { /* the wave of n / 2 points has no side to lean to */
                    const int none = 2 * abs(k[d->a]) == n;
                    d->to[at] = none ? 0 : -by * im;
                    d->to[at + 1] = none ? 0 : by * re;
                }
            }
}

static gravel_status derive(const gv_field_space *s, const double *from, double *to, int a, int b, double scale)
{
    derivative d = {s, from, to, a, b, scale};
    gv_parallel(s->pool, (size_t)s->n, 1, derive_plane, &d);
    return gv_field_transform(s, to, 1);
}

/* The source of the second order, sum over a < b of psi_a,a psi_b,b - psi_a,b^2, and its waves; three cubes of work.
 * Products of two waves beyond the mesh's shortest are mistaken for others, as is usual. */
static gravel_status second_source(const gv_field_space *s, const double *density, double *source)
{
    double *d[3] = {NULL};
    gravel_status status = GRAVEL_OK;
    for (int k = 0; k < 3 && !status; k++) {
        d[k] = gv_field_new(s);
        status = d[k] ? derive(s, density, d[k], k, k, 1) : GRAVEL_ERR_MEMORY;
    }
    for (size_t i = 0; i < s->count && !status; i++)
        source[i] = d[0][i] * d[1][i] + d[0][i] * d[2][i] + d[1][i] * d[2][i];
    for (int k = 0; k < 3 && !status; k++) {
        status = derive(s, density, d[0], k, (k + 1) % 3, 1);
        for (size_t i = 0; i < s->count && !status; i++)
            source[i] -= d[0][i] * d[0][i];
    }
    for (int k = 0; k < 3; k++)
        free(d[k]);
    return status ? status : gv_field_transform(s, source, 0);
}

/* ------------------------------------------------------------------- bodies */

static gravel_status check(int n, const gv_cosmology *c, const gv_ic_cosmo_options *o)
{
    if (!(o->side >= LEAST_SIDE && o->side <= MOST_SIDE))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the box has the side %g Mpc/h; it must be above 0, %g to %g", o->side,
                       LEAST_SIDE, MOST_SIDE);
    if (!(o->redshift > -1) || !isfinite(o->redshift))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the redshift is %g; it must be above -1", o->redshift);
    if (n < 2)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%d bodies along a side; 2 or more are needed", n);
    return gv_cosmo_check(c, 1 / (1 + o->redshift));
}

/* Bodies in the middle of n^3 cells, at rest; positions in Mpc/h as yet. */
static gravel_status make_lattice(int n, const gv_cosmology *c, const gv_ic_cosmo_options *o, gv_particles *out)
{
    const size_t m = (size_t)n;
    gravel_status status = gv_particles_create(out, m * m * m, 1);
    if (status)
        return status;
    out->units = gadget;
    out->time = 1 / (1 + o->redshift);
    out->box = (gv_box){o->side * KPC, *c};
    const double cell = o->side / n, mass = gv_cosmo_density(c, &gadget) * pow(cell * KPC, 3);
    for (size_t i = 0; i < out->count; i++) {
        out->m[i] = mass;
        out->x[i] = cell * ((double)(i / (m * m)) + 0.5);
        out->y[i] = cell * ((double)(i / m % m) + 0.5);
        out->z[i] = cell * ((double)(i % m) + 0.5);
    }
    return GRAVEL_OK;
}

/* u = sqrt(a) dx/dt of a displacement in kpc/h that grows with a^rate. */
static double velocity_of(const gv_particles *p, double rate)
{
    const double a = p->time;
    return sqrt(a) * rate * gv_cosmo_expansion(&p->box.cosmology, a) * gv_cosmo_hubble(&gadget);
}

/* The displacement of a cube (Mpc/h), and the velocity that belongs to it. */
static void displace(gv_particles *p, const gv_field_space *s, const double *cube, int axis, double rate)
{
    double *const x[3] = {p->x, p->y, p->z}, *const v[3] = {p->vx, p->vy, p->vz};
    const size_t n = (size_t)s->n;
    const double speed = velocity_of(p, rate) * KPC;
    for (size_t i = 0; i < p->count; i++) {
        const double by = cube[(i % n * n + i / n % n) * s->row + i / (n * n)];
        x[axis][i] += by;
        v[axis][i] += speed * by;
    }
}

/* Into kpc/h, and into the box. */
static void wrap(gv_particles *p)
{
    double *const x[3] = {p->x, p->y, p->z};
    const double side = p->box.side;
    for (int c = 0; c < 3; c++)
        for (size_t i = 0; i < p->count; i++) {
            const double at = KPC * x[c][i], in = at - side * floor(at / side);
            x[c][i] = in < side ? in : 0;
        }
}

static gravel_status displace_all(const waves *w, gv_particles *out)
{
    const gv_field_space *s = w->space;
    const double a = out->time, omega = gv_cosmo_matter(&out->box.cosmology, a), k = 2 * PI / w->o->side;
    const double first = gv_cosmo_growth_rate(&out->box.cosmology, a), second = 2 * pow(omega, 6.0 / 11);
    double *cube = gv_field_new(s);
    gravel_status status = cube ? GRAVEL_OK : GRAVEL_ERR_MEMORY;
    for (int c = 0; c < 3 && !status; c++) {
        status = derive(s, w->density, cube, c, -1, 1 / k);
        if (!status)
            displace(out, s, cube, c, first);
    }
    double *source = w->o->order > 1 && !status ? gv_field_new(s) : NULL;
    if (w->o->order > 1 && !status)
        status = source ? second_source(s, w->density, source) : GRAVEL_ERR_MEMORY;
    /* x = q + psi + D2 grad phi2, with D2 = -3/7 D^2 Omega^(-1/143) and the Laplacian of phi2 the source: as a
     * displacement i k / k^2 F it is that of F = 3/7 ... source */
    const double size = 3.0 / 7 * pow(omega, -1.0 / 143) / pow(s->n, 3) / k;
    for (int c = 0; c < 3 && !status && source; c++) {
        status = derive(s, source, cube, c, -1, size);
        if (!status)
            displace(out, s, cube, c, second);
    }
    free(source);
    free(cube);
    return status;
}

gravel_status gv_ic_cosmo(int n, uint64_t seed, const gv_power *power, const gv_ic_cosmo_options *o, gv_particles *out)
{
    gv_field_space space = {0};
    *out = (gv_particles)GV_PARTICLES_INIT;
    gravel_status status = check(n, &power->cosmology, o);
    /* a body is 7 numbers and an id; cubes: density, displacement, and of the second order its source and three more */
    if (!status)
        status = gv_memory_check("initial conditions", n, pow(n, 3) * (60 + 8 * (o->order > 1 ? 6 : 2)));
    if (!status)
        status = gv_field_space_make(&space, n);
    if (!status)
        status = make_lattice(n, &power->cosmology, o, out);
    waves w = {&space, power, o, seed, 0, NULL};
    if (!status) {
        w.growth = gv_cosmo_growth(&power->cosmology, out->time);
        w.density = gv_field_new(&space);
        status = w.density ? GRAVEL_OK : GRAVEL_ERR_MEMORY;
    }
    if (!status) {
        gv_parallel(space.pool, (size_t)n, 1, draw_plane, &w);
        status = displace_all(&w, out);
    }
    free(w.density);
    gv_field_space_free(&space);
    if (status)
        gv_particles_free(out);
    else
        wrap(out);
    return status;
}

gravel_status gv_ic_pancake(int n, const gv_cosmology *c, const gv_ic_cosmo_options *o, gv_particles *out)
{
    *out = (gv_particles)GV_PARTICLES_INIT;
    gravel_status status = check(n, c, o);
    if (!status && !(o->crossing < o->redshift && o->crossing > -1))
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "the pancake crosses at redshift %g and begins at %g: later is needed",
                         o->crossing, o->redshift);
    if (!status)
        status = gv_cosmo_check(c, 1 / (1 + o->crossing));
    if (!status)
        status = make_lattice(n, c, o, out);
    if (status)
        return status;
    /* x = q - D / (D_c k) sin(k q): dx/dq = 0 at q = 0 when D = D_c */
    const double k = 2 * PI / o->side, cross = gv_cosmo_growth(c, 1 / (1 + o->crossing));
    const double size = gv_cosmo_growth(c, out->time) / cross / k;
    const double speed = velocity_of(out, gv_cosmo_growth_rate(c, out->time)) * KPC;
    for (size_t i = 0; i < out->count; i++) {
        const double by = -size * sin(k * (out->x[i] - 0.5 * o->side));
        out->x[i] += by;
        out->vx[i] = speed * by;
    }
    wrap(out);
    return GRAVEL_OK;
}
