/* How many calls an object starts of each size, for gravel tune --calls.  A file an object, written anew whenever it
 * has started twice as many calls and when it is released: a program that is killed loses no more than half of them. */
#include "host/direct/count.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "host/base/files.h"
#include "host/profile/call_sizes.h"

enum { FIRST = 64 }; /* calls before the first writing */

static void give_up(gravel_direct *d)
{
    gv_log(d->worker.context, GRAVEL_LOG_WARNING, "the sizes of calls are not written: %s", gravel_error_message());
    free(d->counting.path);
    d->counting.path = NULL;
}

void gv_direct_count_start(gravel_direct *d)
{
    static atomic_uint objects;
    const char *folder = gv_env("GRAVEL_CALLS_DIR");
    struct timespec now;
    if (!folder || d->is_named)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    d->counting.next = FIRST;
    d->counting.path = gv_format("%s/%llx-%ld-%u" GV_CALL_SIZES_END, folder,
                                 (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec,
                                 (long)getpid(), atomic_fetch_add(&objects, 1));
    if (gv_folder_make_for(folder, "sizes of calls"))
        give_up(d);
}

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
                status = c->calls > 0 ? gv_call_sizes_add(sizes, &size) : GRAVEL_OK;
            }
    }
    return status;
}

static void write_sizes(gravel_direct *d)
{
    gv_call_sizes sizes = GV_CALL_SIZES_INIT;
    gravel_status status = collect(d, &sizes);
    if (!status)
        status = gv_call_sizes_write(d->counting.path, d->limits.info.name, &sizes);
    if (status)
        give_up(d);
    gv_call_sizes_free(&sizes);
}

void gv_direct_count_call(gravel_direct *d, gv_direct_choice *choice)
{
    if (!d->counting.path)
        return;
    choice->calls++;
    if (++d->counting.calls < d->counting.next)
        return;
    d->counting.next *= 2;
    write_sizes(d);
}

void gv_direct_count_end(gravel_direct *d)
{
    if (d->counting.path && d->counting.calls > 0)
        write_sizes(d);
    free(d->counting.path);
    d->counting.path = NULL;
}
