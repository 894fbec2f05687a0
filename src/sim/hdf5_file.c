#ifdef GV_HAVE_HDF5
#include "sim/hdf5_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gv_hdf5_begin(gv_hdf5_quiet *quiet)
{
    H5dont_atexit(); /* has an effect before HDF5 is first used only */
    H5Eget_auto2(H5E_DEFAULT, &quiet->print, &quiet->data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void gv_hdf5_end(const gv_hdf5_quiet *quiet)
{
    H5Eset_auto2(H5E_DEFAULT, quiet->print, quiet->data);
}

/* The innermost entry has the cause; the operating system's reason stands in the middle of a long one.  A filter that
 * is not there was looked for in folders of plug-ins, which is innermost then. */
static herr_t keep_reason(unsigned n, const H5E_error2_t *entry, void *user)
{
    char *reason = user;
    if (entry->desc && strstr(entry->desc, "filter") && strstr(entry->desc, "not registered")) {
        snprintf(reason, 160, "%s (its compression is not in this HDF5)", entry->desc);
        return 1;
    }
    const char *begin = entry->desc ? strstr(entry->desc, "error message = '") : NULL;
    if (begin) {
        begin += strlen("error message = '");
        snprintf(reason, 160, "%.*s", (int)strcspn(begin, "'"), begin);
        return 1;
    }
    if (n == 0 && entry->desc)
        snprintf(reason, 160, "%s", entry->desc);
    return 0;
}

gravel_status gv_hdf5_fail(gravel_status status, const char *path, const char *what)
{
    char reason[160] = "";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_reason, reason);
    return gv_fail(status, "%s: %s%s%s", path, what, reason[0] ? ": " : "", reason);
}

hid_t gv_hdf5_access(void)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
#if H5_VERSION_GE(1, 10, 7)
    if (access >= 0)
        H5Pset_file_locking(access, 0, 1);
#endif
#if H5_VERSION_GE(1, 10, 2)
    if (access >= 0)
        H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
#endif
    return access;
}

/* ---------------------------------------------------------------- writing */

hid_t gv_hdf5_timeless(hid_t kind)
{
    const hid_t creation = H5Pcreate(kind);
    if (creation >= 0 && H5Pset_obj_track_times(creation, 0) < 0) {
        H5Pclose(creation);
        return -1;
    }
    return creation;
}

hid_t gv_hdf5_new_group(hid_t file, const char *name)
{
    const hid_t creation = gv_hdf5_timeless(H5P_GROUP_CREATE);
    const hid_t group = creation < 0 ? -1 : H5Gcreate2(file, name, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (creation >= 0)
        H5Pclose(creation);
    return group;
}

static herr_t put(hid_t object, const char *name, hid_t type, hid_t memory_type, const void *value, hid_t space)
{
    if (space < 0)
        return -1;
    const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    herr_t status = attribute < 0 ? -1 : H5Awrite(attribute, memory_type, value);
    if (attribute >= 0 && H5Aclose(attribute) < 0)
        status = -1;
    H5Sclose(space);
    return status;
}

herr_t gv_hdf5_put_reals(hid_t object, const char *name, const double *value, hsize_t count)
{
    return put(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, value, H5Screate_simple(1, &count, NULL));
}

herr_t gv_hdf5_put_real(hid_t object, const char *name, double value)
{
    return put(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value, H5Screate(H5S_SCALAR));
}

herr_t gv_hdf5_put_integers(hid_t object, const char *name, hid_t type, const int64_t *value, hsize_t count)
{
    return put(object, name, type, H5T_NATIVE_INT64, value, H5Screate_simple(1, &count, NULL));
}

herr_t gv_hdf5_put_integer(hid_t object, const char *name, int64_t value)
{
    return put(object, name, H5T_STD_I32LE, H5T_NATIVE_INT64, &value, H5Screate(H5S_SCALAR));
}

herr_t gv_hdf5_put_text(hid_t object, const char *name, const char *text)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    herr_t status = -1;
    if (type >= 0 && H5Tset_size(type, strlen(text) + 1) >= 0)
        status = put(object, name, type, type, text, H5Screate(H5S_SCALAR));
    if (type >= 0)
        H5Tclose(type);
    return status;
}

/* ---------------------------------------------------------------- reading */

int gv_hdf5_is_number(hid_t type, int whole)
{
    const hid_t integer[] = {H5T_STD_I8LE,  H5T_STD_I16LE, H5T_STD_I32LE, H5T_STD_I64LE, H5T_STD_U8LE,  H5T_STD_U16LE,
                             H5T_STD_U32LE, H5T_STD_U64LE, H5T_STD_I8BE,  H5T_STD_I16BE, H5T_STD_I32BE, H5T_STD_I64BE,
                             H5T_STD_U8BE,  H5T_STD_U16BE, H5T_STD_U32BE, H5T_STD_U64BE};
    const hid_t real[] = {H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_IEEE_F32BE, H5T_IEEE_F64BE};
    int found = 0;
    for (size_t k = 0; k < sizeof integer / sizeof integer[0]; k++)
        found |= H5Tequal(type, integer[k]) > 0;
    for (size_t k = 0; !whole && k < sizeof real / sizeof real[0]; k++)
        found |= H5Tequal(type, real[k]) > 0;
    return found;
}

/* A file may claim any size; no attribute is larger than 64 kB. */
static int get(hid_t object, const char *name, hid_t memory_type, void *value, int room)
{
    enum { MOST = 8192 };
    if (H5Aexists(object, name) <= 0)
        return 0;
    int count = -1;
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    const hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute),
                type = attribute < 0 ? -1 : H5Aget_type(attribute);
    const hssize_t points = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    if (type >= 0 && gv_hdf5_is_number(type, 0) && points >= 1 && points <= MOST) {
        char *all = malloc((size_t)points * 8);
        if (all && H5Aread(attribute, memory_type, all) >= 0) {
            count = points < room ? (int)points : room;
            memcpy(value, all, (size_t)count * 8);
        }
        free(all);
    }
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    if (attribute >= 0)
        H5Aclose(attribute);
    return count;
}

int gv_hdf5_get_reals(hid_t object, const char *name, double *value, int room)
{
    return get(object, name, H5T_NATIVE_DOUBLE, value, room);
}

int gv_hdf5_get_integers(hid_t object, const char *name, int64_t *value, int room)
{
    return get(object, name, H5T_NATIVE_INT64, value, room);
}
#endif
