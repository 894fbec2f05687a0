/* src/host/base/status.c, files.c and memory.c: no device needed. */
#include "host_test.h"

#include <errno.h>
#include <pthread.h>

#include "host/base/digest.h"
#include "host/base/memory.h"

static void table_is_complete(void **state)
{
    (void)state;
    assert_string_equal(gravel_status_name(GRAVEL_OK), "OK");
    assert_string_equal(gravel_status_name(GRAVEL_ERR_BUILD), "ERR_BUILD");
    assert_string_equal(gravel_status_text(GRAVEL_ERR_ARGUMENT), "an argument is not valid");
    for (int i = 0; i <= GRAVEL_ERR_INTERNAL; i++) {
        assert_true(strlen(gravel_status_name((gravel_status)i)) >= 2);
        assert_true(strlen(gravel_status_text((gravel_status)i)) >= 5);
    }
    assert_string_equal(gravel_status_name((gravel_status)99), "unknown status");
    assert_string_equal(gravel_status_text((gravel_status)-1), "not a status of gravel");
    assert_string_equal(gravel_version(), GRAVEL_VERSION);
}

static void message_of_any_length(void **state)
{
    enum { LONG = 200000 };
    char *text = malloc(LONG + 1);

    (void)state;
    assert_non_null(text);
    for (int length = 1; length <= LONG; length = length < 1100 ? length + 1 : length * 3) {
        memset(text, 'x', (size_t)length);
        text[length] = '\0';
        assert_int_equal(gv_fail(GRAVEL_ERR_INPUT, "%s", text), GRAVEL_ERR_INPUT);
        assert_string_equal(gravel_error_message(), text);
    }
    /* a short one after a long one */
    gv_fail(GRAVEL_ERR_INPUT, "short %d", 7);
    assert_string_equal(gravel_error_message(), "short 7");
    free(text);
}

/* A caller adds its own words to the reason below it. */
static void message_from_message(void **state)
{
    (void)state;
    gv_fail(GRAVEL_ERR_FILE, "the reason");
    gv_fail(GRAVEL_ERR_FILE, "the call: %s", gravel_error_message());
    assert_string_equal(gravel_error_message(), "the call: the reason");
    for (int i = 0; i < 12; i++)
        gv_fail(GRAVEL_ERR_FILE, "%s %s", gravel_error_message(), gravel_error_message());
    assert_int_equal(strlen(gravel_error_message()), (strlen("the call: the reason") + 1) * 4096 - 1);
}

static void cl_codes(void **state)
{
    static const struct {
        cl_int code;
        gravel_status status;
        const char *name;
    } cases[] = {
        {CL_OUT_OF_RESOURCES, GRAVEL_ERR_LAUNCH, "CL_OUT_OF_RESOURCES"},
        {CL_INVALID_WORK_GROUP_SIZE, GRAVEL_ERR_LAUNCH, "CL_INVALID_WORK_GROUP_SIZE"},
        {CL_MEM_OBJECT_ALLOCATION_FAILURE, GRAVEL_ERR_DEVICE_MEMORY, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
        {CL_OUT_OF_HOST_MEMORY, GRAVEL_ERR_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
        {CL_BUILD_PROGRAM_FAILURE, GRAVEL_ERR_BUILD, "CL_BUILD_PROGRAM_FAILURE"},
        {CL_PLATFORM_NOT_FOUND_KHR, GRAVEL_ERR_NO_PLATFORM, "CL_PLATFORM_NOT_FOUND_KHR"},
        {CL_DEVICE_NOT_FOUND, GRAVEL_ERR_NO_DEVICE, "CL_DEVICE_NOT_FOUND"},
        {CL_INVALID_KERNEL_ARGS, GRAVEL_ERR_OPENCL, "CL_INVALID_KERNEL_ARGS"},
        {-4711, GRAVEL_ERR_OPENCL, "OpenCL error -4711"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(gv_fail_cl(cases[i].code, "step %d", 3), cases[i].status);
        assert_contains(gravel_error_message(), "step 3: ");
        assert_contains(gravel_error_message(), cases[i].name);
    }
    char *what = malloc(5000);
    memset(what, 'w', 4999);
    what[4999] = '\0';
    gv_fail_cl(CL_OUT_OF_RESOURCES, "%s", what);
    assert_contains(gravel_error_message(), "w: CL_OUT_OF_RESOURCES");
    free(what);
}

static void *fail_often(void *number)
{
    char expected[3000];
    long errors = 0;

    for (int i = 0; i < 300; i++) {
        int width = i % 3 == 0 ? 2500 : 20;
        snprintf(expected, sizeof expected, "%*d", width, *(int *)number + i);
        gv_fail(GRAVEL_ERR_INPUT, "%*d", width, *(int *)number + i);
        errors += strcmp(gravel_error_message(), expected) != 0;
    }
    return (void *)errors;
}

static void threads_have_their_own(void **state)
{
    pthread_t thread[4];
    int number[4] = {1000, 2000, 3000, 4000};

    (void)state;
    gv_fail(GRAVEL_ERR_INPUT, "mine");
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, fail_often, &number[i]), 0);
    for (int i = 0; i < 4; i++) {
        void *errors;
        assert_int_equal(pthread_join(thread[i], &errors), 0);
        assert_null(errors);
    }
    assert_string_equal(gravel_error_message(), "mine");
}

static void files(void **state)
{
    char *folder = make_folder(), *path = gv_path_join(folder, "a/b/c");
    char *file, *text;
    size_t size;

    (void)state;
    assert_ok(gv_folder_make(path));
    assert_ok(gv_folder_make(path));
    file = gv_path_join(path, "data");
    assert_ok(gv_file_write(file, "x\0y", 3));
    assert_ok(gv_file_read(file, 3, &text, &size));
    assert_int_equal(size, 3);
    assert_memory_equal(text, "x\0y", 4);
    free(text);
    assert_int_equal(gv_file_read(file, 2, &text, &size), GRAVEL_ERR_FORMAT);
    assert_int_equal(gv_file_read(path, 100, &text, &size), GRAVEL_ERR_FILE); /* a folder */
    assert_int_equal(gv_folder_make(file), GRAVEL_ERR_FILE);
    assert_contains(gravel_error_message(), "data");
    assert_int_equal(gv_file_write(path, "x", 1), GRAVEL_ERR_FILE); /* onto a folder */
    assert_int_equal(count_files(folder, "", NULL), 1);             /* no temporary file stays */
    free(file);
    file = gv_path_join(path, "none/data");
    assert_int_equal(gv_file_write(file, "x", 1), GRAVEL_ERR_FILE);
    assert_contains(gravel_error_message(), "No such file");
    assert_int_equal(gv_file_read(file, 100, &text, NULL), GRAVEL_ERR_FILE);
    free(file);
    free(path);
    /* a large file, and a pipe without a writer */
    file = gv_path_join(folder, "large");
    char *large = malloc(3000000);
    for (int i = 0; i < 3000000; i++)
        large[i] = (char)(i * 7);
    assert_ok(gv_file_write(file, large, 3000000));
    assert_ok(gv_file_read(file, 1 << 30, &text, &size));
    assert_int_equal(size, 3000000);
    assert_memory_equal(text, large, 3000000);
    free(text);
    free(large);
    unlink(file);
    assert_int_equal(mkfifo(file, 0600), 0);
    assert_int_equal(gv_file_read(file, 100, &text, NULL), GRAVEL_ERR_FILE);
    free(file);
    remove_folder(folder);
    free(folder);
}

static void user_folders(void **state)
{
    const char *home = getenv("HOME");
    char *saved = gv_format("%s", home ? home : ""), *folder;

    (void)state;
    setenv("GV_TEST_XDG", "/xdg", 1);
    setenv("HOME", "/home/x", 1);
    folder = gv_user_folder("GV_TEST_XDG", ".cache", "programs");
    assert_string_equal(folder, "/xdg/gravel/programs");
    free(folder);
    setenv("GV_TEST_XDG", "relative", 1); /* not valid, so ignored */
    folder = gv_user_folder("GV_TEST_XDG", ".cache", "programs");
    assert_string_equal(folder, "/home/x/.cache/gravel/programs");
    free(folder);
    unsetenv("GV_TEST_XDG");
    unsetenv("HOME");
    assert_null(gv_user_folder("GV_TEST_XDG", ".cache", "programs"));
    if (saved[0])
        setenv("HOME", saved, 1);
    free(saved);
}

/* The examples of FIPS 180-4's validation: empty, one block, two blocks, a million letters; with and without the
   processor's own instructions. */
static void sha256(void **state)
{
    static const struct {
        const char *text, *hex;
    } cases[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    gv_hasher hasher;
    gv_digest digest;
    char hex[65];

    (void)state;
    for (int plain = 0; plain < 2; plain++) {
        for (size_t i = 0; i < 3; i++) {
            gv_hash_start(&hasher);
            hasher.plain = plain;
            gv_hash_add(&hasher, cases[i].text, strlen(cases[i].text));
            gv_hash_end(&hasher, &digest);
            gv_digest_hex(&digest, 64, hex);
            assert_string_equal(hex, cases[i].hex);
        }
        gv_hash_start(&hasher);
        hasher.plain = plain;
        for (int left = 1000000, part = 1; left > 0; left -= part, part = part % 200 + 1) {
            char letters[200];
            part = part < left ? part : left;
            memset(letters, 'a', sizeof letters);
            gv_hash_add(&hasher, letters, (size_t)part);
        }
        gv_hash_end(&hasher, &digest);
        gv_digest_hex(&digest, 64, hex);
        assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
        gv_digest_hex(&digest, 16, hex);
        assert_string_equal(hex, "cdc76e5c9914fb92");
    }
}

static void one_file_or_two(void **state)
{
    char *folder = make_folder(), *link = gv_path_join(folder, "link"), *dots = gv_path_join(folder, "../"),
         *name = gv_path_join(folder, "a"), *file, *again;
    (void)state;
    assert_non_null(dots);
    file = gv_path_join(folder, "./a");
    again = gv_format("%s%s/a", dots, strrchr(folder, '/') + 1);
    assert_true(gv_same_file(name, file) && gv_same_file(name, again)); /* not there yet */
    assert_false(gv_same_file(name, link));
    assert_ok(gv_file_write(name, "x", 1));
    assert_int_equal(symlink("a", link), 0);
    assert_true(gv_same_file(name, again) && gv_same_file(link, name));
    assert_false(gv_same_file(name, folder) || gv_same_file(folder, folder) || gv_same_file("/dev/null", "/dev/null"));
    assert_false(gv_same_file("/no/such/a", "/no/such/a")); /* no folder: nothing can be written there */
    unlink(link);
    remove_folder(folder);
    free(folder);
    free(link);
    free(dots);
    free(name);
    free(file);
    free(again);
}

/* 10^21 bytes are beyond any machine, a byte is within. */
static void memory_is_asked_for(void **state)
{
    (void)state;
    assert_ok(gv_memory_holds(1, 1, "bodies"));
    assert_int_equal(gv_memory_holds(1e15, 1e6, "bodies"), GRAVEL_ERR_MEMORY);
    assert_contains(gravel_error_message(), "bodies need 1000000000000.0 GB of memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_complete),      cmocka_unit_test(message_of_any_length),
        cmocka_unit_test(message_from_message),   cmocka_unit_test(cl_codes),
        cmocka_unit_test(threads_have_their_own), cmocka_unit_test(files),
        cmocka_unit_test(user_folders),           cmocka_unit_test(sha256),
        cmocka_unit_test(one_file_or_two),        cmocka_unit_test(memory_is_asked_for),
    };

    return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
