/* Options of particle files that several commands have. */
#ifndef GV_PARTICLE_FILE_H
#define GV_PARTICLE_FILE_H

#include "cli/cli.h"
#include "sim/snapshot.h"

/* Index of "nbody|kpc|pc", the value of the options below. */
gv_units gv_cli_units(int choice);

#define GV_OPT_TEXT_UNITS(type)                                                                                        \
    {                                                                                                                  \
        .name = "units", .kind = GV_OPT_CHOICE, .offset = offsetof(type, units), .value = "nbody|kpc|pc",              \
        .help = "of a text file that does not say them: nbody: G = 1;\nkpc: kpc, Msun, km/s; pc: pc, Msun, km/s",      \
        .fallback = "nbody"                                                                                            \
    }

/* The scales that give N-body units a size. */
#define GV_OPT_UNIT_SCALES(type)                                                                                       \
    {.name = "unit-mass",                                                                                              \
     .kind = GV_OPT_REAL,                                                                                              \
     .offset = offsetof(type, unit_mass),                                                                              \
     .value = "M",                                                                                                     \
     .help = "the N-body unit of mass, in solar masses",                                                               \
     .fallback = "-1",                                                                                                 \
     .low = 1e-30,                                                                                                     \
     .high = 1e30},                                                                                                    \
    {                                                                                                                  \
        .name = "unit-length", .kind = GV_OPT_REAL, .offset = offsetof(type, unit_length), .value = "R",               \
        .help = "the N-body unit of length, in kpc or pc as --units says", .fallback = "-1", .low = 1e-30,             \
        .high = 1e30                                                                                                   \
    }

/* Converts to the units of the choice.  N-body units get a size from `unit_mass` and `unit_length` (below 0: not
 * given); from others to nbody, lengths and velocities stay and masses are multiplied by G.  `option` is the name of
 * the option that requires it. */
gravel_status gv_cli_convert_units(gv_particles *particles, int choice, double unit_mass, double unit_length,
                                   const char *option);

#endif
