/* The self-test of programs that no choice of a configuration asks for: lists by a rule, shapes, quadrupoles, sources'
 * lengths by other rules than the sum, sinks that the device finds; and those of trees with other options, without eps,
 * by lengths of bodies, and in groups of few sinks. */
#include "tuner/subject_test.h"

#include <math.h>

#include "gravel/hermite.h"
#include "host/direct/plan.h"
#include "host/profile/known.h"
#include "host/profile/proof.h"
#include "host/tree/plan.h"

#define LISTS (GV_DIRECT_NEAREST | GV_DIRECT_LISTS)
#define TABLE(kind, level, bits)                                                                                       \
    ((kind) | (unsigned)(level) << GV_DIRECT_LEVEL_AT | (unsigned)(bits) << GV_DIRECT_BITS_AT)

#define LENGTHS(rule) ((unsigned)(rule) << GV_TREE_LENGTHS_AT)

/* Each kind of program, and what in the kernels makes it wrong, where that is no other's as well. */
static const struct {
    const gv_space *space;
    int order;
    gravel_precision precision;
    unsigned features;
    const char *name, *file, *right, *wrong;
} program[] = {
    {&gv_direct_space, 2, GRAVEL_SP, LISTS | GV_DIRECT_SPHERE, " with a rule of neighbours", "direct/search.h",
     "r2 < radius2;", "r2 < radius2 * GV_R(1.1);"},
    {&gv_direct_space, 4, GRAVEL_DS, LISTS | GV_DIRECT_SPHERE_MASS | GV_DIRECT_UNSOFTENED, " with a rule of neighbours",
     "direct/search.h", "radius2 *= j.pos.w", "radius2 *= j.pos.x"},
    {&gv_direct_space, 4, GRAVEL_SP, LISTS | GV_DIRECT_AHEAD, " with a rule of neighbours", "direct/search.h",
     "j.vel.x - i.vx, d.x", "j.vel.x + i.vx, d.x"},
    {&gv_direct_space, 2, GRAVEL_SP, LISTS | GV_DIRECT_LEAVE_OUT | GV_DIRECT_BY_SINKS | GV_DIRECT_BY_SOURCES,
     " with a rule of neighbours", "direct/force.cl", "mass[s] = gv_select(near, (gv_real)(0), mass[s]);",
     "mass[s] = mass[s];"},
    {&gv_direct_space, 4, GRAVEL_DS, GV_DIRECT_BY_SINKS | GV_DIRECT_BY_SOURCES | GV_DIRECT_SOURCES_ALONE,
     " softened by sources alone", "direct/interact.h", "((gv_real)((j).eps2))", "((gv_real)(GV_R(1.1) * (j).eps2))"},
    {&gv_direct_space, 2, GRAVEL_SP, GV_DIRECT_BY_SINKS | GV_DIRECT_BY_SOURCES | GV_DIRECT_LARGER,
     " softened by the larger length", "direct/interact.h", "(fmax((i).eps2", "(fmin((i).eps2"},
    {&gv_direct_space, 2, GRAVEL_SP, GV_DIRECT_QUADRUPOLES, " with quadrupoles", "direct/interact.h",
     "GV_R(5.0) * p, nx", "GV_R(5.1) * p, nx"},
    {&gv_direct_space, 2, GRAVEL_SP, GV_DIRECT_RATIONAL, " with the truncated shape", "shape/short_form.h",
     "0.785519522558", "0.7865"},
    {&gv_direct_space, 2, GRAVEL_SP, GV_DIRECT_EXACT, " with the truncated shape", "shape/short_form.h",
     "GV_SHORT_SLOPE GV_R(1.1283791670955126)", "GV_SHORT_SLOPE GV_R(1.13)"},
    {&gv_direct_space, 2, GRAVEL_SP, TABLE(GV_DIRECT_FACTORS, 3, 0), " with a table", "shape/table.h",
     "(k) - GV_R(0.5)", "(k) - GV_R(0.7)"},
    {&gv_direct_space, 2, GRAVEL_SP, TABLE(GV_DIRECT_FORCES, 1, 5), " with a table", "shape/table.h",
     "(gv_real)GV_R(-0.5)", "(gv_real)GV_R(-1.5)"},
    {&gv_direct_space, 4, GRAVEL_DS, GV_DIRECT_DUE, " of sinks that the device finds", "direct/force.cl",
     "part_sources = cut.part_sources;", "part_sources = cut.part_sources / 2;"},
    {&gv_tree_space, 2, GRAVEL_SP, GV_TREE_OF_SPLINE, " softened by the spline", "shape/spline.h",
     "GV_R(10.666666666666667));", "GV_R(14.0));"},
    {&gv_tree_space, 2, GRAVEL_SP, GV_TREE_OF_SHORT_RANGE, " of a short range", "shape/short_range.h",
     "    gv_short_newton(s2, rate GV", "    gv_short_newton(s2 * GV_R(1.1), rate GV"},
    {&gv_tree_space, 2, GRAVEL_SP, GV_TREE_OF_MASSES, " without quadrupoles", "tree/interact.h", NULL, NULL},
    {&gv_tree_space, 2, GRAVEL_SP, GV_TREE_OF_ANGLES, " opened by angles", "tree/interact.h", NULL, NULL},
    {&gv_tree_space, 2, GRAVEL_SP, GV_TREE_OF_ANGLES | LENGTHS(GRAVEL_SOFTEN_SINKS), " softened by lengths of bodies",
     "tree/interact.h", "fmax((gv_real)(sink), (gv_real)(eps2))", "fmax((gv_real)(sink) * GV_R(1.3), (gv_real)(eps2))"},
    {&gv_tree_space, 2, GRAVEL_DS, LENGTHS(GRAVEL_SOFTEN_SOURCES), " softened by lengths of bodies", "tree/interact.h",
     "fmax((gv_real)(source), (gv_real)(eps2))", "fmax((gv_real)(source) * GV_R(1.3), (gv_real)(eps2))"},
    {&gv_tree_space, 2, GRAVEL_SP, GV_TREE_OF_SHORT_RANGE | LENGTHS(GRAVEL_SOFTEN_SUM),
     " softened by lengths of bodies", "tree/interact.h", "fmax((gv_real)(sink) + (gv_real)(source), (gv_real)(eps2))",
     "fmax((gv_real)(sink), (gv_real)(eps2))"},
    {&gv_tree_space, 2, GRAVEL_SP, GV_TREE_OF_SPLINE | LENGTHS(GRAVEL_SOFTEN_MAX), " softened by lengths of bodies",
     "tree/interact.h", "fmax(fmax((gv_real)(sink), (gv_real)(source)), (gv_real)(eps2))",
     "fmax(fmin((gv_real)(sink), (gv_real)(source)), (gv_real)(eps2))"},
    {&gv_tree_space, 2, GRAVEL_SP, GV_TREE_OF_NO_EPS, " without eps", "tree/interact.h",
     "m = gv_select(at_one_place, (gv_real)(0), m);", "m = gv_select(at_one_place, (gv_real)(0), m * GV_R(1.1));"},
};
enum { PROGRAMS = sizeof program / sizeof *program };

static void prove(gravel_context *context, size_t k, double *error, double *most)
{
    const gv_space *const space = program[k].space;
    const gv_limits limits = gv_limits_of(context, 0);
    gv_variant variant;
    gv_config config;
    char text[256];
    gv_variant_set(&variant, program[k].order, program[k].precision, program[k].features);
    assert_string_equal(space->program(variant.features), program[k].name);
    space->built_in(&config, &variant, &limits, 64, 1000);
    gv_space_format(space, &config, text, sizeof text);
    assert_ok(space->prove(context, 0, &variant, text, error, most));
    print_message("%s%s (%zu): %.2g of %.2g\n", space->kernel, program[k].name, k, *error, *most);
}

static void all_are_right(void **state)
{
    double error, most;
    (void)state;
    SKIP_WITHOUT_DEVICE();
    gravel_context *context = open_context(NULL, NULL);
    for (size_t k = 0; k < PROGRAMS; k++) {
        prove(context, k, &error, &most);
        assert_true(error < 0.5 * most && error > 0);
    }
    gravel_context_release(context);
}

static void what_is_spoilt_is_seen(void **state)
{
    double error, most;
    (void)state;
    SKIP_WITHOUT_DEVICE();
    SKIP_WITHOUT_KERNELS();
    char *folder = make_folder(), *kernels = copy_kernels(folder);
    for (size_t k = 0; k < PROGRAMS; k++)
        if (program[k].right)
            replace(kernels, program[k].file, "", program[k].right, program[k].wrong);
    gravel_context *context = open_context(kernels, NULL);
    for (size_t k = 0; k < PROGRAMS; k++) {
        prove(context, k, &error, &most);
        assert_true(program[k].right ? error > most : error < 0.5 * most);
    }
    gravel_context_release(context);
    remove_folder(kernels);
    remove_folder(folder);
    free(kernels);
    free(folder);
}

/* Cells soften by a mean of their bodies' lengths, which pairs do not use. */
static void lengths_of_cells_are_seen(void **state)
{
    double error, most;
    gv_variant variant;
    gv_config config;
    char text[256];
    (void)state;
    SKIP_WITHOUT_DEVICE();
    SKIP_WITHOUT_KERNELS();
    char *folder = make_folder(), *kernels = copy_kernels(folder);
    replace(kernels, "tree/soften.cl", "", "cell_soft[c] = largest ? most : mean;", "cell_soft[c] = 0;");
    gravel_context *context = open_context(kernels, NULL);
    const gv_limits limits = gv_limits_of(context, 0);
    gv_variant_set(&variant, 2, GRAVEL_SP, LENGTHS(GRAVEL_SOFTEN_SOURCES));
    gv_tree_space.built_in(&config, &variant, &limits, 64, 1000);
    gv_space_format(&gv_tree_space, &config, text, sizeof text);
    assert_ok(gv_tree_space.prove(context, 0, &variant, text, &error, &most));
    print_message("without the lengths of cells: %.2g of %.2g\n", error, most);
    assert_true(error > 1.5 * most); /* 3.2 times came out: 1e-3 is nearer to it than to what is right, 1e-4 */
    gravel_context_release(context);
    remove_folder(kernels);
    remove_folder(folder);
    free(kernels);
    free(folder);
}

static double error_of_shape(gravel_context *context, unsigned shape)
{
    const gv_limits limits = gv_limits_of(context, 0);
    double error, most;
    gv_variant variant;
    gv_config config;
    char text[256];
    gv_variant_set(&variant, 2, GRAVEL_SP, shape << GV_TREE_SHAPE_AT);
    assert_string_equal(gv_tree_space.program(variant.features), " of few sinks");
    gv_tree_space.built_in(&config, &variant, &limits, 64, 1000);
    assert_ok(gv_space_parse(&gv_tree_space, gv_tree_space.plain[0], &config));
    gv_space_format(&gv_tree_space, &config, text, sizeof text);
    assert_ok(gv_tree_space.prove(context, 0, &variant, text, &error, &most));
    print_message("shape %u: %.2g of %.2g\n", shape, error, most);
    return error / most;
}

/* Walks of few sinks in groups, as on GPUs, are proven for each shape; tiles of 128 are spoilt here.  A CPU's compiler
 * takes half a minute for each such program: CI has all, other runs one, quick ones none. */
static void groups_of_few_sinks(void **state)
{
    const int all = getenv("GRAVEL_TEST_LONG") != NULL;
    (void)state;
    SKIP_WITHOUT_DEVICE();
    SKIP_WITHOUT_KERNELS();
    if (getenv("GRAVEL_TEST_QUICK")) {
        print_message("skipped: programs of groups take a CPU's compiler half a minute each\n");
        skip();
    }
    char *folder = make_folder(), *kernels = copy_kernels(folder);
    replace(kernels, "tree/group_eval.h", "", "GV_TO_BODY(s, b, tile[GV_TILE + j]), b.w,",
            "GV_TO_BODY(s, b, tile[GV_TILE + j]), b.w * (GV_TILE == 128 ? GV_R(1.1) : GV_R(1.0)),");
    gravel_context *context = open_context(kernels, NULL);
    assert_true(error_of_shape(context, 1) > 1);
    gravel_context_release(context);
    context = open_context(NULL, NULL);
    for (unsigned shape = 1; shape <= GV_TREE_SHAPES && all; shape++)
        assert_true(error_of_shape(context, shape) < 0.5);
    gravel_context_release(context);
    remove_folder(kernels);
    remove_folder(folder);
    free(kernels);
    free(folder);
}

/* Neighbours by mass, and some time ahead, are told apart by any rounding of float, too: with the radii and times of
 * src/host/direct/prove.c. */
static void near_ones_are_told_apart(void **state)
{
    gv_known *k = malloc(sizeof *k);
    (void)state;
    assert_non_null(k);
    gv_known_make(k, 0);
    for (int i = 0; i < GV_KNOWN_BODIES; i++)
        for (int j = 0; j < GV_KNOWN_BODIES; j++) {
            const double now = gv_known_distance2(k, i, j);
            double then = 0;
            for (int c = 0; c < 3; c++) {
                const double d = k->pos[c][j] - k->pos[c][i] + 0.05 * (1 + i % 3) * (k->vel[c][j] - k->vel[c][i]);
                then += d * d;
            }
            assert_true(fabs(now / (0.09 * GV_KNOWN_BODIES * k->mass[j]) - 1) > 1e-5);
            assert_true(fabs(then / 0.09 - 1) > 1e-5);
        }
    free(k);
}

/* ---------------------------------------------------------------- in a call */

enum { FEW = 20 };

static void call_tree(gravel_context *context, gravel_softening softening, double eps, const gravel_sources *bodies)
{
    double pot[FEW];
    const gravel_forces forces = {.pot = pot};
    gravel_tree_options options = GRAVEL_TREE_OPTIONS_INIT;
    gravel_tree *tree;
    options.softening = softening;
    assert_ok(gravel_tree_create(&tree, context, &options));
    assert_ok(gravel_tree_write(tree, bodies));
    assert_ok(gravel_tree_forces(tree, eps, &forces));
    gravel_tree_release(tree);
}

static void call_tree_by_rule(gravel_context *context, gravel_soften rule, const gravel_sources *sources)
{
    double pot[FEW], length[FEW];
    const gravel_array position = {sources->pos.x, sources->pos.y, sources->pos.z, sources->pos.stride, GRAVEL_F64};
    gravel_forces forces = {.pot = pot};
    gravel_tree *tree;
    gravel_bodies *bodies;
    gravel_tree_call call;
    gravel_ticket *ticket;
    for (int k = 0; k < FEW; k++)
        length[k] = 0.1;
    assert_ok(gravel_bodies_create(&bodies, context, NULL));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, FEW, &position));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_MASS, 0, FEW, &GRAVEL_ARRAY(sources->mass)));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_SOFTENING, 0, FEW, &GRAVEL_ARRAY(length)));
    gravel_tree_call_init(&call);
    call.sinks = gravel_view_all(bodies);
    call.soften = rule;
    assert_ok(gravel_tree_create(&tree, context, NULL));
    assert_ok(gravel_tree_set_sources(tree, &call.sinks));
    assert_ok(gravel_tree_build(tree));
    assert_ok(gravel_tree_walk(tree, &call, &ticket));
    assert_ok(gravel_ticket_collect(ticket, &forces, NULL));
    gravel_ticket_release(ticket);
    gravel_tree_release(tree);
    gravel_bodies_release(bodies);
}

static double exponential(double s, void *unused)
{
    (void)unused;
    return exp(-s);
}

static void call_once(gravel_direct *direct, const gravel_direct_call *call)
{
    double pot[FEW];
    uint32_t count[FEW], list[FEW][4];
    gravel_forces forces = {.pot = pot};
    gravel_ticket *ticket;
    if (call->neighbour_capacity > 0) {
        forces.neighbour_count = count;
        forces.neighbour_address = list[0];
    }
    assert_ok(gravel_direct_start(direct, call, &ticket));
    assert_ok(gravel_ticket_collect(ticket, &forces, NULL));
    gravel_ticket_release(ticket);
}

/* Before its first use each is proven, once; what a caller names is not. */
static void calls_prove_them(void **state)
{
    double x[FEW][3], m[FEW], radius[FEW];
    const gravel_sources bodies = {.count = FEW, .mass = m, .pos = {&x[0][0], &x[0][1], &x[0][2], 3}};
    const gravel_sinks sinks = {.count = FEW, .pos = {&x[0][0], &x[0][1], &x[0][2], 3}, .radius = radius};
    gravel_context_options wanted = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_table table = GRAVEL_TABLE_INIT;
    gravel_context *context;
    (void)state;
    SKIP_WITHOUT_DEVICE();
    char *cache = make_folder();
    wanted.cache_dir = cache;
    assert_ok(gravel_context_create(&context, &wanted));
    for (int k = 0; k < FEW; k++) {
        x[k][0] = k;
        x[k][1] = k % 3;
        x[k][2] = k % 5;
        m[k] = 0.1;
        radius[k] = 1.5;
    }
    table.kind = GRAVEL_TABLE_FORCES;
    table.force = table.potential = exponential;
    table.cut = 4;
    options.order = 2;
    options.precision = GRAVEL_SP;
    for (int named = 0, before = 0; named < 2; named++) {
        gravel_direct *direct;
        options.configuration = named ? "rsqrt=0 unroll=1" : NULL;
        assert_ok(gravel_direct_create(&direct, context, &options));
        assert_ok(gravel_direct_write_sources(direct, 0, &bodies));
        assert_ok(gravel_direct_set_table(direct, &table));
        for (int k = 0; k < 12; k++) {
            gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
            call.points = &sinks;
            call.eps = 0.1;
            call.neighbour_capacity = k % 6 == 1 || k % 6 == 2 ? 4 : 0;
            call.rule = k % 6 == 2 ? GRAVEL_NEIGHBOURS_SPHERE : GRAVEL_NEIGHBOURS_OTHERS;
            call.shape = k % 6 == 3 ? GRAVEL_SHAPE_TABLE : k % 6 == 4 ? GRAVEL_SHAPE_TRUNCATED : GRAVEL_SHAPE_PLUMMER;
            call.r_s = 1;
            call.r_cut = 6;
            call.quadrupoles = k % 6 == 5;
            call_once(direct, &call);
            /* one more at least: where a device gets the first one wrong, that of what it uses instead */
            const int proofs = count_files(cache, "proof", NULL);
            assert_true(named || k >= 6 ? proofs == before : proofs > before);
            before = proofs;
        }
        gravel_direct_release(direct);
    }
    for (int k = 0, before = count_files(cache, "proof", NULL); k < 6; k++) {
        call_tree(context, k % 3 == 1 ? GRAVEL_SPLINE : GRAVEL_PLUMMER, k % 3 == 2 ? 0 : 0.1, &bodies);
        const int proofs = count_files(cache, "proof", NULL);
        assert_true(k < 3 ? proofs > before : proofs == before);
        before = proofs;
    }
    for (int k = 0, before = count_files(cache, "proof", NULL); k < 4; k++) {
        call_tree_by_rule(context, k % 2 ? GRAVEL_SOFTEN_MAX : GRAVEL_SOFTEN_SUM, &bodies);
        const int proofs = count_files(cache, "proof", NULL);
        assert_true(k < 2 ? proofs > before : proofs == before);
        before = proofs;
    }
    gravel_context_release(context);
    remove_folder(cache);
    free(cache);
}

/* ---------------------------------------------------------- blocks of steps */

/* The files of proofs that are wrong from now on: all that are not among `right`, of which there are `n`. */
static void spoil_proofs(const char *cache, char (*right)[96], int n)
{
    static const char wrong = 2;
    DIR *dir = opendir(cache);
    for (struct dirent *next; (next = readdir(dir)) != NULL;) {
        int is_right = strncmp(next->d_name, "proof", strlen("proof")) != 0;
        for (int k = 0; k < n; k++)
            is_right |= strcmp(next->d_name, right[k]) == 0;
        char *path = gv_path_join(cache, next->d_name);
        if (!is_right && next->d_name[0] != '.')
            assert_ok(gv_file_write(path, &wrong, 1));
        free(path);
    }
    closedir(dir);
}

static int list_proofs(const char *cache, char (*name)[96], int most)
{
    DIR *dir = opendir(cache);
    int n = 0;
    for (struct dirent *next; (next = readdir(dir)) != NULL && n < most;)
        if (strncmp(next->d_name, "proof", strlen("proof")) == 0)
            snprintf(name[n++], sizeof name[0], "%.95s", next->d_name);
    closedir(dir);
    return n;
}

enum { PROOFS = 16 };

/* Where blocks bring the bodies, and the proofs that the start made. */
static int go(const char *cache, char (*name)[96], double (*x)[3])
{
    gravel_context_options wanted = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_hermite_options options = GRAVEL_HERMITE_OPTIONS_INIT;
    gravel_direct_options of_direct = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_bodies_options stored = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_hermite_step_info info[64];
    gravel_context *context;
    gravel_direct *direct;
    gravel_bodies *bodies;
    gravel_hermite *hermite;
    double m[FEW], v[FEW][3];
    size_t done = 1;
    wanted.cache_dir = cache;
    assert_ok(gravel_context_create(&context, &wanted));
    for (int k = 0; k < FEW; k++) {
        m[k] = 1.0 / FEW;
        for (int c = 0; c < 3; c++) {
            x[k][c] = sin(1.7 * k + 2.9 * c);
            v[k][c] = 0.3 * cos(2.3 * k - 1.1 * c);
        }
    }
    stored.precision = of_direct.precision = GRAVEL_DS;
    of_direct.order = options.order = 4;
    options.eps = 0.1;
    assert_ok(gravel_bodies_create(&bodies, context, &stored));
    assert_ok(gravel_direct_create(&direct, context, &of_direct));
    assert_ok(gravel_hermite_create(&hermite, bodies, direct, &options));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, FEW, &GRAVEL_ARRAY_AOS(x)));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_VELOCITY, 0, FEW, &GRAVEL_ARRAY_AOS(v)));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_MASS, 0, FEW, &GRAVEL_ARRAY(m)));
    assert_ok(gravel_hermite_start(hermite, 0));
    const int n = list_proofs(cache, name, PROOFS);
    while (done > 0)
        assert_ok(gravel_hermite_steps(hermite, 0.25, 64, info, &done));
    assert_ok(gravel_bodies_read(bodies, GRAVEL_POSITION, 0, FEW, &GRAVEL_ARRAY_OUT_AOS(x)));
    gravel_hermite_release(hermite);
    gravel_direct_release(direct);
    gravel_bodies_release(bodies);
    gravel_context_release(context);
    return n;
}

/* Where the sums of blocks that the device has found are wrong, the host says what each block is: the same bits. */
static void blocks_go_on_without(void **state)
{
    double x[FEW][3], y[FEW][3];
    char name[PROOFS][96];
    (void)state;
    SKIP_WITHOUT_DEVICE();
    char *cache = make_folder();
    const int started = go(cache, name, x);
    const int proofs = count_files(cache, "proof", NULL);
    assert_true(proofs > started);
    spoil_proofs(cache, name, started);
    go(cache, name, y);
    assert_memory_equal(x, y, sizeof x);
    assert_int_equal(count_files(cache, "proof", NULL), proofs);
    remove_folder(cache);
    free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_ones_are_told_apart), cmocka_unit_test(all_are_right),
        cmocka_unit_test(what_is_spoilt_is_seen),   cmocka_unit_test(lengths_of_cells_are_seen),
        cmocka_unit_test(groups_of_few_sinks),      cmocka_unit_test(calls_prove_them),
        cmocka_unit_test(blocks_go_on_without),
    };
    return cmocka_run_group_tests_name("proof_aside", tests, NULL, NULL);
}
