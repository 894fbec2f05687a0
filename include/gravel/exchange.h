/* gravel: bodies dealt out over several address spaces along a space-filling curve.
 *
 * Each part of a job (a rank: cluster.h does all this over MPI) has bodies of its own, in one frame for all parts.  The
 * curve runs through the cube of the frame, from -1 to 1 in its units of length; part p gets the bodies whose keys are
 * from split[p - 1] on and below split[p].
 *
 *   gravel_exchange_order(x, plane, most, key, weight, &count);   keys, sorted; where the weight is along the curve
 *   gravel_exchange_choose(samples, key, weight, parts, split);    the same on all parts: splits of equal weights
 *   gravel_exchange_deal(x, split, counts);                       how many bodies go to each part
 *   gravel_exchange_fetch(x, &from);                              those that leave, in the order of the parts
 *   gravel_exchange_room(x, arriving, &to);                       ... they travel ...
 *   gravel_exchange_join(x);                                      leavers are gone, arrivals are there
 */
#ifndef GRAVEL_EXCHANGE_H
#define GRAVEL_EXCHANGE_H

#include "gravel/bodies.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gravel_exchange gravel_exchange;

GRAVEL_API gravel_status gravel_exchange_create(gravel_exchange **exchange, gravel_bodies *bodies, int parts, int mine);
GRAVEL_API void gravel_exchange_release(gravel_exchange *exchange);

/* Which planes there are, a bit each (as the bodies store them); and these planes made, filled with zeros.  Planes of
 * all parts must be the same before bodies travel. */
GRAVEL_API uint64_t gravel_exchange_get_planes(const gravel_exchange *exchange);
GRAVEL_API gravel_status gravel_exchange_set_planes(gravel_exchange *exchange, uint64_t planes);

/* Sorts the keys of all bodies.  Along the curve they are cut into up to `most` blocks of as many bodies: key[k] is
 * that of the first body of block k, weight[k] the sum of the plane (one of GRAVEL_USER ...; -1: bodies count 1). */
GRAVEL_API gravel_status gravel_exchange_order(gravel_exchange *exchange, int plane, int most, uint64_t *key,
                                               double *weight, int *count);
/* Sum of such a plane over all bodies. */
GRAVEL_API gravel_status gravel_exchange_weigh(gravel_exchange *exchange, int plane, double *sum);
/* Box of the bodies in units of the frame: where it leaves -1 ... 1, or fills little of it, a new frame is due.
 * Without bodies lo is above hi. */
GRAVEL_API gravel_status gravel_exchange_get_box(gravel_exchange *exchange, double lo[3], double hi[3]);
/* Where the origin of a frame lies along an axis on which all bodies span lo ... hi: in the middle, or, where that is
 * far from most of them, at the median of a sample, which is sorted in place.  *reach: how far bodies are from it. */
GRAVEL_API double gravel_exchange_origin(double lo, double hi, double *sample, size_t n, double *reach);
/* From the blocks of all parts, in any order: the keys between them are where the parts' weights are as equal as blocks
 * allow.  split[0 ... parts - 2].  `key` and `weight` are sorted in place. */
GRAVEL_API gravel_status gravel_exchange_choose(size_t blocks, uint64_t *key, double *weight, int parts,
                                                uint64_t *split);
/* count[p]: bodies that go to part p, or stay; bytes[p]: of those that go. */
GRAVEL_API gravel_status gravel_exchange_deal(gravel_exchange *exchange, const uint64_t *split, size_t *count,
                                              size_t *bytes);
/* Waits until those that go are in host memory, which is good until the next deal. */
GRAVEL_API gravel_status gravel_exchange_fetch(gravel_exchange *exchange, const void **from);
/* Pinned memory for count[p] bodies from each part (0 from the own one), in the order of the parts. */
GRAVEL_API gravel_status gravel_exchange_room(gravel_exchange *exchange, const size_t *count, size_t *bytes, void **to);
/* Bodies that stay are in the order of the curve, then come those of the other parts. */
GRAVEL_API gravel_status gravel_exchange_join(gravel_exchange *exchange);

#ifdef __cplusplus
}
#endif
#endif
