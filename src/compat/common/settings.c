/* Settings as data: a line of the table is a name, where its value goes, and what is a value.  `pipes = 48` in the file
 * is GRAVEL_COMPAT_PIPES=48 in the environment. */
#include "compat/common/compat.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

extern char **environ; /* as POSIX has it */

typedef struct word {
    const char *name;
    int value;
} word;

typedef struct setting {
    const char *name;
    size_t at;
    enum { TEXT, NUMBER, WORD } type;
    int most;       /* of a number, which is at least 1 */
    const word *of; /* of a word */
} setting;

static const word precisions[] = {{"sp", GRAVEL_SP}, {"ds", GRAVEL_DS}, {"dp", GRAVEL_DP}, {NULL, 0}};
static const word signs[] = {
    {"interface", GV_COMPAT_INTERFACE}, {"negative", GV_COMPAT_NO}, {"positive", GV_COMPAT_YES}, {NULL, 0}};
static const word choices[] = {
    {"interface", GV_COMPAT_INTERFACE}, {"yes", GV_COMPAT_YES}, {"no", GV_COMPAT_NO}, {NULL, 0}};
static const word distances[] = {
    {"interface", GV_COMPAT_INTERFACE}, {"softened", GV_COMPAT_YES}, {"unsoftened", GV_COMPAT_NO}, {NULL, 0}};
static const word hosts[] = {
    {"faster", GRAVEL_HOST_WHERE_FASTER}, {"never", GRAVEL_HOST_NEVER}, {"always", GRAVEL_HOST_ALWAYS}, {NULL, 0}};
static const word deals[] = {{"speed", GRAVEL_DEAL_SPEED}, {"even", GRAVEL_DEAL_EVEN}, {NULL, 0}};
static const word levels[] = {{"none", GV_COMPAT_NONE}, {"error", GV_COMPAT_ERROR}, {"warning", GV_COMPAT_WARNING},
                              {"info", GV_COMPAT_INFO}, {"debug", GV_COMPAT_DEBUG}, {NULL, 0}};

#define AT(member) offsetof(gv_compat_settings, member)
static const setting known[] = {
    {"devices", AT(devices), TEXT, 0, NULL},
    {"precision", AT(precision), WORD, 0, precisions},
    {"pipes", AT(pipes), NUMBER, 1 << 20, NULL},
    {"neighbours", AT(neighbours), NUMBER, 1 << 20, NULL},
    {"jmem", AT(jmem), NUMBER, 1 << 30, NULL},
    {"potential", AT(positive), WORD, 0, signs},
    {"self", AT(self), WORD, 0, choices},
    {"k18", AT(k18), WORD, 0, choices + 1},
    {"host", AT(host), WORD, 0, hosts},
    {"deal", AT(deal), WORD, 0, deals},
    {"all_devices", AT(all_devices), WORD, 0, choices + 1},
    {"correct_times", AT(correct_times), WORD, 0, choices + 1},
    {"log", AT(level), WORD, 0, levels},
    {"nearest", AT(softened), WORD, 0, distances},
    {"m_flag", AT(m_flag), WORD, 0, choices + 1},
};
enum { KNOWN = sizeof known / sizeof *known };

static int set_text(const setting *s, char *to, size_t size, const char *value, const char *where)
{
    if (strlen(value) >= size)
        return gv_compat_fail(where, "%s: longer than %zu characters", s->name, size - 1);
    memcpy(to, value, strlen(value) + 1);
    return 0;
}

static int set_number(const setting *s, int *to, const char *value, const char *where)
{
    char *end;

    errno = 0;
    const long number = strtol(value, &end, 10);
    if (errno || end == value || *end || number < 1 || number > s->most)
        return gv_compat_fail(where, "%s: '%s' is not a whole number from 1 to %d", s->name, value, s->most);
    *to = (int)number;
    return 0;
}

static int set_word(const setting *s, void *to, const char *value, const char *where)
{
    char all[128] = "";

    for (const word *w = s->of; w->name; w++) {
        if (strcasecmp(w->name, value) == 0) {
            memcpy(to, &w->value, sizeof w->value); /* ints and enums, which are as large */
            return 0;
        }
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", w == s->of ? "" : ", ", w->name);
    }
    return gv_compat_fail(where, "%s: '%s' is none of %s", s->name, value, all);
}

static int set_one(const setting *s, gv_compat_settings *settings, const char *value, const char *where)
{
    void *to = (char *)settings + s->at;

    if (s->type == TEXT)
        return set_text(s, to, sizeof settings->devices, value, where);
    return s->type == NUMBER ? set_number(s, to, value, where) : set_word(s, to, value, where);
}

/* One setting by its name in the file; `where` ("gravel.config:3") begins the line in the log if it is bad. */
static void set(gv_compat_settings *settings, const char *name, const char *value, const char *where)
{
    for (int k = 0; k < KNOWN; k++)
        if (strcasecmp(known[k].name, name) == 0) {
            set_one(&known[k], settings, value, where);
            return;
        }
    gv_compat_fail(where, "there is no setting '%s'", name);
}

/* ------------------------------------------------------------------ files */

static char *trimmed(char *text)
{
    char *end = text + strlen(text);

    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

/* NAME = VALUE, # begins a comment, empty lines */
static void read_line(gv_compat_settings *settings, char *line, const char *where)
{
    line[strcspn(line, "#")] = '\0';
    char *name = trimmed(line), *equals = strchr(name, '=');

    if (!*name)
        return;
    if (!equals) {
        gv_compat_fail(where, "'%s' is not NAME = VALUE", name);
        return;
    }
    *equals = '\0';
    set(settings, trimmed(name), trimmed(equals + 1), where);
}

static void read_file(gv_compat_settings *settings, const char *path, int must)
{
    char *line = NULL, where[600];
    size_t room = 0;
    FILE *file = fopen(path, "r");

    if (!file) {
        if (must)
            gv_compat_fail(path, "cannot be read: %s", strerror(errno));
        return;
    }
    for (int number = 1; getline(&line, &room, file) >= 0; number++) {
        snprintf(where, sizeof where, "%.500s:%d", path, number);
        read_line(settings, line, where);
    }
    if (ferror(file))
        gv_compat_fail(path, "cannot be read: %s", strerror(errno));
    free(line);
    fclose(file);
}

/* Sapporo2's file: how many devices, then the number of each on a line of its own. */
static void read_sapporo(gv_compat_settings *settings)
{
    static const char path[] = "sapporo2.config";
    int count, list[64], n = 0, line = 1;
    FILE *file = fopen(path, "r");

    if (!file)
        return;
    int good = fscanf(file, "%d", &count) == 1 && count <= (int)(sizeof list / sizeof *list);
    for (; good && n < count; n++) {
        line = n + 2;
        good = fscanf(file, "%d", &list[n]) == 1;
    }
    fclose(file);
    if (good)
        gv_compat_name_devices(path, count, list, settings->devices, sizeof settings->devices);
    else
        gv_compat_fail(
            path, "line %d is not a number that fits: a count of at most 64, then as many devices, one a line", line);
}

/* All variables with our prefix, so that a misspelt one does not go unnoticed; empty ones count as not set. */
static void read_environment(gv_compat_settings *settings)
{
    static const char prefix[] = "GRAVEL_COMPAT_";

    for (char **entry = environ; entry && *entry; entry++) {
        const char *const value = strchr(*entry, '=');
        char name[64];
        if (strncmp(*entry, prefix, sizeof prefix - 1) != 0 || !value || !value[1])
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(value - *entry), *entry);
        if (strcmp(name, "GRAVEL_COMPAT_CONFIG") != 0)
            set(settings, name + sizeof prefix - 1, value + 1, name);
    }
}

void gv_compat_read_settings(gv_compat_settings *settings)
{
    const char *path = getenv("GRAVEL_COMPAT_CONFIG");

    gv_compat_set_level((gv_compat_level)settings->level);
    read_file(settings, path && *path ? path : "gravel.config", path && *path);
    read_environment(settings);
    if (!settings->devices[0])
        read_sapporo(settings);
    gv_compat_set_level((gv_compat_level)settings->level);
}
