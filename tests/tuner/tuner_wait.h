/* A tuning run in another process, from outside. */
#ifndef GV_TUNER_WAIT_H
#define GV_TUNER_WAIT_H

#include "host_test.h"

#include <time.h>

static inline int exit_code(pid_t pid)
{
    int code = 0;

    assert_int_equal(waitpid(pid, &code, 0), pid);
    return WIFEXITED(code) ? WEXITSTATUS(code) : 128 + WTERMSIG(code);
}

static inline size_t lines_of(const char *path)
{
    char *text = NULL;
    size_t n = 0;

    if (gv_file_read(path, 1 << 24, &text, NULL) == GRAVEL_OK) {
        for (const char *c = text; *c != '\0'; c++)
            n += *c == '\n';
        free(text);
    }
    return n;
}

static inline void wait_for_lines(const char *path, size_t lines, pid_t pid)
{
    static const struct timespec moment = {0, 10000000};

    /* five minutes for what takes a second or two on an idle machine */
    for (int k = 0; k < 30000 && lines_of(path) < lines; k++) {
        assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
        nanosleep(&moment, NULL);
    }
    assert_true(lines_of(path) >= lines);
}

#endif
