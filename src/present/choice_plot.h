/* Writes recommendations, advice and designs as gnuplot scripts. */
#ifndef HM_CHOICE_PLOT_H
#define HM_CHOICE_PLOT_H

#include "howmany_advise.h"
#include "text.h"

/* Each function appends a script that draws into `file`. It fails if the name of the file does not
 * end in .svg, .png or .pdf. */
int hm__plot_recommendation(struct hm_text *out, const struct hm_recommendation *recommendation,
                            const char *file, struct hm_err *err);
int hm__plot_advice(struct hm_text *out, const struct hm_advice *advice, const char *file,
                    struct hm_err *err);
int hm__plot_design(struct hm_text *out, const struct hm_design *design, const char *file,
                    struct hm_err *err);

#endif
