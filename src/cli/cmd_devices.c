/* gravel devices: what there is, and what --device takes. */
#include "cli/cli.h"

typedef struct devices_options {
    int json, measure, verbose;
} devices_options;

static const char *type_name(gravel_device_type type)
{
    return type == GRAVEL_DEVICE_GPU ? "gpu" : type == GRAVEL_DEVICE_CPU ? "cpu" : "accelerator";
}

/* Measured rates of one device; what cannot be measured stays zero and is reported on stderr. */
static void measure_device(const gravel_device_info *info, int verbose, gravel_device_facts *facts)
{
    gravel_context *context = NULL;
    char index[16];
    snprintf(index, sizeof index, "%d", info->index);
    *facts = (gravel_device_facts){0};
    if (gv_cli_context(&context, index, 0, verbose) != GRAVEL_OK ||
        gravel_context_measure(context, 0, 0, facts) != GRAVEL_OK) {
        gv_say("gravel devices", "device %d cannot be measured: %s", info->index, gravel_error_message());
    }
    gravel_context_release(context);
}

static void add_json(cJSON *list, const gravel_device_info *d, const gravel_device_facts *facts)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "index", d->index);
    cJSON_AddStringToObject(item, "type", type_name(d->type));
    cJSON_AddStringToObject(item, "name", d->name);
    cJSON_AddStringToObject(item, "vendor", d->vendor);
    cJSON_AddStringToObject(item, "platform", d->platform);
    cJSON_AddStringToObject(item, "driver", d->driver);
    cJSON_AddStringToObject(item, "opencl", d->opencl);
    cJSON_AddNumberToObject(item, "compute_units", d->compute_units);
    cJSON_AddNumberToObject(item, "max_group", d->max_group);
    cJSON_AddNumberToObject(item, "clock_mhz", d->clock_mhz);
    cJSON_AddBoolToObject(item, "fp64", d->has_fp64);
    cJSON_AddBoolToObject(item, "subgroups", d->has_subgroups);
    cJSON_AddBoolToObject(item, "host_memory", d->host_memory);
    cJSON_AddNumberToObject(item, "simd_width_float", d->simd_width_float);
    cJSON_AddNumberToObject(item, "simd_width_double", d->simd_width_double);
    cJSON_AddNumberToObject(item, "global_memory", (double)d->global_memory);
    cJSON_AddNumberToObject(item, "max_allocation", (double)d->max_allocation);
    cJSON_AddNumberToObject(item, "local_memory", (double)d->local_memory);
    if (facts != NULL) {
        cJSON_AddNumberToObject(item, "fma_sp", facts->fma_sp);
        cJSON_AddNumberToObject(item, "fma_dp", facts->fma_dp);
        cJSON_AddNumberToObject(item, "rsqrt_sp", facts->rsqrt_sp);
        cJSON_AddNumberToObject(item, "copy_bytes", facts->copy_bytes);
        cJSON_AddNumberToObject(item, "launch_s", facts->launch_s);
    }
    cJSON_AddItemToArray(list, item);
}

static void add_row(gv_table *table, const gravel_device_info *d, const gravel_device_facts *facts)
{
    char rates[160] = "";
    if (facts != NULL) {
        snprintf(rates, sizeof rates, "|%.4g|%.4g|%.4g|%.4g|%.3g", 2e-9 * facts->fma_sp, 2e-9 * facts->fma_dp,
                 1e-9 * facts->rsqrt_sp, 1e-9 * facts->copy_bytes, 1e6 * facts->launch_s);
    }
    char version[16] = "?"; /* "OpenCL 3.0 and what the vendor adds" */
    sscanf(d->opencl, "OpenCL %15s", version);
    gv_table_row(table, "%d|%s|%.60s|%d|%.1f|%s|%s|%.40s%s", d->index, type_name(d->type), d->name, d->compute_units,
                 (double)d->global_memory / 1073741824.0, d->has_fp64 ? "yes" : "no", version, d->driver, rates);
}

static int run(const void *values, const gv_operands *operands)
{
    const devices_options *opts = values;
    gravel_device_info *list = NULL;
    int count = 0;
    (void)operands;
    gravel_status status = gravel_device_list(&list, &count);
    if (status != GRAVEL_OK)
        return gv_cli_fail("gravel devices", status);
    cJSON *json = opts->json ? cJSON_CreateArray() : NULL;
    gv_table table;
    gv_table_start(&table, opts->measure ? "index|type|name|compute units|GiB|fp64|OpenCL|driver|GFLOP/s sp|GFLOP/s dp|"
                                           "G rsqrt/s|copy GB/s|launch us"
                                         : "index|type|name|compute units|GiB|fp64|OpenCL|driver");
    for (int i = 0; i < count; i++) {
        gravel_device_facts facts;
        if (opts->measure)
            measure_device(&list[i], opts->verbose, &facts);
        if (opts->json)
            add_json(json, &list[i], opts->measure ? &facts : NULL);
        else
            add_row(&table, &list[i], opts->measure ? &facts : NULL);
    }
    if (opts->json)
        status = gv_json_write(json, NULL);
    else
        gv_table_print(&table, stdout);
    gv_table_free(&table);
    gravel_device_list_free(list);
    return status == GRAVEL_OK ? GV_EXIT_OK : (gv_cli_fail("gravel devices", status), GV_EXIT_FAILURE);
}

static const gv_opt opts_table[] = {
    GV_OPT_JSON(devices_options),
    {.name = "measure",
     .letter = 'm',
     .kind = GV_OPT_FLAG,
     .offset = offsetof(devices_options, measure),
     .help = "measure each device's arithmetic, memory and launch rates\n(about a second per device)"},
    GV_OPT_VERBOSE(devices_options),
    {.name = NULL},
};

const gv_command gv_cmd_devices = {
    .name = "devices",
    .summary = "list the OpenCL devices of this machine",
    .synopsis = "[--measure] [--json]",
    .about = "The index, a part of the name, or the type is what --device and GRAVEL_DEVICE take elsewhere.\n"
             "Without them the first GPU is used, else an accelerator, else the CPU.",
    .opts = opts_table,
    .examples = "gravel devices\n"
                "gravel devices --measure --json > devices.json\n",
    .size = sizeof(devices_options),
    .run = run,
};
