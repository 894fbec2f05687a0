/* What both kinds of `gravel run`, of any bodies and of a box with --cosmology, do alike. */
#ifndef GV_RUN_JOB_H
#define GV_RUN_JOB_H

#include "cli/cli.h"
#include "sim/checkpoint.h"

#define GV_RUN "gravel run"

/* ---------------------------------------------------------------- options */

/* Rows of both tables; type: the struct of the values. */
#define GV_RUN_OPT_TEXT(type, option, member, shown, text)                                                             \
    {                                                                                                                  \
        .name = option, .kind = GV_OPT_TEXT, .offset = offsetof(type, member), .value = shown, .help = text            \
    }
#define GV_RUN_OPT_INPUT(type, text)                                                                                   \
    {                                                                                                                  \
        .name = "input", .letter = 'i', .kind = GV_OPT_TEXT, .offset = offsetof(type, in), .value = "IC", .help = text \
    }
#define GV_RUN_OPT_OUTPUT(type)                                                                                        \
    {                                                                                                                  \
        .name = "output", .letter = 'o', .kind = GV_OPT_TEXT, .offset = offsetof(type, out), .value = "DIR",           \
        .help = "a new folder, or an empty one"                                                                        \
    }
#define GV_RUN_OPT_TREE(type, usual_mac)                                                                               \
    {.name = "theta",                                                                                                  \
     .letter = 't',                                                                                                    \
     .kind = GV_OPT_REAL,                                                                                              \
     .offset = offsetof(type, theta),                                                                                  \
     .value = "T",                                                                                                     \
     .help = "tree: opening angle; smaller is more exact and slower",                                                  \
     .fallback = "0.5",                                                                                                \
     .low = GRAVEL_TREE_THETA_MIN,                                                                                     \
     .high = GRAVEL_TREE_THETA_MAX},                                                                                   \
        {.name = "mac",                                                                                                \
         .kind = GV_OPT_CHOICE,                                                                                        \
         .offset = offsetof(type, mac),                                                                                \
         .value = "relative|last|geometric",                                                                           \
         .help = "tree: how theta decides which cells are opened",                                                     \
         .fallback = usual_mac},                                                                                       \
    {                                                                                                                  \
        .name = "softening", .kind = GV_OPT_CHOICE, .offset = offsetof(type, softening), .value = "plummer|spline",    \
        .help = "tree: kind of softening", .fallback = "plummer"                                                       \
    }
#define GV_RUN_OPT_CONFIGURATION(type)                                                                                 \
    GV_RUN_OPT_TEXT(type, "configuration", configuration, "TEXT",                                                      \
                    "tunables of solver or tree by hand: \"threads=128 split=2\"")
#define GV_RUN_OPT_CHECKPOINTS(type)                                                                                   \
    {                                                                                                                  \
        .name = "checkpoint-every", .kind = GV_OPT_SECONDS, .offset = offsetof(type, checkpoint_every),                \
        .value = "WALL", .help = "wall time between checkpoints: 90s, 10m, 1h", .fallback = "600"                      \
    }
/* of the command, not of the run: gv_run_is_of_command */
#define GV_RUN_OPT_COMMAND(type, resume_help)                                                                          \
    GV_RUN_OPT_TEXT(type, "file", file, "RUN.json", "options from a file; those on the command line win"),             \
        {.name = "example",                                                                                            \
         .kind = GV_OPT_FLAG,                                                                                          \
         .offset = offsetof(type, example),                                                                            \
         .help = "print a run file with all options and what they mean"},                                              \
        GV_RUN_OPT_TEXT(type, "resume", resume, "DIR", resume_help),                                                   \
        GV_RUN_OPT_TEXT(type, "allow", allow, "WHAT",                                                                  \
                        "resume although this is another than it was: version,\ndevice, profile, joined by commas; "   \
                        "bits may differ then"),                                                                       \
    {                                                                                                                  \
        .name = "replace", .kind = GV_OPT_FLAG, .offset = offsetof(type, replace),                                     \
        .help = "remove the files of an earlier run in DIR"                                                            \
    }

/* Options of one kind of run: keys of its run files are their names with '_' for '-'. */
typedef struct gv_run_table {
    const gv_opt *opts;
    const char *command; /* "gravel run --cosmology" */
    const struct gv_run_sample {
        const char *name, *value;
    } *sample; /* what --example shows in place of defaults; ends with a name NULL */
} gv_run_table;
extern const gv_run_table gv_run_of_bodies, gv_run_of_box;

/* 1: belongs to the command, not to the run. */
int gv_run_is_of_command(const gv_opt *opt);
/* Values that were typed go over others. */
void gv_run_overlay(const gv_opt *opts, void *to, const void *typed, const unsigned char *given);
/* 0, or -1 after a message: one was typed that cannot be changed in a run that goes on; may: those that can, with
 * commas around each. */
int gv_run_check_typed(const gv_opt *opts, const unsigned char *given, const char *may);
/* Whether an option was typed. */
int gv_run_is_given(const gv_opt *opts, const unsigned char *given, const char *name);
/* As gv_run_check_typed: --step-min of a run that goes on is not above the one `before`: bodies have such steps. */
int gv_run_check_step_min(double typed, double before);

/* run_file.c.  0, or -1 after a message.  Texts of the file are kept until the process ends. */
int gv_run_read_file(const gv_run_table *table, const char *path, void *values);
/* The options of a run as they stand in run.json, or in a checkpoint's record. */
int gv_run_read_record(const gv_run_table *table, const char *path, const char *text, void *values, cJSON **record);
cJSON *gv_run_options_json(const gv_run_table *table, const void *values);
void gv_run_print_example(const gv_run_table *table, FILE *stream);

/* ---------------------------------------------------------------- progress */

typedef struct gv_run_progress {
    double begun, shown;
    int visible;
} gv_run_progress;

/* 1: after two seconds on a terminal, five times a second: the line is begun. */
int gv_run_progress_due(gv_run_progress *p);
void gv_run_progress_clear(const gv_run_progress *p);
void gv_run_format_left(double seconds, char *text, size_t size);

/* ------------------------------------------------------------------ record */

/* Where particles came from: file, digest, how many.  "-" is a pipe. */
gravel_status gv_run_input_json(cJSON *record, const char *in, size_t bodies);
/* The file of a record's input, NULL after a message: it is no longer what it was, or was a pipe. */
const char *gv_run_find_input(const cJSON *record, const char *folder);
/* Before particles are read and the device works: whether a run can have its folder, and with `replace` whether the
 * particles' file does not lie there, since the files of the run before are removed. */
gravel_status gv_run_check_folder(const char *in, const char *out, int replace);
/* run.json; *text becomes what was written. */
gravel_status gv_run_write_record(const char *folder, const cJSON *record, char **text);
/* The record of a folder's checkpoint, which is read too, or that of run.json where there is none yet (has_checkpoint
 * 0); NULL after a message. */
char *gv_run_read_record_text(const char *folder, gv_checkpoint *checkpoint, int *has_checkpoint);
/* Wall time by what it went into. */
void gv_run_add_clocks(cJSON *summary, const gv_run_position *at);

/* Exit code after a message.  `writing`: ERR_FILE on the way to outputs is a failure, not a misuse. */
int gv_run_fail(gravel_status status, int writing);
/* The same for a run that had begun, with what helps where a step became too short. */
int gv_run_fail_on_the_way(const gv_run_output *folder, gravel_status status);
/* The outcome of a run from the beginning: what failed before it had begun leaves no folder.  Returns `code`. */
int gv_run_began(const gv_run_output *folder, int code);

/* run_record.c: what decides the bits beside the options: program, device, profiles. */
cJSON *gv_run_identity(gravel_context *context);
/* 0, or -1 after a message that names what differs and is not in `allow` ("device,version,profile"). */
int gv_run_compare_identity(const cJSON *then, gravel_context *context, const char *allow);
int gv_run_allows(const char *allow, const char *name); /* "device" is in the list */
int gv_run_check_allow(const char *allow);              /* 0, or -1 after a message about a word that is none */
cJSON *gv_run_device_json(const gravel_device_info *device);
/* Device time by kernel, where --timing asked for it: to stdout; into the summary. */
gravel_status gv_run_print_times(gravel_context *context);
/* Digest of a file, 64 hexadecimal digits. */
gravel_status gv_run_digest(const char *path, char text[65]);

#endif
