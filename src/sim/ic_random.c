#include "sim/ic_random.h"

#include <math.h>

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t rotate(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

void gv_random_seed(gv_random *random, uint64_t seed)
{
    for (int k = 0; k < 4; k++)
        random->s[k] = splitmix(&seed);
}

uint64_t gv_random_bits(gv_random *random)
{
    uint64_t *s = random->s;
    uint64_t result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

/* The state is moved by a polynomial of the transition, its coefficients in `powers` (Blackman and Vigna). */
static void jump(gv_random *random, const uint64_t powers[4])
{
    uint64_t sum[4] = {0, 0, 0, 0};
    for (int word = 0; word < 4; word++)
        for (int bit = 0; bit < 64; bit++) {
            for (int k = 0; k < 4 && powers[word] >> bit & 1; k++)
                sum[k] ^= random->s[k];
            gv_random_bits(random);
        }
    for (int k = 0; k < 4; k++)
        random->s[k] = sum[k];
}

void gv_random_jump(gv_random *random)
{
    static const uint64_t powers[4] = {0x180ec6d33cfd0abau, 0xd5a61266f0c9392cu, 0xa9582618e03fc9aau,
                                       0x39abdc4529b1661cu};
    jump(random, powers);
}

void gv_random_long_jump(gv_random *random)
{
    static const uint64_t powers[4] = {0x76e15d3efefdcbbfu, 0xc5004e441c522fb3u, 0x77710069854ee241u,
                                       0x39109bb02acbe635u};
    jump(random, powers);
}

double gv_random_unit(gv_random *random)
{
    return ((double)(gv_random_bits(random) >> 12) + 0.5) * 0x1p-52;
}

/* Rejection from the cube: products and sums only, no library function whose last bit depends on the machine. */
static double in_ball(gv_random *random, double v[3])
{
    double r2;
    do {
        r2 = 0.0;
        for (int k = 0; k < 3; k++) {
            v[k] = 2.0 * gv_random_unit(random) - 1.0;
            r2 += v[k] * v[k];
        }
    } while (r2 > 1.0);
    return r2;
}

void gv_random_ball(gv_random *random, double v[3])
{
    in_ball(random, v);
}

void gv_random_direction(gv_random *random, double v[3])
{
    double r2;
    do {
        r2 = in_ball(random, v);
    } while (r2 < 1e-8); /* keeps the direction's grain below 1e-12 */
    double scale = 1.0 / sqrt(r2);
    for (int k = 0; k < 3; k++)
        v[k] *= scale;
}

void gv_random_vector(gv_random *random, double length, double *x, double *y, double *z)
{
    double e[3];
    gv_random_direction(random, e);
    *x = length * e[0];
    *y = length * e[1];
    *z = length * e[2];
}

/* Marsaglia's polar method; the second number of the pair is not kept, so that the state is the four words only. */
double gv_random_gauss(gv_random *random)
{
    double u, v, s;
    do {
        u = 2.0 * gv_random_unit(random) - 1.0;
        v = 2.0 * gv_random_unit(random) - 1.0;
        s = u * u + v * v;
    } while (s >= 1.0 || s == 0.0);
    return u * sqrt(-2.0 * log(s) / s);
}
