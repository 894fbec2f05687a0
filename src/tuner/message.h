/* Pieces of the JSON lines that worker and log share. */
#ifndef GV_MESSAGE_H
#define GV_MESSAGE_H

#include <cjson/cJSON.h>

#include "tuner/outcome.h"

double gv_message_number(const cJSON *object, const char *name, double otherwise);
/* A whole number from low to high, else `otherwise`: a double outside the range of int has no value as one. */
int gv_message_int(const cJSON *object, const char *name, int low, int high, int otherwise);
int gv_message_text(const cJSON *object, const char *name, char *text, size_t size); /* 0: missing or too long */
void gv_message_put_task(cJSON *object, const gv_task *task);
int gv_message_get_task(const cJSON *object, gv_task *task);
void gv_message_put_outcome(cJSON *object, const gv_outcome *outcome);
int gv_message_get_outcome(const cJSON *object, gv_outcome *outcome);

#endif
