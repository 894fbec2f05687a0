#include "cli/say.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

size_t gv_printable(const unsigned char *c)
{
    const size_t n = c[0] < 0x80 ? 1 : c[0] >= 0xc2 && c[0] < 0xe0 ? 2 : c[0] >= 0xe0 && c[0] < 0xf0 ? 3 : 4;

    if (n == 1)
        return c[0] >= 0x20 && c[0] != 0x7f;
    if (c[0] < 0xc2 || c[0] > 0xf4)
        return 0;
    for (size_t k = 1; k < n; k++)
        if ((c[k] & 0xc0) != 0x80)
            return 0;
    /* C1 controls; longer forms of shorter ones; surrogates; beyond the last character */
    if ((c[0] == 0xc2 && c[1] < 0xa0) || (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] >= 0xa0) ||
        (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] >= 0x90))
        return 0;
    return n;
}

void gv_plain(char *text, int lines)
{
    for (char *c = text; *c != '\0';) {
        size_t n = gv_printable((const unsigned char *)c);

        if (n == 0 && *c != '\t' && !(lines && *c == '\n'))
            *c = '?';
        c += n ? n : 1;
    }
}

static void put(FILE *stream, const char *before, const char *format, va_list list, const char *after)
{
    va_list again;

    va_copy(again, list);
    const int length = vsnprintf(NULL, 0, format, list);
    char *text = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (text) {
        vsnprintf(text, (size_t)length + 1, format, again);
        gv_plain(text, 1);
    }
    fprintf(stream, "%s%s%s%s", before, before[0] != '\0' ? ": " : "", text ? text : "(out of memory)", after);
    va_end(again);
    free(text);
}

static int nothing; /* is said by this process */

void gv_say_nothing(void)
{
    nothing = 1;
}

void gv_say(const char *command, const char *format, ...)
{
    va_list list;

    if (nothing)
        return;
    va_start(list, format);
    put(stderr, command, format, list, "\n");
    va_end(list);
}

void gv_print(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    put(stdout, "", format, list, "");
    va_end(list);
}
