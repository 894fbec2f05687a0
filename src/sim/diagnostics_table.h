/* What a simulation says about itself: a line for each diagnostic time in DIR/diagnostics.txt.
 *
 * The file describes itself: lines that begin with '#' name the format, the units, the number of bodies and each column
 * with its unit; the last of them holds the names alone.  Then a line of numbers for each time, separated by blanks,
 * with the 17 digits that give back the same bits, so that numpy.loadtxt(FILE) reads it; what is not known is nan.
 * Lines are only ever added at the end.  A reader leaves out a last line without its end: its writer was killed. */
#ifndef GV_DIAGNOSTICS_TABLE_H
#define GV_DIAGNOSTICS_TABLE_H

#include "sim/particles.h"

enum { GV_DIAGNOSTIC_SHARES = 9, GV_DIAGNOSTIC_BINARIES = 3 };
/* Of the mass, held by the Lagrangian radii: 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9. */
extern const double gv_diagnostic_share[GV_DIAGNOSTIC_SHARES];

typedef struct gv_diagnostic_binary {
    double id_a, id_b, semi_major_axis, eccentricity, period;
} gv_diagnostic_binary;

/* One line, in the units of the particles.  All members are doubles (ids and counts are exact in them) and stand in
 * the order of the columns; NaN: not known. */
typedef struct gv_diagnostics {
    double time;
    double steps;        /* taken so far, of any number of bodies */
    double active_share; /* mean share of the bodies in a step since the line before */
    double mass;
    double kinetic, potential, energy;                   /* kinetic: in the frame of the centre of mass */
    double energy_error;                                 /* (energy - first) / |first|; set by gv_diagnostics_append */
    double virial_ratio;                                 /* kinetic / |potential| */
    double angular_momentum[3];                          /* about the centre of mass */
    double centre[3], velocity[3];                       /* of mass */
    double density_centre[3], core_radius, core_density; /* Casertano and Hut (1985), sixth neighbour */
    double lagrange[GV_DIAGNOSTIC_SHARES];               /* around the density centre */
    double nearest_a, nearest_b, nearest_distance;       /* ids */
    gv_diagnostic_binary binary[GV_DIAGNOSTIC_BINARIES]; /* closest bound pairs, by semi-major axis */
} gv_diagnostics;
enum { GV_DIAGNOSTIC_COLUMNS = sizeof(gv_diagnostics) / sizeof(double) };
/* As many a run may ask for: a table of them is read whole, to go on and at the end of the run. */
enum { GV_DIAGNOSTIC_LINES = 1300000 };

/* All that follows from the particles, in two parts: sums and energies (all else becomes NaN, also steps, active_share
 * and energy_error), then what neighbours and radii are needed for.  `potential`: of each body, -sum m / r with G = 1,
 * as forces give it; NULL leaves out the energies.  Without velocities what needs them is NaN. */
void gv_diagnostics_fill_sums(const gv_particles *particles, const double *potential, gv_diagnostics *record);
gravel_status gv_diagnostics_fill_shape(const gv_particles *particles, gv_diagnostics *record);

/* ---------------------------------------------------------------- writing */

typedef struct gv_diagnostics_file {
    int fd; /* -1: not open */
    char *path;
    int64_t length;     /* bytes of whole lines */
    size_t rows;        /* lines so far */
    double first, last; /* energy of the first line, time of the last; NaN without lines */
} gv_diagnostics_file;

/* A new table; one of that name is replaced. */
gravel_status gv_diagnostics_create(gv_diagnostics_file *file, const char *path, const gv_units *units, size_t bodies);
/* Goes on with a table: cuts off the lines after `time`, and what a killed writer left of a line. */
gravel_status gv_diagnostics_resume(gv_diagnostics_file *file, const char *path, double time);
/* What energy_error becomes in the next line. */
double gv_diagnostics_error(const gv_diagnostics_file *file, double energy);
/* Sets energy_error and writes the line; after a failure (disk full) the table is as before. */
gravel_status gv_diagnostics_append(gv_diagnostics_file *file, gv_diagnostics *record);
/* Waits until all lines are on the disk; before a checkpoint that counts on them. */
gravel_status gv_diagnostics_sync(gv_diagnostics_file *file);
/* No effect on one that is closed already or could not be opened. */
void gv_diagnostics_close(gv_diagnostics_file *file);

/* ---------------------------------------------------------------- reading */

typedef struct gv_diagnostics_table {
    gv_units units;
    size_t bodies; /* 0: the table does not say */
    size_t rows;
    gv_diagnostics *row;
    int torn; /* 1: a last line without its end was left out */
} gv_diagnostics_table;

/* Columns go by their names: those that the table lacks are NaN, others are skipped.  Empty after a failure. */
gravel_status gv_diagnostics_read(gv_diagnostics_table *table, const char *path);
void gv_diagnostics_free(gv_diagnostics_table *table);
/* 1 if the file begins as such a table does. */
int gv_diagnostics_is_table(const char *path);

/* The same in HDF5: group Diagnostics with a dataset a column, unit and meaning as its attributes; the file appears
 * whole or not at all. */
gravel_status gv_diagnostics_write_hdf5(const gv_diagnostics_table *table, const char *path);

/* -------------------------------------------------------------- the columns */

typedef struct gv_diagnostic_column {
    const char *name, *meaning;
    int length, mass, velocity; /* powers of these in the unit */
} gv_diagnostic_column;
/* Column k of the table is double k of gv_diagnostics. */
extern const gv_diagnostic_column gv_diagnostic_column_at[GV_DIAGNOSTIC_COLUMNS];

#endif
