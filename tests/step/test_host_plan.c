/* src/host/step/host_plan.c: fake times in, the largest block of the host out. */
#include "host_test.h"

#include "host/step/host_plan.h"

enum { LEVELS = 12 };
/* 4096 bodies, as the steps of a Plummer sphere are spread: blocks of 4096, 3996, 3096, 1296, 396, 96, 16, 4 */
enum { ALL = 4096 };
static const size_t plummer[LEVELS] = {0, 0, 100, 900, 1800, 900, 300, 80, 12, 4};

static gv_host_costs costs(double host_one, double host_each, double device, double carry_one, double carry_each)
{
    return (gv_host_costs){{host_one, host_each}, {device, 0}, {carry_one, carry_each}};
}

/* Without a way between host and device each block is whose it takes less: 5 us + 1 us a body against 100 us. */
static void free_changes_leave_the_crossing(void **state)
{
    (void)state;
    const gv_host_costs c = costs(5e-6, 1e-6, 100e-6, 0, 0);
    const size_t up_to = gv_host_plan(&c, plummer, LEVELS, 0, 0);
    assert_true(up_to >= 96 && up_to < 396);
}

/* 128 blocks of 4096 ... 16 in a longest step: small ones save 90 us each, all of which a way of 200 us for the larger
 * half of them takes away. */
static void dear_changes_leave_all_to_the_device(void **state)
{
    (void)state;
    gv_host_costs c = costs(5e-6, 1e-6, 100e-6, 200e-6, 0);
    static const size_t few[LEVELS] = {2000, 2000, 90, 6};
    assert_int_equal(gv_host_plan(&c, few, LEVELS, 0, 0), 0);
    /* the same times, when nearly all blocks are small */
    const size_t up_to = gv_host_plan(&c, plummer, LEVELS, 0, 0);
    assert_true(up_to >= 16 && up_to < 396);
    /* and a way that grows with the bodies on it */
    c.carry = (gv_line){1e-6, 1e-6};
    assert_int_equal(gv_host_plan(&c, few, LEVELS, 0, 0), 0);
    /* a host that is faster even for all bodies needs no way */
    c.host.each = 1e-8;
    assert_int_equal(gv_host_plan(&c, few, LEVELS, 0, 0), ALL);
}

/* What holds is kept unless a twentieth of the time is saved. */
static void small_savings_change_nothing(void **state)
{
    (void)state;
    static const size_t one[LEVELS] = {ALL};
    const gv_host_costs host = costs(98e-6, 0, 100e-6, 0, 0), device = costs(102e-6, 0, 100e-6, 0, 0),
                        slow = costs(110e-6, 0, 100e-6, 0, 0);
    assert_int_equal(gv_host_plan(&host, one, LEVELS, 0, 0), 0);
    assert_int_equal(gv_host_plan(&device, one, LEVELS, ALL, 0), ALL);
    assert_int_equal(gv_host_plan(&slow, one, LEVELS, ALL, 0), 0);
}

/* With one step for all there are no small blocks. */
static void shared_blocks_are_of_all_bodies(void **state)
{
    (void)state;
    const gv_host_costs c = costs(5e-6, 1e-6, 100e-6, 0, 0), fast = costs(5e-6, 1e-8, 100e-6, 0, 0);
    assert_int_equal(gv_host_plan(&c, plummer, LEVELS, 0, 1), 0);
    assert_int_equal(gv_host_plan(&fast, plummer, LEVELS, 0, 1), ALL);
}

static void no_bodies_no_change(void **state)
{
    (void)state;
    static const size_t none[LEVELS] = {0};
    const gv_host_costs c = costs(1, 1, 1, 1, 1);
    assert_int_equal(gv_host_plan(&c, none, LEVELS, 7, 0), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_changes_leave_the_crossing),
        cmocka_unit_test(dear_changes_leave_all_to_the_device),
        cmocka_unit_test(small_savings_change_nothing),
        cmocka_unit_test(shared_blocks_are_of_all_bodies),
        cmocka_unit_test(no_bodies_no_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
