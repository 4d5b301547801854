/* Exports stored runs with samples as traces that `converge` can read. */
#ifndef HM_TRACE_EXPORT_H
#define HM_TRACE_EXPORT_H

#include "howmany_store.h"
#include "text.h"

/* Writes a trace in the format of `howmany train --json`: a head, a line per sample, a summary. */
void hm__export_trace_lines(struct hm_text *out, const struct hm_stored *run);
/* The header line of the CSV, and a function that adds the rows of a trace below it. */
extern const char hm__export_trace_header[];
void hm__export_trace_rows(struct hm_text *out, const struct hm_stored *run);

#endif
