/* The one place that includes OpenCL: version 1.2 entry points only, later ones are looked up at run time. */
#ifndef GV_CL_H
#define GV_CL_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#endif
