/* Sums of a solver in the caller's units: the vectorised loops beside the expression, bit for bit. */
#include "problem.h"

#include <float.h>

#include "host/bodies/convert.h"

enum { MOST = 37, PLANES = 3 };

static float high[PLANES][MOST], low[PLANES][MOST];
static const double factor[3] = {1.0 / 3, 1.0 / 7, 5};

/* Ordinary numbers, and those at the ends of the range: what overflowed has a low word that is no number. */
static void fill(uint64_t seed)
{
    static const float odd[] = {INFINITY, -INFINITY, NAN, FLT_MAX, -FLT_MAX, FLT_TRUE_MIN, -0.0f, 0};
    for (int p = 0; p < PLANES; p++)
        for (int k = 0; k < MOST; k++) {
            const int is_odd = random_unit(&seed) < 0.3;
            high[p][k] = is_odd ? odd[(k + 3 * p) % 8] : (float)(random_unit(&seed) - 0.5);
            low[p][k] = isfinite(high[p][k]) ? (is_odd ? -0.0f : 1e-8f * high[p][k]) : NAN;
        }
}

static void assert_same(double got, int p, int k, double before)
{
    const double x = (double)high[p][k], sum = isfinite(x) ? x + (double)low[p][k] : x;
    const double want = before + sum * factor[0] * factor[1] * factor[2];
    if (isnan(want) ? !isnan(got) : memcmp(&got, &want, sizeof got) != 0)
        fail_msg("plane %d, sink %d: %.17g for %.17g", p, k, got, want);
}

static void sums_are_the_expression(void **state)
{
    (void)state;
    double rows[3 * MOST + 1], column[3 * MOST];
    for (size_t n = 0; n <= MOST; n++)
        for (size_t first = 0; first < 3 && first + n <= MOST; first++) {
            const float *const h[3] = {high[0] + first, high[1] + first, high[2] + first};
            const float *const l[3] = {low[0] + first, low[1] + first, low[2] + first};
            fill(n + 100 * first);
            rows[3 * n] = 42;
            gv_convert_sum_rows(h, l, n, factor, rows);
            assert_true(rows[3 * n] == 42);
            for (size_t k = 0; k < 3 * n; k++)
                assert_same(rows[k], (int)(k % 3), (int)(first + k / 3), 0);
            for (size_t stride = 1; stride <= 3; stride += 2)
                for (int add = 0; add < 2; add++) {
                    for (size_t k = 0; k < 3 * MOST; k++)
                        column[k] = 0.1 * (double)k;
                    gv_convert_sums(h[1], l[1], n, factor, add, column, stride);
                    for (size_t k = 0; k < n; k++)
                        assert_same(column[k * stride], 1, (int)(first + k), add ? 0.1 * (double)(k * stride) : 0);
                    for (size_t k = 0; stride == 3 && k < 3 * n; k++)
                        assert_true(k % 3 == 0 || column[k] == 0.1 * (double)k);
                }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_are_the_expression)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
