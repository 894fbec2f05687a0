/* Forces as tree codes ask for them, through the interface of GRAPE-5, in C.
 *
 *     gcc -fopenmp g5_forces.c $(pkg-config --cflags --libs gravel_g5) -lm -o g5_forces
 *     ./g5_forces
 *
 * A tree code walks its tree for a group of bodies, sends what it met as sources, and asks for the forces on the group;
 * threads do so at the same time, each with a device id of its own (the functions with MC).  Here the lists are random
 * parts of a cube of bodies.  Then the short range of a TreePM code: Newton's force between smeared bodies less that
 * between the wider ones that a mesh sees.  Each force is compared with a plain loop; exit status 1 if one is wrong.
 * Without -fopenmp there is one thread.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <gravel/g5.h>

enum { BODIES = 4000, GROUPS = 64, IN_GROUP = 60 };
#define EPS 0.01

static double x[BODIES][3], m[BODIES];

static double uniform(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) / 16777216.0;
}

/* The largest error of the forces on n sinks, relative to the force. */
static double error_of(double (*xi)[3], double (*a)[3], const double *p, int n, double (*xj)[3], const double *mj,
                       int nj)
{
    double most = 0;
    for (int i = 0; i < n; i++) {
        double f[4] = {0, 0, 0, 0};
        for (int j = 0; j < nj; j++) {
            const double d[3] = {xj[j][0] - xi[i][0], xj[j][1] - xi[i][1], xj[j][2] - xi[i][2]};
            const double s = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + EPS * EPS);
            for (int c = 0; c < 3; c++)
                f[c] += mj[j] * d[c] / (s * s * s);
            f[3] += mj[j] / s; /* positive, with the body itself if it is among the sources */
        }
        const double size = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
        for (int c = 0; c < 3; c++)
            most = fmax(most, fabs(a[i][c] - f[c]) / size);
        most = fmax(most, fabs(p[i] - f[3]) / f[3]);
    }
    return most;
}

/* One group of a tree walk: a list of sources, forces on the group. */
static double walk(int group, int device)
{
    static const int longest = BODIES;
    double(*xj)[3] = malloc((size_t)longest * sizeof *xj), *mj = malloc((size_t)longest * sizeof *mj);
    double a[IN_GROUP][3], p[IN_GROUP], error = INFINITY;
    unsigned state = 77u + (unsigned)group;
    int nj = 0;
    for (int j = 0; j < BODIES && xj && mj; j++)
        if (uniform(&state) < 0.1) {
            for (int c = 0; c < 3; c++)
                xj[nj][c] = x[j][c];
            mj[nj++] = m[j];
        }
    if (xj && mj) {
        g5_set_xmjMC(device, 0, nj, xj, mj);
        g5_set_nMC(device, nj);
        if (g5_calculate_force_on_xMC(device, x + group * IN_GROUP, a, p, IN_GROUP) == 0)
            error = error_of(x + group * IN_GROUP, a, p, IN_GROUP, xj, mj, nj);
    }
    free(xj);
    free(mj);
    return error;
}

int main(void)
{
    unsigned state = 1;
    double worst = 0, a[3][3], p[3];
    for (int k = 0; k < BODIES; k++) {
        for (int c = 0; c < 3; c++)
            x[k][c] = uniform(&state);
        m[k] = 1.0 / BODIES;
    }
    if (g5_open() != 0)
        return 1;
    g5_set_range(0, 1, m[0]);
    g5_set_eps_to_all(EPS);
#ifdef _OPENMP
#pragma omp parallel for reduction(max : worst)
#endif
    for (int group = 0; group < GROUPS; group++) {
        int device = 0;
#ifdef _OPENMP
        device = omp_get_thread_num();
#endif
        worst = fmax(worst, walk(group, device));
    }
    printf("%d groups of %d bodies, lists of about %d: largest error %.1e\n", GROUPS, IN_GROUP, BODIES / 10, worst);

    /* bodies of diameter 0.02, those of the mesh 0.2: nothing is left from there on, and Newton's force well within */
    double place[3][3] = {{0.05, 0, 0}, {0.1, 0, 0}, {0.25, 0, 0}}, origin[1][3] = {{0, 0, 0}}, one[1] = {1};
    pg5_gen_s2_force_table(0.02, 0.2);
    g5_set_xmj(0, 1, origin, one);
    g5_set_n(1);
    if (g5_calculate_force_on_x(place, a, p, 3) != 0)
        return 1;
    for (int k = 0; k < 3; k++)
        printf("short range at %.2f: %.4f of Newton's force\n", place[k][0], -a[k][0] * place[k][0] * place[k][0]);
    g5_close();
    return !(worst < 1e-4) || !(-a[0][0] > 0) || a[2][0] != 0;
}
