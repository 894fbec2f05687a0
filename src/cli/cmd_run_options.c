/* Options of gravel run.  The keys of a run file are these names with '_' for '-'. */
#include <math.h>
#include <stddef.h>

#include "cli/cmd_run.h"
#include "cli/particle_file.h"

#define AT(member) .offset = offsetof(gv_run_options, member)
#define REAL(option, member, shown, text, usual, least, most)                                                          \
    {                                                                                                                  \
        .name = option, .kind = GV_OPT_REAL, AT(member), .value = shown, .help = text, .fallback = usual,              \
        .low = least, .high = most                                                                                     \
    }
#define CHOICE(option, member, choices, text, usual)                                                                   \
    {                                                                                                                  \
        .name = option, .kind = GV_OPT_CHOICE, AT(member), .value = choices, .help = text, .fallback = usual           \
    }

const gv_opt gv_run_opts[] = {
    GV_RUN_OPT_INPUT(gv_run_options, "particles with velocities, text or HDF5, as gravel ic\nmakes them"),
    GV_RUN_OPT_OUTPUT(gv_run_options),
    REAL("until", until, "T", "time at the end, in the units of IC", "-1e300", -1e299, INFINITY),
    CHOICE("solver", solver, "direct|tree", "where forces are from: direct sums of all pairs, or the\ntree (order 2)",
           "direct"),
    CHOICE("order", order, "2|4|6", "2: leapfrog; 4, 6: Hermite (default 4; with the tree 2)", "-1"),
    CHOICE(
        "precision", precision, "sp|ds|dp",
        "of forces; Hermite needs ds or dp (default ds; with the\ntree sp). Bodies are kept in dp with dp, else in ds",
        "-1"),
    CHOICE("steps", steps, "block|shared|fixed",
           "every body its own power of two, the smallest for all, or\nstep-max for all", "block"),
    CHOICE("criterion", criterion, "aarseth|generalised|average",
           "Hermite: how steps are chosen (default aarseth; order 6:\naverage, in dp generalised)", "-1"),
    REAL("eta", eta, "E",
         "leapfrog: steps are at most sqrt(E eps / |a|), block steps\nof the tree also sqrt(E / (8 pi density))",
         "0.025", 1e-12, 1e3),
    REAL("eta4", eta4, "E", "Hermite: accuracy of Aarseth's criterion", "0.01", 1e-12, 1e3),
    REAL("eta6", eta6, "E", "Hermite: accuracy of the generalised criterion", "0.1", 1e-12, 1e3),
    REAL("eta-start", eta_start, "E", "Hermite: first steps are at most E |a| / |j|", "0.001", 1e-12, 1e3),
    REAL("step-max", step_max, "DT", "largest step, a power of two", "0.125", 0, INFINITY),
    REAL("step-min", step_min, "DT",
         "a power of two; what needs shorter steps ends the run with\na message (default 2^-40)",
         "9.094947017729282e-13", 0, INFINITY),
    {.name = "iterations",
     .kind = GV_OPT_INT,
     AT(iterations),
     .value = "N",
     .help = "Hermite: evaluations of the force a step, P(EC)^N",
     .fallback = "1",
     .low = 1,
     .high = 10},
    CHOICE("host", host, "auto|always|never",
           "Hermite: small blocks are moved by the host where that was\nmeasured to be faster, all are, none is",
           "auto"),
    CHOICE("scheme", scheme, "auto|copies|ring",
           "Hermite over ranks: all bodies on every rank, or dealt out\nand going round; auto: by the model", "auto"),
    {.name = "eps",
     .letter = 'e',
     .kind = GV_OPT_REAL,
     AT(eps),
     .value = "E",
     .help = "softening length; 0 is legal, but for the leapfrog with\nsteps of its own choice",
     .fallback = "0",
     .low = 0,
     .high = INFINITY},
    CHOICE("moments", moments, "1|2", "tree: 1 masses, 2 and quadrupoles", "2"),
    GV_RUN_OPT_TREE(gv_run_options, "last"),
    REAL("rebuild", rebuild, "X",
         "tree: kept, with new moments, for forces on X times all\nbodies after its first block; blocks of a few "
         "bodies get\ndirect sums meanwhile; 0: built for each block",
         "0.1", 0, 1e3),
    {.name = "sum-up-to",
     .kind = GV_OPT_SIZE,
     AT(sum_up_to),
     .value = "N",
     .help = "tree: potential energies are direct sums up to N bodies,\nthe tree's own above",
     .fallback = "32768"},
    GV_RUN_OPT_CONFIGURATION(gv_run_options),
    REAL("snapshot-every", snapshot_every, "DT", "snapshots at these times; 0: at the start and the end only", "0", 0,
         INFINITY),
    REAL("diagnose-every", diagnose_every, "DT",
         "lines of diagnostics.txt at these times; 0: at the start\nand the end only (default as --snapshot-every)",
         "-1", 0, INFINITY),
    GV_RUN_OPT_CHECKPOINTS(gv_run_options),
    CHOICE("snapshot-format", snapshot_format, "hdf5|text", "of snapshots (default hdf5 where it is built in)", "-1"),
    {.name = "snapshot-files",
     .kind = GV_OPT_INT,
     AT(snapshot_files),
     .value = "K",
     .help = "snapshots in K HDF5 files each: snapshot_0000.0.hdf5 ...",
     .fallback = "1",
     .low = 1,
     .high = 65536},
    CHOICE("snapshot-writers", snapshot_writers, "first|all",
           "over ranks: the first one writes snapshots, or all write\ntheir bodies into one HDF5 file (MPI-IO)",
           "first"),
    GV_OPT_TEXT_UNITS(gv_run_options),
    {.name = "renumber", .kind = GV_OPT_FLAG, AT(renumber), .help = "ids become 0, 1, ... in the order of IC"},
    GV_OPT_DEVICE(gv_run_options),
    GV_OPT_DEVICES(gv_run_options),
    {.name = "all-devices",
     .kind = GV_OPT_FLAG,
     AT(all_devices),
     .help =
         "with --devices: all find forces together in each block, not\nthose that were measured to be fastest for it"},
    GV_OPT_NO_FP64(gv_run_options),
    GV_RUN_OPT_COMMAND(gv_run_options,
                       "go on from the last checkpoint; --until may be a new one,\n--step-min a smaller one"),
    {.name = "cosmology",
     .kind = GV_OPT_FLAG,
     AT(cosmology),
     .help = "a box of an expanding universe, with options of its own:\ngravel run --cosmology --help"},
    {.name = "timing",
     .kind = GV_OPT_FLAG,
     AT(timing),
     .help = "show the device's time by kernel at the end, also in\nsummary.json; short kernels get slower"},
    GV_OPT_VERBOSE(gv_run_options),
    {.name = NULL},
};

int gv_run_check_alone(const gv_run_options *typed)
{
    static const gv_no_effect rules[] = {
        {1, "scheme snapshot-writers", "is for ranks (mpirun -n 4 gravel run ...); this is one process"},
        {.options = NULL}};
    return gv_options_check_effect(GV_RUN, &gv_cmd_run, typed, rules);
}

#define HERMITE_ONLY "criterion eta4 eta6 eta-start iterations host"
#define BY_ACCURACY "is for steps that follow the accuracy (--steps block or shared); --steps fixed takes --step-max"

int gv_run_check_effect(const gv_run_options *o, const gv_run_options *typed)
{
    const int is_tree = o->solver == GV_RUN_TREE, is_hermite = o->order > 0 && !is_tree;
    const int is_fixed = o->steps == GV_RUN_FIXED;
    const gv_no_effect rules[] = {
        {is_hermite, "eta", "is for the leapfrog (--solver tree, or --order 2); Hermite steps have --eta4 and --eta6"},
        {is_hermite && is_fixed, "criterion eta4 eta6 eta-start", BY_ACCURACY},
        {is_hermite && o->criterion == GRAVEL_STEP_AARSETH, "eta6",
         "is for the generalised criterion and the average (--order 6 --criterion generalised); Aarseth's has --eta4"},
        {is_hermite && o->criterion == GRAVEL_STEP_GENERALISED, "eta4",
         "is for Aarseth's criterion and the average (--criterion aarseth); the generalised one has --eta6"},
        {is_tree, HERMITE_ONLY,
         "is for Hermite steps (--solver direct, --order 4 or 6); with --solver tree steps are the leapfrog's"},
        {!is_hermite, HERMITE_ONLY,
         "is for Hermite steps (--solver direct, --order 4 or 6); with --order 2 steps are the leapfrog's"},
        {!is_hermite && is_fixed, "eta", BY_ACCURACY},
        {!is_tree, "theta mac moments softening rebuild sum-up-to",
         "is for --solver tree; --solver direct (the default) sums all pairs"},
        {o->devices != NULL, "device", "is one device; --devices names all of them"},
        {!o->devices, "all-devices", "is for runs on several devices: it goes with --devices LIST"},
        {.options = NULL}};
    return gv_options_check_effect(GV_RUN, &gv_cmd_run, typed, rules);
}

static const struct gv_run_sample sample[] = {{"input", "\"plummer.hdf5\""},
                                              {"output", "\"plummer_run\""},
                                              {"until", "10"},
                                              {"order", "\"4\""},
                                              {"precision", "\"ds\""},
                                              {"criterion", "\"aarseth\""},
                                              {"snapshot-every", "1"},
                                              {"diagnose-every", "0.125"},
                                              {"snapshot-format", "\"hdf5\""},
                                              {NULL, NULL}};

const gv_run_table gv_run_of_bodies = {gv_run_opts, GV_RUN, sample};
