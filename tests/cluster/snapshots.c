/* Snapshots that all ranks write into one file: run by gate_mpi as `mpirun -n P snapshots FOLDER`.  Needs no device.
 * The exit status is 0 if all ranks found what they should, 77 without parallel HDF5. */
#ifndef GV_HAVE_PARALLEL_HDF5

int main(void)
{
    return 77;
}

#else

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "check.h"

#include "host/base/status.h"
#include "sim/hdf5_file.h"
#include "sim/snapshot.h"

/* How many agreements there have been; the last rank fails at number `fails` (-1: never). */
static int agreements, fails;

static gravel_status agree(void *user, gravel_status status)
{
    int mine, any;
    (void)user;
    if (agreements++ == fails && rank == size - 1)
        status = gv_fail(GRAVEL_ERR_FILE, "made to fail");
    mine = (int)status;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return status ? status : any ? gv_fail((gravel_status)any, "on another rank") : GRAVEL_OK;
}

static gravel_status spread(void *user, char **text)
{
    int length = *text ? (int)strlen(*text) + 1 : 0;
    (void)user;
    MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank > 0)
        *text = malloc((size_t)length);
    MPI_Bcast(*text, length, MPI_CHAR, 0, MPI_COMM_WORLD);
    return GRAVEL_OK;
}

static int join(void *user, int64_t access)
{
    (void)user;
    return H5Pset_fapl_mpio((hid_t)access, MPI_COMM_WORLD, MPI_INFO_NULL);
}

/* Numbers that tell where they belong, in the own range only: elsewhere they are wrong. */
static void make(gv_particles *p, size_t n, size_t first, size_t count)
{
    CHECK(gv_particles_create(p, n, 2) == GRAVEL_OK);
    double *const column[] = {p->m, p->x, p->y, p->z, p->vx, p->vy, p->vz, p->ax, p->ay, p->az};
    p->time = 2.5;
    for (size_t i = 0; i < n; i++) {
        const int own = i >= first && i < first + count;
        p->id[i] = (int32_t)(7 * i + 3);
        for (int c = 0; c < 10; c++)
            column[c][i] = own ? 1 + (double)i * 1024 + c : -1;
    }
}

static gravel_status write_together(const gv_particles *p, const char *path, size_t first, size_t count)
{
    unsigned long long mine = count, most = 0;
    const gv_snapshot_column more = {"Potential", p->ax, /* any column */ NULL, NULL, 0, 0, 2};
    MPI_Allreduce(&mine, &most, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    const gv_snapshot_company c = {first, count, (size_t)most, rank == 0, agree, spread, join, NULL};
    return gv_hdf5_write_together(p, rank == 0 ? path : NULL, &more, 1, &c);
}

static void expect(const char *path, size_t n)
{
    gv_particles p, all;
    CHECK(gv_snapshot_read(&p, path, NULL) == GRAVEL_OK);
    make(&all, n, 0, n);
    CHECK(p.count == n && p.time == all.time && p.id_offset == 1);
    CHECK(memcmp(p.id, all.id, n * sizeof *p.id) == 0);
    double *const found[] = {p.m, p.x, p.y, p.z, p.vx, p.vy, p.vz, p.ax, p.ay, p.az};
    double *const wanted[] = {all.m, all.x, all.y, all.z, all.vx, all.vy, all.vz, all.ax, all.ay, all.az};
    for (int c = 0; c < 10; c++)
        CHECK(found[c] && memcmp(found[c], wanted[c], n * sizeof *p.x) == 0);
    gv_particles_free(&p);
    gv_particles_free(&all);
}

/* Even ranges, and all bodies on the last rank; with `n` above GV_HDF5_ROWS in several pieces, of which ranks have
 * different numbers. */
static void writes(const char *path, size_t n)
{
    for (int even = 0; even < 2; even++) {
        const size_t r = (size_t)rank, s = (size_t)size;
        const size_t first = even ? n * r / s : rank == size - 1 ? 0 : n;
        const size_t count = even ? n * (r + 1) / s - first : n - first;
        gv_particles p;
        make(&p, n, first, count);
        CHECK(write_together(&p, path, first, count) == GRAVEL_OK);
        expect(path, n);
        gv_particles_free(&p);
    }
}

/* A rank fails at any of the agreements, or the disk is full: the old file stays, nothing else is left. */
static void failures(const char *folder, const char *path)
{
    struct rlimit before, small;
    gv_particles p;
    const size_t n = 3000, r = (size_t)rank, s = (size_t)size, first = n * r / s, count = n * (r + 1) / s - first;
    gravel_status status;
    writes(path, 20);
    make(&p, n, first, count);
    for (fails = 0, status = GRAVEL_ERR_FILE; fails < 100 && status; fails++) {
        agreements = 0;
        status = write_together(&p, path, first, count);
        CHECK(status == (agreements > fails ? GRAVEL_ERR_FILE : GRAVEL_OK));
        if (status && agreements <= 10)
            expect(path, 20);
    }
    CHECK(fails > 10 && !status);
    fails = -1;
    expect(path, n);
    signal(SIGXFSZ, SIG_IGN);
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    small = before;
    small.rlim_cur = 9000;
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    status = write_together(&p, path, first, count);
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(status == GRAVEL_ERR_FILE);
    CHECK(rank > 0 || strstr(gravel_error_message(), "cannot write"));
    expect(path, n);
    gv_particles_free(&p);
    MPI_Barrier(MPI_COMM_WORLD);
    char command[4200];
    snprintf(command, sizeof command, "test $(ls -A '%s' | wc -l) = 1", folder);
    CHECK(rank > 0 || system(command) == 0);
}

int main(int argc, char **argv)
{
    char path[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    fails = -1;
    CHECK(argc == 2);
    snprintf(path, sizeof path, "%s/together.hdf5", argv[1]);
    writes(path, 3); /* ranks without bodies */
    writes(path, 1000);
    writes(path, 2 * GV_HDF5_ROWS + 5);
    failures(argv[1], path);
    MPI_Finalize();
    return 0;
}

#endif
