#include "host/profile/proof.h"

#include "host/profile/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/files.h"
#include "host/device/device.h"
#include "host/program/cache.h"
#include "host/program/program.h"

enum verdict {
    UNKNOWN,
    RIGHT,
    WRONG,
    SILENT /* of a program that is required: its trial failed and said nothing of the forces; in this context only */
};

/* What was settled in this context.  The key of the cache is not made again: it is a sum of the kernel's whole text. */
typedef struct proof {
    struct proof *next;
    const gv_space *space;
    gv_variant variant;
    gv_config config;
    int device;
    enum verdict verdict;
    char *why; /* it is wrong; malloc'd, NULL: unknown */
} proof;

/* A thread whose proof is running: configurations that this uses are not proven themselves.  Others of the context
 * prove theirs meanwhile. */
typedef struct prover {
    struct prover *next;
    pthread_t thread;
} prover;

struct gv_proof_table {
    proof *first;
    prover *busy;
};

static void find_key(gravel_context *context, int device, const gv_space *space, const gv_variant *variant,
                     const char *configuration, gv_digest *key)
{
    char version[17];
    gv_hasher hasher;

    gv_profile_kernel_version(context, space, version);
    gv_hash_start(&hasher);
    for (const char *const *file = space->file_beside; file && *file; file++) {
        char beside[17] = "";
        if (gv_program_version(context, *file, beside) == GRAVEL_OK)
            gv_hash_text(&hasher, beside);
    }
    gv_device_hash(&context->device[device], &hasher);
    gv_hash_text(&hasher, context->device[device].feature_options);
    gv_hash_text(&hasher, "forces, neighbours, by the law of each"); /* what is compared */
    gv_hash_text(&hasher, space->kernel);
    gv_hash_text(&hasher, version);
    gv_hash_text(&hasher, variant->name);
    gv_hash_add(&hasher, &variant->features, sizeof variant->features);
    gv_hash_text(&hasher, configuration);
    gv_hash_end(&hasher, key);
}

static int is_proof_of(const proof *p, const proof *asked)
{
    return p->space == asked->space && p->device == asked->device && p->variant.order == asked->variant.order &&
           p->variant.precision == asked->variant.precision && p->variant.features == asked->variant.features &&
           memcmp(p->config.value, asked->config.value, sizeof p->config.value) == 0;
}

static enum verdict recall(gravel_context *context, const proof *asked, char **why)
{
    enum verdict verdict = UNKNOWN;

    pthread_mutex_lock(&context->profile_lock);
    for (const proof *p = context->proofs->first; p && verdict == UNKNOWN; p = p->next) {
        if (!is_proof_of(p, asked))
            continue;
        verdict = p->verdict;
        *why = p->why ? strdup(p->why) : NULL;
    }
    pthread_mutex_unlock(&context->profile_lock);
    return verdict;
}

/* Of an earlier context. */
static enum verdict load(gravel_context *context, const gv_digest *key)
{
    enum verdict verdict = UNKNOWN;
    unsigned char *stored;
    size_t size;

    if (gv_cache_load(context, "proof", key, &stored, &size)) {
        verdict = size == 1 && stored[0] == RIGHT ? RIGHT : WRONG;
        free(stored);
    }
    return verdict;
}

static void remember(gravel_context *context, const proof *settled)
{
    proof *made = malloc(sizeof *made);

    if (!made)
        return; /* without it only the next call looks into the cache again */
    *made = *settled;
    made->why = settled->why ? strdup(settled->why) : NULL;
    pthread_mutex_lock(&context->profile_lock);
    made->next = context->proofs->first;
    context->proofs->first = made;
    pthread_mutex_unlock(&context->profile_lock);
}

/* 1 unless proofs are off, or this call is part of one */
static int begin(gravel_context *context, const gv_space *space)
{
    if (!space->prove || !context->cl || context->for_once || (context->kernel_dir && context->kernel_dir[0]))
        return 0;
    pthread_mutex_lock(&context->profile_lock);
    if (!context->proofs)
        context->proofs = calloc(1, sizeof *context->proofs);
    context->release_profiles = gv_profile_release;
    int go = context->proofs != NULL;
    for (const prover *p = go ? context->proofs->busy : NULL; p && go; p = p->next)
        go = !pthread_equal(p->thread, pthread_self());
    pthread_mutex_unlock(&context->profile_lock);
    return go;
}

static void enter(gravel_context *context, prover *self)
{
    self->thread = pthread_self();
    pthread_mutex_lock(&context->profile_lock);
    self->next = context->proofs->busy;
    context->proofs->busy = self;
    pthread_mutex_unlock(&context->profile_lock);
}

static void leave(gravel_context *context, const prover *self)
{
    pthread_mutex_lock(&context->profile_lock);
    prover **at = &context->proofs->busy;
    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    pthread_mutex_unlock(&context->profile_lock);
}

/* What does not build or start is wrong here too; a start is tried again, since a device may be short of resources for
 * a moment.  Other failures (no memory, a device that is lost) say nothing about the configuration: the call that
 * follows will report them itself. */
static enum verdict try(gravel_context *context, int device, const gv_space *space, const gv_variant *variant,
                        const char *configuration, char **why, gravel_status *status)
{
    double error = 0, most = 0;
    prover self;

    enter(context, &self);
    *status = space->prove(context, device, variant, configuration, &error, &most);
    if (*status == GRAVEL_ERR_LAUNCH)
        *status = space->prove(context, device, variant, configuration, &error, &most);
    leave(context, &self);
    if (*status == GRAVEL_ERR_BUILD || *status == GRAVEL_ERR_LAUNCH) {
        *why = strdup(gravel_error_message()); /* with the compiler's lines */
        return WRONG;
    }
    if (*status)
        return UNKNOWN;
    if (error <= most)
        return RIGHT;
    *why = gv_format("a known problem comes out with an error of %.1e, at most %.0e is right", error, most);
    return WRONG;
}

/* " without eps": what tells this program from others of the variant */
static const char *program_of(const gv_space *space, const gv_variant *variant)
{
    return space->program ? space->program(variant->features) : "";
}

/* What is wrong is said once a context; *why, malloc'd or NULL, gets it each time.  Where the program is required, and
 * nothing can take its place, only wrong forces are wrong: other failures are reported by the call that meets them. */
static enum verdict prove(gravel_context *context, int device, const gv_space *space, const gv_variant *variant,
                          const gv_config *config, int required, char **why)
{
    char configuration[384];
    proof p = {NULL, space, *variant, *config, device, UNKNOWN, NULL};
    gv_digest key;

    free(*why);
    *why = NULL;
    p.verdict = recall(context, &p, why);
    if (p.verdict != UNKNOWN)
        return p.verdict;
    gv_space_format(space, config, configuration, sizeof configuration);
    find_key(context, device, space, variant, configuration, &key);
    p.verdict = load(context, &key);
    if (p.verdict == WRONG)
        *why = strdup("it failed its self-test in an earlier process");
    if (p.verdict == UNKNOWN) {
        gravel_status status;
        p.verdict = try(context, device, space, variant, configuration, why, &status);
        if (required && status)
            p.verdict = SILENT;
        const unsigned char byte = (unsigned char)p.verdict;
        /* what did not build or start may do so in another process, whose disk or device has room */
        if (p.verdict != UNKNOWN && status == GRAVEL_OK)
            gv_cache_store(context, "proof", &key, &byte, 1);
    }
    p.why = *why;
    if (p.verdict != UNKNOWN)
        remember(context, &p);
    if (p.verdict == WRONG)
        gv_log(context, GRAVEL_LOG_WARNING, "%s: %s %s%s with %s is not used: %s", context->device[device].info.name,
               space->kernel, variant->name, program_of(space, variant), configuration, *why ? *why : "");
    return p.verdict;
}

/* The built-in default with half the lanes, `halvings` times; 0: vectors are no longer vectors. */
static int narrow(const gv_space *space, const gv_variant *variant, const gv_limits *limits, int halvings,
                  gv_config *config)
{
    const int lanes = gv_space_index(space, "lanes");

    if (halvings == 0)
        return 1;
    if (lanes < 0 || config->value[lanes] >> halvings < 4)
        return 0;
    config->value[lanes] >>= halvings;
    gv_space_own_root(space, variant, limits, config);
    return 1;
}

/* The n-th way out, from 0: the built-in default, narrower vectors, plain shapes; 0 returned: there are no more. */
static int way_out(const gv_space *space, const gv_variant *variant, const gv_limits *limits, size_t sinks,
                   size_t sources, int n, gv_config *config)
{
    int halvings = 0;

    for (;; halvings++) {
        space->built_in(config, variant, limits, sinks, sources);
        if (!narrow(space, variant, limits, halvings, config))
            break;
        if (halvings == n)
            return 1;
    }
    n -= halvings;
    /* the table's own text; what a shape breaks is passed over by the caller */
    return n < GV_PLAIN_SHAPES && gv_space_parse(space, space->plain[n], config) == GRAVEL_OK;
}

gravel_status gv_proof_settle(gravel_context *context, int device, const gv_space *space, const gv_variant *variant,
                              size_t sinks, size_t sources, gv_config *config, gravel_origin *origin)
{
    gv_config tried;
    char *why = NULL;
    gravel_status status = GRAVEL_OK;

    if (!begin(context, space) || prove(context, device, space, variant, config, 0, &why) != WRONG)
        return GRAVEL_OK;
    const gv_limits limits = gv_limits_of(context, device);
    int is_right = 0;
    for (int n = 0; !is_right && way_out(space, variant, &limits, sinks, sources, n, &tried); n++)
        is_right = !gv_space_can_run(space, &tried, variant, &limits) &&
                   memcmp(tried.value, config->value, sizeof tried.value) != 0 &&
                   prove(context, device, space, variant, &tried, 0, &why) != WRONG;
    if (is_right) {
        *config = tried;
        *origin = GRAVEL_ORIGIN_BUILT_IN;
    } else {
        status = gv_fail(GRAVEL_ERR_UNSUPPORTED,
                         "%s (%s, driver %s): no configuration of %s %s%s builds, starts and gives the right forces of "
                         "a known problem; the last one: %s",
                         limits.info.name, limits.info.platform, limits.info.driver, space->kernel, variant->name,
                         program_of(space, variant), why ? why : "");
    }
    free(why);
    return status;
}

gravel_status gv_proof_require(gravel_context *context, int device, const gv_space *space, const gv_variant *variant,
                               const gv_config *config)
{
    char configuration[384], *why = NULL;
    gravel_status status = GRAVEL_OK;

    if (begin(context, space) && prove(context, device, space, variant, config, 1, &why) == WRONG) {
        const gravel_device_info *info = &context->device[device].info;
        gv_space_format(space, config, configuration, sizeof configuration);
        status = gv_fail(GRAVEL_ERR_UNSUPPORTED, "%s (%s, driver %s) cannot be trusted with %s %s%s (%s): %s",
                         info->name, info->platform, info->driver, space->kernel, variant->name,
                         program_of(space, variant), configuration, why ? why : "");
    }
    free(why);
    return status;
}

void gv_proof_release(gravel_context *context)
{
    proof *next;

    for (proof *p = context->proofs ? context->proofs->first : NULL; p; p = next) {
        next = p->next;
        free(p->why);
        free(p);
    }
    free(context->proofs);
    context->proofs = NULL;
}
