/* How the sources of a call are cut, where only the device knows how many sinks there are: the host has planned it for
 * each number of groups of sinks, and enough groups are started for all of these. */
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
