/* The regular force of a neighbour scheme, as NBODY6++GPU asks for it: libgravel_gpunb.
 *
 * In an Ahmad-Cohen scheme each body has a list of neighbours, whose force changes fast (irregular), and the rest of
 * the cluster, whose force changes slowly (regular).  One call gives the regular force and the new lists; the irregular
 * force of the few neighbours is summed here, by the host.  Together they are the force of all bodies.
 *
 *     cc gpunb_regular.c $(pkg-config --cflags --libs gravel_gpunb) -lm
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gravel/gpunb.h>

enum { N = 2000, LMAX = 200 };

static double m[N], x[N][3], v[N][3], h2[N], dtr[N], acc[N][3], jerk[N][3], pot[N];
static int list[N][LMAX];

static double uniform(void)
{
    return rand() / (RAND_MAX + 1.0);
}

/* Positions of a Plummer sphere, each body on a circle around the centre. */
static void make_bodies(void)
{
    for (int i = 0; i < N; i++) {
        const double r = 1 / sqrt(pow(0.001 + 0.998 * uniform(), -2.0 / 3) - 1), z = 2 * uniform() - 1;
        const double phi = 6.283185307179586 * uniform(), rho = sqrt(1 - z * z),
                     speed = sqrt(r * r / pow(1 + r * r, 1.5));
        const double at[3] = {rho * cos(phi), rho * sin(phi), z};
        for (int c = 0; c < 3; c++)
            x[i][c] = r * at[c];
        v[i][0] = -speed * sin(phi);
        v[i][1] = speed * cos(phi);
        m[i] = 1.0 / N;
        h2[i] = 0.2 * (1 + r * r); /* wider spheres further out */
        dtr[i] = 0.03125;          /* who will come close within a regular step is listed already */
    }
}

/* Adds the acceleration of the listed bodies on body i. */
static void add_irregular(int i)
{
    for (int k = 1; k <= list[i][0]; k++) {
        const int j = list[i][k];
        double d[3], r2 = 0;
        for (int c = 0; c < 3; c++) {
            d[c] = x[j][c] - x[i][c];
            r2 += d[c] * d[c];
        }
        for (int c = 0; c < 3 && j != i; c++) /* the list has the body itself */
            acc[i][c] += m[j] * d[c] / (r2 * sqrt(r2));
    }
}

int main(void)
{
    const int rank = 0, n = N, lmax = LMAX, nbmax = LMAX - 1, by_mass = 0;
    double neighbours = 0, push[3] = {0}, scale = 0, energy = 0;
    int tried = 0, overflow;

    make_bodies();
    gpunb_devinit_(&rank);
    gpunb_open_(&n, &rank);
    gpunb_send_(&n, m, x, v);
    do { /* where a list is too short, its count is negative: again with a smaller sphere */
        gpunb_regf_(&n, h2, dtr, x, v, acc, jerk, pot, &lmax, &nbmax, &list[0][0], &by_mass);
        overflow = 0;
        for (int i = 0; i < N; i++)
            if (list[i][0] < 0) {
                h2[i] *= 0.6;
                overflow++;
            }
        printf("%d of %d lists were too short\n", overflow, N);
    } while (overflow > 0 && ++tried < 20);
    for (int i = 0; i < N; i++) {
        neighbours += list[i][0];
        add_irregular(i);
        for (int c = 0; c < 3; c++) {
            push[c] += m[i] * acc[i][c];
            scale += m[i] * fabs(acc[i][c]);
        }
    }
    gpunb_close_();

    const int first = 1;
    gpupot_(&rank, &first, &n, &n, m, x, pot);
    for (int i = 0; i < N; i++)
        energy -= 0.5 * m[i] * pot[i];
    const double error = (fabs(push[0]) + fabs(push[1]) + fabs(push[2])) / scale;
    printf("%.1f neighbours a body; potential energy %.6f\n", neighbours / N, energy);
    printf("sum of m a: %.1e of its parts\n", error); /* 0 but for rounding: every pair is there from both sides */
    return !(error < 1e-6) || !(energy < 0) || overflow > 0;
}
