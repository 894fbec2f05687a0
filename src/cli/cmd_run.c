/* gravel run: simulations that are recorded, can be stopped, and go on with the same bits. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd_run.h"
#include "cli/particle_file.h"
#include "cli/run_ranks.h"
#include "host/base/clock.h"
#include "host/base/files.h"
#include "host/program/times.h"

/* Everything that one call holds. */
typedef struct job {
    gv_run_options opts;
    gv_run_settings settings;
    gv_particles particles;
    gv_checkpoint checkpoint;
    int has_checkpoint;
    gravel_several_share *share; /* of --devices: then the context is its own */
    gravel_context *context;
    gv_run *run;
    gv_run_output folder;
    cJSON *record;
    char *text;        /* of the record */
    int lock, earlier; /* earlier: a run in the folder, which is replaced */
    gv_run_ranks ranks;
    char last_words[1024];
} job;

/* ----------------------------------------------------------------- options */

/* What follows from other options. */
static void complete(gv_run_options *o)
{
    const int tree = o->solver == GV_RUN_TREE;
    if (o->order < 0)
        o->order = tree ? 0 : 1;
    if (o->precision < 0)
        o->precision = tree ? GRAVEL_SP : GRAVEL_DS;
    if (o->criterion < 0)
        o->criterion = o->order < 2                ? GRAVEL_STEP_AARSETH
                       : o->precision == GRAVEL_DP ? GRAVEL_STEP_GENERALISED
                                                   : GRAVEL_STEP_AVERAGE;
    if (o->diagnose_every < 0)
        o->diagnose_every = o->snapshot_every;
    if (o->snapshot_format < 0)
        o->snapshot_format = !gv_snapshot_has_hdf5();
}

static gravel_host_answers host_of(const gv_run_options *o)
{
    static const gravel_host_answers host[] = {GRAVEL_HOST_WHERE_FASTER, GRAVEL_HOST_ALWAYS, GRAVEL_HOST_NEVER};
    return host[o->host];
}

static gv_run_settings settings_of(const gv_run_options *o)
{
    return (gv_run_settings){.until = o->until,
                             .solver = (gv_run_solver)o->solver,
                             .order = 2 * o->order + 2,
                             .precision = (gravel_precision)o->precision,
                             .steps = (gv_run_steps)o->steps,
                             .criterion = (gravel_step_criterion)o->criterion,
                             .eta = o->eta,
                             .eta4 = o->eta4,
                             .eta6 = o->eta6,
                             .eta_start = o->eta_start,
                             .step_max = o->step_max,
                             .step_min = o->step_min,
                             .iterations = o->iterations,
                             .host = host_of(o),
                             .eps = o->eps,
                             .theta = o->theta,
                             .mac = (gravel_tree_mac)o->mac,
                             .moments = o->moments + 1,
                             .softening = (gravel_softening)o->softening,
                             .rebuild = o->rebuild,
                             .configuration = o->configuration,
                             .snapshot_every = o->snapshot_every,
                             .diagnose_every = o->diagnose_every,
                             .checkpoint_every = o->checkpoint_every,
                             .sum_up_to = o->sum_up_to,
                             .text = o->snapshot_format,
                             .snapshot_files = o->snapshot_files,
                             .together = o->snapshot_writers,
                             .domains = GV_RUN_DOMAINS};
}

static int check_needed(const gv_run_options *o)
{
    const char *missing = !o->in ? "-i, --input IC" : !o->out ? "-o, --output DIR" : NULL;
    if (!missing && o->until < -1e299)
        missing = "--until T";
    if (missing)
        gv_say(GV_RUN, "%s is missing; 'gravel run --help' tells more", missing);
    else if (o->snapshot_format == 0 && !gv_snapshot_has_hdf5())
        gv_say(GV_RUN, "this gravel was built without HDF5: --snapshot-format text");
    else
        return 0;
    return -1;
}

/* ---------------------------------------------------------------- progress */

typedef struct progress {
    gv_run_progress shown;
    double time; /* when this part of the run began */
    uint64_t steps;
    int any;
} progress;

static int after_step(void *user, gv_run *run, const gv_run_progress_info *i)
{
    progress *p = user;
    const double spent = gv_now() - p->shown.begun;
    char left[32] = "?", error[40] = "";
    (void)run;
    if (!p->any) {
        p->any = 1;
        gv_signals_catch(0, NULL);
        p->time = i->time;
        p->steps = i->steps;
    }
    if (gv_run_progress_due(&p->shown)) {
        if (i->time > p->time)
            gv_run_format_left(spent * (i->until - i->time) / (i->time - p->time), left, sizeof left);
        if (isfinite(i->energy_error))
            snprintf(error, sizeof error, ", energy error %.1e", i->energy_error);
        fprintf(stderr, "time %.6g of %.6g, block %llu, %.2g %% active%s, %.3g steps/s, about %s left", i->time,
                i->until, (unsigned long long)i->blocks, 100.0 * (double)i->active / (double)i->bodies, error,
                (double)(i->steps - p->steps) / spent, left);
        fflush(stderr);
    }
    return gv_signals_pending();
}

/* ------------------------------------------------------------------ record */

static cJSON *identity(const job *j)
{
    cJSON *made_by = gv_run_identity(j->context);
    gv_run_devices_record(made_by, j->share);
    gv_run_ranks_record(made_by, &j->ranks);
    return made_by;
}

static gravel_status describe(job *j)
{
    j->record = cJSON_CreateObject();
    gv_json_stamp(j->record);
    cJSON_AddItemToObject(j->record, "made_by", identity(j));
    const gravel_status status = gv_run_input_json(j->record, j->opts.in, j->particles.count);
    gv_json_number(cJSON_GetObjectItemCaseSensitive(j->record, "input"), "time", j->particles.time);
    cJSON_AddItemToObject(j->record, "options", gv_run_options_json(&gv_run_of_bodies, &j->opts));
    return status;
}

static gravel_status print_record(job *j)
{
    /* a record that was read has lost the last digits of its numbers */
    cJSON_ReplaceItemInObjectCaseSensitive(j->record, "options", gv_run_options_json(&gv_run_of_bodies, &j->opts));
    free(j->text);
    j->text = cJSON_Print(j->record);
    return j->text ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
}

static gravel_status write_record(job *j)
{
    const gravel_status status = print_record(j);
    return status ? status : gv_run_write_record(j->opts.out, j->record, &j->text);
}

/* The record again where the program, the device or an option has changed; else its bytes stay. */
static gravel_status renew_record(job *j, const char *before)
{
    cJSON_ReplaceItemInObjectCaseSensitive(j->record, "made_by", identity(j));
    const gravel_status status = print_record(j);
    return status || strcmp(before, j->text) == 0 ? status : write_record(j);
}

/* -------------------------------------------------------------------- work */

static gravel_status open_device(job *j)
{
    gravel_status status = GRAVEL_OK;
    if (j->opts.devices && j->ranks.ranks)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "--devices is for one process: ranks have a device each, -d names them");
    if (j->opts.devices) {
        status = gv_run_devices_open(&j->opts, &j->settings, &j->share);
        j->settings.share = j->share;
        j->context = gravel_several_share_get_context(j->share);
        return status || !j->opts.timing ? status : gv_times_start(j->context, 0);
    }
    status = j->ranks.ranks ? gv_ranks_context(j->ranks.ranks, &j->context, j->opts.no_fp64, j->opts.verbose)
                            : gv_cli_context(&j->context, j->opts.device, j->opts.no_fp64, j->opts.verbose);
    return status || !j->opts.timing ? status : gv_times_start(j->context, 0);
}

static gravel_status create_run(job *j)
{
    gravel_status status = gv_run_ranks_invite(&j->ranks, j->context, &j->settings, &j->particles,
                                               j->has_checkpoint ? &j->checkpoint : NULL, &j->opts);
    if (status)
        return status;
    status = gv_run_create(&j->run, j->context, &j->settings, &j->particles);
    return gv_run_ranks_created(&j->ranks, status);
}

/* Their number decides the bits; nothing stands in the record of a run that is alone. */
static void note_ranks(job *j)
{
    const cJSON *then = cJSON_GetObjectItemCaseSensitive(j->record, "ranks");
    const int before = cJSON_IsNumber(then) ? then->valueint : 1, now = gv_ranks_count(j->ranks.ranks);
    if (j->has_checkpoint && before != now)
        gv_say(GV_RUN, "the run was made by %d rank%s and goes on with %d: the same but for rounding", before,
               before == 1 ? "" : "s", now);
    cJSON_DeleteItemFromObjectCaseSensitive(j->record, "ranks");
    if (now > 1)
        cJSON_AddNumberToObject(j->record, "ranks", now);
}

/* Until a block has ended there is nothing to keep: first forces and energies of many bodies take long.  Ranks stop
 * together. */
static void catch_signals(const job *j, const char *last_words)
{
    gv_signals_catch(j->ranks.ranks ? 0 : 0.7, last_words);
}

static gravel_status replace(void *user)
{
    job *j = user;
    gravel_status status = gv_run_output_set_aside(&j->folder);
    if (!status)
        status = write_record(j);
    j->folder.record = j->text;
    catch_signals(j, j->last_words);
    return status;
}

static int finish(job *j)
{
    progress p = {.shown = {.begun = gv_now()}};
    const gv_run_hooks hooks = {after_step, &p, 1};
    gravel_status status = gv_run_output_open(&j->folder, j->opts.out, j->text);
    if (!status) {
        j->folder.replace = j->earlier ? replace : NULL;
        j->folder.user = j;
        snprintf(j->last_words, sizeof j->last_words,
                 GV_RUN ": stopped before a block had ended; gravel run --resume %.900s goes on\n", j->opts.out);
        catch_signals(j, j->earlier ? GV_RUN ": stopped before it had replaced the earlier run, which is still there\n"
                                    : j->last_words);
        status = gv_run_drive(j->run, &j->folder, &j->settings, j->has_checkpoint ? &j->checkpoint : NULL, &hooks);
        gv_signals_catch(0, NULL);
        gv_run_progress_clear(&p.shown);
    }
    if (!status)
        status = gv_run_write_summary(j->run, &j->folder, &j->opts, j->context, j->share);
    if (status)
        return gv_run_fail_on_the_way(&j->folder, status);
    gv_print("%s: time %.9g, %llu snapshot%s, largest energy error %.2e, %.1f s\n", j->opts.out, j->opts.until,
             (unsigned long long)j->folder.at.snapshots, j->folder.at.snapshots == 1 ? "" : "s", j->folder.at.error_max,
             j->folder.at.wall_s);
    status = j->opts.timing ? gv_run_print_times(j->context) : GRAVEL_OK;
    return status ? gv_run_fail(status, 1) : GV_EXIT_OK;
}

static gravel_status read_particles(job *j, const char *path)
{
    gv_read_options reading = GV_READ_OPTIONS_INIT;
    reading.text_units = gv_cli_units(j->opts.units);
    reading.renumber = j->opts.renumber;
    gravel_status status = gv_snapshot_read(&j->particles, path, &reading);
    return status ? status : gv_particles_check(&j->particles, path);
}

/* A file may put its bodies into a universe or a box; here they move in empty space. */
static gravel_status check_space(const gv_particles *p, const char *path)
{
    if (p->expanding)
        return gv_fail(GRAVEL_ERR_INPUT,
                       "%s is of an expanding universe: give --cosmology; for its bodies in empty space, run what "
                       "'gravel convert %s -o FILE.txt --to-units kpc' writes",
                       path, path);
    if (p->period > 0)
        gv_say(GV_RUN, "warning: %s has a box of side %.6g (BoxSize); it is ignored, the bodies do not repeat", path,
               p->period);
    return GRAVEL_OK;
}

/* From the beginning.  `again`: in a folder where this run began already. */
static int begin(job *j, const char *in, int again)
{
    j->settings = settings_of(&j->opts);
    j->settings.share = j->share;
    gravel_status status = again ? GRAVEL_OK : gv_run_check_folder(in, j->opts.out, j->opts.replace);
    if (status)
        return gv_run_fail(status, 1);
    status = read_particles(j, in);
    if (!status && !again)
        status = check_space(&j->particles, in);
    j->particles.period = 0; /* of what is written, as after a checkpoint */
    if (!status)
        status = gv_run_check(&j->settings, &j->particles);
    if (!status && !j->context)
        status = open_device(j);
    if (!status && !j->record)
        status = describe(j);
    if (!status)
        note_ranks(j);
    if (!status)
        status = create_run(j);
    if (status)
        return gv_run_fail(status, 0);
    if (!again)
        status = gv_run_output_make(j->opts.out, j->opts.replace, &j->lock, &j->earlier);
    if (!status)
        status = again ? renew_record(j, "") : j->earlier ? print_record(j) : write_record(j);
    if (status)
        return gv_run_fail(status, 1);
    return again ? finish(j) : gv_run_began(&j->folder, finish(j));
}

/* ------------------------------------------------------------------ resume */

/* The run began and was killed before its first checkpoint. */
static int begin_again(job *j)
{
    const char *in = gv_run_find_input(j->record, j->opts.out);
    return in ? begin(j, in, 1) : GV_EXIT_USAGE;
}

static const char *const MAY_CHANGE =
    ",resume,allow,until,step-min,checkpoint-every,device,devices,scheme,snapshot-writers,timing,verbose,";

static int resume(job *j, const gv_run_options *typed)
{
    const char *dir = typed->resume;
    if (gv_run_check_typed(gv_run_opts, typed->given, MAY_CHANGE) != 0 || gv_run_check_allow(typed->allow) != 0)
        return GV_EXIT_USAGE;
    gravel_status status = gv_run_output_lock(dir, &j->lock);
    if (status)
        return gv_run_fail(status, 0);
    char *text = gv_run_read_record_text(dir, &j->checkpoint, &j->has_checkpoint);
    const int known = text && gv_options_defaults(GV_RUN, &gv_cmd_run, &j->opts) == 0 &&
                      gv_run_read_record(&gv_run_of_bodies, dir, text, &j->opts, &j->record) == 0;
    free(text);
    if (!known)
        return GV_EXIT_USAGE;
    if (gv_run_is_given(gv_run_opts, typed->given, "step-min") &&
        gv_run_check_step_min(typed->step_min, j->opts.step_min) != 0)
        return GV_EXIT_USAGE;
    gv_run_overlay(gv_run_opts, &j->opts, typed, typed->given);
    j->opts.out = dir; /* the folder may have been moved */
    if (gv_run_is_given(gv_run_opts, typed->given, "device") && !gv_run_is_given(gv_run_opts, typed->given, "devices"))
        j->opts.devices = NULL;
    j->settings = settings_of(&j->opts);
    status = open_device(j);
    if (status)
        return gv_run_fail(status, 0);
    const cJSON *made_by = cJSON_GetObjectItemCaseSensitive(j->record, "made_by");
    if (gv_run_compare_identity(made_by, j->context, typed->allow) != 0 ||
        gv_run_compare_devices(made_by, j->share, typed->allow) != 0 ||
        gv_run_ranks_compare(j->record, &j->ranks, typed->allow) != 0)
        return GV_EXIT_USAGE;
    if (!j->has_checkpoint)
        return begin_again(j);
    const double reached = j->checkpoint.particles.time + j->checkpoint.state.time;
    if (gv_run_is_given(gv_run_opts, typed->given, "until") && j->opts.until < reached) {
        gv_say(GV_RUN, "--until %.9g: the run is at time %.9g already", j->opts.until, reached);
        return GV_EXIT_USAGE;
    }
    j->particles = j->checkpoint.particles;
    j->checkpoint.particles = (gv_particles)GV_PARTICLES_INIT;
    status = gv_run_check(&j->settings, &j->particles);
    note_ranks(j);
    if (!status)
        status = create_run(j);
    if (status)
        return gv_run_fail(status, 0);
    status = renew_record(j, j->checkpoint.record);
    return status ? gv_run_fail(status, 1) : finish(j);
}

/* ----------------------------------------------------------------- command */

static int begin_new(job *j, const gv_run_options *typed)
{
    if (gv_options_defaults(GV_RUN, &gv_cmd_run, &j->opts) != 0)
        return GV_EXIT_USAGE;
    if (typed->file && gv_run_read_file(&gv_run_of_bodies, typed->file, &j->opts) != 0)
        return GV_EXIT_USAGE;
    gv_run_overlay(gv_run_opts, &j->opts, typed, typed->given);
    complete(&j->opts);
    if (check_needed(&j->opts) != 0 || gv_run_check_effect(&j->opts, typed) != 0)
        return GV_EXIT_USAGE;
    return begin(j, j->opts.in, 0);
}

static void free_job(job *j)
{
    gv_run_output_close(&j->folder);
    gv_run_release(j->run);
    gv_particles_free(&j->particles);
    gv_checkpoint_free(&j->checkpoint);
    if (j->share)
        gravel_several_share_release(j->share);
    else
        gravel_context_release(j->context);
    cJSON_Delete(j->record);
    free(j->text);
    if (j->lock >= 0)
        close(j->lock);
    free(j);
}

static int run(const void *values, const gv_operands *operands)
{
    const gv_run_options *typed = values;
    (void)operands;
    if (typed->example) {
        gv_run_print_example(&gv_run_of_bodies, stdout);
        return GV_EXIT_OK;
    }
    job *j = calloc(1, sizeof *j);
    if (!j) {
        gv_say(GV_RUN, "out of memory");
        return GV_EXIT_FAILURE;
    }
    j->lock = -1;
    j->particles = j->checkpoint.particles = (gv_particles)GV_PARTICLES_INIT;
    int code = gv_run_ranks_open(&j->ranks, typed);
    if (code == GV_EXIT_OK) {
        const int useless = !gv_ranks_launched() && gv_run_check_alone(typed) != 0;
        code = useless                              ? GV_EXIT_USAGE
               : !gv_ranks_is_first(j->ranks.ranks) ? gv_run_ranks_follow(&j->ranks, typed)
               : typed->resume                      ? resume(j, typed)
                                                    : begin_new(j, typed);
        gv_run_release(j->run);
        j->run = NULL;
        code = gv_run_ranks_close(&j->ranks, code);
    }
    free_job(j);
    return code;
}

const gv_command gv_cmd_run = {
    .name = "run",
    .summary = "simulate: from particles to snapshots and diagnostics",
    .synopsis = "-i IC --until T -o DIR [options]\n       gravel run --file RUN.json | --resume DIR | --example",
    .about =
        "DIR gets run.json (all that was used), snapshot_0000.hdf5 ..., diagnostics.txt, blocks.txt, a checkpoint and\n"
        "summary.json. Ctrl-C and SIGTERM write a checkpoint and leave; after these and after a crash --resume goes "
        "on\n"
        "and ends with the same bits as a run that was not stopped. With --devices the first of the list has the "
        "bodies\n"
        "and all find the forces (doc/devices.md). Started by mpirun, the ranks share direct forces, or the bodies of "
        "a\n"
        "tree (doc/clusters.md); -d is a list as in 'gravel cluster devices --devices' then.",
    .opts = gv_run_opts,
    .examples = "gravel ic plummer -n 1024 -o plummer.hdf5\n"
                "gravel run -i plummer.hdf5 --until 10 --snapshot-every 1 --diagnose-every 0.125 -o cluster\n"
                "gravel run -i plummer.hdf5 --until 1 --order 6 --precision dp -o precise\n"
                "gravel run -i galaxy.hdf5 --until 1 --solver tree --eps 0.05 --snapshot-every 0.1 -o disk\n"
                "gravel run --example > run.json; gravel run --file run.json --until 20\n"
                "gravel run --resume cluster\n"
                "gravel run -i plummer.hdf5 --until 10 --devices gpu,gpu -o cluster\n"
                "mpirun -n 4 gravel run -i plummer.hdf5 --until 10 -o cluster\n"
                "mpirun -n 4 gravel run -i galaxy.hdf5 --until 1 --solver tree --eps 0.05 -o disk\n",
    .size = sizeof(gv_run_options),
    .given = offsetof(gv_run_options, given),
    .run = run,
    .over_ranks = 1,
};
