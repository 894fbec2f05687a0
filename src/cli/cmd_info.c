/* gravel info: what a particle file holds. */
#include <math.h>
#include <stdlib.h>

#include "cli/particle_file.h"
#include "cpu_ref/ref.h"
#include "sim/diagnose.h"

#define COMMAND "gravel info"

enum { SHARES = 9, MOST_BINARIES = 100 };
static const double share[SHARES] = {0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0};

typedef struct info_options {
    int units, renumber, json, energies;
    double eps;
    size_t energies_to, binaries;
} info_options;

typedef struct facts {
    const char *path;
    const gv_particles *p;
    gv_totals totals;
    int has_energies;
    gv_energies energies;
    gv_core core;
    double lagrange[SHARES];
    int has_nearest;
    size_t nearest[2];
    double nearest_distance;
    int binaries;
    gv_binary binary[MOST_BINARIES];
} facts;

/* ------------------------------------------------------------------- work */

static gravel_status find_energies(facts *f, double eps)
{
    const gv_particles *p = f->p;
    double *potential = malloc(p->count * sizeof *potential);
    if (!potential)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the potential of %zu particles", p->count);
    const gv_ref_particles all = {.n = p->count, .m = p->m, .id = p->id, .x = p->x, .y = p->y, .z = p->z};
    gv_ref_forces forces = {.pot = potential};
    gravel_status status = GRAVEL_OK;
    if (gv_ref_direct(GV_REF_DOUBLE, 2, &all, &all, eps, NULL, 0, &forces))
        status = gv_fail(GRAVEL_ERR_INTERNAL, "the reference refuses %zu particles", p->count);
    else
        gv_diagnose_energies(p, potential, &f->energies);
    f->has_energies = !status;
    free(potential);
    return status;
}

static gravel_status find_facts(facts *f, const info_options *opts)
{
    gv_surroundings around;
    gv_diagnose_totals(f->p, &f->totals);
    gravel_status status = gv_surroundings_find(f->p, &around);
    if (status)
        return status;
    gv_diagnose_core(f->p, &around, &f->core);
    status = gv_diagnose_nearest(&around, f->nearest, &f->nearest_distance);
    f->has_nearest = f->nearest_distance < INFINITY;
    if (!status)
        status = gv_diagnose_binaries(f->p, &around, (int)opts->binaries, f->binary, &f->binaries);
    gv_surroundings_free(&around);
    if (!status)
        status = gv_diagnose_lagrange(f->p, f->core.centre, share, SHARES, f->lagrange);
    if (!status && (opts->energies || f->p->count <= opts->energies_to))
        status = find_energies(f, opts->eps);
    return status;
}

/* ------------------------------------------------------------------- text */

static void print_vector(const char *what, const double v[3])
{
    printf("%-22s %.6g %.6g %.6g\n", what, v[0], v[1], v[2]);
}

static void print_binaries(const facts *f)
{
    gv_table table;
    if (f->binaries == 0)
        return;
    printf("\nclosest bound pairs\n");
    gv_table_start(&table, "ids||distance|semi-major axis|eccentricity|period");
    for (int k = 0; k < f->binaries; k++) {
        const gv_binary *b = &f->binary[k];
        gv_table_row(&table, "%d|%d|%.4g|%.4g|%.4f|%.4g", (int)f->p->id[b->a], (int)f->p->id[b->b], b->distance,
                     b->semi_major_axis, b->eccentricity, b->period);
    }
    gv_table_print(&table, stdout);
    gv_table_free(&table);
}

static void print_text(const facts *f)
{
    char text[GV_UNITS_TEXT];
    const gv_particles *p = f->p;
    printf("%-22s %zu%s\n", "particles", p->count,
           p->ax   ? ", with accelerations"
           : p->vx ? ""
                   : ", without velocities");
    printf("%-22s %s\n", "units", gv_units_text(&p->units, text));
    printf("%-22s %.9g\n", "time", p->time);
    if (p->period > 0)
        printf("%-22s %.9g a side, periodic; what follows ignores that (gravel analyse does not)\n", "box", p->period);
    printf("%-22s %.9g (%.6g to %.6g a body)\n", "mass", f->totals.mass, f->totals.mass_min, f->totals.mass_max);
    print_vector("centre of mass", f->totals.x);
    print_vector("its velocity", f->totals.v);
    print_vector("angular momentum", f->totals.angular_momentum);
    if (f->has_energies) {
        printf("%-22s %.9g = %.9g kinetic %+.9g potential\n", "energy", f->energies.total, f->energies.kinetic,
               f->energies.potential);
        printf("%-22s %.6g\n", "virial ratio", f->energies.virial_ratio);
    } else {
        printf("%-22s not computed for so many particles; --energies does\n", "energy");
    }
    print_vector("density centre", f->core.centre);
    printf("%-22s %.6g\n%-22s %.6g\n", "core radius", f->core.radius, "core density", f->core.density);
    if (f->has_nearest)
        printf("%-22s ids %d and %d, distance %.6g\n", "nearest pair", (int)p->id[f->nearest[0]],
               (int)p->id[f->nearest[1]], f->nearest_distance);
    printf("\nradii around the density centre that hold a share of the mass\n");
    for (int k = 0; k < SHARES; k++)
        printf("%8.0f %%  %.6g\n", 100.0 * share[k], f->lagrange[k]);
    print_binaries(f);
}

/* ------------------------------------------------------------------- JSON */

static void add_vector(cJSON *root, const char *name, const double v[3])
{
    cJSON_AddItemToObject(root, name, cJSON_CreateDoubleArray(v, 3));
}

static void add_units(cJSON *root, const gv_units *units)
{
    char text[GV_UNITS_TEXT];
    cJSON *list = cJSON_AddObjectToObject(root, "units");
    cJSON_AddStringToObject(list, "name", gv_units_text(units, text));
    cJSON_AddNumberToObject(list, "gravity", gv_units_gravity(units));
    if (gv_units_are_nbody(units))
        return;
    cJSON_AddNumberToObject(list, "length_cm", units->length_cm);
    cJSON_AddNumberToObject(list, "mass_g", units->mass_g);
    cJSON_AddNumberToObject(list, "velocity_cm_per_s", units->velocity_cm_s);
}

static void add_pairs(cJSON *root, const facts *f)
{
    if (f->has_nearest) {
        cJSON *nearest = cJSON_AddObjectToObject(root, "nearest_pair");
        cJSON_AddNumberToObject(nearest, "id_a", f->p->id[f->nearest[0]]);
        cJSON_AddNumberToObject(nearest, "id_b", f->p->id[f->nearest[1]]);
        cJSON_AddNumberToObject(nearest, "distance", f->nearest_distance);
    }
    cJSON *list = cJSON_AddArrayToObject(root, "binaries");
    for (int k = 0; k < f->binaries; k++) {
        const gv_binary *b = &f->binary[k];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddNumberToObject(item, "id_a", f->p->id[b->a]);
        cJSON_AddNumberToObject(item, "id_b", f->p->id[b->b]);
        cJSON_AddNumberToObject(item, "distance", b->distance);
        cJSON_AddNumberToObject(item, "semi_major_axis", b->semi_major_axis);
        cJSON_AddNumberToObject(item, "eccentricity", b->eccentricity);
        cJSON_AddNumberToObject(item, "period", b->period);
        cJSON_AddItemToArray(list, item);
    }
}

static gravel_status print_json(const facts *f)
{
    cJSON *root = cJSON_CreateObject();
    gv_json_stamp(root);
    cJSON_AddStringToObject(root, "file", f->path);
    cJSON_AddNumberToObject(root, "particles", (double)f->p->count);
    cJSON_AddBoolToObject(root, "velocities", f->p->vx != NULL);
    cJSON_AddBoolToObject(root, "accelerations", f->p->ax != NULL);
    add_units(root, &f->p->units);
    cJSON_AddNumberToObject(root, "time", f->p->time);
    if (f->p->period > 0)
        cJSON_AddNumberToObject(root, "box", f->p->period);
    cJSON_AddNumberToObject(root, "mass", f->totals.mass);
    cJSON_AddNumberToObject(root, "mass_min", f->totals.mass_min);
    cJSON_AddNumberToObject(root, "mass_max", f->totals.mass_max);
    add_vector(root, "centre_of_mass", f->totals.x);
    add_vector(root, "velocity", f->totals.v);
    add_vector(root, "angular_momentum", f->totals.angular_momentum);
    if (f->has_energies) {
        gv_json_number(root, "kinetic_energy", f->energies.kinetic);
        gv_json_number(root, "potential_energy", f->energies.potential);
        gv_json_number(root, "energy", f->energies.total);
        gv_json_number(root, "virial_ratio", f->energies.virial_ratio);
    }
    add_vector(root, "density_centre", f->core.centre);
    gv_json_number(root, "core_radius", f->core.radius);
    gv_json_number(root, "core_density", f->core.density);
    cJSON_AddItemToObject(root, "lagrange_shares", cJSON_CreateDoubleArray(share, SHARES));
    cJSON_AddItemToObject(root, "lagrange_radii", cJSON_CreateDoubleArray(f->lagrange, SHARES));
    add_pairs(root, f);
    return gv_json_write(root, NULL);
}

/* ---------------------------------------------------------------- command */

static int run(const void *values, const gv_operands *operands)
{
    const info_options *opts = values;
    gv_read_options reading = GV_READ_OPTIONS_INIT;
    gv_particles particles;
    facts f = {.path = operands->value[0], .p = &particles};
    reading.text_units = gv_cli_units(opts->units);
    reading.renumber = opts->renumber;
    gravel_status status = gv_snapshot_read(&particles, f.path, &reading);
    if (!status)
        status = gv_particles_check(&particles, f.path);
    if (!status)
        status = find_facts(&f, opts);
    const int writing = !status;
    if (!status && opts->json)
        status = print_json(&f);
    else if (!status)
        print_text(&f);
    gv_particles_free(&particles);
    if (!status)
        return GV_EXIT_OK;
    return writing ? gv_cli_fail_writing(COMMAND, status) : gv_cli_fail(COMMAND, status);
}

static const gv_opt opts_table[] = {
    GV_OPT_TEXT_UNITS(info_options),
    {.name = "energies",
     .kind = GV_OPT_FLAG,
     .offset = offsetof(info_options, energies),
     .help = "sum the potential energy over all pairs, however many;\non the CPU, some 4 ns a pair and core"},
    {.name = "energies-up-to",
     .kind = GV_OPT_SIZE,
     .offset = offsetof(info_options, energies_to),
     .value = "N",
     .help = "sum it by default up to N particles",
     .fallback = "16384"},
    {.name = "eps",
     .letter = 'e',
     .kind = GV_OPT_REAL,
     .offset = offsetof(info_options, eps),
     .value = "E",
     .help = "Plummer softening length of the potential",
     .fallback = "0",
     .low = 0,
     .high = INFINITY},
    {.name = "binaries",
     .kind = GV_OPT_SIZE,
     .offset = offsetof(info_options, binaries),
     .value = "K",
     .help = "list the K closest bound pairs",
     .fallback = "5",
     .low = 0,
     .high = MOST_BINARIES},
    {.name = "renumber",
     .kind = GV_OPT_FLAG,
     .offset = offsetof(info_options, renumber),
     .help = "ids become 0, 1, ... in the order of the file"},
    GV_OPT_JSON(info_options),
    {.name = NULL},
};

const gv_command gv_cmd_info = {
    .name = "info",
    .summary = "what a particle file holds: sums, energies, core, radii, binaries",
    .synopsis = "FILE [options]",
    .about =
        "FILE is text or an HDF5 snapshot in GADGET's layout. Numbers are in its units. Core radius and density are\n"
        "those of Casertano and Hut (1985) with the sixth neighbour.",
    .opts = opts_table,
    .examples = "gravel info plummer.txt\n"
                "gravel info snapshot_0007.hdf5 --json\n",
    .min_operands = 1,
    .max_operands = 1,
    .size = sizeof(info_options),
    .run = run,
};
