/* The configurations that calls of an object have got: as text, and back.
 *
 * Calls of about as many sinks and sources share the configuration of the first of them (kernels.c), so it depends on
 * the calls that came before.  A run that goes on after a stop takes what it had.  A line a configuration:
 * "SET VARIANT SINKS SOURCES ORIGIN threads=... split=...", with the sizes of that first call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/direct/direct.h"
#include "host/direct/object.h"

enum { LINE = 640 };

/* A text that grows; `used` counts what has no room in it as well. */
typedef struct writing {
    char *text;
    size_t size, used;
} writing;

static void add_line(writing *w, int set, int variant, const gv_direct_choice *c)
{
    char line[LINE], configuration[512];
    gv_space_format(&gv_direct_space, &c->config, configuration, sizeof configuration);
    snprintf(line, sizeof line, "%d %d %zu %zu %d %s\n", set, variant, c->sinks, c->sources, (int)c->origin,
             configuration);
    if (w->text && w->used + strlen(line) < w->size)
        memcpy(w->text + w->used, line, strlen(line) + 1);
    w->used += strlen(line);
}

size_t gravel_direct_get_choices(const gravel_direct *d, char *text, size_t size)
{
    writing w = {text, size, 0};
    if (text && size > 0)
        text[0] = '\0';
    for (int k = 0; d && k < GV_DIRECT_SETS * GV_DIRECT_VARIANTS; k++) {
        const int set = k / GV_DIRECT_VARIANTS, variant = k % GV_DIRECT_VARIANTS;
        const gv_direct_choices *choices = d->choice[set][variant];
        for (int row = 0; choices && row < GV_CHOICE_SOURCE_CELLS; row++)
            for (int cell = 0; choices->row[row] && cell < GV_CHOICE_SINK_CELLS; cell++)
                if (choices->row[row][cell].sinks > 0)
                    add_line(&w, set, variant, &choices->row[row][cell]);
    }
    return w.used + 1;
}

static gravel_status refuse(const char *line)
{
    return gv_fail(GRAVEL_ERR_FORMAT, "'%s' is no choice of a configuration", line);
}

static gravel_status take_line(gravel_direct *d, const char *line)
{
    int set, v, origin, at = 0;
    gv_direct_choice taken = {.sinks = 0};
    if (sscanf(line, "%d %d %zu %zu %d %n", &set, &v, &taken.sinks, &taken.sources, &origin, &at) != 5 || at == 0)
        return refuse(line);
    if (set < 0 || set >= GV_DIRECT_SETS || v < 0 || v >= GV_DIRECT_VARIANTS || taken.sinks == 0 || origin < 0 ||
        origin > (int)GRAVEL_ORIGIN_BUILT_IN)
        return refuse(line);
    taken.origin = (gravel_origin)origin;
    gv_direct_space.built_in(&taken.config, &d->variant[v], &d->limits, 1, 1);
    gravel_status status = gv_space_parse(&gv_direct_space, line + at, &taken.config);
    const char *why = status ? NULL : gv_space_can_run(&gv_direct_space, &taken.config, &d->variant[v], &d->limits);
    if (why)
        status = gv_fail(GRAVEL_ERR_UNSUPPORTED, "'%s' cannot run on %s: %s", line + at, d->limits.info.name, why);
    gv_direct_choice *const c = status ? NULL : gv_direct_find_choice(d, set, v, taken.sinks, taken.sources);
    if (!status && !c)
        status = gv_fail(GRAVEL_ERR_MEMORY, "no host memory for configurations");
    if (!status) {
        taken.calls = c->calls;
        *c = taken; /* kernels of another configuration stay with the object until it is released */
    }
    return status;
}

gravel_status gravel_direct_set_choices(gravel_direct *d, const char *text)
{
    char line[LINE];
    gravel_status status = GRAVEL_OK;
    if (!d || !text)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_set_choices: no object or no text");
    while (*text && !status) {
        const size_t length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(length < LINE ? length : LINE - 1), text);
        status = take_line(d, line);
        text += length + (text[length] == '\n');
    }
    return status;
}
