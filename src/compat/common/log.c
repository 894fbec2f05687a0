#include "compat/common/compat.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 1024 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static gv_compat_level highest = GV_COMPAT_WARNING;
static char last[LINE]; /* the line written before, and how often it came */
static unsigned long repeats;

void gv_compat_set_level(gv_compat_level level)
{
    pthread_mutex_lock(&lock);
    highest = level;
    pthread_mutex_unlock(&lock);
}

static void write_line(gv_compat_level level, const char *text)
{
    static const char *const name[] = {"", "error: ", "warning: ", "", "debug: "};
    char times[48] = "";

    pthread_mutex_lock(&lock);
    const int again = strcmp(text, last) == 0;
    if (level <= highest) {
        repeats = again ? repeats + 1 : 1;
        if (again)
            snprintf(times, sizeof times, " (%lu times in a row)", repeats);
        else
            snprintf(last, sizeof last, "%s", text);
        if ((repeats & (repeats - 1)) == 0)
            fprintf(stderr, "%s: %s%s%s\n", gv_compat_library, name[level], text, times);
    }
    pthread_mutex_unlock(&lock);
}

void gv_compat_log(gv_compat_level level, const char *format, ...)
{
    char text[LINE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    write_line(level, text);
}

int gv_compat_fail(const char *function, const char *format, ...)
{
    char text[LINE];
    va_list arguments;
    int used = snprintf(text, sizeof text, "%s: ", function);

    va_start(arguments, format);
    vsnprintf(text + used, sizeof text - (size_t)used, format, arguments);
    va_end(arguments);
    write_line(GV_COMPAT_ERROR, text);
    return -1;
}

int gv_compat_failed(const char *function, gravel_status status)
{
    if (status == GRAVEL_OK)
        return 0;
    const char *message = gravel_error_message()[0] ? gravel_error_message() : gravel_status_text(status);
    const size_t first = strcspn(message, "\n");
    gv_compat_fail(function, "%.*s", (int)first, message);
    if (message[first])
        gv_compat_log(GV_COMPAT_DEBUG, "%s", message + first + 1);
    return -1;
}
