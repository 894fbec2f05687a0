/* Which entry of which profile answers a question, without any device. */
#include "profile_sets.h"

#include "host/direct/plan.h"
#include "host/tasks/tasks.h"
#include "host/tree/plan.h"

/* ----------------------------------------------------------------- ladder */

static const gv_tunable fake_tunable[] = {
    {"size", "items", "", 1, 4, {1, 2, 4, 8}},
    {"split", "rows", "", 1, 4, {1, 2, 4, 8}},
};

static int small_enough(const gv_config *config, const gv_variant *variant, const gv_limits *limits)
{
    (void)variant;
    return config->value[0] * config->value[1] <= limits->info.max_group;
}

static int is_flat(const gv_config *config, const gv_variant *variant, const gv_limits *limits)
{
    (void)variant, (void)limits;
    return config->value[0] != 2 || config->value[1] != 8;
}

static const gv_constraint fake_constraint[] = {{.reason = "too large", .hard = 1, .holds = small_enough},
                                                {.reason = "slow on most devices", .holds = is_flat}};

static void fake_built_in(gv_config *config, const gv_variant *variant, const gv_limits *limits, size_t sinks,
                          size_t sources)
{
    (void)variant, (void)limits, (void)sinks, (void)sources;
    memset(config, 0, sizeof *config);
    config->value[0] = config->value[1] = 1;
}

static const gv_space fake_space = {.kernel = "fake",
                                    .n_tunables = 2,
                                    .tunable = fake_tunable,
                                    .n_constraints = 2,
                                    .constraint = fake_constraint,
                                    .built_in = fake_built_in};

static void make_limits(gv_limits *limits, const char *name, int compute_units)
{
    memset(limits, 0, sizeof *limits);
    limits->info.type = GRAVEL_DEVICE_GPU;
    strncpy(limits->info.name, name, GRAVEL_NAME_SIZE - 1);
    strcpy(limits->info.vendor, "NVIDIA Corporation");
    strcpy(limits->info.platform, "NVIDIA CUDA");
    strcpy(limits->info.driver, "580.1");
    limits->info.compute_units = compute_units;
    limits->info.max_group = 64;
    limits->info.has_fp64 = limits->info.simd_width_float = limits->info.simd_width_double = 1;
}

static gravel_origin ask_at(const gv_profile_set *user, const gv_profile_set *shipped, const gv_limits *limits,
                            const char *variant_name, size_t sinks, size_t sources, gv_config *config)
{
    gravel_origin origin = GRAVEL_ORIGIN_BUILT_IN;
    gv_variant variant;
    gv_profile_question question = {&fake_space, &variant, limits, "0123456789abcdef", sinks, sources};

    assert_true(gv_variant_parse(variant_name, &variant));
    memset(config, 0, sizeof *config);
    return gv_profile_look_up(user, shipped, &question, config, &origin, NULL) ? origin : GRAVEL_ORIGIN_BUILT_IN;
}

static gravel_origin ask(const gv_profile_set *user, const gv_profile_set *shipped, const gv_limits *limits,
                         const char *variant_name, size_t sinks, gv_config *config)
{
    return ask_at(user, shipped, limits, variant_name, sinks, 131072, config);
}

static void test_ladder(void **state)
{
    gv_profile_set user = GV_PROFILE_SET_INIT, shipped = GV_PROFILE_SET_INIT;
    gv_limits limits;
    gv_config config;

    (void)state;
    make_limits(&limits, "NVIDIA H200", 132);
    assert_int_equal(ask(&user, &shipped, &limits, "ds4", 1, &config), GRAVEL_ORIGIN_BUILT_IN);

    /* type: another vendor's GPU */
    add(&shipped, "Radeon", 60, "ds4", 1, "size=1 split=8");
    strcpy(shipped.block[0].device.vendor, "AMD");
    assert_int_equal(ask(&user, &shipped, &limits, "ds4", 1, &config), GRAVEL_ORIGIN_TYPE);
    assert_int_equal(config.value[1], 8);
    /* vendor and type */
    add(&shipped, "NVIDIA GeForce RTX 4090", 128, "ds4", 1, "size=1 split=4");
    assert_int_equal(ask(&user, &shipped, &limits, "ds4", 1, &config), GRAVEL_ORIGIN_VENDOR_TYPE);
    assert_int_equal(config.value[1], 4);
    /* family: of two the nearer in compute units */
    add(&shipped, "NVIDIA H100 PCIe", 114, "ds4", 1, "size=2 split=1");
    add(&shipped, "NVIDIA H20", 78, "ds4", 1, "size=4 split=1");
    assert_int_equal(ask(&user, &shipped, &limits, "ds4", 1, &config), GRAVEL_ORIGIN_FAMILY);
    assert_int_equal(config.value[0], 2);
    /* exact, however the name is written */
    add(&shipped, " nvidia  H200(R) ", 132, "ds4", 1, "size=8 split=1");
    assert_int_equal(ask(&user, &shipped, &limits, "ds4", 1, &config), GRAVEL_ORIGIN_SHIPPED);
    assert_int_equal(config.value[0], 8);
    /* the user's file wins over a shipped one, on the same step only */
    add(&user, "NVIDIA H100 PCIe", 131, "ds4", 1, "size=1 split=1");
    assert_int_equal(ask(&user, &shipped, &limits, "ds4", 1, &config), GRAVEL_ORIGIN_SHIPPED);
    add(&user, "NVIDIA H200", 132, "ds4", 1, "size=2 split=2");
    assert_int_equal(ask(&user, &shipped, &limits, "ds4", 1, &config), GRAVEL_ORIGIN_USER);
    assert_int_equal(config.value[0], 2);
    /* another variant and another number of sinks have no profile */
    assert_int_equal(ask(&user, &shipped, &limits, "sp2", 1, &config), GRAVEL_ORIGIN_BUILT_IN);
    assert_int_equal(ask(&user, &shipped, &limits, "ds4", 2, &config), GRAVEL_ORIGIN_BUILT_IN);
    gv_profile_set_free(&user);
    gv_profile_set_free(&shipped);
}

/* A configuration from a file passes the constraints of this device, or the next result or level is taken. */
static void test_configurations_are_checked_again(void **state)
{
    gv_profile_set user = GV_PROFILE_SET_INIT, shipped = GV_PROFILE_SET_INIT;
    gv_limits limits;
    gv_config config;

    (void)state;
    make_limits(&limits, "NVIDIA H200", 132);
    limits.info.max_group = 4;
    add(&shipped, "NVIDIA H100", 100, "ds4", 1, "size=4 split=1");
    add(&user, "NVIDIA H200", 132, "ds4", 1, "size=8 split=8"); /* too large here */
    assert_int_equal(ask(&user, &shipped, &limits, "ds4", 1, &config), GRAVEL_ORIGIN_FAMILY);
    assert_int_equal(config.value[0], 4);
    /* a runner-up of the same entry comes before another device */
    user.block[0].entry[0].n_results = 2;
    user.block[0].entry[0].result[1] = user.block[0].entry[0].result[0];
    strcpy(user.block[0].entry[0].result[1].configuration, "size=2 split=2");
    assert_int_equal(ask(&user, &shipped, &limits, "ds4", 1, &config), GRAVEL_ORIGIN_USER);
    assert_int_equal(config.value[0], 2);
    /* values and names the table does not have */
    strcpy(user.block[0].entry[0].result[0].configuration, "size=3 split=1");
    strcpy(user.block[0].entry[0].result[1].configuration, "magic=1");
    assert_int_equal(ask(&user, &shipped, &limits, "ds4", 1, &config), GRAVEL_ORIGIN_FAMILY);
    gv_profile_set_free(&user);
    gv_profile_set_free(&shipped);
}

/* What the tuner found beyond constraints that only advise, since nothing else was good on the user's device, is used
 * there and nowhere else. */
static void test_what_was_found_beyond_soft_constraints_is_used(void **state)
{
    gv_profile_set set = GV_PROFILE_SET_INIT;
    gv_limits limits;
    gv_config config;

    (void)state;
    make_limits(&limits, "NVIDIA H200", 132);
    add(&set, "NVIDIA H200", 132, "ds4", 1, "size=2 split=8");
    assert_int_equal(ask(&set, NULL, &limits, "ds4", 1, &config), GRAVEL_ORIGIN_USER);
    assert_int_equal(config.value[1], 8);
    assert_int_equal(ask(NULL, &set, &limits, "ds4", 1, &config), GRAVEL_ORIGIN_BUILT_IN);
    make_limits(&limits, "NVIDIA H200", 100);
    assert_int_equal(ask(&set, NULL, &limits, "ds4", 1, &config), GRAVEL_ORIGIN_BUILT_IN);
    gv_profile_set_free(&set);
}

static void test_nearest_of_the_same_device(void **state)
{
    gv_profile_set user = GV_PROFILE_SET_INIT;
    gv_profile_device device;
    gv_profile_entry entry;
    gv_limits limits;
    gv_config config;

    (void)state;
    make_limits(&limits, "NVIDIA H200", 132);
    make_device(&device, "NVIDIA H200", 132);
    /* another number of sources before nothing; then another kernel text; the right one wins */
    make_entry(&entry, "ds4", 1, 100, "size=1 split=2");
    assert_ok(gv_profile_set_add(&user, &device, &entry));
    assert_int_equal(ask(&user, NULL, &limits, "ds4", 1, &config), GRAVEL_ORIGIN_USER);
    assert_int_equal(config.value[1], 2);
    make_entry(&entry, "ds4", 1, 131072, "size=1 split=4");
    strcpy(entry.kernel_version, "older");
    assert_ok(gv_profile_set_add(&user, &device, &entry));
    assert_int_equal(ask(&user, NULL, &limits, "ds4", 1, &config), GRAVEL_ORIGIN_USER);
    assert_int_equal(config.value[1], 4);
    make_entry(&entry, "ds4", 1, 131072, "size=1 split=8");
    strcpy(entry.driver, "older");
    assert_ok(gv_profile_set_add(&user, &device, &entry));
    assert_int_equal(ask(&user, NULL, &limits, "ds4", 1, &config), GRAVEL_ORIGIN_USER);
    assert_int_equal(config.value[1], 8);
    make_entry(&entry, "ds4", 1, 131072, "size=8 split=1");
    assert_ok(gv_profile_set_add(&user, &device, &entry));
    assert_int_equal(ask(&user, NULL, &limits, "ds4", 1, &config), GRAVEL_ORIGIN_USER);
    assert_int_equal(config.value[0], 8);
    gv_profile_set_free(&user);
}

/* One question tuned anew, after a change of the kernel or by the user, does not hide those beside it. */
static void test_new_questions_hide_no_others(void **state)
{
    gv_profile_set user = GV_PROFILE_SET_INIT, shipped = GV_PROFILE_SET_INIT;
    gv_profile_device device;
    gv_profile_entry entry;
    gv_limits limits;
    gv_config config;

    (void)state;
    make_limits(&limits, "NVIDIA H200", 132);
    make_device(&device, "NVIDIA H200", 132);
    for (int k = 0; k < 2; k++) {
        make_entry(&entry, "ds4", k == 0 ? 64 : 128, 131072, k == 0 ? "size=1 split=1" : "size=8 split=1");
        strcpy(entry.kernel_version, "older");
        assert_ok(gv_profile_set_add(&shipped, &device, &entry));
    }
    make_entry(&entry, "ds4", 64, 131072, "size=2 split=1");
    for (int is_user = 0; is_user < 2; is_user++) {
        const gv_profile_set *own = is_user ? &user : NULL;

        assert_ok(gv_profile_set_add(is_user ? &user : &shipped, &device, &entry));
        ask(own, &shipped, &limits, "ds4", 64, &config);
        assert_int_equal(config.value[0], is_user ? 4 : 2);
        ask(own, &shipped, &limits, "ds4", 128, &config);
        assert_int_equal(config.value[0], 8);
        strcpy(entry.result[0].configuration, "size=4 split=1");
    }
    /* another device's shipped questions are not the user's */
    make_limits(&limits, "NVIDIA H200", 131);
    make_device(&device, "NVIDIA H200", 131);
    make_entry(&entry, "ds4", 64, 131072, "size=4 split=1");
    assert_ok(gv_profile_set_add(&user, &device, &entry));
    assert_int_equal(ask(&user, &shipped, &limits, "ds4", 128, &config), GRAVEL_ORIGIN_USER);
    assert_int_equal(config.value[0], 4);
    gv_profile_set_free(&user);
    gv_profile_set_free(&shipped);
}

/* Of two answers for the same sizes: where the nearest sources have only been asked with an older kernel text, its
 * answers do not come before new ones beside it, and a shipped answer, however new, not before the user's. */
static void test_which_of_two_answers_counts(void **state)
{
    gv_profile_set user = GV_PROFILE_SET_INIT, shipped = GV_PROFILE_SET_INIT;
    gv_profile_device device;
    gv_profile_entry entry;
    gv_limits limits;
    gv_config config;

    (void)state;
    make_limits(&limits, "NVIDIA H200", 132);
    make_device(&device, "NVIDIA H200", 132);
    for (int k = 0; k < 2; k++) {
        make_entry(&entry, "ds4", 64, k == 0 ? 4096 : 131072, k == 0 ? "size=1 split=1" : "size=4 split=1");
        strcpy(entry.kernel_version, "older");
        assert_ok(gv_profile_set_add(&shipped, &device, &entry));
    }
    make_entry(&entry, "ds4", 64, 131072, "size=2 split=1");
    assert_ok(gv_profile_set_add(&shipped, &device, &entry));
    assert_int_equal(ask_at(NULL, &shipped, &limits, "ds4", 64, 16383, &config), GRAVEL_ORIGIN_SHIPPED);
    assert_int_not_equal(config.value[0], 4);
    /* the user's, though older */
    make_entry(&entry, "ds4", 64, 131072, "size=8 split=1");
    strcpy(entry.date, "2026-01-01T00:00:00Z");
    assert_ok(gv_profile_set_add(&user, &device, &entry));
    assert_int_equal(ask(&user, &shipped, &limits, "ds4", 64, &config), GRAVEL_ORIGIN_USER);
    assert_int_equal(config.value[0], 8);
    gv_profile_set_free(&user);
    gv_profile_set_free(&shipped);
}

/* A device with few questions of its own: those of one alike fill the gaps, and replace nothing of the user's. */
static void test_alike_devices_fill_gaps(void **state)
{
    static const char h200[] = "NVIDIA H200", h100[] = "NVIDIA H100 PCIe";
    gv_profile_set user = GV_PROFILE_SET_INIT, shipped = GV_PROFILE_SET_INIT;
    gv_limits limits;
    gv_config config;

    (void)state;
    add(&shipped, h200, 132, "ds4", 64, "size=1 split=1");
    strcpy(shipped.block[0].entry[0].date, "2026-12-31T00:00:00Z"); /* newer than all */
    add(&shipped, h200, 132, "ds4", 128, "size=8 split=1");
    strcpy(shipped.block[0].entry[1].driver, "older");
    for (int b = 0; b < 2; b++) {
        add(&user, h100, b == 0 ? 132 : 114, "ds4", 64, "size=2 split=1");
        strcpy(user.block[b].entry[0].kernel_version, "older");
    }
    make_limits(&limits, h100, 132);
    assert_int_equal(ask(&user, &shipped, &limits, "ds4", 64, &config), GRAVEL_ORIGIN_USER);
    assert_int_equal(config.value[0], 2);
    assert_int_equal(ask(&user, &shipped, &limits, "ds4", 128, &config), GRAVEL_ORIGIN_USER);
    assert_int_equal(config.value[0], 8);
    /* asked with nothing but other searches, the device's own say less than the other's with these */
    add(&user, h100, 132, "sp2", 64, "size=2 split=1");
    user.block[0].entry[1].features = 1;
    add(&shipped, h200, 132, "sp2", 64, "size=8 split=1");
    assert_int_equal(ask(&user, &shipped, &limits, "sp2", 64, &config), GRAVEL_ORIGIN_FAMILY);
    assert_int_equal(config.value[0], 8);
    /* the device's own answers of another driver come before the other device's, behind those of this driver */
    add(&user, h100, 132, "ds4", 128, "size=2 split=2");
    strcpy(user.block[0].entry[2].driver, "oldest");
    assert_int_equal(ask(&user, &shipped, &limits, "ds4", 128, &config), GRAVEL_ORIGIN_USER);
    assert_int_equal(config.value[1], 2);
    add(&user, h100, 132, "ds4", 128, "size=1 split=4");
    assert_int_equal(ask(&user, &shipped, &limits, "ds4", 128, &config), GRAVEL_ORIGIN_USER);
    assert_int_equal(config.value[1], 4);
    /* a bucket of sinks that only the other device has */
    add(&shipped, h200, 132, "ds4", 256, "size=4 split=1");
    assert_int_equal(ask(&user, &shipped, &limits, "ds4", 256, &config), GRAVEL_ORIGIN_FAMILY);
    assert_int_equal(config.value[0], 4);
    /* with other compute units, nothing is filled, nor replaced: the newest of one device, not of three */
    make_limits(&limits, h100, 114);
    assert_int_equal(ask(&user, &shipped, &limits, "ds4", 128, &config), GRAVEL_ORIGIN_USER);
    assert_int_equal(config.value[0], 2);
    make_limits(&limits, h100, 120);
    add(&user, h100, 120, "ds4", 4, "size=4 split=1");
    assert_int_equal(ask(&user, &shipped, &limits, "ds4", 64, &config), GRAVEL_ORIGIN_FAMILY);
    assert_int_equal(config.value[0], 2);
    gv_profile_set_free(&user);
    gv_profile_set_free(&shipped);
}

/* An answer of a device that is alike counts between the device's own unless one of these, of the same bucket of sinks,
 * is within an octave of both sizes and newer, or the user's, or alone of the kernel text that runs. */
static void test_near_answers_are_the_devices_own(void **state)
{
    static const char h200[] = "NVIDIA H200", h100[] = "NVIDIA H100 PCIe", old[] = "2026-01-01T00:00:00Z";
    static const struct {
        size_t sinks, sources;
        int is_older, is_of_other_text, is_users, size;
    } c[] = {{64, 131072, 1, 0, 0, 2}, {64, 131072, 0, 0, 0, 8}, {256, 131072, 1, 0, 0, 8}, {128, 524288, 1, 0, 0, 8},
             {200, 65536, 1, 0, 0, 2}, {64, 131072, 0, 1, 0, 2}, {64, 131072, 0, 0, 1, 2},  {256, 131072, 0, 0, 1, 8}};
    gv_limits limits;
    gv_config config;

    (void)state;
    make_limits(&limits, h100, 132);
    for (size_t k = 0; k < sizeof c / sizeof c[0]; k++) {
        gv_profile_set user = GV_PROFILE_SET_INIT, shipped = GV_PROFILE_SET_INIT;
        gv_profile_device device;
        gv_profile_entry entry;

        add(c[k].is_users ? &user : &shipped, h100, 132, "ds4", 128, "size=2 split=1");
        strcpy((c[k].is_users ? &user : &shipped)->block[0].entry[0].date, "2026-06-01T00:00:00Z");
        make_device(&device, h200, 132);
        make_entry(&entry, "ds4", c[k].sinks, c[k].sources, "size=8 split=1");
        strcpy(entry.date, c[k].is_older ? old : "2026-12-01T00:00:00Z");
        if (c[k].is_of_other_text)
            strcpy(entry.kernel_version, "older");
        assert_ok(gv_profile_set_add(&shipped, &device, &entry));
        ask_at(&user, &shipped, &limits, "ds4", c[k].sinks, c[k].sources, &config);
        assert_int_equal(config.value[0], c[k].size);
        gv_profile_set_free(&user);
        gv_profile_set_free(&shipped);
    }
}

/* What one CPU has found is taken there where it is ahead of the default by 4 %, and by another CPU for 5 %, with the
 * spreads on top. */
static void test_other_cpus_win_by_more(void **state)
{
    (void)state;
    for (double percent = 103.5; percent < 108; percent++) { /* no edges */
        gv_profile_set set = GV_PROFILE_SET_INIT;
        gv_profile_device device;
        gv_profile_entry entry;
        gv_limits limits;
        gv_config config;

        make_limits(&limits, "pthread-a", 2);
        limits.info.type = GRAVEL_DEVICE_CPU;
        make_device(&device, "pthread-a", 2);
        device.type = GRAVEL_DEVICE_CPU;
        make_entry(&entry, "ds4", 64, 131072, "size=2 split=1");
        entry.n_results = 2;
        entry.result[0].spread = 0;
        entry.result[1] = entry.result[0];
        strcpy(entry.result[1].configuration, "size=1 split=1"); /* the default */
        entry.result[1].time_s *= percent / 100;
        entry.result[1].time_min_s *= percent / 100;
        assert_ok(gv_profile_set_add(&set, &device, &entry));
        ask(NULL, &set, &limits, "ds4", 64, &config);
        assert_int_equal(config.value[0], percent > 104 ? 2 : 1);
        strcpy(limits.info.name, "pthread-b");
        ask(NULL, &set, &limits, "ds4", 64, &config);
        assert_int_equal(config.value[0], percent > 105 ? 2 : 1);
        gv_profile_set_free(&set);
    }
}

/* CPUs of different names answer for each other where nothing else does, and fill no gaps. */
static void test_cpus_are_alike_by_name(void **state)
{
    static const struct {
        const char *a, *b;
        int alike;
    } c[] = {
        {"pthread-skylake-avx512-Intel(R) Xeon(R) Processor", "pthread-skylake-avx512-Intel(R) Xeon(R) Processor", 1},
        {"pthread-skylake-avx512-Intel(R) Xeon(R) Processor",
         "pthread-skylake-avx512-Intel(R) Xeon(R) Processor @ 2.50GHz", 0},
        {"pthread-skylake-avx512-AMD EPYC", "pthread-skylake-avx512-AMD EPYC 9B14", 0},
        {"NVIDIA H200", "NVIDIA H100 80GB HBM3", 1},
    };

    (void)state;
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        gv_profile_device a, b;

        make_device(&a, c[k].a, 2);
        make_device(&b, c[k].b, 2);
        if (k < 3)
            a.type = b.type = GRAVEL_DEVICE_CPU;
        assert_int_equal(gv_profile_alike(&a, &b), c[k].alike);
    }
}

/* Of shipped answers, those of a device that is alike count before the device's own where only they are of the kernel
 * text that runs. */
static void test_alike_devices_know_the_text(void **state)
{
    static const char h200[] = "NVIDIA H200", h100[] = "NVIDIA H100 PCIe", now[] = "0123456789abcdef";
    static const struct {
        const char *own, *alike;
        int is_users, size;
    } c[] = {
        {"older", now, 0, 8}, {"older", now, 1, 2}, {"older", "old", 0, 2}, {now, now, 0, 2}, {now, "older", 0, 2}};
    gv_limits limits;
    gv_config config;

    (void)state;
    make_limits(&limits, h100, 132);
    for (size_t k = 0; k < sizeof c / sizeof c[0]; k++) {
        gv_profile_set user = GV_PROFILE_SET_INIT, shipped = GV_PROFILE_SET_INIT;
        gv_profile_set *own = c[k].is_users ? &user : &shipped;

        add(own, h100, 132, "ds4", 64, "size=2 split=1");
        strcpy(own->block[0].entry[0].kernel_version, c[k].own);
        add(&shipped, h200, 132, "ds4", 64, "size=8 split=1");
        gv_profile_block *alike = &shipped.block[shipped.n_blocks - 1];
        strcpy(alike->entry[alike->n_entries - 1].kernel_version, c[k].alike);
        strcpy(alike->entry[alike->n_entries - 1].date, "2026-12-31T00:00:00Z");
        assert_true(ask(&user, &shipped, &limits, "ds4", 64, &config) != GRAVEL_ORIGIN_BUILT_IN);
        assert_int_equal(config.value[0], c[k].size);
        gv_profile_set_free(&user);
        gv_profile_set_free(&shipped);
    }
}

/* An AVX-512 CPU; `native_error`: of its compiler's native_rsqrt. */
static void make_cpu(gv_limits *limits, const char *platform, const char *driver, double native_error)
{
    make_limits(limits, "EPYC", 2);
    limits->info.type = GRAVEL_DEVICE_CPU;
    strcpy(limits->info.vendor, "AuthenticAMD");
    strcpy(limits->info.platform, platform);
    strcpy(limits->info.driver, driver);
    limits->info.max_group = 4096;
    limits->info.local_memory = 1 << 18;
    limits->info.simd_width_float = 16;
    limits->info.simd_width_double = 8;
    limits->exact_error = 9e-8;
    limits->native_error = limits->seed_error = native_error;
    limits->fast_fma = 1;
}

/* Of another implementation's answers the shape counts, the root is this compiler's own, if both are exact or neither;
 * one version of an implementation takes the roots of another. */
static void test_roots_are_the_compilers_own(void **state)
{
    static const char pocl[] = "Portable Computing Language", intel[] = "Intel(R) OpenCL";
    static const struct {
        const gv_space *space;
        const char *shape, *tunable; /* a tunable whose value is not the default */
        int value;
    } c[] = {{&gv_direct_space, "unroll=2", "unroll", 2},
             {&gv_tree_space, "n_group=32", "n_group", 32},
             {&gv_tasks_space, "unroll=2", "unroll", 2}};
    static const struct {
        const char *platform;
        double native_error;
        int estimate, measured, wanted; /* roots: of the answer, wanted; -1: the shape does not count either */
    } r[] = {{intel, 5e-5, 0, 3, 2}, {intel, 5e-5, 0, 4, 2},  {intel, 9e-8, 1, 3, 4},
             {intel, 9e-8, 0, 0, 0}, {intel, 5e-5, 0, 0, -1}, {intel, 9e-8, 0, 4, -1},
             {pocl, 5e-5, 0, 0, 0},  {pocl, 9e-8, 0, 3, 3},   {pocl, 9e-8, 1, 4, 4}};

    (void)state;
    for (size_t k = 0; k < sizeof c / sizeof c[0]; k++) {
        for (size_t i = 0; i < sizeof r / sizeof r[0]; i++) {
            gv_profile_set shipped = GV_PROFILE_SET_INIT;
            gravel_origin origin = GRAVEL_ORIGIN_BUILT_IN;
            gv_profile_device device;
            gv_profile_entry entry;
            gv_variant variant;
            gv_limits limits;
            gv_config config;
            char text[64];

            assert_true(gv_variant_parse("sp2", &variant));
            make_cpu(&limits, pocl, "3.1", 9e-8);
            gv_profile_device_of(&limits.info, &device);
            snprintf(text, sizeof text, "%s rsqrt=%d", c[k].shape, r[i].measured);
            make_entry(&entry, "sp2", 64, 8192, text);
            strcpy(entry.kernel, c[k].space->kernel);
            assert_ok(gv_profile_set_add(&shipped, &device, &entry));
            make_cpu(&limits, r[i].platform, "6.0", r[i].native_error);
            limits.has_rsqrt14 = r[i].estimate;
            const gv_profile_question question = {c[k].space, &variant, &limits, "0123456789abcdef", 64, 8192};
            const int answered = gv_profile_look_up(NULL, &shipped, &question, &config, &origin, NULL);
            gv_profile_set_free(&shipped);
            assert_int_equal(answered, r[i].wanted >= 0);
            if (!answered)
                continue;
            assert_int_equal(origin, r[i].platform == intel ? GRAVEL_ORIGIN_VENDOR_TYPE : GRAVEL_ORIGIN_SHIPPED);
            assert_int_equal(config.value[gv_space_index(c[k].space, c[k].tunable)], c[k].value);
            assert_int_equal(config.value[gv_space_index(c[k].space, "rsqrt")], r[i].wanted);
        }
    }
}

/* Two CPUs of the family, the one asked last with a far version: the answers of the nearest version count. */
static void test_nearest_driver_of_the_family(void **state)
{
    static const struct {
        const char *driver;
        int unroll;
    } wanted[] = {{"3.1+debian", 2}, {"4.0", 2},  {"5.0+debian", 8}, {"6.0+debian", 8},
                  {"7.1-pre", 8},    {"main", 2}, {"nan", 2}};
    gv_profile_set shipped = GV_PROFILE_SET_INIT;
    gv_profile_device device;
    gv_profile_entry entry;
    gv_variant variant;
    gv_limits limits;

    (void)state;
    assert_true(gv_variant_parse("sp2", &variant));
    for (int k = 0; k < 2; k++) {
        make_cpu(&limits, "Portable Computing Language", k ? "6.0+debian" : "3.1+debian", 9e-8);
        strcpy(limits.info.name, k ? "cpu-EPYC" : "pthread-EPYC");
        gv_profile_device_of(&limits.info, &device);
        make_entry(&entry, "sp2", 64, 8192, k ? "unroll=8" : "unroll=2");
        strcpy(entry.kernel, gv_direct_space.kernel);
        strcpy(entry.driver, limits.info.driver);
        strcpy(entry.date, k ? "2026-01-01T00:00:00Z" : "2026-12-31T00:00:00Z");
        assert_ok(gv_profile_set_add(&shipped, &device, &entry));
    }
    strcpy(limits.info.name, "Xeon");
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        gravel_origin origin = GRAVEL_ORIGIN_BUILT_IN;
        const gv_profile_question question = {&gv_direct_space, &variant, &limits, "0123456789abcdef", 64, 8192};
        gv_config config;

        strcpy(limits.info.driver, wanted[i].driver);
        assert_true(gv_profile_look_up(NULL, &shipped, &question, &config, &origin, NULL));
        assert_int_equal(origin, GRAVEL_ORIGIN_FAMILY);
        assert_int_equal(config.value[gv_space_index(&gv_direct_space, "unroll")], wanted[i].unroll);
    }
    gv_profile_set_free(&shipped);
}

/* The default of 33 to 48 sinks fits them, what 32 and 64 sinks kept computes for 64: so far behind it that none of it
 * is an option any more.  The answer is the default then, not what won with the nearest number of sinks. */
static void test_default_far_ahead(void **state)
{
    static const char *const kept[2][2] = {
        {"threads=128 blocks_per_cu=4 split=4 sinks_per_item=1 tile=128 unroll=4 lanes=1 rsqrt=1 meet=1",
         "threads=128 blocks_per_cu=4 split=4 sinks_per_item=1 tile=64 unroll=4 lanes=1 rsqrt=1 meet=1"},
        {"threads=256 blocks_per_cu=2 split=8 sinks_per_item=2 tile=64 unroll=4 lanes=1 rsqrt=1 meet=1",
         "threads=256 blocks_per_cu=2 split=8 sinks_per_item=2 tile=64 unroll=8 lanes=1 rsqrt=1 meet=1"}};
    gv_profile_set shipped = GV_PROFILE_SET_INIT;
    gv_profile_device device;
    gv_profile_entry entry;
    gv_limits limits;
    gv_config config, built_in;
    gv_variant variant;
    gravel_origin origin;
    const gv_profile_question question = {&gv_direct_space, &variant, &limits, "0123456789abcdef", 40, 1048576};

    (void)state;
    assert_true(gv_variant_parse("ds4", &variant));
    make_limits(&limits, "NVIDIA H200", 132);
    limits.info.max_group = 1024;
    limits.info.local_memory = 49152;
    make_device(&device, "NVIDIA H200", 132);
    for (int k = 0; k < 2; k++) {
        make_entry(&entry, "ds4", k == 0 ? 32 : 64, 1048576, kept[k][0]);
        strcpy(entry.kernel, "direct");
        entry.result[0].time_s = entry.result[0].time_min_s = k == 0 ? 110e-6 : 200e-6;
        entry.result[1] = entry.result[0];
        strcpy(entry.result[1].configuration, kept[k][1]);
        entry.result[1].time_s = entry.result[1].time_min_s *= 1.01;
        entry.n_results = 2;
        assert_ok(gv_profile_set_add(&shipped, &device, &entry));
    }
    gv_direct_space.built_in(&built_in, &variant, &limits, 40, 1048576);
    assert_int_equal(built_in.value[GV_T_SINKS_PER_ITEM] * built_in.value[GV_T_THREADS] / built_in.value[GV_T_SPLIT],
                     48);
    config = built_in;
    assert_true(gv_profile_look_up(NULL, &shipped, &question, &config, &origin, NULL));
    assert_true(gv_space_same(&gv_direct_space, &config, &built_in, &variant, &limits, 40, 1048576));
    gv_profile_set_free(&shipped);
}

static void test_buckets(void **state)
{
    static const size_t first[] = {1, 2, 16, 64, 256, 1024, 16384};

    (void)state;
    for (int b = 0; b < GV_SINK_BUCKETS; b++) {
        assert_int_equal(gv_sink_bucket(first[b]), b);
        assert_int_equal(gv_sink_bucket(b + 1 < GV_SINK_BUCKETS ? first[b + 1] - 1 : SIZE_MAX), b);
    }
    assert_int_equal(gv_sink_bucket(0), 0);
    assert_int_equal(gv_source_bucket(16383), 0);
    assert_int_equal(gv_source_bucket(16384), 1);
    assert_int_equal(gv_source_bucket(262143), 1);
    assert_int_equal(gv_source_bucket(262144), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ladder),
        cmocka_unit_test(test_configurations_are_checked_again),
        cmocka_unit_test(test_what_was_found_beyond_soft_constraints_is_used),
        cmocka_unit_test(test_which_of_two_answers_counts),
        cmocka_unit_test(test_nearest_of_the_same_device),
        cmocka_unit_test(test_new_questions_hide_no_others),
        cmocka_unit_test(test_alike_devices_fill_gaps),
        cmocka_unit_test(test_near_answers_are_the_devices_own),
        cmocka_unit_test(test_alike_devices_know_the_text),
        cmocka_unit_test(test_cpus_are_alike_by_name),
        cmocka_unit_test(test_other_cpus_win_by_more),
        cmocka_unit_test(test_roots_are_the_compilers_own),
        cmocka_unit_test(test_nearest_driver_of_the_family),
        cmocka_unit_test(test_default_far_ahead),
        cmocka_unit_test(test_buckets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
