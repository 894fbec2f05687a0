/* Taylor prediction of the reference:  p[k](t) = sum over j >= k of d[j] dt^(j-k) / (j-k)!,  dt = t - t0,
 * for k = 0 (position), 1 (velocity), 2 (acceleration); d[j] are full derivatives up to the 5th.
 */
#include "cpu_ref/ref.h"

/* Horner: d[k] + dt (d[k+1] + dt/2 (d[k+2] + dt/3 (...))) */
#define TAYLOR(REAL, name)                                                                                             \
    static void name(size_t n, const double *const d[6][3], const double *t0, double t, double *p[3][3])               \
    {                                                                                                                  \
        for (int k = 0; k < 3; k++) {                                                                                  \
            for (int c = 0; c < 3; c++) {                                                                              \
                for (size_t i = 0; p[k][c] && i < n; i++) {                                                            \
                    REAL dt = (REAL)t - (t0 ? t0[i] : 0.0), sum = 0;                                                   \
                    for (int j = 5; j >= k; j--)                                                                       \
                        sum = sum * dt / (j - k + 1) + (d[j][c] ? d[j][c][i] : 0.0);                                   \
                    p[k][c][i] = (double)sum;                                                                          \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

TAYLOR(double, predict_d)
TAYLOR(long double, predict_ld)

int gv_ref_predict(gv_ref_real real, size_t n, const double *const d[6][3], const double *t0, double t, double *p[3][3])
{
    if (!d || !p || (real != GV_REF_DOUBLE && real != GV_REF_LONG_DOUBLE))
        return -1;
    if (real == GV_REF_DOUBLE)
        predict_d(n, d, t0, t, p);
    else
        predict_ld(n, d, t0, t, p);
    return 0;
}
