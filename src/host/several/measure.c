/* Times of calls, by trial: an object beside the caller's that uses its devices.  A round is one update, a new time, a
 * submit and a collect, as block steps have it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/clock.h"
#include "host/several/object.h"

enum { SOME_SOURCES = 1024 };

typedef struct probe {
    gravel_several several;
    size_t sources, sinks; /* the largest call */
    double *block, *out;
    const gravel_several_call *call;
    gravel_forces forces;
} probe;

int gv_several_has_gpu(const gravel_several *s)
{
    int found = 0;
    for (int m = 0; m < s->members; m++)
        found |= gravel_several_get_device(s, m)->type != GRAVEL_DEVICE_CPU;
    return found;
}

double gv_random_number(uint64_t *state) /* 0 ... 1; Knuth's multiplier */
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ldexp((double)(*state >> 11), -53);
}

static void close_probe(probe *p)
{
    gv_several_drop(&p->several);
    free(p->block);
    free(p->out);
    free(p);
}

static gravel_status open_probe(const gravel_several *s, probe **out)
{
    uint64_t state = 1;
    probe *p = calloc(1, sizeof *p);
    gravel_status status = GRAVEL_OK;
    if (!p)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory to measure devices");
    p->several = *s;
    gravel_several *own = &p->several;
    gv_cost largest;
    gv_cost_knots(gv_several_has_gpu(s), &largest);
    p->sources = (size_t)largest.sources[GV_KNOTS - 1];
    p->sinks = (size_t)largest.sinks[GV_LINES - 1];
    memset(own->team, 0, sizeof own->team);
    memset(&own->asked, 0, sizeof own->asked);
    memset(&own->mirror, 0, sizeof own->mirror);
    memset(&own->quadrupoles, 0, sizeof own->quadrupoles);
    own->list = NULL;
    own->list_size = 0;
    own->frame_is_set = own->source_count_is_set = own->time_is_set = 0;
    for (int m = 0; m < own->members; m++) {
        memset(own->member[m].ticket, 0, sizeof own->member[m].ticket);
        own->member[m].scratch = NULL;
        own->member[m].scratch_size = 0;
    }
    gv_store_init(&own->store);
    const size_t n = p->sources;
    p->block = malloc(10 * n * sizeof *p->block);
    p->out = malloc(10 * p->sinks * sizeof *p->out);
    if (!p->block || !p->out)
        status = gv_fail(GRAVEL_ERR_MEMORY, "no host memory to measure devices");
    for (size_t k = 0; !status && k < 10 * n; k++)
        p->block[k] = gv_random_number(&state);
    const double *x = p->block;
    const gravel_sources all = {.count = n,
                                .mass = x,
                                .pos = {x + n, x + 2 * n, x + 3 * n, 1},
                                .vel = {x + 4 * n, x + 5 * n, x + 6 * n, 1},
                                .acc = {x + 7 * n, x + 8 * n, x + 9 * n, 1},
                                .jerk = {x + 6 * n, x + 5 * n, x + 4 * n, 1}};
    if (!status)
        status = gravel_several_write_sources(own, 0, &all);
    if (status)
        close_probe(p);
    else
        *out = p;
    return status;
}

static gravel_status one_round(void *user, int turn)
{
    probe *p = user;
    gravel_several *s = &p->several;
    const size_t n = p->sources;
    const double *x = p->block;
    const uint32_t address = (uint32_t)(turn % SOME_SOURCES);
    const gravel_sources one = {
        .count = 1, .mass = x, .pos = {x + n, x + 2 * n, x + 3 * n, 1}, .vel = {x + 4 * n, x + 5 * n, x + 6 * n, 1}};
    gravel_status status = gravel_several_scatter_sources(s, &address, &one);
    if (!status)
        status = gravel_several_set_time(s, ldexp(turn + 1, -10));
    if (!status)
        status = gravel_several_submit(s, p->call);
    return status ? status : gravel_several_collect(s, &p->forces, NULL);
}

static gravel_status time_call(probe *p, int order, size_t sinks, size_t sources, double *seconds)
{
    const size_t n = p->sources;
    const double *x = p->block;
    const gravel_sinks points = {.count = sinks,
                                 .pos = {x + n + 1, x + 2 * n + 1, x + 3 * n + 1, 1},
                                 .vel = {x + 4 * n, x + 5 * n, x + 6 * n, 1},
                                 .acc = {x + 7 * n, x + 8 * n, x + 9 * n, 1}};
    gravel_several_call call = GRAVEL_SEVERAL_CALL_INIT;
    call.sinks = &points;
    call.order = order;
    call.eps = 1e-2;
    /* all that was computed is collected: the host's work on it grows with the number of devices */
    double *const to = p->out;
    const size_t m = p->sinks;
    p->forces = (gravel_forces){.acc = {to, to + m, to + 2 * m, 1}, .pot = to + 3 * m};
    if (order >= 4)
        p->forces.jerk = (gravel_vec_out){to + 4 * m, to + 5 * m, to + 6 * m, 1};
    if (order >= 6)
        p->forces.snap = (gravel_vec_out){to + 7 * m, to + 8 * m, to + 9 * m, 1};
    p->call = &call;
    gravel_status status = gravel_several_set_source_count(&p->several, sources);
    return status ? status : gv_measure_rounds(one_round, p, seconds);
}

/* The fastest counts: others on the machine can only slow one down. */
gravel_status gv_measure_rounds(gravel_status (*round)(void *user, int turn), void *user, double *seconds)
{
    enum { LEAST_ROUNDS = 3, MOST_ROUNDS = 12 };
    const double longest = 0.03;           /* s of rounds for one number; three rounds may take three times as long */
    gravel_status status = round(user, 0); /* compiles, sends */
    const double begin = gv_now();
    *seconds = INFINITY;
    for (int turn = 1; turn <= MOST_ROUNDS && !status; turn++) {
        const double start = gv_now();
        status = round(user, turn);
        const double end = gv_now();
        *seconds = fmin(*seconds, end - start);
        if (end - begin > (turn < LEAST_ROUNDS ? 3 : 1) * longest)
            break;
    }
    return status;
}

void gv_cost_knots(int gpu, gv_cost *c)
{
    /* beside one sink: work-groups fill the device, the host's work on sinks counts, calls go in pieces */
    static const gv_cost of_cpu = {{1, 16, 128, 1024}, {SOME_SOURCES, 8192, 65536}, {{0}}},
                         of_gpu = {{1, 256, 4096, 32768}, {SOME_SOURCES, 16384, 131072}, {{0}}};
    *c = gpu ? of_gpu : of_cpu;
}

/* More pairs take no less time, and what disturbs only adds: a larger call that was faster shows that a smaller one was
 * slowed down. */
void gv_cost_straighten(gv_cost *c)
{
    for (int s = GV_LINES - 1; s >= 0; s--)
        for (int n = GV_KNOTS - 1; n >= 0; n--) {
            double *const t = &c->seconds[s][n];
            *t = n < GV_KNOTS - 1 ? fmin(*t, c->seconds[s][n + 1]) : *t;
            *t = s < GV_LINES - 1 ? fmin(*t, c->seconds[s + 1][n]) : *t;
        }
}

static gravel_status measure_cost(probe *p, int forced, int order, gv_cost *cost)
{
    gravel_status status = GRAVEL_OK;
    p->several.forced = forced;
    /* the largest first: a GPU that did nothing is slow to begin with */
    for (int s = GV_LINES - 1; s >= 0; s--)
        for (int n = GV_KNOTS - 1; n >= 0 && !status; n--)
            status = time_call(p, order, (size_t)cost->sinks[s], (size_t)cost->sources[n], &cost->seconds[s][n]);
    gv_cost_straighten(cost);
    return status;
}

gravel_status gv_measure_speeds(const gravel_several *s, double speed[GV_MOST_MEMBERS])
{
    probe *p;
    gravel_status status = open_probe(s, &p);
    if (status)
        return status;
    p->several.forced = 0;
    for (int m = 0; m < s->members && !status; m++) {
        double one, all;
        int first = 0;
        while (!gv_members_alike(s, m, first))
            first++;
        speed[m] = speed[first];
        if (first < m)
            continue;
        status = gv_team_create(&p->several.team[0], 1, &m, NULL);
        if (!status)
            status = time_call(p, 4, 1, p->sources, &one);
        if (!status)
            status = time_call(p, 4, p->sinks, p->sources, &all);
        speed[m] = status ? 0 : (double)p->sinks * (double)p->sources / fmax(all - one, all / 16);
        gv_call_drop(&p->several);
        gv_team_release(p->several.team[0]);
        p->several.team[0] = NULL;
    }
    close_probe(p);
    return status;
}

gravel_status gv_measure_costs(const gravel_several *s, int order, gv_costs *costs)
{
    probe *p;
    gravel_status status = open_probe(s, &p);
    if (status)
        return status;
    costs->host = (gv_cost){{1, 4, 16, 64}, {64, 4096, 65536}, {{0}}}; /* caches of the processor are between these */
    status = measure_cost(p, GV_ANSWER_HOST, order, &costs->host);
    for (int k = 0; k < s->teams && !status; k++) {
        gv_cost_knots(gv_several_has_gpu(s), &costs->team[k]);
        status = measure_cost(p, k, order, &costs->team[k]);
    }
    close_probe(p);
    return status;
}
