/* Profiles: measured configurations per device, driver, kernel version, variant and bucket of sinks and sources.
 * doc/profiles.md describes the files. */
#ifndef GV_PROFILE_H
#define GV_PROFILE_H

#include "host/device/context.h"
#include "host/profile/space.h"

/* Sinks: 1, 2-15, 16-63, 64-255, 256-1023, 1024-16383, above.  Sources: up to 16383, 16384-262143, above. */
enum { GV_SINK_BUCKETS = 7, GV_SOURCE_BUCKETS = 3 };
int gv_sink_bucket(size_t sinks);
int gv_source_bucket(size_t sources);

/* Sizes that share one answer: up to 64 sinks none, then the powers of two and sixteenths of what lies between them;
 * quarter octaves of sources. */
enum { GV_CHOICE_SINK_CELLS = 64 + 17 * 34, GV_CHOICE_SOURCE_CELLS = 4 * 40 };
int gv_choice_sink_cell(size_t sinks);
size_t gv_choice_last_sinks(int cell); /* the most of its sinks, which fill its groups */
int gv_choice_source_cell(size_t sources);

/* The configuration for a call: user's and shipped profiles by the ladder (exact device, family with nearest compute
 * units, vendor and type, type) and the model of choice.h, else the built-in default. Whatever comes from a file
 * passes the constraints first. Files are read once per context. */
gravel_status gv_profile_choose(gravel_context *context, int device, const gv_space *space, const gv_variant *variant,
                                size_t sinks, size_t sources, gv_config *config, gravel_origin *origin);
/* What identifies the kernel's text in profiles, "" if it is not known (16 hex digits). */
void gv_profile_kernel_version(gravel_context *context, const gv_space *space, char version[17]);
/* Frees what gv_profile_choose keeps in the context; part of gravel_context_release. */
void gv_profile_release(gravel_context *context);

#endif
