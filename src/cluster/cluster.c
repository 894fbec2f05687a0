/* Ranks and their devices; failures that all ranks share. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* CPU_COUNT */
#endif
#include "cluster/object.h"

#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE = 1024 };

gravel_status gv_cluster_fail(gravel_status status, const char *format, ...)
{
    char text[MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return gravel_error_set(status, text);
}

gravel_status gv_cluster_fail_mpi(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    return gv_cluster_fail(GRAVEL_ERR_INTERNAL, "%s: MPI: %s", what, text);
}

/* ------------------------------------------------------------ which devices */

static int count_gpus(void)
{
    gravel_device_info *list = NULL;
    int count = 0, gpus = 0;
    if (gravel_device_list(&list, &count) == GRAVEL_OK)
        for (int k = 0; k < count; k++)
            gpus += list[k].type == GRAVEL_DEVICE_GPU;
    gravel_device_list_free(list);
    return gpus;
}

/* The n-th GPU's index. */
static int gpu_index(int n)
{
    gravel_device_info *list = NULL;
    int count = 0, found = 0;
    if (gravel_device_list(&list, &count) == GRAVEL_OK)
        for (int k = 0; k < count; k++)
            if (list[k].type == GRAVEL_DEVICE_GPU && n-- == 0)
                found = list[k].index;
    gravel_device_list_free(list);
    return found;
}

/* Entry number `turn` of the list, which begins again after its last. */
static gravel_status take_entry(const char *list, int turn, char entry[GRAVEL_NAME_SIZE])
{
    int entries = 1;
    for (const char *p = list; *p; p++)
        entries += *p == ';';
    const char *start = list;
    for (int k = 0; k < turn % entries; k++)
        start = strchr(start, ';') + 1;
    const size_t length = strcspn(start, ";");
    if (length == 0 || length >= GRAVEL_NAME_SIZE)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "devices of the ranks '%s': entry %d is %s", list,
                               turn % entries + 1, length == 0 ? "empty" : "too long");
    memcpy(entry, start, length);
    entry[length] = '\0';
    return GRAVEL_OK;
}

static gravel_status choose_devices(const char *list, gravel_cluster_rank *me)
{
    const char *named = list ? list : getenv("GRAVEL_CLUSTER_DEVICES");
    if (named && *named)
        return take_entry(named, me->node_rank, me->devices);
    const int gpus = count_gpus();
    const long cores = sysconf(_SC_NPROCESSORS_ONLN), share = cores / me->node_size;
    if (gpus > 0)
        snprintf(me->devices, sizeof me->devices, "%d", gpu_index(me->node_rank % gpus));
    else if (me->node_size > 1)
        snprintf(me->devices, sizeof me->devices, "cpu:%ld", share > 0 ? share : 1L);
    else
        snprintf(me->devices, sizeof me->devices, "cpu");
    return GRAVEL_OK;
}

/* Tries them once, so that a rank without a device is known before any work. */
static gravel_status look_at_devices(const gravel_context_options *context, gravel_cluster_rank *me, int *is_processor)
{
    gravel_several_options options = GRAVEL_SEVERAL_OPTIONS_INIT;
    gravel_several *several = NULL;
    options.devices = me->devices;
    options.context = context;
    const gravel_status status = gravel_several_create(&several, &options);
    me->device_count = gravel_several_get_device_count(several);
    for (int k = 0; k < me->device_count; k++) {
        const gravel_device_info *device = gravel_several_get_device(several, k);
        me->compute_units += device->compute_units;
        *is_processor = *is_processor || device->type == GRAVEL_DEVICE_CPU;
    }
    if (!status) {
        snprintf(me->name, sizeof me->name, "%s", gravel_several_get_device(several, 0)->name);
        snprintf(me->driver, sizeof me->driver, "%s", gravel_several_get_device(several, 0)->driver);
    }
    gravel_several_release(several);
    return status;
}

/* ----------------------------------------------------------------- agreement */

/* A look takes some 5 us of a core, with the waking, so one that waits long looks seldom: it loses a sixteenth of what
 * it has waited, two milliseconds at most.  At first it yields: a launch on a processor takes no longer than that.  One
 * request after the other: a look at one moves all of them on, and no array of states is wanted (MPICH's stand-in for
 * none is an address which gcc takes for an array that is too small). */
int gv_cluster_finish(const gravel_cluster *c, int n, MPI_Request *request)
{
    const double yields = 1e-4, least = 5e-5, most = 2e-3, part = 1.0 / 16, begin = MPI_Wtime();
    int ended = 0, code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && ended < n) {
        int done = 1;
        code = c->is_patient ? MPI_Test(&request[ended], &done, MPI_STATUS_IGNORE)
                             : MPI_Wait(&request[ended], MPI_STATUS_IGNORE);
        ended += done;
        if (done || code != MPI_SUCCESS)
            continue;
        const double waited = MPI_Wtime() - begin, pause = fmin(fmax(part * waited, least), most);
        if (waited < yields)
            sched_yield();
        else
            nanosleep(&(struct timespec){0, (long)(1e9 * pause)}, NULL);
    }
    return code;
}

int gv_cluster_gather(const gravel_cluster *c, const void *mine, size_t bytes, void *all)
{
    const int count = (int)bytes;
    MPI_Request request;
    if (!c->is_patient)
        return MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, c->comm);
    const int code = MPI_Iallgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, c->comm, &request);
    return code == MPI_SUCCESS ? gv_cluster_finish(c, 1, &request) : code;
}

int gv_cluster_gather_parts(const gravel_cluster *c, const void *mine, MPI_Datatype type, void *all, const int *count,
                            const int *first)
{
    MPI_Request request;
    if (!c->is_patient)
        return MPI_Allgatherv(mine, count[c->rank], type, all, count, first, type, c->comm);
    const int code = MPI_Iallgatherv(mine, count[c->rank], type, all, count, first, type, c->comm, &request);
    return code == MPI_SUCCESS ? gv_cluster_finish(c, 1, &request) : code;
}

/* This is where ranks wait for the slowest. */
static int find_least(const gravel_cluster *c, int mine, int *least)
{
    MPI_Request request;
    if (!c->is_patient)
        return MPI_Allreduce(&mine, least, 1, MPI_INT, MPI_MIN, c->comm);
    const int code = MPI_Iallreduce(&mine, least, 1, MPI_INT, MPI_MIN, c->comm, &request);
    return code == MPI_SUCCESS ? gv_cluster_finish(c, 1, &request) : code;
}

gravel_status gravel_cluster_agree(gravel_cluster *cluster, gravel_status status)
{
    char text[MESSAGE];
    int first, mine = status == GRAVEL_OK ? cluster->size : cluster->rank, shared[2];
    int code = find_least(cluster, mine, &first);
    if (code == MPI_SUCCESS && first == cluster->size)
        return GRAVEL_OK;
    if (first == cluster->rank) {
        const gravel_cluster_rank *me = cluster->info ? &cluster->info[cluster->rank] : NULL;
        const char *message = gravel_error_message();
        if (strncmp(message, "rank ", 5) == 0) /* the ranks had agreed on it before */
            snprintf(text, sizeof text, "%s", message);
        else
            snprintf(text, sizeof text, "rank %d%s%s: %s", cluster->rank, me && me->host[0] ? " on " : "",
                     me ? me->host : "", message);
    }
    cluster->failures++;
    shared[0] = (int)status;
    shared[1] = 0;
    if (code == MPI_SUCCESS)
        code = MPI_Bcast(shared, 2, MPI_INT, first, cluster->comm);
    if (code == MPI_SUCCESS)
        code = MPI_Bcast(text, MESSAGE, MPI_CHAR, first, cluster->comm);
    if (code != MPI_SUCCESS)
        return gv_cluster_fail_mpi(code, "telling the other ranks of a failure");
    return gravel_error_set((gravel_status)shared[0], text);
}

/* The first that ranks tell each other; the same in all versions, which else may have messages of other lengths. */
typedef struct greeting {
    char version[16], host[256];
} greeting;

/* Versions of all ranks are that of the first. */
static gravel_status compare_versions(const gravel_cluster *c, const gravel_cluster_rank *me)
{
    greeting mine, *all = calloc((size_t)c->size, sizeof *all);
    gravel_status status = GRAVEL_OK;
    if (!all)
        return gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for a cluster");
    memset(&mine, 0, sizeof mine);
    snprintf(mine.version, sizeof mine.version, "%s", me->version);
    snprintf(mine.host, sizeof mine.host, "%s", me->host);
    const int code = MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, c->comm);
    if (code != MPI_SUCCESS)
        status = gv_cluster_fail_mpi(code, "versions of ranks");
    for (int r = 1; r < c->size && !status; r++)
        if (strcmp(all[r].version, all[0].version) != 0)
            status = gv_cluster_fail(GRAVEL_ERR_STATE, "rank %d on %s runs gravel %s, rank 0 on %s gravel %s", r,
                                     all[r].host, all[r].version, all[0].host, all[0].version);
    free(all);
    return status;
}

/* ---------------------------------------------------------------------- life */

static char *copy_text(const char *text)
{
    return text ? strdup(text) : NULL;
}

/* Options outlive the caller's strings. */
static gravel_status keep_context(gravel_cluster *c, const gravel_context_options *context)
{
    c->context = (gravel_context_options)GRAVEL_CONTEXT_OPTIONS_INIT;
    if (!context)
        return GRAVEL_OK;
    memcpy(&c->context, context, context->size < sizeof c->context ? context->size : sizeof c->context);
    c->context.size = sizeof c->context;
    c->kernel_dir = copy_text(c->context.kernel_dir);
    c->cache_dir = copy_text(c->context.cache_dir);
    c->profile_dir = copy_text(c->context.profile_dir);
    if ((c->context.kernel_dir && !c->kernel_dir) || (c->context.cache_dir && !c->cache_dir) ||
        (c->context.profile_dir && !c->profile_dir))
        return gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for a cluster");
    c->context.kernel_dir = c->kernel_dir;
    c->context.cache_dir = c->cache_dir;
    c->context.profile_dir = c->profile_dir;
    c->context.device = NULL;
    return GRAVEL_OK;
}

/* 0: not known. */
static int count_cores(void)
{
    cpu_set_t may; /* fails on machines of more than 1024 cores */
    return sched_getaffinity(0, sizeof may, &may) == 0 ? CPU_COUNT(&may) : 0;
}

static int find_place(const gravel_cluster *c, gravel_cluster_rank *me)
{
    MPI_Comm node;
    int length = 0, code = MPI_Comm_split_type(c->comm, MPI_COMM_TYPE_SHARED, c->rank, MPI_INFO_NULL, &node);
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    if (code != MPI_SUCCESS)
        return code;
    MPI_Comm_rank(node, &me->node_rank);
    MPI_Comm_size(node, &me->node_size);
    MPI_Comm_free(&node);
    code = MPI_Get_processor_name(host, &length);
    snprintf(me->host, sizeof me->host, "%.*s", GRAVEL_NAME_SIZE - 1, host);
    snprintf(me->version, sizeof me->version, "%s", gravel_version());
    me->cores = count_cores();
    return code;
}

gravel_status gravel_cluster_create(gravel_cluster **cluster, MPI_Comm comm, const gravel_cluster_options *options)
{
    gravel_cluster_options taken = GRAVEL_CLUSTER_OPTIONS_INIT;
    gravel_cluster_rank me = {.version = ""};
    int initialised = 0, is_processor = 0, code;
    if (!cluster)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_create: no place for the result");
    *cluster = NULL;
    MPI_Initialized(&initialised);
    if (!initialised)
        return gv_cluster_fail(GRAVEL_ERR_STATE, "gravel_cluster_create: MPI_Init comes first");
    if (options && options->size > 0)
        memcpy(&taken, options, options->size < sizeof taken ? options->size : sizeof taken);
    gravel_cluster *c = calloc(1, sizeof *c);
    if (!c)
        return gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for a cluster");
    c->comm = c->near.comm = c->near.across = MPI_COMM_NULL;
    code = MPI_Comm_dup(comm, &c->comm);
    if (code != MPI_SUCCESS) {
        free(c);
        return gv_cluster_fail_mpi(code, "gravel_cluster_create");
    }
    MPI_Comm_set_errhandler(c->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(c->comm, &c->rank);
    MPI_Comm_size(c->comm, &c->size);
    code = find_place(c, &me);
    if (code == MPI_SUCCESS)
        code = gv_near_find(c);
    gravel_status status = code == MPI_SUCCESS ? keep_context(c, taken.context) : gv_cluster_fail_mpi(code, "ranks");
    if (!status)
        status = choose_devices(taken.devices, &me);
    if (!status)
        status = look_at_devices(&c->context, &me, &is_processor);
    gravel_cluster_rank *info = calloc((size_t)c->size, sizeof *info);
    if (!info && !status)
        status = gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for a cluster");
    if (info)
        info[c->rank] = me;
    c->info = info;
    status = gravel_cluster_agree(c, status);
    if (!status)
        status = gravel_cluster_agree(c, compare_versions(c, &me));
    if (!status) {
        code = MPI_Allgather(&me, (int)sizeof me, MPI_BYTE, info, (int)sizeof me, MPI_BYTE, c->comm);
        if (code == MPI_SUCCESS)
            code = MPI_Allreduce(&is_processor, &c->is_patient, 1, MPI_INT, MPI_MAX, c->comm);
        status = gravel_cluster_agree(c, code == MPI_SUCCESS ? GRAVEL_OK : gv_cluster_fail_mpi(code, "ranks"));
    }
    if (status) {
        gravel_cluster_release(c);
        return status;
    }
    *cluster = c;
    return GRAVEL_OK;
}

void gravel_cluster_release(gravel_cluster *c)
{
    if (!c)
        return;
    gv_near_forget(c);
    MPI_Comm_free(&c->comm);
    free(c->info);
    free(c->kernel_dir);
    free(c->cache_dir);
    free(c->profile_dir);
    free(c);
}

int gravel_cluster_get_rank(const gravel_cluster *c)
{
    return c ? c->rank : 0;
}

int gravel_cluster_get_size(const gravel_cluster *c)
{
    return c ? c->size : 0;
}

uint64_t gravel_cluster_get_failures(const gravel_cluster *c)
{
    return c ? c->failures : 0;
}

const gravel_cluster_rank *gravel_cluster_get_info(const gravel_cluster *c, int rank)
{
    return c && rank >= 0 && rank < c->size ? &c->info[rank] : NULL;
}

gravel_status gv_cluster_least(gravel_cluster *c, gravel_status status, double *least, double *sum)
{
    const size_t size = (size_t)c->size;
    const double mine[2] = {*least, *sum};
    double *all = malloc(2 * size * sizeof *all);
    if (!status && !all)
        status = gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory");
    status = gravel_cluster_agree(c, status);
    if (!status) {
        const int code = gv_cluster_gather(c, mine, sizeof mine, all);
        status = code == MPI_SUCCESS ? GRAVEL_OK : gv_cluster_fail_mpi(code, "agreeing on the next block");
    }
    for (size_t k = 0; k < size && !status; k++)
        *least = all[2 * k] < *least ? all[2 * k] : *least;
    *sum = 0;
    for (size_t k = 0; k < size && !status; k++) /* in the order of the ranks: the same bits on all */
        *sum += all[2 * k] == *least ? all[2 * k + 1] : 0;
    free(all);
    return status;
}
