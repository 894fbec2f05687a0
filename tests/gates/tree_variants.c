/* Lists what the library would compile for trees in their default configurations on a GPU that is not here: one line
 * "tree-<precision> <bodies> <file> <options>" for each distinct program.
 *
 *   tree_variants COMPUTE_UNITS MAX_GROUP LOCAL_MEMORY
 */
#include "host/program/sort.h"
#include "host/tree/plan.h"
#include "target.h"

enum { MAX_SEEN = 200, TEXT = 500 };

static char seen[MAX_SEEN][TEXT];
static int n_seen;

static void show(const char *precision, size_t bodies, const char *file, const char *options)
{
    char text[TEXT];
    snprintf(text, sizeof text, "%s %s", file, options);
    for (int k = 0; k < n_seen; k++)
        if (strcmp(seen[k], text) == 0)
            return;
    if (n_seen < MAX_SEEN)
        strcpy(seen[n_seen++], text);
    printf("tree-%s %zu %s\n", precision, bodies, text);
}

/* One of everything is enough: softening by body differs in a few lines, and is listed for the first number of bodies
 * only; there are no programs that soften cells for kinds without sources. */
static int is_listed(int program, size_t k)
{
    const int walk = program >= GV_TP_WALK && program < GV_TP_GATHER;
    const int kind = (program - GV_TP_WALK) % GV_TREE_KINDS;
    if (program >= GV_TP_SOFTEN)
        return k == 0 && program - GV_TP_SOFTEN >= GV_TREE_SOURCES && program - GV_TP_SOFTEN <= GV_TREE_MAX;
    if (walk && program >= GV_TP_FEW)
        return k == 0 && kind == GV_TREE_EPS; /* the same with other numbers */
    return !walk || kind == GV_TREE_EPS || kind == GV_TREE_UNSOFTENED || (k == 0 && kind == GV_TREE_MAX);
}

/* `all`: for several numbers of bodies, else for one */
static int list(gravel_precision precision, const gravel_tree_options *options, const gv_limits *limits, int all)
{
    static const char *const name[] = {[GRAVEL_SP] = "sp", [GRAVEL_DS] = "ds", [GRAVEL_DP] = "dp"};
    static const size_t bodies[] = {1048576, 131072, 4096, 16777216};
    gv_variant variant;
    gv_variant_set(&variant, 2, precision, 0);
    for (size_t k = 0; k < (all ? sizeof bodies / sizeof bodies[0] : 1); k++) {
        gv_config config;
        gv_tree_plan plan;
        gv_tree_space.built_in(&config, &variant, limits, bodies[k], bodies[k]);
        const char *broken = gv_space_can_run(&gv_tree_space, &config, &variant, limits);
        if (broken != NULL) {
            fprintf(stderr, "tree-%s, %zu bodies: the default configuration breaks a constraint: %s\n", name[precision],
                    bodies[k], broken);
            return 1;
        }
        gv_tree_make_plan(&plan, &config, options, limits);
        const gv_sort_shape shape = {config.value[GV_TT_SORT_THREADS], config.value[GV_TT_SORT_ITEMS],
                                     config.value[GV_TT_SORT_BITS]};
        char sort[160];
        gv_sort_plain_options(&shape, 64, sort, sizeof sort);
        show(name[precision], bodies[k], "lib/sort.cl", sort);
        for (int p = 0; p < GV_TP_COUNT; p++)
            if (is_listed(p, k))
                show(name[precision], bodies[k], plan.program[p].file, plan.program[p].options);
    }
    return 0;
}

int main(int argc, char **argv)
{
    gv_limits limits;
    if (!gv_target(argc, argv, &limits))
        return 2;
    static const gravel_precision precisions[] = {GRAVEL_SP, GRAVEL_DS, GRAVEL_DP};
    for (size_t p = 0; p < sizeof precisions / sizeof precisions[0]; p++)
        for (int kind = 0; kind < 5; kind++) {
            gravel_tree_options options = GRAVEL_TREE_OPTIONS_INIT;
            options.precision = precisions[p];
            options.mac = kind == 1 ? GRAVEL_TREE_GEOMETRIC : GRAVEL_TREE_RELATIVE;
            options.softening = kind == 2 ? GRAVEL_SPLINE : GRAVEL_PLUMMER;
            options.moments = kind == 3 ? 1 : 2;
            options.split = options.period = kind == 4 ? 1 : 0; /* the short range of a split force */
            if (list(precisions[p], &options, &limits, kind == 0))
                return 1;
        }
    return 0;
}
