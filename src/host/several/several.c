/* gravel_several: created, written to, asked, released. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/clock.h"
#include "host/base/digest.h"
#include "host/base/options.h"
#include "host/direct/points.h"
#include "host/several/object.h"

void gravel_several_options_init(gravel_several_options *options)
{
    *options = (gravel_several_options)GRAVEL_SEVERAL_OPTIONS_INIT;
}

void gravel_several_call_init(gravel_several_call *call)
{
    *call = (gravel_several_call)GRAVEL_SEVERAL_CALL_INIT;
}

gravel_status gv_member_scratch(gv_member *m, size_t numbers, double **scratch)
{
    if (m->scratch_size < numbers || !m->scratch) {
        free(m->scratch);
        m->scratch_size = numbers + numbers / 4 + 64;
        m->scratch = malloc(m->scratch_size * sizeof *m->scratch);
        if (!m->scratch)
            m->scratch_size = 0;
    }
    *scratch = m->scratch;
    return m->scratch ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu numbers", numbers);
}

/* ------------------------------------------------------------------------- life */

static gravel_status check_options(const gravel_several_options *o)
{
    if (o->precision < GRAVEL_SP || o->precision > GRAVEL_DP)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "precision is %d; it must be sp, ds or dp", (int)o->precision);
    if ((unsigned)o->deal > GRAVEL_DEAL_EVEN || (unsigned)o->host > GRAVEL_HOST_ALWAYS)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_options: deal is %d, host is %d", (int)o->deal,
                       (int)o->host);
    return GRAVEL_OK;
}

static void digest_of(const char *text, char hex[17])
{
    gv_hasher hasher;
    gv_digest digest;
    gv_hash_start(&hasher);
    gv_hash_text(&hasher, text);
    gv_hash_end(&hasher, &digest);
    gv_digest_hex(&digest, 16, hex);
}

gravel_status gravel_several_create(gravel_several **several, const gravel_several_options *options)
{
    gravel_several_options taken = GRAVEL_SEVERAL_OPTIONS_INIT;
    if (!several)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_create: no place for the result");
    *several = NULL;
    gravel_status status = gv_options_take(&taken, sizeof taken, options, "gravel_several_options");
    if (!status)
        status = check_options(&taken);
    if (status)
        return status;
    gravel_several *s = calloc(1, sizeof *s);
    if (!s)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for a gravel_several");
    s->options = taken;
    s->forced = GV_ANSWER_CHOSEN;
    gv_store_init(&s->store);
    s->frame = (gravel_frame){{0, 0, 0}, 1, 1};
    status = gv_members_open(s, taken.context, 1);
    if (taken.configuration)
        digest_of(taken.configuration, s->configuration);
    s->options.devices = s->options.configuration = NULL;
    s->options.context = NULL;
    while (s->teams == 0 || gv_team_size(s, s->teams - 1) < s->members)
        s->teams++;
    if (status) {
        gravel_several_release(s);
        return status;
    }
    *several = s;
    return GRAVEL_OK;
}

void gv_several_drop(gravel_several *s)
{
    gv_call_drop(s);
    for (int k = 0; k < s->teams; k++)
        gv_team_release(s->team[k]);
    gv_mirror_release(&s->mirror);
    gv_store_release(&s->store);
    free(s->quadrupoles.q);
    free(s->asked.block);
    free(s->asked.ids);
    for (int m = 0; m < s->members; m++)
        free(s->member[m].scratch);
    free(s->list);
}

void gravel_several_release(gravel_several *s)
{
    const double worth_keeping = 0.1; /* s of calls; writing takes a millisecond */
    if (!s)
        return;
    if (s->recheck.busy > worth_keeping)
        gv_model_keep(s);
    gv_several_drop(s);
    gv_members_release(s);
    free(s);
}

int gravel_several_get_device_count(const gravel_several *s)
{
    return s ? s->members : 0;
}

const gravel_device_info *gravel_several_get_device(const gravel_several *s, int device)
{
    return s && device >= 0 && device < s->members
               ? gravel_context_get_device(s->member[device].context, s->member[device].device)
               : NULL;
}

/* ------------------------------------------------------------------------- sources */

/* Where all devices share the sources; evenly, until their speeds are known. */
size_t gravel_several_get_capacity(const gravel_several *s)
{
    const gv_team *all = s && s->teams > 0 ? s->team[s->teams - 1] : NULL;
    double least = (double)GV_MOST_BODIES;
    for (int m = 0; s && m < s->members; m++) {
        const double one = (double)gv_member_capacity(s, all ? all->index[m] : m);
        const double share = all ? (double)all->width[m] / GV_DEAL_PERIOD : 1.0 / s->members;
        least = share > 0 ? fmin(least, one / share) : least;
    }
    return s ? (size_t)least : 0;
}

static gravel_status check_end(const gravel_several *s, size_t first, size_t count)
{
    const size_t most = gravel_several_get_capacity(s);
    if (first > most || count > most - first)
        return gv_fail(GRAVEL_ERR_DEVICE_MEMORY, "a source at address %zu: the memory of the devices takes %zu",
                       count > 0 ? first + (count - 1) : first, most);
    return GRAVEL_OK;
}

static gravel_status check_sources(const gravel_several *s, const gravel_sources *from, const char *call)
{
    if (!s || !from)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: no object or no sources", call);
    if (from->count > 0 && (!from->mass || !from->pos.x || !from->pos.y || !from->pos.z))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: sources need masses and positions", call);
    return GRAVEL_OK;
}

gravel_status gravel_several_write_sources(gravel_several *s, size_t first, const gravel_sources *sources)
{
    gravel_status status = check_sources(s, sources, "gravel_several_write_sources");
    if (status || sources->count == 0)
        return status;
    status = check_end(s, first, sources->count);
    return status ? status : gv_store_write(&s->store, NULL, first, sources);
}

gravel_status gravel_several_scatter_sources(gravel_several *s, const uint32_t *address, const gravel_sources *sources)
{
    gravel_status status = check_sources(s, sources, "gravel_several_scatter_sources");
    if (!status && sources->count > 0 && !address)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_scatter_sources: no addresses");
    if (status || sources->count == 0)
        return status;
    uint32_t highest = 0;
    for (size_t k = 0; k < sources->count; k++)
        highest = address[k] > highest ? address[k] : highest;
    status = check_end(s, highest, 1);
    return status ? status : gv_store_write(&s->store, address, 0, sources);
}

gravel_status gravel_several_write_softening(gravel_several *s, size_t first, size_t count, const double *eps)
{
    if (!s || (count > 0 && !eps))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_write_softening: no object or no lengths");
    if (count == 0)
        return GRAVEL_OK;
    gravel_status status = check_end(s, first, count);
    return status ? status : gv_store_write_softening(&s->store, first, count, eps);
}

gravel_status gravel_several_set_source_count(gravel_several *s, size_t count)
{
    if (!s)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_set_source_count: no object");
    if (count > s->store.count)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "source count %zu, but only addresses below %zu were written", count,
                       s->store.count);
    s->source_count = count;
    s->source_count_is_set = 1;
    return GRAVEL_OK;
}

gravel_status gravel_several_set_time(gravel_several *s, double time)
{
    if (!s)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_set_time: no object");
    if (!(fabs(time) <= (s->options.precision == GRAVEL_DP ? DBL_MAX : FLT_MAX)))
        return gv_fail(GRAVEL_ERR_INPUT, "the time to predict to is %g", time);
    s->time = time;
    s->time_is_set = 1;
    return GRAVEL_OK;
}

void gravel_several_set_no_time(gravel_several *s)
{
    if (s)
        s->time_is_set = 0;
}

/* ------------------------------------------------------------------------- the frame */

static double largest(const gv_store *s, int column)
{
    double most = 0;
    for (size_t k = 0; s->column[column] && k < s->count; k++)
        most = fmax(most, fabs(s->column[column][k]));
    return most;
}

/* As in gravel_direct: masses are counted in the largest, so that equal ones are exact; lengths far from 1 in a power
 * of two near the largest coordinate.  It follows from the sources of the first call. */
static gravel_status choose_frame(gravel_several *s)
{
    const gv_store *t = &s->store;
    const int dp = s->options.precision == GRAVEL_DP;
    const double limit = dp ? DBL_MAX : FLT_MAX, square = gv_direct_square_limit(s->options.precision);
    if (s->frame_is_set || t->count == 0)
        return GRAVEL_OK;
    s->frame_is_set = 1;
    if (!dp) {
        const double mass = largest(t, GV_COLUMN_MASS);
        double length = 0;
        for (int c = 0; c < 3; c++)
            length = fmax(length, largest(t, GV_COLUMN_POSITION + c));
        const int common = !(length > 0) || (length > 1e-4 && length < 1e6);
        s->frame.mass = mass > 1e-300 && mass < 1e300 ? mass : 1;
        s->frame.length = common || !(length > 1e-300 && length < 1e300) ? 1 : exp2(rint(log2(length)));
    }
    for (int c = 0; c < GV_COLUMNS; c++) {
        const int squared = c >= GV_COLUMN_POSITION && c < GV_COLUMN_JERK;
        const double unit = c == GV_COLUMN_MASS ? s->frame.mass : c == GV_COLUMN_TIME ? 1 : s->frame.length;
        s->store.limit[c] = fmin((squared || c == GV_COLUMN_SOFTENING ? square : limit) * unit, DBL_MAX);
    }
    gravel_status status = GRAVEL_OK;
    for (int k = 0; k < s->teams && !status; k++) /* bodies that were prepared */
        for (int m = 0; s->team[k] && m < s->team[k]->members && !status; m++)
            if (s->team[k]->bodies[m])
                status = gravel_bodies_set_frame(s->team[k]->bodies[m], &s->frame);
    return status;
}

/* ------------------------------------------------------------------------- calls */

/* Calls are timed where kept times are to be corrected: a look at the clock is a hundredth of the shortest. */
static double now_of(const gravel_several *s)
{
    return s->options.correct_times ? gv_now() : 0;
}

/* The first call of a size in a process compiles and measures: checks have no part of that. */
static void count_time(gravel_several *s, double seconds)
{
    if (s->asked.cell && s->asked.cell->calls > 1) {
        s->asked.cell->busy += seconds;
        s->recheck.busy += seconds;
    }
}

gravel_status gravel_several_submit(gravel_several *s, const gravel_several_call *call)
{
    if (!s || !call)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_submit: no object or no call");
    const double begin = now_of(s);
    gv_call_drop(s);
    gravel_status status = gv_asked_take(s, call);
    if (status)
        return status;
    gv_asked *a = &s->asked;
    double spent = 0;
    a->cell = NULL;
    a->sources = s->source_count_is_set ? s->source_count : s->store.count;
    a->predict = s->time_is_set;
    a->time = s->time;
    a->team = NULL;
    a->by_host = 0;
    s->store.sealed = s->store.writes;
    if (a->sources > 0 && a->sinks.count > 0)
        status = choose_frame(s);
    if (!status && a->sources > 0 && a->sinks.count > 0)
        status = gv_answer_send(s, &spent);
    if (!status)
        status = gv_call_start(s);
    if (a->cell)
        a->cell->calls++;
    count_time(s, now_of(s) - begin - spent);
    return status;
}

gravel_status gravel_several_again(gravel_several *s, int order, int nearest, int neighbour_capacity)
{
    if (!s)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_again: no object");
    if (!s->asked.is_valid)
        return gv_fail(GRAVEL_ERR_STATE, "gravel_several_again: nothing was submitted");
    gravel_several_call *c = &s->asked.call;
    const gravel_several_call before = *c;
    c->order = order;
    c->nearest = nearest;
    c->neighbour_capacity = neighbour_capacity;
    gravel_status status = gv_asked_check(&s->asked);
    if (status) {
        *c = before;
        return status;
    }
    gv_call_drop(s);
    return gv_call_start(s);
}

gravel_status gravel_several_collect(gravel_several *s, const gravel_forces *forces, size_t *overflow)
{
    if (!s || !forces)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_collect: no object or no place for results");
    if (!s->asked.is_valid)
        return gv_fail(GRAVEL_ERR_STATE, "gravel_several_collect: nothing was submitted");
    const double begin = now_of(s);
    const gravel_status status = gv_call_collect(s, forces, overflow);
    count_time(s, now_of(s) - begin);
    return status;
}

static gravel_status take_call(gravel_several_call *to, const gravel_several_call *from)
{
    gravel_several_call_init(to);
    gravel_status status = gv_options_take(to, sizeof *to, from, "gravel_several_call");
    if (!status && to->order != 2 && to->order != 4 && to->order != 6)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "order is %d; it must be 2, 4 or 6", to->order);
    return status;
}

/* All that may answer: smaller calls may have other answers. */
gravel_status gravel_several_prepare(gravel_several *s, const gravel_several_call *call, size_t sinks, size_t sources)
{
    gravel_several_call c;
    gv_decision d;
    if (!s || !call)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_prepare: no object or no call");
    gravel_status status = take_call(&c, call);
    if (!status)
        status = check_end(s, 0, sources);
    if (status || sinks == 0 || sources == 0)
        return status;
    status = gv_model_decide(s, &c, sinks, sources, &d, NULL);
    for (int k = s->options.all_devices ? s->teams - 1 : 0; k < s->teams && !status; k++) {
        if (gv_model_host(s, &c) == GRAVEL_HOST_ALWAYS || k > d.team)
            break;
        status = gv_model_need_team(s, k);
        if (!status)
            status = gv_team_prepare(s, s->team[k], &c, sinks, sources);
    }
    return status;
}

gravel_status gravel_several_get_plan(gravel_several *s, const gravel_several_call *call, size_t sinks, size_t sources,
                                      gravel_several_plan *plan)
{
    gravel_several_call c;
    gv_decision d;
    if (!s || !call || !plan)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_get_plan: no object, no call or no place for the plan");
    *plan = (gravel_several_plan){.devices = 0};
    gravel_status status = take_call(&c, call);
    if (!status)
        status = gv_model_need_costs(s, c.order);
    if (!status)
        status = gv_model_decide(s, &c, sinks, sources, &d, NULL);
    if (!status && d.team != GV_ANSWER_HOST)
        status = gv_model_need_team(s, d.team);
    if (status)
        return status;
    plan->predicted_s = d.seconds;
    plan->host = d.team == GV_ANSWER_HOST;
    const gv_team *t = plan->host ? NULL : s->team[d.team];
    plan->devices = t ? t->members : 0;
    for (int m = 0; m < plan->devices; m++) {
        plan->device[m] = t->index[m];
        plan->share[m] = (double)t->width[m] / GV_DEAL_PERIOD;
    }
    return GRAVEL_OK;
}
