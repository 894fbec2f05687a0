/* Shared by the tests of long runs: what is allocated after many rounds is what was allocated after some. */
#ifndef GV_TEST_GROWTH_H
#define GV_TEST_GROWTH_H

#include "problem.h"

#include <malloc.h>

/* The least that was allocated at the end of a round, over so many rounds: a driver's own threads free the events of
 * finished commands some time later, several kB of them on a busy machine, and the least holds few of these. */
static inline size_t least_allocated(int first, int rounds, void (*one_round)(void *user, int number), void *user)
{
    size_t least = SIZE_MAX;
    for (int k = first; k < first + rounds; k++) {
        one_round(user, k);
        const size_t now = mallinfo2().uordblks;
        least = now < least ? now : least;
    }
    return least;
}

/* Nothing lost over `rounds` rounds after `warm`, in which journals, tables and compiled kernels have reached their
 * bounds.  `most` bytes a round pass: one lost block of malloc's smallest size, 32 bytes, in every round does not. */
static inline void assert_no_growth(int warm, int rounds, int most, void (*one_round)(void *user, int number),
                                    void *user)
{
    enum { SOME = 100 };
    for (int k = 0; k < warm; k++)
        one_round(user, k);
    const size_t before = least_allocated(warm, SOME, one_round, user);
    for (int k = warm + SOME; k < warm + rounds; k++)
        one_round(user, k);
    const size_t after = least_allocated(warm + rounds, SOME, one_round, user);
    if (after > before + (size_t)most * (size_t)rounds)
        fail_msg("%zu bytes after %d rounds, %zu after %d", before, warm, after, warm + rounds);
}

#endif
