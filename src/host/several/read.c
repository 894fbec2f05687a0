/* Sources as they were written, and predicted. */
#include "host/base/status.h"
#include "host/several/object.h"

static double number(const gv_store *s, int column, size_t at)
{
    return s->column[column] ? s->column[column][at] : 0;
}

/* One coordinate and its derivatives, by Horner's rule. */
static void predict(const gv_store *s, int axis, size_t at, double dt, double to[4])
{
    double d[6];
    for (int k = 0; k < 6; k++)
        d[k] = number(s, GV_COLUMN_POSITION + 3 * k + axis, at);
    to[0] = d[0] + dt * (d[1] + dt / 2 * (d[2] + dt / 3 * (d[3] + dt / 4 * (d[4] + dt / 5 * d[5]))));
    to[1] = d[1] + dt * (d[2] + dt / 2 * (d[3] + dt / 3 * (d[4] + dt / 4 * d[5])));
    to[2] = d[2] + dt * (d[3] + dt / 2 * (d[4] + dt / 3 * d[5]));
    to[3] = d[3] + dt * (d[4] + dt / 2 * d[5]);
}

static gravel_status read(gravel_several *s, const char *call, size_t first, size_t count, int predicted, double time,
                          const gravel_sources_out *to)
{
    const gv_store *t = &s->store;
    if (first > t->count || count > t->count - first)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: addresses %zu ... were never all written", call, first);
    const gravel_vec_out vec[4] = {to->pos, to->vel, to->acc, to->jerk};
    for (size_t k = 0; k < count; k++) {
        const size_t at = first + k;
        const double dt = predicted ? time - number(t, GV_COLUMN_TIME, at) : 0;
        for (int axis = 0; axis < 3; axis++) {
            double value[4];
            predict(t, axis, at, dt, value);
            for (int v = 0; v < 4; v++) {
                double *const out = axis == 0 ? vec[v].x : axis == 1 ? vec[v].y : vec[v].z;
                if (out)
                    out[k * (vec[v].stride ? vec[v].stride : 1)] = value[v];
            }
        }
        if (to->mass)
            to->mass[k] = number(t, GV_COLUMN_MASS, at);
        if (to->softening)
            to->softening[k] = number(t, GV_COLUMN_SOFTENING, at);
        if (to->id)
            to->id[k] = t->id[at];
    }
    return GRAVEL_OK;
}

gravel_status gravel_several_read_sources(gravel_several *s, size_t first, size_t count, const gravel_sources_out *to)
{
    if (!s || !to)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_read_sources: no object or no place for the sources");
    return read(s, "gravel_several_read_sources", first, count, 0, 0, to);
}

gravel_status gravel_several_read_predicted(gravel_several *s, size_t first, size_t count, const gravel_sources_out *to)
{
    if (!s || !to)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_several_read_predicted: no object or no place for the sources");
    return read(s, "gravel_several_read_predicted", first, count, s->time_is_set, s->time, to);
}
