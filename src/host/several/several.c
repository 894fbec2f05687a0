/* gravel_several: created, written to, asked, released. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

gravel_status gv_several_scratch(gravel_several *s, size_t numbers, double **scratch)
{
    if (s->scratch_size < numbers || !s->scratch) {
        free(s->scratch);
        s->scratch_size = numbers + numbers / 4 + 64;
        s->scratch = malloc(s->scratch_size * sizeof *s->scratch);
        if (!s->scratch)
            s->scratch_size = 0;
    }
    *scratch = s->scratch;
    return s->scratch ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu numbers", numbers);
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
    gv_store_init(&s->store);
    s->frame = (gravel_frame){{0, 0, 0}, 1, 1};
    status = gv_members_open(s, taken.context);
    s->options.devices = s->options.configuration = NULL;
    s->options.context = NULL;
    const double speed[GV_MOST_MEMBERS] = {1, 1, 1};
    if (!status)
        status = gv_team_create(&s->team[s->teams++], s->members, speed);
    if (status) {
        gravel_several_release(s);
        return status;
    }
    *several = s;
    return GRAVEL_OK;
}

void gravel_several_release(gravel_several *s)
{
    if (!s)
        return;
    gv_call_drop(s);
    for (int k = 0; k < s->teams; k++)
        gv_team_release(s->team[k]);
    gv_members_release(s);
    gv_mirror_release(&s->mirror);
    gv_store_release(&s->store);
    free(s->asked.block);
    free(s->asked.ids);
    free(s->scratch);
    free(s->list);
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

size_t gravel_several_get_capacity(const gravel_several *s)
{
    size_t least = GV_MOST_BODIES;
    for (int m = 0; s && m < s->members; m++) {
        const size_t one = gv_member_capacity(s, m);
        least = one < least ? one : least;
    }
    return s ? least : 0;
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
        for (int m = 0; m < s->team[k]->members && !status; m++)
            if (s->team[k]->bodies[m])
                status = gravel_bodies_set_frame(s->team[k]->bodies[m], &s->frame);
    return status;
}

/* ------------------------------------------------------------------------- calls */

gravel_status gravel_several_submit(gravel_several *s, const gravel_several_call *call)
{
    if (!s || !call)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_submit: no object or no call");
    gv_call_drop(s);
    gravel_status status = gv_asked_take(s, call);
    if (status)
        return status;
    gv_asked *a = &s->asked;
    a->sources = s->source_count_is_set ? s->source_count : s->store.count;
    a->predict = s->time_is_set;
    a->time = s->time;
    a->team = NULL;
    a->by_host = 0;
    if (a->sources > 0 && a->sinks.count > 0) {
        status = choose_frame(s);
        a->by_host = s->options.host == GRAVEL_HOST_ALWAYS;
        if (!status && a->by_host)
            status = gv_mirror_update(s, a->predict, a->time);
        else if (!status) {
            status = gv_team_send(s, s->team[0]);
            a->team = s->team[0];
        }
    }
    return status ? status : gv_call_start(s);
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
    return gv_call_collect(s, forces, overflow);
}

gravel_status gravel_several_prepare(gravel_several *s, const gravel_several_call *call, size_t sinks, size_t sources)
{
    gravel_several_call c = GRAVEL_SEVERAL_CALL_INIT;
    if (!s || !call)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_prepare: no object or no call");
    gravel_status status = gv_options_take(&c, sizeof c, call, "gravel_several_call");
    if (!status)
        status = check_end(s, 0, sources);
    return status || sinks == 0 || sources == 0 ? status : gv_team_prepare(s, s->team[0], &c, sinks, sources);
}

gravel_status gravel_several_get_plan(gravel_several *s, const gravel_several_call *call, size_t sinks, size_t sources,
                                      gravel_several_plan *plan)
{
    if (!s || !call || !plan)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_get_plan: no object, no call or no place for the plan");
    (void)sinks;
    (void)sources;
    *plan = (gravel_several_plan){.devices = 1, .share = {1}};
    return GRAVEL_OK;
}
