/* Kept times that are wrong: a machine that had other work when they were measured. */
#include "several_test.h"

#include <cjson/cJSON.h>

#include "host/base/files.h"
#include "host/several/object.h"

/* ------------------------------------------------------------------------- the rule */

enum { ANSWERS = 4, CALLS = 8000 };

/* Seconds of a round by the host and by 1, 2, 4 devices. */
static double truth(int answer, double sinks, double sources)
{
    const double devices = ldexp(1, answer - 1);
    return answer == 0
               ? 1e-6 + 4e-10 * sinks * sources
               : 1e-9 * (12e3 + 25e3 * devices + sinks * (18 + 5 * devices)) + sinks * sources / (2e10 * devices);
}

typedef struct outcome {
    double first, last; /* regret of the first call, and of the last */
    double share;       /* of the time that went into checks, without the one that was under way */
} outcome;

/* Calls of one size, by a model whose times are up to `starved` times the true ones, each by its own factor. */
static outcome many_calls(double sinks, double sources, double starved, uint64_t *noise)
{
    gv_recheck recheck = {.cells = 0};
    gv_cell *const cell = gv_recheck_cell(&recheck, 4, (size_t)sinks, (size_t)sources, 1);
    double kept[ANSWERS], best = INFINITY, spent = 0, before = 0, all = 0;
    outcome o = {0, 0, 0};
    for (int a = 0; a < ANSWERS; a++) {
        kept[a] = truth(a, sinks, sources) * (1 + (starved - 1) * gv_random_number(noise));
        best = fmin(best, truth(a, sinks, sources));
    }
    for (int call = 0; call < CALLS; call++) {
        double seconds[GV_MOST_ANSWERS];
        int chosen = 0;
        for (int a = 0; a < GV_MOST_ANSWERS; a++)
            seconds[a] = a < ANSWERS ? kept[a] * cell->factor[a] : INFINITY;
        for (int a = 0; a < ANSWERS; a++)
            chosen = seconds[a] < seconds[chosen] ? a : chosen;
        const double own = truth(chosen, sinks, sources);
        const int due = gv_cell_due(cell, seconds, chosen);
        if (due >= 0) {
            const double other = truth(due, sinks, sources);
            before = spent;
            spent += GV_RECHECK_ROUNDS * (own + other);
            cell->spent = spent;
            gv_cell_took(cell, seconds, chosen, due, own, other);
        }
        cell->busy += own;
        all += own;
        o.last = own / best;
        o.first = call == 0 ? o.last : o.first;
    }
    o.share = before / all;
    return o;
}

/* Whatever was kept, after some thousand calls of a size who answers takes at most a quarter longer than the best, and
 * not more than a fiftieth of the time went there. */
static void starved_times(void **state)
{
    uint64_t noise = 5;
    double worst = 1;
    (void)state;
    for (double sources = 64; sources < 2e6; sources *= 8)
        for (double sinks = 1; sinks <= sources; sinks *= 4)
            for (int k = 0; k < 20; k++) {
                const outcome o = many_calls(sinks, sources, 1 + k % 10, &noise);
                worst = fmax(worst, o.first);
                if (o.last > GV_RECHECK_MARGIN * 1.0001)
                    fail_msg("%g sinks, %g sources: %.2f times as long as the best", sinks, sources, o.last);
                assert_true(o.share <= GV_RECHECK_SHARE);
            }
    assert_true(worst > 3); /* as was seen */
}

/* Two wins in a row count, and tries become rarer. */
static void tries(void **state)
{
    const double seconds[GV_MOST_ANSWERS] = {1, 2, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
    gv_recheck recheck = {.cells = 0};
    gv_cell *const c = gv_recheck_cell(&recheck, 4, 20, 100, 1);
    (void)state;
    assert_ptr_equal(gv_recheck_cell(&recheck, 4, 31, 64, 1), c);
    assert_null(gv_recheck_cell(&recheck, 2, 31, 64, 0));
    assert_int_equal(gv_cell_due(c, seconds, 0), -1);
    c->busy = 599;
    assert_int_equal(gv_cell_due(c, seconds, 0), -1);
    c->busy = 601; /* four rounds of 1 and 2 s are a fiftieth */
    assert_int_equal(gv_cell_due(c, seconds, 0), 1);
    assert_int_equal(gv_cell_took(c, seconds, 0, 1, 1, 0.5), 0);
    assert_int_equal(gv_cell_took(c, seconds, 0, 1, 1, 0.81), 0); /* not clearly faster: from the beginning */
    assert_int_equal(gv_cell_due(c, seconds, 0), -1);
    c->busy = 1803; /* twice as long */
    assert_int_equal(gv_cell_due(c, seconds, 0), 1);
    c->spent = 25; /* and 12 are more than a fiftieth */
    assert_int_equal(gv_cell_due(c, seconds, 0), -1);
    assert_int_equal(gv_cell_took(c, seconds, 0, 1, 1, 0.5), 0);
    assert_true(c->factor[1] == 1);
    assert_int_equal(gv_cell_took(c, seconds, 0, 1, 1, 0.5), 1);
    assert_true(c->factor[0] == 1 &&
                c->factor[1] == 0.25); /* half of the 1 s that the chosen one is expected to take */
    for (int k = recheck.cells; k < GV_MOST_CELLS; k++)
        assert_non_null(gv_recheck_cell(&recheck, 4, (size_t)1 << (k % 10), (size_t)1 << (10 + k / 10), 1));
    assert_null(gv_recheck_cell(&recheck, 6, 1, 1, 1));
    c->tries[1] = GV_RECHECK_NEVER;
    c->busy = 1e9;
    assert_int_equal(gv_cell_due(c, seconds, 0), -1);
}

/* ------------------------------------------------------------------------- calls */

enum { SOURCES = 64, MOST_CALLS = 60000 };

static gravel_several *open_in(const char *folder, gravel_host_answers host, int correct)
{
    gravel_several_options o = GRAVEL_SEVERAL_OPTIONS_INIT;
    gravel_context_options context = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_several *s;
    context.cache_dir = folder;
    o.context = &context;
    o.host = host;
    o.correct_times = correct;
    assert_ok(gravel_several_create(&s, &o));
    return s;
}

static gravel_several_plan plan_of(gravel_several *s)
{
    gravel_several_call c = GRAVEL_SEVERAL_CALL_INIT;
    gravel_several_plan plan;
    c.order = 2;
    assert_ok(gravel_several_get_plan(s, &c, 1, SOURCES, &plan));
    return plan;
}

/* In the one kept file all times of the host are so many times as long. */
static void slow_host(const char *folder, double factor)
{
    char *name = NULL, *text;
    assert_int_equal(count_files(folder, "several-", &name), 1);
    assert_ok(gv_file_read_own(name, 1 << 20, &text, NULL));
    cJSON *json = cJSON_Parse(text), *one;
    cJSON *host = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "order_2"), "host");
    cJSON_ArrayForEach(one, cJSON_GetObjectItem(host, "seconds")) cJSON_SetNumberValue(one, factor * one->valuedouble);
    free(text);
    text = cJSON_Print(json);
    assert_ok(gv_file_write_own(name, text, strlen(text)));
    cJSON_free(text);
    cJSON_Delete(json);
    free(name);
}

/* Calls until the host answers; how many.  Each has the bits of the first one, whoever else answered beside. */
static int calls_until_host(const char *folder, int correct, int most)
{
    bodies b = bodies_new(SOURCES, 31);
    const gravel_sources all = sources_of(&b, 0, SOURCES);
    const gravel_sinks sinks = sinks_of(&b, 3, 1, NULL);
    const gravel_several_call c = call_of(&sinks, 2, 0.05, 0, 0);
    double first[4], now[4];
    const gravel_forces f = {.acc = GRAVEL_VEC_OUT_SOA(now, now + 1, now + 2), .pot = now + 3};
    gravel_several *s = open_in(folder, GRAVEL_HOST_WHERE_FASTER, correct);
    int calls = 0;
    assert_ok(gravel_several_write_sources(s, 0, &all));
    assert_false(plan_of(s).host);
    for (; calls < most; calls++) {
        assert_ok(gravel_several_submit(s, &c));
        if (s->asked.by_host)
            break;
        assert_ok(gravel_several_collect(s, &f, NULL));
        if (calls == 0)
            memcpy(first, now, sizeof first);
        assert_memory_equal(now, first, sizeof first);
    }
    gravel_several_release(s);
    bodies_free(&b);
    return calls;
}

/* One sink and 64 sources: the host takes a microsecond or less, and any device its launches, ten times as long.  Where
 * the file says that the host takes four times as long as the device, calls find out that it does not, and the file
 * says so to the next process; without `correct_times` nothing changes. */
static void wrong_file(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    int needed = 0;
    for (int correct = 1; correct >= 0; correct--) {
        char *folder = make_folder();
        gravel_several *s = open_in(folder, GRAVEL_HOST_NEVER, correct);
        const double device = plan_of(s).predicted_s;
        gravel_several_release(s);
        s = open_in(folder, GRAVEL_HOST_WHERE_FASTER, correct);
        assert_true(plan_of(s).host);
        const double host = plan_of(s).predicted_s;
        gravel_several_release(s);
        slow_host(folder, 4 * device / host);
        const int most = correct ? MOST_CALLS : needed + 100, calls = calls_until_host(folder, correct, most);
        assert_true(correct ? calls < most : calls == most);
        needed = calls;
        s = open_in(folder, GRAVEL_HOST_WHERE_FASTER, correct);
        assert_int_equal(plan_of(s).host, correct);
        gravel_several_release(s);
        remove_folder(folder);
        free(folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tries), cmocka_unit_test(starved_times),
                                       cmocka_unit_test(wrong_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
