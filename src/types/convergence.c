/*
 * Implements functions for the structs of howmany_advise.h: they return the name and the number of
 * parameters of each form of the loss curve g(i, m), and free the structs.
 */
#include "convergence.h"

#include "memory.h"

const char *const hm__g_form_names[HM_G_FORMS + 1] = {"terms", "rate", "inverse", "power", NULL};

const char *hm_g_form_name(enum hm_g_form form)
{
    return (size_t)form < HM_G_FORMS ? hm__g_form_names[form] : "?";
}

size_t hm__g_form_size(enum hm_g_form form)
{
    static const size_t sizes[HM_G_FORMS] = {
        [HM_G_RATE] = 4,    /* a, d, c0, c1 */
        [HM_G_INVERSE] = 5, /* a, p, b, c, q */
        [HM_G_POWER] = 4,   /* a, d, p, q */
    };
    return (size_t)form < HM_G_FORMS ? sizes[form] : 0;
}

/*
 * If a struct hm_paces is part of a struct hm_convergence, it does not own its memory, so nothing
 * is freed.
 */
void hm_paces_free(struct hm_paces *paces)
{
    if (paces)
        hm__arena_free(paces->memory);
}

void hm_convergence_free(struct hm_convergence *convergence)
{
    if (convergence)
        hm__arena_free(convergence->memory);
}

void hm_advice_free(struct hm_advice *advice)
{
    if (advice)
        hm__arena_free(advice->memory);
}
