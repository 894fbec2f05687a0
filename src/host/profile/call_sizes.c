#include "host/profile/call_sizes.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/files.h"
#include "host/profile/store.h"

#define HEAD "gravel calls 1\ndevice "
enum { LINE = 128, FILE_MOST = 1 << 24 };

void gv_call_sizes_free(gv_call_sizes *sizes)
{
    free(sizes->size);
    *sizes = (gv_call_sizes)GV_CALL_SIZES_INIT;
}

int gv_call_size_is_good(const gv_call_size *size)
{
    enum { MOST = 1000000000 }; /* as gravel tune takes */
    return size->sinks > 0 && size->sinks <= MOST && size->sources > 0 && size->sources <= MOST && size->calls > 0;
}

static int share_a_configuration(const gv_call_size *a, const gv_call_size *b)
{
    return gv_choice_sink_cell(a->sinks) == gv_choice_sink_cell(b->sinks) &&
           gv_choice_source_cell(a->sources) == gv_choice_source_cell(b->sources) &&
           a->variant.features == b->variant.features && strcmp(a->variant.name, b->variant.name) == 0;
}

gravel_status gv_call_sizes_add(gv_call_sizes *sizes, const gv_call_size *size)
{
    for (int k = 0; k < sizes->n; k++) {
        gv_call_size *const there = &sizes->size[k];
        if (!share_a_configuration(there, size))
            continue;
        const uint64_t calls = there->calls + size->calls;
        if (size->calls > there->calls)
            *there = *size;
        there->calls = calls;
        return GRAVEL_OK;
    }
    if (sizes->n == sizes->room) {
        const int room = sizes->room > 0 ? 2 * sizes->room : 64;
        gv_call_size *const grown = realloc(sizes->size, (size_t)room * sizeof *grown);
        if (!grown)
            return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the sizes of %d calls", room);
        sizes->size = grown;
        sizes->room = room;
    }
    sizes->size[sizes->n++] = *size;
    return GRAVEL_OK;
}

gravel_status gv_call_sizes_write(const char *path, const char *device, const gv_call_sizes *sizes)
{
    const size_t room = sizeof HEAD + GRAVEL_NAME_SIZE + (size_t)sizes->n * LINE;
    char *const text = malloc(room), name[GRAVEL_NAME_SIZE];
    if (!text)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for %s", path);
    gv_name_clean(device, name);
    size_t used = (size_t)snprintf(text, room, HEAD "%s\n", name);
    for (int k = 0; k < sizes->n; k++) {
        const gv_call_size *s = &sizes->size[k];
        used += (size_t)snprintf(text + used, room - used, "direct %s %u %zu %zu %llu\n", s->variant.name,
                                 s->variant.features, s->sinks, s->sources, (unsigned long long)s->calls);
    }
    const gravel_status status = gv_file_write(path, text, used);
    free(text);
    return status;
}

/* The next line of *text, cut to what there is room for; 0: there is none. */
static int next_line(const char **text, char *line, size_t size)
{
    const size_t length = strcspn(*text, "\n");
    if (**text == '\0')
        return 0;
    snprintf(line, size, "%.*s", (int)(length < size ? length : size - 1), *text);
    *text += length + ((*text)[length] == '\n');
    return 1;
}

static int read_size(const char *line, gv_call_size *size)
{
    char variant[16];
    unsigned features;
    unsigned long long sinks, sources, calls;
    int end = 0;
    *size = (gv_call_size){.sinks = 0};
    if (strchr(line, '-') ||
        sscanf(line, "direct %15s %u %llu %llu %llu%n", variant, &features, &sinks, &sources, &calls, &end) != 5 ||
        line[end] != '\0' || !gv_variant_parse(variant, &size->variant) || features > 3)
        return 0;
    size->variant.features = features;
    size->sinks = (size_t)sinks;
    size->sources = (size_t)sources;
    size->calls = calls;
    return gv_call_size_is_good(size);
}

static gravel_status take_text(const char *path, const char *text, const char *device, gv_call_sizes *sizes,
                               int *others)
{
    char line[LINE + GRAVEL_NAME_SIZE], name[GRAVEL_NAME_SIZE];
    gravel_status status = GRAVEL_OK;
    gv_call_size size;
    if (strncmp(text, HEAD, strlen(HEAD)) != 0)
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: not a file of GRAVEL_CALLS_DIR", path);
    text += strlen(HEAD);
    if (!next_line(&text, line, sizeof line))
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: it names no device", path);
    gv_name_clean(device, name);
    if (strcmp(line, name) != 0)
        ++*others;
    for (int number = 3; !status && next_line(&text, line, sizeof line); number++) {
        if (!read_size(line, &size))
            return gv_fail(GRAVEL_ERR_FORMAT, "%s:%d: '%.60s' is no size of calls", path, number, line);
        if (*others == 0)
            status = gv_call_sizes_add(sizes, &size);
    }
    return status;
}

static gravel_status read_file(const char *path, const char *device, gv_call_sizes *sizes, int *others)
{
    char *text = NULL;
    int other = 0;
    gravel_status status = gv_file_read(path, FILE_MOST, &text, NULL);
    if (!status)
        status = take_text(path, text, device, sizes, &other);
    free(text);
    *others += other;
    return status;
}

static int is_named(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name), end = strlen(GV_CALL_SIZES_END);
    return length > end && strcmp(entry->d_name + length - end, GV_CALL_SIZES_END) == 0;
}

gravel_status gv_call_sizes_read(const char *path, const char *device, gv_call_sizes *sizes, int *others)
{
    struct dirent **entry = NULL;
    struct stat about;
    gravel_status status = GRAVEL_OK;
    *others = 0;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
        return read_file(path, device, sizes, others);
    const int n = scandir(path, &entry, is_named, alphasort);
    if (n < 0)
        return gv_fail(GRAVEL_ERR_FILE, "%s: cannot be read", path);
    for (int k = 0; k < n; k++) {
        char *const file = status ? NULL : gv_path_join(path, entry[k]->d_name);
        if (!status)
            status = file ? read_file(file, device, sizes, others) : gv_fail(GRAVEL_ERR_MEMORY, "no memory for a name");
        free(file);
        free(entry[k]);
    }
    free(entry);
    return status;
}
