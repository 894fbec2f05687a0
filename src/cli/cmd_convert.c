/* gravel convert: particle files from one format, or one system of units, into another. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/particle_file.h"
#include "sim/diagnostics_table.h"

#define COMMAND "gravel convert"

typedef struct convert_options {
    const char *in, *out;
    int units, to_units, renumber, files; /* to_units -1: as they are */
    double unit_mass, unit_length;
} convert_options;

static gravel_status change_units(gv_particles *p, const convert_options *opts)
{
    if (opts->to_units >= 0)
        return gv_cli_convert_units(p, opts->to_units, opts->unit_mass, opts->unit_length, "--to-units");
    if (opts->unit_mass > 0.0 || opts->unit_length > 0.0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "--unit-mass and --unit-length need --to-units kpc or pc");
    return GRAVEL_OK;
}

static int convert_diagnostics(const convert_options *opts)
{
    gv_diagnostics_table table;
    if (opts->to_units >= 0 || opts->unit_mass > 0.0 || opts->unit_length > 0.0 || opts->renumber)
        return gv_cli_fail(COMMAND,
                           gv_fail(GRAVEL_ERR_ARGUMENT, "%s: a table of diagnostics becomes HDF5 as it is", opts->in));
    gravel_status status = gv_diagnostics_read(&table, opts->in);
    if (status)
        return gv_cli_fail(COMMAND, status);
    status = gv_diagnostics_write_hdf5(&table, opts->out);
    gv_diagnostics_free(&table);
    return status ? gv_cli_fail_writing(COMMAND, status) : GV_EXIT_OK;
}

/* IN by its name alone, as `gravel force` and `gravel info` take it. */
static int choose_input(convert_options *opts, const gv_operands *operands)
{
    if (operands->n > 0 && opts->in) {
        gv_say(COMMAND, "-i %s and %s: one file of particles, not two", opts->in, operands->value[0]);
        return GV_EXIT_USAGE;
    }
    if (operands->n > 0)
        opts->in = operands->value[0];
    if (opts->in)
        return GV_EXIT_OK;
    gv_say(COMMAND, "a file is missing: 'gravel convert FILE -o OUT'; 'gravel convert --help' tells more");
    return GV_EXIT_USAGE;
}

static int run(const void *values, const gv_operands *operands)
{
    convert_options chosen = *(const convert_options *)values;
    const convert_options *opts = &chosen;
    gv_read_options reading = GV_READ_OPTIONS_INIT;
    gv_particles particles;
    if (choose_input(&chosen, operands) != GV_EXIT_OK)
        return GV_EXIT_USAGE;
    if (opts->files > 1 && access(opts->out, F_OK) == 0) {
        gv_say(COMMAND, "%s exists, and who reads that name would get it and not its parts: remove it, or name another",
               opts->out);
        return GV_EXIT_USAGE;
    }
    if (gv_snapshot_is_hdf5_name(opts->out) && gv_diagnostics_is_table(opts->in))
        return convert_diagnostics(opts);
    reading.text_units = gv_cli_units(opts->units);
    reading.renumber = opts->renumber;
    reading.comoving = gv_snapshot_is_hdf5_name(opts->out) && opts->to_units != 0 ? 2 : 0;
    gravel_status status = gv_snapshot_read(&particles, opts->in, &reading);
    if (!status)
        status = gv_particles_check(&particles, opts->in);
    if (!status)
        status = change_units(&particles, opts);
    if (status) {
        const int code = gv_cli_fail(COMMAND, status);
        gv_particles_free(&particles);
        return code;
    }
    status = gv_snapshot_write_parts(&particles, opts->out, opts->files);
    gv_particles_free(&particles);
    if (!status)
        return GV_EXIT_OK;
    const int code = gv_cli_fail(COMMAND, status);
    return status == GRAVEL_ERR_FILE ? GV_EXIT_FAILURE : code;
}

static const gv_opt opts_table[] = {
    {.name = "input",
     .letter = 'i',
     .kind = GV_OPT_IN,
     .offset = offsetof(convert_options, in),
     .value = "IN",
     .help = "particles, text or HDF5; - is standard input (text)"},
    {.name = "output",
     .letter = 'o',
     .kind = GV_OPT_OUT,
     .offset = offsetof(convert_options, out),
     .value = "OUT",
     .help = "where to: a name in .hdf5 or .h5 gives HDF5, any other\ntext; - is standard output",
     .required = 1},
    GV_OPT_TEXT_UNITS(convert_options),
    {.name = "to-units",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(convert_options, to_units),
     .value = "nbody|kpc|pc",
     .help = "of OUT, if text (HDF5 is in kpc, 1e10 Msun, km/s, or in\nN-body units); default: those of IN",
     .fallback = "-1"},
    GV_OPT_UNIT_SCALES(convert_options),
    {.name = "files",
     .kind = GV_OPT_INT,
     .offset = offsetof(convert_options, files),
     .value = "K",
     .help = "HDF5 in K files: OUT.hdf5 gives OUT.0.hdf5 and so on",
     .fallback = "1",
     .low = 1,
     .high = 65536},
    {.name = "renumber",
     .kind = GV_OPT_FLAG,
     .offset = offsetof(convert_options, renumber),
     .help = "ids become 0, 1, ... in the order of the file"},
    {.name = NULL},
};

const gv_command gv_cmd_convert = {
    .name = "convert",
    .summary = "particles from text to HDF5 and back, and into other units",
    .synopsis = "[-i] IN -o OUT [options]",
    .about = "Of a snapshot in several HDF5 files (name.0.hdf5 ...) any name, or name.hdf5, reads all.\n"
             "A cosmological box stays one in HDF5; as text, or in N-body units, its bodies are made physical.\n"
             "Nothing is written if IN holds what a simulation cannot use: NaN, masses below zero, an id twice or -1.\n"
             "The diagnostics.txt of a run becomes HDF5 as well: group Diagnostics, a dataset a column.",
    .opts = opts_table,
    .examples = "gravel convert plummer.txt -o plummer.hdf5\n"
                "gravel convert -i plummer.txt -o cluster.hdf5 --to-units pc --unit-mass 1e5 --unit-length 2\n"
                "gravel convert -i snapshot_0007.hdf5 -o - --to-units kpc\n"
                "gravel convert big.hdf5 -o parts.hdf5 --files 8; gravel convert parts.hdf5 -o one.hdf5\n"
                "gravel convert -i run/diagnostics.txt -o diagnostics.hdf5\n",
    .max_operands = 1,
    .size = sizeof(convert_options),
    .run = run,
};
