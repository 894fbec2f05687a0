#include "host/several/recheck.h"

#include <math.h>
#include <string.h>

gv_cell *gv_recheck_cell(gv_recheck *r, int order, size_t sinks, size_t sources, int make)
{
    const int i = ilogb((double)sinks), j = ilogb((double)sources);
    for (int k = 0; k < r->cells; k++) {
        gv_cell *const c = &r->cell[k];
        if (c->sinks == i && c->sources == j && c->order == order)
            return c;
    }
    if (!make || r->cells == GV_MOST_CELLS)
        return NULL;
    gv_cell *const made = &r->cell[r->cells++];
    *made = (gv_cell){.order = order, .sinks = i, .sources = j};
    for (int a = 0; a < GV_MOST_ANSWERS; a++)
        made->factor[a] = 1;
    return made;
}

int gv_cell_due(const gv_cell *c, const double seconds[GV_MOST_ANSWERS], int chosen)
{
    enum { LONGEST = 6 }; /* 2^6 */
    double least = INFINITY;
    int due = -1;
    for (int a = 0; a < GV_MOST_ANSWERS; a++) {
        if (a == chosen || !isfinite(seconds[a]) || c->tries[a] >= GV_RECHECK_NEVER)
            continue;
        const double cost = GV_RECHECK_ROUNDS * (seconds[a] + seconds[chosen]);
        const double wanted = ldexp(cost, c->tries[a] < LONGEST ? c->tries[a] : LONGEST);
        if (c->spent + cost <= GV_RECHECK_SHARE * c->busy && wanted <= GV_RECHECK_SHARE * (c->busy - c->tried[a]) &&
            wanted < least) {
            least = wanted;
            due = a;
        }
    }
    return due;
}

/* Two in a row, since what disturbs the one and not the other is not there both times. */
int gv_cell_took(gv_cell *c, const double seconds[GV_MOST_ANSWERS], int chosen, int tried, double chosen_s,
                 double tried_s)
{
    if (!(tried_s * GV_RECHECK_MARGIN < chosen_s)) {
        c->tried[tried] = c->busy;
        c->wins[tried] = 0;
        c->tries[tried]++;
        return 0;
    }
    if (++c->wins[tried] < 2)
        return 0;
    c->wins[tried] = 0;
    c->tried[chosen] = c->busy;
    c->tries[chosen]++; /* calls of one cell that differ must not make it go to and fro */
    /* the two are as their measured times are */
    c->factor[tried] *= seconds[chosen] / seconds[tried] * (tried_s / chosen_s);
    c->factor[tried] = fmin(fmax(c->factor[tried], 1e-9), 1e9);
    return 1;
}
