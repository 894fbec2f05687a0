/* Every reader of foreign files, one function each: whatever the bytes, it neither crashes nor leaks. */
#ifndef GV_FUZZ_TARGETS_H
#define GV_FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>

typedef struct gv_fuzz_target {
    const char *name; /* and of the folder with its seeds */
    void (*run)(const uint8_t *data, size_t size);
} gv_fuzz_target;

enum { GV_FUZZ_TARGETS = 11 };
extern const gv_fuzz_target gv_fuzz_target_of[GV_FUZZ_TARGETS];

/* The data as a file without a name, for readers that take a path. */
char *gv_fuzz_file(const uint8_t *data, size_t size);
void gv_fuzz_run_file(const uint8_t *data, size_t size);
void gv_fuzz_record(const uint8_t *data, size_t size);
void gv_fuzz_power(const uint8_t *data, size_t size);
void gv_fuzz_machine(const uint8_t *data, size_t size);
void gv_fuzz_checkpoint(const uint8_t *data, size_t size);

#endif
