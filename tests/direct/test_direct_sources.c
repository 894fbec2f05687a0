/* Sources of gravel_direct: written in pieces, scattered, counted, viewed with strides, read back. */
#include "problem.h"

enum { CHUNK = 65536 }; /* entries of one transfer: src/host/direct/arrays.c */

/* ---------------------------------------------------------------------- writing */

static void pieces_in_any_order(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 5000 };
    static const size_t piece[][2] = {{4000, 1000}, {0, 1}, {1, 999}, {2500, 1500}, {1000, 1500}, {700, 600}};
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++)
        for (int order = 2; order <= 6; order += 2) {
            if (!has_precision(context, (gravel_precision)p))
                continue;
            bodies b = bodies_new(N, 1);
            gravel_direct *d = direct_new(context, (direct_want){.order = order, .precision = (gravel_precision)p});
            for (size_t k = 0; k < 6; k++) {
                for (size_t i = 0; k == 5 && i < 600; i++) { /* the last piece overwrites */
                    b.m[700 + i] *= 0.5;
                    b.d[0][1][700 + i] += 1;
                    b.id[700 + i] = -(int32_t)i;
                }
                direct_write(d, &b, piece[k][0], piece[k][1]);
            }
            copy all = copy_of(d, 0, N), some = copy_of(d, 690, 20);
            assert_stored(&all, &b, 0, N, order, (gravel_precision)p);
            assert_stored(&some, &b, 690, 20, order, (gravel_precision)p);
            copy_free(&all);
            copy_free(&some);
            gravel_direct_release(d);
            bodies_free(&b);
        }
}

/* What lies below the highest address and was never written pulls nothing: massless, at the origin, id -1. */
static void gaps(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(100, 2);
    gravel_direct *d = direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_DS});
    direct_write(d, &b, 90, 10);
    copy c = copy_of(d, 0, 100);
    for (size_t i = 0; i < 90; i++)
        assert_true(c.m[i] == 0 && c.d[0][0][i] == 0 && c.d[0][1][i] == 0 && c.d[0][2][i] == 0 && c.id[i] == -1);
    copy_free(&c);
    const gv_ref_particles sinks = view_of(&b, 0, 100), sources = view_of(&b, 90, 10);
    const gravel_sinks in = sinks_of(&b, 0, 100, NULL);
    results got = direct_run(d, &in, 0.1, 0), want = reference_run(2, &sinks, &sources, 0.1, NULL, 0);
    assert_forces(&got, &want, 2, GRAVEL_DS, &sinks, &sources, 0.1, "gaps");
    results_free(&got);
    results_free(&want);
    gravel_direct_release(d);
    bodies_free(&b);
}

/* Several transfers' worth at once, then growth: what was written moves along. */
static void growth(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 2 * CHUNK + 1234 };
    bodies b = bodies_new(N, 3);
    for (int prediction = 0; prediction < 2; prediction++) {
        gravel_direct *d =
            direct_new(context, (direct_want){.order = 4, .precision = GRAVEL_DS, .prediction = prediction});
        for (size_t first = 0, n = 100; first < N; first += n, n *= 3) {
            n = n < N - first ? n : N - first;
            direct_write(d, &b, first, n);
        }
        copy c = copy_of(d, 0, N);
        assert_stored(&c, &b, 0, N, 4, GRAVEL_DS);
        copy_free(&c);
        direct_write(d, &b, 0, N); /* all in one call */
        c = copy_of(d, 0, N);
        assert_stored(&c, &b, 0, N, 4, GRAVEL_DS);
        copy_free(&c);
        gravel_direct_release(d);
    }
    bodies_free(&b);
}

/* ------------------------------------------------------------------- scattering */

static void scattered(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 3000, ENTRIES = 2000 };
    uint32_t address[ENTRIES];
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++)
        for (int prediction = 0; prediction < 2; prediction++) {
            if (!has_precision(context, (gravel_precision)p))
                continue;
            bodies b = bodies_new(N, 4), entry = bodies_new(ENTRIES, 5);
            gravel_direct *d = direct_new(
                context, (direct_want){.order = 6, .precision = (gravel_precision)p, .prediction = prediction});
            direct_write(d, &b, 0, N);
            for (uint32_t k = 0; k < ENTRIES; k++) { /* about every address three times, some never */
                address[k] = (k * 7919u) % 700 * 4;
                entry.id[k] = -100 - (int32_t)k;
            }
            scatter(d, &b, &entry, address, ENTRIES);
            for (uint32_t k = 0; k < 50; k++) /* all to one address, beyond what was written */
                address[k] = N + 500;
            bodies larger = bodies_empty(N + 501);
            memcpy(larger.m, b.m, N * sizeof(double));
            memcpy(larger.id, b.id, N * sizeof *b.id);
            for (int c = 0; c < 18; c++)
                memcpy(larger.d[c / 3][c % 3], b.d[c / 3][c % 3], N * sizeof(double));
            for (size_t k = N; k < N + 501; k++)
                larger.id[k] = -1;
            scatter(d, &larger, &entry, address, 50);
            copy c = copy_of(d, 0, N + 501);
            assert_stored(&c, &larger, 0, N + 501, 6, (gravel_precision)p);
            copy_free(&c);
            gravel_direct_release(d);
            bodies_free(&larger);
            bodies_free(&b);
            bodies_free(&entry);
        }
}

/* What was refused first leaves no trace in the units: with those of 1e14 the others would all be at one place. */
static void refused_first(void **state)
{
    CONTEXT_OR_SKIP(context)
    static const uint32_t address[2] = {0, 1};
    static const double mass[2] = {1, 1}, zero[2] = {0, 0}, bad[2] = {1e14, NAN}, good[2] = {0, 1}, at = 0.25;
    for (int scattered = 0; scattered < 2; scattered++) {
        gravel_direct *d = direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_SP});
        gravel_sources s = {.count = 2, .mass = mass, .pos = {bad, zero, zero, 1}};
        const gravel_sinks sink = {.count = 1, .pos = {&at, zero, zero, 1}};
        double pot, acc[3];
        const gravel_forces f = {.pot = &pot, .acc = {&acc[0], &acc[1], &acc[2], 1}};
        assert_int_equal(scattered ? gravel_direct_scatter_sources(d, address, &s)
                                   : gravel_direct_write_sources(d, 0, &s),
                         GRAVEL_ERR_INPUT);
        s.pos.x = good;
        assert_ok(scattered ? gravel_direct_scatter_sources(d, address, &s) : gravel_direct_write_sources(d, 0, &s));
        assert_ok(gravel_direct_submit(d, &sink, 0));
        assert_ok(gravel_direct_collect(d, &f, NULL));
        /* -1/0.25 - 1/0.75 and -1/0.25^2 + 1/0.75^2, some roundings of float */
        assert_true(fabs(pot + 16.0 / 3) < 1e-5 && fabs(acc[0] + 128.0 / 9) < 1e-4);
        gravel_direct_release(d);
    }
}

/* Nor does a write that is refused among sources without a mass: in its unit, 1e60, the masses that follow were 0. */
static void refused_among_massless(void **state)
{
    CONTEXT_OR_SKIP(context)
    static const double zero = 0, large = 1e60, bad = NAN, one = 1, at = 0.25;
    gravel_direct *d = direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_SP});
    gravel_sources s = {.count = 1, .mass = &zero, .pos = {&zero, &zero, &zero, 1}};
    const gravel_sinks sink = {.count = 1, .pos = {&at, &zero, &zero, 1}};
    double pot;
    const gravel_forces f = {.pot = &pot};
    assert_ok(gravel_direct_write_sources(d, 0, &s));
    s.mass = &large;
    s.pos.x = &bad;
    assert_int_equal(gravel_direct_write_sources(d, 0, &s), GRAVEL_ERR_INPUT);
    s.mass = &one;
    s.pos.x = &zero;
    assert_ok(gravel_direct_write_sources(d, 0, &s));
    assert_ok(gravel_direct_submit(d, &sink, 0));
    assert_ok(gravel_direct_collect(d, &f, NULL));
    assert_true(fabs(pot + 4) < 1e-5); /* some roundings of float */
    gravel_direct_release(d);
}

/* More entries than one transfer carries: duplicates within a transfer and across its end. */
static void scattered_across_transfers(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 40000, ENTRIES = 2 * CHUNK + 7 };
    bodies b = bodies_new(N, 6), entry = bodies_new(ENTRIES, 7);
    uint32_t *address = malloc(ENTRIES * sizeof *address);
    assert_non_null(address);
    for (uint32_t k = 0; k < ENTRIES; k++)
        address[k] = (uint32_t)((k * 2654435761u) >> 8) % N;
    gravel_direct *d = direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_SP});
    direct_write(d, &b, 0, N);
    scatter(d, &b, &entry, address, ENTRIES);
    copy c = copy_of(d, 0, N);
    assert_stored(&c, &b, 0, N, 2, GRAVEL_SP);
    copy_free(&c);
    free(address);
    gravel_direct_release(d);
    bodies_free(&b);
    bodies_free(&entry);
}

/* -------------------------------------------------------------- counts and views */

static void source_count(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(300, 8);
    gravel_direct *d = direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_DS});
    const gravel_sinks in = sinks_of(&b, 0, 20, NULL);
    const gv_ref_particles sinks = view_of(&b, 0, 20);
    direct_write(d, &b, 0, 200);
    assert_int_equal(gravel_direct_set_source_count(d, 201), GRAVEL_ERR_ARGUMENT);
    static const size_t count[] = {200, 150, 1, 0, 129};
    for (size_t k = 0; k < 5; k++) {
        const gv_ref_particles sources = view_of(&b, 0, count[k]);
        assert_ok(gravel_direct_set_source_count(d, count[k]));
        results got = direct_run(d, &in, 0.1, 0), want = reference_run(2, &sinks, &sources, 0.1, NULL, 0);
        assert_forces(&got, &want, 2, GRAVEL_DS, &sinks, &sources, 0.1, "count");
        results_free(&got);
        results_free(&want);
    }
    direct_write(d, &b, 200, 100); /* the count stays until it is set again */
    const gv_ref_particles few = view_of(&b, 0, 129);
    results got = direct_run(d, &in, 0.1, 0), want = reference_run(2, &sinks, &few, 0.1, NULL, 0);
    assert_forces(&got, &want, 2, GRAVEL_DS, &sinks, &few, 0.1, "count after writing more");
    results_free(&got);
    results_free(&want);
    gravel_direct_release(d);
    bodies_free(&b);
}

/* Arrays of structures, strides and stride 0 give what separate arrays give, on the way in and out. */
static void strided_views(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 150 };
    bodies b = bodies_new(N, 9);
    double record[N][11], out[N][13], x[N][3], v[N][3], a[N][3];
    gravel_direct *plain = direct_new(context, (direct_want){.order = 6, .precision = GRAVEL_DS});
    gravel_direct *strided = direct_new(context, (direct_want){.order = 6, .precision = GRAVEL_DS});
    for (size_t i = 0; i < N; i++)
        for (int c = 0; c < 9; c++)
            record[i][c + 1] = b.d[c / 3][c % 3][i];
    gravel_sources s = sources_of(&b, 0, N);
    s.pos = (gravel_vec){&record[0][1], &record[0][2], &record[0][3], 11};
    s.vel = (gravel_vec){&record[0][4], &record[0][5], &record[0][6], 11};
    s.acc = (gravel_vec){&record[0][7], &record[0][8], &record[0][9], 11};
    gravel_sinks in = sinks_of(&b, 0, N, NULL), in_strided = in;
    in_strided.pos = s.pos;
    in_strided.vel = s.vel;
    in_strided.acc = s.acc;
    in.pos.stride = in.vel.stride = in.acc.stride = 0;
    direct_write(plain, &b, 0, N);
    assert_ok(gravel_direct_write_sources(strided, 0, &s));
    results want = direct_run(plain, &in, 0.1, 0);
    for (size_t i = 0; i < N; i++)
        for (int c = 0; c < 13; c++)
            out[i][c] = 77;
    gravel_forces f;
    memset(&f, 0, sizeof f);
    f.acc = (gravel_vec_out){&out[0][0], &out[0][1], &out[0][2], 13};
    f.jerk = (gravel_vec_out){&out[0][4], &out[0][5], &out[0][6], 13};
    f.snap = (gravel_vec_out){&out[0][8], NULL, &out[0][10], 13};
    assert_ok(gravel_direct_submit(strided, &in_strided, 0.1));
    assert_ok(gravel_direct_collect(strided, &f, NULL));
    for (size_t i = 0; i < N; i++) {
        const double expected[13] = {want.v[R_AX][i],
                                     want.v[R_AY][i],
                                     want.v[R_AZ][i],
                                     77,
                                     want.v[R_JX][i],
                                     want.v[R_JY][i],
                                     want.v[R_JZ][i],
                                     77,
                                     want.v[R_SX][i],
                                     77,
                                     want.v[R_SZ][i],
                                     77,
                                     77};
        assert_memory_equal(out[i], expected, sizeof expected);
    }
    assert_ok(gravel_direct_read_sources(strided, 0, N, NULL, NULL, GRAVEL_VEC_OUT_AOS(x), GRAVEL_VEC_OUT_AOS(v),
                                         GRAVEL_VEC_OUT_AOS(a)));
    copy c = copy_of(plain, 0, N);
    for (size_t i = 0; i < N; i++)
        for (int k = 0; k < 3; k++)
            assert_true(x[i][k] == c.d[0][k][i] && v[i][k] == c.d[1][k][i] && a[i][k] == c.d[2][k][i]);
    copy_free(&c);
    results_free(&want);
    gravel_direct_release(plain);
    gravel_direct_release(strided);
    bodies_free(&b);
}

/* Members that are NULL count as zero; positions that are rewritten without velocities lose them. */
static void missing_members(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(30, 10), zero = bodies_new(30, 10);
    gravel_direct *d = direct_new(context, (direct_want){.order = 6, .precision = GRAVEL_DS});
    gravel_sources s = sources_of(&b, 0, 30);
    gravel_sinks in = sinks_of(&b, 0, 30, NULL);
    const gravel_vec none = {NULL, NULL, NULL, 0};
    direct_write(d, &b, 0, 30);
    s.vel = none;
    s.acc.y = NULL;
    in.acc = none;
    in.vel.x = NULL;
    assert_ok(gravel_direct_write_sources(d, 0, &s));
    bodies sinks = bodies_new(30, 10);
    memset(zero.d[1][0], 0, 30 * sizeof(double));
    memset(zero.d[1][1], 0, 30 * sizeof(double));
    memset(zero.d[1][2], 0, 30 * sizeof(double));
    memset(zero.d[2][1], 0, 30 * sizeof(double));
    memset(sinks.d[1][0], 0, 30 * sizeof(double));
    for (int c = 0; c < 3; c++)
        memset(sinks.d[2][c], 0, 30 * sizeof(double));
    const gv_ref_particles i = view_of(&sinks, 0, 30), j = view_of(&zero, 0, 30);
    results got = direct_run(d, &in, 0.2, 0), want = reference_run(6, &i, &j, 0.2, NULL, 0);
    assert_forces(&got, &want, 6, GRAVEL_DS, &i, &j, 0.2, "missing members");
    results_free(&got);
    results_free(&want);
    gravel_direct_release(d);
    bodies_free(&sinks);
    bodies_free(&zero);
    bodies_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_in_any_order),
        cmocka_unit_test(gaps),
        cmocka_unit_test(growth),
        cmocka_unit_test(scattered),
        cmocka_unit_test(scattered_across_transfers),
        cmocka_unit_test(refused_first),
        cmocka_unit_test(refused_among_massless),
        cmocka_unit_test(source_count),
        cmocka_unit_test(strided_views),
        cmocka_unit_test(missing_members),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
