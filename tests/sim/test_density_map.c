/* Maps of the mass per area: where a body falls, and that no mass is lost. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/density_map.h"
#include "sim/ic.h"

static const int xy[2] = {0, 1}, xz[2] = {0, 2};
static const double origin[3] = {0.0, 0.0, 0.0};

static double mass_on(const gv_density_map *map)
{
    const double pixel = map->side / map->pixels;
    double sum = 0.0;
    for (int k = 0; k < map->pixels * map->pixels; k++)
        sum += map->value[k] * pixel * pixel;
    return sum;
}

/* Pixels of side 1/2; a body in the middle of one, a body between two, a body beside the map. */
static void bodies_fall_where_they_are(void **state)
{
    (void)state;
    gv_particles p;
    gv_density_map map;
    assert_int_equal(gv_particles_create(&p, 3, 0), GRAVEL_OK);
    p.m[0] = 3.0; /* at (2.25, 1.25) of a map from 1 to 3 and 0 to 2: pixel 2, 2 */
    p.x[0] = 2.25;
    p.z[0] = 1.25;
    p.y[0] = 100.0; /* along the line of sight: no matter */
    p.m[1] = 2.0;   /* between the pixels 0 and 1 of row 3 */
    p.x[1] = 1.5;
    p.z[1] = 1.75;
    p.m[2] = 7.0;
    p.x[2] = 5.0;
    const double centre[3] = {2.0, 50.0, 1.0};
    assert_int_equal(gv_density_map_make(&map, &p, NULL, xz, centre, 2.0, 4), GRAVEL_OK);
    for (int row = 0; row < 4; row++)
        for (int column = 0; column < 4; column++) {
            const double mass = row == 2 && column == 2 ? 3.0 : row == 3 && column < 2 ? 1.0 : 0.0;
            assert_true(map.value[4 * row + column] == (float)(mass / 0.25));
        }
    assert_true(map.most == 12.0);
    gv_density_map_free(&map);
    gv_density_map_free(&map);
    gv_particles_free(&p);
}

/* A sphere well inside the map, as clouds and as disks of all sizes: the sum is the mass, to the rounding of floats. */
static void no_mass_is_lost(void **state)
{
    (void)state;
    enum { N = 500 };
    gv_particles p;
    gv_density_map map;
    double reach[N];
    assert_int_equal(gv_ic_uniform(N, 3, NULL, &p), GRAVEL_OK);
    for (int i = 0; i < N; i++)
        reach[i] = 1e-3 * i;
    for (int kind = 0; kind < 2; kind++) {
        assert_int_equal(gv_density_map_make(&map, &p, kind ? reach : NULL, xy, origin, 10.0, 100), GRAVEL_OK);
        const double mass = mass_on(&map);
        if (!(fabs(mass - 1.0) < 1e-6))
            fail_msg("%s: mass %.9g", kind ? "disks" : "clouds", mass);
        gv_density_map_free(&map);
    }
    gv_particles_free(&p);
}

/* Half of a disk on the map is half of its mass; a body far away, or not a number, does nothing. */
static void what_is_outside_is_left_out(void **state)
{
    (void)state;
    gv_particles p;
    gv_density_map map;
    double reach[4] = {1.0, 1.0, 1e30, 1e-30};
    assert_int_equal(gv_particles_create(&p, 4, 0), GRAVEL_OK);
    p.m[0] = p.m[1] = p.m[2] = p.m[3] = 1.0;
    p.x[0] = 2.0; /* on the right edge, between two pixels */
    p.x[1] = 1e300;
    p.x[2] = -1e300;
    p.y[3] = 1e18;
    assert_int_equal(gv_density_map_make(&map, &p, reach, xy, origin, 4.0, 64), GRAVEL_OK);
    assert_true(fabs(mass_on(&map) - 0.5) < 1e-6);
    gv_density_map_free(&map);
    assert_int_equal(gv_density_map_make(&map, &p, reach, xy, origin, 0.0, 64), GRAVEL_ERR_ARGUMENT);
    assert_int_equal(gv_density_map_make(&map, &p, reach, xy, origin, NAN, 64), GRAVEL_ERR_ARGUMENT);
    assert_int_equal(gv_density_map_make(&map, &p, reach, xy, origin, 1.0, 0), GRAVEL_ERR_ARGUMENT);
    assert_int_equal(gv_density_map_make(&map, &p, reach, xy, origin, 1.0, 5000), GRAVEL_ERR_ARGUMENT);
    gv_particles_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_fall_where_they_are),
        cmocka_unit_test(no_mass_is_lost),
        cmocka_unit_test(what_is_outside_is_left_out),
    };
    return cmocka_run_group_tests_name("density_map", tests, NULL, NULL);
}
