/* What the subcommands share.  Results go to stdout and nothing else does; messages and progress go to stderr. */
#ifndef GV_CLI_H
#define GV_CLI_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "cli/options.h"
#include "cli/say.h"
#include "cli/signals.h"
#include "cli/waiting.h"
#include "gravel/gravel.h"
#include "host/base/status.h"

/* ------------------------------------------------------------- messages */

/* Prints the thread's gravel_error_message(); returns the exit code that belongs to the status. */
int gv_cli_fail(const char *command, gravel_status status);
/* The same for what fails while something is written: a place that cannot be written to is a failure, not a misuse. */
int gv_cli_fail_writing(const char *command, gravel_status status);
/* GV_EXIT_USAGE for what the user can correct (arguments, input, device), else GV_EXIT_FAILURE. */
int gv_cli_exit_code(gravel_status status);

/* ------------------------------------------------------ common options */

/* Options of several commands, each written once. */
#define GV_OPT_SIZES_OF_N(type, text)                                                                                  \
    {                                                                                                                  \
        .name = "n", .letter = 'n', .kind = GV_OPT_SIZES, .offset = offsetof(type, n), .value = "LIST", .help = text,  \
        .low = 1, .high = INFINITY                                                                                     \
    }
#define GV_OPT_PRECISION(type, text, usual)                                                                            \
    {                                                                                                                  \
        .name = "precision", .letter = 'p', .kind = GV_OPT_CHOICE, .offset = offsetof(type, precision),                \
        .value = "sp|ds|dp", .help = text, .fallback = usual                                                           \
    }
#define GV_OPT_REPEATS(type)                                                                                           \
    {                                                                                                                  \
        .name = "repeats", .kind = GV_OPT_INT, .offset = offsetof(type, repeats), .value = "K",                        \
        .help = "calls timed; without it by the timing rule", .low = 1, .high = GV_TIMING_MOST                         \
    }

#define GV_OPT_DEVICE(type)                                                                                            \
    {                                                                                                                  \
        .name = "device", .letter = 'd', .kind = GV_OPT_TEXT, .offset = offsetof(type, device), .value = "D",          \
        .help = "index, part of a name, or type (gpu, cpu) as in\n'gravel devices'; cpu:4 takes 4 cores",              \
        .environment = "GRAVEL_DEVICE"                                                                                 \
    }
#define GV_OPT_DEVICES(type)                                                                                           \
    {                                                                                                                  \
        .name = "devices", .kind = GV_OPT_TEXT, .offset = offsetof(type, devices), .value = "LIST",                    \
        .help = "several devices, of any platforms: 0,2 or all or\ncpu:2,cpu:2"                                        \
    }
#define GV_OPT_VERBOSE(type)                                                                                           \
    {                                                                                                                  \
        .name = "verbose", .letter = 'v', .kind = GV_OPT_FLAG, .offset = offsetof(type, verbose),                      \
        .help = "log what is compiled, cached and chosen"                                                              \
    }
#define GV_OPT_JSON(type)                                                                                              \
    {                                                                                                                  \
        .name = "json", .kind = GV_OPT_FLAG, .offset = offsetof(type, json),                                           \
        .help = "JSON on standard output, not a table"                                                                 \
    }
#define GV_OPT_NO_FP64(type)                                                                                           \
    {                                                                                                                  \
        .name = "no-fp64", .kind = GV_OPT_FLAG, .offset = offsetof(type, no_fp64),                                     \
        .help = "behave as if the device had no double precision"                                                      \
    }
/* what all benchmarks take */
#define GV_OPT_BENCH(type)                                                                                             \
    {.name = "seed",                                                                                                   \
     .letter = 's',                                                                                                    \
     .kind = GV_OPT_SEED,                                                                                              \
     .offset = offsetof(type, seed),                                                                                   \
     .value = "S",                                                                                                     \
     .help = "of the bodies",                                                                                          \
     .fallback = "1"},                                                                                                 \
        {.name = "output",                                                                                             \
         .letter = 'o',                                                                                                \
         .kind = GV_OPT_OUT,                                                                                           \
         .offset = offsetof(type, out),                                                                                \
         .value = "FILE",                                                                                              \
         .help = "write the JSON to this file, beside the table"},                                                     \
        GV_OPT_JSON(type), GV_OPT_DEVICE(type), GV_OPT_NO_FP64(type), GV_OPT_VERBOSE(type)

/* The log alone, for contexts that the library makes. */
void gv_cli_log(gravel_context_options *options, int verbose);
/* device NULL: the best one.  The log (what is compiled, which profile) goes to stderr with `verbose`; warnings
 * always. */
gravel_status gv_cli_context(gravel_context **context, const char *device, int no_fp64, int verbose);

/* ------------------------------------------------------------- progress */

/* One line on stderr, rewritten; shown only on a terminal and only for what takes longer than two seconds. */
typedef struct gv_progress {
    const char *what; /* "forces" */
    double start, last;
    int shown;
} gv_progress;

void gv_progress_start(gv_progress *progress, const char *what);
void gv_progress_show(gv_progress *progress, double done, double total); /* in any unit; estimate by proportion */
void gv_progress_clear(gv_progress *progress);

/* --------------------------------------------------------------- tables */

/* Rows of text cells, aligned on printing: numbers to the right, words to the left. */
typedef struct gv_table {
    int columns, rows;
    char **cell; /* [rows][columns] */
    int failed;  /* out of memory: printing says so */
} gv_table;

/* headings joined by '|': "variant|speed|verdict" */
void gv_table_start(gv_table *table, const char *headings);
/* the cells of one row, formatted as one text and joined by '|' */
void gv_table_row(gv_table *table, const char *format, ...) GV_PRINTF(2, 3);
void gv_table_print(const gv_table *table, FILE *stream);
void gv_table_free(gv_table *table);

/* ----------------------------------------------------------------- JSON */

/* Writes and frees `root`: to stdout for path NULL or "-", else to the file (whole or not at all). */
gravel_status gv_json_write(cJSON *root, const char *path);
/* Results of a benchmark, freed here: to the file `out` (NULL: none) and, with `json`, to standard output.  *table: 1
 * if a table is to be printed there instead.  Returns the exit code. */
int gv_cli_write_results(const char *command, cJSON *root, const char *out, int json, int *table);
/* Measures one size after another, of the list that was typed or the usual one; a terminal is told which. */
gravel_status gv_cli_bench_sizes(const gv_size_list *typed, gv_size_list usual,
                                 gravel_status (*measure)(void *bench, size_t size), void *bench);
/* The end of a benchmark: says why it came early; `write` is called if there are results.  Returns the exit code. */
int gv_cli_end_bench(const char *command, gravel_status status, int results, int (*write)(const void *bench),
                     const void *bench);
/* The printed text of an object and a line end.  DEL and the C1 controls (two bytes each) are escaped: JSON allows them
 * as they are, but a terminal obeys them.  Bytes of names that are not UTF-8 become U+FFFD: JSON is UTF-8. */
void gv_json_put(const char *text, FILE *stream);
/* Adds a number, or null where it is not finite (JSON has neither NaN nor infinity). */
void gv_json_number(cJSON *object, const char *name, double value);
void gv_json_stamp(cJSON *object); /* gravel version and date (UTC) */
/* What the results of a benchmark begin with: a stamp, its name, and the first device of the context. */
cJSON *gv_json_benchmark(const char *name, const gravel_context *context);

/* Flushes stdout; a full disk behind it is a failure. */
gravel_status gv_cli_flush(void);

extern const gv_command gv_cmd_tune, gv_cmd_profiles[], gv_cmd_plot[], gv_cmd_cluster[];
extern const gv_command gv_cmd_devices, gv_cmd_ic[], gv_cmd_check, gv_cmd_force, gv_cmd_bench_direct, gv_cmd_demo;
extern const gv_command gv_cmd_bench_tree, gv_cmd_bench_step, gv_cmd_bench_transfer, gv_cmd_bench_several;
extern const gv_command gv_cmd_bench_hermite;
extern const gv_command gv_cmd_bench_blocks;
extern const gv_command gv_cmd_bench_leapfrog;
extern const gv_command gv_cmd_bench_periodic;
extern const gv_command gv_cmd_bench_tasks, gv_cmd_bench_requests;
extern const gv_command gv_cmd_info, gv_cmd_convert;
extern const gv_command gv_cmd_run, gv_cmd_run_cosmology, gv_cmd_analyse, gv_cmd_model;

#endif
