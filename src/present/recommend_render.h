/* Renders a recommendation of the number of workers; all functions append to `out`. */
#ifndef HM_RECOMMEND_RENDER_H
#define HM_RECOMMEND_RENDER_H

#include "format.h"
#include "howmany_fit.h"
#include "render.h"

void hm__render_recommendation_text(struct hm_text *out, const struct hm_recommendation *r,
                                    const struct hm_style *style);

#endif
