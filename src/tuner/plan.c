/* The questions of a variant, and how its time is shared among them. */
#include <math.h>
#include <string.h>

#include "tuner/run.h"

enum { FEW_SOURCES = 1024 };

/* One size inside each bucket, where it matters most: block time-steps for few sinks, throughput for many.  A GPU fills
 * between 1024 and some 10000 sinks, where times change most from one configuration to another: two sizes more.  A CPU
 * reaches its throughput with fewer particles, and has less of it to spend on a measurement.  A call with few sources
 * is over before a device is full, so that these are asked for as well.  Returns the number of sinks' sizes. */
static int usual_sizes(const gv_limits *limits, int quick, size_t sinks[GV_TUNE_SIZES], size_t sources[GV_TUNE_SOURCES])
{
    static const size_t gpu_sinks[] = {1, 8, 32, 128, 512, 1024, 4096, 16384, 131072};
    static const size_t gpu_sources[2][GV_TUNE_SOURCES] = {{1024, 8192, 131072, 1048576}, {1024, 8192, 131072, 524288}};
    static const size_t cpu_sinks[] = {1, 8, 32, 128, 512, 4096, 16384};
    static const size_t cpu_sources[GV_TUNE_SOURCES] = {1024, 8192, 131072, 262144};

    if (limits->info.type == GRAVEL_DEVICE_CPU) {
        memcpy(sinks, cpu_sinks, sizeof cpu_sinks);
        memcpy(sources, cpu_sources, sizeof cpu_sources);
        return (int)(sizeof cpu_sinks / sizeof cpu_sinks[0]);
    }
    memcpy(sinks, gpu_sinks, sizeof gpu_sinks);
    memcpy(sources, gpu_sources[quick != 0], sizeof gpu_sources[0]);
    return (int)(sizeof gpu_sinks / sizeof gpu_sinks[0]);
}

/* Pairs one run of a question should have: what takes about 0.05 s in a quick run and 0.5 s else, for sp2 on two cores
 * with AVX-512 or on a large GPU.  Other variants take their share of arithmetic longer. */
static double most_pairs(const gv_limits *limits, const gv_variant *variant, int quick)
{
    static const double by_order[3] = {1, 2, 3.6}, by_precision[3] = {1, 1.4, 2};
    double sp2 = limits->info.type == GRAVEL_DEVICE_CPU ? (quick ? 3e8 : 2.2e9) : (quick ? 2e10 : 1.4e11);

    return sp2 / by_order[variant->order / 2 - 1] / by_precision[variant->precision];
}

/* of the two largest buckets above the other size that has a question there */
static const size_t sink_floor[GV_SINK_BUCKETS] = {1, 2, 16, 64, 256, 2048, 32768};
static const size_t source_floor[GV_SOURCE_BUCKETS] = {1024, 16384, 262144};

/* Fewer sources, then fewer sinks, as far as both stay in their buckets. */
static void shrink(gv_plan_question *q, double most)
{
    size_t sinks = sink_floor[gv_sink_bucket(q->sinks)], sources = source_floor[gv_source_bucket(q->sources)];

    while ((double)q->sinks * (double)q->sources > most && q->sources / 2 >= sources)
        q->sources /= 2;
    while ((double)q->sinks * (double)q->sources > most && q->sinks / 2 >= sinks)
        q->sinks /= 2;
}

static void to_front(gv_plan *made, int at, double weight)
{
    gv_plan_question q = made->q[at];

    memmove(&made->q[1], &made->q[0], (size_t)at * sizeof q);
    q.weight = weight;
    made->q[0] = q;
}

/* N bodies on each other (tree): one question per bucket of sources, the middle one searched at length first; half-way
 * between them nothing is searched. */
static void make_square_plan(const gv_tune_options *options, const gv_limits *limits, gv_plan *made)
{
    static const size_t gpu[GV_SOURCE_BUCKETS] = {8192, 131072, 1048576};
    static const size_t cpu[GV_SOURCE_BUCKETS] = {8192, 65536, 262144};
    const size_t *sizes = options->n_sources > 0                   ? options->sources
                          : limits->info.type == GRAVEL_DEVICE_CPU ? cpu
                                                                   : gpu;
    const int searched = options->n_sources > 0 ? options->n_sources : GV_SOURCE_BUCKETS;

    for (int k = 0; k < searched; k++)
        made->q[k] = (gv_plan_question){sizes[k], sizes[k], 6};
    to_front(made, searched / 2, 10);
    made->n = searched;
    for (int k = 0; k + 1 < searched && options->n_sources == 0; k++) {
        const size_t n = (size_t)sqrt((double)sizes[k] * (double)sizes[k + 1]);

        made->q[made->n++] = (gv_plan_question){n, n, 0};
    }
}

/* Leaves (tasks): sizes that trees have, those between the sizes of groups among them; the sources are what a cut of
 * two or three leaves reaches.  The middle size first. */
static void make_leaf_plan(const gv_tune_options *options, gv_plan *made)
{
    static const size_t usual[] = {16, 32, 48, 64, 96, 128}, around[] = {8192};
    const int n_sinks = options->n_sinks > 0 ? options->n_sinks : (int)(sizeof usual / sizeof *usual);
    const int n_sources = options->n_sources > 0 ? options->n_sources : 1;
    const size_t *sinks = options->n_sinks > 0 ? options->sinks : usual;
    const size_t *sources = options->n_sources > 0 ? options->sources : around;

    made->n = 0;
    for (int j = 0; j < n_sources; j++)
        for (int i = 0; i < n_sinks; i++)
            made->q[made->n++] = (gv_plan_question){sinks[i], sources[j], 4};
    to_front(made, n_sinks / 2, 10);
}

/* Of two sizes in one bucket the larger is the one that is asked where one of each is enough. */
static int is_last_of_bucket(const size_t *sinks, int n, int k)
{
    return k + 1 == n || gv_sink_bucket(sinks[k + 1]) != gv_sink_bucket(sinks[k]);
}

/* With searches the plain variant has been tuned before, mostly: its answers are looked at again, at fewer sizes. */
static int one_of_each_bucket(size_t *sinks, int n)
{
    int kept = 0;

    for (int k = 0; k < n; k++)
        if (is_last_of_bucket(sinks, n, k))
            sinks[kept++] = sinks[k];
    return kept;
}

/* Of groups of 16 sinks neither 8 nor 32 tell how good they are, and 128 and 512 lie two octaves apart: where sources
 * are many enough for it to matter a GPU is asked there too, but searches nothing.  Launches of fewer than 64 sinks on
 * so many sources are planned otherwise than those of 64, which tell nothing of 48 (1.5 of the best time).  Between
 * 8192 and 131072 sources few sinks begin to need more rows a group, and many several sinks a work-item.  On a CPU
 * several vectors of sinks a work-item begin to pay between 32 and 128; with two questions more at 32768 sources calls
 * of 30000 take 1.021 of the best for 1.025 in the mean. */
static void add_between(const gv_limits *limits, size_t middle, size_t most, gv_plan *made)
{
    static const size_t around[] = {1, 8, 32, 128, 256, 512, 1024, 2048, 4096};

    if (limits->info.type == GRAVEL_DEVICE_CPU) {
        made->q[made->n++] = (gv_plan_question){48, middle, 0};
        made->q[made->n++] = (gv_plan_question){48, 8192, 0};
        made->q[made->n++] = (gv_plan_question){48, FEW_SOURCES, 0};
        made->q[made->n++] = (gv_plan_question){32, 32768, 0};
        made->q[made->n++] = (gv_plan_question){256, 32768, 0};
        return;
    }
    made->q[made->n++] = (gv_plan_question){16, middle, 0};
    made->q[made->n++] = (gv_plan_question){16, most, 0};
    made->q[made->n++] = (gv_plan_question){24, most, 0};
    made->q[made->n++] = (gv_plan_question){48, most, 0};
    made->q[made->n++] = (gv_plan_question){256, most, 0};
    for (size_t k = 0; k < sizeof around / sizeof *around; k++)
        made->q[made->n++] = (gv_plan_question){around[k], 32768, 0};
}

/* Two questions per variant are searched at length: as many sinks as a run may have (arithmetic) and about a hundred
 * (latency), both with the middle number of sources.  The others start from what these and their neighbours found. */
static void make_plan(const gv_tune_options *options, const gv_limits *limits, const gv_variant *variant, gv_plan *made)
{
    size_t sinks[GV_TUNE_SIZES], sources[GV_TUNE_SIZES];
    const int fixed = options->n_sinks > 0 || options->n_sources > 0;
    /* where time is short the last ones are not asked: few sources, for which the default is a good choice */
    static const int useful[GV_TUNE_SOURCES] = {2, 1, 3, 0};
    const double most = most_pairs(limits, variant, options->quick);
    int n_sinks = options->n_sinks, n_sources = options->n_sources, n_own, many, few, middle, n = 0;

    n_own = usual_sizes(limits, options->quick, sinks, sources);
    if (variant->features != 0)
        n_own = one_of_each_bucket(sinks, n_own);
    n_sinks = n_sinks > 0 ? n_sinks : n_own;
    n_sources = n_sources > 0 ? n_sources : GV_TUNE_SOURCES;
    if (options->n_sinks > 0)
        memcpy(sinks, options->sinks, sizeof sinks);
    if (options->n_sources > 0)
        memcpy(sources, options->sources, sizeof sources);
    middle = n_sources / 2;
    many = n_sinks - 1;
    few = options->n_sinks > 0 ? n_sinks / 2 : 3;
    for (int k = 0; k < n_sources; k++) {
        int j = k == 0 ? middle : k <= middle ? k - 1 : k;

        j = fixed ? j : useful[k];

        for (int i = n_sinks - 1; i >= 0; i--) {
            if (!fixed && sources[j] == FEW_SOURCES && !is_last_of_bucket(sinks, n_sinks, i))
                continue;
            /* more sources take longer to measure */
            made->q[n] = (gv_plan_question){sinks[i], sources[j], j == middle ? 1.2 : j < middle ? 0.6 : 1};
            if (!fixed) {
                shrink(&made->q[n], most);
                /* the largest that a run has time for */
                many = j == middle && i == many && i > few + 1 &&
                               (double)made->q[n].sinks * (double)made->q[n].sources > most
                           ? i - 1
                           : many;
            }
            n++;
        }
    }
    made->n = n;
    if (!fixed)
        add_between(limits, sources[middle], sources[n_sources - 1], made);
    /* the first n_sinks are those with the middle number of sources, most sinks first */
    if (few < many) {
        to_front(made, n_sinks - 1 - few, 6);
        to_front(made, n_sinks - 1 - many + 1, 10);
    } else {
        to_front(made, n_sinks - 1 - many, 10);
    }
}

void gv_plan_make(const gv_tune_options *options, const gv_limits *limits, const gv_variant *variant, gv_plan *made)
{
    const gv_questions questions = gv_tune_subject(options)->questions;

    if (questions == GV_QUESTIONS_SQUARE)
        make_square_plan(options, limits, made);
    else if (questions == GV_QUESTIONS_LEAVES)
        make_leaf_plan(options, made);
    else
        make_plan(options, limits, variant, made);
}
