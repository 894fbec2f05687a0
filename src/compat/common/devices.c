#include "compat/common/compat.h"

#include <stdio.h>

/* Numbers of the devices that Sapporo2 would count: GPUs, or what there is. */
static int countable(const gravel_device_info *info, int count, int *index, int most)
{
    int n = 0;

    for (int k = 0; k < count && n < most; k++)
        if (info[k].type == GRAVEL_DEVICE_GPU)
            index[n++] = info[k].index;
    for (int k = 0; n == 0 && k < count && k < most; k++)
        index[k] = info[k].index;
    return n ? n : count < most ? count : most;
}

int gv_compat_name_devices(const char *function, int count, const int *list, char *names, size_t size)
{
    gravel_device_info *info;
    int there, index[64];
    size_t used = 0;

    if (gv_compat_failed(function, gravel_device_list(&info, &there)) != 0)
        return -1;
    const int n = countable(info, there, index, 64);
    const int wanted = count > 0 ? count : count == 0 || count < -n ? n : -count;
    gravel_device_list_free(info);
    names[0] = '\0';
    for (int k = 0; k < wanted; k++) {
        const int at = count > 0 ? list[k] : k;
        if (at < 0 || at >= n)
            return gv_compat_fail(function, "there is no device %d, the last is %d", at, n - 1);
        used += (size_t)snprintf(names + used, size - used, "%s%d", k ? "," : "", index[at]);
        if (used >= size)
            return gv_compat_fail(function, "%d devices are too many", wanted);
    }
    return 0;
}

static void to_log(gravel_log_level level, const char *message, void *user)
{
    (void)user;
    gv_compat_log(level == GRAVEL_LOG_WARNING ? GV_COMPAT_WARNING
                  : level == GRAVEL_LOG_INFO  ? GV_COMPAT_INFO
                                              : GV_COMPAT_DEBUG,
                  "%s", message);
}

gravel_status gv_compat_create(gravel_several **several, const gv_compat_settings *settings)
{
    gravel_several_options options = GRAVEL_SEVERAL_OPTIONS_INIT;
    gravel_context_options context = GRAVEL_CONTEXT_OPTIONS_INIT;

    context.log = to_log;
    options.context = &context;
    options.devices = settings->devices[0] ? settings->devices : NULL;
    options.precision = settings->precision;
    options.deal = settings->deal;
    options.all_devices = settings->all_devices == GV_COMPAT_YES;
    options.host = settings->host;
    options.correct_times = settings->correct_times == GV_COMPAT_YES;
    const gravel_status status = gravel_several_create(several, &options);
    if (status == GRAVEL_OK)
        gv_compat_forget_lines();
    for (int k = 0; status == GRAVEL_OK && k < gravel_several_get_device_count(*several); k++)
        gv_compat_log(GV_COMPAT_INFO, "device %d: %s, %s, %d sinks a call", k,
                      gravel_several_get_device(*several, k)->name, gravel_precision_name(settings->precision),
                      settings->pipes);
    return status;
}
