/* What ranks say to one another; a program that was started alone has nothing to say. */
#include "cli/ranks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "host/base/digest.h"

static double own_processor_time(void)
{
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) != 0)
        return 0;
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

#ifdef GV_HAVE_MPI

#include "cluster/object.h"

/* Errors of MPI_COMM_WORLD end the job; an MPI that goes on is told apart here. */
static gravel_status check(int code, const char *what)
{
    return code == MPI_SUCCESS ? GRAVEL_OK : gv_fail(GRAVEL_ERR_INTERNAL, "MPI: %s failed", what);
}

/* A message's length is an int. */
enum { PIECE = 1 << 30 };

/* Others wait here for the first one, which may have to write a file. */
gravel_status gv_ranks_spread(gv_ranks *r, void *bytes, size_t size)
{
    int code = MPI_SUCCESS;
    for (size_t at = 0; r && at < size && code == MPI_SUCCESS; at += PIECE) {
        const int count = (int)(size - at < PIECE ? size - at : PIECE);
        MPI_Request request;
        code = MPI_Ibcast((char *)bytes + at, count, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
        if (code == MPI_SUCCESS)
            code = gv_cluster_finish(gv_ranks_cluster(r), 1, &request);
    }
    return check(code, "a broadcast");
}

/* An array that may be NULL. */
static gravel_status spread_array(gv_ranks *r, void **array, size_t size)
{
    int there = *array != NULL;
    gravel_status status = gv_ranks_spread(r, &there, sizeof there);
    if (status || !there)
        return status;
    if (gv_ranks_rank(r) > 0)
        *array = malloc(size + 1);
    status = gravel_cluster_agree(gv_ranks_cluster(r),
                                  *array ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no memory for bodies"));
    return status ? status : gv_ranks_spread(r, *array, size);
}

gravel_status gv_ranks_spread_text(gv_ranks *r, char **text)
{
    size_t size = r && *text ? strlen(*text) + 1 : 0;
    const gravel_status status = gv_ranks_spread(r, &size, sizeof size);
    return !r || status ? status : spread_array(r, (void **)text, size);
}

gravel_status gv_ranks_spread_particles(gv_ranks *r, gv_particles *p)
{
    if (!r)
        return GRAVEL_OK;
    gv_particles copy = *p;
    gravel_status status = gv_ranks_spread(r, &copy, sizeof copy);
    if (gv_ranks_rank(r) > 0 && !status) {
        gv_particles_free(p);
        p->count = copy.count;
        p->time = copy.time;
        p->units = copy.units;
        p->id_offset = copy.id_offset;
        p->period = copy.period;
        p->expanding = copy.expanding;
    }
    double **const column[] = {&p->m, &p->x, &p->y, &p->z, &p->vx, &p->vy, &p->vz, &p->ax, &p->ay, &p->az};
    if (!status)
        status = spread_array(r, (void **)&p->id, p->count * sizeof *p->id);
    for (size_t k = 0; k < sizeof column / sizeof column[0] && !status; k++)
        status = spread_array(r, (void **)column[k], p->count * sizeof **column[k]);
    return status;
}

void gv_ranks_get_range(gv_ranks *r, size_t count, size_t *first, size_t *mine)
{
    *first = 0;
    *mine = count;
    if (r)
        gravel_cluster_get_range(gv_ranks_cluster(r), count, first, mine);
}

gravel_status gv_ranks_gather(gv_ranks *r, size_t count, double *numbers, gravel_status status)
{
    if (!r)
        return status;
    status = gravel_cluster_agree(gv_ranks_cluster(r), status);
    int code = MPI_SUCCESS;
    for (int from = 0; from < gv_ranks_count(r) && !status && code == MPI_SUCCESS; from++) {
        const size_t size = (size_t)gv_ranks_count(r), k = (size_t)from;
        const size_t first = count / size * k + count % size * k / size;
        const size_t next = count / size * (k + 1) + count % size * (k + 1) / size;
        code = MPI_Bcast(numbers + first, (int)(next - first), MPI_DOUBLE, from, MPI_COMM_WORLD);
    }
    return status ? status : check(code, "gathering results");
}

/* The first rank gets one after another: a message's length is an int. */
static gravel_status take_all(gv_ranks *r, const char *mine, size_t size, char *all, const uint64_t *sizes)
{
    int code = MPI_SUCCESS;
    for (int from = 0; from < gv_ranks_count(r) && code == MPI_SUCCESS;
         all += gv_ranks_rank(r) == 0 ? sizes[from] : 0, from++)
        if (gv_ranks_rank(r) == 0 && from == 0)
            memcpy(all, mine, size);
        else
            for (size_t at = 0; at < sizes[from] && code == MPI_SUCCESS; at += PIECE) {
                const int count = (int)(sizes[from] - at < PIECE ? sizes[from] - at : PIECE);
                if (gv_ranks_rank(r) == 0)
                    code = MPI_Recv(all + at, count, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                else if (gv_ranks_rank(r) == from)
                    code = MPI_Send(mine + at, count, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            }
    return check(code, "collecting");
}

gravel_status gv_ranks_collect(gv_ranks *r, const void *mine, size_t size, char **all, size_t *whole,
                               gravel_status status)
{
    const uint64_t bytes = size;
    uint64_t *sizes = calloc((size_t)gv_ranks_count(r), sizeof *sizes);
    *all = NULL;
    *whole = 0;
    if (!status && !sizes)
        status = gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    status = gravel_cluster_agree(gv_ranks_cluster(r), status);
    if (!status)
        status = check(MPI_Allgather(&bytes, 8, MPI_BYTE, sizes, 8, MPI_BYTE, MPI_COMM_WORLD), "collecting");
    for (int k = 0; k < gv_ranks_count(r) && !status; k++)
        *whole += sizes[k];
    if (!status && gv_ranks_rank(r) == 0) {
        *all = malloc(*whole + 1);
        if (!*all)
            status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu bytes of all ranks", *whole);
    }
    status = gravel_cluster_agree(gv_ranks_cluster(r), status);
    if (!status)
        status = take_all(r, mine, size, *all, sizes);
    free(sizes);
    return status;
}

gravel_status gv_ranks_compare(gv_ranks *r, const void *bytes, size_t size, gravel_status status)
{
    gv_hasher hasher;
    gv_digest mine, first;
    if (!r)
        return status;
    gv_hash_start(&hasher);
    if (!status)
        gv_hash_add(&hasher, bytes, size);
    gv_hash_end(&hasher, &mine);
    first = mine;
    status = gravel_cluster_agree(gv_ranks_cluster(r), status);
    if (!status)
        status = gv_ranks_spread(r, &first, sizeof first);
    if (status)
        return status;
    if (memcmp(&first, &mine, sizeof mine) != 0)
        status = gv_fail(GRAVEL_ERR_INTERNAL, "bodies have other bits than on rank 0: do profiles, devices or programs "
                                              "of the ranks differ? The last checkpoint is good");
    return gravel_cluster_agree(gv_ranks_cluster(r), status);
}

/* All ranks are here then: those on processors sleep until that is so, MPI's sums keep a core busy. */
static int are_together(gv_ranks *r)
{
    return r && gravel_cluster_agree(gv_ranks_cluster(r), GRAVEL_OK) == GRAVEL_OK;
}

double gv_ranks_largest(gv_ranks *r, double number)
{
    double largest = number;
    if (are_together(r))
        MPI_Allreduce(&number, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return largest;
}

double gv_ranks_processor_time(gv_ranks *r)
{
    double mine = own_processor_time(), sum = mine;
    if (are_together(r))
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

#else

gravel_status gv_ranks_spread(gv_ranks *r, void *bytes, size_t size)
{
    (void)r;
    (void)bytes;
    (void)size;
    return GRAVEL_OK;
}

gravel_status gv_ranks_spread_text(gv_ranks *r, char **text)
{
    (void)r;
    (void)text;
    return GRAVEL_OK;
}

gravel_status gv_ranks_spread_particles(gv_ranks *r, gv_particles *p)
{
    (void)r;
    (void)p;
    return GRAVEL_OK;
}

void gv_ranks_get_range(gv_ranks *r, size_t count, size_t *first, size_t *mine)
{
    (void)r;
    *first = 0;
    *mine = count;
}

gravel_status gv_ranks_gather(gv_ranks *r, size_t count, double *numbers, gravel_status status)
{
    (void)r;
    (void)count;
    (void)numbers;
    return status;
}

gravel_status gv_ranks_collect(gv_ranks *r, const void *mine, size_t size, char **all, size_t *whole,
                               gravel_status status)
{
    (void)r;
    (void)mine;
    (void)size;
    *all = NULL;
    *whole = 0;
    return status;
}

gravel_status gv_ranks_compare(gv_ranks *r, const void *bytes, size_t size, gravel_status status)
{
    (void)r;
    (void)bytes;
    (void)size;
    return status;
}

double gv_ranks_largest(gv_ranks *r, double number)
{
    (void)r;
    return number;
}

double gv_ranks_processor_time(gv_ranks *r)
{
    (void)r;
    return own_processor_time();
}

#endif
