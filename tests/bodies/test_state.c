/* States of bodies: what is restored is what was saved, whatever was there before. */
#include "host/bodies/bodies.h"
#include "one_context.h"

static gravel_bodies *make(void)
{
    gravel_bodies *bodies;
    assert_ok(gravel_bodies_create(&bodies, context, NULL));
    return bodies;
}

/* A state without ids and softening, into bodies that had them: there are none then, so that bodies get numbers. */
static void restored_without_planes(void **state)
{
    (void)state;
    enum { N = 3 };
    const double x[N] = {1, 2, 3};
    const int32_t given[N] = {7, 8, 9};
    int32_t id[N];
    const gravel_array in = GRAVEL_ARRAY(x), ids = {given, NULL, NULL, 1, GRAVEL_I32};
    const gravel_array_out out = {id, NULL, NULL, 1, GRAVEL_I32};
    gravel_bodies *plain = make(), *bodies = make();
    assert_ok(gravel_bodies_write(plain, GRAVEL_MASS, 0, N, &in));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_SOFTENING, 0, N, &in));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_ID, 0, N, &ids));
    const uint64_t before = bodies->version[GRAVEL_SOFTENING];
    const size_t size = gravel_bodies_get_state_size(plain);
    void *saved = malloc(size);
    assert_non_null(saved);
    assert_ok(gravel_bodies_save(plain, saved));
    assert_ok(gravel_bodies_restore(bodies, saved, size));
    assert_true(gravel_bodies_has_plane(bodies, GRAVEL_MASS));
    assert_false(gravel_bodies_has_plane(bodies, GRAVEL_SOFTENING));
    assert_false(gravel_bodies_has_plane(bodies, GRAVEL_ID));
    assert_true(bodies->version[GRAVEL_SOFTENING] > before); /* what was derived from it is out of date */
    assert_ok(gv_bodies_need_ids(bodies));
    assert_ok(gravel_bodies_read(bodies, GRAVEL_ID, 0, N, &out));
    for (int k = 0; k < N; k++)
        assert_int_equal(id[k], k);
    assert_int_equal(gravel_bodies_get_state_size(bodies), size + sizeof id);
    free(saved);
    gravel_bodies_release(plain);
    gravel_bodies_release(bodies);
}

/* Bodies of two processes, one's ids in order, the other's in none: each part of both has what its ids are, wherever it
 * is cut.  Direct sums choose by that, and a run that goes on must choose as before. */
static void order_of_parts(void **state)
{
    (void)state;
    enum { N = 300, CUTS = 4 };
    static const struct {
        size_t first, count;
        int mixed;
    } cut[CUTS] = {{0, N, 0}, {N, N, 1}, {0, 2 * N, 1}, {N, 20, 0}};
    int32_t id[2][N];
    for (int k = 0; k < N; k++) {
        id[0][k] = k;
        id[1][k] = N + k * 77 % N; /* 77 and 300 have no common divisor */
    }
    gravel_bodies *one[2] = {make(), make()}, *part = make();
    char *both = NULL;
    size_t used = 0, all_size, part_size;
    void *all, *saved;
    for (int p = 0; p < 2; p++) {
        const gravel_array ids = {id[p], NULL, NULL, 1, GRAVEL_I32};
        assert_ok(gravel_bodies_write(one[p], GRAVEL_ID, 0, N, &ids));
        const size_t bytes = gravel_bodies_get_state_size(one[p]);
        assert_non_null(both = realloc(both, used + bytes));
        assert_ok(gravel_bodies_save(one[p], both + used));
        used += bytes;
    }
    assert_ok(gv_bodies_join_states(one[0], both, used, &all, &all_size));
    for (int c = 0; c < CUTS; c++) {
        assert_ok(gv_bodies_cut_state(one[0], all, all_size, cut[c].first, cut[c].count, &saved, &part_size));
        assert_ok(gravel_bodies_restore(part, saved, part_size));
        assert_int_equal(part->ids_mixed, cut[c].mixed);
        free(saved);
    }
    free(all);
    free(both);
    gravel_bodies_release(part);
    gravel_bodies_release(one[1]);
    gravel_bodies_release(one[0]);
}

/* Ids that are written piece by piece are in order where all pieces are; all of them at once say it anew. */
static void order_of_pieces(void **state)
{
    (void)state;
    enum { N = 300, PIECE = 100 };
    int32_t id[2][N];
    gravel_bodies *bodies = make();
    for (int k = 0; k < N; k++) {
        id[0][k] = k;
        id[1][k] = k < PIECE ? k * 77 % PIECE : k;
    }
    for (int turn = 0; turn < 3; turn++) {
        for (size_t first = 0; first < N; first += turn == 2 ? N : PIECE) {
            const gravel_array ids = {id[turn == 1] + first, NULL, NULL, 1, GRAVEL_I32};
            assert_ok(gravel_bodies_write(bodies, GRAVEL_ID, first, turn == 2 ? N : PIECE, &ids));
        }
        assert_int_equal(bodies->ids_mixed, turn == 1);
    }
    gravel_bodies_release(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(restored_without_planes), cmocka_unit_test(order_of_parts),
                                       cmocka_unit_test(order_of_pieces)};
    return cmocka_run_group_tests(tests, open_context, close_context);
}
