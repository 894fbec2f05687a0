#include "tuner/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TICKS = 100, MOST_REPEATS = 1000 };
/* a candidate without hope is measured at least so long: a single disturbance must not condemn it */
#define HOPELESS_S 0.003

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The value below which the fraction q of a sorted list lies, interpolated. */
static double quantile(const double *sorted, int n, double q) {
    double at = q * (n - 1);
    int i = (int)at;

    return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

void gv_series_of(double *value, int n, gv_series *series) {
    qsort(value, (size_t)n, sizeof *value, ascending);
    series->least = value[0];
    series->median = quantile(value, n, 0.5);
    series->spread =
        series->median > 0 ? (quantile(value, n, 0.75) - quantile(value, n, 0.25)) / series->median : 0;
}

static gravel_status sample(gv_timed_fn run, void *user, int repeats, double *device_s, double *call_s) {
    *device_s = *call_s = 0;
    for (int r = 0; r < repeats; r++) {
        double device = 0, call = 0;
        gravel_status status = run(user, &device, &call);

        if (status != GRAVEL_OK) {
            return status;
        }
        *device_s += device / repeats;
        *call_s += call / repeats;
    }
    return GRAVEL_OK;
}

gravel_status gv_timing_run(const gv_timing_rule *rule, gv_timed_fn run, void *user, gv_timing *timing) {
    double device[GV_TIMING_MOST], call[GV_TIMING_MOST], total = 0, spent = 0, first = 0, least = INFINITY, ignored;
    int most = rule->most < GV_TIMING_MOST ? rule->most : GV_TIMING_MOST, n = 0, repeats = 1;

    memset(timing, 0, sizeof *timing);
    for (int w = 0; w < rule->warm_up; w++) {
        gravel_status status = sample(run, user, 1, &first, &ignored);

        if (status != GRAVEL_OK) {
            return status;
        }
    }
    if (rule->warm_up > 0 && first < TICKS * rule->tick_s) {
        repeats = first > 0 ? (int)ceil(TICKS * rule->tick_s / first) : MOST_REPEATS;
        repeats = repeats < MOST_REPEATS ? repeats : MOST_REPEATS;
    }
    while (n < most && (n < rule->least || total < rule->least_s) && (n < 2 || spent < rule->most_s)) {
        gravel_status status = sample(run, user, repeats, &device[n], &call[n]);

        if (status != GRAVEL_OK) {
            return status;
        }
        total += device[n] * repeats;
        spent += call[n] * repeats;
        n++;
        least = device[n - 1] < least ? device[n - 1] : least;
        if (n >= 2 && total >= HOPELESS_S && least > rule->stop_above) {
            timing->stopped = 1;
            break;
        }
    }
    if (n == 0) {
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the timing rule asks for no samples");
    }
    gv_series_of(device, n, &timing->device);
    gv_series_of(call, n, &timing->call);
    timing->samples = n;
    timing->runs_per_sample = repeats;
    return GRAVEL_OK;
}
