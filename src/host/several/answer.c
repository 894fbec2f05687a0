/* Who answers a call gets its sources.  From time to time another one answers it beside, to see who is faster. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/clock.h"
#include "host/several/object.h"

static gravel_status send_to(gravel_several *s, int answer)
{
    gv_asked *a = &s->asked;
    a->by_host = answer == GV_ANSWER_HOST;
    a->team = NULL;
    if (a->by_host)
        return gv_mirror_update(s);
    gravel_status status = gv_model_need_team(s, answer);
    if (!status)
        status = gv_team_send(s, s->team[answer]);
    if (!status && a->call.quadrupoles)
        status = gv_team_send_quadrupoles(s, s->team[answer], a->sources);
    a->team = s->team[answer];
    if (status && a->team)
        a->team->is_stale = 1; /* changes that wait for this call are lost */
    return status;
}

/* ------------------------------------------------------------------------- checks */

/* Places for all that the call computes. */
typedef struct results {
    double *number;
    uint32_t *word;
    gravel_forces forces;
} results;

static int results_make(results *r, const gravel_several_call *c, size_t n)
{
    const size_t capacity = (size_t)c->neighbour_capacity;
    double *const x = r->number = malloc(11 * n * sizeof *r->number);
    uint32_t *const w = r->word = malloc((3 + capacity) * n * sizeof *r->word);
    if (!x || !w)
        return 0;
    r->forces = (gravel_forces){.acc = {x, x + n, x + 2 * n, 1}, .pot = x + 3 * n};
    if (c->order >= 4)
        r->forces.jerk = (gravel_vec_out){x + 4 * n, x + 5 * n, x + 6 * n, 1};
    if (c->order >= 6)
        r->forces.snap = (gravel_vec_out){x + 7 * n, x + 8 * n, x + 9 * n, 1};
    if (c->nearest) {
        r->forces.nearest_distance = x + 10 * n;
        r->forces.nearest_address = w;
    }
    if (capacity > 0) {
        r->forces.neighbour_count = w + n;
        r->forces.neighbour_id = (int32_t *)(w + 2 * n);
    }
    return 1;
}

/* The fastest of some rounds in a row: a source has changed, forces.  The first brings the sources, and compiles where
 * this is the first check of its kind in a process: then it is not charged to the cell. */
static gravel_status time_answer(gravel_several *s, int answer, const gravel_forces *to, double *seconds)
{
    gv_cell *const cell = s->asked.cell;
    gravel_status status = GRAVEL_OK;
    *seconds = INFINITY;
    for (int k = 0; k < GV_RECHECK_ROUNDS && !status; k++) {
        size_t overflow;
        const double begin = gv_now();
        gv_store_touch(&s->store);
        status = send_to(s, answer);
        if (!status)
            status = gv_call_start(s);
        if (!status)
            status = gv_call_collect(s, to, &overflow);
        gv_call_drop(s);
        const double took = gv_now() - begin;
        cell->spent += k > 0 || cell->is_compiled[answer + 1] ? took : 0;
        *seconds = k > 0 ? fmin(*seconds, took) : INFINITY;
    }
    cell->is_compiled[answer + 1] = 1;
    return status;
}

/* With solvers beside those of the calls, whose configurations then do not depend on checks.  A team that was made for
 * this gives its memory back. */
static gravel_status time_both(gravel_several *s, int chosen, int tried, double seconds[2])
{
    const int is_new = tried != GV_ANSWER_HOST && !s->team[tried];
    gravel_direct *solver[GV_MOST_MEMBERS] = {NULL};
    results r = {NULL, NULL, {.pot = NULL}};
    gravel_status status = gv_members_make_solvers(s, solver);
    gv_members_swap_solvers(s, solver);
    if (!status && !results_make(&r, &s->asked.call, s->asked.sinks.count))
        status = gv_fail(GRAVEL_ERR_MEMORY, "no host memory for results");
    if (!status)
        status = time_answer(s, tried, &r.forces, &seconds[1]);
    if (!status)
        status = time_answer(s, chosen, &r.forces, &seconds[0]);
    gv_members_swap_solvers(s, solver);
    for (int m = 0; m < s->members; m++)
        gravel_direct_release(solver[m]);
    if (is_new && s->team[tried]) {
        gv_team_release(s->team[tried]);
        s->team[tried] = NULL;
    }
    free(r.number);
    free(r.word);
    return status;
}

/* Returns the seconds that it took. */
static double check(gravel_several *s, gv_decision *d)
{
    gv_asked *a = &s->asked;
    gv_cell *const cell = a->cell;
    double expected[GV_MOST_ANSWERS], took[2];
    gv_model_expect(s, &a->call, a->sinks.count, a->sources, cell, expected);
    const int due = gv_cell_due(cell, expected, d->team + 1);
    if (due < 0)
        return 0;
    const double begin = gv_now();
    if (time_both(s, d->team, due - 1, took)) {
        gv_log(s->context[0], GRAVEL_LOG_INFO, "the times of several devices were not checked: %s",
               gravel_error_message());
        cell->tries[due] = GV_RECHECK_NEVER;
    } else if (gv_cell_took(cell, expected, d->team + 1, due, took[0], took[1])) {
        gv_model_expect(s, &a->call, a->sinks.count, a->sources, cell, expected);
        gv_log(s->context[0], GRAVEL_LOG_INFO,
               "%zu sinks and %zu sources take %.3g us by another number of devices, and %.3g us by the one that was "
               "chosen by kept times: these are corrected",
               a->sinks.count, a->sources, 1e6 * took[1], 1e6 * took[0]);
        *d = (gv_decision){due - 1, expected[due]};
        gv_model_keep(s);
    }
    return gv_now() - begin;
}

gravel_status gv_answer_send(gravel_several *s, double *spent)
{
    gv_asked *a = &s->asked;
    gv_decision d;
    gravel_status status = gv_model_decide(s, &a->call, a->sinks.count, a->sources, &d, &a->cell);
    if (!status && a->cell)
        *spent = check(s, &d);
    return status ? status : send_to(s, d.team);
}
