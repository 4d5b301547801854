/* Renders plans of large networks as text, JSON or CSV. */
#ifndef HM_LARGE_RENDER_H
#define HM_LARGE_RENDER_H

#include "howmany.h"
#include "large_job.h"

/* Render an answer; the caller frees *ret_text with hm_text_free. Pictures are not supported. */
int hm__large_render(const struct hm_large_answer *answer, enum hm_format format,
                     const struct hm_style *style, char **ret_text, struct hm_err *err);

#endif
