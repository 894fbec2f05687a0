/* A line on the terminal while the main thread is inside a call that reports no progress: a first call compiles
 * its kernels for seconds.  Shown after two seconds, on a terminal only; one at a time. */
#ifndef GV_WAITING_H
#define GV_WAITING_H

typedef enum gv_waiting_for { GV_WAITING_STEPS, GV_WAITING_COMPILER } gv_waiting_for;

/* "what k of total": steps are counted with gv_waiting_step, compiled programs by the log of the context. */
void gv_waiting_start(const char *what, int total, gv_waiting_for counted);
void gv_waiting_step(gv_waiting_for counted);
void gv_waiting_hold(int held); /* 1: not shown while another line says more */
void gv_waiting_stop(void);     /* nothing if none was started */

#endif
