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

static int ends_with(const char *file, const char *end)
{
    const size_t n = strlen(file), k = strlen(end);

    return n > k && strcmp(file + n - k, end) == 0;
}

/* No shell, no file of the user's settings (-d), and no name of a file: the picture comes through a pipe. */
static pid_t start_gnuplot(int *to, int *from, FILE *words)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    pid_t pid = -1;

    if (pipe(in) == 0 && pipe(out) == 0)
        pid = fork();
    if (pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        dup2(fileno(words), STDERR_FILENO);
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
static int exchange(const char *script, size_t left, int late, int to, int from, FILE *picture)
{
    char block[16384];

    fcntl(to, F_SETFL, O_NONBLOCK);
    for (;;) {
        struct pollfd fd[2] = {{from, POLLIN, 0}, {to, POLLOUT, 0}};

        if (gv_signals_pending() && !late)
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

/* What gnuplot says is of use only where it fails; animations make it talk. */
static void pass_on(FILE *words)
{
    char line[400];

    rewind(words);
    while (fgets(line, sizeof line, words) != NULL) {
        gv_plain(line, 1);
        fputs(line, stderr);
    }
}

static gravel_status run_gnuplot(const gv_plot *plot, FILE *picture)
{
    struct sigaction ignore, before;
    int to, from, state = 0, whole;
    FILE *words = tmpfile();
    pid_t pid;

    if (words == NULL)
        return gv_fail(GRAVEL_ERR_FILE, "cannot make a temporary file: %s", strerror(errno));
    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &before);
    gv_signals_catch(0, NULL); /* so that gnuplot is ended too */
    pid = start_gnuplot(&to, &from, words);
    whole = pid > 0 && exchange(plot->text, plot->size, plot->late, to, from, picture);
    if (pid > 0 && !whole)
        kill(pid, SIGKILL);
    close(from);
    while (pid > 0 && waitpid(pid, &state, 0) < 0 && errno == EINTR) {
    }
    sigaction(SIGPIPE, &before, NULL);
    const int failed = !WIFEXITED(state) || WEXITSTATUS(state) != 0;
    if (pid > 0 && whole && failed)
        pass_on(words);
    fclose(words);
    if (pid > 0 && !whole)
        return gv_fail(GRAVEL_ERR_CANCELLED, "stopped; an earlier file is kept");
    if (pid < 0 || (WIFEXITED(state) && WEXITSTATUS(state) == 127))
        return gv_fail(GRAVEL_ERR_STATE, "gnuplot cannot be started (package gnuplot-nox)");
    return failed ? gv_fail(GRAVEL_ERR_STATE, "gnuplot failed; its message is above") : GRAVEL_OK;
}

gravel_status gv_plot_check(const char *file, double frames)
{
    if (frames > 0 && !ends_with(file, ".gif"))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: an animation is a .gif file", file);
    if (frames <= 0 && ends_with(file, ".gif"))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: a plot is a .png, .svg or .pdf file; .gif is for --movie", file);
    if (frames <= 0 && !ends_with(file, ".png") && !ends_with(file, ".svg") && !ends_with(file, ".pdf"))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: a plot is a .png, .svg or .pdf file", file);
    return GRAVEL_OK;
}

gravel_status gv_plot_begin(gv_plot *plot, const char *file, int width, int height, double frames)
{
    *plot = (gv_plot){.file = file};
    const gravel_status status = gv_plot_check(file, frames);
    if (status)
        return status;
    plot->script = open_memstream(&plot->text, &plot->size);
    if (plot->script == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a plot");
    fputs("set encoding utf8\n", plot->script);
    if (frames > 0) /* the delay is in hundredths of a second */
        fprintf(plot->script, "set terminal gif animate delay %.0f loop 0 optimize size %d,%d font 'Sans,11'\n",
                100.0 / frames, width, height);
    else if (ends_with(file, ".pdf"))
        fprintf(plot->script, "set terminal pdfcairo size %g,%g font 'Sans,11'\n", width / 110.0, height / 110.0);
    else
        fprintf(plot->script, "set terminal %s size %d,%d %s\n", ends_with(file, ".png") ? "pngcairo" : "svg", width,
                height, ends_with(file, ".png") ? "font 'Sans,11'" : "background rgb 'white'");
    return GRAVEL_OK;
}

void gv_plot_drop(gv_plot *plot)
{
    if (plot->script != NULL)
        fclose(plot->script);
    free(plot->text);
    *plot = (gv_plot){0};
}

gravel_status gv_plot_finish(gv_plot *plot)
{
    gv_out_file out;
    gravel_status status;

    fputs("\nunset multiplot\nset output\n", plot->script);
    status = fflush(plot->script) == 0 && !ferror(plot->script) ? gv_out_open(&out, plot->file)
                                                                : gv_fail(GRAVEL_ERR_MEMORY, "no memory for a plot");
    if (status == GRAVEL_OK) {
        status = run_gnuplot(plot, out.stream);
        if (status == GRAVEL_OK)
            status = gv_out_commit(&out);
        else
            gv_out_abort(&out);
    }
    gv_plot_drop(plot);
    return status;
}

gravel_status gv_plot_run(const char *script, const char *file, int width, int height)
{
    gv_plot plot;
    const gravel_status status = gv_plot_begin(&plot, file, width, height, 0);

    if (status != GRAVEL_OK)
        return status;
    fputs(script, plot.script);
    return gv_plot_finish(&plot);
}
