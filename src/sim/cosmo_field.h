/* Cubes of n^3 numbers in double on the host, their transforms, and what is made of them: displacements of initial
 * conditions, spectra of bodies. */
#ifndef GV_COSMO_FIELD_H
#define GV_COSMO_FIELD_H

#include "host/base/status.h"
#include "host/base/threads.h"

typedef struct gv_field_space {
    int n;
    size_t row, count; /* numbers of a row, of a cube (host/mesh/fft.h) */
    double *twiddles;
    gv_pool *pool;
} gv_field_space;

/* Sides that the FFT cannot take are ERR_ARGUMENT, with those that it can. */
gravel_status gv_field_space_make(gv_field_space *space, int n);
void gv_field_space_free(gv_field_space *space);
/* ERR_MEMORY, with how many would fit, where n^3 bodies (`what`) need more than the machine has free. */
gravel_status gv_memory_check(const char *what, int n, double bytes);
double *gv_field_new(const gv_field_space *space); /* zeros; NULL without memory, with the message set */
gravel_status gv_field_transform(const gv_field_space *space, double *cube, int inverse);

/* The wave number in units of 2 pi / L, -n/2 ... n/2, that index i of y or z stands for. */
static inline int gv_field_wave(const gv_field_space *space, int i)
{
    return i > space->n / 2 ? i - space->n : i;
}

#endif
