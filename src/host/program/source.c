/* Kernel text: include lines resolved at run time, so that embedded files and a folder behave alike. */
#include "host/program/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/files.h"
#include "host/base/kernels.h"

enum { MAX_DEPTH = 32, MAX_FILES = 128, MAX_NAME = 256, LARGEST_FILE = 4 << 20 };

typedef struct reader {
    const char *folder; /* NULL: the embedded files */
    char *text;
    size_t used, room;
    int depth, n_files;
    char open[MAX_DEPTH][MAX_NAME]; /* the chain of includes, outermost first */
    char seen[MAX_FILES][MAX_NAME];
} reader;

static gravel_status append(reader *r, const char *text, size_t size)
{
    if (r->used + size + 1 > r->room) {
        size_t more = 2 * (r->used + size) + 4096;
        char *grown = realloc(r->text, more);
        if (!grown)
            return gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu bytes of kernel text", more);
        r->text = grown;
        r->room = more;
    }
    memcpy(r->text + r->used, text, size);
    r->used += size;
    r->text[r->used] = '\0';
    return GRAVEL_OK;
}

static gravel_status append_mark(reader *r, int line, const char *file)
{
    char mark[MAX_NAME + 32];
    int n = snprintf(mark, sizeof mark, "#line %d \"%s\"\n", line, file);

    return append(r, mark, (size_t)n);
}

/* `from` (may be NULL) and `line` are the include line that names the file */
static gravel_status fail_at(const char *from, int line, const char *why, const char *file)
{
    if (from)
        return gv_fail(GRAVEL_ERR_FILE, "kernels/%s:%d: include of \"%s\": %s", from, line, file, why);
    return gv_fail(GRAVEL_ERR_FILE, "kernels/%s: %s", file, why);
}

/* Names stay inside the folder, and go into #line marks as they are. */
static int is_proper_name(const char *name)
{
    return name[0] != '\0' && name[0] != '/' && strlen(name) < MAX_NAME && !strstr(name, "..") &&
           !strpbrk(name, "\"\\\n\r");
}

static const gv_kernel_file *find_embedded(const char *name)
{
    for (int i = 0; i < gv_kernel_file_count; i++)
        if (strcmp(gv_kernel_files[i].name, name) == 0)
            return &gv_kernel_files[i];
    return NULL;
}

/* `*owned` is what to free afterwards */
static gravel_status load(const reader *r, const char *name, const char *from, int line, const char **text,
                          char **owned)
{
    *owned = NULL;
    *text = NULL;
    if (!r->folder) {
        const gv_kernel_file *file = find_embedded(name);
        if (!file)
            return fail_at(from, line, "there is no such kernel file", name);
        *text = file->text;
        return GRAVEL_OK;
    }
    char *path = gv_path_join(r->folder, name);
    if (!path)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the path of kernel file %s", name);
    gravel_status status = gv_file_read(path, LARGEST_FILE, owned, NULL);
    free(path);
    if (status == GRAVEL_ERR_MEMORY)
        return status;
    if (status != GRAVEL_OK)
        return fail_at(from, line, gravel_error_message(), name);
    *text = *owned;
    return GRAVEL_OK;
}

/* Is this line #include "name"?  1 yes, 0 no, -1 it cannot be read */
static int parse_include(const char *line, size_t length, char name[MAX_NAME])
{
    const char *p = line, *end = line + length;

    p += strspn(p, " \t");
    if (p >= end || *p != '#')
        return 0;
    p++;
    p += strspn(p, " \t");
    if ((size_t)(end - p) < 7 || strncmp(p, "include", 7) != 0)
        return 0;
    p += 7;
    p += strspn(p, " \t");
    if (p >= end || *p != '"')
        return -1;
    const char *close = memchr(p + 1, '"', (size_t)(end - p - 1));
    if (!close || close - p - 1 >= MAX_NAME)
        return -1;
    memcpy(name, p + 1, (size_t)(close - p - 1));
    name[close - p - 1] = '\0';
    return 1;
}

static int is_seen(const reader *r, const char *name)
{
    for (int i = 0; i < r->n_files; i++)
        if (strcmp(r->seen[i], name) == 0)
            return 1;
    return 0;
}

static int is_open(const reader *r, const char *name)
{
    for (int i = 0; i < r->depth; i++)
        if (strcmp(r->open[i], name) == 0)
            return 1;
    return 0;
}

static gravel_status add_file(reader *r, const char *name, const char *from, int line);

static gravel_status add_text(reader *r, const char *text, const char *name)
{
    char wanted[MAX_NAME];
    int line = 1;
    gravel_status status = append_mark(r, 1, name);

    while (status == GRAVEL_OK && *text) {
        size_t length = strcspn(text, "\n");
        int include = parse_include(text, length, wanted);
        if (include < 0)
            return gv_fail(GRAVEL_ERR_FILE, "kernels/%s:%d: an include line must read #include \"file\"", name, line);
        if (include) {
            status = add_file(r, wanted, name, line);
            if (status == GRAVEL_OK)
                status = append_mark(r, line + 1, name);
        } else {
            status = append(r, text, length);
            if (status == GRAVEL_OK)
                status = append(r, "\n", 1);
        }
        text += length + (text[length] == '\n');
        line++;
    }
    return status;
}

static gravel_status add_file(reader *r, const char *name, const char *from, int line)
{
    const char *text;
    char *owned;

    if (!is_proper_name(name))
        return fail_at(from, line, "not the name of a file below kernels/", name);
    if (is_open(r, name))
        return fail_at(from, line, "the file includes itself through this", name);
    if (is_seen(r, name))
        return GRAVEL_OK;
    if (r->depth == MAX_DEPTH || r->n_files == MAX_FILES)
        return fail_at(from, line, "too many includes", name);
    gravel_status status = load(r, name, from, line, &text, &owned);
    if (status == GRAVEL_OK) {
        snprintf(r->seen[r->n_files++], MAX_NAME, "%s", name);
        snprintf(r->open[r->depth++], MAX_NAME, "%s", name);
        status = add_text(r, text, name);
        r->depth--;
    }
    free(owned);
    return status;
}

gravel_status gv_source_flatten(const char *kernel_dir, const char *file, char **text)
{
    reader *r = calloc(1, sizeof *r);

    *text = NULL;
    if (!r)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory to read kernels/%s", file);
    r->folder = kernel_dir && kernel_dir[0] != '\0' ? kernel_dir : NULL;
    gravel_status status = add_file(r, file, NULL, 0);
    if (status == GRAVEL_OK)
        *text = r->text;
    else
        free(r->text);
    free(r);
    return status;
}

gravel_status gv_program_version(gravel_context *context, const char *file, char digest[17])
{
    char *text;
    gv_hasher hasher;
    gv_digest whole;

    gravel_status status = gv_source_flatten(context->kernel_dir, file, &text);
    if (status != GRAVEL_OK)
        return status;
    gv_hash_start(&hasher);
    gv_hash_text(&hasher, text);
    gv_hash_end(&hasher, &whole);
    gv_digest_hex(&whole, 16, digest);
    free(text);
    return GRAVEL_OK;
}
