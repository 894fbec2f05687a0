#include "sim/subset.h"

#include <string.h>

#include "sim/diagnose.h"

enum { MOST_RANGES = 32 };

typedef struct id_ranges {
    int n;
    uint64_t first[MOST_RANGES], end[MOST_RANGES];
} id_ranges;

/* Digits alone: strtoull takes signs and blanks. */
static const char *read_number(const char *text, uint64_t *value)
{
    const char *p = text;
    for (*value = 0; *p >= '0' && *p <= '9' && *value <= UINT32_MAX; p++)
        *value = 10 * *value + (uint64_t)(*p - '0');
    return p > text && (*p < '0' || *p > '9') ? p : NULL;
}

static gravel_status read_ranges(const char *text, id_ranges *r)
{
    uint64_t count;
    r->n = 0;
    for (const char *p = text;; p++) {
        if (r->n == MOST_RANGES)
            return gv_fail(GRAVEL_ERR_ARGUMENT, "more than %d ranges of ids", (int)MOST_RANGES);
        p = read_number(p, &r->first[r->n]);
        if (p && *p == ':' && (p[1] == '\0' || p[1] == ',')) {
            r->end[r->n] = UINT64_MAX;
            p++;
        } else if (p && *p == ':' && (p = read_number(p + 1, &count)) != NULL && (*p == ',' || *p == '\0')) {
            r->end[r->n] = r->first[r->n] + count;
        } else {
            return gv_fail(GRAVEL_ERR_ARGUMENT, "ids '%s': not FIRST:COUNT,FIRST:COUNT,...", text);
        }
        r->n++;
        if (*p == '\0')
            return GRAVEL_OK;
    }
}

static int wanted(const id_ranges *r, int32_t id)
{
    int found = 0;
    for (int k = 0; k < r->n; k++)
        found |= id >= 0 && (uint64_t)id >= r->first[k] && (uint64_t)id < r->end[k];
    return found;
}

static void copy_body(const gv_particles *from, size_t i, gv_particles *to, size_t k)
{
    const double *const source[] = {from->m,  from->x,  from->y,  from->z,  from->vx,
                                    from->vy, from->vz, from->ax, from->ay, from->az};
    double *const target[] = {to->m, to->x, to->y, to->z, to->vx, to->vy, to->vz, to->ax, to->ay, to->az};
    to->id[k] = from->id[i];
    for (size_t c = 0; c < sizeof source / sizeof source[0]; c++)
        if (target[c])
            target[c][k] = source[c][i];
}

static gravel_status begin(const gv_particles *p, size_t count, gv_particles *out)
{
    gravel_status status = gv_particles_create(out, count, p->ax && p->vx ? 2 : p->vx ? 1 : 0);
    if (status)
        return status;
    out->time = p->time;
    out->units = p->units;
    out->id_offset = p->id_offset;
    return GRAVEL_OK;
}

gravel_status gv_subset_ids(const gv_particles *p, const char *ranges, gv_particles *out)
{
    size_t found = 0, next = 0;
    id_ranges r;
    *out = (gv_particles)GV_PARTICLES_INIT;
    gravel_status status = read_ranges(ranges, &r);
    if (status)
        return status;
    for (size_t i = 0; i < p->count; i++)
        found += (size_t)wanted(&r, p->id[i]);
    if (found == 0)
        return gv_fail(GRAVEL_ERR_INPUT, "no body of the %zu has an id in %s", p->count, ranges);
    status = begin(p, found, out);
    for (size_t i = 0; !status && i < p->count; i++)
        if (wanted(&r, p->id[i]))
            copy_body(p, i, out, next++);
    return status;
}

gravel_status gv_subset_sample(const gv_particles *p, size_t most, gv_particles *out)
{
    const size_t stride = most > 0 && p->count > most ? (p->count + most - 1) / most : 1;
    gravel_status status = begin(p, (p->count + stride - 1) / stride, out);
    for (size_t i = 0; !status && i < p->count; i += stride)
        copy_body(p, i, out, i / stride);
    return status;
}

gravel_status gv_subset_centre(const gv_particles *p, double centre[3], double velocity[3])
{
    enum { SAMPLE = 100000 };
    gv_particles some;
    gv_surroundings around;
    gv_core core;
    gravel_status status = gv_subset_sample(p, SAMPLE, &some);
    if (status)
        return status;
    status = gv_surroundings_find(&some, &around);
    if (!status) {
        gv_diagnose_core(&some, &around, &core);
        memcpy(centre, core.centre, sizeof core.centre);
        memcpy(velocity, core.velocity, sizeof core.velocity);
        gv_surroundings_free(&around);
    }
    gv_particles_free(&some);
    return status;
}
