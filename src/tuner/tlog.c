#include "tuner/tlog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/base/clock.h"
#include "host/base/files.h"
#include "tuner/message.h"

enum { LOG_MAX = 256 << 20, SCHEMA = 1 };
static const char *const type_name[] = {"", "cpu", "gpu", "accelerator"};

void gv_date(char date[24])
{
    time_t seconds = time(NULL);
    struct tm utc;

    date[0] = '\0';
    if (gmtime_r(&seconds, &utc) != NULL)
        strftime(date, 24, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

/* ------------------------------------------------------------------ lines */

static int read_header(const cJSON *object, gv_tlog_header *header)
{
    char format[16], type[16];
    int t = GRAVEL_DEVICE_ACCELERATOR;

    memset(header, 0, sizeof *header);
    if (!gv_message_text(object, "log", format, sizeof format) || strcmp(format, "gravel-tune") != 0 ||
        !gv_message_text(object, "name", header->device.name, GRAVEL_NAME_SIZE) ||
        !gv_message_text(object, "type", type, sizeof type)) {
        return 0;
    }
    while (t > 0 && strcmp(type, type_name[t]) != 0)
        t--;
    header->device.type = (gravel_device_type)t;
    gv_message_text(object, "vendor", header->device.vendor, GRAVEL_NAME_SIZE);
    gv_message_text(object, "platform", header->device.platform, GRAVEL_NAME_SIZE);
    gv_message_text(object, "driver", header->driver, GRAVEL_NAME_SIZE);
    gv_message_text(object, "kernel", header->kernel, sizeof header->kernel);
    gv_message_text(object, "kernel_version", header->kernel_version, sizeof header->kernel_version);
    gv_message_text(object, "gravel", header->gravel, sizeof header->gravel);
    gv_message_text(object, "date", header->date, sizeof header->date);
    header->device.compute_units = gv_message_int(object, "compute_units", 0, 1000000, 0);
    header->device.simd_width_float = gv_message_int(object, "simd_width_float", 0, 1024, 0);
    header->device.simd_width_double = gv_message_int(object, "simd_width_double", 0, 1024, 0);
    header->device.has_fp64 = gv_message_int(object, "fp64", 0, 1, 0);
    return t != 0;
}

static cJSON *print_header(const gv_tlog_header *header)
{
    cJSON *object = cJSON_CreateObject();

    cJSON_AddStringToObject(object, "log", "gravel-tune");
    cJSON_AddNumberToObject(object, "schema", SCHEMA);
    cJSON_AddStringToObject(object, "name", header->device.name);
    cJSON_AddStringToObject(object, "vendor", header->device.vendor);
    cJSON_AddStringToObject(object, "platform", header->device.platform);
    cJSON_AddStringToObject(object, "type", type_name[header->device.type]);
    cJSON_AddNumberToObject(object, "compute_units", header->device.compute_units);
    cJSON_AddNumberToObject(object, "simd_width_float", header->device.simd_width_float);
    cJSON_AddNumberToObject(object, "simd_width_double", header->device.simd_width_double);
    cJSON_AddNumberToObject(object, "fp64", header->device.has_fp64);
    cJSON_AddStringToObject(object, "driver", header->driver);
    cJSON_AddStringToObject(object, "kernel", header->kernel);
    cJSON_AddStringToObject(object, "kernel_version", header->kernel_version);
    cJSON_AddStringToObject(object, "gravel", header->gravel);
    cJSON_AddStringToObject(object, "date", header->date);
    return object;
}

static int read_record(const cJSON *object, gv_tlog_record *record)
{
    memset(record, 0, sizeof *record);
    record->round = gv_message_int(object, "round", 0, 1000000, 0);
    return gv_message_get_task(object, &record->task) &&
           gv_message_text(object, "stage", record->stage, sizeof record->stage) &&
           gv_message_text(object, "configuration", record->configuration, sizeof record->configuration) &&
           gv_message_get_outcome(object, &record->outcome);
}

static cJSON *print_record(const gv_tlog_record *record)
{
    cJSON *object = cJSON_CreateObject();

    gv_message_put_task(object, &record->task);
    cJSON_AddStringToObject(object, "stage", record->stage);
    cJSON_AddNumberToObject(object, "round", record->round);
    cJSON_AddStringToObject(object, "configuration", record->configuration);
    gv_message_put_outcome(object, &record->outcome);
    return object;
}

/* ----------------------------------------------------------------- memory */

static uint64_t hash_of(const gv_task *task, const char *stage, int round, const char *configuration)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    const char *const text[] = {task->kernel, task->variant.name, stage, configuration};
    const uint64_t number[] = {task->variant.features, task->sinks, task->sources, (uint64_t)round};

    for (int k = 0; k < 4; k++) {
        for (const char *c = text[k]; *c != '\0'; c++)
            hash = (hash ^ (unsigned char)*c) * 0x100000001b3ull;
        hash = (hash ^ number[k]) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 29;
    }
    return hash;
}

static void enter(gv_tlog *log, size_t index)
{
    const gv_tlog_record *r = &log->record[index];
    size_t at = hash_of(&r->task, r->stage, r->round, r->configuration) & (log->n_slots - 1);

    while (log->slot[at] != 0)
        at = (at + 1) & (log->n_slots - 1);
    log->slot[at] = (uint32_t)index + 1;
}

static gravel_status keep(gv_tlog *log, const gv_tlog_record *record)
{
    if (log->n == log->room) {
        size_t room = log->room > 0 ? 2 * log->room : 256;
        gv_tlog_record *grown = realloc(log->record, room * sizeof *grown);
        uint32_t *slot = calloc(4 * room, sizeof *slot);

        if (grown != NULL)
            log->record = grown;
        if (grown == NULL || slot == NULL) {
            free(slot);
            return gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu outcomes", room);
        }
        log->room = room;
        free(log->slot);
        log->slot = slot;
        log->n_slots = 4 * room;
        for (size_t i = 0; i < log->n; i++)
            enter(log, i);
    }
    log->record[log->n++] = *record;
    enter(log, log->n - 1);
    return GRAVEL_OK;
}

const gv_tlog_record *gv_tlog_find(const gv_tlog *log, const gv_task *task, const char *stage, int round,
                                   const char *configuration)
{
    size_t at;

    if (log->n_slots == 0)
        return NULL;
    at = hash_of(task, stage, round, configuration) & (log->n_slots - 1);
    for (; log->slot[at] != 0; at = (at + 1) & (log->n_slots - 1)) {
        const gv_tlog_record *r = &log->record[log->slot[at] - 1];

        if (r->round == round && strcmp(r->configuration, configuration) == 0 && strcmp(r->stage, stage) == 0 &&
            gv_task_same(&r->task, task)) {
            return r;
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------ files */

/* One line; 0: no record and no header. */
static int read_line(const char *path, char *line, size_t length, int *headers, gv_tlog *log, gravel_status *status)
{
    cJSON *object = memchr(line, '\0', length) == NULL ? cJSON_ParseWithLength(line, length) : NULL;
    gv_tlog_record record;
    gv_tlog_header header;
    int good = 1;

    if (object != NULL && read_header(object, &header)) {
        if (gv_message_number(object, "schema", 1) > SCHEMA)
            *status = gv_fail(GRAVEL_ERR_UNSUPPORTED, "%s: written by a newer gravel; name another --log", path);
        if (++*headers == 1)
            log->header = header;
    } else if (object != NULL && *headers > 0 && read_record(object, &record)) {
        *status = keep(log, &record);
    } else {
        good = 0;
    }
    cJSON_Delete(object);
    return good;
}

static gravel_status read_lines(const char *path, char *text, size_t size, gv_tlog *log)
{
    gravel_status status = GRAVEL_OK;
    size_t number = 0;
    int headers = 0;

    /* a last line without its end counts if it is whole: an object that was cut does not parse */
    for (size_t at = 0; status == GRAVEL_OK && at < size;) {
        char *line = text + at, *end = memchr(line, '\n', size - at);
        const size_t length = end != NULL ? (size_t)(end - line) : size - at;

        number++;
        at += length + 1;
        if (length > 0 && !read_line(path, line, length, &headers, log, &status) && end != NULL && log->n_bad++ == 0)
            log->first_bad = number;
    }
    if (status == GRAVEL_OK && headers == 0)
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: not a tuning log", path);
    return status;
}

gravel_status gv_tlog_read(const char *path, gv_tlog *log)
{
    char *text = NULL;
    size_t size = 0;
    gravel_status status = gv_file_read(path, LOG_MAX, &text, &size);

    memset(log, 0, sizeof *log);
    log->fd = -1;
    if (status == GRAVEL_OK) {
        status = read_lines(path, text, size, log);
        free(text);
    }
    if (status != GRAVEL_OK)
        gv_tlog_close(log);
    return status;
}

void gv_tlog_close(gv_tlog *log)
{
    if (log->fd >= 0) {
        fsync(log->fd);
        close(log->fd);
    }
    free(log->path);
    free(log->record);
    free(log->slot);
    memset(log, 0, sizeof *log);
    log->fd = -1;
}

/* One write a line: with O_APPEND two tuners on one file cannot mix their lines.  A kill loses nothing that was
 * written; against a power cut the file is forced to disk once a second. */
static gravel_status write_line(gv_tlog *log, cJSON *object)
{
    char *text = cJSON_PrintUnformatted(object), *line = text != NULL ? gv_format("%s\n", text) : NULL;
    gravel_status status = GRAVEL_OK;
    size_t n;

    cJSON_Delete(object);
    cJSON_free(text);
    if (line == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a line of the tuning log");
    n = strlen(line);
    for (size_t at = 0; at < n;) {
        ssize_t put = write(log->fd, line + at, n - at);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            status = gv_fail(GRAVEL_ERR_FILE, "%s: cannot be written: %s", log->path, strerror(errno));
            break;
        }
        at += (size_t)put;
    }
    free(line);
    if (gv_now() - log->synced > 1) {
        fdatasync(log->fd);
        log->synced = gv_now();
    }
    return status;
}

gravel_status gv_tlog_append(gv_tlog *log, const gv_tlog_record *record)
{
    gravel_status status = write_line(log, print_record(record));

    return status == GRAVEL_OK ? keep(log, record) : status;
}

static gravel_status check_same(const char *path, const gv_tlog_header *there, const gv_tlog_header *here)
{
    const char *what = !gv_profile_same_device(&there->device, &here->device)     ? "another device"
                       : strcmp(there->driver, here->driver) != 0                 ? "another driver"
                       : strcmp(there->kernel, here->kernel) != 0                 ? "another kernel"
                       : strcmp(there->kernel_version, here->kernel_version) != 0 ? "another version of the kernel"
                                                                                  : NULL;

    return what == NULL ? GRAVEL_OK : gv_fail(GRAVEL_ERR_STATE, "%s: cannot be resumed, it is of %s", path, what);
}

/* Half a line that a killed run left behind must not be joined with the next one. */
static void end_last_line(int fd)
{
    char last = '\n';
    off_t size = lseek(fd, 0, SEEK_END);

    if (size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n' && write(fd, "\n", 1) != 1)
        return;
}

/* Opens and locks; the lock ends with the descriptor, however the process ends. */
static gravel_status open_locked(const char *path, int *fd)
{
    *fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (*fd < 0)
        return gv_fail(GRAVEL_ERR_FILE, "%s: cannot be written: %s", path, strerror(errno));
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return GRAVEL_OK;
    close(*fd);
    *fd = -1;
    return gv_fail(GRAVEL_ERR_STATE, "%s: another `gravel tune` is writing it; wait for that one or name another --log",
                   path);
}

/* The log that is there moves to PATH.old, its lock held until the new one is locked. */
static gravel_status move_aside(const char *path, int *fd)
{
    char *old = gv_format("%s.old", path);
    gravel_status status = GRAVEL_OK;
    int fresh = -1;

    if (old == NULL || rename(path, old) != 0)
        status = gv_fail(GRAVEL_ERR_FILE, "%s: cannot be moved aside: %s", path, strerror(errno));
    else
        status = open_locked(path, &fresh);
    free(old);
    close(*fd);
    *fd = fresh;
    return status;
}

gravel_status gv_tlog_open(const char *path, const gv_tlog_header *header, int resume, gv_tlog *log)
{
    struct stat about;
    int fd, there;
    gravel_status status = open_locked(path, &fd);

    memset(log, 0, sizeof *log);
    log->fd = -1;
    there = status == GRAVEL_OK && fstat(fd, &about) == 0 && about.st_size > 0;
    if (there && resume) {
        status = gv_tlog_read(path, log);
        status = status == GRAVEL_OK ? check_same(path, &log->header, header) : status;
    } else if (there && S_ISREG(about.st_mode)) {
        status = move_aside(path, &fd);
    }
    log->header = *header;
    log->fd = fd;
    log->path = strdup(path);
    if (status == GRAVEL_OK && log->path == NULL)
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for the name of a file");
    if (status == GRAVEL_OK) {
        end_last_line(fd);
        status = write_line(log, print_header(header));
    }
    if (status != GRAVEL_OK)
        gv_tlog_close(log);
    return status;
}
