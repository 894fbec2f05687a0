/* A crash inside a driver or its compiler ends the program: a sentence says in what. */
#ifndef GV_CRASH_H
#define GV_CRASH_H

/* From here on; a handler that somebody else has set (a sanitizer) stays. */
void gv_crash_explain(void);
/* What is being done, for the sentence: "checking sp2 with ..."; from the main thread. */
void gv_crash_doing(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
