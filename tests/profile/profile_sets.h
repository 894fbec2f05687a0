/* Sets of profiles for tests: devices and entries by a few words. */
#ifndef GV_PROFILE_SETS_H
#define GV_PROFILE_SETS_H

#include "host_test.h"

#include "host/profile/store.h"

static inline void make_device(gv_profile_device *device, const char *name, int compute_units)
{
    memset(device, 0, sizeof *device);
    gv_name_clean(name, device->name);
    strcpy(device->vendor, "NVIDIA Corporation");
    strcpy(device->platform, "NVIDIA CUDA");
    device->type = GRAVEL_DEVICE_GPU;
    device->compute_units = compute_units;
    device->simd_width_float = device->simd_width_double = 1;
    device->has_fp64 = 1;
}

static inline void make_entry(gv_profile_entry *entry, const char *variant, size_t sinks, size_t sources,
                              const char *configuration)
{
    memset(entry, 0, sizeof *entry);
    strcpy(entry->kernel, "fake");
    strcpy(entry->kernel_version, "0123456789abcdef");
    strcpy(entry->variant, variant);
    strcpy(entry->driver, "580.1");
    strcpy(entry->date, "2026-11-21T00:00:00Z");
    strcpy(entry->gravel, "0.1.0");
    strcpy(entry->strategy, "forest");
    entry->sinks = sinks;
    entry->sources = sources;
    entry->sink_bucket = gv_sink_bucket(sinks);
    entry->source_bucket = gv_source_bucket(sources);
    entry->evaluations = 100;
    entry->n_results = 1;
    strcpy(entry->result[0].configuration, configuration);
    entry->result[0].time_s = 1e-3;
    entry->result[0].time_min_s = 0.9e-3;
    entry->result[0].spread = 0.01;
    entry->result[0].call_s = 1.1e-3;
    entry->result[0].error = 1e-7;
}

static inline void add(gv_profile_set *set, const char *name, int compute_units, const char *variant, size_t sinks,
                       const char *configuration)
{
    gv_profile_device device;
    gv_profile_entry entry;

    make_device(&device, name, compute_units);
    make_entry(&entry, variant, sinks, 131072, configuration);
    assert_ok(gv_profile_set_add(set, &device, &entry));
}

#endif
