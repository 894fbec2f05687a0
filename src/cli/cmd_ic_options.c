/* gravel ic: options and help of each model. */
#include <math.h>

#include "cli/cmd_ic.h"
#include "cli/cmd_ic_cosmo.h"
#include "cli/particle_file.h"

#define REAL_OPTION(option, member, shown, text, standard, lowest, highest)                                            \
    {                                                                                                                  \
        .name = option, .kind = GV_OPT_REAL, .offset = offsetof(gv_ic_command, member), .value = shown, .help = text,  \
        .fallback = standard, .low = lowest, .high = highest                                                           \
    }
#define UNITS_OPTION(choices, text, standard)                                                                          \
    {                                                                                                                  \
        .name = "units", .kind = GV_OPT_CHOICE, .offset = offsetof(gv_ic_command, units), .value = choices,            \
        .help = text, .fallback = standard                                                                             \
    }
#define OUTPUT_OPTION                                                                                                  \
    {                                                                                                                  \
        .name = "output", .letter = 'o', .kind = GV_OPT_OUT, .offset = offsetof(gv_ic_command, out), .value = "FILE",  \
        .help = "where to: a name in .hdf5 or .h5 gives HDF5, any other\ntext; - is standard output", .fallback = "-"  \
    }
#define COMMON_OPTIONS                                                                                                 \
    {.name = "number",                                                                                                 \
     .letter = 'n',                                                                                                    \
     .kind = GV_OPT_SIZE,                                                                                              \
     .offset = offsetof(gv_ic_command, n),                                                                             \
     .value = "N",                                                                                                     \
     .help = "how many bodies",                                                                                        \
     .low = 1,                                                                                                         \
     .high = INT32_MAX,                                                                                                \
     .required = 1},                                                                                                   \
        {.name = "seed",                                                                                               \
         .letter = 's',                                                                                                \
         .kind = GV_OPT_SEED,                                                                                          \
         .offset = offsetof(gv_ic_command, seed),                                                                      \
         .value = "S",                                                                                                 \
         .help = "of the random numbers; the same seed gives the same\nbodies",                                        \
         .fallback = "1"},                                                                                             \
        OUTPUT_OPTION
#define CLUSTER_UNITS                                                                                                  \
    UNITS_OPTION("nbody|kpc|pc",                                                                                       \
                 "nbody: G = 1, M = 1, E = -1/4; kpc: kpc, Msun, km/s;\npc: pc, Msun, km/s; with --unit-length, and\n" \
                 "--unit-mass unless a mass function sets the mass",                                                   \
                 "nbody"),                                                                                             \
        GV_OPT_UNIT_SCALES(gv_ic_command)
#define ORBIT_UNITS                                                                                                    \
    UNITS_OPTION("nbody|kpc|pc",                                                                                       \
                 "nbody: G = 1; kpc: kpc, Msun, km/s; pc: pc, Msun, km/s, with\n--unit-mass and --unit-length",        \
                 "nbody"),                                                                                             \
        GV_OPT_UNIT_SCALES(gv_ic_command)
#define STAR_OPTIONS                                                                                                   \
    {.name = "masses",                                                                                                 \
     .kind = GV_OPT_CHOICE,                                                                                            \
     .offset = offsetof(gv_ic_command, masses),                                                                        \
     .value = "equal|salpeter|kroupa",                                                                                 \
     .help = "mass function; does not depend on the place",                                                            \
     .fallback = "equal"},                                                                                             \
        REAL_OPTION("mass-low", mass_low, "M", "least mass, Msun (0.1; kroupa 0.08)", "-1", 1e-6, 1e6),                \
        REAL_OPTION("mass-high", mass_high, "M", "largest mass, Msun (100)", "-1", 1e-6, 1e6),                         \
        REAL_OPTION("black-hole", black_hole, "M",                                                                     \
                    "body 0 is a black hole in the centre, of M times the\nmass of all others", "0", 0, 1e6)
#define DISK_OPTIONS                                                                                                   \
    REAL_OPTION("bulge-mass", bulge_mass, "M", "in disk masses; 0 leaves it out", "0.3", 0, INFINITY),                 \
        REAL_OPTION("halo-mass", halo_mass, "M", "in disk masses; 0 leaves it out", "5", 0, INFINITY),                 \
        REAL_OPTION("black-hole", black_hole, "M", "in disk masses: one in the centre, the last body of the\ngalaxy",  \
                    "0", 0, 1e6),                                                                                      \
        REAL_OPTION("disk-height", disk_height, "Z", "z0 of sech^2(z / z0), in scale lengths", "0.2", 1e-6, INFINITY), \
        REAL_OPTION("disk-q", disk_q, "Q", "Toomre's stability number at 2.5 scale lengths", "1.5", 1e-6, INFINITY)

static const gv_opt plummer_opts[] = {
    COMMON_OPTIONS,
    CLUSTER_UNITS,
    STAR_OPTIONS,
    REAL_OPTION("cut", cut, "R", "cut the sphere at this radius, in scale lengths", "38.7", 1e-3, INFINITY),
    {.name = NULL},
};

static const gv_opt king_opts[] = {
    COMMON_OPTIONS,
    CLUSTER_UNITS,
    STAR_OPTIONS,
    REAL_OPTION("w0", w0, "W0", "central potential over sigma^2; 3, 6, 9: concentration\n0.67, 1.26, 2.12", "6", 0.05,
                16),
    {.name = NULL},
};

static const gv_opt hernquist_opts[] = {
    COMMON_OPTIONS,
    CLUSTER_UNITS,
    STAR_OPTIONS,
    REAL_OPTION("cut", cut, "R", "leave out bodies beyond this radius, in scale lengths", "100", 0.1, 1e5),
    {.name = NULL},
};

static const gv_opt uniform_opts[] = {
    COMMON_OPTIONS,
    CLUSTER_UNITS,
    STAR_OPTIONS,
    REAL_OPTION("virial-ratio", virial_ratio, "Q", "kinetic over |potential| energy: 0.5 equilibrium, 0 cold", "0.5", 0,
                0.999),
    {.name = NULL},
};

static const gv_opt galaxy_opts[] = {
    COMMON_OPTIONS,
    UNITS_OPTION(
        "disk|nbody|kpc|pc",
        "disk: G = 1, mass and scale length of the disk are 1\nnbody: G = 1, M = 1, E = -1/4 of the whole "
        "galaxy\nkpc: kpc, Msun, km/s; pc: pc, Msun, km/s: --unit-mass is\nthe disk's, --unit-length its scale",
        "disk"),
    GV_OPT_UNIT_SCALES(gv_ic_command),
    DISK_OPTIONS,
    {.name = NULL},
};

static const gv_opt merger_opts[] = {
    COMMON_OPTIONS,
    UNITS_OPTION(
        "disk|kpc|pc",
        "disk: G = 1, mass and scale length of the first disk are\n1; kpc: kpc, Msun, km/s; pc: pc, Msun, km/s: "
        "--unit-mass\nis that disk's, --unit-length its scale",
        "disk"),
    GV_OPT_UNIT_SCALES(gv_ic_command),
    DISK_OPTIONS,
    REAL_OPTION("mass-ratio", mass_ratio, "Q", "second over first galaxy; its lengths are sqrt(Q) times", "1", 1e-3, 1),
    REAL_OPTION("eccentricity", eccentricity, "E", "of the orbit; 1 is a parabola", "1", 0, 10),
    REAL_OPTION("pericentre", pericentre, "R", "of the orbit, as if of two points, in disk scale lengths", "5", 1e-6,
                1e6),
    REAL_OPTION("separation", separation, "R", "at the start, in disk scale lengths", "40", 1e-6, 1e6),
    REAL_OPTION("inclination-1", inclination[0], "DEG", "of the first disk's spin against the orbit's", "0", -360, 360),
    REAL_OPTION("inclination-2", inclination[1], "DEG", "of the second", "60", -360, 360),
    REAL_OPTION("argument-1", argument[0], "DEG", "of the first disk's node, from the pericentre", "0", -360, 360),
    REAL_OPTION("argument-2", argument[1], "DEG", "of the second", "0", -360, 360),
    {.name = NULL},
};

static const gv_opt twobody_opts[] = {
    OUTPUT_OPTION,
    ORBIT_UNITS,
    REAL_OPTION("mass-ratio", mass_ratio, "Q", "second over first body", "1", 1e-6, 1e6),
    REAL_OPTION("eccentricity", eccentricity, "E", "of the orbit", "0.5", 0, 0.999999),
    REAL_OPTION("semi-major-axis", semi_major_axis, "A", "of the orbit", "1", 1e-30, 1e30),
    {.name = NULL},
};

static const gv_opt figure8_opts[] = {
    OUTPUT_OPTION,
    ORBIT_UNITS,
    {.name = NULL},
};

#define WRITTEN "Written are id m x y z vx vy vz, one body a line. The centre of mass rests at the origin."

const gv_command gv_cmd_ic[] = {
    {.name = "plummer",
     .summary = "a Plummer sphere in standard units",
     .synopsis = "-n N [--seed S] [-o FILE] [options]",
     .about = WRITTEN,
     .opts = plummer_opts,
     .examples = "gravel ic plummer -n 16384 --seed 1 -o plummer.txt\n"
                 "gravel ic plummer -n 1000 | gravel force -i - -o forces.txt\n"
                 "gravel ic plummer -n 1e5 --masses kroupa --units pc --unit-length 1 -o cluster.hdf5\n",
     .size = sizeof(gv_ic_command),
     .run = gv_ic_run_plummer},
    {.name = "king",
     .summary = "a King model: a star cluster with a tidal edge",
     .synopsis = "-n N [--w0 W0] [--seed S] [-o FILE] [options]",
     .about = WRITTEN,
     .opts = king_opts,
     .examples = "gravel ic king -n 16384 --w0 6 -o king.hdf5\n",
     .size = sizeof(gv_ic_command),
     .run = gv_ic_run_king},
    {.name = "hernquist",
     .summary = "a Hernquist sphere: a cusp, as bulges and halos have",
     .synopsis = "-n N [--seed S] [-o FILE] [options]",
     .about = WRITTEN,
     .opts = hernquist_opts,
     .examples = "gravel ic hernquist -n 1e6 -o bulge.hdf5\n"
                 "gravel ic hernquist -n 1e5 --black-hole 0.01 -o nucleus.hdf5\n",
     .size = sizeof(gv_ic_command),
     .run = gv_ic_run_hernquist},
    {.name = "uniform",
     .summary = "a homogeneous sphere, cold or warm, in standard units",
     .synopsis = "-n N [--seed S] [--virial-ratio Q] [-o FILE] [options]",
     .about = WRITTEN,
     .opts = uniform_opts,
     .examples = "gravel ic uniform -n 10000 --virial-ratio 0 -o cold.txt\n",
     .size = sizeof(gv_ic_command),
     .run = gv_ic_run_uniform},
    {.name = "galaxy",
     .summary = "a rotating disk galaxy: exponential disk, bulge and halo",
     .synopsis = "-n N [--seed S] [-o FILE] [options]",
     .about = "Written are id m x y z vx vy vz, one body a line; the disk's bodies come first, then the bulge's, then\n"
              "the halo's, one to one to four. The disk spins along +z; all is near equilibrium.",
     .opts = galaxy_opts,
     .examples = "gravel ic galaxy -n 60000 -o galaxy.txt\n"
                 "gravel ic galaxy -n 1e6 --halo-mass 10 --disk-q 2 --black-hole 0.001 -o stable.hdf5\n"
                 "gravel ic galaxy -n 1e6 --units kpc --unit-mass 5e10 --unit-length 3 -o milky.hdf5\n",
     .size = sizeof(gv_ic_command),
     .run = gv_ic_run_galaxy},
    {.name = "merger",
     .summary = "two disk galaxies on an orbit around each other",
     .synopsis = "-n N [--seed S] [-o FILE] [options]",
     .about =
         "The bodies of both galaxies, shared by mass, those of the first before those of the second. The orbit is\n"
         "that of two points, in the plane z = 0; the galaxies approach. The centre of mass rests at the origin.",
     .opts = merger_opts,
     .examples = "gravel ic merger -n 120000 -o pair.hdf5\n"
                 "gravel ic merger -n 1e6 --mass-ratio 0.3 --eccentricity 0.9 --separation 30 -o minor.hdf5\n",
     .size = sizeof(gv_ic_command),
     .run = gv_ic_run_merger},
    {.name = "twobody",
     .summary = "two bodies at the apocentre of their orbit",
     .synopsis = "[-o FILE] [options]",
     .about = "G = M = 1; the period is 2 pi times the semi-major axis to 3/2. The centre of mass rests at the origin.",
     .opts = twobody_opts,
     .examples = "gravel ic twobody --eccentricity 0.9 -o pair.txt\n",
     .size = sizeof(gv_ic_command),
     .run = gv_ic_run_twobody},
    {.name = "figure8",
     .summary = "three bodies that follow one another on a figure-eight",
     .synopsis = "[-o FILE] [options]",
     .about = "G = 1, three masses of 1; the period is 6.32591398292621.",
     .opts = figure8_opts,
     .examples = "gravel ic figure8 -o eight.txt\n",
     .size = sizeof(gv_ic_command),
     .run = gv_ic_run_figure8},
    {.name = "cosmo",
     .summary = "a box of an expanding universe",
     .synopsis = "-n N -o FILE [--box L] [--redshift Z] [--seed S] [options]",
     .about =
         "Bodies moved off the points of a lattice by the waves of a linear power spectrum. The file is GADGET's\n"
         "(kpc/h, 1e10 Msun/h, km/s) with the cosmology in its header; gravel run --cosmology takes it from there.",
     .opts = gv_ic_cosmo_opts,
     .examples = "gravel ic cosmo -n 64 --box 100 --redshift 49 -o ic.hdf5\n"
                 "gravel ic cosmo -n 128 --box 500 --fixed --paired -o pair.hdf5\n"
                 "gravel ic cosmo -n 256 --box 1000 --redshift 99 --table matterpower.dat -o camb.hdf5\n",
     .size = sizeof(gv_ic_cosmo_command),
     .run = gv_ic_run_cosmo},
    {.name = "pancake",
     .summary = "a plane wave in an expanding universe, with a known course",
     .synopsis = "-n N -o FILE [--box L] [--redshift Z] [--crossing Z]",
     .about = "Zel'dovich's plane wave along x, as long as the box: its course is known until bodies meet.",
     .opts = gv_ic_pancake_opts,
     .examples = "gravel ic pancake -n 32 --box 64 --redshift 49 --crossing 1 -o pancake.hdf5\n",
     .size = sizeof(gv_ic_cosmo_command),
     .run = gv_ic_run_pancake},
    {.name = NULL},
};
