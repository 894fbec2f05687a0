#include "cli/run_ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef GV_HAVE_MPI

#include "gravel/cluster.h"

/* What the first rank says next. */
typedef struct word {
    int what, code;
    double time;
} word;
enum { GO_AWAY = -1, OPEN = -2 }; /* else a gv_run_order */

static gravel_status say_word(gv_run_ranks *r, int what, double time, int code)
{
    word w;
    memset(&w, 0, sizeof w);
    w.what = what;
    w.code = code;
    w.time = time;
    return gv_ranks_spread(r->ranks, &w, sizeof w);
}

/* ------------------------------------------------------------------- company */

static gravel_status find_forces(gravel_direct *direct, const gravel_direct_call *call, void *user)
{
    gv_run_ranks *r = user;
    return r->ring ? gravel_cluster_ring_forces(direct, call, r->ring)
                   : gravel_cluster_share_forces(direct, call, r->share);
}

static gravel_status costs(gravel_status status, double *number, size_t count, void *user)
{
    gv_run_ranks *r = user;
    return gravel_cluster_share_costs(status, number, count, r->share);
}

static gravel_status agree(gravel_status status, double *least, double *sum, void *user)
{
    gv_run_ranks *r = user;
    return gravel_cluster_ring_agree(status, least, sum, r->ring);
}

static gravel_status potentials(void *user, gravel_direct *direct, gravel_bodies *bodies, double eps, double *potential)
{
    gv_run_ranks *r = user;
    return gravel_cluster_ring_potentials(r->ring, direct, bodies, eps, potential);
}

static gravel_status collect(void *user, const void *mine, size_t size, char **all, size_t *whole, gravel_status status)
{
    gv_run_ranks *r = user;
    return gv_ranks_collect(r->ranks, mine, size, all, whole, status);
}

static gravel_status tell(void *user, gv_run_order order, double time)
{
    return say_word(user, (int)order, time, 0);
}

/* A rank that fails between messages meets the others, who are behind in the same order, at their next agreement. */
static gravel_status done(void *user, gravel_status status)
{
    gv_run_ranks *r = user;
    const uint64_t failures = gravel_cluster_get_failures(gv_ranks_cluster(r->ranks));
    const int known = status != GRAVEL_OK && failures != r->failures;
    if (!known)
        status = gv_ranks_agree(r->ranks, status);
    r->failures = gravel_cluster_get_failures(gv_ranks_cluster(r->ranks));
    return status;
}

static void get_range(void *user, size_t count, size_t *first, size_t *mine)
{
    gv_run_ranks *r = user;
    gv_ranks_get_range(r->ranks, count, first, mine);
}

static gravel_status gather(void *user, size_t count, double *numbers, gravel_status status)
{
    gv_run_ranks *r = user;
    return gv_ranks_gather(r->ranks, count, numbers, status);
}

static gravel_status compare(void *user, const void *bytes, size_t size, gravel_status status)
{
    gv_run_ranks *r = user;
    return gv_ranks_compare(r->ranks, bytes, size, status);
}

static gravel_status write_snapshot(void *user, const gv_particles *particles, const char *path)
{
    gv_run_ranks *r = user;
    return gv_ranks_write_snapshot(r->ranks, particles, path, NULL, 0);
}

/* ---------------------------------------------------------------------- life */

int gv_run_ranks_open(gv_run_ranks *r, const gv_run_options *typed)
{
    memset(r, 0, sizeof *r);
    const int code = gv_ranks_open(&r->ranks, GV_RUN, typed->device, typed->verbose);
    r->company = (gv_run_company){.forces = find_forces,
                                  .tell = gv_ranks_is_first(r->ranks) ? tell : NULL,
                                  .done = done,
                                  .get_range = get_range,
                                  .gather = gather,
                                  .costs = costs,
                                  .compare = compare,
                                  .potentials = potentials,
                                  .collect = collect,
                                  .write = write_snapshot,
                                  .rank = gv_ranks_rank(r->ranks),
                                  .size = gv_ranks_count(r->ranks),
                                  .user = r};
    return code;
}

int gv_run_ranks_close(gv_run_ranks *r, int code)
{
    if (!r->ranks)
        return code;
    if (gv_ranks_is_first(r->ranks))
        say_word(r, GO_AWAY, 0, code);
    gravel_cluster_share_release(r->share);
    gravel_cluster_ring_release(r->ring);
    return gv_ranks_close(r->ranks, code);
}

/* ------------------------------------------------------------------- opening */

/* What has another program, device or other profiles would get other bits. */
static gravel_status compare_identity(gv_run_ranks *r, gravel_context *context)
{
    static const char *const name[] = {"version", "program", "profile", "device"};
    static const char *const other[] = {
        "another version", "another program",
        "other tuned profiles (one GRAVEL_PROFILE_DIR for all, and no 'gravel tune' meanwhile)", "another device"};
    cJSON *mine = gv_run_identity(context);
    char *text = gv_ranks_is_first(r->ranks) ? cJSON_PrintUnformatted(mine) : NULL;
    gravel_status status = gv_ranks_spread_text(r->ranks, &text);
    cJSON *first = !status && text ? cJSON_Parse(text) : NULL;
    for (size_t k = 0; k < sizeof name / sizeof name[0] && !status; k++)
        if (!cJSON_Compare(cJSON_GetObjectItemCaseSensitive(first, name[k]),
                           cJSON_GetObjectItemCaseSensitive(mine, name[k]), 1))
            status = gv_fail(GRAVEL_ERR_ARGUMENT, "%s than on rank 0: bits would differ", other[k]);
    cJSON_Delete(first);
    cJSON_Delete(mine);
    free(text);
    return gv_ranks_agree(r->ranks, status);
}

static gravel_status spread_checkpoint(gv_run_ranks *r, gv_checkpoint *c)
{
    gravel_status status = gv_ranks_spread(r->ranks, &c->state, sizeof c->state);
    if (!status)
        status = gv_ranks_spread(r->ranks, &c->at, sizeof c->at);
    if (!status)
        status = gv_ranks_spread(r->ranks, &c->bodies_size, sizeof c->bodies_size);
    if (!status)
        status = gv_ranks_spread_text(r->ranks, &c->choices);
    if (!status && !gv_ranks_is_first(r->ranks))
        c->bodies = malloc(c->bodies_size + 1);
    status = gv_ranks_agree(r->ranks, status || c->bodies ? status : gv_fail(GRAVEL_ERR_MEMORY, "out of memory"));
    return status ? status : gv_ranks_spread(r->ranks, c->bodies, c->bodies_size);
}

/* All ranks; pointers of the settings are good on the first one only. */
static gravel_status spread_all(gv_run_ranks *r, gv_run_settings *s, char **configuration, gv_particles *p,
                                gv_checkpoint *checkpoint, int *resumes)
{
    gravel_status status = gv_ranks_spread(r->ranks, s, sizeof *s);
    if (!status)
        status = gv_ranks_spread_text(r->ranks, configuration);
    if (!status)
        status = gv_ranks_spread_particles(r->ranks, p);
    if (!status)
        status = gv_ranks_spread(r->ranks, resumes, sizeof *resumes);
    return status || !*resumes ? status : spread_checkpoint(r, checkpoint);
}

/* Bodies that are dealt out, by the ring or a tree, may be on unlike devices. */
static gravel_status open_share(gv_run_ranks *r, gravel_context *context, const gv_run_settings *s, int is_dealt)
{
    gravel_cluster_share *share = NULL;
    gravel_cluster_ring *ring = NULL;
    if (s->solver == GV_RUN_TREE)
        return GRAVEL_OK;
    gravel_status status = is_dealt ? GRAVEL_OK : compare_identity(r, context);
    if (!status && is_dealt)
        status = gravel_cluster_ring_create(&ring, gv_ranks_cluster(r->ranks), context);
    if (!status && !is_dealt)
        status = gravel_cluster_share_create(&share, gv_ranks_cluster(r->ranks), context);
    r->share = share;
    r->ring = ring;
    r->company.agree = is_dealt ? agree : NULL;
    r->company.alone_pairs = gravel_cluster_share_get_least_pairs(share);
    return status;
}

/* All ranks; blocks of block steps have a hundredth of the bodies, about. */
static gravel_status choose_scheme(gv_run_ranks *r, gravel_context *context, const gv_run_settings *s, size_t n,
                                   int asked, int *is_dealt)
{
    const gv_scheme_question question = {.n = (double)n,
                                         .active = s->steps == GV_RUN_BLOCK ? ceil(0.01 * (double)n) : (double)n,
                                         .order = s->order,
                                         .is_dp = s->precision == GRAVEL_DP,
                                         .context = context};
    *is_dealt = 0;
    return s->order == 2 ? GRAVEL_OK : gv_ranks_choose(r->ranks, (gv_scheme)asked, &question, is_dealt);
}

gravel_status gv_run_ranks_invite(gv_run_ranks *r, gravel_context *context, gv_run_settings *s, gv_particles *p,
                                  gv_checkpoint *checkpoint, const gv_run_options *opts)
{
    char *configuration = (char *)s->configuration;
    int resumes = checkpoint != NULL, no_fp64 = opts->no_fp64, is_dealt;
    if (!r->ranks)
        return GRAVEL_OK;
    if (s->order == 2 && opts->scheme == GV_SCHEME_RING)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "--scheme ring: bodies of the leapfrog are not dealt out, --order 4 or 6");
    gravel_status status = s->together ? gv_ranks_can_write() : GRAVEL_OK;
    if (status)
        return status;
    status = say_word(r, OPEN, opts->scheme, no_fp64);
    if (!status)
        status = spread_all(r, s, &configuration, p, checkpoint, &resumes);
    status = gv_ranks_agree(r->ranks, status); /* the others have contexts */
    if (!status)
        status = choose_scheme(r, context, s, p->count, opts->scheme, &is_dealt);
    if (!status)
        status = open_share(r, context, s, is_dealt);
    s->company = &r->company;
    return status;
}

gravel_status gv_run_ranks_created(gv_run_ranks *r, gravel_status status)
{
    return gv_ranks_agree(r->ranks, status);
}

/* Of all ranks, where they are not alike: NULL else.  A run on like devices has rank 0's in its record. */
static cJSON *list_devices(const gv_run_ranks *r)
{
    const gravel_cluster *cluster = gv_ranks_cluster(r->ranks);
    cJSON *list = cJSON_CreateArray();
    int alike = 1;
    for (int k = 0; k < gv_ranks_count(r->ranks) && cluster; k++) {
        const gravel_cluster_rank *rank = gravel_cluster_get_info(cluster, k);
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "name", rank->name);
        cJSON_AddStringToObject(one, "driver", rank->driver);
        cJSON_AddNumberToObject(one, "compute_units", rank->compute_units);
        cJSON_AddItemToArray(list, one);
        alike = alike && cJSON_Compare(one, cJSON_GetArrayItem(list, 0), 1);
    }
    if (!alike)
        return list;
    cJSON_Delete(list);
    return NULL;
}

void gv_run_ranks_record(cJSON *made_by, const gv_run_ranks *r)
{
    cJSON *list = list_devices(r);
    if (list)
        cJSON_AddItemToObject(made_by, "rank_devices", list);
}

int gv_run_ranks_compare(const cJSON *record, const gv_run_ranks *r, const char *allow)
{
    const cJSON *then =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(record, "made_by"), "rank_devices");
    const cJSON *ranks = cJSON_GetObjectItemCaseSensitive(record, "ranks");
    cJSON *now = list_devices(r);
    const int same = (!then && !now) || (then && now && cJSON_Compare(then, now, 1)),
              before = cJSON_IsNumber(ranks) ? ranks->valueint : 1;
    cJSON_Delete(now);
    if (same || before != gv_ranks_count(r->ranks) || gv_run_allows(allow, "device"))
        return 0;
    gv_say(GV_RUN, "the ranks of the run had other devices, or in another order: steps would have other bits; choose "
                   "with -d, or go on with --allow device");
    return -1;
}

/* ------------------------------------------------------------------ following */

typedef struct follower {
    gv_run_settings settings;
    gv_particles particles;
    gv_checkpoint checkpoint;
    char *configuration;
    gravel_context *context;
    gv_run *run;
} follower;

static gravel_status open_run(gv_run_ranks *r, follower *f, int scheme, int no_fp64, int verbose)
{
    int resumes = 0, is_dealt = 0;
    gravel_status status = spread_all(r, &f->settings, &f->configuration, &f->particles, &f->checkpoint, &resumes);
    if (!status)
        status = gv_ranks_context(r->ranks, &f->context, no_fp64, verbose);
    status = gv_ranks_agree(r->ranks, status);
    if (!status)
        status = choose_scheme(r, f->context, &f->settings, f->particles.count, scheme, &is_dealt);
    if (!status)
        status = open_share(r, f->context, &f->settings, is_dealt);
    if (status)
        return status;
    f->settings.configuration = f->configuration;
    f->settings.external = NULL;
    f->settings.domains = &gv_run_ranks_domains;
    f->settings.company = &r->company;
    return gv_run_ranks_created(r, gv_run_create(&f->run, f->context, &f->settings, &f->particles));
}

int gv_run_ranks_follow(gv_run_ranks *r, const gv_run_options *typed)
{
    follower f;
    word w = {.what = OPEN};
    memset(&f, 0, sizeof f);
    f.particles = f.checkpoint.particles = (gv_particles)GV_PARTICLES_INIT;
    gv_signals_catch(0, NULL); /* the first rank decides when it is over */
    /* failures are the first rank's, too: it says them, and sends all away */
    while (gv_ranks_spread(r->ranks, &w, sizeof w) == GRAVEL_OK && w.what != GO_AWAY)
        if (w.what == OPEN)
            open_run(r, &f, (int)w.time, w.code, typed->verbose);
        else
            gv_run_follow(f.run, (gv_run_order)w.what, w.time, &f.checkpoint);
    gv_run_release(f.run);
    gv_particles_free(&f.particles);
    gv_checkpoint_free(&f.checkpoint);
    gravel_context_release(f.context);
    free(f.configuration);
    return w.code;
}

#else

void gv_run_ranks_record(cJSON *made_by, const gv_run_ranks *r)
{
    (void)made_by;
    (void)r;
}

int gv_run_ranks_compare(const cJSON *record, const gv_run_ranks *r, const char *allow)
{
    (void)record;
    (void)r;
    (void)allow;
    return 0;
}

int gv_run_ranks_open(gv_run_ranks *r, const gv_run_options *typed)
{
    memset(r, 0, sizeof *r);
    return gv_ranks_open(&r->ranks, GV_RUN, typed->device, typed->verbose);
}

int gv_run_ranks_close(gv_run_ranks *r, int code)
{
    (void)r;
    return code;
}

gravel_status gv_run_ranks_invite(gv_run_ranks *r, gravel_context *context, gv_run_settings *s, gv_particles *p,
                                  gv_checkpoint *checkpoint, const gv_run_options *opts)
{
    (void)r;
    (void)context;
    (void)s;
    (void)p;
    (void)checkpoint;
    (void)opts;
    return GRAVEL_OK;
}

gravel_status gv_run_ranks_created(gv_run_ranks *r, gravel_status status)
{
    (void)r;
    return status;
}

int gv_run_ranks_follow(gv_run_ranks *r, const gv_run_options *typed)
{
    (void)r;
    (void)typed;
    return GV_EXIT_FAILURE;
}

#endif
