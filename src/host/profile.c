#include "host/profile.h"

int gv_sink_bucket(size_t sinks) {
    static const size_t first[GV_SINK_BUCKETS] = {0, 2, 16, 64, 256, 1024, 16384};
    int bucket = GV_SINK_BUCKETS - 1;

    while (sinks < first[bucket]) {
        bucket--;
    }
    return bucket;
}

int gv_source_bucket(size_t sources) {
    return sources < 16384 ? 0 : sources < 262144 ? 1 : 2;
}

gravel_status gv_profile_choose(gravel_context *context, int device, const gv_space *space, const gv_variant *variant,
                                size_t sinks, size_t sources, gv_config *config, gravel_origin *origin) {
    const gv_device *from = &context->device[device];
    const gv_limits limits = {from->info, from->fast_fma, from->has_ptx_asm, from->has_rsqrt14, from->has_rsqrt12};

    space->built_in(config, variant, &limits, sinks, sources);
    *origin = GRAVEL_ORIGIN_BUILT_IN;
    return GRAVEL_OK;
}

void gv_profile_release(gravel_context *context) {
    context->profiles = NULL;
}
