/* Profiles as data: what a file holds, how it is checked, merged and written.  The look-up on top of it
 * works on fake devices as well; doc/profiles.md describes the format. */
#ifndef GV_PROFILE_STORE_H
#define GV_PROFILE_STORE_H

#include "host/profile/profile.h"

enum { GV_PROFILE_SCHEMA = 1, GV_PROFILE_RESULTS = 8, GV_PROFILE_ENTRIES = 8192, GV_PROFILE_TEXT = 384 };

/* ------------------------------------------------------------------ names */

/* The one normaliser.  `clean`: valid UTF-8 without control characters, single blanks, none at the ends (what files
 * store and people read).  `key`: what two names are compared by: ASCII lower case, letters and digits kept, (R) (TM)
 * (C) dropped, everything else one blank.  key(clean(s)) == key(s). */
void gv_name_clean(const char *name, char clean[GRAVEL_NAME_SIZE]);
void gv_name_key(const char *name, char key[GRAVEL_NAME_SIZE]);
int gv_name_same(const char *a, const char *b); /* by their keys */
/* "NVIDIA H100 80GB HBM3" -> "nvidia h", "GeForce RTX 4090" -> "geforce rtx 40": the words up to the model number and
 * of the number what stays within a generation. */
void gv_name_family(const char *name, char family[GRAVEL_NAME_SIZE]);

/* ------------------------------------------------------------------- data */

typedef struct gv_profile_device {
    char name[GRAVEL_NAME_SIZE], vendor[GRAVEL_NAME_SIZE], platform[GRAVEL_NAME_SIZE];
    gravel_device_type type;
    int compute_units, simd_width_float, simd_width_double, has_fp64;
} gv_profile_device;

typedef struct gv_profile_result {
    char configuration[GV_PROFILE_TEXT]; /* "threads=128 split=2" */
    gv_reading reading;                  /* of it, where the set was checked */
    double time_s, time_min_s, spread;   /* kernel time: median, minimum, interquartile range / median */
    double call_s;                       /* whole call, median */
    double error;                        /* largest relative error of acc seen in the verification */
} gv_profile_result;

typedef struct gv_profile_entry {
    char kernel[16], kernel_version[17], variant[16];
    unsigned features;
    char driver[GRAVEL_NAME_SIZE];
    int sink_bucket, source_bucket;
    size_t sinks, sources; /* that were measured */
    char date[24];         /* "2026-11-21T01:52:06Z" */
    char gravel[16], strategy[16];
    int evaluations, failures;
    int n_results;
    gv_profile_result result[GV_PROFILE_RESULTS]; /* the winner first, the others by time */
} gv_profile_entry;

typedef struct gv_profile_block {
    gv_profile_device device;
    int n_entries, room;
    gv_profile_entry *entry;
} gv_profile_block;

typedef struct gv_profile_set {
    int n_blocks;
    gv_profile_block *block;
} gv_profile_set;
#define GV_PROFILE_SET_INIT                                                                                            \
    {                                                                                                                  \
        0, NULL                                                                                                        \
    }

void gv_profile_set_free(gv_profile_set *set);
void gv_profile_device_of(const gravel_device_info *info, gv_profile_device *device);
/* The same machine part: names, platform, type, compute units and vector widths. */
int gv_profile_same_device(const gv_profile_device *a, const gv_profile_device *b);

gv_profile_block *gv_profile_set_find(const gv_profile_set *set, const gv_profile_device *device);   /* NULL: none */
gv_profile_entry *gv_profile_set_entry(const gv_profile_block *block, const gv_profile_entry *like); /* NULL: none */

/* Adds copies.  An entry that is there already is joined: the results of both, of one configuration the later measured,
 * the date's winner stays first.  So two tuners that write one after the other lose nothing. */
gravel_status gv_profile_set_add(gv_profile_set *set, const gv_profile_device *device, const gv_profile_entry *entry);
/* Times of an entry for what an earlier one of the same question has timed too: the geometric means of both, brought to
 * one pace; how far they are apart counts as spread.  Those that are further apart than hours are keep the later time.
 * What else runs on a machine lasts longer than one measurement of a few seconds, in which all seem certain
 * (doc/numbers.md, "Two hours of a shared host"). */
void gv_profile_average(const gv_profile_entry *before, gv_profile_entry *entry);
gravel_status gv_profile_set_merge(gv_profile_set *into, const gv_profile_set *from);

/* ------------------------------------------------------------------- text */

/* Reads one file's text into an empty set.  Everything is checked before anything is kept; a failure is ERR_FORMAT with
 * `name` and the place in the message, ERR_UNSUPPORTED for a file of a newer gravel, and the set stays empty. */
gravel_status gv_profile_parse(const char *name, const char *text, size_t size, gv_profile_set *set);
/* A device from its object in a profile; text behind the object is ignored. 0: it is none. */
int gv_profile_parse_device(const char *text, size_t size, gv_profile_device *device);
gravel_status gv_profile_print(const gv_profile_set *set, char **text); /* malloc'd, ends with a newline */

/* A JSON text that is worth giving to a parser: size, UTF-8, depth, number and string lengths, duplicate keys.  NULL if
 * so, else the reason; `at` is the byte. */
const char *gv_json_check(const char *text, size_t size, size_t *at);

/* ------------------------------------------------------------------ files */

enum { GV_PROFILE_FILE_MAX = 48 << 20 }; /* bytes; 3200 questions of a device have 9 MB, a full profile 25 */

gravel_status gv_profile_read_file(const char *path, gv_profile_set *set);
/* A new file beside it, then a rename: readers see the old or the new file, never half of one. */
gravel_status gv_profile_write_file(const char *path, const gv_profile_set *set);
/* Adds one device's entries to its file in `dir` (made if missing) under a lock, so two tuners lose nothing.  A damaged
 * file is moved aside to *.damaged; one of a newer gravel stays and nothing is saved.  `path` gets the file's name. */
gravel_status gv_profile_save(const char *dir, const gv_profile_set *set, char *path, size_t path_size);
/* Whether gv_profile_save could save entries of this device: before hours of tuning are spent on them. */
gravel_status gv_profile_may_save(const char *dir, const gv_profile_device *device);
void gv_profile_file_name(const gv_profile_device *device, char name[128]);

typedef void (*gv_profile_refused_fn)(const char *message, void *user);
/* Reads the configurations of this space's kernel.  Leaves out results with a tunable or a value that it does not have,
 * and entries without any other; a device's first one is reported. */
void gv_profile_set_check(gv_profile_set *set, const gv_space *space, gv_profile_refused_fn refused, void *user);
/* All *.json of a folder; those refused are reported and left out.  A folder that is not there is an empty one. */
gravel_status gv_profile_read_dir(const char *dir, gv_profile_set *set, gv_profile_refused_fn refused, void *user);
/* Adds what was read to `set` if `status` is OK, else reports it. */
gravel_status gv_profile_keep_or_report(gravel_status status, gv_profile_set *from, gv_profile_set *set,
                                        gv_profile_refused_fn refused, void *user);
int gv_profile_is_name(const char *name); /* of a file that is read as a profile */

/* What entries are about: one kernel and variant, whatever their features. */
typedef struct gv_profile_about {
    const char *kernel, *variant;
} gv_profile_about;

/* A copy of a text that gv_profile_print wrote, without the entries about other kernels and variants: what is laid out
 * otherwise stays.  `text` ends with a zero byte that `size` does not count; NULL: no memory. */
char *gv_profile_cut(const char *text, size_t size, const gv_profile_about *about, size_t *left);
/* The profiles built into the library, added: all, or only the file named for this device; of one kernel
 * and variant or (NULL) whole. */
gravel_status gv_profile_read_shipped(const gv_profile_device *device, const gv_profile_about *about,
                                      gv_profile_set *set, gv_profile_refused_fn refused, void *user);
/* Those of other devices that are alike (gv_profile_alike). */
gravel_status gv_profile_read_shipped_alike(const gv_profile_device *device, const gv_profile_about *about,
                                            gv_profile_set *set, gv_profile_refused_fn refused, void *user);
/* Those of devices of one type: others answer nothing for it. */
gravel_status gv_profile_read_shipped_type(gravel_device_type type, const gv_profile_about *about, gv_profile_set *set,
                                           gv_profile_refused_fn refused, void *user);

/* ---------------------------------------------------------------- look-up */

/* 1: so near to each other that questions of one fill gaps between those of the other. Their names are of one family
 * (gv_name_family), vendor, compute units and vector widths equal; as a rule memory and clock differ. Times of both
 * stand beside each other unscaled: those of an H100 are 0.99 to 1.09 of an H200's. */
int gv_profile_alike(const gv_profile_device *a, const gv_profile_device *b);

typedef struct gv_profile_question {
    const gv_space *space;
    const gv_variant *variant;
    const gv_limits *limits;
    const char *kernel_version; /* "" = unknown */
    size_t sinks, sources;
} gv_profile_question;

/* 1 and the configuration if a profile fits and its configuration passes the constraints, else 0 (built-in). `from`
 * (or NULL) gets the entry that kept it, or for the default, which none may have kept, the one that fits best. */
int gv_profile_look_up(const gv_profile_set *user, const gv_profile_set *shipped, const gv_profile_question *question,
                       gv_config *config, gravel_origin *origin, const gv_profile_entry **from);

#endif
