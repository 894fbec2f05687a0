#include "host/direct/take.h"

#include <string.h>

/* Entries of work space come in whole multiples of this, so that it can be cut into planes on any device. */
enum { UNIT = 1024 };

static size_t quad_size(const gravel_direct *d)
{
    return d->options.precision == GRAVEL_DP ? 32 : 16;
}

static int quads_of(const gravel_direct *d, int order)
{
    return order / 2 + (d->options.precision == GRAVEL_DS);
}

void gv_direct_forget(gravel_direct *d)
{
    gv_direct_taken *t = &d->taken;
    if (t->position)
        clReleaseMemObject(t->position);
    if (t->list)
        clReleaseMemObject(t->list);
    t->position = t->list = NULL;
    t->order = 0;
}

static void release_slices(gravel_direct *d)
{
    for (int k = 0; k < 4; k++)
        if (d->taken.slice[k])
            clReleaseMemObject(d->taken.slice[k]);
    memset(d->taken.slice, 0, sizeof d->taken.slice);
}

void gv_direct_release_taken(gravel_direct *d)
{
    gv_direct_forget(d);
    release_slices(d);
    gv_buffer_release(&d->taken.id);
    gv_buffer_release(&d->taken.softening);
    gv_buffer_release(&d->taken.quads);
}

/* ------------------------------------------------------------------- sources */

static gravel_status cut(gravel_direct *d, size_t capacity)
{
    cl_int code = CL_SUCCESS;
    for (int k = 0; k < quads_of(d, 6) && !code; k++) {
        const cl_buffer_region region = {(size_t)k * capacity * quad_size(d), capacity * quad_size(d)};
        if (region.origin + region.size <= d->taken.quads.size)
            d->taken.slice[k] =
                clCreateSubBuffer(d->taken.quads.mem, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    }
    atomic_fetch_add(&d->worker.context->buffers_made, 1);
    return code ? gv_fail_cl(code, "cutting the work space of sources into planes") : GRAVEL_OK;
}

static gravel_status reserve_sources(gravel_direct *d, const gv_direct_reading *how, size_t count)
{
    gv_direct_taken *t = &d->taken;
    const size_t rounded = (count + UNIT - 1) / UNIT * UNIT, scalar = quad_size(d) / 4;
    const size_t capacity = rounded > t->capacity ? rounded : t->capacity;
    const size_t bytes = (size_t)quads_of(d, how->order) * capacity * quad_size(d);
    gravel_status status = GRAVEL_OK;
    if (capacity > t->capacity || bytes > t->quads.size) {
        gv_direct_forget(d);
        release_slices(d);
        t->capacity = 0;
        status = gv_buffer_reserve(&d->worker, &t->quads, bytes, "sources");
        if (!status)
            status = cut(d, capacity);
    }
    if (!status)
        status = gv_buffer_reserve(&d->worker, &t->id, capacity * sizeof(int32_t), "ids of sources");
    if (!status && GV_SOFTEN_OF_SOURCES((int)how->soften))
        status = gv_buffer_reserve(&d->worker, &t->softening, capacity * scalar, "softening lengths of sources");
    t->capacity = status ? 0 : capacity;
    return status;
}

/* All planes that sources depend on. */
static uint64_t version_of(const gravel_bodies *b)
{
    static const gravel_plane plane[] = {GRAVEL_MASS,         GRAVEL_ID,       GRAVEL_POSITION, GRAVEL_VELOCITY,
                                         GRAVEL_ACCELERATION, GRAVEL_JERK,     GRAVEL_SNAP,     GRAVEL_CRACKLE,
                                         GRAVEL_TIME,         GRAVEL_SOFTENING};
    uint64_t sum = b->order_version;
    for (size_t k = 0; k < sizeof plane / sizeof plane[0]; k++)
        sum += b->version[plane[k]];
    return sum;
}

/* The words are used in place where nothing is to be computed: same kind of numbers, bodies from the first on, no
 * prediction. */
static int is_direct(const gravel_direct *d, const gv_direct_reading *how, const gv_selection *sources)
{
    const gravel_precision solver = d->options.precision, bodies = sources->bodies->precision;
    const int same = solver == bodies || (solver == GRAVEL_SP && bodies == GRAVEL_DS);
    return same && (!how->predict || how->is_predicted) && !sources->list && sources->first == 0;
}

/* The sources in place.  Words that are not there are made, so that they read as zeros. */
static gravel_status point_at_words(const gravel_direct *d, const gv_direct_reading *how, const gv_selection *sources,
                                    gv_direct_sources *out)
{
    gravel_bodies *b = sources->bodies;
    const int low = d->options.precision == GRAVEL_DS;
    static const gv_word word[4] = {GV_WORD_POSITION, GV_WORD_POSITION_LOW, GV_WORD_VELOCITY, GV_WORD_ACCELERATION};
    const int needed[4] = {1, low, how->order >= 4, how->order >= 6};
    *out = (gv_direct_sources){.count = sources->count};
    gravel_status status = gv_bodies_need(b, GV_WORD_ID, &out->id);
    for (int k = 0; k < 4 && !status; k++)
        if (needed[k])
            status = gv_bodies_need(b, word[k], &out->quad[k]);
    if (!status && GV_SOFTEN_OF_SOURCES((int)how->soften))
        status = gv_bodies_need(b, GV_WORD_SOFTENING, &out->softening);
    return status;
}

static void point_at_taken(const gravel_direct *d, const gv_direct_reading *how, const gv_selection *sources,
                           gv_direct_sources *out)
{
    const gv_direct_taken *t = &d->taken;
    const int low = d->options.precision == GRAVEL_DS;
    *out = (gv_direct_sources){
        .quad = {t->slice[0], low ? t->slice[1] : NULL, how->order >= 4 ? t->slice[1 + low] : NULL,
                 how->order >= 6 ? t->slice[2 + low] : NULL},
        .softening = t->softening.mem,
        .id = t->id.mem,
        .count = sources->count,
        .list = sources->list,
        .address_first = sources->first,
    };
}

static int is_taken(const gravel_direct *d, const gv_direct_reading *how, const gv_selection *s, uint64_t version)
{
    const gv_direct_taken *t = &d->taken;
    return t->order >= how->order && t->position == s->bodies->word[GV_WORD_POSITION].mem && t->list == s->list &&
           t->first == s->first && t->count == s->count && t->version == version && t->predict == how->predict &&
           (!how->predict || t->time == how->time) && (t->softened || !GV_SOFTEN_OF_SOURCES((int)how->soften));
}

static void remember(gravel_direct *d, const gv_direct_reading *how, const gv_selection *s, uint64_t version)
{
    gv_direct_taken *t = &d->taken;
    gv_direct_forget(d);
    t->position = s->bodies->word[GV_WORD_POSITION].mem;
    t->list = s->list;
    clRetainMemObject(t->position);
    if (t->list)
        clRetainMemObject(t->list);
    t->order = how->order;
    t->predict = how->predict;
    t->softened = GV_SOFTEN_OF_SOURCES((int)how->soften);
    t->time = how->time;
    t->first = s->first;
    t->count = s->count;
    t->version = version;
}

/* ----------------------------------------------------------------- the kernel */

/* The words of bodies in the order of the kernel's arguments, and the bit that says that one is there. */
static const struct {
    gv_word word;
    cl_uint bit;
} words[] = {
    {GV_WORD_POSITION, 0},
    {GV_WORD_POSITION_LOW, GV_TAKE_POSITION_LOW},
    {GV_WORD_VELOCITY, GV_TAKE_VELOCITY},
    {GV_WORD_VELOCITY_LOW, GV_TAKE_VELOCITY_LOW},
    {GV_WORD_ACCELERATION, GV_TAKE_ACCELERATION},
    {GV_WORD_JERK, GV_TAKE_JERK},
    {GV_WORD_SNAP, GV_TAKE_SNAP},
    {GV_WORD_CRACKLE, GV_TAKE_CRACKLE},
    {GV_WORD_TIME, GV_TAKE_TIME},
    {GV_WORD_TIME_LOW, GV_TAKE_TIME_LOW},
    {GV_WORD_SOFTENING, GV_TAKE_SOFTENING},
    {GV_WORD_RADIUS, GV_TAKE_RADIUS},
    {GV_WORD_ID, GV_TAKE_ID},
};
enum { WORDS = sizeof words / sizeof words[0] };

_Static_assert(WORDS == GV_TAKE_MASS_COLUMN && GV_NO_COLUMN == GV_TAKE_NO_COLUMN, "columns of changed bodies");
_Static_assert(GV_TAKE_MOST_FEW == GV_FEW, "short lists are as short for the kernel as for gravel_list");

/* From the frame of the sinks to that of the sources: x' = ratio x + shift */
typedef struct moving {
    double ratio, shift[3];
} moving;

static moving between(const gravel_frame *from, const gravel_frame *to)
{
    moving m = {from->length / to->length, {0, 0, 0}};
    for (int c = 0; c < 3; c++)
        m.shift[c] = (from->origin[c] - to->origin[c]) / to->length;
    return m;
}

/* A number as one or two words of the bodies' precision. */
typedef union scalar4 {
    cl_float f[4];
    cl_double d[4];
} scalar4;

static void put_scalar(gravel_precision p, scalar4 *high, scalar4 *low, int at, double value)
{
    if (p == GRAVEL_DP) {
        high->d[at] = value;
        low->d[at] = 0;
    } else {
        high->f[at] = (cl_float)value;
        low->f[at] = (cl_float)(value - (double)high->f[at]);
    }
}

typedef struct taking {
    const gravel_bodies *bodies;
    const gv_selection *sources, *sinks; /* either may be NULL */
    size_t stride;                       /* entries of a plane of sinks */
    moving move;
    const gv_held *held;      /* bodies that the launch puts, or NULL */
    gv_direct_few *few;       /* sinks that it brings beside them, or NULL */
    int nameless;             /* their ids are numbers of their own, which say nothing about other bodies */
    const gv_direct_due *due; /* number and time of the sinks are on the device, or NULL */
} taking;

/* Of the smallest batch that so many bytes fit into. */
static int number_for(const gv_worker *worker, size_t bytes)
{
    int number = 0;
    while (number < GV_HELD_SIZES - 1 && gv_held_size(worker, number) < bytes)
        number++;
    return number;
}

static gravel_status launch(gravel_direct *d, gv_worker *worker, const gv_direct_reading *how, const taking *t)
{
    enum { COLUMNS = 16 };
    const gravel_precision p = t->bodies->precision;
    const size_t scalar = p == GRAVEL_DP ? 8 : 4;
    cl_uint few[GV_TAKE_MOST_FEW] = {0};
    const gv_selection none = {.count = 0}, *sources = t->sources ? t->sources : &none;
    const gv_selection *sinks = t->sinks ? t->sinks : &none;
    const size_t stride = t->sinks || t->few ? t->stride : 0;
    cl_mem word[WORDS], out[4] = {d->taken.quads.mem, d->taken.softening.mem, d->taken.id.mem, d->sinks.mem};
    if (t->few)
        out[3] = t->few->device;
    cl_mem list[2] = {sources->list, sinks->list};
    scalar4 time, time_low, ratio, unused, shift = {{0}}, shift_low = {{0}};
    cl_uint have = how->predict ? GV_TAKE_PREDICT : 0;
    for (int k = 0; k < WORDS; k++) {
        word[k] = t->bodies->word[words[k].word].mem;
        have |= word[k] ? words[k].bit : 0;
    }
    if (t->nameless)
        have &= ~(cl_uint)GV_TAKE_ID;
    const cl_uint soften = (GV_SOFTEN_OF_SINKS((int)how->soften) ? GV_TAKE_SINKS_SOFTEN : 0) |
                           (GV_SOFTEN_OF_SOURCES((int)how->soften) ? GV_TAKE_SOURCES_SOFTEN : 0);
    const cl_uint from = sinks->few ? GV_TAKE_FEW : sinks->list ? GV_TAKE_LIST : GV_TAKE_RANGE;
    if (sinks->few)
        memcpy(few, sinks->few, sinks->count * sizeof *few);
    put_scalar(p, &time, &time_low, 0, how->time);
    put_scalar(p, &ratio, &unused, 0, t->move.ratio);
    for (int c = 0; c < 3; c++)
        put_scalar(p, &shift, &shift_low, c, t->move.shift[c]);
    cl_kernel kernel;
    const size_t changed = t->held ? t->held->count : 0, items = sources->count + stride + changed;
    const size_t points_at = t->few ? t->held->used / scalar : 0, points_planes = t->few ? t->few->planes : 0;
    unsigned char column[COLUMNS], batch[GV_MOST_HELD];
    if (t->few) {
        memcpy(batch, t->held->batch, t->held->used);
        memcpy(batch + t->held->used, t->few->host, t->few->bytes);
    }
    const size_t used = (changed > 0 ? t->held->used : 0) + (t->few ? t->few->bytes : 0);
    const int number = number_for(worker, used);
    const int kind = t->due ? GV_TAKE_DUE : changed == 0 ? GV_TAKE_PLAIN : GV_TAKE_CHANGES + number;
    gravel_status status = gv_direct_take_kernel(d, how->order, t->bodies, kind, &kernel);
    if (status)
        return status;
    gv_arg arg[] = {GV_ARG(word[0]),
                    GV_ARG(word[1]),
                    GV_ARG(word[2]),
                    GV_ARG(word[3]),
                    GV_ARG(word[4]),
                    GV_ARG(word[5]),
                    GV_ARG(word[6]),
                    GV_ARG(word[7]),
                    GV_ARG(word[8]),
                    GV_ARG(word[9]),
                    GV_ARG(word[10]),
                    GV_ARG(word[11]),
                    GV_ARG(word[12]),
                    GV_ARG(have),
                    {scalar, &time},
                    {scalar, &time_low},
                    GV_UINT(sources->count),
                    GV_UINT(sources->first),
                    GV_UINT(sources->list != NULL),
                    GV_ARG(list[0]),
                    GV_ARG(out[0]),
                    GV_ARG(out[1]),
                    GV_ARG(out[2]),
                    GV_UINT(d->taken.capacity),
                    GV_UINT(sinks->count),
                    GV_UINT(sinks->first),
                    GV_ARG(from),
                    GV_ARG(list[1]),
                    {sizeof few / 2, few},
                    {sizeof few / 2, few + GV_TAKE_MOST_FEW / 2},
                    GV_ARG(out[3]),
                    GV_UINT(stride),
                    GV_UINT(how->lists),
                    GV_ARG(soften),
                    {scalar, &ratio},
                    {4 * scalar, &shift},
                    {4 * scalar, &shift_low},
                    {sizeof column, column},
                    GV_UINT(changed),
                    GV_UINT(points_at),
                    GV_UINT(points_planes),
                    {changed > 0 ? gv_held_size(worker, number) : 0, t->few        ? batch
                                                                     : changed > 0 ? t->held->batch
                                                                                   : NULL}};
    enum { CHANGES = 5, ARGS = sizeof arg / sizeof arg[0] };
    const cl_mem head = t->due ? t->due->head : NULL;
    const cl_uint above = t->due ? (cl_uint)t->due->above : 0, most = t->due ? (cl_uint)t->due->most : 0;
    scalar4 until, until_low;
    const gv_time_words last = gv_time_not_after(p, t->due ? t->due->until : 0);
    put_scalar(p, &until, &unused, 0, last.high);
    put_scalar(p, &until_low, &unused, 0, last.low);
    const gv_arg found[CHANGES] = {GV_ARG(head), GV_ARG(above), GV_ARG(most), {scalar, &until}, {scalar, &until_low}};
    if (t->due)
        memcpy(arg + ARGS - CHANGES, found, sizeof found);
    memset(column, GV_TAKE_NO_COLUMN, sizeof column);
    for (int k = 0; k < WORDS && changed > 0; k++)
        column[k] = t->held->column[words[k].word];
    if (changed > 0)
        column[GV_TAKE_MASS_COLUMN] = t->held->column[GV_MASS_COLUMN];
    return gv_launch_next(worker, GV_STAGE_TAKE, kernel, gv_items(items > 0 ? items : 1, 64),
                          kind == GV_TAKE_PLAIN ? ARGS - CHANGES : ARGS, arg, &d->last[GV_STAGE_TAKE]);
}

gravel_status gv_direct_prepare_reading(gravel_direct *d, const gv_direct_reading *how, const gv_selection *sources,
                                        const gv_selection *sinks, size_t count)
{
    cl_mem position;
    cl_kernel made;
    gravel_status status = GRAVEL_OK;
    if (!is_direct(d, how, sources))
        status = reserve_sources(d, how, count);
    for (int k = 0; k < 2 && !status; k++) {
        const gv_selection *s = k == 0 ? sources : sinks;
        const int same = k == 1 && s && s->bodies == sources->bodies;
        if (!s || same)
            continue;
        const taking nothing = {.bodies = s->bodies, .move = {1, {0, 0, 0}}};
        status = gv_bodies_need(s->bodies, GV_WORD_POSITION, &position);
        if (!status)
            status = launch(d, &d->worker, how, &nothing);
    }
    for (int k = 0; k < GV_HELD_SIZES && !status && how->changes && sources && sources->bodies; k++)
        if (number_for(&d->worker, gv_held_size(&d->worker, k)) == k)
            status = gv_direct_take_kernel(d, how->order, sources->bodies, GV_TAKE_CHANGES + k, &made);
    return status;
}

int gv_direct_is_few(const gravel_direct *d, const gravel_bodies *bodies, const gv_held *held, size_t bytes)
{
    const int same_size = (bodies->precision == GRAVEL_DP) == (d->options.precision == GRAVEL_DP);
    return held->count > 0 && same_size && held->used + bytes <= gv_held_size(&d->worker, GV_HELD_SIZES - 1);
}

gravel_status gv_direct_read_bodies(gravel_direct *d, gv_worker *worker, const gv_direct_reading *how,
                                    const gv_selection *sources, const gv_selection *sinks, size_t stride,
                                    gv_held *held, gv_direct_few *few, gv_direct_sources *out)
{
    const int in_place = is_direct(d, how, sources);
    int take = 0;
    taking t = {.bodies = sources->bodies, .stride = stride, .move = {1, {0, 0, 0}}};
    cl_mem position;
    gravel_status status = gv_bodies_need(sources->bodies, GV_WORD_POSITION, &position);
    if (!status && sinks)
        status = gv_bodies_need(sinks->bodies, GV_WORD_POSITION, &position);
    if (status)
        return status;
    const uint64_t version = version_of(sources->bodies) + how->list_version;
    if (in_place)
        status = point_at_words(d, how, sources, out);
    else if (!is_taken(d, how, sources, version)) {
        status = reserve_sources(d, how, sources->count);
        gv_direct_forget(d);
        t.sources = sources;
        take = 1;
    }
    if (status)
        return status;
    if (sinks && sinks->bodies == sources->bodies)
        t.sinks = sinks;
    if (held && held->count > 0 && !t.sources)
        status = gv_bodies_put_held(sources->bodies, held);
    t.held = held && held->count > 0 ? held : NULL;
    t.few = t.held && few && few->host ? few : NULL;
    if (!status && (t.sources || t.sinks))
        status = launch(d, worker, how, &t);
    if (!status && t.held)
        held->count = 0;
    if (!status && t.few)
        few->is_sent = 1;
    if (!status && sinks && sinks->bodies != sources->bodies) {
        t = (taking){.bodies = sinks->bodies,
                     .sinks = sinks,
                     .stride = stride,
                     .move = between(&sinks->bodies->frame, &sources->bodies->frame),
                     .nameless = sinks->bodies->own_ids};
        status = launch(d, worker, how, &t);
    }
    if (!status && take)
        remember(d, how, sources, version);
    if (!in_place)
        point_at_taken(d, how, sources, out);
    return status;
}

gravel_status gv_direct_read_due(gravel_direct *d, gv_worker *worker, const gv_direct_reading *how,
                                 const gv_selection *sources, const gv_selection *sinks, size_t stride,
                                 const gv_direct_due *due, gv_direct_sources *out)
{
    const taking t = {.bodies = sources->bodies,
                      .sources = sources,
                      .sinks = sinks,
                      .stride = stride,
                      .move = {1, {0, 0, 0}},
                      .due = due};
    gravel_status status = reserve_sources(d, how, sources->count);
    gv_direct_forget(d); /* of what time they are is not known here */
    if (!status)
        status = launch(d, worker, how, &t);
    point_at_taken(d, how, sources, out);
    return status;
}
