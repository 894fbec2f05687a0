#include "sim/cosmo_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/out_file.h"

gravel_status gv_cosmo_table_create(const char *path, const gv_particles *p)
{
    const gv_cosmology *c = &p->box.cosmology;
    char text[GV_UNITS_TEXT];
    gv_out_file file;
    const gravel_status status = gv_out_open(&file, path);
    if (status)
        return status;
    fprintf(file.stream, "# gravel cosmology 1\n# box %.17g, %zu bodies, comoving and over h: %s\n", p->box.side,
            p->count, gv_units_text(&p->units, text));
    fprintf(file.stream, "# h %.9g Omega_m %.9g Omega_L %.9g Omega_b %.9g n_s %.9g sigma_8 %.9g\n", c->h, c->omega_m,
            c->omega_l, c->omega_b, c->n_s, c->sigma_8);
    fputs("# error: of a (T + W) + integral T da, over the change of a W since the start (Layzer and Irvine)\n"
          "# a redshift kinetic potential error momentum blocks steps\n",
          file.stream);
    return gv_out_commit(&file);
}

static gravel_status fail(const char *path)
{
    return gv_fail(GRAVEL_ERR_FILE, "cannot write %s: %s", path, strerror(errno));
}

gravel_status gv_cosmo_table_append(const char *path, const gv_cosmo_line *l)
{
    FILE *stream = fopen(path, "a");
    if (!stream)
        return fail(path);
    const int written = fprintf(stream, "%.17g %.9g %.9g %.17g %.6e %.3e %.0f %.0f\n", l->a, 1 / l->a - 1, l->kinetic,
                                l->potential, l->error, l->momentum, l->blocks, l->steps);
    const int closed = fclose(stream);
    return written > 0 && closed == 0 ? GRAVEL_OK : fail(path);
}

gravel_status gv_cosmo_table_sync(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const int written = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
    const gravel_status status = written ? GRAVEL_OK : fail(path);
    if (fd >= 0)
        close(fd);
    return status;
}

gravel_status gv_cosmo_table_cut(const char *path, size_t count)
{
    char text[512];
    size_t lines = 0;
    long end = 0;
    FILE *stream = fopen(path, "r");
    if (!stream)
        return gv_fail(GRAVEL_ERR_FILE, "cannot read %s: %s", path, strerror(errno));
    while (fgets(text, sizeof text, stream)) {
        if (text[0] != '#' && lines++ == count)
            break;
        end = ftell(stream);
    }
    fclose(stream);
    if (lines < count)
        return gv_fail(GRAVEL_ERR_FORMAT, "%s has %zu lines; the checkpoint was written after %zu: it was changed",
                       path, lines, count);
    return truncate(path, end) == 0 ? GRAVEL_OK : fail(path);
}
