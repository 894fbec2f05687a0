/* Arrays of structs, as many codes have them: masses, ids and potentials with strides give the bits of plain arrays, in
 * every object that takes host arrays. */
#include "one_context.h"

#include "gravel/direct.h"
#include "gravel/several.h"
#include "gravel/tree.h"

enum { N = 100 };

typedef struct particle {
    double mass, x[3];
    int32_t id, other;
    double acc[3], pot;
} particle;

static particle p[N];
static double mass[N], x[N][3], acc[N][3], pot[N];
static int32_t id[N];
static const size_t doubles = sizeof(particle) / sizeof(double), ints = sizeof(particle) / sizeof(int32_t);

static void make(void)
{
    for (int i = 0; i < N; i++) {
        mass[i] = p[i].mass = 1.0 / (1 + i % 7);
        id[i] = p[i].id = i % 10 == 0 ? 5 : 1000 + i; /* a wrong stride of ids would exclude others */
        p[i].other = 5;
        for (int c = 0; c < 3; c++)
            x[i][c] = p[i].x[c] = (double)((i * (7 + 5 * c)) % 31) / 31;
        p[i].acc[0] = p[i].pot = acc[i][0] = pot[i] = -7;
    }
}

static gravel_vec place(void)
{
    return (gravel_vec){&p[0].x[0], &p[0].x[1], &p[0].x[2], doubles};
}

static void get(gravel_sources *sources, gravel_sinks *sinks, gravel_forces *forces, int packed)
{
    *sources = (gravel_sources){.count = N, .mass = mass, .id = id, .pos = GRAVEL_VEC_AOS(x)};
    *sinks = (gravel_sinks){.count = N, .id = id, .pos = GRAVEL_VEC_AOS(x)};
    *forces = (gravel_forces){.acc = GRAVEL_VEC_OUT_AOS(acc), .pot = pot};
    if (!packed)
        return;
    *sources = (gravel_sources){
        .count = N, .mass = &p[0].mass, .id = &p[0].id, .pos = place(), .mass_stride = doubles, .id_stride = ints};
    *sinks = (gravel_sinks){.count = N, .id = &p[0].id, .pos = place(), .id_stride = ints};
    *forces = (gravel_forces){
        .acc = {&p[0].acc[0], &p[0].acc[1], &p[0].acc[2], doubles}, .pot = &p[0].pot, .pot_stride = doubles};
}

static void assert_same(void)
{
    for (int i = 0; i < N; i++) {
        assert_true(pot[i] < 0 && pot[i] != -7);
        assert_memory_equal(&p[i].pot, &pot[i], sizeof pot[i]);
        assert_memory_equal(p[i].acc, acc[i], sizeof acc[i]);
        assert_true(p[i].mass == mass[i] && p[i].id == id[i] && p[i].other == 5);
    }
}

static void test_direct(void **state)
{
    (void)state;
    uint32_t address[N];
    for (uint32_t i = 0; i < N; i++)
        address[i] = N - 1 - i;
    for (int scattered = 0; scattered < 2; scattered++) {
        make();
        for (int packed = 0; packed < 2; packed++) {
            gravel_sources sources;
            gravel_sinks sinks;
            gravel_forces forces;
            gravel_direct *direct;
            get(&sources, &sinks, &forces, packed);
            assert_ok(gravel_direct_create(&direct, context, NULL));
            if (scattered)
                assert_ok(gravel_direct_scatter_sources(direct, address, &sources));
            else
                assert_ok(gravel_direct_write_sources(direct, 0, &sources));
            assert_ok(gravel_direct_submit(direct, &sinks, 0.1));
            assert_ok(gravel_direct_collect(direct, &forces, NULL));
            gravel_direct_release(direct);
        }
        assert_same();
    }
}

static void test_tree(void **state)
{
    (void)state;
    make();
    for (int packed = 0; packed < 2; packed++) {
        gravel_sources sources;
        gravel_sinks sinks;
        gravel_forces forces;
        gravel_tree *tree;
        get(&sources, &sinks, &forces, packed);
        assert_ok(gravel_tree_create(&tree, context, NULL));
        assert_ok(gravel_tree_write(tree, &sources));
        assert_ok(gravel_tree_forces(tree, 0.1, &forces));
        gravel_tree_release(tree);
    }
    assert_same();
    p[3].mass = -1; /* the one that is refused is named */
    gravel_sources sources;
    gravel_sinks sinks;
    gravel_forces forces;
    gravel_tree *tree;
    get(&sources, &sinks, &forces, 1);
    assert_ok(gravel_tree_create(&tree, context, NULL));
    assert_int_equal(gravel_tree_write(tree, &sources), GRAVEL_ERR_INPUT);
    assert_contains(gravel_error_message(), "number 3 is -1");
    gravel_tree_release(tree);
}

static void test_several(void **state)
{
    (void)state;
    for (int host = 0; host < 2; host++) {
        make();
        for (int packed = 0; packed < 2; packed++) {
            gravel_several_options options;
            gravel_several_call call;
            gravel_sources sources;
            gravel_sinks sinks;
            gravel_forces forces;
            gravel_several *several;
            gravel_several_options_init(&options);
            options.host = host ? GRAVEL_HOST_ALWAYS : GRAVEL_HOST_NEVER;
            get(&sources, &sinks, &forces, packed);
            assert_ok(gravel_several_create(&several, &options));
            assert_ok(gravel_several_write_sources(several, 0, &sources));
            gravel_several_call_init(&call);
            call.sinks = &sinks;
            call.order = 2;
            call.eps = 0.1;
            assert_ok(gravel_several_submit(several, &call));
            assert_ok(gravel_several_collect(several, &forces, NULL));
            gravel_several_release(several);
        }
        assert_same();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_direct),
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_several),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
