/* What reading and writing of HDF5 snapshots share: the library's own messages switched off, its reasons read,
 * attributes. Include only where GV_HAVE_HDF5 is defined. */
#ifndef GV_HDF5_FILE_H
#define GV_HDF5_FILE_H

#include <hdf5.h>
#include <stdint.h>

#include "host/base/status.h"

enum { GV_HDF5_TYPES = 6, GV_HDF5_ROWS = 1 << 17 }; /* particle types of GADGET; rows that pass the host at once */

/* HDF5 prints its errors; between these two calls it does not.  Nor does it clean up when the process ends: after a
 * failed write it could crash on what it could not close; everything else is closed by then. */
typedef struct gv_hdf5_quiet {
    H5E_auto2_t print;
    void *data;
} gv_hdf5_quiet;
void gv_hdf5_begin(gv_hdf5_quiet *quiet);
void gv_hdf5_end(const gv_hdf5_quiet *quiet);

/* "FILE: what: reason that HDF5 gives"; right after the call that failed. */
gravel_status gv_hdf5_fail(gravel_status status, const char *path, const char *what);

/* How a file is opened: without locks where the file system has none; written in the format of HDF5 1.8, whose headers
 * carry checksums, so that damage is detected. */
hid_t gv_hdf5_access(void);

/* How files, groups and datasets are created: without the time of day, so that the same values give the same bytes. */
hid_t gv_hdf5_timeless(hid_t kind);
hid_t gv_hdf5_new_group(hid_t file, const char *name);

/* Writing; negative after a failure. */
herr_t gv_hdf5_put_reals(hid_t object, const char *name, const double *value, hsize_t count);
herr_t gv_hdf5_put_real(hid_t object, const char *name, double value);
herr_t gv_hdf5_put_integers(hid_t object, const char *name, hid_t type, const int64_t *value, hsize_t count);
herr_t gv_hdf5_put_integer(hid_t object, const char *name, int64_t value);
herr_t gv_hdf5_put_text(hid_t object, const char *name, const char *text);

/* 1 for the integers and IEEE floats of 8 to 64 bits that machines have.  Only these are read: a type may describe any
 * layout of bits, and the library's conversions do not check types of damaged files. */
int gv_hdf5_is_number(hid_t type, int whole);

/* Reading.  The number of values found, at most `room`; 0: no such attribute; -1: of another type. */
int gv_hdf5_get_reals(hid_t object, const char *name, double *value, int room);
int gv_hdf5_get_integers(hid_t object, const char *name, int64_t *value, int room);

#endif
