/* Direct summation over ranks.
 *
 * Copies: changes of bodies are gathered by all ranks, each of which then finds the forces on its own sinks alone.
 * Ring: each rank's block of sources visits all ranks in turn.  While a rank's device works on one block, the next is
 * on its way; sums are kept in double, in the order in which the blocks come: that of the ranks, downwards. */
#include "cluster/block.h"

#include <stdlib.h>
#include <string.h>

/* ranges of the ranks: rank r has first[r] ... first[r + 1] - 1 */
struct gravel_cluster_direct {
    gravel_cluster *cluster;
    gravel_several *several;
    gravel_scheme asked, scheme;
    size_t *first;
    unsigned kinds;
    double *own;       /* ring: the block of this rank */
    double *moving[2]; /* ring: the block that is worked on, and the one that comes */
    double *gathered;  /* copies: blocks of all ranks */
    size_t gathered_size;
    int32_t *id; /* of one block */
    uint32_t *number;
    size_t id_size;
    double *part; /* results of one block */
    size_t part_size;
};

const char *gravel_scheme_name(gravel_scheme scheme)
{
    static const char *const name[] = {"chosen", "copies", "ring"};
    return (unsigned)scheme <= GRAVEL_SCHEME_RING ? name[scheme] : "?";
}

/* At least so many entries of `each` bytes; what was in them is lost. */
static gravel_status need(void *array, size_t *size, size_t entries, size_t each)
{
    void **place = array;
    if (*place && *size >= entries)
        return GRAVEL_OK;
    free(*place);
    *size = entries + entries / 4 + 16;
    *place = malloc(*size * each);
    if (*place)
        return GRAVEL_OK;
    *size = 0;
    return gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu numbers", entries);
}

static gravel_status need_ids(gravel_cluster_direct *d, size_t count)
{
    size_t numbers = d->id_size;
    gravel_status status = need(&d->number, &numbers, count, sizeof *d->number);
    return status ? status : need(&d->id, &d->id_size, count, sizeof *d->id);
}

/* ---------------------------------------------------------------------- life */

/* Options that all ranks must share. */
static gravel_status check_options(const gravel_cluster *c, const gravel_cluster_direct_options *o)
{
    int mine[2] = {(int)o->precision, (int)o->scheme}, low[2], high[2];
    if ((unsigned)o->scheme > GRAVEL_SCHEME_RING)
        mine[1] = -1;
    int code = MPI_Allreduce(mine, low, 2, MPI_INT, MPI_MIN, c->comm);
    if (code == MPI_SUCCESS)
        code = MPI_Allreduce(mine, high, 2, MPI_INT, MPI_MAX, c->comm);
    if (code != MPI_SUCCESS)
        return gv_cluster_fail_mpi(code, "comparing options");
    if (low[1] < 0)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_direct_create: no such scheme");
    if (low[0] != high[0] || low[1] != high[1])
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT,
                               "gravel_cluster_direct_create: ranks differ in their precision or scheme");
    return GRAVEL_OK;
}

gravel_status gravel_cluster_direct_create(gravel_cluster_direct **direct, gravel_cluster *cluster,
                                           const gravel_cluster_direct_options *options)
{
    gravel_cluster_direct_options taken = GRAVEL_CLUSTER_DIRECT_OPTIONS_INIT;
    if (!direct || !cluster)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_direct_create: no cluster, or no place for it");
    *direct = NULL;
    if (options && options->size > 0)
        memcpy(&taken, options, options->size < sizeof taken ? options->size : sizeof taken);
    gravel_status status = check_options(cluster, &taken);
    if (status)
        return status;
    gravel_several_options o = GRAVEL_SEVERAL_OPTIONS_INIT;
    gravel_cluster_direct *d = calloc(1, sizeof *d);
    o.devices = cluster->info[cluster->rank].devices;
    o.context = &cluster->context;
    o.precision = taken.precision;
    o.host = taken.host;
    o.configuration = taken.configuration;
    status = d ? gravel_several_create(&d->several, &o) : gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory");
    if (!status) {
        d->cluster = cluster;
        d->asked = d->scheme = taken.scheme;
        d->first = calloc((size_t)cluster->size + 1, sizeof *d->first);
        status = d->first ? GRAVEL_OK : gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory");
    }
    status = gravel_cluster_agree(cluster, status);
    if (status) {
        gravel_cluster_direct_release(d);
        return status;
    }
    *direct = d;
    return GRAVEL_OK;
}

void gravel_cluster_direct_release(gravel_cluster_direct *d)
{
    if (!d)
        return;
    gravel_several_release(d->several);
    free(d->first);
    free(d->own);
    free(d->moving[0]);
    free(d->moving[1]);
    free(d->gathered);
    free(d->id);
    free(d->number);
    free(d->part);
    free(d);
}

gravel_scheme gravel_cluster_direct_get_scheme(const gravel_cluster_direct *d)
{
    return d ? d->scheme : GRAVEL_SCHEME_CHOSEN;
}

/* --------------------------------------------------------------------- bodies */

/* What all ranks say about themselves before bodies are exchanged. */
typedef struct gv_offer {
    uint64_t total, first, count, capacity, kinds;
} gv_offer;

/* The ranks' ranges, the columns and the scheme: from the same offers on every rank, so that all come to one end. */
static gravel_status compare_offers(gravel_cluster_direct *d, const gv_offer *offer)
{
    const int size = d->cluster->size;
    uint64_t capacity = UINT64_MAX, next = 0;
    unsigned kinds = 0;
    for (int r = 0; r < size; r++) {
        if (offer[r].first != next || offer[r].total != offer[0].total)
            return gv_cluster_fail(GRAVEL_ERR_ARGUMENT,
                                   "gravel_cluster_direct_write: rank %d has bodies from %llu of %llu, where %llu of "
                                   "%llu comes next",
                                   r, (unsigned long long)offer[r].first, (unsigned long long)offer[r].total,
                                   (unsigned long long)next, (unsigned long long)offer[0].total);
        d->first[r] = (size_t)next;
        next += offer[r].count;
        capacity = offer[r].capacity < capacity ? offer[r].capacity : capacity;
        kinds |= offer[r].count > 0 ? (unsigned)offer[r].kinds : 0;
    }
    d->first[size] = (size_t)next;
    if (next != offer[0].total)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_direct_write: the ranks have %llu of %llu bodies",
                               (unsigned long long)next, (unsigned long long)offer[0].total);
    for (int r = 0; r < size; r++)
        if (offer[r].count > 0 && offer[r].kinds != kinds)
            return gv_cluster_fail(GRAVEL_ERR_ARGUMENT,
                                   "gravel_cluster_direct_write: rank %d leaves out what others have", r);
    if (next > INT32_MAX)
        return gv_cluster_fail(GRAVEL_ERR_INPUT, "gravel_cluster_direct_write: %llu bodies are too many",
                               (unsigned long long)next);
    d->kinds = kinds ? kinds : GV_BLOCK_ALWAYS;
    d->scheme = d->asked != GRAVEL_SCHEME_CHOSEN ? d->asked
                : next <= capacity               ? GRAVEL_SCHEME_COPIES
                                                 : GRAVEL_SCHEME_RING;
    return GRAVEL_OK;
}

/* Blocks of all ranks, count[r] bodies each, into d->gathered. */
static gravel_status gather_blocks(gravel_cluster_direct *d, const double *mine, unsigned kinds, const int *count)
{
    const gravel_cluster *c = d->cluster;
    const int columns = gv_block_columns(kinds);
    int *at = calloc((size_t)c->size + 1, sizeof *at);
    gravel_status status = at ? GRAVEL_OK : gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory");
    for (int r = 0; r < c->size && !status; r++)
        at[r + 1] = at[r] + count[r];
    if (!status)
        status = need(&d->gathered, &d->gathered_size, (size_t)at[c->size] * (size_t)columns, sizeof *d->gathered);
    status = gravel_cluster_agree(d->cluster, status);
    if (!status) {
        MPI_Datatype body;
        MPI_Type_contiguous(columns, MPI_DOUBLE, &body);
        MPI_Type_commit(&body);
        const int code = MPI_Allgatherv(mine, count[c->rank], body, d->gathered, count, at, body, c->comm);
        MPI_Type_free(&body);
        if (code != MPI_SUCCESS)
            status = gv_cluster_fail_mpi(code, "gathering bodies");
    }
    free(at);
    return status;
}

/* Every rank writes what was gathered. */
static gravel_status write_gathered(gravel_cluster_direct *d, unsigned kinds, const int *count)
{
    const int columns = gv_block_columns(kinds);
    const double *block = d->gathered;
    gravel_status status = GRAVEL_OK;
    for (int r = 0; r < d->cluster->size && !status; r++) {
        status = need_ids(d, (size_t)count[r]);
        if (status)
            break;
        const gravel_sources sources = gv_block_view(block, kinds, (size_t)count[r], d->id, d->number);
        status = kinds >> GV_BLOCK_NUMBER & 1 ? gravel_several_scatter_sources(d->several, d->number, &sources)
                                              : gravel_several_write_sources(d->several, d->first[r], &sources);
        block += (size_t)count[r] * (size_t)columns;
    }
    return status;
}

static gravel_status spread_copies(gravel_cluster_direct *d, const double *mine, unsigned kinds, const int *count)
{
    gravel_status status = gather_blocks(d, mine, kinds, count);
    return status ? status : gravel_cluster_agree(d->cluster, write_gathered(d, kinds, count));
}

/* Blocks that move have room for the largest one. */
static gravel_status make_blocks(gravel_cluster_direct *d)
{
    const gravel_cluster *c = d->cluster;
    size_t most = 1;
    for (int r = 0; r < c->size; r++)
        most = d->first[r + 1] - d->first[r] > most ? d->first[r + 1] - d->first[r] : most;
    const size_t columns = (size_t)gv_block_columns(d->kinds), own = d->first[c->rank + 1] - d->first[c->rank];
    double **const place[3] = {&d->own, &d->moving[0], &d->moving[1]};
    for (int k = 0; k < 3; k++) {
        free(*place[k]);
        *place[k] = NULL;
    }
    d->own = malloc((own + 1) * columns * sizeof *d->own);
    for (int k = 0; k < 2 && d->scheme == GRAVEL_SCHEME_RING; k++)
        d->moving[k] = malloc(most * columns * sizeof *d->own);
    if (!d->own || (d->scheme == GRAVEL_SCHEME_RING && (!d->moving[0] || !d->moving[1])))
        return gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for blocks of %zu bodies", most);
    return need_ids(d, most);
}

gravel_status gravel_cluster_direct_write(gravel_cluster_direct *d, size_t total, size_t first,
                                          const gravel_sources *mine)
{
    if (!d || !mine)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_direct_write: no object or no bodies");
    gravel_cluster *c = d->cluster;
    const gv_offer me = {total, first, mine->count, gravel_several_get_capacity(d->several), gv_block_kinds(mine)};
    gv_offer *offer = malloc((size_t)c->size * sizeof *offer);
    int *count = malloc((size_t)c->size * sizeof *count);
    gravel_status status = offer && count ? GRAVEL_OK : gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory");
    if (!status && mine->count > 0 && (!mine->mass || !mine->pos.x || !mine->pos.y || !mine->pos.z))
        status = gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_direct_write: bodies need masses and positions");
    status = gravel_cluster_agree(c, status);
    if (!status) {
        const int code = MPI_Allgather(&me, (int)sizeof me, MPI_BYTE, offer, (int)sizeof me, MPI_BYTE, c->comm);
        status = code == MPI_SUCCESS ? compare_offers(d, offer) : gv_cluster_fail_mpi(code, "comparing bodies");
        if (!status)
            status = make_blocks(d);
        status = gravel_cluster_agree(c, status);
    }
    if (!status) {
        gv_block_pack(d->own, d->kinds, mine, first, NULL);
        for (int r = 0; r < c->size; r++)
            count[r] = (int)offer[r].count;
        if (d->scheme == GRAVEL_SCHEME_COPIES)
            status = spread_copies(d, d->own, d->kinds, count);
    }
    free(offer);
    free(count);
    return status;
}

/* Copies: new values go to all ranks. */
static gravel_status spread_changes(gravel_cluster_direct *d, const double *block, unsigned kinds, size_t changes)
{
    gravel_cluster *c = d->cluster;
    const int mine = (int)changes;
    int *count = malloc((size_t)c->size * sizeof *count);
    gravel_status status = gravel_cluster_agree(
        c, count ? GRAVEL_OK : gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for %d ranks", c->size));
    if (!status) {
        const int code = MPI_Allgather(&mine, 1, MPI_INT, count, 1, MPI_INT, c->comm);
        status = code == MPI_SUCCESS ? spread_copies(d, block, kinds, count) : gv_cluster_fail_mpi(code, "updates");
    }
    free(count);
    return status;
}

gravel_status gravel_cluster_direct_update(gravel_cluster_direct *d, const uint32_t *number,
                                           const gravel_sources *changed)
{
    if (!d || !changed || (changed->count > 0 && !number))
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_direct_update: no object, no bodies or no numbers");
    gravel_cluster *c = d->cluster;
    const size_t low = d->first[c->rank], high = d->first[c->rank + 1], n = changed->count;
    const unsigned kinds = d->kinds | 1u << GV_BLOCK_NUMBER;
    gravel_status status = GRAVEL_OK;
    for (size_t k = 0; k < n && !status; k++)
        if (number[k] < low || number[k] >= high)
            status = gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "body %u is not of this rank, which has %zu ... %zu",
                                     (unsigned)number[k], low, high);
    if (!status && n > 0 && gv_block_kinds(changed) != d->kinds)
        status = gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "an update gives the columns that were written, no others");
    double *block = malloc((n + 1) * (size_t)gv_block_columns(kinds) * sizeof *block);
    if (!status && !block)
        status = gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu bodies", n);
    status = gravel_cluster_agree(c, status);
    if (!status) {
        gv_block_pack(block, kinds, changed, 0, number);
        for (size_t k = 0; k < n; k++)
            gv_block_put(d->own, high - low, number[k] - low, block, kinds, n, k);
        if (d->scheme == GRAVEL_SCHEME_COPIES)
            status = spread_changes(d, block, kinds, n);
    }
    free(block);
    return status;
}

/* --------------------------------------------------------------------- forces */

/* Where component c of a result goes: acc 0-2, jerk 3-5, snap 6-8, pot 9; NULL: not wanted. */
static double *place_of(const gravel_forces *f, int c, size_t *stride)
{
    const gravel_vec_out *const vector[3] = {&f->acc, &f->jerk, &f->snap};
    *stride = 1;
    if (c == 9) {
        *stride = f->pot_stride ? f->pot_stride : 1;
        return f->pot;
    }
    const gravel_vec_out *v = vector[c / 3];
    *stride = v->stride ? v->stride : 1;
    return c % 3 == 0 ? v->x : c % 3 == 1 ? v->y : v->z;
}

static void add_part(const gravel_forces *f, const double *part, size_t n, int is_first)
{
    for (int c = 0; c < 10; c++) {
        size_t stride;
        double *to = place_of(f, c, &stride);
        const double *from = part + (size_t)c * n;
        for (size_t k = 0; to && k < n; k++)
            to[k * stride] = (is_first ? 0 : to[k * stride]) + from[k];
    }
}

/* Forces from one block, in flight. */
static gravel_status start_block(gravel_cluster_direct *d, const gravel_several_call *call, const double *block,
                                 size_t count)
{
    const gravel_sources sources = gv_block_view(block, d->kinds, count, d->id, d->number);
    gravel_status status = gravel_several_write_sources(d->several, 0, &sources);
    if (!status)
        status = gravel_several_set_source_count(d->several, count);
    return status ? status : gravel_several_submit(d->several, call);
}

static gravel_status end_block(gravel_cluster_direct *d, const gravel_several_call *call, const gravel_forces *forces,
                               int is_first)
{
    const size_t n = call->sinks->count;
    gravel_status status = need(&d->part, &d->part_size, 10 * n, sizeof *d->part);
    double *p = d->part;
    if (status)
        return status;
    gravel_forces part = {.acc = GRAVEL_VEC_OUT_SOA(p, p + n, p + 2 * n), .pot = p + 9 * n};
    if (call->order >= 4)
        part.jerk = GRAVEL_VEC_OUT_SOA(p + 3 * n, p + 4 * n, p + 5 * n);
    if (call->order >= 6)
        part.snap = GRAVEL_VEC_OUT_SOA(p + 6 * n, p + 7 * n, p + 8 * n);
    status = gravel_several_collect(d->several, &part, NULL);
    if (!status)
        add_part(forces, p, n, is_first);
    return status;
}

/* A rank that fails goes on handing blocks round: the others wait for them. */
static gravel_status go_round(gravel_cluster_direct *d, const gravel_several_call *call, const gravel_forces *forces)
{
    const gravel_cluster *c = d->cluster;
    const int up = (c->rank + 1) % c->size, down = (c->rank + c->size - 1) % c->size;
    const size_t columns = (size_t)gv_block_columns(d->kinds);
    const double *block = d->own;
    gravel_status status = GRAVEL_OK;
    MPI_Datatype body;
    int done = 0; /* blocks that were added up */
    MPI_Type_contiguous((int)columns, MPI_DOUBLE, &body);
    MPI_Type_commit(&body);
    for (int step = 0; step < c->size; step++) {
        const int owner = (c->rank - step + c->size) % c->size, next = (owner - 1 + c->size) % c->size;
        const size_t count = d->first[owner + 1] - d->first[owner], coming = d->first[next + 1] - d->first[next];
        MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        int code = MPI_SUCCESS;
        const int started = !status && count > 0 && call->sinks->count > 0;
        if (step + 1 < c->size) {
            code = MPI_Irecv(d->moving[step % 2], (int)coming, body, down, step, c->comm, &request[0]);
            if (code == MPI_SUCCESS)
                code = MPI_Isend(block, (int)count, body, up, step, c->comm, &request[1]);
        }
        if (started)
            status = start_block(d, call, block, count);
        if (code == MPI_SUCCESS)
            code = gv_cluster_finish(c, 2, request); /* while the device works */
        if (started && !status)
            status = end_block(d, call, forces, !done++);
        if (code != MPI_SUCCESS && !status)
            status = gv_cluster_fail_mpi(code, "a block of sources");
        block = d->moving[step % 2];
    }
    MPI_Type_free(&body);
    if (!status && done == 0) { /* there are no sources */
        const size_t n = call->sinks->count;
        status = need(&d->part, &d->part_size, 10 * n, sizeof *d->part);
        if (!status)
            memset(d->part, 0, 10 * n * sizeof *d->part);
        if (!status)
            add_part(forces, d->part, n, 1);
    }
    return status;
}

gravel_status gravel_cluster_direct_forces(gravel_cluster_direct *d, const gravel_cluster_call *asked,
                                           const gravel_forces *forces)
{
    gravel_cluster_call taken = GRAVEL_CLUSTER_CALL_INIT;
    gravel_several_call call = GRAVEL_SEVERAL_CALL_INIT;
    if (!d || !asked || !forces)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_direct_forces: no object, call or results");
    memcpy(&taken, asked, asked->size < sizeof taken ? asked->size : sizeof taken);
    gravel_status status = GRAVEL_OK;
    if (!taken.sinks)
        status = gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_direct_forces: no sinks; 0 of them are legal");
    else if (forces->nearest_id || forces->nearest_address || forces->nearest_distance || forces->neighbour_count ||
             forces->neighbour_id || forces->neighbour_address)
        status = gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "over ranks there are no neighbours");
    else if (d->scheme == GRAVEL_SCHEME_CHOSEN)
        status = gv_cluster_fail(GRAVEL_ERR_STATE, "gravel_cluster_direct_write comes before forces");
    else if (taken.predict)
        status = gravel_several_set_time(d->several, taken.time);
    else
        gravel_several_set_no_time(d->several);
    status = gravel_cluster_agree(d->cluster, status);
    if (status)
        return status;
    call.sinks = taken.sinks;
    call.order = taken.order;
    call.eps = taken.eps;
    if (d->scheme == GRAVEL_SCHEME_RING) {
        status = go_round(d, &call, forces);
    } else {
        status = gravel_several_submit(d->several, &call);
        if (!status)
            status = gravel_several_collect(d->several, forces, NULL);
    }
    return gravel_cluster_agree(d->cluster, status);
}
