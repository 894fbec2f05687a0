/* Whether a block that the device has found is one that a launch was made for: its bodies are more than `above` and at
 * most `most`, and it is not after `until`.  Needs lib/pair.h. */
static inline int gv_block_fits(uint count, gv_scalar time, gv_scalar time_low, uint above, uint most, gv_scalar until,
                                gv_scalar until_low)
{
    return count > above && count <= most && (time < until || (time == until && time_low <= until_low));
}
