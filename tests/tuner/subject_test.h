/* Shared by the tests of the tuner's subjects: requests, what comes of them, kernels that are spoilt, profiles. */
#ifndef GV_SUBJECT_TEST_H
#define GV_SUBJECT_TEST_H

#include "host_test.h"

#include "host/profile/store.h"
#include "tuner/search.h"
#include "tuner/subject.h"

static char phases[256]; /* of the last request */

static inline void note(const char *phase, void *user)
{
    (void)user;
    strncat(phases, phase, sizeof phases - strlen(phases) - 1);
    strncat(phases, " ", sizeof phases - strlen(phases) - 1);
}

static inline gravel_context *open_context(const char *kernel_dir, const char *profile_dir)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_context *context;
    options.kernel_dir = kernel_dir;
    options.profile_dir = profile_dir;
    assert_ok(gravel_context_create(&context, &options));
    context->for_once = 1;
    return context;
}

/* The built-in configuration of a space for so many sinks and sources, with `changes`. */
static inline void fill_request(const gravel_context *context, const gv_space *space, const char *variant, size_t sinks,
                                size_t sources, const char *changes, gv_request *request)
{
    const gv_limits limits = gv_limits_of(context, 0);
    gv_config config;
    memset(request, 0, sizeof *request);
    strcpy(request->task.kernel, space->kernel);
    assert_true(gv_variant_parse(variant, &request->task.variant));
    request->task.sinks = sinks;
    request->task.sources = sources;
    space->built_in(&config, &request->task.variant, &limits, sinks, sources);
    assert_ok(gv_space_parse(space, changes, &config));
    gv_space_format(space, &config, request->configuration, sizeof request->configuration);
    request->seed = 7;
    request->effort = (gv_effort){2, 3, 0, 1, 1e30};
}

static inline gv_outcome evaluate(gravel_context *context, void *state, const gv_request *request)
{
    gv_outcome outcome;
    phases[0] = '\0';
    gv_subject_find(request->task.kernel)->evaluate(state, context, request, note, NULL, &outcome);
    return outcome;
}

/* ---------------------------------------------------------------- sabotage */

/* A copy of all kernels in <folder>/kernels, whose name the caller frees. */
static inline char *copy_kernels(const char *folder)
{
    char *from = gv_path_join(gv_env("GRAVEL_SOURCE_DIR"), "kernels"), *to = gv_path_join(folder, "kernels");
    char *command = gv_format("cp -r '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
    free(command);
    free(from);
    return to;
}

#define SKIP_WITHOUT_KERNELS()                                                                                         \
    do {                                                                                                               \
        if (!gv_env("GRAVEL_SOURCE_DIR")) {                                                                            \
            print_message("skipped: GRAVEL_SOURCE_DIR is not set\n");                                                  \
            skip();                                                                                                    \
        }                                                                                                              \
    } while (0)

/* The first `what` of a file becomes `with`; `head` is put on top. */
static inline void replace(const char *kernels, const char *file, const char *head, const char *what, const char *with)
{
    char *path = gv_path_join(kernels, file), *text;
    assert_ok(gv_file_read(path, 1 << 20, &text, NULL));
    char *at = strstr(text, what);
    if (!at)
        fail_msg("%s: no '%s' to spoil", file, what);
    char *edited = gv_format("%s%.*s%s%s", head, (int)(at - text), text, with, at + strlen(what));
    assert_ok(gv_file_write(path, edited, strlen(edited)));
    free(edited);
    free(text);
    free(path);
}

/* ----------------------------------------------------------------- profiles */

/* A profile of device 0 in `folder`, in which the request's configuration is best for its sinks and so many sources. */
static inline void save_profile(const char *folder, gravel_context *context, const gv_space *space,
                                const gv_request *request, size_t sources)
{
    gv_profile_set set = GV_PROFILE_SET_INIT;
    gv_profile_device device;
    char path[1024];
    gv_profile_entry *entry = calloc(1, sizeof *entry);
    assert_non_null(entry);
    gv_profile_device_of(&context->device[0].info, &device);
    gv_name_clean(context->device[0].info.driver, entry->driver);
    strcpy(entry->kernel, space->kernel);
    strcpy(entry->variant, "sp2");
    gv_profile_kernel_version(context, space, entry->kernel_version);
    assert_int_equal(strlen(entry->kernel_version), 16);
    entry->sinks = request->task.sinks;
    entry->sources = sources;
    entry->sink_bucket = gv_sink_bucket(entry->sinks);
    entry->source_bucket = gv_source_bucket(entry->sources);
    strcpy(entry->date, "2026-11-21T00:00:00Z");
    strcpy(entry->gravel, GRAVEL_VERSION);
    strcpy(entry->strategy, "forest");
    /* as all answers do, it holds the untuned default: others of this very device may come with gravel */
    const gv_limits limits = gv_limits_of(context, 0);
    gv_variant variant;
    gv_config built_in;
    assert_true(gv_variant_parse(entry->variant, &variant));
    space->built_in(&built_in, &variant, &limits, entry->sinks, entry->sources);
    gv_space_format(space, &built_in, entry->result[1].configuration, GV_PROFILE_TEXT);
    snprintf(entry->result[0].configuration, GV_PROFILE_TEXT, "%s", request->configuration);
    entry->evaluations = entry->n_results = 2;
    for (int r = 0; r < 2; r++)
        entry->result[r].time_s = entry->result[r].time_min_s = entry->result[r].call_s = (r + 1) * 1e-3;
    assert_ok(gv_profile_set_add(&set, &device, entry));
    assert_ok(gv_profile_save(folder, &set, path, sizeof path));
    gv_profile_set_free(&set);
    free(entry);
}

#endif
