/* The tree reference: order, cells, moments. */
#include "ref_tree_test.h"

static void check_cell(const gv_ref_tree *t, const gv_ref_cell *c)
{
    assert_true(c->count >= 1 && c->level <= 21);
    if (c->n_children == 0) {
        assert_true(c->count <= (uint32_t)t->n_leaf || c->level == 21);
        return;
    }
    assert_true(c->count > (uint32_t)t->n_leaf);
    uint32_t next = c->first;
    for (int k = 0; k < c->n_children; k++) {
        const gv_ref_cell *child = &t->cell[c->child[k]];
        assert_int_equal(child->first, next);
        assert_int_equal(child->level, c->level + 1);
        next += child->count;
    }
    assert_int_equal(next, c->first + c->count);
}

/* Bodies of one cell share the first `level` bits of their places: their box fits a cube of side L 2^-level (the last
 * place is half a step wider). */
static void check_size(const gv_ref_tree *t, const gv_ref_cell *c)
{
    for (int k = 0; k < 3; k++)
        assert_true(c->hi[k] - c->lo[k] <= ldexp(t->side, -c->level) * (1.0 + 1e-6));
}

/* m, z, Q and bmax from the bodies themselves: sums of up to n terms rounded in another order. */
static void check_moments(const gv_ref_tree *t, const gv_ref_cell *c)
{
    double m = 0.0, z[3] = {0.0}, q[6] = {0.0}, reach = 0.0, size2 = 0.0;
    for (uint32_t j = c->first; j < c->first + c->count; j++) {
        m += t->m[j];
        for (int k = 0; k < 3; k++)
            z[k] += t->m[j] * t->x[k][j];
    }
    for (uint32_t j = c->first; j < c->first + c->count; j++) {
        double d[3] = {t->x[0][j] - c->z[0], t->x[1][j] - c->z[1], t->x[2][j] - c->z[2]};
        double d2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        reach = fmax(reach, sqrt(d2));
        size2 += t->m[j] * d2;
        const double dd[6] = {d[0] * d[0], d[0] * d[1], d[0] * d[2], d[1] * d[1], d[1] * d[2], d[2] * d[2]};
        for (int k = 0; k < 6; k++)
            q[k] += 0.5 * t->m[j] * dd[k];
    }
    close_to(c->m, m, 1e-13 * m);
    for (int k = 0; k < 3; k++)
        close_to(c->z[k], z[k] / m, 1e-13 * t->side);
    for (int k = 0; k < 6; k++)
        close_to(c->q[k], q[k], 1e-12 * size2 + 1e-26);
    assert_true(c->bmax >= reach * (1.0 - 1e-12) && c->bmax <= 1.8 * reach + 1e-15); /* sqrt(3) at most: the corner */
}

static void cells(void **state)
{
    (void)state;
    gv_particles p = plummer(N, 1);
    for (int hilbert = 0; hilbert < 2; hilbert++) {
        for (int n_leaf = 1; n_leaf <= 64; n_leaf *= 8) {
            gv_ref_tree *t = tree_of(&p, n_leaf, hilbert);
            assert_true(t->cell[0].count == N && t->cell[0].level == 0);
            for (uint32_t c = 0; c < t->n_cells; c++) {
                check_cell(t, &t->cell[c]);
                check_size(t, &t->cell[c]);
                check_moments(t, &t->cell[c]);
            }
            for (uint32_t i = 0; i < N; i++)
                assert_true(t->x[0][i] == p.x[t->address[i]] && (i == 0 || t->key[i] >= t->key[i - 1]));
            gv_ref_tree_free(t);
        }
    }
    gv_particles_free(&p);
}

/* Bodies on the corners of a cube of side 2, masses 1: m = 8, Q = 1/2 sum x_a x_b = 4 on the diagonal; bmax =
 * sqrt(3). */
static void known_moments(void **state)
{
    (void)state;
    double m[8], x[3][8];
    for (int i = 0; i < 8; i++) {
        m[i] = 1.0;
        for (int k = 0; k < 3; k++)
            x[k][i] = (i >> k & 1) ? 6.0 : 4.0;
    }
    for (int n_leaf = 1; n_leaf <= 8; n_leaf += 7) {
        gv_ref_tree *t = gv_ref_tree_create(8, m, x[0], x[1], x[2], n_leaf, 1);
        assert_non_null(t);
        assert_int_equal(t->n_cells, n_leaf == 1 ? 9 : 1);
        const double q[6] = {4.0, 0.0, 0.0, 4.0, 0.0, 4.0};
        for (int k = 0; k < 6; k++)
            close_to(t->cell[0].q[k], q[k], 1e-14);
        for (int k = 0; k < 3; k++)
            close_to(t->cell[0].z[k], 5.0, 1e-14);
        close_to(t->cell[0].m, 8.0, 1e-14);
        close_to(t->cell[0].bmax, sqrt(3.0), 1e-14);
        gv_ref_tree_free(t);
    }
    /* a rod along y, mass 1, 1001 bodies from -1 to 1: Q_yy = 1/2 <y^2> = 1/6 (1 + 1/500) */
    enum { ROD = 1001 };
    static double one[ROD], y[ROD], zero[ROD];
    for (int i = 0; i < ROD; i++) {
        one[i] = 1.0 / ROD;
        y[i] = (i - 500) / 500.0;
    }
    gv_ref_tree *t = gv_ref_tree_create(ROD, one, zero, y, zero, 4, 0);
    assert_non_null(t);
    close_to(t->cell[0].q[3], (1.0 + 1.0 / 500) / 6.0, 1e-13);
    close_to(t->cell[0].q[0] + t->cell[0].q[5] + fabs(t->cell[0].q[1]) + fabs(t->cell[0].q[4]), 0.0, 1e-15);
    gv_ref_tree_free(t);
}

/* 8 x 8 x 8 points, one for each cell of level 3. */
static void curves(void **state)
{
    (void)state;
    enum { POINTS = 512 };
    static double m[POINTS], x[3][POINTS];
    for (int i = 0; i < POINTS; i++) {
        m[i] = 1.0;
        x[0][i] = i % 8;
        x[1][i] = i / 8 % 8;
        x[2][i] = i / 64;
    }
    gv_ref_tree *hilbert = gv_ref_tree_create(POINTS, m, x[0], x[1], x[2], 1, 1);
    gv_ref_tree *morton = gv_ref_tree_create(POINTS, m, x[0], x[1], x[2], 1, 0);
    assert_true(hilbert && morton);
    for (int i = 1; i < POINTS; i++) {
        double step = 0.0;
        for (int k = 0; k < 3; k++)
            step += fabs(hilbert->x[k][i] - hilbert->x[k][i - 1]);
        assert_true(step == 1.0); /* the curve goes to a neighbour */
    }
    for (int i = 0; i < POINTS; i++) {
        for (int k = 0; k < 3; k++) {
            int v = (int)morton->x[k][i]; /* x leads: bits 8 5 2, y 7 4 1, z 6 3 0 */
            assert_int_equal(v, (i >> (8 - k) & 1) << 2 | (i >> (5 - k) & 1) << 1 | (i >> (2 - k) & 1));
        }
    }
    gv_ref_tree_free(hilbert);
    gv_ref_tree_free(morton);
}

/* Bodies in one place, on a line, two places 1e-15 of the side apart, one body: levels to 21, no division by 0. */
static void degenerate(void **state)
{
    (void)state;
    enum { MANY = 40 };
    double m[MANY], x[MANY], y[MANY], z[MANY];
    for (int kind = 0; kind < 4; kind++) {
        size_t n = kind == 3 ? 1 : MANY;
        for (int i = 0; i < MANY; i++) {
            m[i] = i % 5 ? 1.0 : 0.0;
            x[i] = kind == 0 ? 3.0 : kind == 1 ? i : i < 20 ? 1.0 : 1.0 + 1e-9;
            y[i] = kind == 2 && i == 39 ? 1e6 : 2.0;
            z[i] = -1.0;
        }
        gv_ref_tree *t = gv_ref_tree_create(n, m, x, y, z, 4, 1);
        assert_non_null(t);
        uint32_t deepest = 0;
        for (uint32_t c = 0; c < t->n_cells; c++) {
            check_cell(t, &t->cell[c]);
            deepest = t->cell[c].level > (int)deepest ? (uint32_t)t->cell[c].level : deepest;
            assert_true(isfinite(t->cell[c].bmax) && isfinite(t->cell[c].z[0]) && isfinite(t->cell[c].q[0]));
        }
        assert_true(deepest == (kind == 3 ? 0u : kind == 1 ? 4u : 21u));
        gv_ref_tree_free(t);
    }
}

/* Coincident bodies of any masses: their centre is where they are, to the bit. */
static void coincident_centre(void **state)
{
    (void)state;
    double m[7] = {0.1, 0.7, 1e-9, 3.3, 0.0, 1e9, 2.2}, x[7];
    for (int i = 0; i < 7; i++)
        x[i] = 0.1;
    gv_ref_tree *t = gv_ref_tree_create(7, m, x, x, x, 8, 1);
    assert_non_null(t);
    assert_true(t->cell[0].z[0] == 0.1 && t->cell[0].z[2] == 0.1 && t->cell[0].bmax == 0.0 && t->cell[0].q[0] == 0.0);
    gv_ref_tree_free(t);
}

static void bad_arguments(void **state)
{
    (void)state;
    double one[1] = {1.0};
    assert_null(gv_ref_tree_create(0, one, one, one, one, 8, 1));
    assert_null(gv_ref_tree_create(1, one, one, one, one, 0, 1));
    assert_null(gv_ref_tree_create(1, NULL, one, one, one, 8, 1));
    gv_ref_tree_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells),      cmocka_unit_test(known_moments),     cmocka_unit_test(curves),
        cmocka_unit_test(degenerate), cmocka_unit_test(coincident_centre), cmocka_unit_test(bad_arguments),
    };
    return cmocka_run_group_tests_name("ref_tree", tests, NULL, NULL);
}
