/* src/host/profile/space.c, direct_space.c, direct_plan.c: tunables, constraints, defaults and launch plans, without a
 * device. */
#include "host_test.h"

#include "host/direct/plan.h"

/* ------------------------------------------------------------ made-up devices */

static gv_limits gpu(int max_group, uint64_t local_memory, int compute_units)
{
    gv_limits l;
    memset(&l, 0, sizeof l);
    l.info.type = GRAVEL_DEVICE_GPU;
    l.info.compute_units = compute_units;
    l.info.max_group = max_group;
    l.info.local_memory = local_memory;
    l.info.has_fp64 = 1;
    l.info.simd_width_float = l.info.simd_width_double = 1;
    l.fast_fma = 1;
    return l;
}

static gv_limits cpu(int width_float, int width_double, int rsqrt14, int rsqrt12)
{
    gv_limits l;
    memset(&l, 0, sizeof l);
    l.info.type = GRAVEL_DEVICE_CPU;
    l.info.compute_units = 2;
    l.info.max_group = 4096;
    l.info.local_memory = 512 << 10;
    l.info.has_fp64 = 1;
    l.info.host_memory = 1;
    l.info.simd_width_float = width_float;
    l.info.simd_width_double = width_double;
    l.fast_fma = 1;
    l.has_rsqrt14 = rsqrt14;
    l.has_rsqrt12 = rsqrt12;
    return l;
}

enum { DEVICES = 12 };

static void list_devices(gv_limits device[DEVICES])
{
    int n = 0;
    device[n++] = gpu(1024, 48 << 10, 132);
    device[n++] = gpu(256, 64 << 10, 64);
    device[n++] = gpu(512, 32 << 10, 8);
    device[n++] = gpu(128, 16 << 10, 1);
    device[n++] = gpu(64, 4 << 10, 2); /* less local memory than a tile of most variants needs */
    device[n++] = gpu(16, 1 << 10, 4);
    device[n++] = gpu(1, 1 << 10, 1);
    device[n++] = cpu(16, 8, 1, 1);
    device[n++] = cpu(8, 4, 0, 1);
    device[n++] = cpu(4, 2, 0, 0);
    device[n++] = cpu(1, 1, 0, 0);
    device[n] = cpu(8, 0, 0, 1);
    device[n++].info.has_fp64 = 0;
    assert_int_equal(n, DEVICES);
}

static gv_variant variant_of(const char *name, unsigned features)
{
    gv_variant v;
    assert_true(gv_variant_parse(name, &v));
    v.features = features;
    return v;
}

/* 128 work-items a group, GPU-shaped, passes on gpu(1024, 48 KiB) */
static gv_config plain(void)
{
    gv_config c = {{0}};
    c.value[GV_T_THREADS] = 128;
    c.value[GV_T_BLOCKS_PER_CU] = 8;
    c.value[GV_T_SPLIT] = 1;
    c.value[GV_T_SINKS_PER_ITEM] = 1;
    c.value[GV_T_TILE] = 128;
    c.value[GV_T_UNROLL] = 4;
    c.value[GV_T_LANES] = 1;
    c.value[GV_T_RSQRT] = 1;
    return c;
}

/* ------------------------------------------------------------------- the table */

static void table_is_sound(void **state)
{
    const gv_space *s = &gv_direct_space;
    (void)state;
    assert_true(s->n_tunables <= GV_MAX_TUNABLES);
    assert_int_equal(s->n_tunables, GV_T_COUNT);
    for (int t = 0; t < s->n_tunables; t++) {
        const gv_tunable *u = &s->tunable[t];
        assert_true(u->name && u->name[0] && u->unit && u->help);
        assert_int_equal(gv_space_index(s, u->name), t);
        assert_in_range(u->n_values, 1, GV_MAX_VALUES);
        for (int v = 1; v < u->n_values; v++)
            assert_true(u->values[v - 1] < u->values[v]);
        for (int v = u->n_values; v < GV_MAX_VALUES; v++) /* a value that n_values forgets */
            assert_int_equal(u->values[v], 0);
    }
    for (int c = 0; c < s->n_constraints; c++) {
        assert_true(s->constraint[c].reason && s->constraint[c].holds);
        assert_null(strchr(s->constraint[c].reason, '\n'));
    }
    assert_int_equal(gv_space_index(s, "THREADS"), -1);
    assert_int_equal(gv_space_index(s, ""), -1);
}

static void variants(void **state)
{
    static const char *const wrong[] = {"", "sp", "sp3", "sp22", "ds8", "DP4", "dp", "qp2", "sp2 ", "4"};
    gv_variant v;
    int n = 0;
    (void)state;
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++)
        for (int order = 2; order <= 6; order += 2, n++) {
            char name[16];
            snprintf(name, sizeof name, "%s%d", gravel_precision_name((gravel_precision)p), order);
            assert_true(gv_variant_parse(name, &v));
            assert_string_equal(v.name, name);
            assert_int_equal(v.order, order);
            assert_int_equal(v.precision, p);
            assert_int_equal(v.features, 0);
        }
    assert_int_equal(n, 9);
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++)
        assert_false(gv_variant_parse(wrong[k], &v));
    assert_string_equal(gravel_precision_name((gravel_precision)7), "?");
}

/* ---------------------------------------------------------------- parse, format */

static void parse_and_format(void **state)
{
    gv_config c = plain(), back;
    char text[256];
    (void)state;
    assert_ok(gv_space_parse(&gv_direct_space, NULL, &c));
    assert_ok(gv_space_parse(&gv_direct_space, "", &c));
    assert_ok(gv_space_parse(&gv_direct_space, " \t , ", &c));
    back = plain();
    assert_memory_equal(&c, &back, sizeof c);
    assert_ok(gv_space_parse(&gv_direct_space, "threads=256 tile=0,lanes=16\n split=64 ", &c));
    assert_int_equal(c.value[GV_T_THREADS], 256);
    assert_int_equal(c.value[GV_T_TILE], 0);
    assert_int_equal(c.value[GV_T_LANES], 16);
    assert_int_equal(c.value[GV_T_SPLIT], 64);
    assert_int_equal(c.value[GV_T_UNROLL], 4);
    assert_ok(gv_space_parse(&gv_direct_space, "unroll=8 unroll=2", &c)); /* the later wins */
    assert_int_equal(c.value[GV_T_UNROLL], 2);

    gv_space_format(&gv_direct_space, &c, text, sizeof text);
    assert_string_equal(
        text, "threads=256 blocks_per_cu=8 split=64 sinks_per_item=1 tile=0 unroll=2 lanes=16 rsqrt=1 keep=0 meet=0 "
              "prefetch=0");
    memset(&back, 0, sizeof back);
    assert_ok(gv_space_parse(&gv_direct_space, text, &back));
    assert_memory_equal(&c, &back, sizeof c);
    for (size_t size = 1; size < 12; size++) { /* cut, not overrun */
        memset(text, 'x', sizeof text);
        gv_space_format(&gv_direct_space, &c, text, size);
        assert_true(strlen(text) < size);
        assert_int_equal(text[size], 'x');
    }
    gv_space_format(&gv_direct_space, &c, text, 0);
}

static void parse_refuses(void **state)
{
    static const char *const wrong[][2] = {
        {"threads", "'threads' is not name=value"},
        {"=4", "'=4' is not name=value"},
        {"threads=", "'threads='"},
        {"threads= 128", "'threads='"},
        {"threads=128x", "'threads=128x'"},
        {"threads=1e2", "'threads=1e2'"},
        {"threads=100", "threads takes 1 16 32 64 128 256 512"},
        {"threads=-128", "threads takes"},
        {"threads=4294967424", "threads takes"}, /* 128 + 2^32 */
        {"threads=99999999999999999999", "threads takes"},
        {"unroll=4 tiles=64", "no tunable 'tiles'"},
        {"Threads=64", "no tunable 'Threads'"},
        {"threads=64;tile=0", "'threads=64;tile=0'"},
        {"a_name_that_is_far_longer_than_any_tunable_could_ever_be_and_then_some_more=1", "is not name=value"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        gv_config c = plain();
        if (gv_space_parse(&gv_direct_space, wrong[k][0], &c) != GRAVEL_ERR_ARGUMENT)
            fail_msg("'%s' was taken", wrong[k][0]);
        assert_contains(gravel_error_message(), wrong[k][1]);
    }
}

static void macros(void **state)
{
    gv_config c = plain();
    gv_variant v = variant_of("ds4", GV_DIRECT_NEAREST | GV_DIRECT_UNSOFTENED);
    char text[640];
    (void)state;
    gv_space_macros(&gv_direct_space, &c, text, sizeof text);
    /* blocks_per_cu is a matter of the launch: in the macros it would compile one kernel many times */
    assert_string_equal(text, " -DGV_THREADS=128 -DGV_SPLIT=1 -DGV_SINKS_PER_ITEM=1 -DGV_TILE=128 -DGV_UNROLL=4"
                              " -DGV_LANES=1 -DGV_RSQRT=1 -DGV_KEEP=0 -DGV_MEET=0 -DGV_PREFETCH=0");
    gv_direct_program_options(&v, GRAVEL_SOFTEN_EPS, &c, text, sizeof text);
    assert_contains(
        text,
        "-DGV_ORDER=4 -DGV_PRECISION=1 -DGV_NEAREST=1 -DGV_LISTS=0 -DGV_SOFTEN=0 -DGV_SOFTENED=0 -DGV_THREADS=128");
    v = variant_of("dp6", GV_DIRECT_LISTS);
    gv_direct_program_options(&v, GRAVEL_SOFTEN_EPS, &c, text, sizeof text);
    assert_contains(text, "-DGV_ORDER=6 -DGV_PRECISION=2 -DGV_NEAREST=0 -DGV_LISTS=1 -DGV_SOFTEN=0 -DGV_SOFTENED=1 ");
}

/* ------------------------------------------------------------------ constraints */

/* `changes` to the plain configuration must break the constraint whose reason contains `part`; hard ones for
 * callers too. */
static void expect_broken(const char *variant, gv_limits limits, const char *changes, int hard, const char *part)
{
    gv_config c = plain();
    const gv_variant v = variant_of(variant, 0);
    assert_ok(gv_space_parse(&gv_direct_space, changes, &c));
    const char *soft_reason = gv_space_check(&gv_direct_space, &c, &v, &limits);
    const char *hard_reason = gv_space_can_run(&gv_direct_space, &c, &v, &limits);
    if (!soft_reason || !strstr(soft_reason, part))
        fail_msg("%s: '%s' is: %s; expected: %s", variant, changes, soft_reason ? soft_reason : "allowed", part);
    if (hard ? !hard_reason : !!hard_reason)
        fail_msg("%s: '%s' %s run", variant, changes, hard ? "must not" : "may");
}

static void expect_allowed(const char *variant, gv_limits limits, const char *changes)
{
    gv_config c = plain();
    const gv_variant v = variant_of(variant, 0);
    assert_ok(gv_space_parse(&gv_direct_space, changes, &c));
    const char *reason = gv_space_check(&gv_direct_space, &c, &v, &limits);
    if (reason)
        fail_msg("%s: '%s' is refused: %s", variant, changes, reason);
}

static void constraints_hold(void **state)
{
    const gv_limits g = gpu(1024, 48 << 10, 132), wide = cpu(16, 8, 1, 1), narrow = cpu(8, 4, 0, 1),
                    none = cpu(4, 2, 0, 0);
    const char *cpu_shape = "threads=1 tile=0 rsqrt=3 lanes=16";
    gv_config c = plain();
    const gv_variant v = variant_of("sp2", 0);
    (void)state;
    expect_allowed("sp2", g, "");
    expect_allowed("sp2", wide, cpu_shape);
    expect_broken("sp2", gpu(64, 48 << 10, 1), "", 1, "larger than the device allows");
    expect_allowed("sp2", gpu(128, 48 << 10, 1), "");
    expect_broken("sp2", g, "threads=16 split=32", 1, "split does not divide threads");
    expect_allowed("sp2", g, "split=64 tile=32");
    expect_broken("dp6", g, "split=8 tile=256", 1, "local memory");
    expect_broken("sp2", g, "rsqrt=4", 1, "no estimate instruction");
    expect_broken("sp2", none, "threads=1 tile=0 lanes=8 rsqrt=4", 1, "no estimate instruction");
    expect_allowed("sp2", wide, "threads=1 tile=0 lanes=16 rsqrt=4");
    expect_broken("dp2", wide, "threads=1 tile=0 lanes=16 rsqrt=4", 1, "no estimate instruction");
    expect_allowed("dp2", wide, "threads=1 tile=0 lanes=8 rsqrt=4");
    expect_broken("dp2", narrow, "threads=1 tile=0 lanes=8 rsqrt=4", 1, "no estimate instruction");
    expect_allowed("sp2", narrow, "threads=1 tile=0 lanes=8 rsqrt=4");
    expect_broken("sp2", narrow, "threads=1 tile=0 lanes=16 rsqrt=4", 1, "no estimate instruction");
    expect_broken("sp4", wide, "threads=128 split=2 tile=128 lanes=16 sinks_per_item=8 rsqrt=1", 1, "stack of a CPU");
    expect_broken("sp2", g, "lanes=4", 0, "one lane already");
    expect_broken("sp2", wide, "threads=1 tile=0 lanes=8 rsqrt=3", 0, "SIMD width");
    expect_broken("sp2", none, cpu_shape, 0, "SIMD width");
    expect_broken("sp2", wide, "threads=16 tile=0 lanes=16 rsqrt=3", 0, "barriers");
    expect_broken("sp2", wide, "threads=1 tile=64 lanes=16 rsqrt=3", 0, "barriers");
    expect_broken("sp2", g, "threads=32", 0, "smaller than a wave");
    expect_broken("sp2", g, "tile=0", 0, "slower than a tile");
    expect_broken("sp2", g, "tile=0 split=8 prefetch=1", 1, "prefetch reads from a tile");
    expect_allowed("sp2", g, "prefetch=1");
    expect_allowed("sp2", g, "tile=0 split=8");
    expect_broken("sp2", g, "rsqrt=3", 0, "reciprocal square root unit");
    expect_broken("sp6", g, "sinks_per_item=8", 0, "registers");
    expect_broken("dp6", wide, "threads=1 tile=0 lanes=8 rsqrt=3 sinks_per_item=2", 0, "registers");
    expect_broken("sp6", g, "sinks_per_item=4 unroll=16", 0, "instruction cache");
    c.value[GV_T_THREADS] = 100;
    assert_contains(gv_space_can_run(&gv_direct_space, &c, &v, &g), "not in the tunable's table");
}

/* What the formula counts must be what force.cl declares: tiles of each plane and the ids, two words of the id range, a
 * flag per row, or per stretch of 32 sources and two words of bits per sink (meet), rows of all wide sums and of
 * nearest addresses. */
static void local_bytes(void **state)
{
    gv_config c = plain();
    gv_variant v = variant_of("sp2", 0);
    (void)state;
    assert_int_equal(gv_direct_local_bytes(&c, &v, GRAVEL_SOFTEN_EPS), 128 * (16 + 4) + (1 + 2) * 4);
    c.value[GV_T_SPLIT] = 4;
    assert_int_equal(gv_direct_local_bytes(&c, &v, GRAVEL_SOFTEN_EPS),
                     4 * 128 * (16 + 4) + (4 + 2) * 4 + 128 * 4 * 2 * 4);
    c.value[GV_T_MEET] = 1;
    assert_int_equal(gv_direct_local_bytes(&c, &v, GRAVEL_SOFTEN_EPS),
                     4 * 128 * (16 + 4) + (16 + 2 + 16 * 32) * 4 + 128 * 4 * 2 * 4);
    c.value[GV_T_PREFETCH] = 1; /* one source behind the last */
    assert_int_equal(gv_direct_local_bytes(&c, &v, GRAVEL_SOFTEN_EPS),
                     4 * 128 * (16 + 4) + 16 + (16 + 2 + 16 * 32) * 4 + 128 * 4 * 2 * 4);
    c.value[GV_T_PREFETCH] = 0;
    v = variant_of("ds6", GV_DIRECT_NEAREST);
    assert_int_equal(gv_direct_local_bytes(&c, &v, GRAVEL_SOFTEN_EPS),
                     4 * 128 * (4 * 16 + 4) + (16 + 2 + 16 * 32) * 4 + 128 * (10 * 2 * 4 + 4));
    v = variant_of("dp4", GV_DIRECT_NEAREST);
    c.value[GV_T_TILE] = 0;
    c.value[GV_T_LANES] = 8;
    assert_int_equal(gv_direct_local_bytes(&c, &v, GRAVEL_SOFTEN_EPS), 128 * 8 * (7 * 8 + 4));
    c.value[GV_T_SPLIT] = 1;
    assert_int_equal(gv_direct_local_bytes(&c, &v, GRAVEL_SOFTEN_EPS), 0);
    c = plain();
    v = variant_of("sp2", 0);
    assert_int_equal(gv_direct_local_bytes(&c, &v, GRAVEL_SOFTEN_SINKS), 128 * (16 + 4) + (1 + 2) * 4);
    assert_int_equal(gv_direct_local_bytes(&c, &v, GRAVEL_SOFTEN_SUM), 128 * (16 + 4 + 4) + (1 + 2) * 4);
}

/* Quadrupoles and softening lengths of sources take room in tiles that were chosen without: what is left can run. */
static void tiles_give_way(void **state)
{
    gv_config c = plain();
    const gv_variant v = variant_of("sp2", 0);
    const gv_limits g = gpu(1024, 16 << 10, 1);
    (void)state;
    assert_ok(gv_space_parse(&gv_direct_space, "threads=64 split=16 tile=64 prefetch=1", &c));
    gv_direct_fit_quadrupoles(&c, &v, GRAVEL_SOFTEN_EPS, 40 << 10); /* 53 KB of 64 sources a row */
    assert_int_equal(c.value[GV_T_TILE], 32);
    assert_int_equal(c.value[GV_T_PREFETCH], 1);
    gv_direct_fit_quadrupoles(&c, &v, GRAVEL_SOFTEN_EPS, g.info.local_memory);
    assert_int_equal(c.value[GV_T_TILE], 32); /* rows first */
    assert_int_equal(c.value[GV_T_SPLIT], 8);
    assert_null(gv_space_can_run(&gv_direct_space, &c, &v, &g));
    gv_direct_fit_quadrupoles(&c, &v, GRAVEL_SOFTEN_EPS, 12 << 10);
    assert_int_equal(c.value[GV_T_TILE], 0);
    assert_int_equal(c.value[GV_T_PREFETCH], 0);
    assert_null(gv_space_can_run(&gv_direct_space, &c, &v, &g));
}

/* ------------------------------------------------------------------- built-in */

static void built_in_runs_everywhere(void **state)
{
    static const size_t sinks[] = {1, 2, 8, 16, 17, 64, 128, 1023, 1024, 4096, 131072, 10000000};
    static const size_t sources[] = {1, 1000, 131072, 16777216};
    gv_limits device[DEVICES];
    (void)state;
    list_devices(device);
    for (int k = 0; k < DEVICES; k++)
        for (int p = GRAVEL_SP; p <= (device[k].info.has_fp64 ? GRAVEL_DP : GRAVEL_DS); p++)
            for (int order = 2; order <= 6; order += 2)
                for (unsigned features = 0; features < 8; features++)
                    for (size_t i = 0; i < sizeof sinks / sizeof sinks[0]; i++)
                        for (size_t j = 0; j < sizeof sources / sizeof sources[0]; j++) {
                            gv_config c;
                            gv_variant v;
                            char text[256];
                            gv_variant_set(&v, order, (gravel_precision)p, features);
                            memset(&c, 0x55, sizeof c);
                            gv_direct_space.built_in(&c, &v, &device[k], sinks[i], sources[j]);
                            /* groups or local memory too small for the usual shape on GPUs: it must still run */
                            const int small = device[k].info.type == GRAVEL_DEVICE_GPU &&
                                              (device[k].info.max_group < 64 || device[k].info.local_memory <= 16384);
                            const char *reason = small ? gv_space_can_run(&gv_direct_space, &c, &v, &device[k])
                                                       : gv_space_check(&gv_direct_space, &c, &v, &device[k]);
                            gv_space_format(&gv_direct_space, &c, text, sizeof text);
                            if (reason)
                                fail_msg("device %d, %s, features %u, %zu x %zu: '%s': %s", k, v.name, features,
                                         sinks[i], sources[j], text, reason);
                        }
}

/* ---------------------------------------------------------------------- plans */

/* Sinks and sources must be covered exactly once: parts are consecutive runs of part_sources, as force.cl walks
 * them. */
static void check_plan(const gv_direct_plan *p, const gv_config *c, size_t sinks, size_t sources)
{
    const size_t split = (size_t)c->value[GV_T_SPLIT];
    const size_t group =
        (size_t)c->value[GV_T_THREADS] / split * (size_t)c->value[GV_T_SINKS_PER_ITEM] * (size_t)c->value[GV_T_LANES];
    assert_int_equal(p->stride, p->sink_groups * group);
    assert_true(p->stride >= sinks && p->stride - sinks < group);
    assert_int_equal(p->parts, p->blocks * split);
    assert_true(p->blocks >= 1 && p->part_sources >= 1);
    assert_true(p->parts * p->part_sources >= sources);
    /* the last block has work; the kernel's 32-bit part * part_sources must not wrap into a part that has it twice */
    assert_true(sources == 0 || (p->blocks - 1) * split * p->part_sources < sources);
    assert_true(p->parts * p->part_sources <= UINT32_MAX);
    assert_true(p->reduce_rows >= 1 && GV_REDUCE_THREADS % p->reduce_rows == 0);
}

static void plans_cover_everything(void **state)
{
    static const size_t sizes[] = {1,    2,     3,     15,     16,     17,      31,       32,        33,        63,
                                   64,   65,    127,   128,    129,    255,     257,      1000,      1023,      1025,
                                   4099, 16384, 65537, 131072, 999983, 1048576, 16777259, 100000007, 2000000011};
    const size_t n = sizeof sizes / sizeof sizes[0];
    static const char *const shape[] = {"",
                                        "split=64 tile=32",
                                        "threads=512 sinks_per_item=8 split=2",
                                        "blocks_per_cu=32",
                                        "threads=1 lanes=16 tile=0 blocks_per_cu=4",
                                        "threads=16 split=16 tile=512",
                                        "threads=64 split=4 sinks_per_item=3 tile=64 lanes=8"};
    gv_limits device[DEVICES];
    const gv_variant v = variant_of("sp2", 0);
    (void)state;
    list_devices(device);
    for (size_t s = 0; s < sizeof shape / sizeof shape[0]; s++)
        for (int k = 0; k < DEVICES; k++)
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j <= n; j++) {
                    gv_config c = plain();
                    gv_direct_plan plan;
                    const size_t sources = j < n ? sizes[j] : 0;
                    assert_ok(gv_space_parse(&gv_direct_space, shape[s], &c));
                    memset(&plan, 0xee, sizeof plan);
                    assert_true(
                        gv_direct_plan_make(&plan, &c, &v, device[k].info.compute_units, sizes[i], sources, 0, 0));
                    check_plan(&plan, &c, sizes[i], sources);
                }
}

/* Few sinks must be spread: as many groups as wanted, where there are sources enough for them. */
static void plan_fills_the_device(void **state)
{
    gv_config c = plain();
    const gv_variant v = variant_of("sp2", 0);
    gv_direct_plan plan;
    (void)state;
    assert_true(gv_direct_plan_make(&plan, &c, &v, 132, 1, 131072, 0, 0));
    assert_in_range(plan.blocks, 132 * 8 * 3 / 4, 132 * 8); /* rounding parts up to 16 sources costs some */
    assert_true(gv_direct_plan_make(&plan, &c, &v, 132, 131072, 131072, 0, 0));
    assert_in_range(plan.blocks * plan.sink_groups, 132 * 8 / 2, 132 * 8);
    assert_true(gv_direct_plan_make(&plan, &c, &v, 132, 1, 5, 0, 0));
    assert_int_equal(plan.blocks, 1);
    assert_true(gv_direct_plan_make(&plan, &c, &v, 132, 10000000, 10000000, 0, 0));
    assert_int_equal(plan.blocks, 1);
    /* more sources than configurations are tuned for: up to four times as many groups */
    assert_true(gv_direct_plan_make(&plan, &c, &v, 132, 100, 1 << 24, 0, 0));
    assert_in_range(plan.blocks * plan.sink_groups, 4 * 132 * 8 / 2, 4 * 132 * 8);
}

static void plan_bounds_lists(void **state)
{
    static const size_t sinks[] = {1, 100, 128, 129, 5000, 300000}, capacity[] = {1, 16, 1000, 65536};
    static const size_t bytes[] = {1 << 10, 1 << 20, 100 << 20, (size_t)4 << 30};
    const gv_variant v = variant_of("sp2", GV_DIRECT_LISTS), without = variant_of("sp2", 0);
    int refused = 0, taken = 0;
    (void)state;
    for (int split = 1; split <= 64; split *= 8)
        for (size_t i = 0; i < 6; i++)
            for (size_t k = 0; k < 4; k++)
                for (size_t b = 0; b < 4; b++) {
                    gv_config c = plain();
                    gv_direct_plan plan;
                    c.value[GV_T_SPLIT] = split;
                    const int ok = gv_direct_plan_make(&plan, &c, &v, 132, sinks[i], 131072, capacity[k], bytes[b]);
                    const size_t one =
                        plan.stride * (size_t)split * (capacity[k] + 1) * 4; /* lists and counts of a block */
                    assert_int_equal(ok, one <= bytes[b]);
                    if (ok) {
                        assert_true(plan.blocks * one <= bytes[b]);
                        check_plan(&plan, &c, sinks[i], 131072);
                    }
                    refused += !ok;
                    taken += ok;
                    assert_true(gv_direct_plan_make(&plan, &c, &without, 132, sinks[i], 131072, capacity[k], bytes[b]));
                }
    assert_true(refused > 10 && taken > 10);
}

/* stride * split * capacity * 4 beyond 2^64 must not wrap into something that fits, nor into a division by zero. */
static void plan_of_absurd_lists(void **state)
{
    const gv_variant v = variant_of("sp2", GV_DIRECT_LISTS);
    gv_config c = plain();
    gv_direct_plan plan;
    (void)state;
    c.value[GV_T_SPLIT] = 64;
    for (size_t sinks = 1; sinks <= (size_t)1 << 31; sinks *= 2)
        for (size_t capacity = ((size_t)1 << 20) - 1; capacity < (size_t)1 << 31; capacity = 2 * capacity + 1) {
            const long double need = 64.0L * (long double)sinks * (long double)(capacity + 1) * 4;
            if (gv_direct_plan_make(&plan, &c, &v, 132, sinks, 1000, capacity, (size_t)1 << 34) && need > 1.8e10L)
                fail_msg("%zu sinks with lists of %zu were said to fit", sinks, capacity);
        }
}

static void layouts(void **state)
{
    (void)state;
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++)
        for (int order = 2; order <= 6; order += 2)
            for (unsigned features = 0; features < 4; features++)
                for (int soften = GRAVEL_SOFTEN_EPS; soften <= GRAVEL_SOFTEN_MAX; soften++) {
                    gv_variant v;
                    gv_direct_layout l;
                    const int pair = p == GRAVEL_DS, words = p == GRAVEL_DP ? 1 : 2, vectors = order / 2;
                    const int nearest = (features & GV_DIRECT_NEAREST) != 0, lists = (features & GV_DIRECT_LISTS) != 0;
                    const int of_sinks = soften != GRAVEL_SOFTEN_EPS && soften != GRAVEL_SOFTEN_SOURCES;
                    gv_variant_set(&v, order, (gravel_precision)p, features);
                    gv_direct_layout_set(&l, &v, (gravel_soften)soften);
                    assert_int_equal(l.scalar_size, p == GRAVEL_DP ? 8 : 4);
                    assert_int_equal(l.components, 3 * vectors + 1);
                    assert_int_equal(l.wide_words, words);
                    assert_int_equal(l.partial_planes, l.components * words + 2 * nearest);
                    assert_int_equal(l.result_planes, l.partial_planes + nearest); /* and the neighbour's id */
                    assert_int_equal(l.sink_planes, 3 * (vectors + pair) + lists + of_sinks + 1);
                    assert_int_equal(l.quads, vectors + pair);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_sound),
        cmocka_unit_test(variants),
        cmocka_unit_test(parse_and_format),
        cmocka_unit_test(parse_refuses),
        cmocka_unit_test(macros),
        cmocka_unit_test(constraints_hold),
        cmocka_unit_test(local_bytes),
        cmocka_unit_test(tiles_give_way),
        cmocka_unit_test(built_in_runs_everywhere),
        cmocka_unit_test(plans_cover_everything),
        cmocka_unit_test(plan_fills_the_device),
        cmocka_unit_test(plan_bounds_lists),
        cmocka_unit_test(plan_of_absurd_lists),
        cmocka_unit_test(layouts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
