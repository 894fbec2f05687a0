/* The table of diagnostics in HDF5.  It is small: the file is built in memory and written as any other, so that a full
 * disk needs no care here. */
#include "sim/diagnostics_table.h"

#ifdef GV_HAVE_HDF5
#include <stdlib.h>

#include "host/base/files.h"
#include "sim/hdf5_file.h"

static herr_t put_values(hid_t group, const gv_diagnostics_table *table, int column, double *value)
{
    const gv_diagnostic_column *c = &gv_diagnostic_column_at[column];
    const hsize_t size = table->rows;
    char text[GV_UNITS_TEXT];
    const hid_t space = H5Screate_simple(1, &size, NULL), creation = gv_hdf5_timeless(H5P_DATASET_CREATE);
    hid_t dataset = -1;
    herr_t status = -1;
    for (size_t i = 0; i < table->rows; i++)
        value[i] = ((const double *)&table->row[i])[column];
    if (space >= 0 && creation >= 0)
        dataset = H5Dcreate2(group, c->name, H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (dataset >= 0 && H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0 &&
        gv_hdf5_put_text(dataset, "Unit", gv_unit_text(&table->units, c->length, c->mass, c->velocity, text)) >= 0)
        status = gv_hdf5_put_text(dataset, "Meaning", c->meaning);
    if (dataset >= 0 && H5Dclose(dataset) < 0)
        status = -1;
    if (creation >= 0)
        H5Pclose(creation);
    if (space >= 0)
        H5Sclose(space);
    return status;
}

static herr_t put_facts(hid_t group, const gv_diagnostics_table *table)
{
    const int64_t bodies = (int64_t)table->bodies;
    const double cgs[3] = {table->units.length_cm, table->units.mass_g, table->units.velocity_cm_s};
    char text[GV_UNITS_TEXT];
    if (gv_hdf5_put_text(group, "Units", gv_units_text(&table->units, text)) < 0 ||
        gv_hdf5_put_reals(group, "LengthMassVelocity_in_cgs", cgs, 3) < 0)
        return -1;
    return gv_hdf5_put_integers(group, "Bodies", H5T_STD_I64LE, &bodies, 1);
}

static herr_t put_group(hid_t file, const gv_diagnostics_table *table, double *value)
{
    const hid_t group = gv_hdf5_new_group(file, "Diagnostics");
    herr_t status = group < 0 ? -1 : put_facts(group, table);
    for (int k = 0; status >= 0 && k < GV_DIAGNOSTIC_COLUMNS; k++)
        status = put_values(group, table, k, value);
    if (group >= 0 && H5Gclose(group) < 0)
        status = -1;
    return status;
}

/* The bytes of the file, malloc'd; 0: a failure.  In the oldest format, without checksums: H5Fget_file_image changes
 * the superblock of later ones and leaves its checksum as it was. */
static size_t build(const gv_diagnostics_table *table, double *value, void **image)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = gv_hdf5_timeless(H5P_FILE_CREATE);
    hid_t file = -1;
    ssize_t size = -1;
    if (access >= 0 && creation >= 0 && H5Pset_fapl_core(access, 1 << 20, 0) >= 0)
        file = H5Fcreate("diagnostics in memory", H5F_ACC_TRUNC, creation, access);
    if (file >= 0 && put_group(file, table, value) >= 0 && H5Fflush(file, H5F_SCOPE_LOCAL) >= 0)
        size = H5Fget_file_image(file, NULL, 0);
    *image = size > 0 ? malloc((size_t)size) : NULL;
    if (*image && H5Fget_file_image(file, *image, (size_t)size) != size)
        size = -1;
    if (file >= 0)
        H5Fclose(file);
    if (creation >= 0)
        H5Pclose(creation);
    if (access >= 0)
        H5Pclose(access);
    return *image && size > 0 ? (size_t)size : 0;
}

gravel_status gv_diagnostics_write_hdf5(const gv_diagnostics_table *table, const char *path)
{
    gv_hdf5_quiet quiet;
    void *image = NULL;
    double *value = malloc((table->rows ? table->rows : 1) * sizeof *value);
    if (!value)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory to write %s", path);
    gv_hdf5_begin(&quiet);
    const size_t size = build(table, value, &image);
    gravel_status status = size ? GRAVEL_OK : gv_hdf5_fail(GRAVEL_ERR_FILE, path, "cannot make HDF5");
    gv_hdf5_end(&quiet);
    if (!status)
        status = gv_file_write(path, image, size);
    free(image);
    free(value);
    return status;
}
#else
gravel_status gv_diagnostics_write_hdf5(const gv_diagnostics_table *table, const char *path)
{
    (void)table;
    return gv_fail(GRAVEL_ERR_UNSUPPORTED,
                   "%s: this gravel was built without HDF5; install libhdf5-dev and build again", path);
}
#endif
