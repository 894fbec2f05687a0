/* Particles as text: one line each, columns id m x y z [vx vy vz [ax ay az]] separated by blanks and tabs, or by
 * commas or semicolons; '#' begins a comment, empty lines are skipped.  All lines have the same number of columns. */
#ifndef GV_PARTICLE_TEXT_H
#define GV_PARTICLE_TEXT_H

#include "sim/particles.h"

enum { GV_PARTICLE_COLUMNS = 11 };
extern const char *const gv_particle_column[GV_PARTICLE_COLUMNS]; /* names */
/* The columns behind the id; NULL from where the set ends. */
void gv_particles_reals(const gv_particles *particles, double *column[GV_PARTICLE_COLUMNS - 1]);
/* 5, 8 or 11: what a set of particles holds */
int gv_particles_columns(const gv_particles *particles);

/* "-" is standard input.  The error names file, line and column.  NaN and infinity are refused, as is a file without
 * particles.  `particles` is overwritten, and empty after a failure. */
gravel_status gv_particles_read_text(gv_particles *particles, const char *path);

/* 17 significant digits: reading gives the same bits back.  "-" is standard output; the file appears whole or not at
 * all. */
gravel_status gv_particles_write_text(const gv_particles *particles, const char *path);

#endif
