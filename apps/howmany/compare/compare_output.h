/* Writes a comparison as text, JSON, CSV and a gnuplot script. */
#ifndef HM_COMPARE_OUTPUT_H
#define HM_COMPARE_OUTPUT_H

#include "compare_result.h"

void compare_output_text(const struct compare_result *result, const struct hm_style *style,
                         struct hm_text *out);
void compare_output_json(const struct compare_result *result, struct hm_text *out);
void compare_output_csv(const struct compare_result *result, struct hm_text *out);
/*
 * Writes a gnuplot script that writes the plot `file`. Returns 0, or a negative code with the error
 * set.
 */
int compare_output_plot(const struct compare_result *result, const char *file, struct hm_text *out,
                        struct hm_err *err);

#endif
