/* gravel: the program.  The table below is all of it; each subcommand has its file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/cmd_cosmo.h"
#include "cli/ranks.h"
#include "cli/start.h"
#include "host/base/files.h"

static const char *const about = "gravel " GRAVEL_VERSION ": gravitational N-body forces on any OpenCL device\n\n";

/* run.json may be lost: the checkpoint, which has its text, is enough to go on. */
static int is_box(const char *folder)
{
    char *path = gv_path_join(folder, "run.json"), *table = gv_path_join(folder, "cosmology.txt"), *text = NULL;
    const int box = (path && !gv_file_read(path, 1 << 20, &text, NULL) && gv_cosmo_is_record(text)) ||
                    (table && access(table, F_OK) == 0);
    free(text);
    free(table);
    free(path);
    return box;
}

/* gravel run: two tables of options; a folder says which it is of. */
static gv_command run_command(int argc, char **argv)
{
    for (int k = 2; k < argc; k++)
        if (strcmp(argv[k], "--cosmology") == 0 || (strncmp(argv[k], "--resume=", 9) == 0 && is_box(argv[k] + 9)) ||
            (strcmp(argv[k], "--resume") == 0 && k + 1 < argc && is_box(argv[k + 1])))
            return gv_cmd_run_cosmology;
    return gv_cmd_run;
}

int main(int argc, char **argv)
{
    const gv_command bench[] = {gv_cmd_bench_direct,   gv_cmd_bench_tree,     gv_cmd_bench_step,
                                gv_cmd_bench_transfer, gv_cmd_bench_several,  gv_cmd_bench_hermite,
                                gv_cmd_bench_blocks,   gv_cmd_bench_leapfrog, gv_cmd_bench_periodic,
                                gv_cmd_bench_tasks,    gv_cmd_bench_requests, {.name = NULL}};
    const gv_command table[] = {
        gv_cmd_devices,
        {.name = "ic", .summary = "make initial conditions", .sub = gv_cmd_ic},
        gv_cmd_info,
        gv_cmd_convert,
        gv_cmd_check,
        gv_cmd_force,
        run_command(argc, argv),
        gv_cmd_analyse,
        {.name = "bench", .summary = "measure speed against the device's own limits", .sub = bench},
        gv_cmd_tune,
        {.name = "profiles", .summary = "look at, check and move tuned configurations", .sub = gv_cmd_profiles},
        {.name = "plot", .summary = "figures from what was measured", .sub = gv_cmd_plot},
        {.name = "cluster", .summary = "the ranks of an MPI job: devices, network", .sub = gv_cmd_cluster},
        gv_cmd_model,
        gv_cmd_demo,
        {.name = NULL},
    };
    gv_streams_open();
    gv_signals_start();
    gv_ranks_begin(argc, argv);
    gv_pocl_folder(argc >= 2 && argv[1][0] != '-');
    /* NVIDIA's driver prepares for eight queues of a device by default, and opens and closes it 0.08 s
     * sooner without.  Copies beside kernels do not need them: `gravel bench transfer` is as fast with one. */
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 0);
    if (argc >= 2 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
        printf("gravel %s\n", gravel_version());
    } else {
        if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
            fputs(about, stdout);
        const int code = gv_command_dispatch("gravel", table, argc - 1, argv + 1);
        if (code != GV_EXIT_OK)
            return gv_ranks_leave(gv_signals_pending() ? 128 + gv_signals_pending() : code);
    }
    const gravel_status status = gv_cli_flush();
    return status != GRAVEL_OK ? (gv_cli_fail("gravel", status), GV_EXIT_FAILURE) : GV_EXIT_OK;
}
