#include "host/several/stretch.h"

#include <math.h>

#include "host/device/device.h"
#include "host/program/cache.h"
#include "host/program/program.h"

gravel_status gv_stretch_speeds(const gravel_several *d, gv_stretch *stretch)
{
    int alike = 1;
    gravel_status status = GRAVEL_OK;
    for (int m = 0; m < d->members; m++) {
        stretch[m].speed = 1;
        alike &= gv_members_alike(d, m, 0);
    }
    for (int m = 0; m < d->members && !alike && !status; m++) {
        gravel_device_facts facts;
        status = gravel_context_measure(d->member[m].context, d->member[m].device, 1, &facts);
        stretch[m].speed = status ? 1 : facts.fma_sp;
        if (status == GRAVEL_ERR_UNSUPPORTED) { /* its timers are wrong: even parts */
            for (int k = 0; k < d->members; k++)
                stretch[k].speed = 1;
            return GRAVEL_OK;
        }
    }
    return status;
}

void gv_stretch_cut(gv_stretch *stretch, int n, size_t sinks)
{
    double edge[GV_MOST_MEMBERS + 1] = {0}, work[GV_MOST_MEMBERS + 1] = {0}, speed = 0, wanted = 0, before = 0;
    size_t done = 0;
    int known = 1, at = 0;
    for (int m = 0; m < n; m++) {
        known &= stretch[m].cost > 0;
        before += (double)stretch[m].count;
        speed += stretch[m].speed;
    }
    for (int m = 0; m < n; m++) { /* as fractions of the curve */
        edge[m + 1] = edge[m] + (known ? (double)stretch[m].count / before : 1.0 / n);
        work[m + 1] = work[m] + (known ? (double)stretch[m].count * stretch[m].cost : 1.0 / n);
    }
    for (int m = 0; m < n; m++) {
        wanted += stretch[m].speed / speed * work[n];
        while (at < n - 1 && work[at + 1] < wanted)
            at++;
        const double share = (wanted - work[at]) / (work[at + 1] - work[at]);
        const double end = m == n - 1 ? 1 : edge[at] + share * (edge[at + 1] - edge[at]);
        const size_t last = (size_t)rint(fmin(end, 1) * (double)sinks);
        stretch[m].first = done;
        stretch[m].count = last > done ? last - done : 0;
        done += stretch[m].count;
    }
}

/* A cell is worth about three bodies: its quadrupole, and its part in lists and tests. */
double gv_stretch_cost(const gravel_tree_counts *counts)
{
    return 1 + counts->bodies + 3 * (counts->near_cells + counts->far_cells);
}

/* ---------------------------------------------------------------- the rule */

/* Of `alone` the part that others take goes away, and `more` comes. */
double gv_stretch_least(double n, int devices, double alone, double more)
{
    const double saved = alone * (1 - 1.0 / devices);
    return fmax(1, ceil(n * fmin(fmax(more, 0) / fmax(saved, 1e-9), 1e3)));
}

int gv_stretch_key(const gravel_several *d, const gravel_tree_options *o, const char *configuration, size_t bodies,
                   gravel_precision planes, gv_digest *key)
{
    const double about[] = {o->theta,
                            (double)o->mac,
                            (double)o->moments,
                            (double)o->softening,
                            (double)o->precision,
                            o->split,
                            ceil(log2((double)bodies)),
                            (double)planes};
    char version[17];
    gv_hasher hasher;
    if (gv_program_version(d->member[0].context, "tree/walk_group.cl", version))
        return 0;
    gv_hash_start(&hasher);
    gv_hash_text(&hasher, version);
    gv_hash_text(&hasher, configuration ? configuration : "");
    gv_hash_add(&hasher, about, sizeof about);
    for (int m = 0; m < d->members; m++) {
        const gv_worker worker = {.context = d->member[m].context, .device = d->member[m].device};
        const gv_device *device = gv_worker_device(&worker);
        gv_hash_add(&hasher, &device->info.compute_units, sizeof device->info.compute_units);
        gv_device_hash(device, &hasher);
    }
    gv_hash_end(&hasher, key);
    return 1;
}
