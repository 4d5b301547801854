/* Exports stored runs with samples as traces that `converge` can read. */
#ifndef HM_TRACE_EXPORT_H
#define HM_TRACE_EXPORT_H

#include "howmany_store.h"
#include "text.h"

/*
 * Writes a trace in the format of `howmany train --json`: a head line, a line for each sample, and
 * a summary line.
 */
void hm__export_trace_lines(struct hm_text *out, const struct hm_stored *run);
/* The header line of the CSV; hm__export_trace_rows adds the rows of a trace below it. */
extern const char hm__export_trace_header[];
void hm__export_trace_rows(struct hm_text *out, const struct hm_stored *run);

#endif
