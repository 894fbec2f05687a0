/* The choice for a call on fake devices: its origin, its messages, its cost. */
#include "host_test.h"

#include <math.h>
#include <time.h>

#include "host/direct/plan.h"
#include "host/profile/store.h"

static void make_context(gravel_context *context, gv_device *device, char *profile_dir, test_log *log)
{
    memset(context, 0, sizeof *context);
    memset(device, 0, sizeof *device);
    memset(log, 0, sizeof *log);
    device->info.type = GRAVEL_DEVICE_GPU;
    strcpy(device->info.name, "Fake (R) GPU 9000  ");
    strcpy(device->info.vendor, "Nobody");
    strcpy(device->info.platform, "None");
    strcpy(device->info.driver, "1.0");
    device->info.compute_units = 10;
    device->info.max_group = 1024;
    device->info.local_memory = 65536;
    device->info.has_fp64 = device->info.simd_width_float = device->info.simd_width_double = 1;
    context->n_devices = 1;
    context->device = device;
    context->profile_dir = profile_dir;
    context->log = log_into;
    context->log_user = log;
}

/* A configuration that differs from the built-in default and passes the constraints; for all sinks of the bucket. */
static void make_entry(const gv_device *device, const char *variant_name, size_t sinks, gv_profile_entry *entry,
                       gv_config *config)
{
    const gv_limits limits = {.info = device->info};
    gv_variant variant;

    assert_true(gv_variant_parse(variant_name, &variant));
    gv_direct_space.built_in(config, &variant, &limits, sinks, 131072);
    config->value[gv_space_index(&gv_direct_space, "blocks_per_cu")] = 3;
    config->value[gv_space_index(&gv_direct_space, "unroll")] = 2; /* not the default, whatever is launched */
    assert_null(gv_space_check(&gv_direct_space, config, &variant, &limits));
    memset(entry, 0, sizeof *entry);
    strcpy(entry->kernel, "direct");
    strcpy(entry->variant, variant_name);
    strcpy(entry->driver, "1.0");
    entry->sinks = sinks;
    entry->sources = 131072;
    entry->sink_bucket = gv_sink_bucket(sinks);
    entry->source_bucket = gv_source_bucket(131072);
    entry->n_results = 1;
    gv_space_format(&gv_direct_space, config, entry->result[0].configuration, GV_PROFILE_TEXT);
    entry->result[0].time_s = entry->result[0].time_min_s = 1;
}

/* A fake device, its folder of profiles and a set to fill. */
typedef struct fake {
    char *folder;
    gravel_context context;
    gv_device device;
    test_log log;
    gv_profile_set set;
    gv_profile_device identity;
} fake;

static void begin(fake *f)
{
    f->folder = make_folder();
    f->set = (gv_profile_set)GV_PROFILE_SET_INIT;
    make_context(&f->context, &f->device, f->folder, &f->log);
    gv_profile_device_of(&f->device.info, &f->identity);
}

static void end(fake *f)
{
    gv_profile_release(&f->context);
    gv_profile_set_free(&f->set);
    remove_folder(f->folder);
    free(f->folder);
}

static void test_users_profile_is_used(void **state)
{
    fake f;
    char path[1024];
    gv_profile_entry entry;
    gv_config wanted, got;
    gravel_origin origin;
    gv_variant variant;

    (void)state;
    begin(&f);
    make_entry(&f.device, "ds4", 1024, &entry, &wanted);
    assert_ok(gv_profile_set_add(&f.set, &f.identity, &entry));
    assert_ok(gv_profile_save(f.folder, &f.set, path, sizeof path));
    assert_true(gv_variant_parse("ds4", &variant));
    /* 40000 sources, here and below: of a question with more than four times as many nothing replaces the default */
    assert_ok(gv_profile_choose(&f.context, 0, &gv_direct_space, &variant, 5000, 40000, &got, &origin));
    assert_int_equal(origin, GRAVEL_ORIGIN_USER);
    assert_memory_equal(&got, &wanted, sizeof got);
    assert_int_equal(f.log.lines, 0);
    /* nothing for one sink: built in, and the advice is given once only */
    for (int k = 0; k < 3; k++) {
        assert_ok(gv_profile_choose(&f.context, 0, &gv_direct_space, &variant, 1, 40000, &got, &origin));
        assert_true(origin > GRAVEL_ORIGIN_SHIPPED);
        assert_ok(gv_profile_choose(&f.context, 0, &gv_direct_space, &variant, 100, 40000, &got, &origin));
    }
    assert_int_equal(f.log.lines, 1);
    assert_contains(f.log.text, "gravel tune");
    end(&f);
}

static void test_bad_file_warns_and_the_next_level_answers(void **state)
{
    fake f;
    gv_config got, built_in;
    gravel_origin origin;
    gv_variant variant;

    (void)state;
    begin(&f);
    write_text(f.folder, "bad.json", "{\"format\": \"gravel-profile\", \"schema\": 7, \"devices\": []}");
    assert_true(gv_variant_parse("sp2", &variant));
    assert_ok(gv_profile_choose(&f.context, 0, &gv_direct_space, &variant, 1024, 1024, &got, &origin));
    assert_true(origin > GRAVEL_ORIGIN_SHIPPED);
    assert_int_equal(f.log.warnings, 1);
    assert_contains(f.log.text, "bad.json");
    assert_contains(f.log.text, "newer gravel");
    /* the files are not read again */
    assert_ok(gv_profile_choose(&f.context, 0, &gv_direct_space, &variant, 1, 1024, &built_in, &origin));
    assert_int_equal(f.log.warnings, 1);
    end(&f);
}

static void test_values_of_no_tunable_are_told(void **state)
{
    fake f;
    char path[1024];
    gv_profile_entry entry;
    gv_config wanted, got;
    gravel_origin origin;
    gv_variant variant;

    (void)state;
    begin(&f);
    make_entry(&f.device, "ds4", 1024, &entry, &wanted);
    entry.result[entry.n_results++] = entry.result[0];
    strcpy(entry.result[0].configuration, "threads=-1");
    assert_ok(gv_profile_set_add(&f.set, &f.identity, &entry));
    entry.n_results = 1;
    strcpy(entry.variant, "sp2");
    strcpy(entry.result[0].configuration, "treads=64");
    assert_ok(gv_profile_set_add(&f.set, &f.identity, &entry));
    assert_ok(gv_profile_save(f.folder, &f.set, path, sizeof path));
    assert_true(gv_variant_parse("ds4", &variant));
    assert_ok(gv_profile_choose(&f.context, 0, &gv_direct_space, &variant, 5000, 40000, &got, &origin));
    assert_int_equal(origin, GRAVEL_ORIGIN_USER);
    assert_memory_equal(&got, &wanted, sizeof got);
    assert_int_equal(f.log.warnings, 1);
    assert_contains(f.log.text, "results left out: 2");
    assert_contains(f.log.text, "threads=-1");
    assert_true(gv_variant_parse("sp2", &variant));
    assert_ok(gv_profile_choose(&f.context, 0, &gv_direct_space, &variant, 5000, 40000, &got, &origin));
    assert_true(origin > GRAVEL_ORIGIN_SHIPPED);
    assert_int_equal(f.log.warnings, 1);
    gv_profile_set_check(&f.set, &gv_direct_space, NULL, NULL);
    assert_int_equal(f.set.block[0].n_entries, 1);
    assert_int_equal(f.set.block[0].entry[0].n_results, 1);
    end(&f);
}

/* The first question reads the files; later ones are answered as before when these are gone. */
static void test_files_are_read_once(void **state)
{
    fake f;
    char path[1024];
    gv_profile_entry entry;
    gv_config wanted[9], got;
    gravel_origin origin;
    gv_variant variant[9];

    (void)state;
    begin(&f);
    for (int k = 0; k < 9; k++) {
        gv_variant_set(&variant[k], 2 + k % 3 * 2, (gravel_precision)(k / 3), 0);
        make_entry(&f.device, variant[k].name, 1024, &entry, &wanted[k]);
        assert_ok(gv_profile_set_add(&f.set, &f.identity, &entry));
    }
    assert_ok(gv_profile_save(f.folder, &f.set, path, sizeof path));
    assert_ok(gv_profile_choose(&f.context, 0, &gv_direct_space, &variant[0], 5000, 40000, &got, &origin));
    assert_int_equal(unlink(path), 0);
    for (int k = 0; k < 9000; k++) {
        assert_ok(gv_profile_choose(&f.context, 0, &gv_direct_space, &variant[k % 9], (size_t)(1024 + k % 4096), 40000,
                                    &got, &origin));
        assert_int_equal(origin, GRAVEL_ORIGIN_USER);
        assert_memory_equal(&got, &wanted[k % 9], sizeof got);
    }
    end(&f);
}

/* What comes with the library is never refused, its configurations pass the constraints of their own devices, and a
 * device's own file, which is read first, holds all that is shipped for it. */
static void count_refused(const char *message, void *user)
{
    print_message("%s\n", message);
    ++*(int *)user;
}

static void test_shipped_profiles_are_sound(void **state)
{
    gv_profile_set set = GV_PROFILE_SET_INIT;
    int refused = 0;

    (void)state;
    assert_ok(gv_profile_read_shipped(NULL, NULL, &set, count_refused, &refused));
    assert_int_equal(refused, 0);
    for (int b = 0; b < set.n_blocks; b++) {
        gv_profile_set own = GV_PROFILE_SET_INIT;

        assert_ok(gv_profile_read_shipped(&set.block[b].device, NULL, &own, count_refused, &refused));
        assert_int_equal(own.n_blocks, 1);
        assert_true(gv_profile_same_device(&own.block[0].device, &set.block[b].device));
        assert_int_equal(own.block[0].n_entries, set.block[b].n_entries);
        gv_profile_set_free(&own);
        for (int e = 0; e < set.block[b].n_entries; e++) {
            const gv_profile_entry *entry = &set.block[b].entry[e];
            gv_config config;

            if (strcmp(entry->kernel, "direct") == 0) {
                memset(&config, 0, sizeof config);
                assert_ok(gv_space_parse(&gv_direct_space, entry->result[0].configuration, &config));
            }
        }
    }
    gv_profile_set_free(&set);
}

static int count_type(const gv_profile_set *set, gravel_device_type type)
{
    int n = 0;

    for (int b = 0; b < set->n_blocks; b++)
        n += set->block[b].device.type == type;
    return n;
}

/* Of one type only what is of that type, and all of it. */
static void test_shipped_profiles_of_one_type(void **state)
{
    static const gravel_device_type type[] = {GRAVEL_DEVICE_CPU, GRAVEL_DEVICE_GPU, GRAVEL_DEVICE_ACCELERATOR};
    gv_profile_set all = GV_PROFILE_SET_INIT;
    int refused = 0, n = 0;

    (void)state;
    assert_ok(gv_profile_read_shipped(NULL, NULL, &all, count_refused, &refused));
    for (size_t t = 0; t < sizeof type / sizeof type[0]; t++) {
        gv_profile_set set = GV_PROFILE_SET_INIT;

        assert_ok(gv_profile_read_shipped_type(type[t], NULL, &set, count_refused, &refused));
        assert_int_equal(set.n_blocks, count_type(&set, type[t]));
        assert_int_equal(set.n_blocks, count_type(&all, type[t]));
        n += set.n_blocks;
        gv_profile_set_free(&set);
    }
    assert_int_equal(n, all.n_blocks);
    assert_int_equal(refused, 0);
    gv_profile_set_free(&all);
}

/* Every third result as an earlier version wrote it, which had no tunable "prefetch". */
static void forget_names(gv_profile_set *set)
{
    int n = 0;

    for (int b = 0; b < set->n_blocks; b++)
        for (int e = 0; e < set->block[b].n_entries; e++)
            for (int r = 0; r < set->block[b].entry[e].n_results; r++) {
                char *const at = strstr(set->block[b].entry[e].result[r].configuration, " prefetch=0");

                if (at && n++ % 3 == 0)
                    *at = '\0';
            }
    assert_true(n > 3000);
}

/* Configurations that were read once are compared as their texts are. */
static void test_choices_are_those_of_texts(void **state)
{
    static const size_t sinks[] = {3, 24, 300, 2000, 40000}, sources[] = {3000, 90000, 700000};
    static const gv_profile_about about = {"direct", "ds4"};
    gv_profile_set set = GV_PROFILE_SET_INIT;
    gv_config by_text[15], config;
    gv_variant variant;
    gv_limits limits;
    int n = 0;

    (void)state;
    memset(&limits, 0, sizeof limits);
    assert_true(gv_variant_parse("ds4", &variant));
    assert_ok(gv_profile_read_shipped_type(GRAVEL_DEVICE_GPU, &about, &set, NULL, NULL));
    forget_names(&set);
    const gv_profile_device *device = &set.block[0].device;
    strcpy(limits.info.name, device->name);
    strcpy(limits.info.vendor, device->vendor);
    strcpy(limits.info.platform, device->platform);
    limits.info.type = GRAVEL_DEVICE_GPU;
    limits.info.compute_units = device->compute_units;
    limits.info.simd_width_float = limits.info.simd_width_double = limits.info.has_fp64 = 1;
    limits.info.max_group = 1024;
    limits.info.local_memory = 49152;
    for (int is_read = 0; is_read < 2; is_read++) {
        for (int k = 0; k < 15; k++) {
            const gv_profile_question question = {&gv_direct_space, &variant,      &limits, "",
                                                  sinks[k % 5],     sources[k / 5]};
            gravel_origin origin;

            variant.features = k % 2 ? GV_DIRECT_NEAREST : 0;
            assert_true(gv_profile_look_up(NULL, &set, &question, is_read ? &config : &by_text[k], &origin, NULL));
            assert_int_equal(origin, GRAVEL_ORIGIN_SHIPPED);
            if (is_read)
                assert_memory_equal(&config, &by_text[k], sizeof config);
            n += k > 0 && memcmp(&by_text[k], &by_text[k - 1], sizeof config) != 0;
        }
        gv_profile_set_check(&set, &gv_direct_space, NULL, NULL);
    }
    assert_true(n > 10); /* of 28 that follow another one */
    gv_profile_set_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_users_profile_is_used),
        cmocka_unit_test(test_bad_file_warns_and_the_next_level_answers),
        cmocka_unit_test(test_values_of_no_tunable_are_told),
        cmocka_unit_test(test_files_are_read_once),
        cmocka_unit_test(test_shipped_profiles_are_sound),
        cmocka_unit_test(test_shipped_profiles_of_one_type),
        cmocka_unit_test(test_choices_are_those_of_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
