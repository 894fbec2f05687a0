/* What the drop-in libraries share: src/compat/common, as it is inside libgravel_g6. */
#include "g6_test.h"

extern char **environ; /* as POSIX has it */

static char *folder;

/* Each case in an empty working folder, without settings from outside. */
static int in_a_folder(void **state)
{
    static const char ours[] = "GRAVEL_COMPAT_";
    (void)state;
    for (char **at = environ; *at;) {
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*at, "="), *at);
        if (strncmp(name, ours, sizeof ours - 1) == 0 && unsetenv(name) == 0)
            at = environ; /* which has moved */
        else
            at++;
    }
    folder = make_folder();
    return chdir(folder);
}

static int out_of_it(void **state)
{
    (void)state;
    if (chdir("/") != 0)
        return -1;
    remove_folder(folder);
    free(folder);
    gv_compat_set_level(GV_COMPAT_WARNING);
    return 0;
}

static gv_compat_settings read_them(captured *log)
{
    gv_compat_settings s = GV_COMPAT_SETTINGS_INIT;
    capture_begin(log);
    gv_compat_read_settings(&s);
    capture_end(log);
    return s;
}

static void nothing_is_set(void **state)
{
    (void)state;
    captured log;
    const gv_compat_settings s = read_them(&log);
    assert_string_equal(log.text, "");
    assert_string_equal(s.devices, "");
    assert_int_equal(s.precision, GRAVEL_DS);
    assert_int_equal(s.pipes, 16384);
}

static void file_and_environment(void **state)
{
    (void)state;
    captured log;
    write_text(
        folder, "gravel.config",
        "# for this run\n\ndevices = 0, 0:1   # twice\n PIPES=128\nprecision = DP\nhost\t=\tnever \r\n"
        "potential = positive\ndeal = even\nall_devices = yes\nself = no\nk18 = no\nneighbours = 1024\nlog = info\n"
        "correct_times = yes\nm_flag = no\nnearest = softened");
    gv_compat_settings s = read_them(&log);
    assert_string_equal(log.text, "");
    assert_string_equal(s.devices, "0, 0:1");
    assert_int_equal(s.pipes, 128);
    assert_int_equal(s.precision, GRAVEL_DP);
    assert_int_equal(s.host, GRAVEL_HOST_NEVER);
    assert_int_equal(s.positive, GV_COMPAT_YES);
    assert_int_equal(s.deal, GRAVEL_DEAL_EVEN);
    assert_int_equal(s.all_devices, GV_COMPAT_YES);
    assert_int_equal(s.self, GV_COMPAT_NO);
    assert_int_equal(s.k18, GV_COMPAT_NO);
    assert_int_equal(s.neighbours, 1024);
    assert_int_equal(s.level, GV_COMPAT_INFO);
    assert_int_equal(s.correct_times, GV_COMPAT_YES);
    assert_int_equal(s.m_flag, GV_COMPAT_NO);
    assert_int_equal(s.softened, GV_COMPAT_YES);
    setenv("GRAVEL_COMPAT_PIPES", "48", 1); /* comes before the file */
    setenv("GRAVEL_COMPAT_POTENTIAL", "interface", 1);
    setenv("GRAVEL_COMPAT_PRECISION", "", 1); /* counts as not set */
    s = read_them(&log);
    assert_int_equal(s.pipes, 48);
    assert_int_equal(s.positive, GV_COMPAT_INTERFACE);
    assert_int_equal(s.precision, GRAVEL_DP);
    char *other = gv_path_join(folder, "other");
    write_text(folder, "other", "pipes = 256\n");
    setenv("GRAVEL_COMPAT_CONFIG", other, 1);
    unsetenv("GRAVEL_COMPAT_PIPES");
    s = read_them(&log);
    assert_int_equal(s.pipes, 256);
    assert_int_equal(s.precision, GRAVEL_DS); /* the file in the folder is not read then */
    free(other);
}

/* File and line, what is wrong, what would be right; everything else counts. */
static void bad_lines(void **state)
{
    (void)state;
    captured log;
    write_text(
        folder, "gravel.config",
        "pipes = many\npipes 48\nprecision = quad\npips = 48\npipes = 0\npipes = 99999999999\n= 3\nneighbours = 7");
    setenv("GRAVEL_COMPAT_HOST", "perhaps", 1);
    const gv_compat_settings s = read_them(&log);
    assert_int_equal(log.lines, 8);
    assert_contains(log.text, "gravel_g6: error: gravel.config:1: pipes: 'many' is not a whole number from 1 to");
    assert_contains(log.text, "gravel.config:2: 'pipes 48' is not NAME = VALUE");
    assert_contains(log.text, "gravel.config:3: precision: 'quad' is none of sp, ds, dp");
    assert_contains(log.text, "gravel.config:4: there is no setting 'pips'");
    assert_contains(log.text, "GRAVEL_COMPAT_HOST: host: 'perhaps' is none of faster, never, always");
    assert_int_equal(s.pipes, 16384);
    assert_int_equal(s.neighbours, 7);
    unsetenv("GRAVEL_COMPAT_HOST");
    unlink("gravel.config");
    setenv("GRAVEL_COMPAT_PIPE", "48", 1);
    setenv("GRAVEL_COMPATIBLE", "3", 1); /* is not ours */
    read_them(&log);
    unsetenv("GRAVEL_COMPAT_PIPE");
    unsetenv("GRAVEL_COMPATIBLE");
    assert_int_equal(log.lines, 1);
    assert_contains(log.text, "GRAVEL_COMPAT_PIPE: there is no setting 'PIPE'");
    setenv("GRAVEL_COMPAT_CONFIG", "nowhere", 1);
    read_them(&log);
    assert_contains(log.text, "nowhere: cannot be read: No such file");
    setenv("GRAVEL_COMPAT_CONFIG", folder, 1);
    read_them(&log);
    assert_contains(log.text, "cannot be read: Is a directory");
}

/* Sapporo2's file names devices where nothing else does. */
static void sapporo2_config(void **state)
{
    (void)state;
    captured log;
    int count;
    gravel_device_info *list;
    if (no_device())
        skip();
    assert_ok(gravel_device_list(&list, &count));
    gravel_device_list_free(list);
    write_text(folder, "sapporo2.config", "1\n0\n");
    gv_compat_settings s = read_them(&log);
    assert_string_equal(log.text, "");
    assert_true(s.devices[0] >= '0' && s.devices[0] <= '9' && !strchr(s.devices, ','));
    write_text(folder, "sapporo2.config", "-1\n");
    assert_string_equal(read_them(&log).devices, s.devices);
    write_text(folder, "gravel.config", "devices = cpu\n");
    assert_string_equal(read_them(&log).devices, "cpu");
    unlink("gravel.config");
    write_text(folder, "sapporo2.config", "2\n0\nx\n");
    s = read_them(&log);
    assert_string_equal(s.devices, "");
    assert_contains(log.text, "sapporo2.config: line 3 is not a number");
    write_text(folder, "sapporo2.config", "1\n63\n");
    read_them(&log);
    assert_contains(log.text, "sapporo2.config: there is no device 63");
}

static void levels_and_repeats(void **state)
{
    (void)state;
    captured log;
    capture_begin(&log);
    gv_compat_set_level(GV_COMPAT_ERROR);
    gv_compat_log(GV_COMPAT_WARNING, "not written");
    for (int k = 0; k < 1000; k++)
        gv_compat_fail("f", "the same %s", "reason");
    gv_compat_fail("f", "another");
    for (int k = 0; k < 100; k++) /* as from the functions of a round */
        for (int function = 0; function < 4; function++)
            gv_compat_fail("round", "function %d", function);
    gv_compat_set_level(GV_COMPAT_NONE);
    gv_compat_fail("f", "nobody hears");
    gv_compat_set_level(GV_COMPAT_DEBUG);
    gv_compat_log(GV_COMPAT_DEBUG, "last");
    capture_end(&log);
    assert_int_equal(log.lines, 12 + 4 * 7); /* 1, 2, 4, ... 512, two more; 1 ... 64 of four lines */
    assert_contains(log.text, "gravel_g6: error: f: the same reason\n");
    assert_contains(log.text, "f: the same reason (512 times)\n");
    assert_contains(log.text, "gravel_g6: debug: last\n");
    assert_null(strstr(log.text, "hears"));
}

/* The settings reach the results: sign of the potential, precision. */
static void settings_are_used(void **state)
{
    (void)state;
    captured log;
    if (no_device())
        skip();
    bodies b = bodies_new(40, 1);
    rows negative = rows_of(&b, 0, 40), positive = rows_of(&b, 0, 40);
    for (int turn = 0; turn < 2; turn++) {
        rows *r = turn ? &positive : &negative;
        setenv("GRAVEL_COMPAT_POTENTIAL", turn ? "positive" : "negative", 1);
        setenv("GRAVEL_COMPAT_LOG", "info", 1);
        capture_begin(&log);
        const int status = g6_open(0);
        capture_end(&log);
        assert_int_equal(status, 0);
        assert_contains(log.text, "ds, 16384 sinks a call");
        send_all(&b);
        first_half(r, 40, 0.1);
        assert_int_equal(last_half(r, 40, 0.1), 0);
        g6_close(0);
    }
    for (int k = 0; k < 40; k++)
        assert_true(negative.pot[k] < 0 && positive.pot[k] == -negative.pot[k]);
    rows_free(&negative);
    rows_free(&positive);
    bodies_free(&b);
}

/* Point 6: the second derivative of the acceleration predicts, or is not looked at. */
static void k18_predicts_or_not(void **state)
{
    (void)state;
    enum { N = 40 };
    const double t = 0.5, later = t + 0.25; /* 18 k18 dt^4/24 = 1.6e-3 for a snap of 10 */
    captured log;
    if (no_device())
        skip();
    bodies b = bodies_new(N, 3);
    rows r[2];
    for (int k = 0; k < N; k++)
        b.t[k] = t;
    for (int turn = 0; turn < 2; turn++) {
        setenv("GRAVEL_COMPAT_K18", turn ? "no" : "yes", 1);
        setenv("GRAVEL_COMPAT_LOG", "error", 1);
        for (int k = 0; k < N; k++)
            for (int c = 0; c < 3; c++)
                b.d[4][c][k] = 10;
        capture_begin(&log);
        assert_int_equal(g6_open(0), 0);
        send_all(&b);
        for (int k = 0; turn && k < N; k++) /* what the reference predicts with */
            for (int c = 0; c < 3; c++)
                b.d[4][c][k] = 0;
        bodies at = predicted(&b, later);
        r[turn] = rows_of(&at, 0, N);
        assert_int_equal(g6_set_ti(0, later), 0);
        first_half(&r[turn], N, 0.1);
        assert_int_equal(last_half(&r[turn], N, 0.1), 0);
        capture_end(&log);
        assert_string_equal(log.text, "");
        assert_rows(&r[turn], &at, 0, &at, N, 0.1, turn ? "without k18" : "with k18");
        bodies_free(&at);
        g6_close(0);
    }
    rows_free(&r[0]);
    rows_free(&r[1]);
    bodies_free(&b);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, in_a_folder, out_of_it)

int main(void)
{
    const struct CMUnitTest cases[] = {
        CASE(nothing_is_set),     CASE(file_and_environment), CASE(bad_lines),           CASE(sapporo2_config),
        CASE(levels_and_repeats), CASE(settings_are_used),    CASE(k18_predicts_or_not),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
