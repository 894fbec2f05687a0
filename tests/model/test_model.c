/* src/model: formulas against cases that can be counted by hand, machines as JSON, numbers found again from points. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"

static gv_question question(double n, int ranks, gv_model_scheme scheme)
{
    return (gv_question){.n = n, .ranks = ranks, .order = 4, .scheme = scheme, .theta = 0.5};
}

static gv_prediction predict(const gv_machine *m, double n, double active, int ranks, gv_model_scheme scheme)
{
    gv_prediction p;
    gv_question q = question(n, ranks, scheme);
    q.active = active;
    gv_model_predict(m, &q, &p);
    return p;
}

static void curves_go_through_their_points(void **state)
{
    const gv_curve c = {3, {1, 4, 16}, {1, 2, 32}};
    (void)state;
    assert_true(gv_curve_at(&c, 0.5) == 1 && gv_curve_at(&c, 100) == 32);
    assert_true(fabs(gv_curve_at(&c, 4) - 2) < 1e-12);
    assert_true(fabs(gv_curve_at(&c, 8) - 8) < 1e-12); /* half way in the logarithm */
}

/* No latencies, no bytes: P ranks take a P-th of the pairs' time. */
static gv_machine ideal(void)
{
    gv_machine m;
    gv_machine_example(&m);
    m.call_s = m.source_s = m.step_s = m.body_s = m.tree_step_s = 0;
    m.transfer = m.node = m.network = (gv_wire){0, 1e30};
    m.tree_rate = 1e30;
    m.efficiency = (gv_curve){1, {1}, {1}};
    return m;
}

static void ideal_machines_are_as_fast_as_their_ranks(void **state)
{
    const gv_machine m = ideal();
    const double n = 1 << 20, one = n * n / m.pairs_per_s[0][0];
    (void)state;
    for (int s = GV_MODEL_BEST; s <= GV_MODEL_RING; s++) /* also PROGRAM: all fit, and no scheme is faster */
        for (int ranks = 1; ranks <= 1024; ranks *= 4) {
            const gv_prediction p = predict(&m, n, 0, ranks, (gv_model_scheme)s);
            const double share = s == GV_MODEL_ALONE ? 1 : ranks;
            assert_true(fabs(p.total * share / one - 1) < 1e-9);
            assert_true(fabs(p.efficiency * ranks / share - 1) < 1e-9);
            assert_true(fabs(p.host + p.transfer + p.network + p.device - p.total) < 1e-12 * p.total);
        }
}

static void few_active_bodies_are_not_shared(void **state)
{
    gv_machine m;
    (void)state;
    gv_machine_example(&m);
    assert_int_equal(predict(&m, 131072, 16, 4, GV_MODEL_BEST).scheme, GV_MODEL_ALONE);
    assert_int_equal(predict(&m, 131072, 16, 4, GV_MODEL_PROGRAM).scheme, GV_MODEL_ALONE);
    assert_int_equal(predict(&m, 131072, 131072, 4, GV_MODEL_PROGRAM).scheme, GV_MODEL_COPIES);
    m.memory_bytes = 1e6; /* all bodies do not fit, a sixteenth does */
    assert_int_equal(predict(&m, 16384, 16384, 16, GV_MODEL_BEST).scheme, GV_MODEL_RING);
    assert_int_equal(predict(&m, 16384, 16384, 16, GV_MODEL_PROGRAM).scheme, GV_MODEL_RING);
    assert_int_equal(predict(&m, 16384, 16, 16, GV_MODEL_PROGRAM).scheme, GV_MODEL_RING);
    assert_int_equal(predict(&m, 8, 8, 16, GV_MODEL_PROGRAM).scheme, GV_MODEL_ALONE); /* no body for some */
}

static void messages_grow_as_they_should(void **state)
{
    gv_machine m = ideal();
    (void)state;
    m.node_ranks = 4;
    m.node = (gv_wire){1e-6, 1e9};
    m.network = (gv_wire){1e-5, 1e10};
    assert_true(gv_model_gather(&m, 1, 1e9) == 0);
    assert_true(gv_model_gather(&m, 4, 1e9) == 0); /* the ranks of one machine share memory */
    assert_true(gv_model_pass(&m, 4, 1e9) == 0);
    /* two machines: they agree in two rounds and one between them; a half of the bytes through four cards */
    assert_true(fabs(gv_model_gather(&m, 8, 1e9) - (2e-6 + 1e-5 + 0.5 / 40)) < 1e-9);
    assert_true(fabs(gv_model_pass(&m, 8, 1e9) - 0.10001) < 1e-9);
    m.tree_rate = 2e9;
    assert_true(fabs(gv_model_all_to_all(&m, 2, 1e9) - 0.500001) < 1e-9);
}

static void more_ranks_than_help_are_found(void **state)
{
    gv_machine m;
    (void)state;
    gv_machine_example(&m);
    gv_question q = question(131072, 1, GV_MODEL_COPIES);
    const int limit = gv_model_limit(&m, &q, 65536);
    assert_true(limit > 1 && limit < 65536);
    const double best = predict(&m, 131072, 0, limit, GV_MODEL_COPIES).total;
    assert_true(predict(&m, 131072, 0, 2 * limit, GV_MODEL_COPIES).total >= best);
    assert_true(predict(&m, 131072, 0, limit / 2, GV_MODEL_COPIES).total >= best);
    m = ideal();
    assert_int_equal(gv_model_limit(&m, &q, 1024), 1024);
}

/* Two ranks are slower than one (messages), many are faster: no table of predictions may have a faster row. */
static void limit_is_the_fastest_number_of_ranks(void **state)
{
    static const struct {
        double n;
        gv_model_scheme scheme;
    } at[] = {{10000, GV_MODEL_BEST}, {10000, GV_MODEL_COPIES}, {1e6, GV_MODEL_TREE}, {1000, GV_MODEL_BEST}};
    gv_machine m;
    (void)state;
    gv_machine_example(&m);
    for (size_t k = 0; k < sizeof at / sizeof at[0]; k++) {
        gv_question q = question(at[k].n, 1, at[k].scheme);
        const int limit = gv_model_limit(&m, &q, 65536);
        const double best = predict(&m, at[k].n, 0, limit, at[k].scheme).total;
        for (int ranks = 1; ranks <= 65536; ranks *= 2) {
            const double other = predict(&m, at[k].n, 0, ranks, at[k].scheme).total;
            assert_true(ranks < limit ? other > best : other >= best);
        }
    }
}

static void trees_hide_messages_behind_the_walk(void **state)
{
    gv_machine m;
    (void)state;
    gv_machine_example(&m);
    m.surface = 3;
    m.boundary[0] = m.boundary[1] = 0;
    const gv_prediction fast = predict(&m, 1e9, 0, 64, GV_MODEL_TREE);
    assert_true(fast.device > 0.9 * fast.total && fast.memory_bytes < 1e9 / 64 * 200);
    m.network.bytes_per_s = 1e8;
    const gv_prediction slow = predict(&m, 1e9, 0, 64, GV_MODEL_TREE);
    assert_true(slow.network > 10 * fast.network && slow.device == fast.device);
    assert_true(predict(&m, 1e9, 0, 64, GV_MODEL_TREE).walk < predict(&m, 1e9, 0, 32, GV_MODEL_TREE).walk);
}

static void machines_survive_their_json(void **state)
{
    gv_machine m, back;
    (void)state;
    gv_machine_example(&m);
    m.call_s = 1.5e-3;
    m.walk.y[2] = 0.125;
    m.node_ranks = 3;
    cJSON *json = gv_machine_json(&m);
    char *text = cJSON_Print(json);
    assert_int_equal(gv_machine_parse(&back, text, "m.json"), GRAVEL_OK);
    assert_true(back.call_s == m.call_s && back.node_ranks == 3 && back.walk.y[2] == 0.125);
    assert_true(predict(&back, 1e6, 0, 8, GV_MODEL_BEST).total == predict(&m, 1e6, 0, 8, GV_MODEL_BEST).total);
    cJSON_free(text);
    cJSON_Delete(json);
}

static void bad_machines_are_refused(void **state)
{
    static const char *const bad[][2] = {{"[]", "no JSON"},
                                         {"{", "no JSON"},
                                         {"{\"device\": 3}", "device"},
                                         {"{\"direct\": {\"cal_s\": 1}}", "cal_s"},
                                         {"{\"direct\": {\"call_s\": -1}}", "call_s"},
                                         {"{\"direct\": {\"call_s\": \"1\"}}", "call_s"},
                                         {"{\"direct\": {\"source_s\": 1e308}}", "below 1e30"},
                                         {"{\"network\": {\"bytes_per_s\": 0}}", "bytes_per_s"},
                                         {"{\"node\": {\"ranks\": 0}}", "ranks"},
                                         {"{\"tree\": {\"walk\": [[2, 1], [1, 1]]}}", "walk"},
                                         {"{\"tree\": {\"walk\": 5}}", "walk"}};
    gv_machine m;
    (void)state;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        assert_int_equal(gv_machine_parse(&m, bad[k][0], "m.json"), GRAVEL_ERR_FORMAT);
        assert_non_null(strstr(gravel_error_message(), bad[k][1]));
    }
}

/* Results as gravel bench hermite writes them, of a machine whose numbers are known. */
static char *made_up_results(const gv_machine *m)
{
    static const double size[] = {1024, 16384, 131072}, active[] = {1, 64, 1024, 16384, 131072};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    fprintf(out, "{\"benchmark\":\"hermite\",\"ranks\":1,\"order\":4,\"precision\":\"ds\",\"compute_units\":132,"
                 "\"results\":[{}");
    for (int k = 0; k < 3; k++)
        for (int a = -1; a < 5; a++) {
            const double n = size[k], sinks = a < 0 ? n : active[a];
            gv_prediction p;
            gv_question q = question(n, 1, GV_MODEL_ALONE);
            q.active = sinks;
            q.forces_only = a >= 0;
            gv_model_predict(m, &q, &p);
            if (sinks <= n)
                fprintf(out, ",{\"mode\":\"%s\",\"n\":%.0f,\"active\":%.0f,\"shared\":false,\"step_s_median\":%.17g}",
                        a < 0 ? "step" : "forces", n, sinks, p.total);
        }
    fprintf(out, "]}");
    fclose(out);
    return text;
}

/* The efficiency of calls whose pairs take no time to speak of cannot be found, and does not matter: 5 %. */
static void numbers_are_found_again(void **state)
{
    gv_machine m, fitted;
    gv_points points = {0};
    (void)state;
    gv_machine_example(&m);
    m.call_s = 7e-5;
    m.step_s = 1e-4;
    m.efficiency = (gv_curve){4, {1, 1024, 16384, 131072}, {0.2, 0.5, 0.8, 1}};
    m.pairs_per_s[0][0] = 3e11;
    char *text = made_up_results(&m);
    assert_int_equal(gv_points_read(&points, text, "made up"), GRAVEL_OK);
    assert_int_equal(points.n, 15);
    gv_machine_example(&fitted);
    gv_machine_fit(&fitted, &points);
    for (size_t k = 0; k < points.n; k++) {
        gv_prediction p;
        gv_model_predict(&fitted, &points.point[k].question, &p);
        assert_true(fabs(p.total / points.point[k].seconds - 1) < 0.05);
    }
    assert_int_equal(gv_points_read(&points, "{\"benchmark\": \"other\"}", "x"), GRAVEL_ERR_FORMAT);
    assert_int_equal(gv_points_read(&points, "not JSON", "x"), GRAVEL_ERR_FORMAT);
    gv_points_free(&points);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_go_through_their_points),   cmocka_unit_test(ideal_machines_are_as_fast_as_their_ranks),
        cmocka_unit_test(few_active_bodies_are_not_shared), cmocka_unit_test(messages_grow_as_they_should),
        cmocka_unit_test(more_ranks_than_help_are_found),   cmocka_unit_test(trees_hide_messages_behind_the_walk),
        cmocka_unit_test(machines_survive_their_json),      cmocka_unit_test(bad_machines_are_refused),
        cmocka_unit_test(numbers_are_found_again),          cmocka_unit_test(limit_is_the_fastest_number_of_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
