/* Times of steps. */
#include <math.h>
#include <string.h>

#include "model/model.h"

const char *gv_model_scheme_name(gv_model_scheme scheme)
{
    static const char *const name[] = {"best", "program", "alone", "copies", "ring", "tree"};
    return (unsigned)scheme <= GV_MODEL_TREE ? name[scheme] : "?";
}

double gv_curve_at(const gv_curve *c, double x)
{
    int k = 1;
    if (c->n == 0)
        return 1;
    if (c->n == 1 || x <= c->x[0])
        return c->y[0];
    if (x >= c->x[c->n - 1])
        return c->y[c->n - 1];
    while (x > c->x[k])
        k++;
    const double t = log(x / c->x[k - 1]) / log(c->x[k] / c->x[k - 1]);
    return c->y[k - 1] * pow(c->y[k] / c->y[k - 1], t);
}

/* -------------------------------------------------------------------- direct */

static double rate_of(const gv_machine *m, const gv_question *q)
{
    return m->pairs_per_s[q->precision][q->order == 6];
}

static double device_time(const gv_machine *m, const gv_question *q, double sinks, double sources)
{
    return m->call_s + sources * m->source_s + sinks * sources / (rate_of(m, q) * gv_curve_at(&m->efficiency, sinks));
}

/* Bytes of one sink's results: words of four numbers, and the potential (share.c of src/cluster). */
static double result_bytes(const gv_question *q)
{
    return (q->order == 6 ? 13 : 9) * (q->precision == GV_MODEL_DP ? 8.0 : 4.0);
}

static void add_step(const gv_machine *m, const gv_question *q, double bodies, gv_prediction *p)
{
    p->host = q->forces_only ? 0 : m->step_s;
    p->device += q->forces_only ? 0 : bodies * m->body_s;
    p->memory_bytes = bodies * m->bytes_a_body * (q->precision == GV_MODEL_DP ? 2 : 1);
}

static void predict_alone(const gv_machine *m, const gv_question *q, gv_prediction *p)
{
    p->scheme = GV_MODEL_ALONE;
    p->device = device_time(m, q, q->active, q->n);
    add_step(m, q, q->n, p);
}

/* Weights of parts, from the last one: 1, 4, 16, ... (share.c of src/cluster), and how many parts there are. */
static double weight_of(int parts)
{
    return (pow(4, parts) - 1) / 3;
}

static int parts_of(const gv_machine *m, const gv_question *q)
{
    const double mine = floor(q->active / q->ranks), least = 1e-4 * m->compute_units * m->pair_block;
    int parts = 1;
    while (parts < 4 && q->active * result_bytes(q) / weight_of(parts) > 4e5 && mine >= weight_of(parts + 1) &&
           mine * q->n / weight_of(parts + 1) >= least)
        parts++;
    return parts;
}

/* What all devices of a machine write, each reads from the machine's memory; between machines it is gathered. */
static void predict_copies(const gv_machine *m, const gv_question *q, gv_prediction *p)
{
    const int parts = parts_of(m, q);
    double found = 0, ended = 0, gather = 0, copies = 0;
    for (int k = parts - 1; k >= 0; k--) {
        const double part = q->active * pow(4, k) / weight_of(parts), bytes = part * result_bytes(q);
        const double read = gv_model_copy(m, bytes / q->ranks), write = gv_model_copy(m, bytes);
        found += device_time(m, q, fmax(1, part / q->ranks), q->n);
        gather = gv_model_agree(m, q->ranks) + gv_model_gather(m, q->ranks, bytes);
        copies = read + write;
        ended = fmax(found, ended) + copies + gather;
    }
    p->scheme = GV_MODEL_COPIES;
    p->device = found;
    /* what the device does not hide, in the proportions of the last exchange */
    p->network = (ended - found) * gather / (copies + gather) + gv_model_agree(m, q->ranks);
    p->transfer = (ended - found) * copies / (copies + gather);
    p->sent_bytes = q->active / q->ranks * result_bytes(q);
    add_step(m, q, q->n, p);
}

/* Words of a body: positions, velocities and times twice in ds; three or four derivatives; the id (ring_blocks.c). */
static double body_bytes(const gv_question *q)
{
    const double vectors = q->order == 6 ? 4 : 3;
    return q->precision == GV_MODEL_DP ? (vectors + 2) * 32 + 12 : (vectors + 4) * 16 + 12;
}

/* A rank's own sum hides that bodies come to the host; a sum of others, that the next ones come. */
static void predict_ring(const gv_machine *m, const gv_question *q, gv_prediction *p)
{
    const double sinks = ceil(q->active / q->ranks), sources = q->n / q->ranks, bytes = sources * body_bytes(q);
    const double device = device_time(m, q, sinks, sources), copy = gv_model_copy(m, bytes);
    const double in = q->ranks < m->node_ranks ? q->ranks : m->node_ranks, machines = ceil(q->ranks / in);
    const double pass = gv_model_pass(m, q->ranks, bytes);
    p->scheme = GV_MODEL_RING;
    p->device = q->ranks * device;
    p->transfer = fmax(0, 2 * copy - device) + (q->ranks - 2) * fmax(0, copy - device);
    p->network = (machines - 1) * fmax(0, pass - in * fmax(device, copy)) + 4 * gv_model_agree(m, q->ranks);
    p->sent_bytes = bytes * (machines > 1 ? machines - 1 : 1);
    add_step(m, q, sources, p);
}

/* The rule of the program: calls of less than 40 us are not shared. */
static int is_shared(const gv_machine *m, const gv_question *q)
{
    return q->ranks > 1 && q->active * q->n >= 4e-5 * m->compute_units * m->pair_block;
}

/* ---------------------------------------------------------------------- tree */

static double stage_time(const gv_machine *m, int stage, double n)
{
    return m->stage[stage][0] + n * m->stage[stage][1];
}

/* Beyond the curve's ends: seconds a body as there. */
static double walk_time(const gv_machine *m, double n, double theta)
{
    const gv_curve *w = &m->walk;
    const double last = w->n > 0 ? w->x[w->n - 1] : n, y = gv_curve_at(w, n);
    return gv_curve_at(&m->theta, theta) * (n > last ? y * n / last : y);
}

static void predict_tree(const gv_machine *m, const gv_question *q, gv_prediction *p)
{
    const double n = q->n / q->ranks, open = 0.5 / q->theta, own = 0.7; /* of the walk: the rank's own tree */
    const double cells = q->ranks > 1 ? m->surface * fmin(log2(q->ranks), 3) * open * pow(n, 2.0 / 3) +
                                            m->deep * open * open * open * log2(q->ranks)
                                      : 0;
    const double cell_bytes = 64, body_bytes = 64;
    const double moved = q->ranks > 1 ? m->moved * n * body_bytes : 0, sent = cells * cell_bytes;
    p->scheme = GV_MODEL_TREE;
    const double stages = stage_time(m, 0, n) + stage_time(m, 1, n) + stage_time(m, 2, n) + stage_time(m, 3, n);
    const double rest = q->forces_only ? stages : m->tree_rest[0] + n * m->tree_rest[1];
    p->host = q->forces_only ? 0 : fmin(rest, m->tree_step_s);
    const double part = stages > 0 ? (rest - p->host) / stages : 0; /* in the proportions of the stages */
    p->sort = part * stage_time(m, 0, n);
    p->build = part * stage_time(m, 1, n);
    p->moments = part * stage_time(m, 2, n);
    p->groups = part * stage_time(m, 3, n);
    p->walk = walk_time(m, n, q->theta) * (q->ranks > 1 ? m->imbalance : 1);
    p->device = p->sort + p->build + p->moments + p->groups + p->walk;
    /* ranks of one machine read each other's parts from its memory */
    const double transfer = 2 * sent / m->parts_rate;
    const double between = q->ranks > m->node_ranks ? gv_model_all_to_all(m, q->ranks, sent) : 0;
    const double message = q->ranks > 1 ? fmax(between, transfer) : 0;
    const double boundary = q->ranks > 1 ? m->boundary[0] + m->boundary[1] * pow(n, 2.0 / 3) : 0;
    p->transfer = q->ranks > 1 ? 2 * moved / m->transfer.bytes_per_s : 0;
    p->network = boundary + 4 * gv_model_agree(m, q->ranks) + gv_model_all_to_all(m, q->ranks, moved) +
                 fmax(0, message - own * p->walk);
    p->sent_bytes = moved + sent;
    p->memory_bytes = n * m->tree_bytes_a_body + 2 * sent;
}

/* ---------------------------------------------------------------------- face */

int gv_model_deals(const gv_machine *m, const gv_question *q)
{
    const double gain = 0.9; /* blocks of few bodies, which come too, take the ring longer */
    gv_prediction all = {.total = 0}, ring = {.total = 0};
    if (q->ranks < 2 || q->n < q->ranks)
        return 0;
    predict_copies(m, q, &all);
    predict_ring(m, q, &ring);
    const double copies = all.host + all.transfer + all.network + all.device;
    const double dealt = ring.host + ring.transfer + ring.network + ring.device;
    return all.memory_bytes > m->memory_bytes || (is_shared(m, q) && dealt < gain * copies);
}

static void predict_one(const gv_machine *m, const gv_question *q, gv_prediction *p)
{
    memset(p, 0, sizeof *p);
    if (q->scheme == GV_MODEL_TREE)
        predict_tree(m, q, p);
    else if (q->scheme == GV_MODEL_COPIES && q->ranks > 1)
        predict_copies(m, q, p);
    else if (q->scheme == GV_MODEL_RING && q->ranks > 1)
        predict_ring(m, q, p);
    else if (q->scheme == GV_MODEL_PROGRAM && gv_model_deals(m, q))
        predict_ring(m, q, p);
    else if (q->scheme == GV_MODEL_PROGRAM && is_shared(m, q))
        predict_copies(m, q, p);
    else
        predict_alone(m, q, p);
    p->total = p->host + p->transfer + p->network + p->device;
}

static void predict_best(const gv_machine *m, const gv_question *q, gv_prediction *p)
{
    static const gv_model_scheme scheme[] = {GV_MODEL_ALONE, GV_MODEL_COPIES, GV_MODEL_RING};
    gv_question one = *q;
    for (int k = 0; k < (q->scheme == GV_MODEL_BEST ? 3 : 1); k++) {
        gv_prediction other;
        one.scheme = q->scheme == GV_MODEL_BEST ? scheme[k] : q->scheme;
        predict_one(m, &one, &other);
        /* what does not fit into memory is no choice while something else does */
        const int fits = other.memory_bytes <= m->memory_bytes, did = p->memory_bytes <= m->memory_bytes;
        if (k == 0 || (fits && !did) || (fits == did && other.total < p->total))
            *p = other;
    }
}

void gv_model_predict(const gv_machine *m, const gv_question *question, gv_prediction *p)
{
    gv_question q = *question;
    gv_prediction one;
    if (q.active <= 0 || q.active > q.n)
        q.active = q.n;
    predict_best(m, &q, p);
    q.ranks = 1;
    predict_best(m, &q, &one);
    p->efficiency = one.total / (question->ranks * p->total);
}

/* A few ranks may be no faster than one while many are: all are tried. */
int gv_model_limit(const gv_machine *m, const gv_question *question, int most)
{
    gv_question q = *question;
    double least = INFINITY;
    int limit = 1;
    for (q.ranks = 1; q.ranks <= most; q.ranks *= 2) {
        gv_prediction p;
        gv_model_predict(m, &q, &p);
        if (p.total < least) {
            least = p.total;
            limit = q.ranks;
        }
    }
    return limit;
}
