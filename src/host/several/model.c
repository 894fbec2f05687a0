/* Which devices answer a call, or the host: the least time by what was measured.  The measurement is kept, so that
 * decisions, and with them the order of sums, are the same from run to run. */
#include "host/several/object.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/files.h"
#include "host/device/device.h"
#include "host/program/cache.h"
#include "host/program/program.h"

enum { LARGEST = 1 << 18, COSTS = 6 };
static const char *const costs_name[COSTS] = {"order_2", "order_4", "order_6", "steps_2", "steps_4", "steps_6"};

void gv_several_force(gravel_several *s, int answer)
{
    s->forced = answer;
}

void gv_several_cut(gravel_several *s, int pieces)
{
    s->cut = pieces;
}

int gv_several_teams(const gravel_several *s)
{
    return s->teams;
}

int gv_team_size(const gravel_several *s, int team)
{
    return 1 << team < s->members ? 1 << team : s->members;
}

/* ------------------------------------------------------------------------- the file */

/* <cache_dir>/several-<16 digits>.json and the key that it must hold; 0: there is no folder. */
static int find_file(const gravel_several *s, char **path, char key[65])
{
    gravel_context *context = s->context[0];
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    char version[17], name[17];
    gv_hasher hasher;
    gv_digest digest;
    if (!gv_cache_has_folder(context) || gv_program_version(context, "direct/force.cl", version))
        return 0;
    gv_hash_start(&hasher);
    gv_hash_text(&hasher, GRAVEL_VERSION);
    gv_hash_text(&hasher, version);
    gv_hash_text(&hasher, s->configuration);
    gv_hash_add(&hasher, &cores, sizeof cores);
    gv_hash_add(&hasher, &s->options.precision, sizeof s->options.precision);
    gv_hash_add(&hasher, &s->options.deal, sizeof s->options.deal);
    if (s->options.correct_times) /* a file of their own: the other is never corrected */
        gv_hash_text(&hasher, "corrected");
    for (int m = 0; m < s->members; m++) {
        const gv_device *device = &s->member[m].context->device[s->member[m].device];
        gv_device_hash(device, &hasher);
        gv_hash_add(&hasher, &device->info.compute_units, sizeof device->info.compute_units);
    }
    gv_hash_end(&hasher, &digest);
    gv_digest_hex(&digest, 64, key);
    gv_digest_hex(&digest, 16, name);
    *path = gv_format("%s/several-%s.json", context->cache_dir, name);
    return *path != NULL;
}

/* `n` numbers, none negative. */
static int take_numbers(const cJSON *array, int n, double *number)
{
    if (!cJSON_IsArray(array) || cJSON_GetArraySize(array) != n)
        return 0;
    for (int k = 0; k < n; k++) {
        const cJSON *item = cJSON_GetArrayItem(array, k);
        if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0) || !isfinite(item->valuedouble))
            return 0;
        number[k] = item->valuedouble;
    }
    return 1;
}

int gv_cost_is_ordered(const gv_cost *c)
{
    int good = 1;
    for (int k = 1; k < GV_LINES; k++)
        good &= c->sinks[k] > c->sinks[k - 1];
    for (int k = 1; k < GV_KNOTS; k++)
        good &= c->sources[k] > c->sources[k - 1];
    return good;
}

/* To 6 digits: more are not measured, and these come back from a file exactly. */
static double rounded(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", value);
    return strtod(text, NULL);
}

static int take_cost(const cJSON *json, gv_cost *cost)
{
    gv_cost c;
    if (!take_numbers(cJSON_GetObjectItemCaseSensitive(json, "sinks"), GV_LINES, c.sinks) ||
        !take_numbers(cJSON_GetObjectItemCaseSensitive(json, "sources"), GV_KNOTS, c.sources) ||
        !take_numbers(cJSON_GetObjectItemCaseSensitive(json, "seconds"), GV_LINES * GV_KNOTS, &c.seconds[0][0]) ||
        !gv_cost_is_ordered(&c))
        return 0;
    *cost = c;
    return 1;
}

static int take_costs(const gravel_several *s, const cJSON *json, gv_costs *costs)
{
    const cJSON *teams = cJSON_GetObjectItemCaseSensitive(json, "devices");
    gv_costs c = {.known = 1};
    if (!take_cost(cJSON_GetObjectItemCaseSensitive(json, "host"), &c.host) || cJSON_GetArraySize(teams) != s->teams)
        return 0;
    for (int k = 0; k < s->teams; k++)
        if (!take_cost(cJSON_GetArrayItem(teams, k), &c.team[k]))
            return 0;
    *costs = c;
    return 1;
}

/* "cells": of calls, [order, sinks, sources, busy, spent, then factor, tries, tried and wins of each answer]. */
enum { CELL_HEAD = 5, CELL_ANSWER = 4, CELL_NUMBERS = CELL_HEAD + CELL_ANSWER * GV_MOST_ANSWERS };

static cJSON *cells_json(const gravel_several *s)
{
    cJSON *json = cJSON_CreateArray();
    for (int k = 0; k < s->recheck.cells; k++) {
        const gv_cell *c = &s->recheck.cell[k];
        double number[CELL_NUMBERS] = {c->order, c->sinks, c->sources, c->busy, c->spent};
        int n = CELL_HEAD;
        for (int a = 0; a <= s->teams; a++) {
            number[n++] = c->factor[a];
            number[n++] = c->tries[a] < GV_RECHECK_NEVER ? c->tries[a] : 0;
            number[n++] = c->tried[a];
            number[n++] = c->wins[a];
        }
        for (int i = 0; i < n; i++)
            number[i] = rounded(number[i]);
        cJSON_AddItemToArray(json, cJSON_CreateDoubleArray(number, n));
    }
    return json;
}

static void take_cells(gravel_several *s, const cJSON *json)
{
    const cJSON *one;
    double number[CELL_NUMBERS];
    cJSON_ArrayForEach(one, json)
    {
        gv_cell *c = NULL;
        if (take_numbers(one, CELL_HEAD + CELL_ANSWER * (s->teams + 1), number) && number[0] < 7 && number[1] < 48 &&
            number[2] < 48)
            c = gv_recheck_cell(&s->recheck, (int)number[0], (size_t)1 << (int)number[1], (size_t)1 << (int)number[2],
                                1);
        for (int a = 0; c && a <= s->teams; a++) {
            const double *const of = number + CELL_HEAD + CELL_ANSWER * a;
            c->factor[a] = of[0] >= 1e-9 && of[0] <= 1e9 ? of[0] : 1;
            c->tries[a] = (int)fmin(of[1], GV_RECHECK_NEVER - 1);
            c->tried[a] = fmin(of[2], number[3]);
            c->wins[a] = of[3] == 1;
        }
        if (c) {
            c->busy = number[3];
            c->spent = number[4];
        }
    }
}

/* Once for an object. */
static void take(gravel_several *s, const char *text, const char *key)
{
    cJSON *json = cJSON_Parse(text);
    const cJSON *own = cJSON_GetObjectItemCaseSensitive(json, "key");
    double speed[GV_MOST_MEMBERS];
    if (cJSON_IsString(own) && strcmp(own->valuestring, key) == 0 &&
        take_numbers(cJSON_GetObjectItemCaseSensitive(json, "pairs_per_s"), s->members, speed)) {
        memcpy(s->speed, speed, sizeof s->speed);
        s->speeds_known = 1;
        for (int k = 0; k < COSTS; k++) {
            const cJSON *costs = cJSON_GetObjectItemCaseSensitive(json, costs_name[k]);
            if (costs)
                take_costs(s, costs, k < 3 ? &s->costs[k] : &s->steps[k - 3]);
        }
        take_cells(s, cJSON_GetObjectItemCaseSensitive(json, "cells"));
    }
    cJSON_Delete(json);
}

static void load(gravel_several *s)
{
    char *path, *text = NULL, key[65];
    if (!find_file(s, &path, key))
        return;
    if (access(path, F_OK) == 0 && gv_file_read_own(path, LARGEST, &text, NULL) == GRAVEL_OK)
        take(s, text, key);
    free(text);
    free(path);
}

static cJSON *cost_json(const gv_cost *c)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToObject(json, "sinks", cJSON_CreateDoubleArray(c->sinks, GV_LINES));
    cJSON_AddItemToObject(json, "sources", cJSON_CreateDoubleArray(c->sources, GV_KNOTS));
    cJSON_AddItemToObject(json, "seconds", cJSON_CreateDoubleArray(&c->seconds[0][0], GV_LINES * GV_KNOTS));
    return json;
}

static cJSON *all_json(const gravel_several *s, const char *key)
{
    cJSON *json = cJSON_CreateObject(), *names = cJSON_AddArrayToObject(json, "names");
    cJSON_AddStringToObject(json, "key", key);
    for (int m = 0; m < s->members; m++)
        cJSON_AddItemToArray(names, cJSON_CreateString(gravel_several_get_device(s, m)->name));
    cJSON_AddStringToObject(json, "about", "seconds of calls, of the host and of the fastest 1, 2, 4 ... devices");
    cJSON_AddItemToObject(json, "pairs_per_s", cJSON_CreateDoubleArray(s->speed, s->members));
    for (int k = 0; k < COSTS; k++) {
        const gv_costs *c = k < 3 ? &s->costs[k] : &s->steps[k - 3];
        if (!c->known)
            continue;
        cJSON *costs = cJSON_AddObjectToObject(json, costs_name[k]);
        cJSON_AddItemToObject(costs, "host", cost_json(&c->host));
        cJSON *teams = cJSON_AddArrayToObject(costs, "devices");
        for (int i = 0; i < s->teams; i++)
            cJSON_AddItemToArray(teams, cost_json(&c->team[i]));
    }
    cJSON_AddItemToObject(json, "cells", cells_json(s));
    return json;
}

/* Failing costs only the next measurement. */
static void store(gravel_several *s)
{
    char *path, key[65];
    if (!find_file(s, &path, key))
        return;
    cJSON *json = all_json(s, key);
    char *text = cJSON_Print(json);
    if (!text || gv_folder_make(s->context[0]->cache_dir) || gv_file_write_own(path, text, strlen(text)))
        gv_log(s->context[0], GRAVEL_LOG_DEBUG, "%s: not kept: %s", path, text ? gravel_error_message() : "no memory");
    cJSON_free(text);
    cJSON_Delete(json);
    free(path);
}

void gv_model_keep(gravel_several *s)
{
    s->recheck.busy = 0;
    store(s);
}

static gv_cost rounded_cost(gv_cost c)
{
    for (int s = 0; s < GV_LINES; s++)
        for (int n = 0; n < GV_KNOTS; n++)
            c.seconds[s][n] = rounded(c.seconds[s][n]);
    return c;
}

/* ------------------------------------------------------------------------- speeds */

int gv_members_alike(const gravel_several *s, int a, int b)
{
    const gravel_device_info *x = gravel_several_get_device(s, a), *y = gravel_several_get_device(s, b);
    return strcmp(x->name, y->name) == 0 && strcmp(x->driver, y->driver) == 0 &&
           strcmp(x->platform, y->platform) == 0 && x->compute_units == y->compute_units;
}

/* Devices of one kind are alike, and those within a tenth of one another: noise must not decide who gets more. */
static void level(const gravel_several *s, double *speed)
{
    for (int m = 0; m < s->members; m++)
        for (int k = 0; k < m; k++)
            if (gv_members_alike(s, m, k) || fabs(speed[m] - speed[k]) < 0.1 * fmax(speed[m], speed[k])) {
                speed[m] = speed[k];
                break;
            }
}

static int are_all_alike(const gravel_several *s)
{
    int alike = 1;
    for (int m = 1; m < s->members; m++)
        alike &= gv_members_alike(s, m, 0);
    return alike;
}

static gravel_status need_speeds(gravel_several *s)
{
    double speed[GV_MOST_MEMBERS];
    for (int m = 0; m < s->members; m++)
        speed[m] = 1;
    if (!s->speeds_known)
        load(s);
    if (s->speeds_known)
        return GRAVEL_OK;
    gravel_status status = are_all_alike(s) ? GRAVEL_OK : gv_measure_speeds(s, speed);
    if (status)
        return status;
    for (int m = 0; m < s->members; m++)
        s->speed[m] = rounded(speed[m]);
    level(s, s->speed);
    s->speeds_known = 1;
    store(s);
    return GRAVEL_OK;
}

/* The fastest first; those that are alike in the order of the list. */
static void sort(const gravel_several *s, int index[GV_MOST_MEMBERS])
{
    for (int m = 0; m < s->members; m++) {
        int at = m;
        for (; at > 0 && s->speed[index[at - 1]] < s->speed[m]; at--)
            index[at] = index[at - 1];
        index[at] = m;
    }
}

gravel_status gv_model_need_team(gravel_several *s, int team)
{
    const int by_speed = s->options.deal == GRAVEL_DEAL_SPEED;
    int index[GV_MOST_MEMBERS];
    gravel_status status = GRAVEL_OK;
    if (s->team[team])
        return GRAVEL_OK;
    if (s->members > 1 && (by_speed || !s->options.all_devices))
        status = need_speeds(s);
    sort(s, index);
    return status ? status
                  : gv_team_create(&s->team[team], gv_team_size(s, team), index,
                                   by_speed && s->speeds_known ? s->speed : NULL);
}

/* ------------------------------------------------------------------------- decisions */

gravel_status gv_model_need(gravel_several *s, gv_costs *c, int order,
                            gravel_status (*measure)(const void *user, int order, gv_costs *costs), const void *user)
{
    gv_costs measured = {.known = 1};
    gravel_status status = need_speeds(s);
    if (status || c->known)
        return status;
    status = measure(user, order, &measured);
    if (status)
        return status;
    measured.host = rounded_cost(measured.host);
    for (int k = 0; k < s->teams; k++)
        measured.team[k] = rounded_cost(measured.team[k]);
    *c = measured;
    store(s);
    return GRAVEL_OK;
}

static gravel_status measure_calls(const void *user, int order, gv_costs *costs)
{
    return gv_measure_costs(user, order, costs);
}

gravel_status gv_model_need_costs(gravel_several *s, int order)
{
    return gv_model_need(s, &s->costs[order / 2 - 1], order, measure_calls, s);
}

/* The knots on whose straight line a number is: before number k, and how far behind it. */
static int find_knots(const double *knot, int knots, double number, double *behind)
{
    int k = 1;
    while (k < knots - 1 && number > knot[k])
        k++;
    *behind = (number - knot[k - 1]) / (knot[k] - knot[k - 1]);
    return k;
}

static double seconds_of(const gv_cost *c, double sinks, double sources)
{
    double at, along, t[2];
    const int n = find_knots(c->sources, GV_KNOTS, sources, &at), s = find_knots(c->sinks, GV_LINES, sinks, &along);
    for (int k = 0; k < 2; k++)
        t[k] = c->seconds[s - 1 + k][n - 1] + at * (c->seconds[s - 1 + k][n] - c->seconds[s - 1 + k][n - 1]);
    return fmax(t[0] + along * (t[1] - t[0]), 1e-7);
}

/* Whether the devices of a team have the memory, beside other teams that they are in. */
static int fits(const gravel_several *s, int team)
{
    const double share = (double)s->store.count / gv_team_size(s, team);
    size_t least = SIZE_MAX;
    for (int m = 0; m < s->members; m++) {
        const size_t one = gv_member_capacity(s, m);
        least = one < least ? one : least;
    }
    return team == s->teams - 1 || 2 * share < (double)least;
}

gv_decision gv_model_least(const gravel_several *s, const gv_costs *c, size_t sinks, size_t sources)
{
    const int last = s->teams - 1;
    gv_decision d = {last, seconds_of(&c->team[last], (double)sinks, (double)sources)};
    for (int k = last - 1; k >= 0; k--) {
        const double t = seconds_of(&c->team[k], (double)sinks, (double)sources);
        if (t < d.seconds && fits(s, k))
            d = (gv_decision){k, t};
    }
    return d;
}

gravel_host_answers gv_model_host(const gravel_several *s, const gravel_several_call *call)
{
    const int has_rule = call->rule != GRAVEL_NEIGHBOURS_OTHERS || call->ahead || call->leave_out;
    const int has_shape = call->shape != GRAVEL_SHAPE_PLUMMER || call->quadrupoles;
    return has_rule || has_shape ? GRAVEL_HOST_NEVER : s->options.host;
}

void gv_model_expect(const gravel_several *s, const gravel_several_call *call, size_t sinks, size_t sources,
                     const gv_cell *cell, double seconds[GV_MOST_ANSWERS])
{
    const gv_costs *c = &s->costs[call->order / 2 - 1];
    const int last = s->teams - 1, first = s->options.all_devices ? last : 0;
    for (int a = 0; a < GV_MOST_ANSWERS; a++) {
        const int team = a - 1, is_host = team == GV_ANSWER_HOST;
        const int may =
            is_host ? gv_model_host(s, call) != GRAVEL_HOST_NEVER : team >= first && team <= last && fits(s, team);
        seconds[a] = may ? seconds_of(is_host ? &c->host : &c->team[team], (double)sinks, (double)sources) *
                               (cell ? cell->factor[a] : 1)
                         : INFINITY;
    }
}

/* Not those of whole planes, which each answer sends anew, nor those whose tables other solvers lack. */
static int can_check(const gravel_several *s, const gravel_several_call *call)
{
    return s->options.correct_times && call->shape != GRAVEL_SHAPE_TABLE && !call->quadrupoles;
}

gravel_status gv_model_decide(gravel_several *s, const gravel_several_call *call, size_t sinks, size_t sources,
                              gv_decision *d, gv_cell **cell)
{
    const gravel_several_options *o = &s->options;
    const int last = s->teams - 1, order = call->order;
    const gravel_host_answers host = gv_model_host(s, call);
    if (cell)
        *cell = NULL;
    if (s->forced != GV_ANSWER_CHOSEN || host == GRAVEL_HOST_ALWAYS) {
        *d = (gv_decision){s->forced != GV_ANSWER_CHOSEN ? s->forced : GV_ANSWER_HOST, 0};
        return GRAVEL_OK;
    }
    if (host == GRAVEL_HOST_NEVER && (o->all_devices || s->members == 1) && !s->costs[order / 2 - 1].known) {
        *d = (gv_decision){last, 0};
        return GRAVEL_OK;
    }
    gv_costs *c = &s->costs[order / 2 - 1];
    if (!c->failed && gv_model_need_costs(s, order)) {
        /* the call itself may need less than the trial did */
        gv_log(s->context[0], GRAVEL_LOG_WARNING, "calls go to all devices, since they could not be timed: %s",
               gravel_error_message());
        c->failed = 1;
    }
    if (c->failed) {
        *d = (gv_decision){last, 0};
        return GRAVEL_OK;
    }
    double seconds[GV_MOST_ANSWERS];
    gv_cell *const own =
        s->options.correct_times ? gv_recheck_cell(&s->recheck, order, sinks, sources, cell != NULL) : NULL;
    gv_model_expect(s, call, sinks, sources, own, seconds);
    *d = (gv_decision){last, seconds[last + 1]};
    for (int team = last - 1; team >= GV_ANSWER_HOST; team--)
        if (seconds[team + 1] < d->seconds)
            *d = (gv_decision){team, seconds[team + 1]};
    if (cell && can_check(s, call))
        *cell = own;
    return GRAVEL_OK;
}
