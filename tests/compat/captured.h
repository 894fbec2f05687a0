/* Shared by the tests of drop-in libraries: what they write on stderr. */
#ifndef GV_CAPTURED_H
#define GV_CAPTURED_H

#include "problem.h"

typedef struct said {
    int before;
    FILE *file;
    char text[8192];
    int lines;
} said;

static inline void said_begin(said *s)
{
    fflush(stderr);
    s->file = tmpfile();
    assert_non_null(s->file);
    s->before = dup(2);
    dup2(fileno(s->file), 2);
}

static inline void said_end(said *s)
{
    fflush(stderr);
    dup2(s->before, 2);
    close(s->before);
    rewind(s->file);
    s->text[fread(s->text, 1, sizeof s->text - 1, s->file)] = '\0';
    fclose(s->file);
    s->lines = 0;
    for (const char *p = s->text; *p; p++)
        s->lines += *p == '\n';
}

/* One line that holds `part`. */
#define assert_said(s, part)                                                                                           \
    do {                                                                                                               \
        said_end(s);                                                                                                   \
        if ((s)->lines != 1 || !strstr((s)->text, part))                                                               \
            fail_msg("not one line with '%s': %s", part, (s)->text);                                                   \
    } while (0)

#endif
