#include "compat/common/refused.h"

#include <stdlib.h>

#include "compat/common/compat.h"

static size_t find(const gv_refused *r, uint32_t address)
{
    size_t k = 0;
    while (k < r->count && r->address[k] != address)
        k++;
    return k;
}

void gv_refused_note(gv_refused *r, uint32_t address, int is_refused)
{
    if (r->count == 0 && !is_refused)
        return;
    const size_t at = find(r, address);
    if (!is_refused && at < r->count)
        r->address[at] = r->address[--r->count];
    if (!is_refused || at < r->count)
        return;
    if (r->count == r->room) {
        uint32_t *grown = realloc(r->address, (2 * r->room + 8) * sizeof *grown);
        if (!grown)
            return; /* its line is in the log in any case */
        r->address = grown;
        r->room = 2 * r->room + 8;
    }
    r->address[r->count++] = address;
}

int gv_refused_check(const gv_refused *r, const char *function, size_t sources)
{
    for (size_t k = 0; k < r->count; k++)
        if (r->address[k] < sources)
            return gv_compat_fail(function, "the source at address %u was refused and not set again",
                                  (unsigned)r->address[k]);
    return 0;
}

void gv_refused_forget(gv_refused *r)
{
    free(r->address);
    *r = (gv_refused){NULL, 0, 0};
}
