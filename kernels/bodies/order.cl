/* A word in another order: entry k of the new one is entry from[k] of the old one; what is beyond the bodies is empty.
 *
 *   GV_ENTRY  type that is as large as an entry: uint, uint2, uint4, ulong4 */
#ifndef GV_ENTRY
#error "GV_ENTRY must be a type as large as an entry of the word"
#endif

kernel void gv_bodies_reorder(global const GV_ENTRY *word, global const uint *from, uint count, uint capacity,
                              uint empty, global GV_ENTRY *to)
{
    const uint k = get_global_id(0);
    if (k < capacity)
        to[k] = k < count ? word[from[k]] : (GV_ENTRY)(empty);
}
