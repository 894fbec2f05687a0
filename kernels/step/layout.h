/* Counts and sizes shared by the host code and the kernels of the integrator. */
#define GV_STEP_CRITERION_AARSETH 0
#define GV_STEP_CRITERION_GENERALISED 1
#define GV_STEP_CRITERION_AVERAGE 2

/* gv_step_head: words of 4 bytes at the start of the buffer `head` */
#define GV_HEAD_COUNT 0 /* bodies of the block */
#define GV_HEAD_SHORT 1 /* address of a body whose step became too short; none: all bits set */
#define GV_HEAD_TIME 2  /* of the block: the next scalar on an 8-byte border, then its low word */
#define GV_HEAD_WORDS 6
#define GV_LEAST_PARTS 64 /* groups that look for the least time at most */
