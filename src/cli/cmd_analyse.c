/* gravel analyse: power spectrum and friends of friends of a box. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "host/base/clock.h"
#include "sim/cosmo_analyse.h"
#include "sim/snapshot.h"

#define COMMAND "gravel analyse"

typedef struct analyse_options {
    const char *spectrum, *massfunction, *groups;
    int cells, least, json;
    double linking;
} analyse_options;

#define AT(member) .offset = offsetof(analyse_options, member)
#define FILE_OUT(option, at, text)                                                                                     \
    {                                                                                                                  \
        .name = option, .kind = GV_OPT_OUT, AT(at), .value = "FILE", .help = text                                      \
    }

static const gv_opt opts[] = {
    FILE_OUT("spectrum", spectrum, "write the power spectrum"),
    FILE_OUT("massfunction", massfunction, "write the mass function of friends of friends"),
    FILE_OUT("groups", groups, "write all groups: mass, centre, velocity"),
    {.name = "mesh",
     .kind = GV_OPT_INT,
     AT(cells),
     .value = "N",
     .help = "points of a side for the spectrum; 0: two for each body\nalong it",
     .fallback = "0",
     .low = 0,
     .high = 1e9},
    {.name = "linking",
     .kind = GV_OPT_REAL,
     AT(linking),
     .value = "B",
     .help = "linking length in mean distances of bodies",
     .fallback = "0.2",
     .low = -INFINITY,
     .high = INFINITY},
    {.name = "least",
     .kind = GV_OPT_INT,
     AT(least),
     .value = "N",
     .help = "bodies of the smallest group",
     .fallback = "32",
     .low = 1,
     .high = INT32_MAX},
    GV_OPT_JSON(analyse_options),
    {.name = NULL},
};

static gravel_status spectrum(const analyse_options *o, const gv_particles *p, cJSON *root)
{
    gv_spectrum s;
    gravel_status status = gv_spectrum_make(&s, p, o->cells);
    if (status)
        return status;
    if (o->spectrum)
        status = gv_spectrum_write(&s, p, o->spectrum);
    cJSON *item = cJSON_AddObjectToObject(root, "spectrum");
    cJSON_AddNumberToObject(item, "mesh", s.cells);
    gv_json_number(item, "shot_noise", s.shot);
    cJSON *k = cJSON_AddArrayToObject(item, "k"), *power = cJSON_AddArrayToObject(item, "power");
    for (size_t i = 0; i < s.count; i++) {
        cJSON_AddItemToArray(k, cJSON_CreateNumber(s.k[i]));
        cJSON_AddItemToArray(power, cJSON_CreateNumber(s.power[i] - s.shot));
    }
    gv_spectrum_free(&s);
    return status;
}

static gravel_status groups(const analyse_options *o, const gv_particles *p, cJSON *root)
{
    gv_groups g;
    gravel_status status = gv_groups_find(&g, p, o->linking, (size_t)o->least);
    if (status)
        return status;
    if (o->massfunction)
        status = gv_mass_function_write(&g, o->linking, (size_t)o->least, p, o->massfunction);
    if (!status && o->groups)
        status = gv_groups_write(&g, p, o->groups);
    double bodies = 0;
    for (size_t k = 0; k < g.count; k++)
        bodies += (double)g.group[k].bodies;
    cJSON *item = cJSON_AddObjectToObject(root, "groups");
    cJSON_AddNumberToObject(item, "count", (double)g.count);
    gv_json_number(item, "linking_length", g.linking);
    gv_json_number(item, "share_of_bodies", bodies / (double)p->count);
    gv_json_number(item, "largest_mass_msun_h", g.count ? g.group[0].mass * p->units.mass_g / GV_G_PER_MSUN : 0);
    cJSON_AddNumberToObject(item, "largest_bodies", g.count ? (double)g.group[0].bodies : 0);
    gv_groups_free(&g);
    return status;
}

static double number_of(const cJSON *root, const char *part, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(root, part), name)->valuedouble;
}

static void print(const gv_particles *p, const cJSON *root)
{
    gv_print("redshift %.6g, %zu bodies, box %.6g Mpc/h\n", 1 / p->time - 1, p->count,
             p->box.side * p->units.length_cm / (1e3 * GV_CM_PER_KPC));
    gv_print("spectrum: mesh %.0f, shot noise %.4g (Mpc/h)^3\n", number_of(root, "spectrum", "mesh"),
             number_of(root, "spectrum", "shot_noise"));
    gv_print("groups: %.0f, with %.3g %% of all bodies; the largest has %.4g Msun/h (%.0f bodies)\n",
             number_of(root, "groups", "count"), 100 * number_of(root, "groups", "share_of_bodies"),
             number_of(root, "groups", "largest_mass_msun_h"), number_of(root, "groups", "largest_bodies"));
}

static int run(const void *values, const gv_operands *operands)
{
    const analyse_options *o = values;
    gv_particles p = GV_PARTICLES_INIT;
    gv_read_options reading = GV_READ_OPTIONS_INIT;
    cJSON *root = cJSON_CreateObject();
    reading.comoving = 1;
    gv_signals_catch(0.7, "gravel analyse: stopped; an earlier file is kept\n");
    gravel_status status = gv_snapshot_read(&p, operands->value[0], &reading);
    if (!status && !(p.box.side > 0))
        status = gv_fail(GRAVEL_ERR_INPUT,
                         "%s: no cosmology in it: a box is needed whose Header has BoxSize and Omega0 above 0",
                         operands->value[0]);
    const int reads = status != GRAVEL_OK;
    gv_json_stamp(root);
    if (!status) {
        gv_json_number(root, "redshift", 1 / p.time - 1);
        cJSON_AddNumberToObject(root, "bodies", (double)p.count);
        status = spectrum(o, &p, root);
    }
    if (!status)
        status = groups(o, &p, root);
    if (!status && !o->json)
        print(&p, root);
    else if (!status)
        status = gv_json_write(cJSON_Duplicate(root, 1), NULL);
    cJSON_Delete(root);
    gv_particles_free(&p);
    return !status ? GV_EXIT_OK : reads ? gv_cli_fail(COMMAND, status) : gv_cli_fail_writing(COMMAND, status);
}

const gv_command gv_cmd_analyse = {.name = "analyse",
                                   .summary = "power spectrum and groups of a box",
                                   .synopsis = "FILE [--spectrum FILE] [--massfunction FILE] [--groups FILE] [options]",
                                   .about = "Of a snapshot with its cosmology. The spectrum has the window of the mesh "
                                            "and the shot noise taken out; groups\n"
                                            "are friends of friends in the periodic box (doc/cosmology.md).",
                                   .opts = opts,
                                   .examples =
                                       "gravel analyse box/snapshot_0002.hdf5 --spectrum p.txt --massfunction n.txt\n"
                                       "gravel analyse box/snapshot_0002.hdf5 --groups groups.txt --least 20 --json\n",
                                   .min_operands = 1,
                                   .max_operands = 1,
                                   .size = sizeof(analyse_options),
                                   .run = run};
