/* Times of calls, by trial: an object beside the caller's that uses its devices.  A round is one update, a new time, a
 * submit and a collect, as block steps have it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/clock.h"
#include "host/several/object.h"

/* The fastest round counts: others on the machine can only slow one down. */
#define LONGEST 0.04 /* s of rounds for one number */
enum { LEAST_ROUNDS = 3, MOST_ROUNDS = 12, SOME_SOURCES = 1024 };

typedef struct probe {
    gravel_several several;
    size_t sources, sinks; /* the largest call */
    double *block;
} probe;

static int has_gpu(const gravel_several *s)
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
    p->sources = has_gpu(s) ? 131072 : 65536;
    p->sinks = has_gpu(s) ? 2048 : 256;
    memset(own->team, 0, sizeof own->team);
    memset(&own->asked, 0, sizeof own->asked);
    memset(&own->mirror, 0, sizeof own->mirror);
    memset(&own->quadrupoles, 0, sizeof own->quadrupoles);
    own->scratch = NULL;
    own->list = NULL;
    own->scratch_size = own->list_size = 0;
    own->frame_is_set = own->source_count_is_set = own->time_is_set = 0;
    for (int m = 0; m < own->members; m++)
        memset(own->member[m].ticket, 0, sizeof own->member[m].ticket);
    gv_store_init(&own->store);
    const size_t n = p->sources;
    p->block = malloc(10 * n * sizeof *p->block);
    if (!p->block)
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

static gravel_status one_round(probe *p, const gravel_several_call *call, int turn)
{
    gravel_several *s = &p->several;
    const size_t n = p->sources;
    const double *x = p->block;
    const uint32_t address = (uint32_t)(turn % SOME_SOURCES);
    const gravel_sources one = {
        .count = 1, .mass = x, .pos = {x + n, x + 2 * n, x + 3 * n, 1}, .vel = {x + 4 * n, x + 5 * n, x + 6 * n, 1}};
    const gravel_forces nothing = {.pot = NULL};
    gravel_status status = gravel_several_scatter_sources(s, &address, &one);
    if (!status)
        status = gravel_several_set_time(s, ldexp(turn + 1, -10));
    if (!status)
        status = gravel_several_submit(s, call);
    return status ? status : gravel_several_collect(s, &nothing, NULL);
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
    *seconds = INFINITY;
    gravel_status status = gravel_several_set_source_count(&p->several, sources);
    if (!status)
        status = one_round(p, &call, 0); /* compiles, sends */
    const double begin = gv_now();
    for (int turn = 1; turn <= MOST_ROUNDS && !status; turn++) {
        const double start = gv_now();
        status = one_round(p, &call, turn);
        *seconds = fmin(*seconds, gv_now() - start);
        if (turn >= LEAST_ROUNDS && gv_now() - begin > LONGEST)
            break;
    }
    return status;
}

/* More pairs take no less time, whatever noise says. */
void gv_cost_straighten(gv_cost *c)
{
    for (int s = 0; s < 2; s++)
        for (int n = 0; n < GV_KNOTS; n++) {
            double *const t = &c->seconds[s][n];
            *t = n > 0 ? fmax(*t, c->seconds[s][n - 1]) : *t;
            *t = s > 0 ? fmax(*t, c->seconds[s - 1][n]) : *t;
        }
}

static gravel_status measure_cost(probe *p, int forced, int order, gv_cost *cost)
{
    gravel_status status = GRAVEL_OK;
    p->several.forced = forced;
    for (int s = 0; s < 2; s++)
        for (int n = 0; n < GV_KNOTS && !status; n++)
            status = time_call(p, order, s ? (size_t)cost->sinks : 1, (size_t)cost->sources[n], &cost->seconds[s][n]);
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
    costs->host = (gv_cost){8, {64, 4096, 65536}, {{0}}}; /* caches of the processor are between these */
    status = measure_cost(p, GV_ANSWER_HOST, order, &costs->host);
    for (int k = 0; k < s->teams && !status; k++) {
        costs->team[k] = (gv_cost){(double)p->sinks, {SOME_SOURCES, (double)p->sources / 8, (double)p->sources}, {{0}}};
        status = measure_cost(p, k, order, &costs->team[k]);
    }
    close_probe(p);
    return status;
}
