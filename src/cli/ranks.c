#include "cli/ranks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/signals.h"
#include "host/base/digest.h"
#include "model/model.h"

/* Open MPI; MPICH and Intel; MVAPICH. */
int gv_ranks_started(void)
{
    static const char *const name[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"};
    const char *text = NULL;
    for (size_t k = 0; k < sizeof name / sizeof name[0] && !text; k++)
        text = getenv(name[k]);
    if (!text && getenv("PMIX_RANK")) /* srun */
        text = getenv("SLURM_NTASKS");
    const int started = text ? atoi(text) : 1;
    return started > 1 ? started : 1;
}

static int started_rank(void)
{
    static const char *const name[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK"};
    for (size_t k = 0; k < sizeof name / sizeof name[0]; k++)
        if (getenv(name[k]))
            return atoi(getenv(name[k]));
    return 0;
}

/* What this rank was started with, for comparison. */
static int typed_count;
static char **typed;

void gv_ranks_begin(int argc, char **argv)
{
    typed_count = argc;
    typed = argv;
    if (gv_ranks_started() == 1 || started_rank() == 0)
        return;
    gv_say_nothing(1);
    if (!freopen("/dev/null", "w", stdout))
        gv_say_nothing(1);
}

/* mpirun ends all others as soon as one has failed.  The first one speaks before: the others wait for their end, for
 * seconds at most, as it may be late on a busy machine. */
int gv_ranks_leave(int code)
{
    const struct timespec pause = {0, 50000000};
    for (int k = 0; k < 100 && code != GV_EXIT_OK && gv_ranks_started() > 1 && started_rank() > 0; k++)
        if (gv_signals_pending() || nanosleep(&pause, NULL) != 0)
            break;
    return code;
}

static double own_processor_time(void)
{
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) != 0)
        return 0;
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

int gv_ranks_refuse(const char *command)
{
    if (started_rank() == 0)
        gv_say(command, "%d of this were started by mpirun, and it does not run over ranks", gv_ranks_started());
    return GV_EXIT_USAGE;
}

#ifdef GV_HAVE_MPI

#include "cluster/object.h"

struct gv_ranks {
    const char *command;
    gravel_cluster *cluster;
    int rank, size;
};

/* ---------------------------------------------------------------------- life */

/* Options, and where profiles and kernels come from first: a rank that differs would compute something else. */
static char *describe_start(void)
{
    static const char *const name[] = {"GRAVEL_PROFILE_DIR", "GRAVEL_KERNEL_DIR"};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (int k = 1; k < typed_count; k++)
        fprintf(out, "%s%s", k > 1 ? " " : "", typed[k]);
    for (size_t k = 0; k < sizeof name / sizeof name[0]; k++)
        if (getenv(name[k]))
            fprintf(out, " (%s=%s)", name[k], getenv(name[k]));
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static gravel_status compare_starts(gv_ranks *r)
{
    char *mine = describe_start(), *first = r->rank == 0 && mine ? strdup(mine) : NULL;
    gravel_status status = gravel_cluster_agree(
        r->cluster, mine && (first || r->rank > 0) ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "out of memory"));
    if (!status)
        status = gv_ranks_spread_text(r, &first);
    if (!status && strcmp(mine, first) != 0)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "started with '%.300s', rank 0 with '%.300s'", mine, first);
    free(mine);
    free(first);
    return gravel_cluster_agree(r->cluster, status);
}

int gv_ranks_open(gv_ranks **ranks, const char *command, const char *devices, int verbose)
{
    gravel_cluster_options options = GRAVEL_CLUSTER_OPTIONS_INIT;
    gravel_context_options context = GRAVEL_CONTEXT_OPTIONS_INIT;
    int got;
    *ranks = NULL;
    if (gv_ranks_started() == 1)
        return GV_EXIT_OK;
    gv_ranks *r = calloc(1, sizeof *r);
    if (!r || MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &got) != MPI_SUCCESS) {
        gv_say(command, r ? "MPI does not start" : "out of memory");
        free(r);
        return GV_EXIT_FAILURE;
    }
    r->command = command;
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->size);
    gv_cli_log(&context, verbose);
    options.devices = getenv("GRAVEL_CLUSTER_DEVICES") ? NULL : devices; /* -d may come from GRAVEL_DEVICE */
    options.context = &context;
    gravel_status status = gravel_cluster_create(&r->cluster, MPI_COMM_WORLD, &options);
    if (!status)
        status = compare_starts(r);
    if (status)
        return gv_ranks_close(r, gv_cli_fail(command, status));
    *ranks = r;
    return GV_EXIT_OK;
}

int gv_ranks_close(gv_ranks *r, int code)
{
    if (!r)
        return code;
    gravel_cluster_release(r->cluster);
    free(r);
    MPI_Finalize();
    return code;
}

int gv_ranks_count(const gv_ranks *r)
{
    return r ? r->size : 1;
}

int gv_ranks_rank(const gv_ranks *r)
{
    return r ? r->rank : 0;
}

int gv_ranks_is_first(const gv_ranks *r)
{
    return gv_ranks_rank(r) == 0;
}

gravel_cluster *gv_ranks_cluster(gv_ranks *r)
{
    return r ? r->cluster : NULL;
}

gravel_status gv_ranks_context(gv_ranks *r, gravel_context **context, int no_fp64, int verbose)
{
    return gv_cli_context(context, gravel_cluster_get_info(r->cluster, r->rank)->devices, no_fp64, verbose);
}

gravel_status gv_ranks_agree(gv_ranks *r, gravel_status status)
{
    return r ? gravel_cluster_agree(r->cluster, status) : status;
}

void gv_ranks_end(gv_ranks *r, gravel_status status)
{
    gv_say_nothing(0);
    gv_say(r->command, "rank %d on %s: %s", r->rank, gravel_cluster_get_info(r->cluster, r->rank)->host,
           gravel_error_message());
    MPI_Abort(MPI_COMM_WORLD, gv_cli_exit_code(status));
}

/* ------------------------------------------------------------------ messages */

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
            code = gv_cluster_finish(r->cluster, 1, &request);
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
    if (r->rank > 0)
        *array = malloc(size + 1);
    status = gravel_cluster_agree(r->cluster, *array ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no memory for bodies"));
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
    if (r->rank > 0 && !status) {
        gv_particles_free(p);
        p->count = copy.count;
        p->time = copy.time;
        p->units = copy.units;
        p->id_offset = copy.id_offset;
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
        gravel_cluster_get_range(r->cluster, count, first, mine);
}

gravel_status gv_ranks_gather(gv_ranks *r, size_t count, double *numbers, gravel_status status)
{
    if (!r)
        return status;
    status = gravel_cluster_agree(r->cluster, status);
    int code = MPI_SUCCESS;
    for (int from = 0; from < r->size && !status && code == MPI_SUCCESS; from++) {
        const size_t size = (size_t)r->size, k = (size_t)from;
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
    for (int from = 0; from < r->size && code == MPI_SUCCESS; all += r->rank == 0 ? sizes[from] : 0, from++)
        if (r->rank == 0 && from == 0)
            memcpy(all, mine, size);
        else
            for (size_t at = 0; at < sizes[from] && code == MPI_SUCCESS; at += PIECE) {
                const int count = (int)(sizes[from] - at < PIECE ? sizes[from] - at : PIECE);
                if (r->rank == 0)
                    code = MPI_Recv(all + at, count, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                else if (r->rank == from)
                    code = MPI_Send(mine + at, count, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            }
    return check(code, "collecting");
}

gravel_status gv_ranks_collect(gv_ranks *r, const void *mine, size_t size, char **all, size_t *whole,
                               gravel_status status)
{
    const uint64_t bytes = size;
    uint64_t *sizes = calloc((size_t)r->size, sizeof *sizes);
    *all = NULL;
    *whole = 0;
    if (!status && !sizes)
        status = gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    status = gravel_cluster_agree(r->cluster, status);
    if (!status)
        status = check(MPI_Allgather(&bytes, 8, MPI_BYTE, sizes, 8, MPI_BYTE, MPI_COMM_WORLD), "collecting");
    for (int k = 0; k < r->size && !status; k++)
        *whole += sizes[k];
    if (!status && r->rank == 0) {
        *all = malloc(*whole + 1);
        if (!*all)
            status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu bytes of all ranks", *whole);
    }
    status = gravel_cluster_agree(r->cluster, status);
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
    status = gravel_cluster_agree(r->cluster, status);
    if (!status)
        status = gv_ranks_spread(r, &first, sizeof first);
    if (status)
        return status;
    if (memcmp(&first, &mine, sizeof mine) != 0)
        status = gv_fail(GRAVEL_ERR_INTERNAL, "bodies have other bits than on rank 0: do profiles, devices or programs "
                                              "of the ranks differ? The last checkpoint is good");
    return gravel_cluster_agree(r->cluster, status);
}

double gv_ranks_largest(gv_ranks *r, double number)
{
    double largest = number;
    if (r)
        MPI_Allreduce(&number, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return largest;
}

double gv_ranks_processor_time(gv_ranks *r)
{
    double mine = own_processor_time(), sum = mine;
    if (r)
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* The first rank's choice: others may have another memory. */
gravel_status gv_ranks_choose(gv_ranks *r, gv_scheme asked, const gv_scheme_question *question, int *is_dealt)
{
    gravel_status status = GRAVEL_OK;
    *is_dealt = 0;
    if (!r)
        return GRAVEL_OK;
    *is_dealt = asked == GV_SCHEME_RING;
    if (*is_dealt && question->n < r->size)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "%.0f bodies cannot be dealt out to %d ranks: --scheme copies",
                         question->n, r->size);
    if (asked == GV_SCHEME_AUTO && question->n >= r->size) {
        gv_machine machine;
        gv_machine_example(&machine);
        machine.memory_bytes = (double)gravel_context_get_device(question->context, 0)->global_memory;
        const gv_question q = {.n = question->n,
                               .active = question->active,
                               .ranks = r->size,
                               .order = question->order,
                               .precision = question->is_dp ? GV_MODEL_DP : GV_MODEL_DS,
                               .theta = 0.5};
        *is_dealt = gv_model_deals(&machine, &q);
    }
    status = gv_ranks_agree(r, status);
    return status ? status : gv_ranks_spread(r, is_dealt, sizeof *is_dealt);
}

#else

int gv_ranks_open(gv_ranks **ranks, const char *command, const char *devices, int verbose)
{
    (void)devices;
    (void)verbose;
    *ranks = NULL;
    if (gv_ranks_started() == 1)
        return GV_EXIT_OK;
    if (started_rank() == 0)
        gv_say(command,
               "mpirun started %d of this, and this gravel was built without MPI; install libopenmpi-dev and "
               "openmpi-bin, and build with 'scons mpi=1'",
               gv_ranks_started());
    return GV_EXIT_USAGE;
}

int gv_ranks_close(gv_ranks *r, int code)
{
    (void)r;
    return code;
}

int gv_ranks_count(const gv_ranks *r)
{
    (void)r;
    return 1;
}

int gv_ranks_rank(const gv_ranks *r)
{
    (void)r;
    return 0;
}

int gv_ranks_is_first(const gv_ranks *r)
{
    (void)r;
    return 1;
}

gravel_status gv_ranks_context(gv_ranks *r, gravel_context **context, int no_fp64, int verbose)
{
    (void)r;
    return gv_cli_context(context, NULL, no_fp64, verbose);
}

gravel_status gv_ranks_agree(gv_ranks *r, gravel_status status)
{
    (void)r;
    return status;
}

void gv_ranks_end(gv_ranks *r, gravel_status status)
{
    (void)r;
    (void)status;
}

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

gravel_status gv_ranks_choose(gv_ranks *r, gv_scheme asked, const gv_scheme_question *question, int *is_dealt)
{
    (void)r;
    (void)asked;
    (void)question;
    *is_dealt = 0;
    return GRAVEL_OK;
}

#endif
