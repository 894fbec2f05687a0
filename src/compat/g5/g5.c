/* Device ids, settings, sources, sinks. */
#include "compat/g5/g5.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char gv_compat_library[] = "gravel_g5";

/* What all device ids share. */
static struct {
    pthread_mutex_t lock;
    int is_set; /* the settings were read */
    gv_compat_settings settings;
    int devices; /* how many the settings name; 0: not known yet */
    int device[16];
    double eps;
    gv_g5_unit *unit[GV_G5_UNITS];
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ------------------------------------------------------------------- memory */

/* Room for `count` elements; what was there stays.  -1: no memory, with a line in the log. */
static int need(const char *function, void *array, size_t *room, size_t count, size_t element)
{
    void *old;
    if (count <= *room)
        return 0;
    memcpy(&old, array, sizeof old);
    const size_t roomy = count + count / 4;
    void *grown = realloc(old, roomy * element);
    if (!grown)
        return gv_compat_fail(function, "no memory for %zu numbers", roomy);
    memcpy(array, &grown, sizeof grown);
    *room = roomy;
    return 0;
}

/* ----------------------------------------------------------------- settings */

/* Under the lock of all. */
static void read_settings(void)
{
    all.settings = (gv_compat_settings)GV_COMPAT_SETTINGS_INIT;
    gv_compat_read_settings(&all.settings);
    all.devices = 0;
    all.is_set = 1;
}

static void need_settings(void)
{
    if (!all.is_set)
        read_settings();
}

int gv_g5_pipes(void)
{
    pthread_mutex_lock(&all.lock);
    need_settings();
    const int pipes = all.settings.pipes;
    pthread_mutex_unlock(&all.lock);
    return pipes;
}

int gv_g5_jmem(void)
{
    pthread_mutex_lock(&all.lock);
    need_settings();
    const int jmem = all.settings.jmem;
    pthread_mutex_unlock(&all.lock);
    return jmem;
}

int gv_g5_set_eps(const char *function, double eps2)
{
    if (!(eps2 >= 0) || isinf(eps2))
        return gv_compat_fail(function, "the square of the softening length is %g", eps2);
    pthread_mutex_lock(&all.lock);
    all.eps = sqrt(eps2);
    pthread_mutex_unlock(&all.lock);
    return 0;
}

double gv_g5_get_eps(void)
{
    pthread_mutex_lock(&all.lock);
    const double eps = all.eps;
    pthread_mutex_unlock(&all.lock);
    return eps;
}

/* --------------------------------------------------------------- device ids */

/* Under the lock of all: which devices the settings mean. */
static int need_devices(const char *function)
{
    gravel_several *several;
    if (all.devices > 0)
        return 0;
    if (gv_compat_failed(function, gv_compat_create(&several, &all.settings)) != 0)
        return -1;
    const int n = gravel_several_get_device_count(several);
    for (int k = 0; k < n && k < 16; k++)
        all.device[k] = gravel_several_get_device(several, k)->index;
    all.devices = n < 16 ? n : 16;
    gravel_several_release(several);
    return 0;
}

/* Under both locks.  One device where a function with MC is the first: device ids are dealt out to the devices. */
static int open_unit(const char *function, gv_g5_unit *unit, int is_plain)
{
    need_settings();
    if (!is_plain && need_devices(function))
        return -1;
    unit->settings = all.settings;
    if (!is_plain && all.devices > 1)
        snprintf(unit->settings.devices, sizeof unit->settings.devices, "%d", all.device[unit->id % all.devices]);
    unit->is_open = 1;
    return 0;
}

/* Under the lock of all. */
static gv_g5_unit *make_unit(const char *function, int id)
{
    gv_g5_unit *unit = calloc(1, sizeof *unit);
    if (!unit || pthread_mutex_init(&unit->lock, NULL)) {
        gv_compat_fail(function, "no memory for device id %d", id);
        free(unit);
        return NULL;
    }
    unit->id = id;
    return all.unit[id] = unit;
}

/* Takes the unit's lock.  NULL, with a line in the log: there is no such device id.  Units are never freed, so that the
 * lock of all need not be held with theirs; whoever opens one holds both, its own first. */
static gv_g5_unit *enter(const char *function, int devid)
{
    const int is_plain = devid == GV_G5_PLAIN, id = is_plain ? 0 : devid;
    if (id < 0 || id >= GV_G5_UNITS) {
        gv_compat_fail(function, "device id %d: they go from 0 to %d", devid, GV_G5_UNITS - 1);
        return NULL;
    }
    pthread_mutex_lock(&all.lock);
    gv_g5_unit *unit = all.unit[id] ? all.unit[id] : make_unit(function, id);
    pthread_mutex_unlock(&all.lock);
    if (!unit)
        return NULL;
    pthread_mutex_lock(&unit->lock);
    if (unit->is_open)
        return unit;
    pthread_mutex_lock(&all.lock);
    const int failed = open_unit(function, unit, is_plain);
    pthread_mutex_unlock(&all.lock);
    if (!failed)
        return unit;
    pthread_mutex_unlock(&unit->lock);
    return NULL;
}

static void leave(gv_g5_unit *unit)
{
    pthread_mutex_unlock(&unit->lock);
}

/* Settings are read again, so that a program may change them; device ids in use keep theirs until they are closed. */
int gv_g5_open(const char *function, int devid)
{
    pthread_mutex_lock(&all.lock);
    read_settings();
    pthread_mutex_unlock(&all.lock);
    gv_g5_unit *unit = enter(function, devid);
    if (!unit)
        return -1;
    leave(unit);
    return 0;
}

/* On these devices, unless the settings name some. */
int gv_g5_open_special(const char *function, int ndev, const int *list)
{
    int failed = 0;
    pthread_mutex_lock(&all.lock);
    read_settings();
    char *const devices = all.settings.devices;
    if (!devices[0])
        failed = ndev > 0 && !list ? gv_compat_fail(function, "no list of devices")
                                   : gv_compat_name_devices(function, ndev, list, devices, sizeof all.settings.devices);
    pthread_mutex_unlock(&all.lock);
    gv_g5_unit *unit = failed ? NULL : enter(function, GV_G5_PLAIN);
    if (!unit)
        return -1;
    leave(unit);
    return 0;
}

static void close_unit(gv_g5_unit *unit)
{
    pthread_mutex_lock(&unit->lock);
    gv_g5_release(unit);
    unit->is_open = 0;
    unit->stage = GV_G5_IDLE;
    pthread_mutex_unlock(&unit->lock);
}

int gv_g5_close(const char *function, int devid)
{
    if (devid != GV_G5_PLAIN && (devid < 0 || devid >= GV_G5_UNITS))
        return gv_compat_fail(function, "there is no device id %d", devid);
    for (int k = 0; k < GV_G5_UNITS; k++) {
        pthread_mutex_lock(&all.lock);
        gv_g5_unit *unit = all.unit[k];
        pthread_mutex_unlock(&all.lock);
        if (unit && (devid == GV_G5_PLAIN || devid == k))
            close_unit(unit);
    }
    pthread_mutex_lock(&all.lock);
    all.is_set = all.is_set && devid != GV_G5_PLAIN; /* programs that do not open may have changed them */
    pthread_mutex_unlock(&all.lock);
    return 0;
}

/* ------------------------------------------------------------------ sources */

static void add_to(gv_g5_range *range, int first, int end)
{
    range->first = range->end > range->first && range->first < first ? range->first : first;
    range->end = range->end > end ? range->end : end;
}

/* Room for addresses up to `end`; new ones are massless bodies at the origin. */
static int grow(const char *function, gv_g5_memory *memory, gv_g5_kind kind, int end)
{
    const size_t n = (size_t)end, used = (size_t)memory->used;
    if (need(function, &memory->x, &memory->room[0], n, sizeof *memory->x) ||
        need(function, &memory->m, &memory->room[1], n, sizeof *memory->m) ||
        (kind == GV_G5_SYMMETRIC && need(function, &memory->eps, &memory->room[2], n, sizeof *memory->eps)) ||
        (kind == GV_G5_CELLS && need(function, &memory->q, &memory->room[3], n, sizeof *memory->q)))
        return -1;
    if (n <= used)
        return 0;
    memset(memory->x + used, 0, (n - used) * sizeof *memory->x);
    memset(memory->m + used, 0, (n - used) * sizeof *memory->m);
    if (memory->eps)
        memset(memory->eps + used, 0, (n - used) * sizeof *memory->eps);
    if (memory->q)
        memset(memory->q + used, 0, (n - used) * sizeof *memory->q);
    add_to(&memory->unsent, memory->used, end);
    memory->used = end;
    return 0;
}

/* As Phantom-GRAPE and Sapporo2 do: address adr + k has row adr + k of the arrays. */
static void copy_rows(gv_g5_memory *memory, int adr, int nj, gv_g5_sources from)
{
    for (int j = adr; j < adr + nj; j++) {
        if (from.x)
            memcpy(memory->x[j], from.x[j], sizeof *memory->x);
        if (from.m)
            memory->m[j] = from.m[j];
        if (from.eps2)
            memory->eps[j] = from.eps2[j] > 0 ? sqrt(from.eps2[j]) : 0;
        if (from.q)
            memcpy(memory->q[j], from.q[j], sizeof *memory->q);
    }
    add_to(&memory->unsent, adr, adr + nj);
}

int gv_g5_set_sources(const char *function, int devid, gv_g5_kind kind, int adr, int nj, gv_g5_sources from)
{
    gv_g5_unit *unit = enter(function, devid);
    if (!unit)
        return -1;
    int result = 0;
    if (adr < 0 || nj < 0)
        result = gv_compat_fail(function, "address %d, %d sources", adr, nj);
    else if (nj > unit->settings.jmem - adr)
        result = gv_compat_fail(function, "%d sources from address %d on, but memory for %d (the setting `jmem`)", nj,
                                adr, unit->settings.jmem);
    else if (nj > 0 && !from.x && !from.m)
        result = gv_compat_fail(function, "no sources");
    else if (nj > 0)
        result = grow(function, &unit->memory[kind], kind, adr + nj);
    if (result == 0 && nj > 0)
        copy_rows(&unit->memory[kind], adr, nj, from);
    leave(unit);
    return result;
}

/* Bodies with and without symmetric softening have one count, as in FDPS's library. */
int gv_g5_set_n(const char *function, int devid, int cells, int n)
{
    gv_g5_unit *unit = enter(function, devid);
    if (!unit)
        return -1;
    int result = 0;
    if (n < 0 || n > unit->settings.jmem)
        result = gv_compat_fail(function, "%d sources, but memory for %d (the setting `jmem`)", n, unit->settings.jmem);
    for (int kind = 0; kind < GV_G5_KINDS && result == 0; kind++)
        if ((kind == GV_G5_CELLS) == !!cells) {
            unit->memory[kind].n = n;
            unit->memory[kind].is_counted = 1;
        }
    leave(unit);
    return result;
}

/* -------------------------------------------------------------------- sinks */

/* What is refused leaves all as it was. */
static int take_sinks(const char *function, gv_g5_unit *unit, int ni, double (*x)[3], const double *eps2,
                      const double *eps)
{
    const size_t n = (size_t)ni;
    for (size_t i = 0; i < n && (eps2 || eps); i++) {
        const double square = eps2 ? eps2[i] : eps[i] * eps[i];
        if (!(square >= 0) || isinf(square))
            return gv_compat_fail(function, "sink %zu: the square of the softening length is %g", i, square);
    }
    if (need(function, &unit->xi, &unit->room[0], n, sizeof *unit->xi) ||
        need(function, &unit->epsi, &unit->room[1], n, sizeof *unit->epsi) ||
        need(function, &unit->acc, &unit->room[2], n, sizeof *unit->acc) ||
        need(function, &unit->pot, &unit->room[3], n, sizeof *unit->pot))
        return -1;
    if (x && n > 0)
        memcpy(unit->xi, x, n * sizeof *unit->xi);
    for (size_t i = 0; i < n && (eps2 || eps); i++)
        unit->epsi[i] = sqrt(eps2 ? eps2[i] : eps[i] * eps[i]);
    unit->has_eps = eps2 || eps;
    unit->ni = ni;
    unit->stage = GV_G5_SET;
    return 0;
}

int gv_g5_set_sinks(const char *function, int devid, int ni, double (*x)[3], const double *eps2, const double *eps)
{
    gv_g5_unit *unit = enter(function, devid);
    if (!unit)
        return -1;
    const int has_sinks = unit->stage != GV_G5_IDLE && unit->stage != GV_G5_FAILED;
    int result = 0;
    if (ni < 0 || ni > unit->settings.pipes)
        result = gv_compat_fail(function, "%d sinks, but %d pipes (the setting `pipes`)", ni, unit->settings.pipes);
    else if (!x && (!has_sinks || ni != unit->ni))
        result = gv_compat_fail(function, "softening of %d sinks, but there are %d", ni, has_sinks ? unit->ni : 0);
    else
        result = take_sinks(function, unit, ni, x, eps2, eps);
    if (result != 0)
        unit->stage = GV_G5_FAILED;
    leave(unit);
    return result;
}

/* A program that sets symmetric sources only means them also with the plain names. */
static gv_g5_kind memory_of(const gv_g5_unit *unit, gv_g5_kind kind)
{
    const int only = unit->memory[GV_G5_BODIES].used == 0 && unit->memory[GV_G5_SYMMETRIC].used > 0;
    return kind == GV_G5_BODIES && only ? GV_G5_SYMMETRIC : kind;
}

static int run(const char *function, gv_g5_unit *unit, gv_g5_kind kind)
{
    if (unit->stage == GV_G5_IDLE)
        return gv_compat_fail(function, "there are no sinks: g5_set_xi comes first");
    if (unit->stage == GV_G5_FAILED)
        return -1;
    const int result = gv_g5_submit(function, unit, memory_of(unit, kind));
    unit->stage = result == 0 ? GV_G5_RUN : GV_G5_FAILED;
    return result;
}

int gv_g5_run(const char *function, int devid, gv_g5_kind kind)
{
    gv_g5_unit *unit = enter(function, devid);
    if (!unit)
        return -1;
    const int result = run(function, unit, kind);
    leave(unit);
    return result;
}

/* A caller that looks at no return value must see that these are no forces. */
static void spoil(int ni, double (*a)[3], double *p)
{
    for (int i = 0; i < ni; i++) {
        if (a)
            a[i][0] = a[i][1] = a[i][2] = NAN;
        if (p)
            p[i] = NAN;
    }
}

static int get(const char *function, gv_g5_unit *unit, int ni, double (*a)[3], double *p)
{
    if (unit->stage == GV_G5_IDLE || unit->stage == GV_G5_SET)
        return gv_compat_fail(function, "there was no g5_run");
    if (unit->stage == GV_G5_FAILED)
        return -1;
    if (ni < 0 || ni > unit->ni)
        return gv_compat_fail(function, "%d sinks, but g5_set_xi had %d", ni, unit->ni);
    if (unit->stage == GV_G5_RUN && gv_g5_collect(function, unit)) {
        unit->stage = GV_G5_FAILED;
        return -1;
    }
    unit->stage = GV_G5_COLLECTED;
    if (a && ni > 0)
        memcpy(a, unit->acc, (size_t)ni * sizeof *a);
    if (p && ni > 0)
        memcpy(p, unit->pot, (size_t)ni * sizeof *p);
    return 0;
}

int gv_g5_get(const char *function, int devid, int ni, double (*a)[3], double *p)
{
    gv_g5_unit *unit = enter(function, devid);
    const int result = unit ? get(function, unit, ni, a, p) : -1;
    if (unit)
        leave(unit);
    if (result != 0)
        spoil(ni, a, p);
    return result;
}

/* Any number of sinks; a part at a time bounds the memory. */
int gv_g5_force_on(const char *function, int devid, gv_g5_kind kind, double (*x)[3], const double *eps2, double (*a)[3],
                   double *p, int ni)
{
    enum { PART = 1 << 18 };
    gv_g5_unit *unit = enter(function, devid);
    int result = !unit ? -1 : ni < 0 || (ni > 0 && (!x || !a || !p)) ? gv_compat_fail(function, "%d sinks", ni) : 0;
    for (int done = 0; done < ni && result == 0; done += PART) {
        const int n = ni - done < PART ? ni - done : PART;
        result = take_sinks(function, unit, n, x + done, eps2 ? eps2 + done : NULL, NULL);
        if (result == 0)
            result = run(function, unit, kind);
        if (result == 0)
            result = get(function, unit, n, a + done, p + done);
    }
    if (unit)
        leave(unit);
    if (result != 0)
        spoil(ni, a, p);
    return result;
}
