/* What the tests of the tree reference share. */
#ifndef GV_REF_TREE_TEST_H
#define GV_REF_TREE_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "close_to.h"
#include "cpu_ref/tree_ref.h"
#include "sim/ic.h"

enum { N = 3000 };

static inline gv_ref_tree *tree_of(const gv_particles *p, int n_leaf, int hilbert)
{
    gv_ref_tree *tree = gv_ref_tree_create(p->count, p->m, p->x, p->y, p->z, n_leaf, hilbert);
    assert_non_null(tree);
    return tree;
}

static inline gv_particles plummer(size_t n, uint64_t seed)
{
    gv_particles p;
    assert_int_equal(gv_ic_plummer(n, seed, NULL, &p), GRAVEL_OK);
    return p;
}

/* The walk of all bodies for all: f[0 ... 3] accelerations and potentials, what was counted (NULL: not wanted). */
static inline void walk(const gv_ref_tree *t, const gv_ref_walk_options *o, const gv_particles *p, double *f[4],
                        uint32_t *count[5])
{
    uint32_t *address = malloc(p->count * sizeof *address);
    assert_non_null(address);
    for (uint32_t i = 0; i < p->count; i++)
        address[i] = i;
    gv_ref_sinks sinks = {p->count, p->x, p->y, p->z, address, NULL};
    gv_ref_walk_result out = {.ax = f[0], .ay = f[1], .az = f[2], .pot = f[3]};
    if (count) {
        out.far_cells = count[0];
        out.near_cells = count[1];
        out.bodies = count[2];
        out.tests = count[3];
        out.close_calls = count[4];
    }
    assert_int_equal(gv_ref_tree_walk(t, o, &sinks, &out), 0);
    free(address);
}

#endif
