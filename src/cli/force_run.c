#include "cli/force_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/decimal.h"
#include "host/base/clock.h"
#include "sim/snapshot.h"

/* ------------------------------------------------------------------ set-up */

/* Sinks per chunk: short enough for progress and Ctrl-C, the same in every run, because the launch and with it the last
 * bits depend on the number of sinks. */
static size_t chunk_size(const gv_force_job *job)
{
    double pairs = 0x1p24; /* reference */
    if (job->opts->method == GV_METHOD_TREE || job->opts->is_periodic)
        return job->count;
    if (job->opts->method == GV_METHOD_DIRECT)
        pairs = job->device.type == GRAVEL_DEVICE_CPU ? 0x1p31 : 0x1p37;
    double chunk = floor(pairs / (double)job->particles.count / 1024) * 1024;
    chunk = fmin(fmax(chunk, job->opts->method == GV_METHOD_DIRECT ? 16384 : 64), 0x1p22);
    if (job->radius != NULL)
        chunk = fmin(chunk, fmax(1024, floor(0x1p26 / (double)job->opts->capacity))); /* 512 MB of lists */
    return chunk < (double)job->count ? (size_t)chunk : job->count;
}

static gravel_status open_direct(gv_force_job *job, int order, int precision, int features, gravel_direct **direct)
{
    const gv_force_options *opts = job->opts;
    gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
    options.order = order;
    options.precision = (gravel_precision)precision;
    if (features) {
        options.nearest = opts->nearest;
        options.neighbour_capacity = opts->radius >= 0 ? (int)opts->capacity : 0;
        options.configuration = opts->configuration;
    }
    gravel_status status = gravel_direct_create(direct, job->context, &options);
    if (status == GRAVEL_OK) {
        const gravel_sources sources = gv_sources_view(&job->particles);
        status = gravel_direct_write_sources(*direct, 0, &sources);
    }
    return status == GRAVEL_OK ? gravel_direct_set_timing(*direct, opts->report != NULL) : status;
}

static gravel_status set_radius(gv_force_job *job, size_t chunk)
{
    if (job->opts->radius < 0)
        return GRAVEL_OK;
    job->radius = realloc(job->radius, chunk * sizeof *job->radius);
    if (job->radius == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < chunk; i++)
        job->radius[i] = job->opts->radius;
    return GRAVEL_OK;
}

static gravel_status cancelled(const char *of, double done)
{
    return gv_fail(GRAVEL_ERR_CANCELLED,
                   "stopped after %.0f %% of the %s; nothing was written, an earlier file is kept", 100 * done, of);
}

/* Forces on particles first ... first+count-1 into `set`. */
static gravel_status one_chunk(gv_force_job *job, gravel_direct *direct, size_t first, size_t count,
                               const gv_force_set *set, const double *radius)
{
    if (job->mesh != NULL)
        return gv_force_periodic_call(job, set);
    if (job->tree != NULL)
        return gv_force_tree_call(job, set);
    if (job->several_tree != NULL)
        return gv_force_several_tree_call(job, set);
    if (direct == NULL && job->several == NULL) {
        gv_particles part;
        gravel_status status = gv_particles_pick(&part, &job->particles, first, 1, count);
        if (status == GRAVEL_OK) {
            gv_force_set view = *set;
            view.count = count;
            status =
                job->opts->is_periodic
                    ? gv_ewald_forces(&part, &job->particles, job->side, job->opts->eps, job->opts->softening, &view)
                    : gv_reference_forces(&part, &job->particles, job->opts->eps, radius, &view);
            for (size_t i = 0; set->neighbour_count != NULL && i < count; i++)
                job->overflow += set->neighbour_count[i] > set->capacity;
            gv_particles_free(&part);
        }
        return status;
    }
    const gravel_sinks sinks = gv_sinks_view(&job->particles, first, count, radius);
    size_t overflow = 0;
    double kernel = 0;
    const double start = gv_now();
    gravel_status status = direct != NULL ? gv_direct_call(direct, &sinks, job->opts->eps, set, &overflow)
                                          : gv_force_several_call(job, &sinks, set, &overflow);
    job->call_s += gv_now() - start;
    if (status == GRAVEL_OK && direct != NULL && gravel_direct_get_kernel_time(direct, &kernel) == GRAVEL_OK)
        job->kernel_s += kernel;
    job->overflow += overflow;
    return status;
}

/* Order 6 needs the accelerations of all; where the file has none they come from an order 2 sum in the best
 * precision. */
static gravel_status add_accelerations(gv_force_job *job)
{
    gv_particles *p = &job->particles;
    gravel_direct *direct = NULL;
    gv_force_set set = {0};
    gv_progress progress;
    const size_t chunk = job->particles.count < 16384 ? job->particles.count : 16384;
    gravel_status status = GRAVEL_OK;
    if (job->several != NULL) { /* in the precision of the forces */
        const gravel_sources sources = gv_sources_view(p);
        status = gravel_several_write_sources(job->several, 0, &sources);
    } else if (job->opts->method == GV_METHOD_DIRECT)
        status = open_direct(job, 2, job->device.has_fp64 ? GRAVEL_DP : GRAVEL_DS, 0, &direct);
    double *const acc = malloc(3 * p->count * sizeof *acc);
    if (status == GRAVEL_OK && acc == NULL)
        status = gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    if (status == GRAVEL_OK)
        status = gv_force_set_create(&set, chunk, 2, 0, 0);
    gv_progress_start(&progress, "accelerations");
    for (size_t i = 0; status == GRAVEL_OK && i < p->count; i += chunk) {
        const size_t n = p->count - i < chunk ? p->count - i : chunk;
        status = gv_signals_pending()
                     ? cancelled("accelerations that order 6 begins with", (double)i / (double)p->count)
                     : one_chunk(job, direct, i, n, &set, NULL);
        if (status == GRAVEL_OK) {
            gv_waiting_stop();
            memcpy(acc + i, set.ax, n * sizeof *acc);
            memcpy(acc + p->count + i, set.ay, n * sizeof *acc);
            memcpy(acc + 2 * p->count + i, set.az, n * sizeof *acc);
        }
        gv_progress_show(&progress, (double)(i + n), (double)p->count);
    }
    gv_progress_clear(&progress);
    if (status == GRAVEL_OK) {
        double **const member[3] = {&p->ax, &p->ay, &p->az};
        for (int c = 0; c < 3 && status == GRAVEL_OK; c++) {
            *member[c] = malloc(p->count * sizeof *acc);
            status = *member[c] != NULL ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
            if (status == GRAVEL_OK)
                memcpy(*member[c], acc + (size_t)c * p->count, p->count * sizeof *acc);
        }
    }
    free(acc);
    gv_force_set_free(&set);
    gravel_direct_release(direct);
    return status;
}

/* ----------------------------------------------------------------- writing */

static void write_header(const gv_force_job *job, FILE *stream)
{
    fputs("# id ax ay az pot", stream);
    fputs(job->order >= 4 ? " jx jy jz" : "", stream);
    fputs(job->order >= 6 ? " sx sy sz" : "", stream);
    fputs(job->opts->nearest ? " nn_id nn_r" : "", stream);
    fputs(job->opts->radius >= 0 ? " n_ngb ngb...\n" : "\n", stream);
}

static void write_rows(const gv_force_set *set, const int32_t *id, size_t count, FILE *stream)
{
    const double *const column[10] = {set->ax, set->ay, set->az, set->pot, set->jx,
                                      set->jy, set->jz, set->sx, set->sy,  set->sz};
    const int columns = set->order == 2 ? 4 : set->order == 4 ? 7 : 10;
    char line[12 * (GV_DECIMAL_SIZE + 1) + 32];
    for (size_t i = 0; i < count && !ferror(stream); i++) {
        char *p = line + sprintf(line, "%d", (int)id[i]);
        for (int c = 0; c < columns; c++) {
            *p++ = ' ';
            p = gv_decimal_write(p, column[c][i]);
        }
        if (set->nearest_id != NULL) {
            p += sprintf(p, " %d ", (int)set->nearest_id[i]);
            p = gv_decimal_write(p, set->nearest_distance[i]);
        }
        fwrite(line, 1, (size_t)(p - line), stream);
        if (set->neighbour_count != NULL) {
            const size_t n = set->neighbour_count[i] < set->capacity ? set->neighbour_count[i] : set->capacity;
            fprintf(stream, " %u", (unsigned)set->neighbour_count[i]);
            for (size_t k = 0; k < n; k++)
                fprintf(stream, " %d", (int)set->neighbour_id[i * set->capacity + k]);
        }
        fputc('\n', stream);
    }
}

/* Keeps the results of every check_step-th sink for the report. */
static void keep_sample(gv_force_job *job, const gv_force_set *set, size_t done, size_t count)
{
    const double *const from[10] = {set->ax, set->ay, set->az, set->pot, set->jx,
                                    set->jy, set->jz, set->sx, set->sy,  set->sz};
    const gv_force_set *s = &job->sample;
    double *const to[10] = {s->ax, s->ay, s->az, s->pot, s->jx, s->jy, s->jz, s->sx, s->sy, s->sz};
    if (job->checked == 0)
        return;
    for (size_t k = (done + job->check_step - 1) / job->check_step; k < job->checked; k++) {
        const size_t i = k * job->check_step - done;
        if (i >= count)
            return;
        for (int c = 0; c < (set->order == 2 ? 4 : set->order == 4 ? 7 : 10); c++)
            to[c][k] = from[c][i];
    }
}

static void keep_all(gv_force_job *job, const gv_force_set *set, size_t done, size_t count)
{
    const double *const from[10] = {set->ax, set->ay, set->az, set->pot, set->jx,
                                    set->jy, set->jz, set->sx, set->sy,  set->sz};
    const gv_force_set *a = &job->all;
    double *const to[10] = {a->ax, a->ay, a->az, a->pot, a->jx, a->jy, a->jz, a->sx, a->sy, a->sz};
    for (int c = 0; c < (set->order == 2 ? 4 : set->order == 4 ? 7 : 10); c++)
        memcpy(to[c] + done, from[c], count * sizeof *from[c]);
}

gravel_status gv_force_write_hdf5(gv_force_job *job, gravel_status status)
{
    const gv_force_set *a = &job->all;
    const gv_snapshot_column more[] = {{"Potential", a->pot, NULL, NULL, 0, 0, 2},
                                       {"Jerks", a->jx, a->jy, a->jz, -2, 0, 3},
                                       {"Snaps", a->sx, a->sy, a->sz, -3, 0, 4}};
    gv_particles sinks;
    const double start = gv_now();
    const int together = gv_force_ranks_write(job);
    if (status == GRAVEL_OK)
        status = gv_particles_pick(&sinks, &job->particles, job->first, 1, job->count);
    if (together)
        status = gv_ranks_agree(job->ranks, status);
    if (status != GRAVEL_OK)
        return status;
    gv_particles file = sinks; /* with the accelerations that were computed, not those of the input */
    file.ax = a->ax;
    file.ay = a->ay;
    file.az = a->az;
    file.time = job->particles.time;
    file.units = job->particles.units;
    file.id_offset = job->particles.id_offset;
    file.period = job->opts->is_periodic ? job->side : job->particles.period;
    file.expanding = job->particles.expanding;
    gv_particles_scale_masses(&file, 1.0 / gv_units_gravity(&file.units));
    const int columns = 1 + (job->order >= 4) + (job->order >= 6);
    status = together ? gv_ranks_write_snapshot(job->ranks, &file, job->opts->out, more, columns)
                      : gv_hdf5_write(&file, job->opts->out, more, columns);
    gv_particles_free(&sinks);
    job->write_s += gv_now() - start;
    return status;
}

static gravel_status compute_chunks(gv_force_job *job, FILE *stream)
{
    const gv_force_options *opts = job->opts;
    gv_force_set set = {0};
    gv_progress progress;
    const size_t chunk = chunk_size(job);
    gravel_status status =
        gv_force_set_create(&set, chunk, job->order, opts->nearest, opts->radius >= 0 ? opts->capacity : 0);
    if (status == GRAVEL_OK && opts->report != NULL) {
        job->checked = gv_sample_size(job->count, job->particles.count, 1024, &job->check_step);
        status = gv_force_set_create(&job->sample, job->checked, job->order, 0, 0);
    }
    if (stream == NULL && status == GRAVEL_OK)
        status = gv_force_set_create(&job->all, job->count, job->order, 0, 0);
    gv_progress_start(&progress, "forces");
    for (size_t done = 0; status == GRAVEL_OK && done < job->count; done += chunk) {
        const size_t n = job->count - done < chunk ? job->count - done : chunk;
        status = gv_signals_pending() ? cancelled("sinks", (double)done / (double)job->count)
                                      : one_chunk(job, job->direct, job->first + done, n, &set, job->radius);
        if (status == GRAVEL_OK) {
            const double start = gv_now();
            gv_waiting_stop(); /* the first call compiles, the others do not */
            if (stream != NULL && done == 0)
                write_header(job, stream);
            if (stream != NULL)
                write_rows(&set, job->particles.id + job->first + done, n, stream);
            else
                keep_all(job, &set, done, n);
            job->write_s += gv_now() - start;
            keep_sample(job, &set, done, n);
            if (stream != NULL && ferror(stream))
                break; /* the commit says why */
        }
        gv_progress_show(&progress, (double)(done + n), (double)job->count);
    }
    gv_progress_clear(&progress);
    gv_force_set_free(&set);
    return status;
}

/* What the first rank does with the results. */
static gravel_status compute_over_ranks(gv_force_job *job, FILE *stream)
{
    gravel_status status = gv_force_ranks_compute(job);
    const double start = gv_now();
    job->computed = status == GRAVEL_OK;
    if (status == GRAVEL_OK && job->opts->report != NULL && gv_ranks_is_first(job->ranks)) {
        job->checked = gv_sample_size(job->count, job->particles.count, 1024, &job->check_step);
        status = gv_force_set_create(&job->sample, job->checked, job->order, 0, 0);
        if (status == GRAVEL_OK)
            keep_sample(job, &job->all, 0, job->count);
    }
    if (status == GRAVEL_OK && stream != NULL) {
        write_header(job, stream);
        write_rows(&job->all, job->particles.id + job->first, job->count, stream);
    }
    job->write_s += gv_now() - start;
    return status;
}

/* What is said while one call works.  Direct sums are many calls, of which only the first compiles: sources, forces and
 * reduction.  Trees and boxes are one call after the preparation, of mesh and tree two. */
static void say_first_call(const gv_force_options *opts)
{
    const int is_tree = opts->method == GV_METHOD_TREE;
    if (!is_tree && !opts->is_periodic)
        gv_waiting_start("compiling kernels (once per device),", 3, GV_WAITING_COMPILER);
    else
        gv_waiting_start("forces (kernels are compiled once per device): part", is_tree && opts->is_periodic ? 3 : 2,
                         GV_WAITING_STEPS);
}

gravel_status gv_force_compute(gv_force_job *job, FILE *stream)
{
    const gv_force_options *opts = job->opts;
    const double start = gv_now();
    gravel_status status = GRAVEL_OK;
    if (job->ranks != NULL)
        return compute_over_ranks(job, stream);
    if (opts->method != GV_METHOD_REFERENCE) {
        say_first_call(opts);
        status = opts->devices != NULL ? gv_force_several_open(job)
                                       : gv_cli_context(&job->context, opts->device, 0, opts->verbose);
        if (status == GRAVEL_OK && opts->devices == NULL)
            job->device = *gravel_context_get_device(job->context, 0);
    }
    if (status == GRAVEL_OK && job->order == 6 && job->particles.ax == NULL) {
        status = add_accelerations(job);
        job->call_s = job->kernel_s = 0; /* the report is about the forces that were requested */
    }
    if (status == GRAVEL_OK)
        status = set_radius(job, chunk_size(job));
    if (status == GRAVEL_OK && job->several != NULL) {
        const gravel_sources sources = gv_sources_view(&job->particles);
        status = gravel_several_write_sources(job->several, 0, &sources);
    } else if (status == GRAVEL_OK && opts->method == GV_METHOD_DIRECT && !opts->is_periodic) {
        status = open_direct(job, job->order, job->precision, 1, &job->direct);
        if (status == GRAVEL_OK) {
            status = gravel_direct_get_configuration(job->direct, chunk_size(job), job->configuration,
                                                     sizeof job->configuration, &job->origin);
        }
    }
    if (status == GRAVEL_OK && opts->method != GV_METHOD_REFERENCE && opts->is_periodic)
        status = gv_force_periodic_open(job);
    else if (status == GRAVEL_OK && opts->method == GV_METHOD_TREE && opts->devices == NULL)
        status = gv_force_tree_open(job);
    job->setup_s = gv_now() - start;
    gv_waiting_step(GV_WAITING_STEPS);
    if (status == GRAVEL_OK) {
        if (opts->verbose && opts->method != GV_METHOD_REFERENCE && opts->devices == NULL)
            gv_say(GV_FORCE, "%s: %s (%s)", job->device.name, job->configuration, gravel_origin_name(job->origin));
        status = compute_chunks(job, stream);
    }
    gv_waiting_stop();
    if (status == GRAVEL_OK && job->overflow > 0) {
        gv_say(GV_FORCE,
               "warning: %zu sinks have more than %zu neighbours; their lists are cut (n_ngb is the true count); "
               "--neighbours-capacity makes room",
               job->overflow, opts->capacity);
    }
    free(job->radius);
    job->radius = NULL;
    gravel_direct_release(job->direct);
    gravel_several_release(job->several);
    gravel_several_tree_release(job->several_tree);
    gv_force_periodic_close(job);
    gravel_tree_release(job->tree);
    gravel_context_release(job->context);
    job->direct = NULL;
    job->several = NULL;
    job->several_tree = NULL;
    job->tree = NULL;
    job->context = NULL;
    if (status != GRAVEL_OK)
        gv_force_set_free(&job->sample);
    return status;
}

/* ------------------------------------------------------------------ report */

static cJSON *report_json(const gv_force_job *job, const gv_force_set *truth, const gv_errors *errors)
{
    const gv_force_options *opts = job->opts;
    cJSON *root = cJSON_CreateObject();
    static const char *const method[] = {"direct", "tree", "reference"};
    const int device = opts->method != GV_METHOD_REFERENCE;
    gv_json_stamp(root);
    cJSON_AddStringToObject(root, "method", method[opts->method]);
    if (device) {
        cJSON_AddStringToObject(root, "device", job->device.name);
        cJSON_AddStringToObject(root, "driver", job->device.driver);
        cJSON_AddStringToObject(root, "precision", gravel_precision_name(job->precision));
        if (opts->devices != NULL) {
            gv_force_several_report(job, root);
        } else if (job->ranks != NULL) {
            cJSON_AddNumberToObject(root, "ranks", gv_ranks_count(job->ranks));
            cJSON_AddStringToObject(root, "scheme", job->devices);
        } else {
            cJSON_AddStringToObject(root, "configuration", job->configuration);
            cJSON_AddStringToObject(root, "origin", gravel_origin_name(job->origin));
        }
    }
    cJSON_AddNumberToObject(root, "order", job->order);
    cJSON_AddNumberToObject(root, "eps", opts->eps);
    cJSON_AddNumberToObject(root, "n_sources", (double)job->particles.count);
    cJSON_AddNumberToObject(root, "n_sinks", (double)job->count);
    cJSON_AddNumberToObject(root, "read_s", job->read_s);
    cJSON_AddNumberToObject(root, "setup_s", job->setup_s);
    if (device) {
        if (opts->devices == NULL && job->ranks == NULL)
            cJSON_AddNumberToObject(root, "kernel_s", job->kernel_s);
        cJSON_AddNumberToObject(root, "call_s", job->call_s);
    }
    if (opts->method == GV_METHOD_TREE)
        gv_force_tree_report(job, root);
    else if (device)
        gv_json_number(root, "pairs_per_s",
                       (double)job->particles.count * (double)job->count /
                           (opts->devices != NULL || job->ranks != NULL ? job->call_s : job->kernel_s));
    if (opts->is_periodic)
        gv_force_periodic_report(job, truth, root);
    cJSON_AddNumberToObject(root, "write_s", job->write_s);
    cJSON_AddNumberToObject(root, "total_s", gv_now() - job->start);
    if (opts->radius >= 0) {
        cJSON_AddNumberToObject(root, "neighbours_within", opts->radius);
        cJSON_AddNumberToObject(root, "neighbour_capacity", (double)opts->capacity);
        cJSON_AddNumberToObject(root, "neighbour_overflow", (double)job->overflow);
    }
    cJSON *list = cJSON_AddObjectToObject(root, "errors");
    cJSON_AddNumberToObject(list, "sinks_checked", (double)job->checked);
    for (int q = 0; q < gv_quantity_count(job->order); q++) {
        cJSON *item = cJSON_AddObjectToObject(list, gv_quantity_name[q]);
        gv_json_number(item, "mean", errors->mean[q]);
        gv_json_number(item, "p50", gv_error_quantile(&job->sample, truth, q, 0.5));
        gv_json_number(item, "p99", gv_error_quantile(&job->sample, truth, q, 0.99));
        gv_json_number(item, "max", errors->max[q]);
    }
    return root;
}

gravel_status gv_force_report(gv_force_job *job, FILE *stream)
{
    gv_force_set truth = {0};
    gv_particles picked = GV_PARTICLES_INIT;
    gv_errors errors;
    char *text = NULL;
    gravel_status status = gv_particles_pick(&picked, &job->particles, job->first, job->check_step, job->checked);
    if (status == GRAVEL_OK)
        status = gv_force_set_create(&truth, job->checked, job->order, 0, 0);
    if (status == GRAVEL_OK)
        status = job->opts->is_periodic ? gv_ewald_forces(&picked, &job->particles, job->side, job->opts->eps,
                                                          job->opts->softening, &truth)
                                        : gv_reference_forces(&picked, &job->particles, job->opts->eps, NULL, &truth);
    if (status == GRAVEL_OK) {
        gv_errors_set(&errors, &job->sample, &truth);
        cJSON *root = report_json(job, &truth, &errors);
        text = cJSON_Print(root);
        cJSON_Delete(root);
        status = text != NULL ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    }
    if (status == GRAVEL_OK)
        gv_json_put(text, stream);
    cJSON_free(text);
    gv_force_set_free(&truth);
    gv_force_set_free(&job->sample);
    gv_particles_free(&picked);
    return status;
}
