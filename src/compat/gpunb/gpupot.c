/* The potential of all bodies, in double where there is a device that has it. */
#include "gravel/gpunb.h"

#include <math.h>

#include "compat/gpunb/gpunb.h"

static gv_gpunb *const g = &gv_gpunb_one;

enum { MOST = 65536 }; /* sinks at once: no kernel runs for too long */

/* Under the lock.  Pairs of floats carry positions and sums, so that their potential is good to some 1e-8. */
static int need_devices(const char *function)
{
    gv_compat_settings settings;

    if (g->accurate)
        return 0;
    gv_gpunb_need_settings();
    settings = g->settings;
    settings.precision = GRAVEL_DP;
    gravel_status status = gv_compat_create(&g->accurate, &settings);
    if (status == GRAVEL_ERR_UNSUPPORTED) {
        gv_compat_log(GV_COMPAT_INFO, "%s: no double precision on this device: pairs of floats", function);
        settings.precision = GRAVEL_DS;
        status = gv_compat_create(&g->accurate, &settings);
    }
    return gv_compat_failed(function, status);
}

static int potential(const char *function, size_t first, size_t ni, size_t n, const double *m, double (*x)[3],
                     double *pot)
{
    const gravel_sources all = {.count = n, .mass = m, .pos = GRAVEL_VEC_AOS(x)};
    gravel_status status = gravel_several_write_sources(g->accurate, 0, &all);

    if (status == GRAVEL_OK)
        status = gravel_several_set_source_count(g->accurate, n);
    for (size_t done = 0; done < ni && status == GRAVEL_OK; done += MOST) {
        gravel_several_call call = GRAVEL_SEVERAL_CALL_INIT;
        const gravel_sinks sinks = {.count = ni - done < MOST ? ni - done : MOST,
                                    .pos = GRAVEL_VEC_AOS(x + first + done)};
        const gravel_forces forces = {.pot = pot + done};
        call.sinks = &sinks;
        call.order = 2;
        status = gravel_several_submit(g->accurate, &call);
        if (status == GRAVEL_OK)
            status = gravel_several_collect(g->accurate, &forces, NULL);
    }
    return gv_compat_failed(function, status);
}

void gpupot_(const int *rank, const int *istart, const int *ni, const int *n, const double *m, double (*x)[3],
             double *pot)
{
    static const char function[] = "gpupot";
    const int first = *istart > 0 ? *istart - 1 : -1;
    int failed = 0;

    (void)rank;
    pthread_mutex_lock(&g->lock);
    if (*n < 0 || *ni < 0 || first < 0 || first > *n || *ni > *n - first || (*ni > 0 && (!m || !x || !pot)))
        failed =
            gv_compat_fail(function, "%d bodies from number %d on, of %d; or an argument is missing", *ni, *istart, *n);
    if (!failed && *ni > 0)
        failed = need_devices(function) || potential(function, (size_t)first, (size_t)*ni, (size_t)*n, m, x, pot);
    const int negative = g->settings.positive == GV_COMPAT_NO;
    for (int k = 0; pot && k < *ni; k++)
        pot[k] = failed ? NAN : negative ? pot[k] : 0 - pot[k];
    pthread_mutex_unlock(&g->lock);
}
