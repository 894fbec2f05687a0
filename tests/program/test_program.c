/* src/host/program/source.c and program.c */
#include "host_test.h"

#include "host/base/kernels.h"
#include "host/program/program.h"

static gravel_context *open_context(const char *kernels, const char *cache, test_log *log)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_context *context;

    options.kernel_dir = kernels;
    options.cache_dir = cache;
    options.log = log ? log_into : NULL;
    options.log_user = log;
    assert_ok(gravel_context_create(&context, &options));
    for (int i = 0; i < context->n_devices; i++)
        context->device[i].driver_caches = 0; /* binaries at once, also on PoCL (but binaries_that_pay) */
    return context;
}

/* ------------------------------------------------------------------ includes */

static char *flatten(const char *folder, const char *file)
{
    char *text;

    assert_ok(gv_source_flatten(folder, file, &text));
    return text;
}

static void includes(void **state)
{
    char *folder = make_folder(), *inner = gv_path_join(folder, "lib"), *text;

    (void)state;
    assert_ok(gv_folder_make(inner));
    /* no newline at the end */
    write_text(folder, "main.cl", "first\n#include \"lib/a.h\"\n  # include \"lib/b.h\"\nlast");
    write_text(inner, "a.h", "in a\n#include \"lib/b.h\"\nend of a\n");
    write_text(inner, "b.h", "in b\n");
    text = flatten(folder, "main.cl");
    assert_string_equal(text, "#line 1 \"main.cl\"\nfirst\n"
                              "#line 1 \"lib/a.h\"\nin a\n"
                              "#line 1 \"lib/b.h\"\nin b\n"
                              "#line 3 \"lib/a.h\"\nend of a\n"
                              "#line 3 \"main.cl\"\n" /* b.h a second time: nothing */
                              "#line 4 \"main.cl\"\nlast\n");
    free(text);
    write_text(folder, "empty.cl", "");
    text = flatten(folder, "empty.cl");
    assert_string_equal(text, "#line 1 \"empty.cl\"\n");
    free(text);
    free(inner);
    remove_folder(folder);
    free(folder);
}

static void expect_refused(const char *folder, const char *file, const char *part)
{
    char *text = (char *)1;

    assert_int_equal(gv_source_flatten(folder, file, &text), GRAVEL_ERR_FILE);
    assert_null(text);
    assert_contains(gravel_error_message(), part);
}

static void includes_refused(void **state)
{
    char *folder = make_folder();

    (void)state;
    write_text(folder, "missing.cl", "\n\n#include \"nowhere.h\"\n");
    expect_refused(folder, "missing.cl", "kernels/missing.cl:3: include of \"nowhere.h\"");
    write_text(folder, "loop.cl", "#include \"loop2.h\"\n");
    write_text(folder, "loop2.h", "x\n#include \"loop.cl\"\n");
    expect_refused(folder, "loop.cl", "kernels/loop2.h:2: include of \"loop.cl\": the file includes itself");
    write_text(folder, "self.cl", "#include \"self.cl\"\n");
    expect_refused(folder, "self.cl", "kernels/self.cl:1: ");
    write_text(folder, "system.cl", "x\n#include <math.h>\n");
    expect_refused(folder, "system.cl", "kernels/system.cl:2: ");
    write_text(folder, "open.cl", "#include \"half\n");
    expect_refused(folder, "open.cl", "kernels/open.cl:1: ");
    write_text(folder, "climb.cl", "#include \"../secret\"\n");
    expect_refused(folder, "climb.cl", "kernels/climb.cl:1: ");
    expect_refused(folder, "/etc/passwd", "/etc/passwd");
    expect_refused(folder, "", "not the name");
    expect_refused(folder, "absent.cl", "absent.cl");
    expect_refused(NULL, "absent.cl", "there is no such kernel file");
    remove_folder(folder);
    free(folder);
}

static void chain_of_many_includes(void **state)
{
    char *folder = make_folder();

    (void)state;
    for (int i = 0; i < 40; i++) {
        char *name = gv_format("c%d.h", i), *text = gv_format("#include \"c%d.h\"\n", i + 1);
        write_text(folder, name, text);
        free(name);
        free(text);
    }
    expect_refused(folder, "c0.h", "too many includes");
    remove_folder(folder);
    free(folder);
}

/* Every kernel file there is can be flattened, and no two have the same digest: a digest that does not depend on the
 * text would let stale binaries be used. */
static void versions_differ(void **state)
{
    gravel_context context;
    char(*digest)[17] = calloc((size_t)gv_kernel_file_count, sizeof *digest);

    (void)state;
    memset(&context, 0, sizeof context);
    assert_true(gv_kernel_file_count > 3);
    for (int i = 0; i < gv_kernel_file_count; i++) {
        assert_ok(gv_program_version(&context, gv_kernel_files[i].name, digest[i]));
        assert_int_equal(strlen(digest[i]), 16);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(digest[i], digest[k]);
    }
    free(digest);
}

/* ------------------------------------------------------------------- builds */

static int run_number(gravel_context *context, cl_program program)
{
    const size_t one = 1;
    cl_int number = -1, code;

    cl_kernel kernel = clCreateKernel(program, "number", &code);
    assert_int_equal(code, CL_SUCCESS);
    cl_mem buffer = clCreateBuffer(context->cl, CL_MEM_READ_WRITE, sizeof number, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    cl_command_queue queue = context->device[0].timed;
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof number, &number, 0, NULL, NULL), CL_SUCCESS);
    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
    return number;
}

static int get_number(gravel_context *context, const char *options)
{
    cl_program program;

    assert_ok(gv_program_get(context, 0, "number.cl", options, &program));
    return run_number(context, program);
}

#define NUMBER_KERNEL                                                                                                  \
    "#include \"value.h\"\n"                                                                                           \
    "#ifndef EXTRA\n#define EXTRA 0\n#endif\n"                                                                         \
    "__attribute__((reqd_work_group_size(1, 1, 1))) kernel void number(global int *out) { out[0] = VALUE + EXTRA; }\n"

/* Edits of an included file, and options, change the program; the same request gives the same program. */
static void edits_and_options(void **state)
{
    char *kernels = make_folder(), *cache = make_folder();
    char before[17], after[17];
    cl_program program, again;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    write_text(kernels, "number.cl", NUMBER_KERNEL);
    write_text(kernels, "value.h", "#define VALUE 41\n");
    gravel_context *context = open_context(kernels, cache, NULL);
    assert_int_equal(get_number(context, NULL), 41);
    assert_ok(gv_program_version(context, "number.cl", before));
    assert_ok(gv_program_get(context, 0, "number.cl", NULL, &program));
    assert_ok(gv_program_get(context, 0, "number.cl", NULL, &again));
    assert_ptr_equal(program, again);
    assert_int_equal(count_files(cache, "program-", NULL), 1);
    assert_int_equal(get_number(context, "-DEXTRA=1"), 42);
    assert_int_equal(count_files(cache, "program-", NULL), 2);
    write_text(kernels, "value.h", "#define VALUE 51\n");
    assert_int_equal(get_number(context, NULL), 51); /* the same context sees the edit */
    assert_ok(gv_program_version(context, "number.cl", after));
    assert_string_not_equal(before, after);
    gravel_context_release(context);
    context = open_context(kernels, cache, NULL);
    assert_int_equal(get_number(context, NULL), 51);
    write_text(kernels, "value.h", "#define VALUE 41\n");
    assert_int_equal(get_number(context, NULL), 41);
    assert_int_equal(count_files(cache, "program-", NULL), 3);
    gravel_context_release(context);
    remove_folder(kernels);
    remove_folder(cache);
    free(kernels);
    free(cache);
}

/* The folder's files are taken instead of the embedded ones, not beside them. */
static void kernel_folder_overrides(void **state)
{
    char *kernels = make_folder();
    cl_program program;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    gravel_context *context = open_context(kernels, "", NULL);
    assert_int_equal(gv_program_get(context, 0, "measure/copy.cl", NULL, &program), GRAVEL_ERR_FILE);
    assert_null(program);
    gravel_context_release(context);
    context = open_context("", "", NULL);
    assert_ok(gv_program_get(context, 0, "measure/copy.cl", EMPTY_OPTIONS, &program));
    gravel_context_release(context);
    remove_folder(kernels);
    free(kernels);
}

/* The message of a failed build has all that is needed to understand it. */
static void build_failure(void **state)
{
    char *kernels = make_folder();
    cl_program program;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    write_text(kernels, "bad.cl", "#include \"bad.h\"\nkernel void k(global int *p) { *p = missing_name; }\n");
    write_text(kernels, "bad.h", "/* fine */\n");
    gravel_context *context = open_context(kernels, "", NULL);
    assert_int_equal(gv_program_get(context, 0, "bad.cl", "-DGV_ODD_OPTION=5", &program), GRAVEL_ERR_BUILD);
    assert_null(program);
    assert_contains(gravel_error_message(), "kernels/bad.cl");
    assert_contains(gravel_error_message(), context->device[0].info.name);
    assert_contains(gravel_error_message(), "-DGV_ODD_OPTION=5");
    assert_contains(gravel_error_message(), "bad.cl:2"); /* #line marks keep name and line */
    assert_contains(gravel_error_message(), "missing_name");
    write_text(kernels, "wrong.cl", "\n\n#error \"GV_X must be 1 or 2\"\n");
    assert_int_equal(gv_program_get(context, 0, "wrong.cl", NULL, &program), GRAVEL_ERR_BUILD);
    assert_contains(gravel_error_message(), "GV_X must be 1 or 2");
    assert_contains(gravel_error_message(), "wrong.cl:3");
    /* the context goes on */
    write_text(kernels, "number.cl", NUMBER_KERNEL);
    write_text(kernels, "value.h", "#define VALUE 3\n");
    assert_int_equal(get_number(context, NULL), 3);
    gravel_context_release(context);
    remove_folder(kernels);
    free(kernels);
}

/* A log of many megabytes is cut in the middle. */
static void long_build_log(void **state)
{
    enum { LINES = 400, WIDTH = 200 };
    char *kernels = make_folder(), *text = calloc(LINES, WIDTH + 32);
    cl_program program;
    size_t used = 0;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    for (int i = 0; i < LINES; i++)
        used += (size_t)sprintf(text + used, "#warning %0*d\n", WIDTH, i);
    sprintf(text + used, "#error the_end\n");
    write_text(kernels, "long.cl", text);
    free(text);
    gravel_context *context = open_context(kernels, "", NULL);
    assert_int_equal(gv_program_get(context, 0, "long.cl", NULL, &program), GRAVEL_ERR_BUILD);
    assert_contains(gravel_error_message(), "the_end");
    assert_true(strlen(gravel_error_message()) < 40000);
    gravel_context_release(context);
    remove_folder(kernels);
    free(kernels);
}

/* -------------------------------------------------------- the cache on disk */

static void damaged_entries(void **state)
{
    char *kernels = make_folder(), *cache = make_folder(), *path = NULL, *entry, *copy;
    test_log *log = calloc(1, sizeof *log);
    size_t size;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    write_text(kernels, "number.cl", NUMBER_KERNEL);
    write_text(kernels, "value.h", "#define VALUE 7\n");
    gravel_context *context = open_context(kernels, cache, NULL);
    assert_int_equal(get_number(context, NULL), 7);
    gravel_context_release(context);
    assert_int_equal(count_files(cache, "program-", &path), 1);
    assert_ok(gv_file_read(path, 1 << 30, &entry, &size));
    copy = malloc(size);
    /* cut short, a flipped bit in header and in data, longer than it says, another file's content, nothing */
    const size_t cuts[] = {0, 1, 8, 95, 96, 97, size / 2, size - 1};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0] + 3; i++) {
        const size_t n = sizeof cuts / sizeof cuts[0];
        memcpy(copy, entry, size);
        copy[i == n ? 30 : size - 2] ^= (char)(i == n || i == n + 1);
        if (i == n + 2)
            memset(copy, '\n', size);
        assert_ok(gv_file_write(path, copy, i < n ? cuts[i] : size));
        log->text[0] = '\0';
        context = open_context(kernels, cache, log);
        assert_int_equal(get_number(context, NULL), 7);
        assert_contains(log->text, "damaged or foreign");
        assert_int_equal(log->warnings, 0); /* quietly */
        gravel_context_release(context);
        char *now;
        size_t size_now;
        assert_ok(gv_file_read(path, 1 << 30, &now, &size_now)); /* and repaired */
        assert_true(size_now > 96);
        assert_memory_equal(now, entry, 56); /* the header up to the key */
        free(now);
    }
    free(copy);
    free(entry);
    free(path);
    free(log);
    remove_folder(kernels);
    remove_folder(cache);
    free(kernels);
    free(cache);
}

static void unwritable_cache(void **state)
{
    char *kernels = make_folder(), *folder = make_folder();
    char *blocked = gv_path_join(folder, "file/below/a/file");
    test_log *log = calloc(1, sizeof *log);

    (void)state;
    SKIP_WITHOUT_DEVICE();
    write_text(folder, "file", "not a folder\n");
    write_text(kernels, "number.cl", NUMBER_KERNEL);
    write_text(kernels, "value.h", "#define VALUE 8\n");
    gravel_context *context = open_context(kernels, blocked, log);
    assert_int_equal(get_number(context, NULL), 8);
    assert_int_equal(get_number(context, "-DEXTRA=1"), 9);
    assert_int_equal(log->warnings, 1); /* one warning */
    assert_contains(log->text, blocked);
    gravel_context_release(context);
    free(blocked);
    free(log);
    remove_folder(kernels);
    remove_folder(folder);
    free(kernels);
    free(folder);
}

/* Two processes fill one empty cache at once; both get right programs, and so does a later process. */
static void two_processes(void **state)
{
    char *kernels = make_folder(), *cache = make_folder();
    pid_t child[2];

    (void)state;
    SKIP_WITHOUT_DEVICE();
    write_text(kernels, "number.cl", NUMBER_KERNEL);
    write_text(kernels, "value.h", "#define VALUE 100\n");
    for (int i = 0; i < 2; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] == 0) {
            /* the search for leaks at the end crashes at times, on PoCL's threads; this process searches, too */
            setenv("ASAN_OPTIONS", "detect_leaks=0:detect_stack_use_after_return=0:use_sigaltstack=0", 1);
            execl("/proc/self/exe", "test_program", kernels, cache, (char *)NULL);
            _exit(127);
        }
    }
    for (int i = 0; i < 2; i++) {
        int how;
        assert_int_equal(waitpid(child[i], &how, 0), child[i]);
        assert_true(WIFEXITED(how));
        assert_int_equal(WEXITSTATUS(how), 0);
    }
    assert_int_equal(count_files(cache, "program-", NULL), 4);
    gravel_context *context = open_context(kernels, cache, NULL);
    assert_int_equal(get_number(context, "-DEXTRA=2"), 102);
    assert_int_equal(count_files(cache, "program-", NULL), 4);
    gravel_context_release(context);
    remove_folder(kernels);
    remove_folder(cache);
    free(kernels);
    free(cache);
}

/* Where the driver keeps what it compiles, the binary is made at the twelfth compilation: a context that asks twice
 * compiles once, other options count by themselves. */
static void binaries_that_pay(void **state)
{
    char *kernels = make_folder(), *cache = make_folder();
    test_log *log = calloc(1, sizeof *log);

    (void)state;
    SKIP_WITHOUT_DEVICE();
    write_text(kernels, "number.cl", NUMBER_KERNEL);
    write_text(kernels, "value.h", "#define VALUE 60\n");
    for (int start = 1; start <= 13; start++) {
        log->text[0] = '\0';
        gravel_context *context = open_context(kernels, cache, log);
        context->device[0].driver_caches = 1;
        assert_int_equal(get_number(context, NULL), 60);
        assert_int_equal(get_number(context, NULL), 60);
        if (start == 4)
            assert_int_equal(get_number(context, "-DEXTRA=4"), 64);
        assert_int_equal(count_files(cache, "program-", NULL), start >= 12);
        assert_int_equal(count_files(cache, "times-", NULL), 1 + (start >= 4));
        if (start == 13) /* from the binary */
            assert_null(strstr(log->text, "compiled kernels/"));
        else
            assert_contains(log->text, "compiled kernels/");
        gravel_context_release(context);
    }
    free(log);
    remove_folder(kernels);
    remove_folder(cache);
    free(kernels);
    free(cache);
}

static int fill(const char *kernels, const char *cache)
{
    static const char *const options[4] = {"-DEXTRA=0", "-DEXTRA=1", "-DEXTRA=2", "-DEXTRA=3"};

    gravel_context *context = open_context(kernels, cache, NULL);
    for (int i = 0; i < 4; i++)
        if (get_number(context, options[i]) != 100 + i)
            return 1;
    gravel_context_release(context);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(includes),
        cmocka_unit_test(includes_refused),
        cmocka_unit_test(chain_of_many_includes),
        cmocka_unit_test(versions_differ),
        cmocka_unit_test(edits_and_options),
        cmocka_unit_test(kernel_folder_overrides),
        cmocka_unit_test(build_failure),
        cmocka_unit_test(long_build_log),
        cmocka_unit_test(damaged_entries),
        cmocka_unit_test(unwritable_cache),
        cmocka_unit_test(two_processes),
        cmocka_unit_test(binaries_that_pay),
    };

    if (argc == 3)
        return fill(argv[1], argv[2]);
    return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
