/* `mpirun gravel force`: every rank finds the forces on its range of the sinks. */
#include "cli/force_run.h"

#include <stdlib.h>
#include <string.h>

#include "cli/particle_file.h"
#include "host/base/clock.h"

int gv_force_ranks_check(const gv_force_options *opts)
{
    const char *what = opts->method == GV_METHOD_REFERENCE ? "--method direct or tree"
                       : opts->is_periodic                 ? "no --periodic"
                       : opts->nearest                     ? "no --nearest"
                       : opts->radius >= 0                 ? "no --neighbours-within"
                       : opts->devices != NULL ? "-d with a list as in 'gravel cluster devices', not --devices"
                       : opts->writers && !gv_snapshot_is_hdf5_name(opts->out) ? "--writers all needs a name in .hdf5"
                                                                               : NULL;
    if (gv_ranks_started() == 1)
        return GV_EXIT_OK;
    if (what == NULL)
        return opts->writers && gv_ranks_can_write() ? gv_cli_fail(GV_FORCE, GRAVEL_ERR_UNSUPPORTED) : GV_EXIT_OK;
    gv_say(GV_FORCE, "over ranks: %s", what);
    return GV_EXIT_USAGE;
}

int gv_force_ranks_write(const gv_force_job *job)
{
    return job->ranks != NULL && job->opts->writers;
}

gravel_status gv_force_ranks_read(gv_force_job *job, gravel_status status)
{
    status = gv_ranks_agree(job->ranks, status);
    return status ? status : gv_ranks_spread_particles(job->ranks, &job->particles);
}

#ifdef GV_HAVE_MPI

#include "gravel/cluster.h"

static gravel_status open_direct(gv_force_job *job, gravel_cluster_direct **direct)
{
    gravel_cluster_direct_options options = GRAVEL_CLUSTER_DIRECT_OPTIONS_INIT;
    options.precision = job->precision;
    options.host = GRAVEL_HOST_NEVER;
    options.configuration = job->opts->configuration;
    return gravel_cluster_direct_create(direct, gv_ranks_cluster(job->ranks), &options);
}

/* From the particles as they are; sources of this rank are its range of them. */
static gravel_status write_sources(gv_force_job *job, gravel_cluster_direct *direct)
{
    size_t first, mine;
    gv_particles part = job->particles;
    gv_ranks_get_range(job->ranks, part.count, &first, &mine);
    double **const column[] = {&part.m,  &part.x,  &part.y,  &part.z,  &part.vx,
                               &part.vy, &part.vz, &part.ax, &part.ay, &part.az};
    part.count = mine;
    part.id += first;
    for (size_t k = 0; k < sizeof column / sizeof column[0]; k++)
        if (*column[k])
            *column[k] += first;
    const gravel_sources sources = gv_sources_view(&part);
    return gravel_cluster_direct_write(direct, job->particles.count, first, &sources);
}

/* Calls of so many sinks that progress is seen; all ranks make as many. */
static size_t count_calls(const gv_force_job *job, size_t sinks)
{
    const double pairs = (double)sinks * (double)job->particles.count / gv_ranks_count(job->ranks);
    const double calls = pairs / (job->device.type == GRAVEL_DEVICE_CPU ? 0x1p31 : 0x1p37);
    return calls < 1 ? 1 : calls > 1e6 ? 1000000 : (size_t)calls;
}

static void find_place(const gv_force_set *set, size_t at, gv_force_set *part)
{
    double **const column[] = {&part->ax, &part->ay, &part->az, &part->pot, &part->jx,
                               &part->jy, &part->jz, &part->sx, &part->sy,  &part->sz};
    *part = *set;
    for (size_t k = 0; k < sizeof column / sizeof column[0]; k++)
        if (*column[k])
            *column[k] += at;
}

/* Forces on particles first ... first + set->count - 1, on all ranks. */
static gravel_status find_all(gv_force_job *job, gravel_cluster_direct *direct, size_t first, const gv_force_set *set)
{
    size_t begin, mine;
    const size_t calls = count_calls(job, set->count);
    gravel_status status = GRAVEL_OK;
    gv_progress progress;
    gv_ranks_get_range(job->ranks, set->count, &begin, &mine);
    gv_progress_start(&progress, "forces");
    for (size_t k = 0; k < calls && !status; k++) {
        const size_t from = mine / calls * k + mine % calls * k / calls;
        const size_t to = mine / calls * (k + 1) + mine % calls * (k + 1) / calls;
        gravel_cluster_call call = GRAVEL_CLUSTER_CALL_INIT;
        const gravel_sinks sinks = gv_sinks_view(&job->particles, first + begin + from, to - from, NULL);
        gv_force_set part;
        find_place(set, begin + from, &part);
        const gravel_forces forces = gv_force_set_view(&part, 0);
        call.sinks = &sinks;
        call.order = set->order;
        call.eps = job->opts->eps;
        status = gravel_cluster_direct_forces(direct, &call, &forces);
        if (gv_ranks_is_first(job->ranks))
            gv_progress_show(&progress, (double)(k + 1), (double)calls);
    }
    gv_progress_clear(&progress);
    double *const column[10] = {set->ax, set->ay, set->az, set->pot, set->jx,
                                set->jy, set->jz, set->sx, set->sy,  set->sz};
    for (int c = 0; c < (set->order == 2 ? 4 : set->order == 4 ? 7 : 10) && !status; c++)
        status = gv_ranks_gather(job->ranks, set->count, column[c], status);
    return status;
}

static gravel_status add_accelerations(gv_force_job *job, gravel_cluster_direct *direct)
{
    gv_particles *p = &job->particles;
    gv_force_set set = {0};
    double **const to[3] = {&p->ax, &p->ay, &p->az};
    gravel_status status = gv_ranks_agree(job->ranks, gv_force_set_create(&set, p->count, 2, 0, 0));
    if (!status)
        status = write_sources(job, direct);
    if (!status)
        status = find_all(job, direct, 0, &set);
    double *const from[3] = {set.ax, set.ay, set.az};
    for (int c = 0; c < 3 && !status; c++) {
        *to[c] = malloc(p->count * sizeof **to[c]);
        status = *to[c] ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
        if (!status)
            memcpy(*to[c], from[c], p->count * sizeof **to[c]);
    }
    gv_force_set_free(&set);
    return gv_ranks_agree(job->ranks, status);
}

static gravel_status direct_forces(gv_force_job *job)
{
    gravel_cluster_direct *direct = NULL;
    const double start = gv_now();
    gravel_status status = open_direct(job, &direct);
    if (!status)
        status = gv_ranks_agree(job->ranks, gv_force_set_create(&job->all, job->count, job->order, 0, 0));
    if (!status && job->order == 6 && job->particles.ax == NULL)
        status = add_accelerations(job, direct);
    if (!status)
        status = write_sources(job, direct);
    job->setup_s = gv_now() - start;
    if (!status)
        status = find_all(job, direct, job->first, &job->all);
    job->call_s = gv_now() - start - job->setup_s;
    snprintf(job->devices, sizeof job->devices, "%s", gravel_scheme_name(gravel_cluster_direct_get_scheme(direct)));
    gravel_cluster_direct_release(direct);
    return status;
}

/* A tree over the ranks; the first one gets all results, one that writes those of its range. */
static gravel_status tree_forces(gv_force_job *job)
{
    const gravel_tree_options wanted = gv_force_tree_options(job);
    gravel_cluster_tree_options options = GRAVEL_CLUSTER_TREE_OPTIONS_INIT;
    gravel_cluster_tree *tree = NULL;
    gv_particles part = job->particles;
    size_t first, at = 0, count = job->count; /* of the sinks, those that come here */
    const double start = gv_now();
    if (!gv_ranks_is_first(job->ranks))
        gv_ranks_get_range(job->ranks, gv_force_ranks_write(job) ? job->count : 0, &at, &count);
    gv_ranks_get_range(job->ranks, job->particles.count, &first, &part.count);
    options.theta = wanted.theta;
    options.mac = wanted.mac;
    options.moments = wanted.moments;
    options.softening = wanted.softening;
    options.precision = wanted.precision;
    options.stored = wanted.precision == GRAVEL_DP ? GRAVEL_DP : GRAVEL_DS;
    options.configuration = wanted.configuration;
    options.eps = job->opts->eps;
    const gravel_sources mine = {.count = part.count,
                                 .mass = part.m + first,
                                 .pos = GRAVEL_VEC_SOA(part.x + first, part.y + first, part.z + first)};
    gravel_status status = gravel_cluster_tree_create(&tree, gv_ranks_cluster(job->ranks), &options);
    if (!status)
        status = gv_ranks_agree(job->ranks, gv_force_set_create(&job->all, job->count, job->order, 0, 0));
    if (!status)
        status = gravel_cluster_tree_write(tree, first, &mine);
    job->setup_s = gv_now() - start;
    if (!status)
        status = gravel_cluster_tree_compute(tree);
    const gravel_array_out acc = GRAVEL_ARRAY_OUT_SOA(job->all.ax + at, job->all.ay + at, job->all.az + at);
    const gravel_array_out pot = GRAVEL_ARRAY_OUT(job->all.pot + at);
    at = count > 0 ? job->first + at : 0;
    if (!status)
        status = gravel_cluster_tree_read(tree, GRAVEL_ACCELERATION, at, count, &acc);
    if (!status)
        status = gravel_cluster_tree_read(tree, GRAVEL_POTENTIAL, at, count, &pot);
    job->call_s = gv_now() - start - job->setup_s;
    snprintf(job->devices, sizeof job->devices, "domains");
    gravel_cluster_tree_release(tree);
    return status;
}

gravel_status gv_force_ranks_compute(gv_force_job *job)
{
    const gravel_cluster_rank *me = gravel_cluster_get_info(gv_ranks_cluster(job->ranks), 0);
    const gravel_status status = gv_ranks_agree(job->ranks, GRAVEL_OK); /* the first rank can write */
    snprintf(job->device.name, sizeof job->device.name, "%s", me->name);
    snprintf(job->device.driver, sizeof job->device.driver, "%s", me->driver);
    job->device.type = strncmp(me->devices, "cpu", 3) == 0 ? GRAVEL_DEVICE_CPU : GRAVEL_DEVICE_GPU;
    return status ? status : job->opts->method == GV_METHOD_TREE ? tree_forces(job) : direct_forces(job);
}

#else

gravel_status gv_force_ranks_compute(gv_force_job *job)
{
    (void)job;
    return gv_fail(GRAVEL_ERR_UNSUPPORTED, "this gravel was built without MPI");
}

#endif
