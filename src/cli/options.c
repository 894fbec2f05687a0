#include "cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ranks.h"
#include "cli/say.h"

/* ------------------------------------------------------------ nearest name */

/* Edit distance with neighbouring letters swapped counting as one; names longer than the table are never near. */
static int edit_distance(const char *a, const char *b)
{
    enum { LIMIT = 40 };
    int d[LIMIT + 1][LIMIT + 1];
    const int n = (int)strlen(a), m = (int)strlen(b);
    if (n > LIMIT || m > LIMIT)
        return LIMIT;
    for (int i = 0; i <= n; i++) {
        for (int j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            best = d[i - 1][j] + 1 < best ? d[i - 1][j] + 1 : best;
            best = d[i][j - 1] + 1 < best ? d[i][j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    }
    return d[n][m];
}

const char *gv_nearest_name(const char *word, const char *(*name_at)(const void *table, int i), const void *table)
{
    const char *best = NULL;
    int best_distance = strlen(word) > 4 ? 3 : 2; /* first distance that is too far */
    for (int i = 0; name_at(table, i) != NULL; i++) {
        const char *name = name_at(table, i);
        int distance = edit_distance(word, name);
        if (strlen(word) >= 2 && strncmp(word, name, strlen(word)) == 0)
            distance = 1;
        if (distance < best_distance) {
            best_distance = distance;
            best = name;
        }
    }
    return best;
}

static const char *option_at(const void *table, int i)
{
    return ((const gv_opt *)table)[i].name;
}

static const char *command_at(const void *table, int i)
{
    return ((const gv_command *)table)[i].name;
}

/* ---------------------------------------------------------------- parsing */

static const gv_opt *find_option(const gv_opt *opts, const char *name, size_t length, char letter)
{
    for (; opts != NULL && opts->name != NULL; opts++)
        if (letter ? opts->letter == letter : strlen(opts->name) == length && strncmp(opts->name, name, length) == 0)
            return opts;
    return NULL;
}

static int unknown_option(const char *full_name, const gv_command *command, const char *argument)
{
    char word[64];
    const char *near = NULL;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(argument, "="), argument);
    if (argument[1] == '-' && command->opts != NULL)
        near = gv_nearest_name(word + 2, option_at, command->opts);
    if (near != NULL)
        gv_say(full_name, "unknown option %s; did you mean --%s?", word, near);
    else
        gv_say(full_name, "unknown option %s; '%s --help' lists the options", word, full_name);
    return -1;
}

int gv_options_lack_default(const gv_opt *opt)
{
    return opt->kind == GV_OPT_REAL && opt->fallback && atof(opt->fallback) < opt->low;
}

enum { BY_ENVIRONMENT = 1, TYPED = 2 };

static int set_defaults(const char *full_name, const gv_command *command, void *values, unsigned char *given)
{
    memset(values, 0, command->size);
    for (int i = 0; command->opts != NULL && command->opts[i].name != NULL; i++) {
        const gv_opt *opt = &command->opts[i];
        const char *text = opt->environment != NULL ? getenv(opt->environment) : NULL;
        if (text != NULL && text[0] != '\0') {
            given[i] = BY_ENVIRONMENT;
            if (gv_options_set(full_name, opt, opt->environment, text, values) != 0)
                return -1;
        } else if (opt->fallback != NULL && gv_options_set(full_name, opt, "the default", opt->fallback, values) != 0) {
            return -1;
        }
    }
    return 0;
}

int gv_options_defaults(const char *full_name, const gv_command *command, void *values)
{
    unsigned char given[GV_MAX_OPTIONS] = {0};
    return set_defaults(full_name, command, values, given);
}

/* One argument that begins with '-'.  Returns how many words it took, or -1. */
static int take_option(const char *full_name, const gv_command *command, char **argv, void *values,
                       unsigned char *given)
{
    const char *word = argv[0];
    const int is_long = word[1] == '-';
    const size_t length = is_long ? strcspn(word + 2, "=") : 1;
    const gv_opt *opt = find_option(command->opts, word + 2, length, is_long ? 0 : word[1]);
    if (opt == NULL || (!is_long && opt->kind == GV_OPT_FLAG && word[2] != '\0'))
        return unknown_option(full_name, command, word);
    char source[72];
    snprintf(source, sizeof source, "%.*s", is_long ? (int)(length + 2) : 2, word);
    given[opt - command->opts] = TYPED;
    const char *attached = is_long ? (word[2 + length] == '=' ? word + 3 + length : NULL) : (word[2] ? word + 2 : NULL);
    if (opt->kind == GV_OPT_FLAG) {
        if (attached != NULL) {
            gv_say(full_name, "%s takes no value", source);
            return -1;
        }
        *(int *)((char *)values + opt->offset) = 1;
        return 1;
    }
    const char *text = attached != NULL ? attached : argv[1];
    if (text == NULL || (attached == NULL && strncmp(text, "--", 2) == 0)) {
        gv_say(full_name, "%s needs a value: %s", source, opt->value);
        return -1;
    }
    if (text[0] == '\0' && (opt->kind == GV_OPT_TEXT || opt->kind == GV_OPT_IN ||
                            opt->kind == GV_OPT_OUT)) { /* an unset variable of a shell, most often */
        gv_say(full_name, "%s is empty; it needs a value: %s", source, opt->value);
        return -1;
    }
    return gv_options_set(full_name, opt, source, text, values) != 0 ? -1 : attached != NULL ? 1 : 2;
}

static int check_complete(const char *full_name, const gv_command *command, const unsigned char *given,
                          const gv_operands *operands)
{
    for (int i = 0; command->opts != NULL && command->opts[i].name != NULL; i++) {
        const gv_opt *opt = &command->opts[i];
        if (opt->required && !given[i]) {
            gv_say(full_name, "%s%s%s %s is missing (%.*s); '%s --help' tells more",
                   opt->letter ? (char[]){'-', opt->letter, '\0'} : "", opt->letter ? ", --" : "--", opt->name,
                   opt->value, (int)strcspn(opt->help, "\n"), opt->help, full_name);
            return -1;
        }
    }
    if (operands->n > command->max_operands) {
        gv_say(full_name, "'%s' is not understood; usage: %s %s", operands->value[command->max_operands], full_name,
               command->synopsis);
        return -1;
    }
    if (operands->n < command->min_operands) {
        gv_say(full_name, "an argument is missing; usage: %s %s", full_name, command->synopsis);
        return -1;
    }
    return 0;
}

int gv_options_parse(const char *full_name, const gv_command *command, int argc, char **argv, void *values,
                     gv_operands *operands)
{
    unsigned char given[GV_MAX_OPTIONS] = {0};
    int options_end = 0;
    operands->n = 0;
    operands->value = argv;
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            gv_options_help(full_name, command);
            return 1;
        }
    }
    if (set_defaults(full_name, command, values, given) != 0)
        return -1;
    for (int i = 0; i < argc;) {
        if (options_end || argv[i][0] != '-' || argv[i][1] == '\0') {
            operands->value[operands->n++] = argv[i++];
        } else if (strcmp(argv[i], "--") == 0) {
            options_end = 1;
            i++;
        } else {
            const int used = take_option(full_name, command, argv + i, values, given);
            if (used < 0)
                return -1;
            i += used;
        }
    }
    for (int k = 0; command->given && k < GV_MAX_OPTIONS; k++)
        ((unsigned char *)values + command->given)[k] = given[k] == TYPED;
    return check_complete(full_name, command, given, operands);
}

static int is_among(const char *name, const char *names)
{
    const size_t length = strlen(name);
    while (*names != '\0') {
        const size_t n = strcspn(names, " ");
        if (n == length && strncmp(names, name, n) == 0)
            return 1;
        names += n + (names[n] == ' ');
    }
    return 0;
}

int gv_options_check_effect(const char *full_name, const gv_command *command, const void *typed,
                            const gv_no_effect *rules)
{
    const unsigned char *given = (const unsigned char *)typed + command->given;
    for (const gv_opt *opt = command->opts; opt->name != NULL; opt++, given++)
        for (const gv_no_effect *rule = rules; *given && rule->options != NULL; rule++)
            if (rule->when && is_among(opt->name, rule->options)) {
                gv_say(full_name, "%s%s %s", opt->name[1] == '\0' ? "-" : "--", opt->name, rule->why);
                return -1;
            }
    return 0;
}

/* --------------------------------------------------------------- dispatch */

static int list_commands(const char *program, const gv_command *table, FILE *stream)
{
    int width = 9;
    for (const gv_command *c = table; c->name != NULL; c++)
        if (c->summary != NULL && (int)strlen(c->name) > width)
            width = (int)strlen(c->name);
    fprintf(stream, "usage: %s COMMAND [options]\n\n", program);
    for (const gv_command *c = table; c->name != NULL; c++)
        if (c->summary != NULL)
            fprintf(stream, "  %-*s  %s\n", width, c->name, c->summary);
    fprintf(stream, "\n'%s COMMAND --help' describes one of them.\n", program);
    return stream == stdout ? GV_EXIT_OK : GV_EXIT_USAGE;
}

int gv_command_dispatch(const char *program, const gv_command *table, int argc, char **argv)
{
    char full_name[128], help[] = "--help";
    if (argc < 1)
        return list_commands(program, table, stderr);
    if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0 || strcmp(argv[0], "help") == 0) {
        if (argc < 2)
            return list_commands(program, table, stdout);
        argv[0] = argv[1]; /* "help force" is "force --help" */
        argv[1] = help;
    }
    const gv_command *command = table;
    while (command->name != NULL && strcmp(command->name, argv[0]) != 0)
        command++;
    if (command->name == NULL) {
        const char *near = gv_nearest_name(argv[0], command_at, table);
        if (near != NULL)
            gv_say(program, "unknown command '%s'; did you mean '%s'?", argv[0], near);
        else
            gv_say(program, "unknown command '%s'\n'%s --help' lists the commands", argv[0], program);
        return GV_EXIT_USAGE;
    }
    snprintf(full_name, sizeof full_name, "%s %s", program, command->words ? command->words : command->name);
    if (command->sub != NULL)
        return gv_command_dispatch(full_name, command->sub, argc - 1, argv + 1);
    if (!command->over_ranks && gv_ranks_started() > 1)
        return gv_ranks_refuse(full_name);
    gv_operands operands;
    void *values = calloc(1, command->size ? command->size : 1);
    if (values == NULL) {
        gv_say(full_name, "out of memory");
        return GV_EXIT_FAILURE;
    }
    const int parsed = gv_options_parse(full_name, command, argc - 1, argv + 1, values, &operands);
    int code = parsed >= 0 ? GV_EXIT_OK : GV_EXIT_USAGE;
    if (parsed == 0)
        code = gv_options_check_files(full_name, command, values, &operands);
    if (parsed == 0 && code == GV_EXIT_OK)
        code = command->run(values, &operands);
    free(values);
    return code;
}
