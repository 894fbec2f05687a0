/* Values of options: from text, and within their limits. */
#include "cli/options.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"

/* 0, or -1 */
static int parse_size(const char *text, size_t *value)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return -1;
    static const char prefix[] = "kMG";
    double scale = 1;
    errno = 0;
    const double number = strtod(text, &end);
    const char *found = *end != '\0' ? strchr(prefix, *end == 'K' ? 'k' : *end) : NULL;
    if (found != NULL) {
        const int binary = *++end == 'i';
        for (const char *p = prefix; p <= found; p++)
            scale *= binary ? 1024 : 1000;
        end += binary;
    }
    /* 2^53: beyond it a double no longer holds every whole number */
    const double whole = number * scale;
    if (*end != '\0' || errno != 0 || !(whole <= 9007199254740992.0) || whole != floor(whole))
        return -1;
    *value = (size_t)whole;
    return 0;
}

int gv_parse_reals(const char *text, double low, double high, double *value, int most)
{
    int n = 0;

    for (char *end;; text = end + 1) {
        const double number = strtod(text, &end);

        if (n == most || end == text || (*end != '\0' && *end != ',') || !(number >= low && number <= high))
            return -1;
        value[n++] = number;
        if (*end == '\0')
            return n;
    }
}

static int parse_seconds(const char *text, double *value)
{
    char *end;
    const double number = strtod(text, &end);
    double unit = 1;
    if (*end != '\0' && end[1] == '\0') {
        unit = *end == 's' ? 1 : *end == 'm' ? 60 : *end == 'h' ? 3600 : 0;
        end++;
    }
    *value = number * unit;
    return end == text || *end != '\0' || !(*value > 0) || !isfinite(*value) ? -1 : 0;
}

/* Index of text[0 ... length-1] in "a|b|c", -1 if it is none of them. */
static int choice_index(const char *choices, const char *text, size_t length)
{
    int index = 0;
    for (const char *p = choices;; index++) {
        const size_t n = strcspn(p, "|");
        if (n == length && strncmp(p, text, n) == 0)
            return index;
        p += n;
        if (*p == '\0')
            return -1;
        p++;
    }
}

static int parse_choices(const char *choices, const char *text, unsigned *mask)
{
    int all = 1;
    for (const char *p = choices; *p; p++)
        all += *p == '|';
    *mask = 0;
    if (strcmp(text, "all") == 0) {
        *mask = (1u << all) - 1;
        return 0;
    }
    for (const char *p = text;; p++) {
        const size_t n = strcspn(p, ",");
        const int index = choice_index(choices, p, n);
        if (index < 0)
            return -1;
        *mask |= 1u << index;
        p += n;
        if (*p == '\0')
            return 0;
    }
}

static int parse_sizes(const char *text, gv_size_list *list)
{
    char word[32];
    list->n = 0;
    for (const char *p = text;; p++) {
        const size_t n = strcspn(p, ",");
        if (n >= sizeof word || list->n == GV_MAX_LIST)
            return -1;
        memcpy(word, p, n);
        word[n] = '\0';
        if (parse_size(word, &list->value[list->n]) != 0)
            return -1;
        list->n++;
        p += n;
        if (*p == '\0')
            return 0;
    }
}

static int parse_range(const char *text, gv_range *range)
{
    char first[32];
    const size_t n = strcspn(text, ":");
    if (n >= sizeof first || text[n] != ':')
        return -1;
    memcpy(first, text, n);
    first[n] = '\0';
    range->count = SIZE_MAX;
    if (parse_size(first, &range->first) != 0)
        return -1;
    return text[n + 1] == '\0' ? 0 : parse_size(text + n + 1, &range->count);
}

static int parse_int(const char *text, int *value)
{
    char *end;
    errno = 0;
    const long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || number < INT_MIN || number > INT_MAX)
        return -1;
    *value = (int)number;
    return 0;
}

static int parse_seed(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 0);
    *value = number;
    return text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 ? -1 : 0;
}

static int parse_real(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end == text || *end != '\0' || !isfinite(*value) ? -1 : 0;
}

static const char *kind_wants(gv_opt_kind kind)
{
    switch (kind) {
    case GV_OPT_INT:
        return "a whole number";
    case GV_OPT_SIZE:
        return "a count such as 1000, 1e6, 128k (128000) or 128Ki (131072)";
    case GV_OPT_SEED:
        return "a whole number from 0";
    case GV_OPT_REAL:
        return "a number";
    case GV_OPT_SECONDS:
        return "a time such as 90, 90s, 5m or 1h";
    case GV_OPT_SIZES:
        return "counts joined by commas, such as 1,16,256,128Ki";
    case GV_OPT_RANGE:
        return "FIRST:COUNT, such as 0:100";
    default:
        return "a value";
    }
}

/* The number that `low` and `high` limit; of lists the smallest. */
static int limited_number(const gv_opt *opt, const void *place, double *number)
{
    switch (opt->kind) {
    case GV_OPT_INT:
        *number = *(const int *)place;
        return 1;
    case GV_OPT_SIZE:
        *number = (double)*(const size_t *)place;
        return 1;
    case GV_OPT_REAL:
    case GV_OPT_SECONDS:
        *number = *(const double *)place;
        return 1;
    case GV_OPT_SIZES: {
        const gv_size_list *list = place;
        *number = (double)list->value[0];
        for (int i = 1; i < list->n; i++)
            *number = fmin(*number, (double)list->value[i]);
        return 1;
    }
    default:
        return 0;
    }
}

static int parse_value(const gv_opt *opt, const char *text, void *place)
{
    switch (opt->kind) {
    case GV_OPT_FLAG:
        *(int *)place = strcmp(text, "0") != 0 && text[0] != '\0';
        return 0;
    case GV_OPT_INT:
        return parse_int(text, place);
    case GV_OPT_SIZE:
        return parse_size(text, place);
    case GV_OPT_SEED:
        return parse_seed(text, place);
    case GV_OPT_REAL:
        return parse_real(text, place);
    case GV_OPT_SECONDS:
        return parse_seconds(text, place);
    case GV_OPT_TEXT:
    case GV_OPT_IN:
    case GV_OPT_OUT:
        *(const char **)place = text;
        return 0;
    case GV_OPT_CHOICE:
        if (text == opt->fallback && strcmp(text, "-1") == 0) { /* not given */
            *(int *)place = -1;
            return 0;
        }
        *(int *)place = choice_index(opt->value, text, strlen(text));
        return *(int *)place < 0 ? -1 : 0;
    case GV_OPT_CHOICES:
        return parse_choices(opt->value, text, place);
    case GV_OPT_SIZES:
        return parse_sizes(text, place);
    case GV_OPT_RANGE:
        return parse_range(text, place);
    }
    return -1;
}

/* Counts are shown with all their digits. */
static void format_limit(const gv_opt *opt, double limit, char *text, size_t size)
{
    const int real = opt->kind == GV_OPT_REAL || opt->kind == GV_OPT_SECONDS;

    snprintf(text, size, real || fabs(limit) >= 1e15 ? "%g" : "%.0f", limit);
}

int gv_options_set(const char *full_name, const gv_opt *opt, const char *source, const char *text, void *values)
{
    void *place = (char *)values + opt->offset;
    double number;
    if (parse_value(opt, text, place) != 0) {
        if (opt->kind == GV_OPT_CHOICE || opt->kind == GV_OPT_CHOICES) {
            gv_say(full_name, "%s: '%s' is not one of %s%s", source, text, opt->value,
                   opt->kind == GV_OPT_CHOICES ? " (or several joined by commas, or all)" : "");
        } else {
            gv_say(full_name, "%s: '%s' is not %s", source, text, kind_wants(opt->kind));
        }
        return -1;
    }
    /* a default may lie outside: it then stands for "not given" */
    if (text != opt->fallback && (opt->low != 0 || opt->high != 0) && limited_number(opt, place, &number) &&
        (number < opt->low || number > opt->high)) {
        char low[32], high[32];
        format_limit(opt, opt->low, low, sizeof low);
        format_limit(opt, opt->high, high, sizeof high);
        if (isinf(opt->high))
            gv_say(full_name, "%s: %s is too small; at least %s", source, text, low);
        else
            gv_say(full_name, "%s: %s is out of range; from %s to %s", source, text, low, high);
        return -1;
    }
    return 0;
}

size_t gv_option_size(gv_opt_kind kind)
{
    switch (kind) {
    case GV_OPT_SIZE:
        return sizeof(size_t);
    case GV_OPT_SEED:
        return sizeof(uint64_t);
    case GV_OPT_REAL:
    case GV_OPT_SECONDS:
        return sizeof(double);
    case GV_OPT_TEXT:
    case GV_OPT_IN:
    case GV_OPT_OUT:
        return sizeof(const char *);
    case GV_OPT_CHOICES:
        return sizeof(unsigned);
    case GV_OPT_SIZES:
        return sizeof(gv_size_list);
    case GV_OPT_RANGE:
        return sizeof(gv_range);
    default:
        return sizeof(int);
    }
}
