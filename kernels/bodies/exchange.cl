/* Bodies along a space-filling curve: where their weight is, where parts begin, and entries on their way.
 *
 *   GV_ENTRY      type that is as large as an entry: uint, uint2, uint4, ulong4
 *   GV_PRECISION  of the planes */
#include "lib/real.h"

#ifndef GV_ENTRY
#error "GV_ENTRY must be a type as large as an entry of the word"
#endif

/* weights of a block that are on their way together */
#define GV_AHEAD 8

/* Block b: bodies b * each ... in the order of the curve (index and keys NULL: as they are).  `weight` NULL: they count
 * 1. */
kernel void gv_exchange_sample(global const ulong *key, global const uint *index, uint n, uint each, uint blocks,
                               global const gv_scalar *weight, global ulong *first_key, global gv_scalar *sum)
{
    const uint b = get_global_id(0);
    if (b >= blocks)
        return;
    const uint end = min((b + 1) * each, n);
    gv_scalar all = 0;
    for (uint k = b * each; k < end; k += GV_AHEAD) {
        gv_scalar w[GV_AHEAD];
        for (uint j = 0; j < GV_AHEAD; j++) {
            const uint at = min(k + j, end - 1);
            w[j] = k + j >= end ? 0 : weight ? weight[index ? index[at] : at] : 1;
        }
        for (uint j = 0; j < GV_AHEAD; j++)
            all += w[j];
    }
    if (key)
        first_key[b] = key[b * each];
    sum[b] = all;
}

/* begin[p]: bodies with keys below split[p - 1]; begin[0] = 0, begin[parts] = n */
kernel void gv_exchange_find(global const ulong *key, uint n, global const ulong *split, uint parts, global uint *begin)
{
    const uint p = get_global_id(0);
    if (p > parts)
        return;
    uint low = 0, high = n;
    while (p > 0 && p < parts && low < high) {
        const uint middle = low + (high - low) / 2;
        if (key[middle] < split[p - 1])
            low = middle + 1;
        else
            high = middle;
    }
    begin[p] = p == 0 ? 0 : p == parts ? n : low;
}

/* entries from[0 ... count-1] of a word to the places at ... */
kernel void gv_exchange_pack(global const GV_ENTRY *word, global const uint *from, uint first, uint count, ulong at,
                             global GV_ENTRY *to)
{
    const uint k = get_global_id(0);
    if (k < count)
        to[at + k] = word[from[first + k]];
}
