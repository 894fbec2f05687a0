/* Sources go to the devices that need them, a call is submitted, its results are brought into the form of GRAPE-5. */
#include "compat/g5/g5.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gravel_vec rows(double (*x)[3], int first)
{
    return (gravel_vec){x[first], x[first] + 1, x[first] + 2, 3};
}

static void forget(gv_g5_range *range)
{
    *range = (gv_g5_range){0, 0};
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

/* ----------------------------------------------------- bodies, without a table */

static gravel_status send_to_several(gv_g5_unit *unit, gv_g5_kind kind)
{
    gv_g5_memory *memory = &unit->memory[kind];
    gv_g5_range *range = &memory->for_several;
    gravel_status status = GRAVEL_OK;
    if (!memory->several) {
        status = gv_compat_create(&memory->several, &unit->settings);
        *range = (gv_g5_range){0, memory->used};
    }
    if (!status && range->end > range->first) {
        const gravel_sources sources = changed(memory, range);
        status = gravel_several_write_sources(memory->several, (size_t)range->first, &sources);
        if (!status && kind == GV_G5_SYMMETRIC)
            status = gravel_several_write_softening(memory->several, (size_t)range->first, sources.count,
                                                    memory->eps + range->first);
    }
    if (!status) {
        forget(range);
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

static int submit_bodies(const char *function, gv_g5_unit *unit, gv_g5_kind kind)
{
    const gravel_sinks sinks = {.count = (size_t)unit->ni, .pos = rows(unit->xi, 0)};
    gravel_several_call call = GRAVEL_SEVERAL_CALL_INIT;
    call.sinks = &sinks;
    call.order = 2;
    call.eps = unit->eps;
    if (kind == GV_G5_SYMMETRIC)
        fill_softening(unit);
    if (unit->has_eps) {
        call.soften = kind == GV_G5_SYMMETRIC ? GRAVEL_SOFTEN_SUM : GRAVEL_SOFTEN_SINKS;
        call.sink_eps = unit->epsi;
    }
    gravel_status status = send_to_several(unit, kind);
    if (!status)
        status = gravel_several_submit(unit->memory[kind].several, &call);
    return gv_compat_failed(function, status);
}

/* -------------------------------------------------------- tables and cells */

/* On the first of the devices. */
static gravel_status need_context(gv_g5_unit *unit)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    char name[16];
    gravel_several *several;
    if (unit->context)
        return GRAVEL_OK;
    gravel_status status = gv_compat_create(&several, &unit->settings);
    if (status)
        return status;
    snprintf(name, sizeof name, "%d", gravel_several_get_device(several, 0)->index);
    if (gravel_several_get_device_count(several) > 1)
        gv_compat_log(GV_COMPAT_INFO, "tables and quadrupoles use one device: %s",
                      gravel_several_get_device(several, 0)->name);
    gravel_several_release(several);
    options.device = name;
    return gravel_context_create(&unit->context, &options);
}

static gravel_status send_to_direct(gv_g5_unit *unit, gv_g5_kind kind)
{
    gv_g5_memory *memory = &unit->memory[kind];
    gv_g5_range *range = &memory->for_direct;
    gravel_status status = GRAVEL_OK;
    if (!memory->direct) {
        gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
        options.precision = unit->settings.precision;
        status = need_context(unit);
        if (!status)
            status = gravel_direct_create(&memory->direct, unit->context, &options);
        *range = (gv_g5_range){0, memory->used};
        memory->table = 0;
    }
    if (!status && range->end > range->first) {
        const gravel_sources sources = changed(memory, range);
        status = gravel_direct_write_sources(memory->direct, (size_t)range->first, &sources);
        if (!status && kind == GV_G5_CELLS)
            status = gravel_direct_write_quadrupoles(memory->direct, (size_t)range->first, sources.count,
                                                     (const double(*)[6])memory->q + range->first);
    }
    if (!status) {
        forget(range);
        status = gravel_direct_set_source_count(memory->direct, pulling(memory));
    }
    return status;
}

/* Softening per sink is that of all here: the public call takes it from bodies on the device only. */
static int submit_direct(const char *function, gv_g5_unit *unit, gv_g5_kind kind, const gv_g5_table *table)
{
    const gravel_sinks sinks = {.count = (size_t)unit->ni, .pos = rows(unit->xi, 0)};
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    gv_g5_memory *memory = &unit->memory[kind];
    if (unit->has_eps)
        for (int i = 1; i < unit->ni; i++)
            if (unit->epsi[i] != unit->epsi[0])
                return gv_compat_fail(function, "with a table or quadrupoles all sinks of a call have one softening");
    if (unit->has_eps && unit->ni > 0)
        unit->eps = unit->epsi[0];
    if (gv_compat_failed(function, send_to_direct(unit, kind)) != 0)
        return -1;
    call.points = &sinks;
    call.order = 2;
    call.eps = unit->eps;
    call.quadrupoles = kind == GV_G5_CELLS;
    if (unit->with_table) {
        if (gv_g5_need_table(function, table, memory))
            return -1;
        call.shape = GRAVEL_SHAPE_TABLE;
        call.eps = table->kind == GRAVEL_TABLE_FORCES ? 0 : unit->eps;
    }
    return gv_compat_failed(function, gravel_direct_start(memory->direct, &call, &unit->ticket));
}

/* -------------------------------------------------------------------- calls */

static void drop_ticket(gv_g5_unit *unit)
{
    gravel_ticket_release(unit->ticket);
    unit->ticket = NULL;
}

int gv_g5_submit(const char *function, gv_g5_unit *unit, gv_g5_kind kind)
{
    gv_g5_table table;
    gv_g5_get_table(&table);
    drop_ticket(unit);
    unit->asked = kind;
    unit->eps = gv_g5_get_eps();
    unit->with_table = table.version > 0 && kind != GV_G5_CELLS;
    unit->is_nothing = unit->ni == 0 || pulling(&unit->memory[kind]) == 0;
    if (unit->is_nothing)
        return 0; /* zeros */
    if (unit->with_table || kind == GV_G5_CELLS)
        return submit_direct(function, unit, kind, &table);
    return submit_bodies(function, unit, kind);
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
    const gravel_status status = unit->ticket ? gravel_ticket_collect(unit->ticket, &forces, NULL)
                                              : gravel_several_collect(memory->several, &forces, NULL);
    drop_ticket(unit);
    if (gv_compat_failed(function, status) != 0)
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
    drop_ticket(unit);
    for (int kind = 0; kind < GV_G5_KINDS; kind++) {
        gv_g5_memory *memory = &unit->memory[kind];
        gravel_several_release(memory->several);
        gravel_direct_release(memory->direct);
        free(memory->x);
        free(memory->m);
        free(memory->eps);
        free(memory->q);
        *memory = (gv_g5_memory){.used = 0};
    }
    gravel_context_release(unit->context);
    unit->context = NULL;
    free(unit->xi);
    free(unit->epsi);
    free(unit->acc);
    free(unit->pot);
    unit->xi = unit->acc = NULL;
    unit->epsi = unit->pot = NULL;
    memset(unit->room, 0, sizeof unit->room);
}
