/* What the program puts in order before anything else. */
#ifndef GV_START_H
#define GV_START_H

/* Standard input, output and error exist: else the next file that is opened would take their place, and messages would
 * land in it.  What was closed fails when it is used, as before. */
void gv_streams_open(void);

/* PoCL has no device where it cannot write its cache below HOME or XDG_CACHE_HOME: it then gets a folder of this user
 * in the folder for temporary files, and with `tell` a warning says so. */
void gv_pocl_folder(int tell);

#endif
