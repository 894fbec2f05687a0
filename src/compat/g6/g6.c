/* Opening, closing, and the sources. */
#include "compat/g6/g6.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

const char gv_compat_library[] = "gravel_g6";
gv_g6 gv_g6_one = {.lock = PTHREAD_MUTEX_INITIALIZER, .sorted = 1};
static gv_g6 *const g = &gv_g6_one;

int gv_g6_enter(const char *function)
{
    pthread_mutex_lock(&g->lock);
    if (g->several)
        return 0;
    pthread_mutex_unlock(&g->lock);
    return gv_compat_fail(function, "g6_open was not called, or failed");
}

void gv_g6_leave(void)
{
    pthread_mutex_unlock(&g->lock);
}

int gv_g6_need(const char *function, void *array, size_t *room, size_t count, size_t element)
{
    void *old, *grown;

    if (count <= *room)
        return 0;
    memcpy(&old, array, sizeof old);
    grown = realloc(old, count * element);
    if (!grown)
        return gv_compat_fail(function, "no memory for %zu numbers", count);
    memcpy(array, &grown, sizeof grown);
    *room = count;
    return 0;
}

/* Under the lock.  Settings are read at the first use and whenever the library is opened. */
static void read_settings(void)
{
    g->settings = (gv_compat_settings)GV_COMPAT_SETTINGS_INIT;
    gv_compat_read_settings(&g->settings);
    g->is_set = 1;
}

/* Under the lock. */
static int open_devices(const char *function)
{
    g->stage = GV_G6_IDLE;
    g->sources = g->sinks = g->want_nearest = g->want_lists = g->lists_are_read = 0;
    return gv_compat_failed(function, gv_compat_create(&g->several, &g->settings));
}

int gv_g6_open(const char *function)
{
    int result = 0;

    pthread_mutex_lock(&g->lock);
    if (!g->several) {
        read_settings();
        result = open_devices(function);
    }
    pthread_mutex_unlock(&g->lock);
    return result;
}

int gv_g6_open_special(int ndev, const int *list)
{
    static const char function[] = "g6_open_special";
    int result = 0;

    pthread_mutex_lock(&g->lock);
    if (!g->several) {
        read_settings();
        if (!g->settings.devices[0])
            result = ndev > 0 && !list ? gv_compat_fail(function, "no list of devices")
                                       : gv_compat_name_devices(function, ndev, list, g->settings.devices,
                                                                sizeof g->settings.devices);
        if (result == 0)
            result = open_devices(function);
    }
    pthread_mutex_unlock(&g->lock);
    return result;
}

int gv_g6_close(void)
{
    pthread_mutex_lock(&g->lock);
    gravel_several_release(g->several);
    g->several = NULL;
    g->stage = GV_G6_IDLE;
    gv_refused_forget(&g->refused);
    free(g->radius);
    free(g->nearest);
    free(g->nearest_address);
    free(g->count);
    free(g->list);
    free(g->eps);
    gv_g6_forget_sinks();
    g->radius = g->nearest = g->eps = NULL;
    g->nearest_address = g->count = NULL;
    g->list = NULL;
    g->radius_room = g->nearest_room = g->address_room = g->count_room = g->list_room = g->eps_room = 0;
    pthread_mutex_unlock(&g->lock);
    return 0;
}

int gv_g6_pipes(void)
{
    pthread_mutex_lock(&g->lock);
    if (!g->is_set)
        read_settings();
    const int pipes = g->settings.pipes;
    pthread_mutex_unlock(&g->lock);
    return pipes;
}

int gv_g6_nj_max(const char *function)
{
    if (gv_g6_enter(function))
        return -1;
    const size_t most = gravel_several_get_capacity(g->several);
    gv_g6_leave();
    return most < INT_MAX ? (int)most : INT_MAX;
}

int gv_g6_reset(void)
{
    pthread_mutex_lock(&g->lock);
    g->stage = GV_G6_IDLE;
    g->lists_are_read = 0;
    pthread_mutex_unlock(&g->lock);
    return 0;
}

/* --------------------------------------------------------------- sources */

/* The vector times a factor, into `of`; zero vectors, as most callers give for k18, cost nothing on the device when
 * they are not given. */
static gravel_vec scaled(const double *from, double factor, double *of)
{
    if (!from || (from[0] == 0 && from[1] == 0 && from[2] == 0))
        return (gravel_vec){NULL, NULL, NULL, 0};
    for (int c = 0; c < 3; c++)
        of[c] = factor * from[c];
    return (gravel_vec){of, of + 1, of + 2, 1};
}

int gv_g6_set_source(const char *function, const gv_g6_source *source)
{
    static const double origin[3];
    const double *const x = source->x ? source->x : origin;
    double block[4][3];
    gravel_sources one = {.count = 1, .mass = &source->mass, .pos = {x, x + 1, x + 2, 1}, .time = &source->time};
    const int32_t id = source->index;
    const uint32_t address = (uint32_t)source->address;

    if (source->address < 0)
        return gv_compat_fail(function, "address %d", source->address);
    if (gv_g6_enter(function))
        return -1;
    one.id = &id;
    one.vel = scaled(source->v, 1, block[0]);
    one.acc = scaled(source->a2, 2, block[1]);
    one.jerk = scaled(source->j6, 6, block[2]);
    one.snap = scaled(g->settings.k18 == GV_COMPAT_YES ? source->k18 : NULL, 18, block[3]);
    const gravel_status status = gravel_several_scatter_sources(g->several, &address, &one);
    gv_refused_note(&g->refused, address, status == GRAVEL_ERR_INPUT);
    if (status == GRAVEL_OK && source->address >= g->sources)
        g->sources = source->address + 1;
    const int result = gv_compat_failed(function, status);
    gv_g6_leave();
    return result;
}

int gv_g6_set_time(const char *function, double time)
{
    if (gv_g6_enter(function))
        return -1;
    const int result = gv_compat_failed(function, gravel_several_set_time(g->several, time));
    gv_g6_leave();
    return result;
}

static gravel_vec_out one_vector(double *to)
{
    return to ? (gravel_vec_out){to, to + 1, to + 2, 1} : (gravel_vec_out){NULL, NULL, NULL, 0};
}

int gv_g6_get_source(int address, double *pos, double *vel, double *acc, double *jrk, double *ppos, double *pvel,
                     double *mass, double *eps2, int *id)
{
    static const char function[] = "get_j_part_data";
    int32_t index = 0;
    const gravel_sources_out raw = {.mass = mass,
                                    .id = &index,
                                    .pos = one_vector(pos),
                                    .vel = one_vector(vel),
                                    .acc = one_vector(acc),
                                    .jerk = one_vector(jrk)};
    const gravel_sources_out predicted = {.pos = one_vector(ppos), .vel = one_vector(pvel)};

    if (address < 0)
        return gv_compat_fail(function, "address %d", address);
    if (gv_g6_enter(function))
        return -1;
    gravel_status status = gravel_several_read_sources(g->several, (size_t)address, 1, &raw);
    if (status == GRAVEL_OK && g->stage == GV_G6_ASKED)
        status = gravel_several_read_predicted(g->several, (size_t)address, 1, &predicted);
    else if (status == GRAVEL_OK) /* no firsthalf has seen it yet */
        status = gravel_several_read_sources(g->several, (size_t)address, 1, &predicted);
    if (id)
        *id = index;
    if (eps2)
        *eps2 = 0;
    const int result = gv_compat_failed(function, status);
    gv_g6_leave();
    return result;
}

int gv_g6_get_predicted(const char *function, int nj, double (*x)[3], double (*v)[3])
{
    gravel_sources_out to = {.pos = one_vector(x ? x[0] : NULL), .vel = one_vector(v ? v[0] : NULL)};

    to.pos.stride = to.vel.stride = 3;
    if (nj < 0)
        return gv_compat_fail(function, "nj is %d", nj);
    if (gv_g6_enter(function))
        return -1;
    const int result = gv_compat_failed(function, gravel_several_read_predicted(g->several, 0, (size_t)nj, &to));
    gv_g6_leave();
    return result;
}
