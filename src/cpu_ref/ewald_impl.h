/* The sums of ewald.c for one type of real: REAL, F(function of math.h), NAME(x) and REACH are set by the includer,
 * which includes this once per type.
 *
 * REACH: what is below erfc(REACH) and exp(-REACH^2) counts as nothing.
 */

/* Waves of one body: cos and sin of 2 pi n x / L for n = 0 ... most, x y z one after the other. */
static void NAME(waves)(const gv_ref_particles *p, size_t k, double side, int most, REAL *c, REAL *s)
{
    const double *const axis[3] = {p->x, p->y, p->z};
    for (int a = 0; a < 3; a++)
        for (int n = 0; n <= most; n++) {
            /* the product is rounded to what the type holds: of 64 bits for a position of 53 nothing is lost */
            const REAL turns = (REAL)n * ((REAL)axis[a][k] / (REAL)side);
            const REAL phase = 2 * (REAL)PI * (turns - F(rint)(turns));
            c[a * (most + 1) + n] = F(cos)(phase);
            s[a * (most + 1) + n] = F(sin)(phase);
        }
}

typedef struct NAME(sum) {
    const ewald_job *job;
    int most;      /* largest |h| of an axis */
    size_t rows;   /* (hx, hy) with hx >= 0, both from -most on */
    REAL *c, *s;   /* waves of sources, a body after the other; NULL in the sums over sinks */
    REAL *re, *im; /* structure factors, 2 most + 1 a row */
    REAL *weight;  /* of each: 0 beyond the reach and in the other half of the vectors */
} NAME(sum);

/* exp(-i k x) of a row (hx, hy), hy may be below 0 */
static inline void NAME(row_wave)(const REAL *c, const REAL *s, int most, int hx, int hy, REAL *re, REAL *im)
{
    const int up = hy < 0 ? -hy : hy;
    const REAL cy = c[most + 1 + up], sy = hy < 0 ? -s[most + 1 + up] : s[most + 1 + up];
    *re = c[hx] * cy - s[hx] * sy;
    *im = s[hx] * cy + c[hx] * sy;
}

/* One vector of each pair +h, -h, weighted twice. */
static int NAME(is_first)(int hx, int hy, int hz)
{
    return hx > 0 || (hx == 0 && (hy > 0 || (hy == 0 && hz > 0)));
}

/* S(h) = sum m exp(2 pi i h x / L) of rows begin ... end - 1 */
static void NAME(structure)(void *arg, size_t begin, size_t end)
{
    NAME(sum) *sum = arg;
    const gv_ref_particles *p = sum->job->sources;
    const int most = sum->most, side = 2 * most + 1;
    for (size_t row = begin; row < end; row++) {
        const int hx = (int)(row / (size_t)side), hy = (int)(row % (size_t)side) - most;
        REAL *re = sum->re + row * (size_t)side + most, *im = sum->im + row * (size_t)side + most;
        const REAL *weight = sum->weight + row * (size_t)side + most;
        int top = most;
        while (top > 0 && weight[top] == 0)
            top--;
        for (size_t j = 0; j < p->n && (weight[top] != 0); j++) {
            const REAL *c = sum->c + j * 3 * (size_t)(most + 1), *s = sum->s + j * 3 * (size_t)(most + 1);
            REAL wr, wi;
            NAME(row_wave)(c, s, most, hx, hy, &wr, &wi);
            wr *= p->m[j];
            wi *= p->m[j];
            c += 2 * (most + 1);
            s += 2 * (most + 1);
            for (int hz = 0; hz <= top; hz++) {
                const REAL rc = wr * c[hz], is = wi * s[hz], rs = wr * s[hz], ic = wi * c[hz];
                re[hz] += rc - is;
                im[hz] += rs + ic;
                if (hz > 0) {
                    re[-hz] += rc + is;
                    im[-hz] += ic - rs;
                }
            }
        }
    }
}

typedef struct NAME(result) {
    REAL a[3], psi;
} NAME(result);

/* Sum over waves at one sink: psi, and the gradient that is its acceleration. */
static void NAME(add_waves)(const NAME(sum) * sum, const REAL *c, const REAL *s, NAME(result) * f)
{
    const int most = sum->most, side = 2 * most + 1;
    const REAL per = 2 * (REAL)PI / (REAL)sum->job->box->side;
    REAL psi = 0, a[3] = {0, 0, 0};
    for (size_t row = 0; row < sum->rows; row++) {
        const int hx = (int)(row / (size_t)side), hy = (int)(row % (size_t)side) - most;
        const REAL *re = sum->re + row * (size_t)side + most, *im = sum->im + row * (size_t)side + most;
        const REAL *weight = sum->weight + row * (size_t)side + most;
        REAL wr, wi, line = 0, line_z = 0, line_psi = 0; /* short sums: less rounding */
        NAME(row_wave)(c, s, most, hx, hy, &wr, &wi);
        for (int hz = -most; hz <= most; hz++) {
            if (weight[hz] == 0)
                continue;
            const int up = hz < 0 ? -hz : hz;
            const REAL cz = c[2 * (most + 1) + up], sz = hz < 0 ? -s[2 * (most + 1) + up] : s[2 * (most + 1) + up];
            const REAL er = wr * cz - wi * sz, ei = wr * sz + wi * cz;
            /* S conj(e): cos and sin of h.(x_j - x_i), summed over sources */
            const REAL cosine = weight[hz] * (re[hz] * er + im[hz] * ei);
            const REAL sine = weight[hz] * (im[hz] * er - re[hz] * ei);
            line_psi += cosine;
            line += sine;
            line_z += hz * sine;
        }
        psi += line_psi;
        a[2] += line_z;
        a[0] += hx * line;
        a[1] += hy * line;
    }
    f->psi += psi;
    /* pot = -m psi(x_j - x_i), and the gradient of cos k.(x_j - x_i) at x_i is +k sin */
    for (int k = 0; k < 3; k++)
        f->a[k] += per * a[k];
}

/* erfc(alpha r) / r and, as `pull`, minus its derivative over r */
static void NAME(near_image)(REAL r2, REAL alpha, REAL *g0, REAL *pull)
{
    const REAL r = F(sqrt)(r2), u = alpha * r;
    *g0 = F(erfc)(u) / r;
    *pull = (*g0 + 2 * alpha / F(sqrt)((REAL)PI) * F(exp)(-u * u)) / r2;
}

/* The shape of softening, and minus its derivative over r, as 1 / r without it */
static void NAME(soft_shape)(const gv_ref_box *box, REAL r2, REAL *g0, REAL *pull)
{
    const REAL eps = (REAL)box->eps, h = (REAL)2.8L * eps, r = F(sqrt)(r2);
    if (box->shape == GV_REF_PLUMMER || r >= h) {
        const REAL s2 = box->shape == GV_REF_PLUMMER ? r2 + eps * eps : r2;
        *g0 = 1 / F(sqrt)(s2);
        *pull = *g0 / s2;
        return;
    }
    const REAL u = r / h, u2 = u * u;
    if (u < (REAL)0.5L) {
        *g0 = ((REAL)14 / 5 - u2 * ((REAL)16 / 3 - u2 * ((REAL)48 / 5 - (REAL)32 / 5 * u))) / h;
        *pull = ((REAL)32 / 3 - u2 * ((REAL)192 / 5 - 32 * u)) / (h * h * h);
        return;
    }
    *g0 = ((REAL)16 / 5 - 1 / (15 * u) - u2 * ((REAL)32 / 3 - u * (16 - u * ((REAL)48 / 5 - (REAL)32 / 15 * u)))) / h;
    *pull = ((REAL)64 / 3 - 48 * u + (REAL)192 / 5 * u2 - (REAL)32 / 3 * u2 * u - 1 / (15 * u2 * u)) / (h * h * h);
}

/* The image n = 0: what is softened, less the part that the waves give already.  erf(u) / r is a series where the
 * difference of the two would lose digits of the part that stays. */
static void NAME(nearest)(const gv_ref_box *box, REAL r2, REAL alpha, int itself, REAL *g0, REAL *pull)
{
    const REAL slope = 2 * alpha / F(sqrt)((REAL)PI), u2 = alpha * alpha * r2;
    const int alone = itself || (box->eps == 0 && r2 == 0);
    REAL soft0 = 0, soft1 = 0;
    if (!alone && (box->eps == 0 || (box->shape == GV_REF_SPLINE && r2 >= (REAL)7.84L * box->eps * box->eps))) {
        NAME(near_image)(r2, alpha, g0, pull);
        return;
    }
    if (!alone)
        NAME(soft_shape)(box, r2, &soft0, &soft1);
    if (u2 < (REAL)0.5L) {
        /* erf(u) / u = 2 / sqrt(pi) sum (-u^2)^k / k! / (2k + 1) */
        REAL term = 1, wave0 = 1, wave1 = 0;
        for (int k = 1; k < 24; k++) {
            const REAL next = term * -u2 / k;
            wave0 += next / (2 * k + 1);
            wave1 += term * 2 / (2 * k + 1); /* -d/du of u^2k / u, with one k cancelled */
            term = next;
        }
        *g0 = soft0 - slope * wave0;
        *pull = soft1 - slope * alpha * alpha * wave1;
        return;
    }
    NAME(near_image)(r2, alpha, g0, pull);
    const REAL r = F(sqrt)(r2);
    *g0 += soft0 - 1 / r;
    *pull += soft1 - 1 / (r2 * r);
}

/* All images of a source that reach the sink. */
static void NAME(add_images)(const ewald_job *job, const double *at, double m, const double *from, int itself,
                             NAME(result) * f)
{
    const gv_ref_box *box = job->box;
    const REAL side = (REAL)box->side, alpha = (REAL)job->alpha / side, reach = (REAL)REACH / alpha;
    REAL d[3];
    for (int k = 0; k < 3; k++) {
        d[k] = (REAL)from[k] - (REAL)at[k];
        d[k] -= side * F(rint)(d[k] / side);
    }
    const int n = (int)F(ceil)((reach - side / 2) / side) < 0 ? 0 : (int)F(ceil)((reach - side / 2) / side);
    for (int nx = -n; nx <= n; nx++)
        for (int ny = -n; ny <= n; ny++)
            for (int nz = -n; nz <= n; nz++) {
                const REAL x = d[0] + nx * side, y = d[1] + ny * side, z = d[2] + nz * side;
                const REAL r2 = x * x + y * y + z * z;
                const int nearest = nx == 0 && ny == 0 && nz == 0;
                REAL g0, pull;
                if (nearest)
                    NAME(nearest)(box, r2, alpha, itself, &g0, &pull);
                else if (r2 < reach * reach)
                    NAME(near_image)(r2, alpha, &g0, &pull);
                else
                    continue;
                f->psi += m * g0;
                f->a[0] += m * pull * x;
                f->a[1] += m * pull * y;
                f->a[2] += m * pull * z;
            }
}

static void NAME(sinks)(void *arg, size_t begin, size_t end)
{
    const NAME(sum) *sum = arg;
    const ewald_job *job = sum->job;
    const gv_ref_particles *to = job->sinks, *from = job->sources;
    const REAL side = (REAL)job->box->side, alpha = (REAL)job->alpha;
    REAL *waves = malloc(6 * (size_t)(sum->most + 1) * sizeof *waves), total = 0;
    if (!waves)
        return; /* results stay NaN */
    for (size_t j = 0; j < from->n; j++)
        total += from->m[j];
    for (size_t i = begin; i < end; i++) {
        const double at[3] = {to->x[i], to->y[i], to->z[i]};
        NAME(result) f = {{0, 0, 0}, -(REAL)PI / (alpha * alpha * side) * total};
        NAME(waves)(to, i, job->box->side, sum->most, waves, waves + 3 * (sum->most + 1));
        NAME(add_waves)(sum, waves, waves + 3 * (sum->most + 1), &f);
        for (size_t j = 0; j < from->n; j++) {
            const double body[3] = {from->x[j], from->y[j], from->z[j]};
            NAME(add_images)(job, at, from->m[j], body, is_self(to->id, i, from->id, j), &f);
        }
        put(job->out->ax, i, (double)f.a[0]);
        put(job->out->ay, i, (double)f.a[1]);
        put(job->out->az, i, (double)f.a[2]);
        put(job->out->pot, i, (double)-f.psi);
    }
    free(waves);
}

static void NAME(source_waves)(void *arg, size_t begin, size_t end)
{
    const NAME(sum) *sum = arg;
    const size_t each = 3 * (size_t)(sum->most + 1);
    for (size_t j = begin; j < end; j++)
        NAME(waves)(sum->job->sources, j, sum->job->box->side, sum->most, sum->c + j * each, sum->s + j * each);
}

/* exp(-pi^2 h^2 / (alpha L)^2) / (pi L h^2), twice */
static void NAME(weights)(const NAME(sum) * sum)
{
    const int most = sum->most, side = 2 * most + 1;
    const REAL alpha = (REAL)sum->job->alpha, damp = (REAL)PI / alpha, length = (REAL)sum->job->box->side;
    for (int hx = 0; hx <= most; hx++)
        for (int hy = -most; hy <= most; hy++)
            for (int hz = -most; hz <= most; hz++) {
                const REAL h2 = (REAL)(hx * hx + hy * hy + hz * hz), u2 = damp * damp * h2;
                const int in = NAME(is_first)(hx, hy, hz) && u2 <= (REAL)REACH * (REAL)REACH;
                sum->weight[((size_t)hx * (size_t)side + (size_t)(hy + most)) * (size_t)side + (size_t)(hz + most)] =
                    in ? 2 * F(exp)(-u2) / ((REAL)PI * length * h2) : 0;
            }
}

static int NAME(ewald)(const ewald_job *job)
{
    const int most = (int)(REACH * job->alpha / (double)PI) + 1;
    const size_t rows = (size_t)(most + 1) * (size_t)(2 * most + 1), vectors = rows * (size_t)(2 * most + 1);
    const size_t waves = job->sources->n * 3 * (size_t)(most + 1);
    const double n = (double)job->sources->n;
    NAME(sum) sum = {.job = job, .most = most, .rows = rows};
    sum.c = malloc((2 * waves + 1) * sizeof *sum.c);
    sum.re = calloc(3 * vectors, sizeof *sum.re);
    const int fits = sum.c && sum.re;
    if (fits) {
        sum.s = sum.c + waves;
        sum.im = sum.re + vectors;
        sum.weight = sum.im + vectors;
        NAME(weights)(&sum);
        gv_ref_parallel(job->sources->n, n * 100e-9 * most, NAME(source_waves), &sum);
        gv_ref_parallel(rows, n * 2e-9 * (double)vectors, NAME(structure), &sum);
        gv_ref_parallel(job->sinks->n, (double)job->sinks->n * (60e-9 * n + 3e-9 * (double)vectors), NAME(sinks), &sum);
    }
    free(sum.c);
    free(sum.re);
    return fits ? 0 : -1;
}
