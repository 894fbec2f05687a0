/* A star cluster with a 6th-order Hermite integrator on the interface of MI6: libgravel_6th.
 *
 * Each step: all bodies are sent with their derivatives, the library predicts them and is asked for what it predicts,
 * and the forces at the predicted places (acceleration, jerk, snap) correct positions and velocities.  The fifth
 * derivative of the position, which the next prediction takes, comes from both ends of the step.
 *
 *     cc 6th_hermite.c $(pkg-config --cflags --libs gravel_6th) -lm
 *
 * From C++ the same calls take references: pick_up_predictor_2(i, id, mass, eps2, x, v, a).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gravel/6th.h>

enum { N = 128, STEPS = 64 };
static const double STEP = 1.0 / 256, EPS2 = 1e-3;

/* position and its derivatives up to the fifth, at the beginning of the step */
static double m[N], d[6][N][3];
/* predicted, and the forces there */
static double x[N][3], v[N][3], a[N][3], acc[N][3], jerk[N][3], snap[N][3], crackle[N][3], phi[N], eps2[N], r2[N];
static int id[N], nearest[N];

static double uniform(void)
{
    return rand() / (RAND_MAX + 1.0);
}

/* A Plummer sphere at rest but for half of what keeps it in balance. */
static void make_bodies(void)
{
    for (int i = 0; i < N; i++) {
        const double r = 1 / sqrt(pow(0.01 + 0.9 * uniform(), -2.0 / 3) - 1), z = 2 * uniform() - 1;
        const double angle = 6.283185307179586 * uniform(), rho = sqrt(1 - z * z);
        const double speed = 0.5 * sqrt(r * r / pow(1 + r * r, 1.5));
        m[i] = 1.0 / N;
        id[i] = i;
        eps2[i] = EPS2;
        d[0][i][0] = r * rho * cos(angle);
        d[0][i][1] = r * rho * sin(angle);
        d[0][i][2] = r * z;
        d[1][i][0] = -speed * sin(angle);
        d[1][i][1] = speed * cos(angle);
    }
}

/* Forces on all bodies at time t, where the library predicts them. */
static void forces_at(double time, double of)
{
    for (int i = 0; i < N; i++)
        set_j_particle(i, d[0][i], d[1][i], d[2][i], d[3][i], d[4][i], d[5][i], m[i], of, id[i], eps2[i]);
    predict_all(time, N);
    for (int i = 0; i < N; i++)
        pick_up_predictor_2(i, &id[i], &m[i], &eps2[i], x[i], v[i], a[i]);
    calc_force_on_predictors(N, N, id, x, v, a, m, eps2, acc, jerk, snap, crackle, phi, nearest, r2);
}

/* One component: from the derivatives at both ends to the corrected position and velocity (Nitadori & Makino 2008). */
static void correct(int i, int c)
{
    const double h = 0.5 * STEP, a0 = d[2][i][c], j0 = d[3][i][c], s0 = d[4][i][c];
    const double a1 = acc[i][c], j1 = jerk[i][c], s1 = snap[i][c], v0 = d[1][i][c];
    const double v1 = v0 + h * (a1 + a0) - STEP * STEP / 10 * (j1 - j0) + STEP * STEP * STEP / 120 * (s1 + s0);
    const double minus = a1 - a0, plus = h * (j1 + j0), less = h * (j1 - j0), more = h * h * (s1 + s0);
    const double last = h * h * (s1 - s0), h3 = h * h * h;
    const double third = 6 / (8 * h3) * (-5 * minus + 5 * plus - last), fourth = 24 / (16 * h3 * h) * (more - less);
    const double fifth = 120 / (16 * h3 * h * h) * (3 * minus - 3 * plus + last);
    d[0][i][c] += h * (v1 + v0) - STEP * STEP / 10 * (a1 - a0) + STEP * STEP * STEP / 120 * (j1 + j0);
    d[1][i][c] = v1;
    d[2][i][c] = a1;
    d[3][i][c] = j1;
    d[4][i][c] = s1;
    d[5][i][c] = third + h * (fourth + 0.5 * h * fifth);
}

static double energy(void)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += 0.5 * m[i] * (phi[i] + d[1][i][0] * d[1][i][0] + d[1][i][1] * d[1][i][1] + d[1][i][2] * d[1][i][2]);
    return sum;
}

static void store(int order, double (*from)[3])
{
    for (int i = 0; i < N; i++)
        for (int c = 0; c < 3; c++)
            d[order][i][c] = from[i][c];
}

int main(void)
{
    make_bodies();
    initialize();
    for (int k = 0; k < 2; k++) { /* twice: the snap takes accelerations */
        forces_at(0, 0);
        store(2, acc);
        store(3, jerk);
        store(4, snap);
    }
    const double before = energy();
    for (int step = 0; step < STEPS; step++) {
        forces_at((step + 1) * STEP, step * STEP);
        for (int i = 0; i < N; i++)
            for (int c = 0; c < 3; c++)
                correct(i, c);
    }
    forces_at(STEPS * STEP, STEPS * STEP);
    const double error = fabs(energy() / before - 1);
    printf("%d bodies to t = %g: energy %.9f, error %.1e\n", N, STEPS * STEP, before, error);
    return !(error < 1e-7);
}
