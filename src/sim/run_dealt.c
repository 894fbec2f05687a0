#include "sim/run_dealt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/bodies/bodies.h"

/* As bodies.h has it for what is written first: the middle of the box, half its longest side, the largest mass. */
gravel_status gv_dealt_frame(gravel_bodies *bodies, const gv_particles *p, double gravity)
{
    const double *const x[3] = {p->x, p->y, p->z};
    gravel_frame frame = {{0, 0, 0}, 1, 0};
    double longest = 0;
    int exponent;
    for (int c = 0; c < 3; c++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t k = 0; k < p->count; k++) {
            low = fmin(low, x[c][k]);
            high = fmax(high, x[c][k]);
        }
        frame.origin[c] = 0.5 * (low + high);
        longest = fmax(longest, high - low);
    }
    for (size_t k = 0; k < p->count; k++)
        frame.mass = fmax(frame.mass, gravity * fabs(p->m[k]));
    frexp(longest > 0 ? 0.5 * longest : 1, &exponent);
    frame.length = ldexp(1, exponent);
    frame.mass = frame.mass > 0 ? frame.mass : 1;
    return gravel_bodies_set_frame(bodies, &frame);
}

gravel_status gv_dealt_gather(const gv_run_company *c, gv_particles *p, gravel_status status)
{
    double *const column[6] = {p->x, p->y, p->z, p->vx, p->vy, p->vz};
    for (int k = 0; k < 6; k++) {
        const gravel_status gathered = c->gather(c->user, p->count, column[k], status);
        status = status ? status : gathered;
        if (status)
            return status;
    }
    return GRAVEL_OK;
}

gravel_status gv_dealt_join(const gv_run_company *c, const gravel_bodies *bodies, gv_checkpoint *checkpoint,
                            gravel_status status)
{
    char *states = NULL, *choices = NULL;
    void *all = NULL;
    size_t states_size = 0, choices_size = 0, size = 0;
    const size_t length = status ? 0 : strlen(checkpoint->choices);
    if (!status)
        checkpoint->choices[length] = GV_END_OF_CHOICES; /* gv_run_choices left room for it */
    status = c->collect(c->user, checkpoint->bodies, checkpoint->bodies_size, &states, &states_size, status);
    if (!status)
        status = c->collect(c->user, checkpoint->choices, length + 1, &choices, &choices_size, status);
    if (!status && states) { /* this process leads */
        status = gv_bodies_join_states(bodies, states, states_size, &all, &size);
        char *text = status ? NULL : realloc(choices, choices_size + 1);
        if (!status && !text)
            status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for a checkpoint");
        if (!status) {
            text[choices_size] = '\0';
            free(checkpoint->bodies);
            free(checkpoint->choices);
            checkpoint->bodies = all;
            checkpoint->bodies_size = size;
            checkpoint->choices = text;
            all = NULL;
            choices = NULL;
        }
    }
    free(all);
    free(states);
    free(choices);
    return status;
}

/* Counts are below 2^53. */
gravel_status gv_dealt_add_counts(const gv_run_company *c, uint64_t counts[GRAVEL_STEP_POWERS], gravel_status status)
{
    for (int p = 0; p < GRAVEL_STEP_POWERS; p++) {
        double none = 0, sum = (double)counts[p];
        status = c->agree(status, &none, &sum, c->user);
        if (status)
            return status;
        counts[p] = (uint64_t)sum;
    }
    return GRAVEL_OK;
}

gravel_status gv_dealt_cut(const gravel_bodies *bodies, const gv_checkpoint *checkpoint, size_t first, size_t count,
                           void **state, size_t *size)
{
    return gv_bodies_cut_state(bodies, checkpoint->bodies, checkpoint->bodies_size, first, count, state, size);
}
