/* src/sim/run: a run of a C program with a force of its own that is stopped and goes on; the host's leapfrog beside the
 * device's; settings that make no sense. */
#include "problem.h"

#include <math.h>
#include <string.h>

#include "sim/checkpoint.h"
#include "sim/ic.h"
#include "sim/snapshot.h"

enum { N = 32 };

static gv_run_settings settings_of(gravel_precision precision)
{
    return (gv_run_settings){.until = 0.25,
                             .order = 2,
                             .precision = precision,
                             .eta = 0.025,
                             .eta4 = 0.01,
                             .eta6 = 0.1,
                             .eta_start = 0.01,
                             .step_max = 0.125,
                             .step_min = 0x1p-40,
                             .iterations = 1,
                             .eps = 0.05,
                             .theta = 0.5,
                             .moments = 2,
                             .diagnose_every = 0.0625,
                             .text = 1};
}

static gv_particles sphere(void)
{
    gv_particles p;
    assert_ok(gv_ic_plummer(N, 5, NULL, &p));
    return p;
}

/* ------------------------------------------------------------ the host's leapfrog */

typedef struct body {
    double x[3], v[3], a[3], time, step;
} body;

static void host_force(const gv_particles *p, const body *all, body *b, double eps)
{
    memset(b->a, 0, sizeof b->a);
    for (size_t j = 0; j < p->count; j++) {
        double d[3], r2 = eps * eps;
        for (int c = 0; c < 3; c++) {
            d[c] = all[j].x[c] - b->x[c];
            r2 += d[c] * d[c];
        }
        for (int c = 0; c < 3 && &all[j] != b; c++)
            b->a[c] += p->m[j] * d[c] / (r2 * sqrt(r2));
    }
}

static double size_of(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

/* before: |a| at the start of the step that ends, 0: there is none */
static double host_step(const body *b, const gv_run_settings *s, double old, double before)
{
    double a = size_of(b->a);
    if (before > 0 && a > before) /* what it will be at the end of the step */
        a *= fmin(a / before, 4);
    double step = fmin(exp2(floor(log2(sqrt(s->eta * s->eps / a)))), fmin(s->step_max, 2 * old));
    while (fmod(b->time, step) != 0)
        step *= 0.5;
    return step;
}

static void host_kick(body *b, double by)
{
    for (int c = 0; c < 3; c++)
        b->v[c] += by * b->a[c];
}

/* Kick, drift, kick with a power of two for each, written from the formulas; ends where all are at one time. */
static void host_leapfrog(const gv_particles *p, const gv_run_settings *s, body *b)
{
    double now = 0;
    for (size_t k = 0; k < p->count; k++)
        b[k] = (body){{p->x[k], p->y[k], p->z[k]}, {p->vx[k], p->vy[k], p->vz[k]}, {0}, 0, 0};
    for (size_t k = 0; k < p->count; k++) {
        host_force(p, b, &b[k], s->eps);
        b[k].step = host_step(&b[k], s, s->step_max, 0);
        host_kick(&b[k], b[k].step / 2);
    }
    while (now < s->until) {
        double next = INFINITY;
        for (size_t k = 0; k < p->count; k++)
            next = fmin(next, b[k].time + b[k].step);
        for (size_t k = 0; k < p->count; k++)
            for (int c = 0; c < 3; c++)
                b[k].x[c] += (next - now) * b[k].v[c];
        now = next;
        for (size_t k = 0; k < p->count; k++)
            if (b[k].time + b[k].step == now) {
                const double old = b[k].step, before = size_of(b[k].a);
                host_force(p, b, &b[k], s->eps);
                b[k].time = now;
                host_kick(&b[k], old / 2);
                b[k].step = now < s->until ? host_step(&b[k], s, old, before) : 0;
                host_kick(&b[k], b[k].step / 2);
            }
    }
}

static void device_steps_as_the_host_does(void **state)
{
    CONTEXT_WITH_DP_OR_SKIP(context)
    const gv_run_settings s = settings_of(GRAVEL_DP);
    gv_particles p = sphere(), given = sphere();
    gv_run *run;
    body b[N];
    double next = 0;
    gravel_hermite_step_info info;
    size_t taken;
    host_leapfrog(&p, &s, b);
    assert_ok(gv_run_create(&run, context, &s, &given));
    assert_ok(gv_run_start(run));
    while (!gv_run_get_next(run, &next) && next <= s.until)
        assert_ok(gv_run_step(run, INFINITY, 1, &info, &taken));
    assert_ok(gv_run_look(run, s.until));
    const gv_particles *q = gv_run_get_particles(run);
    gravel_hermite_counts counts;
    gv_run_get_counts(run, &counts);
    assert_true(counts.blocks > 4 && counts.steps < N * counts.blocks);
    /* forces differ by some 1e-15, grown by close pairs within a quarter of a time unit */
    for (size_t k = 0; k < N; k++) {
        const double x[3] = {q->x[k], q->y[k], q->z[k]}, v[3] = {q->vx[k], q->vy[k], q->vz[k]};
        for (int c = 0; c < 3; c++)
            if (fabs(x[c] - b[k].x[c]) > 1e-12 || fabs(v[c] - b[k].v[c]) > 1e-11)
                fail_msg("body %zu: x off by %g, v by %g", k, x[c] - b[k].x[c], v[c] - b[k].v[c]);
    }
    gv_run_release(run);
    gv_particles_free(&p);
}

/* ------------------------------------------------------------------ call-backs */

/* Pulls everything to the origin, as a constant density would. */
static gravel_status halo(gravel_bodies *set, size_t first, size_t count, double time, void *user)
{
    double x[N][3], a[N][3];
    (void)time;
    (void)user;
    gravel_status status = gravel_bodies_read(set, GRAVEL_POSITION, first, count, &GRAVEL_ARRAY_OUT_AOS(x));
    if (!status)
        status = gravel_bodies_read(set, GRAVEL_ACCELERATION, first, count, &GRAVEL_ARRAY_OUT_AOS(a));
    for (size_t k = 0; k < count && !status; k++)
        for (int c = 0; c < 3; c++)
            a[k][c] -= 4 * x[k][c];
    return status ? status : gravel_bodies_write(set, GRAVEL_ACCELERATION, first, count, &GRAVEL_ARRAY_AOS(a));
}

static int stop_after(void *user, gv_run *run, const gv_run_progress_info *info)
{
    int *left = user;
    (void)run;
    assert_true(info->time > 0 && info->active <= info->bodies && info->bodies == N);
    return --*left == 0;
}

/* Runs in `path` until the hook stops it; the particles at the end where `end` is given. */
static gravel_status drive(gravel_context *context, const gv_run_settings *s, const char *path, int resumed, int left)
{
    const gv_run_hooks hooks = {stop_after, &left, 0};
    gv_run_output folder;
    gv_checkpoint c;
    gv_run *run;
    gv_particles p = GV_PARTICLES_INIT;
    if (resumed) {
        char *file = gv_run_path(path, GV_RUN_CHECKPOINT);
        assert_ok(gv_checkpoint_read(&c, file));
        assert_string_equal(c.record, "a test");
        free(file);
        p = c.particles;
        c.particles = (gv_particles)GV_PARTICLES_INIT;
    } else {
        p = sphere();
    }
    assert_ok(gv_run_create(&run, context, s, &p));
    assert_ok(gv_run_output_open(&folder, path, "a test"));
    const gravel_status status = gv_run_drive(run, &folder, s, resumed ? &c : NULL, &hooks);
    gv_run_output_close(&folder);
    gv_run_release(run);
    if (resumed)
        gv_checkpoint_free(&c);
    return status;
}

static char *text_of(const char *folder, const char *name)
{
    char *path = gv_path_join(folder, name), *text;
    assert_ok(gv_file_read(path, 1 << 20, &text, NULL));
    free(path);
    return text;
}

static void own_force_and_stop(void **state)
{
    CONTEXT_OR_SKIP(context)
    gv_run_settings s = settings_of(GRAVEL_DS);
    char *whole = make_folder(), *parts = make_folder();
    s.external = halo;
    assert_ok(drive(context, &s, whole, 0, -1));
    assert_int_equal(drive(context, &s, parts, 0, 5), GRAVEL_ERR_CANCELLED);
    assert_int_equal(drive(context, &s, parts, 1, 1), GRAVEL_ERR_CANCELLED);
    assert_ok(drive(context, &s, parts, 1, -1));
    assert_int_equal(count_files(whole, "snapshot_", NULL), 2);
    static const char *const name[] = {"snapshot_0001.txt", "diagnostics.txt", "blocks.txt"};
    for (size_t k = 0; k < sizeof name / sizeof name[0]; k++) {
        char *one = text_of(whole, name[k]), *other = text_of(parts, name[k]);
        assert_string_equal(one, other);
        free(one);
        free(other);
    }
    remove_folder(whole);
    remove_folder(parts);
    free(whole);
    free(parts);
}

static void settings_without_meaning(void **state)
{
    (void)state;
    gv_particles p = sphere();
    gv_run_settings good = settings_of(GRAVEL_DS), s;
    assert_ok(gv_run_check(&good, &p));
#define REFUSED(change, part)                                                                                          \
    s = good;                                                                                                          \
    change;                                                                                                            \
    assert_int_not_equal(gv_run_check(&s, &p), GRAVEL_OK);                                                             \
    assert_contains(gravel_error_message(), part)
    REFUSED(s.until = NAN, "--until");
    REFUSED(s.until = INFINITY, "--until");
    REFUSED(s.order = 3, "2, 4 or 6");
    REFUSED(s.step_max = 0.3, "0.25 or 0.5");
    REFUSED(s.step_min = -1, "above 0");
    REFUSED(s.diagnose_every = -1, "--diagnose-every");
    REFUSED((s.order = 4, s.solver = GV_RUN_TREE), "needs --order 2");
#undef REFUSED
    gv_particles_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_steps_as_the_host_does),
        cmocka_unit_test(own_force_and_stop),
        cmocka_unit_test(settings_without_meaning),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
