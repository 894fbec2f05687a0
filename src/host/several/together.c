/* Work of several devices at once, by threads of the context. */
#include <stdio.h>
#include <stdlib.h>

#include "host/base/threads.h"
#include "host/several/object.h"

typedef struct together {
    gravel_status (*work)(void *user, int m);
    void *user;
    gravel_status status[GV_MOST_MEMBERS];
    char message[GV_MOST_MEMBERS][1024];
} together;

static void work_on(void *user, size_t first, size_t count)
{
    together *t = user;
    for (size_t m = first; m < first + count; m++) {
        t->status[m] = t->work(t->user, (int)m);
        if (t->status[m]) /* messages belong to threads */
            snprintf(t->message[m], sizeof t->message[m], "%s", gravel_error_message());
    }
}

gravel_status gv_together(gravel_context *context, int n, gravel_status (*work)(void *user, int m), void *user)
{
    together *t = malloc(sizeof *t);
    gravel_status status = t ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for the work of %d devices", n);
    if (status)
        return status;
    t->work = work;
    t->user = user;
    gv_parallel(gv_context_pool(context), (size_t)n, 1, work_on, t);
    for (int m = 0; m < n && !status; m++)
        if (t->status[m])
            status = gv_fail(t->status[m], "%s", t->message[m]);
    free(t);
    return status;
}
