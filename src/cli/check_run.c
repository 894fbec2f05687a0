#include "cli/check_run.h"
#include "cli/crash.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/direct/plan.h"
#include "host/profile/profile.h"
#include "sim/ic.h"
#include "host/base/clock.h"

/* ------------------------------------------------------------------- truth */

typedef struct gv_check_truth {
    size_t n;
    double eps;
    gv_particles all, picked; /* picked: the sinks that are compared */
    size_t step;
    gv_force_set forces;
    double *radius; /* of all sinks, for the lists */
} gv_check_truth;

/* FEW sinks of FEW_OF bodies: the longest loops there are, which some runtimes end early */
enum { LIST_CAPACITY = 12, SEED = 11, FEW = 64, FEW_OF = 131072 };

enum { BOTH = GV_DIRECT_NEAREST | GV_DIRECT_LISTS };

/* Radii from nothing to more neighbours than a list holds. */
static gravel_status set_radii(gv_check_truth *t)
{
    t->radius = malloc(t->n * sizeof *t->radius);
    if (t->radius == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    const double typical = cbrt(10.0 / (double)t->n); /* about ten sources within, near the middle */
    for (size_t i = 0; i < t->n; i++)
        t->radius[i] = typical * (double)(i % 5) / 2;
    return GRAVEL_OK;
}

/* The accelerations that order 6 needs, rounded to float: any precision then starts from the same values. */
static gravel_status set_accelerations(gv_particles *p)
{
    const size_t bytes = p->count * sizeof *p->ax;
    double *const *position[3] = {&p->x, &p->y, &p->z};
    double **const acc[3] = {&p->ax, &p->ay, &p->az};
    for (int c = 0; c < 3; c++) {
        *acc[c] = malloc(bytes);
        if (*acc[c] == NULL)
            return gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
        for (size_t i = 0; i < p->count; i++) { /* of a Plummer sphere with a = 3 pi / 16 */
            const double r2 = p->x[i] * p->x[i] + p->y[i] * p->y[i] + p->z[i] * p->z[i], s2 = r2 + 0.347;
            (*acc[c])[i] = (float)(-(*position[c])[i] / (s2 * sqrt(s2)));
        }
    }
    return GRAVEL_OK;
}

static gravel_status make_truth(gv_check_truth *t, size_t n, double eps, size_t at_most)
{
    memset(t, 0, sizeof *t);
    t->n = n;
    t->eps = eps;
    gravel_status status = gv_ic_plummer(n, SEED, NULL, &t->all);
    if (status == GRAVEL_OK)
        status = set_accelerations(&t->all);
    if (status == GRAVEL_OK) {
        const size_t count = n < at_most ? n : at_most;
        t->step = n / count;
        status = gv_particles_pick(&t->picked, &t->all, 0, t->step, count);
    }
    if (status == GRAVEL_OK)
        status = gv_force_set_create(&t->forces, t->picked.count, 6, 0, 0);
    if (status == GRAVEL_OK)
        status = gv_reference_forces(&t->picked, &t->all, eps, NULL, &t->forces);
    return status == GRAVEL_OK ? set_radii(t) : status;
}

/* Made once for all variants. */
static gravel_status get_truth(gv_check *check, size_t n, double eps, const gv_check_truth **truth)
{
    for (int i = 0; i < check->truths; i++) {
        if (check->truth[i].n == n && check->truth[i].eps == eps) {
            *truth = &check->truth[i];
            return GRAVEL_OK;
        }
    }
    gv_check_truth *grown = realloc(check->truth, ((size_t)check->truths + 1) * sizeof *grown);
    if (grown == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    check->truth = grown;
    const size_t at_most = n == FEW_OF                       ? FEW
                           : check->level == GV_CHECK_FULL   ? 16384
                           : check->level == GV_CHECK_NORMAL ? 4096
                                                             : 1024;
    *truth = &grown[check->truths++];
    return make_truth(&grown[check->truths - 1], n, eps, at_most);
}

/* --------------------------------------------------------------------- runs */

/* The results of the compared sinks, moved together at the front. */
static void keep_picked(gv_force_set *set, const gv_check_truth *t)
{
    double *const column[10] = {set->ax, set->ay, set->az, set->pot, set->jx,
                                set->jy, set->jz, set->sx, set->sy,  set->sz};
    for (int k = 0; k < 10 && column[k] != NULL; k++)
        for (size_t i = 0; i < t->picked.count; i++)
            column[k][i] = column[k][i * t->step];
}

static gravel_sinks sinks_of(const gv_check_truth *t, const gv_check_run *run)
{
    return run->sinks < t->n ? gv_sinks_view(&t->picked, 0, run->sinks, NULL)
                             : gv_sinks_view(&t->all, 0, t->n, run->features & GV_DIRECT_LISTS ? t->radius : NULL);
}

static gravel_status run_device(gv_check *check, const gv_variant *variant, const gv_check_truth *t, gv_check_run *run,
                                const char *configuration, gv_force_set *set)
{
    gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_direct *direct = NULL;
    options.order = variant->order;
    options.precision = variant->precision;
    options.nearest = (run->features & GV_DIRECT_NEAREST) != 0;
    options.neighbour_capacity = run->features & GV_DIRECT_LISTS ? LIST_CAPACITY : 0;
    options.configuration = configuration;
    gravel_status status = gravel_direct_create(&direct, check->context, &options);
    if (status == GRAVEL_OK) {
        const gravel_sources sources = gv_sources_view(&t->all);
        status = gravel_direct_write_sources(direct, 0, &sources);
    }
    const int timed = !gv_limits_of(check->context, 0).wrong_timers;
    if (status == GRAVEL_OK && timed)
        status = gravel_direct_set_timing(direct, 1);
    if (status == GRAVEL_OK)
        status = gravel_direct_get_configuration(direct, run->sinks, run->configuration, sizeof run->configuration,
                                                 &run->origin);
    if (status == GRAVEL_OK) {
        const gravel_sinks sinks = sinks_of(t, run);
        status = gv_direct_call(direct, &sinks, t->eps, set, NULL);
        if (status == GRAVEL_OK && t->n == GV_CHECK_N) { /* a second time: caches were cold in the first */
            const double start = gv_now();
            status = gv_direct_call(direct, &sinks, t->eps, set, NULL);
            run->call_s = gv_now() - start;
        }
    }
    if (status == GRAVEL_OK && timed)
        status = gravel_direct_get_kernel_time(direct, &run->kernel_s);
    else if (status == GRAVEL_OK)
        run->kernel_s = run->call_s;
    gravel_direct_release(direct);
    return status;
}

/* Names what is over its ceiling. */
static void judge_errors(gv_check_run *run, const gv_variant *variant)
{
    run->verdict = gv_excess_verdict(gv_error_excess(&run->errors, variant->precision, variant->order));
    for (int q = 0; q < gv_quantity_count(variant->order) && run->verdict != GV_PASS; q++) {
        const gv_ceiling ceiling = gv_error_ceiling(variant->precision, q);
        if (run->errors.max[q] > ceiling.max) {
            snprintf(run->message, sizeof run->message, "%s: largest error %.2e at sink %zu, ceiling %.0e",
                     gv_quantity_name[q], run->errors.max[q], run->errors.worst[q], ceiling.max);
            return;
        }
        if (run->errors.count >= GV_MEAN_FROM && run->errors.mean[q] > ceiling.mean) {
            snprintf(run->message, sizeof run->message, "%s: mean error %.2e, ceiling %.0e", gv_quantity_name[q],
                     run->errors.mean[q], ceiling.mean);
            return;
        }
    }
}

/* Room behind the variant's runs, which counts as one once of->runs does; NULL: no memory. */
static gv_check_run *next_run(gv_check_variant *of, size_t n, size_t sinks, double eps, unsigned features)
{
    gv_check_run *grown = realloc(of->run, ((size_t)of->runs + 1) * sizeof *grown);
    if (grown == NULL) {
        gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
        return NULL;
    }
    of->run = grown;
    grown[of->runs] = (gv_check_run){.n = n, .sinks = sinks, .eps = eps, .features = features};
    return &grown[of->runs];
}

static gravel_status check_one(gv_check *check, gv_check_variant *of, size_t n, double eps, unsigned features,
                               const char *configuration)
{
    const gv_check_truth *t = NULL;
    gv_force_set set = {0};
    if (gv_signals_pending())
        return gv_fail(GRAVEL_ERR_CANCELLED, "stopped");
    gv_check_run *run = next_run(of, n, n == FEW_OF ? FEW : n, eps, features);
    if (run == NULL)
        return GRAVEL_ERR_MEMORY;
    gravel_status status = get_truth(check, n, eps, &t);
    if (status == GRAVEL_OK)
        status = gv_force_set_create(&set, run->sinks, of->variant.order, (features & GV_DIRECT_NEAREST) != 0,
                                     features & GV_DIRECT_LISTS ? LIST_CAPACITY : 0);
    if (status != GRAVEL_OK)
        return status;
    of->runs++;
    gv_crash_doing("checking %s, N = %zu, with %s", of->variant.name, n,
                   configuration ? configuration : "the configuration that calls use");
    run->status = run_device(check, &of->variant, t, run, configuration, &set);
    if (run->status != GRAVEL_OK) {
        run->verdict = GV_FAIL;
        gv_check_shorten(gravel_error_message(), run->message, sizeof run->message);
        if (run->configuration[0] == '\0' && configuration != NULL) {
            snprintf(run->configuration, sizeof run->configuration, "%s", configuration);
            run->origin = GRAVEL_ORIGIN_CALLER;
        }
    } else {
        const double slack = gv_distance_slack(of->variant.precision, &t->all);
        const int wrong = features && gv_neighbours_wrong(&set, &t->all, &t->all, t->radius, slack, run->message,
                                                          sizeof run->message) != NULL;
        gv_force_set truth = t->forces; /* a view of the lower order */
        truth.order = of->variant.order;
        if (run->sinks == t->n)
            keep_picked(&set, t);
        gv_errors_set(&run->errors, &set, &truth);
        if (wrong)
            run->verdict = GV_FAIL;
        else
            judge_errors(run, &of->variant);
    }
    gv_force_set_free(&set);
    gv_waiting_step(GV_WAITING_STEPS);
    return GRAVEL_OK;
}

/* ------------------------------------------------------------ configurations */

/* Small numbers from a counter, the same in every run. */
static unsigned scramble(unsigned x)
{
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

static int may_try(const gv_check *check, const gv_config *config, const gv_variant *variant, const gv_limits *limits)
{
    /* FULL and NORMAL: whatever can run; QUICK: what tuning would try, as that compiles faster */
    return (check->level >= GV_CHECK_NORMAL ? gv_space_can_run : gv_space_check)(&gv_direct_space, config, variant,
                                                                                 limits) == NULL;
}

/* Configurations that differ from `base` in one tunable: how many, or with `wanted` below that the one of this
 * number. */
static unsigned single_change(const gv_check *check, const gv_variant *variant, const gv_limits *limits,
                              const gv_config *base, unsigned wanted, gv_config *config)
{
    const gv_space *space = &gv_direct_space;
    unsigned seen = 0;
    for (int t = 0; t < space->n_tunables; t++) {
        for (int v = 0; v < space->tunable[t].n_values; v++) {
            *config = *base;
            config->value[t] = space->tunable[t].values[v];
            if (config->value[t] != base->value[t] && may_try(check, config, variant, limits) && seen++ == wanted)
                return seen;
        }
    }
    return seen;
}

static int mixed_change(const gv_check *check, const gv_variant *variant, const gv_limits *limits, unsigned seed,
                        gv_config *config)
{
    const gv_space *space = &gv_direct_space;
    for (unsigned attempt = 0; attempt < 2000; attempt++) {
        for (int t = 0; t < space->n_tunables; t++) {
            const unsigned pick = scramble(scramble(seed) + attempt * 17 + (unsigned)t);
            config->value[t] = space->tunable[t].values[pick % (unsigned)space->tunable[t].n_values];
        }
        if (may_try(check, config, variant, limits))
            return 1;
    }
    return 0;
}

/* The k-th configuration besides the default: all single changes, then mixed ones.  `salt` makes every variant begin
 * with another one.  Returns 0 where there is none. */
static int other_configuration(const gv_check *check, const gv_variant *variant, unsigned k, unsigned salt, char *text,
                               size_t size)
{
    const gv_limits limits = gv_limits_of(check->context, 0);
    gv_config base, config;
    gv_direct_space.built_in(&base, variant, &limits, GV_CHECK_N, GV_CHECK_N);
    const unsigned singles = single_change(check, variant, &limits, &base, UINT_MAX, &config);
    if (k < singles) {
        const unsigned stride = singles % 31 ? 31 : 37; /* a prime that does not divide it reaches all */
        single_change(check, variant, &limits, &base, (k * stride + salt * 7) % singles, &config);
    } else if (!mixed_change(check, variant, &limits, k * 131 + salt, &config)) {
        return 0;
    }
    gv_space_format(&gv_direct_space, &config, text, size);
    return 1;
}

static gravel_status check_others(gv_check *check, gv_check_variant *of, int first, int count, unsigned salt)
{
    static const size_t sizes[] = {257, 1009, 65, 511, 2048};
    char text[256];
    gravel_status status = GRAVEL_OK;
    for (int k = first; k < first + count && status == GRAVEL_OK; k++) {
        if (!other_configuration(check, &of->variant, (unsigned)k, salt, text, sizeof text))
            break;
        const size_t n = sizes[k % 5];
        status = check_one(check, of, n, k % 2 ? 0.0 : 1e-2, k % 4 == 1 ? BOTH : 0, text);
        if (status == GRAVEL_OK && check->level == GV_CHECK_FULL)
            status = check_one(check, of, n, k % 2 ? 1e-2 : 0.0, k % 4 == 2 ? BOTH : 0, text);
    }
    return status;
}

/* Calls of this size get no configuration at all. */
static gravel_status fail_choice(gv_check_variant *of, size_t sources, size_t sinks, unsigned features,
                                 gravel_status why)
{
    gv_check_run *run = next_run(of, sources, sinks, 0, features);
    if (run == NULL)
        return GRAVEL_ERR_MEMORY;
    run->status = why;
    run->verdict = GV_FAIL;
    gv_check_shorten(gravel_error_message(), run->message, sizeof run->message);
    of->runs++;
    return GRAVEL_OK;
}

/* The configurations that calls with these searches of other numbers of sinks and sources would use, each once. */
static gravel_status check_buckets(gv_check *check, gv_check_variant *of, unsigned features)
{
    static const size_t sinks[GV_SINK_BUCKETS] = {1, 4, 32, 128, 512, 4096, 65536};
    static const size_t sources[GV_SOURCE_BUCKETS] = {4096, 65536, 1048576}, sizes[] = {257, 130, 1009};
    gravel_status status = GRAVEL_OK;
    gv_variant variant = of->variant;
    char text[256];
    variant.features = features;
    for (int s = check->level < GV_CHECK_NORMAL; s < GV_SOURCE_BUCKETS - (check->level < GV_CHECK_NORMAL); s++) {
        for (int k = 0; k < GV_SINK_BUCKETS && status == GRAVEL_OK; k++) {
            gravel_origin origin;
            gv_config config;
            int known = 0;
            status = gv_profile_choose(check->context, 0, &gv_direct_space, &variant, sinks[k], sources[s], &config,
                                       &origin);
            if (status != GRAVEL_OK) {
                status = fail_choice(of, sources[s], sinks[k], features, status);
                continue;
            }
            gv_space_format(&gv_direct_space, &config, text, sizeof text);
            for (int r = 0; r < of->runs; r++)
                known |= of->run[r].features == features && strcmp(of->run[r].configuration, text) == 0;
            if (!known)
                status = check_one(check, of, sizes[k % 3], k % 2 ? 0.0 : 1e-2, features, text);
        }
    }
    return status;
}

/* ----------------------------------------------------------------- variants */

static gravel_status check_sizes(gv_check *check, gv_check_variant *of)
{
    /* one, two, primes, and the edges of groups of 16 ... 256 */
    static const size_t few[] = {1, 17}, many[] = {1, 2, 3, 16, 17, 31, 63, 64, 65, 127, 256, 509, 1024, 1025, 4099};
    const size_t *sizes = check->level <= GV_CHECK_QUICK ? few : many;
    const size_t count = check->level <= GV_CHECK_QUICK ? 2 : sizeof many / sizeof *many;
    gravel_status status = GRAVEL_OK;
    for (size_t i = 0; i < count && status == GRAVEL_OK; i++) {
        status = check_one(check, of, sizes[i], i % 2 ? 0.0 : 1e-2, 0, NULL);
        if (status == GRAVEL_OK && check->level == GV_CHECK_FULL)
            status = check_one(check, of, sizes[i], i % 2 ? 1e-2 : 0.0, BOTH, NULL);
    }
    return status;
}

static gravel_status check_variant(gv_check *check, gv_check_variant *of, unsigned salt)
{
    const int tiny = check->level == GV_CHECK_TINY;
    gravel_status status = check_one(check, of, gv_check_n(check), 1e-2, 0, NULL);
    if (status == GRAVEL_OK)
        status = check_one(check, of, gv_check_n(check), 0.0, 0, NULL);
    if (status == GRAVEL_OK)
        status = check_one(check, of, tiny ? 65 : 1009, 0.0, BOTH, NULL);
    if (status == GRAVEL_OK && tiny)
        status = check_one(check, of, 1, 1e-2, 0, NULL);
    if (status == GRAVEL_OK && check->level >= GV_CHECK_QUICK)
        status = check_one(check, of, FEW_OF, 1e-2, 0, NULL);
    if (status == GRAVEL_OK && check->level >= GV_CHECK_QUICK)
        status = check_buckets(check, of, 0);
    if (status == GRAVEL_OK && check->level >= GV_CHECK_QUICK)
        status = check_buckets(check, of, GV_DIRECT_NEAREST);
    if (status == GRAVEL_OK && check->level >= GV_CHECK_QUICK)
        status = check_buckets(check, of, BOTH);
    if (status == GRAVEL_OK && check->level >= GV_CHECK_QUICK)
        status = check_sizes(check, of);
    if (status == GRAVEL_OK && check->level == GV_CHECK_QUICK) {
        status = check_others(check, of, 0, 1, salt);
    } else if (status == GRAVEL_OK && check->level == GV_CHECK_NORMAL) {
        status = check_others(check, of, 0, 4, salt);
        if (status == GRAVEL_OK)
            status = check_others(check, of, 1000, 2, salt); /* beyond the single changes: mixed ones */
    } else if (status == GRAVEL_OK && check->level == GV_CHECK_FULL) {
        status = check_others(check, of, 0, 60, salt);
    }
    return status;
}

static void sum_up(gv_check *check, gv_check_variant *of)
{
    of->verdict = GV_PASS;
    for (int r = 0; r < of->runs; r++) {
        const gv_check_run *run = &of->run[r];
        of->verdict = run->verdict > of->verdict ? run->verdict : of->verdict;
        check->runs_failed += run->verdict == GV_FAIL;
        for (int q = 0; q < gv_quantity_count(of->variant.order); q++) {
            of->max[q] = fmax(of->max[q], run->errors.max[q]);
            if (run->errors.count >= GV_MEAN_FROM)
                of->mean[q] = fmax(of->mean[q], run->errors.mean[q]);
        }
    }
    if (of->runs > 0 && of->run[0].kernel_s > 0)
        of->pairs_per_s = (double)of->run[0].n * (double)of->run[0].n / of->run[0].kernel_s;
    check->runs_total += of->runs;
    check->verdict = of->verdict > check->verdict ? of->verdict : check->verdict;
}

size_t gv_check_n(const gv_check *check)
{
    return check->level == GV_CHECK_TINY ? GV_CHECK_TINY_N : GV_CHECK_N;
}

gravel_status gv_check_all(gv_check *check)
{
    /* per variant: large runs, sizes, other configurations (check_variant), those of buckets at most */
    static const int runs[] = {[GV_CHECK_TINY] = 4,
                               [GV_CHECK_DEMO] = 3,
                               [GV_CHECK_QUICK] = 7 + 3 * GV_SINK_BUCKETS,
                               [GV_CHECK_NORMAL] = 25 + 3 * GV_SINK_BUCKETS * GV_SOURCE_BUCKETS,
                               [GV_CHECK_FULL] = 154 + 3 * GV_SINK_BUCKETS * GV_SOURCE_BUCKETS};
    gravel_status status = GRAVEL_OK;
    gv_waiting_start("checking (kernels are compiled once per device): run", runs[check->level] * check->variants,
                     GV_WAITING_STEPS);
    check->verdict = GV_PASS;
    check->device = *gravel_context_get_device(check->context, 0);
    for (int v = 0; v < check->variants && status == GRAVEL_OK; v++) {
        status = check_variant(check, &check->of[v], (unsigned)v);
        check->of[v].complete = status == GRAVEL_OK;
    }
    if (status == GRAVEL_OK && check->level != GV_CHECK_DEMO)
        status = gv_check_others(check);
    gv_waiting_stop();
    check->stopped = status != GRAVEL_OK;
    for (int v = 0; v < check->variants; v++)
        sum_up(check, &check->of[v]);
    for (int k = 0; k < check->others; k++)
        check->verdict = check->other[k].verdict > check->verdict ? check->other[k].verdict : check->verdict;
    return status;
}

void gv_check_free(gv_check *check)
{
    for (int v = 0; v < check->variants; v++) {
        free(check->of[v].run);
        check->of[v].run = NULL;
        check->of[v].runs = 0;
    }
    for (int i = 0; i < check->truths; i++) {
        gv_particles_free(&check->truth[i].all);
        gv_particles_free(&check->truth[i].picked);
        gv_force_set_free(&check->truth[i].forces);
        free(check->truth[i].radius);
    }
    free(check->truth);
    check->truth = NULL;
    check->truths = 0;
}
