/* Shared by the tests of the 6th-order libraries: sources in the order that an interface gets them, predicted by the
 * reference, and forces with a softening per body. */
#ifndef GV_ORDER6_TEST_H
#define GV_ORDER6_TEST_H

#include "captured.h"
#include "growth.h"

#include <limits.h>

/* What the libraries compute in: double where all devices have it. */
static inline gravel_precision precision_here(void)
{
    gravel_device_info *list;
    int count, fp64 = 1;
    assert_ok(gravel_device_list(&list, &count));
    for (int k = 0; k < count; k++)
        fp64 &= list[k].has_fp64;
    gravel_device_list_free(list);
    return fp64 ? GRAVEL_DP : GRAVEL_DS;
}

static inline void row(const bodies *b, int k, size_t i, double out[3])
{
    for (int c = 0; c < 3; c++)
        out[c] = b->d[k][c][i];
}

/* All sources at one time, by all derivatives. */
static inline bodies predicted(const bodies *b, double time)
{
    bodies out = bodies_empty(b->n);
    const double *d[6][3];
    double *p[3][3];
    for (int k = 0; k < 6; k++)
        for (int c = 0; c < 3; c++) {
            d[k][c] = b->d[k][c];
            if (k < 3)
                p[k][c] = out.d[k][c];
        }
    assert_int_equal(gv_ref_predict(GV_REF_LONG_DOUBLE, b->n, d, b->t, time, p), 0);
    memcpy(out.m, b->m, b->n * sizeof *b->m);
    memcpy(out.id, b->id, b->n * sizeof *b->id);
    return out;
}

/* Softening lengths of sinks or of sources; nearest neighbours are those of the unsoftened distance. */
static inline results reference_softened(const gv_ref_particles *sinks, const gv_ref_particles *sources,
                                         gv_ref_soften soften, const double *eps)
{
    results r = results_new(sinks->n, 0);
    const gv_ref_forces out = reference_into(&r);
    assert_int_equal(gv_ref_direct_softened(GV_REF_LONG_DOUBLE, 6, sinks, sources, soften,
                                            soften == GV_REF_SOFTEN_SINKS ? eps : NULL,
                                            soften == GV_REF_SOFTEN_SOURCES ? eps : NULL, &out),
                     0);
    return r;
}

/* This program again, with an argument and an environment ("A=1 B=2"); returns its exit status.  The search for leaks
 * at its end crashes at times, on PoCL's threads, and the cases here search, too. */
static inline int run_again(const char *environment, const char *argument)
{
    char self[512], command[1024];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    snprintf(command, sizeof command, "ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0 %s '%s' %s", environment, self,
             argument);
    const int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
