/* Ctrl-C, SIGTERM and a closed terminal.  At any moment: no temporary file stays and the exit status is 128 + the
 * number of the signal. */
#ifndef GV_SIGNALS_H
#define GV_SIGNALS_H

/* From here on a signal removes what is half written and ends the program.  What was ignored stays ignored (nohup). */
void gv_signals_start(void);

/* From here on the first signal only sets a mark, for work that stops between two steps and reports what was done.  A
 * second one ends the program at once, unless it comes within a fifth of a second.  `limit_s` > 0: so does that time
 * after the first, because a compiler or a driver cannot be interrupted; `last_words` is then printed.  Both may be
 * changed by another call, also after the signal. */
void gv_signals_catch(double limit_s, const char *last_words);

int gv_signals_pending(void); /* number of the signal that came, or 0 */

/* In a child after fork: a program that is run from here takes signals as usual. */
void gv_signals_pass(void);

#endif
