#include "compat/common/compat.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 1024, KEPT = 16 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static gv_compat_level highest = GV_COMPAT_WARNING;
/* Lines of late: a caller that goes on without a device has one from each function that it calls, over and over. */
static struct kept {
    char text[LINE];
    unsigned long times, turn; /* how often it came; the later the greater */
} kept[KEPT];
static unsigned long turns;

void gv_compat_set_level(gv_compat_level level)
{
    pthread_mutex_lock(&lock);
    highest = level;
    pthread_mutex_unlock(&lock);
}

void gv_compat_forget_lines(void)
{
    pthread_mutex_lock(&lock);
    memset(kept, 0, sizeof kept);
    pthread_mutex_unlock(&lock);
}

/* How often this line came, this time included. */
static unsigned long count(const char *text)
{
    struct kept *oldest = &kept[0], *line = NULL;

    for (int k = 0; k < KEPT; k++) {
        line = strcmp(kept[k].text, text) == 0 ? &kept[k] : line;
        oldest = kept[k].turn < oldest->turn ? &kept[k] : oldest;
    }
    if (!line) {
        line = oldest;
        line->times = 0;
        snprintf(line->text, sizeof line->text, "%s", text);
    }
    line->turn = ++turns;
    return ++line->times;
}

static void write_line(gv_compat_level level, const char *text)
{
    static const char *const name[] = {"", "error: ", "warning: ", "", "debug: "};
    char more[48] = "";

    pthread_mutex_lock(&lock);
    const unsigned long times = level <= highest ? count(text) : 0;
    if (times > 1)
        snprintf(more, sizeof more, " (%lu times)", times);
    if (times > 0 && (times & (times - 1)) == 0)
        fprintf(stderr, "%s: %s%s%s\n", gv_compat_library, name[level], text, more);
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
