/* A batch by the host: plain loops in double over columns, sinks shared out over the cores. */
#include <math.h>

#include "host/tasks/requests.h"

typedef struct job {
    const gravel_requests *r;
    const gv_batch *b;
} job;

typedef struct sum {
    double acc[3], pot;
} sum;

/* Bodies first ... end - 1, none of which is the sink. */
static void add_bodies(const gravel_requests *r, size_t first, size_t end, const double at[3], double eps2, sum *to)
{
    const double *x = r->body[0], *y = r->body[1], *z = r->body[2], *m = r->body[3];
    double ax = 0, ay = 0, az = 0, pot = 0;
    for (size_t j = first; j < end; j++) {
        const double dx = x[j] - at[0], dy = y[j] - at[1], dz = z[j] - at[2];
        const double s2 = dx * dx + dy * dy + dz * dz + eps2;
        const double per = s2 > 1e-300 ? 1 / sqrt(s2) : 0, q = m[j] * per, f = q * per * per;
        ax += f * dx;
        ay += f * dy;
        az += f * dz;
        pot -= q;
    }
    to->acc[0] += ax, to->acc[1] += ay, to->acc[2] += az, to->pot += pot;
}

/* The same with a spline of support h: kernels/shape/spline.h. */
static void add_splines(const gravel_requests *r, size_t first, size_t end, const double at[3], double h, sum *to)
{
    for (size_t j = first; j < end; j++) {
        const double d[3] = {r->body[0][j] - at[0], r->body[1][j] - at[1], r->body[2][j] - at[2]};
        const double s = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), u = s / h, u2 = u * u, m = r->body[3][j];
        double f, p;
        if (u >= 1) {
            f = 1 / (s * s * s);
            p = 1 / s;
        } else if (u < 0.5) {
            f = (32.0 / 3 + u2 * (32 * u - 38.4)) / (h * h * h);
            p = (2.8 - u2 * (16.0 / 3 + u2 * (6.4 * u - 9.6))) / h;
        } else {
            f = (64.0 / 3 - 48 * u + 38.4 * u2 - 32.0 / 3 * u2 * u - 1 / (15 * u2 * u)) / (h * h * h);
            p = (3.2 - 1 / (15 * u) - u2 * (32.0 / 3 + u * (-16 + u * (9.6 - 32.0 / 15 * u)))) / h;
        }
        for (int c = 0; c < 3; c++)
            to->acc[c] += m * f * d[c];
        to->pot -= m * p;
    }
}

static void add_run(const gravel_requests *r, size_t first, size_t end, const double at[3], sum *to)
{
    if (r->softening == GRAVEL_SPLINE && r->eps > 0)
        add_splines(r, first, end, at, 2.8 * r->eps, to);
    else
        add_bodies(r, first, end, at, r->eps * r->eps, to);
}

static void add_cell(const double c[GV_REQUEST_CELL], const double at[3], double eps2, sum *to)
{
    const double d[3] = {c[0] - at[0], c[1] - at[1], c[2] - at[2]}, *q = c + 4;
    const double s2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + eps2, per = s2 > 1e-300 ? 1 / sqrt(s2) : 0;
    const double per2 = per * per, per3 = per * per2, per5 = per3 * per2;
    const double qd[3] = {q[0] * d[0] + q[1] * d[1] + q[2] * d[2], q[1] * d[0] + q[3] * d[1] + q[4] * d[2],
                          q[2] * d[0] + q[4] * d[1] + q[5] * d[2]};
    const double dqd = d[0] * qd[0] + d[1] * qd[1] + d[2] * qd[2];
    const double along = c[3] * per3 + 2.5 * dqd * per5 * per2;
    for (int k = 0; k < 3; k++)
        to->acc[k] += along * d[k] - qd[k] * per5;
    to->pot -= c[3] * per + 0.5 * dqd * per5;
}

static sum force_on(const job *j, size_t request, size_t sink)
{
    const gravel_requests *r = j->r;
    const gv_batch *b = j->b;
    const double at[3] = {r->body[0][sink], r->body[1][sink], r->body[2][sink]};
    const double eps2 = r->softening == GRAVEL_SPLINE ? 0 : r->eps * r->eps;
    sum total = {{0, 0, 0}, 0};
    for (size_t e = b->begin[request]; e < b->begin[request + 1]; e++) {
        const size_t first = b->entry[e].first, end = first + b->entry[e].count;
        if (sink >= first && sink < end) {
            add_run(r, first, sink, at, &total);
            add_run(r, sink + 1, end, at, &total);
        } else {
            add_run(r, first, end, at, &total);
        }
    }
    for (size_t c = b->cell_begin[request]; c < b->cell_begin[request + 1]; c++)
        add_cell(r->cell + GV_REQUEST_CELL * (size_t)b->cell[c], at, eps2, &total);
    return total;
}

static void answer(void *user, size_t first, size_t count)
{
    const job *j = user;
    for (size_t k = first; k < first + count; k++) {
        const gv_asked *a = &j->b->asked[k];
        const size_t stride = a->acc.stride ? a->acc.stride : 1;
        double *const to[3] = {a->acc.x, a->acc.y, a->acc.z};
        for (size_t s = 0; s < a->sinks.count; s++) {
            const sum f = force_on(j, k, a->sinks.first + s);
            for (int c = 0; c < 3; c++)
                if (to[c])
                    to[c][s * stride] = f.acc[c];
            if (a->pot)
                a->pot[s] = f.pot;
        }
    }
}

void gv_request_host(gravel_requests *r, gv_batch *b, size_t requests)
{
    job j = {r, b};
    gv_parallel(gv_context_pool(r->worker.context), requests, 1, answer, &j);
}
