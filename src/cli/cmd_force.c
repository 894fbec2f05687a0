/* gravel force: forces on the particles of a file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/force_run.h"
#include "cli/particle_file.h"
#include "host/base/clock.h"
#include "host/base/files.h"

/* An option that is not given gets the library's default. */
static void fill_tree(gv_force_options *opts)
{
    const gravel_tree_options init = GRAVEL_TREE_OPTIONS_INIT;
    if (opts->theta < 0)
        opts->theta = init.theta;
    if (opts->mac < 0)
        opts->mac = (int)init.mac;
    if (opts->moments < 0)
        opts->moments = init.moments - 1;
    if (opts->softening < 0)
        opts->softening = (int)init.softening;
    if (opts->capacity == 0)
        opts->capacity = 256;
}

static int report_reading(const gv_force_options *opts, gravel_status status)
{
    const int code = gv_cli_fail(GV_FORCE, status);
    if (status == GRAVEL_ERR_FILE && strcmp(opts->in, "-") != 0 && access(opts->in, F_OK) != 0)
        gv_say(GV_FORCE, "'gravel ic plummer -n 1000 -o %s' would make such a file", opts->in);
    return code;
}

/* What the options require of the particles. */
static int check_input(gv_force_job *job)
{
    const gv_force_options *opts = job->opts;
    const gv_particles *p = &job->particles;
    if (job->order >= 4 && p->vx == NULL) {
        gv_say(GV_FORCE, "order %d needs velocities, and %s has only the columns id m x y z; use --order 2", job->order,
               opts->in);
        return GV_EXIT_USAGE;
    }
    if (opts->sinks.first >= p->count ||
        (opts->sinks.count != SIZE_MAX && opts->sinks.count > p->count - opts->sinks.first)) {
        gv_say(GV_FORCE, "--sinks: %s has the particles 0 to %zu", opts->in, p->count - 1);
        return GV_EXIT_USAGE;
    }
    job->first = opts->sinks.first;
    job->count = opts->sinks.count == SIZE_MAX ? p->count - job->first : opts->sinks.count;
    if (job->count == 0) {
        gv_say(GV_FORCE, "--sinks: no particle chosen");
        return GV_EXIT_USAGE;
    }
    return GV_EXIT_OK;
}

static int compare_ids(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* In direct sums particles of one id do not act on each other, so repeated or missing ids give wrong forces. */
static void warn_about_ids(const gv_particles *p)
{
    int32_t *id = malloc(p->count * sizeof *id);
    size_t repeated = 0, minus_one = 0;
    if (id == NULL)
        return;
    memcpy(id, p->id, p->count * sizeof *id);
    qsort(id, p->count, sizeof *id, compare_ids);
    for (size_t i = 0; i < p->count; i++) {
        minus_one += id[i] == -1;
        repeated += id[i] != -1 && i > 0 && id[i] == id[i - 1];
    }
    free(id);
    if (repeated > 0)
        gv_say(GV_FORCE,
               "warning: %zu particle%s of an id that came before; particles of one id do not attract each other",
               repeated, repeated == 1 ? " is" : "s are");
    if (minus_one > 0) {
        gv_say(GV_FORCE, "warning: %zu particle%s the id -1, which matches nothing: %s", minus_one,
               minus_one == 1 ? " has" : "s have", minus_one == 1 ? "it acts on itself" : "they act on themselves");
    }
}

/* Without --periodic the bodies of a box are in empty space. */
static void warn_about_box(const gv_force_job *job)
{
    if (job->particles.period > 0 && !job->opts->is_periodic)
        gv_say(GV_FORCE,
               "warning: %s has a box of side %.6g (BoxSize), and these are forces of an isolated set; --periodic file "
               "gives those of the box",
               job->opts->in, job->particles.period);
}

/* The file may be named with -i or without. */
static int choose_input(gv_force_options *opts, const gv_operands *operands)
{
    if (operands->n > 0 && opts->in != NULL) {
        gv_say(GV_FORCE, "-i %s and %s: one file of particles, not two", opts->in, operands->value[0]);
        return GV_EXIT_USAGE;
    }
    if (operands->n > 0)
        opts->in = operands->value[0];
    if (opts->in != NULL)
        return GV_EXIT_OK;
    gv_say(GV_FORCE, "a file of particles is missing: 'gravel force FILE', or - for standard input; 'gravel force "
                     "--help' tells more");
    return GV_EXIT_USAGE;
}

static int check_options(const gv_force_options *opts)
{
    if (gv_snapshot_is_hdf5_name(opts->out) && !gv_snapshot_has_hdf5()) {
        gv_say(GV_FORCE, "-o: this gravel was built without HDF5; install libhdf5-dev and build again, or write text");
        return GV_EXIT_USAGE;
    }
    if (gv_snapshot_is_hdf5_name(opts->out) && (opts->nearest || opts->radius >= 0)) {
        gv_say(GV_FORCE, "-o: neighbours are written as text only, and %s would be HDF5", opts->out);
        return GV_EXIT_USAGE;
    }
    if (opts->method == GV_METHOD_REFERENCE && opts->configuration != NULL) {
        gv_say(GV_FORCE, "--configuration: the reference has no tunables");
        return GV_EXIT_USAGE;
    }
    if (opts->method == GV_METHOD_TREE && (opts->order != 0 || opts->nearest || opts->radius >= 0)) {
        gv_say(GV_FORCE, "the tree gives acceleration and potential; --method direct does %s",
               opts->order != 0 ? "order 4 and 6" : "neighbours");
        return GV_EXIT_USAGE;
    }
    const char *tree_only = opts->theta >= 0                             ? "--theta"
                            : opts->mac >= 0                             ? "--mac"
                            : opts->moments >= 0                         ? "--moments"
                            : opts->softening >= 0 && !opts->is_periodic ? "--softening"
                                                                         : NULL;
    if (opts->method != GV_METHOD_TREE && tree_only != NULL) {
        gv_say(GV_FORCE, "%s is for --method tree; --method %s sums all pairs", tree_only,
               opts->method == GV_METHOD_DIRECT ? "direct (the default)" : "reference");
        return GV_EXIT_USAGE;
    }
    if (opts->devices != NULL && opts->method == GV_METHOD_REFERENCE) {
        gv_say(GV_FORCE, "--devices: the reference runs on the CPU, without a device");
        return GV_EXIT_USAGE;
    }
    if (opts->radius < 0 && opts->capacity > 0) {
        gv_say(GV_FORCE, "--neighbours-capacity is for --neighbours-within");
        return GV_EXIT_USAGE;
    }
    const gv_no_effect rules[] = {{opts->devices != NULL, "device", "is one device; --devices names all of them"},
                                  {.options = NULL}};
    return gv_options_check_effect(GV_FORCE, &gv_cmd_force, opts, rules) ? GV_EXIT_USAGE : GV_EXIT_OK;
}

/* Both files are opened before the work begins, so that a place that cannot be written costs no time.  HDF5 opens its
 * own once more at the end. */
static int compute_and_write(gv_force_job *job)
{
    gv_out_file out, report;
    const gv_force_options *opts = job->opts;
    const int hdf5 = gv_snapshot_is_hdf5_name(opts->out);
    gravel_status status = gv_out_open(&out, opts->out);
    if (hdf5 && status == GRAVEL_OK)
        gv_out_abort(&out);
    if (status != GRAVEL_OK) {
        gv_cli_fail(GV_FORCE, gv_ranks_agree(job->ranks, status));
        return GV_EXIT_FAILURE;
    }
    if (opts->report != NULL && (status = gv_out_open(&report, opts->report)) != GRAVEL_OK) {
        gv_out_abort(&out);
        gv_cli_fail(GV_FORCE, gv_ranks_agree(job->ranks, status));
        return GV_EXIT_FAILURE;
    }
    status = gv_force_compute(job, out.stream); /* NULL with HDF5 */
    int code = status == GRAVEL_OK ? GV_EXIT_FAILURE : gv_cli_exit_code(status);
    /* both are on the disk before either takes its place: no new forces beside an old report */
    if (status == GRAVEL_OK && !hdf5)
        status = gv_out_finish(&out);
    if (status == GRAVEL_OK && opts->report != NULL)
        status = gv_force_report(job, report.stream);
    if (status == GRAVEL_OK && opts->report != NULL)
        status = gv_out_finish(&report);
    if (status == GRAVEL_OK && !hdf5)
        status = gv_out_commit(&out);
    else if (status == GRAVEL_OK || (job->computed && gv_force_ranks_write(job)))
        status = gv_force_write_hdf5(job, status);
    gv_force_set_free(&job->all);
    if (status == GRAVEL_OK && opts->report != NULL)
        status = gv_out_commit(&report);
    if (status == GRAVEL_OK)
        return GV_EXIT_OK;
    gv_cli_fail(GV_FORCE, status);
    gv_out_abort(&out);
    if (opts->report != NULL)
        gv_out_abort(&report);
    return code;
}

/* A rank behind the first one computes, and writes where all do. */
static int compute_share(gv_force_job *job)
{
    gravel_status status = gv_force_compute(job, NULL);
    if (job->computed && gv_force_ranks_write(job))
        status = gv_force_write_hdf5(job, status);
    gv_force_set_free(&job->all);
    if (status == GRAVEL_ERR_FILE) /* of writing, as on the first rank: MPICH's mpirun joins all codes by or */
        return GV_EXIT_FAILURE;
    return status == GRAVEL_OK ? GV_EXIT_OK : gv_cli_exit_code(status);
}

static int read_and_compute(gv_force_job *job)
{
    gv_read_options reading = GV_READ_OPTIONS_INIT;
    gravel_status status = GRAVEL_OK;
    reading.text_units = gv_cli_units(job->opts->units);
    if (gv_ranks_is_first(job->ranks))
        status = gv_snapshot_read(&job->particles, job->opts->in, &reading);
    status = gv_force_ranks_read(job, status);
    if (status != GRAVEL_OK)
        return report_reading(job->opts, status);
    gv_particles_scale_masses(&job->particles, gv_units_gravity(&job->particles.units));
    job->read_s = gv_now() - job->start;
    int code = check_input(job);
    if (code == GV_EXIT_OK && job->opts->is_periodic)
        code = gv_force_periodic_bodies(job);
    if (code != GV_EXIT_OK)
        return code;
    if (!gv_ranks_is_first(job->ranks))
        return compute_share(job);
    if (job->opts->method != GV_METHOD_TREE)
        warn_about_ids(&job->particles);
    warn_about_box(job);
    return compute_and_write(job);
}

static int run(const void *values, const gv_operands *operands)
{
    gv_force_job job;
    gv_force_options opts = *(const gv_force_options *)values;
    memset(&job, 0, sizeof job);
    int code = choose_input(&opts, operands);
    if (code == GV_EXIT_OK)
        code = gv_force_periodic_options(&opts);
    if (code == GV_EXIT_OK)
        code = check_options(&opts);
    if (code == GV_EXIT_OK)
        code = gv_force_ranks_check(&opts);
    if (code != GV_EXIT_OK)
        return code;
    fill_tree(&opts);
    job.opts = &opts;
    job.order = 2 * (job.opts->order + 1);
    job.precision = job.opts->precision >= 0             ? (gravel_precision)job.opts->precision
                    : job.opts->method == GV_METHOD_TREE ? GRAVEL_SP
                                                         : GRAVEL_DS;
    job.start = gv_now();
    gv_signals_catch(0.7, GV_FORCE ": stopped; nothing was written, an earlier file is kept\n");
    code = gv_ranks_open(&job.ranks, GV_FORCE, opts.device, opts.verbose);
    if (code == GV_EXIT_OK)
        code = gv_ranks_close(job.ranks, read_and_compute(&job));
    gv_particles_free(&job.particles);
    return code;
}

static const gv_opt opts_table[] = {
    {.name = "input",
     .letter = 'i',
     .kind = GV_OPT_IN,
     .offset = offsetof(gv_force_options, in),
     .value = "IN",
     .help = "particles, text or HDF5; - is standard input (text)"},
    {.name = "output",
     .letter = 'o',
     .kind = GV_OPT_OUT,
     .offset = offsetof(gv_force_options, out),
     .value = "OUT",
     .help = "forces: a name in .hdf5 or .h5 gives HDF5, any other\ntext; - is standard output",
     .fallback = "-"},
    GV_OPT_TEXT_UNITS(gv_force_options),
    {.name = "method",
     .letter = 'm',
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(gv_force_options, method),
     .value = "direct|tree|reference",
     .help = "direct: all pairs, on the device\ntree: groups of bodies against cells, on the device\n"
             "reference: plain loops in long double, on the CPU\n(default direct; with --periodic tree)",
     .fallback = "-1"},
    {.name = "order",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(gv_force_options, order),
     .value = "2|4|6",
     .help = "2: acceleration and potential; 4: and jerk; 6: and snap",
     .fallback = "2"},
    {.name = "precision",
     .letter = 'p',
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(gv_force_options, precision),
     .value = "sp|ds|dp",
     .help = "sp: float; ds: float, positions and sums as two-floats;\ndp: double (default ds; for the tree sp)",
     .fallback = "-1"},
    {.name = "eps",
     .letter = 'e',
     .kind = GV_OPT_REAL,
     .offset = offsetof(gv_force_options, eps),
     .value = "E",
     .help = "Plummer softening length; 0 is legal",
     .fallback = "0",
     .low = 0,
     .high = INFINITY},
    {.name = "nearest",
     .kind = GV_OPT_FLAG,
     .offset = offsetof(gv_force_options, nearest),
     .help = "write nn_id and nn_r: the nearest neighbour and how far it\nis (-1 and inf: none)"},
    {.name = "neighbours-within",
     .kind = GV_OPT_REAL,
     .offset = offsetof(gv_force_options, radius),
     .value = "H",
     .help = "write n_ngb and the ids of the neighbours at distance <= H",
     .fallback = "-1",
     .low = 0,
     .high = INFINITY},
    {.name = "neighbours-capacity",
     .kind = GV_OPT_SIZE,
     .offset = offsetof(gv_force_options, capacity),
     .value = "K",
     .help = "at most K neighbours in a list; n_ngb is the true count\n(default 256)",
     .low = 1,
     .high = 1048576},
    {.name = "theta",
     .letter = 't',
     .kind = GV_OPT_REAL,
     .offset = offsetof(gv_force_options, theta),
     .value = "T",
     .help = "tree: opening angle; smaller is more exact and slower\n(default 0.5)",
     .fallback = "-1",
     .low = GRAVEL_TREE_THETA_MIN,
     .high = GRAVEL_TREE_THETA_MAX},
    {.name = "mac",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(gv_force_options, mac),
     .value = "relative|last|geometric",
     .help = "tree: how theta decides which cells are opened\n(doc/tree.md; default relative)",
     .fallback = "-1"},
    {.name = "moments",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(gv_force_options, moments),
     .value = "1|2",
     .help = "tree: 1 masses, 2 and quadrupoles (default 2)",
     .fallback = "-1"},
    {.name = "softening",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(gv_force_options, softening),
     .value = "plummer|spline",
     .help = "tree: plummer (default), or spline of radius 2.8 eps with\nNewton's force beyond",
     .fallback = "-1"},
    {.name = "periodic",
     .kind = GV_OPT_TEXT,
     .offset = offsetof(gv_force_options, periodic),
     .value = "L|file",
     .help = "bodies in [0, L), or in the box that the file names,\nrepeat in all directions, on a background of mean\n"
             "density 0 (doc/periodic.md): mesh and tree, or direct\nsums; exact with --method reference"},
    {.name = "mesh",
     .kind = GV_OPT_TEXT,
     .offset = offsetof(gv_force_options, mesh),
     .value = "N|ewald",
     .help = "periodic: cells of a side (default: twice as many as\nbodies), or Ewald's sum over waves with the tree"},
    {.name = "split",
     .kind = GV_OPT_REAL,
     .offset = offsetof(gv_force_options, split),
     .value = "R",
     .help = "periodic: where the force is split between mesh and tree,\nin cells (default 1.25)",
     .fallback = "-1",
     .low = 0.5,
     .high = 16},
    {.name = "cut",
     .kind = GV_OPT_REAL,
     .offset = offsetof(gv_force_options, cut),
     .value = "R",
     .help = "periodic: where the tree's part ends, in lengths of\n--split (default 5); for ten times smaller errors "
             "-p ds\n--split 3 --cut 6 --theta 0.3",
     .fallback = "-1",
     .low = 2,
     .high = 16},
    {.name = "sinks",
     .kind = GV_OPT_RANGE,
     .offset = offsetof(gv_force_options, sinks),
     .value = "FIRST:COUNT",
     .help = "forces on these particles only, the first of the file\nbeing 0; all particles are sources",
     .fallback = "0:"},
    {.name = "report",
     .letter = 'r',
     .kind = GV_OPT_OUT,
     .offset = offsetof(gv_force_options, report),
     .value = "FILE.json",
     .help = "device, configuration, times, and errors of some sinks\nagainst the reference"},
    {.name = "configuration",
     .kind = GV_OPT_TEXT,
     .offset = offsetof(gv_force_options, configuration),
     .value = "TEXT",
     .help = "tunables as \"threads=128 split=2\", not the tuned ones"},
    {.name = "writers",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(gv_force_options, writers),
     .value = "first|all",
     .help = "over ranks: the first one writes OUT, or all write their\nsinks into one HDF5 file (MPI-IO)",
     .fallback = "first"},
    GV_OPT_DEVICE(gv_force_options),
    GV_OPT_DEVICES(gv_force_options),
    GV_OPT_VERBOSE(gv_force_options),
    {.name = NULL},
};

const gv_command gv_cmd_force = {
    .name = "force",
    .summary = "compute forces on the particles of a file",
    .synopsis = "[-i] IN [-o OUT] [options]",
    .about = "IN is text: id m x y z [vx vy vz [ax ay az]], separated by blanks or commas; '#' begins a comment;\n"
             "or an HDF5 snapshot in GADGET's layout.\n"
             "OUT is text: a line that names the columns, then for each sink\n"
             "  id ax ay az pot [jx jy jz [sx sy sz]] [nn_id nn_r] [n_ngb ngb...]\n"
             "or HDF5: the sinks as a snapshot with Acceleration, Potential [, Jerks [, Snaps]];\n"
             "in the units of IN (kpc and km/s: acc in km^2/s^2/kpc, pot in km^2/s^2). A particle is not\n"
             "attracted by those with its own id. Order 4 needs velocities; for order 6, accelerations that IN does\n"
             "not have are computed first. Started by mpirun, every rank does a part of the work (-d\n"
             "is a list as in 'gravel cluster devices --devices' then).",
    .opts = opts_table,
    .max_operands = 1,
    .examples = "gravel force plummer.txt -o forces.txt --order 4 --eps 0.01\n"
                "gravel force -i galaxy.txt -o forces.txt --method tree --theta 0.4 --report report.json\n"
                "gravel force plummer.txt -o forces.txt --devices 0,1,2,3\n"
                "mpirun -n 4 gravel force plummer.hdf5 -o forces.hdf5\n"
                "gravel force -i plummer.txt -o nn.txt --nearest --neighbours-within 0.1 --device cpu\n"
                "gravel force -i plummer.txt -o truth.txt --method reference --sinks 0:100\n"
                "gravel force -i box.txt -o forces.txt --periodic 100 --mesh 128 --eps 0.02 --report report.json\n",
    .size = sizeof(gv_force_options),
    .given = offsetof(gv_force_options, given),
    .run = run,
    .over_ranks = 1,
};
