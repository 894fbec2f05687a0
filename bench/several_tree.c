/* Forces by the tree on several devices: whole calls from host arrays into host arrays.
 *
 *     build/bench/several_tree DEVICES [bodies [theta [calls]]]        1048576 0.5 5 if not given
 *
 * DEVICES as in gravel_several_options ("0,1", "all").  Bodies of a Plummer sphere that move between the calls, as in a
 * simulation.  Writes JSON: the least and the median of the times of writing the bodies and of forces on all.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <gravel/several.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*state >> 11) + 0.5) * 0x1p-53;
}

static void plummer(size_t n, double *x, double *y, double *z)
{
    uint64_t state = 1;
    for (size_t k = 0; k < n; k++) {
        const double r = 1 / sqrt(pow(0.999 * uniform(&state) + 1e-9, -2.0 / 3) - 1);
        const double c = 2 * uniform(&state) - 1, phi = 6.283185307179586 * uniform(&state), s = sqrt(1 - c * c);
        x[k] = r * s * cos(phi), y[k] = r * s * sin(phi), z[k] = r * c;
    }
}

int main(int argc, char **argv)
{
    enum { MOST = 100 };
    const size_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 1048576;
    const int asked = argc > 4 ? atoi(argv[4]) : 5, calls = asked < 1 ? 1 : asked > MOST ? MOST : asked;
    double *a = malloc(8 * n * sizeof *a), write_s[MOST], call_s[MOST];
    gravel_several_tree_options options = GRAVEL_SEVERAL_TREE_OPTIONS_INIT;
    gravel_tree_options tree_options = GRAVEL_TREE_OPTIONS_INIT;
    gravel_several_tree *tree = NULL;
    if (argc < 2 || n == 0 || !a) {
        fprintf(stderr, "usage: several_tree DEVICES [bodies [theta [calls]]]\n");
        return 2;
    }
    double *x = a, *y = a + n, *z = a + 2 * n, *m = a + 3 * n, *out = a + 4 * n;
    plummer(n, x, y, z);
    for (size_t k = 0; k < n; k++)
        m[k] = 1.0 / (double)n;
    tree_options.theta = argc > 3 ? atof(argv[3]) : 0.5;
    options.devices = argv[1];
    options.tree = &tree_options;
    options.all_devices = 1; /* what is timed is sharing, not the rule who shares */
    const gravel_sources bodies = {.count = n, .mass = m, .pos = GRAVEL_VEC_SOA(x, y, z)};
    const gravel_forces forces = {.acc = GRAVEL_VEC_OUT_SOA(out, out + n, out + 2 * n), .pot = out + 3 * n};
    gravel_status status = gravel_several_tree_create(&tree, &options);
    /* two calls that are not counted: programs, and the first shares */
    for (int k = -2; k < calls && !status; k++) {
        const double start = seconds();
        status = gravel_several_tree_write(tree, &bodies);
        const double middle = seconds();
        if (!status)
            status = gravel_several_tree_forces(tree, 0.01, &forces);
        if (k >= 0)
            write_s[k] = middle - start, call_s[k] = seconds() - start;
        for (size_t i = 0; i < n; i++)
            x[i] += 1e-6 * out[i], y[i] += 1e-6 * out[n + i], z[i] += 1e-6 * out[2 * n + i];
    }
    if (status) {
        fprintf(stderr, "several_tree: %s\n", gravel_error_message());
        return 1;
    }
    qsort(write_s, (size_t)calls, sizeof *write_s, ascending);
    qsort(call_s, (size_t)calls, sizeof *call_s, ascending);
    printf("{\"device\": \"%s\", \"devices\": %d, \"n\": %zu, \"theta\": %g, \"write_s_median\": %g, "
           "\"call_s_median\": %g, "
           "\"call_s_least\": %g}\n",
           gravel_several_tree_get_device(tree, 0)->name, gravel_several_tree_get_device_count(tree), n,
           tree_options.theta, write_s[calls / 2], call_s[calls / 2], call_s[0]);
    gravel_several_tree_release(tree);
    free(a);
    return 0;
}
