#include "sim/particle_text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cpu_ref/parallel.h"
#include "sim/decimal.h"

enum {
    BLOCK = 1 << 18,        /* bytes read at once; */
    LARGE_BLOCK = 1 << 23,  /* of large files, whose lines all cores share */
    PIECES = 64,            /* of a block */
    LONGEST_LINE = 1 << 20, /* a longer one means that this is no text file */
    MAX_COLUMNS = GV_PARTICLE_COLUMNS
};

typedef struct reader {
    const char *name; /* for messages */
    int fd;
    char *buffer;                /* capacity + 1 bytes: room for a newline at the end of the file */
    size_t capacity, begin, end; /* of what was read and not yet taken */
    int at_end, fresh;           /* fresh: read, and not yet tried by all cores */
    size_t line, first_line;     /* first_line: the first one with particles */
    size_t file_size;            /* 0: unknown */
    int all_lines_end;           /* with a newline, also the last one, or the file was cut, perhaps inside a number */
    int columns;
    size_t room;
    gv_particles *out;
} reader;

/* ---------------------------------------------------------------- lines */

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* What may follow a number. */
static int is_end(char c)
{
    return is_blank(c) || c == '\n' || c == '#' || c == ',' || c == ';';
}

/* A word of the file for a message: cut, without control characters. */
static const char *quote(const char *word, char text[24])
{
    size_t n = 0;
    while (n < 20 && !is_end(word[n])) {
        text[n] = (unsigned char)word[n] < 32 || (unsigned char)word[n] > 126 ? '?' : word[n];
        n++;
    }
    strcpy(text + n, n == 20 ? "..." : "");
    return text;
}

static gravel_status fail_at(const reader *r, const char *line, const char *place, gravel_status status,
                             const char *what, const char *word)
{
    char text[24];
    return gv_fail(status, "%s, line %zu, column %zu: %s%s%s", r->name, r->line, (size_t)(place - line) + 1, what,
                   word != NULL ? " " : "", word != NULL ? quote(word, text) : "");
}

/* Why the word is not taken as a number. */
static gravel_status fail_number(const reader *r, const char *line, const char *word, int column)
{
    char what[96], begin[5] = "";
    const char *bare = word + (*word == '-' || *word == '+');
    for (int i = 0; i < 4 && bare[i] != '\n'; i++)
        begin[i] = (char)(bare[i] | 32); /* lower case of letters */
    if (strncmp(begin, "nan", 3) == 0 || strncmp(begin, "inf", 3) == 0) {
        snprintf(what, sizeof what, "particle %zu: %s is not finite:", r->out->count, gv_particle_column[column]);
        return fail_at(r, line, word, GRAVEL_ERR_INPUT, what, word);
    }
    const int missing = is_end(*word);
    snprintf(what, sizeof what, missing ? "%s is missing" : "%s is not a number:", gv_particle_column[column]);
    return fail_at(r, line, word, GRAVEL_ERR_FORMAT, what, missing ? NULL : word);
}

static gravel_status read_id(const reader *r, const char *line, const char **word, int32_t *id)
{
    const char *p = *word;
    const int negative = *p == '-';
    int64_t value = 0;
    const char *digits = p += *p == '-' || *p == '+';
    for (; *p >= '0' && *p <= '9' && value <= INT32_MAX; p++)
        value = value * 10 + (*p - '0');
    if (p == digits || (!is_end(*p) && !(*p >= '0' && *p <= '9')))
        return fail_at(r, line, *word, GRAVEL_ERR_FORMAT, "the first column is the id, a whole number, not", *word);
    value = negative ? -value : value;
    if (value < INT32_MIN || value > INT32_MAX || (*p >= '0' && *p <= '9'))
        return fail_at(r, line, *word, GRAVEL_ERR_FORMAT, "an id is from -2147483648 to 2147483647, not", *word);
    *id = (int32_t)value;
    *word = p;
    return GRAVEL_OK;
}

/* One line that ends with '\n', into values; *columns 0: nothing on it. */
static gravel_status read_line(const reader *r, const char *line, int32_t *id, double value[MAX_COLUMNS], int *columns)
{
    gravel_status status;
    const char *p = line;
    int commas = -1; /* between the columns of this line; -1: not known yet */
    *columns = 0;
    for (;;) {
        int comma = 0; /* one more column must follow */
        while (is_blank(*p) || (*columns > 0 && !comma && (*p == ',' || *p == ';')))
            comma |= !is_blank(*p++);
        if ((*p == '\n' || *p == '#') && !comma)
            return GRAVEL_OK;
        if (*columns > 0 && commas >= 0 && comma != commas)
            return fail_at(r, line, p, GRAVEL_ERR_FORMAT,
                           "columns are separated by blanks or by commas, not both (decimal commas are not read):", p);
        commas = *columns > 0 ? comma : commas;
        if (*columns == MAX_COLUMNS)
            return fail_at(r, line, p, GRAVEL_ERR_FORMAT, "more than 11 columns (id m x y z vx vy vz ax ay az):", p);
        if (*columns == 0) {
            if ((status = read_id(r, line, &p, id)) != GRAVEL_OK)
                return status;
        } else {
            const char *end = gv_decimal_read(p, &value[*columns]);
            if (end == NULL || !is_end(*end))
                return fail_number(r, line, p, *columns);
            if (!isfinite(value[*columns]))
                return fail_at(r, line, p, GRAVEL_ERR_INPUT, "too large for a double:", p);
            p = end;
        }
        ++*columns;
    }
}

/* --------------------------------------------------------------- columns */

/* As it stands in a file that others wrote: in quotes, in capitals, in full. */
static int is_name(const char *word, size_t length, const char *name)
{
    const char *full = strcmp(name, "m") == 0 ? "mass" : name;
    return (length == strlen(name) && strncasecmp(word, name, length) == 0) ||
           (length == strlen(full) && strncasecmp(word, full, length) == 0);
}

/* A line of names without #, as CSV files have it. */
static gravel_status read_names(const reader *r, const char *line, int *columns)
{
    const char *p = line;
    for (*columns = 0;; ++*columns) {
        while (is_blank(*p) || *p == ',' || *p == ';' || *p == '"')
            p++;
        if (*p == '\n' || *p == '#')
            return GRAVEL_OK;
        size_t length = 0;
        while (!is_end(p[length]) && p[length] != '"')
            length++;
        if (*columns == MAX_COLUMNS || !is_name(p, length, gv_particle_column[*columns])) {
            return fail_at(r, line, p, GRAVEL_ERR_FORMAT,
                           "the columns are id m x y z [vx vy vz [ax ay az]], in this order; here is", p);
        }
        p += length;
    }
}

/* Whether a line begins with these words, whatever blanks are between them. */
static int begins_with(const char *line, const char *const *word, size_t words)
{
    const char *p = line;
    for (size_t k = 0; k < words; k++) {
        p += strspn(p, " \t");
        if (strncmp(p, word[k], strlen(word[k])) != 0)
            return 0;
        p += strlen(word[k]);
    }
    return is_end(*p);
}

/* A file of forces begins with "# id ax ay az pot", and has as many columns as one of particles.  What begins with
 * "# id m x" is from particle_text_write.c or like it, where every line has an end. */
static gravel_status look_at_first_line(reader *r, const char *line)
{
    static const char *const forces[] = {"#", "id", "ax"}, *const particles[] = {"#", "id", "m", "x"};
    r->all_lines_end = begins_with(line, particles, 4);
    return begins_with(line, forces, 3)
               ? gv_fail(GRAVEL_ERR_FORMAT, "%s: these are forces (id ax ay az ...), not particles", r->name)
               : GRAVEL_OK;
}

/* Comments before the first particle: "# units LENGTH cm MASS g VELOCITY cm/s", "# time T"; others say nothing. */
static void look_at_comment(reader *r, const char *line, size_t length)
{
    char text[160];
    gv_units u;
    double time;
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), line);
    if (sscanf(text, " # units %lf cm %lf g %lf cm/s", &u.length_cm, &u.mass_g, &u.velocity_cm_s) == 3 &&
        u.length_cm > 0 && u.mass_g > 0 && u.velocity_cm_s > 0)
        r->out->units = u;
    if (sscanf(text, " # time %lf", &time) == 1 && isfinite(time))
        r->out->time = time;
}

static int begins_with_name(const char *line)
{
    while (is_blank(*line))
        line++;
    return *line == '"' || ((*line | 32) >= 'a' && (*line | 32) <= 'z');
}

static gravel_status take_columns(reader *r, int columns)
{
    if (columns != 5 && columns != 8 && columns != 11) {
        return gv_fail(GRAVEL_ERR_FORMAT,
                       "%s, line %zu: %d column%s; a particle has 5 (id m x y z), 8 (and vx vy vz) "
                       "or 11 (and ax ay az)",
                       r->name, r->line, columns, columns == 1 ? "" : "s");
    }
    r->columns = columns;
    r->first_line = r->line;
    return GRAVEL_OK;
}

/* ------------------------------------------------------------- particles */

static gravel_status grow(reader *r, size_t room)
{
    gv_particles *p = r->out;
    double **const column[MAX_COLUMNS - 1] = {&p->m,  &p->x,  &p->y,  &p->z,  &p->vx,
                                              &p->vy, &p->vz, &p->ax, &p->ay, &p->az};
    int failed = 0;
    for (int c = 0; c < r->columns - 1; c++) {
        double *grown = realloc(*column[c], room * sizeof **column[c]);
        *column[c] = grown != NULL ? grown : *column[c];
        failed |= grown == NULL;
    }
    int32_t *grown = realloc(p->id, room * sizeof *p->id);
    p->id = grown != NULL ? grown : p->id;
    if (failed || grown == NULL) {
        const double bytes = (double)room * (8.0 * (r->columns - 1) + 4.0);
        return gv_fail(GRAVEL_ERR_MEMORY, "%s, line %zu: out of memory; %zu particles need %.1f GB", r->name, r->line,
                       room, 1e-9 * bytes);
    }
    r->room = room;
    return GRAVEL_OK;
}

/* What the file will hold at the length of its first line; wrong guesses only cost memory or another growth. */
static size_t first_room(const reader *r, size_t line_length)
{
    const size_t guess = r->file_size / line_length;
    return guess > 1024 ? guess + guess / 8 : 1024;
}

static gravel_status take_line(reader *r, const char *line, size_t length)
{
    double value[MAX_COLUMNS];
    double *column[MAX_COLUMNS - 1];
    int32_t id = 0;
    int columns;
    gravel_status status;
    if (r->columns == 0 && begins_with_name(line)) {
        status = read_names(r, line, &columns);
        return status == GRAVEL_OK ? take_columns(r, columns) : status;
    }
    if (r->line == 1 && (status = look_at_first_line(r, line)) != GRAVEL_OK)
        return status;
    if (r->columns == 0)
        look_at_comment(r, line, length);
    status = read_line(r, line, &id, value, &columns);
    if (status != GRAVEL_OK || columns == 0)
        return status;
    if (r->columns == 0) {
        if ((status = take_columns(r, columns)) != GRAVEL_OK)
            return status;
    } else if (columns != r->columns) {
        const int last = r->at_end && r->begin + length + 1 >= r->end;
        return gv_fail(GRAVEL_ERR_FORMAT, "%s, line %zu, column %zu: %d column%s where line %zu has %d%s", r->name,
                       r->line, length + 1, columns, columns == 1 ? "" : "s", r->first_line, r->columns,
                       last && columns < r->columns ? "; the file ends in the middle of a line: it is truncated" : "");
    }
    if (r->out->count == r->room && (status = grow(r, r->room ? 2 * r->room : first_room(r, length + 1))) != GRAVEL_OK)
        return status;
    gv_particles_reals(r->out, column);
    for (int c = 1; c < columns; c++)
        column[c - 1][r->out->count] = value[c];
    r->out->id[r->out->count++] = id;
    return GRAVEL_OK;
}

/* ----------------------------------------------------- lines on all cores */

typedef struct piece {
    const char *begin, *end; /* whole lines */
    size_t lines, first;     /* first: place of its first particle */
    int odd;                 /* a line that is no particle like the others */
} piece;

typedef struct block {
    const reader *r;
    double *column[MAX_COLUMNS - 1];
    piece piece[PIECES];
} block;

static void count_lines(void *arg, size_t begin, size_t end)
{
    block *b = arg;
    for (size_t k = begin; k < end; k++)
        for (const char *p = b->piece[k].begin; p < b->piece[k].end; b->piece[k].lines++)
            p = (const char *)memchr(p, '\n', (size_t)(b->piece[k].end - p)) + 1;
}

static void read_piece(const block *b, piece *s)
{
    double value[MAX_COLUMNS];
    size_t at = s->first;
    for (const char *p = s->begin; p < s->end && !s->odd; at++) {
        int columns;
        s->odd = read_line(b->r, p, &b->r->out->id[at], value, &columns) != GRAVEL_OK || columns != b->r->columns;
        for (int c = 1; !s->odd && c < columns; c++)
            b->column[c - 1][at] = value[c];
        p = (const char *)memchr(p, '\n', (size_t)(s->end - p)) + 1;
    }
}

static void read_pieces(void *arg, size_t begin, size_t end)
{
    block *b = arg;
    for (size_t k = begin; k < end; k++)
        read_piece(b, &b->piece[k]);
}

/* The whole lines in the buffer, if all of them are particles like the one before.  If not, nothing has happened, and
 * they are taken one by one, which says what is wrong. */
static gravel_status take_together(reader *r)
{
    const char *at = r->buffer + r->begin, *end = r->buffer + r->end;
    const double seconds = 3e-9 * (double)(end - at);
    block b = {.r = r};
    size_t lines = 0;
    int odd = 0;
    while (end > at && end[-1] != '\n')
        end--;
    for (int k = 0; k < PIECES; k++) {
        const char *to = at + (end - at) / (PIECES - k);
        const char *newline = to < end ? memchr(to, '\n', (size_t)(end - to)) : NULL;
        b.piece[k].begin = at;
        b.piece[k].end = at = newline ? newline + 1 : end;
    }
    gv_ref_parallel(PIECES, 0.1 * seconds, count_lines, &b);
    for (int k = 0; k < PIECES; k++) {
        b.piece[k].first = r->out->count + lines;
        lines += b.piece[k].lines;
    }
    size_t room = r->room;
    while (room < r->out->count + lines)
        room *= 2;
    gravel_status status = room > r->room ? grow(r, room) : GRAVEL_OK;
    if (status)
        return status;
    gv_particles_reals(r->out, b.column);
    gv_ref_parallel(PIECES, seconds, read_pieces, &b);
    for (int k = 0; k < PIECES; k++)
        odd |= b.piece[k].odd;
    if (odd)
        return GRAVEL_OK;
    r->out->count += lines;
    r->line += lines;
    r->begin = (size_t)(end - r->buffer);
    return GRAVEL_OK;
}

/* ------------------------------------------------------------------ file */

/* Moves what is left to the front and reads more behind it. */
static gravel_status fill(reader *r)
{
    memmove(r->buffer, r->buffer + r->begin, r->end - r->begin);
    r->end -= r->begin;
    r->begin = 0;
    if (r->end == r->capacity) {
        if (r->capacity >= LONGEST_LINE) {
            return gv_fail(GRAVEL_ERR_FORMAT, "%s, line %zu: longer than %d characters; is this a text file?", r->name,
                           r->line, LONGEST_LINE);
        }
        char *buffer = realloc(r->buffer, 2 * r->capacity + 1);
        if (buffer == NULL)
            return gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
        r->buffer = buffer;
        r->capacity *= 2;
    }
    const ssize_t got = read(r->fd, r->buffer + r->end, r->capacity - r->end);
    if (got < 0 && errno == EINTR)
        return gv_fail(GRAVEL_ERR_CANCELLED, "%s: stopped while reading", r->name);
    if (got < 0)
        return gv_fail(GRAVEL_ERR_FILE, "cannot read %s: %s", r->name, strerror(errno));
    r->end += (size_t)got;
    r->fresh = r->end >= BLOCK;
    if (got == 0) {
        r->at_end = 1;
        if (r->end > 0 && r->all_lines_end)
            return gv_fail(GRAVEL_ERR_FORMAT, "%s, line %zu: the file ends in the middle of a line: it is truncated",
                           r->name, r->line);
        if (r->end > 0)
            r->buffer[r->end++] = '\n';
    }
    return GRAVEL_OK;
}

static gravel_status read_all(reader *r)
{
    gravel_status status = GRAVEL_OK;
    while (status == GRAVEL_OK) {
        if (r->fresh && r->columns > 0) {
            r->fresh = 0;
            status = take_together(r);
            continue;
        }
        char *line = r->buffer + r->begin;
        char *newline = memchr(line, '\n', r->end - r->begin);
        if (newline == NULL) {
            if (r->at_end)
                break;
            status = fill(r);
            continue;
        }
        if (r->line == 1 && newline - line >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0)
            memcpy(line, "   ", 3); /* the mark that some editors put before UTF-8 text */
        status = take_line(r, line, (size_t)(newline - line));
        r->begin = (size_t)(newline - r->buffer) + 1;
        r->line++;
    }
    if (status == GRAVEL_OK && r->out->count == 0) {
        status = gv_fail(GRAVEL_ERR_INPUT, "%s: no particles in it (%zu line%s)", r->name, r->line - 1,
                         r->line == 2 ? "" : "s");
    }
    return status;
}

gravel_status gv_particles_read_text(gv_particles *particles, const char *path)
{
    struct stat info;
    gravel_status status;
    reader r = {.name = path, .fd = -1, .capacity = BLOCK, .line = 1, .out = particles};
    *particles = (gv_particles)GV_PARTICLES_INIT;
    r.buffer = malloc(r.capacity + 1);
    if (r.buffer == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    if (strcmp(path, "-") == 0) {
        r.name = "standard input";
        r.fd = STDIN_FILENO;
    } else {
        r.fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (r.fd < 0 || fstat(r.fd, &info) != 0) {
        status = gv_fail(GRAVEL_ERR_FILE, "cannot read %s: %s", path, strerror(errno));
    } else {
        r.file_size = S_ISREG(info.st_mode) ? (size_t)info.st_size : 0;
        char *larger = r.file_size > LARGE_BLOCK ? realloc(r.buffer, LARGE_BLOCK + 1) : NULL;
        r.capacity = larger ? LARGE_BLOCK : r.capacity;
        r.buffer = larger ? larger : r.buffer;
        status = read_all(&r);
    }
    if (r.fd > STDIN_FILENO)
        close(r.fd);
    free(r.buffer);
    if (status != GRAVEL_OK)
        gv_particles_free(particles);
    return status;
}
