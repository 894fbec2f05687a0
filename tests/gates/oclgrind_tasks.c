/* Tasks and requests of a few bodies, for Oclgrind, which watches memory and races: work-groups that share tiles, with
 * sinks beyond full rows, shifts, a table in local memory, and cells. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gravel/requests.h"
#include "oclgrind_set.h"

enum { N = 60, LEAVES = 4, TASKS = 7 };
#define GROUPS "threads=32 split=2 sinks_per_item=1 tile=32 unroll=2 lanes=1 rsqrt=0"
#define EPS 0.05

static double m[N], x[3][N], a[3][N], pot[N], want[3][N];
static const gravel_leaf leaf[LEAVES] = {{0, 20}, {20, 0}, {20, 35}, {55, 5}};
static const gravel_task task[TASKS] = {{2, 0}, {0, 2}, {0, 0}, {2, 2}, {2, 3}, {0, 1}, {2, 2}};
static const uint8_t shift_of[TASKS] = {0, 0, 0, 0, 0, 0, 1};
static const double shift[2][3] = {{0, 0, 0}, {2, 0, 0}};

static void pull(gravel_leaf sinks, gravel_leaf sources, const double by[3])
{
    for (size_t i = sinks.first; i < sinks.first + sinks.count; i++)
        for (size_t j = sources.first; j < sources.first + sources.count; j++) {
            const double d[3] = {x[0][j] + by[0] - x[0][i], x[1][j] + by[1] - x[1][i], x[2][j] + by[2] - x[2][i]};
            const double s2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + EPS * EPS;
            for (int c = 0; c < 3; c++)
                want[c][i] += m[j] * d[c] / (s2 * sqrt(s2));
        }
}

/* rounding of float in sums of a hundred terms of order 1 to 100 */
static int is_wrong(const char *what)
{
    double worst = 0;
    for (size_t i = 0; i < N; i++)
        for (int c = 0; c < 3; c++)
            worst = fmax(worst, fabs(a[c][i] - want[c][i]));
    printf("%s: off by %.1e\n", what, worst);
    return !(worst < 1e-3);
}

static gravel_status by_tasks(gravel_context *context, gravel_bodies *bodies, const char *configuration, double r_s,
                              int *failed)
{
    gravel_tasks_options options = GRAVEL_TASKS_OPTIONS_INIT;
    gravel_task_list list = GRAVEL_TASK_LIST_INIT;
    gravel_tasks_call call = GRAVEL_TASKS_CALL_INIT;
    const gravel_forces forces = {.acc = GRAVEL_VEC_OUT_SOA(a[0], a[1], a[2]), .pot = pot};
    gravel_tasks *tasks = NULL;
    gravel_ticket *ticket;
    options.configuration = configuration;
    list.leaf = leaf, list.leaves = LEAVES, list.task = task, list.tasks = TASKS;
    list.shift_of = shift_of, list.shift = shift, list.shifts = 2;
    call.bodies = bodies;
    call.eps = EPS;
    call.r_s = r_s;
    call.r_cut = 6 * r_s;
    call.into = GRAVEL_INTO_HOST | GRAVEL_INTO_PLANES;
    gravel_status status = gravel_tasks_create(&tasks, context, &options);
    if (!status)
        status = gravel_tasks_write(tasks, &list);
    if (!status)
        status = gravel_tasks_start(tasks, &call, &ticket);
    if (!status) {
        status = gravel_ticket_collect(ticket, &forces, NULL);
        gravel_ticket_release(ticket);
    }
    gravel_tasks_release(tasks);
    memset(want, 0, sizeof want);
    for (int k = 0; k < TASKS; k++)
        pull(leaf[task[k].sinks], leaf[task[k].sources], shift[shift_of[k]]);
    if (!status && r_s == 0)
        *failed += is_wrong("tasks");
    return status;
}

/* A cell without quadrupole is a body. */
static gravel_status by_requests(gravel_context *context, int *failed)
{
    gravel_requests_options options = GRAVEL_REQUESTS_OPTIONS_INIT;
    gravel_requests_sources sources = GRAVEL_REQUESTS_SOURCES_INIT;
    gravel_cell cell[9] = {{{0}, 0, {0}, 0, 0, 0, 0, 0}};
    const uint32_t which[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    const double here[3] = {0, 0, 0};
    gravel_requests *r = NULL;
    for (int k = 0; k < 9; k++) {
        cell[k].mass = m[k];
        for (int c = 0; c < 3; c++)
            cell[k].centre[c] = x[c][k];
    }
    options.by = GRAVEL_REQUESTS_DEVICE;
    options.configuration = GROUPS;
    sources.count = N, sources.mass = m;
    sources.pos = (gravel_vec)GRAVEL_VEC_SOA(x[0], x[1], x[2]);
    sources.cell = cell, sources.cells = 9, sources.eps = EPS;
    memset(want, 0, sizeof want);
    memset(a, 0, sizeof a);
    gravel_status status = gravel_requests_create(&r, context, &options);
    if (!status)
        status = gravel_requests_set_sources(r, &sources);
    for (int k = 2; k < LEAVES && !status; k++) {
        gravel_request q = GRAVEL_REQUEST_INIT;
        q.sinks = leaf[k], q.run = leaf, q.runs = LEAVES, q.cell = which, q.cells = 9;
        q.acc = (gravel_vec_out)GRAVEL_VEC_OUT_SOA(a[0] + leaf[k].first, a[1] + leaf[k].first, a[2] + leaf[k].first);
        status = gravel_requests_submit(r, &q);
        for (int j = 0; j < LEAVES; j++)
            pull(leaf[k], leaf[j], here);
        pull(leaf[k], (gravel_leaf){0, 9}, here);
    }
    if (!status)
        status = gravel_requests_wait(r);
    gravel_requests_release(r);
    if (!status)
        *failed += is_wrong("requests");
    return status;
}

int main(void)
{
    gravel_context *context = NULL;
    gravel_bodies *bodies = NULL;
    int failed = 0;
    for (int k = 0; k < N; k++) {
        m[k] = 1 + k % 3;
        for (int c = 0; c < 3; c++)
            x[c][k] = fmod(0.37 + 0.618034 * k * (c + 1), 1.0);
    }
    gravel_status status = open_set(&context, &bodies, N, m, x[0], x[1], x[2]);
    if (!status)
        status = by_tasks(context, bodies, GROUPS " rest=16", 0, &failed);
    if (!status)
        status = by_tasks(context, bodies, GROUPS " form=2 rest=0", 0.1, &failed);
    if (!status)
        status = by_requests(context, &failed);
    return close_set(context, bodies, status, failed);
}
