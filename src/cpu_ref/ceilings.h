/* Largest relative errors of forces that count as right: mean and maximum over a Plummer sphere of 16384 bodies in
 * standard units, with softening 1e-2 and without; two to five times what pair terms of that precision with exact sums
 * give (sp is limited by close pairs whose positions cancel). */
#ifndef GV_CEILINGS_H
#define GV_CEILINGS_H

enum { GV_CEILING_ACC, GV_CEILING_POT, GV_CEILING_JERK, GV_CEILING_SNAP, GV_CEILINGS };

typedef struct gv_ceiling {
    double mean, max;
} gv_ceiling;

/* precision: 0 sp, 1 ds, 2 dp; quantity: GV_CEILING_... */
gv_ceiling gv_error_ceiling(int precision, int quantity);

#endif
