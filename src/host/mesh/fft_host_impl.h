/* The passes of fft_host.c for one type of real: REAL, NAME(x) and GV_LINES are set by the includer.  No include guard:
 * it is included once per type. */

/* Lines in work: two places for the numbers of a pass, real and imaginary parts apart. */
typedef struct NAME(lines) {
    REAL *re, *im, *re2, *im2;
} NAME(lines);

typedef struct NAME(job) {
    int n, inverse;
    const REAL *twiddle;
    REAL *cube;
    int failed;
} NAME(job);

/* With w = exp(-2 pi i p / left): y[j] = w^j sum_k x[k] exp(-2 pi i j k / r), r numbers of each of `count` lines.
 * x[k] is `from` apart, y[j] `to`; (c, s)[j] is w^j. */
#define GV_PASS_ARGS                                                                                                   \
    const REAL *restrict xr, const REAL *restrict xi, size_t from, REAL *restrict yr, REAL *restrict yi, size_t to,    \
        size_t count, const REAL *c, const REAL *s

static void NAME(pass2)(GV_PASS_ARGS)
{
    const REAL c1 = c[1], s1 = s[1];
    for (size_t q = 0; q < count; q++) {
        const REAL ar = xr[q], ai = xi[q], br = xr[from + q], bi = xi[from + q];
        const REAL dr = ar - br, di = ai - bi;
        yr[q] = ar + br;
        yi[q] = ai + bi;
        yr[to + q] = dr * c1 - di * s1;
        yi[to + q] = dr * s1 + di * c1;
    }
}

static void NAME(pass4)(GV_PASS_ARGS)
{
    const REAL c1 = c[1], s1 = s[1], c2 = c[2], s2 = s[2], c3 = c[3], s3 = s[3];
    for (size_t q = 0; q < count; q++) {
        const REAL ar = xr[q], ai = xi[q], br = xr[from + q], bi = xi[from + q];
        const REAL cr = xr[2 * from + q], ci = xi[2 * from + q], dr = xr[3 * from + q], di = xi[3 * from + q];
        const REAL er = ar + cr, ei = ai + ci, fr = ar - cr, fi = ai - ci;
        const REAL gr = br + dr, gi = bi + di, hr = bi - di, hi = dr - br; /* -i (b - d) */
        const REAL y1r = fr + hr, y1i = fi + hi, y2r = er - gr, y2i = ei - gi, y3r = fr - hr, y3i = fi - hi;
        yr[q] = er + gr;
        yi[q] = ei + gi;
        yr[to + q] = y1r * c1 - y1i * s1;
        yi[to + q] = y1r * s1 + y1i * c1;
        yr[2 * to + q] = y2r * c2 - y2i * s2;
        yi[2 * to + q] = y2r * s2 + y2i * c2;
        yr[3 * to + q] = y3r * c3 - y3i * s3;
        yi[3 * to + q] = y3r * s3 + y3i * c3;
    }
}

/* Odd radices: of x[k] and x[r - k] the sum meets cosines, the difference sines. */
static inline void NAME(pass_odd)(const int r, GV_PASS_ARGS)
{
    REAL cosine[7], sine[7];
    for (int k = 0; k < r; k++) {
        cosine[k] = (REAL)cos(2 * PI * k / r);
        sine[k] = (REAL)sin(2 * PI * k / r);
    }
    for (size_t q = 0; q < count; q++) {
        REAL pr[4], pi[4], mr[4], mi[4], sum_r = xr[q], sum_i = xi[q];
        for (int k = 1; k <= r / 2; k++) {
            const size_t a = (size_t)k * from + q, b = (size_t)(r - k) * from + q;
            pr[k] = xr[a] + xr[b], pi[k] = xi[a] + xi[b];
            mr[k] = xr[a] - xr[b], mi[k] = xi[a] - xi[b];
            sum_r += pr[k], sum_i += pi[k];
        }
        yr[q] = sum_r;
        yi[q] = sum_i;
        for (int j = 1; j <= r / 2; j++) {
            REAL er = xr[q], ei = xi[q], fr = 0, fi = 0;
            for (int k = 1; k <= r / 2; k++) {
                er += cosine[j * k % r] * pr[k], ei += cosine[j * k % r] * pi[k];
                fr += sine[j * k % r] * mi[k], fi -= sine[j * k % r] * mr[k];
            }
            const REAL ur = er + fr, ui = ei + fi, vr = er - fr, vi = ei - fi;
            const size_t a = (size_t)j * to + q, b = (size_t)(r - j) * to + q;
            yr[a] = ur * c[j] - ui * s[j];
            yi[a] = ur * s[j] + ui * c[j];
            yr[b] = vr * c[r - j] - vi * s[r - j];
            yi[b] = vr * s[r - j] + vi * c[r - j];
        }
    }
}

static void NAME(pass3)(GV_PASS_ARGS)
{
    NAME(pass_odd)(3, xr, xi, from, yr, yi, to, count, c, s);
}

static void NAME(pass5)(GV_PASS_ARGS)
{
    NAME(pass_odd)(5, xr, xi, from, yr, yi, to, count, c, s);
}

static void NAME(pass7)(GV_PASS_ARGS)
{
    NAME(pass_odd)(7, xr, xi, from, yr, yi, to, count, c, s);
}

/* All passes over the lines in re, im; the result is there again.  Stockham: with `left` numbers to go and stride
 * n / left, number p + left / r k of the rest goes to r p + j. */
static void NAME(transform)(const NAME(job) * job, NAME(lines) * l)
{
    static void (*const pass[8])(GV_PASS_ARGS) = {
        [2] = NAME(pass2), [3] = NAME(pass3), [4] = NAME(pass4), [5] = NAME(pass5), [7] = NAME(pass7)};
    const int n = job->n;
    /* the inverse is the forward transform with real and imaginary parts exchanged */
    REAL *xr = job->inverse ? l->im : l->re, *xi = job->inverse ? l->re : l->im, *yr = l->re2, *yi = l->im2;
    for (int left = n, stride = 1; left > 1;) {
        const int r = next_radix(left), rest = left / r;
        const size_t count = (size_t)stride * GV_LINES;
        for (int p = 0; p < rest; p++) {
            REAL c[7], s[7];
            for (int j = 0; j < r; j++) {
                c[j] = job->twiddle[p * j * stride];
                s[j] = job->twiddle[n + p * j * stride];
            }
            pass[r](xr + (size_t)p * count, xi + (size_t)p * count, (size_t)rest * count, yr + (size_t)(r * p) * count,
                    yi + (size_t)(r * p) * count, count, count, c, s);
        }
        REAL *t = xr;
        xr = yr, yr = t;
        t = xi;
        xi = yi, yi = t;
        left = rest;
        stride *= r;
    }
    l->re = job->inverse ? xi : xr;
    l->im = job->inverse ? xr : xi;
    l->re2 = yr;
    l->im2 = yi;
}

static int NAME(take_lines)(int n, NAME(lines) * l)
{
    const size_t each = (size_t)n * GV_LINES;
    l->re = calloc(4 * each, sizeof(REAL)); /* lines that are not used are zeros */
    if (!l->re)
        return 0;
    l->im = l->re + each;
    l->re2 = l->im + each;
    l->im2 = l->re2 + each;
    return 1;
}

/* Complex columns of `count` rows' starts: line b is at + 2 b, its numbers `apart` reals apart. */
static void NAME(columns)(const NAME(job) * job, NAME(lines) * l, REAL *at, size_t apart, size_t count)
{
    for (size_t k = 0; k < (size_t)job->n; k++) {
        const REAL *from = at + k * apart;
        REAL *re = l->re + k * GV_LINES, *im = l->im + k * GV_LINES;
        if (count == GV_LINES)
            for (size_t b = 0; b < GV_LINES; b++)
                re[b] = from[2 * b], im[b] = from[2 * b + 1];
        else
            for (size_t b = 0; b < count; b++)
                re[b] = from[2 * b], im[b] = from[2 * b + 1];
    }
    NAME(transform)(job, l);
    for (size_t k = 0; k < (size_t)job->n; k++) {
        REAL *to = at + k * apart;
        const REAL *re = l->re + k * GV_LINES, *im = l->im + k * GV_LINES;
        if (count == GV_LINES)
            for (size_t b = 0; b < GV_LINES; b++)
                to[2 * b] = re[b], to[2 * b + 1] = im[b];
        else
            for (size_t b = 0; b < count; b++)
                to[2 * b] = re[b], to[2 * b + 1] = im[b];
    }
}

/* Rows of `rows` that are left of a plane, two a line: real numbers to n / 2 + 1 complex ones. */
static void NAME(rows_forward)(const NAME(job) * job, NAME(lines) * l, REAL *at, size_t rows)
{
    const size_t n = (size_t)job->n, row = gv_fft_row(job->n);
    for (size_t b = 0; b < rows; b++) {
        REAL *to = (b & 1 ? l->im : l->re) + b / 2;
        for (size_t k = 0; k < n; k++)
            to[k * GV_LINES] = at[b * row + k];
    }
    if (rows & 1)
        for (size_t k = 0; k < n; k++)
            l->im[k * GV_LINES + rows / 2] = 0;
    NAME(transform)(job, l);
    for (size_t b = 0; b < rows; b += 2)
        for (size_t k = 0; k <= n / 2; k++) {
            const size_t other = (k ? n - k : 0) * GV_LINES + b / 2, here = k * GV_LINES + b / 2;
            const REAL zr = l->re[here], zi = l->im[here], wr = l->re[other], wi = l->im[other];
            at[b * row + 2 * k] = (REAL)0.5 * (zr + wr);
            at[b * row + 2 * k + 1] = (REAL)0.5 * (zi - wi);
            if (b + 1 < rows) {
                at[(b + 1) * row + 2 * k] = (REAL)0.5 * (zi + wi);
                at[(b + 1) * row + 2 * k + 1] = (REAL)0.5 * (wr - zr);
            }
        }
}

static void NAME(rows_inverse)(const NAME(job) * job, NAME(lines) * l, REAL *at, size_t rows)
{
    const size_t n = (size_t)job->n, row = gv_fft_row(job->n);
    for (size_t b = 0; b < rows; b += 2)
        for (size_t k = 0; k <= n / 2; k++) {
            const size_t here = k * GV_LINES + b / 2, other = (k ? n - k : 0) * GV_LINES + b / 2;
            const int alone = k == 0 || 2 * k == n; /* real numbers */
            const REAL ar = at[b * row + 2 * k], ai = alone ? 0 : at[b * row + 2 * k + 1];
            const REAL br = b + 1 < rows ? at[(b + 1) * row + 2 * k] : 0;
            const REAL bi = b + 1 < rows && !alone ? at[(b + 1) * row + 2 * k + 1] : 0;
            l->re[other] = ar + bi;
            l->im[other] = br - ai;
            l->re[here] = ar - bi;
            l->im[here] = ai + br;
        }
    NAME(transform)(job, l);
    for (size_t b = 0; b < rows; b++) {
        const REAL *from = (b & 1 ? l->im : l->re) + b / 2;
        for (size_t k = 0; k < n; k++)
            at[b * row + k] = from[k * GV_LINES];
    }
}

static void NAME(plane_columns)(const NAME(job) * job, NAME(lines) * l, REAL *plane, size_t apart)
{
    const size_t n = (size_t)job->n;
    for (size_t x = 0; x < n / 2 + 1; x += GV_LINES)
        NAME(columns)(job, l, plane + 2 * x, apart, n / 2 + 1 - x < GV_LINES ? n / 2 + 1 - x : GV_LINES);
}

/* x and y of planes first ... first + count - 1 */
static void NAME(planes)(void *user, size_t first, size_t count)
{
    NAME(job) *job = user;
    const size_t n = (size_t)job->n, row = gv_fft_row(job->n);
    NAME(lines) l;
    if (!NAME(take_lines)(job->n, &l)) {
        job->failed = 1;
        return;
    }
    REAL *const start = l.re;
    for (size_t z = first; z < first + count; z++) {
        REAL *plane = job->cube + z * n * row;
        if (job->inverse)
            NAME(plane_columns)(job, &l, plane, row);
        for (size_t y = 0; y < n; y += 2 * GV_LINES) {
            const size_t rows = n - y < 2 * GV_LINES ? n - y : 2 * GV_LINES;
            if (job->inverse)
                NAME(rows_inverse)(job, &l, plane + y * row, rows);
            else
                NAME(rows_forward)(job, &l, plane + y * row, rows);
        }
        if (!job->inverse)
            NAME(plane_columns)(job, &l, plane, row);
    }
    free(start);
}

/* z of all columns with these y */
static void NAME(upright)(void *user, size_t first, size_t count)
{
    NAME(job) *job = user;
    const size_t n = (size_t)job->n, row = gv_fft_row(job->n);
    NAME(lines) l;
    if (!NAME(take_lines)(job->n, &l)) {
        job->failed = 1;
        return;
    }
    REAL *const start = l.re;
    for (size_t y = first; y < first + count; y++)
        NAME(plane_columns)(job, &l, job->cube + y * row, n * row);
    free(start);
}

static int NAME(cube)(gv_pool *pool, int n, const REAL *twiddle, REAL *cube, int inverse)
{
    NAME(job) job = {n, inverse, twiddle, cube, 0};
    const size_t grain = n < 128 ? (size_t)(n + 3) / 4 : 8;
    if (inverse)
        gv_parallel(pool, (size_t)n, grain, NAME(upright), &job);
    gv_parallel(pool, (size_t)n, grain, NAME(planes), &job);
    if (!inverse)
        gv_parallel(pool, (size_t)n, grain, NAME(upright), &job);
    return !job.failed;
}
#undef GV_PASS_ARGS
