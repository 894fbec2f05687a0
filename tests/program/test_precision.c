/* kernels/lib/real.h, pair.h, rsqrt.h on the device, with the options that every program is built with: the low
 * words of two-floats survive the compiler, and each reciprocal square root keeps its error bound over the whole
 * range. */
#include "problem.h"

#include "host/profile/space.h"
#include "host/program/program.h"

/* A folder of kernels for this test: the three headers as they are embedded, and kernels that return their results. */
static const char *const kernels =
    "#line 1 \"precision.cl\"\n"
    "kernel void two_sum(global const gv_scalar *a, global const gv_scalar *b, global gv_scalar *hi,\n"
    "                    global gv_scalar *lo)\n"
    "{\n"
    "    const uint k = get_global_id(0);\n"
    "    const gv_pair r = gv_two_sum(a[k], b[k]);\n"
    "    hi[k] = r.hi;\n"
    "    lo[k] = r.lo;\n"
    "}\n"
    "kernel void two_product(global const gv_scalar *a, global const gv_scalar *b, global gv_scalar *hi,\n"
    "                        global gv_scalar *lo)\n"
    "{\n"
    "    const uint k = get_global_id(0);\n"
    "    const gv_pair r = gv_two_product(a[k], b[k]);\n"
    "    hi[k] = r.hi;\n"
    "    lo[k] = r.lo;\n"
    "}\n"
    "#if GV_WIDE_WORDS == 2\n"
    "#define TERMS 4096\n"
    "/* each lane sums a stretch of TERMS values from its place on; b: 0 add, 1 flush, 2 sums of halves */\n"
    "kernel void wide(global const gv_scalar *a, global const gv_scalar *b, global gv_scalar *hi, global gv_scalar "
    "*lo)\n"
    "{\n"
    "    const uint at = get_global_id(0) * GV_LANES;\n"
    "    gv_wide sum = gv_wide_zero(), second = gv_wide_zero();\n"
    "    if (b[0] < 1)\n"
    "        for (uint k = 0; k < TERMS; k++)\n"
    "            sum = gv_wide_add(sum, gv_load(a + at + k));\n"
    "    else if (b[0] < 2)\n"
    "        for (uint k = 0; k < TERMS; k++)\n"
    "            sum = gv_wide_flush(sum, gv_load(a + at + k));\n"
    "    else {\n"
    "        for (uint k = 0; k < TERMS / 2; k++)\n"
    "            sum = gv_wide_add(sum, gv_load(a + at + k));\n"
    "        for (uint k = TERMS / 2; k < TERMS; k++)\n"
    "            second = gv_wide_add(second, gv_load(a + at + k));\n"
    "        sum = gv_wide_sum(sum, second);\n"
    "    }\n"
    "    gv_store(sum.hi, hi + at);\n"
    "    gv_store(sum.lo, lo + at);\n"
    "}\n"
    "#endif\n"
    "kernel void inverse_root(global const gv_scalar *a, global const gv_scalar *b, global gv_scalar *hi,\n"
    "                         global gv_scalar *lo)\n"
    "{\n"
    "    const uint at = get_global_id(0) * GV_LANES;\n"
    "    gv_store(gv_rsqrt(gv_load(a + at)), hi + at);\n"
    "    gv_store((gv_real)(0), lo + at);\n"
    "}\n";

enum { TERMS = 4096, MANY = 65536 };

typedef struct workbench {
    gravel_context *context;
    char *folder;
} workbench;

static int bench_open(void **state)
{
    static workbench b;
    static const char *const header[] = {"lib/real.h", "lib/rsqrt.h", "lib/pair.h"};
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    char *text[3] = {NULL, NULL, NULL};
    memset(&b, 0, sizeof b);
    *state = &b;
    if (no_device())
        return 0;
    b.folder = make_folder();
    for (int k = 0; k < 3; k++)
        assert_ok(gv_source_flatten(NULL, header[k], &text[k]));
    char *all =
        gv_format("#ifdef TEST_WITHOUT_FMA\n#undef GV_FAST_FMA\n#endif\n%s%s%s%s", text[0], text[1], text[2], kernels);
    write_text(b.folder, "precision.cl", all);
    free(all);
    for (int k = 0; k < 3; k++)
        free(text[k]);
    options.kernel_dir = b.folder;
    if (gravel_context_create(&b.context, &options) != GRAVEL_OK) {
        print_message("%s\n", gravel_error_message());
        return -1;
    }
    b.context->for_once = 1;
    return 0;
}

static int bench_close(void **state)
{
    workbench *b = *state;
    gravel_context_release(b->context);
    if (b->folder)
        remove_folder(b->folder);
    free(b->folder);
    return 0;
}

/* Runs one of the kernels on `items` work-items; arrays of `n` scalars of `size` bytes. */
static void run_kernel(gravel_context *context, const char *options, const char *name, size_t items, size_t size,
                       size_t n, const void *a, const void *b, void *hi, void *lo)
{
    cl_program program;
    cl_int code;
    cl_mem buffer[4];
    const void *const in[2] = {a, b};
    void *const out[2] = {hi, lo};
    const cl_command_queue queue = context->device[0].timed;
    assert_ok(gv_program_get(context, 0, "precision.cl", options, &program));
    const cl_kernel kernel = clCreateKernel(program, name, &code);
    assert_int_equal(code, CL_SUCCESS);
    for (cl_uint k = 0; k < 4; k++) {
        buffer[k] = clCreateBuffer(context->cl, CL_MEM_READ_WRITE, n * size, NULL, &code);
        assert_int_equal(code, CL_SUCCESS);
        assert_int_equal(clSetKernelArg(kernel, k, sizeof buffer[k], &buffer[k]), CL_SUCCESS);
        if (k < 2)
            assert_int_equal(clEnqueueWriteBuffer(queue, buffer[k], CL_TRUE, 0, n * size, in[k], 0, NULL, NULL),
                             CL_SUCCESS);
    }
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL), CL_SUCCESS);
    for (cl_uint k = 0; k < 4; k++) {
        if (k >= 2)
            assert_int_equal(clEnqueueReadBuffer(queue, buffer[k], CL_TRUE, 0, n * size, out[k - 2], 0, NULL, NULL),
                             CL_SUCCESS);
        clReleaseMemObject(buffer[k]);
    }
    clReleaseKernel(kernel);
}

/* ------------------------------------------------------------------------ two-floats */

typedef struct floats {
    float a[MANY], b[MANY], hi[MANY], lo[MANY];
} floats;

static floats *floats_new(void)
{
    floats *f = calloc(1, sizeof *f);
    assert_non_null(f);
    return f;
}

/* Sums and products of two floats are exact in double (magnitudes 2^-12 ... 2^12 apart), so hi + lo must equal them
 * and hi be their rounding.  One build with fma as the device has it, one with Dekker's splitting. */
static void pairs_are_exact(void **state)
{
    const workbench *bench = *state;
    if (!bench->context)
        skip();
    floats *f = floats_new();
    uint64_t seed = 1;
    for (size_t k = 0; k < MANY; k++) {
        f->a[k] = (float)ldexp(random_unit(&seed), (int)(12 * random_unit(&seed)));
        f->b[k] = k % 5 == 0 ? -f->a[k] * (float)(1 + 1e-4 * random_unit(&seed)) /* what cancels */
                             : (float)ldexp(random_unit(&seed), (int)(12 * random_unit(&seed)));
    }
    for (int fma = 0; fma < 2; fma++)
        for (int p = GRAVEL_SP; p <= GRAVEL_DS; p++) {
            char options[120];
            snprintf(options, sizeof options, "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_RSQRT=0%s", p,
                     fma ? "" : " -DTEST_WITHOUT_FMA");
            for (int product = 0; product < 2; product++) {
                run_kernel(bench->context, options, product ? "two_product" : "two_sum", MANY, sizeof(float), MANY,
                           f->a, f->b, f->hi, f->lo);
                for (size_t k = 0; k < MANY; k++) {
                    const double exact = product ? (double)f->a[k] * f->b[k] : (double)f->a[k] + f->b[k];
                    if (f->hi[k] != (float)exact || (double)f->hi[k] + f->lo[k] != exact)
                        fail_msg("%s of %a and %a: %a + %a, exactly %a (%s)", product ? "product" : "sum",
                                 (double)f->a[k], (double)f->b[k], (double)f->hi[k], (double)f->lo[k], exact, options);
                }
            }
        }
    free(f);
}

/* Values that float sums lose: some ones, then thousands of 2^-30, positive and negative; and values of all
 * magnitudes.
 *
 * The first are exact: each rest is a multiple of 2^-30, far below 2^24 of them.  The second: gv_wide_add catches the
 * error of every addition, only the sum of those errors (each at most u S, S = sum |a|) is rounded: n u (n u S) at
 * worst. gv_wide_flush is Kahan's sum: 2 u S. */
static void wide_sums_keep_the_rest(void **state)
{
    static const int lanes[] = {1, 2, 4, 8, 16};
    static const char *const kind[] = {"add", "flush", "sum of halves"};
    const workbench *bench = *state;
    const double u = ldexp(1, -24);
    if (!bench->context)
        skip();
    floats *f = floats_new();
    for (int l = 0; l < 5; l++)
        for (int test = 0; test < 6; test++) {
            char options[120];
            uint64_t seed = 2;
            const int mixed = test / 3;
            const size_t lane = (size_t)lanes[l];
            for (size_t k = 0; k < TERMS + lane; k++)
                f->a[k] = mixed    ? (float)ldexp(random_unit(&seed), (int)(20 * random_unit(&seed)))
                          : k < 17 ? 1.0f
                                   : (float)ldexp(k % 3 == 0 ? -1 : 1, -30);
            f->b[0] = (float)(test % 3);
            snprintf(options, sizeof options, "-DGV_PRECISION=1 -DGV_LANES=%d -DGV_RSQRT=0", lanes[l]);
            run_kernel(bench->context, options, "wide", 1, sizeof(float), TERMS + lane, f->a, f->b, f->hi, f->lo);
            for (size_t i = 0; i < lane; i++) {
                long double exact = 0, size = 0;
                for (size_t k = 0; k < TERMS; k++) {
                    exact += f->a[i + k];
                    size += fabsf(f->a[i + k]);
                }
                const double allowed = !mixed          ? 0
                                       : test % 3 == 1 ? 2.1 * u * (double)size
                                                       : TERMS * u * TERMS * u * (double)size;
                const long double error = fabsl((long double)f->hi[i] + f->lo[i] - exact);
                if (!(error <= allowed))
                    fail_msg("%s, %d lanes, lane %zu: %a + %a, exactly %La: error %Lg, at most %g", kind[test % 3],
                             lanes[l], i, (double)f->hi[i], (double)f->lo[i], exact, error, allowed);
            }
        }
    free(f);
}

/* ------------------------------------------------------------- reciprocal square roots */

/* Relative error that flavour f may have, in units u: of half a last place.
 *
 * 0: the standard allows the built-in two last places (four u), whatever the type.
 * 1: sp: an estimate as the device has it, at most eight last places; dp: one third-order step leaves its roundings.
 * 2, 3, 4: what the last step rounds (x y, e, its product with y / 2, the sum: under four u), and for dp's bit seed
 * the method's own 8e-16 (seven u). */
static double allowed_units(int dp, int flavour)
{
    return flavour == 1 && !dp ? 16 : flavour == 3 && dp ? 12 : 4;
}

typedef struct roots {
    double x[MANY], y[MANY], unused[MANY];
    float xf[MANY], yf[MANY], unusedf[MANY];
} roots;

static void check_flavour(gravel_context *context, roots *r, int dp, int lanes, int flavour)
{
    char options[120];
    long double worst = 0, mean = 0;
    double where = 0;
    const double u = unit_of(dp ? GRAVEL_DP : GRAVEL_SP);
    snprintf(options, sizeof options, "-DGV_PRECISION=%d -DGV_LANES=%d -DGV_RSQRT=%d", dp ? 2 : 0, lanes, flavour);
    const size_t items = MANY / (size_t)lanes;
    if (dp)
        run_kernel(context, options, "inverse_root", items, sizeof(double), MANY, r->x, r->x, r->y, r->unused);
    else
        run_kernel(context, options, "inverse_root", items, sizeof(float), MANY, r->xf, r->xf, r->yf, r->unusedf);
    for (size_t k = 0; k < MANY; k++) {
        const long double x = dp ? r->x[k] : (double)r->xf[k], y = dp ? r->y[k] : (double)r->yf[k];
        const long double error = y * sqrtl(x) - 1;
        mean += error / MANY;
        if (!(fabsl(error) <= worst)) { /* also where it is no number */
            worst = fabsl(error);
            where = (double)x;
        }
        if (isnan(error))
            break;
    }
    if (!(worst <= allowed_units(dp, flavour) * u))
        fail_msg("%s, %d lanes, flavour %d: error %.3Lg at %.9g, at most %.3g", dp ? "dp" : "sp", lanes, flavour, worst,
                 where, allowed_units(dp, flavour) * u);
    /* the error is the same in every pair of a sum where it has a bias: half a unit of it is the ceiling of sums */
    if (flavour != 1 && !(fabsl(mean) <= (dp ? 8 : 0.5) * u))
        fail_msg("%s, %d lanes, flavour %d: the mean error is %.3Lg", dp ? "dp" : "sp", lanes, flavour, mean);
}

/* Every flavour with every vector that this device offers, from the closest pair that counts (1e-25, dp 1e-200) to
 * the largest square of a distance (1.9e38, dp 1e300). */
static void rsqrt_flavours(void **state)
{
    static const int lanes[] = {1, 2, 4, 8, 16};
    const workbench *bench = *state;
    uint64_t seed = 3;
    int estimates = 0;
    if (!bench->context)
        skip();
    const gv_limits limits = gv_limits_of(bench->context, 0);
    roots *r = calloc(1, sizeof *r);
    assert_non_null(r);
    for (size_t k = 0; k < MANY; k++) {
        const double t = (double)k / (MANY - 1), jitter = 1 + 1e-5 * random_unit(&seed);
        r->x[k] = pow(10, -200 + 500 * t) * jitter;
        r->xf[k] = (float)fmin(pow(10, -25 + 63.27 * t) * jitter, 1.9e38);
        if (k % 2) { /* every second: all mantissas of two octaves, where the seeds' errors have their extremes */
            r->x[k] = 1 + 3 * t;
            r->xf[k] = (float)(1 + 3 * t);
        }
    }
    for (int dp = 0; dp <= limits.info.has_fp64; dp++)
        for (int l = 0; l < 5; l++)
            for (int flavour = 0; flavour <= 4; flavour++) {
                /* what the trial of the device found too rough is refused to configurations */
                const int allowed = gv_limits_root_is_right(&limits, dp ? GRAVEL_DP : GRAVEL_SP, flavour, lanes[l]);
                assert_true(allowed || flavour == 1 || flavour == 4);
                if (!allowed || (flavour < 3 && (lanes[l] == 2 || lanes[l] == 4)))
                    continue;
                estimates += flavour == 4;
                check_flavour(bench->context, r, dp, lanes[l], flavour);
            }
    print_message("%d estimates of this device\n", estimates);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_exact),
        cmocka_unit_test(wide_sums_keep_the_rest),
        cmocka_unit_test(rsqrt_flavours),
    };
    return cmocka_run_group_tests(tests, bench_open, bench_close);
}
