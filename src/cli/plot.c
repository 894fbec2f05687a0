#include "cli/plot.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/files.h"

static int is_png(const char *file) {
    const char *dot = strrchr(file, '.');

    return dot == NULL ? -1 : strcmp(dot, ".png") == 0 ? 1 : strcmp(dot, ".svg") == 0 ? 0 : -1;
}

/* gnuplot reads the script from a pipe; no shell sees any name. */
static gravel_status run_gnuplot(const char *script) {
    int pipe_fd[2], state = 0;
    size_t n = strlen(script);
    pid_t pid;
    struct sigaction ignore, before;

    if (pipe(pipe_fd) != 0) {
        return gv_fail(GRAVEL_ERR_FILE, "gnuplot cannot be started: %s", strerror(errno));
    }
    pid = fork();
    if (pid == 0) {
        dup2(pipe_fd[0], 0);
        close(pipe_fd[0]);
        close(pipe_fd[1]);
        execlp("gnuplot", "gnuplot", "-", (char *)NULL);
        _exit(127);
    }
    close(pipe_fd[0]);
    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &before);
    while (pid > 0 && n > 0) {
        ssize_t put = write(pipe_fd[1], script, n);

        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            break;
        }
        script += put;
        n -= (size_t)put;
    }
    close(pipe_fd[1]);
    while (pid > 0 && waitpid(pid, &state, 0) < 0 && errno == EINTR) {
    }
    sigaction(SIGPIPE, &before, NULL);
    if (pid < 0 || (WIFEXITED(state) && WEXITSTATUS(state) == 127)) {
        return gv_fail(GRAVEL_ERR_FILE, "gnuplot is not there (package gnuplot-nox)");
    }
    return WIFEXITED(state) && WEXITSTATUS(state) == 0
               ? GRAVEL_OK
               : gv_fail(GRAVEL_ERR_FILE, "gnuplot failed; its message is above");
}

gravel_status gv_plot_run(const char *script, const char *file, int width, int height) {
    int png = is_png(file);
    char *temporary = gv_format("%s.part", file), *whole = NULL;
    gravel_status status;

    if (png < 0 || strchr(file, '\'') != NULL) {
        free(temporary);
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: a plot is a .png or a .svg file", file);
    }
    if (temporary != NULL) {
        whole = gv_format("set terminal %s size %d,%d %s\nset output '%s'\n%s\nunset multiplot\nset output\n",
                          png ? "pngcairo" : "svg", width, height, png ? "font 'Sans,11'" : "background rgb 'white'",
                          temporary, script);
    }
    if (whole == NULL) {
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for a plot");
    } else {
        status = run_gnuplot(whole);
        if (status == GRAVEL_OK && rename(temporary, file) != 0) {
            status = gv_fail(GRAVEL_ERR_FILE, "%s: cannot be written: %s", file, strerror(errno));
        }
        if (status != GRAVEL_OK) {
            unlink(temporary);
        }
    }
    free(whole);
    free(temporary);
    return status;
}
