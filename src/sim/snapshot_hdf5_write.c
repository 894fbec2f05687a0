/* HDF5 snapshots, writing.  Values of sets with real units are converted to GADGET's (kpc, 1e10 solar masses, km/s):
 * some readers assume these units whatever the file names.  N-body units are written as they are. */
#ifdef GV_HAVE_HDF5
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/hdf5_file.h"
#include "sim/out_file.h"
#include "sim/snapshot.h"

static const gv_units gadget = GV_UNITS_GADGET;

typedef struct writer {
    const gv_particles *p;
    const gv_snapshot_column *more;
    int columns;
    const char *path; /* for messages */
    size_t total;     /* bodies of all files of the snapshot */
    int files;
    const gv_snapshot_company *company; /* NULL: this process writes alone */
    gravel_status failed;               /* of any process */
    size_t first, mine, most;           /* bodies that this process writes; `most`: that one does */
    hid_t file, group, transfer;
    double length, mass, velocity; /* factors to what the file holds */
    double *rows;                  /* GV_HDF5_ROWS x 3 */
} writer;

/* What all know needs no message. */
static gravel_status agree(writer *w, gravel_status status)
{
    if (w->company && !w->failed)
        w->failed = w->company->agree(w->company->user, status);
    return w->company ? w->failed : status;
}

static void set_factors(writer *w)
{
    const gv_units *from = &w->p->units, *to = gv_units_are_nbody(from) ? from : &gadget;
    w->length = gv_units_length_factor(from, to);
    w->mass = gv_units_mass_factor(from, to);
    w->velocity = gv_units_velocity_factor(from, to);
}

/* ----------------------------------------------------------------- header */

static const double GYR_S = 3.15576e16; /* Julian years */

static int time_is_scale_factor(const gv_particles *p)
{
    return p->box.side > 0 || p->expanding;
}

/* With Omega at 0 and h = 1 readers take the run as not cosmological, and nothing is over h. */
static herr_t put_cosmology(const writer *w, hid_t group)
{
    static const char *const name[] = {"Omega0", "OmegaLambda", "OmegaBaryon", "Redshift", "BoxSize", "HubbleParam"};
    const gv_box *box = &w->p->box;
    const gv_cosmology *c = &box->cosmology;
    const double z = time_is_scale_factor(w->p) ? 1 / w->p->time - 1 : 0;
    const double none[] = {0, 0, 0, z, w->p->period * w->length, 1};
    const double of_box[] = {c->omega_m, c->omega_l, c->omega_b, z, box->side * w->length, c->h};
    for (size_t k = 0; k < sizeof name / sizeof name[0]; k++)
        if (gv_hdf5_put_real(group, name[k], box->side > 0 ? of_box[k] : none[k]) < 0)
            return -1;
    return 0;
}

static herr_t put_units(hid_t group)
{
    if (gv_hdf5_put_real(group, "UnitLength_in_cm", gadget.length_cm) < 0 ||
        gv_hdf5_put_real(group, "UnitMass_in_g", gadget.mass_g) < 0)
        return -1;
    return gv_hdf5_put_real(group, "UnitVelocity_in_cm_per_s", gadget.velocity_cm_s);
}

static herr_t fill_header(const writer *w, hid_t header)
{
    const int64_t count[GV_HDF5_TYPES] = {0, (int64_t)w->p->count}, total[GV_HDF5_TYPES] = {0, (int64_t)w->total};
    const int64_t none[GV_HDF5_TYPES] = {0};
    const double masses[GV_HDF5_TYPES] = {0.0}; /* 0: each has its own */
    if (gv_hdf5_put_integers(header, "NumPart_ThisFile", H5T_STD_U32LE, count, GV_HDF5_TYPES) < 0 ||
        gv_hdf5_put_integers(header, "NumPart_Total", H5T_STD_U32LE, total, GV_HDF5_TYPES) < 0 ||
        gv_hdf5_put_integers(header, "NumPart_Total_HighWord", H5T_STD_U32LE, none, GV_HDF5_TYPES) < 0 ||
        gv_hdf5_put_reals(header, "MassTable", masses, GV_HDF5_TYPES) < 0)
        return -1;
    static const char *const flag[] = {"Flag_Sfr", "Flag_Cooling", "Flag_Feedback", "Flag_StellarAge", "Flag_Metals"};
    for (size_t k = 0; k < sizeof flag / sizeof flag[0]; k++)
        if (gv_hdf5_put_integer(header, flag[k], 0) < 0)
            return -1;
    if (gv_hdf5_put_integer(header, "NumFilesPerSnapshot", w->files) < 0 ||
        gv_hdf5_put_integer(header, "Flag_DoublePrecision", 1) < 0)
        return -1;
    return put_cosmology(w, header);
}

/* `time` in the file's units.  In Gyr for readers that would else make an age of the universe from it. */
static herr_t fill_parameters(const writer *w, hid_t group, double time)
{
    const double second = gadget.length_cm / gadget.velocity_cm_s;
    if (put_units(group) < 0 || put_cosmology(w, group) < 0)
        return -1;
    if (w->p->box.side > 0)
        return gv_hdf5_put_integer(group, "ComovingIntegrationOn", 1);
    return w->p->expanding ? 0 : gv_hdf5_put_real(group, "Time_GYR", time * second / GYR_S);
}

static herr_t fill_own(const writer *w, hid_t group)
{
    const int nbody = gv_units_are_nbody(&w->p->units);
    if (gv_hdf5_put_text(group, "Version", GRAVEL_VERSION) < 0)
        return -1;
    if (gv_hdf5_put_text(group, "Units",
                         nbody                ? "N-body: pure numbers, G = 1"
                         : w->p->box.side > 0 ? "comoving kpc/h, 1e10 Msun/h, km/s"
                                              : "kpc, 1e10 Msun, km/s") < 0)
        return -1;
    const gv_cosmology *c = &w->p->box.cosmology;
    if (w->p->box.side > 0 &&
        (gv_hdf5_put_real(group, "Sigma8", c->sigma_8) < 0 || gv_hdf5_put_real(group, "PrimordialIndex", c->n_s) < 0 ||
         gv_hdf5_put_integer(group, "Transfer", c->transfer) < 0))
        return -1;
    return gv_hdf5_put_integer(group, "NBodyUnits", nbody);
}

static herr_t put_groups(writer *w)
{
    static const char *const name[] = {"Header", "Parameters", "Units", "Gravel"};
    const double time = time_is_scale_factor(w->p) ? w->p->time : w->p->time * w->length / w->velocity;
    for (int k = 0; k < 4; k++) {
        const hid_t group = gv_hdf5_new_group(w->file, name[k]);
        herr_t status = group < 0 ? -1 : 0;
        if (!status && k == 0)
            status = gv_hdf5_put_real(group, "Time", time) < 0 ? -1 : fill_header(w, group);
        else if (!status)
            status = k == 1 ? fill_parameters(w, group, time) : k == 2 ? put_units(group) : fill_own(w, group);
        if (group >= 0 && H5Gclose(group) < 0)
            status = -1;
        if (status < 0)
            return status;
    }
    return 0;
}

/* --------------------------------------------------------------- datasets */

/* Of a GADGET-4 file: the powers of length, mass and velocity in it; in a box lengths are comoving and over h, masses
 * over h, velocities over sqrt(a). */
static herr_t put_scaling(const writer *w, hid_t dataset, int length, int mass, int velocity)
{
    const int box = w->p->box.side > 0;
    static const char *const name[] = {"a_scaling", "h_scaling", "length_scaling", "mass_scaling", "velocity_scaling"};
    const double value[] = {box * (length + 0.5 * velocity), -box * (length + mass), length, mass, velocity};
    for (int k = 0; k < 5; k++)
        if (gv_hdf5_put_real(dataset, name[k], value[k]) < 0)
            return -1;
    return 0;
}

static hid_t new_dataset(const writer *w, const char *name, hid_t type, int columns)
{
    const hsize_t size[2] = {w->p->count, (hsize_t)columns};
    const hid_t space = H5Screate_simple(columns > 1 ? 2 : 1, size, NULL),
                creation = gv_hdf5_timeless(H5P_DATASET_CREATE);
    hid_t dataset = -1;
    if (space >= 0 && creation >= 0)
        dataset = H5Dcreate2(w->group, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (creation >= 0)
        H5Pclose(creation);
    if (space >= 0)
        H5Sclose(space);
    return dataset;
}

/* Rows first ... first + count - 1 from `values`; 0 of them where other processes have some. */
static herr_t write_rows(writer *w, hid_t dataset, hid_t memory_type, size_t first, size_t count, int columns)
{
    const hsize_t begin[2] = {first, 0}, size[2] = {count, (hsize_t)columns};
    const int rank = columns > 1 ? 2 : 1;
    const hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(rank, size, NULL);
    herr_t status = space < 0 || memory < 0     ? -1
                    : count > 0                 ? H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, NULL, size, NULL)
                    : H5Sselect_none(space) < 0 ? -1
                                                : H5Sselect_none(memory);
    if (status >= 0)
        status = H5Dwrite(dataset, memory_type, memory, space, w->transfer, w->rows);
    /* one that fails would leave the others waiting at the next rows */
    if (w->company)
        agree(w, status < 0 ? gv_hdf5_fail(GRAVEL_ERR_FILE, w->path, "cannot write HDF5") : GRAVEL_OK);
    if (memory >= 0)
        H5Sclose(memory);
    if (space >= 0)
        H5Sclose(space);
    return w->failed ? -1 : status;
}

/* How many of the rows i, i + 1, ... of this process go at once. */
static size_t count_rows(const writer *w, size_t i)
{
    const size_t left = i < w->mine ? w->mine - i : 0;
    return left < GV_HDF5_ROWS ? left : GV_HDF5_ROWS;
}

static herr_t write_reals(writer *w, hid_t dataset, double *const column[3], int columns, double factor)
{
    for (size_t i = 0; i < w->most; i += GV_HDF5_ROWS) {
        const size_t count = count_rows(w, i), at = w->first + i;
        for (int c = 0; c < columns; c++)
            for (size_t k = 0; k < count; k++)
                w->rows[k * (size_t)columns + (size_t)c] = factor * column[c][at + k];
        if (write_rows(w, dataset, H5T_NATIVE_DOUBLE, at, count, columns) < 0)
            return -1;
    }
    return 0;
}

static herr_t put_column(writer *w, const gv_snapshot_column *item)
{
    double *const column[3] = {item->x, item->y, item->z};
    const double factor = pow(w->length, item->length) * pow(w->mass, item->mass) * pow(w->velocity, item->velocity);
    if (!item->x)
        return 0;
    const int columns = item->y ? 3 : 1;
    const hid_t dataset = new_dataset(w, item->name, H5T_IEEE_F64LE, columns);
    herr_t status = dataset < 0 ? -1 : put_scaling(w, dataset, item->length, item->mass, item->velocity);
    if (status >= 0)
        status = write_reals(w, dataset, column, columns, factor);
    if (dataset >= 0 && H5Dclose(dataset) < 0)
        status = -1;
    return status;
}

static herr_t put_ids(writer *w)
{
    const gv_particles *p = w->p;
    const int64_t offset = gv_particles_id_offset(p);
    int64_t *id = (int64_t *)w->rows;
    const hid_t dataset = new_dataset(w, "ParticleIDs", H5T_STD_U64LE, 1);
    herr_t status = dataset < 0 ? -1 : gv_hdf5_put_integers(dataset, "IdOffset", H5T_STD_I64LE, &offset, 1);
    for (size_t i = 0; i < w->most && status >= 0; i += GV_HDF5_ROWS) {
        const size_t count = count_rows(w, i), at = w->first + i;
        for (size_t k = 0; k < count; k++)
            id[k] = p->id[at + k] + offset;
        status = write_rows(w, dataset, H5T_NATIVE_INT64, at, count, 1);
    }
    if (dataset >= 0 && H5Dclose(dataset) < 0)
        status = -1;
    return status;
}

static herr_t put_particles(writer *w)
{
    const gv_particles *p = w->p;
    const gv_snapshot_column own[] = {{"Coordinates", p->x, p->y, p->z, 1, 0, 0},
                                      {"Velocities", p->vx, p->vy, p->vz, 0, 0, 1},
                                      {"Acceleration", p->ax, p->ay, p->az, -1, 0, 2},
                                      {"Masses", p->m, NULL, NULL, 0, 1, 0}};
    w->group = gv_hdf5_new_group(w->file, "PartType1");
    if (w->group < 0 || put_ids(w) < 0)
        return -1;
    for (size_t k = 0; k < sizeof own / sizeof own[0]; k++)
        if (put_column(w, &own[k]) < 0)
            return -1;
    for (int k = 0; k < w->columns; k++)
        if (put_column(w, &w->more[k]) < 0)
            return -1;
    return 0;
}

/* ------------------------------------------------------------------- file */

/* The file's space before anything is written: HDF5 keeps a file open that it could not write completely, and gives no
 * reason.  Where the file system cannot reserve, the write itself fails. */
static gravel_status reserve(const writer *w, int fd)
{
    enum { HEADERS = 32768 };
    const gv_particles *p = w->p;
    size_t reals = p->vx ? 7 : 4;
    reals += p->ax ? 3 : 0;
    for (int k = 0; k < w->columns; k++)
        reals += w->more[k].y ? 3 : 1;
    const int error = posix_fallocate(fd, 0, (off_t)(p->count * 8 * (reals + 1) + HEADERS));
    if (error == ENOSPC || error == EFBIG || error == EDQUOT || error == EIO)
        return gv_fail(GRAVEL_ERR_FILE, "cannot write %s: %s; free some space or write to another place", w->path,
                       strerror(error));
    return GRAVEL_OK;
}

/* Cuts off what was reserved behind the end of the data, which HDF5 does not do. */
static gravel_status cut(const writer *w, int fd, hsize_t size)
{
    struct stat info;
    if (!fstat(fd, &info) && (info.st_size <= (off_t)size || !ftruncate(fd, (off_t)size)))
        return GRAVEL_OK;
    return gv_fail(GRAVEL_ERR_FILE, "cannot write %s: %s", w->path, strerror(errno));
}

/* What HDF5 needs to know of other processes. */
static herr_t join(writer *w, hid_t access)
{
    w->transfer = H5P_DEFAULT;
    if (!w->company)
        return 0;
#ifdef H5_HAVE_PARALLEL
    w->transfer = H5Pcreate(H5P_DATASET_XFER);
    if (w->transfer < 0 || H5Pset_dxpl_mpio(w->transfer, H5FD_MPIO_COLLECTIVE) < 0)
        return -1;
#endif
    return w->company->join(w->company->user, (int64_t)access);
}

/* The open file `fd` (below 0: another process has it), whose name is `place`. */
static gravel_status open_file(writer *w, const char *place, int fd)
{
    const hid_t access = gv_hdf5_access(), creation = gv_hdf5_timeless(H5P_FILE_CREATE);
    gravel_status status = GRAVEL_OK;
    w->file = w->group = -1;
    if (access >= 0 && creation >= 0 && join(w, access) >= 0)
        w->file = H5Fcreate(place, H5F_ACC_TRUNC, creation, access);
    if (w->file < 0)
        status = gv_hdf5_fail(GRAVEL_ERR_FILE, w->path, "cannot write HDF5");
    if (!status && fd >= 0)
        status = reserve(w, fd);
    if (creation >= 0)
        H5Pclose(creation);
    if (access >= 0)
        H5Pclose(access);
    return agree(w, status);
}

/* The reason of a failure is taken where the call failed: closing what is open would replace it. */
static gravel_status write_file(writer *w, const char *place, int fd)
{
    hsize_t size = 0;
    gravel_status status = open_file(w, place, fd);
    if (!status && (put_groups(w) < 0 || put_particles(w) < 0 || H5Fflush(w->file, H5F_SCOPE_LOCAL) < 0 ||
                    (!w->company && H5Fget_filesize(w->file, &size) < 0)))
        status = w->failed ? w->failed : gv_hdf5_fail(GRAVEL_ERR_FILE, w->path, "cannot write HDF5");
    if (w->group >= 0 && H5Gclose(w->group) < 0 && !status)
        status = gv_hdf5_fail(GRAVEL_ERR_FILE, w->path, "cannot write HDF5");
    if (w->file >= 0 && H5Fclose(w->file) < 0 && !status)
        status = gv_hdf5_fail(GRAVEL_ERR_FILE, w->path, "cannot write HDF5");
    if (w->transfer > 0)
        H5Pclose(w->transfer);
    status = agree(w, status);
    return status || w->company ? status : cut(w, fd, size); /* MPI-IO cuts by itself */
}

/* Into a file that was opened as `out` by the process that leads. */
static gravel_status write_into(writer *w, const char *place, int fd)
{
    gv_hdf5_quiet quiet;
    w->rows = malloc(GV_HDF5_ROWS * 3 * sizeof *w->rows);
    gravel_status status = agree(w, w->rows ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no memory to write %s", w->path));
    if (!status) {
        set_factors(w);
        gv_hdf5_begin(&quiet);
        status = write_file(w, place, fd);
        gv_hdf5_end(&quiet);
    }
    free(w->rows);
    return status;
}

static gravel_status open_out(gv_out_file *out, const gv_particles *particles, const char *path)
{
    memset(out, 0, sizeof *out);
    if (particles->count == 0)
        return gv_fail(GRAVEL_ERR_INPUT, "%s: a snapshot without particles", path);
    gravel_status status = gv_out_open(out, path);
    if (!status && !out->temporary) {
        status = gv_fail(GRAVEL_ERR_FILE, "%s: HDF5 can be written to regular files only", path);
        gv_out_abort(out);
    }
    return status;
}

static gravel_status write_one(writer w, const gv_particles *particles, const char *path)
{
    gv_out_file out;
    gravel_status status = open_out(&out, particles, path);
    if (status)
        return status;
    w.mine = w.most = particles->count;
    status = write_into(&w, out.temporary, fileno(out.stream));
    if (!status)
        return gv_out_commit(&out);
    gv_out_abort(&out);
    return status;
}

gravel_status gv_hdf5_write(const gv_particles *particles, const char *path, const gv_snapshot_column *more,
                            int columns)
{
    const writer w = {
        .p = particles, .more = more, .columns = columns, .path = path, .total = particles->count, .files = 1};
    return write_one(w, particles, path);
}

gravel_status gv_hdf5_write_part(const gv_particles *particles, const char *path, size_t total, int files)
{
    const writer w = {.p = particles, .path = path, .total = total, .files = files};
    return write_one(w, particles, path);
}

/* ---------------------------------------------------------------- together */

/* The leading process makes the file and gives it its name at last; the others must see it: a folder of that machine
 * alone would lose what they write. */
gravel_status gv_hdf5_write_together(const gv_particles *particles, const char *path, const gv_snapshot_column *more,
                                     int columns, const gv_snapshot_company *c)
{
    gv_out_file out = {.path = NULL};
    char *place = NULL;
    gravel_status status = c->leads ? open_out(&out, particles, path) : GRAVEL_OK;
    if (!status && c->leads && !(place = strdup(out.temporary)))
        status = gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    status = c->agree(c->user, status);
    if (!status)
        status = c->spread(c->user, &place);
    if (!status && access(place, R_OK | W_OK) != 0)
        status = gv_fail(GRAVEL_ERR_FILE, "all ranks write one file, and %s cannot be opened here: %s", place,
                         strerror(errno));
    status = c->agree(c->user, status);
    if (!status) {
        writer w = {.p = particles, .more = more, .columns = columns, .total = particles->count, .files = 1};
        w.path = c->leads ? path : place;
        w.company = c;
        w.first = c->first;
        w.mine = c->count;
        w.most = c->most;
        status = write_into(&w, place, c->leads ? fileno(out.stream) : -1);
    }
    free(place);
    if (!status)
        return c->agree(c->user, c->leads ? gv_out_commit(&out) : GRAVEL_OK);
    gv_out_abort(&out);
    return status;
}
#endif
