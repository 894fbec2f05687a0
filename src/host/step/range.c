/* Whether planes in ds, which hold derivatives as floats, hold those of these bodies: their sizes follow from the unit
 * of time, which the frame does not choose. */
#include <float.h>
#include <math.h>

#include "host/step/step.h"

/* Largest acceleration and potential, in units of the caller. */
static gravel_status find_largest(gravel_bodies *bodies, double *acc, double *pot)
{
    enum { BLOCK = 1024 };
    double a[BLOCK][3], p[BLOCK];
    gravel_status status = GRAVEL_OK;
    *acc = *pot = 0;
    for (size_t first = 0; first < bodies->count && !status; first += BLOCK) {
        const size_t left = bodies->count - first, n = left < BLOCK ? left : BLOCK;
        status = gravel_bodies_read(bodies, GRAVEL_ACCELERATION, first, n, &GRAVEL_ARRAY_OUT_AOS(a));
        if (!status)
            status = gravel_bodies_read(bodies, GRAVEL_POTENTIAL, first, n, &GRAVEL_ARRAY_OUT(p));
        for (size_t k = 0; k < n && !status; k++) {
            *acc = fmax(*acc, sqrt(a[k][0] * a[k][0] + a[k][1] * a[k][1] + a[k][2] * a[k][2]));
            *pot = fmax(*pot, fabs(p[k]));
        }
    }
    return status;
}

/* A motion with the rate w around the mass M has the potential (w M)^(2/3); the derivatives of its acceleration a are
 * a w, a w^2, ...  The corrector needs those that are summed over pairs, the predictor one more. */
gravel_status gv_hermite_check_range(gravel_hermite *h)
{
    double acc, pot;
    if (h->bodies->precision == GRAVEL_DP || h->options.external || h->options.agree || h->mass == 0)
        return GRAVEL_OK;
    const gravel_status status = find_largest(h->bodies, &acc, &pot);
    if (status || !(acc > 0) || !(pot > 0) || isinf(acc) || isinf(pot))
        return status;
    const int summed = h->options.order / 2 - 1;
    const double rate = pow(pot, 1.5) / h->mass, stored = acc / h->bodies->frame.length;
    const double least = stored * pow(rate, summed), most = stored * pow(rate, summed + 1);
    if (least >= 10 * (double)FLT_MIN && most <= (double)FLT_MAX)
        return GRAVEL_OK;
    return gv_fail(GRAVEL_ERR_INPUT,
                   "these bodies move within a time of about %.2g: in this unit of time derivatives for order %d leave "
                   "the range of ds: choose units in which that time is nearer to 1, or bodies in dp",
                   1 / rate, h->options.order);
}
