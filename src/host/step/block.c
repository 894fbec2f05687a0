/* A block of Hermite steps: bodies predicted, new forces, corrected (kernels/step/hermite.cl). */
#include "host/direct/call.h"
#include "host/step/step.h"

gravel_direct_call gv_hermite_call(const gravel_hermite *h, int order, gravel_view sinks, int predict, double time)
{
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    call.sources = gravel_view_all(h->bodies);
    call.sinks = sinks;
    call.order = order;
    call.eps = h->options.eps;
    call.soften = h->options.soften;
    call.predict = predict;
    call.time = time;
    call.nearest = call.neighbour_capacity = 0;
    call.into = GRAVEL_INTO_PLANES;
    return call;
}

gravel_status gv_hermite_forces(gravel_hermite *h, int order, gravel_view sinks, int predict, double time)
{
    const gravel_direct_call call = gv_hermite_call(h, order, sinks, predict, time);
    const size_t count = gravel_view_get_count(&sinks);
    const int alike = predict && gv_ahead_is_alike(h, count);
    /* the solver keeps the choice of the first call in a cell of sizes: all its calls ask for one number of sinks, so
     * that forces do not depend on which block came first */
    const size_t chosen_for =
        alike ? gv_direct_find_alike(count).chosen_for : gv_choice_last_sinks(gv_choice_sink_cell(count));
    gravel_status status = h->options.forces ? h->options.forces(h->direct, &call, h->options.forces_user)
                                             : gv_direct_start_for(h->direct, &call, chosen_for, NULL);
    if (!status && h->options.external && count > 0)
        status = h->options.external(sinks.bodies, sinks.first, count, time, h->options.external_user);
    return status;
}

gravel_status gv_hermite_words(gravel_bodies *bodies, size_t n, const gv_word *word, cl_mem *mem)
{
    static const gv_word low[] = {GV_WORD_POSITION_LOW, GV_WORD_VELOCITY_LOW, GV_WORD_TIME_LOW};
    gravel_status status = GRAVEL_OK;
    for (size_t k = 0; k < n && !status; k++) {
        int absent = 0;
        for (size_t l = 0; l < sizeof low / sizeof low[0]; l++)
            absent = absent || (word[k] == low[l] && bodies->precision != GRAVEL_DS);
        if (absent)
            mem[k] = mem[0];
        else
            status = gv_bodies_need(bodies, word[k], &mem[k]);
    }
    return status;
}

static gravel_status predict(gravel_hermite *h, size_t count, gv_time_words t)
{
    enum { FROM = 12, TO = 9 };
    static const gv_word from_word[FROM] = {GV_WORD_POSITION,     GV_WORD_POSITION_LOW, GV_WORD_VELOCITY,
                                            GV_WORD_VELOCITY_LOW, GV_WORD_ACCELERATION, GV_WORD_JERK,
                                            GV_WORD_SNAP,         GV_WORD_CRACKLE,      GV_WORD_TIME,
                                            GV_WORD_TIME_LOW,     GV_WORD_ID,           GV_WORD_SOFTENING};
    static const gv_word to_word[TO] = {GV_WORD_POSITION,     GV_WORD_POSITION_LOW, GV_WORD_VELOCITY,
                                        GV_WORD_VELOCITY_LOW, GV_WORD_ACCELERATION, GV_WORD_TIME,
                                        GV_WORD_TIME_LOW,     GV_WORD_ID,           GV_WORD_SOFTENING};
    static const gravel_plane changed[] = {GRAVEL_POSITION, GRAVEL_MASS, GRAVEL_VELOCITY, GRAVEL_ACCELERATION,
                                           GRAVEL_TIME,     GRAVEL_ID,   GRAVEL_SOFTENING};
    const int softened = h->options.soften != GRAVEL_SOFTEN_EPS;
    const size_t skip = softened ? 0 : 1; /* the last of both lists */
    const gravel_precision p = h->bodies->precision;
    cl_mem from[FROM], to[TO];
    gravel_status status = gv_hermite_words(h->bodies, FROM - skip, from_word, from);
    if (!status)
        status = gv_hermite_words(h->active, TO - skip, to_word, to);
    if (status)
        return status;
    if (!softened) {
        from[FROM - 1] = from[0];
        to[TO - 1] = to[0];
    }
    status = gv_launch(&h->worker, 0, h->kernel[GV_STEP_PREDICT], gv_items(count, 64), GV_MEM(h->select.list),
                       GV_UINT(count), GV_REAL(p, t.high), GV_REAL(p, t.low), GV_ARG(from[0]), GV_ARG(from[1]),
                       GV_ARG(from[2]), GV_ARG(from[3]), GV_ARG(from[4]), GV_ARG(from[5]), GV_ARG(from[6]),
                       GV_ARG(from[7]), GV_ARG(from[8]), GV_ARG(from[9]), GV_ARG(from[10]), GV_ARG(to[0]),
                       GV_ARG(to[1]), GV_ARG(to[2]), GV_ARG(to[3]), GV_ARG(to[4]), GV_ARG(to[5]), GV_ARG(to[6]),
                       GV_ARG(from[11]), GV_ARG(to[8]), GV_INT(softened), GV_ARG(to[7]));
    for (size_t k = 0; k < sizeof changed / sizeof changed[0] - skip; k++)
        gv_bodies_changed(h->active, changed[k]);
    return status;
}

void gv_hermite_mark(gravel_bodies *bodies)
{
    static const gravel_plane changed[] = {GRAVEL_POSITION, GRAVEL_VELOCITY, GRAVEL_ACCELERATION,
                                           GRAVEL_JERK,     GRAVEL_SNAP,     GRAVEL_CRACKLE,
                                           GRAVEL_TIME,     GRAVEL_STEP,     GRAVEL_POTENTIAL};
    for (size_t k = 0; k < sizeof changed / sizeof changed[0]; k++)
        gv_bodies_changed(bodies, changed[k]);
}

double gv_hermite_per_mass(const gravel_hermite *h)
{
    const double length = h->bodies->frame.length;
    return h->mass > 0 ? length * length * length / h->mass : 0;
}

double gv_hermite_mass_part(const gravel_hermite *h)
{
    return h->mass > 0 ? h->bodies->frame.mass / h->mass : 0;
}

gravel_status gv_hermite_step_words(gravel_hermite *h, cl_mem own[GV_STEP_OWN], cl_mem new[GV_STEP_NEW])
{
    static const gv_word own_word[GV_STEP_OWN] = {GV_WORD_POSITION,     GV_WORD_POSITION_LOW, GV_WORD_VELOCITY,
                                                  GV_WORD_VELOCITY_LOW, GV_WORD_ACCELERATION, GV_WORD_JERK,
                                                  GV_WORD_SNAP,         GV_WORD_CRACKLE,      GV_WORD_TIME,
                                                  GV_WORD_TIME_LOW,     GV_WORD_STEP,         GV_WORD_POTENTIAL};
    static const gv_word new_word[GV_STEP_NEW] = {GV_WORD_POSITION,     GV_WORD_POSITION_LOW, GV_WORD_VELOCITY,
                                                  GV_WORD_VELOCITY_LOW, GV_WORD_ACCELERATION, GV_WORD_JERK,
                                                  GV_WORD_SNAP,         GV_WORD_POTENTIAL};
    const gravel_status status = gv_hermite_words(h->bodies, GV_STEP_OWN, own_word, own);
    return status ? status : gv_hermite_words(h->active, GV_STEP_NEW, new_word, new);
}

static gravel_status correct(gravel_hermite *h, size_t count, gv_time_words t, int last)
{
    const gravel_hermite_options *o = &h->options;
    const gravel_precision p = h->bodies->precision;
    cl_mem own[GV_STEP_OWN], new[GV_STEP_NEW];
    gravel_status status = gv_hermite_step_words(h, own, new);
    if (status)
        return status;
    status =
        gv_launch(&h->worker, 0, h->kernel[GV_STEP_CORRECT], gv_items(count, 64), GV_MEM(h->select.list),
                  GV_UINT(count), GV_REAL(p, t.high), GV_REAL(p, t.low), GV_ARG(own[0]), GV_ARG(own[1]), GV_ARG(own[2]),
                  GV_ARG(own[3]), GV_ARG(own[4]), GV_ARG(own[5]), GV_ARG(own[6]), GV_ARG(own[7]), GV_ARG(own[8]),
                  GV_ARG(own[9]), GV_ARG(own[10]), GV_ARG(own[11]), GV_ARG(new[0]), GV_ARG(new[1]), GV_ARG(new[2]),
                  GV_ARG(new[3]), GV_ARG(new[4]), GV_ARG(new[5]), GV_ARG(new[6]), GV_ARG(new[7]), GV_REAL(p, o->eta4),
                  GV_REAL(p, o->eta6), GV_REAL(p, gv_hermite_per_mass(h)), GV_REAL(p, gv_hermite_mass_part(h)),
                  GV_REAL(p, o->step_max), GV_REAL(p, o->step_min), GV_INT(last), GV_MEM(h->select.head));
    gv_hermite_mark(last ? h->bodies : h->active);
    return status;
}

/* The bodies of the list at `time`: predicted, with new forces, corrected; `stay` 1: in the active set only. */
static gravel_status evaluate(gravel_hermite *h, size_t count, double time, int stay)
{
    const gv_time_words t = gv_time_split(h->bodies->precision, time);
    gravel_status status = count > 0 ? predict(h, count, t) : GRAVEL_OK; /* 0: others have bodies that are due */
    for (int k = 1; k <= h->options.iterations && !status; k++) {
        status = gv_hermite_forces(h, h->options.order, gravel_view_range(h->active, 0, count), 1, time);
        const int last = !stay && k == h->options.iterations;
        if (!status && last && h->options.tally && count > 0) /* only now: a block whose forces fail comes again */
            status = gv_selector_tally(&h->select, count);
        if (!status && count > 0)
            status = correct(h, count, t, last);
    }
    return status;
}

gravel_status gv_hermite_try(gravel_hermite *h, size_t count, double time)
{
    return evaluate(h, count, time, 1);
}

gravel_status gv_hermite_move(gravel_hermite *h, size_t count, double time)
{
    const int has_copy = h->host_up_to > 0, by_host = has_copy && count <= h->host_up_to;
    gravel_status status = has_copy && !by_host ? gv_copy_send(h, count) : GRAVEL_OK;
    h->next_known = 0;
    if (by_host)
        gv_host_move(h, count, time, 0);
    else if (!status)
        status = evaluate(h, count, time, 0);
    if (status)
        return status; /* the bodies are where they were: the block comes again */
    if (has_copy && !by_host) {
        status = gv_copy_take(h, count);
        h->copy.is_current = !status;
    }
    h->counts.host_blocks += by_host;
    h->now = time;
    h->whole = h->all_due == h->all;
    h->counts.blocks++;
    h->counts.steps += h->all_due;
    return status ? status : gv_host_review(h);
}

gravel_status gv_hermite_look(gravel_hermite *h, double time)
{
    const size_t n = h->bodies->count;
    gravel_status status = gv_copy_send(h, 0);
    if (!status)
        status = gv_selector_take_all(&h->select);
    if (h->host_up_to == 0)
        h->next_known = 0; /* the list is another */
    if (!status && h->whole && time == h->now)
        return predict(h, n, gv_time_split(h->bodies->precision, time)); /* over no time: a copy */
    return status ? status : evaluate(h, n, time, 1);
}
