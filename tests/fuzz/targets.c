#include "fuzz/targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "host/base/files.h"
#include "host/profile/store.h"
#include "sim/blocks_table.h"
#include "sim/diagnostics_table.h"
#include "sim/particle_text.h"
#include "tuner/recording.h"
#include "tuner/tlog.h"

char *gv_fuzz_file(const uint8_t *data, size_t size)
{
    static FILE *file;
    static char path[64];

    if (!file && !(file = tmpfile()))
        abort();
    /* shortened afterwards: a file that is emptied first is forced to the disk by some file systems */
    if (pwrite(fileno(file), data, size, 0) != (ssize_t)size || ftruncate(fileno(file), (off_t)size) != 0)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(file));
    return path;
}

static void read_particles(const uint8_t *data, size_t size)
{
    gv_particles particles;
    const gravel_status status = gv_particles_read_text(&particles, gv_fuzz_file(data, size));

    /* either an error and nothing, or particles with all their columns */
    if ((status == GRAVEL_OK) != (particles.count > 0) || (status == GRAVEL_OK) != (particles.z != NULL))
        abort();
    gv_particles_free(&particles);
}

/* What was accepted is written and read again, and means the same. */
static void read_profile(const uint8_t *data, size_t size)
{
    gv_profile_set set = GV_PROFILE_SET_INIT, again = GV_PROFILE_SET_INIT;
    char *text = NULL, *second = NULL, *copy = malloc(size + 1);

    if (!copy)
        abort();
    memcpy(copy, data, size);
    copy[size] = '\0';
    if (gv_profile_parse("fuzz", copy, size, &set) == GRAVEL_OK) {
        if (gv_profile_print(&set, &text) != GRAVEL_OK ||
            gv_profile_parse("again", text, strlen(text), &again) != GRAVEL_OK ||
            gv_profile_print(&again, &second) != GRAVEL_OK || strcmp(text, second) != 0)
            abort();
    }
    gv_profile_set_free(&set);
    gv_profile_set_free(&again);
    free(copy);
    free(text);
    free(second);
}

static void read_log(const uint8_t *data, size_t size)
{
    gv_tlog log;

    if (gv_tlog_read(gv_fuzz_file(data, size), &log) == GRAVEL_OK)
        gv_tlog_close(&log);
}

static void read_recording(const uint8_t *data, size_t size)
{
    gv_recording recording;
    char *copy = malloc(size + 1);

    if (!copy)
        abort();
    memcpy(copy, data, size);
    copy[size] = '\0';
    if (gv_recording_parse("fuzz", copy, size, &recording) == GRAVEL_OK)
        gv_recording_free(&recording);
    free(copy);
}

/* Diagnostics and block sizes of a run. */
static void read_tables(const uint8_t *data, size_t size)
{
    gv_diagnostics_table table;
    gv_blocks blocks;
    char *path = gv_fuzz_file(data, size);
    const gravel_status status = gv_diagnostics_read(&table, path);

    if ((status == GRAVEL_OK) != gv_diagnostics_is_table(path) && status == GRAVEL_OK)
        abort();
    if (status != GRAVEL_OK && (table.rows > 0 || table.row != NULL))
        abort();
    gv_diagnostics_free(&table);
    gv_blocks_read(&blocks, path);
}

static const gv_command *command_named(const char *name)
{
    return strcmp(name, "tune") == 0    ? &gv_cmd_tune
           : strcmp(name, "ic") == 0    ? &gv_cmd_ic[0]
           : strcmp(name, "bench") == 0 ? &gv_cmd_bench_direct
                                        : &gv_cmd_force;
}

/* A command and its words, one a line. */
static void read_options(const uint8_t *data, size_t size)
{
    enum { WORDS = 64 };
    char *copy = malloc(size + 1), *word[WORDS + 1] = {NULL};
    gv_operands operands;
    int n = 0, help = 0;

    if (!copy)
        abort();
    memcpy(copy, data, size);
    copy[size] = '\0';
    for (char *at = copy; *at != '\0' && n < WORDS;) {
        char *end = at + strcspn(at, "\n");

        word[n++] = at;
        at = *end != '\0' ? end + 1 : end;
        *end = '\0';
        help |= strcmp(word[n - 1], "--help") == 0 || strcmp(word[n - 1], "-h") == 0;
    }
    const gv_command *command = command_named(n > 0 ? word[0] : "");
    void *values = malloc(command->size);
    if (!values)
        abort();
    if (n > 0 && !help)
        gv_options_parse("fuzz", command, n - 1, word + 1, values, &operands);
    free(values);
    free(copy);
}

const gv_fuzz_target gv_fuzz_target_of[GV_FUZZ_TARGETS] = {
    {"particles", read_particles},  {"profile", read_profile},          {"log", read_log},
    {"recording", read_recording},  {"options", read_options},          {"tables", read_tables},
    {"run_file", gv_fuzz_run_file}, {"record", gv_fuzz_record},         {"power", gv_fuzz_power},
    {"machine", gv_fuzz_machine},   {"checkpoint", gv_fuzz_checkpoint},
};
