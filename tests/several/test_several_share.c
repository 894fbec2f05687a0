/* Integrators whose forces two parts of a CPU find together: beside one device, the same bits from run to run and after
 * a stop. */
#include "several_test.h"

#include "gravel/leapfrog.h"
#include "sim/ic.h"

enum { N = 150, MOST_BLOCKS = 400 };

typedef enum solver { HERMITE, LEAPFROG, TREE } solver;

typedef struct kind {
    solver solver;
    int order, shared;
    gravel_precision precision;
    gravel_host_answers host; /* who moves blocks; ALWAYS: those of up to 20 bodies */
    int some;                 /* 1: blocks of less than 50 bodies or so are the first device's */
} kind;

/* One integration, and what it leaves. */
typedef struct steps {
    gravel_several_share *share; /* NULL: one device */
    gravel_context *context;
    gravel_bodies *bodies;
    gravel_direct *direct;
    gravel_tree *tree;
    gravel_hermite *hermite;
    gravel_leapfrog *leapfrog;
} steps;

static gravel_tree_options tree_options(void)
{
    gravel_tree_options o = GRAVEL_TREE_OPTIONS_INIT;
    o.precision = GRAVEL_DS;
    o.theta = 0.3;
    o.mac = GRAVEL_TREE_LAST;
    return o;
}

static void make_integrator(steps *s, const kind *k)
{
    gravel_hermite_options h = GRAVEL_HERMITE_OPTIONS_INIT;
    gravel_leapfrog_options l = GRAVEL_LEAPFROG_OPTIONS_INIT;
    h.order = k->order;
    h.shared = l.shared = k->shared;
    h.host = k->host;
    h.forces_alike = 1;
    h.eps = l.eps = 0.02;
    h.step_max = l.step_max = 0x1p-5;
    l.ahead = 1;
    l.rebuild = 1;
    if (s->share) {
        h.forces = l.forces = gravel_several_share_forces;
        l.walk = gravel_several_share_walk;
        h.forces_user = l.forces_user = l.walk_user = s->share;
    }
    if (k->solver == HERMITE)
        assert_ok(gravel_hermite_create(&s->hermite, s->bodies, s->direct, &h));
    else
        assert_ok(gravel_leapfrog_create(&s->leapfrog, s->bodies, s->direct, s->tree, &l));
}

/* As if it had been measured: one device takes 10 us for each sink, two 0.4 ms and 2 us. */
#define KNOTS " 1 10 100 1000 10 100 1000"
#define ALONE " 1e-5 1e-5 1e-5 1e-4 1e-4 1e-4 1e-3 1e-3 1e-3 1e-2 1e-2 1e-2\n"
#define BOTH " 4e-4 4e-4 4e-4 4.2e-4 4.2e-4 4.2e-4 6e-4 6e-4 6e-4 2.4e-3 2.4e-3 2.4e-3\n"
static const char large_blocks[] =
    "devices 2\nspeeds 1 1\nwalk 50\n"
    "times 2 0" KNOTS ALONE "times 2 1" KNOTS BOTH "times 4 0" KNOTS ALONE "times 4 1" KNOTS BOTH;

static steps make(const char *devices, int together, const kind *k)
{
    steps s = {NULL};
    gravel_several_share_options o = GRAVEL_SEVERAL_SHARE_OPTIONS_INIT;
    gravel_context_options c = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_bodies_options b = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_direct_options d = GRAVEL_DIRECT_OPTIONS_INIT;
    const gravel_tree_options t = tree_options();
    o.devices = c.device = devices;
    o.precision = b.precision = d.precision = k->precision;
    o.all_devices = !k->some;
    o.tree = &t;
    d.order = k->order;
    if (together) {
        assert_ok(gravel_several_share_create(&s.share, &o));
        assert_int_equal(gravel_several_share_get_device_count(s.share), 2);
        s.context = gravel_several_share_get_context(s.share);
        if (k->some)
            assert_ok(gravel_several_share_set_choices(s.share, large_blocks));
    } else {
        assert_ok(gravel_context_create(&s.context, &c));
    }
    assert_ok(gravel_bodies_create(&s.bodies, s.context, &b));
    if (k->solver == TREE)
        assert_ok(gravel_tree_create(&s.tree, s.context, &t));
    else
        assert_ok(gravel_direct_create(&s.direct, s.context, &d));
    make_integrator(&s, k);
    return s;
}

static void end(steps *s)
{
    gravel_hermite_release(s->hermite);
    gravel_leapfrog_release(s->leapfrog);
    gravel_tree_release(s->tree);
    gravel_direct_release(s->direct);
    gravel_bodies_release(s->bodies);
    if (s->share)
        gravel_several_share_release(s->share);
    else
        gravel_context_release(s->context);
}

static void start(const steps *s, const kind *k)
{
    gravel_hermite_state state;
    gv_particles p;
    assert_ok(gv_ic_plummer(N, 7, NULL, &p));
    assert_ok(gravel_bodies_write(s->bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_SOA(p.x, p.y, p.z)));
    assert_ok(gravel_bodies_write(s->bodies, GRAVEL_VELOCITY, 0, N, &GRAVEL_ARRAY_SOA(p.vx, p.vy, p.vz)));
    assert_ok(gravel_bodies_write(s->bodies, GRAVEL_MASS, 0, N, &GRAVEL_ARRAY(p.m)));
    gv_particles_free(&p);
    if (s->hermite)
        assert_ok(gravel_hermite_start(s->hermite, 0));
    else
        assert_ok(gravel_leapfrog_start(s->leapfrog, 0));
    if (k->host == GRAVEL_HOST_NEVER)
        return;
    assert_ok(gravel_hermite_get_state(s->hermite, &state));
    state.host_up_to = 20;
    assert_ok(gravel_hermite_resume(s->hermite, &state));
}

/* Blocks up to this time; how many. */
static int go(const steps *s, double until)
{
    double next;
    int blocks = 0;
    for (; blocks < MOST_BLOCKS; blocks++) {
        if (s->hermite)
            assert_ok(gravel_hermite_get_next(s->hermite, &next));
        else
            assert_ok(gravel_leapfrog_get_next(s->leapfrog, &next));
        if (next > until)
            return blocks;
        if (s->hermite)
            assert_ok(gravel_hermite_step(s->hermite, NULL));
        else
            assert_ok(gravel_leapfrog_step(s->leapfrog, NULL));
    }
    fail_msg("more than %d blocks until time %g", MOST_BLOCKS, until);
    return 0;
}

typedef struct places {
    double x[3][N], v[3][N];
} places;

static places look(const steps *s, double time)
{
    places p;
    gravel_bodies *at;
    if (s->hermite)
        assert_ok(gravel_hermite_get_bodies_at(s->hermite, time, &at));
    else
        assert_ok(gravel_leapfrog_get_bodies_at(s->leapfrog, time, &at));
    assert_ok(gravel_bodies_read(at, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_OUT_SOA(p.x[0], p.x[1], p.x[2])));
    assert_ok(gravel_bodies_read(at, GRAVEL_VELOCITY, 0, N, &GRAVEL_ARRAY_OUT_SOA(p.v[0], p.v[1], p.v[2])));
    return p;
}

/* Forces of ds differ by 1e-7 of themselves, 3e-6 where pairs are close, those of two trees by the errors of theta =
 * 0.3, some 1e-4; over 1/16 of a time unit with accelerations of at most some 30 that gives at most 30 / 16 times as
 * much in a velocity, and close pairs let differences grow tenfold. */
static void assert_near(const places *a, const places *b, const kind *k)
{
    const double bound = k->solver == TREE ? 2e-3 : k->precision == GRAVEL_DP ? 1e-10 : 1e-4;
    for (int c = 0; c < 3; c++)
        for (size_t i = 0; i < N; i++)
            if (!(fabs(a->x[c][i] - b->x[c][i]) < bound && fabs(a->v[c][i] - b->v[c][i]) < 30 * bound))
                fail_msg("order %d, body %zu: position %.9g, velocity %.9g, on one device %.9g, %.9g", k->order, i,
                         a->x[c][i], a->v[c][i], b->x[c][i], b->v[c][i]);
}

/* To 1/32 and on to 1/16, without a stop and with one after the first part. */
static void check(const char *devices, const kind *k)
{
    const double middle = 0x1p-5, until = 0x1p-4;
    gravel_several_share_counts counts;
    gravel_hermite_state state;
    steps one = make(devices, 0, k);
    start(&one, k);
    go(&one, until);
    const places want = look(&one, until);
    end(&one);
    steps two = make(devices, 1, k);
    start(&two, k);
    const int first = go(&two, middle);
    const size_t size = gravel_bodies_get_state_size(two.bodies);
    const size_t choices = gravel_several_share_get_choices(two.share, NULL, 0),
                 own = two.direct ? gravel_direct_get_choices(two.direct, NULL, 0) : 1;
    if (two.hermite)
        assert_ok(gravel_hermite_get_state(two.hermite, &state)); /* the planes have what the host has */
    else
        assert_ok(gravel_leapfrog_get_state(two.leapfrog, &state));
    void *saved = malloc(size);
    char *text = malloc(choices), *mine = calloc(1, own);
    assert_true(saved && text && mine);
    assert_ok(gravel_bodies_save(two.bodies, saved));
    assert_int_equal(gravel_several_share_get_choices(two.share, text, choices), choices);
    assert_int_equal(strlen(text), choices - 1);
    if (two.direct)
        gravel_direct_get_choices(two.direct, mine, own);
    const int second = go(&two, until);
    const places got = look(&two, until);
    gravel_several_share_get_counts(two.share, &counts);
    assert_true(counts.shared > 0 && (k->some ? counts.shared < counts.calls : counts.shared == counts.calls));
    if (k->some)
        assert_true(counts.sinks[0] > counts.sinks[1]);
    else if (k->host == GRAVEL_HOST_NEVER)
        assert_true(counts.shared >= (uint64_t)(first + second));
    else
        assert_true(state.host_blocks > 0 && state.host_blocks < state.blocks);
    assert_true(counts.sinks[0] > 0 && counts.sinks[1] > 0 && counts.bytes > 0);
    assert_near(&got, &want, k);
    end(&two);
    /* another run from the beginning, and one that goes on */
    two = make(devices, 1, k);
    start(&two, k);
    assert_int_equal(go(&two, until), first + second);
    const places again = look(&two, until);
    assert_memory_equal(&got, &again, sizeof got);
    end(&two);
    two = make(devices, 1, k);
    assert_ok(gravel_bodies_restore(two.bodies, saved, size));
    assert_ok(gravel_several_share_set_choices(two.share, text));
    if (two.direct)
        assert_ok(gravel_direct_set_choices(two.direct, mine));
    if (two.hermite)
        assert_ok(gravel_hermite_resume(two.hermite, &state));
    else
        assert_ok(gravel_leapfrog_resume(two.leapfrog, &state));
    assert_int_equal(go(&two, until), second);
    const places resumed = look(&two, until);
    assert_memory_equal(&got, &resumed, sizeof got);
    end(&two);
    free(saved);
    free(text);
    free(mine);
}

static void run_all(const kind *k, size_t n)
{
    const char *const devices = no_device() ? NULL : two_parts();
    if (!devices)
        skip();
    for (size_t i = 0; i < n; i++)
        check(devices, &k[i]);
}

static void hermite(void **state)
{
    static const kind k[] = {
        {HERMITE, 4, 0, GRAVEL_DS, GRAVEL_HOST_NEVER, 0}, {HERMITE, 4, 1, GRAVEL_DS, GRAVEL_HOST_NEVER, 0},
        {HERMITE, 6, 0, GRAVEL_DP, GRAVEL_HOST_NEVER, 0}, {HERMITE, 6, 1, GRAVEL_DS, GRAVEL_HOST_NEVER, 0},
        {HERMITE, 4, 0, GRAVEL_DS, GRAVEL_HOST_NEVER, 1}, {HERMITE, 4, 0, GRAVEL_DS, GRAVEL_HOST_ALWAYS, 0},
        {HERMITE, 6, 0, GRAVEL_DS, GRAVEL_HOST_ALWAYS, 0}};
    (void)state;
    run_all(k, sizeof k / sizeof k[0]);
}

static void leapfrog(void **state)
{
    static const kind k[] = {{LEAPFROG, 2, 0, GRAVEL_DS, GRAVEL_HOST_NEVER, 0},
                             {LEAPFROG, 2, 0, GRAVEL_DS, GRAVEL_HOST_NEVER, 1},
                             {LEAPFROG, 2, 1, GRAVEL_DP, GRAVEL_HOST_NEVER, 0}};
    (void)state;
    run_all(k, sizeof k / sizeof k[0]);
}

static void tree(void **state)
{
    static const kind k[] = {{TREE, 2, 0, GRAVEL_DS, GRAVEL_HOST_NEVER, 0},
                             {TREE, 2, 0, GRAVEL_DS, GRAVEL_HOST_NEVER, 1},
                             {TREE, 2, 1, GRAVEL_DS, GRAVEL_HOST_NEVER, 0}};
    (void)state;
    run_all(k, sizeof k / sizeof k[0]);
}

int main(void)
{
    const struct CMUnitTest cases[] = {cmocka_unit_test(hermite), cmocka_unit_test(leapfrog), cmocka_unit_test(tree)};
    return cmocka_run_group_tests(cases, NULL, NULL);
}
