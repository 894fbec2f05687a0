/* A star cluster through the interface of GRAPE-6, as codes for Hermite integrators call it.
 *
 *     gcc -std=c11 g6_cluster.c $(pkg-config --cflags --libs gravel_g6) -lm -o g6_cluster
 *     ./g6_cluster [stars]
 *
 * Stars stay with the library, each with its own time and derivatives.  A round takes the block of stars that are due
 * next: the library predicts all others to that time and finds forces and jerks on the block, the program corrects the
 * block, chooses its next steps, and sends it back.  Which devices compute, and more, is set outside the program:
 * doc/dropin.md.  Prints the error of the energy after one time unit; exit status 1 if it is above 1e-6.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gravel/g6.h>

enum { MOST = 16384, ID = 0 };
static const double eps2 = 1.0 / 4096, end = 1, largest_step = 0x1p-4, smallest_step = 0x1p-20, accuracy = 0.01;

static int n = 1024, pipes;
static double mass, x[MOST][3], v[MOST][3], a[MOST][3], j[MOST][3], t[MOST], step[MOST];

/* 0 ... 1, always the same numbers */
static double uniform(void)
{
    static unsigned state = 2026;
    state = state * 1664525u + 1013904223u;
    return ((double)(state >> 8) + 0.5) / 16777216.0;
}

static double dot(const double *p, const double *q)
{
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
}

static void point(double length, double *to)
{
    const double z = 2 * uniform() - 1, phi = 6.283185307179586 * uniform(), s = sqrt(1 - z * z);
    to[0] = length * s * cos(phi);
    to[1] = length * s * sin(phi);
    to[2] = length * z;
}

/* A Plummer sphere in standard units (M = G = 1, E = -1/4): Aarseth, Henon and Wielen 1974. */
static void make_cluster(void)
{
    const double scale = 3 * 3.141592653589793 / 16;
    mass = 1.0 / n;
    for (int k = 0; k < n; k++) {
        const double r = 1 / sqrt(pow(0.999 * uniform(), -2.0 / 3) - 1);
        double q, g;
        do {
            q = uniform();
            g = 0.1 * uniform();
        } while (g > q * q * pow(1 - q * q, 3.5));
        point(r * scale, x[k]);
        point(q * sqrt(2) * pow(1 + r * r, -0.25) / sqrt(scale), v[k]);
    }
}

static double energy(void)
{
    double sum = 0;
    for (int k = 0; k < n; k++) {
        sum += 0.5 * mass * dot(v[k], v[k]);
        for (int i = 0; i < k; i++) {
            const double d[3] = {x[k][0] - x[i][0], x[k][1] - x[i][1], x[k][2] - x[i][2]};
            sum -= mass * mass / sqrt(dot(d, d) + eps2);
        }
    }
    return sum;
}

/* ---------------------------------------------------------------- the library */

static void check(int status)
{
    if (status == 0)
        return;
    fprintf(stderr, "g6_cluster: the library failed, see above\n");
    exit(2);
}

/* Addresses and indices are the numbers of the stars. */
static void send(int k)
{
    double j6[3], a2[3], k18[3] = {0, 0, 0};
    for (int c = 0; c < 3; c++) {
        a2[c] = a[k][c] / 2;
        j6[c] = j[k][c] / 6;
    }
    check(g6_set_j_particle(ID, k, k, t[k], step[k], mass, k18, j6, a2, v[k], x[k]));
}

/* Forces at `now` on stars that are predicted already, as many at a time as there are pipes. */
static void forces(double now, int count, int *index, double (*xi)[3], double (*vi)[3], double (*acc)[3],
                   double (*jerk)[3])
{
    static double pot[MOST], h2[MOST];
    check(g6_set_ti(ID, now));
    for (int i = 0; i < count; i += pipes) {
        const int some = count - i < pipes ? count - i : pipes;
        g6calc_firsthalf(ID, n, some, index + i, xi + i, vi + i, acc + i, jerk + i, pot, eps2, h2);
        check(g6calc_lasthalf(ID, n, some, index + i, xi + i, vi + i, eps2, h2, acc + i, jerk + i, pot));
    }
}

/* -------------------------------------------------------------- the integrator */

/* The largest power of two not above the wanted step by which `now` can be divided, at most twice the last step. */
static double next_step(double wish, double last, double now)
{
    double dt = last < largest_step ? 2 * last : largest_step;
    while (dt > smallest_step && (dt > wish || fmod(now, dt) != 0))
        dt *= 0.5;
    return dt;
}

static void predict(int k, double now, double *xp, double *vp)
{
    const double h = now - t[k];
    for (int c = 0; c < 3; c++) {
        xp[c] = x[k][c] + h * (v[k][c] + h / 2 * (a[k][c] + h / 3 * j[k][c]));
        vp[c] = v[k][c] + h * (a[k][c] + h / 2 * j[k][c]);
    }
}

/* Star k from its own time to `now`, where forces are `acc` and `jerk`: Makino and Aarseth 1992. */
static void correct(int k, double now, const double *acc, const double *jerk)
{
    const double h = now - t[k];
    double a2[3], a3[3];
    for (int c = 0; c < 3; c++) {
        const double before = v[k][c], d = a[k][c] - acc[c];
        /* second and third derivative at the end of the step */
        a3[c] = (12 * d + 6 * h * (j[k][c] + jerk[c])) / (h * h * h);
        a2[c] = (-6 * d - h * (4 * j[k][c] + 2 * jerk[c])) / (h * h) + h * a3[c];
        v[k][c] += 0.5 * h * (a[k][c] + acc[c]) + h * h / 12 * (j[k][c] - jerk[c]);
        x[k][c] += 0.5 * h * (before + v[k][c]) + h * h / 12 * d;
        a[k][c] = acc[c];
        j[k][c] = jerk[c];
    }
    const double aa = sqrt(dot(acc, acc)), jj = dot(jerk, jerk), ss = dot(a2, a2), cc = sqrt(dot(a3, a3));
    t[k] = now;
    step[k] = next_step(sqrt(accuracy * (aa * sqrt(ss) + jj) / (sqrt(jj) * cc + ss)), step[k], now);
}

/* The time of the next block, and its stars. */
static int next_block(int *index, double *now)
{
    int count = 0;
    *now = INFINITY;
    for (int k = 0; k < n; k++)
        *now = fmin(*now, t[k] + step[k]);
    for (int k = 0; k < n; k++)
        if (t[k] + step[k] == *now)
            index[count++] = k;
    return count;
}

static void begin(int *index)
{
    for (int k = 0; k < n; k++) {
        index[k] = k;
        send(k);
    }
    forces(0, n, index, x, v, a, j);
    for (int k = 0; k < n; k++) {
        step[k] = next_step(0.25 * accuracy * sqrt(dot(a[k], a[k]) / dot(j[k], j[k])), largest_step, 0);
        send(k);
    }
}

int main(int argc, char **argv)
{
    static double xi[MOST][3], vi[MOST][3], acc[MOST][3], jerk[MOST][3];
    static int index[MOST];
    double now = 0;
    long rounds = 0, steps = 0;

    if (argc > 1)
        n = atoi(argv[1]);
    if (n < 2 || n > MOST) {
        fprintf(stderr, "g6_cluster: 2 to %d stars\n", MOST);
        return 2;
    }
    make_cluster();
    check(g6_open(ID));
    pipes = g6_npipes();
    begin(index);
    const double before = energy();
    while (now < end) {
        const int count = next_block(index, &now);
        for (int i = 0; i < count; i++)
            predict(index[i], now, xi[i], vi[i]);
        forces(now, count, index, xi, vi, acc, jerk);
        for (int i = 0; i < count; i++) {
            correct(index[i], now, acc[i], jerk[i]);
            send(index[i]);
        }
        rounds++;
        steps += count;
    }
    const double error = fabs(energy() / before - 1);
    g6_close(ID);
    printf("%d stars to t = %g in %ld rounds, %ld steps; energy is off by %.1e\n", n, now, rounds, steps, error);
    return error < 1e-6 ? 0 : 1;
}
