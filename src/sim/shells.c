#include "sim/shells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIGIT = 11, VALUES = 1 << DIGIT, PASSES = 6 }; /* 6 x 11 bits hold the 63 of a number that is not negative */

static size_t digit_of(double r, int pass)
{
    uint64_t bits;
    memcpy(&bits, &r, sizeof bits);
    return bits >> (DIGIT * pass) & (VALUES - 1);
}

/* Radix sort from the lowest digit: the bits of doubles from 0 up rise as the numbers do. */
static void sort(gv_shell *from, gv_shell *to, size_t n, size_t (*count)[VALUES])
{
    memset(count, 0, sizeof count[0] * PASSES);
    for (size_t i = 0; i < n; i++)
        for (int pass = 0; pass < PASSES; pass++)
            count[pass][digit_of(from[i].r, pass)]++;
    for (int pass = 0; pass < PASSES; pass++) {
        size_t begin = 0;
        for (int v = 0; v < VALUES; v++) {
            const size_t here = count[pass][v];
            count[pass][v] = begin;
            begin += here;
        }
        for (size_t i = 0; i < n; i++)
            to[count[pass][digit_of(from[i].r, pass)]++] = from[i];
        gv_shell *swapped = from;
        from = to;
        to = swapped;
    }
}

gravel_status gv_shells_sort(gv_shell *s, size_t n)
{
    gv_shell *other = malloc((n + 1) * sizeof *other);
    size_t(*count)[VALUES] = malloc(PASSES * sizeof *count);
    gravel_status status = GRAVEL_OK;
    if (other && count)
        sort(s, other, n, count); /* an even number of passes ends where it began */
    else
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for the radii of %zu particles", n);
    free(other);
    free(count);
    return status;
}

gravel_status gv_shells_sorted(const gv_particles *p, const double centre[3], gv_shell **shells)
{
    gv_shell *s = malloc((p->count + 1) * sizeof *s);
    gravel_status status = GRAVEL_OK;
    if (!s)
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for the radii of %zu particles", p->count);
    for (size_t i = 0; !status && i < p->count; i++) {
        const double dx = p->x[i] - centre[0], dy = p->y[i] - centre[1], dz = p->z[i] - centre[2];
        s[i] = (gv_shell){sqrt(dx * dx + dy * dy + dz * dz), p->m[i]};
    }
    if (!status)
        status = gv_shells_sort(s, p->count);
    if (status) {
        free(s);
        s = NULL;
    }
    *shells = s;
    return status;
}
