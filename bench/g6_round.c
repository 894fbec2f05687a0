/* How long a round of a GRAPE-6 code takes: updates of sources, a time, first half, last half.
 *
 *     build/bench/g6_round [sources [sinks [updates [rounds]]]]        1000 1 1 2000 if not given
 *
 * Sources move on circles, sinks are some of them; a tenth of the rounds warm up and are not counted.  Writes JSON:
 * minimum, median and mean in microseconds, and the memory of the process before and after.  Devices, the host path and
 * all else are set from outside (doc/dropin.md).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <gravel/g6.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Resident memory in KiB; 0 where it cannot be told. */
static long resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%*s %ld", &pages) != 1)
            pages = 0;
        fclose(file);
    }
    return 4 * pages;
}

static int ascending(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

/* A source at the time t, on its circle. */
static int send(int k, int n, double t)
{
    const double r = 1 + (double)k / n, phase = 2.4 * k + t, c = cos(phase), s = sin(phase);
    double x[3] = {r * c, r * s, 0.1 * sin(k)}, v[3] = {-r * s, r * c, 0}, a2[3] = {-r * c / 2, -r * s / 2, 0},
           j6[3] = {r * s / 6, -r * c / 6, 0}, k18[3] = {0, 0, 0};
    return g6_set_j_particle(0, k, k, t, 1e-3, 1.0 / n, k18, j6, a2, v, x);
}

typedef struct arrays {
    int *index;
    double (*x)[3], (*v)[3], (*acc)[3], (*jerk)[3], *pot, *h2;
} arrays;

static int make(arrays *a, int ni)
{
    const size_t n = (size_t)ni;
    a->index = calloc(n, sizeof *a->index);
    a->x = calloc(n, sizeof *a->x);
    a->v = calloc(n, sizeof *a->v);
    a->acc = calloc(n, sizeof *a->acc);
    a->jerk = calloc(n, sizeof *a->jerk);
    a->pot = calloc(n, sizeof *a->pot);
    a->h2 = calloc(n, sizeof *a->h2);
    return a->index && a->x && a->v && a->acc && a->jerk && a->pot && a->h2;
}

static int one_round(const arrays *a, int nj, int ni, int updates, long round)
{
    const double t = 1e-5 * (double)(round + 1), eps2 = 1e-4;
    int failed = 0;
    for (int k = 0; k < updates; k++)
        failed |= send((int)((round * updates + k) % nj), nj, t);
    for (int i = 0; i < ni; i++) {
        a->index[i] = (int)((round + i) % nj);
        a->x[i][0] = 1 + 0.01 * i;
        a->x[i][1] = t;
    }
    failed |= g6_set_ti(0, t);
    g6calc_firsthalf(0, nj, ni, a->index, a->x, a->v, a->acc, a->jerk, a->pot, eps2, a->h2);
    failed |= g6calc_lasthalf(0, nj, ni, a->index, a->x, a->v, eps2, a->h2, a->acc, a->jerk, a->pot);
    return failed;
}

static void print(int nj, int ni, int updates, long rounds, double *time, const long *memory)
{
    double sum = 0;
    for (long k = 0; k < rounds; k++)
        sum += time[k];
    qsort(time, (size_t)rounds, sizeof *time, ascending);
    printf("{\"sources\": %d, \"sinks\": %d, \"updates\": %d, \"rounds\": %ld, \"min_us\": %.2f, \"median_us\": %.2f, "
           "\"mean_us\": %.2f, \"resident_kib_before\": %ld, \"resident_kib_after\": %ld}\n",
           nj, ni, updates, rounds, 1e6 * time[0], 1e6 * time[rounds / 2], 1e6 * sum / (double)rounds, memory[0],
           memory[1]);
}

int main(int argc, char **argv)
{
    long value[4] = {1000, 1, 1, 2000}, memory[2];
    arrays a;
    int failed = 0;
    for (int k = 1; k < argc && k <= 4; k++)
        value[k - 1] = atol(argv[k]);
    const int nj = (int)value[0], ni = (int)value[1], updates = (int)value[2];
    const long rounds = value[3], warm = rounds / 10 + 10;
    double *time = malloc((size_t)(rounds > 0 ? rounds : 1) * sizeof *time);
    if (nj < 1 || ni < 1 || updates < 0 || rounds < 1 || !time || !make(&a, ni)) {
        fprintf(stderr, "usage: g6_round [sources [sinks [updates [rounds]]]], whole numbers\n");
        return 2;
    }
    if (g6_open(0) != 0)
        return 1;
    for (int k = 0; k < nj; k++)
        failed |= send(k, nj, 0);
    for (long k = 0; k < warm; k++)
        failed |= one_round(&a, nj, ni, updates, k);
    for (long k = 0; k < rounds; k++)
        time[k] = 1; /* so that these pages do not count as growth */
    memory[0] = resident();
    for (long k = 0; k < rounds && !failed; k++) {
        const double begin = seconds();
        failed |= one_round(&a, nj, ni, updates, warm + k);
        time[k] = seconds() - begin;
    }
    memory[1] = resident();
    g6_close(0);
    if (!failed)
        print(nj, ni, updates, rounds, time, memory);
    return failed ? 1 : 0;
}
