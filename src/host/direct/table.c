/* Tables of shapes: a function of the distance becomes polynomials, one in each of many intervals, for
 * kernels/shape/table.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/options.h"
#include "host/direct/shape.h"
#include "kernels/shape/layout.h"

_Static_assert((int)GRAVEL_TABLE_FACTORS == GV_TABLE_OF_FACTORS && (int)GRAVEL_TABLE_FORCES == GV_TABLE_OF_FORCES,
               "the kernels' GV_TABLE_OF_... are the values of gravel_table_kind");

enum { MOST_LEVEL = 4, MOST_INTERVALS = 1 << 16, MOST_BITS = 10, GAUSS = 8 };

void gravel_table_init(gravel_table *table)
{
    *table = (gravel_table)GRAVEL_TABLE_INIT;
}

/* --------------------------------------------------------------- intervals */

typedef struct making {
    gravel_table from;
    int bits; /* 0: even */
    size_t count;
    double bad; /* argument at which a function is not finite; -1: none so far */
} making;

/* The argument, 0 ... cut, at place t (-1/2 ... 1/2) of interval k.  By octaves (u / cut)^2 = 2^e (1 + ...), so that
 * the kernel finds k and t in the bits of that number. */
static double argument(const making *m, size_t k, double t)
{
    if (m->bits == 0)
        return ((double)k + t + 0.5) / (double)m->count * m->from.cut;
    const size_t in_octave = (size_t)1 << m->bits;
    const double mantissa = 1 + ((double)(k % in_octave) + t + 0.5) / (double)in_octave;
    return sqrt(ldexp(mantissa, (int)(k / in_octave) - GV_TABLE_OCTAVES)) * m->from.cut;
}

static double value(making *m, gravel_table_function function, double u)
{
    const double v = function(u, m->from.user);
    if (!isfinite(v) && m->bad < 0)
        m->bad = u;
    return v;
}

/* ------------------------------------------------------ potential from force */

/* The integral from a to b of what makes the potential: F u of forces; of factors F / u^2 du, which is F d(1/u). */
static double integral(making *m, double a, double b)
{
    static const double node[GAUSS / 2] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                           0.9602898564975363};
    static const double weight[GAUSS / 2] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                             0.1012285362903763};
    const int factors = m->from.kind == GRAVEL_TABLE_FACTORS;
    const double low = factors ? 1 / b : a, high = factors ? 1 / a : b;
    const double middle = (low + high) / 2, half = (high - low) / 2;
    double sum = 0;
    for (int k = 0; k < GAUSS; k++) {
        const double x = middle + (k % 2 ? half : -half) * node[k / 2];
        const double u = factors ? 1 / x : x;
        sum += weight[k / 2] * value(m, m->from.force, u) * (factors ? 1 : u);
    }
    return sum * half;
}

/* P(u), where the integral from `end` (at or beyond u) to the cut is known. */
static double potential(making *m, double u, double end, double beyond)
{
    if (m->from.potential)
        return value(m, m->from.potential, u);
    const double whole = beyond + integral(m, u, end);
    return m->from.kind == GRAVEL_TABLE_FACTORS ? u * whole : whole;
}

/* -------------------------------------------------------------- polynomials */

/* Coefficients of the polynomial through n values at the places t, by Newton's divided differences. */
static void interpolate(int n, const double *t, double *v)
{
    double c[MOST_LEVEL + 1] = {0};
    for (int step = 1; step < n; step++)
        for (int k = n - 1; k >= step; k--)
            v[k] = (v[k] - v[k - 1]) / (t[k] - t[k - step]);
    c[0] = v[n - 1];
    for (int k = n - 2; k >= 0; k--) { /* c = c (x - t_k) + v_k */
        for (int i = n - 1; i > 0; i--)
            c[i] = c[i - 1] - t[k] * c[i];
        c[0] = v[k] - t[k] * c[0];
    }
    memcpy(v, c, (size_t)n * sizeof *v);
}

static void make_records(making *m, double *record, int words)
{
    const int n = m->from.level + 1;
    const int forces = m->from.kind == GRAVEL_TABLE_FORCES;
    const double cut = m->from.cut, force_unit = forces ? cut * cut * cut : 1, potential_unit = forces ? cut : 1;
    double t[MOST_LEVEL + 1], beyond = 0;
    for (int i = 0; i < n; i++) /* where Chebyshev's polynomial is zero: the error is nearly the least possible */
        t[i] = 0.5 * cos(acos(-1.0) * (2 * i + 1) / (2 * n));
    for (size_t k = m->count; k-- > 0;) {
        double *const acc = record + k * (size_t)words, *const pot = acc + n;
        const double begin = argument(m, k, -0.5), end = argument(m, k, 0.5);
        for (int i = 0; i < n; i++) {
            const double u = argument(m, k, t[i]);
            acc[i] = value(m, m->from.force, u) * force_unit;
            pot[i] = potential(m, u, end, beyond) * potential_unit;
        }
        interpolate(n, t, acc);
        interpolate(n, t, pot);
        if (!m->from.potential && k > 0)
            beyond += integral(m, begin, end);
    }
}

/* Into a new buffer: that of the table before is good until this has succeeded. */
static gravel_status send(gravel_direct *d, double *record, size_t numbers, gv_buffer *to)
{
    gv_buffer made = {.mem = NULL};
    const int dp = d->options.precision == GRAVEL_DP;
    float *const as_float = (float *)record; /* narrower: entry k is written after it was read */
    for (size_t k = 0; k < numbers && !dp; k++) {
        const float narrow = (float)record[k];
        memcpy(as_float + k, &narrow, sizeof narrow);
    }
    const size_t bytes = numbers * (dp ? sizeof(double) : sizeof(float));
    gravel_status status = gv_buffer_reserve(&d->worker, &made, bytes, "a table");
    if (status)
        return status;
    const cl_int code =
        clEnqueueWriteBuffer(gv_worker_queue(&d->worker), made.mem, CL_TRUE, 0, bytes, record, 0, NULL, NULL);
    gv_buffer_release(code ? &made : to);
    if (code)
        return gv_fail_cl(code, "sending a table to %s", d->limits.info.name);
    *to = made;
    return GRAVEL_OK;
}

/* ------------------------------------------------------------------ checks */

static gravel_status check(const gravel_table *t)
{
    const int per_octave = t->even ? 0 : t->intervals;
    if (t->kind != GRAVEL_TABLE_FACTORS && t->kind != GRAVEL_TABLE_FORCES)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "there is no table of kind %d", (int)t->kind);
    if (!t->force)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "a table needs a function of the force");
    if (!(t->cut > 0) || isinf(t->cut))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "a table ends at %g; it must end at a positive number", t->cut);
    if (t->kind == GRAVEL_TABLE_FACTORS && (!(t->length > 0) || isinf(t->length)))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the length of a table of factors is %g; it must be positive", t->length);
    if (t->level < 0 || t->level > MOST_LEVEL)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the level of a table is %d; it must be 0 to %d", t->level, MOST_LEVEL);
    if (t->intervals < 0 || t->intervals > MOST_INTERVALS || per_octave > 1 << MOST_BITS ||
        (per_octave & (per_octave - 1)))
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "a table of %d intervals: at most %d of one length, or a power of two up to %d in an octave",
                       t->intervals, MOST_INTERVALS, 1 << MOST_BITS);
    return GRAVEL_OK;
}

/* At least two in an octave: none would be an even table to the kernel. */
static int bits_of(int intervals)
{
    int bits = 1;
    while (1 << bits < intervals)
        bits++;
    return bits;
}

gravel_status gv_direct_make_table(gravel_direct *d, const gravel_table *from, gv_direct_table *to)
{
    making m = {.from = *from, .bad = -1};
    gravel_status status = check(from);
    if (status)
        return status;
    if (from->even)
        m.count = from->intervals ? (size_t)from->intervals : 512;
    else {
        m.bits = bits_of(from->intervals ? from->intervals : d->options.precision == GRAVEL_DP ? 256 : 32);
        m.count = (size_t)GV_TABLE_OCTAVES << m.bits;
    }
    const int words = 4 * GV_TABLE_QUADS(from->level);
    const size_t numbers = m.count * (size_t)words;
    double *record = calloc(numbers, sizeof *record);
    if (!record)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for a table of %zu numbers", numbers);
    make_records(&m, record, words);
    if (m.bad >= 0)
        status = gv_fail(GRAVEL_ERR_INPUT, "a function of the table is not finite at %g", m.bad);
    if (!status)
        status = send(d, record, numbers, &to->records);
    free(record);
    if (status)
        return status;
    to->kind = from->kind;
    to->level = from->level;
    to->bits = m.bits;
    to->count = m.count;
    to->end = from->cut;
    to->length = from->kind == GRAVEL_TABLE_FACTORS ? from->length : 1;
    return GRAVEL_OK;
}

gravel_status gravel_direct_set_table(gravel_direct *d, const gravel_table *table)
{
    gravel_table taken = GRAVEL_TABLE_INIT;
    if (!d || !table)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_set_table: no object or no table");
    gravel_status status = gv_options_take(&taken, sizeof taken, table, "gravel_table");
    return status ? status : gv_direct_make_table(d, &taken, &d->table);
}
