/* gravel ic: initial conditions as text particles. */
#include <math.h>

#include "cli/cli.h"
#include "sim/ic.h"
#include "sim/particle_text.h"

typedef struct ic_options {
    size_t n;
    uint64_t seed;
    const char *out;
    int units;
    double cut;          /* plummer */
    double virial_ratio; /* uniform */
    double disk_height, disk_q, bulge_mass, halo_mass; /* galaxy */
} ic_options;

static int finish(const char *command, gravel_status status, gv_particles *particles, const char *path)
{
    if (status == GRAVEL_OK) {
        status = gv_particles_write_text(particles, path);
        gv_particles_free(particles);
        if (status == GRAVEL_ERR_FILE) {
            gv_cli_fail(command, status);
            return GV_EXIT_FAILURE;
        }
    }
    return status == GRAVEL_OK ? GV_EXIT_OK : gv_cli_fail(command, status);
}

static int run_plummer(const void *values, const gv_operands *operands)
{
    const ic_options *opts = values;
    gv_ic_plummer_options model = GV_IC_PLUMMER_OPTIONS_INIT;
    gv_particles particles;
    (void)operands;
    model.cut = opts->cut;
    const gravel_status status = gv_ic_plummer(opts->n, opts->seed, &model, &particles);
    return finish("gravel ic plummer", status, &particles, opts->out);
}

static int run_uniform(const void *values, const gv_operands *operands)
{
    const ic_options *opts = values;
    gv_ic_uniform_options model = GV_IC_UNIFORM_OPTIONS_INIT;
    gv_particles particles;
    (void)operands;
    model.virial_ratio = opts->virial_ratio;
    const gravel_status status = gv_ic_uniform(opts->n, opts->seed, &model, &particles);
    return finish("gravel ic uniform", status, &particles, opts->out);
}

static int run_galaxy(const void *values, const gv_operands *operands)
{
    const ic_options *opts = values;
    gv_ic_galaxy_options model = GV_IC_GALAXY_OPTIONS_INIT;
    gv_particles particles;
    (void)operands;
    model.disk_height = opts->disk_height;
    model.disk_q = opts->disk_q;
    model.bulge_mass = opts->bulge_mass;
    model.halo_mass = opts->halo_mass;
    model.bulge_share = opts->bulge_mass > 0 ? model.bulge_share : 0;
    model.halo_share = opts->halo_mass > 0 ? model.halo_share : 0;
    model.standard_units = opts->units == 1;
    const gravel_status status = gv_ic_galaxy(opts->n, opts->seed, &model, &particles);
    return finish("gravel ic galaxy", status, &particles, opts->out);
}

#define IC_COMMON                                                                                                      \
    {.name = "number", .letter = 'n', .kind = GV_OPT_SIZE, .offset = offsetof(ic_options, n), .value = "N",            \
     .help = "how many bodies", .low = 1, .high = INT32_MAX, .required = 1},                                           \
    {.name = "seed", .letter = 's', .kind = GV_OPT_SEED, .offset = offsetof(ic_options, seed), .value = "S",           \
     .help = "of the random numbers; the same seed gives the same\nbodies", .fallback = "1"},                          \
    {.name = "output", .letter = 'o', .kind = GV_OPT_TEXT, .offset = offsetof(ic_options, out), .value = "FILE",       \
     .help = "where to; - is standard output", .fallback = "-"}
#define IC_NBODY_UNITS                                                                                                 \
    {.name = "units", .kind = GV_OPT_CHOICE, .offset = offsetof(ic_options, units), .value = "nbody",                  \
     .help = "nbody: G = 1, M = 1, E = -1/4", .fallback = "nbody"}

static const gv_opt plummer_opts[] = {
    IC_COMMON,
    IC_NBODY_UNITS,
    {.name = "cut", .kind = GV_OPT_REAL, .offset = offsetof(ic_options, cut), .value = "R",
     .help = "cut the sphere at this radius, in scale lengths", .fallback = "38.7", .low = 1e-3, .high = INFINITY},
    {.name = NULL},
};

static const gv_opt uniform_opts[] = {
    IC_COMMON,
    IC_NBODY_UNITS,
    {.name = "virial-ratio", .kind = GV_OPT_REAL, .offset = offsetof(ic_options, virial_ratio), .value = "Q",
     .help = "kinetic over |potential| energy: 0.5 equilibrium, 0 cold", .fallback = "0.5", .low = 0, .high = 0.999},
    {.name = NULL},
};

static const gv_opt galaxy_opts[] = {
    IC_COMMON,
    {.name = "units", .kind = GV_OPT_CHOICE, .offset = offsetof(ic_options, units), .value = "disk|nbody",
     .help = "disk: G = 1, mass and scale length of the disk are 1\nnbody: G = 1, M = 1, E = -1/4 of the whole galaxy",
     .fallback = "disk"},
    {.name = "bulge-mass", .kind = GV_OPT_REAL, .offset = offsetof(ic_options, bulge_mass), .value = "M",
     .help = "in disk masses; 0 leaves it out", .fallback = "0.3", .low = 0, .high = INFINITY},
    {.name = "halo-mass", .kind = GV_OPT_REAL, .offset = offsetof(ic_options, halo_mass), .value = "M",
     .help = "in disk masses; 0 leaves it out", .fallback = "5", .low = 0, .high = INFINITY},
    {.name = "disk-height", .kind = GV_OPT_REAL, .offset = offsetof(ic_options, disk_height), .value = "Z",
     .help = "z0 of sech^2(z / z0), in scale lengths", .fallback = "0.2", .low = 1e-6, .high = INFINITY},
    {.name = "disk-q", .kind = GV_OPT_REAL, .offset = offsetof(ic_options, disk_q), .value = "Q",
     .help = "Toomre's stability number at 2.5 scale lengths", .fallback = "1.5", .low = 1e-6, .high = INFINITY},
    {.name = NULL},
};

const gv_command gv_cmd_ic[] = {
    {.name = "plummer",
     .summary = "a Plummer sphere of equal masses in standard units",
     .synopsis = "-n N [--seed S] [-o FILE]",
     .about = "Written are id m x y z vx vy vz, one body a line. The centre of mass rests at the origin.",
     .opts = plummer_opts,
     .examples = "gravel ic plummer -n 16384 --seed 1 -o plummer.txt\n"
                 "gravel ic plummer -n 1000 | gravel force -i - -o forces.txt\n",
     .size = sizeof(ic_options),
     .run = run_plummer},
    {.name = "uniform",
     .summary = "a homogeneous sphere of equal masses in standard units",
     .synopsis = "-n N [--seed S] [--virial-ratio Q] [-o FILE]",
     .about = "Written are id m x y z vx vy vz, one body a line. The centre of mass rests at the origin.",
     .opts = uniform_opts,
     .examples = "gravel ic uniform -n 10000 --virial-ratio 0 -o cold.txt\n",
     .size = sizeof(ic_options),
     .run = run_uniform},
    {.name = "galaxy",
     .summary = "a rotating disk galaxy: exponential disk, bulge and halo",
     .synopsis = "-n N [--seed S] [-o FILE] [options]",
     .about = "Written are id m x y z vx vy vz, one body a line; the disk's bodies come first, then the bulge's, then\n"
              "the halo's, one to one to four. The disk spins along +z; all is near equilibrium.",
     .opts = galaxy_opts,
     .examples = "gravel ic galaxy -n 60000 -o galaxy.txt\n"
                 "gravel ic galaxy -n 1e6 --halo-mass 10 --disk-q 2 -o stable.txt\n",
     .size = sizeof(ic_options),
     .run = run_galaxy},
    {.name = NULL},
};
