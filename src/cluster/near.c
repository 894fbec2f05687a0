/* Memory that the ranks of one machine share: POSIX shared memory, whose name is gone as soon as all have it.  MPI's
 * own (MPI_Win_allocate_shared) is given back by all ranks together only, and who writes into it dies where /dev/shm is
 * full; here room is taken beforehand, and where there is none, ranks exchange messages as if each had a machine of
 * its own. */
#include "cluster/near.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NAME = 64, UNIT = 65536 }; /* UNIT: pages of any size */

/* ------------------------------------------------------------- who is near */

static gv_machine_ranks alone(const gravel_cluster *c)
{
    return (gv_machine_ranks){MPI_COMM_SELF, c->comm, 0, 1, c->rank, c->size};
}

static void forget(const gravel_cluster *c, gv_machine_ranks *who)
{
    if (who->comm != MPI_COMM_NULL && who->comm != MPI_COMM_SELF)
        MPI_Comm_free(&who->comm);
    if (who->across != MPI_COMM_NULL && who->across != c->comm)
        MPI_Comm_free(&who->across);
}

/* rank = first + number, `first` a multiple of the number of ranks of a machine, which is the same on all. */
static int look_for_order(const gravel_cluster *c, const gv_machine_ranks *who, int *good)
{
    const int mine[3] = {who->size, -who->size, c->rank != c->rank / who->size * who->size + who->rank};
    int most[3];
    const int code = MPI_Allreduce(mine, most, 3, MPI_INT, MPI_MAX, c->comm);
    *good = code == MPI_SUCCESS && most[0] == -most[1] && !most[2];
    return code;
}

int gv_near_find(gravel_cluster *c)
{
    const char *given = getenv("GRAVEL_CLUSTER_NEAR");
    gv_machine_ranks who = {.comm = MPI_COMM_NULL, .across = MPI_COMM_NULL};
    MPI_Comm node = MPI_COMM_NULL;
    int most = given && atoi(given) > 0 ? atoi(given) : c->size, number = 0, in_order = 0;
    c->near = alone(c);
    int code = MPI_Bcast(&most, 1, MPI_INT, 0, c->comm);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_split_type(c->comm, MPI_COMM_TYPE_SHARED, c->rank, MPI_INFO_NULL, &node);
    if (code != MPI_SUCCESS)
        return code;
    MPI_Comm_rank(node, &number);
    code = MPI_Comm_split(node, number / most, number, &who.comm);
    MPI_Comm_free(&node);
    if (code != MPI_SUCCESS)
        return code;
    MPI_Comm_rank(who.comm, &who.rank);
    MPI_Comm_size(who.comm, &who.size);
    who.first = c->rank - who.rank;
    who.machines = c->size / who.size;
    code = look_for_order(c, &who, &in_order);
    if (code == MPI_SUCCESS && in_order)
        code = MPI_Comm_split(c->comm, who.rank, c->rank, &who.across);
    if (code == MPI_SUCCESS && in_order)
        c->near = who;
    else
        forget(c, &who);
    return code;
}

void gv_near_forget(gravel_cluster *c)
{
    forget(c, &c->near);
}

/* ------------------------------------------------------------------ memory */

gv_near gv_near_begin(gravel_cluster *c)
{
    return (gv_near){.cluster = c, .who = c->near};
}

void gv_near_release(gv_near *n)
{
    if (n->memory && n->who.size > 1)
        munmap(n->memory, n->bytes);
    else
        free(n->memory);
    n->memory = NULL;
    n->bytes = 0;
}

/* A new name, and its memory; -1: there is none. */
static int make_file(char name[NAME], size_t bytes)
{
    static atomic_uint count;
    snprintf(name, NAME, "/gravel-%ld-%u", (long)getpid(), atomic_fetch_add(&count, 1u));
    const int file = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (file >= 0 && posix_fallocate(file, 0, (off_t)bytes) == 0)
        return file;
    if (file >= 0) {
        close(file);
        shm_unlink(name);
    }
    name[0] = '\0';
    return -1;
}

/* The first rank of a machine makes it, the others open it. */
static unsigned char *map_shared(const gv_machine_ranks *who, size_t bytes)
{
    char name[NAME] = "";
    int file = who->rank == 0 ? make_file(name, bytes) : -1;
    if (MPI_Bcast(name, sizeof name, MPI_CHAR, 0, who->comm) != MPI_SUCCESS)
        name[0] = '\0';
    if (who->rank > 0 && name[0])
        file = shm_open(name, O_RDWR, 0);
    void *at = file >= 0 ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    MPI_Barrier(who->comm);
    if (who->rank == 0 && file >= 0)
        shm_unlink(name);
    if (file >= 0)
        close(file);
    return at == MAP_FAILED ? NULL : at;
}

static unsigned char *make_own(size_t bytes)
{
    unsigned char *at = aligned_alloc(UNIT, bytes);
    return at ? memset(at, 0, bytes) : NULL;
}

gravel_status gv_near_need(gv_near *n, size_t bytes)
{
    const size_t wanted = (bytes + bytes / 4 + UNIT) / UNIT * UNIT;
    gravel_cluster *c = n->cluster;
    int all;
    if (n->memory && n->bytes >= bytes)
        return GRAVEL_OK;
    gv_near_release(n);
    n->memory = n->who.size > 1 ? map_shared(&n->who, wanted) : make_own(wanted);
    n->bytes = n->memory ? wanted : 0;
    const int mine = n->memory != NULL, code = MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, c->comm);
    if (code == MPI_SUCCESS && !all && c->near.size > 1) { /* not all have it: all do without */
        gv_near_release(n);
        n->who = alone(c);
        n->memory = make_own(wanted);
        n->bytes = n->memory ? wanted : 0;
    }
    const gravel_status status = code != MPI_SUCCESS ? gv_cluster_fail_mpi(code, "shared memory")
                                 : !n->memory ? gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory: %zu bytes", wanted)
                                              : GRAVEL_OK;
    return gravel_cluster_agree(c, status);
}

/* ---------------------------------------------------------------- exchange */

int gv_near_meet(const gv_near *n)
{
    MPI_Request request;
    if (n->who.size == 1)
        return MPI_SUCCESS;
    if (!n->cluster->is_patient)
        return MPI_Barrier(n->who.comm);
    const int code = MPI_Ibarrier(n->who.comm, &request);
    return code == MPI_SUCCESS ? gv_cluster_finish(n->cluster, 1, &request) : code;
}

/* The ranks of one number bring each other the pieces of that number: each card of a machine has its part of them. */
int gv_near_gather(const gv_near *n, size_t offset, size_t bytes)
{
    const size_t stride = (size_t)n->who.size * bytes;
    MPI_Datatype piece, spread;
    MPI_Request request;
    if (n->who.machines == 1 || bytes == 0)
        return MPI_SUCCESS;
    MPI_Type_contiguous((int)bytes, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)stride, &spread);
    MPI_Type_commit(&spread);
    int code = MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, n->memory + offset + (size_t)n->who.rank * bytes, 1,
                              spread, n->who.across, &request);
    if (code == MPI_SUCCESS)
        code = gv_cluster_finish(n->cluster, 1, &request);
    MPI_Type_free(&spread);
    MPI_Type_free(&piece);
    return code == MPI_SUCCESS ? gv_near_meet(n) : code;
}
