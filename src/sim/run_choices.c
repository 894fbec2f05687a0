/* What decides the bits of a run beside bodies and integrator, in checkpoints. */
#include <stdlib.h>
#include <string.h>

#include "sim/run_dealt.h"

/* Before the choices of devices that share forces with the first one. */
enum { CHOICES_OF_OTHERS = '\v' };

char *gv_run_choices(const gravel_direct *direct, const gravel_several_share *share)
{
    const size_t own = direct ? gravel_direct_get_choices(direct, NULL, 0) : 1;
    const size_t others = share ? gravel_several_share_get_choices(share, NULL, 0) : 0;
    char *text = calloc(1, own + others + 1);
    if (!text)
        return NULL;
    if (direct)
        gravel_direct_get_choices(direct, text, own);
    if (share) {
        text[own - 1] = CHOICES_OF_OTHERS;
        gravel_several_share_get_choices(share, text + own, others);
    }
    return text;
}

/* Text number `rank` of those that end with GV_END_OF_CHOICES; of another number of processes none is anyone's. */
static gravel_status own_part(const gv_run_company *c, const gv_checkpoint *checkpoint, char **choices)
{
    const char *from = checkpoint->choices;
    int texts = 0;
    *choices = NULL;
    for (const char *p = from; *p; p++)
        texts += *p == GV_END_OF_CHOICES;
    const int wanted = c && c->agree;
    if (texts != (wanted ? c->size : 0))
        return GRAVEL_OK;
    for (int k = 0; wanted && k < c->rank; k++)
        from = strchr(from, GV_END_OF_CHOICES) + 1;
    const size_t length = wanted ? (size_t)(strchr(from, GV_END_OF_CHOICES) - from) : strlen(from);
    *choices = calloc(1, length + 1);
    if (!*choices)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the choices of a run");
    memcpy(*choices, from, length);
    return GRAVEL_OK;
}

gravel_status gv_run_take_choices(const gv_run_company *company, const gv_checkpoint *checkpoint, gravel_direct *direct,
                                  gravel_several_share *share)
{
    char *choices;
    gravel_status status = own_part(company, checkpoint, &choices);
    char *others = choices ? strchr(choices, CHOICES_OF_OTHERS) : NULL;
    if (others)
        *others++ = '\0';
    if (!status && choices && direct)
        status = gravel_direct_set_choices(direct, choices);
    if (!status && others && share)
        status = gravel_several_share_set_choices(share, others);
    free(choices);
    return status;
}
