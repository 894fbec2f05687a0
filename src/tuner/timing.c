#include "tuner/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TICKS = 100, MOST_REPEATS = 1000 };
/* a candidate that seems too slow is measured at least so long: a single disturbance must not exclude it */
#define HOPELESS_S 0.003
/* runs shorter than this by their events, which cost up to 10 us, are timed in rows that last about so long */
#define SHORT_S 100e-6
#define ROW_S 300e-6

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The value below which the fraction q of a sorted list lies, interpolated. */
static double quantile(const double *sorted, int n, double q)
{
    double at = q * (n - 1);
    int i = (int)at;

    return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

void gv_series_of(double *value, int n, gv_series *series)
{
    qsort(value, (size_t)n, sizeof *value, ascending);
    series->least = value[0];
    series->median = quantile(value, n, 0.5);
    series->spread = series->median > 0 ? (quantile(value, n, 0.75) - quantile(value, n, 0.25)) / series->median : 0;
}

/* How a sample is taken. */
typedef struct sampler {
    gv_timed_fn run;
    gv_timed_row_fn row; /* NULL: events */
    void *user;
    int repeats; /* of the run; with a row: of that, beside one run */
} sampler;

static gravel_status sample(const sampler *s, double *device_s, double *call_s)
{
    const int repeats = s->row ? 1 : s->repeats;

    *device_s = *call_s = 0;
    for (int r = 0; r < repeats; r++) {
        double device = 0, call = 0;
        gravel_status status = s->run(s->user, &device, &call);

        if (status != GRAVEL_OK)
            return status;
        *device_s += device / repeats;
        *call_s += call / repeats;
    }
    return s->row ? s->row(s->user, s->repeats, device_s) : GRAVEL_OK;
}

/* Warms up and finds out how long a run is. */
static gravel_status prepare(const gv_timing_rule *rule, sampler *s)
{
    double first = 0, ignored;

    for (int w = 0; w < rule->warm_up; w++) {
        gravel_status status = sample(s, &first, &ignored);

        if (status != GRAVEL_OK)
            return status;
    }
    if (rule->warm_up == 0)
        return GRAVEL_OK;
    const double wanted = rule->row && first < SHORT_S ? ROW_S : TICKS * rule->tick_s;

    s->row = first < SHORT_S ? rule->row : NULL;
    if (first < wanted) {
        s->repeats = first > 0 ? (int)ceil(wanted / first) : MOST_REPEATS;
        s->repeats = s->repeats < MOST_REPEATS ? s->repeats : MOST_REPEATS;
    }
    return GRAVEL_OK;
}

/* Disturbances only add time: when the two shortest samples agree, they are what there is to find.  CPUs are disturbed
 * for longer than two samples. */
#define AGREE 1.003

static int do_agree(const double *value, int n)
{
    double least = INFINITY, next = INFINITY;

    for (int k = 0; k < n; k++) {
        next = fmin(next, fmax(least, value[k]));
        least = fmin(least, value[k]);
    }
    return next <= AGREE * least;
}

gravel_status gv_timing_run(const gv_timing_rule *rule, gv_timed_fn run, void *user, gv_timing *timing)
{
    double device[GV_TIMING_MOST], call[GV_TIMING_MOST], total = 0, spent = 0, least = INFINITY;
    int most = rule->most < GV_TIMING_MOST ? rule->most : GV_TIMING_MOST, n = 0;
    sampler s = {run, NULL, user, 1};
    gravel_status status;

    memset(timing, 0, sizeof *timing);
    status = prepare(rule, &s);
    if (status != GRAVEL_OK)
        return status;
    while (n < most && (n < rule->least || total < rule->least_s) && (n < 2 || spent < rule->most_s)) {
        status = sample(&s, &device[n], &call[n]);
        if (status != GRAVEL_OK)
            return status;
        total += device[n] * s.repeats;
        spent += s.row ? device[n] * s.repeats + call[n] : call[n] * s.repeats;
        n++;
        least = device[n - 1] < least ? device[n - 1] : least;
        if (n >= 2 && total >= HOPELESS_S && least > rule->stop_above) {
            timing->stopped = 1;
            break;
        }
        const int enough = rule->least_long > 0 && device[0] >= GV_LONG_RUN_S ? rule->least_long : rule->least;

        if (rule->row && n >= enough && do_agree(device, n))
            break;
    }
    if (n == 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the timing rule has no samples");
    gv_series_of(device, n, &timing->device);
    gv_series_of(call, n, &timing->call);
    timing->samples = n;
    timing->runs_per_sample = s.repeats;
    return GRAVEL_OK;
}
