/* A tuning run: the order of its questions, how the budget is shared, what is kept. */
#ifndef GV_SESSION_H
#define GV_SESSION_H

#include "tuner/search.h"
#include "tuner/subject.h"
#include "tuner/tlog.h"
#include "tuner/worker.h"

enum { GV_TUNE_SIZES = 16, GV_TUNE_SOURCES = 4, GV_TUNE_VARIANTS = 32, GV_TUNE_FINALISTS = 6 };

/* What the winner of a question is. */
typedef struct gv_tune_result {
    gv_task task;
    char configuration[GV_PROFILE_TEXT];
    double time_s;
    double gain; /* time of the built-in default / this one; 0: not known */
    int evaluations, failures[GV_OUTCOME_COUNT];
    int partial; /* 1: stopped before its time */
} gv_tune_result;

typedef struct gv_tune_progress {
    const gv_task *task;
    int task_index, n_tasks;
    size_t evaluations, budget; /* of this task; budget 0: no number */
    double best_s;              /* INFINITY: none yet */
    const char *best;           /* configuration; "" */
    double spent_s, left_s;     /* of the run; left_s < 0: not known */
} gv_tune_progress;

typedef struct gv_tune_options {
    const char *kernel; /* NULL: direct */
    const char *device; /* as the user wrote it; NULL: default */
    int no_fp64;
    int n_variants;
    gv_variant variant[GV_TUNE_VARIANTS];
    int n_sinks, n_sources; /* 0: one size per bucket */
    size_t sinks[GV_TUNE_SIZES], sources[GV_TUNE_SIZES];
    const gv_strategy *strategy; /* NULL: the default */
    uint64_t seed;
    double budget_s;   /* of the whole run; 0: none */
    size_t budget;     /* evaluations per question; 0: none */
    int unlikely;      /* 1: soft constraints do not count */
    const char *limit; /* narrows the space: "tile=64,128" */
    int quick, resume;
    int cross;               /* 1: no searches; what the profile keeps is measured at its neighbouring questions */
    int verbose;             /* 1: warns of each question, not once of all that are alike */
    int record;              /* 1: everything is timed properly, no finals, no profile: for recordings */
    double limit_s;          /* per candidate */
    int jobs;                /* processes that build ahead; -1: by the type of device */
    const char *log_path;    /* NULL: no log */
    const char *profile_dir; /* NULL: no profile is written */
    char *const *worker_argv;
    int (*interrupted)(void *user);
    void (*progress)(const gv_tune_progress *progress, void *user);
    void (*finished)(const gv_tune_result *result, void *user);
    void (*warn)(const char *text, void *user);
    void *user;
} gv_tune_options;

typedef struct gv_tune_summary {
    char device[GRAVEL_NAME_SIZE];
    char profile_path[1024]; /* "" */
    int tasks_done, n_tasks;
    int interrupted;
    size_t evaluations, replayed; /* measured now; taken from the log */
    size_t status[GV_OUTCOME_COUNT];
    double spent_s;
} gv_tune_summary;

gravel_status gv_tune(const gv_tune_options *options, gv_tune_summary *summary);

/* Facts of a device that the tuner needs; the context is closed again, so that only workers hold the device. */
typedef struct gv_tune_device {
    gv_limits limits;
    char kernel_version[17];
} gv_tune_device;
gravel_status gv_tune_look(const char *device, int no_fp64, const gv_space *space, gv_tune_device *found);

/* How many processes compile ahead on a device where nobody says. */
int gv_tune_jobs(const gv_limits *limits);

/* What `options` tune; NULL: no such kernel. */
const gv_subject *gv_tune_subject(const gv_tune_options *options);

#endif
