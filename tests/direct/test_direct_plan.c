/* How sources are cut into parts: no device. */
#include "host_test.h"

#include "host/direct/plan.h"

static size_t groups_for(const gv_config *config, const gv_variant *variant, size_t sinks, size_t sources)
{
    gv_direct_plan plan;
    assert_true(gv_direct_plan_make(&plan, config, variant, 132, sinks, sources, 0, 0));
    assert_true(plan.part_sources * plan.parts >= sources);
    return plan.blocks * plan.sink_groups;
}

/* Beyond the sizes that are tuned groups grow with the sources, without steps: 500000 sources
 * had half the groups of 524288, and took longer. */
static void test_groups_grow_with_the_sources(void **state)
{
    gv_limits limits;
    gv_variant variant;
    gv_config config;

    (void)state;
    memset(&limits, 0, sizeof limits);
    limits.info.type = GRAVEL_DEVICE_GPU;
    limits.info.compute_units = 132;
    limits.info.max_group = 1024;
    assert_true(gv_variant_parse("ds4", &variant));
    for (size_t sinks = 8; sinks <= 512; sinks *= 4) {
        gv_direct_space.built_in(&config, &variant, &limits, sinks, 524288);
        const double each = (double)groups_for(&config, &variant, sinks, 262144) / 262144;

        for (size_t sources = 262144; sources <= 1048576; sources += 9973) {
            const double over = (double)groups_for(&config, &variant, sinks, sources) / (each * (double)sources);

            /* groups a compute unit are whole numbers, of 2 at least here, and so are tiles of a part, of which there
             * are four at least: off by a quarter and a fifth */
            if (!(over > 0.7 && over < 1.5))
                fail_msg("%zu x %zu: %.2f times the groups", sinks, sources, over);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_grow_with_the_sources),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
