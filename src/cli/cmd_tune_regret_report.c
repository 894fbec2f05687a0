/* What gravel tune --regret has measured: table, JSON and plot. */
#include "cli/cmd_tune_regret.h"
#include "cli/plot.h"

#define COMMAND "gravel tune"

/* What the blocks amount to. */
typedef struct account {
    gv_table table;
    cJSON *points, *summaries;
    int to_draw; /* blocks with a decided point */
    int told;    /* blocks that were begun */
    /* points: measured; of these too noisy; measured twice, or in vain; ended before all candidates were timed */
    int complete, undecided, twice, disagree, stopped;
} account;

static cJSON *pair_of(const double value[2])
{
    cJSON *pair = cJSON_CreateArray();

    for (int k = 0; k < 2; k++)
        cJSON_AddItemToArray(pair, cJSON_CreateNumber(value[k]));
    return pair;
}

/* Takes `times`. */
static cJSON *json_of(const gv_regret_point *p, const uint64_t *calls, int is_answer, cJSON *times)
{
    cJSON *object = cJSON_CreateObject();

    cJSON_AddStringToObject(object, "kernel", p->task.kernel);
    cJSON_AddStringToObject(object, "variant", p->task.variant.name);
    cJSON_AddNumberToObject(object, "features", p->task.variant.features);
    cJSON_AddNumberToObject(object, "sinks", (double)p->task.sinks);
    cJSON_AddNumberToObject(object, "sources", (double)p->task.sources);
    if (p->task.theta > 0)
        gv_json_number(object, "theta", p->task.theta);
    if (p->task.active > 0)
        gv_json_number(object, "active", p->task.active);
    if (calls)
        cJSON_AddNumberToObject(object, "calls", (double)*calls);
    cJSON_AddNumberToObject(object, "candidates", p->candidates);
    cJSON_AddNumberToObject(object, "failed", p->failed);
    cJSON_AddBoolToObject(object, "complete", p->complete);
    cJSON_AddNumberToObject(object, "turns", p->turns);
    cJSON_AddBoolToObject(object, "decided", p->decided);
    cJSON_AddStringToObject(object, "choice", p->choice);
    gv_json_number(object, "choice_s", p->choice_s);
    cJSON_AddStringToObject(object, "best", p->best);
    gv_json_number(object, "best_s", p->best_s);
    gv_json_number(object, "default_s", p->default_s);
    gv_json_number(object, "over_best", p->choice_s / p->best_s);
    gv_json_number(object, "over_default", p->choice_s / p->default_s);
    if (p->sittings > 1) {
        cJSON_AddItemToObject(object, "over_best_each", pair_of(p->over_best));
        cJSON_AddItemToObject(object, "over_default_each", pair_of(p->over_default));
    }
    if (is_answer)
        cJSON_AddTrueToObject(object, "answer");
    cJSON_AddItemToObject(object, "times", times);
    return object;
}

/* Figures are of the decided points only. */
static void tell_block(regret_result *r, regret_block *block, account *a)
{
    const gv_variant *variant = &block->variant;
    gv_regret_summary s;
    cJSON *object;

    if (block->n == 0)
        return;
    object = cJSON_CreateObject();
    gv_regret_summarise(block->point, block->n, &s);
    a->told++;
    r->missed += s.points > 0 && !gv_regret_is_kept(&s);
    a->complete += s.points + s.undecided;
    a->undecided += s.undecided;
    a->twice += s.twice;
    a->disagree += s.disagree;
    a->stopped += block->n - s.points - s.undecided;
    gv_table_row(&a->table, s.points > 0 ? "%s|%s|%d of %d|%d|%.3f|%.3f|%.3f|%.3f|%.3f" : "%s|%s|%d of %d|%d|-|-|-|-|-",
                 variant->name, gv_tune_features_name(variant->features), s.points + s.undecided, block->wanted,
                 s.points, s.median, s.p95, s.most, s.median_default, s.most_default);
    cJSON_AddStringToObject(object, "variant", variant->name);
    cJSON_AddNumberToObject(object, "features", variant->features);
    cJSON_AddNumberToObject(object, "points", s.points);
    cJSON_AddNumberToObject(object, "undecided", s.undecided);
    cJSON_AddNumberToObject(object, "twice", s.twice);
    cJSON_AddBoolToObject(object, "complete", s.points + s.undecided == block->wanted);
    gv_json_number(object, "over_best_median", s.median);
    gv_json_number(object, "over_best_95_percent", s.p95);
    gv_json_number(object, "over_best_most", s.most);
    gv_json_number(object, "over_default_median", s.median_default);
    gv_json_number(object, "over_default_most", s.most_default);
    cJSON_AddBoolToObject(object, "kept", gv_regret_is_kept(&s));
    cJSON_AddItemToArray(a->summaries, object);
    for (int k = 0; k < block->n; k++) {
        const int is_answer = r->answers > 0 && gv_regret_is_worth_an_answer(&block->point[k]);
        const uint64_t *calls = block->calls ? &block->calls[k] : NULL;

        cJSON_AddItemToArray(a->points, json_of(&block->point[k], calls, is_answer, block->times[k]));
        block->times[k] = NULL;
    }
    a->to_draw += s.points > 0;
}

/* Writes a data block where there is a decided point; 0: there is none. */
static int write_block(FILE *script, const regret_block *block, int number)
{
    int n = 0, whole = 0;

    for (int k = 0; k < block->n; k++) {
        const gv_regret_point *p = &block->point[k];

        whole += p->complete;
        if (!p->decided)
            continue;
        if (n++ == 0)
            fprintf(script, "$d%d << EOD\n", number);
        fprintf(script, "%zu %g\n", p->task.sinks, p->choice_s / p->best_s);
    }
    if (n > 0)
        fprintf(script, "EOD\ntitle%d = \"%s %s%s\"\n", number, block->variant.name,
                gv_tune_features_name(block->variant.features), whole < block->wanted ? " (incomplete)" : "");
    return n > 0;
}

static gravel_status draw(const regret_result *r)
{
    gv_plot plot;
    const gravel_status status = gv_plot_begin(&plot, r->options->plot, 1000, 560, 0);
    int n = 0;

    if (status != GRAVEL_OK)
        return status;
    plot.late = 1;
    for (int b = 0; b < r->n_blocks; b++)
        n += write_block(plot.script, &r->block[b], n);
    fprintf(plot.script,
            "set logscale x\nset xlabel 'sinks'\nset ylabel 'time of the choice / best kept'\n"
            "set yrange [0.95:*]\nset grid\nset key outside\nplot %g dt 2 lc rgb 'gray' notitle",
            GV_REGRET_MOST);
    for (int k = 0; k < n; k++)
        fprintf(plot.script, ", $d%d using 1:2 with points title title%d", k, k);
    fputs("\n", plot.script);
    return gv_plot_finish(&plot);
}

static gravel_status print(const regret_result *r, account *a)
{
    if (!r->options->json) {
        gv_table_print(&a->table, stdout);
        return gv_cli_flush();
    }
    cJSON *root = cJSON_CreateObject();

    gv_json_stamp(root);
    cJSON_AddStringToObject(root, "device", r->limits->info.name);
    cJSON_AddStringToObject(root, "driver", r->limits->info.driver);
    cJSON_AddBoolToObject(root, "complete", a->complete == r->wanted);
    cJSON_AddNumberToObject(root, "points_left_out", r->wanted - a->complete);
    if (r->options->calls)
        cJSON_AddItemToObject(root, "calls", gv_regret_json_of_calls(r));
    cJSON_AddItemToObject(root, "summary", a->summaries);
    cJSON_AddItemToObject(root, "points", a->points);
    a->summaries = a->points = NULL;
    return gv_json_write(root, NULL);
}

static void remark(const regret_result *r, const account *a, gravel_status status)
{
    if (r->options->plot != NULL && a->to_draw == 0)
        gv_say(COMMAND, "%s: no point is decided, so that there is nothing to draw", r->options->plot);
    if (a->complete < r->wanted)
        gv_say(COMMAND, "incomplete: %s%d of %d points were measured%s",
               status == GRAVEL_ERR_CANCELLED ? "stopped on request, "
               : r->is_budget_over            ? "the budget was over, "
                                              : "",
               a->complete, r->wanted, a->stopped > 0 ? "; those begun are in the JSON, not in the figures" : "");
    if (a->undecided > 0)
        gv_say(COMMAND, "%d of %d points decide nothing, since turns on this busy machine disagree: not in the figures",
               a->undecided, a->complete);
    if (a->twice > 0)
        gv_say(COMMAND,
               "%d of %d points were beyond a mark and measured again after all others: they count by the mean "
               "of both times",
               a->twice, a->complete);
    if (a->disagree > 0)
        gv_say(COMMAND, "%d points beyond a mark were measured again in vain, since the turns disagree or were stopped",
               a->disagree);
    if (r->options->calls)
        gv_regret_tell_calls(r);
    if (r->options->keep && a->complete > 0)
        gv_say(COMMAND, "%d of %d points became answers of the profile%s%s", r->answers, a->complete,
               r->answers > 0 ? " " : "", r->profile_path);
    if (r->failing > 0)
        gv_say(COMMAND, "%d point%s not be measured: %s", r->failing, r->failing == 1 ? " could" : "s could",
               r->why ? r->why : "");
    if (r->missed > 0)
        gv_say(COMMAND,
               "%d of %d variants miss the mark: median %.2f, 95 %% %.2f, most %.2f of the best, %.2f of the "
               "default",
               r->missed, a->told, GV_REGRET_MEDIAN, GV_REGRET_P95, GV_REGRET_MOST, GV_REGRET_OVER_DEFAULT);
}

gravel_status gv_tune_tell_regret(regret_result *result, gravel_status status)
{
    account a = {.points = cJSON_CreateArray(), .summaries = cJSON_CreateArray()};
    gravel_status told;

    gv_table_start(&a.table, "variant|features|points|decided|over best: median|95 %|most|over default: median|most");
    for (int b = 0; b < result->n_blocks; b++)
        tell_block(result, &result->block[b], &a);
    told = print(result, &a);
    if (told == GRAVEL_OK && result->options->plot != NULL && a.to_draw > 0)
        told = draw(result);
    if (told != GRAVEL_OK)
        gv_cli_fail_writing(COMMAND, told);
    remark(result, &a, status);
    gv_table_free(&a.table);
    cJSON_Delete(a.points);
    cJSON_Delete(a.summaries);
    return told;
}
