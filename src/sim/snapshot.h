/* Particle files: text (particle_text.h) and HDF5 in GADGET's layout, which other programs read as well.
 *
 * HDF5: Header (NumPart_ThisFile, NumPart_Total, MassTable, Time, ...), Parameters and Units (length, mass, velocity in
 * cgs), and PartType1 with Coordinates, Velocities, Masses, ParticleIDs and, where the set has them, Acceleration.
 * All reals are doubles, so that what is read back has the same bits.  GADGET counts ids from 1: what was subtracted or
 * added stands beside them.  Files of others may be float or double, have several types (they are joined in order),
 * masses in MassTable, and any units that they name; those that name none are in kpc, 1e10 solar masses and km/s.
 * A snapshot may be several files, name.0.hdf5 and so on: any of their names reads all.
 */
#ifndef GV_SNAPSHOT_H
#define GV_SNAPSHOT_H

#include "sim/particles.h"

typedef struct gv_read_options {
    gv_units text_units; /* of text that does not name its units */
    int comoving; /* bodies of a cosmological file 0: become physical; 1: stay, in its box; 2: stay where it has one */
    int renumber; /* 1: ids become 0 ... n-1 in the file's order; for ids that do not fit 32 bits */
} gv_read_options;
#define GV_READ_OPTIONS_INIT                                                                                           \
    {                                                                                                                  \
        GV_UNITS_NBODY, 0, 0                                                                                           \
    }

/* 1 if this build reads and writes HDF5. */
int gv_snapshot_has_hdf5(void);
/* "name.hdf5" or "name.h5" */
int gv_snapshot_is_hdf5_name(const char *path);

/* NNNN of "snapshot_NNNN.hdf5" (.h5, .txt), or of the first of its files; -1: another name. */
long gv_snapshot_number(const char *name);

/* The format is that of the contents, not of the name; "-" is text on standard input.  `options` NULL: the defaults.
 * `particles` is overwritten, and empty after a failure.  Numbers that are not finite are ERR_INPUT, as are masses
 * below zero in HDF5; for all checks that a simulation needs see gv_particles_check. */
gravel_status gv_snapshot_read(gv_particles *particles, const char *path, const gv_read_options *options);
/* The format is that of the name; the file appears whole or not at all. */
gravel_status gv_snapshot_write(const gv_particles *particles, const char *path);

/* In so many files of about as many bodies, in HDF5: name.hdf5 stands for name.0.hdf5, name.1.hdf5, ...  1: one file of
 * this name.  Each file appears whole or not at all. */
gravel_status gv_snapshot_write_parts(const gv_particles *particles, const char *path, int files);
char *gv_snapshot_part_name(const char *path, int part); /* malloc'd; NULL without memory or an ending */

/* A further quantity of each body, in the set's units: a number (y and z NULL) or a vector. */
typedef struct gv_snapshot_column {
    const char *name; /* of the dataset: "Potential" */
    double *x, *y, *z;
    int length, mass, velocity; /* powers of these in it: -1, 0, 2 for an acceleration */
} gv_snapshot_column;

/* The HDF5 half (snapshot_hdf5_*.c), or the sentence that this build has none.  `more` NULL: nothing.  *files: of its
 * snapshot; one of several may be empty. */
gravel_status gv_hdf5_read_part(gv_particles *particles, const char *path, const gv_read_options *options, int *files);
/* The same, and the other files of its snapshot (snapshot_parts.c). */
gravel_status gv_snapshot_read_parts(gv_particles *particles, const char *path, const gv_read_options *options);
gravel_status gv_hdf5_write(const gv_particles *particles, const char *path, const gv_snapshot_column *more,
                            int columns);
gravel_status gv_hdf5_write_part(const gv_particles *particles, const char *path, size_t total, int files);

/* Processes that write one file together: each has the numbers of its range of the bodies, and all ids.  They make the
 * same calls. */
typedef struct gv_snapshot_company {
    size_t first, count, most;                                /* the range; most: of all counts the largest */
    int leads;                                                /* one of them: its path is the file's */
    gravel_status (*agree)(void *user, gravel_status status); /* all get the first failure */
    gravel_status (*spread)(void *user, char **text);         /* the leading one's, malloc'd */
    int (*join)(void *user, int64_t access); /* into a property list of HDF5 for opening files; below 0: failed */
    void *user;
} gv_snapshot_company;
gravel_status gv_hdf5_write_together(const gv_particles *particles, const char *path, const gv_snapshot_column *more,
                                     int columns, const gv_snapshot_company *company);

#endif
