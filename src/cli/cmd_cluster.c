/* gravel cluster: what the ranks of an MPI job have, and how fast they talk to each other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/ranks.h"

#define CLUSTER "gravel cluster"

typedef struct cluster_options {
    const char *devices, *out;
    int json, quick;
} cluster_options;

#ifdef GV_HAVE_MPI

#include "gravel/cluster.h"
#include "host/base/clock.h"

/* Messages come from rank 0 only: all ranks fail alike. */
static int fail(gravel_status status)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 0 ? gv_cli_fail(CLUSTER, status) : gv_cli_exit_code(status);
}

static gravel_status open_cluster(const cluster_options *o, gravel_cluster **cluster)
{
    gravel_cluster_options options = GRAVEL_CLUSTER_OPTIONS_INIT;
    options.devices = o->devices;
    return gravel_cluster_create(cluster, MPI_COMM_WORLD, &options);
}

/* Runs `work` between the start and the end of MPI. */
static int with_cluster(const cluster_options *o, gravel_status (*work)(gravel_cluster *, const cluster_options *))
{
    gravel_cluster *cluster = NULL;
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS) {
        gv_say(CLUSTER, "MPI does not start; the program is run by mpirun: 'mpirun -n 4 gravel cluster devices'");
        return GV_EXIT_FAILURE;
    }
    int code = gv_ranks_check_launcher(CLUSTER);
    gravel_status status = code == GV_EXIT_OK ? open_cluster(o, &cluster) : GRAVEL_OK;
    if (!status && cluster)
        status = gravel_cluster_agree(cluster, work(cluster, o));
    if (status)
        code = fail(status);
    gravel_cluster_release(cluster);
    MPI_Finalize();
    return code;
}

/* ------------------------------------------------------------------ devices */

static gravel_status list_devices(gravel_cluster *c, const cluster_options *o)
{
    gravel_status status = GRAVEL_OK;
    if (gravel_cluster_get_rank(c) != 0)
        return status;
    cJSON *json = o->json ? cJSON_CreateArray() : NULL;
    gv_table table;
    gv_table_start(&table, "rank|host|cores|devices|name|compute units|driver|gravel");
    for (int r = 0; r < gravel_cluster_get_size(c); r++) {
        const gravel_cluster_rank *k = gravel_cluster_get_info(c, r);
        gv_table_row(&table, "%d|%.60s|%d|%.40s|%.60s|%d|%.40s|%s", r, k->host, k->cores, k->devices, k->name,
                     k->compute_units, k->driver, k->version);
        if (!json)
            continue;
        cJSON *item = cJSON_CreateObject();
        cJSON_AddNumberToObject(item, "rank", r);
        cJSON_AddStringToObject(item, "host", k->host);
        cJSON_AddNumberToObject(item, "cores", k->cores);
        cJSON_AddStringToObject(item, "devices", k->devices);
        cJSON_AddStringToObject(item, "name", k->name);
        cJSON_AddStringToObject(item, "driver", k->driver);
        cJSON_AddStringToObject(item, "gravel", k->version);
        cJSON_AddNumberToObject(item, "device_count", k->device_count);
        cJSON_AddNumberToObject(item, "compute_units", k->compute_units);
        cJSON_AddItemToArray(json, item);
    }
    if (json)
        status = gv_json_write(json, NULL);
    else
        gv_table_print(&table, stdout);
    gv_table_free(&table);
    return status;
}

static int run_devices(const void *values, const gv_operands *operands)
{
    (void)operands;
    return with_cluster(values, list_devices);
}

/* ------------------------------------------------------------------ measure */

enum { SIZES = 12, LEAST_BYTES = 8 }; /* 8 bytes, times 4 each: to 32 MiB */

typedef enum pattern { PING_PONG, RING, ALL_TO_ALL, PATTERNS } pattern;

typedef struct network {
    size_t bytes[SIZES];
    double seconds[PATTERNS][SIZES]; /* of one exchange, the median */
} network;

/* One exchange of `bytes`; what it is divided by makes ping-pong one way. */
static int exchange(pattern p, char *out, char *in, size_t bytes, int rank, int size)
{
    const int n = (int)bytes, up = (rank + 1) % size, down = (rank + size - 1) % size;
    if (p == PING_PONG && rank == 0) {
        MPI_Send(out, n, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(in, n, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (p == PING_PONG && rank == 1) {
        MPI_Recv(in, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    } else if (p == RING) {
        MPI_Sendrecv(out, n, MPI_BYTE, up, 0, in, n, MPI_BYTE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (p == ALL_TO_ALL) {
        MPI_Alltoall(out, n / size, MPI_BYTE, in, n / size, MPI_BYTE, MPI_COMM_WORLD);
    }
    return p == PING_PONG ? 2 : 1;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double time_exchange(pattern p, char *out, char *in, size_t bytes, int rank, int size, int quick)
{
    double sample[64];
    const int samples = quick ? 5 : bytes < 65536 ? 64 : 15;
    for (int k = -2; k < samples; k++) { /* two to warm up */
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = gv_now();
        const int ways = exchange(p, out, in, bytes, rank, size);
        const double mine = (gv_now() - start) / ways;
        double longest;
        MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (k >= 0)
            sample[k] = longest;
    }
    qsort(sample, (size_t)samples, sizeof *sample, compare_doubles);
    return sample[samples / 2];
}

static cJSON *pattern_json(const network *w, pattern p)
{
    cJSON *list = cJSON_CreateArray();
    for (int s = 0; s < SIZES; s++) {
        cJSON *item = cJSON_CreateObject();
        cJSON_AddNumberToObject(item, "bytes", (double)w->bytes[s]);
        cJSON_AddNumberToObject(item, "seconds", w->seconds[p][s]);
        cJSON_AddItemToArray(list, item);
    }
    return list;
}

/* latency: of the smallest message; rate: of the largest */
static gravel_status write_network(const network *w, int ranks, const cluster_options *o)
{
    const double latency = w->seconds[PING_PONG][0];
    const double rate = (double)w->bytes[SIZES - 1] / (w->seconds[PING_PONG][SIZES - 1] - latency);
    gv_table table;
    if (!o->json) {
        gv_table_start(&table, "bytes|one way us|ring us|all to all us|one way GB/s");
        for (int s = 0; s < SIZES; s++)
            gv_table_row(&table, "%zu|%.2f|%.2f|%.2f|%.2f", w->bytes[s], 1e6 * w->seconds[PING_PONG][s],
                         1e6 * w->seconds[RING][s], 1e6 * w->seconds[ALL_TO_ALL][s],
                         1e-9 * (double)w->bytes[s] / w->seconds[PING_PONG][s]);
        gv_table_print(&table, stdout);
        gv_table_free(&table);
    }
    if (!o->json && !o->out)
        return GRAVEL_OK;
    cJSON *root = cJSON_CreateObject();
    gv_json_stamp(root);
    cJSON_AddNumberToObject(root, "ranks", ranks);
    cJSON_AddNumberToObject(root, "latency_s", latency);
    cJSON_AddNumberToObject(root, "bytes_per_s", rate);
    cJSON_AddItemToObject(root, "one_way", pattern_json(w, PING_PONG));
    cJSON_AddItemToObject(root, "ring", pattern_json(w, RING));
    cJSON_AddItemToObject(root, "all_to_all", pattern_json(w, ALL_TO_ALL));
    return gv_json_write(root, o->out);
}

static gravel_status measure(gravel_cluster *c, const cluster_options *o)
{
    const int rank = gravel_cluster_get_rank(c), size = gravel_cluster_get_size(c);
    const size_t most = (size_t)LEAST_BYTES << 2 * (SIZES - 1);
    network w;
    if (size < 2)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "there is one rank only: 'mpirun -n 2 gravel cluster measure'");
    char *out = calloc(most, 1), *in = calloc(most, 1);
    gravel_status status = gravel_cluster_agree(
        c, out && in ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for messages of %zu bytes", most));
    for (int s = 0; s < SIZES && !status; s++) {
        w.bytes[s] = (size_t)LEAST_BYTES << 2 * s;
        for (int p = 0; p < PATTERNS; p++)
            w.seconds[p][s] = time_exchange((pattern)p, out, in, w.bytes[s], rank, size, o->quick);
    }
    free(out);
    free(in);
    return status || rank != 0 ? status : write_network(&w, size, o);
}

static int run_measure(const void *values, const gv_operands *operands)
{
    (void)operands;
    return with_cluster(values, measure);
}

#else

static int run_devices(const void *values, const gv_operands *operands)
{
    (void)values;
    (void)operands;
    gv_say(CLUSTER, "this gravel was built without MPI; install libopenmpi-dev and openmpi-bin, and build with 'scons "
                    "mpi=1'");
    return GV_EXIT_FAILURE;
}

static int run_measure(const void *values, const gv_operands *operands)
{
    return run_devices(values, operands);
}

#endif

/* ----------------------------------------------------------------- commands */

#define OPT_DEVICES                                                                                                    \
    {                                                                                                                  \
        .name = "devices", .letter = 'd', .kind = GV_OPT_TEXT, .offset = offsetof(cluster_options, devices),           \
        .value = "LIST", .environment = "GRAVEL_CLUSTER_DEVICES",                                                      \
        .help = "of the ranks of one machine, dealt out in turn: \"0;1;2;3\",\n\"0,1;2,3\" (two a rank), \"cpu:4\" "   \
                "(default: a GPU a rank, else\nthe cores shared evenly)"                                               \
    }

static const gv_opt devices_table[] = {OPT_DEVICES, GV_OPT_JSON(cluster_options), {.name = NULL}};

static const gv_opt measure_table[] = {
    OPT_DEVICES,
    {.name = "quick", .kind = GV_OPT_FLAG, .offset = offsetof(cluster_options, quick), .help = "fewer repetitions"},
    {.name = "output",
     .letter = 'o',
     .kind = GV_OPT_OUT,
     .offset = offsetof(cluster_options, out),
     .value = "FILE",
     .help = "write the JSON to this file, beside the table"},
    GV_OPT_JSON(cluster_options),
    {.name = NULL}};

const gv_command gv_cmd_cluster[] = {
    {.name = "devices",
     .summary = "what each rank has",
     .synopsis = "[options]",
     .about = "Run by mpirun. A rank without a device, or of another version of gravel, is named. Cores: on which the\n"
              "rank may run; on processors it needs as many as its device has compute units (mpirun --bind-to none).",
     .opts = devices_table,
     .examples = "mpirun -n 4 gravel cluster devices\n"
                 "mpirun -n 2 gravel cluster devices --devices 'cpu:1;cpu:1' --json\n",
     .size = sizeof(cluster_options),
     .run = run_devices,
     .over_ranks = 1},
    {.name = "measure",
     .summary = "how fast ranks exchange messages",
     .synopsis = "[options]",
     .about =
         "Run by mpirun. One way: half of a round trip between ranks 0 and 1; ring: every rank sends to the next;\n"
         "all to all: every rank sends its share to every other. Times are medians of the slowest rank's.",
     .opts = measure_table,
     .examples = "mpirun -n 4 gravel cluster measure\n"
                 "mpirun -n 4 gravel cluster measure -o network.json\n",
     .size = sizeof(cluster_options),
     .run = run_measure,
     .over_ranks = 1},
    {.name = NULL},
};
