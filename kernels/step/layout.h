/* Counts and sizes shared by the host code and the kernels of the integrator. */
#define GV_STEP_CRITERION_AARSETH 0
#define GV_STEP_CRITERION_GENERALISED 1
#define GV_STEP_CRITERION_AVERAGE 2

/* gv_step_head: words of 4 bytes at the start of the buffer `head` */
#define GV_HEAD_COUNT 0 /* bodies of the block */
#define GV_HEAD_SHORT 1 /* address of a body whose step became too short; none: all bits set */
#define GV_HEAD_TIME 2  /* of the block: the next scalar on an 8-byte border, then its low word */
#define GV_HEAD_DONE 6  /* blocks that gv_step_finish has moved since the start, modulo 2^32 */
#define GV_HEAD_WORDS 8
/* and behind them what the last GV_HEAD_BLOCKS of those blocks were, block k in entry k % GV_HEAD_BLOCKS: time as
 * above, number of bodies */
#define GV_HEAD_BLOCKS 64
#define GV_BLOCK_TIME 0
#define GV_BLOCK_COUNT 2
#define GV_BLOCK_WORDS 4
/* parts of the table of a leapfrog with a clock: kicks over the first and the second half of a step; for looks at
 * bodies within a step what the first half kick gave too much, the drift since then, and the second half kick */
#define GV_TABLE_FIRST 0
#define GV_TABLE_SECOND 1
#define GV_TABLE_TRIM 2
#define GV_TABLE_WAY 3
#define GV_TABLE_CLOSE 4
#define GV_TABLE_PARTS 5
#define GV_LEAST_PARTS 64 /* groups that look for the least time at most */

/* A body on its way between device and host (step/carry.cl): numbers of a record.  Vectors take four. */
#define GV_CARRY_POSITION 0 /* and mass */
#define GV_CARRY_POSITION_LOW 4
#define GV_CARRY_VELOCITY 8
#define GV_CARRY_VELOCITY_LOW 12
#define GV_CARRY_ACCELERATION 16
#define GV_CARRY_JERK 20
#define GV_CARRY_SNAP 24
#define GV_CARRY_CRACKLE 28
#define GV_CARRY_TIME 32
#define GV_CARRY_TIME_LOW 33
#define GV_CARRY_STEP 34
#define GV_CARRY_POTENTIAL 35
#define GV_CARRY_NUMBERS 36
/* addresses before the records begin: those of so many bodies and of a list, to a border of 16 bytes */
#define GV_CARRY_ADDRESSES(bodies, listed) (((bodies) + (listed) + 3) / 4 * 4)

/* Counts of moved bodies by time-step: powers of two from this one on (step/tally.cl). */
#define GV_TALLY_LOWEST (-64)
#define GV_TALLY_POWERS 128
