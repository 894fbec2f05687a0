/* Sizes that share one answer (profile.h), and the sizes that it is made for (choice.h). */
#include "host/profile/choice.h"

#include <math.h>

/* Sinks up to SINGLE are cells of their own, and so are powers of two, at which most questions are asked; what
 * lies between two of these is SINK_PARTS cells of equal length.  All sinks of a cell fill as many groups, where
 * these hold as many sinks as a cell or more.  Octaves of sources are cut into parts of equal ratio.  No cell
 * reaches over an edge of a bucket. */
enum { SINGLE = 64, SINGLE_OCTAVE = 6, SINK_PARTS = 16, SOURCE_PARTS = 4 };

static int octave_of(size_t n)
{
    int octave = 0;

    while (octave < 62 && n >> (octave + 1) != 0)
        octave++;
    return octave;
}

static int at_most(int cell, int cells)
{
    return cell < cells ? cell : cells - 1;
}

int gv_choice_sink_cell(size_t sinks)
{
    if (sinks <= SINGLE)
        return sinks > 0 ? (int)sinks - 1 : 0;
    const int octave = octave_of(sinks);
    const size_t beyond = sinks - ((size_t)1 << octave), length = ((size_t)1 << octave) / SINK_PARTS;

    return at_most(SINGLE + (SINK_PARTS + 1) * (octave - SINGLE_OCTAVE) + (int)((beyond + length - 1) / length),
                   GV_CHOICE_SINK_CELLS);
}

size_t gv_choice_last_sinks(int cell)
{
    if (cell < SINGLE)
        return (size_t)cell + 1;
    const int octave = (cell - SINGLE) / (SINK_PARTS + 1) + SINGLE_OCTAVE;
    const size_t part = (size_t)((cell - SINGLE) % (SINK_PARTS + 1)), first = (size_t)1 << octave;

    return part == SINK_PARTS ? 2 * first - 1 : first + part * (first / SINK_PARTS);
}

/* floor(SOURCE_PARTS * log2(n)), exact at powers of two. */
int gv_choice_source_cell(size_t sources)
{
    const int octave = octave_of(sources);
    int part = 0;

    while (part + 1 < SOURCE_PARTS && (double)sources >= ldexp(exp2((double)(part + 1) / SOURCE_PARTS), octave))
        part++;
    return at_most(SOURCE_PARTS * octave + part, GV_CHOICE_SOURCE_CELLS);
}

static size_t middle_sources(int cell)
{
    return (size_t)exp2((cell + 0.5) / SOURCE_PARTS);
}

void gv_choice_sizes(const gv_profile_entry *const *entry, int n, size_t *sinks, size_t *sources)
{
    const int i = gv_choice_sink_cell(*sinks), j = gv_choice_source_cell(*sources);
    const gv_profile_entry *at[2] = {NULL, NULL};

    for (int e = 0; e < n; e++) {
        const int same_i = gv_choice_sink_cell(entry[e]->sinks) == i;
        const int same_j = gv_choice_source_cell(entry[e]->sources) == j;

        /* both sizes of one question before one size of another; the smaller of two */
        if (same_i && (!at[0] || (same_j && gv_choice_source_cell(at[0]->sources) != j)))
            at[0] = entry[e];
        if (same_j && (!at[1] || (same_i && gv_choice_sink_cell(at[1]->sinks) != i)))
            at[1] = entry[e];
    }
    *sinks = at[0] ? at[0]->sinks : gv_choice_last_sinks(i);
    *sources = at[1] ? at[1]->sources : middle_sources(j);
}
