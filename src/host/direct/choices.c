/* The configurations that calls of an object have got: as text, and back.
 *
 * Calls of about as many sinks share the configuration of the first of them (kernels.c), so it depends on the calls
 * that came before.  A run that goes on after a stop takes what it had.  A line a configuration:
 * "SET VARIANT SINK_BUCKET SOURCE_BUCKET ORIGIN threads=... split=..." */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/direct/direct.h"
#include "host/direct/object.h"

enum { LINE = 640 };

size_t gravel_direct_get_choices(const gravel_direct *d, char *text, size_t size)
{
    char line[LINE], configuration[512];
    size_t used = 0;
    if (text && size > 0)
        text[0] = '\0';
    for (int s = 0; d && s < GV_DIRECT_SETS; s++)
        for (int v = 0; v < GV_DIRECT_VARIANTS; v++)
            for (int i = 0; d->choice[s][v] && i < GV_SINK_BUCKETS; i++)
                for (int j = 0; j < GV_SOURCE_BUCKETS; j++) {
                    const gv_direct_choice *c = &(*d->choice[s][v])[i][j];
                    if (!c->known)
                        continue;
                    gv_space_format(&gv_direct_space, &c->config, configuration, sizeof configuration);
                    snprintf(line, sizeof line, "%d %d %d %d %d %s\n", s, v, i, j, (int)c->origin, configuration);
                    if (text && used + strlen(line) < size)
                        memcpy(text + used, line, strlen(line) + 1);
                    used += strlen(line);
                }
    return used + 1;
}

static gravel_status refuse(const char *line)
{
    return gv_fail(GRAVEL_ERR_FORMAT, "'%s' is no choice of a configuration", line);
}

static gravel_status take_line(gravel_direct *d, const char *line)
{
    int s, v, i, j, origin, at = 0;
    if (sscanf(line, "%d %d %d %d %d %n", &s, &v, &i, &j, &origin, &at) != 5 || at == 0)
        return refuse(line);
    if (s < 0 || s >= GV_DIRECT_SETS || v < 0 || v >= GV_DIRECT_VARIANTS || i < 0 || i >= GV_SINK_BUCKETS || j < 0 ||
        j >= GV_SOURCE_BUCKETS || origin < 0 || origin > (int)GRAVEL_ORIGIN_BUILT_IN)
        return refuse(line);
    gv_direct_choice taken = {.known = 1, .origin = (gravel_origin)origin};
    gv_direct_space.built_in(&taken.config, &d->variant[v], &d->limits, 1, 1);
    gravel_status status = gv_space_parse(&gv_direct_space, line + at, &taken.config);
    const char *why = status ? NULL : gv_space_can_run(&gv_direct_space, &taken.config, &d->variant[v], &d->limits);
    if (why)
        status = gv_fail(GRAVEL_ERR_UNSUPPORTED, "'%s' cannot run on %s: %s", line + at, d->limits.info.name, why);
    if (!status && !d->choice[s][v] && !(d->choice[s][v] = calloc(1, sizeof *d->choice[s][v])))
        status = gv_fail(GRAVEL_ERR_MEMORY, "no host memory for configurations");
    if (status)
        return status;
    gv_direct_choice *c = &(*d->choice[s][v])[i][j];
    c->known = 1; /* kernels of another configuration stay with the object until it is released */
    c->config = taken.config;
    c->origin = taken.origin;
    memset(c->force, 0, sizeof c->force);
    return GRAVEL_OK;
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
