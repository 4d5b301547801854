/* g(i, m) in words. */
#include "converge_render.h"

void hm_render_convergence_text(struct hm_text *out, const struct hm_convergence *convergence,
                                const struct hm_holdout *holdout, const struct hm_style *style)
{
    (void)convergence;
    (void)holdout;
    (void)style;
    (void)out;
}
