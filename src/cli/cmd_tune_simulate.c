/* gravel tune --simulate: the strategies on recorded spaces, without a device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_tune.h"
#include "cli/plot.h"
#include "host/files.h"
#include "host/kernels.h"
#include "tuner/simulate.h"

extern const gv_kernel_file gv_recording_files[];
extern const int gv_recording_file_count;

enum { MOST_STRATEGIES = 8 };

typedef struct report {
    const tune_options *options;
    cJSON *json;
    char *plot; /* gnuplot's data blocks */
    int n_recordings, missed, seeds;
} report;

static cJSON *json_of(const gv_recording *recording, const gv_simulated *result) {
    cJSON *object = cJSON_CreateObject();

    cJSON_AddStringToObject(object, "recording", recording->name);
    cJSON_AddNumberToObject(object, "points", (double)recording->domain.n_points);
    cJSON_AddStringToObject(object, "strategy", result->strategy->name);
    cJSON_AddBoolToObject(object, "default", result->strategy == &gv_strategies[0]);
    cJSON_AddNumberToObject(object, "seeds", result->seeds);
    cJSON_AddNumberToObject(object, "reached_at_15_percent", result->at_part);
    if (result->needed > 0) {
        cJSON_AddNumberToObject(object, "evaluations_to_98_percent", (double)result->needed);
    } else {
        cJSON_AddNullToObject(object, "evaluations_to_98_percent");
    }
    return object;
}

static void add_curve(report *r, const gv_recording *recording, const gv_simulated *result) {
    const double points = (double)recording->domain.n_points;
    char *grown;

    for (size_t k = 0; k <= result->steps && r->plot != NULL; k++) {
        const size_t at = k > 0 ? k - 1 : 0;

        if (k == 0) {
            grown = gv_format("%s$d%d_%s << EOD\n", r->plot, r->n_recordings, result->strategy->name);
        } else {
            grown = gv_format("%s%g %g %g %g\n", r->plot,
                              100 * ceil(2 * GV_SIMULATE_PART * points) * (double)k / (double)result->steps / points,
                              100 * result->median[at], 100 * result->low[at], 100 * result->high[at]);
        }
        free(r->plot);
        r->plot = grown;
    }
    grown = r->plot != NULL ? gv_format("%sEOD\n", r->plot) : NULL;
    free(r->plot);
    r->plot = grown;
}

/* gnuplot reads titles between double quotes. */
static void add_title(report *r, const gv_recording *recording) {
    char name[sizeof recording->name], *grown;

    snprintf(name, sizeof name, "%s", recording->name);
    for (char *c = name; *c != '\0'; c++) {
        *c = *c == '"' || *c == '\\' ? ' ' : *c;
    }
    grown = r->plot != NULL ? gv_format("%stitle%d = \"%s: %zu points, median of %d seeds\"\n", r->plot,
                                        r->n_recordings, name, recording->domain.n_points, r->seeds)
                            : NULL;
    free(r->plot);
    r->plot = grown;
}

static gravel_status simulate_one(report *r, const gv_recording *recording) {
    gravel_status status = GRAVEL_OK;
    gv_simulated *result = malloc(sizeof *result);
    gv_table table;

    if (result == NULL) {
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a simulation");
    }
    if (r->options->plot != NULL) {
        add_title(r, recording);
    }
    gv_table_start(&table, "strategy|found after 15 % of the evaluations|evaluations to 98 %|part");
    for (const gv_strategy *s = gv_strategies; s->name != NULL && status == GRAVEL_OK; s++) {
        status = gv_simulate(recording, s, r->seeds, result);
        if (status != GRAVEL_OK) {
            break;
        }
        if (result->needed > 0) {
            gv_table_row(&table, "%s|%.2f %%|%zu|%.1f %%", s->name, 100 * result->at_part, result->needed,
                         100 * (double)result->needed / (double)recording->domain.n_points);
        } else {
            gv_table_row(&table, "%s|%.2f %%|more|-", s->name, 100 * result->at_part);
        }
        r->missed += s == &gv_strategies[0] && result->at_part < GV_SIMULATE_REACH;
        if (r->json != NULL) {
            cJSON_AddItemToArray(r->json, json_of(recording, result));
        }
        if (r->options->plot != NULL) {
            add_curve(r, recording, result);
        }
    }
    if (r->json == NULL && status == GRAVEL_OK) {
        printf("%s%s: %zu points, %d seeds\n", r->n_recordings > 0 ? "\n" : "", recording->name,
               recording->domain.n_points, r->seeds);
        gv_table_print(&table, stdout);
    }
    r->n_recordings++;
    gv_table_free(&table);
    free(result);
    return status;
}

static gravel_status simulate_file(report *r, const char *path) {
    gv_recording recording;
    gravel_status status = gv_recording_read(path, &recording);

    if (status == GRAVEL_OK) {
        status = simulate_one(r, &recording);
        gv_recording_free(&recording);
    }
    return status;
}

static gravel_status simulate_shipped(report *r) {
    gravel_status status = GRAVEL_OK;

    if (gv_recording_file_count == 0) {
        return gv_fail(GRAVEL_ERR_FILE, "no recordings came with this gravel: name a file");
    }
    for (int i = 0; i < gv_recording_file_count && status == GRAVEL_OK; i++) {
        const gv_kernel_file *file = &gv_recording_files[i];
        gv_recording recording;

        status = gv_recording_parse(file->name, file->text, file->size, &recording);
        if (status == GRAVEL_OK) {
            status = simulate_one(r, &recording);
            gv_recording_free(&recording);
        }
    }
    return status;
}

static gravel_status plot(const report *r) {
    char *script = gv_format("%sset xlabel 'evaluations / %% of the space'\nset ylabel 'best found / %% of the best'\n"
                             "set yrange [70:100.5]\nset xrange [0:30]\nset key bottom right\nset grid\n"
                             "set multiplot layout %d,1\n",
                             r->plot != NULL ? r->plot : "", r->n_recordings);

    for (int i = 0; i < r->n_recordings && script != NULL; i++) {
        char *grown =
            gv_format("%sset title title%d noenhanced\nset arrow 1 from 15,70 to 15,100.5 nohead dt 2 lc rgb 'gray'\n"
                      "plot 98 dt 2 lc rgb 'gray' notitle",
                      script, i);

        for (const gv_strategy *s = gv_strategies; s->name != NULL && grown != NULL; s++) {
            free(script);
            script = grown;
            grown = gv_format("%s, $d%d_%s using 1:2 with lines lw 2 title '%s'", script, i, s->name, s->name);
        }
        free(script);
        script = grown;
        grown = script != NULL ? gv_format("%s\n", script) : NULL;
        free(script);
        script = grown;
    }
    if (script == NULL) {
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a plot");
    }
    const gravel_status status = gv_plot_run(script, r->options->plot, 900, 450 * r->n_recordings);
    free(script);
    return status;
}

int gv_tune_simulate(const tune_options *options, const gv_operands *files) {
    report r = {options, options->json ? cJSON_CreateArray() : NULL, NULL, 0, 0, options->runs};
    gravel_status status = GRAVEL_OK;

    if (options->plot != NULL) {
        r.plot = gv_format("%s", "");
    }
    for (int i = 0; i < files->n && status == GRAVEL_OK; i++) {
        status = simulate_file(&r, files->value[i]);
    }
    if (files->n == 0) {
        status = simulate_shipped(&r);
    }
    if (status == GRAVEL_OK && options->plot != NULL) {
        status = plot(&r);
    }
    free(r.plot);
    if (status != GRAVEL_OK) {
        cJSON_Delete(r.json);
        return gv_cli_fail("gravel tune", status);
    }
    if (r.json != NULL) {
        status = gv_json_write(r.json, NULL);
        if (status != GRAVEL_OK) {
            return gv_cli_fail("gravel tune", status);
        }
    }
    if (r.missed > 0) {
        gv_say("gravel tune",
               "the default strategy misses %.0f %% of the best with %.0f %% of the evaluations on %d of %d "
               "recordings",
               100 * GV_SIMULATE_REACH, 100 * GV_SIMULATE_PART, r.missed, r.n_recordings);
    }
    return options->json && r.missed > 0 ? GV_EXIT_FAILURE : GV_EXIT_OK;
}
