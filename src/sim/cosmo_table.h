/* cosmology.txt: a line of a run for each diagnostic time, columns a, redshift, kinetic, potential, error, momentum,
 * blocks, steps. */
#ifndef GV_COSMO_TABLE_H
#define GV_COSMO_TABLE_H

#include "sim/cosmo_run.h"

#define GV_COSMO_TABLE "cosmology.txt"
/* A file of the heading only. */
gravel_status gv_cosmo_table_create(const char *path, const gv_particles *particles);
gravel_status gv_cosmo_table_append(const char *path, const gv_cosmo_line *line);
/* What was appended is on the disk, before a checkpoint counts its lines. */
gravel_status gv_cosmo_table_sync(const char *path);
/* Lines after number `count` are cut off; fewer are ERR_FORMAT. */
gravel_status gv_cosmo_table_cut(const char *path, size_t count);

#endif
