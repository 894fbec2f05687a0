/* First half, last half, lists.
 *
 * What a caller will read of a call is known only after it: lasthalf or lasthalf2, lists or none.  A call has what the
 * caller read of the one before; where that turns out to be too little, the call is computed once more with it. */
#include "compat/g6/g6.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static gv_g6 *const g = &gv_g6_one;

static gravel_vec vectors(double (*p)[3])
{
    return p ? GRAVEL_VEC_AOS(p) : (gravel_vec){NULL, NULL, NULL, 0};
}

static gravel_vec_out vectors_out(double (*p)[3])
{
    return p ? GRAVEL_VEC_OUT_AOS(p) : (gravel_vec_out){NULL, NULL, NULL, 0};
}

/* Radii of the lists.  What is not a number is memory that the caller never wrote. */
static void take_radii(const double *h2, int ni)
{
    for (int i = 0; i < ni; i++)
        g->radius[i] = h2 && h2[i] > 0 && isfinite(h2[i]) ? sqrt(h2[i]) : 0;
}

/* 0: the arguments can be computed with */
static int check(const char *function, int nj, const gv_g6_sinks *s)
{
    if (s->count < 0 || nj < 0)
        return gv_compat_fail(function, "nj is %d, ni is %d", nj, s->count);
    if (s->count > g->settings.pipes)
        return gv_compat_fail(function, "%d sinks, but %d pipes (the setting `pipes`)", s->count, g->settings.pipes);
    if (s->count > 0 && (!s->x || !s->eps2))
        return gv_compat_fail(function, "no %s", s->x ? "softening" : "positions");
    for (int i = 0; i < (s->eps2_each ? s->count : s->count > 0); i++)
        if (!(s->eps2[i] >= 0) || isinf(s->eps2[i]))
            return gv_compat_fail(function, "eps2 is %g", s->eps2[i]);
    return 0;
}

static int submit(const char *function, int nj, const gravel_sinks *sinks, const double *eps2, int each)
{
    gravel_several_call call = GRAVEL_SEVERAL_CALL_INIT;
    const size_t sources = (size_t)(nj < g->sources ? nj : g->sources);

    call.sinks = sinks;
    call.order = 4;
    call.eps = sqrt(eps2[0]);
    call.soften = each ? GRAVEL_SOFTEN_SINKS : GRAVEL_SOFTEN_EPS;
    call.sink_eps = each ? g->eps : NULL;
    call.nearest = g->has_nearest = g->want_nearest;
    call.neighbour_capacity = g->want_lists ? g->settings.neighbours : 0;
    g->has_lists = g->want_lists;
    if (gv_refused_check(&g->refused, function, (size_t)nj))
        return -1;
    gravel_status status = gravel_several_set_source_count(g->several, sources);
    if (status == GRAVEL_OK)
        status = gravel_several_submit(g->several, &call);
    return gv_compat_failed(function, status);
}

/* Softening lengths, where they are not all one. */
static int take_softening(const gv_g6_sinks *s)
{
    int differ = 0;
    for (int i = 0; i < s->count && s->eps2_each; i++) {
        g->eps[i] = sqrt(s->eps2[i]);
        differ |= s->eps2[i] != s->eps2[0];
    }
    return differ;
}

void gv_g6_ask(const char *function, int nj, const gv_g6_sinks *s)
{
    const size_t n = s->count > 0 ? (size_t)s->count : 0;
    g->lists_are_read = 0;
    g->is_fresh = 1;
    g->sinks = s->count;
    g->stage = check(function, nj, s) ? GV_G6_FAILED : n == 0 ? GV_G6_NOTHING : GV_G6_ASKED;
    if (g->stage != GV_G6_ASKED)
        return;
    g->stage = GV_G6_FAILED;
    if (gv_g6_need(function, &g->radius, &g->radius_room, n, sizeof *g->radius) ||
        gv_g6_need(function, &g->eps, &g->eps_room, s->eps2_each ? n : 0, sizeof *g->eps))
        return;
    take_radii(s->h2, s->count);
    const gravel_sinks sinks = {
        .count = n, .id = s->index, .pos = vectors(s->x), .vel = vectors(s->v), .radius = g->radius};
    if (submit(function, nj, &sinks, s->eps2, take_softening(s)) == 0)
        g->stage = GV_G6_ASKED;
}

void gv_g6_firsthalf(const char *function, int nj, const gv_g6_sinks *sinks)
{
    if (gv_g6_enter(function))
        return;
    gv_g6_ask(function, nj, sinks);
    gv_g6_leave();
}

/* The call as it stands has the nearest, the lists. */
static int have(const char *function, int nearest, int lists)
{
    if (g->is_fresh)
        g->want_nearest = g->want_lists = g->is_fresh = 0;
    g->want_nearest |= nearest;
    g->want_lists |= lists;
    if (g->has_nearest >= nearest && g->has_lists >= lists)
        return 0;
    g->has_nearest |= nearest;
    g->has_lists |= lists;
    if (gv_compat_failed(function, gravel_several_again(g->several, 4, g->has_nearest,
                                                        g->has_lists ? g->settings.neighbours : 0)) == 0)
        return 0;
    g->stage = GV_G6_FAILED;
    return -1;
}

/* Distances and addresses of the nearest of n sinks have room. */
static int need_nearest(const char *function, size_t n)
{
    return gv_g6_need(function, &g->nearest, &g->nearest_room, n, sizeof *g->nearest) ||
           gv_g6_need(function, &g->nearest_address, &g->address_room, n, sizeof *g->nearest_address);
}

static int collect(const char *function, const gv_g6_results *to)
{
    const int nearest = to->nearest || to->distance;
    gravel_forces forces = {.acc = vectors_out(to->acc), .jerk = vectors_out(to->jerk), .pot = to->pot};

    if (nearest && need_nearest(function, (size_t)g->sinks))
        return -1;
    if (nearest) {
        forces.nearest_id = to->nearest;
        forces.nearest_address = g->nearest_address;
        forces.nearest_distance = g->nearest;
    }
    if (gv_compat_failed(function, gravel_several_collect(g->several, &forces, NULL)) != 0) {
        g->stage = GV_G6_FAILED;
        return -1;
    }
    const int turned = to->pot && g->settings.positive == GV_COMPAT_YES;
    for (int i = 0; i < g->sinks && (nearest || turned); i++) {
        if (to->nearest && g->nearest_address[i] == GRAVEL_NONE)
            to->nearest[i] = 0; /* as Sapporo2 has it: -1 would be an index for callers that do not look */
        if (to->distance)
            to->distance[i] = (float)g->nearest[i];
        if (turned)
            to->pot[i] = -to->pot[i];
    }
    return 0;
}

static int read_lists(const char *function);

static int last_half(const char *function, int ni, const gv_g6_results *to)
{
    if (g->stage == GV_G6_IDLE)
        return gv_compat_fail(function, "there was no g6calc_firsthalf (or g6_set_njp)");
    if (g->stage == GV_G6_FAILED)
        return -1;
    if (ni != g->sinks)
        return gv_compat_fail(function, "%d sinks, but g6calc_firsthalf had %d", ni, g->sinks);
    if (g->stage == GV_G6_NOTHING)
        return 0;
    if (have(function, to->nearest || to->distance, to->lists) || collect(function, to))
        return -1;
    return to->lists && read_lists(function) < 0 ? -1 : 0;
}

/* A caller that looks at no return value must see that these are no forces. */
static void spoil(int ni, const gv_g6_results *to)
{
    for (int i = 0; i < ni; i++) {
        for (int c = 0; c < 3; c++) {
            if (to->acc)
                to->acc[i][c] = NAN;
            if (to->jerk)
                to->jerk[i][c] = NAN;
        }
        if (to->pot)
            to->pot[i] = NAN;
        if (to->nearest)
            to->nearest[i] = 0;
    }
}

int gv_g6_lasthalf(const char *function, int ni, const gv_g6_results *to)
{
    int result = -1;

    if (gv_g6_enter(function) == 0) {
        result = last_half(function, ni, to);
        gv_g6_leave();
    }
    if (result != 0)
        spoil(ni, to);
    return result;
}

/* ------------------------------------------------------------------ lists */

/* Under the lock; 1: some list is too long. */
static int read_lists(const char *function)
{
    size_t overflow = 0;
    const size_t n = (size_t)g->sinks;

    if (gv_g6_need(function, &g->count, &g->count_room, n, sizeof *g->count) ||
        gv_g6_need(function, &g->list, &g->list_room, n * (size_t)g->settings.neighbours, sizeof *g->list))
        return -1;
    const gravel_forces forces = {.neighbour_count = g->count, .neighbour_id = g->list};
    if (have(function, 0, 1) || gv_compat_failed(function, gravel_several_collect(g->several, &forces, &overflow)))
        return -1;
    g->lists_are_read = 1;
    return overflow > 0;
}

int gv_g6_read_lists(const char *function)
{
    int result = 0;

    if (gv_g6_enter(function))
        return -1;
    if (g->stage == GV_G6_IDLE)
        result = gv_compat_fail(function, "there was no g6calc_firsthalf (or g6_set_njp)");
    else if (g->stage == GV_G6_FAILED)
        result = -1;
    else if (g->stage == GV_G6_ASKED)
        result = read_lists(function);
    gv_g6_leave();
    return result;
}

static int ascending(const void *a, const void *b)
{
    const int p = *(const int *)a, q = *(const int *)b;

    return (p > q) - (p < q);
}

int gv_g6_get_list(const char *function, int sink, int most, int *n, int *list)
{
    int result = -1;

    if (gv_g6_enter(function))
        return -1;
    if (!g->lists_are_read) {
        gv_compat_fail(function, "g6_read_neighbour_list was not called after g6calc_firsthalf, or failed");
    } else if (sink < 0 || sink >= g->sinks || most < 0 || !n || (most > 0 && !list)) {
        gv_compat_fail(function, "sink %d of %d, a list of %d", sink, g->sinks, most);
    } else {
        const uint32_t count = g->count[sink], room = (uint32_t)g->settings.neighbours;
        const uint32_t kept = count < room ? count : room, given = kept < (uint32_t)most ? kept : (uint32_t)most;
        if (given > 0)
            memcpy(list, g->list + (size_t)sink * room, given * sizeof *list);
        if (g->sorted && given > 0)
            qsort(list, given, sizeof *list, ascending);
        *n = count < INT32_MAX ? (int)count : INT32_MAX;
        result = given < count;
    }
    gv_g6_leave();
    return result;
}

void gv_g6_set_sorted(int sorted)
{
    pthread_mutex_lock(&g->lock);
    g->sorted = sorted;
    pthread_mutex_unlock(&g->lock);
}

int gv_g6_get_sorted(void)
{
    pthread_mutex_lock(&g->lock);
    const int sorted = g->sorted;
    pthread_mutex_unlock(&g->lock);
    return sorted;
}
