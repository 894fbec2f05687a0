/* HDF5 snapshots, reading.  The file may be damaged: shapes, types and counts are checked before anything is read. */
#ifdef GV_HAVE_HDF5
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/hdf5_file.h"
#include "sim/snapshot.h"

typedef struct reader {
    const char *path;
    const gv_read_options *options;
    gv_particles *out;
    int *files; /* of the snapshot */
    hid_t file;
    int64_t count[GV_HDF5_TYPES];
    double mass_table[GV_HDF5_TYPES];
    double *rows;    /* GV_HDF5_ROWS x 3 */
    const char *odd; /* an attribute that is there and holds no number */
} reader;

static gravel_status fail_format(const reader *r, const char *what)
{
    return gv_fail(GRAVEL_ERR_FORMAT, "%s: %s", r->path, what);
}

/* ----------------------------------------------------------------- header */

static hid_t open_group(const reader *r, const char *name)
{
    return H5Lexists(r->file, name, H5P_DEFAULT) > 0 ? H5Gopen2(r->file, name, H5P_DEFAULT) : -1;
}

/* GADGET 2 to 4 and their relatives keep the same attribute in different groups; the first that has it. */
static int find_real(reader *r, const char *name, double *value)
{
    static const char *const place[] = {"Header", "Parameters", "Units"};
    int found = 0, is_odd = 0;
    for (int k = 0; k < 3 && found <= 0; k++) {
        const hid_t group = open_group(r, place[k]);
        if (group < 0)
            continue;
        found = gv_hdf5_get_reals(group, name, value, 1);
        is_odd |= found < 0;
        H5Gclose(group);
    }
    if (found <= 0 && is_odd)
        r->odd = name;
    return found > 0;
}

/* One side, or one for each direction: a cube. */
static gravel_status find_side(reader *r, double *side)
{
    const hid_t group = open_group(r, "Header");
    double of[3] = {0.0};
    const int sides = group < 0 ? 0 : gv_hdf5_get_reals(group, "BoxSize", of, 3);
    if (group >= 0)
        H5Gclose(group);
    *side = 0.0;
    for (int c = 1; c < sides; c++)
        if (of[c] != of[0])
            return gv_fail(GRAVEL_ERR_FORMAT, "%s: BoxSize is %g in one direction and %g in another: boxes are cubes",
                           r->path, of[0], of[c]);
    if (sides > 0)
        *side = of[0];
    else
        find_real(r, "BoxSize", side);
    return GRAVEL_OK;
}

/* A file of one says the same number twice; more of all than it has are in files that it does not name. */
static gravel_status check_total(const reader *r, hid_t header)
{
    int64_t total[GV_HDF5_TYPES] = {0}, high[GV_HDF5_TYPES] = {0};
    gv_hdf5_get_integers(header, "NumPart_Total", total, GV_HDF5_TYPES);
    gv_hdf5_get_integers(header, "NumPart_Total_HighWord", high, GV_HDF5_TYPES);
    for (int t = 0; t < GV_HDF5_TYPES; t++) {
        const double all = (double)total[t] + 4294967296.0 * (double)high[t];
        if (all > (double)r->count[t])
            return gv_fail(GRAVEL_ERR_FORMAT,
                           "%s: Header: NumPart_Total has %.0f particles of type %d, and this file %lld: a part of a "
                           "snapshot?",
                           r->path, all, t, (long long)r->count[t]);
    }
    return GRAVEL_OK;
}

static gravel_status read_counts(reader *r)
{
    const hid_t header = open_group(r, "Header");
    if (header < 0)
        return fail_format(r, "no group Header in it: not a snapshot in GADGET's layout");
    int64_t files = 1;
    const int types = gv_hdf5_get_integers(header, "NumPart_ThisFile", r->count, GV_HDF5_TYPES);
    const int masses = gv_hdf5_get_reals(header, "MassTable", r->mass_table, GV_HDF5_TYPES);
    const int has_files = gv_hdf5_get_integers(header, "NumFilesPerSnapshot", &files, 1);
    const gravel_status whole = types < 1 || files > 1 ? GRAVEL_OK : check_total(r, header);
    H5Gclose(header);
    if (types < 1)
        return fail_format(r, types ? "Header: NumPart_ThisFile is not a list of whole numbers"
                                    : "Header: NumPart_ThisFile is missing: not a snapshot in GADGET's layout");
    if (masses < 0)
        return fail_format(r, "Header: MassTable is not a list of numbers");
    if (has_files && (files < 1 || files > 65536))
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: Header: NumFilesPerSnapshot is %lld", r->path, (long long)files);
    *r->files = (int)files;
    for (int t = 0; t < GV_HDF5_TYPES; t++)
        if (r->count[t] < 0 || !isfinite(r->mass_table[t]) || r->mass_table[t] < 0.0)
            return fail_format(r, "Header: a number of particles or a mass is below zero");
    return whole;
}

/* 1 if another program's file names units of length, mass and velocity, all of them. */
static int named_units(reader *r, gv_units *units)
{
    return find_real(r, "UnitLength_in_cm", &units->length_cm) && find_real(r, "UnitMass_in_g", &units->mass_g) &&
           find_real(r, "UnitVelocity_in_cm_per_s", &units->velocity_cm_s);
}

static gravel_status read_units(reader *r)
{
    gv_units units = GV_UNITS_GADGET;
    int64_t nbody = 0;
    const hid_t own = open_group(r, "Gravel");
    if (own >= 0) {
        gv_hdf5_get_integers(own, "NBodyUnits", &nbody, 1);
        H5Gclose(own);
    }
    if (nbody) {
        units = (gv_units)GV_UNITS_NBODY;
    } else if (!named_units(r, &units)) {
        units = (gv_units)GV_UNITS_GADGET;
    } else if (!(units.length_cm > 1e-30 && units.length_cm < 1e60 && units.mass_g > 1e-60 && units.mass_g < 1e100 &&
                 units.velocity_cm_s > 1e-30 && units.velocity_cm_s < 1e30)) {
        return gv_fail(GRAVEL_ERR_FORMAT,
                       "%s: wrong units: UnitLength_in_cm %g, UnitMass_in_g %g, UnitVelocity_in_cm_per_s %g", r->path,
                       units.length_cm, units.mass_g, units.velocity_cm_s);
    }
    double time = 0.0;
    find_real(r, "Time", &time);
    if (!isfinite(time))
        return fail_format(r, "Header: Time is not finite");
    r->out->units = units;
    r->out->time = time;
    return GRAVEL_OK;
}

/* --------------------------------------------------------------- datasets */

static gravel_status check_shape(reader *r, const char *name, hid_t dataset, int64_t rows, int columns, int whole)
{
    const hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    const int number = type >= 0 && gv_hdf5_is_number(type, whole);
    const int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    hsize_t size[2] = {0, 1};
    const int fits = rank >= 1 && rank <= 2;
    if (fits)
        H5Sget_simple_extent_dims(space, size, NULL);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (!number)
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: %s: not of a type that holds %s", r->path, name,
                       whole ? "whole numbers" : "numbers");
    if (!fits || size[0] != (hsize_t)rows || size[1] != (hsize_t)columns)
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: %s: %llu x %llu values where Header says %lld particles (%d each)",
                       r->path, name, (unsigned long long)size[0], (unsigned long long)size[1], (long long)rows,
                       columns);
    if (H5Dget_storage_size(dataset) == 0)
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: %s: declared, but nothing was ever written into it", r->path, name);
    return GRAVEL_OK;
}

static gravel_status read_rows(reader *r, const char *name, hid_t dataset, hid_t memory_type, size_t first,
                               size_t count, int columns)
{
    const hsize_t begin[2] = {first, 0}, size[2] = {count, (hsize_t)columns};
    const hid_t space = H5Dget_space(dataset);
    const int rank = H5Sget_simple_extent_ndims(space);
    const hid_t memory = H5Screate_simple(rank, size, NULL);
    gravel_status status = GRAVEL_OK;
    if (memory < 0 || H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, NULL, size, NULL) < 0 ||
        H5Dread(dataset, memory_type, memory, space, H5P_DEFAULT, r->rows) < 0)
        status = gv_hdf5_fail(GRAVEL_ERR_FORMAT, r->path, name);
    if (memory >= 0)
        H5Sclose(memory);
    H5Sclose(space);
    return status;
}

/* `column` begins at the type's first body. */
static gravel_status read_reals(reader *r, const char *name, hid_t dataset, size_t n, double *const column[3],
                                int columns)
{
    for (size_t i = 0; i < n; i += GV_HDF5_ROWS) {
        const size_t count = n - i < GV_HDF5_ROWS ? n - i : GV_HDF5_ROWS;
        gravel_status status = read_rows(r, name, dataset, H5T_NATIVE_DOUBLE, i, count, columns);
        if (status)
            return status;
        int finite = 1;
        for (int c = 0; c < columns; c++)
            for (size_t k = 0; k < count; k++) {
                const double value = r->rows[k * (size_t)columns + (size_t)c];
                finite &= isfinite(value) != 0;
                column[c][i + k] = value;
            }
        for (size_t k = 0; !finite && k < count * (size_t)columns; k++)
            if (!isfinite(r->rows[k]))
                return gv_fail(GRAVEL_ERR_INPUT, "%s: %s: particle %zu: a value is not finite", r->path, name,
                               i + k / (size_t)columns);
    }
    return GRAVEL_OK;
}

static gravel_status fail_id(const reader *r, int64_t id)
{
    return gv_fail(GRAVEL_ERR_INPUT, "%s: the id %lld does not fit 32 bits; --renumber gives ids 0, 1, ...", r->path,
                   (long long)id);
}

static gravel_status read_ids(reader *r, const char *name, hid_t dataset, size_t first, size_t n)
{
    int64_t offset = 0, *id = (int64_t *)r->rows;
    if (r->options->renumber)
        return GRAVEL_OK; /* as the set was made */
    if (gv_hdf5_get_integers(dataset, "IdOffset", &offset, 1) < 0 || llabs(offset) > (int64_t)UINT32_MAX)
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: %s: IdOffset is not usable", r->path, name);
    r->out->id_offset = offset;
    for (size_t i = 0; i < n; i += GV_HDF5_ROWS) {
        const size_t count = n - i < GV_HDF5_ROWS ? n - i : GV_HDF5_ROWS;
        gravel_status status = read_rows(r, name, dataset, H5T_NATIVE_INT64, i, count, 1);
        if (status)
            return status;
        for (size_t k = 0; k < count; k++) {
            if (llabs(id[k] / 2) > INT64_C(1) << 60)
                return fail_id(r, id[k]);
            const int64_t value = id[k] - offset;
            if (value < INT32_MIN || value > INT32_MAX)
                return fail_id(r, value);
            r->out->id[first + i + k] = (int32_t)value;
        }
    }
    return GRAVEL_OK;
}

/* One dataset of a type; `missing` is its fate where there is none. */
static gravel_status read_dataset(reader *r, hid_t group, int type, const char *name, size_t first,
                                  double *const columns[3], int width, int *missing)
{
    char full[64];
    snprintf(full, sizeof full, "PartType%d/%s", type, name);
    *missing = H5Lexists(group, name, H5P_DEFAULT) <= 0;
    if (*missing)
        return GRAVEL_OK;
    const hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT);
    if (dataset < 0)
        return gv_hdf5_fail(GRAVEL_ERR_FORMAT, r->path, full);
    const size_t n = (size_t)r->count[type];
    gravel_status status = check_shape(r, full, dataset, r->count[type], width, !columns);
    if (!status && columns)
        status = read_reals(r, full, dataset, n, columns, width);
    else if (!status)
        status = read_ids(r, full, dataset, first, n);
    H5Dclose(dataset);
    return status;
}

static gravel_status read_masses(reader *r, hid_t group, int type, size_t first)
{
    gv_particles *p = r->out;
    int missing = 0;
    if (r->mass_table[type] > 0.0) {
        for (size_t i = 0; i < (size_t)r->count[type]; i++)
            p->m[first + i] = r->mass_table[type];
        return GRAVEL_OK;
    }
    double *const column[3] = {p->m + first};
    gravel_status status = read_dataset(r, group, type, "Masses", first, column, 1, &missing);
    if (!status && missing)
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: PartType%d has neither Masses nor an entry in Header's MassTable",
                       r->path, type);
    for (size_t i = 0; !status && i < (size_t)r->count[type]; i++)
        if (p->m[first + i] < 0.0)
            status = gv_fail(GRAVEL_ERR_INPUT, "%s: PartType%d: particle %zu: the mass %g is below zero", r->path, type,
                             i, p->m[first + i]);
    return status;
}

static gravel_status read_type(reader *r, hid_t group, int type, size_t first)
{
    gv_particles *p = r->out;
    double *const x[3] = {p->x + first, p->y + first, p->z + first};
    int missing = 0;
    gravel_status status = read_dataset(r, group, type, "Coordinates", first, x, 3, &missing);
    if (!status && missing)
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: PartType%d has no Coordinates", r->path, type);
    if (!status && p->vx) {
        double *const v[3] = {p->vx + first, p->vy + first, p->vz + first};
        status = read_dataset(r, group, type, "Velocities", first, v, 3, &missing);
    }
    if (!status && p->ax) {
        double *const a[3] = {p->ax + first, p->ay + first, p->az + first};
        status = read_dataset(r, group, type, "Acceleration", first, a, 3, &missing);
    }
    if (!status)
        status = read_masses(r, group, type, first);
    if (!status) /* without ids: the numbers of the set */
        status = read_dataset(r, group, type, "ParticleIDs", first, NULL, 1, &missing);
    return status;
}

/* ------------------------------------------------------------------- file */

static gravel_status for_types(reader *r, int *derivatives, size_t *total)
{
    char name[48];
    int with = -1, without = -1; /* velocities */
    *total = 0;
    *derivatives = 2;
    for (int t = 0; t < GV_HDF5_TYPES; t++) {
        if (r->count[t] == 0)
            continue;
        snprintf(name, sizeof name, "PartType%d", t);
        if (H5Lexists(r->file, name, H5P_DEFAULT) <= 0)
            return gv_fail(GRAVEL_ERR_FORMAT, "%s: Header says %lld particles in %s, and there is no such group",
                           r->path, (long long)r->count[t], name);
        if (r->count[t] > INT32_MAX)
            return gv_fail(GRAVEL_ERR_INPUT, "%s: %lld particles in %s: at most %d", r->path, (long long)r->count[t],
                           name, INT32_MAX);
        *total += (size_t)r->count[t];
        snprintf(name, sizeof name, "PartType%d/Velocities", t);
        if (H5Lexists(r->file, name, H5P_DEFAULT) <= 0) {
            *derivatives = 0;
            without = t;
        } else {
            with = t;
        }
        snprintf(name, sizeof name, "PartType%d/Acceleration", t);
        if (H5Lexists(r->file, name, H5P_DEFAULT) <= 0 && *derivatives == 2)
            *derivatives = 1;
    }
    if (with >= 0 && without >= 0)
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: PartType%d has Velocities and PartType%d has none", r->path, with,
                       without);
    return *total || *r->files > 1 ? GRAVEL_OK : gv_fail(GRAVEL_ERR_INPUT, "%s: no particles in it", r->path);
}

/* The box of a cosmological file; a file of none has none. */
static gravel_status keep_comoving(reader *r, double side, double matter, double lambda, double h)
{
    gv_box *box = &r->out->box;
    gv_cosmology *c = &box->cosmology;
    double z = NAN, on = 1.0;
    find_real(r, "Redshift", &z);
    if (find_real(r, "ComovingIntegrationOn", &on) && on == 0.0)
        return gv_fail(GRAVEL_ERR_FORMAT,
                       "%s: ComovingIntegrationOn is 0: bodies in physical units, not a comoving box", r->path);
    if (!(side > 0.0) || !(matter > 0.0))
        return GRAVEL_OK;
    const double a = r->out->time;
    if (!isfinite(side) || !(fabs(a * (1.0 + z) - 1.0) < 1e-3))
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: BoxSize %g, Time %g, Redshift %g: Time is not the scale factor", r->path,
                       side, a, z);
    *box = (gv_box){side, {.h = h, .omega_m = matter, .omega_l = lambda}};
    find_real(r, "OmegaBaryon", &c->omega_b);
    const hid_t own = open_group(r, "Gravel");
    int64_t transfer = 0;
    if (own >= 0) {
        gv_hdf5_get_reals(own, "Sigma8", &c->sigma_8, 1);
        gv_hdf5_get_reals(own, "PrimordialIndex", &c->n_s, 1);
        gv_hdf5_get_integers(own, "Transfer", &transfer, 1);
        H5Gclose(own);
    }
    c->transfer = transfer >= 0 && transfer <= 2 ? (int)transfer : 0;
    return gv_cosmo_check(c, a);
}

/* As the file says; one that does not is of a universe where a cosmological constant or a redshift says so. */
static int is_of_universe(reader *r, double matter, double lambda, double z)
{
    double on;
    if (!(fabs(r->out->time * (1.0 + z) - 1.0) < 1e-3) || gv_units_are_nbody(&r->out->units))
        return 0;
    if (find_real(r, "ComovingIntegrationOn", &on))
        return on != 0.0;
    return lambda != 0.0 || (matter > 0.0 && z != 0.0);
}

/* Comoving lengths over h, masses over h, velocities over sqrt(a): made physical, the Hubble flow left out. */
static gravel_status make_physical(reader *r)
{
    double side, matter = 0.0, lambda = 0.0, h = 1.0, z = 0.0;
    gv_particles *p = r->out;
    find_real(r, "Omega0", &matter);
    find_real(r, "OmegaLambda", &lambda);
    find_real(r, "HubbleParam", &h);
    find_real(r, "Redshift", &z);
    const double a = p->time;
    const gravel_status status = find_side(r, &side);
    if (status)
        return status;
    p->period = side > 0.0 && isfinite(side) ? side : 0.0;
    const int is_comoving = is_of_universe(r, matter, lambda, z),
              is_box = is_comoving && p->period > 0.0 && matter > 0.0;
    if (r->options->comoving == 1 || (r->options->comoving == 2 && is_box))
        return keep_comoving(r, side, matter, lambda, h);
    p->expanding = is_comoving || (z != 0.0 && fabs(a * (1.0 + z) - 1.0) < 1e-3);
    if (!is_comoving)
        return GRAVEL_OK;
    if (!(h > 0.0 && h < 100.0))
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: wrong units: HubbleParam %g", r->path, h);
    double *const x[3] = {p->x, p->y, p->z}, *const v[3] = {p->vx, p->vy, p->vz};
    for (int c = 0; c < 3; c++)
        for (size_t i = 0; i < p->count; i++) {
            x[c][i] *= a / h;
            if (v[c])
                v[c][i] *= sqrt(a);
        }
    p->period *= a / h;
    gv_particles_scale_masses(p, 1.0 / h);
    return GRAVEL_OK;
}

static gravel_status read_file(reader *r)
{
    int derivatives = 0;
    size_t total = 0, first = 0;
    gravel_status status = read_counts(r);
    if (!status)
        status = for_types(r, &derivatives, &total);
    if (!status)
        status = gv_particles_create(r->out, total, derivatives);
    if (!status)
        status = read_units(r);
    for (int t = 0; t < GV_HDF5_TYPES && !status; t++) {
        char name[16];
        if (r->count[t] == 0)
            continue;
        snprintf(name, sizeof name, "PartType%d", t);
        const hid_t group = open_group(r, name);
        status = group < 0 ? gv_hdf5_fail(GRAVEL_ERR_FORMAT, r->path, name) : read_type(r, group, t, first);
        if (group >= 0)
            H5Gclose(group);
        first += (size_t)r->count[t];
    }
    if (!status)
        status = make_physical(r);
    if (!status && r->odd)
        status = gv_fail(GRAVEL_ERR_FORMAT, "%s: %s is not a number", r->path, r->odd);
    return status;
}

gravel_status gv_hdf5_read_part(gv_particles *particles, const char *path, const gv_read_options *options, int *files)
{
    reader r = {.path = path, .options = options, .out = particles, .files = files};
    gv_hdf5_quiet quiet;
    *particles = (gv_particles)GV_PARTICLES_INIT;
    r.rows = malloc(GV_HDF5_ROWS * 3 * sizeof *r.rows);
    if (!r.rows)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory to read %s", path);
    gv_hdf5_begin(&quiet);
    const hid_t access = gv_hdf5_access();
    r.file = access < 0 ? -1 : H5Fopen(path, H5F_ACC_RDONLY, access);
    gravel_status status =
        r.file < 0 ? gv_hdf5_fail(GRAVEL_ERR_FORMAT, path, "HDF5 cannot open it; damaged?") : read_file(&r);
    if (r.file >= 0)
        H5Fclose(r.file);
    if (access >= 0)
        H5Pclose(access);
    gv_hdf5_end(&quiet);
    free(r.rows);
    if (status)
        gv_particles_free(particles);
    return status;
}
#endif
