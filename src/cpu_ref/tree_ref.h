/* The tree code's scalar reference: recursive, in double, written from the definitions below; it shares no code with
 * the kernels.  kernels/tree and doc/tree.md follow the same definitions.
 *
 * Cells.  The bounding cube starts at the bodies' lowest coordinates, its side L is the longest side of their box.  A
 *   body's lattice place is the whole part of (x - low) 2097151.5 / L, 21 bits per coordinate; a cell of level l holds
 *   the bodies whose places agree in their first l bits.  A cell with at most n_leaf bodies, or at level 21, is a leaf.
 *   Bodies are ordered along a Morton or Hilbert curve through the lattice, bodies of one place by address.
 * Moments.  m = sum m_j, z = sum m_j x_j / m (without mass: middle of the tight box), Q = 1/2 sum m_j d d, d = x_j - z;
 *   bmax = max |d| for leaves; above them the lesser of max over children (bmax + distance of the centres) and the
 *   distance of the tight box's farthest corner.
 * Groups.  Runs of n_group sinks in curve order, with their tight box, its centre x0 and radius = max |x - x0|.
 * Acceleration of a group.  A monopole walk from x0: a cell with |z - x0| > bmax acts as m at z, and every leaf with
 *   s^2 = |z - x0|^2 + eps^2 + bmax^2.  Or the least of the accelerations the caller gives.
 * Opening.  d: distance of z from the group's box; R: from x0; a: the group's acceleration.  A cell is opened unless
 *   d > bmax / 0.8  and   geometric: d > l / theta + s
 *                         relative:  m bmax^3 / d^5 < tau a
 *   with l the longest side of the tight box and s the offset of z from its middle.
 *   If it is not opened and R > radius / 0.6 and m radius^4 / R^6 < tau_local a, it is far; else near.  A near leaf of
 *   one or two bodies is opened after all.
 * Forces.  S(x) = m g + Q : grad grad g,  g = 1 / sqrt(|x - z|^2 + eps^2),  pot = -S,  acc = grad S.
 *   Near cells act so on every sink.  Far cells act through the Taylor series of S about x0, with derivatives of g up
 *   to the fourth: pot to fourth, acc to third order in x - x0.  Bodies of opened leaves act one by one; none on
 *   itself, and none at distance 0 with eps = 0.
 * Spline softening.  Bodies act as spheres with the density of the cubic spline of support h = 2.8 eps,
 *   8 / (pi h^3) x (1 - 6 u^2 + 6 u^3 for u = r/h < 1/2, 2 (1 - u)^3 for u < 1); from h on it is Newton's force.
 *   Cells are opened unless d > h + bmax as well, and act with eps = 0.  (The estimate of a keeps Plummer's eps.)
 */
#ifndef GV_TREE_REF_H
#define GV_TREE_REF_H

#include <stddef.h>
#include <stdint.h>

typedef struct gv_ref_cell {
    double m, z[3], q[6]; /* xx xy xz yy yz zz */
    double bmax, lo[3], hi[3];
    uint32_t first, count; /* bodies, as places in the order */
    int level, n_children; /* 0: a leaf */
    uint32_t child[8];     /* cells */
} gv_ref_cell;

typedef struct gv_ref_tree {
    uint32_t n, n_cells;
    int n_leaf, hilbert;
    double low[3], side;
    double *m, *x[3]; /* bodies in curve order */
    uint64_t *key;
    uint32_t *address; /* of each in the caller's arrays */
    gv_ref_cell *cell; /* cell 0 is the root; depth first */
} gv_ref_tree;

/* NULL for a bad argument (n = 0, n_leaf < 1) or without memory. */
gv_ref_tree *gv_ref_tree_create(size_t n, const double *m, const double *x, const double *y, const double *z,
                                int n_leaf, int hilbert);
void gv_ref_tree_free(gv_ref_tree *tree);
/* The place of a point along the curve; points outside the cube count as on its surface. */
uint64_t gv_ref_tree_key(const gv_ref_tree *tree, double x, double y, double z);

typedef enum gv_ref_mac { GV_REF_GEOMETRIC, GV_REF_RELATIVE } gv_ref_mac;

typedef struct gv_ref_walk_options {
    gv_ref_mac mac;
    double theta;          /* geometric */
    double tau, tau_local; /* tau: relative */
    int n_group;
    int moments; /* 1: m only; 2: m and Q */
    int expand;  /* 0: far cells are treated as near */
    double eps;
    int spline;      /* 0: Plummer softening */
    double rounding; /* for close_calls: unit roundoff of the arithmetic to compare with; 0: no close calls */
} gv_ref_walk_options;

/* One entry per sink, in the caller's order; members may be NULL.  `address`: the sink's address among the bodies,
 * NULL: all are points.  `last`: accelerations for the groups' a, NULL: estimated. */
typedef struct gv_ref_sinks {
    size_t n;
    const double *x, *y, *z;
    const uint32_t *address;
    const double *last;
} gv_ref_sinks;

typedef struct gv_ref_walk_result {
    double *ax, *ay, *az, *pot;
    uint32_t *far_cells, *near_cells, *bodies, *tests;
    /* tests of the sink's group (and of the estimate of a) that rounding could turn: where this is 0, other arithmetic
     * must reach the same lists */
    uint32_t *close_calls;
} gv_ref_walk_result;

/* One body of mass 1 at distance r with spline softening of support h: acc = r_vector x *force, pot = *potential. */
void gv_ref_spline(double r, double h, double *force, double *potential);

/* 0, or -1 for a bad argument or without memory. */
int gv_ref_tree_walk(const gv_ref_tree *tree, const gv_ref_walk_options *options, const gv_ref_sinks *sinks,
                     const gv_ref_walk_result *out);

#endif
