/* Random numbers of the initial conditions: xoshiro256** of Blackman and Vigna, seeded through splitmix64.  Integers
 * and their conversion to double are exact, so a seed means the same numbers on every machine. */
#ifndef GV_IC_RANDOM_H
#define GV_IC_RANDOM_H

#include <stdint.h>

typedef struct gv_random {
    uint64_t s[4];
} gv_random;

void gv_random_seed(gv_random *random, uint64_t seed);
/* Streams that do not overlap: as if 2^128 numbers (long: 2^192) had been drawn. */
void gv_random_jump(gv_random *random);
void gv_random_long_jump(gv_random *random);
uint64_t gv_random_bits(gv_random *random);
double gv_random_unit(gv_random *random);                 /* uniform in (0, 1): (k + 1/2) 2^-52 */
void gv_random_ball(gv_random *random, double v[3]);      /* uniform in the unit ball */
void gv_random_direction(gv_random *random, double v[3]); /* uniform on the unit sphere */
void gv_random_vector(gv_random *random, double length, double *x, double *y, double *z); /* in such a direction */
double gv_random_gauss(gv_random *random); /* mean 0, variance 1; needs log() of the C library */

#endif
