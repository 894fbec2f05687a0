/* src/host/device/device.c, select.c, features.c */
#include "host_test.h"

#include "host/device/device.h"

/* ------------------------------------------------ selection, on made-up lists */

static gravel_device_info fake(int index, gravel_device_type type, const char *name, const char *platform, int units)
{
    gravel_device_info info;

    memset(&info, 0, sizeof info);
    info.index = index;
    info.type = type;
    info.compute_units = units;
    info.clock_mhz = 1000;
    snprintf(info.name, sizeof info.name, "%s", name);
    snprintf(info.platform, sizeof info.platform, "%s", platform);
    return info;
}

enum { N_FAKE = 6 };

static void make_list(gravel_device_info list[N_FAKE])
{
    list[0] = fake(0, GRAVEL_DEVICE_GPU, "Small GPU (rev: 2)", "Alpha", 10);
    list[1] = fake(1, GRAVEL_DEVICE_GPU, "Big GPU", "Alpha", 100);
    list[2] = fake(2, GRAVEL_DEVICE_GPU, "Big GPU", "Alpha", 100);
    list[3] = fake(3, GRAVEL_DEVICE_ACCELERATOR, "Card", "Beta", 1000);
    list[4] = fake(4, GRAVEL_DEVICE_CPU, "Host CPU @ 3GHz", "Gamma", 8);
    list[5] = fake(5, GRAVEL_DEVICE_CPU, "Odd:4", "Gamma", 6);
}

/* "1", "4/2" (a part of 2 units), joined by commas; or the name of the status */
static void expect(const char *selection, const char *outcome)
{
    gravel_device_info list[N_FAKE];
    gv_choice choice[GV_MAX_CHOICES];
    char text[1024] = "";
    int n;

    make_list(list);
    gravel_status status = gv_device_select(selection, list, N_FAKE, choice, &n);
    for (int i = 0; status == GRAVEL_OK && i < n; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, choice[i].compute_units ? "%s%d/%d" : "%s%d", i ? "," : "",
                 choice[i].index, choice[i].compute_units);
    }
    if (status != GRAVEL_OK)
        snprintf(text, sizeof text, "%s", gravel_status_name(status));
    if (strcmp(text, outcome) != 0)
        fail_msg("selection '%s' gives %s, not %s", selection ? selection : "(null)", text, outcome);
}

static void selection(void **state)
{
    (void)state;
    expect(NULL, "1"); /* the largest GPU, the first of equals */
    expect("0", "0");
    expect("gpu", "1");
    expect("GPU", "1");
    expect("Cpu", "4");
    expect("accelerator", "3");
    expect("big", "1");
    expect("small gpu", "0");
    expect(" card ", "3");
    expect("gpu,gpu,gpu", "1,2,0");
    expect("2,gpu", "2,1");
    expect("big,0", "1,0");
    expect("(rev: 2)", "0");
    expect("cpu:4", "4/4");
    expect("cpu:8", "4");
    expect("4:2,cpu:3,cpu:3", "4/2,4/3,4/3"); /* three parts of one device */
    expect("odd:4", "5");                     /* a name before a number of units */
    expect("odd:4:4", "5/4");
}

static void selection_refused(void **state)
{
    (void)state;
    expect("6", "ERR_NO_DEVICE");
    expect("99999999999999999999", "ERR_NO_DEVICE");
    expect("-1", "ERR_NO_DEVICE");
    expect("nothing like it", "ERR_NO_DEVICE");
    assert_contains(gravel_error_message(), "device 'nothing like it'");
    assert_contains(gravel_error_message(), "1: Big GPU (gpu, Alpha)");
    assert_contains(gravel_error_message(), "5: Odd:4 (cpu, Gamma)");
    expect("", "ERR_NO_DEVICE");
    expect("gpu,,cpu", "ERR_NO_DEVICE");
    expect("gpu,gpu,gpu,gpu", "ERR_NO_DEVICE");
    expect("1,1", "ERR_ARGUMENT");
    expect("4,4:2", "ERR_ARGUMENT");
    expect("4:2,4", "ERR_ARGUMENT");
    expect("4:0", "ERR_ARGUMENT");
    expect("cpu:9", "ERR_ARGUMENT");
    assert_contains(gravel_error_message(), "8 compute units");
    expect("4:99999999999", "ERR_ARGUMENT");
    expect("4:5,4:4", "ERR_ARGUMENT");
    expect("gpu,cpu", "ERR_ARGUMENT"); /* two platforms */
    assert_contains(gravel_error_message(), "one platform");
}

static void selection_of_long_names(void **state)
{
    gravel_device_info list[1];
    gv_choice choice[GV_MAX_CHOICES];
    char name[GRAVEL_NAME_SIZE], many[4 * GV_MAX_CHOICES + 16] = "";
    int n;

    (void)state;
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    list[0] = fake(0, GRAVEL_DEVICE_CPU, name, name, 1000);
    assert_ok(gv_device_select("nnn", list, 1, choice, &n));
    assert_int_equal(gv_device_select("other", list, 1, choice, &n), GRAVEL_ERR_NO_DEVICE);
    assert_contains(gravel_error_message(), name);
    for (int i = 0; i <= GV_MAX_CHOICES; i++)
        strcat(many, i ? ",0:1" : "0:1");
    assert_int_equal(gv_device_select(many, list, 1, choice, &n), GRAVEL_ERR_ARGUMENT);
    assert_contains(gravel_error_message(), "more than");
}

/* ------------------------------------------------------------- what is there */

static void list_of_this_machine(void **state)
{
    gravel_device_info *list, *again;
    int count, count_again;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    assert_ok(gravel_device_list(&list, &count));
    assert_true(count >= 1);
    for (int i = 0; i < count; i++) {
        const gravel_device_info *d = &list[i];
        assert_int_equal(d->index, i);
        assert_true(d->name[0] != '\0' && d->name[0] != ' ' && d->name[strlen(d->name) - 1] != ' ');
        assert_true(d->compute_units >= 1 && d->max_group >= 1);
        assert_true(d->global_memory > 0 && d->max_allocation > 0 && d->max_allocation <= d->global_memory);
        assert_true(d->local_memory >= 1024);
        assert_true(d->simd_width_float == 1 || d->type == GRAVEL_DEVICE_CPU);
        assert_true(d->has_fp64 ? d->simd_width_double >= 1 : d->simd_width_double == 0);
        assert_true(i == 0 || d->type != GRAVEL_DEVICE_GPU || list[i - 1].type == GRAVEL_DEVICE_GPU);
    }
    assert_ok(gravel_device_list(&again, &count_again));
    assert_int_equal(count, count_again);
    assert_memory_equal(list, again, (size_t)count * sizeof *list);
    gravel_device_list_free(list);
    gravel_device_list_free(again);
    gravel_device_list_free(NULL);
    assert_int_equal(gravel_device_list(NULL, &count), GRAVEL_ERR_ARGUMENT);
    assert_int_equal(gravel_device_list(&list, NULL), GRAVEL_ERR_ARGUMENT);
}

/* A context on an x86 CPU uses the lanes that the processor has. */
static void simd_width(void **state)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_context *context;

    (void)state;
    SKIP_WITHOUT_DEVICE();
#if defined(__x86_64__)
    options.device = "cpu";
    if (gravel_context_create(&context, &options) != GRAVEL_OK) {
        print_message("skipped: no CPU among the devices\n");
        skip();
    }
    const gravel_device_info *info = gravel_context_get_device(context, 0);
    int lanes = __builtin_cpu_supports("avx512f") ? 16 : __builtin_cpu_supports("avx") ? 8 : 4;
    assert_int_equal(info->simd_width_float, lanes);
    assert_int_equal(info->simd_width_double, info->has_fp64 ? lanes / 2 : 0);
    gravel_context_release(context);
#else
    (void)options;
    (void)context;
    print_message("skipped: for x86 processors only\n");
    skip();
#endif
}

/* The OpenCL loader reads its folders once per process, so these run in new ones: this program with a word. */
static int run_self(const char *vendors, const char *word)
{
    pid_t child = fork();
    int how;

    assert_true(child >= 0);
    if (child == 0) {
        setenv("OCL_ICD_VENDORS", vendors, 1); /* ocl-icd */
        setenv("OCL_ICD_FILENAMES", "", 1);    /* the Khronos loader */
        execl("/proc/self/exe", "test_device", word, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    return WEXITSTATUS(how);
}

static int no_platform(void)
{
    gravel_device_info *list = NULL;
    gravel_context *context;
    int count = 7;

    if (gravel_device_list(&list, &count) != GRAVEL_ERR_NO_PLATFORM || list || count != 0)
        return 1;
    if (!strstr(gravel_error_message(), "apt-get install pocl-opencl-icd"))
        return 2;
    return gravel_context_create(&context, NULL) == GRAVEL_ERR_NO_PLATFORM && !context ? 0 : 3;
}

static void without_platform(void **state)
{
    char *folder = make_folder();

    (void)state;
    assert_int_equal(run_self(folder, "no-platform"), 0);
    remove_folder(folder);
    free(folder);
}

static int count_devices(void)
{
    gravel_device_info *list;
    int count;

    if (gravel_device_list(&list, &count) != GRAVEL_OK)
        return 0;
    gravel_device_list_free(list);
    return count;
}

/* Drivers that cannot be loaded cost only themselves. */
static void broken_platform(void **state)
{
    char *folder = make_folder(), *text;

    (void)state;
    if (gv_file_read("/etc/OpenCL/vendors/pocl.icd", 4096, &text, NULL) != GRAVEL_OK) {
        print_message("skipped: needs /etc/OpenCL/vendors/pocl.icd to put a broken driver beside it\n");
        free(folder);
        skip();
    }
    write_text(folder, "pocl.icd", text);
    int healthy = run_self(folder, "count");
    assert_true(healthy >= 1);
    write_text(folder, "aaa.icd", "/nonexistent/libOpenCL-broken.so\n");
    write_text(folder, "zzz.icd", "libm.so.6\n"); /* a library that is no OpenCL driver */
    assert_int_equal(run_self(folder, "count"), healthy);
    free(text);
    remove_folder(folder);
    free(folder);
}

/* --------------------------------------------------------------- features */

static void features_are_found_and_kept(void **state)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_context *first, *second;
    char *folder = make_folder(), *path = NULL;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    options.cache_dir = folder;
    assert_ok(gravel_context_create(&first, &options));
    assert_int_equal(count_files(folder, "features-", &path), 1);
    const gv_device *d = &first->device[0];
    assert_int_equal(strstr(d->feature_options, "GV_HAVE_FP64=1") != NULL, d->info.has_fp64);
    assert_int_equal(strstr(d->feature_options, "GV_FAST_FMA=1") != NULL, d->fast_fma);
    assert_int_equal(strstr(d->feature_options, "GV_PTX_ASM=1") != NULL, d->has_ptx_asm);
    assert_int_equal(strstr(d->feature_options, "GV_RSQRT14=1") != NULL, d->has_rsqrt14);
    assert_int_equal(strstr(d->feature_options, "GV_RSQRT12=1") != NULL, d->has_rsqrt12);
    /* as the driver reports it: the width that is used is measured, and busy cores may make another one faster */
    cl_uint native = 0;
    clGetDeviceInfo(d->id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof native, &native, NULL);
    assert_false(d->has_rsqrt14 && native < 16);
    /* from the file, and from a damaged file */
    assert_ok(gravel_context_create(&second, &options));
    assert_string_equal(second->device[0].feature_options, d->feature_options);
    gravel_context_release(second);
    assert_ok(gv_file_write(path, "damaged", 7));
    assert_ok(gravel_context_create(&second, &options));
    assert_string_equal(second->device[0].feature_options, d->feature_options);
    gravel_context_release(second);
    gravel_context_release(first);
    free(path);
    remove_folder(folder);
    free(folder);
}

static void groups_fit_the_device(void **state)
{
    gravel_device_info info = {.max_group = 64};
    (void)state;
    assert_int_equal(gv_device_group(&info, 256), 64);
    assert_int_equal(gv_device_group(&info, 64), 64);
    assert_int_equal(gv_device_group(&info, 32), 32);
    info.max_group = 100; /* no power of two */
    assert_int_equal(gv_device_group(&info, 256), 64);
    info.max_group = 1;
    assert_int_equal(gv_device_group(&info, 256), 1);
}

static void fp64_can_be_hidden(void **state)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_context *context;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    options.no_fp64 = 1;
    assert_ok(gravel_context_create(&context, &options));
    assert_int_equal(context->device[0].info.has_fp64, 0);
    assert_int_equal(context->device[0].info.simd_width_double, 0);
    assert_null(strstr(context->device[0].feature_options, "FP64"));
    gravel_context_release(context);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selection),
        cmocka_unit_test(selection_refused),
        cmocka_unit_test(selection_of_long_names),
        cmocka_unit_test(without_platform),
        cmocka_unit_test(broken_platform),
        cmocka_unit_test(list_of_this_machine),
        cmocka_unit_test(simd_width),
        cmocka_unit_test(features_are_found_and_kept),
        cmocka_unit_test(groups_fit_the_device),
        cmocka_unit_test(fp64_can_be_hidden),
    };

    if (argc > 1)
        return strcmp(argv[1], "no-platform") == 0 ? no_platform() : count_devices();
    return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
