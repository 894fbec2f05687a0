/* Options that name files which the command writes: looked at before it works, not after. */
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/ranks.h"
#include "host/base/files.h"
#include "sim/out_file.h"

/* NULL: the option names no file of this kind. */
static const char *file_of(const gv_opt *opt, gv_opt_kind kind, const void *values)
{
    return opt->kind == kind ? *(const char *const *)((const char *)values + opt->offset) : NULL;
}

static int same_place(const char *a, const char *b)
{
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
        return strcmp(a, b) == 0;
    return gv_same_file(a, b);
}

/* Standard input and standard output are two places. */
static int is_input(const char *path, const gv_command *command, const void *values, const gv_operands *operands)
{
    if (strcmp(path, "-") == 0)
        return 0;
    for (const gv_opt *opt = command->opts; opt && opt->name; opt++) {
        const char *in = file_of(opt, GV_OPT_IN, values);
        if (in && strcmp(in, "-") != 0 && gv_same_file(in, path))
            return 1;
    }
    for (int k = 0; k < operands->n && !command->may_replace; k++)
        if (strcmp(operands->value[k], "-") != 0 && gv_same_file(operands->value[k], path))
            return 1;
    return 0;
}

int gv_options_check_files(const char *full_name, const gv_command *command, const void *values,
                           const gv_operands *operands)
{
    for (const gv_opt *opt = command->opts; opt && opt->name; opt++) {
        const char *path = file_of(opt, GV_OPT_OUT, values);
        if (!path)
            continue;
        if (is_input(path, command, values, operands)) {
            gv_say(full_name, "--%s: %s is the input", opt->name, path);
            return GV_EXIT_USAGE;
        }
        for (const gv_opt *other = command->opts; other != opt; other++) {
            const char *first = file_of(other, GV_OPT_OUT, values);
            if (first && same_place(first, path)) {
                gv_say(full_name, "--%s and --%s: both would be written to %s; name two files", other->name, opt->name,
                       strcmp(path, "-") == 0 ? "standard output" : path);
                return GV_EXIT_USAGE;
            }
        }
        /* of several ranks only the first one writes, and others may have other disks */
        if (gv_ranks_started() == 1 && gv_out_check(path) != GRAVEL_OK)
            return gv_cli_fail_writing(full_name, GRAVEL_ERR_FILE);
    }
    return GV_EXIT_OK;
}
