/* The profiles that are built into the library.  A program needs one kernel and variant of them, mostly, and all of a
 * large one take half a second to parse: what is not asked for is left out of the text before that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/files.h"
#include "host/base/kernels.h"
#include "host/device/device.h"
#include "host/profile/store.h"

/* How gv_profile_print begins an entry and ends a list of them. */
#define ENTRY "    {\"kernel\": \""
#define VARIANT "\"variant\": \""
#define END "   ]"

/* What stands behind `word` in a line that ends at `end`; NULL: it is not there. */
static const char *behind(const char *line, const char *end, const char *word)
{
    const size_t n = strlen(word);

    while (line != NULL && strncmp(line, word, n) != 0)
        line = memchr(line + 1, '"', (size_t)(end - line - 1));
    return line != NULL ? line + n : NULL;
}

static int is_text(const char *at, const char *text)
{
    const size_t n = strlen(text);

    return strncmp(at, text, n) == 0 && at[n] == '"';
}

/* 1 if the first line of an entry, up to `end`, says that it is of this kernel and variant, or does not say. */
static int is_about(const char *line, const char *end, const gv_profile_about *about)
{
    const char *variant = behind(line, end, VARIANT);

    return variant == NULL || (is_text(line + strlen(ENTRY), about->kernel) && is_text(variant, about->variant));
}

char *gv_profile_cut(const char *text, size_t size, const gv_profile_about *about, size_t *left)
{
    char *made = malloc(size + 1);
    size_t n = 0;
    int keeps = 1;

    for (const char *line = text, *end; made != NULL && *line != '\0'; line = end) {
        end = strchr(line, '\n');
        end = end != NULL ? end + 1 : line + strlen(line);
        if (strncmp(line, ENTRY, strlen(ENTRY)) == 0) {
            keeps = is_about(line, end, about);
        } else if (strncmp(line, END, strlen(END)) == 0) {
            keeps = 1;
            if (n > 1 && made[n - 2] == ',') { /* "},\n" of an entry that is the last one now */
                made[n - 2] = '\n';
                n--;
            }
        }
        if (keeps) {
            memcpy(made + n, line, (size_t)(end - line));
            n += (size_t)(end - line);
        }
    }
    if (made != NULL)
        made[n] = '\0';
    *left = n;
    return made;
}

static gravel_status add(const gv_kernel_file *file, const gv_profile_about *about, gv_profile_set *set,
                         gv_profile_refused_fn refused, void *user)
{
    gv_profile_set from = GV_PROFILE_SET_INIT;
    size_t size = file->size;
    char *text = about != NULL ? gv_profile_cut(file->text, file->size, about, &size) : NULL;
    gravel_status status;

    if (about != NULL && text == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a shipped profile");
    status = gv_profile_parse(file->name, text != NULL ? text : file->text, size, &from);
    free(text);
    return gv_profile_keep_or_report(status, &from, set, refused, user);
}

gravel_status gv_profile_read_shipped(const gv_profile_device *device, const gv_profile_about *about,
                                      gv_profile_set *set, gv_profile_refused_fn refused, void *user)
{
    gravel_status status = GRAVEL_OK;
    char own[128] = "";

    if (device != NULL)
        gv_profile_file_name(device, own);
    for (int i = 0; i < gv_profile_file_count && status == GRAVEL_OK; i++)
        if (device != NULL ? strcmp(gv_profile_files[i].name, own) == 0 : gv_profile_is_name(gv_profile_files[i].name))
            status = add(&gv_profile_files[i], about, set, refused, user);
    return status;
}

/* Whose answers a file of one device has, which is said before them; 0: it does not say. */
static int device_of(const gv_kernel_file *file, gv_profile_device *device)
{
    static const char word[] = "\"device\": ";
    const char *at = strstr(file->text, word), *end = strstr(file->text, "\"entries\"");

    return at != NULL && at < end &&
           gv_profile_parse_device(at + strlen(word), (size_t)(end - at) - strlen(word), device);
}

gravel_status gv_profile_read_shipped_alike(const gv_profile_device *device, const gv_profile_about *about,
                                            gv_profile_set *set, gv_profile_refused_fn refused, void *user)
{
    gravel_status status = GRAVEL_OK;
    gv_profile_device other;

    for (int i = 0; i < gv_profile_file_count && status == GRAVEL_OK; i++) {
        const gv_kernel_file *file = &gv_profile_files[i];

        if (gv_profile_is_name(file->name) && device_of(file, &other) && gv_profile_alike(&other, device) &&
            !gv_profile_same_device(&other, device))
            status = add(file, about, set, refused, user);
    }
    return status;
}

gravel_status gv_profile_read_shipped_type(gravel_device_type type, const gv_profile_about *about, gv_profile_set *set,
                                           gv_profile_refused_fn refused, void *user)
{
    gravel_status status = GRAVEL_OK;
    /* as gv_profile_print writes it, among the first words of a file of one device */
    char *mark = gv_format("\"type\": \"%s\"", gv_device_type_name(type));

    if (mark == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory to look for profiles");
    for (int i = 0; i < gv_profile_file_count && status == GRAVEL_OK; i++) {
        const gv_kernel_file *file = &gv_profile_files[i];
        const char *entries = strstr(file->text, "\"entries\""), *at = strstr(file->text, mark);

        if (gv_profile_is_name(file->name) && at != NULL && at < entries)
            status = add(file, about, set, refused, user);
    }
    free(mark);
    return status;
}
