/* Transfers between the caller's arrays and the planes. */
#ifndef GV_TRANSFER_H
#define GV_TRANSFER_H

#include "host/bodies/bodies.h"
#include "host/bodies/convert.h"
#include "host/bodies/slots.h"

enum {
    GV_BLOCK = 65536,      /* bodies of one transfer at least: filling one overlaps with sending another */
    GV_MOST_FIELDS = 24,   /* words that one launch of kernels/bodies/transfer.cl serves */
    GV_PUT_KERNELS = 3,    /* for 2, 8 and 24 of them */
    GV_MOST_INLINE = 3840, /* bytes of a batch that may be an argument of the kernel */
    GV_MOST_COLUMNS = 3 * GRAVEL_PLANES
};

struct gv_bodies_transfer {
    gv_slots slots;
    cl_kernel put[GV_PUT_KERNELS], put_inline[GV_PUT_KERNELS], get, fill;
    char *inline_batch;
    size_t inline_size;      /* bytes of a batch that is an argument of put_inline */
    struct gv_holding *held; /* what gv_bodies_hold keeps: put.c */
    uint32_t *stamp;         /* per address: the block of a scatter that last had it */
    size_t stamps;
    uint32_t turn;
};

/* How numbers of a plane are converted now, component c. */
gv_conversion gv_plane_conversion(const gravel_bodies *bodies, gravel_plane plane, int c);
/* Component c of the caller's array, stride 0 replaced. */
gv_numbers gv_array_numbers(const gravel_array *array, int c);

/* Lowest and highest of n numbers, by the threads of the context; 0: one is not finite. */
int gv_numbers_bounds(gravel_context *context, const gv_numbers *from, size_t n, double *lowest, double *highest);

/* gravel_exchange_origin by a sample of n numbers. */
double gv_numbers_origin(const gv_numbers *from, size_t n, double lo, double hi, double *reach);

/* Room for so many bodies, contents kept. */
gravel_status gv_bodies_reserve(gravel_bodies *bodies, size_t count);
/* frame.c: what the frame leaves open is chosen from the first numbers of a plane. */
gravel_status gv_frame_decide(gravel_bodies *bodies, gravel_plane plane, size_t count, const gravel_array *from);

/* Back to an earlier frame: a call that fails changes nothing. */
gravel_status gv_frame_undo(gravel_bodies *bodies, const gravel_frame *frame, int has_box, int has_mass_unit);

/* Starts a reduction: lo and hi of positions and masses as they are stored, two vectors at the start of the buffer. */
gravel_status gv_bodies_bounds(gravel_bodies *bodies, gv_buffer *bounds);

void gv_transfer_release(gravel_bodies *bodies);

#endif
