/* Interaction shapes by number, and tables of shapes: shared by the host code and the kernels, as plain defines. */
#ifndef GV_SHAPE_LAYOUT_H
#define GV_SHAPE_LAYOUT_H

#define GV_SHAPE_PLUMMER 0
#define GV_SHAPE_SPLINE 1
#define GV_SHAPE_TRUNCATED 2 /* Newton's times T(s / 2 r_s), by erfc and exp */
#define GV_SHAPE_TABLE 3

/* How the factors of a short range are found (shape/short_form.h) */
#define GV_FORM_EXACT 0
#define GV_FORM_RATIONAL 1
#define GV_FORM_TABLE 2
#define GV_FORM_INTERVALS 512 /* of the table for u = 0 ... 3 */

/* What a table holds: factors of Newton's force and potential, or these themselves */
#define GV_TABLE_OF_FACTORS 0
#define GV_TABLE_OF_FORCES 1

/* A record of a table: the coefficients of the polynomial of the force in one interval, the constant first, then those
 * of the potential, filled up to whole fours */
#define GV_TABLE_QUADS(level) ((2 * ((level) + 1) + 3) / 4)
/* Tables by octaves begin at (s / cut)^2 = 2^-GV_TABLE_OCTAVES; what is below counts as there. */
#define GV_TABLE_OCTAVES 48

#endif
