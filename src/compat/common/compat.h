/* What the drop-in libraries share: settings, the log, error codes, devices.
 *
 * Each library has its own copy of this room and of its state.  The programs that call these libraries hardly look at
 * return values, so every failure is also a line on stderr; nothing ends the process.
 */
#ifndef GV_COMPAT_H
#define GV_COMPAT_H

#include "gravel/gravel.h"
#include "gravel/several.h"

/* "gravel_g6": defined by each library, stands before its lines in the log */
extern const char gv_compat_library[];

/* -------------------------------------------------------------------- log */

typedef enum gv_compat_level {
    GV_COMPAT_NONE,
    GV_COMPAT_ERROR,
    GV_COMPAT_WARNING,
    GV_COMPAT_INFO,
    GV_COMPAT_DEBUG
} gv_compat_level;

#ifdef __GNUC__
#define GV_COMPAT_PRINTF(text, values) __attribute__((format(printf, text, values)))
#else
#define GV_COMPAT_PRINTF(text, values)
#endif

/* Lines above this level are not written; GV_COMPAT_WARNING at first. */
void gv_compat_set_level(gv_compat_level level);
/* One line on stderr.  A line that is one of the last 16 different ones is written the 2nd, 4th, 8th ... time only: a
 * failing run may call for weeks. */
void gv_compat_log(gv_compat_level level, const char *format, ...) GV_COMPAT_PRINTF(2, 3);
/* Those lines are new ones again: something was opened since. */
void gv_compat_forget_lines(void);
/* Bad use of an interface's function: a line; returns -1. */
int gv_compat_fail(const char *function, const char *format, ...) GV_COMPAT_PRINTF(2, 3);
/* A call of gravel failed: its message as a line (what follows the first line of it, a compiler's log, at debug level);
 * returns -1, or 0 for GRAVEL_OK. */
int gv_compat_failed(const char *function, gravel_status status);

/* --------------------------------------------------------------- settings */

typedef enum gv_compat_choice { GV_COMPAT_INTERFACE = -1, GV_COMPAT_NO, GV_COMPAT_YES } gv_compat_choice;

typedef struct gv_compat_settings {
    char devices[512]; /* as in gravel_several_options; "": gravel's own choice */
    gravel_precision precision;
    int pipes;                 /* sinks in one call */
    int neighbours;            /* entries of a neighbour list */
    int jmem;                  /* sources that a device id of GRAPE-5 takes */
    gv_compat_choice positive; /* potential > 0; GV_COMPAT_INTERFACE: as the interface has it */
    gv_compat_choice self;     /* the potential of a body includes -m/eps of itself */
    gv_compat_choice k18;      /* the 2nd derivative of the acceleration is used for prediction */
    gravel_host_answers host;
    gravel_deal deal;
    gv_compat_choice all_devices;   /* every call uses all devices */
    int level;                      /* gv_compat_level */
    gv_compat_choice softened;      /* eps^2 is in the squared distance of the nearest neighbour */
    gv_compat_choice m_flag;        /* callers of gpunb_regf_ pass it: old ones do not */
    gv_compat_choice correct_times; /* kept times of several devices are corrected while calls go on */
} gv_compat_settings;

/* What holds where nothing is set; a library changes members before it reads. */
#define GV_COMPAT_SETTINGS_INIT                                                                                        \
    {                                                                                                                  \
        "", GRAVEL_DS, 16384, 256, 1 << 24, GV_COMPAT_INTERFACE, GV_COMPAT_INTERFACE, GV_COMPAT_YES,                   \
            GRAVEL_HOST_WHERE_FASTER, GRAVEL_DEAL_SPEED, GV_COMPAT_NO, GV_COMPAT_WARNING, GV_COMPAT_INTERFACE,         \
            GV_COMPAT_YES, GV_COMPAT_NO                                                                                \
    }

/* Environment before the file (GRAVEL_COMPAT_CONFIG, else gravel.config in the working folder) before what is there
 * before sapporo2.config (devices only).  What cannot be understood is a line in the log and changes nothing.  Sets the
 * level of the log. */
void gv_compat_read_settings(gv_compat_settings *settings);

/* ---------------------------------------------------------------- devices */

/* Sapporo2's way to name devices: count > 0: these of `list`; 0: all; < 0: the first -count.  They are numbered among
 * the GPUs, or among all devices where there is no GPU.  Writes names for gv_compat_settings.devices; -1 if there is no
 * such device. */
int gv_compat_name_devices(const char *function, int count, const int *list, char *names, size_t size);
/* gravel_several_create with the settings; logs what is used. */
gravel_status gv_compat_create(gravel_several **several, const gv_compat_settings *settings);

#endif
