/* Shared by the tests of drop-in libraries: what they write on stderr. */
#ifndef GV_CAPTURED_H
#define GV_CAPTURED_H

#include "problem.h"

#include <malloc.h>

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

/* What is allocated after many rounds is what was allocated after `warm`, in which the journal of writes has grown to
 * its bound, 4096 entries and a round's.  Tables that double up to a bound take some 40 kB more; one lost block of
 * malloc's smallest size, 32 bytes, in every round is 96 kB. */
static inline void assert_no_growth(int warm, void (*one_round)(void *user, int number), void *user)
{
    enum { ROUNDS = 3000, MOST = 24 };
    for (int k = 0; k < warm; k++)
        one_round(user, k);
    const size_t before = mallinfo2().uordblks;
    for (int k = 0; k < ROUNDS; k++)
        one_round(user, warm + k);
    const size_t after = mallinfo2().uordblks;
    if (after > before + (size_t)MOST * ROUNDS)
        fail_msg("%zu bytes after %d rounds, %zu after %d", before, warm, after, warm + ROUNDS);
}

#endif
