#include <stdio.h>
#include <string.h>

#include "cli/options.h"

enum { HELP_COLUMN = 30 };

/* Help lines under one another, the first beside the option. */
static void print_indented(const char *text, int column)
{
    for (const char *line = text;;) {
        const int n = (int)strcspn(line, "\n");
        printf("%*s%.*s\n", column, "", n, line);
        if (line[n] == '\0')
            return;
        line += n + 1;
        column = HELP_COLUMN;
    }
}

static void print_option(const gv_opt *opt)
{
    char left[96];
    int used = opt->letter ? snprintf(left, sizeof left, "  -%c, --%s", opt->letter, opt->name)
                           : snprintf(left, sizeof left, "      --%s", opt->name);
    if (opt->kind != GV_OPT_FLAG && used < (int)sizeof left)
        used += snprintf(left + used, sizeof left - (size_t)used, " %s", opt->value);
    printf("%s", left);
    if (used >= HELP_COLUMN - 1) {
        printf("\n");
        used = 0;
    }
    print_indented(opt->help, HELP_COLUMN - used);
    /* -1: not given; a help text that tells the default itself has words for it */
    if (opt->fallback != NULL && strcmp(opt->fallback, "-1") != 0 && !gv_options_lack_default(opt) &&
        strstr(opt->help, "(default") == NULL)
        printf("%*s(default %s)\n", HELP_COLUMN, "", opt->fallback);
    if (opt->environment != NULL)
        printf("%*s(environment: %s)\n", HELP_COLUMN, "", opt->environment);
}

void gv_options_help(const char *full_name, const gv_command *command)
{
    printf("usage: %s %s\n\n", full_name, command->synopsis);
    if (command->summary != NULL)
        printf("%s\n\n", command->summary);
    if (command->about != NULL)
        printf("%s\n\n", command->about);
    printf("options:\n");
    for (const gv_opt *opt = command->opts; opt != NULL && opt->name != NULL; opt++)
        if (opt->help != NULL) /* without help: an option of the program itself, not of the user */
            print_option(opt);
    printf("%-*s%s\n", HELP_COLUMN, "  -h, --help", "this text");
    if (command->examples != NULL) {
        printf("\nexamples:\n");
        for (const char *line = command->examples; *line != '\0';) {
            const int n = (int)strcspn(line, "\n");
            printf("  %.*s\n", n, line);
            line += n + (line[n] != '\0');
        }
    }
}
