/* One option parser for all subcommands.  A command is a table: options with kind, default, environment and help; the
 * help text, the checks and the "did you mean" come from the table.
 *
 * Values land in the command's own struct at `offset`:
 *   FLAG int (0/1)   INT int   SIZE size_t   SEED uint64_t   REAL, SECONDS double
 *   TEXT, OUT const char * (NULL: not given)
 *   CHOICE int, index into value "sp|ds|dp"   CHOICES unsigned, bit per index of "2|4|6" (list "2,6" or "all")
 *   SIZES gv_size_list   RANGE gv_range
 */
#ifndef GV_OPTIONS_H
#define GV_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

typedef enum gv_opt_kind {
    GV_OPT_FLAG,
    GV_OPT_INT,
    GV_OPT_SIZE, /* 1024, 1e6, 128k (k, M, G: 1000, 1e6, 1e9), 128Ki (Ki, Mi, Gi: 1024, 1048576, 2^30) */
    GV_OPT_SEED,
    GV_OPT_REAL,
    GV_OPT_SECONDS, /* 90, 90s, 5m, 1h */
    GV_OPT_TEXT,
    GV_OPT_IN,  /* a file that the command reads */
    GV_OPT_OUT, /* a file that the command writes, - is standard output: checked before the command begins */
    GV_OPT_CHOICE,
    GV_OPT_CHOICES,
    GV_OPT_SIZES, /* 1,16,256,128Ki */
    GV_OPT_RANGE  /* FIRST:COUNT; "FIRST:" is all from there */
} gv_opt_kind;

enum { GV_MAX_LIST = 64, GV_MAX_OPTIONS = 128 };

typedef struct gv_size_list {
    int n;
    size_t value[GV_MAX_LIST];
} gv_size_list;

typedef struct gv_range {
    size_t first, count; /* count SIZE_MAX: all that follow */
} gv_range;

typedef struct gv_opt {
    const char *name; /* "device"; NULL ends the table */
    char letter;      /* 'n', or 0 */
    gv_opt_kind kind;
    size_t offset;
    const char *value;       /* shown in the help: "FILE"; the choices for CHOICE and CHOICES */
    const char *help;        /* lines separated by \n */
    const char *fallback;    /* default, as it would be typed; NULL: the struct keeps zero; "-1" outside the limits
                              * stands for "not given" and is not shown */
    const char *environment; /* read where the option is not given; NULL: none */
    double low, high;        /* limits of numbers; both 0: none */
    int required;
} gv_opt;

typedef struct gv_operands {
    int n;
    char **value;
} gv_operands;

typedef struct gv_command {
    const char *name;     /* "force"; NULL ends a table */
    const char *words;    /* in messages, where they say more than the name: "run --cosmology"; NULL: the name */
    const char *summary;  /* one line for the list of commands */
    const char *synopsis; /* after the command's name: "-i IN -o OUT [options]" */
    const char *about;    /* paragraphs of the help; NULL: none */
    const gv_opt *opts;
    const char *examples; /* lines; NULL: none */
    int min_operands, max_operands;
    size_t size;  /* of the struct that opts fill */
    size_t given; /* not 0: offset of GV_MAX_OPTIONS bytes there, 1 for each option that was typed */
    int (*run)(const void *opts, const gv_operands *operands); /* returns the exit code */
    const struct gv_command *sub;                              /* subcommands instead of opts and run; NULL: none */
    int over_ranks;                                            /* 1: may be started by mpirun */
    int may_replace; /* 1: files that it writes may be operands that it has read by then */
} gv_command;

/* Exit codes of the program. */
enum { GV_EXIT_OK = 0, GV_EXIT_FAILURE = 1, GV_EXIT_USAGE = 2, GV_EXIT_INTERRUPTED = 130 }; /* 143 after SIGTERM */

/* Finds the command in the table, parses its options, runs it.  `program` is "gravel"; argv[0] is the first word after
 * it.  Usage errors go to stderr and give GV_EXIT_USAGE. */
int gv_command_dispatch(const char *program, const gv_command *table, int argc, char **argv);

/* Parses argv into `values` (of command->size bytes, set to the defaults first).  Returns 0, or 1 after --help was
 * printed, or -1 after a message on stderr.  Operands are moved to the front of argv. */
int gv_options_parse(const char *full_name, const gv_command *command, int argc, char **argv, void *values,
                     gv_operands *operands);
/* Files of GV_OPT_OUT: each another, none of them an input (GV_OPT_IN, operands), in places that can be written.  A
 * GV_EXIT_..., after a message if not OK. */
int gv_options_check_files(const char *full_name, const gv_command *command, const void *values,
                           const gv_operands *operands);
void gv_options_help(const char *full_name, const gv_command *command);
/* A number whose default is below its limits: it stands for "not given". */
int gv_options_lack_default(const gv_opt *opt);

/* Options that do nothing beside others of the same command. */
typedef struct gv_no_effect {
    int when;            /* 1: the rule holds */
    const char *options; /* names: "eta4 eta6"; NULL ends a list of rules */
    const char *why;     /* what follows "--eta4 " in the message */
} gv_no_effect;
/* 0, or -1 after a message about the first option of the command that was typed and does nothing.  The command has
 * `given`; `typed` is its struct. */
int gv_options_check_effect(const char *full_name, const gv_command *command, const void *typed,
                            const gv_no_effect *rules);

/* The nearest of the names (at most two edits away, or a name that begins with `word`); NULL: none. */
const char *gv_nearest_name(const char *word, const char *(*name_at)(const void *table, int i), const void *table);

/* "0.3,0.5": how many numbers, each from low to high; -1: the text is something else, or has more than `most`. */
int gv_parse_reals(const char *text, double low, double high, double *value, int most);

/* For commands that take options from files, too: defaults into `values`; one option from text, whose place messages
 * call `source`, "--device" or "GRAVEL_DEVICE": what the user can change; 0, or -1 after a message. */
int gv_options_defaults(const char *full_name, const gv_command *command, void *values);
int gv_options_set(const char *full_name, const gv_opt *opt, const char *source, const char *text, void *values);
/* Bytes of an option's value. */
size_t gv_option_size(gv_opt_kind kind);

#endif
