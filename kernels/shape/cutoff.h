/* What a call says about a shape that ends at a distance; no pair acts from there on. */
typedef struct gv_cutoff {
    gv_scalar per_length;   /* u = s per_length is the argument of the shape */
    gv_scalar most2;        /* u^2 of the end */
    gv_scalar per_interval; /* of an even table: intervals in u = 1 */
    uint last;              /* the last record of a table */
    global const gv_scalar4 *records;
} gv_cutoff;
