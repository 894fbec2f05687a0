/* Sources go to the devices that need them, a call is submitted, its results are brought into the form of GRAPE-5. */
#include "compat/g5/g5.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static gravel_vec rows(double (*x)[3], int first)
{
    return (gravel_vec){x[first], x[first] + 1, x[first] + 2, 3};
}

static size_t pulling(const gv_g5_memory *memory)
{
    return (size_t)(memory->is_counted && memory->n < memory->used ? memory->n : memory->used);
}

static gravel_sources changed(const gv_g5_memory *memory, const gv_g5_range *range)
{
    return (gravel_sources){.count = (size_t)(range->end - range->first),
                            .mass = memory->m + range->first,
                            .pos = rows(memory->x, range->first)};
}

static gravel_status send(gv_g5_unit *unit, gv_g5_kind kind)
{
    gv_g5_memory *memory = &unit->memory[kind];
    gv_g5_range *range = &memory->unsent;
    gravel_status status = GRAVEL_OK;
    if (!memory->several) {
        status = gv_compat_create(&memory->several, &unit->settings);
        *range = (gv_g5_range){0, memory->used};
        memory->table = 0;
    }
    const size_t first = (size_t)range->first;
    if (!status && range->end > range->first) {
        const gravel_sources sources = changed(memory, range);
        status = gravel_several_write_sources(memory->several, first, &sources);
        if (!status && kind == GV_G5_SYMMETRIC)
            status = gravel_several_write_softening(memory->several, first, sources.count, memory->eps + first);
        if (!status && kind == GV_G5_CELLS)
            status = gravel_several_write_quadrupoles(memory->several, first, sources.count,
                                                      (const double(*)[6])memory->q + first);
    }
    if (!status) {
        *range = (gv_g5_range){0, 0};
        status = gravel_several_set_source_count(memory->several, pulling(memory));
    }
    return status;
}

/* Sinks without a softening of their own have that of all. */
static void fill_softening(gv_g5_unit *unit)
{
    for (int i = 0; i < unit->ni && !unit->has_eps; i++)
        unit->epsi[i] = unit->eps;
    unit->has_eps = 1;
}

/* Whose softening counts.  A table of forces has its own. */
static void soften(gv_g5_unit *unit, gv_g5_kind kind, const gv_g5_table *table, gravel_several_call *call)
{
    if (unit->with_table && table->kind == GRAVEL_TABLE_FORCES)
        return;
    if (kind == GV_G5_SYMMETRIC)
        fill_softening(unit);
    call->eps = unit->eps;
    if (unit->has_eps) {
        call->soften = kind == GV_G5_SYMMETRIC ? GRAVEL_SOFTEN_SUM : GRAVEL_SOFTEN_SINKS;
        call->sink_eps = unit->epsi;
    }
}

/* -------------------------------------------------------------------- calls */

static int submit(const char *function, gv_g5_unit *unit, gv_g5_kind kind, const gv_g5_table *table)
{
    const gravel_sinks sinks = {.count = (size_t)unit->ni, .pos = rows(unit->xi, 0)};
    gravel_several_call call = GRAVEL_SEVERAL_CALL_INIT;
    gv_g5_memory *memory = &unit->memory[kind];
    if (gv_compat_failed(function, send(unit, kind)) != 0)
        return -1;
    if (unit->with_table && gv_g5_need_table(function, table, memory))
        return -1;
    call.sinks = &sinks;
    call.order = 2;
    call.shape = unit->with_table ? GRAVEL_SHAPE_TABLE : GRAVEL_SHAPE_PLUMMER;
    call.quadrupoles = kind == GV_G5_CELLS;
    soften(unit, kind, table, &call);
    return gv_compat_failed(function, gravel_several_submit(memory->several, &call));
}

int gv_g5_submit(const char *function, gv_g5_unit *unit, gv_g5_kind kind)
{
    gv_g5_table table;
    gv_g5_get_table(&table);
    unit->asked = kind;
    unit->eps = gv_g5_get_eps();
    unit->with_table = table.version > 0 && kind != GV_G5_CELLS;
    unit->is_nothing = unit->ni == 0 || pulling(&unit->memory[kind]) == 0;
    return unit->is_nothing ? 0 : submit(function, unit, kind, &table); /* nothing: zeros */
}

/* ---------------------------------------------------- the term of the body itself */

/* Sources by the bits of their places: entry h of `head` begins a chain. */
static size_t hash_of(const double *x, size_t size)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (int c = 0; c < 3; c++) {
        const double plus_zero = x[c] + 0.0; /* -0 is 0 */
        uint64_t bits;
        memcpy(&bits, &plus_zero, sizeof bits);
        h = (h ^ bits) * 0xbf58476d1ce4e5b9u;
        h ^= h >> 29;
    }
    return (size_t)(h & (size - 1));
}

static double softened(const gv_g5_unit *unit, const gv_g5_memory *memory, int i, size_t j)
{
    const double own = unit->has_eps ? unit->epsi[i] : unit->eps;
    return unit->asked == GV_G5_SYMMETRIC ? hypot(own, memory->eps[j]) : own;
}

/* Takes m / eps of the sources at a sink's own place out of its potential, which is negative still. */
static int without_self(const char *function, gv_g5_unit *unit)
{
    const gv_g5_memory *memory = &unit->memory[unit->asked];
    const size_t n = pulling(memory);
    gv_g5_table table;
    size_t size = 16;
    while (size < 2 * n)
        size *= 2;
    uint32_t *head = malloc((size + n) * sizeof *head), *next = head + size;
    if (!head)
        return gv_compat_fail(function, "no memory for %zu numbers", size + n);
    gv_g5_get_table(&table);
    memset(head, 0xff, size * sizeof *head);
    for (size_t j = n; j-- > 0;) {
        const size_t h = hash_of(memory->x[j], size);
        next[j] = head[h];
        head[h] = (uint32_t)j;
    }
    for (int i = 0; i < unit->ni; i++)
        for (uint32_t j = head[hash_of(unit->xi[i], size)]; j != UINT32_MAX; j = next[j]) {
            const double s = softened(unit, memory, i, j), *a = memory->x[j], *b = unit->xi[i];
            if (a[0] != b[0] || a[1] != b[1] || a[2] != b[2])
                continue;
            if (unit->with_table)
                unit->pot[i] += memory->m[j] * gv_g5_table_potential(&table, s);
            else if (s > 0)
                unit->pot[i] += memory->m[j] / s;
        }
    free(head);
    return 0;
}

int gv_g5_collect(const char *function, gv_g5_unit *unit)
{
    gv_g5_memory *memory = &unit->memory[unit->asked];
    const gravel_forces forces = {.acc = {unit->acc[0], unit->acc[0] + 1, unit->acc[0] + 2, 3}, .pot = unit->pot};
    const gv_compat_choice sign = unit->settings.positive;
    if (unit->ni == 0)
        return 0;
    if (unit->is_nothing) {
        memset(unit->acc, 0, (size_t)unit->ni * sizeof *unit->acc);
        memset(unit->pot, 0, (size_t)unit->ni * sizeof *unit->pot);
        return 0;
    }
    if (gv_compat_failed(function, gravel_several_collect(memory->several, &forces, NULL)) != 0)
        return -1;
    if (unit->settings.self == GV_COMPAT_NO && unit->asked != GV_G5_CELLS && without_self(function, unit))
        return -1;
    /* GRAPE-5's is positive; that of the quadrupole library is not */
    const int positive = sign == GV_COMPAT_YES || (sign == GV_COMPAT_INTERFACE && unit->asked != GV_G5_CELLS);
    for (int i = 0; i < unit->ni && positive; i++)
        unit->pot[i] = 0 - unit->pot[i]; /* of nothing 0, not -0 */
    return 0;
}

void gv_g5_release(gv_g5_unit *unit)
{
    for (int kind = 0; kind < GV_G5_KINDS; kind++) {
        gv_g5_memory *memory = &unit->memory[kind];
        gravel_several_release(memory->several);
        free(memory->x);
        free(memory->m);
        free(memory->eps);
        free(memory->q);
        *memory = (gv_g5_memory){.used = 0};
    }
    free(unit->xi);
    free(unit->epsi);
    free(unit->acc);
    free(unit->pot);
    unit->xi = unit->acc = NULL;
    unit->epsi = unit->pot = NULL;
    memset(unit->room, 0, sizeof unit->room);
}
