/* Every reader of foreign files, one function each: whatever the bytes, it neither crashes nor leaks. */
#ifndef GV_FUZZ_TARGETS_H
#define GV_FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>

typedef struct gv_fuzz_target {
    const char *name; /* and of the folder with its seeds */
    void (*run)(const uint8_t *data, size_t size);
} gv_fuzz_target;

enum { GV_FUZZ_TARGETS = 7 };
extern const gv_fuzz_target gv_fuzz_target_of[GV_FUZZ_TARGETS];

#endif
