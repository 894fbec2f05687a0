/* A run: its device, its log, what it starts from, its profile. */
#include "tuner/session.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/files.h"
#include "host/profile/store.h"
#include "tuner/run.h"
#include "host/base/clock.h"

const gv_subject *gv_tune_subject(const gv_tune_options *options)
{
    return gv_subject_find(options->kernel);
}

gravel_status gv_tune_look(const char *device, int no_fp64, const gv_space *space, gv_tune_device *found)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_context *context = NULL;
    gravel_status status;

    memset(found, 0, sizeof *found);
    options.device = device;
    options.no_fp64 = no_fp64;
    options.profile_dir = "";
    status = gravel_context_create(&context, &options);
    if (status != GRAVEL_OK)
        return status;
    found->limits = gv_limits_of(context, 0);
    gv_profile_kernel_version(context, space, found->kernel_version);
    gravel_context_release(context);
    return GRAVEL_OK;
}

/* ------------------------------------------------------------------ starts */

/* The user's other profiles, of devices that are alike. */
static gravel_status know_alike(gv_run *run, const gv_profile_device *device)
{
    gv_profile_set all = GV_PROFILE_SET_INIT;
    gravel_status status = GRAVEL_OK;

    if (run->options->profile_dir != NULL)
        status = gv_profile_read_dir(run->options->profile_dir, &all, NULL, NULL);
    for (int b = 0; b < all.n_blocks; b++) {
        const gv_profile_block *block = &all.block[b];
        const int counts = gv_profile_alike(&block->device, device) && !gv_profile_same_device(&block->device, device);

        for (int e = 0; counts && e < block->n_entries && status == GRAVEL_OK; e++)
            status = gv_profile_set_add(&run->known, &block->device, &block->entry[e]);
    }
    gv_profile_set_free(&all);
    return status;
}

/* The profiles from before the run: tuning again begins where the last run ended.  A resumed run has changed the
 * profiles already, so it reads the copy that it wrote beside its log when it began. */
static gravel_status read_known(gv_run *run)
{
    const gv_tune_options *options = run->options;
    char *path = options->log_path != NULL ? gv_format("%s.known", options->log_path) : NULL;
    gv_profile_device device;
    gravel_status status = GRAVEL_OK;

    if (options->log_path != NULL && path == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the name of a file");
    if (run->log.n > 0) {
        /* a log without it is of a run without profiles */
        status = access(path, F_OK) == 0 ? gv_profile_read_file(path, &run->known) : GRAVEL_OK;
        free(path);
        gv_profile_set_check(&run->known, run->space, NULL, NULL);
        return status;
    }
    gv_profile_device_of(&run->device.limits.info, &device);
    if (options->profile_dir != NULL) {
        char name[128], *file;

        gv_profile_file_name(&device, name);
        file = gv_path_join(options->profile_dir, name);
        if (file == NULL) {
            free(path);
            return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the name of a file");
        }
        /* one that cannot be read is moved aside when the first winner is saved */
        if (access(file, F_OK) == 0 && gv_profile_read_file(file, &run->known) != GRAVEL_OK)
            gv_run_warn(run, gravel_error_message());
        free(file);
    }
    status = know_alike(run, &device);
    if (status == GRAVEL_OK)
        status = gv_profile_read_shipped(&device, NULL, &run->known, NULL, NULL);
    if (status == GRAVEL_OK)
        status = gv_profile_read_shipped_alike(&device, NULL, &run->known, NULL, NULL);
    if (status == GRAVEL_OK && path != NULL)
        status = gv_profile_write_file(path, &run->known);
    free(path);
    gv_profile_set_check(&run->known, run->space, NULL, NULL);
    return status;
}

int gv_run_point(const gv_run *run, const gv_config *config, gv_point *point)
{
    return gv_domain_point(&run->domain, config, point) && gv_domain_find(&run->domain, point) >= 0;
}

static int known_start(const gv_run *run, gv_point *start)
{
    const gv_profile_question asked = {run->space,          &run->task.variant,
                                       &run->device.limits, run->device.kernel_version,
                                       run->task.sinks,     run->task.sources};
    const gv_profile_entry *entry;
    gravel_origin origin;
    gv_config config;

    return gv_profile_look_up(&run->known, NULL, &asked, &config, &origin, &entry) && origin == GRAVEL_ORIGIN_USER &&
           gv_run_point(run, &config, start);
}

/* What won the nearest question without searches. */
static int plain_start(const gv_run *run, gv_point *start)
{
    int next = -1;

    if (run->task.variant.features == 0)
        return 0;
    for (int k = 0; k < run->n_plain; k++)
        if (strcmp(run->plain_task[k].variant.name, run->task.variant.name) == 0 &&
            (next < 0 ||
             gv_run_distance(&run->plain_task[k], &run->task) < gv_run_distance(&run->plain_task[next], &run->task)))
            next = k;
    return next >= 0 && gv_run_point(run, &run->plain[next], start);
}

/* The built-in default first, then those of a profile and of the variant without searches, then winners of this variant
 * by nearness, then of others. */
static int make_starts(gv_run *run, const gv_winners *found, gv_point *start, int most)
{
    gv_config config;
    int taken[GV_TUNE_SIZES * GV_TUNE_SIZES] = {0}, n = 0;

    run->space->built_in(&config, &run->task.variant, &run->device.limits, run->task.sinks, run->task.sources);
    n = run->has_built_in = gv_run_point(run, &config, &start[0]);
    n += known_start(run, &start[n]);
    n += plain_start(run, &start[n]);
    run->sure = n;
    while (n < most - 1) {
        int next = -1;

        for (int k = 0; k < found->n; k++)
            if (!taken[k] && (next < 0 || gv_run_distance(&found->w[k].task, &run->task) <
                                              gv_run_distance(&found->w[next].task, &run->task)))
                next = k;
        if (next < 0)
            break;
        taken[next] = 1;
        start[n++] = found->w[next].point;
    }
    for (int k = 0; k < run->n_earlier && n < most; k++)
        n += gv_run_point(run, &run->earlier[k], &start[n]);
    run->inherited = start[n > 1 && run->has_built_in];
    return n;
}

/* --------------------------------------------------------------------- run */

/* A profile of a thousand answers takes a tenth of a second to read and write. */
#define SAVE_EVERY_S 5

static void save_now(gv_run *run)
{
    gravel_status status;

    if (run->unsaved.n_blocks == 0)
        return;
    status = gv_profile_save(run->options->profile_dir, &run->unsaved, run->summary->profile_path,
                             sizeof run->summary->profile_path);
    gv_profile_set_free(&run->unsaved);
    run->saved_at = gv_now();
    run->status = run->status == GRAVEL_OK ? status : run->status;
}

void gv_tune_save(gv_run *run, const gv_profile_entry *entry)
{
    gv_profile_device device;

    if (run->options->profile_dir == NULL || run->options->record)
        return;
    gv_profile_device_of(&run->device.limits.info, &device);
    run->status = gv_profile_set_add(&run->unsaved, &device, entry);
    if (gv_now() - run->saved_at > SAVE_EVERY_S)
        save_now(run);
}

void gv_run_answer(gv_run *run, gv_winners *found, double allotted)
{
    gv_profile_entry *entry = calloc(1, sizeof *entry);
    gv_tune_result result;
    gv_point start[6] = {{{0}}}, best;
    int n = make_starts(run, found, start, 6);

    if (entry == NULL) {
        run->status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for the entry of a profile");
        return;
    }
    /* the finals take about a third */
    run->task_end = isfinite(allotted) ? run->spent_s + 0.65 * allotted : INFINITY;
    /* however little time is left, a variant's first question measures the default at least */
    if (found->n == 0 && run->n_plain == 0)
        run->task_end = fmax(run->task_end, run->spent_s + 0.5);
    run->wall = gv_now();
    run->may_widen = found->n == 0 && !run->wide;
    if (gv_question_answer(run, start, n, entry, &result, &best)) {
        found->w[found->n].task = run->task;
        found->w[found->n].time_s = result.time_s;
        found->w[found->n].entry = *entry;
        found->w[found->n++].point = best;
        if (run->task.variant.features == 0) {
            run->plain_task[run->n_plain] = run->task;
            run->plain_s[run->n_plain] = result.time_s;
            gv_domain_config(&run->domain, &best, &run->plain[run->n_plain++]);
        }
        gv_tune_save(run, entry);
        if (found->n == 1) {
            memmove(&run->earlier[1], &run->earlier[0], 3 * sizeof run->earlier[0]);
            gv_domain_config(&run->domain, &best, &run->earlier[0]);
            run->n_earlier += run->n_earlier < 4;
        }
    }
    if (!run->interrupted)
        run->summary->tasks_done++;
    if (run->options->finished != NULL)
        run->options->finished(&result, run->options->user);
    free(entry);
}

static gravel_status open_log(gv_run *run)
{
    gv_tlog_header header;

    if (run->options->log_path == NULL)
        return GRAVEL_OK;
    memset(&header, 0, sizeof header);
    gv_profile_device_of(&run->device.limits.info, &header.device);
    gv_name_clean(run->device.limits.info.driver, header.driver);
    snprintf(header.kernel, sizeof header.kernel, "%s", run->space->kernel);
    snprintf(header.kernel_version, sizeof header.kernel_version, "%s", run->device.kernel_version);
    snprintf(header.gravel, sizeof header.gravel, "%s", GRAVEL_VERSION);
    gv_date(header.date);
    return gv_tlog_open(run->options->log_path, &header, run->options->resume, &run->log);
}

/* Builders pay where compiling does not disturb the clock; on a CPU both cores build first and measure then. */
int gv_tune_jobs(const gv_limits *limits)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (limits->info.type == GRAVEL_DEVICE_CPU)
        return cores > 1 ? (cores < 8 ? (int)cores : 8) : 0;
    return cores > 2 ? (cores - 1 < GV_MAX_BUILDERS ? (int)cores - 1 : GV_MAX_BUILDERS) : 0;
}

/* All checks of the options, before the log of the last run is replaced. */
static gravel_status check_options(gv_run *run)
{
    const gv_tune_options *options = run->options;
    gravel_status status = GRAVEL_OK;

    for (int v = 0; v < options->n_variants && status == GRAVEL_OK; v++) {
        const gv_variant *variant = &options->variant[v];

        if (variant->precision == GRAVEL_DP && !run->device.limits.info.has_fp64)
            continue;
        status = gv_domain_of_space(&run->domain, run->space, variant, &run->device.limits, options->limit,
                                    options->unlikely);
        gv_domain_free(&run->domain);
    }
    if (status == GRAVEL_OK && options->profile_dir != NULL && !options->record) {
        gv_profile_device device;

        gv_profile_device_of(&run->device.limits.info, &device);
        status = gv_profile_may_save(options->profile_dir, &device);
    }
    return status;
}

gravel_status gv_tune(const gv_tune_options *options, gv_tune_summary *summary)
{
    gv_tune_options filled = *options;
    gv_run *run = calloc(1, sizeof *run);
    struct sigaction ignore, before;
    gravel_status status;

    memset(summary, 0, sizeof *summary);
    if (gv_tune_subject(options) == NULL) {
        free(run);
        return gv_fail(GRAVEL_ERR_ARGUMENT, "there is no kernel '%s' to tune (direct, tree)", options->kernel);
    }
    if (run == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a tuning run");
    filled.strategy = options->strategy != NULL ? options->strategy : &gv_strategies[0];
    run->options = &filled;
    run->summary = summary;
    run->space = gv_tune_subject(options)->space;
    run->log.fd = -1;
    /* a worker that died between two requests must not end the run */
    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &before);
    status = gv_tune_look(options->device, options->no_fp64, run->space, &run->device);
    if (status != GRAVEL_OK)
        goto out;
    snprintf(summary->device, sizeof summary->device, "%s", run->device.limits.info.name);
    run->worker_options = (gv_tune_worker_options){options->worker_argv, 60, options->interrupted, options->user};
    gv_tune_worker_init(&run->worker, &run->worker_options);
    gv_builders_init(&run->builders, options->jobs >= 0 ? options->jobs : gv_tune_jobs(&run->device.limits),
                     &run->worker_options);
    status = check_options(run);
    status = status == GRAVEL_OK ? open_log(run) : status;
    if (status == GRAVEL_OK && run->log.n_bad > 0) {
        char text[1200];

        snprintf(text, sizeof text, GV_TLOG_BAD, options->log_path, run->log.n_bad, run->log.first_bad);
        gv_run_warn(run, text);
    }
    if (status == GRAVEL_OK) {
        status = options->record ? GRAVEL_OK : read_known(run);
        status = status == GRAVEL_OK ? gv_run_all(run) : status;
        save_now(run);
        status = status == GRAVEL_OK ? run->status : status;
        gv_run_remarks(run);
        gv_tlog_close(&run->log);
        gv_profile_set_free(&run->known);
    }
    gv_tune_worker_stop(&run->worker);
    gv_builders_stop(&run->builders);
    summary->interrupted = run->interrupted;
    summary->spent_s = run->spent_s;
out:
    sigaction(SIGPIPE, &before, NULL);
    free(run->built);
    free(run);
    return status;
}
