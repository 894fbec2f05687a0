#include "sim/blocks_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/files.h"

static const char magic[] = "# gravel blocks 1\n";
enum { LARGEST = 1 << 20 };

static gv_blocks_line *line_of(gv_blocks *blocks, double value)
{
    int power;
    frexp(value, &power); /* value = 0.5 to 1 times 2^power */
    power -= 1;
    if (power < GV_BLOCKS_LOWEST)
        power = GV_BLOCKS_LOWEST;
    if (power > GV_BLOCKS_HIGHEST)
        power = GV_BLOCKS_HIGHEST;
    return &blocks->at[power - GV_BLOCKS_LOWEST];
}

void gv_blocks_add(gv_blocks *blocks, size_t bodies)
{
    gv_blocks_line *line = line_of(blocks, (double)bodies);
    line->blocks += 1.0;
    line->moved += (double)bodies;
}

void gv_blocks_add_steps(gv_blocks *blocks, double step, size_t bodies)
{
    line_of(blocks, step)->steps += (double)bodies;
}

gravel_status gv_blocks_write(const gv_blocks *blocks, const char *path, const gv_units *units)
{
    char *text = NULL, unit[GV_UNITS_TEXT];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        fprintf(out, "%s# unit of time: %s\n", magic, gv_unit_text(units, 1, 0, -1, unit));
        fputs("# power: of two; blocks: block steps of 2^power to 2^(power+1) - 1 bodies; moved: bodies in these\n"
              "# steps: bodies moved over a time-step of 2^power to 2^(power+1)\n# power blocks moved steps\n",
              out);
        for (int k = 0; k < GV_BLOCKS_POWERS; k++) {
            const gv_blocks_line *l = &blocks->at[k];
            if (l->blocks > 0.0 || l->steps > 0.0)
                fprintf(out, "%d %.17g %.17g %.17g\n", k + GV_BLOCKS_LOWEST, l->blocks, l->moved, l->steps);
        }
    }
    gravel_status status = GRAVEL_OK;
    if (!out || fclose(out) != 0)
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for a table of blocks");
    if (!status)
        status = gv_file_write(path, text, size);
    free(text);
    return status;
}

static gravel_status read_lines(gv_blocks *blocks, const char *path, const char *text)
{
    size_t number = 1;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1, number++) {
        double value[4];
        const char *p = line;
        if (!strchr(line, '\n'))
            return gv_fail(GRAVEL_ERR_FORMAT, "%s, line %zu: the file is truncated", path, number);
        if (*line == '#')
            continue;
        for (int c = 0; c < 4; c++) {
            char *behind;
            value[c] = strtod(p, &behind);
            if (behind == p || !isfinite(value[c]) || (c > 0 && value[c] < 0.0))
                return gv_fail(GRAVEL_ERR_FORMAT, "%s, line %zu: not four counts", path, number);
            p = behind;
        }
        if (*p != '\n' || value[0] != floor(value[0]) || value[0] < GV_BLOCKS_LOWEST || value[0] > GV_BLOCKS_HIGHEST)
            return gv_fail(GRAVEL_ERR_FORMAT, "%s, line %zu: not a power of two and three counts", path, number);
        blocks->at[(int)value[0] - GV_BLOCKS_LOWEST] = (gv_blocks_line){value[1], value[2], value[3]};
    }
    return GRAVEL_OK;
}

gravel_status gv_blocks_read(gv_blocks *blocks, const char *path)
{
    char *text;
    memset(blocks, 0, sizeof *blocks);
    gravel_status status = gv_file_read(path, LARGEST, &text, NULL);
    if (status)
        return status;
    if (strncmp(text, magic, strlen(magic)) != 0)
        status = gv_fail(GRAVEL_ERR_FORMAT, "%s: not a table of blocks (it begins with \"%.*s\")", path,
                         (int)strlen(magic) - 1, magic);
    else
        status = read_lines(blocks, path, text);
    free(text);
    return status;
}
