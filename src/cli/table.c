#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* Splits `text` at '|' into the cells of a new row; what is missing stays empty. */
static void add_row(gv_table *table, const char *text)
{
    const size_t columns = (size_t)table->columns;
    char **cell = realloc(table->cell, ((size_t)table->rows + 1) * columns * sizeof *cell);
    if (cell == NULL) {
        table->failed = 1;
        return;
    }
    table->cell = cell;
    cell += (size_t)table->rows * columns;
    for (size_t c = 0; c < columns; c++) {
        const size_t n = strcspn(text, "|");
        cell[c] = malloc(n + 1);
        if (cell[c] != NULL) {
            memcpy(cell[c], text, n);
            cell[c][n] = '\0';
        } else {
            table->failed = 1;
        }
        text += n + (text[n] == '|');
    }
    table->rows++;
}

void gv_table_start(gv_table *table, const char *headings)
{
    memset(table, 0, sizeof *table);
    table->columns = 1;
    for (const char *p = headings; *p != '\0'; p++)
        table->columns += *p == '|';
    add_row(table, headings);
}

void gv_table_row(gv_table *table, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    gv_plain(text, 0);
    add_row(table, text);
}

static const char *cell_at(const gv_table *table, int row, int column)
{
    const char *text = table->cell[row * table->columns + column];
    return text != NULL ? text : "";
}

static int looks_like_number(const char *text)
{
    return text[0] == '\0' || strcmp(text, "-") == 0 || strchr("0123456789+-.<>", text[0]) != NULL;
}

void gv_table_print(const gv_table *table, FILE *stream)
{
    if (table->failed)
        fprintf(stream, "(out of memory: a part of this table is missing)\n");
    for (int row = 0; row < table->rows; row++) {
        for (int column = 0; column < table->columns; column++) {
            int width = 0, right = table->rows > 1;
            for (int r = 0; r < table->rows; r++) {
                const char *text = cell_at(table, r, column);
                width = (int)strlen(text) > width ? (int)strlen(text) : width;
                right = right && (r == 0 || looks_like_number(text));
            }
            const int last = column == table->columns - 1;
            fprintf(stream, "%*s%s",
                    right  ? width
                    : last ? 0
                           : -width,
                    cell_at(table, row, column), last ? "\n" : "  ");
        }
    }
}

void gv_table_free(gv_table *table)
{
    for (int i = 0; i < table->rows * table->columns; i++)
        free(table->cell[i]);
    free(table->cell);
    memset(table, 0, sizeof *table);
}
