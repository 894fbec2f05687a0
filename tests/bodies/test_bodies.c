/* Planes: what is written comes back, whatever the way, type and precision. */
#include "host/bodies/bodies.h"
#include "one_context.h"

#include <float.h>
#include <math.h>

static gravel_bodies *make(gravel_precision precision)
{
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_bodies *bodies;
    options.precision = precision;
    assert_ok(gravel_bodies_create(&bodies, context, &options));
    return bodies;
}

static gravel_precision best(void)
{
    return gravel_context_get_device(context, 0)->has_fp64 ? GRAVEL_DP : GRAVEL_DS;
}

static double random_number(uint64_t *state) /* splitmix64, -1 ... 1 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)(int64_t)(z ^ (z >> 31)) / 9223372036854775808.0;
}

static double *random_numbers(size_t n, uint64_t seed)
{
    double *x = malloc(n * sizeof *x);
    assert_non_null(x);
    for (size_t k = 0; k < n; k++)
        x[k] = random_number(&seed);
    return x;
}

/* Largest difference that storing x may make: x is scaled by a power of two after the origin is taken off, all within
 * 2 of the frame's unit.  One rounding of the stored precision (sp 2^-24, ds 2^-48, of numbers up to 2), and one of the
 * subtraction and of the addition in double (2^-53 each, numbers up to 2). */
static double storing_error(gravel_precision precision, int pair)
{
    const double rounding = precision == GRAVEL_DP ? 0 : precision == GRAVEL_DS && pair ? exp2(-47) : exp2(-23);
    return rounding + 2 * exp2(-52);
}

static void check_vectors(gravel_bodies *bodies, gravel_plane plane, size_t n, double *const x[3], double error)
{
    double *out = malloc(3 * n * sizeof *out);
    assert_non_null(out);
    const gravel_array_out soa = GRAVEL_ARRAY_OUT_SOA(out, out + n, out + 2 * n);
    assert_ok(gravel_bodies_read(bodies, plane, 0, n, &soa));
    for (int c = 0; c < 3; c++)
        for (size_t k = 0; k < n; k++)
            if (!(fabs(out[(size_t)c * n + k] - x[c][k]) <= error))
                fail_msg("%s %zu, component %d: %.17g, written %.17g", gravel_plane_name(plane), k, c,
                         out[(size_t)c * n + k], x[c][k]);
    free(out);
}

/* more than two blocks, and not a whole number of them */
enum { MANY = 2 * 65536 + 777 };

static void comes_back(void **state)
{
    (void)state;
    double *x = random_numbers(3 * (size_t)MANY, 1), *m = malloc(MANY * sizeof *m);
    int32_t *id = malloc(MANY * sizeof *id), *id_out = malloc(MANY * sizeof *id);
    double *const axis[3] = {x, x + MANY, x + 2 * (size_t)MANY};
    const gravel_array soa = GRAVEL_ARRAY_SOA(axis[0], axis[1], axis[2]);
    for (int k = 0; k < MANY; k++) {
        m[k] = 1.0 / 49;
        id[k] = k ^ 0x5a5a;
    }
    const gravel_array mass = GRAVEL_ARRAY(m), ids = {id, NULL, NULL, 1, GRAVEL_I32};
    const gravel_array_out ids_out = {id_out, NULL, NULL, 1, GRAVEL_I32};
    for (gravel_precision p = GRAVEL_SP; p <= best(); p++) {
        gravel_bodies *bodies = make(p);
        assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, MANY, &soa));
        assert_ok(gravel_bodies_write(bodies, GRAVEL_MASS, 0, MANY, &mass));
        assert_ok(gravel_bodies_write(bodies, GRAVEL_VELOCITY, 0, MANY, &soa));
        assert_ok(gravel_bodies_write(bodies, GRAVEL_JERK, 0, MANY, &soa));
        assert_ok(gravel_bodies_write(bodies, GRAVEL_ID, 0, MANY, &ids));
        assert_int_equal(gravel_bodies_get_count(bodies), MANY);
        check_vectors(bodies, GRAVEL_POSITION, MANY, axis, storing_error(p, 1));
        check_vectors(bodies, GRAVEL_VELOCITY, MANY, axis, storing_error(p, 1));
        check_vectors(bodies, GRAVEL_JERK, MANY, axis, storing_error(p, 0));
        double back[3];
        const gravel_array_out out = GRAVEL_ARRAY_OUT(back);
        assert_ok(gravel_bodies_read(bodies, GRAVEL_MASS, MANY - 3, 3, &out));
        for (int k = 0; k < 3; k++)
            assert_true(back[k] == 1.0 / 49); /* 1 in its own unit */
        assert_ok(gravel_bodies_read(bodies, GRAVEL_ID, 0, MANY, &ids_out));
        assert_memory_equal(id, id_out, MANY * sizeof *id);
        assert_true(gravel_bodies_has_plane(bodies, GRAVEL_JERK));
        assert_false(gravel_bodies_has_plane(bodies, GRAVEL_SNAP));
        gravel_bodies_release(bodies);
    }
    free(id_out);
    free(id);
    free(m);
    free(x);
}

static void floats_and_strides(void **state)
{
    (void)state;
    enum { N = 1000 };
    static double x[N][3], y[N][3];
    static float f[N][3], g[N][3];
    uint64_t seed = 3;
    for (int k = 0; k < 3 * N; k++) {
        x[k / 3][k % 3] = 1e4 + random_number(&seed);
        f[k / 3][k % 3] = (float)random_number(&seed);
    }
    const gravel_array aos = GRAVEL_ARRAY_AOS(x);
    const gravel_array_out aos_out = GRAVEL_ARRAY_OUT_AOS(y);
    const gravel_array floats = {&f[0][0], &f[0][1], &f[0][2], 3, GRAVEL_F32};
    const gravel_array_out floats_out = {&g[0][0], NULL, &g[0][2], 3, GRAVEL_F32};
    for (gravel_precision p = GRAVEL_SP; p <= best(); p++) {
        gravel_bodies *bodies = make(p);
        assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N, &aos));
        assert_ok(gravel_bodies_read(bodies, GRAVEL_POSITION, 0, N, &aos_out));
        for (int k = 0; k < 3 * N; k++) /* 1e4 from the origin: the sum is rounded in double at 2^-40 */
            assert_true(fabs(y[k / 3][k % 3] - x[k / 3][k % 3]) <= storing_error(p, 1) + exp2(-39));
        /* floats of a unit that is a power of two are stored as they are */
        assert_ok(gravel_bodies_write(bodies, GRAVEL_VELOCITY, 0, N, &floats));
        memset(g, 0, sizeof g);
        assert_ok(gravel_bodies_read(bodies, GRAVEL_VELOCITY, 0, N, &floats_out));
        for (int k = 0; k < N; k++) {
            assert_true(g[k][0] == f[k][0] && g[k][2] == f[k][2]);
            assert_true(g[k][1] == 0);
        }
        gravel_bodies_release(bodies);
    }
}

static void times_in_pairs(void **state)
{
    (void)state;
    const double t[3] = {1234.0 + exp2(-30), 0.1, 3.0};
    double back[3];
    const gravel_array in = GRAVEL_ARRAY(t);
    const gravel_array_out out = GRAVEL_ARRAY_OUT(back);
    gravel_bodies *bodies = make(GRAVEL_DS);
    assert_ok(gravel_bodies_write(bodies, GRAVEL_TIME, 0, 3, &in));
    assert_ok(gravel_bodies_read(bodies, GRAVEL_TIME, 0, 3, &out));
    assert_true(back[0] == t[0] && back[2] == t[2]);      /* 41 and 2 bits */
    assert_true(fabs(back[1] - t[1]) <= 0.1 * exp2(-47)); /* two roundings to 24 bits */
    gravel_bodies_release(bodies);
}

/* What is not there reads as zeros, ids as -1, positions as the origin. */
static void nothing_reads_as_zero(void **state)
{
    (void)state;
    const gravel_frame frame = {{5, 6, 7}, 2, 3};
    double out[3][4];
    int32_t id[4];
    gravel_frame got;
    const gravel_array_out soa = GRAVEL_ARRAY_OUT_SOA(out[0], out[1], out[2]), one = GRAVEL_ARRAY_OUT(out[0]);
    const gravel_array_out ids = {id, NULL, NULL, 1, GRAVEL_I32};
    gravel_bodies *bodies = make(GRAVEL_DS);
    assert_ok(gravel_bodies_set_frame(bodies, &frame));
    assert_ok(gravel_bodies_get_frame(bodies, &got));
    assert_memory_equal(&got, &frame, sizeof got);
    assert_ok(gravel_bodies_resize(bodies, 4));
    assert_ok(gravel_bodies_read(bodies, GRAVEL_POSITION, 0, 4, &soa));
    for (int k = 0; k < 4; k++)
        assert_true(out[0][k] == 5 && out[1][k] == 6 && out[2][k] == 7);
    assert_ok(gravel_bodies_read(bodies, GRAVEL_MASS, 0, 4, &one));
    assert_ok(gravel_bodies_read(bodies, GRAVEL_ID, 0, 4, &ids));
    for (int k = 0; k < 4; k++)
        assert_true(out[0][k] == 0 && id[k] == -1);
    assert_int_equal(gravel_bodies_read(bodies, GRAVEL_MASS, 2, 3, &one), GRAVEL_ERR_ARGUMENT);
    assert_contains(gravel_error_message(), "there are 4");
    gravel_bodies_release(bodies);
}

/* Bodies that went leave zeros behind, also where new ones come later; contents survive growth. */
static void number_changes(void **state)
{
    (void)state;
    enum { N = 3000 };
    static double x[N], out[N];
    static int32_t id[N], id_out[N];
    for (int k = 0; k < N; k++) {
        x[k] = k + 1;
        id[k] = k;
    }
    const gravel_array in = GRAVEL_ARRAY(x), ids = {id, NULL, NULL, 1, GRAVEL_I32};
    const gravel_array_out to = GRAVEL_ARRAY_OUT(out), ids_out = {id_out, NULL, NULL, 1, GRAVEL_I32};
    gravel_bodies *bodies = make(GRAVEL_SP);
    assert_ok(gravel_bodies_write(bodies, GRAVEL_USER, 0, 1000, &in));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_ID, 0, 1000, &ids));
    const size_t before = gravel_bodies_get_memory(bodies);
    assert_ok(gravel_bodies_resize(bodies, 10));
    assert_ok(gravel_bodies_resize(bodies, 2500));
    assert_true(gravel_bodies_get_memory(bodies) > before);
    assert_ok(gravel_bodies_write(bodies, GRAVEL_USER, 2600, 400, &in));
    assert_int_equal(gravel_bodies_get_count(bodies), 3000);
    assert_ok(gravel_bodies_read(bodies, GRAVEL_USER, 0, N, &to));
    assert_ok(gravel_bodies_read(bodies, GRAVEL_ID, 0, N, &ids_out));
    for (int k = 0; k < N; k++) {
        assert_true(out[k] == (k < 10 ? k + 1 : k < 2600 ? 0 : k - 2599));
        assert_int_equal(id_out[k], k < 10 ? k : -1);
    }
    gravel_bodies_release(bodies);
}

static void by_address(void **state)
{
    (void)state;
    enum { N = 5000, K = 700 };
    static double x[N], m[K], p[K][3], out[N], pos[3][N], g[K];
    static uint32_t address[K];
    uint64_t seed = 8;
    for (int k = 0; k < N; k++)
        x[k] = k;
    for (int k = 0; k < K; k++) {
        address[k] = (uint32_t)(fabs(random_number(&seed)) * (N - 1)); /* some of them twice */
        m[k] = k + 1;
        for (int c = 0; c < 3; c++)
            p[k][c] = k + 0.25 * c;
    }
    const gravel_array zeros = GRAVEL_ARRAY_SOA(x, x, x);
    const gravel_array from[2] = {GRAVEL_ARRAY(m), GRAVEL_ARRAY_AOS(p)};
    const gravel_plane plane[2] = {GRAVEL_MASS, GRAVEL_POSITION};
    const gravel_array_out to = GRAVEL_ARRAY_OUT(out), soa = GRAVEL_ARRAY_OUT_SOA(pos[0], pos[1], pos[2]);
    const gravel_array_out gathered = GRAVEL_ARRAY_OUT(g);
    for (gravel_precision precision = GRAVEL_SP; precision <= best(); precision++) {
        const gravel_frame frame = {{0, 0, 0}, 1, 1};
        int last[N];
        gravel_bodies *bodies = make(precision);
        assert_ok(gravel_bodies_set_frame(bodies, &frame));
        assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N, &zeros));
        assert_ok(gravel_bodies_update(bodies, address, 0, K, 2, plane, from));
        memset(last, -1, sizeof last);
        for (int k = 0; k < K; k++)
            last[address[k]] = k;
        assert_ok(gravel_bodies_read(bodies, GRAVEL_MASS, 0, N, &to));
        assert_ok(gravel_bodies_read(bodies, GRAVEL_POSITION, 0, N, &soa));
        for (int k = 0; k < N; k++) {
            assert_true(out[k] == last[k] + 1);
            for (int c = 0; c < 3; c++)
                assert_true(pos[c][k] == (last[k] < 0 ? k : last[k] + 0.25 * c));
        }
        assert_ok(gravel_bodies_gather(bodies, GRAVEL_MASS, address, K, &gathered));
        for (int k = 0; k < K; k++)
            assert_true(g[k] == last[address[k]] + 1);
        /* few of them are passed as an argument of the kernel */
        const uint32_t few[4] = {9, 11, 9, 4000};
        assert_ok(gravel_bodies_update(bodies, few, 0, 4, 2, plane, from));
        assert_ok(gravel_bodies_gather(bodies, GRAVEL_MASS, few, 4, &gathered));
        assert_true(g[0] == 3 && g[1] == 2 && g[2] == 3 && g[3] == 4);
        const uint32_t beyond[2] = {3, N};
        assert_int_equal(gravel_bodies_scatter(bodies, GRAVEL_MASS, beyond, 2, from), GRAVEL_ERR_ARGUMENT);
        assert_contains(gravel_error_message(), "no body 5000");
        gravel_bodies_release(bodies);
    }
}

/* Many planes in one call, more than eight words, and ids among them. */
static void many_planes(void **state)
{
    (void)state;
    enum { N = 100, PLANES = 11 };
    static double x[PLANES][N][3], out[N][3];
    static int32_t id[N], id_out[N];
    static const gravel_plane plane[PLANES] = {GRAVEL_MASS,   GRAVEL_ID,   GRAVEL_POSITION, GRAVEL_VELOCITY,
                                               GRAVEL_SNAP,   GRAVEL_JERK, GRAVEL_TIME,     GRAVEL_STEP,
                                               GRAVEL_RADIUS, GRAVEL_USER, GRAVEL_USER_LAST};
    gravel_array from[PLANES];
    uint64_t seed = 4;
    for (int p = 0; p < PLANES; p++) {
        for (int k = 0; k < 3 * N; k++)
            x[p][k / 3][k % 3] = (float)random_number(&seed);
        from[p] = (gravel_array)GRAVEL_ARRAY_AOS(x[p]);
    }
    for (int k = 0; k < N; k++)
        id[k] = 7 * k;
    from[1] = (gravel_array){id, NULL, NULL, 1, GRAVEL_I32};
    const gravel_frame frame = {{0, 0, 0}, 1, 1};
    const gravel_array_out to = GRAVEL_ARRAY_OUT_AOS(out), ids = {id_out, NULL, NULL, 1, GRAVEL_I32};
    for (gravel_precision precision = GRAVEL_SP; precision <= best(); precision++) {
        gravel_bodies *bodies = make(precision);
        assert_ok(gravel_bodies_set_frame(bodies, &frame));
        assert_ok(gravel_bodies_update(bodies, NULL, 0, N, PLANES, plane, from));
        for (int p = 0; p < PLANES; p++) {
            const int components = gravel_plane_components(plane[p]);
            assert_ok(gravel_bodies_read(bodies, plane[p], 0, N, p == 1 ? &ids : &to));
            for (int k = 0; k < N && p != 1; k++)
                for (int c = 0; c < components; c++)
                    assert_true(out[k][c] == x[p][k][c]);
        }
        assert_memory_equal(id, id_out, sizeof id);
        gravel_bodies_release(bodies);
    }
    const gravel_plane twice[2] = {GRAVEL_MASS, GRAVEL_MASS};
    gravel_bodies *bodies = make(GRAVEL_SP);
    assert_int_equal(gravel_bodies_update(bodies, NULL, 0, N, 2, twice, from), GRAVEL_ERR_ARGUMENT);
    gravel_bodies_release(bodies);
}

static void refused_input(void **state)
{
    (void)state;
    double x[5] = {1, 2, 3, 4, 5}, y[5] = {1, 2, NAN, 4, 5}, big[5] = {1, 1, 1, 1e30, 1}, out[5];
    const gravel_array good = GRAVEL_ARRAY_SOA(x, x, x), nan = GRAVEL_ARRAY_SOA(x, y, x);
    const gravel_array overflow = GRAVEL_ARRAY_SOA(x, x, big), mass = GRAVEL_ARRAY(y);
    const gravel_array_out to = GRAVEL_ARRAY_OUT_SOA(NULL, NULL, out);
    gravel_frame frame;
    gravel_bodies *bodies = make(GRAVEL_DS);
    assert_int_equal(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, 5, &nan), GRAVEL_ERR_INPUT);
    assert_contains(gravel_error_message(), "entry 2: position (y) is not a number");
    assert_int_equal(gravel_bodies_get_count(bodies), 0);
    assert_false(gravel_bodies_has_plane(bodies, GRAVEL_POSITION));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, 5, &good));
    assert_ok(gravel_bodies_get_frame(bodies, &frame));
    assert_true(frame.origin[0] == 3 && frame.length == 2);
    assert_int_equal(gravel_bodies_write(bodies, GRAVEL_POSITION, 10, 5, &overflow), GRAVEL_ERR_INPUT);
    assert_contains(gravel_error_message(), "body 13: position (z) is 1e+30");
    assert_int_equal(gravel_bodies_write(bodies, GRAVEL_MASS, 0, 5, &mass), GRAVEL_ERR_INPUT);
    assert_int_equal(gravel_bodies_get_count(bodies), 5);
    assert_ok(gravel_bodies_read(bodies, GRAVEL_POSITION, 0, 5, &to));
    assert_memory_equal(out, x, sizeof x);
    const gravel_array doubles = GRAVEL_ARRAY(x), none = GRAVEL_ARRAY_SOA(x, NULL, x);
    assert_int_equal(gravel_bodies_write(bodies, GRAVEL_ID, 0, 5, &doubles), GRAVEL_ERR_ARGUMENT);
    assert_int_equal(gravel_bodies_write(bodies, GRAVEL_VELOCITY, 0, 5, &none), GRAVEL_ERR_ARGUMENT);
    assert_int_equal(gravel_bodies_write(bodies, (gravel_plane)GRAVEL_PLANES, 0, 5, &doubles), GRAVEL_ERR_ARGUMENT);
    gravel_bodies_release(bodies);
}

static void filled(void **state)
{
    (void)state;
    double out[3][4];
    const gravel_array_out soa = GRAVEL_ARRAY_OUT_SOA(out[0], out[1], out[2]), one = GRAVEL_ARRAY_OUT(out[0]);
    for (gravel_precision p = GRAVEL_SP; p <= best(); p++) {
        gravel_bodies *bodies = make(p);
        assert_ok(gravel_bodies_resize(bodies, 4));
        assert_ok(gravel_bodies_fill(bodies, GRAVEL_MASS, 1.0 / 3));
        assert_ok(gravel_bodies_fill(bodies, GRAVEL_POSITION, 2.5));
        assert_ok(gravel_bodies_read(bodies, GRAVEL_MASS, 0, 4, &one));
        for (int k = 0; k < 4; k++)
            assert_true(out[0][k] == 1.0 / 3);
        assert_ok(gravel_bodies_read(bodies, GRAVEL_POSITION, 0, 4, &soa));
        for (int k = 0; k < 12; k++)
            assert_true(out[k / 4][k % 4] == 2.5);
        assert_int_equal(gravel_bodies_fill(bodies, GRAVEL_VELOCITY, INFINITY), GRAVEL_ERR_INPUT);
        assert_int_equal(gravel_bodies_fill(bodies, GRAVEL_ID, 0.5), GRAVEL_ERR_INPUT);
        gravel_bodies_release(bodies);
    }
}

/* Another frame: the caller sees the same numbers, up to one more rounding in the new units. */
static void frame_changes(void **state)
{
    (void)state;
    enum { N = 1000 };
    double *x = random_numbers(3 * (size_t)N, 11), m[N], out[N];
    double *const axis[3] = {x, x + N, x + 2 * (size_t)N};
    for (int k = 0; k < N; k++)
        m[k] = 0.5;
    const gravel_array soa = GRAVEL_ARRAY_SOA(axis[0], axis[1], axis[2]), mass = GRAVEL_ARRAY(m);
    const gravel_array_out to = GRAVEL_ARRAY_OUT(out);
    const gravel_frame other = {{1, -2, 0.5}, 8, 0.25};
    for (gravel_precision p = GRAVEL_SP; p <= best(); p++) {
        gravel_frame got;
        gravel_bodies *bodies = make(p);
        assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N, &soa));
        assert_ok(gravel_bodies_write(bodies, GRAVEL_MASS, 0, N, &mass));
        assert_ok(gravel_bodies_write(bodies, GRAVEL_VELOCITY, 0, N, &soa));
        assert_ok(gravel_bodies_write(bodies, GRAVEL_POTENTIAL, 0, N, &mass));
        assert_ok(gravel_bodies_set_frame(bodies, &other));
        /* up to 3 from the new origin: as large as numbers within 2 of the frame's unit 2 */
        check_vectors(bodies, GRAVEL_POSITION, N, axis, 4 * storing_error(p, 1));
        check_vectors(bodies, GRAVEL_VELOCITY, N, axis, storing_error(p, 1)); /* powers of two are exact */
        assert_ok(gravel_bodies_read(bodies, GRAVEL_MASS, 0, N, &to));
        assert_memory_equal(out, m, sizeof m);
        assert_ok(gravel_bodies_read(bodies, GRAVEL_POTENTIAL, 0, N, &to));
        assert_memory_equal(out, m, sizeof m);
        assert_ok(gravel_bodies_choose_frame(bodies, &got));
        assert_true(got.length == 1 && got.mass == 0.5 && fabs(got.origin[1]) < 0.01); /* a box of +-1 */
        const gravel_frame bad = {{0, 0, 0}, 3, 1}, tiny = {{0, 0, 0}, 0x1p-120, 1};
        assert_int_equal(gravel_bodies_set_frame(bodies, &bad), GRAVEL_ERR_ARGUMENT);
        if (p < GRAVEL_DP)
            assert_int_equal(gravel_bodies_set_frame(bodies, &tiny), GRAVEL_ERR_INPUT);
        check_vectors(bodies, GRAVEL_POSITION, N, axis, 4 * storing_error(p, 1));
        gravel_bodies_release(bodies);
    }
    free(x);
}

/* One of a thousand is far away: the others keep their digits, in a frame that starts among them. */
static void far_away(void **state)
{
    (void)state;
    enum { N = 1000, FAR = 321 };
    double *x = random_numbers(3 * (size_t)N, 12);
    double *const axis[3] = {x, x + N, x + 2 * (size_t)N};
    const gravel_array soa = GRAVEL_ARRAY_SOA(axis[0], axis[1], axis[2]);
    axis[0][FAR] = -1e5;
    for (gravel_precision p = GRAVEL_SP; p <= best(); p++) {
        gravel_frame got, chosen;
        gravel_bodies *bodies = make(p);
        double out[3][N];
        const gravel_array_out to = GRAVEL_ARRAY_OUT_SOA(out[0], out[1], out[2]);
        assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N, &soa));
        assert_ok(gravel_bodies_get_frame(bodies, &got));
        assert_true(fabs(got.origin[0]) < 0.2 && fabs(got.origin[1]) < 0.01 && got.length == 131072);
        assert_ok(gravel_bodies_read(bodies, GRAVEL_POSITION, 0, N, &to));
        for (int k = 0; k < 3 * N; k++) /* up to 2 from the origin: half a unit in the last place of a float there */
            assert_true(fabs(out[k / N][k % N] - x[k]) <= (k == FAR ? 0x1p-8 : 0x1p-23));
        assert_ok(gravel_bodies_choose_frame(bodies, &chosen));
        assert_true(fabs(chosen.origin[0] - got.origin[0]) < 1e-6 && chosen.length == got.length);
        gravel_bodies_release(bodies);
    }
    free(x);
}

/* Velocities that came before the positions are in the unit that these choose; a refused call changes nothing. */
static void velocities_first(void **state)
{
    (void)state;
    enum { N = 100 };
    double x[N], v[N], bad[N], out[N];
    for (int k = 0; k < N; k++) {
        x[k] = 1000 * k;
        v[k] = 0.1f * (float)k;
        bad[k] = k == 7 ? 1e30 : x[k];
    }
    const gravel_array pos = GRAVEL_ARRAY_SOA(x, x, x), vel = GRAVEL_ARRAY_SOA(v, v, v);
    const gravel_array wrong[2] = {pos, GRAVEL_ARRAY_SOA(x, bad, x)};
    const gravel_plane plane[2] = {GRAVEL_POSITION, GRAVEL_VELOCITY};
    const gravel_array_out to = GRAVEL_ARRAY_OUT_SOA(NULL, out, NULL);
    gravel_frame frame;
    gravel_bodies *bodies = make(GRAVEL_SP);
    assert_ok(gravel_bodies_write(bodies, GRAVEL_VELOCITY, 0, N, &vel));
    assert_int_equal(gravel_bodies_update(bodies, NULL, 0, N, 2, plane, wrong), GRAVEL_ERR_INPUT);
    assert_contains(gravel_error_message(), "body 7: velocity (y)");
    assert_ok(gravel_bodies_get_frame(bodies, &frame));
    assert_true(frame.length == 1);
    for (int turn = 0; turn < 2; turn++) {
        assert_ok(gravel_bodies_read(bodies, GRAVEL_VELOCITY, 0, N, &to));
        assert_memory_equal(out, v, sizeof v);
        assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N, &pos));
    }
    assert_ok(gravel_bodies_get_frame(bodies, &frame));
    assert_true(frame.length == 65536);
    gravel_bodies_release(bodies);
}

/* What does not fit is refused, and the object goes on as before. */
static void too_many(void **state)
{
    (void)state;
    double x[3] = {1, 2, 3}, out[3];
    const gravel_array in = GRAVEL_ARRAY(x);
    const gravel_array_out to = GRAVEL_ARRAY_OUT(out);
    const gravel_device_info *info = gravel_context_get_device(context, 0);
    gravel_bodies *bodies = make(GRAVEL_SP);
    assert_ok(gravel_bodies_write(bodies, GRAVEL_USER, 0, 3, &in));
    assert_int_equal(gravel_bodies_resize(bodies, (size_t)INT32_MAX), GRAVEL_ERR_ARGUMENT);
    if (info->max_allocation / 16 < GV_MOST_BODIES) {
        assert_int_equal(gravel_bodies_resize(bodies, (size_t)(info->max_allocation / 16) + 1024),
                         GRAVEL_ERR_DEVICE_MEMORY);
        assert_contains(gravel_error_message(), "vectors of at most");
    }
    assert_int_equal(gravel_bodies_write(bodies, GRAVEL_USER, SIZE_MAX, 3, &in), GRAVEL_ERR_ARGUMENT);
    assert_int_equal(gravel_bodies_get_count(bodies), 3);
    assert_ok(gravel_bodies_write(bodies, GRAVEL_USER, 3, 0, &in)); /* nothing */
    assert_ok(gravel_bodies_read(bodies, GRAVEL_USER, 0, 3, &to));
    assert_memory_equal(out, x, sizeof x);
    gravel_bodies_release(bodies);
    gravel_bodies_release(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),     cmocka_unit_test(floats_and_strides),    cmocka_unit_test(times_in_pairs),
        cmocka_unit_test(number_changes), cmocka_unit_test(nothing_reads_as_zero), cmocka_unit_test(by_address),
        cmocka_unit_test(many_planes),    cmocka_unit_test(refused_input),         cmocka_unit_test(filled),
        cmocka_unit_test(frame_changes),  cmocka_unit_test(velocities_first),      cmocka_unit_test(too_many),
        cmocka_unit_test(far_away),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
