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

/* points of a row that a work-group of gv_mesh_assign sums */
#define GV_POINTS 16

#endif
