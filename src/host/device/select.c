/* The selection language of gravel_context_options.device. */
#include "host/device/device.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *gv_device_type_name(gravel_device_type type)
{
    return type == GRAVEL_DEVICE_GPU ? "gpu" : type == GRAVEL_DEVICE_CPU ? "cpu" : "accelerator";
}

/* "is" + the list of what is there, one device a line */
static gravel_status fail_list(const gravel_device_info *list, int count, const char *why, const char *what)
{
    size_t size = 64 + (size_t)count * (2 * GRAVEL_NAME_SIZE + 64), used = 0;
    char *text = malloc(size);

    if (!text)
        return gv_fail(GRAVEL_ERR_NO_DEVICE, "device '%s': %s", what, why);
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        used += (size_t)snprintf(text + used, size - used, "\n  %d: %s (%s, %s)", list[i].index, list[i].name,
                                 gv_device_type_name(list[i].type), list[i].platform);
    }
    gravel_status status = gv_fail(GRAVEL_ERR_NO_DEVICE, "device '%s': %s; there is:%s", what, why, text);
    free(text);
    return status;
}

static int contains(const char *text, const char *part)
{
    size_t length = strlen(part);

    for (; *text; text++)
        if (strncasecmp(text, part, length) == 0)
            return 1;
    return 0;
}

/* How good a device is as the default: its type first, then its size. */
static double merit(const gravel_device_info *info)
{
    double type = info->type == GRAVEL_DEVICE_GPU ? 2 : info->type == GRAVEL_DEVICE_ACCELERATOR ? 1 : 0;

    return type * 1e12 + (double)info->compute_units * (info->clock_mhz > 0 ? info->clock_mhz : 1000);
}

/* Compute units of a device that earlier choices leave: a whole device leaves none. */
static int units_left(const gravel_device_info *info, int index, const gv_choice *choice, int n)
{
    int left = info->compute_units;

    for (int i = 0; i < n; i++)
        if (choice[i].index == index)
            left -= choice[i].compute_units > 0 ? choice[i].compute_units : left;
    return left;
}

static int is_number(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static int matches(const gravel_device_info *info, const char *word)
{
    for (int type = GRAVEL_DEVICE_CPU; type <= GRAVEL_DEVICE_ACCELERATOR; type++)
        if (strcasecmp(word, gv_device_type_name((gravel_device_type)type)) == 0)
            return (int)info->type == type;
    return contains(info->name, word);
}

/* The best device that the word means with as many units left (0: all of them); an index means its device even so.
 * -1: none. */
static int find(const char *word, int units, const gravel_device_info *list, int count, const gv_choice *taken,
                int n_taken)
{
    int best = -1;

    if (is_number(word)) {
        long index = strlen(word) < 9 ? strtol(word, NULL, 10) : count;
        return index < count ? (int)index : -1;
    }
    for (int i = 0; i < count; i++) {
        int left = units_left(&list[i], i, taken, n_taken);
        if (matches(&list[i], word) && left >= (units > 0 ? units : list[i].compute_units) &&
            (best < 0 || merit(&list[i]) > merit(&list[best]))) {
            best = i;
        }
    }
    return best;
}

/* Splits "cpu:4" into word and number; 0 where there is no such ending. */
static int split_units(char *word, int *units)
{
    char *colon = strrchr(word, ':');

    if (!colon || !is_number(colon + 1))
        return 0;
    *units = strlen(colon + 1) < 9 ? (int)strtol(colon + 1, NULL, 10) : INT32_MAX;
    *colon = '\0';
    return 1;
}

static gravel_status select_word(char *word, const gravel_device_info *list, int count, int one_platform,
                                 gv_choice *choice, int *n)
{
    int units = 0, part = 0;

    /* a name may hold a colon itself, so the whole word comes first */
    int index = find(word, 0, list, count, choice, *n);
    if (index < 0 && split_units(word, &units)) {
        part = 1;
        index = find(word, units, list, count, choice, *n);
    }
    if (index < 0) {
        /* the part may be too large for every device that the name fits */
        index = part ? find(word, 1, list, count, choice, *n) : -1;
        return index < 0 ? fail_list(list, count, *n > 0 ? "no further device fits" : "no device fits", word)
                         : gv_fail(GRAVEL_ERR_ARGUMENT, "device '%s:%d': %s has %d compute units to give", word, units,
                                   list[index].name, units_left(&list[index], index, choice, *n));
    }
    int left = units_left(&list[index], index, choice, *n);
    if (left < (part ? 1 : list[index].compute_units))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "device '%s': %s is named twice", word, list[index].name);
    if (part && (units < 1 || units > left)) {
        return gv_fail(GRAVEL_ERR_ARGUMENT, "device '%s:%d': %s has %d compute units to give", word, units,
                       list[index].name, left);
    }
    if (*n == GV_MAX_CHOICES)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "more than %d devices", GV_MAX_CHOICES);
    const gravel_device_info *first = &list[*n > 0 ? choice[0].index : index];
    if (one_platform && strcmp(list[index].platform, first->platform) != 0) {
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "device '%s': a context holds devices of one platform; %s is of %s, %s of %s", word, first->name,
                       first->platform, list[index].name, list[index].platform);
    }
    choice[*n].index = index;
    choice[*n].compute_units = units == list[index].compute_units ? 0 : units;
    (*n)++;
    return GRAVEL_OK;
}

static char *trim(char *word)
{
    while (isspace((unsigned char)*word))
        word++;
    for (size_t n = strlen(word); n > 0 && isspace((unsigned char)word[n - 1]); n--)
        word[n - 1] = '\0';
    return word;
}

static void select_best(const gravel_device_info *list, int count, gv_choice *choice)
{
    choice->index = 0;
    choice->compute_units = 0;
    for (int i = 1; i < count; i++)
        if (merit(&list[i]) > merit(&list[choice->index]))
            choice->index = i;
}

static gravel_status select_words(const char *selection, const gravel_device_info *list, int count, int one_platform,
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
    if (!copy)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory to read the device selection");
    strcpy(copy, selection);
    for (char *word = copy, *next; status == GRAVEL_OK && word; word = next) {
        next = strchr(word, ',');
        if (next)
            *next++ = '\0';
        word = trim(word);
        if (word[0] == '\0')
            status = fail_list(list, count, "a name is empty", selection);
        else
            status = select_word(word, list, count, one_platform, choice, n_choices);
    }
    free(copy);
    return status;
}

gravel_status gv_device_select(const char *selection, const gravel_device_info *list, int count,
                               gv_choice choice[GV_MAX_CHOICES], int *n_choices)
{
    return select_words(selection, list, count, 1, choice, n_choices);
}

gravel_status gv_device_select_any(const char *selection, const gravel_device_info *list, int count,
                                   gv_choice choice[GV_MAX_CHOICES], int *n_choices)
{
    if (!selection || strcasecmp(selection, "all") != 0)
        return select_words(selection, list, count, 0, choice, n_choices);
    *n_choices = count < GV_MAX_CHOICES ? count : GV_MAX_CHOICES;
    for (int k = 0; k < *n_choices; k++)
        choice[k] = (gv_choice){k, 0};
    return GRAVEL_OK;
}
