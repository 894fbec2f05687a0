#include "sim/cosmo_analyse.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/files.h"
#include "sim/out_file.h"

/* ----------------------------------------------------------------- writing */

static double mpc(const gv_particles *p)
{
    return p->units.length_cm / (1e3 * GV_CM_PER_KPC);
}

static void put_box(FILE *out, const char *kind, const gv_particles *p)
{
    fprintf(out, "# gravel %s 1\n# a %.12g box %.12g Mpc/h bodies %zu", kind, p->time, p->box.side * mpc(p), p->count);
}

static void put_cosmology(FILE *out, const gv_particles *p)
{
    const gv_cosmology *c = &p->box.cosmology;
    fprintf(out, "\n# h %.9g Omega_m %.9g Omega_L %.9g Omega_b %.9g n_s %.9g sigma_8 %.9g transfer %d\n", c->h,
            c->omega_m, c->omega_l, c->omega_b, c->n_s, c->sigma_8, c->transfer);
}

gravel_status gv_spectrum_write(const gv_spectrum *s, const gv_particles *p, const char *path)
{
    gv_out_file file;
    const gravel_status status = gv_out_open(&file, path);
    if (status)
        return status;
    put_box(file.stream, "spectrum", p);
    fprintf(file.stream, " mesh %d shot %.9g", s->cells, s->shot);
    put_cosmology(file.stream, p);
    fputs("# k[h/Mpc] power[(Mpc/h)^3] measured waves\n", file.stream);
    for (size_t i = 0; i < s->count; i++)
        fprintf(file.stream, "%.9g %.9g %.9g %.0f\n", s->k[i], s->power[i] - s->shot, s->power[i], s->waves[i]);
    return gv_out_commit(&file);
}

/* Bins of an eighth of a decade from the mass of the least group. */
gravel_status gv_mass_function_write(const gv_groups *g, double linking, size_t least, const gv_particles *p,
                                     const char *path)
{
    enum { BINS = 128 };
    const double unit = p->units.mass_g / GV_G_PER_MSUN, step = 0.125 * log(10), volume = pow(p->box.side * mpc(p), 3);
    double total = 0, mass[BINS] = {0};
    size_t count[BINS] = {0};
    gv_out_file file;
    for (size_t i = 0; i < p->count; i++)
        total += p->m[i];
    const double first = (double)least * total / (double)p->count * (1 - 1e-9);
    for (size_t k = 0; k < g->count; k++) {
        const double bin = log(g->group[k].mass / first) / step;
        if (bin >= 0 && bin < BINS) {
            mass[(int)bin] += g->group[k].mass;
            count[(int)bin]++;
        }
    }
    const gravel_status status = gv_out_open(&file, path);
    if (status)
        return status;
    put_box(file.stream, "massfunction", p);
    fprintf(file.stream, " linking %g least %zu groups %zu", linking, least, g->count);
    put_cosmology(file.stream, p);
    fputs("# mass[Msun/h] low high groups dn/dlnM[(h/Mpc)^3]\n", file.stream);
    for (int k = 0; k < BINS; k++)
        if (count[k])
            fprintf(file.stream, "%.9g %.9g %.9g %zu %.9g\n", unit * mass[k] / (double)count[k],
                    unit * first * exp(k * step), unit * first * exp((k + 1) * step), count[k],
                    (double)count[k] / step / volume);
    return gv_out_commit(&file);
}

gravel_status gv_groups_write(const gv_groups *g, const gv_particles *p, const char *path)
{
    gv_out_file file;
    char text[GV_UNITS_TEXT];
    const gravel_status status = gv_out_open(&file, path);
    if (status)
        return status;
    put_box(file.stream, "groups", p);
    put_cosmology(file.stream, p);
    fprintf(file.stream, "# comoving and over h: %s; velocities are peculiar\n# bodies mass x y z vx vy vz\n",
            gv_units_text(&p->units, text));
    for (size_t k = 0; k < g->count; k++) {
        const gv_group *o = &g->group[k];
        const double v = sqrt(p->time);
        fprintf(file.stream, "%zu %.9g %.9g %.9g %.9g %.6g %.6g %.6g\n", o->bodies, o->mass, o->x[0], o->x[1], o->x[2],
                v * o->v[0], v * o->v[1], v * o->v[2]);
    }
    return gv_out_commit(&file);
}

gravel_status gv_cosmo_analyse(const gv_particles *p, const char *folder, unsigned number)
{
    gv_spectrum spectrum;
    gv_groups groups;
    char *first = gv_format("%s/spectrum_%04u.txt", folder, number);
    char *second = gv_format("%s/massfunction_%04u.txt", folder, number);
    gravel_status status = first && second ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    if (!status)
        status = gv_spectrum_make(&spectrum, p, 0);
    if (!status) {
        status = gv_spectrum_write(&spectrum, p, first);
        gv_spectrum_free(&spectrum);
    }
    if (!status)
        status = gv_groups_find(&groups, p, GV_LINKING, GV_LEAST_GROUP);
    if (!status) {
        status = gv_mass_function_write(&groups, GV_LINKING, GV_LEAST_GROUP, p, second);
        gv_groups_free(&groups);
    }
    free(first);
    free(second);
    return status;
}

/* ----------------------------------------------------------------- reading */

static gravel_status add_row(gv_cosmo_table *t, const char *path, const char *text)
{
    double v[5] = {0};
    const int found = sscanf(text, "%lf %lf %lf %lf %lf", &v[0], &v[1], &v[2], &v[3], &v[4]);
    if (found < 4)
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: line '%.40s' has no four numbers", path, text);
    double(*grown)[5] = realloc(t->row, (t->rows + 1) * sizeof *grown);
    if (!grown)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for %s", path);
    t->row = grown;
    memcpy(t->row[t->rows++], v, sizeof v);
    return GRAVEL_OK;
}

static gravel_status read_lines(gv_cosmo_table *t, const char *path, const char *kind, FILE *stream)
{
    char text[512], wanted[64];
    gv_cosmology *c = &t->cosmology;
    int known = 0;
    gravel_status status = GRAVEL_OK;
    snprintf(wanted, sizeof wanted, "# gravel %s 1\n", kind);
    if (!fgets(text, sizeof text, stream) || strcmp(text, wanted) != 0)
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: not a %s of gravel", path, kind);
    while (!status && fgets(text, sizeof text, stream)) {
        if (text[0] != '#') {
            status = add_row(t, path, text);
        } else if (sscanf(text, "# a %lf box %lf Mpc/h bodies %lf", &t->a, &t->side, &t->bodies) == 3) {
            const char *shot = strstr(text, "shot ");
            t->shot = shot ? strtod(shot + 5, NULL) : 0;
            known++;
        } else if (sscanf(text, "# h %lf Omega_m %lf Omega_L %lf Omega_b %lf n_s %lf sigma_8 %lf transfer %d", &c->h,
                          &c->omega_m, &c->omega_l, &c->omega_b, &c->n_s, &c->sigma_8, &c->transfer) == 7) {
            known++;
        }
    }
    if (!status && (known != 2 || !(t->a > 0) || !(t->side > 0)))
        status = gv_fail(GRAVEL_ERR_FORMAT, "%s: its heading does not say what box it is of", path);
    return status;
}

gravel_status gv_cosmo_table_read(gv_cosmo_table *t, const char *path, const char *kind)
{
    *t = (gv_cosmo_table){0};
    FILE *stream = fopen(path, "r");
    if (!stream)
        return gv_fail(GRAVEL_ERR_FILE, "cannot read %s: %s", path, strerror(errno));
    const gravel_status status = read_lines(t, path, kind, stream);
    fclose(stream);
    if (status)
        gv_cosmo_table_free(t);
    return status;
}

void gv_cosmo_table_free(gv_cosmo_table *t)
{
    free(t->row);
    *t = (gv_cosmo_table){0};
}
