/* Renders fits and designs; all functions append to `out`. */
#ifndef HM_FIT_RENDER_H
#define HM_FIT_RENDER_H

#include "format.h"
#include "howmany_fit.h"
#include "render.h"

void hm__render_fit_text(struct hm_text *out, const struct hm_fit *fit,
                         const struct hm_prediction *predictions, size_t count,
                         const struct hm_style *style);

#endif
