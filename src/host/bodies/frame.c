/* The frame: chosen, set, got. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "gravel/exchange.h"

#include "host/base/threads.h"
#include "host/bodies/transfer.h"

/* the least power of two that is not below x; 1 for 0 */
static double power_above(double x)
{
    int exponent;
    if (!(x > 0))
        return 1;
    const double fraction = frexp(x, &exponent);
    return ldexp(1, fraction == 0.5 ? exponent - 1 : exponent);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* With the origin so many times what the middle half of the bodies span away from them, they have lost four bits in sp:
 * one body 1e5 lengths from a Plummer sphere left accelerations 0.2 wrong. */
#define FAR_FROM_MOST 16

double gravel_exchange_origin(double lo, double hi, double *sample, size_t n, double *reach)
{
    const double middle = 0.5 * lo + 0.5 * hi;
    *reach = 0.5 * hi - 0.5 * lo;
    if (n == 0)
        return middle;
    qsort(sample, n, sizeof *sample, ascending);
    const double median = sample[n / 2], half = sample[3 * n / 4] - sample[n / 4];
    if (fabs(median - middle) <= FAR_FROM_MOST * half)
        return middle;
    *reach += fabs(median - middle);
    return median;
}

enum { SAMPLE = 1023 }; /* so many bodies stand for all, evenly among them */

double gv_numbers_origin(const gv_numbers *from, size_t n, double lo, double hi, double *reach)
{
    const size_t m = n < SAMPLE ? n : SAMPLE;
    double sample[SAMPLE];
    for (size_t k = 0; k < m; k++)
        sample[k] = gv_convert_get(from, (size_t)((uint64_t)k * n / m));
    return gravel_exchange_origin(lo, hi, sample, m, reach);
}

static gravel_frame frame_of(const double origin[3], const double reach[3], double mass)
{
    gravel_frame frame = {{origin[0], origin[1], origin[2]}, 1, mass};
    const double most = fmax(reach[0], fmax(reach[1], reach[2]));
    /* bodies so near or far that 1 / length^2 leaves the range of double set no length */
    frame.length = most > 1e-150 && most < 1e150 ? power_above(most) : 1;
    return frame;
}

/* What the threads find about a component. */
typedef struct extent {
    gv_numbers numbers;
    pthread_mutex_t lock;
    double lo, hi;
    int good;
} extent;

static void extend(void *user, size_t first, size_t count)
{
    extent *x = user;
    double lo, hi;
    const int good = gv_convert_bounds(&x->numbers, first, count, &lo, &hi);
    pthread_mutex_lock(&x->lock);
    x->lo = fmin(x->lo, lo);
    x->hi = fmax(x->hi, hi);
    x->good &= good;
    pthread_mutex_unlock(&x->lock);
}

int gv_numbers_bounds(gravel_context *context, const gv_numbers *from, size_t n, double *lowest, double *highest)
{
    enum { PIECE = 32768 };
    extent x = {.numbers = *from, .lo = INFINITY, .hi = -INFINITY, .good = 1};
    pthread_mutex_init(&x.lock, NULL);
    gv_parallel(n > PIECE ? gv_context_pool(context) : NULL, n, PIECE, extend, &x);
    pthread_mutex_destroy(&x.lock);
    *lowest = x.lo;
    *highest = x.hi;
    return x.good;
}

static gravel_status bounds(gravel_bodies *bodies, gravel_plane plane, size_t count, const gravel_array *from, int c,
                            double *lo, double *hi)
{
    static const char *const axis[3] = {" (x)", " (y)", " (z)"};
    const gv_numbers numbers = gv_array_numbers(from, c);
    if (gv_numbers_bounds(bodies->worker.context, &numbers, count, lo, hi))
        return GRAVEL_OK;
    for (size_t k = 0; k < count; k++) {
        const double value = gv_convert_get(&numbers, k);
        if (!isfinite(value))
            return gv_fail(GRAVEL_ERR_INPUT, "entry %zu: %s%s is %s", k, gravel_plane_name(plane),
                           gravel_plane_components(plane) == 1 ? "" : axis[c],
                           isnan(value) ? "not a number" : "infinite");
    }
    return gv_fail(GRAVEL_ERR_INPUT, "the numbers changed while they were read");
}

/* The largest of the first masses; if all are zero the unit stays open. */
static gravel_status decide_mass(gravel_bodies *bodies, size_t count, const gravel_array *from)
{
    double lo, hi;
    gravel_status status = bounds(bodies, GRAVEL_MASS, count, from, 0, &lo, &hi);
    const double most = status ? 0 : fmax(fabs(lo), fabs(hi));
    if (most == 0)
        return status;
    bodies->frame.mass = most > 1e-300 && most < 1e300 ? most : 1;
    bodies->has_mass_unit = 1;
    return GRAVEL_OK;
}

gravel_status gravel_bodies_get_frame(const gravel_bodies *bodies, gravel_frame *frame)
{
    if (!bodies || !frame)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_bodies_get_frame: no bodies, or no place for the frame");
    *frame = bodies->frame;
    return GRAVEL_OK;
}

gv_frame_factors gv_frame_result(const gravel_frame *frame)
{
    const double factor = frame->mass / frame->length / frame->length / frame->length;
    return (gv_frame_factors){factor, factor};
}

static gravel_status check_frame(const gravel_frame *frame)
{
    int exponent;
    if (!isfinite(frame->origin[0]) || !isfinite(frame->origin[1]) || !isfinite(frame->origin[2]))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the origin of the frame is not finite");
    if (!(frame->length > 1e-150 && frame->length < 1e150) || frexp(frame->length, &exponent) != 0.5)
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "the frame's unit of length is %g; it must be a power of two from 1e-150 to 1e150",
                       frame->length);
    if (!(frame->mass > 1e-300 && frame->mass < 1e300))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the frame's unit of mass is %g; it must be from 1e-300 to 1e300",
                       frame->mass);
    return GRAVEL_OK;
}

/* Kernels of one change of frame, which is rare: they are made for it and released after it. */
static gravel_status make_kernel(gravel_bodies *bodies, const char *file, const char *name, int threads,
                                 cl_kernel *kernel)
{
    char options[96];
    snprintf(options, sizeof options, "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_THREADS=%d", (int)bodies->precision,
             threads);
    return gv_kernel_make(&bodies->worker, file, options, name, kernel);
}

/* One vector or two of the stored precision. */
typedef union numbers {
    double of_double[8];
    float of_float[8];
} numbers;

gravel_status gv_bodies_bounds(gravel_bodies *bodies, gv_buffer *bounds)
{
    const gravel_device_info *info = &gv_worker_device(&bodies->worker)->info;
    const size_t threads = info->type == GRAVEL_DEVICE_CPU ? 1 : 64, groups = 4 * (size_t)info->compute_units;
    cl_kernel kernel = NULL;
    cl_mem body;
    gravel_status status = gv_bodies_need(bodies, GV_WORD_POSITION, &body);
    if (!status)
        status = gv_buffer_reserve(&bodies->worker, bounds, groups * 2 * gv_word_size(bodies, GV_WORD_POSITION),
                                   "bounds of bodies");
    if (!status)
        status = make_kernel(bodies, "lib/reduce.cl", "gv_reduce_bounds", (int)threads, &kernel);
    if (status)
        return status;
    status = gv_launch(&bodies->worker, 0, kernel, gv_groups(groups, threads), GV_ARG(body), GV_UINT(bodies->count),
                       GV_INT(0), GV_MEM(*bounds));
    if (!status) /* one group joins them, in place: it reads all before it writes */
        status = gv_launch(&bodies->worker, 0, kernel, gv_groups(1, threads), GV_MEM(*bounds), GV_UINT(groups),
                           GV_INT(1), GV_MEM(*bounds));
    clReleaseKernel(kernel);
    return status;
}

/* Lowest and highest numbers as they are stored (the high words): x, y, z, mass. */
static gravel_status stored_bounds(gravel_bodies *bodies, double lo[4], double hi[4])
{
    const size_t size = gv_word_size(bodies, GV_WORD_POSITION);
    gv_buffer bounds = {NULL, 0};
    numbers out;
    gravel_status status = gv_bodies_bounds(bodies, &bounds);
    if (!status) {
        const cl_int code = clEnqueueReadBuffer(gv_worker_queue(&bodies->worker), bounds.mem, CL_TRUE, 0, 2 * size,
                                                &out, 0, NULL, NULL);
        status = code ? gv_fail_cl(code, "reading the bounds of %zu bodies", bodies->count) : GRAVEL_OK;
    }
    for (int c = 0; c < 4 && !status; c++) {
        lo[c] = size == 32 ? out.of_double[c] : out.of_float[c];
        hi[c] = size == 32 ? out.of_double[4 + c] : out.of_float[4 + c];
    }
    gv_buffer_release(&bounds);
    return status;
}

/* The same as gv_numbers_origin of bodies on the device, in the caller's units. */
static gravel_status stored_origin(gravel_bodies *bodies, const double lo[3], const double hi[3], double origin[3],
                                   double reach[3])
{
    const size_t n = bodies->count, m = n < SAMPLE ? n : SAMPLE;
    double sample[3][SAMPLE];
    uint32_t address[SAMPLE];
    const gravel_array_out to = GRAVEL_ARRAY_OUT_SOA(sample[0], sample[1], sample[2]);
    for (size_t k = 0; k < m; k++)
        address[k] = (uint32_t)((uint64_t)k * n / m);
    gravel_status status = gravel_bodies_gather(bodies, GRAVEL_POSITION, address, m, &to);
    for (int c = 0; c < 3 && !status; c++)
        origin[c] = gravel_exchange_origin(lo[c], hi[c], sample[c], m, &reach[c]);
    return status;
}

gravel_status gravel_bodies_choose_frame(gravel_bodies *bodies, gravel_frame *frame)
{
    double lo[4], hi[4], origin[3], reach[3];
    if (!bodies || !frame)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_bodies_choose_frame: no bodies, or no place for the frame");
    *frame = bodies->frame;
    if (bodies->count == 0 || !bodies->word[GV_WORD_POSITION].mem)
        return GRAVEL_OK;
    gravel_status status = stored_bounds(bodies, lo, hi);
    if (status)
        return status;
    for (int c = 0; c < 3; c++) {
        lo[c] = lo[c] * bodies->frame.length + bodies->frame.origin[c];
        hi[c] = hi[c] * bodies->frame.length + bodies->frame.origin[c];
    }
    const double most = fmax(fabs(lo[3]), fabs(hi[3]));
    status = stored_origin(bodies, lo, hi, origin, reach);
    if (!status)
        *frame = frame_of(origin, reach, most > 0 ? most * bodies->frame.mass : bodies->frame.mass);
    return status;
}

/* Component c as a number and what that leaves. */
static void put_pair(gravel_precision precision, int c, double value, numbers *high, numbers *low)
{
    if (precision == GRAVEL_DP) {
        high->of_double[c] = value;
        low->of_double[c] = 0;
    } else {
        high->of_float[c] = (float)value;
        low->of_float[c] = (float)(value - (double)(float)value);
    }
}

static gravel_status move_positions(gravel_bodies *bodies, cl_kernel kernel, const gravel_frame *to)
{
    const gravel_frame *from = &bodies->frame;
    const size_t size = gv_word_size(bodies, GV_WORD_POSITION);
    const int low_word = bodies->precision == GRAVEL_DS ? GV_WORD_POSITION_LOW : GV_WORD_POSITION;
    numbers shift, shift_low;
    for (int c = 0; c < 3; c++)
        put_pair(bodies->precision, c, (from->origin[c] - to->origin[c]) / to->length, &shift, &shift_low);
    put_pair(bodies->precision, 3, from->mass / to->mass, &shift, &shift_low);
    return gv_launch(&bodies->worker, 0, kernel, gv_items(bodies->count, 64), GV_MEM(bodies->word[GV_WORD_POSITION]),
                     GV_MEM(bodies->word[low_word]), GV_UINT(bodies->count),
                     GV_REAL(bodies->precision, from->length / to->length), ((gv_arg){size, &shift}),
                     ((gv_arg){size, &shift_low}));
}

/* The kernel takes four numbers at a time. */
static gravel_status scale_word(gravel_bodies *bodies, cl_kernel kernel, int word, double factor)
{
    const size_t four = gv_word_size(bodies, GV_WORD_POSITION);
    /* those behind the last body are zero */
    const size_t n = (bodies->count * gv_word_size(bodies, (gv_word)word) + four - 1) / four;
    if (!bodies->word[word].mem || factor == 1)
        return GRAVEL_OK;
    return gv_launch(&bodies->worker, 0, kernel, gv_items(n, 64), GV_MEM(bodies->word[word]), GV_UINT(n),
                     GV_REAL(bodies->precision, factor));
}

static int has_lengths(const gravel_bodies *bodies)
{
    for (gravel_plane p = GRAVEL_VELOCITY; p < GRAVEL_PLANES; p++)
        if (bodies->has[p] && gv_plane_place(p)->unit != GV_UNIT_NONE)
            return 1;
    return 0;
}

/* Planes with a unit of length, but not positions. */
static gravel_status scale_all(gravel_bodies *bodies, cl_kernel kernel, double factor)
{
    gravel_status status = GRAVEL_OK;
    for (gravel_plane p = GRAVEL_VELOCITY; p < GRAVEL_PLANES && !status; p++) {
        const gv_place *place = gv_plane_place(p);
        const double by = place->unit == GV_UNIT_LENGTH           ? factor
                          : place->unit == GV_UNIT_LENGTH_SQUARED ? factor * factor
                                                                  : 1;
        status = scale_word(bodies, kernel, place->word, by);
        if (!status && place->pair)
            status = scale_word(bodies, kernel, place->word + 1, by);
    }
    return status;
}

static gravel_status scale_planes(gravel_bodies *bodies, double factor)
{
    cl_kernel kernel;
    if (factor == 1 || !has_lengths(bodies))
        return GRAVEL_OK;
    gravel_status status = make_kernel(bodies, "bodies/frame.cl", "gv_bodies_scale", 1, &kernel);
    if (status)
        return status;
    status = scale_all(bodies, kernel, factor);
    clReleaseKernel(kernel);
    return status;
}

gravel_status gv_frame_decide(gravel_bodies *bodies, gravel_plane plane, size_t count, const gravel_array *from)
{
    double lo, hi, origin[3], reach[3];
    if (plane == GRAVEL_MASS && !bodies->has_mass_unit)
        return decide_mass(bodies, count, from);
    if (plane != GRAVEL_POSITION || bodies->has_box)
        return GRAVEL_OK;
    for (int c = 0; c < 3; c++) {
        gravel_status status = bounds(bodies, GRAVEL_POSITION, count, from, c, &lo, &hi);
        if (status)
            return status;
        const gv_numbers axis = gv_array_numbers(from, c);
        origin[c] = gv_numbers_origin(&axis, count, lo, hi, &reach[c]);
    }
    const gravel_frame frame = frame_of(origin, reach, bodies->frame.mass);
    /* velocities and the like that came before the positions */
    gravel_status status = scale_planes(bodies, bodies->frame.length / frame.length);
    if (status)
        return status;
    bodies->frame = frame;
    bodies->has_box = 1;
    return GRAVEL_OK;
}

gravel_status gv_frame_undo(gravel_bodies *bodies, const gravel_frame *frame, int has_box, int has_mass_unit)
{
    gravel_status status = GRAVEL_OK;
    if (bodies->has_box && !has_box)
        status = scale_planes(bodies, bodies->frame.length / frame->length);
    bodies->frame = *frame;
    bodies->has_box = has_box;
    bodies->has_mass_unit = has_mass_unit;
    return status;
}

/* What is stored must not leave its range in the new units. */
static gravel_status check_range(gravel_bodies *bodies, const gravel_frame *to)
{
    const double limit = gv_plane_conversion(bodies, GRAVEL_POSITION, 0).limit;
    const gravel_frame *from = &bodies->frame;
    double lo[4], hi[4];
    gravel_status status = stored_bounds(bodies, lo, hi);
    for (int c = 0; c < 3 && !status; c++) {
        const double shift = from->origin[c] - to->origin[c];
        const double most = fmax(fabs(lo[c] * from->length + shift), fabs(hi[c] * from->length + shift)) / to->length;
        if (!(most <= limit))
            status =
                gv_fail(GRAVEL_ERR_INPUT,
                        "the frame's unit of length %g is too small: positions would be up to %g units, %s holds %g",
                        to->length, most, gravel_precision_name(bodies->precision), limit);
    }
    return status;
}

/* All that can fail for lack of memory comes before the first plane changes. */
static gravel_status convert_planes(gravel_bodies *bodies, const gravel_frame *to)
{
    const double factor = bodies->frame.length / to->length;
    const int has_positions = bodies->word[GV_WORD_POSITION].mem != NULL;
    cl_kernel move = NULL, scale = NULL;
    cl_mem low;
    gravel_status status = has_positions ? check_range(bodies, to) : GRAVEL_OK;
    if (!status && has_positions && bodies->precision == GRAVEL_DS)
        status = gv_bodies_need(bodies, GV_WORD_POSITION_LOW, &low);
    if (!status && has_positions)
        status = make_kernel(bodies, "bodies/frame.cl", "gv_bodies_move", 1, &move);
    if (!status && factor != 1 && has_lengths(bodies))
        status = make_kernel(bodies, "bodies/frame.cl", "gv_bodies_scale", 1, &scale);
    if (!status && move)
        status = move_positions(bodies, move, to);
    if (!status && scale)
        status = scale_all(bodies, scale, factor);
    if (move)
        clReleaseKernel(move);
    if (scale)
        clReleaseKernel(scale);
    for (int p = 0; p < GRAVEL_PLANES && !status; p++)
        if (bodies->has[p])
            gv_bodies_changed(bodies, (gravel_plane)p);
    return status;
}

gravel_status gravel_bodies_set_frame(gravel_bodies *bodies, const gravel_frame *frame)
{
    if (!bodies || !frame)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_bodies_set_frame: no bodies or no frame");
    gravel_status status = check_frame(frame);
    if (!status && bodies->count > 0)
        status = convert_planes(bodies, frame);
    if (status)
        return status;
    bodies->frame = *frame;
    bodies->has_box = bodies->has_mass_unit = 1;
    return GRAVEL_OK;
}
