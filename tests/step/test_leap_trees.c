/* src/host/step/leap_forces: which blocks of a leapfrog get a tree, new or kept, and which direct sums. */
#include "problem.h"

#include <math.h>

#include "gravel/leapfrog.h"
#include "host/tree/tree.h"
#include "sim/ic.h"

typedef struct run {
    size_t n;
    gravel_bodies *bodies;
    gravel_tree *tree;
    gravel_leapfrog *leapfrog;
} run;

static run plummer_run(gravel_context *context, size_t n, const gravel_leapfrog_options *options)
{
    gravel_bodies_options stored = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_tree_options tree = GRAVEL_TREE_OPTIONS_INIT;
    run r = {n, NULL, NULL, NULL};
    gv_particles p;
    stored.precision = GRAVEL_DS;
    assert_ok(gv_ic_plummer(n, 5, NULL, &p));
    assert_ok(gravel_bodies_create(&r.bodies, context, &stored));
    assert_ok(gravel_bodies_write(r.bodies, GRAVEL_POSITION, 0, n, &GRAVEL_ARRAY_SOA(p.x, p.y, p.z)));
    assert_ok(gravel_bodies_write(r.bodies, GRAVEL_VELOCITY, 0, n, &GRAVEL_ARRAY_SOA(p.vx, p.vy, p.vz)));
    assert_ok(gravel_bodies_write(r.bodies, GRAVEL_MASS, 0, n, &GRAVEL_ARRAY(p.m)));
    gv_particles_free(&p);
    assert_ok(gravel_tree_create(&r.tree, context, &tree));
    assert_ok(gravel_leapfrog_create(&r.leapfrog, r.bodies, NULL, r.tree, options));
    assert_ok(gravel_leapfrog_start(r.leapfrog, 0));
    return r;
}

static double distance(const double *a, const double *b)
{
    return sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
}

/* The largest relative error of the accelerations of the bodies whose time is `time`; *due: how many. */
static double error_of_due(run *r, double time, double eps, size_t *due)
{
    double(*x)[3] = calloc(2 * r->n, sizeof *x), (*a)[3] = x + r->n, *m = calloc(2 * r->n, sizeof *m), *t = m + r->n;
    double worst = 0;
    assert_ok(gravel_bodies_read(r->bodies, GRAVEL_POSITION, 0, r->n, &GRAVEL_ARRAY_OUT_AOS(x)));
    assert_ok(gravel_bodies_read(r->bodies, GRAVEL_ACCELERATION, 0, r->n, &GRAVEL_ARRAY_OUT_AOS(a)));
    assert_ok(gravel_bodies_read(r->bodies, GRAVEL_MASS, 0, r->n, &GRAVEL_ARRAY_OUT(m)));
    assert_ok(gravel_bodies_read(r->bodies, GRAVEL_TIME, 0, r->n, &GRAVEL_ARRAY_OUT(t)));
    *due = 0;
    for (size_t i = 0; i < r->n; i++) {
        double sum[3] = {0};
        if (t[i] != time)
            continue;
        for (size_t j = 0; j < r->n; j++)
            for (int c = 0; c < 3; c++)
                sum[c] += m[j] * (x[j][c] - x[i][c]) / pow(pow(distance(x[i], x[j]), 2) + eps * eps, 1.5);
        worst = fmax(worst, distance(a[i], sum) / sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]));
        ++*due;
    }
    free(x);
    free(m);
    return worst;
}

/* Blocks of all and of many bodies walk trees that are built for them, others a kept one; those of a few get direct
 * sums, which are right to rounding, and leave it alone. */
static void trees_are_built_for_blocks_of_many(void **state)
{
    CONTEXT_OR_SKIP(context)
    gravel_leapfrog_options o = GRAVEL_LEAPFROG_OPTIONS_INIT;
    int few = 0, kept = 0, built = 0;
    size_t since = 0, due;
    double few_error = 0, error = 0;
    o.eps = 0.01;
    o.rebuild = 0.5;
    run r = plummer_run(context, 1024, &o);
    const size_t few_bodies = gv_worker_device(&r.tree->worker)->info.type == GRAVEL_DEVICE_CPU ? 32 : 256;
    for (int whole = 1, k = 0; k < 80; k++) {
        gravel_hermite_step_info info;
        const uint64_t before = r.tree->build;
        assert_ok(gravel_leapfrog_step(r.leapfrog, &info));
        const int anew = r.tree->build > before, is_few = info.active <= few_bodies && !whole;
        assert_true(is_few || anew == (whole || since + info.active > 512));
        assert_true(!is_few || !anew);
        const double found = error_of_due(&r, info.time, o.eps, &due);
        assert_int_equal(due, info.active);
        few_error = is_few ? fmax(few_error, found) : few_error;
        error = is_few ? error : fmax(error, found);
        since = anew ? 0 : is_few ? since : since + info.active;
        whole = info.active == r.n;
        few += is_few, kept += !is_few && !anew, built += anew;
    }
    print_message("%d blocks with direct sums, error %.1e; %d with a kept tree, %d with a new one, error %.1e\n", few,
                  few_error, kept, built, error);
    assert_true(few >= 5 && kept >= 3 && built >= 5);
    /* the ceiling of sums in sp; five times what the worst of these bodies is off in walks at theta 0.5 */
    assert_true(few_error < 2e-4 && error < 1e-2);
    gravel_leapfrog_release(r.leapfrog);
    gravel_tree_release(r.tree);
    gravel_bodies_release(r.bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(trees_are_built_for_blocks_of_many)};
    return cmocka_run_group_tests(tests, context_open, context_close);
}
