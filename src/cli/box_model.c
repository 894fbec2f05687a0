#include "cli/box_model.h"

#include <math.h>
#include <stdlib.h>

#include "host/base/threads.h"
#include "sim/ic_random.h"

#define PI 3.14159265358979323846
enum { WAVES = 48 };

/* Displacements of the grid: sum of size sin(k.q + phase); for each axis the waves' cosines and sines at its places. */
typedef struct box_waves {
    int n;
    double k[WAVES][3], size[WAVES][3];
    double *turn[3]; /* [place][wave][2] */
} box_waves;

typedef struct box_job {
    const gv_box_model *model;
    const box_waves *waves;
    gv_particles *p;
} box_job;

static double within(double x, double side)
{
    x -= side * floor(x / side);
    return x < side ? x : 0;
}

/* Directions at random, lengths in equal steps of their logarithm; each has the power of its step. */
static void choose_waves(const gv_box_model *model, box_waves *w, gv_random *random)
{
    const double longest = 0.5 * model->across, base = 2 * PI / 100;
    double sum = 0;
    w->n = WAVES;
    for (int j = 0; j < w->n; j++) {
        double v[3], length = 0, h = pow(longest, (j + 0.5) / w->n);
        gv_random_direction(random, v);
        for (int c = 0; c < 3; c++) {
            w->k[j][c] = rint(h * v[c]);
            length += w->k[j][c] * w->k[j][c];
        }
        if (length == 0)
            w->k[j][0] = length = 1;
        length = sqrt(length);
        const double x = base * length / 0.015, power = pow(length, 4) / pow(1 + x * x, 1.4);
        for (int c = 0; c < 3; c++)
            w->size[j][c] = sqrt(power) / length * w->k[j][c] / length;
        sum += 0.5 * power / (length * length);
    }
    for (int j = 0; j < w->n; j++)
        for (int c = 0; c < 3; c++)
            w->size[j][c] *= model->moved * model->side / model->across / sqrt(sum);
}

static int fill_turns(const gv_box_model *model, box_waves *w, gv_random *random)
{
    for (int c = 0; c < 3; c++) {
        w->turn[c] = malloc((size_t)model->across * (size_t)w->n * 2 * sizeof **w->turn);
        for (int j = 0; j < w->n && w->turn[c] != NULL; j++) {
            const double phase = 2 * PI * gv_random_unit(random);
            for (int q = 0; q < model->across; q++) {
                const double at = 2 * PI * w->k[j][c] * (q + 0.5) / model->across + phase;
                w->turn[c][2 * (q * w->n + j)] = cos(at);
                w->turn[c][2 * (q * w->n + j) + 1] = sin(at);
            }
        }
    }
    return w->turn[0] != NULL && w->turn[1] != NULL && w->turn[2] != NULL;
}

/* Rows of the grid along x. */
static void displace(void *user, size_t first, size_t count)
{
    const box_job *job = user;
    const box_waves *w = job->waves;
    const size_t n = (size_t)job->model->across;
    const double side = job->model->side, spacing = side / (double)n;
    for (size_t line = first; line < first + count; line++) {
        const double *ty = w->turn[1] + 2 * (line % n) * (size_t)w->n, *tz = w->turn[2] + 2 * (line / n) * (size_t)w->n;
        double re[WAVES], im[WAVES];
        for (int j = 0; j < w->n; j++) {
            re[j] = ty[2 * j] * tz[2 * j] - ty[2 * j + 1] * tz[2 * j + 1];
            im[j] = ty[2 * j] * tz[2 * j + 1] + ty[2 * j + 1] * tz[2 * j];
        }
        for (size_t q = 0; q < n; q++) {
            const double *tx = w->turn[0] + 2 * q * (size_t)w->n;
            const size_t at = q + n * line;
            double d[3] = {0, 0, 0};
            for (int j = 0; j < w->n; j++) {
                const double s = tx[2 * j] * im[j] + tx[2 * j + 1] * re[j];
                for (int c = 0; c < 3; c++)
                    d[c] += w->size[j][c] * s;
            }
            job->p->x[at] = within(((double)q + 0.5) * spacing + d[0], side);
            job->p->y[at] = within(((double)(line % n) + 0.5) * spacing + d[1], side);
            job->p->z[at] = within(((double)(line / n) + 0.5) * spacing + d[2], side);
        }
    }
}

/* Odd bodies are gathered into clumps around even ones. */
static void clump(const gv_box_model *model, gv_particles *p, gv_random *random)
{
    const double least = 20, most = (double)p->count / 50, steep = 0.9;
    for (size_t k = 1; k < p->count;) {
        const double u = gv_random_unit(random), a = pow(least, -steep), b = pow(most > least ? most : least, -steep);
        const double members = pow(a + u * (b - a), -1 / steep);
        const double radius = model->side * cbrt(3 * members / (4 * PI * 200 * (double)p->count));
        const size_t centre = 2 * (size_t)(gv_random_unit(random) * (double)(p->count / 2));
        for (size_t j = 0; (double)j < members && k < p->count; j++, k += 2) {
            double v[3];
            const double r = radius * gv_random_unit(random);
            gv_random_direction(random, v);
            p->x[k] = within(p->x[centre] + r * v[0], model->side);
            p->y[k] = within(p->y[centre] + r * v[1], model->side);
            p->z[k] = within(p->z[centre] + r * v[2], model->side);
        }
    }
}

gravel_status gv_box_make(const gv_box_model *model, gv_particles *out)
{
    const size_t n = (size_t)model->across, all = n * n * n;
    box_waves waves = {.n = 0};
    gv_random random;
    gravel_status status = gv_particles_create(out, all, 0);
    gv_random_seed(&random, model->seed);
    if (status == GRAVEL_OK && model->kind != GV_BOX_RANDOM) {
        choose_waves(model, &waves, &random);
        if (fill_turns(model, &waves, &random)) {
            gv_pool *pool = gv_pool_create();
            gv_parallel(pool, n * n, 64, displace, &(box_job){model, &waves, out});
            gv_pool_release(pool);
        } else {
            status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for a box of %d^3 bodies", model->across);
            gv_particles_free(out);
        }
    }
    for (int c = 0; c < 3; c++)
        free(waves.turn[c]);
    if (status != GRAVEL_OK)
        return status;
    for (size_t k = 0; k < all; k++) {
        out->m[k] = 1 / (double)all;
        if (model->kind == GV_BOX_RANDOM) {
            out->x[k] = model->side * gv_random_unit(&random);
            out->y[k] = model->side * gv_random_unit(&random);
            out->z[k] = model->side * gv_random_unit(&random);
        }
    }
    if (model->kind == GV_BOX_CLUMPS)
        clump(model, out, &random);
    return GRAVEL_OK;
}
