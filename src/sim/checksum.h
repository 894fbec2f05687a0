/* A checksum of what is written, as fast as memory: against damage, not against an adversary.
 *
 * Eight numbers of 64 bits take one word of eight bytes each in turn: n = (n ^ word) c, then n ^= n >> 32.  Both steps
 * can be undone, so that a change within one word always changes the result; other changes go unseen once in 2^64. */
#ifndef GV_CHECKSUM_H
#define GV_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

enum { GV_CHECKSUM_LANES = 8, GV_CHECKSUM_STRIPE = 8 * GV_CHECKSUM_LANES };

typedef struct gv_checksum {
    uint64_t lane[GV_CHECKSUM_LANES], length;
    unsigned char rest[GV_CHECKSUM_STRIPE]; /* bytes that do not fill a stripe yet */
} gv_checksum;

typedef struct gv_checksum_value {
    uint64_t word[4];
} gv_checksum_value;

void gv_checksum_start(gv_checksum *sum);
/* Pieces of any length: how bytes are cut changes nothing. */
void gv_checksum_add(gv_checksum *sum, const void *data, size_t size);
gv_checksum_value gv_checksum_end(const gv_checksum *sum);

#endif
