/* A sort of keys and indices on the device, looked through on the host. */
#include "cli/check_sort.h"

#include <stdio.h>
#include <stdlib.h>

#include "host/program/sort.h"

/* Keys in order, and each index once, at its own key; equal keys in the order they came (one in eight has a twin). */
static void judge_sort(const uint64_t *before, const uint64_t *after, const cl_uint *index, size_t n, char *why,
                       size_t size)
{
    for (size_t k = 0; k < n; k++) {
        const int own = index[k] < n && before[index[k]] == after[k];
        const int ordered = k == 0 || after[k - 1] < after[k] || (after[k - 1] == after[k] && index[k - 1] < index[k]);
        if (!own || !ordered) {
            snprintf(why, size, "of %zu keys, number %zu is %s", n, k,
                     own ? "out of order" : "not the key of its index");
            return;
        }
    }
}

static gravel_status run_sort(gv_worker *worker, gv_sort *sort, uint64_t *key, cl_uint *index, uint64_t *after,
                              size_t n)
{
    const cl_command_queue queue = gv_worker_queue(worker);
    gravel_status status = gv_sort_make(sort, worker, 64, NULL);

    if (status == GRAVEL_OK)
        status = gv_sort_reserve(sort, worker, n);
    if (status != GRAVEL_OK)
        return status;
    cl_int code =
        clEnqueueWriteBuffer(queue, sort->key[sort->sorted].mem, CL_TRUE, 0, n * sizeof *key, key, 0, NULL, NULL);
    if (!code)
        code = clEnqueueWriteBuffer(queue, sort->index[sort->sorted].mem, CL_TRUE, 0, n * sizeof *index, index, 0, NULL,
                                    NULL);
    status = code ? gv_fail_cl(code, "writing keys") : gv_sort_run(sort, worker, 0, n, 63);
    if (status != GRAVEL_OK)
        return status;
    code = clEnqueueReadBuffer(queue, sort->key[sort->sorted].mem, CL_TRUE, 0, n * sizeof *after, after, 0, NULL, NULL);
    if (!code)
        code = clEnqueueReadBuffer(queue, sort->index[sort->sorted].mem, CL_TRUE, 0, n * sizeof *index, index, 0, NULL,
                                   NULL);
    return code ? gv_fail_cl(code, "reading keys") : GRAVEL_OK;
}

gravel_status gv_check_sort(gravel_context *context, size_t n, char *why, size_t size)
{
    gv_worker worker = {.context = context, .device = 0};
    gv_sort sort = {0};
    uint64_t *key = malloc(n * sizeof *key), *after = calloc(n, sizeof *after), state = 1;
    cl_uint *index = malloc(n * sizeof *index);
    gravel_status status = GRAVEL_OK;

    why[0] = '\0';
    if (key && after && index) {
        for (size_t k = 0; k < n; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            key[k] = k % 8 == 7 ? key[k / 2] : state >> 1;
            index[k] = (cl_uint)k;
        }
        if (run_sort(&worker, &sort, key, index, after, n) == GRAVEL_OK)
            judge_sort(key, after, index, n, why, size);
        else
            snprintf(why, size, "%s", gravel_error_message());
    } else {
        status = gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    }
    gv_sort_release(&sort);
    gv_worker_clear(&worker);
    free(index);
    free(after);
    free(key);
    return status;
}
