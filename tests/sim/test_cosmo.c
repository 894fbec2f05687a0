/* src/sim/cosmo, cosmo_power, cosmo_ic: growth, factors of steps, spectra, waves and displacements. */
#include "host_test.h"

#include <math.h>

#include "sim/cosmo_ic.h"

#define PI 3.14159265358979323846

static const gv_cosmology flat = GV_COSMOLOGY_INIT, eds = {0.7, 1, 0, 0.05, 1, 0.8, 0},
                          open_ = {0.7, 0.3, 0.2, 0.05, 1, 0.8, 0};

/* ------------------------------------------------------------------ background */

/* D'' + (2 + d ln E / d ln a) D' = 3/2 Omega_m(a) D, ' = d / d ln a; classical Runge and Kutta. */
static void slope(const gv_cosmology *c, double ln_a, const double y[2], double dy[2])
{
    const double a = exp(ln_a), h = 1e-4;
    const double e =
        log(gv_cosmo_expansion(c, a * (1 + h)) / gv_cosmo_expansion(c, a * (1 - h))) / log((1 + h) / (1 - h));
    dy[0] = y[1];
    dy[1] = 1.5 * gv_cosmo_matter(c, a) * y[0] - (2 + e) * y[1];
}

/* D and D' today, from D = a at a_first */
static void grow(const gv_cosmology *c, double a_first, double y[2])
{
    enum { STEPS = 2000 };
    const double h = -log(a_first) / STEPS;
    y[0] = y[1] = a_first;
    for (int i = 0; i < STEPS; i++) {
        const double t = log(a_first) + i * h;
        double k[4][2], at[2];
        slope(c, t, y, k[0]);
        for (int s = 1; s < 4; s++) {
            const double part = s == 3 ? h : 0.5 * h;
            at[0] = y[0] + part * k[s - 1][0];
            at[1] = y[1] + part * k[s - 1][1];
            slope(c, t + part, at, k[s]);
        }
        for (int m = 0; m < 2; m++)
            y[m] += h / 6 * (k[0][m] + 2 * k[1][m] + 2 * k[2][m] + k[3][m]);
    }
}

/* What differs from D = a at the beginning, curvature over matter, is 2e-5 at most there; 1e-4 is asked for. */
static void growth_solves_its_equation(void **state)
{
    (void)state;
    const gv_cosmology *all[] = {&flat, &eds, &open_};
    for (int k = 0; k < 3; k++) {
        double y[2];
        grow(all[k], 1e-5, y);
        const double mine = 1e-5 / gv_cosmo_growth(all[k], 1e-5); /* D today over D(a) a, a = 1e-5 */
        assert_true(fabs(mine / y[0] - 1) < 1e-4);
        assert_true(fabs(gv_cosmo_growth_rate(all[k], 1) / (y[1] / y[0]) - 1) < 1e-4);
    }
}

/* Of Einstein and de Sitter in closed form; quadrature is exact to rounding. */
static void factors_of_steps(void **state)
{
    (void)state;
    const gv_units units = GV_UNITS_GADGET;
    const double a = 0.02, b = 0.5, hubble = gv_cosmo_hubble(&units);
    assert_true(fabs(hubble - 0.1) < 1e-12);
    const double kick = 2 * (sqrt(b) - sqrt(a)) / hubble, drift = 2 * (1 / sqrt(a) - 1 / sqrt(b)) / hubble;
    assert_true(fabs(gv_cosmo_integral(&eds, &units, 1, log(a), log(b)) / kick - 1) < 1e-12);
    assert_true(fabs(gv_cosmo_integral(&eds, &units, 2, log(a), log(b)) / drift - 1) < 1e-12);
    /* 27.7536627 of 1e10 Msun/h in (Mpc/h)^3 of critical density, to the digits of G and the solar mass */
    assert_true(fabs(gv_cosmo_density(&eds, &units) * 1e9 / 27.7536627 - 1) < 2e-4);
}

static void no_universe(void **state)
{
    (void)state;
    gv_cosmology c = flat;
    assert_ok(gv_cosmo_check(&c, 0.01));
    assert_int_equal(gv_cosmo_check(&c, 0), GRAVEL_ERR_ARGUMENT);
    c.omega_m = 0;
    assert_int_equal(gv_cosmo_check(&c, 0.01), GRAVEL_ERR_ARGUMENT);
    c = flat;
    c.omega_b = 0.5;
    assert_int_equal(gv_cosmo_check(&c, 0.01), GRAVEL_ERR_ARGUMENT);
    c = flat;
    c.omega_m = 0.05;
    c.omega_b = 0;
    c.omega_l = 2; /* one that bounced after a = 0.01 */
    assert_int_equal(gv_cosmo_check(&c, 0.01), GRAVEL_ERR_ARGUMENT);
    assert_contains(gravel_error_message(), "there was no scale factor");
    /* and one that bounced before a = 0.9: growth, an integral from 0 on, was no number */
    assert_int_equal(gv_cosmo_check(&c, 0.9), GRAVEL_ERR_ARGUMENT);
    assert_contains(gravel_error_message(), "there was no scale factor");
    /* a closed one: contents are 2 - a, the last scale factor is 2 */
    c.omega_m = 2;
    c.omega_l = 0;
    assert_ok(gv_cosmo_check(&c, 1.99));
    assert_int_equal(gv_cosmo_check(&c, 2), GRAVEL_ERR_ARGUMENT);
    assert_contains(gravel_error_message(), "turns round before the scale factor 2");
    /* 2 - 1.01 a + 0.01 a^3 is below 0 from 2.07 to 8.9 only: not at 9.5, but on the way */
    c.omega_l = 0.01;
    assert_int_equal(gv_cosmo_check(&c, 9.5), GRAVEL_ERR_ARGUMENT);
    /* loitering: at least 0.0048 at a = 0.443 */
    c.omega_m = 0.3;
    c.omega_l = 1.7;
    assert_ok(gv_cosmo_check(&c, 0.02));
}

/* --------------------------------------------------------------------- spectra */

static void spectra(void **state)
{
    (void)state;
    gv_power wiggles, smooth;
    gv_cosmology c = flat;
    assert_ok(gv_power_create(&wiggles, &c, NULL));
    c.transfer = GV_TRANSFER_NO_WIGGLE;
    assert_ok(gv_power_create(&smooth, &c, NULL));
    assert_true(fabs(gv_power_sigma(&wiggles, 8) / c.sigma_8 - 1) < 1e-12);
    const double rise = log(gv_power_at(&wiggles, 2e-5) / gv_power_at(&wiggles, 1e-5)) / log(2);
    assert_true(fabs(rise - c.n_s) < 0.01); /* no transfer yet */
    /* the fits of one paper: acoustic oscillations are 5 %, the rest agrees as well as the fits do */
    double most = 0;
    for (double k = 0.01; k < 10; k *= 1.1)
        most = fmax(most, fabs(gv_power_at(&wiggles, k) / gv_power_at(&smooth, k) - 1));
    assert_true(most > 0.02 && most < 0.08);
    /* d ln sigma^2 / d ln R beside differences */
    const double r = 3, h = 1e-3, by = 2 * log(gv_power_sigma(&wiggles, r * (1 + h)) / gv_power_sigma(&wiggles, r)) / h;
    assert_true(fabs(gv_power_sigma_slope(&wiggles, r) / by - 1) < 2e-3);
    gv_power_free(&wiggles);
    gv_power_free(&smooth);
}

static void write_table(const char *path, const gv_power *power, double factor, const char *last)
{
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs("# k P\n", stream);
    for (double k = 1e-5; k < 200; k *= 1.05)
        fprintf(stream, "%.15g %.15g\n", k, factor * gv_power_at(power, k));
    fputs(last, stream);
    fclose(stream);
}

static void tables(void **state)
{
    (void)state;
    char *folder = make_folder(), *path = gv_format("%s/table", folder);
    gv_power power, table;
    assert_ok(gv_power_create(&power, &flat, NULL));
    write_table(path, &power, 3, "");
    assert_ok(gv_power_create(&table, &flat, path));
    for (double k = 1e-3; k < 10; k *= 1.3) /* spline of a smooth curve, 1.05 apart: (0.05)^4 of its bends */
        assert_true(fabs(gv_power_at(&table, k) / gv_power_at(&power, k) - 1) < 1e-3);
    gv_power_free(&table);
    gv_cosmology c = flat;
    c.sigma_8 = 0; /* as the table has it */
    assert_ok(gv_power_create(&table, &c, path));
    assert_true(fabs(table.cosmology.sigma_8 / (flat.sigma_8 * sqrt(3)) - 1) < 1e-3);
    gv_power_free(&table);
    static const struct {
        const char *last, *part;
    } bad[] = {{"1 2\n", "k does not rise"},
               {"300 nan\n", "not two numbers"},
               {"300\n", "not two numbers"},
               {"300 -1\n", "not two numbers"}};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        write_table(path, &power, 1, bad[k].last);
        assert_int_equal(gv_power_create(&table, &flat, path), GRAVEL_ERR_INPUT);
        assert_contains(gravel_error_message(), bad[k].part);
    }
    assert_int_equal(gv_power_create(&table, &flat, "/nowhere/table"), GRAVEL_ERR_FILE);
    gv_power_free(&power);
    remove_folder(folder);
    free(path);
    free(folder);
}

/* ---------------------------------------------------------- initial conditions */

/* The wave (kx, ky, kz) of the displacements along `axis`, in Mpc/h: sum psi exp(-i k q) / N. */
static void wave_of(const gv_particles *p, int n, const int k[3], int axis, double wave[2])
{
    const double *const x[3] = {p->x, p->y, p->z};
    const double side = p->box.side / 1e3;
    wave[0] = wave[1] = 0;
    for (size_t i = 0; i < p->count; i++) {
        const double q[3] = {((double)(i / (size_t)(n * n)) + 0.5) / n, ((double)(i / (size_t)n % (size_t)n) + 0.5) / n,
                             ((double)(i % (size_t)n) + 0.5) / n};
        double by = x[axis][i] / 1e3 - side * q[axis];
        by -= side * rint(by / side);
        const double phase = 2 * PI * (k[0] * q[0] + k[1] * q[1] + k[2] * q[2]);
        wave[0] += by * cos(phase) / (double)p->count;
        wave[1] -= by * sin(phase) / (double)p->count;
    }
}

/* psi = i k / k^2 delta: with any number of bodies the same, and of the spectrum's size. */
static void same_waves_at_every_resolution(void **state)
{
    (void)state;
    static const int wave[][3] = {{1, 0, 0}, {0, -1, 1}, {2, -1, 3}, {0, 0, 2}};
    gv_ic_cosmo_options o = GV_IC_COSMO_OPTIONS_INIT;
    gv_power power;
    gv_particles small, large;
    o.order = 1;
    o.fixed = 1;
    assert_ok(gv_power_create(&power, &flat, NULL));
    assert_ok(gv_ic_cosmo(8, 5, &power, &o, &small));
    assert_ok(gv_ic_cosmo(12, 5, &power, &o, &large));
    const double unit = 2 * PI / o.side, growth = gv_cosmo_growth(&flat, 1 / (1 + o.redshift));
    for (size_t w = 0; w < 4; w++) {
        const int *k = wave[w];
        const double k2 = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
        const double size = growth * sqrt(gv_power_at(&power, unit * sqrt(k2)) / pow(o.side, 3));
        for (int axis = 0; axis < 3; axis++) {
            double a[2], b[2], drawn[2];
            wave_of(&small, 8, k, axis, a);
            wave_of(&large, 12, k, axis, b);
            gv_ic_cosmo_wave(5, k, 1, drawn);
            const double by = size * k[axis] / k2 / unit;
            /* rounding of positions, 1e-16 of 1e5 kpc/h */
            assert_true(fabs(a[0] + by * drawn[1]) < 1e-10 && fabs(a[1] - by * drawn[0]) < 1e-10);
            assert_true(fabs(a[0] - b[0]) < 1e-10 && fabs(a[1] - b[1]) < 1e-10);
        }
    }
    gv_particles_free(&small);
    gv_particles_free(&large);
    gv_power_free(&power);
}

/* The second order by direct sums over waves: of psi_a,b on the lattice, of its products, of their waves. */
static void second_by_sums(int n, const gv_power *power, const gv_ic_cosmo_options *o, uint64_t seed, size_t body,
                           double psi[3])
{
    enum { MOST = 512 };
    const int most = (n - 1) / 2;
    const size_t count = (size_t)(n * n * n);
    const double unit = 2 * PI / o->side, growth = gv_cosmo_growth(&flat, 1 / (1 + o->redshift));
    static double source[MOST];
    for (size_t i = 0; i < count; i++) {
        double d[3][3] = {{0}};
        for (int x = -most; x <= most; x++)
            for (int y = -most; y <= most; y++)
                for (int z = -most; z <= most; z++) {
                    const int k[3] = {x, y, z};
                    const double k2 = x * x + y * y + z * z;
                    double w[2];
                    if (k2 == 0)
                        continue;
                    gv_ic_cosmo_wave(seed, k, o->fixed, w);
                    const double phase =
                        2 * PI / n *
                        (x * ((double)(i / (size_t)(n * n)) + 0.5) + y * ((double)(i / (size_t)n % (size_t)n) + 0.5) +
                         z * ((double)(i % (size_t)n) + 0.5));
                    const double size = growth * sqrt(gv_power_at(power, unit * sqrt(k2)) / pow(o->side, 3)) *
                                        (w[0] * cos(phase) - w[1] * sin(phase));
                    for (int a = 0; a < 3; a++)
                        for (int b = 0; b < 3; b++)
                            d[a][b] -= size * k[a] * k[b] / k2;
                }
        source[i] = d[0][0] * d[1][1] + d[0][0] * d[2][2] + d[1][1] * d[2][2] - d[0][1] * d[0][1] - d[0][2] * d[0][2] -
                    d[1][2] * d[1][2];
    }
    /* psi = 3/7 Omega^(-1/143) i k / k^2 F */
    const double factor =
        3.0 / 7 * pow(gv_cosmo_matter(&flat, 1 / (1 + o->redshift)), -1.0 / 143) / (double)count / unit;
    psi[0] = psi[1] = psi[2] = 0;
    for (size_t i = 0; i < count; i++)
        for (int x = -most; x <= most; x++)
            for (int y = -most; y <= most; y++)
                for (int z = -most; z <= most; z++) {
                    const int k[3] = {x, y, z};
                    const double k2 = x * x + y * y + z * z;
                    const size_t m = (size_t)n;
                    const double phase = 2 * PI / n *
                                         (x * ((double)(body / (m * m)) - (double)(i / (m * m))) +
                                          y * ((double)(body / m % m) - (double)(i / m % m)) +
                                          z * ((double)(body % m) - (double)(i % m)));
                    for (int a = 0; a < 3 && k2 > 0; a++)
                        psi[a] -= factor * source[i] * k[a] / k2 * sin(phase);
                }
}

/* Both signs of all waves: half the sum of the displacements is the second order.  An odd lattice has no wave without a
 * direction, so that the direct sums agree to rounding: 1e-16 of 1e5 kpc/h, against displacements of 1 or more. */
static void second_order(void **state)
{
    (void)state;
    enum { N = 5 };
    gv_ic_cosmo_options o = GV_IC_COSMO_OPTIONS_INIT;
    gv_power power;
    gv_particles first, plus, minus;
    assert_ok(gv_power_create(&power, &flat, NULL));
    assert_ok(gv_ic_cosmo(N, 9, &power, &o, &plus));
    o.paired = 1;
    assert_ok(gv_ic_cosmo(N, 9, &power, &o, &minus));
    o.paired = 0;
    o.order = 1;
    assert_ok(gv_ic_cosmo(N, 9, &power, &o, &first));
    double most = 0, worst = 0;
    for (size_t i = 0; i < 5; i++) {
        const size_t body = i * 27;
        double psi[3];
        second_by_sums(N, &power, &o, 9, body, psi);
        const double mine[3] = {plus.x[body] - first.x[body], plus.y[body] - first.y[body],
                                plus.z[body] - first.z[body]};
        const double both[3] = {plus.x[body] + minus.x[body], plus.y[body] + minus.y[body],
                                plus.z[body] + minus.z[body]};
        const size_t at[3] = {body / (N * N), body / N % N, body % N};
        for (int c = 0; c < 3; c++) {
            const double lattice = ((double)at[c] + 0.5) / N * plus.box.side;
            assert_true(fabs(0.5 * both[c] - lattice - mine[c]) < 1e-8);
            most = fmax(most, fabs(psi[c] * 1e3));
            worst = fmax(worst, fabs(psi[c] * 1e3 - mine[c]));
        }
    }
    assert_true(most > 0.1 && worst < 1e-7 * most);
    gv_particles_free(&plus);
    gv_particles_free(&minus);
    gv_particles_free(&first);
    gv_power_free(&power);
}

static void bad_boxes(void **state)
{
    (void)state;
    gv_power power;
    gv_particles p;
    gv_ic_cosmo_options o = GV_IC_COSMO_OPTIONS_INIT;
    assert_ok(gv_power_create(&power, &flat, NULL));
    assert_int_equal(gv_ic_cosmo(11, 1, &power, &o, &p), GRAVEL_ERR_ARGUMENT);
    assert_contains(gravel_error_message(), "10 and 12");
    assert_int_equal(gv_ic_cosmo(1, 1, &power, &o, &p), GRAVEL_ERR_ARGUMENT);
    o.side = 0;
    assert_int_equal(gv_ic_cosmo(8, 1, &power, &o, &p), GRAVEL_ERR_ARGUMENT);
    o.side = 100;
    o.redshift = -1;
    assert_int_equal(gv_ic_cosmo(8, 1, &power, &o, &p), GRAVEL_ERR_ARGUMENT);
    o.redshift = 1;
    assert_int_equal(gv_ic_pancake(8, &flat, &o, &p), GRAVEL_ERR_ARGUMENT);
    /* what was no number, or none in double: a crossing after the universe has turned round, at a = 2, boxes and
     * redshifts whose cubes are not in the range of double, a density whose transfer function is not */
    gv_cosmology c = flat;
    c.omega_m = 2;
    c.omega_l = 0;
    o.redshift = 9;
    o.crossing = -0.8;
    assert_int_equal(gv_ic_pancake(8, &c, &o, &p), GRAVEL_ERR_ARGUMENT);
    assert_contains(gravel_error_message(), "turns round");
    o.crossing = 0;
    assert_ok(gv_ic_pancake(8, &c, &o, &p));
    gv_particles_free(&p);
    o.redshift = 1e300;
    assert_int_equal(gv_ic_pancake(8, &flat, &o, &p), GRAVEL_ERR_ARGUMENT);
    o.redshift = 9;
    o.side = 1e300;
    assert_int_equal(gv_ic_pancake(8, &flat, &o, &p), GRAVEL_ERR_ARGUMENT);
    o.side = 1e-300;
    assert_int_equal(gv_ic_cosmo(8, 1, &power, &o, &p), GRAVEL_ERR_ARGUMENT);
    c = flat;
    c.omega_m = 1e-300;
    c.omega_b = 0;
    gv_power none;
    assert_int_equal(gv_power_create(&none, &c, NULL), GRAVEL_ERR_ARGUMENT);
    gv_power_free(&power);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growth_solves_its_equation),
        cmocka_unit_test(factors_of_steps),
        cmocka_unit_test(no_universe),
        cmocka_unit_test(spectra),
        cmocka_unit_test(tables),
        cmocka_unit_test(same_waves_at_every_resolution),
        cmocka_unit_test(second_order),
        cmocka_unit_test(bad_boxes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
