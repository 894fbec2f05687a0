/* The loops of sum.c for one instruction set: TARGET (an attribute) and NAME(x) are set by the includer and undefined
 * at the end.  No include guard: it is included once per instruction set.
 *
 * Formulas as in include/gravel/gravel.h; a pair that does not count gets 1/s = 0, which makes all its terms 0. */

/* 1/s of eight pairs; 0 where they are one body, too close, or behind the last source */
TARGET static inline __attribute__((always_inline)) void NAME(inverse)(const gv_sum_sources *b, const gv_sum_sink *a,
                                                                       size_t j, const lanes *s2, lanes *r1)
{
    const lanes_mask at = {0, 1, 2, 3, 4, 5, 6, 7};
    const lanes_mask counts = (LOAD(b->id, j) != a->id) & (*s2 > a->too_close) & (at < (int64_t)(b->count - j));
    lanes root;
    for (int l = 0; l < GV_LANES_OF_SUM; l++)
        root[l] = __builtin_sqrt((*s2)[l]);
    *r1 = (lanes)((lanes_mask)(1.0 / root) & counts);
}

/* eps^2 added to squares of distances */
TARGET static inline __attribute__((always_inline)) void NAME(soften)(const gv_sum_sources *b, const gv_sum_sink *a,
                                                                      size_t j, lanes *s2)
{
    if (!b->eps2) {
        *s2 += a->eps2;
        return;
    }
    const lanes eps2 = LOAD(b->eps2, j), of_sink = a->eps2 + (lanes){0};
    const lanes_mask own = eps2 > a->eps2;
    *s2 += a->larger ? (lanes)(((lanes_mask)eps2 & own) | ((lanes_mask)of_sink & ~own)) : eps2 + of_sink;
}

TARGET static inline __attribute__((always_inline)) double NAME(total)(const lanes *v)
{
    const lanes s = *v;
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* `order` is a constant at every call. */
TARGET static inline __attribute__((always_inline)) void NAME(pairs)(int order, const gv_sum_sources *b,
                                                                     const gv_sum_sink *a, double *out)
{
    lanes sum[GV_SUM_COMPONENTS] = {{0}};
    for (size_t j = 0; j < b->count; j += GV_LANES_OF_SUM) {
        const lanes dx = LOAD(b->x, j) - a->x, dy = LOAD(b->y, j) - a->y, dz = LOAD(b->z, j) - a->z;
        lanes s2 = dx * dx + dy * dy + dz * dz, r1;
        NAME(soften)(b, a, j, &s2);
        NAME(inverse)(b, a, j, &s2, &r1);
        const lanes r2 = r1 * r1, m1 = LOAD(b->mass, j) * r1, m3 = m1 * r2;
        const lanes fx = m3 * dx, fy = m3 * dy, fz = m3 * dz;
        sum[0] += fx;
        sum[1] += fy;
        sum[2] += fz;
        sum[3] -= m1;
        if (order < 4)
            continue;
        const lanes ux = LOAD(b->vx, j) - a->vx, uy = LOAD(b->vy, j) - a->vy, uz = LOAD(b->vz, j) - a->vz;
        const lanes alpha = (dx * ux + dy * uy + dz * uz) * r2, alpha3 = -3.0 * alpha;
        const lanes jx = m3 * ux + alpha3 * fx, jy = m3 * uy + alpha3 * fy, jz = m3 * uz + alpha3 * fz;
        sum[4] += jx;
        sum[5] += jy;
        sum[6] += jz;
        if (order < 6)
            continue;
        const lanes wx = LOAD(b->ax, j) - a->ax, wy = LOAD(b->ay, j) - a->ay, wz = LOAD(b->az, j) - a->az;
        const lanes beta3 = -3.0 * ((ux * ux + uy * uy + uz * uz + dx * wx + dy * wy + dz * wz) * r2 + alpha * alpha);
        const lanes alpha6 = -6.0 * alpha;
        sum[7] += m3 * wx + alpha6 * jx + beta3 * fx;
        sum[8] += m3 * wy + alpha6 * jy + beta3 * fy;
        sum[9] += m3 * wz + alpha6 * jz + beta3 * fz;
    }
    for (int c = 0; c < 1 + 3 * (order / 2); c++)
        out[c] = NAME(total)(&sum[c]);
}

TARGET static void NAME(forces)(int order, const gv_sum_sources *b, const gv_sum_sink *a, double *out)
{
    if (order == 2)
        NAME(pairs)(2, b, a, out);
    else if (order == 4)
        NAME(pairs)(4, b, a, out);
    else
        NAME(pairs)(6, b, a, out);
}

/* Squares of distances; infinite for the body itself and behind the last source */
TARGET static inline __attribute__((always_inline)) void NAME(distance2)(const gv_sum_sources *b, const gv_sum_sink *a,
                                                                         size_t j, lanes *out)
{
    const lanes_mask at = {0, 1, 2, 3, 4, 5, 6, 7};
    const lanes dx = LOAD(b->x, j) - a->x, dy = LOAD(b->y, j) - a->y, dz = LOAD(b->z, j) - a->z;
    const lanes_mask counts = (LOAD(b->id, j) != a->id) & (at < (int64_t)(b->count - j));
    const lanes d2 = dx * dx + dy * dy + dz * dz, far = INFINITY + (lanes){0};
    *out = (lanes)(((lanes_mask)d2 & counts) | ((lanes_mask)far & ~counts));
}

TARGET static size_t NAME(nearest)(const gv_sum_sources *b, const gv_sum_sink *a, double *r2)
{
    lanes best = INFINITY + (lanes){0};
    lanes_mask where = {0};
    size_t found = SIZE_MAX;
    for (size_t j = 0; j < b->count; j += GV_LANES_OF_SUM) {
        lanes d2;
        NAME(distance2)(b, a, j, &d2);
        const lanes_mask nearer = d2 < best, here = (int64_t)j + (lanes_mask){0};
        best = (lanes)(((lanes_mask)d2 & nearer) | ((lanes_mask)best & ~nearer));
        where = (here & nearer) | (where & ~nearer);
    }
    *r2 = INFINITY;
    for (int l = 0; l < GV_LANES_OF_SUM; l++) {
        const size_t at = (size_t)where[l] + (size_t)l;
        if (best[l] < *r2 || (best[l] == *r2 && best[l] < INFINITY && at < found)) {
            *r2 = best[l];
            found = at;
        }
    }
    return found;
}

TARGET static size_t NAME(list)(const gv_sum_sources *b, const gv_sum_sink *a, double radius2, uint32_t *list,
                                size_t capacity)
{
    size_t count = 0;
    for (size_t j = 0; j < b->count; j += GV_LANES_OF_SUM) {
        lanes d2;
        NAME(distance2)(b, a, j, &d2);
        const lanes_mask in = (d2 <= radius2) & (d2 < INFINITY); /* the radius may be infinite */
        if (!(in[0] | in[1] | in[2] | in[3] | in[4] | in[5] | in[6] | in[7]))
            continue;
        for (int l = 0; l < GV_LANES_OF_SUM; l++) {
            if (in[l] && count < capacity)
                list[count] = (uint32_t)(j + (size_t)l);
            count += in[l] != 0;
        }
    }
    return count;
}

/* One loop for each number of derivatives, so that none reads what is not there. */
#define LOOP(X, V, A)                                                                                                  \
    for (size_t k = first; k < n; k++) {                                                                               \
        const double h = dt[k];                                                                                        \
        x[k] = d0[k] + h * (X);                                                                                        \
        if (v)                                                                                                         \
            v[k] = (V);                                                                                                \
        if (a)                                                                                                         \
            a[k] = (A);                                                                                                \
    }

TARGET static inline __attribute__((always_inline)) void NAME(taylor)(int derivatives, size_t first, size_t n,
                                                                      const double *const d[6],
                                                                      const double *restrict dt, double *restrict x,
                                                                      double *restrict v, double *restrict a)
{
    const double *restrict d0 = d[0], *restrict d1 = d[1], *restrict d2 = d[2], *restrict d3 = d[3];
    const double *restrict d4 = d[4], *restrict d5 = d[5];
    const double third = 1.0 / 3;
    switch (derivatives) {
    case 1:
        LOOP(d1[k], d1[k], 0)
        break;
    case 2:
        LOOP(d1[k] + 0.5 * h * d2[k], d1[k] + h * d2[k], d2[k])
        break;
    case 3:
        LOOP(d1[k] + 0.5 * h * (d2[k] + third * h * d3[k]), d1[k] + h * (d2[k] + 0.5 * h * d3[k]), d2[k] + h * d3[k])
        break;
    case 4:
        LOOP(d1[k] + 0.5 * h * (d2[k] + third * h * (d3[k] + 0.25 * h * d4[k])),
             d1[k] + h * (d2[k] + 0.5 * h * (d3[k] + third * h * d4[k])), d2[k] + h * (d3[k] + 0.5 * h * d4[k]))
        break;
    default:
        LOOP(d1[k] + 0.5 * h * (d2[k] + third * h * (d3[k] + 0.25 * h * (d4[k] + 0.2 * h * d5[k]))),
             d1[k] + h * (d2[k] + 0.5 * h * (d3[k] + third * h * (d4[k] + 0.25 * h * d5[k]))),
             d2[k] + h * (d3[k] + 0.5 * h * (d4[k] + third * h * d5[k])))
    }
}
#undef LOOP

TARGET static void NAME(predict)(int derivatives, size_t first, size_t n, const double *const d[6], const double *dt,
                                 double *const to[3])
{
    if (to[1] && to[2])
        NAME(taylor)(derivatives, first, n, d, dt, to[0], to[1], to[2]);
    else if (to[1])
        NAME(taylor)(derivatives, first, n, d, dt, to[0], to[1], NULL);
    else
        NAME(taylor)(derivatives, first, n, d, dt, to[0], NULL, NULL);
}

#undef TARGET
#undef NAME
