#include "cli/ranks.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/signals.h"
#include "host/device/context.h"
#include "model/model.h"

/* How many ranks there are, as the launcher says; NULL: no launcher.  Open MPI; MPICH and Intel; MVAPICH. */
static const char *size_of_job(void)
{
    static const char *const name[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"};
    const char *text = NULL;
    for (size_t k = 0; k < sizeof name / sizeof name[0] && !text; k++)
        text = getenv(name[k]);
    if (!text && getenv("PMIX_RANK")) /* srun */
        text = getenv("SLURM_NTASKS");
    return text;
}

int gv_ranks_started(void)
{
    const char *text = size_of_job();
    const int started = text ? atoi(text) : 1;
    return started > 1 ? started : 1;
}

int gv_ranks_launched(void)
{
    return size_of_job() != NULL;
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
    gv_say_nothing();
    FILE *const out = freopen("/dev/null", "w", stdout); /* where that fails it is closed, which is as good */
    (void)out;
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

int gv_ranks_check_launcher(const char *command)
{
    char name[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int size = 1, length = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size >= gv_ranks_started())
        return GV_EXIT_OK;
    MPI_Get_library_version(name, &length);
    name[strcspn(name, ",\r\n")] = '\0';
    for (char *tab = strchr(name, '\t'); tab; tab = strchr(tab, '\t'))
        *tab = ' ';
    gv_say(command, "%d of this were started, and its MPI (%s) sees %d: they need the mpirun of that MPI",
           gv_ranks_started(), name, size);
    return GV_EXIT_USAGE;
}

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

/* Open MPI binds two ranks to a core each, more to a socket each, whatever their devices are. */
static void warn_of_binding(const gv_ranks *r)
{
    for (int k = 0; k < r->size && r->rank == 0; k++) {
        const gravel_cluster_rank *one = gravel_cluster_get_info(r->cluster, k);
        if (strncmp(one->devices, "cpu", 3) != 0 || one->cores == 0 || one->cores >= one->compute_units)
            continue;
        gv_say(r->command,
               "rank %d on %s computes on %d cores and is bound to %d: 'mpirun --bind-to none', or --cpus-per-task of "
               "a batch system, gives it as many",
               k, one->host, one->compute_units, one->cores);
        return;
    }
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
    if (gv_ranks_check_launcher(command) != GV_EXIT_OK)
        return gv_ranks_close(r, GV_EXIT_USAGE);
    gv_cli_log(&context, verbose);
    options.devices = getenv("GRAVEL_CLUSTER_DEVICES") ? NULL : devices; /* -d may come from GRAVEL_DEVICE */
    options.context = &context;
    gravel_status status = gravel_cluster_create(&r->cluster, MPI_COMM_WORLD, &options);
    if (!status)
        status = compare_starts(r);
    if (status)
        return gv_ranks_close(r, gv_cli_fail(command, status));
    warn_of_binding(r);
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
    const gravel_cluster_rank *me = gravel_cluster_get_info(r->cluster, r->rank);
    const gravel_status status = gv_cli_context(context, me->devices, no_fp64, verbose);
    if (!status)
        gv_context_share_cores(*context, me->node_size);
    return status;
}

gravel_status gv_ranks_agree(gv_ranks *r, gravel_status status)
{
    return r ? gravel_cluster_agree(r->cluster, status) : status;
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

gravel_status gv_ranks_choose(gv_ranks *r, gv_scheme asked, const gv_scheme_question *question, int *is_dealt)
{
    (void)r;
    (void)asked;
    (void)question;
    *is_dealt = 0;
    return GRAVEL_OK;
}

#endif
