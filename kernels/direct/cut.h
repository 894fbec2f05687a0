/* How the sources of a call are cut: groups of sinks along dimension 0, of sources along dimension 1.
 *
 * With GV_DUE, where only the device knows how many sinks there are, all groups are along dimension 0: the host has
 * planned the cut for each number of groups of sinks, and enough groups are started for all of these. */
#if GV_DUE
#define GV_SINK_GROUP (get_group_id(0) % cut.groups)
#define GV_BLOCK (get_group_id(0) / cut.groups)
#define GV_BLOCK_OF(item) (item)->block
#define GV_CUT_ARGS , global const uint *restrict head, global const uint *restrict cuts, uint above, uint most
#define GV_CUT_ARGS_OF_ANY GV_CUT_ARGS, uint group_sinks /* of kernels that do not know the configuration */

typedef struct gv_cut {
    uint sinks, groups; /* groups of sinks; 0: the launch is not for so many */
    uint blocks, part_sources, rows;
} gv_cut;

static inline gv_cut gv_find_cut(global const uint *head, global const uint *cuts, uint above, uint most,
                                 uint group_sinks)
{
    gv_cut cut = {head[GV_DUE_COUNT], 0, 0, 0, 0};
    if (cut.sinks > above && cut.sinks <= most) {
        cut.groups = (cut.sinks + group_sinks - 1) / group_sinks;
        cuts += GV_CUT_WORDS * cut.groups;
        cut.blocks = cuts[GV_CUT_BLOCKS];
        cut.part_sources = cuts[GV_CUT_PART];
        cut.rows = cuts[GV_CUT_ROWS];
    }
    return cut;
}
#else
#define GV_SINK_GROUP get_group_id(0)
#define GV_BLOCK get_group_id(1)
#define GV_BLOCK_OF(item) get_group_id(1)
#define GV_CUT_ARGS
#define GV_CUT_ARGS_OF_ANY
#endif
