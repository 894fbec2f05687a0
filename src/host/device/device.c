#include "host/device/device.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Properties that a driver does not return stay at their defaults: an old or broken driver loses only those. */
static void get_text(cl_device_id id, cl_device_info what, char text[GRAVEL_NAME_SIZE])
{
    size_t size = 0;
    char *all = NULL;

    text[0] = '\0';
    if (clGetDeviceInfo(id, what, 0, NULL, &size) == CL_SUCCESS && size > 0)
        all = calloc(size + 1, 1);
    if (all && clGetDeviceInfo(id, what, size, all, NULL) == CL_SUCCESS) {
        const char *start = all;
        while (isspace((unsigned char)*start))
            start++;
        snprintf(text, GRAVEL_NAME_SIZE, "%s", start);
        for (size_t n = strlen(text); n > 0 && isspace((unsigned char)text[n - 1]); n--)
            text[n - 1] = '\0';
    }
    free(all);
}

static uint64_t get_number(cl_device_id id, cl_device_info what)
{
    unsigned char raw[8] = {0};
    size_t size = 0;
    cl_uint narrow;
    cl_ulong wide;

    if (clGetDeviceInfo(id, what, sizeof raw, raw, &size) != CL_SUCCESS)
        return 0;
    if (size == sizeof narrow) {
        memcpy(&narrow, raw, sizeof narrow);
        return narrow;
    }
    if (size == sizeof wide) {
        memcpy(&wide, raw, sizeof wide);
        return wide;
    }
    return 0;
}

static int to_int(uint64_t n)
{
    return n < INT32_MAX ? (int)n : INT32_MAX;
}

/* `name` as a whole word of the blank-separated list */
static int has_extension(cl_device_id id, const char *name)
{
    size_t size = 0, length = strlen(name);
    int found = 0;

    if (clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, 0, NULL, &size) != CL_SUCCESS || size == 0)
        return 0;
    char *all = calloc(size + 1, 1);
    if (all && clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, size, all, NULL) == CL_SUCCESS)
        for (const char *p = all; !found && (p = strstr(p, name)) != NULL; p += length)
            found = (p == all || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0');
    free(all);
    return found;
}

static gravel_device_type type_of(cl_device_id id)
{
    uint64_t type = get_number(id, CL_DEVICE_TYPE);

    /* emulators set several bits; they have no SIMD lanes of their own, so they count as GPUs */
    return type & CL_DEVICE_TYPE_GPU   ? GRAVEL_DEVICE_GPU
           : type & CL_DEVICE_TYPE_CPU ? GRAVEL_DEVICE_CPU
                                       : GRAVEL_DEVICE_ACCELERATOR;
}

static int usual_width(uint64_t lanes, int most)
{
    int width = 1;

    while (2 * width <= most && (uint64_t)(2 * width) <= lanes)
        width *= 2;
    return width;
}

void gv_device_hide_fp64(gravel_device_info *info)
{
    info->has_fp64 = 0;
    info->simd_width_double = 0;
}

size_t gv_device_group(const gravel_device_info *info, size_t wanted)
{
    while (wanted > 1 && wanted > (size_t)info->max_group)
        wanted /= 2;
    return wanted;
}

gravel_status gv_device_describe(cl_device_id id, const char *platform, gravel_device_info *info)
{
    memset(info, 0, sizeof *info);
    info->type = type_of(id);
    get_text(id, CL_DEVICE_NAME, info->name);
    get_text(id, CL_DEVICE_VENDOR, info->vendor);
    get_text(id, CL_DRIVER_VERSION, info->driver);
    get_text(id, CL_DEVICE_VERSION, info->opencl);
    snprintf(info->platform, sizeof info->platform, "%s", platform);
    info->compute_units = to_int(get_number(id, CL_DEVICE_MAX_COMPUTE_UNITS));
    info->max_group = to_int(get_number(id, CL_DEVICE_MAX_WORK_GROUP_SIZE));
    info->clock_mhz = to_int(get_number(id, CL_DEVICE_MAX_CLOCK_FREQUENCY));
    info->host_memory = get_number(id, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
    info->global_memory = get_number(id, CL_DEVICE_GLOBAL_MEM_SIZE);
    info->max_allocation = get_number(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    info->local_memory = get_number(id, CL_DEVICE_LOCAL_MEM_SIZE);
    info->has_fp64 = has_extension(id, "cl_khr_fp64") && get_number(id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    info->has_subgroups = has_extension(id, "cl_khr_subgroups") || has_extension(id, "cl_intel_subgroups");
    /* GPUs run one work-item per lane, whatever vector width they prefer for loads */
    int cpu = info->type == GRAVEL_DEVICE_CPU;
    info->simd_width_float = cpu ? usual_width(get_number(id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT), 16) : 1;
    info->simd_width_double = cpu ? usual_width(get_number(id, CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE), 8) : 1;
    if (!info->has_fp64)
        gv_device_hide_fp64(info);
    if (info->name[0] == '\0' || info->compute_units < 1 || info->max_group < 1)
        return gv_fail(GRAVEL_ERR_NO_DEVICE, "a device of platform %s does not report its name or size", platform);
    return GRAVEL_OK;
}

static int usable(cl_device_id id)
{
    return get_number(id, CL_DEVICE_AVAILABLE) && get_number(id, CL_DEVICE_COMPILER_AVAILABLE);
}

static gravel_status add_platform(cl_platform_id platform, gv_found **list, int *count)
{
    char name[GRAVEL_NAME_SIZE] = "";
    cl_uint n = 0;
    cl_int code;

    /* a platform that does not return its name or devices is broken: only it is left out */
    if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, NULL) != CL_SUCCESS)
        snprintf(name, sizeof name, "unknown platform");
    code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &n);
    if (code != CL_SUCCESS || n == 0)
        return GRAVEL_OK;
    cl_device_id *ids = calloc(n, sizeof *ids);
    gv_found *grown = realloc(*list, ((size_t)*count + n) * sizeof **list);
    if (grown)
        *list = grown;
    if (!ids || !grown) {
        free(ids);
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the list of devices");
    }
    code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, ids, NULL);
    for (cl_uint i = 0; code == CL_SUCCESS && i < n; i++) {
        gv_found *found = *list + *count;
        if (usable(ids[i]) && gv_device_describe(ids[i], name, &found->info) == GRAVEL_OK) {
            found->platform = platform;
            found->id = ids[i];
            found->info.index = *count; /* the order of discovery, until gv_device_find sorts */
            (*count)++;
        }
    }
    free(ids);
    return GRAVEL_OK;
}

static int type_rank(gravel_device_type type)
{
    return type == GRAVEL_DEVICE_GPU ? 0 : type == GRAVEL_DEVICE_ACCELERATOR ? 1 : 2;
}

/* GPUs, accelerators, CPUs; then by platform name: the loader's order depends on how a folder was filled */
static int compare_found(const void *a, const void *b)
{
    const gravel_device_info *x = &((const gv_found *)a)->info, *y = &((const gv_found *)b)->info;
    int order = type_rank(x->type) - type_rank(y->type);

    if (order == 0)
        order = strcmp(x->platform, y->platform);
    return order != 0 ? order : x->index - y->index;
}

static gravel_status fail_no_platform(void)
{
    return gv_fail(GRAVEL_ERR_NO_PLATFORM,
                   "there is no OpenCL platform on this machine: install the OpenCL driver of your GPU's vendor, or a "
                   "driver that runs on any CPU (Debian, Ubuntu: apt-get install pocl-opencl-icd)");
}

static gravel_status find(gv_found **list, int *count)
{
    cl_uint n = 0;
    gravel_status status = GRAVEL_OK;

    *list = NULL;
    *count = 0;
    cl_int code = clGetPlatformIDs(0, NULL, &n);
    if (code == CL_PLATFORM_NOT_FOUND_KHR || (code == CL_SUCCESS && n == 0))
        return fail_no_platform();
    if (code != CL_SUCCESS)
        return gv_fail_cl(code, "the OpenCL platforms cannot be listed");
    cl_platform_id *platforms = calloc(n, sizeof *platforms);
    if (!platforms)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the list of platforms");
    code = clGetPlatformIDs(n, platforms, NULL);
    if (code != CL_SUCCESS)
        status = gv_fail_cl(code, "the OpenCL platforms cannot be listed");
    for (cl_uint i = 0; status == GRAVEL_OK && i < n; i++)
        status = add_platform(platforms[i], list, count);
    free(platforms);
    if (status == GRAVEL_OK && *count == 0) {
        status = gv_fail(GRAVEL_ERR_NO_DEVICE,
                         "none of the %u OpenCL platforms has a usable device: a driver for the CPU is a way out "
                         "(Debian, Ubuntu: apt-get install pocl-opencl-icd)",
                         n);
    }
    if (status != GRAVEL_OK) {
        free(*list);
        *list = NULL;
        *count = 0;
        return status;
    }
    qsort(*list, (size_t)*count, sizeof **list, compare_found);
    for (int i = 0; i < *count; i++)
        (*list)[i].info.index = i;
    return GRAVEL_OK;
}

/* The first query of the platforms initialises the drivers, which crashes in PoCL if two threads do it at a time.
 * There is one lock for the process, since the drivers belong to the process. */
static pthread_mutex_t discovery = PTHREAD_MUTEX_INITIALIZER;

gravel_status gv_device_find(gv_found **list, int *count)
{
    pthread_mutex_lock(&discovery);
    gravel_status status = find(list, count);
    pthread_mutex_unlock(&discovery);
    return status;
}

gravel_status gravel_device_list(gravel_device_info **list, int *count)
{
    gv_found *found;
    int n;

    if (!list || !count)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_device_list: list and count must not be NULL");
    *list = NULL;
    *count = 0;
    gravel_status status = gv_device_find(&found, &n);
    if (status != GRAVEL_OK)
        return status;
    *list = malloc((size_t)n * sizeof **list);
    if (*list) {
        for (int i = 0; i < n; i++)
            (*list)[i] = found[i].info;
        *count = n;
    } else {
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for the list of devices");
    }
    free(found);
    return status;
}

void gravel_device_list_free(gravel_device_info *list)
{
    free(list);
}

static void hash_property(cl_device_id id, cl_device_info what, gv_hasher *hasher)
{
    char text[GRAVEL_NAME_SIZE];

    get_text(id, what, text);
    gv_hash_text(hasher, text);
}

extern char **environ; /* POSIX declares it nowhere */

/* Variables that change what drivers compile begin so; those that only set paths and the amount of messages do
 * not count, else every folder of caches would have binaries of its own. */
static int changes_code(const char *variable)
{
    static const char *const prefix[] = {"POCL_",          "CL_CONFIG_", "LP_",          "GALLIVM_",
                                         "OCLGRIND_BUILD", "AMD_OCL_",   "CLOVER_EXTRA_"};
    static const char *const harmless[] = {"CACHE", "DEBUG", "_DIR", "TRACING", "VERBOSE"};
    const size_t length = strcspn(variable, "=");
    int counts = 0;

    for (size_t i = 0; i < sizeof prefix / sizeof prefix[0]; i++)
        counts = counts || strncmp(variable, prefix[i], strlen(prefix[i])) == 0;
    for (size_t i = 0; counts && i < sizeof harmless / sizeof harmless[0]; i++) {
        const char *found = strstr(variable, harmless[i]);
        counts = !found || found >= variable + length;
    }
    return counts;
}

/* In the order of their text, whatever order the environment has. */
static void hash_environment(gv_hasher *hasher)
{
    const char *last = NULL, *next;

    do {
        next = NULL;
        for (char **variable = environ; variable && *variable; variable++)
            if (changes_code(*variable) && (!last || strcmp(*variable, last) > 0) &&
                (!next || strcmp(*variable, next) < 0)) {
                next = *variable;
            }
        if (next)
            gv_hash_text(hasher, next);
        last = next;
    } while (next);
}

/* The instruction sets of the first processor, a line of /proc/cpuinfo.  Homes are shared by unlike hosts, and the
 * names of some CPUs ("AMD EPYC") say little. */
static void hash_processor(gv_hasher *hasher)
{
    static const char *const names[] = {"flags", "Features", "isa", "cpu\t"}; /* x86, ARM, RISC-V, POWER */
    char text[8192], *rest = text;
    FILE *file = fopen("/proc/cpuinfo", "r");

    const size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[size] = '\0';
    for (char *line = text; line; line = rest) {
        rest = strchr(line, '\n');
        if (rest)
            *rest++ = '\0';
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            if (strncmp(line, names[i], strlen(names[i])) == 0) {
                gv_hash_text(hasher, line);
                return;
            }
    }
}

void gv_device_find_target(gv_device *device)
{
    gv_hasher hasher;
    gv_digest digest;

    gv_hash_start(&hasher);
    hash_environment(&hasher);
    if (device->info.type == GRAVEL_DEVICE_CPU)
        hash_processor(&hasher);
    gv_hash_end(&hasher, &digest);
    gv_digest_hex(&digest, 16, device->target);
}

void gv_device_hash(const gv_device *device, gv_hasher *hasher)
{
    cl_platform_id platform = NULL;
    char version[GRAVEL_NAME_SIZE] = "";

    gv_hash_text(hasher, device->info.platform);
    if (clGetDeviceInfo(device->id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) == CL_SUCCESS)
        clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof version - 1, version, NULL);
    gv_hash_text(hasher, version);
    hash_property(device->id, CL_DEVICE_NAME, hasher);
    hash_property(device->id, CL_DEVICE_VENDOR, hasher);
    hash_property(device->id, CL_DEVICE_VERSION, hasher);
    hash_property(device->id, CL_DEVICE_OPENCL_C_VERSION, hasher);
    hash_property(device->id, CL_DRIVER_VERSION, hasher);
    gv_hash_text(hasher, device->target);
}
