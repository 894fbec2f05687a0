#include "cluster/block.h"

static int is_vector(int kind)
{
    return kind >= GV_BLOCK_POSITION && kind <= GV_BLOCK_CRACKLE;
}

unsigned gv_block_kinds(const gravel_sources *s)
{
    const double *const given[] = {s->vel.x, s->acc.x, s->jerk.x, s->snap.x, s->crackle.x, s->time};
    unsigned kinds = GV_BLOCK_ALWAYS;
    for (int k = 0; k < 6; k++)
        kinds |= given[k] ? 1u << (GV_BLOCK_VELOCITY + k) : 0;
    return kinds;
}

int gv_block_columns(unsigned kinds)
{
    int columns = 0;
    for (int kind = 0; kind < GV_BLOCK_KINDS; kind++)
        columns += kinds >> kind & 1 ? (is_vector(kind) ? 3 : 1) : 0;
    return columns;
}

static double *pack_vector(double *to, const gravel_vec *v, size_t count)
{
    const double *const axis[3] = {v->x, v->y, v->z};
    const size_t stride = v->stride ? v->stride : 1;
    for (int c = 0; c < 3; c++, to += count)
        for (size_t k = 0; k < count; k++)
            to[k] = axis[c] ? axis[c][k * stride] : 0;
    return to;
}

void gv_block_pack(double *to, unsigned kinds, const gravel_sources *s, size_t first, const uint32_t *number)
{
    const gravel_vec *const vector[] = {&s->pos, &s->vel, &s->acc, &s->jerk, &s->snap, &s->crackle};
    const size_t n = s->count, id_stride = s->id_stride ? s->id_stride : 1;
    const size_t mass_stride = s->mass_stride ? s->mass_stride : 1;
    for (int kind = 0; kind < GV_BLOCK_KINDS; kind++) {
        if (!(kinds >> kind & 1))
            continue;
        if (is_vector(kind)) {
            to = pack_vector(to, vector[kind - GV_BLOCK_POSITION], n);
            continue;
        }
        for (size_t k = 0; k < n; k++)
            to[k] = kind == GV_BLOCK_ID     ? (s->id ? s->id[k * id_stride] : (double)(number ? number[k] : first + k))
                    : kind == GV_BLOCK_MASS ? (s->mass ? s->mass[k * mass_stride] : 0)
                    : kind == GV_BLOCK_TIME ? (s->time ? s->time[k] : 0)
                                            : number[k];
        to += n;
    }
}

gravel_sources gv_block_view(const double *from, unsigned kinds, size_t n, int32_t *id, uint32_t *number)
{
    gravel_sources s = {.count = n, .id = id};
    gravel_vec *const vector[] = {&s.pos, &s.vel, &s.acc, &s.jerk, &s.snap, &s.crackle};
    for (int kind = 0; kind < GV_BLOCK_KINDS; kind++) {
        if (!(kinds >> kind & 1))
            continue;
        if (is_vector(kind)) {
            *vector[kind - GV_BLOCK_POSITION] = GRAVEL_VEC_SOA(from, from + n, from + 2 * n);
            from += 3 * n;
            continue;
        }
        for (size_t k = 0; k < n && kind == GV_BLOCK_ID; k++)
            id[k] = (int32_t)from[k];
        for (size_t k = 0; k < n && kind == GV_BLOCK_NUMBER; k++)
            number[k] = (uint32_t)from[k];
        if (kind == GV_BLOCK_MASS)
            s.mass = from;
        if (kind == GV_BLOCK_TIME)
            s.time = from;
        from += n;
    }
    return s;
}

void gv_block_put(double *to, size_t to_count, size_t at, const double *from, unsigned from_kinds, size_t from_count,
                  size_t k)
{
    const int columns = gv_block_columns(from_kinds & ~(1u << GV_BLOCK_NUMBER));
    for (int c = 0; c < columns; c++)
        to[(size_t)c * to_count + at] = from[(size_t)c * from_count + k];
}
