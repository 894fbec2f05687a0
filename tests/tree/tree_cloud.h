/* Bodies for tests of the tree, its context, and errors beside direct sums. */
#ifndef GV_TREE_CLOUD_H
#define GV_TREE_CLOUD_H

#include "problem.h"

#include "one_context.h" /* its variable comes after the arguments of that name there */

#include "gravel/tree.h"

typedef struct cloud {
    size_t n;
    double *m, *x[3], *a[3], *pot;
} cloud;

static inline cloud cloud_new(size_t n)
{
    cloud c = {.n = n};
    c.m = calloc(8 * n, sizeof(double));
    assert_non_null(c.m);
    for (size_t k = 0; k < 3; k++) {
        c.x[k] = c.m + (1 + k) * n;
        c.a[k] = c.m + (4 + k) * n;
    }
    c.pot = c.m + 7 * n;
    for (size_t i = 0; i < n; i++)
        c.m[i] = 1.0 / (double)n;
    return c;
}

/* Plummer's profile, scale length 1, cut at 20 */
static inline cloud plummer(size_t n, uint64_t seed)
{
    cloud c = cloud_new(n);
    for (size_t i = 0; i < n; i++) {
        double r, v[3], v2;
        do
            r = 1 / sqrt(pow(0.5 + 0.5 * random_unit(&seed), -2.0 / 3) - 1);
        while (!(r < 20));
        do {
            v2 = 0;
            for (int k = 0; k < 3; k++) {
                v[k] = random_unit(&seed);
                v2 += v[k] * v[k];
            }
        } while (v2 > 1 || v2 < 1e-4);
        for (int k = 0; k < 3; k++)
            c.x[k][i] = r * v[k] / sqrt(v2);
    }
    return c;
}

static inline gravel_sources cloud_sources(const cloud *c)
{
    return (gravel_sources){.count = c->n, .mass = c->m, .pos = GRAVEL_VEC_SOA(c->x[0], c->x[1], c->x[2])};
}

static inline gravel_forces cloud_forces(const cloud *c)
{
    for (size_t i = 0; i < c->n; i++)
        c->a[0][i] = c->a[1][i] = c->a[2][i] = c->pot[i] = NAN;
    return (gravel_forces){.acc = GRAVEL_VEC_OUT_SOA(c->a[0], c->a[1], c->a[2]), .pot = c->pot};
}

static inline gravel_tree *tree_of(const cloud *c, const gravel_tree_options *options)
{
    gravel_tree *tree;
    const gravel_sources sources = cloud_sources(c);
    assert_ok(gravel_tree_create(&tree, context, options));
    assert_ok(gravel_tree_write(tree, &sources));
    return tree;
}

/* |a - a_direct| / |a_direct| (pot: likewise into pot_error), sorted */
static inline double *errors_of(const cloud *c, double eps, double *pot_error)
{
    const gv_ref_particles p = {.n = c->n, .m = c->m, .x = c->x[0], .y = c->x[1], .z = c->x[2]};
    double *exact = malloc(5 * c->n * sizeof *exact), *error = exact + 4 * c->n;
    assert_non_null(exact);
    int32_t *id = malloc(c->n * sizeof *id);
    assert_non_null(id);
    for (size_t i = 0; i < c->n; i++)
        id[i] = (int32_t)i;
    gv_ref_particles sinks = p;
    sinks.id = id;
    const gv_ref_forces out = {.ax = exact, .ay = exact + c->n, .az = exact + 2 * c->n, .pot = exact + 3 * c->n};
    assert_int_equal(gv_ref_direct(GV_REF_DOUBLE, 2, &sinks, &p, eps, NULL, 0, &out), 0);
    *pot_error = 0;
    for (size_t i = 0; i < c->n; i++) {
        double d2 = 0, s2 = 0;
        for (size_t k = 0; k < 3; k++) {
            const double e = exact[k * c->n + i], d = c->a[k][i] - e;
            d2 += d * d;
            s2 += e * e;
        }
        error[i] = sqrt(d2 / s2);
        assert_true(error[i] >= 0); /* NaN fails */
        *pot_error = fmax(*pot_error, fabs(c->pot[i] / out.pot[i] - 1));
    }
    free(id);
    memmove(exact, error, c->n * sizeof *error);
    for (size_t gap = c->n / 2; gap > 0; gap /= 2) /* shell sort: a few thousand numbers */
        for (size_t i = gap; i < c->n; i++)
            for (size_t j = i; j >= gap && exact[j - gap] > exact[j]; j -= gap) {
                const double swap = exact[j];
                exact[j] = exact[j - gap];
                exact[j - gap] = swap;
            }
    return exact;
}

static inline void check_errors(const cloud *c, double eps, double p50, double p99, double pot)
{
    double pot_error, *error = errors_of(c, eps, &pot_error);
    if (error[c->n / 2] > p50 || error[c->n * 99 / 100] > p99 || pot_error > pot)
        fail_msg("error 50 %% %.2e (limit %.2e), 99 %% %.2e (%.2e), potential %.2e (%.2e)", error[c->n / 2], p50,
                 error[c->n * 99 / 100], p99, pot_error, pot);
    free(error);
}

#endif
