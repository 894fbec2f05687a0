/* The tuning log: one JSON line per outcome, appended as it happens.  A killed run leaves at most half a line, which
 * the reader leaves out; the same file resumes a run, draws the plots and replays searches. */
#ifndef GV_TLOG_H
#define GV_TLOG_H

#include "host/profile/store.h"
#include "tuner/outcome.h"

typedef struct gv_tlog_header {
    gv_profile_device device;
    char driver[GRAVEL_NAME_SIZE];
    char kernel[16], kernel_version[17];
    char gravel[16], date[24];
} gv_tlog_header;

typedef struct gv_tlog_record {
    gv_task task;
    char stage[8]; /* "search", "final" */
    int round;     /* of the final; 0 in a search */
    char configuration[GV_PROFILE_TEXT];
    gv_outcome outcome;
} gv_tlog_record;

typedef struct gv_tlog {
    gv_tlog_header header;
    size_t n, room;
    gv_tlog_record *record;
    uint32_t *slot; /* hash table: index + 1 */
    size_t n_slots;
    size_t n_bad, first_bad; /* lines that are no records, but for a last one that was cut; number of the first */
    int fd;                  /* -1: read only */
    char *path;              /* of what is written, for messages; NULL: read only */
    double synced;           /* when the file was last forced to disk */
} gv_tlog;

/* Reads a log.  Lines that are no records are left out and counted; a file without a header is refused. */
#define GV_TLOG_BAD "%s: left out because they are no records: %zu, the first is line %zu"
gravel_status gv_tlog_read(const char *path, gv_tlog *log);
/* Opens for appending.  resume 0: a file that is there moves to PATH.old.  resume 1: its outcomes are there from the
 * start; a log of another device, driver or kernel text is refused.  While it is open the file is locked: a second
 * tuner on it is refused (ERR_STATE). */
gravel_status gv_tlog_open(const char *path, const gv_tlog_header *header, int resume, gv_tlog *log);
void gv_tlog_close(gv_tlog *log);

const gv_tlog_record *gv_tlog_find(const gv_tlog *log, const gv_task *task, const char *stage, int round,
                                   const char *configuration);
gravel_status gv_tlog_append(gv_tlog *log, const gv_tlog_record *record);

void gv_date(char date[24]); /* now, UTC */

#endif
