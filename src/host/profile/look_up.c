/* The ladder: exact device (the user's file, then a shipped one), same family with the nearest number of compute
 * units, same vendor and type, same type. What answers the call's bucket of sinks best brings the other questions of
 * its device, variant and features along, so do the device's own and those of devices that are alike, and the model of
 * choice.h picks among their configurations.  It uses no file and no context, so that tests can pass it any device. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/profile/choice.h"

typedef struct match {
    const gv_profile_entry *entry;
    const gv_profile_block *block;
    gravel_origin origin;
    int user;
    double rank[7]; /* compared in order, smaller is nearer */
    int order;
} match;

static int same_family(const gv_profile_device *a, const gv_profile_device *b)
{
    char family_a[GRAVEL_NAME_SIZE], family_b[GRAVEL_NAME_SIZE];

    if (a->type != b->type || !gv_name_same(a->platform, b->platform))
        return 0;
    /* CPUs of one vector width run the same code, whatever they are called */
    if (a->type == GRAVEL_DEVICE_CPU)
        return a->simd_width_float == b->simd_width_float && a->simd_width_double == b->simd_width_double;
    gv_name_family(a->name, family_a);
    gv_name_family(b->name, family_b);
    return strcmp(family_a, family_b) == 0 && gv_name_same(a->vendor, b->vendor);
}

/* GRAVEL_ORIGIN_BUILT_IN: nothing in common */
static gravel_origin level_of(const gv_profile_device *device, const gv_profile_device *wanted, int user)
{
    if (gv_profile_same_device(device, wanted))
        return user ? GRAVEL_ORIGIN_USER : GRAVEL_ORIGIN_SHIPPED;
    if (same_family(device, wanted))
        return GRAVEL_ORIGIN_FAMILY;
    if (device->type == wanted->type)
        return gv_name_same(device->vendor, wanted->vendor) ? GRAVEL_ORIGIN_VENDOR_TYPE : GRAVEL_ORIGIN_TYPE;
    return GRAVEL_ORIGIN_BUILT_IN;
}

static double log_distance(int a, int b)
{
    return fabs(log2((double)(a > 0 ? a : 1) / (double)(b > 0 ? b : 1)));
}

/* Of one name: 0.  A version's compiler has more in common with the next version's than with an old one's. */
static double driver_distance(const char *a, const char *b)
{
    char *end_a, *end_b;
    const double x = strtod(a, &end_a), y = strtod(b, &end_b);

    if (gv_name_same(a, b))
        return 0;
    return end_a == a || end_b == b || !isfinite(x - y) ? INFINITY : fabs(x - y);
}

static int bits(unsigned value)
{
    int n = 0;

    for (; value != 0; value &= value - 1)
        n++;
    return n;
}

static void rank(match *m, const gv_profile_device *device, const gv_profile_device *wanted,
                 const gv_profile_question *question)
{
    const gv_profile_entry *entry = m->entry;

    /* of this device, what fits the question better comes before whose file it is; a device that is alike and was
     * asked with these searches comes before this one asked with others */
    m->rank[0] = (double)(m->origin == GRAVEL_ORIGIN_SHIPPED ? GRAVEL_ORIGIN_USER : m->origin);
    if (m->rank[0] == GRAVEL_ORIGIN_USER && entry->features != question->variant->features)
        m->rank[0] += 0.5;
    else if (m->origin == GRAVEL_ORIGIN_FAMILY && entry->features == question->variant->features &&
             gv_profile_alike(device, wanted))
        m->rank[0] = GRAVEL_ORIGIN_USER + 0.25;
    m->rank[1] = log_distance(device->simd_width_float, wanted->simd_width_float);
    m->rank[2] = log_distance(device->compute_units, wanted->compute_units);
    /* a search of any kind has more in common with another one than with none */
    m->rank[3] = bits(entry->features ^ question->variant->features) +
                 0.5 * ((entry->features == 0) != (question->variant->features == 0));
    m->rank[4] = abs(entry->source_bucket - gv_source_bucket(question->sources));
    m->rank[5] = strcmp(entry->kernel_version, question->kernel_version) != 0;
    m->rank[6] = driver_distance(entry->driver, question->limits->info.driver);
}

/* Nearest first; of equals the user's, then the newest, then the first read. */
static int nearer(const void *a, const void *b)
{
    const match *x = a, *y = b;
    int dates;

    for (size_t i = 0; i < sizeof x->rank / sizeof x->rank[0]; i++)
        if (x->rank[i] != y->rank[i])
            return x->rank[i] < y->rank[i] ? -1 : 1;
    if (x->user != y->user)
        return y->user - x->user;
    dates = strcmp(y->entry->date, x->entry->date);
    return dates != 0 ? dates : x->order - y->order;
}

static size_t collect(const gv_profile_set *set, int user, const gv_profile_question *question,
                      const gv_profile_device *wanted, match *found, size_t n)
{
    for (int b = 0; set != NULL && b < set->n_blocks; b++) {
        const gv_profile_block *block = &set->block[b];
        gravel_origin origin = level_of(&block->device, wanted, user);

        for (int e = 0; origin != GRAVEL_ORIGIN_BUILT_IN && e < block->n_entries; e++) {
            const gv_profile_entry *entry = &block->entry[e];

            if (entry->sink_bucket != gv_sink_bucket(question->sinks) ||
                strcmp(entry->variant, question->variant->name) != 0 ||
                strcmp(entry->kernel, question->space->kernel) != 0)
                continue;
            if (found != NULL) {
                found[n] = (match){entry, block, origin, user, {0}, (int)n};
                rank(&found[n], &block->device, wanted, question);
            }
            n++;
        }
    }
    return n;
}

/* What a root costs is a matter of the compiler: of another OpenCL implementation's answers the shapes count, with this
 * device's own root.  Intel's runtime with PoCL's roots took 1.1 to 1.3 times as long (doc/numbers.md). */
static int is_foreign(const match *m, const gv_profile_question *call)
{
    return !gv_name_same(m->block->device.platform, call->limits->info.platform);
}

static int is_of(const gv_profile_set *set, const gv_profile_entry *entry)
{
    int b = 0;

    while (set != NULL && b < set->n_blocks &&
           (entry < set->block[b].entry || entry >= set->block[b].entry + set->block[b].n_entries))
        b++;
    return set != NULL && b < set->n_blocks;
}

/* 1 and the configuration if it can run here; tunables that it does not name keep their built-in value.  What the user
 * has measured on this device (`own`) may be what constraints only advise against: the tuner leaves these where nothing
 * else is good. */
static int can_run(const gv_profile_question *call, const char *configuration, int foreign, int own, gv_config *config)
{
    call->space->built_in(config, call->variant, call->limits, call->sinks, call->sources);
    if (gv_space_parse(call->space, configuration, config) != GRAVEL_OK)
        return 0;
    if (foreign && !gv_space_own_root(call->space, call->variant, call->limits, config))
        return 0;
    return (own ? gv_space_can_run : gv_space_check)(call->space, config, call->variant, call->limits) == NULL;
}

/* The first result of the entry that can. */
static int usable(const match *m, const gv_profile_question *question, gv_config *config)
{
    const int foreign = is_foreign(m, question), own = m->origin == GRAVEL_ORIGIN_USER;
    int r = 0;

    while (r < m->entry->n_results && !can_run(question, m->entry->result[r].configuration, foreign, own, config))
        r++;
    return r < m->entry->n_results;
}

/* What counts beside the answers that are there already. */
typedef enum fills {
    BETTER,        /* at sizes that have an answer, the one that supersedes the other */
    GAPS,          /* only sizes that have none */
    GAPS_AND_TEXTS /* and those with a shipped answer of another kernel text than runs, for one of that which does */
} fills;

typedef struct gathered {
    const gv_profile_set *const *set; /* the user's, the shipped ones */
    const char *text;                 /* of the kernel that runs, or where that is unknown of what answers */
    const gv_profile_entry **entry;
    int n, n_own; /* the first ones are the device's own */
} gathered;

/* 1 if `a` answers for sizes that `b` was asked at as well: the one of the kernel text that runs, else the user's, else
 * the newer one. */
static int supersedes(const gathered *g, const gv_profile_entry *a, const gv_profile_entry *b)
{
    const int is_a = strcmp(a->kernel_version, g->text) == 0, is_b = strcmp(b->kernel_version, g->text) == 0;
    const int users_a = is_of(g->set[0], a), users_b = is_of(g->set[0], b);

    if (is_a != is_b)
        return is_a;
    return users_a != users_b ? users_a : strcmp(a->date, b->date) > 0;
}

static int within_octave(size_t a, size_t b)
{
    return (double)a <= 2 * (double)b && (double)b <= 2 * (double)a;
}

/* 1 if the device has an answer of its own within an octave of both sizes, in the same bucket of sinks, that would
 * supersede this one.  H100 answers of days before at 10240 x 1024 stood between an H200's at 8192 and 12288 x 1024:
 * 1.11 of the default's time.  Without them 6 for 13 of 1814 calls of the H200 at the regret's grid take above 1.02 of
 * it, with means over the best of 1.0083 and 1.0084; two octaves are worse for the H100 (doc/numbers.md). */
static int is_beside_own(const gathered *g, const gv_profile_entry *other)
{
    for (int k = 0; k < g->n_own; k++)
        if (g->entry[k]->sink_bucket == other->sink_bucket && within_octave(g->entry[k]->sinks, other->sinks) &&
            within_octave(g->entry[k]->sources, other->sources) && supersedes(g, g->entry[k], other))
            return 1;
    return 0;
}

/* Adds the questions of a block with the variant and features of `like`, of one driver or (NULL) any.  Other kernel
 * texts count as well, where that which runs has no question: most changes of a kernel leave the order of its
 * configurations, and a few new questions must not hide all those from before. */
static void gather_block(gathered *g, const gv_profile_block *block, const gv_profile_entry *like, const char *driver,
                         fills what)
{
    const int before = g->n;

    for (int e = 0; e < block->n_entries; e++) {
        const gv_profile_entry *other = &block->entry[e];
        int k = 0, replaces = 0;

        if (other->features != like->features || strcmp(other->variant, like->variant) != 0 ||
            strcmp(other->kernel, like->kernel) != 0 || (driver && strcmp(other->driver, driver) != 0))
            continue;
        while (k < g->n && (g->entry[k]->sinks != other->sinks || g->entry[k]->sources != other->sources))
            k++;
        if (k < g->n && (what == BETTER || k >= before))
            replaces = supersedes(g, other, g->entry[k]);
        else if (k < g->n && what == GAPS_AND_TEXTS)
            replaces = strcmp(other->kernel_version, g->text) == 0 &&
                       strcmp(g->entry[k]->kernel_version, g->text) != 0 && !is_of(g->set[0], g->entry[k]);
        if (k == g->n && is_beside_own(g, other))
            continue;
        if (k == g->n || replaces)
            g->entry[k] = other;
        g->n += k == g->n;
    }
}

int gv_profile_alike(const gv_profile_device *a, const gv_profile_device *b)
{
    char family_a[GRAVEL_NAME_SIZE], family_b[GRAVEL_NAME_SIZE];

    gv_name_family(a->name, family_a);
    gv_name_family(b->name, family_b);
    /* PoCL's names of CPUs begin with what it compiles for, of which the family sees no more: no two CPUs take the same
     * times for that (a Xeon had answers of another one between its own, up to 1.09 of the untuned default) */
    if (a->type == GRAVEL_DEVICE_CPU && !gv_name_same(a->name, b->name))
        return 0;
    return same_family(a, b) && strcmp(family_a, family_b) == 0 && gv_name_same(a->vendor, b->vendor) &&
           a->compute_units == b->compute_units && a->simd_width_float == b->simd_width_float &&
           a->simd_width_double == b->simd_width_double;
}

/* The blocks of the wanted device itself, or of those that are alike. */
static void gather_blocks(gathered *g, const match *like, const gv_profile_device *wanted, int is_own,
                          const char *driver, fills what)
{
    for (int s = 0; s < 2; s++) {
        for (int b = 0; g->set[s] != NULL && b < g->set[s]->n_blocks; b++) {
            const gv_profile_block *block = &g->set[s]->block[b];

            if (gv_profile_same_device(&block->device, wanted) == is_own && gv_profile_alike(&block->device, wanted))
                gather_block(g, block, like->entry, driver, what);
        }
    }
}

/* What profiles hold beside `like`: the device's own answers with one driver; where these leave gaps those with others;
 * then those of devices that are alike, where none of its own is near and better; they also stand for shipped ones of
 * another kernel text: of two such GPUs the better choices (doc/numbers.md).  Of any other device only what stands
 * beside `like` with its driver. */
static int gather(const match *like, const gv_profile_set *const sets[2], const gv_profile_device *wanted,
                  const gv_profile_question *question, const gv_profile_entry **entry)
{
    const int is_own = gv_profile_same_device(&like->block->device, wanted);
    const char *text = question->kernel_version[0] ? question->kernel_version : like->entry->kernel_version;
    gathered g = {sets, text, entry, 0, 0};

    if (!gv_profile_alike(&like->block->device, wanted)) {
        gather_block(&g, like->block, like->entry, like->entry->driver, BETTER);
        return g.n;
    }
    gather_blocks(&g, like, wanted, 1, is_own ? like->entry->driver : question->limits->info.driver, BETTER);
    gather_blocks(&g, like, wanted, 1, NULL, GAPS);
    g.n_own = g.n;
    gather_blocks(&g, like, wanted, 0, NULL, GAPS_AND_TEXTS);
    return g.n;
}

static size_t count_entries(const gv_profile_set *const sets[2])
{
    size_t n = 0;

    for (int s = 0; s < 2; s++)
        for (int b = 0; sets[s] != NULL && b < sets[s]->n_blocks; b++)
            n += (size_t)sets[s]->block[b].n_entries;
    return n;
}

/* The first candidate that is the default, or is launched like it here; n: none is. */
static int find_default(const gv_choice_candidate *candidate, int n, const gv_profile_question *call, int foreign,
                        const gv_config *built_in)
{
    gv_config config;
    int c = 0;

    while (c < n && !candidate[c].is_default &&
           !(can_run(call, candidate[c].configuration, foreign, 0, &config) &&
             gv_space_same(call->space, &config, built_in, call->variant, call->limits, call->sinks, call->sources)))
        c++;
    return c;
}

/* Behind the first by more, in log(time): no call of a cell is so much evener. */
#define NO_OPTION 0.3

/* What another CPU has measured has to win by so much more.  On a Xeon without answers of its own 2 for 7 of 318 calls
 * took above 1.02 of the untuned default's time (1.024 for 1.366 at most) and 1.168 for 1.443 of the best's at most,
 * but 0.991 for 0.983 of the default's in the mean; with twice as much 0, 1.207 and 0.996 (doc/numbers.md). */
#define ELSEWHERE 0.05

/* 1 and the configuration if the candidate may run here. */
static int candidate_runs(const match *like, const gv_profile_set *user, const gv_choice_candidate *candidate,
                          const gv_profile_question *call, int foreign, gv_config *config)
{
    const int own = like->origin == GRAVEL_ORIGIN_USER && candidate->from && is_of(user, candidate->from);

    return can_run(call, candidate->configuration, foreign, own, config);
}

/* The model's options among the questions of `like` for the question's cell; 0: none of their configurations can run
 * here. */
static int make_choice(const match *like, const gv_profile_set *const sets[2], const gv_profile_device *wanted,
                       const gv_profile_question *question, gv_choice *choice)
{
    const gv_profile_entry **entry = malloc(count_entries(sets) * sizeof *entry);
    gv_choice_corner corner[GV_CHOICE_CORNERS];
    gv_choice_candidate candidate[GV_CHOICE_CANDIDATES + 1];
    char built_in[GV_PROFILE_TEXT];
    const int is_elsewhere = wanted->type == GRAVEL_DEVICE_CPU && !gv_profile_same_device(&like->block->device, wanted);
    const double more = like->entry->features == question->variant->features ? 0 : GV_CHOICE_OTHER;
    const int foreign = is_foreign(like, question);
    gv_profile_question call = *question;
    gv_config config, unused;
    int n = entry ? gather(like, sets, wanted, &call, entry) : 0, n_corners, runs = 0;
    double first = INFINITY; /* the score of the first option */

    gv_choice_sizes(entry, n, &call.sinks, &call.sources);
    n_corners = gv_choice_corners(entry, n, call.sinks, call.sources, call.kernel_version, corner);
    call.space->built_in(&config, call.variant, call.limits, call.sinks, call.sources);
    gv_space_format(call.space, &config, built_in, sizeof built_in);
    const gv_choice_among among = {.entry = entry,
                                   .n = n,
                                   .sinks = call.sinks,
                                   .sources = call.sources,
                                   .space = call.space,
                                   .variant = call.variant,
                                   .limits = call.limits,
                                   .kernel_version = call.kernel_version,
                                   .built_in = built_in,
                                   .elsewhere = is_elsewhere ? ELSEWHERE : 0};
    n = gv_choice_rank(corner, n_corners, &among, candidate);
    const int of_default = find_default(candidate, n, &call, foreign, &config);
    /* nobody around the call has seen it */
    if (of_default == n)
        candidate[n] = (gv_choice_candidate){
            .configuration = built_in, .reading = {~0u, config}, .is_default = 1, .score = INFINITY};
    /* what was measured: the default may be so far ahead of all of it that nothing else is an option, and is the answer
     * then, not the nearest winner */
    for (int c = 0; c < n && !runs; c++)
        runs = candidate[c].configuration != built_in &&
               candidate_runs(like, sets[0], &candidate[c], &call, foreign, &unused);
    choice->n = 0;
    choice->built_in = -1;
    for (int c = 0; c <= n; c++) {
        gv_choice_option *o = &choice->option[choice->n];
        const int is_default = c == of_default;

        if (!is_default &&
            (c == n || choice->n + (c < of_default) == GV_CHOICE_OPTIONS || candidate[c].score > first + NO_OPTION))
            continue;
        if (!candidate_runs(like, sets[0], &candidate[c], &call, foreign, &o->config))
            continue;
        if (is_default && foreign)
            o->config = config; /* not with the root that another implementation's answer would get */
        o->score = candidate[c].score - candidate[c].unevenness;
        o->from = candidate[c].from;
        o->lead =
            is_default ? 0 : gv_choice_lead(corner, n_corners, &among, &candidate[c], &candidate[of_default], more);
        if (o->lead == INFINITY)
            continue; /* the default stays before it, but not before those behind it */
        if (is_default)
            choice->built_in = choice->n;
        if (choice->n++ == 0)
            first = candidate[c].score;
    }
    choice->n = runs ? choice->n : 0;
    free(entry);
    return choice->n > 0;
}

int gv_profile_options(const gv_profile_set *user, const gv_profile_set *shipped, const gv_profile_question *question,
                       gv_choice *choice)
{
    const gv_profile_set *const sets[2] = {user, shipped};
    gv_profile_device wanted;
    match *found;
    size_t n;
    int answer = 0;

    gv_profile_device_of(&question->limits->info, &wanted);
    n = collect(user, 1, question, &wanted, NULL, 0);
    n = collect(shipped, 0, question, &wanted, NULL, n);
    found = n > 0 ? malloc(n * sizeof *found) : NULL;
    if (found == NULL)
        return 0;
    n = collect(user, 1, question, &wanted, found, 0);
    n = collect(shipped, 0, question, &wanted, found, n);
    qsort(found, n, sizeof *found, nearer);
    for (size_t i = 0; i < n && !answer; i++) {
        const match *m = &found[i];
        gv_choice_option own = {.from = m->entry};

        if (!usable(m, question, &own.config))
            continue;
        answer = 1;
        if (!make_choice(m, sets, &wanted, question, choice))
            *choice = (gv_choice){.n = 1, .built_in = -1, .option = {own}};
        choice->origin = m->origin;
        choice->answers = m->entry;
    }
    free(found);
    return answer;
}

int gv_profile_look_up(const gv_profile_set *user, const gv_profile_set *shipped, const gv_profile_question *question,
                       gv_config *config, gravel_origin *origin, const gv_profile_entry **from)
{
    gv_choice choice;

    if (!gv_profile_options(user, shipped, question, &choice))
        return 0;
    const gv_choice_option *picked = &choice.option[gv_choice_take(&choice, question, config)];

    *origin = choice.origin;
    if (from != NULL)
        *from = picked->from != NULL ? picked->from : choice.answers;
    return 1;
}
