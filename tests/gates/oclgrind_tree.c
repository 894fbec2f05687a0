/* Forces by the tree on a few hundred bodies with one configuration, against direct sums in double: meant to run under
 * Oclgrind, which watches memory and races.  The bodies are a clump with a few far outside, so that some groups are
 * sparse and are split.
 *
 *   oclgrind_tree sp|ds|dp BODIES CONFIGURATION [active|some|periodic]
 *   oclgrind_tree sort
 *
 * `active`: the forces on a few bodies, which are sorted and walk by themselves; `some`: on more of them, in groups.
 * `periodic`: the short range of a split force, in a box whose sides some of the bodies are beyond.
 * `sort`: one pass of a sort by digits of 8 bits in two tiles.  A tree would make eight of them, each of 256 rows.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gravel/tree.h"
#include "host/program/sort.h"

enum { MOST = 2000 };

/* static: Oclgrind has a small stack */
static double m[MOST], x[3][MOST], a[3][MOST], pot[MOST];

static double uniform(void)
{
    static uint32_t state = 12345;
    state = state * 1664525u + 1013904223u;
    return (state >> 8) / 16777216.0;
}

static void make_bodies(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double size = i % 40 == 7 ? 10 : 0.3; /* i = 100 ... 139 share a place: a leaf beyond its size */
        m[i] = i % 9 == 4 ? 0 : 1.0 / (double)n;
        for (int k = 0; k < 3; k++)
            x[k][i] = i > 100 && i < 140 ? x[k][100] : size * (uniform() - 0.5);
    }
}

/* every so many bodies are sinks: few enough for the walk of few sinks; few enough for groups that are halved */
enum { EVERY = 40, SOME = 8 };

/* of `periodic`; else 0 */
static double period, split;

/* what the short range keeps of Newton's force */
static double part_of(double r2)
{
    const double u = split > 0 ? sqrt(r2) / (2 * split) : 0;
    return split > 0 ? erfc(u) + 2 * u / sqrt(acos(-1)) * exp(-u * u) : 1;
}

/* the largest error of an acceleration beside the mean acceleration */
static double worst(size_t n, double eps, size_t every)
{
    double most = 0, mean = 0;
    for (size_t i = 0; i < n; i += every) {
        double f[3] = {0, 0, 0}, error2 = 0;
        for (size_t j = 0; j < n; j++) {
            double d[3], r2 = eps * eps;
            for (int k = 0; k < 3; k++) {
                d[k] = x[k][j] - x[k][i];
                d[k] -= period > 0 ? period * rint(d[k] / period) : 0;
                r2 += d[k] * d[k];
            }
            for (int k = 0; k < 3 && j != i; k++)
                f[k] += m[j] * d[k] / (r2 * sqrt(r2)) * part_of(r2);
        }
        for (int k = 0; k < 3; k++)
            error2 += (a[k][i / every] - f[k]) * (a[k][i / every] - f[k]);
        mean += sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]) * (double)every / (double)n;
        if (!(sqrt(error2) <= most)) /* NaN stays */
            most = sqrt(error2);
    }
    return most / mean;
}

static gravel_status run(gravel_context *context, const gravel_tree_options *options, size_t n, double eps,
                         size_t every)
{
    uint32_t address[MOST / SOME + 1];
    size_t count = 0;
    gravel_tree *tree = NULL;
    const gravel_sources bodies = {.count = n, .mass = m, .pos = GRAVEL_VEC_SOA(x[0], x[1], x[2])};
    const gravel_forces forces = {.acc = GRAVEL_VEC_OUT_SOA(a[0], a[1], a[2]), .pot = pot};
    gravel_status status = gravel_tree_create(&tree, context, options);
    if (!status)
        status = gravel_tree_write(tree, &bodies);
    for (size_t i = 0; i < n && every > 1; i += every)
        address[count++] = (uint32_t)i;
    if (!status)
        status = every > 1 ? gravel_tree_forces_active(tree, address, count, eps, &forces)
                           : gravel_tree_forces(tree, eps, &forces);
    gravel_tree_release(tree);
    return status;
}

static gravel_status sort_keys(gravel_context *context, size_t n, uint32_t *key, uint32_t *index)
{
    static const gv_sort_shape shape = {64, 4, 8};
    gv_worker worker = {.context = context};
    gv_sort sort = {0};
    const cl_command_queue queue = gv_worker_queue(&worker);
    cl_int code = CL_SUCCESS;
    gravel_status status = gv_sort_make(&sort, &worker, 32, &shape);
    if (!status)
        status = gv_sort_reserve(&sort, &worker, n);
    if (!status) {
        code = clEnqueueWriteBuffer(queue, sort.key[sort.sorted].mem, CL_TRUE, 0, n * 4, key, 0, NULL, NULL) ||
               clEnqueueWriteBuffer(queue, sort.index[sort.sorted].mem, CL_TRUE, 0, n * 4, index, 0, NULL, NULL);
        status = code ? GRAVEL_ERR_LAUNCH : gv_sort_run(&sort, &worker, 0, n, 8);
    }
    if (!status) {
        code = clEnqueueReadBuffer(queue, sort.key[sort.sorted].mem, CL_TRUE, 0, n * 4, key, 0, NULL, NULL) ||
               clEnqueueReadBuffer(queue, sort.index[sort.sorted].mem, CL_TRUE, 0, n * 4, index, 0, NULL, NULL);
        status = code ? GRAVEL_ERR_LAUNCH : GRAVEL_OK;
    }
    gv_sort_release(&sort);
    gv_worker_clear(&worker);
    return status;
}

static int run_sort(gravel_context *context)
{
    enum { N = 301 };
    static uint32_t key[N], index[N], before[N];
    for (uint32_t k = 0; k < N; k++) {
        before[k] = key[k] = (uint32_t)(200 * uniform()); /* some twice, some digits without keys */
        index[k] = k;
    }
    const gravel_status status = sort_keys(context, N, key, index);
    int failed = status != GRAVEL_OK;
    for (uint32_t k = 0; k < N && !failed; k++)
        failed = index[k] >= N || key[k] != before[index[k]] ||
                 (k > 0 && (key[k] < key[k - 1] || (key[k] == key[k - 1] && index[k] <= index[k - 1])));
    printf("sort: %s\n%d cases failed\n", gravel_status_name(status), failed);
    return failed;
}

static int only_sort(void)
{
    gravel_context *context = NULL;
    if (gravel_context_create(&context, NULL) != GRAVEL_OK) {
        printf("no context: %s\n", gravel_error_message());
        return 1;
    }
    printf("device: %s\n", gravel_context_get_device(context, 0)->name);
    const int failed = run_sort(context);
    gravel_context_release(context);
    return failed;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "sort") == 0)
        return only_sort();
    const char *const which = argc == 5 ? argv[4] : "";
    const size_t every = strcmp(which, "active") == 0 ? EVERY : strcmp(which, "some") == 0 ? SOME : 1;
    const int periodic = strcmp(which, "periodic") == 0;
    const size_t n = argc == 4 || every > 1 || periodic ? (size_t)atoi(argv[2]) : 0;
    if (n < 200 || n > MOST) {
        fprintf(stderr, "usage: oclgrind_tree sp|ds|dp BODIES CONFIGURATION [active|some|periodic]\n");
        return 2;
    }
    const double eps = 0.01;
    gravel_context *context = NULL;
    gravel_tree_options options = GRAVEL_TREE_OPTIONS_INIT;
    options.precision = strcmp(argv[1], "dp") == 0 ? GRAVEL_DP : strcmp(argv[1], "ds") == 0 ? GRAVEL_DS : GRAVEL_SP;
    options.configuration = argv[3];
    if (periodic) {
        options.period = period = 9;
        options.split = split = 0.5;
    }
    make_bodies(n);
    gravel_status status = gravel_context_create(&context, NULL);
    if (!status) {
        printf("device: %s\n", gravel_context_get_device(context, 0)->name);
        status = run(context, &options, n, eps, every);
    }
    if (status)
        printf("%s: %s\n", gravel_status_name(status), gravel_error_message());
    /* theta 0.5 is good for a few 1e-3 at worst; a lost or doubled body of the clump is 1e-2 and more */
    const double error = status ? NAN : worst(n, eps, every);
    const int failed = !(error < 5e-3);
    printf("largest error %.2e\n%d cases failed\n", error, failed);
    gravel_context_release(context);
    return failed;
}
