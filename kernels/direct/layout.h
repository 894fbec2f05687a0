/* Counts and sizes shared by the host code and the kernels of direct summation, as plain defines. */
#ifndef GV_DIRECT_LAYOUT_H
#define GV_DIRECT_LAYOUT_H

/* A stretch: sources between two flushes of the plain sums into wide ones.  In sp and ds the rounding error of a sum of
 * 32 terms stays within the ceilings for any number of sources; with 128 the mean error of the potential, ceiling 2e-8,
 * is 2.4e-8 where 4099 sources are one part (1.4e-8 with 32).  So stretches are long in long parts only, where each is
 * a small share of the sum. */
#define GV_DIRECT_STRETCH 32
#define GV_DIRECT_LONG_STRETCH 128
#define GV_DIRECT_LONG_PART 16384

/* Words of the table in which a group of so many sinks has their ids (meet.h): 512 bits for each of them, as long as
 * that is no more than 4 KB.  Then of other ids one in 65000 is taken for a sink's, of 512 sinks one in a thousand.
 * Each of these costs a stretch in the masked loop, for which other rows wait: with 64 bits a sink 16 sinks x 1048576
 * took 1.15 to 1.2 of the time. */
#define GV_DIRECT_NAME_WORDS(sinks) ((sinks) < 64 ? 16 * (sinks) : 1024)

/* Places in the tile of a row of so many work-items.  Where four rows or more make a wave, these read their tiles at
 * once, and tiles of a power of two would begin in the same bank of local memory: they get a place more. */
#define GV_DIRECT_TILE_PLACES(tile, row) ((tile) + ((row) < 16))

#define GV_REDUCE_THREADS 64 /* work-items a group of gv_reduce */
#define GV_LIST_THREADS 64   /* of gv_join_lists, where a group is more than one work-item */

/* Components of a result in the order of its planes: acc 3, pot, jerk 3, snap 3 */
#define GV_DIRECT_COMPONENTS(order) ((order) / 2 * 3 + 1)

/* Whose softening counts: the values of gravel_soften */
#define GV_SOFTEN_EPS 0
#define GV_SOFTEN_SINKS 1
#define GV_SOFTEN_SOURCES 2
#define GV_SOFTEN_SUM 3
#define GV_SOFTEN_MAX 4
#define GV_SOFTEN_OF_SINKS(soften) ((soften) == GV_SOFTEN_SINKS || (soften) >= GV_SOFTEN_SUM)
#define GV_SOFTEN_OF_SOURCES(soften) ((soften) >= GV_SOFTEN_SOURCES)

/* Sinks on the device: planes of scalars, one entry a sink, in the order
 *   x y z   [ds: their low words]   [order 4: velocity]   [order 6: acceleration]   [lists: radius^2]
 *   [lists that look ahead: the time]   [softening of sinks: eps^2]   id
 * `low` and `soften` are 0 or 1; `lists` is how many planes the lists have: 0, 1 or 2. */
#define GV_SINK_VELOCITY(low) (3 + 3 * (low))
#define GV_SINK_RADIUS(order, low) (3 * ((order) / 2 + (low)))
#define GV_SINK_AHEAD(order, low) (GV_SINK_RADIUS(order, low) + 1)
#define GV_SINK_SOFTENING(order, low, lists) (GV_SINK_RADIUS(order, low) + (lists))
#define GV_SINK_ID(order, low, lists, soften) (GV_SINK_SOFTENING(order, low, lists) + (soften))
#define GV_SINK_PLANES(order, low, lists, soften) (GV_SINK_ID(order, low, lists, soften) + 1)

/* Which sources are neighbours: the values of gravel_neighbour_rule */
#define GV_RULE_OTHERS 0
#define GV_RULE_SPHERE 1
#define GV_RULE_SPHERE_MASS 2

/* Words of bodies that take.cl may read beside positions: a bit each, set where the word is there */
#define GV_TAKE_POSITION_LOW 1
#define GV_TAKE_VELOCITY 2
#define GV_TAKE_VELOCITY_LOW 4
#define GV_TAKE_ACCELERATION 8
#define GV_TAKE_JERK 16
#define GV_TAKE_SNAP 32
#define GV_TAKE_CRACKLE 64
#define GV_TAKE_TIME 128
#define GV_TAKE_TIME_LOW 256
#define GV_TAKE_SOFTENING 512
#define GV_TAKE_RADIUS 1024
#define GV_TAKE_ID 2048
#define GV_TAKE_PREDICT 4096 /* to the time of the call */

/* Where take.cl has the addresses of sinks from; at most GV_TAKE_MOST_FEW come as arguments */
#define GV_TAKE_RANGE 0
#define GV_TAKE_LIST 1
#define GV_TAKE_FEW 2
#define GV_TAKE_MOST_FEW 32

/* What take.cl reads where the device has found the sinks: words of 4 bytes; the time is the next scalar on an 8-byte
 * border, then its low word */
#define GV_DUE_COUNT 0
#define GV_DUE_TIME 2

/* How the sources are cut for so many groups of sinks, where only the device knows how many (direct/cut.h) */
#define GV_CUT_BLOCKS 0
#define GV_CUT_PART 1 /* sources in a part */
#define GV_CUT_ROWS 2 /* of gv_reduce */
#define GV_CUT_WORDS 4

/* Changed bodies that take.cl puts: the first columns of its words come in the order of its arguments, behind them that
 * of the mass; no column; an address that a later entry replaces */
#define GV_TAKE_MASS_COLUMN 13
#define GV_TAKE_NO_COLUMN 255
#define GV_TAKE_NO_BODY 0xffffffffu

/* Which softening lengths take.cl writes */
#define GV_TAKE_SINKS_SOFTEN 1
#define GV_TAKE_SOURCES_SOFTEN 2

/* Where gv_reduce puts results; may be added up: the values of GRAVEL_INTO_... */
#define GV_PUT_HOST 1
#define GV_PUT_PLANES 2 /* the words of the sinks' bodies */
#define GV_PUT_ADD 4    /* added to what is there */

#endif
