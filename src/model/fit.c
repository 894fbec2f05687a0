/* Numbers of a machine from what one rank of it measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *list, int n)
{
    qsort(list, (size_t)n, sizeof *list, compare_doubles);
    return list[n / 2];
}

/* -------------------------------------------------------------------- direct */

/* What one rank measured of the order and precision that were measured first. */
static const gv_point *direct_point(const gv_points *p, size_t k)
{
    const gv_point *first = NULL;
    for (size_t i = 0; i < p->n && !first; i++)
        if (p->point[i].question.scheme != GV_MODEL_TREE && p->point[i].question.ranks == 1)
            first = &p->point[i];
    const gv_question *q = &p->point[k].question;
    const int is = first && q->scheme != GV_MODEL_TREE && q->ranks == 1 && q->order == first->question.order &&
                   q->precision == first->question.precision;
    return is ? &p->point[k] : NULL;
}

/* The forces of so many sinks and sources. */
static const gv_point *find_forces(const gv_points *p, double n, double active)
{
    for (size_t k = 0; k < p->n; k++) {
        const gv_point *d = direct_point(p, k);
        if (d && d->question.forces_only && d->question.n == n && d->question.active == active)
            return d;
    }
    return NULL;
}

static double pairs(const gv_point *d)
{
    return d->question.n * d->question.active;
}

/* Shortest call and time of a source: from the fewest sinks of the smallest and of the largest set. */
static void fit_call(gv_machine *m, const gv_points *p, double rate)
{
    const gv_point *low = NULL, *high = NULL;
    for (size_t k = 0; k < p->n; k++) {
        const gv_point *d = direct_point(p, k);
        if (!d || !d->question.forces_only)
            continue;
        if (!low || d->question.active < low->question.active ||
            (d->question.active == low->question.active && d->question.n < low->question.n))
            low = d;
        if (!high || d->question.active < high->question.active ||
            (d->question.active == high->question.active && d->question.n > high->question.n))
            high = d;
    }
    if (!low)
        return;
    const double more = high->question.n - low->question.n;
    m->source_s = more > 0 ? fmax(0, (high->seconds - low->seconds - (pairs(high) - pairs(low)) / rate) / more) : 0;
    m->call_s = fmax(0.5 * low->seconds, low->seconds - low->question.n * m->source_s - pairs(low) / rate);
}

/* Where pairs take less than a seventh of the time, they say nothing about the rate. */
static void fit_efficiency(gv_machine *m, const gv_points *p, double rate)
{
    enum { MOST = 64 };
    double list[MOST], above = 0;
    m->efficiency.n = 0;
    while (m->efficiency.n < GV_CURVE_POINTS) {
        double sinks = INFINITY;
        int n = 0;
        for (size_t k = 0; k < p->n; k++) {
            const gv_point *d = direct_point(p, k);
            if (d && d->question.forces_only && d->question.active > above)
                sinks = fmin(sinks, d->question.active);
        }
        if (!isfinite(sinks))
            return;
        for (size_t k = 0; k < p->n; k++) {
            const gv_point *d = direct_point(p, k);
            if (!d || !d->question.forces_only || d->question.active != sinks || n == MOST)
                continue;
            const double rest = d->seconds - m->call_s - d->question.n * m->source_s;
            if (rest > d->seconds / 7)
                list[n++] = fmin(1, pairs(d) / (rate * rest));
        }
        if (n > 0) {
            m->efficiency.x[m->efficiency.n] = sinks;
            m->efficiency.y[m->efficiency.n++] = median(list, n);
        }
        above = sinks;
    }
}

/* What a step takes beside its forces, where both were measured. */
static void fit_steps(gv_machine *m, const gv_points *p)
{
    double n[2] = {INFINITY, 0}, rest[2] = {0, 0};
    for (size_t k = 0; k < p->n; k++) {
        const gv_point *d = direct_point(p, k);
        const gv_point *forces = d && !d->question.forces_only ? find_forces(p, d->question.n, d->question.n) : NULL;
        if (!forces)
            continue;
        for (int e = 0; e < 2; e++)
            if (e == 0 ? d->question.n < n[0] : d->question.n > n[1]) {
                n[e] = d->question.n;
                rest[e] = fmax(0, d->seconds - forces->seconds);
            }
    }
    if (n[1] <= 0)
        return;
    m->body_s = n[1] > n[0] ? fmax(0, (rest[1] - rest[0]) / (n[1] - n[0])) : 0;
    m->step_s = fmax(0, rest[0] - n[0] * m->body_s);
}

/* Steps of more bodies than any forces that were measured. */
static void add_steps_to_efficiency(gv_machine *m, const gv_points *p, double rate)
{
    gv_curve *c = &m->efficiency;
    for (int more = 1; more && c->n > 0 && c->n < GV_CURVE_POINTS;) {
        const gv_point *next = NULL;
        for (size_t k = 0; k < p->n; k++) {
            const gv_point *d = direct_point(p, k);
            if (d && !d->question.forces_only && d->question.active == d->question.n &&
                d->question.n > c->x[c->n - 1] && (!next || d->question.n < next->question.n))
                next = d;
        }
        more = next != NULL;
        if (next) {
            const double n = next->question.n;
            c->x[c->n] = n;
            c->y[c->n++] =
                fmin(1, n * n / rate / (next->seconds - m->step_s - n * m->body_s - m->call_s - n * m->source_s));
        }
    }
}

static void fit_direct(gv_machine *m, const gv_points *p)
{
    double rate = 0;
    const gv_point *any = NULL;
    for (size_t k = 0; k < p->n; k++) {
        const gv_point *d = direct_point(p, k);
        if (d)
            rate = fmax(rate, pairs(d) / d->seconds);
        any = d ? d : any;
    }
    if (!any)
        return;
    /* the largest calls hide a part of theirs: a few rounds settle what belongs to what */
    for (int round = 0; round < 4; round++) {
        double best = 0;
        fit_call(m, p, rate);
        for (size_t k = 0; k < p->n; k++) {
            const gv_point *d = direct_point(p, k);
            if (d && pairs(d) / rate > 10 * m->call_s)
                best = fmax(best, pairs(d) / (d->seconds - m->call_s - d->question.n * m->source_s));
        }
        rate = best > 0 ? best : rate;
    }
    m->pairs_per_s[any->question.precision][any->question.order == 6] = rate;
    fit_efficiency(m, p, rate);
    fit_steps(m, p);
    add_steps_to_efficiency(m, p, rate);
    if (p->compute_units > 0)
        m->compute_units = p->compute_units;
}

/* ---------------------------------------------------------------------- tree */

static const gv_point *tree_point(const gv_points *p, size_t k)
{
    const gv_question *q = &p->point[k].question;
    return q->scheme == GV_MODEL_TREE && q->ranks == 1 && p->point[k].part[4] > 0 ? &p->point[k] : NULL;
}

static const gv_point *find_tree(const gv_points *p, double theta, double above)
{
    const gv_point *next = NULL;
    for (size_t k = 0; k < p->n; k++) {
        const gv_point *t = tree_point(p, k);
        if (t && t->question.theta == theta && t->question.n > above && (!next || t->question.n < next->question.n))
            next = t;
    }
    return next;
}

static void fit_stages(gv_machine *m, const gv_point *low, const gv_point *high)
{
    for (int s = 0; s < 4 && high->question.n > low->question.n; s++) {
        m->stage[s][1] = fmax(0, (high->part[s] - low->part[s]) / (high->question.n - low->question.n));
        m->stage[s][0] = fmax(0, low->part[s] - low->question.n * m->stage[s][1]);
    }
}

/* Relative to the walks of 0.5, the mean over the larger half of the sets. */
static void fit_theta(gv_machine *m, const gv_points *p)
{
    enum { MOST = 64 };
    double above = 0, list[MOST];
    gv_curve c = {0, {0}, {0}};
    while (c.n < GV_CURVE_POINTS) {
        double theta = INFINITY;
        int n = 0;
        for (size_t k = 0; k < p->n; k++)
            if (tree_point(p, k) && p->point[k].question.theta > above)
                theta = fmin(theta, p->point[k].question.theta);
        if (!isfinite(theta))
            break;
        for (const gv_point *t = find_tree(p, theta, 0); t && n < MOST; t = find_tree(p, theta, t->question.n))
            list[n++] = t->part[4] / gv_curve_at(&m->walk, t->question.n);
        c.x[c.n] = theta;
        c.y[c.n++] = median(list, n);
        above = theta;
    }
    if (c.n > 0)
        m->theta = c;
}

/* What leapfrog steps of one rank take beside their walks: a line through the smallest and the largest set. */
static void fit_leapfrog(gv_machine *m, const gv_points *p)
{
    double n[2] = {INFINITY, 0}, rest[2] = {0, 0};
    for (size_t k = 0; k < p->n; k++) {
        const gv_question *q = &p->point[k].question;
        gv_prediction step;
        if (q->scheme != GV_MODEL_TREE || q->ranks != 1 || q->forces_only)
            continue;
        gv_model_predict(m, q, &step);
        for (int e = 0; e < 2; e++)
            if (e == 0 ? q->n < n[0] : q->n > n[1]) {
                n[e] = q->n;
                rest[e] = fmax(0, p->point[k].seconds - step.walk);
            }
    }
    if (n[1] <= 0)
        return;
    m->tree_rest[1] = n[1] > n[0] ? fmax(0, (rest[1] - rest[0]) / (n[1] - n[0])) : 0;
    m->tree_rest[0] = fmax(0, rest[0] - n[0] * m->tree_rest[1]);
}

static void fit_tree(gv_machine *m, const gv_points *p)
{
    const gv_point *low = find_tree(p, 0.5, 0), *high = low;
    if (!low)
        return;
    m->walk.n = 0;
    for (const gv_point *t = low; t && m->walk.n < GV_CURVE_POINTS; t = find_tree(p, 0.5, t->question.n)) {
        m->walk.x[m->walk.n] = t->question.n;
        m->walk.y[m->walk.n++] = t->part[4];
        high = t;
    }
    fit_stages(m, low, high);
    fit_theta(m, p);
}

void gv_machine_fit(gv_machine *m, const gv_points *p)
{
    fit_direct(m, p);
    fit_tree(m, p);
    fit_leapfrog(m, p);
    if (p->latency_s > 0 && p->bytes_per_s > 0)
        m->node = (gv_wire){p->latency_s, p->bytes_per_s};
}
