/* src/host/program/cache.c, without a device: a context is only its folder and log here. */
#include "host_test.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/time.h>

#include "host/base/files.h"
#include "host/program/cache.h"

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static gv_digest make_key(int n)
{
    gv_hasher hasher;
    gv_digest key;

    gv_hash_start(&hasher);
    gv_hash_add(&hasher, &n, sizeof n);
    gv_hash_end(&hasher, &key);
    return key;
}

static int holds(gravel_context *context, const char *kind, int n, const char *expected)
{
    gv_digest key = make_key(n);
    unsigned char *data;
    size_t size;

    if (!gv_cache_load(context, kind, &key, &data, &size))
        return 0;
    int same = size == strlen(expected) && memcmp(data, expected, size + 1) == 0;
    free(data);
    assert_true(same); /* found, but wrong: never */
    return 1;
}

static void put(gravel_context *context, const char *kind, int n, const char *text)
{
    gv_digest key = make_key(n);

    gv_cache_store(context, kind, &key, text, strlen(text));
}

static void store_and_load(void **state)
{
    gravel_context context = {0};
    char *folder = make_folder();

    (void)state;
    context.cache_dir = gv_path_join(folder, "not/yet/there");
    assert_false(holds(&context, "program", 1, "one"));
    put(&context, "program", 1, "one");
    put(&context, "program", 2, "two");
    put(&context, "features", 1, "uno");
    assert_true(holds(&context, "program", 1, "one"));
    assert_true(holds(&context, "program", 2, "two"));
    assert_true(holds(&context, "features", 1, "uno"));
    assert_false(holds(&context, "program", 3, ""));
    put(&context, "program", 1, "ONE");
    assert_true(holds(&context, "program", 1, "ONE"));
    free(context.cache_dir);
    /* no folder: nothing is kept, nothing fails */
    char *none[2] = {NULL, ""};
    for (int i = 0; i < 2; i++) {
        context.cache_dir = none[i];
        put(&context, "program", 1, "one");
        assert_false(holds(&context, "program", 1, "one"));
    }
    remove_folder(folder);
    free(folder);
}

/* Of two that have measured, the first is followed; what is damaged is not. */
static void the_first_decides(void **state)
{
    const gv_digest key = make_key(1);
    gravel_context context = {0};
    char *folder = make_folder(), *path = NULL;
    int one = 1, two = 2, long_one[2] = {3, 4};

    (void)state;
    context.cache_dir = folder;
    gv_cache_agree(&context, "features", &key, &one, sizeof one);
    gv_cache_agree(&context, "features", &key, &two, sizeof two);
    assert_true(one == 1 && two == 1);
    gv_cache_agree(&context, "features", &key, long_one, sizeof long_one); /* of another size: not the same thing */
    assert_int_equal(long_one[0], 3);
    assert_int_equal(count_files(folder, "features-", &path), 1);
    assert_int_equal(truncate(path, 100), 0);
    one = 5;
    gv_cache_agree(&context, "features", &key, &one, sizeof one);
    gv_cache_agree(&context, "features", &key, &two, sizeof two);
    assert_true(one == 5 && two == 5);
    free(path);
    remove_folder(folder);
    free(folder);
}

/* Every single byte matters: cut anywhere or with any bit flipped, an entry is not used. */
static void every_byte_counts(void **state)
{
    gravel_context context = {0};
    char *folder = make_folder(), *path = NULL, *entry;
    const char *text = "the data of this entry";
    size_t size;

    (void)state;
    context.cache_dir = folder;
    put(&context, "program", 5, text);
    assert_int_equal(count_files(folder, "program-", &path), 1);
    assert_ok(gv_file_read(path, 4096, &entry, &size));
    assert_int_equal(size, GV_CACHE_HEADER + strlen(text));
    for (size_t i = 0; i < size; i++) {
        assert_ok(gv_file_write_own(path, entry, i));
        assert_false(holds(&context, "program", 5, text));
        entry[i] ^= (char)(1 << (i % 8));
        assert_ok(gv_file_write_own(path, entry, size));
        assert_false(holds(&context, "program", 5, text));
        entry[i] ^= (char)(1 << (i % 8));
    }
    entry[size] = '\0';
    assert_ok(gv_file_write_own(path, entry, size + 1)); /* one byte too many */
    assert_false(holds(&context, "program", 5, text));
    assert_ok(gv_file_write_own(path, entry, size));
    assert_true(holds(&context, "program", 5, text));
    free(entry);
    free(path);
    remove_folder(folder);
    free(folder);
}

/* An entry under another entry's name is detected by the key inside. */
static void foreign_entry(void **state)
{
    gravel_context context = {0};
    char *folder = make_folder(), hex[65];
    gv_digest one = make_key(1), two = make_key(2);

    (void)state;
    context.cache_dir = folder;
    put(&context, "program", 1, "one");
    gv_digest_hex(&one, 64, hex);
    char *from = gv_format("%s/program-%s", folder, hex);
    gv_digest_hex(&two, 64, hex);
    char *to = gv_format("%s/program-%s", folder, hex);
    assert_int_equal(rename(from, to), 0);
    assert_false(holds(&context, "program", 2, "one"));
    unlink(to);
    assert_int_equal(mkdir(to, 0700), 0); /* a folder where a file should be */
    assert_false(holds(&context, "program", 2, "one"));
    put(&context, "program", 2, "two");
    assert_false(holds(&context, "program", 2, "two"));
    rmdir(to);
    assert_int_equal(symlink("/dev/zero", to), 0); /* endless */
    assert_false(holds(&context, "program", 2, "one"));
    free(from);
    free(to);
    remove_folder(folder);
    free(folder);
}

static void set_age(const char *folder, const char *kind, int n, int seconds)
{
    gv_digest key = make_key(n);
    char hex[65];
    struct timeval times[2];

    gettimeofday(&times[0], NULL);
    times[0].tv_sec -= seconds;
    times[1] = times[0];
    gv_digest_hex(&key, 64, hex);
    char *path = gv_format("%s/%s-%s", folder, kind, hex);
    assert_int_equal(utimes(path, times), 0);
    free(path);
}

static void oldest_go_first(void **state)
{
    gravel_context context = {0};
    char *folder = make_folder(), text[1001];

    (void)state;
    memset(text, 't', 1000);
    text[1000] = '\0';
    context.cache_dir = folder;
    write_text(folder, "facts-0123.json", "not an entry\n");
    write_text(folder, "program-" HEX ".gravel-0123456789ab", "given up\n");
    write_text(folder, "program-notes.tmp-1", "not ours\n");
    char *entry = gv_path_join(folder, "program-" HEX), *busy;
    const int fd = gv_temporary_open(entry, 0600, &busy);
    assert_true(fd >= 0);
    for (int i = 0; i < 10; i++) {
        put(&context, "program", i, text);
        set_age(folder, "program", i, 1000 - 10 * i);
    }
    write_text(folder, "hermite-" HEX ".gravel-0123456789ab", "given up\n");
    write_text(folder, "walk-" HEX ".gravel-0123456789ab", "given up\n");
    write_text(folder, "calls-" HEX ".gravel-0123456789ab", "given up\n");
    gv_cache_prune(folder, 1 << 20);
    assert_int_equal(count_files(folder, "hermite-", NULL) + count_files(folder, "walk-", NULL) +
                         count_files(folder, "calls-", NULL),
                     0);
    /* ten entries, the notes, and the one that is being written: only the abandoned one went */
    assert_int_equal(count_files(folder, "program-", NULL), 12);
    assert_int_equal(access(busy, F_OK), 0);
    close(fd);
    gv_cache_prune(folder, 1 << 20);
    assert_int_not_equal(access(busy, F_OK), 0);
    free(busy);
    free(entry);
    assert_true(holds(&context, "program", 0, text)); /* used: the youngest now */
    gv_cache_prune(folder, 5 * (1000 + GV_CACHE_HEADER) + 100);
    for (int i = 0; i < 10; i++)
        assert_int_equal(holds(&context, "program", i, text), i == 0 || i >= 6);
    assert_int_equal(count_files(folder, "facts-", NULL), 1);
    gv_cache_prune("/nonexistent/folder", 0);
    remove_folder(folder);
    free(folder);
}

/* A folder on whose path ".tmp-" or the mark of temporary files occurs: its entries are entries. */
static void names_of_folders_do_not_count(void **state)
{
    static const char *const name[] = {"a.tmp-1", "b.gravel-0123456789ab"};
    char *top = make_folder();

    (void)state;
    for (int i = 0; i < 2; i++) {
        gravel_context context = {0};
        char *folder = gv_path_join(top, name[i]);

        context.cache_dir = folder;
        put(&context, "program", 1, "kept");
        set_age(folder, "program", 1, 1000000);
        gv_cache_prune(folder, 1 << 20);
        assert_true(holds(&context, "program", 1, "kept"));
        free(folder);
    }
    remove_folder(top);
    free(top);
}

static void count_warnings(gravel_log_level level, const char *message, void *user)
{
    *(int *)user += level == GRAVEL_LOG_WARNING && strstr(message, "others may write") != NULL;
}

/* A folder that others may write to could hold their kernels: neither read nor written, with one warning. */
static void only_our_own(void **state)
{
    gravel_context context = {0};
    char *folder = make_folder(), *path = NULL;
    int warnings = 0;

    (void)state;
    context.cache_dir = folder;
    context.log = count_warnings;
    context.log_user = &warnings;
    put(&context, "program", 1, "one");
    assert_int_equal(count_files(folder, "program-", &path), 1);
    assert_int_equal(chmod(path, 0620), 0);
    assert_false(holds(&context, "program", 1, "one"));
    assert_int_equal(chmod(path, 0600), 0);
    assert_true(holds(&context, "program", 1, "one"));
    assert_int_equal(chmod(folder, 0770), 0);
    assert_false(holds(&context, "program", 1, "one"));
    assert_false(holds(&context, "program", 1, "one"));
    put(&context, "program", 2, "two");
    assert_int_equal(count_files(folder, "program-", NULL), 1);
    assert_int_equal(warnings, 1);
    assert_int_equal(chmod(folder, 0700), 0);
    if (geteuid() == 0) { /* only root can give files away */
        assert_int_equal(chown(path, 65534, 65534), 0);
        assert_false(holds(&context, "program", 1, "one"));
        assert_int_equal(chown(folder, 65534, 65534), 0);
        put(&context, "program", 2, "two");
        assert_int_equal(count_files(folder, "program-", NULL), 1);
    }
    free(path);
    remove_folder(folder);
    free(folder);
}

/* Many processes write and read one entry: every read gives nothing or the whole. */
static void processes_at_once(void **state)
{
    enum { PROCESSES = 4 };
    gravel_context context = {0};
    char *folder = make_folder(), *text = malloc(100001);
    pid_t child[PROCESSES];

    (void)state;
    memset(text, 'p', 100000);
    text[100000] = '\0';
    context.cache_dir = folder;
    for (int p = 0; p < PROCESSES; p++) {
        child[p] = fork();
        assert_true(child[p] >= 0);
        if (child[p] == 0) {
            int bad = 0;
            for (int i = 0; i < 25; i++) {
                gv_digest key = make_key(i % 3);
                unsigned char *data;
                size_t size;
                gv_cache_store(&context, "program", &key, text, 100000);
                /* another process may prune or replace; what is found is whole */
                if (gv_cache_load(&context, "program", &key, &data, &size)) {
                    bad += size != 100000 || memcmp(data, text, 100000) != 0;
                    free(data);
                } else {
                    bad++;
                }
            }
            _exit(bad);
        }
    }
    for (int p = 0; p < PROCESSES; p++) {
        int how;
        assert_int_equal(waitpid(child[p], &how, 0), child[p]);
        assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    }
    assert_int_equal(count_files(folder, "program-", NULL), 3);
    free(text);
    remove_folder(folder);
    free(folder);
}

static void *lock_and_unlock(void *context)
{
    const gv_digest key = make_key(2);

    gv_file_unlock(gv_cache_lock(context, &key));
    return NULL;
}

/* 1 if another process would have to wait for some key. */
static int is_locked(const char *folder)
{
    const pid_t child = fork();
    int how;

    if (child == 0) {
        struct flock any = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        char *path = gv_path_join(folder, ".lock");
        const int fd = path ? open(path, O_RDWR) : -1;

        _exit(fd < 0 ? 2 : fcntl(fd, F_SETLK, &any) != 0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) < 2);
    return WEXITSTATUS(how);
}

/* Another thread's lock of another key, and a process that was forked meanwhile, change nothing about it. */
static void a_lock_lasts_until_it_is_ended(void **state)
{
    gravel_context context = {0};
    const gv_digest key = make_key(1);
    char *folder = make_folder();
    pthread_t thread;
    int pipes[2];
    char byte;

    (void)state;
    context.cache_dir = folder;
    const int lock = gv_cache_lock(&context, &key);
    assert_true(lock >= 0);
    assert_true(is_locked(folder));
    assert_int_equal(pthread_create(&thread, NULL, lock_and_unlock, &context), 0);
    pthread_join(thread, NULL);
    assert_true(is_locked(folder));

    assert_int_equal(pipe(pipes), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(pipes[1]);
        _exit(read(pipes[0], &byte, 1) != 0); /* until the test closes it */
    }
    assert_true(child > 0);
    gv_file_unlock(lock);
    assert_false(is_locked(folder));
    close(pipes[0]);
    close(pipes[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    remove_folder(folder);
    free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_and_load),
        cmocka_unit_test(the_first_decides),
        cmocka_unit_test(every_byte_counts),
        cmocka_unit_test(foreign_entry),
        cmocka_unit_test(oldest_go_first),
        cmocka_unit_test(names_of_folders_do_not_count),
        cmocka_unit_test(only_our_own),
        cmocka_unit_test(processes_at_once),
        cmocka_unit_test(a_lock_lasts_until_it_is_ended),
    };

    return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
