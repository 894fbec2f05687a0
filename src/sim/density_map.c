#include "sim/density_map.h"

#include <math.h>
#include <stdlib.h>

/* Sums in double: millions of bodies may fall on one pixel. */
typedef struct canvas {
    double *sum;
    int pixels;
} canvas;

static void add_to_pixel(const canvas *c, int column, int row, double mass)
{
    if (column >= 0 && column < c->pixels && row >= 0 && row < c->pixels)
        c->sum[(size_t)row * (size_t)c->pixels + (size_t)column] += mass;
}

/* x and y in pixels, from the middle of the first. */
static void add_cloud(const canvas *c, double x, double y, double mass)
{
    if (!(x >= -1.0 && x < c->pixels && y >= -1.0 && y < c->pixels))
        return;
    const double left = floor(x), below = floor(y), right = x - left, above = y - below;
    add_to_pixel(c, (int)left, (int)below, (1.0 - right) * (1.0 - above) * mass);
    add_to_pixel(c, (int)left + 1, (int)below, right * (1.0 - above) * mass);
    add_to_pixel(c, (int)left, (int)below + 1, (1.0 - right) * above * mass);
    add_to_pixel(c, (int)left + 1, (int)below + 1, right * above * mass);
}

static double weight_at(double dx, double dy, double reach)
{
    const double left = 1.0 - (dx * dx + dy * dy) / (reach * reach);
    return left > 0.0 ? left * left : 0.0;
}

/* The weights are made to sum to 1 on the pixels, so that no mass is lost between them. */
static void add_disk(const canvas *c, double x, double y, double reach, double mass)
{
    if (!(x + reach > -1.0 && x - reach < c->pixels && y + reach > -1.0 && y - reach < c->pixels))
        return;
    const int columns[2] = {(int)ceil(x - reach), (int)floor(x + reach)};
    const int rows[2] = {(int)ceil(y - reach), (int)floor(y + reach)};
    double sum = 0.0;
    for (int row = rows[0]; row <= rows[1]; row++)
        for (int column = columns[0]; column <= columns[1]; column++)
            sum += weight_at(column - x, row - y, reach);
    for (int row = rows[0]; row <= rows[1]; row++)
        for (int column = columns[0]; column <= columns[1]; column++)
            add_to_pixel(c, column, row, mass * weight_at(column - x, row - y, reach) / sum);
}

gravel_status gv_density_map_make(gv_density_map *map, const gv_particles *p, const double *reach, const int axis[2],
                                  const double centre[3], double side, int pixels)
{
    *map = (gv_density_map){.pixels = pixels, .side = side};
    if (pixels < 1 || pixels > GV_MAP_MOST_PIXELS || !(side > 0.0) || !isfinite(side))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "a map of %d pixels and a side of %g", pixels, side);
    const size_t size = (size_t)pixels * (size_t)pixels;
    const double *const x[3] = {p->x, p->y, p->z}, *const u = x[axis[0]], *const v = x[axis[1]];
    const double low[2] = {centre[axis[0]] - 0.5 * side, centre[axis[1]] - 0.5 * side}, scale = pixels / side;
    double *sum = calloc(size, sizeof *sum);
    map->value = malloc(size * sizeof *map->value);
    gravel_status status = GRAVEL_OK;
    if (sum && map->value) {
        const canvas c = {sum, pixels};
        for (size_t i = 0; i < p->count; i++) {
            const double a = (u[i] - low[0]) * scale - 0.5, b = (v[i] - low[1]) * scale - 0.5;
            const double h = reach ? reach[i] * scale : 0.0;
            if (h > 1.5 && h < pixels) /* below, a disk has a pixel or two */
                add_disk(&c, a, b, h, p->m[i]);
            else
                add_cloud(&c, a, b, p->m[i]);
        }
        for (size_t k = 0; k < size; k++) {
            map->value[k] = (float)(sum[k] * scale * scale);
            map->most = fmax(map->most, sum[k] * scale * scale);
        }
    } else {
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for a map of %d times %d pixels", pixels, pixels);
        gv_density_map_free(map);
    }
    free(sum);
    return status;
}

void gv_density_map_free(gv_density_map *map)
{
    free(map->value);
    *map = (gv_density_map){0};
}
