/* Profiles without any device: names, wrong files, merging, two writers at once. */
#include "profile_sets.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <time.h>

/* ------------------------------------------------------------------ names */

static void test_names_have_one_key(void **state)
{
    static const char *const same[][2] = {
        {"Intel(R) Xeon(R) CPU @ 2.60GHz", "intel xeon cpu 2 60ghz"},
        {"  NVIDIA  H200 \t", "NVIDIA H200"},
        {"pthread-skylake-avx512 (AMD EPYC)", "pthread skylake avx512 AMD EPYC"},
        {"Radeon(TM) RX\x01Vega", "Radeon RX Vega"},
        {"GeForce RTX 4090   ", "geforce rtx 4090"},
    };
    char a[GRAVEL_NAME_SIZE], b[GRAVEL_NAME_SIZE], clean[GRAVEL_NAME_SIZE];

    (void)state;
    for (size_t k = 0; k < sizeof same / sizeof same[0]; k++) {
        gv_name_key(same[k][0], a);
        gv_name_key(same[k][1], b);
        assert_string_equal(a, b);
        /* stored and read back it is still the same device */
        gv_name_clean(same[k][0], clean);
        gv_name_key(clean, b);
        assert_string_equal(a, b);
        gv_name_clean(clean, b);
        assert_string_equal(clean, b);
    }
}

static void test_names_hostile(void **state)
{
    char longest[600], clean[GRAVEL_NAME_SIZE], again[GRAVEL_NAME_SIZE], file[128];
    gv_profile_device device;

    (void)state;
    memset(longest, 'x', sizeof longest);
    longest[200] = '\0';
    gv_name_clean(longest, clean);
    assert_string_equal(clean, longest); /* 200 characters are kept */
    memset(longest, 'y', sizeof longest);
    longest[599] = '\0';
    gv_name_clean(longest, clean);
    assert_int_equal(strlen(clean), GRAVEL_NAME_SIZE - 1);
    /* not UTF-8, cut UTF-8, overlong form, surrogate, control characters */
    gv_name_clean("a\xff"
                  "b\xc3 \xc0\xaf \xed\xa0\x80 \x7f\n\x01 \xc3\xa9",
                  clean);
    gv_name_clean(clean, again);
    assert_string_equal(clean, again);
    for (const char *c = clean; *c != '\0'; c++)
        assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
    assert_contains(clean, "\xc3\xa9");
    gv_name_clean("", clean);
    assert_string_equal(clean, "");
    memset(&device, 0, sizeof device);
    strcpy(device.name, "../../etc/pass wd (R)");
    gv_profile_file_name(&device, file);
    assert_null(strchr(file, '/'));
    assert_true(file[0] != '.');
}

static void test_families(void **state)
{
    static const char *const family[][2] = {
        {"NVIDIA H200", "nvidia h"},
        {"NVIDIA H100 80GB HBM3", "nvidia h"},
        {"NVIDIA A100-SXM4-40GB", "nvidia a"},
        {"NVIDIA GeForce RTX 4090", "nvidia geforce rtx 40"},
        {"NVIDIA GeForce RTX 2080 Ti", "nvidia geforce rtx 20"},
        {"gfx90a:sramecc+:xnack-", "gfx9"},
        {"gfx906", "gfx9"},
        {"gfx1100", "gfx11"},
        {"Apple GPU", "apple gpu"},
    };
    char got[GRAVEL_NAME_SIZE];

    (void)state;
    for (size_t k = 0; k < sizeof family / sizeof family[0]; k++) {
        gv_name_family(family[k][0], got);
        assert_string_equal(got, family[k][1]);
    }
}

/* ------------------------------------------------------------- good files */

static void test_print_and_parse_agree(void **state)
{
    gv_profile_set set = GV_PROFILE_SET_INIT, back = GV_PROFILE_SET_INIT, none = GV_PROFILE_SET_INIT;
    char *text, *again;

    (void)state;
    add(&set, "NVIDIA \"H200\" \\ (R)", 132, "ds4", 1, "size=4 split=8");
    add(&set, "NVIDIA \"H200\" \\ (R)", 132, "ds4", 100, "size=4 split=1");
    add(&set, "Other", 3, "sp2", 100000, "size=1");
    assert_ok(gv_profile_print(&set, &text));
    assert_ok(gv_profile_parse("text", text, strlen(text), &back));
    assert_int_equal(back.n_blocks, 2);
    assert_int_equal(back.block[0].n_entries, 2);
    assert_string_equal(back.block[0].entry[1].result[0].configuration, "size=4 split=1");
    assert_ok(gv_profile_print(&back, &again));
    assert_string_equal(text, again);
    free(again);
    free(text);
    assert_ok(gv_profile_print(&none, &text));
    gv_profile_set_free(&back);
    assert_ok(gv_profile_parse("text", text, strlen(text), &back));
    assert_int_equal(back.n_blocks, 0);
    free(text);
    gv_profile_set_free(&set);
}

/* As many questions as there is room for, each with all results and tunables, are read again; of more than that the
 * oldest gives way. */
static void test_full_profiles_are_read(void **state)
{
    gv_profile_set set = GV_PROFILE_SET_INIT, back = GV_PROFILE_SET_INIT;
    gv_profile_device device;
    gv_profile_entry entry;
    char *text, configuration[GV_PROFILE_TEXT] = "";

    (void)state;
    for (int t = 0; t < GV_MAX_TUNABLES; t++)
        sprintf(configuration + strlen(configuration), "%st%c=%d", t > 0 ? " " : "", 'a' + t, t);
    make_device(&device, "d", 1);
    make_entry(&entry, "sp2", 1, 100, configuration);
    entry.n_results = GV_PROFILE_RESULTS;
    for (int r = 1; r < GV_PROFILE_RESULTS; r++) {
        entry.result[r] = entry.result[0];
        sprintf(strstr(entry.result[r].configuration, "ta=0"), "ta=%d", r);
        strcat(entry.result[r].configuration, strchr(configuration, ' '));
    }
    for (int e = 0; e < GV_PROFILE_ENTRIES + 1; e++) {
        entry.sources = 1000 + (size_t)e;
        strcpy(entry.date, e == 5 ? "2026-11-20T00:00:00Z" : "2026-11-21T00:00:00Z");
        assert_ok(gv_profile_set_add(&set, &device, &entry));
    }
    assert_int_equal(set.block[0].n_entries, GV_PROFILE_ENTRIES);
    assert_int_equal(set.block[0].entry[5].sources, 1000 + GV_PROFILE_ENTRIES);
    assert_ok(gv_profile_print(&set, &text));
    assert_ok(gv_profile_parse("text", text, strlen(text), &back));
    assert_int_equal(back.block[0].n_entries, GV_PROFILE_ENTRIES);
    assert_int_equal(back.block[0].entry[7].n_results, GV_PROFILE_RESULTS);
    free(text);
    gv_profile_set_free(&set);
    gv_profile_set_free(&back);
}

static int has_pair(const gv_profile_block *block, int n, const gv_profile_entry *entry)
{
    for (int e = 0; e < n; e++)
        if (strcmp(block->entry[e].kernel, entry->kernel) == 0 && strcmp(block->entry[e].variant, entry->variant) == 0)
            return 1;
    return 0;
}

static void count_refused(const char *message, void *user)
{
    assert_non_null(strstr(message, ".json"));
    ++*(int *)user;
}

/* Of several devices, with entries that go first, last and all, and one that is laid out otherwise. */
static void test_texts_are_cut(void **state)
{
    const gv_profile_about sp2 = {"fake", "sp2"}, ds4 = {"fake", "ds4"}, other = {"other", "sp2"};
    gv_profile_set set = GV_PROFILE_SET_INIT;
    char *text, *cut;
    size_t size;

    (void)state;
    add(&set, "One", 1, "sp2", 1, "size=1");
    add(&set, "One", 1, "ds4", 1, "size=2");
    add(&set, "One", 1, "sp2", 100, "size=3");
    add(&set, "Two", 2, "ds4", 1, "size=4");
    add(&set, "Two", 2, "ds4", 100, "size=5");
    assert_ok(gv_profile_print(&set, &text));
    gv_profile_set_free(&set);
    for (int c = 0; c < 3; c++) {
        static const int n[3][2] = {{2, 0}, {1, 2}, {0, 0}};

        cut = gv_profile_cut(text, strlen(text), c == 0 ? &sp2 : c == 1 ? &ds4 : &other, &size);
        assert_non_null(cut);
        assert_int_equal(size, strlen(cut));
        assert_ok(gv_profile_parse("cut", cut, size, &set));
        assert_int_equal(set.n_blocks, n[c][1] > 0 ? 2 : n[c][0] > 0); /* those with entries */
        for (int b = 0; b < set.n_blocks; b++)
            assert_int_equal(set.block[b].n_entries, n[c][b]);
        for (int b = 0; b < set.n_blocks; b++)
            for (int e = 0; e < set.block[b].n_entries; e++)
                assert_string_equal(set.block[b].entry[e].variant, c == 0 ? "sp2" : "ds4");
        gv_profile_set_free(&set);
        free(cut);
    }
    /* another layout: nothing is left out, the parser sees it all */
    for (char *at = text; (at = strstr(at, "\n    {")) != NULL; at++)
        at[1] = '\t';
    cut = gv_profile_cut(text, strlen(text), &sp2, &size);
    assert_string_equal(cut, text);
    free(cut);
    free(text);
}

/* What is read for one kernel and variant is that alone, and all parts make the whole. */
static void test_shipped_parts_make_the_whole(void **state)
{
    gv_profile_set whole = GV_PROFILE_SET_INIT, parts = GV_PROFILE_SET_INIT;

    (void)state;
    assert_ok(gv_profile_read_shipped(NULL, NULL, &whole, NULL, NULL));
    assert_true(whole.n_blocks > 1);
    for (int b = 0; b < whole.n_blocks; b++) {
        const gv_profile_block *block = &whole.block[b];
        int n = 0;

        for (int e = 0; e < block->n_entries; e++) {
            const gv_profile_entry *entry = &block->entry[e];
            const gv_profile_about part = {entry->kernel, entry->variant};
            gv_profile_set one = GV_PROFILE_SET_INIT;

            if (has_pair(block, e, entry))
                continue;
            assert_ok(gv_profile_read_shipped(&block->device, &part, &one, NULL, NULL));
            assert_int_equal(one.n_blocks, 1);
            for (int k = 0; k < one.block[0].n_entries; k++) {
                const gv_profile_entry *read = &one.block[0].entry[k], *same = gv_profile_set_entry(block, read);

                assert_string_equal(read->kernel, entry->kernel);
                assert_string_equal(read->variant, entry->variant);
                assert_non_null(same);
                assert_memory_equal(read, same, sizeof *read);
            }
            n += one.block[0].n_entries;
            gv_profile_set_free(&one);
        }
        assert_int_equal(n, block->n_entries);
    }
    const gv_profile_about none = {"direct", "sp3"};
    int refused = 0;

    assert_ok(gv_profile_read_shipped(NULL, &none, &parts, count_refused, &refused));
    for (int b = 0; b < parts.n_blocks; b++)
        assert_int_equal(parts.block[b].n_entries, 0);
    assert_int_equal(refused, 0);
    gv_profile_set_free(&parts);
    gv_profile_set_free(&whole);
}

/* Of other devices those of one family, vendor and size are read, by what each file says of its device at its head. */
static void test_shipped_of_alike_devices(void **state)
{
    static const struct {
        const char *name;
        int compute_units, others; /* those of the H200 and of an H100 are shipped */
    } cases[] = {
        {"NVIDIA H100 NVL", 132, 2}, {"NVIDIA H200", 132, 1}, {"NVIDIA H100 NVL", 114, 0}, {"NVIDIA A100", 132, 0}};
    const gv_profile_about about = {"direct", "sp2"};

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        gv_profile_set set = GV_PROFILE_SET_INIT;
        gv_profile_device device;

        make_device(&device, cases[k].name, cases[k].compute_units);
        assert_ok(gv_profile_read_shipped_alike(&device, &about, &set, NULL, NULL));
        assert_int_equal(set.n_blocks, cases[k].others);
        for (int b = 0; b < set.n_blocks; b++) {
            assert_true(gv_profile_alike(&set.block[b].device, &device));
            assert_false(gv_profile_same_device(&set.block[b].device, &device));
            assert_true(set.block[b].n_entries > 0);
        }
        gv_profile_set_free(&set);
    }
}

/* -------------------------------------------------------------- bad files */

static void refused(const char *text, const char *why)
{
    gv_profile_set set = GV_PROFILE_SET_INIT;
    gravel_status status = gv_profile_parse("some.json", text, strlen(text), &set);

    if (status != (strcmp(why, "newer gravel") == 0 ? GRAVEL_ERR_UNSUPPORTED : GRAVEL_ERR_FORMAT))
        fail_msg("accepted (%s): %.200s", gravel_status_name(status), text);
    assert_int_equal(set.n_blocks, 0);
    assert_contains(gravel_error_message(), "some.json");
    assert_contains(gravel_error_message(), why);
}

#define DEVICE                                                                                                         \
    "{\"name\":\"d\",\"vendor\":\"v\",\"platform\":\"p\",\"type\":\"gpu\",\"compute_units\":1,\"simd_width_float\":1," \
    "\"simd_width_double\":1,\"fp64\":1}"
#define RESULT(configuration)                                                                                          \
    "{\"configuration\":" configuration                                                                                \
    ",\"status\":\"ok\",\"time_s\":1,\"time_min_s\":1,\"spread\":0,\"call_s\":1,\"error\":0}"
#define ENTRY(sinks, results)                                                                                          \
    "{\"kernel\":\"k\",\"kernel_version\":\"v\",\"variant\":\"sp2\",\"features\":0,\"driver\":\"d\",\"sink_bucket\":"  \
    "0,"                                                                                                               \
    "\"source_bucket\":0,\"sinks\":" sinks ",\"sources\":100,\"date\":\"\",\"gravel\":\"\",\"strategy\":\"\","         \
    "\"evaluations\":1,\"failures\":0,\"results\":[" results "]}"
#define ROOT(devices) "{\"format\":\"gravel-profile\",\"schema\":1,\"devices\":[" devices "]}"
#define BLOCK(entries) "{\"device\":" DEVICE ",\"entries\":[" entries "]}"

static void test_refused_whole(void **state)
{
    gv_profile_set set = GV_PROFILE_SET_INIT;
    static const char good[] = ROOT(BLOCK(ENTRY("1", RESULT("{\"a\":1}"))));

    (void)state;
    assert_ok(gv_profile_parse("good", good, sizeof good - 1, &set));
    gv_profile_set_free(&set);
    refused("", "too early");
    refused("null", "not a gravel profile");
    refused("{}", "'format' is missing");
    refused("{\"format\":\"other\",\"schema\":1,\"devices\":[]}", "not a gravel profile");
    refused("{\"format\":\"gravel-profile\",\"schema\":2,\"devices\":[]}", "newer gravel");
    refused("{\"format\":\"gravel-profile\",\"schema\":1e300,\"devices\":[]}", "too large");
    refused("{\"format\":\"gravel-profile\",\"schema\":1,\"devices\":{}}", "not a list");
    refused("{\"format\":\"gravel-profile\",\"schema\":1,\"devices\":[],\"devices\":[]}", "twice");
    refused("{\"format\":\"gravel-profile\",\"schema\":1,\"devices\":[],\"x\":1}", "unknown member 'x'");
}

static void test_refused_entries(void **state)
{
    (void)state;
    refused(ROOT(BLOCK(ENTRY("2", RESULT("{\"a\":1}")))), "buckets");
    refused(ROOT(BLOCK(ENTRY("1.5", RESULT("{\"a\":1}")))), "whole number");
    refused(ROOT(BLOCK(ENTRY("-1", RESULT("{\"a\":1}")))), "outside");
    refused(ROOT(BLOCK(ENTRY("1e400", RESULT("{\"a\":1}")))), "too large");
    refused(ROOT(BLOCK(ENTRY("1", ""))), "results");
    refused(ROOT(BLOCK(ENTRY("1", RESULT("{\"a\":1e10}")))), "whole number");
    refused(ROOT(BLOCK(ENTRY("1", RESULT("{\"a\":\"1\"}")))), "whole number");
    refused(ROOT(BLOCK(ENTRY("1", RESULT("{\"a b\":1}")))), "no tunable");
    refused(ROOT(BLOCK(ENTRY("1", RESULT("{\"a\":1,\"a\":2}")))), "twice");
    refused(ROOT(BLOCK(ENTRY("1", RESULT("[]")))), "not an object");
    refused(ROOT(BLOCK(ENTRY("1", RESULT("{\"a\":1}")) "," ENTRY("1", RESULT("{\"a\":1}")))), "entry appears twice");
    refused(ROOT(BLOCK(ENTRY("1", RESULT("{\"a\":1}"))) "," BLOCK(ENTRY("1", RESULT("{\"a\":1}")))),
            "device appears twice");
    refused(ROOT(BLOCK(ENTRY("1", RESULT("{\"a\":1}")))) "x", "follows");
    refused("{\"format\":\"gravel-profile\",\"schema\":01,\"devices\":[]}", "not a JSON value");
    refused("{\"format\":\"gravel-profile\xff\",\"schema\":1,\"devices\":[]}", "UTF-8");
    refused("{\"format\":\"gravel-profile\xed\xa0\x80\",\"schema\":1,\"devices\":[]}", "UTF-8");
    refused("{\"format\":\"gravel\\u0000\",\"schema\":1,\"devices\":[]}", "escape");
    refused("{\"format\":\"a\nb\"}", "control character");
}

/* Deep nesting, long strings, long numbers, many members, many values: refused before a parser recurses or

 * allocates. */
static void test_refused_sizes(void **state)
{
    const size_t n = 4000000;
    char *text = malloc(n + 1);
    size_t at;

    (void)state;
    assert_non_null(text);
    memset(text, '[', n);
    text[n] = '\0';
    refused(text, "nested too deeply");
    memset(text, '1', n);
    refused(text, "too long");
    memset(text, 'a', n);
    text[0] = '"';
    refused(text, "too long");
    at = (size_t)sprintf(text, "{");
    for (int k = 0; k < 100; k++)
        at += (size_t)sprintf(text + at, "%s\"k%d\":0", k > 0 ? "," : "", k);
    sprintf(text + at, "}");
    refused(text, "too many members");
    text[0] = '[';
    for (at = 1; at + 1 < n; at += 2) {
        text[at] = '1';
        text[at + 1] = ',';
    }
    refused(text, "too many values");
    free(text);
}

/* Every prefix of a good text and every text with one byte changed is refused or read, never worse. */
static void test_damaged_bytes(void **state)
{
    static const char good[] = ROOT(BLOCK(ENTRY("1", RESULT("{\"a\":1}"))));
    char text[sizeof good];
    int accepted = 0;

    (void)state;
    for (size_t n = 0; n + 1 < sizeof good; n++) {
        gv_profile_set set = GV_PROFILE_SET_INIT;

        assert_int_equal(gv_profile_parse("cut", good, n, &set), GRAVEL_ERR_FORMAT);
    }
    for (size_t n = 0; n + 1 < sizeof good; n++) {
        for (int flip = 1; flip < 256; flip <<= 1) {
            gv_profile_set set = GV_PROFILE_SET_INIT;

            memcpy(text, good, sizeof good);
            text[n] = (char)(text[n] ^ flip);
            if (gv_profile_parse("flipped", text, sizeof good - 1, &set) == GRAVEL_OK)
                accepted++; /* another letter in a name is as good a name */
            gv_profile_set_free(&set);
        }
    }
    assert_true(accepted < (int)sizeof good * 4);
}

static void test_huge_file_is_refused(void **state)
{
    char *folder = make_folder(), *path = gv_path_join(folder, "huge.json");
    gv_profile_set set = GV_PROFILE_SET_INIT;
    FILE *file = fopen(path, "w");

    (void)state;
    assert_non_null(file);
    assert_int_equal(fseek(file, (1l << 30) - 1, SEEK_SET), 0); /* sparse: takes no room */
    assert_int_equal(fputc(0, file), 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(gv_profile_read_file(path, &set), GRAVEL_ERR_FORMAT);
    assert_contains(gravel_error_message(), "huge.json: longer than the");
    remove_folder(folder);
    free(path);
    free(folder);
}

static void test_folder_skips_what_is_refused(void **state)
{
    char *folder = make_folder();
    gv_profile_set set = GV_PROFILE_SET_INIT;
    int refusals = 0;

    (void)state;
    write_text(folder, "a.json", "{");
    write_text(folder, "b.json", ROOT(BLOCK(ENTRY("1", RESULT("{\"a\":1}")))));
    write_text(folder, "c.json", "{\"format\":\"gravel-profile\",\"schema\":99}");
    write_text(folder, "schema.json", "not read");
    write_text(folder, "note.txt", "not read");
    assert_ok(gv_profile_read_dir(folder, &set, count_refused, &refusals));
    assert_int_equal(refusals, 2);
    assert_int_equal(set.n_blocks, 1);
    gv_profile_set_free(&set);
    assert_ok(gv_profile_read_dir("/nonexistent/folder", &set, count_refused, &refusals));
    assert_int_equal(set.n_blocks, 0);
    remove_folder(folder);
    free(folder);
}

/* ---------------------------------------------------------------- merging */

static void test_join_keeps_both(void **state)
{
    gv_profile_set set = GV_PROFILE_SET_INIT;
    gv_profile_device device;
    gv_profile_entry early, late;

    (void)state;
    make_device(&device, "d", 1);
    make_entry(&early, "sp2", 1, 100, "size=1");
    make_entry(&late, "sp2", 1, 100, "size=2");
    early.n_results = 2;
    early.result[1] = early.result[0];
    strcpy(early.result[1].configuration, "size=2");
    early.result[1].time_s = 5;
    strcpy(late.date, "2026-11-22T00:00:00Z");
    late.result[0].time_s = 2e-3;
    /* in either order: the later one leads with its own figure, the other's configuration follows */
    for (int order = 0; order < 2; order++) {
        assert_ok(gv_profile_set_add(&set, &device, order == 0 ? &early : &late));
        assert_ok(gv_profile_set_add(&set, &device, order == 0 ? &late : &early));
        assert_int_equal(set.block[0].n_entries, 1);
        assert_int_equal(set.block[0].entry[0].n_results, 2);
        assert_string_equal(set.block[0].entry[0].result[0].configuration, "size=2");
        assert_true(set.block[0].entry[0].result[0].time_s == 2e-3);
        assert_string_equal(set.block[0].entry[0].result[1].configuration, "size=1");
        /* ... as long as it would have taken then: what both have timed took 2e-3 instead of 5 */
        assert_true(fabs(set.block[0].entry[0].result[1].time_s / (early.result[0].time_s * (2e-3 / 5)) - 1) < 1e-12);
        gv_profile_set_free(&set);
    }
    /* never more than there is room for: what is there stays, the slowest, which may be the default, as well */
    late.n_results = GV_PROFILE_RESULTS - 1;
    for (int r = 1; r < late.n_results; r++) {
        late.result[r] = late.result[0];
        sprintf(late.result[r].configuration, "size=%d", 10 + r);
        late.result[r].time_s = 10 + r;
    }
    assert_ok(gv_profile_set_add(&set, &device, &late));
    make_entry(&early, "sp2", 1, 100, "size=100");
    early.n_results = 3;
    for (int r = 0; r < early.n_results; r++) {
        early.result[r] = early.result[0];
        sprintf(early.result[r].configuration, "size=%d", 100 + r);
        early.result[r].time_s = 5 + r;
    }
    assert_ok(gv_profile_set_add(&set, &device, &early));
    const gv_profile_entry *joined = &set.block[0].entry[0];
    assert_int_equal(joined->n_results, GV_PROFILE_RESULTS);
    assert_string_equal(joined->result[0].configuration, "size=2");
    assert_string_equal(joined->result[1].configuration, "size=100");
    assert_string_equal(joined->result[GV_PROFILE_RESULTS - 1].configuration, "size=16");
    gv_profile_set_free(&set);
}

enum { WRITERS = 4, ENTRIES = 12 };

/* Processes, as tuners are; each saves one entry after the other. */
static void write_entries(const char *folder, int writer)
{
    for (int k = 0; k < ENTRIES; k++) {
        gv_profile_set set = GV_PROFILE_SET_INIT;
        gv_profile_device device;
        gv_profile_entry entry;
        char path[1024];

        make_device(&device, "Shared (R) Device  ", 4);
        make_entry(&entry, "sp2", 1, 100, "size=1");
        entry.features = (unsigned)(writer * ENTRIES + k);
        if (gv_profile_set_add(&set, &device, &entry) != GRAVEL_OK ||
            gv_profile_save(folder, &set, path, sizeof path) != GRAVEL_OK)
            _exit(1);
        gv_profile_set_free(&set);
    }
    _exit(0);
}

static void test_two_tuners_lose_nothing(void **state)
{
    char *folder = make_folder();
    gv_profile_set set = GV_PROFILE_SET_INIT;
    pid_t pid[WRITERS];

    (void)state;
    for (int w = 0; w < WRITERS; w++) {
        pid[w] = fork();
        if (pid[w] == 0)
            write_entries(folder, w);
        assert_true(pid[w] > 0);
    }
    for (int w = 0; w < WRITERS; w++) {
        int code = 1;

        assert_int_equal(waitpid(pid[w], &code, 0), pid[w]);
        assert_int_equal(code, 0);
    }
    assert_ok(gv_profile_read_dir(folder, &set, NULL, NULL));
    assert_int_equal(set.n_blocks, 1);
    assert_int_equal(set.block[0].n_entries, WRITERS * ENTRIES);
    gv_profile_set_free(&set);
    remove_folder(folder);
    free(folder);
}

static void test_damaged_file_is_moved_aside(void **state)
{
    char *folder = make_folder(), *aside;
    gv_profile_set set = GV_PROFILE_SET_INIT, back = GV_PROFILE_SET_INIT;
    char name[128], path[1024];

    (void)state;
    add(&set, "d", 1, "sp2", 1, "size=1");
    gv_profile_file_name(&set.block[0].device, name);
    write_text(folder, name, "{\"format\":");
    assert_ok(gv_profile_save(folder, &set, path, sizeof path));
    assert_ok(gv_profile_read_file(path, &back));
    aside = gv_format("%s.damaged", path);
    assert_int_equal(access(aside, F_OK), 0);
    free(aside);
    gv_profile_set_free(&set);
    gv_profile_set_free(&back);
    remove_folder(folder);
    free(folder);
}

/* A file of a newer gravel is not damaged: it stays as it is, which is reported before anything is tuned. */
static void test_newer_file_stays(void **state)
{
    static const char newer[] = "{\"format\":\"gravel-profile\",\"schema\":2,\"more\":[1]}";
    char *folder = make_folder(), *file, *text;
    gv_profile_set set = GV_PROFILE_SET_INIT;
    char name[128], path[1024];

    (void)state;
    add(&set, "d", 1, "sp2", 1, "size=1");
    gv_profile_file_name(&set.block[0].device, name);
    assert_ok(gv_profile_may_save(folder, &set.block[0].device));
    write_text(folder, name, "{\"format\":"); /* damaged: it would be moved aside */
    assert_ok(gv_profile_may_save(folder, &set.block[0].device));
    write_text(folder, name, newer);
    assert_int_equal(gv_profile_may_save(folder, &set.block[0].device), GRAVEL_ERR_UNSUPPORTED);
    assert_int_equal(gv_profile_save(folder, &set, path, sizeof path), GRAVEL_ERR_UNSUPPORTED);
    assert_contains(gravel_error_message(), "newer gravel");
    file = gv_path_join(folder, name);
    assert_ok(gv_file_read(file, 1000, &text, NULL));
    assert_string_equal(text, newer);
    assert_int_equal(count_files(folder, "", NULL), 1); /* not moved aside */
    free(text);
    free(file);
    gv_profile_set_free(&set);
    remove_folder(folder);
    free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_have_one_key),
        cmocka_unit_test(test_names_hostile),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_print_and_parse_agree),
        cmocka_unit_test(test_full_profiles_are_read),
        cmocka_unit_test(test_texts_are_cut),
        cmocka_unit_test(test_shipped_parts_make_the_whole),
        cmocka_unit_test(test_shipped_of_alike_devices),
        cmocka_unit_test(test_refused_whole),
        cmocka_unit_test(test_refused_entries),
        cmocka_unit_test(test_refused_sizes),
        cmocka_unit_test(test_damaged_bytes),
        cmocka_unit_test(test_huge_file_is_refused),
        cmocka_unit_test(test_folder_skips_what_is_refused),
        cmocka_unit_test(test_join_keeps_both),
        cmocka_unit_test(test_two_tuners_lose_nothing),
        cmocka_unit_test(test_damaged_file_is_moved_aside),
        cmocka_unit_test(test_newer_file_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
