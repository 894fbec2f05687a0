/* Text for people.  Names come from files, drivers and command lines, and a terminal executes control characters:
 * nothing but printable UTF-8, line ends and tabs leaves through these functions. */
#ifndef GV_SAY_H
#define GV_SAY_H

#include <stdio.h>

#include "host/base/status.h"

/* Bytes of the character at `c` if it is printable UTF-8, else 0. */
size_t gv_printable(const unsigned char *c);
/* Every byte of a control character (C0, DEL, C1) and of what is no UTF-8 becomes '?', in place.  Tabs stay, line ends
 * stay with `lines`. */
void gv_plain(char *text, int lines);

/* From now on this process says nothing; others of the same job do. */
void gv_say_nothing(void);
void gv_say(const char *command, const char *format, ...) GV_PRINTF(2, 3); /* "gravel force: ..." on stderr */
void gv_print(const char *format, ...) GV_PRINTF(1, 2);                    /* on stdout */

#endif
