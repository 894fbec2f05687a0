/* Every reader of foreign text with its seeds and with many thousand inputs mutated from them, the same in every run.
 * The sanitized build finds what does not crash by itself; `scons fuzz=1` builds the same targets for libFuzzer. */
#include "host_test.h"

#include <sys/mman.h>

#include "fuzz/targets.h"

enum { MOST_SEEDS = 16, MOST_BYTES = 1 << 16 };

typedef struct corpus {
    int n;
    char *name[MOST_SEEDS], *text[MOST_SEEDS];
    size_t size[MOST_SEEDS];
} corpus;

/* Of the present input, which is found there after a crash. */
static struct progress {
    int input;
    size_t size;
    uint8_t data[2 * MOST_BYTES];
} *running;

static uint64_t state_of_numbers;

static unsigned draw(unsigned below)
{
    state_of_numbers = state_of_numbers * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state_of_numbers >> 33) % below;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void read_seeds(const char *target, corpus *seeds)
{
    const char *top = getenv("GRAVEL_SOURCE_DIR");
    char *folder = gv_format("%s/tests/fuzz/seeds/%s", top ? top : ".", target);
    DIR *dir = opendir(folder);
    struct dirent *next;

    memset(seeds, 0, sizeof *seeds);
    assert_non_null(dir);
    while ((next = readdir(dir)) != NULL && seeds->n < MOST_SEEDS)
        if (next->d_name[0] != '.')
            seeds->name[seeds->n++] = gv_path_join(folder, next->d_name);
    closedir(dir);
    free(folder);
    assert_true(seeds->n > 0);
    qsort(seeds->name, (size_t)seeds->n, sizeof seeds->name[0], by_name);
    for (int k = 0; k < seeds->n; k++)
        assert_ok(gv_file_read(seeds->name[k], MOST_BYTES, &seeds->text[k], &seeds->size[k]));
}

static void insert(const void *bytes, size_t n, size_t at)
{
    if (running->size + n > MOST_BYTES)
        return;
    memmove(running->data + at + n, running->data + at, running->size - at);
    memcpy(running->data + at, bytes, n);
    running->size += n;
}

/* One change: a bit, a byte, a word that means something, a piece gone, doubled, or taken from another seed. */
static void mutate(const corpus *seeds)
{
    static const char *const word[] = {"1e999",   "-1",   "1e300", "18446744073709551616",
                                       "nan",     "\"",   "{",     "}",
                                       "[",       "]",    ",",     "\n",
                                       "\\u0000", "\x1b", "'",     "`",
                                       ":",       "--"};
    const size_t size = running->size, at = size ? draw((unsigned)size) : 0;
    const size_t n = size ? 1 + draw((unsigned)(size - at < 32 ? size - at : 32)) : 0;
    uint8_t piece[32];

    switch (size ? draw(6) : 2) {
    case 0:
        running->data[at] ^= (uint8_t)(1u << draw(8));
        break;
    case 1:
        running->data[at] = (uint8_t)draw(256);
        break;
    case 2: {
        const char *text = word[draw(sizeof word / sizeof *word)];
        insert(text, strlen(text), at);
        break;
    }
    case 3:
        memmove(running->data + at, running->data + at + n, size - at - n);
        running->size -= n;
        break;
    case 4:
        memcpy(piece, running->data + at, n);
        insert(piece, n, draw((unsigned)size));
        break;
    default: {
        const int other = (int)draw((unsigned)seeds->n);
        const size_t from = draw((unsigned)seeds->size[other]), left = seeds->size[other] - from;
        insert(seeds->text[other] + from, left < n ? left : n, at);
    }
    }
}

static void run_inputs(const gv_fuzz_target *target, const corpus *seeds, int inputs)
{
    state_of_numbers = 20261122;
    for (int input = 0; input < inputs; input++) {
        const int seed = input % seeds->n;

        running->input = input;
        running->size = seeds->size[seed];
        memcpy(running->data, seeds->text[seed], running->size);
        for (unsigned changes = input < seeds->n ? 0 : 1 + draw(6); changes > 0; changes--)
            mutate(seeds);
        target->run(running->data, running->size);
    }
}

static void free_seeds(corpus *seeds)
{
    for (int k = 0; k < seeds->n; k++) {
        free(seeds->name[k]);
        free(seeds->text[k]);
    }
}

/* In a process of its own: a crash is one failed case, and the program's messages about bad options are dropped. */
static void run_target(const gv_fuzz_target *target)
{
    /* the same ones in every run; CI has time for all */
    const int inputs = getenv("GRAVEL_TEST_QUICK") ? 20000 : getenv("GRAVEL_TEST_LONG") ? 400000 : 50000;
    char *folder = make_folder(), *said = gv_path_join(folder, "said"), *text = NULL;
    corpus seeds;
    size_t size = 0;
    int how;

    read_seeds(target->name, &seeds);
    FILE *shared = tmpfile();
    assert_true(shared && ftruncate(fileno(shared), sizeof *running) == 0);
    running = mmap(NULL, sizeof *running, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(shared), 0);
    assert_true(running != MAP_FAILED);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!freopen(said, "w", stderr))
            _exit(2);
        run_inputs(target, &seeds, inputs);
        free_seeds(&seeds);
        free(said);
        free(folder);
        exit(0); /* not _exit: leaks are found at the end */
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    if (!WIFEXITED(how) || WEXITSTATUS(how) != 0) {
        assert_ok(gv_file_read(said, 1 << 30, &text, &size));
        printf("%s\n", size > 4000 ? text + size - 4000 : text);
        free(text);
        remove_folder(folder);
        fail_msg("%s, input %d: %.*s", target->name, running->input, (int)running->size, (char *)running->data);
    }
    munmap(running, sizeof *running);
    fclose(shared);
    free_seeds(&seeds);
    free(said);
    remove_folder(folder);
    free(folder);
}

static void test_one_target(void **state)
{
    run_target(*state);
}

int main(void)
{
    struct CMUnitTest tests[GV_FUZZ_TARGETS];

    for (int k = 0; k < GV_FUZZ_TARGETS; k++) {
        tests[k] = (struct CMUnitTest)cmocka_unit_test(test_one_target);
        tests[k].name = gv_fuzz_target_of[k].name;
        tests[k].initial_state = (void *)(uintptr_t)&gv_fuzz_target_of[k];
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
