/* What `gravel bench tree` measured, for figures of it: results, and which of them belong together. */
#ifndef GV_PLOT_TREE_RECORDS_H
#define GV_PLOT_TREE_RECORDS_H

#include "cli/bench_tree.h"

enum { GV_MOST_TREE_RECORDS = 512, GV_MOST_TREE_GROUPS = 16 };

/* One result of the benchmark, as far as figures need it. */
typedef struct gv_tree_record {
    const char *device, *model, *mac; /* of the JSON text */
    double n, theta, moments;
    double p50, p99, stage[GV_TREE_STAGES];
    const cJSON *above, *points; /* NULL: not there */
    double crossover_dp, crossover_sp;
} gv_tree_record;

typedef struct gv_tree_records {
    int n, n_files;
    gv_tree_record r[GV_MOST_TREE_RECORDS];
    cJSON *root[16];
} gv_tree_records;

/* Adds the results of a file; all are in the order of their numbers of bodies, then of theta. */
gravel_status gv_tree_records_read(gv_tree_records *all, const char *path);
void gv_tree_records_free(gv_tree_records *all);
double gv_tree_record_number(const cJSON *item, const char *name); /* NaN: there is none */

typedef int (*gv_wanted_tree_record)(const gv_tree_record *r);
/* Records of one curve or panel share these. */
typedef int (*gv_same_tree_record)(const gv_tree_record *a, const gv_tree_record *b);
/* How many groups there are; of[i]: the group of record i, in order of appearance, -1 where `wanted` says no. */
int gv_tree_records_group(const gv_tree_records *all, gv_same_tree_record same, gv_wanted_tree_record wanted, int *of,
                          const gv_tree_record **first);
const gv_tree_record *gv_tree_records_first(const gv_tree_records *all, gv_wanted_tree_record wanted);
/* How many different numbers of bodies, or opening angles, the wanted records have. */
int gv_tree_records_distinct(const gv_tree_records *all, gv_wanted_tree_record wanted, int of_n);

#endif
