/* What a run says about questions: each at once with `verbose`, else one line at the end for all that are alike. */
#include <math.h>
#include <stdio.h>

#include "tuner/run.h"

void gv_run_warn(gv_run *run, const char *text)
{
    if (run->options->warn != NULL)
        run->options->warn(text, run->options->user);
}

void gv_run_remark(gv_run *run, gv_remark remark, double scatter)
{
    static const char *const said[GV_REMARKS] = {
        "takes too long for this budget; the nearest question answers for it",
        "no gain is reported; tune again when the machine is quiet", "not asked, the time is over",
        "another configuration leads after a second sitting", "not measured again, the time is over; its answer stays"};
    const gv_task *task = &run->task;
    char about[sizeof run->remarked[0]], text[256];
    int n = snprintf(about, sizeof about, "%s%s, %zu x %zu", task->variant.name,
                     task->variant.features != 0 ? " with searches" : "", task->sinks, task->sources);

    if (scatter > 0 && n > 0 && (size_t)n < sizeof about)
        snprintf(about + n, sizeof about - (size_t)n, " (by %.0f %%)", 100 * scatter);
    if (run->remarks[remark]++ == 0)
        snprintf(run->remarked[remark], sizeof run->remarked[remark], "%s", about);
    if (!run->options->verbose)
        return;
    snprintf(text, sizeof text, "%s: %s%s", about, scatter > 0 ? "times scatter; " : "", said[remark]);
    gv_run_warn(run, text);
}

/* Questions that the time was over for: what was not done, at which, what of it.  One that is done takes so long on the
 * average; a few that are done tell nothing of the others. */
static void say_late(gv_run *run, gv_remark remark, const char *done, const char *from, const char *on, const char *so)
{
    const int n = run->remarks[remark], all = run->summary->n_tasks, others = all - n;
    char text[320], enough[48] = "";

    if (n == 0)
        return;
    if (others > 0 && 10 * others >= all)
        snprintf(enough, sizeof enough, "; about %.0f s would do for all",
                 10 * ceil(0.1 * run->spent_s * all / others));
    snprintf(text, sizeof text, "%d of %d questions were not %s, the time was over, %s %s (sinks x sources)%s: %s%s", n,
             all, done, from, run->remarked[remark], on, so, enough);
    gv_run_warn(run, text);
}

void gv_run_remarks(gv_run *run)
{
    const int *n = run->remarks;
    char text[320];

    if (n[GV_REMARK_TOO_LONG] > 0) {
        snprintf(text, sizeof text,
                 "%d question%s too long for this budget, %s%s (sinks x sources): the nearest ones answer",
                 n[GV_REMARK_TOO_LONG], n[GV_REMARK_TOO_LONG] == 1 ? " takes" : "s take",
                 n[GV_REMARK_TOO_LONG] == 1 ? "" : "as ", run->remarked[GV_REMARK_TOO_LONG]);
        gv_run_warn(run, text);
    }
    say_late(run, GV_REMARK_NOT_ASKED, "asked", "from", " on", "the nearest ones answer, or the default");
    say_late(run, GV_REMARK_STAYS, "measured again", "as", "", "what the profile has for them stays");
    if (n[GV_REMARK_CHANGED] > 0) {
        snprintf(text, sizeof text,
                 "%d question%s another winner after the second sitting than is told here, %s%s (sinks x sources): the "
                 "profile has it",
                 n[GV_REMARK_CHANGED], n[GV_REMARK_CHANGED] == 1 ? " has" : "s have",
                 n[GV_REMARK_CHANGED] == 1 ? "" : "as ", run->remarked[GV_REMARK_CHANGED]);
        gv_run_warn(run, text);
    }
    if (n[GV_REMARK_SCATTER] > 0) {
        snprintf(text, sizeof text,
                 "at %d question%s times scatter by more than %.0f %%, %s%s (sinks x sources): no gain is reported for "
                 "them; tune again when the machine is quiet",
                 n[GV_REMARK_SCATTER], n[GV_REMARK_SCATTER] == 1 ? "" : "s", 100 * GV_FINALS_NOISE,
                 n[GV_REMARK_SCATTER] == 1 ? "" : "as ", run->remarked[GV_REMARK_SCATTER]);
        gv_run_warn(run, text);
    }
}
