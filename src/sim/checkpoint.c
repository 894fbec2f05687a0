#include "sim/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/checksum.h"
#include "sim/out_file.h"

static const char magic[] = "gravel checkpoint 2\n";
enum { MAGIC = sizeof magic - 1, ANY_VERSION = sizeof "gravel checkpoint " - 1 };

/* All single numbers, without padding. */
typedef struct numbers {
    uint64_t size; /* of this struct, which changes with the program */
    uint64_t count;
    gv_units units;
    int64_t id_offset;
    double start;
    gravel_hermite_state state;
    gv_run_position at;
    gv_blocks blocks;
} numbers;

/* ---------------------------------------------------------------- writing */

typedef struct writer {
    FILE *stream;
    gv_checksum sum;
} writer;

/* A failure stays with the stream until gv_out_commit. */
static void put(writer *w, const void *data, size_t size)
{
    fwrite(data, 1, size, w->stream);
    gv_checksum_add(&w->sum, data, size);
}

static void put_part(writer *w, const void *data, size_t size)
{
    const uint64_t length = size;
    put(w, &length, sizeof length);
    put(w, data, size);
}

/* The new name is on the disk, too. */
static void sync_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    const int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(folder);
}

gravel_status gv_checkpoint_write(const gv_checkpoint *c, const char *path)
{
    gv_out_file file;
    writer w;
    const gv_particles *p = &c->particles;
    numbers n;
    memset(&n, 0, sizeof n);
    n.size = sizeof n;
    n.count = p->count;
    n.units = p->units;
    n.id_offset = p->id_offset;
    n.start = p->time;
    n.state = c->state;
    n.at = c->at;
    n.blocks = c->blocks;
    gravel_status status = gv_out_open(&file, path);
    if (status)
        return status;
    w.stream = file.stream;
    gv_checksum_start(&w.sum);
    put(&w, magic, MAGIC);
    put_part(&w, c->record, strlen(c->record));
    put_part(&w, &n, sizeof n);
    put_part(&w, p->id, p->count * sizeof *p->id);
    put_part(&w, p->m, p->count * sizeof *p->m);
    put_part(&w, c->bodies, c->bodies_size);
    put_part(&w, c->choices, strlen(c->choices));
    const gv_checksum_value sum = gv_checksum_end(&w.sum);
    fwrite(&sum, 1, sizeof sum, w.stream);
    status = gv_out_commit(&file);
    if (!status)
        sync_folder_of(path);
    return status;
}

/* ---------------------------------------------------------------- reading */

typedef struct reader {
    const char *path;
    FILE *stream;
    gv_checksum sum;
    uint64_t left; /* bytes of the file that are not read yet, without the checksum */
} reader;

static gravel_status damaged(const reader *r, const char *what)
{
    return gv_fail(GRAVEL_ERR_FORMAT, "%s: %s; without this file the run begins again", r->path, what);
}

static gravel_status get(reader *r, void *data, size_t size)
{
    if (size > r->left || fread(data, 1, size, r->stream) != size)
        return damaged(r, "the checkpoint is cut short or damaged");
    r->left -= size;
    gv_checksum_add(&r->sum, data, size);
    return GRAVEL_OK;
}

/* A part of any length, a zero byte behind it. */
static gravel_status get_part(reader *r, void **data, size_t *size)
{
    uint64_t length = 0;
    gravel_status status = get(r, &length, sizeof length);
    *data = NULL;
    if (!status && length > r->left)
        status = damaged(r, "the checkpoint is cut short or damaged");
    if (status)
        return status;
    *size = (size_t)length;
    *data = calloc(1, *size + 1);
    return *data ? get(r, *data, *size) : gv_fail(GRAVEL_ERR_MEMORY, "no memory for %s", r->path);
}

static gravel_status get_parts(reader *r, gv_checkpoint *c)
{
    enum { RECORD, NUMBERS, IDS, MASSES, BODIES, CHOICES, PARTS };
    void *part[PARTS] = {NULL};
    size_t size[PARTS] = {0};
    gravel_status status = GRAVEL_OK;
    numbers n;
    for (int k = 0; k < PARTS && !status; k++) {
        status = get_part(r, &part[k], &size[k]);
        if (!status && k == NUMBERS) {
            memcpy(&n, part[k], size[k] < sizeof n ? size[k] : sizeof n);
            if (size[k] != sizeof n || n.size != sizeof n)
                status = damaged(r, "the checkpoint is of another version of gravel");
        }
        if (!status && ((k == IDS && size[k] != n.count * sizeof(int32_t)) ||
                        (k == MASSES && size[k] != n.count * sizeof(double))))
            status = damaged(r, "the checkpoint is damaged");
    }
    c->record = part[RECORD];
    c->choices = part[CHOICES];
    c->bodies = part[BODIES];
    c->bodies_size = size[BODIES];
    if (!status && n.count > INT32_MAX)
        status = damaged(r, "the checkpoint is damaged");
    if (!status)
        status = gv_particles_create(&c->particles, (size_t)n.count, 1);
    if (!status) {
        memcpy(c->particles.id, part[IDS], size[IDS]);
        memcpy(c->particles.m, part[MASSES], size[MASSES]);
        c->particles.units = n.units;
        c->particles.id_offset = n.id_offset;
        c->particles.time = n.start;
        c->at = n.at;
        c->blocks = n.blocks;
        c->state = n.state;
    }
    free(part[NUMBERS]);
    free(part[IDS]);
    free(part[MASSES]);
    return status;
}

gravel_status gv_checkpoint_read(gv_checkpoint *c, const char *path)
{
    reader r = {.path = path};
    char begin[MAGIC];
    gv_checksum_value wanted;
    memset(c, 0, sizeof *c);
    c->particles = (gv_particles)GV_PARTICLES_INIT;
    r.stream = fopen(path, "rb");
    off_t bytes = -1;
    if (r.stream && fseeko(r.stream, 0, SEEK_END) == 0) {
        bytes = ftello(r.stream);
        rewind(r.stream);
    }
    if (bytes < 0) {
        const int error = errno;
        if (r.stream)
            fclose(r.stream);
        return gv_fail(GRAVEL_ERR_FILE, "cannot read %s: %s", path, strerror(error));
    }
    r.left = (size_t)bytes > sizeof wanted ? (size_t)bytes - sizeof wanted : 0;
    gv_checksum_start(&r.sum);
    gravel_status status = get(&r, begin, MAGIC);
    if (status || memcmp(begin, magic, MAGIC) != 0)
        status = damaged(&r, !status && memcmp(begin, magic, ANY_VERSION) == 0
                                 ? "the checkpoint is of another version of gravel"
                                 : "this is no checkpoint of a run");
    if (!status)
        status = get_parts(&r, c);
    const gv_checksum_value found = gv_checksum_end(&r.sum);
    if (!status && (r.left != 0 || fread(&wanted, 1, sizeof wanted, r.stream) != sizeof wanted ||
                    memcmp(&wanted, &found, sizeof wanted) != 0))
        status = damaged(&r, "the checkpoint is damaged: its checksum is another");
    fclose(r.stream);
    if (status)
        gv_checkpoint_free(c);
    return status;
}

void gv_checkpoint_free(gv_checkpoint *c)
{
    free(c->record);
    free(c->bodies);
    free(c->choices);
    gv_particles_free(&c->particles);
    memset(c, 0, sizeof *c);
    c->particles = (gv_particles)GV_PARTICLES_INIT;
}
