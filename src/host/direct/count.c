/* How many calls an object starts of each size, for gravel tune --calls.  A file an object, written anew whenever it
 * has started twice as many calls and when it is released: a program that is killed has at least half of them, and
 * none of less than 64. */
#include "host/direct/count.h"

#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "host/base/files.h"

enum { FIRST = 64 }; /* calls before the first writing */

/* What failed before is still what the caller reads of. */
static void give_up(gravel_direct *d, const char *before)
{
    gv_log(d->worker.context, GRAVEL_LOG_WARNING, "the sizes of calls are not written: %s", gravel_error_message());
    gv_fail(GRAVEL_OK, "%s", before ? before : "");
    gv_direct_count_not(d);
}

void gv_direct_count_not(gravel_direct *d)
{
    free(d->counting.path);
    gv_call_sizes_free(&d->counting.due);
    d->counting.path = NULL;
}

void gv_direct_count_start(gravel_direct *d)
{
    const char *named = gv_env("GRAVEL_CALLS_DIR");
    struct timespec now;
    if (!named || d->is_named)
        return;
    char *const before = gv_format("%s", gravel_error_message());
    const gravel_status status = gv_folder_make_for(named, "sizes of calls");
    char *const folder = status ? NULL : realpath(named, NULL); /* programs may go to another folder */
    clock_gettime(CLOCK_REALTIME, &now);
    d->counting.next = FIRST;
    if (folder) /* no other object's, of this process or another one */
        d->counting.path = gv_format("%s/%llx-%ld-%llx" GV_CALL_SIZES_END, folder,
                                     (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec,
                                     (long)getpid(), (unsigned long long)(uintptr_t)d);
    free(folder);
    if (status)
        give_up(d, before);
    free(before);
}

/* What no question can be about is left out. */
static gravel_status collect(const gravel_direct *d, gv_call_sizes *sizes)
{
    gravel_status status = GRAVEL_OK;
    for (int k = 0; k < GV_DIRECT_SETS * GV_DIRECT_VARIANTS; k++) {
        const int variant = k % GV_DIRECT_VARIANTS;
        const gv_direct_choices *choices = d->choice[k / GV_DIRECT_VARIANTS][variant];
        for (int row = 0; choices && row < GV_CHOICE_SOURCE_CELLS; row++)
            for (int cell = 0; choices->row[row] && cell < GV_CHOICE_SINK_CELLS && !status; cell++) {
                const gv_direct_choice *c = &choices->row[row][cell];
                const gv_call_size size = {d->variant[variant], c->sinks, c->sources, c->calls};
                status = gv_call_size_is_good(&size) ? gv_call_sizes_add(sizes, &size) : GRAVEL_OK;
            }
    }
    for (int k = 0; k < d->counting.due.n && !status; k++)
        status = gv_call_sizes_add(sizes, &d->counting.due.size[k]);
    return status;
}

static void write_sizes(gravel_direct *d)
{
    gv_call_sizes sizes = GV_CALL_SIZES_INIT;
    char *const before = gv_format("%s", gravel_error_message());
    gravel_status status = collect(d, &sizes);
    if (!status)
        status = gv_call_sizes_write(d->counting.path, d->limits.info.name, &sizes);
    gv_call_sizes_free(&sizes);
    if (status)
        give_up(d, before);
    free(before);
}

static void count(gravel_direct *d)
{
    if (++d->counting.calls < d->counting.next)
        return;
    d->counting.next *= 2;
    write_sizes(d);
}

void gv_direct_count_call(gravel_direct *d, gv_direct_choice *choice)
{
    if (!d->counting.path)
        return;
    choice->calls++;
    count(d);
}

void gv_direct_count_due(gravel_direct *d, int order, size_t sinks, size_t sources)
{
    const gv_call_size size = {d->variant[gv_direct_variant(order, 0, 0)], sinks, sources, 1};
    if (!d->counting.path || !gv_call_size_is_good(&size))
        return;
    if (gv_call_sizes_add(&d->counting.due, &size))
        gv_direct_count_not(d);
    else
        count(d);
}

void gv_direct_count_end(gravel_direct *d)
{
    if (d->counting.path && d->counting.calls > 0)
        write_sizes(d);
    gv_direct_count_not(d);
}
