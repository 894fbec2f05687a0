/* A loop over independent items, shared out over the online cores. */
#ifndef GV_REF_PARALLEL_H
#define GV_REF_PARALLEL_H

#include <stddef.h>

/* Calls range(arg, begin, end) for parts that together cover 0 ... n-1.  `seconds`: the loop's cost on one core,
 * roughly; short loops stay in this thread.  A thread that cannot be started only costs speed. */
void gv_ref_parallel(size_t n, double seconds, void (*range)(void *arg, size_t begin, size_t end), void *arg);

#endif
