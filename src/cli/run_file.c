/* Run files: the options of gravel run as JSON, with comments. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run_job.h"
#include "host/base/files.h"

enum { LARGEST = 1 << 20 };

/* -------------------------------------------------------------------- keys */

/* "step-max" as "step_max" */
static void key_of(const gv_opt *opt, char *key, size_t size)
{
    snprintf(key, size, "%s", opt->name);
    for (char *c = key; *c; c++)
        *c = *c == '-' ? '_' : *c;
}

typedef struct keys {
    char name[GV_MAX_OPTIONS][32];
    const gv_opt *opt[GV_MAX_OPTIONS];
    int n;
} keys;

static void list_keys(keys *k, const gv_opt *opts)
{
    k->n = 0;
    for (const gv_opt *opt = opts; opt->name; opt++) {
        if (gv_run_is_of_command(opt))
            continue;
        key_of(opt, k->name[k->n], sizeof k->name[0]);
        k->opt[k->n++] = opt;
    }
}

static const char *key_at(const void *table, int i)
{
    const keys *k = table;
    return i < k->n ? k->name[i] : NULL;
}

/* ----------------------------------------------------------------- reading */

/* Comments become blanks: lines keep their numbers. */
static void blank_comments(char *text)
{
    int inside = 0;
    for (char *c = text; *c; c++) {
        if (inside && *c == '\\' && c[1]) {
            c++;
        } else if (*c == '"') {
            inside = !inside;
        } else if (!inside && c[0] == '/' && c[1] == '/') {
            while (c[1] && c[0] != '\n')
                *c++ = ' ';
            if (*c != '\n')
                *c = ' ';
        } else if (!inside && c[0] == '/' && c[1] == '*') {
            const char *end = strstr(c + 2, "*/");
            for (const char *stop = end ? end + 2 : c + strlen(c); c < stop; c++)
                *c = *c == '\n' ? '\n' : ' ';
            c--;
        }
    }
}

static int line_of(const char *text, const char *at)
{
    int line = 1;
    for (const char *c = text; at && *c && c < at; c++)
        line += *c == '\n';
    return line;
}

static cJSON *parse(const char *path, char *text)
{
    const char *end = NULL;
    blank_comments(text);
    cJSON *root = cJSON_ParseWithOpts(text, &end, 1);
    if (!root)
        gv_say(GV_RUN, "%s: line %d is not as JSON should be", path, line_of(text, end));
    else if (!cJSON_IsObject(root))
        gv_say(GV_RUN, "%s: not an object { \"key\": value, ... }", path);
    if (cJSON_IsObject(root))
        return root;
    cJSON_Delete(root);
    return NULL;
}

/* Texts live as long as the process: options point to them. */
static const char *keep(const char *text)
{
    static char *kept[GV_MAX_OPTIONS];
    static int n;
    for (int k = 0; k < n; k++)
        if (strcmp(kept[k], text) == 0)
            return kept[k];
    if (n == GV_MAX_OPTIONS || !(kept[n] = strdup(text)))
        return NULL;
    return kept[n++];
}

static int set_value(const char *path, const gv_opt *opt, const cJSON *item, void *values)
{
    char source[256], number[32];
    const char *text = number;
    snprintf(source, sizeof source, "%s: %s", path, item->string);
    const int flag = opt->kind == GV_OPT_FLAG, words = opt->kind == GV_OPT_TEXT;
    if (cJSON_IsNull(item))
        return 0;
    if (flag ? !cJSON_IsBool(item) : words ? !cJSON_IsString(item) : !cJSON_IsString(item) && !cJSON_IsNumber(item)) {
        gv_say(GV_RUN, "%s must be %s", source,
               flag    ? "true or false"
               : words ? "a text in quotes"
                       : "a number or a text");
        return -1;
    }
    if (cJSON_IsBool(item))
        snprintf(number, sizeof number, "%d", cJSON_IsTrue(item));
    else if (cJSON_IsNumber(item))
        snprintf(number, sizeof number, "%.17g", item->valuedouble);
    else
        text = keep(item->valuestring);
    if (!text) {
        gv_say(GV_RUN, "%s: no memory", source);
        return -1;
    }
    return gv_options_set(GV_RUN, opt, source, text, values);
}

static int take(const gv_run_table *table, const char *path, const cJSON *object, void *values)
{
    keys k;
    list_keys(&k, table->opts);
    for (const cJSON *item = object->child; item; item = item->next) {
        int found = 0;
        while (found < k.n && strcmp(k.name[found], item->string) != 0)
            found++;
        if (found == k.n) {
            const char *near = gv_nearest_name(item->string, key_at, &k);
            if (near)
                gv_say(GV_RUN, "%s: unknown key '%s'; did you mean '%s'?", path, item->string, near);
            else
                gv_say(GV_RUN, "%s: unknown key '%s'; '%s --example' shows all keys", path, item->string,
                       table->command);
            return -1;
        }
        if (set_value(path, k.opt[found], item, values) != 0)
            return -1;
    }
    return 0;
}

int gv_run_read_file(const gv_run_table *table, const char *path, void *values)
{
    char *text;
    if (gv_file_read(path, LARGEST, &text, NULL)) {
        gv_say(GV_RUN, "%s", gravel_error_message());
        return -1;
    }
    cJSON *root = parse(path, text);
    /* a run.json of an earlier run is a run file, too */
    const cJSON *inner = root ? cJSON_GetObjectItemCaseSensitive(root, "options") : NULL;
    const int code = root ? take(table, path, cJSON_IsObject(inner) ? inner : root, values) : -1;
    cJSON_Delete(root);
    free(text);
    return code;
}

int gv_run_read_record(const gv_run_table *table, const char *path, const char *text, void *values, cJSON **record)
{
    cJSON *root = cJSON_Parse(text);
    const cJSON *options = root ? cJSON_GetObjectItemCaseSensitive(root, "options") : NULL;
    *record = NULL;
    if (!cJSON_IsObject(options)) {
        gv_say(GV_RUN, "%s does not say with what options the run was made: damaged", path);
        cJSON_Delete(root);
        return -1;
    }
    if (take(table, path, options, values) != 0) {
        cJSON_Delete(root);
        return -1;
    }
    *record = root;
    return 0;
}

/* ----------------------------------------------------------------- writing */

/* Choice number `index` of "a|b|c". */
static cJSON *choice_json(const char *choices, int index)
{
    char word[32];
    const char *c = choices;
    for (; index > 0 && c; index--)
        c = strchr(c, '|') ? strchr(c, '|') + 1 : NULL;
    if (index < 0 || !c)
        return cJSON_CreateNull();
    snprintf(word, sizeof word, "%.*s", (int)strcspn(c, "|"), c);
    return cJSON_CreateString(word);
}

/* With as many digits as give back the same bits; cJSON itself writes fewer. */
static cJSON *real_json(double value)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return isfinite(value) ? cJSON_CreateRaw(text) : cJSON_CreateNull();
}

static cJSON *value_json(const gv_opt *opt, const void *values)
{
    const void *at = (const char *)values + opt->offset;
    switch (opt->kind) {
    case GV_OPT_FLAG:
        return cJSON_CreateBool(*(const int *)at);
    case GV_OPT_INT:
        return cJSON_CreateNumber(*(const int *)at);
    case GV_OPT_SIZE:
        return cJSON_CreateNumber((double)*(const size_t *)at);
    case GV_OPT_CHOICE:
        return choice_json(opt->value, *(const int *)at);
    case GV_OPT_TEXT:
        return *(const char *const *)at ? cJSON_CreateString(*(const char *const *)at) : cJSON_CreateNull();
    default: /* below the least: it was not given */
        return *(const double *)at < opt->low ? cJSON_CreateNull() : real_json(*(const double *)at);
    }
}

cJSON *gv_run_options_json(const gv_run_table *table, const void *values)
{
    keys k;
    cJSON *root = cJSON_CreateObject();
    list_keys(&k, table->opts);
    for (int i = 0; i < k.n; i++)
        cJSON_AddItemToObject(root, k.name[i], value_json(k.opt[i], values));
    return root;
}

/* What the example shows where there is no default, or none of the option's range. */
static const char *example_of(const gv_run_table *table, const gv_opt *opt)
{
    for (const struct gv_run_sample *s = table->sample; s->name; s++)
        if (strcmp(opt->name, s->name) == 0)
            return s->value;
    return gv_options_lack_default(opt) ? "null" : NULL;
}

void gv_run_print_example(const gv_run_table *table, FILE *stream)
{
    keys k;
    list_keys(&k, table->opts);
    fprintf(stream, "// %s --file RUN.json; options on the command line win over this file.\n{\n", table->command);
    for (int i = 0; i < k.n; i++) {
        const gv_opt *opt = k.opt[i];
        const char *value = example_of(table, opt), *mark = i + 1 < k.n ? "," : "";
        for (const char *line = opt->help; line;) {
            const int n = (int)strcspn(line, "\n");
            fprintf(stream, "  // %.*s\n", n, line);
            line = line[n] ? line + n + 1 : NULL;
        }
        if (opt->kind == GV_OPT_CHOICE)
            fprintf(stream, "  // one of %s\n", opt->value);
        if (value)
            fprintf(stream, "  \"%s\": %s%s\n", k.name[i], value, mark);
        else if (opt->kind == GV_OPT_FLAG)
            fprintf(stream, "  \"%s\": false%s\n", k.name[i], mark);
        else if (!opt->fallback)
            fprintf(stream, "  \"%s\": null%s\n", k.name[i], mark);
        else
            fprintf(stream,
                    opt->kind == GV_OPT_CHOICE || opt->kind == GV_OPT_TEXT ? "  \"%s\": \"%s\"%s\n"
                                                                           : "  \"%s\": %s%s\n",
                    k.name[i], opt->fallback, mark);
    }
    fputs("}\n", stream);
}
