#include "host/profile/known.h"

#include <math.h>
#include <string.h>

/* Uniform in -1 ... 1, the same everywhere: a linear congruential generator of 32 bits, of which the high ones count */
static double next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return ((double)(*state >> 8) + 0.5) * 0x1p-23 - 1;
}

void gv_known_make(gv_known *known, double eps)
{
    uint32_t state = 20261122;

    memset(known, 0, sizeof *known);
    known->eps = eps;
    for (int k = 0; k < GV_KNOWN_BODIES; k++) {
        known->id[k] = k;
        known->mass[k] = (1.5 + next(&state)) / GV_KNOWN_BODIES;
        for (int c = 0; c < 3; c++) {
            known->pos[c][k] = (float)next(&state);
            known->vel[c][k] = (float)next(&state);
            known->acc[c][k] = (float)next(&state);
        }
    }
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* acc += (5/2 (r Q r) r / s^2 - Q r) / s^5, pot -= r Q r / (2 s^5) */
static void add_quadrupole(const double q[6], const double r[3], double s2, double acc[3], gv_known_answer *sum)
{
    const double of_r[3] = {q[0] * r[0] + q[1] * r[1] + q[2] * r[2], q[1] * r[0] + q[3] * r[1] + q[4] * r[2],
                            q[2] * r[0] + q[4] * r[1] + q[5] * r[2]};
    const double s5 = s2 * s2 * sqrt(s2), rqr = dot(r, of_r);
    for (int c = 0; c < 3; c++)
        acc[c] += (2.5 * rqr * r[c] / s2 - of_r[c]) / s5;
    sum->pot -= rqr / (2 * s5);
    sum->size[3] += fabs(rqr) / (2 * s5);
}

/* One pair: a = m r / s^3, j = m v / s^3 - 3 alpha a, s = m w / s^3 - 6 alpha j - 3 beta a, with alpha = r v / s^2 and
 * beta = (v v + r w) / s^2 + alpha^2 (w: difference of accelerations). */
static void add_pair(const gv_known *k, int i, int j, gv_known_answer *sum)
{
    double r[3], v[3], w[3];

    for (int c = 0; c < 3; c++) {
        r[c] = k->pos[c][j] - k->pos[c][i];
        v[c] = k->vel[c][j] - k->vel[c][i];
        w[c] = k->acc[c][j] - k->acc[c][i];
    }
    const double of_sink = k->softening[0][i], of_source = k->softening[1][j], larger = fmax(of_sink, of_source);
    const double eps2 = k->eps * k->eps + (k->larger ? larger * larger : of_sink * of_sink + of_source * of_source);
    const double s2 = dot(r, r) + (k->law_softens ? 0 : eps2), newton = k->mass[j] / sqrt(s2);
    double factor[2] = {1, 1};
    if (k->law)
        k->law(sqrt(s2), sqrt(eps2), factor);
    const double m_r1 = factor[1] * newton, m_r3 = factor[0] * newton / s2;
    const double alpha = dot(r, v) / s2, beta = (dot(v, v) + dot(r, w)) / s2 + alpha * alpha;
    double pair[3][3];
    for (int c = 0; c < 3; c++) {
        pair[0][c] = m_r3 * r[c];
        pair[1][c] = m_r3 * v[c] - 3 * alpha * pair[0][c];
        pair[2][c] = m_r3 * w[c] - 6 * alpha * pair[1][c] - 3 * beta * pair[0][c];
    }
    add_quadrupole(k->quadrupole[j], r, s2, pair[0], sum);
    sum->pot -= m_r1;
    sum->size[3] += m_r1;
    for (int q = 0; q < 3; q++) {
        sum->size[q] += sqrt(dot(pair[q], pair[q]));
        for (int c = 0; c < 3; c++)
            sum->vector[q][c] += pair[q][c];
    }
}

void gv_known_solve(const gv_known *known, int body, gv_known_answer *answer)
{
    memset(answer, 0, sizeof *answer);
    for (int j = 0; j < GV_KNOWN_BODIES; j++)
        if (j != body && !known->left_out[body][j])
            add_pair(known, body, j, answer);
}

void gv_known_truncate(double u, double factor[2])
{
    factor[0] = erfc(u) + 2 / sqrt(acos(-1.0)) * u * exp(-u * u);
    factor[1] = erfc(u);
}

double gv_known_distance2(const gv_known *known, int a, int b)
{
    double r[3];

    for (int c = 0; c < 3; c++)
        r[c] = known->pos[c][b] - known->pos[c][a];
    return dot(r, r);
}

static double worse(double worst, double error)
{
    return error <= worst ? worst : isnan(error) ? INFINITY : error;
}

double gv_known_error(const gv_known *known, const gravel_forces *computed, int count)
{
    const gravel_vec_out *const vector[3] = {&computed->acc, &computed->jerk, &computed->snap};
    gv_known_answer answer;
    double worst = 0;

    for (int i = 0; i < count; i++) {
        gv_known_solve(known, i, &answer);
        if (computed->pot)
            worst = worse(worst, fabs(computed->pot[i] - answer.pot) / answer.size[3]);
        for (int q = 0; q < 3; q++) {
            if (!vector[q]->x)
                continue;
            const double d[3] = {vector[q]->x[i] - answer.vector[q][0], vector[q]->y[i] - answer.vector[q][1],
                                 vector[q]->z[i] - answer.vector[q][2]};
            worst = worse(worst, sqrt(dot(d, d)) / answer.size[q]);
        }
    }
    return worst;
}
