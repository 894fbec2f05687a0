#include "host/device.h"

#include <stdio.h>
#include <string.h>

gravel_status gv_device_find_features(gravel_context *context, int device)
{
    gv_device *d = &context->device[device];
    cl_device_fp_config config = 0;

    clGetDeviceInfo(d->id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL);
    d->fast_fma = (config & CL_FP_FMA) != 0;
    snprintf(d->feature_options, sizeof d->feature_options, "%s%s", d->info.has_fp64 ? " -DGV_HAVE_FP64=1" : "",
             d->fast_fma ? " -DGV_FAST_FMA=1" : "");
    return GRAVEL_OK;
}
