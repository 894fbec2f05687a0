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
#define HEAD "    {\"kernel\": \""
#define END "   ]"

static int starts(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

/* 1 if the first line of an entry, up to `end`, says that it is of this part. */
static int is_of(const char *line, const char *end, const gv_profile_part *part)
{
    char variant[64];
    const char *kernel = line + strlen(HEAD), *at = kernel;
    const size_t n = strlen(part->kernel),
                 length = (size_t)snprintf(variant, sizeof variant, "\"variant\": \"%s\",", part->variant);

    if (strncmp(kernel, part->kernel, n) != 0 || kernel[n] != '"')
        return 0;
    while (at != NULL && strncmp(at, variant, length) != 0)
        at = memchr(at + 1, '"', (size_t)(end - at - 1));
    return at != NULL;
}

/* The text without the entries of other kernels and variants, line by line; whole where it is not laid out as
 * gv_profile_print does. */
static char *text_of(const gv_kernel_file *file, const gv_profile_part *part, size_t *size)
{
    char *made = malloc(file->size + 1);
    size_t n = 0;
    int keeps = 1;

    for (const char *line = file->text, *end; made != NULL && *line != '\0'; line = end) {
        end = strchr(line, '\n');
        end = end != NULL ? end + 1 : line + strlen(line);
        if (starts(line, HEAD)) {
            keeps = is_of(line, end, part);
        } else if (starts(line, END)) {
            keeps = 1;
            /* what was the last entry is not there */
            if (n > 1 && made[n - 2] == ',')
                made[--n - 1] = '\n';
        }
        if (keeps) {
            memcpy(made + n, line, (size_t)(end - line));
            n += (size_t)(end - line);
        }
    }
    if (made != NULL)
        made[n] = '\0';
    *size = n;
    return made;
}

static gravel_status add(const gv_kernel_file *file, const gv_profile_part *part, gv_profile_set *set,
                         gv_profile_refused_fn refused, void *user)
{
    gv_profile_set from = GV_PROFILE_SET_INIT;
    size_t size = file->size;
    char *text = part != NULL ? text_of(file, part, &size) : NULL;
    gravel_status status;

    if (part != NULL && text == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a shipped profile");
    status = gv_profile_parse(file->name, text != NULL ? text : file->text, size, &from);
    free(text);
    return gv_profile_keep_or_report(status, &from, set, refused, user);
}

gravel_status gv_profile_read_shipped(const gv_profile_device *device, const gv_profile_part *part, gv_profile_set *set,
                                      gv_profile_refused_fn refused, void *user)
{
    gravel_status status = GRAVEL_OK;
    char own[128] = "";

    if (device != NULL)
        gv_profile_file_name(device, own);
    for (int i = 0; i < gv_profile_file_count && status == GRAVEL_OK; i++)
        if (device != NULL ? strcmp(gv_profile_files[i].name, own) == 0 : gv_profile_is_name(gv_profile_files[i].name))
            status = add(&gv_profile_files[i], part, set, refused, user);
    return status;
}

gravel_status gv_profile_read_shipped_type(gravel_device_type type, const gv_profile_part *part, gv_profile_set *set,
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
            status = add(file, part, set, refused, user);
    }
    free(mark);
    return status;
}
