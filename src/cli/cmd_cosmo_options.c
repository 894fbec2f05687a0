/* Options of gravel run --cosmology, their checks, and how they are kept in run.json. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_cosmo.h"

#define AT(member) .offset = offsetof(gv_cosmo_options, member)
#define TEXT(option, at, shown, text, usual)                                                                           \
    {                                                                                                                  \
        .name = option, .kind = GV_OPT_TEXT, AT(at), .value = shown, .help = text, .fallback = usual                   \
    }
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
    {.name = "input",
     .letter = 'i',
     .kind = GV_OPT_TEXT,
     AT(in),
     .value = "IC",
     .help = "a box in HDF5 with its cosmology, as gravel ic cosmo\nmakes it; a snapshot of a run is one, too"},
    {.name = "output",
     .letter = 'o',
     .kind = GV_OPT_TEXT,
     AT(out),
     .value = "DIR",
     .help = "a new folder, or an empty one"},
    TEXT("until", until, "Z", "redshift at the end: 0 or z=0, or the scale factor: a=1", "0"),
    TEXT("redshifts", redshifts, "LIST", "snapshots at these redshifts, beside that at the end:\n10,3,1", NULL),
    {.name = "mesh",
     .kind = GV_OPT_INT,
     AT(cells),
     .value = "N",
     .help = "cells of a side; 0: two for each body along it",
     .fallback = "0",
     .low = 0,
     .high = 1e9},
    REAL("split", split, "R", "where the force is split between mesh and tree, in cells", "1.25", -INFINITY, INFINITY),
    REAL("cut", cut, "R", "where the tree's part ends, in lengths of --split", "6", -INFINITY, INFINITY),
    FLAG("interlaced", interlaced, "two meshes half a cell apart: smaller errors"),
    CHOICE("precision", precision, "sp|ds|dp", "of forces; bodies are kept in dp with dp, else in ds", "sp"),
    REAL("theta", theta, "T", "opening angle of the tree", "0.5", GRAVEL_TREE_THETA_MIN, GRAVEL_TREE_THETA_MAX),
    CHOICE("mac", mac, "relative|last|geometric", "its opening criterion", "relative"),
    REAL("eps", eps, "E", "softening, comoving, in the units of IC (default 0.04 of\nthe mean distance of bodies)",
         "-1", 0, INFINITY),
    CHOICE("softening", softening, "plummer|spline", "its kind", "plummer"),
    CHOICE("steps", steps, "block|shared", "each body has its own step, or all have the smallest", "block"),
    REAL("eta", eta, "E", "steps are sqrt(eta eps / |acceleration|)", "0.05", 0, INFINITY),
    REAL("step-max", step_max, "H", "longest step in ln a, a power of two", "0.015625", -INFINITY, INFINITY),
    REAL("step-min", step_min, "H", "shortest step in ln a, a power of two", "5.9604644775390625e-8", -INFINITY,
         INFINITY),
    TEXT("configuration", configuration, "TEXT", "tunables of the tree by hand", NULL),
    {.name = "checkpoint-every",
     .kind = GV_OPT_SECONDS,
     AT(checkpoint_every),
     .value = "WALL",
     .help = "wall time between checkpoints: 90s, 10m, 1h",
     .fallback = "600"},
    FLAG("no-analysis", no_analysis, "no spectrum and mass function beside snapshots"),
    FLAG("timing", timing, "time kernels by stage, for summary.json; a little slower"),
    GV_OPT_DEVICE(gv_cosmo_options),
    TEXT("resume", resume, "DIR", "go on from the last checkpoint", NULL),
    TEXT("allow", allow, "WHAT",
         "resume although this is another than it was: version,\ndevice, profile, joined by commas; bits may differ "
         "then",
         NULL),
    FLAG("replace", replace, "remove the files of an earlier run in DIR"),
    GV_OPT_VERBOSE(gv_cosmo_options),
    {.name = NULL},
};

int gv_cosmo_is_of_command(const gv_opt *opt)
{
    static const char *const name[] = {"cosmology", "resume", "allow", "replace", "verbose"};
    for (size_t k = 0; k < sizeof name / sizeof name[0]; k++)
        if (strcmp(opt->name, name[k]) == 0)
            return 1;
    return 0;
}

/* ------------------------------------------------------------------ records */

/* The name of choice number `index` of "sp|ds|dp". */
static void choice_name(const char *choices, int index, char *text, size_t size)
{
    for (; index > 0 && choices; index--)
        choices = strchr(choices, '|') ? strchr(choices, '|') + 1 : NULL;
    snprintf(text, size, "%.*s", choices ? (int)strcspn(choices, "|") : 0, choices ? choices : "");
}

cJSON *gv_cosmo_options_json(const gv_cosmo_options *opts)
{
    cJSON *root = cJSON_CreateObject();
    for (const gv_opt *opt = gv_cosmo_opts; opt->name; opt++) {
        const void *at = (const char *)opts + opt->offset;
        char text[64];
        if (gv_cosmo_is_of_command(opt))
            continue;
        switch (opt->kind) {
        case GV_OPT_FLAG:
            cJSON_AddBoolToObject(root, opt->name, *(const int *)at);
            break;
        case GV_OPT_INT:
            cJSON_AddNumberToObject(root, opt->name, *(const int *)at);
            break;
        case GV_OPT_CHOICE:
            choice_name(opt->value, *(const int *)at, text, sizeof text);
            cJSON_AddStringToObject(root, opt->name, text);
            break;
        case GV_OPT_TEXT:
            if (*(const char *const *)at)
                cJSON_AddStringToObject(root, opt->name, *(const char *const *)at);
            break;
        default:
            gv_json_number(root, opt->name, *(const double *)at);
        }
    }
    return root;
}

/* Texts stay with the record. */
int gv_cosmo_options_read(const cJSON *json, gv_cosmo_options *opts)
{
    for (const gv_opt *opt = gv_cosmo_opts; opt->name; opt++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, opt->name);
        void *at = (char *)opts + opt->offset;
        if (!item || gv_cosmo_is_of_command(opt))
            continue;
        if (opt->kind == GV_OPT_FLAG)
            *(int *)at = cJSON_IsTrue(item);
        else if (opt->kind == GV_OPT_INT && cJSON_IsNumber(item))
            *(int *)at = item->valueint;
        else if (opt->kind == GV_OPT_TEXT && cJSON_IsString(item))
            *(const char **)at = item->valuestring;
        else if ((opt->kind == GV_OPT_REAL || opt->kind == GV_OPT_SECONDS) && cJSON_IsNumber(item))
            *(double *)at = item->valuedouble;
        else if (!cJSON_IsString(item) || gv_options_set(GV_RUN, opt, "the record of the run", item->valuestring, opts))
            return -1;
    }
    return 0;
}

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
                             .shared = o->steps,
                             .configuration = o->configuration,
                             .checkpoint_every = o->checkpoint_every,
                             .timed = o->timing};
    if (o->eps < 0)
        s->eps = GV_COSMO_SOFTENING * p->box.side / cbrt((double)p->count);
    return read_redshifts(o, s);
}
