/* Particles to text: lines made on all cores. */
#include "sim/particle_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_ref/parallel.h"
#include "sim/decimal.h"
#include "sim/out_file.h"

const char *const gv_particle_column[GV_PARTICLE_COLUMNS] = {"id", "m",  "x",  "y",  "z", "vx",
                                                             "vy", "vz", "ax", "ay", "az"};

void gv_particles_reals(const gv_particles *p, double *column[GV_PARTICLE_COLUMNS - 1])
{
    double *const all[] = {p->m, p->x, p->y, p->z, p->vx, p->vy, p->vz, p->ax, p->ay, p->az};
    memcpy(column, all, sizeof all);
}

int gv_particles_columns(const gv_particles *particles)
{
    return particles->vx == NULL ? 5 : particles->ax == NULL ? 8 : GV_PARTICLE_COLUMNS;
}

enum { LINE = GV_PARTICLE_COLUMNS * (GV_DECIMAL_SIZE + 1) + 2, PIECES = 64, BODIES = 512 };

/* Lines of PIECES times BODIES bodies, each piece with room of its own. */
typedef struct page {
    const gv_particles *p;
    double *column[GV_PARTICLE_COLUMNS - 1];
    int columns;
    size_t first, count;
    char *text; /* [PIECES][BODIES * LINE] */
    size_t length[PIECES];
} page;

static void write_pieces(void *arg, size_t begin, size_t end)
{
    page *w = arg;
    for (size_t k = begin; k < end; k++) {
        char *const start = w->text + k * BODIES * LINE, *at = start;
        for (size_t i = k * BODIES; i < (k + 1) * BODIES && i < w->count; i++) {
            at += snprintf(at, LINE, "%d", (int)w->p->id[w->first + i]);
            for (int c = 0; c < w->columns - 1; c++) {
                *at++ = ' ';
                at = gv_decimal_write(at, w->column[c][w->first + i]);
            }
            *at++ = '\n';
        }
        w->length[k] = (size_t)(at - start);
    }
}

/* What reading takes from comments before the first particle (particle_text.c); N-body units and time 0 go without
 * saying. */
static void write_units_and_time(const gv_particles *p, FILE *stream)
{
    char text[GV_UNITS_TEXT];
    if (!gv_units_are_nbody(&p->units))
        fprintf(stream, "# units %.17g cm %.17g g %.17g cm/s = %s\n", p->units.length_cm, p->units.mass_g,
                p->units.velocity_cm_s, gv_units_text(&p->units, text));
    if (p->time != 0 && !(p->box.side > 0) && !p->expanding) /* there it is the scale factor */
        fprintf(stream, "# time %.17g\n", p->time);
}

gravel_status gv_particles_write_text(const gv_particles *particles, const char *path)
{
    gv_out_file file;
    page w = {.p = particles, .columns = gv_particles_columns(particles)};
    gravel_status status = gv_out_open(&file, path);
    if (status != GRAVEL_OK)
        return status;
    w.text = malloc((size_t)PIECES * BODIES * LINE);
    if (w.text == NULL) {
        gv_out_abort(&file);
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory to write %s", path);
    }
    gv_particles_reals(particles, w.column);
    fputc('#', file.stream);
    for (int c = 0; c < w.columns; c++)
        fprintf(file.stream, " %s", gv_particle_column[c]);
    fputc('\n', file.stream);
    write_units_and_time(particles, file.stream);
    for (; w.first < particles->count && !ferror(file.stream); w.first += PIECES * BODIES) {
        const size_t left = particles->count - w.first;
        w.count = left < PIECES * BODIES ? left : PIECES * BODIES;
        gv_ref_parallel(PIECES, 4e-7 * (double)w.count, write_pieces, &w);
        for (int k = 0; k < PIECES; k++)
            fwrite(w.text + (size_t)k * BODIES * LINE, 1, w.length[k], file.stream);
    }
    free(w.text);
    return gv_out_commit(&file);
}
