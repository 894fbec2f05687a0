/* Snapshots that all ranks write into one file, with MPI-IO: what sim/snapshot_hdf5_write.c wants to know of them. */
#include "cli/ranks.h"

#if defined GV_HAVE_MPI && defined GV_HAVE_PARALLEL_HDF5

#include <hdf5.h>

static gravel_status agree(void *user, gravel_status status)
{
    return gv_ranks_agree(user, status);
}

static gravel_status spread(void *user, char **text)
{
    return gv_ranks_spread_text(user, text);
}

static int join(void *user, int64_t access)
{
    (void)user;
    return H5Pset_fapl_mpio((hid_t)access, MPI_COMM_WORLD, MPI_INFO_NULL);
}

gravel_status gv_ranks_can_write(void)
{
    return GRAVEL_OK;
}

gravel_status gv_ranks_write_snapshot(gv_ranks *r, const gv_particles *particles, const char *path,
                                      const gv_snapshot_column *more, int columns)
{
    gv_snapshot_company c = {.leads = gv_ranks_is_first(r), .agree = agree, .spread = spread, .join = join, .user = r};
    const size_t size = (size_t)gv_ranks_count(r);
    gv_ranks_get_range(r, particles->count, &c.first, &c.count);
    c.most = particles->count / size + (particles->count % size > 0);
    return gv_hdf5_write_together(particles, path, more, columns, &c);
}

#else

gravel_status gv_ranks_can_write(void)
{
    return gv_fail(GRAVEL_ERR_UNSUPPORTED,
                   "this gravel was built without parallel HDF5, so the first rank writes snapshots (one file, too): "
                   "install libhdf5-openmpi-dev, or libhdf5-mpich-dev for MPICH, and build again with 'scons mpi=1'");
}

gravel_status gv_ranks_write_snapshot(gv_ranks *r, const gv_particles *particles, const char *path,
                                      const gv_snapshot_column *more, int columns)
{
    (void)r;
    (void)particles;
    (void)path;
    (void)more;
    (void)columns;
    return gv_ranks_can_write();
}

#endif
