/* The selection language of gravel_context_options.device. */
#include "host/device.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *type_name(gravel_device_type type)
{
    return type == GRAVEL_DEVICE_GPU ? "gpu" : type == GRAVEL_DEVICE_CPU ? "cpu" : "accelerator";
}

/* "is" + the list of what is there, one device a line */
static gravel_status fail_list(const gravel_device_info *list, int count, const char *why, const char *what)
{
    size_t size = 64 + (size_t)count * (2 * GRAVEL_NAME_SIZE + 64), used = 0;
    char *text = malloc(size);

    if (!text) {
        return gv_fail(GRAVEL_ERR_NO_DEVICE, "device '%s': %s", what, why);
    }
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        used += (size_t)snprintf(text + used, size - used, "\n  %d: %s (%s, %s)", list[i].index, list[i].name,
                                 type_name(list[i].type), list[i].platform);
    }
    gravel_status status = gv_fail(GRAVEL_ERR_NO_DEVICE, "device '%s': %s; there is:%s", what, why, text);
    free(text);
    return status;
}

static int contains(const char *text, const char *part)
{
    size_t length = strlen(part);

    for (; *text; text++) {
        if (strncasecmp(text, part, length) == 0) {
            return 1;
        }
    }
    return 0;
}

/* How good a device is as the default: its type first, then its size. */
static double merit(const gravel_device_info *info)
{
    double type = info->type == GRAVEL_DEVICE_GPU ? 2 : info->type == GRAVEL_DEVICE_ACCELERATOR ? 1 : 0;

    return type * 1e12 + (double)info->compute_units * (info->clock_mhz > 0 ? info->clock_mhz : 1000);
}

static int is_taken(const gv_choice *choice, int n, int index)
{
    for (int i = 0; i < n; i++) {
        if (choice[i].index == index) {
            return 1;
        }
    }
    return 0;
}

static int is_number(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static int matches(const gravel_device_info *info, const char *word)
{
    for (int type = GRAVEL_DEVICE_CPU; type <= GRAVEL_DEVICE_ACCELERATOR; type++) {
        if (strcasecmp(word, type_name((gravel_device_type)type)) == 0) {
            return (int)info->type == type;
        }
    }
    return contains(info->name, word);
}

/* The best device that the word means and that is not taken; an index means its device even so.  -1: none. */
static int find(const char *word, const gravel_device_info *list, int count, const gv_choice *taken, int n_taken)
{
    int best = -1;

    if (is_number(word)) {
        long index = strlen(word) < 9 ? strtol(word, NULL, 10) : count;
        return index < count ? (int)index : -1;
    }
    for (int i = 0; i < count; i++) {
        if (matches(&list[i], word) && !is_taken(taken, n_taken, i) && (best < 0 || merit(&list[i]) > merit(&list[best]))) {
            best = i;
        }
    }
    return best;
}

static gravel_status select_word(char *word, const gravel_device_info *list, int count, gv_choice *choice, int *n)
{
    int index = find(word, list, count, choice, *n);
    int units = 0;
    char *colon = strrchr(word, ':');

    /* "cpu:4"; a name may hold a colon itself, so the whole word comes first */
    if (index < 0 && colon && is_number(colon + 1)) {
        units = strlen(colon + 1) < 9 ? (int)strtol(colon + 1, NULL, 10) : INT32_MAX;
        *colon = '\0';
        index = find(word, list, count, choice, *n);
        *colon = ':';
    } else {
        colon = NULL;
    }
    if (index < 0) {
        return fail_list(list, count, *n > 0 ? "no further device fits" : "no device fits", word);
    }
    if (is_taken(choice, *n, index)) {
        return gv_fail(GRAVEL_ERR_ARGUMENT, "device '%s': %s is named twice", word, list[index].name);
    }
    if (colon && (units < 1 || units > list[index].compute_units)) {
        return gv_fail(GRAVEL_ERR_ARGUMENT, "device '%s': %s has 1 to %d compute units to give, not %s", word,
                       list[index].name, list[index].compute_units, colon + 1);
    }
    if (*n == GV_MAX_CHOICES) {
        return gv_fail(GRAVEL_ERR_ARGUMENT, "more than %d devices in one context", GV_MAX_CHOICES);
    }
    if (strcmp(list[index].platform, list[*n > 0 ? choice[0].index : index].platform) != 0) {
        return gv_fail(GRAVEL_ERR_ARGUMENT, "device '%s': a context holds devices of one platform; %s is of %s, %s of %s",
                       word, list[choice[0].index].name, list[choice[0].index].platform, list[index].name,
                       list[index].platform);
    }
    choice[*n].index = index;
    choice[*n].compute_units = units == list[index].compute_units ? 0 : units;
    (*n)++;
    return GRAVEL_OK;
}

static char *trim(char *word)
{
    while (isspace((unsigned char)*word)) {
        word++;
    }
    for (size_t n = strlen(word); n > 0 && isspace((unsigned char)word[n - 1]); n--) {
        word[n - 1] = '\0';
    }
    return word;
}

static void select_best(const gravel_device_info *list, int count, gv_choice *choice)
{
    choice->index = 0;
    choice->compute_units = 0;
    for (int i = 1; i < count; i++) {
        if (merit(&list[i]) > merit(&list[choice->index])) {
            choice->index = i;
        }
    }
}

gravel_status gv_device_select(const char *selection, const gravel_device_info *list, int count,
                               gv_choice choice[GV_MAX_CHOICES], int *n_choices)
{
    gravel_status status = GRAVEL_OK;

    *n_choices = 0;
    if (!selection) {
        select_best(list, count, choice);
        *n_choices = 1;
        return GRAVEL_OK;
    }
    char *copy = malloc(strlen(selection) + 1);
    if (!copy) {
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory to read the device selection");
    }
    strcpy(copy, selection);
    for (char *word = copy, *next; status == GRAVEL_OK && word; word = next) {
        next = strchr(word, ',');
        if (next) {
            *next++ = '\0';
        }
        word = trim(word);
        if (word[0] == '\0') {
            status = fail_list(list, count, "a name is empty", selection);
        } else {
            status = select_word(word, list, count, choice, n_choices);
        }
    }
    free(copy);
    return status;
}
