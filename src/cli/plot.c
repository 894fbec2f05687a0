#include "cli/plot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/say.h"
#include "cli/signals.h"
#include "host/base/files.h"
#include "sim/out_file.h"

/* ------------------------------------------------------------------- text */

void gv_plot_text(FILE *script, const char *text, int most)
{
    char *plain = gv_format("%s", text);
    int n = 0;

    fputc('\'', script);
    if (plain)
        gv_plain(plain, 0);
    for (const char *c = plain; c && *c != '\0'; c++) {
        const int begins = ((unsigned char)*c & 0xc0) != 0x80; /* a character, not a further byte of one */

        if (begins && n++ == most) {
            fputs("...", script);
            break;
        }
        fputc(strchr("'\"`\\\t", *c) ? ' ' : *c, script);
    }
    fputc('\'', script);
    free(plain);
}

void gv_plot_title(FILE *script, const char *name, const char *what)
{
    fputs("set title ", script);
    gv_plot_text(script, name, 90);
    fputs(".\"\\n\".", script);
    gv_plot_text(script, what, 110);
    fputs(" noenhanced\n", script);
}

/* -------------------------------------------------------------- a process */

static int is_png(const char *file)
{
    const char *dot = strrchr(file, '.');

    return dot == NULL ? -1 : strcmp(dot, ".png") == 0 ? 1 : strcmp(dot, ".svg") == 0 ? 0 : -1;
}

/* No shell, no file of the user's settings (-d), and no name of a file: the picture comes through a pipe. */
static pid_t start_gnuplot(int *to, int *from)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    pid_t pid = -1;

    if (pipe(in) == 0 && pipe(out) == 0)
        pid = fork();
    if (pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        close(in[0]);
        close(in[1]);
        close(out[0]);
        close(out[1]);
        gv_signals_pass();
        execlp("gnuplot", "gnuplot", "-d", "-", (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    *to = in[1];
    *from = out[0];
    return pid;
}

/* Writes the script and reads the picture, whichever pipe is ready; 0 after a signal. */
static int exchange(const char *script, int to, int from, FILE *picture)
{
    size_t left = strlen(script);
    char block[16384];

    fcntl(to, F_SETFL, O_NONBLOCK);
    for (;;) {
        struct pollfd fd[2] = {{from, POLLIN, 0}, {to, POLLOUT, 0}};

        if (gv_signals_pending())
            return 0;
        if (poll(fd, to >= 0 ? 2 : 1, 200) <= 0) /* a signal may come just before */
            continue;
        if (to >= 0 && fd[1].revents) {
            const ssize_t put = write(to, script, left);

            script += put > 0 ? put : 0;
            left -= put > 0 ? (size_t)put : 0;
            if (left == 0 || (put < 0 && errno != EAGAIN && errno != EINTR)) {
                close(to);
                to = -1;
            }
        }
        if (fd[0].revents) {
            const ssize_t got = read(from, block, sizeof block);

            if (got == 0)
                return 1;
            fwrite(block, 1, got > 0 ? (size_t)got : 0, picture);
        }
    }
}

static gravel_status run_gnuplot(const char *script, FILE *picture)
{
    struct sigaction ignore, before;
    int to, from, state = 0, whole;
    pid_t pid;

    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &before);
    gv_signals_catch(0, NULL); /* so that gnuplot is ended too */
    pid = start_gnuplot(&to, &from);
    whole = pid > 0 && exchange(script, to, from, picture);
    if (pid > 0 && !whole)
        kill(pid, SIGKILL);
    close(from);
    while (pid > 0 && waitpid(pid, &state, 0) < 0 && errno == EINTR) {
    }
    sigaction(SIGPIPE, &before, NULL);
    if (pid > 0 && !whole)
        return gv_fail(GRAVEL_ERR_CANCELLED, "stopped; an earlier file is kept");
    if (pid < 0 || (WIFEXITED(state) && WEXITSTATUS(state) == 127))
        return gv_fail(GRAVEL_ERR_STATE, "gnuplot cannot be started (package gnuplot-nox)");
    return WIFEXITED(state) && WEXITSTATUS(state) == 0
               ? GRAVEL_OK
               : gv_fail(GRAVEL_ERR_STATE, "gnuplot failed; its message is above");
}

gravel_status gv_plot_run(const char *script, const char *file, int width, int height)
{
    const int png = is_png(file);
    gv_out_file out;
    gravel_status status;
    char *whole;

    if (png < 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: a plot is a .png or a .svg file", file);
    whole =
        gv_format("set encoding utf8\nset terminal %s size %d,%d %s\n%s\nunset multiplot\nset output\n",
                  png ? "pngcairo" : "svg", width, height, png ? "font 'Sans,11'" : "background rgb 'white'", script);
    status = whole ? gv_out_open(&out, file) : gv_fail(GRAVEL_ERR_MEMORY, "no memory for a plot");
    if (status == GRAVEL_OK) {
        status = run_gnuplot(whole, out.stream);
        if (status == GRAVEL_OK)
            status = gv_out_commit(&out);
        else
            gv_out_abort(&out);
    }
    free(whole);
    return status;
}
