/* src/host/step/ahead.c: blocks that the device moves one after another, with what the host expected of them. */
#include "hermite_test.h"

#include "host/profile/call_sizes.h"
#include "host/step/step.h"

static gravel_status no_force(gravel_bodies *set, size_t first, size_t count, double time, void *user)
{
    (void)set, (void)first, (void)count, (void)time;
    ++*(int *)user;
    return GRAVEL_OK;
}

static gravel_hermite_options options_of(int order)
{
    gravel_hermite_options o = GRAVEL_HERMITE_OPTIONS_INIT;
    o.order = order;
    o.criterion = order == 6 ? GRAVEL_STEP_AVERAGE : GRAVEL_STEP_AARSETH;
    o.eps = 0.01;
    o.tally = 1;
    return o;
}

/* Everything about the bodies and what blocks there were. */
typedef struct outcome {
    void *state;
    size_t size, blocks, calls;
    gravel_hermite_step_info info[400];
    uint64_t counts[GRAVEL_STEP_POWERS];
} outcome;

/* All blocks until `until`, in calls for at most `most` of them. */
static void go(run *r, double until, size_t most, outcome *to)
{
    size_t done = 1;
    memset(to, 0, sizeof *to);
    for (; done > 0; to->blocks += done, to->calls++) {
        assert_true(to->blocks + most <= sizeof to->info / sizeof to->info[0]);
        assert_ok(gravel_hermite_steps(r->hermite, until, most, to->info + to->blocks, &done));
    }
    to->size = gravel_bodies_get_state_size(r->bodies);
    to->state = malloc(to->size);
    assert_non_null(to->state);
    assert_ok(gravel_bodies_save(r->bodies, to->state));
    assert_ok(gravel_hermite_add_step_counts(r->hermite, to->counts));
}

static void assert_alike(const outcome *a, const outcome *b)
{
    assert_int_equal(a->blocks, b->blocks);
    assert_memory_equal(a->info, b->info, sizeof a->info);
    assert_memory_equal(a->counts, b->counts, sizeof a->counts);
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->state, b->state, a->size);
}

/* A call-back for an external force, which adds nothing, makes the host wait for each block and move it by other
 * kernels.  Bits are the same, however many blocks are submitted at once. */
static void ahead_or_not_is_the_same(void **state)
{
    CONTEXT_OR_SKIP(context)
    for (int order = 4; order <= 6; order += 2)
        for (int p = GRAVEL_DS; p <= GRAVEL_DP; p++) {
            gravel_hermite_options o = options_of(order);
            const double until = 0.1;
            int called = 0;
            outcome plain, one, many;
            if (!has_precision(context, (gravel_precision)p))
                continue;
            run ahead = make_run(context, (gravel_precision)p, &o), single = make_run(context, (gravel_precision)p, &o);
            o.external = no_force;
            o.external_user = &called;
            run waiting = make_run(context, (gravel_precision)p, &o);
            fill_run(&ahead, 1);
            fill_run(&single, 1);
            fill_run(&waiting, 1);
            called = 0;
            go(&waiting, until, 1, &plain);
            go(&single, until, 1, &one);
            go(&ahead, until, 64, &many);
            assert_int_equal(called, plain.blocks);
            print_message("order %d, %s: %zu blocks in %zu calls\n", order, gravel_precision_name((gravel_precision)p),
                          many.blocks, many.calls - 1);
            assert_true(many.calls < many.blocks / 2 && one.calls == one.blocks + 1);
            assert_true(many.blocks > 20 && many.info[many.blocks - 1].time <= until);
            assert_alike(&one, &many);
            assert_alike(&plain, &many);
            free(plain.state);
            free(one.state);
            free(many.state);
            free_run(&ahead);
            free_run(&single);
            free_run(&waiting);
        }
}

/* Blocks of another size than is expected, at first and later, only cost launches. */
static void wrong_expectations_change_nothing(void **state)
{
    CONTEXT_OR_SKIP(context)
    const gravel_hermite_options o = options_of(4);
    outcome right, wrong;
    run a = make_run(context, GRAVEL_DS, &o), b = make_run(context, GRAVEL_DS, &o);
    size_t done;
    fill_run(&a, 1);
    fill_run(&b, 1);
    go(&a, 0.05, 64, &right);
    memset(&wrong, 0, sizeof wrong);
    do {
        b.hermite->ahead.depth = 16;
        b.hermite->ahead.rhythm.gap = 0x1p-13;
        for (size_t k = 0; k < GRAVEL_STEP_POWERS; k++)
            b.hermite->ahead.rhythm.size[k] = k % 3 == 0 ? 1 : k % 3 == 1 ? 500 : 3;
        assert_ok(gravel_hermite_steps(b.hermite, 0.05, 64, wrong.info + wrong.blocks, &done));
        wrong.blocks += done;
    } while (done > 0);
    wrong.size = gravel_bodies_get_state_size(b.bodies);
    wrong.state = malloc(wrong.size);
    assert_non_null(wrong.state);
    assert_ok(gravel_bodies_save(b.bodies, wrong.state));
    assert_ok(gravel_hermite_add_step_counts(b.hermite, wrong.counts));
    assert_alike(&right, &wrong);
    free(right.state);
    free(wrong.state);
    free_run(&a);
    free_run(&b);
}

/* Launches for another size leave anything in the planes of forces, also what is no number: blocks that the host waits
 * for, and looks, do not read it. */
static void what_is_left_is_not_read(void **state)
{
    CONTEXT_OR_SKIP(context)
    static const gv_word word[] = {GV_WORD_ACCELERATION, GV_WORD_JERK, GV_WORD_SNAP, GV_WORD_POTENTIAL};
    const cl_uint no_number = 0x7fc00000;
    for (int order = 4; order <= 6; order += 2) {
        const gravel_hermite_options o = options_of(order);
        double x[2][N][3], next = 0;
        for (int spoilt = 0; spoilt < 2; spoilt++) {
            run r = make_run(context, GRAVEL_DS, &o);
            gravel_bodies *at;
            outcome end;
            fill_run(&r, 1);
            go(&r, 0.02, 64, &end);
            free(end.state);
            for (size_t k = 0; k < sizeof word / sizeof word[0] && spoilt; k++) {
                cl_mem mem;
                assert_ok(gv_bodies_need(r.hermite->active, word[k], &mem));
                const size_t bytes = N * gv_word_size(r.hermite->active, word[k]);
                assert_int_equal(clEnqueueFillBuffer(gv_worker_queue(&r.hermite->worker), mem, &no_number,
                                                     sizeof no_number, 0, bytes, 0, NULL, NULL),
                                 0);
            }
            assert_ok(gravel_hermite_get_next(r.hermite, &next));
            assert_ok(gravel_hermite_get_bodies_at(r.hermite, next, &at));
            assert_ok(gravel_bodies_read(at, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_OUT_AOS(x[spoilt])));
            free_run(&r);
        }
        assert_memory_equal(x[0], x[1], sizeof x[0]);
        assert_true(isfinite(x[1][0][0]));
    }
}

/* Beyond 32768 bodies the host knows each block: 1003 bodies get the same forces, whatever block came before. */
static void blocks_of_many_bodies_have_no_past(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { MANY = 32800, BLOCK = 1003, BEFORE = 1020 }; /* of one cell of sizes */
    static double acc[2][3][BLOCK];
    char choices[2][4000];
    const gravel_hermite_options o = options_of(4);
    gv_particles p;
    assert_ok(gv_ic_plummer(MANY, 5, NULL, &p));
    for (int late = 0; late < 2; late++) {
        run r = make_run(context, GRAVEL_DS, &o);
        assert_ok(gravel_bodies_resize(r.bodies, MANY));
        assert_ok(gravel_bodies_write(r.bodies, GRAVEL_POSITION, 0, MANY, &GRAVEL_ARRAY_SOA(p.x, p.y, p.z)));
        assert_ok(gravel_bodies_write(r.bodies, GRAVEL_MASS, 0, MANY, &GRAVEL_ARRAY(p.m)));
        if (late)
            assert_ok(gv_hermite_forces(r.hermite, 4, gravel_view_range(r.bodies, 0, BEFORE), 1, 0));
        assert_ok(gv_hermite_forces(r.hermite, 4, gravel_view_range(r.bodies, 0, BLOCK), 1, 0));
        assert_ok(gravel_bodies_read(r.bodies, GRAVEL_ACCELERATION, 0, BLOCK,
                                     &GRAVEL_ARRAY_OUT_SOA(acc[late][0], acc[late][1], acc[late][2])));
        assert_true(gravel_direct_get_choices(r.direct, choices[late], sizeof choices[late]) <= sizeof choices[late]);
        free_run(&r);
    }
    assert_string_equal(choices[0], choices[1]);
    assert_memory_equal(acc[0], acc[1], sizeof acc[0]);
    gv_particles_free(&p);
}

/* Steps of 1/8 ... 1/64: the sizes of a block of each kind are known after the first of them. */
static void sizes_repeat(void **state)
{
    gv_rhythm r = {0};
    (void)state;
    assert_int_equal(gv_rhythm_expect(&r, 0.5), 0);
    for (int k = 1; k <= 8; k++)
        gv_rhythm_note(&r, (k - 1) / 64.0, k / 64.0, k % 8 == 0 ? 40 : k % 4 == 0 ? 30 : k % 2 == 0 ? 20 : 10);
    assert_true(r.gap == 1.0 / 64);
    assert_int_equal(gv_rhythm_expect(&r, 9 / 64.0), 10);
    assert_int_equal(gv_rhythm_expect(&r, 10 / 64.0), 20);
    assert_int_equal(gv_rhythm_expect(&r, 12 / 64.0), 30);
    assert_int_equal(gv_rhythm_expect(&r, 24 / 64.0), 40);
    assert_int_equal(gv_rhythm_expect(&r, 16 / 64.0), 0); /* there was none */
}

/* How many calls the run's solver writes that it has started, of one variant. */
static uint64_t calls_of_run(gravel_context *context, const gravel_hermite_options *o, size_t *blocks)
{
    gv_call_sizes sizes = GV_CALL_SIZES_INIT;
    char *folder = make_folder();
    outcome all;
    uint64_t calls = 0;
    int others;
    setenv("GRAVEL_CALLS_DIR", folder, 1);
    run r = make_run(context, GRAVEL_DS, o);
    fill_run(&r, 1);
    r.hermite->ahead.depth = 16;
    r.hermite->ahead.rhythm.gap = 0x1p-13; /* most are submitted in vain at first */
    go(&r, 0.05, 64, &all);
    *blocks = all.blocks;
    free(all.state);
    free_run(&r);
    unsetenv("GRAVEL_CALLS_DIR");
    assert_ok(gv_call_sizes_read(folder, gravel_context_get_device(context, 0)->name, &sizes, &others));
    for (int k = 0; k < sizes.n; k++) {
        assert_string_equal(sizes.size[k].variant.name, "ds4");
        calls += sizes.size[k].calls;
    }
    gv_call_sizes_free(&sizes);
    remove_folder(folder);
    free(folder);
    return calls;
}

/* Those that the device has done, as where the host waits for each; not those that were submitted in vain. */
static void blocks_are_counted(void **state)
{
    CONTEXT_OR_SKIP(context)
    gravel_hermite_options o = options_of(4);
    size_t blocks, waiting_blocks;
    int called = 0;
    const uint64_t ahead = calls_of_run(context, &o, &blocks);
    o.external = no_force;
    o.external_user = &called;
    const uint64_t waiting = calls_of_run(context, &o, &waiting_blocks);
    assert_int_equal(blocks, waiting_blocks);
    assert_true(ahead == waiting && ahead > blocks && ahead < blocks + 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ahead_or_not_is_the_same),
        cmocka_unit_test(wrong_expectations_change_nothing),
        cmocka_unit_test(what_is_left_is_not_read),
        cmocka_unit_test(blocks_of_many_bodies_have_no_past),
        cmocka_unit_test(sizes_repeat),
        cmocka_unit_test(blocks_are_counted),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
