/* A body on its way to the copy that another device has (several/moved.cl): numbers of a record.  Vectors take four. */
#define GV_MOVED_POSITION 0 /* and mass */
#define GV_MOVED_POSITION_LOW 4
#define GV_MOVED_VELOCITY 8
#define GV_MOVED_VELOCITY_LOW 12
#define GV_MOVED_ACCELERATION 16
#define GV_MOVED_JERK 20
#define GV_MOVED_SNAP 24
#define GV_MOVED_CRACKLE 28
#define GV_MOVED_TIME 32
#define GV_MOVED_TIME_LOW 33
#define GV_MOVED_NUMBERS 36 /* whole vectors */

/* The force on a listed sink: three of the acceleration, the potential. */
#define GV_FOUND_NUMBERS 4
