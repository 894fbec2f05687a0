/* Options of gravel run --cosmology, and what they set. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_cosmo.h"

#define AT(member) .offset = offsetof(gv_cosmo_options, member)
#define TEXT(option, at, shown, text) GV_RUN_OPT_TEXT(gv_cosmo_options, option, at, shown, text)
#define REAL(option, at, shown, text, usual, least, most)                                                              \
    {                                                                                                                  \
        .name = option, .kind = GV_OPT_REAL, AT(at), .value = shown, .help = text, .fallback = usual, .low = least,    \
        .high = most                                                                                                   \
    }
#define CHOICE(option, at, choices, text, usual)                                                                       \
    {                                                                                                                  \
        .name = option, .kind = GV_OPT_CHOICE, AT(at), .value = choices, .help = text, .fallback = usual               \
    }
#define FLAG(option, at, text)                                                                                         \
    {                                                                                                                  \
        .name = option, .kind = GV_OPT_FLAG, AT(at), .help = text                                                      \
    }

const gv_opt gv_cosmo_opts[] = {
    FLAG("cosmology", cosmology, "this kind of run"),
    GV_RUN_OPT_INPUT(gv_cosmo_options,
                     "a box in HDF5 with its cosmology, as gravel ic cosmo\nmakes it; a snapshot of a run is one, too"),
    GV_RUN_OPT_OUTPUT(gv_cosmo_options),
    {.name = "until",
     .kind = GV_OPT_TEXT,
     AT(until),
     .value = "Z",
     .help = "redshift at the end: 0 or z=0, or the scale factor: a=1",
     .fallback = "0"},
    TEXT("redshifts", redshifts, "LIST", "snapshots at these redshifts, beside that at the end:\n10,3,1"),
    {.name = "mesh",
     .kind = GV_OPT_INT,
     AT(cells),
     .value = "N",
     .help = "cells of a side; 0: two for each body along it",
     .fallback = "0",
     .low = 0,
     .high = 1e9},
    REAL("split", split, "R", "where the force is split between mesh and tree, in cells", "1.25", -INFINITY, INFINITY),
    REAL("cut", cut, "R", "where the tree's part ends, in lengths of --split", "5", -INFINITY, INFINITY),
    FLAG("interlaced", interlaced, "two meshes half a cell apart: smaller errors"),
    CHOICE("precision", precision, "sp|ds|dp", "of forces; bodies are kept in dp with dp, else in ds", "sp"),
    GV_RUN_OPT_TREE(gv_cosmo_options, "relative"),
    REAL("eps", eps, "E", "softening, comoving, in the units of IC (default 0.04 of\nthe mean distance of bodies)",
         "-1", 0, INFINITY),
    CHOICE("steps", steps, "block|shared", "each body has its own step, or all have the smallest", "block"),
    REAL("eta", eta, "E", "steps are sqrt(eta eps / |acceleration|)", "0.05", 0, INFINITY),
    REAL("step-max", step_max, "H", "longest step in ln a, a power of two", "0.015625", -INFINITY, INFINITY),
    REAL("step-min", step_min, "H", "shortest step in ln a, a power of two", "5.9604644775390625e-8", -INFINITY,
         INFINITY),
    REAL("mesh-step", mesh_step, "H",
         "step of the mesh's forces in ln a, a power of two from\n--step-max (which it is by default) on; 0: they are "
         "found\nat each block",
         "-1", 0, INFINITY),
    GV_RUN_OPT_CONFIGURATION(gv_cosmo_options),
    GV_RUN_OPT_CHECKPOINTS(gv_cosmo_options),
    FLAG("no-analysis", no_analysis, "no spectrum and mass function beside snapshots"),
    FLAG("timing", timing, "time kernels by stage, for summary.json; a little slower"),
    GV_OPT_DEVICE(gv_cosmo_options),
    GV_OPT_NO_FP64(gv_cosmo_options),
    GV_RUN_OPT_COMMAND(gv_cosmo_options, "go on from the last checkpoint; --step-min may be a\nsmaller one"),
    GV_OPT_VERBOSE(gv_cosmo_options),
    {.name = NULL},
};

static const struct gv_run_sample sample[] = {
    {"input", "\"ic.hdf5\""}, {"output", "\"box\""}, {"redshifts", "\"3,1\""}, {NULL, NULL}};

const gv_run_table gv_run_of_box = {gv_cosmo_opts, "gravel run --cosmology", sample};

/* ----------------------------------------------------------------- settings */

/* "3", "z=3" or "a=0.25" as a scale factor. */
static gravel_status read_redshift(const char *option, const char *text, size_t length, double *a)
{
    char word[64], *end;
    const int is_a = length > 2 && strncmp(text, "a=", 2) == 0,
              named = is_a || (length > 2 && strncmp(text, "z=", 2) == 0);
    snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), text);
    const char *number = word + (named ? 2 : 0);
    const double value = strtod(number, &end);
    *a = is_a ? value : 1 / (1 + value);
    if (end == number || *end != '\0' || !(*a > 0) || !isfinite(*a))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s %s: a redshift (0, z=0) or a scale factor (a=1) is needed", option,
                       word);
    return GRAVEL_OK;
}

static int rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static gravel_status read_redshifts(const gv_cosmo_options *o, gv_cosmo_settings *s)
{
    gravel_status status = read_redshift("--until", o->until, strlen(o->until), &s->until);
    for (const char *c = o->redshifts; c && *c && !status;) {
        const size_t length = strcspn(c, ",");
        if (s->outputs == GV_COSMO_OUTPUTS - 1)
            return gv_fail(GRAVEL_ERR_ARGUMENT, "--redshifts: at most %d", GV_COSMO_OUTPUTS - 1);
        status = read_redshift("--redshifts", c, length, &s->output[s->outputs++]);
        c += length + (c[length] == ',');
    }
    if (status)
        return status;
    qsort(s->output, (size_t)s->outputs, sizeof s->output[0], rising);
    if (s->outputs == 0 || s->output[s->outputs - 1] != s->until)
        s->output[s->outputs++] = s->until;
    return GRAVEL_OK;
}

gravel_status gv_cosmo_settings_of(const gv_cosmo_options *o, const gv_particles *p, gv_cosmo_settings *s)
{
    *s = (gv_cosmo_settings){.precision = (gravel_precision)o->precision,
                             .cells = o->cells,
                             .interlaced = o->interlaced,
                             .split = o->split,
                             .cut = o->cut,
                             .theta = o->theta,
                             .mac = (gravel_tree_mac)o->mac,
                             .softening = (gravel_softening)o->softening,
                             .eps = o->eps,
                             .eta = o->eta,
                             .step_max = o->step_max,
                             .step_min = o->step_min,
                             .mesh_step = o->mesh_step < 0 ? o->step_max : o->mesh_step,
                             .shared = o->steps,
                             .configuration = o->configuration,
                             .checkpoint_every = o->checkpoint_every,
                             .timed = o->timing};
    if (o->eps < 0)
        s->eps = GV_COSMO_SOFTENING * p->box.side / cbrt((double)p->count);
    return read_redshifts(o, s);
}
