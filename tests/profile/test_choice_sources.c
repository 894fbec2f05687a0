/* Questions whose sources are not those of the call, on fake timings: no device, no file. */
#include "choice_questions.h"

/* Of two questions in one level of sources the nearer one counts. */
static void test_the_nearer_sources_of_a_level(void **state)
{
    gv_profile_entry question[2];
    const gv_profile_entry *entry[2] = {&question[0], &question[1]};

    (void)state;
    make_question(&question[0], 128, 262144);
    add_result(&question[0], "a", 1, 0.001);
    make_question(&question[1], 128, 1048576);
    add_result(&question[1], "b", 4, 0.001);
    for (int turn = 0; turn < 2; turn++) {
        assert_string_equal(best_in(NULL, entry, 2, 128, 300000).configuration, "a");
        assert_string_equal(best_in(NULL, entry, 2, 128, 900000).configuration, "b");
        entry[0] = &question[1]; /* the order of a file does not matter */
        entry[1] = &question[0];
    }
}

/* Questions of these sinks and sources. */
static void make_three(const size_t size[3][2], gv_profile_entry question[3], const gv_profile_entry *entry[3])
{
    for (int k = 0; k < 3; k++) {
        make_question(&question[k], size[k][0], size[k][1]);
        entry[k] = &question[k];
    }
}

/* 24 sinks x 30000 sources: 8 x 32768 stands beside them, not 16 x 131072, which is in the same bucket of sources. */
static void test_the_nearest_in_sinks_and_sources(void **state)
{
    static const size_t size[3][2] = {{8, 32768}, {16, 131072}, {32, 32768}};
    gv_profile_entry question[3];
    const gv_profile_entry *entry[3];
    gv_choice_corner corner[GV_CHOICE_CORNERS];

    (void)state;
    make_three(size, question, entry);
    assert_int_equal(gv_choice_corners(entry, 3, 24, 30000, NULL, corner), 2);
    assert_ptr_equal(corner[0].entry, entry[0]);
    assert_ptr_equal(corner[1].entry, entry[2]);
    /* but not where the sources are those of the other */
    assert_int_equal(gv_choice_corners(entry, 3, 24, 131072, NULL, corner), 2);
    assert_ptr_equal(corner[0].entry, entry[1]);
}

/* 3 sinks x 1000000 sources took what had won at 64 x 524288, 2.35 of the best time: fewer sinks with these sources
 * nobody had asked. */
static void test_few_sinks_are_not_judged_by_many(void **state)
{
    static const size_t size[3][2] = {{2, 131072}, {128, 131072}, {64, 524288}};
    gv_profile_entry question[3];
    const gv_profile_entry *entry[3];
    gv_choice_corner corner[GV_CHOICE_CORNERS];

    (void)state;
    make_three(size, question, entry);
    assert_int_equal(gv_choice_corners(entry, 3, 3, 1000000, NULL, corner), 2);
    assert_ptr_equal(corner[0].entry, entry[0]);
    assert_ptr_equal(corner[1].entry, entry[1]);
    /* an octave is near enough, and where nothing else was asked it has to be */
    assert_int_equal(gv_choice_corners(entry, 3, 32, 1000000, NULL, corner), 1);
    assert_ptr_equal(corner[0].entry, entry[2]);
    assert_int_equal(gv_choice_corners(entry + 2, 1, 3, 1000000, NULL, corner), 1);
}

/* 3 sinks x 30000 sources took what had won at 1 x 131072, 1.26 of the time of the default. */
static void test_what_is_known_far_away_is_no_choice_against_the_default(void **state)
{
    static const struct {
        size_t sources;
        int keeps;
    } c[] = {{131072, 0}, {65536, 0}, {32768, 0}, {32767, 1}, {16384, 1}, {600000, 0}, {4000000, 0}};
    gv_profile_entry question[2];
    const gv_profile_entry *entry[2] = {&question[0], &question[1]};
    const gv_choice_candidate best = {.configuration = "a", .measured = 1};
    const gv_choice_candidate built_in = {.configuration = "default", .measured = 1, .score = 1};
    gv_choice_corner corner[GV_CHOICE_CORNERS];

    (void)state;
    for (int q = 0; q < 2; q++) {
        make_question(&question[q], q == 0 ? 1 : 64, 131072);
        add_result(&question[q], "a", 1, 0.001);
        add_result(&question[q], "default", 2, 0.001);
    }
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        const gv_choice_among among = {.sources = c[k].sources};
        const int n = gv_choice_corners(entry, 2, 8, c[k].sources, NULL, corner);

        assert_int_equal(n, 2);
        assert_int_equal(stays_default(corner, n, &among, &best, &built_in, 0), c[k].keeps);
        /* one question alone is not at the call's own sizes for that */
        assert_int_equal(gv_choice_corners(entry, 1, 1, c[k].sources, NULL, corner), 1);
        const gv_choice_among alone = {.sinks = 1, .sources = c[k].sources};
        assert_int_equal(stays_default(corner, 1, &alone, &best, &built_in, 0), c[k].keeps);
    }
}

/* Beyond all questions one of them answers alone; there, too, something has to lead the default by more than noise.  At
 * its own sizes its winner is what finals found. */
static void test_one_question_beyond_all(void **state)
{
    static const struct {
        size_t sources;
        double score;
        int keeps;
    } c[] = {{131072, 0.01, 0}, {131072, 0.03, 0}, {262144, 0.01, 1}, {262144, 0.03, 0}, {65536, 0.01, 1}};
    gv_profile_entry question;
    const gv_profile_entry *entry = &question;
    const gv_choice_candidate best = {.configuration = "a", .measured = 1};
    gv_choice_corner corner[GV_CHOICE_CORNERS];

    (void)state;
    make_question(&question, 64, 131072);
    add_result(&question, "a", 1, 0.001);
    add_result(&question, "default", 1.02, 0.001);
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        const gv_choice_among among = {.sinks = 64, .sources = c[k].sources};
        const gv_choice_candidate built_in = {.configuration = "default", .measured = 1, .score = c[k].score};

        assert_int_equal(gv_choice_corners(&entry, 1, 64, c[k].sources, NULL, corner), 1);
        assert_int_equal(stays_default(corner, 1, &among, &best, &built_in, 0), c[k].keeps);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_nearer_sources_of_a_level),
        cmocka_unit_test(test_the_nearest_in_sinks_and_sources),
        cmocka_unit_test(test_few_sinks_are_not_judged_by_many),
        cmocka_unit_test(test_what_is_known_far_away_is_no_choice_against_the_default),
        cmocka_unit_test(test_one_question_beyond_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
