/* gravel tune --simulate: the strategies on recorded spaces, without a device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_tune.h"
#include "cli/plot.h"
#include "host/base/files.h"
#include "host/base/kernels.h"
#include "tuner/simulate.h"

extern const gv_kernel_file gv_recording_files[];
extern const int gv_recording_file_count;

/* Behind by more is behind, whatever the ranks of 200 seeds say. */
#define MOST_BEHIND 0.005

typedef struct report {
    const tune_options *options;
    cJSON *json;
    FILE *plot; /* gnuplot's data blocks; NULL: no plot */
    int n_recordings, missed, seeds;
} report;

static cJSON *json_of(const gv_recording *recording, const gv_simulated *result)
{
    cJSON *object = cJSON_CreateObject(), *marks = cJSON_AddArrayToObject(object, "after");
    static const char *const reach[GV_SIMULATE_REACHES] = {"evaluations_to_98_percent", "evaluations_to_99_percent"};

    cJSON_AddStringToObject(object, "recording", recording->name);
    cJSON_AddNumberToObject(object, "points", (double)recording->domain.n_points);
    cJSON_AddStringToObject(object, "strategy", result->strategy->name);
    cJSON_AddBoolToObject(object, "default", result->strategy == &gv_strategies[0]);
    cJSON_AddNumberToObject(object, "seeds", result->seeds);
    for (int m = 0; m < GV_SIMULATE_MARKS; m++) {
        cJSON *mark = cJSON_CreateObject();

        cJSON_AddNumberToObject(mark, "evaluations", gv_simulate_mark[m]);
        cJSON_AddNumberToObject(mark, "median", gv_simulated_median(result, gv_simulate_mark[m]));
        cJSON_AddNumberToObject(mark, "worst_tenth", gv_simulated_tenth(result, gv_simulate_mark[m]));
        cJSON_AddItemToArray(marks, mark);
    }
    for (int r = 0; r < GV_SIMULATE_REACHES; r++)
        if (result->needed[r] > 0)
            cJSON_AddNumberToObject(object, reach[r], (double)result->needed[r]);
        else
            cJSON_AddNullToObject(object, reach[r]);
    return object;
}

static void add_curve(report *r, const gv_simulated *result)
{
    fprintf(r->plot, "$d%d_%s << EOD\n", r->n_recordings, result->strategy->name);
    for (size_t k = 0; k < result->steps; k++)
        fprintf(r->plot, "%zu %g %g\n", k + 1, 100 * result->median[k], 100 * result->tenth[k]);
    fprintf(r->plot, "EOD\n");
}

static void add_title(report *r, const gv_recording *recording)
{
    char what[80];

    snprintf(what, sizeof what, ": %zu points, median of %d seed%s", recording->domain.n_points, r->seeds,
             r->seeds == 1 ? "" : "s");
    fprintf(r->plot, "title%d = ", r->n_recordings);
    gv_plot_text(r->plot, recording->name, 70);
    fputs(".", r->plot);
    gv_plot_text(r->plot, what, 60);
    fputs("\n", r->plot);
}

static void count_text(size_t n, char text[24])
{
    if (n > 0)
        snprintf(text, 24, "%zu", n);
    else
        snprintf(text, 24, "more");
}

static void add_row(gv_table *table, const gv_simulated *result)
{
    char reach[GV_SIMULATE_REACHES][24];

    for (int r = 0; r < GV_SIMULATE_REACHES; r++)
        count_text(result->needed[r], reach[r]);
    gv_table_row(table, "%s|%.2f %%|%.2f %%|%.2f %%|%.2f %%|%s|%s", result->strategy->name,
                 100 * gv_simulated_median(result, gv_simulate_mark[0]),
                 100 * gv_simulated_tenth(result, gv_simulate_mark[0]),
                 100 * gv_simulated_median(result, gv_simulate_mark[1]),
                 100 * gv_simulated_tenth(result, gv_simulate_mark[1]), reach[0], reach[1]);
}

/* The first strategy is the default: the others must not be ahead of it. */
static gravel_status simulate_one(report *r, const gv_recording *recording)
{
    gravel_status status = GRAVEL_OK;
    gv_simulated *result = malloc(2 * sizeof *result);
    gv_table table;
    int behind = 0;

    if (result == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a simulation");
    if (r->plot != NULL)
        add_title(r, recording);
    gv_table_start(&table, "strategy|after 30|worst tenth|after 50|worst tenth|to 98 %|to 99 %");
    for (const gv_strategy *s = gv_strategies; s->name != NULL && status == GRAVEL_OK; s++) {
        gv_simulated *got = &result[s != &gv_strategies[0]];

        status = gv_simulate(recording, s, r->seeds, got);
        if (status != GRAVEL_OK)
            break;
        /* "exhaustive" is no search: its one order may happen to begin anywhere */
        if (s->run != gv_strategy_exhaustive)
            behind |= gv_simulated_behind(&result[0], got, MOST_BEHIND) > 0;
        add_row(&table, got);
        if (r->json != NULL)
            cJSON_AddItemToArray(r->json, json_of(recording, got));
        if (r->plot != NULL)
            add_curve(r, got);
    }
    r->missed += behind;
    if (r->json == NULL && status == GRAVEL_OK) {
        gv_print("%s%s: %zu points, %d seed%s\n", r->n_recordings > 0 ? "\n" : "", recording->name,
                 recording->domain.n_points, r->seeds, r->seeds == 1 ? "" : "s");
        gv_table_print(&table, stdout);
    }
    r->n_recordings++;
    gv_table_free(&table);
    free(result);
    return status;
}

static gravel_status simulate_file(report *r, const char *path)
{
    gv_recording recording;
    gravel_status status = gv_recording_read(path, &recording);

    if (status == GRAVEL_OK) {
        status = simulate_one(r, &recording);
        gv_recording_free(&recording);
    }
    return status;
}

static gravel_status simulate_shipped(report *r)
{
    gravel_status status = GRAVEL_OK;

    if (gv_recording_file_count == 0)
        return gv_fail(GRAVEL_ERR_FILE, "no recordings came with this gravel: name a file");
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

static void put_panels(const report *r)
{
    fprintf(r->plot,
            "set xlabel 'evaluations'\nset ylabel 'best found / %% of the best'\n"
            "set yrange [70:100.5]\nset xrange [0:%d]\nset key bottom right\nset grid\nset multiplot layout %d,1\n",
            GV_SIMULATE_BUDGET, r->n_recordings);
    for (int i = 0; i < r->n_recordings; i++) {
        fprintf(r->plot,
                "set title title%d noenhanced\nset arrow 1 from 30,70 to 30,100.5 nohead dt 2 lc rgb 'gray'\n"
                "set arrow 2 from 50,70 to 50,100.5 nohead dt 2 lc rgb 'gray'\n"
                "plot 98 dt 2 lc rgb 'gray' notitle",
                i);
        for (const gv_strategy *s = gv_strategies; s->name != NULL; s++)
            fprintf(r->plot, ", $d%d_%s using 1:2 with lines lw 2 title '%s'", i, s->name, s->name);
        fprintf(r->plot, "\n");
    }
}

int gv_tune_simulate(const tune_options *options, const gv_operands *files)
{
    report r = {options, options->json ? cJSON_CreateArray() : NULL, NULL, 0, 0, options->runs};
    gravel_status status = GRAVEL_OK;
    char *script = NULL;
    size_t size;
    int code = GV_EXIT_OK;

    if (options->plot != NULL && (r.plot = open_memstream(&script, &size)) == NULL)
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for a plot");
    for (int i = 0; i < files->n && status == GRAVEL_OK; i++)
        status = simulate_file(&r, files->value[i]);
    if (files->n == 0)
        status = simulate_shipped(&r);
    if (status != GRAVEL_OK)
        code = gv_cli_fail("gravel tune", status);
    if (r.plot != NULL) {
        put_panels(&r);
        if (fclose(r.plot) != 0 && status == GRAVEL_OK)
            status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for a plot");
        else if (status == GRAVEL_OK)
            status = gv_plot_run(script, options->plot, 900, 450 * r.n_recordings);
        free(script);
    }
    if (status == GRAVEL_OK && r.json != NULL) {
        status = gv_json_write(r.json, NULL);
        r.json = NULL;
    }
    cJSON_Delete(r.json);
    if (status != GRAVEL_OK)
        return code != GV_EXIT_OK ? code : gv_cli_fail_writing("gravel tune", status);
    if (r.missed > 0) {
        gv_say("gravel tune",
               "another strategy is ahead of the default after %d or %d evaluations on %d of %d recordings",
               gv_simulate_mark[0], gv_simulate_mark[1], r.missed, r.n_recordings);
    }
    return options->json && r.missed > 0 ? GV_EXIT_FAILURE : GV_EXIT_OK;
}
