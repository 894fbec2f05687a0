/* The configuration for a call.  The user's files are read at the first question, what is shipped for the context's
 * devices about a variant at the first one about it; what is shipped about it for others of their types when none of
 * these has an entry that fits.  Every answer is kept per variant and cell of sizes (choice.h), so that later
 * questions cost a few comparisons. */
#include "host/profile/profile.h"
#include "host/profile/proof.h"
#include "host/program/program.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/digest.h"
#include "host/profile/choice.h"

/* Of a cell; what was picked last is kept. */
typedef struct answer {
    int asked;
    gv_choice *choice; /* NULL: the built-in default */
    gv_config picked;
    size_t sinks, sources; /* for which; 0: none yet */
} answer;

typedef struct answers {
    const gv_space *space;
    gv_variant variant;
    int device;
    char kernel_version[17];
    int all_shipped; /* what is shipped for others was read; of the first slot of a kernel and variant */
    answer *row[GV_CHOICE_SOURCE_CELLS]; /* NULL until used; GV_CHOICE_SINK_CELLS each */
} answers;

struct gv_profile_table {
    gv_profile_set user, shipped;
    int n_slots;
    answers **slot;
    int *told; /* per device: the message that it has no profile of its own was given */
};

int gv_sink_bucket(size_t sinks)
{
    static const size_t first[GV_SINK_BUCKETS] = {0, 2, 16, 64, 256, 1024, 16384};
    int bucket = GV_SINK_BUCKETS - 1;

    while (sinks < first[bucket])
        bucket--;
    return bucket;
}

int gv_source_bucket(size_t sources)
{
    return sources < 16384 ? 0 : sources < 262144 ? 1 : 2;
}

static void report_refused(const char *message, void *user)
{
    gv_log(user, GRAVEL_LOG_WARNING, "a profile is not used: %s", message);
}

static gravel_status load(gravel_context *context)
{
    struct gv_profile_table *table = calloc(1, sizeof *table);
    gravel_status status = GRAVEL_OK;

    if (table == NULL || (table->told = calloc((size_t)context->n_devices, sizeof *table->told)) == NULL) {
        free(table);
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for profiles");
    }
    context->profiles = table;
    context->release_profiles = gv_profile_release;
    if (context->profile_dir != NULL && context->profile_dir[0] != '\0')
        status = gv_profile_read_dir(context->profile_dir, &table->user, report_refused, context);
    if (status != GRAVEL_OK)
        gv_profile_release(context);
    return status;
}

/* What is shipped for the context's devices, and for those that are alike, about a variant. */
static gravel_status load_own(gravel_context *context, const gv_space *space, const gv_variant *variant)
{
    const gv_profile_about about = {space->kernel, variant->name};
    gravel_status status = GRAVEL_OK;
    char read[128] = "";

    for (int d = 0; d < context->n_devices && status == GRAVEL_OK; d++) {
        gv_profile_device device;
        char name[128];

        gv_profile_device_of(&context->device[d].info, &device);
        gv_profile_file_name(&device, name);
        if (strcmp(name, read) == 0) /* equal devices follow each other, mostly */
            continue;
        status = gv_profile_read_shipped(&device, &about, &context->profiles->shipped, report_refused, context);
        if (status == GRAVEL_OK)
            status =
                gv_profile_read_shipped_alike(&device, &about, &context->profiles->shipped, report_refused, context);
        strcpy(read, name);
    }
    return status;
}

static void release_row(answer *row)
{
    for (int k = 0; row && k < GV_CHOICE_SINK_CELLS; k++)
        free(row[k].choice);
    free(row);
}

void gv_profile_release(gravel_context *context)
{
    struct gv_profile_table *table = context->profiles;

    gv_proof_release(context);
    if (table == NULL)
        return;
    for (int s = 0; s < table->n_slots; s++) {
        for (int k = 0; k < GV_CHOICE_SOURCE_CELLS; k++)
            release_row(table->slot[s]->row[k]);
        free(table->slot[s]);
    }
    free(table->slot);
    free(table->told);
    gv_profile_set_free(&table->user);
    gv_profile_set_free(&table->shipped);
    free(table);
    context->profiles = NULL;
}

void gv_profile_kernel_version(gravel_context *context, const gv_space *space, char version[17])
{
    const char *const *file = space->file;
    const int several = file && file[0] && file[1];
    gv_hasher hasher;
    gv_digest whole;

    version[0] = '\0';
    if (!file)
        return;
    gv_hash_start(&hasher);
    for (; *file != NULL; file++) {
        if (gv_program_version(context, *file, version) != GRAVEL_OK) {
            version[0] = '\0';
            return;
        }
        gv_hash_text(&hasher, version);
    }
    if (several) {
        gv_hash_end(&hasher, &whole);
        gv_digest_hex(&whole, 16, version);
    }
}

static int is_about(const answers *slot, const gv_space *space, const gv_variant *variant)
{
    return slot->space == space && slot->variant.order == variant->order &&
           slot->variant.precision == variant->precision;
}

static int is_slot_of(const answers *slot, const gv_space *space, int device, const gv_variant *variant)
{
    return is_about(slot, space, variant) && slot->device == device && slot->variant.features == variant->features;
}

/* The first slot of this kernel and variant, with whatever searches and device; NULL: none yet. */
static answers *first_of(const struct gv_profile_table *table, const gv_space *space, const gv_variant *variant)
{
    for (int s = 0; s < table->n_slots; s++)
        if (is_about(table->slot[s], space, variant))
            return table->slot[s];
    return NULL;
}

static gravel_status find_slot(gravel_context *context, int device, const gv_space *space, const gv_variant *variant,
                               answers **slot)
{
    struct gv_profile_table *table = context->profiles;
    answers **grown, *made;

    for (int s = 0; s < table->n_slots; s++) {
        if (is_slot_of(table->slot[s], space, device, variant)) {
            *slot = table->slot[s];
            return GRAVEL_OK;
        }
    }
    if (first_of(table, space, variant) == NULL) {
        const gravel_status status = load_own(context, space, variant);

        if (status != GRAVEL_OK)
            return status;
        gv_profile_set_check(&table->shipped, space, report_refused, context);
    }
    grown = realloc(table->slot, (size_t)(table->n_slots + 1) * sizeof(answers *));
    if (grown != NULL)
        table->slot = grown;
    made = grown != NULL ? calloc(1, sizeof *made) : NULL;
    if (made == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the choice of a configuration");
    made->space = space;
    made->variant = *variant;
    made->device = device;
    gv_profile_kernel_version(context, space, made->kernel_version);
    gv_profile_set_check(&table->user, space, report_refused, context);
    table->slot[table->n_slots++] = made;
    *slot = made;
    return GRAVEL_OK;
}

/* 1 if the answer is this device's own. */
static int look_up(const struct gv_profile_table *table, const gv_profile_question *question, answer *cell)
{
    gv_choice *choice = malloc(sizeof *choice);

    free(cell->choice);
    cell->choice = NULL;
    if (choice && gv_profile_options(&table->user, &table->shipped, question, choice))
        cell->choice = choice;
    else
        free(choice);
    return cell->choice && cell->choice->origin <= GRAVEL_ORIGIN_SHIPPED;
}

/* What is shipped about a variant for devices of the types that the context has. */
static gravel_status load_others(gravel_context *context, const answers *slot)
{
    const gv_profile_about about = {slot->space->kernel, slot->variant.name};
    gravel_status status = GRAVEL_OK;

    for (int d = 0; d < context->n_devices && status == GRAVEL_OK; d++) {
        const gravel_device_type type = context->device[d].info.type;
        int before = 0;

        while (before < d && context->device[before].info.type != type)
            before++;
        if (before == d)
            status = gv_profile_read_shipped_type(type, &about, &context->profiles->shipped, report_refused, context);
    }
    return status;
}

static gravel_status ask(gravel_context *context, answers *slot, answer *cell, const gv_profile_question *question)
{
    struct gv_profile_table *table = context->profiles;
    answers *first = first_of(table, slot->space, &slot->variant);
    int is_own = look_up(table, question, cell);

    if (!is_own && !first->all_shipped) {
        const gravel_status status = load_others(context, slot);

        if (status != GRAVEL_OK)
            return status;
        gv_profile_set_check(&table->shipped, slot->space, report_refused, context);
        first->all_shipped = 1;
        is_own = look_up(table, question, cell);
    }
    cell->asked = 1;
    if (!is_own && !table->told[slot->device]) {
        table->told[slot->device] = 1;
        gv_log(context, GRAVEL_LOG_INFO,
               "%s has no profile of its own for %s %s: `gravel tune` would find its best "
               "configuration",
               question->limits->info.name, slot->space->kernel, slot->variant.name);
    }
    return GRAVEL_OK;
}

/* NULL: no memory */
static answer *find_cell(answers *slot, size_t sinks, size_t sources)
{
    answer **row = &slot->row[gv_choice_source_cell(sources)];

    if (!*row)
        *row = calloc(GV_CHOICE_SINK_CELLS, sizeof **row);
    return *row ? &(*row)[gv_choice_sink_cell(sinks)] : NULL;
}

static gravel_status choose(gravel_context *context, int device, const gv_space *space, const gv_variant *variant,
                            size_t sinks, size_t sources, gv_config *config, gravel_origin *origin)
{
    gravel_status status = GRAVEL_OK;
    answers *slot = NULL;
    answer *cell;

    if (context->profiles == NULL)
        status = load(context);
    if (status == GRAVEL_OK)
        status = find_slot(context, device, space, variant, &slot);
    if (status != GRAVEL_OK)
        return status;
    cell = find_cell(slot, sinks, sources);
    if (!cell)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the choice of a configuration");
    if (!cell->asked || !cell->choice || cell->sinks != sinks || cell->sources != sources) {
        const gv_limits limits = gv_limits_of(context, device);
        const gv_profile_question question = {space, variant, &limits, slot->kernel_version, sinks, sources};

        if (!cell->asked && (status = ask(context, slot, cell, &question)) != GRAVEL_OK)
            return status;
        if (!cell->choice) {
            space->built_in(config, variant, &limits, sinks, sources);
            *origin = GRAVEL_ORIGIN_BUILT_IN;
            return GRAVEL_OK;
        }
        gv_choice_take(cell->choice, &question, &cell->picked);
        cell->sinks = sinks;
        cell->sources = sources;
    }
    *config = cell->picked;
    *origin = cell->choice->origin;
    return GRAVEL_OK;
}

gravel_status gv_profile_choose(gravel_context *context, int device, const gv_space *space, const gv_variant *variant,
                                size_t sinks, size_t sources, gv_config *config, gravel_origin *origin)
{
    gv_variant asked = *variant;
    asked.features &= ~space->of_program;
    pthread_mutex_lock(&context->profile_lock);
    gravel_status status = choose(context, device, space, &asked, sinks, sources, config, origin);
    pthread_mutex_unlock(&context->profile_lock);
    if (status == GRAVEL_OK)
        status = gv_proof_settle(context, device, space, variant, sinks, sources, config, origin);
    return status;
}
