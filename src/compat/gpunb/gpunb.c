/* The regular force: arguments checked, lists put into rows. */
#include "gravel/gpunb.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compat/gpunb/gpunb.h"

const char gv_compat_library[] = "gravel_gpunb";
gv_gpunb gv_gpunb_one = {.lock = PTHREAD_MUTEX_INITIALIZER};
static gv_gpunb *const g = &gv_gpunb_one;

enum { PIPES = 2048 }; /* sinks at once: the most that callers pass */

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---------------------------------------------------------------- devices */

/* "0 1": numbers of GPUs.  The settings go before it. */
static void take_gpu_list(void)
{
    const char *at = getenv("GPU_LIST");
    int list[16], count = 0;

    while (at && *at) {
        char *end;
        const long number = strtol(at, &end, 10);
        const int good = end != at && number >= 0 && number < 1000 && count < 16;
        if (!good && at[strspn(at, " ,\t")]) {
            gv_compat_fail("GPU_LIST", "'%s' is not a list of at most 16 numbers of GPUs", getenv("GPU_LIST"));
            return;
        }
        if (good)
            list[count++] = (int)number;
        at = good ? end + strspn(end, " ,\t") : NULL;
    }
    if (count > 0)
        gv_compat_name_devices("GPU_LIST", count, list, g->settings.devices, sizeof g->settings.devices);
}

void gv_gpunb_need_settings(void)
{
    if (g->is_set && (g->several || g->accurate))
        return;
    g->settings = (gv_compat_settings)GV_COMPAT_SETTINGS_INIT;
    g->settings.pipes = PIPES;
    take_gpu_list();
    gv_compat_read_settings(&g->settings);
    g->is_set = 1;
}

/* Under the lock. */
static int need_devices(const char *function)
{
    gv_gpunb_need_settings();
    return g->several ? 0 : gv_compat_failed(function, gv_compat_create(&g->several, &g->settings));
}

void gpunb_devinit_(const int *rank)
{
    (void)rank;
    pthread_mutex_lock(&g->lock);
    need_devices("gpunb_devinit");
    pthread_mutex_unlock(&g->lock);
}

void gpunb_open_(const int *nbmax, const int *rank)
{
    (void)nbmax;
    (void)rank;
    pthread_mutex_lock(&g->lock);
    if (g->is_open)
        gv_compat_log(GV_COMPAT_WARNING, "gpunb_open: it is open already");
    else {
        g->is_set = 0; /* devices stay as they are, the other settings are read again */
        g->is_open = need_devices("gpunb_open") == 0;
    }
    g->bodies = 0;
    g->is_refused = 0;
    memset(&g->profile, 0, sizeof g->profile);
    pthread_mutex_unlock(&g->lock);
}

void gpunb_close_(void)
{
    pthread_mutex_lock(&g->lock);
    if (!g->is_open)
        gv_compat_log(GV_COMPAT_WARNING, "gpunb_close: it is closed already");
    g->is_open = g->is_refused = 0;
    g->bodies = 0;
    free(g->radius);
    free(g->number);
    g->radius = NULL;
    g->number = NULL;
    g->radius_room = g->number_room = 0;
    pthread_mutex_unlock(&g->lock);
}

/* ---------------------------------------------------------------- sources */

static int send(const char *function, int nj, const double *mj, double (*xj)[3], double (*vj)[3])
{
    if (!g->is_open)
        return gv_compat_fail(function, "gpunb_open was not called, or failed");
    if (nj < 0 || (nj > 0 && (!mj || !xj || !vj)))
        return gv_compat_fail(function, "%d bodies, or no masses, positions or velocities", nj);
    if (nj == 0)
        return 0;
    const gravel_sources all = {.count = (size_t)nj, .mass = mj, .pos = GRAVEL_VEC_AOS(xj), .vel = GRAVEL_VEC_AOS(vj)};
    return gv_compat_failed(function, gravel_several_write_sources(g->several, 0, &all));
}

void gpunb_send_(const int *nj, const double *mj, double (*xj)[3], double (*vj)[3])
{
    const double begin = seconds();

    pthread_mutex_lock(&g->lock);
    g->is_refused = send("gpunb_send", *nj, mj, xj, vj) != 0;
    g->bodies = g->is_refused ? 0 : (size_t)*nj;
    g->profile.sends++;
    g->profile.send_s += seconds() - begin;
    pthread_mutex_unlock(&g->lock);
}

/* ----------------------------------------------------------------- forces */

/* The arguments of gpunb_regf_. */
typedef struct regular {
    int ni, lmax, capacity;
    const int *m_flag; /* may be no pointer at all: see by_mass() */
    const double *h2, *dtr;
    double (*xi)[3], (*vi)[3];
    double (*acc)[3], (*jrk)[3], *pot;
    int *list;
} regular;

static int check(const regular *r)
{
    static const char function[] = "gpunb_regf";

    if (!g->is_open)
        return gv_compat_fail(function, "gpunb_open was not called, or failed");
    if (g->is_refused)
        return gv_compat_fail(function, "the bodies of the last gpunb_send were refused");
    if (r->ni < 0 || r->lmax < 1)
        return gv_compat_fail(function, "%d sinks with lists of %d", r->ni, r->lmax);
    if (r->ni > 0 && (!r->h2 || !r->dtr || !r->xi || !r->vi || !r->acc || !r->jrk || !r->pot || !r->list))
        return gv_compat_fail(function, "an argument is missing");
    return 0;
}

static int need_room(size_t sinks, size_t capacity)
{
    void *grown;

    if (g->radius_room < sinks) {
        grown = realloc(g->radius, sinks * sizeof *g->radius);
        g->radius = grown ? grown : g->radius;
        g->radius_room = grown ? sinks : g->radius_room;
    }
    if (g->number_room < sinks * (capacity + 1)) {
        grown = realloc(g->number, sinks * (capacity + 1) * sizeof *g->number);
        g->number = grown ? grown : g->number;
        g->number_room = grown ? sinks * (capacity + 1) : g->number_room;
    }
    if (g->radius_room >= sinks && g->number_room >= sinks * (capacity + 1))
        return 0;
    return gv_compat_fail("gpunb_regf", "no memory for %zu lists of %zu", sinks, capacity);
}

/* The largest length whose square is not above h2: what is at h2 itself is outside, and stays there. */
static double radius_of(double h2)
{
    const double root = h2 > 0 ? sqrt(h2) : 0;

    return root * root > h2 ? nextafter(root, 0) : root;
}

/* Old NBODY6++ (of 2013, as AMUSE ships it) passes no m_flag: what stands in its place then must not be read. */
static int by_mass(const regular *r)
{
    return g->settings.m_flag == GV_COMPAT_YES && r->m_flag && *r->m_flag;
}

/* `n` sinks from `first` on. */
static int submit(const regular *r, size_t first, size_t n, size_t capacity)
{
    gravel_several_call call = GRAVEL_SEVERAL_CALL_INIT;

    for (size_t i = 0; i < n; i++)
        g->radius[i] = radius_of(r->h2[first + i]);
    const gravel_sinks sinks = {
        .count = n, .pos = GRAVEL_VEC_AOS(r->xi + first), .vel = GRAVEL_VEC_AOS(r->vi + first), .radius = g->radius};
    call.sinks = &sinks;
    call.order = 4;
    call.neighbour_capacity = (int)capacity;
    call.rule = by_mass(r) ? GRAVEL_NEIGHBOURS_SPHERE_MASS : GRAVEL_NEIGHBOURS_SPHERE;
    call.ahead = r->dtr + first;
    call.leave_out = 1;
    return gv_compat_failed("gpunb_regf", gravel_several_submit(g->several, &call));
}

static int collect(const regular *r, size_t first, size_t n, size_t capacity)
{
    uint32_t *const count = g->number, *const entry = g->number + n;
    const gravel_forces forces = {.acc = GRAVEL_VEC_OUT_AOS(r->acc + first),
                                  .jerk = GRAVEL_VEC_OUT_AOS(r->jrk + first),
                                  .pot = r->pot + first,
                                  .neighbour_count = count,
                                  .neighbour_address = entry};

    if (gv_compat_failed("gpunb_regf", gravel_several_collect(g->several, &forces, NULL)) != 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        int *const row = r->list + (first + i) * (size_t)r->lmax;
        const int fits = (int)count[i] <= r->capacity;
        row[0] = fits ? (int)count[i] : -(int)count[i];
        for (size_t k = 0; fits && k < count[i]; k++)
            row[1 + k] = (int)entry[i * capacity + k];
        if (g->settings.positive != GV_COMPAT_NO)
            r->pot[first + i] = 0 - r->pot[first + i]; /* no -0 where there is nothing */
    }
    return 0;
}

/* What was not computed must not look like a force. */
static void spoil(const regular *r, size_t first)
{
    for (size_t i = first; i < (size_t)(r->ni > 0 ? r->ni : 0); i++) {
        for (int c = 0; c < 3; c++) {
            if (r->acc)
                r->acc[i][c] = NAN;
            if (r->jrk)
                r->jrk[i][c] = NAN;
        }
        if (r->pot)
            r->pot[i] = NAN;
        if (r->list && r->lmax > 0)
            r->list[i * (size_t)r->lmax] = 0;
    }
}

/* Under the lock. */
static void regular_force(const regular *r)
{
    const size_t all = r->ni > 0 ? (size_t)r->ni : 0, pipes = (size_t)g->settings.pipes;
    const size_t capacity = r->capacity > 0 ? (size_t)r->capacity : 1; /* for the counts */
    size_t done = 0;
    int failed = check(r);

    if (!failed)
        failed = gv_compat_failed("gpunb_regf", gravel_several_set_source_count(g->several, g->bodies));
    while (!failed && done < all) {
        const size_t n = all - done < pipes ? all - done : pipes;
        failed = need_room(n, capacity) || submit(r, done, n, capacity) || collect(r, done, n, capacity);
        done += failed ? 0 : n;
    }
    if (failed)
        spoil(r, done);
    g->profile.calls++;
    g->profile.sinks += all;
    g->profile.pairs += (double)all * (double)g->bodies;
}

void gpunb_regf_(const int *ni, const double *h2, const double *dtr, double (*xi)[3], double (*vi)[3], double (*acc)[3],
                 double (*jrk)[3], double *pot, const int *lmax, const int *nbmax, int *list, const int *m_flag)
{
    const double begin = seconds();
    const int room = *lmax > 0 ? *lmax - 1 : 0, capacity = *nbmax < room ? *nbmax : room;
    const regular r = {.ni = *ni,
                       .lmax = *lmax,
                       .capacity = capacity > 0 ? capacity : 0,
                       .m_flag = m_flag,
                       .h2 = h2,
                       .dtr = dtr,
                       .xi = xi,
                       .vi = vi,
                       .acc = acc,
                       .jrk = jrk,
                       .pot = pot,
                       .list = list};

    pthread_mutex_lock(&g->lock);
    regular_force(&r);
    g->profile.force_s += seconds() - begin;
    pthread_mutex_unlock(&g->lock);
}

void gpunb_profile_(const int *rank)
{
    pthread_mutex_lock(&g->lock);
    const gv_gpunb_profile *p = &g->profile;
    if (p->calls > 0)
        gv_compat_log(
            GV_COMPAT_INFO,
            "rank %d: %lu sends in %.3f s; %lu regular forces on %.1f sinks each in %.3f s, %.3g pairs a second",
            rank ? *rank : 0, p->sends, p->send_s, p->calls, (double)p->sinks / (double)p->calls, p->force_s,
            p->force_s > 0 ? p->pairs / p->force_s : 0);
    memset(&g->profile, 0, sizeof g->profile);
    pthread_mutex_unlock(&g->lock);
}
