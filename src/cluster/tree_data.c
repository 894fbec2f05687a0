/* Bodies of a tree over ranks: from the caller's arrays, and back by their numbers. */
#include "cluster/tree.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 14 };

/* -------------------------------------------------------------------- write */

/* What a rank says of its bodies; the largest over the ranks. */
typedef struct gv_extent {
    double most[8]; /* -x -y -z x y z, mass, 1: there are velocities */
    double lacks;   /* 1: a rank with bodies has none */
} gv_extent;

static gravel_status find_extent(const gravel_sources *s, gv_extent *e)
{
    const double *const axis[3] = {s->pos.x, s->pos.y, s->pos.z};
    const size_t stride = s->pos.stride ? s->pos.stride : 1, mass_stride = s->mass_stride ? s->mass_stride : 1;
    for (int k = 0; k < 6; k++)
        e->most[k] = -DBL_MAX;
    e->most[6] = 0;
    e->most[7] = s->count > 0 && s->vel.x ? 1 : 0;
    e->lacks = s->count > 0 && !s->vel.x ? 1 : 0;
    if (s->count > 0 && (!s->mass || !axis[0] || !axis[1] || !axis[2]))
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_tree_write: bodies need masses and positions");
    for (size_t k = 0; k < s->count; k++) {
        const double m = s->mass[k * mass_stride];
        if (!isfinite(m) || m < 0)
            return gv_cluster_fail(GRAVEL_ERR_INPUT, "body %zu has a mass of %g; a tree needs masses of 0 or more", k,
                                   m);
        e->most[6] = fmax(e->most[6], m);
        for (int c = 0; c < 3; c++) {
            const double x = axis[c][k * stride];
            if (!isfinite(x))
                return gv_cluster_fail(GRAVEL_ERR_INPUT, "the position of body %zu is not finite", k);
            e->most[c] = fmax(e->most[c], -x);
            e->most[3 + c] = fmax(e->most[3 + c], x);
        }
    }
    return GRAVEL_OK;
}

static void take_sample(const gravel_sources *s, gv_cluster_sample *sample)
{
    const double *const axis[3] = {s->pos.x, s->pos.y, s->pos.z};
    const size_t stride = s->pos.stride ? s->pos.stride : 1;
    sample->count = s->count < GV_SAMPLE ? s->count : GV_SAMPLE;
    for (size_t k = 0; k < sample->count; k++)
        for (int c = 0; c < 3; c++)
            sample->x[c][k] = axis[c][k * s->count / sample->count * stride];
}

/* All ranks meet.  `status`: of what this rank did before. */
static gravel_status choose_frame(gravel_cluster *c, gravel_status status, const gravel_sources *mine,
                                  const gv_extent *e, gravel_frame *frame)
{
    gv_cluster_sample sample;
    double lo[3] = {0}, hi[3] = {0};
    *frame = (gravel_frame){{0, 0, 0}, 1, e->most[6] > 0 ? e->most[6] : 1};
    take_sample(mine, &sample);
    for (int k = 0; k < 3 && e->most[0] > -DBL_MAX; k++) { /* there are bodies */
        lo[k] = -e->most[k];
        hi[k] = e->most[3 + k];
    }
    return gv_cluster_choose_frame(c, status, &sample, lo, hi, frame);
}

/* Numbers first ... of this rank: the ranks' stretches fill 0 ... total - 1 without gap. */
static gravel_status check_numbers(gravel_cluster_tree *t, size_t first, size_t count)
{
    const gravel_cluster *c = t->cluster;
    uint64_t mine[2] = {first, count}, *all = malloc(2 * (size_t)c->size * sizeof *all), next = 0;
    gravel_status status = gravel_cluster_agree(
        t->cluster, all ? GRAVEL_OK : gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for %d ranks", c->size));
    int code = MPI_SUCCESS, bad = -1;
    if (!status)
        code = MPI_Allgather(mine, 2, MPI_UINT64_T, all, 2, MPI_UINT64_T, c->comm);
    for (int r = 0; r < c->size && !status && bad < 0; r++) {
        if (all[2 * r] != next)
            bad = r;
        next += all[2 * r + 1];
    }
    if (!status && bad >= 0)
        status = gv_cluster_fail(GRAVEL_ERR_ARGUMENT,
                                 "gravel_cluster_tree_write: the bodies of rank %d begin at number %llu, those before "
                                 "end elsewhere",
                                 bad, (unsigned long long)all[2 * bad]);
    if (!status && next > INT32_MAX)
        status = gv_cluster_fail(GRAVEL_ERR_INPUT, "%llu bodies are too many", (unsigned long long)next);
    free(all);
    t->total = (size_t)next;
    return status || code == MPI_SUCCESS ? status : gv_cluster_fail_mpi(code, "numbers of bodies");
}

static gravel_array array_of(const gravel_vec *v)
{
    return (gravel_array){v->x, v->y, v->z, v->stride, GRAVEL_F64};
}

static gravel_status write_planes(gravel_cluster_tree *t, size_t first, const gravel_sources *s)
{
    const gravel_array pos = array_of(&s->pos), vel = array_of(&s->vel);
    const gravel_array mass = {s->mass, NULL, NULL, s->mass_stride, GRAVEL_F64};
    int32_t *id = malloc((s->count + 1) * sizeof *id);
    if (!id)
        return gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu numbers", s->count);
    for (size_t k = 0; k < s->count; k++)
        id[k] = (int32_t)(first + k);
    const gravel_array ids = {id, NULL, NULL, 1, GRAVEL_I32};
    gravel_status status = gravel_bodies_resize(t->bodies, s->count);
    if (!status && s->count > 0)
        status = gravel_bodies_write(t->bodies, GRAVEL_POSITION, 0, s->count, &pos);
    if (!status && s->count > 0)
        status = gravel_bodies_write(t->bodies, GRAVEL_MASS, 0, s->count, &mass);
    if (!status && s->count > 0)
        status = gravel_bodies_write(t->bodies, GRAVEL_ID, 0, s->count, &ids);
    if (!status && s->count > 0 && t->has_velocities)
        status = gravel_bodies_write(t->bodies, GRAVEL_VELOCITY, 0, s->count, &vel);
    free(id);
    return status;
}

gravel_status gravel_cluster_tree_write(gravel_cluster_tree *t, size_t first, const gravel_sources *mine)
{
    if (!t || !mine)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_tree_write: no tree or no bodies");
    gravel_cluster *c = t->cluster;
    gv_extent extent, all;
    gravel_frame frame;
    gravel_status status = gravel_cluster_agree(c, find_extent(mine, &extent));
    if (!status)
        status = gravel_cluster_agree(c, check_numbers(t, first, mine->count));
    if (status)
        return status;
    const int code = MPI_Allreduce(&extent, &all, (int)(sizeof all / sizeof(double)), MPI_DOUBLE, MPI_MAX, c->comm);
    status = code == MPI_SUCCESS ? GRAVEL_OK : gv_cluster_fail_mpi(code, "the box of all bodies");
    if (!status && all.most[7] > 0 && all.lacks > 0)
        status = gv_cluster_fail(GRAVEL_ERR_ARGUMENT,
                                 "gravel_cluster_tree_write: some ranks have velocities, others have not");
    if (!status) /* the same on all ranks */
        status = choose_frame(c, status, mine, &all, &frame);
    if (!status) {
        gv_cluster_end_blocks(t);
        t->has_velocities = all.most[7] > 0;
        t->computed = t->kept = t->near = t->has_costs = t->computations = 0;
        t->since = -1;
        t->info = (gravel_cluster_tree_info){.bodies = mine->count};
        status = gravel_bodies_resize(t->bodies, 0);
        if (!status)
            status = gravel_bodies_set_frame(t->bodies, &frame);
        if (!status)
            status = write_planes(t, first, mine);
    }
    return gravel_cluster_agree(c, status);
}

/* --------------------------------------------------------------------- read */

/* A body on its way back: its number, and its plane's components. */
typedef struct gv_item {
    double number, value[3];
} gv_item;

/* Every rank's stretch: first, count. */
static int owner_of(const uint64_t *stretch, int size, uint64_t number, int from)
{
    for (int r = from; r < size; r++)
        if (number >= stretch[2 * r] && number < stretch[2 * r] + stretch[2 * r + 1])
            return r;
    return -1;
}

/* The bodies of this rank with their plane. */
static gravel_status read_own(gravel_cluster_tree *t, gravel_plane plane, size_t n, int32_t *id, double *value)
{
    const gravel_array_out ids = {id, NULL, NULL, 1, GRAVEL_I32};
    const gravel_array_out values = {value, value + n, value + 2 * n, 1, GRAVEL_F64};
    gravel_array_out to = values;
    if (gravel_plane_components(plane) == 1)
        to.y = to.z = NULL;
    gravel_status status = gravel_bodies_read(t->bodies, GRAVEL_ID, 0, n, &ids);
    return status ? status : gravel_bodies_read(t->bodies, plane, 0, n, &to);
}

/* Items for each rank, one after the other: bytes[r].  Stretches may overlap. */
static gravel_status sort_out(gravel_cluster_tree *t, size_t n, const int32_t *id, const double *value,
                              const uint64_t *stretch, gv_item **items)
{
    const int size = t->cluster->size;
    size_t total = 0, *at = calloc((size_t)size, sizeof *at);
    memset(t->out_bytes, 0, (size_t)size * sizeof *t->out_bytes);
    for (size_t k = 0; k < n; k++)
        for (int r = owner_of(stretch, size, (uint64_t)id[k], 0); r >= 0;
             r = owner_of(stretch, size, (uint64_t)id[k], r + 1)) {
            t->out_bytes[r] += sizeof **items;
            total++;
        }
    *items = malloc((total + 1) * sizeof **items);
    if (!at || !*items) {
        free(at);
        return gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu bodies", total);
    }
    for (int r = 1; r < size; r++)
        at[r] = at[r - 1] + t->out_bytes[r - 1] / sizeof **items;
    for (size_t k = 0; k < n; k++)
        for (int r = owner_of(stretch, size, (uint64_t)id[k], 0); r >= 0;
             r = owner_of(stretch, size, (uint64_t)id[k], r + 1))
            (*items)[at[r]++] = (gv_item){(double)id[k], {value[k], value[n + k], value[2 * n + k]}};
    free(at);
    return GRAVEL_OK;
}

static void put(const gravel_array_out *to, int c, size_t k, double value)
{
    void *const axis[3] = {to->x, to->y, to->z};
    const size_t at = k * (to->stride ? to->stride : 1);
    if (!axis[c])
        return;
    if (to->type == GRAVEL_F64)
        ((double *)axis[c])[at] = value;
    else if (to->type == GRAVEL_F32)
        ((float *)axis[c])[at] = (float)value;
    else
        ((int32_t *)axis[c])[at] = (int32_t)value;
}

/* Items to the ranks that want them; `came` has room for all that come, the own ones among them. */
static gravel_status travel(gravel_cluster_tree *t, const gv_item *items, gv_item *came)
{
    const gravel_cluster *c = t->cluster;
    size_t from = 0, to = 0;
    for (int r = 0; r < c->rank; r++) {
        from += t->out_bytes[r];
        to += t->in_bytes[r];
    }
    memcpy((char *)came + to, (const char *)items + from, t->out_bytes[c->rank]);
    gravel_status status = gv_swap_receive(&t->swap, c, TAG, came, t->in_bytes);
    if (!status)
        status = gv_swap_send(&t->swap, c, TAG, items, t->out_bytes);
    return gv_swap_wait(&t->swap, status);
}

/* What this rank wants has come: each body to its place. */
static gravel_status hand_out(const gv_item *came, size_t n, gravel_plane plane, size_t first, size_t count,
                              const gravel_array_out *to)
{
    const int components = gravel_plane_components(plane);
    if (n != count)
        return gv_cluster_fail(GRAVEL_ERR_INTERNAL, "%zu of %zu bodies came", n, count);
    for (size_t k = 0; k < n; k++)
        for (int c = 0; c < components; c++)
            put(to, c, (size_t)came[k].number - first, came[k].value[c]);
    return GRAVEL_OK;
}

static gravel_status bring(gravel_cluster_tree *t, gravel_plane plane, const uint64_t *stretch,
                           const gravel_array_out *to)
{
    gravel_cluster *c = t->cluster;
    const size_t n = gravel_bodies_get_count(t->bodies), first = stretch[2 * c->rank], count = stretch[2 * c->rank + 1];
    int32_t *id = malloc((n + 1) * sizeof *id);
    double *value = calloc(3 * n + 1, sizeof *value);
    gv_item *items = NULL, *came = malloc((count + 1) * sizeof *came);
    size_t coming = 0;
    gravel_status status =
        id && value && came ? GRAVEL_OK : gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu bodies", n);
    if (!status)
        status = read_own(t, plane, n, id, value);
    if (!status)
        status = sort_out(t, n, id, value, stretch, &items);
    status = gravel_cluster_agree(c, status);
    if (!status) {
        const int code =
            MPI_Alltoall(t->out_bytes, sizeof(size_t), MPI_BYTE, t->in_bytes, sizeof(size_t), MPI_BYTE, c->comm);
        for (int r = 0; r < c->size; r++)
            coming += t->in_bytes[r] / sizeof *came;
        status = code != MPI_SUCCESS ? gv_cluster_fail_mpi(code, "numbers of bodies on their way")
                 : coming > count    ? gv_cluster_fail(GRAVEL_ERR_INTERNAL, "%zu bodies come for %zu", coming, count)
                                     : GRAVEL_OK;
        status = gravel_cluster_agree(c, status);
    }
    if (!status)
        status = gravel_cluster_agree(c, travel(t, items, came));
    if (!status)
        status = gravel_cluster_agree(c, hand_out(came, coming, plane, first, count, to));
    free(id);
    free(value);
    free(items);
    free(came);
    return status;
}

gravel_status gravel_cluster_tree_read(gravel_cluster_tree *t, gravel_plane plane, size_t first, size_t count,
                                       const gravel_array_out *to)
{
    if (!t)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_tree_read: no tree was given");
    gravel_cluster *c = t->cluster;
    const uint64_t mine[2] = {first, count};
    uint64_t *stretch = malloc(2 * (size_t)c->size * sizeof *stretch);
    gravel_status status =
        stretch ? GRAVEL_OK : gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for %d ranks", c->size);
    if (!status &&
        (gravel_plane_components(plane) == 0 || first > t->total || count > t->total - first || (count > 0 && !to)))
        status = gv_cluster_fail(GRAVEL_ERR_ARGUMENT,
                                 "gravel_cluster_tree_read: bodies %zu ... %zu of %zu, or no such plane, or no place",
                                 first, first + count, t->total);
    status = gravel_cluster_agree(c, status);
    if (!status) {
        const int code = MPI_Allgather(mine, 2, MPI_UINT64_T, stretch, 2, MPI_UINT64_T, c->comm);
        status = gravel_cluster_agree(c, code == MPI_SUCCESS ? GRAVEL_OK
                                                             : gv_cluster_fail_mpi(code, "which bodies ranks want"));
    }
    if (!status)
        status = bring(t, plane, stretch, to);
    free(stretch);
    return status;
}
