/* What the mesh's kernels and their host code share: plain numbers only. */
#ifndef GV_MESH_LAYOUT_H
#define GV_MESH_LAYOUT_H

/* what is interpolated at once: a component of the acceleration, the potential, or all from the potential's mesh */
#define GV_MESH_X 0
#define GV_MESH_Y 1
#define GV_MESH_Z 2
#define GV_MESH_POT 3

/* results in planes: replaced, added, or kept apart from those of others, as one word of acceleration and potential */
#define GV_MESH_REPLACE 0
#define GV_MESH_ADD 1
#define GV_MESH_APART 2

/* numbers a wave of one axis has in the table of green.cl */
#define GV_WAVE_VECTORS 2

/* gv_mesh_assign: points of a line, and lines of a work-group along y and z.  Bodies of a run and of a long run: the
 * sums of both take two thirds of the room of the bodies themselves */
#define GV_MESH_LINE 16
#define GV_MESH_TILE_Y 8
#define GV_MESH_TILE_Z 4
#define GV_MESH_LINES (GV_MESH_TILE_Y * GV_MESH_TILE_Z)
#define GV_MESH_RUN 32
#define GV_MESH_LONG_RUN 256
/* work-items of gv_mesh_dense: a point around a cell each */
#define GV_MESH_CUBE 64

#endif
