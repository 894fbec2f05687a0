#include "sim/diagnostics_table.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/files.h"

static const char magic[] = "# gravel diagnostics 1\n";
enum { MOST_COLUMNS = 512, NOT_OURS = -1, LONGEST_LINE = GV_DIAGNOSTIC_COLUMNS * 26 };
/* All lines, the heading, and lines at ends that were put off. */
static const size_t LARGEST = (size_t)GV_DIAGNOSTIC_LINES * LONGEST_LINE + (1 << 20);

/* ---------------------------------------------------------------- reading */

/* The lines of a file in memory, and what its header says. */
typedef struct parser {
    const char *path, *text, *end; /* end: behind the last whole line */
    const char *next;              /* line */
    size_t line;
    gv_units units;
    size_t bodies;
    int columns, column[MOST_COLUMNS]; /* of gv_diagnostics, or NOT_OURS */
} parser;

static gravel_status fail_line(const parser *s, const char *why)
{
    return gv_fail(GRAVEL_ERR_FORMAT, "%s, line %zu: %s", s->path, s->line, why);
}

static int column_named(const char *name, size_t length)
{
    for (int k = 0; k < GV_DIAGNOSTIC_COLUMNS; k++)
        if (strlen(gv_diagnostic_column_at[k].name) == length &&
            memcmp(gv_diagnostic_column_at[k].name, name, length) == 0)
            return k;
    return NOT_OURS;
}

/* "# time steps ...": whichever line stands last before the numbers. */
static gravel_status read_names(parser *s, const char *line, const char *end)
{
    s->columns = 0;
    for (const char *p = line + 1; p < end;) {
        p += strspn(p, " \t\r");
        const size_t length = strcspn(p, " \t\r\n");
        if (length == 0)
            break;
        if (s->columns == MOST_COLUMNS)
            return fail_line(s, "too many columns");
        s->column[s->columns++] = column_named(p, length);
        p += length;
    }
    return GRAVEL_OK;
}

static int begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static gravel_status read_header(parser *s)
{
    const char *names = NULL, *names_end = NULL;
    size_t names_line = 0;
    if (!begins(s->text, magic))
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: not a table of diagnostics (it begins with \"%.*s\")", s->path,
                       (int)strlen(magic) - 1, magic);
    while (s->next < s->end && *s->next == '#') {
        gv_units u;
        const char *end = memchr(s->next, '\n', (size_t)(s->end - s->next));
        s->line++;
        /* the prefix first: sscanf takes the length of all text that follows */
        if (begins(s->next, "# in cgs: ") && sscanf(s->next, "# in cgs: length %lf mass %lf velocity %lf", &u.length_cm,
                                                    &u.mass_g, &u.velocity_cm_s) == 3)
            s->units = u;
        if (begins(s->next, "# bodies: "))
            s->bodies = (size_t)strtoull(s->next + strlen("# bodies: "), NULL, 10);
        names = s->next;
        names_end = end;
        names_line = s->line;
        s->next = end + 1;
    }
    s->line = names_line;
    gravel_status status = read_names(s, names, names_end);
    for (int k = 0; !status && k < s->columns; k++)
        if (s->column[k] == 0)
            return GRAVEL_OK;
    return status ? status : fail_line(s, "the names of the columns are missing, or time among them");
}

/* One line into the record; columns that it lacks are NaN. */
static gravel_status read_row(parser *s, gv_diagnostics *record)
{
    double *value = (double *)record;
    const char *p = s->next, *end = memchr(p, '\n', (size_t)(s->end - p));
    int k = 0;
    for (int c = 0; c < GV_DIAGNOSTIC_COLUMNS; c++)
        value[c] = NAN;
    s->line++;
    for (;;) {
        char *behind;
        p += strspn(p, " \t\r");
        if (p >= end)
            break;
        const double number = strtod(p, &behind);
        if (behind == p || !strchr(" \t\r\n", *behind))
            return fail_line(s, "not a number");
        if (k == s->columns)
            return fail_line(s, "more numbers than columns");
        if (s->column[k] != NOT_OURS)
            value[s->column[k]] = number;
        k++;
        p = behind;
    }
    s->next = end + 1;
    return k == s->columns ? GRAVEL_OK : fail_line(s, "fewer numbers than columns");
}

/* The whole file; what stands behind the last line end does not count. */
static gravel_status open_parser(parser *s, const char *path, char **text, int *torn)
{
    size_t size;
    *s = (parser){.path = path, .units = GV_UNITS_NBODY};
    gravel_status status = gv_file_read(path, LARGEST, text, &size);
    if (status)
        return status;
    s->text = s->next = s->end = *text;
    for (size_t i = 0; i < size; i++)
        if ((*text)[i] == '\n')
            s->end = *text + i + 1;
    *torn = s->end != *text + size;
    return read_header(s);
}

gravel_status gv_diagnostics_read(gv_diagnostics_table *table, const char *path)
{
    char *text = NULL;
    parser s;
    size_t lines = 0;
    *table = (gv_diagnostics_table){.units = GV_UNITS_NBODY};
    gravel_status status = open_parser(&s, path, &text, &table->torn);
    for (const char *p = s.next; !status && p < s.end; p++)
        lines += *p == '\n';
    if (!status && lines > 0 && !(table->row = malloc(lines * sizeof *table->row)))
        status = gv_fail(GRAVEL_ERR_MEMORY, "%s: no memory for %zu lines", path, lines);
    while (!status && s.next < s.end)
        status = read_row(&s, &table->row[table->rows++]);
    table->units = s.units;
    table->bodies = s.bodies;
    free(text);
    if (status)
        gv_diagnostics_free(table);
    return status;
}

void gv_diagnostics_free(gv_diagnostics_table *table)
{
    free(table->row);
    *table = (gv_diagnostics_table){.units = GV_UNITS_NBODY};
}

int gv_diagnostics_is_table(const char *path)
{
    char begin[sizeof magic] = "";
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return 0;
    /* not of a pipe: what is taken from it is gone */
    const ssize_t got = lseek(fd, 0, SEEK_CUR) < 0 ? 0 : read(fd, begin, sizeof magic - 1);
    close(fd);
    return got == (ssize_t)sizeof magic - 1 && memcmp(begin, magic, sizeof magic - 1) == 0;
}

/* ---------------------------------------------------------------- writing */

static gravel_status fail_write(const char *path, int error)
{
    return gv_fail(GRAVEL_ERR_FILE, "cannot write %s: %s%s", path, strerror(error),
                   error == ENOSPC ? "; free some space" : "");
}

static void put_header(FILE *out, const gv_units *units, size_t bodies)
{
    char text[GV_UNITS_TEXT];
    fprintf(out, "%s# units: %s\n", magic, gv_units_text(units, text));
    fprintf(out, "# in cgs: length %.17g mass %.17g velocity %.17g (0: N-body, G = 1)\n", units->length_cm,
            units->mass_g, units->velocity_cm_s);
    fprintf(out, "# bodies: %zu\n# columns: number, name, [unit], meaning; nan: not known\n", bodies);
    for (int k = 0; k < GV_DIAGNOSTIC_COLUMNS; k++) {
        const gv_diagnostic_column *c = &gv_diagnostic_column_at[k];
        fprintf(out, "# %d %s [%s] %s\n", k + 1, c->name, gv_unit_text(units, c->length, c->mass, c->velocity, text),
                c->meaning);
    }
    fputc('#', out);
    for (int k = 0; k < GV_DIAGNOSTIC_COLUMNS; k++)
        fprintf(out, " %s", gv_diagnostic_column_at[k].name);
    fputc('\n', out);
}

static gravel_status open_for_writing(gv_diagnostics_file *file, const char *path, int64_t length)
{
    *file = (gv_diagnostics_file){.fd = -1, .length = length, .first = NAN, .last = NAN};
    file->path = gv_format("%s", path);
    if (!file->path)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a name");
    file->fd = open(path, O_WRONLY | O_CLOEXEC);
    if (file->fd < 0 || ftruncate(file->fd, (off_t)length) != 0 || lseek(file->fd, (off_t)length, SEEK_SET) < 0) {
        const gravel_status status = fail_write(path, errno);
        gv_diagnostics_close(file);
        return status;
    }
    return GRAVEL_OK;
}

gravel_status gv_diagnostics_create(gv_diagnostics_file *file, const char *path, const gv_units *units, size_t bodies)
{
    char *header = NULL;
    size_t size = 0;
    *file = (gv_diagnostics_file){.fd = -1};
    FILE *out = open_memstream(&header, &size);
    if (out)
        put_header(out, units, bodies);
    if (!out || fclose(out) != 0) {
        free(header);
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a table of diagnostics");
    }
    gravel_status status = gv_file_write(path, header, size);
    free(header);
    return status ? status : open_for_writing(file, path, (int64_t)size);
}

/* Lines are added to a table of the same columns only. */
static gravel_status check_columns(const parser *s)
{
    int same = s->columns == GV_DIAGNOSTIC_COLUMNS;
    for (int k = 0; same && k < s->columns; k++)
        same = s->column[k] == k;
    return same ? GRAVEL_OK
                : gv_fail(GRAVEL_ERR_FORMAT, "%s: written by another version of gravel: its columns differ", s->path);
}

gravel_status gv_diagnostics_resume(gv_diagnostics_file *file, const char *path, double time)
{
    char *text = NULL;
    int torn;
    parser s;
    gv_diagnostics record = {.energy = NAN};
    size_t rows = 0;
    double first = NAN, last = NAN;
    *file = (gv_diagnostics_file){.fd = -1};
    gravel_status status = open_parser(&s, path, &text, &torn);
    if (!status)
        status = check_columns(&s);
    const char *keep = s.next;
    while (!status && s.next < s.end) {
        status = read_row(&s, &record);
        if (status || record.time > time)
            break;
        first = rows++ == 0 ? record.energy : first;
        last = record.time;
        keep = s.next;
    }
    const int64_t length = keep - text;
    free(text);
    if (!status)
        status = open_for_writing(file, path, length);
    if (status)
        return status;
    file->rows = rows;
    file->first = first;
    file->last = last;
    return GRAVEL_OK;
}

/* All of it or nothing. */
static gravel_status write_line(gv_diagnostics_file *file, const char *line, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t put = write(file->fd, line + done, size - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0) {
            const int error = errno;
            if (ftruncate(file->fd, (off_t)file->length) == 0)
                lseek(file->fd, (off_t)file->length, SEEK_SET);
            return fail_write(file->path, error);
        }
        done += (size_t)put;
    }
    file->length += (int64_t)size;
    return GRAVEL_OK;
}

double gv_diagnostics_error(const gv_diagnostics_file *file, double energy)
{
    const double first = file->rows == 0 ? energy : file->first;
    return energy == first ? 0.0 : (energy - first) / fabs(first);
}

gravel_status gv_diagnostics_append(gv_diagnostics_file *file, gv_diagnostics *record)
{
    char line[LONGEST_LINE + 1];
    const double first = file->rows == 0 ? record->energy : file->first;
    const double *value = (const double *)record;
    size_t used = 0;
    record->energy_error = gv_diagnostics_error(file, record->energy);
    for (int k = 0; k < GV_DIAGNOSTIC_COLUMNS; k++) {
        const char *sign = isnan(value[k]) ? "nan" : NULL; /* without the sign that some libraries print */
        used += sign ? (size_t)snprintf(line + used, sizeof line - used, "%s ", sign)
                     : (size_t)snprintf(line + used, sizeof line - used, "%.17g ", value[k]);
    }
    line[used - 1] = '\n';
    gravel_status status = write_line(file, line, used);
    if (status)
        return status;
    file->first = first;
    file->last = record->time;
    file->rows++;
    return GRAVEL_OK;
}

gravel_status gv_diagnostics_sync(gv_diagnostics_file *file)
{
    return fsync(file->fd) == 0 || errno == EINVAL ? GRAVEL_OK : fail_write(file->path, errno);
}

void gv_diagnostics_close(gv_diagnostics_file *file)
{
    if (file->path && file->fd >= 0)
        close(file->fd);
    free(file->path);
    *file = (gv_diagnostics_file){.fd = -1};
}
