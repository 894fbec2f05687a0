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

#include "cpu_ref/tree_ref.h"
#include "sim/ic.h"

enum { N = 3000 };

static inline void close_to(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g within %g", value, expected, tolerance);
}

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

#endif
