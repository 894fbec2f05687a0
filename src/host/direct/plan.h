/* Direct summation: what a variant and a configuration mean for programs and launches.  Pure functions, no OpenCL
 * calls, so that they are tested without a device. */
#ifndef GV_DIRECT_PLAN_H
#define GV_DIRECT_PLAN_H

#include "gravel/direct.h"
#include "host/profile/space.h"
#include "kernels/direct/layout.h"

extern const gv_space gv_direct_space;

/* Feature bits of a direct variant.  Configurations are chosen by the first two; the others make another program.
 * Those from GV_DIRECT_QUADRUPOLES on are for the self-test: the kernel gets a shape as the macros of shape.h, a rule
 * of softening as GV_SOFTEN. */
enum {
    GV_DIRECT_NEAREST = 1,
    GV_DIRECT_LISTS = 2,
    GV_DIRECT_UNSOFTENED = 4,
    GV_DIRECT_SPHERE = 8, /* the rules of neighbour lists: kernels/direct/rule.h */
    GV_DIRECT_SPHERE_MASS = 16,
    GV_DIRECT_AHEAD = 32,
    GV_DIRECT_LEAVE_OUT = 64,
    GV_DIRECT_DUE = 128,      /* only the device knows how many sinks there are (due.c) */
    GV_DIRECT_BY_SINKS = 256, /* whose softening counts, where that is not eps (prove.c) */
    GV_DIRECT_BY_SOURCES = 512,
    GV_DIRECT_QUADRUPOLES = 1 << 10,
    GV_DIRECT_EXACT = 1 << 11, /* the truncated shape, as GRAVEL_LEVEL_... */
    GV_DIRECT_RATIONAL = 1 << 12,
    GV_DIRECT_FACTORS = 1 << 13, /* tables, as gravel_table_kind */
    GV_DIRECT_FORCES = 1 << 14,
    GV_DIRECT_SOURCES_ALONE = 1 << 15, /* GV_DIRECT_BY_SOURCES, but not the sum with the sink's */
    GV_DIRECT_LARGER = 1 << 19,        /* ... the larger of the two */
    GV_DIRECT_LEVEL_AT = 16,           /* of a table: three bits from here on */
    GV_DIRECT_BITS_AT = 20,            /* of a table: five */
    /* programs that no choice asks for: proven before a call uses one (gv_proof_require) */
    GV_DIRECT_ASIDE = GV_DIRECT_SPHERE | GV_DIRECT_SPHERE_MASS | GV_DIRECT_AHEAD | GV_DIRECT_LEAVE_OUT | GV_DIRECT_DUE |
                      GV_DIRECT_SOURCES_ALONE | GV_DIRECT_LARGER | GV_DIRECT_QUADRUPOLES | GV_DIRECT_EXACT |
                      GV_DIRECT_RATIONAL | GV_DIRECT_FACTORS | GV_DIRECT_FORCES
};

static inline int gv_direct_searches(const gv_variant *variant)
{
    return (variant->features & (GV_DIRECT_NEAREST | GV_DIRECT_LISTS)) != 0;
}

/* indices into gv_direct_space.tunable */
enum {
    GV_T_THREADS,
    GV_T_BLOCKS_PER_CU,
    GV_T_SPLIT,
    GV_T_SINKS_PER_ITEM,
    GV_T_TILE,
    GV_T_UNROLL,
    GV_T_LANES,
    GV_T_RSQRT,
    GV_T_KEEP,
    GV_T_MEET,
    GV_T_PREFETCH,
    GV_T_COUNT
};

/* Up to so many sinks that are fewer than this part of the sources are taken for active bodies that stand anywhere
 * among them; more of them, as on one of several devices, for neighbours in the sources' order. */
enum { GV_FEW_SINKS = 16384, GV_FEW_OF_SOURCES = 8 };
int gv_direct_are_strewn(size_t sinks, size_t sources);

/* Planes: arrays with one entry a particle. */
typedef struct gv_direct_layout {
    int scalar_size;    /* bytes of one scalar on the device */
    int components;     /* of a result: acc 3, pot, jerk 3, snap 3 */
    int wide_words;     /* words of one component: high and low in sp and ds */
    int partial_planes; /* scalars per sink that one part writes */
    int result_planes;  /* scalars per sink that the host gets */
    int sink_planes;    /* scalars per sink that the kernel reads, the id among them */
    int quads;          /* planes of four scalars that the force kernel reads of a source */
} gv_direct_layout;

void gv_direct_layout_set(gv_direct_layout *layout, const gv_variant *variant, gravel_soften soften);

/* Launch of one force call. */
typedef struct gv_direct_plan {
    size_t stride; /* sinks, padded to whole groups */
    size_t sink_groups;
    size_t blocks;       /* groups along the sources: partial results */
    size_t parts;        /* blocks x split */
    size_t part_sources; /* sources in a part */
    size_t reduce_rows;
} gv_direct_plan;

/* Turns of groups that the fullest unit of a GPU takes; groups too small to fill a unit take as long as several. */
double gv_direct_turns(const gv_config *config, size_t groups, int compute_units);

/* `list_capacity` > 0 bounds the number of parts so that their lists stay within `list_bytes`; returns 0 if even one
 * block does not fit. */
int gv_direct_plan_make(gv_direct_plan *plan, const gv_config *config, const gv_variant *variant, int compute_units,
                        size_t sinks, size_t sources, size_t list_capacity, size_t list_bytes);

/* Blocks of at most GV_MOST_ALIKE sinks that are submitted before the host knows how many there are: with more than
 * `above` and at most `most` they have the configuration for `chosen_for`, so that a sum does not depend on what was
 * expected. */
enum { GV_MOST_ALIKE = 4096, GV_ALIKE_KINDS = 7 };
typedef struct gv_direct_alike {
    int index;
    size_t above, most, chosen_for;
} gv_direct_alike;
gv_direct_alike gv_direct_find_alike(size_t sinks);

/* Groups of gv_reduce along the sinks: each of its columns is one. */
size_t gv_direct_reduce_groups(size_t sinks, size_t reduce_rows);

/* Bytes of local memory the force kernel takes. */
size_t gv_direct_local_bytes(const gv_config *config, const gv_variant *variant, gravel_soften soften);

/* A step to less local memory: tiles of half as many sources, then half as many rows, down to eight or from less down
 * to one, at last no tiles, which nothing can be read ahead from. */
void gv_direct_shrink_tiles(gv_config *config);

/* Quadrupoles need registers, and room in the tiles, that the choice of a configuration does not know of. */
void gv_direct_fit_quadrupoles(gv_config *config, const gv_variant *variant, gravel_soften soften,
                               uint64_t local_memory);

/* untuned.c: the default of gv_space.built_in, which fits it to the device's limits */
void gv_direct_untuned(gv_config *config, const gv_variant *variant, const gv_limits *limits, size_t sinks,
                       size_t sources);

/* prove.c: gv_space.program, gv_space.prove */
const char *gv_direct_program_name(unsigned features);
gravel_status gv_direct_prove(gravel_context *context, int device, const gv_variant *variant, const char *configuration,
                              double *error, double *most);

/* "-D..." for kernels/direct/force.cl */
void gv_direct_program_options(const gv_variant *variant, gravel_soften soften, const gv_config *config, char *text,
                               size_t size);

#endif
