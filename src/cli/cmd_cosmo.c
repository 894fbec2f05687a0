/* gravel run --cosmology: a box of an expanding universe, recorded and resumable as other runs. */
#include "cli/cmd_cosmo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/clock.h"
#include "sim/cosmo_analyse.h"
#include "sim/snapshot.h"

typedef struct job {
    gv_cosmo_options opts;
    gv_cosmo_settings settings;
    gv_particles particles;
    gv_checkpoint checkpoint;
    int has_checkpoint, lock, earlier; /* earlier: a run in the folder, which is replaced */
    int shorter;                       /* --step-min was typed for a run that goes on */
    gravel_context *context;
    gv_cosmo_run *run;
    gv_run_output folder;
    cJSON *record;
    char *text; /* of the record */
} job;

/* ---------------------------------------------------------------- progress */

typedef struct progress {
    gv_run_progress shown;
    double from; /* ln a */
    const char *folder;
} progress;

/* Beside each snapshot. */
static gravel_status after_snapshot(void *user, const gv_particles *particles, unsigned number)
{
    const progress *p = user;
    return gv_cosmo_analyse(particles, p->folder, number);
}

static int after_step(void *user, const gv_cosmo_progress *i)
{
    progress *p = user;
    const double spent = gv_now() - p->shown.begun, done = log(i->a) - p->from, all = log(i->until) - p->from;
    char left[32] = "?";
    if (gv_run_progress_due(&p->shown)) {
        if (done > 0)
            gv_run_format_left(spent * (all - done) / done, left, sizeof left);
        fprintf(stderr, "z %.3f (a %.4f of %.4g), block %llu, %.2g %% active, energy error %.1e, about %s left",
                1 / i->a - 1, i->a, i->until, (unsigned long long)i->counts.blocks,
                100.0 * (double)i->active / (double)i->bodies, i->error, left);
        fflush(stderr);
    }
    return gv_signals_pending();
}

/* ------------------------------------------------------------------ records */

int gv_cosmo_is_record(const char *text)
{
    return strstr(text, "\"cosmology\":") != NULL;
}

static cJSON *cosmology_json(const gv_particles *p)
{
    const gv_cosmology *c = &p->box.cosmology;
    cJSON *root = cJSON_CreateObject();
    gv_json_number(root, "box", p->box.side);
    gv_json_number(root, "h", c->h);
    gv_json_number(root, "omega_m", c->omega_m);
    gv_json_number(root, "omega_l", c->omega_l);
    gv_json_number(root, "omega_b", c->omega_b);
    gv_json_number(root, "n_s", c->n_s);
    gv_json_number(root, "sigma_8", c->sigma_8);
    return root;
}

static gravel_status describe(job *j)
{
    j->record = cJSON_CreateObject();
    gv_json_stamp(j->record);
    cJSON_AddItemToObject(j->record, "made_by", gv_run_identity(j->context));
    const gravel_status status = gv_run_input_json(j->record, j->opts.in, j->particles.count);
    gv_json_number(cJSON_GetObjectItemCaseSensitive(j->record, "input"), "redshift", 1 / j->particles.time - 1);
    cJSON_AddItemToObject(j->record, "cosmology", cosmology_json(&j->particles));
    cJSON_AddItemToObject(j->record, "options", gv_run_options_json(&gv_run_of_box, &j->opts));
    return status;
}

/* A record that was read has lost the last digits of its numbers. */
static gravel_status renew_record(job *j)
{
    const gv_particles *p = gv_cosmo_run_get_particles(j->run);
    cJSON_ReplaceItemInObjectCaseSensitive(j->record, "cosmology", cosmology_json(p));
    cJSON_ReplaceItemInObjectCaseSensitive(j->record, "options", gv_run_options_json(&gv_run_of_box, &j->opts));
    return gv_run_write_record(j->opts.out, j->record, &j->text);
}

static void add_stages(const job *j, cJSON *root)
{
    gv_cosmo_times t;
    gv_cosmo_run_get_times(j->run, &t);
    const struct {
        const char *name;
        double value;
    } stage[] = {{"tree_build", t.tree_build},
                 {"tree_walk", t.tree_walk},
                 {"mesh_sort", t.mesh_sort},
                 {"mesh_assign", t.mesh_assign},
                 {"mesh_fft", t.mesh_fft},
                 {"mesh_green", t.mesh_green},
                 {"mesh_interpolate", t.mesh_interpolate}};
    cJSON *split = cJSON_AddObjectToObject(root, "device_s");
    for (size_t k = 0; k < sizeof stage / sizeof stage[0]; k++)
        gv_json_number(split, stage[k].name, stage[k].value);
}

static gravel_status write_summary(job *j)
{
    gravel_hermite_counts counts;
    char text[512] = "";
    const gv_run_position *at = &j->folder.at;
    const gv_particles *p = gv_cosmo_run_get_particles(j->run);
    cJSON *root = cJSON_CreateObject();
    gv_cosmo_run_get_counts(j->run, &counts);
    gv_cosmo_run_get_configuration(j->run, text, sizeof text);
    gv_json_stamp(root);
    cJSON_AddItemToObject(root, "made_by", gv_run_identity(j->context));
    cJSON_AddItemToObject(root, "cosmology", cosmology_json(p));
    cJSON_AddNumberToObject(root, "bodies", (double)p->count);
    gv_json_number(root, "redshift", 1 / j->settings.until - 1);
    cJSON_AddBoolToObject(root, "finished", at->done != 0);
    gv_json_number(root, "energy_error", gv_cosmo_run_get_line(j->run)->error);
    gv_json_number(root, "energy_error_max", at->error_max);
    cJSON_AddNumberToObject(root, "steps", (double)counts.steps);
    cJSON_AddNumberToObject(root, "blocks", (double)counts.blocks);
    cJSON_AddNumberToObject(root, "snapshots", (double)at->snapshots);
    cJSON_AddNumberToObject(root, "mesh", j->settings.cells > 0 ? j->settings.cells : gv_cosmo_cells(p->count));
    gv_json_number(root, "eps", j->settings.eps);
    cJSON_AddStringToObject(root, "fft", gravel_fft_name(gv_cosmo_run_get_fft(j->run)));
    cJSON_AddStringToObject(root, "configuration", text);
    gv_json_number(root, "wall_s", at->wall_s);
    gv_run_add_clocks(root, at);
    if (j->settings.timed)
        add_stages(j, root);
    cJSON_AddItemToObject(root, "options", gv_run_options_json(&gv_run_of_box, &j->opts));
    char *path = gv_run_path(j->opts.out, "summary.json");
    const gravel_status status = gv_json_write(root, path);
    free(path);
    return status;
}

/* -------------------------------------------------------------------- work */

static gravel_status replace(void *user)
{
    job *j = user;
    gravel_status status = gv_run_output_set_aside(&j->folder);
    if (!status)
        status = gv_run_write_record(j->opts.out, j->record, &j->text);
    j->folder.record = j->text;
    return status;
}

static int finish(job *j)
{
    progress p = {
        .shown = {.begun = gv_now()}, .from = log(gv_cosmo_run_get_particles(j->run)->time), .folder = j->opts.out};
    const gv_cosmo_hooks hooks = {
        .after_step = after_step, .after_snapshot = j->opts.no_analysis ? NULL : after_snapshot, .user = &p};
    if (j->has_checkpoint)
        p.from += j->checkpoint.state.time;
    gravel_status status = gv_run_output_open(&j->folder, j->opts.out, j->text);
    if (!status) {
        j->folder.replace = j->earlier ? replace : NULL;
        j->folder.user = j;
        gv_signals_catch(0, NULL);
        status = gv_cosmo_drive(j->run, &j->folder, &j->settings, j->has_checkpoint ? &j->checkpoint : NULL, &hooks);
        gv_run_progress_clear(&p.shown);
    }
    if (!status)
        status = write_summary(j);
    if (status)
        return gv_run_fail_on_the_way(&j->folder, status);
    gv_print("%s: redshift %.6g, %llu snapshot%s, energy error %.2e, %.1f s\n", j->opts.out, 1 / j->settings.until - 1,
             (unsigned long long)j->folder.at.snapshots, j->folder.at.snapshots == 1 ? "" : "s",
             gv_cosmo_run_get_line(j->run)->error, j->folder.at.wall_s);
    return GV_EXIT_OK;
}

static gravel_status open_run(job *j)
{
    gravel_status status = gv_cosmo_settings_of(&j->opts, &j->particles, &j->settings);
    if (!status)
        status = gv_cosmo_run_check(&j->settings, &j->particles);
    if (!status && !j->context)
        status = gv_cli_context(&j->context, j->opts.device, j->opts.no_fp64, j->opts.verbose);
    return status;
}

/* From the beginning.  `again`: in a folder where this run began already. */
static int begin(job *j, const char *in, int again)
{
    gv_read_options reading = GV_READ_OPTIONS_INIT;
    reading.comoving = 1;
    gravel_status status = again ? GRAVEL_OK : gv_run_check_folder(in, j->opts.out, j->opts.replace);
    if (status)
        return gv_run_fail(status, 1);
    status = gv_snapshot_read(&j->particles, in, &reading);
    if (!status)
        status = gv_particles_check(&j->particles, in);
    if (!status)
        status = open_run(j);
    if (!status && !again)
        status = describe(j);
    if (!status)
        status = gv_cosmo_run_create(&j->run, j->context, &j->settings, &j->particles);
    if (status)
        return gv_run_fail(status, 0);
    if (again) {
        status = j->shorter ? renew_record(j) : GRAVEL_OK;
        return status ? gv_run_fail(status, 1) : finish(j);
    }
    status = gv_run_output_make(j->opts.out, j->opts.replace, &j->lock, &j->earlier);
    if (!status && !j->earlier)
        status = gv_run_write_record(j->opts.out, j->record, &j->text);
    return status ? gv_run_fail(status, 1) : gv_run_began(&j->folder, finish(j));
}

static int begin_new(job *j, const gv_cosmo_options *typed)
{
    if (gv_options_defaults(GV_RUN, &gv_cmd_run_cosmology, &j->opts) != 0)
        return GV_EXIT_USAGE;
    if (typed->file && gv_run_read_file(&gv_run_of_box, typed->file, &j->opts) != 0)
        return GV_EXIT_USAGE;
    gv_run_overlay(gv_cosmo_opts, &j->opts, typed, typed->given);
    if (j->opts.in && j->opts.out)
        return begin(j, j->opts.in, 0);
    gv_say(GV_RUN, "%s is missing; 'gravel run --cosmology --help' tells more",
           j->opts.in ? "-o, --output DIR" : "-i, --input IC");
    return GV_EXIT_USAGE;
}

/* The bytes of the record stay, so that those of the next checkpoint do, but for another --step-min. */
static int resume(job *j, const gv_cosmo_options *typed)
{
    if (gv_run_check_typed(gv_cosmo_opts, typed->given,
                           ",cosmology,resume,allow,step-min,checkpoint-every,device,timing,verbose,") != 0 ||
        gv_run_check_allow(typed->allow) != 0)
        return GV_EXIT_USAGE;
    gravel_status status = gv_run_output_lock(typed->resume, &j->lock);
    if (status)
        return gv_run_fail(status, 0);
    j->text = gv_run_read_record_text(typed->resume, &j->checkpoint, &j->has_checkpoint);
    if (j->text && !gv_cosmo_is_record(j->text)) {
        gv_say(GV_RUN, "%s is of bodies in empty space: leave --cosmology out", typed->resume);
        return GV_EXIT_USAGE;
    }
    if (!j->text || gv_options_defaults(GV_RUN, &gv_cmd_run_cosmology, &j->opts) != 0 ||
        gv_run_read_record(&gv_run_of_box, typed->resume, j->text, &j->opts, &j->record) != 0)
        return GV_EXIT_USAGE;
    j->shorter = gv_run_is_given(gv_cosmo_opts, typed->given, "step-min");
    if (j->shorter && gv_run_check_step_min(typed->step_min, j->opts.step_min) != 0)
        return GV_EXIT_USAGE;
    gv_run_overlay(gv_cosmo_opts, &j->opts, typed, typed->given);
    j->opts.out = typed->resume; /* the folder may have been moved */
    status = gv_cli_context(&j->context, j->opts.device, j->opts.no_fp64, j->opts.verbose);
    if (status)
        return gv_run_fail(status, 0);
    if (gv_run_compare_identity(cJSON_GetObjectItemCaseSensitive(j->record, "made_by"), j->context, typed->allow) != 0)
        return GV_EXIT_USAGE;
    if (!j->has_checkpoint) {
        const char *in = gv_run_find_input(j->record, typed->resume);
        return in ? begin(j, in, 1) : GV_EXIT_USAGE;
    }
    status = gv_cosmo_read_box(&j->checkpoint);
    if (status)
        return gv_run_fail(status, 0);
    j->particles = j->checkpoint.particles;
    j->checkpoint.particles = (gv_particles)GV_PARTICLES_INIT;
    status = open_run(j);
    if (!status)
        status = gv_cosmo_run_create(&j->run, j->context, &j->settings, &j->particles);
    if (status)
        return gv_run_fail(status, 0);
    status = j->shorter ? renew_record(j) : GRAVEL_OK;
    return status ? gv_run_fail(status, 1) : finish(j);
}

static void free_job(job *j)
{
    gv_run_output_close(&j->folder);
    gv_cosmo_run_release(j->run);
    gv_particles_free(&j->particles);
    gv_checkpoint_free(&j->checkpoint);
    gravel_context_release(j->context);
    cJSON_Delete(j->record);
    free(j->text);
    if (j->lock >= 0)
        close(j->lock);
    free(j);
}

static int run(const void *values, const gv_operands *operands)
{
    const gv_cosmo_options *typed = values;
    (void)operands;
    if (typed->example) {
        gv_run_print_example(&gv_run_of_box, stdout);
        return GV_EXIT_OK;
    }
    job *j = calloc(1, sizeof *j);
    if (!j) {
        gv_say(GV_RUN, "out of memory");
        return GV_EXIT_FAILURE;
    }
    j->lock = -1;
    j->particles = j->checkpoint.particles = (gv_particles)GV_PARTICLES_INIT;
    const int code = typed->resume ? resume(j, typed) : begin_new(j, typed);
    free_job(j);
    return code;
}

const gv_command gv_cmd_run_cosmology = {
    .name = "run",
    .words = "run --cosmology",
    .summary = "a box of an expanding universe",
    .synopsis = "-i IC -o DIR [--until Z] [--redshifts LIST] [options]\n"
                "       gravel run --cosmology --file RUN.json | --example\n       gravel run --resume DIR",
    .about = "Runs a periodic box with the cosmology of its file: leapfrog steps in ln a with canonical momenta, the\n"
             "long range of forces from a mesh, the short one from the tree. DIR gets snapshots that yt and pynbody\n"
             "open, cosmology.txt with energies and their check after Layzer and Irvine, checkpoints, and a record of\n"
             "the run. Lengths are comoving and over h, masses over h (doc/cosmology.md).",
    .opts = gv_cosmo_opts,
    .examples = "gravel ic cosmo -n 64 --box 100 --redshift 49 -o ic.hdf5\n"
                "gravel run --cosmology -i ic.hdf5 -o box --redshifts 3,1\n"
                "gravel run --cosmology --example > box.json; gravel run --cosmology --file box.json --until 1\n"
                "gravel run --resume box\n",
    .size = sizeof(gv_cosmo_options),
    .given = offsetof(gv_cosmo_options, given),
    .run = run};
