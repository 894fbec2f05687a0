/* From tasks <i, j> in any order to what each leaf i has to do.
 *
 *   gv_tasks_keys     key = i, for a stable sort: tasks of a leaf keep their order
 *   gv_tasks_ranges   begin[i] ... begin[i + 1]: the sorted tasks of leaf i
 *   gv_tasks_entries  of each sorted task the bodies of its leaf j, and its shift
 */
kernel void gv_tasks_keys(global const uint2 *task, uint n, global uint *key, global uint *index)
{
    uint k = get_global_id(0);
    if (k >= n)
        return;
    key[k] = task[k].x;
    index[k] = k;
}

kernel void gv_tasks_ranges(global const uint *key, uint n, uint leaves, global uint *begin)
{
    uint k = get_global_id(0);
    if (k > n)
        return;
    /* leaves without tasks lie between two keys */
    uint from = k > 0 ? key[k - 1] + 1 : 0, to = k < n ? key[k] : leaves;
    for (uint leaf = from; leaf <= to; leaf++)
        begin[leaf] = k;
}

kernel void gv_tasks_entries(global const uint2 *task, global const uint2 *leaf, global const uint *index, uint n,
                             global const uchar *shift_of, global uint2 *entry, global uchar *entry_shift)
{
    uint k = get_global_id(0);
    if (k >= n)
        return;
    uint from = index[k];
    entry[k] = leaf[task[from].y];
    if (shift_of)
        entry_shift[k] = shift_of[from];
}
