/* Particles as text: numbers are read and written correctly rounded, errors name line and column, an old file survives
 * a failed write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/decimal.h"
#include "sim/particle_text.h"

static char folder[200];

static const char *in_folder(const char *name)
{
    static char path[2][256];
    static int turn;
    turn ^= 1;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static const char *write_file(const char *text, size_t size)
{
    const char *path = in_folder("in.txt");
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
    return path;
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* ---------------------------------------------------------------- numbers */

static void check_same_as_library(double value)
{
    char text[64], expected[64], *end;
    end = gv_decimal_write(text, value);
    *end = '\0';
    assert_true(end - text <= GV_DECIMAL_SIZE);
    snprintf(expected, sizeof expected, "%.16e", value);
    assert_string_equal(text, expected);
    double back;
    assert_ptr_equal(gv_decimal_read(text, &back), end);
    assert_memory_equal(&back, &value, sizeof back);
}

static void test_write_equals_library(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 200000; i++) { /* all bit patterns of finite numbers */
        double value;
        const uint64_t bits = next_random(&seed);
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            check_same_as_library(value);
    }
    for (int i = 0; i < 200000; i++) { /* the sizes that files hold */
        const double unit = (double)(next_random(&seed) >> 11) * 0x1p-53;
        check_same_as_library(unit);
        check_same_as_library(-ldexp(unit, (int)(next_random(&seed) % 240) - 120));
        check_same_as_library((double)(next_random(&seed) % 100000) / 1000);
    }
    const double edge[] = {0.0,
                           -0.0,
                           1,
                           10,
                           9.9999999999999999e22,
                           1e22,
                           1e23,
                           1e15,
                           1e16,
                           1e17,
                           0.1,
                           1e-5,
                           1e-11,
                           1e-12,
                           9.9999999999999995e-12,
                           1e43,
                           1e44,
                           5e-324,
                           2.2250738585072014e-308,
                           1.7976931348623157e308,
                           0.5,
                           0.3,
                           123456789012345678.0,
                           9007199254740993.0,
                           99999999999999999.0,
                           0x1p-1022};
    for (size_t i = 0; i < sizeof edge / sizeof edge[0]; i++)
        check_same_as_library(edge[i]);
}

static void check_read(const char *text)
{
    double value, expected;
    char *end;
    expected = strtod(text, &end);
    const char *mine = gv_decimal_read(text, &value);
    assert_non_null(mine);
    assert_ptr_equal(mine, end);
    if (memcmp(&value, &expected, sizeof value) != 0)
        fail_msg("'%s' read as %.17g, is %.17g", text, value, expected);
}

static void test_read_equals_library(void **state)
{
    (void)state;
    char text[128];
    uint64_t seed = 7;
    for (int i = 0; i < 300000; i++) {
        const uint64_t digits = next_random(&seed) >> (next_random(&seed) % 64);
        const int power = (int)(next_random(&seed) % 70) - 35;
        snprintf(text, sizeof text, "%s%llue%d", i & 1 ? "-" : "", (unsigned long long)digits, power);
        check_read(text);
        snprintf(text, sizeof text, "%u.%017llu", (unsigned)(digits % 1000), (unsigned long long)(digits / 200));
        check_read(text);
    }
    /* Halfway cases: 2^53 + 1 lies between two doubles and goes to the even one; a digit far behind decides else. */
    static const char *const hard[] = {"9007199254740993",
                                       "9007199254740993.0",
                                       "9007199254740993.00000000000000000000001",
                                       "9007199254740995",
                                       "1.00000000000000011102230246251565404",
                                       "1.00000000000000011102230246251565405",
                                       "0",
                                       "-0",
                                       "+5",
                                       "5.",
                                       ".5",
                                       "-.5e1",
                                       "000000000000000000000000012",
                                       "0.000000000000000000000000000000000000000000012",
                                       "1e400",
                                       "-1e400",
                                       "1e-400",
                                       "4.9406564584124654e-324",
                                       "2.4703282292062327e-324",
                                       "2.2250738585072011e-308",
                                       "1e22",
                                       "1e23",
                                       "18446744073709551615",
                                       "18446744073709551616",
                                       "9999999999999999999e27",
                                       "1e00000000000000000005",
                                       "179769313486231580793e289",
                                       "0e999999999999999999999",
                                       "123456789012345678901234567890"};
    for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++)
        check_read(hard[i]);
    static const char *const none[] = {"", "-", ".", "e5", "-e5", "1e", "1e+", "nan", "inf", "abc", "--1"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        double value;
        assert_null(gv_decimal_read(none[i], &value));
    }
    double value;
    const char *hex = "0x10";
    assert_ptr_equal(gv_decimal_read(hex, &value), hex + 1); /* a zero, then something that the reader refuses */
}

/* --------------------------------------------------------------- the files */

static void check_accepts(const char *text, size_t count, int columns)
{
    gv_particles p;
    gravel_status status = gv_particles_read_text(&p, write_file(text, strlen(text)));
    if (status != GRAVEL_OK)
        fail_msg("%s", gravel_error_message());
    assert_int_equal(p.count, count);
    assert_int_equal(gv_particles_columns(&p), columns);
    gv_particles_free(&p);
}

static void test_forms_of_lines(void **state)
{
    (void)state;
    check_accepts("1 1 2 3 4\n", 1, 5);
    check_accepts("1 1 2 3 4", 1, 5);
    check_accepts("# id m x y z\r\n\r\n  1\t1 2 3 4 \r\n2 1 2 3 5 # the second\r\n\r\n", 2, 5);
    check_accepts("\xef\xbb\xbf# with a mark\n1 1 2 3 4 5 6 7\n", 1, 8);
    check_accepts("\xef\xbb\xbf"
                  "1 1 2 3 4 5 6 7\n",
                  1, 8);
    check_accepts("-2147483648 1 2 3 4 5 6 7 8 9 10\n2147483647 1 2 3 4 5 6 7 8 9 1e1\n+7 0 0 0 0 0 0 0 0 0 -0\n", 3,
                  11);
    check_accepts("1 1 2 3 4#tight\n", 1, 5);
    check_accepts("\xef\xbb\xbfID;mass;x;y;z;vx;vy;vz # all\r\n1;1;2;3;4;5;6;7\r\n", 1, 8);
    check_accepts("# drawn by hand\n\n\"id\",\"m\",\"x\",\"y\",\"z\"\n1,1,2,3,4\n2,1,2,3,4", 2, 5);
    check_accepts("#id,m,x,y,z\r\n1,1,2,3,4\r\n2, 1 ,\t2;3;4 \n3 1 2 3 4\n", 3, 5);
}

/* What is written says its units and its time, so that it is read as what it was; other comments say nothing. */
static void test_units_and_time(void **state)
{
    static const gv_units gadget = GV_UNITS_GADGET, none = GV_UNITS_NBODY;
    gv_particles p, again;
    const char *path = write_file("", 0);

    (void)state;
    assert_int_equal(gv_particles_create(&p, 2, 1), GRAVEL_OK);
    p.units = gadget;
    p.time = 0.1;
    p.m[0] = 3;
    assert_int_equal(gv_particles_write_text(&p, path), GRAVEL_OK);
    assert_int_equal(gv_particles_read_text(&again, path), GRAVEL_OK);
    assert_memory_equal(&again.units, &gadget, sizeof gadget);
    assert_true(again.time == 0.1 && again.m[0] == 3 && again.count == 2);
    gv_particles_free(&again);
    p.units = none;
    p.time = 0;
    assert_int_equal(gv_particles_write_text(&p, path), GRAVEL_OK);
    gv_particles_free(&p);

    const char *text = "# time in Myr\n# units: kpc\n# units 1 cm -1 g 1 cm/s\n1 1 2 3 4\n# time 5\n";
    assert_int_equal(gv_particles_read_text(&p, write_file(text, strlen(text))), GRAVEL_OK);
    assert_true(gv_units_are_nbody(&p.units) && p.time == 0);
    gv_particles_free(&p);
}

static void test_values(void **state)
{
    (void)state;
    gv_particles p;
    const char *text = "-5 .5 1e-3 -2 +3 4 5 6 7 8 9\n";
    assert_int_equal(gv_particles_read_text(&p, write_file(text, strlen(text))), GRAVEL_OK);
    assert_int_equal(p.id[0], -5);
    const double got[] = {p.m[0], p.x[0], p.y[0], p.z[0], p.vx[0], p.vy[0], p.vz[0], p.ax[0], p.ay[0], p.az[0]};
    const double expected[] = {0.5, 1e-3, -2, 3, 4, 5, 6, 7, 8, 9};
    assert_memory_equal(got, expected, sizeof got);
    gv_particles_free(&p);
}

static void check_refuses(const char *text, size_t size, gravel_status expected, const char *part)
{
    gv_particles p;
    assert_int_equal(gv_particles_read_text(&p, write_file(text, size)), expected);
    if (strstr(gravel_error_message(), part) == NULL)
        fail_msg("'%s' is not in '%s'", part, gravel_error_message());
    assert_int_equal(p.count, 0);
    assert_null(p.m);
    gv_particles_free(&p);
}
#define REFUSES(text, status, part) check_refuses(text, sizeof(text) - 1, status, part)

static void test_errors_name_the_place(void **state)
{
    (void)state;
    REFUSES("", GRAVEL_ERR_INPUT, "no particles");
    REFUSES("# only a comment\n", GRAVEL_ERR_INPUT, "no particles");
    REFUSES("1 1 2 3 4\n2 1 2 abc 4\n", GRAVEL_ERR_FORMAT, "line 2, column 7: y is not a number: abc");
    REFUSES("1 1 2 3 4\n2 1 nan 3 4\n", GRAVEL_ERR_INPUT, "line 2, column 5: particle 1: x is not finite: nan");
    REFUSES("1 1 2 3 -Inf\n", GRAVEL_ERR_INPUT, "line 1, column 9: particle 0: z is not finite: -Inf");
    REFUSES("1 1 2 3 1e999\n", GRAVEL_ERR_INPUT, "too large for a double: 1e999");
    REFUSES("1.0 1 2 3 4\n", GRAVEL_ERR_FORMAT,
            "line 1, column 1: the first column is the id, a whole number, not 1.0");
    REFUSES("2147483648 1 2 3 4\n", GRAVEL_ERR_FORMAT, "an id is from -2147483648 to 2147483647");
    REFUSES("-2147483649 1 2 3 4\n", GRAVEL_ERR_FORMAT, "an id is from");
    REFUSES("99999999999999999999999 1 2 3 4\n", GRAVEL_ERR_FORMAT, "an id is from");
    REFUSES("1 1 2 3\n", GRAVEL_ERR_FORMAT, "4 columns; a particle has 5");
    REFUSES("1 1 2 3 4 5\n", GRAVEL_ERR_FORMAT, "6 columns");
    REFUSES("1 1 2 3 4 5 6 7 8 9 10 11\n", GRAVEL_ERR_FORMAT, "line 1, column 24: more than 11 columns");
    REFUSES("#\n1 1 2 3 4 5 6 7\n2 1 2 3 4\n3 1 2 3 4 5 6 7\n", GRAVEL_ERR_FORMAT,
            "line 3, column 10: 5 columns where line 2 has 8");
    REFUSES("1 1 2 3 4\n2 1 2", GRAVEL_ERR_FORMAT, "truncated");
    REFUSES("# id m x y z\n1 1 2 3 4e-1\n2 1 2 3 4", GRAVEL_ERR_FORMAT, "line 3: the file ends in the middle");
    REFUSES("1,1,2,,4\n", GRAVEL_ERR_FORMAT, "line 1, column 7: y is missing");
    REFUSES("1,1,2,3,4,\n", GRAVEL_ERR_FORMAT, "line 1, column 11: vx is missing");
    REFUSES("1 1 2 3,4 4\n", GRAVEL_ERR_FORMAT,
            "line 1, column 9: columns are separated by blanks or by commas, not both");
    REFUSES("1;0,5;0,5;0,5;0,5\n", GRAVEL_ERR_FORMAT, "9 columns");
    REFUSES(",1,1,2,3\n", GRAVEL_ERR_FORMAT, "the id");
    REFUSES("ID;m;z;y;x\n1;1;2;3;4\n", GRAVEL_ERR_FORMAT,
            "line 1, column 6: the columns are id m x y z [vx vy vz [ax ay az]], in this order; here is z");
    REFUSES("id,m,x,y\n1,1,2,3\n", GRAVEL_ERR_FORMAT, "4 columns; a particle has 5");
    REFUSES("id,m,x,y,z\n1,1,2,3,4\nid,m,x,y,z\n", GRAVEL_ERR_FORMAT, "line 3, column 1: the first column is the id");
    REFUSES("id,m,x,y,z\n1,1,2,3,4,5,6,7\n", GRAVEL_ERR_FORMAT, "8 columns where line 1 has 5");
    REFUSES("id m x y z\n", GRAVEL_ERR_INPUT, "no particles");
    REFUSES("1 1 2 3 4\nx 1 2 3 4\n", GRAVEL_ERR_FORMAT,
            "line 2, column 1: the first column is the id, a whole number");
    REFUSES("1 0x10 2 3 4\n", GRAVEL_ERR_FORMAT, "m is not a number: 0x10");
    REFUSES("1 1 2\0 3 4\n", GRAVEL_ERR_FORMAT, "line 1, column 5: x is not a number");
    REFUSES("\x7f"
            "ELF\2\1\1\0\0\0\n",
            GRAVEL_ERR_FORMAT, "line 1, column 1");
}

static void test_no_file(void **state)
{
    (void)state;
    gv_particles p;
    assert_int_equal(gv_particles_read_text(&p, in_folder("missing.txt")), GRAVEL_ERR_FILE);
    assert_non_null(strstr(gravel_error_message(), "missing.txt"));
    assert_int_equal(gv_particles_read_text(&p, folder), GRAVEL_ERR_FILE);
}

static void test_lines_across_blocks(void **state)
{
    (void)state;
    /* Lines of every length cross the ends of the blocks in which the file is read. */
    const size_t size = 3 << 20;
    char *text = malloc(size);
    assert_non_null(text);
    size_t used = 0, lines = 0;
    while (used + 700 < size) {
        used += (size_t)sprintf(text + used, "%zu 1 2 3 %zu.5 #%*s\n", lines, lines, (int)(lines % 611), "");
        lines++;
    }
    gv_particles p;
    assert_int_equal(gv_particles_read_text(&p, write_file(text, used)), GRAVEL_OK);
    assert_int_equal(p.count, lines);
    for (size_t i = 0; i < lines; i++) {
        assert_int_equal(p.id[i], i);
        assert_true(p.z[i] == (double)i + 0.5);
    }
    gv_particles_free(&p);
    memset(text, '1', size);
    check_refuses(text, size, GRAVEL_ERR_FORMAT, "line 1: longer than");
    text[0] = '#'; /* nor a comment without an end */
    check_refuses(text, size, GRAVEL_ERR_FORMAT, "line 1: longer than");
    free(text);
}

static void make_particles(gv_particles *p, size_t n, int derivatives)
{
    uint64_t seed = 3;
    assert_int_equal(gv_particles_create(p, n, derivatives), GRAVEL_OK);
    double *column[] = {p->m, p->x, p->y, p->z, p->vx, p->vy, p->vz, p->ax, p->ay, p->az};
    for (size_t i = 0; i < n; i++) {
        p->id[i] = (int32_t)(uint32_t)next_random(&seed);
        for (int c = 0; c < 4 + 3 * derivatives; c++)
            column[c][i] = ldexp((double)(int64_t)next_random(&seed), (int)(next_random(&seed) % 100) - 110);
    }
}

static void test_round_trip(void **state)
{
    (void)state;
    for (int derivatives = 0; derivatives <= 2; derivatives++) {
        gv_particles p, back;
        make_particles(&p, 3000, derivatives);
        const char *path = in_folder("out.txt");
        assert_int_equal(gv_particles_write_text(&p, path), GRAVEL_OK);
        assert_int_equal(gv_particles_read_text(&back, path), GRAVEL_OK);
        assert_int_equal(back.count, p.count);
        assert_int_equal(gv_particles_columns(&back), 5 + 3 * derivatives);
        assert_memory_equal(back.id, p.id, p.count * sizeof *p.id);
        double *a[] = {p.m, p.x, p.y, p.z, p.vx, p.vy, p.vz, p.ax, p.ay, p.az};
        double *b[] = {back.m, back.x, back.y, back.z, back.vx, back.vy, back.vz, back.ax, back.ay, back.az};
        for (int c = 0; c < 4 + 3 * derivatives; c++)
            assert_memory_equal(a[c], b[c], p.count * sizeof(double));
        gv_particles_free(&p);
        gv_particles_free(&back);
    }
}

static int files_in_folder(void)
{
    char command[256];
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", folder);
    FILE *f = popen(command, "r");
    int n = -1;
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%d", &n), 1);
    pclose(f);
    return n;
}

static void test_failed_writes(void **state)
{
    (void)state;
    gv_particles p;
    make_particles(&p, 10, 1);
    const int before = files_in_folder();
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(gv_particles_write_text(&p, "/dev/full"), GRAVEL_ERR_FILE);
        assert_non_null(strstr(gravel_error_message(), strerror(ENOSPC)));
        struct stat info;
        assert_int_equal(stat("/dev/full", &info), 0);
        assert_true(S_ISCHR(info.st_mode)); /* still the device */
    }
    assert_int_equal(gv_particles_write_text(&p, in_folder("no/such/folder/out.txt")), GRAVEL_ERR_FILE);
    assert_int_equal(gv_particles_write_text(&p, folder), GRAVEL_ERR_FILE);
    assert_int_equal(files_in_folder(), before);
    gv_particles_free(&p);
}

static void test_mode_and_links(void **state)
{
    (void)state;
    gv_particles p;
    struct stat info;
    make_particles(&p, 10, 0);
    char target[256], link[256];
    snprintf(target, sizeof target, "%s/target.txt", folder);
    snprintf(link, sizeof link, "%s/link.txt", folder);
    assert_int_equal(gv_particles_write_text(&p, target), GRAVEL_OK);
    assert_int_equal(chmod(target, 0640), 0);
    assert_int_equal(symlink(target, link), 0);
    assert_int_equal(gv_particles_write_text(&p, link), GRAVEL_OK);
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode)); /* the file behind the link was replaced, not the link */
    assert_int_equal(stat(target, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
    gv_particles_free(&p);
}

static int make_folder(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.150s/gravel-text-XXXXXX", base != NULL && strlen(base) < 150 ? base : "/tmp");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* Several blocks of lines, which all cores share.  `odd`: text in the place of line ODD, which is in a later block. */
enum { LINES = 60000, ODD = 50000 };

static const char *write_many(const char *odd, int newline_at_end)
{
    char *text = malloc(LINES * 32), *p = text;
    assert_non_null(text);
    for (int i = 0; i < LINES; i++)
        p += i == ODD && odd ? sprintf(p, "%s\n", odd) : sprintf(p, "%d %d.5 -%d 0.25 1e-3\n", i, i % 7, i % 1000);
    const char *path = write_file(text, (size_t)(p - text) - !newline_at_end);
    free(text);
    return path;
}

static void check_many(size_t expected)
{
    gv_particles p;
    assert_int_equal(gv_particles_read_text(&p, in_folder("in.txt")), GRAVEL_OK);
    assert_int_equal(p.count, expected);
    for (size_t k = 0; k < expected; k++) {
        const int i = (int)(expected < LINES && k >= ODD ? k + 1 : k);
        assert_true(p.id[k] == i && p.m[k] == i % 7 + 0.5 && p.x[k] == -(i % 1000) && p.y[k] == 0.25 && p.z[k] == 1e-3);
    }
    /* and written by all cores, in order */
    const char *out = in_folder("out.txt");
    gv_particles again;
    assert_int_equal(gv_particles_write_text(&p, out), GRAVEL_OK);
    assert_int_equal(gv_particles_read_text(&again, out), GRAVEL_OK);
    assert_int_equal(again.count, p.count);
    assert_memory_equal(again.id, p.id, p.count * sizeof *p.id);
    assert_memory_equal(again.x, p.x, p.count * sizeof *p.x);
    gv_particles_free(&again);
    gv_particles_free(&p);
    unlink(out);
}

static void test_many_lines(void **state)
{
    (void)state;
    static const struct {
        const char *odd, *says;
    } bad[] = {
        {"50000 1 2 3 nan", "line 50001, column 13: particle 50000: z is not finite"},
        {"50000 1 2 3", "line 50001, column 12: 4 columns where line 1 has 5"},
        {"50000 1 2 3 4 5 6 7", "line 50001, column 20: 8 columns where line 1 has 5"},
        {"5e4 1 2 3 4", "line 50001, column 1: the first column is the id"},
    };
    gv_particles p;
    write_many(NULL, 1);
    check_many(LINES);
    write_many(NULL, 0);
    check_many(LINES);
    write_many("# a remark", 1);
    check_many(LINES - 1);
    write_many("", 1);
    check_many(LINES - 1);
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        assert_int_not_equal(gv_particles_read_text(&p, write_many(bad[k].odd, 1)), GRAVEL_OK);
        if (!strstr(gravel_error_message(), bad[k].says))
            fail_msg("'%s' is not in '%s'", bad[k].says, gravel_error_message());
        assert_true(p.count == 0 && p.m == NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write_equals_library),
        cmocka_unit_test(test_read_equals_library),
        cmocka_unit_test(test_forms_of_lines),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_units_and_time),
        cmocka_unit_test(test_errors_name_the_place),
        cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_lines_across_blocks),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_failed_writes),
        cmocka_unit_test(test_mode_and_links),
        cmocka_unit_test(test_many_lines),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
