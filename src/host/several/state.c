/* What decides the bits of shared forces, as text: lines of words, a line for each configuration of a solver.
 *
 *   devices COUNT
 *   speeds PAIRS_PER_S ...
 *   times ORDER TEAM SINKS ... SOURCES ... SECONDS ...   of blocks, by the fastest 1, 2, 4, ... devices
 *   walk LEAST                                       sinks of a walk that is shared
 *   stretch DEVICE SINKS COST                        of the last one
 *   solver DEVICE                                    its choices follow, as gravel_direct_get_choices has them
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/several/share.h"

/* A text that may be cut short; `used` counts all of it. */
typedef struct writing {
    char *text;
    size_t size, used;
} writing;

static void put(writing *w, const char *line)
{
    const size_t length = strlen(line);
    if (w->text && w->used + length < w->size)
        memcpy(w->text + w->used, line, length + 1);
    w->used += length;
}

static void put_number(writing *w, double number)
{
    char text[32];
    snprintf(text, sizeof text, " %.17g", number);
    put(w, text);
}

static void put_costs(writing *w, int order, int team, const gv_cost *c)
{
    char text[48];
    snprintf(text, sizeof text, "times %d %d", order, team);
    put(w, text);
    for (int k = 0; k < GV_LINES; k++)
        put_number(w, c->sinks[k]);
    for (int k = 0; k < GV_KNOTS; k++)
        put_number(w, c->sources[k]);
    for (int k = 0; k < GV_LINES * GV_KNOTS; k++)
        put_number(w, c->seconds[k / GV_KNOTS][k % GV_KNOTS]);
    put(w, "\n");
}

static void put_model(writing *w, const gravel_several *s)
{
    if (s->speeds_known) {
        put(w, "speeds");
        for (int m = 0; m < s->members; m++)
            put_number(w, s->speed[m]);
        put(w, "\n");
    }
    for (int k = 0; k < 3; k++)
        for (int t = 0; t < s->teams && s->steps[k].known; t++)
            put_costs(w, 2 * k + 2, t, &s->steps[k].team[t]);
}

static void put_walk(writing *w, const gravel_several_share *s)
{
    char text[96];
    if (s->walk.least > 0) {
        put(w, "walk");
        put_number(w, s->walk.least);
        put(w, "\n");
    }
    for (int m = 0; m < s->several->members; m++)
        if (s->walk.stretch[m].cost > 0) {
            snprintf(text, sizeof text, "stretch %d %zu", m, s->walk.stretch[m].count);
            put(w, text);
            put_number(w, s->walk.stretch[m].cost);
            put(w, "\n");
        }
}

size_t gravel_several_share_get_choices(const gravel_several_share *s, char *text, size_t size)
{
    writing w = {text, size, 0};
    char line[48];
    if (text && size > 0)
        text[0] = '\0';
    if (!s)
        return 1;
    snprintf(line, sizeof line, "devices %d\n", s->several->members);
    put(&w, line);
    put_model(&w, s->several);
    put_walk(&w, s);
    for (int m = 1; m < s->several->members; m++) {
        const gravel_direct *d = s->several->member[m].direct;
        const size_t room = gravel_direct_get_choices(d, NULL, 0);
        snprintf(line, sizeof line, "solver %d\n", m);
        put(&w, line);
        if (text && w.used + room <= size)
            gravel_direct_get_choices(d, text + w.used, size - w.used);
        w.used += room - 1;
    }
    return w.used + 1;
}

/* ----------------------------------------------------------------- reading */

static int read_numbers(const char *text, int n, double *number)
{
    for (int k = 0; k < n; k++) {
        char *end;
        number[k] = strtod(text, &end);
        if (end == text || !(number[k] >= 0))
            return 0;
        text = end;
    }
    return 1;
}

static int take_costs(gravel_several *s, int order, int team, const char *text)
{
    enum { NUMBERS = sizeof(gv_cost) / sizeof(double) };
    double n[NUMBERS];
    gv_cost c;
    if ((order != 2 && order != 4 && order != 6) || team < 0 || team >= s->teams || !read_numbers(text, NUMBERS, n))
        return 0;
    memcpy(&c, n, sizeof c); /* in the order of its members */
    if (!gv_cost_is_ordered(&c))
        return 0;
    s->steps[order / 2 - 1].team[team] = c;
    s->steps[order / 2 - 1].host = c;
    s->steps[order / 2 - 1].known = team == s->teams - 1; /* the others stand before it */
    return 1;
}

/* A line of ours; 0: it is damaged. */
static int take_line(gravel_several_share *s, const char *line, int *solver)
{
    gravel_several *several = s->several;
    double speed[GV_MOST_MEMBERS], cost;
    size_t sinks;
    int a, b, at = 0;
    if (sscanf(line, "solver %d", &a) == 1 && a > 0 && a < several->members) {
        *solver = a;
        return 1;
    }
    if (strncmp(line, "speeds ", 7) == 0 && read_numbers(line + 7, several->members, speed)) {
        memcpy(several->speed, speed, (size_t)several->members * sizeof *speed);
        return several->speeds_known = 1;
    }
    if (sscanf(line, "times %d %d %n", &a, &b, &at) == 2 && at > 0)
        return take_costs(several, a, b, line + at);
    if (sscanf(line, "walk %lf", &cost) == 1 && cost > 0) {
        s->walk.least = cost;
        return 1;
    }
    if (sscanf(line, "stretch %d %zu %lf", &a, &sinks, &cost) == 3 && a >= 0 && a < several->members && cost > 0) {
        s->walk.stretch[a].count = sinks;
        s->walk.stretch[a].cost = cost;
        return 1;
    }
    return 0;
}

gravel_status gravel_several_share_set_choices(gravel_several_share *s, const char *text)
{
    char line[640];
    int solver = 0, devices;
    gravel_status status = GRAVEL_OK;
    if (!s || !text)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_share_set_choices: no share or no text");
    if (sscanf(text, "devices %d", &devices) != 1)
        return gv_fail(GRAVEL_ERR_FORMAT, "these are no choices of devices that share forces");
    if (devices != s->several->members)
        return GRAVEL_OK;
    for (text += strcspn(text, "\n"); *text && !status; text += strcspn(text, "\n")) {
        text += *text == '\n';
        snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
        if (line[0] == '\0')
            continue;
        if (line[0] >= '0' && line[0] <= '9' && solver > 0)
            status = gravel_direct_set_choices(s->several->member[solver].direct, line);
        else if (!take_line(s, line, &solver))
            status = gv_fail(GRAVEL_ERR_FORMAT, "'%s' is no choice of devices that share forces", line);
    }
    return status;
}
