/* src/host/program/traits.c and features.c: what follows from a trial, on made-up trials; what identifies the
 * compiler's target. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "host_test.h"

#include <dlfcn.h>
#include <math.h>

#include "host/device/device.h"
#include "host/program/traits.h"

/* Seven turns of the same times */
static void set_times(gv_race *race, int k, double seconds)
{
    race->turns = 7;
    for (int t = 0; t < race->turns; t++)
        race->s[t][k] = seconds;
}

/* A CPU as PoCL shows it: exact roots, a fast fma, explicit vectors five times as fast as groups. */
static gv_trial *healthy(void)
{
    gv_trial *t = calloc(1, sizeof *t);
    assert_non_null(t);
    for (int k = 0; k < GV_TRIAL_X; k++) {
        t->x[k] = 1 + 3 * (float)k / GV_TRIAL_X;
        for (int plane = 0; plane < GV_TRIAL_PLANES; plane++)
            t->result[plane][k] = (float)(1 / sqrt((double)t->x[k]));
    }
    t->found[GV_FOUND_FUSED] = t->found[GV_FOUND_FP64] = t->found[GV_FOUND_RSQRT12] = 1;
    t->found[GV_FOUND_LANES] = t->driver_lanes = 8;
    t->is_cpu = t->claims_fma = t->counted = 1;
    t->event_s = 2e-4, t->wall_s = 3e-4;
    t->fma.n = GV_FMA_WAYS, t->shapes.n = GV_SHAPES;
    set_times(&t->fma, GV_FUSED, 3.5e-4);
    set_times(&t->fma, GV_APART, 5.9e-4);
    set_times(&t->shapes, GV_BY_GROUP, 1.9e-3);
    set_times(&t->shapes, 0, 4.6e-4);
    set_times(&t->shapes, 1, 2.6e-4);
    set_times(&t->shapes, 2, 2.5e-4);
    return t;
}

static gv_traits judged(gv_trial *t)
{
    gv_traits traits;
    gv_traits_judge(t, &traits);
    free(t);
    return traits;
}

static void what_is_found_counts(void **state)
{
    (void)state;
    gv_traits traits = judged(healthy());
    assert_true(traits.fp64 && traits.fast_fma && traits.rsqrt12 && !traits.rsqrt14 && !traits.ptx_asm);
    assert_true(!traits.runs_groups && !traits.short_loops && !traits.wrong_timers);
    assert_int_equal(traits.lanes, 8);
    assert_true(traits.native_error < 1.2e-7f && traits.exact_error < 1.2e-7f);
    assert_null(gv_traits_refuse(&traits));

    gv_trial *t = healthy(); /* one wrong value in one kind of vector is enough */
    t->result[GV_TRIAL_NATIVE + 2][4095] *= 1.00025f;
    traits = judged(t);
    assert_true(fabsf(traits.native_error - 2.5e-4f) < 1e-6f);
    assert_true(traits.exact_error < 1.2e-7f);
    t = healthy();
    t->result[GV_TRIAL_EXACT][7] = NAN;
    assert_true(isinf(judged(t).exact_error));
    t = healthy(); /* an estimate that is worse than its name is not there */
    t->result[GV_TRIAL_RSQRT12][100] *= 1.0005f;
    assert_false(judged(t).rsqrt12);
    t = healthy();
    t->result[GV_TRIAL_RSQRT12][100] *= 1.0003f;
    assert_true(judged(t).rsqrt12);
}

static void fma_is_timed(void **state)
{
    (void)state;
    gv_trial *t = healthy(); /* denied, but fast: Intel's CPU runtime */
    t->claims_fma = 0;
    assert_true(judged(t).fast_fma);
    t = healthy(); /* claimed, but taken apart into lanes (PoCL 3.0-rc2: 3.1 and 0.59 ms), or emulated (llvmpipe) */
    set_times(&t->fma, GV_FUSED, 3.1e-3);
    assert_false(judged(t).fast_fma);
    t = healthy(); /* fast, but with two roundings */
    t->found[GV_FOUND_FUSED] = 0;
    assert_false(judged(t).fast_fma);
    t = healthy(); /* a GPU's report is used */
    t->is_cpu = 0;
    t->fma.turns = 0;
    assert_true(judged(t).fast_fma);
    t = healthy();
    t->is_cpu = t->claims_fma = 0;
    t->fma.turns = 0;
    assert_false(judged(t).fast_fma);
}

static void set_vectors(gv_trial *t, double four, double eight, double sixteen)
{
    set_times(&t->shapes, 0, four);
    set_times(&t->shapes, 1, eight);
    set_times(&t->shapes, 2, sixteen);
}

static void shapes_are_timed(void **state)
{
    (void)state;
    gv_trial *t = healthy(); /* groups as fast as vectors: Intel's runtime; vectors it is */
    t->found[GV_FOUND_LANES] = 0;
    set_times(&t->shapes, GV_BY_GROUP, 2.6e-4);
    assert_false(judged(t).runs_groups);
    t = healthy(); /* llvmpipe: one lane, groups about as fast */
    t->found[GV_FOUND_LANES] = 0;
    t->driver_lanes = 1;
    set_times(&t->shapes, GV_BY_GROUP, 1.2 * 2.6e-4);
    assert_true(judged(t).runs_groups);
    t = healthy();
    set_times(&t->shapes, GV_BY_GROUP, 0.4 * 2.6e-4);
    assert_true(judged(t).runs_groups);
    t = healthy();
    t->is_cpu = 0;
    t->shapes.turns = 0;
    assert_true(judged(t).runs_groups);
}

static void widths_are_timed(void **state)
{
    gv_traits traits;
    (void)state;
    gv_trial *t = healthy(); /* the compiler says nothing, the driver 16, which is as fast as 8 (Intel, AVX-512) */
    t->found[GV_FOUND_LANES] = 0;
    t->driver_lanes = 16;
    assert_int_equal(judged(t).lanes, 16);
    t = healthy(); /* a driver that reports the lanes of the machine it was built on */
    t->found[GV_FOUND_LANES] = 0;
    t->driver_lanes = 16;
    set_vectors(t, 3e-4, 2e-4, 2.6e-4);
    assert_int_equal(judged(t).lanes, 8);
    t = healthy(); /* what is wrong is not used, however fast it is */
    t->wrong[1] = t->wrong[2] = 1;
    traits = judged(t);
    assert_int_equal(traits.lanes, 4);
    assert_int_equal(traits.bad_vectors, 8 | 16);
    assert_false(traits.runs_groups);
    t = healthy();
    t->wrong[0] = t->wrong[1] = t->wrong[2] = 1;
    traits = judged(t);
    assert_true(traits.runs_groups);
    assert_int_equal(traits.lanes, 1);
    t = healthy(); /* barriers that do not hold, or a driver whose groups are small */
    t->wrong[GV_BY_GROUP] = 1;
    set_times(&t->shapes, GV_BY_GROUP, 0);
    assert_false(judged(t).runs_groups);
}

/* A machine that others use: one timing in three takes up to four times as long, and there are stretches where all
 * do. */
typedef struct shared_machine {
    const double *seconds;
    gv_trial *trial;
    gv_race_clear_fn clear;
    uint32_t state;
    int asked, slow_until;
} shared_machine;

static double fraction(shared_machine *m)
{
    m->state = m->state * 1664525u + 1013904223u;
    return (double)(m->state >> 8) * 0x1p-24;
}

static double time_there(void *user, int k)
{
    shared_machine *m = user;
    const double disturbed = fraction(m) < 1.0 / 3 ? 1 + 3 * fraction(m) : 1;

    if (++m->asked > m->slow_until && fraction(m) < 0.05)
        m->slow_until = m->asked + 8;
    return m->seconds[k] * disturbed * (m->asked <= m->slow_until ? 2 : 1);
}

static int is_clear_there(const gv_race *race, void *user)
{
    const shared_machine *m = user;

    return m->clear(race, m->trial);
}

/* What follows does not depend on the noise, where the truth is not at an edge: 2.4 is 20 % beyond what decides between
 * groups and vectors, and so on. */
static void noise_decides_nothing(void **state)
{
    static const struct {
        double seconds[GV_SHAPES]; /* 4, 8, 16 lanes, groups */
        int says, driver, lanes, groups;
    } c[] = {
        {{4.6e-4, 2.6e-4, 2.5e-4, 1.9e-3}, 16, 16, 16, 0}, /* AVX-512 */
        {{4.6e-4, 2.6e-4, 2.7e-4, 1.9e-3}, 16, 16, 16, 0}, /* with 16 a little slower than with 8: as reported */
        {{4.6e-4, 2.6e-4, 2.5e-4, 1.9e-3}, 0, 8, 8, 0},
        {{3.0e-4, 2.0e-4, 3.2e-4, 1.9e-3}, 0, 16, 8, 0},  /* the lanes of the machine it was built on */
        {{4.6e-4, 2.6e-4, 2.5e-4, 2.5e-4}, 0, 16, 16, 0}, /* Intel's runtime */
        {{4.6e-4, 2.6e-4, 2.5e-4, 1.0e-4}, 8, 8, 8, 1},
        {{2.6e-4, 2.6e-4, 2.6e-4, 3.2e-4}, 0, 1, 0, 1}, /* llvmpipe */
    };
    int turns = 0, races = 0;
    (void)state;
    for (size_t k = 0; k < sizeof c / sizeof c[0]; k++) {
        for (uint32_t seed = 1; seed <= 400; seed++) {
            gv_trial *t = healthy();
            shared_machine m = {c[k].seconds, t, gv_traits_shapes_are_clear, 12345 * seed, 0, 0};
            t->found[GV_FOUND_LANES] = c[k].says;
            t->driver_lanes = c[k].driver;
            assert_true(gv_race_run(&t->shapes, GV_SHAPES, 0, 1, time_there, is_clear_there, &m));
            turns += t->shapes.turns;
            races++;
            const gv_traits traits = judged(t);
            assert_int_equal(traits.runs_groups, c[k].groups);
            if (!c[k].groups)
                assert_int_equal(traits.lanes, c[k].lanes);
        }
    }
    print_message("%.1f turns a race\n", (double)turns / races);
    for (int slow = 0; slow < 2; slow++) {
        const double seconds[GV_FMA_WAYS] = {slow ? 3.1e-3 : 3.5e-4, 5.9e-4};
        for (uint32_t seed = 1; seed <= 400; seed++) {
            gv_trial *t = healthy();
            shared_machine m = {seconds, t, gv_traits_fma_is_clear, 54321 * seed, 0, 0};
            assert_true(gv_race_run(&t->fma, GV_FMA_WAYS, 0, 1, time_there, is_clear_there, &m));
            assert_int_equal(judged(t).fast_fma, !slow);
        }
    }
}

static int clear_at_once(const gv_race *race, void *user)
{
    (void)race, (void)user;
    return 1;
}

static int never_clear(const gv_race *race, void *user)
{
    (void)race, (void)user;
    return 0;
}

typedef struct script {
    int asked, fails_at;
    double seconds;
    char order[64];
} script;

static double time_script(void *user, int k)
{
    script *s = user;
    s->order[s->asked++ % 63] = (char)('a' + k);
    return s->asked == s->fails_at ? -1 : s->seconds;
}

static void races_have_an_end(void **state)
{
    gv_race race;
    script s = {0, 0, 1e-3, ""};
    (void)state;
    assert_true(gv_race_run(&race, 3, 0, 1, time_script, clear_at_once, &s));
    assert_int_equal(race.turns, 9);
    assert_memory_equal(s.order, "abcabcbcacababcbcacababcbcacab",
                        30); /* the first turn warms up; then each begins another one */
    s = (script){0, 0, 1e-3, ""};
    assert_true(gv_race_run(&race, 2, 0, 1, time_script, never_clear, &s));
    assert_int_equal(race.turns, GV_RACE_TURNS);
    s = (script){0, 0, 0.2, ""}; /* what takes long runs once, without warming up */
    assert_true(gv_race_run(&race, 2, 0, 0.3, time_script, never_clear, &s));
    assert_int_equal(race.turns, 1);
    assert_int_equal(s.asked, 2);
    s = (script){0, 0, 1e-3, ""}; /* who is wrong does not take part */
    assert_true(gv_race_run(&race, 3, 2, 1, time_script, clear_at_once, &s));
    assert_memory_equal(s.order, "acaccacaaccacaaccaca", 20);
    assert_true(gv_race_least(&race, 1) == 0 && gv_race_exceeds(&race, 0, 1, 1) == 0);
    s = (script){0, 4, 1e-3, ""};
    assert_false(gv_race_run(&race, 3, 0, 1, time_script, clear_at_once, &s));
    memset(&race, 0, sizeof race);
    assert_int_equal(gv_race_exceeds(&race, 0, 1, 1), 0);
}

/* What becomes of the traits: options of all programs, and one lane where groups fill those of a CPU. */
static void traits_become_options(void **state)
{
    static gv_device d;
    (void)state;
    memset(&d, 0, sizeof d);
    d.info.type = GRAVEL_DEVICE_CPU;
    d.info.has_fp64 = 1;
    gv_traits traits = judged(healthy());
    gv_traits_take(&d, &traits);
    assert_int_equal(d.info.simd_width_float, 8);
    assert_int_equal(d.info.simd_width_double, 4);
    assert_contains(d.feature_options, "-DGV_FAST_FMA=1");
    assert_contains(d.feature_options, "-DGV_RSQRT12=1");
    assert_null(strstr(d.feature_options, "GV_ROUGH_NATIVE"));
    traits.runs_groups = 1;
    traits.native_error = 2e-4f;
    gv_traits_take(&d, &traits);
    assert_int_equal(d.info.simd_width_float, 1);
    assert_contains(d.feature_options, "-DGV_ROUGH_NATIVE=1");
    traits.fp64 = 0;
    gv_traits_take(&d, &traits);
    assert_null(strstr(d.feature_options, "GV_HAVE_FP64"));
    assert_false(d.info.has_fp64);
}

static void short_loops_and_wrong_timers(void **state)
{
    (void)state;
    gv_trial *t = healthy();
    t->counted = 0;
    gv_traits traits = judged(t);
    assert_non_null(gv_traits_refuse(&traits));
    assert_contains(gv_traits_refuse(&traits), "ends loops before their last turn");
    t = healthy();
    t->event_s = 1e-9; /* what rusticl of Mesa 22.3 reports for every event */
    assert_true(judged(t).wrong_timers);
    t = healthy();
    t->event_s = 0;
    assert_true(judged(t).wrong_timers);
    t = healthy(); /* ten times what the host saw */
    t->event_s = 10, t->wall_s = 1;
    assert_true(judged(t).wrong_timers);
    t = healthy(); /* the host was late: its longer time does not prove the device's clock wrong */
    t->wall_s = 1;
    assert_false(judged(t).wrong_timers);
}

/* ------------------------------------------------------------------- target */

static void target_of(const gravel_context *context, char target[17])
{
    gv_device d = context->device[0];
    gv_device_find_target(&d);
    memcpy(target, d.target, 17);
}

/* A variable that changes what a compiler makes changes the key of every binary; one that says where its caches are
 * does not, and neither does the order of variables. */
static void target_follows_the_environment(void **state)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_context *context;
    char before[17], after[17], both[17], turned[17];

    (void)state;
    SKIP_WITHOUT_DEVICE();
    assert_ok(gravel_context_create(&context, &options));
    target_of(context, before);
    assert_string_equal(context->device[0].target, before);
    assert_int_equal(strlen(before), 16);
    setenv("POCL_TRACING_FOR_TEST", "x", 1);
    setenv("POCL_CACHE_FOR_TEST", "x", 1);
    target_of(context, after);
    assert_string_equal(before, after);
    setenv("CL_CONFIG_CPU_TARGET_ARCH", "corei7", 1);
    target_of(context, after);
    assert_string_not_equal(before, after);
    for (int k = 0; k < 3; k++) { /* options that drivers add by themselves */
        static const char *const adds[] = {"OCLGRIND_BUILD_OPTIONS", "AMD_OCL_BUILD_OPTIONS_APPEND",
                                           "CLOVER_EXTRA_BUILD_OPTIONS"};

        setenv(adds[k], "-cl-fast-relaxed-math", 1);
        target_of(context, both);
        assert_string_not_equal(both, after);
        unsetenv(adds[k]);
    }
    setenv("POCL_ANYTHING", "1", 1);
    target_of(context, both);
    assert_string_not_equal(both, after);
    unsetenv("CL_CONFIG_CPU_TARGET_ARCH");
    setenv("CL_CONFIG_CPU_TARGET_ARCH", "corei7", 1); /* now behind the other */
    target_of(context, turned);
    assert_string_equal(both, turned);
    setenv("CL_CONFIG_CPU_TARGET_ARCH", "core-avx2", 1);
    target_of(context, turned);
    assert_string_not_equal(both, turned);
    unsetenv("CL_CONFIG_CPU_TARGET_ARCH");
    unsetenv("POCL_ANYTHING");
    target_of(context, after);
    assert_string_equal(before, after);
    gravel_context_release(context);
}

static const char *cpuinfo; /* NULL: the machine's own */

/* Of all files only this one is made up. */
FILE *fopen(const char *path, const char *mode)
{
    FILE *(*next)(const char *, const char *);

    if (cpuinfo && strcmp(path, "/proc/cpuinfo") == 0)
        return fmemopen((void *)(uintptr_t)cpuinfo, strlen(cpuinfo), mode);
    *(void **)&next = dlsym(RTLD_NEXT, "fopen");
    return next(path, mode);
}

/* Homes are shared by unlike hosts: what the processor can do changes the key, its clock does not. */
static void target_follows_the_processor(void **state)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_context *context;
    char first[17], second[17];

    (void)state;
    SKIP_WITHOUT_DEVICE();
    assert_ok(gravel_context_create(&context, &options));
    context->device[0].info.type = GRAVEL_DEVICE_CPU;
    cpuinfo = "processor\t: 0\ncpu MHz\t: 2000\nflags\t: fpu avx2 avx512f\nprocessor\t: 1\nflags\t: fpu\n";
    target_of(context, first);
    cpuinfo = "processor\t: 0\ncpu MHz\t: 3000\nflags\t: fpu avx2 avx512f\n";
    target_of(context, second);
    assert_string_equal(first, second);
    cpuinfo = "processor\t: 0\ncpu MHz\t: 2000\nflags\t: fpu avx2\n";
    target_of(context, second);
    assert_string_not_equal(first, second);
    cpuinfo = "processor\t: 0\nFeatures\t: fp asimd\n";
    target_of(context, first);
    assert_string_not_equal(first, second);
    /* a GPU's code does not depend on it */
    context->device[0].info.type = GRAVEL_DEVICE_GPU;
    target_of(context, first);
    cpuinfo = "flags\t: fpu\n";
    target_of(context, second);
    assert_string_equal(first, second);
    cpuinfo = NULL;
    gravel_context_release(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_found_counts),
        cmocka_unit_test(fma_is_timed),
        cmocka_unit_test(shapes_are_timed),
        cmocka_unit_test(widths_are_timed),
        cmocka_unit_test(noise_decides_nothing),
        cmocka_unit_test(races_have_an_end),
        cmocka_unit_test(traits_become_options),
        cmocka_unit_test(short_loops_and_wrong_timers),
        cmocka_unit_test(target_follows_the_environment),
        cmocka_unit_test(target_follows_the_processor),
    };

    return cmocka_run_group_tests_name("features", tests, NULL, NULL);
}
