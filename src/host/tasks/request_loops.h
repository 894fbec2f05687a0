/* The loops of request_host.c for one instruction set: TARGET (an attribute) and NAME(x) are set by the includer and
 * undefined at the end.  No include guard: it is included once per instruction set.  A lane is a sink; pairs that do
 * not count get 1/s = 0. */

TARGET static inline __attribute__((always_inline)) void NAME(inverse)(const lanes *s2, lanes *r1)
{
    lanes root;
    for (int l = 0; l < LANES; l++)
        root[l] = __builtin_sqrt((*s2)[l]);
    *r1 = (lanes)((lanes_mask)(1.0 / root) & (*s2 > TOO_CLOSE));
}

/* Bodies first ... end - 1; none pulls itself. */
TARGET static void NAME(bodies)(double *const body[4], size_t first, size_t end, const sinks *at, double eps2, sums *to)
{
    sums sum = *to;
    for (size_t j = first; j < end; j++) {
        const lanes dx = body[0][j] - at->x, dy = body[1][j] - at->y, dz = body[2][j] - at->z;
        const lanes s2 = dx * dx + dy * dy + dz * dz + eps2;
        lanes r1;
        NAME(inverse)(&s2, &r1);
        r1 = (lanes)((lanes_mask)r1 & (at->address != (int64_t)j));
        const lanes m1 = body[3][j] * r1, m3 = m1 * r1 * r1;
        sum.x += m3 * dx;
        sum.y += m3 * dy;
        sum.z += m3 * dz;
        sum.pot -= m1;
    }
    *to = sum;
}

/* acc += (m / s^3 + 5/2 d Q d / s^7) d - Q d / s^5     pot -= m / s + d Q d / 2 s^5 */
TARGET static void NAME(cells)(const double *cell, const uint32_t *which, size_t n, const sinks *at, double eps2,
                               sums *to)
{
    sums sum = *to;
    for (size_t k = 0; k < n; k++) {
        const double *c = cell + GV_REQUEST_CELL * (size_t)which[k], *q = c + 4;
        const lanes dx = c[0] - at->x, dy = c[1] - at->y, dz = c[2] - at->z;
        const lanes s2 = dx * dx + dy * dy + dz * dz + eps2;
        lanes r1;
        NAME(inverse)(&s2, &r1);
        const lanes r2 = r1 * r1;
        const lanes r5 = r2 * r2 * r1, x = q[0] * dx + q[1] * dy + q[2] * dz;
        const lanes y = q[1] * dx + q[3] * dy + q[4] * dz, z = q[2] * dx + q[4] * dy + q[5] * dz;
        const lanes p = 0.5 * (dx * x + dy * y + dz * z) * r5, along = c[3] * r1 * r2 + 5.0 * p * r2;
        sum.x += along * dx - r5 * x;
        sum.y += along * dy - r5 * y;
        sum.z += along * dz - r5 * z;
        sum.pot -= c[3] * r1 + p;
    }
    *to = sum;
}

#undef TARGET
#undef NAME
