/* Partial results on the device: planes of `stride` scalars, one entry a sink, part after part.  First each component
 * of GV_COMPONENTS in GV_WIDE_WORDS words (the high before the low), then with GV_NEAREST the squared distance of the
 * nearest neighbour and a plane with its address.  Results for the host are the same with one plane more: the
 * neighbour's id. */
#define GV_NEAREST_R2 (GV_COMPONENTS * GV_WIDE_WORDS)
#define GV_RESULT_PLANES (GV_NEAREST_R2 + 2 * GV_NEAREST)

static inline global gv_scalar *gv_result_plane(global const gv_scalar *result, uint part, uint plane, uint stride)
{
    return (global gv_scalar *)result + ((size_t)part * GV_RESULT_PLANES + plane) * stride;
}
