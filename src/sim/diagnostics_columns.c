/* The columns of the diagnostics, in the order of struct gv_diagnostics. */
#include "sim/diagnostics_table.h"

const double gv_diagnostic_share[GV_DIAGNOSTIC_SHARES] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9};

#define BINARY(k)                                                                                                      \
    {"binary" k "_id_a", "closest bound pair " k ": id of the one body", 0, 0, 0},                                     \
        {"binary" k "_id_b", "id of the other", 0, 0, 0},                                                              \
        {"binary" k "_semi_major_axis", "of the pair, the rest left out", 1, 0, 0},                                    \
        {"binary" k "_eccentricity", "of the pair", 0, 0, 0},                                                          \
    {                                                                                                                  \
        "binary" k "_period", "of the pair", 1, 0, -1                                                                  \
    }

const gv_diagnostic_column gv_diagnostic_column_at[GV_DIAGNOSTIC_COLUMNS] = {
    {"time", "time", 1, 0, -1},
    {"steps", "steps so far, of any number of bodies", 0, 0, 0},
    {"active_share", "mean share of the bodies in a step since the line before", 0, 0, 0},
    {"mass", "mass of all", 0, 1, 0},
    {"kinetic", "kinetic energy in the frame of the centre of mass", 0, 1, 2},
    {"potential", "potential energy", 0, 1, 2},
    {"energy", "kinetic plus potential", 0, 1, 2},
    {"energy_error", "(energy - first) / |first|", 0, 0, 0},
    {"virial_ratio", "kinetic / |potential|", 0, 0, 0},
    {"angular_momentum_x", "about the centre of mass", 1, 1, 1},
    {"angular_momentum_y", "about the centre of mass", 1, 1, 1},
    {"angular_momentum_z", "about the centre of mass", 1, 1, 1},
    {"centre_x", "centre of mass", 1, 0, 0},
    {"centre_y", "centre of mass", 1, 0, 0},
    {"centre_z", "centre of mass", 1, 0, 0},
    {"velocity_x", "of the centre of mass", 0, 0, 1},
    {"velocity_y", "of the centre of mass", 0, 0, 1},
    {"velocity_z", "of the centre of mass", 0, 0, 1},
    {"density_centre_x", "density centre (Casertano and Hut 1985)", 1, 0, 0},
    {"density_centre_y", "density centre", 1, 0, 0},
    {"density_centre_z", "density centre", 1, 0, 0},
    {"core_radius", "of Casertano and Hut", 1, 0, 0},
    {"core_density", "of Casertano and Hut", -3, 1, 0},
    {"r01", "radius around the density centre that holds 1 % of the mass", 1, 0, 0},
    {"r02", "2 %", 1, 0, 0},
    {"r05", "5 %", 1, 0, 0},
    {"r10", "10 %", 1, 0, 0},
    {"r20", "20 %", 1, 0, 0},
    {"r30", "30 %", 1, 0, 0},
    {"r50", "50 %", 1, 0, 0},
    {"r70", "70 %", 1, 0, 0},
    {"r90", "90 %", 1, 0, 0},
    {"nearest_id_a", "nearest pair: id of the one body", 0, 0, 0},
    {"nearest_id_b", "id of the other", 0, 0, 0},
    {"nearest_distance", "of the nearest pair", 1, 0, 0},
    BINARY("1"),
    BINARY("2"),
    BINARY("3"),
};
