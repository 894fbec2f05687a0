/* Forces that are not Plummer's: tables on all devices, quadrupoles of the sources. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/several/object.h"

/* A device that refuses the table leaves none: the devices would not agree. */
gravel_status gravel_several_set_table(gravel_several *s, const gravel_table *table)
{
    gravel_status status = GRAVEL_OK;
    if (!s)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_set_table: no object");
    for (int m = 0; m < s->members && !status; m++)
        status = gravel_direct_set_table(s->member[m].direct, table);
    s->has_table = !status;
    return status;
}

static gravel_status need_room(gv_quadrupoles *own, size_t count)
{
    if (count > own->room) {
        const size_t room = count + own->room / 2;
        void *grown = realloc(own->q, room * sizeof *own->q);
        if (!grown)
            return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu quadrupoles", room);
        own->q = grown;
        own->room = room;
    }
    return GRAVEL_OK;
}

gravel_status gravel_several_write_quadrupoles(gravel_several *s, size_t first, size_t count, const double (*q)[6])
{
    if (!s || (!q && count > 0))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_write_quadrupoles: no object or no quadrupoles");
    gv_quadrupoles *own = &s->quadrupoles;
    const size_t most = gravel_several_get_capacity(s);
    if (first > most || count > most - first)
        return gv_fail(GRAVEL_ERR_DEVICE_MEMORY,
                       "%zu quadrupoles from address %zu on: the memory of the devices "
                       "takes %zu sources",
                       count, first, most);
    for (size_t k = 0; k < count; k++)
        for (int c = 0; c < 6; c++)
            if (!isfinite(q[k][c]))
                return gv_fail(GRAVEL_ERR_INPUT, "quadrupole %zu: component %d is %g", first + k, c, q[k][c]);
    gravel_status status = need_room(own, first + count);
    if (status || count == 0)
        return status;
    if (first > own->count)
        memset(own->q + own->count, 0, (first - own->count) * sizeof *own->q);
    memcpy(own->q + first, q, count * sizeof *own->q);
    own->count = first + count > own->count ? first + count : own->count;
    own->writes++;
    return GRAVEL_OK;
}

/* Rows of the member's sources, those that were never written zero. */
static gravel_status send(gravel_several *s, const gv_team *t, int member, size_t count)
{
    const gv_quadrupoles *own = &s->quadrupoles;
    double *scratch;
    gravel_status status = gv_member_scratch(&s->member[0], 6 * count, &scratch);
    for (size_t k = 0; k < count && !status; k++) {
        const size_t at = gv_team_address(t, member, (uint32_t)k);
        if (at < own->count)
            memcpy(scratch + 6 * k, own->q[at], sizeof *own->q);
        else
            memset(scratch + 6 * k, 0, sizeof *own->q);
    }
    return status ? status
                  : gravel_direct_write_quadrupoles(gv_team_member(s, t, member)->direct, 0, count,
                                                    (const double(*)[6])(void *)scratch);
}

gravel_status gv_team_send_quadrupoles(gravel_several *s, gv_team *t, size_t sources)
{
    gravel_status status = GRAVEL_OK;
    for (int m = 0; m < t->members && !status; m++) {
        gv_member *member = gv_team_member(s, t, m);
        const size_t count = gv_team_count(t, m, sources);
        if (member->quadrupoles_of == t && member->quadrupoles_seen == s->quadrupoles.writes &&
            member->quadrupoles >= count)
            continue;
        member->quadrupoles_of = NULL;
        status = send(s, t, m, count);
        if (status)
            break;
        member->quadrupoles_of = t;
        member->quadrupoles_seen = s->quadrupoles.writes;
        member->quadrupoles = count;
    }
    return status;
}
