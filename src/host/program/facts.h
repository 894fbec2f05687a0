/* Measured facts of a device, kept as <cache_dir>/facts-<device>.json in a form that people can read. */
#ifndef GV_FACTS_H
#define GV_FACTS_H

#include "host/device/context.h"

/* Rounds to 6 digits: more are not measured, and these come back from a file exactly. */
void gv_facts_round(gravel_device_facts *facts);
/* 1 if there is a usable file of this device, driver, size and measuring kernels */
int gv_facts_load(gravel_context *context, int device, gravel_device_facts *facts);
/* Failing costs only the next measurement. */
void gv_facts_store(gravel_context *context, int device, const gravel_device_facts *facts);

#endif
