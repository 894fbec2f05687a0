#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compute.h"
#include "host/base/clock.h"

const char *const gv_quantity_name[GV_QUANTITIES] = {"acc", "pot", "jerk", "snap"};
const char *const gv_verdict_name[3] = {"PASS", "MARGINAL", "FAIL"};

int gv_quantity_count(int order)
{
    return order == 2 ? 2 : order == 4 ? 3 : 4;
}

/* ----------------------------------------------------------------- errors */

/* The parts of one quantity; a scalar has one. */
static int parts_of(const gv_force_set *set, int quantity, const double *part[3])
{
    switch (quantity) {
    case GV_ACC:
        part[0] = set->ax, part[1] = set->ay, part[2] = set->az;
        return 3;
    case GV_POT:
        part[0] = set->pot;
        return 1;
    case GV_JERK:
        part[0] = set->jx, part[1] = set->jy, part[2] = set->jz;
        return 3;
    default:
        part[0] = set->sx, part[1] = set->sy, part[2] = set->sz;
        return 3;
    }
}

static double relative_error(int parts, const double *const a[3], const double *const b[3], size_t i)
{
    double difference = 0, length = 0;
    for (int c = 0; c < parts; c++) {
        difference += (a[c][i] - b[c][i]) * (a[c][i] - b[c][i]);
        length += b[c][i] * b[c][i];
    }
    if (difference == 0)
        return 0;
    const double error = sqrt(difference) / sqrt(length);
    return isnan(error) ? (double)INFINITY : error;
}

void gv_errors_set(gv_errors *errors, const gv_force_set *forces, const gv_force_set *reference)
{
    memset(errors, 0, sizeof *errors);
    errors->count = reference->count;
    for (int q = 0; q < gv_quantity_count(reference->order); q++) {
        const double *a[3], *b[3];
        double sum = 0;
        const int parts = parts_of(forces, q, a);
        parts_of(reference, q, b);
        for (size_t i = 0; i < reference->count; i++) {
            const double error = relative_error(parts, a, b, i);
            sum += error;
            if (error > errors->max[q]) {
                errors->max[q] = error;
                errors->worst[q] = i;
            }
        }
        errors->mean[q] = reference->count ? sum / (double)reference->count : 0;
    }
}

double gv_error_quantile(const gv_force_set *forces, const gv_force_set *reference, int quantity, double fraction)
{
    const double *a[3], *b[3];
    double result = NAN, *error = malloc(reference->count * sizeof *error);
    if (error != NULL && reference->count > 0) {
        const int parts = parts_of(forces, quantity, a);
        parts_of(reference, quantity, b);
        for (size_t i = 0; i < reference->count; i++)
            error[i] = relative_error(parts, a, b, i);
        qsort(error, reference->count, sizeof *error, gv_ascending);
        result = error[(size_t)(fraction * (double)(reference->count - 1))];
    }
    free(error);
    return result;
}

double gv_error_excess(const gv_errors *errors, gravel_precision precision, int order)
{
    double excess = 0;
    for (int q = 0; q < gv_quantity_count(order); q++) {
        const gv_ceiling ceiling = gv_error_ceiling(precision, q);
        excess = fmax(excess, errors->max[q] / ceiling.max);
        if (errors->count >= GV_MEAN_FROM)
            excess = fmax(excess, errors->mean[q] / ceiling.mean);
    }
    return excess;
}

gv_verdict gv_excess_verdict(double excess)
{
    return excess <= 1 ? GV_PASS : excess <= 2 ? GV_MARGINAL : GV_FAIL;
}

int gv_smallest_slots(int order, gravel_precision precision)
{
    static const int table[3][3] = {[GRAVEL_SP] = {14, 28, 50}, [GRAVEL_DS] = {20, 34, 56}, [GRAVEL_DP] = {18, 32, 54}};
    return table[precision][order / 2 - 1];
}

/* ------------------------------------------------------------- neighbours */

double gv_distance_slack(gravel_precision precision, const gv_particles *sources)
{
    /* place: half a last place of 1.  In sp two positions are off by `place` of the largest coordinate L each, so a
     * distance by 2 sqrt(3); squares, sum and root add about four last halves of a distance of at most 2 sqrt(3) L.
     * Together 2 sqrt(3) (1 + 4) = 17.3, rounded up.  In ds the positions are exact, the distance is a float. */
    const double place = precision == GRAVEL_DP ? 0x1p-53 : 0x1p-24;
    double largest = 0;
    for (size_t i = 0; i < sources->count; i++)
        largest = fmax(largest, fmax(fabs(sources->x[i]), fmax(fabs(sources->y[i]), fabs(sources->z[i]))));
    return 24 * place * largest;
}

static double distance(const gv_particles *a, size_t i, const gv_particles *b, size_t j)
{
    const long double x = (long double)b->x[j] - a->x[i], y = (long double)b->y[j] - a->y[i],
                      z = (long double)b->z[j] - a->z[i];
    return (double)sqrtl(x * x + y * y + z * z);
}

static int is_same(const gv_particles *sinks, size_t i, const gv_particles *sources, size_t j)
{
    return sinks->id[i] != -1 && sinks->id[i] == sources->id[j];
}

static const char *nearest_wrong(const gv_force_set *forces, const gv_particles *sinks, const gv_particles *sources,
                                 size_t i, double slack, char *text, size_t size)
{
    double nearest = INFINITY;
    for (size_t j = 0; j < sources->count; j++)
        if (!is_same(sinks, i, sources, j))
            nearest = fmin(nearest, distance(sinks, i, sources, j));
    const uint32_t address = forces->nearest_address[i];
    if (isinf(nearest)
            ? address == GRAVEL_NONE && forces->nearest_id[i] == -1 && isinf(forces->nearest_distance[i])
            : address < sources->count && forces->nearest_id[i] == sources->id[address] &&
                  !is_same(sinks, i, sources, address) && distance(sinks, i, sources, address) <= nearest + slack &&
                  fabs(forces->nearest_distance[i] - nearest) <= slack) {
        return NULL;
    }
    snprintf(text, size, "nearest of sink %zu: address %u at %.9g, the reference finds %.9g", i, (unsigned)address,
             forces->nearest_distance[i], nearest);
    return text;
}

static const char *list_wrong(const gv_force_set *forces, const gv_particles *sinks, const gv_particles *sources,
                              size_t i, double radius, double slack, char *text, size_t size)
{
    const uint32_t *list = forces->neighbour_address + i * forces->capacity;
    const int32_t *id = forces->neighbour_id + i * forces->capacity;
    const size_t count = forces->neighbour_count[i];
    const size_t listed = count < forces->capacity ? count : forces->capacity;
    size_t sure = 0, possible = 0, k = 0;
    for (size_t j = 0; j < sources->count; j++) {
        const double d = is_same(sinks, i, sources, j) ? (double)INFINITY : distance(sinks, i, sources, j);
        const int here = k < listed && list[k] == j;
        sure += d <= radius - slack;
        possible += d <= radius + slack;
        /* missing: certainly inside, and the list goes on behind it; or not in it and not full either */
        if ((here && (d > radius + slack || id[k] != sources->id[j])) ||
            (!here && d <= radius - slack && (k < listed || listed < forces->capacity))) {
            snprintf(text, size, "list of sink %zu: source %zu at %.9g is %s, the radius is %.9g", i, j, d,
                     here ? "in it" : "not in it", radius);
            return text;
        }
        k += (size_t)here;
    }
    if (k == listed && count >= sure && count <= possible)
        return NULL;
    snprintf(text, size, "list of sink %zu: count %zu, %zu of %zu entries in order; the reference counts %zu to %zu", i,
             count, k, listed, sure, possible);
    return text;
}

const char *gv_neighbours_wrong(const gv_force_set *forces, const gv_particles *sinks, const gv_particles *sources,
                                const double *radius, double slack, char *text, size_t size)
{
    for (size_t i = 0; i < sinks->count; i++) {
        if (forces->nearest_id != NULL && nearest_wrong(forces, sinks, sources, i, slack, text, size) != NULL)
            return text;
        if (forces->neighbour_count != NULL &&
            list_wrong(forces, sinks, sources, i, radius[i], slack, text, size) != NULL) {
            return text;
        }
    }
    return NULL;
}
