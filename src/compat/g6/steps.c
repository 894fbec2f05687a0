/* First and last half in the steps of GRAPE-6A's library: sinks set one by one, a start, results.
 *
 * A sink keeps what it was given until it is set again, as the registers of the board do; sinks may be fewer than have
 * been set, not more. */
#include "compat/g6/g6.h"

#include <stdlib.h>
#include <string.h>

static gv_g6 *const g = &gv_g6_one;

typedef struct gv_g6_steps {
    int count; /* sinks of the next start */
    int room, *is_set, *index;
    double (*x)[3], (*v)[3], *eps2, *h2;
} gv_g6_steps;

void gv_g6_forget_sinks(void)
{
    gv_g6_steps *s = g->steps;
    if (!s)
        return;
    free(s->is_set);
    free(s->index);
    free(s->x);
    free(s->v);
    free(s->eps2);
    free(s->h2);
    free(s);
    g->steps = NULL;
}

/* As many sinks as there are pipes. */
static int need_steps(const char *function)
{
    const size_t n = (size_t)g->settings.pipes;
    if (g->steps)
        return 0;
    gv_g6_steps *s = g->steps = calloc(1, sizeof *s);
    if (s) {
        s->room = g->settings.pipes;
        s->is_set = calloc(n, sizeof *s->is_set);
        s->index = calloc(n, sizeof *s->index);
        s->x = calloc(n, sizeof *s->x);
        s->v = calloc(n, sizeof *s->v);
        s->eps2 = calloc(n, sizeof *s->eps2);
        s->h2 = calloc(n, sizeof *s->h2);
    }
    if (s && s->is_set && s->index && s->x && s->v && s->eps2 && s->h2)
        return 0;
    gv_g6_forget_sinks();
    return gv_compat_fail(function, "no memory for %zu sinks", n);
}

int gv_g6_set_sink_count(const char *function, int count)
{
    if (gv_g6_enter(function))
        return -1;
    int result = need_steps(function);
    if (result == 0 && (count < 0 || count > g->steps->room))
        result = gv_compat_fail(function, "%d sinks, but %d pipes (the setting `pipes`)", count, g->steps->room);
    if (g->steps)
        g->steps->count = result == 0 ? count : 0;
    gv_g6_leave();
    return result;
}

int gv_g6_set_sink(const char *function, int address, int index, const double *x, const double *v, double eps2,
                   double h2)
{
    static const double zero[3];
    if (gv_g6_enter(function))
        return -1;
    int result = need_steps(function);
    gv_g6_steps *const s = g->steps;
    if (result == 0 && (address < 0 || address >= s->room))
        result = gv_compat_fail(function, "there is no sink %d, but %d pipes (the setting `pipes`)", address, s->room);
    else if (result == 0 && !x)
        result = gv_compat_fail(function, "no position");
    if (result == 0) {
        memcpy(s->x[address], x, sizeof *s->x);
        memcpy(s->v[address], v ? v : zero, sizeof *s->v);
        s->index[address] = index;
        s->eps2[address] = eps2;
        s->h2[address] = h2;
        s->is_set[address] = 1;
    }
    gv_g6_leave();
    return result;
}

/* Under the lock. */
static int start(const char *function, int nj)
{
    const gv_g6_steps *s = g->steps;
    g->stage = GV_G6_FAILED;
    g->sinks = s ? s->count : 0;
    if (!s)
        return gv_compat_fail(function, "no sinks were set");
    for (int i = 0; i < s->count; i++)
        if (!s->is_set[i])
            return gv_compat_fail(function, "sink %d of %d was never set", i, s->count);
    gv_g6_ask(function, nj, &(gv_g6_sinks){s->count, s->index, s->x, s->v, s->eps2, s->h2, 1});
    return g->stage == GV_G6_FAILED ? -1 : 0;
}

int gv_g6_start(const char *function, int nj)
{
    if (gv_g6_enter(function))
        return -1;
    const int result = start(function, nj);
    gv_g6_leave();
    return result;
}

/* No number can leave the range of a device here, as it could on the boards: no flags. */
int gv_g6_get_forces(const char *function, const gv_g6_results *to, int *flag)
{
    if (gv_g6_enter(function))
        return -1;
    const int count = g->stage != GV_G6_IDLE ? g->sinks : g->steps ? g->steps->count : 0;
    gv_g6_leave();
    for (int i = 0; i < count && flag; i++)
        flag[i] = 0;
    return gv_g6_lasthalf(function, count, to);
}
