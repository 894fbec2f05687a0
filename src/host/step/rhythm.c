/* Blocks repeat: steps are powers of two, so that a block at an odd multiple of some power has about as many bodies as
 * the one at the odd multiple before. */
#include <math.h>

#include "host/step/step.h"

/* The highest power of two that `time` is a multiple of, as an index. */
static int power_of(double time)
{
    int exponent;
    const double mantissa = frexp(fabs(time), &exponent);
    if (mantissa == 0)
        return GRAVEL_STEP_POWERS - 1;
    const uint64_t bits = (uint64_t)ldexp(mantissa, 53);
    const int power = exponent - 53 + __builtin_ctzll(bits) + GRAVEL_STEP_POWERS / 2;
    return power < 0 ? 0 : power < GRAVEL_STEP_POWERS ? power : GRAVEL_STEP_POWERS - 1;
}

void gv_rhythm_note(gv_rhythm *r, double before, double time, size_t bodies)
{
    r->gap = time - before;
    r->size[power_of(time)] = bodies;
}

size_t gv_rhythm_expect(const gv_rhythm *r, double time)
{
    return r->gap > 0 ? r->size[power_of(time)] : 0;
}
