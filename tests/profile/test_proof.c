/* src/host/profile/proof.c and known.c: the known answers are those of the reference; a configuration with wrong ones
 * is not used, and the verdict is kept. */
#include "host_test.h"

#include <math.h>

#include "cpu_ref/ref.h"
#include "host/direct/plan.h"
#include "host/profile/known.h"
#include "host/profile/proof.h"
#include "host/tree/plan.h"

/* ----------------------------------------------------------- known answers */

typedef struct answers {
    double value[10][GV_KNOWN_BODIES];
} answers;

static void solve(const gv_known *k, answers *out)
{
    gv_known_answer one;
    for (int i = 0; i < GV_KNOWN_BODIES; i++) {
        gv_known_solve(k, i, &one);
        for (int q = 0; q < 3; q++)
            for (int c = 0; c < 3; c++)
                out->value[3 * q + c][i] = one.vector[q][c];
        out->value[9][i] = one.pot;
    }
}

/* Two independent programs from the same formulas: double against long double, 331 terms of either sign with a rounding
 * of 2^-53 each, and some in every term: 40 of them relative to the largest. */
static void answers_are_the_references(void **state)
{
    gv_known *k = malloc(sizeof *k);
    answers *mine = malloc(sizeof *mine), *truth = malloc(sizeof *truth);
    (void)state;
    assert_true(k && mine && truth);
    for (int soft = 0; soft < 2; soft++) {
        gv_known_make(k, soft ? 1e-2 : 0);
        solve(k, mine);
        const gv_ref_particles p = {.n = GV_KNOWN_BODIES,
                                    .id = k->id,
                                    .m = k->mass,
                                    .x = k->pos[0],
                                    .y = k->pos[1],
                                    .z = k->pos[2],
                                    .vx = k->vel[0],
                                    .vy = k->vel[1],
                                    .vz = k->vel[2],
                                    .ax = k->acc[0],
                                    .ay = k->acc[1],
                                    .az = k->acc[2]};
        double(*t)[GV_KNOWN_BODIES] = truth->value;
        const gv_ref_forces f = {.ax = t[0],
                                 .ay = t[1],
                                 .az = t[2],
                                 .jx = t[3],
                                 .jy = t[4],
                                 .jz = t[5],
                                 .sx = t[6],
                                 .sy = t[7],
                                 .sz = t[8],
                                 .pot = t[9]};
        assert_int_equal(gv_ref_direct(GV_REF_LONG_DOUBLE, 6, &p, &p, k->eps, NULL, 0, &f), 0);
        const gravel_forces view = {
            .acc = {t[0], t[1], t[2], 1}, .jerk = {t[3], t[4], t[5], 1}, .snap = {t[6], t[7], t[8], 1}, .pot = t[9]};
        assert_true(gv_known_error(k, &view, GV_KNOWN_BODIES) < 40 * 0x1p-53);
        t[4][17] *= 1.001; /* one component of one body */
        assert_true(gv_known_error(k, &view, GV_KNOWN_BODIES) > 1e-7);
        t[4][17] = NAN;
        assert_true(isinf(gv_known_error(k, &view, GV_KNOWN_BODIES)));
    }
    free(truth);
    free(mine);
    free(k);
}

/* Who is near is told by any rounding of float: squares of distances differ by far more, from each other for the two
 * nearest and from those of the radii in use (src/host/direct/prove.c: 0.3). */
static void near_ones_are_told_apart(void **state)
{
    gv_known *k = malloc(sizeof *k);
    (void)state;
    assert_non_null(k);
    gv_known_make(k, 0);
    for (int i = 0; i < GV_KNOWN_BODIES; i++) {
        double first = INFINITY, second = INFINITY;
        for (int j = 0; j < GV_KNOWN_BODIES; j++) {
            const double r2 = j == i ? INFINITY : gv_known_distance2(k, i, j);
            assert_true(fabs(r2 / 0.09 - 1) > 1e-5);
            second = fmin(second, fmax(first, r2));
            first = fmin(first, r2);
        }
        assert_true(second / first - 1 > 1e-5);
    }
    free(k);
}

/* ------------------------------------------------------------------ proofs */

/* A space of one tunable, 0 ... 3; which values are right is up to the test. */
static int right[4], calls, outcome_status, refusals; /* refusals: GRAVEL_ERR_LAUNCH so many times first */

static const gv_tunable tunable[] = {{"kind", "", "of fake", 1, 4, {0, 1, 2, 3}}};

static void built_in(gv_config *config, const gv_variant *variant, const gv_limits *limits, size_t sinks,
                     size_t sources)
{
    (void)variant, (void)limits, (void)sinks, (void)sources;
    memset(config, 0, sizeof *config);
    config->value[0] = 1;
}

static gravel_status prove_fake(gravel_context *context, int device, const gv_variant *variant,
                                const char *configuration, double *error, double *most)
{
    (void)context, (void)device, (void)variant;
    calls++;
    if (refusals > 0 && refusals--)
        return gv_fail(GRAVEL_ERR_LAUNCH, "no resources");
    *most = 1e-5;
    *error = right[configuration[strlen("kind=")] - '0'] ? 1e-6 : 1e-2;
    return outcome_status ? gv_fail((gravel_status)outcome_status, "as the test wants it") : GRAVEL_OK;
}

static const char *fake_program(unsigned features)
{
    (void)features;
    return " softly";
}

static const gv_space fake = {.kernel = "fake",
                              .program = fake_program,
                              .n_tunables = 1,
                              .tunable = tunable,
                              .built_in = built_in,
                              .prove = prove_fake,
                              .plain = {"kind=2", "kind=3"}};

static gravel_status settle(gravel_context *context, int kind, int *became)
{
    gv_config config = {{kind}};
    gravel_origin origin = GRAVEL_ORIGIN_TYPE;
    gv_variant variant;
    gv_variant_set(&variant, 2, GRAVEL_SP, 0);
    const gravel_status status = gv_proof_settle(context, 0, &fake, &variant, 100, 100, &config, &origin);
    *became = config.value[0];
    assert_int_equal(origin, *became == kind ? GRAVEL_ORIGIN_TYPE : GRAVEL_ORIGIN_BUILT_IN);
    return status;
}

static gravel_status require(gravel_context *context, int kind)
{
    const gv_config config = {{kind}};
    gv_variant variant;
    gv_variant_set(&variant, 2, GRAVEL_SP, 0);
    return gv_proof_require(context, 0, &fake, &variant, &config);
}

static gravel_context *open_context(const char *cache, test_log *log)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_context *context;
    memset(log, 0, sizeof *log);
    options.cache_dir = cache;
    options.log = log_into;
    options.log_user = log;
    assert_ok(gravel_context_create(&context, &options));
    return context;
}

static void what_is_wrong_is_not_used(void **state)
{
    static test_log log;
    char *cache = make_folder();
    int became;
    (void)state;
    SKIP_WITHOUT_DEVICE();
    gravel_context *context = open_context(cache, &log);
    calls = outcome_status = 0;
    right[0] = right[1] = right[2] = right[3] = 1;
    assert_ok(settle(context, 0, &became));
    assert_true(became == 0 && calls == 1 && log.warnings == 0);
    assert_ok(settle(context, 0, &became)); /* remembered */
    assert_int_equal(calls, 1);
    gravel_context_release(context);

    context = open_context(cache, &log); /* ... by the cache */
    right[0] = 0;
    assert_ok(settle(context, 0, &became));
    assert_true(became == 0 && calls == 1);
    remove_folder(cache); /* and looked up there once only: each call of a solver asks */
    assert_ok(settle(context, 0, &became));
    assert_true(became == 0 && calls == 1);
    gravel_context_release(context);

    context = open_context(cache, &log); /* the built-in one instead, then a plain one */
    calls = 0;
    assert_ok(settle(context, 0, &became));
    assert_true(became == 1 && calls == 2 && log.warnings == 1);
    assert_contains(log.text,
                    "fake sp2 softly with kind=0 is not used: a known problem comes out with an error of 1.0e-02");
    gravel_context_release(context);
    remove_folder(cache);
    context = open_context(cache, &log);
    right[1] = right[2] = 0;
    assert_ok(settle(context, 0, &became));
    assert_int_equal(became, 3);
    gravel_context_release(context);
    remove_folder(cache);
    context = open_context(cache, &log);
    right[3] = 0;
    for (int again = 0; again < 2; again++) { /* the same reason both times, the warnings once */
        assert_int_equal(settle(context, 0, &became), GRAVEL_ERR_UNSUPPORTED);
        assert_contains(gravel_error_message(),
                        "no configuration of fake sp2 softly builds, starts and gives the right "
                        "forces");
        assert_contains(gravel_error_message(), "the last one: a known problem comes out with an error of 1.0e-02");
        assert_int_equal(log.warnings, 4);
    }
    gravel_context_release(context);

    context = open_context(cache, &log); /* the verdict wrong is kept as well */
    calls = 0;
    right[0] = right[1] = right[2] = right[3] = 1;
    assert_int_equal(settle(context, 0, &became), GRAVEL_ERR_UNSUPPORTED);
    assert_contains(gravel_error_message(), "the last one: it failed its self-test in an earlier process");
    assert_int_equal(calls, 0);
    gravel_context_release(context);
    remove_folder(cache);
    free(cache);
}

/* A verdict is that of the kernels beside the tuned one, too: those that take bodies and add up what groups leave. */
static void other_kernels_are_proven_anew(void **state)
{
    static test_log log;
    static const char *const take[] = {"direct/take.cl", NULL}, *const reduce[] = {"direct/reduce.cl", NULL};
    const char *const *const beside[] = {take, take, reduce, NULL, reduce};
    static const int wanted[] = {1, 1, 2, 3, 3}; /* trials until then */
    static gv_space space;                       /* one place: objects of a context know a space by it */
    const gv_config config = {{0}};
    char *cache = make_folder();
    gv_variant variant;
    (void)state;
    SKIP_WITHOUT_DEVICE();
    gv_variant_set(&variant, 2, GRAVEL_SP, 0);
    calls = outcome_status = 0;
    right[0] = 1;
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
        gravel_context *context = open_context(cache, &log);
        memcpy(&space, &fake, sizeof space);
        space.file_beside = beside[k];
        assert_ok(gv_proof_require(context, 0, &space, &variant, &config));
        assert_int_equal(calls, wanted[k]);
        gravel_context_release(context);
    }
    remove_folder(cache);
    free(cache);
}

/* A program that nothing can take the place of is refused where it is wrong. */
static void what_is_required_is_right_or_refused(void **state)
{
    static test_log log;
    (void)state;
    SKIP_WITHOUT_DEVICE();
    gravel_context *context = open_context("", &log);
    calls = outcome_status = refusals = 0;
    right[0] = 1;
    right[1] = 0;
    for (int again = 0; again < 2; again++) {
        assert_ok(require(context, 0));
        assert_int_equal(require(context, 1), GRAVEL_ERR_UNSUPPORTED);
        assert_contains(gravel_error_message(), "cannot be trusted with fake sp2 softly (kind=1): a known problem");
        assert_int_equal(calls, 2);
    }
    gravel_context_release(context);
    context = open_context("", &log); /* a trial that fails says nothing: the call will; it is not tried again */
    for (int k = 0; k < 2; k++) {
        outcome_status = k ? GRAVEL_ERR_DEVICE_MEMORY : GRAVEL_ERR_BUILD;
        calls = 0;
        for (int again = 0; again < 3; again++) {
            assert_ok(require(context, 2 + k));
            assert_int_equal(calls, 1);
        }
    }
    assert_int_equal(log.warnings, 0);
    outcome_status = 0;
    gravel_context_release(context);
}

/* A thread that proves keeps no other one from it: while kind 0 is tried, another thread asks for 2, which is wrong. */
static struct {
    gravel_context *context;
    int became;
} other;

static void *ask_for_another(void *unused)
{
    settle(other.context, 2, &other.became);
    return unused;
}

static gravel_status prove_beside(gravel_context *context, int device, const gv_variant *variant,
                                  const char *configuration, double *error, double *most)
{
    if (strcmp(configuration, "kind=0") == 0) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, ask_for_another, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    return prove_fake(context, device, variant, configuration, error, most);
}

static void threads_prove_for_themselves(void **state)
{
    static test_log log;
    static gv_space beside;
    gv_config config = {{0}};
    gravel_origin origin = GRAVEL_ORIGIN_TYPE;
    gv_variant variant;
    (void)state;
    SKIP_WITHOUT_DEVICE();
    other.context = open_context("", &log);
    beside = fake;
    beside.prove = prove_beside;
    outcome_status = refusals = 0;
    right[0] = right[1] = right[3] = 1;
    right[2] = 0;
    gv_variant_set(&variant, 2, GRAVEL_SP, 0);
    assert_ok(gv_proof_settle(other.context, 0, &beside, &variant, 100, 100, &config, &origin));
    assert_int_equal(config.value[0], 0);
    assert_int_equal(other.became, 1);
    gravel_context_release(other.context);
}

/* What does not build may have met a full disk: another process tries again. */
static void a_build_that_failed_is_tried_again(void **state)
{
    static test_log log;
    char *cache = make_folder();
    int became;
    (void)state;
    SKIP_WITHOUT_DEVICE();
    right[0] = right[1] = right[2] = right[3] = 1;
    gravel_context *context = open_context(cache, &log);
    outcome_status = GRAVEL_ERR_BUILD;
    assert_int_equal(settle(context, 0, &became), GRAVEL_ERR_UNSUPPORTED);
    gravel_context_release(context);
    context = open_context(cache, &log);
    outcome_status = 0;
    assert_ok(settle(context, 0, &became));
    assert_int_equal(became, 0);
    gravel_context_release(context);
    remove_folder(cache);
    free(cache);
}

static void failures_say_nothing_of_forces(void **state)
{
    static test_log log;
    char *cache = make_folder();
    int became;
    (void)state;
    SKIP_WITHOUT_DEVICE();
    gravel_context *context = open_context(cache, &log);
    calls = 0;
    right[0] = right[1] = right[2] = right[3] = 1;
    outcome_status = GRAVEL_ERR_DEVICE_MEMORY; /* may succeed next time: used, no verdict is kept */
    assert_ok(settle(context, 0, &became));
    assert_int_equal(became, 0);
    assert_ok(settle(context, 0, &became));
    assert_int_equal(calls, 2);
    outcome_status = GRAVEL_ERR_BUILD; /* does not compile here, whichever */
    assert_int_equal(settle(context, 0, &became), GRAVEL_ERR_UNSUPPORTED);
    assert_contains(log.text, "as the test wants it");
    outcome_status = 0;
    context->for_once = 1; /* a candidate of the tuner is verified by the tuner */
    calls = 0;
    assert_ok(settle(context, 0, &became));
    assert_int_equal(calls, 0);
    gravel_context_release(context);
    remove_folder(cache);
    free(cache);
}

/* A device that is short of resources for a moment is asked again; for longer it is asked again by the next context. */
static void a_start_that_fails_is_not_kept(void **state)
{
    static test_log log;
    char *cache = make_folder();
    int became;
    (void)state;
    SKIP_WITHOUT_DEVICE();
    gravel_context *context = open_context(cache, &log);
    calls = outcome_status = 0;
    right[0] = right[1] = right[2] = right[3] = refusals = 1;
    assert_ok(settle(context, 0, &became));
    assert_true(became == 0 && calls == 2 && log.warnings == 0);
    gravel_context_release(context);
    remove_folder(cache);

    context = open_context(cache, &log);
    calls = 0;
    refusals = 2;
    assert_ok(settle(context, 0, &became));
    assert_true(became == 1 && calls == 3 && log.warnings == 1);
    assert_ok(settle(context, 0, &became));
    assert_true(became == 1 && calls == 3);
    gravel_context_release(context);
    context = open_context(cache, &log);
    assert_ok(settle(context, 0, &became));
    assert_true(became == 0 && calls == 4);
    gravel_context_release(context);
    remove_folder(cache);
    free(cache);
}

/* A compiler that gets vectors of more than so many lanes wrong */
static int widest_right;

static const gv_tunable lanes_tunable[] = {{"lanes", "", "of wide", 1, 5, {1, 2, 4, 8, 16}}};

static void wide_built_in(gv_config *config, const gv_variant *variant, const gv_limits *limits, size_t sinks,
                          size_t sources)
{
    (void)variant, (void)limits, (void)sinks, (void)sources;
    memset(config, 0, sizeof *config);
    config->value[0] = 16;
}

static gravel_status prove_wide(gravel_context *context, int device, const gv_variant *variant,
                                const char *configuration, double *error, double *most)
{
    (void)context, (void)device, (void)variant;
    calls++;
    *most = 1e-5;
    *error = atoi(configuration + strlen("lanes=")) <= widest_right ? 1e-6 : 1e-2;
    return GRAVEL_OK;
}

static const gv_space wide = {.kernel = "wide",
                              .n_tunables = 1,
                              .tunable = lanes_tunable,
                              .built_in = wide_built_in,
                              .prove = prove_wide,
                              .plain = {"lanes=1", "lanes=1"}};

/* Down the ladder to the widest vectors that are right, at last to none, without a word from the user. */
static void vectors_become_narrower(void **state)
{
    static const struct {
        int right, became, calls;
    } c[] = {{16, 16, 1}, {8, 8, 2}, {4, 4, 3}, {2, 1, 4}, {1, 1, 4}};
    static test_log log;
    (void)state;
    SKIP_WITHOUT_DEVICE();
    gravel_context *context = open_context("", &log);
    for (size_t k = 0; k < sizeof c / sizeof c[0]; k++) {
        gv_config config = {{16}};
        gravel_origin origin = GRAVEL_ORIGIN_FAMILY;
        gv_variant variant;
        gv_variant_set(&variant, k < 3 ? 2 * (int)k + 2 : 2, k < 3 ? GRAVEL_SP : k < 4 ? GRAVEL_DS : GRAVEL_DP, 0);
        calls = 0;
        widest_right = c[k].right;
        assert_ok(gv_proof_settle(context, 0, &wide, &variant, 100, 100, &config, &origin));
        assert_int_equal(config.value[0], c[k].became);
        assert_int_equal(calls, c[k].calls);
        assert_int_equal(origin, c[k].became == 16 ? GRAVEL_ORIGIN_FAMILY : GRAVEL_ORIGIN_BUILT_IN);
    }
    gravel_context_release(context);
}

/* Both real proofs pass on a device in its usual configuration, far from what they allow, and those of direct sums also
 * without eps and with softening lengths of sinks, and of sinks and sources. */
static void real_proofs(void **state)
{
    static const unsigned program[] = {0, GV_DIRECT_UNSOFTENED, GV_DIRECT_BY_SINKS,
                                       GV_DIRECT_BY_SINKS | GV_DIRECT_BY_SOURCES};
    static test_log log;
    double error, most;
    gv_variant variant;
    char text[256];
    gv_config config;
    (void)state;
    SKIP_WITHOUT_DEVICE();
    gravel_context *context = open_context(NULL, &log);
    const gv_limits limits = gv_limits_of(context, 0);
    for (size_t k = 0; k < sizeof program / sizeof *program; k++) {
        gv_variant_set(&variant, 6, GRAVEL_DS, program[k] | GV_DIRECT_NEAREST | GV_DIRECT_LISTS);
        gv_direct_space.built_in(&config, &variant, &limits, 64, 1000);
        gv_space_format(&gv_direct_space, &config, text, sizeof text);
        assert_ok(gv_direct_space.prove(context, 0, &variant, text, &error, &most));
        print_message("direct, program %u: %.2g of %.2g\n", program[k], error, most);
        assert_true(error < 0.2 * most && error > 0);
    }
    gv_variant_set(&variant, 2, GRAVEL_SP, 0);
    gv_tree_space.built_in(&config, &variant, &limits, 1000, 1000);
    gv_space_format(&gv_tree_space, &config, text, sizeof text);
    assert_ok(gv_tree_space.prove(context, 0, &variant, text, &error, &most));
    print_message("tree: %.2g of %.2g\n", error, most);
    assert_true(error < 0.5 * most && error > 0);
    gravel_context_release(context);
}

/* Calls without eps, and with softening lengths of bodies, run other programs than those with eps: each of them is
 * proven before its first use, once. */
static void each_program_is_proven(void **state)
{
    enum { N = 20 };
    static const gravel_soften soften[] = {GRAVEL_SOFTEN_EPS, GRAVEL_SOFTEN_EPS,     GRAVEL_SOFTEN_SINKS,
                                           GRAVEL_SOFTEN_SUM, GRAVEL_SOFTEN_SOURCES, GRAVEL_SOFTEN_MAX};
    static const double eps[] = {0.1, 0, 0, 0, 0, 0};
    enum { KINDS = sizeof soften / sizeof *soften };
    static test_log log;
    double x[N][3], m[N], length[N], pot[N];
    const gravel_forces forces = {.pot = pot};
    gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    gravel_direct *direct;
    gravel_bodies *bodies;
    gravel_ticket *ticket;
    char *cache = make_folder();
    (void)state;
    SKIP_WITHOUT_DEVICE();
    gravel_context *context = open_context(cache, &log);
    for (int k = 0; k < N; k++) {
        x[k][0] = k;
        x[k][1] = k % 3;
        x[k][2] = k % 5;
        m[k] = length[k] = 0.1;
    }
    options.order = 2;
    options.precision = GRAVEL_SP;
    assert_ok(gravel_direct_create(&direct, context, &options));
    assert_ok(gravel_bodies_create(&bodies, context, NULL));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_AOS(x)));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_MASS, 0, N, &GRAVEL_ARRAY(m)));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_SOFTENING, 0, N, &GRAVEL_ARRAY(length)));
    call.sources = call.sinks = gravel_view_all(bodies);
    for (int k = 0, before = 0; k < 2 * KINDS; k++) {
        call.soften = soften[k % KINDS];
        call.eps = eps[k % KINDS];
        assert_ok(gravel_direct_start(direct, &call, &ticket));
        assert_ok(gravel_ticket_collect(ticket, &forces, NULL));
        gravel_ticket_release(ticket);
        /* one more at least: where a device gets the first one wrong, that of what it uses instead */
        const int proofs = count_files(cache, "proof", NULL);
        assert_true(k < KINDS ? proofs > before : proofs == before);
        before = proofs;
    }
    gravel_bodies_release(bodies);
    gravel_direct_release(direct);
    gravel_context_release(context);
    remove_folder(cache);
    free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_ones_are_told_apart),
        cmocka_unit_test(threads_prove_for_themselves),
        cmocka_unit_test(a_build_that_failed_is_tried_again),
        cmocka_unit_test(answers_are_the_references),
        cmocka_unit_test(what_is_wrong_is_not_used),
        cmocka_unit_test(other_kernels_are_proven_anew),
        cmocka_unit_test(what_is_required_is_right_or_refused),
        cmocka_unit_test(failures_say_nothing_of_forces),
        cmocka_unit_test(a_start_that_fails_is_not_kept),
        cmocka_unit_test(vectors_become_narrower),
        cmocka_unit_test(real_proofs),
        cmocka_unit_test(each_program_is_proven),
    };

    return cmocka_run_group_tests_name("proof", tests, NULL, NULL);
}
