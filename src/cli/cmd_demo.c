/* gravel demo: what this machine can do, in a minute. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/check_run.h"
#include "host/base/files.h"
#include "sim/ic.h"
#include "host/base/clock.h"

#define DEMO "gravel demo"

typedef struct demo_options {
    const char *device;
    int no_fp64, verbose;
} demo_options;

static gravel_status show_devices(const gravel_device_info *used)
{
    gravel_device_info *list = NULL;
    int count = 0;
    const gravel_status status = gravel_device_list(&list, &count);
    if (status != GRAVEL_OK)
        return status;
    printf("OpenCL devices of this machine:\n");
    for (int i = 0; i < count; i++) {
        gv_print("  %d: %s (%s), %d compute units, %s double precision\n", list[i].index, list[i].name,
                 list[i].platform, list[i].compute_units, list[i].has_fp64 ? "has" : "no");
    }
    gv_print("The demo runs on %s.\n\n", used->name);
    gravel_device_list_free(list);
    return GRAVEL_OK;
}

/* Pairs per second of the reference, the scale for the table. */
static gravel_status time_reference(double *pairs_per_s)
{
    gv_particles all, some;
    gv_force_set set;
    gravel_status status = gv_ic_plummer(GV_CHECK_N, 1, NULL, &all);
    if (status != GRAVEL_OK)
        return status;
    status = gv_particles_pick(&some, &all, 0, 16, GV_CHECK_N / 16);
    if (status == GRAVEL_OK) {
        status = gv_force_set_create(&set, some.count, 2, 0, 0);
        if (status == GRAVEL_OK) {
            const double start = gv_now();
            status = gv_reference_forces(&some, &all, 1e-2, NULL, &set);
            *pairs_per_s = (double)some.count * (double)all.count / (gv_now() - start);
            gv_force_set_free(&set);
        }
        gv_particles_free(&some);
    }
    gv_particles_free(&all);
    return status;
}

static void show_forces(const gv_check *check, double reference)
{
    static const char *const what[] = {"acc, pot", "+ jerk", "+ snap"};
    gv_table table;
    printf("Forces on and from %d bodies of a Plummer sphere, softening 0.01:\n\n", GV_CHECK_N);
    gv_table_start(&table, "variant|computes|kernel ms|whole call ms|G pairs/s|acc error mean|max|checks");
    for (int v = 0; v < check->variants; v++) {
        const gv_check_variant *of = &check->of[v];
        if (of->runs > 0 && of->run[0].status == GRAVEL_OK) {
            const gv_check_run *run = &of->run[0];
            gv_table_row(&table, "%s|%s|%.3g|%.3g|%.4g|%.1e|%.1e|%s", of->variant.name, what[of->variant.order / 2 - 1],
                         1e3 * run->kernel_s, 1e3 * run->call_s, 1e-9 * of->pairs_per_s, run->errors.mean[GV_ACC],
                         run->errors.max[GV_ACC], gv_verdict_name[of->verdict]);
        } else {
            gv_table_row(&table, "%s|%s||||||%s", of->variant.name, what[of->variant.order / 2 - 1],
                         gv_verdict_name[of->verdict]);
        }
    }
    gv_table_row(&table, "reference|acc, pot|%.3g||%.4g|||", 1e3 * GV_CHECK_N * (double)GV_CHECK_N / reference,
                 1e-9 * reference);
    gv_table_print(&table, stdout);
    gv_table_free(&table);
    printf("\nsp: float; ds: positions and sums as two-floats; dp: double. The reference is plain C in long\n"
           "double on the CPU; the errors are relative to it. checks: with and without softening, neighbours too.\n\n");
}

static void show_failures(const gv_check *check)
{
    for (int v = 0; v < check->variants; v++) {
        for (int r = 0; r < check->of[v].runs; r++) {
            const gv_check_run *run = &check->of[v].run[r];
            if (run->verdict == GV_FAIL) {
                gv_print("FAIL: %s, N = %zu, eps = %g: %.*s\n", check->of[v].variant.name, run->n, run->eps,
                         (int)strcspn(run->message, "\n"), run->message);
            }
        }
    }
}

/* The shell's quotes where it would take a word apart. */
static void quote_word(const char *word, char *text, size_t size)
{
    size_t n = 0;

    if (word[0] != '\0' &&
        strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-") == strlen(word)) {
        snprintf(text, size, "%s", word);
        return;
    }
    n += (size_t)snprintf(text, size, "'");
    for (; *word != '\0' && n + 6 < size; word++)
        n += (size_t)snprintf(text + n, size - n, *word == '\'' ? "'\\''" : "%c", *word);
    snprintf(text + n, size - n, "'");
}

/* Whether the first `gravel` of PATH is this file. */
static int first_in_path(const char *own)
{
    struct stat here, there;
    const char *path = getenv("PATH");

    for (const char *p = path != NULL ? path : ""; *p != '\0' && stat(own, &here) == 0;) {
        const size_t n = strcspn(p, ":");
        char *file = gv_format("%.*s/gravel", (int)n, p);
        const int found = file != NULL && access(file, X_OK) == 0 && stat(file, &there) == 0;

        free(file);
        if (found)
            return here.st_dev == there.st_dev && here.st_ino == there.st_ino;
        p += n + (p[n] == ':');
    }
    return 0;
}

/* What to type for this program, so that the lines below work when they are pasted. */
static void own_name(char *text, size_t size)
{
    char own[4096] = "";
    const ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);

    quote_word(n > 0 && !first_in_path(own) ? own : "gravel", text, size);
}

static void show_next(const gv_check *check, const char *device)
{
    static const struct {
        const char *what, *command;
        int takes_device;
    } line[] = {
        {"make a star cluster", "ic plummer -n 16384 -o plummer.txt", 0},
        {"its forces, as text", "force plummer.txt -o forces.txt --order 4", 1},
        {"check every kernel more thoroughly", "check", 1},
        {"speed against the device's own limits", "bench direct", 1},
        {"all commands", "--help", 0},
        {"find the best configuration of this device", "tune --quick", 1},
    };
    char program[4200], named[512] = "", word[256];
    int tuned = 1;

    own_name(program, sizeof program);
    if (device != NULL) {
        quote_word(device, word, sizeof word);
        snprintf(named, sizeof named, " --device %s", word);
    }
    for (int v = 0; v < check->variants; v++)
        tuned = tuned && check->of[v].runs > 0 && check->of[v].run[0].origin <= GRAVEL_ORIGIN_SHIPPED;
    gv_print("Next:\n");
    for (int k = 0; k < 6 - tuned; k++)
        gv_print("  %s:\n      %s %s%s\n", line[k].what, program, line[k].command, line[k].takes_device ? named : "");
}

static int run_demo(const void *values, const gv_operands *operands)
{
    const demo_options *opts = values;
    gv_check check;
    double reference = 0;
    int code = GV_EXIT_OK;
    (void)operands;
    memset(&check, 0, sizeof check);
    check.level = GV_CHECK_DEMO;
    gv_signals_catch(0.7, DEMO ": stopped\n");
    gravel_status status = gv_cli_context(&check.context, opts->device, opts->no_fp64, opts->verbose);
    if (status == GRAVEL_OK)
        status = show_devices(gravel_context_get_device(check.context, 0));
    if (status == GRAVEL_OK) {
        gv_variant variant[GV_VARIANTS];
        code = gv_variants_choose(DEMO, NULL, gravel_context_get_device(check.context, 0), variant, &check.variants);
        for (int v = 0; v < check.variants; v++)
            check.of[v].variant = variant[v];
        printf("Compiling and checking %d kernel variants; the first time this takes up to a minute.\n\n",
               check.variants);
        fflush(stdout);
        status = gv_check_all(&check);
    }
    if (status == GRAVEL_OK)
        status = time_reference(&reference);
    if (status == GRAVEL_OK) {
        show_forces(&check, reference);
        show_failures(&check);
        printf("%s", check.verdict == GV_FAIL ? "\n" : "");
        show_next(&check, opts->device);
        code = check.verdict == GV_FAIL ? GV_EXIT_FAILURE : code;
    } else {
        code = gv_cli_fail(DEMO, status);
    }
    gv_check_free(&check);
    gravel_context_release(check.context);
    return code;
}

static const gv_opt opts_table[] = {
    GV_OPT_DEVICE(demo_options),
    GV_OPT_NO_FP64(demo_options),
    GV_OPT_VERBOSE(demo_options),
    {.name = NULL},
};

const gv_command gv_cmd_demo = {
    .name = "demo",
    .summary = "show what this machine can do: devices, a check, speed and errors",
    .synopsis = "[--device D]",
    .opts = opts_table,
    .examples = "gravel demo\n"
                "gravel demo --device cpu\n",
    .size = sizeof(demo_options),
    .run = run_demo,
};
