/* What options and a configuration mean for programs: files, macros, sizes. */
#include <math.h>
#include <stdio.h>

#include "host/tree_plan.h"

#define VALUE(name) (config->value[GV_TT_##name])
#define OPTIONS(which) plan->program[which].options, sizeof plan->program[which].options

static void plan_walk(gv_tree_plan *plan, gv_tree_program which, int pass, const gv_config *config,
                      const gravel_tree_options *options)
{
    const int threads = VALUE(THREADS), n = VALUE(N_GROUP), split = VALUE(SPLIT);
    plan->program[which].file = threads > 1 ? "tree/walk_group.cl" : "tree/walk_lanes.cl";
    snprintf(OPTIONS(which),
             "-DGV_PRECISION=%d -DGV_LANES=%d -DGV_RSQRT=%d -DGV_THREADS=%d -DGV_SPLIT=%d -DGV_SINKS_PER_ITEM=%d "
             "-DGV_N_GROUP=%d -DGV_N_LEAF=%d -DGV_TILE=%d -DGV_STACK=%d -DGV_UNSOFTENED=%d -DGV_MOMENTS=%d "
             "-DGV_SPLINE=%d -DGV_PASS=%d",
             (int)options->precision, VALUE(LANES), VALUE(RSQRT), threads, split, threads > 1 ? n * split / threads : 1,
             n, VALUE(N_LEAF), VALUE(TILE), VALUE(STACK), which == GV_TP_WALK_UNSOFTENED, options->moments,
             options->softening == GRAVEL_SPLINE, pass);
}

void gv_tree_make_plan(gv_tree_plan *plan, const gv_config *config, const gravel_tree_options *options)
{
    static const char *const file[GV_TP_COUNT] = {
        [GV_TP_BOUNDS] = "lib/reduce.cl",   [GV_TP_SORT] = "lib/sort.cl",   [GV_TP_SCAN] = "lib/scan.cl",
        [GV_TP_COMPACT] = "lib/compact.cl", [GV_TP_KEYS] = "tree/keys.cl",  [GV_TP_BUILD] = "tree/build.cl",
        [GV_TP_MOMENTS] = "tree/moments.cl", [GV_TP_GROUPS] = "tree/groups.cl",
    };
    const int cpu = VALUE(SORT_THREADS) == 1, precision = (int)options->precision;
    const int by_error = options->mac != GRAVEL_TREE_GEOMETRIC;
    for (int k = 0; k < GV_TP_WALK; k++)
        plan->program[k].file = file[k];
    plan->sort_tile = (size_t)VALUE(SORT_THREADS) * (size_t)VALUE(SORT_ITEMS);
    plan->build_tile = plan->compact_tile = cpu ? 4096 : 1024;
    plan->keys_lanes = cpu ? (size_t)VALUE(LANES) : 1;
    plan->wide_group = cpu ? 1 : 256;
    plan->plain_group = cpu ? 16 : 64;
    const int wide = (int)plan->wide_group, items = (int)(plan->build_tile / plan->wide_group);
    snprintf(OPTIONS(GV_TP_SORT), "-DGV_THREADS=%d -DGV_ITEMS=%d -DGV_BITS=%d -DGV_KEY_BITS=64", VALUE(SORT_THREADS),
             VALUE(SORT_ITEMS), VALUE(SORT_BITS));
    snprintf(OPTIONS(GV_TP_SCAN), "-DGV_THREADS=%d -DGV_ITEMS=4", wide);
    snprintf(OPTIONS(GV_TP_COMPACT), "-DGV_THREADS=%d -DGV_ITEMS=%d", wide, items);
    snprintf(OPTIONS(GV_TP_BOUNDS), "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_THREADS=%d", precision, wide);
    snprintf(OPTIONS(GV_TP_BUILD), "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_THREADS=%d -DGV_ITEMS=%d -DGV_N_LEAF=%d",
             precision, wide, items, VALUE(N_LEAF));
    snprintf(OPTIONS(GV_TP_KEYS), "-DGV_PRECISION=%d -DGV_LANES=%d -DGV_CURVE=%d", precision, (int)plan->keys_lanes,
             VALUE(CURVE));
    snprintf(OPTIONS(GV_TP_MOMENTS), "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_MAC=%d", precision, by_error);
    snprintf(OPTIONS(GV_TP_GROUPS), "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_MAC=%d -DGV_N_GROUP=%d", precision, by_error,
             VALUE(N_GROUP));
    const int two = VALUE(PASSES) == 2;
    plan_walk(plan, GV_TP_WALK, two ? 3 : 0, config, options);
    plan_walk(plan, GV_TP_WALK_UNSOFTENED, two ? 3 : 0, config, options);
    plan->program[GV_TP_WALK_COUNT].file = plan->program[GV_TP_WALK_LIST].file = NULL;
    if (two) {
        plan_walk(plan, GV_TP_WALK_COUNT, 1, config, options);
        plan_walk(plan, GV_TP_WALK_LIST, 2, config, options);
    }
}

/* Fits to measured errors of Plummer spheres: doc/tree.md */
double gv_tree_tau(const gravel_tree_options *options, int n_group)
{
    return 2.5e-4 * pow(n_group / 32.0, 0.7) * pow(options->theta / 0.5, 6.0);
}

double gv_tree_tau_local(const gravel_tree_options *options, int n_group)
{
    return 8e-6 * pow(fmin(n_group / 32.0, 1.0), 0.4) * pow(options->theta / 0.5, 5.0);
}
