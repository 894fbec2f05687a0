#include "sim/cosmo_power.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/* ---------------------------------------------------- Eisenstein and Hu 1998 */

enum { K_EQ, SOUND, SILK, ALPHA_C, BETA_C, ALPHA_B, BETA_B, BETA_NODE, F_B, SOUND_FIT, ALPHA_GAMMA, THETA2 };

/* Their equations 2 to 24, 26 and 31; k in 1/Mpc. */
static void prepare(gv_power *p)
{
    const gv_cosmology *c = &p->cosmology;
    double *f = p->fit;
    const double om = c->omega_m * c->h * c->h, ob = fmax(c->omega_b, 1e-8 * c->omega_m) * c->h * c->h, fb = ob / om;
    const double theta = 2.7255 / 2.7, t2 = theta * theta;
    const double z_eq = 2.5e4 * om / (t2 * t2), k_eq = 0.0746 * om / t2;
    const double b1 = 0.313 * pow(om, -0.419) * (1 + 0.607 * pow(om, 0.674)), b2 = 0.238 * pow(om, 0.223);
    const double z_d = 1291 * pow(om, 0.251) / (1 + 0.659 * pow(om, 0.828)) * (1 + b1 * pow(ob, b2));
    const double r_d = 31.5 * ob / (t2 * t2) * 1e3 / z_d, r_eq = 31.5 * ob / (t2 * t2) * 1e3 / z_eq;
    const double sound = 2 / (3 * k_eq) * sqrt(6 / r_eq) * log((sqrt(1 + r_d) + sqrt(r_d + r_eq)) / (1 + sqrt(r_eq)));
    const double a1 = pow(46.9 * om, 0.670) * (1 + pow(32.1 * om, -0.532));
    const double a2 = pow(12.0 * om, 0.424) * (1 + pow(45.0 * om, -0.582));
    const double bc1 = 0.944 / (1 + pow(458 * om, -0.708)), bc2 = pow(0.395 * om, -0.0266);
    const double y = (1 + z_eq) / (1 + z_d), root = sqrt(1 + y);
    const double g = y * (-6 * root + (2 + 3 * y) * log((root + 1) / (root - 1)));
    f[K_EQ] = k_eq;
    f[SOUND] = sound;
    f[SILK] = 1.6 * pow(ob, 0.52) * pow(om, 0.73) * (1 + pow(10.4 * om, -0.95));
    f[ALPHA_C] = pow(a1, -fb) * pow(a2, -fb * fb * fb);
    f[BETA_C] = 1 / (1 + bc1 * (pow(1 - fb, bc2) - 1));
    f[ALPHA_B] = 2.07 * k_eq * sound * pow(1 + r_d, -0.75) * g;
    f[BETA_B] = 0.5 + fb + (3 - 2 * fb) * sqrt(17.2 * om * 17.2 * om + 1);
    f[BETA_NODE] = 8.41 * pow(om, 0.435);
    f[F_B] = fb;
    f[SOUND_FIT] = 44.5 * log(9.83 / om) / sqrt(1 + 10 * pow(ob, 0.75));
    f[ALPHA_GAMMA] = 1 - 0.328 * log(431 * om) * fb + 0.38 * log(22.3 * om) * fb * fb;
    f[THETA2] = t2;
}

/* equations 19 and 20 */
static double part(double q, double alpha, double beta)
{
    const double l = log(exp(1) + 1.8 * beta * q), c = 14.2 / alpha + 386 / (1 + 69.9 * pow(q, 1.08));
    return l / (l + c * q * q);
}

static double with_wiggles(const double *f, double k)
{
    const double q = k / (13.41 * f[K_EQ]), ks = k * f[SOUND], mix = 1 / (1 + pow(ks / 5.4, 4));
    const double cold = mix * part(q, 1, f[BETA_C]) + (1 - mix) * part(q, f[ALPHA_C], f[BETA_C]);
    const double phase = ks / cbrt(1 + pow(f[BETA_NODE] / ks, 3));
    const double baryons = (part(q, 1, 1) / (1 + ks / 5.2 * (ks / 5.2)) +
                            f[ALPHA_B] / (1 + pow(f[BETA_B] / ks, 3)) * exp(-pow(k / f[SILK], 1.4))) *
                           (phase > 1e-4 ? sin(phase) / phase : 1);
    return f[F_B] * baryons + (1 - f[F_B]) * cold;
}

/* equations 28 to 31 */
static double without_wiggles(const gv_power *p, double k)
{
    const double *f = p->fit, gamma = p->cosmology.omega_m * p->cosmology.h *
                                      (f[ALPHA_GAMMA] + (1 - f[ALPHA_GAMMA]) / (1 + pow(0.43 * k * f[SOUND_FIT], 4)));
    const double q = k / p->cosmology.h * f[THETA2] / gamma;
    const double l = log(2 * exp(1) + 1.8 * q), c = 14.2 + 731 / (1 + 62.5 * q);
    return l / (l + c * q * q);
}

/* -------------------------------------------------------------------- table */

static gravel_status fail_line(const char *path, size_t line, const char *what)
{
    return gv_fail(GRAVEL_ERR_INPUT, "%s, line %zu: %s", path, line, what);
}

/* k and P of one line; 0 where it holds nothing, -1 where it holds something else */
static int split_line(const char *text, double *k, double *value)
{
    char *end, *behind;
    text += strspn(text, " \t\r\n");
    if (*text == '#' || *text == '\0')
        return 0;
    *k = strtod(text, &end);
    *value = strtod(end, &behind);
    return end != text && behind != end && *k > 0 && *value > 0 && isfinite(*k) && isfinite(*value) ? 1 : -1;
}

static gravel_status read_lines(gv_power *p, const char *path, FILE *stream)
{
    char text[1024];
    size_t room = 0;
    for (size_t line = 1; fgets(text, sizeof text, stream); line++) {
        double k = 0, value = 0;
        const int found = split_line(text, &k, &value);
        if (found < 0)
            return fail_line(path, line, "not two numbers above 0: k in h/Mpc and P(k) in (Mpc/h)^3");
        if (found == 0)
            continue;
        if (p->rows == room) {
            room = room ? 2 * room : 256;
            double *ln_k = realloc(p->ln_k, room * sizeof *ln_k);
            p->ln_k = ln_k ? ln_k : p->ln_k;
            double *ln_p = realloc(p->ln_p, room * sizeof *ln_p);
            p->ln_p = ln_p ? ln_p : p->ln_p;
            if (!ln_k || !ln_p)
                return gv_fail(GRAVEL_ERR_MEMORY, "no memory for %s", path);
        }
        p->ln_k[p->rows] = log(k);
        p->ln_p[p->rows] = log(value);
        if (p->rows > 0 && !(p->ln_k[p->rows] > p->ln_k[p->rows - 1]))
            return fail_line(path, line, "k does not rise from line to line");
        p->rows++;
    }
    if (p->rows < 4)
        return gv_fail(GRAVEL_ERR_INPUT, "%s: %zu lines of k and P(k); 4 or more are needed", path, p->rows);
    return GRAVEL_OK;
}

/* Natural cubic spline of ln P over ln k. */
static gravel_status bend(gv_power *p)
{
    const size_t n = p->rows;
    const double *x = p->ln_k, *y = p->ln_p;
    double *u = calloc(n, sizeof *u);
    p->bend = calloc(n, sizeof *p->bend);
    if (!u || !p->bend) {
        free(u);
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a spectrum");
    }
    for (size_t i = 1; i + 1 < n; i++) {
        const double part = (x[i] - x[i - 1]) / (x[i + 1] - x[i - 1]), down = part * p->bend[i - 1] + 2;
        const double turn = (y[i + 1] - y[i]) / (x[i + 1] - x[i]) - (y[i] - y[i - 1]) / (x[i] - x[i - 1]);
        p->bend[i] = (part - 1) / down;
        u[i] = (6 * turn / (x[i + 1] - x[i - 1]) - part * u[i - 1]) / down;
    }
    p->bend[n - 1] = 0;
    for (size_t i = n - 1; i-- > 0;)
        p->bend[i] = p->bend[i] * p->bend[i + 1] + u[i];
    free(u);
    return GRAVEL_OK;
}

static double look_up(const gv_power *p, double at)
{
    const size_t n = p->rows;
    const double *x = p->ln_k, *y = p->ln_p;
    if (at <= x[0])
        return y[0] + (at - x[0]) * (y[1] - y[0]) / (x[1] - x[0]);
    if (at >= x[n - 1])
        return y[n - 1] + (at - x[n - 1]) * (y[n - 1] - y[n - 2]) / (x[n - 1] - x[n - 2]);
    size_t low = 0, high = n - 1;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (x[middle] > at)
            high = middle;
        else
            low = middle;
    }
    const double h = x[high] - x[low], a = (x[high] - at) / h, b = 1 - a;
    return a * y[low] + b * y[high] + ((a * a * a - a) * p->bend[low] + (b * b * b - b) * p->bend[high]) * h * h / 6;
}

/* ------------------------------------------------------------------ spectrum */

static double shape(const gv_power *p, double k)
{
    if (p->rows)
        return exp(look_up(p, log(k)));
    const double mpc = k * p->cosmology.h;
    const double t = p->cosmology.transfer == GV_TRANSFER_EH ? with_wiggles(p->fit, mpc) : without_wiggles(p, mpc);
    return t * t * pow(k, p->cosmology.n_s);
}

double gv_power_at(const gv_power *p, double k)
{
    return k > 0 ? p->norm * shape(p, k) : 0;
}

/* sigma^2 and d sigma^2 / d ln R: sums over ln k, ten thousandths of the window's wave where it falls off */
static double variance(const gv_power *p, double radius, double *slope)
{
    enum { STEPS = 6000 };
    const double low = log(1e-5), high = log(fmax(1e2, 1e2 / radius)), d = (high - low) / STEPS;
    double sum = 0, change = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double k = exp(low + i * d), x = k * radius;
        const double w = x < 0.02 ? 1 - x * x / 10 : 3 * (sin(x) - x * cos(x)) / (x * x * x);
        const double dw = x < 0.02 ? -x * x / 5 : 3 * sin(x) / x - 3 * w; /* d w / d ln x */
        const double term = k * k * k * p->norm * shape(p, k) / (2 * PI * PI) * d;
        sum += term * w * w;
        change += 2 * term * w * dw;
    }
    if (slope)
        *slope = change;
    return sum;
}

double gv_power_sigma(const gv_power *p, double radius)
{
    return sqrt(variance(p, radius, NULL));
}

double gv_power_sigma_slope(const gv_power *p, double radius)
{
    double change;
    const double all = variance(p, radius, &change);
    return change / all;
}

gravel_status gv_power_create(gv_power *p, const gv_cosmology *cosmology, const char *table)
{
    memset(p, 0, sizeof *p);
    p->cosmology = *cosmology;
    p->norm = 1;
    gravel_status status = gv_cosmo_check(cosmology, 1);
    if (!status && table) {
        FILE *stream = fopen(table, "r");
        if (!stream)
            return gv_fail(GRAVEL_ERR_FILE, "cannot read %s: %s", table, strerror(errno));
        p->cosmology.transfer = GV_TRANSFER_TABLE;
        status = read_lines(p, table, stream);
        fclose(stream);
        if (!status)
            status = bend(p);
    } else if (!status && cosmology->transfer == GV_TRANSFER_TABLE) {
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "the spectrum came from a table, which is not known: give --table");
    } else if (!status) {
        prepare(p);
        if (!(fabs(cosmology->n_s) < 5) || !(cosmology->sigma_8 > 0) || !isfinite(cosmology->sigma_8))
            status = gv_fail(GRAVEL_ERR_ARGUMENT, "n_s is %g and sigma_8 %g: no spectrum follows", cosmology->n_s,
                             cosmology->sigma_8);
    }
    if (status) {
        gv_power_free(p);
        return status;
    }
    const double found = gv_power_sigma(p, 8);
    if (cosmology->sigma_8 > 0)
        p->norm = cosmology->sigma_8 * cosmology->sigma_8 / (found * found);
    else
        p->cosmology.sigma_8 = found;
    if (p->norm > 0 && isfinite(p->norm) && found > 0 && isfinite(found))
        return GRAVEL_OK;
    gv_power_free(p);
    return gv_fail(GRAVEL_ERR_ARGUMENT, "no spectrum of sigma_8 = %g follows from Omega_m = %g, h = %g and n_s = %g",
                   cosmology->sigma_8, cosmology->omega_m, cosmology->h, cosmology->n_s);
}

void gv_power_free(gv_power *p)
{
    free(p->ln_k);
    free(p->ln_p);
    free(p->bend);
    memset(p, 0, sizeof *p);
}
