/* SHA-256 (FIPS 180-4): names cache entries and kernel versions. */
#ifndef GV_DIGEST_H
#define GV_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gv_digest {
    unsigned char byte[32];
} gv_digest;

typedef struct gv_hasher {
    uint32_t state[8];
    uint64_t length; /* bytes so far */
    unsigned char block[64];
    bool plain; /* tests set it: no instructions made for SHA even where the processor has them */
} gv_hasher;

void gv_hash_start(gv_hasher *hasher);
void gv_hash_add(gv_hasher *hasher, const void *data, size_t size);
/* The text and its closing zero byte, so that "ab" + "c" differs from "a" + "bc"; NULL counts as "" */
void gv_hash_text(gv_hasher *hasher, const char *text);
void gv_hash_end(gv_hasher *hasher, gv_digest *digest);
/* the first `digits` (at most 64, even) hex digits and a zero byte */
void gv_digest_hex(const gv_digest *digest, size_t digits, char *text);

#endif
