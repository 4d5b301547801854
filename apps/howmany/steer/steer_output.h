/*
 * Writes the decisions and the result of a steered training as a log, text, JSON and an HTML
 * report.
 */
#ifndef HM_STEER_OUTPUT_H
#define HM_STEER_OUTPUT_H

#include "steer_folder.h"

/* Writes decisions.jsonl, one line for each decision. Returns 0, or EXIT_USAGE with a message. */
int steer_output_log(const struct steer_folder *folder, const struct steer_state *state);
/* Writes the result as text or as JSON. */
void steer_output_text(const struct steer_folder *folder, const struct steer_state *state,
                       struct hm_text *out);
void steer_output_json(const struct steer_state *state, struct hm_text *out);
/* Writes the report as a single HTML page. */
void steer_report_html(const struct steer_state *state, struct hm_text *out);

/* Describes in a few words why a run was chosen for a frame. */
void steer_output_reason(const struct steer_state *state, const struct steer_decision *decision,
                         struct hm_text *out);
/* Describes the result in one sentence. */
void steer_output_headline(const struct steer_state *state, struct hm_text *out);

#endif
