/* Bodies and results between the caller's doubles and the device's box units. */
#include "host/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* the least power of two that is not below x; 1 for 0 */
static double power_above(double x)
{
    int exponent;
    if (!(x > 0))
        return 1;
    const double fraction = frexp(x, &exponent);
    return ldexp(1, fraction == 0.5 ? exponent - 1 : exponent);
}

gravel_status gv_tree_check_positions(const gravel_vec *v, size_t n, const char *what)
{
    if (!v->x || !v->y || !v->z)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s need positions x, y and z", what);
    const size_t stride = v->stride ? v->stride : 1;
    for (size_t k = 0; k < n; k++)
        if (!isfinite(v->x[k * stride]) || !isfinite(v->y[k * stride]) || !isfinite(v->z[k * stride]))
            return gv_fail(GRAVEL_ERR_INPUT, "%s: the position of number %zu is not finite", what, k);
    return GRAVEL_OK;
}

/* Origin and unit of length of the box; NaN is out already. */
static void choose_box(gravel_tree *tree, const gravel_vec *v, size_t n)
{
    const double *const axis[3] = {v->x, v->y, v->z};
    const size_t stride = v->stride ? v->stride : 1;
    double half = 0;
    for (int a = 0; a < 3; a++) {
        double lo = axis[a][0], hi = lo;
        for (size_t k = 1; k < n; k++) {
            lo = fmin(lo, axis[a][k * stride]);
            hi = fmax(hi, axis[a][k * stride]);
        }
        tree->origin_at[a] = 0.5 * lo + 0.5 * hi;
        half = fmax(half, 0.5 * hi - 0.5 * lo);
    }
    tree->length = power_above(half);
}

/* Positions, and masses if there are any (else those in place stay), into vectors of four; `low` gets what floats leave
 * of the positions. */
static void pack(const gravel_tree *tree, const gravel_vec *v, const double *mass, size_t n, void *out, float *low)
{
    const size_t stride = v->stride ? v->stride : 1;
    const double per_length = 1 / tree->length, per_mass = 1 / tree->mass_unit;
    const size_t words = mass ? 4 : 3;
    for (size_t k = 0; k < n; k++) {
        const double p[4] = {(v->x[k * stride] - tree->origin_at[0]) * per_length,
                             (v->y[k * stride] - tree->origin_at[1]) * per_length,
                             (v->z[k * stride] - tree->origin_at[2]) * per_length, mass ? mass[k] * per_mass : 0.0};
        const float f[4] = {(float)p[0], (float)p[1], (float)p[2], (float)p[3]};
        if (tree->scalar == 8)
            memcpy((double *)out + 4 * k, p, words * sizeof p[0]);
        else
            memcpy((float *)out + 4 * k, f, words * sizeof f[0]);
        for (size_t a = 0; low && a < 4; a++)
            low[4 * k + a] = a < 3 ? (float)(p[a] - (double)f[a]) : 0;
    }
}

static gravel_status map(gravel_tree *tree, const gv_buffer *buffer, cl_map_flags flags, size_t bytes, const char *what,
                         void **at)
{
    cl_int code;
    *at = clEnqueueMapBuffer(tree->queue, buffer->mem, CL_TRUE, flags, 0, bytes, 0, NULL, NULL, &code);
    return code ? gv_fail_cl(code, "mapping %zu bytes of %s", bytes, what) : GRAVEL_OK;
}

gravel_status gv_tree_upload(gravel_tree *tree, const gravel_vec *pos, const double *mass, size_t n, const char *what,
                             gv_buffer *to, gv_buffer *low)
{
    const size_t bytes = n * 4 * tree->scalar;
    const int pairs = tree->words == 2, keep = !mass && to == &tree->body; /* masses in place are read back first */
    void *at = NULL, *at_low = NULL;
    gravel_status status = gv_tree_reserve(tree, to, bytes, what);
    if (!status && pairs)
        status = gv_tree_reserve(tree, low, bytes, what);
    if (!status)
        status = map(tree, to, keep ? CL_MAP_READ | CL_MAP_WRITE : CL_MAP_WRITE, bytes, what, &at);
    if (!status && pairs)
        status = map(tree, low, CL_MAP_WRITE, bytes, what, &at_low);
    if (!status)
        pack(tree, pos, mass, n, at, at_low);
    cl_int code = at ? clEnqueueUnmapMemObject(tree->queue, to->mem, at, 0, NULL, NULL) : CL_SUCCESS;
    if (at_low && !code)
        code = clEnqueueUnmapMemObject(tree->queue, low->mem, at_low, 0, NULL, NULL);
    return status ? status : code ? gv_fail_cl(code, "writing %zu bytes of %s", bytes, what) : GRAVEL_OK;
}

/* What a body takes on the device, with its share of cells (five a full leaf, as gv_tree_build guesses) and groups. */
static double bytes_per_body(const gravel_tree *tree)
{
    const double vector = 4.0 * (double)tree->scalar, words = (double)tree->words;
    const double bodies = 2 * vector * words, keys = 24 + 2, forces = vector * words;
    const double cells = 5.0 / tree->config.value[GV_TT_N_LEAF] * (8 + (3 + words + 2) * vector);
    const double groups = (GV_TREE_GROUP_VECTORS * vector + 32) / tree->config.value[GV_TT_N_GROUP];
    return bodies + keys + forces + cells + groups;
}

static gravel_status check_memory(const gravel_tree *tree, size_t n)
{
    const double each = bytes_per_body(tree), there = (double)tree->limits.info.global_memory;
    if ((double)n * each <= there)
        return GRAVEL_OK;
    return gv_fail(GRAVEL_ERR_DEVICE_MEMORY,
                   "a tree of %zu bodies needs %.1f MB; %s has %.1f MB: about %.3g bodies would fit", n,
                   (double)n * each / 1e6, tree->limits.info.name, there / 1e6, floor(there / each));
}

gravel_status gravel_tree_write(gravel_tree *tree, const gravel_sources *bodies)
{
    if (!tree || !bodies)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tree_write needs a tree and bodies");
    if (bodies->count == 0)
        return gv_fail(GRAVEL_ERR_INPUT, "there are no bodies");
    if (bodies->count > 0x3fffffff)
        return gv_fail(GRAVEL_ERR_INPUT, "%zu bodies are too many: a tree addresses at most %d", bodies->count,
                       0x3fffffff);
    if (!bodies->mass)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the bodies need masses");
    gravel_status status = gv_tree_check_positions(&bodies->pos, bodies->count, "bodies");
    if (status)
        return status;
    double most = 0;
    for (size_t k = 0; k < bodies->count; k++) {
        if (!isfinite(bodies->mass[k]) || bodies->mass[k] < 0)
            return gv_fail(GRAVEL_ERR_INPUT, "bodies: the mass of number %zu is %g; a tree needs masses of 0 or more",
                           k, bodies->mass[k]);
        most = fmax(most, bodies->mass[k]);
    }
    tree->n = 0;
    tree->built = tree->moved = tree->has_last = 0;
    tree->sinks_are = GV_SINKS_NONE;
    status = gv_tree_configure(tree, bodies->count);
    if (!status)
        status = check_memory(tree, bodies->count);
    if (status)
        return status;
    tree->n = bodies->count;
    choose_box(tree, &bodies->pos, bodies->count);
    tree->mass_unit = power_above(most);
    status = gv_tree_upload(tree, &bodies->pos, bodies->mass, tree->n, "bodies", &tree->body, &tree->body_low);
    if (status)
        tree->n = 0;
    return status;
}

gravel_status gravel_tree_move(gravel_tree *tree, const gravel_vec *pos)
{
    if (!tree || !pos)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tree_move needs a tree and positions");
    if (tree->n == 0)
        return gv_fail(GRAVEL_ERR_STATE, "the tree has no bodies: gravel_tree_write comes first");
    gravel_status status = gv_tree_check_positions(pos, tree->n, "bodies");
    if (status)
        return status;
    status = gv_tree_upload(tree, pos, NULL, tree->n, "bodies", &tree->body, &tree->body_low);
    tree->moved = 1;
    return status;
}

static void scale_forces(const gravel_tree *tree, const void *in, size_t from, size_t to, const gravel_forces *forces)
{
    const double per_pot = tree->mass_unit / tree->length, per_acc = per_pot / tree->length;
    const size_t stride = forces->acc.stride ? forces->acc.stride : 1;
    const float *single = (const float *)in + 4 * tree->words * from;
    double f[4];
    for (size_t k = 0; k < 4; k++) {
        f[k] = tree->scalar == 8 ? ((const double *)in)[4 * from + k] : single[k];
        if (tree->words == 2)
            f[k] += single[4 + k];
    }
    if (forces->acc.x)
        forces->acc.x[to * stride] = f[0] * per_acc;
    if (forces->acc.y)
        forces->acc.y[to * stride] = f[1] * per_acc;
    if (forces->acc.z)
        forces->acc.z[to * stride] = f[2] * per_acc;
    if (forces->pot)
        forces->pot[to] = f[3] * per_pot;
}

gravel_status gv_tree_download(gravel_tree *tree, const gravel_forces *forces)
{
    if (!forces || tree->sinks_are == GV_SINKS_NONE)
        return gv_fail(GRAVEL_ERR_STATE, "there are no forces to read");
    if (forces->jerk.x || forces->snap.x || forces->nearest_id || forces->nearest_address || forces->nearest_distance ||
        forces->neighbour_count || forces->neighbour_id || forces->neighbour_address)
        return gv_fail(GRAVEL_ERR_UNSUPPORTED, "a tree gives accelerations and potentials only");
    const int points = tree->sinks_are == GV_SINKS_POINTS;
    cl_mem from = points ? tree->points_force.mem : tree->force.mem;
    const size_t bytes = (points ? tree->n_sinks : tree->n) * 4 * tree->words * tree->scalar;
    cl_int code;
    void *at = clEnqueueMapBuffer(tree->queue, from, CL_TRUE, CL_MAP_READ, 0, bytes, 0, NULL, NULL, &code);
    if (code)
        return gv_fail_cl(code, "reading forces of %zu sinks", tree->n_sinks);
    for (size_t k = 0; k < tree->n_sinks; k++)
        scale_forces(tree, at, tree->sinks_are == GV_SINKS_ACTIVE ? tree->active[k] : k, k, forces);
    code = clEnqueueUnmapMemObject(tree->queue, from, at, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "reading forces of %zu sinks", tree->n_sinks) : GRAVEL_OK;
}
