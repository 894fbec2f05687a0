/* The reference's walk: groups of sinks, opening tests, forces.  tree_ref.h has the definitions. */
#include <math.h>
#include <stdlib.h>

#include "cpu_ref/parallel.h"
#include "cpu_ref/tree_ref.h"

/* Derivatives of total order up to 4: [i][j][k] is d^(i+j+k) / dx^i dy^j dz^k. */
enum { ORDER = 4 };
typedef double derivatives[ORDER + 1][ORDER + 1][ORDER + 1];

typedef struct sink {
    double x[3];
    uint32_t address; /* UINT32_MAX: a point */
    size_t place;     /* in the caller's arrays */
    uint64_t key;
    double acc[3], pot;
} sink;

typedef struct group {
    sink *member;
    size_t n;
    double centre[3], half[3], radius, a;
    derivatives local; /* of S at the centre, all far cells */
    uint32_t far_cells, near_cells, bodies, tests, close_calls;
} group;

typedef struct walk {
    const gv_ref_tree *tree;
    const gv_ref_walk_options *o;
    const gv_ref_walk_result *out;
    const double *last;
    sink *sinks;
    size_t n_sinks;
} walk;

/* g and its derivatives at r: with g_0 = 1/s, g_{n+1} = -(2n+1) g_n / s^2,
 *   R[n]_000 = g_n      R[n]_{i+1,j,k} = x R[n+1]_{ijk} + i R[n+1]_{i-1,j,k}     and so for j, k;   result R[0]. */
static void derive(const double r[3], double eps2, int order, derivatives result)
{
    derivatives table[ORDER + 1];
    double s2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + eps2, g = 1.0 / sqrt(s2);
    for (int n = 0; n <= order; n++) {
        table[n][0][0][0] = g;
        g *= -(2 * n + 1) / s2;
    }
    for (int n = order - 1; n >= 0; n--) {
        for (int i = 0; i <= order - n; i++) {
            for (int j = 0; i + j <= order - n; j++) {
                for (int k = 0; i + j + k <= order - n; k++) {
                    double(*next)[ORDER + 1][ORDER + 1] = table[n + 1];
                    if (i > 0)
                        table[n][i][j][k] = r[0] * next[i - 1][j][k] + (i > 1 ? (i - 1) * next[i - 2][j][k] : 0.0);
                    else if (j > 0)
                        table[n][i][j][k] = r[1] * next[i][j - 1][k] + (j > 1 ? (j - 1) * next[i][j - 2][k] : 0.0);
                    else if (k > 0)
                        table[n][i][j][k] = r[2] * next[i][j][k - 1] + (k > 1 ? (k - 1) * next[i][j][k - 2] : 0.0);
                }
            }
        }
    }
    for (int i = 0; i <= order; i++) {
        for (int j = 0; i + j <= order; j++)
            for (int k = 0; i + j + k <= order; k++)
                result[i][j][k] = table[0][i][j][k];
    }
}

/* Adds the derivatives of S = m g + Q : grad grad g of one cell, with derivatives of g up to `order`. */
static void add_cell(const walk *w, const gv_ref_cell *c, const double at[3], int order, derivatives sum)
{
    static const int axis[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
    derivatives g;
    const double r[3] = {at[0] - c->z[0], at[1] - c->z[1], at[2] - c->z[2]};
    derive(r, w->o->spline ? 0.0 : w->o->eps * w->o->eps, order, g);
    for (int i = 0; i <= order; i++) {
        for (int j = 0; i + j <= order; j++) {
            for (int k = 0; i + j + k <= order; k++) {
                sum[i][j][k] += c->m * g[i][j][k];
                for (int p = 0; w->o->moments > 1 && i + j + k + 2 <= order && p < 6; p++) {
                    int e[3] = {i, j, k};
                    e[axis[p][0]]++;
                    e[axis[p][1]]++;
                    double twice = axis[p][0] == axis[p][1] ? 1.0 : 2.0; /* xy stands for yx as well */
                    sum[i][j][k] += twice * c->q[p] * g[e[0]][e[1]][e[2]];
                }
            }
        }
    }
}

/* Adds the Taylor series at the offset y: pot = -sum L_ijk x^i y^j z^k / i! j! k!, acc its derivatives. */
static void add_series(derivatives l, const double y[3], int order, sink *s)
{
    static const double factorial[ORDER + 1] = {1.0, 1.0, 2.0, 6.0, 24.0};
    double power[3][ORDER + 1];
    for (int c = 0; c < 3; c++) {
        power[c][0] = 1.0;
        for (int n = 1; n <= order; n++)
            power[c][n] = power[c][n - 1] * y[c];
    }
    for (int i = 0; i <= order; i++) {
        for (int j = 0; i + j <= order; j++) {
            for (int k = 0; i + j + k <= order; k++) {
                double term = power[0][i] * power[1][j] * power[2][k] / (factorial[i] * factorial[j] * factorial[k]);
                s->pot -= term * l[i][j][k];
                if (i + j + k < order) {
                    s->acc[0] += term * l[i + 1][j][k];
                    s->acc[1] += term * l[i][j + 1][k];
                    s->acc[2] += term * l[i][j][k + 1];
                }
            }
        }
    }
}

static void near_cell(const walk *w, const gv_ref_cell *c, group *g)
{
    static const double here[3] = {0.0, 0.0, 0.0};
    for (size_t s = 0; s < g->n; s++) {
        derivatives l = {{{0.0}}};
        add_cell(w, c, g->member[s].x, 3, l);
        add_series(l, here, 1, &g->member[s]);
    }
    g->near_cells++;
}

/* Mass inside u of the spline's sphere: 32/3 u^3 - 192/5 u^5 + 32 u^6  (u < 1/2),
 *   64/3 u^3 - 48 u^4 + 192/5 u^5 - 32/3 u^6 - 1/15  (u < 1);  the potential is its integral over 1/u^2. */
void gv_ref_spline(double r, double h, double *force, double *potential)
{
    double u = r / h;
    if (!(u < 1.0)) { /* h = 0 as well: Newton, nothing at distance 0 */
        *force = r > 0.0 ? 1.0 / (r * r * r) : 0.0;
        *potential = r > 0.0 ? -1.0 / r : 0.0;
    } else if (u < 0.5) {
        *force = (32.0 / 3.0 - 192.0 / 5.0 * u * u + 32.0 * u * u * u) / (h * h * h);
        *potential = (16.0 / 3.0 * pow(u, 2) - 48.0 / 5.0 * pow(u, 4) + 32.0 / 5.0 * pow(u, 5) - 14.0 / 5.0) / h;
    } else {
        double mass =
            64.0 / 3.0 * pow(u, 3) - 48.0 * pow(u, 4) + 192.0 / 5.0 * pow(u, 5) - 32.0 / 3.0 * pow(u, 6) - 1.0 / 15.0;
        *force = mass / (r * r * r);
        *potential = (1.0 / (15.0 * u) + 32.0 / 3.0 * pow(u, 2) - 16.0 * pow(u, 3) + 48.0 / 5.0 * pow(u, 4) -
                      32.0 / 15.0 * pow(u, 5) - 16.0 / 5.0) /
                     h;
    }
}

/* The same for either softening. */
static void pair(const gv_ref_walk_options *o, double r2, double *force, double *potential)
{
    if (o->spline) {
        gv_ref_spline(sqrt(r2), 2.8 * o->eps, force, potential);
        return;
    }
    double s2 = r2 + o->eps * o->eps, r1 = s2 > 0.0 ? 1.0 / sqrt(s2) : 0.0;
    *force = r1 * r1 * r1;
    *potential = -r1;
}

static void leaf_bodies(const walk *w, const gv_ref_cell *c, group *g)
{
    const gv_ref_tree *t = w->tree;
    for (size_t s = 0; s < g->n; s++) {
        sink *i = &g->member[s];
        for (uint32_t j = c->first; j < c->first + c->count; j++) {
            double d[3] = {t->x[0][j] - i->x[0], t->x[1][j] - i->x[1], t->x[2][j] - i->x[2]};
            double force, potential;
            if (t->address[j] == i->address)
                continue;
            pair(w->o, d[0] * d[0] + d[1] * d[1] + d[2] * d[2], &force, &potential);
            i->pot += t->m[j] * potential;
            for (int k = 0; k < 3; k++)
                i->acc[k] += t->m[j] * force * d[k];
        }
    }
    g->bodies += c->count;
}

/* The result of a test, and whether rounding could change it. */
typedef struct answer {
    int yes, close;
} answer;

/* distance > limit.  Coordinates are uncertain by rounding x side; a limit that is a multiple of bmax (or of the
 * group's radius), `extent`, inherits its relative error. */
static answer beyond(const walk *w, double distance, double limit, double extent)
{
    double unit = w->o->rounding * w->tree->side, relative = extent > 0.0 ? unit / extent : 0.0;
    double margin = 8.0 * unit + 16.0 * (w->o->rounding + relative) * limit;
    return (answer){distance > limit, w->o->rounding > 0.0 && fabs(distance - limit) <= margin};
}

static answer both(answer a, answer b)
{
    return (answer){a.yes && b.yes, (a.close && (b.yes || b.close)) || (b.close && (a.yes || a.close))};
}

/* Monopole walk for the group's acceleration. */
static void estimate(const walk *w, uint32_t at, group *g, double acc[3])
{
    const gv_ref_cell *c = &w->tree->cell[at];
    double d[3] = {c->z[0] - g->centre[0], c->z[1] - g->centre[1], c->z[2] - g->centre[2]};
    double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    answer outside = beyond(w, sqrt(r2), c->bmax, c->bmax);
    g->close_calls += c->n_children > 0 && outside.close;
    if (c->n_children > 0 && !outside.yes) {
        for (int k = 0; k < c->n_children; k++)
            estimate(w, c->child[k], g, acc);
        return;
    }
    double s2 = r2 + w->o->eps * w->o->eps + (c->n_children > 0 ? 0.0 : c->bmax * c->bmax);
    for (int k = 0; s2 > 0.0 && k < 3; k++)
        acc[k] += c->m * d[k] / (s2 * sqrt(s2));
}

/* Distance of the cell's centre of mass from the group's box. */
static double box_distance(const gv_ref_cell *c, const group *g)
{
    double d2 = 0.0;
    for (int k = 0; k < 3; k++) {
        double d = fmax(fabs(c->z[k] - g->centre[k]) - g->half[k], 0.0);
        d2 += d * d;
    }
    return sqrt(d2);
}

static answer may_act(const walk *w, const gv_ref_cell *c, const group *g)
{
    double d = box_distance(c, g), least;
    if (w->o->mac == GV_REF_GEOMETRIC) {
        double offset2 = 0.0, longest = 0.0;
        for (int k = 0; k < 3; k++) {
            double off = 0.5 * (c->lo[k] + c->hi[k]) - c->z[k];
            offset2 += off * off;
            longest = fmax(longest, c->hi[k] - c->lo[k]);
        }
        least = longest / w->o->theta + sqrt(offset2);
    } else {
        least = pow(c->m * pow(c->bmax, 3.0) / (w->o->tau * g->a), 0.2);
    }
    answer act = both(beyond(w, d, c->bmax / 0.8, c->bmax), beyond(w, d, least, c->bmax));
    return w->o->spline ? both(act, beyond(w, d, 2.8 * w->o->eps + c->bmax, 0.0)) : act;
}

static answer is_far(const walk *w, const gv_ref_cell *c, const group *g)
{
    if (!w->o->expand)
        return (answer){0, 0};
    double d[3] = {c->z[0] - g->centre[0], c->z[1] - g->centre[1], c->z[2] - g->centre[2]};
    double r = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    double least = pow(c->m * pow(g->radius, 4.0) / (w->o->tau_local * g->a), 1.0 / 6.0);
    return both(beyond(w, r, g->radius / 0.6, g->radius), beyond(w, r, least, g->radius));
}

static void visit(const walk *w, uint32_t at, group *g)
{
    const gv_ref_cell *c = &w->tree->cell[at];
    int small = c->n_children == 0 && c->count <= 2; /* near or opened is the same then */
    answer act = may_act(w, c, g), far = is_far(w, c, g);
    g->tests++;
    g->close_calls += (act.close && (far.yes || far.close || !small)) || (far.close && (act.yes || act.close));
    if (act.yes && far.yes) {
        add_cell(w, c, g->centre, ORDER, g->local);
        g->far_cells++;
        return;
    }
    if (act.yes && !small) {
        near_cell(w, c, g);
        return;
    }
    if (c->n_children == 0)
        leaf_bodies(w, c, g);
    for (int k = 0; k < c->n_children; k++)
        visit(w, c->child[k], g);
}

static void frame(const walk *w, group *g)
{
    for (int k = 0; k < 3; k++) {
        double lo = INFINITY, hi = -INFINITY;
        for (size_t s = 0; s < g->n; s++) {
            lo = fmin(lo, g->member[s].x[k]);
            hi = fmax(hi, g->member[s].x[k]);
        }
        g->centre[k] = 0.5 * (lo + hi);
        g->half[k] = fmax(hi - g->centre[k], g->centre[k] - lo);
    }
    g->a = INFINITY;
    for (size_t s = 0; s < g->n; s++) {
        const double *x = g->member[s].x;
        double d[3] = {x[0] - g->centre[0], x[1] - g->centre[1], x[2] - g->centre[2]};
        g->radius = fmax(g->radius, sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
        if (w->last)
            g->a = fmin(g->a, w->last[g->member[s].place]);
    }
    if (!w->last) {
        double acc[3] = {0.0, 0.0, 0.0};
        estimate(w, 0, g, acc);
        g->a = sqrt(acc[0] * acc[0] + acc[1] * acc[1] + acc[2] * acc[2]);
    }
}

static void store(const walk *w, const group *g)
{
    const gv_ref_walk_result *out = w->out;
    double *const acc[3] = {out->ax, out->ay, out->az};
    uint32_t *const count[5] = {out->far_cells, out->near_cells, out->bodies, out->tests, out->close_calls};
    const uint32_t value[5] = {g->far_cells, g->near_cells, g->bodies, g->tests, g->close_calls};
    for (size_t s = 0; s < g->n; s++) {
        const sink *i = &g->member[s];
        for (int k = 0; k < 3; k++)
            if (acc[k])
                acc[k][i->place] = i->acc[k];
        if (out->pot)
            out->pot[i->place] = i->pot;
        for (int k = 0; k < 5; k++)
            if (count[k])
                count[k][i->place] = value[k];
    }
}

static void range(void *arg, size_t begin, size_t end)
{
    const walk *w = arg;
    size_t n_group = (size_t)w->o->n_group;
    for (size_t k = begin; k < end; k++) {
        size_t first = k * n_group, rest = w->n_sinks - first;
        group g = {.member = w->sinks + first, .n = rest < n_group ? rest : n_group};
        frame(w, &g);
        visit(w, 0, &g);
        for (size_t s = 0; s < g.n; s++) {
            const double *x = g.member[s].x;
            const double y[3] = {x[0] - g.centre[0], x[1] - g.centre[1], x[2] - g.centre[2]};
            add_series(g.local, y, ORDER, &g.member[s]);
        }
        store(w, &g);
    }
}

static int by_key(const void *a, const void *b)
{
    const sink *p = a, *q = b;
    if (p->key != q->key)
        return p->key < q->key ? -1 : 1;
    if (p->address != q->address)
        return p->address < q->address ? -1 : 1;
    return (p->place > q->place) - (p->place < q->place);
}

static int options_ok(const gv_ref_walk_options *o)
{
    return o && o->n_group >= 1 && (o->moments == 1 || o->moments == 2) && o->eps >= 0.0 && o->rounding >= 0.0 &&
           (o->mac == GV_REF_GEOMETRIC ? o->theta > 0.0 : o->mac == GV_REF_RELATIVE && o->tau >= 0.0) &&
           (!o->expand || o->tau_local >= 0.0);
}

int gv_ref_tree_walk(const gv_ref_tree *tree, const gv_ref_walk_options *options, const gv_ref_sinks *sinks,
                     const gv_ref_walk_result *out)
{
    if (!tree || !sinks || !out || !options_ok(options) || (sinks->n > 0 && (!sinks->x || !sinks->y || !sinks->z)))
        return -1;
    if (sinks->n == 0)
        return 0;
    sink *s = calloc(sinks->n, sizeof *s);
    if (!s)
        return -1;
    for (size_t i = 0; i < sinks->n; i++) {
        s[i] = (sink){.x = {sinks->x[i], sinks->y[i], sinks->z[i]},
                      .address = sinks->address ? sinks->address[i] : UINT32_MAX,
                      .place = i};
        s[i].key = gv_ref_tree_key(tree, s[i].x[0], s[i].x[1], s[i].x[2]);
    }
    qsort(s, sinks->n, sizeof *s, by_key);
    walk w = {tree, options, out, sinks->last, s, sinks->n};
    size_t groups = (sinks->n + (size_t)options->n_group - 1) / (size_t)options->n_group;
    gv_ref_parallel(groups, (double)sinks->n * 1e-4, range, &w);
    free(s);
    return 0;
}
