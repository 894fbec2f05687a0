/* The sizes of gravel tune --regret. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd_tune_regret.h"
#include "gravel/tree.h"

#define COMMAND "gravel tune"

static const size_t default_sinks[] = {1, 3, 5, 12, 24, 48, 100, 300, 1024, 3000, 10000, 50000};
static const size_t leaf_sinks[4] = {24, 40, 64, 100}, leaf_sources[2] = {3000, 12000};
static const size_t default_sources[] = {1000, 5000, 30000, 131072, 500000, 1000000};

int gv_regret_points(const regret_axes *a)
{
    return a->n_sources * a->n_sinks * a->n_theta * a->n_active;
}

void gv_regret_task(const regret_axes *a, const gv_space *space, const gv_variant *variant, int k, gv_task *task)
{
    const int n = gv_regret_points(a);
    int step = n * 5 / 8, low = n, common = step;

    while (low != 0) { /* until step and n have no common divisor */
        const int rest = common % low;

        common = low;
        low = rest;
        if (low == 0 && common > 1)
            common = ++step, low = n;
    }
    k = (int)((long)k * step % n);
    memset(task, 0, sizeof *task);
    snprintf(task->kernel, sizeof task->kernel, "%s", space->kernel);
    task->variant = *variant;
    task->sources = a->sources[k % a->n_sources];
    k /= a->n_sources;
    task->sinks = a->is_square ? task->sources : a->sinks[k % a->n_sinks];
    if (!a->is_square)
        return;
    task->theta = a->theta[k % a->n_theta];
    task->active = a->active[k / a->n_theta];
}

static void copy_sizes(const gv_size_list *named, const size_t *usual, int n_usual, size_t *size, int *n)
{
    *n = named->n > 0 ? named->n : n_usual;
    memcpy(size, named->n > 0 ? named->value : usual, sizeof *size * (size_t)*n);
}

int gv_regret_axes(const tune_options *o, const gv_subject *subject, regret_axes *a)
{
    const double theta[2] = {GRAVEL_TREE_THETA_MIN, GRAVEL_TREE_THETA_MAX};

    const int leaves = subject->questions == GV_QUESTIONS_LEAVES;

    *a = (regret_axes){
        .is_square = subject->questions == GV_QUESTIONS_SQUARE, .n_sinks = 1, .n_theta = 1, .n_active = 1};
    if (o->keep && a->is_square) {
        gv_say(COMMAND, "--keep is for --kernel direct and tasks");
        return 0;
    }
    copy_sizes(&o->sources, leaves ? leaf_sources : default_sources,
               leaves ? 2 : sizeof default_sources / sizeof *default_sources, a->sources, &a->n_sources);
    if (!a->is_square) {
        if (o->theta != NULL || o->active != NULL)
            gv_say(COMMAND, "--theta and --active are for --kernel tree");
        else
            copy_sizes(&o->sinks, leaves ? leaf_sinks : default_sinks,
                       leaves ? 4 : sizeof default_sinks / sizeof *default_sinks, a->sinks, &a->n_sinks);
        return o->theta == NULL && o->active == NULL;
    }
    a->n_theta =
        gv_parse_reals(o->theta != NULL ? o->theta : "0.3,0.5,0.75", theta[0], theta[1], a->theta, GV_MAX_LIST);
    a->n_active = gv_parse_reals(o->active != NULL ? o->active : "0.01,0.1,1", 1e-9, 1, a->active, GV_MAX_LIST);
    if (a->n_theta < 0)
        gv_say(COMMAND, "--theta: '%s' is not a list of numbers from %g to %g", o->theta, theta[0], theta[1]);
    if (a->n_active < 0)
        gv_say(COMMAND, "--active: '%s' is not a list of parts of the bodies, as 0.01,1", o->active);
    return a->n_theta > 0 && a->n_active > 0;
}

gravel_status gv_regret_axes_between(const tune_options *o, const gv_regret_setting *setting, regret_axes *a)
{
    const int leaves = gv_subject_find(setting->space->kernel)->questions == GV_QUESTIONS_LEAVES;

    if (o->sinks.n == 0)
        a->n_sinks = gv_regret_sizes_between(setting, 0, a->sinks, GV_MAX_LIST);
    /* leaves are pulled by one number of bodies in all questions: nothing lies between, and the usual sizes stay */
    if (o->sources.n == 0 && !leaves)
        a->n_sources = gv_regret_sizes_between(setting, 1, a->sources, GV_MAX_LIST);
    if (a->n_sinks == 0 || a->n_sources == 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the profile of this device has no questions with others between them: "
                                            "tune first, or name --sinks and --sources");
    return GRAVEL_OK;
}
